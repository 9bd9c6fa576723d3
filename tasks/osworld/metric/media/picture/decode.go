package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif"  // register the format
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"io"
	"os"

	_ "golang.org/x/image/bmp"  // likewise
	_ "golang.org/x/image/tiff" // likewise
	_ "golang.org/x/image/webp" // likewise
)

const (
	// MaxPixels is the largest image that is read, in pixels.
	MaxPixels = 100_000_000
	// maxBytes is the largest image file that is read, in bytes.
	maxBytes = 256 << 20
)

// Errors of [Open] and [Decode], besides those of the file system. Anything else
// that is wrong with a file is an error that begins with the name of its format.
var (
	ErrFormat = errors.New("not a PNG, JPEG, GIF, BMP, TIFF or WebP image")
	ErrXCF    = errors.New("a project of GIMP (XCF), which only GIMP reads: compare an exported image instead")
	ErrHuge   = fmt.Errorf("over %d million pixels or %d MB", MaxPixels/1_000_000, maxBytes>>20)
)

// Open reads an image file.
func Open(path string) (*Image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.Size() > maxBytes {
		return nil, ErrHuge // before it is in memory
	}
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, err
	}
	return Decode(data)
}

// Decode reads an image from the bytes of a file. Data of more than [MaxPixels]
// or maxBytes is refused before its pixels are read.
func Decode(data []byte) (m *Image, err error) {
	defer func() {
		if r := recover(); r != nil {
			m, err = nil, fmt.Errorf("damaged image: %v", r)
		}
	}()
	if len(data) > maxBytes {
		return nil, ErrHuge
	}
	if bytes.HasPrefix(data, []byte("gimp xcf")) {
		return nil, ErrXCF
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case errors.Is(err, image.ErrFormat):
		return nil, ErrFormat
	case err != nil:
		return nil, fmt.Errorf("%s image: %w", format, err)
	case config.Width <= 0 || config.Height <= 0:
		return nil, fmt.Errorf("%s image: no pixels", format)
	case config.Width > MaxPixels/config.Height:
		return nil, ErrHuge
	}
	src, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s image: %w", format, err)
	}
	m = convert(src, format, data)
	if format == "gif" && (m.W != config.Width || m.H != config.Height) {
		m = m.onScreen(config.Width, config.Height, src.Bounds().Min)
	}
	return m, nil
}

// convert takes over a decoded image in the mode that Pillow would give it.
func convert(src image.Image, format string, data []byte) *Image {
	switch s := src.(type) {
	case *image.Paletted:
		return fromPaletted(s, format, data)
	case *image.Gray, *image.Gray16:
		m := fromColors(src, Grey)
		if format == "png" && len(data) > 24 && data[24] == 1 {
			m.Mode = Bilevel
		}
		return m
	case *image.YCbCr:
		if format == "webp" {
			return fromYCbCr(s, webpRGB)
		}
		return fromYCbCr(s, jpegRGB)
	case *image.NYCbCrA:
		return withAlpha(fromYCbCr(&s.YCbCr, webpRGB), s)
	case *image.CMYK:
		m := blank(CMYK, s.Rect.Dx(), s.Rect.Dy())
		for y := range m.H {
			copy(m.Pix[y*m.W*4:(y+1)*m.W*4], s.Pix[y*s.Stride:])
		}
		return m
	}
	m := fromColors(src, RGBA)
	if format == "png" && len(data) > 25 {
		return m.as(data[25])
	}
	if o, ok := src.(interface{ Opaque() bool }); ok && o.Opaque() {
		return m.Convert(RGB)
	}
	return m
}

// as brings an RGBA image into the mode of a colour type of PNG.
func (m *Image) as(colourType byte) *Image {
	var mode Mode
	switch colourType {
	case 0:
		mode = Grey
	case 2:
		mode = RGB
	case 4:
		mode = GreyAlpha
	default:
		return m
	}
	out := blank(mode, m.W, m.H)
	n, clear := mode.bands(), false
	key := make([]byte, m.W*m.H)
	for i := range key {
		r, g, b, a := m.at(i)
		px := out.Pix[i*n : (i+1)*n]
		switch mode {
		case RGB:
			px[0], px[1], px[2] = r, g, b
		case GreyAlpha:
			px[0], px[1] = r, a
		default:
			px[0] = r
		}
		key[i] = a
		clear = clear || a != 255
	}
	if clear && mode != GreyAlpha {
		out.Key = key
	}
	return out
}

