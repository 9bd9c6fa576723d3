package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/monitor"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// A turn is one question to the actor and its answer.
type turn struct {
	question
	proposal
	stop string // why the world model says stop, after what came of the last batch; "" if it does not
}

// seen is what the world model saw of a batch, which the actor had not read when it made
// its next proposal.
type seen struct {
	failed   bool   // what was expected did not come
	missed   bool   // what the guard foresaw did not come
	guidance string // "" if none
}

// fatal reports whether an error of an adviser ends the run: a budget that is
// used up, a journal that cannot be written, a run that is being stopped, or the end of
// what was recorded of a run that is resumed. All else that goes wrong with advice is
// noted, and the run goes on without it.
func fatal(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || errors.Is(err, llm.ErrBudget) || errors.Is(err, run.ErrJournal) || errors.Is(err, run.ErrCut))
}

// makePlan asks for a plan, unless planning is off.
func (r *episode) makePlan(ctx context.Context) error {
	if r.Planner == nil {
		return nil
	}
	plan, err := r.Planner.Generate(ctx, r.task, r.now)
	if fatal(ctx, err) {
		return err
	}
	if err != nil || plan.Fallback {
		r.planTries++
	}
	if err != nil {
		r.log().WarnContext(ctx, "no plan", "err", err)
		return r.emit(ctx, run.Planned{Error: err.Error()})
	}
	r.plan = plan
	r.beginStep()
	return r.emit(ctx, run.Planned{Plan: plan.Clone()})
}

// planWanted reports whether it is time to try for a plan again: one failed, or
// was made without a model and nothing became of it. The second try is in step
// 2, the third in step 4.
func (r *episode) planWanted() bool {
	if r.Planner == nil || r.planTries == 0 || r.planTries >= cmp.Or(r.Settings.Agent.PlanTries, run.DefaultPlanTries) {
		return false
	}
	if r.plan != nil && (!r.plan.Fallback || r.plan.ProgressStep() > 1 || len(r.plan.Revisions) > 0) {
		return false
	}
	return r.turn > 1 && r.turn%(1<<r.planTries) == 0
}

// assessAndPropose asks the world model what the last batch did, and the actor
// what to do next, at the same time: a harmless step waits for one model call.
func (r *episode) assessAndPropose(ctx context.Context) (turn, error) {
	if r.planWanted() {
		if err := r.makePlan(ctx); err != nil {
			return turn{}, err
		}
	}
	if err := r.prove(ctx); err != nil {
		return turn{}, err
	}
	t := turn{question: r.question()}
	assessed, replied, err := r.askBoth(ctx, &t)
	if err == nil && replied {
		err = r.tellProposed(ctx, t)
	}
	if err != nil {
		return t, err
	}
	r.seen = seen{}
	if assessed == nil {
		return t, nil
	}
	if r.foresight() != nil { // that was asked about
		r.foreseen.Add(assessed.AsExpected)
		if assessed.AsExpected == worldmodel.No && r.last.stopped == "" {
			r.seen.missed = true
			r.Hand.Missed(ctx)
		}
	} else {
		r.hits.Add(assessed.AsExpected)
	}
	r.seen.failed = assessed.AsExpected == worldmodel.No && r.last.stopped == "" // the actor has read why
	switch {
	case assessed.Guidance == nil:
	case assessed.Stop != nil && *assessed.Stop:
		t.stop = *assessed.Guidance
	default:
		r.seen.guidance = *assessed.Guidance
	}
	return t, r.advance(ctx, assessed)
}

// ErrNeedless is why a question to the actor is ended: by what the world model was asked at
// the same time, the episode has reached what it is for.
var ErrNeedless = errors.New("the step is known to be done: the reply is not needed")

// askBoth asks both. Where the assessment ends the episode, the actor's reply is not waited
// for, unless somebody reads what it answers; one that has come is kept. replied says whether
// there is one. That does not depend on which of the two a replay hears first.
func (r *episode) askBoth(ctx context.Context, t *turn) (assessed *worldmodel.Assessment, replied bool, err error) {
	group, both := errgroup.WithContext(ctx)
	thinking, needless := context.WithCancelCause(both)
	defer needless(nil)
	ends, decided := false, make(chan struct{})
	group.Go(func() (err error) {
		defer close(decided)
		if assessed, err = r.assess(both); err == nil && r.endedBy(assessed) {
			ends = true
			needless(ErrNeedless)
		}
		return err
	})
	group.Go(func() (err error) {
		t.proposal, err = r.propose(both, thinking, t.question)
		if replied = err == nil; replied || !r.bounded || fatal(both, err) {
			return err
		}
		if <-decided; ends {
			t.proposal = proposal{}
			return nil
		}
		return err
	})
	return assessed, replied, group.Wait()
}

