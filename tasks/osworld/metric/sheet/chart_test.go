package sheet

import (
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"desktop-agent/tasks/office/xlsx"
)

// charted makes a workbook with charts.
func charted(t *testing.T, charts ...*excelize.Chart) string {
	return with(t, func(f *excelize.File) {
		for i, c := range charts {
			no(f.AddChart("Sheet1", xlsx.Pos{Row: 1 + 20*i, Col: 5}.String(), c))
		}
	})
}

// series makes a chart of a column of the table.
func series(kind excelize.ChartType, column string, title ...string) *excelize.Chart {
	c := &excelize.Chart{Type: kind, Series: []excelize.ChartSeries{{
		Values: "Sheet1!$" + column + "$2:$" + column + "$4", Categories: "Sheet1!$A$2:$A$4",
	}}, Legend: excelize.ChartLegend{Position: "bottom"}}
	for _, text := range title {
		c.Title.Paragraph = append(c.Title.Paragraph, excelize.RichTextRun{Text: text})
	}
	return c
}

// TestChartRule has charts that differ in one thing.
func TestChartRule(t *testing.T) {
	bar := charted(t, series(excelize.Bar, "B", "Sums", " of all"))
	line := charted(t, series(excelize.Line, "B", "Sums", " of some"))
	rates := charted(t, series(excelize.Bar, "C", "Sums"))
	col := charted(t, series(excelize.Col, "B"))
	scatter, scatter2 := charted(t, series(excelize.Scatter, "B")), charted(t, series(excelize.Scatter, "C"))
	two := charted(t, series(excelize.Bar, "B"), series(excelize.Bar, "B"))
	wide := series(excelize.Bar, "B")
	wide.Dimension.Width = 900
	broad := charted(t, wide)
	absolute := rezip(t, bar, map[string]func(string) string{"xl/charts/chart1.xml": func(s string) string {
		return strings.NewReplacer("Sheet1!$B$2:$B$4", "'Sheet1'!B2:B4").Replace(s)
	}})
	lost := rezip(t, bar, map[string]func(string) string{"xl/charts/chart1.xml": nil})
	const key = `chart "Sheet1!B2:B4,Sheet1!A2:A4"`
	for _, tt := range []struct{ result, expected, props, why, compat string }{
		{bar, bar, `"type","title","direction","legend","anchor","width","height","xtitle","ytitle","ztitle"`, "", ""},
		{bar, line, `"legend"`, "", ""},
		{bar, line, `"type"`, `type of ` + key + ` is "barChart", expected "lineChart"`, "type of chart"},
		{bar, line, `"title"`, `is "Sums\n of all", expected "Sums\n of some"`, ""},
		{bar, col, `"title"`, `is "Sums\n of all", expected blank`, `is "Sums", expected blank`},
		{bar, col, `"direction"`, `is "bar", expected "col"`, `is "bar", expected "col"`},
		{bar, rates, ``, key + " is there", "is there"},
		{scatter, scatter2, `"type"`, key + " is there", ""},
		{two, bar, `"type"`, "(2)", ""},
		{broad, bar, `"width"`, "width of", ""},
		{broad, bar, `"height"`, "", ""},
		{broad, bar, `"anchor"`, "anchor of", "anchor of"},
		{absolute, bar, `"type"`, "", "is there"},
		{lost, bar, `"type"`, "no such part", "no such part"},
		{bar, lost, `"type"`, "error: no such part", "error: no such part"},
		{bar, bar, `"smell"`, "error: smell", "error: smell"},
	} {
		rule := `{"type":"chart","sheet_idx0":0,"sheet_idx1":"EI0","chart_props":[` + tt.props + `]}`
		check(t, tt.result, tt.expected, rule, false, tt.why)
		check(t, tt.result, tt.expected, rule, true, tt.compat)
	}
}

// pivoted makes a workbook with a pivot table, its XML changed.
func pivoted(t *testing.T, changes ...string) string {
	t.Helper()
	do := func(s string) string { return strings.NewReplacer(changes...).Replace(s) }
	return rezip(t, "testdata/pivot-lo.xlsx", map[string]func(string) string{
		"xl/pivotTables/pivotTable1.xml": do, "xl/pivotCache/pivotCacheDefinition1.xml": do,
	})
}

// TestPivotRule has pivot tables that differ in one thing.
func TestPivotRule(t *testing.T) {
	same := pivoted(t)
	for _, tt := range []struct{ result, props, why, compat string }{
		{same, `"name","show_total","show_empty_row","show_empty_col","show_headers","location","selection","ordered","filter","col_fields","row_fields","data_fields","data_fields_name"`, "", ""},
		{pivoted(t, `<rowFields count="1"><field x="1"/>`, `<rowFields count="1"><field x="2"/>`), `"row_fields"`, `row_fields of pivot table of "worksheet;B1:D4;Sheet1" is "1", expected "0"`, "row_fields"},
		{pivoted(t, `<rowFields count="1"><field x="1"/>`, `<rowFields count="1"><field x="2"/>`), `"col_fields"`, "", ""},
		{pivoted(t, `subtotal="sum"`, `subtotal="count"`), `"data_fields"`, "data_fields of", "data_fields of"},
		{pivoted(t, `name="Total"`, `name="Sum of all"`), `"data_fields"`, "", ""},
		{pivoted(t, `name="Total"`, `name="Sum of all"`), `"data_fields","data_fields_name"`, "data_fields of", "data_fields of"},
		{pivoted(t, `ref="A1:E4"`, `ref="A1:E3"`), ``, `pivot table of "worksheet;B1:D3;Sheet1" is there`, "is there"},
		{pivoted(t, `<item x="0"/>`, `<item h="1" x="0"/>`), `"filter"`, "selection of", "selection of"},
		{pivoted(t, `ref="A1:E4"`, `ref="all"`), ``, "not a range", "not a range"},
		{pivoted(t, `fld="3"`, `fld="three"`), `"filter"`, "no number", "no number"},
	} {
		rule := `{"type":"pivot_table","sheet_idx0":"RNSheet2","sheet_idx1":"ENSheet2","pivot_props":[` + tt.props + `]}`
		check(t, tt.result, same, rule, false, tt.why)
		check(t, tt.result, same, rule, true, tt.compat)
	}
}
