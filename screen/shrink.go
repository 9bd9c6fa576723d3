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
const mostShrink = 32

// shrink returns a part of a frame, made smaller. Every frame goes this way, so it
// counts: the filter is that of imaging.Linear, a triangle as wide as two pixels
// of the result, and so are the results but for rounding, in a tenth of the
// processor time. A frame is opaque; its alpha is not computed.
func shrink(m *image.RGBA, size image.Point) *image.RGBA {
	columns, rows := triangles(m.Rect.Dx(), size.X), triangles(m.Rect.Dy(), size.Y)
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
func shrinkRows(out, m *image.RGBA, columns, rows []taps, begin, end int) {
	width := out.Rect.Dx()
	deepest := 0
	for _, r := range rows {
		deepest = max(deepest, len(r.weights))
	}
	narrow := make([][]uint32, deepest) // the last source rows, shrunk to the width
	for i := range narrow {
		narrow[i] = make([]uint32, width)
	}
	done := rows[begin].first // source rows before it are in narrow, or not needed
	odd, even := make([]uint32, width), make([]uint32, width)
	for y := begin; y < end; y++ {
		r := rows[y]
		for ; done < r.first+len(r.weights); done++ {
			shrinkRow(narrow[done%deepest], m.Pix[done*m.Stride:][:4*m.Rect.Dx()], columns)
		}
		for x := range width {
			odd[x], even[x] = half, half
		}
		for i, weight := range r.weights {
			for x, p := range narrow[(r.first+i)%deepest][:width] {
				odd[x] += p & lanes * weight
				even[x] += p >> 8 & lanes * weight
			}
		}
		to := out.Pix[y*out.Stride:][:4*width]
		for x := range width {
			binary.LittleEndian.PutUint32(to[4*x:], odd[x]>>8&lanes|even[x]&^lanes|0xff000000)
		}
	}
}

// shrinkRow shrinks one row.
func shrinkRow(to []uint32, from []byte, columns []taps) {
	for x, c := range columns {
		odd, even := uint32(half), uint32(half)
		for i, weight := range c.weights {
			p := binary.LittleEndian.Uint32(from[4*(c.first+i):])
			odd += p & lanes * weight
			even += p >> 8 & lanes * weight
		}
		to[x] = odd>>8&lanes | even&^lanes
	}
}

// taps are the pixels that make one of a smaller row, and their weights, which
// add up to 256.
type taps struct {
	first   int
	weights []uint32
}

// triangles returns the taps for making to pixels of from.
func triangles(from, to int) []taps {
	list := make([]taps, to)
	scale := float64(from) / float64(to)
	for i := range list {
		centre := (float64(i)+0.5)*scale - 0.5
		first := max(0, int(math.Ceil(centre-scale)))
		last := min(from-1, int(math.Floor(centre+scale)))
		exact := make([]float64, last-first+1)
		sum := 0.0
		for j := range exact {
			exact[j] = max(0, 1-math.Abs(float64(first+j)-centre)/scale)
			sum += exact[j]
		}
		// What rounding leaves over goes on to the next weight.
		weights, rest := make([]uint32, len(exact)), 0.0
		for j, w := range exact {
			share := 256*w/sum + rest
			weights[j] = uint32(math.Round(share))
			rest = share - math.Round(share)
		}
		list[i] = taps{first, weights}
	}
	return list
}
