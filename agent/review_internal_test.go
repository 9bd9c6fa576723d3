package agent

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"desktop-agent/run"
)

// TestStepsLeft holds that what is left of the turns is told by the number that ends a run.
func TestStepsLeft(t *testing.T) {
	half := run.Defaults().Agent.MaxSteps / 2
	assert.Equal(t, 0.5, (&episode{Agent: &Agent{}, turn: half}).left()["steps"])
	assert.Equal(t, 0.5, (&episode{Agent: &Agent{MaxSteps: 8}, turn: 4}).left()["steps"])
}
