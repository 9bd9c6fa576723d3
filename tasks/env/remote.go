package env

import (
	"net"
	"net/url"
	"regexp"
	"strings"
)

// hasScheme finds URLs that say how they are fetched.
var hasScheme = regexp.MustCompile(`^(?i:[a-z][a-z0-9+.-]*://|about:|blob:|chrome:|data:|file:|javascript:)`)

// Remote reports whether a page is in the live web: a browser needs
// [Options.Network] to show it. What has no scheme is http, as in an address bar.
// Pages of this computer are not, and neither are those of the browser itself. A
// URL that cannot be read is taken for a live one.
func Remote(page string) bool {
	page = strings.TrimPrefix(strings.TrimSpace(page), "view-source:")
	if page == "" || strings.HasPrefix(page, "/") {
		return false
	}
	if !hasScheme.MatchString(page) {
		page = "http://" + page
	}
	u, err := url.Parse(page)
	if err != nil {
		return true
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	ip := net.ParseIP(host)
	return host != "localhost" && !strings.HasSuffix(host, ".localhost") && (ip == nil || !ip.IsLoopback())
}
