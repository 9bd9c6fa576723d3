//go:build unix

// Package eventwin opens a window that records the input events it gets. It
// shows what really arrives at a program: tests compare it with what was sent,
// and a check of an installation clicks and types into it.
package eventwin

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"sync"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"desktop-agent/internal/x11"
)

// A Kind is what happened.
type Kind string

// The kinds of events.
const (
	KeyPress      Kind = "key press"
	KeyRelease    Kind = "key release"
	ButtonPress   Kind = "button press" // also a notch of the wheel: buttons 4 to 7 are up, down, left, right
	ButtonRelease Kind = "button release"
	Motion        Kind = "motion"
	FocusIn       Kind = "focus in"
	FocusOut      Kind = "focus out"
	CloseRequest  Kind = "close request" // the window manager asked the window to close; it stays open
)

// An Event is one input event.
type Event struct {
	Kind    Kind
	At      image.Point // where the pointer was, in pixels of the desktop
	In      image.Point // the same, in pixels of the window
	Button  int         // of button events, from 1
	Keycode int         // of key events
	Keysym  uint32      // of key events, as the keyboard map had it when the event was read
	Rune    rune        // the character that the key types, or 0
	State   uint16      // modifiers and buttons that were down right before, as X11's KeyButMask
	Time    uint32      // the server's, in milliseconds
}

// A Window records the events it gets.
type Window struct {
	conn *x11.Conn
	id   xproto.Window
	box  image.Rectangle
	stop func()

	protocols, remove, ping, active xproto.Atom

	mu      sync.Mutex
	events  []Event
	changed chan struct{} // closed at the next event
	mapped  bool

	keys *keys // belongs to the goroutine that handles events; nil when the map has changed
}

const eventMask = xproto.EventMaskKeyPress | xproto.EventMaskKeyRelease |
	xproto.EventMaskButtonPress | xproto.EventMaskButtonRelease | xproto.EventMaskPointerMotion |
	xproto.EventMaskFocusChange | xproto.EventMaskStructureNotify

// Open opens a window on the X display, "" for $DISPLAY, at box in pixels of
// the desktop. It returns when the window is on the screen and has the focus.
// The window manager may place it elsewhere: see [Window.Box].
func Open(ctx context.Context, display string, box image.Rectangle) (*Window, error) {
	conn, err := x11.Dial(display)
	if err != nil {
		return nil, err
	}
	w := &Window{conn: conn, changed: make(chan struct{})}
	if err := w.open(ctx, box); err != nil {
		w.Close()
		return nil, fmt.Errorf("event window: %w", err)
	}
	return w, nil
}

// Title is the title of every Window.
const Title = "desktop-agent input check"

func (w *Window) open(ctx context.Context, box image.Rectangle) error {
	for name, atom := range map[string]*xproto.Atom{
		"WM_PROTOCOLS": &w.protocols, "WM_DELETE_WINDOW": &w.remove, "_NET_WM_PING": &w.ping, "_NET_ACTIVE_WINDOW": &w.active,
	} {
		var err error
		if *atom, err = w.conn.Atom(name); err != nil {
			return err
		}
	}
	id, err := xproto.NewWindowId(w.conn.Conn)
	if err != nil {
		return err
	}
	w.id = id
	const grey = 0x00d8d8d8
	err = xproto.CreateWindowChecked(w.conn.Conn, 0, id, w.conn.Root, int16(box.Min.X), int16(box.Min.Y),
		uint16(box.Dx()), uint16(box.Dy()), 0, xproto.WindowClassInputOutput, 0,
		xproto.CwBackPixel|xproto.CwEventMask, []uint32{grey, eventMask}).Check()
	if err != nil {
		return err
	}
	if err := w.describe(box); err != nil {
		return err
	}
	w.stop = w.conn.Listen(w.handle)
	if err := w.awaitManager(ctx); err != nil {
		return fmt.Errorf("window manager: %w", err)
	}
	if err := xproto.MapWindowChecked(w.conn.Conn, id).Check(); err != nil {
		return err
	}
	if err := w.until(ctx, func() bool { return w.mapped }); err != nil {
		return fmt.Errorf("the window does not appear: %w", err)
	}
	if err := w.takeFocus(ctx); err != nil {
		return fmt.Errorf("the window does not get the focus: %w", err)
	}
	w.box, err = w.conn.Box(id)
	return err
}

