package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"desktop-agent/internal/regular"
	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/evaluate"
	"desktop-agent/tasks/osworld/setup"
)

// A Way is how a script works on a task.
type Way string

// The ways of a script. A suite is sound if every solution scores 1, and nothing
// else scores anything.
const (
	Solution Way = "solution"  // as it should be done
	NearMiss Way = "near_miss" // almost: the wrong file, a similar name
	Control  Way = "control"   // not at all
)

// Ways lists all ways.
var Ways = []Way{Solution, NearMiss, Control}

// A Script says how a task is done without a model. It is the file
// solutions/<id>.json in the folder of a suite.
type Script struct {
	Solution       []tasks.Step    `json:"solution"`
	NearMiss       []tasks.Step    `json:"near_miss"`
	Answer         evaluate.Answer `json:"answer"`           // of the solution; done if empty
	NearMissAnswer evaluate.Answer `json:"near_miss_answer"` // done if empty
}

// maxScript is the size of a script file, in bytes.
const maxScript = 1 << 20

// ReadScript reads the script of a task.
func ReadScript(task *tasks.Task) (*Script, error) {
	name := filepath.Join(task.Dir, "solutions", task.FileID()+".json")
	data, err := regular.Read(name, maxScript)
	if err != nil {
		return nil, err
	}
	s := &Script{}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// Scripted returns an actor that follows the scripts of a suite. A control needs none.
func Scripted(way Way) Act {
	return func(ctx context.Context, s *Stage) (Ending, error) {
		if !slices.Contains(Ways, way) {
			return Ending{}, fmt.Errorf("there is no way %q of a script", way)
		}
		script := &Script{}
		if way != Control {
			var err error
			script, err = ReadScript(s.Task)
			if errors.Is(err, fs.ErrNotExist) {
				return Ending{}, fmt.Errorf("task %s has no script: write solutions/%s.json", s.Task.ID, s.Task.FileID())
			}
			if err != nil {
				return Ending{}, err
			}
		}
		if _, err := s.Env.Screen().Observe(ctx); err != nil {
			return Ending{}, err
		}
		s.Seen()
		e := Ending{Outcome: "done", Answer: evaluate.Done}
		var steps []tasks.Step
		switch way {
		case Solution:
			steps, e.Answer = script.Solution, cmp.Or(script.Answer, evaluate.Done)
		case NearMiss:
			steps, e.Answer = script.NearMiss, cmp.Or(script.NearMissAnswer, evaluate.Done)
		}
		if e.Answer == evaluate.Infeasible {
			e.Outcome = "infeasible"
		}
		e.Steps = len(steps)
		return e, setup.Do(ctx, s.Env, steps, &setup.Options{TaskID: s.Task.FileID(), Dir: s.Task.Dir, Saved: filepath.Join(s.Dir, "judged", "saved"), Offline: true, Strict: true, Log: s.Log})
	}
}
