package offline

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"sync"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/agent"
	"desktop-agent/llm"
	"desktop-agent/monitor"
	"desktop-agent/planner"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/worldmodel"
)

// errDiverged ends a replay that does something else than was recorded: what
// the desktop would show then, nobody knows.
var errDiverged = errors.New("the run goes another way than the recorded one")

// A recording stands for all that a run meets: the desktop, the models and the
// journal. It plays the recorded ones, and compares what the agent makes of it.
// It is a [run.Desktop], a [run.Device], a [run.Guard], an [llm.Model] and a
// [run.Journal].
type recording struct {
	run    *replay.Run
	guard  string          // of the recorded run
	resume bool            // the run goes on live where the recording ends
	stale  map[string]bool // frames that are not looked at
	opt    Options
	want   int                     // of the frames
	reader *reader                 // while the replay runs
	cancel context.CancelCauseFunc // of the agent's context
	turns  func() int              // how many steps an engine has begun, its events apart; nil of an agent, whose events tell

	mu        sync.Mutex // guards the fields below
	steps     map[int]*recordedStep
	read      int // the newest step read; -1 before the first
	ruled     int // calls of the guard, which are not made again
	readAll   bool
	replies   replay.Replies
	step      int                 // of the agent
	acting    int                 // index of the action that is performed
	newest    *screen.Observation // that the agent has seen
	previous  *screen.Observation // the one before
	seenIn    int                 // the step of newest
	name      string              // of its screen
	last      time.Time           // of the newest recorded event that the replay came to
	came      time.Time           // the same, of those that are compared
	screens   monitor.Screens
	over      bool // errOver was given
	exchanges map[conversation]*exchange
	broken    error
	result    Result
}

func newRecording(stored *replay.Run, o *Options) *recording {
	want := nothing
	switch {
	case o.Journal != nil:
		want = everything
	case o.Pixels:
		want = pixels
	}
	asked := stored.Info.Asked
	return &recording{
		run: stored, guard: asked.Guard, opt: *o, want: want, steps: map[int]*recordedStep{}, exchanges: map[conversation]*exchange{}, read: -1,
		screens: monitor.Screens{Window: asked.Settings.Agent.Detectors.Window},
	}
}

// open begins to read the recording, until close.
func (t *recording) open() { t.reader = newReader(t.run, t.want) }

func (t *recording) close() { t.reader.close() }

// now is the time of the newest observation: a plan is made when it was taken.
func (t *recording) now() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.newest == nil {
		return time.Time{}
	}
	return t.newest.At
}

// load reads on until a step is in memory, or the recording ends. t.mu is held.
func (t *recording) load(step int) error {
	for t.read < step && !t.readAll && t.broken == nil {
		s, err := t.reader.next()
		switch {
		case err != nil:
			t.broken = err
		case s == nil:
			t.readAll = true
		default:
			all := len(s.Calls)
			s.Calls = slices.DeleteFunc(s.Calls, answered)
			t.ruled += all - len(s.Calls)
			s.observations = slices.DeleteFunc(s.observations, func(o *observation) bool { return t.stale[o.FrameID] })
			t.read, t.steps[s.N] = s.N, s
			t.replies.Add(s.Step)
		}
	}
	return t.broken
}

// present returns what was recorded of the step that is being done; nil if nothing was. A
// tool is asked for before there is an event of its step. t.mu is held.
func (t *recording) present() (*recordedStep, error) {
	if t.turns == nil {
		return t.stepped(t.step)
	}
	return t.stepped(max(t.step, t.turns()))
}

// stepped returns what was recorded of a step; nil if nothing was. t.mu is held.
func (t *recording) stepped(n int) (*recordedStep, error) {
	err := t.load(n)
	return t.steps[n], err
}

