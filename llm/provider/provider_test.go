package provider

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/anthropic"
	"desktop-agent/llm/llmtest"
)

// TestChoose holds how a model is asked by its address and name, and whether it is offered
// the tool for mouse and keyboard.
func TestChoose(t *testing.T) {
	const (
		openai, claude, google = "https://api.openai.com/v1", "https://api.anthropic.com", "https://generativelanguage.googleapis.com/v1beta"
		local                  = "http://127.0.0.1:8000/v1"
	)
	for _, tt := range []struct{ api, url, model, wantURL, wantAPI, computer, provider string }{
		{"", "", "gpt-5.6-sol", openai, "responses", "openai", "OpenAI"},
		{"auto", openai, "gpt-5.4-mini", openai, "responses", "openai", "OpenAI"},
		{"auto", openai, "gpt-5.4-nano", openai, "responses", "", "OpenAI"},
		{"auto", openai, "gpt-6-astra", openai, "responses", "", "OpenAI"},
		{"auto", "", "gpt-4o", openai, "chat", "", "OpenAI"},
		{"auto", "", "gpt-5", openai, "chat", "", "OpenAI"},
		{"chat", "", "gpt-5.6-sol", openai, "chat", "", "OpenAI"},
		{"responses", local, "openai/gpt-5.6-sol", local, "responses", "openai", ""},
		{"auto", local, "gpt-5.6-sol", local, "chat", "", ""},
		{"auto", local, "claude-opus-5", local, "chat", "", ""},
		{"auto", "", "qwen3-vl", openai, "chat", "", "OpenAI"},
		{"auto", "https://openrouter.ai/api/v1", "anthropic/claude-opus-5", "https://openrouter.ai/api/v1", "chat", "", "OpenRouter"},
		{"auto", google + "/openai/", "gemini-3.5-flash", google + "/openai/", "chat", "", "Google"},
		{"auto", "", "anthropic/Claude-Opus-5", claude, "anthropic", "anthropic", "Anthropic"},
		{"auto", "", "claude-haiku-4-5-20251001", claude, "anthropic", "anthropic", "Anthropic"},
		{"auto", "", "claude-3-haiku", claude, "anthropic", "", "Anthropic"},
		{"anthropic", "", "m", claude, "anthropic", "", "Anthropic"},
		{"auto", "", "gemini-3.5-flash", google, "gemini", "gemini", "Google"},
		{"auto", "", "gemini-2.0-flash", google, "gemini", "", "Google"},
		{"auto", "", "", openai, "chat", "", "OpenAI"},
	} {
		c, err := Choose(tt.api, tt.url, tt.model)
		require.NoError(t, err)
		assert.Equal(t, []string{tt.wantURL, tt.wantAPI, tt.computer, tt.provider}, []string{c.BaseURL, c.API, c.Computer, c.Provider}, "%+v", tt)
		assert.NotEmpty(t, c.Why)
	}
	c, err := Choose("auto", "", "gpt-6-astra")
	require.NoError(t, err)
	assert.Contains(t, c.ComputerWhy, "advises code")
	for model, grows := range map[string]bool{"claude-opus-5-5": true, "claude-sonnet-5.5": true, "claude-opus-5": false, "claude-haiku-4-5": false} {
		c, err := Choose("auto", "", model)
		require.NoError(t, err)
		f, known := anthropic.About(model)
		require.True(t, known)
		assert.Equal(t, []bool{grows, grows}, []bool{c.Grows, f.AppendOnly}, "the table says what the adapter does: %s", model)
	}
	_, err = Choose("respones", "", "m")
	require.ErrorContains(t, err, `there is no API "respones": the nearest are responses`)
}

// A key goes to the provider whose it is: another one is told of before anything is sent,
// without the key.
func TestKeys(t *testing.T) {
	for _, tt := range []struct{ url, key, bad string }{
		{"https://api.openai.com/v1", "sk-proj-0123", ""},
		{"https://api.openai.com/v1", "sk-ant-0123", "is one of Anthropic, and would be sent to OpenAI"},
		{"https://api.openai.com/v1", "sk-or-v1-0123", "is one of OpenRouter"},
		{"https://api.openai.com/v1", "AIza0123", "is one of Google"},
		{"https://api.openai.com/v1", "of a form that nobody knows", ""},
		{"https://api.openai.com/v1", "", ""},
		{"https://api.anthropic.com", "sk-0123", "is one of OpenAI, and would be sent to Anthropic"},
		{"https://api.anthropic.com", "sk-ant-0123", ""},
		{"http://localhost:8000/v1", "sk-ant-0123", ""}, // it may pass requests on
	} {
		err := Choice{BaseURL: tt.url, API: "chat"}.CheckKey(tt.key)
		if tt.bad == "" {
			require.NoError(t, err, tt)
			continue
		}
		require.ErrorContains(t, err, tt.bad)
		require.NotContains(t, err.Error(), "0123")
	}
	_, err := Choice{BaseURL: "https://api.openai.com/v1", API: "chat"}.Open(Options{Key: "sk-ant-0123"})
	require.ErrorIs(t, err, llm.ErrAuth)
	for url, want := range map[string]string{
		"https://api.openai.com/v1": "OPENAI_API_KEY", "https://api.anthropic.com": "ANTHROPIC_API_KEY", "https://openrouter.ai/api/v1": "OPENROUTER_API_KEY",
		"http://api.openai.com/v1": "", "https://api.openai.com:8443/v1": "", "https://api.openai.com.evil.example/v1": "", "https://example.org": "", "": "",
	} {
		require.Equal(t, want, Choice{BaseURL: url}.Variable(), url)
	}
}

// Every API of the table has an adapter, each of which asks where it is told to.
func TestOpen(t *testing.T) {
	for _, p := range table.Provider {
		for _, a := range p.API {
			require.Contains(t, APIs(), a.Name, p.Name)
		}
	}
	for api, answer := range map[string]string{"chat": `{"choices":[{"message":{"content":"ok"}}]}`, "responses": `{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}]}`,
		"anthropic": `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`,
		"gemini":    `{"candidates":[{"content":{"role":"model","parts":[{"text":"ok"}]},"finishReason":"STOP"}]}`} {
		server := llmtest.NewServer(t, llmtest.Status(200, "", answer))
		model, err := Choice{API: api, BaseURL: server.URL}.Open(Options{Key: "key-0123"})
		require.NoError(t, err)
		byRole := ByRole{llm.Actor: model}
		got, err := byRole.Complete(t.Context(), &llm.Request{Role: llm.Actor, Model: "m", Messages: []llm.Message{llm.UserText("hi")}})
		require.NoError(t, err, api)
		require.Equal(t, "ok", got.Text)
		_, err = byRole.Complete(t.Context(), &llm.Request{Role: llm.Monitor})
		require.ErrorIs(t, err, llm.ErrRequest)
	}
	_, err := Choice{API: "wobble"}.Open(Options{})
	require.Error(t, err)
}
