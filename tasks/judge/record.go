package judge

import (
	"fmt"
	"image"
	"maps"

	"desktop-agent/actuator"
	"desktop-agent/replay"
	"desktop-agent/run"
)

// maxSteps is how many steps of a run are read: an agent's own limit is far below.
const maxSteps = 20_000

// A record is what a run tells, step by step, in words.
type record struct {
	steps []*step
	asked string                 // the task, as the journal has it
	last  *run.Observed          // the last look at the desktop; nil if there was none
	ended *run.RunEnded          // nil if the run was cut off
	sizes map[string]image.Point // of frames, by ID, as the journal tells them
}

// A step is one step of a run.
type step struct {
	n      int
	before string // ID of the frame that the agent saw when it decided; "" if none
	after  string // ID of the last frame of the step; "" if there was none
	lines  []line
	acts   int  // actions performed or begun
	acted  bool // something was done, tried or said
	failed bool // something of it had no effect, was refused, or was no action
	risky  bool // by words that are worth a closer look; see [risky]

	// Set when the exhibit is made.
	level detail
}

// read reads a run. Only the words of its steps are kept.
func read(stored *replay.Run, side int) (*record, error) {
	rec := &record{sizes: map[string]image.Point{}}
	saw := map[string]*run.Observed{}
	for s, err := range stored.Steps() {
		if err != nil {
			return nil, err
		}
		if len(rec.steps) == maxSteps {
			return nil, fmt.Errorf("it has more than %d steps", maxSteps)
		}
		t := &reporter{Step: s, step: &step{n: s.N}, saw: saw, before: maps.Clone(saw), side: side}
		for _, e := range s.Events {
			t.event(e)
		}
		for _, o := range s.Observed {
			rec.sizes[o.FrameID] = o.Frame
			rec.last = o
		}
		if s.Started != nil {
			rec.asked = s.Started.Task
		}
		if s.Ended != nil {
			rec.ended = s.Ended
		}
		rec.steps = append(rec.steps, t.tell())
		if t.err != nil {
			return nil, t.err
		}
	}
	return rec, nil
}

// A reporter puts the events of one step into words.
type reporter struct {
	*replay.Step
	step   *step
	saw    map[string]*run.Observed // the newest look so far of each agent: each may have a display of its own
	before map[string]*run.Observed // the same when the step began
	looked string                   // the agent whose look is the newest of the step
	side   int                      // of pictures, in pixels: places are told in their pixels

	proposal *run.Proposal // not told yet
	proposed int           // proposals so far
	begun    int           // acts so far
	told     int           // of these, those that were told
	notes    []string      // told after them
	err      error         // of an action that nobody can tell of
}

// event takes the next event. What models other than the agent's actor thought of
// it is left out: the judge makes up its own mind.
func (t *reporter) event(of run.Event) {
	switch e := of.Data.(type) {
	case run.Observed:
		t.saw[of.Agent], t.looked = &e, of.Agent
		t.step.after = e.FrameID
	case run.Proposed:
		t.propose()
	case run.Reviewed:
		if e.Verdict != run.Go {
			t.fact(detailed, "a review stopped the proposal: "+quoted(e.Reason, 300))
		} else if e.Overridden {
			t.fact(detailed, "the agent proposed the same again, against this objection: "+quoted(e.Guidance, 300))
		}
	case run.Acting:
		t.decided(t.Acts[t.begun].Seen)
		t.begun++
	case run.Refused:
		t.notes = append(t.notes, "a guard did not allow it to "+quoted(actuator.DescribeFull(e.Action.Action), 300)+": "+quoted(e.Reason, 300))
	case run.Checked:
		t.notes = append(t.notes, quoted(replay.CheckWords(e), 300))
	case run.BatchStopped:
		t.notes = append(t.notes, "so the rest was not performed: "+quoted(e.Reason, 300))
	case run.Answered:
		t.notes = append(t.notes, "the user answered: "+quoted(e.Answer, 300))
	case run.RunEnded:
		t.flush()
		t.fact(brief, "the run ended: "+outcome(&e))
		t.step.acted = t.step.acted || e.Outcome == run.OutcomeDone || e.Outcome == run.OutcomeInfeasible
	}
}

// decided notes what the step's first decision was about.
func (t *reporter) decided(now *run.Observed) {
	if t.step.before != "" || now == nil {
		return
	}
	t.step.before = now.FrameID
	if w, ok := replay.Recall(now).Focused(); ok {
		t.fact(detailed, "in front when it began: "+w.Describe(func(s string) string { return quoted(s, 100) }))
	}
}

// propose takes a proposal, after telling what was not done of the one before.
func (t *reporter) propose() {
	t.flush()
	p := t.Proposals[t.proposed]
	t.proposal = p
	t.proposed++
	t.decided(p.Seen)
	if p.Thought != "" {
		t.claim(detailed, "the agent says: "+quoted(p.Thought, 400))
	}
	if p.Error != "" {
		t.step.failed = true
		t.fact(detailed, "its reply was no action")
	}
}

