//go:build linux

package atspi

import (
	"image"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/internal/permit"
)

// openCalc opens a small spreadsheet, of its own, in a program that is slow to start.
func (b *bench) openCalc() {
	b.Helper()
	text, err := os.ReadFile("testdata/sheet.fods")
	require.NoError(b, err)
	sheet := filepath.Join(b.TempDir(), "sheet.fods")
	require.NoError(b, os.WriteFile(sheet, text, 0o600))
	b.open("soffice", "--calc", "--norestore", "--nologo", "--nofirststartwizard", "--nolockcheck", sheet)
	b.wait("the sheet", named("table cell", "B2"))
	// Its tool bars come later, and move the sheet down.
	var before []image.Rectangle
	require.Eventually(b, func() bool {
		nodes, _ := b.tree()
		var now []image.Rectangle
		for _, n := range nodes {
			now = append(now, n.Box)
		}
		still := slices.Equal(before, now)
		before = now
		return still
	}, patience, time.Second)
}

// LibreOffice says that a sheet has 16 billion cells, and puts all that it
// draws itself too high by its menu bar: both must be seen through.
func TestReadSpreadsheet(t *testing.T) {
	b := newBench(t, nil)
	b.openCalc()
	nodes, hung := b.tree()
	assert.Empty(t, hung)
	first := slices.IndexFunc(nodes, named("table row header", "1"))
	require.GreaterOrEqual(t, first, 0, "the headers")
	cell := func(name string) Node {
		t.Helper()
		i := slices.IndexFunc(nodes, named("table cell", name))
		require.GreaterOrEqual(t, i, 0, name)
		return nodes[i]
	}
	assert.Equal(t, "Item", cell("A1").Text)
	assert.Equal(t, "Apples", cell("A2").Text)
	assert.Equal(t, "12.5", cell("B2").Text)
	assert.Equal(t, "far away", cell("F20").Text)
	assert.Empty(t, cell("C3").Text)
	assert.Equal(t, "25", cell("C2").Text)
	assert.Equal(t, "=B2*2", cell("C2").Formula)
	assert.Empty(t, cell("B2").Formula, "which holds no formula")
	table := nodes[cell("A1").Parent]
	assert.Equal(t, "table", table.Role)
	headers := image.Pt(nodes[first].Box.Dx(), nodes[slices.IndexFunc(nodes, named("table column header", "A"))].Box.Dy())
	assert.Equal(t, table.Box.Min.Add(headers), cell("A1").Box.Min)
	cells := 0
	for _, n := range nodes {
		if n.Role == "table cell" {
			cells++
			assert.True(t, n.Box.In(table.Box), "%+v in %v", n, table.Box)
			now, err := b.Now(t.Context(), n)
			require.NoError(t, err, n.Name)
			assert.Equal(t, []string{n.Role, n.Name}, []string{now.Role, now.Name}, "what was not asked of each cell is what each tells")
		}
	}
	assert.Greater(t, cells, 100)
	assert.Less(t, cells, maxCells)

	// A click on the cell, as drawn by the program itself, selects that one, as
	// the name box, drawn by GTK, tells.
	b.click(cell("D7").Box)
	b.click(b.wait("the name box", func(n Node) bool { return n.Role == "text" && n.Text == "D7" }).Box)
	b.see("the focus", func(n Node) bool { return n.Text == "D7" && slices.Contains(n.States, "focused") })
	// The input line has what is in the cell, though LibreOffice says that it is gone.
	b.click(cell("C2").Box)
	nodes, i := b.waitAll("the input line", func(n Node) bool { return n.Role == "paragraph" && n.Text == "=B2*2" })
	assert.Equal(t, "Input line", nodes[nodes[i].Parent].Name)
	box := func(role, name string) image.Rectangle {
		t.Helper()
		i := slices.IndexFunc(nodes, named(role, name))
		require.GreaterOrEqual(t, i, 0, "%s %s", role, name)
		return nodes[i].Box
	}
	// A header, of which LibreOffice tells nothing, chooses its column or row; and the tabs
	// below the scroll bar their sheets.
	b.click(box("table column header", "D"))
	b.see("the name of a column", func(n Node) bool { return n.Role == "text" && n.Text == "D1:D1048576" })
	b.click(box("table row header", "7"))
	b.see("the name of a row", func(n Node) bool { return n.Role == "text" && n.Text == "A7:XFD7" })
	b.testCellThatIsEdited()
	b.click(box("page tab", "Notes"))
	b.see("the sheet", named("table", "Sheet Notes"))
	b.click(box("menu", "File"))
	b.see("menu item", func(n Node) bool { return n.Role == "menu item" && strings.HasPrefix(n.Name, "Properties") })
}

