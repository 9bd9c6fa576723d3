package spell_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"desktop-agent/internal/spell"
)

func TestNearest(t *testing.T) {
	words := []string{"click", "copy", "drag"}
	assert.Equal(t, []string{"click", "copy"}, spell.Nearest("clik", words, 2))
	assert.Equal(t, []string{"click", "copy", "drag"}, words, "the words stay as they are")
	assert.Len(t, spell.Nearest("x", words, 9), 3)
	assert.Equal(t, []string{"drag"}, spell.Nearest("dragg", words, 1))
}
