package ocr

import (
	"image"
	"slices"
	"strings"
	"unicode"

	"desktop-agent/screen"
)

// maxSeen bounds what is kept of regions that were looked at, in bytes of pixels: 3 that
// fill a screen of 4K. The newest is kept in any case.
const maxSeen = 24 << 20

// A view is what a region of a picture showed, without a text cursor that came later.
type view struct {
	region image.Rectangle
	pixels *image.Gray // of the region, from (0, 0)
	bands  []band      // without their pixels
}

// look cuts a region of a picture into bands. A text cursor that has come since the region
// was looked at before is left out: it blinks, and a line that was read is read neither
// again nor with a bar in it. One that was there from the beginning is not known to be one.
func (r *Reader) look(picture *image.RGBA, region image.Rectangle) []band {
	if region.Empty() {
		return nil
	}
	v := view{region: region, pixels: grey(picture, region)}
	same := func(v view) bool { return v.region == region }
	r.mu.Lock()
	if i := slices.IndexFunc(r.seen, same); i >= 0 {
		r.seen[i].hideCursor(v.pixels, &r.cache)
	}
	r.mu.Unlock()
	list := bands(v.pixels, region.Min)
	for _, b := range list {
		b.pixels = nil
		v.bands = append(v.bands, b)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(slices.DeleteFunc(r.seen, same), v)
	size := 0
	for _, v := range r.seen {
		size += len(v.pixels.Pix)
	}
	for size > maxSeen && len(r.seen) > 1 {
		size -= len(r.seen[0].pixels.Pix)
		r.seen = slices.Delete(r.seen, 0, 1)
	}
	return list
}

// hideCursor gives the pixels of now, of the same region, what was below text cursors that
// have come.
func (v view) hideCursor(now *image.Gray, c *cache) {
	size := now.Rect.Size()
	var box image.Rectangle // what differs in the rows down to here, since one that does not
	for y := range size.Y + 1 {
		if y < size.Y {
			if first, last, differ := screen.DiffRow(v.row(y), now.Pix[y*now.Stride:][:size.X], 0); differ {
				box = box.Union(image.Rect(first, y, last+1, y+1))
				continue
			}
		}
		if !box.Empty() && v.isCursor(box, now, c) {
			for y := box.Min.Y; y < box.Max.Y; y++ {
				copy(now.Pix[y*now.Stride:][box.Min.X:box.Max.X], v.row(y)[box.Min.X:])
			}
		}
		box = image.Rectangle{}
	}
}

func (v view) row(y int) []uint8 { return v.pixels.Pix[y*v.pixels.Stride:][:v.pixels.Rect.Dx()] }

// isCursor reports whether a change is a text cursor that has come: a bar beside letters, as
// tall as their line, for which a font has room above the tallest letters and down to the
// lowest. A letter that is but a bar is no taller than the tallest and stands on the baseline,
// and a | begins where they do, at the most a few per cent higher (but in Courier and its like).
func (v view) isCursor(box image.Rectangle, now *image.Gray, c *cache) bool {
	if !screen.FitsCaret(box) || box.Dy() < 2*box.Dx() || !solid(now, box) {
		return false
	}
	bar, beside := box.Add(v.region.Min), false
	for _, b := range v.bands {
		if b.ink.Max.Y <= bar.Min.Y || bar.Max.Y <= b.ink.Min.Y {
			continue
		}
		lowest := b.ink.Max.Y + 1 // below the baseline
		for _, l := range c.known[b.key].lines {
			if strings.ContainsAny(l.Text, "gjpqy") {
				lowest = b.ink.Max.Y // which is below it
			}
			near := l.Box.Add(b.at).Overlaps(bar.Inset(-bar.Dy()))
			beside = beside || near && strings.ContainsFunc(l.Text, isTall)
		}
		if above := b.ink.Min.Y - bar.Min.Y; above < 2 || 10*above < bar.Dy() || bar.Max.Y < lowest {
			return false
		}
	}
	return beside
}

// solid reports whether a box is of one grey.
func solid(g *image.Gray, box image.Rectangle) bool {
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			if g.GrayAt(x, y) != g.GrayAt(box.Min.X, box.Min.Y) {
				return false
			}
		}
	}
	return true
}

// isTall reports whether a letter is as tall as any.
func isTall(r rune) bool {
	return unicode.IsUpper(r) || unicode.IsDigit(r) || strings.ContainsRune("bdfhkl", r)
}
