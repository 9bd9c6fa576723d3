package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/worldmodel"
)

// A Begun is what a journal tells of a deliberate plan that was begun: how it stands, and
// what whoever goes on with it has to know. Its events are added in their order, and
// [Begun.Interrupt] closes it.
type Begun struct {
	Started   RunStarted
	NoScreen  bool          // the run has no display of its own
	Plan      *planner.Plan // the newest, as it stands; nil if there is none
	Clear     bool          // its analysis says that there is nothing to reflect on
	Undivided bool          // no plan came of it: the task is done without
	Approved  bool
	Rejected  string // why the plan was rejected; "" if it was not
	Ended     bool   // the run has come to its end

	Open    map[string]*OpenStep // that were begun and did not end, by their paths; under "" what was done without a plan
	Spent   []Spent
	Failed  []string             // paths of steps that failed, and of which nothing has come yet
	Reflect []string             // paths of steps that are done, and on which nobody has reflected
	Heed    map[string]Reflected // of which nothing has come yet, by whose plan it is
	Exit    map[string]string    // what a tool said that ended a plan, by whose it is
	Called  []actuator.CallTool  // that were answered
	News    string               // what an actor on the screen is told of the interruption

	agent  string          // of the run
	final  map[string]bool // steps that did what cannot be taken back, by their paths
	edited bool            // the next plan is the approved one
	turns  Turns
}

// A Spent is a step that failed after something was attempted that cannot be taken back.
type Spent struct {
	Path   string
	Step   planner.Step
	Effect worldmodel.Effect
}

// An OpenStep is a step of a plan that was begun and did not end.
type OpenStep struct {
	Tries    int    // attempts that came to nothing
	Fallback string // that was being tried; "" for none
	Effect   worldmodel.Effect
	Final    bool // something was attempted that cannot be taken back
	Doubt    bool // and of such a thing nobody knows what came of it
	Acts     []*OpenAct
	Notes    []string // that the actor kept, oldest first
	Talk     []Said   // of an agent that calls tools, oldest first

	begun bool // since the program began
	from  int  // the first act of the newest attempt
}

// An OpenAct is an action of a step that is open.
type OpenAct struct {
	*Deed
	Seq    int // of the event by which it began
	Effect worldmodel.Effect
	Final  bool

	over bool // a step has ended that may have done it
}

// A Said is what a model that calls tools said, with what came of its calls, in their order.
type Said struct {
	Response *llm.Response
	Acts     []*OpenAct // the first of its calls
}

// Words tells what was done, and what came of it.
func (a *OpenAct) Words() string {
	text := actuator.DescribeFull(a.Action.Action)
	if a.Acted == nil {
		return text + ": " + InDoubt
	}
	text += ": " + strings.ReplaceAll(string(a.Acted.Status), "_", " ")
	for _, more := range []string{a.Acted.Detail, llm.OneLine(a.Acted.Output)} {
		if more != "" {
			text += "; " + more
		}
	}
	return text
}

// stepAt returns the step of a path such as "s2" or "s2.s1"; nil if there is none.
func stepAt(p *planner.Plan, path string) *planner.Step {
	if p == nil {
		return nil
	}
	id, rest, inner := strings.Cut(path, ".")
	s := p.Step(id)
	if s == nil || !inner {
		return s
	}
	return stepAt(s.Sub, rest)
}

// PlanOf returns whose plan a step belongs to: the path before it.
func PlanOf(path string) string {
	i := strings.LastIndexByte(path, '.')
	return path[:max(i, 0)]
}

// Add adds the next event.
func (b *Begun) Add(e Event) {
	part := b.turns.Add(e)
	switch d := e.Data.(type) {
	case RunStarted:
		*b = Begun{
			Started: d, NoScreen: e.Display == "", agent: e.Agent, Open: map[string]*OpenStep{}, Heed: map[string]Reflected{}, Exit: map[string]string{}, final: map[string]bool{},
		}
	case RunEnded:
		b.Ended = true
	case PlanMade:
		b.Clear = planner.Clear(d.Phases)
	case Planned:
		b.planned(e, d)
	case PlanApproved:
		b.Approved, b.edited = d.Approved && !d.Edited, d.Edited
		if !d.Approved {
			b.Rejected = cmp.Or(d.Reason, "no reason was given")
		}
	case StepStarted:
		b.started(e, d)
	case StepEnded:
		b.ended(e, d)
	case Reflected:
		b.Reflect = slices.DeleteFunc(b.Reflect, func(path string) bool { return path == d.Step })
		if d.Verdict != ReflectContinue {
			b.Heed[PlanOf(d.Step)] = d
		}
	case GoalChecked:
		if !d.Accepted && len(b.leaves(e)) == 0 { // what was said to be reached is not
			b.Heed, b.Exit = map[string]Reflected{}, map[string]string{}
		}
	case Resumed:
		b.Interrupt()
		for _, path := range d.Back {
			if s := stepAt(b.Plan, path); s != nil {
				s.Status = planner.Pending
			}
		}
	default:
		b.deed(e, part.Deed)
	}
}

