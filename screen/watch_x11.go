//go:build unix && !darwin

package screen

import (
	"fmt"
	"image"
	"slices"
	"sync"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/damage"
	"github.com/jezek/xgb/xfixes"
	"github.com/jezek/xgb/xproto"
)

// A watch notes what happens on the screen, all the time: also while nobody
// waits, for what blinks is only known by having been seen before.
type watch struct {
	mu      sync.Mutex
	last    time.Time // of the last event that counts
	events  int       // how many counted
	drawn   int       // how many of these were drawing
	closed  int       // menus that closed
	blinks  blinks
	strokes []stroke
	shown   []xproto.Window        // top-level windows that appeared; who waits takes them away
	cursor  xproto.Atom            // name of the pointer's image
	manager uint32                 // client that the window manager is, whose frames are no menus; 0 if not known
	menus   map[xproto.Window]bool // windows that are shown and not managed
}

// A stroke is a place that was drawn, and when.
type stroke struct {
	box image.Rectangle
	at  time.Time
}

// maxStrokes is how many strokes are kept in mind.
const maxStrokes = 256

// startWatch begins to listen.
func (d *display) startWatch() (*watch, func(), error) {
	w := &watch{menus: map[xproto.Window]bool{}}
	names := map[string]xproto.Atom{"_NET_ACTIVE_WINDOW": 0, "_NET_CLIENT_LIST": 0}
	for name := range names {
		atom, err := d.conn.Atom(name)
		if err != nil {
			return nil, nil, err
		}
		names[name] = atom
	}
	own := d.conn.Owner
	self := xproto.Setup(d.conn.Conn).ResourceIdBase
	stop := d.conn.Listen(func(e xgb.Event) {
		now := time.Now()
		w.mu.Lock()
		defer w.mu.Unlock()
		switch e := e.(type) {
		case damage.NotifyEvent:
			w.draw(rectangle(e.Area), now)
		case xfixes.CursorNotifyEvent:
			w.cursor = e.Name
		case xproto.PropertyNotifyEvent:
			if e.Window == d.conn.Root && (e.Atom == names["_NET_ACTIVE_WINDOW"] || e.Atom == names["_NET_CLIENT_LIST"]) {
				w.happened(now)
			}
		case xproto.CreateNotifyEvent:
			// Tiny windows are helpers, made also by the window manager when pinged.
			if e.Parent == d.conn.Root && own(e.Window) != self && e.Width > 1 && e.Height > 1 {
				w.happened(now)
			}
		case xproto.MapNotifyEvent:
			if e.Event == d.conn.Root {
				w.happened(now)
				w.shown = append(w.shown, e.Window)
				if e.OverrideRedirect && own(e.Window) != w.manager {
					w.menus[e.Window] = true
				}
			}
		case xproto.UnmapNotifyEvent:
			if e.Event == d.conn.Root {
				w.happened(now)
				if w.menus[e.Window] { // GTK tells of it twice
					w.closed++
				}
				delete(w.menus, e.Window)
				w.shown = slices.DeleteFunc(w.shown, func(id xproto.Window) bool { return id == e.Window })
			}
		case xproto.ConfigureNotifyEvent:
			if e.Event == d.conn.Root {
				w.happened(now)
			}
		}
	})
	if err := d.subscribe(); err != nil {
		stop()
		return nil, nil, err
	}
	return w, stop, nil
}

// subscribe asks the server for the events that a watch wants.
func (d *display) subscribe() error {
	if err := d.conn.Select(d.conn.Root, xproto.EventMaskSubstructureNotify|xproto.EventMaskPropertyChange); err != nil {
		return err
	}
	if d.hasCursor {
		err := xfixes.SelectCursorInputChecked(d.conn.Conn, d.conn.Root, xfixes.CursorNotifyMaskDisplayCursor).Check()
		if err != nil {
			return fmt.Errorf("cursor events: %w", err)
		}
	}
	if !d.hasDamage {
		return nil // pictures are compared instead
	}
	id, err := damage.NewDamageId(d.conn.Conn)
	if err != nil {
		return err
	}
	if err := damage.CreateChecked(d.conn.Conn, id, xproto.Drawable(d.conn.Root), damage.ReportLevelRawRectangles).Check(); err != nil {
		return fmt.Errorf("damage events: %w", err)
	}
	return nil
}

func rectangle(r xproto.Rectangle) image.Rectangle {
	at := image.Pt(int(r.X), int(r.Y))
	return image.Rectangle{Min: at, Max: at.Add(image.Pt(int(r.Width), int(r.Height)))}
}

