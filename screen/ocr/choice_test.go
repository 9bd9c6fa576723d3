//go:build linux

package ocr_test

import (
	"image"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// LibreOffice tells neither name nor value of its closed lists of choices: what they show
// is read, and is what the element in the list holds.
func TestChoicesOfADialog(t *testing.T) {
	if _, err := exec.LookPath("soffice"); err != nil {
		t.Skip("soffice is not installed (apt-get install libreoffice-calc libreoffice-gtk3)")
	}
	d := newDesk(t, image.Pt(1100, 800))
	d.write("trips.csv", "Date,Item\n2026-01-02,Apples\n2026-01-03,Bread\n")
	d.open("soffice", "--calc", "--norestore", "--nologo", "--nofirststartwizard", filepath.Join(d.Home(), "trips.csv"))
	chosen := func(o *screen.Observation) int {
		return slices.IndexFunc(o.Tree.Nodes, func(n atspi.Node) bool {
			return n.Read && n.Parent >= 0 && o.Tree.Nodes[n.Parent].Label == "Character set:"
		})
	}
	o := d.until("what is chosen", func(o *screen.Observation) bool { return chosen(o) >= 0 })
	field := o.Tree.Nodes[o.Tree.Nodes[chosen(o)].Parent]
	assert.Empty(t, field.Text, "the program tells it now: nothing needs to be read")
	assert.Equal(t, "Unicode (UTF-8)", o.Tree.Nodes[chosen(o)].Text)
	assert.Regexp(t, `beside "Character set:" = "Unicode \(UTF-8\)" \(read from the picture\)`, o.Text(0))
	started := d.reader.Started()
	require.Positive(t, started)
	d.until("the same again", func(o *screen.Observation) bool { return chosen(o) >= 0 })
	assert.Equal(t, started, d.reader.Started(), "what did not change is not read again")

	d.click("push button", "OK")
	d.until("the sheet", func(o *screen.Observation) bool { return has(o, "table cell", "A3") })
	d.click("menu", "Data")
	d.click("menu item", "Sort...")
	const list = `toggle beside "Column"`
	o = d.until("the columns", func(o *screen.Observation) bool { return strings.Count(o.Text(0), list+" = ") == 3 })
	assert.Contains(t, o.Text(0), list+` = "Date" (read from the picture)`)
	assert.Equal(t, 2, strings.Count(o.Text(0), list+` = "- undefined -" (read from the picture)`))
	told := o.Told().Text(0)
	assert.Equal(t, 3, strings.Count(told, list), "without what is read")
	assert.NotContains(t, told, list+" = ", "the program tells it now: nothing needs to be read")
}
