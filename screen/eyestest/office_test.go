//go:build linux

package eyestest

import (
	"testing"

	"desktop-agent/screen/atspi"

	"github.com/stretchr/testify/require"
)

// office starts LibreOffice with a file.
func (d *desk) office(kind, path string) {
	d.t.Helper()
	d.open(wide, "soffice", kind, "--norestore", "--nologo", "--nofirststartwizard", "--nolockcheck", path)
}

// TestCalc has the states of a spreadsheet.
func TestCalc(t *testing.T) {
	need(t, "soffice", "libreoffice-calc libreoffice-gtk3")
	d := newDesk(t)
	d.office("--calc", d.file("shop.csv", "Item,Date,Price,Sum\nApples,2026-01-02,2.50,=C2*2\nBread,2026-01-03,3.25,=C3*2\n"))
	_, ok := d.look("the import dialog", func(n atspi.Node) bool { return n.Role == "push button" && n.Name == "OK" })
	d.judge(state{name: "calc/import dialog", says: []string{"Comma", "Separator Options"}})
	d.click(middle(ok.Box))
	d.look("the sheet", func(n atspi.Node) bool { return n.Role == "table cell" && n.Text == "Apples" })
	d.judge(state{name: "calc/sheet", says: []string{"Item", "Apples", "2026"}, silent: []string{"empty cells, from A1"}})
}

// TestWriter has the states of a text document.
func TestWriter(t *testing.T) {
	need(t, "soffice", "libreoffice-writer libreoffice-gtk3")
	d := newDesk(t)
	d.office("--writer", d.file("letter.txt", letter()))
	d.look("the document", func(n atspi.Node) bool { return n.Role == "paragraph" })
	require.NotNil(t, d)
	d.judge(state{name: "writer/document", says: []string{"line number 3 of"}, silent: []string{"line number 200 of"}})
	d.wheel(middle(wide), 20)
	d.judge(state{name: "writer/document scrolled", silent: []string{"line number 3 of"}})
	d.clickOn("menu", "Table")
	d.wait("menu item", "Properties")
	d.judge(state{name: "writer/menu"})
	d.key(keyEscape)
	d.key(keyControl, 'h')
	d.wait("push button", "Close")
	d.judge(state{name: "writer/find and replace", says: []string{"Match case", "Replace All"}})
}
