package actuator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"

	"desktop-agent/internal/x11"
)

// An x11Backend acts on an X display: robotgo for the mouse, XTEST directly for
// the keyboard, which it takes faster, on any display, and with errors told.
type x11Backend struct {
	conn *x11.Conn
	log  *slog.Logger

	display string
	own     xproto.Window // never mapped; owns the clipboard, and is asked about
	clip    *clipboard

	lent    lent
	watcher *watcher // nil for none

	tellsPIDs bool // the server knows the processes of its clients
}

func openX11(ctx context.Context, o Options) (backend, error) {
	display := cmp.Or(o.Display, o.Getenv("DISPLAY"))
	conn, err := x11.Dial(display)
	if err != nil {
		return nil, fmt.Errorf("%w: run this inside a desktop session, set DISPLAY, or use a private desktop", err)
	}
	x := &x11Backend{conn: conn, log: o.Log, lent: lent{keys: map[xproto.Keycode]levels{}, fixed: map[xproto.Keycode]bool{}}}
	if o.Watched { // before anything else: it starts beside what follows
		if x.watcher, err = startWatcher(display, o.Log); err != nil {
			conn.Close()
			return nil, err
		}
	}
	if err := x.open(ctx, display); err != nil {
		conn.Close()
		return nil, errors.Join(fmt.Errorf("display %q: %w", display, err), x.unwatch(false))
	}
	return x, nil
}

func (x *x11Backend) open(ctx context.Context, display string) error {
	if err := x.conn.Extension("XTEST"); err != nil {
		return fmt.Errorf("no program can send input: %w", err)
	}
	if err := x.conn.Extension("X-Resource"); err != nil {
		x.log.InfoContext(ctx, "of programs that take no pings it is not known whether they work", "err", err)
	} else {
		x.tellsPIDs = true
	}
	if err := xkbOpen(x.conn); err != nil {
		return err
	}
	own, err := x.conn.HiddenWindow()
	if err != nil {
		return err
	}
	x.own = own
	x.display = display
	claim(display)
	if x.clip, err = newClipboard(x.conn, own); err == nil {
		err = x.clearLeftovers(ctx)
	}
	if err != nil {
		release(x.display)
	}
	return err
}

func (x *x11Backend) close() error {
	err := x.takeBack()
	x.clip.close()
	release(x.display)
	x.conn.Close()
	return errors.Join(err, x.unwatch(err == nil))
}

// watched waits until somebody watches who lets go what is about to be pressed.
func (x *x11Backend) watched(ctx context.Context) error {
	if x.watcher == nil {
		return nil
	}
	return x.watcher.watches(ctx)
}

// unwatch ends the watcher. If not all is known to be let go, it does that first.
func (x *x11Backend) unwatch(clean bool) error {
	if x.watcher == nil {
		return nil
	}
	return x.watcher.close(clean)
}

// clearLeftovers lets go the keys and buttons that a process of ours held when
// it was killed, which the server keeps down, and gives borrowed keycodes back.
// A release over XTEST has no effect on what a person holds: the server counts
// each input device on its own.
func (x *x11Backend) clearLeftovers(ctx context.Context) error {
	if shared(x.display) {
		return nil // another device of this process holds them
	}
	n, err := x.letGo()
	if err != nil {
		return err
	}
	if n > 0 {
		x.log.WarnContext(ctx, "let go input that was still down", "n", n)
	}
	return x.takeBackLeftovers()
}

// letGo lets go all that is down, and says how much that was.
func (x *x11Backend) letGo() (n int, err error) {
	keys, err := xproto.QueryKeymap(x.conn.Conn).Reply()
	if err != nil {
		return 0, fmt.Errorf("keys that are down: %w", err)
	}
	pointer, err := xproto.QueryPointer(x.conn.Conn, x.conn.Root).Reply()
	if err != nil {
		return 0, fmt.Errorf("buttons that are down: %w", err)
	}
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
	return n, x.conn.RoundTrip()
}

// fake sends one event of a key or a button. It arrives in order; a round trip
// on the same connection tells when.
func (x *x11Backend) fake(event, detail byte) { x.fakeAfter(0, event, detail) }

