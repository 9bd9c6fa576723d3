//go:build linux

package desktopagent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/dialect"
	"desktop-agent/actuator/native"
	"desktop-agent/agent"
	"desktop-agent/llm"
	"desktop-agent/llm/anthropic"
	"desktop-agent/llm/gemini"
	"desktop-agent/llm/llmtest"
	"desktop-agent/llm/openai"
	"desktop-agent/llm/provider"
	"desktop-agent/llm/responses"
	"desktop-agent/replay"
	"desktop-agent/replay/offline"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/screen"
)

// A recording is a run that is to be recorded: the actor asks a scripted server, and nothing
// but its actions is looked at.
type recording struct {
	models   map[llm.Role]llm.Settings // of others than the actor: none is asked
	computer string                    // whose tool for mouse and keyboard there is
	format   string                    // "" for auto
	actor    llm.Model
	guard    run.Guard
}

// record does the run on a display, to its end, and returns what was written.
func (r recording) record(ctx context.Context, t *testing.T, display, answer string) *replay.Run {
	t.Helper()
	client := &llm.Client{Default: r.models[llm.Actor], Retry: llm.Retry{Attempts: 1}, Model: provider.ByRole{
		llm.Actor: r.actor,
		"":        llmtest.JSON(map[string]any{"shown": true, "evidence": "All is typed", "region": nil, "missing": ""}),
	}}
	settings := run.Defaults()
	settings.Display = run.DisplaySettings{Name: display}
	a := &settings.Agent
	a.Planning, a.Format, a.Guard, a.ReviewEvery = "off", dialect.Auto, "off", 0
	if r.format != "" {
		a.Format = r.format
	}
	a.Detectors.Repeats, a.Detectors.SameScreen, a.Detectors.Alternate, a.Detectors.NoEffect, a.Detectors.Stuck = 100, 100, 100, 100, 100
	settings.Models.Computer = r.computer
	settings.Models.Roles = map[llm.Role]llm.Settings{}
	for _, role := range []llm.Role{llm.Planner, llm.Actor, llm.WorldModel, llm.Monitor} {
		settings.Models.Roles[role] = client.Settings(role)
	}
	var journal *replay.Journal
	s := runtest.Open(t, settings, &run.Options{Client: client, Guard: r.guard, Journal: func() (_ run.Journal, err error) {
		journal, err = replay.Create(t.TempDir())
		return journal, err
	}})
	who, err := agent.New(s)
	require.NoError(t, err)
	result, err := who.Run(ctx, "Type what is to be typed")
	require.NoError(t, err)
	require.Equal(t, run.OutcomeDone, result.Outcome, result.Answer)
	require.Equal(t, answer, result.Answer)
	require.NoError(t, s.Close())
	stored, err := replay.Open(journal.Dir())
	require.NoError(t, err)
	return stored
}

// replayed does a run again offline, which goes the same way, down to the prompts.
func replayed(ctx context.Context, t *testing.T, stored *replay.Run) {
	t.Helper()
	again, err := offline.New(stored, &offline.Options{})
	require.NoError(t, err)
	result, err := again.Run(ctx)
	require.NoError(t, err)
	require.True(t, result.Same(), "%v", result.Differences)
	require.Zero(t, result.Changed, "%v", result.Prompts)
}

// kept is where a run of each form is kept: small ones, with which package replaytest shows
// that runs of today replay with what comes tomorrow.
const kept = "replay/replaytest/testdata/forms"

// TestRunByEach has an agent do a part of the demo's actions on a real desktop, called for by
// a model behind each adapter, by a model that writes a dialect, and by one whose first model
// gives way to another's: the input is the same, every request is one that the provider
// takes, and the recorded run replays offline with neither desktop nor model. With the flag
// -update the runs are kept, for replaytest.TestForms.
func TestRunByEach(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	desktop, window := eventDesktop(ctx, t)
	actions := demoActions(t)[:6]
	want := performed(ctx, t, desktop.Display(), dialect.Code, 0, window, actions, func(a actuator.Action, _ screen.Mapping) []actuator.Action { return []actuator.Action{a} })
	batches := slices.Collect(slices.Chunk(append(slices.Clone(actions), f12), 3))
	for name, with := range map[string]func(*testing.T, *scripted) recording{
		"chat": byChat, "responses": byResponses, "responses-stored": byStoredResponses, "anthropic": byAnthropic, "gemini": byGemini,
		"dialect": byDialect, "fallback": byFallback, "fallback-elsewhere": byFallbackElsewhere,
	} {
		t.Run(name, func(t *testing.T) {
			window.Clear()
			s := &scripted{batches: batches}
			r := with(t, s)
			r.guard = &accepting{}
			stored := r.record(ctx, t, desktop.Display(), "All is typed.")
			require.Equal(t, want, typedUntilF12(ctx, t, window))
			for _, server := range s.servers {
				require.Zero(t, server.Left(), "all that is to be said was asked for")
			}
			replayed(ctx, t, stored)
			if llmtest.Updating() {
				to := filepath.Join(kept, name)
				require.NoError(t, os.RemoveAll(to))
				require.NoError(t, os.CopyFS(to, os.DirFS(stored.Dir)))
			}
		})
	}
}

