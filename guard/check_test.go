package guard_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/guard"
	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// TestAccept holds that what a provider has against a call is accepted by a person alone,
// for that call alone, and told in full.
func TestAccept(t *testing.T) {
	c := run.Concern{Call: "call_1", Checks: []llm.Check{{ID: "sc", Code: "brand_new", Message: "The page\nsays what to do."}},
		Actions: []actuator.Action{actuator.Click{At: &actuator.Point{X: 3, Y: 4}, Button: actuator.Left, Count: 1}, actuator.Type{Text: "milk"}}}
	yes, always, no := guard.Answer{Yes: true}, guard.Answer{Yes: true, Always: true}, guard.Answer{Reason: "keep out"}
	esc := guard.Answer{Instead: actuator.Press{Keys: []actuator.Key{"esc"}, Count: 1}}
	for name, tt := range map[string]struct {
		mode   guard.Mode
		answer []guard.Answer // nil: nobody is there
		want   []string       // of each of two calls: why it is not accepted, "" if it is
	}{
		"yes, twice":                 {guard.Risky, []guard.Answer{yes, yes}, []string{"", ""}},
		"always counts once":         {guard.Risky, []guard.Answer{always, no}, []string{"", "keep out"}},
		"no":                         {guard.Always, []guard.Answer{no, yes}, []string{"keep out", ""}},
		"another action":             {guard.Risky, []guard.Answer{esc, yes}, []string{"a person said no, and would press Esc instead, which was not done", ""}},
		"nobody is there":            {guard.Risky, nil, []string{"nobody can be asked", "nobody can be asked"}},
		"nobody is asked":            {guard.Never, []guard.Answer{yes}, []string{"nobody is asked", "nobody is asked"}},
		"nothing is said about that": {"", []guard.Answer{yes}, []string{"nobody is asked", "nobody is asked"}},
	} {
		t.Run(name, func(t *testing.T) {
			ask, asked := answers(tt.answer...)
			g := &guard.Guard{Approve: tt.mode}
			if tt.answer != nil {
				g.Ask = ask
			}
			for _, want := range tt.want {
				by, err := g.Accept(t.Context(), c)
				if want == "" {
					require.NoError(t, err)
					require.Equal(t, "a person", by)
				} else {
					require.ErrorContains(t, err, want)
				}
			}
			for _, q := range *asked {
				assert.Contains(t, q.Reason, "brand_new (The page says what to do.)")
				assert.Contains(t, q.Action, "milk")
				assert.True(t, q.Refused, "without an answer it is not done")
				assert.True(t, q.Once, "no answer is for anything else")
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		g := &guard.Guard{Approve: guard.Risky, ApprovalLimit: time.Minute, Ask: func(ctx context.Context, _ guard.Approval) (guard.Answer, error) {
			<-ctx.Done()
			return guard.Answer{Yes: true}, nil
		}}
		_, err := g.Accept(t.Context(), c)
		require.ErrorContains(t, err, "nobody approved it within 1m0s")
	})
	desk := &fakeScreen{}
	g := &guard.Guard{Approve: guard.Risky, Desktop: desk, Ask: func(context.Context, guard.Approval) (guard.Answer, error) {
		desk.changed = true
		return yes, nil
	}}
	c.On = &screen.Observation{FrameID: "f1"}
	_, err := g.Accept(t.Context(), c)
	require.ErrorContains(t, err, "the screen changed")
}
