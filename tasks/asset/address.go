package asset

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// errInside is wrapped by the error for a download from this machine or from the network
// around it. A suite is somebody else's text: it could fetch what only this machine reaches.
var errInside = errors.New("is inside: not a public address")

// hostsKey is the key of a context's hosts.
type hostsKey struct{}

// Allow returns a context in which the named hosts may be downloaded from, wherever they
// are. A host is a name or an address, without a port.
func Allow(ctx context.Context, hosts ...string) context.Context {
	return context.WithValue(ctx, hostsKey{}, hosts)
}

// publicClient fetches from public addresses alone, but for the hosts that ctx allows. What
// a name stands for is looked at when it is connected to, and again after each redirect.
func publicClient(ctx context.Context) *http.Client {
	allowed, _ := ctx.Value(hostsKey{}).([]string)
	plain := &net.Dialer{Timeout: 30 * time.Second}
	checked := &net.Dialer{Timeout: 30 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		return outside(address)
	}}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if host, _, err := net.SplitHostPort(address); err == nil && slices.Contains(allowed, host) || isProxy(address) {
			return plain.DialContext(ctx, network, address)
		}
		return checked.DialContext(ctx, network, address)
	}
	// A proxy connects for us: what it is asked for is looked at as far as it is known.
	proxy := t.Proxy
	t.Proxy = func(r *http.Request) (*url.URL, error) {
		host := r.URL.Hostname()
		if slices.Contains(allowed, host) {
			return proxy(r)
		}
		if host == "localhost" || strings.HasSuffix(host, ".localhost") {
			return nil, refused(host)
		}
		if _, err := netip.ParseAddr(host); err == nil {
			if err := outside(net.JoinHostPort(host, "0")); err != nil {
				return nil, err
			}
		}
		return proxy(r)
	}
	t.DisableKeepAlives = true // it is used once
	return &http.Client{Timeout: fetchLimit, Transport: t}
}

// isProxy reports whether an address is that of the proxy that the environment names.
func isProxy(address string) bool {
	for _, scheme := range []string{"http", "https"} {
		u, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: scheme, Host: "example.com"}})
		if err == nil && u != nil && (u.Host == address || u.Port() == "" && strings.HasPrefix(address, u.Hostname()+":")) {
			return true
		}
	}
	return false
}

// outside refuses an address that is not public.
func outside(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address %q: %w", address, err)
	}
	ip := at.Addr().Unmap()
	inside := !ip.IsGlobalUnicast() || ip.IsPrivate() || slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(ip) })
	if inside {
		return refused(ip.String())
	}
	return nil
}

func refused(host string) error {
	return fmt.Errorf("%s %w; add --allow-host with the name that the suite writes, if it is meant", host, errInside)
}

// reserved are addresses that are no public ones beside the loopback, link-local and
// private ones: of this network, of carriers, and of IPv6 that carry an IPv4 address.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("2002::/16"),
}
