package agent

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/worldmodel"
	"desktop-agent/worldmodel/lexicon"
)

// A deed is an action that changed a document, saved one, or sent something off.
type deed struct {
	kind  deedKind
	step  int
	words string // what was done, without what was typed
	act   *run.Act
	on    *screen.Observation // that it was decided on; nil of an edit, and of what is long past
	came  *screen.Observation // after its batch
}

type deedKind int

const (
	noDeed deedKind = iota
	edit
	save
	send
)

// had reports whether a deed came to something. Saving changes nothing that is seen.
func (d deed) had() bool {
	switch {
	case d.act == nil:
		return true
	case d.kind == edit:
		return d.act.Status != actuator.Refused && d.act.Status != actuator.NoEffect
	}
	return d.act.Status != actuator.Refused
}

// holders hold things to choose, and have the focus in their place. A combo box is one too,
// though it is a field: a key chooses what to show in it.
var holders = []string{"list", "tree", "tree table", "layered pane", "combo box"}

// elsewhere reports whether keys change no document while a node has the focus: it is a
// control, or holds some. A field of more than a line may be the document.
func elsewhere(o *screen.Observation, i int) bool {
	return o.IsField(i) || o.IsControl(i) || slices.Contains(holders, o.Tree.Nodes[i].Role)
}

// deedOf tells what kind of a deed an action was, by what it was aimed at and by the
// observation that it was chosen on; done are the actions of the batch before it.
func deedOf(a actuator.Action, done []actuator.Action, now *screen.Observation) deedKind {
	w, _ := now.Focused()
	toSave := lexicon.LabelOf(w.Title).Saving()
	keys, chord := chordOf(a, done)
	has := func(list ...actuator.Key) bool {
		return slices.ContainsFunc(list, func(k actuator.Key) bool { return slices.Contains(keys, k) })
	}
	text, entered := actuator.Entered(a)
	switch {
	case chord.Saves():
		return save
	case toSave && (has("enter", "return") || entered && strings.HasSuffix(text, "\n")):
		return save
	}
	if c, click := actuator.Clicked(a, done, run.PointerOn(now)); click && c.At != nil && !lexicon.Asks(c.At.Element.Name) { // else a dialog follows
		label := lexicon.LabelOf(c.At.Element.Name)
		switch {
		case label.Saving(), toSave && label.Agrees():
			return save
		case label.Editing():
			return edit
		case label.Sending():
			return send
		}
	}
	_, clipboard := a.(actuator.SetClipboard)
	changes := entered && text != "" && !clipboard || has("delete", "backspace") || chord.Edits()
	if changes && !aside(done, now) {
		return edit
	}
	return noDeed
}

// chordOf returns the keys that an action presses, and with them those that the actions
// before it in its batch hold down.
func chordOf(a actuator.Action, done []actuator.Action) ([]actuator.Key, lexicon.Chord) {
	if _, up := a.(actuator.KeyUp); up {
		return nil, ""
	}
	keys := actuator.Pressed(a)
	return keys, lexicon.Chord(actuator.Chord(append(actuator.KeysHeldAfter(done, nil), keys...)))
}

// aside reports whether what is entered goes into a field of one line, a control, a dialog or
// a terminal: that changes no document by itself. A control that was clicked just before may
// give the focus back to the document, so of what was clicked a field alone counts.
func aside(done []actuator.Action, now *screen.Observation) bool {
	for i, a := range slices.Backward(done) {
		c, click := actuator.Clicked(a, done[:i], nil)
		if !click || c.At == nil {
			continue
		}
		if n, ok := now.Element(string(c.At.Element.ID)); ok {
			return now.IsField(n)
		}
	}
	if w, ok := now.Focused(); ok && (w.Type == "dialog" || lexicon.ProgramOf(w.Class) == lexicon.Terminal) {
		return true
	}
	i := now.FocusedNode()
	return i >= 0 && elsewhere(now, i)
}

// last returns the newest deed of a kind that came to something, and its place in the
// list; -1 if there is none.
func (p *past) last(kind deedKind) (deed, int) {
	for i, d := range slices.Backward(p.deeds) {
		if d.kind == kind && d.had() {
			return d, i
		}
	}
	return deed{}, -1
}

