package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
)

type verdict string

func (verdict) Values() []string { return []string{"yes", "no"} }

type reply struct {
	Thought string   `json:"thought" jsonschema:"why"`
	X       int      `json:"x"`
	Seen    verdict  `json:"seen"`
	Next    *verdict `json:"next"`
	Hint    *string  `json:"hint"`
	Steps   []step   `json:"steps"`
}

type step struct {
	Goal string `json:"goal"`
}

const goodReply = `{"thought":"t","x":3,"seen":"yes","next":null,"hint":null,"steps":[{"goal":"g"}]}`

func TestSchemaFor(t *testing.T) {
	s, err := llm.SchemaFor[reply]()
	require.NoError(t, err)
	assert.Equal(t, "reply", s.Name)
	assert.Equal(t, `{"type":"object","properties":{`+
		`"thought":{"type":"string","description":"why"},`+
		`"x":{"type":"integer"},`+
		`"seen":{"type":"string","enum":["yes","no"]},`+
		`"next":{"type":["null","string"],"enum":["yes","no",null]},`+
		`"hint":{"type":["null","string"]},`+
		`"steps":{"type":"array","items":{"type":"object","properties":{"goal":{"type":"string"}},"required":["goal"],"additionalProperties":false}}},`+
		`"required":["thought","x","seen","next","hint","steps"],"additionalProperties":false}`,
		string(s.JSON), "properties in the order of the fields: a model thinks before it decides")
}

func TestSchemaForRefusesWhatStrictEndpointsRefuse(t *testing.T) {
	_, err := llm.SchemaFor[string]()
	require.ErrorContains(t, err, "it is no struct")
	_, err = llm.SchemaFor[struct {
		A struct {
			B int `json:"b,omitempty"`
		} `json:"a"`
	}]()
	require.ErrorContains(t, err, `".a.b" may be left out; use a pointer instead of omitempty`)
	_, err = llm.SchemaFor[struct {
		M map[string]int `json:"m"`
	}]()
	require.ErrorContains(t, err, `".m" is a map`)
	_, err = llm.SchemaFor[struct {
		L []any `json:"l"`
	}]()
	require.ErrorContains(t, err, `".l[]" can be anything`)
	_, err = llm.SchemaFor[struct{}]()
	require.NoError(t, err)
}

// TestDecode holds which replies are read, and that unknown fields, missing ones and wrong types are
// none, with what the model is told of them.
func TestDecode(t *testing.T) {
	hint := "h"
	for _, tt := range []struct {
		name, text string
		want       reply
		problem    string // as the model reads it; nothing if the reply is good
	}{
		{"plain", goodReply, reply{Thought: "t", X: 3, Seen: "yes", Steps: []step{{"g"}}}, ""},
		{"code block", "```json\n" + goodReply + "\n```", reply{Thought: "t", X: 3, Seen: "yes", Steps: []step{{"g"}}}, ""},
		{"prose around", "Use {braces} {1}: " + goodReply + " Done {\"x\"", reply{Thought: "t", X: 3, Seen: "yes", Steps: []step{{"g"}}}, ""},
		{"pointers", strings.Replace(goodReply, `"hint":null`, `"hint":"h"`, 1), reply{Thought: "t", X: 3, Seen: "yes", Hint: &hint, Steps: []step{{"g"}}}, ""},
		{"prose alone", "I will click on Save.", reply{}, "there is no JSON object in it"},
		{"what may be null left out", strings.Replace(goodReply, `"next":null,"hint":null,`, "", 1), reply{Thought: "t", X: 3, Seen: "yes", Steps: []step{{"g"}}}, ""},
		{"missing", `{"thought":"t","seen":"yes","next":null,"hint":null,"steps":[]}`, reply{}, `missing properties: ["x"]`},
		{"unknown", strings.Replace(goodReply, `"x":3`, `"x":3,"y":4`, 1), reply{}, `additional properties ["y"]`},
		{"other case", strings.Replace(goodReply, `"x":3`, `"X":3`, 1), reply{}, `["X"]`},
		{"wrong type", strings.Replace(goodReply, `"x":3`, `"x":"3"`, 1), reply{}, "integer"},
		{"not whole", strings.Replace(goodReply, `"x":3`, `"x":3.5`, 1), reply{}, "integer"},
		{"too big for an int", strings.Replace(goodReply, `"x":3`, `"x":1e30`, 1), reply{}, "1e30"},
		{"not in the enum", strings.Replace(goodReply, `"yes"`, `"maybe"`, 1), reply{}, "maybe"},
		{"null slice", strings.Replace(goodReply, `[{"goal":"g"}]`, `null`, 1), reply{}, "array"},
		{"array", `[` + goodReply + `]`, reply{}, "not an object"},
		{"half", goodReply[:40], reply{}, "not finished"},
		{"half, with a whole one inside", `{"thought": {"a": 1}, `, reply{}, "not finished"},
		{"mistake, with a whole one inside", `{"thought": "t" ` + goodReply + `}`, reply{}, "has a mistake"},
		{"trailing comma", `{"thought":"t",}`, reply{}, "has a mistake"},
		{"too long", strings.Repeat("word ", 1<<18), reply{}, "longer than"},
		{"deep", `{"a":` + strings.Repeat("[", 100_000), reply{}, "mistake"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			model := &llmtest.Recorder{Model: sequence(t, llmtest.Text(tt.text), llmtest.Text(goodReply))}
			got, err := llm.Decode[reply](t.Context(), model, request())
			require.NoError(t, err)
			require.NotEmpty(t, model.Requests())
			assert.Contains(t, string(model.Requests()[0].Schema.JSON), `"thought"`, "the adapter gets the schema")
			if tt.problem == "" {
				assert.Equal(t, tt.want, got)
				assert.Equal(t, 1, model.Count(), "a good reply is not asked for again")
				return
			}
			require.Equal(t, 2, model.Count())
			again := model.Requests()[1]
			require.Len(t, again.Messages, 3)
			assert.Equal(t, llm.UserText("hello"), again.Messages[0], "the conversation stays")
			assert.Equal(t, llm.Assistant, again.Messages[1].From)
			assert.LessOrEqual(t, len(llmtest.AllText(again)), 10_000, "a huge reply is not sent back whole")
			assert.Contains(t, llmtest.LastText(again), "That reply cannot be used: ")
			assert.Contains(t, llmtest.LastText(again), tt.problem)
		})
	}
}

