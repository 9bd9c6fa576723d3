package planner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"desktop-agent/llm"
)

// The headers of a plan as text, and the lines of a step. Models write them as bold or
// plain, and in capitals or not.
const (
	headSteps      = "Steps"
	headMilestones = "Milestones"
	headParallel   = "Parallel"
	headRisks      = "Risks"

	lineDone     = "Done when"
	lineNeeds    = "Needs"
	lineWith     = "With"
	lineFallback = "Otherwise"

	none = "NONE"
)

// maxRead bounds what is read of a plan as text: bytes, and steps.
const (
	maxRead      = 1 << 20
	maxReadSteps = 1000
)

// Text renders a deliberate plan as text, in the form that models may write it in.
func (p *Plan) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Plan\n\n**Task:** %s\n**Goal:** %s\n", cleanLine(p.Task), p.Goal)
	if p.Success != "" {
		fmt.Fprintf(&b, "**Success:** %s\n", p.Success)
	}
	if len(p.Constraints) > 0 {
		fmt.Fprintf(&b, "**Constraints:** %s\n", strings.Join(p.Constraints, "; "))
	}
	fmt.Fprintf(&b, "\n**%s:**\n", headMilestones)
	for i, m := range p.Milestones {
		fmt.Fprintf(&b, "%s. %s\n", letters(i), m)
	}
	fmt.Fprintf(&b, "\n**%s:**\n", headSteps)
	number := map[string]string{}
	var parallel []string
	for i, s := range p.Steps {
		number[s.ID] = strconv.Itoa(i + 1)
		if s.Parallel {
			parallel = append(parallel, number[s.ID])
		}
		needs := make([]string, len(s.Needs))
		for j, id := range s.Needs {
			if needs[j] = number[id]; needs[j] == "" {
				needs[j] = id
			}
		}
		fmt.Fprintf(&b, "%d. %s → %s\n   %s: %s\n   %s: %s\n", i+1, s.Goal, s.who(), lineDone, s.DoneWhen, lineNeeds, orNone(needs, ", "))
		if s.Parameters != "" {
			fmt.Fprintf(&b, "   %s: %s\n", lineWith, strings.Join(strings.Fields(s.Parameters), " "))
		}
		if s.Fallback != "" {
			fmt.Fprintf(&b, "   %s: %s\n", lineFallback, s.Fallback)
		}
	}
	fmt.Fprintf(&b, "\n**%s:** %s\n**%s:** %s\n", headParallel, orNone(parallel, ", "), headRisks, orNone(p.Risks, "; "))
	return b.String()
}

// who is who does a step, as text.
func (s *Step) who() string {
	switch name := strings.ToUpper(string(s.Executor)); s.Executor {
	case Tool, Agent:
		return name + ": " + s.Action
	case "":
		return "GUI"
	default:
		return name
	}
}

func orNone(list []string, separator string) string {
	if len(list) == 0 {
		return none
	}
	return strings.Join(list, separator)
}

// letters are A to Z, and numbers after that.
func letters(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return strconv.Itoa(i + 1)
}

// read makes of a text what it says of a plan. The notes are what is odd about it; the
// error is what cannot be told from the plan any more.
func (p *Plan) read(text string, c Catalog) (notes []string, err error) {
	if len(text) > maxRead {
		return nil, fmt.Errorf("the plan has %d bytes; write at most %d", len(text), maxRead)
	}
	parts := sections(text)
	p.Goal, p.Success = first(parts["goal"]), first(parts["success"])
	p.Milestones = entries(parts["milestones"])
	p.Risks, p.Constraints = entries(parts["risks"]), entries(parts["constraints"])
	steps := readSteps(parts["steps"])
	if len(steps) == 0 {
		notes = append(notes, fmt.Sprintf("the plan has no numbered steps: %s", llm.Excerpt(cleanLine(text), 200)))
	} else if !slices.ContainsFunc(steps, func(s written) bool { return s.Executor != "" }) {
		notes = append(notes, "no step of the plan says who does it")
	}
	arrange(steps, groups(parts["parallel"]))
	for i := range steps {
		s := &steps[i].Step
		s.guess(c)
		if s.DoneWhen == "" && s.Executor != GUI && s.Goal != "" {
			notes = append(notes, fmt.Sprintf("step %d does not say when it is done", i+1))
			s.DoneWhen = "The result shows: " + llm.Excerpt(cleanLine(s.Goal), maxDoneWhen-40)
		}
		p.Steps = append(p.Steps, *s)
	}
	p.Complexity = complexityOf(len(steps))
	return notes, p.Normalize()
}

