package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"desktop-agent/planner"
	"desktop-agent/replay"
	"desktop-agent/run"
)

// planID is the address of the plan in the page.
const planID = "plan"

// Limits of what is shown of a plan.
const (
	graphNodes  = 200  // steps of one plan
	graphDepth  = 4    // plans in plans
	graphResult = 1500 // bytes of the result of a step
)

// A planHistory is what the events of a run tell of its deliberate plan.
type planHistory struct {
	plan     *planner.Plan           // as it was told last
	subs     map[int]subPlan         // plans in the plan that it does not hold yet, by the number of the step
	steps    map[string]*stepHistory // by the path of the step
	order    []string                // the paths, in the order in which they began
	answers  []run.PlanApproved      // whether it may be executed
	Failures []string                // why a plan was not made or not changed
	groups   []*group

	worked      run.Worked
	first, last time.Time
}

// A subPlan is a plan in a plan, and whose it is.
type subPlan struct {
	agent string
	plan  *planner.Plan
}

// A stepHistory is what became of a step.
type stepHistory struct {
	number    int // of the step at the top; 0 if it has none
	tries     []try
	ended     *run.StepEnded
	reflected []run.Reflected
	status    planner.Status // newer than that of the plan; "" if none is
}

// A try is one attempt at a step.
type try struct {
	run.StepStarted
	Agent, Display string
	from, to       time.Time // to is zero while it goes on
}

// take adds an event.
func (t *planHistory) take(e run.Event) {
	if t.steps == nil {
		t.first = e.Time
		t.steps, t.subs = map[string]*stepHistory{}, map[int]subPlan{}
	}
	before := t.last
	t.last = e.Time
	t.worked.Add(e)
	switch data := e.Data.(type) {
	case run.Planned:
		t.planned(e, data)
	case run.PlanApproved:
		t.answers = append(t.answers, data)
	case run.StepStarted:
		d := t.of(data.Step)
		d.close(e.Time)
		d.number, d.status = e.PlanStep, planner.Running
		d.tries = append(d.tries, try{StepStarted: data, Agent: e.Agent, Display: e.Display, from: e.Time})
	case run.StepEnded:
		d := t.of(data.Step)
		d.close(e.Time)
		d.ended, d.status = &data, data.Status
		if n := len(d.tries); n > 0 && data.By != "" {
			d.tries[n-1].Agent, d.tries[n-1].Display = data.By, data.On
		}
	case run.Reflected:
		d := t.of(data.Step)
		d.reflected = append(d.reflected, data)
	case run.Resumed:
		for _, d := range t.steps { // what was being done ended with the program
			d.close(before)
		}
		for _, path := range data.Back {
			t.of(path).status = planner.Pending
		}
	case run.RunEnded:
		for _, d := range t.steps {
			d.close(e.Time)
		}
	}
}

func (t *planHistory) planned(e run.Event, data run.Planned) {
	if data.Error != "" {
		t.Failures = append(t.Failures, data.Error)
	}
	switch {
	case data.Plan == nil:
	case e.PlanStep > 0:
		if was, ok := t.subs[e.PlanStep]; !ok || was.agent == e.Agent {
			t.subs[e.PlanStep] = subPlan{e.Agent, data.Plan}
		}
	default:
		t.plan = data.Plan
		for _, d := range t.steps { // it holds what happened before
			d.status = ""
		}
	}
}

// of returns what became of a step.
func (t *planHistory) of(path string) *stepHistory {
	d := t.steps[path]
	if d == nil {
		d = &stepHistory{}
		t.steps[path], t.order = d, append(t.order, path)
	}
	return d
}

// close ends the attempt that goes on.
func (d *stepHistory) close(at time.Time) {
	if n := len(d.tries); n > 0 && d.tries[n-1].to.IsZero() {
		d.tries[n-1].to = at
	}
}

// Took is how long the run took: programs, that is.
func (t *planHistory) Took() time.Duration { return t.worked.Time }

// line is how long the time line is, which shows when something was: also the time in which no
// program worked on the run is on it.
func (t *planHistory) line() time.Duration { return t.last.Sub(t.first) }

