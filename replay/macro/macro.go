package macro

import (
	"errors"
	"fmt"
	"image"
	"io/fs"

	"desktop-agent/actuator"
	"desktop-agent/replay"
	"desktop-agent/run"
)

// A Macro is a recorded run as steps that can be done again. Its methods are for
// one goroutine.
type Macro struct {
	Run   string // ID of the recorded run
	Task  string // as recorded
	Steps []Step

	run    *replay.Run
	params []Param
	values map[string]string // of the params that were set, by name
}

// A Step is one step of the recording in which something was done.
type Step struct {
	Of      int    // its number in the recorded run
	Thought string // as recorded
	Expect  string
	Actions []Action

	was, led *scene // before and after; led is nil if the recording ends there
	effect   effect
}

// An Action is one recorded action with what it is for.
type Action struct {
	actuator.Action          // as recorded; a point that it left open is filled in
	Index           int      // within the recorded batch, from 0
	Targets         []Target // one for each point; of a drag those of its first and its last

	secret bool // its text is not recorded
}

// LoadOptions are the settings of [Load]; the zero value works.
type LoadOptions struct {
	// Declare names texts that are typed in the run, whole or in part, as
	// parameters, beside those that are found.
	Declare map[string]string
}

// Load derives a macro from a recorded run, of the agent or of a person. What
// was refused is left out, as is what asks something of the agent. A run in
// which nothing was done is an error.
func Load(stored *replay.Run, o *LoadOptions) (*Macro, error) {
	m := &Macro{Run: stored.Info.ID, run: stored, values: map[string]string{}}
	named := map[actionIndex]run.Param{}
	for s, err := range stored.Steps() {
		if err != nil {
			return nil, fmt.Errorf("macro of run %s: %w", m.Run, err)
		}
		if s.Started != nil {
			m.Task = s.Started.Task
		}
		step, err := m.step(s, named)
		if err != nil {
			return nil, fmt.Errorf("macro of run %s: step %d: %w", m.Run, s.N, err)
		}
		if len(step.Actions) > 0 {
			m.Steps = append(m.Steps, step)
		}
	}
	if len(m.Steps) == 0 {
		return nil, fmt.Errorf("macro of run %s: nothing was done in it; take a run with actions", m.Run)
	}
	if o == nil {
		o = &LoadOptions{}
	}
	if err := m.findParams(named, o.Declare); err != nil {
		return nil, fmt.Errorf("macro of run %s: %w", m.Run, err)
	}
	return m, nil
}

// step derives a step; it has no actions if nothing was done in it.
func (m *Macro) step(s *replay.Step, named map[actionIndex]run.Param) (Step, error) {
	proposal := s.Proposal()
	seen := s.Seen()
	if proposal == nil || seen == nil {
		return Step{}, nil
	}
	step := Step{Of: s.N, Thought: proposal.Thought, Expect: proposal.Expect}
	secret := map[int]bool{}
	for _, p := range proposal.Params {
		secret[p.Index] = p.Secret
	}
	for _, act := range s.Acts {
		if !performed(act) {
			continue
		}
		for _, p := range proposal.Params {
			if p.Index == act.Index {
				named[actionIndex{len(m.Steps), len(step.Actions)}] = p
			}
		}
		step.Actions = append(step.Actions, Action{Action: actuator.Pixels(act.Action.Action), Index: act.Index, secret: secret[act.Index]})
	}
	if len(step.Actions) == 0 {
		return step, nil
	}
	step.was = recordedScene(seen)
	if s.After != nil {
		step.led = recordedScene(s.After)
		step.effect = effectOf(step.was, step.led)
	}
	return step, m.aim(&step, seen)
}

// performed reports whether an act of the recording is to be done again.
func performed(a *run.Deed) bool {
	return !actuator.ForAgent(a.Action.Action) && a.Acted != nil && a.Acted.Status != actuator.Refused
}

// aim fills in the points that actions leave open, and derives what each is for.
func (m *Macro) aim(step *Step, before *run.Observed) error {
	pointer := before.Mapping.ToImage(before.Cursor)
	var frame *image.RGBA
	for i := range step.Actions {
		a := &step.Actions[i]
		a.Action = actuator.Aimed(a.Action, actuator.Point{X: pointer.X, Y: pointer.Y})
		points := actuator.Points(a.Action)
		if len(points) == 0 {
			continue
		}
		if frame == nil {
			var err error
			if _, frame, err = m.run.Pixels(before); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		ends := points[:1]
		if len(points) > 1 {
			ends = []actuator.Point{points[0], points[len(points)-1]}
		}
		for _, p := range ends {
			at := image.Pt(p.X, p.Y)
			if !at.In(before.Mapping.Bounds()) {
				return fmt.Errorf("%s: the point is outside the recorded image", actuator.Describe(a.Action))
			}
			a.Targets = append(a.Targets, newTarget(step.was, frame, at))
		}
		last := points[len(points)-1]
		pointer = image.Pt(last.X, last.Y)
	}
	return nil
}

// moved returns an action with other points, as many as [actuator.Points] gives;
// with none it stays as it is.
func moved(a actuator.Action, to []actuator.Point) actuator.Action {
	if len(to) == 0 {
		return a
	}
	n := -1
	return actuator.Moved(a, func(actuator.Point) actuator.Point {
		n++
		return to[n]
	})
}
