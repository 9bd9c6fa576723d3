package sheet

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/tasks/office/xlsx"
	"desktop-agent/tasks/osworld/defect"
)

// seen is what openpyxl saw in a sheet; see testdata/looks.py.
type seen struct {
	Styles, Charts map[string]map[string]any
	Rows, Cols     map[string]map[string]any
	Freeze, Filter any
	Zoom           any
	Validations    []map[string]any
	Pivots         []struct {
		Type, Ref, Sheet, Name string
		Rows, Cols, Pages      []int
		Data                   []string
		Items                  [][][2]any
	}
}

// eachSeen calls do with each sheet of each file that openpyxl read, opened with
// the reference's defects.
func eachSeen(t *testing.T, do func(t *testing.T, c *comparison, s *xlsx.Sheet, want seen)) {
	t.Helper()
	data, err := os.ReadFile("testdata/looks.json")
	require.NoError(t, err)
	var files map[string]map[string]seen
	require.NoError(t, json.Unmarshal(data, &files))
	require.Len(t, files, 4)
	for name, sheets := range files {
		b, err := xlsx.Open("testdata/"+name, "result")
		require.NoError(t, err)
		t.Cleanup(b.Close)
		require.Len(t, b.Sheets, len(sheets))
		for title, want := range sheets {
			t.Run(name+" "+title, func(t *testing.T) {
				s, err := b.Sheet(title)
				require.NoError(t, err)
				do(t, &comparison{result: b, Set: defect.When(true)}, s, want)
			})
		}
	}
}

func TestLooks(t *testing.T) {
	eachSeen(t, func(t *testing.T, c *comparison, s *xlsx.Sheet, want seen) {
		for at, props := range want.Styles {
			p, ok := xlsx.ParsePos(at)
			require.True(t, ok)
			for name, v := range props {
				assert.Equal(t, v, c.property(name, s, p, c.styleAt(s, p)), "%s of %s", name, at)
			}
		}
		assert.Equal(t, want.Freeze, c.frozen(s))
		zoom := number(s.Other["sheetViews"].Child("sheetView"), "zoomScale", nil)
		assert.Equal(t, want.Zoom, zoom)
		assert.Equal(t, want.Filter, optional(s.Other["autoFilter"], "ref"))
	})
}

func TestDimensions(t *testing.T) {
	eachSeen(t, func(t *testing.T, c *comparison, s *xlsx.Sheet, want seen) {
		for what, got := range map[string]map[string]any{
			"rows": c.rowDimensions(s, []string{"hidden", "height", "collapsed"}),
			"cols": c.colDimensions(s, []string{"hidden", "width", "min", "max"}),
		} {
			all := want.Rows
			if what == "cols" {
				all = want.Cols
			}
			plain := map[string]map[string]any{}
			for name, info := range got {
				plain[name] = info.(map[string]any)
			}
			assert.Equal(t, all, plain, what)
		}
	})
}

func TestValidations(t *testing.T) {
	eachSeen(t, func(t *testing.T, _ *comparison, s *xlsx.Sheet, want seen) {
		list := slices.Collect(s.Other["dataValidations"].All("dataValidation"))
		require.Len(t, list, len(want.Validations))
		for i, props := range want.Validations {
			rules := map[string]any{}
			for name, v := range props {
				rules[name] = map[string]any{"method": "eq", "ref": v}
			}
			why, err := validates(list[i], rules)
			require.NoError(t, err)
			assert.Empty(t, why)
			for name := range props {
				why, err := validates(list[i], map[string]any{name: map[string]any{"method": "eq", "ref": "x"}})
				require.NoError(t, err)
				assert.NotEmpty(t, why)
			}
		}
	})
}

func TestCharts(t *testing.T) {
	eachSeen(t, func(t *testing.T, c *comparison, s *xlsx.Sheet, want seen) {
		props := map[string]bool{"title": true, "legend": true, "type": true, "direction": true, "xtitle": true, "ytitle": true}
		all, err := c.charts(s, props)
		require.NoError(t, err)
		assert.Len(t, all, len(want.Charts))
		for key, info := range want.Charts {
			assert.Equal(t, any(info), all[key], key)
		}
	})
}