// Millis is the same in milliseconds.
func (t *planHistory) Millis() int { return int(t.line().Milliseconds()) }

// Plan is the plan as it stood last; nil if there was none.
func (t *planHistory) Plan() *planner.Plan { return t.plan }

// Approvals say who let the plan be executed.
func (t *planHistory) Approvals() (list []string) {
	for _, a := range t.answers {
		list = append(list, upper(replay.PlanWords(a)))
	}
	if len(list) == 0 && t.plan != nil {
		return []string{"Approved by " + planner.ByNobody + ": nobody was asked."}
	}
	return list
}

// Words says in a line how far the plan came.
func (t *planHistory) Words() string {
	if t.plan == nil || len(t.plan.Steps) == 0 {
		return "The task was done without a plan"
	}
	count, order := map[planner.Status]int{}, []planner.Status{}
	for _, s := range t.plan.Steps {
		status := t.status(&s, s.ID)
		if count[status]++; count[status] == 1 {
			order = append(order, status)
		}
	}
	var parts []string
	for _, status := range order {
		parts = append(parts, fmt.Sprintf("%d %s", count[status], status))
	}
	return fmt.Sprintf("The plan, %s: %s", plural(len(t.plan.Steps), "step"), strings.Join(parts, ", "))
}

// Mood is how the plan went.
func (t *planHistory) Mood() mood {
	if t.plan == nil {
		return ""
	}
	m := good
	for _, s := range t.plan.Steps {
		switch t.status(&s, s.ID) {
		case planner.Failed:
			return bad
		case planner.Completed, planner.Passed:
		default:
			m = odd
		}
	}
	return m
}

// status is how a step stands.
func (t *planHistory) status(s *planner.Step, path string) planner.Status {
	if d := t.steps[path]; d != nil && d.status != "" {
		return d.status
	}
	return s.Status
}

// A graph is a plan as it is drawn: its steps in layers, each below what it needs.
type graph struct {
	Nodes         []*node
	Edges         []edge
	Width, Height int // pixels of CSS
	Left          int // steps that are not shown
}

// A node is a step, at its place.
type node struct {
	*planner.Step
	Path      string // with the steps whose plans it is in
	Anchor    string
	X, Y      int
	Status    planner.Status
	Executor  planner.Executor
	Attempts  int
	Error     string
	Output    string // the beginning of the result
	More      int    // bytes of it that are not shown
	By, On    string // who did it, on which display
	Took      time.Duration
	Tries     []bar
	Needs     []reference
	Turns     []reference
	Reflected []string
	Sub       *graph
}

// A reference leads to another part of the page; without a part it is a word.
type reference struct{ Words, Anchor string }

// An edge is drawn from what is needed to what needs it.
type edge struct{ From, To, Path string }

// Sizes of the drawing, in pixels of CSS.
const (
	nodeWide, nodeHigh = 152, 88
	gapWide, gapHigh   = 20, 38
)

// Top is the plan of the run, drawn.
func (t *planHistory) Top() *graph {
	if t.plan == nil || len(t.plan.Steps) == 0 {
		return nil
	}
	return t.draw(t.plan, "", planID, 1)
}

