//go:build linux

package eyestest

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"testing"

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
	d.open(wide, "thunar", folder(t))
	d.wait("menu", "File")
	d.judge(state{name: "thunar/icons", says: []string{"Letters", "Photos", "report-03.txt"}, silent: []string{"report-59.txt", "dialog-error-symbolic"}})
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

// TestPcmanfm has the views of another one, of GTK 2 or 3.
func TestPcmanfm(t *testing.T) {
	heavy(t)
	need(t, "pcmanfm", "pcmanfm")
	d := newDesk(t, "GTK_MODULES=") // ours is of GTK 3
	d.open(wide, "pcmanfm", "--no-desktop", folder(t))
	d.observe()
	d.judge(state{name: "pcmanfm/icons", says: []string{"Letters", "Photos", "report-03.txt"}}) // all fits in
}
