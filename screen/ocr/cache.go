package ocr

import (
	"image"
	"time"

	"desktop-agent/screen"
)

// maxCached bounds what a cache holds, in bytes of keys: about 3 windows that fill a
// screen of 4K, or hundreds of screens of a terminal.
const maxCached = 24 << 20

// A cache knows what came of bands. The oldest go first.
type cache struct {
	known map[string]reading // by the key of a band
	order []string
	size  int
	at    map[position]band // the last band that was read there
}

// A reading is what came of a band.
type reading struct {
	lines  []screen.OCRLine
	err    error     // why it could not be read; nil if it was
	failed time.Time // when
}

// A position is where a band was.
type position struct{ at, size image.Point }

// find returns what came of a band, or of one that differs by a text cursor.
func (c *cache) find(b band) (reading, bool) {
	if r, ok := c.known[b.key]; ok {
		return r, true
	}
	if before, ok := c.at[position{b.at, b.pixels.Rect.Size()}]; ok && onlyCaret(before.pixels, b.pixels) {
		r, ok := c.known[before.key]
		return r, ok
	}
	return reading{}, false
}

func (c *cache) put(b band, r reading) {
	if c.known == nil {
		c.known, c.at = map[string]reading{}, map[position]band{}
	}
	if _, ok := c.known[b.key]; !ok {
		c.order = append(c.order, b.key)
		c.size += len(b.key)
	}
	c.known[b.key] = r
	c.at[position{b.at, b.pixels.Rect.Size()}] = b
	for c.size > maxCached && len(c.order) > 1 {
		oldest := c.order[0]
		c.order = c.order[1:]
		c.size -= len(oldest)
		delete(c.known, oldest)
	}
	for p, there := range c.at {
		if _, ok := c.known[there.key]; !ok {
			delete(c.at, p)
		}
	}
}

// onlyCaret reports whether two pictures of one size differ in nothing but one solid
// box as small as a text cursor. A letter in the place of another is no such box.
func onlyCaret(a, b *image.Gray) bool {
	var box image.Rectangle
	count := 0
	width := a.Rect.Dx()
	for i, v := range a.Pix {
		if v != b.Pix[i] {
			count++
			box = box.Union(image.Rect(i%width, i/width, i%width+1, i/width+1))
		}
	}
	return box.Dx() <= screen.CaretWidth && box.Dy() <= screen.CaretHeight && box.Dy() >= 2*box.Dx() && count == box.Dx()*box.Dy()
}
