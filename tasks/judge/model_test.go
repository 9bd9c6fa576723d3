package judge

import (
	"context"
	"testing"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
)

// TestMeterIsModel holds that what counts a judge's calls is a model still, and
// counts those that the endpoint does not.
func TestMeterIsModel(t *testing.T) {
	of := func(m llm.Model, most int) func(testing.TB) llm.Model {
		return func(testing.TB) llm.Model { return &meter{model: m, most: most} }
	}
	llmtest.TestModel(t, &llmtest.Subject{
		New: of(llmtest.Text("DONE"), 8), Calls: 8, Hang: of(llmtest.Hang(), 8),
		Alone: "a judge asks again only once it has read the reply",
		Empty: of(llmtest.Func(func(context.Context, *llm.Request) (*llm.Response, error) { return nil, nil }), 8),
		Spent: func(m llm.Model) llm.Usage { return m.(*meter).cost.Usage },
		Fail: map[string]llmtest.Failure{
			"the model fails": {New: of(llmtest.Fail(&llm.Error{Kind: llm.ErrAuth}), 8), Want: llm.ErrAuth},
			"too many calls":  {New: of(nil, 0), Want: errSpent, Other: "the judge tells it, and gives the reason"},
		},
	})
}
