package engine_test

import (
	"context"
	"errors"
	"fmt"

	"desktop-agent/engine"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
)

// clock is a toolbox with one tool.
func clock() run.Toolbox { return &box{tools: map[string]tool{"clock": {}}} }

// two are two steps, of which the second needs the first.
func two() *planner.Plan { return plan(step("s1", "clock"), step("s2", "clock", "s1")) }

// session opens a session that has tools, and neither a display nor a model.
func session(tools run.Toolbox) *run.Session {
	s, err := run.Open(context.Background(), settings(), &run.Options{NoDesktop: true, Tools: tools})
	if err != nil {
		panic(err)
	}
	return s
}

// Example executes a plan whose steps need neither a display nor a model.
func Example() {
	s := session(clock())
	defer s.Close()
	e, err := engine.New(s)
	if err != nil {
		panic(err)
	}
	e.Validate = nil // the steps of this example are too short to be accepted
	x, err := e.Begin(two())
	if err != nil {
		panic(err)
	}
	result, err := x.Execute(context.Background())
	fmt.Println(result.Success, result.Output, err)
	_, err = x.Execute(context.Background())
	fmt.Println(err)
	// Output:
	// true clock done <nil>
	// the plan has been executed: make a new one
}

// ExampleHooks_event hears of steps as they begin and end.
func ExampleHooks_event() {
	s := session(clock())
	defer s.Close()
	e, err := engine.New(s)
	if err != nil {
		panic(err)
	}
	e.Validate = nil
	e.Hooks.Event = func(_ context.Context, data run.EventData) error {
		switch d := data.(type) {
		case run.StepStarted:
			fmt.Println("begins:", d.Step)
		case run.StepEnded:
			fmt.Println("ends:", d.Step, d.Status)
		case run.Planned:
			fmt.Println("the plan is", d.Plan.State)
		}
		return nil
	}
	x, _ := e.Begin(two())
	_, err = x.Execute(context.Background())
	fmt.Println(err)
	// Output:
	// begins: s1
	// ends: s1 completed
	// begins: s2
	// ends: s2 completed
	// the plan is completed
	// <nil>
}

// ExampleHooks_approve refuses a plan; nothing of it is executed.
func ExampleHooks_approve() {
	s := session(clock())
	defer s.Close()
	e, err := engine.New(s)
	if err != nil {
		panic(err)
	}
	e.Validate = nil
	e.Hooks.Approve = func(_ context.Context, p *planner.Plan) (planner.Decision, error) {
		return planner.Decision{Reason: fmt.Sprintf("%d steps are too many", len(p.Steps))}, nil
	}
	result, err := e.RunPlan(context.Background(), two())
	fmt.Println(result.Outcome, err)
	fmt.Println(result.Answer)
	// Output:
	// blocked <nil>
	// the plan was rejected: 2 steps are too many
}

// ExampleHooks_planGenerated changes a plan before it is approved.
func ExampleHooks_planGenerated() {
	s := session(clock())
	defer s.Close()
	e, err := engine.New(s)
	if err != nil {
		panic(err)
	}
	e.Validate, e.Planner = nil, &fakePlanner{plans: []*planner.Plan{two()}}
	e.Hooks.PlanGenerated = func(_ context.Context, p *planner.Plan) (*planner.Plan, error) {
		p.Steps = p.Steps[:1]
		return p, nil
	}
	result, err := e.Run(context.Background(), "Tell the time")
	fmt.Println(result.Outcome, len(result.Steps), err)
	// Output: done 1 <nil>
}

// ExampleHooks_revisionNeeded ends a plan where others would be changed.
func ExampleHooks_revisionNeeded() {
	s := session(&box{tools: map[string]tool{"clock": {}, "nothing": fails(9)}})
	defer s.Close()
	e, err := engine.New(s)
	if err != nil {
		panic(err)
	}
	e.Validate = nil
	e.Hooks.RevisionNeeded = func(_ context.Context, _ *planner.Plan, r planner.RevisionRequest) planner.Strategy {
		fmt.Println(r.Trigger)
		return planner.Abort
	}
	x, _ := e.Begin(plan(step("s1", "clock"), step("s2", "nothing")))
	result, err := x.Execute(context.Background())
	fmt.Println(result.State, len(result.Steps), err)
	// Output:
	// step_failure
	// failed 2 <nil>
}

// ExampleHooks_message hears what is said and done. That it fails costs nothing.
func ExampleHooks_message() {
	model := &mind{reply: map[string]func(*llm.Request) string{
		"self":     always(`{"output": "It is noon.", "reached": true, "missing": null}`),
		"reflect":  goesOn,
		"conclude": met("It is noon."),
	}}
	s, err := run.Open(context.Background(), settings(), &run.Options{
		NoDesktop: true, Tools: clock(), Client: &llm.Client{Model: model, Default: llm.Settings{Model: "test"}},
	})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	e, err := engine.New(s)
	if err != nil {
		panic(err)
	}
	e.Validate = nil
	e.Hooks.Message = func(m engine.Message) error {
		if m.Type != engine.SystemMessage { // what the model is told at length
			fmt.Printf("%s %s: %s\n", m.Step, m.Type, m.Content)
		}
		return errors.New("nobody listens")
	}
	x, _ := e.Begin(plan(step("s1", "clock"), planner.Step{ID: "s2", Goal: "Say the time", Executor: planner.Self, Needs: []string{"s1"}}))
	result, err := x.Execute(context.Background())
	fmt.Println(result.Success, err)
	// Output:
	// s1 action: call the tool "clock"
	// s1 response: {"verdict": "continue", "reason": "it fits", "guidance": null, "answer": null}
	// s2 response: {"output": "It is noon.", "reached": true, "missing": null}
	//  response: {"met": true, "missing": null, "answer": "It is noon."}
	// true <nil>
}
