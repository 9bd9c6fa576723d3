package llm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExtract(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		err        error
	}{
		{`{"a":1}`, `{"a":1}`, nil},
		{`{}`, `{}`, nil},
		{"{\n \"a\" : {\"b\":[{}]} }", "{\n \"a\" : {\"b\":[{}]} }", nil},
		{`first {"a":1} then {"a":2}`, `{"a":1}`, nil},
		{`a set {1, 2}, {{ {x: 1} {"a":"}{"}`, `{"a":"}{"}`, nil},
		{"```json\n{\"a\":\"```\"}\n```", "{\"a\":\"```\"}", nil},
		{"", "", errNoObject},
		{"{", "", errCutOff},
		{"prose {", "", errCutOff},
		{`{"a":`, "", errCutOff},
		{`{"a":{"b":1}`, "", errCutOff},
		{strings.Repeat("x", maxReply+1), "", errTooLong},
	} {
		got, err := extract(tt.text)
		assert.Equal(t, tt.want, string(got), "%.50q", tt.text)
		require.ErrorIs(t, err, tt.err, "%.50q", tt.text)
	}
}

// FuzzExtract holds that extract never panics, that what it finds is an object
// of valid JSON and stands in the text letter by letter, and that an object
// alone, or in prose without a brace, is found as it is.
func FuzzExtract(f *testing.F) {
	for _, s := range []string{`{"a":1}`, "```json\n{}\n```", `{"a":{"a":`, `[{"a":1}]`, "{{{", "\xff{\"\xff\":0}", `{"a":1}}`, `"{}"`, `{"a" 1}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := extract(text)
		if err != nil {
			assert.Nil(t, got)
			return
		}
		var object map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(got, &object))
		require.Contains(t, text, string(got))
		again, err := extract("prose\n```json\n" + string(got) + "\n```")
		require.NoError(t, err)
		require.Equal(t, string(got), string(again))
	})
}
