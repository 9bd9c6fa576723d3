package actuator

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"slices"
	"strings"

	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"

	"desktop-agent/internal/x11"
)

// An x11Backend acts on an X display: robotgo for the mouse, XTEST directly for
// the keyboard, which it takes faster, on any display, and with errors told.
type x11Backend struct {
	conn *x11.Conn
	log  *slog.Logger
	own  xproto.Window // never mapped; owns the clipboard, and is asked about
	clip *clipboard

	// lent are the keycodes that stand for keysyms which the keyboard map lacks,
	// for keys pressed by name; they are taken back at the end.
	lent map[xproto.Keysym]xproto.Keycode
}

// borrowedProperty is the property of the root window with the keycodes that are
// borrowed at the moment, so that they can be given back after a crash.
const borrowedProperty = "_DESKTOP_AGENT_KEYCODES"

func openX11(ctx context.Context, o Options) (backend, error) {
	display := cmp.Or(o.Display, o.Getenv("DISPLAY"))
	conn, err := x11.Dial(display)
	if err != nil {
		return nil, err
	}
	x := &x11Backend{conn: conn, log: o.Log, lent: map[xproto.Keysym]xproto.Keycode{}}
	if err := x.open(ctx, display); err != nil {
		conn.Close()
		return nil, fmt.Errorf("display %q: %w", display, err)
	}
	return x, nil
}

func (x *x11Backend) open(ctx context.Context, display string) error {
	if err := x.conn.Extension("XTEST"); err != nil {
		return fmt.Errorf("no program can send input: %w", err)
	}
	own, err := xproto.NewWindowId(x.conn.Conn)
	if err != nil {
		return err
	}
	err = xproto.CreateWindowChecked(x.conn.Conn, 0, own, x.conn.Root, -10, -10, 1, 1, 0, xproto.WindowClassInputOnly,
		0, xproto.CwOverrideRedirect|xproto.CwEventMask, []uint32{1, xproto.EventMaskPropertyChange}).Check()
	if err != nil {
		return fmt.Errorf("window: %w", err)
	}
	x.own = own
	if err := theRobot.claim(display); err != nil {
		return err
	}
	if x.clip, err = newClipboard(x.conn, own); err == nil {
		err = x.clearLeftovers(ctx)
	}
	if err != nil {
		theRobot.release()
	}
	return err
}

func (x *x11Backend) close() error {
	err := x.giveBack(x.lentCodes())
	x.clip.close()
	theRobot.release()
	x.conn.Close()
	return err
}

// clearLeftovers lets go the keys and buttons that a process of ours held when
// it was killed, which the server keeps down, and gives borrowed keycodes back.
// A release over XTEST has no effect on what a person holds: the server counts
// each input device on its own.
func (x *x11Backend) clearLeftovers(ctx context.Context) error {
	if theRobot.shared() {
		return nil // another device of this process holds them
	}
	keys, err := xproto.QueryKeymap(x.conn.Conn).Reply()
	if err != nil {
		return fmt.Errorf("keys that are down: %w", err)
	}
	pointer, err := xproto.QueryPointer(x.conn.Conn, x.conn.Root).Reply()
	if err != nil {
		return fmt.Errorf("buttons that are down: %w", err)
	}
	n := 0
	for code := range 256 {
		if keys.Keys[code/8]&(1<<(code%8)) != 0 {
			x.fake(xproto.KeyRelease, byte(code))
			n++
		}
	}
	for b := range 5 {
		if pointer.Mask&(xproto.ButtonMask1<<b) != 0 {
			x.fake(xproto.ButtonRelease, byte(b+1))
			n++
		}
	}
	if n > 0 {
		x.log.WarnContext(ctx, "let go input that was still down", "n", n)
	}
	borrowed, err := x.conn.Cardinals(x.conn.Root, borrowedProperty)
	if err != nil {
		return err
	}
	var codes []xproto.Keycode
	for _, c := range borrowed {
		codes = append(codes, xproto.Keycode(c))
	}
	return x.giveBack(codes)
}

// fake sends one event of a key or a button. It arrives in order; a round trip
// on the same connection tells when.
func (x *x11Backend) fake(event, detail byte) {
	xtest.FakeInput(x.conn.Conn, event, detail, xproto.TimeCurrentTime, x.conn.Root, 0, 0, 0)
}

func (x *x11Backend) bounds() (image.Rectangle, error) {
	g, err := xproto.GetGeometry(x.conn.Conn, xproto.Drawable(x.conn.Root)).Reply()
	if err != nil {
		return image.Rectangle{}, fmt.Errorf("desktop size: %w", err)
	}
	return image.Rect(0, 0, int(g.Width), int(g.Height)), nil
}

func (x *x11Backend) location() (image.Point, bool, error) {
	p, err := xproto.QueryPointer(x.conn.Conn, x.conn.Root).Reply()
	if err != nil {
		return image.Point{}, false, fmt.Errorf("pointer: %w", err)
	}
	return image.Pt(int(p.RootX), int(p.RootY)), p.SameScreen, nil
}

