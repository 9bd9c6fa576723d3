package screen

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math/rand/v2"
	"testing"

	"github.com/disintegration/imaging"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// numbered returns a picture whose pixels tell where they are.
func numbered(w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetRGBA(x, y, color.RGBA{byte(x), byte(y), byte(x>>8 | y>>8<<4), 255})
		}
	}
	return m
}

func decode(t *testing.T, m Image) image.Image {
	t.Helper()
	require.Equal(t, "image/png", m.Type)
	picture, err := png.Decode(bytes.NewReader(m.Data))
	require.NoError(t, err)
	require.Equal(t, m.Mapping.Bounds(), picture.Bounds(), "the image has the size that its mapping tells")
	return picture
}

func TestRenderUnscaledIsExact(t *testing.T) {
	frame := numbered(700, 300)
	source := image.Rect(100, 50, 400, 250)
	m, err := render(frame, source, source.Size())
	require.NoError(t, err)
	picture := decode(t, m)
	for _, p := range []image.Point{{}, {299, 199}, {17, 101}} {
		d := m.Mapping.ToDevice(p)
		assert.Equal(t, frame.At(d.X, d.Y), color.RGBAModel.Convert(picture.At(p.X, p.Y)))
	}
}

// A spot of the frame must be in the image where the mapping says.
func TestRenderAgreesWithItsMapping(t *testing.T) {
	for name, tt := range map[string]struct {
		source image.Rectangle
		size   image.Point
	}{
		"smaller":     {image.Rect(0, 0, 640, 360), image.Pt(485, 273)},
		"part":        {image.Rect(320, 0, 640, 360), image.Pt(243, 273)},
		"half":        {image.Rect(0, 0, 640, 360), image.Pt(320, 180)},
		"enlarged":    {image.Rect(300, 200, 500, 350), image.Pt(600, 450)},
		"by a little": {image.Rect(300, 200, 500, 350), image.Pt(211, 158)},
	} {
		t.Run(name, func(t *testing.T) {
			for _, offset := range []image.Point{{30, 40}, {77, 101}, {121, 13}} {
				frame := image.NewRGBA(image.Rect(0, 0, 640, 360))
				for i := range frame.Pix {
					frame.Pix[i] = 255
				}
				spot := tt.source.Min.Add(offset)
				for y := -2; y <= 2; y++ {
					for x := -2; x <= 2; x++ {
						frame.SetRGBA(spot.X+x, spot.Y+y, color.RGBA{A: 255})
					}
				}
				m, err := render(frame, tt.source, tt.size)
				require.NoError(t, err)
				at := darkest(decode(t, m))
				want := m.Mapping.ToImage(spot)
				// The filter spreads the spot's centre over one pixel of either grid.
				slack := 1 + float64(tt.size.X)/float64(tt.source.Dx())*3
				assert.InDelta(t, want.X, at.X, slack)
				assert.InDelta(t, want.Y, at.Y, slack)
			}
		})
	}
}

func darkest(m image.Image) (at image.Point) {
	least := uint32(1 << 31)
	b := m.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if r, _, _, _ := m.At(x, y).RGBA(); r < least {
				least, at = r, image.Pt(x, y)
			}
		}
	}
	return at
}

func TestZoom(t *testing.T) {
	frame := numbered(1920, 1080)
	picture, err := render(frame, frame.Rect, image.Pt(1456, 819))
	require.NoError(t, err)
	o := &Observation{Frame: frame, Image: picture}

	t.Run("covers what was asked for, enlarged", func(t *testing.T) {
		asked := image.Rect(100, 100, 300, 200)
		m, err := o.Zoom(asked, image.Pt(1000, 1000))
		require.NoError(t, err)
		decode(t, m)
		assert.Equal(t, 1000, m.Mapping.Size.X)
		for _, p := range []image.Point{asked.Min, asked.Max.Sub(image.Pt(1, 1)), {200, 150}} {
			assert.True(t, o.Image.Mapping.ToDevice(p).In(m.Mapping.Source), "%v", p)
		}
	})
	t.Run("shows the frame's own pixels", func(t *testing.T) {
		m, err := o.Zoom(image.Rect(0, 0, 182, 182), image.Pt(720, 720))
		require.NoError(t, err)
		require.Equal(t, image.Rect(0, 0, 240, 240), m.Mapping.Source)
		zoomed := decode(t, m)
		for _, d := range []image.Point{{100, 100}, {13, 200}} {
			p := m.Mapping.ToImage(d)
			want, got := frame.RGBAAt(d.X, d.Y), color.RGBAModel.Convert(zoomed.At(p.X, p.Y)).(color.RGBA)
			assert.InDelta(t, want.R, got.R, 1)
			assert.InDelta(t, want.G, got.G, 1)
		}
	})
	t.Run("at most four times", func(t *testing.T) {
		m, err := o.Zoom(image.Rect(10, 10, 11, 11), image.Pt(1000, 1000))
		require.NoError(t, err)
		assert.Equal(t, m.Mapping.Source.Size().Mul(4), m.Mapping.Size)
	})
	t.Run("as large as the image by default", func(t *testing.T) {
		m, err := o.Zoom(picture.Mapping.Bounds(), image.Point{})
		require.NoError(t, err)
		assert.Equal(t, picture.Mapping, m.Mapping)
	})
	t.Run("cut at the edge", func(t *testing.T) {
		m, err := o.Zoom(image.Rect(1400, 800, 2000, 2000), image.Pt(500, 500))
		require.NoError(t, err)
		assert.Equal(t, frame.Rect.Max, m.Mapping.Source.Max)
	})
	t.Run("outside", func(t *testing.T) {
		_, err := o.Zoom(image.Rect(1456, 0, 1500, 100), image.Point{})
		assert.ErrorContains(t, err, "outside the image, which is 1456×819 pixels")
		_, err = o.Zoom(image.Rect(5, 5, 5, 50), image.Point{})
		assert.ErrorContains(t, err, "outside")
	})
	t.Run("no room", func(t *testing.T) {
		_, err := o.Zoom(image.Rect(0, 0, 10, 10), image.Pt(-1, 5))
		assert.ErrorContains(t, err, "cannot be -1×5")
	})
}

