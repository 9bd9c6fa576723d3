package text

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/tasks/osworld/metric/rule"
)

// TestGolden compares with Python 3.11 and PyYAML 6.0; the file is made by
// testdata/golden.py.
func TestGolden(t *testing.T) {
	data, err := os.ReadFile("testdata/golden.json")
	require.NoError(t, err)
	var golden struct {
		Lines []struct {
			Text         string
			Lines, Words []string
		}
		CSV []struct {
			Text string
			Rows []map[string]any
		}
		YAML []struct {
			Text  string
			Value any
		}
	}
	require.NoError(t, json.Unmarshal(data, &golden))
	require.NotEmpty(t, golden.Lines)
	for _, g := range golden.Lines {
		assert.ElementsMatch(t, g.Lines, splitLines(g.Text), "lines of %q", g.Text)
		var words strings.Builder
		for i, w := range g.Words {
			if i > 0 {
				words.WriteString(" ")
			}
			words.WriteString(w)
		}
		assert.Equal(t, words.String(), collapse(g.Text), "words of %q", g.Text)
	}
	for _, g := range golden.CSV {
		rows := []map[string]any{}
		for row := range records(g.Text) {
			rows = append(rows, row)
		}
		assert.Equal(t, g.Rows, rows, "rows of %q", g.Text)
	}
	for _, g := range golden.YAML {
		v, err := parseYAML(g.Text)
		if assert.NoError(t, err, "YAML %q", g.Text) {
			assert.True(t, rule.Equal(g.Value, finite(v)), "YAML %q is %v, want %v", g.Text, v, g.Value)
		}
	}
}

// finite writes infinity as the golden file does.
func finite(v any) any {
	if m, ok := v.(map[string]any); ok {
		for k := range m {
			m[k] = finite(m[k])
		}
	}
	if f, ok := v.(float64); ok && math.IsInf(f, -1) {
		return "-inf"
	}
	return v
}
