package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"desktop-agent/agent"
	"desktop-agent/llm"
	"desktop-agent/replay"
	"desktop-agent/replay/report"
	"desktop-agent/run"
)

// runCmd does a task.
type runCmd struct {
	Task string `arg:"" help:"What to do, in a sentence."`
	JSON bool   `name:"json" help:"Write each event as a line of JSON to standard output, instead of progress for a person; nobody is asked then."`
	Like string `help:"Show the actor how it was done once: a recorded run, of a person or an agent, by its folder, its ID or last." placeholder:"RUN"`
	Runs string `help:"Folder that keeps the runs." default:"runs" type:"path"`

	desktopFlags
	agentFlags
	modelFlags
}

// Run does the task and reports how it ended.
func (r *runCmd) Run(ctx context.Context, c console, g *cli, line *kong.Context) error {
	if strings.TrimSpace(r.Task) == "" {
		return &usageError{hintError{errors.New("the task is empty"), `write what to do: desktop-agent run "Save the document as notes.txt"`}}
	}
	if err := cmp.Or(r.agentFlags.check(), r.desktopFlags.check(line)); err != nil {
		return &usageError{err}
	}
	client := r.modelFlags.client()
	if err := client.Check(); err != nil {
		return &usageError{err}
	}
	if note := r.wayland(os.Getenv); note != "" {
		fmt.Fprintln(c.Err, "note:", note)
	}
	like, err := r.like()
	if err != nil {
		return &usageError{err}
	}
	log := logger(c, g.Verbose)
	s, err := openSession(ctx, r.desktopFlags, log)
	if err != nil {
		return err
	}
	defer s.Close()
	a, err := agent.New(client, s.live(), r.parts(log))
	if err != nil {
		return err
	}
	journal, err := createJournal(r.Runs)
	if err != nil {
		return err
	}
	a.Journal, a.Budget, client.Record, client.Log = journal, client.Budget, a.RecordCall, log
	a.Settings, a.Models = journalSettings(r.desktopFlags, r.agentFlags, r.modelFlags), modelsOf(client)
	if a.Actor.Like = like; like != nil {
		a.Settings["like"] = like
	}
	if !r.JSON {
		a.Ask = asker(c)
	}
	return conduct(ctx, c, a, s, journal, r.Task, r.JSON)
}

// like returns the run that shows the actor how it can be done; nil for none.
func (r *runCmd) like() (*agent.Demonstration, error) {
	if r.Like == "" {
		return nil, nil
	}
	stored, err := openRun(r.Runs, r.Like)
	if err != nil {
		return nil, err
	}
	return replay.Demonstrate(stored)
}

// createJournal begins a run in the folder of runs.
func createJournal(runs string) (*replay.Journal, error) {
	journal, err := replay.Create(runs)
	if err != nil {
		return nil, hintError{err, "name a folder that can be written to with --runs"}
	}
	return journal, nil
}

// conduct runs an agent with a person or a program watching, and closes the
// journal whatever happens.
func conduct(ctx context.Context, c console, a *agent.Agent, s *session, journal *replay.Journal, task string, asJSON bool) error {
	closeProgress := func() {}
	if asJSON {
		lines := jsonLines(c.Out)
		a.Watch = func(e run.Event) {
			if d, ok := e.Data.(run.RunStarted); ok && d.Guard == "none" {
				fmt.Fprintln(c.Err, noGuard)
			}
			lines(e)
		}
	} else {
		// A status line that is written anew would run into the log.
		verbose := a.Log != nil && a.Log.Enabled(ctx, slog.LevelDebug)
		shown := newProgress(c.Err, a.MaxSteps, !verbose)
		a.Watch, closeProgress = shown.Watch, shown.Close
		if ask := a.Ask; ask != nil {
			a.Ask = func(ctx context.Context, question string) (string, error) {
				defer shown.Pause()()
				return ask(ctx, question)
			}
		}
	}
	ctx, cancel := watchDesktop(ctx, s)
	defer cancel()
	result, err := a.Run(ctx, task)
	closeProgress()
	// Nothing stays pressed while the report is written.
	if released := s.Device.Release(); !errors.Is(err, run.ErrDesktopGone) {
		err = errors.Join(err, released)
	}
	// A journal that broke has been told of.
	if closed := journal.Close(); !errors.Is(err, run.ErrJournal) {
		err = errors.Join(err, closed)
	}
	page := report.Save(journal.Dir())
	if !asJSON && err == nil {
		fmt.Fprintln(c.Err, summary(result))
	}
	fmt.Fprintf(c.Err, "run: %s\n", journal.Dir())
	if page == nil {
		fmt.Fprintf(c.Err, "report: %s\n", filepath.Join(journal.Dir(), report.File))
	}
	if err = errors.Join(err, page); err != nil {
		return err
	}
	switch result.Outcome {
	case run.OutcomeStopped:
		return context.Canceled
	case run.OutcomeDone:
		if !asJSON && result.Answer != "" {
			fmt.Fprintln(c.Out, printable(result.Answer))
		}
		return nil
	}
	return errNotDone
}

// counted writes how many there are of a thing.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// summary says in a line or two how a run ended.
func summary(r agent.Result) string {
	text := fmt.Sprintf("%s after %s and %s; %s, %d tokens", strings.ReplaceAll(string(r.Outcome), "_", " "),
		counted(r.Steps, "step"), r.Elapsed.Round(100*time.Millisecond), counted(r.Calls, "model call"), r.Usage.Input+r.Usage.Output)
	if r.Dollars > 0 {
		text += fmt.Sprintf(", $%.4f", r.Dollars)
	}
	if r.Answer != "" && r.Outcome != run.OutcomeDone && r.Outcome != run.OutcomeStopped {
		text += "\nwhy: " + printable(r.Answer)
	}
	return text
}

// watchDesktop cancels the run when the private desktop breaks.
func watchDesktop(ctx context.Context, s *session) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if s.Private != nil {
		go func() {
			select {
			case <-s.Private.Done():
				cancel(fmt.Errorf("%w: %w", run.ErrDesktopGone, s.Private.Err()))
			case <-ctx.Done():
			}
		}()
	}
	return ctx, func() { cancel(nil) }
}

// modelsOf names the model of each role.
func modelsOf(c *llm.Client) map[string]string {
	names := map[string]string{}
	for _, role := range allRoles {
		names[string(role)] = c.Settings(role).Model
	}
	return names
}

// asker returns how the actor asks the user: on a terminal, and not at all
// where there is none.
func asker(c console) func(context.Context, string) (string, error) {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	return func(ctx context.Context, question string) (string, error) {
		fmt.Fprintf(c.Err, "question: %s\nanswer: ", printable(question))
		line := make(chan string, 1)
		go func() { // ends with the program if no answer comes
			text, err := bufio.NewReader(os.Stdin).ReadString('\n')
			if err == nil || errors.Is(err, io.EOF) && text != "" {
				line <- strings.TrimSpace(text)
			}
			close(line)
		}()
		select {
		case text, ok := <-line:
			if !ok {
				return "", io.EOF
			}
			return text, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
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
