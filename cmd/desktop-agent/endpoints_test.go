package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/llm/provider"
	"desktop-agent/run"
	"desktop-agent/run/eventjson"
)

// TestWays holds how the model of each role is asked, and with which key: none goes to
// another address than that which it was given for.
func TestWays(t *testing.T) {
	env := map[string]string{"OPENAI_API_KEY": "sk-env", "ANTHROPIC_API_KEY": "sk-ant-env", "GEMINI_API_KEY": "AIza-env"}
	getenv := func(name string) string { return env[name] }
	type asked struct{ api, url, key string }
	for name, tt := range map[string]struct {
		flags modelFlags
		want  map[llm.Role]asked
	}{
		"one model of OpenAI": {modelFlags{Model: "gpt-5.6-sol"}, map[llm.Role]asked{
			llm.Actor: {"responses", "https://api.openai.com/v1", "sk-env"}, llm.Planner: {"responses", "https://api.openai.com/v1", "sk-env"}}},
		"a local server": {modelFlags{Model: "qwen3-vl", BaseURL: "http://localhost:8000/v1"}, map[llm.Role]asked{
			llm.Actor: {"chat", "http://localhost:8000/v1", ""}}},
		"the actor at another place": {modelFlags{Model: "gpt-4o", APIKey: "sk-own", Actor: roleFlags{Model: "ui-tars-1.5-7b", BaseURL: "http://localhost:8000/v1"}}, map[llm.Role]asked{
			llm.Actor: {"chat", "http://localhost:8000/v1", ""}, llm.Planner: {"chat", "https://api.openai.com/v1", "sk-own"}}},
		"with a key of its own": {modelFlags{Model: "m", BaseURL: "http://localhost:8000/v1", APIKey: "own", Actor: roleFlags{Model: "gpt-5.6-sol", BaseURL: "https://api.openai.com/v1", APIKey: "sk-actor"}}, map[llm.Role]asked{
			llm.Actor: {"responses", "https://api.openai.com/v1", "sk-actor"}, llm.Monitor: {"chat", "http://localhost:8000/v1", "own"}}},
		"an API that was asked for": {modelFlags{Model: "gpt-5.6-sol", API: "chat", Actor: roleFlags{API: "responses"}}, map[llm.Role]asked{
			llm.Actor: {"responses", "https://api.openai.com/v1", "sk-env"}, llm.WorldModel: {"chat", "https://api.openai.com/v1", "sk-env"}}},
		"three providers": {modelFlags{Model: "claude-opus-5", APIKey: "sk-ant-own", Actor: roleFlags{Model: "gpt-5.6-sol"}, Planner: roleFlags{Model: "gemini-3.5-flash"}}, map[llm.Role]asked{
			llm.Monitor: {"anthropic", "https://api.anthropic.com", "sk-ant-own"}, llm.Actor: {"responses", "https://api.openai.com/v1", "sk-env"},
			llm.Planner: {"gemini", "https://generativelanguage.googleapis.com/v1beta", "AIza-env"}}},
		"no address, another provider by the name": {modelFlags{Planner: roleFlags{Model: "gpt-4o"}, Actor: roleFlags{Model: "openai/gpt-5.6-sol"}, APIKey: "sk-own"}, map[llm.Role]asked{
			llm.Actor: {"responses", "https://api.openai.com/v1", "sk-own"}, llm.Planner: {"chat", "https://api.openai.com/v1", "sk-own"}}},
	} {
		for role, want := range tt.want {
			w := tt.flags.way(tt.flags.own(role), getenv)
			assert.Equal(t, want, asked{w.API, w.BaseURL, w.key}, "%s: %s", name, role)
		}
	}
	list, _ := modelFlags{Model: "gpt-5.6-sol"}.ways()
	assert.Equal(t, "openai", modelFlags{Model: "gpt-5.6-sol"}.settings().Computer)
	assert.Len(t, list, 4)
	assert.Equal(t, []string{"sk-own", "sk-env"}, modelFlags{Model: "m", BaseURL: "http://x/v1", APIKey: "sk-own", Actor: roleFlags{BaseURL: "https://api.openai.com/v1"}}.keys(getenv))
}

