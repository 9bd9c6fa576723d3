package actuator

import (
	"errors"
	"fmt"
	"image"
	"os"
	"sync"

	"github.com/go-vgo/robotgo/x11"
)

// A robot is robotgo's connection to an X server, for mouse input. robotgo
// keeps one connection a process and makes it to $DISPLAY, so that the devices
// of a process share it, and all act on one display.
type robot struct {
	mu      sync.Mutex
	display string
	users   int
	remaps  int // changes of the keyboard map since it connected
}

// theRobot is the only one, as robotgo's connection is.
var theRobot robot

// claim connects to the display for one more user; release ends it.
func (r *robot) claim(display string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.users > 0 && r.display != display {
		return fmt.Errorf("%w: this process acts on display %s already: close that device first, or use a process for each display", ErrRefused, r.display)
	}
	if r.users == 0 {
		if err := connectRobot(display); err != nil {
			return err
		}
		r.display, r.remaps = display, 0
	}
	r.users++
	return nil
}

func (r *robot) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.users--; r.users == 0 {
		x11.Close()
	}
}

// shared reports whether the connection has more than one user.
func (r *robot) shared() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.users > 1
}

// remapped counts changes of the keyboard map, and connects anew after many:
// each sends an event to every client, robotgo never reads the events of its
// connection, and the connection stops for good when 5,000 wait.
func (r *robot) remapped() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.remaps++; r.remaps < renewAfter {
		return nil
	}
	r.remaps = 0
	return connectRobot(r.display)
}

// renewAfter leaves room for events that others cause.
const renewAfter = 1000

// connectRobot makes robotgo connect to the display. $DISPLAY is the only way
// to tell it which, so it is changed for as long as that takes.
func connectRobot(display string) error {
	x11.Close()
	if before, ok := os.LookupEnv("DISPLAY"); display != "" && before != display {
		os.Setenv("DISPLAY", display)
		defer func() {
			if ok {
				os.Setenv("DISPLAY", before)
			} else {
				os.Unsetenv("DISPLAY")
			}
		}()
	}
	// An empty key sends nothing, but connects; that it is not found is fine.
	if err := x11.KeyTap(""); !errors.Is(err, x11.ErrNotFound) {
		return err
	}
	return nil
}

// Each of the following returns when the server has taken the input. robotgo
// reports no lost connection: a round trip on another one must show it.

func (r *robot) move(p image.Point) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x11.Move(p.X, p.Y)
}

func (r *robot) button(b Button, down bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if down {
		return x11.MouseDown(string(b))
	}
	return x11.MouseUp(string(b))
}

func (r *robot) wheel(dx, dy int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x11.Scroll(-dx, -dy, 0) // robotgo counts to the left and up
}
