package picture

import (
	"math"
	"math/bits"
	"slices"
)

const (
	hashSide = 8  // side of the square of low frequencies
	hashRes  = 32 // side of the image that is transformed
)

// PHash is the perceptual hash of an image, 64 bits; images that look the same
// have hashes of a small [HashDistance].
//
// It is phash of ImageHash with its defaults: the image in grey, resized by
// Lanczos to 32x32, the discrete cosine transform of type II along the columns
// and then the rows, and of the 8x8 lowest frequencies, row by row from the
// highest bit, whether each is above their median.
func PHash(m *Image) uint64 {
	small := m.Convert(Grey).Resize(hashRes, hashRes, Lanczos)
	var grid [hashRes][hashRes]float64
	for i, v := range small.Pix {
		grid[i/hashRes][i%hashRes] = float64(v)
	}
	var low [hashRes][hashSide]float64 // by column of the image
	for x := range hashRes {
		var col [hashRes]float64
		for y := range hashRes {
			col[y] = grid[y][x]
		}
		low[x] = lowCosines(col)
	}
	freq := make([]float64, 0, hashSide*hashSide)
	for y := range hashSide {
		var row [hashRes]float64
		for x := range hashRes {
			row[x] = low[x][y]
		}
		c := lowCosines(row)
		freq = append(freq, c[:]...)
	}
	sorted := slices.Sorted(slices.Values(freq))
	median := (sorted[len(sorted)/2-1] + sorted[len(sorted)/2]) / 2
	var hash uint64
	for _, f := range freq {
		hash <<= 1
		if f > median {
			hash |= 1
		}
	}
	return hash
}

// HashDistance is the number of bits in which two hashes differ.
func HashDistance(a, b uint64) int { return bits.OnesCount64(a ^ b) }

// lowCosines returns the lowest frequencies of the cosine transform of type II,
// not normalised. The first sample is taken off before the sum, so that the other
// frequencies of a flat line are exactly 0: else a hash of a plain image would be
// noise.
func lowCosines(v [hashRes]float64) (out [hashSide]float64) {
	base := v[0]
	for k := range out {
		var sum float64
		for n, s := range v {
			if s != base {
				sum += (s - base) * math.Cos(math.Pi*float64(k)*(2*float64(n)+1)/(2*hashRes))
			}
		}
		out[k] = 2 * sum
	}
	out[0] += 2 * hashRes * base
	return out
}
