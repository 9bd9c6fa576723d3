package picture

import "image"

// fromYCbCr converts an image with luma and chroma to RGB. Chroma of half the
// resolution is interpolated as libjpeg does it (its "fancy upsampling"); the
// standard library repeats it, which a comparison of a JPEG with a lossless copy
// by another program would see.
func fromYCbCr(s *image.YCbCr, rgb func(y, cb, cr int) (r, g, b byte)) *Image {
	w, h := s.Rect.Dx(), s.Rect.Dy()
	m := blank(RGB, w, h)
	cb, cr := newChroma(s, s.Cb), newChroma(s, s.Cr)
	for y := range h {
		cb.line(y)
		cr.line(y)
		for x := range w {
			px := m.Pix[(y*w+x)*3:]
			px[0], px[1], px[2] = rgb(int(s.Y[y*s.YStride+x]), int(cb.out[x]), int(cr.out[x]))
		}
	}
	return m
}

// chroma brings one plane to full resolution, line by line.
type chroma struct {
	pix          []byte
	stride       int
	w, h         int // of the plane
	halfX, halfY bool
	at           func(x, y int) byte // for other ratios
	sum          []int               // of the plane's line, times 4 if halfY
	out          []byte
}

func newChroma(s *image.YCbCr, pix []byte) *chroma {
	w, h := s.Rect.Dx(), s.Rect.Dy()
	c := &chroma{pix: pix, stride: s.CStride, w: w, h: h, out: make([]byte, w+1)}
	switch s.SubsampleRatio {
	case image.YCbCrSubsampleRatio444:
	case image.YCbCrSubsampleRatio422:
		c.halfX = true
	case image.YCbCrSubsampleRatio420:
		c.halfX, c.halfY = true, true
	case image.YCbCrSubsampleRatio440:
		c.halfY = true
	default:
		c.at = func(x, y int) byte { return pix[s.COffset(s.Rect.Min.X+x, s.Rect.Min.Y+y)] }
	}
	if c.halfX {
		c.w = (w + 1) / 2
	}
	if c.halfY {
		c.h = (h + 1) / 2
	}
	c.sum = make([]int, c.w)
	return c
}

// line makes line y of the full image.
func (c *chroma) line(y int) {
	switch {
	case c.at != nil:
		for x := range c.w {
			c.out[x] = c.at(x, y)
		}
		return
	case !c.halfX && !c.halfY:
		copy(c.out, c.pix[y*c.stride:y*c.stride+c.w])
		return
	}
	c.vertical(y)
	if !c.halfX {
		bias := 1 + y&1
		for x, v := range c.sum {
			c.out[x] = byte((v + bias) >> 2)
		}
		return
	}
	c.horizontal()
}

// vertical mixes three parts of the nearest line with one of the next.
func (c *chroma) vertical(y int) {
	if !c.halfY {
		for x := range c.sum {
			c.sum[x] = int(c.pix[y*c.stride+x])
		}
		return
	}
	near := y / 2
	far := near - 1
	if y&1 == 1 {
		far = near + 1
	}
	far = min(max(far, 0), c.h-1)
	for x := range c.sum {
		c.sum[x] = 3*int(c.pix[near*c.stride+x]) + int(c.pix[far*c.stride+x])
	}
}

// horizontal does the same along the line, with libjpeg's alternating rounding.
func (c *chroma) horizontal() {
	shift, even, odd := 2, 1, 2
	if c.halfY {
		shift, even, odd = 4, 8, 7
	}
	for x, v := range c.sum {
		left, right := c.sum[max(x-1, 0)], c.sum[min(x+1, c.w-1)]
		c.out[2*x] = byte((3*v + left + even) >> shift)
		if 2*x+1 < len(c.out) {
			c.out[2*x+1] = byte((3*v + right + odd) >> shift)
		}
	}
}

// jpegRGB is the conversion of JFIF in 16-bit fixed point, as libjpeg has it.
func jpegRGB(y, cb, cr int) (r, g, b byte) {
	cb, cr = cb-128, cr-128
	return clip(y + (91881*cr+32768)>>16),
		clip(y + (-22554*cb-46802*cr+32768)>>16),
		clip(y + (116130*cb+32768)>>16)
}

// webpRGB is the conversion of WebP, whose luma goes from 16 to 235.
func webpRGB(y, cb, cr int) (r, g, b byte) {
	hi := func(v, c int) int { return v * c >> 8 }
	luma := hi(y, 19077)
	return clip((luma + hi(cr, 26149) - 14234) >> 6),
		clip((luma - hi(cb, 6419) - hi(cr, 13320) + 8708) >> 6),
		clip((luma + hi(cb, 33050) - 17685) >> 6)
}

func clip(v int) byte { return byte(min(max(v, 0), 255)) }

// withAlpha adds the alpha plane of a WebP image.
func withAlpha(m *Image, s *image.NYCbCrA) *Image {
	out := blank(RGBA, m.W, m.H)
	for i := range m.W * m.H {
		copy(out.Pix[4*i:4*i+3], m.Pix[3*i:])
		out.Pix[4*i+3] = s.A[(i/m.W)*s.AStride+i%m.W]
	}
	return out
}
