package macro

import (
	"cmp"
	"errors"
	"fmt"
	"image"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"desktop-agent/actuator"
	"desktop-agent/internal/spell"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// A Param is a text that is typed, or part of one, which can be another one when
// the macro is played.
type Param struct {
	Name   string // such as "file" or "text2"
	Text   string // as recorded; "" if it is secret
	Secret bool   // it was typed into a password field: it must be given
	Steps  []int  // of the recorded run, in which it is typed

	whole []actionIndex // actions whose whole text it is, whatever they say
}

// An actionIndex names an action of a macro by the indices of its step and of itself.
type actionIndex struct{ step, action int }

// Params returns what can be given anew, in the order in which it is typed.
func (m *Macro) Params() []Param {
	list := slices.Clone(m.params)
	for i := range list {
		list[i].Steps = slices.Clone(list[i].Steps)
	}
	return list
}

// Set gives a parameter another value: it is typed instead of the recorded text,
// and expected instead of it in titles, names and texts. The error for an unknown
// name tells the known ones.
func (m *Macro) Set(name, value string) error {
	i := slices.IndexFunc(m.params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		return m.unknown(name)
	}
	old, had := m.values[name]
	m.values[name] = value
	for _, step := range m.Steps {
		for k := range step.Actions {
			a := m.given(&step.Actions[k])
			if _, typed := actuator.Entered(a); !typed {
				continue
			}
			if err := actuator.Validate(a, image.Rect(0, 0, math.MaxInt32, math.MaxInt32)); err != nil && !m.waits(&step.Actions[k]) {
				if delete(m.values, name); had {
					m.values[name] = old
				}
				return fmt.Errorf("parameter %s: this value cannot be typed: %w", name, err)
			}
		}
	}
	return nil
}

func (m *Macro) unknown(name string) error {
	var names []string
	for _, p := range m.params {
		names = append(names, p.Name)
	}
	if len(names) == 0 {
		return fmt.Errorf("parameter %q: this run has none; declare the text that it stands for", name)
	}
	return fmt.Errorf("parameter %q is unknown: did you mean %q? There are: %s",
		name, spell.Nearest(name, names, 1)[0], strings.Join(names, ", "))
}

// waits reports whether an action has a secret text that was not given yet.
func (m *Macro) waits(a *Action) bool {
	_, given := m.valueOf(a)
	return a.secret && !given
}

// complete returns an error if a secret was not given.
func (m *Macro) complete() error {
	var errs []error
	for _, p := range m.params {
		if _, given := m.values[p.Name]; p.Secret && !given {
			errs = append(errs, fmt.Errorf("parameter %s of step %d is secret and not part of the recording: give its value", p.Name, p.Steps[0]))
		}
	}
	return errors.Join(errs...)
}

// given returns an action with the values of parameters in its text.
func (m *Macro) given(a *Action) actuator.Action {
	text, typed := actuator.Entered(a.Action)
	if !typed {
		return a.Action
	}
	if value, ok := m.valueOf(a); ok {
		return actuator.WithText(a.Action, value)
	}
	return actuator.WithText(a.Action, m.sub(text))
}

// valueOf returns the value of the parameter that is the whole text of an action.
func (m *Macro) valueOf(a *Action) (string, bool) {
	for _, p := range m.params {
		for _, at := range p.whole {
			if &m.Steps[at.step].Actions[at.action] == a {
				value, ok := m.values[p.Name]
				return value, ok
			}
		}
	}
	return "", false
}

// sub puts the values of parameters into recorded text, whole words only; longer
// texts first, and never into what another value has put there.
func (m *Macro) sub(text string) string {
	var set []Param
	for _, p := range m.params {
		if value, ok := m.values[p.Name]; ok && p.Text != "" && value != p.Text && strings.Contains(text, p.Text) {
			set = append(set, p)
		}
	}
	if len(set) == 0 {
		return text
	}
	slices.SortStableFunc(set, func(a, b Param) int { return len(b.Text) - len(a.Text) })
	var b strings.Builder
	for i := 0; i < len(text); {
		k := slices.IndexFunc(set, func(p Param) bool { return screen.WordsAt(text, p.Text, i) })
		if k < 0 {
			_, size := utf8.DecodeRuneInString(text[i:])
			b.WriteString(text[i : i+size])
			i += size
			continue
		}
		b.WriteString(m.values[set[k].Name])
		i += len(set[k].Text)
	}
	return b.String()
}

// holdsWords reports whether text has words, as sub would find them.
func holdsWords(text, words string) bool {
	for i := range text {
		if screen.WordsAt(text, words, i) {
			return true
		}
	}
	return false
}

var (
	fileLike = regexp.MustCompile(`[\p{L}\p{N}_][\p{L}\p{N}_.-]*\.[A-Za-z][A-Za-z0-9]{0,4}\b`)
	quoted   = regexp.MustCompile(`"([^"]{2,})"|“([^”]{2,})”|'([^']{2,})'`)
)

// parts returns the parts of a typed text that are clearly named in the task, as
// a whole, or as file name, quoted phrase or element of a list.
func parts(text, task string) []string {
	trimmed := strings.TrimSpace(text)
	if utf8.RuneCountInString(trimmed) >= 2 && holdsWords(task, trimmed) {
		return []string{trimmed}
	}
	var found []string
	add := func(part string) {
		part = strings.TrimSpace(part)
		inside := slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, part) })
		if utf8.RuneCountInString(part) >= 2 && !inside && holdsWords(text, part) && holdsWords(task, part) {
			found = append(found, part)
		}
	}
	for _, q := range quoted.FindAllStringSubmatch(task, -1) {
		add(cmp.Or(q[1], q[2], q[3]))
	}
	for _, f := range fileLike.FindAllString(task, -1) {
		add(f)
	}
	list := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n\t,;", r) })
	if len(list) > 1 {
		for _, part := range list {
			add(part)
		}
	}
	for word := range strings.FieldsSeq(text) {
		if strings.ContainsAny(word, "@0123456789") || strings.Contains(word, "://") {
			add(strings.Trim(word, ".,;:!?()\"'"))
		}
	}
	all := slices.Clone(found)
	found = slices.DeleteFunc(found, func(part string) bool { // of a longer one
		return slices.ContainsFunc(all, func(f string) bool { return len(f) > len(part) && strings.Contains(f, part) })
	})
	slices.SortStableFunc(found, func(a, b string) int { return strings.Index(text, a) - strings.Index(text, b) })
	return found
}

