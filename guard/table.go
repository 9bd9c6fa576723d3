package guard

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2"

	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
	"desktop-agent/worldmodel"
)

//go:embed table.toml
var tableFile string

// A words is a list of words and how they are looked for in a label.
type words struct {
	Whole, Begin, Any []string
}

// A labelRow is the labels of one effect.
type labelRow struct {
	Effect worldmodel.Effect
	Soft   bool // in a document, an edit that can be undone
	Whole  []string
	Begin  []string
	Any    []string
}

// table is table.toml: all that the classifier knows by name.
var table = func() (t struct {
	Programs struct{ Terminal, Files, Mail, Chat, Browser, Document []string }
	Label    []labelRow
	Harmless words
	Confirm  struct{ Whole, Question, Save []string }
	Dialog   map[worldmodel.Effect][]string
	Trash    words
	Roles    struct{ Navigate, Text, Toggle, Button, Dialog, Single []string }
	Keys     struct{ Harmless, Closing, Save, Send, Paste, System []string }
	Commands map[worldmodel.Effect][]string
	Files    struct{ Programs []string }
	Reading  struct {
		Programs []string
		Options  map[string]string
	}
}) {
	d := toml.NewDecoder(strings.NewReader(tableFile)).DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		panic("guard: table.toml: " + err.Error()) // it is part of the program
	}
	for _, role := range slices.Concat(t.Roles.Navigate, t.Roles.Text, t.Roles.Toggle, t.Roles.Button, t.Roles.Dialog, t.Roles.Single) {
		if !atspi.IsRole(role) {
			panic("guard: table.toml: there is no role " + role)
		}
	}
	return t
}()

// A program is what kind of program a window is of.
type program string

// The kinds of programs that the classifier tells apart.
const (
	terminal program = "terminal"
	files    program = "file manager"
	mail     program = "mail"
	chat     program = "chat"
	browser  program = "browser"
	document program = "document"
	another  program = "another"
)

// programOf returns the kind of a window's program.
func programOf(w screen.Window) program {
	class := strings.ToLower(w.Class)
	p := table.Programs
	for _, row := range []struct {
		kind program
		list []string
	}{{terminal, p.Terminal}, {files, p.Files}, {mail, p.Mail}, {chat, p.Chat}, {browser, p.Browser}, {document, p.Document}} {
		if slices.Contains(row.list, class) {
			return row.kind
		}
	}
	return another
}

// plain is a label as the table has it: small letters, one space between words, no
// mark of a shortcut and no dots at the end.
func plain(label string) string {
	label = strings.ToLower(strings.ReplaceAll(label, "_", ""))
	label = strings.Join(strings.Fields(label), " ")
	return strings.TrimRight(label, ".…:! ")
}

// opensDialog reports whether dots at the end of a label say that a question follows.
func opensDialog(label string) bool {
	label = strings.TrimSpace(label)
	return strings.HasSuffix(label, "…") || strings.HasSuffix(label, "...")
}

// begins reports whether a label begins with one of some phrases, as whole words.
func begins(label string, list []string) bool {
	return slices.ContainsFunc(list, func(p string) bool {
		rest, ok := strings.CutPrefix(label, p)
		return ok && (rest == "" || !wordRune([]rune(rest)[0]))
	})
}

// holds reports whether one of some phrases stands in a text as whole words.
func holds(text string, list []string) bool {
	return slices.ContainsFunc(list, func(p string) bool {
		for from := 0; ; {
			i := strings.Index(text[from:], p)
			if i < 0 {
				return false
			}
			at, end := from+i, from+i+len(p)
			before, after := []rune(text[:at]), []rune(text[end:])
			if (len(before) == 0 || !wordRune(before[len(before)-1])) && (len(after) == 0 || !wordRune(after[0])) {
				return true
			}
			from = end
		}
	})
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// labelled returns the row of the table that a plain label is in.
func labelled(label string) (labelRow, bool) {
	for _, row := range table.Label {
		if slices.Contains(row.Whole, label) || begins(label, row.Begin) || holds(label, row.Any) {
			return row, true
		}
	}
	return labelRow{}, false
}

// legible reports whether a label is written in letters that the table has words of.
func legible(label string) bool {
	letters := false
	for _, r := range label {
		if unicode.IsLetter(r) {
			if !unicode.Is(unicode.Latin, r) {
				return false
			}
			letters = true
		}
	}
	return letters
}

// said returns the effect that the text of a dialog speaks of; "" for none.
func said(text string) worldmodel.Effect {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	for _, e := range worldmodel.SideEffects() {
		if holds(text, table.Dialog[e]) {
			return e
		}
	}
	return ""
}

// commands are the regular expressions of the table, the worst effect first.
var commands = func() (list []struct {
	effect worldmodel.Effect
	form   *regexp.Regexp
}) {
	for _, e := range worldmodel.SideEffects() {
		for _, form := range table.Commands[e] {
			list = append(list, struct {
				effect worldmodel.Effect
				form   *regexp.Regexp
			}{e, regexp.MustCompile(`(?m)` + form)})
		}
	}
	return list
}()

// command returns the effect of a harmful command in a text; "" if there is none.
func command(text string) worldmodel.Effect {
	text = strings.ToLower(text)
	for _, c := range commands {
		if c.form.MatchString(text) {
			return c.effect
		}
	}
	return ""
}
