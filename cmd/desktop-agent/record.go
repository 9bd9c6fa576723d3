package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"desktop-agent/actuator"
	"desktop-agent/replay/record"
	"desktop-agent/run"
)

// recordCmd records what a person does.
type recordCmd struct {
	Task       string `arg:"" help:"What you are going to do, in a sentence."`
	Runs       string `help:"Folder that keeps the runs." default:"runs" type:"path"`
	Stop       string `help:"Keys that end the recording." default:"ctrl+alt+escape" placeholder:"KEYS"`
	TextUnseen bool   `help:"Record text also in programs that do not tell which field has the focus; a password typed there is recorded too."`

	desktopFlags
}

// Run records until the hotkey or Ctrl-C, after which the run is kept too.
func (r *recordCmd) Run(ctx context.Context, c console, g *cli, line *kong.Context) error {
	keys, err := r.check(line)
	if err != nil {
		return &usageError{err}
	}
	log := logger(c, g.Verbose)
	w, err := job{
		settings: run.Settings{Display: r.desktopFlags.settings(), TextUnseen: r.TextUnseen}, who: "person", noInput: true,
		runs: r.Runs, keepHome: r.KeepHome, watch: sayActions(c), log: log,
	}.open(ctx, c)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := w.Sit(ctx, false); err != nil { // nobody else acts while this is recorded
		return seatError(err)
	}
	quick, err := w.QuickScreen(ctx)
	if err != nil {
		return err
	}
	defer quick.Close()
	ctx, cancel := w.While(ctx)
	defer cancel()
	stop := actuator.Describe(actuator.Press{Keys: keys, Count: 1})
	recorder := &record.Recorder{
		Screen: w.Screen, Quick: quick, Display: w.Display, Scope: w.Scope, Task: r.Task, Stop: keys,
		TextUnseen: r.TextUnseen, Settings: w.Settings, Log: log,
		Ready: func() {
			where := "display " + w.Display
			if w.Private != nil {
				i := slices.IndexFunc(w.Private.Env(), func(v string) bool { return strings.HasPrefix(v, "XAUTHORITY=") })
				where = fmt.Sprintf("the private desktop DISPLAY=%s %s", w.Display, w.Private.Env()[i])
			}
			fmt.Fprintf(c.Err, "recording %s; to stop, %s\n", where, stop)
		},
	}
	result, err := recorder.Run(ctx)
	return r.report(c, w, result, w.finish(err))
}

// check refuses what cannot be recorded, and returns the hotkey.
func (r *recordCmd) check(line *kong.Context) ([]actuator.Key, error) {
	if strings.TrimSpace(r.Task) == "" {
		return nil, hintError{errors.New("the task is empty"), `write what you are going to do: desktop-agent record "Save the document as notes.txt"`}
	}
	keys, err := actuator.ParseHotkey(r.Stop)
	if err != nil {
		return nil, hintError{fmt.Errorf("--stop: %w", err), "write for example --stop ctrl+alt+escape"}
	}
	if note := r.wayland(os.Getenv); note != "" {
		return nil, hintError{errors.New("input cannot be recorded in a Wayland session"),
			"log in to an X11 session (\"on Xorg\"), or add --virtual for a private desktop"}
	}
	return keys, r.desktopFlags.check(line)
}

// sayActions returns a watcher that tells each action in words, without what was
// typed.
func sayActions(c console) func(run.Event) {
	var params []run.Param
	return func(e run.Event) {
		switch d := e.Data.(type) {
		case run.Proposed:
			params = d.Params
		case run.Acting:
			text := actuator.Describe(d.Action.Action)
			for _, p := range params {
				if p.Index == d.Index && p.Secret {
					text = "type a text that is not recorded: " + p.Name
				}
			}
			fmt.Fprintf(c.Err, "%3d  %s\n", e.Step, printable(text))
		}
	}
}

// report tells how a recording ended, and what can be done with it.
func (r *recordCmd) report(c console, w *work, result record.Result, err error) error {
	withheld := "texts were not recorded, as the program does not tell what its fields are, or did not in time; --text-unseen records those of programs that never do"
	if r.TextUnseen {
		withheld = "texts were not recorded, as the program did not tell in time what its fields are: pause before and after what you type"
	}
	fmt.Fprintf(c.Err, "%s recorded in %s\n", counted(result.Steps, "step"), result.Elapsed.Round(100*time.Millisecond))
	for _, note := range []struct {
		n    int
		text string
	}{
		{result.Secrets, "texts went into a password field and were not recorded: a replay must be given them with --set"},
		{result.Withheld, withheld},
		{result.Unsure, "clicks came before the screen could be looked at; their frame does not show what they were for"},
		{result.Missed, "inputs could not be recorded, such as the Compose key or a side button of the mouse"},
	} {
		if note.n > 0 {
			fmt.Fprintf(c.Err, "note: %d %s\n", note.n, note.text)
		}
	}
	if err = cmp.Or(err, w.report(c)); err != nil {
		return err
	}
	if result.Steps > 0 {
		fmt.Fprintf(c.Err, "replay it: desktop-agent replay --macro %s\n", w.journal.Dir())
	}
	if result.Outcome == run.OutcomeStopped {
		return context.Canceled
	}
	return nil
}