// draw lays a plan out; prefix is the path of the step whose plan it is, with a dot.
func (t *planHistory) draw(p *planner.Plan, prefix, anchor string, depth int) *graph {
	g := &graph{Left: max(0, len(p.Steps)-graphNodes)}
	layers, at, rows := p.Layers(), map[string]*node{}, map[int][]*node{}
	last, widest := 0, 0
	for i := range p.Steps[:len(p.Steps)-g.Left] {
		n := t.node(&p.Steps[i], prefix, fmt.Sprintf("%s-%d", anchor, i+1), depth)
		for _, need := range n.Step.Needs {
			r := reference{Words: need}
			if from := at[need]; from != nil {
				r.Anchor = from.Anchor
			}
			n.Needs = append(n.Needs, r)
		}
		at[n.ID], rows[layers[i]], g.Nodes = n, append(rows[layers[i]], n), append(g.Nodes, n)
		last, widest = max(last, layers[i]), max(widest, len(rows[layers[i]]))
	}
	inner := widest*(nodeWide+gapWide) - gapWide
	for layer, row := range rows {
		left := (inner - len(row)*(nodeWide+gapWide) + gapWide) / 2
		for i, n := range row {
			n.X, n.Y = 2+left+i*(nodeWide+gapWide), 2+layer*(nodeHigh+gapHigh)
		}
	}
	g.Width, g.Height = inner+4, (last+1)*(nodeHigh+gapHigh)-gapHigh+4
	for _, n := range g.Nodes {
		for _, need := range n.Needs {
			if from := at[need.Words]; from != nil && from.Y < n.Y {
				g.edge(from, n)
			}
		}
	}
	return g
}

// edge draws a need: straight down to the next layer, and else around what is between.
func (g *graph) edge(from, to *node) {
	e := edge{From: from.Path, To: to.Path}
	x, y, u, v := from.X+nodeWide/2, from.Y+nodeHigh, to.X+nodeWide/2, to.Y
	if to.Y-from.Y == nodeHigh+gapHigh {
		e.Path = fmt.Sprintf("M%d %d C%d %d %d %d %d %d", x, y, x, y+gapHigh/2, u, v-gapHigh/2, u, v) + fmt.Sprintf(" M%d %d L%d %d L%d %d", u-4, v-7, u, v, u+4, v-7)
	} else {
		x, y, u, v = from.X+nodeWide, from.Y+nodeHigh/2, to.X+nodeWide, to.Y+nodeHigh/2
		out := max(x, u) + 26
		g.Width = max(g.Width, out)
		e.Path = fmt.Sprintf("M%d %d C%d %d %d %d %d %d", x, y, out, y+20, out, v-20, u, v) + fmt.Sprintf(" M%d %d L%d %d L%d %d", u+7, v-4, u, v, u+7, v+4)
	}
	g.Edges = append(g.Edges, e)
}

// node returns a step with what became of it.
func (t *planHistory) node(s *planner.Step, prefix, anchor string, depth int) *node {
	n := &node{
		Step: s, Path: prefix + s.ID, Anchor: anchor, Attempts: s.Attempts, Error: s.Error,
		Executor: cmp.Or(s.Executor, planner.GUI),
	}
	n.Status = t.status(s, n.Path)
	output := ""
	if s.Result != nil {
		output = cmp.Or(s.Result.Output, s.Result.Data)
	}
	if d := t.steps[n.Path]; d != nil {
		n.done(t, d)
		if d.ended != nil {
			output = cmp.Or(d.ended.Output, d.ended.Data, output)
		}
	}
	n.Output = head(output, graphResult)
	n.More = len(output) - len(n.Output)
	sub := s.Sub
	if d := t.steps[n.Path]; sub == nil && d != nil && prefix == "" {
		sub = t.subs[d.number].plan
	}
	if sub != nil && len(sub.Steps) > 0 && depth < graphDepth {
		n.Sub = t.draw(sub, n.Path+".", anchor, depth+1)
	}
	return n
}

// done adds what became of a step.
func (n *node) done(t *planHistory, d *stepHistory) {
	n.Attempts = max(n.Attempts, len(d.tries))
	for _, try := range d.tries {
		n.Tries = append(n.Tries, t.bar(n.Path, try, ""))
		n.Took += n.Tries[len(n.Tries)-1].Took
		n.By, n.On = try.Agent, try.Display
	}
	if d.ended != nil {
		n.Error = cmp.Or(d.ended.Error, n.Error)
		n.By, n.On = cmp.Or(d.ended.By, n.By), cmp.Or(d.ended.On, n.On)
	}
	if n.Status == planner.Completed {
		n.Error = ""
	}
	for _, r := range d.reflected {
		n.Reflected = append(n.Reflected, upper(replay.PlanWords(r)))
	}
	if strings.Contains(n.Path, ".") || d.number == 0 {
		return // the turns are those of the step at the top
	}
	for _, g := range t.groups {
		if g.PlanStep == d.number {
			n.Turns = append(n.Turns, reference{cmp.Or(g.Agent, "agent") + after(" on ", g.Display), g.sections[0].ID()})
		}
	}
}

