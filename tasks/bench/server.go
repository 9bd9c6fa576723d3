package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

const startTime = 30 * time.Second // for a server to find its streams again

// ServeOptions say how the server of [Serve] listens.
type ServeOptions struct {
	// Server has addresses, TLS, users and all else that a NATS server can be
	// told; [server.ProcessConfigFile] reads a file of it. Streams are kept in
	// the results folder, unless a folder is named. nil: the default port of
	// NATS.
	//
	// Where it names no address, the server listens on the loopback alone. Where
	// it says nothing of who may come in, [Serve] makes a certificate and
	// credentials for workers. Whatever is open to strangers all the same, or
	// without TLS to other machines, is refused with [ErrInsecure].
	Server *server.Options

	// Client is how the coordinator logs in to it. It is not necessary if the
	// server asks for nothing of its own, a token, or one user and password.
	Client []nats.Option

	// Ready is called when workers can connect. url has no secret in it.
	// credentials names the file that Serve made for workers, which is one; it is
	// "" if the server has users of its own.
	Ready func(url, credentials string)
}

// Serve is [Coordinator.Run] with a server in this process, for workers on other
// machines. What the server knows stays in the results folder until the run is
// over: after a stop, workers can wait for the next start.
func Serve(ctx context.Context, c *Coordinator, o *ServeOptions) error {
	o = cmp.Or(o, &ServeOptions{})
	col, err := c.open()
	if err != nil {
		return err
	}
	defer col.close()
	if len(col.left) == 0 {
		return nil
	}
	conf := &server.Options{}
	if o.Server != nil {
		conf = o.Server.Clone()
	}
	own := conf.StoreDir == ""
	if own {
		conf.StoreDir = filepath.Join(c.Dir, storeName)
	}
	worker, login, err := c.guard(conf)
	if err != nil {
		return err
	}
	s, err := startServer(conf, c.Log)
	if err != nil {
		return err
	}
	defer s.stop()
	nc, err := s.connect("bench coordinator", c.Log, slices.Concat(o.Client, login))
	if err != nil {
		return err
	}
	defer nc.Close()
	if err := col.attach(ctx, nc, true); err != nil {
		return err
	}
	if err := s.announce(c.Dir, worker, o.Ready); err != nil {
		return err
	}
	if err := col.collect(ctx); err != nil {
		return err
	}
	nc.Close()
	s.stop()
	if own {
		err = os.RemoveAll(conf.StoreDir)
	}
	// The next run is another one, for which workers need other credentials.
	for _, name := range []string{identityName, credentialsName} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(c.Dir, name)))
	}
	return err
}

// guard makes a server's options safe, or refuses them. It returns the credentials
// that it made for workers, nil if the options have users, and how the coordinator
// then logs in.
func (c *Coordinator) guard(conf *server.Options) (worker *Credentials, login []nats.Option, err error) {
	localize(conf)
	if unclaimed(conf) {
		if worker, login, err = claim(conf, c.Dir, cmp.Or(c.Name, defaultRun)); err != nil {
			return nil, nil, err
		}
	}
	return worker, login, checkServer(conf)
}

// announce tells how workers come in, and writes the credentials that they need.
func (e *embedded) announce(dir string, worker *Credentials, ready func(url, credentials string)) error {
	url, file := e.url(), ""
	if worker != nil {
		worker.URL = url
		line, err := worker.line()
		if err != nil {
			return err
		}
		file = filepath.Join(dir, credentialsName)
		if err := writeSecret(file, []byte(line)); err != nil {
			return err
		}
	}
	if ready != nil {
		ready(url, file)
	}
	return nil
}

// url is where workers find the server: by this machine's name, if it listens on
// all addresses.
func (e *embedded) url() string {
	host := e.conf.Host
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	scheme := "nats"
	if e.conf.TLSConfig != nil {
		scheme = "tls"
	}
	return fmt.Sprintf("%s://%s", scheme, net.JoinHostPort(host, fmt.Sprint(e.Addr().(*net.TCPAddr).Port)))
}

// embedded is a server in this process.
type embedded struct {
	*server.Server
	conf *server.Options
}

// startServer starts a server and waits until it answers.
func startServer(conf *server.Options, log *slog.Logger) (*embedded, error) {
	conf.JetStream, conf.NoSigs = true, true
	s, err := server.NewServer(conf)
	if err != nil {
		return nil, fmt.Errorf("NATS server: %w", err)
	}
	lines := &serverLog{log: logger(log)}
	s.SetLoggerV2(lines, false, false, false)
	s.Start()
	e := &embedded{s, conf}
	if !s.ReadyForConnections(startTime) {
		e.stop()
		return nil, fmt.Errorf("NATS server: it did not start: %s", cmp.Or(lines.last(), "is the address taken?"))
	}
	if !s.JetStreamEnabled() {
		e.stop()
		return nil, errors.New("NATS server: JetStream did not start; is the disk full?")
	}
	return e, nil
}

func (e *embedded) stop() {
	e.Shutdown()
	e.WaitForShutdown()
}

// connect connects within the process, where nobody listens: without TLS.
func (e *embedded) connect(name string, log *slog.Logger, more []nats.Option) (*nats.Conn, error) {
	options := []nats.Option{nats.InProcessServer(e.Server)}
	switch {
	case e.conf.Authorization != "":
		options = append(options, nats.Token(e.conf.Authorization))
	case e.conf.Username != "":
		options = append(options, nats.UserInfo(e.conf.Username, e.conf.Password))
	}
	plain := func(o *nats.Options) error {
		o.Secure, o.TLSConfig, o.RootCAsCB, o.TLSCertCB = false, nil, nil, nil
		return nil
	}
	return connect("", name, log, append(append(options, more...), plain))
}

// serverLog passes on what a server says.
type serverLog struct {
	log  *slog.Logger
	text atomic.Pointer[string] // the last error
}

func (l *serverLog) say(level slog.Level, format string, v []any) {
	text := strings.TrimSpace(fmt.Sprintf(format, v...))
	if level >= slog.LevelError {
		l.text.Store(&text)
	}
	l.log.Log(context.Background(), level, "nats server", "text", text)
}

func (l *serverLog) last() string {
	if text := l.text.Load(); text != nil {
		return *text
	}
	return ""
}

func (l *serverLog) Noticef(format string, v ...any) { l.say(slog.LevelDebug, format, v) }
func (l *serverLog) Warnf(format string, v ...any)   { l.say(slog.LevelWarn, format, v) }
func (l *serverLog) Errorf(format string, v ...any)  { l.say(slog.LevelError, format, v) }
func (l *serverLog) Fatalf(format string, v ...any)  { l.say(slog.LevelError, format, v) }
func (l *serverLog) Debugf(string, ...any)           {}
func (l *serverLog) Tracef(string, ...any)           {}