// ending reports whether the recording was ended from outside, right where the
// agent is now. t.mu is held.
func (t *recording) ending() bool {
	// The step of the agent is not known before its first event.
	at := max(t.step, t.seenIn+1)
	if err := t.load(at + 1); err != nil || !t.readAll || at < t.read {
		return false
	}
	last := t.steps[t.read]
	if last == nil || last.Ended == nil {
		return true
	}
	switch last.Ended.Outcome {
	case run.OutcomeStopped, run.OutcomeOutOfBudget, run.OutcomeFailed:
		return true
	}
	return false
}

// astray ends the replay: there is nothing recorded for what the agent does.
// t.mu is held.
func (t *recording) astray(want, got string) error {
	if t.broken != nil {
		return t.broken
	}
	if t.resume {
		if t.ends() {
			return errOver
		}
		t.differ(Difference{Step: t.step, Want: want, Got: got})
		t.broken = fmt.Errorf("%w in step %d: recorded is %s, now it is %s", errDiverged, t.step, want, got)
		return t.broken
	}
	if t.ending() {
		t.over = true
		t.cancel(errOver)
		return errOver
	}
	t.differ(Difference{Step: t.step, Want: want, Got: got})
	t.cancel(errDiverged)
	return errDiverged
}

func (t *recording) differ(d Difference) {
	t.result.Different++
	if len(t.result.Differences) < kept {
		t.result.Differences = append(t.result.Differences, d)
	}
}

// Observe shows the next recorded screen of the step.
func (t *recording) Observe(ctx context.Context) (*screen.Observation, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s, err := t.present()
	if err != nil {
		return nil, err
	}
	if s == nil || s.observed == len(s.observations) {
		return nil, t.astray("no further look at the screen", "one more look at the screen")
	}
	o, err := s.observations[s.observed].wait(ctx)
	if err != nil {
		return nil, err
	}
	t.name = s.observations[s.observed].Screen
	if t.opt.Pixels {
		was := t.name
		t.name = t.screens.Name(o.Bare)
		if was != t.name {
			t.differ(Difference{Step: t.step, Kind: "observed", Want: "screen " + was, Got: "the pixels of screen " + t.name})
		}
	}
	s.observed++
	t.previous, t.newest, t.seenIn = t.newest, o, s.N
	return o, nil
}

// Capture shows what was seen last; what is made of it, the recording tells.
func (t *recording) Capture(ctx context.Context) (run.Capture, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return run.Capture{Bare: t.newest.Bare, Windows: t.newest.Windows}, context.Cause(ctx)
}

// act returns what was recorded of an action of the agent's step. t.mu is held.
func (t *recording) act(index int) *run.Deed {
	s, err := t.present()
	if err != nil || s == nil {
		return nil
	}
	for _, a := range s.Acts {
		if a.Index == index {
			return a
		}
	}
	return nil
}

// Do ends an action as it ended in the recorded run.
func (t *recording) Do(ctx context.Context, a actuator.Action, _ actuator.Frame) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	act := t.act(t.acting)
	switch {
	case act == nil:
		return "", t.astray("no such action", actuator.DescribeFull(a))
	case !actuator.Same(act.Action.Action, a):
		return "", t.astray(actuator.DescribeFull(act.Action.Action), actuator.DescribeFull(a))
	case act.Acted == nil:
		return "", t.astray("the run ends while acting", actuator.DescribeFull(a))
	}
	switch act.Acted.Status {
	case actuator.Refused:
		return "", &ended{act.Acted.Detail, actuator.ErrRefused}
	case actuator.Unknown:
		return "", &ended{act.Acted.Detail, nil}
	case actuator.NoEffect:
		if act.Acted.Detail != "" {
			return "", &ended{act.Acted.Detail, actuator.ErrNoEffect}
		}
	}
	if actuator.KindOf(a) == actuator.Pause {
		return act.Acted.Detail, context.Cause(ctx)
	}
	return act.Acted.Output, context.Cause(ctx)
}

// An ended error is how an action ended in the recorded run.
type ended struct {
	detail string
	kind   error
}

func (e *ended) Error() string { return e.detail }
func (e *ended) Unwrap() error { return e.kind }

// Name names the guard of the recorded run.
func (t *recording) Name() string { return t.guard }

