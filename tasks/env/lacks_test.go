//go:build linux

package env

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// invented makes the table one of programs that no machine has, and of sh.
func invented(t *testing.T) {
	before := programs
	t.Cleanup(func() { programs = before })
	programs = []program{
		{name: "Frob Studio", commands: []string{"frob", "frobs"}, debian: "frob-studio", apps: []string{"frob", "frob_studio"}, words: []string{"frob studio"}, traces: []string{"/.config/Frob"}},
		{name: "Grob", commands: []string{"grob"}, apps: []string{"grob"}, words: []string{"grob"}},
		{name: "The Shell", commands: []string{"shell"}, files: []string{"nothing-of-this-name", "sh"}, apps: []string{"shell"}, traces: []string{"/.shell"}},
		{name: "the schema of Frob", files: []string{"/no such folder/*"}, debian: "frob-common", traces: []string{"org.frob"}},
	}
}

const (
	noFrob = "Frob Studio (frob) is not installed: apt-get install frob-studio"
	noGrob = "Grob is not installed: Debian has no package of it, install it from its maker"
)

// TestLacks holds when a program is said to be missing, and what has it.
func TestLacks(t *testing.T) {
	invented(t)
	for _, tt := range []struct {
		commands []string
		want     string
	}{
		{nil, ""},
		{[]string{"sh"}, ""},
		{[]string{"shell"}, ""},
		{[]string{"sudo"}, ""}, // the environment brings it
		{[]string{"frob"}, noFrob},
		{[]string{"frobs"}, noFrob},
		{[]string{"grob"}, noGrob},
		{[]string{"krob"}, "krob is not installed"},
		{[]string{"frob", "sh"}, ""},
		{[]string{"krob", "frob"}, "none of krob, frob is installed: apt-get install frob-studio"},
		{[]string{"krob", "grob"}, "none of krob, grob is installed"},
		{[]string{"/bin/sh"}, ""},
		{[]string{"/usr/bin/frob"}, noFrob},
		{[]string{"/no such folder/shell"}, "/no such folder/shell is not installed"},
		{[]string{"./frob"}, ""}, // may be the task's own
		{[]string{"~/bin/frob"}, ""},
		{[]string{"/tmp/frob"}, ""},
	} {
		assert.Equal(t, tt.want, Lacks(tt.commands...), tt.commands)
	}
}

// TestLacksApps holds that a program is needed by tasks of its domain, and by those
// that it belongs to if they name it.
func TestLacksApps(t *testing.T) {
	invented(t)
	for _, tt := range []struct {
		domain      string
		related     []string
		instruction string
		want        []string
	}{
		{"frob", nil, "Do it.", []string{noFrob}},
		{"Frob Studio", nil, "Do it.", []string{noFrob}},
		{"multi_apps", []string{"os", "Frob studio", "grob"}, "In Frob-Studio, do it.", []string{noFrob}},
		{"multi_apps", []string{"grob", "frob"}, "Take frob\nstudio and Grob.", []string{noFrob, noGrob}},
		{"multi_apps", []string{"frob"}, "Write a script.", nil},
		{"multi_apps", []string{"frob"}, "Frob studios are many, studio frob too.", nil},
		{"multi_apps", []string{"grob"}, "Take the grobian.", nil},
		{"os", []string{""}, "Do it in Frob Studio.", nil},
		{"shell", []string{"shell"}, "Do it in the shell.", nil},
		{"", []string{""}, "", nil},
	} {
		assert.Equal(t, tt.want, LacksApps(tt.domain, tt.related, tt.instruction), tt)
	}
}

func TestLacksTraced(t *testing.T) {
	invented(t)
	assert.Equal(t, []string{noFrob}, LacksTraced("/home/user/.config/Frob/settings.json"))
	assert.Equal(t, []string{"the schema of Frob is not installed: apt-get install frob-common"}, LacksTraced("gsettings get org.frob.x y"))
	assert.Empty(t, LacksTraced("/home/user/.shell/rc"))
	assert.Empty(t, LacksTraced("/home/user/.config/frob"))
}