// Interrupt says that the program ended here.
func (b *Begun) Interrupt() {
	for _, o := range b.Open {
		o.begun = false
		for _, a := range o.Acts {
			o.Doubt = o.Doubt || a.Final && a.Acted == nil && !a.over
		}
	}
}

// planned takes a plan, made or changed.
func (b *Begun) planned(e Event, d Planned) {
	if d.Step != "" {
		if s := stepAt(b.Plan, d.Step); s != nil && d.Plan != nil {
			s.Sub = d.Plan.Clone()
		}
	} else if e.PlanStep != 0 || e.Agent != b.agent || d.Plan != nil && d.Plan.Mode != planner.Deliberate {
		return
	} else if d.Plan == nil {
		b.Undivided = true
	} else {
		b.Plan = d.Plan.Clone()
		b.Approved, b.edited = b.Approved || b.edited, false
	}
	of := func(path string) bool { return PlanOf(path) == d.Step }
	b.Failed = slices.DeleteFunc(b.Failed, of)
	if h := b.Heed[d.Step]; h.Verdict == ReflectRefine || h.Verdict == ReflectExpand {
		delete(b.Heed, d.Step)
	}
}

func (b *Begun) started(e Event, d StepStarted) {
	o := b.Open[d.Step]
	if o == nil {
		o = &OpenStep{}
		b.Open[d.Step] = o
	}
	if o.begun { // the attempt before it came to nothing
		o.Tries++
		o.Talk = nil
	}
	o.begun, o.Fallback, o.from = true, d.Fallback, len(o.Acts)
	if s := stepAt(b.Plan, d.Step); s != nil {
		s.Status, s.Attempts = planner.Running, d.Attempt
		if s.StartedAt.IsZero() {
			s.StartedAt = e.Time
		}
	}
}

func (b *Begun) ended(e Event, d StepEnded) {
	for path, o := range b.Open {
		if path == d.Step || strings.HasPrefix(path, d.Step+".") {
			for _, a := range o.Acts {
				a.over = true
			}
			delete(b.Open, path)
		}
	}
	s := stepAt(b.Plan, d.Step)
	if s == nil {
		return
	}
	s.Status, s.Error, s.Evidence = d.Status, d.Error, d.Evidence
	if d.Output != "" || d.Data != "" {
		s.Result = &planner.Result{Output: d.Output, Data: d.Data, At: e.Time}
	}
	switch d.Status {
	case planner.Completed:
		s.Error, b.final[d.Step] = "", d.Final
		b.Reflect = append(b.Reflect, d.Step)
	case planner.Failed:
		b.Failed = append(b.Failed, d.Step)
		if d.Final {
			b.Spent = append(b.Spent, Spent{d.Step, *s, d.Effect})
		}
	case planner.Pending:
		if d.Final { // the run was stopped amid it
			b.Open[d.Step] = &OpenStep{Effect: d.Effect, Final: true, Doubt: true}
		}
	}
	if d.Exit {
		b.Exit[PlanOf(d.Step)] = cmp.Or(d.Output, "done")
	}
}

// deed takes an event of who does something, and the action that it is about; nil for none.
func (b *Begun) deed(e Event, of *Deed) {
	switch d := e.Data.(type) {
	case Acting, Refused:
		a := &OpenAct{Deed: of, Seq: e.Seq}
		a.Effect, a.Final = attempted(a.Action.Action, b.effectOf(a.Action.Action), a.Ruling)
		for _, o := range b.owners(e, a.Action.Action) {
			o.add(a)
		}
	case Acted:
		if of == nil || d.Status != actuator.Delivered {
			return
		}
		if call, ok := of.Action.Action.(actuator.CallTool); ok {
			b.Called = append(b.Called, call)
		}
	case Noted:
		for _, o := range b.leaves(e) {
			o.Notes = append(o.Notes, d.Text)
		}
	case ModelCalled:
		if d.Role != llm.Actor || d.Purpose != PurposeTools || d.Response == nil || d.Error != "" {
			return
		}
		for _, o := range b.leaves(e) {
			o.Talk = append(o.Talk, Said{Response: d.Response})
		}
	}
}

func (o *OpenStep) add(a *OpenAct) {
	o.Acts = append(o.Acts, a)
	if n := len(o.Talk); n > 0 {
		o.Talk[n-1].Acts = append(o.Talk[n-1].Acts, a)
	}
}

