package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"desktop-agent/engine"
	"desktop-agent/llm"
	"desktop-agent/replay"
	"desktop-agent/replay/offline"
	"desktop-agent/run"
)

// replayCmd does a recorded run again, in one of three ways.
type replayCmd struct {
	Name string `arg:"" name:"run" help:"The run: its folder, its ID or the beginning of it, or last: the newest that is no replay itself." placeholder:"RUN"`

	Offline     bool `help:"Recorded screens and recorded replies: no display, no network; tells whether the agent would go the same way." group:"Way"`
	LiveDesktop bool `help:"Recorded replies on a live desktop; the screen is compared before anything is done." group:"Way"`
	Macro       bool `help:"The recorded actions on a live desktop, without a model; each finds its target again and its effect is checked." group:"Way"`

	Strict bool   `help:"With --offline: prompts in other words are an error too." group:"Way"`
	Frames bool   `help:"With --offline: decode every frame and judge by the pixels, as a live run does." group:"Way"`
	Heal   string `help:"With --macro, where the desktop is another one: off stops with a picture of both; model asks a model for that step." enum:"off,model" default:"off" group:"Way"`

	Set    map[string]string `help:"With --macro: type another text for a parameter; @FILE reads it from a file, for passwords." placeholder:"NAME=VALUE" group:"Parameters"`
	Param  map[string]string `help:"With --macro: make a parameter of a text that the run types, beside those that are found." placeholder:"NAME=TEXT" group:"Parameters"`
	Params bool              `help:"With --macro: show the parameters and do nothing." group:"Parameters"`
	Yes    bool              `short:"y" help:"Do not ask whether to type another text." group:"Parameters"`

	playFlags

	JSON bool   `name:"json" help:"Write each event as a line of JSON to standard output."`
	Runs string `help:"Folder that keeps the runs." default:"runs" type:"path"`

	desktopFlags
	agentFlags
	modelFlags
}

// Run does the run again in the way that is asked for.
func (r *replayCmd) Run(ctx context.Context, c console, g *cli, line *kong.Context) error {
	if err := r.checkWay(line); err != nil {
		return &usageError{err}
	}
	stored, err := openRun(r.Runs, original(r.Runs, r.Name))
	if err != nil {
		return err
	}
	if stored.Busy {
		return &usageError{hintError{fmt.Errorf("run %s still goes on", stored.Info.ID), "wait until it ends"}}
	}
	if stored.Info.Asked == nil {
		return hintError{fmt.Errorf("run %s was cut off before it began", stored.Info.ID), "choose another one: desktop-agent runs list"}
	}
	if stored.Cut > 0 {
		fmt.Fprintf(c.Err, "note: %d bytes of an unfinished last event are left out\n", stored.Cut)
	}
	switch {
	case r.Offline:
		return r.offline(ctx, c, stored, line)
	case r.LiveDesktop:
		return r.live(ctx, c, g, stored, line)
	}
	return r.macro(ctx, c, g, stored, line)
}

// Flags that belong to some ways only.
var (
	macroFlags   = append([]string{"heal", "set", "param", "params", "yes"}, slices.Collect(maps.Keys(playSettings))...)
	offlineFlags = []string{"strict", "frames"}
)

// checkWay refuses flags that do not go together.
func (r *replayCmd) checkWay(line *kong.Context) error {
	var ways []string
	for _, way := range []struct {
		name string
		on   bool
	}{{"--offline", r.Offline}, {"--live-desktop", r.LiveDesktop}, {"--macro", r.Macro}} {
		if way.on {
			ways = append(ways, way.name)
		}
	}
	if len(ways) != 1 {
		return hintError{fmt.Errorf("choose one way of replaying, not %d", len(ways)),
			"--offline needs nothing, --live-desktop takes the recorded replies to a desktop, --macro the recorded actions"}
	}
	for _, flag := range given(line) {
		switch name := flag.Name; {
		case slices.Contains(macroFlags, name) && !r.Macro:
			return hintError{fmt.Errorf("--%s belongs to --macro", name), "leave it out, or replay with --macro"}
		case slices.Contains(offlineFlags, name) && !r.Offline:
			return hintError{fmt.Errorf("--%s belongs to --offline", name), "leave it out, or replay with --offline"}
		case r.Offline && flag.Group != nil && flag.Group.Key == "Desktop":
			return hintError{fmt.Errorf("--%s: an offline replay has no desktop", name), "leave it out, or replay with --live-desktop or --macro"}
		case r.LiveDesktop && flag.Group != nil && strings.HasPrefix(flag.Group.Key, "Models"):
			return hintError{fmt.Errorf("--%s: the replies are the recorded ones", name), "leave it out, or do the task anew with: desktop-agent run"}
		}
	}
	if isGiven(line, "rehearsals") {
		return errNotRehearsed
	}
	return cmp.Or(r.agentFlags.check(), r.playFlags.check())
}

