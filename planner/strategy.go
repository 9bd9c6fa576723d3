package planner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"desktop-agent/internal/canon"
	"desktop-agent/llm"
)

// ErrNobody is returned by who asks the user, whatever it is about, where nobody is there.
var ErrNobody = errors.New("nobody is there to ask")

// applied counts the revisions that changed something.
func (p *Plan) applied() (n int) {
	for _, r := range p.Revisions {
		if len(r.Changes) > 0 {
			n++
		}
	}
	return n
}

// reviseDeliberate is [Planner.Revise] of a deliberate plan.
func (p *Planner) reviseDeliberate(ctx context.Context, plan *Plan, r RevisionRequest) (*Plan, error) {
	p = p.using(r.Catalog)
	c := p.Config.WithDefaults()
	r.Guidance = llm.Excerpt(cleanLine(r.Guidance), maxGuidance)
	if r.Strategy = cmp.Or(r.Strategy, c.Strategy); r.Strategy == AskUser {
		var err error
		if r, err = p.asked(ctx, plan, r); err != nil {
			return nil, err
		}
	}
	if r.Strategy == Abort {
		return p.aborted(plan, r), nil
	}
	if most := cmp.Or(p.MaxRevisions, c.MaxRevisions); c.NoRevision || plan.applied() >= max(most, 0) {
		return nil, fmt.Errorf("%w: %d times", ErrRevisionsUsed, plan.applied())
	}
	step := plan.Step(r.StepID)
	if r.Strategy != ReplanRemaining && (step == nil || step.Status == Completed || step.Status == Passed) {
		return nil, fmt.Errorf("%s: the step %q is none that could be", r.Strategy, llm.Excerpt(r.StepID, 40))
	}
	switch r.Strategy {
	case SkipAndContinue:
		return p.skipping(plan, r)
	case ReplanRemaining, InsertRecovery:
		return p.replanned(ctx, plan, r)
	}
	return nil, fmt.Errorf("the strategy %q is not one of %s, %s, %s, %s, %s", llm.Excerpt(string(r.Strategy), 40),
		ReplanRemaining, InsertRecovery, SkipAndContinue, Abort, AskUser)
}

// asked has the user say what is to be done, and makes a strategy of it.
func (p *Planner) asked(ctx context.Context, plan *Plan, r RevisionRequest) (RevisionRequest, error) {
	if p.Ask == nil {
		return r, ErrNobody
	}
	question := "The plan does not work out: " + r.Guidance
	if s := plan.Step(r.StepID); s != nil {
		question = fmt.Sprintf("The step “%s” does not work out: %s", s.Goal, r.Guidance)
	}
	defer p.pause()()
	answer, err := p.Ask(ctx, question+". Answer skip to go on without it, abort to end here, or say what to do instead.")
	if err != nil {
		return r, fmt.Errorf("ask the user: %w", err)
	}
	r.Source, r.Trigger = "user", UserRequest
	switch answer = cleanLine(answer); strings.ToLower(strings.Trim(answer, ".! ")) {
	case "":
		return r, fmt.Errorf("ask the user: %w", ErrNobody)
	case "skip":
		r.Strategy = SkipAndContinue
	case "abort", "stop", "end":
		r.Strategy, r.Guidance = Abort, "the user says so"
	default:
		r.Strategy, r.Guidance = ReplanRemaining, llm.Excerpt("The user says: "+answer, maxGuidance)
	}
	return r, nil
}

// aborted ends a plan, and keeps what was done of it.
func (p *Planner) aborted(plan *Plan, r RevisionRequest) *Plan {
	next := plan.Clone()
	next.State, next.Reason, next.EndedAt = PlanFailed, "aborted", p.now()
	if r.Guidance != "" {
		next.Reason += ": " + r.Guidance
	}
	p.note(next, r, nil)
	return next
}

// note adds a revision to a plan.
func (p *Planner) note(next *Plan, r RevisionRequest, changes []Change) {
	next.Revisions = append(next.Revisions, Revision{
		Number: len(next.Revisions) + 1, Source: r.Source, Guidance: r.Guidance, Changes: changes, At: p.now(),
		Trigger: r.Trigger, Strategy: r.Strategy,
	})
}

// skipping leaves a step out on purpose: what needs it goes on.
func (p *Planner) skipping(plan *Plan, r RevisionRequest) (*Plan, error) {
	next := plan.Clone()
	s := next.Step(r.StepID)
	if s.Status == Skipped && s.Error == "" {
		return nil, ErrUnchanged
	}
	s.Status, s.Error = Skipped, ""
	next.revive(r.StepID)
	p.note(next, r, changed(plan, next))
	return next, nil
}

// revive has steps wait again that were skipped because they need a step.
func (p *Plan) revive(id string) {
	for _, dependent := range p.Dependents(id) {
		if s := p.Step(dependent); s.Status == Skipped && s.Error != "" {
			s.renew()
		}
	}
	p.Block()
}

