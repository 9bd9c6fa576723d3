package guard

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
	"desktop-agent/worldmodel"
	"desktop-agent/worldmodel/lexicon"
)

//go:embed table.toml
var tableFile string

// table is table.toml: what the classifier knows by name, besides words, which are in
// [lexicon].
var table = func() (t struct {
	Roles    struct{ Navigate, Text, Toggle, Button, Dialog, Single, Entry, View []string }
	Keys     struct{ Harmless, Closing, Send, System []string }
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
	for _, role := range slices.Concat(t.Roles.Navigate, t.Roles.Text, t.Roles.Toggle, t.Roles.Button, t.Roles.Dialog, t.Roles.Single, t.Roles.Entry, t.Roles.View) {
		if !atspi.IsRole(role) {
			panic("guard: table.toml: there is no role " + role)
		}
	}
	return t
}()

// programOf returns the kind of a window's program.
func programOf(w screen.Window) lexicon.Program { return lexicon.ProgramOf(w.Class) }

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
