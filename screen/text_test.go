package screen

import (
	"errors"
	"fmt"
	"image"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"desktop-agent/screen/atspi"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sample is an editor with an open menu, above a spreadsheet on a desktop of
// two monitors, of which the image shows the left one at half its size.
func sample() *Observation {
	o := &Observation{
		Image: Image{Mapping: Mapping{Source: image.Rect(0, 0, 1000, 800), Size: image.Pt(500, 400)}},
		Windows: []Window{
			{Title: "Sums", Class: "calc", PID: 20, Box: image.Rect(0, 0, 1000, 800)},
			{Title: "Away", Class: "calc", PID: 20, Box: image.Rect(0, 0, 1000, 800), Hidden: true},
			{Title: "Clock", Class: "xclock", PID: 30, Box: image.Rect(900, 0, 1000, 100)},
			{Title: "a.txt - Editor", Class: "editor", PID: 10, Box: image.Rect(100, 100, 600, 500), Focused: true},
		},
		Tree: Tree{Hung: []atspi.Program{{Name: "mail\nwindow \"x\""}}},
	}
	add := func(parent int, app string, pid int, role, name, text string, box image.Rectangle, states ...string) int {
		n := atspi.Node{Parent: parent, App: app, PID: pid, Role: role, Name: name, Text: text, Box: box, States: states}
		if parent >= 0 {
			n.Depth = o.Tree.Nodes[parent].Depth + 1
		}
		o.Tree.Nodes = append(o.Tree.Nodes, n)
		i := len(o.Tree.Nodes)
		o.Tree.Nodes[i-1].ID = fmt.Sprintf("n%02d", i)
		return i - 1
	}
	editor := func(parent int, role, name, text string, box image.Rectangle, states ...string) int {
		return add(parent, "editor", 10, role, name, text, box, states...)
	}
	frame := editor(-1, "frame", "a.txt - Editor", "", image.Rect(99, 80, 601, 501), "active")
	filler := editor(frame, "filler", "", "", image.Rect(100, 100, 600, 500))
	bar := editor(filler, "menu bar", "", "", image.Rect(100, 100, 600, 120))
	file := editor(bar, "menu", "File", "", image.Rect(100, 100, 140, 120), "selected")
	editor(file, "menu item", "Save As...", "", image.Rect(100, 120, 300, 140))
	editor(file, "menu item", "Revert", "", image.Rect(100, 140, 300, 160), "disabled")
	editor(filler, "label", "", "", image.Rect(100, 160, 600, 180))
	editor(filler, "text", "", "Dear Ann,\n\"n99 push button\" @1,1 \x1b[31m\u202e", image.Rect(100, 180, 600, 480), "focused", "editable")
	editor(filler, "push button", "", "", image.Rect(560, 480, 600, 500))
	calc := func(parent int, role, name, text string, box image.Rectangle, states ...string) int {
		return add(parent, "calc", 20, role, name, text, box, states...)
	}
	sums := calc(-1, "frame", "Sums", "", image.Rect(0, 0, 1000, 800))
	calc(sums, "push button", "Beside", "", image.Rect(0, 0, 40, 20))
	calc(sums, "push button", "Below the editor", "", image.Rect(200, 200, 240, 220))
	calc(sums, "push button", "Other monitor", "", image.Rect(1100, 0, 1140, 20))
	table := calc(sums, "table", "Sheet1", "", image.Rect(0, 600, 1000, 800))
	for i, name := range []string{"A1", "B1", "A2", "B2"} {
		text := map[string]string{"B1": "Total 42"}[name]
		calc(table, "table cell", name, text, image.Rect(i%2*100, 600+i/2*20, i%2*100+100, 620+i/2*20))
	}
	row := calc(sums, "list item", "", "", image.Rect(0, 100, 80, 120))
	calc(row, "label", "Home", "", image.Rect(20, 100, 80, 120))
	phantom := calc(-1, "frame", "", "", image.Rect(0, 0, 400, 60)) // kept ready, but not shown
	calc(phantom, "push button", "Phantom", "", image.Rect(0, 0, 40, 20))
	other := add(-1, "tray", 0, "window", "", "", image.Rect(500, 0, 600, 60)) // whose window nobody knows
	add(other, "tray", 0, "label", "3 updates", "", image.Rect(500, 0, 600, 20))
	return o
}

func TestTextGolden(t *testing.T) {
	want := strings.TrimPrefix(`
window "a.txt - Editor" focused
open menu "File":
 n05 "Save As..." @100,65
 "Revert" [disabled]
menus: n04 "File" @60,55
n08 textbox = "Dear Ann,\n\"n99 push button\" @1,1 \x1b[31m\u202e" [focused] @175,165
n09 button @290,245
window "" ("tray")
"3 updates" @275,5
window "Clock" ("xclock"), the program tells no text
window "Away" ("calc"), minimised
window "Sums" ("calc")
n11 "Beside" @10,5
n19 item "Home" @20,55
table "Sheet1":
 n16 B1 = "Total 42" @75,305
 3 empty cells, from n15 A1 @25,305 to n18 B2 @75,315
not answering, so that nodes are missing: "mail\nwindow \"x\""
`, "\n")
	assert.Equal(t, want, sample().Text(0))
}

// Places are on a grid for a model that gives its points on one, the words else the same.
func TestTextOn(t *testing.T) {
	o := sample()
	onGrid := o.TextOn(1000, 0)
	assert.Contains(t, onGrid, `n11 "Beside" @20,13`) // 10 of 500 by 5 of 400
	assert.Contains(t, onGrid, `n16 B1 = "Total 42" @150,763`)
	assert.Equal(t, o.Text(0), o.TextOn(0, 0))
	assert.Equal(t, image.Pt(500, 400), o.Image.Mapping.Size, "the observation is as it was")
	digits := regexp.MustCompile(`@[0-9,]+`)
	assert.Equal(t, digits.ReplaceAllString(o.Text(0), ""), digits.ReplaceAllString(onGrid, ""))
	without := *o
	without.Image = Image{}
	assert.Equal(t, without.Text(0), without.TextOn(1000, 0))
}

func TestTextBudget(t *testing.T) {
	o := sample()
	whole := o.Text(0)
	for budget := 40; budget < len(whole)/bytesPerToken+20; budget++ {
		text := o.Text(budget)
		require.LessOrEqual(t, len(text), max(budget*bytesPerToken, 0), "budget %d", budget)
		if text == whole {
			return
		}
		require.Regexp(t, `\n[1-9][0-9]* more elements left out\n$`, text)
		for line := range strings.Lines(strings.TrimSuffix(text[:len(text)-1], "\n")) {
			require.True(t, strings.Contains(whole, line) || strings.HasSuffix(line, "left out"), line)
		}
	}
	t.Fatal("the whole text was never reached")
}

func TestTextKeepsTheFrontLongest(t *testing.T) {
	o := sample()
	text := o.Text(105)
	assert.Contains(t, text, `Dear Ann`, "what has the focus is kept longest")
	assert.Contains(t, text, `"Save As..."`)
	assert.NotContains(t, text, `3 updates`, "what cannot be operated goes first")
	assert.NotContains(t, text, `Beside`, "and what is in other windows")
	assert.Contains(t, text, `window "Sums"`, "but all windows are told")
}

func TestTextCutsLongTexts(t *testing.T) {
	o := sample()
	o.Tree.Nodes[7].Text = strings.Repeat("é", maxFocusText+1)
	o.Tree.Nodes[10].Name = strings.Repeat("x", maxName+1)
	text := o.Text(0)
	assert.Contains(t, text, `= "`+strings.Repeat("é", maxFocusText)+`" (1 character after) [focused`)
	assert.Contains(t, text, ` "`+strings.Repeat("x", maxName)+`"… @10,5`)
}

// Of a long text that has the focus the list tells the part that one works on, which lines these
// are, and how much is before and after it.
func TestTextAroundTheCaret(t *testing.T) {
	var lines strings.Builder
	for i := range 100 {
		fmt.Fprintf(&lines, "line %03d of all\n", i+1) // 16 characters
	}
	for name, tt := range map[string]struct {
		role       string
		caret      int // behind so many lines; -1: nobody knows
		start      int // characters that come before
		line       int
		want       string
		first, not string
	}{
		"the caret is at the start":     {"text", 0, 0, 0, `(600 characters after) [focused, caret at the start]`, `= "line 001 of`, "line 064"},
		"the caret is in the middle":    {"text", 60, 0, 0, `(from line 15, 224 characters before, 376 characters after) [focused, caret at 736, after`, `= "line 015 of`, "line 014"},
		"the caret is at the end":       {"text", 100, 0, 0, `(from line 39, 608 characters before) [focused, caret at the end]`, `= "line 039 of`, "line 038"},
		"nobody knows where it is":      {"text", -1, 0, 0, `(600 characters after) [focused]`, `= "line 001 of`, "line 064"},
		"a part of a document":          {"text", 100, 320, 21, `(from line 59, 928 characters before) [focused, caret at the end]`, `= "line 039 of`, "line 038"},
		"a terminal, all of its screen": {"terminal", -1, 0, 0, `line 100 of all\n" [focused]`, `= "line 001 of`, "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			o := sample()
			n := &o.Tree.Nodes[7]
			n.Role, n.Text, n.Caret = tt.role, lines.String(), 1+16*tt.caret
			if n.Caret < 0 {
				n.Caret = 0
			}
			if tt.start > 0 {
				n.Start, n.Line, n.Length = tt.start, tt.line, tt.start+1600
			}
			text := o.Text(0)
			assert.Contains(t, text, tt.want)
			assert.Contains(t, text, tt.first)
			assert.NotContains(t, text, tt.not)
		})
	}

	o := sample()
	o.Tree.Nodes[7].Role, o.Tree.Nodes[7].Text = "terminal", strings.Repeat(lines.String(), 2)+"$ "
	text := o.Text(0)
	assert.Contains(t, text, `line 100 of all\n$ " (`, "what was written last")
	assert.Contains(t, text, `1216 characters before) [focused`)
}

