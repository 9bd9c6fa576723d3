package screen

import (
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/screen/atspi"
)

func TestChanges(t *testing.T) {
	entry := func(text string) atspi.Node {
		n := at(0, "entry", "Width", 100, 10, 100, 20, "editable")
		n.Text = text
		return n
	}
	var cells, chosen, buttons, off []atspi.Node
	for i := range 60 {
		cells = append(cells, at(0, "table cell", fmt.Sprintf("A%d", i+1), 0, 4*i, 40, 4))
		chosen = append(chosen, at(0, "table cell", fmt.Sprintf("A%d", i+1), 0, 4*i, 40, 4, "selected"))
	}
	for _, name := range []string{"Cut", "Copy", "Paste", "Clone"} {
		buttons = append(buttons, at(0, "push button", name, 10, 10, 20, 20))
		off = append(off, at(0, "push button", name, 10, 10, 20, 20, "disabled"))
	}
	long := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 5)
	file := func(states ...string) []atspi.Node {
		first := at(1, "table cell", "", 0, 0, 80, 20, states...)
		return []atspi.Node{at(0, "table", "", 0, 0, 99, 99, "focused"), byText(first, "report.txt"),
			at(2, "table cell", "", 0, 0, 20, 20), at(2, "table cell", "report.txt", 20, 0, 60, 20, states...), at(1, "table cell", "79 bytes", 80, 0, 10, 20, states...)}
	}
	caret := func(c int) atspi.Node {
		return atspi.Node{Role: "text", Text: "Dear Ann", Caret: c, Box: image.Rect(0, 0, 100, 100)}
	}
	for _, tt := range []struct {
		name        string
		before, now *Observation
		want        string
	}{
		{"nothing", form(buttons), form(buttons), "nothing"},
		{"a value", form([]atspi.Node{entry("3")}), form([]atspi.Node{entry("5")}), `~ entry "Width": "3" → "5"`},
		{"a part of a long text", form([]atspi.Node{entry(long)}), form([]atspi.Node{entry(strings.Replace(long, "brown", "red", 1))}),
			`~ entry "Width": after "The quick ", "brown" → "red"`},
		{"more of a long text", form([]atspi.Node{entry(long)}), form([]atspi.Node{entry(long + "End")}),
			`~ entry "Width": after " fox jumps over the lazy dog. ", "End" is new`},
		{"a crowd of states", form(cells), form(chosen), "~ 60 cells: selected: A1, A2, A3"},
		{"buttons are disabled", form(buttons), form(off), `~ 4 buttons: disabled: "Cut", "Copy", "Paste", "Clone"`},
		{"one is checked, and not the other any more", form([]atspi.Node{at(0, "radio button", "Left", 0, 0, 20, 20, "checked"), at(0, "radio button", "Right", 40, 0, 20, 20)}),
			form([]atspi.Node{at(0, "radio button", "Left", 0, 0, 20, 20), at(0, "radio button", "Right", 40, 0, 20, 20, "checked")}),
			"~ radio \"Left\": no longer checked\n~ radio \"Right\": checked"},
		{"what moved is no change", form([]atspi.Node{at(0, "push button", "OK", 0, 0, 20, 20)}), form([]atspi.Node{at(0, "push button", "OK", 50, 0, 20, 20)}), "nothing"},
		{"an element came, with what it says twice", form(nil), form([]atspi.Node{at(0, "list item", "RX 101", 0, 0, 99, 20), at(1, "label", "RX 101", 0, 0, 99, 20)}), `+ item "RX 101"`},
		{"a row came, that its text is called by", form(file()[:1]), form(file()), "+ cell \"report.txt\"\n+ cell \"79 bytes\""},
		{"a row went", form(file()), form(file()[:1]), "- cell \"report.txt\"\n- cell \"79 bytes\""},
		{"a row was chosen", form(file()), form(file("selected")), "~ cell \"report.txt\": selected\n~ cell \"79 bytes\": selected"},
		{"a box in a row was ticked", form([]atspi.Node{at(0, "table", "", 0, 0, 99, 99), at(1, "table cell", "", 0, 0, 20, 20), at(1, "table cell", "Andrea", 20, 0, 60, 20), at(1, "table cell", "", 0, 20, 20, 20), at(1, "table cell", "Otto", 20, 20, 60, 20)}),
			form([]atspi.Node{at(0, "table", "", 0, 0, 99, 99), at(1, "table cell", "", 0, 0, 20, 20), at(1, "table cell", "Andrea", 20, 0, 60, 20), at(1, "table cell", "", 0, 20, 20, 20, "checked"), at(1, "table cell", "Otto", 20, 20, 60, 20)}),
			"~ cell of row \"Otto\": checked"},
		{"a container came", form(nil), form([]atspi.Node{at(0, "panel", "Find", 0, 0, 99, 90), at(1, "entry", "For", 0, 0, 99, 20), at(1, "push button", "Next", 0, 30, 99, 20)}),
			`+ group "Find", with 2 elements: "For", "Next"`},
		{"a filler came", form(nil), form([]atspi.Node{at(0, "filler", "", 0, 0, 99, 90), at(1, "icon", "", 0, 0, 20, 20)}), "nothing"},
		{"a menu opened", form([]atspi.Node{at(0, "menu", "File", 0, 0, 30, 20)}),
			form([]atspi.Node{at(0, "menu", "File", 0, 0, 30, 20, "selected"), at(1, "menu item", "Open", 0, 20, 60, 20), at(1, "menu item", "Quit", 0, 40, 60, 20)}),
			`+ open menu "File", with 2 elements: "Open", "Quit"`},
		{"the focus moved", form([]atspi.Node{at(0, "entry", "A", 0, 0, 30, 20, "focused"), at(0, "entry", "B", 0, 30, 30, 20)}),
			form([]atspi.Node{at(0, "entry", "A", 0, 0, 30, 20), at(0, "entry", "B", 0, 30, 30, 20, "focused")}), `~ entry "B": has the focus now`},
		{"the caret moved", form([]atspi.Node{caret(9)}), form([]atspi.Node{caret(6)}), `~ text: caret at 5, after "Dear "`},
		{"a caret that was not known", form([]atspi.Node{caret(0)}), form([]atspi.Node{caret(6)}), "nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tell := DescribeChanges(tt.before, tt.now)
			if strings.HasPrefix(tell, "~ 60") {
				tell, _, _ = strings.Cut(tell, ", A4")
			}
			if title, mute := tt.now.mute(); mute {
				assert.Equal(t, "Form", title)
				tell = strings.TrimPrefix(strings.TrimSuffix(tell, `the program of window "Form" tells no text`), "")
				if tell = strings.TrimSuffix(tell, "\n"); tell == "" {
					tell = "nothing"
				}
			}
			assert.Equal(t, tt.want, tell)
		})
	}
	assert.Equal(t, "nothing is known of before", DescribeChanges(nil, form(nil)))
	assert.Equal(t, `the program of window "Form" tells no text`, DescribeChanges(form(nil), form(nil)))
}

