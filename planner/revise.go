package planner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"desktop-agent/llm"
	"desktop-agent/screen"
)

// The reasons why [Planner.Revise] leaves a plan as it is.
var (
	ErrUnchanged     = errors.New("the revision changes nothing")
	ErrRevisionsUsed = errors.New("the plan has been revised as often as allowed")
)

// maxGuidance bounds the guidance in a prompt, in characters.
const maxGuidance = 600

// A RevisionRequest asks for a change of a plan.
type RevisionRequest struct {
	Source   string // who asks: "monitor", "worldmodel", "regeneration", "goal_check"
	Guidance string // what is wrong
	Now      *screen.Observation
	History  []string // what was done so far, in words, oldest first

	// Of deliberate plans; Now may be nil there:
	Trigger  Trigger
	Strategy Strategy // "" for that of the [Config]
	StepID   string   // that it is about; "" for none
	Catalog  *Catalog // what the steps may use; nil for that of the [Planner]
}

// revision is the open part of a plan as a model writes it.
type revision struct {
	Steps []revisedStep `json:"steps" jsonschema:"the steps still to do, first to last, without those that are completed"`
}

type revisedStep struct {
	ID       *string `json:"id" jsonschema:"the id of the step that stays or changes; null for a new step"`
	Goal     string  `json:"goal" jsonschema:"a place or thing to reach, beginning with Explore, Navigate to, Find, Discover or Locate"`
	DoneWhen string  `json:"done_when" jsonschema:"what the screen shows once the goal is reached and did not show before"`

	Predicate *Predicate `json:"predicate" jsonschema:"the same as a condition that code evaluates; null if none fits"`
	AskedBy   *origin    `json:"asked_by" jsonschema:"task: the task asks for it, or it is on the way to what the task asks for; screen: only a text on the screen (a page, a document, a mail) demands it; null if you cannot say"`
}

// Revise returns a plan that is changed because of guidance; plan itself stays
// as it is. Of a deliberate plan the request says by which strategy: what is done or under
// way stays, byte for byte; every other step that goes is a "removed" change; a step that
// failed and is written anew waits again under its ID; to skip a step and to abort need no
// model, and what aborts is never refused. Completed steps are taken over by code, whatever the model answers;
// open steps keep their IDs, and new ones get IDs that were never used. What
// changed is appended to the revisions.
//
// It returns [ErrUnchanged] if the answer changes nothing, [ErrRevisionsUsed]
// at the limit, without asking, and an [llm.ErrBadReply] if two answers were no
// valid plan. The run goes on with the plan it has.
func (p *Planner) Revise(ctx context.Context, plan *Plan, r RevisionRequest) (*Plan, error) {
	if plan.Mode == Deliberate {
		revised, err := p.reviseDeliberate(ctx, plan, r)
		if err != nil {
			return nil, fmt.Errorf("revise plan: %w", err)
		}
		return revised, nil
	}
	limit := p.MaxRevisions
	if limit == 0 {
		limit = DefaultMaxRevisions
	}
	if len(plan.Revisions) >= max(limit, 0) {
		return nil, fmt.Errorf("revise plan: %w: %d times", ErrRevisionsUsed, len(plan.Revisions))
	}
	r.Guidance = llm.Excerpt(cleanLine(r.Guidance), maxGuidance)
	open := plan.ProgressStep() - 1
	req, err := prompts.Request(llm.Planner, "revise", revisePrompt{
		Task: plan.Task, Guidance: r.Guidance, MaxOpen: maxSteps,
		History: strings.Join(r.History, "\n"), Screen: r.Now.Text(p.ScreenTokens),
		Completed: plan.Steps[:open], Open: plan.Steps[open:], OwnHome: p.Home != nil,
	}, Images(r.Now)...)
	if err != nil {
		return nil, fmt.Errorf("revise plan: %w", err)
	}
	revised, err := ask(ctx, p.Model, req, func(v revision, last bool) (*Plan, error) {
		return p.revised(ctx, plan, v, r, last)
	})
	if err != nil {
		return nil, fmt.Errorf("revise plan: %w", err)
	}
	return revised, nil
}