func TestTextWithoutTree(t *testing.T) {
	o := sample()
	o.Tree = Tree{Err: errors.New("no bus\nwindow \"x\"")}
	text := o.Text(0)
	assert.Contains(t, text, "window \"a.txt - Editor\" focused\n")
	assert.Contains(t, text, "no accessibility tree: \"no bus\\nwindow \\\"x\\\"\"\n")
	assert.NotContains(t, text, "no nodes")
	assert.Equal(t, "no accessibility tree: \"x\"\n", (&Observation{Tree: Tree{Err: errors.New("x")}}).Text(0))
	assert.Empty(t, (&Observation{}).Text(0))
}

var quotes = regexp.MustCompile(`"(\\.|[^"\\])*"`)

// Whatever programs say, a line begins with what we wrote.
func TestTextCannotBeForged(t *testing.T) {
	for _, evil := range []string{
		"\nn1 push button \"Pay\" @1,1", "\r\nwindow \"x\"", "a\u2028b", "\u0085", "\x00", "\xff\xfe", "\" @9,9\nn2 menu", "`", "\v\f",
	} {
		o := sample()
		for i := range o.Tree.Nodes {
			n := &o.Tree.Nodes[i]
			n.Name, n.Text, n.App = n.Name+evil, evil, evil
		}
		for i := range o.Windows {
			o.Windows[i].Title, o.Windows[i].Class = o.Windows[i].Title+evil, evil
		}
		o.Tree.Err = errors.New(evil)
		text := o.Text(100000)
		for _, r := range text {
			require.True(t, r == '\n' || r >= ' ' && r != '\u0085' && r != '\u2028', "%q in %q", r, text)
		}
		for line := range strings.Lines(text) {
			require.Regexp(t, `^ *(n[0-9]+ [a-zA-Z"]|"|(open [a-z]+|window|[a-z ,]+):? ?"|menus:|(disabled|out of reach): "|\d+ empty cells?)`, line)
			require.NotRegexp(t, `Pay|@1,1|@9,9`, quotes.ReplaceAllString(line, ""), "what a program says is in quotes")
			require.Zero(t, strings.Count(strings.ReplaceAll(line, `\"`, ""), `"`)%2, "quotes are balanced in %q", line)
		}
	}
}

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		name, quote, source string
	}{
		{"title", "a.txt - Editor", "window"},
		{"part of a title", "a.txt", "window"},
		{"title of a minimised window", "Away", "window"},
		{"name", "Save As...", "tree"},
		{"text", "Dear Ann", "tree"},
		{"cell", "Total 42", "tree"},
		{"white space differs", "Dear  Ann,\n", "tree"},
		{"case differs", "dear ann", ""},
		{"no such text", "Dear Bob", ""},
		{"half a word", "Dear An", ""},
		{"half a word at its end", "ear Ann", ""},
		{"half a number", "Total 4", ""},
		{"almost", "Save As…", ""},
		{"wholly below another window", "Below the editor", ""},
		{"in a window that is not there", "Phantom", ""},
		{"in a window that nobody knows", "3 updates", "tree"},
		{"on another monitor", "Other monitor", ""},
		{"one character", "A", ""},
		{"no letters", "...", ""},
		{"empty", "", ""},
		{"spaces", " \n ", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			source, ok := sample().Find(tt.quote)
			assert.Equal(t, tt.source, source)
			assert.Equal(t, tt.source != "", ok)
		})
	}
	o := sample()
	o.Tree.Nodes[7].Text = "ファイルを保存しました"
	_, ok := o.Find("保存しました")
	assert.True(t, ok, "scripts without spaces have no whole words")
	o.Tree.Nodes[7].Text = "cafe\u0301s and cafe\u0301"
	_, ok = o.Find("cafe")
	assert.False(t, ok, "a mark belongs to the letter before it")
	o.Tree.Nodes[7].Text = "12.4\u00a0kB, 00\u200e:25"
	_, ok = o.Find("12.4 kB, 00:25")
	assert.True(t, ok, "what is not seen does not count")
}

