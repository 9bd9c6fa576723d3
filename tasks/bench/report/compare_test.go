package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/tasks"
)

func TestCompare(t *testing.T) {
	r := New(Meta{Configs: newConfigs()[:2]}, nil, []tasks.Result{
		trial("won", "plan=off", 1, tasks.Scored, 0.5), trial("won", "plan=on", 1, tasks.Scored, 1),
		trial("mended", "plan=off", 1, tasks.Lost, 0), trial("mended", "plan=on", 1, tasks.Scored, 1),
		trial("lost", "plan=off", 1, tasks.Scored, 1), trial("lost", "plan=on", 1, tasks.Errored, 0),
		trial("both", "plan=off", 1, tasks.Scored, 1), trial("both", "plan=on", 1, tasks.Scored, 1),
		trial("neither", "plan=off", 1, tasks.Scored, 0), trial("neither", "plan=on", 1, tasks.Scored, 0.25),
		trial("skipped", "plan=off", 1, tasks.Skipped, 0), trial("skipped", "plan=on", 1, tasks.Scored, 1),
		trial("skipped by both", "plan=off", 1, tasks.Skipped, 0), trial("skipped by both", "plan=on", 1, tasks.Skipped, 0),
		trial("only", "plan=on", 1, tasks.Scored, 1),
	})
	require.Len(t, r.Comparisons, 1)
	c := r.Comparisons[0]
	assert.True(t, c.Standing)
	assert.Equal(t, "plan=off", c.A)
	assert.Equal(t, []string{"mended", "won"}, c.Wins)
	assert.Equal(t, []string{"lost"}, c.Losses)
	assert.Equal(t, []int{5, 3, 1, 1, 0}, []int{c.Tasks, c.LeftOut, c.Both, c.Neither, c.Same})
	assert.InDelta(t, 0.2, *c.Effect.Value, tiny)
	assert.InDelta(t, 0.4, *c.RateA, tiny)
	assert.InDelta(t, (0.5+1-1+0+0.25)/5, *c.Score.Value, tiny)
	assert.InDelta(t, 1, *c.P, tiny)
	assert.Equal(t, *c.P, *c.PHolm)
	assert.False(t, c.Sign)
	assert.Equal(t, []string{
		"the sets of tasks differ: 0 tasks only with “plan=off”, 1 only with “plan=on”",
		"1 task is left out, as one of the two skipped it, but not the other",
	}, c.Warnings)
}

func TestCompareRepeats(t *testing.T) {
	r := New(Meta{}, nil, []tasks.Result{
		trial("a", "x", 1, tasks.Scored, 1), trial("a", "x", 2, tasks.Scored, 0), trial("a", "y", 1, tasks.Scored, 1), trial("a", "y", 2, tasks.Scored, 1),
		trial("b", "x", 1, tasks.Scored, 1), trial("b", "x", 2, tasks.Scored, 0), trial("b", "y", 1, tasks.Scored, 0), trial("b", "y", 2, tasks.Scored, 1),
		trial("c", "x", 1, tasks.Scored, 1), trial("c", "x", 2, tasks.Skipped, 0), trial("c", "y", 1, tasks.Scored, 0), trial("c", "y", 2, tasks.Scored, 0),
	})
	c := r.Comparisons[0]
	assert.True(t, c.Sign)
	assert.False(t, c.Standing)
	assert.Equal(t, []string{"a"}, c.Wins)
	assert.Equal(t, []string{"c"}, c.Losses)
	assert.Equal(t, 1, c.Same)
	assert.InDelta(t, (0.5+0-1)/3, *c.Effect.Value, tiny)
	assert.Equal(t, []string{"1 task not attempted equally often by both", "the models and settings of one are not known, so they may differ"}, c.Warnings)
}

