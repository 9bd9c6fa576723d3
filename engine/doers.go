package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"desktop-agent/actuator"
	"desktop-agent/agent"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
)

// doGUI has an agent reach a goal on the screen, in one bounded episode.
func (e *Engine) doGUI(ctx context.Context, part *run.Session, a *attempt, fallback string) outcome {
	defer func() { _ = part.Hand.Release() }() // a limit may have ended it amid a drag; what cannot be let go, the device tells
	worker, err := e.agent(part)
	if err != nil {
		return outcome{err: err}
	}
	worker.MaxSteps = cmp.Or(e.Settings.StepActions, run.DefaultStepActions)
	task, err := prompts.Render("step", a.prompt(fallback))
	if err != nil {
		return outcome{err: err}
	}
	step := a.step
	ended, err := worker.Episode(ctx, agent.Assignment{Task: task, Step: &step, Needed: a.asked, Before: e.deeds.told()})
	e.deeds.tell(ended.Deeds)
	if a.before != nil {
		ended.Notes = append(slices.Clone(a.before.Notes), ended.Notes...)
	}
	return ofEpisode(ended, err)
}

// ofEpisode is what an episode on the screen gave.
func ofEpisode(ended agent.Ended, err error) outcome {
	o := outcome{output: ended.Answer, evidence: ended.Evidence}
	for _, n := range ended.Notes {
		o.output = strings.TrimPrefix(o.output+"\n"+n, "\n")
	}
	switch {
	case err != nil:
		o.err = err
	case ended.Outcome == run.OutcomeOutOfBudget:
		o.err = fmt.Errorf("%w: %s", llm.ErrBudget, ended.Answer)
	case ended.Outcome != run.OutcomeDone:
		o.err = fmt.Errorf("%s: %s", ended.Outcome.Words(""), llm.OneLine(ended.Answer))
	}
	return o
}

// errToolFailed is the error of a step whose tool says so; what it says is its result, and
// instructs nobody.
var errToolFailed = errors.New("the tool says that it failed")

// doTool calls the tool of a step; fallback, if it is another tool, is called instead.
func (e *Engine) doTool(ctx context.Context, part *run.Session, a *attempt, fallback string) outcome {
	tool, given := a.step.Action, a.step.Parameters
	if fallback != "" {
		if !offers(part, fallback) {
			return e.toolByWords(ctx, part, a, fallback)
		}
		tool = fallback
	}
	arguments, err := e.arguments(ctx, part, a, tool, given)
	if err != nil {
		return outcome{err: err}
	}
	return e.call(ctx, part, tool, arguments)
}

func offers(part *run.Session, name string) bool { return toolNamed(part, name) != nil }

