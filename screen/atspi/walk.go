package atspi

import (
	"image"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	maxName     = 1000 // runes of a name or a description
	maxText     = 4000 // runes of one object's text
	maxChildren = 200  // of a container that says it has more than is shown: beyond, see grid.go
	menuProbes  = 4    // items of a closed menu that are looked at, in case it is open after all
	noLimit     = 1 << 30
)

// An object is what the walk learns about one accessible object.
type object struct {
	ref          reference
	parent       *object
	role         role
	states       stateSet
	name         string
	holding                      // what it holds
	naming                       // what it is for
	box          image.Rectangle // as the program tells
	placed       bool            // the box is known
	known        bool            // the role is known
	visible      bool            // its states say that it can be seen
	clips        bool            // it hides the parts of its children beyond its box
	scrollsDown  bool            // and has a scroll bar for that, which is not in the tree: of a web page
	scrollsRight bool
	children     []*object // some may be nil, or not visible
	before       int       // how many children a long list has before these, and after: see [Beyond]
	after        int
}

// A walk reads the objects of one program that can be seen.
//
// Every object is asked for its states first; only if it is shown, for the
// rest. So closed menus, hidden tabs and rows that are scrolled away cost one
// call each or none. Cache.GetItems, which has everything but boxes and texts
// in one answer, was measured and is not used: with GTK 3 it takes as long as
// this whole walk (13 ms of mousepad, 140 ms of LibreOffice Calc), as it has to
// tell of everything hidden too, exists only after a client has registered for
// events, and from then on makes programs slower by the events they send.
type walk struct {
	*pipe
	root     reference
	loose    bool // the toolkit does not tell what is showing
	qt       bool // the toolkit is Qt, which tells menus and plain texts in a way of its own
	chromium bool // the toolkit is Chromium, which takes seconds to tell what character is at a point
	maxNodes int
	windows  []*object

	strangers []*object // objects of other programs in this tree
	seen      map[reference]*object
	shown     int
}

// start asks for the windows of the program.
func (w *walk) start() {
	w.ask(w.root, accessible, "GetChildren", func(body []any) {
		for _, ref := range references(body) {
			if o := w.look(ref, nil); o != nil {
				w.windows = append(w.windows, o)
			}
		}
	})
}

// look examines an object that was not seen before. One that is of another
// program, such as a web page in a window, is left for later.
func (w *walk) look(ref reference, parent *object) *object {
	if w.seen[ref] != nil || w.shown >= w.maxNodes {
		return nil
	}
	o := &object{ref: ref, parent: parent}
	w.seen[ref] = o
	if ref.name != w.root.name {
		w.strangers = append(w.strangers, o)
	} else {
		w.examine(o)
	}
	return o
}

// examine asks for an object's states, and for the rest if it is shown.
func (w *walk) examine(o *object) {
	w.ask(o.ref, accessible, "GetState", func(body []any) {
		words, _ := first[[]uint32](body)
		o.states = newStateSet(words)
		// LibreOffice says of its input line that it is gone, and of nothing else.
		o.visible = o.states.shown(w.loose) || o.states.has(stateDefunct)
		switch {
		case o.visible && w.shown < w.maxNodes:
			w.shown++
			w.describe(o)
		case o.dropped(): // out of view in an open list: see dropDown
			w.called(o)
		}
	})
}

// dropped reports whether an object is an entry of a list that dropped down from a
// combo box.
func (o *object) dropped() bool {
	list := o.parent
	return list != nil && list.parent != nil && list.parent.role == roleComboBox && list.parent.states.has(stateExpanded)
}

// called asks for an object's name.
func (w *walk) called(o *object) {
	w.property(o.ref, accessible, "Name", func(v any) {
		o.name = w.nameIn(v)
		w.shorten(o)
	})
}

// shorten cuts off a name what is none, once it is known what the object is.
func (w *walk) shorten(o *object) {
	switch {
	case !w.chromium:
	case o.role == rolePageTab:
		o.name = memoryUsed.ReplaceAllString(o.name, "")
	case o.role == roleImage:
		o.name = strings.TrimSpace(strings.TrimSuffix(o.name, offer))
	}
}

// nameIn returns the name that a program told.
func (w *walk) nameIn(v any) string {
	name, _ := v.(string)
	if w.loose && typeName.MatchString(name) {
		return "" // GTK 4 calls what has no name by its type
	}
	return cut(strings.TrimSpace(name), maxName)
}