// renew has a step begin anew.
func (s *Step) renew() {
	s.Status, s.Error, s.Attempts, s.Result, s.Evidence = Pending, "", 0, nil, nil
	s.StartedAt = time.Time{}
}

// open reports whether a revision may change a step: it waits, or it failed, or
// something that it needs did.
func (s *Step) open() bool {
	return s.Status == Pending || s.Status == Blocked || s.Status == Failed || s.Status == Skipped && s.Error != ""
}

// replans is the rest of a plan as a model writes it.
type replans struct {
	Steps []scriptStep `json:"steps" jsonschema:"first to last; the id of an open step that stays or changes, another one for a new step"`
}

type replanPrompt struct {
	stepsPrompt
	Done, Open, Guidance, History string
	Step                          string // that has to be recovered from; "" to write all that is open
}

// replanned has a model write what is open of a plan, or what has to be done before a
// step is tried again.
func (p *Planner) replanned(ctx context.Context, plan *Plan, r RevisionRequest) (*Plan, error) {
	m := &making{Planner: p, request: Request{Task: plan.Task, Now: r.Now}, record: new(Record), old: plan}
	data := replanPrompt{
		stepsPrompt: stepsPrompt{analysisPrompt: m.data(), MaxSteps: p.Config.WithDefaults().MaxSteps, OwnHome: p.Home != nil, Fallbacks: p.Config.NeedFallbacks},
		Guidance:    r.Guidance, History: strings.Join(r.History, "\n"),
	}
	data.Tools = p.Catalog.arguments()
	data.Done, data.Open = plan.told()
	if r.Strategy == InsertRecovery {
		data.Step = r.StepID
	}
	req, err := m.prompt("plan_revise", data)
	if err != nil {
		return nil, err
	}
	p.Config.apply(req, p.Config.Execution, 0.3, p.Model)
	ctx, cancel := p.Config.Execution.within(ctx)
	defer cancel()
	return ask(ctx, p.Model, req, func(v replans, last bool) (*Plan, error) {
		next, err := rewritten(plan, v, r)
		if err != nil {
			return nil, err
		}
		wrong := m.checkScreen(ctx, next, last)
		changes := changed(plan, next)
		if !slices.ContainsFunc(changes, func(c Change) bool {
			return c.Old == nil || c.New == nil || c.Type == "moved" || !sameStep(c.Old, c.New)
		}) {
			return nil, errors.Join(wrong, ErrUnchanged)
		}
		p.note(next, r, changes)
		return next, errors.Join(wrong, next.ValidateFor(p.Catalog, p.Config))
	})
}

// rewritten returns a plan with what a model wrote of it. What is done, or under way,
// is taken over as it is.
func rewritten(old *Plan, v replans, r RevisionRequest) (*Plan, error) {
	next := old.Clone()
	recovery := r.Strategy == InsertRecovery
	if !recovery {
		next.Steps = slices.DeleteFunc(next.Steps, func(s Step) bool { return s.open() })
	}
	steps, err := stepsOf(old, v, recovery)
	if err != nil {
		return nil, err
	}
	if len(steps) == 0 {
		return nil, errors.New("no step is left to do; write at least the one whose result shows the effect of the task")
	}
	if recovery {
		next.insert(r.StepID, steps)
	} else {
		next.Steps = append(next.Steps, steps...)
	}
	next.count()
	next.Block()
	return next, nil
}

// stepsOf makes steps of what a model wrote: those of open steps keep their IDs, others get
// IDs that were never used. What repeats a step that stays is left out.
func stepsOf(old *Plan, v replans, fresh bool) (written []Step, err error) {
	ids := map[string]string{}
	for _, s := range old.Steps {
		ids[s.ID] = s.ID
	}
	seen := map[string]bool{}
	next := idNumber(old.freeID())
	for _, one := range v.Steps {
		name := canonical(one.ID)
		step := one.step()
		step.tidy()
		was := old.Step(name)
		switch {
		case was != nil && !was.open():
			continue
		case name != "" && seen[name]:
			return nil, fmt.Errorf("two steps have the id %q; give each its own", llm.Excerpt(name, 40))
		case was != nil && !fresh:
			step.ID = name
		default:
			step.ID = fmt.Sprintf("s%d", next)
			next++
			if name != "" {
				ids[name] = step.ID
			}
		}
		seen[name] = true
		written = append(written, step)
	}
	for i := range written {
		s := &written[i]
		for j, need := range s.Needs {
			s.Needs[j] = cmp.Or(ids[canonical(need)], cleanLine(need))
		}
		if was := old.Step(s.ID); was != nil && sameStep(was, s) {
			*s = *was.clone()
			if s.Status == Failed || s.Status == Skipped {
				s.renew()
			}
		}
	}
	return written, nil
}

