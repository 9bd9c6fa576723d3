package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"desktop-agent/agent"
	"desktop-agent/engine"
	"desktop-agent/llm"
	"desktop-agent/replay"
	"desktop-agent/replay/offline"
	"desktop-agent/run"
	"desktop-agent/sandbox"
	"desktop-agent/tools"
)

// resumeCmd goes on with a run whose program was ended.
type resumeCmd struct {
	Name string `arg:"" name:"run" help:"The run: its ID, the beginning of it, its folder, or last."`
	JSON bool   `name:"json" help:"Write each new event as a line of JSON to standard output, instead of progress for a person; nobody is asked then."`
	Runs string `help:"Folder that keeps the runs." default:"runs" type:"path"`

	Display    string        `help:"X display on which the run goes on, if it has another name now; the one of the run if not given." env:"-" placeholder:":0" group:"Desktop"`
	BaseURL    string        `name:"base-url" help:"Endpoint of the models; the one of the run if not given." placeholder:"URL" group:"Models"`
	APIKey     string        `name:"api-key" help:"Key of the endpoint; on a command line others can read it, so give it in the environment." placeholder:"KEY" group:"Models"`
	Planner    roleKey       `embed:"" prefix:"planner-" group:"Models"`
	Actor      roleKey       `embed:"" prefix:"actor-" group:"Models"`
	WorldModel roleKey       `embed:"" prefix:"worldmodel-" group:"Models"`
	Monitor    roleKey       `embed:"" prefix:"monitor-" group:"Models"`
	Grounder   roleKey       `embed:"" prefix:"grounder-" group:"Models"`
	MaxSteps   int           `help:"Stop after this many steps, with those before; the limit of the run if not given. The limits below likewise." placeholder:"N" group:"Limits"`
	MaxTokens  int           `help:"Stop before more tokens than this are used; 0 for no limit." placeholder:"N" group:"Limits"`
	MaxDollars float64       `help:"Stop before more than this is spent." placeholder:"DOLLARS" group:"Limits"`
	MaxTime    time.Duration `help:"Stop after this time of work; 0 for no limit." placeholder:"TIME" group:"Limits"`

	toolFlags
	secretFlags
}

// Run goes on with the run and reports how it ended.
func (r *resumeCmd) Run(ctx context.Context, c console, g *cli, line *kong.Context) error {
	before, err := openRun(r.Runs, r.Name)
	if err != nil {
		return err
	}
	asked, err := offline.Resumable(before)
	if err != nil {
		return &usageError{hintError{err, "desktop-agent runs list shows which runs can be resumed"}}
	}
	journal, err := replay.Reopen(before.Dir)
	if err != nil {
		return reopenError(err, before.Info.ID, asked)
	}
	defer journal.Close() // twice, if all goes well
	stored, err := replay.Open(before.Dir)
	if err != nil {
		return err
	}
	noScreen := false
	if asked.Planning == engine.Deliberate {
		begun, err := stored.Begun()
		if err != nil {
			return err
		}
		if err := engine.Resumable(begun); err != nil {
			return &usageError{hintError{err, "execute the file again: desktop-agent run --plan-file FILE"}}
		}
		noScreen = begun.NoScreen
	}
	settings := r.settings(*asked, line)
	client, err := r.client(settings, asked.Settings.Models.BaseURL)
	if err != nil {
		return &usageError{err}
	}
	secrets, err := r.secrets(asked.Task, client.keys...)
	if err != nil {
		return &usageError{err}
	}
	registry, servers, err := r.toolFlags.open(ctx, settings.ToolLimits, logger(c, g.Verbose))
	if err != nil {
		return err
	}
	defer servers.Close()
	ask := r.asker(c)
	var common shared
	if asked.Planning == engine.Deliberate {
		asks := slices.ContainsFunc(asked.Settings.Tools, func(t run.Tool) bool { return t.Name == tools.AskUserName })
		if err := common.offer(registry, asks || ask != nil); err != nil {
			return err
		}
	}
	var toolbox run.Toolbox
	if len(registry.Tools()) > 0 {
		toolbox = registry
	}
	if err := sameTools(asked.Settings.Tools, toolbox); err != nil {
		return &usageError{err}
	}
	j := job{
		noScreen: noScreen, tools: toolbox, secrets: secrets, settings: settings, client: client.Client, journal: journal, json: r.JSON,
		steps: settings.Agent.MaxSteps, log: logger(c, g.Verbose),
	}
	w, back, err := j.comeBack(ctx, c, before.Dir)
	if err != nil {
		return err
	}
	defer w.Close()
	again := &offline.Resumption{Session: w.Session, Stored: stored, Cut: before.Cut, Desktop: back, Ask: ask}
	if asked.Planning == engine.Deliberate {
		return w.resumePlan(ctx, c, again, &common)
	}
	return w.resume(ctx, c, again, asked.Task)
}

