package screen

import (
	"bytes"
	"image"
	"slices"

	"desktop-agent/screen/atspi"
)

// A text cursor blinks by itself: a change within a box of this size, in device
// pixels, leaves a picture the same. Text cursors are 1 to 4 pixels wide and as
// tall as a line of text, up to that of a heading. What a person does shows
// wider: the dot of a radio button has 6 pixels, a tick has 8, and a thin letter
// moves the text cursor along.
const (
	CaretWidth  = 4
	CaretHeight = 64
)

// faint is by how much a channel may differ without being another, of 255: one per
// cent of the range, which nobody sees. What is blended or drawn again comes out one
// or two levels apart, as rounding has it; the faintest thing that programs say
// anything by, the highlight below the pointer, is 5 and more.
const faint = 3

// SamePicture reports whether two pictures are the same: of one size and place,
// and different in nothing that can be seen but a blinking text cursor. A picture that
// is missing is the same as none.
func SamePicture(a, b *image.RGBA) bool {
	return a != nil && b != nil && a.Rect == b.Rect && FitsCaret(diffBox(raster{a.Pix, a.Stride, 4}, raster{b.Pix, b.Stride, 4}, a.Rect.Size(), faint, FitsCaret))
}

// SameTree reports whether two observations tell the same of every node that can
// be seen: role, name, text, states and place, and where the caret is if both know.
// What was read from the picture does not count: it may be read later than it is
// shown, and pictures are compared as such.
func SameTree(a, b *Observation) bool {
	return slices.EqualFunc(a.Told().Tree.Nodes, b.Told().Tree.Nodes, func(n, m atspi.Node) bool {
		return n.Role == m.Role && n.Name == m.Name && n.Text == m.Text && n.Box == m.Box && slices.Equal(n.States, m.States) &&
			(n.Caret == m.Caret || n.Caret == 0 || m.Caret == 0)
	})
}

// A Digest is a picture that is kept to be compared: it has the rows in common with
// another one that are the same, so that screens which follow each other take little.
type Digest struct {
	rows [][]byte // red, green and blue of each pixel
	size image.Point
}

// NewDigest makes the digest of a picture, which shares what it can with another one.
func NewDigest(m *image.RGBA, like Digest) Digest {
	d := Digest{make([][]byte, m.Rect.Dy()), m.Rect.Size()}
	row := make([]byte, 3*d.size.X)
	for y := range d.rows {
		colours(row, m.Pix[y*m.Stride:][:4*d.size.X])
		if like.size == d.size && bytes.Equal(row, like.rows[y]) {
			d.rows[y] = like.rows[y]
		} else {
			d.rows[y] = bytes.Clone(row)
		}
	}
	return d
}

// colours fills a row of RGB from one of RGBA. The race detector need not watch each
// byte: the frame is read by others too, and to is the caller's own.
//
//go:norace
func colours(to, pix []byte) {
	for len(to) >= 3 && len(pix) >= 4 {
		to[0], to[1], to[2] = pix[0], pix[1], pix[2]
		to, pix = to[3:], pix[4:]
	}
}

// Same reports whether two digests are of the same picture, as [SamePicture]
// does of pictures that begin at the same place.
func (d Digest) Same(e Digest) bool {
	if d.size != e.size {
		return false
	}
	var box image.Rectangle
	for y, row := range d.rows {
		first, last, differ := DiffRow(row, e.rows[y], faint)
		if !differ {
			continue
		}
		if box = box.Union(image.Rect(first/3, y, last/3+1, y+1)); !FitsCaret(box) {
			return false
		}
	}
	return true
}

// FitsCaret reports whether a change is no larger than a text cursor.
func FitsCaret(box image.Rectangle) bool { return box.Dx() <= CaretWidth && box.Dy() <= CaretHeight }

// DiffBox returns the smallest box that holds every pixel that differs between
// two pictures; of pictures of other sizes or places, both.
func DiffBox(a, b *image.RGBA) image.Rectangle {
	if a.Rect != b.Rect {
		return a.Rect.Union(b.Rect)
	}
	whole := func(image.Rectangle) bool { return true }
	box := diffBox(raster{a.Pix, a.Stride, 4}, raster{b.Pix, b.Stride, 4}, a.Rect.Size(), 0, whole)
	if box.Empty() {
		return image.Rectangle{}
	}
	return box.Add(a.Rect.Min)
}

// A raster is the pixels of a picture, with the bytes from row to row and from
// pixel to pixel.
type raster struct {
	pix           []byte
	stride, pixel int
}

// diffBox returns the smallest box that holds every pixel that differs in a channel by
// more than a level, from (0, 0). It ends with a part of that box once it no longer fits.
func diffBox(a, b raster, size image.Point, level uint8, fits func(image.Rectangle) bool) (box image.Rectangle) {
	for y := range size.Y {
		first, last, differ := DiffRow(a.pix[y*a.stride:][:a.pixel*size.X], b.pix[y*b.stride:][:b.pixel*size.X], level)
		if !differ {
			continue
		}
		box = box.Union(image.Rect(first/a.pixel, y, last/a.pixel+1, y+1))
		if !fits(box) {
			break
		}
	}
	return box
}

// DiffRow returns the first and the last byte of two rows that differ by more than a
// level. Most rows are the same to the byte, and found so first.
func DiffRow(p, q []byte, level uint8) (first, last int, differ bool) {
	if bytes.Equal(p, q) {
		return 0, 0, false
	}
	last = len(p) - 1
	same := func(a, b byte) bool { return a == b || max(a, b)-min(a, b) <= level }
	for first <= last && same(p[first], q[first]) {
		first++
	}
	if first > last {
		return 0, 0, false
	}
	for same(p[last], q[last]) {
		last--
	}
	return first, last, true
}

// reach is how far the square around a point goes in which pictures are compared
// for what is there, in device pixels: about that of a small button.
const reach = 12

// SameAround reports whether two pictures of one desktop are the same around a
// point, as [SamePicture] does of the whole.
func SameAround(a, b *image.RGBA, at image.Point) bool {
	if a == nil || b == nil || a.Rect != b.Rect {
		return false
	}
	box := around(at).Intersect(a.Rect)
	return SamePicture(a.SubImage(box).(*image.RGBA), b.SubImage(box).(*image.RGBA))
}

func around(at image.Point) image.Rectangle {
	return image.Rectangle{Min: at, Max: at}.Inset(-reach)
}

// When pictures are alike: smooth edges and a highlight under the pointer differ
// by less, another word by more.
const (
	otherLevel = 40  // a channel that differs by more makes a pixel another one, of 255
	otherShare = .08 // of the pixels may be others
)

// Alike reports whether two pictures from different times show the same thing
// around a point: not pixel by pixel, as [SameAround] asks, but by the share of
// pixels that are clearly others, which it returns too, from 0 to 1. What only
// one of the pictures has does not count.
func Alike(a, b *image.RGBA, at image.Point) (other float64, alike bool) {
	if a == nil || b == nil {
		return 1, false
	}
	box := around(at).Intersect(a.Rect).Intersect(b.Rect)
	count := 0
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			p, q := a.RGBAAt(x, y), b.RGBAAt(x, y)
			if apart(p.R, q.R) || apart(p.G, q.G) || apart(p.B, q.B) {
				count++
			}
		}
	}
	other = float64(count) / float64(max(1, box.Dx()*box.Dy()))
	return other, other <= otherShare
}

func apart(a, b uint8) bool { return max(a, b)-min(a, b) > otherLevel }
