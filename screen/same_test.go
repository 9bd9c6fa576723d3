package screen

import (
	"image"
	"image/color"
	"image/draw"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"desktop-agent/screen/atspi"
)

func TestDiffBox(t *testing.T) {
	grey := func() *image.RGBA { return image.NewRGBA(image.Rect(0, 0, 200, 130)) }
	dots := func(points ...image.Point) *image.RGBA {
		m := grey()
		for _, p := range points {
			m.Set(p.X, p.Y, color.White)
		}
		return m
	}
	for _, tt := range []struct {
		name string
		a, b *image.RGBA
		want image.Rectangle
	}{
		{"equal", grey(), grey(), image.Rectangle{}},
		{"one pixel", grey(), dots(image.Pt(40, 70)), image.Rect(40, 70, 41, 71)},
		{"the last pixel", grey(), dots(image.Pt(199, 129)), image.Rect(199, 129, 200, 130)},
		{"apart", grey(), dots(image.Pt(3, 90), image.Pt(100, 2)), image.Rect(3, 2, 101, 91)},
		{"other size", grey(), image.NewRGBA(image.Rect(0, 0, 300, 100)), image.Rect(0, 0, 300, 130)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, DiffBox(tt.a, tt.b))
			assert.Equal(t, tt.want, DiffBox(tt.b, tt.a))
		})
	}
}

// Wherever pictures lie and whatever larger picture they are a part of, the box
// is that of the pixels that differ.
func TestDiffBoxHoldsExactlyWhatDiffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		box := image.Rect(0, 0, rapid.IntRange(1, 300).Draw(t, "w"), rapid.IntRange(1, 300).Draw(t, "h")).
			Add(image.Pt(rapid.IntRange(-50, 50).Draw(t, "x"), rapid.IntRange(-50, 50).Draw(t, "y")))
		a, b := image.NewRGBA(box), image.NewRGBA(box.Inset(-rapid.IntRange(0, 20).Draw(t, "around"))).SubImage(box).(*image.RGBA)
		var want image.Rectangle
		for range rapid.IntRange(0, 30).Draw(t, "pixels") {
			p := image.Pt(rapid.IntRange(box.Min.X, box.Max.X-1).Draw(t, "px"), rapid.IntRange(box.Min.Y, box.Max.Y-1).Draw(t, "py"))
			b.Pix[b.PixOffset(p.X, p.Y)+rapid.IntRange(0, 3).Draw(t, "channel")] = faint + 1
			want = want.Union(image.Rectangle{Min: p, Max: p.Add(image.Pt(1, 1))})
		}
		require.Equal(t, want, DiffBox(a, b))
		require.Equal(t, want.Dx() <= CaretWidth && want.Dy() <= CaretHeight, SamePicture(a, b))
	})
}

// grey is a picture of one grey with boxes of others on it.
func grey(boxes ...image.Rectangle) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, 320, 240))
	draw.Draw(m, m.Rect, image.NewUniform(color.Gray{200}), image.Point{}, draw.Src)
	for i, b := range boxes {
		draw.Draw(m, b, image.NewUniform(color.Gray{uint8(20 * i)}), image.Point{}, draw.Src)
	}
	return m
}

// What blinks is no difference; the smallest things that a click changes are.
// While people were recorded, a change of up to 8 pixels in width was none.
func TestSamePicture(t *testing.T) {
	for _, tt := range []struct {
		name string
		box  image.Rectangle
		same bool
	}{
		{"nothing", image.Rectangle{}, true},
		{"a text cursor", image.Rect(40, 40, 42, 58), true},
		{"the largest text cursor", image.Rect(40, 40, 40+CaretWidth, 40+CaretHeight), true},
		{"wider", image.Rect(40, 40, 40+CaretWidth+1, 58), false},
		{"higher", image.Rect(40, 40, 42, 40+CaretHeight+1), false},
		{"the dot of a radio button", image.Rect(40, 40, 46, 46), false},
		{"a small tick", image.Rect(40, 40, 48, 47), false},
		{"a thin line", image.Rect(0, 0, 300, 1), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := grey(), grey(tt.box)
			assert.Equal(t, tt.same, SamePicture(a, b))
			assert.Equal(t, tt.same, SamePicture(b, a))
			assert.Equal(t, tt.same, NewDigest(a, Digest{}).Same(NewDigest(b, NewDigest(a, Digest{}))), "by digest")
		})
	}
	assert.False(t, SamePicture(grey(), image.NewRGBA(image.Rect(0, 0, 240, 320))), "another size")
	assert.False(t, SamePicture(nil, grey()))
	assert.False(t, SamePicture(nil, nil), "of neither is anything known")
}

// A digest tells the same as the picture that it is of.
func TestDigestAgreesWithPicture(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		box := func(name string) image.Rectangle {
			at := image.Pt(rapid.IntRange(0, 319).Draw(t, name+" x"), rapid.IntRange(0, 239).Draw(t, name+" y"))
			return image.Rectangle{Min: at, Max: at.Add(image.Pt(rapid.IntRange(0, 9).Draw(t, name+" w"), rapid.IntRange(0, 80).Draw(t, name+" h")))}
		}
		a, b := grey(box("a")), grey(box("b"))
		require.Equal(t, SamePicture(a, b), NewDigest(a, Digest{}).Same(NewDigest(b, NewDigest(a, Digest{}))))
	})
}

