//go:build linux

package eyestest

import (
	"image"
	"maps"
	"slices"
	"strings"
	"testing"

	"desktop-agent/internal/webpage/webpagetest"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"

	"github.com/jezek/xgb/xproto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A web is a browser with pages of our own.
type web struct {
	*desk
	pages *pageOracle
}

func newWeb(t *testing.T) *web {
	t.Helper()
	name := webpagetest.Browser(t)
	d := newDesk(t)
	w := &web{d, newPageOracle(t)}
	d.open(wide, name, "--no-sandbox", "--no-first-run", "--no-default-browser-check", "--disable-gpu",
		"--force-renderer-accessibility", "--disable-background-networking", "--disable-component-update", "--user-data-dir="+t.TempDir(), w.pages.url+"select.html")
	return w
}

// show goes to a page, by the address bar.
func (w *web) show(page, heading string) {
	w.t.Helper()
	w.key(keyControl, 'l')
	w.observe()
	w.typeAddress(strings.TrimPrefix(w.pages.url, "http://") + page)
	w.key(keyReturn)
	w.look("page "+page, func(n atspi.Node) bool { return n.Role == "heading" && n.Name == heading })
	w.observe()
}

// typeAddress types what an address has.
func (d *desk) typeAddress(text string) {
	d.t.Helper()
	for _, r := range text {
		if r == ':' {
			d.key(keyShift, xproto.Keysym(';'))
			continue
		}
		d.key(xproto.Keysym(r))
	}
}

// judge judges what is in the page, and the browser's own controls.
func (w *web) judge(s state) {
	w.t.Helper()
	o := s.observed
	if o == nil {
		o = w.observe()
	}
	s.observed = o
	s.oracle = w.page(w.pages, func(it item) bool { return inPage(o, it) })
	w.desk.judge(s)
}

// inPage reports whether an element is part of a page.
func inPage(o *screen.Observation, it item) bool {
	if it.node == nil {
		return false
	}
	for i := it.node.Parent; i >= 0; i = o.Tree.Nodes[i].Parent {
		if o.Tree.Nodes[i].Role == "document web" {
			return true
		}
	}
	return false
}

// TestBrowser has the states of web pages.
func TestBrowser(t *testing.T) {
	heavy(t)
	w := newWeb(t)
	w.look("the page", func(n atspi.Node) bool { return n.Role == "heading" && n.Name == "Trains" })
	w.judge(state{name: "chromium/form", says: []string{"Amsterdam", "Oslo", "Ada Byron", `"14"`, `"2026"`}, silent: []string{"secret"}})
	w.options()

	w.show("scrolled.html", "Garden book")
	w.judge(state{name: "chromium/document", says: []string{"Chapter 1 about birch"}, silent: []string{"Chapter 30"}})
	w.wheel(middle(wide), 10)
	w.judge(state{name: "chromium/document scrolled", says: []string{"Chapter 18 about"}, silent: []string{"Garden book", "Chapter 40 about"}})

	w.show("table.html", "Ledger")
	w.judge(state{name: "chromium/table", says: []string{"Field 3-2"}, silent: []string{"Field 30-1", "Field 2-10"}})
	_, cell := w.look("a cell", func(n atspi.Node) bool { return n.Role == "table cell" && n.Name == "Name 3-0" })
	w.wheel(middle(cell.Box), 3)
	w.judge(state{name: "chromium/table scrolled", silent: []string{"Name 1-0"}})

	w.show("dialog.html", "Order")
	w.judge(state{name: "chromium/dialog over fields", says: []string{"Main street number forty two", "Close note"}})
	w.show("modal.html", "Delete account?")
	w.judge(state{name: "chromium/modal", says: []string{"Delete it", "Keep it"}})
	w.show("rtl.html", "طلب جديد")
	w.judge(state{name: "chromium/right to left", says: []string{"حفظ", "ليلى"}})
}

// TestNews holds what is told of a page and of what changed in it: a text once, though
// Chromium tells it of a cell or an option and of the text within; no row of which a strip of
// 8 pixels shows; the question first, and a crowd of buttons that went grey in one line after it.
func TestNews(t *testing.T) {
	w := newWeb(t)
	w.show("news.html", "Parcels")
	before, lock := w.look("the button", func(n atspi.Node) bool { return n.Role == "push button" && n.Name == "Lock all" })
	told := before.Text(0)
	for _, text := range []string{"RX 101", "RX 102", "Bern", "Depot North", "Depot South", "Bay 3"} {
		assert.Equal(t, 1, strings.Count(told, text+`"`), "%s in\n%s", text, told)
	}
	assert.NotContains(t, told, "Bay 4", "8 pixels of it show")
	assert.Contains(t, told, "group (2 more below)")

	_, add := w.look("the other button", func(n atspi.Node) bool { return n.Role == "push button" && n.Name == "Add one" })
	w.click(middle(add.Box))
	w.look("the row", func(n atspi.Node) bool { return n.Name == "Basel" })
	news := screen.DescribeChanges(before, w.observe())
	for _, text := range []string{"RX 201", "Basel"} {
		assert.Equal(t, 1, strings.Count(news, text+`"`), "%s in\n%s", text, news)
	}

	before, lock = w.look("the button", func(n atspi.Node) bool { return n.ID == lock.ID })
	w.click(middle(lock.Box))
	w.look("the question", func(n atspi.Node) bool { return n.Name == "Not now" })
	lines := strings.Split(screen.DescribeChanges(before, w.observe()), "\n")
	assert.Equal(t, `+ alert "Lock every parcel?", with 3 elements: "Nobody can send until it is unlocked.", "Lock", "Not now"`, lines[0])
	grey := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !strings.Contains(line, "Tool ") })
	require.Len(t, grey, 1, "%q", lines)
	assert.Contains(t, grey[0], `~ 30 buttons: disabled: "Tool 1", "Tool 2", `)
}

