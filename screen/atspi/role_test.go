package atspi

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestScrolls holds that what the walk cuts off is not aimed at either, and that whatever
// is not there, but may be out of view, can be scrolled to.
func TestScrolls(t *testing.T) {
	for i := range roleNames {
		r := role(i)
		assert.True(t, !r.clips() || CutsOff(r.String()), "%s", r)
		assert.True(t, !r.lists() && !CutsOff(r.String()) || Scrolls(r.String()), "%s", r)
	}
	assert.False(t, Scrolls("panel"))
}
