package actuator

import (
	"fmt"
	"image"
	"sync"

	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
)

// The devices of this process, by the display on which they act. Each has a connection of
// its own; two on one display hold the same keys and buttons.
var devices struct {
	sync.Mutex
	on map[string]int
}

// claim counts one more device on a display; release ends it.
func claim(display string) {
	devices.Lock()
	defer devices.Unlock()
	if devices.on == nil {
		devices.on = map[string]int{}
	}
	devices.on[display]++
}

func release(display string) {
	devices.Lock()
	defer devices.Unlock()
	if devices.on[display]--; devices.on[display] == 0 {
		delete(devices.on, display)
	}
}

// shared reports whether a display has more than one device of this process.
func shared(display string) bool {
	devices.Lock()
	defer devices.Unlock()
	return devices.on[display] > 1
}

// buttons are those of the X server.
var buttons = map[Button]byte{Left: 1, Middle: 2, Right: 3}

// codeOf returns the X server's number of a button; the error is [ErrRefused] for one
// that there is not.
func codeOf(b Button) (byte, error) {
	code, ok := buttons[b]
	if !ok {
		return 0, fmt.Errorf("%w: there is no button %q", ErrRefused, b)
	}
	return code, nil
}

// The buttons that turn the wheel by a notch.
const wheelUp, wheelDown, wheelLeft, wheelRight = 4, 5, 6, 7

// Each of the following is sent; a round trip tells whether it was taken.

func (x *x11Backend) point(p image.Point) {
	xtest.FakeInput(x.conn.Conn, xproto.MotionNotify, 0, xproto.TimeCurrentTime, x.conn.Root, int16(p.X), int16(p.Y), 0)
}

func (x *x11Backend) toggle(b Button, down bool) error {
	code, err := codeOf(b)
	if err != nil {
		return err
	}
	event := byte(xproto.ButtonRelease)
	if down {
		event = xproto.ButtonPress
	}
	x.fake(event, code)
	return nil
}

// turn turns the wheel by notches to the right and down.
func (x *x11Backend) turn(dx, dy int) {
	for _, axis := range []struct {
		n          int
		less, more byte
	}{{dx, wheelLeft, wheelRight}, {dy, wheelUp, wheelDown}} {
		code := axis.more
		if axis.n < 0 {
			code = axis.less
		}
		for range max(axis.n, -axis.n) {
			x.fake(xproto.ButtonPress, code)
			x.fake(xproto.ButtonRelease, code)
		}
	}
}
