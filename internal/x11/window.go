//go:build unix

package x11

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"unicode/utf8"

	"github.com/jezek/xgb/res"
	"github.com/jezek/xgb/xproto"
)

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
			return Text(value)
		}
	}
	return ""
}

// Text returns the text of a property, which is in UTF-8 or, in old programs,
// in Latin-1.
func Text(value []byte) string {
	value = bytes.TrimRight(value, "\x00")
	if utf8.Valid(value) {
		return string(value)
	}
	runes := make([]rune, len(value))
	for i, b := range value {
		runes[i] = rune(b)
	}
	return string(runes)
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

// Select asks for more kinds of events of a window, beside those asked for
// before over this connection.
func (c *Conn) Select(w xproto.Window, mask uint32) error {
	c.selecting.Lock()
	defer c.selecting.Unlock()
	reply, err := xproto.GetWindowAttributes(c.Conn, w).Reply()
	if err != nil {
		return fmt.Errorf("select events: %w", err)
	}
	if reply.YourEventMask&mask == mask {
		return nil
	}
	return xproto.ChangeWindowAttributesChecked(c.Conn, w, xproto.CwEventMask, []uint32{reply.YourEventMask | mask}).Check()
}

// AtomName returns the name of an atom, which is looked up once; "" for none.
func (c *Conn) AtomName(atom xproto.Atom) string {
	c.mu.Lock()
	name, ok := c.names[atom]
	c.mu.Unlock()
	if ok || atom == 0 {
		return name
	}
	reply, err := xproto.GetAtomName(c.Conn, atom).Reply()
	if err != nil {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names[atom] = reply.Name
	return reply.Name
}

// Owner returns what the windows of one client have in common: the part of
// their IDs that tells clients apart.
func (c *Conn) Owner(w xproto.Window) uint32 {
	return uint32(w) &^ xproto.Setup(c.Conn).ResourceIdMask
}

// HiddenWindow makes a window that is never shown, to own a selection and to have
// properties.
func (c *Conn) HiddenWindow() (xproto.Window, error) {
	w, err := xproto.NewWindowId(c.Conn)
	if err != nil {
		return 0, fmt.Errorf("window: %w", err)
	}
	err = xproto.CreateWindowChecked(c.Conn, 0, w, c.Root, -10, -10, 1, 1, 0, xproto.WindowClassInputOnly,
		0, xproto.CwOverrideRedirect|xproto.CwEventMask, []uint32{1, xproto.EventMaskPropertyChange}).Check()
	if err != nil {
		return 0, fmt.Errorf("window: %w", err)
	}
	return w, nil
}

// PID returns the process that made a window, as the X server knows it from the kernel, or
// else as the window says; 0 if neither does. It asks the extension X-Resource.
func (c *Conn) PID(w xproto.Window) int {
	const localPID = res.ClientIdMaskLocalClientPID
	known, err := res.QueryClientIds(c.Conn, 1, []res.ClientIdSpec{{Client: uint32(w), Mask: localPID}}).Reply()
	if err == nil {
		for _, id := range known.Ids {
			if id.Spec.Mask&localPID != 0 && len(id.Value) > 0 && id.Value[0] != 0 {
				return int(id.Value[0])
			}
		}
	}
	ids, err := c.Cardinals(w, "_NET_WM_PID")
	if err != nil || len(ids) == 0 {
		return 0
	}
	return int(ids[0])
}