// Newest returns the last action of the newest attempt; nil if there was none.
func (o *OpenStep) Newest() *OpenAct {
	if o.from >= len(o.Acts) {
		return nil
	}
	return o.Acts[len(o.Acts)-1]
}

// Attempted is the worst that was attempted in a step, and whether it cannot be taken back.
func (o *OpenStep) Attempted() (effect worldmodel.Effect, final bool) {
	effect, final = o.Effect, o.Final
	for _, a := range o.Acts {
		if a.Status() != actuator.Refused {
			effect, final = effect.Worse(a.Effect), final || a.Final
		}
	}
	return effect, final
}

// effectOf is what a tool of the run may do.
func (b *Begun) effectOf(a actuator.Action) worldmodel.Effect {
	call, ok := a.(actuator.CallTool)
	if !ok {
		return ""
	}
	for _, t := range b.Started.Settings.Tools {
		if t.Name == call.Tool {
			return t.Effect
		}
	}
	return ""
}

// leaves returns the steps that an event may belong to: those that are open, and of which
// no other one is a part.
func (b *Begun) leaves(e Event) map[string]*OpenStep {
	list := map[string]*OpenStep{}
	if e.PlanStep == 0 {
		if b.Undivided {
			if b.Open[""] == nil {
				b.Open[""] = &OpenStep{}
			}
			list[""] = b.Open[""]
		}
		return list
	}
	top := fmt.Sprintf("s%d", e.PlanStep)
	for path, o := range b.Open {
		if path != top && !strings.HasPrefix(path, top+".") || !o.begun {
			continue
		}
		part := false
		for other, inner := range b.Open {
			part = part || strings.HasPrefix(other, path+".") && inner.begun
		}
		if !part {
			list[path] = o
		}
	}
	return list
}

// owners are those of them that may have done an action: where steps of a plan within a
// step are done side by side, those that name the tool.
func (b *Begun) owners(e Event, a actuator.Action) (list []*OpenStep) {
	call, tool := a.(actuator.CallTool)
	var all []*OpenStep
	for path, o := range b.leaves(e) {
		all = append(all, o)
		s := stepAt(b.Plan, path)
		if tool && s != nil && (s.Executor == planner.Agent || s.Action == call.Tool || s.Fallback == call.Tool) {
			list = append(list, o)
		}
	}
	if len(list) == 0 {
		return all
	}
	return list
}

// Doubts are the actions of which nobody knows what came of them, in their order.
func (b *Begun) Doubts() (list []Doubted) {
	for _, o := range b.Open {
		for _, a := range o.Acts {
			if a.Acted == nil {
				list = append(list, Doubted{Step: a.Step, Index: a.Index, Action: a.Action})
			}
		}
	}
	slices.SortFunc(list, func(a, b Doubted) int { return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Index, b.Index)) })
	return slices.CompactFunc(list, func(a, b Doubted) bool { return a.Step == b.Step && a.Index == b.Index })
}

// PutBack has the steps wait again that were being done when the program ended, and on a
// desktop that is not the same those on the screen that were done: what they left there is
// gone, unless a look at it shows that it is not. One that did what cannot be taken back
// stays as it is. It returns their paths.
func (b *Begun) PutBack(to Return) (paths []string) {
	if b.Plan != nil {
		b.putBack(b.Plan, "", to, &paths)
	}
	return paths
}

func (b *Begun) putBack(p *planner.Plan, prefix string, to Return, paths *[]string) {
	for i := range p.Steps {
		s := &p.Steps[i]
		path, screen := prefix+s.ID, s.Sub == nil && s.OnScreen()
		gone := to
		if s.Executor == planner.Agent && s.Status != planner.Completed { // its desktop ended with the program
			gone = FreshDesktop
		}
		switch {
		case s.Status == planner.Running:
		case s.Status == planner.Completed && screen && to != SameDesktop && !b.final[path]:
			s.Evidence, s.Result, s.StartedAt = nil, nil, time.Time{}
		default:
			continue
		}
		s.Status = planner.Pending
		*paths = append(*paths, path)
		if s.Sub != nil {
			b.putBack(s.Sub, path+".", gone, paths)
		}
	}
}

// LeftToGuard are the actions in doubt of which the guard decides whether they may be done
// again: those of actors who look at the screen of the run first. Of all others the engine
// does, also of those of an agent, whose desktop ended with the program.
func (b *Begun) LeftToGuard() (list []*OpenAct) {
	for path, o := range b.Open {
		s := stepAt(b.Plan, path)
		if path != "" && (s == nil || PlanOf(path) != "" || !s.OnScreen()) {
			continue
		}
		for _, a := range o.Acts {
			if a.Acted == nil {
				list = append(list, a)
			}
		}
	}
	return list
}
