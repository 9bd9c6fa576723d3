package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"desktop-agent/actuator/dialect"
	"desktop-agent/actuator/native"
	"desktop-agent/llm"
	"desktop-agent/llm/provider"
	"desktop-agent/run"
	"desktop-agent/run/eventjson"
	"desktop-agent/tasks"
	"desktop-agent/tasks/asset"
	"desktop-agent/tasks/bench"
	"desktop-agent/tasks/bench/report"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/judge"
	"desktop-agent/tasks/trial"
)

// benchCmd does whole suites, and says how well.
type benchCmd struct {
	Run    benchRunCmd    `cmd:"" default:"withargs" help:"Do a suite on this machine."`
	Serve  benchServeCmd  `cmd:"" help:"Do a suite on other machines: hand its trials out to workers."`
	Worker benchWorkerCmd `cmd:"" help:"Do trials that another machine hands out."`
}

// scripted is the model that is none: each task is done by its script.
const scripted = "scripted"

// benchFlags say what is done, and how often.
type benchFlags struct {
	Suite string `arg:"" help:"The suite: its folder, one of its test_*.json, or the file of a task." type:"path"`

	Results string   `help:"Folder of the results; a run that was stopped goes on in it." default:"results" type:"path" group:"Benchmark"`
	Repeat  int      `help:"How often each task is done with each configuration." default:"1" group:"Benchmark"`
	Plan    []string `help:"Configurations: with the suggestive plan, with a deliberate one, without a plan, or several side by side (on,deliberate,off)." default:"on" enum:"on,deliberate,off" group:"Benchmark"`

	Judging string    `name:"judge" help:"A model that judges runs: off; score, for tasks that nothing else can, as OS-Harm's own; or compare, to tell how far it agrees with the checks." enum:"off,score,compare" default:"off" group:"Judge"`
	Judge   roleFlags `embed:"" prefix:"judge-" group:"Judge"`

	suiteFlags
	tuningFlags
	observationFlags
	modelFlags
}

// A benchSpec is what a worker must know of a benchmark. No secret is in it.
type benchSpec struct {
	Suite  string     `json:"suite"` // path
	Digest string     `json:"digest"`
	Flags  benchFlags `json:"flags"`
}

// A benchmark is one that is about to be run.
type benchmark struct {
	flags benchFlags
	suite *tasks.Suite
	spec  json.RawMessage
	list  []tasks.Trial
}

// prepare reads the suite and lists the trials.
func (f benchFlags) prepare() (*benchmark, error) {
	if err := f.check(); err != nil {
		return nil, &usageError{err}
	}
	suite, digest, problems, err := f.load(f.Suite)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, hintError{problems, "mend the suite, or choose tasks with --only and --domain"}
	}
	b := &benchmark{flags: f, suite: suite}
	f.APIKey, f.BaseURL = "", withoutSecrets(f.base())
	if err := f.sameAsBefore(suite.Name, digest); err != nil {
		return nil, err
	}
	b.spec, err = json.Marshal(benchSpec{Suite: f.Suite, Digest: digest, Flags: f})
	for _, config := range slices.Sorted(maps.Keys(f.actors())) {
		for _, task := range suite.Tasks {
			for n := range f.Repeat {
				b.list = append(b.list, tasks.Trial{Task: task.ID, Config: config, Repeat: n + 1})
			}
		}
	}
	return b, err
}

// benchFile keeps, in a results folder, what its results were made with.
const benchFile = "bench.json"

// sameAsBefore refuses to go on in a folder whose results were made with other
// settings, or of other tasks. Tasks, configurations and repeats may be added.
func (f benchFlags) sameAsBefore(suite, digest string) error {
	name := filepath.Join(f.Results, benchFile)
	f.Suite, f.Results, f.Repeat, f.Plan, f.Only, f.Domain, f.Cache, f.Offline = "", "", 0, nil, nil, nil, "", false
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	now := map[string]any{}
	if err := json.Unmarshal(text, &now); err != nil {
		return err
	}
	now["suite"], now["tasks"] = suite, digest
	before := map[string]any{}
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		if data, err = json.MarshalIndent(now, "", "  "); err != nil {
			return err
		}
		if err = os.MkdirAll(filepath.Dir(name), 0o700); err == nil {
			err = os.WriteFile(name, append(data, '\n'), 0o600)
		}
		now = nil // there is nothing to compare
	}
	if err != nil {
		return hintError{fmt.Errorf("folder for results: %w", err), "name a folder that can be written to with --results"}
	}
	if now == nil {
		return nil
	}
	if err := json.Unmarshal(data, &before); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var differ []string
	for key := range now {
		if !reflect.DeepEqual(now[key], before[key]) {
			differ = append(differ, key)
		}
	}
	if len(differ) == 0 {
		return nil
	}
	slices.Sort(differ)
	return &usageError{hintError{fmt.Errorf("the results in %s are of other settings (%s)", filepath.Dir(name), strings.Join(differ, ", ")),
		"name another folder with --results"}}
}

