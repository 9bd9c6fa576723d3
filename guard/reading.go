package guard

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"desktop-agent/actuator"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// options are the arguments that begin with "-" of programs that do more than to show
// something with others.
var options = func() map[string]*regexp.Regexp {
	forms := map[string]*regexp.Regexp{}
	for name, form := range table.Reading.Options {
		forms[name] = regexp.MustCompile("^(" + form + ")$")
	}
	return forms
}()

// reads reports whether lines of a shell only show something: each of their commands is
// one of the table, with no argument that makes it do more. What is not understood, such
// as a variable, a file that is written or an empty line, does not only read.
func reads(lines string) bool {
	for line := range strings.SplitSeq(strings.TrimSuffix(lines, "\n"), "\n") {
		list, ok := commandsOf(line)
		if !ok || len(list) == 0 || slices.ContainsFunc(list, func(c []shellWord) bool { return !shows(c) }) {
			return false
		}
	}
	return true
}

// toNowhere is a redirection that writes no file, and what may follow it.
var toNowhere = regexp.MustCompile(`^(2>&1|[12]?> ?/dev/null)(?:\s|[;|]|$)`)

// A shellWord is a word of a command, without its quotes.
type shellWord struct {
	text string
	glob bool // file names may come of it, and so options
}

// shows reports whether one command only shows something.
func shows(words []shellWord) bool {
	if len(words) == 0 {
		return false
	}
	name := words[0].text
	form, bound := options[name]
	if !bound {
		return slices.Contains(table.Reading.Programs, name)
	}
	return !slices.ContainsFunc(words[1:], func(w shellWord) bool {
		return w.glob || strings.HasPrefix(w.text, "-") && !form.MatchString(w.text)
	})
}

// commandsOf splits a line into its commands. ok is false if it has more than plain words,
// quotes, pipes, redirections to nowhere and what stands between commands. It is no
// grammar of one shell, for nobody knows which one reads the line, nor what history and
// keys it knows: only what all of them read the same is split, and whatever any of them
// would expand, redirect or run in the background is refused.
func commandsOf(line string) (list [][]shellWord, ok bool) {
	var command []shellWord
	var word *shellWord
	quote, last := rune(0), ""
	add := func(text string, glob bool) {
		if word == nil {
			word = &shellWord{}
		}
		word.text, word.glob = word.text+text, word.glob || glob
	}
	end := func() {
		if word != nil {
			command, word = append(command, *word), nil
		}
	}
	for rest := line; rest != ""; {
		if word == nil && quote == 0 { // between words
			if nowhere := toNowhere.FindStringSubmatch(rest); nowhere != nil {
				rest = rest[len(nowhere[1]):]
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsControl(r), quote == '"' && strings.ContainsRune("$`\\!", r), quote == 0 && strings.ContainsRune("$`\\!(){}<>#^", r):
			return nil, false
		case quote == r:
			quote = 0
		case quote != 0:
			add(string(r), false)
		case r == '\'' || r == '"':
			quote = r
			add("", false)
		case unicode.IsSpace(r):
			end()
		case strings.ContainsRune(";|&", r):
			end()
			last = string(r)
			if double := last + last; r != ';' && strings.HasPrefix(rest, double) {
				last, size = double, 2
			}
			if last == "&" || len(command) == 0 {
				return nil, false
			}
			list, command = append(list, command), nil
		default:
			add(string(r), strings.ContainsRune("*?[", r))
		}
		rest = rest[size:]
	}
	end()
	if len(command) > 0 {
		return append(list, command), quote == 0
	}
	return list, quote == 0 && (last == "" || last == ";")
}

// toolReads reports whether a call runs a program that only shows something.
func toolReads(call actuator.CallTool) bool {
	var a struct {
		Command   string
		Arguments []string
	}
	if call.Tool != run.CommandTool || json.Unmarshal([]byte(call.Arguments), &a) != nil {
		return false
	}
	words := []shellWord{{text: a.Command}}
	for _, arg := range a.Arguments {
		words = append(words, shellWord{text: arg})
	}
	return shows(words)
}

// unread is a line that is not known: something was done to it beside typing.
const unread = "\x00"

// lineKey names the command line of the terminal that has the focus; "" if it is not known.
func (s *scene) lineKey() string {
	if !s.focus.terminal() || s.focus.window < 0 {
		return ""
	}
	return fmt.Sprint(s.in.Display, "\n", s.windows[s.focus.window].ID)
}

// line is what stands on that, as far as it was typed in this run. A line that somebody
// else began, who foresees the action sees on the screen.
func (s *scene) line() string {
	if key := s.lineKey(); key != "" {
		return s.lines[key]
	}
	return unread
}

// lineAfter is what stands on it after the action.
func (s *scene) lineAfter() string {
	line := s.line()
	switch a := s.in.Action.(type) {
	case actuator.Type:
		line += string(a.Text)
		return line[strings.LastIndex(line, "\n")+1:]
	case actuator.Press:
		switch name := s.chord(a.Keys); {
		case name == "enter", name == "ctrl+c":
			return ""
		case slices.ContainsFunc(a.Keys, func(k actuator.Key) bool { return !k.Modifier() }):
			return unread
		}
	case actuator.Click:
		if a.Button == actuator.Middle {
			return unread
		}
	case actuator.Move, actuator.Scroll, actuator.ButtonDown, actuator.KeyUp, actuator.Copy, actuator.SetClipboard,
		actuator.Wait, actuator.WaitUntil, actuator.CallTool: // it writes nothing
	default: // it writes what is not known, or nobody knows whether it does
		return unread
	}
	return line
}

// entered classifies lines that are entered in a terminal.
func entered(lines, rule string) Class {
	if reads(lines) {
		return asks(worldmodel.EffectNavigate, "commands that only show something")
	}
	return asks(worldmodel.EffectExecute, rule)
}
