//go:build linux

package eyestest

import (
	"image"
	"strings"
	"testing"
	"time"

	"desktop-agent/screen/atspi"

	"github.com/stretchr/testify/require"
)

// TestQt has the states of a program of Qt. (VLC does not start as root.)
func TestQt(t *testing.T) {
	heavy(t)
	need(t, "featherpad", "featherpad")
	d := newDesk(t)
	d.open(wide, "featherpad", "--standalone", d.file("letter.txt", letter()))
	_, file := d.look("the menus", func(n atspi.Node) bool { return n.Name == "File" })
	warned := func() bool { return strings.Contains(d.observe().Text(0), "Root Instance") }
	for end := time.Now().Add(patience); warned(); { // a bar that root gets, and that goes by itself
		require.True(t, time.Now().Before(end), "the warning is there still")
	}
	d.judge(state{name: "qt/document", says: []string{"File", "Edit", "line number 3 of"}, silent: []string{"line number 300 of"}})
	d.click(middle(file.Box))
	d.look("the menu's items", func(n atspi.Node) bool { return strings.HasPrefix(n.Name, "Quit") })
	d.judge(state{name: "qt/menu", oracle: d.popup, says: []string{"Quit", "Save As"}})
	d.close() // a menu that is open takes the wheel
	d.wheel(middle(wide), 30)
	d.judge(state{name: "qt/document scrolled", says: []string{"line number 100 of"}, silent: []string{"line number 3 of"}})
}

// popup asks the picture what the pointer reaches in a menu, which Qt does not tell of:
// it tells what lies below. Of the rest it tells.
func (d *desk) popup(it item, p image.Point) (chain, bool) {
	for n := it.node; n != nil && n.Parent >= 0; n = &it.nodes[n.Parent] {
		if n.Role == "popup menu" {
			return d.lights(it, p, nil)
		}
	}
	return d.whatever(it, p)
}

// TestGimp has the state of a program of GTK 2.
func TestGimp(t *testing.T) {
	heavy(t)
	need(t, "gimp", "gimp")
	d := newDesk(t, "GTK_MODULES=") // ours is of GTK 3
	d.open(wide, "gimp", "--no-splash")
	d.observe()
	d.judge(state{name: "gimp/main"})
}
