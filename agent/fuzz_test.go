package agent_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/pyautogui"
	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
)

// FuzzPropose holds that whatever the actor writes, what is done are actions of the screen that
// it wrote, as a whole; that a reply that is none has nothing done; and that the run comes to an
// end.
func FuzzPropose(f *testing.F) {
	hostile, err := os.ReadFile("testdata/hostile/actor.txt")
	require.NoError(f, err)
	for block := range strings.SplitSeq(string(hostile), "\n----\n") {
		f.Add(code(block), llm.FinishStop)
	}
	for _, reply := range []string{
		code(`agent.click("the Reload label")`), code("agent.click('n2')"), code("pyautogui.click(500, 415)"), code(`agent.call("send", {"to": "eve"})`), code("agent.note('a\\nb')"), code("agent.zoom(0, 0, 50, 50)"), code("DONE"), code("FAIL: no"), code("agent.ask('Which?')"), "I would close it.", "", "\xff",
	} {
		f.Add(reply, llm.FinishStop)
		f.Add(reply, llm.FinishLength)
		f.Add(reply, llm.FinishRefusal)
	}
	f.Fuzz(func(t *testing.T, reply, finish string) {
		synctest.Test(t, func(t *testing.T) {
			d := &runtest.Desktop{}
			a, script, journal := newAgent(t, d)
			script.responses = []*llm.Response{{Text: reply, Finish: finish}, {Text: code("FAIL: enough"), Finish: llm.FinishStop}, {Text: code("FAIL: enough"), Finish: llm.FinishStop}}
			a.MaxSteps = 2
			_, err := a.Run(t.Context(), "task")
			require.NoError(t, err)
			o, err := d.Observe(t.Context())
			require.NoError(t, err)
			said, bad := pyautogui.Parser{}.Parse(actuator.Reply{Text: reply, Ended: finish == llm.FinishStop}, o.Image.Mapping.Bounds())
			if bad != nil {
				require.Empty(t, d.Did())
			}
			require.LessOrEqual(t, len(d.Did()), len(said.Actions))
			for _, done := range d.Did() {
				require.NoError(t, actuator.Validate(done, o.Image.Mapping.Bounds()))
				require.False(t, actuator.ForAgent(done))
			}
			ended := all[run.RunEnded](journal)
			require.Len(t, ended, 1)
			if ended[0].Outcome == run.OutcomeDone {
				require.NoError(t, bad)
				require.True(t, slices.ContainsFunc(said.Actions, func(a actuator.Action) bool { _, ok := a.(actuator.Done); return ok }))
			}
		})
	})
}
