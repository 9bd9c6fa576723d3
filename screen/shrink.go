package screen

import (
	"encoding/binary"
	"image"
	"math"
	"runtime"
	"sync"
)

// mostShrink is how many times smaller shrink makes a picture at most: its weights
// are too coarse for more.
const mostShrink = 8

// shrink returns a part of a frame, made smaller. Every frame goes this way, so it
// counts: the filter is that of imaging.Linear, a triangle as wide as two pixels
// of the result, and so are the results but for rounding, in a fraction of the
// processor time. A frame is opaque; its alpha is not computed.
func shrink(m *image.RGBA, size image.Point) *image.RGBA {
	columns, rows := newFilter(m.Rect.Dx(), size.X), newFilter(m.Rect.Dy(), size.Y)
	out := image.NewRGBA(image.Rectangle{Max: size})
	strips := min(runtime.GOMAXPROCS(0), 4, size.Y)
	var all sync.WaitGroup
	for i := range strips {
		all.Go(func() { shrinkRows(out, m, columns, rows, size.Y*i/strips, size.Y*(i+1)/strips) })
	}
	all.Wait()
	return out
}

// Two channels of a pixel are computed at once, each in half of 32 bits. A
// colour times all weights, which add up to 256, needs just these 16 bits.
const (
	lanes = 0x00ff00ff
	half  = 0x00800080 // for rounding
)

// shrinkRows computes the rows of out from the row begin to the row end.
func shrinkRows(out, m *image.RGBA, columns, rows filter, begin, end int) {
	width, last := out.Rect.Dx(), m.Rect.Dy()-1
	narrow := make([][]uint32, rows.taps) // the last source rows, shrunk to the width
	for i := range narrow {
		narrow[i] = make([]uint32, width)
	}
	padded := make([]byte, 4*(m.Rect.Dx()+columns.taps)) // a row, and room for taps of no weight
	odd, even := make([]uint32, width), make([]uint32, width)
	done := rows.first[begin] // the rows before it are in narrow, or not needed
	for y := begin; y < end; y++ {
		first := rows.first[y]
		for ; done < first+rows.taps; done++ {
			row := m.Pix[min(done, last)*m.Stride:]
			if len(row) < len(padded) { // one of the last: none behind it has room for taps of no weight
				copy(padded, row[:4*m.Rect.Dx()])
				row = padded
			}
			columns.apply(narrow[done%rows.taps], row)
		}
		clearRows(odd, even)
		for i := 0; i < rows.taps; i += 3 {
			weights := rows.weights[rows.taps*y+i:][:3]
			addRows(odd, even, narrow[(first+i)%rows.taps], narrow[(first+i+1)%rows.taps], narrow[(first+i+2)%rows.taps], weights)
		}
		packRow(out.Pix[y*out.Stride:][:4*width], odd, even)
	}
}

// clearRows begins sums of weighted rows. The race detector need not watch it, nor what
// follows here, at many times their cost: they work on rows that shrinkRows has made for
// itself, and on one of the picture that is not yet anybody's.
//
//go:norace
func clearRows(odd, even []uint32) {
	even = even[:len(odd)]
	for x := range odd {
		odd[x], even[x] = half, half
	}
}

// packRow makes pixels of the sums.
//
//go:norace
func packRow(to []byte, odd, even []uint32) {
	even = even[:len(odd)]
	for x, o := range odd {
		binary.LittleEndian.PutUint32(to[4*x:], o>>8&lanes|even[x]&^lanes|0xff000000)
	}
}

// addRows adds three weighted rows.
//
//go:norace
func addRows(odd, even, a, b, c []uint32, weights []uint32) {
	u, v, w := weights[0], weights[1], weights[2]
	even, a, b, c = even[:len(odd)], a[:len(odd)], b[:len(odd)], c[:len(odd)]
	for x := range odd {
		p, q, r := a[x], b[x], c[x]
		odd[x] += p&lanes*u + q&lanes*v + r&lanes*w
		even[x] += p>>8&lanes*u + q>>8&lanes*v + r>>8&lanes*w
	}
}

// A filter tells for each pixel of a smaller row which ones of the larger it is
// made of.
type filter struct {
	taps    int      // pixels that make one, a multiple of 3; some may have no weight
	first   []int    // of these pixels
	weights []uint32 // taps for each pixel, which add up to 256
}

// apply makes a row smaller.
//
//go:norace
func (f filter) apply(to []uint32, from []byte) {
	for x := range to {
		odd, even := uint32(half), uint32(half)
		pixels := from[4*f.first[x]:][:4*f.taps]
		weights := f.weights[f.taps*x:][:f.taps]
		for len(weights) >= 3 && len(pixels) >= 12 {
			p := binary.LittleEndian.Uint32(pixels)
			q := binary.LittleEndian.Uint32(pixels[4:])
			r := binary.LittleEndian.Uint32(pixels[8:])
			u, v, w := weights[0], weights[1], weights[2]
			odd += p&lanes*u + q&lanes*v + r&lanes*w
			even += p>>8&lanes*u + q>>8&lanes*v + r>>8&lanes*w
			pixels, weights = pixels[12:], weights[3:]
		}
		to[x] = odd>>8&lanes | even&^lanes
	}
}

// newFilter returns the filter for making to pixels of from.
func newFilter(from, to int) filter {
	scale := float64(from) / float64(to)
	f := filter{taps: (int(2*scale) + 3) / 3 * 3, first: make([]int, to)}
	f.weights = make([]uint32, f.taps*to)
	exact := make([]float64, f.taps)
	for i := range to {
		centre := (float64(i)+0.5)*scale - 0.5
		first := max(0, int(math.Ceil(centre-scale)))
		sum := 0.0
		for j := range exact {
			exact[j] = 0
			if first+j < from {
				exact[j] = max(0, 1-math.Abs(float64(first+j)-centre)/scale)
			}
			sum += exact[j]
		}
		// What rounding leaves over goes on to the next weight.
		rest := 0.0
		for j, w := range exact {
			share := 256*w/sum + rest
			weight := max(0, math.Round(share))
			f.weights[f.taps*i+j] = uint32(weight)
			rest = share - weight
		}
		f.first[i] = first
	}
	return f
}
