package provider

import (
	"testing"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
)

// TestChoosersAreModels holds that what asks one of several models is a model, whether a
// name or role has one of its own or not, and that nobody to ask is an error.
func TestChoosersAreModels(t *testing.T) {
	ok := llmtest.Text("DONE")
	of := func(m llm.Model) func(testing.TB) llm.Model { return func(testing.TB) llm.Model { return m } }
	for name, s := range map[string]*llmtest.Subject{
		"by name": {New: of(ByName{"": ok}), Hang: of(ByName{"": llmtest.Hang()}), Fail: map[string]llmtest.Failure{
			"no model of the name": {New: of(ByName{"another": ok}), Want: llm.ErrRequest},
		}},
		"by role": {New: of(ByRole{llm.Actor: ok}), Hang: of(ByRole{llm.Actor: llmtest.Hang()}), Fail: map[string]llmtest.Failure{
			"no model of the role": {New: of(ByRole{llm.Planner: ok}), Want: llm.ErrRequest},
			"the model fails":      {New: of(ByRole{"": llmtest.Fail(&llm.Error{Kind: llm.ErrAuth})}), Want: llm.ErrAuth},
		}},
	} {
		t.Run(name, func(t *testing.T) { llmtest.TestModel(t, s) })
	}
}
