package env_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"desktop-agent/tasks/env"
)

func TestRemote(t *testing.T) {
	for page, want := range map[string]bool{
		"https://example.com": true, "HTTP://a.b": true, " https://example.com\n": true, "http://10.0.0.1/": true,
		"http://localhost.example.com": true, "http://0.0.0.0/": true, "http://user@example.com:80/": true,
		"http://localhost:8000/": false, " http://localhost/ ": false, "http://LocalHost./": false, "http://a.localhost:3/": false,
		"http://127.0.0.1/": false, "http://127.1.2.3:4/": false, "http://[::1]:3/": false,
		// Without a scheme.
		"example.com/x": true, "www.example.com:8080/x": true, "192.168.0.1:80": true,
		"localhost:8000/x": false, "127.0.0.1:8000/x": false, "[::1]:8000": false,
		// What a browser shows without a host.
		"": false, " ": false, "/home/user/a.html": false, "file:///home/user/a.html": false, "about:blank": false, "chrome://settings": false,
		"data:text/html,https://example.com": false, "javascript:void 0": false, "chrome-extension://x/y.html": false,
		"view-source:https://example.com": true, "view-source:http://localhost": false,
		// Not a URL: it is not known to be local.
		"http://[::1": true, "http://a b.example.com/": true, "%zz": true,
	} {
		assert.Equal(t, want, env.Remote(page), "%q", page)
	}
}
