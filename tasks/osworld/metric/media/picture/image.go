package picture

// A Mode says what the samples of an [Image] mean. The names are Pillow's.
type Mode string

// The modes that files are read into. A file with 16 bits per sample is read
// with the upper eight.
const (
	Bilevel   Mode = "1"    // 0 or 255
	Grey      Mode = "L"    // one band
	GreyAlpha Mode = "LA"   // grey, alpha
	Indexed   Mode = "P"    // an index into the palette
	RGB       Mode = "RGB"  // three bands
	RGBA      Mode = "RGBA" // alpha is not multiplied in
	CMYK      Mode = "CMYK" // 255 is full ink
)

// bands is the number of samples per pixel.
func (m Mode) bands() int {
	switch m {
	case GreyAlpha:
		return 2
	case RGB:
		return 3
	case RGBA, CMYK:
		return 4
	}
	return 1
}

// An Image is a raster of 8-bit samples. It is not changed once it is made.
type Image struct {
	Mode    Mode
	W, H    int
	Pix     []byte    // W*H pixels by rows, their bands together
	Palette [][4]byte // of an Indexed image: red, green, blue, alpha; 256 entries
	Key     []byte    // alpha by pixel, of an image without an alpha band that names a transparent colour; else nil
}

func blank(mode Mode, w, h int) *Image {
	return &Image{Mode: mode, W: w, H: h, Pix: make([]byte, w*h*mode.bands())}
}

// Transparent reports whether the file can have transparent pixels: by an alpha
// band, or by a transparent colour.
func (m *Image) Transparent() bool {
	switch m.Mode {
	case RGBA, GreyAlpha:
		return true
	case Indexed:
		for _, c := range m.Palette {
			if c[3] != 255 {
				return true
			}
		}
	}
	return m.Key != nil
}

// Convert returns the image as Grey, RGB or RGBA, by the rules of Pillow's
// convert: alpha is dropped, not blended, and grey is the luma of ITU-R 601-2 in
// 16-bit fixed point. Any other mode returns an RGB image.
func (m *Image) Convert(to Mode) *Image {
	if to != Grey && to != RGBA {
		to = RGB
	}
	if m.Mode == to && m.Key == nil {
		return m
	}
	out := blank(to, m.W, m.H)
	n := to.bands()
	for i := range m.W * m.H {
		r, g, b, a := m.at(i)
		switch to {
		case Grey:
			out.Pix[i] = m.luma(i, r, g, b)
		default:
			px := out.Pix[i*n:]
			px[0], px[1], px[2] = r, g, b
			if to == RGBA {
				px[3] = a
			}
		}
	}
	return out
}

// at returns a pixel by its place in the raster.
func (m *Image) at(i int) (r, g, b, a byte) {
	a = 255
	if m.Key != nil {
		a = m.Key[i]
	}
	switch m.Mode {
	case Indexed:
		c := m.Palette[m.Pix[i]]
		return c[0], c[1], c[2], c[3]
	case GreyAlpha:
		v := m.Pix[2*i]
		return v, v, v, m.Pix[2*i+1]
	case RGB:
		px := m.Pix[3*i : 3*i+3]
		return px[0], px[1], px[2], a
	case RGBA:
		px := m.Pix[4*i : 4*i+4]
		return px[0], px[1], px[2], px[3]
	case CMYK:
		px := m.Pix[4*i : 4*i+4]
		paper := 255 - px[3]
		return paper - mulDiv255(px[0], paper), paper - mulDiv255(px[1], paper), paper - mulDiv255(px[2], paper), a
	}
	v := m.Pix[i]
	return v, v, v, a
}

func (m *Image) luma(i int, r, g, b byte) byte {
	switch m.Mode {
	case Grey, Bilevel:
		return m.Pix[i]
	case GreyAlpha:
		return m.Pix[2*i]
	}
	return byte((uint32(r)*19595 + uint32(g)*38470 + uint32(b)*7471 + 0x8000) >> 16)
}

// Flip returns the image mirrored left to right.
func (m *Image) Flip() *Image {
	out := *m
	n := m.Mode.bands()
	out.Pix = make([]byte, len(m.Pix))
	if m.Key != nil {
		out.Key = make([]byte, len(m.Key))
	}
	for y := range m.H {
		for x := range m.W {
			from, to := y*m.W+x, y*m.W+m.W-1-x
			copy(out.Pix[to*n:(to+1)*n], m.Pix[from*n:])
			if m.Key != nil {
				out.Key[to] = m.Key[from]
			}
		}
	}
	return &out
}

// A Box is the part of an image from X0, Y0 to before X1, Y1.
type Box struct{ X0, Y0, X1, Y1 int }

// Opaque returns the smallest box with all pixels in it that are not fully
// transparent; it is empty if there are none.
func (m *Image) Opaque() Box {
	box := Box{X0: m.W, Y0: m.H}
	for y := range m.H {
		for x := range m.W {
			if _, _, _, a := m.at(y*m.W + x); a != 0 {
				box.X0, box.X1 = min(box.X0, x), max(box.X1, x+1)
				box.Y0, box.Y1 = min(box.Y0, y), max(box.Y1, y+1)
			}
		}
	}
	if box.X1 == 0 {
		return Box{}
	}
	return box
}

// Crop returns a part of the image, which must lie in it, as RGBA.
func (m *Image) Crop(b Box) *Image {
	src := m.Convert(RGBA)
	out := blank(RGBA, b.X1-b.X0, b.Y1-b.Y0)
	for y := range out.H {
		from := ((b.Y0+y)*m.W + b.X0) * 4
		copy(out.Pix[y*out.W*4:(y+1)*out.W*4], src.Pix[from:])
	}
	return out
}

// mulDiv255 is a*b/255, rounded, as Pillow has it.
func mulDiv255(a, b byte) byte {
	t := uint32(a)*uint32(b) + 128
	return byte((t>>8 + t) >> 8)
}
