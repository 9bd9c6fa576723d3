package setup

import (
	"testing"

	"desktop-agent/tasks"

	"github.com/stretchr/testify/assert"
)

// TestPrograms holds what each kind of step needs; of a list, one is enough.
func TestPrograms(t *testing.T) {
	run := func(kind string, command any, shell bool) tasks.Step {
		return tasks.Step{Type: kind, Params: tasks.Params{"command": command, "shell": shell}}
	}
	open := func(path string) tasks.Step {
		return tasks.Step{Type: "open", Params: tasks.Params{"path": path}}
	}
	for name, tt := range map[string]struct {
		step tasks.Step
		want [][]string
	}{
		"a list":             {run("launch", []any{"google-chrome", "--x=1"}, false), [][]string{{"google-chrome"}}},
		"a script":           {run("launch", "exec nohup xterm", true), [][]string{{"xterm"}}},
		"variables":          {run("launch", "VLC_VERBOSE=-1 A=b vlc --no-audio", true), [][]string{{"vlc"}}},
		"a text":             {run("launch", "/usr/bin/vlc a.mp4", false), [][]string{{"/usr/bin/vlc"}}},
		"of any name":        {run("execute", []any{"frobnicate"}, false), [][]string{{"frobnicate"}}},
		"none that is known": {run("command", "frobnicate; ls", true), nil},
		"translated":         {run("execute", []any{"python", "-c", "import pyautogui; pyautogui.press('a')"}, false), nil},
		"tabs":               {tasks.Step{Type: "chrome_open_tabs"}, [][]string{{"google-chrome"}}},
		"a spreadsheet":      {open("/home/user/a.XLSX"), [][]string{{"localc"}}},
		"a text document":    {open("Desktop/a.docx"), [][]string{{"lowriter"}}},
		"slides":             {open("~/a.pptx"), [][]string{{"loimpress"}}},
		"a drawing":          {open("~/a.odg"), [][]string{{"soffice", "libreoffice"}}},
		"a PDF document":     {open("/home/user/a.pdf"), [][]string{{"evince", "okular", "atril", "google-chrome"}}},
		"an unknown type":    {open("/home/user/a.frob"), nil},
		"perhaps a folder":   {open("/home/user/a"), nil},
		"a program":          {open("gimp"), [][]string{{"gimp"}}},
		"perhaps a file":     {open("gimpy"), nil},
		"files":              {tasks.Step{Type: "download"}, nil},
		"a window":           {tasks.Step{Type: "activate_window", Params: tasks.Params{"window_name": "Visual Studio Code"}}, nil},
		"nothing":            {tasks.Step{Type: "launch"}, nil},
	} {
		assert.Equal(t, tt.want, programs(tt.step), name)
	}
}