// LibreOffice drops cells while one is edited. What a cell that is listed holds is what it
// showed before, or what is typed: none counts as empty that is not.
func (b *bench) testCellThatIsEdited() {
	b.Helper()
	// A click on a cell gives the sheet the focus, of which the name box tells.
	require.Eventually(b, func() bool {
		nodes, _ := b.tree()
		if i := slices.IndexFunc(nodes, named("table cell", "A2")); i >= 0 {
			b.click(nodes[i].Box)
		}
		return b.chosen() == "A2"
	}, patience, 100*time.Millisecond)
	b.typeKeys("nana")
	require.Eventually(b, func() bool {
		nodes, _ := b.tree()
		for name, want := range map[string]string{"A1": "Item", "B1": "Price", "A2": "Apples", "B2": "12.5", "C2": "25", "F20": "far away"} {
			i := slices.IndexFunc(nodes, named("table cell", name))
			if i >= 0 && !(name == "A2" && nodes[i].Text != "" && strings.HasPrefix("nana", nodes[i].Text)) {
				assert.Equal(b, want, nodes[i].Text, name)
			}
		}
		return slices.ContainsFunc(nodes, func(n Node) bool { return n.Role == "paragraph" && n.Text == "nana" })
	}, patience, time.Millisecond)
	b.chord(0xff0d) // Return
	b.see("the cell", func(n Node) bool { return named("table cell", "A2")(n) && n.Text == "nana" })
}

// chosen returns which cell the name box names; "" while there is none.
func (b *bench) chosen() string {
	b.Helper()
	nodes, _ := b.tree()
	for _, n := range nodes {
		if n.Role == "text" && cellName.MatchString(n.Text) {
			return n.Text
		}
	}
	return ""
}

var cellName = regexp.MustCompile(`^[A-Z]+[0-9]+$`)

// testFlow has a letter go on for two pages, and looks at its end and its beginning: it says
// which way there is more of it, and the status bar which page is seen.
func (b *bench) testFlow() {
	b.Helper()
	page := func(number string, beyond Beyond, stale func()) {
		b.Helper()
		told, empty := false, false
		b.wait("page "+number+" of the letter", func(n Node) bool {
			switch n.Role {
			case "document text": // which comes first
				told, empty = n.Beyond == beyond, true
			case "paragraph":
				empty = false
			}
			there := n.Role == "label" && strings.TrimSpace(n.Text) == "Page "+number
			if there && empty && stale != nil {
				stale()
			}
			return there && told
		})
	}
	page("1 of 1", Beyond{}, nil)
	b.chord(0xffe3, 0xff0d) // Ctrl+Return begins a page
	b.chord(0xffe3, 0xff0d)
	page("3 of 3", Beyond{Above: Some}, nil)
	home := func() { b.chord(0xffe3, 0xff50) } // Ctrl+Home
	home()
	// 3 of 230 times, on a busy machine, LibreOffice 7.4 went on telling of a view without the
	// paragraph that it showed: at (0,147)-(1,148) and not showing, to any client, until it scrolled
	// again. Of a document that tells nothing the screen is read from the picture instead.
	page("1 of 3", Beyond{Below: Some}, func() {
		b.chord(0xff56) // Page Down
		home()
		time.Sleep(time.Second)
	})
}

// The fields of a dialog are called what the labels that are for them say, and the
// paragraphs of a letter have the caret.
func TestReadDialog(t *testing.T) {
	b := newBench(t, nil)
	b.open("soffice", "--writer", "--norestore", "--nologo", "--nofirststartwizard")
	b.wait("the letter", func(n Node) bool { return n.Role == "paragraph" && n.Has("focused") })
	b.typeKeys("ann")
	b.wait("the caret", func(n Node) bool { return n.Role == "paragraph" && n.Text == "ann" && n.Caret == 4 })
	b.testFlow()
	b.chord(0xffe3, 0xffc9) // Ctrl+F12 inserts a table
	nodes, i := b.waitAll("the dialog", func(n Node) bool { return n.Label == "Rows:" })
	assert.Equal(t, "spin button", nodes[i].Role)
	assert.Equal(t, LabelRelation, nodes[i].LabelFrom)
	assert.Contains(t, nodes[i].Help, "rows")
	assert.True(t, nodes[i].Settable)
	columns := slices.IndexFunc(nodes, func(n Node) bool { return n.Label == "Columns:" })
	require.GreaterOrEqual(t, columns, 0)
	label := slices.IndexFunc(nodes, named("label", "Columns:"))
	require.GreaterOrEqual(t, label, 0)
	assert.Less(t, nodes[label].Box.Max.X, nodes[columns].Box.Min.X, "the field on the right of that label")
	assert.Less(t, nodes[columns].Box.Max.X, nodes[i].Box.Min.X)
	require.NoError(t, b.Set(t.Context(), permit.Grant(), nodes[i], "7"))
	b.wait("the number", func(n Node) bool { return n.Label == "Rows:" && n.Text == "7" })
}

// The figures: a whole tree of an editor, and of a spreadsheet of the size of
// the screen.
func BenchmarkRead(b *testing.B) {
	b.Run("mousepad", func(b *testing.B) {
		desk := newBench(b, nil)
		desk.open("mousepad")
		desk.wait("the editor", named("menu", "File"))
		desk.measure(b)
	})
	b.Run("calc", func(b *testing.B) {
		desk := newBench(b, nil)
		desk.openCalc()
		desk.measure(b)
	})
}

func (b *bench) measure(tb *testing.B) {
	nodes := 0
	for tb.Loop() {
		list, hung, err := b.Read(tb.Context())
		require.NoError(tb, err)
		require.Empty(tb, hung)
		nodes = len(list)
	}
	tb.ReportMetric(float64(nodes), "nodes")
}