// fromColors reads any image by its colours, in Grey or RGBA.
func fromColors(src image.Image, mode Mode) *Image {
	b := src.Bounds()
	m := blank(mode, b.Dx(), b.Dy())
	i := 0
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			switch s := src.(type) {
			case *image.Gray:
				m.Pix[i] = s.GrayAt(x, y).Y
			case *image.Gray16:
				m.Pix[i] = byte(s.Gray16At(x, y).Y >> 8)
			default:
				c := straight(src, x, y)
				m.Pix[i], m.Pix[i+1], m.Pix[i+2], m.Pix[i+3] = c.R, c.G, c.B, c.A
			}
			i += mode.bands()
		}
	}
	return m
}

// straight is a colour without alpha multiplied in. The common types are read as
// they are, as a conversion by way of 16 bits would change transparent colours.
func straight(src image.Image, x, y int) color.NRGBA {
	switch s := src.(type) {
	case *image.NRGBA:
		return s.NRGBAAt(x, y)
	case *image.NRGBA64:
		c := s.NRGBA64At(x, y)
		return color.NRGBA{R: byte(c.R >> 8), G: byte(c.G >> 8), B: byte(c.B >> 8), A: byte(c.A >> 8)}
	case *image.RGBA:
		if c := s.RGBAAt(x, y); c.A == 255 {
			return color.NRGBA(c)
		}
	}
	c, ok := color.NRGBAModel.Convert(src.At(x, y)).(color.NRGBA)
	if !ok {
		return color.NRGBA{}
	}
	return c
}

func fromPaletted(s *image.Paletted, format string, data []byte) *Image {
	m := blank(Indexed, s.Rect.Dx(), s.Rect.Dy())
	for y := range m.H {
		copy(m.Pix[y*m.W:(y+1)*m.W], s.Pix[y*s.Stride:])
	}
	m.Palette = make([][4]byte, 256)
	grey := format == "bmp" || format == "gif"
	var table []byte
	if format == "gif" {
		table = gifColours(data)
	}
	for i := range m.Palette {
		if i >= len(s.Palette) {
			m.Palette[i] = [4]byte{0, 0, 0, 255}
			continue
		}
		c, ok := color.NRGBAModel.Convert(s.Palette[i]).(color.NRGBA)
		if n, same := s.Palette[i].(color.NRGBA); same {
			c, ok = n, true // keeps the colour under full transparency
		}
		if !ok {
			c = color.NRGBA{}
		}
		m.Palette[i] = [4]byte{c.R, c.G, c.B, c.A}
		if c.A == 0 && 3*i+2 < len(table) {
			copy(m.Palette[i][:3], table[3*i:])
		}
		grey = grey && m.Palette[i] == [4]byte{byte(i), byte(i), byte(i), 255}
	}
	if grey && len(s.Palette) == 256 {
		m.Mode, m.Palette = Grey, nil // a palette that says nothing
	}
	if format == "bmp" && len(data) > 30 && binary.LittleEndian.Uint16(data[28:]) == 1 && m.plain() {
		m = m.Convert(Grey)
		m.Mode = Bilevel
	}
	return m
}

// plain reports whether a palette begins with black and white.
func (m *Image) plain() bool {
	return m.Mode == Indexed && m.Palette[0] == [4]byte{0, 0, 0, 255} && m.Palette[1] == [4]byte{255, 255, 255, 255}
}

// onScreen puts the first frame of a GIF onto its screen.
func (m *Image) onScreen(w, h int, at image.Point) *Image {
	out := *m
	out.W, out.H = w, h
	out.Pix = make([]byte, w*h)
	for y := max(0, -at.Y); y < m.H && at.Y+y < h; y++ {
		for x := max(0, -at.X); x < m.W && at.X+x < w; x++ {
			out.Pix[(at.Y+y)*w+at.X+x] = m.Pix[y*m.W+x]
		}
	}
	return &out
}
