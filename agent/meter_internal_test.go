package agent

import (
	"testing"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
)

// TestMeterIsModel holds that a model whose first request is kept is a model.
func TestMeterIsModel(t *testing.T) {
	of := func(m llm.Model) func(testing.TB) llm.Model {
		return func(testing.TB) llm.Model { return &meter{Model: m} }
	}
	llmtest.TestModel(t, &llmtest.Subject{
		New: of(llmtest.Text("DONE")), Hang: of(llmtest.Hang()), Alone: "a probe makes one call after the other",
		Fail: map[string]llmtest.Failure{"the model fails": {New: of(llmtest.Fail(&llm.Error{Kind: llm.ErrAuth})), Want: llm.ErrAuth}},
	})
}
