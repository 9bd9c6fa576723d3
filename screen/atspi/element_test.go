//go:build linux

package atspi

import (
	"errors"
	"image"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/internal/permit"
)

// An element is asked for alone: as long as it is there it tells what it is, and a
// program that has ended tells nothing.
func TestNow(t *testing.T) {
	b := newBench(t, nil)
	p := b.open("mousepad")
	nodes, i := b.waitAll("the menu", named("menu", "File"))
	menu := nodes[i]
	now, err := b.Now(t.Context(), menu)
	require.NoError(t, err)
	assert.Equal(t, menu, now)

	elsewhere := menu
	elsewhere.Box = menu.Box.Add(image.Pt(0, 30))
	_, err = b.Now(t.Context(), elsewhere)
	require.ErrorIs(t, err, ErrUnknown, "of another tree than the last")

	b.click(menu.Box)
	nodes, i = b.waitAll("the open menu", named("menu item", "New"))
	item := nodes[i]
	b.chord(0xff1b) // Escape: a click within 500 ms of the one that opened it leaves a menu of GTK open
	require.Eventually(t, func() bool {
		_, err := b.Now(t.Context(), item)
		return err != nil
	}, patience, 1e6, "the menu is closed")

	require.NoError(t, p.Close())
	require.Eventually(t, func() bool {
		_, err := b.Now(t.Context(), menu)
		return err != nil
	}, patience, 1e6, "the program has ended")
	_, err = b.Now(t.Context(), Node{})
	require.ErrorIs(t, err, ErrUnknown)
}

// agrees holds that what an element is when it is asked for alone is what it is in the tree.
func (b *bench) agrees(wanted func(Node) bool) {
	b.Helper()
	type answer struct {
		was, now Node
		err      error
	}
	var answers []answer
	nodes, _ := b.waitAll("what is to be compared", wanted)
	for _, n := range nodes {
		now, err := b.Now(b.Context(), n)
		answers = append(answers, answer{n, now, err})
	}
	// A program that has just started is not yet what it will be: it names its window, say.
	after, _ := b.tree()
	lasted := func(n Node) bool {
		return slices.ContainsFunc(after, func(a Node) bool { return a.Key == n.Key && a.Role == n.Role && a.Name == n.Name })
	}
	compared := false
	for _, a := range answers {
		if ShowsContent(a.was.Role) || !lasted(a.was) || errors.Is(a.err, ErrUnknown) && !wanted(a.was) {
			continue // it shows something else by now, perhaps; or it is gone, or is no object, as a sheet's header
		}
		compared = compared || wanted(a.was)
		require.NoError(b, a.err, "%+v", a.was)
		assert.Equal(b, []string{a.was.Role, a.was.Name}, []string{a.now.Role, a.now.Name}, "%+v", a.was)
	}
	assert.True(b, compared, "what was waited for is there no more")
}

// What an element is when it is asked for alone is what it is in the tree: else each click
// on it would seem to hit something else. [TestReadSpreadsheet] holds it of the cells of a sheet.
func TestNowAgreesWithTheTree(t *testing.T) {
	t.Run("menus of Qt", func(t *testing.T) {
		if _, err := exec.LookPath("featherpad"); err != nil {
			t.Skip("featherpad is not installed (apt-get install featherpad): there is no program of Qt to read")
		}
		b := newBench(t, &Options{Silence: 5 * time.Second, AppTimeout: patience, Enable: true})
		b.open("featherpad", "--standalone")
		b.agrees(named("menu", "File"))
		field := func(n Node) bool { return n.Role == "text" && n.Has("multi-line") }
		require.NoError(t, b.Set(t.Context(), permit.Grant(), b.wait("the text", field), "Dear Ann,"))
		b.wait("the text", func(n Node) bool { return field(n) && n.Text == "Dear Ann," })
	})
	t.Run("icon in a field of GTK", func(t *testing.T) {
		b := newBench(t, nil)
		b.open("thunar", t.TempDir())
		b.agrees(func(n Node) bool { return n.Role == "icon" })
	})
	t.Run("long names", func(t *testing.T) {
		b := newBench(t, &Options{Silence: 20 * time.Second, AppTimeout: patience})
		b.lie(&liar{
			children: map[string][]string{"root": {"window"}, "window": {"long", "spaced"}},
			name:     map[string]string{"long": strings.Repeat("a", 1<<16), "spaced": " Save "},
		})
		b.agrees(named("push button", "Save"))
	})
}

// How much memory the page of a tab has at the moment is no part of its name.
func TestTabsOfABrowser(t *testing.T) {
	called := map[string]string{
		"New Tab - Memory usage - 33.3 MB":                       "New Tab",
		"Mail - Audio playing - High memory usage - 1.2\u00a0GB": "Mail - Audio playing",
		"How to lower memory usage - 7 MB":                       "How to lower memory usage - 7 MB",
		"Memory usage - 5 MB a page - Forum":                     "Memory usage - 5 MB a page - Forum",
		"Tabs - Memory usage - 3 GB - Memory usage - 512 kB":     "Tabs - Memory usage - 3 GB",
		"Notes - Part of group Memory usage - Pinned - Crashed":  "Notes - Part of group Memory usage - Pinned - Crashed",
	}
	l := &liar{children: map[string][]string{"root": {"window"}}, name: map[string]string{"button": "Save - Memory usage - 3 MB"}, toolkit: "Chromium"}
	l.children["window"] = []string{"button"}
	for name := range called {
		tab := "tab" + strconv.Itoa(len(l.name))
		l.children["window"], l.name[tab] = append(l.children["window"], tab), name
	}
	b := newBench(t, &Options{Silence: 20 * time.Second, AppTimeout: patience})
	b.lie(l)
	nodes, _ := b.waitAll("what is no tab", named("push button", "Save - Memory usage - 3 MB"))
	tabs := map[string]bool{}
	for _, n := range nodes {
		now, err := b.Now(t.Context(), n)
		require.NoError(t, err)
		assert.Equal(t, n.Name, now.Name)
		tabs[n.Name] = n.Role == "page tab"
	}
	for name, short := range called {
		assert.True(t, tabs[short], "%s in %v", name, tabs)
	}
}

func TestMoved(t *testing.T) {
	box, told := image.Rect(10, 40, 30, 60), image.Rect(10, 20, 30, 50)
	assert.Equal(t, box, moved(box, told, told))
	assert.Equal(t, box.Add(image.Pt(5, 7)), moved(box, told, told.Add(image.Pt(5, 7))))
	assert.Equal(t, image.Rect(10, 40, 40, 60), moved(box, told, image.Rect(10, 20, 40, 50)))
}

// BenchmarkNow asks a spreadsheet for one of its elements.
func BenchmarkNow(b *testing.B) {
	desk := newBench(b, nil)
	desk.openCalc()
	nodes, i := desk.waitAll("the menu", named("menu", "File"))
	for b.Loop() {
		_, err := desk.Now(b.Context(), nodes[i])
		require.NoError(b, err)
	}
}
