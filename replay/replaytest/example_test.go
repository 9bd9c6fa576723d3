package replaytest_test

import (
	"testing"

	"desktop-agent/replay/replaytest"
	"desktop-agent/run"
)

// A recorded run is a test of the agent: here with fewer steps than it may take.
func Example() {
	_ = func(t *testing.T) { // TestShoppingList
		replaytest.Run(t, "../../cmd/desktop-agent/demo/run", func(s *run.Settings) { s.Agent.MaxSteps = 20 })
	}
}

// TestExample holds that a run is replayed with other settings than it was recorded with.
func TestExample(t *testing.T) {
	steps := 0
	replaytest.Run(t, "../../cmd/desktop-agent/demo/run", func(s *run.Settings) { steps, s.Agent.MaxSteps = s.Agent.MaxSteps, 20 })
	if steps == 0 || steps == 20 {
		t.Errorf("it was recorded with %d steps", steps)
	}
}
