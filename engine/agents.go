package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"desktop-agent/agent"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
)

// doAgent has an agent of its own do a step. It starts with nothing but what it is given
// here; what the run may not do it may not do either, as it acts by a hand with the same
// guard, and spends the same budget.
func (x *Execution) doAgent(ctx context.Context, a *attempt, d *ended, fallback string) outcome {
	e := x.engine
	if most := e.agentDepth(); e.depth+1 > most {
		return outcome{err: fmt.Errorf("%w %d deep", errTooDeep, most)}
	}
	who := e.name() + "/" + a.step.ID
	session, release, err := e.seat(ctx, a, who)
	if err != nil {
		return outcome{err: err}
	}
	defer release()
	e.tellRestricted(ctx, who)
	d.by = session.Scope.Where()
	o := x.asAgent(ctx, session, who, a, d, fallback)
	effect, final, any := session.Hand.Attempted()
	d.attempted(effect, final, any)
	return o
}

// tellRestricted has the log tell of an agent whether what cannot be undone is blocked for
// it. All agents act under the guard of the run, so that it is the same of each.
func (e *Engine) tellRestricted(ctx context.Context, who string) {
	if !e.log().Enabled(ctx, slog.LevelInfo) { // the verdict is not waited for in vain
		return
	}
	if j, err := e.Session.Hand.Verdict(ctx); err == nil && j != nil { // a guard that breaks refuses, and says why
		e.log().InfoContext(ctx, "Set planning mode", "agent", who, "planning_mode_enabled", j.Irreversible, "effects", j.Effects, "tools", j.Tools, "reason", "irreversibility analysis")
	}
}

// seat returns the session of an agent of its own: with a private desktop, or without one.
func (e *Engine) seat(ctx context.Context, a *attempt, who string) (s *run.Session, release func(), err error) {
	if a.step.Action != ProfileDesktop {
		return e.Session.Deskless(run.Where{Agent: who, PlanStep: number(a.path)}), func() {}, nil
	}
	s, err = e.branch(ctx, who)
	if err != nil {
		return nil, nil, fmt.Errorf("no desktop for the agent: %w", err)
	}
	part := s.Part(run.Where{Agent: who, Display: s.Display, PlanStep: number(a.path)})
	return part, func() {
		if err := s.Close(); err != nil {
			e.log().WarnContext(ctx, "desktop of an agent", "agent", who, "err", err)
		}
	}, nil
}

// branch opens a session on a private desktop; tests put another one in its place.
func (e *Engine) branch(ctx context.Context, who string) (*run.Session, error) {
	if e.Branch != nil {
		return e.Branch(ctx, who)
	}
	return e.Session.Branch(ctx, who)
}

// asAgent does the step of an agent on its session: by the plan within the plan, if there is
// one or one is wanted, and else in one go.
func (x *Execution) asAgent(ctx context.Context, s *run.Session, who string, a *attempt, d *ended, fallback string) outcome {
	inner := *x.engine
	inner.Session, inner.depth, inner.who, inner.prefix = s, inner.depth+1, who, a.path+"."
	inner.Hooks.Approve, inner.Hooks.PlanGenerated = nil, nil // the plan as a whole was approved
	sub, err := inner.decomposed(ctx, a)
	if err != nil {
		return outcome{err: err}
	}
	if sub != nil {
		a.leave()
		return inner.within(ctx, d, sub)
	}
	if s.Desktop == nil {
		text, err := inner.byTools(ctx, s, toolTask{prompt: a.prompt(fallback), before: talkOf(a.before)})
		return outcome{output: text, err: err}
	}
	worker, err := inner.agent(s)
	if err != nil {
		return outcome{err: err}
	}
	task, err := prompts.Render("step", a.prompt(fallback))
	if err != nil {
		return outcome{err: err}
	}
	return ofEpisode(worker.Episode(ctx, agent.Assignment{Task: task}))
}

// decomposed returns the plan of a step; nil if it has none, and needs none.
func (e *Engine) decomposed(ctx context.Context, a *attempt) (*planner.Plan, error) {
	switch {
	case a.step.Sub != nil:
		return a.step.Sub.Clone(), nil
	case !e.Config.Hierarchical || e.Planner == nil || e.depth >= e.maxDepth():
		return nil, nil
	}
	task := llm.OneLine(a.step.Goal)
	if a.step.DoneWhen != "" {
		task += ". It is done when: " + llm.OneLine(a.step.DoneWhen)
	}
	r := planner.Request{Task: task, Sub: true, Depth: e.depth + 1, Facts: a.facts}
	if e.Session.Desktop != nil {
		var err error
		if r.Now, err = e.Session.Desktop.Observe(ctx); err != nil {
			return nil, err
		}
		if err := e.Session.Scope.Observe(ctx, r.Now, e.Session.Desktop.ScreenName(r.Now)); err != nil {
			return nil, err
		}
	}
	for _, g := range a.given {
		r.Facts = append(r.Facts, g.Step+": "+llm.Excerpt(g.Output, maxGiven))
	}
	sub, _, err := e.deliberate(ctx, r)
	if fatal(ctx, err) {
		return nil, err
	}
	if err != nil || sub == nil || len(sub.Steps) == 0 {
		if err != nil {
			e.log().WarnContext(ctx, "step not decomposed", "step", a.path, "err", err)
		}
		return nil, nil
	}
	return sub, e.Session.Scope.Emit(ctx, run.Planned{Step: e.of(), Plan: sub.Clone()})
}

// maxDepth is how deep plans are in plans, the first being 1.
func (e *Engine) maxDepth() int {
	if n := e.Config.MaxDepth; n > 0 {
		return n
	}
	return 2
}

// errSubFailed is why a step failed whose plan had failed when the program ended.
var errSubFailed = errors.New("its plan failed")

// within executes a plan within a plan; what it gives is the result of the step.
func (e *Engine) within(ctx context.Context, d *ended, sub *planner.Plan) outcome {
	switch {
	case e.past == nil:
	case sub.State == planner.PlanFailed: // and the program ended before that was told
		return outcome{sub: sub, err: fmt.Errorf("%w: %s", errSubFailed, sub.Reason)}
	case sub.State == planner.PlanCompleted:
		sub.State = planner.PlanRunning
	}
	x, err := e.Begin(sub)
	if err != nil {
		return outcome{err: err}
	}
	result, err := x.Execute(ctx)
	d.attempted(x.worst.effect, x.worst.final, x.worst.any)
	o := outcome{output: result.Output, sub: result.Final, err: err}
	if err == nil && !result.Success {
		o.err = fmt.Errorf("its plan: %s: %s", result.Outcome.Words(""), result.Answer)
	}
	if o.err == nil {
		o.evidence = &planner.Evidence{At: time.Now(), Grade: gradeOf(result.Final)}
	}
	return o
}
