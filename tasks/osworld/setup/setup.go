// Package setup makes a computer ready for a task, by the steps that its file
// lists, and does what is to be done between the agent's end and the judgement.
//
//	err := setup.Do(ctx, e, task.Setup, &setup.Options{TaskID: task.ID, Dir: task.Dir, Cache: "cache"})
//
// The steps and their parameters are those of OSWorld: download, upload_file,
// execute, command, launch, open, activate_window, close_window, sleep,
// chrome_open_tabs, chrome_close_tabs and update_browse_history. What goes wrong
// is an error, a [*StepError]: a task that could not be set up has no result.
//
// No fixed time is waited, except as [Defects] say. Where a task says sleep, the
// desktop is given at most that time to become quiet; where it launches a program
// with a window, that window is waited for.
package setup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/osworld/defect"
)

// Options are the settings of a set-up; the zero value of each means its default.
type Options struct {
	// TaskID names the task's folder in Cache. Tasks that download need it.
	TaskID string
	// Dir is the folder of the suite, which the local paths of upload_file are in.
	Dir string
	// Cache is the folder of what was downloaded, in OSWorld's layout:
	// <task id>/<uuid5 of the URL>_<name>; see package asset. Tasks that download
	// need it.
	Cache string
	// Saved is where what commands print is kept under the names that a task
	// gives (stdout, stderr); the task's folder in Cache if empty.
	Saved string
	// Offline takes what is not in Cache from nowhere.
	Offline bool
	// Client fetches; a client of its own if nil.
	Client *http.Client
	// MaxDownload is how many bytes a file may have; 1 GiB if zero.
	MaxDownload int64
	// Password is what {CLIENT_PASSWORD} stands for; "password" if empty.
	Password string
	// Codes makes errors of commands that end with a code other than 0: what they should
	// have done is not done, and a task might begin as it should end.
	Codes bool
	// Strict is Codes, and makes errors of windows that are not there, or do not do what they
	// are told.
	Strict bool
	// Defects are those of OSWorld's that are repeated; see the list of that name.
	Defects defect.Set
	// Log gets what happens; nothing is logged if nil.
	Log *slog.Logger
}

// withDefaults returns a copy of o, which may be nil, with every default filled in.
func (o *Options) withDefaults() Options {
	var s Options
	if o != nil {
		s = *o
	}
	if s.Password == "" {
		s.Password = "password"
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	return s
}

// A StepError says which step of a set-up went wrong.
type StepError struct {
	Number int    // from 1
	Type   string // such as "execute"
	Output string // what the command printed last, if it is one
	Err    error
}

func (e *StepError) Error() string {
	text := fmt.Sprintf("set-up step %d (%s): %v", e.Number, e.Type, e.Err)
	if e.Output != "" {
		text += "; its output: " + e.Output
	}
	return text
}

func (e *StepError) Unwrap() error { return e.Err }

// Unsupported reports a step that cannot be done here, and why: such a task is
// to be skipped.
type Unsupported struct {
	Type   string
	Reason string
}

func (e *Unsupported) Error() string { return e.Type + " is not supported: " + e.Reason }

// A run is a set-up in progress.
type run struct {
	o Options
	e *env.Env
	// pending says that a program was launched of which it is not known whether a
	// window is still to come.
	pending bool
}

// An outputError is an error of a command that printed something.
type outputError struct {
	output string
	err    error
}

func (e *outputError) Error() string { return e.err.Error() }
func (e *outputError) Unwrap() error { return e.err }

// kinds says how each type of step is checked and done.
var kinds = map[string]struct {
	check func(tasks.Params) error
	do    func(*run, context.Context, tasks.Params) error
}{
	"download":              {checkFiles("url"), (*run).download},
	"upload_file":           {checkFiles("local_path"), (*run).upload},
	"execute":               {checkExecute, (*run).execute},
	"command":               {checkExecute, (*run).execute},
	"launch":                {checkCommand, (*run).launch},
	"open":                  {checkOpen, (*run).open},
	"activate_window":       {checkWindow, (*run).activate},
	"close_window":          {checkWindow, (*run).closeWindow},
	"sleep":                 {checkSleep, (*run).sleep},
	"chrome_open_tabs":      {checkTabs("urls_to_open"), (*run).openTabs},
	"chrome_close_tabs":     {checkTabs("urls_to_close"), (*run).closeTabs},
	"update_browse_history": {checkHistory, (*run).history},
}

// impossible says why some types of steps cannot be done.
var impossible = map[string]string{
	"googledrive": "it needs a Google account",
	"login":       "it needs an account with a web site",
}

// Do does the steps of a set-up in order. The first that goes wrong ends it with
// a [*StepError], which wraps an [*Unsupported] where the step cannot be done
// here. o may be nil.
func Do(ctx context.Context, e *env.Env, steps []tasks.Step, o *Options) error {
	r := &run{o: o.withDefaults(), e: e}
	for i, step := range steps {
		begun := time.Now()
		err := Check(step)
		if err == nil {
			err = kinds[step.Type].do(r, ctx, step.Params)
		}
		if err != nil {
			failed := &StepError{Number: i + 1, Type: step.Type, Err: err}
			if out := (*outputError)(nil); errors.As(err, &out) {
				failed.Output = out.output
			}
			return failed
		}
		r.o.Log.InfoContext(ctx, "set-up step", "n", i+1, "type", step.Type, "ms", time.Since(begun).Milliseconds())
	}
	return nil
}

// Check says what is wrong with a step without doing it: an unknown type, a
// parameter that is missing or of a wrong type, a path that the task may not
// write, or, as an [*Unsupported], a type that cannot be done.
func Check(step tasks.Step) error {
	if why, ok := impossible[step.Type]; ok {
		return &Unsupported{Type: step.Type, Reason: why}
	}
	kind, ok := kinds[step.Type]
	if !ok {
		return fmt.Errorf("unknown type of step %q", step.Type)
	}
	return kind.check(step.Params)
}

// NeedsNetwork reports whether a step opens pages of the live web.
func NeedsNetwork(step tasks.Step) bool {
	urls, err := step.Params.Texts("urls_to_open")
	if step.Type != "chrome_open_tabs" || err != nil {
		return false
	}
	return slices.ContainsFunc(urls, env.Remote)
}

// need returns a text that must be there.
func need(p tasks.Params, key string) (string, error) {
	text, err := p.Text(key)
	if err == nil && strings.TrimSpace(text) == "" {
		err = fmt.Errorf("%s is missing", key)
	}
	return text, err
}
