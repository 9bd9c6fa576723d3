package planner

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"desktop-agent/llm"
)

// The limits of a plan.
const (
	minSteps    = 1   // in a plan
	maxSteps    = 7   // that are not final
	maxGoal     = 120 // characters of a step's goal
	maxDoneWhen = 240 // characters of a step's condition
)

// maxTotal bounds the steps of a plan with those that revisions left completed.
const maxTotal = 50

// Verbs are what a goal may begin with.
var verbs = [...]string{"Explore", "Navigate to", "Find", "Discover", "Locate"}

// Validate checks that a plan is one: 1 to 7 open steps, coarse goals, a
// visible condition for each, and states that go together. The last condition
// is the one that shows the effect of the task. The error joins all that is
// wrong, each with what to write instead: a model reads it.
func (p *Plan) Validate() error {
	var errs []error
	if p.Version < 1 || p.Version > Version {
		errs = append(errs, fmt.Errorf("version %d is not known; it must be 1 to %d", p.Version, Version))
	}
	if strings.TrimSpace(p.Task) == "" {
		errs = append(errs, errors.New("the task is empty"))
	}
	open := len(p.Steps) + 1 - p.ProgressStep()
	switch {
	case len(p.Steps) < minSteps:
		errs = append(errs, fmt.Errorf("%d steps are too few; write %d to %d", len(p.Steps), minSteps, maxSteps))
	case open > maxSteps || len(p.Steps) > maxTotal:
		errs = append(errs, fmt.Errorf("%d steps to do are too many; write %d to %d coarser ones", open, minSteps, maxSteps))
	}
	return errors.Join(append(errs, p.checkSteps()...)...)
}

func (p *Plan) checkSteps() (errs []error) {
	for i, s := range p.Steps {
		for _, problem := range slices.Concat(s.checkGoal(), s.checkDoneWhen(), s.checkPredicate(), p.checkState(i)) {
			errs = append(errs, fmt.Errorf("step %d: %s", i+1, problem))
		}
		for j, earlier := range p.Steps[:i] {
			if s.ID == earlier.ID {
				errs = append(errs, fmt.Errorf("steps %d and %d have the same ID %q", j+1, i+1, s.ID))
			}
			if s.DoneWhen != "" && s.DoneWhen == earlier.DoneWhen && !earlier.Status.Final() {
				errs = append(errs, fmt.Errorf("steps %d and %d have the same done_when; say what the screen shows only after step %d", j+1, i+1, i+1))
			}
		}
	}
	return errs
}

func (s *Step) checkGoal() (problems []string) {
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if !startsWithVerb(s.Goal) {
		first, _, _ := strings.Cut(strings.TrimSpace(s.Goal), " ")
		add("begin the goal with Explore, Navigate to, Find, Discover or Locate, and say what; it begins with %q", llm.Excerpt(first, 30))
	}
	if n := utf8.RuneCountInString(s.Goal); n > maxGoal {
		add("shorten the goal to %d characters; it has %d", maxGoal, n)
	}
	problems = append(problems, instructs("goal", s.Goal, "name only what to reach")...)
	if s.Goal != cleanGoal(s.Goal) {
		add("the goal must be one plain line, without marks, numbers of steps or control characters")
	}
	return problems
}

// instructs returns what in a part of a step says how to do it.
func instructs(part, text, instead string) (problems []string) {
	text = unnamed(text)
	if how := imperative(text); how != "" {
		problems = append(problems, fmt.Sprintf("the %s says how (%q); %s", part, llm.Excerpt(how, 40), instead))
	}
	if at := coordinates.FindString(text); at != "" {
		problems = append(problems, fmt.Sprintf("leave the coordinates %q out of the %s; they are found on the screen", strings.TrimSpace(at), part))
	}
	return problems
}

func (s *Step) checkDoneWhen() (problems []string) {
	if wrong := checkLine("done_when", s.DoneWhen, maxDoneWhen, "say what can be seen on the screen once the goal is reached"); wrong != "" {
		return []string{wrong}
	}
	if vague(s.DoneWhen) {
		return []string{fmt.Sprintf("done_when %q names nothing that can be seen; say which text or element shows on the screen", s.DoneWhen)}
	}
	return instructs("done_when", s.DoneWhen, "say what the screen shows then, with the names on it in quotes")
}

