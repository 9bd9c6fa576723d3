//go:build linux

package ocr_test

import (
	"image"
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// TestPicturesOfAPage holds that what a page draws is read, of a canvas and of the picture of
// a document, and that what it tells is not.
func TestPicturesOfAPage(t *testing.T) {
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("chromium is not installed (apt-get install chromium): there is no page to read")
	}
	d := newDesk(t, image.Pt(1000, 700))
	d.write("page.html", `<!doctype html><title>Departures</title>
<p>All trains of today</p>
<canvas id=board width=400 height=80></canvas><br>
<img id=ticket width=500 height=80>
<script>
const draw = (canvas, text) => { const c = canvas.getContext('2d'); c.fillStyle = 'white'; c.fillRect(0, 0, 600, 80); c.fillStyle = 'black'; c.font = '24px sans-serif'; c.fillText(text, 20, 50) }
draw(board, 'Gate 12 boarding')
const page = Object.assign(document.createElement('canvas'), {width: 500, height: 80})
draw(page, 'Invoice of March for Ann')
ticket.src = page.toDataURL()
</script>`)
	d.open("chromium", "--no-sandbox", "--no-first-run", "--force-renderer-accessibility", "--user-data-dir="+d.Home()+"/profile", "file://"+d.Home()+"/page.html")
	found := func(o *screen.Observation, text string) string { source, _ := o.Find(text); return source }
	o := d.until("both pictures are read", func(o *screen.Observation) bool {
		return found(o, "Gate 12 boarding") == "ocr" && found(o, "Invoice of March for Ann") == "ocr"
	})
	assert.Equal(t, "tree", found(o, "All trains of today"))
	for _, line := range read(o) {
		assert.NotContains(t, line, "All trains")
	}
	for role, text := range map[string]string{"canvas": "Gate 12 boarding", "image": "Invoice of March for Ann"} {
		i := slices.IndexFunc(o.Tree.Nodes, func(n atspi.Node) bool { return n.Role == role && n.Box.Dy() == 80 })
		if assert.GreaterOrEqual(t, i, 0, role) {
			assert.True(t, box(t, o, text).In(o.Tree.Nodes[i].Box), role)
		}
	}
}
