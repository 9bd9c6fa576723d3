//go:build linux

package eyestest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"desktop-agent/screen"
	"desktop-agent/screen/atspi"

	"github.com/jezek/xgb/xproto"
)

// A web is a browser with pages of our own.
type web struct {
	*desk
	pages *pageOracle
	name  string
}

func newWeb(t *testing.T) *web {
	t.Helper()
	name := browser(t)
	d := newDesk(t)
	w := &web{d, newPageOracle(t), name}
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
	w.judge(state{name: "chromium/form", says: []string{"Amsterdam", "Oslo", "Ada Byron", "2026-03-14"}, silent: []string{"secret"}})
	w.options()

	w.show("scrolled.html", "Garden book")
	w.judge(state{name: "chromium/document", says: []string{"Chapter 1 about birch"}, silent: []string{"Chapter 30"}})
	w.wheel(middle(wide), 10)
	w.judge(state{name: "chromium/document scrolled", silent: []string{"Garden book", "Chapter 40 about"}})

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

// options opens a list of options that is longer than its popup, scrolls it, and
// chooses some: each choice must be what the list said to be there.
func (w *web) options() {
	w.t.Helper()
	isOption := func(n atspi.Node) bool { return (n.Role == "menu item" || n.Role == "list item") && n.Name == "Bern" }
	r := &result{State: "chromium/options scrolled"}
	for _, pick := range []string{"first", "middle", "last"} {
		_, combo := w.look("the combo box", func(n atspi.Node) bool { return n.Role == "combo box" && n.Name == "From" })
		w.click(middle(combo.Box))
		_, bern := w.look("the options", isOption)
		w.wheel(middle(bern.Box), 3)
		o := w.observe()
		var list []item
		for _, it := range items(o, o.Text(0)) {
			if it.node != nil && slices.Contains(cities, it.said()) && it.node.Parent >= 0 && (it.role == "menu item" || it.role == "list item") && !inList(o, it) {
				list = append(list, it)
			}
		}
		if pick == "first" {
			w.desk.judge(state{name: "chromium/options", observed: o, still: true})
			r.Bytes = len(o.Text(0))
		}
		if len(list) == 0 {
			w.t.Errorf("%s: no option is listed\n%s", r.State, o.Text(0))
			w.key(keyEscape)
			continue
		}
		it := list[map[string]int{"first": 0, "middle": len(list) / 2, "last": len(list) - 1}[pick]]
		w.pages.forget()
		w.click(it.at)
		r.Places++
		e, ok := w.pages.wait("change", it.at.Mul(0), 3*time.Second)
		if !ok || len(e.Path) == 0 || e.Path[0].Value != it.said() {
			r.Wrong++
			r.problems = append(r.problems, "place: "+it.line+": a click there chooses "+pathValue(e))
		}
		w.key(keyEscape)
		w.observe()
	}
	report(w.t, r)
}

func pathValue(e pageEvent) string {
	if len(e.Path) == 0 {
		return "nothing"
	}
	return e.Path[0].Value
}

// inList reports whether an element is in a list that is always open.
func inList(o *screen.Observation, it item) bool {
	p := o.Tree.Nodes[it.node.Parent]
	return p.Role == "list box" && p.Name == "Class list"
}

// cities are the options of testdata/pages/select.html.
var cities = strings.Fields("Amsterdam Athens Basel Belgrade Berlin Bern Bratislava Brussels Bucharest Budapest Cologne " +
	"Copenhagen Dublin Geneva Hamburg Helsinki Lausanne Lille Lisbon London Lyon Madrid Milan Munich Oslo Paris Prague Vienna Zurich")
