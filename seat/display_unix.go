//go:build unix

package seat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"desktop-agent/internal/x11"
)

const (
	// selection is owned by who has the display; ownerProperty of its window says who.
	selection     = "_DESKTOP_AGENT"
	ownerProperty = "_DESKTOP_AGENT_OWNER"
	// stopProperty of the root window is a latch.
	stopProperty = "_DESKTOP_AGENT_STOPPED"
	// maxProperty is how much of either is read: anybody may write them.
	maxProperty = 4096
	// handing is how long to wait for an owner that is about to go: the server may not
	// have noticed yet that its process has ended.
	handing = 300 * time.Millisecond
)

// A link is a seat's connection to its display.
type link struct {
	conn   *x11.Conn
	window xproto.Window
	own    map[uint16]bool // devices by which programs send input
	stop   func()
	raw    bool // the server tells of raw input
	closed atomic.Bool
}

// Take takes the seat at a display. It returns a [*TakenError] if another has it, and a
// [*StoppedError] if it was stopped.
func Take(ctx context.Context, display string, o *Options) (*Seat, error) {
	if o == nil {
		o = &Options{}
	}
	s := New(o)
	s.display = display
	l, err := dial(display)
	if err != nil {
		return nil, fmt.Errorf("take display %s: %w", display, err)
	}
	if err := l.take(ctx, display, o.Who); err != nil {
		l.conn.Close()
		return nil, err
	}
	if !l.raw && (o.Hotkey != nil || o.Corner || o.Takeover > 0) {
		s.log.Warn("a person cannot stop the agent with the keyboard or the pointer here: desktop-agent stop does", "err", x11.ErrNoRawInput)
	}
	s.link = l
	if err := l.listen(s, o); err != nil {
		s.Close()
		return nil, fmt.Errorf("take display %s: %w", display, err)
	}
	return s, nil
}

// dial connects, with raw input where the server has it.
func dial(display string) (*link, error) {
	conn, err := x11.DialInput(display)
	l := &link{conn: conn, raw: err == nil, own: map[uint16]bool{}}
	if errors.Is(err, x11.ErrNoRawInput) {
		l.conn, err = x11.Dial(display)
	}
	if err != nil {
		return nil, err
	}
	if l.window, err = l.conn.HiddenWindow(); err != nil {
		l.conn.Close()
		return nil, err
	}
	return l, nil
}

