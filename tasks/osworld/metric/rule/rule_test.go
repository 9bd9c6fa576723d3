package rule_test

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/metric/rule"
)

// TestGolden compares with Python 3.11; the file is made by testdata/golden.py.
func TestGolden(t *testing.T) {
	data, err := os.ReadFile("testdata/golden.json")
	require.NoError(t, err)
	var golden struct {
		Searches []struct {
			Pattern, Text string
			Flags         []string
			Found         bool
		}
		Values []any
		Equal  []string // a table of "=" and "."
		Floats []struct {
			Text  string
			Float *string
		}
	}
	require.NoError(t, json.Unmarshal(data, &golden))
	require.Greater(t, len(golden.Searches), 50)
	for _, g := range golden.Searches {
		re, err := rule.Compile(g.Pattern, g.Flags...)
		require.NoError(t, err, g.Pattern)
		found, err := re.Search(g.Text)
		require.NoError(t, err)
		assert.Equal(t, g.Found, found, "%q %v in %q", g.Pattern, g.Flags, g.Text)
	}
	require.Len(t, golden.Equal, len(golden.Values))
	for i, a := range golden.Values {
		for j, b := range golden.Values {
			assert.Equal(t, golden.Equal[i][j] == '=', rule.Equal(a, b), "%v == %v", a, b)
		}
	}
	for _, g := range golden.Floats {
		f, ok := rule.Float(g.Text)
		assert.Equal(t, g.Float != nil, ok, "float(%q)", g.Text)
		if g.Float != nil && ok {
			want, err := strconv.ParseFloat(*g.Float, 64)
			require.NoError(t, err)
			assert.True(t, f == want || math.IsNaN(f) && math.IsNaN(want), "float(%q) is %v, want %v", g.Text, f, want)
		}
	}
}