// findParams finds the parameters: those declared by the caller and by the
// recording, and then the parts of typed texts that the task names.
func (m *Macro) findParams(named map[actionIndex]run.Param, declared map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if name == "" || declared[name] == "" {
			return fmt.Errorf("declared parameter %q: it needs a name and the text that it stands for", name)
		}
		m.params = append(m.params, Param{Name: name, Text: declared[name]})
	}
	for s, step := range m.Steps {
		for k := range step.Actions {
			text, typed := actuator.Entered(step.Actions[k].Action)
			if p, ok := named[actionIndex{s, k}]; ok && typed {
				m.declare(p, text, actionIndex{s, k})
			}
		}
	}
	for _, step := range m.Steps {
		for k := range step.Actions {
			text, typed := actuator.Entered(step.Actions[k].Action)
			if !typed || step.Actions[k].secret {
				continue
			}
			for _, part := range parts(text, m.Task) {
				if !slices.ContainsFunc(m.params, func(p Param) bool { return p.Text == part }) {
					m.params = append(m.params, Param{Name: m.freeName(part), Text: part})
				}
			}
		}
	}
	return m.findUses()
}

// declare adds a parameter of the recording. Its texts in several places are one
// parameter only if they are the same.
func (m *Macro) declare(p run.Param, text string, at actionIndex) {
	if p.Secret {
		text = "" // what stands there is no text of the run
	}
	name := cmp.Or(p.Name, m.freeName(text))
	for n, base := 2, name; ; n++ {
		i := slices.IndexFunc(m.params, func(q Param) bool { return q.Name == name })
		if i < 0 {
			m.params = append(m.params, Param{Name: name, Text: text, Secret: p.Secret, whole: []actionIndex{at}})
			return
		}
		if q := &m.params[i]; q.Text == text && q.Secret == p.Secret {
			q.whole = append(q.whole, at)
			return
		}
		name = base + strconv.Itoa(n)
	}
}

// freeName names a parameter by what it looks like.
func (m *Macro) freeName(text string) string {
	base, first := "text", 1
	if fileLike.FindString(text) == text {
		base, first = "file", 0
	}
	for n := first; ; n++ {
		name := base
		if n > 0 {
			name += strconv.Itoa(n)
		}
		if base == "file" && n == 1 {
			continue
		}
		if !slices.ContainsFunc(m.params, func(p Param) bool { return p.Name == name }) {
			return name
		}
	}
}

// findUses finds the steps in which each parameter is typed.
func (m *Macro) findUses() error {
	for i := range m.params {
		p := &m.params[i]
		for s, step := range m.Steps {
			for k := range step.Actions {
				text, typed := actuator.Entered(step.Actions[k].Action)
				if typed && (slices.Contains(p.whole, actionIndex{s, k}) || p.Text != "" && holdsWords(text, p.Text)) && !slices.Contains(p.Steps, step.Of) {
					p.Steps = append(p.Steps, step.Of)
				}
			}
		}
		if len(p.Steps) == 0 {
			return fmt.Errorf("declared parameter %s: its text is typed nowhere in the run; declare it letter by letter as it was typed", p.Name)
		}
	}
	slices.SortStableFunc(m.params, func(a, b Param) int { return a.Steps[0] - b.Steps[0] })
	return nil
}
