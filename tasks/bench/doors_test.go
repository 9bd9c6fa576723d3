package bench

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// outside returns an address of this machine at which others reach it.
func outside(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	require.NoError(t, err)
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	t.Skip("this machine has no address but the loopback")
	return ""
}

// A served run is one with a server that listens, and no workers yet.
type served struct {
	url   string
	file  string // of credentials
	dir   string
	ended chan error
	log   *lines
}

// serving starts the server of a run.
func serving(t *testing.T, c *Coordinator, conf *server.Options) *served {
	t.Helper()
	s := &served{dir: t.TempDir(), ended: make(chan error, 1), log: &lines{}}
	ready := make(chan struct{})
	c.Dir, c.Log = s.dir, slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		s.ended <- Serve(ctx, c, &ServeOptions{Server: conf, Ready: func(url, file string) {
			s.url, s.file = url, file
			close(ready)
		}})
	}()
	select {
	case <-ready:
	case err := <-s.ended:
		require.NoError(t, err)
	}
	t.Cleanup(func() {
		stop()
		select {
		case <-s.ended:
		case <-time.After(time.Minute):
			t.Error("the server does not end")
		}
	})
	return s
}

// end waits for the end of the run.
func (s *served) end(t *testing.T) {
	t.Helper()
	require.NoError(t, <-s.ended)
	s.ended <- nil
}

type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// blind is TLS that takes any certificate, as a stranger would.
func blind() nats.Option { return nats.Secure(&tls.Config{InsecureSkipVerify: true}) }

// reach is nats.Connect with the time that a busy machine takes.
func reach(url string, options ...nats.Option) (*nats.Conn, error) {
	return nats.Connect(url, append(slices.Clip(options), nats.Timeout(time.Minute))...)
}

// stranger is a login with a key that nobody knows.
func stranger(t *testing.T) nats.Option {
	pair, err := nkeys.CreateUser()
	require.NoError(t, err)
	public, err := pair.PublicKey()
	require.NoError(t, err)
	return nats.Nkey(public, pair.Sign)
}

// plainly sends a login without TLS, and returns what the server said after its
// greeting until it hung up.
func plainly(t *testing.T, address, login string) string {
	t.Helper()
	conn, err := net.DialTimeout("tcp", address, time.Minute)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	in := bufio.NewReader(conn)
	greeting, err := in.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, greeting, `"tls_required":true`)
	_, err = fmt.Fprintf(conn, "CONNECT %s\r\nPING\r\n", login)
	require.NoError(t, err)
	answer, err := io.ReadAll(in)
	if err != nil {
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
	}
	return string(answer)
}

