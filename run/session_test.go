//go:build linux

package run_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"desktop-agent/actuator"
	"desktop-agent/internal/x11/x11test"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/sandbox"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// Traces are what a private desktop leaves in a folder.
type traces struct{ folder string }

// newTraces has private desktops make their folders in one of the test, and
// requires at its end that nothing of them is left.
func newTraces(t *testing.T) *traces {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "run") // short: sockets are in it
	require.NoError(t, err)
	t.Setenv("TMPDIR", folder)
	p := &traces{folder}
	running := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		p.requireEmpty(t)
		goleak.VerifyNone(t, running)
		require.NoError(t, os.RemoveAll(folder))
	})
	return p
}

func (p *traces) requireEmpty(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(p.folder)
	require.NoError(t, err)
	assert.Empty(t, left, "a folder is left")
	assert.Empty(t, p.processes(), "processes are left")
}

// processes returns the commands of the programs that work in the place.
func (p *traces) processes() (found []string) {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		env, err := os.ReadFile(path)
		if err == nil && bytes.Contains(env, []byte("="+p.folder+"/")) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			found = append(found, string(line))
		}
	}
	return found
}

// display returns the one display that runs in the place; "" while there is none.
func (p *traces) display() string {
	files, _ := filepath.Glob(filepath.Join(p.folder, "*", "xserver"))
	if len(files) != 1 {
		return ""
	}
	text, _ := os.ReadFile(files[0])
	for line := range strings.Lines(string(text)) { // a socket, and what tells it from others once a server listens
		if path, id, _ := strings.Cut(strings.TrimSpace(line), " "); id != "" {
			return strings.Replace(filepath.Base(path), "X", ":", 1)
		}
	}
	return ""
}

// server returns the server of the display that runs in the place.
func (p *traces) server(t testing.TB) x11test.Server {
	t.Helper()
	require.NotEmpty(t, p.processes(), "a desktop is running, and is seen by this test")
	return x11test.ServerOf(t, p.display())
}

var private = run.Settings{Display: run.DisplaySettings{Private: true, Size: image.Pt(320, 240)}}

// TestOpensWithItsArguments holds that an argument of the program may have spaces in it, as
// for a shell.
func TestOpensWithItsArguments(t *testing.T) {
	newTraces(t)
	settings := private
	settings.Display.Open = `zenity --info --text x --title "Two  words"`
	s, err := run.Open(t.Context(), settings, nil)
	require.NoError(t, err)
	defer s.Close()
	list, err := s.Screen.Windows(t.Context())
	require.NoError(t, err)
	assert.True(t, slices.ContainsFunc(list, func(w screen.Window) bool { return w.Title == "Two  words" }), "%v", list)
}

