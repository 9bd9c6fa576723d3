package responses_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/llm/responses"
	"desktop-agent/llm/wire"
)

const key = wire.Secret("sk-test-0123456789abcdefghij")

// body is a good reply with this output.
func body(output string) string {
	return `{"id":"resp_1","object":"response","status":"completed","model":"m-1","output":[` + output + `],
		"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":40,"cache_write_tokens":7},"output_tokens":10}}`
}

func answer(output string) http.HandlerFunc { return llmtest.Status(200, "", body(output)) }

func says(text string) http.HandlerFunc {
	data, _ := json.Marshal(text)
	return answer(`{"type":"message","id":"msg","role":"assistant","status":"completed","content":[{"type":"output_text","text":` + string(data) + `,"annotations":[]}]}`)
}

func request() *llm.Request {
	return &llm.Request{Role: llm.Actor, Model: "m", Messages: []llm.Message{llm.UserText("hello")}}
}

func screenshot(n int, size image.Point) llm.Image {
	var b bytes.Buffer
	picture := image.NewPaletted(image.Rectangle{Max: size}, color.Palette{color.Gray{Y: uint8(n)}})
	if err := png.Encode(&b, picture); err != nil {
		panic(err)
	}
	return llm.Image{Data: b.Bytes(), Type: "image/png", FrameID: fmt.Sprintf("f%d", n)}
}

func dataURL(i llm.Image) string {
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(i.Data)
}

func fast(s *llmtest.Server) *llm.Client {
	return &llm.Client{Model: &responses.Endpoint{BaseURL: s.URL, Key: key}, Default: llm.Settings{Model: "m"}, Retry: llm.Retry{Attempts: 3, First: time.Microsecond}}
}

// Whatever can come instead of a reply is an error of its kind, tried again where that can
// help, and without the key in it.
func TestBadReplies(t *testing.T) {
	three := func(a http.HandlerFunc) []http.HandlerFunc { return []http.HandlerFunc{a, a, a} }
	one := func(a http.HandlerFunc) []http.HandlerFunc { return []http.HandlerFunc{a} }
	call := func(fields string) http.HandlerFunc { return answer(`{"type":"computer_call",` + fields + `}`) }
	for _, tt := range []struct {
		name    string
		answers []http.HandlerFunc
		want    error
		text    string
	}{
		{"refuses the key", one(llmtest.Refusal(401, "", "Incorrect API key provided: "+string(key), "")), llm.ErrAuth, "Incorrect API key provided: [secret]"},
		{"no right", one(llmtest.Refusal(403, "", "no", "")), llm.ErrAuth, "403"},
		{"wants money", one(llmtest.Status(429, "", `{"error":{"message":"quota","code":"insufficient_quota"}}`)), llm.ErrQuota, "quota"},
		{"not found", one(llmtest.Refusal(404, "", "Item with id 'rs_1' not found.", "input")), llm.ErrRequest, "rs_1"},
		{"refuses the request", one(llmtest.Refusal(400, "", "No tool output found for computer call call_1.", "input")), llm.ErrRequest, "No tool output found"},
		{"too large", one(llmtest.Refusal(413, "", "too large", "")), llm.ErrRequest, "413"},
		{"too many", three(llmtest.Refusal(429, "", "slow", "")), llm.ErrRateLimited, "slow"},
		{"broken", three(llmtest.Status(500, "", "oops")), llm.ErrUnavailable, "oops"},
		{"hangs up", three(llmtest.HangUp()), llm.ErrUnavailable, "EOF"},
		{"cut off", three(llmtest.HalfReply()), llm.ErrBadReply, "broke off"},
		{"a web page", one(llmtest.Status(200, "Content-Type: text/html", "<html>")), llm.ErrBadReply, "it is no Responses reply but a web page"},
		{"nothing", three(llmtest.Status(200, "", "")), llm.ErrBadReply, "nothing"},
		{"of another API", three(llmtest.Completion("hi")), llm.ErrBadReply, "it is no Responses reply"},
		{"an error with status 200", one(llmtest.Status(200, "", `{"error":{"message":"no","code":401}}`)), llm.ErrAuth, "no"},
		{"redirects", one(llmtest.Status(302, "Location: https://elsewhere.example", "")), llm.ErrRequest, "redirects"},
		{"empty", three(answer("")), llm.ErrBadReply, "the reply is empty"},
		{"reasoning alone", three(answer(`{"type":"reasoning","id":"rs","summary":[]}`)), llm.ErrBadReply, "the reply is empty"},
		{"a call without an ID", three(call(`"id":"cu","status":"completed","actions":[{"type":"wait"}],"pending_safety_checks":[]`)), llm.ErrBadReply, "no ID to answer it by"},
		{"two calls with one ID", three(answer(`{"type":"function_call","call_id":"c","name":"a","arguments":"{}"},{"type":"function_call","call_id":"c","name":"b","arguments":"{}"}`)),
			llm.ErrBadReply, `two calls have the ID "c"`},
		{"half a call", three(call(`"id":"cu","call_id":"c","status":"incomplete","actions":[{"type":"wait"}]`)), llm.ErrBadReply, "not complete"},
		{"still at it", three(llmtest.Status(200, "", `{"object":"response","status":"in_progress","output":[]}`)), llm.ErrBadReply, "in_progress"},
		{"it failed", three(llmtest.Status(200, "", `{"object":"response","status":"failed","output":[],"error":{"code":"server_error","message":"oops"}}`)), llm.ErrUnavailable, "oops"},
		{"it failed by the rate", three(llmtest.Status(200, "", `{"object":"response","status":"failed","output":[],"error":{"code":"rate_limit_exceeded","message":"m"}}`)), llm.ErrRateLimited, "m"},
		{"it failed by the request", one(llmtest.Status(200, "", `{"object":"response","status":"failed","output":[],"error":{"code":"invalid_image","message":"m"}}`)), llm.ErrRequest, "m"},
		{"all tokens were used for thoughts", one(llmtest.Status(200, "", `{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}`)),
			llm.ErrBadReply, "all tokens were used"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := llmtest.NewServer(t, tt.answers...)
			resp, err := fast(server).Complete(t.Context(), request())
			require.Nil(t, resp)
			require.ErrorIs(t, err, tt.want)
			require.ErrorContains(t, err, tt.text)
			assert.Zero(t, server.Left())
			assert.NotContains(t, fmt.Sprintf("%+v %#v", err, err), string(key))
		})
	}
	for _, bad := range []string{"", "localhost/v1", "ftp://x"} {
		_, err := (&responses.Endpoint{BaseURL: bad}).Complete(t.Context(), request())
		require.ErrorIs(t, err, llm.ErrRequest)
	}
}

