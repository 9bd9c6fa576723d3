package env

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestCommandPrograms holds which programs a command is known to start. What a
// script can do without is none of them.
func TestCommandPrograms(t *testing.T) {
	for script, want := range map[string][]string{
		"code --install-extension a.b":                                                        {"code"},
		"export A='unix:path=/run/bus'\ngnome-terminal --maximize":                            {"gnome-terminal"},
		"cd a && if [ ! -f b ]; then echo '{}' > b; fi && jq '. + {}' b>c":                    {"jq"},
		"A=1 B='2 3' exec nohup vlc x &":                                                      {"vlc"},
		"echo pw | sudo -S apt-get update -y && echo pw | sudo -S apt-get install sysstat -y": {"sar"},
		"apt install -y libglib2.0-bin frobnicate":                                            {"gio", "gsettings"},
		"apt list --installed jq":                                                             nil,
		"{ jq . a; }; x=$(gsettings get b c)":                                                 {"gsettings", "jq"},
		"ls|unzip -q a.zip;/usr/bin/thunderbird&":                                             {"/usr/bin/thunderbird", "unzip"},
		`"soffice" --convert-to pdf a; 'gi'mp`:                                                {"gimp", "soffice"},
		"a=1;jq .;jq .":                                                                       {"jq"},
		"\\\njq x":                                                                            {"jq"},

		"echo code; ls code # code":           nil,
		"echo 'a; code b' \"c && code d\"":    nil,
		"echo a \\; code":                     nil,
		"gedit a || mousepad a":               nil,
		"code a && jq b || true; gimp":        {"gimp"},
		"code a >&2 || true":                  nil,
		"code a &> b || true":                 nil,
		"(code a) || true":                    nil,
		"if jq . a; then ls; fi":              nil,
		"command -v jq && jq . a":             nil,
		"which code && code a; gimp":          {"gimp"},
		"cat > a <<END\ncode b\nEND\ngimp":    {"gimp"},
		"frobnicate && /home/user/bin/frob a": nil,
		"":                                    nil, "'": nil, "|;&& ||": nil, "sudo -S": nil,
	} {
		got := Command{Args: []string{script}, Shell: true}.Programs()
		if want == nil {
			assert.Empty(t, got, script)
		} else {
			assert.Equal(t, want, got, script)
			assert.Equal(t, append([]string{"/bin/bash"}, want...), Command{Args: []string{"/bin/bash", "-c", script}}.Programs(), script)
		}
	}
	for _, tt := range []struct{ args, want []string }{
		{[]string{"frobnicate", "code"}, []string{"frobnicate"}},
		{[]string{"sudo", "-S", "apt-get", "install", "jq"}, []string{"sudo", "jq"}},
		{[]string{"code", "."}, []string{"code"}},
		{[]string{"bash", "eval.sh"}, []string{"bash"}},
		{[]string{"python3", "-c", "import pyautogui; pyautogui.press('a')"}, nil},
		{[]string{"python3", "-c", "print(1)"}, []string{"python3"}},
		{nil, nil},
	} {
		assert.Equal(t, tt.want, Command{Args: tt.args}.Programs(), tt.args)
	}
}

// TestCommandWindowed holds which commands are known to show a window, however the program is
// started. One that is only named, ended or installed shows none.
func TestCommandWindowed(t *testing.T) {
	for script, want := range map[string]bool{
		"vlc a.avi":                            true,
		"cd /home/user && vlc a.avi":           true,
		"sleep 1; /usr/bin/gimp &":             true,
		"env LANG=de soffice a.odt":            true,
		"A=1 B='2 3' exec nohup setsid xterm":  true,
		"timeout -k 5 60 nice -n 5 eog a.png":  true,
		"gedit a || mousepad a":                true,
		"pgrep vlc || vlc":                     true,
		"sudo -u user sh -c 'cd a; code .'":    true,
		"for a in 1 2; do evince $a.pdf; done": true,

		"echo begun; exec socat tcp-listen:1,fork tcp:localhost:2": false,
		"pkill vlc; killall soffice":                               false,
		"which gimp && command -v vlc":                             false,
		"sudo apt-get install -y gimp":                             false,
		"echo vlc; ls # vlc":                                       false,
		"cat > a <<E\nvlc\nE":                                      false,
		"python3 -m http.server":                                   false,
		"":                                                         false, "'": false, "sudo -S": false,
	} {
		assert.Equal(t, want, Command{Args: []string{script}, Shell: true}.Windowed(), script)
		assert.Equal(t, want, Command{Args: []string{"env", "A=1", "bash", "-c", script}}.Windowed(), script)
	}
	assert.True(t, Command{Args: []string{"env", "LANG=de", "soffice", "a.odt"}}.Windowed())
	assert.True(t, Command{Args: []string{"A=1", "/usr/bin/vlc"}}.Windowed())
	assert.False(t, Command{Args: []string{"echo", "vlc"}}.Windowed())
	assert.False(t, Command{}.Windowed())
}

