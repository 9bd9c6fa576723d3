package engine

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"desktop-agent/planner"
	"desktop-agent/run"
)

// places are what bounds how many steps are done at the same time, those of plans within the
// plan among them: each step that is done has one. A step whose own plan is executed has none:
// those of its steps count.
type places chan struct{}

func newPlaces(n int) places {
	return make(places, cmp.Or(n, run.DefaultMaxParallel)) // [New] refuses what is negative
}

// take waits for a place, which the function that it returns gives back.
func (p places) take(ctx context.Context) (leave func(), err error) {
	select {
	case p <- struct{}{}:
		return sync.OnceFunc(func() { <-p }), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// choose returns the steps that may begin beside those that run. They belong to the plan.
func (e *Engine) choose(p *planner.Plan, running map[string]*attempt, waiting int) []*planner.Step {
	ready := p.Ready()
	limit := cap(e.places)
	switch e.Settings.Mode {
	case Parallel:
	case Adaptive:
		if len(running)+waiting > 0 {
			return nil // what is done side by side begins together
		}
	default:
		if len(running)+waiting > 0 {
			return nil
		}
		limit = 1
	}
	held := map[string]bool{}
	named := slices.ContainsFunc(p.Steps, func(s planner.Step) bool { return s.Parallel })
	alone := false
	for id := range running {
		s := p.Step(id)
		held[e.resource(s)] = true
		alone = alone || named && !s.Parallel
	}
	var chosen []*planner.Step
	for _, s := range ready {
		beside := len(running) + len(chosen)
		if beside >= limit || alone {
			break
		}
		r := e.resource(s)
		if r != "" && held[r] || named && !s.Parallel && beside > 0 {
			continue
		}
		held[r] = true
		alone = named && !s.Parallel
		chosen = append(chosen, s)
	}
	return chosen
}

// resource is what a step has for itself alone; "" for nothing. Pointer, focus and
// clipboard are one resource of a display.
func (e *Engine) resource(s *planner.Step) string {
	if s.OnScreen() {
		return "display " + e.Session.Display
	}
	return ""
}
