package picture

import "math"

// A Filter is a way to resize.
type Filter int

// The filters of [Image.Resize].
const (
	Bicubic Filter = iota // with a = -0.5; Pillow's default
	Lanczos               // of three lobes
	nearest
)

// support is the radius of a filter in pixels, at a scale of one.
func (f Filter) support() float64 {
	if f == Lanczos {
		return 3
	}
	return 2
}

func (f Filter) weight(x float64) float64 {
	x = math.Abs(x)
	if f == Lanczos {
		if x >= 3 {
			return 0
		}
		return sinc(x) * sinc(x/3)
	}
	const a = -0.5
	switch {
	case x < 1:
		return ((a+2)*x-(a+3))*x*x + 1
	case x < 2:
		return (((x-5)*x+8)*x - 4) * a
	}
	return 0
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	x *= math.Pi
	return math.Sin(x) / x
}

// Resize returns the image in another size, as Pillow's resize makes it:
// horizontally, then vertically, with weights of 22 bits and samples rounded to
// bytes between. Indexed and Bilevel images take the nearest pixel; where there
// is an alpha band, colours are weighted by it. A transparent colour is lost, but
// for Indexed images. The size must be positive.
func (m *Image) Resize(w, h int, f Filter) *Image {
	if w == m.W && h == m.H {
		return m
	}
	switch m.Mode {
	case Indexed, Bilevel:
		return m.nearest(w, h)
	case RGBA, GreyAlpha:
		return m.premultiplied().resample(w, h, f).straight()
	}
	return m.resample(w, h, f)
}

func (m *Image) resample(w, h int, f Filter) *Image {
	n := m.Mode.bands()
	out := m
	if w != m.W {
		src := out
		out = blank(m.Mode, w, m.H)
		list := taps(m.W, w, f)
		for y := range m.H {
			for x, t := range list {
				t.apply(out.Pix[(y*w+x)*n:], src.Pix[(y*m.W+t.first)*n:], n, n)
			}
		}
	}
	if h != m.H {
		src := out
		out = blank(m.Mode, w, h)
		for y, t := range taps(m.H, h, f) {
			for x := range w {
				t.apply(out.Pix[(y*w+x)*n:], src.Pix[(t.first*w+x)*n:], n, w*n)
			}
		}
	}
	return out
}

const precision = 32 - 8 - 2 // bits of a weight behind the point

// A tap is what makes one output sample: weights for the inputs from first on.
type tap struct {
	first   int
	weights []int32
}

// apply makes one pixel of n bands from pixels that lie step bytes apart.
func (t *tap) apply(dst, src []byte, n, step int) {
	for band := range n {
		sum := int32(1) << (precision - 1)
		at := band
		for _, w := range t.weights {
			sum += int32(src[at]) * w
			at += step
		}
		dst[band] = byte(min(max(sum>>precision, 0), 255))
	}
}

// taps are those of a line that is resized.
func taps(from, to int, f Filter) []tap {
	scale := float64(from) / float64(to)
	stretch := max(scale, 1)
	support := f.support() * stretch
	list := make([]tap, to)
	for i := range list {
		centre := (float64(i) + 0.5) * scale
		first := max(int(centre-support+0.5), 0)
		last := min(int(centre+support+0.5), from)
		weights := make([]float64, last-first)
		var sum float64
		for j := range weights {
			weights[j] = f.weight((float64(j+first) - centre + 0.5) * (1 / stretch))
			sum += weights[j]
		}
		list[i] = tap{first, make([]int32, len(weights))}
		for j, w := range weights {
			if sum != 0 {
				w /= sum
			}
			list[i].weights[j] = int32(math.Copysign(0.5, w) + w*(1<<precision)) // towards zero
		}
	}
	return list
}

func (m *Image) nearest(w, h int) *Image {
	out := *m
	out.W, out.H = w, h
	out.Pix = make([]byte, w*h)
	out.Key = nil
	cols, rows := steps(m.W, w), steps(m.H, h)
	for y := range h {
		for x := range w {
			out.Pix[y*w+x] = m.Pix[rows[y]*m.W+cols[x]]
		}
	}
	return &out
}

// steps are the nearest inputs of a line that is resized. Pillow adds up its
// steps, which decides between neighbours that are equally near.
func steps(from, to int) []int {
	list := make([]int, to)
	step := float64(from) / float64(to)
	at := step * 0.5
	for i := range list {
		list[i] = min(int(at), from-1)
		at += step
	}
	return list
}

// premultiplied returns an image whose colours are multiplied by alpha.
func (m *Image) premultiplied() *Image {
	n := m.Mode.bands()
	out := blank(m.Mode, m.W, m.H)
	for i := 0; i < len(m.Pix); i += n {
		a := m.Pix[i+n-1]
		for j := range n - 1 {
			out.Pix[i+j] = mulDiv255(m.Pix[i+j], a)
		}
		out.Pix[i+n-1] = a
	}
	return out
}

// straight undoes premultiplied, in place: the image is not shared yet.
func (m *Image) straight() *Image {
	n := m.Mode.bands()
	for i := 0; i < len(m.Pix); i += n {
		a := int(m.Pix[i+n-1])
		if a == 0 || a == 255 {
			continue
		}
		for j := range n - 1 {
			m.Pix[i+j] = byte(min(255*int(m.Pix[i+j])/a, 255))
		}
	}
	return m
}