// Start is of [run.Starter].
func (t *recording) Start(context.Context, string) {}

// Judged tells what the recorded run's guard made of the task.
func (t *recording) Judged(context.Context) *run.TaskJudged {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, err := t.present()
	if err != nil || s == nil || len(s.Judged) == 0 {
		return nil
	}
	return &s.Judged[0]
}

// Allow refuses what the recorded run's guard refused, with what it ruled, and has that done
// which a person chose in place of an action.
func (t *recording) Allow(_ context.Context, in run.Intent) (ruling run.Guarded, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, err := t.present()
	if err != nil || s == nil {
		return ruling, err
	}
	for _, g := range s.Guarded {
		if g.Index == in.Index {
			ruling = g
		}
	}
	for _, r := range s.Refused {
		if r.Index == in.Index && actuator.Same(r.Action.Action, in.Action) {
			return ruling, errors.New(r.Reason)
		}
	}
	if act := t.act(in.Index); act != nil && ruling.Allowed && ruling.Reason == run.ChoseAnother && proposed(act, in.Action) {
		return ruling, &run.Instead{Action: act.Action.Action}
	}
	return ruling, nil
}

// proposed reports whether an action is the one that was proposed where another may have been
// done; it may be any where nothing was, as a tool was called.
func proposed(act *run.Deed, a actuator.Action) bool {
	p := act.Proposal
	return p == nil || act.Index < len(p.Actions) && actuator.Same(p.Actions[act.Index].Action, a)
}

// Preview allows what was proposed next in the recorded run: of several candidates, the one
// that was chosen. The journal does not tell what was ruled on the others.
func (t *recording) Preview(_ context.Context, in run.Intent) (ruling run.Guarded, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, ok := t.proposal()
	switch {
	case t.broken != nil:
		return ruling, t.broken
	case !ok:
		return ruling, errors.New("nothing was proposed in the recorded run")
	case in.Index < len(p.Actions) && actuator.Same(p.Actions[in.Index].Action, in.Action):
		return ruling, nil
	}
	return ruling, errors.New("another one was chosen in the recorded run")
}

// proposal returns the next recorded proposal; ok is false if there is none. t.mu is held.
func (t *recording) proposal() (p run.Proposed, ok bool) {
	kind := run.Kind(p)
	for _, n := range t.around() {
		if s := t.steps[n]; s != nil && n >= t.step { // of one before, all were met
			if e := nth(s.Events, kind, s.met[kind]); e != nil {
				return e.Data.(run.Proposed), true
			}
		}
	}
	return p, false
}

// Accept tells what came of the safety checks on a call.
func (t *recording) Accept(_ context.Context, c run.Concern) (by string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, err := t.present()
	if err != nil || s == nil {
		return "", errors.Join(err, errors.New("the recording has no such step"))
	}
	for _, e := range s.Checked {
		if e.Call != c.Call {
			continue
		}
		if e.Accepted {
			return e.By, nil
		}
		return "", errors.New(e.Reason)
	}
	return "", errors.New("nobody was asked in the recorded run")
}

// answered reports whether what came of a call is an event of its own, so that it is taken
// from the recording and nobody asks again: what a guard ruled, and what was read in a
// region of the picture.
func answered(c *replay.Call) bool {
	return run.GuardPurpose(c.Purpose) || c.Purpose == worldmodel.PurposeTranscribe
}

// ScreenName names the newest screen.
func (t *recording) ScreenName(*screen.Observation) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.name
}

// Recall does nothing: the names are the recorded ones.
func (t *recording) Recall(*image.RGBA, string) {}

// Locate returns an action as it was performed: where its elements were then.
func (t *recording) Locate(_ context.Context, aim run.Aim) (actuator.Action, string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.stopped(aim.Done); s != nil && s.Refused {
		return aim.Action, s.Reason, nil
	}
	if !actuator.ByHandle(aim.Action) {
		return aim.Action, "", nil
	}
	if act := t.act(len(aim.Done)); act != nil && actuator.Same(act.Action.Action, aim.Action) {
		return act.Action.Action, "", nil
	}
	return aim.Action, "", nil // the guard refused it, or why it was not done is told by Surprise
}