// insert puts steps before one that failed, which needs them now and is tried again.
func (p *Plan) insert(id string, recovery []Step) {
	at := slices.IndexFunc(p.Steps, func(s Step) bool { return s.ID == id })
	failed := &p.Steps[at]
	failed.renew()
	for _, s := range recovery {
		if !slices.ContainsFunc(recovery, func(o Step) bool { return slices.Contains(o.Needs, s.ID) }) {
			failed.Needs = append(failed.Needs, s.ID)
		}
	}
	p.revive(id)
	p.Steps = slices.Insert(p.Steps, at, recovery...)
	p.sort()
}

// sort has each step stand after what it needs, and leaves the order as it is else.
func (p *Plan) sort() {
	var sorted []Step
	placed := map[string]bool{}
	for rest := p.Steps; len(rest) > 0; {
		i := slices.IndexFunc(rest, func(s Step) bool {
			return !slices.ContainsFunc(s.Needs, func(id string) bool { return !placed[id] && p.Step(id) != nil })
		})
		if i < 0 {
			return // they go round; validation says so
		}
		placed[rest[i].ID] = true
		sorted = append(sorted, rest[i])
		rest = slices.Concat(rest[:i], rest[i+1:])
	}
	p.Steps = sorted
}

// told is what is done of a plan and what is open, for a model.
func (p *Plan) told() (done, open string) {
	var d, o strings.Builder
	for _, s := range p.Steps {
		if s.open() {
			data, err := json.Marshal(scriptOf(s))
			if err != nil {
				data = []byte(s.Goal) // it cannot be: these are texts
			}
			fmt.Fprintf(&o, "%s\n", data)
			if s.Status == Failed {
				fmt.Fprintf(&o, "  %s failed: %s\n", s.ID, llm.Excerpt(cleanLine(s.Error), maxGuidance))
			}
			continue
		}
		fmt.Fprintf(&d, "%s (%s) %s\n", s.ID, s.Status, s.Goal)
		if s.Result != nil && s.Result.Output != "" {
			fmt.Fprintf(&d, "  it gave: %s\n", llm.Excerpt(llm.OneLine(s.Result.Output), maxGuidance))
		}
	}
	return strings.TrimSpace(d.String()), strings.TrimSpace(o.String())
}

// scriptOf is a step as a model writes it.
func scriptOf(s Step) scriptStep {
	maybe := func(text string) *string {
		if text == "" {
			return nil
		}
		return &text
	}
	return scriptStep{
		ID: s.ID, Executor: s.Executor, Action: maybe(s.Action), Parameters: maybe(s.Parameters), Goal: s.Goal, DoneWhen: s.DoneWhen,
		Predicate: s.Predicate, Needs: append([]string{}, s.Needs...), Parallel: s.Parallel, Fallback: maybe(s.Fallback), Tokens: s.Tokens,
	}
}

// sameStep reports whether two versions of a step say the same, whatever was done of it.
func sameStep(a, b *Step) bool {
	return sameWords(a, b) && samePredicate(a, b) && cmp.Or(a.Executor, GUI) == cmp.Or(b.Executor, GUI) && a.Action == b.Action &&
		canon.JSON(a.Parameters) == canon.JSON(b.Parameters) && slices.Equal(a.Needs, b.Needs) && a.Parallel == b.Parallel && a.Fallback == b.Fallback
}

// changed returns all that a revision did: what is gone, what says something else or has
// to be done anew, what stands elsewhere, and what is new. The old version of a step that
// was changed is marked as [Revised].
func changed(before, after *Plan) (changes []Change) {
	for i := range before.Steps {
		if old := &before.Steps[i]; after.Step(old.ID) == nil {
			changes = append(changes, Change{Type: "removed", Old: old.clone()})
		}
	}
	common := func(in, other *Plan) (ids []string) {
		for _, s := range in.Steps {
			if s.open() && other.Step(s.ID) != nil {
				ids = append(ids, s.ID)
			}
		}
		return ids
	}
	was, is := common(before, after), common(after, before)
	moved := func(id string) bool {
		i := slices.Index(was, id)
		return i >= 0 && len(was) == len(is) && is[i] != id
	}
	for i := range before.Steps {
		old := &before.Steps[i]
		now := after.Step(old.ID)
		switch {
		case now == nil:
		case !sameStep(old, now), reopened(old, now):
			version := old.clone()
			version.Status = Revised
			changes = append(changes, Change{Type: "updated", Old: version, New: now.clone()})
		case moved(old.ID):
			changes = append(changes, Change{Type: "moved", Old: old.clone(), New: now.clone()})
		}
	}
	for i := range after.Steps {
		if now := &after.Steps[i]; before.Step(now.ID) == nil {
			changes = append(changes, Change{Type: "added", New: now.clone()})
		}
	}
	return changes
}

// reopened reports whether a step that was final is not any more, or the other way round.
func reopened(old, now *Step) bool {
	return old.Status.Final() != now.Status.Final() || old.Status != now.Status && now.Status.Final()
}
