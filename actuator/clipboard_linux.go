package actuator

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xfixes"
	"github.com/jezek/xgb/xproto"

	"desktop-agent/internal/x11"
)

const (
	// clipboardLimit bounds how much text is read, in bytes.
	clipboardLimit = 4 << 20
	// clipboardWait is how long a program may take to answer for the clipboard.
	clipboardWait = 3 * time.Second
)

// A clipboard is the CLIPBOARD selection as the ICCCM (section 2) has it: the
// text lives with its owner, who hands it out on request.
type clipboard struct {
	conn  *x11.Conn
	own   xproto.Window
	stop  func()
	atoms clipboardAtoms

	mu      sync.Mutex
	owned   bool
	since   xproto.Timestamp
	text    []byte
	waiting []*waiter
}

type clipboardAtoms struct {
	clipboard, targets, timestamp, utf8, text, plain, plainUTF8, incr, data xproto.Atom
}

// A waiter is told of events until its channel is full.
type waiter struct {
	match  func(xgb.Event) bool
	events chan xgb.Event
}

func newClipboard(conn *x11.Conn, own xproto.Window) (*clipboard, error) {
	c := &clipboard{conn: conn, own: own}
	for name, atom := range map[string]*xproto.Atom{
		"CLIPBOARD": &c.atoms.clipboard, "TARGETS": &c.atoms.targets, "TIMESTAMP": &c.atoms.timestamp,
		"UTF8_STRING": &c.atoms.utf8, "TEXT": &c.atoms.text, "text/plain": &c.atoms.plain,
		"text/plain;charset=utf-8": &c.atoms.plainUTF8, "INCR": &c.atoms.incr, "_DESKTOP_AGENT_CLIPBOARD": &c.atoms.data,
	} {
		var err error
		if *atom, err = conn.Atom(name); err != nil {
			return nil, err
		}
	}
	if err := conn.Extension("XFIXES"); err != nil {
		return nil, err
	}
	if _, err := xfixes.QueryVersion(conn.Conn, 5, 0).Reply(); err != nil {
		return nil, fmt.Errorf("XFIXES: %w", err)
	}
	err := xfixes.SelectSelectionInputChecked(conn.Conn, own, c.atoms.clipboard, xfixes.SelectionEventMaskSetSelectionOwner).Check()
	if err != nil {
		return nil, fmt.Errorf("clipboard: %w", err)
	}
	c.stop = conn.Listen(c.handle)
	return c, nil
}

func (c *clipboard) close() { c.stop() }

// expect returns a channel that gets the next events that match.
func (c *clipboard) expect(match func(xgb.Event) bool) (events <-chan xgb.Event, cancel func()) {
	w := &waiter{match: match, events: make(chan xgb.Event, 64)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, w)
	return w.events, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.waiting = slices.DeleteFunc(c.waiting, func(e *waiter) bool { return e == w })
	}
}

