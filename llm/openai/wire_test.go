package openai_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/llm/openai"
)

// compact takes the white space out of JSON that a test spells out.
func compact(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line))
	}
	require.True(t, json.Valid([]byte(b.String())), b.String())
	return b.String()
}

func TestWireFormat(t *testing.T) {
	zero := 0.0
	picture := llm.Image{Data: []byte("pixels"), Type: "image/png", FrameID: "f1"}
	data := "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte("pixels"))
	r := &llm.Request{
		Model: "m", Temperature: &zero, MaxTokens: 99,
		Messages: []llm.Message{
			llm.SystemText("rules <b> & more"),
			{From: llm.User, Parts: []llm.Part{llm.Text("before"), picture, llm.Text("after")}},
			{From: llm.Assistant, Parts: []llm.Part{llm.Text("thought")}, Calls: []llm.ToolCall{
				{ID: "c1", Name: "click", Arguments: `{"x":1}`}, {ID: "c2", Name: "zoom", Arguments: `{}`}}},
			{From: llm.ToolReply, CallID: "c1", Parts: []llm.Part{llm.Text("delivered")}},
			{From: llm.ToolReply, CallID: "c2", Parts: []llm.Part{llm.Text("zoomed"), picture}},
			{From: llm.Assistant, Calls: []llm.ToolCall{{ID: "c3", Name: "done", Arguments: `{}`}}},
			{From: llm.ToolReply, CallID: "c3", Parts: []llm.Part{picture}},
		},
		Tools:  []llm.Tool{{Name: "click", Description: "clicks", Parameters: json.RawMessage(`{"type":"object","properties":{"y":{},"x":{}}}`)}},
		Schema: &llm.Schema{Name: "s", JSON: json.RawMessage(`{"type":"object","properties":{"z":{},"a":{}}}`)},
	}
	server := llmtest.NewServer(t, llmtest.Completion("{}"))
	_, err := (&openai.Endpoint{BaseURL: server.URL}).Complete(t.Context(), r)
	require.NoError(t, err)
	var sent map[string]json.RawMessage
	server.Requests()[0].JSON(t, &sent)
	image := `{"image_url":{"url":"` + data + `","detail":"high"},"type":"image_url"}`
	assert.Equal(t, compact(t, `[
		{"content":"rules <b> & more","role":"system"},
		{"content":[{"text":"before","type":"text"},`+image+`,{"text":"after","type":"text"}],"role":"user"},
		{"content":"thought","tool_calls":[
			{"id":"c1","function":{"arguments":"{\"x\":1}","name":"click"},"type":"function"},
			{"id":"c2","function":{"arguments":"{}","name":"zoom"},"type":"function"}],"role":"assistant"},
		{"content":"delivered","tool_call_id":"c1","role":"tool"},
		{"content":"zoomed","tool_call_id":"c2","role":"tool"},
		{"content":[`+image+`],"role":"user"},
		{"tool_calls":[{"id":"c3","function":{"arguments":"{}","name":"done"},"type":"function"}],"role":"assistant"},
		{"content":"","tool_call_id":"c3","role":"tool"},
		{"content":[`+image+`],"role":"user"}]`), string(sent["messages"]))
	delete(sent, "messages")
	assert.Equal(t, map[string]json.RawMessage{
		"model":       json.RawMessage(`"m"`),
		"temperature": json.RawMessage(`0`),
		"max_tokens":  json.RawMessage(`99`),
		"tools": json.RawMessage(compact(t, `[{"function":{"name":"click","description":"clicks",
			"parameters":{"type":"object","properties":{"y":{},"x":{}}}},"type":"function"}]`)),
		"response_format": json.RawMessage(compact(t, `{"json_schema":{"name":"s","strict":true,
			"schema":{"type":"object","properties":{"z":{},"a":{}}}},"type":"json_schema"}`)),
	}, sent, "and nothing else; properties in their order")
}

