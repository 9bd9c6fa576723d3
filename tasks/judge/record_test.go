package judge

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/run"
)

// Agents that act beside each other are told of each by what it saw, did and changed: the
// events of others stand between its own.
func TestRecordOfTwoAgents(t *testing.T) {
	s := begin(t)
	as := func(agent string, planStep, step int, frame string) {
		s.as, s.step, s.frame = run.Where{Agent: agent, PlanStep: planStep}, step, frame
	}
	save := actuator.Click{At: &actuator.Point{X: 30, Y: 80}, Button: actuator.Left, Count: 1}
	text := actuator.Type{Text: "hello"}
	as("agent", 1, 1, "")
	s.look("Alpha - Editor", "a")
	as("agent/s2", 2, 2, "")
	s.look("Beta - Editor", "b")
	as("agent", 1, 1, "f0001")
	s.propose("", save)
	as("agent/s2", 2, 2, "f0002")
	s.propose("", text)
	as("agent", 1, 1, "")
	s.put(run.Acting{Action: run.Recorded{Action: save}})
	as("agent/s2", 2, 2, "")
	s.put(run.Acting{Action: run.Recorded{Action: text}})
	s.put(run.Acted{Status: actuator.Delivered})
	as("agent", 1, 1, "")
	s.put(run.Acted{Status: actuator.Delivered})
	as("agent/s2", 2, 2, "")
	s.look("Beta - Editor", "b, beside")
	as("agent", 1, 1, "")
	s.look("Alpha - Editor", "a, saved")
	as("agent/s2", 2, 3, "f0003")
	s.propose("", text)
	as("agent", 1, 4, "f0004")
	s.put(run.RunEnded{Outcome: run.OutcomeStopped})

	rec, err := read(s.run(), 1000)
	require.NoError(t, err)
	told := map[int]string{}
	for _, s := range rec.steps {
		assert.False(t, s.failed, "step %d", s.n)
		for _, l := range s.lines {
			told[s.n] += l.full + "\n"
		}
		if s.n == 1 && s.before != "" {
			assert.Equal(t, "f0001", s.before, "what it saw when it decided")
		}
	}
	for n, want := range map[int][]string{
		1: {"Alpha", `performed: click`, "delivered, and something changed", "a, saved"},
		2: {"Beta", `performed: type`, "delivered, and something changed", "b, beside"},
		3: {"Beta", "proposed, but not performed: type"},
	} {
		for _, words := range want {
			assert.Contains(t, told[n], words, "step %d", n)
		}
		assert.NotContains(t, told[n], "it is not known what became of it", "step %d", n)
		assert.NotContains(t, told[n], "gone from the screen", "step %d", n)
	}
	assert.NotContains(t, told[1], "Beta")
	assert.NotContains(t, told[1]+told[2], "not performed")
	assert.NotContains(t, told[2]+told[3], "Alpha")
}
