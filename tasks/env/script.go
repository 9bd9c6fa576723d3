package env

import (
	"errors"
	"fmt"
	"image"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"desktop-agent/actuator"
	"desktop-agent/actuator/pyautogui"
)

// Programs returns the programs that a command starts, as far as that can be told
// without running it: the program itself, and those of a script that are [Known]
// and that it cannot do without. What Python code is translated for, see
// [Env.Run], takes no program.
func (c Command) Programs() []string {
	if _, ok := gui(c); ok || len(c.Args) == 0 {
		return nil
	}
	if c.Shell {
		return scriptPrograms(c.Args[0])
	}
	list := c.Args[:1:1]
	if script, ok := shellScript(c.Args); ok {
		return append(list, scriptPrograms(script)...)
	}
	for _, name := range started(c.Args) {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// Windowed reports whether a command starts a program that shows a window soon after, as far as
// that can be told without running it: itself or in a script, also where the script is ready for
// its failing.
func (c Command) Windowed() bool {
	return slices.ContainsFunc(c.simples(), func(s simple) bool {
		words := simpleProgram(s.words)
		if script, ok := shellScript(words); ok {
			return Command{Args: []string{script}, Shell: true}.Windowed()
		}
		if len(words) == 0 {
			return false
		}
		p := programOf(words[0])
		return p != nil && p.windowed
	})
}

// gui returns the Python code of a command that calls pyautogui.
func gui(c Command) (source string, ok bool) {
	if c.Shell || len(c.Args) != 3 || c.Args[1] != "-c" {
		return "", false
	}
	switch path.Base(c.Args[0]) {
	case "python", "python3":
		return c.Args[2], strings.Contains(c.Args[2], "pyautogui")
	}
	return "", false
}

// translate makes actions of code that calls pyautogui, for a screen of a size.
func translate(source string, size image.Point) ([]actuator.Action, error) {
	// A fence that the code itself does not hold.
	fence := "```"
	if strings.Contains(source, fence) {
		return nil, errors.New("pyautogui: code with ``` cannot be translated: write it without")
	}
	proposal, err := pyautogui.Parser{}.Parse(
		actuator.Reply{Text: fence + "python\n" + source + "\n" + fence}, image.Rectangle{Max: size})
	if err != nil {
		return nil, fmt.Errorf("pyautogui: %w", err)
	}
	return proposal.Actions, nil
}

// senders are programs that send input to a display.
var senders = []string{"xdotool", "ydotool", "dotool", "wtype", "xte", "xvkbd"}

// asking are the commands of xdotool that send no input: they ask for windows, and move them.
var asking = []string{
	"search", "selectwindow", "getactivewindow", "getwindowfocus", "getwindowname", "getwindowclassname", "getwindowgeometry",
	"getwindowpid", "getmouselocation", "getdisplaygeometry", "get_num_desktops", "get_desktop", "get_desktop_for_window",
	"get_desktop_viewport", "windowactivate", "windowfocus", "windowmap", "windowunmap", "windowminimize", "windowmove",
	"windowsize", "windowraise", "windowlower", "windowclose", "windowquit", "windowkill", "windowstate", "help", "version", "sleep",
}

// sending are those that do, or run what may.
var sending = []string{
	"key", "keydown", "keyup", "type", "click", "mousedown", "mouseup", "mousemove", "mousemove_relative", "behave", "behave_screen_edge", "exec",
}

// sender returns what a command would send input with by itself, past the hand, as far as that
// can be told without running it: a program of senders, or Python with code that names
// pyautogui, alone or in a script; "" for none. What is in files, and what a script hands on
// to a program that runs it (eval, xargs, su -c, a pipe), is not known.
func (c Command) sender() string {
	for _, s := range c.simples() {
		words := simpleProgram(s.words)
		if len(words) == 0 {
			continue
		}
		name := path.Base(words[0])
		if slices.Contains(senders, name) && (name != "xdotool" || sends(words[1:])) {
			return name
		}
		if slices.Contains(shells, name) { // what it is given to run, or to read
			script, _ := shellScript(words)
			for _, part := range []string{script, s.here} {
				if inner := (Command{Args: []string{part}, Shell: true}).sender(); inner != "" {
					return inner
				}
			}
		}
		if strings.HasPrefix(name, "python") && strings.Contains(pythonCode(words)+s.here, "pyautogui") {
			return "pyautogui"
		}
	}
	return ""
}

// sends reports whether xdotool sends input with some words, or does what a file says.
func sends(words []string) bool {
	if len(words) == 0 || !slices.Contains(asking, strings.TrimLeft(words[0], "-")) {
		return true
	}
	for i := 0; i < len(words); i++ {
		if words[i] == "search" { // what follows its options is a pattern
			rest := afterOptions(words[i+1:], []string{"--maxdepth", "--limit", "--pid", "--screen", "--desktop"})
			i = len(words) - len(rest)
		} else if slices.Contains(sending, words[i]) {
			return true
		}
	}
	return false
}

// pythonCode returns what python is given to run with its words: what follows -c, or "".
func pythonCode(words []string) string {
	for i := 1; i < len(words); i++ {
		switch word := words[i]; {
		case word == "-W" || word == "-X" || word == "--check-hash-based-pycs":
			i++
		case !strings.HasPrefix(word, "-") || word == "-": // a file, with words of its own
			return ""
		case !strings.HasPrefix(word, "--") && strings.HasSuffix(word, "c"):
			return strings.Join(words[i+1:], " ")
		}
	}
	return ""
}

// afterOptions returns the words after options: those of valued have a value, as do short ones
// that end with the letter of one.
func afterOptions(words, valued []string) []string {
	for len(words) > 0 && len(words[0]) > 1 && (words[0][0] == '-' || words[0][0] == '+') {
		word := words[0]
		if words = words[1:]; word == "--" {
			break
		}
		has := slices.Contains(valued, word)
		if !strings.HasPrefix(word, "--") {
			has = has || slices.Contains(valued, "-"+word[len(word)-1:])
		}
		if has && len(words) > 0 {
			words = words[1:]
		}
	}
	return words
}

// senderError says why a command is not run that would send input past the hand.
func senderError(name string) error {
	return fmt.Errorf("%s would send input past the hand: write the step as the command [\"python\", \"-c\", \"import pyautogui; …\"], which is done by it", name)
}

// simples returns the simple commands of a command: of a script, those that it holds.
func (c Command) simples() []simple {
	switch script, ok := shellScript(c.Args); {
	case len(c.Args) == 0:
		return nil
	case c.Shell:
		return parseScript(c.Args[0])
	case ok:
		return parseScript(script)
	}
	return []simple{{words: c.Args}}
}

// shells are those of which it is known how they are given a script.
var shells = []string{"sh", "bash", "dash", "zsh", "ksh"}

// shellScript returns the script of a command such as "bash -c …".
func shellScript(args []string) (script string, ok bool) {
	if len(args) == 0 || !slices.Contains(shells, path.Base(args[0])) {
		return "", false
	}
	rest := afterOptions(args[1:], []string{"-o", "-O", "--rcfile", "--init-file"})
	for _, word := range args[1 : len(args)-len(rest)] {
		ok = ok || strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.Contains(word, "c")
	}
	if !ok || len(rest) == 0 {
		return "", false
	}
	return rest[0], true
}

// scriptPrograms returns the known programs that a script starts, but for those
// whose failing it is ready for.
func scriptPrograms(script string) []string {
	var list, asked []string
	for _, c := range parseScript(script) {
		if asksFor(c.words) {
			asked = append(asked, c.words[1:]...)
		} else if !c.excused {
			list = append(list, started(c.words)...)
		}
	}
	list = slices.DeleteFunc(list, func(name string) bool { return slices.Contains(asked, name) })
	slices.Sort(list)
	return slices.Compact(list)
}

// starters are programs that start the one that follows their options: those of the options that
// have a value, and how many words come before the program.
var starters = map[string]struct {
	valued []string
	before int
}{
	"exec": {valued: []string{"-a"}}, "nohup": {}, "setsid": {}, "command": {}, "time": {valued: []string{"-f", "-o"}}, "dbus-run-session": {},
	"env":     {valued: []string{"-u", "--unset", "-C", "--chdir"}},
	"sudo":    {valued: []string{"-u", "--user", "-g", "--group", "-h", "--host", "-p", "--prompt", "-C", "-r", "-t", "-T", "-U", "-D", "-R"}},
	"timeout": {valued: []string{"-s", "--signal", "-k", "--kill-after"}, before: 1},
	"nice":    {valued: []string{"-n", "--adjustment"}}, "ionice": {valued: []string{"-c", "--class", "-n", "--classdata"}},
	"stdbuf": {valued: []string{"-i", "-o", "-e"}}, "xvfb-run": {valued: []string{"-e", "-f", "-n", "-p", "-s", "-w"}},
}

// simpleProgram returns the words of a simple command from its program on.
func simpleProgram(words []string) []string {
	variable := func(word string) bool {
		name, _, ok := strings.Cut(word, "=")
		return ok && !strings.ContainsAny(name, "/ ")
	}
	for len(words) > 0 {
		starter, ok := starters[path.Base(words[0])]
		if !variable(words[0]) && (!ok || asksFor(words)) {
			return words
		}
		words = afterOptions(words[1:], starter.valued)
		for len(words) > 0 && variable(words[0]) { // that env and sudo set, and more options
			words = afterOptions(words[1:], starter.valued)
		}
		words = words[min(starter.before, len(words)):]
	}
	return nil
}

// asksFor reports whether a command only asks whether programs are there.
func asksFor(words []string) bool {
	switch words[0] {
	case "which", "type", "hash":
		return true
	case "command":
		return len(words) > 1 && strings.HasPrefix(words[1], "-") && strings.ContainsAny(words[1], "vV")
	}
	return false
}

// started returns the known programs that a simple command starts or installs.
func started(words []string) []string {
	words = simpleProgram(words)
	if len(words) == 0 {
		return nil
	}
	switch words[0] {
	case "apt", "apt-get", "aptitude":
		return installs(words[1:])
	}
	if !Known(words[0]) {
		return nil
	}
	return words[:1]
}

// installs returns the programs of the packages that apt is told to install, which
// no task can: it has no rights to.
func installs(words []string) []string {
	var list []string
	if !slices.Contains(words, "install") {
		return nil
	}
	for _, p := range programs {
		if len(p.commands) > 0 && p.debian != "" && slices.Contains(words, p.debian) {
			list = append(list, p.commands[0])
		}
	}
	return list
}

// A simple is a simple command of a script: its words, at least one.
type simple struct {
	words   []string
	excused bool   // the script goes on in another way if it fails
	here    string // the here-document that it reads
}

// parseScript returns the simple commands of a script, those in it that others are given what
// they print of included. Nothing is expanded. Where it cannot be understood it ends.
func parseScript(script string) (commands []simple) {
	excused, given := map[*syntax.Stmt]bool{}, map[*syntax.Stmt]string{}
	excuse := func(s *syntax.Stmt) { excused[s] = true }
	visit := func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.IfClause:
			within(excuse, n.Cond...)
		case *syntax.WhileClause:
			within(excuse, n.Cond...)
		case *syntax.BinaryCmd:
			if n.Op == syntax.OrStmt {
				within(excuse, n.X, n.Y)
			}
		case *syntax.Stmt:
			here := given[n]
			for _, r := range n.Redirs {
				switch r.Op {
				case syntax.Hdoc, syntax.DashHdoc:
					here = literal(r.Hdoc)
				case syntax.WordHdoc:
					here = literal(r.Word)
				}
			}
			call, ok := n.Cmd.(*syntax.CallExpr)
			if !ok { // what stands in it reads what it is given
				within(func(s *syntax.Stmt) { given[s] = here }, n)
				break
			}
			s := simple{excused: excused[n], here: here}
			for _, w := range call.Args {
				s.words = append(s.words, literal(w))
			}
			if len(s.words) > 0 {
				commands = append(commands, s)
			}
		}
		return true
	}
	var list []*syntax.Stmt // all of them first: a here-document is read after what it is for
	for stmt, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(script)) {
		if err == nil { // else it was the last, though a break there is not heeded
			list = append(list, stmt)
		}
	}
	for _, stmt := range list {
		syntax.Walk(stmt, visit)
	}
	return commands
}

// within calls f with each statement of a list, and with each that stands in one.
func within(f func(*syntax.Stmt), list ...*syntax.Stmt) {
	for _, s := range list {
		syntax.Walk(s, func(n syntax.Node) bool {
			if s, ok := n.(*syntax.Stmt); ok {
				f(s)
			}
			return true
		})
	}
}

// literal returns a word without its quotes; what is expanded in it stands as it is written.
func literal(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	var b strings.Builder
	var write func(parts []syntax.WordPart, quoted bool)
	write = func(parts []syntax.WordPart, quoted bool) {
		for _, part := range parts {
			switch p := part.(type) {
			case *syntax.Lit:
				b.WriteString(unescaped(p.Value, quoted))
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				write(p.Parts, true)
			default:
				if err := syntax.NewPrinter().Print(&b, p); err != nil {
					b.WriteString("$")
				}
			}
		}
	}
	write(w.Parts, false)
	return b.String()
}

// unescaped takes the backslashes off that quote a character: all of them, or in double quotes
// those before what has a meaning there.
func unescaped(text string, quoted bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte("$`\"\\\n", text[i+1]) >= 0) {
			if i++; text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
