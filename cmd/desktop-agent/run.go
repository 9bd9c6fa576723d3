package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"desktop-agent/agent"
	"desktop-agent/llm"
	"desktop-agent/replay"
)

// runCmd does a task.
type runCmd struct {
	Task string `arg:"" help:"What to do, in a sentence."`
	JSON bool   `name:"json" help:"Write each event as a line of JSON to standard output, instead of progress for a person."`
	Runs string `help:"Folder that keeps the runs." default:"runs" type:"path"`

	desktopFlags
	agentFlags
	modelFlags
}

// Run does the task and reports how it ended.
func (r *runCmd) Run(ctx context.Context, c console, g *cli) error {
	if strings.TrimSpace(r.Task) == "" {
		return &usageError{hintError{errors.New("the task is empty"), `write what to do: desktop-agent run "Save the document as notes.txt"`}}
	}
	if err := r.desktopFlags.check(); err != nil {
		return &usageError{err}
	}
	client := r.modelFlags.client()
	if err := client.Check(); err != nil {
		return &usageError{err}
	}
	log := logger(c, g.Verbose)
	s, err := openSession(ctx, r.desktopFlags, "", log)
	if err != nil {
		return err
	}
	defer s.Close()
	journal, err := replay.Create(r.Runs)
	if err != nil {
		return err
	}
	a, err := newAgent(client, s, journal, r.agentFlags, log)
	if err != nil {
		return err
	}
	a.Budget, client.Record, client.Log = client.Budget, a.RecordCall, log
	a.Settings, a.Models = r.journalSettings(), modelsOf(client)
	if !r.JSON {
		a.Ask = asker(c)
	}
	return conduct(ctx, c, a, s, journal, r.Task, r.JSON)
}

// conduct runs an agent with a person or a program watching, and closes the
// journal whatever happens.
func conduct(ctx context.Context, c console, a *agent.Agent, s *session, journal *replay.Journal, task string, asJSON bool) error {
	var shown *progress
	if asJSON {
		a.Watch = jsonLines(c.Out)
	} else {
		shown = newProgress(c.Err, a.MaxSteps)
		a.Watch = shown.Watch
	}
	ctx, cancel := watchDesktop(ctx, s)
	defer cancel()
	result, err := a.Run(ctx, task)
	if shown != nil {
		shown.Close()
	}
	// Nothing stays pressed while the report is written.
	err = errors.Join(err, s.Device.Release(), journal.Close())
	report := filepath.Join(journal.Dir(), "report.html")
	if err != nil {
		fmt.Fprintf(c.Err, "run: %s\n", journal.Dir())
		return err
	}
	if !asJSON {
		fmt.Fprintf(c.Err, "%s after %d steps, %s, %d model calls, %d tokens, $%.4f\n", strings.ReplaceAll(string(result.Outcome), "_", " "),
			result.Steps, result.Elapsed.Round(100*time.Millisecond), result.Calls, result.Usage.Input+result.Usage.Output, result.Dollars)
		fmt.Fprintf(c.Err, "run: %s\nreport: %s\n", journal.Dir(), report)
		if result.Answer != "" && result.Outcome != agent.OutcomeStopped {
			fmt.Fprintln(c.Out, printable(result.Answer))
		}
	}
	switch result.Outcome {
	case agent.OutcomeDone:
		return nil
	case agent.OutcomeStopped:
		return context.Canceled
	}
	return errNotDone
}

// watchDesktop cancels the run when the private desktop breaks.
func watchDesktop(ctx context.Context, s *session) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if s.Private != nil {
		go func() {
			select {
			case <-s.Private.Done():
				cancel(fmt.Errorf("%w: %w", agent.ErrDesktopGone, s.Private.Err()))
			case <-ctx.Done():
			}
		}()
	}
	return ctx, func() { cancel(nil) }
}

// journalSettings are the settings that a run's first event tells. No key is
// among them.
func (r *runCmd) journalSettings() map[string]any {
	return map[string]any{
		"base_url": r.BaseURL, "virtual": r.Virtual, "open": r.Open, "monitor": r.OnMonitor,
		"max_steps": r.MaxSteps, "max_tokens": r.MaxTokens, "max_dollars": r.MaxDollars, "max_time": r.MaxTime.String(),
	}
}

// modelsOf names the model of each role.
func modelsOf(c *llm.Client) map[string]string {
	names := map[string]string{}
	for _, role := range []llm.Role{llm.Planner, llm.Actor, llm.WorldModel, llm.Monitor} {
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
		fmt.Fprintf(c.Err, "\nquestion: %s\nanswer: ", printable(question))
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

// logger returns the log of a command: silent unless asked for.
func logger(c console, verbose bool) *slog.Logger {
	if !verbose {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(c.Err, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
