//go:build linux

package eyestest

import (
	"cmp"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"desktop-agent/screen"
	"desktop-agent/screen/atspi"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// artifacts names a folder that gets the picture and the list of each state.
const artifacts = "EYES_ARTIFACTS"

// An oracle tells what the pointer reaches, which was moved to a point of the
// screen. known is false where it cannot tell.
type oracle func(it item, p image.Point) (c chain, known bool)

// A chooser clicks what was read from the picture, of which no tree tells, and says what
// was chosen instead; "" if it is what was read. known is false where it cannot tell.
type chooser func(it item) (instead string, known bool)

// A state is what a screen was brought into, and what is known of it.
type state struct {
	name     string
	observed *screen.Observation // nil: as the screen is now
	oracle   oracle              // nil: GTK, then the bus
	chooser  chooser             // nil: of what was read from the picture nobody tells what a click there reaches
	says     []string            // texts that the list must hold: by the data that the program shows
	silent   []string            // texts that it must not hold: they are not on the screen
	only     func(item) bool     // which elements are judged; nil: all
	still    bool                // the pointer must not be moved
}

// A result is one row of the table.
type result struct {
	State                  string
	Places, Wrong, Unknown int  // places that were tried, reach something else, cannot be told
	Texts, Untrue          int  // texts that were compared, are not there
	Said, Unsaid           int  // texts that the data demands or forbids, and that are missing or there
	Marked, Listed         int  // controls that a person marked, and that are listed
	Bytes                  int  // of the list
	unread                 bool // there is no OCR: no text was compared
	moved                  bool // the marks are of another version of the program: none was counted
	problems               []string
}

// judge asks all questions about a state.
func (d *desk) judge(s state) {
	d.t.Helper()
	o := s.observed
	if o == nil {
		o = d.answered()
	}
	text := o.Text(0)
	list := items(o, text)
	r := &result{State: s.name, Bytes: len(text)}
	d.keep(s.name, o, text)
	require.True(d.t, showsWindow(o), "%s: there is no window, so nothing is judged", s.name)
	d.marks(s, list, text, r)
	d.facts(s, text, r)
	// What is read from the picture stands where it was read: it is not read again, but clicked.
	var seen []item
	for _, it := range list {
		if it.node != nil && it.node.Read {
			seen = append(seen, it)
		}
	}
	list = slices.DeleteFunc(list, func(i item) bool { return i.node != nil && i.node.Read })
	if s.only != nil {
		list = slices.DeleteFunc(list, func(i item) bool { return !s.only(i) })
	}
	d.texts(o, list, r)
	if !s.still {
		d.places(s, list, r)
		d.choose(s, seen, r)
		d.think()
	}
	report(d.t, r, fmt.Sprintf("%+v\n%s", o.Settled, text))
}

// showsWindow reports whether a window is on the screen: of an empty one nothing is wrong.
func showsWindow(o *screen.Observation) bool {
	return slices.ContainsFunc(o.Windows, func(w screen.Window) bool { return !w.Hidden && w.Box.Overlaps(o.Frame.Bounds()) })
}

func TestShowsWindow(t *testing.T) {
	box := image.Rect(10, 10, 200, 100)
	o := &screen.Observation{Frame: image.NewRGBA(image.Rect(0, 0, 640, 480))}
	assert.False(t, showsWindow(o))
	o.Windows = []screen.Window{{Box: box, Hidden: true}, {Box: box.Add(image.Pt(1000, 0))}}
	assert.False(t, showsWindow(o))
	o.Windows = append(o.Windows, screen.Window{Box: box})
	assert.True(t, showsWindow(o))
}

// think does nothing for as long as one who decides does at least: else all that a
// program ever did between two waits was due to input, and would count as what it does
// by itself.
func (d *desk) think() {
	d.t.Helper()
	_, err := d.eyes.Settle(d.t.Context())
	require.NoError(d.t, err)
	time.Sleep(time.Second)
}

// keep writes a state's picture and list for a person to look at.
func (d *desk) keep(name string, o *screen.Observation, text string) {
	folder := os.Getenv(artifacts)
	if folder == "" {
		return
	}
	require.NoError(d.t, os.MkdirAll(folder, 0o755))
	file := filepath.Join(folder, strings.ReplaceAll(name, "/", "-"))
	require.NoError(d.t, os.WriteFile(file+".txt", []byte(text), 0o644))
	out, err := os.Create(file + ".png")
	require.NoError(d.t, err)
	defer out.Close()
	require.NoError(d.t, png.Encode(out, o.Frame))
}

// facts holds a list against the data that the program shows.
func (d *desk) facts(s state, text string, r *result) {
	for _, want := range s.says {
		require.True(d.t, telling(want), "%s: %q may be a place: quote it as the list does", s.name, want)
		r.Said++
		if !strings.Contains(text, want) {
			r.Unsaid++
			r.problems = append(r.problems, fmt.Sprintf("unsaid: %q is on the screen and not in the list", want))
		}
	}
	for _, lie := range s.silent {
		r.Said++
		if strings.Contains(text, lie) {
			r.Unsaid++
			r.problems = append(r.problems, fmt.Sprintf("unsaid: %q is in the list and not on the screen", lie))
		}
	}
}

// telling reports whether a text that a list must hold is more than a number, as there are many in
// a list: places and IDs.
func telling(want string) bool {
	return strings.Contains(want, `"`) || strings.ContainsFunc(want, unicode.IsLetter)
}

func TestTelling(t *testing.T) {
	for want, is := range map[string]bool{"10": false, "2,5": false, `"10"`: true, `D3 = "10"`: true, "Item": true, "حفظ": true} {
		assert.Equal(t, is, telling(want), want)
	}
}

// texts compares what is listed with the picture.
func (d *desk) texts(o *screen.Observation, list []item, r *result) {
	if r.unread = !hasOCR(d.t); r.unread {
		return
	}
	shot := reading{o, read(d.t.Context(), d.t, o.Bare, 2, "11")}
	for _, it := range list {
		if len(shows(it)) == 0 {
			continue
		}
		r.Texts++
		if got, is := shot.missing(d.t, it); is {
			r.Untrue++
			r.problems = append(r.problems, fmt.Sprintf("text: %s: in %v one reads %q", it.line, it.node.Box, got))
		}
	}
}

// places moves the pointer to each place, the uppermost windows' first: a menu that
// is open may change when the pointer leaves it.
func (d *desk) places(s state, list []item, r *result) {
	ask := s.oracle
	if ask == nil {
		ask = d.whatever
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b item) int {
		if a.inBar() != b.inBar() { // with a menu open, the pointer on the bar opens another
			return cmp.Compare(b2i(a.inBar()), b2i(b.inBar()))
		}
		if by := layer(b) - layer(a); by != 0 || layer(a) == 0 {
			return by
		}
		return b.node.Depth - a.node.Depth // a submenu closes when the pointer is on its parent's items
	})
	for _, it := range list {
		r.Places++
		got, known := ask(it, it.at)
		if !known {
			r.Unknown++
			continue
		}
		if why := reaches(got, it); why != "" {
			r.Wrong++
			r.problems = append(r.problems, fmt.Sprintf("place: %s: %s: the pointer reaches %v", it.line, why, got))
		}
	}
}

