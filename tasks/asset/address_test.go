package asset

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestInside: a suite cannot have this machine's own addresses fetched, by whatever name,
// nor by a redirect, unless the user names the host.
func TestInside(t *testing.T) {
	asked := 0
	secret := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = w.Write([]byte("secret"))
	}))
	defer secret.Close()
	port := secret.URL[strings.LastIndex(secret.URL, ":"):]
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "127.1.2.3", "169.254.169.254", "10.0.0.1", "192.168.1.1", "[::ffff:127.0.0.1]", "0.0.0.0", "[fe80::1]"} {
		err := Get(t.Context(), "http://"+host+port+"/x", filepath.Join(t.TempDir(), "x"), &Options{firstWait: 1, maxWait: 1})
		require.ErrorIs(t, err, errInside, host)
		assert.ErrorContains(t, err, "--allow-host")
		assert.NotContains(t, err.Error(), "tries", "it will be the same again")
	}
	assert.Zero(t, asked)
	// The user names one host, and it sends on to another.
	front := httptest.NewServer(http.RedirectHandler("http://localhost"+port+"/x", http.StatusFound))
	defer front.Close()
	ctx := Allow(t.Context(), "127.0.0.1")
	require.ErrorIs(t, Get(ctx, front.URL, filepath.Join(t.TempDir(), "x"), nil), errInside)
	assert.Zero(t, asked)
	require.NoError(t, Get(ctx, secret.URL, filepath.Join(t.TempDir(), "x"), nil))
	assert.Equal(t, 1, asked)
	assert.NoError(t, outside("93.184.215.14:443"))
	assert.NoError(t, outside("[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:443"))
}