func (f benchFlags) check() error {
	if f.Repeat < 1 {
		return hintError{fmt.Errorf("--repeat %d is less than once", f.Repeat), "write how often each task is done"}
	}
	if err := cmp.Or(f.tuningFlags.check(), f.observationFlags.check()); err != nil {
		return err
	}
	switch {
	case f.Model == scripted && f.Judging != "off":
		return hintError{errors.New("a script leaves nothing to judge"), "leave out --judge, or name a model with --model"}
	case f.Model == scripted:
		return nil
	}
	for _, own := range []roleFlags{f.Planner, f.Actor, f.WorldModel, f.Monitor, f.own(llm.Grounder), f.Judge} {
		if c := f.choose(own); own.APIKey != "" || host(c.BaseURL) != host(f.base()) {
			return hintError{fmt.Errorf("a benchmark asks all models at one endpoint, and these are at %s and %s", withoutSecrets(f.base()), withoutSecrets(c.BaseURL)),
				"name one with --base-url, and no key or endpoint for a role"}
		}
	}
	return cmp.Or(f.modelFlags.check(f.client()), f.modelFlags.mixed(f.Format))
}

// actors are what works on the tasks, by configuration.
func (f benchFlags) actors() map[string]trial.Act {
	list := map[string]trial.Act{}
	if f.Model == scripted {
		for _, way := range trial.Ways {
			list[string(way)] = trial.Scripted(way)
		}
		return list
	}
	for _, plan := range f.Plan {
		list["plan="+plan] = trial.Agent(trial.Config{
			Client:   f.client,
			Secrets:  keysOf(f.keys(getenv)...),
			Settings: f.settings(plan),
		})
	}
	return list
}

// settings are those of the trials that plan so.
func (f benchFlags) settings(plan string) run.Settings {
	a := agentFlags{Plan: plan, tuningFlags: f.tuningFlags}
	if plan == "on" {
		a.Plan = "suggestive"
	}
	display := run.DisplaySettings{Private: true}
	f.observationFlags.set(&display)
	return run.Settings{Display: display, Agent: a.settings(), Models: f.modelFlags.settings()}
}

// judging returns what a model is asked about runs; nil for nothing.
func (f benchFlags) judging(log *slog.Logger) *trial.Judging {
	if f.Judging == "off" || f.Model == scripted {
		return nil
	}
	client := f.client()
	client.Roles[judge.Role] = f.Judge.settings()
	client.Model.(provider.ByRole)[judge.Role] = f.endpoint(f.Judge)
	client.Log = log
	return &trial.Judging{Judge: &judge.Judge{Model: client, Prices: client.Budget.Prices, Log: log}, Compare: f.Judging == "compare"}
}

// agreement says how far the judge agrees with the checks, and keeps it beside the
// report.
func (b *benchmark) agreement(c console, results []tasks.Result) error {
	if b.flags.Judging != "compare" {
		return nil
	}
	a := trial.Agreement(results)
	data, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	if a.Same.Rate != nil {
		fmt.Fprintf(c.Out, "the judge says what the checks say of %.0f %% of %s [%.0f – %.0f %%]", 100**a.Same.Rate, counted(a.Trials, "trial"), 100*a.Same.Low, 100*a.Same.High)
		if a.Kappa != nil {
			fmt.Fprintf(c.Out, ", kappa %.2f", *a.Kappa)
		}
		fmt.Fprintln(c.Out)
	}
	return os.WriteFile(filepath.Join(b.flags.Results, "judge.json"), append(data, '\n'), 0o600)
}

// askAt has models asked at the endpoint that the worker's own settings name, with
// their key. That of the benchmark must be the same: whoever it comes from, the
// key is not sent there for its sake.
func (s *benchSpec) askAt(own, key string) error {
	theirs := s.Flags.BaseURL
	s.Flags.BaseURL, s.Flags.APIKey = own, key
	for _, role := range []*roleFlags{&s.Flags.Planner, &s.Flags.Actor, &s.Flags.WorldModel, &s.Flags.Monitor, &s.Flags.Grounder.roleFlags, &s.Flags.Judge} {
		role.BaseURL, role.APIKey, role.Others = "", "", nil
	}
	plain := func(address string) string { return strings.TrimRight(withoutSecrets(address), "/") }
	if s.Flags.Model == scripted || own != "" && plain(own) == plain(theirs) {
		return nil
	}
	mine := "which no setting of this worker names"
	if own != "" {
		mine = "and this worker's settings name " + withoutSecrets(own)
	}
	theirs = printable(withoutSecrets(theirs))
	return &usageError{hintError{fmt.Errorf("the benchmark asks its models at %s, %s", theirs, mine),
		"the key goes only where you say: if that is the right endpoint, pass --base-url " + theirs}}
}

