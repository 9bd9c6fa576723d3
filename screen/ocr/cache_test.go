package ocr

import (
	"image"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func blank(w, h int) *image.Gray {
	g := image.NewGray(image.Rect(0, 0, w, h))
	for i := range g.Pix {
		g.Pix[i] = 0xff
	}
	return g
}

func bandOf(g *image.Gray, at image.Point) band {
	return band{key: string(g.Pix), at: at, pixels: g}
}

func TestCacheIsBounded(t *testing.T) {
	var c cache
	for i := range 40 {
		g := blank(1<<10, 1<<10)
		g.Pix[0] = byte(i)
		c.put(bandOf(g, image.Pt(0, i)), reading{})
	}
	assert.LessOrEqual(t, c.size, maxCached)
	assert.Len(t, c.known, maxCached>>20)
	assert.Equal(t, len(c.known), len(c.order))
}

func TestStripes(t *testing.T) {
	parse := func(s string) (ink []int) {
		for _, r := range s {
			ink = append(ink, map[rune]int{'.': 0, 'x': 9, 'o': 1}[r])
		}
		return ink
	}
	for s, want := range map[string][][2]int{
		"....":                         nil,
		".xxxxxxx...xxxxxxx.":          {{1, 8}, {11, 18}},
		".xx.xxxxxxx..":                {{1, 11}}, // a dot and its letter
		".xxxxxxx...x..xxxxxxxx":       {{1, 12}, {14, 22}},
		".xx.........xxxxxxxx":         {{1, 3}, {12, 20}}, // a rule far above
		strings.Repeat("x", tallest+8): {{0, tallest}, {tallest, tallest + 8}},
		strings.Repeat("x", tallest-9) + "o" + strings.Repeat("x", 20): {{0, tallest - 9}, {tallest - 9, tallest + 12}},
	} {
		assert.Equal(t, want, stripes(parse(s)), s)
	}
}

// TestBands holds that a scroll bar or a border beside lines of text does not make
// one band of them, and that light on dark becomes dark on light.
func TestBands(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 200, 200))
	for i := range m.Pix {
		m.Pix[i] = 0x20
	}
	fill := func(r image.Rectangle) {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				copy(m.Pix[m.PixOffset(x, y):], []byte{0xe0, 0xe0, 0xe0, 0xff})
			}
		}
	}
	fill(image.Rect(190, 10, 195, 180)) // a scroll bar
	for x := 20; x < 150; x += 8 {
		fill(image.Rect(x, 50, x+3, 60))
		fill(image.Rect(x, 70, x+3, 80))
	}
	region := image.Rect(10, 10, 200, 180)
	list := bands(grey(m, region), region.Min)
	require.Len(t, list, 2)
	assert.Equal(t, image.Pt(20-bandInset, 50-bandInset), list[0].at)
	assert.Equal(t, uint8(0xdf), list[0].pixels.GrayAt(0, 0).Y)
	assert.Equal(t, uint8(0x1f), list[0].pixels.GrayAt(bandInset, bandInset).Y)
	assert.Empty(t, bands(grey(m, image.Rect(0, 0, 100, 40)), image.Point{}))
}
