package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/dialect"
	"desktop-agent/agent"
	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
)

// TestDialects holds that a model of each family does a task in its own form: its prompt
// is sent and no list of elements, what it wrote stands in the next request letter by
// letter, a reply that is none is answered, screenshots are never more than it takes, and
// the run ends as any other.
func TestDialects(t *testing.T) {
	for _, d := range dialect.All() {
		t.Run(d.Name, func(t *testing.T) {
			desk := &runtest.Desktop{}
			a, script, journal := newAgent(t, desk)
			format, err := agent.FormatOf(d.Name)
			require.NoError(t, err)
			a.Actor.Format, a.Actor.KeepImages = format, 3
			a.Planner = &fakePlanner{plan: favorites(t)}
			begun, err := desk.Observe(t.Context())
			require.NoError(t, err)
			size := begun.Image.Mapping.Size
			click, ok := d.Write("I open it.", []actuator.Action{actuator.Click{At: &actuator.Point{X: 5, Y: 6}, Button: actuator.Left, Count: 1}}, size)
			require.True(t, ok)
			end, ok := d.Write("", []actuator.Action{actuator.Done{Answer: "yes"}}, size)
			require.True(t, ok)
			script.replies = []string{click, "I would click on it.", click, click, click, click, end}

			result, err := a.Run(t.Context(), "open it")
			require.NoError(t, err)
			require.Equal(t, run.OutcomeDone, result.Outcome)
			require.Equal(t, "yes", result.Answer)
			require.Equal(t, d.Name, all[run.RunStarted](journal)[0].Parser)
			require.Equal(t, "I open it.", all[run.Proposed](journal)[0].Thought)
			for i, r := range script.asked {
				require.Equal(t, d.Hash(), r.Prompt)
				require.Empty(t, r.Tools)
				require.NotContains(t, text(r), "What is on the screen now")
				require.NotContains(t, text(r), "pixels:", "the label of a screenshot")
				require.Contains(t, text(r), "**SUGGESTED PLAN:**")
				pictures := 0
				for _, m := range r.Messages {
					for _, p := range m.Parts {
						if _, ok := p.(llm.Image); ok {
							pictures++
						}
					}
				}
				require.LessOrEqual(t, pictures, d.Screenshots, "request %d", i)
				require.Positive(t, pictures, "request %d", i)
				_, ok := r.Messages[len(r.Messages)-1].Parts[len(r.Messages[len(r.Messages)-1].Parts)-1].(llm.Image)
				require.True(t, ok, "the newest screenshot is last")
			}
			require.Contains(t, text(script.asked[2]), "Your last reply was not understood and nothing was done")
			require.Contains(t, text(script.asked[2]), "I would click on it.")
		})
	}
}