// A server that is told nothing but where to listen lets in workers with the
// credentials that it made, and nobody else: neither from other machines nor from
// other users of this one.
func TestServeDoors(t *testing.T) {
	for name, host := range map[string]func(*testing.T) string{
		"loopback": func(*testing.T) string { return "" }, // by default
		"outside":  outside,
	} {
		t.Run(name, func(t *testing.T) {
			list := many("pass", 4)
			s := serving(t, &Coordinator{Trials: list, Spec: json.RawMessage(`{}`)}, &server.Options{Host: host(t), Port: server.RANDOM_PORT})
			address := strings.TrimPrefix(s.url, "tls://")
			listens, port, err := net.SplitHostPort(address)
			require.NoError(t, err)
			require.Equal(t, name == "loopback", loopback(listens), s.url)
			if name == "loopback" {
				t.Run("nowhere else", func(t *testing.T) { // the rest needs no other address
					_, err := net.DialTimeout("tcp", net.JoinHostPort(outside(t), port), 5*time.Second)
					require.Error(t, err, "it does not listen there")
				})
			}

			for who, login := range map[string][]nats.Option{
				"anonymous": {blind()},
				"token":     {blind(), nats.Token("bench")},
				"user":      {blind(), nats.UserInfo("bench", "")},
				"other key": {blind(), stranger(t)},
			} {
				_, err := reach(s.url, login...)
				require.ErrorIs(t, err, nats.ErrAuthorization, who)
			}
			// Without TLS not even those come in who are known.
			answer := plainly(t, address, `{"verbose":false}`)
			require.NotContains(t, answer, "PONG")
			_, err = reach(s.url, stranger(t))
			require.ErrorIs(t, err, nats.ErrTLS, "a certificate that nobody knows")

			known := credentials(t, s.file)
			require.Equal(t, s.url, known.URL)
			login, err := known.Options()
			require.NoError(t, err)
			w := &Worker{Do: (&script{counts: t.TempDir()}).do, Dir: t.TempDir()}
			began := time.Now()
			require.ErrorIs(t, w.Work(t.Context(), s.url, blind(), stranger(t)), nats.ErrAuthorization)
			mistaken := *known
			mistaken.certificate[0]++
			elsewhere, err := mistaken.Options()
			require.NoError(t, err)
			err = w.Work(t.Context(), s.url, elsewhere...)
			require.ErrorIs(t, err, errStranger, "another server than the one that made the credentials")
			require.ErrorIs(t, err, ErrUnreachable)
			require.Less(t, time.Since(began), time.Minute, "neither waits for what does not come")

			if runtime.GOOS != "windows" {
				for _, name := range []string{identityName, credentialsName} {
					info, err := os.Stat(filepath.Join(s.dir, name))
					require.NoError(t, err)
					require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
				}
			}
			require.NoError(t, w.Work(t.Context(), s.url, login...))
			s.end(t)
			for _, r := range finished(t, s.dir, list) {
				require.Equal(t, map[string]string{"steps.txt": trialOf(&r).Key() + "\n"}, files(t, filepath.Join(s.dir, r.Run)))
			}
			require.NotContains(t, s.log.String(), "iolation", "a worker has the rights that it needs")
			for _, name := range []string{identityName, credentialsName, storeName} {
				require.NoFileExists(t, filepath.Join(s.dir, name), "the run is over")
			}
		})
	}
}

// The credentials of a run that is stopped are those of its next start.
func TestCredentialsStay(t *testing.T) {
	dir := t.TempDir()
	var lines []string
	for range 2 {
		ctx, stop := context.WithCancel(t.Context())
		err := Serve(ctx, &Coordinator{Dir: dir, Trials: many("pass", 1)}, &ServeOptions{
			Server: &server.Options{Port: server.RANDOM_PORT},
			Ready: func(_, file string) {
				line, err := os.ReadFile(file)
				require.NoError(t, err)
				_, secret, _ := strings.Cut(string(line), "//")
				key, certificate, _ := strings.Cut(secret, "@")
				_, certificate, _ = strings.Cut(certificate, "?")
				lines = append(lines, key+certificate)
				stop()
			},
		})
		require.ErrorIs(t, err, context.Canceled)
	}
	require.Len(t, lines, 2)
	require.Equal(t, lines[0], lines[1])
}

