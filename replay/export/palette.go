package export

import (
	"cmp"
	"image/color"
	"maps"
	"slices"
)

// A box is a part of the colour space with the colours of a picture in it.
type box struct {
	colours []color.RGBA
	pixels  int
	widest  int // channel
	spread  int // of that channel, times the pixels
}

// quantize returns at most limit colours for a picture, of which it is told how
// many pixels have each colour: all of them if there are so few, and else by
// median cut. The standard library has fixed palettes only: with those of
// image/color/palette a desktop's colours are plainly others (25 to 29 dB instead
// of 61), and dithered they take up to twice the bytes.
func quantize(counts map[color.RGBA]int, limit int) color.Palette {
	all := slices.SortedFunc(maps.Keys(counts), compareColours) // so that a picture is the same every time
	if len(all) == 0 {
		return color.Palette{color.RGBA{A: 255}}
	}
	boxes := []box{newBox(all, counts)}
	for len(boxes) < min(limit, len(all)) {
		at := 0
		for i, b := range boxes {
			if b.spread > boxes[at].spread {
				at = i
			}
		}
		if boxes[at].spread == 0 {
			break
		}
		low, high := boxes[at].split(counts)
		boxes[at] = newBox(low, counts)
		boxes = append(boxes, newBox(high, counts))
	}
	palette := make(color.Palette, len(boxes))
	for i, b := range boxes {
		palette[i] = b.mean(counts)
	}
	return palette
}

func compareColours(a, b color.RGBA) int {
	return cmp.Or(cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
}

func channel(c color.RGBA, n int) int { return int([3]uint8{c.R, c.G, c.B}[n]) }

func newBox(colours []color.RGBA, counts map[color.RGBA]int) box {
	b := box{colours: colours}
	low, high := [3]int{255, 255, 255}, [3]int{}
	for _, c := range colours {
		b.pixels += counts[c]
		for n := range 3 {
			low[n], high[n] = min(low[n], channel(c, n)), max(high[n], channel(c, n))
		}
	}
	for n := range 3 {
		if high[n]-low[n] > high[b.widest]-low[b.widest] {
			b.widest = n
		}
	}
	// Few pixels of far colours count too: they are what a person looks at.
	width := high[b.widest] - low[b.widest]
	b.spread = width * width * min(b.pixels, 1<<12)
	return b
}

// split cuts a box in two with about as many pixels each.
func (b box) split(counts map[color.RGBA]int) (low, high []color.RGBA) {
	slices.SortFunc(b.colours, func(p, q color.RGBA) int {
		return cmp.Or(cmp.Compare(channel(p, b.widest), channel(q, b.widest)), compareColours(p, q))
	})
	seen, at := 0, 0
	for at < len(b.colours)-1 && (at == 0 || seen+counts[b.colours[at]] <= b.pixels/2) {
		seen += counts[b.colours[at]]
		at++
	}
	return b.colours[:at], b.colours[at:]
}

// mean returns the colour that stands for a box: the one that most of its
// pixels have, so that plain grounds stay as they are, or else the mean.
func (b box) mean(counts map[color.RGBA]int) color.RGBA {
	var sum [3]int
	for _, c := range b.colours {
		if 3*counts[c] > b.pixels {
			return c
		}
		for n := range 3 {
			sum[n] += channel(c, n) * counts[c]
		}
	}
	return color.RGBA{uint8(sum[0] / b.pixels), uint8(sum[1] / b.pixels), uint8(sum[2] / b.pixels), 255}
}
