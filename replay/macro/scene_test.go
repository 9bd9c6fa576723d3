package macro

import (
	"context"
	"image"
	"image/color"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// draft makes a scene of lines: "window <x> <y> <w> <h> <title>" opens a window,
// in which further lines are nodes, "<role> <x> <y> <w> <h> <name> [states]", with
// the place relative to the window and two spaces of indent for each level.
// Words of a role are joined by underscores. "*" before "window" gives the
// focus, "!" makes it a dialog.
func draft(lines string) *scene {
	o := &screen.Observation{FrameID: "f0001"}
	o.Image.Mapping = screen.Mapping{Source: image.Rect(0, 0, 800, 600), Size: image.Pt(800, 600)}
	var at image.Point
	var above []int
	for line := range strings.Lines(lines) {
		line = strings.TrimRight(line, "\n")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
		var v [4]int
		for i := range v {
			v[i], _ = strconv.Atoi(words[i+1])
		}
		name := strings.Join(words[5:], " ")
		var states []string
		if head, list, ok := strings.Cut(name, " ["); ok {
			name, states = head, strings.Split(strings.TrimSuffix(list, "]"), ",")
		} else if list, ok := strings.CutPrefix(name, "["); ok {
			name, states = "", strings.Split(strings.TrimSuffix(list, "]"), ",")
		}
		role := strings.ReplaceAll(strings.TrimLeft(words[0], "*!"), "_", " ")
		box := image.Rect(v[0], v[1], v[0]+v[2], v[1]+v[3])
		n := atspi.Node{ID: "n" + strconv.Itoa(len(o.Tree.Nodes)+1), PID: 1, Parent: -1, Role: role, Name: name, States: states, Box: box.Add(at)}
		if role == "window" {
			kind := "normal"
			if strings.Contains(words[0], "!") {
				kind = "dialog"
			}
			o.Windows = append(o.Windows, screen.Window{
				ID: uint32(len(o.Windows) + 1), Title: name, Class: "App", Type: kind, PID: 1, Box: box, Focused: strings.Contains(words[0], "*"),
			})
			n.Role, n.Box, at, above = "frame", box, box.Min, nil
			depth = 0
		} else {
			n.Parent, n.Depth = above[depth-1], depth
		}
		above = append(above[:depth], len(o.Tree.Nodes))
		o.Tree.Nodes = append(o.Tree.Nodes, n)
	}
	o.Bare = image.NewRGBA(image.Rect(0, 0, 800, 600))
	return newScene(o)
}

// middle returns the middle of the only node of a name, or role where it begins
// with "=".
func middle(t *testing.T, s *scene, name string) image.Point {
	t.Helper()
	for _, n := range s.Tree.Nodes {
		if n.Name == name || "="+n.Role == name {
			return n.Box.Min.Add(n.Box.Max).Div(2)
		}
	}
	require.Fail(t, "no such node", name)
	return image.Point{}
}

const editor = `
*window 100 100 400 300 notes.txt - Pad
  push_button 10 10 80 30 Save
  push_button 100 10 80 30 Close
  filler 10 50 300 30
    label 0 50 60 30 Name:
    entry 70 50 200 30 [editable]
  filler 10 90 300 30
    label 0 90 60 30 Place:
    entry 70 90 200 30 [editable]
`

const rows = `
*window 0 0 400 300 List
  filler 0 0 400 40
    label 0 0 100 40 alice
    push_button 200 0 80 40 Delete
  filler 0 40 400 40
    label 0 40 100 40 bob
    push_button 200 40 80 40 Delete
`

const sheet = `
*window 0 0 600 400 Table
  menu 0 0 50 20 File
  menu 50 0 50 20 Edit
  menu 100 0 50 20 Search
  menu 150 0 50 20 View
  menu 200 0 50 20 Help
  push_button 0 300 80 30 Apply
`

// TestLocate holds what is found and, above all, what is not.
func TestLocate(t *testing.T) {
	german := strings.NewReplacer("File", "Datei", "Edit", "Bearbeiten", "Search", "Suchen", "View", "Ansicht", "Help", "Hilfe",
		"Apply", "Anwenden", "Save", "Speichern", "Close", "Schließen", "Name:", "Wie:", "Place:", "Wo:")
	for _, tt := range []struct {
		name, was, target string
		at                image.Point // instead of the middle of the target
		now               string
		want              image.Point // zero: it must not be found
		why               string
	}{
		{name: "the same", was: editor, target: "Save", now: editor, want: image.Pt(150, 125)},
		{name: "moved, and an unsaved mark", was: editor, target: "Save",
			now: strings.Replace(editor, "100 100 400 300 notes.txt", "200 50 500 400 *notes.txt", 1), want: image.Pt(250, 75)},
		{name: "another folder in the title", was: strings.Replace(editor, "notes.txt", "/tmp/a1/notes.txt", 1), target: "Save",
			now: strings.Replace(editor, "notes.txt", "/home/x/notes.txt", 1), want: image.Pt(150, 125)},
		{name: "another document", was: editor, target: "Save", now: strings.Replace(editor, "notes", "letter", 1), why: "no such window"},
		{name: "another button at the place", was: editor, target: "Save", now: strings.Replace(editor, "Save", "Drop", 1), why: "none there"},
		{name: "the name twice", was: editor, target: "Save", now: editor + "  push_button 200 10 80 30 Save\n", want: image.Point{}, why: "more than one"},
		{name: "elsewhere in the window", was: editor, target: "Save",
			now: strings.Replace(editor, "10 10 80 30 Save", "300 250 80 30 Save", 1), want: image.Pt(440, 365)},
		{name: "the arrow of a button, in a recording that knows of none", was: editor, target: "Save", at: image.Pt(182, 125),
			now: strings.Replace(editor, "80 30 Save", "80 30 Save\n    arrow 70 10 20 30", 1), want: image.Pt(182, 125)},
		{name: "the arrow of a button that has moved", was: strings.Replace(editor, "80 30 Save", "80 30 Save\n    arrow 70 10 20 30", 1), target: "Save", at: image.Pt(182, 125),
			now: strings.Replace(editor, "10 10 80 30 Save", "300 250 80 30 Save\n    arrow 360 250 20 30", 1), want: image.Pt(472, 365)},
		{name: "disabled", was: editor, target: "Save", now: strings.Replace(editor, "Save", "Save [disabled]", 1), why: "disabled"},
		{name: "below another window", was: editor, target: "Save", now: editor + "window 100 90 120 100 Popup\n", why: "on top of it"},
		{name: "half below another window", was: editor, target: "Save", now: editor + "window 140 90 100 100 Popup\n", want: image.Pt(125, 125)},
		{name: "a field by its label", was: editor, target: "", at: image.Pt(270, 205), now: editor, want: image.Pt(270, 205)},
		{name: "a field that another one came before", was: editor, at: image.Pt(270, 205), now: strings.Replace(editor,
			"  filler 10 90", "  filler 10 200 300 30\n    label 0 200 60 30 Date:\n    entry 70 200 200 30 [editable]\n  filler 10 90", 1), want: image.Pt(270, 205)},
		{name: "a field whose label is another", was: editor, at: image.Pt(270, 205), now: strings.Replace(editor, "Place:", "Price:", 1), why: "beside something else"},
		{name: "one of rows", was: rows, at: image.Pt(240, 60), now: rows, want: image.Pt(240, 60)},
		{name: "a row that another one came before", was: rows, at: image.Pt(240, 60), now: `
*window 0 0 400 300 List
  filler 0 0 400 40
    label 0 0 100 40 aaron
    push_button 200 0 80 40 Delete
  filler 0 40 400 40
    label 0 40 100 40 alice
    push_button 200 40 80 40 Delete
  filler 0 80 400 40
    label 0 80 100 40 bob
    push_button 200 80 80 40 Delete
`, want: image.Pt(240, 100)},
		{name: "a row that is gone", was: rows, at: image.Pt(240, 60), now: strings.Replace(rows, "bob", "carol", 1), why: "beside something else"},
		{name: "the only row left is another", was: rows, at: image.Pt(240, 60),
			now: rows[:strings.Index(rows, "  filler 0 40")], why: "beside something else"},
		{name: "the same label in both rows", was: strings.Replace(rows, "bob", "alice", 1), at: image.Pt(240, 60),
			now: strings.Replace(rows, "bob", "alice", 1), want: image.Pt(240, 60)},
		{name: "one more row with the same label", was: strings.Replace(rows, "bob", "alice", 1), at: image.Pt(240, 60),
			now: strings.Replace(rows, "bob", "alice", 1) + "  filler 0 80 400 40\n    label 0 80 100 40 alice\n    push_button 200 80 80 40 Delete\n", why: "more than one"},
		{name: "another language", was: sheet, target: "Apply", now: german.Replace(sheet), want: image.Pt(40, 315)},
		{name: "another language of a small dialog", was: editor, target: "Save", now: german.Replace(editor), why: "none there"},
		{name: "one name changed", was: sheet, target: "Apply", now: strings.Replace(sheet, "Apply", "Delete", 1), why: "none there"},
		{name: "most names changed, and the arrangement", was: sheet, target: "Apply", now: german.Replace(sheet) + "  push_button 100 300 80 30 Mehr\n", why: "none there"},
		{name: "a tree at odds with its window", was: editor, target: "Save",
			now: strings.NewReplacer("window 100 100 400 300", "window 100 100 700 500").Replace(editor), want: image.Pt(150, 125)},
		{name: "another button in it", was: editor, target: "Save",
			now: strings.Replace(editor, "  push_button 100 10", "    push_button 10 10 80 30 x\n  push_button 100 10", 1), why: `would hit push button "x"`},
		{name: "a label in it", was: editor, target: "Save",
			now: strings.Replace(editor, "  push_button 100 10", "    label 10 10 80 30 x\n  push_button 100 10", 1), want: image.Pt(150, 125)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			was, now := draft(tt.was), draft(tt.now)
			at := tt.at
			if at == (image.Point{}) {
				at = middle(t, was, tt.target)
			}
			target := newTarget(was, nil, at)
			s, bad := newPair(was, now, nil).locate(t.Context(), &target)
			if tt.want == (image.Point{}) {
				require.NotNil(t, bad, "found at %v by %s", s.device, s.how)
				assert.Contains(t, bad.Error(), tt.why)
				return
			}
			require.Nil(t, bad, "%v", bad)
			assert.Equal(t, tt.want, s.device)
			assert.Equal(t, "tree", s.how)
		})
	}
}