// next waits for an event of a channel of expect.
func (c *clipboard) next(ctx context.Context, events <-chan xgb.Event) (xgb.Event, error) {
	select {
	case e := <-events:
		return e, nil
	case <-c.conn.Closed():
		return nil, x11.ErrNoDisplay
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// handle serves the clipboard while it is ours.
func (c *clipboard) handle(e xgb.Event) {
	c.mu.Lock()
	for _, w := range c.waiting {
		if w.match(e) {
			select {
			case w.events <- e:
			default:
			}
		}
	}
	c.mu.Unlock()
	switch e := e.(type) {
	case xproto.SelectionRequestEvent:
		if e.Owner == c.own && e.Selection == c.atoms.clipboard {
			c.serve(e)
		}
	case xproto.SelectionClearEvent:
		if e.Owner == c.own && e.Selection == c.atoms.clipboard {
			c.mu.Lock()
			c.owned, c.text = false, nil
			c.mu.Unlock()
		}
	}
}

// serve answers a request for the text. A refusal is an answer with no property.
func (c *clipboard) serve(e xproto.SelectionRequestEvent) {
	property := e.Property
	if property == xproto.AtomNone {
		property = e.Target // as obsolete clients want it
	}
	if !c.convert(e, property) {
		property = xproto.AtomNone
	}
	notify := xproto.SelectionNotifyEvent{Time: e.Time, Requestor: e.Requestor, Selection: e.Selection, Target: e.Target, Property: property}
	xproto.SendEvent(c.conn.Conn, false, e.Requestor, 0, string(notify.Bytes()))
}

// convert writes what is asked for to the property, and reports whether it can.
func (c *clipboard) convert(e xproto.SelectionRequestEvent, property xproto.Atom) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.owned || e.Time != xproto.TimeCurrentTime && int32(e.Time-c.since) < 0 {
		return false
	}
	switch e.Target {
	case c.atoms.targets:
		list := []xproto.Atom{c.atoms.targets, c.atoms.timestamp, c.atoms.utf8, c.atoms.plainUTF8, c.atoms.text, c.atoms.plain}
		if _, ok := latin1(c.text); ok {
			list = append(list, xproto.AtomString)
		}
		var data []byte
		for _, atom := range list {
			data = binary.LittleEndian.AppendUint32(data, uint32(atom))
		}
		return c.put(e.Requestor, property, xproto.AtomAtom, 32, data)
	case c.atoms.timestamp:
		return c.put(e.Requestor, property, xproto.AtomInteger, 32, binary.LittleEndian.AppendUint32(nil, uint32(c.since)))
	case c.atoms.text:
		return c.put(e.Requestor, property, c.atoms.utf8, 8, c.text)
	case c.atoms.utf8, c.atoms.plainUTF8, c.atoms.plain:
		return c.put(e.Requestor, property, e.Target, 8, c.text)
	case xproto.AtomString:
		text, ok := latin1(c.text)
		return ok && c.put(e.Requestor, property, e.Target, 8, text)
	}
	return false
}

// latin1 encodes text for the target STRING, which is ISO 8859-1.
func latin1(text []byte) ([]byte, bool) {
	var out []byte
	for _, r := range string(text) {
		if r > 0xff || r == utf8.RuneError {
			return nil, false
		}
		out = append(out, byte(r))
	}
	return out, true
}

// put writes a property of the program that asks. All that an action can put on
// the clipboard fits into one: a request has room for 256 KiB at least.
func (c *clipboard) put(w xproto.Window, property, kind xproto.Atom, format byte, data []byte) bool {
	return xproto.ChangePropertyChecked(c.conn.Conn, xproto.PropModeReplace, w, property, kind, format,
		uint32(len(data)/int(format/8)), data).Check() == nil
}

// set makes the text the clipboard's.
func (c *clipboard) set(ctx context.Context, text string) error {
	now, err := c.now(ctx)
	if err != nil {
		return fmt.Errorf("clipboard: %w", err)
	}
	c.mu.Lock()
	c.owned, c.since, c.text = true, now, []byte(text)
	c.mu.Unlock()
	if err := xproto.SetSelectionOwnerChecked(c.conn.Conn, c.own, c.atoms.clipboard, now).Check(); err != nil {
		return fmt.Errorf("clipboard: %w", err)
	}
	owner, err := xproto.GetSelectionOwner(c.conn.Conn, c.atoms.clipboard).Reply()
	if err != nil {
		return fmt.Errorf("clipboard: %w", err)
	}
	if owner.Owner != c.own {
		return errors.New("clipboard: another program took it at the same moment: try again")
	}
	return nil
}

// now returns the server's time, which comes with the change of a property.
func (c *clipboard) now(ctx context.Context) (xproto.Timestamp, error) {
	ctx, cancel := context.WithTimeout(ctx, clipboardWait)
	defer cancel()
	events, stop := c.expect(func(e xgb.Event) bool {
		p, ok := e.(xproto.PropertyNotifyEvent)
		return ok && p.Window == c.own && p.Atom == c.atoms.timestamp
	})
	defer stop()
	xproto.ChangeProperty(c.conn.Conn, xproto.PropModeReplace, c.own, c.atoms.timestamp, xproto.AtomInteger, 32, 0, nil)
	e, err := c.next(ctx, events)
	if err != nil {
		return 0, fmt.Errorf("server time: %w", err)
	}
	return e.(xproto.PropertyNotifyEvent).Time, nil
}

// get reads the clipboard's text.
func (c *clipboard) get(ctx context.Context) (string, error) {
	c.mu.Lock()
	owned, text := c.owned, string(c.text)
	c.mu.Unlock()
	if owned {
		return text, nil
	}
	ctx, cancel := context.WithTimeout(ctx, clipboardWait)
	defer cancel()
	for _, target := range []xproto.Atom{c.atoms.utf8, c.atoms.plainUTF8, xproto.AtomString} {
		data, ok, err := c.request(ctx, target)
		switch {
		case err != nil:
			return "", fmt.Errorf("clipboard: %w", err)
		case !ok:
			continue
		case target == xproto.AtomString:
			data = []byte(decodeLatin1(data))
		}
		return strings.ToValidUTF8(string(data), "�"), nil
	}
	return "", errors.New("clipboard: there is no text on it")
}

func decodeLatin1(data []byte) string {
	runes := make([]rune, len(data))
	for i, b := range data {
		runes[i] = rune(b)
	}
	return string(runes)
}

// request asks the owner for the clipboard in one form. ok is false if the
// owner does not have that.
func (c *clipboard) request(ctx context.Context, target xproto.Atom) (data []byte, ok bool, err error) {
	now, err := c.now(ctx)
	if err != nil {
		return nil, false, err
	}
	events, stop := c.expect(func(e xgb.Event) bool {
		switch e := e.(type) {
		case xproto.SelectionNotifyEvent:
			return e.Requestor == c.own && e.Selection == c.atoms.clipboard && e.Target == target && e.Time == now
		case xproto.PropertyNotifyEvent:
			return e.Window == c.own && e.Atom == c.atoms.data && e.State == xproto.PropertyNewValue
		}
		return false
	})
	defer stop()
	xproto.DeleteProperty(c.conn.Conn, c.own, c.atoms.data)
	xproto.ConvertSelection(c.conn.Conn, c.own, c.atoms.clipboard, target, c.atoms.data, now)
	for {
		e, err := c.next(ctx, events)
		if err != nil {
			return nil, false, fmt.Errorf("the program that owns it does not answer: %w", err)
		}
		answer, isAnswer := e.(xproto.SelectionNotifyEvent)
		if !isAnswer {
			continue // the property is written before the answer
		}
		if answer.Property == xproto.AtomNone {
			return nil, false, nil
		}
		break
	}
	data, kind, err := c.take()
	if err != nil || kind != c.atoms.incr {
		return data, err == nil, err
	}
	return c.collect(ctx, events)
}

// collect reads text that comes in pieces.
func (c *clipboard) collect(ctx context.Context, events <-chan xgb.Event) ([]byte, bool, error) {
	var all bytes.Buffer
	for {
		if _, err := c.next(ctx, events); err != nil {
			return nil, false, fmt.Errorf("the program that owns it stopped in the middle: %w", err)
		}
		piece, kind, err := c.take()
		switch {
		case err != nil:
			return nil, false, err
		case kind == xproto.AtomNone:
			continue // an event of the piece before
		case len(piece) == 0:
			return all.Bytes(), true, nil
		}
		if all.Write(piece); all.Len() > clipboardLimit {
			return nil, false, errTooLong
		}
	}
}

var errTooLong = fmt.Errorf("it has more than %d MiB of text: select less", clipboardLimit>>20)

// take reads the property that the owner writes to, and deletes it, which asks
// for the next piece.
func (c *clipboard) take() (data []byte, kind xproto.Atom, err error) {
	r, err := xproto.GetProperty(c.conn.Conn, true, c.own, c.atoms.data, xproto.GetPropertyTypeAny, 0, clipboardLimit/4).Reply()
	if err != nil {
		return nil, 0, err
	}
	if r.BytesAfter > 0 {
		xproto.DeleteProperty(c.conn.Conn, c.own, c.atoms.data)
		return nil, 0, errTooLong
	}
	return r.Value, r.Type, nil
}

func (x *x11Backend) setClipboard(ctx context.Context, text string) error {
	return x.clip.set(ctx, text)
}

// copy waits until the clipboard has a new owner, or the same one again: XFIXES
// tells of both. A program that has nothing selected leaves it alone.
func (x *x11Backend) copy(ctx context.Context, trigger func() error) (string, error) {
	events, stop := x.clip.expect(func(e xgb.Event) bool {
		n, ok := e.(xfixes.SelectionNotifyEvent)
		return ok && n.Selection == x.clip.atoms.clipboard
	})
	defer stop()
	if err := trigger(); err != nil {
		return "", err
	}
	limit, cancel := context.WithTimeout(ctx, clipboardWait)
	defer cancel()
	if _, err := x.clip.next(limit, events); err != nil {
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			return "", errors.New("copy: ctrl+c was pressed, but the program put nothing on the clipboard: select something first, or use the program's menu")
		}
		return "", fmt.Errorf("copy: %w", err)
	}
	return x.clip.get(ctx)
}

// paste waits until somebody has fetched the text, if it is ours; another
// owner's requests cannot be seen.
func (x *x11Backend) paste(ctx context.Context, trigger func() error) error {
	x.clip.mu.Lock()
	owned := x.clip.owned
	x.clip.mu.Unlock()
	events, stop := x.clip.expect(func(e xgb.Event) bool {
		r, ok := e.(xproto.SelectionRequestEvent)
		return ok && r.Selection == x.clip.atoms.clipboard && r.Target != x.clip.atoms.targets && r.Target != x.clip.atoms.timestamp
	})
	defer stop()
	if err := trigger(); err != nil || !owned {
		return err
	}
	limit, cancel := context.WithTimeout(ctx, clipboardWait)
	defer cancel()
	if _, err := x.clip.next(limit, events); err != nil {
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			return errors.New("paste: ctrl+v was pressed, but no program took the text: click into a text field first (in terminals press ctrl, shift and v)")
		}
		return fmt.Errorf("paste: %w", err)
	}
	return nil
}
