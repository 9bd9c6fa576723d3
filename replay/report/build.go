package report

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/worldmodel"
)

// A builder makes sections of events, one after the other.
type builder struct {
	*thread
	step  *stepView
	seen  [2]*run.Observed // the newest observation and the one before
	shown string           // ID of the frame of the last section that has one
	plan  *planView
	since time.Time   // when the step began
	batch []run.Event // of the step
	crew  *crew       // of a run with a deliberate plan; nil of others
}

// A thread is what goes on from one section to another. All builders of a run share it.
type thread struct {
	view  *view
	turns run.Turns
	steps map[run.Conversation]anchor   // of the last call of each
	saw   map[run.Conversation][]string // the untrusted sources that it had seen
	open  map[*run.Deed]func(run.Acted) // tells what came of an action that was begun, where that is told
}

func newThread(v *view) *thread {
	return &thread{view: v, steps: map[run.Conversation]anchor{}, saw: map[run.Conversation][]string{}, open: map[*run.Deed]func(run.Acted){}}
}

// An anchor is a section that another one points at.
type anchor struct {
	step int
	id   string
}

// newView reads what the page says of a run as a whole. Of its steps only the
// entries are kept.
func newView(r *replay.Run) *view {
	v := &view{Run: r.Info, Outcome: outcomeWords(r.Info), Cut: r.Cut}
	if deliberate(r) {
		v.Graph = &planHistory{}
	}
	for s := range sections(r, v) {
		v.Steps = append(v.Steps, s.entry())
		if s.Mood() == healed {
			v.Healed++
		}
	}
	v.Person = v.Run.Asked != nil && v.Run.Asked.Models["actor"] == "person"
	v.Words = max(2<<10, reportText/max(1, len(v.Steps)))
	v.Chosen = choose(v.Steps)
	return v
}

// sections yields the sections of a run, and adds up in v what they have in
// common. Only the present one is in memory.
func sections(r *replay.Run, v *view) iter.Seq[*stepView] {
	if deliberate(r) {
		return turns(r, v)
	}
	return func(yield func(*stepView) bool) {
		b := &builder{thread: newThread(v)}
		for e, err := range r.Events() {
			if err != nil {
				v.Broken = err.Error()
				break
			}
			if b.step != nil && e.Step != b.step.N && !isEnd(e) {
				if !yield(b.finish()) {
					return
				}
			}
			b.add(e)
		}
		if b.step != nil && !yield(b.finish()) {
			return
		}
		if o := b.seen[0]; o != nil && o.FrameID != b.shown { // no step shows the screen at the end
			yield(&stepView{N: v.Counted, End: true, Shot: newShot(o.FrameID, o), Windows: titles(o)})
		}
	}
}

// add takes the next event.
func (b *builder) add(e run.Event) {
	if b.step == nil {
		if b.since.IsZero() {
			b.since = e.Time
		}
		b.step = &stepView{N: e.Step, seen: b.seen[0]}
		if b.crew != nil {
			b.crew.opened(e, b.step)
		}
	}
	b.batch = append(b.batch, e)
	b.fill(e, b.turns.Add(e))
}

// resumed takes that the run was taken up again, which another one tells of: until then no
// program worked on it.
func (b *builder) resumed(e run.Event) {
	if b.step != nil {
		b.batch = append(b.batch, e)
	} else {
		b.since = e.Time
	}
}

func isEnd(e run.Event) bool {
	_, end := e.Data.(run.RunEnded)
	return end
}

func (b *builder) fill(e run.Event, part run.Part) {
	s := b.step
	switch data := e.Data.(type) {
	case run.RunStarted:
		b.view.Run.Asked = &data
	case run.RunEnded:
		b.view.Run.Ended = &data
		b.view.Outcome = outcomeWords(b.view.Run)
	case run.Observed:
		b.seen[0], b.seen[1] = &data, b.seen[0]
	case run.ModelCalled:
		b.call(e, data)
	case run.Planned:
		b.planned(data)
	case run.Assessed:
		b.assessed(data, part.Foreseen)
	case run.Progressed:
		s.Proved = append(s.Proved, data.Why...)
		if data.Plan != nil {
			b.setPlan(data.Plan, "advanced", "")
		}
	case run.Proposed:
		b.proposed(data)
	case run.Diverged:
		s.Diverged = append(s.Diverged, data)
	case run.Answered:
		s.Answered = append(s.Answered, data)
	case run.Noted:
		s.Noted = append(s.Noted, data)
	case run.GoalChecked:
		s.Goal = &data
	case run.Rehearsed:
		s.Rehearsed = replay.RehearsedWords(data)
	case run.Acting:
		b.acting(part.Deed)
	case run.Refused:
		b.refused(part.Deed, data)
	case run.Acted:
		b.acted(part.Deed, data)
	default:
		b.executed(e)
		b.became(data)
	}
}