// TestOddTree holds that coordinates are not trusted which a program tells
// without its scale.
func TestOddTree(t *testing.T) {
	was, now := draft(editor), draft(editor)
	for i := range now.Tree.Nodes {
		b := &now.Tree.Nodes[i].Box
		*b = image.Rectangle{Min: b.Min.Div(2), Max: b.Max.Div(2)}
	}
	target := newTarget(was, nil, middle(t, was, "Save"))
	_, bad := newPair(was, newScene(now.Observation), nil).locate(t.Context(), &target)
	require.NotNil(t, bad)
	assert.Contains(t, bad.Error(), "another place than where its window is")
}

// TestSmallImage holds that the live image's scale is taken into account.
func TestSmallImage(t *testing.T) {
	was, now := draft(editor), draft(editor)
	now.Image.Mapping.Size = image.Pt(400, 300)
	target := newTarget(was, nil, image.Pt(112, 112))
	s, bad := newPair(was, newScene(now.Observation), nil).locate(t.Context(), &target)
	require.Nil(t, bad)
	assert.Equal(t, image.Pt(56, 56), s.image)
	assert.Equal(t, now.Image.Mapping.ToDevice(s.image), s.device)
}

// TestReady holds which focus lets a step begin.
func TestReady(t *testing.T) {
	other := strings.Replace(editor, "*window", "window", 1)
	for _, tt := range []struct {
		name, now string
		keys, ok  bool
	}{
		{"the same", editor, true, true},
		{"a dialog has the focus, keys", other + "*!window 0 0 50 50 Update\n", true, false},
		{"a dialog has the focus, pointer", other + "*!window 0 0 50 50 Update\n", false, false},
		{"a window beside has the focus, keys", other + "*window 600 500 50 50 Mail\n", true, false},
		{"a window beside has the focus, pointer", other + "*window 600 500 50 50 Mail\n", false, true},
		{"a window above has the focus, pointer", other + "*window 300 300 50 50 Mail\n", false, false},
		{"no focus, keys", other, true, false},
		{"no focus, pointer", other, false, true},
	} {
		bad := newPair(draft(editor), draft(tt.now), nil).ready(tt.keys)
		assert.Equal(t, tt.ok, bad == nil, "%s: %v", tt.name, bad)
	}
}