// do returns what a worker does, from what it was told and its own flags.
func do(ctx context.Context, spec json.RawMessage, w *benchWorkerCmd, etc *env.Etc, log *slog.Logger) (bench.Do, error) {
	suite := w.Suite
	var s benchSpec
	if err := json.Unmarshal(spec, &s); err != nil {
		return nil, fmt.Errorf("what the benchmark says of itself cannot be read: %w; use the same version on all machines", err)
	}
	if err := s.askAt(w.BaseURL, w.APIKey); err != nil {
		return nil, err
	}
	if s.Flags.Unisolated && !w.Unisolated {
		return nil, &usageError{hintError{errors.New("the benchmark wants its commands run on this machine itself, and not isolated"),
			"if they may do there whatever this user may, pass --unisolated to this worker too"}}
	}
	if _, err := s.Flags.isolation(ctx); err != nil {
		return nil, err
	}
	loaded, digest, problems, err := s.Flags.load(cmp.Or(suite, s.Suite))
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, problems
	}
	if digest != s.Digest {
		return nil, hintError{fmt.Errorf("suite %s has other tasks than the benchmark", cmp.Or(suite, s.Suite)), "name a copy of the same suite with --suite"}
	}
	r := s.Flags.runner(loaded)
	r.Actors, r.Judging, r.Etc, r.Log = s.Flags.actors(), s.Flags.judging(log), etc, log
	return func(ctx context.Context, t tasks.Trial, dir string) (tasks.Result, error) {
		return r.Do(asset.Allow(ctx, s.Flags.AllowHost...), t, dir)
	}, nil
}

// coordinator hands the trials out.
func (b *benchmark) coordinator(progress func(bench.Progress), log *slog.Logger) *bench.Coordinator {
	domains := map[string]string{}
	for _, t := range b.suite.Tasks {
		domains[t.ID] = t.Domain
	}
	return &bench.Coordinator{
		Dir: b.flags.Results, Trials: b.list, Spec: b.spec, Domain: func(task string) string { return domains[task] },
		Progress: progress, Log: log,
	}
}

// report writes what came of a benchmark, and prints it. The error is errNotDone
// if scripts did not score as they should.
func (b *benchmark) report(c console, began time.Time) error {
	results, err := bench.ReadResults(b.flags.Results)
	if err != nil {
		return err
	}
	meta, err := b.meta(began)
	if err != nil {
		return err
	}
	r := report.New(meta, b.suite.Tasks, b.linked(results))
	if err := errors.Join(r.Save(b.flags.Results), r.Text(c.Out), b.agreement(c, results)); err != nil {
		return err
	}
	fmt.Fprintf(c.Err, "report: %s\n", filepath.Join(b.flags.Results, report.FileHTML))
	if b.flags.Model == scripted {
		return unsound(c, results)
	}
	return nil
}

// linked leaves out links to trajectories that there are none of: scripts leave
// none, nor does what broke before it began.
func (b *benchmark) linked(results []tasks.Result) []tasks.Result {
	list := slices.Clone(results)
	for i, r := range list {
		if _, err := os.Stat(filepath.Join(b.flags.Results, filepath.FromSlash(r.Run), "report.html")); err != nil {
			list[i].Run = ""
		}
	}
	return list
}

// unsound names the scripts that did not score as they should.
func unsound(c console, results []tasks.Result) error {
	bad := 0
	for _, r := range results {
		want := 0.0
		if r.Config == string(trial.Solution) {
			want = 1
		}
		if !r.Status.Tells() || r.Status == tasks.Scored && r.Score == want {
			continue
		}
		bad++
		fmt.Fprintf(c.Err, "%s of %s: %s, score %g instead of %g: %s\n", r.Config, printable(r.Task), r.Status, r.Score, want, printable(oneLine(errors.New(r.Why))))
	}
	if bad > 0 {
		return errNotDone
	}
	return nil
}

