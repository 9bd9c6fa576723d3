package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"desktop-agent/agent"
	"desktop-agent/engine"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/tools"
)

// executionFlags say how the steps of a deliberate plan are done.
type executionFlags struct {
	Execution         string        `help:"In which order the steps of a deliberate plan are done: sequential, parallel (each as soon as what it needs is there), or adaptive (side by side where two or more are not in each other's way)." enum:"sequential,parallel,adaptive" default:"${execution}" group:"Deliberate plans"`
	MaxParallel       int           `help:"The most steps at the same time." default:"${max_parallel}" group:"Deliberate plans"`
	StepTimeout       time.Duration `help:"Limit of one attempt at a step; it stands still while you are asked." default:"${step_timeout}" group:"Deliberate plans"`
	AgentTimeout      time.Duration `help:"The same of a step that has an agent or a plan of its own." default:"${agent_timeout}" group:"Deliberate plans"`
	StepActions       int           `help:"The most turns of the actor in one attempt at a step on the screen." default:"${step_actions}" group:"Deliberate plans"`
	StepRetries       int           `help:"How often a step that failed is tried again. What cannot be taken back never is." default:"${step_retries}" group:"Deliberate plans"`
	ContinueOnFailure bool          `help:"Go on after a step failed, until too many have." group:"Deliberate plans"`
	Reflect           bool          `help:"Ask a model after each step whether the rest of the plan still fits." default:"true" negatable:"" group:"Deliberate plans"`
	AgentDepth        int           `help:"How deep agents may start agents." default:"${agent_depth}" group:"Deliberate plans"`
	AgentTurns        int           `help:"The most turns of an agent without a display." default:"${agent_turns}" group:"Deliberate plans"`
	LowBudget         float64       `name:"plan-low-budget" help:"The part of a budget at which the rest of the plan is asked to be written with less." default:"${plan_low_budget}" group:"Deliberate plans"`
}

// deliberateFlags say which plan is executed, and how one is made.
type deliberateFlags struct {
	PlanFile    string `help:"Execute the plan in this file (TOML), which has its task (plan new writes one)." type:"path" placeholder:"FILE" env:"-" group:"Deliberate plans"`
	PlanApprove bool   `help:"Show a deliberate plan before it is executed: approve, reject or edit it." group:"Deliberate plans"`
	Decompose   bool   `help:"Have steps that are given to an agent get plans of their own." group:"Deliberate plans"`

	Making planFlags `embed:""`
}

// planning is what the settings of a run tell of it.
func (f deliberateFlags) planning() planner.Config {
	c := f.Making.config()
	c.Approval, c.Hierarchical = f.PlanApprove, f.Decompose
	return c
}

// needsScreen reports whether something of a plan is done on the display of the run.
func needsScreen(p *planner.Plan) bool {
	return slices.ContainsFunc(p.Steps, func(s planner.Step) bool { return s.OnScreen() })
}

// executionDefaults are the default values of these flags.
func executionDefaults() map[string]string {
	e := run.Defaults().Agent.Execution
	return map[string]string{
		"execution": e.Mode, "max_parallel": fmt.Sprint(e.MaxParallel), "step_timeout": e.StepTimeout.String(), "agent_timeout": e.AgentTimeout.String(),
		"step_actions": fmt.Sprint(e.StepActions), "step_retries": fmt.Sprint(e.Retries),
		"agent_depth": fmt.Sprint(e.AgentDepth), "agent_turns": fmt.Sprint(e.AgentTurns), "plan_low_budget": fmt.Sprint(e.LowBudget),
	}
}

// check refuses limits with which no plan can be executed.
func (f executionFlags) check() error {
	for _, limit := range []struct {
		flag     string
		n, least int
	}{{"max-parallel", f.MaxParallel, 1}, {"step-actions", f.StepActions, 1}, {"step-retries", f.StepRetries, 0}, {"agent-depth", f.AgentDepth, 1}, {"agent-turns", f.AgentTurns, 1}} {
		if limit.n < limit.least {
			return hintError{fmt.Errorf("--%s is %d", limit.flag, limit.n), fmt.Sprintf("write %d or more", limit.least)}
		}
	}
	if f.StepTimeout <= 0 || f.AgentTimeout <= 0 {
		return hintError{fmt.Errorf("a step may take %v, and one of an agent %v", f.StepTimeout, f.AgentTimeout), "write for example --step-timeout 2m --agent-timeout 10m"}
	}
	return part("plan-low-budget", f.LowBudget)
}

// shared is what steps of a deliberate plan share: facts, and the user, if there is one.
type shared struct {
	facts tools.Facts
	ask   tools.Asker // nil until an engine has it
}

// offer registers the tools for that; where asks is false, the one that asks the user is
// left out.
func (d *shared) offer(r *tools.Registry, asks bool) error {
	remember, err := tools.Remember(&d.facts)
	if err = errors.Join(err, r.Add(remember)); err != nil || !asks {
		return err
	}
	ask, err := tools.AskUser(func(ctx context.Context, question string) (string, error) {
		if d.ask == nil {
			return "", planner.ErrNobody
		}
		return d.ask(ctx, question)
	})
	return errors.Join(err, r.Add(ask))
}

// engine puts an engine together; ask may be nil. One question is asked at a time.
func (w *work) engine(c console, ask func(context.Context, string) (string, error), d *shared) (*engine.Engine, error) {
	e, err := engine.New(w.Session)
	if err != nil {
		return nil, err
	}
	e.Facts = d.facts.List
	if w.Settings.Plan.Approval {
		maker := &planner.Planner{Config: e.Config, Catalog: engine.CatalogOf(w.Session)}
		e.Hooks.Approve = func(ctx context.Context, plan *planner.Plan) (planner.Decision, error) {
			var approver planner.Approver
			if ask != nil {
				approver = w.planApprover(c)
			}
			return maker.Approve(ctx, plan, approver)
		}
	}
	if ask == nil {
		return e, nil
	}
	var one sync.Mutex
	e.Ask = func(ctx context.Context, question string) (string, error) {
		one.Lock()
		defer one.Unlock()
		if w.show != nil {
			defer w.show.Pause()()
		}
		return ask(ctx, question)
	}
	d.ask = e.Question
	return e, nil
}

// execute has the plan of a task made and executed, or one that there is.
func (w *work) execute(ctx context.Context, c console, e *engine.Engine, task string, plan *planner.Plan) error {
	return w.conducted(ctx, c, func(ctx context.Context) (run.Result, string, error) {
		var r engine.Result
		var err error
		if plan != nil {
			r, err = e.RunPlan(ctx, plan)
		} else {
			r, err = e.Run(ctx, task)
		}
		return r.Result, executed(r), err
	})
}

// executed says in a line or two how the execution of a plan ended.
func executed(r engine.Result) string {
	text := summary(agent.Result{Result: r.Result})
	if r.Final == nil || len(r.Final.Steps) == 0 {
		return text
	}
	count := map[planner.Status]int{}
	for _, s := range r.Final.Steps {
		count[s.Status]++
	}
	var parts []string
	for _, s := range []planner.Status{planner.Completed, planner.Passed, planner.Failed, planner.Skipped, planner.Pending, planner.Blocked} {
		if n := count[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	text += "\nplan: " + strings.Join(parts, ", ")
	if r.Revisions > 0 {
		text += "; " + counted(r.Revisions, "revision")
	}
	return text
}