// TestTypeable holds that text goes into the recorded field only.
func TestTypeable(t *testing.T) {
	focus := func(field string) *scene {
		return draft(strings.Replace(editor, field+" 200 30 [editable]", field+" 200 30 [editable,focused]", 1))
	}
	first, second := "entry 70 50", "entry 70 90"
	assert.Nil(t, newPair(focus(first), focus(first), nil).typeable())
	assert.NotNil(t, newPair(focus(first), focus(second), nil).typeable())
	assert.NotNil(t, newPair(focus(first), draft(editor), nil).typeable())
	assert.Nil(t, newPair(draft(editor), focus(second), nil).typeable(), "what was not recorded cannot be asked for")
}

// TestEffect holds what must come of a step.
func TestEffect(t *testing.T) {
	dialog := strings.Replace(editor, "*window", "window", 1) + "*!window 0 0 300 200 Save As\n  entry 10 10 80 20 [editable]\n  push_button 10 50 80 30 OK\n  push_button 100 50 80 30 Cancel\n"
	marked := strings.Replace(editor, "notes.txt", "*notes.txt", 1)
	checked := strings.Replace(editor, "push_button 10 10 80 30 Save", "check_box 10 10 80 30 Wrap", 1)
	on := strings.Replace(checked, "Wrap", "Wrap [checked]", 1)
	for _, tt := range []struct{ name, was, led, now, lacks string }{
		{"nothing", editor, editor, editor, ""},
		{"a window opens", editor, dialog, dialog, ""},
		{"a window does not open", editor, dialog, editor, `window "Save As" opens`},
		{"another window opens", editor, dialog, strings.Replace(dialog, "Save As", "Error", 1), `window "Save As" opens`},
		{"it lacks the focus", editor, dialog, strings.NewReplacer("window 100", "*window 100", "*!window", "!window").Replace(dialog), `the focus in window "Save As"`},
		{"a window closes", dialog, editor, editor, ""},
		{"a window does not close", dialog, editor, dialog, `window "Save As" closes`},
		{"saved", marked, editor, editor, ""},
		{"not saved", marked, editor, marked, "the title"},
		{"changed", editor, marked, marked, ""},
		{"not changed", editor, marked, editor, "the title"},
		{"checked", checked, on, on, ""},
		{"not checked", checked, on, checked, `check box "Wrap" is checked`},
		{"unchecked", on, checked, on, `check box "Wrap" is not checked`},
		{"half of the names", editor, editor + "  label 10 150 50 20 one\n  label 10 170 50 20 two\n", editor + "  label 10 150 50 20 one\n", ""},
		{"none of the names", editor, editor + "  label 10 150 50 20 one\n  label 10 170 50 20 two\n", editor, `label "one"`},
	} {
		was, led, now := draft(tt.was), draft(tt.led), draft(tt.now)
		e := effectOf(was, led)
		expected, _ := e.lacks(newPair(was, now, nil), newPair(led, now, nil))
		if tt.lacks == "" {
			assert.Empty(t, expected, tt.name)
		} else {
			assert.Contains(t, expected, tt.lacks, tt.name)
		}
	}
}