// complexityOf is the complexity of which a plan has so many steps.
func complexityOf(steps int) Complexity {
	switch {
	case steps <= 3:
		return Simple
	case steps < 8:
		return Medium
	}
	return Complex
}

// sections cuts a text at its headers: by the header in small letters, the lines of it.
func sections(text string) map[string][]string {
	parts := map[string][]string{}
	current := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		if name, rest, ok := header(line); ok {
			current = name
			if rest != "" {
				parts[current] = append(parts[current], rest)
			}
			continue
		}
		parts[current] = append(parts[current], line)
	}
	return parts
}

// header reads a header such as **Steps:**, with what stands behind it.
func header(line string) (name, rest string, ok bool) {
	bold := strings.HasPrefix(strings.TrimLeft(line, " \t#"), "**")
	name, rest, ok = strings.Cut(strings.TrimLeft(line, " \t#*"), ":")
	name = strings.ToLower(strings.Trim(name, "* "))
	if !ok || name == "" || strings.ContainsAny(name, ".→") || len(name) > 40 {
		return "", "", false
	}
	known := slices.Contains([]string{"task", "goal", "success", "constraints", "milestones", "steps", "parallel", "risks"}, name)
	if !bold && (!known || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")) {
		return "", "", false
	}
	return name, strings.TrimSpace(strings.TrimPrefix(rest, "**")), true
}

func first(lines []string) string {
	for _, line := range lines {
		if line = cleanLine(line); line != "" {
			return line
		}
	}
	return ""
}

// entries are the lines of a list, without their marks. NONE is no entry.
func entries(lines []string) (list []string) {
	for _, line := range lines {
		for part := range strings.SplitSeq(line, ";") {
			part = cleanLine(part)
			if mark, rest, ok := strings.Cut(part, " "); ok && len(mark) <= 3 && strings.HasSuffix(mark, ".") || mark == "-" || mark == "•" {
				part = rest
			}
			if part != "" && !strings.EqualFold(strings.Trim(part, "."), none) && !strings.HasPrefix(part, "[") {
				list = append(list, part)
			}
		}
	}
	return list
}

// written is a step as a text has it.
type written struct {
	Step
	number    int
	saysNeeds bool
}

// readSteps reads the numbered lines of the steps' section, each with the lines below it
// that say more.
func readSteps(lines []string) (list []written) {
	var last *written
	for _, line := range lines {
		number, rest, ok := numbered(line)
		switch {
		case ok && strings.HasPrefix(rest, "["), ok && rest == "": // a place to write something into
			last = nil
		case ok && len(list) <= maxReadSteps:
			list = append(list, written{number: number})
			last = &list[len(list)-1]
			last.ID = strconv.Itoa(number)
			last.head(rest)
		case last != nil:
			last.more(line)
		}
	}
	return list
}

// numbered reads "1. text" or "1) text".
func numbered(line string) (number int, rest string, ok bool) {
	line = strings.TrimLeft(line, " \t*")
	end := strings.IndexFunc(line, func(r rune) bool { return r < '0' || r > '9' })
	if end < 1 || end > 4 || line[end] != '.' && line[end] != ')' {
		return 0, "", false
	}
	number, err := strconv.Atoi(line[:end])
	rest = line[end+1:]
	if err != nil || rest != "" && rest[0] != ' ' && rest[0] != '\t' && rest[0] != '*' {
		return 0, "", false // 1.5
	}
	return number, strings.TrimSpace(strings.TrimPrefix(rest, "**")), true
}

