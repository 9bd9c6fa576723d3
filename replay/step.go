package replay

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
)

// A Step is one turn of the loop, read from a run: what was seen when it began,
// and everything that was thought and done until the next began. Step 0 is what
// came before the first. Where several agents work beside each other, a turn is several
// steps of one number, between which those of others stand.
type Step struct {
	N          int
	Since      time.Time       // when the step before ended; in the first, when it began
	Before     *run.Observed   // the newest observation when it began; nil in step 0
	Observed   []*run.Observed // those of the step, in order
	After      *run.Observed   // the last of them; nil if there was none
	Started    *run.RunStarted
	Planned    []run.Planned
	Plan       *planner.Plan // the newest of which an event of the step tells; nil if none does
	Calls      []*Call       // of models
	Assessed   *run.Assessed
	Progressed []run.Progressed // by predicates
	Proposals  []*run.Proposed  // the last one was performed
	Reviews    []run.Reviewed
	Acts       []Act
	Judged     []run.TaskJudged
	Guarded    []run.Guarded // what the guard ruled
	Refused    []run.Refused // actions that the guard did not allow
	Checked    []run.Checked // safety checks of the provider
	Stopped    *run.BatchStopped
	Goals      []run.GoalChecked
	Resumed    []run.Resumed // where the run was taken up again
	Ended      *run.RunEnded
	Events     []run.Event // all of the step, in order

	later []Act // of its proposals, in steps of the same turn behind it
}

// A Call is one call of a model.
type Call struct {
	run.ModelCalled
	Step     int           // in which it was made
	SeenIn   int           // the step of the newest observation before it
	Proposed *run.Proposed // what the actor's reply proposes; nil if nothing
	Seen     *run.Observed // the observation that the proposal is about

	exchange *exchange
}

// Whole returns all messages of the call, with those that it shares with calls
// before.
func (c *Call) Whole() []run.Message {
	list := make([]run.Message, c.Shared+len(c.Messages))
	copy(list[c.Shared:], c.Messages)
	for t, end := c.exchange.before, c.Shared; t != nil && end > 0; t = t.before {
		copy(list[min(t.shared, end):end], t.tail)
		end = min(t.shared, end)
	}
	return list
}

// An exchange is a part of a conversation: what a call added to those before, as far
// as later ones go on from it.
type exchange struct {
	before *exchange
	shared int // messages of those before
	tail   []run.Message
}

// length is how many messages a conversation has.
func (t *exchange) length() int {
	if t == nil {
		return 0
	}
	return t.shared + len(t.tail)
}

// first returns the part of a conversation that holds its first n messages, and
// nothing that is not needed for them.
func (t *exchange) first(n int) *exchange {
	for t != nil && t.shared >= n {
		t = t.before
	}
	if t == nil || n == 0 {
		return nil
	}
	return &exchange{before: t.before, shared: t.shared, tail: slices.Clone(t.tail[:n-t.shared])}
}

// An Act is one action with what became of it.
type Act struct {
	run.Acting
	Proposed *run.Proposed // whose action it is; nil if nothing was proposed
	Seen     *run.Observed // the newest observation of who acts when it began; nil if there was none
	Acted    *run.Acted    // nil if the run was cut off before that was known
}

// Proposal returns the proposal that stands; nil if there is none.
func (s *Step) Proposal() *run.Proposed {
	if len(s.Proposals) == 0 {
		return nil
	}
	return s.Proposals[len(s.Proposals)-1]
}

// Undone returns the actions of a proposal that were never begun.
func (s *Step) Undone(p *run.Proposed) (list []actuator.Action) {
	begun := map[int]bool{}
	for _, act := range slices.Concat(s.Acts, s.later) {
		if act.Proposed == p {
			begun[act.Index] = true
		}
	}
	for i, a := range p.Actions {
		if !begun[i] {
			list = append(list, a.Action)
		}
	}
	return list
}

// Spent tells what the time of the step went to.
func (s *Step) Spent() Spent { return Spend(s.Events, s.Since) }

// Steps yields the steps of a run in order. Only the present one is in memory, those behind
// one of a turn that goes on, and the conversations that go on. After an error it ends.
func (r *Run) Steps() iter.Seq2[*Step, error] {
	return func(yield func(*Step, error) bool) {
		b := stepper{asked: map[run.Conversation]*exchange{}, saw: map[string]*run.Observed{}, turns: map[turn]*doing{}}
		for e, err := range r.Events() {
			if err == nil {
				err = b.next(e)
			}
			if err != nil {
				b.step = nil
				if b.end(); b.give(yield) {
					yield(nil, err)
				}
				return
			}
			if !b.give(yield) {
				return
			}
		}
		b.end()
		b.give(yield)
	}
}

