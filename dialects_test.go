//go:build linux

package desktopagent_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/dialect"
	"desktop-agent/actuator/eventwin"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/sandbox"
	"desktop-agent/screen"
)

// TestDialectsOnDesktop holds that the demo's actions, as a model of each family writes
// them from a picture of two sizes, end in the same input events on a real desktop, byte
// for byte, as the actions themselves.
func TestDialectsOnDesktop(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	size := image.Pt(1280, 800)
	desktop, err := sandbox.Start(ctx, &sandbox.Options{Size: size})
	require.NoError(t, err)
	t.Cleanup(func() { desktop.Close() })
	window, err := eventwin.Open(ctx, desktop.Display(), image.Rectangle{Max: size})
	require.NoError(t, err)
	t.Cleanup(func() { window.Close() })

	sides := []int{0, 640}
	actions := demoActions(t, size, sides)
	play := func(format string, side int, write func(actuator.Action, screen.Mapping) actuator.Action) []byte {
		s := runtest.Open(t, run.Settings{
			Display: run.DisplaySettings{Name: desktop.Display(), MaxImage: side}, Agent: run.AgentSettings{Format: format},
		}, &run.Options{Exempt: run.ExemptDoctor})
		now, err := s.Screen.Observe(ctx)
		require.NoError(t, err)
		if d := dialect.Named(format); d != nil {
			require.Equal(t, d.Image.Fit(size, side), now.Image.Mapping.Size, format)
		}
		window.Clear()
		for _, a := range append(actions, actuator.Press{Keys: []actuator.Key{"f12"}, Count: 1}) { // which says that all has come
			s.Scope.Turn()
			require.NoError(t, s.Hand.Perform(ctx, run.Intent{Action: write(onImage(a, now.Image.Mapping), now.Image.Mapping), On: now, Source: run.FromProgram}))
		}
		events, err := window.WaitFor(ctx, func(list []eventwin.Event) bool {
			return len(list) > 0 && list[len(list)-1].Kind == eventwin.KeyRelease && list[len(list)-1].Keysym == 0xffc9
		})
		require.NoError(t, err)
		require.NoError(t, s.Close())
		return inputOf(t, events)
	}
	want := play(dialect.Code, 0, func(a actuator.Action, _ screen.Mapping) actuator.Action { return a })
	require.Greater(t, bytes.Count(want, []byte("\n")), 80) // clicks, and the keys of four texts
	for _, d := range dialect.All() {
		for _, side := range sides {
			got := play(d.Name, side, func(a actuator.Action, m screen.Mapping) actuator.Action {
				text, ok := d.Write("", []actuator.Action{a}, m.Size)
				require.True(t, ok, "%s: %s", d.Name, actuator.Describe(a))
				p, err := d.Parser().Parse(actuator.Reply{Text: text}, m.Bounds())
				require.NoError(t, err, "%s: %s", d.Name, text)
				require.Len(t, p.Actions, 1)
				return p.Actions[0]
			})
			require.Equal(t, string(want), string(got), "%s, at most %d pixels", d.Name, side)
		}
	}
}

// inputOf is what was clicked and typed, an event a line.
func inputOf(t *testing.T, events []eventwin.Event) []byte {
	var out bytes.Buffer
	for _, e := range events {
		switch e.Kind {
		case eventwin.ButtonPress, eventwin.ButtonRelease, eventwin.KeyPress, eventwin.KeyRelease:
			at := e.At
			if e.Kind == eventwin.KeyPress || e.Kind == eventwin.KeyRelease {
				at = image.Point{}
			}
			line, err := json.Marshal([]any{e.Kind, at, e.Button, e.Keycode, e.State})
			require.NoError(t, err)
			fmt.Fprintf(&out, "%s\n", line)
		}
	}
	return out.Bytes()
}

// onImage is an action on pixels of the device as one on those of an image.
func onImage(a actuator.Action, m screen.Mapping) actuator.Action {
	return actuator.Moved(a, func(p actuator.Point) actuator.Point {
		q := m.ToImage(image.Pt(p.X, p.Y))
		return actuator.Point{X: q.X, Y: q.Y}
	})
}

// demoActions are those of the recorded demo that give input, on pixels of the device. A
// click is at the pixel nearest to the recorded one that all dialects can name, in whole
// numbers as models do: on a grid, or in a smaller picture, not every pixel has a name.
func demoActions(t *testing.T, size image.Point, sides []int) (list []actuator.Action) {
	t.Helper()
	file, err := os.Open("cmd/desktop-agent/demo/run/events.jsonl")
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e struct {
			Kind string
			Data struct{ Action map[string]any }
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &e))
		if e.Kind != "acting" {
			continue
		}
		name := e.Data.Action["action"].(string)
		delete(e.Data.Action, "action")
		fields, err := json.Marshal(e.Data.Action)
		require.NoError(t, err)
		a, err := actuator.Decode(name, fields)
		require.NoError(t, err)
		if actuator.KindOf(a) != actuator.Input {
			continue
		}
		list = append(list, actuator.Moved(actuator.Pixels(a), func(p actuator.Point) actuator.Point {
			return nameable(t, p, size, sides)
		}))
	}
	require.NoError(t, lines.Err())
	require.Greater(t, len(list), 8)
	return list
}

var fraction = regexp.MustCompile(`[0-9]\.[0-9]`)

func nameable(t *testing.T, at actuator.Point, size image.Point, sides []int) actuator.Point {
	t.Helper()
	for far := range 40 {
		for dy := -far; dy <= far; dy++ {
			for dx := -far; dx <= far; dx++ {
				p := actuator.Point{X: at.X + dx, Y: at.Y + dy}
				if max(dx, -dx, dy, -dy) == far && named(p, size, sides) {
					return p
				}
			}
		}
	}
	t.Fatalf("no point near %v has a name in all dialects", at)
	return at
}

// named reports whether every dialect, in each size of the picture, names a pixel.
func named(p actuator.Point, size image.Point, sides []int) bool {
	click := actuator.Click{At: &p, Button: actuator.Left, Count: 1}
	for _, d := range dialect.All() {
		for _, side := range sides {
			m := screen.Mapping{Source: image.Rectangle{Max: size}, Size: d.Image.Fit(size, side)}
			shown := onImage(click, m)
			text, ok := d.Write("", []actuator.Action{shown}, m.Size)
			q := actuator.Points(shown)[0]
			if !ok || fraction.MatchString(text) || m.ToDevice(image.Pt(q.X, q.Y)) != image.Pt(p.X, p.Y) {
				return false
			}
		}
	}
	return true
}
