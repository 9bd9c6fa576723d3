package planner

import (
	"fmt"
	"slices"
	"strings"

	"desktop-agent/llm"
)

// Step returns the step of an ID, or nil. It belongs to the plan.
func (p *Plan) Step(id string) *Step {
	for i := range p.Steps {
		if p.Steps[i].ID == id {
			return &p.Steps[i]
		}
	}
	return nil
}

// satisfies reports whether what needs this step may begin: it is done, or it was
// skipped on purpose and not because something before it failed.
func (s *Step) satisfies() bool {
	return s.Status == Completed || s.Status == Passed || s.Status == Skipped && s.Error == ""
}

// Missing returns the IDs of what a step needs and what is not there yet.
func (p *Plan) Missing(s *Step) (ids []string) {
	for _, id := range s.Needs {
		if need := p.Step(id); need == nil || !need.satisfies() {
			ids = append(ids, id)
		}
	}
	return ids
}

// Ready returns the steps that may begin now, in their order: neither running nor final,
// and nothing is missing. They belong to the plan.
func (p *Plan) Ready() (list []*Step) {
	for i := range p.Steps {
		if s := &p.Steps[i]; (s.Status == Pending || s.Status == Blocked) && len(p.Missing(s)) == 0 {
			list = append(list, s)
		}
	}
	return list
}

// Block has the status of each step that waits say whether it could begin: [Pending] if
// so, and else [Blocked]. It returns the IDs of those that were blocked and are not now.
func (p *Plan) Block() (unblocked []string) {
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Status != Pending && s.Status != Blocked {
			continue
		}
		was := s.Status
		if s.Status = Pending; len(p.Missing(s)) > 0 {
			s.Status = Blocked
		}
		if was == Blocked && s.Status == Pending {
			unblocked = append(unblocked, s.ID)
		}
	}
	return unblocked
}

// Dependents returns the IDs of all steps that need a step, themselves or by others, in
// the order of the plan.
func (p *Plan) Dependents(id string) (ids []string) {
	of := map[string]bool{id: true}
	for grown := true; grown; {
		grown = false
		for i := range p.Steps {
			s := &p.Steps[i]
			if !of[s.ID] && slices.ContainsFunc(s.Needs, func(need string) bool { return of[need] }) {
				of[s.ID], grown = true, true
			}
		}
	}
	for _, s := range p.Steps {
		if of[s.ID] && s.ID != id {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// SkipDependents skips all steps that need a step which failed, and that wait. Their
// errors say so. It returns their IDs.
func (p *Plan) SkipDependents(id string) (ids []string) {
	for _, dependent := range p.Dependents(id) {
		if s := p.Step(dependent); s.Status == Pending || s.Status == Blocked {
			s.Status, s.Error = Skipped, fmt.Sprintf("needs %s, which failed", id)
			ids = append(ids, dependent)
		}
	}
	return ids
}

// FailureRate is the part of the steps that were tried, and failed; 0 if none was tried.
func (p *Plan) FailureRate() float64 {
	failed, tried := 0.0, 0.0
	for _, s := range p.Steps {
		switch s.Status {
		case Failed:
			failed++
			tried++
		case Completed, Passed:
			tried++
		}
	}
	if tried == 0 {
		return 0
	}
	return failed / tried
}

// Layers returns for each step, in the order of the plan, how many steps the longest chain
// of those has that it needs, themselves or by others: steps of the same layer need nothing
// of each other. A need that stands after its step, or is no step, does not count.
func (p *Plan) Layers() []int {
	layers, at := make([]int, len(p.Steps)), map[string]int{}
	for i, s := range p.Steps {
		for _, id := range s.Needs {
			if layer, before := at[id]; before {
				layers[i] = max(layers[i], layer+1)
			}
		}
		at[s.ID] = layers[i]
	}
	return layers
}

// cycle returns the IDs of steps that need each other, the first once more at the end;
// nil if there are none.
func (p *Plan) cycle() []string {
	const (
		entered = 1
		left    = 2
	)
	state := map[string]int{}
	var path []string
	var visit func(id string) []string
	visit = func(id string) []string {
		s := p.Step(id)
		switch {
		case s == nil || state[id] == left:
			return nil
		case state[id] == entered:
			return append(slices.Clone(path[slices.Index(path, id):]), id)
		}
		state[id], path = entered, append(path, id)
		for _, need := range s.Needs {
			if need != id { // which has an error of its own
				if found := visit(need); found != nil {
					return found
				}
			}
		}
		state[id], path = left, path[:len(path)-1]
		return nil
	}
	for _, s := range p.Steps {
		if found := visit(s.ID); found != nil {
			return found
		}
	}
	return nil
}

// checkNeeds returns what is wrong with what the steps need of each other.
func (p *Plan) checkNeeds() (problems []error) {
	at := map[string]int{}
	for i, s := range p.Steps {
		if _, twice := at[s.ID]; !twice {
			at[s.ID] = i
		}
	}
	if around := p.cycle(); around != nil {
		problems = append(problems, fmt.Errorf("steps need each other in a circle: %s; leave out one of these needs", strings.Join(around, " needs ")))
	}
	for i, s := range p.Steps {
		seen := map[string]bool{}
		for _, need := range s.Needs {
			to, known := at[need]
			switch {
			case need == s.ID:
				problems = append(problems, fmt.Errorf("step %d: it needs itself; leave %q out of needs", i+1, need))
			case seen[need]:
				problems = append(problems, fmt.Errorf("step %d: it needs %q twice; write it once", i+1, need))
			case !known:
				problems = append(problems, fmt.Errorf("step %d: it needs %q, and there is no such step; write the id of a step before it, or leave it out", i+1, llm.Excerpt(need, 40)))
			case to > i:
				problems = append(problems, fmt.Errorf("step %d: it needs %q, which stands after it; move it behind that step, or leave the need out", i+1, need))
			}
			seen[need] = true
		}
	}
	return few(problems)
}

// few returns the first of what is wrong and says how much follows: who wrote thousands of
// errors mends none of them one by one.
func few(problems []error) []error {
	const most = 50
	if n := len(problems) - most; n > 0 {
		return append(problems[:most:most], fmt.Errorf("and %d more of that kind", n))
	}
	return problems
}