// A scripted is what models are to do, and the servers that have them do it.
type scripted struct {
	batches [][]actuator.Action
	servers []*llmtest.Server
}

// calls are a batch in the words of a provider's own tool.
func (s *scripted) calls(t *testing.T, v *native.Vocabulary, batch []actuator.Action) []actuator.Call {
	calls, ok := v.Write(batch, eventSize)
	require.True(t, ok)
	return calls
}

// serve starts a server whose requests hold to a provider's schema.
func (s *scripted) serve(t *testing.T, of, request string, answers ...http.HandlerFunc) string {
	var server *llmtest.Server
	for i, answer := range answers {
		answers[i] = func(w http.ResponseWriter, r *http.Request) {
			all := server.Requests()
			assert.NoError(t, llmtest.Official(of, request, []byte(all[len(all)-1].Body)), "request %d", len(all))
			answer(w, r)
		}
	}
	server = llmtest.NewServer(t, answers...)
	s.servers = append(s.servers, server)
	return server.URL
}

// asFunctions are a batch as calls of the functions that every model can be offered.
func asFunctions(t *testing.T, n int, batch []actuator.Action) (list []llm.ToolCall) {
	for i, a := range batch {
		arguments, err := json.Marshal(a)
		require.NoError(t, err)
		var fields map[string]any
		require.NoError(t, json.Unmarshal(arguments, &fields))
		delete(fields, "action")
		arguments, err = json.Marshal(fields)
		require.NoError(t, err)
		list = append(list, llm.ToolCall{ID: fmt.Sprintf("call_%d_%d", n, i), Name: actuator.Name(a), Arguments: string(arguments)})
	}
	return list
}

// overloaded is how each provider says so.
func overloaded(body string) http.HandlerFunc {
	return llmtest.Status(http.StatusServiceUnavailable, "", body)
}

func byChat(t *testing.T, s *scripted) recording {
	var answers []http.HandlerFunc
	for n, batch := range s.batches {
		answers = append(answers, llmtest.CompletionOf(llm.Response{Calls: asFunctions(t, n, batch), Finish: "tool_calls"}))
	}
	done := llm.ToolCall{ID: "call_done", Name: "done", Arguments: `{"answer":"All is typed."}`}
	answers = append(answers, llmtest.CompletionOf(llm.Response{Calls: []llm.ToolCall{done}, Finish: "tool_calls"}))
	return recording{
		models: map[llm.Role]llm.Settings{llm.Actor: {Model: "gpt-4o"}}, format: dialect.Tools,
		actor: &openai.Endpoint{BaseURL: s.serve(t, "openai", "CreateChatCompletionRequest", answers...)},
	}
}

func byDialect(t *testing.T, s *scripted) recording {
	answers := s.dialect(t, dialect.Named("qwen2.5-vl"))
	return recording{
		models: map[llm.Role]llm.Settings{llm.Actor: {Model: "qwen2.5-vl-72b"}},
		actor:  &openai.Endpoint{BaseURL: s.serve(t, "openai", "CreateChatCompletionRequest", answers...)},
	}
}

// dialect are replies of a model that writes a dialect, with one action in each.
func (s *scripted) dialect(t *testing.T, d *dialect.Dialect) (answers []http.HandlerFunc) {
	m := screen.Mapping{Source: image.Rectangle{Max: eventSize}, Size: d.Image.Fit(eventSize, 0)}
	write := func(thought string, a actuator.Action) {
		text, ok := d.Write(thought, []actuator.Action{a}, m.Size)
		require.True(t, ok, "%s: %s", d.Name, actuator.Describe(a))
		answers = append(answers, llmtest.Completion(text))
	}
	for _, batch := range s.batches {
		for _, a := range batch {
			write("I go on.", onImage(a, m))
		}
	}
	write("That was all.", actuator.Done{Answer: "All is typed."})
	return answers
}

