package export

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"desktop-agent/actuator"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// collect finds out what is to be hidden: what was typed, and then the replies
// that may tell it in a way of their own.
func (m *masker) collect(ctx context.Context, stored *replay.Run) error {
	var keys keysPressed
	covers := make([]bool, len(m.red.Regions))
	var screen image.Point
	for step, err := range steps(ctx, stored) {
		if err != nil {
			return err
		}
		secret := m.red.Typed
		for _, o := range append([]*run.Observed{step.Before, step.Seen()}, step.Observed...) {
			if o == nil {
				continue
			}
			secret = secret || asksPassword(o)
			screen = o.Frame
			for i, r := range m.red.Regions {
				covers[i] = covers[i] || r.Box.Empty() || r.Box.Overlaps(image.Rectangle{Max: o.Frame})
			}
		}
		if !secret {
			continue
		}
		for _, a := range step.Acts {
			m.typed(a.Action.Action, &keys)
		}
		for _, p := range step.Proposals { // also what was not done
			var proposed keysPressed
			for _, a := range p.Actions {
				m.typed(a.Action, &proposed)
			}
			proposed.end(m)
		}
	}
	keys.end(m)
	if i := slices.Index(covers, false); i >= 0 {
		return fmt.Errorf("the region %v is outside of the screen, which has %d×%d pixels", m.red.Regions[i].Box, screen.X, screen.Y)
	}
	if err := m.addMisread(ctx, stored); err != nil {
		return err
	}
	for step, err := range steps(ctx, stored) {
		if err != nil {
			return err
		}
		for _, c := range step.Calls {
			m.doubt(c)
		}
	}
	return nil
}

// addMisread takes what was read from parts of the picture that will be black.
func (m *masker) addMisread(ctx context.Context, stored *replay.Run) error {
	if m.empty() && len(m.red.Regions)+len(m.patterns) == 0 {
		return nil
	}
	p := newPainter(m)
	var texts []string
	for e, err := range stored.Events() {
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return err
		}
		switch data := e.Data.(type) {
		case run.Acting:
			p.acts(data)
		case run.Observed:
			black := p.redacted(&data)
			for _, n := range data.Targets {
				if misread(n, black) {
					texts = append(texts, n.Text)
				}
			}
		}
	}
	for _, text := range texts {
		// As the lists of nodes and of what has changed have it.
		m.add("= " + strconv.Quote(text) + " (read from the picture)")
		m.add(screen.RoleTextLine + ` "" with "` + text)
		if n := utf8.RuneCountInString(text); n >= manyLetters || n >= manyLetters/2 && strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
			m.add(text) // else it may be a word that stands everywhere
		}
	}
	return nil
}

// manyLetters is how long a word is that hardly stands anywhere else.
const manyLetters = 12

// asksPassword reports whether a screen has a field for a password.
func asksPassword(o *run.Observed) bool {
	for _, n := range o.Targets {
		if isPassword(n.Role) {
			return true
		}
	}
	return false
}

func isPassword(role string) bool { return strings.Contains(role, "password") }

// typed takes what an action enters.
func (m *masker) typed(a actuator.Action, keys *keysPressed) {
	if text, ok := actuator.Entered(a); ok {
		m.add(text)
	}
	if m.red.Typed {
		keys.press(m, a)
	}
}

// pressed returns the key of a character that an action presses, alone or
// with shift.
func pressed(a actuator.Action) (key string, ok bool) {
	for _, k := range actuator.Pressed(a) {
		switch {
		case strings.HasPrefix(string(k), "shift"):
		case k == "space" && key == "":
			key = " "
		case utf8.RuneCountInString(string(k)) == 1 && key == "":
			key = string(k)
		default:
			return "", false
		}
	}
	return key, key != ""
}

// keysPressed joins the characters of keys that were pressed one after another.
type keysPressed struct{ text string }

func (k *keysPressed) press(m *masker, a actuator.Action) {
	if key, ok := pressed(a); ok {
		if _, lets := a.(actuator.KeyUp); !lets {
			k.text += key
		}
		return
	}
	if _, lets := a.(actuator.KeyUp); !lets { // of shift
		k.end(m)
	}
}

func (k *keysPressed) end(m *masker) {
	if text := strings.TrimSpace(k.text); utf8.RuneCountInString(text) >= least {
		m.add(text)
	}
	if strings.TrimSpace(k.text) != "" && len(m.patterns) == len(m.red.Patterns) {
		m.patterns = append(m.patterns[:len(m.patterns):len(m.patterns)], pressWords...)
	}
	k.text = ""
}

// doubt hides a reply as a whole, wherever it is quoted, if a masked text was
// typed from it that it does not plainly show: it may put it together.
func (m *masker) doubt(c *replay.Call) {
	if c.Proposal == nil || c.Response == nil {
		return
	}
	var reply strings.Builder
	reply.WriteString(c.Response.Text)
	for _, call := range c.Response.Calls {
		reply.WriteString("\n" + call.Arguments)
	}
	if !m.unclear(reply.String(), c.Proposal) {
		return
	}
	m.addWhole(c.Response.Text)
	for _, call := range c.Response.Calls {
		m.addWhole(call.Arguments)
	}
	m.addWhole(c.Proposal.Thought)
	m.addWhole(c.Proposal.Expect)
}

// unclear reports whether a reply enters a masked text, or a line of it, that
// it does not show letter by letter.
func (m *masker) unclear(reply string, p *run.Proposal) bool {
	forms := writings(reply)
	for i := range forms {
		forms[i] = string(fold(forms[i]))
	}
	keys := 0
	for _, a := range p.Actions {
		if _, ok := pressed(a.Action); ok && m.red.Typed {
			keys++
		}
		text, ok := actuator.Entered(a.Action)
		if !ok || !m.red.Typed && !m.shows(text) {
			continue
		}
		for line := range strings.Lines(text) {
			if !anyContains(forms, string(fold(strings.TrimSpace(line)))) {
				return true
			}
		}
	}
	return keys > 1
}

func anyContains(list []string, s string) bool {
	for _, form := range list {
		if strings.Contains(form, s) {
			return true
		}
	}
	return false
}

// addWhole takes a text that is hidden where it stands in full.
func (m *masker) addWhole(text string) {
	folded := fold(strings.TrimSpace(text))
	if len(folded) < least || strings.Trim(text, "• \n") == "" {
		return
	}
	key := [least]rune(folded)
	m.needles[key] = append(m.needles[key], folded)
}
