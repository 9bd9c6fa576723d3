//go:build linux

package eyestest

import (
	"fmt"
	"image"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// TestZenity has dialogs: a list that is longer than its window, forms, a calendar.
func TestZenity(t *testing.T) {
	heavy(t)
	need(t, "zenity", "zenity")
	d := newDesk(t)
	args := []string{"--list", "--title=Parts", "--text=Pick a part", "--column=Part", "--column=Price", "--column=Where it is kept in the store house"}
	for i := range 40 {
		args = append(args, fmt.Sprintf("Bolt M%d", i), fmt.Sprintf("%d.25", i), fmt.Sprintf("Shelf %d in the long hall beside the window", i))
	}
	list := d.open(image.Rect(20, 40, 360, 340), "zenity", args...)
	cell := d.wait("table cell", "Bolt M3")
	d.judge(state{name: "zenity/list", says: []string{"Bolt M3"}, silent: []string{"Bolt M30"}})
	d.wheel(middle(cell.Box), 5)
	d.judge(state{name: "zenity/list scrolled", silent: []string{`"Bolt M1"`, "Bolt M35"}})
	list.Close()

	d.open(image.Rect(20, 40, 520, 540), "zenity", "--forms", "--title=Visit", "--text=Your visit", "--add-entry=First name",
		"--add-password=Pass word", "--add-combo=Meal", "--combo-values=Soup|Bread|Cheese", "--add-calendar=Arrival")
	d.wait("push button", "OK")
	d.judge(state{name: "zenity/forms", says: []string{"First name", "Pass word", "Meal", "Arrival"}, silent: []string{"invalid"}})
	d.click(middle(d.wait("combo box", "").Box))
	d.wait("menu item", "Bread")
	d.judge(state{name: "zenity/combo open", says: []string{"Soup", "Bread", "Cheese"}})
	d.key(keyEscape)
}

// TestLongMenu opens a list of more choices than the screen is high: it scrolls by arrows,
// which lie over the choices at its edges.
func TestLongMenu(t *testing.T) {
	need(t, "zenity", "zenity")
	d := newDesk(t)
	var rooms []string
	for i := range 80 {
		rooms = append(rooms, fmt.Sprintf("Room %d", i+1))
	}
	d.open(image.Rect(20, 40, 520, 240), "zenity", "--forms", "--title=Booking", "--text=Your room", "--add-combo=Room", "--combo-values="+strings.Join(rooms, "|"))
	d.wait("push button", "OK")
	d.click(middle(d.wait("combo box", "").Box))
	d.wait("menu item", "Room 2")
	d.judge(state{name: "zenity/long combo", says: []string{"Room 2", " more below)"}, silent: []string{"Room 80"}})
	d.key(keyEscape)
}

// TestPickers has a calendar and a scale.
func TestPickers(t *testing.T) {
	need(t, "zenity", "zenity")
	d := newDesk(t)
	calendar := d.open(image.Rect(20, 40, 520, 440), "zenity", "--calendar", "--title=Day", "--text=Pick a day", "--year=2026", "--month=3", "--day=14", "--date-format=%F")
	d.wait("push button", "OK")
	d.judge(state{name: "zenity/calendar", chooser: d.day, says: []string{`"March"`, `"2026"`, `"13"`, `"14"`, `"31"`}})
	if hasOCR(t) {
		_, day := d.look("a day", func(n atspi.Node) bool { return n.Read && n.Text == "23" })
		d.click(middle(day.Box))
		d.clickOn("push button", "OK")
		select {
		case <-calendar.Done():
		case <-time.After(patience):
		}
		require.Contains(t, calendar.Output(), "2026-03-23")
	}
	calendar.Close()

	d.open(image.Rect(20, 40, 420, 240), "zenity", "--scale", "--title=Loud", "--text=How loud", "--value=40")
	d.wait("push button", "OK")
	d.judge(state{name: "zenity/scale", says: []string{`= "40"`, "How loud"}})
}

// day clicks a day of a calendar, which has another look as long as it is the one that is
// chosen; the others have not. It clicks the arrows too, by which another month or year is
// shown: four in all, from left to right, after which it is the same one again.
func (d *desk) day(it item) (instead string, known bool) {
	box := it.node.Box
	around, arrow := box, it.node.Role == screen.RoleIcon
	if arrow {
		around = image.Rect(0, box.Min.Y, 520, box.Max.Y)
	} else if n, err := strconv.Atoi(it.said()); err != nil || n < 1 || n > 31 {
		return "", false
	}
	before, err := d.eyes.Capture(d.t.Context())
	require.NoError(d.t, err)
	d.click(it.at)
	const few = 40
	for end := time.Now().Add(patience / 4); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		after, err := d.eyes.Capture(d.t.Context())
		require.NoError(d.t, err)
		// The box around a number has some hundred pixels; so has the name of a month.
		if in, out := changed(before, after, box, around); arrow && out >= few || !arrow && in >= few {
			return "", true
		}
	}
	return "another one, or none", true
}
