package agent

import (
	"context"
	"fmt"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/worldmodel"
)

// A past is what the evidence for steps and for the goal is held against, and what the
// check of the goal knows of what was done.
type past struct {
	first    *screen.Observation // of the run
	began    *screen.Observation // when the current step became current
	step     string              // the ID of the current step
	typed    []string            // texts that were entered, oldest first
	unmet    []string            // what the checks of the goal missed, oldest first
	met      []string            // what those quoted that found it reached, oldest first
	thoughts []string            // of the actor, oldest first, with the step
	deeds    []deed              // oldest first
	when     map[int]time.Time   // for each step with a deed, when the frame was taken that it was decided on
	files    planner.Files       // as of the newest look
}

// Limits of what is kept in mind.
const (
	maxTyped    = 100 // of the older ones none is still in a field, or it was there when the step began
	maxDeeds    = 200
	maxThoughts = 20
	maxThought  = 240 // characters of one
)

// looked keeps in mind what was there when the run and the current step began.
func (p *past) looked(now *screen.Observation, step string) {
	if p.first == nil {
		p.first = told(now)
	}
	if p.began == nil || p.step != step {
		p.began, p.step = told(now), step
	}
}

// did keeps in mind what an action of a batch was: done are those before it, and now is
// what it was chosen on.
func (p *past) did(step int, a actuator.Action, done []actuator.Action, act *run.Act, now *screen.Observation) {
	if text, ok := actuator.Entered(a); ok && text != "" {
		p.typed = append(p.typed, text)
		p.typed = p.typed[max(0, len(p.typed)-maxTyped):]
	}
	kind := deedOf(a, done, now)
	if kind == noDeed {
		return
	}
	if p.when == nil {
		p.when = map[int]time.Time{}
	}
	p.when[step] = now.At
	p.keep(deed{kind: kind, step: step, words: actuator.Describe(a), act: act}, now)
}

// thought keeps in mind what the actor thought.
func (p *past) thought(step int, text string) {
	text = llm.OneLine(text)
	if text == "" {
		return
	}
	p.thoughts = append(p.thoughts, fmt.Sprintf("%d. %s", step, llm.Excerpt(text, maxThought)))
	p.thoughts = p.thoughts[max(0, len(p.thoughts)-maxThoughts):]
}

// ofStep is what the evidence for a step is held against.
func (p *past) ofStep() worldmodel.Past {
	return worldmodel.Past{Began: p.began, First: p.first, Typed: p.typed, Files: p.files, Unsaved: p.unsaved(p.files)}
}

// ofRun is what the evidence for the goal is held against.
func (p *past) ofRun(plan *planner.Plan) worldmodel.Past {
	held := p.ofStep()
	held.Began = p.first
	if plan != nil && len(plan.Steps) > 0 {
		held.Effect = plan.Steps[len(plan.Steps)-1].Predicate
	}
	return held
}

// told is an observation without the pictures that it is not held against.
func told(o *screen.Observation) *screen.Observation {
	c := *o
	c.Frame, c.Image.Data = nil, nil
	return &c
}

// beginStep keeps in mind what was there if another step became the current one.
func (r *episode) beginStep() {
	step := ""
	if r.plan != nil {
		if s := r.plan.Current(); s != nil {
			step = s.ID
		}
	}
	r.past.looked(r.now, step)
}

// lookAtFiles takes in the files of the home, where it is the run's own. That they
// cannot be looked at stops nothing: then no file proves anything.
func (r *episode) lookAtFiles(ctx context.Context) error {
	r.past.files = planner.Files{Own: r.Home != nil, Edited: r.past.edited(r.now.At)}
	if r.Home == nil {
		return nil
	}
	list, err := r.Home.Files(ctx, r.plan.FilesNamed(), r.past.first.At)
	if fatal(ctx, err) {
		return err
	}
	if err != nil {
		r.log().WarnContext(ctx, "files of the home", "err", err)
	}
	r.past.files.List = list
	return nil
}

// prove completes the steps of the plan whose predicates hold on the newest observation.
// No model is asked, so the actor reads of it in its next question.
func (r *episode) prove(ctx context.Context) error {
	if r.plan == nil || r.plan.Exhausted() {
		return nil
	}
	r.past.files.Edited = r.past.edited(r.now.At)
	if len(r.plan.FilesNamed()) > 0 {
		if err := r.lookAtFiles(ctx); err != nil {
			return err
		}
	}
	proofs := r.plan.Prove(r.past.ofStep().State(r.now))
	if len(proofs) == 0 {
		return nil
	}
	r.beginStep()
	e := run.Progressed{FrameID: r.now.FrameID, Plan: r.plan.Clone()}
	for _, p := range proofs {
		e.Why = append(e.Why, p.Why)
	}
	return r.emit(ctx, e)
}

// transcribe has the region read where an answer says that its quote stands in the
// picture, if the grade of the quote hangs on it; nil if it does not, or nobody could.
func (r *episode) transcribe(ctx context.Context, quote string, region *worldmodel.Region, began *screen.Observation) (*worldmodel.Transcript, error) {
	if r.Reader == nil || !worldmodel.Unread(quote, region, r.now) {
		return nil, nil
	}
	t, err := r.Reader.Transcribe(ctx, r.now, began, *region)
	if fatal(ctx, err) {
		return nil, err
	}
	e := run.Transcribed{FrameID: r.now.FrameID, Region: region.Rect(), Text: t.Text, By: t.By, Same: t.Same}
	if err != nil {
		r.log().WarnContext(ctx, "region not read", "err", err)
		e.Error = err.Error()
		return nil, r.emit(ctx, e)
	}
	t.Alike = r.Settings.Agent.ReadAlike
	return &t, r.emit(ctx, e)
}
