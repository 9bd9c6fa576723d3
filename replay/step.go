package replay

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"

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
	Before     *run.Observed   // the newest observation of its display when it began; nil in step 0
	Observed   []*run.Observed // those of the step, in order
	After      *run.Observed   // the last of them; nil if there was none
	Started    *run.RunStarted
	Planned    []run.Planned
	Plan       *planner.Plan // the newest of which an event of the step tells; nil if none does
	Calls      []*Call       // of models
	Assessed   *run.Assessed
	Progressed []run.Progressed // by predicates
	Proposals  []*run.Proposal  // the last one was performed
	Reviews    []run.Reviewed
	Acts       []*run.Deed // that were begun
	Judged     []run.TaskJudged
	Guarded    []run.Guarded // what the guard ruled
	Refused    []run.Refused // actions that the guard did not allow
	Checked    []run.Checked // safety checks of the provider
	Stopped    *run.BatchStopped
	Goals      []run.GoalChecked
	Resumed    []run.Resumed // where the run was taken up again
	Ended      *run.RunEnded
	Events     []run.Event // all of the step, in order
}

// A Call is one call of a model.
type Call struct {
	*run.Call
	Step   int // in which it was made
	SeenIn int // the step of the newest observation before it

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

// Proposal returns the proposal that stands; nil if there is none.
func (s *Step) Proposal() *run.Proposal {
	if len(s.Proposals) == 0 {
		return nil
	}
	return s.Proposals[len(s.Proposals)-1]
}

// Seen returns the observation that its actions are about, in whose image their points
// are: that of the proposal that stands, or of the first action if nothing was proposed;
// else [Step.Before].
func (s *Step) Seen() *run.Observed {
	p := s.Proposal()
	if p == nil && len(s.Acts) > 0 {
		p = cmp.Or(s.Acts[0].Proposal, &run.Proposal{Seen: s.Acts[0].Seen})
	}
	if p == nil {
		return s.Before
	}
	return cmp.Or(p.Seen, s.Before)
}

// Spent tells what the time of the step went to.
func (s *Step) Spent() Spent { return Spend(s.Events, s.Since) }

// Steps yields the steps of a run in order. Only the present one is in memory, those behind
// one of a turn that goes on, and the conversations that go on. After an error it ends.
func (r *Run) Steps() iter.Seq2[*Step, error] {
	return func(yield func(*Step, error) bool) {
		b := stepper{asked: map[run.Conversation]*exchange{}, seen: map[string]*run.Observed{}}
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
	made   []*Step                  // before it, and not given yet
	last   run.Event                // the newest
	seen   map[string]*run.Observed // the newest observation of each display
	seenIn int                      // the step of the newest of all
	asked  map[run.Conversation]*exchange
	turns  run.Turns
}

// next takes the next event.
func (b *stepper) next(e run.Event) error {
	if b.step != nil && e.Step != b.step.N {
		if e.Step < b.step.N && e.Agent == b.last.Agent && e.PlanStep == 0 && b.last.PlanStep == 0 { // steps of a plan within a step share its number
			return fmt.Errorf("event %d is of step %d, after events of step %d", e.Seq, e.Step, b.step.N)
		}
		b.made, b.step = append(b.made, b.step), nil
	}
	if err := b.add(e); err != nil {
		return fmt.Errorf("event %d: %w", e.Seq, err)
	}
	return nil
}

// give yields the steps that are whole, in their order.
func (b *stepper) give(yield func(*Step, error) bool) bool {
	for len(b.made) > 0 && !b.turns.GoesOn(b.made[0].N) {
		s := b.made[0]
		if b.made = b.made[1:]; !yield(s, nil) {
			return false
		}
	}
	return true
}

// end ends all steps.
func (b *stepper) end() {
	b.turns = run.Turns{}
	if b.step != nil {
		b.made, b.step = append(b.made, b.step), nil
	}
}

func (b *stepper) add(e run.Event) error {
	if b.step == nil {
		if b.last.Time.IsZero() {
			b.last.Time = e.Time
		}
		b.step = &Step{N: e.Step, Since: b.last.Time, Before: b.seen[e.Display]}
	}
	s, part := b.step, b.turns.Add(e)
	b.last = e
	s.Events = append(s.Events, e)
	switch data := e.Data.(type) {
	case run.RunStarted:
		s.Started = &data
	case run.Observed:
		if err := checkTree(data); err != nil {
			return err
		}
		b.seen[e.Display], b.seenIn, s.After = part.Seen, e.Step, part.Seen
		s.Observed = append(s.Observed, part.Seen)
	case run.ModelCalled:
		return b.call(e.Agent, part.Call)
	case run.Planned:
		s.Planned, s.Plan = append(s.Planned, data), cmp.Or(data.Plan, s.Plan)
	case run.Assessed:
		s.Assessed, s.Plan = &data, cmp.Or(data.Plan, s.Plan)
	case run.Progressed:
		s.Progressed, s.Plan = append(s.Progressed, data), cmp.Or(data.Plan, s.Plan)
	case run.Proposed:
		if s.Proposals = append(s.Proposals, part.Proposal); part.Proposal.Seen == nil {
			return fmt.Errorf("the proposal is about frame %q, which is not the newest that was observed", data.FrameID)
		}
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
		s.Acts = append(s.Acts, part.Deed)
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

func (b *stepper) call(agent string, of *run.Call) error {
	key := run.Conversation{Agent: agent, Role: of.Role, Purpose: of.Purpose}
	before := b.asked[key]
	if of.Shared < 0 || of.Shared > before.length() {
		return fmt.Errorf("the call shares %d messages with the one before, which had %d", of.Shared, before.length())
	}
	c := &Call{Call: of, Step: b.step.N, SeenIn: b.seenIn}
	c.exchange = &exchange{before: before.first(of.Shared), shared: of.Shared, tail: of.Messages}
	b.asked[key] = c.exchange
	b.step.Calls = append(b.step.Calls, c)
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
