package sheet

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"desktop-agent/tasks/office/xlsx"
)

// filled makes a style with a fill.
func filled(f *excelize.File, colour string) int {
	id, err := f.NewStyle(&excelize.Style{Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{colour}}})
	no(err)
	return id
}

// marked makes a workbook with conditional formats of red text on yellow.
func marked(t *testing.T, formats map[string]excelize.ConditionalFormatOptions) string {
	return with(t, func(f *excelize.File) {
		id, err := f.NewConditionalStyle(&excelize.Style{Font: &excelize.Font{Color: "FF0000"},
			Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"FFFF00"}}})
		no(err)
		for area, o := range formats {
			o.Format = &id
			no(f.SetConditionalFormat("Sheet1", area, []excelize.ConditionalFormatOptions{o}))
		}
	})
}

// TestConditional has formats that are active in known cells of the table.
func TestConditional(t *testing.T) {
	for _, tt := range []struct {
		area string
		o    excelize.ConditionalFormatOptions
		want string
	}{
		{"B2:B4", excelize.ConditionalFormatOptions{Type: "formula", Criteria: "B2>1"}, "B3 B4"},
		{"B2:C4", excelize.ConditionalFormatOptions{Type: "formula", Criteria: "$B2>C2*1.5"}, "B2 B3 C2 C3 C4"},
		{"A2:A4", excelize.ConditionalFormatOptions{Type: "formula", Criteria: `AND(A2<>"Ann",$C2<$C$4)`}, "A3"},
		{"A2:A4", excelize.ConditionalFormatOptions{Type: "formula", Criteria: `VLOOKUP(A2,$A$2:$C$4,2,FALSE)=3`}, "A4"},
		{"A2:A4", excelize.ConditionalFormatOptions{Type: "formula", Criteria: `A2="B2"`}, ""},
		{"A2:A4", excelize.ConditionalFormatOptions{Type: "formula", Criteria: `MOD(ROW(),2)=0`}, "A2 A4"},
		{"B2:B4", excelize.ConditionalFormatOptions{Type: "formula", Criteria: `AND(ISNUMBER(B2),B2>=LARGE($B$2:$B$4,MIN(COUNT($B$2:$B$4),2)))`}, "B3 B4"},
		{"B2:B4", excelize.ConditionalFormatOptions{Type: "formula", Criteria: `OR((B2+1)*2>7,LEFT(A2,1)="A")`}, "B2 B4"},
		{"B2:B4", excelize.ConditionalFormatOptions{Type: "formula", Criteria: `IFERROR(MATCH(A2,$C$2:$C$4,0),B2-2)<0`}, "B2"},
		{"B2:B4", excelize.ConditionalFormatOptions{Type: "formula", Criteria: `NOT(ISERROR(SEARCH("(b",A2)))`}, ""},
		{"B2:B4", excelize.ConditionalFormatOptions{Type: "formula", Criteria: `1/0`}, ""},
		{"B2:B4", excelize.ConditionalFormatOptions{Type: "formula", Criteria: `RIGHT("a"&B2)="2"`}, "B3"},
		{"B2:B4", excelize.ConditionalFormatOptions{Type: "cell", Criteria: ">=", Value: "2"}, "B3 B4"},
		{"B2:B4", excelize.ConditionalFormatOptions{Type: "cell", Criteria: "between", MinValue: "2", MaxValue: "2.5"}, "B3"},
		{"B2:C4", excelize.ConditionalFormatOptions{Type: "cell", Criteria: "not between", MinValue: "1", MaxValue: "2.5"}, "B4 C2 C4"},
		{"B2:B4", excelize.ConditionalFormatOptions{Type: "top", Criteria: "=", Value: "2"}, "B3 B4"},
		{"B2:B4", excelize.ConditionalFormatOptions{Type: "bottom", Criteria: "=", Value: "1"}, "B2"},
		{"B2:B4", excelize.ConditionalFormatOptions{Type: "average", Criteria: "=", AboveAverage: true}, "B4"},
		{"A2:A4", excelize.ConditionalFormatOptions{Type: "text", Criteria: "containing", Value: "n"}, "A2"},
		{"A1:C4", excelize.ConditionalFormatOptions{Type: "unique", Criteria: "="}, "A1 A2 A3 A4 B1 B2 B3 B4 C1 C2 C3 C4"},
		{"A1:C4", excelize.ConditionalFormatOptions{Type: "duplicate", Criteria: "="}, ""},
	} {
		b, err := xlsx.Open(marked(t, map[string]excelize.ConditionalFormatOptions{tt.area: tt.o}), "result")
		require.NoError(t, err)
		s, err := b.Sheet("Sheet1")
		require.NoError(t, err)
		marks, err := (&comparison{}).conditional(t.Context(), s)
		require.NoError(t, err, tt.o)
		var got []string
		for _, p := range s.Positions() {
			if marks[p] != nil {
				got = append(got, p.String())
			}
		}
		b.Close()
		assert.ElementsMatch(t, strings.Fields(tt.want), got, tt.o)
	}
}