// TestResumedWays: a run that is resumed asks each model, and each that takes over, where and
// how it was asked before, with the key of that place.
func TestResumedWays(t *testing.T) {
	env := map[string]string{"OPENAI_API_KEY": "sk-env", "ANTHROPIC_API_KEY": "sk-ant-env", "GEMINI_API_KEY": "AIza-env"}
	getenv := func(name string) string { return env[name] }
	for name, f := range map[string]modelFlags{
		"one model of OpenAI, stored": {Model: "gpt-5.6-sol", Stored: true},
		"Claude":                      {Model: "claude-opus-5"},
		"a local server":              {Model: "qwen3-vl", BaseURL: "http://localhost:8000/v1", APIKey: "own"},
		"an API that was asked for":   {Model: "gpt-5.6-sol", API: "chat", Actor: roleFlags{API: "responses"}},
		"three providers":             {Model: "claude-opus-5", Actor: roleFlags{Model: "gpt-5.6-sol"}, Planner: roleFlags{Model: "gemini-3.5-flash"}},
		"others take over":            {Model: "gpt-5.6-sol", Fallback: []string{"gpt-5.4", "claude-opus-5"}, Monitor: roleFlags{BaseURL: "http://localhost:8000/v1", APIKey: "m", Model: "x", Fallback: []string{"y"}}},
		"a model that points":         {Model: "claude-opus-5", Grounder: grounderFlags{roleFlags{Model: "gta1-7b", BaseURL: "http://localhost:8001/v1", APIKey: "g"}, 2, "gta1"}},
	} {
		text, err := eventjson.Marshal(run.RunStarted{Schema: run.Schema, Models: f.settings().Models(), Settings: run.Settings{Models: f.settings()}})
		require.NoError(t, err)
		data, err := eventjson.Unmarshal("run_started", text)
		require.NoError(t, err)
		stored := data.(run.RunStarted).Settings
		r := resumeCmd{APIKey: f.APIKey, Monitor: roleKey{f.Monitor.APIKey}, Grounder: roleKey{f.Grounder.APIKey}}
		again := r.models(stored, stored.Models.BaseURL)
		require.Equal(t, f.roles(), again.roles(), name)
		for _, role := range f.roles() {
			require.Equal(t, f.way(f.own(role), getenv).key, again.way(again.own(role), getenv).key, "%s: %s", name, role)
			before, after := f.others(f.own(role)), again.others(again.own(role))
			require.Len(t, after, len(before), name)
			for i := range before {
				want, got := f.way(before[i], getenv), again.way(after[i], getenv)
				require.Equal(t, []string{want.API, want.BaseURL, want.key}, []string{got.API, got.BaseURL, got.key}, "%s: %s", name, role)
			}
		}
		was, others := f.ways()
		now, othersNow := again.ways()
		require.Equal(t, was, now, name)
		require.Equal(t, others, othersNow, name)
		moved := stored
		moved.Models.BaseURL = "http://localhost:9000/v1"
		there := r.models(moved, stored.Models.BaseURL)
		require.Equal(t, moved.Models.BaseURL, there.way(roleFlags{}, getenv).BaseURL, name)
	}
	old := run.Settings{Models: run.ModelSettings{BaseURL: "https://api.openai.com/v1", Roles: map[llm.Role]llm.Settings{llm.Actor: {Model: "gpt-5.6-sol"}}}}
	f := (&resumeCmd{}).models(old, old.Models.BaseURL)
	require.Equal(t, "chat", f.way(f.Actor, getenv).API, "it was recorded when all were asked so")
}

// TestStored: with --stored the provider keeps what its API can keep, and is sent what is new;
// a run whose models are asked otherwise says that there is no such thing.
func TestStored(t *testing.T) {
	server := llmtest.NewResponses(t, llmtest.ResponsesReply{Items: []any{llmtest.Says("one", "final_answer")}}, llmtest.ResponsesReply{Items: []any{llmtest.Says("two", "final_answer")}},
		llmtest.ResponsesReply{Items: []any{llmtest.Says("three", "final_answer")}})
	client := parsed(t, "stored = true", nil, "--api=responses", "--model=m", "--base-url="+server.URL).modelFlags.client()
	talk := []llm.Message{llm.UserText("first")}
	tools := []llm.Tool{{Name: "click", Parameters: []byte(`{"type":"object"}`)}}
	got, err := client.Complete(t.Context(), &llm.Request{Role: llm.Actor, Messages: talk, Tools: tools})
	require.NoError(t, err)
	talk = append(talk, llm.Message{From: llm.Assistant, Parts: []llm.Part{llm.Text(got.Text)}, State: got.State}, llm.UserText("second"))
	_, err = client.Complete(t.Context(), &llm.Request{Role: llm.Actor, Messages: talk, Tools: tools})
	require.NoError(t, err)
	_, err = client.Complete(t.Context(), &llm.Request{Role: llm.Monitor, Messages: talk[:1]})
	require.NoError(t, err)
	require.Contains(t, server.Requests()[2].Body, `"store":false`, "of a question that nothing follows nothing is kept")
	var sent struct {
		Previous string `json:"previous_response_id"`
		Store    bool   `json:"store"`
		Input    []any  `json:"input"`
	}
	server.Requests()[1].JSON(t, &sent)
	require.Equal(t, "resp_1", sent.Previous)
	require.True(t, sent.Store)
	require.Len(t, sent.Input, 1)
	for model, bad := range map[string]bool{"gpt-5.6-sol": false, "claude-opus-5": true, "qwen3-vl": true} {
		f := modelFlags{Model: model, Stored: true}
		err := f.check(f.client())
		require.Equal(t, bad, err != nil, "%s: %v", model, err)
		ways, _ := f.ways()
		require.Equal(t, !bad, ways[llm.Actor].Stored)
	}
	p := start(t, "run", "--virtual", "--model", "claude-opus-5", "--stored", "Hold on")
	require.Equal(t, exitUsage, p.code(), "%s", p.stderr)
	assert.Contains(t, p.stderr.String(), "no model is asked by an API that keeps conversations")
}