// head reads the line of a step: what it reaches, and behind an arrow who does it.
func (w *written) head(line string) {
	w.Goal = cleanLine(line)
	at, width := strings.LastIndex(line, "→"), len("→")
	if at < 0 {
		at, width = strings.LastIndex(line, "->"), 2
	}
	if at < 0 {
		return
	}
	name, rest, _ := strings.Cut(strings.Trim(line[at+width:], " *`[]."), ":")
	who, _, _ := strings.Cut(strings.TrimSpace(name), " ")
	e := Executor(strings.ToLower(strings.Trim(who, "*`.,")))
	if !slices.Contains(e.Values(), string(e)) {
		return
	}
	w.Executor, w.Goal = e, cleanLine(line[:at])
	if fields := strings.Fields(rest); (e == Tool || e == Agent) && len(fields) > 0 {
		w.Action = strings.Trim(fields[0], "*`,.;[]\"")
	}
}

// more reads a line below a step that says more of it.
func (w *written) more(line string) {
	name, value, ok := strings.Cut(strings.TrimLeft(line, " \t-*•"), ":")
	if !ok {
		return
	}
	value = strings.TrimSpace(strings.Trim(value, "*"))
	switch name = strings.TrimSpace(strings.Trim(name, "* ")); {
	case strings.EqualFold(name, lineDone):
		w.DoneWhen = cleanLine(value)
	case strings.EqualFold(name, lineNeeds):
		w.saysNeeds = true
		for _, id := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ';' || r == ' ' }) {
			if !strings.EqualFold(id, none) && !strings.EqualFold(id, "and") && !strings.EqualFold(id, "step") && !strings.EqualFold(id, "steps") {
				w.Needs = append(w.Needs, strings.Trim(id, "."))
			}
		}
	case strings.EqualFold(name, lineWith):
		w.Parameters = text(&value)
	case strings.EqualFold(name, lineFallback):
		w.Fallback = cleanLine(text(&value))
	}
}

// groups reads the numbers of steps that may be done at the same time: "2, 3; 5-7" are
// two groups.
func groups(lines []string) map[int]int {
	group := map[int]int{}
	parts := strings.FieldsFunc(strings.Join(lines, ";"), func(r rune) bool { return r == ';' || r == '|' })
	for n, part := range parts[:min(len(parts), maxList)] {
		numbers := strings.FieldsFunc(part, func(r rune) bool { return (r < '0' || r > '9') && r != '-' && r != '–' })
		for _, field := range numbers[:min(len(numbers), maxList)] {
			from, to, isRange := strings.Cut(strings.ReplaceAll(field, "–", "-"), "-")
			a, err := strconv.Atoi(from)
			if err != nil || a > maxReadSteps {
				continue
			}
			b := a
			if isRange {
				if b, err = strconv.Atoi(to); err != nil || b > maxReadSteps {
					b = a
				}
			}
			for i := a; i <= b; i++ {
				group[i] = n + 1
			}
		}
	}
	return group
}

// arrange gives steps that do not say what they need the ones before them: those of one
// group need the same, and what follows needs all of them.
func arrange(steps []written, group map[int]int) {
	var front []string
	begun := map[int][]string{}
	for i := range steps {
		s := &steps[i]
		g := group[s.number]
		s.Parallel = g > 0
		needs, known := begun[g]
		switch {
		case g == 0:
			needs, front = front, []string{s.ID}
		case known:
			front = append(slices.Clone(front), s.ID)
		default:
			needs, front = front, []string{s.ID}
			begun[g] = needs
		}
		if !s.saysNeeds {
			s.Needs = slices.Clone(needs)
		}
	}
}

// guess says who does a step that does not.
func (s *Step) guess(c Catalog) {
	if s.Executor != "" {
		return
	}
	s.Executor = Self
	for _, t := range c.Tools {
		if strings.Contains(" "+s.Goal+" ", " "+t.Name+" ") {
			s.Executor, s.Action = Tool, t.Name
			return
		}
	}
	if c.Screen && startsWithVerb(cleanGoal(s.Goal)) && utf8.RuneCountInString(s.Goal) <= maxGoal {
		s.Executor = GUI
	}
}
