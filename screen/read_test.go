package screen

import (
	"context"
	"image"
	"log/slog"
	"strings"
	"testing"

	"desktop-agent/screen/atspi"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var quiet = slog.New(slog.DiscardHandler)

// A reader reads the same in every region, and remembers which there were.
type reader struct {
	regions []image.Rectangle
	text    string
	err     error
}

func (r *reader) Lines(_ context.Context, _ *image.RGBA, regions []image.Rectangle) (lines []OCRLine, err error) {
	r.regions = regions
	for _, region := range regions {
		lines = append(lines, OCRLine{Text: r.text, Box: image.Rectangle{Min: region.Min, Max: region.Min.Add(image.Pt(60, 10))}, Confidence: .9})
	}
	return lines, r.err
}

// looked is the sample, with text of its picture read.
func looked(t *testing.T, change func(*Observation)) (*Observation, *reader) {
	t.Helper()
	o, r := sample(), &reader{text: "total 48"}
	o.Bare = image.NewRGBA(image.Rect(0, 0, 1000, 800))
	change(o)
	s := &Screen{opt: Options{OCR: r, Log: quiet}}
	s.read(t.Context(), o)
	for i, n := range o.Tree.Nodes {
		require.Less(t, n.Parent, i, "parents come first")
		if n.Parent >= 0 {
			require.Equal(t, o.Tree.Nodes[n.Parent].Depth+1, n.Depth, "node %d", i)
		}
	}
	return o, r
}

// A window that tells no text is read where it can be seen, and has a node then; one
// that is minimised is not, nor one that tells its text.
func TestReadWindowsWithoutText(t *testing.T) {
	before := sample()
	o, r := looked(t, func(o *Observation) { o.Windows[2].Box = image.Rect(500, 50, 1000, 350) })
	assert.Equal(t, []image.Rectangle{image.Rect(500, 50, 1000, 100), image.Rect(600, 100, 1000, 350)}, r.regions, "the part below the editor is not seen")
	text := o.Text(0)
	assert.Contains(t, text, "window \"Clock\" (\"xclock\"), the program tells no text\n")
	assert.Contains(t, text, "\ntext line = \"total 48\" (read from the picture) @265,27\n")
	assert.Equal(t, before.Tree.Nodes, o.Told().Tree.Nodes)
	assert.True(t, SameTree(before, o), "what was read is compared as a picture")
	assert.Same(t, before, before.Told())
	source, ok := o.Find("total 48")
	assert.True(t, ok)
	assert.Equal(t, "ocr", source)
	source, _ = o.Find("Dear Ann")
	assert.Equal(t, "tree", source)
	assert.NotZero(t, o.Timing.OCR)
	assert.Equal(t, o.Timing.OCR, o.Timing.Total)
}

// A menu that is told is not read again, though it has a window of its own, which tells nothing.
func TestReadNoMenuThatIsTold(t *testing.T) {
	told, other := image.Rect(98, 118, 302, 162), image.Rect(650, 300, 850, 500)
	_, r := looked(t, func(o *Observation) {
		for _, box := range []image.Rectangle{told, other} {
			o.Windows = append(o.Windows, Window{Title: "Menu", Class: "editor", PID: 10, Popup: true, Box: box})
		}
	})
	assert.Contains(t, r.regions, other)
	assert.NotContains(t, r.regions, told)
}

// Without any tree all windows are read.
func TestReadWithoutTree(t *testing.T) {
	o, r := looked(t, func(o *Observation) { o.Tree = Tree{Err: ErrNoTree} })
	assert.Contains(t, r.regions, image.Rect(100, 100, 600, 500), "of the editor, what the image shows and no other window covers")
	source, _ := o.Find("total 48")
	assert.Equal(t, "ocr", source)
	assert.Empty(t, o.Told().Tree.Nodes)
}

// A picture in a window that tells text is read, and what it says comes after the
// window's other nodes; a small one is not, nor one with text on it that is told.
func TestReadPictures(t *testing.T) {
	for name, tt := range map[string]struct {
		box  image.Rectangle
		role string
		want bool
	}{
		"a canvas":               {image.Rect(120, 200, 580, 400), "canvas", true},
		"a picture with a name":  {image.Rect(120, 200, 580, 400), "image", true},
		"an icon":                {image.Rect(120, 200, 144, 224), "image", false},
		"a panel with nothing":   {image.Rect(120, 200, 580, 400), "panel", true},
		"a calendar":             {image.Rect(120, 200, 580, 400), "calendar", true},
		"an empty document":      {image.Rect(120, 200, 580, 400), "document text", true},
		"no picture":             {image.Rect(120, 200, 580, 400), "filler", false},
		"a page with told parts": {image.Rect(100, 100, 600, 500), "document web", false},
	} {
		t.Run(name, func(t *testing.T) {
			o, r := looked(t, func(o *Observation) {
				o.Windows[2].Hidden = true
				nodes := o.Tree.Nodes
				kind := atspi.Node{App: "editor", PID: 10, Parent: 0, Depth: 1, Role: tt.role, Box: tt.box}
				switch tt.role {
				case "image":
					kind.Name = "photo.jpg"
				case "document text": // as Writer calls it, also where it tells none of its paragraphs
					kind.Name = "letter.odt - LibreOffice Document"
				}
				nodes[7].Role, nodes[7].Text, nodes[7].Name = kind.Role, "", kind.Name
				nodes[7].Box = kind.Box
			})
			if !tt.want {
				assert.NotContains(t, r.regions, tt.box)
				return
			}
			require.Contains(t, r.regions, tt.box)
			at := -1
			for i, n := range o.Tree.Nodes {
				if n.Read && n.Box.Min == tt.box.Min {
					at = i
				}
			}
			require.Positive(t, at)
			n := o.Tree.Nodes[at]
			assert.Equal(t, 0, n.Parent)
			assert.Equal(t, "editor", n.App)
			assert.Equal(t, -1, o.Tree.Nodes[at+1].Parent, "it is the last of its window")
			assert.Equal(t, sample().Tree.Nodes[9:], o.Told().Tree.Nodes[9:], "and the others are where they were")
		})
	}
}

// In a panel with nothing in it, and in a calendar, words that are farther from each other
// than a space stand alone, as names of files and days do; elsewhere a line is a line.
func TestReadApart(t *testing.T) {
	word := func(text string, x int) OCRWord { return OCRWord{text, image.Rect(x, 300, x+40, 313)} }
	row := OCRLine{Text: "My letter notes.txt to do", Box: image.Rect(130, 300, 500, 313), Confidence: .9, Words: []OCRWord{
		word("My", 130), word("letter", 174), word("notes.txt", 230), word("to", 400), word("do", 440)}}
	parts := []OCRLine{
		{Text: "My letter", Box: image.Rect(130, 300, 214, 313), Confidence: .9, Words: row.Words[:2]},
		{Text: "notes.txt", Box: image.Rect(230, 300, 270, 313), Confidence: .9, Words: row.Words[2:3]},
		{Text: "to do", Box: image.Rect(400, 300, 480, 313), Confidence: .9, Words: row.Words[3:]},
	}
	for role, want := range map[string][]OCRLine{"panel": parts, "calendar": parts, "canvas": {row}, "terminal": {row}} {
		o := sample()
		o.Windows[2].Hidden = true
		n := &o.Tree.Nodes[7]
		n.Role, n.Name, n.Text, n.Box = role, "", "", image.Rect(120, 200, 580, 400)
		assert.Equal(t, want, o.view().apart([]OCRLine{row}), role)
		below := row
		below.Box = below.Box.Add(image.Pt(0, 150))
		assert.Equal(t, []OCRLine{below}, o.view().apart([]OCRLine{below}), "beside it")
	}
	bare := OCRLine{Text: "a b", Box: row.Box}
	assert.Equal(t, []OCRLine{bare}, bare.parts(1), "the reader tells no words")
}

// A list of GTK 4 tells its headers, as buttons, and no row: what is below them is read, and
// each cell is a line.
func TestReadBelowHeaders(t *testing.T) {
	o := &Observation{Windows: []Window{{ID: 1, PID: 5, Title: "Builder", Box: image.Rect(0, 0, 600, 400)}}, Bare: image.NewRGBA(image.Rect(0, 0, 600, 400))}
	node := func(parent int, role, name string, box image.Rectangle) atspi.Node {
		return atspi.Node{PID: 5, Parent: parent, Role: role, Name: name, Box: box}
	}
	o.Tree.Nodes = []atspi.Node{
		node(-1, "frame", "Builder", image.Rect(0, 0, 600, 400)), node(0, "menu item", "File", image.Rect(0, 0, 40, 20)),
		node(0, "scroll pane", "", image.Rect(0, 40, 600, 380)), node(2, "filler", "", image.Rect(0, 40, 600, 380)),
		node(3, "push button", "Name", image.Rect(0, 40, 60, 64)), node(3, "push button", "Age", image.Rect(60, 40, 600, 64)),
	}
	below := image.Rect(0, 64, 600, 380)
	assert.Equal(t, []image.Rectangle{below}, o.view().textless(0))
	row := OCRLine{Text: "John 25", Box: image.Rect(5, 70, 90, 82), Words: []OCRWord{{"John", image.Rect(5, 70, 40, 82)}, {"25", image.Rect(75, 70, 90, 82)}}}
	assert.Len(t, o.view().apart([]OCRLine{row}), 2)
	o.Tree.Nodes[5].Role = "label"
	assert.Empty(t, o.view().textless(0), "what has more than headers tells what is in it")
}

// Of a page that tells its text, canvases and pictures are read; of one that tells nothing, all.
func TestReadDrawnInAPage(t *testing.T) {
	window, page := image.Rect(0, 0, 600, 400), image.Rect(0, 50, 600, 400)
	canvas, picture := image.Rect(20, 100, 420, 200), image.Rect(20, 220, 420, 320)
	o := &Observation{Windows: []Window{{ID: 1, PID: 5, Title: "Trains", Box: window}}, Bare: image.NewRGBA(window)}
	node := func(parent int, role, name string, box image.Rectangle) atspi.Node {
		return atspi.Node{PID: 5, Parent: parent, Role: role, Name: name, Box: box}
	}
	o.Tree.Nodes = []atspi.Node{
		node(-1, "frame", "Trains", window), node(0, "push button", "Reload", image.Rect(0, 0, 40, 40)),
		node(0, "document web", "Trains", page), node(2, "canvas", "", canvas), node(2, "image", "A ticket", picture),
		node(2, "image", "an icon", image.Rect(500, 60, 532, 92)), node(2, "video", "", image.Rect(20, 330, 420, 395)),
	}
	assert.Equal(t, []image.Rectangle{page}, o.view().textless(0))
	o.Tree.Nodes = append(o.Tree.Nodes, node(2, "static", "All trains", image.Rect(20, 60, 100, 80)))
	assert.Equal(t, []image.Rectangle{canvas, picture}, o.view().textless(0))
	o.Tree.Nodes = append(o.Tree.Nodes, node(3, "push button", "Zoom", image.Rect(380, 100, 420, 120)))
	assert.Equal(t, []image.Rectangle{picture}, o.view().textless(0), "the canvas tells what is in it")
}

// In a window of which no node tells anything, a line that stands alone is cut where its
// words are farther from each other than spaces are: the names of a row of icons, the menus
// of a bar. Lines of a text are not, nor is a prompt.
func TestReadApartWithoutNodes(t *testing.T) {
	o := &Observation{Windows: []Window{{ID: 1, PID: 5, Title: "estate", Box: image.Rect(10, 30, 1010, 750)}}}
	line := func(y, high, letter, gap int, words ...string) OCRLine {
		l := OCRLine{Text: strings.Join(words, " "), Confidence: .9}
		x := 20
		for _, w := range words {
			l.Words = append(l.Words, OCRWord{w, image.Rect(x, y, x+letter*len(w), y+high)})
			l.Box = l.Box.Union(l.Words[len(l.Words)-1].Box)
			x = l.Box.Max.X + gap
		}
		return l
	}
	texts := func(lines ...OCRLine) (list []string) {
		for _, l := range o.view().apart(lines) {
			list = append(list, l.Text)
		}
		return list
	}
	files, more := line(174, 14, 6, 12, "report-05.txt", "report-06.txt", "report-07.txt"), line(247, 14, 6, 12, "report-13.txt", "report-14.txt")
	assert.Equal(t, []string{"report-05.txt", "report-06.txt", "report-07.txt", "report-13.txt", "report-14.txt"}, texts(files, more))
	assert.Equal(t, []string{"File", "Edit", "View"}, texts(line(57, 13, 6, 12, "File", "Edit", "View")))
	assert.Equal(t, []string{"63 items in here"}, texts(line(730, 13, 6, 5, "63", "items", "in", "here")), "spaces")
	assert.Equal(t, []string{"$ make the tests"}, texts(line(57, 14, 7, 10, "$", "make", "the", "tests")), "of a terminal")
	near := line(190, 14, 6, 12, "report-13.txt", "report-14.txt")
	assert.Equal(t, []string{files.Text, near.Text}, texts(files, near), "lines of one text")
	o.Tree.Nodes = []atspi.Node{{PID: 5, Parent: -1, Role: "frame", Name: "estate", Box: o.Windows[0].Box}, {PID: 5, Parent: 0, Role: "canvas", Name: "Files", Box: o.Windows[0].Box}}
	assert.Equal(t, []string{files.Text}, texts(files), "a node tells of it")
}

// An error of the reader costs no observation, which says that text is missing; lines may
// come with it.
func TestReadFails(t *testing.T) {
	const missing = "\nsome text of the picture is not read, or not yet, so that it is missing here"
	for _, err := range []error{nil, context.DeadlineExceeded, ErrUnread} {
		o := sample()
		o.Bare = image.NewRGBA(image.Rect(0, 0, 1000, 800))
		o.Windows[2].Box = image.Rect(500, 50, 1000, 350)
		s := &Screen{opt: Options{OCR: &reader{text: "total 48", err: err}, Log: quiet}}
		s.read(t.Context(), o)
		_, ok := o.Find("total 48")
		assert.True(t, ok)
		assert.Equal(t, err != nil, o.Unread, err)
		assert.Equal(t, err != nil, strings.Contains(o.Text(0), missing), o.Text(0))
	}
}

// A closed list of choices that does not tell what is chosen is read without its frame and
// arrow, and holds what was read; one that tells it is not read, nor a button with a picture,
// nor what another window covers.
func TestReadClosedLists(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*atspi.Node)
		want   bool
	}{
		"a button for one":        {func(*atspi.Node) {}, true},
		"a combo box":             {func(n *atspi.Node) { n.Role = "combo box" }, true},
		"it tells":                {func(n *atspi.Node) { n.Text = "A4" }, false},
		"it has a name":           {func(n *atspi.Node) { n.Name = "White" }, false},
		"a button with a picture": {func(n *atspi.Node) { n.Box.Max.X = n.Box.Min.X + 30 }, false},
		"a push button":           {func(n *atspi.Node) { n.Role = "push button" }, false},
		"below another window":    {func(n *atspi.Node) { n.Box = n.Box.Add(image.Pt(-60, 0)) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			field := atspi.Node{ID: "n11", App: "calc", PID: 20, Parent: 9, Depth: 1, Role: "toggle button", Label: "Format:", LabelFrom: atspi.LabelBeside, Box: image.Rect(620, 300, 820, 330)}
			tt.change(&field)
			o, r := looked(t, func(o *Observation) {
				o.Windows[2].Hidden = true
				o.Tree.Nodes[10] = field
			})
			region := image.Rect(624, 304, 786, 326)
			if !tt.want {
				assert.NotContains(t, r.regions, region)
				assert.Equal(t, 9, o.Tree.Nodes[11].Parent, "nothing is below it")
				return
			}
			require.Contains(t, r.regions, region)
			assert.Equal(t, 10, o.Tree.Nodes[11].Parent)
			assert.True(t, o.Tree.Nodes[11].Read)
			assert.Contains(t, o.Text(0), ` beside "Format:" = "total 48" (read from the picture) @360,157`)
			assert.Equal(t, 1, strings.Count(o.Text(0), "total 48"))
			assert.Equal(t, field, o.Told().Tree.Nodes[10])
			source, ok := o.Find("total 48")
			assert.True(t, ok)
			assert.Equal(t, "ocr", source)
		})
	}
}

// Two lines in a closed list are told one by one: each as it was read, so that a mask for
// what was typed finds it.
func TestReadClosedListOfTwoLines(t *testing.T) {
	o := sample()
	field := image.Rect(620, 300, 820, 330)
	o.Windows[2].Hidden = true
	o.Tree.Nodes[10] = atspi.Node{ID: "n11", App: "calc", PID: 20, Parent: 9, Depth: 1, Role: "combo box", Label: "Format:", LabelFrom: atspi.LabelBeside, Box: field}
	o.Bare = image.NewRGBA(image.Rect(0, 0, 1000, 800))
	v := o.view()
	v.addRead([]OCRLine{{Text: "one", Box: image.Rect(630, 305, 660, 315)}, {Text: "two", Box: image.Rect(630, 316, 660, 325)}}, []int{10}, nil, nil)
	text := o.Text(0)
	for _, line := range []string{"one", "two"} {
		assert.Equal(t, 1, strings.Count(text, `text line = "`+line+`" (read from the picture)`), text)
	}
}
