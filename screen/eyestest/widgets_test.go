//go:build linux

package eyestest

import (
	"image"
	"slices"
	"strings"
	"testing"

	"desktop-agent/screen/atspi"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGTK3 has the controls of GTK 3, in both directions of writing.
func TestGTK3(t *testing.T) {
	heavy(t)
	need(t, "gtk3-widget-factory", "gtk-3-examples")
	d := newDesk(t)
	d.open(image.Rect(5, 5, 1275, 890), "gtk3-widget-factory")
	d.look("the page", func(n atspi.Node) bool { return n.Role == "radio button" })
	d.judge(state{name: "gtk3/controls", says: []string{`= "Andrea"`, "checkbox [checked] @"}, silent: []string{"-symbolic"}})
	d.opensColours()

	rtl := newDesk(t, "GTK_EYE_RTL=1")
	rtl.open(image.Rect(5, 5, 1275, 890), "gtk3-widget-factory")
	rtl.look("the page", func(n atspi.Node) bool { return n.Role == "radio button" })
	rtl.judge(state{name: "gtk3/right to left"})
	rtl.readsFromTheRight()
	rtl.opensColours()
}

// readsFromTheRight holds that what stands in one row is told from right to left, whatever
// script the names are in.
func (d *desk) readsFromTheRight() {
	d.t.Helper()
	o := d.observe()
	var before *atspi.Node
	pairs := 0
	for _, it := range items(o, o.Text(0)) {
		if it.node == nil {
			continue
		}
		if n := it.node; before != nil && n.Parent == before.Parent && n.Box.Min.Y < before.Box.Max.Y && before.Box.Min.Y < n.Box.Max.Y {
			pairs++
			assert.LessOrEqual(d.t, n.Box.Min.X, before.Box.Min.X, "%s %q after %s %q", n.Role, n.Name, before.Role, before.Name)
		}
		before = it.node
	}
	assert.Greater(d.t, pairs, 10)
}

// opensColours clicks the place of the button for a colour, which holds a control by what
// GTK tells: that is the button's.
func (d *desk) opensColours() {
	d.t.Helper()
	o := d.observe()
	for _, it := range items(o, o.Text(0)) {
		if it.node == nil || it.role != "push button" || it.node.Name != "" {
			continue
		}
		if c, known := d.whatever(it, it.at); !known || len(c) == 0 || c[0].role != "radio button" {
			continue
		}
		d.click(it.at)
		d.look("the colours", func(n atspi.Node) bool {
			return n.Role == "color chooser" || n.Role == "dialog" && strings.Contains(n.Name, "Color")
		})
		return
	}
	require.FailNow(d.t, "no button for a colour")
}

// TestExpander unfolds what GTK folds, and folds it again, by the place that is listed: the
// row of its arrow is wide, and a click at its middle does nothing.
func TestExpander(t *testing.T) {
	need(t, "gtk3-demo", "gtk-3-examples")
	d := newDesk(t)
	d.open(image.Rectangle{}, "gtk3-demo", "--run=expander")
	for _, state := range []string{"collapsed", "expanded", "collapsed"} {
		is := func(n atspi.Node) bool { return n.Role == "toggle button" && n.Name == "Details:" && n.Has(state) }
		o, _ := d.look("details that are "+state, is)
		require.Contains(t, o.Text(0), state)
		at, _, ok := o.PointOf(slices.IndexFunc(o.Tree.Nodes, is))
		require.True(t, ok)
		d.click(at)
	}
}

// TestGTK4 has a window of GTK 4 with a menu bar, a tool bar and a table. (The widget
// factory draws all the time, and without a graphics card tells little else.)
func TestGTK4(t *testing.T) {
	heavy(t)
	need(t, "gtk4-demo", "gtk-4-examples")
	d := newDesk(t)
	d.open(wide, "gtk4-demo", "--run=builder")
	d.wait("menu item", "File")
	pressed := func(it item, p image.Point) (chain, bool) { return d.lights(it, p, nil) }
	d.judge(state{name: "gtk4/window", oracle: pressed, says: []string{"File", "Paste", "Surname"}, silent: []string{"GtkButton", "GtkTreeView"}})
}

// TestTerminal has a program without a tree, above one with a tree.
func TestTerminal(t *testing.T) {
	need(t, "xterm", "xterm")
	need(t, "mousepad", "mousepad")
	d := newDesk(t)
	d.open(wide, "mousepad", d.file("letter.txt", letter()))
	d.wait("menu", "File")
	d.open(image.Rect(400, 20, 900, 400), "xterm", "-T", "Shell", "-e", "sh", "-c", "echo hello from the shell; sleep 1000")
	d.judge(state{name: "xterm/over an editor", says: []string{"Shell", "line number"}})
}