// A worker's credentials are good for taking trials and handing results in. What
// a run is, which trials it has and when it ends is not up to workers.
func TestWorkerRights(t *testing.T) {
	list := many("pass", 2)
	s := serving(t, &Coordinator{Trials: list, Spec: json.RawMessage(`{"base_url":"http://ours"}`)}, &server.Options{Port: server.RANDOM_PORT})
	login, err := credentials(t, s.file).Options()
	require.NoError(t, err)
	refused := make(chan error, 10)
	nc, err := reach(s.url, append(login, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))...)
	require.NoError(t, err)
	defer nc.Close()
	q, err := newQueue(nc, "", time.Minute, nil)
	require.NoError(t, err)
	before := published(t, q)
	require.Contains(t, before, "http://ours")

	rogue := []byte(`{"spec":{"base_url":"http://rogue"}}`)
	for subject, data := range map[string][]byte{
		q.subject("terms", ""):                               rogue,
		q.subject("trial", token(many("rogue", 1)[0])):       []byte(`{"task":"rogue-000","config":"plan=on","repeat":1}`),
		q.subject("over", ""):                                nil,
		"$JS.API.STREAM.CREATE." + q.results():               nil,
		"$JS.API.STREAM.UPDATE." + q.results():               nil,
		"$JS.API.STREAM.DELETE." + q.results():               nil,
		"$JS.API.STREAM.PURGE." + q.results():                nil,
		"$JS.API.STREAM.MSG.DELETE." + q.results():           []byte(`{"seq":1}`),
		"$JS.API.STREAM.DELETE." + q.trials():                nil,
		"$JS.API.STREAM.DELETE.OBJ_" + q.bucket():            nil,
		"$JS.API.CONSUMER.DELETE." + q.trials() + ".workers": nil,
		"$JS.API.CONSUMER.PAUSE." + q.trials() + ".workers":  nil,
		"$JS.API.CONSUMER.CREATE." + q.results() + ".mine":   nil,
		"$JS.API.STREAM.LIST":                                nil,
		"bench.another.result.x":                             nil,
		"_INBOX.of.another.worker":                           rogue, // as if the server had said it
		"$SYS.REQ.SERVER.PING":                               nil,
	} {
		require.NoError(t, nc.Publish(subject, data))
		require.NoError(t, nc.Flush())
		select {
		case err := <-refused:
			require.ErrorIs(t, err, nats.ErrPermissionViolation, subject)
			require.Contains(t, err.Error(), subject)
		case <-time.After(time.Minute):
			t.Errorf("%s is not refused", subject)
		}
	}
	for _, subject := range []string{">", "bench.>", "$SYS.>", "$JS.>"} {
		_, err := nc.SubscribeSync(subject)
		require.NoError(t, err)
		require.NoError(t, nc.Flush())
		select {
		case err := <-refused:
			require.ErrorIs(t, err, nats.ErrPermissionViolation, subject)
		case <-time.After(time.Minute):
			t.Errorf("%s is not refused", subject)
		}
	}
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	rights := workerRights("R")
	for _, subject := range slices.Concat(rights.Publish.Allow, rights.Subscribe.Allow) {
		require.Regexp(t, `[ \t]`+regexp.QuoteMeta(subject)+`[\s.]`, string(doc), "the documentation has what servers of one's own must allow")
	}
	require.Equal(t, before, published(t, q))
	_, err = q.js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "another", Subjects: []string{"another"}})
	require.Error(t, err)

	w := &Worker{Do: (&script{counts: t.TempDir()}).do, Dir: t.TempDir()}
	require.NoError(t, w.Work(t.Context(), s.url, login...))
	s.end(t)
	finished(t, s.dir, list)
}