func TestStandingPairs(t *testing.T) {
	plain := newConfigs()
	config := func(name, planning string) Config { return Config{Name: name, Planning: planning, Guard: "none"} }
	models := func(c Config, model string) Config {
		c.Models = map[string]string{"actor": model}
		return c
	}
	for _, tt := range []struct {
		name    string
		configs []Config
		want    []string // off, on, …
	}{
		{"by what they consist of", plain, []string{"plan=off", "plan=on"}},
		{"by name", []Config{config("m1 plan=off", ""), config("m2,plan=on", ""), config("m1 plan=on", ""), config("m2,plan=off", "")}, []string{"m1 plan=off", "m1 plan=on", "m2,plan=off", "m2,plan=on"}},
		{"other names", []Config{models(config("b", "suggestive"), "m"), models(config("a", "off"), "m"), models(config("c", "off"), "n")}, []string{"a", "b"}},
		{"the only ones", []Config{models(config("a", "off"), "m"), models(config("b", "strict"), "n")}, []string{"a", "b"}},
		{"none plans", []Config{config("a", "off"), config("b", "off")}, nil},
		{"nothing is known", []Config{config("a", ""), config("b", "")}, nil},
		{"no pair", []Config{models(config("a", "off"), "m"), models(config("b", "off"), "n"), models(config("c", "on"), "o")}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var results []tasks.Result
			for _, c := range tt.configs {
				results = append(results, trial("a", c.Name, 1, tasks.Scored, 1))
			}
			r := New(Meta{Configs: tt.configs}, nil, results)
			var got []string
			for i, c := range r.Comparisons {
				if c.Standing {
					got = append(got, c.A, c.B)
					assert.Equal(t, len(got)/2-1, i, "they come first")
				}
			}
			assert.Equal(t, tt.want, got)
			assert.Len(t, r.Comparisons, len(tt.configs)*(len(tt.configs)-1)/2)
		})
	}
}

func TestDifferences(t *testing.T) {
	c := newConfigs()
	assert.Empty(t, differences(&c[1], &c[0], true), "a planner belongs to planning")
	assert.Equal(t, []string{"model for planner: openai/gpt-5 in “plan=on”, none in “plan=off”", "planning: suggestive in “plan=on”, off in “plan=off”"}, differences(&c[1], &c[0], false))
	assert.Equal(t, []string{
		"model for actor: openai/gpt-5-nano in “plan=off”, openai/gpt-5 in “large”",
		"setting steps: 30 in “plan=off”, 50 in “large”",
		"shell: not allowed in “plan=off”, allowed in “large”",
		"guard: none in “plan=off”, rules in “large”",
	}, differences(&c[0], &c[2], false))
	other := c[0]
	other.Models = map[string]string{"actor": "openai/gpt-5-nano", "planner": "a"}
	assert.Equal(t, []string{"model for planner: openai/gpt-5 in “plan=on”, a in “plan=off”"}, differences(&c[1], &other, true))
	long := strings.Repeat("a", 80)
	c[0].Settings, c[1].Settings = map[string]any{"policies": long + "b"}, map[string]any{"policies": long + "c", "execution.mode": "parallel", "planning.max_steps": 7}
	short := long[1:] + "…"
	assert.Equal(t, []string{"setting policies: " + short + " in “plan=on”, " + short + " in “plan=off”"}, differences(&c[1], &c[0], true),
		"what the report does not show of a setting tells them apart, too, and how plans are executed belongs to planning")
	r := New(Meta{Configs: []Config{c[1], {Name: "plan=off", Planning: "off", Shell: true}}}, nil, []tasks.Result{trial("a", "plan=on", 1, tasks.Scored, 1), trial("a", "plan=off", 1, tasks.Scored, 1)})
	require.Len(t, r.Comparisons[0].Warnings, 1)
	assert.Contains(t, r.Comparisons[0].Warnings[0], "they differ not only in planning, but also in the model for actor: openai/gpt-5-nano in “plan=on”, none in “plan=off”; ")
}
