package guard

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
	"desktop-agent/worldmodel/lexicon"
)

// A Class is what the classifier makes of an action, without asking anybody.
type Class struct {
	Effect   worldmodel.Effect // as far as the table tells; "" if it does not know
	Harmless bool              // for certain: it costs no call
	Rule     string            // why, in words
	Target   string            // what it is about, in words; "" for nothing in particular
	Local    bool              // as far as the program tells, it stays on this computer
	Dialog   string            // what the dialog says that it is done in; "" for none
	Folder   string            // that a file manager shows, as far as it tells
}

// NotInTable is the rule by which an action of a type is asked about that nobody has told
// the guard of.
const NotInTable = "an action that the table does not know"

func sure(e worldmodel.Effect, rule string) Class {
	return Class{Effect: e, Harmless: true, Rule: rule}
}

func asks(e worldmodel.Effect, rule string) Class { return Class{Effect: e, Rule: rule} }

// Classify tells what an action may do, from the table and from what is on the
// screen. It errs towards asking: what it does not know is not harmless. held are the
// keys that earlier actions of the run have left down; a line of a terminal is taken to
// have nothing on it before the action.
func Classify(in run.Intent, held ...actuator.Key) Class { return sceneOf(in, held).class() }

// class is what the classifier makes of the action.
func (s *scene) class() Class {
	in := s.in
	c := s.classify(in.Action)
	if text, ok := actuator.Entered(in.Action); ok && c.Harmless {
		if e := command(text); e != "" {
			c = asks(e, "a command that harms is in the text")
		}
	}
	astray := actuator.UsesFocus(in.Action) && !s.certain
	if c.Harmless && astray && !s.anywhere(c) {
		c = asks("", "it is not known what has the focus")
	}
	partly := s.partly()
	if c.Harmless && partly && !s.anywhere(c) {
		c = asks("", "its program did not answer in time: only a part of what it shows is known")
	}
	at := s.aimed()
	c.Target, c.Local, c.Dialog = s.target(), at.local(), strings.TrimSpace(at.statement)
	c.Folder = s.folder(at)
	if _, call := in.Action.(actuator.CallTool); call || astray || partly { // whatever has the focus, or is not told
		c.Local = false
	}
	return c
}

// classify is [Classify] without what holds of every text.
func (s *scene) classify(a actuator.Action) Class {
	switch a := a.(type) {
	case actuator.Move, actuator.Scroll, actuator.Wait, actuator.WaitUntil, actuator.KeyUp, actuator.Copy, actuator.SetClipboard, actuator.ButtonDown:
		return sure(worldmodel.EffectNone, "it changes nothing by itself")
	case actuator.CallTool:
		switch s.in.Effect {
		case worldmodel.EffectNone, worldmodel.EffectNavigate:
			return sure(s.in.Effect, "the tool only reads")
		case worldmodel.EffectEdit:
			return sure(s.in.Effect, "what the tool changes can be changed back")
		}
		if s.in.Effect == worldmodel.EffectExecute && toolReads(a) {
			return asks(worldmodel.EffectNavigate, "it runs a program that only shows something")
		}
		return asks(s.in.Effect, "a tool that may do that")
	case actuator.Click:
		return s.click(a)
	case actuator.ButtonUp:
		return s.release(a)
	case actuator.Drag:
		return s.drag(s.drawn(a.Path))
	case actuator.Type:
		return s.write(string(a.Text))
	case actuator.Paste:
		if a.Text == nil {
			return s.paste()
		}
		return s.write(string(*a.Text))
	case actuator.Set:
		return s.set(a)
	case actuator.Press:
		return s.press(a.Keys)
	case actuator.Hold:
		return s.press(a.Keys)
	case actuator.KeyDown:
		if a.Key.Modifier() {
			return sure(worldmodel.EffectNone, "a modifier alone")
		}
		return s.press([]actuator.Key{a.Key})
	default: // the world model is asked
		return asks("", NotInTable)
	}
}

// click classifies a click of any button.
func (s *scene) click(a actuator.Click) Class {
	at := s.at(a.At)
	switch {
	case a.Button == actuator.Right:
		return sure(worldmodel.EffectNavigate, "a right click opens a menu")
	case a.Button == actuator.Middle:
		s.focus = at
		return s.paste()
	case a.Count > 1 && at.program == lexicon.Files && !at.dialog && !at.is(table.Roles.Text...) && !at.is(table.Roles.Button...) && !at.is(table.Roles.Toggle...):
		return s.openFile(at)
	}
	return s.activate(at)
}

// openFile classifies a double click on a place of a file manager, or Enter there.
func (s *scene) openFile(at element) Class {
	row, means := at.sign().Means()
	name := s.file(at)
	switch {
	case means:
		return asks(row.Effect, "what is read there says so")
	case slices.ContainsFunc(strings.Fields(at.read), isProgram), isProgram(name):
		return asks(worldmodel.EffectExecute, "a program or script is opened")
	case at.read != "":
		return asks("", "what is read there may be a part of its name")
	case name != "":
		return sure(worldmodel.EffectNavigate, "a file or folder is opened")
	case at.is(table.Roles.Navigate...) && !at.is(table.Roles.View...):
		return s.activate(at)
	}
	return asks("", "what would be opened is not known")
}

