package report

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"desktop-agent/replay"
	"desktop-agent/run"
)

// deliberate reports whether a run has a plan whose steps are executed, so that several
// may work beside each other and their events stand between each other's.
func deliberate(r *replay.Run) bool {
	return r.Info.Asked != nil && r.Info.Asked.Planning == "deliberate"
}

// A crew takes the events of such a run apart: who did what for which step of the plan.
type crew struct {
	*thread
	groups []*group
	of     map[groupKey]*group
	looked map[string][2]*run.Observed // the newest observations of each agent
	ids    map[string]int              // how often a section's ID was given
	began  map[string]groupKey         // where a step of the plan began, by its path
}

func newCrew(v *view) *crew {
	return &crew{
		thread: newThread(v), of: map[groupKey]*group{},
		looked: map[string][2]*run.Observed{}, ids: map[string]int{}, began: map[string]groupKey{},
	}
}

type groupKey struct {
	agent    string
	planStep int
}

// A group is the turns of one agent for one step of the plan.
type group struct {
	Agent    string
	Display  string // "" for none
	PlanStep int    // 0 for what belongs to no step: making the plan, and the end

	n        int // of the run, from 1
	builder  *builder
	sections []*stepView
}

// Anchor names where its sections begin.
func (g *group) Anchor() string { return fmt.Sprintf("by-%d", g.n) }

// Words says whose turns these are.
func (g *group) Words() string {
	text := "The plan as a whole"
	if g.PlanStep > 0 {
		text = fmt.Sprintf("Step s%d of the plan", g.PlanStep)
	}
	text += " · " + cmp.Or(clip(g.Agent, 60), "agent")
	if g.Display != "" {
		text += " · " + clip(g.Display, 60)
	}
	return text
}

// label is what stands in the dot of a turn: the step of the plan, and the turn.
func (g *group) label(turn int) string {
	if g.PlanStep == 0 {
		return fmt.Sprint(turn)
	}
	return fmt.Sprintf("%d.%d", g.PlanStep, turn)
}

// turns yields the sections of a run with a deliberate plan: by step of the plan
// and by agent, in the order in which these began. Their observations are not kept, so that what
// is in memory is what was said and done.
func turns(r *replay.Run, v *view) iter.Seq[*stepView] {
	return func(yield func(*stepView) bool) {
		c := newCrew(v)
		for e, err := range r.Events() {
			if err != nil {
				v.Broken = err.Error()
				break
			}
			c.add(e)
			if v.Graph != nil {
				v.Graph.take(e)
			}
		}
		v.Counted = 0
		slices.SortStableFunc(c.groups, func(a, b *group) int { return cmp.Compare(a.PlanStep, b.PlanStep) })
		for _, g := range c.groups {
			g.close()
			for i, s := range g.sections {
				s.Opens = i == 0
				if s.N > 0 {
					v.Counted++
				}
			}
		}
		if v.Graph != nil {
			v.Graph.groups = c.groups
		}
		for _, g := range c.groups {
			for _, s := range g.sections {
				if !yield(s) {
					return
				}
			}
		}
		c.end(yield)
	}
}

// end yields the screen at the end, if no turn shows it.
func (c *crew) end(yield func(*stepView) bool) {
	if len(c.groups) == 0 {
		return
	}
	first := c.groups[0]
	o := c.looked[first.Agent][0]
	if o == nil {
		return
	}
	for _, g := range c.groups {
		if g.builder.shown == o.FrameID {
			return
		}
	}
	yield(&stepView{N: c.view.Counted, End: true, Shot: newShot(o.FrameID, o), Windows: titles(o)})
}

func (c *crew) add(e run.Event) {
	key := groupKey{e.Agent, e.PlanStep}
	switch data := e.Data.(type) {
	case run.StepStarted:
		c.began[data.Step] = key
	case run.StepEnded: // it is told where the step began
		if at, ok := c.began[data.Step]; ok {
			key, e.Agent, e.PlanStep = at, at.agent, at.planStep
			if b := c.of[at].builder; b.step != nil {
				e.Step = b.step.N
			}
		}
	}
	g := c.of[key]
	if g == nil {
		g = &group{Agent: e.Agent, PlanStep: e.PlanStep, n: len(c.groups) + 1}
		g.builder = &builder{thread: c.thread, crew: c, seen: c.looked[e.Agent]}
		c.of[key], c.groups = g, append(c.groups, g)
	}
	g.Display = cmp.Or(g.Display, e.Display)
	if b := g.builder; b.step != nil && e.Step != b.step.N && !isEnd(e) {
		g.close()
	}
	g.builder.add(e)
	if _, again := e.Data.(run.Resumed); again {
		for _, other := range c.groups {
			if other != g {
				other.builder.resumed(e)
			}
		}
	}
	if _, look := e.Data.(run.Observed); look {
		c.looked[e.Agent] = g.builder.seen
	}
}

// opened gives a new section of a group its address, of which there is one in the page.
func (c *crew) opened(e run.Event, s *stepView) {
	s.Of = c.of[groupKey{e.Agent, e.PlanStep}]
	id := fmt.Sprintf("%s-step-%d", s.Of.Anchor(), s.N)
	if c.ids[id]++; c.ids[id] > 1 {
		id += fmt.Sprintf("-%d", c.ids[id])
	}
	s.id = id
}

// close finishes the section that is being made.
func (g *group) close() {
	if g.builder.step == nil {
		return
	}
	s := g.builder.finish()
	s.seen = nil
	g.sections = append(g.sections, s)
}

// executed tells what became of the steps of a deliberate plan.
func (b *builder) executed(e run.Event) {
	if b.crew == nil {
		return
	}
	if text := replay.PlanWords(e.Data); text != "" {
		b.step.tell("%s", upper(text))
	}
}

// tell adds what happened outside of proposals, in words.
func (s *stepView) tell(format string, args ...any) {
	s.Events = append(s.Events, clip(fmt.Sprintf(format, args...), 600))
}

// after returns a text behind another one; "" if there is none.
func after(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// upper begins a text with a large letter, but for the ID of a step.
func upper(text string) string {
	for _, word := range []string{"the ", "after "} {
		if strings.HasPrefix(text, word) {
			return strings.ToUpper(text[:1]) + text[1:]
		}
	}
	return text
}

// lead puts the plan before the turns, in the lists of the page.
func (v *view) lead() {
	if v.Graph == nil {
		return
	}
	plan := &entry{ID: planID, Label: "◆", Words: v.Graph.Words(), Mood: v.Graph.Mood(), Spent: replay.Spent{Total: v.Graph.Took()}}
	plan.Spent.Other = plan.Spent.Total
	v.Steps = slices.Insert(v.Steps, 0, plan)
	v.Longest = max(v.Longest, plan.Spent.Total)
}