// TestCommandSender holds which commands are known to send input past the hand, and that a text
// that is not run may name what does.
func TestCommandSender(t *testing.T) {
	for script, want := range map[string]string{
		"xdotool key a": "xdotool",
		"cd a; DISPLAY=:0 /usr/bin/xte 'key a' &":      "xte",
		"if xdotool key a; then ls; fi":                "xdotool",
		"while ! ydotool click 1; do sleep 1; done":    "ydotool",
		"echo pw | sudo -S wtype a || true":            "wtype",
		"sleep 1 && bash -c 'ls; xdotool key a'":       "xdotool",
		"python3 -c 'import pyautogui'":                "pyautogui",
		"python3.12 -uc 'import pyautogui'":            "pyautogui",
		"sh -c \"python -c \\\"import pyautogui\\\"\"": "pyautogui",
		"python3 - <<'END'\nimport pyautogui\nEND":     "pyautogui",
		"cd a && python3 <<< 'import pyautogui'":       "pyautogui",

		"timeout -k 5 10 nice -n 5 xdotool key a":           "xdotool",
		"sudo -u user DISPLAY=:0 xdotool click 1":           "xdotool",
		"env -u A xdotool type a":                           "xdotool",
		"/usr/bin/env python3 -c 'import pyautogui'":        "pyautogui",
		"bash -x -c 'xdotool key a'":                        "xdotool",
		"bash -o pipefail -ec 'xdotool key a'":              "xdotool",
		"zsh -c 'xte a'":                                    "xte",
		"echo \"$(xdotool key a)\"":                         "xdotool",
		"f() { xdotool key a; }; f":                         "xdotool",
		"for i in 1 2; do xdotool key a; done":              "xdotool",
		"xdotool search --name Writer windowactivate key a": "xdotool",
		"xdotool - < a":                                     "xdotool",
		"> a; A=1; xdotool key a":                           "xdotool",
		"case $1 in a) xdotool key a;; esac":                "xdotool",
		"bash -euo pipefail -c 'xdotool key a'":             "xdotool",
		"bash <<E\nxdotool key a\nE":                        "xdotool",
		"sh -s <<< 'xdotool key a'":                         "xdotool",
		"{ ls; python3 -; } <<E\nimport pyautogui\nE":       "pyautogui",
		"python3 - <<E; ls\nimport pyautogui\nE":            "pyautogui",
		"python3 - <<E &\nimport pyautogui\nE\nls":          "pyautogui",
		"python3 -W ignore -X utf8 -c 'import pyautogui'":   "pyautogui",
		"xdotool myscript":                                  "xdotool",
		"xdotool exec sh -c 'xte a'":                        "xdotool",
		"xdotool getactivewindow type a":                    "xdotool",
		"sudo -nu user xdotool key a":                       "xdotool",
		"sudo A=1 -u user B=2 xdotool key a":                "xdotool",
		"dbus-run-session -- xdotool key a":                 "xdotool",
		"ls; xdotool key a; if":                             "xdotool",

		"w=$(xdotool getactivewindow) && xdotool search --name Writer windowactivate":                               "",
		"xdotool search --onlyvisible --limit 1 --name type windowactivate; command -pv xdotool; xdotool --version": "",
		"python3 <<E\nprint(1)\nE\npip install pyautogui":                                                           "",
		"python3 run.py -c pyautogui":                           "",
		"command -v xdotool || sudo apt-get install -y xdotool": "",

		"echo xdotool; which xdotool; command -v xdotool # xdotool": "",
		"sudo apt-get install -y xdotool; pip install pyautogui":    "",
		"python3 -m pip install pyautogui":                          "",
		"cat > a.py <<END\nimport pyautogui\nEND":                   "",
		"echo 'import pyautogui' > a.py; grep pyautogui a.py":       "",
		"python3 -c 'print(1)'; ls":                                 "",
		"":                                                          "",
	} {
		assert.Equal(t, want, Command{Args: []string{script}, Shell: true}.sender(), script)
		assert.Equal(t, want, Command{Args: []string{"/bin/bash", "-c", script}}.sender(), script)
	}
	assert.Equal(t, "xdotool", Command{Args: []string{"env", "A=1", "xdotool", "key", "a"}}.sender())
	assert.Equal(t, "pyautogui", Command{Args: []string{"python3", "-u", "-c", "import pyautogui"}}.sender())
	assert.Empty(t, Command{Args: []string{"echo", "xdotool", "pyautogui"}}.sender())
	assert.Empty(t, Command{}.sender())
}

// FuzzScript holds that no script of a task breaks what reads it.
func FuzzScript(f *testing.F) {
	for _, s := range []string{"", "a <<E; b\nx\nE", "> a", "{ a; } <<< b", "xdotool search", "bash -o", "python -W", "sudo -u", "$(", "timeout", "a=(1 2) b", "[[ a ]]", "((1))", "coproc a", "function f { a; }"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		for _, c := range []Command{{Args: []string{script}, Shell: true}, {Args: []string{"bash", "-c", script}}, {Args: []string{script}}} {
			_ = c.Programs()
			_ = c.Windowed()
			_ = c.Obstacles(false)
		}
	})
}
