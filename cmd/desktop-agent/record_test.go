//go:build linux

package main

import (
	"image"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/eventwin"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/screen"
)

// TestRecord records a person at a window of another program: with text that is
// trusted and text that is not, ended by the hotkey and by Ctrl-C.
func TestRecord(t *testing.T) {
	d := userDesktop(t)
	win, err := eventwin.Open(t.Context(), d.Display(), image.Rect(100, 100, 500, 400))
	require.NoError(t, err)
	defer win.Close()
	// A person has no seat, which is the recorder's.
	watched, err := screen.Open(t.Context(), &screen.Options{Display: d.Display(), Settle: screen.SettleOptions{Off: true}})
	require.NoError(t, err)
	defer watched.Close()
	person := runtest.On(t, d.Display(), watched, nil)
	do := func(a actuator.Action) {
		require.NoError(t, person.Hand.Perform(t.Context(), run.Intent{Action: a, Frame: wholeDesktop{}, Source: run.FromProgram}))
	}
	const typed = "not for others"
	for _, tt := range []struct {
		name, says string
		args       []string
		interrupt  bool
		code       int
		outcome    string
		kept       bool
	}{
		{"by the hotkey", "type a text that is not recorded: text1", nil, false, exitDone, "done", false},
		{"by Ctrl-C", "type 14 characters", []string{"--text-unseen"}, true, exitInterrupted, "stopped", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := start(t, append([]string{"record", "Click and write", "--display", d.Display(), "--stop", "ctrl+f12"}, tt.args...)...)
			require.Eventually(t, func() bool { return strings.Contains(p.stderr.String(), "recording display") }, time.Minute, 20*time.Millisecond)
			for _, a := range []actuator.Action{
				actuator.Click{At: &actuator.Point{X: 200, Y: 200}, Button: actuator.Left, Count: 1},
				actuator.Type{Text: typed},
				actuator.Press{Keys: []actuator.Key{"ctrl", "q"}, Count: 1},
			} {
				do(a)
				time.Sleep(2 * time.Second) // a person's pause, in which the recorder looks, on a busy machine too
			}
			if tt.interrupt {
				require.NoError(t, p.Process.Signal(syscall.SIGINT))
			} else {
				do(actuator.Press{Keys: []actuator.Key{"ctrl", "f12"}, Count: 1})
			}
			require.Equal(t, tt.code, p.code(), "%s", p.stderr)
			events := checkEnded(t, p.run(), tt.outcome)
			assert.Equal(t, tt.kept, strings.Contains(events, typed))
			for _, text := range []string{"to stop, press Ctrl+F12", "click left at (200, 200)", tt.says, "press Ctrl+Q", "replay --macro " + p.run()} {
				assert.Contains(t, p.stderr.String(), text)
			}
			assert.NotContains(t, p.stderr.String(), typed)
			assert.Equal(t, 3, strings.Count(events, `"kind":"acted"`))
		})
	}
}

// wholeDesktop maps points of the desktop to themselves.
type wholeDesktop struct{}

func (wholeDesktop) Bounds() image.Rectangle            { return image.Rect(0, 0, 800, 600) }
func (wholeDesktop) ToDevice(p image.Point) image.Point { return p }