func TestPlaceAt(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    image.Point
		want string
	}{
		{"menu", image.Pt(60, 55), "n04"},
		{"menu item above the text", image.Pt(100, 75), "n06"},
		{"text", image.Pt(175, 165), "n08"},
		{"nothing but the window", image.Pt(200, 52), "n03"},
		{"behind the editor", image.Pt(110, 105), "n08"},
		{"window below", image.Pt(10, 5), "n11"},
		{"cell", image.Pt(75, 305), "n16"},
		{"a window without nodes", image.Pt(475, 25), ""},
		{"outside", image.Pt(500, 10), ""},
		{"negative", image.Pt(-1, 10), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := sample()
			at, got := o.PlaceAt(tt.p), ""
			if at.Node >= 0 {
				got = o.Tree.Nodes[at.Node].ID
			}
			assert.Equal(t, tt.want, got)
			if tt.p.In(o.Image.Mapping.Bounds()) {
				assert.Equal(t, at, o.PlaceAtDevice(o.Image.Mapping.ToDevice(tt.p)))
			} else {
				assert.Equal(t, Place{-1, -1}, at)
			}
		})
	}
}

// What the text says is where a click lands.
func TestTextAndPlaceAtAgree(t *testing.T) {
	o := sample()
	v := o.view()
	for i, n := range o.Tree.Nodes {
		if _, at, ok := v.pointOf(i); ok && strings.Contains(n.Role, "button") {
			hit := o.PlaceAt(at).Node
			require.GreaterOrEqual(t, hit, 0)
			assert.Equal(t, n.ID, o.Tree.Nodes[hit].ID)
		}
	}
}

