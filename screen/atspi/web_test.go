//go:build linux

package atspi

import (
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/internal/permit"
	"desktop-agent/internal/x11/x11test"
)

// openPage opens testdata/page.html in a browser.
func (b *bench) openPage() {
	b.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		b.Skip("chromium is not installed (apt-get install chromium): there is no browser to read")
	}
	page, err := filepath.Abs("testdata/page.html")
	require.NoError(b, err)
	// It goes on writing there for a while after its end.
	profile, err := os.MkdirTemp("", "browser")
	require.NoError(b, err)
	b.Cleanup(func() {
		assert.Eventually(b, func() bool { return os.RemoveAll(profile) == nil }, patience, 10*time.Millisecond)
	})
	b.open("chromium", "--no-sandbox", "--test-type", "--disable-gpu", "--no-first-run", "--no-default-browser-check",
		"--force-renderer-accessibility", "--user-data-dir="+profile, "--window-size=1200,900", "file://"+page)
	// The tree comes in pieces.
	b.wait("the text of the page", func(n Node) bool { return n.Name == "nothing picked" })
	b.wait("parts of a field", named("spin button", "Day From"))
	b.wait("rows", named("push button", "row 3"))
}

// wheel turns the wheel down over a point.
func (b *bench) wheel(at image.Point, times int) {
	b.Helper()
	x11test.Click(b, b.x, 5, at, times)
}

func TestReadPage(t *testing.T) {
	b := newBench(t, &Options{Silence: 5 * time.Second, AppTimeout: patience, Enable: true})
	b.openPage()
	t.Run("fields", b.testFields)
	t.Run("dates", b.testDates)
	t.Run("pictures", b.testPictures)
	t.Run("scrolled text", b.testScrolledText)
	t.Run("scrolled box", b.testScrolledBox)
	t.Run("select", b.testSelect)
	t.Run("set", b.testSet)
}

// A browser sets the number of a field, and the page learns of it as of one that is typed;
// to set a text it does not offer.
func (b *bench) testSet(t *testing.T) {
	count := b.wait("a field for a number", named("spin button", "Count"))
	require.NoError(t, b.Set(t.Context(), permit.Grant(), count, "42"))
	b.wait("the number", func(n Node) bool { return n.Name == "Count" && n.Text == "42" })
	b.wait("the page's answer", func(n Node) bool { return n.Name == "entered 42" })
	notes := b.wait("a field for a text", named("entry", "Notes"))
	assert.False(t, notes.Settable)
	assert.ErrorIs(t, b.Set(t.Context(), permit.Grant(), notes, "42"), ErrNotSettable)
}

// The list of a select shows in a window of its own, and the browser tells the
// places of its entries as if it were not scrolled: what it tells led to Lille where
// Bern was wanted.
func (b *bench) testSelect(t *testing.T) {
	size := b.wait("the closed select", named("combo box", "Size"))
	assert.Equal(t, "small", size.Text)
	city := b.wait("the closed select", named("combo box", "City"))
	assert.Equal(t, "Lille", city.Text)

	b.click(size.Box)
	large := b.wait("an entry", named("menu item", "large"))
	b.click(large.Box)
	b.wait("what was chosen", func(n Node) bool { return n.Name == "Size" && n.Text == "large" })

	for _, chosen := range []string{"Lille", "Amsterdam"} { // of one far up, entries are told to be out of view
		b.click(city.Box)
		nodes, i := b.waitAll("the entries", func(n Node) bool { return n.Role == "menu" && strings.Contains(n.Text, "\nBern\n") })
		assert.False(t, slices.ContainsFunc(nodes, named("menu item", "Bern")), "nobody knows where it is")
		popup := slices.IndexFunc(nodes, func(n Node) bool { return n.Parent < 0 && n.Box == nodes[i].Box })
		assert.GreaterOrEqual(t, popup, 0, "the list is where its window is: %v", nodes[i].Box)
		assert.Len(t, strings.Split(nodes[i].Text, "\n"), 29, chosen)
		b.chord(0xff1b) // Escape
		b.wait("the closed select", func(n Node) bool { return n.Name == "City" && !n.Has("expanded") })
		b.chord(0xff50) // Home
		b.wait("the first", func(n Node) bool { return n.Name == "City" && n.Text == "Amsterdam" })
	}
}

// A field that is empty says so, and not that it is 0.
func (b *bench) testFields(t *testing.T) {
	nodes, _ := b.tree()
	text := func(role, name string) string {
		t.Helper()
		i := slices.IndexFunc(nodes, named(role, name))
		require.GreaterOrEqual(t, i, 0, name)
		assert.NotContains(t, nodes[i].States, "invalid", name)
		return nodes[i].Text
	}
	assert.Empty(t, text("spin button", "Day From"))
	assert.Empty(t, text("spin button", "Year From"))
	assert.Equal(t, "22", text("spin button", "Day Until"))
	assert.Equal(t, "2026", text("spin button", "Year Until"))
	assert.Empty(t, text("spin button", "Number"))
	assert.Equal(t, "7", text("spin button", "Count"))
	button := b.wait("the button", named("push button", "×"))
	assert.Equal(t, "Closes the page", button.Help)
}