// choose clicks what was read from the picture, one after the other.
func (d *desk) choose(s state, list []item, r *result) {
	for _, it := range list {
		r.Places++
		instead, known := "", false
		if s.chooser != nil {
			instead, known = s.chooser(it)
		}
		if !known {
			r.Unknown++
		} else if instead != "" {
			r.Wrong++
			r.problems = append(r.problems, fmt.Sprintf("place: %s: a click there chooses %s", it.line, instead))
		}
	}
}

// layer orders elements: what pops up comes first.
func layer(it item) int {
	switch {
	case it.node == nil:
		return 0
	case strings.HasSuffix(it.role, "menu item"):
		return 2
	case it.role == "list item", it.role == "menu":
		return 1
	}
	return 0
}

// whatever asks GTK, and where the program is none of GTK 3 the bus.
func (d *desk) whatever(it item, p image.Point) (chain, bool) {
	d.gtk.forget()
	d.move(p.Add(image.Pt(1, 0))) // so that the place is new
	d.move(p)
	limit := 10 * time.Second // silence counts as nothing that is there
	if it.node == nil {
		limit = time.Second // or as what is not known
	}
	if it.node != nil && !d.gtk.speaks(it.node.PID) {
		limit = 0
	}
	c := d.gtk.at(p, limit)
	if len(c) > 0 && c[0].role == "root pane" {
		return d.lights(it, p, c) // what is drawn in it, GTK does not know
	}
	if c != nil {
		return c, true
	}
	if it.node == nil {
		return nil, false
	}
	if d.gtk.speaks(it.node.PID) {
		return nil, true
	}
	c = d.bus.at(it.node.PID, p)
	return c, c != nil
}

