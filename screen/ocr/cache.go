package ocr

import (
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
}

// A reading is what came of a band.
type reading struct {
	lines  []screen.OCRLine
	err    error     // why it could not be read; nil if it was
	failed time.Time // when
}

func (c *cache) put(b band, r reading) {
	if c.known == nil {
		c.known = map[string]reading{}
	}
	if _, ok := c.known[b.key]; !ok {
		c.order = append(c.order, b.key)
		c.size += len(b.key)
	}
	c.known[b.key] = r
	for c.size > maxCached && len(c.order) > 1 {
		oldest := c.order[0]
		c.order = c.order[1:]
		c.size -= len(oldest)
		delete(c.known, oldest)
	}
}
