package guard

import (
	"slices"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
	"desktop-agent/worldmodel/lexicon"
)

// chord is what keys are together with those that are held meanwhile: see [actuator.Chord].
func (s *scene) chord(keys []actuator.Key) string {
	return actuator.Chord(slices.Concat(s.keys, keys))
}

// press classifies a key or a shortcut, with the keys that are held meanwhile.
func (s *scene) press(keys []actuator.Key) Class {
	name := s.chord(keys)
	t := table.Keys
	switch {
	case !slices.ContainsFunc(keys, func(k actuator.Key) bool { return !k.Modifier() }):
		return sure(worldmodel.EffectNone, "a modifier alone")
	case slices.Contains(t.System, name):
		return asks(worldmodel.EffectExecute, "a shortcut of the system")
	case slices.Contains(t.Send, name):
		return s.sending(name)
	case lexicon.Chord(name).Pastes():
		return s.paste()
	case name == "enter" || name == "shift+enter":
		return s.enter()
	case s.focus.terminal():
		return s.inTerminal(name)
	case slices.Contains(t.Harmless, name):
		return sure(worldmodel.EffectNavigate, "a key that changes nothing that stays")
	case slices.Contains(t.Closing, name):
		return s.closing()
	case lexicon.Chord(name).Saves():
		return asks(worldmodel.EffectEdit, "it saves what is open")
	case strings.HasSuffix(name, "delete") || name == "backspace":
		return s.deleting(name)
	case name == "space":
		return s.space()
	case len(keys) == 1 && len([]rune(name)) == 1 || strings.HasPrefix(name, "shift+") && len([]rune(name)) == len("shift+")+1:
		return s.typed()
	case strings.HasPrefix(name, "alt+") && len([]rune(name)) == len("alt+")+1:
		return s.mnemonic()
	case s.focus.program == lexicon.Document && !s.focus.dialog:
		return sure(worldmodel.EffectEdit, "what is done in a document can be undone")
	}
	return asks("", "a shortcut that the table does not know")
}

// enter classifies Enter.
func (s *scene) enter() Class {
	at := s.focus
	switch {
	case at.terminal():
		if a, once := s.in.Action.(actuator.Press); once && a.Count <= 1 && len(a.Keys) == 1 && len(s.keys) == 0 {
			return entered(s.line(), "Enter in a terminal")
		}
		return asks(worldmodel.EffectExecute, "Enter in a terminal")
	case at.is(table.Roles.Button...):
		return s.button(at)
	case at.dialog:
		return s.inDialog(at)
	case at.program == lexicon.Mail || at.program == lexicon.Chat:
		return asks(worldmodel.EffectSend, "Enter may send in such a program")
	case at.program == lexicon.Browser:
		if bar, ok := s.addressBar(at); ok {
			return s.address(bar)
		}
		return asks("", "Enter may send a form")
	case at.program == lexicon.Files && at.node != nil:
		return s.open(at)
	case at.program == lexicon.Document && at.known:
		return sure(worldmodel.EffectEdit, "a new line, or the next cell")
	case at.is(table.Roles.Text...) && !at.is(table.Roles.Single...):
		return sure(worldmodel.EffectEdit, "a new line")
	}
	return asks("", "what Enter does there is not known")
}

// open classifies Enter in a file manager: it opens what has the focus, and what is selected.
func (s *scene) open(at element) Class {
	switch {
	case at.is(table.Roles.Text...):
		return sure(worldmodel.EffectNavigate, "a place is opened")
	case at.is(table.Roles.Toggle...):
		return s.activate(at)
	case s.moved():
		return asks("", "what is selected by then is not known")
	case len(s.in.Done) > 0: // a click has selected what is there, and nothing else
		return s.openFile(at)
	}
	some := false
	for i, n := range s.nodes {
		if s.inside[i] == at.window && n.Has("selected") && slices.Contains(table.Roles.Entry, n.Role) {
			if isProgram(n.Called()) {
				return asks(worldmodel.EffectExecute, "a program or script is opened")
			}
			some = some || n.Called() != ""
		}
	}
	if some && at.is(table.Roles.View...) {
		return sure(worldmodel.EffectNavigate, "a file or folder is opened")
	}
	return s.openFile(at)
}

// moved reports whether keys may have moved the selection since it was seen, or clicked.
func (s *scene) moved() bool {
	pointer := run.PointerOn(s.in.On)
	for i, a := range slices.Backward(s.in.Done) {
		if actuator.UsesFocus(a) {
			return true
		}
		if _, click := actuator.Clicked(a, s.in.Done[:i], pointer); click {
			break
		}
	}
	text, _ := actuator.Entered(s.in.Action)
	return strings.TrimRight(text, "\r\n") != ""
}

// addressBar is the field of a browser that Enter opens the address of: that with the
// focus, or the one whose list of suggestions has it.
func (s *scene) addressBar(at element) (element, bool) {
	if at.node == nil {
		return at, false
	}
	if at.editable() && !at.web {
		return at, true
	}
	if at.label != "Omnibox Popup" {
		return at, false
	}
	for i := range s.nodes {
		if s.inside[i] != at.window {
			continue
		}
		if bar := s.of(i, at.window); slices.Contains(table.Roles.Text, bar.node.Role) && bar.editable() && !bar.web {
			return bar, true
		}
	}
	return at, false
}

