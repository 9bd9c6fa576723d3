// Package evaluate judges what came of a task: it does the steps that come before
// the look, gets each result with what it is compared with, asks the metrics, and
// puts their scores together.
//
//	score, err := evaluate.Task(ctx, e, task, evaluate.Done, &evaluate.Options{Folder: folder})
//
// The rules are OSWorld's. A task that cannot be done scores 1 if the agent said
// so and 0 otherwise; saying so of one that can be done scores 0. Of several
// checks all must hold, unless the task says that any is enough: the first that
// scores exactly 0 makes the whole 0, else the mean counts; with any, the first
// that scores exactly 1 makes the whole 1, else the best counts. An error is not a
// score: it says that nothing can be told about the result.
package evaluate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/osworld/defect"
	"desktop-agent/tasks/osworld/metric/text"
	"desktop-agent/tasks/osworld/setup"
)

// An Answer is how the agent ended.
type Answer string

// The answers of an agent. Whatever is not [Infeasible] counts as [Done]: an agent
// that ran out of steps may have done the task.
const (
	Done       Answer = "done"
	Infeasible Answer = "infeasible" // it says that the task cannot be done
)

// Options are the settings of an evaluation. Folder must be given.
type Options struct {
	// Folder is where what is looked at is kept: results/<n> and expected/<n> for
	// the check of number n, apart so that no result is compared with itself, and
	// saved, what commands printed.
	Folder string
	// Cache is the folder of downloads, see [setup.Options].
	Cache string
	// Offline takes what is not in Cache from nowhere.
	Offline bool
	// Client fetches; a client of its own if nil.
	Client *http.Client
	// Password is what {CLIENT_PASSWORD} stands for; "password" if empty.
	Password string
	// Compat repeats OSWorld's defects in steps, getters and metrics.
	Compat bool
	// Python runs test suites of tasks, see [text.Options].
	Python func(context.Context, text.PythonTest) (text.PythonResult, error)
	// Checked is told about every check that was made, by its number from 0; may
	// be nil.
	Checked func(n int, check tasks.Check, score tasks.Score)
	// Log gets what happens; nothing is logged if nil.
	Log *slog.Logger
}

// An evaluation is one in progress.
type evaluation struct {
	e       *env.Env
	task    *tasks.Task
	o       Options
	metrics map[string]tasks.Metric
}

// Task judges a task that the agent has ended with an answer. The environment is
// that of the task, as the agent left it.
func Task(ctx context.Context, e *env.Env, task *tasks.Task, answer Answer, o *Options) (tasks.Score, error) {
	switch said := answer == Infeasible; {
	case task.Evaluator.ByJudge:
		return tasks.Score{}, errors.New("evaluate: nothing but a judge can tell what came of the task")
	case task.Evaluator.Infeasible && said:
		return tasks.Yes(), nil
	case task.Evaluator.Infeasible:
		return tasks.No("the task cannot be done, and the agent did not say so"), nil
	case said:
		return tasks.No("the agent said that the task cannot be done, but it can"), nil
	case len(task.Evaluator.Checks) == 0:
		return tasks.Score{}, errors.New("evaluate: the task has no checks")
	}
	if o == nil || o.Folder == "" {
		return tasks.Score{}, errors.New("evaluate: no folder is given for what is looked at")
	}
	v := &evaluation{e: e, task: task, o: *o}
	if v.o.Log == nil {
		v.o.Log = slog.New(slog.DiscardHandler)
	}
	var err error
	if v.metrics, err = Metrics(&v.o); err != nil {
		return tasks.Score{}, err
	}
	if err := setup.Do(ctx, e, task.Evaluator.Post, v.setup()); err != nil {
		return tasks.Score{}, fmt.Errorf("evaluate: before the look: %w", err)
	}
	if err := v.rest(ctx); err != nil {
		return tasks.Score{}, fmt.Errorf("evaluate: before the look: %w", err)
	}
	return combine(task.Evaluator, func(n int) (tasks.Score, error) { return v.check(ctx, n) })
}

// restLimit is how long the screen may take to come to rest before it is looked at: as long as
// OSWorld sleeps before it scores. A film never does.
const restLimit = 20 * time.Second

// rest waits until the programs have done what they were told last: what one that saves has
// not written yet would count as not there.
func (v *evaluation) rest(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, restLimit)
	defer cancel()
	if err := v.e.Quiet(limited); err != nil && ctx.Err() == nil {
		v.o.Log.WarnContext(ctx, "scored while the screen was not at rest", "why", err)
		v.e.Note("it was scored while the screen was not at rest")
	}
	return ctx.Err()
}

// saved is the folder of what commands printed.
func (v *evaluation) saved() string { return filepath.Join(v.o.Folder, "saved") }

// setup returns the settings of the steps that come before the look.
func (v *evaluation) setup() *setup.Options {
	return &setup.Options{
		TaskID: v.task.FileID(), Dir: v.task.Dir, Cache: v.o.Cache, Saved: v.saved(), Offline: v.o.Offline, Client: v.o.Client,
		Password: v.o.Password, Defects: defect.When(v.o.Compat), Log: v.o.Log,
	}
}

// combine makes one score of those of the checks, which judge makes.
func combine(ev tasks.Evaluator, judge func(n int) (tasks.Score, error)) (tasks.Score, error) {
	var sum, best float64
	var why string
	for n := range ev.Checks {
		score, err := judge(n)
		if err != nil {
			return tasks.Score{}, err
		}
		if score.Why != "" && why == "" {
			why = score.Why
		}
		if ev.Any && score.Value == 1 {
			return score, nil
		}
		if !ev.Any && score.Value == 0 {
			return score, nil
		}
		sum += score.Value
		best = max(best, score.Value)
	}
	if ev.Any {
		return tasks.Score{Value: best, Why: why}, nil
	}
	return tasks.Score{Value: sum / float64(len(ev.Checks)), Why: why}, nil
}

// check makes one check.
func (v *evaluation) check(ctx context.Context, n int) (tasks.Score, error) {
	check := v.task.Evaluator.Checks[n]
	fail := func(err error) (tasks.Score, error) {
		return tasks.Score{}, fmt.Errorf("evaluate: check %d (%s): %w", n+1, check.Metric, err)
	}
	metric, ok := v.metrics[check.Metric]
	if !ok {
		return fail(errors.New("there is no such metric"))
	}
	result, err := v.get(ctx, check.Result, filepath.Join("results", strconv.Itoa(n)))
	if err != nil {
		return fail(fmt.Errorf("result: %w", err))
	}
	expected, err := v.get(ctx, check.Expected, filepath.Join("expected", strconv.Itoa(n)))
	if err != nil {
		return fail(fmt.Errorf("expected: %w", err))
	}
	score, err := metric(ctx, result, expected, check.Options)
	if err != nil {
		return fail(err)
	}
	if math.IsNaN(score.Value) || score.Value < 0 || score.Value > 1 {
		return fail(fmt.Errorf("score %v is not between 0 and 1", score.Value))
	}
	v.o.Log.InfoContext(ctx, "check", "n", n+1, "metric", check.Metric, "score", score.Value, "why", score.Why)
	if v.o.Checked != nil {
		v.o.Checked(n, check, score)
	}
	return score, nil
}