// TestTable holds that what the table says of this machine is what tasks find on
// it, and that no command stands there twice.
func TestTable(t *testing.T) {
	e, err := Start(t.Context(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	seen, there := map[string]bool{}, 0
	for _, p := range programs {
		for _, command := range p.commands {
			assert.False(t, seen[command], command)
			seen[command] = true
			out, err := e.Run(t.Context(), Command{Args: []string{"command -v " + command}, Shell: true})
			require.NoError(t, err)
			path := strings.TrimSpace(string(out.Stdout))
			found := path != "" && !strings.Contains(path, "/missing/")
			if Lacks(command) == "" {
				there++
				assert.True(t, found, "tasks do not find %s", command)
			} else if !strings.HasPrefix(p.name, "LibreOffice ") { // its parts have commands also where they lack
				assert.False(t, found, "tasks find %s", path)
			}
			if name := filepath.Join(e.within("bin"), command); Lacks(command) == "" && len(p.files) > 0 && !strings.HasPrefix(p.name, "LibreOffice ") {
				_, err := os.Stat(name)
				assert.NoError(t, err, "another name of %s", p.name)
			}
		}
	}
	assert.Positive(t, there)
}

// Obstacles are told of what is in the way of a command though its program is there.
func TestObstacles(t *testing.T) {
	for _, tt := range []struct {
		command string
		network bool
		want    string // the reasons, "; " between
	}{
		{"timedatectl status", false, "timedatectl needs services of systemd, which tasks do not have"},
		{"echo p | sudo -S su - charles", false, "su needs the rights of root, which no task has"},
		{"pactl set-sink-volume 0 50%; pactl list", true, "pactl needs a sound server, which tasks do not have"},
		{"systemctl is-active x || true", false, ""},
		{"sudo snap install spotify", true, "snap needs snapd, which tasks do not have"},
		{"echo p | sudo -S apt-get update && sudo apt-get install -y no-such-package coreutils", true,
			"the package no-such-package is not installed, and no task can install it: apt-get install no-such-package"},
		{"pip install PyMuPDF", false, "pip installs from the network, which is off"},
		{"pip install PyMuPDF", true, ""},
		{"pip list; apt list --installed; dpkg -l; mount", false, ""},
		{"curl -s https://example.org/a", false, "curl fetches https://example.org/a, and the network is off"},
		{"curl -s https://example.org/a; wget http://localhost:8080/", true, ""},
		{"wget -qO- http://127.0.0.1:9222/json", false, ""},
		{"bash eval.sh && ls", false, ""},
		{"chown user a; FOO=1 /usr/bin/nmcli radio", false, "nmcli needs services of systemd, which tasks do not have"},
	} {
		for _, c := range []Command{{Args: []string{tt.command}, Shell: true}, {Args: []string{"bash", "-c", tt.command}}} {
			assert.Equal(t, tt.want, strings.Join(c.Obstacles(tt.network), "; "), tt.command)
		}
	}
	assert.Equal(t, []string{"useradd needs the rights of root, which no task has"}, Command{Args: []string{"useradd", "x"}}.Obstacles(true))
	assert.Empty(t, Command{}.Obstacles(false))

	python := func(code string) Command { return Command{Args: []string{"python", "-c", code}} }
	assert.Empty(t, python("import pyautogui; pyautogui.click(1900, 1000)").Obstacles(false))
	why := python("import pyautogui, subprocess; subprocess.run('ls')").Obstacles(false)
	require.Len(t, why, 1, "what cannot be translated is refused when it is run")
	assert.Contains(t, why[0], "subprocess")
	assert.Equal(t, []string{senderError("xdotool").Error()}, Command{Args: []string{"xdotool key a; timedatectl"}, Shell: true}.Obstacles(false))
}