// resumePlan has an engine go on with a deliberate plan.
func (w *work) resumePlan(ctx context.Context, c console, r *offline.Resumption, d *shared) error {
	e, err := w.engine(c, r.Ask, d)
	if err != nil {
		return err
	}
	begun, err := r.Begun(ctx)
	if err != nil {
		return err
	}
	for _, call := range begun.Called {
		d.facts.Recall(ctx, call.Tool, string(call.Arguments))
	}
	return w.conducted(ctx, c, func(ctx context.Context) (run.Result, string, error) {
		result, err := e.Resume(ctx, begun)
		return result.Result, executed(result), err
	})
}

// resume puts the agent together that goes on, and has it do so.
func (w *work) resume(ctx context.Context, c console, r *offline.Resumption, task string) error {
	if ask := r.Ask; ask != nil {
		r.Ask = w.asking(ask)
	}
	var a *agent.Agent
	a, done, err := r.Agent(ctx)
	if err != nil {
		return err
	}
	defer done()
	return w.conduct(ctx, c, a, task)
}

func (r *resumeCmd) asker(c console) func(context.Context, string) (string, error) {
	if r.JSON {
		return nil
	}
	return asker(c)
}

// reopenError says what to do about a journal that cannot be taken up again.
func reopenError(err error, id string, asked *run.RunStarted) error {
	switch {
	case errors.Is(err, replay.ErrEnded) && asked.Planning == engine.Deliberate:
		return &usageError{hintError{err, fmt.Sprintf("to do what it has left of its plan: desktop-agent plan show %s >plan.toml, then run --plan-file plan.toml", id)}}
	case errors.Is(err, replay.ErrEnded):
		return &usageError{hintError{err, fmt.Sprintf("there is nothing to go on with; desktop-agent run %q does the task anew", asked.Task)}}
	case errors.Is(err, replay.ErrWriter):
		return &usageError{hintError{err, "a run is resumed once at a time: wait for that process, or end it"}}
	case errors.Is(err, replay.ErrSchema):
		return &usageError{err}
	}
	return hintError{err, "desktop-agent runs verify tells what is damaged"}
}

// settings are those of the run, with the limits that are given now.
func (r *resumeCmd) settings(asked run.RunStarted, line *kong.Context) run.Settings {
	s := asked.Settings
	s.Display.Name = cmp.Or(r.Display, s.Display.Name)
	limits := s.Limits()
	for name, set := range map[string]func(){
		"base-url":    func() { limits.BaseURL = withoutSecrets(r.BaseURL) },
		"max-steps":   func() { limits.MaxSteps = r.MaxSteps },
		"max-tokens":  func() { limits.MaxTokens = r.MaxTokens },
		"max-dollars": func() { limits.MaxDollars = r.MaxDollars },
		"max-time":    func() { limits.MaxTime = r.MaxTime },
	} {
		if isGiven(line, name) {
			set()
		}
	}
	return s.Within(limits)
}

// A roleKey is the key of a role that is asked elsewhere than the others.
type roleKey struct {
	APIKey string `name:"api-key" help:"Key of its endpoint, if it has one of its own; better in the environment." placeholder:"KEY"`
}

// A keyed client knows its keys, so that they can be kept from models.
type keyed struct {
	*llm.Client
	keys []string
}

// client asks the models of the run as it asked them. before is the endpoint that it had.
func (r *resumeCmd) client(s run.Settings, before string) (keyed, error) {
	f := r.models(s, before)
	client := f.client()
	client.Roles, client.Budget.Prices = s.Models.Roles, s.Models.Prices
	return keyed{client, f.keys(getenv)}, f.check(client)
}

