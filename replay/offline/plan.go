package offline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/agent"
	"desktop-agent/engine"
	"desktop-agent/planner"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/tools"
)

// ErrNotInOrder is the error of a run with a deliberate plan that was not done one step
// after the other by one agent on one display: what comes first is then a matter of time,
// which a recording does not repeat.
var ErrNotInOrder = errors.New("a deliberate plan is replayed offline only if one agent did its steps one after the other")

// ErrPlanning is the error of a replay that is to plan in another way than was recorded: a
// run with a deliberate plan is another one than a run without.
var ErrPlanning = errors.New("planning cannot be changed from or to deliberate in an offline replay")

// A course is what must be known of a run with a deliberate plan before it is done again.
type course struct {
	display string        // on which it was done; "" if that is not known
	looks   bool          // there was a desktop
	given   *planner.Plan // that was there before; nil of one that was made in the run
	asks    bool          // the plan was approved by somebody

	agent string   // who acts
	open  []string // the steps that are being done, those around others first
	ended string   // the newest step that ended
}

// surveyPlan reads a run once, and refuses one whose order is not its own.
func surveyPlan(stored *replay.Run) (*course, error) {
	c := &course{asks: stored.Info.Asked.Settings.Plan.Approval}
	for e, err := range stored.Events() {
		if err != nil {
			return nil, err
		}
		if err := c.add(e); err != nil {
			return nil, err
		}
	}
	if stored.Info.Asked.Given && c.given == nil {
		return nil, errors.New("it ended before it wrote down the plan that it was given")
	}
	return c, nil
}

// add takes in an event.
func (c *course) add(e run.Event) error {
	switch {
	case c.agent == "":
		c.agent = e.Agent
	case e.Agent != c.agent:
		return fmt.Errorf("%w: in event %d, %s works beside %s", ErrNotInOrder, e.Seq, e.Agent, c.agent)
	}
	switch {
	case e.Display == "":
	case c.display == "":
		c.display, c.looks = e.Display, true
	case e.Display != c.display:
		return fmt.Errorf("%w: event %d is of display %s, and others of %s", ErrNotInOrder, e.Seq, e.Display, c.display)
	}
	switch data := e.Data.(type) {
	case run.Observed:
		c.looks = true
	case run.Planned:
		if c.given == nil && data.Step == "" {
			c.given = data.Plan
		}
	case run.PlanApproved:
		c.asks = true
	case run.Resumed:
		return fmt.Errorf("%w: event %d takes the run up again after its program had ended", ErrNotInOrder, e.Seq)
	case run.StepStarted:
		c.open = slices.DeleteFunc(c.open, func(s string) bool { return s == data.Step }) // it is tried again
		if n := len(c.open); n > 0 && !strings.HasPrefix(data.Step, c.open[n-1]+".") {
			return fmt.Errorf("%w: step %s begins while %s is being done", ErrNotInOrder, data.Step, c.open[n-1])
		}
		c.open = append(c.open, data.Step)
	case run.StepEnded:
		c.open = slices.DeleteFunc(c.open, func(s string) bool { return s == data.Step })
		c.ended = data.Step
	case run.Reflected:
		if n := len(c.open); c.ended != data.Step || n > 0 && !strings.HasPrefix(data.Step, c.open[n-1]+".") {
			return fmt.Errorf("%w: others began while step %s was reflected on", ErrNotInOrder, data.Step)
		}
	}
	return nil
}

// engine puts the engine together that executes the plan.
func (r *Replay) engine(s *run.Session, facts *tools.Facts) (*engine.Engine, error) {
	c, t := r.course, r.recording
	s.Display = c.display // of which the ends of steps tell
	t.turns = s.Scope.Turns
	e, err := engine.New(s)
	if err != nil {
		return nil, err
	}
	e.Settings.Mode = engine.Sequential // that is how they were done, whether or not others could have been
	if p, ok := e.Planner.(*planner.Planner); ok {
		p.Now = t.now
	}
	e.Now, e.Facts, e.Agent = t.clock, facts.List, r.attach
	e.Ask = t.answer
	if c.asks {
		e.Hooks.Approve = t.approve
	}
	return e, nil
}

// execute does a run with a deliberate plan again.
func (r *Replay) execute(ctx context.Context, e *engine.Engine) (agent.Result, error) {
	var result engine.Result
	var err error
	if r.run.Info.Asked.Given {
		result, err = e.RunPlan(ctx, r.course.given.Clone())
	} else {
		result, err = e.Run(ctx, r.task)
	}
	return agent.Result{Result: result.Result, Plan: result.Final}, err
}

// clock is a time after all that the replay has come to, and before all that follows.
func (t *recording) clock() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.newest != nil && t.newest.At.After(t.came) {
		return t.newest.At
	}
	return t.came
}

// approve answers what was answered in the recorded run.
func (t *recording) approve(_ context.Context, plan *planner.Plan) (planner.Decision, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, err := t.present()
	if err != nil {
		return planner.Decision{}, err
	}
	var found *run.PlanApproved
	if s != nil {
		for _, e := range s.Events {
			switch data := e.Data.(type) {
			case run.PlanApproved:
				if found == nil {
					found = &data
				}
			case run.Planned:
				if found != nil && found.Edited {
					return planner.Decision{Plan: data.Plan.Clone(), By: found.By}, nil
				}
			}
		}
	}
	switch {
	case found == nil:
		return planner.Decision{}, t.astray("no plan to approve", "a plan to approve")
	case !found.Approved:
		return planner.Decision{Reason: found.Reason, By: found.By}, nil
	}
	return planner.Decision{Plan: plan, By: found.By}, nil
}

// recordedTools tell what tools answered in the recorded run.
type recordedTools struct {
	*recording
	offer []run.Tool
	facts *tools.Facts
}

// Offer is of [run.Toolbox].
func (b *recordedTools) Offer() []run.Tool { return b.offer }

// Do is of [run.Toolbox].
func (b *recordedTools) Do(ctx context.Context, name string, arguments []byte) (string, error) {
	call := actuator.CallTool{Tool: name, Arguments: actuator.Object(arguments)}
	output, err := b.recording.Do(ctx, call, nil)
	if err != nil {
		return output, err
	}
	if !strings.HasPrefix(output, run.ToolFailed) {
		b.facts.Recall(ctx, name, string(arguments))
	}
	if b.exits() {
		return output, engine.ErrExitConversation
	}
	return output, nil
}

// exits reports whether the tool that was called last said that the task is done.
func (t *recording) exits() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, err := t.present()
	return err == nil && s != nil && slices.ContainsFunc(s.Events, func(e run.Event) bool {
		ended, ok := e.Data.(run.StepEnded)
		return ok && ended.Exit
	})
}
