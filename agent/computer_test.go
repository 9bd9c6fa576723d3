package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/agent"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
)

// A talker is an actor with a computer tool that replies by a script, and keeps what it
// was asked.
type talker struct {
	replies []llm.Response
	asked   []*llm.Request
}

func (k *talker) Complete(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	if r.Role != llm.Actor || len(k.asked) == len(k.replies) {
		return nil, &llm.Error{Kind: llm.ErrRequest, Detail: "the script is over"}
	}
	copied := *r
	copied.Messages = append([]llm.Message(nil), r.Messages...)
	k.asked = append(k.asked, &copied)
	return llmtest.Reply(k.replies[len(k.asked)-1])(ctx, r)
}

// tool is a reply that calls the computer tool.
func tool(id, actions string, checks ...llm.Check) llm.Response {
	return llm.Response{Finish: llm.FinishCalls, State: &llm.State{API: "responses", Model: "m", Data: id},
		Calls: []llm.ToolCall{{ID: id, Name: "computer", Computer: true, Arguments: `{"actions":[` + actions + `]}`, Checks: checks}}}
}

func function(id, name, arguments string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: name, Arguments: arguments}
}

const clickAt = `{"type":"click","button":"left","x":%d,"y":%d}`

func withTool(t *testing.T, d *runtest.Desktop, replies ...llm.Response) (*agent.Agent, *talker, *runtest.Journal) {
	a, _, journal := newAgent(t, d)
	k := &talker{replies: replies}
	format, err := agent.FormatOf("computer/openai")
	require.NoError(t, err)
	a.Actor = &agent.Actor{Model: k, Format: format}
	return a, k, journal
}

// saying is a guard that accepts what a provider raises, or not.
type saying struct{ err error }

func (saying) Name() string                                           { return "of the test" }
func (saying) Allow(context.Context, run.Intent) (run.Guarded, error) { return run.Guarded{}, nil }
func (g saying) Accept(context.Context, run.Concern) (string, error)  { return "a person", g.err }

// answer returns what a request says became of a call.
func answer(t *testing.T, r *llm.Request, id string) llm.Message {
	t.Helper()
	for _, m := range r.Messages {
		if m.From == llm.ToolReply && m.CallID == id {
			return m
		}
	}
	t.Fatalf("nothing answers %s", id)
	return llm.Message{}
}

// TestComputerTool holds that a batch of a call is done in order, beside functions, that
// each call is answered by what became of all its actions, and that a text without calls
// is the end.
func TestComputerTool(t *testing.T) {
	d := moving()
	batch := tool("c1", fmt.Sprintf(clickAt, 10, 20)+`,{"type":"type","text":"milk"}`)
	batch.Calls = append(batch.Calls, function("c2", "note", `{"text":"blue"}`))
	a, k, _ := withTool(t, d, batch, tool("c3", `{"type":"screenshot"}`), tool("c4", `{"type":"wobble"}`), llm.Response{Text: "It is bought.", Finish: llm.FinishStop})
	result, err := a.Run(t.Context(), "buy milk")
	require.NoError(t, err)
	require.Equal(t, run.OutcomeDone, result.Outcome)
	require.Equal(t, "It is bought.", result.Answer)
	require.Equal(t, "click type wait", names(d.Did()))
	first := k.asked[0]
	require.Positive(t, first.Computer.Size.X)
	for _, m := range first.Tools {
		require.NotEqual(t, "click", m.Name, "what the tool has is no function beside it")
	}
	require.Equal(t, []llm.Part{llm.Text("click: delivered; type: delivered")}, answer(t, k.asked[1], "c1").Parts)
	require.Equal(t, []llm.Part{llm.Text("note: noted")}, answer(t, k.asked[1], "c2").Parts)
	unknown := answer(t, k.asked[3], "c4")
	require.True(t, unknown.Failed)
	require.Contains(t, unknown.Parts[0], `there is no action "wobble"`)
}

func names(list []actuator.Action) string {
	var words []string
	for _, a := range list {
		words = append(words, actuator.Name(a))
	}
	return strings.Join(words, " ")
}