// What a reply says, and why it ended.
func TestReplies(t *testing.T) {
	usage := llm.Usage{Input: 100, Cached: 40, Output: 10, Written: 7}
	message := func(content, phase string) string {
		return `{"type":"message","id":"msg","role":"assistant","status":"completed"` + phase + `,"content":[` + content + `]}`
	}
	text := `{"type":"output_text","text":"It is 42.","annotations":[]}`
	raw := `[{"type":"click","button":"left","x":70,"y":412,"keys":null},{"type":"wobble","foo":[1,{"b":"<&>"}]}]`
	for name, tt := range map[string]struct {
		body string
		want llm.Response
	}{
		"text":        {body(message(text, "")), llm.Response{Text: "It is 42.", Finish: llm.FinishStop}},
		"final":       {body(message(text, `,"phase":"commentary"`) + "," + message(text, `,"phase":"final_answer"`)), llm.Response{Text: "It is 42.\nIt is 42.", Finish: llm.FinishStop}},
		"commentary":  {body(message(text, `,"phase":"commentary"`)), llm.Response{Text: "It is 42.", Finish: llm.FinishPaused}},
		"refusal":     {body(message(`{"type":"refusal","refusal":"I can't."}`, "")), llm.Response{Text: "I can't.", Finish: llm.FinishRefusal}},
		"without IDs": {`{"output":[` + message(text, "") + `]}`, llm.Response{Text: "It is 42.", Finish: llm.FinishStop}},
		"an action of a newer version is given on as it is": {
			body(`{"type":"computer_call","id":"cu","call_id":"c","status":"completed","pending_safety_checks":[{"id":"sc","code":"brand_new","message":"why"}],"actions":` + raw + `}`),
			llm.Response{Finish: llm.FinishCalls, Calls: []llm.ToolCall{{ID: "c", Name: "computer", Computer: true, Arguments: `{"actions":` + raw + `}`, Checks: []llm.Check{{ID: "sc", Code: "brand_new", Message: "why"}}}}}},
		"an action alone": {
			body(`{"type":"computer_call","id":"cu","call_id":"c","status":"completed","pending_safety_checks":[],"action":{"type":"wait"}}`),
			llm.Response{Finish: llm.FinishCalls, Calls: []llm.ToolCall{{ID: "c", Name: "computer", Computer: true, Arguments: `{"action":{"type":"wait"}}`}}}},
		"a function": {body(`{"type":"function_call","call_id":"c","name":"done","arguments":"{\"answer\":"}`),
			llm.Response{Finish: llm.FinishCalls, Calls: []llm.ToolCall{{ID: "c", Name: "done", Arguments: `{"answer":`}}}},
		"an item of a newer version": {body(`{"type":"wobble_call","id":"w"},` + message(text, "")), llm.Response{Text: "It is 42.", Finish: llm.FinishStop}},
		"cut off": {`{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[` + message(text, "") +
			`,{"type":"computer_call","id":"cu","call_id":"c","status":"completed","pending_safety_checks":[],"actions":` + raw + `}]}`, llm.Response{Text: "It is 42.", Finish: llm.FinishLength}},
		"withheld": {`{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[` + message(text, "") + `]}`, llm.Response{Text: "It is 42.", Finish: llm.FinishFilter}},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.NewServer(t, llmtest.Status(200, "", tt.body))
			got, err := (&responses.Endpoint{BaseURL: server.URL}).Complete(t.Context(), request())
			require.NoError(t, err)
			tt.want.Model = "m"
			if strings.Contains(tt.body, `"m-1"`) {
				tt.want.Model, tt.want.Usage = "m-1", usage
			}
			assert.Equal(t, tt.want, *got)
		})
	}
}