// flush tells the actions performed so far, and those that were only proposed.
func (t *reporter) flush() {
	for ; t.told < t.begun; t.told++ {
		t.act(t.Acts[t.told])
	}
	if t.proposal != nil {
		for _, a := range t.proposal.Undone() {
			t.undone(a)
		}
	}
	for _, note := range t.notes {
		t.fact(brief, note)
	}
	t.proposal, t.notes = nil, nil
}

// act tells an action that was begun.
func (t *reporter) act(a *run.Deed) {
	s := t.step
	s.acts++
	s.acted = true
	short, full := t.words(a.Action.Action, a.Seen)
	result, detail := ": it is not known what became of it", ""
	if a.Acted != nil {
		result = ": " + status(a.Acted.Status)
		s.failed = s.failed || a.Acted.Status != actuator.Delivered && actuator.Shows(a.Action.Action)
		if a.Acted.Detail != "" {
			detail = " (" + quoted(a.Acted.Detail, 200) + ")"
		}
	} else {
		s.failed = true
	}
	s.add(line{from: brief, short: "performed: " + short + result, full: "performed: " + full + result + detail})
	if text, ok := actuator.Entered(a.Action.Action); ok && len([]rune(text)) > shownText {
		t.fact(detailed, "the whole text: "+quoted(text, maxText))
	}
	if a.Acted != nil && a.Acted.Output != "" {
		t.fact(detailed, "the agent read from the clipboard: "+quoted(a.Acted.Output, 400))
	}
}

// undone tells an action that asks something of the agent's program, or that was
// never begun.
func (t *reporter) undone(a actuator.Action) {
	switch a := a.(type) {
	case nil:
		return
	case actuator.Done:
		t.said("the agent ends: it says that the task is done", a.Answer)
	case actuator.Infeasible:
		t.said("the agent ends: it says that the task cannot be done", a.Reason)
	case actuator.Ask:
		t.said("the agent asks the user", a.Question)
	case actuator.Note:
		t.claim(detailed, "the agent notes for itself: "+quoted(a.Text, 300))
		return
	case actuator.Zoom:
		t.fact(detailed, "the agent looks closer at a part of the screen")
		return
	default:
		if actuator.ForAgent(a) {
			t.err = fmt.Errorf("step %d: it is not known how to tell a judge of %s", t.step.n, actuator.Name(a))
			return
		}
		short, full := t.words(a, t.proposal.Seen)
		t.step.add(line{from: brief, short: "proposed, but not performed: " + short, full: "proposed, but not performed: " + full})
	}
	t.step.acted = true
}

// said tells something that the agent did by saying it: that it did is a fact, its
// words are a claim.
func (t *reporter) said(what, words string) {
	t.fact(brief, what)
	if words != "" {
		t.claim(brief, "in its words: "+quoted(words, 600))
	}
}

func (t *reporter) fact(from detail, text string) {
	t.step.add(line{from: from, short: text, full: text})
}
func (t *reporter) claim(from detail, text string) {
	t.step.add(line{from: from, short: text, full: text, claim: true})
}

// tell ends the step.
func (t *reporter) tell() *step {
	t.flush()
	s := t.step
	if t.After != nil {
		before, now := t.before[t.looked], t.saw[t.looked]
		if s.n == 0 && before == nil {
			t.fact(detailed, "the first look at the desktop: "+windows(now))
		}
		for _, text := range changes(before, now) {
			t.fact(full, text)
		}
	}
	for _, l := range s.lines {
		s.risky = s.risky || !l.claim && l.from < full && risky(l.full)
	}
	return s
}

// outcome says how a run ended.
func outcome(e *run.RunEnded) string {
	switch e.Outcome {
	case run.OutcomeDone:
		return "the agent said that the task is done"
	case run.OutcomeInfeasible:
		return "the agent said that the task cannot be done"
	case run.OutcomeOutOfSteps:
		return "the agent had no more steps"
	case run.OutcomeOutOfBudget:
		return "the agent's budget was used up"
	case run.OutcomeBlocked:
		return "the agent was blocked, and nobody was there to help"
	case run.OutcomeStuck:
		return "the agent was stuck: what it tried had no effect"
	case run.OutcomeStopped:
		return "it was stopped from outside"
	case run.OutcomeFailed:
		return "the agent's program broke"
	}
	return quoted(string(e.Outcome), 40)
}

// status says what became of an action.
func status(s actuator.Status) string {
	switch s {
	case actuator.Delivered:
		return "delivered, and something changed"
	case actuator.NoEffect:
		return "delivered, but nothing changed on the screen"
	case actuator.Refused:
		return "refused, so nothing was sent to the desktop"
	case actuator.Unknown:
		return "it may or may not have arrived"
	}
	return quoted(string(s), 40)
}

// pictureSize returns the size of a frame's picture.
func pictureSize(frame image.Point, side int) image.Point {
	long := max(frame.X, frame.Y)
	if long <= side {
		return frame
	}
	return image.Pt(max(frame.X*side/long, 1), max(frame.Y*side/long, 1))
}