// meta says what the benchmark was run with.
func (b *benchmark) meta(began time.Time) (m report.Meta, err error) {
	m = report.Meta{
		Suite: b.suite.Name, Time: began, Repeats: b.flags.Repeat,
		Host:     map[string]string{"system": runtime.GOOS + "/" + runtime.GOARCH, "processors": fmt.Sprint(runtime.NumCPU())},
		Versions: map[string]string{"desktop-agent": version()},
	}
	for _, name := range slices.Sorted(maps.Keys(b.flags.actors())) {
		config := report.Config{Name: name, ActionSpace: "pyautogui", Observation: "screenshot_a11y_tree"}
		if b.flags.Model == scripted {
			config.Planning, config.Guard, config.Shell, config.Models = "off", run.NoGuard, true, map[string]string{"actor": scripted}
		} else {
			settings := b.flags.settings(strings.TrimPrefix(name, "plan="))
			config.Models, config.Planning, config.Guard = settings.Models.Models(), settings.Agent.Planning, trial.GuardName(settings, b.suite.Tasks)
			format := b.flags.Format
			if chosen, _, err := native.Choose(format, config.Models["actor"], b.flags.choose(b.flags.Actor).Computer); err == nil { // it was checked with the flags
				format = chosen
			}
			if config.Settings, err = told(settings); err != nil {
				return m, err
			}
			config.Settings["format"] = format
			if format != dialect.Code {
				config.ActionSpace = format
			}
			if dialect.Named(format) != nil { // no list of elements is shown
				config.Observation = "screenshot"
			}
		}
		m.Configs = append(m.Configs, config)
	}
	return m, nil
}

// told are settings as the first event of a run has them, each value by its path, without
// those that each trial has of its own.
func told(s run.Settings) (map[string]any, error) {
	text, err := eventjson.Marshal(run.RunStarted{Settings: s})
	if err != nil {
		return nil, err
	}
	var first struct{ Settings map[string]any }
	if err := json.Unmarshal(text, &first); err != nil {
		return nil, err
	}
	for _, own := range []string{"size", "dpi", "boundary"} {
		delete(first.Settings, own)
	}
	list := map[string]any{}
	flatten(list, "", first.Settings)
	return list, nil
}

// flatten puts each value into the list, by its path.
func flatten(list map[string]any, path string, value any) {
	inner, ok := value.(map[string]any)
	if !ok {
		list[path] = value
		return
	}
	for key, v := range inner {
		flatten(list, strings.TrimPrefix(path+"."+key, "."), v)
	}
}

// benchRunCmd does a suite with worker processes of this machine.
type benchRunCmd struct {
	Parallel int `help:"How many trials are done at once; each takes a private desktop." default:"1" group:"Benchmark"`

	benchFlags
}

// Run does what has no result yet, and reports.
func (b *benchRunCmd) Run(ctx context.Context, c console, g *cli, _ *kong.Context) error {
	if b.Parallel < 1 {
		return &usageError{hintError{fmt.Errorf("--parallel %d is less than one", b.Parallel), "write how many trials are done at once"}}
	}
	work, err := b.prepare()
	if err != nil {
		return err
	}
	if _, err := b.isolation(ctx); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	argv := []string{self, "bench", "worker", "--child", "--shared", b.Results}
	if g.Verbose {
		argv = append(argv, "--verbose")
	}
	if b.Unisolated {
		argv = append(argv, "--unisolated")
	}
	secret, err := json.Marshal(ownModels{b.base(), b.key(getenv)})
	if err != nil {
		return err
	}
	began := time.Now()
	shown := newBenchProgress(c.Err, b.suiteFlags)
	l := &bench.Local{Workers: b.Parallel, Argv: argv, Secret: string(secret), Output: c.Err}
	err = l.Run(ctx, work.coordinator(shown.show, logger(c, g.Verbose)))
	shown.end()
	if err != nil {
		if ctx.Err() != nil {
			fmt.Fprintf(c.Err, "stopped; the same command goes on where this ended\n")
		}
		return errors.Join(err, work.partial(c, began))
	}
	return work.report(c, began)
}

// partial reports what there is of a benchmark that was stopped.
func (b *benchmark) partial(c console, began time.Time) error {
	results, err := bench.ReadResults(b.flags.Results)
	if err != nil || len(results) == 0 {
		return err
	}
	meta, err := b.meta(began)
	if err != nil {
		return err
	}
	err = report.New(meta, b.suite.Tasks, b.linked(results)).Save(b.flags.Results)
	if err == nil {
		fmt.Fprintf(c.Err, "report of what is done: %s\n", filepath.Join(b.flags.Results, report.FileHTML))
	}
	return err
}

// progressText says how far a benchmark is.
func progressText(p bench.Progress) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d of %d done: %d scored 1, %d less", p.Done, p.Total, p.Passing, p.Failing)
	for _, part := range []struct {
		n    int
		word string
	}{{p.Errors, "broken"}, {p.Skipped, "skipped"}, {p.Running, "running"}} {
		if part.n > 0 {
			fmt.Fprintf(&text, ", %d %s", part.n, part.word)
		}
	}
	if p.Rate > 0 {
		fmt.Fprintf(&text, "; %.0f an hour", p.Rate)
	}
	if p.Left > 0 {
		fmt.Fprintf(&text, ", %s left", p.Left.Round(time.Second))
	}
	return strings.TrimSpace(text.String())
}
