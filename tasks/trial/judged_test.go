//go:build linux

package trial_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/run"
	"desktop-agent/tasks"
	"desktop-agent/tasks/judge"
	"desktop-agent/tasks/trial"
)

// TestJudge has a task without a check of effects judged, and one with a check
// compared. A judge that gives no verdict is an error for the first alone.
func TestJudge(t *testing.T) {
	act := trial.Agent(trial.Config{
		Client: func() *llm.Client {
			return &llm.Client{Model: &llmtest.Script{T: t, Replies: map[llm.Role][]llmtest.Func{llm.Actor: {llmtest.Text("FAIL: no")}}}, Default: llm.Settings{Model: "m"}}
		},
		Settings: run.Settings{Agent: run.AgentSettings{Planning: "off", Format: "code", MaxSteps: 2}},
	})
	silent := &judge.Judge{Model: &llm.Client{Model: llmtest.Text("I will not say."), Default: llm.Settings{Model: "m"}}, Replies: 1}
	suite := written(t)
	r := &trial.Runner{Suite: suite, Actors: map[string]trial.Act{"agent": act}, Judging: &trial.Judging{Judge: silent, Compare: true}}
	result, _, err := do(t, r, "agent")
	require.NoError(t, err)
	assert.Equal(t, tasks.Scored, result.Status)
	require.NotNil(t, result.Judge)
	assert.NotEmpty(t, result.Judge.Error)
	assert.Equal(t, 1, trial.Agreement([]tasks.Result{result}).Missing)

	suite.Tasks[0].Evaluator = tasks.Evaluator{Infeasible: true}
	r.Judging.Compare = false
	result, _, err = do(t, r, "agent")
	require.ErrorContains(t, err, "judge: ")
	assert.NotEqual(t, tasks.Scored, result.Status)
	assert.Zero(t, result.Score, "what the placeholder says does not count")
	assert.Equal(t, trial.StageEvaluate, result.Stage)
}

func TestAgreement(t *testing.T) {
	yes, no := true, false
	a := trial.Agreement([]tasks.Result{
		{Status: tasks.Scored, Score: 1, Judge: &tasks.Judgement{Success: &yes}},
		{Status: tasks.Scored, Score: 0, Judge: &tasks.Judgement{Success: &no}},
		{Status: tasks.Scored, Score: .5, Judge: &tasks.Judgement{Success: &yes}},
		{Status: tasks.Errored, Judge: &tasks.Judgement{Success: &yes}},
		{Status: tasks.Scored, Score: 1},
	})
	assert.Equal(t, 3, a.Trials)
	assert.Equal(t, []int{1, 1, 1, 0}, []int{a.BothPass, a.BothFail, a.JudgeOnly, a.EffectOnly})
}