// byText is a node that is called by the text in it, as the first cell of a row of GTK's,
// which has a picture and a text.
func byText(n atspi.Node, text string) atspi.Node {
	n.Label, n.LabelFrom = text, atspi.LabelChild
	return n
}

// What a program that did not answer shows neither came nor went; of the others it is known.
func TestChangesOfWhoDoesNotAnswer(t *testing.T) {
	all := func() *Observation {
		o := form([]atspi.Node{at(0, "menu", "File", 0, 0, 30, 20, "selected"), at(1, "menu item", "Open", 0, 20, 60, 20), at(0, "entry", "Name", 0, 60, 60, 20), at(0, "push button", "Send", 0, 80, 60, 20)})
		o.Tree.Nodes[4].PID = 9
		return o
	}
	const hung = `"editor" did not answer: what came and went in it is not known`
	for name, tt := range map[string]struct {
		now  func(o *Observation)
		want string // as the second
		back string // as the first
	}{
		"all of it is missing": {func(o *Observation) {
			o.Tree.Nodes, o.Tree.Hung = o.Tree.Nodes[:1], []atspi.Program{{Name: "editor", PID: 7}}
		},
			"- button \"Send\"\n" + hung, "+ button \"Send\"\n" + strings.Replace(hung, "answer", "answer before", 1)},
		"of an unknown process": {func(o *Observation) { o.Tree.Nodes, o.Tree.Hung = o.Tree.Nodes[:1], []atspi.Program{{Name: "editor"}} },
			hung, strings.Replace(hung, "answer", "answer before", 1)},
		"nobody told anything": {func(o *Observation) { o.Tree = Tree{Err: errors.New("no bus")} }, "nothing", "nothing"},
		"it is gone": {func(o *Observation) { o.Tree.Nodes = append(o.Tree.Nodes[:2], at(0, "label", "Bye", 0, 60, 60, 20)) },
			"- open menu \"File\", with 1 elements\n+ label \"Bye\"\n- entry \"Name\"\n- button \"Send\"", "+ open menu \"File\", with 1 elements: \"Open\"\n+ entry \"Name\"\n+ button \"Send\"\n- label \"Bye\""},
	} {
		t.Run(name, func(t *testing.T) {
			now := all()
			tt.now(now)
			assert.Equal(t, tt.want, DescribeChanges(all(), now))
			assert.Equal(t, tt.back, DescribeChanges(now, all()))
		})
	}
}

