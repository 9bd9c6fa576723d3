//go:build unix

package x11

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

var (
	// ErrNoPing reports that a window does not take part in the _NET_WM_PING
	// protocol, so that its program cannot be asked whether it is alive.
	ErrNoPing = errors.New("window does not answer pings")

	// ErrGone reports that a window was closed or hidden before its program
	// answered.
	ErrGone = errors.New("window is gone")

	// ErrNoManager reports that no window manager runs, or none that can be
	// asked whether it has taken all input.
	ErrNoManager = errors.New("no window manager that answers")
)

// Ping asks the program of window w whether it has taken all input that was
// sent before, and waits for the answer. Events of a client arrive in order,
// so the answer says so. It returns nil when the program answered, [ErrNoPing]
// at once if it does not take part, [ErrGone] if the window goes away, and the
// context's error if no answer came in time. Input must have reached the
// program's queue before the call: see [Conn.RoundTrip] of the connection that
// sent it, and [Conn.PingManager].
func (c *Conn) Ping(ctx context.Context, w xproto.Window) error {
	ping, err := c.Atom("_NET_WM_PING")
	if err != nil {
		return err
	}
	protocols, err := c.Atom("WM_PROTOCOLS")
	if err != nil {
		return err
	}
	list, err := c.Cardinals(w, "WM_PROTOCOLS")
	if err != nil {
		return gone(err)
	}
	if !slices.Contains(list, uint32(ping)) {
		return ErrNoPing
	}
	// Answers go to the root window: EWMH names substructure, Qt 5 sends them to who
	// selects structure.
	if err := c.Select(c.Root, xproto.EventMaskStructureNotify|xproto.EventMaskSubstructureNotify); err != nil {
		return err
	}
	c.mu.Lock()
	c.pings++
	stamp := c.pings
	c.mu.Unlock()

	answer := make(chan error, 1)
	tell := func(err error) {
		select {
		case answer <- err:
		default:
		}
	}
	stop := c.Listen(func(e xgb.Event) {
		switch e := e.(type) {
		case xproto.ClientMessageEvent:
			if d := e.Data.Data32; e.Type == protocols && len(d) > 2 &&
				d[0] == uint32(ping) && d[1] == stamp && d[2] == uint32(w) {
				tell(nil)
			}
		case xproto.DestroyNotifyEvent:
			if e.Window == w {
				tell(ErrGone)
			}
		case xproto.UnmapNotifyEvent:
			if e.Window == w {
				tell(ErrGone)
			}
		}
	})
	defer stop()
	if err := c.Select(w, xproto.EventMaskStructureNotify); err != nil {
		return gone(err)
	}
	message := xproto.ClientMessageEvent{
		Format: 32, Window: w, Type: protocols,
		Data: xproto.ClientMessageDataUnionData32New([]uint32{uint32(ping), stamp, uint32(w), 0, 0}),
	}
	if err := xproto.SendEventChecked(c.Conn, false, w, 0, string(message.Bytes())).Check(); err != nil {
		return gone(fmt.Errorf("ping: %w", err))
	}
	return c.wait(ctx, answer)
}

// gone turns the error of a request about a window that does not exist into
// [ErrGone].
func gone(err error) error {
	if _, ok := errors.AsType[xproto.WindowError](err); ok {
		return ErrGone
	}
	return err
}

// PingManager returns once the window manager has handled everything that it
// was sent before. A window manager takes a click first and then hands it on to
// the program, so that a [Conn.Ping] alone could overtake the click. It asks for
// the frame extents of a window that is never shown, as EWMH provides:
// https://specifications.freedesktop.org/wm-spec/latest (_NET_REQUEST_FRAME_EXTENTS).
func (c *Conn) PingManager(ctx context.Context) error {
	const request = "_NET_REQUEST_FRAME_EXTENTS"
	asks, err := c.Atom(request)
	if err != nil {
		return err
	}
	extents, err := c.Atom("_NET_FRAME_EXTENTS")
	if err != nil {
		return err
	}
	if ok, err := c.managed(asks); err != nil || !ok {
		return errors.Join(err, ErrNoManager)
	}
	w, err := xproto.NewWindowId(c.Conn)
	if err != nil {
		return fmt.Errorf("window manager: %w", err)
	}
	answer := make(chan error, 1)
	once := sync.OnceFunc(func() { answer <- nil })
	stop := c.Listen(func(e xgb.Event) {
		if e, ok := e.(xproto.PropertyNotifyEvent); ok && e.Window == w && e.Atom == extents {
			once()
		}
	})
	defer stop()
	xproto.CreateWindow(c.Conn, 0, w, c.Root, -10, -10, 1, 1, 0, xproto.WindowClassInputOnly, 0,
		xproto.CwEventMask, []uint32{xproto.EventMaskPropertyChange})
	defer xproto.DestroyWindow(c.Conn, w)
	message := xproto.ClientMessageEvent{Format: 32, Window: w, Type: asks,
		Data: xproto.ClientMessageDataUnionData32New(make([]uint32, 5))}
	if err := xproto.SendEventChecked(c.Conn, false, c.Root,
		xproto.EventMaskSubstructureNotify|xproto.EventMaskSubstructureRedirect, string(message.Bytes())).Check(); err != nil {
		return fmt.Errorf("window manager: %w", err)
	}
	return c.wait(ctx, answer)
}

// managed tells whether a window manager is alive that supports a hint.
func (c *Conn) managed(hint xproto.Atom) (bool, error) {
	owner, err := c.Cardinals(c.Root, "_NET_SUPPORTING_WM_CHECK")
	if err != nil || len(owner) == 0 {
		return false, err
	}
	// The property outlives a window manager that crashed; its window does not.
	check, err := c.Property(xproto.Window(owner[0]), "_NET_SUPPORTING_WM_CHECK")
	if err != nil || len(check) < 4 || binary.LittleEndian.Uint32(check) != owner[0] {
		return false, nil
	}
	supported, err := c.Cardinals(c.Root, "_NET_SUPPORTED")
	return slices.Contains(supported, uint32(hint)), err
}

// wait returns what arrives at answer.
func (c *Conn) wait(ctx context.Context, answer <-chan error) error {
	select {
	case err := <-answer:
		return err
	case <-c.closed:
		return ErrNoDisplay
	case <-ctx.Done():
		return ctx.Err()
	}
}
