//go:build unix && !darwin

package screen

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"slices"
	"strings"

	"desktop-agent/internal/x11"

	"github.com/jezek/xgb/res"
	"github.com/jezek/xgb/xproto"
)

// smallestPopup is how wide and tall an unmanaged window must be, in pixels, to
// be something to look at and no program's helper window.
const smallestPopup = 8

// windows lists the windows. Each round of requests is sent as a whole before
// the first answer is read.
func (d *display) windows() ([]Window, error) {
	managed, err := d.conn.Clients()
	if err != nil {
		return nil, fmt.Errorf("list of windows: %w", d.lost(err))
	}
	active, err := d.conn.Active()
	if err != nil {
		return nil, fmt.Errorf("active window: %w", d.lost(err))
	}
	ask, err := d.asker()
	if err != nil {
		return nil, d.lost(err)
	}
	asked := make([]questions, len(managed))
	for i, w := range managed {
		asked[i] = ask.about(w)
	}
	popups, err := d.popups(managed)
	if err != nil {
		return nil, d.lost(err)
	}
	for _, w := range popups {
		asked = append(asked, ask.about(w))
	}
	desktop := image.Rect(0, 0, 1<<15, 1<<15)
	list := make([]Window, 0, len(asked))
	for i, q := range asked {
		w, ok := q.answers()
		if w.Popup = i >= len(managed); w.Popup {
			visible := w.Box.Intersect(desktop)
			ok = ok && visible.Dx() >= smallestPopup && visible.Dy() >= smallestPopup
		}
		if ok {
			w.Focused = xproto.Window(w.ID) == active
			list = append(list, w)
		}
	}
	return list, d.lost(nil)
}

// popups returns the windows on the screen that are not managed and are not
// the frames of managed ones, bottom to top.
func (d *display) popups(managed []xproto.Window) ([]xproto.Window, error) {
	tree, err := xproto.QueryTree(d.conn.Conn, d.conn.Root).Reply()
	if err != nil {
		return nil, fmt.Errorf("tree of windows: %w", err)
	}
	attributes := make([]xproto.GetWindowAttributesCookie, len(tree.Children))
	for i, w := range tree.Children {
		attributes[i] = xproto.GetWindowAttributes(d.conn.Conn, w)
	}
	frames := d.frames(managed)
	var list []xproto.Window
	for i, w := range tree.Children {
		a, err := attributes[i].Reply()
		if err == nil && a.OverrideRedirect && a.MapState == xproto.MapStateViewable &&
			a.Class == xproto.WindowClassInputOutput && !frames[w] {
			list = append(list, w)
		}
	}
	return list, nil
}

// frames returns the top-level windows that hold the given ones.
func (d *display) frames(windows []xproto.Window) map[xproto.Window]bool {
	frames := map[xproto.Window]bool{}
	for level := slices.Clone(windows); len(level) > 0; {
		parents := make([]xproto.QueryTreeCookie, len(level))
		for i, w := range level {
			parents[i] = xproto.QueryTree(d.conn.Conn, w)
		}
		var next []xproto.Window
		for i, w := range level {
			t, err := parents[i].Reply()
			switch {
			case err != nil: // gone
			case t.Parent == d.conn.Root || t.Parent == 0:
				frames[w] = true
			default:
				next = append(next, t.Parent)
			}
		}
		level = next
	}
	return frames
}

// An asker asks many things of many windows at once.
type asker struct {
	display   *display
	atoms     map[string]xproto.Atom
	processes map[uint32]int
}

func (d *display) asker() (asker, error) {
	a := asker{display: d, atoms: map[string]xproto.Atom{}, processes: d.processes()}
	for _, name := range []string{"_NET_WM_NAME", "WM_NAME", "WM_CLASS", "_NET_WM_PID", "_NET_WM_WINDOW_TYPE"} {
		atom, err := d.conn.Atom(name)
		if err != nil {
			return a, err
		}
		a.atoms[name] = atom
	}
	return a, nil
}

// processes returns the process of each client of the server, by the client's
// number (see [x11.Conn.Owner]), as the system knows it: a program that runs in
// a container tells another number of itself.
func (d *display) processes() map[uint32]int {
	pids := map[uint32]int{}
	if !d.hasClients {
		return pids
	}
	everyone := []res.ClientIdSpec{{Client: 0, Mask: res.ClientIdMaskLocalClientPID}}
	reply, err := res.QueryClientIds(d.conn.Conn, 1, everyone).Reply()
	if err != nil {
		return pids
	}
	for _, id := range reply.Ids {
		if len(id.Value) == 1 && id.Value[0] > 1 {
			pids[d.conn.Owner(xproto.Window(id.Spec.Client))] = int(id.Value[0])
		}
	}
	return pids
}

// questions are requests about one window that are on their way.
type questions struct {
	asker
	window     xproto.Window
	geometry   xproto.GetGeometryCookie
	origin     xproto.TranslateCoordinatesCookie
	attributes xproto.GetWindowAttributesCookie
	properties map[string]xproto.GetPropertyCookie
}

// about sends all questions about a window.
func (a asker) about(w xproto.Window) questions {
	conn := a.display.conn
	q := questions{asker: a, window: w, properties: map[string]xproto.GetPropertyCookie{}}
	q.geometry = xproto.GetGeometry(conn.Conn, xproto.Drawable(w))
	q.origin = xproto.TranslateCoordinates(conn.Conn, w, conn.Root, 0, 0)
	q.attributes = xproto.GetWindowAttributes(conn.Conn, w)
	for name, atom := range a.atoms {
		q.properties[name] = xproto.GetProperty(conn.Conn, false, w, atom, xproto.GetPropertyTypeAny, 0, 1<<12)
	}
	return q
}

// answers waits for the answers; ok is false for a window that is gone.
func (q questions) answers() (w Window, ok bool) {
	conn, value := q.display.conn, map[string][]byte{}
	for name, cookie := range q.properties {
		if reply, err := cookie.Reply(); err == nil {
			value[name] = reply.Value
		}
	}
	w = Window{ID: uint32(q.window), PID: q.processes[conn.Owner(q.window)]}
	if pid := value["_NET_WM_PID"]; w.PID == 0 && len(pid) == 4 {
		w.PID = int(binary.LittleEndian.Uint32(pid))
	}
	w.Title = x11.Text(value["_NET_WM_NAME"])
	if w.Title == "" {
		w.Title = x11.Text(value["WM_NAME"])
	}
	if parts := bytes.Split(value["WM_CLASS"], []byte{0}); len(parts) > 1 {
		w.Class = x11.Text(parts[1])
	}
	if kind := value["_NET_WM_WINDOW_TYPE"]; len(kind) >= 4 {
		name := conn.AtomName(xproto.Atom(binary.LittleEndian.Uint32(kind)))
		w.Type = strings.ToLower(strings.TrimPrefix(name, "_NET_WM_WINDOW_TYPE_"))
	}
	geometry, err1 := q.geometry.Reply()
	origin, err2 := q.origin.Reply()
	attributes, err3 := q.attributes.Reply()
	if err1 != nil || err2 != nil || err3 != nil {
		return w, false
	}
	at := image.Pt(int(origin.DstX), int(origin.DstY))
	w.Box = image.Rectangle{Min: at, Max: at.Add(image.Pt(int(geometry.Width), int(geometry.Height)))}
	w.Hidden = attributes.MapState != xproto.MapStateViewable
	return w, true
}