// TestKeyOfAnother: a key of another provider is told of before anything is sent.
func TestKeyOfAnother(t *testing.T) {
	f := modelFlags{Model: "gpt-5.6-sol", APIKey: "sk-ant-api03-0123456789"}
	client := f.client()
	err := f.check(client)
	require.ErrorIs(t, err, llm.ErrAuth)
	require.ErrorContains(t, err, "the key is one of Anthropic, and would be sent to OpenAI")
	require.NotContains(t, err.Error(), "0123456789")
	_, err = client.Complete(t.Context(), &llm.Request{Role: llm.Actor, Messages: []llm.Message{llm.UserText("x")}})
	require.ErrorIs(t, err, llm.ErrAuth, "and nothing is sent where nobody checked")
	p := start(t, "run", "--virtual", "--model", "gpt-5.6-sol", "--api-key", "sk-ant-api03-0123456789", "Hold on")
	require.Equal(t, exitUsage, p.code(), "%s", p.stderr)
	assert.Contains(t, p.stderr.String(), "the key is one of Anthropic")
	assert.NotContains(t, p.stderr.String(), "0123456789")
}

// TestAPIsFromTheCommandLine: an unknown API is refused with the known ones.
func TestAPIsFromTheCommandLine(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	p := start(t, "run", "--virtual", "--model", "m", "--base-url", server.URL, "--actor-api", "wobble", "Hold on")
	require.Equal(t, exitUsage, p.code())
	assert.Contains(t, p.stderr.String(), "--actor-api must be one of")
	p = start(t, "run", "--virtual", "--size", "640x480", "--plan=off", "--model", "m", "--base-url", server.URL, "--format", "computer", "Hold on")
	require.NotEqual(t, exitDone, p.code())
	assert.Contains(t, p.stderr.String(), "has no tool for mouse and keyboard")
}

// TestFallbackElsewhere: a model that takes over is asked in its own way, with the key of its
// own provider; one that does not act as the actor does is refused before anything is sent,
// unless both write in the same form.
func TestFallbackElsewhere(t *testing.T) {
	getenv := func(name string) string {
		return map[string]string{"OPENAI_API_KEY": "sk-env", "ANTHROPIC_API_KEY": "sk-ant-env"}[name]
	}
	f := modelFlags{Model: "gpt-5.6-sol", Planner: roleFlags{Fallback: []string{"claude-opus-5-5"}}}
	other := f.others(f.Planner)
	require.Len(t, other, 1)
	w := f.way(other[0], getenv)
	assert.Equal(t, "anthropic", w.API)
	assert.Equal(t, "sk-ant-env", w.key)
	assert.ElementsMatch(t, []string{"sk-env", "sk-ant-env"}, f.keys(getenv))
	require.NoError(t, f.mixed("auto"), "a planner acts not")
	f = modelFlags{Planner: roleFlags{Model: "gemini-3.5-flash", APIKey: "own", Fallback: []string{"gpt-5.6-sol", "gemini-3-flash"}}}
	other = f.others(f.Planner)
	assert.Equal(t, "sk-env", f.way(other[0], getenv).key, "the key of the role was given for Google")
	assert.Equal(t, "own", f.way(other[1], getenv).key)
	f = modelFlags{Model: "gpt-5.6-sol", Fallback: []string{"claude-opus-5-5"}}
	require.ErrorContains(t, f.mixed("auto"), `the fallback "claude-opus-5-5" of the actor`)
	require.NoError(t, f.mixed("tools"))
	f = modelFlags{BaseURL: "http://localhost:8000/v1", Actor: roleFlags{Model: "qwen2.5-vl-7b", Fallback: []string{"ui-tars-1.5-7b"}}}
	require.ErrorContains(t, f.mixed("auto"), `the fallback "ui-tars-1.5-7b" of the actor`, "it speaks another dialect")
	f.Actor.Fallback = []string{"qwen2.5-vl-72b"}
	require.NoError(t, f.mixed("auto"))
}

// TestRefusingIsModel holds that who is not asked, for a reason, is one of several models by
// the promises of all: it has no reply, and says so as they do.
func TestRefusingIsModel(t *testing.T) {
	reason, ok := errors.New("no key"), llmtest.Text("DONE")
	of := func(name string) func(testing.TB) llm.Model {
		return func(testing.TB) llm.Model { return provider.ByName{"": ok, name: refusing{reason}} }
	}
	llmtest.TestModel(t, &llmtest.Subject{
		New: of("another"), Fail: map[string]llmtest.Failure{"nobody is asked": {New: of("m"), Want: llm.ErrRequest}, "and the reason is told": {New: of("m"), Want: reason}},
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	_, err := refusing{reason}.Complete(ctx, nil)
	require.ErrorIs(t, err, stopped)
}
