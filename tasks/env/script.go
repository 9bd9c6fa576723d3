package env

import (
	"errors"
	"fmt"
	"image"
	"path"
	"regexp"
	"slices"
	"strings"

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

// sender returns what a command would send input with by itself, past the hand, as far as that
// can be told without running it: a program of senders, or Python with code that names
// pyautogui, alone or in a script; "" for none. What is in files, and what a script hands on
// to a program that runs it (eval, xargs), is not known.
func (c Command) sender() string {
	for _, s := range c.simples() {
		words := simpleProgram(s.words)
		if len(words) == 0 {
			continue
		}
		name := path.Base(words[0])
		if _, ok := shellScript(words); ok { // a part of the script that it stands in
			if inner := (Command{Args: words}).sender(); inner != "" {
				return inner
			}
		}
		if slices.Contains(senders, name) {
			return name
		}
		if strings.HasPrefix(name, "python") && strings.Contains(pythonCode(words)+s.here, "pyautogui") {
			return "pyautogui"
		}
	}
	return ""
}

// pythonCode returns what python is given to run with its words: what follows -c, or "".
func pythonCode(words []string) string {
	for i, word := range words {
		if strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.HasSuffix(word, "c") {
			return strings.Join(words[i+1:], " ")
		}
	}
	return ""
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

// shellScript returns the script of a command such as "bash -c …".
func shellScript(args []string) (string, bool) {
	if len(args) < 3 || !slices.Contains([]string{"sh", "bash", "dash"}, path.Base(args[0])) {
		return "", false
	}
	return args[2], strings.HasPrefix(args[1], "-") && strings.HasSuffix(args[1], "c")
}

// scriptPrograms returns the known programs that a script starts, but for those
// whose failing it is ready for.
func scriptPrograms(script string) []string {
	var list, asked []string
	for _, c := range parseScript(script) {
		if slices.Contains([]string{"command", "which", "type", "hash"}, c.words[0]) {
			asked = append(asked, c.words[1:]...)
		} else if !c.excused {
			list = append(list, started(c.words)...)
		}
	}
	list = slices.DeleteFunc(list, func(name string) bool { return slices.Contains(asked, name) })
	slices.Sort(list)
	return slices.Compact(list)
}

// simpleProgram returns the words of a simple command from its program on.
func simpleProgram(words []string) []string {
	before := []string{"{", "if", "elif", "then", "while", "until", "do", "else", "!", "exec", "nohup", "setsid", "time", "env", "sudo"}
	for i, word := range words {
		name, _, variable := strings.Cut(word, "=")
		if !slices.Contains(before, word) && !strings.HasPrefix(word, "-") && (!variable || strings.ContainsAny(name, "/ ")) {
			return words[i:]
		}
	}
	return nil
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
	here    string // the here-document that it reads, and what comes after it
}

// tokens are what a script is cut into: texts in quotes, what separates commands
// and words, comments, and the rest of words.
var tokens = regexp.MustCompile(`(?s)'[^']*'?|"(?:\\.|[^"\\])*"?|\\.|<<|\|\||&&|>&|&>|[\n;&|()` + "`" + `]|[ \t\r]+(?:#[^\n]*)?|[^'"\\<|&>\n;()` + "`" + ` \t\r]+|.`)

// parseScript returns the simple commands of a script. It knows no more of the
// language than tokens does: what is in double quotes is a word, and nothing is
// expanded. At the first here-document it ends.
func parseScript(script string) []simple {
	var commands []simple
	var words []string
	word, begun := "", false
	list, either := 0, false // the first command of a list, and whether it has "||"
	end := func() {
		if begun {
			words = append(words, word)
		}
		if word, begun = "", false; len(words) == 0 {
			return
		}
		condition := slices.Contains([]string{"if", "elif", "while", "until"}, words[0])
		commands = append(commands, simple{words: words, excused: condition})
		words = nil
	}
	endList := func() {
		end()
		for i := list; either && i < len(commands); i++ {
			commands[i].excused = true
		}
		list, either = len(commands), false
	}
	all := tokens.FindAllString(script, -1)
	for i, token := range all {
		switch token[0] {
		case '\'', '"':
			word, begun = word+strings.Trim(token, token[:1]), true
		case '\\':
			word, begun = word+strings.TrimPrefix(token[1:], "\n"), true
		case ' ', '\t', '\r':
			if begun {
				words = append(words, word)
			}
			word, begun = "", false
		case '|', '(', ')', '`':
			either = either || token == "||"
			end()
		case '\n', ';', '&':
			switch token {
			case "&&":
				end()
			case "&>":
			default:
				endList()
			}
		default:
			if token == "<<" {
				n := len(commands)
				if end(); len(commands) > n {
					commands[n].here = strings.Join(all[i+1:], "")
				}
				endList()
				return commands
			}
			word, begun = word+token, true
		}
	}
	endList()
	return commands
}