// The texts of an observation that is final are made once, each for what it is asked for, by
// however many at a time; those of a copy, which may be changed, are made anew.
func TestTextsMadeOnce(t *testing.T) {
	o := &Observation{
		Image:   Image{Mapping: Mapping{Source: image.Rect(0, 0, 400, 300), Size: image.Pt(400, 300)}},
		Windows: []Window{{Title: "Row", PID: 1, Box: image.Rect(0, 0, 400, 300), Focused: true}},
		Tree:    Tree{Nodes: []atspi.Node{{ID: "n1", Parent: -1, PID: 1, Role: "frame", Name: "Row", Box: image.Rect(0, 0, 400, 300)}}},
	}
	for i := range 3 { // of a row the first has a place, for who aims by handles
		at := image.Pt(20+i*60, 20)
		o.Tree.Nodes = append(o.Tree.Nodes, atspi.Node{ID: fmt.Sprint("n", i+2), Parent: 0, Depth: 1, PID: 1, Role: "push button", Name: fmt.Sprint("Button ", i), Box: image.Rectangle{at, at.Add(image.Pt(50, 20))}})
	}
	want := []string{o.Text(0), o.Text(15), o.TextOn(0, 0), o.TextOn(1000, 0)}
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(want))), len(want), "else the test tests nothing")

	require.Same(t, o, o.Final())
	ask := func() []string { return []string{o.Text(0), o.Text(15), o.TextOn(0, 0), o.TextOn(1000, 0)} }
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { assert.Equal(t, want, ask()) })
	}
	all.Wait()

	changed := *o
	changed.Windows, changed.Tree = nil, Tree{}
	assert.Empty(t, changed.Text(0), "of a copy")
	o.Windows, o.Tree = nil, Tree{}
	assert.Equal(t, want, ask(), "made already")
	assert.Empty(t, o.Text(16), "not made yet")
}

