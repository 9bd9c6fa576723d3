package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"desktop-agent/engine"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/planner/planfile"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/tools"
)

// planCmd is about deliberate plans, before they are executed.
type planCmd struct {
	New   planNewCmd   `cmd:"" help:"Have a model write the plan of a task, and execute nothing."`
	Check planCheckCmd `cmd:"" help:"Say whether the plan in a file can be executed, and all that is wrong with it."`
	Show  planShowCmd  `cmd:"" help:"Show the plan in a file as text, or that of a run as such a file."`
}

// planFlags say how deliberate plans are made.
type planFlags struct {
	Analysis phaseFlags `embed:"" prefix:"plan-analysis-"`
	Review   phaseFlags `embed:"" prefix:"plan-review-"`
	Steps    phaseFlags `embed:"" prefix:"plan-steps-"`

	Instructions string  `name:"plan-instructions" help:"What the model reads first whenever it plans." placeholder:"TEXT" group:"Deliberate plans"`
	Force        bool    `name:"plan-force" help:"Write a plan, however simple the task." group:"Deliberate plans"`
	Text         bool    `name:"plan-text" help:"Ask for the plan as text, for models that write no JSON." group:"Deliberate plans"`
	Feasibility  bool    `name:"plan-feasibility" help:"Have a model look whether a plan can work before it is executed." group:"Deliberate plans"`
	MaxSteps     int     `name:"plan-max-steps" help:"The most steps of a plan." default:"${plan_max_steps}" placeholder:"N" group:"Deliberate plans"`
	MaxTokens    int     `name:"plan-max-tokens" help:"Refuse plans that are estimated at more tokens; 0 for no limit." placeholder:"N" group:"Deliberate plans"`
	MaxDepth     int     `name:"plan-max-depth" help:"How deep plans may be in each other." default:"${plan_max_depth}" placeholder:"N" group:"Deliberate plans"`
	FreeOrder    bool    `name:"plan-free-order" help:"Let steps leave out what they need." group:"Deliberate plans"`
	Fallbacks    bool    `name:"plan-fallbacks" help:"Have each step say what to try when it fails." group:"Deliberate plans"`
	NoRevision   bool    `name:"plan-no-revision" help:"Never change a plan that is under way." group:"Deliberate plans"`
	Strategy     string  `name:"plan-strategy" help:"What a revision does: replan_remaining, insert_recovery, skip_and_continue, abort or ask_user." enum:"replan_remaining,insert_recovery,skip_and_continue,abort,ask_user" default:"${plan_strategy}" group:"Deliberate plans"`
	Threshold    float64 `name:"plan-threshold" help:"The part of failed steps at which a run that goes on after failures changes its plan." default:"${plan_threshold}" group:"Deliberate plans"`

	ApprovalLimit time.Duration `name:"plan-approval-limit" help:"How long an answer is waited for when a plan is to be approved." default:"${plan_approval_limit}" group:"Deliberate plans"`
	Unanswered    string        `name:"plan-unanswered" help:"What becomes of a plan that nobody answers for: reject or execute." enum:"reject,execute" default:"${plan_unanswered}" group:"Deliberate plans"`
}

// phaseFlags are what one phase of planning has of its own.
type phaseFlags struct {
	Skip        bool          `help:"Leave this phase out." group:"Deliberate plans, phase by phase"`
	Model       string        `help:"Model of this phase; that of the planner if not given." placeholder:"NAME" group:"Deliberate plans, phase by phase"`
	Timeout     time.Duration `help:"Limit of this phase; that of the planner if not given." placeholder:"TIME" group:"Deliberate plans, phase by phase"`
	Temperature *float64      `help:"Temperature of this phase; 0.3 (of the review 0.35) if neither it nor the planner has one." placeholder:"T" group:"Deliberate plans, phase by phase"`
}

func (f phaseFlags) phase() planner.Phase {
	return planner.Phase{Off: f.Skip, Model: f.Model, Limit: f.Timeout, Temperature: f.Temperature}
}

// planDefaults are the default values of the flags, which [planner.Config] has.
func planDefaults() map[string]string {
	d := planner.Config{}.WithDefaults()
	return map[string]string{
		"plan_max_steps": fmt.Sprint(d.MaxSteps), "plan_max_depth": fmt.Sprint(d.MaxDepth), "plan_strategy": string(d.Strategy),
		"plan_threshold": fmt.Sprint(d.Threshold), "plan_approval_limit": d.ApprovalLimit.String(), "plan_unanswered": string(d.Unanswered),
	}
}