func TestHolds(t *testing.T) {
	for _, tt := range []struct {
		method     string
		ref, value any
		want       bool
		wantErr    string // part of it
	}{
		{"eq", 1.0, 1.0, true, ""},
		{"eq", "a", nil, false, ""},
		{"eq", nil, nil, true, ""},
		{"eq", []any{"a"}, []string{"a"}, true, ""},
		{"eq", 3.0, 3, true, ""},
		{"eq", 3.0, json.Number("3"), true, ""},
		{"eq", map[string]any{"a": 1.0}, tasks.Params{"a": 1}, true, ""},
		{"ne", "a", "b", true, ""},
		{"ne", "a", nil, true, ""},
		{"le", 2.0, 2.0, true, ""},
		{"lt", 2.0, 2.0, false, ""},
		{"lt", 2.0, true, true, ""},
		{"ge", 2.0, 2.0, true, ""},
		{"gt", 2.0, 2.5, true, ""},
		{"gt", 2.0, "3", false, ""},
		{"gt", 2.0, nil, false, ""},
		{"gt", 2.0, math.NaN(), false, ""},
		{"lt", "b", "a", true, ""},
		{"lt", nil, 1.0, false, "ref"},
		{"approx:0.1", 1.0, 1.05, true, ""},
		{"approx:0.1", 1.0, "1.05", true, ""},
		{"approx:0.1", 1.0, " 0.95\n", true, ""},
		{"approx:0.1", 1.0, 1.2, false, ""},
		{"approx:0.1", 1.0, "x", false, ""},
		{"approx:0.1", 1.0, nil, false, ""},
		{"approx:0.1", 1.0, []any{1.0}, false, ""},
		{"approx:0.1", "1", 1.0, false, "ref"},
		{"approx", 1.0, 1.0, false, "approx:0.1"},
		{"approx:x", 1.0, 1.0, false, "approx:0.1"},
		{"range.te", []any{0.0, 2.0}, 0.0, false, ""},
		{"range.te", []any{0.0, 2.0}, 2.0, true, ""},
		{"range.et", []any{0.0, 2.0}, 0.0, true, ""},
		{"range.et", []any{0.0, 2.0}, 2.0, false, ""},
		{"range.tt", []any{0.0, 2.0}, 1.0, true, ""},
		{"range.ee", []any{0.0, 2.0}, 3.0, false, ""},
		{"range.ee", []any{0.0, 2.0}, "1", false, ""},
		{"range.e", []any{0.0, 2.0}, 1.0, false, "range.tt"},
		{"range.xx", []any{0.0, 2.0}, 1.0, false, "range.tt"},
		{"range.ee", []any{0.0}, 1.0, false, "ref"},
		{"str_list_eq", []any{"a", "b"}, `"a,b"`, true, ""},
		{"str_list_eq", []any{"b", "a"}, "a,b", false, ""},
		{"str_list_eq", []any{""}, "", true, ""},
		{"str_set_eq", []any{"b", "a"}, "'a,b,a'", true, ""},
		{"str_set_eq", []any{"b", "a"}, "a", false, ""},
		{"str_set_eq", []any{"a"}, "a,b", false, ""},
		{"str_set_eq", []any{"a"}, 1.0, false, ""},
		{"str_set_eq", "a", "a", false, "ref"},
		{"re", "^a", "abc", true, ""},
		{"re", "^b", "abc", false, ""},
		{"re.I", "ABC", "abc", true, ""},
		{"re.I.M", "^B", "a\nb", true, ""},
		{"re.IGNORECASE", "ABC", "abc", true, ""},
		{"re.Q", "a", "a", false, "unknown flag"},
		{"re", "(", "a", false, `"("`},
		{"re", 1.0, "a", false, "ref"},
		{"re", "a", 1.0, false, ""},
		{"re", "a", nil, false, ""},
		{"spreadsheet_range", []any{"A1:B2", "A1:C9"}, "A1:C3", true, ""},
		{"spreadsheet_range", []any{"A1:B2", "A1:C9"}, "A1", false, ""},
		{"spreadsheet_range", []any{"A1:B2", "A1:C9"}, "A1:D3", false, ""},
		{"spreadsheet_range", []any{"A1 C3", "A:D"}, "$A$1:$B$2 c3", true, ""},
		{"spreadsheet_range", []any{"A1", "1:2"}, "B2:A1", true, ""},
		{"spreadsheet_range", []any{"A1", "1:2"}, "", false, ""},
		{"spreadsheet_range", []any{"A1", "1:2"}, "A0", false, ""},
		{"spreadsheet_range", []any{"A1", "1:2"}, nil, false, ""},
		{"spreadsheet_range", []any{"A1", "x1y"}, "A1", false, "not a range"},
		{"spreadsheet_range", "A1", "A1", false, "ref"},
		{"equals", 1.0, 1.0, false, "unknown method"},
		{"reg", "a", "a", false, "unknown method"},
	} {
		got, err := rule.Rule{Method: tt.method, Ref: tt.ref}.Holds(tt.value)
		if tt.wantErr != "" {
			require.ErrorContains(t, err, tt.wantErr, "%v", tt)
			continue
		}
		require.NoError(t, err, "%v", tt)
		assert.Equal(t, tt.want, got, "%v", tt)
	}
}

func TestNew(t *testing.T) {
	r, err := rule.New(tasks.Params{"method": "eq", "ref": 1.0, "key": "x"})
	require.NoError(t, err)
	assert.Equal(t, rule.Rule{Method: "eq", Ref: 1.0}, r)
	_, err = rule.New(tasks.Params{"ref": 1.0})
	require.ErrorContains(t, err, "no method")
	_, err = rule.New(tasks.Params{"method": []any{}})
	require.ErrorContains(t, err, "method")
}

func TestSearchHasATimeLimit(t *testing.T) {
	re, err := rule.Compile(`^(?!z)(a+)+$`) // needs backtracking, and much of it
	require.NoError(t, err)
	_, err = re.Search(strings.Repeat("a", 100) + "!")
	require.ErrorContains(t, err, "took more than")
	require.ErrorContains(t, err, "(a+)+")
	re, err = rule.Compile(`^(a+)+b`) // Go's engine does it in linear time
	require.NoError(t, err)
	found, err := re.Search(strings.Repeat("a", 100000))
	require.NoError(t, err)
	assert.False(t, found)
}