// TestPicked holds for which selected content a step waits.
func TestPicked(t *testing.T) {
	list := editor + "  table 10 150 300 100\n"
	pasted := list + "    table_cell 10 150 200 20 report.txt [selected]\n    table_cell 210 150 100 20 79 bytes [selected]\n"
	dropped := list + "    table_cell 10 150 200 20 report.txt\n    table_cell 210 150 100 20 79 bytes\n"
	sorted := list + "    table_cell 10 150 200 20 a.txt\n    table_cell 210 150 100 20 5 bytes\n    table_cell 10 170 200 20 report.txt [selected]\n    table_cell 210 170 100 20 99 bytes [selected]\n"
	moved := strings.Replace(sorted, "99 bytes", "79 bytes", 1)
	chooser := editor + "*!window 0 0 300 200 Open\n  table 10 80 100 100\n    table_cell 10 80 100 20 "
	for _, tt := range []struct{ name, was, led, now, lacks string }{
		{"a row comes selected", list, pasted, pasted, ""},
		{"the row is late", list, pasted, list, `table cell "report.txt" is selected`},
		{"the row is there, not selected yet", list, pasted, dropped, `table cell "report.txt" is selected`},
		{"the row in another place, beside other content", list, pasted, sorted, ""},
		{"a row that is not selected", list, dropped, list, ""},
		{"a row that was selected has moved", pasted, moved, list, ""},
		{"selected in a window that opens", editor, chooser + "Documents [selected]\n", chooser + "Desktop [selected]\n", ""},
	} {
		was, led := draft(tt.was), draft(tt.led)
		e := effectOf(was, led)
		expected, _ := e.lacksPicked(newPair(led, draft(tt.now), nil))
		if tt.lacks == "" {
			assert.Empty(t, expected, tt.name)
		} else {
			assert.Contains(t, expected, tt.lacks, tt.name)
		}
	}
}