// config is what the flags say.
func (f planFlags) config() planner.Config {
	return planner.Config{
		Analysis: f.Analysis.phase(), Review: f.Review.phase(), Execution: f.Steps.phase(), Instructions: f.Instructions,
		Force: f.Force, TextFormat: f.Text, Feasibility: f.Feasibility, MaxSteps: f.MaxSteps, MaxTokens: f.MaxTokens, MaxDepth: f.MaxDepth,
		FreeOrder: f.FreeOrder, NeedFallbacks: f.Fallbacks, NoRevision: f.NoRevision, Strategy: planner.Strategy(f.Strategy),
		Threshold: f.Threshold, ApprovalLimit: f.ApprovalLimit, Unanswered: planner.Unanswered(f.Unanswered),
	}
}

// check refuses flags with which no plan can be made.
func (f planFlags) check() error {
	for _, limit := range []struct {
		flag  string
		value float64
		least float64
		most  float64
	}{
		{"plan-max-steps", float64(f.MaxSteps), 1, 100},
		{"plan-max-depth", float64(f.MaxDepth), 1, 8},
		{"plan-max-tokens", float64(f.MaxTokens), 0, 1e12},
		{"plan-threshold", f.Threshold, 0.01, 1},
		{"plan-approval-limit", f.ApprovalLimit.Seconds(), 1, 1e9},
		{"plan-analysis-timeout", f.Analysis.Timeout.Seconds(), 0, 1e9},
		{"plan-review-timeout", f.Review.Timeout.Seconds(), 0, 1e9},
		{"plan-steps-timeout", f.Steps.Timeout.Seconds(), 0, 1e9},
	} {
		if limit.value < limit.least || limit.value > limit.most {
			return hintError{fmt.Errorf("--%s is %v", limit.flag, limit.value), fmt.Sprintf("write %v or more, and at most %v", limit.least, limit.most)}
		}
	}
	return nil
}

// catalogOf is what plans may use: the tools that there are, the agents, and a screen or
// none.
func catalogOf(r *tools.Registry, screen bool) planner.Catalog {
	c := planner.Catalog{Agents: engine.Profiles(), Screen: screen}
	for _, t := range r.Tools() {
		c.Tools = append(c.Tools, llm.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters.JSON})
	}
	return c
}

type planNewCmd struct {
	Task   string `arg:"" help:"What to do, in a sentence."`
	Out    string `help:"Save the plan in this file, which must not be there yet, and not on standard output." type:"path" placeholder:"FILE" env:"-"`
	Screen bool   `help:"Plan steps on a screen, too." default:"true" negatable:""`

	planFlags
	toolFlags
	modelFlags
}

// Run has a plan written.
func (p *planNewCmd) Run(ctx context.Context, c console, g *cli) error {
	if strings.TrimSpace(p.Task) == "" {
		return &usageError{hintError{errors.New("the task is empty"), `write what to do: desktop-agent plan new "Save the document as notes.txt"`}}
	}
	client := p.modelFlags.client()
	if err := cmp.Or(p.planFlags.check(), p.modelFlags.check(client)); err != nil {
		return &usageError{err}
	}
	log := logger(c, g.Verbose)
	registry, servers, err := p.open(ctx, run.ToolLimits{}, log)
	if err != nil {
		return err
	}
	defer servers.Close()
	_ = tellServers(c, servers.Status())
	if err := new(shared).offer(registry, true); err != nil {
		return err
	}
	maker := &planner.Planner{
		Model: client, Log: log, Config: p.config(), Catalog: catalogOf(registry, p.Screen),
		Notify: func(_ context.Context, n planner.Notice) {
			if n.Label != "" {
				fmt.Fprintln(c.Err, n.Label)
			}
		},
	}
	plan, record, err := maker.Deliberate(ctx, planner.Request{Task: p.Task})
	switch {
	case err != nil:
		return err
	case record.Result == planner.MadeStopped:
		return context.Cause(ctx)
	case plan == nil && record.Result == planner.MadeDirect:
		fmt.Fprintln(c.Err, "no plan is needed: desktop-agent run does it; --plan-force has one written all the same")
		return nil
	case plan == nil:
		fmt.Fprintf(c.Err, "there is no plan: %s\n", record.Result)
		return errNotDone
	case plan.Direct != "":
		fmt.Fprintln(c.Err, "no plan is needed; the answer is:")
		fmt.Fprintln(c.Out, terminalText(plan.Direct))
		return nil
	}
	return p.save(c, plan)
}

