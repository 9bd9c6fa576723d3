package planner_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/planner"
)

// TestApprove holds what becomes of a plan by each answer, and where there is none; and who
// it says decided.
func TestApprove(t *testing.T) {
	plan := net("s1", "s2 s1")
	edited := net("s1", "s2", "s3 s1 s2")
	circle := net("s1 s2", "s2 s1")
	for _, tt := range []struct {
		name   string
		config planner.Config
		ask    planner.Approver
		want   *planner.Plan
		reason string
	}{
		{"yes", planner.Config{}, says(planner.Decision{Plan: plan, By: "ada"}, nil), plan, ""},
		{"edited", planner.Config{}, says(planner.Decision{Plan: edited, By: "ada"}, nil), edited, ""},
		{"edited into a circle", planner.Config{}, says(planner.Decision{Plan: circle, By: "ada"}, nil), nil, "not valid: steps need each other in a circle"},
		{"no", planner.Config{}, says(planner.Decision{Reason: "too\nlong", By: "ada"}, nil), nil, "too long"},
		{"no, and why is not said", planner.Config{}, says(planner.Decision{By: "ada"}, nil), nil, "without a reason"},
		{"nobody", planner.Config{}, nil, nil, "nobody is there to ask"},
		{"nobody, and that is a yes", planner.Config{Unanswered: planner.ExecuteUnanswered}, nil, plan, ""},
		{"a failure", planner.Config{}, says(planner.Decision{Plan: edited}, errors.New("the terminal is gone")), nil, "the terminal is gone"},
		{"a failure, and that is a yes to what was shown", planner.Config{Unanswered: planner.ExecuteUnanswered}, says(planner.Decision{Plan: edited}, errors.New("gone")), plan, ""},
		{"a failure that breaks it", planner.Config{}, breaks, nil, "the approver broke: no terminal"},
	} {
		p := &planner.Planner{Config: tt.config, Catalog: catalog}
		d, err := p.Approve(t.Context(), plan, tt.ask)
		require.NoError(t, err, tt.name)
		assert.Equal(t, tt.want, d.Plan, tt.name)
		by := "ada"
		if strings.HasPrefix(tt.name, "nobody") || strings.HasPrefix(tt.name, "a failure") {
			by = planner.ByPolicy
		}
		assert.Equal(t, by, d.By, tt.name)
		if tt.reason == "" {
			assert.Empty(t, d.Reason, tt.name)
		} else {
			assert.Contains(t, d.Reason, tt.reason, tt.name)
		}
	}
	p := &planner.Planner{Catalog: catalog}
	_, err := p.Approve(t.Context(), plan, func(_ context.Context, shown *planner.Plan, check func(*planner.Plan) error) (planner.Decision, error) {
		shown.Steps[0].Goal = "forged"
		require.ErrorContains(t, check(circle), "in a circle")
		require.NoError(t, check(edited))
		return planner.Decision{}, nil
	})
	require.NoError(t, err)
	assert.Equal(t, "Choose price 1", plan.Steps[0].Goal, "the plan is shown, not given away")
}

func breaks(context.Context, *planner.Plan, func(*planner.Plan) error) (planner.Decision, error) {
	panic("no terminal")
}

func says(d planner.Decision, err error) planner.Approver {
	return func(context.Context, *planner.Plan, func(*planner.Plan) error) (planner.Decision, error) {
		return d, err
	}
}

// TestApprovalTakesTime holds that an answer is waited for as long as is said, also from
// somebody who does not heed the end, while the clock of the run stands still; and that a
// stop is none of a person's answers.
func TestApprovalTakesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		deaf := func(context.Context, *planner.Plan, func(*planner.Plan) error) (planner.Decision, error) {
			<-release
			return planner.Decision{Plan: net("s1")}, nil
		}
		var paused atomic.Int32
		p := &planner.Planner{Catalog: catalog, Config: planner.Config{ApprovalLimit: time.Minute}, Pause: func() func() {
			paused.Add(1)
			return func() { paused.Add(-1) }
		}}
		began := time.Now()
		d, err := p.Approve(t.Context(), net("s1"), func(ctx context.Context, plan *planner.Plan, check func(*planner.Plan) error) (planner.Decision, error) {
			assert.EqualValues(t, 1, paused.Load())
			return deaf(ctx, plan, check)
		})
		require.NoError(t, err)
		assert.Nil(t, d.Plan)
		assert.Equal(t, "no answer in time", d.Reason)
		assert.Equal(t, time.Minute, time.Since(began))
		assert.Zero(t, paused.Load())

		p.Config.Unanswered = planner.ExecuteUnanswered
		d, err = p.Approve(t.Context(), net("s1"), deaf)
		require.NoError(t, err)
		assert.Equal(t, net("s1"), d.Plan)

		stop := errors.New("stopped by the user")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(stop) })
		_, err = p.Approve(ctx, net("s1"), deaf)
		require.ErrorIs(t, err, stop)
		close(release)
	})
}