// endedBy reports whether an assessment ends a bounded episode whose actor need not answer.
// What only the picture shows has to be read first.
func (r *episode) endedBy(a *worldmodel.Assessment) bool {
	if !r.bounded || r.needed || a == nil || a.ProgressStep <= r.plan.ProgressStep() || r.Reader != nil && worldmodel.Unread(a.Evidence, a.Region, r.now) {
		return false
	}
	_, evidence, _ := worldmodel.Progress(r.plan, a, r.now, r.past.ofStep())
	return evidence != nil
}

// question is what the actor is asked now. The plan is a copy: it may advance
// while the actor thinks.
func (r *episode) question() question {
	q := question{task: r.task, plan: r.suggested(), history: &r.history, now: r.now, notes: r.notes}
	if region := r.last.zoom; region != nil {
		picture, err := r.now.Zoom(region.Rect(), r.now.Image.Mapping.Size)
		if err != nil {
			r.last.zoomFailed = err.Error()
		} else {
			q.zoom = &llm.Image{Data: picture.Data, Type: picture.Type, FrameID: r.now.FrameID + "-zoom"}
		}
	}
	q.report, q.signs = r.report(), r.signs()
	return q
}

// suggested is the plan that the actor is shown; nil for none. Of a bounded episode the task
// is the one step of it.
func (r *episode) suggested() *planner.Plan {
	if r.bounded {
		return nil
	}
	return r.plan.Clone()
}

// assess asks the world model about the last batch; nil if there was none, if there is
// no plan of which it could complete a step, or if it could not tell.
func (r *episode) assess(ctx context.Context) (*worldmodel.Assessment, error) {
	if r.before == nil || len(r.last.results) == 0 || r.plan == nil && !r.AssessAlways && r.foresight() == nil {
		return nil, nil
	}
	req := worldmodel.AssessRequest{
		Task: r.task, Plan: r.plan.Clone(), Expect: r.last.proposal.Expect, Results: r.last.words(), Before: r.before, Now: r.now,
		Past: r.past.ofStep(), Facts: r.past.saved(r.previous),
	}
	for _, result := range r.last.results {
		req.Actions = append(req.Actions, result.Action)
	}
	if f := r.foresight(); f != nil {
		req.Expect = f.Expected
	}
	a, err := r.World.Assess(ctx, req)
	if fatal(ctx, err) {
		return nil, err
	}
	if err != nil {
		r.log().WarnContext(ctx, "no assessment", "err", err)
		return nil, r.emit(ctx, run.Assessed{FrameID: r.now.FrameID, Error: err.Error()})
	}
	return a, nil
}

// advance completes a step of the plan if the claim of the world model holds on the
// fresh observation.
func (r *episode) advance(ctx context.Context, a *worldmodel.Assessment) error {
	e := run.Assessed{FrameID: r.now.FrameID, Assessment: a}
	if r.plan != nil {
		held, err := r.past.ofStep(), error(nil)
		if a.ProgressStep > r.plan.ProgressStep() {
			if held.Read, err = r.transcribe(ctx, a.Evidence, a.Region, held.Began); err != nil {
				return err
			}
		}
		step, evidence, why := worldmodel.Progress(r.plan, a, r.now, held)
		e.Why = why
		if evidence != nil {
			if err := r.plan.Reach(step, *evidence); err != nil {
				e.Why = err.Error()
			} else {
				e.Advanced = true
				r.beginStep()
			}
		}
		e.Plan = r.plan.Clone()
	}
	return r.emit(ctx, e)
}

// report tells the actor what became of its last batch.
func (r *episode) report() string {
	p := reportPrompt{Stopped: r.last.stopped, Answer: r.last.answer, Bad: r.last.bad, Denied: r.last.denied, Doubted: r.last.doubted, Reached: r.reached, ZoomFailed: r.last.zoomFailed, Alone: r.last.alone,
		Ignored: r.last.proposal.Ignored, Released: r.last.released, Failed: r.seen.failed, Guidance: r.seen.guidance}
	var lines []string
	for _, result := range r.last.results {
		if r.Actor.Format.untold(result) {
			continue
		}
		line := fmt.Sprintf("%d. %s: %s", len(lines)+1, r.Actor.Format.describe(result.Action, r.now), statusWords(result.Status))
		if result.Detail != "" {
			line += ". " + result.Detail
		}
		if lines = append(lines, line); result.Output == "" {
			continue
		}
		source := "clipboard"
		if actuator.KindOf(result.Action) == actuator.Service {
			source = "tool"
		}
		p.Outputs = append(p.Outputs, output{len(lines), source, result.Output})
	}
	p.Results = strings.Join(lines, "\n")
	text, err := prompts.Render("propose.report", p)
	if err != nil {
		r.log().Error("report", "err", err)
	}
	if r.News != nil {
		text = joined(r.News(), text)
	}
	return text
}