// identify asks what an object is, what it is called and where it is: in the same way for
// the tree and for one that is asked for alone, as these are compared.
func (w *walk) identify(o *object, then func()) {
	w.ask(o.ref, component, "GetExtents", func(body []any) {
		o.box, o.placed = rectangle(body)
	}, uint32(0))
	w.called(o)
	// The role comes last: the box is known when the children are asked for.
	w.ask(o.ref, accessible, "GetRole", func(body []any) {
		var number uint32
		number, o.known = first[uint32](body)
		o.role = role(number)
		w.shorten(o)
		w.unhide(o)
		then()
	})
}

// describe asks for all else about an object.
func (w *walk) describe(o *object) {
	w.identify(o, func() {
		w.descend(o)
		w.hold(o)
		w.call(o)
	})
}

// descend asks for an object's children.
func (w *walk) descend(o *object) {
	switch {
	case o.role == rolePassword:
	case o.states.has(stateManagesDescendants), o.role.tabular():
		w.property(o.ref, accessible, "ChildCount", func(v any) {
			switch n, _ := v.(int32); {
			case n <= 0:
			case n <= maxChildren:
				w.children(o, noLimit)
			case o.placed && o.role.tabular():
				w.grid(o, n)
			case o.placed:
				w.sample(o, int(n))
			}
		})
	case o.role == roleMenu && !o.states.open():
		w.children(o, menuProbes)
	default:
		w.children(o, noLimit)
	}
}

// unhide makes a menu of an item that opens one, where the toolkit tells it as an item:
// Qt does, with the items that open in a popup menu inside of it, also while it is closed.
func (w *walk) unhide(o *object) {
	if w.qt && o.role == roleMenuItem {
		w.property(o.ref, accessible, "ChildCount", func(v any) {
			if n, ok := v.(int32); ok && n > 0 {
				o.role = roleMenu
			}
		})
	}
}

// children asks for all children of an object and looks at the first of them,
// up to limit; and at the rest if one of these is shown.
func (w *walk) children(o *object, limit int) {
	w.ask(o.ref, accessible, "GetChildren", func(body []any) {
		refs := references(body)
		n := min(limit, len(refs))
		for _, ref := range refs[:n] {
			o.children = append(o.children, w.look(ref, o))
		}
		if n < len(refs) {
			w.probe(o, refs[n:])
		}
	})
}

// probe looks at the rest of an object's children once it is known that one of
// those before is shown.
func (w *walk) probe(o *object, rest []reference) {
	// Answers come in order, so this one comes after those of the children.
	w.ask(o.ref, accessible, "GetState", func([]any) {
		for _, c := range o.children {
			if c != nil && c.visible {
				for _, ref := range rest {
					o.children = append(o.children, w.look(ref, o))
				}
				return
			}
		}
	})
}

// cut bounds a text: programs may tell names of a million characters.
func cut(s string, limit int) string {
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit]) + "…"
}

// references reads a list of objects.
func references(body []any) []reference {
	list, _ := first[[]any](body)
	refs := make([]reference, 0, len(list))
	for _, v := range list {
		if r, ok := newReference(v); ok {
			refs = append(refs, r)
		}
	}
	return refs
}

// rectangle reads x, y, width and height. Toolkits tell a size of -1 or 0, or
// the smallest number there is, for what has no place on the screen.
func rectangle(body []any) (image.Rectangle, bool) {
	list, _ := first[[]any](body)
	if len(list) != 4 {
		return image.Rectangle{}, false
	}
	var n [4]int
	for i, v := range list {
		m, ok := v.(int32)
		if !ok || m < -maxCoordinate || m > maxCoordinate {
			return image.Rectangle{}, false
		}
		n[i] = int(m)
	}
	if n[2] < 0 || n[3] < 0 {
		return image.Rectangle{}, false
	}
	return image.Rectangle{Min: image.Pt(n[0], n[1]), Max: image.Pt(n[0]+n[2], n[1]+n[3])}, true
}

// memoryUsed matches what Chromium adds to the name of a tab behind all else, after some
// seconds, and changes then as it goes.
var memoryUsed = regexp.MustCompile(` - (?:High memory|Memory) usage - [0-9.,]+[\s\x{a0}]?[kKMGT]?B$`)

// offer is what Chromium tells as the name of a picture that has none, or behind it, where it
// is not of another language.
const offer = "To get missing image descriptions, open the context menu."

// typeName matches the names of the types of GTK's elements, such as "GtkTreeView".
var typeName = regexp.MustCompile(`^(Gtk|Adw)([A-Z][a-z0-9]+)+$`)

// maxCoordinate is more than any desktop has, in pixels.
const maxCoordinate = 1 << 17