// reaches says why what is at a place is not the element that was said to be there;
// "" if it is.
func reaches(c chain, it item) string {
	if it.node == nil {
		if len(c) > 0 && c[0].role == "table cell" {
			return ""
		}
		return "no cell"
	}
	at := slices.IndexFunc(c, func(h hit) bool { return is(h, it) || renewed(h, c[0], it.node) })
	if at < 0 && !atspi.Operable(it.role) && (holds(it, c) || drawnIn(it, c)) {
		return ""
	}
	if at < 0 && it.role == "page tab" && len(c) > 1 && c[0].role == "label" && c[0].name == it.node.Name && c[1].role == "page tab list" {
		return "" // GTK has no widget for a tab, only for what stands on it
	}
	if at < 0 {
		return "something else"
	}
	for _, h := range c[:at] {
		if atspi.Operable(it.role) && atspi.Operable(h.role) && !partOf(it.role, h.role) {
			return "a control in it"
		}
	}
	return ""
}

// holds reports whether an element that is no control holds what was hit: GTK does not
// know what LibreOffice draws around its own.
func holds(it item, c chain) bool {
	for i := range it.nodes {
		if n := &it.nodes[i]; len(c) > 0 && c[0].path != "" && same(c[0], n) {
			for ; n.Parent >= 0; n = &it.nodes[n.Parent] {
				if n == it.node {
					return true
				}
			}
		}
	}
	return false
}

// drawnIn reports whether a text lies in what was hit, which draws it.
func drawnIn(it item, c chain) bool {
	if it.role != "paragraph" || len(c) == 0 {
		return false
	}
	for n := it.node; n.Parent >= 0; {
		if n = &it.nodes[n.Parent]; same(c[0], n) {
			return true
		}
	}
	return false
}

// inBar reports whether an element is a menu of a menu bar.
func (i item) inBar() bool {
	return i.node != nil && i.role == "menu" && i.node.Parent >= 0 && i.nodes[i.node.Parent].Role == "menu bar"
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// is reports whether an object that was hit is the one of an element, or the cell that
// draws it: what a cell is made of gets no events of its own.
func is(h hit, it item) bool {
	n := it.node
	for {
		if same(h, n) {
			return true
		}
		if n.Parent >= 0 && it.nodes[n.Parent].Role == "combo box" && same(h, &it.nodes[n.Parent]) {
			return true // Qt tells of a combo box, and not of the field in it
		}
		if n.Role != "table cell" || n.Parent < 0 || it.nodes[n.Parent].Role != "table cell" {
			return false
		}
		n = &it.nodes[n.Parent]
	}
}

// same reports whether an object is that of a node.
func same(h hit, n *atspi.Node) bool {
	if n.Key != "" && h.path != "" {
		return strings.HasSuffix(n.Key, "#"+strings.TrimPrefix(h.path, "/org/a11y/atspi/accessible/")) || strings.HasSuffix(n.Key, h.path)
	}
	if h.role != "" && h.role != n.Role {
		return false
	}
	return n.Name == "" || h.name == "" || h.name == n.Name
}

// renewed reports whether an object stands where one of the same role and name did, or
// of the same label: the sidebar of GTK's file chooser makes its rows anew while they
// are looked at.
func renewed(h, innermost hit, n *atspi.Node) bool {
	if h.role != n.Role || h.path == "" {
		return false
	}
	return n.Name != "" && h.name == n.Name || n.Name == "" && n.Label != "" && innermost.name == n.Label
}

// partOf reports whether a control is what another one is made of.
func partOf(whole, part string) bool {
	switch whole {
	case "combo box", "spin button", "date editor", "calendar":
		return true
	}
	if whole == "push button" && part == "radio button" {
		return true // GTK's button for a colour shows it in one that does nothing there: see TestGTK3
	}
	return part == "icon" || part == whole || whole == "list item" && part == "table cell"
}