// TestEffectOnText holds that what was typed must be in its field.
func TestEffectOnText(t *testing.T) {
	with := func(text string) *scene {
		s := draft(editor)
		for i := range s.Tree.Nodes {
			if n := &s.Tree.Nodes[i]; n.Role == "entry" {
				n.Text = text
				break
			}
		}
		return newScene(s.Observation)
	}
	was, led := with(""), with("bread and butter")
	e := effectOf(was, led)
	lacks := func(now *scene, sub func(string) string) string {
		expected, _ := e.lacks(newPair(was, now, sub), newPair(led, now, sub))
		return expected
	}
	assert.Empty(t, lacks(with("bread and butter"), nil))
	assert.Contains(t, lacks(with("bread and bread"), nil), "bread and butter")
	sub := func(s string) string { return strings.ReplaceAll(s, "butter", "jam") }
	assert.Empty(t, lacks(with("bread and jam"), sub))
	assert.NotEmpty(t, lacks(with("bread and butter"), sub))
}

// paint writes words on a picture, each at its place.
func paint(img *image.RGBA, words map[image.Point]string) *image.RGBA {
	d := font.Drawer{Dst: img, Src: image.Black, Face: basicfont.Face7x13}
	for at, word := range words {
		d.Dot = fixed.P(at.X, at.Y)
		d.DrawString(word)
	}
	return img
}

func canvas(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = 0xf0
	}
	return img
}

func part(img *image.RGBA, r image.Rectangle) *image.RGBA {
	out := image.NewRGBA(r)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			out.Set(x, y, img.At(x, y))
		}
	}
	return out
}

