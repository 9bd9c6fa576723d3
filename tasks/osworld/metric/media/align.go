package media

import "math"

// align returns the sum of the cosine distances along the best alignment of two
// sequences, and its length in steps, by FastDTW with a radius of 1 (Salvador and
// Chan, "Toward accurate dynamic time warping in linear time and space", 2007):
// the path of the sequences at half their resolution, widened by the radius, is
// where the path is looked for. Both sequences must have a frame.
func align(a, b [][]float64) (distance float64, length int) {
	distance, path := fastDTW(a, b)
	return distance, len(path)
}

const radius = 1

// A cell aligns frame i of one sequence with frame j of the other.
type cell struct{ i, j int }

// A span is a part of a row of the table of alignments: from lo to before hi.
type span struct{ lo, hi int }

func fastDTW(a, b [][]float64) (float64, []cell) {
	if len(a) < radius+2 || len(b) < radius+2 {
		rows := make([]span, len(a))
		for i := range rows {
			rows[i] = span{0, len(b)}
		}
		return dtw(a, b, rows)
	}
	_, path := fastDTW(half(a), half(b))
	return dtw(a, b, widen(path, len(a), len(b)))
}

// half takes the mean of each two frames; an odd one out is dropped.
func half(v [][]float64) [][]float64 {
	out := make([][]float64, len(v)/2)
	for i := range out {
		x, y := v[2*i], v[2*i+1]
		out[i] = make([]float64, len(x))
		for k := range x {
			out[i][k] = (x[k] + y[k]) / 2
		}
	}
	return out
}

// widen brings a path to double the resolution, with the radius around it.
func widen(path []cell, n, m int) []span {
	rows := make([]span, n)
	for i := range rows {
		rows[i] = span{m, 0}
	}
	for _, c := range path {
		for i := 2 * (c.i - radius); i < 2*(c.i+radius+1); i++ {
			if i >= 0 && i < n {
				rows[i].lo = min(rows[i].lo, max(0, 2*(c.j-radius)))
				rows[i].hi = max(rows[i].hi, min(m, 2*(c.j+radius+1)))
			}
		}
	}
	return rows
}

// dtw finds the best path within the rows' spans.
func dtw(a, b [][]float64, rows []span) (float64, []cell) {
	normA, normB := norms(a), norms(b)
	back := make([][]byte, len(rows)) // 0: both step, 1: a steps, 2: b steps
	var above []float64               // costs of the row before
	for i, row := range rows {
		costs := make([]float64, row.hi-row.lo)
		back[i] = make([]byte, len(costs))
		at := func(j int) float64 { // in the row before
			if i == 0 {
				if j == -1 {
					return 0 // where every path starts
				}
				return math.Inf(1)
			}
			if prev := rows[i-1]; j >= prev.lo && j < prev.hi {
				return above[j-prev.lo]
			}
			return math.Inf(1)
		}
		for k := range costs {
			j := row.lo + k
			up, left, corner := at(j), math.Inf(1), at(j-1)
			if k > 0 {
				left = costs[k-1]
			}
			best := corner
			switch {
			case up < left && up < corner:
				best, back[i][k] = up, 1
			case left < corner:
				best, back[i][k] = left, 2
			}
			costs[k] = best + cosine(a[i], b[j], normA[i], normB[j])
		}
		above = costs
	}
	i, j := len(a)-1, len(b)-1
	total := above[j-rows[i].lo]
	var path []cell
	for i >= 0 && j >= 0 {
		path = append(path, cell{i, j})
		switch back[i][j-rows[i].lo] {
		case 0:
			i, j = i-1, j-1
		case 1:
			i--
		default:
			j--
		}
	}
	return total, path
}

func norms(v [][]float64) []float64 {
	out := make([]float64, len(v))
	for i, f := range v {
		for _, x := range f {
			out[i] += x * x
		}
	}
	return out
}

// cosine is one minus the cosine of the angle between two vectors, given the
// squares of their lengths. A vector of zeros is like another of zeros, and
// unlike all others.
func cosine(a, b []float64, normA, normB float64) float64 {
	if normA == 0 || normB == 0 {
		if normA == normB {
			return 0
		}
		return 1
	}
	var dot float64
	for i := range a {
		dot += a[i] * b[i]
	}
	return math.Abs(1 - dot/math.Sqrt(normA*normB))
}
