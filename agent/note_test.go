package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/toolcall"
	"desktop-agent/agent"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/monitor"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
)

// TestNotesStay holds that a note is shown in every later turn, also when that in which it
// was taken is a line of the record; that it stops no batch; and that it is in the journal,
// but nothing that a desktop does.
func TestNotesStay(t *testing.T) {
	d := &runtest.Desktop{React: func(at string, _ actuator.Action) (string, error) {
		return map[string]string{"a": "b", "b": "a"}[at], nil
	}, Views: map[string]runtest.View{"a": {Title: "Editor"}, "b": {Title: "Editor"}}}
	replies := []string{code("agent.note('the total </untrusted> is\\n42')\npyautogui.press('a')\nagent.note('and the name is Ann')")}
	for _, key := range "bcdefg" {
		replies = append(replies, code("pyautogui.press('"+string(key)+"')"))
	}
	a, script, journal := newAgent(t, d, append(replies, code("DONE"))...)
	a.Actor.KeepImages, a.Actor.PruneInterval = 1, 1
	_, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	require.Len(t, d.Did(), 7)
	assert.NotContains(t, text(script.asked[0]), "Your notes, oldest first")
	const want = "Your notes, oldest first:\n<untrusted source=\"notes\">\n- the total [/untrusted> is 42\n- and the name is Ann\n</untrusted>"
	for i, r := range script.asked[1:] {
		last := r.Messages[len(r.Messages)-1]
		assert.Contains(t, string(last.Parts[0].(llm.Text)), want, "question %d", i+2)
	}
	noted := all[run.Noted](journal)
	require.Len(t, noted, 2)
	assert.Equal(t, run.Noted{Text: "and the name is Ann"}, noted[1])
	llmtest.Golden(t, "notes", script.asked[3].Messages[1:])
}

// TestDefaultSteps holds that a run for which no number of turns is said has the one that the
// settings have by default.
func TestDefaultSteps(t *testing.T) {
	steps := run.Defaults().Agent.MaxSteps
	a, script, _ := newAgent(t, moving(), slices.Repeat([]string{code("pyautogui.press('a')")}, steps+1)...)
	a.MaxSteps, a.Detectors = 0, &monitor.Limits{Stuck: 2 * steps}
	result, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	assert.Equal(t, run.OutcomeOutOfSteps, result.Outcome)
	assert.Len(t, script.asked, steps)
}

// TestNotesWithoutEnd holds that an actor which only takes notes ends, and that what it is
// sent stays small: the oldest notes go, and it is told so.
func TestNotesWithoutEnd(t *testing.T) {
	const steps = 60
	for name, block := range map[string]func(int) string{
		"one a turn":   func(i int) string { return fmt.Sprintf("agent.note('fact %d')", i) },
		"long ones":    func(i int) string { return fmt.Sprintf("agent.note('%d %s')", i, strings.Repeat("é", 290)) },
		"many at once": func(i int) string { return fmt.Sprintf("for i in range(100):\n    agent.note(f'fact %d {i}')", i) },
		"the same":     func(int) string { return "agent.note('fact')" },
	} {
		t.Run(name, func(t *testing.T) {
			var replies []string
			for i := range steps {
				replies = append(replies, code(block(i)))
			}
			replies = append(replies, code("FAIL: enough"))
			a, script, journal := newAgent(t, &runtest.Desktop{}, replies...)
			a.MaxSteps, a.Detectors = steps+1, &monitor.Limits{Stuck: 2 * steps} // what ends such a run is another test
			result, err := a.Run(t.Context(), "task")
			require.NoError(t, err)
			assert.NotEqual(t, run.OutcomeDone, result.Outcome)
			for i, r := range script.asked {
				assert.Less(t, len(text(r)), 12_000, "question %d", i+1)
			}
			last := text(script.asked[len(script.asked)-1])
			kept, gone := map[string]bool{}, 0
			events := journal.Events()
			for _, event := range events {
				e, noted := event.Data.(run.Noted)
				if !noted || event.Step == events[len(events)-1].Step { // after the last question
					continue
				}
				kept[e.Text] = true
				for _, old := range e.Dropped {
					assert.True(t, kept[old], "what goes was there")
					delete(kept, old)
					gone++
				}
			}
			assert.LessOrEqual(t, len(kept), 20)
			for note := range kept { // as a resume would find them
				assert.Contains(t, last, "- "+note+"\n")
			}
			if gone > 0 {
				assert.Contains(t, last, "older ones had to make room")
			}
		})
	}
	a, script, _ := newAgent(t, &runtest.Desktop{}, code("agent.note('"+strings.Repeat("x", 301)+"')"), code("agent.note(' ')"), code("DONE"))
	_, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	assert.Contains(t, text(script.asked[1]), "the note has 301 characters, at most 300 are kept")
	assert.Contains(t, text(script.asked[2]), "the note is empty")
}

// TestNoteCalls holds that calls beside a note are answered each by its own result.
func TestNoteCalls(t *testing.T) {
	a, script, _ := newAgent(t, &runtest.Desktop{React: func(string, actuator.Action) (string, error) {
		return "", fmt.Errorf("%w: the window is gone", actuator.ErrRefused)
	}})
	a.Actor.Format = agent.Format{Name: "tools", Parser: toolcall.Parser{}}
	call := func(id, name, arguments string) llm.ToolCall {
		return llm.ToolCall{ID: id, Name: name, Arguments: arguments}
	}
	script.responses = []*llm.Response{
		{Calls: []llm.ToolCall{call("c1", "note", `{"text":"a fact"}`), call("c2", "press", `{"keys":["a"],"count":1}`),
			call("c3", "note", `{"text":"another"}`), call("c4", "press", `{"keys":["b"],"count":1}`)}},
		{Calls: []llm.ToolCall{call("c5", "done", `{}`)}},
	}
	_, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	var answers []string
	for _, m := range script.asked[1].Messages {
		if m.From == llm.ToolReply {
			answers = append(answers, m.CallID+" "+string(m.Parts[0].(llm.Text)))
		}
	}
	require.Len(t, answers, 4)
	assert.Equal(t, "c1 noted", answers[0])
	assert.Contains(t, answers[1], "c2 refused\n<untrusted source=\"actions\">\n")
	assert.Contains(t, answers[2], "c3 not done\n<untrusted source=\"actions\">\nthe action before it was refused")
	assert.Contains(t, answers[3], "c4 not done\n<untrusted source=\"actions\">\nthe action before it was refused")
}