// TestStyle compares looks that conditional formats give with those of cells.
func TestStyle(t *testing.T) {
	above := func(n string) map[string]excelize.ConditionalFormatOptions {
		return map[string]excelize.ConditionalFormatOptions{"B2:B4": {Type: "formula", Criteria: "B2>" + n}}
	}
	one, two, same := marked(t, above("1")), marked(t, above("2")), marked(t, above("1.5"))
	plain := with(t, nil)
	wide := with(t, func(f *excelize.File) { no(f.SetCellStyle("Sheet1", "F9", "F9", filled(f, "FFFFFF"))) })
	bare := with(t, func(f *excelize.File) {
		id, err := f.NewStyle(&excelize.Style{NumFmt: 2})
		no(err)
		no(f.SetCellStyle("Sheet1", "E9", "E9", id))
	})
	const rule = `{"type":"style","sheet_idx0":0,"sheet_idx1":"EI0","props":["bgcolor"]}`
	const font = `{"type":"style","sheet_idx0":0,"sheet_idx1":"EI0","props":["font_color","font_bold"]}`
	for _, tt := range []struct{ result, expected, rule, why, compat string }{
		{one, one, rule, "", ""},
		{one, same, rule, "", ""},
		{one, two, rule, `bgcolor of cell B3 is "FFFFFF00", expected "00000000"`, "B3"},
		{plain, one, rule, "B3", "B3"},
		{wide, wide, rule, "", ""},
		{bare, plain, rule, "", "cell E9 is in only one of them"},
		{wide, plain, strings.Replace(rule, "bgcolor", "fgcolor", 1), "fgcolor of cell F9", "in only one"},
		{one, same, font, "", ""},
		{one, plain, font, "font_color of cell B3 is", ""},
		{plain, plain, `{"type":"style","sheet_idx0":"RNx","sheet_idx1":"RNy","props":["bgcolor"]}`, "no sheet", ""},
		{plain, plain, `{"type":"style","sheet_idx0":0,"sheet_idx1":"EI0","props":["smell"]}`, "error: smell", "error: smell"},
	} {
		check(t, tt.result, tt.expected, tt.rule, false, tt.why)
		if tt.rule != font {
			check(t, tt.result, tt.expected, tt.rule, true, tt.compat)
		}
	}
	cell := marked(t, map[string]excelize.ConditionalFormatOptions{"B2:B4": {Type: "cell", Criteria: ">", Value: "1"}})
	check(t, cell, one, rule, false, "")
	check(t, cell, one, rule, true, `error: does not know conditional formats of type "cellIs"`)
}

// TestShift moves formulas, and refuses those that are unusual.
func TestShift(t *testing.T) {
	for formula, want := range map[string]string{
		"A1+$B1+C$1+$D$1":                "C3+B3+E1+D1",
		`IF(A1="A1",SUM(A1:B2),"it""s")`: `IF(C3="A1",SUM(C3:D4),"it""s")`,
		"A1>1.5E3":                       "C3>1.5E3",
		"MOD(ROW(),COLUMN())":            "MOD(3,3)",
	} {
		got, _, err := shift(formula, xlsx.Pos{Row: 1, Col: 1}, xlsx.Pos{Row: 3, Col: 3})
		require.NoError(t, err, formula)
		assert.Equal(t, want, got)
	}
	for formula, want := range map[string]string{
		"INDIRECT(A1)": "function INDIRECT", "REPT(A1,9)": "REPT", "Other!A1": "other sheets", "'My Data'!A1": "other sheets",
		"SUM(A:A)": "whole columns", "SUM(A1:XFD1048576)": "too large", strings.Repeat("1+", 2000): "longer",
	} {
		_, _, err := shift(formula, xlsx.Pos{Row: 1, Col: 1}, xlsx.Pos{Row: 1, Col: 1})
		require.ErrorContains(t, err, want, formula)
	}
	_, _, err := shift("A1", xlsx.Pos{Row: 2, Col: 1}, xlsx.Pos{Row: 1, Col: 1})
	require.ErrorContains(t, err, "off the sheet")
}

// TestMerge compares which cells are merged, and what fills without a pattern are.
func TestMerge(t *testing.T) {
	plain := with(t, nil)
	merge := func(from, to string) string {
		return with(t, func(f *excelize.File) { no(f.MergeCell("Sheet1", from, to)) })
	}
	const rule = `{"type":"style","sheet_idx0":0,"sheet_idx1":"EI0","props":["merge"]}`
	for _, tt := range []struct{ result, expected, why, compat string }{
		{merge("A1", "B2"), merge("A1", "B2"), "", ""},
		{merge("A1", "B2"), merge("A1", "B1"), "merge of cell A2 is True, expected False", "A2"},
		{plain, merge("B4", "C4"), "merge of cell C4 is False, expected True", "C4"},
		{merge("E6", "F6"), plain, "merge of cell F6 is True, expected False", "is in only one of them"},
	} {
		check(t, tt.result, tt.expected, rule, false, tt.why)
		check(t, tt.result, tt.expected, rule, true, tt.compat)
	}
	hidden := rezip(t, with(t, func(f *excelize.File) { no(f.SetCellStyle("Sheet1", "B2", "B2", filled(f, "FFFF00"))) }),
		map[string]func(string) string{"xl/styles.xml": func(s string) string { return strings.ReplaceAll(s, `"solid"`, `"none"`) }})
	const fill = `{"type":"style","sheet_idx0":0,"sheet_idx1":"EI0","props":["bgcolor"]}`
	check(t, hidden, plain, fill, false, "")
	check(t, hidden, plain, fill, true, "bgcolor of cell B2")
}
