package screen

import (
	"context"
	"image"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/screen/atspi"
)

// The entries of an open list that are in view are found by what was read in it, whatever
// of that was misread, and never elsewhere.
func TestInView(t *testing.T) {
	names := strings.Split("Amsterdam Athens Basel Berlin Bern Ill Bern Lille Oslo 10 Paris", " ")
	list := image.Rect(100, 200, 300, 330)
	for _, tt := range []struct {
		name, lines  string // "" is a row in which nothing was read
		places       string // the rows' entries
		above, below int
	}{
		{"scrolled", "Berlin Bern Ill Bern Lille", "Berlin Bern Ill Bern Lille", 3, 3},
		{"not scrolled", "Amsterdam Athens Basel", "Amsterdam Athens Basel", 0, 8},
		{"at the end", "Oslo 10 Paris", "Oslo 10 Paris", 8, 0},
		{"letters that look alike", "Ber1in Bern I11 Bern Li||e Os1o", "Berlin Bern Ill Bern Lille Oslo", 3, 2},
		{"a frame and a scroll bar", "|Berlin| ‘Bern Ill_al Bern_3 |_Lille", "Berlin Bern Ill Bern Lille", 3, 3},
		{"a row that was not read", "Berlin  Ill Bern", "Berlin  Ill Bern", 3, 4},
		{"a row that was misread", "Berlin Barn Ill Bern", "Berlin  Ill Bern", 3, 4},
		{"the same name twice", "Bern Lille Oslo", "Bern Lille Oslo", 6, 2},
		{"one of two of a name", "Bern Ill Bern", "Bern Ill Bern", 4, 4},
		{"one line", "Berlin", "", 0, 0},
		{"another order", "Oslo Athens Paris Basel", "", 0, 0},
		{"another list", "Cut Copy Paste", "", 0, 0},
		{"nothing", "", "", 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var lines []OCRLine
			for row, text := range strings.Split(tt.lines, " ") {
				if text = strings.ReplaceAll(text, "_", " "); text != "" {
					y := 200 + 20*row + row%2 // not all letters are as high
					lines = append([]OCRLine{{Text: text, Box: image.Rect(110, y+4, 150, y+15)}}, lines...)
				}
			}
			rows, beyond := inView(list, names, lines)
			want := 0
			for row, name := range strings.Split(tt.places, " ") {
				if name == "" {
					continue
				}
				require.Greater(t, len(rows), want)
				assert.Equal(t, name, rows[want].Text)
				assert.Contains(t, []int{20*row + 9, 20*row + 10, 20*row + 11}, middle(rows[want].Box).Y-200, name)
				assert.Equal(t, []int{100, 300}, []int{rows[want].Box.Min.X, rows[want].Box.Max.X})
				want++
			}
			assert.Len(t, rows, want)
			assert.Equal(t, atspi.Beyond{Above: tt.above, Below: tt.below}, beyond)
		})
	}
	_, beyond := inView(list, append(names[:5:5], "Il…"), []OCRLine{
		{Text: "Athens", Box: image.Rect(110, 204, 150, 215)}, {Text: "Basel", Box: image.Rect(110, 224, 150, 235)},
	})
	assert.Equal(t, atspi.Beyond{Above: 1, Below: atspi.Some}, beyond, "the program's text was cut")
}

// An open list of a browser is told whole, and of the entries in view where they are.
func TestReadOpenList(t *testing.T) {
	popup := image.Rect(100, 130, 300, 230)
	o := &Observation{
		Windows: []Window{
			{Title: "Trains", Class: "Chromium", PID: 9, Box: image.Rect(0, 0, 800, 600), Focused: true},
			{Class: "Chromium", PID: 9, Box: popup, Popup: true},
		},
		Tree: Tree{Nodes: []atspi.Node{
			{ID: "n1", PID: 9, Parent: -1, Role: "frame", Name: "Trains", App: "Chromium", Box: image.Rect(0, 0, 800, 600)},
			{ID: "n2", PID: 9, Parent: 0, Depth: 1, Role: "combo box", Name: "From", Text: "Bern", Box: image.Rect(100, 100, 300, 131), States: []string{"expanded"}},
			{ID: "n3", PID: 9, Parent: 1, Depth: 2, Role: "menu", Box: popup, Text: "Amsterdam\nBern\nLille\nOslo"},
		}},
		Bare: image.NewRGBA(image.Rect(0, 0, 800, 600)),
	}
	s := &Screen{opt: Options{OCR: linesOf{
		{Text: "Bern", Box: image.Rect(110, 134, 140, 145)}, {Text: "Lille", Box: image.Rect(110, 154, 140, 165)},
	}, Log: quiet}}
	s.read(context.Background(), o)
	require.False(t, o.Unread)
	text := o.Text(0)
	assert.Contains(t, text, `menu = "Amsterdam\nBern\nLille\nOslo" (read from the picture, 1 more above, 1 below) @200,180:
  "Bern" @200,139
  "Lille"
`)
	_, at, ok := o.PointOf(4)
	assert.True(t, ok, "it is under the one before, where it is told without a place")
	assert.Equal(t, image.Pt(200, 159), at)
	assert.Equal(t, 1, strings.Count(text, "read from the picture"))
}

// linesOf is an OCR that reads these lines.
type linesOf []OCRLine

func (l linesOf) Lines(context.Context, *image.RGBA, []image.Rectangle) ([]OCRLine, error) {
	return l, nil
}
