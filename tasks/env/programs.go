package env

import (
	"path"
	"slices"
	"strings"
)

// A program is one that tasks use: what it is called, and what it is on a machine.
type program struct {
	name     string   // as people call it
	commands []string // that tasks start it by
	// files are it on a machine, any of them: names in the folders of programs, or
	// patterns of paths, as [path/filepath.Match] has them. The commands if empty.
	files    []string
	debian   string   // the package of Debian that has it; "" if none has
	apps     []string // what suites call it, as a domain, a snapshot or a related app
	words    []string // what instructions call it, in lower case
	traces   []string // parts of the paths and commands that its settings are read by
	windowed bool     // it shows a window soon after it starts
	// process matches the names of its processes on a machine, where these are not
	// what tasks end it by: an extended regular expression.
	process string
}

// programs are the programs that tasks name. Others are their command alone.
var programs = []program{
	{
		name: "Chromium or Google Chrome", commands: []string{"google-chrome", "google-chrome-stable", "chrome", "chromium", "chromium-browser"},
		files: []string{"chromium", "google-chrome-stable", "chromium-browser"}, debian: "chromium",
		apps: []string{"chrome"}, words: []string{"chrome"}, traces: []string{"/.config/google-chrome", "/.config/chromium"}, windowed: true,
		process: "chrom(e|ium)",
	},
	{
		name: "LibreOffice", commands: []string{"soffice", "libreoffice"}, files: []string{"soffice", "libreoffice"}, debian: "libreoffice",
		apps: []string{"libreoffice"}, words: []string{"libreoffice"}, traces: []string{"/.config/libreoffice"}, windowed: true,
		process: "soffice|oosplash",
	},
	{
		name: "LibreOffice Calc", commands: []string{"localc"}, files: office("localc", "scalc"), debian: "libreoffice-calc",
		apps: []string{"libreoffice_calc", "calc"}, words: []string{"libreoffice calc"}, windowed: true,
	},
	{
		name: "LibreOffice Writer", commands: []string{"lowriter"}, files: office("lowriter", "swriter"), debian: "libreoffice-writer",
		apps: []string{"libreoffice_writer", "writer"}, words: []string{"libreoffice writer"}, windowed: true,
	},
	{
		name: "LibreOffice Impress", commands: []string{"loimpress"}, files: office("loimpress", "simpress"), debian: "libreoffice-impress",
		apps: []string{"libreoffice_impress", "impress"}, words: []string{"libreoffice impress"}, windowed: true,
	},
	{name: "LibreOffice Base", commands: []string{"lobase"}, files: office("lobase", "sbase"), debian: "libreoffice-base"},
	{
		name: "GIMP", commands: []string{"gimp"}, debian: "gimp",
		apps: []string{"gimp"}, words: []string{"gimp"}, traces: []string{"/.config/GIMP"}, windowed: true, process: "gimp",
	},
	{
		name: "VLC", commands: []string{"vlc"}, debian: "vlc",
		apps: []string{"vlc"}, words: []string{"vlc"}, traces: []string{"/.config/vlc"}, windowed: true,
	},
	{
		name: "Thunderbird", commands: []string{"thunderbird"}, debian: "thunderbird",
		apps: []string{"thunderbird"}, words: []string{"thunderbird"}, traces: []string{"/.thunderbird"}, windowed: true,
	},
	{
		name: "Visual Studio Code", commands: []string{"code"},
		apps: []string{"vs_code", "vscode"}, words: []string{"vs code", "vscode", "visual studio code"}, traces: []string{"/.config/Code"}, windowed: true,
	},
	{name: "Firefox", commands: []string{"firefox"}, debian: "firefox-esr", windowed: true},
	{name: "GNOME's file manager", commands: []string{"nautilus"}, debian: "nautilus", windowed: true},
	{name: "GNOME's terminal", commands: []string{"gnome-terminal"}, debian: "gnome-terminal", windowed: true},
	{
		name: "GNOME's settings", commands: []string{"gnome-control-center"}, debian: "gnome-control-center",
		apps: []string{"settings"}, words: []string{"settings app"},
	},
	// Their settings can be read and changed where they are declared.
	{
		name: "the schema of GNOME Shell", files: []string{schemas + "org.gnome.shell.gschema.xml"}, debian: "gnome-shell-common",
		traces: []string{"org.gnome.shell"},
	},
	{
		name: "the schema of GNOME's settings daemon", files: []string{schemas + "org.gnome.settings-daemon.*"}, debian: "gnome-settings-daemon-common",
		traces: []string{"org.gnome.settings-daemon"},
	},
	{name: "Thunar", commands: []string{"thunar"}, debian: "thunar", windowed: true},
	{name: "xterm", commands: []string{"xterm"}, debian: "xterm", windowed: true},
	{name: "Mousepad", commands: []string{"mousepad"}, debian: "mousepad", windowed: true},
	{name: "gedit", commands: []string{"gedit"}, debian: "gedit", windowed: true},
	{name: "Evince", commands: []string{"evince"}, debian: "evince", windowed: true},
	{name: "Eye of GNOME", commands: []string{"eog"}, debian: "eog", windowed: true},
	{name: "Xfce's terminal", commands: []string{"xfce4-terminal"}, debian: "xfce4-terminal"},
	{name: "Python", commands: []string{"python3", "python"}, debian: "python3"},
	{name: "socat", commands: []string{"socat"}, debian: "socat"},
	{name: "jq", commands: []string{"jq"}, debian: "jq"},
	{name: "unzip", commands: []string{"unzip"}, debian: "unzip"},
	{name: "sar", commands: []string{"sar"}, debian: "sysstat"},
	{name: "pkill", commands: []string{"pkill"}, debian: "procps"},
	{name: "killall", commands: []string{"killall"}, debian: "psmisc"},
	{name: "gio", commands: []string{"gio"}, debian: "libglib2.0-bin"},
	{name: "gsettings", commands: []string{"gsettings"}, debian: "libglib2.0-bin"},
}

