package llm_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// TestInFront holds that a model in front of another answers, and has the settings of the
// other: what asks it keeps to that one's deadline.
func TestInFront(t *testing.T) {
	client := &llm.Client{Model: llmtest.Hang(), Default: llm.Settings{Model: "m", Deadline: time.Millisecond}}
	front := llm.InFront(llmtest.Hang(), client)
	s, ok := llm.SettingsOf(front, llm.Actor)
	assert.True(t, ok)
	assert.Equal(t, client.Settings(llm.Actor), s)
	type answer struct{ OK bool }
	_, err := llm.Decode[answer](t.Context(), front, &llm.Request{Role: llm.Actor, Messages: []llm.Message{llm.UserText("well?")}})
	require.ErrorIs(t, err, llm.ErrTimeout, "the model in front has no limit of its own")

	bare := llm.InFront(llmtest.Text("DONE"), llmtest.Hang())
	_, ok = llm.SettingsOf(bare, llm.Actor)
	assert.False(t, ok)
	r, err := bare.Complete(t.Context(), &llm.Request{})
	require.NoError(t, err)
	assert.Equal(t, "DONE", r.Text)
}
