package planner

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ProgressStep returns the number of the current step, from 1: the first that
// is not final. It is one more than the number of steps when all are.
func (p *Plan) ProgressStep() int {
	for i, s := range p.Steps {
		if !s.Status.Final() {
			return i + 1
		}
	}
	return len(p.Steps) + 1
}

// Current returns the current step, or nil when the plan is exhausted. It
// belongs to the plan.
func (p *Plan) Current() *Step {
	if p.Exhausted() {
		return nil
	}
	return &p.Steps[p.ProgressStep()-1]
}

// Exhausted reports whether every step is final. That says nothing of the task:
// the goal is then to be verified on the screen.
func (p *Plan) Exhausted() bool { return p.ProgressStep() > len(p.Steps) }

// Complete completes the current step by evidence, and no other step: never one
// before it, never two at once. A frame completes one step at most, and only a
// step that was current before the frame was taken.
//
// It checks what the plan itself can tell. Whether the quote is really on the
// screen was decided before, by whoever has the screen.
func (p *Plan) Complete(ev Evidence) error {
	step := p.Current()
	if step == nil {
		return errors.New("complete a step: all are completed")
	}
	n := p.ProgressStep()
	if err := p.admits(step, ev); err != nil {
		return fmt.Errorf("complete step %d: %w", n, err)
	}
	step.Status, step.Evidence = Completed, &ev
	if next := p.Current(); next != nil {
		next.Status, next.StartedAt = Running, ev.At
	}
	return nil
}

// admits returns why evidence cannot complete the current step.
func (p *Plan) admits(step *Step, ev Evidence) error {
	switch {
	case ev.FrameID == "":
		return errors.New("the evidence names no frame")
	case strings.TrimSpace(ev.Quote) == "":
		return errors.New("the evidence is empty")
	case ev.Source != SourceWindow && ev.Source != SourceTree && ev.Source != SourceOCR && ev.Source != SourceImage:
		return fmt.Errorf("the evidence comes from %q, which is no place on the screen", ev.Source)
	case !step.StartedAt.IsZero() && !ev.At.After(step.StartedAt):
		return fmt.Errorf("frame %s is not newer than the step", ev.FrameID)
	}
	for _, s := range p.Steps {
		if s.Evidence != nil && s.Evidence.FrameID == ev.FrameID {
			return fmt.Errorf("frame %s has already completed a step", ev.FrameID)
		}
	}
	return nil
}

// Clone returns a deep copy; nil of nil.
func (p *Plan) Clone() *Plan {
	if p == nil {
		return nil
	}
	c := *p
	c.Steps = cloneSteps(p.Steps)
	c.Revisions = slices.Clone(p.Revisions)
	for i := range c.Revisions {
		c.Revisions[i].Changes = slices.Clone(c.Revisions[i].Changes)
		for j, change := range c.Revisions[i].Changes {
			c.Revisions[i].Changes[j].Old, c.Revisions[i].Changes[j].New = change.Old.clone(), change.New.clone()
		}
	}
	return &c
}

func (s *Step) clone() *Step {
	if s == nil {
		return nil
	}
	c := *s
	if s.Evidence != nil {
		e := *s.Evidence
		c.Evidence = &e
	}
	return &c
}

func cloneSteps(list []Step) []Step {
	c := slices.Clone(list)
	for i := range c {
		c[i] = *list[i].clone()
	}
	return c
}