// TestSearchPatch holds that a picture is found where it is, and nowhere else.
func TestSearchPatch(t *testing.T) {
	words := func(shift image.Point, list ...string) map[image.Point]string {
		m := map[image.Point]string{}
		for i, w := range list {
			m[image.Pt(40+i*90, 60+i*37).Add(shift)] = w
		}
		return m
	}
	then := paint(canvas(400, 300), words(image.Point{}, "Apply", "Cancel", "Delete"))
	picture := part(then, image.Rect(36, 44, 84, 68)) // "Apply"
	for _, tt := range []struct {
		name string
		now  *image.RGBA
		want image.Point
		ok   bool
	}{
		{"the same", then, image.Pt(36, 44), true},
		{"moved by an odd distance", paint(canvas(400, 300), words(image.Pt(53, 31), "Apply", "Cancel", "Delete")), image.Pt(89, 75), true},
		{"twice", paint(canvas(400, 300), words(image.Point{}, "Apply", "Cancel", "Apply")), image.Point{}, false},
		{"gone", paint(canvas(400, 300), words(image.Point{}, "Store", "Cancel", "Delete")), image.Point{}, false},
		{"one letter is another", paint(canvas(400, 300), words(image.Point{}, "Amply", "Cancel", "Delete")), image.Point{}, false},
		{"nothing", canvas(400, 300), image.Point{}, false},
		{"smaller than the picture", canvas(20, 10), image.Point{}, false},
	} {
		m, ok := searchPatch(t.Context(), tt.now, tt.now.Rect, picture, run.PictureSettings{})
		assert.Equal(t, tt.ok, ok, "%s: %+v", tt.name, m)
		if tt.ok {
			assert.Equal(t, tt.want, m.at, tt.name)
			assert.Equal(t, 1.0, m.scale, tt.name)
		}
	}
}

// TestHowAlike holds that it is a setting how alike a place must be.
func TestHowAlike(t *testing.T) {
	then, now := paint(canvas(400, 300), map[image.Point]string{{40, 60}: "Apply"}), paint(canvas(400, 300), map[image.Point]string{{40, 60}: "Amply"})
	picture := part(then, image.Rect(36, 44, 84, 68))
	m, ok := searchPatch(t.Context(), now, now.Rect, picture, run.PictureSettings{Score: .5})
	require.True(t, ok, "%+v", m)
	assert.Equal(t, image.Pt(36, 44), m.at)
	_, ok = searchPatch(t.Context(), now, now.Rect, picture, run.PictureSettings{Score: .5, Limit: 1})
	assert.False(t, ok, "there is no time for it")
}

// TestSearchScaledPatch holds that a picture is found in other sizes.
func TestSearchScaledPatch(t *testing.T) {
	then := paint(canvas(400, 300), map[image.Point]string{{40, 60}: "Apply", {140, 60}: "Cancel", {240, 160}: "Delete"})
	picture := part(then, image.Rect(36, 44, 84, 68))
	for _, by := range []float64{.75, 1.25, 1.33, 1.5, 2} {
		now := enlarge(then, by)
		m, ok := searchPatch(t.Context(), now, now.Rect, picture, run.PictureSettings{})
		require.True(t, ok, "%v: %+v", by, m)
		target := Target{At: image.Pt(60, 56), Picture: picture}
		at := m.point(&target)
		assert.InDelta(t, 60*by, at.X, 4, "%v", by)
		assert.InDelta(t, 56*by, at.Y, 4, "%v", by)
		assert.Equal(t, "scaled_patch", m.how())
	}
	now := enlarge(paint(canvas(400, 300), map[image.Point]string{{40, 60}: "Store", {140, 60}: "Cancel", {240, 160}: "Delete"}), 1.5)
	m, ok := searchPatch(t.Context(), now, now.Rect, picture, run.PictureSettings{})
	assert.False(t, ok, "%+v", m)
}