// Options with which strangers come in, or others can listen, are refused before
// anything listens.
func TestUnsafeServers(t *testing.T) {
	here := outside(t)
	pair := certificateFiles(t, here)
	secure := fmt.Sprintf("tls { cert_file: %q, key_file: %q }\n", pair.cert, pair.key)
	mutual := fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }\n", pair.cert, pair.key, pair.cert)
	users := "authorization { user: bench, password: secret }\n"
	for name, tt := range map[string]struct{ conf, why string }{
		"users without TLS":           {"host: HERE\n" + users, "without TLS"},
		"all addresses":               {"host: 0.0.0.0\n" + users, "without TLS"},
		"all addresses, IPv6":         {"host: \"::\"\n" + users, "without TLS"},
		"a name":                      {"host: bench.example.org\n" + users, "without TLS"},
		"TLS for who likes":           {"host: HERE\nallow_non_tls: true\n" + secure + users, "without TLS"},
		"a user for the rest":         {"accounts { A { users: [{user: a, password: b}] } }\nno_auth_user: a\n", "without a credential"},
		"users of the system":         {"accounts { S { users: [{user: a, password: b}] } }\nsystem_account: S\n", "without a credential"},
		"users of the system, $SYS":   {"accounts { $SYS { users: [{user: a, password: b}] } }\n", "without a credential"},
		"accounts without users":      {"accounts { A { jetstream: enabled } }\n", "without a credential"},
		"cluster without users":       {"cluster { name: c, listen: \"127.0.0.1:-1\", authorization { user: r, password: s } }\n", "name users"},
		"cluster, anybody":            {users + "cluster { name: c, listen: \"127.0.0.1:-1\" }\n", "join the cluster"},
		"cluster without TLS":         {users + "cluster { name: c, listen: \"HERE:-1\", authorization { user: r, password: s } }\n", "without TLS that verifies"},
		"cluster on all addresses":    {users + "cluster { name: c, listen: \"0.0.0.0:-1\", authorization { user: r, password: s } }\n", "without TLS that verifies"},
		"a route that leaves":         {users + "cluster { name: c, listen: \"127.0.0.1:-1\", authorization { user: r, password: s }, routes: [\"nats://r:s@HERE:6222\"] }\n", "without TLS that verifies"},
		"TLS that does not verify":    {users + "cluster { name: c, listen: \"HERE:-1\", authorization { user: r, password: s }, " + strings.Replace(secure, "tls {", "tls { insecure: true,", 1) + "}\n", "without TLS that verifies"},
		"monitoring":                  {users + "http: \"HERE:8222\"\n", "monitoring"},
		"monitoring with TLS":         {secure + users + "https: \"HERE:8222\"\n", "monitoring"},
		"profiling":                   {"host: HERE\nprof_port: 8223\n" + secure + users, "profiling"},
		"leaf nodes":                  {users + "leafnodes { listen: \"HERE:-1\" }\n", "of your own"},
		"to another leaf":             {users + "leafnodes { remotes: [{ url: \"nats://HERE:7422\" }] }\n", "of your own"},
		"websocket":                   {users + "websocket { listen: \"HERE:-1\", no_tls: true }\n", "of your own"},
		"gateway":                     {users + "gateway { name: g, listen: \"HERE:-1\" }\n", "of your own"},
		"MQTT":                        {users + "server_name: s\nmqtt { listen: \"HERE:-1\" }\n", "of your own"},
		"certificates, but not asked": {"no_auth_user: x\n" + mutual, "without a credential"},
	} {
		t.Run(name, func(t *testing.T) {
			conf := configured(t, strings.ReplaceAll("port: -1\n"+tt.conf, "HERE", here))
			dir := t.TempDir()
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			err := Serve(ctx, &Coordinator{Dir: dir, Trials: many("pass", 1)}, &ServeOptions{
				Server: conf, Ready: func(string, string) { t.Error("it listens"); stop() },
			})
			require.ErrorIs(t, err, ErrInsecure)
			require.ErrorContains(t, err, tt.why)
			require.NoDirExists(t, filepath.Join(dir, storeName))
			require.NotContains(t, err.Error(), "secret")
		})
	}
}