// TestOpenFails has each part of a session fail in turn. What was opened before it is
// closed again: no process, no lock, no folder, no goroutine is left.
func TestOpenFails(t *testing.T) {
	ctx := t.Context()

	t.Run("the desktop", func(t *testing.T) {
		newTraces(t)
		bad := private
		bad.Display.Home = "/nowhere/at/all"
		_, err := run.Open(ctx, bad, nil)
		require.ErrorContains(t, err, "/nowhere/at/all")
	})

	t.Run("the program on the desktop", func(t *testing.T) {
		dir := t.TempDir() // elsewhere
		p := newTraces(t)
		program := filepath.Join(dir, "fails")
		// It shows no window, and ends once this test has seen the desktop.
		require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\nwhile [ ! -e "+dir+"/seen ]; do sleep 0.02; done\nexit 3\n"), 0o700))
		bad := private
		bad.Display.Open = program
		opened := make(chan error, 1)
		go func() { _, err := run.Open(ctx, bad, nil); opened <- err }()
		require.Eventually(t, func() bool { return strings.HasPrefix(p.display(), ":") }, time.Minute, 10*time.Millisecond, "the desktop runs")
		server := p.server(t)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "seen"), nil, 0o600))
		require.ErrorContains(t, <-opened, "fails")
		server.RequireGone(t)
		p.requireEmpty(t)
	})

	t.Run("the words of the program", func(t *testing.T) {
		p := newTraces(t)
		bad := private
		bad.Display.Open = `mousepad "two words.txt`
		_, err := run.Open(ctx, bad, nil)
		require.EqualError(t, err, `the program to open, mousepad "two words.txt: the quote " is not closed`)
		p.requireEmpty(t)
	})

	t.Run("the screen", func(t *testing.T) {
		p := newTraces(t)
		bad := private
		bad.Display.Monitor = -1
		_, err := run.Open(ctx, bad, nil)
		require.ErrorContains(t, err, "there is no monitor -1")
		p.requireEmpty(t)
	})

	t.Run("input", func(t *testing.T) {
		newTraces(t)
		d, err := sandbox.Start(ctx, &sandbox.Options{Size: image.Pt(320, 240)})
		require.NoError(t, err)
		defer d.Close()
		running := goleak.IgnoreCurrent()
		t.Setenv("DISPLAY", d.Display())
		asked := false
		_, err = run.Open(ctx, run.Settings{}, &run.Options{ // on the user's display, in a session that is none
			Getenv:  func(string) string { return "" },
			Journal: func() (run.Journal, error) { asked = true; return nil, nil },
		})
		require.ErrorContains(t, err, "open input device")
		assert.False(t, asked, "no journal is begun for a run that cannot be")
		goleak.VerifyNone(t, running)
	})

	t.Run("the journal", func(t *testing.T) {
		p := newTraces(t)
		full := errors.New("no space left on device")
		var server x11test.Server
		_, err := run.Open(ctx, private, &run.Options{Journal: func() (run.Journal, error) {
			server = p.server(t)
			return nil, full
		}})
		require.ErrorIs(t, err, full)
		server.RequireGone(t)
		p.requireEmpty(t)
	})

	t.Run("the guard", func(t *testing.T) {
		p := newTraces(t)
		var server x11test.Server
		j := &closer{}
		_, err := run.Open(ctx, private, &run.Options{
			Journal: func() (run.Journal, error) { return j, nil },
			GuardFor: func(s *run.Session) (run.Guard, error) {
				server = p.server(t)
				assert.NotNil(t, s.Private)
				assert.Same(t, j, s.Journal, "all else is open")
				return nil, errors.New("no such policy")
			},
		})
		require.EqualError(t, err, "no such policy")
		assert.Equal(t, 1, j.closed)
		server.RequireGone(t)
		p.requireEmpty(t)
	})

	t.Run("a screen of somebody else", func(t *testing.T) {
		newTraces(t)
		d, err := sandbox.Start(ctx, &sandbox.Options{Size: image.Pt(320, 240)})
		require.NoError(t, err)
		defer d.Close()
		watched, err := screen.Open(ctx, &screen.Options{Display: d.Display()})
		require.NoError(t, err)
		defer watched.Close()
		for _, o := range []*run.Options{
			{Computer: &run.Computer{Display: ":9999999", Screen: watched}},
			{Computer: &run.Computer{Display: d.Display(), Screen: watched}, Journal: func() (run.Journal, error) { return nil, errors.New("full") }},
		} {
			_, err := run.Open(ctx, run.Settings{}, o)
			require.Error(t, err)
			_, err = watched.Observe(ctx)
			require.NoError(t, err, "it stays open")
		}
	})
}