// original names the run that "last" means for a replay: the newest that is no
// replay itself.
func original(runs, name string) string {
	if name != "last" {
		return name
	}
	list, _ := replay.List(runs) // an error is told when the run is opened
	for _, s := range list {     // newest first
		if s.Replay == nil && s.Error == "" {
			return filepath.Base(s.Dir)
		}
	}
	return name
}

// offline replays without a desktop and without a model.
func (r *replayCmd) offline(ctx context.Context, c console, stored *replay.Run, line *kong.Context) error {
	collectLess()
	o := &offline.Options{Pixels: r.Frames}
	if r.JSON {
		o.Watch = jsonLines(c)
	}
	again, err := offline.New(stored, o)
	if err != nil {
		hint := "for what a person or a macro did, write --macro instead of --offline"
		if errors.Is(err, offline.ErrNotInOrder) {
			hint = "look at it with desktop-agent runs show; with --execution sequential a run can be replayed, unless agents of their own work in it"
		}
		return &usageError{hintError{err, hint}}
	}
	r.change(&again.Settings.Agent, line)
	result, err := again.Run(ctx)
	if errors.Is(err, offline.ErrPlanning) {
		return &usageError{hintError{err, "leave --plan out, or do the task anew with: desktop-agent run"}}
	}
	if err != nil {
		return err
	}
	out := c.Out
	if r.JSON {
		out = c.Err
	}
	for _, d := range result.Differences {
		fmt.Fprintf(out, "step %d%s\n  recorded: %s\n  now:      %s\n", d.Step, prefixed(": ", d.Kind),
			cmp.Or(printable(shorten(d.Want)), "nothing"), cmp.Or(printable(shorten(d.Got)), "nothing"))
	}
	for _, p := range result.Prompts {
		fmt.Fprintf(out, "step %d: the %s is asked to %s in other words\n%s", p.Step, p.Role, p.Purpose, lines(p.Diff))
	}
	fmt.Fprintln(out, offlineSummary(result))
	if !result.Same() || r.Strict && result.Changed > 0 {
		return errNotDone
	}
	return nil
}

// collectLess lets garbage lie longer: an offline replay keeps little and makes
// much, and is half as fast again so. The environment's own settings come first.
func collectLess() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(160 << 20)
	}
}

// offlineSummary says in a line how a replay went.
func offlineSummary(r *offline.Result) string {
	text := fmt.Sprintf("%s in %s (%.0f a second), %s answered from the recording", counted(r.Result.Steps, "step"),
		r.Took.Round(time.Millisecond), float64(r.Result.Steps)/max(r.Took.Seconds(), 1e-9), counted(r.Asked, "model call"))
	if r.Changed > 0 {
		text += fmt.Sprintf(", %d of them asked in other words", r.Changed)
	}
	switch {
	case r.Different > 0:
		text += "; " + counted(r.Different, "difference")
		if more := r.Different - len(r.Differences); more > 0 {
			text += fmt.Sprintf(", of which %d are not shown", more)
		}
	case r.Unused > 0:
		text += fmt.Sprintf("; %d recorded replies were not asked for", r.Unused)
	case r.Over:
		text += "; the same as recorded, up to where the recorded run was ended from outside"
	default:
		text += "; the same as recorded: " + strings.ReplaceAll(string(r.Outcome), "_", " ")
	}
	return text
}

// live gives the recorded replies to a live desktop.
func (r *replayCmd) live(ctx context.Context, c console, g *cli, stored *replay.Run, line *kong.Context) error {
	started := *stored.Info.Asked
	if started.Parser == "" {
		return &usageError{hintError{fmt.Errorf("no model decided in run %s", stored.Info.ID), "replay its actions: --macro"}}
	}
	if started.Planning == engine.Deliberate {
		return &usageError{hintError{fmt.Errorf("run %s executed a deliberate plan, which is not done on a live desktop with recorded replies", stored.Info.ID),
			"execute it again as it was recorded: --offline; or do its actions: --macro"}}
	}
	client := &llm.Client{Roles: map[llm.Role]llm.Settings{}}
	for role, s := range started.Settings.Models.Roles {
		client.Roles[role] = llm.Settings{Model: s.Model, Fallback: s.Fallback}
	}
	settings, err := r.settings(stored, line)
	if err != nil {
		return err
	}
	was := started.Settings
	settings.Models.Roles, settings.Models.Grounder, settings.Models.GroundTries, settings.Like = was.Models.Roles, was.Models.Grounder, was.Models.GroundTries, was.Like
	// What a guard asked is in the recording, if it had one. If not, there is nobody to ask.
	unasked := guardless(settings.Agent)
	if unasked {
		r.guardAnew(&settings.Agent)
	}
	w, err := job{settings: settings, client: client, unasked: unasked, json: r.JSON, runs: r.Runs, keepHome: r.KeepHome, steps: settings.Agent.MaxSteps, log: logger(c, g.Verbose)}.
		onDesktop(ctx, c)
	if err != nil {
		return err
	}
	defer w.Close()
	recorded, err := replay.NewRecorded(stored, w.journal)
	if err != nil {
		return err
	}
	defer recorded.Close()
	client.Model = recorded
	a, err := w.agent(nil)
	if err != nil {
		return err
	}
	a.Replay = &run.Replay{Run: stored.Info.ID, How: "model"}
	err = w.conduct(ctx, c, a, started.Task)
	if n := recorded.Count(); err == nil && n.Unused > 0 {
		fmt.Fprintf(c.Err, "note: %d recorded replies were not asked for\n", n.Unused)
	}
	var mismatch *replay.MismatchError
	var missing *replay.NotRecordedError
	if errors.As(err, &mismatch) || errors.As(err, &missing) {
		fmt.Fprintf(c.Err, "desktop-agent: %s\nhint: %s\n", oneLine(err),
			"begin from the same state, or replay the actions, which find their targets again: --macro")
		return errNotDone
	}
	return err
}