// TestRunByDialects does a run by a model of each dialect, which gives way to another of its
// family: every request is one that Chat Completions takes, the input is what the actions
// are, and the run replays offline.
func TestRunByDialects(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	desktop, window := eventDesktop(ctx, t)
	actions := demoActions(t)[:2]
	want := performed(ctx, t, desktop.Display(), dialect.Code, 0, window, actions, func(a actuator.Action, _ screen.Mapping) []actuator.Action { return []actuator.Action{a} })
	for _, d := range dialect.All() {
		t.Run(d.Name, func(t *testing.T) {
			window.Clear()
			s := &scripted{batches: [][]actuator.Action{append(slices.Clone(actions), f12)}}
			answers := s.dialect(t, d)
			first := s.serve(t, "openai", "CreateChatCompletionRequest", answers[0], overloaded(`{"error":{"message":"overloaded"}}`))
			second := s.serve(t, "openai", "CreateChatCompletionRequest", answers[1:]...)
			r := recording{
				models: map[llm.Role]llm.Settings{llm.Actor: {Model: "first", Fallback: []string{"second"}}}, format: d.Name, guard: &accepting{},
				actor: provider.ByName{"": &openai.Endpoint{BaseURL: first}, "second": &openai.Endpoint{BaseURL: second}},
			}
			stored := r.record(ctx, t, desktop.Display(), "All is typed.")
			require.Equal(t, want, typedUntilF12(ctx, t, window))
			for _, server := range s.servers {
				require.Zero(t, server.Left())
			}
			replayed(ctx, t, stored)
		})
	}
}

// openAI are replies of Responses that call for batches by the computer tool.
func (s *scripted) openAI(t *testing.T, batches [][]actuator.Action) (script []llmtest.ResponsesReply) {
	for _, batch := range batches {
		var arguments struct {
			Actions []any `json:"actions"`
		}
		require.NoError(t, json.Unmarshal([]byte(s.calls(t, native.OpenAI, batch)[0].Arguments), &arguments))
		script = append(script, llmtest.ResponsesReply{Items: []any{llmtest.ComputerCall(fmt.Sprintf("call_%d", len(script)+1), arguments.Actions...)}})
	}
	return script
}

// responses starts a server of a script of Responses.
func (s *scripted) responses(t *testing.T, script []llmtest.ResponsesReply) string {
	server := llmtest.NewResponses(t, script...)
	s.servers = append(s.servers, server.Server)
	return server.URL
}

var typed = llmtest.ResponsesReply{Items: []any{llmtest.Says("All is typed.", "final_answer")}}

func byResponses(t *testing.T, s *scripted) recording {
	return recording{
		models: map[llm.Role]llm.Settings{llm.Actor: {Model: "gpt-5.6-sol"}}, computer: "openai",
		actor: &responses.Endpoint{BaseURL: s.responses(t, append(s.openAI(t, s.batches), typed))},
	}
}

func byStoredResponses(t *testing.T, s *scripted) recording {
	r := byResponses(t, s)
	r.actor.(*responses.Endpoint).Stored = true
	return r
}

// claude is a reply in the form of Anthropic's Messages.
func claude(t *testing.T, stop string, blocks ...map[string]any) http.HandlerFunc {
	data, err := json.Marshal(map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5", "container": nil, "context_management": nil, "diagnostics": nil,
		"content": blocks, "stop_reason": stop, "stop_sequence": nil, "stop_details": nil,
		"usage": map[string]any{"input_tokens": 100, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 50, "output_tokens": 50,
			"cache_creation": nil, "fallback_credit": nil, "inference_geo": nil, "iterations": nil, "output_tokens_details": nil, "server_tool_use": nil, "service_tier": "standard", "speed": "standard"},
	})
	require.NoError(t, err)
	require.NoError(t, llmtest.Official("anthropic", "BetaMessage", data))
	return llmtest.Status(http.StatusOK, "", string(data))
}

func byAnthropic(t *testing.T, s *scripted) recording {
	var answers []http.HandlerFunc
	for n, batch := range s.batches {
		blocks := []map[string]any{{"type": "thinking", "thinking": fmt.Sprint("Part ", n), "signature": fmt.Sprintf("c2ln<%d>&", n)}}
		for i, c := range s.calls(t, native.Anthropic, batch) {
			blocks = append(blocks, map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", n, i), "name": c.Name, "toolset_name": "computer",
				"input": json.RawMessage(c.Arguments), "caller": map[string]any{"type": "direct"}})
		}
		answers = append(answers, claude(t, "tool_use", blocks...))
	}
	answers = append(answers, claude(t, "end_turn", map[string]any{"type": "text", "text": "All is typed.", "citations": nil}))
	return recording{
		models: map[llm.Role]llm.Settings{llm.Actor: {Model: "claude-opus-5"}}, computer: "anthropic",
		actor: &anthropic.Endpoint{BaseURL: s.serve(t, "anthropic", "BetaCreateMessageParams", answers...), Key: "k"},
	}
}