// TestGuardFor holds that a session has the guard that was made for it when it is handed
// out, that nil is none, and that two are a mistake.
func TestGuardFor(t *testing.T) {
	refuses := guard(func(context.Context, run.Intent) error { return errors.New("nothing is allowed") })
	for name, tt := range map[string]struct {
		guard run.Guard
		name  string
		err   string
	}{"one": {refuses, "test", "nothing is allowed"}, "none": {nil, run.NoGuard, ""}} {
		d := &device{}
		s := runtest.Open(t, run.Settings{}, &run.Options{
			Desktop: &runtest.Desktop{}, Device: d, GuardFor: func(*run.Session) (run.Guard, error) { return tt.guard, nil },
		})
		assert.Equal(t, tt.name, s.Hand.GuardName(), name)
		err := s.Hand.Perform(t.Context(), run.Intent{Action: click, Frame: whole{}})
		if tt.err != "" {
			require.ErrorContains(t, err, tt.err, name)
			assert.Empty(t, d.did, name)
		} else {
			require.NoError(t, err, name)
		}
	}
	_, err := run.Open(t.Context(), run.Settings{}, &run.Options{
		NoDesktop: true, Guard: refuses, GuardFor: func(*run.Session) (run.Guard, error) { return refuses, nil },
	})
	require.ErrorContains(t, err, "two guards")
}

// A keyboard counts how often all is let go, and a closer how often it is closed.
type keyboard struct {
	runtest.Desktop
	released int
}

func (k *keyboard) Release() error { k.released++; return nil }

type closer struct {
	runtest.Journal
	closed int
	err    error
}

func (c *closer) Close() error { c.closed++; return c.err }

// TestFinish holds that a run is finished once: the keys go up, the journal is closed,
// and what went wrong is told to who did it first.
func TestFinish(t *testing.T) {
	k, j := &keyboard{}, &closer{err: errors.New("no space left")}
	s, err := run.Open(t.Context(), run.Settings{}, &run.Options{
		Desktop: k, Device: k, Journal: func() (run.Journal, error) { return j, nil },
	})
	require.NoError(t, err)
	require.ErrorIs(t, s.Finish(), j.err)
	for range 2 {
		require.NoError(t, s.Finish())
		require.NoError(t, s.Close())
	}
	assert.Equal(t, 1, k.released)
	assert.Equal(t, 1, j.closed)
}

// TestSessionOnXvfb holds that a session ends whole, however often it is closed: a key
// that was left down is up, nothing of the desktop is left, and the calls of its client
// are in its journal.
func TestSessionOnXvfb(t *testing.T) {
	p := newTraces(t)
	j := &closer{}
	client := &llm.Client{Model: llmtest.Text("DONE"), Default: llm.Settings{Model: "m"}}
	s, err := run.Open(t.Context(), private, &run.Options{
		Agent: "tester", Client: client, Journal: func() (run.Journal, error) { return j, nil },
	})
	require.NoError(t, err)
	server := p.server(t)
	require.NoError(t, s.Hand.Perform(t.Context(), run.Intent{Action: actuator.KeyDown{Key: "shift"}}))
	_, err = s.Client.Complete(t.Context(), &llm.Request{Role: llm.Actor, Purpose: "propose", Messages: []llm.Message{llm.UserText("hello")}})
	require.NoError(t, err)
	calls := runtest.All[run.ModelCalled](j.Events())
	require.Len(t, calls, 1)
	assert.Equal(t, "propose", calls[0].Purpose)
	assert.Equal(t, "tester", j.Events()[2].Agent)
	assert.Equal(t, s.Display, j.Events()[2].Display)

	require.NoError(t, s.Finish())
	assert.Equal(t, 1, j.closed)
	_, err = s.Desktop.Observe(t.Context())
	require.NoError(t, err, "the desktop stays")
	for range 2 {
		require.NoError(t, s.Close())
	}
	assert.Equal(t, 1, j.closed)
	server.RequireGone(t)
	p.requireEmpty(t)
}