// What goes over the wire without a computer tool: a schema, functions in the order of
// their parameters, and nothing else.
func TestWireFormat(t *testing.T) {
	half := 0.5
	r := request()
	r.Temperature, r.MaxTokens = &half, 99
	r.Messages = []llm.Message{
		llm.SystemText("rules <b>"),
		{From: llm.User, Parts: []llm.Part{llm.Text("see"), screenshot(1, image.Pt(2, 2))}},
		{From: llm.Assistant, Parts: []llm.Part{llm.Text("thought")}, Calls: []llm.ToolCall{{ID: "c1", Name: "look", Arguments: `{"x":1}`}},
			State: &llm.State{API: "anthropic", Model: "m", Data: "secret of another"}},
		{From: llm.ToolReply, CallID: "c1", Parts: []llm.Part{llm.Text("seen"), screenshot(2, image.Pt(2, 2))}},
	}
	r.Tools = []llm.Tool{{Name: "look", Description: "looks", Parameters: json.RawMessage(`{"type":"object","properties":{"y":{},"x":{}}}`)}}
	r.Schema = &llm.Schema{Name: "s", JSON: json.RawMessage(`{"type":"object","properties":{"z":{},"a":{}}}`)}
	server := llmtest.NewServer(t, says("{}"))
	_, err := (&responses.Endpoint{BaseURL: server.URL, Key: key}).Complete(t.Context(), r)
	require.NoError(t, err)
	got := server.Requests()[0]
	assert.Equal(t, "/v1/responses", got.Path)
	assert.Equal(t, "Bearer "+string(key), got.Header.Get("Authorization"))
	require.NoError(t, llmtest.Official("openai", "CreateResponse", []byte(got.Body)))
	var sent map[string]json.RawMessage
	got.JSON(t, &sent)
	picture := func(n int) string {
		var b bytes.Buffer
		_ = json.Compact(&b, fmt.Appendf(nil, `{"type":"input_image","image_url":%q,"detail":"original"}`, dataURL(screenshot(n, image.Pt(2, 2)))))
		return b.String()
	}
	assert.Equal(t, `[{"content":"rules <b>","role":"system"},{"content":[{"type":"input_text","text":"see"},`+picture(1)+`],"role":"user"},`+
		`{"content":"thought","role":"assistant"},{"arguments":"{\"x\":1}","call_id":"c1","name":"look","type":"function_call"},`+
		`{"call_id":"c1","output":[{"type":"input_text","text":"seen"},`+picture(2)+`],"type":"function_call_output"}]`, string(sent["input"]))
	delete(sent, "input")
	assert.Equal(t, map[string]json.RawMessage{
		"model": json.RawMessage(`"m"`), "store": json.RawMessage(`false`), "include": json.RawMessage(`["reasoning.encrypted_content"]`),
		"temperature": json.RawMessage(`0.5`), "max_output_tokens": json.RawMessage(`99`), "parallel_tool_calls": json.RawMessage(`false`),
		"text":  json.RawMessage(`{"format":{"type":"json_schema","name":"s","strict":true,"schema":{"type":"object","properties":{"z":{},"a":{}}}}}`),
		"tools": json.RawMessage(`[{"type":"function","name":"look","description":"looks","parameters":{"type":"object","properties":{"y":{},"x":{}}},"strict":false}]`),
	}, sent)
}