// TestSearchPatchTwins holds that a picture that is there twice is not found,
// however much else is somewhat like it.
func TestSearchPatchTwins(t *testing.T) {
	noise := rand.New(rand.NewPCG(1, 2))
	picture := image.NewRGBA(image.Rect(0, 0, 20, 10))
	for i := range picture.Pix {
		picture.Pix[i] = uint8(noise.Uint32())
	}
	frame := canvas(700, 300)
	place := func(x, y int, like float64) {
		for dy := range 10 {
			for dx := range 20 {
				if c := picture.RGBAAt(dx, dy); noise.Float64() < like {
					frame.SetRGBA(x+dx, y+dy, c)
				}
			}
		}
	}
	for i := range 80 {
		place(10+i%16*40, 10+i/16*40, .7)
	}
	place(10, 250, 1)
	m, ok := searchPatch(t.Context(), frame, frame.Rect, picture, run.PictureSettings{})
	require.True(t, ok, "%+v", m)
	assert.Equal(t, image.Pt(10, 250), m.at)
	place(410, 250, 1)
	m, ok = searchPatch(t.Context(), frame, frame.Rect, picture, run.PictureSettings{})
	assert.False(t, ok, "%+v", m)
	assert.InDelta(t, 1, m.second, 1e-9)

	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	_, ok = searchPatch(stopped, frame, frame.Rect, picture, run.PictureSettings{})
	assert.False(t, ok)
}

func TestFeatureless(t *testing.T) {
	img := canvas(48, 32)
	assert.True(t, featureless(img, img.Rect))
	for y := range 16 {
		img.Set(10, y, color.Black) // a caret
	}
	assert.True(t, featureless(img, img.Rect))
	assert.False(t, featureless(paint(img, map[image.Point]string{{4, 20}: "word"}), img.Rect))
}

func enlarge(img *image.RGBA, by float64) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, int(float64(img.Rect.Dx())*by), int(float64(img.Rect.Dy())*by)))
	draw.BiLinear.Scale(out, out.Rect, img, img.Rect, draw.Src, nil)
	return out
}

// BenchmarkSearchPatch looks for a button's picture on a 1080p window.
func BenchmarkSearchPatch(b *testing.B) {
	frame := canvas(1920, 1080)
	words := map[image.Point]string{}
	for y := 20; y < 1080; y += 24 {
		for x := 10; x < 1850; x += 90 {
			words[image.Pt(x, y)] = "word" + strconv.Itoa(x*y%997)
		}
	}
	words[image.Pt(1210, 700)] = "Apply"
	paint(frame, words)
	b.Run("own size", func(b *testing.B) {
		picture := part(frame, image.Rect(1206, 684, 1254, 708))
		for b.Loop() {
			if _, ok := searchPatch(b.Context(), frame, frame.Rect, picture, run.PictureSettings{}); !ok {
				b.Fatal("not found")
			}
		}
	})
	b.Run("not there, all sizes", func(b *testing.B) {
		picture := part(paint(canvas(400, 300), map[image.Point]string{{40, 60}: "Qxjz"}), image.Rect(36, 44, 84, 68))
		for b.Loop() {
			if _, ok := searchPatch(b.Context(), frame, frame.Rect, picture, run.PictureSettings{}); ok {
				b.Fatal("found")
			}
		}
	})
}

// BenchmarkLocate finds a node in a tree of 2,000.
func BenchmarkLocate(b *testing.B) {
	var lines strings.Builder
	lines.WriteString(editor)
	for i := range 1000 {
		lines.WriteString("  filler 0 100 300 20\n    label 0 100 60 20 /tmp/x" + strconv.Itoa(i) + "\n")
	}
	was := draft(lines.String())
	target := newTarget(was, nil, image.Pt(150, 125))
	for b.Loop() {
		now := newScene(was.Observation)
		if _, bad := newPair(was, now, nil).locate(b.Context(), &target); bad != nil {
			b.Fatal(bad)
		}
	}
}
