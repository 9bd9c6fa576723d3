package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"desktop-agent/engine"
	"desktop-agent/planner"
	"desktop-agent/planner/planfile"
	"desktop-agent/rehearsal"
	"desktop-agent/replay"
	"desktop-agent/run"
)

// runCmd does a task.
type runCmd struct {
	Task string `arg:"" optional:"" help:"What to do, in a sentence. A plan in a file has it."`
	JSON bool   `name:"json" help:"Write each event as a line of JSON to standard output, instead of progress for a person; nobody is asked then."`
	Like string `help:"Show the actor how it was done once: a recorded run, of a person or an agent, by its folder, its ID or last." placeholder:"RUN"`
	Runs string `help:"Folder that keeps the runs." default:"runs" type:"path"`

	desktopFlags
	agentFlags
	deliberateFlags
	modelFlags
	toolFlags
	toolLimitFlags
	secretFlags

	plan *planner.Plan // of the file
}

// Run does the task and reports how it ended.
func (r *runCmd) Run(ctx context.Context, c console, g *cli, line *kong.Context) error {
	if err := cmp.Or(r.named(), r.agentFlags.check(), r.Making.check(), r.toolLimitFlags.check()); err != nil {
		return &usageError{err}
	}
	client := r.modelFlags.client()
	if err := cmp.Or(r.modelFlags.check(client), r.modelFlags.mixed(r.Format)); err != nil {
		return &usageError{err}
	}
	r.rehearses = r.Rehearsals > 0
	if note := r.wayland(os.Getenv); note != "" {
		fmt.Fprintln(c.Err, "note:", note)
	}
	screen := r.plan == nil || needsScreen(r.plan)
	if err := r.desktopFlags.check(line); err != nil && (screen || !errors.Is(err, errNoDisplay)) {
		return &usageError{err}
	}
	like, err := r.like()
	if err != nil {
		return &usageError{err}
	}
	secrets, err := r.secrets(r.Task, r.keys(getenv)...)
	if err != nil {
		return &usageError{err}
	}
	registry, servers, err := r.toolFlags.open(ctx, r.limits(), logger(c, g.Verbose))
	if err != nil {
		return err
	}
	defer servers.Close()
	if tellServers(c, servers.Status()) != nil {
		fmt.Fprintln(c.Err, "note: the run goes on without the tools of servers that do not run")
	}
	ask := asker(c)
	if r.JSON {
		ask = nil
	}
	var common shared
	if r.Plan == engine.Deliberate {
		if err := common.offer(registry, ask != nil); err != nil {
			return err
		}
	}
	if r.plan != nil {
		if r.plan, err = readPlan(r.PlanFile, catalogOf(registry, screen), r.planning()); err != nil {
			return err
		}
	}
	var toolbox run.Toolbox
	if len(registry.Tools()) > 0 {
		toolbox = registry
	}
	w, err := job{
		tools:    toolbox,
		secrets:  secrets,
		settings: run.Settings{Display: r.desktopFlags.settings(), Agent: r.agentFlags.settings(), Models: r.modelFlags.settings(), Plan: r.planning(), ToolLimits: r.limits(), Like: like},
		noScreen: !screen,
		client:   client, runs: r.Runs, keepHome: r.KeepHome, json: r.JSON, steps: r.MaxSteps, log: logger(c, g.Verbose),
	}.open(ctx, c)
	if err != nil {
		return err
	}
	defer w.Close()
	if r.Plan == engine.Deliberate {
		e, err := w.engine(c, ask, &common)
		if err != nil {
			return err
		}
		return w.execute(ctx, c, e, r.Task, r.plan)
	}
	a, err := w.agent(ask)
	if err != nil {
		return err
	}
	if r.Rehearsals > 0 {
		a.Rehearse = (&rehearsal.Rehearsal{Session: w.Session, Runs: r.Runs, Secrets: secrets, Log: w.Log}).Do
	}
	return w.conduct(ctx, c, a, r.Task)
}

// named reads what is to be done: the task, or the plan of a file, which has its own.
func (r *runCmd) named() error {
	switch {
	case r.PlanFile == "" && strings.TrimSpace(r.Task) == "":
		return hintError{errors.New("the task is empty"), `write what to do: desktop-agent run "Save the document as notes.txt"`}
	case r.PlanFile == "":
		return nil
	}
	plan, err := planfile.Read(r.PlanFile)
	if err != nil {
		return hintError{err, "desktop-agent plan check " + r.PlanFile + " tells all that is wrong, line by line"}
	}
	if task := strings.TrimSpace(r.Task); task != "" && task != plan.Task {
		return hintError{errors.New("the plan in the file has another task than the command line"), "leave out the task, or write it into the file"}
	}
	r.Task, r.Plan, r.plan = plan.Task, engine.Deliberate, plan
	return nil
}

// like returns the run that shows the actor how it can be done; nil for none.
func (r *runCmd) like() (*run.Demonstration, error) {
	if r.Like == "" {
		return nil, nil
	}
	stored, err := openRun(r.Runs, r.Like)
	if err != nil {
		return nil, err
	}
	return replay.Demonstrate(stored)
}

// asker returns how the actor asks the user: on a terminal, and not at all
// where there is none.
func asker(c console) func(context.Context, string) (string, error) {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	return func(ctx context.Context, question string) (string, error) {
		fmt.Fprintf(c.Err, "question: %s\nanswer: ", printable(question))
		text, err := readLine(ctx)
		return text, cmp.Or(ctx.Err(), err)
	}
}

// askSecret asks on the terminal for a text that is not shown.
func askSecret(ctx context.Context, c console, name string) (string, error) {
	in := int(os.Stdin.Fd())
	state, err := term.GetState(in)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(c.Err, "%s (not shown): ", printable(name))
	type answer struct {
		text []byte
		err  error
	}
	got := make(chan answer, 1)
	go func() { // ends with the program if no answer comes
		text, err := term.ReadPassword(in)
		got <- answer{text, err}
	}()
	defer fmt.Fprintln(c.Err)
	select {
	case a := <-got:
		return string(a.text), a.err
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), term.Restore(in, state)) // what is typed is shown again
	}
}

// logger returns the log of a command: silent unless asked for.
func logger(c console, verbose bool) *slog.Logger {
	if !verbose {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(c.Err, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
