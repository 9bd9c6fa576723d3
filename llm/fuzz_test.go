package llm_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
)

// FuzzDecode holds that whatever a model answers, what is decoded says all that the schema asks
// for and nothing else, and that the model is asked three times at most.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		goodReply, "Sure!\n```json\n" + goodReply + "\n```", goodReply + goodReply, strings.Replace(goodReply, `"x":3`, `"x":3,"x":"3"`, 1),
		strings.Replace(goodReply, `"x":3`, `"X":3`, 1), strings.Replace(goodReply, `"x":3`, `"x":3,"X":4`, 1), strings.Replace(goodReply, `"x":3`, `"x":1e400`, 1), strings.Replace(goodReply, "yes", "YES", 1),
		`{"thought":"t","x":3,"seen":"yes","steps":[null]}`, strings.Repeat(`{"steps":[`, 20), `[` + goodReply + `]`, "null", `{}`, "", "\xff",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		model := &llmtest.Recorder{Model: llmtest.Text(text)}
		got, err := llm.Decode[reply](t.Context(), model, &llm.Request{Messages: []llm.Message{llm.UserText("go")}})
		if err != nil {
			require.ErrorIs(t, err, llm.ErrBadReply)
			require.Zero(t, got)
			require.Equal(t, 3, model.Count())
			return
		}
		require.Equal(t, 1, model.Count())
		require.Contains(t, got.Seen.Values(), string(got.Seen))
		require.NotNil(t, got.Steps)
		s, err := llm.SchemaFor[reply]()
		require.NoError(t, err)
		data, err := json.Marshal(got)
		require.NoError(t, err)
		require.NoError(t, s.Validate(data))
	})
}

// FuzzValidate holds that whatever schema a server gives for its tools, and whatever is held
// against it, that comes to an end, and always to the same one.
func FuzzValidate(f *testing.F) {
	for _, s := range []string{
		`{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"]}`, `{"type":"object","properties":{"a":null}}`, `{"items":null,"anyOf":[null]}`,
		`{"$ref":"#"}`, `{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"not":{"$ref":"#"}}}}`, `{"$dynamicRef":"#a","$dynamicAnchor":"a"}`, `{"$anchor":"a","if":{"$ref":"#a"}}`,
		`{"properties":{"a":{"$ref":"#"}}}`, `{"allOf":[{"$id":"b","$defs":{"n":{"$ref":"#/$defs/n"}},"$ref":"#/$defs/n"}],"$defs":{"n":{}}}`, `{"$ref":"https://example.com"}`,
		`{"pattern":"(","type":"strin"}`, `{"dependencies":{"a":["b"],"c":{"$ref":"#/dependencies/c"}}}`, `{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/~1%25","definitions":{"/%":{"type":"object"}}}`,
		`{"enum":[{"$ref":"#"}],"const":null,"default":{"$id":"x"}}`, `true`, `[]`, `{"ALLOF":[{"$REF":"#"}]}`, "\xff",
	} {
		f.Add(s, `{"a":{"a":[1,"x",null]}}`)
	}
	f.Add(`{"items":{"$ref":"#"}}`, strings.Repeat("[", 300)+strings.Repeat("]", 300))
	f.Fuzz(func(t *testing.T, schema, value string) {
		s := &llm.Schema{Name: "s", JSON: []byte(schema)}
		first := s.Validate([]byte(value))
		again := (&llm.Schema{Name: "s", JSON: []byte(schema)}).Validate([]byte(value))
		require.Equal(t, first == nil, again == nil)
		if !json.Valid([]byte(value)) || !json.Valid([]byte(schema)) {
			require.Error(t, first)
		}
	})
}

// TestEndlessSchema holds that a schema that cannot be followed to an end is refused before it
// is tried, and one that a value makes long is not.
func TestEndlessSchema(t *testing.T) {
	var double, chain strings.Builder // of parts that refer to the one before twice, and once
	for i := range 99 {
		if i < 20 {
			fmt.Fprintf(&double, `"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%[2]d"}]},`, i+1, i)
		}
		fmt.Fprintf(&chain, `"a%d":{"$ref":"#/$defs/a%d"},`, i+1, i)
	}
	for schema, want := range map[string]string{
		`{"$ref":"#"}`: "refers to itself",
		`{"items":{"anyOf":[{"$ref":"#/items"}]}}`:                        "refers to itself",
		`{"ALLOF":[{"$ref":"#"}]}`:                                        "refers to itself",
		`{"$dynamicAnchor":"a","oneOf":[{"$dynamicRef":"#a"}]}`:           "refers to itself",
		`{"allOf":[{"$id":"b"}]}`:                                         "has an $id",
		`{"$ref":"https://example.com/s"}`:                                "not within it",
		`{"$ref":"#/$defs/b"}`:                                            "does not have",
		`{"$defs":{` + double.String() + `"a0":{}},"$ref":"#/$defs/a20"}`: "about the same value",
		`{"$defs":{` + chain.String() + `"a0":{}},"$ref":"#/$defs/a99"}`:  "within each other",
	} {
		err := (&llm.Schema{Name: "s", JSON: []byte(schema)}).Validate([]byte(`{}`))
		require.ErrorContains(t, err, want, "%.100s", schema)
		require.ErrorContains(t, err, "schema s:")
	}
	tree := &llm.Schema{Name: "s", JSON: []byte(`{"type":"object","properties":{"child":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"required":["child"]}`)}
	require.NoError(t, tree.Validate([]byte(`{"child":{"child":null}}`)))
	require.Error(t, tree.Validate([]byte(`{"child":{}}`)))
	require.ErrorContains(t, tree.Validate([]byte(strings.Repeat(`{"child":`, 300)+"null"+strings.Repeat("}", 300))), "in each other")
}