// Text that is read where a program does not answer is what that tells at other times: it
// neither came nor went, nor did a text that only one of two pictures was read for.
func TestChangesOfWhatIsRead(t *testing.T) {
	line := func(y int, text string) atspi.Node {
		n := at(0, "text line", "", 0, y, 60, 20)
		n.Text, n.Read = text, true
		return n
	}
	told := func() *Observation { return form([]atspi.Node{at(0, "label", "Total: 48", 0, 20, 60, 20)}) }
	read := func(change func(o *Observation)) *Observation {
		o := form([]atspi.Node{line(20, "Total: 48"), line(40, "Name")})
		change(o)
		return o
	}
	const hung, unread = `"editor" did not answer: what came and went in it is not known`, "not all text of the picture was read: what came and went in it is not known"
	before := strings.NewReplacer("answer:", "answer before:", "read:", "read before:")
	none := func(*Observation) {}
	for name, tt := range map[string]struct {
		was, now   *Observation
		want, back string // back is from now to was
	}{
		"it does not answer": {told(), read(func(o *Observation) { o.Tree.Hung = []atspi.Program{{Name: "editor", PID: 7}} }), hung, before.Replace(hung)},
		"another does not answer": {read(func(o *Observation) { o.Tree.Nodes = o.Tree.Nodes[:2] }), read(func(o *Observation) { o.Tree.Hung = []atspi.Program{{Name: "editor", PID: 9}} }),
			"+ text line \"Name\"\n" + hung, "- text line \"Name\"\n" + before.Replace(hung)},
		"nobody tells anything": {told(), read(func(o *Observation) { o.Tree.Err = ErrNoTree }), "nothing", "nothing"},
		"nobody tells anything, and a line is whole": {form([]atspi.Node{at(0, "label", "Total:", 0, 20, 30, 20), line(20, "48"), line(40, "Name"), line(60, "of")}),
			read(func(o *Observation) { o.Tree.Err = ErrNoTree }), "nothing", "nothing"},
		"not all is read": {read(func(o *Observation) { o.Tree.Nodes, o.Unread = o.Tree.Nodes[:2], true }), read(none), before.Replace(unread), unread},
		"all is read":     {read(func(o *Observation) { o.Tree.Nodes = o.Tree.Nodes[:2] }), read(none), "+ text line \"Name\"", "- text line \"Name\""},
	} {
		assert.Equal(t, tt.want, DescribeChanges(tt.was, tt.now), name)
		assert.Equal(t, tt.back, DescribeChanges(tt.now, tt.was), name)
	}
}

