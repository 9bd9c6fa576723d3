//go:build linux

package eyestest

import (
	"fmt"
	"image"
	"strings"
	"testing"

	"desktop-agent/screen/atspi"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wide is where a program's window is put, in pixels of the desktop.
var wide = image.Rect(10, 30, 1010, 730)

// letter is a text that is longer than a window.
func letter() string {
	var text strings.Builder
	for i := range 400 {
		fmt.Fprintf(&text, "line number %d of the letter\n", i)
	}
	return text.String()
}

// refuses holds that the judge says so where a list is not true: of an open menu, in
// which two items are told to be in each other's place, and one by another name.
func (d *desk) refuses() {
	d.t.Helper()
	d.menu("View")
	d.wait("menu", "Color Scheme")
	o := d.observe()
	var list []item
	for _, it := range items(o, o.Text(0)) {
		if it.role == "menu item" && it.node.Name != "Color Scheme" {
			list = append(list, it)
		}
	}
	require.GreaterOrEqual(d.t, len(list), 4, "%s", o.Text(0))
	list[0].at, list[1].at = list[1].at, list[0].at
	other := *list[2].node
	other.Name = "Elephants"
	list[2].node = &other
	r := &result{State: "a list that is not true"}
	d.texts(o, list, r)
	d.places(state{}, list[:2], r)
	d.facts(state{says: []string{"Elephants"}, silent: []string{"Statusbar"}}, o.Text(0), r)
	if hasOCR(d.t) {
		assert.Equal(d.t, 1, r.Untrue, "%q", r.problems)
	}
	assert.Equal(d.t, []int{2, 2}, []int{r.Wrong, r.Unsaid}, "%q", r.problems)
	assert.False(d.t, lists(list, mark{"menu item", "Elephants", image.Rectangle{Max: deskSize}}, false))
	assert.False(d.t, lists(list, mark{"menu item", "Statusbar", image.Rect(600, 600, 700, 700)}, false))
	d.key(keyEscape)
}

// TestEditor has the states of a text editor of GTK 3.
func TestEditor(t *testing.T) {
	need(t, "mousepad", "mousepad")
	d := newDesk(t)
	d.open(wide, "mousepad", d.file("letter.txt", letter()))
	d.wait("menu", "File")
	d.judge(state{name: "mousepad/document", says: []string{"line number 12 of"}, silent: []string{"line number 200 of"}})

	d.menu("View")
	d.wait("menu", "Color Scheme")
	d.judge(state{name: "mousepad/menu", says: []string{"Color Scheme", "Statusbar"}})
	d.refuses()
	d.menu("View")
	d.clickOn("menu", "Color Scheme")
	d.look("the submenu", func(n atspi.Node) bool { return strings.HasSuffix(n.Role, "menu item") && n.Name == "None" })
	d.judge(state{name: "mousepad/submenu", says: []string{"Tango", "Classic"}})
	d.close()

	_, text := d.look("the text", func(n atspi.Node) bool { return n.Role == "text" && len(n.Text) > 1000 })
	d.press(3, middle(text.Box))
	d.wait("menu item", "Select All")
	d.judge(state{name: "mousepad/context menu", says: []string{"Select All", "Paste"}})
	d.key(keyEscape)
	d.observe() // until it has closed, the menu takes the wheel

	d.wheel(middle(text.Box), 30)
	d.judge(state{name: "mousepad/document scrolled", says: []string{"line number 130 of"}, silent: []string{"line number 3 of"}})

	d.key(keyControl, 'r')
	o, _ := d.look("the dialog", func(n atspi.Node) bool { return n.Parent < 0 && n.Name == "Find and Replace" })
	for _, w := range o.Windows {
		if w.Title == "Find and Replace" {
			d.place(w.ID, image.Rect(300, 400, 300+w.Box.Dx(), 400+w.Box.Dy()))
		}
	}
	d.judge(state{name: "mousepad/dialog over text", says: []string{"line number 130 of", "Replace"}})
	d.clickOn("push button", "Close")
	d.observe()

	d.menu("File")
	d.clickOn("menu item", "Save As")
	d.wait("push button", "Cancel")
	d.judge(state{name: "mousepad/save as", says: []string{"letter.txt", "Cancel"}})
	d.key(keyEscape)
}