// settings are those of the recorded run, on its desktop; what stands on the
// command line holds instead, and models are those of the flags.
func (r *replayCmd) settings(stored *replay.Run, line *kong.Context) (run.Settings, error) {
	s := run.Settings{Agent: stored.Info.Asked.Settings.Agent, Models: r.modelFlags.settings()}
	r.agentFlags.change(&s.Agent, line)
	desktop, err := recordedDesktop(stored, r.desktopFlags, line)
	if err == nil {
		err = desktop.check(line)
	}
	if err != nil {
		return s, &usageError{err}
	}
	s.Display = desktop.settings()
	return s, nil
}

// guardSettings are the flags that say what watches over actions.
var guardSettings = []string{"guard", "approve", "on-block", "workspace", "policies", "guard-limit", "judge-limit", "approval-limit", "risk-limit", "careful-edits", "max-blocked"}

// guardAnew has watch over actions what the flags, the environment and the file of settings
// say: of a macro always, as who hands on a recording does not decide for this machine, and
// of recorded replies where nothing watched when they were recorded. Else these hold the
// guard's own requests too, which fit its recorded settings alone.
func (r *replayCmd) guardAnew(s *run.AgentSettings) {
	for _, name := range guardSettings {
		agentSettings[name](s, r.agentFlags)
	}
}

// guardless reports whether a run had no guard.
func guardless(s run.AgentSettings) bool { return s.Guard == "" || s.Guard == "off" }

// onDesktop opens a job, and says on which desktop.
func (j job) onDesktop(ctx context.Context, c console) (*work, error) {
	if d := j.settings.Display; d.Private {
		fmt.Fprintf(c.Err, "desktop: private, %d×%d%s%s\n", d.Size.X, d.Size.Y,
			prefixed(", with ", printable(d.Open)), prefixed(", home ", printable(d.Home)))
	} else {
		fmt.Fprintf(c.Err, "desktop: %s\n", printable(d.Name))
	}
	return j.open(ctx, c)
}

// recordedDesktop returns the desktop that a run was recorded on, and how it was looked
// at; what the command line says of it holds instead. Whether programs have this
// machine's devices is not for a recording to say.
func recordedDesktop(stored *replay.Run, f desktopFlags, line *kong.Context) (desktopFlags, error) {
	d, was := f, stored.Info.Asked.Settings.Display
	said := map[string]bool{}
	for _, flag := range given(line) {
		said[flag.Name] = true
	}
	for name, take := range observationSettings {
		told := was.Quiet > 0 || name == "max-image" && was.MaxImage > 0 // older runs tell no more
		if told && !said[name] {
			take(&d.observationFlags, was)
		}
	}
	d.Virtual = f.Virtual || was.Private && !said["display"]
	if d.Virtual == was.Private && !said["monitor"] {
		d.OnMonitor = was.Monitor
	}
	if said["display"] || !d.Virtual {
		return d, nil
	}
	if was.Open != "" && !said["open"] {
		d.Open = was.Open
	}
	if was.Size != (image.Point{}) && !said["size"] {
		d.Size = size(was.Size)
	}
	if was.DPI != 0 && !said["dpi"] {
		d.DPI = was.DPI
	}
	if was.Home != "" && !said["home"] {
		// A run may come from somebody else: it names no other folder of this machine.
		d.Home = filepath.Join(stored.Dir, "..", was.Home)
		if !filepath.IsLocal(was.Home) || !isFolder(d.Home) {
			return d, hintError{fmt.Errorf("run %s began with the home folder %s, which is not beside it", stored.Info.ID, printable(was.Home)),
				"name that folder with --home"}
		}
	}
	return d, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// shorten cuts what is too long for a line.
func shorten(text string) string { return llm.Excerpt(text, 600) }

// lines makes text from outside printable, line by line.
func lines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + printable(strings.TrimRight(line, "\n")) + "\n")
	}
	return b.String()
}

// prefixed returns text after a prefix, or nothing.
func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}
