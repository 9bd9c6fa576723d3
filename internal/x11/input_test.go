//go:build linux

package x11_test

import (
	"sync"
	"testing"
	"time"

	"desktop-agent/internal/x11"
	"desktop-agent/internal/x11/x11test"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
	"github.com/stretchr/testify/require"
)

// TestRawInput: input of a program and that of a person are told apart by their
// devices, also while a program has grabbed the keyboard.
func TestRawInput(t *testing.T) {
	d, program := start(t)
	c, err := x11.DialInput(d.Display())
	require.NoError(t, err)
	defer c.Close()
	var mu sync.Mutex
	var got []x11.RawInput
	stop := c.Listen(func(e xgb.Event) {
		if raw, ok := e.(x11.RawInput); ok {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, raw)
		}
	})
	defer stop()
	// wait returns what has come since, once there is so much.
	wait := func(n int) (list []x11.RawInput) {
		require.Eventually(t, func() bool {
			mu.Lock()
			defer mu.Unlock()
			list = got
			return len(got) >= n
		}, time.Minute, time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		got = nil
		return list
	}
	devices, err := c.Devices()
	require.NoError(t, err)
	names := map[uint16]string{}
	for _, d := range devices {
		names[d.ID] = d.Name
	}
	require.Contains(t, names[4], "XTEST pointer")
	require.Contains(t, names[5], "XTEST keyboard")

	require.NoError(t, program.Extension("XTEST"))
	fake := func(event, detail byte, x, y int16) {
		require.NoError(t, xtest.FakeInputChecked(program.Conn, event, detail, 0, program.Root, x, y, 0).Check())
	}
	grab, err := xproto.GrabKeyboard(program.Conn, true, program.Root, 0, xproto.GrabModeAsync, xproto.GrabModeAsync).Reply()
	require.NoError(t, err)
	require.EqualValues(t, xproto.GrabStatusSuccess, grab.Status)
	fake(xproto.KeyPress, 38, 0, 0)
	fake(xproto.KeyRelease, 38, 0, 0)
	fake(xproto.ButtonPress, 1, 0, 0)
	fake(xproto.ButtonRelease, 1, 0, 0)
	fake(xproto.MotionNotify, 0, 50, 60)
	list := wait(5)
	require.Equal(t, x11.RawInput{Kind: x11.RawKeyPress, Master: 3, Source: 5, Detail: 38}, list[0])
	require.Equal(t, x11.RawInput{Kind: x11.RawButtonPress, Master: 2, Source: 4, Detail: 1}, list[2])
	require.Equal(t, x11.RawMotion, list[4].Kind)

	h := x11test.On(t, d.Display())
	h.Move(700, 500)
	h.Press(38)
	list = wait(3)
	require.NotContains(t, []uint16{2, 3}, list[0].Master)
	require.NotContains(t, []uint16{4, 5}, list[0].Source)
	at, err := c.PointerOf(list[0].Master)
	require.NoError(t, err)
	require.Equal(t, 700, at.X)
	require.Equal(t, 500, at.Y)
	require.Equal(t, x11.RawKeyPress, list[1].Kind)
	require.NotContains(t, []uint16{4, 5}, list[1].Source)
	// The connection is as good as any other.
	require.NoError(t, c.RoundTrip())
	_, err = c.Clients()
	require.NoError(t, err)
}