func TestDecodeGivesUp(t *testing.T) {
	script := sequence(t, llmtest.Text("first"), llmtest.Text("second"), llmtest.Text(`{"x":1}`))
	model := &llmtest.Recorder{Model: script}
	_, err := llm.Decode[reply](t.Context(), model, request())
	require.ErrorIs(t, err, llm.ErrBadReply)
	require.ErrorContains(t, err, "3 replies did not follow the schema")
	require.ErrorContains(t, err, "missing properties")
	assert.Zero(t, script.Left())
	assert.Len(t, model.Requests()[2].Messages, 3, "only the last bad reply is shown again")
	assert.NotContains(t, llmtest.AllText(model.Requests()[2]), "first")
}

func TestDecodeOfARefusalDoesNotAskAgain(t *testing.T) {
	for _, finish := range []string{llm.FinishRefusal, llm.FinishFilter} {
		_, err := llm.Decode[reply](t.Context(), sequence(t, llmtest.Reply(llm.Response{Text: "I can't help with that.", Finish: finish})), request())
		require.ErrorIs(t, err, llm.ErrBadReply)
		require.ErrorContains(t, err, "the model declined: I can't help with that.")
	}
}

func TestDecodeSaysWhenItWasCutOff(t *testing.T) {
	model := &llmtest.Recorder{Model: sequence(t, llmtest.Reply(llm.Response{Text: `{"x":`, Finish: "length"}), llmtest.Text(goodReply))}
	_, err := llm.Decode[reply](t.Context(), model, request())
	require.NoError(t, err)
	assert.Contains(t, llmtest.LastText(model.Requests()[1]), "It was cut off at its limit of length. Be shorter.")
}

func TestDecodePassesErrorsOn(t *testing.T) {
	_, err := llm.Decode[reply](t.Context(), sequence(t, llmtest.Fail(errTest)), request())
	require.ErrorIs(t, err, errTest)
}

// TestDecodeAsksAgainWithinOneDeadline holds that all questions about one answer share one limit
// of time.
func TestDecodeAsksAgainWithinOneDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(ctx context.Context, r *llm.Request) (*llm.Response, error) {
			select {
			case <-time.After(40 * time.Second):
				return llmtest.Text("prose").Complete(ctx, r)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		c := &llm.Client{Model: llmtest.Func(slow), Default: llm.Settings{Deadline: time.Minute}}
		start := time.Now()
		_, err := llm.Decode[reply](t.Context(), c, request())
		require.ErrorIs(t, err, llm.ErrTimeout)
		require.ErrorContains(t, err, "no valid reply within 1m0s")
		assert.Equal(t, time.Minute, time.Since(start))
	})
}

func TestDecodeWithASchemaOfTheRequest(t *testing.T) {
	r := request()
	r.Schema = &llm.Schema{Name: "small", JSON: json.RawMessage(`{"type":"object","properties":{"x":{"type":"integer","maximum":5}},"required":["x"]}`)}
	model := &llmtest.Recorder{Model: sequence(t, llmtest.Text(`{"x":6}`), llmtest.Text(`{"x":5}`))}
	got, err := llm.Decode[struct{ X int }](t.Context(), model, r)
	require.NoError(t, err)
	assert.Equal(t, 5, got.X)
	assert.Equal(t, "small", model.Requests()[0].Schema.Name)
}