// signs tells the actor what the detectors notice now. It is no part of the report: what
// was noticed in an earlier turn need not stand in the conversation.
func (r *episode) signs() string {
	look := monitor.Turn{Step: r.Scope.Step(), Screen: r.screen}
	if r.plan != nil {
		look.ProgressStep = r.plan.ProgressStep()
	}
	p := signsPrompt{Noticed: noticed(monitor.Detect(append(slices.Clone(r.turns), look), nil, r.Detectors))}
	p.Saved = r.past.saved(r.previous)
	for _, signal := range monitor.Detect(nil, r.left(), r.Detectors) {
		p.Low = append(p.Low, signal.Detail)
	}
	text, err := prompts.Render("propose.signs", p)
	if err != nil {
		r.log().Error("signs", "err", err)
	}
	return text
}

// remember closes the turn: what the actor saw and said, and what came of it.
func (r *episode) remember(t turn, b batch) {
	r.past.thought(r.Scope.Step(), t.Thought)
	r.history.add(r.Actor.Format, r.Scope.Step(), t.question, t.proposal, b)
	r.last = b
}

// badReply lets the actor read why its reply was no action. Nothing was done,
// so the observation stays.
func (r *episode) badReply(t turn) error {
	r.badReplies++
	if limit := cmp.Or(r.MaxBadReplies, run.DefaultMaxBadReplies); r.badReplies >= limit {
		return fmt.Errorf("%d replies of the actor in a row are no action, the last because: %w", limit, errors.Join(t.cause, t.bad))
	}
	t.reply = shortened(t.reply)
	r.turns = append(r.turns, r.monitorTurn(t))
	r.trouble.came([]string{"no action: " + t.bad.Error()})
	r.remember(t, batch{bad: t.bad.Error()})
	return r.stuck()
}

// tellProposed tells of a proposal, and of what was found for words in it.
func (r *episode) tellProposed(ctx context.Context, t turn) error {
	if err := r.emit(ctx, proposed(t)); err != nil {
		return err
	}
	for _, g := range t.grounded {
		if err := r.emit(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

func proposed(t turn) run.Proposed {
	e := run.Proposed{FrameID: t.now.FrameID, Thought: t.Thought, Expect: t.Expect}
	for _, a := range t.Actions {
		e.Actions = append(e.Actions, run.Recorded{Action: a})
	}
	if t.bad != nil {
		e.Error = t.bad.Error()
	}
	e.Candidates, e.Agreed, e.Why = t.candidates, t.agreed, t.why
	return e
}

// revise asks for a new plan because of guidance. That it fails, or that the
// plan was changed often enough, stops nothing.
func (r *episode) revise(ctx context.Context, source, guidance string) error {
	if r.plan == nil || r.Planner == nil {
		return nil
	}
	plan, err := r.Planner.Revise(ctx, r.plan, planner.RevisionRequest{
		Source: source, Guidance: guidance, Now: r.now, History: r.history.words(20),
	})
	if fatal(ctx, err) {
		return err
	}
	if errors.Is(err, planner.ErrUnchanged) { // it is good as it is
		return nil
	}
	if err != nil {
		r.log().WarnContext(ctx, "plan not revised", "err", err)
		return r.emit(ctx, run.Planned{Plan: r.plan.Clone(), Error: err.Error()})
	}
	r.plan, r.extended, r.reached = plan, false, false
	r.beginStep()
	return r.emit(ctx, run.Planned{Plan: plan.Clone()})
}

// maxBadReply is how many bytes of a reply that is no action are kept, for the
// actor to see what it wrote: the rest would be paid for in every turn.
const maxBadReply = 4000

// maxState is how many bytes a provider may keep of such a reply: reasoning, mostly.
const maxState = 100_000

// shortened returns a bad reply as it goes into the conversation: not longer
// than it may be, and with calls that an endpoint takes back.
func shortened(m llm.Message) llm.Message {
	m.Parts, m.Calls = slices.Clone(m.Parts), slices.Clone(m.Calls)
	for i, part := range m.Parts {
		if text, ok := part.(llm.Text); ok && len(text) > maxBadReply {
			m.Parts[i] = llm.Text(strings.ToValidUTF8(string(text[:maxBadReply]), "") + "…")
		}
	}
	if m.State != nil && len(m.State.Data) > maxState {
		m.State = nil
	}
	for i, c := range m.Calls {
		if len(c.Arguments) > maxBadReply || !json.Valid([]byte(c.Arguments)) {
			m.Calls[i].Arguments = "{}"
		}
	}
	return m
}
