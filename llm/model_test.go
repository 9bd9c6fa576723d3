package llm_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
)

// A spender keeps count of what a client records.
type spender struct {
	*llm.Client
	mu   sync.Mutex
	used llm.Usage
}

func (s *spender) record(_ context.Context, c llm.Call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = s.used.Plus(c.Usage)
	return nil
}

// TestClientIsModel holds that a client is a model, and counts what the model
// under it does not.
func TestClientIsModel(t *testing.T) {
	of := func(m llm.Model, change ...func(*llm.Client)) func(testing.TB) llm.Model {
		return func(testing.TB) llm.Model {
			c := &llm.Client{Model: m, Default: llm.Settings{Model: "m", MaxTokens: 100}, Retry: llm.Retry{Attempts: 1}}
			for _, f := range change {
				f(c)
			}
			return c
		}
	}
	ok := llmtest.Text("DONE")
	llmtest.TestModel(t, &llmtest.Subject{
		New: func(testing.TB) llm.Model {
			s := &spender{Client: of(ok)(t).(*llm.Client)}
			s.Record = s.record
			return s
		},
		Hang:  of(llmtest.Hang()),
		Empty: of(llmtest.Text(" \n")),
		Spent: func(m llm.Model) llm.Usage { return m.(*spender).used },
		Fail: map[string]llmtest.Failure{
			"the model fails":     {New: of(llmtest.Fail(&llm.Error{Kind: llm.ErrAuth})), Want: llm.ErrAuth},
			"the budget is spent": {New: of(ok, func(c *llm.Client) { c.Budget = &llm.Budget{MaxTokens: 1} }), Want: llm.ErrBudget},
			"no journal": {New: of(ok, func(c *llm.Client) {
				c.Record = func(context.Context, llm.Call) error { return errors.New("the disk is full") }
			}), Want: llm.ErrJournal},
			"an attempt takes too long":  {New: of(llmtest.Hang(), func(c *llm.Client) { c.Default.Attempt = 1 }), Want: llm.ErrTimeout},
			"all attempts take too long": {New: of(llmtest.Hang(), func(c *llm.Client) { c.Default.Deadline = 1 }), Want: llm.ErrTimeout},
		},
	})
}
