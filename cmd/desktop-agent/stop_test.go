//go:build linux

package main

import (
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/seat"
)

// TestOneAgentADisplay: while an agent acts on a display, a second one, a macro, a
// recording and the check of mouse and keyboard are refused, and told who has it. Then
// it is stopped: it ends, and the display stays stopped until that is lifted.
func TestOneAgentADisplay(t *testing.T) {
	t.Parallel()
	d := userDesktop(t)
	e := newEndpoint(t, says(`pyautogui.keyDown("shift")`))
	args := []string{"run", "--display", d.Display(), "--plan=off", "--model", "m", "--base-url", e.URL + "/v1", "Hold on"}
	first := start(t, args...)
	for range 2 {
		e.wait(t, first)
	}
	for _, other := range [][]string{args, {"record", "--display", d.Display(), "Something"}} {
		p := start(t, other...)
		assert.Equal(t, exitUsage, p.code(), other[0])
		assert.Regexp(t, `display :\d+ is taken: agent, process `+strconv.Itoa(first.Process.Pid)+` on `, p.stderr.String())
		assert.Contains(t, p.stderr.String(), "hint: wait until it has ended")
	}
	p := start(t, "doctor", "--display", d.Display())
	assert.Equal(t, exitError, p.code())
	assert.Regexp(t, `(?m)^FAIL  input .*is taken: agent, process `, p.stdout.String())

	p = start(t, "stop", d.Display())
	assert.Equal(t, exitDone, p.code(), p.stderr.String())
	assert.Contains(t, p.stderr.String(), "stopped: agent, process "+strconv.Itoa(first.Process.Pid))
	assert.Equal(t, exitInterrupted, first.code())
	assert.Contains(t, first.stderr.String(), "was stopped by desktop-agent stop at ")

	p = start(t, args...)
	assert.Equal(t, exitUsage, p.code())
	assert.Contains(t, p.stderr.String(), "was stopped by desktop-agent stop")
	assert.Contains(t, p.stderr.String(), "desktop-agent stop --lift "+d.Display())
	p = start(t, "stop", "--show", d.Display())
	assert.Equal(t, exitDone, p.code())
	assert.Equal(t, "owner    nobody\nstopped  by desktop-agent stop\n", p.stdout.String())
	p = start(t, "stop", "--lift", d.Display())
	assert.Equal(t, exitUsage, p.code(), "no terminal: nobody knows that it is a person")
	assert.Contains(t, p.stderr.String(), "only a person lifts a stop")

	_, err := seat.Lift(d.Display())
	require.NoError(t, err)
	e2 := newEndpoint(t, says(`pyautogui.keyDown("shift")`))
	again := start(t, "run", "--display", d.Display(), "--plan=off", "--model", "m", "--base-url", e2.URL+"/v1", "Hold on")
	for range 2 {
		e2.wait(t, again)
	}
	require.NoError(t, again.Process.Signal(syscall.SIGUSR1))
	assert.Equal(t, exitInterrupted, again.code())
	assert.Contains(t, again.stderr.String(), "was stopped by a signal at ")
	state, err := seat.StateOf(d.Display())
	require.NoError(t, err)
	assert.Nil(t, state.Owner)
	assert.NotNil(t, state.Stopped)
}