// A stepper makes steps of events.
type stepper struct {
	step   *Step
	made   []*Step       // before it, and not given yet
	last   time.Time     // of the newest event
	now    *run.Observed // the newest observation
	seenIn int           // its step
	asked  map[run.Conversation]*exchange
	by     actor                    // of the newest event
	saw    map[string]*run.Observed // the newest observation of each agent
	turns  map[turn]*doing          // that go on
}

// An actor is who works in a run; several may, beside each other, and their events stand
// between each other.
type actor struct {
	agent    string
	planStep int
}

// A turn is what an actor does in a step, however many parts the events of others make of it.
type turn struct {
	actor
	step int
}

// A doing is what a turn that goes on is at.
type doing struct {
	call     *Call         // the newest reply of the actor without a proposal
	proposed *run.Proposed // the newest
	in       *Step         // where that is
	acts     map[int]spot  // of which it is not known what came, by their indices
}

// A spot is where an [Act] stands.
type spot struct {
	step *Step
	n    int
}

func (b *stepper) who(e run.Event) actor { return actor{e.Agent, e.PlanStep} }

// turn returns what the turn of an event is at.
func (b *stepper) turn(e run.Event) *doing {
	key := turn{b.who(e), e.Step}
	d := b.turns[key]
	if d == nil {
		d = &doing{acts: map[int]spot{}}
		b.turns[key] = d
	}
	return d
}

// next takes the next event.
func (b *stepper) next(e run.Event) error {
	if b.step != nil && e.Step != b.step.N {
		if e.Step < b.step.N && b.who(e) == b.by && e.PlanStep == 0 { // steps of a plan within a step share its number
			return fmt.Errorf("event %d is of step %d, after events of step %d", e.Seq, e.Step, b.step.N)
		}
		b.made, b.step = append(b.made, b.step), nil
	}
	b.over(e)
	if err := b.add(e); err != nil {
		return fmt.Errorf("event %d: %w", e.Seq, err)
	}
	return nil
}

// over ends the turns that an event shows to be over: nothing more comes of them.
func (b *stepper) over(e run.Event) {
	switch data := e.Data.(type) {
	case run.Resumed: // what came of an act that was in doubt is told after it
		maps.DeleteFunc(b.turns, func(_ turn, d *doing) bool { return len(d.acts) == 0 })
	case run.RunEnded:
		clear(b.turns)
	case run.StepEnded:
		maps.DeleteFunc(b.turns, func(t turn, _ *doing) bool { return data.Step == fmt.Sprintf("s%d", t.planStep) })
	default:
		_, looks := e.Data.(run.Observed)
		_, proposes := e.Data.(run.Proposed)
		maps.DeleteFunc(b.turns, func(t turn, d *doing) bool {
			// Of a step of a plan, who decides by a screen does one thing after the other; a
			// tool may be at work beside it.
			over := t.planStep == 0 || (looks || proposes) && (d.call != nil || d.proposed != nil)
			return over && t.actor == b.who(e) && t.step < e.Step
		})
	}
}

// give yields the steps that are whole, in their order.
func (b *stepper) give(yield func(*Step, error) bool) bool {
	for len(b.made) > 0 && !b.waits(b.made[0]) {
		s := b.made[0]
		if b.made = b.made[1:]; !yield(s, nil) {
			return false
		}
	}
	return true
}

// waits reports whether something may still come of a step.
func (b *stepper) waits(s *Step) bool {
	for t, d := range b.turns {
		if t.step == s.N && (d.call != nil || d.proposed != nil || len(d.acts) > 0) {
			return true
		}
	}
	return false
}

// end ends all steps.
func (b *stepper) end() {
	clear(b.turns)
	if b.step != nil {
		b.made, b.step = append(b.made, b.step), nil
	}
}

