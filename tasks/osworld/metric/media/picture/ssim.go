package picture

import "fmt"

// MinSide is the least width and height, in pixels, that [SSIM] can compare: the
// side of its window.
const MinSide = 7

// ErrSmall says that an image is smaller than the window of [SSIM].
var ErrSmall = fmt.Errorf("smaller than %dx%d pixels", MinSide, MinSide)

const (
	window = MinSide
	area   = window * window
	// The constants (0.01*255)² and (0.03*255)².
	c1 = 6.5025
	c2 = 58.5225
)

// SSIM is the mean structural similarity of two images of the same size: 1 if
// they are equal, around 0 if they are unrelated, and at least -1. Two Grey images
// are compared by their one band; of others it is the mean of red, green and blue.
//
// It is structural_similarity of scikit-image with its defaults: a uniform 7x7
// window, sample covariance, the data range of a byte, the border of three pixels
// left out. Sums are of integers, so it is exact but for the last division.
func SSIM(a, b *Image) (float64, error) {
	if a.W != b.W || a.H != b.H {
		return 0, fmt.Errorf("sizes differ: %dx%d and %dx%d", a.W, a.H, b.W, b.H)
	}
	if a.W < window || a.H < window {
		return 0, ErrSmall
	}
	if a.Mode != Grey || b.Mode != Grey {
		a, b = a.Convert(RGB), b.Convert(RGB)
	}
	bands := a.Mode.bands()
	var sum float64
	for band := range bands {
		sum += newSums(a, b, band).mean()
	}
	return sum / float64(bands), nil
}

// sums slides a window over one band of two images.
type sums struct {
	a, b       []byte
	w, h, step int
	band       int
	col        []moments // of window rows, by column
}

// moments are sums of samples, of their squares and of their products.
type moments struct{ x, y, xx, yy, xy int32 }

func newSums(a, b *Image, band int) *sums {
	return &sums{a: a.Pix, b: b.Pix, w: a.W, h: a.H, step: a.Mode.bands(), band: band, col: make([]moments, a.W)}
}

// mean is the mean similarity over all windows.
func (s *sums) mean() float64 {
	var total float64
	for y := range s.h {
		s.row(y, 1)
		if y >= window {
			s.row(y-window, -1)
		}
		if y >= window-1 {
			total += s.windows()
		}
	}
	return total / float64((s.w-window+1)*(s.h-window+1))
}

// row adds a row to the columns, or takes it away.
func (s *sums) row(y int, sign int32) {
	i := y*s.w*s.step + s.band
	for x := range s.col {
		p, q := int32(s.a[i]), int32(s.b[i])
		i += s.step
		c := &s.col[x]
		c.x += sign * p
		c.y += sign * q
		c.xx += sign * p * p
		c.yy += sign * q * q
		c.xy += sign * p * q
	}
}

// windows is the sum of the similarity of all windows in the present rows.
func (s *sums) windows() float64 {
	var total float64
	var m moments
	for x := range s.col {
		m.add(s.col[x], 1)
		if x >= window {
			m.add(s.col[x-window], -1)
		}
		if x >= window-1 {
			total += m.similarity()
		}
	}
	return total
}

func (m *moments) add(o moments, sign int32) {
	m.x += sign * o.x
	m.y += sign * o.y
	m.xx += sign * o.xx
	m.yy += sign * o.yy
	m.xy += sign * o.xy
}

// similarity is that of one window: Wang et al., Image Quality Assessment (2004),
// with the sample covariance.
func (m *moments) similarity() float64 {
	x, y := int64(m.x), int64(m.y)
	const pairs = area * (area - 1)
	varX := float64(area*int64(m.xx)-x*x) / pairs
	varY := float64(area*int64(m.yy)-y*y) / pairs
	cov := float64(area*int64(m.xy)-x*y) / pairs
	ux, uy := float64(x)/area, float64(y)/area
	return (2*ux*uy + c1) * (2*cov + c2) / ((ux*ux + uy*uy + c1) * (varX + varY + c2))
}
