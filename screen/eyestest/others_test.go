//go:build linux

package eyestest

import (
	"testing"

	"desktop-agent/screen/atspi"
)

// TestVLC has the states of a program of Qt.
func TestVLC(t *testing.T) {
	need(t, "vlc", "vlc")
	d := newDesk(t)
	d.open(wide, "vlc", "--no-qt-privacy-ask", "--no-qt-updates-notif")
	d.look("the menus", func(n atspi.Node) bool { return n.Role == "menu item" || n.Role == "menu" })
	d.judge(state{name: "vlc/main", says: []string{"Media", "Playback"}})
	_, media := d.look("the menu", func(n atspi.Node) bool { return n.Name == "Media" })
	d.click(middle(media.Box))
	d.look("the menu's items", func(n atspi.Node) bool { return n.Name == "Quit" })
	d.judge(state{name: "vlc/menu", says: []string{"Quit"}})
	d.key(keyEscape)
}

// TestGimp has the state of a program of GTK 2.
func TestGimp(t *testing.T) {
	need(t, "gimp", "gimp")
	d := newDesk(t)
	d.open(wide, "gimp", "--no-splash")
	d.observe()
	d.judge(state{name: "gimp/main"})
}