// Surprise returns why the batch ended before an action.
func (t *recording) Surprise(_ context.Context, aim run.Aim) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.stopped(aim.Done); s != nil {
		return s.Reason
	}
	return ""
}

// stopped returns why the batch ended after these actions; nil if it did not.
func (t *recording) stopped(done []actuator.Action) *run.BatchStopped {
	index := len(done)
	s, err := t.present()
	if err != nil || s == nil || s.Stopped == nil {
		return nil
	}
	begun := 0 // of the batch up to that action: what it held down went up behind its end
	for _, a := range done {
		if actuator.KindOf(a) == actuator.Memory { // of a note there is no act
			begun++
		}
	}
	for _, a := range s.Acts {
		if a.Index <= index {
			begun++
		}
	}
	for _, r := range s.Refused {
		if r.Index <= index {
			begun++
		}
	}
	if begun != index {
		return nil
	}
	return s.Stopped
}

// WindowChange tells nothing: why a batch ended is asked before the next action.
func (t *recording) WindowChange(_, _ run.Capture) string { return "" }

// Unchanged reports whether an action changed nothing: by the journal or, where
// only one action lies between two frames, by these.
func (t *recording) Unchanged(index int, _ func() bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, err := t.present()
	if err == nil && s != nil && t.opt.Pixels && len(s.Acts) == 1 && t.previous != nil {
		return run.NothingChanged(s.Acts[0].Action.Action, 0, t.previous.Bare, t.previous, t.newest)
	}
	act := t.act(index)
	return act != nil && act.Acted != nil && (act.Status() == actuator.NoEffect || act.Acted.Detail == run.NothingSeen)
}

// answer gives what the user answered.
func (t *recording) answer(_ context.Context, question string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, err := t.present()
	if err != nil {
		return "", err
	}
	if s != nil {
		for _, e := range s.Events {
			if a, ok := e.Data.(run.Answered); ok && a.Question == question {
				return a.Answer, nil
			}
		}
		if s.Ended != nil && s.Ended.Outcome == run.OutcomeBlocked {
			return "", errors.New("nobody answered")
		}
	}
	return "", planner.ErrNobody
}

// Complete gives the reply recorded at this place, also where it is not needed any more: the
// recorded run may have had it by then.
func (t *recording) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if err := context.Cause(ctx); err != nil && !errors.Is(err, agent.ErrNeedless) {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	// The agent may be a step further than its last event.
	if err := t.load(max(t.seenIn, t.step) + 1); err != nil {
		return nil, err
	}
	c, err := t.replies.Take(t.seenIn, req.Role, req.Purpose)
	if err != nil {
		if req.Role != llm.Actor && !(t.resume && t.ends()) && !t.ending() { // advice: the run goes on without it
			t.differ(Difference{Step: t.step, Want: "no further call", Got: err.Error()})
			return nil, err
		}
		return nil, t.astray("no further call", err.Error())
	}
	t.result.Asked++
	t.exchange(req.Role, req.Purpose).call = c
	return c.Answer()
}

// finish compares the end, and completes the result.
func (t *recording) finish(result *Result) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.compareStep()
	t.result.Unused += t.replies.Drop(t.read + 2)
	left := 0
	for n := range t.steps {
		if n > t.step {
			left++ // read, and not come to
		}
	}
	for t.broken == nil && !t.readAll {
		before := t.read
		if t.load(t.read+1) == nil && t.read > before {
			left++
			t.result.Unused += len(t.steps[t.read].Calls)
			delete(t.steps, t.read)
		}
	}
	if left > 0 && !t.over {
		t.differ(Difference{Step: t.step, Want: fmt.Sprintf("%d more steps", left), Got: "the run ends"})
	}
	if t.over {
		t.result.Unused = 0
	}
	t.result.Result, t.result.Err, t.result.Over = result.Result, result.Err, t.over
	*result = t.result
	return t.broken
}
