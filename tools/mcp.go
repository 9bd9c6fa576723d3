package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/errgroup"

	"desktop-agent/internal/child"
	"desktop-agent/llm"
	"desktop-agent/worldmodel"
)

// The limits of servers.
const (
	maxMessage   = 16 << 20 // bytes of one message of a server
	maxTools     = 500      // of one server
	maxAbout     = 2000     // bytes of a tool's description
	startLimit   = 60 * time.Second
	pingLimit    = 3 * time.Second
	endLimit     = 2 * time.Second // until a server that was asked to end is killed
	errorExcerpt = 2000            // bytes of what a server wrote to its standard error
)

// Servers are MCP servers that run for as long as they are open.
type Servers struct {
	list []*server
}

// A ServerStatus is what is known of a server.
type ServerStatus struct {
	Name    string
	About   string   // its name and version, in its own words; "" if it does not run
	Tools   int      // that can be called
	Dropped []string // tools that cannot be called, each with the reason
	Err     error    // why it does not run; nil if it does, or is disabled
	Off     bool     // it is disabled
}

// Open starts or reaches all servers, at the same time. One that fails is told of in
// [Servers.Status], and its tools are not there.
func Open(ctx context.Context, servers map[string]Server, log *slog.Logger) *Servers {
	s := &Servers{}
	var group errgroup.Group
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		one := &server{name: name, how: servers[name], log: log}
		s.list = append(s.list, one)
		if one.how.Disabled {
			continue
		}
		group.Go(func() error {
			one.mu.Lock()
			defer one.mu.Unlock()
			one.err = one.start(ctx)
			return nil
		})
	}
	_ = group.Wait()
	return s
}

// Tools returns the tools of all servers. Their names are mcp__server__tool.
func (s *Servers) Tools() []Tool {
	var list []Tool
	for _, one := range s.list {
		list = append(list, one.tools...)
	}
	return list
}

// Status tells of each server, by name.
func (s *Servers) Status() []ServerStatus {
	var list []ServerStatus
	for _, one := range s.list {
		one.mu.Lock()
		list = append(list, ServerStatus{
			Name: one.name, About: one.about, Tools: len(one.tools), Dropped: one.dropped, Err: one.err, Off: one.how.Disabled,
		})
		one.mu.Unlock()
	}
	return list
}

// Close ends all servers that were started, within some seconds.
func (s *Servers) Close() {
	var group errgroup.Group
	for _, one := range s.list {
		group.Go(func() error {
			one.mu.Lock()
			defer one.mu.Unlock()
			one.end()
			return nil
		})
	}
	_ = group.Wait()
}

// A server is one MCP server and the connection to it.
type server struct {
	name    string
	how     Server
	log     *slog.Logger
	tools   []Tool // as they were when it first started
	about   string
	dropped []string

	mu      sync.Mutex
	session *mcp.ClientSession // nil if it does not run
	cmd     *exec.Cmd          // nil of a URL
	ended   chan struct{}      // closed when cmd has ended
	wrote   *tail              // to its standard error
	suspect bool               // the last call did not end well: ask it whether it is there
	err     error
}

// start connects, and takes in the tools the first time.
func (s *server) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("it did not answer within %v", startLimit))
	defer cancel()
	transport, err := s.transport()
	if err != nil {
		return err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "desktop-agent", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{}, // it may ask us for nothing
	})
	s.session, err = client.Connect(ctx, transport, nil)
	if err != nil {
		s.end()
		return s.explain(ctx, err)
	}
	if s.about == "" {
		if init := s.session.InitializeResult(); init != nil && init.ServerInfo != nil {
			s.about = excerpt(llm.OneLine(init.ServerInfo.Name + " " + init.ServerInfo.Version))
		}
		if err := s.read(ctx); err != nil {
			s.end()
			return s.explain(ctx, err)
		}
	}
	return nil
}

// explain adds to an error what a server wrote before it ended.
func (s *server) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if s.wrote == nil {
		return err
	}
	if text := llm.OneLine(s.wrote.String()); text != "" {
		return fmt.Errorf("%w; it wrote: %s", err, text)
	}
	return err
}