// TestComputer: on a desktop that somebody else has opened a session sees as its settings
// and the form of its model say, and has its programs take text, as on one of its own; also
// where there is no tesseract.
func TestComputer(t *testing.T) {
	newTraces(t)
	d, err := sandbox.Start(t.Context(), &sandbox.Options{Size: image.Pt(1000, 600)})
	require.NoError(t, err)
	defer d.Close()
	_, err = d.Open(t.Context(), "zenity", "--entry", "--title", "Name", "--entry-text", "old")
	require.NoError(t, err)
	t.Setenv("PATH", t.TempDir())
	settings := run.Defaults()
	require.NotEmpty(t, settings.Display.OCR)
	settings.Display.MaxImage, settings.Display.TreeSilence, settings.Display.TreeLimit = 500, 20*time.Second, time.Minute
	s, err := run.Open(t.Context(), settings, &run.Options{Computer: &run.Computer{Display: d.Display(), Bus: d.BusAddress()}})
	require.NoError(t, err)
	defer s.Close()
	require.Nil(t, s.OCR())

	r := &room{Session: s, t: t, ctx: t.Context()}
	field := r.see(1, func(n atspi.Node) bool { return n.Role == "text" && n.Text == "old" })[0]
	assert.Equal(t, image.Pt(500, 300), r.now.Image.Mapping.Size)
	_, why := r.do(r.chosen(setTo(field.ID, "new")))
	require.Empty(t, why)
	r.see(1, func(n atspi.Node) bool { return n.Role == "text" && n.Text == "new" })

	require.NoError(t, s.Close())
	require.NoError(t, d.Err(), "it stays open")
}

// TestWhile holds that what runs on a private desktop ends when the desktop breaks, and
// with that reason.
func TestWhile(t *testing.T) {
	newTraces(t)
	s, err := run.Open(t.Context(), private, nil)
	require.NoError(t, err)
	defer s.Close()
	ctx, cancel := s.While(t.Context())
	defer cancel()
	require.NoError(t, s.Private.Close())
	select {
	case <-ctx.Done():
		require.ErrorIs(t, context.Cause(ctx), run.ErrDesktopGone)
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
}

// TestFramesOfAllDisplays holds that no two frames in the journal of a run have one ID,
// whichever of its displays they show: that of the run, one of a branch, or one of a branch
// of a branch. A branch has the tools of the run.
func TestFramesOfAllDisplays(t *testing.T) {
	journal := &run.Memory{}
	kept := private
	kept.Display.KeepFor, kept.Display.KeepHome = time.Minute, t.TempDir()
	s := runtest.Open(t, kept, &run.Options{Tools: clock{}, Journal: func() (run.Journal, error) { return journal, nil }})
	branch := func(of *run.Session, agent string) *run.Session {
		b, err := of.Branch(t.Context(), agent)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, b.Close()) })
		assert.Equal(t, clock{}.Offer(), b.Hand.Offer())
		return b
	}
	first := branch(s, "first")
	all := []*run.Session{s, s.Part(run.Where{Agent: "part"}), first, branch(s, "second"), branch(first, "first/inner")}
	assert.Zero(t, first.Settings.Display.KeepFor, "nobody comes back for its desktop")
	assert.Empty(t, first.Settings.Display.KeepHome)
	displays := map[string]bool{}
	for range 2 {
		for _, by := range all {
			o, err := by.Desktop.Observe(t.Context())
			require.NoError(t, err)
			require.NoError(t, by.Scope.Observe(t.Context(), o, by.Desktop.ScreenName(o)))
			displays[by.Display] = true
		}
	}
	assert.Len(t, displays, 4)
	seen := map[string]string{}
	for _, e := range journal.Events() {
		if o, ok := e.Data.(run.Observed); ok {
			assert.NotContains(t, seen, o.FrameID, "%s saw it too", e.Agent)
			seen[o.FrameID] = e.Agent
		}
	}
	assert.Len(t, seen, 2*len(all))
	assert.Len(t, journal.Frames(), len(seen))
}

// clock is a toolbox with one tool.
type clock struct{}

func (clock) Offer() []run.Tool { return []run.Tool{{Tool: llm.Tool{Name: "clock"}}} }

func (clock) Do(context.Context, string, []byte) (string, error) { return "noon", nil }
