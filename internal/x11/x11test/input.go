//go:build unix

package x11test

import (
	"image"
	"slices"
	"testing"

	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"

	"desktop-agent/internal/x11"
)

// Move, Click, Press and Chord give input as a program does, and return once the server has it.
// All of one call is written at once: between the press of a key and its release no test
// loses its turn for so long that the key repeats itself.

// Move moves the pointer to a point of the screen.
func Move(t testing.TB, c *x11.Conn, at image.Point) {
	t.Helper()
	together(t, c, func() { move(c, at) })
}

// Click moves the pointer to a point of the screen, and there presses a button and lets it
// go, so many times.
func Click(t testing.TB, c *x11.Conn, button byte, at image.Point, times int) {
	t.Helper()
	together(t, c, func() {
		move(c, at)
		for range times {
			fake(c, xproto.ButtonPress, button)
			fake(c, xproto.ButtonRelease, button)
		}
	})
}

// Press presses the keys of these keycodes, and lets them go the other way round.
func Press(t testing.TB, c *x11.Conn, codes ...byte) {
	t.Helper()
	together(t, c, func() {
		for _, code := range codes {
			fake(c, xproto.KeyPress, code)
		}
		for _, code := range slices.Backward(codes) {
			fake(c, xproto.KeyRelease, code)
		}
	})
}

// Chord is Press with keysyms: of each the first key that has it.
func Chord(t testing.TB, c *x11.Conn, syms ...xproto.Keysym) {
	t.Helper()
	setup := xproto.Setup(c.Conn)
	low := setup.MinKeycode
	m, err := xproto.GetKeyboardMapping(c.Conn, low, byte(setup.MaxKeycode-low+1)).Reply()
	if err != nil {
		t.Fatal(err)
	}
	var codes []byte
	for _, sym := range syms {
		i := slices.Index(m.Keysyms, sym)
		if i < 0 {
			t.Fatalf("no key for %#x", sym)
		}
		codes = append(codes, byte(low)+byte(i/int(m.KeysymsPerKeycode)))
	}
	Press(t, c, codes...)
}

func move(c *x11.Conn, at image.Point) {
	xtest.FakeInput(c.Conn, xproto.MotionNotify, 0, 0, c.Root, int16(at.X), int16(at.Y), 0)
}

func fake(c *x11.Conn, event, detail byte) {
	xtest.FakeInput(c.Conn, event, detail, 0, c.Root, 0, 0, 0)
}

func together(t testing.TB, c *x11.Conn, send func()) {
	t.Helper()
	if err := c.Extension("XTEST"); err != nil {
		t.Fatal(err)
	}
	if err := c.Together(send); err != nil {
		t.Fatal(err)
	}
	if err := c.RoundTrip(); err != nil {
		t.Fatal(err)
	}
}