func TestMinimalRequest(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.Completion("hi"))
	_, err := (&openai.Endpoint{BaseURL: server.URL}).Complete(t.Context(), request())
	require.NoError(t, err)
	assert.JSONEq(t, `{"messages":[{"content":"hello","role":"user"}],"model":"m"}`, server.Requests()[0].Body)
}

func TestDetail(t *testing.T) {
	for detail, want := range map[string]string{"": `"detail":"high"`, "high": `"detail":"high"`, "low": `"detail":"low"`, "auto": `{"url":"data:image/png;base64,"}`} {
		server := llmtest.NewServer(t, llmtest.Completion("hi"))
		r := &llm.Request{Messages: []llm.Message{{From: llm.User, Parts: []llm.Part{llm.Image{Type: "image/png"}}}}}
		_, err := (&openai.Endpoint{BaseURL: server.URL, Detail: detail}).Complete(t.Context(), r)
		require.NoError(t, err)
		assert.Contains(t, server.Requests()[0].Body, want, detail)
	}
}

func TestMessagesThatCannotBeSent(t *testing.T) {
	for text, m := range map[string]llm.Message{
		"unknown speaker":    {From: "narrator"},
		"of the assistant":   {From: llm.Assistant, Parts: []llm.Part{llm.Image{}}},
		"of the system, hol": {From: llm.System, Parts: []llm.Part{llm.Image{}}},
	} {
		_, err := (&openai.Endpoint{BaseURL: "http://127.0.0.1:1"}).Complete(t.Context(), &llm.Request{Messages: []llm.Message{m}})
		require.ErrorIs(t, err, llm.ErrRequest)
		require.ErrorContains(t, err, text)
	}
}

func TestReplies(t *testing.T) {
	usage := llm.Usage{Input: 100, Cached: 40, Output: 10}
	call := llm.ToolCall{ID: "c1", Name: "click", Arguments: `{"x":`}
	body := func(message string) http.HandlerFunc {
		return llmtest.Status(200, "", `{"choices":[{"index":0,"finish_reason":"stop","message":`+message+`}]}`)
	}
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		want   llm.Response
	}{
		{"text", llmtest.Completion("hé\n"), llm.Response{Text: "hé\n", Model: "m", Finish: "stop", Usage: usage}},
		{"tool call, its arguments untouched", llmtest.CompletionOf(llm.Response{Calls: []llm.ToolCall{call}, Finish: "tool_calls", Model: "m-2026", Usage: usage}),
			llm.Response{Calls: []llm.ToolCall{call}, Model: "m-2026", Finish: "tool_calls", Usage: usage}},
		{"tool call without an ID", body(`{"content":null,"tool_calls":[{"function":{"name":"a","arguments":"{}"}},{"function":{"name":"b","arguments":"{}"}}]}`),
			llm.Response{Calls: []llm.ToolCall{{ID: "call_1", Name: "a", Arguments: "{}"}, {ID: "call_2", Name: "b", Arguments: "{}"}}, Model: "m", Finish: "stop"}},
		{"refusal", body(`{"content":null,"refusal":"I can't."}`), llm.Response{Text: "I can't.", Model: "m", Finish: "refusal"}},
		{"parts", body(`{"content":[{"type":"thinking","thinking":[{"text":"hm"}]},{"type":"text","text":"a"},{"type":"text","text":"b"}]}`),
			llm.Response{Text: "ab", Model: "m", Finish: "stop"}},
		{"cut off", llmtest.CompletionOf(llm.Response{Text: "half", Finish: "length"}), llm.Response{Text: "half", Model: "m", Finish: "length"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := llmtest.NewServer(t, tt.answer)
			got, err := (&openai.Endpoint{BaseURL: server.URL}).Complete(t.Context(), request())
			require.NoError(t, err)
			assert.Equal(t, tt.want, *got)
		})
	}
}

// field returns a field of a request's body as JSON, or "" if it is not there.
func field(t *testing.T, r llmtest.ServerRequest, name string) string {
	var body map[string]json.RawMessage
	r.JSON(t, &body)
	return string(body[name])
}

