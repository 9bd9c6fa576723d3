//go:build linux

package eyestest

import (
	"image"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"desktop-agent/screen"
	"desktop-agent/screen/atspi"

	"github.com/godbus/dbus/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// office starts LibreOffice with a file.
func (d *desk) office(kind, path string) {
	d.t.Helper()
	d.open(image.Rectangle{}, "soffice", kind, "--norestore", "--nologo", "--nofirststartwizard", "--nolockcheck", path)
}

// TestCalc has the states of a spreadsheet.
func TestCalc(t *testing.T) {
	heavy(t)
	need(t, "soffice", "libreoffice-calc libreoffice-gtk3")
	d := newDesk(t)
	d.office("--calc", d.copy("testdata/shop.fods"))
	d.look("the sheet", func(n atspi.Node) bool { return n.Role == "table cell" && n.Text == "Apples 2" })
	_, cell := d.look("a cell", func(n atspi.Node) bool { return n.Role == "table cell" && n.Name == "D3" })
	d.click(middle(cell.Box))
	d.judge(state{name: "calc/sheet", oracle: d.cells, says: []string{"Item", "Apples 2", `D3 = "10" (formula "=B3*C3")`, `"Input line" = "=B3*C3"`, "Notes"}, silent: []string{"Apples 52", "second sheet"}})
	d.wheel(middle(wide), 8)
	d.judge(state{name: "calc/sheet scrolled", oracle: d.cells, says: []string{"Apples 32"}, silent: []string{"Apples 2\"", `"Item"`}})
	d.menu("Insert")
	d.wait("menu item", "Image")
	d.judge(state{name: "calc/menu"})
	d.close()
	d.menu("File")
	d.clickOn("menu item", "Save As...")
	_, types := d.look("the types", func(n atspi.Node) bool { return n.Role == "combo box" && strings.Contains(n.Text, "(.fods)") })
	d.click(middle(types.Box))
	d.wait("menu item", "Excel 2007–365 (.xlsx)")
	d.judge(state{name: "calc/save as", says: []string{"(.xlsx)", " more below)"}, silent: []string{"(.xltx)"}})
	d.close()
	d.office("--calc", d.file("trips.csv", "Item,Date,Price\nApples,2026-01-02,2.50\nBread,2026-01-03,3.25\n"))
	d.wait("push button", "Cancel")
	d.judge(state{name: "calc/import dialog", says: []string{"Comma", "Separator Options", "UTF-8"}})
}

// TestCalcFrozen has the first row of a sheet stay where the sheet begins, and the rest
// scrolled.
func TestCalcFrozen(t *testing.T) {
	heavy(t)
	need(t, "soffice", "libreoffice-calc libreoffice-gtk3")
	d := newDesk(t)
	d.office("--calc", d.copy("testdata/shop.fods"))
	d.look("the sheet", func(n atspi.Node) bool { return n.Role == "table cell" && n.Text == "Apples 2" })
	d.menu("View")
	_, more := d.look("the submenu", func(n atspi.Node) bool { return n.Role == "menu" && strings.HasPrefix(n.Name, "Freeze Cells") })
	d.click(middle(more.Box))
	_, row := d.look("the item", func(n atspi.Node) bool {
		return n.Role == "menu item" && strings.HasPrefix(n.Name, "Freeze First Row")
	})
	d.click(middle(row.Box))
	d.observe()
	d.wheel(middle(wide), 3)
	d.look("the row below", func(n atspi.Node) bool { return n.Role == "table cell" && n.Text == "Apples 32" })
	d.judge(state{name: "calc/frozen row", oracle: d.cells, says: []string{`A1 = "Item"`, "Apples 32"}, silent: []string{"Apples 2\""}})
}

// copy copies a file to where it may be written.
func (d *desk) copy(path string) string {
	d.t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(d.t, err)
	return d.file(filepath.Base(path), string(data))
}

// cells clicks cells and headers, and asks for the others whoever knows: the field above the
// sheet says what was chosen.
func (d *desk) cells(it item, p image.Point) (chain, bool) {
	name := ""
	switch {
	case it.node == nil && strings.Contains(it.line, "empty cells"):
		for _, m := range emptyPattern.FindAllStringSubmatch(it.line, -1) {
			if m[2] == strconv.Itoa(p.X) && m[3] == strconv.Itoa(p.Y) {
				name = m[1]
			}
		}
	case it.node != nil && it.role == "table cell":
		name = it.node.Name
	case it.node != nil && it.role == "table column header":
		name = it.node.Name + "1:" + it.node.Name + "1048576"
	case it.node != nil && it.role == "table row header":
		name = "A" + it.node.Name + ":XFD" + it.node.Name
	}
	if name == "" {
		return d.whatever(it, p)
	}
	const edge = 40 // pixels: a click on a cell that is cut there scrolls the sheet
	if sheet := sheetOf(it); p.Y > sheet.Max.Y-edge || p.X > sheet.Max.X-edge {
		return nil, false
	}
	var box object
	for _, n := range it.nodes {
		if n.Role == "text" && cellPattern.MatchString(n.Text) {
			bus, path, _ := strings.Cut(n.Key, "#")
			box = object{bus, dbus.ObjectPath("/org/a11y/atspi/accessible/" + path)}
		}
	}
	require.NotEmpty(d.t, box.Path, "the field with the cell's name")
	d.click(p)
	said := ""
	for end := time.Now().Add(3 * time.Second); said != name && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		d.bus.call(box, "org.a11y.atspi.Text.GetText", &said, int32(0), int32(-1))
	}
	if said != name {
		return chain{{role: "table cell", name: said}}, true
	}
	is := hit{role: "table cell", name: name}
	if it.node != nil {
		is = hit{role: it.role, name: it.node.Name}
	}
	return chain{is}, true
}

