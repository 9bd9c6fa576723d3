package actuator

import (
	"context"
	"image"
)

// A backend sends input to one kind of desktop session. A [Device] calls it
// from one goroutine at a time, keeps the account of what is down, and has
// checked the action before.
type backend interface {
	// bounds is the area of the desktop, in device pixels.
	bounds() (image.Rectangle, error)
	// location is where the pointer is; known is false where the session keeps
	// it a secret.
	location() (p image.Point, known bool, err error)
	// move moves the pointer.
	move(p image.Point) error
	// button presses a mouse button or lets it go.
	button(b Button, down bool) error
	// click presses a mouse button and lets it go, count times within what
	// programs take for a double or triple click.
	click(b Button, count int) error
	// wheel turns the mouse wheel by notches to the right and down.
	wheel(dx, dy int) error

	// chord returns the strokes that press the keys, in order: one for each, and
	// one for shift where a character needs it. A key that cannot be pressed
	// gives an error that wraps ErrRefused.
	chord(keys []Key) ([]stroke, error)
	// tap presses keys in order and lets them go in reverse, within what a session takes for
	// a key that is held and repeats.
	tap(strokes []stroke) error
	// key presses a key or lets it go.
	key(s stroke, down bool) error
	// ready waits until keys will reach the window that the input sent before
	// has focused. If that does not come to be known in time, it is an error for
	// text, which must not go astray; a key is pressed all the same, as a person would.
	ready(ctx context.Context, text bool) error
	// typeText types text and calls sending right before the first input. It
	// leaves nothing down.
	typeText(ctx context.Context, text string, sending func()) error

	// copy reads the clipboard after trigger has made the program fill it.
	copy(ctx context.Context, trigger func() error) (string, error)
	// setClipboard puts text on the clipboard.
	setClipboard(ctx context.Context, text string) error
	// paste calls trigger, which makes the program read the clipboard, and waits
	// until it has, where that can be seen.
	paste(ctx context.Context, trigger func() error) error

	// close disconnects.
	close() error
}

// A stroke is one physical key.
type stroke struct {
	code byte   // its code in the session's keyboard map, or
	name string // the name by which the session's library knows it
}