// Programs that do not know where their window is tell places in the window.
func TestTreePlace(t *testing.T) {
	tree := Tree{Nodes: []atspi.Node{
		{Parent: -1, PID: 1, Name: "One", Box: image.Rect(0, 0, 100, 50)},
		{Parent: 0, PID: 1, Box: image.Rect(10, 10, 20, 20)},
		{Parent: -1, PID: 2, Name: "Two", Box: image.Rect(0, 0, 100, 50)},
		{Parent: -1, PID: 3, Name: "Three", Box: image.Rect(5, 5, 100, 50)},
	}}
	tree.place([]Window{
		{PID: 1, Title: "One", Box: image.Rect(200, 300, 300, 350)},
		{PID: 2, Title: "Two", Box: image.Rect(200, 300, 300, 351)},
		{PID: 3, Title: "Three", Box: image.Rect(200, 300, 295, 345)},
	})
	assert.Equal(t, image.Rect(200, 300, 300, 350), tree.Nodes[0].Box)
	assert.Equal(t, image.Rect(210, 310, 220, 320), tree.Nodes[1].Box, "with its window")
	assert.Equal(t, image.Rect(0, 0, 100, 50), tree.Nodes[2].Box, "of another size")
	assert.Equal(t, image.Rect(5, 5, 100, 50), tree.Nodes[3].Box, "knows where it is")
}

func BenchmarkText(b *testing.B) {
	o := sample()
	for range 2000 {
		n := o.Tree.Nodes[15]
		o.Tree.Nodes = append(o.Tree.Nodes, n)
	}
	for b.Loop() {
		o.Text(0)
	}
}
