package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"golang.org/x/term"

	"desktop-agent/internal/regular"
	"desktop-agent/internal/shlex"
	"desktop-agent/tasks/bench"
	"desktop-agent/tasks/env"
)

// benchServeCmd does a suite with workers on other machines.
type benchServeCmd struct {
	Listen string `help:"Address and port to listen on, for workers with the credentials that are made; a NATS server of your own, or a cluster, is named with --nats instead." default:"127.0.0.1:4222" group:"Server"`
	Server string `name:"server-config" help:"Configuration file of the NATS server that listens: TLS, users, a cluster, and all else." type:"existingfile" placeholder:"FILE" env:"-" group:"Server"`
	Copies int    `help:"In a cluster: on how many servers everything is kept." default:"1" group:"Server"`

	natsFlags
	benchFlags
}

// natsFlags say how to log in to NATS.
type natsFlags struct {
	NATS  string `name:"nats" help:"URL of a NATS server or cluster with JetStream." placeholder:"URL" group:"Server"`
	Creds string `name:"nats-creds" help:"File with the credentials: that of bench serve, which has the URL in it, or one of NATS; - to paste the line of the first." type:"existingfile" placeholder:"FILE" group:"Server"`
	CA    string `name:"nats-ca" help:"File with the certificate of who signed the server's." type:"existingfile" placeholder:"FILE" group:"Server"`
	Name  string `name:"run-name" help:"Name of this benchmark, where a server has several." default:"bench" placeholder:"NAME" group:"Server"`
}

// login returns the server's URL, "" if none is named, and how to log in to it.
func (f natsFlags) login(ctx context.Context) (url string, options []nats.Option, err error) {
	if f.CA != "" {
		if _, err := regular.Read(f.CA, maxSettings); err != nil {
			return "", nil, &usageError{hintError{fmt.Errorf("--nats-ca: %w", err), "name a file with certificates"}}
		}
		options = append(options, nats.RootCAs(f.CA))
	}
	if f.Creds == "" {
		return f.NATS, options, nil
	}
	var text string
	if f.Creds == "-" {
		text, err = pasted(ctx, os.Stdin)
	} else {
		var data []byte
		data, err = regular.Read(f.Creds, maxSettings)
		text = string(data)
	}
	if err != nil {
		return "", nil, &usageError{hintError{fmt.Errorf("--nats-creds: %w", err), "name the file that bench serve has written"}}
	}
	if f.Creds != "-" && strings.Contains(text, "-----BEGIN") {
		return f.NATS, append(options, nats.UserCredentials(f.Creds)), nil
	}
	known, err := bench.ParseCredentials(text)
	if err != nil {
		return "", nil, &usageError{hintError{fmt.Errorf("--nats-creds: %w", err), "name the file that bench serve has written, or one with credentials of NATS"}}
	}
	own, err := known.Options()
	return cmp.Or(f.NATS, known.URL), append(options, own...), err
}

