//go:build linux

package atspi

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// openCalc opens a small spreadsheet in a program that is slow to start.
func (b *bench) openCalc() {
	b.Helper()
	sheet, err := filepath.Abs("testdata/sheet.fods")
	require.NoError(b, err)
	b.open("soffice", "--calc", "--norestore", "--nologo", "--nofirststartwizard", "--nolockcheck", "--view", sheet)
	b.wait("the sheet", named("table cell", "B2"))
}

// LibreOffice says that a sheet has 16 billion cells, and puts all that it
// draws itself too high by its menu bar: both must be seen through.
func TestReadSpreadsheet(t *testing.T) {
	b := newBench(t, nil)
	b.openCalc()
	nodes, hung := b.tree()
	assert.Empty(t, hung)
	cell := func(name string) Node {
		t.Helper()
		i := slices.IndexFunc(nodes, named("table cell", name))
		require.GreaterOrEqual(t, i, 0, name)
		return nodes[i]
	}
	assert.Equal(t, "Apples", cell("A2").Text)
	assert.Equal(t, "12.5", cell("B2").Text)
	assert.Equal(t, "far away", cell("F20").Text)
	assert.Empty(t, cell("C3").Text)
	table := nodes[cell("A1").Parent]
	assert.Equal(t, "table", table.Role)
	assert.Equal(t, table.Box.Min, cell("A1").Box.Min)
	cells := 0
	for _, n := range nodes {
		if n.Role == "table cell" {
			cells++
			assert.True(t, n.Box.In(table.Box), "%+v in %v", n, table.Box)
		}
	}
	assert.Greater(t, cells, 100)
	assert.Less(t, cells, maxCells)

	// A click on the cell, as drawn by the program itself, selects that one, as
	// the name box, drawn by GTK, tells.
	b.click(cell("D7").Box)
	box := b.wait("the name box", func(n Node) bool { return n.Role == "text" && n.Text == "D7" })
	b.click(box.Box)
	b.wait("the focus", func(n Node) bool { return n.Text == "D7" && slices.Contains(n.States, "focused") })
	b.click(b.wait("menu", named("menu", "File")).Box)
	b.wait("menu item", func(n Node) bool { return n.Role == "menu item" && strings.HasPrefix(n.Name, "Properties") })
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
