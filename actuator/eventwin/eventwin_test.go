//go:build linux

package eventwin_test

import (
	"context"
	"image"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator/eventwin"
	"desktop-agent/internal/x11"
	"desktop-agent/sandbox"
)

func open(t *testing.T, box image.Rectangle) (*eventwin.Window, *x11.Conn, context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	d, err := sandbox.Start(ctx, &sandbox.Options{Size: image.Pt(800, 600)})
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	w, err := eventwin.Open(ctx, d.Display(), box)
	require.NoError(t, err)
	t.Cleanup(func() { w.Close() })
	conn, err := x11.Dial(d.Display())
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	require.NoError(t, conn.Extension("XTEST"))
	return w, conn, ctx
}

func fake(conn *x11.Conn, event, detail byte, x, y int16) {
	xtest.FakeInput(conn.Conn, event, detail, 0, conn.Root, x, y, 0)
}

func TestWindow(t *testing.T) {
	box := image.Rect(100, 100, 300, 250)
	w, conn, ctx := open(t, box)
	assert.Equal(t, box, w.Box())
	assert.Equal(t, eventwin.Title, conn.Title(xproto.Window(w.ID())))
	active, err := conn.Active()
	require.NoError(t, err)
	assert.EqualValues(t, w.ID(), active)
	require.NoError(t, conn.Ping(ctx, xproto.Window(w.ID())))

	w.Clear()
	const a, shift = 38, 50
	fake(conn, xproto.MotionNotify, 0, 150, 130)
	fake(conn, xproto.KeyPress, shift, 0, 0)
	fake(conn, xproto.KeyPress, a, 0, 0)
	fake(conn, xproto.KeyRelease, a, 0, 0)
	fake(conn, xproto.KeyRelease, shift, 0, 0)
	require.NoError(t, conn.RoundTrip())
	events, err := w.Wait(ctx, 5)
	require.NoError(t, err)
	at, in := image.Pt(150, 130), image.Pt(50, 30)
	for i, want := range []eventwin.Event{
		{Kind: eventwin.Motion},
		{Kind: eventwin.KeyPress, Keycode: shift, Keysym: 0xffe1},
		{Kind: eventwin.KeyPress, Keycode: a, Keysym: 'A', Rune: 'A', State: xproto.ModMaskShift},
		{Kind: eventwin.KeyRelease, Keycode: a, Keysym: 'A', Rune: 'A', State: xproto.ModMaskShift},
		{Kind: eventwin.KeyRelease, Keycode: shift, Keysym: 0xffe1, State: xproto.ModMaskShift},
	} {
		want.At, want.In, want.Time = at, in, events[i].Time
		assert.Equal(t, want, events[i])
		assert.NotZero(t, events[i].Time)
	}
	assert.Equal(t, "A", eventwin.Text(events))
}

// TestCloseRequest presses the window manager's shortcut to close a window.
func TestCloseRequest(t *testing.T) {
	w, conn, ctx := open(t, image.Rect(100, 100, 300, 250))
	const alt, f4 = 64, 70
	fake(conn, xproto.KeyPress, alt, 0, 0)
	fake(conn, xproto.KeyPress, f4, 0, 0)
	fake(conn, xproto.KeyRelease, f4, 0, 0)
	fake(conn, xproto.KeyRelease, alt, 0, 0)
	_, err := w.WaitFor(ctx, func(events []eventwin.Event) bool {
		return len(events) > 0 && events[len(events)-1].Kind == eventwin.CloseRequest ||
			len(events) > 1 && events[len(events)-2].Kind == eventwin.CloseRequest
	})
	require.NoError(t, err)
	require.NoError(t, conn.Ping(ctx, xproto.Window(w.ID())), "the window stays open")
}

func TestWaitEnds(t *testing.T) {
	w, _, ctx := open(t, image.Rect(100, 100, 300, 250))
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	_, err := w.Wait(ctx, 1000)
	require.ErrorIs(t, err, context.Canceled)
}

func TestNoDisplay(t *testing.T) {
	_, err := eventwin.Open(t.Context(), ":65000", image.Rect(0, 0, 10, 10))
	require.ErrorIs(t, err, x11.ErrNoDisplay)
}
