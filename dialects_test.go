//go:build linux

package desktopagent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/dialect"
	"desktop-agent/actuator/eventwin"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/screen"
)

// TestDialectsOnDesktop holds that the demo's actions, as a model of each family writes
// them from a picture of two sizes, end in the same input events on a real desktop, byte
// for byte, as the actions themselves.
func TestDialectsOnDesktop(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	desktop, window := eventDesktop(ctx, t)
	actions := demoActions(t)
	play := func(format string, side int, write func(actuator.Action, screen.Mapping) actuator.Action) []byte {
		s := runtest.Open(t, run.Settings{
			Display: run.DisplaySettings{Name: desktop.Display(), MaxImage: side}, Agent: run.AgentSettings{Format: format},
		}, &run.Options{Exempt: run.ExemptDoctor})
		now, err := s.Screen.Observe(ctx)
		require.NoError(t, err)
		if d := dialect.Named(format); d != nil {
			require.Equal(t, d.Image.Fit(eventSize, side), now.Image.Mapping.Size, format)
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
		for _, side := range demoSides {
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

// demoActions are those of the recorded demo that give input, on pixels of a desktop of
// [eventSize]. A click is at the pixel nearest to the recorded one, scaled, that all dialects can
// name from pictures of both [demoSides], in whole numbers as models do: on a grid, or in a
// smaller picture, not every pixel has a name. They are the same for all tests.
func demoActions(t *testing.T) []actuator.Action {
	t.Helper()
	list, err := readDemo()
	require.NoError(t, err)
	require.Greater(t, len(list), 8)
	return slices.Clone(list)
}

// eventSize is the size of the screens that the demo's actions are done on. It is not the demo's
// own, for there the pictures of some dialects have too few pixels in common.
var eventSize = image.Pt(1280, 800)

// demoSides are the most pixels of a picture's side: as many as there are, or half.
var demoSides = []int{0, 640}

var readDemo = sync.OnceValues(func() (list []actuator.Action, err error) {
	demo, err := replay.Open("cmd/desktop-agent/demo/run")
	if err != nil {
		return nil, err
	}
	var size image.Point // of the image that the actions are on
	for e, err := range demo.Events() {
		if err != nil {
			return nil, err
		}
		if seen, ok := e.Data.(run.Observed); ok {
			size = seen.Mapping.Size
		}
		acting, ok := e.Data.(run.Acting)
		if !ok || actuator.KindOf(acting.Action.Action) != actuator.Input {
			continue
		}
		list = append(list, actuator.Moved(actuator.Pixels(acting.Action.Action), func(p actuator.Point) actuator.Point {
			p.X, p.Y = p.X*eventSize.X/size.X, p.Y*eventSize.Y/size.Y
			q, ok := nameable(p, eventSize, demoSides)
			if !ok {
				err = fmt.Errorf("no point near %v has a name in all dialects", p)
			}
			return q
		}))
		if err != nil {
			return nil, err
		}
	}
	return list, nil
})

var fraction = regexp.MustCompile(`[0-9]\.[0-9]`)

func nameable(at actuator.Point, size image.Point, sides []int) (actuator.Point, bool) {
	for far := range 40 {
		for dy := -far; dy <= far; dy++ {
			for dx := -far; dx <= far; dx++ {
				p := actuator.Point{X: at.X + dx, Y: at.Y + dy}
				if max(dx, -dx, dy, -dy) == far && named(p, size, sides) {
					return p, true
				}
			}
		}
	}
	return at, false
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