// fakeAfter has the server wait before it sends the event, in whole milliseconds. What this
// connection asks of it later waits, too.
func (x *x11Backend) fakeAfter(wait time.Duration, event, detail byte) {
	xtest.FakeInput(x.conn.Conn, event, detail, uint32(wait.Milliseconds()), x.conn.Root, 0, 0, 0)
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
	x.point(p)
	return x.conn.RoundTrip()
}

// button waits after a press until the window manager has seen it. To focus
// windows it freezes the pointer at each press and then lets the press go on to
// the program; what is sent meanwhile waits in the server, and a release would
// get the place that the pointer moves to next: a click would become a drag.
func (x *x11Backend) button(b Button, down bool) error {
	if err := x.toggle(b, down); err != nil {
		return err
	}
	if err := x.conn.RoundTrip(); err != nil || !down {
		return err
	}
	return x.askManager(context.Background())
}

// clickGap is what the server waits between a press and its release, and between two
// clicks. Chromium takes two presses of the same millisecond for one.
const clickGap = 5 * time.Millisecond

// click sends all at once, and the server keeps the time: were each press to wait for the
// window manager, and for this process to have its turn, a busy machine would make two
// clicks of a double click. The manager is waited for as after a press, which see: as long as
// it holds one back the button is down, whatever waits behind it in the server.
func (x *x11Backend) click(b Button, count int) error {
	code, err := codeOf(b)
	if err != nil {
		return err
	}
	if err := x.undivided(func() {
		var wait time.Duration
		for range count {
			x.fakeAfter(wait, xproto.ButtonPress, code)
			x.fakeAfter(clickGap, xproto.ButtonRelease, code)
			wait = clickGap
		}
	}); err != nil {
		return err
	}
	limit, cancel := context.WithTimeout(context.Background(), managerLimit)
	defer cancel()
	for {
		p, err := xproto.QueryPointer(x.conn.Conn, x.conn.Root).Reply()
		if err != nil {
			return fmt.Errorf("click: %w", err)
		}
		if p.Mask&(xproto.ButtonMask1<<(code-1)) == 0 {
			return nil
		}
		if answers, err := x.managerAnswers(limit); !answers {
			if limit.Err() != nil { // it is busy, or hung, or a person holds the button
				return nil
			}
			return err
		}
	}
}

// undivided has the server serve nobody else until it has done what send asks of it, which is
// sent at once: the server would wait for the rest while this process waits for its turn.
//
// A press that the window manager holds back waits in the server with all behind it, while
// the device that sent it is already ahead. Where the manager lets it go on with that device
// down for the next press, the server takes the release in between for that of another hand,
// then the next press for one of a button that is down, and drops both: of two clicks
// one remains.
func (x *x11Backend) undivided(send func()) error {
	return x.conn.Together(func() {
		xproto.GrabServer(x.conn.Conn)
		send()
		xproto.UngrabServer(x.conn.Conn)
	})
}

func (x *x11Backend) wheel(dx, dy int) error {
	if err := x.undivided(func() { x.turn(dx, dy) }); err != nil {
		return err
	}
	if err := x.conn.RoundTrip(); err != nil {
		return err
	}
	return x.askManager(context.Background()) // notches are presses, too
}

// tap sends all at once: were each key to wait for this process to have its turn, a busy
// machine would hold it for longer than the half a second after which the server repeats it.
func (x *x11Backend) tap(strokes []stroke) error {
	return x.atOnce(func() { x.strike(strokes...) })
}

// strike has keys go down in order and up in reverse.
func (x *x11Backend) strike(strokes ...stroke) {
	for _, s := range strokes {
		x.fake(xproto.KeyPress, s.code)
	}
	for _, s := range slices.Backward(strokes) {
		x.fake(xproto.KeyRelease, s.code)
	}
}

// atOnce writes what send asks of the server in one go, and returns when that is done.
func (x *x11Backend) atOnce(send func()) error {
	if err := x.conn.Together(send); err != nil {
		return err
	}
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
			if code, err = x.lendKey(m, sym); err != nil {
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