// acting shows an action that is begun: at its proposal, or for itself if it has none.
func (b *builder) acting(d *run.Deed) {
	if a := b.step.actionOf(d); a != nil {
		a.Acting = true
		b.open[d] = func(result run.Acted) { a.Result = &result }
		return
	}
	if b.crew == nil {
		return
	}
	s, at := b.step, len(b.step.Events)
	s.tell("%s", actuator.DescribeFull(d.Action.Action))
	b.open[d] = func(result run.Acted) {
		s.Events[at] += fmt.Sprintf(" – %s in %d ms%s", result.Status, result.Millis, after(": ", clip(result.Detail, 300)))
	}
}

// acted shows what came of an action, where that is shown; of a journal that does not say
// that it was begun, at the proposal that stands.
func (b *builder) acted(d *run.Deed, result run.Acted) {
	if tell := b.open[d]; tell != nil {
		tell(result)
		delete(b.open, d)
	} else if a := b.step.Last().action(result.Index); a != nil && d == nil {
		a.Result = &result
	}
}

// refused shows an action that the guard did not permit.
func (b *builder) refused(d *run.Deed, data run.Refused) {
	if a := b.step.actionOf(d); a != nil {
		result := *d.Acted
		result.Detail += " (guard: " + data.Guard + ")"
		a.Result = &result
		return
	}
	if b.crew != nil {
		b.step.tell("%s – refused by the guard %s: %s", actuator.DescribeFull(d.Action.Action), data.Guard, data.Reason)
	}
}

// actionOf returns the action of the proposal that stands; nil if it was proposed elsewhere or not at all.
func (s *stepView) actionOf(d *run.Deed) *actionView {
	if d.Proposal == nil {
		return nil
	}
	return s.Last().action(d.Index)
}

// became takes an event that tells what became of the proposal.
func (b *builder) became(data run.EventData) {
	p := b.step.Last()
	switch data := data.(type) {
	case run.Located:
		if a := p.action(data.Index); a != nil {
			a.Located = &data
		} else {
			b.step.Located = append(b.step.Located, data)
		}
	case run.Guarded:
		if a := p.action(data.Index); a != nil && data.By != "table" {
			a.Guarded = &data
		}
	case run.Checked:
		if p != nil {
			p.Checks = append(p.Checks, replay.CheckWords(data))
		}
	case run.Grounded:
		if p != nil {
			p.Grounded = append(p.Grounded, replay.GroundWords(data))
		}
	case run.Reviewed:
		if p != nil {
			p.Reviews = append(p.Reviews, review{data})
		}
	case run.BatchStopped:
		if p != nil {
			p.Stopped, p.Refused = data.Reason, data.Refused
		}
	}
}

// action returns an action of the proposal; nil if it has no such.
func (p *proposalView) action(index int) *actionView {
	if p != nil && index >= 0 && index < len(p.Actions) {
		return p.Actions[index]
	}
	return nil
}

func (b *builder) call(e run.Event, data run.ModelCalled) {
	c := &callView{ModelCalled: data, At: e.Time}
	key := run.Conversation{Agent: e.Agent, Role: data.Role, Purpose: data.Purpose}
	before := b.steps[key]
	c.Before, c.BeforeID = before.step, before.id
	b.steps[key] = anchor{e.Step, b.step.ID()}
	c.Untrusted = untrusted(data, b.saw[key])
	b.saw[key] = c.Untrusted
	b.step.Calls = append(b.step.Calls, c)
	v := b.view
	v.Used = v.Used.Plus(data.Spent())
	v.gave(e.Step, data)
}

// gave notes that a model took over from the one that the role was asked by before.
func (v *view) gave(step int, data run.ModelCalled) {
	role := string(data.Role)
	if last := v.asked[role]; last.Error != "" && last.Model != "" && data.Model != last.Model {
		v.Gave = append(v.Gave, fmt.Sprintf("%s: %s took over from %s in step %d, for good", role, data.Model, last.Model, step))
	}
	if v.asked == nil {
		v.asked = map[string]run.ModelCalled{}
	}
	v.asked[role] = run.ModelCalled{Model: data.Model, Error: data.Error}
}

// blocks finds where text of the screen, of files and of tools stands in a prompt.
var blocks = regexp.MustCompile(`<untrusted(?:-[a-z2-7]+)? source="([^"<>]{1,40})">`)

// untrusted names what a call has seen that nobody vouches for; before is what the call
// had whose messages it shares.
func untrusted(data run.ModelCalled, before []string) []string {
	var list []string
	if data.Shared > 0 {
		list = slices.Clone(before)
	}
	add := func(source string) {
		if !slices.Contains(list, source) {
			list = append(list, source)
		}
	}
	for _, m := range data.Messages {
		if m.From == llm.System || m.From == llm.Assistant { // the rule, and its own words
			continue
		}
		for _, found := range blocks.FindAllStringSubmatch(m.Text, -1) {
			add(found[1])
		}
		if len(m.Images) > 0 {
			add("picture")
		}
	}
	return list
}