// geminiSays is a reply in the form of Google's generateContent.
func geminiSays(t *testing.T, parts ...any) http.HandlerFunc {
	data, err := json.Marshal(map[string]any{
		"candidates":    []any{map[string]any{"content": map[string]any{"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": map[string]any{"promptTokenCount": 1000, "cachedContentTokenCount": 900, "candidatesTokenCount": 20, "totalTokenCount": 1020},
		"modelVersion":  "gemini-3.5-flash", "responseId": "r",
	})
	require.NoError(t, err)
	require.NoError(t, llmtest.Official("gemini", "GenerateContentResponse", data))
	return llmtest.Status(http.StatusOK, "", string(data))
}

func byGemini(t *testing.T, s *scripted) recording {
	var answers []http.HandlerFunc
	for n, batch := range s.batches {
		var parts []any
		for i, c := range s.calls(t, native.Gemini, batch) {
			part := map[string]any{"functionCall": map[string]any{"id": fmt.Sprintf("f%d_%d", n, i), "name": c.Name, "args": json.RawMessage(c.Arguments)}}
			if i == 0 {
				part["thoughtSignature"] = "c2ln/MQ+a=="
			}
			parts = append(parts, part)
		}
		if n == 1 { // a person is asked, and accepts it
			call := parts[0].(map[string]any)["functionCall"].(map[string]any)
			args := map[string]any{}
			require.NoError(t, json.Unmarshal(call["args"].(json.RawMessage), &args))
			maps.Copy(args, map[string]any{"safety_decision": map[string]any{"decision": "require_confirmation", "explanation": "It writes."}})
			call["args"] = args
		}
		answers = append(answers, geminiSays(t, parts...))
	}
	return recording{
		models: map[llm.Role]llm.Settings{llm.Actor: {Model: "gemini-3.5-flash"}}, computer: "gemini",
		actor: &gemini.Endpoint{BaseURL: s.serve(t, "gemini", "GenerateContentRequest", append(answers, geminiSays(t, map[string]any{"text": "All is typed."}))...), Key: "k"},
	}
}

// byFallback gives way to another model of the provider, with its tool for mouse and keyboard.
func byFallback(t *testing.T, s *scripted) recording {
	limited := llmtest.ResponsesReply{Instead: llmtest.Status(http.StatusTooManyRequests, "", `{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}`)}
	first := s.responses(t, append(s.openAI(t, s.batches[:1]), limited))
	second := s.responses(t, append(s.openAI(t, s.batches[1:]), typed))
	return recording{
		models: map[llm.Role]llm.Settings{llm.Actor: {Model: "gpt-5.6-sol", Fallback: []string{"gpt-5.4"}}}, computer: "openai",
		actor: provider.ByName{"": &responses.Endpoint{BaseURL: first}, "gpt-5.4": &responses.Endpoint{BaseURL: second}},
	}
}

// byFallbackElsewhere gives way to a model of another provider, by functions.
func byFallbackElsewhere(t *testing.T, s *scripted) recording {
	var items []any
	for _, c := range asFunctions(t, 0, s.batches[0]) {
		items = append(items, llmtest.FunctionCall(c.ID, c.Name, c.Arguments))
	}
	first := s.responses(t, []llmtest.ResponsesReply{{Items: items}, {Instead: overloaded(`{"error":{"message":"overloaded","type":"server_error","code":null}}`)}})
	var answers []http.HandlerFunc
	for n, batch := range s.batches[1:] {
		var blocks []map[string]any
		for _, c := range asFunctions(t, n+1, batch) {
			blocks = append(blocks, map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": json.RawMessage(c.Arguments), "caller": map[string]any{"type": "direct"}})
		}
		answers = append(answers, claude(t, "tool_use", blocks...))
	}
	answers = append(answers, claude(t, "tool_use", map[string]any{"type": "tool_use", "id": "toolu_done", "name": "done", "input": map[string]any{"answer": "All is typed."}, "caller": map[string]any{"type": "direct"}}))
	return recording{
		models: map[llm.Role]llm.Settings{llm.Actor: {Model: "gpt-5.6-sol", Fallback: []string{"claude-opus-5"}}}, format: dialect.Tools,
		actor: provider.ByName{"": &responses.Endpoint{BaseURL: first}, "claude-opus-5": &anthropic.Endpoint{BaseURL: s.serve(t, "anthropic", "BetaCreateMessageParams", answers...), Key: "k"}},
	}
}