func (x *x11Backend) move(p image.Point) error {
	theRobot.move(p)
	return x.conn.RoundTrip()
}

func (x *x11Backend) button(b Button, down bool) error {
	if err := theRobot.button(b, down); err != nil {
		return err
	}
	return x.conn.RoundTrip()
}

func (x *x11Backend) wheel(dx, dy int) error {
	theRobot.wheel(dx, dy)
	return x.conn.RoundTrip()
}

func (x *x11Backend) key(s stroke, down bool) error {
	event := byte(xproto.KeyRelease)
	if down {
		event = xproto.KeyPress
	}
	x.fake(event, s.code)
	return x.conn.RoundTrip()
}

// chord finds the keys on the keyboard map. A key that is not on it borrows a
// spare keycode, until the device closes.
func (x *x11Backend) chord(keys []Key) ([]stroke, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	m, err := x.keymap()
	if err != nil {
		return nil, err
	}
	find := m.find
	if slices.ContainsFunc(keys, func(k Key) bool { return k.Modifier() && !strings.HasPrefix(string(k), "shift") }) {
		find = m.findShortcut
	}
	var strokes []stroke
	for _, k := range keys {
		sym, ok := keysymOf(k)
		if !ok {
			return nil, fmt.Errorf("%w: the key %q cannot be pressed on an X display", ErrRefused, k)
		}
		code, shift, ok := find(sym)
		if !ok {
			if code, err = x.lend(m, sym); err != nil {
				return nil, fmt.Errorf("%w: the key %q is not on this keyboard: %w", ErrRefused, k, err)
			}
		}
		if shift {
			strokes = append(strokes, stroke{code: byte(m.shift)})
		}
		strokes = append(strokes, stroke{code: byte(code)})
	}
	return compact(strokes), nil
}

// compact keeps the first of equal strokes.
func compact(strokes []stroke) []stroke {
	var list []stroke
	for _, s := range strokes {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// lend puts a keysym on a spare keycode.
func (x *x11Backend) lend(m *keymap, sym xproto.Keysym) (xproto.Keycode, error) {
	if len(m.spare) == 0 {
		return 0, errNoSpare
	}
	code := m.spare[len(m.spare)-1] // the end that typing takes last
	if err := x.borrow(map[xproto.Keycode]xproto.Keysym{code: sym}); err != nil {
		return 0, err
	}
	x.lent[sym] = code
	m.spare = m.spare[:len(m.spare)-1]
	return code, nil
}

func (x *x11Backend) lentCodes() []xproto.Keycode {
	var codes []xproto.Keycode
	for _, c := range x.lent {
		codes = append(codes, c)
	}
	return codes
}

var errNoSpare = errors.New("the keyboard map has no spare key to put it on")

// borrow puts keysyms on spare keycodes, after noting which for [x11Backend.clearLeftovers].
func (x *x11Backend) borrow(syms map[xproto.Keycode]xproto.Keysym) error {
	codes := x.lentCodes()
	for code := range syms {
		codes = append(codes, code)
	}
	if err := x.noteBorrowed(codes); err != nil {
		return err
	}
	return x.remap(syms)
}

// giveBack makes borrowed keycodes spare again. Programs must have taken the
// events of these keys, or they may look them up when they mean nothing.
func (x *x11Backend) giveBack(codes []xproto.Keycode) error {
	if len(codes) == 0 {
		return nil
	}
	none := map[xproto.Keycode]xproto.Keysym{}
	for _, c := range codes {
		none[c] = 0
	}
	var kept []xproto.Keycode
	for sym, c := range x.lent {
		if slices.Contains(codes, c) {
			delete(x.lent, sym)
		} else {
			kept = append(kept, c)
		}
	}
	if err := x.remap(none); err != nil {
		return err
	}
	return x.noteBorrowed(kept)
}

// remap changes the keyboard map. Both levels of a key get the same keysym, so
// that it means the same with shift.
func (x *x11Backend) remap(syms map[xproto.Keycode]xproto.Keysym) error {
	for code, sym := range syms {
		xproto.ChangeKeyboardMapping(x.conn.Conn, 1, code, 2, []xproto.Keysym{sym, sym})
	}
	if err := x.conn.RoundTrip(); err != nil {
		return fmt.Errorf("keyboard map: %w", err)
	}
	return theRobot.remapped(len(syms))
}

func (x *x11Backend) noteBorrowed(codes []xproto.Keycode) error {
	atom, err := x.conn.Atom(borrowedProperty)
	if err != nil {
		return err
	}
	if len(codes) == 0 {
		return xproto.DeletePropertyChecked(x.conn.Conn, x.conn.Root, atom).Check()
	}
	var data []byte
	for _, c := range codes {
		data = binary.LittleEndian.AppendUint32(data, uint32(c))
	}
	return xproto.ChangePropertyChecked(x.conn.Conn, xproto.PropModeReplace, x.conn.Root, atom,
		xproto.AtomCardinal, 32, uint32(len(codes)), data).Check()
}