// models are the flags by which the models of a run are asked as it asked them: those that
// were asked at its endpoint, at the one that is given now. Of an endpoint the journal has
// neither user nor query: where the configuration names the same one, it is asked as it
// stands there.
func (r *resumeCmd) models(s run.Settings, before string) modelFlags {
	m := s.Models
	f := modelFlags{BaseURL: m.BaseURL, APIKey: r.APIKey, MaxTokens: m.MaxTokens, MaxDollars: m.MaxDollars, MaxTime: m.MaxTime,
		Attempts: m.Retry.Attempts, RetryWait: m.Retry.First, RetryLimit: m.Retry.Most}
	if r.BaseURL != "" && withoutSecrets(r.BaseURL) == m.BaseURL {
		f.BaseURL = r.BaseURL
	}
	keys := map[llm.Role]string{llm.Planner: r.Planner.APIKey, llm.Actor: r.Actor.APIKey, llm.WorldModel: r.WorldModel.APIKey, llm.Monitor: r.Monitor.APIKey, llm.Grounder: r.Grounder.APIKey}
	own := map[llm.Role]roleFlags{}
	for _, role := range append(slices.Clone(allRoles), llm.Grounder) {
		if role == llm.Grounder && m.Grounder == "" {
			continue // nobody was asked
		}
		way, known := m.Ways[role]
		if !known { // it was recorded when all were asked so
			way = run.Way{API: "chat", BaseURL: before}
		}
		at := func(w run.Way) run.Way {
			f.Stored = f.Stored || w.Stored
			if w.BaseURL == before {
				w.BaseURL = f.BaseURL
			}
			return w
		}
		way = at(way)
		one := roleFlags{Model: m.Roles[role].Model, Fallback: m.Roles[role].Fallback, API: way.API, BaseURL: way.BaseURL, APIKey: keys[role]}
		for _, other := range m.Others[role] {
			one.Others = append(one.Others, at(other))
		}
		own[role] = one
	}
	f.Planner, f.Actor, f.WorldModel, f.Monitor = own[llm.Planner], own[llm.Actor], own[llm.WorldModel], own[llm.Monitor]
	f.Grounder = grounderFlags{own[llm.Grounder], cmp.Or(m.GroundTries, run.DefaultGroundTries), m.Grounder}
	return f
}

// sameTools returns why a run cannot go on without tools that it had.
func sameTools(had []run.Tool, now run.Toolbox) error {
	var offered []run.Tool
	if now != nil {
		offered = now.Offer()
	}
	var missing []string
	for _, t := range had {
		if !slices.ContainsFunc(offered, func(o run.Tool) bool { return o.Name == t.Name }) {
			missing = append(missing, t.Name)
		}
	}
	if missing == nil {
		return nil
	}
	return hintError{fmt.Errorf("the run had tools that are not there now: %s", strings.Join(missing, ", ")), "give --mcp, --files and --programs as the run had them"}
}

// desktopFile, beside a journal, names the folder of a private desktop that is kept.
const desktopFile = "desktop"

// comeBack opens the desktop of a run again, or a new private one where that is gone.
func (j job) comeBack(ctx context.Context, c console, dir string) (*work, run.Return, error) {
	if j.noScreen || !j.settings.Display.Private {
		w, err := j.open(ctx, c)
		return w, run.SameDesktop, err
	}
	if folder, err := os.ReadFile(filepath.Join(dir, desktopFile)); err == nil && sandbox.Kept(string(folder)) {
		j.attach = string(folder)
		w, err := j.open(ctx, c)
		if !errors.Is(err, sandbox.ErrGone) {
			return w, run.SameDesktop, err
		}
		j.attach = ""
	}
	back := j.freshDesktop(c)
	w, err := j.open(ctx, c)
	return w, back, err
}

// freshDesktop has the job begin on a new private desktop, and says so.
func (j *job) freshDesktop(c console) run.Return {
	home := j.settings.Display.KeepHome
	if home != "" && isFolder(home) {
		j.keptHome = home
		fmt.Fprintf(c.Err, "note: the private desktop is gone: the run goes on on a new one, with the home %s\n", home)
		return run.FreshKept
	}
	fmt.Fprintln(c.Err, "note: the private desktop is gone, with its files: the run goes on on a new one")
	j.settings.Display.KeepHome = ""
	return run.FreshDesktop
}