func TestPivots(t *testing.T) {
	eachSeen(t, func(t *testing.T, c *comparison, s *xlsx.Sheet, want seen) {
		props := map[string]bool{"name": true, "filter": true, "col_fields": true, "row_fields": true, "data_fields": true, "data_fields_name": true, "ordered": true}
		all, err := c.pivots(s, props)
		require.NoError(t, err)
		require.Len(t, all, len(want.Pivots))
		for _, w := range want.Pivots {
			left, right := 0, 0
			for left < len(w.Items) && len(w.Items[left]) == 0 {
				left++
			}
			for right < len(w.Items)-left && len(w.Items[len(w.Items)-1-right]) == 0 {
				right++
			}
			area, err := xlsx.ParseAreas(w.Ref)
			require.NoError(t, err)
			area[0].From.Col, area[0].To.Col = area[0].From.Col+left, area[0].To.Col-right
			key := fmt.Sprintf("%s;%v:%v;%s", w.Type, area[0].From, area[0].To, w.Sheet)
			info, ok := all[key].(map[string]any)
			require.True(t, ok, "%s in %v", key, all)
			biased := func(list []int, bias int) string {
				var texts []string
				for _, i := range list {
					texts = append(texts, fmt.Sprint(i-bias))
				}
				return strings.Join(texts, " ")
			}
			assert.Equal(t, w.Name, info["name"])
			assert.Equal(t, biased(w.Rows, left), info["row_fields"])
			assert.Equal(t, biased(w.Cols, left), info["col_fields"])
			assert.Equal(t, biased(w.Pages, 0), info["filter_fields"])
			var items [][]string
			for _, field := range w.Items[left : len(w.Items)-right] {
				var list []string
				for _, i := range field {
					list = append(list, fmt.Sprintf("%v %v", i[0], i[1]))
				}
				items = append(items, list)
			}
			if len(items) > 0 {
				assert.Equal(t, fmt.Sprintf("%q", items), info["selection"])
			}
			require.Len(t, w.Data, 1)
			field, rest, _ := strings.Cut(w.Data[0], ";")
			var n int
			_, err = fmt.Sscan(field, &n)
			require.NoError(t, err)
			assert.Equal(t, fmt.Sprintf("%d;%s", n-left, rest), info["data_fields"])
		}
	})
}

// TestRewritten compares a workbook with what LibreOffice made of it.
func TestRewritten(t *testing.T) {
	for _, tt := range []struct {
		file, rule string
		why        string // "" if the two are equal
	}{
		{"looks", `{"type":"sheet_data","sheet_idx0":0,"sheet_idx1":"EI0"}`, "column D is not there"}, // D2 has no stored value in the first
		{"looks", `{"type":"sheet_data","sheet_idx0":1,"sheet_idx1":"EI1"}`, ""},
		{"looks", `{"type":"sheet_name"}`, ""},
		{"looks", `{"type":"chart","sheet_idx0":1,"sheet_idx1":"EI1","chart_props":["type","title","direction","xtitle","ytitle","legend"]}`, ""},
		{"looks", `{"type":"row_props","sheet_idx0":0,"sheet_idx1":"EI0","props":["hidden"]}`, ""},
		{"looks", `{"type":"col_props","sheet_idx0":0,"sheet_idx1":"EI0","props":["hidden"]}`, ""},
		{"looks", `{"type":"style","sheet_idx0":0,"sheet_idx1":"EI0","props":["number_format","font_bold","font_italic","font_underline"]}`, ""},
		{"looks", `{"type":"style","sheet_idx0":0,"sheet_idx1":"EI0","props":["fgcolor"]}`, ""},
		{"looks", `{"type":"style","sheet_idx0":0,"sheet_idx1":"EI0","props":["font_color"]}`, ""},
		{"looks", `{"type":"style","sheet_idx0":0,"sheet_idx1":"EI0","props":["hyperlink"]}`, ""},
		{"looks", `{"type":"style","sheet_idx0":1,"sheet_idx1":"EI0","props":["font_bold"]}`, "font_bold of cell A1 is False, expected True"},
		{"looks", `{"type":"freeze","sheet_idx0":0,"sheet_idx1":"EI0"}`, `frozen at "B2", expected blank`},
		{"looks", `{"type":"filter","sheet_idx0":1,"sheet_idx1":"EI0"}`, `filter "column 0" is not there`},
		{"pivot", `{"type":"pivot_table","sheet_idx0":1,"sheet_idx1":"EN Sheet2","pivot_props":["row_fields"]}`, "error: the expected workbook has no sheet"},
		{"pivot", `{"type":"pivot_table","sheet_idx0":"RNSheet2","sheet_idx1":"ENSheet2","pivot_props":["col_fields","filter","row_fields","data_fields"]}`, `pivot table of "worksheet;A1:E4;Sheet1" is there, expected ["worksheet;B1:D4;Sheet1"]`},
	} {
		t.Run(tt.file+tt.rule, func(t *testing.T) {
			check(t, "testdata/"+tt.file+".xlsx", "testdata/"+tt.file+"-lo.xlsx", tt.rule, false, tt.why)
		})
	}
	for _, name := range []string{"looks.xlsx", "looks-lo.xlsx", "pivot.xlsx", "pivot-lo.xlsx"} {
		for _, compat := range []bool{false, true} {
			file := "testdata/" + name
			check(t, file, file, `{"type":"sheet_data","sheet_idx0":0,"sheet_idx1":"EI0"}`, compat, "")
			check(t, file, file, `{"type":"chart","sheet_idx0":0,"sheet_idx1":"EI0","chart_props":["type","anchor","width","height"]}`, compat, "")
			check(t, file, file, `{"type":"filter","sheet_idx0":0,"sheet_idx1":"EI0"}`, compat, "")
			check(t, file, file, `{"type":"sparkline","sheet_idx0":0,"sheet_idx1":"EI0"}`, compat, "")
			check(t, file, file, `{"type":"pivot_table","sheet_idx0":1,"sheet_idx1":"EI1","pivot_props":["name","location","show_total"]}`, compat, "")
			check(t, file, file, `{"type":"style","sheet_idx0":0,"sheet_idx1":"EI0","props":["bgcolor","fill_type","font_size","font_family","font_name"]}`, compat, "")
		}
	}
}
