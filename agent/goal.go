package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// done decides on a batch's claim that the task is done, if it makes one: only a
// fresh observation that shows the goal ends the run. A refusal is read by the
// actor.
func (r *episode) done(ctx context.Context, b batch) error {
	if b.claim == nil {
		return nil
	}
	check, _, err := r.checkGoal(ctx, cmp.Or(b.claim.Answer, "the task is done"))
	if err != nil {
		return err
	}
	if check.Accepted {
		r.confirmed = &planner.Evidence{FrameID: check.FrameID, At: r.now.At, Quote: check.Evidence, Source: check.Source, Grade: check.Grade}
		return &run.Stop{Outcome: run.OutcomeDone, Answer: r.outcome(b.claim.Answer, check.Evidence), Grade: check.Grade}
	}
	r.refusals++
	if limit := cmp.Or(r.MaxRefusals, run.DefaultMaxRefusals); r.refusals >= limit {
		return &run.Stop{Outcome: run.OutcomeBlocked, Answer: fmt.Sprintf(
			"the actor said %d times that the task is done, and it was not confirmed: %s", limit, check.Missing)}
	}
	r.last.denied = check.Missing
	return nil
}

// checkGoal asks whether the newest observation shows the goal, and writes the
// answer to the journal. known is false if the world model could not tell, which
// confirms nothing.
func (r *episode) checkGoal(ctx context.Context, claim string) (e run.GoalChecked, known bool, err error) {
	e = run.GoalChecked{FrameID: r.now.FrameID}
	if err := r.lookAtFiles(ctx); err != nil {
		return e, false, err
	}
	check, err := r.World.CheckGoal(ctx, r.goalRequest(claim))
	switch {
	case fatal(ctx, err):
		return e, false, err
	case err != nil:
		e.Missing = "the check of the goal failed: " + err.Error()
		return e, false, r.emit(ctx, e)
	}
	e.Evidence = check.Evidence
	held := r.past.ofRun(r.plan)
	if check.Shown {
		if held.Read, err = r.transcribe(ctx, check.Evidence, check.Region, held.Began); err != nil {
			return e, false, err
		}
	}
	found, ok, why := worldmodel.Confirmed(check, r.now, held)
	if e.Accepted, e.Why = ok, why; ok {
		e.Grade, e.Source = found.Grade, found.Source
		r.past.met = append(r.past.met, fmt.Sprintf("A check of the goal in step %d saw %q (%s).", r.Scope.Step(), llm.Excerpt(e.Evidence, maxSeen), e.Grade))
	} else {
		e.Why, e.Missing = "", why
		r.past.unmet = append(r.past.unmet, why)
	}
	return e, true, r.emit(ctx, e)
}

// goalRequest is all that a check of the goal knows.
func (r *episode) goalRequest(claim string) worldmodel.GoalRequest {
	return worldmodel.GoalRequest{
		Task: r.task, Claim: claim, Plan: r.plan.Clone(), History: r.history.words(20), Thoughts: r.past.thoughts,
		Facts: r.past.facts(r.past.files), Refused: r.past.unmet, Seen: r.sawBefore(), Moments: r.past.moments(r.now),
		Now: r.now, Past: r.past.ofRun(r.plan),
	}
}

// maxSeen is how many characters of a quote are told again.
const maxSeen = 120

// sawBefore tells what completed the steps of the plan, and what earlier checks of the goal
// quoted, a line each.
func (r *episode) sawBefore() (lines []string) {
	if r.plan != nil {
		for i, s := range r.plan.Steps {
			if s.Evidence != nil {
				lines = append(lines, fmt.Sprintf("Step %d of the plan (%s): %q was there in screenshot %s (%s).", i+1, s.DoneWhen, llm.Excerpt(s.Evidence.Quote, maxSeen), s.Evidence.FrameID, s.Evidence.Grade))
			}
		}
	}
	return append(lines, r.past.met...)
}

// infeasible decides on the actor's word that the task cannot be done: a reason that was
// not looked at is answered, once, with what to look at. A refusal for somebody's good
// ends the run unargued, and so does a reason that nobody could check.
func (r *episode) infeasible(ctx context.Context, b *batch, reason string) error {
	stop := &run.Stop{Outcome: run.OutcomeInfeasible, Answer: reason}
	if r.doubts >= r.MaxDoubts || refuses(reason) {
		return stop
	}
	r.doubts++
	req := r.goalRequest(reason)
	req.Cannot = true
	check, err := r.World.CheckGoal(ctx, req)
	if fatal(ctx, err) {
		return err
	}
	e := run.GoalChecked{FrameID: r.now.FrameID, Cannot: true, Accepted: true}
	switch {
	case err != nil:
		e.Why = "the reason could not be looked at: " + err.Error()
	case check.Shown || check.Missing == "":
		e.Evidence, e.Why = check.Evidence, "the reason is believed"
	default:
		e.Accepted, e.Missing = false, check.Missing
		b.doubted = check.Missing
	}
	if err := r.emit(ctx, e); err != nil || !e.Accepted {
		return err
	}
	return stop
}

// refuses reports whether a reason says that the task must not be done, rather than that
// it cannot. What sounds like it counts: nobody is argued out of a refusal.
func refuses(reason string) bool {
	reason = strings.ReplaceAll(strings.ToLower(reason), "’", "'")
	return slices.ContainsFunc([]string{
		"refus", "must not", "mustn't", "should not", "shouldn't", "will not", "won't", "not going to", "not willing", "decline",
		"unsafe", "dangerous", "harm", "illegal", "unlawful", "unethical", "fraud", "phishing", "scam", "malicious", "malware",
		"injection", "privacy", "without consent", "against the user", "not what the user", "policy", "policies",
	}, func(words string) bool { return strings.Contains(reason, words) })
}
