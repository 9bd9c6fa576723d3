package picture

import "math"

// Mean is the mean of all samples, from 0 to 255.
func (m *Image) Mean() float64 {
	mean, _ := moment(m.Pix)
	return mean
}

// Deviation is the standard deviation of all samples together, of all bands.
func (m *Image) Deviation() float64 {
	_, variance := moment(m.Pix)
	return math.Sqrt(variance)
}

func moment(samples []byte) (mean, variance float64) {
	var counts [256]int
	for _, v := range samples {
		counts[v]++
	}
	n := float64(len(samples))
	for v, c := range counts {
		mean += float64(v) * float64(c) / n
	}
	for v, c := range counts {
		variance += (float64(v) - mean) * (float64(v) - mean) * float64(c) / n
	}
	return mean, variance
}

// Sharpness is the variance of the image in grey under the Laplacian operator
// of four neighbours, with the border mirrored about its last pixels, as OpenCV
// has it. More is sharper.
func (m *Image) Sharpness() float64 {
	g := m.Convert(Grey)
	mirror := func(i, n int) int {
		switch {
		case n == 1:
			return 0
		case i < 0:
			return -i
		case i >= n:
			return 2*n - 2 - i
		}
		return i
	}
	var sum, squares float64
	for y := range g.H {
		up, down := mirror(y-1, g.H)*g.W, mirror(y+1, g.H)*g.W
		for x := range g.W {
			l, r := mirror(x-1, g.W), mirror(x+1, g.W)
			v := float64(g.Pix[up+x]) + float64(g.Pix[down+x]) + float64(g.Pix[y*g.W+l]) + float64(g.Pix[y*g.W+r]) - 4*float64(g.Pix[y*g.W+x])
			sum += v
			squares += v * v
		}
	}
	n := float64(len(g.Pix))
	return squares/n - sum/n*(sum/n)
}

// HSV returns hue, saturation and value, each as a Grey image in which 255 is
// the whole circle or range; as Pillow computes them.
func (m *Image) HSV() (hue, saturation, value *Image) {
	hue, saturation, value = blank(Grey, m.W, m.H), blank(Grey, m.W, m.H), blank(Grey, m.W, m.H)
	for i := range hue.Pix {
		r, g, b, _ := m.at(i)
		hue.Pix[i], saturation.Pix[i], value.Pix[i] = hsv(r, g, b)
	}
	return hue, saturation, value
}

// hsv has single precision where Pillow has it.
func hsv(r, g, b byte) (h, s, v byte) {
	high, low := max(r, g, b), min(r, g, b)
	if high == low {
		return 0, 0, high
	}
	span := float32(high - low)
	sat := span / float32(high)
	rc, gc, bc := float32(high-r)/span, float32(high-g)/span, float32(high-b)/span
	var turn float32 // sixths of the circle
	switch high {
	case r:
		turn = bc - gc
	case g:
		turn = float32(2.0 + float64(rc) - float64(bc))
	default:
		turn = float32(4.0 + float64(gc) - float64(rc))
	}
	turn = float32(math.Mod(float64(turn)/6.0+1.0, 1.0))
	return byte(float64(turn) * 255), byte(float64(sat) * 255), high
}
