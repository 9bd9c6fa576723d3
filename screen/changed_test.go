package screen

import (
	"image"
	"image/color"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestChanged(t *testing.T) {
	grey := func() *image.RGBA { return image.NewRGBA(image.Rect(0, 0, 200, 130)) }
	dots := func(points ...image.Point) *image.RGBA {
		m := grey()
		for _, p := range points {
			m.Set(p.X, p.Y, color.White)
		}
		return m
	}
	for _, tt := range []struct {
		name string
		a, b *image.RGBA
		want []image.Rectangle
	}{
		{"equal", grey(), grey(), nil},
		{"none at all", nil, nil, nil},
		{"one missing", nil, grey(), []image.Rectangle{image.Rect(0, 0, 200, 130)}},
		{"one pixel", grey(), dots(image.Pt(40, 70)), []image.Rectangle{image.Rect(32, 64, 64, 96)}},
		{"the last pixel", grey(), dots(image.Pt(199, 129)), []image.Rectangle{image.Rect(192, 128, 200, 130)}},
		{"neighbours", grey(), dots(image.Pt(31, 0), image.Pt(32, 0)), []image.Rectangle{image.Rect(0, 0, 64, 32)}},
		{"below", grey(), dots(image.Pt(0, 31), image.Pt(0, 32), image.Pt(0, 64)), []image.Rectangle{image.Rect(0, 0, 32, 96)}},
		{"apart", grey(), dots(image.Pt(0, 0), image.Pt(100, 0)),
			[]image.Rectangle{image.Rect(0, 0, 32, 32), image.Rect(96, 0, 128, 32)}},
		{"of unlike widths", grey(), dots(image.Pt(0, 0), image.Pt(40, 0), image.Pt(0, 40)),
			[]image.Rectangle{image.Rect(0, 0, 64, 32), image.Rect(0, 32, 32, 64)}},
		{"other size", grey(), image.NewRGBA(image.Rect(0, 0, 300, 100)), []image.Rectangle{image.Rect(0, 0, 300, 130)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.ElementsMatch(t, tt.want, Changed(tt.a, tt.b))
			assert.ElementsMatch(t, tt.want, Changed(tt.b, tt.a))
		})
	}
}

func TestChangedFindsExactlyTheTilesThatDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		box := image.Rect(0, 0, rapid.IntRange(1, 300).Draw(t, "w"), rapid.IntRange(1, 300).Draw(t, "h")).
			Add(image.Pt(rapid.IntRange(-50, 50).Draw(t, "x"), rapid.IntRange(-50, 50).Draw(t, "y")))
		a, b := image.NewRGBA(box), image.NewRGBA(box)
		want := map[image.Point]bool{} // tiles
		for range rapid.IntRange(0, 30).Draw(t, "pixels") {
			p := image.Pt(rapid.IntRange(box.Min.X, box.Max.X-1).Draw(t, "px"), rapid.IntRange(box.Min.Y, box.Max.Y-1).Draw(t, "py"))
			b.Pix[b.PixOffset(p.X, p.Y)+rapid.IntRange(0, 3).Draw(t, "channel")] = 7
			want[p.Sub(box.Min).Div(tile)] = true
		}
		got := map[image.Point]bool{}
		for _, r := range Changed(a, b) {
			require.True(t, r.In(box))
			for y := r.Min.Y; y < r.Max.Y; y += tile {
				for x := r.Min.X; x < r.Max.X; x += tile {
					at := image.Pt(x, y).Sub(box.Min).Div(tile)
					require.False(t, got[at], "tile %v twice", at)
					got[at] = true
				}
			}
		}
		require.Equal(t, want, got)
	})
}