// pasted returns a line of the standard input.
func pasted(ctx context.Context, in io.Reader) (string, error) {
	lines := bufio.NewScanner(in) // a line is 64 KiB at most
	read := make(chan bool, 1)
	go func() { read <- lines.Scan() }()
	select {
	case <-read:
		return lines.Text(), lines.Err()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// explained is an error of a connection with what to do about it.
func explained(err error) error {
	switch {
	case errors.Is(err, bench.ErrInsecure):
		return &usageError{hintError{err, "name credentials with --nats-creds, and give a server of your own TLS and users"}}
	case errors.Is(err, nats.ErrAuthorization):
		return hintError{err, "the server does not know these credentials: copy its file again, and name it with --nats-creds"}
	case errors.Is(err, nats.ErrSecureConnWanted):
		return hintError{err, "a server on another machine needs TLS: give it some, or reach it by a tunnel from 127.0.0.1"}
	}
	return err
}

// Run hands the trials out until all are done, and reports.
func (b *benchServeCmd) Run(ctx context.Context, c console, g *cli) error {
	work, err := b.prepare()
	if err != nil {
		return err
	}
	began := time.Now()
	shown := newBenchProgress(c.Err, b.suiteFlags)
	coordinator := work.coordinator(shown.show, logger(c, g.Verbose))
	coordinator.Name, coordinator.Replicas = b.Name, b.Copies
	url, login, err := b.login(ctx)
	if err != nil {
		return err
	}
	if b.NATS != "" {
		err = coordinator.Run(ctx, url, login...)
	} else {
		err = b.serve(ctx, c, coordinator, login)
	}
	shown.end()
	if err != nil {
		return errors.Join(explained(err), work.partial(c, began))
	}
	return work.report(c, began)
}

// serve listens itself.
func (b *benchServeCmd) serve(ctx context.Context, c console, coordinator *bench.Coordinator, login []nats.Option) error {
	options := &server.Options{}
	if b.Server != "" {
		_, err := regular.Read(b.Server, maxSettings)
		if err == nil {
			options, err = server.ProcessConfigFile(b.Server)
		}
		if err != nil {
			return &usageError{hintError{err, "write the file as NATS documents it"}}
		}
	} else {
		host, port, err := splitAddress(b.Listen)
		if err != nil {
			return &usageError{hintError{err, "write for example --listen 127.0.0.1:4222"}}
		}
		options.Host, options.Port = host, port
		if port == 0 {
			options.Port = server.RANDOM_PORT
		}
	}
	return bench.Serve(ctx, coordinator, &bench.ServeOptions{Server: options, Client: login, Ready: func(url, credentials string) {
		fmt.Fprintf(c.Err, "workers: %s\n", b.invitation(url, credentials))
		if credentials != "" {
			fmt.Fprintln(c.Err, "that file is a secret: take it to other machines by a safe way, or paste its line to --nats-creds -")
		} else {
			fmt.Fprintln(c.Err, "and with credentials of the server's configuration")
		}
	}})
}

// invitation is the command line of a worker. No secret is in it.
func (b *benchServeCmd) invitation(url, credentials string) string {
	words := []string{"desktop-agent", "bench", "worker"}
	if credentials != "" {
		words = append(words, "--nats-creds", credentials)
	} else {
		words = append(words, "--nats", url)
	}
	if b.Name != "bench" {
		words = append(words, "--run-name", b.Name)
	}
	if b.Model != scripted {
		words = append(words, "--base-url", withoutSecrets(b.base()))
	}
	if b.Unisolated {
		words = append(words, "--unisolated")
	}
	for i, word := range words {
		if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@,") != "" {
			words[i] = shlex.Quote(word)
		}
	}
	return strings.Join(words, " ")
}

// benchWorkerCmd does trials.
type benchWorkerCmd struct {
	Suite   string        `help:"A copy of the benchmark's suite, where it lies elsewhere than there." type:"path" placeholder:"DIR" group:"Benchmark"`
	Shared  string        `help:"The results folder, if this machine sees it; else results are sent." type:"path" placeholder:"DIR" group:"Benchmark"`
	Timeout time.Duration `help:"Longest time of one trial." default:"2h" group:"Limits"`
	Child   bool          `hidden:"" env:"-"`
	BaseURL string        `name:"base-url" help:"Endpoint of the benchmark's models; the key is sent to this one only." placeholder:"URL" group:"Models"`
	APIKey  string        `name:"api-key" help:"Key of the endpoint; better in the environment." placeholder:"KEY" group:"Models"`

	Unisolated bool `help:"Let a benchmark that asks for it run its tasks' commands on this machine itself, with the rights of this user." env:"-" group:"Suite"`

	natsFlags
}

// ownModels are what a benchmark tells the workers of its own machine: where models
// are asked, in which there may be a password, and with which key.
type ownModels struct {
	BaseURL string `json:"base_url"`
	APIKey  string `json:"api_key"`
}

// Run does trials until there are no more.
func (b *benchWorkerCmd) Run(ctx context.Context, c console, g *cli) (err error) {
	log := logger(c, g.Verbose)
	etc := &env.Etc{} // of all its trials
	defer func() { err = errors.Join(err, etc.Close()) }()
	w := &bench.Worker{
		Run: b.Name, Shared: b.Shared, Timeout: b.Timeout, Log: log,
		Prepare: func(ctx context.Context, spec json.RawMessage) (bench.Do, error) { return do(ctx, spec, b, etc, log) },
		Secret: func(text string) {
			var own ownModels
			if err := json.Unmarshal([]byte(text), &own); err == nil { // else there is none
				b.BaseURL, b.APIKey = own.BaseURL, own.APIKey
			}
		},
	}
	if b.Child {
		return bench.Child(ctx, os.Stdin, w)
	}
	url, login, err := b.login(ctx)
	if err != nil {
		return err
	}
	if url == "" {
		return &usageError{hintError{errors.New("it is not said where trials come from"), "name the server with --nats, or its credentials with --nats-creds; bench serve prints the line"}}
	}
	return explained(w.Work(ctx, url, login...))
}

// benchProgress shows how far a benchmark is: on a terminal a line that is
// written anew, else a line whenever a trial is finished.
type benchProgress struct {
	out      io.Writer
	terminal bool
	note     string // what every line says

	mu   sync.Mutex
	done int
	last string
}

func newBenchProgress(out io.Writer, flags suiteFlags) *benchProgress {
	f, ok := out.(interface{ Fd() uintptr })
	p := &benchProgress{out: out, terminal: ok && term.IsTerminal(int(f.Fd())), done: -1}
	if flags.Unisolated {
		p.note = "; NOT ISOLATED"
	}
	return p
}

func (p *benchProgress) show(now bench.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := progressText(now) + p.note
	switch {
	case p.terminal && text != p.last:
		fmt.Fprintf(p.out, "\r\x1b[K%s", text)
	case !p.terminal && now.Done != p.done:
		fmt.Fprintln(p.out, text)
	}
	p.done, p.last = now.Done, text
}

// end leaves the last line where it is.
func (p *benchProgress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal && p.last != "" {
		fmt.Fprintln(p.out)
	}
}

// splitAddress reads "host:port".
func splitAddress(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err == nil && (port < 0 || port > 65535) {
		err = fmt.Errorf("there is no port %d", port)
	}
	return host, port, err
}
