package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/run"
)

// TestGrounderSettings holds that the grounder is a role like others, from a file, the
// environment and the command line, but for one thing: without a model of its own nobody is
// asked, whatever models all roles have.
func TestGrounderSettings(t *testing.T) {
	none := parsed(t, "model = \"m\"\nfallback = [\"n\"]", nil)
	require.NoError(t, none.modelFlags.check(none.client()))
	s := none.modelFlags.settings()
	assert.Empty(t, s.Grounder)
	assert.NotContains(t, s.Roles, llm.Grounder)
	assert.NotContains(t, s.Ways, llm.Grounder)
	assert.NotContains(t, s.Models(), "grounder")

	r := parsed(t, "model = \"m\"\nfallback = [\"n\"]\nbase-url = \"http://localhost:1/v1\"\n[grounder]\nmodel = \"GTA1-7B\"\nbase-url = \"http://localhost:2/v1\"\ntimeout = \"9s\"",
		map[string]string{"DESKTOP_AGENT_GROUNDER_MAX_TOKENS": "77", "DESKTOP_AGENT_GROUNDER_API_KEY": "own"}, "--grounder-fallback", "gta1-32b")
	require.NoError(t, r.modelFlags.check(r.client()))
	s = r.modelFlags.settings()
	assert.Equal(t, "gta1", s.Grounder)
	assert.Equal(t, run.Way{API: "chat", BaseURL: "http://localhost:2/v1"}, s.Ways[llm.Grounder])
	g := s.Roles[llm.Grounder]
	assert.Equal(t, "GTA1-7B", g.Model)
	assert.Equal(t, []string{"gta1-32b"}, g.Fallback, "those of all roles do not ground")
	assert.Equal(t, 77, g.MaxTokens)
	assert.Zero(t, *g.Temperature, "it is one place")
	assert.Equal(t, "9s", g.Deadline.String())
	nobody := func(string) string { return "" }
	assert.Equal(t, "own", r.way(r.own(llm.Grounder), nobody).key)
	assert.Equal(t, []string{"own"}, r.keys(nobody))
	assert.Equal(t, "m", r.client().Settings(llm.Monitor).Model)

	warm := parsed(t, "", nil, "--model", "m", "--grounder-model", "holo2-4b", "--grounder-temperature", "0.3", "--fallback", "n")
	g = warm.modelFlags.settings().Roles[llm.Grounder]
	assert.Equal(t, 0.3, *g.Temperature)
	assert.Empty(t, g.Fallback)
	assert.Equal(t, "infigui", parsed(t, "", nil, "--model", "m", "--grounder-model", "mine", "--grounder-form", "infigui").modelFlags.settings().Grounder)
}

// TestGrounderThatCannotBeAsked holds what is refused before anything is sent, and what to
// write instead.
func TestGrounderThatCannotBeAsked(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--grounder-base-url", "http://localhost:1/v1"}, "settings of the grounder are given, and no model for it"},
		{[]string{"--grounder-form", "gta1"}, "name it with --grounder-model"},
		{[]string{"--grounder-model", "gpt-4o"}, "add --grounder-form, or name a model that docs/models.md has"},
		{[]string{"--grounder-model", "gta1-7b", "--grounder-fallback", "holo2-4b"}, `the fallback "holo2-4b" of the grounder is not asked in the form of the model before it, gta1`},
		{[]string{"--grounder-form", "gta2", "--grounder-model", "x"}, "--grounder-form must be one of"},
		{[]string{"--grounder-model", "gta1-7b", "--max-dollars", "1", "--price", "m=1/1/1"}, `"gta1-7b" has no price`},
		{[]string{"--grounder-model", "gta1-7b", "--actor-model", "ui-tars-1.5-7b"}, "the actor writes its actions as ui-tars-1.5, in which nothing is named in words"},
	} {
		code, _, errs := command(t, append([]string{"run", "--virtual", "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "Hold on"}, tt.args...)...)
		require.Equal(t, exitUsage, code, "%v: %s", tt.args, errs)
		assert.Contains(t, errs, tt.want, "%v", tt.args)
	}
}
