package env

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"desktop-agent/sandbox"
)

// drainLimit is how long output may still come after a command has ended. A
// program that it left behind may keep the stream open for ever.
const drainLimit = 300 * time.Millisecond

// Run runs a command and waits for it. A command that ends with a code other
// than 0 is no error. One that runs for longer than its limit is ended, with
// everything that it started, and the error is [ErrLimit] beside its output.
//
// Programs that the command leaves behind go on. Python code that calls
// pyautogui is not run but translated, and performed on the desktop: see
// [Env.Perform]. What is known to send input in another way, such as xdotool in a script,
// is refused.
func (e *Env) Run(ctx context.Context, c Command) (Output, error) {
	if source, ok := gui(c); ok {
		return e.runGUI(ctx, c, source)
	}
	limit := c.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w: more than %v", ErrLimit, limit))
	defer cancel()
	return e.run(ctx, c)
}

func (e *Env) run(ctx context.Context, c Command) (Output, error) {
	if err := ctx.Err(); err != nil {
		return Output{}, fmt.Errorf("run: %w", context.Cause(ctx))
	}
	cmd, err := e.command(c)
	if err != nil {
		return Output{}, fmt.Errorf("run: %w", err)
	}
	stdout, stdoutWrite, err := e.collect()
	if err != nil {
		return Output{}, fmt.Errorf("run: %w", err)
	}
	defer stdoutWrite.Close()
	stderr, stderrWrite, err := e.collect()
	if err != nil {
		return Output{}, fmt.Errorf("run: %w", err)
	}
	defer stderrWrite.Close()
	cmd.Stdout, cmd.Stderr = stdoutWrite, stderrWrite
	p, err := e.desktop.Launch(cmd)
	if errors.Is(err, sandbox.ErrNotInstalled) {
		return Output{Stderr: []byte(err.Error() + "\n"), Code: 127}, nil
	} else if err != nil {
		return Output{}, fmt.Errorf("run: %w", err)
	}
	stdoutWrite.Close()
	stderrWrite.Close()
	select {
	case <-p.Done():
	case <-ctx.Done():
		err = errors.Join(context.Cause(ctx), p.Close())
	}
	late := time.NewTimer(drainLimit)
	defer late.Stop()
	for _, s := range []*stream{stdout, stderr} {
		select {
		case <-s.done:
		case <-late.C:
			late.Reset(0)
		}
	}
	out := Output{Stdout: stdout.bytes(), Stderr: stderr.bytes(), Code: p.Code()}
	if err != nil {
		err = fmt.Errorf("run %.100s: %w", strings.Join(c.Args, " "), err)
	}
	return out, err
}

// Start starts a command and does not wait for it. What it prints is lost. The
// error for a program that does not exist is [sandbox.ErrNotInstalled].
func (e *Env) Start(ctx context.Context, c Command) error {
	_, err := e.Launch(ctx, c)
	return err
}

// Launch is [Env.Start], and returns a channel that is closed when the command has
// ended.
func (e *Env) Launch(ctx context.Context, c Command) (ended <-chan struct{}, err error) {
	if source, ok := gui(c); ok {
		done := make(chan struct{})
		close(done)
		_, err := e.runGUI(ctx, c, source)
		return done, err
	}
	cmd, err := e.command(c)
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	if !c.Shell && !e.Has(c.Args[0]) {
		return nil, fmt.Errorf("start %s: %w", c.Args[0], sandbox.ErrNotInstalled)
	}
	p, err := e.desktop.Launch(cmd)
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	return p.Done(), nil
}

// Has reports whether there is a program of a name.
func (e *Env) Has(program string) bool {
	if !strings.Contains(program, "/") {
		if _, err := os.Stat(filepath.Join(e.within("bin"), program)); err == nil {
			return true
		}
		return find(program) != ""
	}
	if file, err := e.Host(program); err == nil {
		program = file
	}
	_, err := os.Stat(program)
	return err == nil
}

// command returns how the desktop starts a command.
func (e *Env) command(c Command) (sandbox.Command, error) {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return sandbox.Command{}, errors.New("no command")
	}
	if name := c.sender(); name != "" {
		return sandbox.Command{}, senderError(name)
	}
	var args []string
	if c.Shell {
		args = append(args, "/bin/sh", "-c")
	}
	for _, arg := range c.Args {
		if strings.ContainsRune(arg, 0) {
			return sandbox.Command{}, errors.New("a command cannot hold a NUL character")
		}
		args = append(args, e.rewrite(arg))
	}
	env := make([]string, len(c.Env))
	for i, pair := range c.Env {
		env[i] = e.rewrite(pair)
	}
	dir := Home
	if c.Dir != "" {
		dir = Abs(c.Dir)
	}
	// The folder may exist inside alone, and /bin/sh is started by whoever is there.
	args = append([]string{"/usr/bin/env", "-C", e.rewrite(dir), "--"}, args...)
	return sandbox.Command{Args: args, Env: env}, nil
}

// A stream collects what is written to a pipe.
type stream struct {
	done chan struct{} // closed at the end of the pipe
	mu   sync.Mutex
	text []byte
}

// collect makes a pipe and reads it to its end, which may be the end of the environment.
func (e *Env) collect() (*stream, *os.File, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	s := &stream{done: make(chan struct{})}
	stop := context.AfterFunc(e.closing, func() { read.Close() })
	e.pumps.Go(func() {
		defer stop()
		defer read.Close()
		defer close(s.done)
		_, _ = io.Copy(s, read) // the pipe's end, or that of the environment
	})
	return s, write, nil
}

// Write keeps what there is room for, and takes the rest too: a program that
// nobody reads would wait for ever.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, p[:min(len(p), MaxOutput-len(s.text))]...)
	return len(p), nil
}

func (s *stream) bytes() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]byte(nil), s.text...)
}