// TestConversationWithTheToolOnlyGrows holds that each request begins with the one before, letter by
// letter, up to what was replied: what the provider keeps of a reply is bound to that. Old
// turns go as a whole, with what was kept of them, or not at all where they may not.
func TestConversationWithTheToolOnlyGrows(t *testing.T) {
	for _, grows := range []bool{false, true} {
		var replies []llm.Response
		for n := range 9 {
			replies = append(replies, tool(fmt.Sprintf("c%d", n), fmt.Sprintf(clickAt, 10+n, 20)))
		}
		a, k, _ := withTool(t, moving(), append(replies, llm.Response{Text: "Done.", Finish: llm.FinishStop})...)
		a.Actor.Grows = grows
		_, err := a.Run(t.Context(), "click")
		require.NoError(t, err)
		require.Len(t, k.asked, 10)
		shortened := 0
		for i, r := range k.asked[1:] {
			before, now := k.asked[i].Messages, r.Messages
			states := 0
			for _, m := range now {
				if m.State != nil {
					states++
					assert.Equal(t, m.State.Data, m.Calls[0].ID)
				}
			}
			if states <= i {
				shortened++
				continue
			}
			require.Equal(t, before, now[:len(before)], "request %d", i+2)
			require.Equal(t, i+1, states)
		}
		if grows {
			require.Zero(t, shortened)
		} else {
			require.Positive(t, shortened, "else the test tests nothing")
		}
	}
}

// TestSafetyChecks holds that a call is done only if its checks were accepted, and that
// the model's next request acknowledges exactly these.
func TestSafetyChecks(t *testing.T) {
	check := llm.Check{ID: "sc", Code: "malicious_instructions", Message: "why"}
	for name, tt := range map[string]struct {
		guard run.Guard
		did   string
		want  []string
	}{
		"accepted":     {saying{}, "click press", []string{"sc"}},
		"declined":     {saying{errors.New("a person said no: keep out")}, "press", nil},
		"nobody there": {nil, "press", nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := moving()
			a, k, journal := withTool(t, d, tool("c1", fmt.Sprintf(clickAt, 10, 20), check), tool("c2", `{"type":"keypress","keys":["ENTER"]}`), llm.Response{Text: "Done.", Finish: llm.FinishStop})
			a.Hand = run.NewHand(d, a.Scope, tt.guard)
			_, err := a.Run(t.Context(), "click")
			require.NoError(t, err)
			require.Equal(t, tt.did, names(d.Did()))
			m := answer(t, k.asked[1], "c1")
			require.Equal(t, tt.want, m.Accepted)
			require.Equal(t, tt.want == nil, m.Failed)
			require.Empty(t, answer(t, k.asked[2], "c2").Accepted, "of another call nothing is accepted")
			checked := all[run.Checked](journal)
			require.Len(t, checked, 1)
			require.Equal(t, tt.want != nil, checked[0].Accepted)
		})
	}
	t.Run("a call that only looks", func(t *testing.T) {
		a, k, journal := withTool(t, moving(), func() llm.Response {
			r := tool("c1", fmt.Sprintf(clickAt, 10, 20))
			r.Calls = append(r.Calls, llm.ToolCall{ID: "c2", Name: "computer", Computer: true, Arguments: `{"actions":[{"type":"screenshot"}]}`, Checks: []llm.Check{check}})
			return r
		}(), llm.Response{Text: "Done.", Finish: llm.FinishStop})
		_, err := a.Run(t.Context(), "click")
		require.NoError(t, err)
		require.Len(t, all[run.Checked](journal), 1)
		require.True(t, answer(t, k.asked[1], "c2").Failed)
	})
}

// TestPausesAndRefusals holds that a model which only comments is asked to go on, with
// what it said, within the turn, and that one which declines has not done the task.
func TestPausesAndRefusals(t *testing.T) {
	pause := llm.Response{Text: "I look first.", Finish: llm.FinishPaused, State: &llm.State{API: "responses", Model: "m", Data: "p"}}
	d := moving()
	a, k, journal := withTool(t, d, pause, tool("c1", fmt.Sprintf(clickAt, 10, 20)), llm.Response{Text: "Done.", Finish: llm.FinishStop})
	_, err := a.Run(t.Context(), "click")
	require.NoError(t, err)
	require.Len(t, all[run.Proposed](journal), 2)
	last := k.asked[1].Messages[len(k.asked[1].Messages)-1]
	require.Equal(t, pause.State, last.State)
	require.Equal(t, llm.Assistant, last.From)
	n := len(k.asked[1].Messages)
	require.Equal(t, k.asked[1].Messages, k.asked[2].Messages[:n], "and it stays")

	a, _, _ = withTool(t, moving(), llm.Response{Text: "I can't help with that.", Finish: llm.FinishRefusal}, llm.Response{Text: "I can't.", Finish: llm.FinishRefusal})
	result, err := a.Run(t.Context(), "click")
	require.NoError(t, err)
	require.Equal(t, run.OutcomeInfeasible, result.Outcome)
	require.Contains(t, result.Answer, "the model declined: I can't")

	a, k, _ = withTool(t, moving(), llm.Response{Text: "I will now", Finish: llm.FinishLength}, llm.Response{Text: "Done.", Finish: llm.FinishStop})
	result, err = a.Run(t.Context(), "click")
	require.NoError(t, err)
	require.Equal(t, "Done.", result.Answer, "what was cut off is no end")
	require.Len(t, k.asked, 2)
}