// address classifies the address that is entered in a browser. What a query or a user's
// name in it says goes to its server.
func (s *scene) address(at element) Class {
	text := at.node.Text
	for _, a := range append(slices.Clone(s.in.Done), s.in.Action) {
		switch typed, ok := actuator.Entered(a); {
		case ok:
			text = typed
		case actuator.Name(a) == actuator.Name(actuator.Paste{}):
			return asks("", "which address was pasted is not known")
		}
	}
	text = strings.TrimSpace(text)
	if strings.ContainsAny(text, " \t\n") {
		return sure(worldmodel.EffectNavigate, "words are searched for")
	}
	_, query, _ := strings.Cut(text, "?")
	host, _, _ := strings.Cut(text[strings.Index(text, "//")+1:], "?")
	if strings.Contains(query, "=") || strings.Contains(host, "@") {
		return asks(worldmodel.EffectSend, "the address tells its server something")
	}
	return sure(worldmodel.EffectNavigate, "the address that is entered is opened")
}

// inDialog classifies Enter in a dialog: it presses the button that is the default,
// which nothing tells.
func (s *scene) inDialog(at element) Class {
	if s.overwrites(at) {
		return asks(worldmodel.EffectDelete, "a file of that name is there, and would be overwritten")
	}
	if e := lexicon.Said(at.statement); e != "" {
		return asks(e, "it confirms what the dialog says")
	}
	var worst Class
	for _, b := range at.buttons {
		c := s.button(b)
		if !c.Harmless && (worst.Rule == "" || worst.Effect == "" || worst.Effect.Worse(c.Effect) == c.Effect) {
			worst = c
		}
	}
	switch {
	case worst.Rule != "":
		return asks(worst.Effect, "Enter may press a button of which "+worst.Rule)
	case len(at.buttons) == 0:
		return asks("", "which buttons the dialog has is not known")
	}
	return sure(worldmodel.EffectEdit, "no button of the dialog does harm")
}

// sending classifies a shortcut that sends in some programs.
func (s *scene) sending(name string) Class {
	switch {
	case s.focus.terminal():
		return asks(worldmodel.EffectExecute, "Enter in a terminal")
	case s.focus.program == lexicon.Document && !s.focus.dialog:
		return sure(worldmodel.EffectEdit, "what is done in a document can be undone")
	case s.focus.program == lexicon.Another && strings.HasPrefix(name, "alt"):
		return s.mnemonic()
	}
	return asks(worldmodel.EffectSend, "the shortcut sends in mail, chat and forms")
}

// inTerminal classifies a key in a terminal.
func (s *scene) inTerminal(name string) Class {
	switch {
	case slices.Contains([]string{"ctrl+c", "ctrl+l", "ctrl+a", "ctrl+e", "ctrl+u", "ctrl+k", "ctrl+w", "ctrl+shift+c", "backspace", "delete", "space", "tab", "esc"}, name):
		return sure(worldmodel.EffectEdit, "it changes the line that is typed")
	case !strings.Contains(name, "+") || strings.HasPrefix(name, "shift+"):
		return sure(worldmodel.EffectEdit, "it is typed, and not entered")
	}
	return asks(worldmodel.EffectExecute, "a shortcut in a terminal")
}

// closing classifies what closes a window or a tab: a document that is not saved is
// asked about.
func (s *scene) closing() Class {
	if s.focus.program == lexicon.Document || s.focus.program == lexicon.Files {
		return sure(worldmodel.EffectNavigate, "such programs ask before something is lost")
	}
	return asks("", "what is lost when it closes is not known")
}

// deleting classifies Delete and Backspace.
func (s *scene) deleting(name string) Class {
	at := s.focus
	field := at.field()
	switch {
	case field:
		return sure(worldmodel.EffectEdit, "text of a field is deleted")
	case at.program == lexicon.Document && !at.dialog && at.known:
		return sure(worldmodel.EffectEdit, "what is done in a document can be undone")
	case at.program == lexicon.Files && name == "backspace":
		return sure(worldmodel.EffectNavigate, "the folder above is shown")
	}
	return asks(worldmodel.EffectDelete, "what is selected is deleted")
}

// space classifies the space bar, which presses what has the focus.
func (s *scene) space() Class {
	at := s.focus
	if at.is(table.Roles.Button...) || at.is(table.Roles.Toggle...) {
		return s.activate(at)
	}
	return s.typed()
}

// mnemonic classifies alt with a letter: a menu, or a button of a dialog.
func (s *scene) mnemonic() Class {
	switch {
	case s.focus.dialog:
		return s.inDialog(s.focus)
	case s.focus.program == lexicon.Document || s.focus.program == lexicon.Files:
		return sure(worldmodel.EffectNavigate, "a menu opens")
	}
	return asks("", "a shortcut that the table does not know")
}
