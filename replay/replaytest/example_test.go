package replaytest_test

import (
	"testing"

	"desktop-agent/replay/replaytest"
	"desktop-agent/run"
)

// A recorded run is a test of the agent: here with fewer steps than it may take.
func Example() {
	TestShoppingList := func(t *testing.T) {
		replaytest.Run(t, "../../cmd/desktop-agent/demo/run", func(s *run.Settings) { s.Agent.MaxSteps = 20 })
	}
	testing.RunTests(func(string, string) (bool, error) { return true, nil },
		[]testing.InternalTest{{Name: "TestShoppingList", F: TestShoppingList}})
	// Output:
}