func (b *builder) planned(data run.Planned) {
	if data.Plan == nil {
		b.step.Plan = &planView{Error: data.Error}
		return
	}
	fresh := "revised"
	switch {
	case data.Error != "":
		fresh = ""
	case b.plan == nil:
		fresh = "made"
	}
	b.setPlan(data.Plan, fresh, data.Error)
}

func (b *builder) setPlan(p *planner.Plan, fresh, err string) {
	if b.crew != nil { // the graph shows it
		if err != "" {
			b.step.Plan = &planView{Error: err}
		}
		return
	}
	b.plan = &planView{Plan: p, Fresh: fresh, Error: err, Now: p.ProgressStep() - 1}
	b.step.Plan = b.plan
}

func (b *builder) assessed(data run.Assessed, foreseen *worldmodel.Foresight) {
	b.step.Assessed = &data
	if data.Assessment != nil && foreseen == nil { // else it is no expectation of the actor's
		b.view.Hits.Add(data.Assessment.AsExpected)
	}
	if data.Plan != nil {
		fresh := ""
		if data.Advanced || len(b.step.Proved) > 0 {
			fresh = "advanced"
		}
		b.setPlan(data.Plan, fresh, "")
	}
}

func (b *builder) proposed(data run.Proposed) {
	s := b.step
	s.seen = nil
	for _, o := range b.seen {
		if o != nil && o.FrameID == data.FrameID {
			s.seen = o
			break
		}
	}
	s.Proposals = append(s.Proposals, newProposal(data, s.seen))
	s.Shot = newShot(data.FrameID, s.seen)
}

// finish closes the section of a step and returns it.
func (b *builder) finish() *stepView {
	s := b.step
	s.Spent = replay.Spend(b.batch, b.since)
	v := b.view
	v.Spent.Add(s.Spent)
	v.Longest = max(v.Longest, s.Spent.Total)
	v.Counted = max(v.Counted, s.N)
	b.since, b.batch, b.step = b.batch[len(b.batch)-1].Time, nil, nil
	if b.crew == nil {
		clear(b.open) // the section leaves the memory
	}
	if s.Plan == nil && b.plan != nil && s.N > 0 { // as before
		s.Plan = &planView{Plan: b.plan.Plan, Now: b.plan.Now}
	}
	if s.Shot == nil && s.N > 0 && s.seen != nil {
		s.Shot = newShot(s.seen.FrameID, s.seen)
	}
	if s.Shot == nil {
		return s
	}
	b.shown = s.Shot.FrameID
	s.Windows = titles(s.seen)
	if p := s.Last(); p != nil && s.seen != nil {
		s.Shot.Marks = drawMarks(p.Actions, s.seen)
	}
	return s
}

// newShot returns the frame that an observation tells of; o is nil if none does.
func newShot(id string, o *run.Observed) *frame {
	s := &frame{FrameID: id}
	if o == nil {
		return s
	}
	s.Size = o.Mapping.Size
	if w, ok := replay.Recall(o).Focused(); ok {
		s.Title = w.Title
	}
	if o.Settled.Reason == screen.SettledCeiling {
		s.Notes = append(s.Notes, "the screen was still changing when this was taken")
	}
	if o.TreeErr != "" {
		s.Notes = append(s.Notes, "no accessibility tree: "+o.TreeErr)
	}
	if o.Unread {
		s.Notes = append(s.Notes, "some text of the picture was not read, or not yet")
	}
	for _, program := range o.Hung {
		s.Notes = append(s.Notes, program.Name+" did not answer in time")
	}
	return s
}

// titles returns the titles of the windows on the screen, the first 30.
func titles(o *run.Observed) []string {
	if o == nil {
		return nil
	}
	var list []string
	for _, w := range o.Windows[:min(30, len(o.Windows))] {
		if w.Title != "" {
			list = append(list, w.Title)
		}
	}
	return list
}

// newProposal returns a proposal; seen is what it was made on, nil if that is not known.
func newProposal(data run.Proposed, seen *run.Observed) *proposalView {
	p := &proposalView{Thought: data.Thought, Expect: data.Expect, Error: data.Error}
	for _, r := range data.Actions {
		a := &actionView{Words: actuator.DescribeFull(r.Action), Name: replay.Words(r.Action, seen, true), action: r.Action}
		if text, _ := actuator.Entered(r.Action); len(text) > 200 {
			a.Text = text
		}
		p.Actions = append(p.Actions, a)
	}
	for _, param := range data.Params {
		if a := p.action(param.Index); a != nil {
			a.Param = &param
		}
	}
	return p
}
