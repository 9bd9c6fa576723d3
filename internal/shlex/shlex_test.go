package shlex_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"desktop-agent/internal/shlex"
)

// The words are those that shlex.split of Python 3 gives.
func TestSplit(t *testing.T) {
	for text, want := range map[string][]string{
		"":                       nil,
		" \t\r\n":                nil,
		"ls -l":                  {"ls", "-l"},
		" a\tb\rc\nd ":           {"a", "b", "c", "d"},
		`echo "a\$b"`:            {"echo", `a\$b`}, // a shell: a$b
		"echo \"a\\`b\\\nc\"":    {"echo", "a\\`b\\\nc"},
		`"g\"h\\i\j"`:            {`g"h\i\j`},
		`'g\'`:                   {`g\`},
		`it\'s`:                  {"it's"},
		`e\ f\$\n`:               {"e f$n"},
		"a\\\nb":                 {"a\nb"},
		`a''b "" ''`:             {"ab", "", ""},
		`a"b 'c'"'d "e"'`:        {`ab 'c'd "e"`},
		"ls # no comment":        {"ls", "#", "no", "comment"},
		"a|b;c && $HOME *":       {"a|b;c", "&&", "$HOME", "*"},
		"caf\u00e9\u00a0\u2003x": {"caf\u00e9\u00a0\u2003x"},
		"\xff \\\xfe":            {"\xff", "\xfe"},
	} {
		words, err := shlex.Split(text)
		require.NoError(t, err, "%q", text)
		assert.Equal(t, want, words, "%q", text)
	}
	for text, want := range map[string]string{
		"it's": "quote ' is not closed", `a "b`: `quote " is not closed`, `a\`: "backslash", `"a\`: "backslash", `'a\`: "not closed",
	} {
		_, err := shlex.Split(text)
		assert.ErrorContains(t, err, want, "%q", text)
	}
}

// Python, which the rules are of, splits random texts of what matters in the same
// way.
func TestSplitPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3: ", err)
	}
	texts := rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom([]rune("aé \t\r\n'\"\\$`#|")), 0, 12, -1), 3000, 3000).Example(1)
	asked, err := json.Marshal(texts)
	require.NoError(t, err)
	python3 := exec.CommandContext(t.Context(), python, "-c", `
import json, shlex, sys
def split(text):
    try:
        return shlex.split(text)
    except ValueError:
        return None
json.dump([split(text) for text in json.load(sys.stdin)], sys.stdout)`)
	python3.Stdin = strings.NewReader(string(asked))
	out, err := python3.Output()
	require.NoError(t, err)
	var answers [][]string
	require.NoError(t, json.Unmarshal(out, &answers))
	require.Len(t, answers, len(texts))
	bad := 0
	for i, want := range answers {
		words, err := shlex.Split(texts[i])
		if want == nil {
			bad++
			assert.Error(t, err, "%q", texts[i])
			continue
		}
		require.NoError(t, err, "%q", texts[i])
		assert.Equal(t, strings.Join(want, "\x00"), strings.Join(words, "\x00"), "%q", texts[i])
		assert.Len(t, words, len(want), "%q", texts[i])
	}
	assert.Greater(t, bad, 100, "some have no words")
	assert.Greater(t, len(texts)-bad, 100, "some have words")
}

// What is quoted is one word again.
func TestQuote(t *testing.T) {
	assert.Equal(t, `'it'\''s'`, shlex.Quote("it's"))
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.String()).Draw(t, "words")
		quoted := make([]string, len(words))
		for i, word := range words {
			quoted[i] = shlex.Quote(word)
		}
		again, err := shlex.Split(strings.Join(quoted, " "))
		require.NoError(t, err)
		assert.Equal(t, strings.Join(words, "\x00"), strings.Join(again, "\x00"))
		assert.Len(t, again, len(words))
	})
}
