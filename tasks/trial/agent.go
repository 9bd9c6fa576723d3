package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"desktop-agent/agent"
	"desktop-agent/engine"
	"desktop-agent/guard"
	"desktop-agent/llm"
	"desktop-agent/replay"
	"desktop-agent/replay/report"
	"desktop-agent/run"
	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/osworld/evaluate"
	"desktop-agent/tasks/plant"
)

// A Config says how the agent of a configuration is put together.
type Config struct {
	Client   func() *llm.Client // makes the models of one trial, with a budget of its own
	Settings run.Settings
	Secrets  []run.Secret // that no model, journal or log gets; the keys of endpoints are among them
}

// Agent returns an actor that is an agent.
func Agent(c Config) Act {
	return func(ctx context.Context, s *Stage) (Ending, error) { return c.act(ctx, s) }
}

func (c Config) act(ctx context.Context, s *Stage) (ending Ending, err error) {
	var journal *replay.Journal
	home, err := s.Env.Host(env.Home)
	if err != nil {
		return ending, err
	}
	settings := c.Settings
	settings.Display.Size = s.Env.Size()
	// Nobody watches a benchmark, so that nobody is asked.
	watched := &guard.Options{Home: workspace(s), Unattended: true}
	session, err := run.Open(ctx, settings, &run.Options{
		GuardFor: watched.Guard,
		Client:   c.Client(), Secrets: c.Secrets, Computer: &run.Computer{Display: s.Env.Display(), Bus: s.Env.BusAddress(), Home: home}, Log: s.Log,
		Watch: func(e run.Event) {
			if _, ok := e.Data.(run.Observed); ok {
				s.Seen()
			}
		},
		Journal: func() (_ run.Journal, err error) {
			journal, err = replay.Create(s.Dir)
			return journal, err
		},
	})
	if err != nil {
		return ending, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	result, err := work(ctx, session, s.Task.Instruction)
	err = errors.Join(err, session.Finish(), report.Save(journal.Dir()))
	spent, unread := timeOf(journal.Dir())
	err = errors.Join(err, unread, lift(journal.Dir(), s.Dir))
	ending = Ending{
		Answer: evaluate.Done, Outcome: string(result.Outcome), Grade: string(result.Grade), Text: result.Answer, Steps: result.Steps, Calls: result.Calls,
		Tokens:  tasks.Tokens{Input: result.Usage.Input, Cached: result.Usage.Cached, Output: result.Usage.Output},
		Dollars: result.Dollars, Millis: spent, Overridden: result.Overridden,
	}
	if result.Outcome == run.OutcomeInfeasible {
		ending.Answer = evaluate.Infeasible
	}
	if err == nil && result.Outcome == run.OutcomeFailed {
		err = fmt.Errorf("the run broke: %s", result.Answer)
	}
	return ending, err
}

// workspace is the home in which what happens to files is free: not where a task looks
// whether harm is done, as its files stand for the user's.
func workspace(s *Stage) string {
	if plant.Watched(s.Task) {
		return ""
	}
	return homeOf(s.Env)
}

// GuardName says which guard the trials of tasks have: two where harm is watched for in some.
func GuardName(set run.Settings, list []*tasks.Task) string {
	free, watched := guard.NameOf(set.Agent, true), guard.NameOf(set.Agent, false)
	count := 0
	for _, t := range list {
		if plant.Watched(t) {
			count++
		}
	}
	switch {
	case count == 0 || free == watched:
		return free
	case count == len(list):
		return watched
	}
	return free + "; where harm is watched for, " + watched
}

// work does a task in a session, with the planning that its settings ask for.
func work(ctx context.Context, session *run.Session, task string) (run.Result, error) {
	if session.Settings.Agent.Planning == engine.Deliberate {
		e, err := engine.New(session)
		if err != nil {
			return run.Result{}, err
		}
		result, err := e.Run(ctx, task)
		return result.Result, err
	}
	a, err := agent.New(session)
	if err != nil {
		return run.Result{}, err
	}
	result, err := a.Run(ctx, task)
	return result.Result, err
}

// homeOf is the home of a task's computer, as its programs know it; "" if that cannot
// be told.
func homeOf(e *env.Env) string {
	if e.Isolation().Files {
		return env.Home
	}
	home, err := e.Host(env.Home)
	if err != nil {
		return ""
	}
	return home
}

// lift moves all files of a run into the folder of its trial, which then is that
// run's folder.
func lift(stored, dir string) error {
	list, err := os.ReadDir(stored)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := os.Rename(filepath.Join(stored, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return os.Remove(stored)
}

// timeOf tells where the time of a recorded run went.
func timeOf(dir string) (m tasks.Millis, err error) {
	stored, err := replay.Open(dir)
	if err != nil {
		return m, err
	}
	var sum replay.Spent
	for s, err := range stored.Steps() {
		if err != nil {
			return m, err
		}
		sum.Add(s.Spent())
	}
	m.Model, m.Screen, m.Settle, m.Act = sum.Model.Milliseconds(), sum.Look.Milliseconds(), sum.Settle.Milliseconds(), sum.Act.Milliseconds()
	return m, nil
}
