package seat_test

import (
	"context"
	"errors"
	"image"
	"os"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"desktop-agent/internal/x11"
	"desktop-agent/internal/x11/x11test"
	"desktop-agent/sandbox"
	"desktop-agent/seat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func desktop(t *testing.T) string {
	t.Helper()
	d, err := sandbox.Start(t.Context(), &sandbox.Options{Size: image.Pt(800, 600)})
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	return d.Display()
}

func take(t *testing.T, display string, o *seat.Options) *seat.Seat {
	t.Helper()
	s, err := seat.Take(t.Context(), display, o)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// Keycodes of the usual keyboard map.
const (
	codeCtrl, codeAlt, codeEscape, codeA = 37, 64, 9, 38
)

var hotkey = &seat.Hotkey{Name: "ctrl+alt+esc", Key: 0xff1b, With: [][]uint32{{0xffe3, 0xffe4}, {0xffe9, 0xffea}}}

// TestOneOwner: a second one is refused and told who has it, until the first is gone,
// also without a word.
func TestOneOwner(t *testing.T) {
	display := desktop(t)
	first := take(t, display, &seat.Options{Who: seat.Owner{What: "agent"}})
	_, err := seat.Take(t.Context(), display, nil)
	taken, ok := errors.AsType[*seat.TakenError](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, os.Getpid(), taken.Owner.PID)
	assert.Equal(t, "agent", taken.Owner.What)
	assert.WithinDuration(t, time.Now(), taken.Owner.Since, time.Minute)
	state, err := seat.StateOf(display)
	require.NoError(t, err)
	assert.Equal(t, taken.Owner.PID, state.Owner.PID)
	require.NoError(t, first.Close())
	take(t, display, nil)
}

// TestOwnerIsNobody: what another program writes where an owner should stand is no more
// than that.
func TestOwnerIsNobody(t *testing.T) {
	display := desktop(t)
	c, err := x11.Dial(display)
	require.NoError(t, err)
	defer c.Close()
	w, err := c.HiddenWindow()
	require.NoError(t, err)
	atom, err := c.Atom("_DESKTOP_AGENT")
	require.NoError(t, err)
	require.NoError(t, xproto.SetSelectionOwnerChecked(c.Conn, w, atom, 0).Check())
	_, err = seat.Take(t.Context(), display, nil)
	require.ErrorContains(t, err, "a program that does not say who it is")
}

// TestStolen: who loses the display to another program acts no more.
func TestStolen(t *testing.T) {
	display := desktop(t)
	s := take(t, display, nil)
	c, err := x11.Dial(display)
	require.NoError(t, err)
	defer c.Close()
	w, err := c.HiddenWindow()
	require.NoError(t, err)
	atom, err := c.Atom("_DESKTOP_AGENT")
	require.NoError(t, err)
	require.NoError(t, xproto.SetSelectionOwnerChecked(c.Conn, w, atom, 0).Check())
	<-s.Stopped()
	require.ErrorContains(t, s.Err(), "took the display")
}

// TestHungUp: who cannot be stopped any more acts no more.
func TestHungUp(t *testing.T) {
	display := desktop(t)
	s := take(t, display, nil)
	c, err := x11.Dial(display)
	require.NoError(t, err)
	defer c.Close()
	atom, err := c.Atom("_DESKTOP_AGENT")
	require.NoError(t, err)
	owner, err := xproto.GetSelectionOwner(c.Conn, atom).Reply()
	require.NoError(t, err)
	require.NoError(t, xproto.KillClientChecked(c.Conn, uint32(owner.Owner)).Check())
	<-s.Stopped()
	_, _, err = s.Use(t.Context())
	require.ErrorContains(t, err, "hung up")
}

// TestStopLatches: each way to stop breaks off what is being done, is told with its
// reason, and keeps everybody from the display until it is lifted.
func TestStopLatches(t *testing.T) {
	for name, tt := range map[string]struct {
		stop func(t *testing.T, display string, s *seat.Seat)
		want string
	}{
		"another process": {func(t *testing.T, display string, _ *seat.Seat) {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			had, still, err := seat.Stop(ctx, display, "desktop-agent stop")
			require.NoError(t, err)
			require.NotNil(t, had)
			require.NotNil(t, still, "this test does not end at the stop")
		}, "desktop-agent stop"},
		"the process itself": {func(_ *testing.T, _ string, s *seat.Seat) { s.Stop("a signal"); s.Stop("another") }, "a signal"},
		"hotkey of a person": {func(t *testing.T, display string, _ *seat.Seat) {
			x11test.On(t, display).Press(codeCtrl, codeAlt, codeEscape)
		}, "the keys ctrl+alt+esc"},
		"corner": {func(t *testing.T, display string, _ *seat.Seat) {
			h := x11test.On(t, display)
			h.Move(400, 300)
			h.Move(799, 0)
		}, "thrown into a corner"},
	} {
		t.Run(name, func(t *testing.T) {
			display := desktop(t)
			s := take(t, display, &seat.Options{Hotkey: hotkey, Corner: true})
			called := make(chan struct{})
			s.OnStop(func() { close(called) })
			ctx, done, err := s.Use(t.Context())
			require.NoError(t, err)
			defer done()
			tt.stop(t, display, s)
			<-called
			<-ctx.Done()
			stopped, ok := errors.AsType[*seat.StoppedError](context.Cause(ctx))
			require.True(t, ok)
			require.Contains(t, stopped.Error(), tt.want)
			_, _, err = s.Use(t.Context())
			require.ErrorAs(t, err, &stopped)
			require.NoError(t, s.Close())

			_, err = seat.Take(t.Context(), display, nil)
			require.ErrorAs(t, err, &stopped)
			require.Contains(t, stopped.How, tt.want)
			was, err := seat.Lift(display)
			require.NoError(t, err)
			require.Contains(t, was.How, tt.want)
			take(t, display, nil)
		})
	}
}

// TestNoStopWithoutCause: other keys, and a pointer elsewhere, stop nothing.
func TestNoStopWithoutCause(t *testing.T) {
	display := desktop(t)
	s := take(t, display, &seat.Options{Hotkey: hotkey, Corner: true})
	h := x11test.On(t, display)
	h.Press(codeEscape)
	h.Press(codeCtrl, codeEscape)
	h.Press(codeAlt, codeEscape)
	h.Press(codeCtrl, codeAlt, codeA)
	for _, p := range []image.Point{{0, 300}, {799, 300}, {400, 0}, {400, 599}, {1, 1}} {
		h.Move(p.X, p.Y)
	}
	select {
	case <-s.Stopped():
		t.Fatal(s.Err())
	case <-time.After(200 * time.Millisecond):
	}
	_, done, err := s.Use(t.Context())
	require.NoError(t, err)
	done()
}

// TestTakeover: what a person does pauses the agent. An action that they broke into, and
// one that was decided before, are refused and not done later; the next one goes.
func TestTakeover(t *testing.T) {
	display := desktop(t)
	const rest = time.Second
	s := take(t, display, &seat.Options{Takeover: rest})
	// told is what the agent is told once the events of a person have arrived.
	told := func() (err error) {
		for end := time.Now().Add(time.Minute); err == nil && time.Now().Before(end); time.Sleep(time.Millisecond) {
			var done func()
			if _, done, err = s.Use(t.Context()); err == nil {
				done()
			}
		}
		return err
	}
	h := x11test.On(t, display)

	ctx, done, err := s.Use(t.Context())
	require.NoError(t, err)
	h.Click()
	<-ctx.Done()
	person, ok := errors.AsType[*seat.PersonError](context.Cause(ctx))
	require.True(t, ok)
	assert.True(t, person.Amid)
	assert.Equal(t, seat.Tally{Clicks: 1}, person.Did)
	done()

	began := time.Now()
	for range 3 {
		h.Press(codeA)
	}
	err = told()
	require.ErrorAs(t, err, &person)
	assert.False(t, person.Amid)
	assert.Equal(t, seat.Tally{Keys: 3}, person.Did)
	assert.ErrorContains(t, err, "3 keys pressed")
	assert.GreaterOrEqual(t, time.Since(began), rest, "they rest first")
	_, done, err = s.Use(t.Context())
	require.NoError(t, err, "it was told once")
	done()

	// A table that was bumped moves the mouse a little; a hand goes on.
	h.Move(300, 300)
	time.Sleep(50 * time.Millisecond)
	_, done, err = s.Use(t.Context())
	require.NoError(t, err)
	done()
	for i := range 5 {
		h.Move(310+i, 300)
	}
	require.ErrorContains(t, told(), "the pointer was moved")
}

// TestGo: who says go need not rest first, however long one has to.
func TestGo(t *testing.T) {
	display := desktop(t)
	s := take(t, display, &seat.Options{Takeover: time.Hour})
	_, done, err := s.Use(t.Context())
	require.NoError(t, err)
	done()
	x11test.On(t, display).Press(codeA)
	require.Eventually(t, func() bool { // the event has arrived, and an hour has not passed
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, done, err := s.Use(ctx)
		if err == nil {
			done()
		}
		return errors.Is(err, context.DeadlineExceeded)
	}, time.Minute, time.Millisecond)

	s.Go()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, _, err = s.Use(ctx)
	person, ok := errors.AsType[*seat.PersonError](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, seat.Tally{Keys: 1}, person.Did)
}

// TestShared: without a takeover a person and the agent share the display.
func TestShared(t *testing.T) {
	display := desktop(t)
	s := take(t, display, nil)
	x11test.On(t, display).Click()
	time.Sleep(50 * time.Millisecond)
	ctx, done, err := s.Use(t.Context())
	require.NoError(t, err)
	defer done()
	require.NoError(t, ctx.Err())
}
