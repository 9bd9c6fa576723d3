//go:build linux

package ocr_test

import (
	"image"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/screen"
)

func TestTerminal(t *testing.T) {
	d := newDesk(t, image.Pt(1280, 800))
	text, err := os.ReadFile("testdata/terminal.txt")
	require.NoError(t, err)
	d.write("terminal.txt", string(text))
	for name, tt := range map[string]struct {
		options []string
		least   float64
	}{
		"light":  {[]string{"-fg", "black", "-bg", "white"}, .98},
		"dark":   {[]string{"-fg", "gray90", "-bg", "black"}, .98},
		"bitmap": {[]string{"-xrm", "XTerm*renderFont: false", "-fn", "fixed"}, .85}, // 6×13 pixels, without smooth edges
	} {
		t.Run(name, func(t *testing.T) {
			d.open("xterm", append(tt.options, "-title", name, "-e", "cat terminal.txt; sleep 1000")...)
			o := d.until("the terminal shows it", func(o *screen.Observation) bool { w, _ := o.Focused(); return w.Title == name && len(read(o)) > 15 })
			share := right(string(text), read(o))
			t.Logf("%.2f %% of %d characters; ms %d", 100*share, len(squeeze(string(text))), o.Timing.OCR.Milliseconds())
			if testing.Verbose() {
				t.Log("\n" + strings.Join(read(o), "\n"))
			}
			assert.Greater(t, share, tt.least)
		})
	}
}

// TestAgain holds that what was read is not read again, and that after a change only
// the changed lines are.
func TestAgain(t *testing.T) {
	d := newDesk(t, image.Pt(900, 500))
	d.write("first.txt", "The first line stays\nThe second line stays\n")
	for _, name := range []string{"more.txt", "bar.txt"} { // pipes, which the terminal waits for without work
		require.NoError(t, syscall.Mkfifo(filepath.Join(d.Home(), name), 0o600))
	}
	d.open("xterm", "-e", "cat first.txt more.txt bar.txt; sleep 1000")
	shows := func(text string) func(*screen.Observation) bool {
		return func(o *screen.Observation) bool { source, _ := o.Find(text); return source == "ocr" }
	}
	first := d.until("the first text is read", shows("The second line stays"))
	n := d.reader.Started()
	again, err := d.screen.Observe(limit(t))
	require.NoError(t, err)
	assert.Equal(t, n, d.reader.Started(), "nothing has changed, so nothing is read")
	assert.Equal(t, read(first), read(again))
	assert.True(t, screen.SamePicture(first.Bare, again.Bare) && screen.SameTree(first, again))

	d.write("more.txt", "A third line has come\n")
	last := d.until("the change is read", shows("A third line has come"))
	assert.LessOrEqual(t, d.reader.Started(), n+2, "one process for the new line, and one if the cursor was seen apart")
	for _, old := range first.Tree.Nodes {
		for _, now := range last.Tree.Nodes {
			if old.Text == now.Text && old.Text != "" {
				assert.Equal(t, old.ID, now.ID, "a line keeps its name")
			}
		}
	}

	list := last.Text(0)
	assert.Regexp(t, `\n *n\d+ text line = "The first line stays" \(read from the picture\) @\d+,\d+\n`, list)
	assert.Regexp(t, `\n *n\d+ text line = "A third line has come" \(read from the picture\)\n`, list, "its place is below the first")
	assert.Contains(t, list, `focused, the program tells no text`)
	assert.Equal(t, -1, last.PlaceAtDevice(box(t, last, "A third line has come").Min).Node, "there is nothing to hit")
	assert.Empty(t, last.Told().Tree.Nodes)
	assert.NotZero(t, last.Timing.OCR)
	assert.Equal(t, "nothing", screen.DescribeChanges(first, again))
	assert.Equal(t, `+ text line "A third line has come"`, screen.DescribeChanges(first, last))

	// What is drawn without a text is not nothing; and who cannot read says so.
	blind, err := screen.Open(limit(t), &screen.Options{Display: d.Display(), Tree: d.tree})
	require.NoError(t, err)
	t.Cleanup(func() { blind.Close() })
	before, err := blind.Observe(limit(t))
	require.NoError(t, err)
	d.write("bar.txt", "\n\033[41m               \033[0m\n")
	d.until("a red bar is drawn", func(o *screen.Observation) bool {
		changed := !screen.SamePicture(last.Bare, o.Bare)
		if changed {
			assert.Equal(t, "nothing that is told, but the picture changed", screen.DescribeChanges(last, o))
		}
		return changed
	})
	now, err := blind.Observe(limit(t))
	require.NoError(t, err)
	assert.Regexp(t, `^the program of window ".+" tells no text$`, screen.DescribeChanges(before, now))
}

func box(t *testing.T, o *screen.Observation, text string) image.Rectangle {
	for _, n := range o.Tree.Nodes {
		if n.Text == text {
			return n.Box
		}
	}
	require.Fail(t, "not there", text)
	return image.Rectangle{}
}

// TestEditor holds that the text of a program that tells it is not read, and that
// what would be read of it is what it tells.
func TestEditor(t *testing.T) {
	d := newDesk(t, image.Pt(1280, 800))
	letter, err := os.ReadFile("testdata/letter.txt")
	require.NoError(t, err)
	d.write("letter.txt", string(letter))
	d.open("mousepad", "letter.txt")
	o := d.until("the editor tells its text", func(o *screen.Observation) bool {
		source, _ := o.Find("Margaret Okafor")
		return source == "tree"
	})
	assert.Empty(t, read(o), "a program that tells its text")
	assert.Zero(t, d.reader.Started())
	short := 0
	for _, n := range o.Tree.Nodes {
		if n.Role != "text" {
			continue
		}
		lines, err := d.reader.Lines(limit(t), o.Bare, []image.Rectangle{n.Box})
		require.NoError(t, err)
		var texts []string
		for _, l := range lines {
			assert.True(t, l.Box.In(n.Box.Inset(-bandRoom)), "%v in %v", l.Box, n.Box)
			texts = append(texts, l.Text)
		}
		want, got := strings.Split(n.Text, "\n"), strings.Join(texts, "\n")
		for i := range want { // what is longer is cut by the window
			want[i] = string([]rune(want[i])[:min(len([]rune(want[i])), 60)])
		}
		t.Logf("\n%s", got)
		for _, line := range want {
			if len([]rune(line)) < 60 && line != "" {
				short++
				assert.Contains(t, squeeze(got), squeeze(line))
			}
		}
	}
	assert.Greater(t, short, 5, "lines that were compared")
}

// bandRoom is how far a box may go beyond what was asked for: its rounding.
const bandRoom = 2
