package setup

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"desktop-agent/sandbox"
	"desktop-agent/screen"
	"desktop-agent/tasks"
	"desktop-agent/tasks/asset"
	"desktop-agent/tasks/env"
)

const (
	// untilPause is the time between two tries of a command with a condition.
	untilPause = 300 * time.Millisecond
	// windowLimit is how long a program may take to show its window.
	windowLimit = 60 * time.Second
	// lateLimit is how long it may take to after the command that started it has ended.
	lateLimit = 5 * time.Second
	// endLimit is how long a command without a window may take to end before the set-up
	// goes on beside it.
	endLimit = 30 * time.Second
	// portPause is the time between two looks at whether it listens.
	portPause = 200 * time.Millisecond
	// maxTail is how many bytes of a command's output an error holds.
	maxTail = 2000
)

// checkCommand checks what is to be run.
func checkCommand(p tasks.Params) error {
	_, err := env.ReadCommand(p)
	return err
}

// checkExecute checks the parameters of execute.
func checkExecute(p tasks.Params) error {
	_, err1 := env.ReadCommand(p)
	_, err2 := p.Map("until")
	_, err3 := savedName(p, "stdout")
	_, err4 := savedName(p, "stderr")
	return errors.Join(err1, err2, err3, err4)
}

// Command returns what a step runs, as it is on a screen of [env.DefaultSize]; ok is false if
// it runs nothing that its parameters name. o may be nil.
func Command(step tasks.Step, o *Options) (c env.Command, ok bool) {
	if !slices.Contains([]string{"launch", "execute", "command"}, step.Type) {
		return c, false
	}
	c, err := env.ReadCommand(step.Params)
	if step.Type != "launch" {
		c.Args = fill(c.Args, env.DefaultSize, o.withDefaults().Password)
	}
	return c, err == nil
}

// fill puts values in the places that tasks leave for them.
func fill(args []string, size image.Point, password string) []string {
	values := strings.NewReplacer(
		"{CLIENT_PASSWORD}", password,
		"{SCREEN_WIDTH_HALF}", strconv.Itoa(size.X/2), "{SCREEN_HEIGHT_HALF}", strconv.Itoa(size.Y/2),
		"{SCREEN_WIDTH}", strconv.Itoa(size.X), "{SCREEN_HEIGHT}", strconv.Itoa(size.Y))
	filled := make([]string, len(args))
	for i, arg := range args {
		filled[i] = values.Replace(arg)
	}
	return filled
}

// execute runs a command, again and again where it has a condition.
func (r *run) execute(ctx context.Context, p tasks.Params) error {
	c, err := env.ReadCommand(p)
	if err != nil {
		return err
	}
	c.Args = fill(c.Args, r.e.Size(), r.o.Password)
	until, err := p.Map("until")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, env.DefaultLimit, fmt.Errorf("%w: more than %v", env.ErrLimit, env.DefaultLimit))
	defer cancel()
	for {
		out, err := r.e.Run(ctx, c)
		switch {
		case err != nil && r.o.Defects.Has(stopped) && errors.Is(err, env.ErrLimit):
			r.o.Log.WarnContext(ctx, "command stopped", "err", err)
			return nil
		case err != nil:
			return &outputError{output: tail(out), err: err}
		}
		if err := errors.Join(r.keep(p, "stdout", out.Stdout), r.keep(p, "stderr", out.Stderr)); err != nil {
			return err
		}
		if met, err := holds(until, out); err != nil {
			return err
		} else if met {
			return r.judge(ctx, c, out, until)
		}
		select {
		case <-time.After(untilPause):
		case <-ctx.Done():
			return &outputError{output: tail(out), err: fmt.Errorf("until %v: %w", until, context.Cause(ctx))}
		}
	}
}

// judge makes an error of a code other than 0 if that counts.
func (r *run) judge(ctx context.Context, c env.Command, out env.Output, until tasks.Params) error {
	if out.Code == 0 || until.Has("returncode") {
		return nil
	}
	err := fmt.Errorf("%.200s: exit status %d", strings.Join(c.Args, " "), out.Code)
	if r.o.Strict || r.o.Codes {
		return &outputError{output: tail(out), err: err}
	}
	r.o.Log.WarnContext(ctx, "command failed", "err", err, "output", tail(out))
	return nil
}

// holds reports whether the condition of a command is met. Any of its parts is
// enough; none at all is met.
func holds(until tasks.Params, out env.Output) (bool, error) {
	if len(until) == 0 {
		return true, nil
	}
	if until.Has("returncode") {
		code, err := until.Number("returncode")
		if err != nil || int(code) == out.Code {
			return true, err
		}
	}
	for key, printed := range map[string][]byte{"stdout": out.Stdout, "stderr": out.Stderr} {
		if text, err := until.Text(key); err != nil {
			return false, err
		} else if until.Has(key) && strings.Contains(string(printed), text) {
			return true, nil
		}
	}
	return false, nil
}

// savedName returns the file that a stream is kept in, "" for none.
func savedName(p tasks.Params, key string) (string, error) {
	name, err := p.Text(key)
	if err != nil || name == "" {
		return "", err
	}
	if filepath.Base(name) != name || !filepath.IsLocal(name) || name == "." || strings.ContainsAny(name, "\\\x00") {
		return "", fmt.Errorf("%s %q is not the name of a file", key, name)
	}
	return name, nil
}

