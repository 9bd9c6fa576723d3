package record

import (
	"image"
	"image/color"
	"image/draw"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A click on a radio button is looked at, though its dot is small: a watcher once took
// what was up to 8 pixels wide for a text cursor, and the agent what was up to 4.
func TestStirred(t *testing.T) {
	screen := image.NewRGBA(image.Rect(0, 0, 100, 80))
	drawn := func(box image.Rectangle) *image.RGBA {
		m := image.NewRGBA(screen.Rect)
		draw.Draw(m, box, image.NewUniform(color.White), image.Point{}, draw.Src)
		return m
	}
	for _, tt := range []struct {
		name string
		box  image.Rectangle
		want bool
	}{
		{"a text cursor", image.Rect(40, 20, 42, 38), false},
		{"the dot of a radio button", image.Rect(40, 20, 46, 26), true},
		{"a word", image.Rect(40, 20, 90, 38), true},
		{"the same anew", image.Rectangle{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := drawn(tt.box)
			y := &watcher{last: screen, wake: make(chan struct{}, 1)}
			y.picture = func(box image.Rectangle) *image.RGBA { return now.SubImage(box).(*image.RGBA) }
			y.draw(image.Rect(30, 10, 95, 70))
			stirred, input := y.stirred()
			assert.Equal(t, tt.want, stirred)
			assert.False(t, input)
		})
	}
}
