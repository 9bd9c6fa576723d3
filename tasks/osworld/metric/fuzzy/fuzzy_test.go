package fuzzy_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"desktop-agent/tasks/osworld/metric/fuzzy"
)

// TestGolden compares with Levenshtein 0.12 and difflib of Python 3.11; the file is
// made by testdata/golden.py.
func TestGolden(t *testing.T) {
	data, err := os.ReadFile("testdata/golden.json")
	require.NoError(t, err)
	var golden struct {
		Texts []struct {
			A, B  string
			Ratio float64
		}
		Lines []struct {
			A, B  []string
			Ratio float64
		}
	}
	require.NoError(t, json.Unmarshal(data, &golden))
	require.Greater(t, len(golden.Texts), 30)
	require.Greater(t, len(golden.Lines), 9)
	for _, g := range golden.Texts {
		assert.InDelta(t, g.Ratio, fuzzy.Ratio(g.A, g.B), 1e-9, "ratio of %q and %q", g.A, g.B)
	}
	for i, g := range golden.Lines {
		assert.InDelta(t, g.Ratio, fuzzy.LinesRatio(g.A, g.B), 1e-12, "lines %d", i)
	}
}

// TestRatioByTable compares with the textbook table of subsequences.
func TestRatioByTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringOfN(rapid.RuneFrom([]rune("abcé")), 0, 150, -1)
		a, b := letters.Draw(t, "a"), letters.Draw(t, "b")
		x, y := []rune(a), []rune(b)
		row := make([]int, len(y)+1)
		for _, r := range x {
			diagonal := 0
			for j := range y {
				above := row[j+1]
				if r == y[j] {
					row[j+1] = diagonal + 1
				} else {
					row[j+1] = max(above, row[j])
				}
				diagonal = above
			}
		}
		want := 100.0
		if n := len(x) + len(y); n > 0 {
			want = 100 * 2 * float64(row[len(y)]) / float64(n)
		}
		assert.InDelta(t, want, fuzzy.Ratio(a, b), 1e-9)
	})
}

func TestHostile(t *testing.T) {
	long := strings.Repeat("ab", 20000)
	assert.InDelta(t, 100*2*20000.0/60000, fuzzy.Ratio(long, strings.Repeat("a", 20000)), 1e-9)
	assert.InDelta(t, 0, fuzzy.Ratio("\xff\xfe", "ab"), 0)
	assert.InDelta(t, 100, fuzzy.Ratio("\xff", "\xff"), 0)
}
