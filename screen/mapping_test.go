package screen

import (
	"image"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawMapping draws a mapping of an image of up to largest times its source's
// size, anywhere on a desktop, left of and above the origin too.
func drawMapping(t *rapid.T, smallest, largest float64) Mapping {
	at := image.Pt(rapid.IntRange(-8000, 8000).Draw(t, "x"), rapid.IntRange(-8000, 8000).Draw(t, "y"))
	source := image.Pt(rapid.IntRange(1, 8000).Draw(t, "width"), rapid.IntRange(1, 8000).Draw(t, "height"))
	size := func(n int) *rapid.Generator[int] {
		return rapid.IntRange(max(1, int(smallest*float64(n))), max(1, int(largest*float64(n))))
	}
	return Mapping{
		Source: image.Rectangle{Min: at, Max: at.Add(source)},
		Size:   image.Pt(size(source.X).Draw(t, "image width"), size(source.Y).Draw(t, "image height")),
	}
}

func drawPoint(t *rapid.T, r image.Rectangle) image.Point {
	return image.Pt(rapid.IntRange(r.Min.X, r.Max.X-1).Draw(t, "point x"), rapid.IntRange(r.Min.Y, r.Max.Y-1).Draw(t, "point y"))
}

func TestMappingThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMapping(t, 0, 1)
		p := drawPoint(t, m.Bounds())
		require.Equal(t, p, m.ToImage(m.ToDevice(p)))
	})
}

func TestMappingOfEnlargedImageThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMapping(t, 1, 5)
		d := drawPoint(t, m.Source)
		require.Equal(t, d, m.ToDevice(m.ToImage(d)))
	})
}

// A point of the image is a pixel with an area on the desktop. The device pixel
// that it maps to lies in the source and covers the centre of that area.
func TestMappingHitsTheFootprint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMapping(t, 0, 5)
		p := drawPoint(t, m.Bounds())
		d := m.ToDevice(p)
		require.True(t, d.In(m.Source), "%v not in %v", d, m.Source)
		require.True(t, d.In(m.deviceRect(image.Rectangle{Min: p, Max: p.Add(image.Pt(1, 1))})))

		centre := func(v, from, to int) float64 { return (float64(v) + 0.5) * float64(to) / float64(from) }
		x := float64(m.Source.Min.X) + centre(p.X, m.Size.X, m.Source.Dx())
		y := float64(m.Source.Min.Y) + centre(p.Y, m.Size.Y, m.Source.Dy())
		require.InDelta(t, float64(d.X)+0.5, x, 0.5+1e-6)
		require.InDelta(t, float64(d.Y)+0.5, y, 0.5+1e-6)

		require.True(t, m.ToImage(drawPoint(t, m.Source)).In(m.Bounds()))
	})
}

func TestMappingOutsideStaysOutside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMapping(t, 0, 5)
		d := image.Pt(rapid.IntRange(-20000, 20000).Draw(t, "x"), rapid.IntRange(-20000, 20000).Draw(t, "y"))
		require.Equal(t, d.In(m.Source), m.ToImage(d).In(m.Bounds()))
	})
}

func TestMappingExamples(t *testing.T) {
	hd := Mapping{Source: image.Rect(1920, 0, 3840, 1080), Size: image.Pt(1456, 819)}
	assert.Equal(t, image.Pt(1920, 0), hd.ToDevice(image.Pt(0, 0)))
	assert.Equal(t, image.Pt(3839, 1079), hd.ToDevice(image.Pt(1455, 818)))
	assert.Equal(t, image.Pt(2880, 540), hd.ToDevice(image.Pt(728, 409)))
	assert.Equal(t, image.Pt(1455, 818), hd.ToImage(image.Pt(3839, 1079)))
	same := Mapping{Source: image.Rect(0, 0, 800, 600), Size: image.Pt(800, 600)}
	assert.Equal(t, image.Pt(17, 599), same.ToDevice(image.Pt(17, 599)))
	assert.Zero(t, Mapping{}.ToDevice(image.Pt(3, 4)), "no image, but no panic")
	assert.Zero(t, Mapping{}.ToImage(image.Pt(3, 4)))
}

func TestFit(t *testing.T) {
	for _, tt := range []struct{ size, limit, want image.Point }{
		{image.Pt(1920, 1080), image.Pt(1456, 1456), image.Pt(1456, 819)},
		{image.Pt(1080, 1920), image.Pt(1456, 1456), image.Pt(819, 1456)},
		{image.Pt(3840, 1080), image.Pt(1456, 1456), image.Pt(1456, 410)},
		{image.Pt(800, 600), image.Pt(1456, 1456), image.Pt(800, 600)}, // never enlarged
		{image.Pt(1456, 1456), image.Pt(1456, 1456), image.Pt(1456, 1456)},
		{image.Pt(8000, 1), image.Pt(100, 100), image.Pt(100, 1)},
		{image.Pt(100, 200), image.Pt(100, 50), image.Pt(25, 50)},
	} {
		assert.Equal(t, tt.want, fit(tt.size, tt.limit), "%v in %v", tt.size, tt.limit)
	}
	rapid.Check(t, func(t *rapid.T) {
		point := rapid.Custom(func(t *rapid.T) image.Point {
			return image.Pt(rapid.IntRange(1, 8000).Draw(t, "x"), rapid.IntRange(1, 8000).Draw(t, "y"))
		})
		size, limit := point.Draw(t, "size"), point.Draw(t, "limit")
		got := fit(size, limit)
		require.True(t, got.X >= 1 && got.Y >= 1 && got.X <= min(size.X, limit.X) && got.Y <= min(size.Y, limit.Y), "%v", got)
	})
}