// Shrinking is the same as with imaging, but for rounding.
func TestShrink(t *testing.T) {
	noise := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct{ from, to image.Point }{
		{image.Pt(1920, 1080), image.Pt(1456, 819)},
		{image.Pt(640, 480), image.Pt(320, 240)},
		{image.Pt(301, 203), image.Pt(300, 202)},
		{image.Pt(997, 13), image.Pt(131, 2)},
		{image.Pt(50, 60), image.Pt(1, 1)},
		{image.Pt(7, 1), image.Pt(3, 1)},
		{image.Pt(800, 20), image.Pt(100, 20)},
	} {
		whole := image.NewRGBA(image.Rect(-3, -5, tt.from.X+10, tt.from.Y+10))
		for i := range whole.Pix {
			whole.Pix[i] = byte(noise.Uint32() % 3 * 127) // hard edges
		}
		for i := 3; i < len(whole.Pix); i += 4 {
			whole.Pix[i] = 255
		}
		part := whole.SubImage(image.Rectangle{Max: tt.from}).(*image.RGBA)
		got, want := shrink(part, tt.to), resize(part, tt.to, imaging.Linear)
		require.Equal(t, want.Rect, got.Rect)
		worst := 0
		for i := range want.Pix {
			worst = max(worst, int(want.Pix[i])-int(got.Pix[i]), int(got.Pix[i])-int(want.Pix[i]))
		}
		assert.LessOrEqual(t, worst, 3, "%v to %v", tt.from, tt.to)
	}
}

func TestShrinkKeepsPlainColours(t *testing.T) {
	for _, c := range []color.RGBA{{255, 255, 255, 255}, {0, 0, 0, 255}, {1, 128, 254, 255}} {
		m := image.NewRGBA(image.Rect(0, 0, 333, 77))
		draw.Draw(m, m.Rect, image.NewUniform(c), image.Point{}, draw.Src)
		got := shrink(m, image.Pt(250, 31))
		for y := range 31 {
			for x := range 250 {
				require.Equal(t, c, got.RGBAAt(x, y))
			}
		}
	}
}

func TestEncodePNG(t *testing.T) {
	noise := rand.New(rand.NewPCG(3, 4))
	for _, size := range []image.Point{{1, 1}, {3, 2}, {1, 50}, {50, 1}, {333, 222}, {1456, 819}} {
		whole := image.NewRGBA(image.Rect(-2, -2, size.X+3, size.Y+3))
		for i := range whole.Pix {
			whole.Pix[i] = byte(noise.Uint32())
		}
		for i := 3; i < len(whole.Pix); i += 4 {
			whole.Pix[i] = 255
		}
		for _, m := range []*image.RGBA{whole, whole.SubImage(image.Rectangle{Max: size}).(*image.RGBA)} {
			data, err := encodePNG(m)
			require.NoError(t, err)
			got, err := png.Decode(bytes.NewReader(data))
			require.NoError(t, err)
			require.Equal(t, m.Rect.Size(), got.Bounds().Size())
			for y := range m.Rect.Dy() {
				for x := range m.Rect.Dx() {
					p := m.Rect.Min.Add(image.Pt(x, y))
					if m.At(p.X, p.Y) != got.At(x, y) {
						t.Fatalf("%v: pixel %v is %v, not %v", size, p, got.At(x, y), m.At(p.X, p.Y))
					}
				}
			}
		}
	}
}

func BenchmarkShrink(b *testing.B) {
	m := numbered(1920, 1080)
	for b.Loop() {
		shrink(m, image.Pt(1456, 819))
	}
}

func BenchmarkEncode(b *testing.B) {
	m := shrink(numbered(1920, 1080), image.Pt(1456, 819))
	for b.Loop() {
		_, err := encodePNG(m)
		require.NoError(b, err)
	}
}
