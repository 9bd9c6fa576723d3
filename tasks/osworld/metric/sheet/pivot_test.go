package sheet

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"desktop-agent/tasks/office/xlsx"
)

var golden = flag.Bool("golden", false, "write testdata/pivot.xlsx")

// TestPivotFile writes the workbook that testdata/looks.py has others read.
func TestPivotFile(t *testing.T) {
	if !*golden {
		t.Skip("testdata/pivot.xlsx is written with -golden only")
	}
	f := excelize.NewFile()
	defer f.Close()
	for i, row := range [][]any{
		{"Note", "Region", "Item", "Month", "Sum"},
		{"a", "North", "Pen", "May", 10}, {"b", "South", "Pen", "June", 20}, {"c", "North", "Ink", "June", 30},
	} {
		require.NoError(t, f.SetSheetRow("Sheet1", xlsx.Pos{Row: i + 1, Col: 1}.String(), &row))
	}
	_, err := f.NewSheet("Sheet2")
	require.NoError(t, err)
	require.NoError(t, f.AddPivotTable(&excelize.PivotTableOptions{
		DataRange: "Sheet1!A1:E4", PivotTableRange: "Sheet2!A3:D9", Name: "Pivot",
		Rows:           []excelize.PivotTableField{{Data: "Region", DefaultSubtotal: true}},
		Columns:        []excelize.PivotTableField{{Data: "Item", DefaultSubtotal: true}},
		Filter:         []excelize.PivotTableField{{Data: "Month"}},
		Data:           []excelize.PivotTableField{{Data: "Sum", Name: "Total", Subtotal: "Sum"}},
		RowGrandTotals: true, ColGrandTotals: true, ShowDrill: true, ShowRowHeaders: true, ShowColHeaders: true,
	}))
	require.NoError(t, f.SaveAs("testdata/pivot.xlsx"))
}
