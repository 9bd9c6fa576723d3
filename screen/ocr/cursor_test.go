//go:build linux

package ocr_test

import (
	"fmt"
	"image"
	"image/draw"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"desktop-agent/internal/x11"
	"desktop-agent/internal/x11/x11test"
	"desktop-agent/screen"
	"desktop-agent/screen/ocr"
)

// A canvas is a white picture for rows of text in DejaVu Sans, whose I, l and | are plain bars.
type canvas struct {
	*image.RGBA
	tb   testing.TB
	font *opentype.Font
	face font.Face
	base int // of the row
}

func newCanvas(tb testing.TB) *canvas {
	tb.Helper()
	data, err := os.ReadFile("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
	require.NoError(tb, err, "apt-get install fonts-dejavu-core")
	s := &canvas{RGBA: image.NewRGBA(image.Rect(0, 0, 600, 500)), tb: tb}
	s.font, err = opentype.Parse(data)
	require.NoError(tb, err)
	draw.Draw(s, s.Rect, image.White, image.Point{}, draw.Src)
	return s
}

// row begins a row below the last one, with letters of a size.
func (s *canvas) row(pixels float64) {
	s.tb.Helper()
	var err error
	s.face, err = opentype.NewFace(s.font, &opentype.FaceOptions{Size: pixels, DPI: 72})
	require.NoError(s.tb, err)
	s.base += int(1.6 * pixels)
}

// write writes a text that begins at x, and returns where it ends.
func (s *canvas) write(text string, x int) (end int) {
	d := font.Drawer{Dst: s, Src: image.Black, Face: s.face, Dot: fixed.P(x, s.base)}
	d.DrawString(text)
	return d.Dot.X.Round()
}

// crisp makes what is written black or white, as without smooth edges.
func (s *canvas) crisp() {
	for i, v := range s.Pix {
		s.Pix[i] = 0xff * (v >> 7)
	}
}

// cursor draws a text cursor of a width at x, as tall as the line.
func (s *canvas) cursor(x, width int) {
	m := s.face.Metrics()
	draw.Draw(s, image.Rect(x, s.base-m.Ascent.Ceil(), x+width, s.base+m.Descent.Ceil()), image.Black, image.Point{}, draw.Src)
}

func lines(tb testing.TB, r *ocr.Reader, m *image.RGBA) []screen.OCRLine {
	tb.Helper()
	list, err := r.Lines(limit(tb), m, []image.Rectangle{m.Rect})
	require.NoError(tb, err)
	return list
}

// TestStemIsNoCursor holds that a line is read again when a letter that is but a bar comes or
// goes, beside text that stays.
func TestStemIsNoCursor(t *testing.T) {
	rows := []struct{ short, long, beside string }{
		{"Part I", "Part II", "Done"},
		{"Al", "All", "of the crew"},
		{"see", "seel", "no one"}, // taller than all of its row
		{"big map I", "big map II", "page"},
		{"find", "find |", "Done"}, // down to below the baseline
		{"map", "map |", "page 4"},
	}
	for name, pixels := range map[string]float64{"smooth": 15, "crisp": 20} {
		t.Run(name, func(t *testing.T) {
			short, long := newCanvas(t), newCanvas(t)
			for _, row := range rows {
				for s, text := range map[*canvas]string{short: row.short, long: row.long} {
					s.row(pixels)
					s.write(text, 20)
					s.write(row.beside, 200)
				}
				at := image.Rect(0, short.base-int(pixels), 600, short.base+int(pixels)/2)
				box := screen.DiffBox(short.SubImage(at).(*image.RGBA), long.SubImage(at).(*image.RGBA))
				require.True(t, !box.Empty() && box.Dx() <= screen.CaretWidth && box.Dy() >= 2*box.Dx(), "%s: %v is as narrow as a text cursor", row.long, box)
			}
			if name == "crisp" {
				short.crisp()
				long.crisp()
			}
			comes, goes := open(t, unhurried), open(t, unhurried)
			wantShort, wantLong := lines(t, comes, short.RGBA), lines(t, goes, long.RGBA)
			require.Len(t, wantShort, 2*len(rows))
			require.Len(t, wantLong, 2*len(rows))
			for i := range rows {
				require.NotEqual(t, wantShort[2*i], wantLong[2*i])
			}
			assert.Equal(t, wantLong, lines(t, comes, long.RGBA))
			assert.Equal(t, wantShort, lines(t, goes, short.RGBA))
		})
	}
}

// TestTextCursor holds that a line is not read again when a text cursor comes, goes and moves in
// it, and what is read of one that was there from the beginning is read again without it.
func TestTextCursor(t *testing.T) {
	picture := func(cursor int) *image.RGBA {
		s := newCanvas(t)
		for _, pixels := range []float64{11, 13, 16, 24, 40} {
			for _, text := range []string{"Part I of All", "Dear people"} {
				s.row(pixels)
				places := []int{20, s.write(text[:6], 20), s.write(text, 20) + 1}
				s.write("Done", 400)
				if cursor >= 0 {
					s.cursor(places[cursor], 1+cursor%2)
				}
			}
		}
		return s.RGBA
	}
	r := open(t, unhurried)
	want := lines(t, r, picture(-1))
	n := r.Started()
	for _, cursor := range []int{0, -1, 0, 1, -1, 2, 1, -1} {
		assert.Equal(t, want, lines(t, r, picture(cursor)), "cursor %d", cursor)
	}
	assert.Equal(t, n, r.Started())

	r = open(t, unhurried)
	lines(t, r, picture(2))
	assert.Equal(t, want, lines(t, r, picture(-1)))
	n = r.Started()
	for _, cursor := range []int{2, -1, 1, 2} {
		assert.Equal(t, want, lines(t, r, picture(cursor)), "cursor %d", cursor)
	}
	assert.Equal(t, n, r.Started())
}

// TestBlinking holds that a text cursor that blinks as programs draw it has nothing read again.
func TestBlinking(t *testing.T) {
	const text = "Dear gentle people, jumping\nI am now on the deck, page 4\n"
	for _, program := range []string{"xterm", "mousepad"} {
		t.Run(program, func(t *testing.T) {
			d := newDesk(t, image.Pt(900, 500))
			d.write("letter.txt", text)
			if program == "xterm" {
				d.open("xterm", "-e", `cat letter.txt; printf '\033[5 q\033[A\033[10C'; sleep 1000`) // a bar that blinks
			} else {
				d.open("mousepad", "letter.txt")
			}
			o := d.until("its text", func(o *screen.Observation) bool { source, _ := o.Find("gentle people"); return source != "" })
			w, _ := o.Focused()
			on, off := d.blink(w.Box)

			r := open(t, unhurried)
			regions := []image.Rectangle{w.Box}
			want, err := r.Lines(limit(t), off, regions)
			require.NoError(t, err)
			assert.Contains(t, fmt.Sprint(want), "gentle people")
			n := r.Started()
			for _, m := range []*image.RGBA{on, off, on, off} {
				got, err := r.Lines(limit(t), m, regions)
				require.NoError(t, err)
				assert.Equal(t, want, got)
			}
			assert.Equal(t, n, r.Started())
		})
	}
}

// blink returns two pictures that differ in nothing but a text cursor that blinks in a window:
// with it and without.
func (d *desk) blink(window image.Rectangle) (on, off *image.RGBA) {
	d.tb.Helper()
	x, err := x11.Dial(d.Display())
	require.NoError(d.tb, err)
	defer x.Close()
	ctx := limit(d.tb)
	var last *image.RGBA
	for n := 0; ; n++ {
		m, err := d.screen.Capture(ctx)
		require.NoError(d.tb, err, "it does not blink")
		if last != nil {
			box := screen.DiffBox(last, m)
			if size := box.Size(); size.X > 0 && size.X <= 2 && size.Y > 10 && size.Y < 30 {
				if m.RGBAAt(box.Min.X, box.Min.Y).R < last.RGBAAt(box.Min.X, box.Min.Y).R {
					return m, last
				}
				return last, m
			}
		}
		if last = m; n%100 == 50 { // GTK's blinks for ten seconds after input
			x11test.Click(d.tb, x, 1, window.Min.Add(image.Pt(60, 60)), 1)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
