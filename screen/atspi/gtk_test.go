//go:build linux

package atspi

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Fields of which no relation says what they are for are called after the text
// beside them, and a list counts what is scrolled out of view.
func TestReadForm(t *testing.T) {
	b := newBench(t, nil)
	entries := make([]string, 60)
	for i := range entries {
		entries[i] = fmt.Sprintf("entry %d", i)
	}
	b.open("zenity", "--forms", "--text=Choose", "--add-entry=Given name", "--add-password=Secret",
		"--add-combo=Country", "--combo-values=Norway|Sweden|Finland",
		"--add-list=People", "--list-values="+strings.Join(entries, "|"))
	nodes, i := b.waitAll("the form", named("table cell", "entry 0"))
	labels := map[string]string{}
	for _, n := range nodes {
		if n.LabelFrom == LabelBeside {
			labels[n.Label] = n.Role
		}
	}
	assert.Equal(t, map[string]string{"Given name": "text", "Secret": "password text", "Country": "combo box"}, labels)
	shown := 0
	for _, n := range nodes {
		if strings.HasPrefix(n.Name, "entry ") {
			shown++
		}
	}
	list := nodes[nodes[i].Parent]
	assert.Less(t, shown, len(entries))
	assert.InDelta(t, len(entries)-shown, list.Beyond.Below, 1, "one may be left out as it is cut off")
	assert.Zero(t, list.Beyond.Above)

	combo := b.wait("the closed combo box", named("combo box", ""))
	assert.Empty(t, combo.Text)
	b.click(combo.Box)
	b.click(b.wait("an entry", named("menu item", "Sweden")).Box)
	combo = b.wait("what was chosen", func(n Node) bool { return n.Role == "combo box" && n.Text == "Sweden" })
	assert.Equal(t, "Country", combo.Label)
	name := b.wait("the field", func(n Node) bool { return n.Label == "Given name" })
	assert.True(t, name.Settable)
	assert.False(t, name.Has("multi-line"), "an entry has one line")
	require.Eventually(t, func() bool { // the list that closes has the pointer for a moment still
		b.click(name.Box)
		nodes, _, err := b.Read(t.Context())
		return err == nil && slices.ContainsFunc(nodes, func(n Node) bool { return n.Label == "Given name" && n.Has("focused") })
	}, patience, 50*time.Millisecond)
	b.typeKeys("ann")
	b.wait("the caret", func(n Node) bool { return n.Text == "ann" && n.Caret == 4 })
	b.chord(0xff51) // Left
	b.wait("the caret", func(n Node) bool { return n.Text == "ann" && n.Caret == 3 })
}

// In Arabic, a program of GTK lays its windows out from right to left.
func TestReadFormFromRightToLeft(t *testing.T) {
	b := newBench(t, nil)
	b.open("env", "LANGUAGE=ar", "LC_ALL=C.UTF-8", "zenity", "--forms", "--text=زيارة", "--add-entry=الاسم", "--add-entry=المدينة", "--add-combo=البلد", "--combo-values=مصر|لبنان")
	nodes, i := b.waitAll("a label", named("label", "الاسم"))
	field := slices.IndexFunc(nodes, func(n Node) bool { return n.Role == "text" })
	require.GreaterOrEqual(t, field, 0)
	if nodes[i].Box.Min.X < nodes[field].Box.Min.X {
		t.Skip("GTK is installed without Arabic here, and lays out from left to right")
	}
	labels := map[string]string{}
	for _, n := range nodes {
		if n.LabelFrom == LabelBeside {
			labels[n.Label] = n.Role
		}
	}
	assert.Equal(t, map[string]string{"الاسم": "text", "المدينة": "text", "البلد": "combo box"}, labels)
}

// Where the icon in a field has the name of a picture, that is not told as a name.
func TestReadFileManager(t *testing.T) {
	b := newBench(t, nil)
	folder := t.TempDir()
	b.open("thunar", folder)
	b.wait("the field of the place", func(n Node) bool { return strings.Contains(n.Text, folder) })
	nodes, i := b.waitAll("the icon in it", func(n Node) bool { return n.Role == "icon" })
	require.GreaterOrEqual(t, nodes[i].Parent, 0)
	assert.Contains(t, nodes[nodes[i].Parent].Text, folder)
	assert.Empty(t, nodes[i].Name)
}

// A cell with an icon and a name in it is told by these, and so are the headers of a
// table too long to be read whole.
func TestReadFilesInColumns(t *testing.T) {
	b := newBench(t, nil)
	folder := t.TempDir()
	for i := range 100 {
		require.NoError(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("file %02d", i)), nil, 0o600))
	}
	b.open("thunar", folder)
	b.wait("the window, with the focus", func(n Node) bool { return n.Parent < 0 && n.Has("active") })
	b.chord(0xffe3, 0x32) // Ctrl+2 shows details
	nodes, i := b.waitAll("the first file", named("table cell", "file 00"))
	header := slices.IndexFunc(nodes, named("table column header", "Name"))
	require.GreaterOrEqual(t, header, 0)
	assert.GreaterOrEqual(t, nodes[i].Box.Min.Y, nodes[header].Box.Max.Y)
	cell := nodes[nodes[i].Parent]
	assert.Equal(t, "file 00", cell.Called())
	list := nodes[cell.Parent]
	shown := 0
	for _, n := range nodes {
		if strings.HasPrefix(n.Name, "file ") {
			shown++
		}
	}
	assert.InDelta(t, 100-shown, list.Beyond.Below, 1, "%+v", list)
}