// edited returns when the run last edited something: when the frame was taken on which
// that was decided, or the run began. An edit that came after a saving in one batch is as
// new as the newest frame: nothing tells when the file was written between the two.
func (p *past) edited(now time.Time) time.Time {
	d, i := p.last(edit)
	saved, j := p.last(save)
	switch {
	case i < 0 && p.first != nil:
		return p.first.At
	case i < 0:
		return now
	case j >= 0 && j < i && saved.step == d.step:
		return now
	}
	return p.when[d.step]
}

// unsaved says what was edited after the run last saved; "" if nothing was, or it never
// saved, or a file was written since.
func (p *past) unsaved(files planner.Files) string {
	d, i := p.last(edit)
	s, j := p.last(save)
	if i < 0 || j < 0 || i < j || slices.ContainsFunc(files.List, func(f planner.File) bool { return files.Own && f.Modified.After(files.Edited) }) {
		return ""
	}
	return fmt.Sprintf("the last edit (step %d: %s) came after the last saving (step %d: %s)", d.step, d.words, s.step, s.words)
}

// saved tells what the record knows of edits and saving, if something was saved in a step.
func (p *past) saved(step int) []string {
	if s, i := p.last(save); i >= 0 && s.step == step {
		return p.facts(planner.Files{})[:1]
	}
	return nil
}

// maxMoments is how many screens are kept at which something was saved or sent.
const maxMoments = 3

// moments are those of the newest deeds that saved or sent something and came to something.
func (p *past) moments(now *screen.Observation) (list []worldmodel.Moment) {
	for _, d := range p.deeds {
		if d.on == nil || !d.had() {
			continue
		}
		m := worldmodel.Moment{Step: d.step, Words: d.words, Screen: d.on}
		if d.came != nil && d.came.FrameID != now.FrameID {
			m.Came = d.came
		}
		list = append(list, m)
	}
	return list
}

// came keeps in mind what the screen was after the deeds of a step.
func (p *past) came(step int, now *screen.Observation) {
	for i := range p.deeds {
		if d := &p.deeds[i]; d.on != nil && d.step == step {
			d.came = told(now)
			d.came.Bare = nil
		}
	}
}

// keep keeps the screen of a deed in mind, and forgets that of one long past.
func (p *past) keep(d deed, now *screen.Observation) {
	if d.kind != edit {
		d.on = told(now)
		d.on.Bare = nil
	}
	p.deeds = append(p.deeds, d)
	p.deeds = p.deeds[max(0, len(p.deeds)-maxDeeds):]
	kept := 0
	for i := range slices.Backward(p.deeds) {
		if p.deeds[i].on == nil {
			continue
		}
		if kept++; kept > maxMoments {
			p.deeds[i].on, p.deeds[i].came = nil, nil
		}
	}
}

// maxFacts is how many files and sendings are told.
const maxFacts = 8

// facts tells in lines what the record knows by itself of edits, saving and sending.
func (p *past) facts(files planner.Files) (lines []string) {
	d, i := p.last(edit)
	s, j := p.last(save)
	switch {
	case i < 0 && j < 0:
	case i < 0:
		lines = append(lines, fmt.Sprintf("Last saved in step %d (%s). Nothing was typed into a document before or after; what else may have changed it is not known.", s.step, s.words))
	case j < 0:
		lines = append(lines, fmt.Sprintf("Last edit in step %d (%s); nothing was saved.", d.step, d.words))
	case i > j:
		lines = append(lines, fmt.Sprintf("Last edit in step %d (%s), last saved in step %d (%s): not saved since.", d.step, d.words, s.step, s.words))
	default:
		lines = append(lines, fmt.Sprintf("Last edit in step %d (%s), last saved in step %d (%s): saved since.", d.step, d.words, s.step, s.words))
	}
	var sent []string
	for _, d := range p.deeds {
		if d.kind == send && d.had() {
			sent = append(sent, fmt.Sprintf("Sent, submitted or confirmed in step %d: %s.", d.step, d.words))
		}
	}
	lines = append(lines, sent[max(0, len(sent)-maxFacts):]...)
	if !files.Own {
		return lines
	}
	for _, f := range files.List[:min(len(files.List), maxFacts)] {
		when := "before the last edit"
		if f.Modified.After(files.Edited) {
			when = "after the last edit"
			if i < 0 {
				when = "since the run began"
			}
		}
		lines = append(lines, fmt.Sprintf("File %q (%d bytes) was written %s.", f.Path, f.Size, when))
	}
	return lines
}
