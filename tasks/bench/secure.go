package bench

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// ErrInsecure says that a server would be open to others, or that a connection
// to one would be. Nothing was opened.
var ErrInsecure = errors.New("refused, as it is not safe")

// loopback reports whether a host is this machine, where no other one reaches it.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// localize has a server listen for this machine alone where its options name no
// address.
func localize(o *server.Options) {
	for _, host := range []*string{&o.Host, &o.HTTPHost, &o.Cluster.Host} {
		*host = cmp.Or(*host, "127.0.0.1")
	}
}

// checkServer refuses options with which strangers could come in, or others
// could listen: clients and routes need a credential on any address, and TLS on
// one that other machines reach.
func checkServer(o *server.Options) error {
	c := &o.Cluster
	far := func(u *url.URL) bool { return !loopback(u.Hostname()) }
	for _, rule := range []struct {
		broken bool
		why    string
	}{
		{!knowsClients(o), "clients could come in without a credential: name users in the server's configuration"},
		{!loopback(o.Host) && (o.TLSConfig == nil || o.AllowNonTLS), "clients could connect to " + o.Host + " without TLS: configure it, or listen on 127.0.0.1"},
		{c.Port != 0 && c.Username == "" && !mutual(c.TLSConfig), "servers could join the cluster without a credential: configure its authorization, or TLS"},
		{c.Port != 0 && (!loopback(c.Host) || slices.ContainsFunc(o.Routes, far)) && (c.TLSConfig == nil || c.TLSConfig.InsecureSkipVerify),
			"the cluster's routes leave this machine without TLS that verifies: configure it"},
		{o.Gateway.Port != 0 || o.LeafNode.Port != 0 || len(o.LeafNode.Remotes) != 0 || o.Websocket.Port != 0 || o.MQTT.Port != 0,
			"only clients and a cluster may connect: for gateways, leaf nodes, websockets or MQTT, run a NATS server of your own"},
		{(o.HTTPPort != 0 || o.HTTPSPort != 0) && !loopback(o.HTTPHost), "monitoring at " + o.HTTPHost + " asks for no credential: have it on 127.0.0.1"},
		{o.ProfPort != 0 && !loopback(o.Host), "profiling at " + o.Host + " asks for no credential: leave it out"},
	} {
		if rule.broken {
			return fmt.Errorf("NATS server: %w: %s", ErrInsecure, rule.why)
		}
	}
	return nil
}

// knowsClients reports whether a server lets in nobody who has no credential.
func knowsClients(o *server.Options) bool {
	if o.NoAuthUser != "" || o.DefaultSentinel != "" {
		return false
	}
	// Where all users are of the system account, NATS lets anybody into the other one.
	counts := func(account *server.Account) bool {
		return account == nil || account.Name != o.SystemAccount && account.Name != server.DEFAULT_SYSTEM_ACCOUNT
	}
	return o.Authorization != "" || o.Username != "" || o.CustomClientAuthentication != nil ||
		len(o.TrustedOperators) > 0 || len(o.TrustedKeys) > 0 || mutual(o.TLSConfig) && !o.AllowNonTLS ||
		slices.ContainsFunc(o.Users, func(u *server.User) bool { return counts(u.Account) }) ||
		slices.ContainsFunc(o.Nkeys, func(u *server.NkeyUser) bool { return counts(u.Account) })
}

// unclaimed reports whether options say nothing at all of who may come in.
func unclaimed(o *server.Options) bool {
	return !knowsClients(o) && o.NoAuthUser == "" && o.DefaultSentinel == "" && o.AuthCallout == nil && o.SystemAccount == "" &&
		len(o.Users)+len(o.Nkeys)+len(o.Accounts) == 0 && o.Cluster.Port == 0 // other servers would not know who
}

// mutual reports whether TLS asks both sides for a certificate.
func mutual(c *tls.Config) bool {
	return c != nil && c.ClientAuth == tls.RequireAndVerifyClientCert && !c.InsecureSkipVerify
}

// checkClient returns what a connection needs besides its options. To leave this
// machine, it needs a credential, and has TLS whatever its address says; if it
// stays, it stays.
func checkClient(address string, options []nats.Option) ([]nats.Option, error) {
	var o nats.Options
	for _, option := range options {
		if err := option(&o); err != nil {
			return nil, err
		}
	}
	if o.InProcessServer != nil {
		return nil, nil
	}
	known := o.User != "" || o.Token != "" || o.Nkey != "" || o.UserJWT != nil ||
		o.TLSConfig != nil && len(o.TLSConfig.Certificates) > 0
	stays := true
	for server := range strings.SplitSeq(address, ",") {
		server = strings.TrimSpace(server)
		if !strings.Contains(server, "://") {
			server = "nats://" + server
		}
		u, err := url.Parse(server)
		if err != nil {
			return nil, err
		}
		if loopback(u.Hostname()) {
			continue
		}
		stays = false
		if u.User == nil && !known {
			return nil, fmt.Errorf("%w: %s is on another machine, and no credential for it is given", ErrInsecure, u.Host)
		}
	}
	if stays {
		return []nats.Option{nats.IgnoreDiscoveredServers()}, nil // which may be elsewhere
	}
	return []nats.Option{nats.Secure()}, nil
}

// distrusted reports whether an error says that a server is not to be trusted,
// which it is not on the next try either.
func distrusted(err error) bool {
	_, unknown := errors.AsType[*tls.CertificateVerificationError](err)
	return unknown || errors.Is(err, errStranger) || errors.Is(err, nats.ErrSecureConnWanted)
}