// Options of one's own that are safe are taken as they are, and strangers do not
// come in.
func TestSafeServers(t *testing.T) {
	here := outside(t)
	pair := certificateFiles(t, here)
	secure := fmt.Sprintf("tls { cert_file: %q, key_file: %q }\n", pair.cert, pair.key)
	mutual := fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }\n", pair.cert, pair.key, pair.cert)
	for name, tt := range map[string]struct {
		conf  string
		login []nats.Option
		made  bool // the credentials are made
	}{
		"a token, here":         {"authorization { token: secret }\n", []nats.Option{nats.Token("secret")}, false},
		"users in an account":   {"accounts { A { jetstream: enabled, users: [{user: a, password: secret}] } }\n", []nats.Option{nats.UserInfo("a", "secret")}, false},
		"TLS and a user":        {"host: HERE\n" + secure + "authorization { user: a, password: secret }\n", []nats.Option{nats.UserInfo("a", "secret"), nats.RootCAs(pair.cert)}, false},
		"certificates":          {"host: HERE\n" + mutual, []nats.Option{nats.RootCAs(pair.cert), nats.ClientCert(pair.cert, pair.key)}, false},
		"monitoring, here":      {"http: \"127.0.0.1:-1\"\n", nil, true},
		"TLS, nobody named":     {"host: HERE\n" + secure, nil, true},
		"nothing but a host":    {"host: HERE\n", nil, true},
		"nothing but a port":    {"", nil, true},
		"all addresses, no TLS": {"host: 0.0.0.0\n", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			conf := configured(t, strings.ReplaceAll("port: -1\n"+tt.conf, "HERE", here))
			ready := make(chan [2]string, 1)
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				ended <- Serve(ctx, &Coordinator{Dir: t.TempDir(), Trials: many("pass", 1)}, &ServeOptions{
					Server: conf, Client: tt.login, Ready: func(url, file string) { ready <- [2]string{url, file} },
				})
			}()
			defer func() { stop(); <-ended }()
			var told [2]string
			select {
			case told = <-ready:
			case err := <-ended:
				ended <- nil
				require.NoError(t, err)
			}
			require.Equal(t, tt.made, told[1] != "")
			url := told[0]
			_, err := reach(url, blind())
			if strings.HasPrefix(url, "nats://") {
				_, err = reach(url)
			}
			require.Error(t, err, "a stranger")
			require.NotErrorIs(t, err, nats.ErrNoServers)

			login := tt.login
			if tt.made {
				if login, err = credentials(t, told[1]).Options(); err != nil {
					t.Fatal(err)
				}
				url = strings.Replace(url, hostname(t), "127.0.0.1", 1)
			}
			nc, err := reach(url, login...)
			require.NoError(t, err)
			nc.Close()
		})
	}
}

func hostname(t *testing.T) string {
	name, err := os.Hostname()
	require.NoError(t, err)
	return name
}

// A worker leaves this machine with TLS and a credential only, whatever a server
// asks for, and tells a server without TLS nothing.
func TestWorkerLeavesSafely(t *testing.T) {
	here := outside(t)
	w := &Worker{Do: (&script{}).do, Patience: time.Minute}
	for _, address := range []string{"nats://" + here + ":4222", here, "tls://" + here + ":4222", "nats://127.0.0.1:4222,nats://" + here, "nats://bench.example.org"} {
		require.ErrorIs(t, w.Work(t.Context(), address), ErrInsecure, address)
		require.ErrorIs(t, (&Coordinator{Dir: t.TempDir(), Trials: many("pass", 1)}).Run(t.Context(), address), ErrInsecure, address)
	}

	for name, login := range map[string][]nats.Option{
		"token": {nats.Token("secret")}, "user": {nats.UserInfo("bench", "secret")}, "key": {stranger(t)},
	} {
		heard := plainServer(t, here)
		err := w.Work(t.Context(), "nats://"+heard.address, login...)
		require.ErrorIs(t, err, nats.ErrSecureConnWanted, name)
		require.Empty(t, heard.String(), name)
		err = w.Work(t.Context(), "nats://bench:secret@"+heard.address)
		require.ErrorIs(t, err, nats.ErrSecureConnWanted, name)
		require.NotContains(t, err.Error(), "secret")
		require.Empty(t, heard.String(), name)
	}
	// The same server hears a client that does not care: it would hear a secret.
	heard := plainServer(t, here)
	_, err := reach("nats://bench:secret@" + heard.address)
	require.Error(t, err)
	require.Contains(t, heard.String(), "secret")
}

// A worker that is on the same machine as its server is not sent elsewhere by it.
func TestWorkerStays(t *testing.T) {
	for address, leaves := range map[string]bool{
		"nats://127.0.0.1:4222": false, "127.0.0.1": false, "localhost:4222": false, "nats://[::1]:4222": false, "nats://127.0.0.2": false,
		"nats://10.0.0.1": true, "nats://[fd00::1]": true, "nats://localhost.example.org": true, "nats://127.0.0.1.example.org": true, "nats://0.0.0.0:4222": true,
	} {
		more, err := checkClient(address, []nats.Option{nats.Token("secret")})
		require.NoError(t, err, address)
		var o nats.Options
		for _, option := range more {
			require.NoError(t, option(&o))
		}
		assert.Equal(t, leaves, o.Secure, address)
		assert.Equal(t, !leaves, o.IgnoreDiscoveredServers, address)
	}
}