// keep writes what a command printed where getters look for it.
func (r *run) keep(p tasks.Params, key string, text []byte) error {
	name, err := savedName(p, key)
	if err != nil || name == "" {
		return err
	}
	folder := r.o.Saved
	if folder == "" {
		if folder, err = asset.Folder(r.o.Cache, r.o.TaskID); err != nil {
			return fmt.Errorf("keep %s: %w", key, err)
		}
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name), text, 0o600)
}

// tail returns the end of what a command printed.
func tail(out env.Output) string {
	text := strings.TrimSpace(string(out.Stdout) + "\n" + string(out.Stderr))
	if len(text) > maxTail {
		text = "…" + text[len(text)-maxTail:]
	}
	return strings.ToValidUTF8(text, "�")
}

// launch starts a program. Where it is known to have windows, the first is waited
// for. Any other command is waited for until it has ended, as one that ends programs
// must not meet those of the next step; until it shows a window; or until it listens
// at a port, as servers do, which do not end.
func (r *run) launch(ctx context.Context, p tasks.Params) error {
	c, err := env.ReadCommand(p)
	if err != nil {
		return err
	}
	before, err := r.e.Windows(ctx)
	if err != nil {
		return err
	}
	windowed := c.Windowed() && !quietRun(c)
	var ports map[string]bool
	if !windowed {
		if ports, err = r.ports(ctx); err != nil {
			return err
		}
	}
	ended, err := r.e.Launch(ctx, c)
	if err != nil {
		if r.o.Defects.Has(notInstalled) && errors.Is(err, sandbox.ErrNotInstalled) {
			r.o.Log.WarnContext(ctx, "program cannot be launched", "err", err)
			return nil
		}
		return err
	}
	// A server gives the numbers of windows that are gone again, while the window manager
	// may still tell of the old ones.
	type window struct {
		id  uint32
		pid int
	}
	known := map[window]bool{}
	for _, w := range before {
		known[window{w.ID, w.PID}] = true
	}
	fresh := func(w screen.Window) bool { return !known[window{w.ID, w.PID}] }
	if windowed {
		return r.firstWindow(ctx, c, ended, fresh)
	}
	return r.end(ctx, ended, ports, fresh)
}

// firstWindow waits for the window of a program that is known to have one. None is no
// reason to end the set-up: the program may have asked an instance of itself that runs
// already, and where it broke, what follows says so.
func (r *run) firstWindow(ctx context.Context, c env.Command, ended <-chan struct{}, fresh func(screen.Window) bool) error {
	limited, stop := context.WithTimeout(ctx, windowLimit)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer stop()
	watch.Go(func() {
		select {
		case <-ended:
		case <-limited.Done():
			return
		}
		select {
		case <-time.After(lateLimit):
			stop()
		case <-limited.Done():
		}
	})
	_, err := r.e.WaitWindow(limited, fresh)
	switch {
	case err == nil:
		return r.settled(ctx)
	case ctx.Err() != nil || limited.Err() == nil:
		return err
	}
	r.e.Note("launched, and showed no new window: " + strings.Join(c.Args, " "))
	r.pending = true
	return nil
}

// end waits until a command has ended, shows a window or listens at a port that is
// not among those of before, up to endLimit.
func (r *run) end(ctx context.Context, ended <-chan struct{}, before map[string]bool, fresh func(screen.Window) bool) error {
	limited, stop := context.WithTimeout(ctx, endLimit)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer stop()
	watch.Go(func() {
		defer stop()
		look := time.NewTicker(portPause)
		defer look.Stop()
		for {
			select {
			case <-ended:
				return
			case <-limited.Done():
				return
			case <-look.C:
			}
			ports, err := r.ports(limited)
			if err != nil {
				return
			}
			for port := range ports {
				if !before[port] {
					return
				}
			}
		}
	})
	_, err := r.e.WaitWindow(limited, fresh)
	switch {
	case err == nil:
		return r.settled(ctx)
	case ctx.Err() != nil || limited.Err() == nil:
		return err
	}
	// What it left behind may still show a window.
	r.pending = true
	return nil
}

// ports returns where programs of the task listen, as proc_pid_net(5) has it.
func (r *run) ports(ctx context.Context) (map[string]bool, error) {
	out, err := r.e.Run(ctx, env.Command{Args: []string{"cat", "/proc/net/tcp", "/proc/net/tcp6"}})
	if err != nil {
		return nil, err
	}
	const listens = "0A"
	ports := map[string]bool{}
	for line := range strings.Lines(string(out.Stdout)) {
		if fields := strings.Fields(line); len(fields) > 3 && fields[3] == listens {
			ports[fields[1]] = true
		}
	}
	return ports, nil
}

// quietRun reports whether a command says that it shows no window, or none on this display.
func quietRun(c env.Command) bool {
	text := strings.Join(c.Args, " ")
	return strings.Contains(text, "xvfb-run") || strings.Contains(text, "--headless") || strings.Contains(text, "--convert-to") || strings.Contains(text, "--version")
}