// A bar is an attempt on the time line.
type bar struct {
	Path     string
	N        int
	Fallback bool
	Status   planner.Status
	From     time.Duration // since the run began
	Took     time.Duration
	Of       time.Duration // the whole line
}

// Millis says how long it took, in whole milliseconds.
func (b bar) Millis() string { return fmt.Sprintf("%d ms", b.Took.Milliseconds()) }

// A lane is what one agent did on one display.
type lane struct {
	Agent, Display string
	Rows           [][]bar // bars that overlap stand in different rows

	ends []time.Duration // of the rows
}

func (t *planHistory) bar(path string, try try, status planner.Status) bar {
	to := try.to
	if to.IsZero() {
		to = t.last
	}
	return bar{path, try.Attempt, try.Fallback != "", status, try.from.Sub(t.first), max(0, to.Sub(try.from)), t.line()}
}

// Lanes is the time line, in the order in which the agents began.
func (t *planHistory) Lanes() (list []*lane) {
	type stretch struct {
		bar
		agent, display string
	}
	var all []stretch
	for _, path := range t.order {
		d := t.steps[path]
		for i, try := range d.tries {
			status := planner.Failed // another attempt came after it
			if i == len(d.tries)-1 {
				status = planner.Running
				if d.ended != nil {
					status = d.ended.Status
				}
			}
			all = append(all, stretch{t.bar(path, try, status), try.Agent, try.Display})
		}
	}
	slices.SortStableFunc(all, func(a, b stretch) int { return cmp.Compare(a.From, b.From) })
	for _, s := range all {
		i := slices.IndexFunc(list, func(l *lane) bool { return l.Agent == s.agent && l.Display == s.display })
		if i < 0 {
			i, list = len(list), append(list, &lane{Agent: s.agent, Display: s.display})
		}
		list[i].put(s.bar)
	}
	return list
}

// put adds a bar, in the first row that is free by then.
func (l *lane) put(b bar) {
	row := slices.IndexFunc(l.ends, func(end time.Duration) bool { return end <= b.From })
	if row < 0 {
		row, l.Rows, l.ends = len(l.Rows), append(l.Rows, nil), append(l.ends, 0)
	}
	l.Rows[row], l.ends[row] = append(l.Rows[row], b), b.From+b.Took
}

// changed says in words what a revision did to a step.
func changed(c planner.Change) string {
	one := func(s *planner.Step) string { return s.ID + " “" + clip(s.Goal, 200) + "”" }
	switch {
	case c.Old == nil && c.New == nil:
		return c.Type
	case c.Old == nil:
		return c.Type + " " + one(c.New) + after(", needs ", strings.Join(c.New.Needs, ", "))
	case c.New == nil:
		return c.Type + " " + one(c.Old)
	case c.Old.Goal != c.New.Goal:
		return c.Type + " " + one(c.Old) + " → “" + clip(c.New.Goal, 200) + "”"
	}
	text := c.Type + " " + one(c.New)
	if !slices.Equal(c.Old.Needs, c.New.Needs) {
		text += fmt.Sprintf(", needs %s → %s", cmp.Or(strings.Join(c.Old.Needs, ", "), "nothing"), cmp.Or(strings.Join(c.New.Needs, ", "), "nothing"))
	}
	if c.Old.Executor != c.New.Executor || c.Old.Action != c.New.Action {
		text += fmt.Sprintf(", by %s%s → %s%s", c.Old.Executor, after(" ", c.Old.Action), c.New.Executor, after(" ", c.New.Action))
	}
	if c.Old.Parameters != c.New.Parameters {
		text += ", with " + clip(c.New.Parameters, 200)
	}
	if c.Old.Status != c.New.Status && c.New.Status != "" {
		text += ", now " + string(c.New.Status)
	}
	return text
}
