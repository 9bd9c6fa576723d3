package monitor

import (
	"image"
	"image/color"
	"testing"

	"github.com/stretchr/testify/assert"
)

// No two greys pass for one, however near.
func TestReduceTellsGreysApart(t *testing.T) {
	greys := image.NewRGBA(image.Rect(0, 0, 256, 1))
	for g := range 256 {
		greys.Set(g, 0, color.Gray{uint8(g)})
	}
	bytes := map[byte]int{}
	for g, b := range reduce(greys).pix {
		other, taken := bytes[b]
		assert.False(t, taken, "greys %d and %d are one", g, other)
		bytes[b] = g
	}
}
