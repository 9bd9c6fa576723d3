//go:build linux

package main

import (
	"image"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator/eventwin"
	"desktop-agent/sandbox"
)

// userDesktop stands for the display of a person, which the program finds and
// must leave as it was.
func userDesktop(t *testing.T) *sandbox.Desktop {
	d, err := sandbox.Start(t.Context(), &sandbox.Options{Size: image.Pt(800, 600)})
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

// TestInterruptLetsGo stops a run on a display that stays, while it holds a key
// and a button down.
func TestInterruptLetsGo(t *testing.T) {
	t.Parallel()
	d := userDesktop(t)
	win, err := eventwin.Open(t.Context(), d.Display(), image.Rect(100, 100, 500, 400))
	require.NoError(t, err)
	defer win.Close()
	// Within one batch: what it holds down goes up when it ends.
	e := newEndpoint(t, says("pyautogui.keyDown(\"shift\")\npyautogui.mouseDown(200, 200)\ntime.sleep(50)"))
	p := start(t, "run", "--display", d.Display(), "--plan=off", "--model", "m", "--base-url", e.URL+"/v1", "Hold on")
	e.wait(t, p)
	_, err = win.WaitFor(t.Context(), func(list []eventwin.Event) bool {
		return slices.ContainsFunc(list, func(event eventwin.Event) bool { return event.Kind == eventwin.ButtonPress })
	})
	require.NoError(t, err)
	count := func(kind eventwin.Kind) (n int) {
		for _, event := range win.Events() {
			if event.Kind == kind {
				n++
			}
		}
		return n
	}
	require.Equal(t, []int{1, 0, 1, 0}, []int{count(eventwin.KeyPress), count(eventwin.KeyRelease),
		count(eventwin.ButtonPress), count(eventwin.ButtonRelease)}, "both are down")
	require.NoError(t, p.Process.Signal(syscall.SIGINT))
	assert.Equal(t, exitInterrupted, p.code())
	_, err = win.WaitFor(t.Context(), func(list []eventwin.Event) bool {
		up := 0
		for _, event := range list {
			if event.Kind == eventwin.KeyRelease || event.Kind == eventwin.ButtonRelease {
				up++
			}
		}
		return up == 2
	})
	require.NoError(t, err, "both are up")
	assert.NoError(t, d.Err(), "the display is still there")
}

// TestSecondInterrupt: when the orderly way hangs, Ctrl-C once more ends it.
func TestSecondInterrupt(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	p := start(t, e.task()...)
	e.wait(t, p)
	server := p.named("Xvfb")
	require.NoError(t, syscall.Kill(server, syscall.SIGSTOP)) // now nothing can be let go
	began := time.Now()
	require.NoError(t, p.Process.Signal(syscall.SIGINT))
	// Two at once would be one: the second comes a while after the first, and once
	// more if the first was not taken by then.
	again := time.NewTicker(300 * time.Millisecond)
	defer again.Stop()
	go func() {
		for {
			select {
			case <-p.exited:
				return
			case <-again.C:
				_ = p.Process.Signal(syscall.SIGINT) // it may have ended
			}
		}
	}()
	p.code()
	assert.Equal(t, syscall.SIGINT, p.ProcessState.Sys().(syscall.WaitStatus).Signal(), "%v, %v after the first: %s", p.ProcessState, time.Since(began), p.stderr)
	require.Eventually(t, func() bool { return len(p.leftovers()) == 0 }, patience, 10*time.Millisecond, "the desktop ends by itself")
}

// TestDoctorOnDisplay checks a display that somebody uses.
func TestDoctorOnDisplay(t *testing.T) {
	t.Parallel()
	d := userDesktop(t)
	clip := exec.CommandContext(t.Context(), "xclip", "-selection", "clipboard", "-i")
	clip.Env, clip.Stdin = d.Env(), strings.NewReader("my own text")
	require.NoError(t, clip.Run())
	read := func() string {
		out := exec.CommandContext(t.Context(), "xclip", "-selection", "clipboard", "-o")
		out.Env = d.Env()
		text, err := out.Output()
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	require.Eventually(t, func() bool { return read() == "my own text" }, patience, 10*time.Millisecond)

	p := start(t, "doctor", "--display", d.Display(), "-v")
	p.code()
	assert.Regexp(t, `(?m)^ok    clipboard +11 characters were read, and left there$`, p.stdout.String())
	assert.Regexp(t, `(?m)^ok    click and keys `, p.stdout.String())
	assert.Regexp(t, `(?m)^FAIL  accessibility +no tree: .*there is no session bus`, p.stdout.String())
	assert.NotContains(t, p.stdout.String()+p.stderr.String(), "my own")
	assert.Equal(t, "my own text", read(), "the clipboard is as it was")

	// Without a window manager a desktop cannot be used well.
	manager := exec.CommandContext(t.Context(), "openbox", "--exit")
	manager.Env = d.Env()
	require.NoError(t, manager.Run())
	<-d.Done()
	p = start(t, "doctor", "--display", d.Display())
	assert.Equal(t, exitError, p.code())
	assert.Regexp(t, `(?m)^FAIL  window manager  none is running.*\n.*→ start one, such as openbox`, p.stdout.String())
}