// awaitManager waits until the window manager answers, if there is one. While
// openbox starts it loses requests, also the one to show a window: so it is
// asked more than once.
func (w *Window) awaitManager(ctx context.Context) error {
	for {
		limit, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		err := w.conn.PingManager(limit)
		cancel()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, context.DeadlineExceeded):
			continue
		case errors.Is(err, x11.ErrNoManager):
			return nil
		}
		return err
	}
}

// describe sets the properties that a window manager reads.
func (w *Window) describe(box image.Rectangle) error {
	utf8, err := w.conn.Atom("UTF8_STRING")
	if err != nil {
		return err
	}
	name, err := w.conn.Atom("_NET_WM_NAME")
	if err != nil {
		return err
	}
	const class = "eventwin\x00Eventwin\x00"
	const userPosition, userSize, gravity, static = 1, 2, 512, 10 // ICCCM 4.1.2.3
	hints := make([]uint32, 18)
	hints[0] = userPosition | userSize | gravity
	hints[1], hints[2], hints[3], hints[4] = uint32(box.Min.X), uint32(box.Min.Y), uint32(box.Dx()), uint32(box.Dy())
	hints[17] = static // the box is the window's, not that of a frame around it
	for _, p := range []struct {
		property, kind xproto.Atom
		format         byte
		data           []byte
	}{
		{name, utf8, 8, []byte(Title)},
		{xproto.AtomWmName, xproto.AtomString, 8, []byte(Title)},
		{xproto.AtomWmClass, xproto.AtomString, 8, []byte(class)},
		{w.protocols, xproto.AtomAtom, 32, words(uint32(w.remove), uint32(w.ping))},
		{xproto.AtomWmNormalHints, xproto.AtomWmSizeHints, 32, words(hints...)},
	} {
		err := xproto.ChangePropertyChecked(w.conn.Conn, xproto.PropModeReplace, w.id, p.property, p.kind,
			p.format, uint32(len(p.data)/int(p.format/8)), p.data).Check()
		if err != nil {
			return err
		}
	}
	return nil
}

func words(list ...uint32) []byte {
	var data []byte
	for _, v := range list {
		data = append(data, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	return data
}

// takeFocus asks the window manager for the focus, or takes it where there is none.
func (w *Window) takeFocus(ctx context.Context) error {
	const fromPager = 2
	message := xproto.ClientMessageEvent{Format: 32, Window: w.id, Type: w.active,
		Data: xproto.ClientMessageDataUnionData32New([]uint32{fromPager, 0, 0, 0, 0})}
	if err := w.conn.PingManager(ctx); errors.Is(err, x11.ErrNoManager) {
		xproto.SetInputFocus(w.conn.Conn, xproto.InputFocusPointerRoot, w.id, xproto.TimeCurrentTime)
	} else if err != nil {
		return err
	}
	xproto.SendEvent(w.conn.Conn, false, w.conn.Root,
		xproto.EventMaskSubstructureNotify|xproto.EventMaskSubstructureRedirect, string(message.Bytes()))
	err := w.until(ctx, func() bool {
		return slices.ContainsFunc(w.events, func(e Event) bool { return e.Kind == FocusIn })
	})
	if err != nil {
		return err
	}
	return w.awaitManager(ctx) // only then it has told the others too which window is active
}

// Box returns where the window is, without the window manager's frame, in
// pixels of the desktop.
func (w *Window) Box() image.Rectangle { return w.box }

// ID returns the window's ID on its display.
func (w *Window) ID() uint32 { return uint32(w.id) }

// Events returns the events so far, oldest first.
func (w *Window) Events() []Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events)
}

// Clear forgets the events so far.
func (w *Window) Clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = nil
}

// Text returns what the key presses among the events type: each key's
// character, "\n" for Enter and "\t" for Tab.
func Text(events []Event) string {
	var text []rune
	for _, e := range events {
		if e.Kind == KeyPress && e.Rune != 0 {
			text = append(text, e.Rune)
		}
	}
	return string(text)
}