func (s *Step) checkPredicate() (problems []string) {
	if s.Predicate == nil {
		return nil
	}
	if err := s.Predicate.Validate(true); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// checkState checks the ID and the status of step i: final steps come first,
// only the current one is running, and only completed ones have evidence.
func (p *Plan) checkState(i int) (problems []string) {
	s, current := p.Steps[i], p.ProgressStep()-1
	if idNumber(s.ID) == 0 {
		problems = append(problems, fmt.Sprintf("the ID %q is not of the form s1", s.ID))
	}
	switch s.Status {
	case Pending:
	case Running:
		if i != current {
			problems = append(problems, fmt.Sprintf("it is running, but the current step is %d", current+1))
		}
	case Completed, Passed, Skipped:
		if i > current {
			problems = append(problems, fmt.Sprintf("it is %s, but step %d before it is not", s.Status, current+1))
		}
	default:
		problems = append(problems, fmt.Sprintf("the status %q is not one of pending, running, completed, passed, skipped", s.Status))
	}
	if (s.Status == Completed) != (s.Evidence != nil) {
		problems = append(problems, "a completed step has evidence, and no other has")
	}
	return problems
}

func startsWithVerb(goal string) bool {
	for _, v := range verbs {
		if rest, ok := strings.CutPrefix(goal, v+" "); ok && strings.ContainsFunc(rest, isWordRune) {
			return true
		}
	}
	return false
}

// coordinates matches a position on the screen: (10, 20), [10 20], x=10, "at
// 10, 20". The parentheses of a function, such as SUM(1,2), are none.
var coordinates = regexp.MustCompile(`(?i)(?:^|[^\pL\pN])[(\[]\s*-?\d+(?:\.\d+)?(?:\s*[,;x]\s*|\s+)-?\d+(?:\.\d+)?\s*[)\]]|` +
	`\b[xy]\s*[=:]\s*-?\d+|\b(?:at|near|around)\s+-?\d+\s*[,;]\s*-?\d+|\b\d+\s*(?:px|pixels?)\b`)

// emptyWords say nothing that could be seen.
var emptyWords = wordSet(`a an the this that it its is are was were has have been be all and of to now by
	task step goal plan objective action actions everything thing things result work works
	done complete completed completes finish finished finishes achieved achieve reached fulfilled
	success successful successfully succeeded ok okay yes true visible shown shows seen appears
	screen user agent`)

// vague reports whether a condition consists of words that say nothing.
func vague(condition string) bool {
	for _, w := range strings.FieldsFunc(strings.ToLower(condition), func(r rune) bool { return !isWordRune(r) }) {
		if !emptyWords[w] {
			return false
		}
	}
	return true
}

func wordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// idNumber returns the number in an ID such as "s12", or 0 if it is none.
func idNumber(id string) int {
	digits, ok := strings.CutPrefix(id, "s")
	if !ok || len(digits) == 0 || len(digits) > 6 || digits[0] == '0' {
		return 0
	}
	n := 0
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0
		}
		n = n*10 + int(d-'0')
	}
	return n
}

// cleanLine makes one plain line of a model's text.
func cleanLine(s string) string { return llm.OneLine(strings.ReplaceAll(s, "**", "")) }

// What a model may put around or into a goal although the form of the answer
// leaves no room for it.
var (
	numbering = regexp.MustCompile(`(?i)^(?:[-•✓✔☑▸]\s*|(?:step\s*)?\d+\s*[.:)]\s*|step\s+\d+\s+)+`)
	ending    = regexp.MustCompile(`[\s.✓✔☑]+$`)
	mark      = regexp.MustCompile(`(?i)\[(?:completed|passed|skipped)\]`)
)

// cleanGoal makes a goal of a model's text: one line, without numbering, marks
// of progress and a full stop, and with a capital letter.
func cleanGoal(s string) string {
	for before := ""; s != before; {
		before = s
		s = cleanLine(mark.ReplaceAllString(s, " "))
		s = ending.ReplaceAllString(numbering.ReplaceAllString(s, ""), "")
	}
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + s[size:]
}
