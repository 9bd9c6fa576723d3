package picture_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/tasks/osworld/metric/media/picture"
)

// golden is testdata/golden.json; golden.py beside it makes it.
type golden struct {
	SSIM []struct {
		Mode        picture.Mode
		W, H, Shade int
		Want        float64
	}
	Mirror float64 `json:"ssim_mirror"`
	Resize []struct {
		Mode   picture.Mode
		W, H   int
		Filter string
		CRC    uint32
	}
	Cube struct {
		Grey uint32
		HSV  []uint32
	}
	PHash []struct{ Name, Want string }
	Stat  []struct {
		Mode                 picture.Mode
		Mean, Std, Sharpness float64
	}
	Files []struct {
		Name         string
		Mode         picture.Mode
		W, H         int
		Transparent  bool
		L, RGB, RGBA uint32
	}
	Lossy []struct{ Name, RGB string }
}

func readGolden(t *testing.T) (g golden) {
	t.Helper()
	data, err := os.ReadFile("testdata/golden.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &g))
	return g
}

// sample is the function of the same name in golden.py.
func sample(x, y, b int) int {
	noise := (((x*73856093)^(y*19349663)^(b*83492791))*1103515245 + 12345) >> 16
	return (((x*3+y*2+b*50)&255)*3 + (noise & 255)) / 4
}

func pic(mode picture.Mode, w, h, shade int) *picture.Image {
	m := &picture.Image{Mode: mode, W: w, H: h}
	bands := map[picture.Mode]int{picture.GreyAlpha: 2, picture.RGB: 3, picture.RGBA: 4}[mode]
	for y := range h {
		for x := range w {
			for b := range max(bands, 1) {
				m.Pix = append(m.Pix, byte(sample(x, y, b)*shade/256))
			}
		}
	}
	if mode == picture.Indexed {
		for i := range 256 {
			m.Palette = append(m.Palette, [4]byte{byte(sample(i, 7, 0)), byte(sample(i, 7, 1)), byte(sample(i, 7, 2)), 255})
		}
	}
	return m
}

func TestSSIM(t *testing.T) {
	g := readGolden(t)
	require.NotEmpty(t, g.SSIM)
	for _, tt := range g.SSIM {
		got, err := picture.SSIM(pic(tt.Mode, tt.W, tt.H, 256), pic(tt.Mode, tt.W, tt.H, tt.Shade))
		require.NoError(t, err)
		assert.InDelta(t, tt.Want, got, 1e-10, "%+v", tt)
	}
	a := pic(picture.Grey, 40, 30, 256)
	got, err := picture.SSIM(a, a.Flip())
	require.NoError(t, err)
	assert.InDelta(t, g.Mirror, got, 1e-10)

	_, err = picture.SSIM(a, pic(picture.Grey, 30, 40, 256))
	assert.ErrorContains(t, err, "sizes differ: 40x30 and 30x40")
	small := pic(picture.RGB, 6, 40, 256)
	_, err = picture.SSIM(small, small)
	assert.ErrorIs(t, err, picture.ErrSmall)
}

func TestResize(t *testing.T) {
	g := readGolden(t)
	require.NotEmpty(t, g.Resize)
	for _, tt := range g.Resize {
		filter := picture.Bicubic
		if tt.Filter == "lanczos" {
			filter = picture.Lanczos
		}
		got := pic(tt.Mode, 40, 30, 256).Resize(tt.W, tt.H, filter)
		assert.Equal(t, tt.CRC, crc32.ChecksumIEEE(got.Pix), "%+v", tt)
		assert.Equal(t, []int{tt.W, tt.H}, []int{got.W, got.H})
	}
}

func TestColours(t *testing.T) {
	g := readGolden(t)
	cube := &picture.Image{Mode: picture.RGB, W: 512, H: 512}
	for i := range 64 * 64 * 64 {
		cube.Pix = append(cube.Pix, byte(i%64*4+3), byte(i/64%64*4+1), byte(i/4096*4))
	}
	assert.Equal(t, g.Cube.Grey, crc32.ChecksumIEEE(cube.Convert(picture.Grey).Pix))
	h, s, v := cube.HSV()
	require.Len(t, g.Cube.HSV, 3)
	for i, m := range []*picture.Image{h, s, v} {
		assert.Equal(t, g.Cube.HSV[i], crc32.ChecksumIEEE(m.Pix), "band %d", i)
	}
}

func TestStat(t *testing.T) {
	for _, tt := range readGolden(t).Stat {
		m := pic(tt.Mode, 40, 30, 256)
		assert.InDelta(t, tt.Mean, m.Mean(), 1e-9, tt.Mode)
		assert.InDelta(t, tt.Std, m.Deviation(), 1e-9, tt.Mode)
		assert.InEpsilon(t, tt.Sharpness, m.Sharpness(), 1e-9, tt.Mode)
	}
	assert.Zero(t, pic(picture.Grey, 1, 1, 256).Sharpness())
}

func TestPHash(t *testing.T) {
	flat := &picture.Image{Mode: picture.Grey, W: 50, H: 40, Pix: make([]byte, 2000)}
	for i := range flat.Pix {
		flat.Pix[i] = 17
	}
	across := &picture.Image{Mode: picture.Grey, W: 64, H: 64}
	down := &picture.Image{Mode: picture.Grey, W: 64, H: 64}
	for i := range 64 * 64 {
		across.Pix = append(across.Pix, byte(i%64*3))
		down.Pix = append(down.Pix, byte(i/64*3))
	}
	images := map[string]*picture.Image{
		"flat": flat, "across": across, "down": down,
		"L": pic(picture.Grey, 100, 80, 256), "darker": pic(picture.Grey, 100, 80, 160),
		"RGB": pic(picture.RGB, 61, 97, 256), "P": pic(picture.Indexed, 80, 60, 256),
	}
	g := readGolden(t)
	require.Len(t, g.PHash, len(images))
	for _, tt := range g.PHash {
		assert.Equal(t, tt.Want, fmt.Sprintf("%016x", picture.PHash(images[tt.Name])), tt.Name)
	}
	a, b := picture.PHash(images["L"]), picture.PHash(images["darker"])
	assert.LessOrEqual(t, picture.HashDistance(a, b), 5, "darker only")
	assert.Greater(t, picture.HashDistance(a, picture.PHash(images["RGB"])), 5)
}

func TestOpen(t *testing.T) {
	g := readGolden(t)
	require.NotEmpty(t, g.Files)
	for _, tt := range g.Files {
		t.Run(tt.Name, func(t *testing.T) {
			m, err := picture.Open(filepath.Join("testdata", tt.Name))
			require.NoError(t, err)
			assert.Equal(t, tt.Mode, m.Mode)
			assert.Equal(t, []int{tt.W, tt.H}, []int{m.W, m.H})
			assert.Equal(t, tt.Transparent, m.Transparent(), "transparent")
			assert.Equal(t, tt.L, crc32.ChecksumIEEE(m.Convert(picture.Grey).Pix), "L")
			assert.Equal(t, tt.RGB, crc32.ChecksumIEEE(m.Convert(picture.RGB).Pix), "RGB")
			assert.Equal(t, tt.RGBA, crc32.ChecksumIEEE(m.Convert(picture.RGBA).Pix), "RGBA")
		})
	}
}

// Decoders of lossy formats may differ in the last place; what must not differ
// is how chroma is brought to full resolution.
func TestOpenLossy(t *testing.T) {
	g := readGolden(t)
	require.NotEmpty(t, g.Lossy)
	for _, tt := range g.Lossy {
		t.Run(tt.Name, func(t *testing.T) {
			m, err := picture.Open(filepath.Join("testdata", tt.Name))
			require.NoError(t, err)
			want, err := hex.DecodeString(tt.RGB)
			require.NoError(t, err)
			got := m.Convert(picture.RGB).Pix
			require.Len(t, got, len(want))
			worst, sum := 0, 0
			for i := range got {
				d := max(int(got[i])-int(want[i]), int(want[i])-int(got[i]))
				worst, sum = max(worst, d), sum+d
			}
			assert.LessOrEqual(t, worst, 4)
			assert.Less(t, float64(sum)/float64(len(got)), 0.5)
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	png, err := os.ReadFile("testdata/rgb.png")
	require.NoError(t, err)
	huge := append([]byte(nil), png...)
	copy(huge[16:24], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65536 by 65536
	crc := crc32.ChecksumIEEE(huge[12:29])
	copy(huge[29:33], []byte{byte(crc >> 24), byte(crc >> 16), byte(crc >> 8), byte(crc)})
	for _, tt := range []struct {
		name, want string
		data       []byte
	}{
		{"nothing", "not a PNG", nil},
		{"text", "not a PNG", []byte("hello")},
		{"xcf", "only GIMP reads", []byte("gimp xcf v011")},
		{"cut", "png image", png[:200]},
		{"header only", "png image", png[:20]},
		{"huge", "over 100 million pixels", huge},
	} {
		_, err := picture.Decode(tt.data)
		assert.ErrorContains(t, err, tt.want, tt.name)
	}
	_, err = picture.Open("testdata/missing.png")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// No damage makes the decoder panic, and what it returns is whole.
func TestDecodeDamaged(t *testing.T) {
	files, err := filepath.Glob("testdata/*.*")
	require.NoError(t, err)
	read := 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		for i := 0; i < len(data) && i < 400; i += 3 {
			bad := append([]byte(nil), data...)
			bad[i] ^= 0xff
			m, err := picture.Decode(bad)
			if err != nil {
				continue
			}
			read++
			assert.Len(t, m.Convert(picture.RGBA).Pix, m.W*m.H*4)
		}
	}
	assert.Positive(t, read, "some damage does not matter")
}

func TestOpaque(t *testing.T) {
	m := &picture.Image{Mode: picture.RGBA, W: 10, H: 8, Pix: make([]byte, 320)}
	assert.Equal(t, picture.Box{}, m.Opaque())
	for _, p := range [][2]int{{3, 2}, {6, 5}} {
		m.Pix[(p[1]*10+p[0])*4+3] = 9
	}
	box := m.Opaque()
	assert.Equal(t, picture.Box{X0: 3, Y0: 2, X1: 7, Y1: 6}, box)
	c := m.Crop(box)
	assert.Equal(t, []int{4, 4}, []int{c.W, c.H})
	assert.Equal(t, byte(9), c.Pix[3])
	assert.Equal(t, byte(9), c.Pix[len(c.Pix)-1])
}
