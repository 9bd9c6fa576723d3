package monitor

import (
	"bytes"
	"encoding/binary"
	"image"
	"strconv"
)

// Screens names pictures of the screen: those that look the same get the same
// name. A blinking caret, a change within 4×64 pixels, is no difference. It
// remembers the last few screens; one that comes back later has a new name.
// The zero value is ready to use, by one goroutine.
type Screens struct {
	seen  []look // least recently seen first
	named int
}

// remembered is how many screens are told apart: as many turns as detectors
// look back for the same screen.
const remembered = 8

// caret is the largest box, in pixels, that does not count as a change.
var caret = image.Pt(4, 64)

// A look is a picture at a byte a pixel, enough to tell pictures apart.
type look struct {
	name string
	size image.Point
	pix  []byte
}

// Name returns the name of a picture of the whole screen, taken without the
// pointer; "" of nil.
func (s *Screens) Name(frame *image.RGBA) string {
	if frame == nil {
		return ""
	}
	now := reduce(frame)
	for i := len(s.seen) - 1; i >= 0; i-- {
		if s.seen[i].same(now) {
			// The newest picture stands for the screen from here on.
			now.name = s.seen[i].name
			s.seen = append(append(s.seen[:i], s.seen[i+1:]...), now)
			return now.name
		}
	}
	s.named++
	now.name = strconv.Itoa(s.named)
	if len(s.seen) == remembered {
		s.seen = append(s.seen[:0], s.seen[1:]...)
	}
	s.seen = append(s.seen, now)
	return now.name
}

// mix spreads the colours of a pixel over the highest byte of a product. It is
// chosen so that different greys give different bytes; other colours collide
// once in 256, which no change of more than a few pixels survives.
const mix = 0x37ffff01

// reduce mixes the colours of each pixel into a byte.
func reduce(frame *image.RGBA) look {
	size := frame.Rect.Size()
	l := look{size: size, pix: make([]byte, size.X*size.Y)}
	for y := range size.Y {
		row := frame.Pix[y*frame.Stride:][:4*size.X]
		out := l.pix[y*size.X:][:size.X]
		for x := range out {
			out[x] = byte((binary.LittleEndian.Uint32(row[:4]) & 0xffffff * mix) >> 24)
			row = row[4:]
		}
	}
	return l
}

// same reports whether two pictures differ by no more than a caret.
func (l look) same(m look) bool {
	if l.size != m.size {
		return false
	}
	var box image.Rectangle
	for y := range l.size.Y {
		a, b := l.pix[y*l.size.X:(y+1)*l.size.X], m.pix[y*l.size.X:(y+1)*l.size.X]
		if bytes.Equal(a, b) {
			continue
		}
		first, last := 0, len(a)-1
		for a[first] == b[first] {
			first++
		}
		for a[last] == b[last] {
			last--
		}
		box = box.Union(image.Rect(first, y, last+1, y+1))
		if box.Dx() > caret.X || box.Dy() > caret.Y {
			return false
		}
	}
	return true
}
