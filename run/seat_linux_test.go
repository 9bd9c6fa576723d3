package run_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/eventwin"
	"desktop-agent/internal/x11"
	"desktop-agent/internal/x11/x11test"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/sandbox"
	"desktop-agent/seat"
)

// display is a desktop that stands for a person's.
func display(t *testing.T) (string, run.Settings) {
	t.Helper()
	d, err := sandbox.Start(t.Context(), &sandbox.Options{Size: image.Pt(800, 600)})
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	s := run.Defaults()
	s.Display.Name, s.Display.OCR = d.Display(), ""
	s.Display.Takeover = 300 * time.Millisecond
	return d.Display(), s
}

// A plain frame shows a desktop pixel by pixel.
type plain image.Point

func (f plain) Bounds() image.Rectangle            { return image.Rectangle{Max: image.Point(f)} }
func (f plain) ToDevice(p image.Point) image.Point { return p }

// held returns the keys and buttons that are down on a display.
func held(t *testing.T, c *x11.Conn) (keys []byte, buttons uint16) {
	t.Helper()
	k, err := xproto.QueryKeymap(c.Conn).Reply()
	require.NoError(t, err)
	p, err := xproto.QueryPointer(c.Conn, c.Root).Reply()
	require.NoError(t, err)
	return k.Keys, p.Mask
}

// stops is how many trials there are.
func stops() int {
	if n, err := strconv.Atoi(os.Getenv("DESKTOP_AGENT_TEST_STOPS")); err == nil {
		return n
	}
	return 20
}

// TestStopInMidAction stops a session from outside, by each of the ways, while it types a
// long text, drags with Ctrl held, or only holds a key: there is no more input within
// 100 ms, in the middle of all, and nothing stays down.
func TestStopInMidAction(t *testing.T) {
	name, settings := display(t)
	w, err := eventwin.Open(t.Context(), name, image.Rect(50, 50, 750, 550))
	require.NoError(t, err)
	defer w.Close()
	c, err := x11.Dial(name)
	require.NoError(t, err)
	defer c.Close()
	hands := x11test.On(t, name)
	path := slices.Repeat([]actuator.Point{{X: 150, Y: 150}, {X: 600, Y: 500}, {X: 200, Y: 500}}, 20)
	actions := []actuator.Action{
		actuator.Type{Text: actuator.Secret(strings.Repeat("the quick brown fox ", 490))},
		actuator.Drag{Path: path, Button: actuator.Left, Modifiers: []actuator.Key{"ctrl"}},
		actuator.KeyDown{Key: "shift"},
	}
	ways := []func(*run.Session){
		func(*run.Session) { hands.Press(37, 64, 9) }, // Ctrl, Alt, Escape
		func(*run.Session) { hands.Move(0, 0) },
		func(*run.Session) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // nobody ends here: it is not waited for
			_, _, err := seat.Stop(ctx, name, "desktop-agent stop")
			assert.NoError(t, err)
		},
		func(s *run.Session) { s.Stop("a signal") },
	}
	settings.Display.Takeover = 0 // the hands must not be what ends it
	var took []time.Duration
	for i := range stops() {
		hands.Move(400, 300)
		s, err := run.Open(t.Context(), settings, nil)
		require.NoError(t, err)
		ctx, cancel := s.While(t.Context())
		w.Clear()
		action := actions[i%len(actions)]
		ended := make(chan error, 1)
		go func() {
			err := s.Hand.Perform(ctx, run.Intent{Action: action, Frame: plain{800, 600}, Source: run.FromProgram})
			<-ctx.Done()
			ended <- err
			_ = s.Hand.Perform(ctx, run.Intent{Action: actuator.Type{Text: "not this"}, Source: run.FromProgram}) // refused
		}()
		soon, enough := context.WithTimeout(t.Context(), time.Minute)
		defer enough()
		_, err = w.WaitFor(soon, func(e []eventwin.Event) bool { return len(e) > (i*7)%40 || len(e) > 0 && i%3 == 2 })
		require.NoError(t, err)
		began := time.Now()
		ways[i%len(ways)](s)
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
			require.FailNow(t, "no stop", "%d", i)
		}
		s.Stop("a stop during a stop")
		last, n := began, len(w.Events())
		var pace x11test.Pace
		for time.Since(last) < 300*time.Millisecond {
			if now := len(w.Events()); now != n {
				last, n = time.Now(), now
			}
			pace.Beat(t, c)
		}
		took = append(took, last.Sub(began)-pace.Steps(5))
		assert.Less(t, last.Sub(began), 2*time.Second+pace.Steps(10), "%T goes on", action) // each would last longer
		<-ended
		<-ctx.Done()
		stopped, ok := errors.AsType[*seat.StoppedError](context.Cause(ctx))
		require.True(t, ok, "%v", context.Cause(ctx))
		assert.NotEqual(t, "a stop during a stop", stopped.How)
		assert.Eventually(t, func() bool {
			keys, buttons := held(t, c)
			return bytes.Equal(make([]byte, 32), keys) && buttons == 0
		}, time.Minute, 10*time.Millisecond, "what was down goes up with the stop, after %T", action)
		assert.NotContains(t, eventwin.Text(w.Events()), "not this")
		cancel()
		require.NoError(t, s.Close())
		_, err = run.Open(t.Context(), settings, nil)
		require.ErrorAs(t, err, &stopped, "until a person lifts it")
		_, err = seat.Lift(name)
		require.NoError(t, err)
	}
	slices.Sort(took)
	t.Logf("%d stops: to the last input, but for the machine's own pace, median %v, max %v", len(took), took[len(took)/2], took[len(took)-1])
	assert.Less(t, took[len(took)/2], 100*time.Millisecond, "of some the machine itself is late")
}

