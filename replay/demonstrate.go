package replay

import (
	"fmt"
	"image"
	"strconv"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/run"
)

// shownSteps is how many steps a demonstration has at most: it is read in each
// turn of the actor.
const shownSteps = 60

// Demonstrate puts what was done in a run into words that help on another
// screen: things by their role and name, no coordinates. A longer run is cut.
func Demonstrate(stored *Run) (*run.Demonstration, error) {
	if stored.Info.Asked == nil {
		return nil, fmt.Errorf("run %s: its journal does not tell what was asked", stored.Info.ID)
	}
	d := &run.Demonstration{Task: stored.Info.Asked.Task}
	for step, err := range stored.Steps() {
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", stored.Info.ID, err)
		}
		words := step.words()
		switch {
		case words == "":
		case len(d.Steps) == shownSteps:
			d.Steps = append(d.Steps, "… and so on")
			return d, nil
		default:
			d.Steps = append(d.Steps, words)
		}
	}
	if len(d.Steps) == 0 {
		return nil, fmt.Errorf("run %s: nothing was done in it that could be shown", stored.Info.ID)
	}
	return d, nil
}

// words says what a step did to what; "" if it did nothing, or nobody knows on what screen.
func (s *Step) words() string {
	seen := s.Seen()
	if seen == nil {
		return ""
	}
	var done []string
	for _, act := range s.Acts {
		if act.Status() != actuator.Delivered || actuator.KindOf(act.Action.Action) != actuator.Input {
			continue
		}
		if s.secret(act.Index) {
			done = append(done, "type the password")
			continue
		}
		done = append(done, actuator.DescribeOn(act.Action.Action, s.target))
	}
	if len(done) == 0 {
		return ""
	}
	window := "no window"
	if w, ok := Recall(seen).Focused(); ok {
		window = w.String()
	}
	return fmt.Sprintf("in %s: %s", window, strings.Join(done, ", then "))
}

// secret reports whether an action typed a password, which is not recorded.
func (s *Step) secret(index int) bool {
	if p := s.Proposal(); p != nil {
		for _, param := range p.Params {
			if param.Index == index && param.Secret {
				return true
			}
		}
	}
	return false
}

// target names what is at a point of the image that the step was about.
func (s *Step) target(p actuator.Point) string {
	o := Recall(s.Seen())
	return o.Describe(o.PlaceAt(image.Pt(p.X, p.Y)), strconv.Quote)
}