// A picture that changed is no nothing, though no program tells why.
func TestChangesOfThePicture(t *testing.T) {
	before := form([]atspi.Node{at(0, "canvas", "Film", 0, 0, 99, 90)})
	now := *before
	before.Bare, now.Bare = grey(), grey()
	assert.Equal(t, "nothing", DescribeChanges(before, &now))
	now.Bare = grey(image.Rect(10, 10, 40, 40))
	assert.Equal(t, "nothing that is told, but the picture changed", DescribeChanges(before, &now))
	now.Bare = &image.RGBA{Rect: before.Bare.Rect}
	assert.Equal(t, "nothing", DescribeChanges(before, &now), "of a record without its pixels nobody knows")
	before.Screen, now.Screen = "s1", "s1"
	assert.Equal(t, "nothing", DescribeChanges(before, &now), "but it has names for what looks the same")
	now.Screen = "s2"
	assert.Equal(t, "nothing that is told, but the picture changed", DescribeChanges(before, &now))
	now.Unread = true
	assert.Equal(t, "nothing that is told, but the picture changed\nnot all text of the picture was read: what came and went in it is not known", DescribeChanges(before, &now))
}

// However much changes, windows and menus are told, and first.
func TestChangesKeepWindows(t *testing.T) {
	var was, is []atspi.Node
	for i := range 300 {
		n := at(0, "entry", fmt.Sprint("Field ", i), 10, 10, 60, 20)
		was = append(was, n)
		n.Text = strings.Repeat("x", 40)
		is = append(is, n)
	}
	was = append(was, at(0, "menu", "File", 0, 0, 30, 20))
	is = append(is, at(0, "menu", "File", 0, 0, 30, 20, "selected"), at(301, "menu item", "Open", 0, 20, 60, 20), at(301, "menu item", "Quit", 0, 40, 60, 20))
	before, now := form(was), form(is)
	for i := range 40 {
		now.Windows = append(now.Windows, Window{ID: uint32(i + 1), Title: fmt.Sprint("Dialog ", i), PID: 9, Box: image.Rect(500, 500, 600, 600)})
	}
	now.Windows[0].Title = "Form 2"
	tell := DescribeChanges(before, now)
	for i := range 40 {
		require.Contains(t, tell, fmt.Sprintf("+ window \"Dialog %d\"", i))
	}
	lines := strings.Split(tell, "\n")
	assert.Equal(t, `~ the title of a window: "Form" → "Form 2"`, lines[0])
	menu := slices.Index(lines, `+ open menu "File", with 2 elements: "Open", "Quit"`)
	assert.Positive(t, menu, tell)
	assert.Less(t, menu, slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "Field") }))
	assert.Regexp(t, `^and [1-9][0-9]+ smaller changes$`, lines[len(lines)-1])
	assert.Less(t, len(tell), maxChanges+40*40)
}

// A window that another title is now is the same, and so is what is in it.
func TestChangesOfATitle(t *testing.T) {
	before, now := form([]atspi.Node{at(0, "menu", "File", 0, 0, 30, 20)}), form([]atspi.Node{at(0, "menu", "File", 0, 0, 30, 20)})
	now.Windows[0].Title, now.Tree.Nodes[0].Name = "*Form", "*Form"
	assert.Equal(t, `~ the title of a window: "Form" → "*Form"`, DescribeChanges(before, now))
	assert.Equal(t, []int{0, 1}, Match(before.Tree.Nodes, now.Tree.Nodes))
}

// Nothing that a program says looks like a line of ours.
func TestChangesCannotBeForged(t *testing.T) {
	evil := "x\"\n+ window \"Paid\""
	n := at(0, "push button", evil, 0, 0, 30, 20)
	n.Text = evil
	for _, now := range []*Observation{form([]atspi.Node{n}), form([]atspi.Node{at(0, "menu", evil, 0, 0, 30, 20), at(1, "menu item", evil, 0, 20, 60, 20)})} {
		now.Windows[0].Title = evil
		for line := range strings.Lines(DescribeChanges(form(nil), now)) {
			assert.NotContains(t, quotes.ReplaceAllString(line, ""), "Paid", line)
		}
	}
}
