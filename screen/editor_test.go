//go:build linux

package screen_test

import (
	"image"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"desktop-agent/sandbox"
	"desktop-agent/screen"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestChangesOfAnEditor holds what is told of an editor while one works with it: of its
// caret, its context menu, and the dialog that must be answered before it closes.
func TestChangesOfAnEditor(t *testing.T) {
	d := newDesk(t, &sandbox.Options{Size: image.Pt(1000, 700)})
	// A text cursor of GTK stops blinking after ten seconds, which are soon over on a busy machine.
	settings := filepath.Join(d.Home(), ".config", "gtk-3.0", "settings.ini")
	require.NoError(t, os.MkdirAll(filepath.Dir(settings), 0o700))
	require.NoError(t, os.WriteFile(settings, []byte("[Settings]\ngtk-cursor-blink-timeout=3600\n"), 0o600))
	letter := filepath.Join(d.Home(), "letter.txt")
	require.NoError(t, os.WriteFile(letter, []byte("Dear Ann"), 0o600))
	d.open("mousepad", letter)
	s := d.screen(screen.Options{Settle: unhurried, Tree: d.tree()})
	text := deed{role: "text"}
	says := func(words string) func(*screen.Observation) bool {
		return func(o *screen.Observation) bool { i := text.in(o); return i >= 0 && o.Tree.Nodes[i].Text == words }
	}
	caret := func(at int) func(*screen.Observation) bool {
		return func(o *screen.Observation) bool { return o.Tree.Nodes[text.in(o)].Caret == at }
	}
	d.do(text, d.until(s, says("Dear Ann")))
	d.key(keyEnd)
	first := d.until(s, caret(9))
	box := first.Tree.Nodes[text.in(first)].Box

	// Both ways of a blink are one picture, and the caret that moves is another to either.
	blinked := d.until(s, func(o *screen.Observation) bool { return !screen.DiffBox(first.Bare, o.Bare).Empty() })
	assert.True(t, screen.DiffBox(first.Bare, blinked.Bare).In(box), "in the text")
	assert.True(t, screen.SamePicture(first.Bare, blinked.Bare))
	assert.True(t, screen.SameTree(first, blinked))
	assert.Equal(t, "nothing", screen.DescribeChanges(first, blinked))
	d.key(keyLeft)
	moved := d.until(s, caret(8))
	for _, before := range []*screen.Observation{first, blinked} {
		assert.False(t, screen.SamePicture(before.Bare, moved.Bare) && screen.SameTree(before, moved))
		assert.Equal(t, `~ textbox: caret at 7, after "Dear An"`, screen.DescribeChanges(before, moved))
	}

	d.key(keyA)
	typed := d.until(s, says("Dear Anan"))
	tell := changesTold(t, moved, typed)
	assert.Contains(t, tell[0], `the title of a window: "`)
	assert.Contains(t, tell, `~ textbox: "Dear Ann" → "Dear Anan"`)
	// The menu is told before the letter that was typed before it opened.
	d.key(keyA)
	d.press(3, box.Min.Add(box.Max).Div(2))
	menu := d.until(s, there(deed{role: "menu item", name: "Select All"}))
	tell = changesTold(t, typed, menu)
	assert.Regexp(t, `^\+ popup "Mousepad", with \d+ elements: "Undo", .*"Paste", .*"Select All"`, tell[0])
	assert.Contains(t, tell[1:], `~ textbox: "Dear Anan" → "Dear Anaan"`)
	d.key(keyEscape)
	closed := d.until(s, func(o *screen.Observation) bool { return !there(deed{role: "menu item", name: "Select All"})(o) })
	assert.Regexp(t, `^- popup "Mousepad", with \d+ elements$`, changesTold(t, menu, closed)[0])

	// The dialog comes first, with all that it says, and the editor is one line.
	d.key(keyCtrl, keyW)
	asked := d.until(s, there(deed{role: "push button", name: "Don't Save"}))
	list := strings.Split(strings.TrimSpace(asked.Text(0)), "\n")
	assert.Equal(t, `modal dialog "Save Changes" ("Mousepad") focused`, list[0])
	assert.Regexp(t, `^window "\*.*letter\.txt - Mousepad", blocked by the dialog: \d+ elements$`, list[len(list)-1])
	between := strings.Join(list[1:len(list)-1], "\n")
	inOrder(t, between, "Do you want to save the changes before closing?", "all the changes will be lost.", `"Cancel"`, `"Don't Save"`, `"Save"`)
	assert.NotRegexp(t, `(?m)^window|"File"|Dear`, between)
	tell = changesTold(t, closed, asked)
	assert.Regexp(t, `^\+ modal dialog "Save Changes" \("Mousepad"\), with the focus, with 5 elements: .*"Cancel", "Don't Save", "Save"$`, tell[0])
}

// changesTold returns the lines that tell what changed, of which none is there twice, none
// is about what has no name, and none was cut.
func changesTold(tb testing.TB, before, now *screen.Observation) []string {
	tb.Helper()
	lines := strings.Split(screen.DescribeChanges(before, now), "\n")
	seen := map[string]bool{}
	for _, line := range lines {
		assert.False(tb, seen[line], "told twice: %s", line)
		seen[line] = true
		assert.NotContains(tb, line, "smaller change")
		if nameless.MatchString(line) {
			assert.Contains(tb, line, `"`, "something without a name")
		}
	}
	return lines
}

// nameless matches the lines of what came and went, but for crowds.
var nameless = regexp.MustCompile(`^[-+] [^0-9]`)

// inOrder holds that words are in a text, one behind the other.
func inOrder(tb testing.TB, text string, words ...string) {
	tb.Helper()
	rest := text
	for _, w := range words {
		_, after, found := strings.Cut(rest, w)
		require.True(tb, found, "%s is not behind what comes before it in\n%s", w, text)
		rest = after
	}
}
