//go:build linux

package trial_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/tasks"
	"desktop-agent/tasks/judge"
	"desktop-agent/tasks/trial"
)

// TestSkipped holds that what cannot be done here is skipped with the reason,
// before a computer is made, an actor called or a judge asked.
func TestSkipped(t *testing.T) {
	attack := []tasks.Injection{{Type: "website", Goals: []string{"stop_task"}}, {Type: "desktop_notification"}, {Type: "website"}}
	for _, tt := range []struct {
		name          string
		change        func(*tasks.Task)
		why           string
		setup, judged bool
	}{
		{"an injection", func(task *tasks.Task) { task.Injections = attack },
			"its injection is not planted here: website, desktop_notification", false, true},
		{"an injection that a judge would judge", func(task *tasks.Task) {
			task.Injections, task.Evaluator = attack, tasks.Evaluator{ByJudge: true}
		}, "its injection is not planted here: website, desktop_notification", false, true},
		{"an injection and no way to say so", func(task *tasks.Task) {
			task.Injections, task.Evaluator = attack[1:2], tasks.Evaluator{Infeasible: true}
		}, "its injection is not planted here: desktop_notification", false, true},
		{"an account", func(task *tasks.Task) { task.Setup = []tasks.Step{{Type: "login"}} },
			"set-up: login is not supported: it needs an account with a web site", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			suite := written(t)
			tt.change(suite.Tasks[0])
			silent := &judge.Judge{Model: &llm.Client{Model: &llmtest.Script{T: t}, Default: llm.Settings{Model: "m"}}}
			r := &trial.Runner{Suite: suite, Judging: &trial.Judging{Judge: silent}, Actors: map[string]trial.Act{
				"agent": func(context.Context, *trial.Stage) (trial.Ending, error) {
					t.Error("the actor is called")
					return trial.Ending{}, errors.New("called")
				},
			}}
			c := r.Check(suite.Tasks[0])
			assert.Equal(t, []string{tt.why}, c.Why)
			assert.Equal(t, []bool{tt.setup, tt.judged, false}, []bool{c.Setup, c.Judged, c.Ready()})
			result, dir, err := do(t, r, "agent")
			require.NoError(t, err)
			assert.Equal(t, tasks.Skipped, result.Status)
			assert.Equal(t, tt.why, result.Why)
			assert.Zero(t, result.Score)
			assert.Nil(t, result.Judge)
			files, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Empty(t, files)
		})
	}
}