// Of a picture without a text the browser says, as its name, how to get one.
func (b *bench) testPictures(t *testing.T) {
	b.wait("a picture", named("image", "A square"))
	nodes, _ := b.tree()
	var names []string
	for _, n := range nodes {
		if n.Role == "image" {
			names = append(names, n.Name)
		}
	}
	assert.ElementsMatch(t, []string{"", "", "A square"}, names)
}

// A date says what it shows, and what is to be seen of it: that it is required, and not that
// it is invalid, which Chromium goes on saying of a required one once a date was entered.
func (b *bench) testDates(t *testing.T) {
	nodes, _ := b.tree()
	for _, name := range []string{"Born", "Built", "Meal", "Agreed"} {
		n := nodes[slices.IndexFunc(nodes, func(n Node) bool { return n.Name == name && n.Role != "static" })]
		assert.False(t, n.Has("invalid"), "%+v", n)
		assert.Equal(t, name != "Built", n.Has("required"), "%+v", n)
	}
	b.wait("what is no address", func(n Node) bool { return n.Name == "Mail" && n.Has("invalid") })
	for name, shown := range map[string]string{
		"Month Built": "03", "Day Built": "09", "Year Built": "2020", // which its limits forbid
		"Hours Opens": "", "Minutes Opens": "", "Month Born": "",
	} {
		i := slices.IndexFunc(nodes, named("spin button", name))
		require.GreaterOrEqual(t, i, 0, name)
		assert.Equal(t, shown, nodes[i].Text, name)
	}

	b.click(b.wait("a date", named("spin button", "Month Born")).Box)
	b.wait("its focus", func(n Node) bool { return n.Name == "Month Born" && n.Has("focused") })
	b.typeKeys("11222026")
	nodes, i := b.waitAll("the year", func(n Node) bool { return n.Name == "Year Born" && n.Text == "2026" })
	for nodes[i].Role != "date editor" {
		i = nodes[i].Parent
		require.GreaterOrEqual(t, i, 0)
	}
	assert.Equal(t, []string{"required"}, nodes[i].States)
}

// Of a text that is scrolled, the part that can be seen is told, with its place.
func (b *bench) testScrolledText(t *testing.T) {
	notes := b.wait("the text", func(n Node) bool { return n.Name == "Notes" && strings.HasPrefix(n.Text, "line 1\n") })
	assert.Less(t, len(notes.Text), 60)
	assert.Equal(t, 1, notes.Line)
	b.wheel(middle(notes.Box), 3)
	at, still := 0, 0
	n := b.wait("the text below, at rest", func(n Node) bool { // a click while it glides puts the caret nowhere
		if n.Name != "Notes" {
			return false
		}
		if still++; n.Start != at {
			at, still = n.Start, 0
		}
		return n.Line > 5 && n.Start > 0 && still >= 10
	})
	first, _, _ := strings.Cut(n.Text, "\n")
	assert.Equal(t, "line "+strconv.Itoa(n.Line), first)
	assert.Equal(t, notes.Length, n.Length)
	assert.Zero(t, n.Caret, "it has no focus")
	b.click(n.Box)
	b.wait("the caret", func(n Node) bool { return n.Name == "Notes" && n.Caret > 0 && n.Caret <= len(n.Text)+1 })
}

// What a box of a page has scrolled away, or hides by its scroll bars, is counted,
// not placed: a click on everything that is listed hits that.
func (b *bench) testScrolledBox(t *testing.T) {
	row := func(n Node) bool { return n.Role == "push button" && strings.HasPrefix(n.Name, "row ") }
	b.wheel(middle(b.wait("a row", row).Box), 1)
	require.Eventually(t, func() bool { // a browser that is busy begins to scroll late
		nodes, _ := b.tree()
		return !slices.ContainsFunc(nodes, func(n Node) bool { return row(n) && n.Name == "row 1" })
	}, patience, 50*time.Millisecond)
	var rows []Node
	for end := time.Now().Add(patience); time.Now().Before(end); { // until it stays where it is
		nodes, _ := b.tree()
		now := slices.DeleteFunc(nodes, func(n Node) bool { return !row(n) })
		if len(now) > 0 && slices.EqualFunc(rows, now, func(a, b Node) bool { return a.Name == b.Name && a.Box == b.Box }) {
			break
		}
		rows = now
		time.Sleep(200 * time.Millisecond)
	}
	require.Greater(t, len(rows), 2)
	for _, n := range []Node{rows[0], rows[len(rows)-1]} {
		b.click(n.Box)
		b.wait("the click on "+n.Name, func(m Node) bool { return m.Name == "picked "+n.Name })
	}
	nodes, i := b.waitAll("paragraphs", func(n Node) bool { return n.Name == "Paragraph 1" })
	section := nodes[nodes[nodes[i].Parent].Parent]
	shown := 0
	for _, n := range nodes {
		if n.Role == "paragraph" && strings.HasPrefix(n.Text, "Paragraph ") {
			shown++
		}
	}
	assert.Equal(t, 200-shown, section.Beyond.Below, "%+v", section)
}
