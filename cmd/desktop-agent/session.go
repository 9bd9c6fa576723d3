package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"desktop-agent/agent"
	"desktop-agent/llm"
	"desktop-agent/replay"
	"desktop-agent/replay/report"
	"desktop-agent/run"
	"desktop-agent/sandbox"
)

// A work is a session with somebody watching it, and the journal that it writes.
type work struct {
	*run.Session
	journal *replay.Journal
	show    *progress // nil where events are written as lines of JSON
}

// A job says what a session is opened for.
type job struct {
	settings run.Settings
	who      string // "" for the agent
	client   *llm.Client
	unasked  bool // the guard asks no model: its table alone decides
	noInput  bool
	noScreen bool   // nothing is done on a display
	runs     string // folder that keeps the runs
	keepHome string
	attach   string          // folder of a private desktop that was kept
	keptHome string          // of a run before: it is there
	journal  *replay.Journal // that is written; nil for a new one
	tools    run.Toolbox     // nil for none
	secrets  []run.Secret
	json     bool // write each event to standard output
	steps    int  // how many there are at most
	watch    func(run.Event)
	log      *slog.Logger
}

// open opens what a job needs, with a person or a program watching.
func (j job) open(ctx context.Context, c console) (*work, error) {
	w := &work{}
	watch := j.watch
	switch {
	case watch != nil:
	case j.json:
		watch = jsonLines(c)
	default:
		// A status line that is written anew would run into the log.
		verbose := j.log.Enabled(ctx, slog.LevelDebug)
		w.show = newProgress(c.Err, j.steps, !verbose)
		watch = w.show.Watch
	}
	options := &run.Options{
		Agent: j.who, Client: j.client, Tools: j.tools, Watch: watch, GuardFor: w.guard(j, c).Guard, NoInput: j.noInput, NoDesktop: j.noScreen, Secrets: j.secrets, Getenv: os.Getenv, Log: j.log,
		Journal: func() (_ run.Journal, err error) {
			if w.journal = j.journal; w.journal != nil {
				return w.journal, nil
			}
			if w.journal, err = replay.Create(j.runs); err != nil {
				return nil, hintError{err, "name a folder that can be written to with --runs"}
			}
			return w.journal, nil
		},
	}
	if j.keepHome != "" {
		if err := newHome(j.keepHome, j.settings.Display.Home); err != nil {
			return nil, err
		}
		options.KeepHome, options.NewHome = j.keepHome, true
	}
	if j.keptHome != "" {
		options.KeepHome = j.keptHome
	}
	options.Attach = j.attach
	var err error
	if w.Session, err = run.Open(ctx, j.settings, options); err != nil {
		if w.show != nil {
			w.show.Close()
		}
		if j.keepHome != "" && isFolder(j.keepHome) {
			fmt.Fprintf(c.Err, "note: %s stays, as what was opened may have written there: remove it, or name another folder with --keep-home\n", j.keepHome)
		}
		if errors.Is(err, sandbox.ErrNotInstalled) {
			return nil, &usageError{err}
		}
		return nil, seatError(err)
	}
	if w.Private != nil && !j.settings.Display.MachineDevices {
		if why := w.Private.Confined(); why != nil {
			fmt.Fprintf(c.Err, "note: programs of the private desktop have the devices and the shared memory of this machine: %s\n", oneLine(why))
		}
	}
	if w.Private != nil && j.settings.Display.KeepFor > 0 {
		if err := (&replay.Run{Dir: w.journal.Dir()}).Keep(desktopFile, []byte(w.Private.Folder())); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	stoppable(ctx, w.Session)
	return w, nil
}

// newHome makes a home folder that is kept, with the content of another one if
// that is given. Where that cannot be copied none is left.
func newHome(home, from string) error {
	if err := os.Mkdir(home, 0o700); err != nil {
		return &usageError{hintError{fmt.Errorf("--keep-home: %w", err), "name a folder that is not there yet"}}
	}
	if from == "" {
		return nil
	}
	if err := os.CopyFS(home, os.DirFS(from)); err != nil {
		return errors.Join(fmt.Errorf("copy %s: %w", from, err), os.RemoveAll(home))
	}
	return nil
}

// finish ends the run and writes its report. err is what the run ended with.
func (w *work) finish(err error) error {
	if w.show != nil {
		w.show.Close()
	}
	// A desktop that is gone, or a journal that broke, has been told of.
	if closed := w.Finish(); !errors.Is(err, run.ErrDesktopGone) && !errors.Is(err, run.ErrJournal) {
		err = errors.Join(err, closed)
	}
	return err
}

// report says where the run is, and writes its report.
func (w *work) report(c console) error {
	page := report.Save(w.journal.Dir())
	fmt.Fprintf(c.Err, "run: %s\n", w.journal.Dir())
	if page == nil {
		fmt.Fprintf(c.Err, "report: %s\n", filepath.Join(w.journal.Dir(), report.File))
	}
	return page
}

// agent puts an agent together; ask may be nil.
func (w *work) agent(ask func(context.Context, string) (string, error)) (*agent.Agent, error) {
	a, err := agent.New(w.Session)
	if err != nil {
		return nil, err
	}
	if ask != nil {
		a.Ask = w.asking(ask)
	}
	return a, nil
}

// asking asks the user while nothing else is shown.
func (w *work) asking(ask func(context.Context, string) (string, error)) func(context.Context, string) (string, error) {
	if w.show == nil {
		return ask
	}
	return func(ctx context.Context, question string) (string, error) {
		defer w.show.Pause()()
		return ask(ctx, question)
	}
}

// conduct has an agent do a task, and says how it ended.
func (w *work) conduct(ctx context.Context, c console, a *agent.Agent, task string) error {
	return w.conducted(ctx, c, func(ctx context.Context) (run.Result, string, error) {
		result, err := a.Run(ctx, task)
		return result.Result, summary(result), err
	})
}

// conducted has a run done, and says how it ended; do returns that in words, too.
func (w *work) conducted(ctx context.Context, c console, do func(context.Context) (run.Result, string, error)) error {
	ctx, cancel := w.While(ctx)
	defer cancel()
	result, words, err := do(ctx)
	err = w.finish(err)
	if w.show != nil && err == nil {
		fmt.Fprintln(c.Err, words)
	}
	tellStopped(c, w.Session)
	if err = errors.Join(err, w.report(c)); err != nil {
		return err
	}
	switch result.Outcome {
	case run.OutcomeStopped:
		return context.Canceled
	case run.OutcomeDone:
		if w.show != nil && result.Answer != "" {
			fmt.Fprintln(c.Out, printable(result.Answer))
		}
		return nil
	}
	return errNotDone
}

// summary says in a line or two how a run ended.
func summary(r agent.Result) string {
	text := fmt.Sprintf("%s after %s and %s; %s, %d tokens", r.Outcome.Words(r.Grade),
		counted(r.Steps, "step"), r.Elapsed.Round(100*time.Millisecond), counted(r.Calls, "model call"), r.Usage.Input+r.Usage.Output)
	if n := r.Foreseen.Yes + r.Foreseen.No; n > 0 {
		text += fmt.Sprintf("; %d of %d foresights came true", r.Foreseen.Yes, n)
	}
	if r.Dollars > 0 {
		text += fmt.Sprintf(", $%.4f", r.Dollars)
	}
	if r.Overridden > 0 {
		text += "; " + counted(r.Overridden, "objection") + " overridden"
	}
	if r.Answer != "" && r.Outcome != run.OutcomeDone && r.Outcome != run.OutcomeStopped {
		text += "\nwhy: " + printable(r.Answer)
	}
	return text
}

// counted writes how many there are of a thing.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
