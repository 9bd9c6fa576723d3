package replay

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/run"
)

// TestRecordedIsModel holds that a recorded run is a model.
func TestRecordedIsModel(t *testing.T) {
	of := func(reply run.ModelCalled) func(testing.TB) llm.Model {
		return func(t testing.TB) llm.Model {
			reply.Role, reply.Purpose, reply.Messages = llm.WorldModel, "assess", []run.Message{{From: llm.User, Text: "what now?"}}
			j := newJournal(t)
			put(t, j, started("save"))
			look(t, j, 0, editor("f1"))
			for range 8 {
				put(t, j, run.Event{Step: 1, Kind: "model_called", Data: reply})
			}
			require.NoError(t, j.Close())
			r, err := Open(j.Dir())
			require.NoError(t, err)
			live := newJournal(t)
			put(t, live, started("save"))
			look(t, live, 0, editor("live1"))
			m, err := NewRecorded(r, live)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, m.Close()) })
			return m
		}
	}
	usage := llm.Usage{Input: 100, Cached: 40, Output: 10}
	llmtest.TestModel(t, &llmtest.Subject{
		New: of(run.ModelCalled{Usage: usage, Response: &llm.Response{
			Text: "all well", Finish: "tool_calls", Usage: usage, Calls: []llm.ToolCall{{ID: "1", Name: "note", Arguments: "{}"}},
		}}),
		Request: func() *llm.Request { return request(llm.WorldModel, "assess", "what now?", "live1") },
		Calls:   8, Counted: true,
		Fail: map[string]llmtest.Failure{"failed when it was recorded": {
			New: of(run.ModelCalled{Error: errors.Join(llm.ErrBadReply).Error()}), Want: llm.ErrBadReply,
			Other: "the journal has the text of an error, and not what it was",
		}},
	})
}