func (b *stepper) add(e run.Event) error {
	if b.step == nil {
		if b.last.IsZero() {
			b.last = e.Time
		}
		b.step = &Step{N: e.Step, Since: b.last, Before: b.now}
	}
	b.by = b.who(e)
	s := b.step
	b.last = e.Time
	s.Events = append(s.Events, e)
	switch data := e.Data.(type) {
	case run.RunStarted:
		s.Started = &data
	case run.Observed:
		if err := checkTree(data); err != nil {
			return err
		}
		b.now, b.seenIn, s.After = &data, e.Step, &data
		b.saw[e.Agent] = &data
		s.Observed = append(s.Observed, &data)
	case run.ModelCalled:
		return b.call(e, data)
	case run.Planned:
		s.Planned, s.Plan = append(s.Planned, data), cmp.Or(data.Plan, s.Plan)
	case run.Assessed:
		s.Assessed, s.Plan = &data, cmp.Or(data.Plan, s.Plan)
	case run.Progressed:
		s.Progressed, s.Plan = append(s.Progressed, data), cmp.Or(data.Plan, s.Plan)
	case run.Proposed:
		return b.proposed(e, &data)
	case run.Reviewed:
		s.Reviews = append(s.Reviews, data)
	case run.TaskJudged:
		s.Judged = append(s.Judged, data)
	case run.Guarded:
		s.Guarded = append(s.Guarded, data)
	case run.Refused:
		s.Refused = append(s.Refused, data)
	case run.Checked:
		s.Checked = append(s.Checked, data)
	case run.Acting:
		t := b.turn(e)
		a := Act{Acting: data, Proposed: t.proposed, Seen: b.saw[e.Agent]}
		t.acts[data.Index] = spot{s, len(s.Acts)}
		s.Acts = append(s.Acts, a)
		if t.in != nil && t.in != s {
			t.in.later = append(t.in.later, a)
		}
	case run.Acted:
		if t := b.turns[turn{b.who(e), e.Step}]; t != nil {
			if a, ok := t.acts[data.Index]; ok {
				a.step.Acts[a.n].Acted = &data
				delete(t.acts, data.Index)
			}
		}
	case run.BatchStopped:
		s.Stopped = &data
	case run.GoalChecked:
		s.Goals = append(s.Goals, data)
	case run.Resumed:
		s.Resumed = append(s.Resumed, data)
	case run.RunEnded:
		s.Ended = &data
	}
	return nil
}

func (b *stepper) call(e run.Event, data run.ModelCalled) error {
	key := run.Conversation{Agent: e.Agent, Role: data.Role, Purpose: data.Purpose}
	before := b.asked[key]
	if data.Shared < 0 || data.Shared > before.length() {
		return fmt.Errorf("the call shares %d messages with the one before, which had %d", data.Shared, before.length())
	}
	c := &Call{ModelCalled: data, Step: b.step.N, SeenIn: b.seenIn}
	c.exchange = &exchange{before: before.first(data.Shared), shared: data.Shared, tail: data.Messages}
	b.asked[key] = c.exchange
	b.step.Calls = append(b.step.Calls, c)
	if data.Role == llm.Actor && data.Purpose != run.PurposeTools { // such calls are no proposals
		b.turn(e).call = c
	}
	return nil
}

func (b *stepper) proposed(e run.Event, data *run.Proposed) error {
	t := b.turn(e)
	t.proposed, t.in = data, b.step
	b.step.Proposals = append(b.step.Proposals, data)
	seen := b.now
	if own := b.saw[e.Agent]; own != nil && own.FrameID == data.FrameID { // others may look at their displays meanwhile
		seen = own
	}
	if seen == nil || seen.FrameID != data.FrameID {
		return fmt.Errorf("the proposal is about frame %q, which is not the newest that was observed", data.FrameID)
	}
	if t.call != nil {
		t.call.Proposed, t.call.Seen = data, seen
		t.call = nil
	}
	return nil
}

// maxTreeDepth is how deep an accessibility tree can be. Programs stay far below.
const maxTreeDepth = 1000

// checkTree refuses a recorded tree that is none.
func checkTree(was run.Observed) error {
	depth := make([]int, len(was.Targets))
	for i, t := range was.Targets {
		if t.Parent < -1 || t.Parent >= i {
			return fmt.Errorf("frame %s: node %d cannot have node %d as its parent", was.FrameID, i, t.Parent)
		}
		if t.Parent >= 0 {
			depth[i] = depth[t.Parent] + 1
		}
		if depth[i] > maxTreeDepth {
			return fmt.Errorf("frame %s: node %d is more than %d levels deep", was.FrameID, i, maxTreeDepth)
		}
	}
	return nil
}
