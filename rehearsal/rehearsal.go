// Package rehearsal tries a task that asks for what cannot be taken back, before it is done:
// several times, each on a private desktop made from the same home and program, with what
// cannot be taken back blocked by a guard. A model reads what was done and chooses; what the
// chosen one did is shown to the actor of the run, in which the effect happens, once.
//
//	a.Rehearse = (&rehearsal.Rehearsal{Session: session, Runs: "runs"}).Do // of an agent.Agent
//
// Each rehearsal is a run of its own, with a journal and a report. What they cost counts for
// the budget of the run. If none gets to where only that effect is left, or the model finds
// that each does something else than the task says, nothing is done; if the model gives no
// answer, the first that got there is taken.
package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"desktop-agent/agent"
	"desktop-agent/guard"
	"desktop-agent/llm"
	"desktop-agent/replay"
	"desktop-agent/replay/report"
	"desktop-agent/run"
)

// Max is how many rehearsals there are at most.
const Max = 8

// A Rehearsal tries the task of a session as often as its settings say.
type Rehearsal struct {
	Session *run.Session // of the run; its client is asked
	Runs    string       // the folder in which each rehearsal gets a run
	Secrets []run.Secret // of the run
	Log     *slog.Logger // nil: silent
}

// Do tries the task if what the guard makes of it says that something in it cannot be taken
// back. An error means that the run cannot go on.
func (r *Rehearsal) Do(ctx context.Context, task string, judged *run.TaskJudged) (*run.Rehearsed, error) {
	n := r.Session.Settings.Agent.Rehearsals
	switch {
	case n < 1:
		return &run.Rehearsed{Reason: "no rehearsals were asked for"}, nil
	case judged == nil:
		return &run.Rehearsed{Reason: "no guard judged the task"}, nil
	case !judged.Irreversible:
		return &run.Rehearsed{Reason: "nothing in the task has to be irreversible"}, nil
	}
	tries, way := make([]run.Try, n), make([]*run.Demonstration, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { tries[i], way[i] = r.try(ctx, task, *judged) })
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, t := range tries {
		if t.Outcome == run.OutcomeOutOfBudget {
			return nil, fmt.Errorf("rehearsal: %w: %s", llm.ErrBudget, t.Answer)
		}
	}
	e := &run.Rehearsed{Tries: tries}
	if err := r.choose(ctx, task, e, way); err != nil {
		return nil, err
	}
	if e.Chosen > 0 {
		e.Like = way[e.Chosen-1]
	}
	return e, nil
}

// try does one rehearsal. Whatever breaks is told in it.
func (r *Rehearsal) try(ctx context.Context, task string, judged run.TaskJudged) (t run.Try, way *run.Demonstration) {
	began := time.Now()
	var journal *replay.Journal
	var g *guard.Guard
	s, err := run.Open(ctx, r.settings(), &run.Options{
		GuardFor: func(s *run.Session) (_ run.Guard, err error) {
			g, err = rehearsing(s, task, judged)
			return g, err
		},
		Client: r.Session.Client.Recording(nil), ToolsOf: r.Session.Hand, Secrets: r.Secrets, Log: r.Log,
		Journal: func() (_ run.Journal, err error) {
			journal, err = replay.Create(r.Runs)
			return journal, err
		},
	})
	if err != nil {
		t.Error = "its session: " + err.Error()
		return t, nil
	}
	defer s.Close()
	t.Run = journal.ID()
	result, err := r.play(ctx, s, task, judged)
	if err = errors.Join(err, s.Finish()); err != nil {
		t.Error = err.Error()
	}
	t.Outcome, t.Grade, t.Answer = result.Outcome, result.Grade, result.Answer
	t.Steps, t.Calls, t.Dollars = result.Steps, result.Calls, result.Dollars
	t.Held = g.Held()
	r.log().InfoContext(ctx, "rehearsed", "run", t.Run, "outcome", t.Outcome, "ms", time.Since(began).Milliseconds())
	if err := report.Save(journal.Dir()); err != nil {
		r.log().WarnContext(ctx, "report of a rehearsal", "run", t.Run, "err", err)
	}
	return t, r.way(ctx, journal.Dir(), task)
}

// settings are those of a rehearsal: the desktop is private, with the home and the program
// of the run.
func (r *Rehearsal) settings() run.Settings {
	set := r.Session.Settings
	set.Display = set.Display.Disposable()
	set.Agent.Rehearsals, set.Agent.Approve, set.Agent.OnBlock = 0, string(guard.Never), run.OnBlockStop
	set.Models.Boundary = "" // untrusted text of one run is delimited as in no other
	return set
}

// rehearsing returns the guard of a rehearsal's session.
func rehearsing(s *run.Session, task string, judged run.TaskJudged) (*guard.Guard, error) {
	g, err := guard.For(s, &guard.Options{Unattended: true})
	if err == nil && g == nil {
		err = errors.New("a rehearsal needs the guard, which is switched off")
	}
	if err != nil {
		return nil, err
	}
	g.Rehearse(task, judged)
	return g, nil
}

// play has an agent of its own do a rehearsal.
func (r *Rehearsal) play(ctx context.Context, s *run.Session, task string, judged run.TaskJudged) (agent.Result, error) {
	final := make([]string, len(judged.Effects))
	for i, e := range judged.Effects {
		final[i] = string(e)
	}
	if len(final) == 0 {
		final = []string{"every side effect"}
	}
	text, err := prompts.Render("task", taskPrompt{Task: task, Final: strings.Join(final, ", ")})
	if err != nil {
		return agent.Result{}, err
	}
	a, err := agent.New(s)
	if err != nil {
		return agent.Result{}, err
	}
	ctx, cancel := s.While(ctx)
	defer cancel()
	return a.Run(ctx, text)
}

// way is what a rehearsal did, as an actor and a judge are shown it; nil if that was nothing.
func (r *Rehearsal) way(ctx context.Context, dir, task string) *run.Demonstration {
	stored, err := replay.Open(dir)
	if err != nil {
		r.log().WarnContext(ctx, "rehearsal", "err", err)
		return nil
	}
	way, err := replay.Demonstrate(stored)
	if err != nil {
		r.log().DebugContext(ctx, "rehearsal", "err", err)
		return nil
	}
	way.Task = task
	return way
}

func (r *Rehearsal) log() *slog.Logger {
	if r.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return r.Log
}
