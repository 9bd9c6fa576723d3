package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/judge"
	"desktop-agent/tasks/osworld/evaluate"
	"desktop-agent/tasks/osworld/getter"
	"desktop-agent/tasks/osworld/setup"
	"desktop-agent/tasks/plant"
)

// A Checked says whether a task can be done here.
type Checked struct {
	Task   string   `json:"task"`
	Domain string   `json:"domain"`
	Files  int      `json:"files"`  // that it needs
	Lacks  int      `json:"lacks"`  // of these, how many are neither in the suite nor in the cache
	Setup  bool     `json:"setup"`  // it can be set up
	Judged bool     `json:"judged"` // its result can be judged
	Judge  bool     `json:"judge"`  // by a model that judges, and by nothing else
	Why    []string `json:"why"`    // why not; empty if it can
	// Control is what doing nothing scores; nil if that was not tried, see [Runner.Control].
	Control *float64 `json:"control,omitempty"`

	Harm bool `json:"harm,omitempty"` // whether harm was done is told by effects

	fileID string

	Unisolated bool `json:"unisolated,omitempty"` // its commands would see the machine itself
}

// Ready reports whether the task can be done here.
func (c *Checked) Ready() bool { return len(c.Why) == 0 }

// Check says whether a task can be done here, without doing anything. Files that
// are not there are no obstacle unless the runner is offline: they can be fetched.
func (r *Runner) Check(task *tasks.Task) Checked {
	c := Checked{Unisolated: r.Unisolated, Task: task.ID, Domain: task.Domain, Judge: judge.Needed(task) && !byEffects(task), Harm: plant.Watched(task), fileID: task.FileID(), Why: []string{}}
	c.Setup = r.checkSteps(&c, "set-up", task.Setup)
	c.Setup = c.none(plant.Check(task)...) && c.Setup
	if r.Unisolated && plant.Watched(task) {
		c.Setup = c.none("what harm it does can be told on a computer of its own alone")
	}
	c.Setup = c.none(env.LacksApps(task.Domain, append(slices.Clone(task.Apps), task.Snapshot), task.Instruction)...) && c.Setup
	c.Judged = r.checkSteps(&c, "before it is judged", task.Evaluator.Post)
	for i, check := range task.Evaluator.Checks {
		for _, g := range []*tasks.Getter{check.Result, check.Expected} {
			if why := r.checkGetter(&c, g); why != "" {
				c.Judged = c.none(fmt.Sprintf("check %d: %s", i+1, why))
			}
			c.Judged = c.none(getter.Lacks(g)...) && c.Judged
			if g == nil || g.Type != "vm_command_line" && g.Type != "vm_command_error" {
				continue
			}
			if command, err := env.ReadCommand(g.Params); err == nil {
				c.Judged = c.none(command.Obstacles(r.Network)...) && c.Judged
			}
		}
		if why := evaluate.Lacks(check); why != "" {
			c.Judged = c.none(why)
		}
	}
	return c
}

// Skip says why a task cannot be done here and now; "" if it can. One that nothing
// but a judge can tell of needs one that scores.
func (r *Runner) Skip(task *tasks.Task) string {
	c := r.Check(task)
	if c.Judge && !r.scores() {
		c.none("nothing but a judge can tell what came of it, and none scores it: see --judge=score")
	}
	return strings.Join(c.Why, "; ")
}

// byEffects reports whether effects tell what a task without a check is about: whether
// its injection has done harm.
func byEffects(task *tasks.Task) bool { return judge.Needed(task) && plant.Watched(task) }

// Control sets a task up that can be done here, does nothing, and has what came of it
// judged: a task that begins as it should end, or whose set-up breaks, tells nothing of
// an agent, and c gets that as a reason. The error is of this machine, and not of the task.
func (r *Runner) Control(ctx context.Context, task *tasks.Task, c *Checked) error {
	if !c.Ready() || c.Judge {
		return nil
	}
	dir, err := os.MkdirTemp("", "desktop-agent-control-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	alone := *r
	alone.Judging, alone.Actors = nil, map[string]Act{string(Control): Scripted(Control)}
	result, err := alone.Do(ctx, tasks.Trial{Task: task.ID, Config: string(Control), Repeat: 1}, dir)
	no, machine := errors.AsType[*env.NoIsolationError](err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case machine:
		return no
	case err != nil:
		c.none(fmt.Sprintf("with nothing done, the %s breaks: %v", result.Stage, err))
	case result.Status == tasks.NotExposed:
		c.Control = &result.Score
	case result.Status != tasks.Scored:
		c.none("with nothing done, it is skipped: " + result.Why)
	case result.Score > 0 && !byEffects(task): // where only harm tells, doing nothing is right
		c.none(fmt.Sprintf("doing nothing scores %g", result.Score))
		fallthrough
	default:
		c.Control = &result.Score
	}
	return nil
}

// none keeps each reason once, and reports whether there is none.
func (c *Checked) none(reasons ...string) bool {
	for _, why := range reasons {
		if !slices.Contains(c.Why, why) {
			c.Why = append(c.Why, why)
		}
	}
	return len(reasons) == 0
}

// checkSteps checks the steps of a part, and counts their files.
func (r *Runner) checkSteps(c *Checked, part string, steps []tasks.Step) bool {
	fine := true
	for _, step := range steps {
		unsupported := &setup.Unsupported{}
		if err := setup.Check(step); errors.As(err, &unsupported) {
			fine = c.none(part + ": " + unsupported.Error())
			continue
		}
		fine = c.none(setup.Lacks(step)...) && fine
		if command, ok := setup.Command(step, &setup.Options{Password: r.Password}); ok {
			fine = c.none(command.Obstacles(r.Network)...) && fine
		}
		if setup.NeedsNetwork(step) && !r.Network {
			fine = c.none(part + ": it opens pages of the live web, and the network is off")
		}
		assets, err := setup.Assets(step, &setup.Options{TaskID: c.fileID, Dir: r.Suite.Dir, Cache: r.Cache})
		if err != nil {
			fine = c.none(fmt.Sprintf("%s: %s: %v", part, step.Type, err))
		}
		for _, a := range assets {
			if why := c.file(a.Source, a.Lacks, r.Offline); why != "" {
				fine = c.none(part + ": " + why)
			}
		}
	}
	return fine
}

// file counts a file that a task needs, and says why it cannot be had; "" if it
// can.
func (c *Checked) file(source string, lacks, offline bool) string {
	c.Files++
	if !lacks {
		return ""
	}
	c.Lacks++
	if offline || !strings.HasPrefix(source, "http") {
		return source + " is not there"
	}
	return ""
}

// checkGetter says why a value cannot be had here; "" if it can. It counts the
// getter's files.
func (r *Runner) checkGetter(c *Checked, g *tasks.Getter) string {
	if g == nil {
		return ""
	}
	unsupported := &getter.Unsupported{}
	if err := getter.Check(g); errors.As(err, &unsupported) {
		return unsupported.Error()
	}
	if getter.NeedsNetwork(g) && !r.Network {
		return g.Type + " looks at the live web, and the network is off"
	}
	assets, err := getter.Assets(g, &getter.Options{TaskID: c.fileID, Cache: r.Cache, Suite: r.Suite.Dir})
	if err != nil {
		return fmt.Sprintf("%s: %v", g.Type, err)
	}
	for _, a := range assets {
		if why := c.file(a.Source, a.Lacks, r.Offline); why != "" {
			return why
		}
	}
	return ""
}
