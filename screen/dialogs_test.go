//go:build linux

package screen_test

import (
	"fmt"
	"image"
	"regexp"
	"slices"
	"strings"
	"testing"

	"desktop-agent/sandbox"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDialogs has dialogs of a real program: what one says is told whole, a form in the
// order in which one reads, and of two values that were swapped both.
func TestDialogs(t *testing.T) {
	d := newDesk(t, &sandbox.Options{Size: image.Pt(1000, 700)})
	s := d.screen(screen.Options{Settle: unhurried, Tree: d.tree()})
	var long strings.Builder
	for i := 1; long.Len() < 1500; i++ {
		fmt.Fprintf(&long, "Condition %d of the licence says this. ", i)
	}
	said := strings.TrimSpace(long.String())
	p, err := d.Open(limit(t), "zenity", "--question", "--title=Licence", "--text="+said, "--width=600")
	require.NoError(t, err)
	text := d.until(s, there(deed{role: "push button", name: "Yes"})).Text(0)
	inOrder(t, text, `window "Licence"`, said, `"No"`, `"Yes"`)
	assert.Equal(t, 1, strings.Count(text, "Condition 1 "), "it is told once:\n%s", text)
	require.NoError(t, p.Close())

	d.open("zenity", "--forms", "--title=Scale", "--text=The picture", "--add-entry=Width", "--add-entry=Height", "--add-combo=Unit", "--combo-values=Pixels|Inches")
	empty := d.until(s, there(deed{role: "push button", name: "OK"}))
	inOrder(t, empty.Text(0), `window "Scale"`, `"The picture"`, `textbox beside "Width"`, `textbox beside "Height"`, `combobox beside "Unit"`, `"Cancel"`, `"OK"`)
	holds := func(width, height string) func(*screen.Observation) bool {
		return func(o *screen.Observation) bool {
			has := func(label, text string) bool {
				return slices.ContainsFunc(o.Tree.Nodes, func(n atspi.Node) bool { return n.Label == label && n.Text == text })
			}
			return has("Width", width) && has("Height", height)
		}
	}
	d.key(key3) // it has the focus
	d.key(keyTab)
	d.key(key4)
	filled := d.until(s, holds("3", "4"))
	d.key(keyCtrl, keyA)
	d.key(key3)
	d.key(keyShift, keyTab) // which selects what is there
	d.key(key4)
	swapped := d.until(s, holds("4", "3"))
	tell := changesTold(t, filled, swapped)
	assert.Contains(t, tell, `~ textbox "Width": "3" → "4"`)
	assert.Contains(t, tell, `~ textbox "Height": "4" → "3"`)
}

// TestSwappedByTheProgram holds that width and height of a page are both told when Writer swaps
// them because its page is to lie on the side.
func TestSwappedByTheProgram(t *testing.T) {
	d := newDesk(t, nil)
	soffice("--writer", "")(d)
	s := d.screen(screen.Options{Settle: unhurried, Tree: d.tree()})
	for _, x := range []deed{{"menu", "Format", nil}, {"menu item", "Page Style", nil}, {"page tab", "Page", nil}} {
		d.do(x, d.until(s, there(x)))
	}
	lie := deed{"radio button", "Landscape", nil}
	before := d.until(s, there(lie))
	d.do(lie, before)
	now := d.until(s, func(o *screen.Observation) bool {
		i := lie.in(o)
		return i >= 0 && o.Tree.Nodes[i].Has("checked")
	})
	told := strings.Join(changesTold(t, before, now), "\n")
	was := regexp.MustCompile(`(?m)^~ spinbutton "Width:": "(.+)" → "(.+)"$`).FindStringSubmatch(told)
	require.NotNil(t, was, told)
	assert.Contains(t, told, fmt.Sprintf("~ spinbutton \"Height:\": %q → %q\n", was[2], was[1]))
	assert.NotEqual(t, was[1], was[2])
}