// file is the name of the file that a place of a file manager is, or is a part of; "" if it is
// not known to be one.
func (s *scene) file(at element) string {
	for i := at.index; i >= 0; i = s.nodes[i].Parent {
		if slices.Contains(table.Roles.Entry, s.nodes[i].Role) {
			return cmp.Or(s.nodes[i].Called(), at.label)
		}
	}
	if at.is("label", "static") {
		return at.label
	}
	return ""
}

// isProgram reports whether a file is a program or a script by its name.
func isProgram(name string) bool {
	return slices.Contains(table.Files.Programs, strings.ToLower(path.Ext(strings.TrimSpace(name))))
}

// activate classifies what a click, or a key on the element with the focus, does.
func (s *scene) activate(at element) Class {
	r := table.Roles
	read := at.sign()
	row, means := read.Means()
	switch {
	case at.is(r.Text...):
		return sure(worldmodel.EffectNavigate, "it only gives a field the focus")
	case at.is("combo box"): // what is read in it is what it shows
		return sure(worldmodel.EffectNavigate, "its list opens")
	case means && !(row.Soft && at.program == lexicon.Document && !at.dialog):
		return asks(row.Effect, "what is read there says so")
	case read.Confirms():
		return asks("", "what it confirms is not told")
	case at.node == nil || at.root:
		if at.program == lexicon.Terminal {
			return sure(worldmodel.EffectNavigate, "a click in a terminal")
		}
		return asks("", "no element is known there")
	case at.is(r.Button...) || at.is("link"):
		return s.button(at)
	case at.is(r.Toggle...):
		return s.toggle(at)
	case at.is(r.Navigate...):
		if row, ok := lexicon.LabelOf(at.label).Means(); ok && at.actionable() {
			return asks(row.Effect, "its label says so")
		}
		return sure(worldmodel.EffectNavigate, "an element that is selected or opened: "+at.node.Role)
	case s.empty(at):
		return sure(worldmodel.EffectNavigate, "an empty place of a document's window")
	}
	return asks("", "a "+at.node.Role+" may do anything")
}

// button classifies a button or an entry of a menu by its label.
func (s *scene) button(at element) Class {
	label := lexicon.LabelOf(at.label)
	row, found := label.Means()
	switch {
	case s.held("shift") && found:
		return asks(row.Effect, "its label says so, and shift is held")
	case label.Misleads() && !at.dialog:
		return sure(worldmodel.EffectEdit, "its label is known to be harmless")
	case found && row.Soft && at.program == lexicon.Document && !at.dialog:
		return sure(worldmodel.EffectEdit, "in a document, an edit that can be undone")
	case found:
		return asks(row.Effect, "its label says so")
	case lexicon.Asks(at.label) && label.Legible() && !at.dialog:
		return sure(worldmodel.EffectNavigate, "its label says that a question follows")
	case label.Confirms():
		return s.confirm(at, label)
	case label.Harmless():
		return sure(worldmodel.EffectNavigate, "its label is known to be harmless")
	case at.node.Role == "link" && label.Legible():
		return sure(worldmodel.EffectNavigate, "a link")
	case at.program == lexicon.Document && !at.dialog && (label.Legible() || digits(label)):
		return sure(worldmodel.EffectEdit, "what is done in a document can be undone")
	case at.bar:
		return sure(worldmodel.EffectNavigate, "a part of a scroll bar or a field")
	case label == "":
		return asks("", "the button has no label")
	}
	return asks("", "its label is not known")
}

// confirm classifies a button that means what its dialog says, or Enter in a dialog.
func (s *scene) confirm(at element, label lexicon.Label) Class {
	saves := label.Saves()
	if saves && s.overwrites(at) {
		return asks(worldmodel.EffectDelete, "a file of that name is there, and would be overwritten")
	}
	if saves && !at.dialog {
		return asks(worldmodel.EffectEdit, "it saves what is open")
	}
	if saves && discards(at) {
		return asks(worldmodel.EffectEdit, "it saves what would be lost")
	}
	text := at.text
	if saves || !label.Answers() { // labels of the dialog's own buttons are no statement
		text = at.statement
	}
	if e := lexicon.Said(text); e != "" {
		return asks(e, "it confirms what the dialog says")
	}
	switch {
	case at.program == lexicon.Document && !at.dialog:
		return sure(worldmodel.EffectEdit, "what is done in a document can be undone")
	case !at.dialog && at.program == lexicon.Files:
		return asks(worldmodel.EffectEdit, "files are changed")
	case !at.dialog:
		return asks("", "what it confirms is not known")
	case label.Answers():
		return asks("", "it answers a question that the table does not understand")
	case strings.TrimSpace(at.text) == "":
		return asks("", "the dialog tells nothing")
	case at.program == lexicon.Mail || at.program == lexicon.Chat || at.program == lexicon.Browser:
		return asks("", "what is confirmed may leave this computer")
	}
	return sure(worldmodel.EffectEdit, "the dialog speaks of nothing that is lost, sent or run")
}