func TestReasoningModel(t *testing.T) {
	half := 0.5
	server := llmtest.NewServer(t,
		llmtest.Refusal(400, "", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "max_tokens"),
		llmtest.Refusal(400, "", "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.", "temperature"),
		llmtest.Completion("ok"), llmtest.Completion("ok"), llmtest.Completion("ok"))
	var log strings.Builder
	e := &openai.Endpoint{BaseURL: server.URL, Log: textLogger(&log)}
	r := request()
	r.MaxTokens, r.Temperature = 50, &half
	for range 2 {
		_, err := e.Complete(t.Context(), r)
		require.NoError(t, err)
	}
	r.Model = "another"
	_, err := e.Complete(t.Context(), r)
	require.NoError(t, err)
	got := server.Requests()
	require.Len(t, got, 5)
	for i, want := range []struct{ old, new, temperature string }{
		{"50", "", "0.5"}, {"", "50", "0.5"}, {"", "50", ""},
		{"", "50", ""},    // remembered
		{"50", "", "0.5"}, // for that model only
	} {
		assert.Equal(t, want.old, field(t, got[i], "max_tokens"), i)
		assert.Equal(t, want.new, field(t, got[i], "max_completion_tokens"), i)
		assert.Equal(t, want.temperature, field(t, got[i], "temperature"), i)
	}
	assert.Equal(t, 2, strings.Count(log.String(), "the endpoint does not take a parameter"))
	assert.NotContains(t, log.String(), "hello")
}

type answer struct {
	OK bool `json:"ok"`
}

func TestSchemaFallsBackToThePrompt(t *testing.T) {
	refuse := func(message string) http.HandlerFunc { return llmtest.Refusal(400, "", message, "") }
	for _, tt := range []struct {
		name    string
		answers []http.HandlerFunc
		formats []string // asked for
	}{
		{"enforced", []http.HandlerFunc{llmtest.Completion(`{"ok":true}`)}, []string{"json_schema"}},
		{"only objects", []http.HandlerFunc{refuse("response_format type 'json_schema' is not supported"), llmtest.Completion(`{"ok":true}`)},
			[]string{"json_schema", "json_object"}},
		{"FastAPI", []http.HandlerFunc{llmtest.Status(422, "", `{"detail":[{"loc":["body","response_format","type"],"msg":"unexpected value"}]}`), llmtest.Completion(`{"ok":true}`)},
			[]string{"json_schema", "json_object"}},
		{"nothing of the kind", []http.HandlerFunc{refuse("This response_format type is unavailable now"), refuse("unknown field: response_format"), llmtest.Completion("Sure:\n```json\n{\"ok\":true}\n```")},
			[]string{"json_schema", "json_object", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := llmtest.NewServer(t, append(tt.answers, llmtest.Completion(`{"ok":true}`))...)
			e := &openai.Endpoint{BaseURL: server.URL}
			for range 2 { // the second time, what was found out is remembered
				got, err := llm.Decode[answer](t.Context(), e, request())
				require.NoError(t, err)
				assert.True(t, got.OK)
			}
			assert.Zero(t, server.Left())
			formats := append(tt.formats, tt.formats[len(tt.formats)-1])
			requests := server.Requests()
			require.Len(t, requests, len(formats))
			for i, want := range formats {
				var format struct{ Type string }
				if raw := field(t, requests[i], "response_format"); raw != "" {
					require.NoError(t, json.Unmarshal([]byte(raw), &format))
				}
				assert.Equal(t, want, format.Type, i)
				inPrompt := strings.Contains(field(t, requests[i], "messages"), "JSON schema")
				assert.Equal(t, want != "json_schema", inPrompt, "the schema is in the prompt where it is not enforced")
			}
		})
	}
}

