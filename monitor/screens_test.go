package monitor_test

import (
	"image"
	"image/color"
	"image/draw"
	"testing"

	"github.com/stretchr/testify/assert"

	"desktop-agent/monitor"
)

// picture is a grey screen with a text field at (40, 40).
func picture(boxes ...image.Rectangle) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, 320, 240))
	draw.Draw(m, m.Rect, image.NewUniform(color.Gray{200}), image.Point{}, draw.Src)
	for _, b := range boxes {
		draw.Draw(m, b, image.NewUniform(color.Black), image.Point{}, draw.Src)
	}
	return m
}

func TestScreens(t *testing.T) {
	var s monitor.Screens
	caret := image.Rect(40, 40, 42, 58)
	first := s.Name(picture())
	assert.NotEmpty(t, first)
	assert.Equal(t, first, s.Name(picture()), "the same picture")
	assert.Equal(t, first, s.Name(picture(caret)), "a caret that blinks")
	assert.Equal(t, first, s.Name(picture()), "and is gone")

	ticked := s.Name(picture(image.Rect(100, 100, 109, 109)))
	assert.NotEqual(t, first, ticked, "a tick in a check box")
	assert.Equal(t, first, s.Name(picture()), "the screen from before comes back")
	assert.NotEqual(t, first, s.Name(picture(image.Rect(0, 0, 300, 1))), "a thin line is no caret")
	assert.NotEqual(t, s.Name(picture(caret)), s.Name(picture(caret.Add(image.Pt(30, 0)))), "a caret that moved")
	assert.NotEqual(t, first, s.Name(image.NewRGBA(image.Rect(0, 0, 240, 320))), "another size")
	assert.Empty(t, s.Name(nil))

	assert.NotEqual(t, s.Name(picture(image.Rect(10, 10, 60, 60))), s.Name(picture(image.Rect(10, 10, 60, 61))))
}

// A part of a larger picture is compared by its own pixels.
func TestScreensOfAPart(t *testing.T) {
	var s monitor.Screens
	large := picture(image.Rect(100, 100, 200, 200))
	part := large.SubImage(image.Rect(90, 90, 210, 210)).(*image.RGBA)
	copied := image.NewRGBA(image.Rect(0, 0, 120, 120))
	draw.Draw(copied, copied.Rect, part, part.Rect.Min, draw.Src)
	assert.Equal(t, s.Name(part), s.Name(copied))
}

func TestScreensForget(t *testing.T) {
	var s monitor.Screens
	first := s.Name(picture())
	for i := range 8 {
		s.Name(picture(image.Rect(10*i, 100, 10*i+10, 150)))
	}
	assert.NotEqual(t, first, s.Name(picture()), "after eight others it is a new screen")

	s = monitor.Screens{Window: 9}
	first = s.Name(picture())
	for i := range 8 {
		s.Name(picture(image.Rect(10*i, 100, 10*i+10, 150)))
	}
	assert.Equal(t, first, s.Name(picture()), "detectors look back so far")
}

func BenchmarkScreensName(b *testing.B) {
	var s monitor.Screens
	one, two := image.NewRGBA(image.Rect(0, 0, 1920, 1080)), image.NewRGBA(image.Rect(0, 0, 1920, 1080))
	two.Set(1900, 1000, color.White)
	two.Set(1800, 1070, color.White)
	for i := 0; b.Loop(); i++ {
		s.Name([]*image.RGBA{one, two}[i%2])
	}
}