// happened notes an event that counts.
func (w *watch) happened(now time.Time) {
	w.last = now
	w.events++
}

// draw notes that something was drawn.
func (w *watch) draw(box image.Rectangle, now time.Time) {
	if len(w.strokes) == maxStrokes {
		w.strokes = append(w.strokes[:0], w.strokes[maxStrokes/2:]...)
	}
	w.strokes = append(w.strokes, stroke{box, now})
	if w.blinks.seen(box, now) {
		return
	}
	w.happened(now)
	w.drawn++
}

// A snapshot is what a watch knows at one moment.
type snapshot struct {
	last                  time.Time
	events, drawn, closed int
	cursor                xproto.Atom
}

func (w *watch) snapshot() snapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	return snapshot{w.last, w.events, w.drawn, w.closed, w.cursor}
}

// appeared returns the windows that appeared since the last call.
func (w *watch) appeared() []xproto.Window {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.shown
	w.shown = nil
	return list
}

// open returns those of some windows that are shown and not managed: menus, and tips.
func (w *watch) open(list []xproto.Window) (menus []xproto.Window) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range list {
		if w.menus[id] {
			menus = append(menus, id)
		}
	}
	return menus
}

// managedBy notes which client the window manager is.
func (w *watch) managedBy(owner uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.manager = owner
}

// painted tells whether most of a box was drawn since a time. What was drawn
// twice counts twice: it is a hint, not a proof.
func (w *watch) painted(box image.Rectangle, since time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	pixels := 0
	for _, s := range w.strokes {
		if !s.at.Before(since) {
			overlap := s.box.Intersect(box)
			pixels += overlap.Dx() * overlap.Dy()
		}
	}
	return 2*pixels >= box.Dx()*box.Dy()
}

// Blinking: what is drawn again and again, in the same low place, at long and even
// intervals: a caret, for which some programs draw the whole line, and LibreOffice Impress
// all of a text that is marked, or a clock.
// Carets are often seen longer than not seen, so every second interval counts. A
// spinner is faster: it says that work is going on.
const (
	blinkHeight = 512 // pixels at most
	blinkBurst  = 100 * time.Millisecond
	blinkFast   = 250 * time.Millisecond
	blinkSlow   = 2500 * time.Millisecond
	blinkPlaces = 64 // places that are kept in mind
	blinkMisses = 3  // times in a row that what blinks may be late, on a machine that is busy
)

// blinks knows the places that blink.
type blinks struct {
	places map[image.Rectangle]*blink
}

// A blink is one place and the last times it was drawn; drawing within
// blinkBurst is one time.
type blink struct {
	began  [4]time.Time // newest first
	latest time.Time
	steady bool // the newest bursts came when they were to be expected
	missed int  // how many of the newest did not
}

// seen notes that a place was drawn, and tells whether it blinks.
func (b *blinks) seen(box image.Rectangle, now time.Time) bool {
	if box.Dy() > blinkHeight {
		return false
	}
	place := b.places[box]
	if place == nil {
		b.forget()
		b.places[box] = &blink{began: [4]time.Time{now}, latest: now}
		return false
	}
	if now.Sub(place.latest) < blinkBurst {
		place.latest = now
		return place.steady && now.Sub(place.began[0]) < blinkBurst
	}
	place.began = [4]time.Time{now, place.began[0], place.began[1], place.began[2]}
	place.latest = now
	if even(place.began) {
		place.steady, place.missed = true, 0
	} else {
		place.missed++
		last := now.Sub(place.began[1])
		place.steady = place.steady && place.missed <= blinkMisses && last >= blinkFast && last <= blinkSlow
	}
	return place.steady
}

// even tells whether the last interval and the second before it are
// alike, and none is short or long.
func even(t [4]time.Time) bool {
	if t[3].IsZero() {
		return false
	}
	a, b, c := t[0].Sub(t[1]), t[1].Sub(t[2]), t[2].Sub(t[3])
	return min(a, b, c) >= blinkFast && max(a, b, c) <= blinkSlow && 8*max(a, c) <= 9*min(a, c)
}

// forget makes room for one more place.
func (b *blinks) forget() {
	if b.places == nil {
		b.places = map[image.Rectangle]*blink{}
	}
	for len(b.places) >= blinkPlaces {
		var oldest image.Rectangle
		var at time.Time
		for box, place := range b.places {
			if at.IsZero() || place.latest.Before(at) {
				oldest, at = box, place.latest
			}
		}
		delete(b.places, oldest)
	}
}
