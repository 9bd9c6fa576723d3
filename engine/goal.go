package engine

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// goalCheck says whether the plan has reached what it is for.
type goalCheck struct {
	met     bool
	missing string
	answer  string
	grade   planner.Grade
}

// conclusion is what a model says at the end of a plan.
type conclusion struct {
	Met     bool    `json:"met" jsonschema:"whether the task is reached, by what the steps gave and the screen shows"`
	Missing *string `json:"missing" jsonschema:"what is missing, if it is not; else null"`
	Answer  string  `json:"answer" jsonschema:"what the user gets"`
}

// checkGoal looks whether the goal is reached, once nothing runs and nothing can begin.
// Without a model, the steps alone say so: it is not reached where more failed than may. A check that fails confirms nothing.
func (x *Execution) checkGoal(ctx context.Context) (goalCheck, error) {
	plan, e := x.Plan(), x.engine
	c := goalCheck{answer: cmp.Or(x.answer, lastOutput(plan)), grade: gradeOf(plan)}
	for _, s := range plan.Steps {
		switch {
		case x.exit != "":
		case !s.Status.Final():
			c.missing = fmt.Sprintf("step %s (%s) cannot begin", s.ID, s.Goal)
		case s.Status == planner.Failed && !e.Settings.ContinueOnFailure:
			c.missing = fmt.Sprintf("step %s (%s) failed: %s", s.ID, s.Goal, s.Error)
		}
	}
	failed := x.tooMany()
	judged := e.Session.Client != nil && (e.prefix == "" || plan.Success != "" || failed)
	if !judged && failed && x.exit == "" && c.missing == "" {
		c.missing = "more steps failed than may: " + strings.Join(failures(plan), ", ")
	}
	if c.missing != "" || !judged {
		c.met = c.missing == ""
		return c, nil
	}
	p := concludePrompt{Task: plan.Task, Success: plan.Success}
	var now *screen.Observation
	var err error
	for _, s := range plan.Steps {
		one := concludedStep{ID: s.ID, Status: s.Status, Goal: s.Goal, DoneWhen: s.DoneWhen}
		if s.Result != nil {
			one.Output = llm.Excerpt(s.Result.Output, maxGiven)
		}
		if s.Status == planner.Completed && s.Evidence != nil {
			one.Known = s.Evidence.Grade
		}
		p.Steps = append(p.Steps, one)
		if now == nil && s.OnScreen() {
			if now, err = x.observe(ctx); err != nil {
				return c, err
			}
		}
	}
	if now != nil {
		p.Screen = now.Text(e.Session.Settings.Agent.ScreenTokens)
	}
	req, err := prompts.Request(llm.Planner, "conclude", p, planner.Images(now)...)
	if err != nil {
		return c, err
	}
	said, err := llm.Decode[conclusion](ctx, e.Session.Client, req)
	switch {
	case fatal(ctx, err):
		return c, err
	case err != nil:
		c.missing = "the check of the goal failed: " + err.Error()
		return c, nil
	}
	c.met, c.missing = said.Met, cmp.Or(line(said.Missing), "the task is not reached")
	c.answer = cmp.Or(said.Answer, c.answer)
	return c, x.emit(ctx, run.GoalChecked{Accepted: said.Met, Missing: missingUnless(said.Met, c.missing), Grade: gradeIf(said.Met, c.grade), Why: "by the results of the steps"})
}

// failures are the steps that failed.
func failures(p *planner.Plan) (list []string) {
	for _, s := range p.Steps {
		if s.Status == planner.Failed {
			list = append(list, fmt.Sprintf("%s (%s)", s.ID, s.Goal))
		}
	}
	return list
}

func missingUnless(met bool, missing string) string {
	if met {
		return ""
	}
	return missing
}

func gradeIf(met bool, g planner.Grade) planner.Grade {
	if met {
		return g
	}
	return ""
}

// lastOutput is what the last step gave that gave something.
func lastOutput(p *planner.Plan) (text string) {
	for _, s := range p.Steps {
		if s.Status == planner.Completed && s.Result != nil && s.Result.Output != "" {
			text = s.Result.Output
		}
	}
	return text
}

// gradeOf says how well the end of a plan is known: as well as its last step, if code has
// seen that; else it is claimed.
func gradeOf(p *planner.Plan) planner.Grade {
	if p == nil {
		return planner.Claimed
	}
	for i := len(p.Steps) - 1; i >= 0; i-- {
		if s := p.Steps[i]; s.Status == planner.Completed {
			if s.Evidence != nil && s.Evidence.Grade.Known() {
				return s.Evidence.Grade
			}
			break
		}
	}
	return planner.Claimed
}
