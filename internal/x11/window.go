//go:build unix

package x11

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"slices"
	"sync"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// ErrNoPing reports that a window does not take part in the _NET_WM_PING
// protocol, so that its program cannot be asked whether it is alive.
var ErrNoPing = errors.New("window does not answer pings")

// Property returns the raw value of a window's property; nil if it has none.
func (c *Conn) Property(w xproto.Window, name string) ([]byte, error) {
	atom, err := c.Atom(name)
	if err != nil {
		return nil, err
	}
	reply, err := xproto.GetProperty(c.Conn, false, w, atom, xproto.GetPropertyTypeAny, 0, 1<<20).Reply()
	if err != nil {
		return nil, fmt.Errorf("property %s: %w", name, err)
	}
	return reply.Value, nil
}

// Cardinals returns a property that is a list of 32-bit numbers.
func (c *Conn) Cardinals(w xproto.Window, name string) ([]uint32, error) {
	value, err := c.Property(w, name)
	if err != nil {
		return nil, err
	}
	list := make([]uint32, len(value)/4)
	for i := range list {
		list[i] = binary.LittleEndian.Uint32(value[4*i:])
	}
	return list, nil
}

// Clients returns the windows that the window manager manages, bottom to top
// in stacking order where it tells.
func (c *Conn) Clients() ([]xproto.Window, error) {
	ids, err := c.Cardinals(c.Root, "_NET_CLIENT_LIST_STACKING")
	if err == nil && len(ids) == 0 {
		ids, err = c.Cardinals(c.Root, "_NET_CLIENT_LIST")
	}
	windows := make([]xproto.Window, len(ids))
	for i, id := range ids {
		windows[i] = xproto.Window(id)
	}
	return windows, err
}

// Active returns the window that has the window manager's focus, or 0.
func (c *Conn) Active() (xproto.Window, error) {
	ids, err := c.Cardinals(c.Root, "_NET_ACTIVE_WINDOW")
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return xproto.Window(ids[0]), nil
}

// Title returns a window's title in UTF-8.
func (c *Conn) Title(w xproto.Window) string {
	for _, name := range []string{"_NET_WM_NAME", "WM_NAME"} {
		if value, err := c.Property(w, name); err == nil && len(value) > 0 {
			return string(value)
		}
	}
	return ""
}

// Box returns a window's area without its frame, in pixels of the root window.
func (c *Conn) Box(w xproto.Window) (image.Rectangle, error) {
	geometry := xproto.GetGeometry(c.Conn, xproto.Drawable(w))
	origin := xproto.TranslateCoordinates(c.Conn, w, c.Root, 0, 0)
	g, err := geometry.Reply()
	if err != nil {
		return image.Rectangle{}, fmt.Errorf("geometry: %w", err)
	}
	o, err := origin.Reply()
	if err != nil {
		return image.Rectangle{}, fmt.Errorf("origin: %w", err)
	}
	at := image.Pt(int(o.DstX), int(o.DstY))
	return image.Rectangle{Min: at, Max: at.Add(image.Pt(int(g.Width), int(g.Height)))}, nil
}

// Ping asks the program of window w whether it has taken all input that was
// sent before, and waits for the answer. Events of a client arrive in order,
// so the answer says so. It returns nil when the program answered,
// [ErrNoPing] at once if it does not take part, and the context's error if no
// answer came in time. Input must have reached the server before the call: see
// [Conn.RoundTrip] of the connection that sent it.
func (c *Conn) Ping(ctx context.Context, w xproto.Window) error {
	protocols, err := c.Cardinals(w, "WM_PROTOCOLS")
	if err != nil {
		return err
	}
	ping, err := c.Atom("_NET_WM_PING")
	if err != nil {
		return err
	}
	if !slices.Contains(protocols, uint32(ping)) {
		return ErrNoPing
	}
	protocolsAtom, err := c.Atom("WM_PROTOCOLS")
	if err != nil {
		return err
	}
	if err := c.Select(c.Root, xproto.EventMaskSubstructureNotify); err != nil {
		return err
	}
	c.mu.Lock()
	c.pings++
	stamp := c.pings
	c.mu.Unlock()

	answered := make(chan struct{})
	once := sync.OnceFunc(func() { close(answered) })
	stop := c.Listen(func(e xgb.Event) {
		m, ok := e.(xproto.ClientMessageEvent)
		if ok && m.Type == protocolsAtom && len(m.Data.Data32) > 2 &&
			m.Data.Data32[0] == uint32(ping) && m.Data.Data32[1] == stamp && m.Data.Data32[2] == uint32(w) {
			once()
		}
	})
	defer stop()
	message := xproto.ClientMessageEvent{
		Format: 32, Window: w, Type: protocolsAtom,
		Data: xproto.ClientMessageDataUnionData32New([]uint32{uint32(ping), stamp, uint32(w), 0, 0}),
	}
	if err := xproto.SendEventChecked(c.Conn, false, w, 0, string(message.Bytes())).Check(); err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	return c.wait(ctx, answered)
}

// Select asks for more kinds of events of a window, beside those asked for
// before over this connection.
func (c *Conn) Select(w xproto.Window, mask uint32) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	reply, err := xproto.GetWindowAttributes(c.Conn, w).Reply()
	if err != nil {
		return fmt.Errorf("select events: %w", err)
	}
	if reply.YourEventMask&mask == mask {
		return nil
	}
	return xproto.ChangeWindowAttributesChecked(c.Conn, w, xproto.CwEventMask, []uint32{reply.YourEventMask | mask}).Check()
}
