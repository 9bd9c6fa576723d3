package planner

import (
	"testing"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
)

// TestMeterIsModel holds that a model whose use is counted is a model, also one that tells
// the settings of roles.
func TestMeterIsModel(t *testing.T) {
	for name, under := range map[string]func(llm.Model) llm.Model{
		"a model": func(m llm.Model) llm.Model { return m },
		"a client": func(m llm.Model) llm.Model {
			return &llm.Client{Model: m, Default: llm.Settings{Model: "m"}, Retry: llm.Retry{Attempts: 1}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			of := func(m llm.Model) func(testing.TB) llm.Model {
				return func(testing.TB) llm.Model { return llm.InFront(&meter{Model: under(m)}, under(m)) }
			}
			llmtest.TestModel(t, &llmtest.Subject{
				New: of(llmtest.Text("DONE")), Hang: of(llmtest.Hang()), Alone: "a plan is made by one call after the other",
				Fail: map[string]llmtest.Failure{"the model fails": {New: of(llmtest.Fail(&llm.Error{Kind: llm.ErrAuth})), Want: llm.ErrAuth}},
			})
		})
	}
}