// take becomes the owner of the selection, if there is none.
func (l *link) take(ctx context.Context, display string, who Owner) error {
	who.PID, who.Since = os.Getpid(), time.Now().Truncate(time.Second)
	who.Host, _ = os.Hostname() // "" where there is none
	atom, err := l.conn.Atom(selection)
	if err != nil {
		return err
	}
	if err := l.write(l.window, ownerProperty, who); err != nil {
		return err
	}
	for began := time.Now(); ; {
		if stopped, err := l.latched(); err != nil || stopped != nil {
			return errors.Join(err, asError(display, stopped))
		}
		other, err := l.claim(atom)
		if err != nil || other == 0 {
			return err
		}
		if time.Since(began) > handing {
			return &TakenError{Display: display, Owner: l.ownerOf(other)}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// asError is a latch as an error; nil for none.
func asError(display string, l *Latch) error {
	if l == nil {
		return nil
	}
	return &StoppedError{Display: display, Latch: *l}
}

// claim takes the selection unless it has an owner, which it returns. Nobody comes in
// between: the server listens to this connection alone.
func (l *link) claim(atom xproto.Atom) (other xproto.Window, err error) {
	xproto.GrabServer(l.conn.Conn)
	defer func() { err = errors.Join(err, xproto.UngrabServerChecked(l.conn.Conn).Check()) }()
	owner, err := xproto.GetSelectionOwner(l.conn.Conn, atom).Reply()
	if err != nil {
		return 0, fmt.Errorf("owner of the display: %w", err)
	}
	if owner.Owner != 0 {
		return owner.Owner, nil
	}
	return 0, xproto.SetSelectionOwnerChecked(l.conn.Conn, l.window, atom, xproto.TimeCurrentTime).Check()
}

// ownerOf reads who an owner says it is.
func (l *link) ownerOf(w xproto.Window) (o Owner) {
	o.What = "a program that does not say who it is"
	value, err := l.conn.Property(w, ownerProperty)
	if err == nil && len(value) <= maxProperty {
		_ = json.Unmarshal(value, &o) // then it says nothing
	}
	return o
}

// write writes a property as JSON.
func (l *link) write(w xproto.Window, name string, v any) error {
	atom, err := l.conn.Atom(name)
	if err != nil {
		return err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	utf8, err := l.conn.Atom("UTF8_STRING")
	if err != nil {
		return err
	}
	err = xproto.ChangePropertyChecked(l.conn.Conn, xproto.PropModeReplace, w, atom, utf8, 8, uint32(len(data)), data).Check()
	if err != nil {
		return fmt.Errorf("property %s: %w", name, err)
	}
	return nil
}

// latch marks the display as stopped.
func (l *link) latch(stop Latch) error { return l.write(l.conn.Root, stopProperty, stop) }

// latched returns how the display was stopped; nil if it was not. What cannot be read
// is a stop all the same.
func (l *link) latched() (*Latch, error) {
	value, err := l.conn.Property(l.conn.Root, stopProperty)
	if err != nil || len(value) == 0 {
		return nil, err
	}
	stop := &Latch{}
	if len(value) > maxProperty || json.Unmarshal(value, stop) != nil || stop.How == "" {
		stop.How = "somebody who does not say how"
	}
	return stop, nil
}

// listen has the seat told what happens on the display.
func (l *link) listen(s *Seat, o *Options) error {
	if err := l.conn.Select(l.conn.Root, xproto.EventMaskPropertyChange); err != nil {
		return err
	}
	stopAtom, err := l.conn.Atom(stopProperty)
	if err != nil {
		return err
	}
	if l.raw {
		devices, err := l.conn.Devices()
		if err != nil {
			return err
		}
		for _, d := range devices {
			// By these, and no others, programs send input to the pointer that all use.
			if d.Name == "Virtual core XTEST pointer" || d.Name == "Virtual core XTEST keyboard" {
				l.own[d.ID] = true
			}
		}
	}
	watch := &watch{link: l, seat: s, options: *o}
	if err := watch.readKeys(); err != nil {
		return err
	}
	l.stop = l.conn.Listen(func(e xgb.Event) {
		switch e := e.(type) {
		case xproto.PropertyNotifyEvent:
			if e.Window == l.conn.Root && e.Atom == stopAtom && e.State == xproto.PropertyNewValue {
				if stop, err := l.latched(); err == nil && stop != nil {
					s.stop(*stop, false)
				}
			}
		case xproto.SelectionClearEvent:
			s.stop(Latch{How: "another program, which took the display", At: time.Now()}, false)
		case xproto.MappingNotifyEvent:
			if err := watch.readKeys(); err != nil {
				s.log.Warn("the keys that stop the agent are not known any more", "err", err)
			}
		case x11.RawInput:
			watch.raw(e)
		}
	})
	go func() { // nobody would hear of a stop any more
		<-l.conn.Closed()
		if !l.closed.Load() {
			s.stop(Latch{How: "the display, which hung up on this program", At: time.Now()}, false)
		}
	}()
	// A stop between the look at it and now.
	if stop, err := l.latched(); err != nil || stop != nil {
		return errors.Join(err, asError(s.display, stop))
	}
	return nil
}

// Close gives the seat back.
func (s *Seat) Close() error {
	if s == nil || s.link == nil {
		return nil
	}
	l := s.link
	l.closed.Store(true)
	if l.stop != nil {
		l.stop()
	}
	l.conn.Close()
	return nil
}

// A watch looks for the hotkey, the corner and a person.
type watch struct {
	link    *link
	seat    *Seat
	options Options

	key  []byte   // keycodes of the hotkey
	with [][]byte // and of what must be down with it
	down [256]bool
}

// readKeys finds the keycodes of the hotkey.
func (w *watch) readKeys() error {
	hot := w.options.Hotkey
	if hot == nil {
		return nil
	}
	setup := xproto.Setup(w.link.conn.Conn)
	n := byte(setup.MaxKeycode - setup.MinKeycode + 1)
	reply, err := xproto.GetKeyboardMapping(w.link.conn.Conn, setup.MinKeycode, n).Reply()
	if err != nil {
		return fmt.Errorf("keyboard map: %w", err)
	}
	width := int(reply.KeysymsPerKeycode)
	codes := func(syms []uint32) (list []byte) {
		for i := 0; width > 0 && i < len(reply.Keysyms)/width; i++ {
			for _, sym := range reply.Keysyms[i*width : (i+1)*width] {
				if slices.Contains(syms, uint32(sym)) {
					list = append(list, byte(int(setup.MinKeycode)+i))
					break
				}
			}
		}
		return list
	}
	w.key, w.with = codes([]uint32{hot.Key}), nil
	for _, syms := range hot.With {
		w.with = append(w.with, codes(syms))
	}
	if len(w.key) == 0 {
		return fmt.Errorf("the keyboard map has no key for %s", hot.Name)
	}
	return nil
}

// raw takes input in.
func (w *watch) raw(e x11.RawInput) {
	if e.Kind == x11.RawKeyPress || e.Kind == x11.RawKeyRelease {
		w.down[byte(e.Detail)] = e.Kind == x11.RawKeyPress
	}
	if e.Kind == x11.RawKeyPress && slices.Contains(w.key, byte(e.Detail)) && w.heldDown() {
		w.seat.Stop("the keys " + w.options.Hotkey.Name)
		return
	}
	if w.link.own[e.Source] {
		return
	}
	switch e.Kind {
	case x11.RawKeyPress:
		w.seat.did(Tally{Keys: 1})
	case x11.RawButtonPress, x11.RawTouchBegin:
		w.seat.did(Tally{Clicks: 1})
	case x11.RawMotion:
		if w.options.Corner && w.inCorner(e.Master) {
			w.seat.Stop("the pointer, which was thrown into a corner")
			return
		}
		w.seat.did(Tally{Moves: 1})
	}
}

// heldDown reports whether all that belongs to the hotkey is down, on whichever keyboard.
func (w *watch) heldDown() bool {
	for _, codes := range w.with {
		if !slices.ContainsFunc(codes, func(c byte) bool { return w.down[c] }) {
			return false
		}
	}
	return true
}

// inCorner reports whether a pointer is in a corner of the screen.
func (w *watch) inCorner(master uint16) bool {
	at, err := w.link.conn.PointerOf(master)
	if err != nil {
		return false
	}
	g, err := xproto.GetGeometry(w.link.conn.Conn, xproto.Drawable(w.link.conn.Root)).Reply()
	if err != nil {
		return false
	}
	far := image.Pt(int(g.Width)-1, int(g.Height)-1)
	return (at.X <= 0 || at.X >= far.X) && (at.Y <= 0 || at.Y >= far.Y)
}

// A State is what is known of a display.
type State struct {
	Owner   *Owner // nil if nobody has it
	Stopped *Latch // nil if it was not stopped
}

// StateOf returns the state of a display.
func StateOf(display string) (s State, err error) {
	err = on(display, func(l *link) error {
		s, err = l.state()
		return err
	})
	return s, err
}

func (l *link) state() (s State, err error) {
	if s.Stopped, err = l.latched(); err != nil {
		return s, err
	}
	atom, err := l.conn.Atom(selection)
	if err != nil {
		return s, err
	}
	owner, err := xproto.GetSelectionOwner(l.conn.Conn, atom).Reply()
	if err == nil && owner.Owner != 0 {
		o := l.ownerOf(owner.Owner)
		s.Owner = &o
	}
	return s, err
}

// Stop stops whoever acts on a display, and keeps others from it. It returns who had it,
// and who has it still once ctx is over, which should not be.
func Stop(ctx context.Context, display, how string) (had, still *Owner, err error) {
	err = on(display, func(l *link) error {
		before, err := l.state()
		if err != nil {
			return err
		}
		had = before.Owner
		if before.Stopped == nil {
			if err := l.latch(Latch{How: how, At: time.Now()}); err != nil {
				return err
			}
		}
		for {
			now, err := l.state()
			if still = now.Owner; err != nil || still == nil || ctx.Err() != nil {
				return err
			}
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	return had, still, err
}

// Lift takes a stop back. It is a person's to do. It returns what was lifted; nil for
// nothing.
func Lift(display string) (was *Latch, err error) {
	err = on(display, func(l *link) error {
		if was, err = l.latched(); err != nil {
			return err
		}
		atom, err := l.conn.Atom(stopProperty)
		if err != nil {
			return err
		}
		return xproto.DeletePropertyChecked(l.conn.Conn, l.conn.Root, atom).Check()
	})
	return was, err
}

// on calls f with a connection to a display. What is written stays when it ends.
func on(display string, f func(*link) error) error {
	conn, err := x11.Dial(display)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := f(&link{conn: conn}); err != nil {
		return fmt.Errorf("display %s: %w", strings.TrimSpace(display), err)
	}
	return nil
}