// TestTakeoverInDrag: a person who clicks in the middle of a drag breaks it off, and what
// was decided before is not done behind their back.
func TestTakeoverInDrag(t *testing.T) {
	name, settings := display(t)
	w, err := eventwin.Open(t.Context(), name, image.Rect(50, 50, 750, 550))
	require.NoError(t, err)
	defer w.Close()
	c, err := x11.Dial(name)
	require.NoError(t, err)
	defer c.Close()
	hands := x11test.On(t, name)
	s := runtest.Open(t, settings, nil)
	path := slices.Repeat([]actuator.Point{{X: 150, Y: 150}, {X: 600, Y: 500}}, 40)
	go func() {
		_, _ = w.WaitFor(t.Context(), func(e []eventwin.Event) bool { return len(e) > 10 }) // the test would end
		hands.Press(38)
	}()
	in := func(a actuator.Action) run.Intent {
		return run.Intent{Action: a, Frame: plain{800, 600}, Source: run.FromProgram}
	}
	act, err := s.Hand.Do(t.Context(), in(actuator.Drag{Path: path, Button: actuator.Left}))
	require.NoError(t, err)
	assert.Equal(t, actuator.Unknown, act.Status)
	assert.Contains(t, act.Detail, "a person took over in the middle of it (1 keys pressed)")
	keys, buttons := held(t, c)
	assert.Equal(t, make([]byte, 32), keys)
	assert.Zero(t, buttons)

	hands.Click()
	const text = "decided before"
	for { // the event may be on its way
		w.Clear()
		act, err = s.Hand.Do(t.Context(), in(actuator.Type{Text: text}))
		require.NoError(t, err)
		if act.Status != actuator.Delivered {
			break
		}
		_, err = w.WaitFor(t.Context(), func(e []eventwin.Event) bool { return eventwin.Text(e) == text })
		require.NoError(t, err)
	}
	assert.Contains(t, act.Detail, "1 clicks")
	if act.Status != actuator.Unknown { // it came in the middle
		assert.Equal(t, actuator.Refused, act.Status)
		assert.Empty(t, eventwin.Text(w.Events()))
	}
	require.NoError(t, s.Hand.Perform(t.Context(), in(actuator.Press{Keys: []actuator.Key{"a"}, Count: 1})))
}

// TestOneSessionADisplay: the second session that would act is refused and told who acts.
// Who only looks is not.
func TestOneSessionADisplay(t *testing.T) {
	_, settings := display(t)
	first := runtest.Open(t, settings, &run.Options{Agent: "macro"})
	_, err := run.Open(t.Context(), settings, nil)
	taken, ok := errors.AsType[*seat.TakenError](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "macro", taken.Owner.What)
	looks := runtest.Open(t, settings, &run.Options{NoInput: true})
	require.ErrorAs(t, looks.Sit(t.Context(), false), &taken)
	require.NoError(t, first.Close())
	require.NoError(t, looks.Sit(t.Context(), false))
}