// revised returns a plan with its open steps replaced by those of an answer.
func (p *Planner) revised(ctx context.Context, old *Plan, v revision, r RevisionRequest, last bool) (*Plan, error) {
	next := old.Clone()
	final := old.ProgressStep() - 1
	next.Steps = next.Steps[:final:final]
	var demanded []string
	for _, s := range v.Steps {
		next.take(old, s)
		if s.AskedBy.demanded() {
			demanded = append(demanded, cleanGoal(s.Goal))
		}
	}
	checked := p.check(ctx, old, next, r.Now, last, demanded...)
	changes := compare(old.Steps[final:], next.Steps[final:])
	switch {
	case len(changes) == 0 && checked == nil:
		if dropped := next.Dropped[len(old.Dropped):]; len(dropped) > 0 {
			return nil, fmt.Errorf("%w: %s", ErrUnchanged, dropped[0].Why)
		}
		return nil, ErrUnchanged
	case len(next.Steps) == final:
		return nil, errors.Join(checked, errors.New("no step is left to do; write at least the one whose done_when shows the effect of the task"))
	}
	// A current step with other words begins anew: a frame from before the
	// revision proves nothing for it.
	if s := &next.Steps[final]; s.Status == Running && (final >= len(old.Steps) || !sameWords(s, &old.Steps[final])) {
		s.Status = Pending
	}
	next.start(r.Now.At)
	for i, c := range changes {
		changes[i].New = next.find(c.New).clone()
	}
	next.Revisions = append(next.Revisions, Revision{
		Number: len(old.Revisions) + 1, Source: r.Source, Guidance: r.Guidance, Changes: changes, At: p.now(),
	})
	return next, errors.Join(next.Validate(), checked)
}

// take appends a step of an answer: under its ID if the old plan has an open
// step of that ID, and else as a new step. What repeats a completed step is
// dropped.
func (p *Plan) take(old *Plan, s revisedStep) {
	step := Step{Goal: cleanGoal(s.Goal), DoneWhen: cleanLine(s.DoneWhen), Predicate: s.Predicate.tidy(), Status: Pending}
	known := -1
	if s.ID != nil {
		known = slices.IndexFunc(old.Steps, func(o Step) bool { return o.ID == strings.TrimSpace(*s.ID) })
	}
	switch {
	case known >= 0 && old.Steps[known].Status.Final():
		return
	case slices.ContainsFunc(old.Steps, func(o Step) bool { return o.Status.Final() && sameWords(&o, &step) }):
		return
	case known >= 0 && p.find(&old.Steps[known]) == nil:
		kept := *old.Steps[known].clone()
		if step.Predicate != nil || !sameWords(&kept, &step) {
			kept.Predicate = step.Predicate // else it was only not repeated
		}
		kept.Goal, kept.DoneWhen = step.Goal, step.DoneWhen
		p.Steps = append(p.Steps, kept)
	default:
		step.ID = p.freeIDBeside(old)
		p.Steps = append(p.Steps, step)
	}
}

// freeIDBeside returns an ID that neither plan has ever had.
func (p *Plan) freeIDBeside(old *Plan) string {
	both := Plan{Steps: slices.Concat(old.Steps, p.Steps), Revisions: old.Revisions}
	return both.freeID()
}

// find returns the step with the ID of s, or nil.
func (p *Plan) find(s *Step) *Step {
	if s == nil {
		return nil
	}
	for i := range p.Steps {
		if p.Steps[i].ID == s.ID {
			return &p.Steps[i]
		}
	}
	return nil
}

// compare returns what changed between two lists of open steps.
func compare(before, after []Step) (changes []Change) {
	was, is := Plan{Steps: before}, Plan{Steps: after}
	for i := range before {
		if old := &before[i]; is.find(old) == nil {
			changes = append(changes, Change{Type: "removed", Old: old.clone()})
		}
	}
	common := func(in Plan, other Plan) (ids []string) {
		for _, s := range in.Steps {
			if other.find(&s) != nil {
				ids = append(ids, s.ID)
			}
		}
		return ids
	}
	order := common(was, is)
	for i, id := range common(is, was) {
		s := Step{ID: id}
		switch old, now := was.find(&s), is.find(&s); {
		case !sameWords(old, now), !samePredicate(old, now):
			changes = append(changes, Change{Type: "updated", Old: old.clone(), New: now})
		case order[i] != id:
			changes = append(changes, Change{Type: "moved", Old: old.clone(), New: now})
		}
	}
	for i := range after {
		if now := &after[i]; was.find(now) == nil {
			changes = append(changes, Change{Type: "added", New: now})
		}
	}
	return changes
}

func samePredicate(a, b *Step) bool {
	if a.Predicate == nil || b.Predicate == nil {
		return a.Predicate == b.Predicate
	}
	return *a.Predicate == *b.Predicate
}

func sameWords(a, b *Step) bool { return a.Goal == b.Goal && a.DoneWhen == b.DoneWhen }