// options opens a list of options that is longer than its popup, and scrolls it. Where
// its entries are the browser does not tell: with OCR those that are in view are found in
// the picture, and one is chosen by its place; without it one is chosen by its name.
func (w *web) options() {
	w.t.Helper()
	open := func() (*screen.Observation, atspi.Node) {
		_, combo := w.look("the combo box", func(n atspi.Node) bool { return n.Role == "combo box" && n.Name == "From" })
		w.click(middle(combo.Box))
		return w.look("the options", func(n atspi.Node) bool { return n.Role == "menu" && strings.Contains(n.Text, "Bern") })
	}
	o, list := open()
	says := []string{"Bern", "Hamburg", "Munich"}
	w.desk.judge(state{name: "chromium/options", observed: o, still: true, says: says})
	w.wheel(middle(list.Box), 3)
	w.desk.judge(state{name: "chromium/options scrolled", still: true, says: says})
	now := w.observe()
	places := placesIn(now, list.Box)
	if !hasOCR(w.t) {
		assert.Empty(w.t, places)
		w.chosen("Bern", func() {
			for _, r := range "bern" {
				w.key(xproto.Keysym(r))
			}
			w.key(keyReturn)
		})
		return
	}
	assert.NotContains(w.t, places, cities[0], "it is out of view")
	assert.Regexp(w.t, `menu .*\b\d+ more above\b`, now.Text(0))
	assert.Contains(w.t, screen.DescribeChanges(o, now), `→ "Lyon"`, "it was scrolled")
	is := cities[0]
	for _, share := range []int{0, 1, 2} { // the first that is in view, the middle one, the last
		names := slices.Sorted(maps.Keys(places))
		require.Greater(w.t, len(names), 5, now.Text(0))
		next := names[share*(len(names)-1)/2]
		if next == is {
			next = names[1]
		}
		w.chosen(next, func() { w.click(places[next]) })
		is = next
		now, list = open()
		places = placesIn(now, list.Box)
	}
	w.key(keyEscape)
	w.observe()
}

// placesIn returns where a list says that cities are.
func placesIn(o *screen.Observation, list image.Rectangle) map[string]image.Point {
	places := map[string]image.Point{}
	for _, it := range items(o, o.Text(0)) {
		if slices.Contains(cities, it.said()) && it.at.In(list) {
			places[it.said()] = it.at
		}
	}
	return places
}

// chosen holds that what is done has a page's list have a value.
func (w *web) chosen(value string, do func()) {
	w.t.Helper()
	w.pages.forget()
	do()
	e, ok := w.pages.wait("change", image.Point{}, patience)
	require.True(w.t, ok && len(e.Path) > 0, value)
	assert.Equal(w.t, value, e.Path[0].Value)
}

// cities are the options of testdata/pages/select.html.
var cities = strings.Fields("Amsterdam Athens Basel Belgrade Berlin Bern Bratislava Brussels Bucharest Budapest Cologne " +
	"Copenhagen Dublin Geneva Hamburg Helsinki Lausanne Lille Lisbon London Lyon Madrid Milan Munich Oslo Paris Prague Vienna Zurich")