// transport starts the program of a server, or makes ready for its URL.
func (s *server) transport() (mcp.Transport, error) {
	if s.how.URL != "" {
		return &mcp.StreamableClientTransport{
			Endpoint: s.how.URL, MaxRetries: 1, MaxEventSize: maxMessage, DisableStandaloneSSE: true,
			HTTPClient: &http.Client{Transport: withHeaders{s.how.Headers}},
		}, nil
	}
	path, err := exec.LookPath(s.how.Command)
	if err != nil {
		return nil, fmt.Errorf("there is no program %q: install it, or give its whole path", s.how.Command)
	}
	cmd := exec.Command(path, s.how.Args...)
	cmd.Dir, cmd.Env = s.how.Cwd, environment(s.how.Env)
	s.wrote = &tail{most: errorExcerpt}
	cmd.Stderr = s.wrote
	cmd.WaitDelay = time.Second
	child.Bind(cmd)
	cmd.Cancel = nil // it has no context: end kills it
	// Pipes of our own: waiting for a program closes those that it makes itself, and
	// cuts off what is still to be read.
	in, toServer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	fromServer, out, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, in.Close(), toServer.Close())
	}
	cmd.Stdin, cmd.Stdout = in, out
	err = cmd.Start()
	_, _ = in.Close(), out.Close()
	if err != nil {
		return nil, errors.Join(err, toServer.Close(), fromServer.Close())
	}
	ended := make(chan struct{})
	s.cmd, s.ended = cmd, ended
	go func() {
		_ = child.Wait(cmd)
		close(ended)
	}()
	return &mcp.IOTransport{Reader: fromServer, Writer: toServer, MaxLineLength: maxMessage}, nil
}

// end ends the connection, and the program with all that it started.
func (s *server) end() {
	if s.session != nil {
		closed := make(chan struct{})
		go func(session *mcp.ClientSession) {
			_ = session.Close()
			close(closed)
		}(s.session)
		select {
		case <-closed:
		case <-time.After(endLimit):
		}
		s.session = nil
	}
	if s.cmd != nil {
		select {
		case <-s.ended:
		case <-time.After(endLimit):
		}
		_ = s.cmd.Process.Kill() // and with it what it has started
		<-s.ended
		s.cmd = nil
	}
}

// read takes in the tools of a server.
func (s *server) read(ctx context.Context) error {
	for t, err := range s.session.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("its tools: %w", err)
		}
		if len(s.tools) == maxTools {
			s.dropped = append(s.dropped, fmt.Sprintf("all after %d tools", maxTools))
			break
		}
		tool, err := s.tool(t)
		if err != nil {
			s.dropped = append(s.dropped, fmt.Sprintf("%s: %v", excerpt(llm.OneLine(t.Name)), err))
			continue
		}
		s.tools = append(s.tools, tool)
	}
	return nil
}

// tool makes one of ours of a tool of a server.
func (s *server) tool(t *mcp.Tool) (Tool, error) {
	input, err := schemaOf(t.Name, t.InputSchema)
	if err != nil {
		return Tool{}, err
	}
	var output *llm.Schema
	if t.OutputSchema != nil {
		if output, err = schemaOf(t.Name, t.OutputSchema); err != nil {
			output = nil // what cannot be checked is text alone
		}
	}
	name := toolName(s.name, t.Name)
	if slices.ContainsFunc(s.tools, func(other Tool) bool { return other.Name == name }) {
		return Tool{}, errors.New("another tool has this name")
	}
	about := strings.ToValidUTF8(t.Description, "\uFFFD")
	if len(about) > maxAbout {
		about = strings.ToValidUTF8(about[:maxAbout], "") + "…"
	}
	out := Tool{Name: name, Description: about, Parameters: input, Effect: s.effect(t), Server: s.name}
	if err := usable(input); err != nil {
		return Tool{}, err
	}
	out.Call = func(ctx context.Context, arguments json.RawMessage) (Result, error) {
		return s.call(ctx, t.Name, arguments, output)
	}
	return out, nil
}

// schemaOf returns a schema that a server gave; an error if nothing can be checked
// by it.
func schemaOf(name string, schema any) (*llm.Schema, error) {
	data, err := json.Marshal(schema)
	if err != nil || string(data) == "null" {
		return nil, errors.New("it has no schema of its arguments")
	}
	return &llm.Schema{Name: name, JSON: data}, nil
}