// Wait returns the events once there are n or more. If ctx ends before, it
// returns those that there are, with the context's error.
func (w *Window) Wait(ctx context.Context, n int) ([]Event, error) {
	err := w.until(ctx, func() bool { return len(w.events) >= n })
	return w.Events(), err
}

// WaitFor returns the events once enough says so of them.
func (w *Window) WaitFor(ctx context.Context, enough func([]Event) bool) ([]Event, error) {
	err := w.until(ctx, func() bool { return enough(w.events) })
	return w.Events(), err
}

// until waits for a condition, which is checked with the lock held.
func (w *Window) until(ctx context.Context, ok func() bool) error {
	for {
		w.mu.Lock()
		done, changed := ok(), w.changed
		w.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-w.conn.Closed():
			return x11.ErrNoDisplay
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Close closes the window.
func (w *Window) Close() error {
	if w.stop != nil {
		w.stop()
	}
	if w.id != 0 {
		xproto.DestroyWindow(w.conn.Conn, w.id)
	}
	err := w.conn.RoundTrip()
	w.conn.Close()
	return err
}

func (w *Window) handle(e xgb.Event) {
	switch e := e.(type) {
	case xproto.MapNotifyEvent:
		w.change(func() { w.mapped = w.mapped || e.Window == w.id })
	case xproto.MappingNotifyEvent:
		w.keys = nil // like programs do: look it up when the next key comes
	case xproto.KeyPressEvent:
		w.key(KeyPress, e)
	case xproto.KeyReleaseEvent:
		w.key(KeyRelease, xproto.KeyPressEvent(e))
	case xproto.ButtonPressEvent:
		w.record(button(ButtonPress, e))
	case xproto.ButtonReleaseEvent:
		w.record(button(ButtonRelease, xproto.ButtonPressEvent(e)))
	case xproto.MotionNotifyEvent:
		w.record(Event{Kind: Motion, At: image.Pt(int(e.RootX), int(e.RootY)), In: image.Pt(int(e.EventX), int(e.EventY)),
			State: e.State, Time: uint32(e.Time)})
	case xproto.FocusInEvent:
		w.focus(FocusIn, e)
	case xproto.FocusOutEvent:
		w.focus(FocusOut, xproto.FocusInEvent(e))
	case xproto.ClientMessageEvent:
		w.message(e)
	}
}

// focus records a change of the focus; a grab is none.
func (w *Window) focus(kind Kind, e xproto.FocusInEvent) {
	if e.Event == w.id && e.Mode != xproto.NotifyModeGrab && e.Mode != xproto.NotifyModeUngrab {
		w.record(Event{Kind: kind})
	}
}

// message answers a ping by sending it back to the root window.
func (w *Window) message(e xproto.ClientMessageEvent) {
	if e.Type != w.protocols || e.Window != w.id {
		return
	}
	switch xproto.Atom(e.Data.Data32[0]) {
	case w.remove:
		w.record(Event{Kind: CloseRequest})
	case w.ping:
		e.Window = w.conn.Root
		xproto.SendEvent(w.conn.Conn, false, w.conn.Root,
			xproto.EventMaskSubstructureNotify|xproto.EventMaskSubstructureRedirect, string(e.Bytes()))
	}
}

func button(kind Kind, e xproto.ButtonPressEvent) Event {
	return Event{Kind: kind, At: image.Pt(int(e.RootX), int(e.RootY)), In: image.Pt(int(e.EventX), int(e.EventY)),
		Button: int(e.Detail), State: e.State, Time: uint32(e.Time)}
}

func (w *Window) key(kind Kind, e xproto.KeyPressEvent) {
	if w.keys == nil {
		w.keys = readKeys(w.conn)
	}
	sym := w.keys.sym(e.Detail, e.State)
	w.record(Event{Kind: kind, At: image.Pt(int(e.RootX), int(e.RootY)), In: image.Pt(int(e.EventX), int(e.EventY)),
		Keycode: int(e.Detail), Keysym: uint32(sym), Rune: runeOf(sym), State: e.State, Time: uint32(e.Time)})
}

func (w *Window) record(e Event) {
	w.change(func() { w.events = append(w.events, e) })
}

func (w *Window) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
	close(w.changed)
	w.changed = make(chan struct{})
}