// schemas is where programs declare the settings that gsettings reads.
const schemas = "/usr/share/glib-2.0/schemas/"

// office returns what is a part of LibreOffice, which can be a package of its own:
// its command, or where LibreOffice keeps it.
func office(command, part string) []string {
	return []string{command, "/usr/lib*/libreoffice/program/" + part, "/opt/libreoffice*/program/" + part}
}

// programOf returns the program that a command, which may be a path, starts; nil
// if that is none of the table.
func programOf(command string) *program {
	i := slices.IndexFunc(programs, func(p program) bool { return slices.Contains(p.commands, path.Base(command)) })
	if i < 0 {
		return nil
	}
	return &programs[i]
}

// Known reports whether a command, which may be a path, is that of a program that
// tasks name.
func Known(command string) bool { return programOf(command) != nil }

// A calling says what a program is called by tasks, and by this machine.
type calling struct {
	Names   string // with "|" between
	Process string // see program
}

// callings returns those of the programs whose processes have other names here.
func callings() []calling {
	var list []calling
	for _, p := range programs {
		if p.process != "" {
			list = append(list, calling{strings.Join(p.commands, "|"), p.process})
		}
	}
	return list
}

// Lacks says that none of several commands is there for tasks on this machine, of
// which one is needed, and what has it; "" if one is there. A file of the task's
// own always is.
func Lacks(commands ...string) string {
	if slices.ContainsFunc(commands, has) {
		return ""
	}
	switch len(commands) {
	case 0:
		return ""
	case 1:
		if p := programOf(commands[0]); p != nil && !p.installed() {
			return p.lacks()
		}
		return commands[0] + " is not installed"
	}
	text := "none of " + strings.Join(commands, ", ") + " is installed"
	for _, command := range commands {
		if p := programOf(command); p != nil && p.debian != "" {
			return text + ": apt-get install " + p.debian
		}
	}
	return text
}

// lacks says that a program is not there.
func (p *program) lacks() string {
	text := p.name
	if len(p.commands) > 0 && !strings.EqualFold(p.commands[0], p.name) {
		text += " (" + p.commands[0] + ")"
	}
	text += " is not installed: "
	if p.debian == "" {
		return text + "Debian has no package of it, install it from its maker"
	}
	return text + "apt-get install " + p.debian
}

// LacksApps says which of the programs is not there that a task is about: its
// domain, or a related app or snapshot that the instruction names too. What merely
// belongs to a task it can often be done without.
func LacksApps(domain string, related []string, instruction string) []string {
	text := spaced(instruction)
	var list []string
	for i := range programs {
		p := &programs[i]
		about := slices.Contains(p.apps, app(domain)) ||
			slices.ContainsFunc(related, func(name string) bool { return slices.Contains(p.apps, app(name)) }) &&
				slices.ContainsFunc(p.words, func(word string) bool { return strings.Contains(text, spaced(word)) })
		if about && !p.installed() {
			list = append(list, p.lacks())
		}
	}
	return list
}

// app returns a name as the table has it: suites write "libreoffice calc" too.
func app(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "_") }

// spaced returns a text in lower case, with one space around each word.
func spaced(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
	return " " + strings.Join(words, " ") + " "
}

// LacksTraced says which of the programs is not there whose settings are read by a
// path or command that holds one of their traces.
func LacksTraced(text string) []string {
	var list []string
	for i := range programs {
		p := &programs[i]
		if slices.ContainsFunc(p.traces, func(part string) bool { return strings.Contains(text, part) }) && !p.installed() {
			list = append(list, p.lacks())
		}
	}
	return list
}