// save writes a plan to its file or to standard output.
func (p *planNewCmd) save(c console, plan *planner.Plan) error {
	data, err := planfile.Encode(plan)
	if err != nil {
		return err
	}
	if p.Out == "" {
		_, err := c.Out.Write(data)
		return err
	}
	if err := writeNew(p.Out, func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
		return &usageError{hintError{err, "name a file that is not there yet with --out"}}
	}
	fmt.Fprint(c.Err, terminalText(plan.Text()))
	fmt.Fprintf(c.Err, "\nsaved: %s; to execute it: desktop-agent run --plan-file %s\n", p.Out, p.Out)
	return nil
}

// readPlan reads the plan in a file and checks that it can be executed.
func readPlan(path string, catalog planner.Catalog, config planner.Config) (*planner.Plan, error) {
	plan, err := planfile.Read(path)
	if err == nil {
		err = plan.ValidateFor(catalog, config)
	}
	if err != nil {
		return nil, &usageError{hintError{err, "desktop-agent plan check " + path + " tells all that is wrong, line by line"}}
	}
	return plan, nil
}

type planCheckCmd struct {
	File   string `arg:"" help:"The file (TOML)." type:"path"`
	Screen bool   `help:"There is a screen for the steps that need one." default:"true" negatable:""`

	planFlags
	toolFlags
}

// Run checks a file.
func (p *planCheckCmd) Run(ctx context.Context, c console, g *cli) error {
	if err := p.planFlags.check(); err != nil {
		return &usageError{err}
	}
	registry, servers, err := p.open(ctx, run.ToolLimits{}, logger(c, g.Verbose))
	if err != nil {
		return err
	}
	defer servers.Close()
	_ = tellServers(c, servers.Status())
	if err := new(shared).offer(registry, true); err != nil {
		return err
	}
	catalog := catalogOf(registry, p.Screen)
	plan, err := planfile.Read(p.File)
	if err == nil {
		err = plan.ValidateFor(catalog, p.config())
	}
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintln(c.Err, printable(strings.TrimRight(line, "\n")))
		}
		hint := "mend the file; its comments say what each key means (desktop-agent plan new writes one)"
		if p.MCP == "" && p.Files == "" {
			hint += "; tools are those of --mcp, --files and --programs"
		}
		return &usageError{hintError{fmt.Errorf("%s cannot be executed", p.File), hint}}
	}
	fmt.Fprintf(c.Out, "%s can be executed: %s\n", p.File, counted(len(plan.Steps), "step"))
	return nil
}

type planShowCmd struct {
	File string `arg:"" name:"file" help:"The file (TOML); or a run, by its ID, the beginning of it, its folder, or last: its plan is written as such a file."`
	Runs string `help:"Folder that keeps the runs." default:"runs" type:"path"`
}

// namesRun reports whether a run is meant, and no file.
func (p *planShowCmd) namesRun() bool {
	info, err := os.Stat(p.File)
	if err != nil {
		return filepath.Ext(p.File) != ".toml"
	}
	_, err = os.Stat(filepath.Join(p.File, "run.json"))
	return info.IsDir() && err == nil
}

// ofRun writes the plan of a run as a file that can be executed: what is done is marked, so
// that it is not done again.
func (p *planShowCmd) ofRun(c console) error {
	stored, err := openRun(p.Runs, p.File)
	if err != nil {
		return err
	}
	plan, err := stored.Plan()
	if err != nil {
		return &usageError{hintError{err, "desktop-agent runs show tells what was done in it"}}
	}
	data, err := planfile.Encode(plan)
	if err != nil {
		return err
	}
	approval, err := whoApproved(stored)
	if err != nil {
		return err
	}
	_, err = io.WriteString(c.Out, terminalText("# "+llm.OneLine(approval)+"\n"+string(data)))
	return err
}

// whoApproved says who approved the plan of a run.
func whoApproved(stored *replay.Run) (string, error) {
	words := "approved by " + planner.ByNobody + ": nobody was asked"
	for e, err := range stored.Events() {
		if err != nil {
			return "", err
		}
		if d, ok := e.Data.(run.PlanApproved); ok {
			words = replay.PlanWords(d)
		}
	}
	return words, nil
}

// Run shows the plan in a file. Whether its tools are there is not looked at.
func (p *planShowCmd) Run(c console) error {
	if p.namesRun() {
		return p.ofRun(c)
	}
	plan, err := planfile.Read(p.File)
	if err != nil {
		return &usageError{hintError{err, "desktop-agent plan check " + p.File + " tells all that is wrong"}}
	}
	if most := 1000; len(plan.Steps) > most {
		return &usageError{hintError{fmt.Errorf("%s has %d steps", p.File, len(plan.Steps)), fmt.Sprintf("at most %d are shown", most)}}
	}
	fmt.Fprint(c.Out, terminalText(plan.Text()))
	return nil
}