// A heardServer is one without TLS that writes down what it is told.
type heardServer struct {
	lines
	address string
}

func plainServer(t *testing.T, host string) *heardServer {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	require.NoError(t, err)
	s := &heardServer{address: l.Addr().String()}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(time.Minute))
				fmt.Fprintf(conn, "INFO {\"server_id\":\"x\",\"version\":\"2.15.2\",\"nonce\":\"abcdef\",\"headers\":true,\"max_payload\":1048576}\r\n")
				for in := bufio.NewScanner(conn); in.Scan() && in.Text() != "PING"; { // who says that waits for an answer
					fmt.Fprintln(s, in.Text())
				}
			})
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	return s
}

func TestParseCredentials(t *testing.T) {
	pair, err := nkeys.CreateUser()
	require.NoError(t, err)
	c := &Credentials{URL: "tls://[fd00::1]:4222", worker: pair, certificate: [32]byte{1, 2, 3}}
	line, err := c.line()
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(line, "\n"), "it can be pasted")
	again, err := ParseCredentials(" " + line)
	require.NoError(t, err)
	require.Equal(t, c.URL, again.URL)
	require.Equal(t, c.certificate, again.certificate)
	seed, err := pair.Seed()
	require.NoError(t, err)
	require.Contains(t, line, string(seed))
	for _, format := range []string{"%v", "%s", "%+v"} {
		require.NotContains(t, fmt.Sprintf(format, again), string(seed))
	}
	account, err := nkeys.CreateUser()
	require.NoError(t, err)
	public, err := account.PublicKey()
	require.NoError(t, err)
	for _, bad := range []string{
		"", "\n", "tls://", "secret", strings.Replace(line, "tls:", "nats:", 1), strings.Replace(line, string(seed)+"@", "", 1),
		strings.Replace(line, string(seed), "secret", 1), strings.Replace(line, string(seed), public, 1), line[:len(line)-3],
		strings.Replace(line, "certificate", "cert", 1), strings.Replace(line, "[fd00::1]", "[secret", 1), "tls://secret:se cret@%zz",
	} {
		_, err := ParseCredentials(bad)
		require.Equal(t, errCredentials, err, bad)
	}
}

// What is no identity any more is not overwritten: workers have its credentials.
func TestBrokenIdentity(t *testing.T) {
	for _, text := range []string{"", "{", `{"certificate":"AA==","key":"AA==","worker":"x"}`} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, identityName), []byte(text), 0o600))
		err := Serve(t.Context(), &Coordinator{Dir: dir, Trials: many("pass", 1)}, &ServeOptions{Server: &server.Options{Port: server.RANDOM_PORT}})
		require.ErrorContains(t, err, identityName)
		data, err := os.ReadFile(filepath.Join(dir, identityName))
		require.NoError(t, err)
		require.Equal(t, text, string(data))
	}
}

// A keyPair is the files of a certificate that is its own authority.
type keyPair struct{ cert, key string }

func certificateFiles(t *testing.T, ip string) keyPair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.ParseIP(ip)},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	dir := t.TempDir()
	pair := keyPair{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
	require.NoError(t, os.WriteFile(pair.cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(pair.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	return pair
}

// configured reads a configuration as NATS writes it.
func configured(t *testing.T, text string) *server.Options {
	t.Helper()
	file := filepath.Join(t.TempDir(), "nats.conf")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	conf, err := server.ProcessConfigFile(file)
	var warnings interface{ Warnings() []error }
	if !errors.As(err, &warnings) {
		require.NoError(t, err)
	}
	return conf
}
