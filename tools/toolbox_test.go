package tools_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/guard"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/tools"
	"desktop-agent/worldmodel"
)

// TestToolsTakeTheOneWay holds that a tool is called by the hand alone, after its guard was
// asked by the tool's effect: one that only reads is called, one that changes what others
// have is not, and one that there is not is refused.
func TestToolsTakeTheOneWay(t *testing.T) {
	server := itself("well")
	server.Effects = map[string]worldmodel.Effect{"echo": worldmodel.EffectNone}
	_, registry := open(t, map[string]tools.Server{"notes": server})
	journal := &run.Memory{}
	hand := runtest.Open(t, run.Settings{}, &run.Options{
		NoDesktop: true, Guard: &guard.Guard{}, Tools: registry, Journal: func() (run.Journal, error) { return journal, nil },
	}).Hand
	call := func(name string) *run.Act {
		t.Helper()
		act, err := hand.Do(t.Context(), run.Intent{Action: actuator.CallTool{Tool: name, Arguments: `{"text":"hello"}`}, Source: run.FromModel})
		require.NoError(t, err)
		require.NoError(t, act.Close(t.Context(), nil))
		return act
	}
	act := call("mcp__notes__echo")
	assert.Equal(t, actuator.Delivered, act.Status)
	assert.Equal(t, "hello", act.Output)

	act = call("mcp__notes__pid")
	assert.Equal(t, actuator.Refused, act.Status)
	assert.Contains(t, act.Detail, string(worldmodel.EffectModifyExternal))

	act = call("mcp__notes__none")
	assert.Equal(t, actuator.Refused, act.Status)

	var kinds []string
	for _, e := range journal.Events() {
		switch e.Data.(type) {
		case run.Acting:
			kinds = append(kinds, "acting")
		case run.Acted:
			kinds = append(kinds, "acted")
		case run.Refused:
			kinds = append(kinds, "refused")
		}
	}
	assert.Equal(t, []string{"acting", "acted", "refused", "refused"}, kinds, "what the guard refuses is never acting")
}