// TestDecodeChecked holds that a problem is answered in the same exchange, once, and that
// answers may be text.
func TestDecodeChecked(t *testing.T) {
	type number struct {
		X int `json:"x"`
	}
	odd := llm.Terms[number]{
		Problem: func(n number, last bool) error {
			if n.X%2 == 0 {
				return fmt.Errorf("%d is even\n(last: %v)", n.X, last)
			}
			return nil
		},
		Question: func(n number, problem error) (string, error) { return "no: " + problem.Error(), nil },
		Suffix:   "_again",
	}
	model := &llmtest.Recorder{Model: sequence(t, llmtest.Text(`{"x":2}`), llmtest.Text(`{"x":3}`))}
	got, err := llm.DecodeChecked(t.Context(), model, request(), odd)
	require.NoError(t, err)
	assert.Equal(t, 3, got.X)
	first, second := model.Requests()[0], model.Requests()[1]
	assert.Equal(t, first.Purpose+"_again", second.Purpose)
	n := len(first.Messages)
	assert.Equal(t, []llm.Message{{From: llm.Assistant, Parts: []llm.Part{llm.Text(`{"x":2}`)}}, llm.UserText("no: 2 is even\n(last: false)")}, second.Messages[n:])

	_, err = llm.DecodeChecked(t.Context(), sequence(t, llmtest.Text(`{"x":2}`), llmtest.Text(`{"x":4}`)), request(), odd)
	require.ErrorIs(t, err, llm.ErrBadReply)
	require.ErrorContains(t, err, "two answers could not be used, the last because: 4 is even; (last: true)")

	text := llm.Terms[string]{
		Read: func(ctx context.Context, m llm.Model, r *llm.Request) (string, error) {
			resp, err := m.Complete(ctx, r)
			if err != nil {
				return "", err
			}
			return resp.Text, nil
		},
		Problem: func(s string, _ bool) error {
			if s != "yes" {
				return errors.New("say yes")
			}
			return nil
		},
		Question: func(_ string, problem error) (string, error) { return problem.Error(), nil },
	}
	model = &llmtest.Recorder{Model: sequence(t, llmtest.Text("no\n"), llmtest.Text("yes"))}
	said, err := llm.DecodeChecked(t.Context(), model, request(), text)
	require.NoError(t, err)
	assert.Equal(t, "yes", said)
	assert.Nil(t, model.Requests()[0].Schema)
	assert.Equal(t, llm.Text("no\n"), model.Requests()[1].Messages[n].Parts[0])
	_, err = llm.DecodeChecked(t.Context(), sequence(t, llmtest.Text("no"), llmtest.Fail(llm.ErrTimeout)), request(), text)
	require.ErrorIs(t, err, llm.ErrTimeout)
}

func TestDescribeSchema(t *testing.T) {
	s := &llm.Schema{Name: "s", JSON: json.RawMessage(`{"type":"object"}`)}
	want := "Reply with one JSON object and nothing else: no text before or after it, no code block.\n" +
		"It has exactly the properties of this JSON schema, all of them:\n{\"type\":\"object\"}"
	parts := make([]llm.Part, 1, 4)
	parts[0] = llm.Text("a")
	messages := []llm.Message{llm.SystemText("s"), {From: llm.User, Parts: parts}}
	got, err := llm.DescribeSchema(messages, s)
	require.NoError(t, err)
	assert.Equal(t, []llm.Part{llm.Text("a"), llm.Text(want)}, got[1].Parts)
	assert.Len(t, messages[1].Parts, 1)
	assert.Nil(t, parts[:2][1], "not even the room behind the caller's parts is written to")

	got, err = llm.DescribeSchema([]llm.Message{llm.SystemText("s")}, s)
	require.NoError(t, err)
	assert.Equal(t, []llm.Message{llm.SystemText("s"), llm.UserText(want)}, got)
	got, err = llm.DescribeSchema(nil, s)
	require.NoError(t, err)
	assert.Equal(t, []llm.Message{llm.UserText(want)}, got)
}

func TestProbe(t *testing.T) {
	for _, tt := range []struct{ left, right, want string }{
		{"Red", "blue", ""},
		{"bright red", "Dark Blue", ""},
		{"black", "white", `a picture is red and blue, but the model says "black" and "white": it does not see pictures`},
	} {
		t.Run(fmt.Sprint(tt.left, tt.right), func(t *testing.T) {
			model := &llmtest.Recorder{Model: sequence(t, llmtest.JSON(map[string]string{"left": tt.left, "right": tt.right}))}
			h, err := llm.Probe(t.Context(), model, llm.Actor)
			img := model.Requests()[0].Messages[1].Parts[1].(llm.Image)
			assert.Equal(t, "image/png", img.Type)
			assert.NotEmpty(t, img.Data)
			if tt.want != "" {
				require.ErrorIs(t, err, llm.ErrBadReply)
				require.ErrorContains(t, err, tt.want)
				return
			}
			require.NoError(t, err)
			assert.Positive(t, h.Latency)
		})
	}
}