// discards reports whether another button of the dialog would lose something: of which
// the dialog speaks then.
func discards(at element) bool {
	return slices.ContainsFunc(at.buttons, func(b element) bool {
		row, ok := lexicon.LabelOf(b.label).Means()
		return ok && row.Effect == worldmodel.EffectDelete && !row.Soft
	})
}

// toggle classifies what is switched on and off.
func (s *scene) toggle(at element) Class {
	if row, ok := lexicon.LabelOf(at.label).Means(); ok && row.Effect == worldmodel.EffectExecute {
		return asks(row.Effect, "its label says so")
	}
	if at.program == lexicon.Document || at.dialog || at.program == lexicon.Files {
		return sure(worldmodel.EffectEdit, "it is switched, and can be switched back")
	}
	return asks(worldmodel.EffectEdit, "a switch that may take effect at once")
}

// set classifies giving an element another text or value.
func (s *scene) set(a actuator.Set) Class {
	at := s.at(&a.At)
	if at.node == nil {
		return asks("", "no element is known there")
	}
	if strings.Contains(string(a.Text), "\n") && at.program == lexicon.Terminal {
		return asks(worldmodel.EffectExecute, "a line in a terminal")
	}
	return sure(worldmodel.EffectEdit, "a field holds another text")
}

// write classifies text that goes where the focus is.
func (s *scene) write(text string) Class {
	at := s.focus
	lines := strings.ContainsAny(text, "\n\r")
	switch {
	case at.terminal():
		if lines {
			return entered(s.line()+text, "Enter in a terminal")
		}
		return sure(worldmodel.EffectEdit, "it is typed, and not entered")
	case lines:
		if c := s.enter(); !c.Harmless {
			return c
		}
		fallthrough
	default:
		return s.typed()
	}
}

// typed classifies plain characters.
func (s *scene) typed() Class {
	at := s.focus
	switch {
	case at.field():
		return sure(worldmodel.EffectEdit, "typed into a field")
	case at.is(table.Roles.Entry...) || at.is("combo box"):
		if at.program != lexicon.Mail && at.program != lexicon.Chat && at.program != lexicon.Browser {
			return sure(worldmodel.EffectNavigate, "typed into a list or a cell")
		}
	case at.program == lexicon.Document && !at.dialog && at.known:
		return sure(worldmodel.EffectEdit, "typed into a document")
	case at.dialog && at.known && !s.riskyButtons(at):
		return sure(worldmodel.EffectEdit, "typed into a dialog that loses nothing")
	}
	return asks("", "where the text goes is not known")
}

// paste classifies what is on the clipboard going where the focus is.
func (s *scene) paste() Class {
	if s.focus.terminal() {
		return asks(worldmodel.EffectExecute, "what is pasted into a terminal may run")
	}
	if s.focus.program == lexicon.Files {
		return asks(worldmodel.EffectEdit, "files are copied or moved")
	}
	return s.typed()
}

// release classifies a mouse button that comes up: the end of a click or of a drag. Within
// one element only what is pressed as a whole is clicked from two places.
func (s *scene) release(a actuator.ButtonUp) Class {
	pointer := run.PointerOn(s.in.On)
	from := actuator.PressedAt(a.Button, s.in.Done, pointer)
	c, click := actuator.Clicked(a, s.in.Done, pointer)
	if from == nil || c.At == nil || click && from.X == c.At.X && from.Y == c.At.Y {
		return s.click(c)
	}
	down, up := s.at(from), s.at(c.At)
	if click && down.index == up.index && (up.is(table.Roles.Button...) || up.is(table.Roles.Toggle...)) {
		return s.click(c)
	}
	return s.drag([]actuator.Point{*from, *c.At})
}

// drag classifies what is dragged from the first to the last of some points.
func (s *scene) drag(along []actuator.Point) Class {
	if len(along) < 2 {
		return asks("", "where it is dragged from is not known")
	}
	from, to := s.at(&along[0]), s.at(&along[len(along)-1])
	text := func(at element) bool { return at.is(table.Roles.Text...) }
	switch {
	case lexicon.LabelOf(to.label).Trash(), to.sign().Trash():
		return asks(worldmodel.EffectDelete, "it is dragged onto the trash")
	case from.node == nil || from.root:
		return asks("", "what is dragged is not known")
	case text(from) && text(to) || slices.Contains([]string{"scroll bar", "slider", "split pane", "separator", "table column header", "column header"}, from.node.Role):
		return sure(worldmodel.EffectNavigate, "text is selected, or a bar is moved")
	case from.program == lexicon.Document && to.program == lexicon.Document && from.window == to.window:
		return sure(worldmodel.EffectEdit, "what is done in a document can be undone")
	case from.program == lexicon.Files || to.program == lexicon.Files:
		return asks(worldmodel.EffectEdit, "files are copied or moved")
	}
	return asks("", "what comes of dragging it is not known")
}

func digits(label lexicon.Label) bool {
	return label != "" && strings.Trim(string(label), "0123456789.,+-*/=%()") == ""
}
