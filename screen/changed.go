package screen

import (
	"bytes"
	"image"
)

// tile is the side of the squares in which pictures are compared, in pixels.
const tile = 32

// Changed returns where two pictures differ: rectangles on a grid of 32 pixels,
// which do not overlap, in the pixels of the pictures. It returns nil when they are
// equal, and everything when their sizes differ.
func Changed(a, b *image.RGBA) []image.Rectangle {
	if a == nil || b == nil || a.Rect != b.Rect {
		var all image.Rectangle
		for _, m := range []*image.RGBA{a, b} {
			if m != nil {
				all = all.Union(m.Rect)
			}
		}
		if all.Empty() {
			return nil
		}
		return []image.Rectangle{all}
	}
	var found []image.Rectangle
	above := 0 // where the runs of the tile row above begin in found
	for y := a.Rect.Min.Y; y < a.Rect.Max.Y; y += tile {
		row := image.Rect(a.Rect.Min.X, y, a.Rect.Max.X, min(y+tile, a.Rect.Max.Y))
		runs := changedRuns(a, b, row)
		found, above = stack(found, above, runs)
	}
	return found
}

// changedRuns returns the runs of changed tiles in one row of tiles.
func changedRuns(a, b *image.RGBA, row image.Rectangle) []image.Rectangle {
	if equal(a, b, row) {
		return nil
	}
	var runs []image.Rectangle
	for x := row.Min.X; x < row.Max.X; x += tile {
		square := image.Rect(x, row.Min.Y, min(x+tile, row.Max.X), row.Max.Y)
		if equal(a, b, square) {
			continue
		}
		if n := len(runs); n > 0 && runs[n-1].Max.X == x {
			runs[n-1].Max.X = square.Max.X
		} else {
			runs = append(runs, square)
		}
	}
	return runs
}

// equal tells whether two pictures are the same within r.
func equal(a, b *image.RGBA, r image.Rectangle) bool {
	i, j, n := a.PixOffset(r.Min.X, r.Min.Y), b.PixOffset(r.Min.X, r.Min.Y), 4*r.Dx()
	for range r.Dy() {
		if !bytes.Equal(a.Pix[i:i+n], b.Pix[j:j+n]) {
			return false
		}
		i, j = i+a.Stride, j+b.Stride
	}
	return true
}

// stack appends the runs of a row to the rectangles found so far. A run that
// lies right under a rectangle of the same width makes that one taller. It
// returns where the rectangles that reach down to this row begin.
func stack(found []image.Rectangle, above int, runs []image.Rectangle) ([]image.Rectangle, int) {
	kept := found[:above:above]
	var open []image.Rectangle
	for _, r := range found[above:] {
		grown := false
		for i, run := range runs {
			if run.Min.X == r.Min.X && run.Max.X == r.Max.X && run.Min.Y == r.Max.Y {
				r.Max.Y = run.Max.Y
				open = append(open, r)
				runs = append(runs[:i:i], runs[i+1:]...)
				grown = true
				break
			}
		}
		if !grown {
			kept = append(kept, r)
		}
	}
	return append(append(kept, open...), runs...), len(kept)
}

// DiffBox returns the smallest box that holds every pixel that differs between
// two pictures of one size.
func DiffBox(a, b *image.RGBA) (box image.Rectangle) {
	for _, tile := range Changed(a, b) {
		for y := tile.Min.Y; y < tile.Max.Y; y++ {
			i, j := a.PixOffset(tile.Min.X, y), a.PixOffset(tile.Max.X, y)
			p, q := a.Pix[i:j], b.Pix[i:j]
			if bytes.Equal(p, q) {
				continue
			}
			first, last := -1, 0
			for x := 0; x < len(p); x += 4 {
				if !bytes.Equal(p[x:x+4], q[x:x+4]) {
					if first < 0 {
						first = x / 4
					}
					last = x / 4
				}
			}
			box = box.Union(image.Rect(tile.Min.X+first, y, tile.Min.X+last+1, y+1))
		}
	}
	return box
}