func TestSchemaThatIsIgnoredIsExplained(t *testing.T) {
	for _, first := range []string{"I think it is fine.", `{"fine":true}`} {
		server := llmtest.NewServer(t, llmtest.Completion(first), llmtest.Completion(`{"ok":true}`), llmtest.Completion(`{"ok":true}`))
		e := &openai.Endpoint{BaseURL: server.URL}
		for range 2 {
			_, err := llm.Decode[answer](t.Context(), e, request())
			require.NoError(t, err)
		}
		for i, want := range []bool{false, true, true} {
			r := server.Requests()[i]
			assert.Equal(t, want, strings.Contains(field(t, r, "messages"), "JSON schema"), i)
			assert.Contains(t, field(t, r, "response_format"), "json_schema", "it does no harm")
		}
	}
	server := llmtest.NewServer(t, llmtest.CompletionOf(llm.Response{Text: `{"ok":`, Finish: "length"}), llmtest.Completion(`{"ok":true}`))
	_, err := llm.Decode[answer](t.Context(), &openai.Endpoint{BaseURL: server.URL}, request())
	require.NoError(t, err)
	assert.NotContains(t, field(t, server.Requests()[1], "messages"), "JSON schema", "a reply that was cut off says nothing about the endpoint")
}

func TestProseIsAskedForAgain(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.Completion("I think it is fine."), llmtest.Completion(`{"ok":true}`))
	got, err := llm.Decode[answer](t.Context(), &openai.Endpoint{BaseURL: server.URL}, request())
	require.NoError(t, err)
	assert.True(t, got.OK)
	assert.Contains(t, field(t, server.Requests()[1], "messages"), "there is no JSON object in it")

	prose := llmtest.Completion("I think it is fine.")
	_, err = llm.Decode[answer](t.Context(), &openai.Endpoint{BaseURL: llmtest.NewServer(t, prose, prose, prose).URL}, request())
	require.ErrorIs(t, err, llm.ErrBadReply)
}

// What an endpoint refuses for another reason is not sent again and again.
func TestRefusalsThatNothingHelps(t *testing.T) {
	r := request()
	r.MaxTokens = 1_000_000
	for name, answers := range map[string][]http.HandlerFunc{
		"not about a parameter": {llmtest.Refusal(400, "", "context length exceeded", "messages")},
		"param decides":         {llmtest.Refusal(400, "", "too long for temperature and response_format and max_tokens", "messages")},
		"not a 400":             {llmtest.Refusal(404, "", "max_tokens", "")},
		"the number itself": {llmtest.Refusal(400, "", "max_tokens is too large", "max_tokens"),
			llmtest.Refusal(400, "", "max_completion_tokens is too large", "max_completion_tokens")},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.NewServer(t, answers...)
			e := &openai.Endpoint{BaseURL: server.URL}
			_, err := e.Complete(t.Context(), r)
			require.ErrorIs(t, err, llm.ErrRequest)
			assert.Zero(t, server.Left())
		})
	}
}

func TestWhatFailedIsNotRemembered(t *testing.T) {
	server := llmtest.NewServer(t,
		llmtest.Refusal(400, "", "", "max_tokens"), llmtest.Status(500, "", ""), llmtest.Completion("ok"))
	e := &openai.Endpoint{BaseURL: server.URL}
	r := request()
	r.MaxTokens = 5
	_, err := e.Complete(t.Context(), r)
	require.ErrorIs(t, err, llm.ErrUnavailable)
	_, err = e.Complete(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t, "5", field(t, server.Requests()[2], "max_tokens"))
}

func TestProbeOverTheWire(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.Completion(`{"left":"red","right":"blue"}`))
	c := fast(server)
	h, err := llm.Probe(t.Context(), c, llm.Actor)
	require.NoError(t, err)
	assert.Positive(t, h.Latency)
	assert.Contains(t, server.Requests()[0].Body, "data:image/png;base64,iVBOR")
}

func TestConcurrentRequests(t *testing.T) {
	const n = 8
	var answers []http.HandlerFunc
	for range n {
		answers = append(answers, llmtest.Completion("ok"))
	}
	e := &openai.Endpoint{BaseURL: llmtest.NewServer(t, answers...).URL, Key: key}
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			_, err := e.Complete(t.Context(), request())
			assert.NoError(t, err)
		})
	}
	wg.Wait()
}