// What a model does not take is left out, and that is remembered for it alone.
func TestWhatAModelDoesNotTake(t *testing.T) {
	half := 0.5
	r := request()
	r.Temperature, r.Schema = &half, &llm.Schema{Name: "s", JSON: json.RawMessage(`{"type":"object"}`)}
	server := llmtest.NewServer(t,
		llmtest.Refusal(400, "", "Unsupported parameter: 'temperature' is not supported with this model.", "temperature"),
		llmtest.Refusal(400, "", "Encrypted content is not supported with this model.", "include"),
		llmtest.Refusal(400, "", "json_schema is not supported", "text.format"),
		says("{}"), says("{}"), says("{}"))
	e := &responses.Endpoint{BaseURL: server.URL}
	for range 2 {
		_, err := e.Complete(t.Context(), r)
		require.NoError(t, err)
	}
	r.Model = "another"
	_, err := e.Complete(t.Context(), r)
	require.NoError(t, err)
	got := server.Requests()
	require.Len(t, got, 6)
	for i, has := range []bool{true, false, false, false, false, true} {
		assert.Equal(t, has, strings.Contains(got[i].Body, `"temperature"`), i)
	}
	assert.NotContains(t, got[4].Body, "encrypted_content")
	assert.Contains(t, got[4].Body, "JSON schema", "it is in the prompt")
	assert.NotContains(t, got[4].Body, `"format"`)
	assert.Contains(t, got[5].Body, "encrypted_content")

	server = llmtest.NewServer(t, llmtest.Refusal(400, "", "temperature, include, json_schema", "input"))
	_, err = (&responses.Endpoint{BaseURL: server.URL}).Complete(t.Context(), r)
	require.ErrorIs(t, err, llm.ErrRequest, "what it names decides")
}

// TestEndpointIsModel holds that an endpoint is a model, alone and behind a client.
func TestEndpointIsModel(t *testing.T) {
	alone := func(answers ...http.HandlerFunc) func(testing.TB) llm.Model {
		return func(t testing.TB) llm.Model {
			return &responses.Endpoint{BaseURL: llmtest.NewServer(t, answers...).URL, Key: key}
		}
	}
	behind := func(answers ...http.HandlerFunc) func(testing.TB) llm.Model {
		return func(t testing.TB) llm.Model { return fast(llmtest.NewServer(t, answers...)) }
	}
	calls := answer(`{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"},{"type":"computer_call","id":"cu","call_id":"c","status":"completed","pending_safety_checks":[],"actions":[{"type":"wait"}]}`)
	failures := func(of func(...http.HandlerFunc) func(testing.TB) llm.Model) map[string]llmtest.Failure {
		return map[string]llmtest.Failure{
			"key":    {New: of(llmtest.Refusal(401, "", "no", "")), Want: llm.ErrAuth},
			"rate":   {New: of(slices.Repeat([]http.HandlerFunc{llmtest.Refusal(429, "", "slow", "")}, 3)...), Want: llm.ErrRateLimited},
			"broken": {New: of(slices.Repeat([]http.HandlerFunc{llmtest.HangUp()}, 3)...), Want: llm.ErrUnavailable},
			"half":   {New: of(slices.Repeat([]http.HandlerFunc{llmtest.HalfReply()}, 3)...), Want: llm.ErrBadReply},
		}
	}
	full := func() *llm.Request {
		r := request()
		r.MaxTokens, r.Computer = 99, &llm.Computer{Size: image.Pt(2, 2)}
		r.Messages = append(r.Messages, llm.Message{From: llm.User, Parts: []llm.Part{llm.Text("see"), screenshot(1, image.Pt(2, 2))}})
		r.Tools = []llm.Tool{{Name: "done", Parameters: []byte(`{"type":"object"}`)}}
		return r
	}
	for name, s := range map[string]*llmtest.Subject{
		"text":  {New: alone(slices.Repeat([]http.HandlerFunc{says("ok")}, 8)...), Request: request, Fail: failures(alone), Hang: alone(llmtest.HangRequest())},
		"calls": {New: alone(slices.Repeat([]http.HandlerFunc{calls}, 8)...), Request: full, Hang: alone(llmtest.HangInReply())},
		"behind a client": {New: behind(slices.Repeat([]http.HandlerFunc{calls}, 8)...), Request: full, Hang: behind(llmtest.HangRequest()),
			Empty: behind(slices.Repeat([]http.HandlerFunc{answer("")}, 3)...), Fail: failures(behind)},
	} {
		s.Calls, s.Counted = 8, true
		t.Run(name, func(t *testing.T) { llmtest.TestModel(t, s) })
	}
}
