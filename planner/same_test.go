package planner

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSameStep holds that parameters that are written otherwise are the same.
func TestSameStep(t *testing.T) {
	a := &Step{ID: "s1", Executor: Tool, Action: "send", Parameters: `{"to":"a","text":"b"}`}
	b := *a
	b.Parameters = `{ "text": "b", "to": "a" }`
	assert.True(t, sameStep(a, &b))
	b.Parameters = `{"to":"a","text":"c"}`
	assert.False(t, sameStep(a, &b))
}