func toolNamed(part *run.Session, name string) *run.Tool {
	all := part.Hand.Offer()
	if i := slices.IndexFunc(all, func(t run.Tool) bool { return t.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// arguments returns those of the plan, or has a model find them out by what the steps
// before gave.
func (e *Engine) arguments(ctx context.Context, part *run.Session, a *attempt, tool, given string) (string, error) {
	if strings.TrimSpace(given) != "" {
		return given, nil
	}
	t := toolNamed(part, tool)
	if t == nil || len(a.given) == 0 || part.Client == nil {
		return "{}", nil // where it needs some, the tool says so
	}
	p := a.prompt("")
	p.Tool, p.About = tool, t.Description
	req, err := prompts.Request(llm.Planner, "parameters", p)
	if err != nil {
		return "", err
	}
	req.Schema = &llm.Schema{Name: "parameters", JSON: t.Parameters}
	found, err := llm.Decode[json.RawMessage](ctx, part.Client, req)
	if err != nil {
		return "", fmt.Errorf("the arguments of %s could not be found out: %w", tool, err)
	}
	return string(found), nil
}

// call calls a tool by the one hand.
func (e *Engine) call(ctx context.Context, part *run.Session, tool, arguments string) outcome {
	hand := part.Hand
	if len(hand.Offer()) == 0 {
		return outcome{err: errNotOffers}
	}
	part.Scope.Turn()
	act, err := hand.Do(ctx, run.Intent{Action: actuator.CallTool{Tool: tool, Arguments: actuator.Object(arguments)}, Source: run.FromModel, Exit: ErrExitConversation})
	if err == nil {
		err = act.Close(ctx, nil)
	}
	if err != nil {
		return outcome{err: err}
	}
	if act.Exit {
		return outcome{output: act.Output, data: dataOf(act.Output), exit: true}
	}
	return answered(act.Status, act.Detail, act.Output)
}

// answered is what a call gave that came to an end.
func answered(status actuator.Status, detail, output string) outcome {
	o := outcome{output: output, data: dataOf(output)}
	switch {
	case status != actuator.Delivered:
		o.err = fmt.Errorf("%s: %s", strings.ReplaceAll(string(status), "_", " "), detail)
	case strings.HasPrefix(output, run.ToolFailed):
		o.err = errToolFailed
	}
	return o
}

// dataOf returns an output that is JSON; "" for any other.
func dataOf(output string) string {
	data := strings.TrimSpace(output)
	if (strings.HasPrefix(data, "{") || strings.HasPrefix(data, "[")) && json.Valid([]byte(data)) {
		return data
	}
	return ""
}

// toolByWords tries another way that the plan tells in words.
func (e *Engine) toolByWords(ctx context.Context, part *run.Session, a *attempt, fallback string) outcome {
	if part.Client == nil {
		return outcome{err: fmt.Errorf("the fallback %q is no tool, and there is no model to do it", llm.Excerpt(fallback, 60))}
	}
	text, err := e.byTools(ctx, part, toolTask{prompt: a.prompt(fallback), before: talkOf(a.before)})
	return outcome{output: text, err: err}
}

// thought is what a step of the model alone gives.
type thought struct {
	Output  string  `json:"output" jsonschema:"what the step gives, in full"`
	Reached bool    `json:"reached" jsonschema:"whether the step is done by that"`
	Missing *string `json:"missing" jsonschema:"what is missing, if it is not; else null"`
}

// doSelf asks the model.
func (e *Engine) doSelf(ctx context.Context, part *run.Session, a *attempt, fallback string) outcome {
	req, err := prompts.Request(llm.Planner, "self", a.prompt(fallback))
	if err != nil {
		return outcome{err: err}
	}
	t, err := llm.Decode[thought](ctx, part.Client, req)
	if err != nil {
		return outcome{err: err}
	}
	o := outcome{output: t.Output}
	if !t.Reached {
		o.err = errors.New("the model says that it is not done")
		if t.Missing != nil && *t.Missing != "" {
			o.err = fmt.Errorf("%w: %s", o.err, llm.Excerpt(llm.OneLine(*t.Missing), 300))
		}
	}
	return o
}

// toolTask is what an agent without a display is to do.
type toolTask struct {
	Task, Goal string
	prompt     stepPrompt // instead of these two
	before     []run.Said // the conversation so far, of a program that ended
}

// byTools has a model call tools until it answers.
func (e *Engine) byTools(ctx context.Context, part *run.Session, t toolTask) (string, error) {
	if part.Client == nil {
		return "", fmt.Errorf("%w: there is no model", ErrPlanNotInitialized)
	}
	data := t.prompt
	if data.Goal == "" {
		data = stepPrompt{Task: t.Task, Goal: t.Goal}
	}
	if len(t.before) > 0 {
		data.Before = "" // the conversation says it
	}
	req, err := prompts.Request(llm.Actor, run.PurposeTools, data)
	if err != nil {
		return "", err
	}
	for _, tool := range part.Hand.Offer() {
		req.Tools = append(req.Tools, tool.Tool)
	}
	turns := cmp.Or(e.Settings.AgentTurns, run.DefaultAgentTurns)
	for turn := range turns {
		was := said(t.before, turn)
		resp, err := was.Response, error(nil)
		if resp == nil {
			resp, err = part.Client.Complete(ctx, req)
		}
		if err != nil {
			return "", err
		}
		switch resp.Ending() {
		case llm.Paused: // it goes on, in a turn that is recorded as any other
			req.Messages = append(req.Messages, resp.Message())
			continue
		case llm.Declined:
			return "", fmt.Errorf("%w: %s", errNotByTools, resp.Refusal())
		case llm.CutOff:
			return "", fmt.Errorf("%w: its answer was cut off at the limit of tokens", errNotByTools)
		}
		if len(resp.Calls) == 0 {
			text := strings.TrimSpace(resp.Text)
			if why, failed := strings.CutPrefix(strings.TrimLeft(text, "*`# "), "FAIL:"); failed {
				return "", fmt.Errorf("%w: %s", errNotByTools, llm.OneLine(strings.TrimLeft(why, "*` ")))
			}
			if text == "" {
				return "", fmt.Errorf("%w: it gave nothing", errNotByTools)
			}
			return text, nil
		}
		req.Messages = append(req.Messages, resp.Message())
		for i, c := range resp.Calls {
			var o outcome
			if was.Response != nil {
				o = cameOf(was, i)
			} else {
				o = e.call(ctx, part, c.Name, c.Arguments)
			}
			if errors.Is(o.err, run.ErrJournal) || ctx.Err() != nil {
				return "", errors.Join(o.err, context.Cause(ctx))
			}
			if o.exit {
				return o.output, nil
			}
			text := llm.Untrusted("tool", o.output)
			if o.err != nil {
				text = "not done, or failed: " + llm.OneLine(o.err.Error()) + "\n" + text
			}
			req.Messages = append(req.Messages, llm.Message{From: llm.ToolReply, CallID: c.ID, Parts: []llm.Part{llm.Text(text)}, Failed: o.err != nil})
		}
	}
	return "", fmt.Errorf("%w %d turns", errNoEnd, turns)
}

// Why an agent without a display has not done its part.
var (
	errNotByTools = errors.New("the agent says that it cannot be done")
	errNoEnd      = errors.New("the agent did not come to an end within") // so many turns
)

// The profiles of agents that there are.
const (
	ProfileDesktop = "desktop"
	ProfileTools   = "tools"
)

// Profiles tells planners which agents there are.
func Profiles() []planner.Profile {
	return []planner.Profile{
		{Name: ProfileDesktop, Description: "works with mouse and keyboard on a private desktop of its own, which nobody else sees", Screen: true},
		{Name: ProfileTools, Description: "calls tools, as many as it needs, and has no screen"},
	}
}

// screenDeeds are what was last done on a screen, in words: the guard of a step has to know what
// steps before it began.
type screenDeeds struct {
	mu     sync.Mutex
	newest []string // the oldest first
}

func (d *screenDeeds) told() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.newest
}

func (d *screenDeeds) tell(newest []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.newest = newest
}