// sheetOf returns where a sheet is.
func sheetOf(it item) image.Rectangle {
	for _, n := range it.nodes {
		if n.Role == "table" {
			return n.Box
		}
	}
	return image.Rectangle{}
}

var (
	cellPattern  = regexp.MustCompile(`^[A-Z]{1,3}[1-9][0-9]*$`)
	emptyPattern = regexp.MustCompile(`([A-Z]{1,3}[1-9][0-9]*) @(-?\d+),(-?\d+)`)
)

// TestWriter has the states of a text document.
func TestWriter(t *testing.T) {
	heavy(t)
	need(t, "soffice", "libreoffice-writer libreoffice-gtk3")
	d := newDesk(t)
	d.office("--writer", d.file("letter.txt", letter()))
	d.look("the document", func(n atspi.Node) bool { return n.Role == "paragraph" })
	d.judge(state{name: "writer/document", says: []string{"line number 3 of"}, silent: []string{"line number 200 of"}})
	d.arrows(12)
	d.wheel(middle(wide), 20)
	d.judge(state{name: "writer/document scrolled", silent: []string{"line number 3 of"}})
	d.menu("Table")
	d.wait("menu item", "Insert Table") // what the cursor in no table leaves enabled
	d.judge(state{name: "writer/menu"})
	d.close()
	d.key(keyControl, 'h')
	d.wait("push button", "Close")
	d.judge(state{name: "writer/find and replace", says: []string{"Match case", "Replace All"}})
}

// arrows clicks what the list has as the arrows of buttons, some at least: each opens
// something, which a click on the rest of most of these buttons does not.
func (d *desk) arrows(least int) {
	d.t.Helper()
	o, clicked := d.observe(), 0
	for i, n := range o.Tree.Nodes {
		if n.Role != atspi.RoleArrow {
			continue
		}
		button := o.Tree.Nodes[n.Parent]
		assert.Contains(d.t, o.Text(20000), n.ID+" arrow @", button.Name)
		p, _, ok := o.PointOf(i)
		if !assert.True(d.t, ok, "the arrow of %q cannot be hit", button.Name) {
			continue
		}
		d.click(p)
		opened := func() bool {
			return slices.ContainsFunc(d.observe().Windows, func(w screen.Window) bool {
				return w.Popup && !w.Passive() && !w.Hidden && w.Box.Inset(-4).Overlaps(button.Box)
			})
		}
		end := time.Now().Add(patience)
		for !opened() && time.Now().Before(end) {
			continue
		}
		assert.True(d.t, time.Now().Before(end), "nothing opened from the arrow of %q at %v", button.Name, p)
		d.close()
		clicked++
	}
	assert.GreaterOrEqual(d.t, clicked, least)
}
