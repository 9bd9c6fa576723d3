package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/planner"
)

// net is a plan of steps of the model alone, each written as "s3 s1 s2": its ID, and what
// it needs.
func net(steps ...string) *planner.Plan {
	p := &planner.Plan{Version: planner.Version, Mode: planner.Deliberate, Task: errand, State: planner.PlanCreated}
	for i, text := range steps {
		f := strings.Fields(text)
		p.Steps = append(p.Steps, planner.Step{
			ID: f[0], Needs: f[1:], Executor: planner.Self, Goal: fmt.Sprintf("Choose price %d", i+1), DoneWhen: fmt.Sprintf("Price %d", i+1),
			Status: planner.Pending, Parallel: len(f) == 1,
		})
	}
	return p
}

func idsOf(list []*planner.Step) (ids []string) {
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	return ids
}

// TestNeeds holds which references make a plan, and what is said of the others.
func TestNeeds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		steps []string
		want  string // "" for a plan
	}{
		{"none", []string{"s1", "s2", "s3"}, ""},
		{"a chain", []string{"s1", "s2 s1", "s3 s2", "s4 s3"}, ""},
		{"a diamond", []string{"s1", "s2 s1", "s3 s1", "s4 s2 s3"}, ""},
		{"an invalid one", []string{"s1", "s2 s9"}, `step 2: it needs "s9", and there is no such step`},
		{"an empty one", []string{"s1", "s2 ?"}, `step 2: it needs "?", and there is no such step`},
		{"a forward one", []string{"s1 s2", "s2"}, `step 1: it needs "s2", which stands after it; move it behind that step`},
		{"itself", []string{"s1", "s2 s2"}, `step 2: it needs itself; leave "s2" out of needs`},
		{"one twice", []string{"s1", "s2 s1 s1"}, `step 2: it needs "s1" twice; write it once`},
		{"a circle of two", []string{"s1 s2", "s2 s1"}, "steps need each other in a circle: s1 needs s2 needs s1"},
		{"a circle of three", []string{"s1", "s2 s1 s4", "s3 s2", "s4 s3"}, "in a circle: s2 needs s4 needs s3 needs s2"},
		{"an id twice", []string{"s1", "s1"}, `step 2: its id "s1" is that of step 1 too`},
		{"no id of ours", []string{"first"}, `step 1: the id "first" is not of the form s1`},
	} {
		err := net(tt.steps...).ValidateFor(catalog, planner.Config{})
		if tt.want == "" {
			require.NoError(t, err, tt.name)
		} else {
			require.ErrorContains(t, err, tt.want, tt.name)
		}
	}
}

// TestReadyAndBlocked holds which steps may begin as others end, and that no step is
// deleted that another one needs.
func TestReadyAndBlocked(t *testing.T) {
	p := net("s1", "s2 s1", "s3 s1", "s4 s2 s3")
	assert.Empty(t, p.Block())
	assert.Equal(t, []planner.Status{"pending", "blocked", "blocked", "blocked"}, statuses(p))
	assert.Equal(t, []string{"s1"}, idsOf(p.Ready()))
	assert.Equal(t, []string{"s2", "s3"}, p.Missing(p.Step("s4")))

	p.Steps[0].Status = planner.Running
	assert.Empty(t, p.Ready(), "what runs is not ready, nor what needs it")
	p.Steps[0].Status = planner.Completed
	assert.Equal(t, []string{"s2", "s3"}, p.Block())
	assert.Equal(t, []string{"s2", "s3"}, idsOf(p.Ready()))
	p.Steps[1].Status = planner.Completed
	assert.Empty(t, p.Block(), "one of two is not enough")
	p.Steps[2].Status = planner.Skipped
	assert.Equal(t, []string{"s4"}, p.Block(), "what was skipped on purpose is as good as done")

	assert.Equal(t, []string{"s2", "s3", "s4"}, p.Dependents("s1"))
	assert.Empty(t, p.Dependents("s4"))

	p = net("s1", "s2 s1", "s3 s1", "s4 s2 s3")
	p.Steps = p.Steps[1:]
	require.ErrorContains(t, p.ValidateFor(catalog, planner.Config{}), `step 1: it needs "s1", and there is no such step`)
}

// TestFailureSkipsDependents holds that a failure skips all that needs it, also by others,
// that what needs it not goes on, and that nothing takes such a step for done.
func TestFailureSkipsDependents(t *testing.T) {
	p := net("s1", "s2 s1", "s3 s2", "s4", "s5 s3 s4")
	p.Steps[0].Status = planner.Failed
	assert.Equal(t, []string{"s2", "s3", "s5"}, p.SkipDependents("s1"))
	assert.Equal(t, []planner.Status{"failed", "skipped", "skipped", "pending", "skipped"}, statuses(p))
	assert.Equal(t, "needs s1, which failed", p.Steps[2].Error)
	assert.Equal(t, []string{"s4"}, idsOf(p.Ready()))
	p.Steps = append(p.Steps, planner.Step{ID: "s6", Needs: []string{"s5"}, Status: planner.Pending})
	assert.Equal(t, []string{"s5"}, p.Missing(&p.Steps[5]))
}

func TestFailureRate(t *testing.T) {
	p := net("s1", "s2", "s3", "s4")
	assert.Zero(t, p.FailureRate())
	p.Steps[0].Status, p.Steps[1].Status, p.Steps[2].Status = planner.Failed, planner.Completed, planner.Passed
	p.Steps[3].Status = planner.Skipped // was not tried
	assert.InDelta(t, 1.0/3, p.FailureRate(), 1e-9)
}

// TestLayers holds that a step stands one layer below the lowest of those that it needs,
// and that needs which are no steps before it count for nothing.
func TestLayers(t *testing.T) {
	p := &planner.Plan{Steps: []planner.Step{
		{ID: "s1"}, {ID: "s2"}, {ID: "s3", Needs: []string{"s1"}}, {ID: "s4", Needs: []string{"s2", "s3"}},
		{ID: "s5", Needs: []string{"s6", "ghost", "s5"}}, {ID: "s6"},
	}}
	require.Equal(t, []int{0, 0, 1, 2, 0, 0}, p.Layers())
}