// Drawn again, a picture may be a level or two apart; the faintest highlight is not.
func TestSamePictureButForFaintNoise(t *testing.T) {
	shade := func(g uint8) *image.RGBA {
		m := grey()
		draw.Draw(m, image.Rect(10, 10, 200, 100), image.NewUniform(color.Gray{g}), image.Point{}, draw.Src)
		return m
	}
	for g, same := range map[uint8]bool{200: true, 201: true, 199: true, 203: true, 197: true, 205: false, 195: false} {
		a, b := shade(200), shade(g)
		assert.Equal(t, same, SamePicture(a, b), g)
		assert.Equal(t, same, SameAround(a, b, image.Pt(100, 50)), g)
		assert.Equal(t, same, NewDigest(a, Digest{}).Same(NewDigest(b, NewDigest(a, Digest{}))), g)
	}
	five := shade(200)
	for x := range 5 {
		five.Set(20+40*x, 80, color.Gray{201})
	}
	assert.True(t, SamePicture(shade(200), five), "five pixels by one level: these stopped a form")
	assert.False(t, DiffBox(shade(200), five).Empty(), "exact where pixels count")
}

// Screens that follow each other share what did not change.
func TestDigestSharesRows(t *testing.T) {
	a := NewDigest(grey(), Digest{})
	b := NewDigest(grey(image.Rect(40, 40, 60, 58)), a)
	shared := 0
	for y := range a.rows {
		if &a.rows[y][0] == &b.rows[y][0] {
			shared++
		}
	}
	assert.Equal(t, 240-18, shared)
	assert.False(t, a.Same(b))
}

func TestSameAround(t *testing.T) {
	at := image.Pt(100, 100)
	assert.True(t, SameAround(grey(), grey(image.Rect(150, 100, 170, 120)), at), "something else")
	assert.True(t, SameAround(grey(), grey(image.Rect(100, 90, 102, 110)), at), "a text cursor")
	assert.False(t, SameAround(grey(), grey(image.Rect(96, 96, 104, 104)), at))
	assert.True(t, SameAround(grey(), grey(image.Rect(110, 90, 130, 120)), image.Pt(90, 100)), "it begins beyond the square")
	assert.False(t, SameAround(grey(), nil, at))
	assert.True(t, SameAround(grey(), grey(), image.Pt(1000, 0)), "a point that is on neither")
}

// Slight differences all over are alike, but not the same; another word is neither.
func TestAlike(t *testing.T) {
	at := image.Pt(100, 100)
	shade := grey()
	draw.Draw(shade, shade.Rect, image.NewUniform(color.Gray{170}), image.Point{}, draw.Src)
	other, alike := Alike(grey(), shade, at)
	assert.True(t, alike)
	assert.Zero(t, other)
	assert.False(t, SameAround(grey(), shade, at))

	other, alike = Alike(grey(), grey(image.Rect(90, 95, 110, 105)), at)
	assert.False(t, alike)
	assert.InDelta(t, 200.0/576, other, .001)

	_, alike = Alike(grey(), grey(image.Rect(100, 90, 102, 108)), at)
	assert.True(t, alike, "a text cursor")

	part := grey(image.Rect(90, 95, 110, 105)).SubImage(image.Rect(80, 80, 120, 94)).(*image.RGBA)
	_, alike = Alike(grey(), part, at)
	assert.True(t, alike, "only what both have counts")
	_, alike = Alike(grey(), nil, at)
	assert.False(t, alike)
}

// The place of a node among others is not seen: only what it tells counts.
func TestSameTree(t *testing.T) {
	look := func(n atspi.Node) *Observation { return &Observation{Tree: Tree{Nodes: []atspi.Node{n}}} }
	n := atspi.Node{ID: "n1", PID: 7, Parent: -1, Role: "text", Text: "Dear", States: []string{"focused"}, Caret: 5}
	same := n
	same.ID, same.PID, same.Depth, same.Caret = "n2", 8, 3, 0 // where the caret is was not told
	assert.True(t, SameTree(look(n), look(same)))
	for name, change := range map[string]func(*atspi.Node){
		"role":   func(n *atspi.Node) { n.Role = "entry" },
		"name":   func(n *atspi.Node) { n.Name = "To" },
		"text":   func(n *atspi.Node) { n.Text = "Dear Ann" },
		"states": func(n *atspi.Node) { n.States = nil },
		"caret":  func(n *atspi.Node) { n.Caret = 3 },
		"place":  func(n *atspi.Node) { n.Box = image.Rect(0, 0, 1, 1) },
	} {
		other := n
		change(&other)
		assert.False(t, SameTree(look(n), look(other)), name)
	}
	assert.False(t, SameTree(look(n), &Observation{}), "fewer nodes")
}
