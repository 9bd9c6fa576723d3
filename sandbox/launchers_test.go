//go:build linux

package sandbox_test

import (
	"context"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"desktop-agent/internal/x11"
	"desktop-agent/internal/x11/x11test"
	"desktop-agent/sandbox"

	"github.com/stretchr/testify/require"
)

// Keycodes of the keyboard that every X server of a desktop has.
const (
	keyReturn, keyDown, keyEnd, keySuper, keyRight byte = 36, 116, 115, 133, 114
	keyControl, keyAlt, keyT, keyD, keyF1          byte = 37, 64, 28, 40, 67
)

// chord presses keys one after the other, lets them go, and returns when the window
// manager has taken them.
func chord(t *testing.T, c *x11.Conn, keys ...byte) {
	t.Helper()
	x11test.Press(t, c, keys...)
	require.NoError(t, c.PingManager(t.Context()), "it has taken them")
}

// What a key or the menu starts runs in the container of the guest, with the guest's
// environment: the window manager itself, which is outside of it, starts no program.
func TestLaunchers(t *testing.T) {
	said := func(d *sandbox.Desktop) string {
		text, _ := os.ReadFile(filepath.Join(d.Folder(), "said"))
		return string(text)
	}
	tell := func(word string) []string {
		return []string{"sh", "-c", "echo " + word + " $THROUGH $DESKTOP_AGENT_LAUNCH >>$HOME/said"}
	}
	d := start(t, &sandbox.Options{
		Launchers: []sandbox.Launcher{
			{Key: "C-A-t", Args: tell("key")},
			{Name: `First & "foremost" <b>`, Args: tell("first")},
			{Name: "Missing", Args: []string{"no-such-program"}},
			{Name: "Second", Key: "C-A-d", Args: tell("second")},
		},
		Guest: &sandbox.Guest{Enter: func(_ context.Context, d *sandbox.Desktop) (sandbox.Entrance, error) {
			return sandbox.Entrance{Prefix: []string{"/usr/bin/env", "THROUGH=yes", "HOME=" + d.Folder()}}, nil
		}},
	})
	c := dial(t, d)
	require.NoError(t, c.Extension("XTEST"))
	var want strings.Builder
	for _, tt := range []struct {
		name string
		do   func()
		said string
	}{
		{"a key", func() { chord(t, c, keyControl, keyAlt, keyT) }, "key yes"},
		{"a key of what is in the menu too", func() { chord(t, c, keyControl, keyAlt, keyD) }, "second yes"},
		{"the first of the menu", func() { chord(t, c, keySuper); chord(t, c, keyReturn) }, "first yes"},
		{"a program that is not there, and the last", func() {
			chord(t, c, keyAlt, keyF1)
			chord(t, c, keyDown)
			chord(t, c, keyReturn)
			chord(t, c, keyAlt, keyF1)
			chord(t, c, keyEnd)
			chord(t, c, keyReturn)
		}, "second yes"},
		{"the right button on the desktop", func() {
			x11test.Click(t, c, 3, image.Pt(900, 500), 1)
			require.NoError(t, c.PingManager(t.Context()))
			chord(t, c, keyEnd)
			chord(t, c, keyReturn)
		}, "second yes"},
	} {
		tt.do()
		want.WriteString(tt.said + "\n")
		soon(t, func() bool { return said(d) == want.String() }, tt.name)
	}
	require.NoError(t, d.Err())
	manager := strconv.Itoa(pidOf(t, d, "openbox.xml"))
	soon(t, func() bool {
		out, _ := exec.Command("pgrep", "-P", manager).Output()
		return len(out) == 0
	}, "the window manager waits for what it has started")
}

// A desktop without launchers has neither menu nor pipe, and one with a launcher that
// starts nothing is refused.
func TestNoLaunchers(t *testing.T) {
	d := start(t, nil)
	require.NoFileExists(t, filepath.Join(filepath.Dir(d.Home()), "orders"))
	config, err := os.ReadFile(filepath.Join(filepath.Dir(d.Home()), "etc", "openbox.xml"))
	require.NoError(t, err)
	require.NotContains(t, strings.ToLower(string(config)), "execute")
	require.NotContains(t, string(config), "ShowMenu")
	for _, l := range []sandbox.Launcher{{Name: "a"}, {Key: "<", Args: []string{"true"}}} {
		_, err := sandbox.Start(t.Context(), &sandbox.Options{Launchers: []sandbox.Launcher{l}})
		require.ErrorContains(t, err, "launcher")
	}
}
