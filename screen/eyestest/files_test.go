//go:build linux

package eyestest

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"desktop-agent/screen/atspi"

	"github.com/stretchr/testify/require"
)

// folder makes a folder with other folders and files, and returns its path.
func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "estate")
	for _, name := range []string{"Letters", "Photos", "Taxes"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
	}
	for i := range 60 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("report-%02d.txt", i)), []byte("x"), 0o600))
	}
	return dir
}

// TestThunar has the views of a file manager of GTK 3.
func TestThunar(t *testing.T) {
	heavy(t)
	need(t, "thunar", "thunar")
	d := newDesk(t)
	dir := folder(t)
	d.open(wide, "thunar", dir)
	d.wait("menu", "File")
	d.judge(state{name: "thunar/icons", chooser: d.icon(dir), says: []string{"Letters", "Photos", "report-03.txt"}, silent: []string{"report-59.txt", "dialog-error-symbolic"}})
	d.key(keyControl, '2')
	_, cell := d.look("the list", func(n atspi.Node) bool { return n.Role == "table cell" && n.Name == "plain text document" })
	d.judge(state{name: "thunar/list", says: []string{"Letters", "report-03.txt"}, silent: []string{"report-59.txt", "dialog-error-symbolic"}})
	d.wheel(middle(cell.Box), 8)
	d.judge(state{name: "thunar/list scrolled", says: []string{"report-30.txt"}, silent: []string{"Photos", "report-00.txt"}})
	_, cell = d.look("a name", func(n atspi.Node) bool { return n.Role == "table cell" && n.Name == "report-30.txt" && n.Box.Dx() > 20 })
	d.press(3, cell.Box.Min.Add(image.Pt(20, cell.Box.Dy()/2)))
	d.wait("menu item", "Rename...")
	d.judge(state{name: "thunar/context menu", says: []string{"Rename...", "Properties..."}})
	d.key(keyEscape)
}

// icon clicks a file that is shown as an icon, of which the status bar tells the name. What
// was read of it may be misread, but no other file's name may be nearer to it.
func (d *desk) icon(dir string) chooser {
	entries, err := os.ReadDir(dir)
	require.NoError(d.t, err)
	last := ""
	return func(it item) (instead string, known bool) {
		d.click(it.at)
		chosen, said := "", ""
		for end := time.Now().Add(patience / 4); time.Now().Before(end) && (chosen == "" || chosen == last); {
			chosen, said = "", d.status()
			for _, e := range entries {
				if strings.Contains(said, `"`+e.Name()+`"`) {
					chosen = e.Name()
				}
			}
		}
		last = chosen
		for _, e := range entries {
			if chosen == "" || distance(e.Name(), it.said()) < distance(chosen, it.said()) {
				return said, true
			}
		}
		return "", true
	}
}

// status is what the status bar of a file manager says.
func (d *desk) status() string {
	o, err := d.eyes.Snapshot(d.t.Context())
	require.NoError(d.t, err)
	for _, n := range o.Tree.Nodes {
		if n.Role == "status bar" {
			return n.Name + n.Text
		}
	}
	return ""
}

// TestPcmanfm has the view of another one: pcmanfm 1.3.2, of Debian 12, is of GTK 2, which tells
// no tree.
func TestPcmanfm(t *testing.T) {
	need(t, "pcmanfm", "pcmanfm")
	d := newDesk(t, "GTK_MODULES=") // ours is of GTK 3
	d.open(wide, "pcmanfm", "--no-desktop", folder(t))
	d.observe()
	d.judge(state{name: "pcmanfm/icons", says: []string{"Letters", "Photos", "report-03.txt"}}) // all fits in
}