// odd are characters that the name of a function may not have.
var odd = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// toolName is the name of a server's tool here. One that would be too long ends in a
// hash of the whole.
func toolName(server, tool string) string {
	name := "mcp__" + server + "__" + odd.ReplaceAllString(tool, "_")
	if len(name) > 64 {
		sum := sha256.Sum256([]byte(tool))
		name = name[:55] + "_" + hex.EncodeToString(sum[:4])
	}
	return name
}

// effect is what a tool may do: what the user says of it, or its own hints if the
// user trusts them, or the worst that a service can do.
func (s *server) effect(t *mcp.Tool) worldmodel.Effect {
	if e, ok := s.how.Effects[t.Name]; ok {
		return e
	}
	if e, ok := s.how.Effects["*"]; ok {
		return e
	}
	hints := t.Annotations
	switch {
	case !s.how.TrustHints || hints == nil:
		return worldmodel.EffectModifyExternal
	case hints.ReadOnlyHint:
		return worldmodel.EffectNone
	case hints.OpenWorldHint == nil || *hints.OpenWorldHint:
		return worldmodel.EffectModifyExternal
	case hints.DestructiveHint == nil || *hints.DestructiveHint:
		return worldmodel.EffectDelete
	}
	return worldmodel.EffectEdit
}

// call calls a tool. A server that has gone is started again before, never after:
// what was sent to it may have been done.
func (s *server) call(ctx context.Context, name string, arguments json.RawMessage, output *llm.Schema) (Result, error) {
	session, err := s.ready(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("%w: the server %s: %w", ErrNotDone, s.name, err)
	}
	got, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.suspect = true
		return Result{}, fmt.Errorf("the server %s: %w", s.name, s.explain(ctx, err))
	}
	return resultOf(got, output)
}

// ready returns a connection that works, as far as that is known.
func (s *server) ready(ctx context.Context) (*mcp.ClientSession, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != nil && s.suspect {
		asked, cancel := context.WithTimeout(ctx, pingLimit)
		err := s.session.Ping(asked, nil)
		cancel()
		if err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if s.log != nil {
				s.log.InfoContext(ctx, "MCP server is started again", "server", s.name)
			}
			s.end()
		}
	}
	s.suspect = false
	if s.session == nil {
		if s.err = s.start(ctx); s.err != nil {
			return nil, s.err
		}
	}
	return s.session, nil
}

// resultOf makes one of ours of what a server answered.
func resultOf(got *mcp.CallToolResult, output *llm.Schema) (Result, error) {
	r := Result{Failed: got.IsError}
	var parts []string
	for _, c := range got.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			parts = append(parts, c.Text)
		case *mcp.ImageContent:
			parts = append(parts, fmt.Sprintf("[a picture, %s, %d bytes]", excerpt(c.MIMEType), len(c.Data)))
		case *mcp.AudioContent:
			parts = append(parts, fmt.Sprintf("[a sound, %s, %d bytes]", excerpt(c.MIMEType), len(c.Data)))
		case *mcp.ResourceLink:
			parts = append(parts, fmt.Sprintf("[a link: %s]", excerpt(c.URI)))
		case *mcp.EmbeddedResource:
			if c.Resource != nil {
				parts = append(parts, c.Resource.Text)
			}
		}
	}
	if got.StructuredContent != nil {
		data, err := json.Marshal(got.StructuredContent)
		if err != nil {
			return r, err
		}
		if output != nil && !r.Failed {
			if err := output.Validate(data); err != nil {
				parts = append(parts, "[its data is not what its own schema says, and was left out]")
				data = nil
			}
		}
		r.Data = data
		if len(parts) == 0 && data != nil {
			parts = append(parts, string(data))
		}
	}
	r.Text = strings.Join(parts, "\n")
	return r, nil
}

// withHeaders sends headers with each request, and reads no more of a reply than a
// message may have.
type withHeaders struct{ headers map[string]string }

func (t withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range t.headers {
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body = limited{io.LimitReader(resp.Body, maxMessage), resp.Body}
	}
	return resp, err
}

type limited struct {
	io.Reader
	io.Closer
}
