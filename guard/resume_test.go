package guard

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// calling is a call of a tool that sends.
func calling(arguments string) run.Intent {
	return run.Intent{Action: actuator.CallTool{Tool: "mail", Arguments: actuator.Object(arguments)}, Effect: worldmodel.EffectSend, Source: run.FromModel}
}

// What was begun when the program ended is not done again, however it is written, until a
// person allows it; anything else is ruled on as ever.
func TestDoubt(t *testing.T) {
	asked, why := 0, ""
	var answer Answer
	g := &Guard{Approve: Risky, Ask: func(_ context.Context, q Approval) (Answer, error) {
		asked++
		why = q.Reason
		return answer, nil
	}}
	first := calling(`{"to": "ann", "text": "hello"}`)
	g.Recall(first, run.Guarded{Allowed: true, Effect: worldmodel.EffectSend, By: "foresight"})
	g.Doubt(first)
	g.Inherit(t.Context(), "send it", &run.TaskJudged{Irreversible: true, Effects: []worldmodel.Effect{worldmodel.EffectSend}})

	same := calling(`{"text":"Hello",  "to":"ann"}`)
	ruling, err := g.Allow(t.Context(), same)
	require.Error(t, err)
	require.Equal(t, byDoubt, ruling.By)
	require.Equal(t, 1, ruling.Times)
	require.Equal(t, 1, asked)
	require.Contains(t, why, "nobody knows whether that came through")
	ruling, err = g.Allow(t.Context(), calling(`{"to": "bob", "text": "hello"}`))
	require.Error(t, err, "nothing foresees it")
	require.NotEqual(t, byDoubt, ruling.By, "that is another mail")

	answer.Yes, asked = true, 0
	ruling, err = g.Allow(t.Context(), same)
	require.NoError(t, err)
	require.Equal(t, "approval", ruling.By)
	require.Equal(t, 1, asked)
	g.Recall(same, run.Guarded{Allowed: true, Effect: worldmodel.EffectSend, By: "approval", Reason: allowedOnce})
	require.Nil(t, g.doubted(same, Classify(same)), "a person has decided")
}

// A person who allows what is in doubt lifts what was said against it before.
func TestDoubtLifts(t *testing.T) {
	g := &Guard{Approve: Risky, Ask: func(context.Context, Approval) (Answer, error) { return Answer{Yes: true}, nil }}
	in := calling(`{"to": "ann"}`)
	g.Recall(in, run.Guarded{By: "policy mail", Reason: "no mail", Effect: worldmodel.EffectSend, Times: 1})
	g.Doubt(in)
	for _, why := range []string{"it may have been done", "and that is over"} {
		ruling, err := g.Allow(t.Context(), in)
		require.NoError(t, err, why)
		require.Equal(t, "approval", ruling.By)
		require.Nil(t, g.doubted(in, Classify(in)))
	}
}

// That a person chose another action says nothing of the one which they were asked about.
func TestRecallEdited(t *testing.T) {
	g := &Guard{}
	in := calling(`{"to": "ann"}`)
	g.Recall(in, run.Guarded{By: "policy mail", Reason: "no mail", Effect: worldmodel.EffectSend, Times: 1})
	g.Doubt(in)
	g.Recall(in, run.Guarded{Allowed: true, By: "approval", Reason: run.ChoseAnother, Effect: worldmodel.EffectSend})
	require.NotNil(t, g.doubted(in, Classify(in)))
	require.True(t, g.objected(keyOf(in, Classify(in))))
}

// Where nobody can be asked it stays undone; what is harmless is never in doubt.
func TestDoubtAlone(t *testing.T) {
	g := &Guard{Approve: Never}
	first := calling(`{"to": "ann"}`)
	g.Doubt(first)
	read := run.Intent{Action: actuator.CallTool{Tool: "read", Arguments: "{}"}, Effect: worldmodel.EffectNone}
	g.Doubt(read)
	g.Doubt(run.Intent{Action: actuator.Wait{Milliseconds: 5}})
	require.Len(t, g.state.doubts, 1)
	for n := 1; n <= 2; n++ {
		ruling, err := g.Allow(t.Context(), first)
		require.ErrorContains(t, err, `blocked_by="in doubt"`)
		require.Equal(t, n, ruling.Times)
	}
	_, err := g.Allow(t.Context(), read)
	require.NoError(t, err)
}

// What a guard knew of a run, another one knows after it was told what that one ruled.
func TestRecall(t *testing.T) {
	g := &Guard{}
	in := calling(`{"to": "ann"}`)
	g.Recall(in, run.Guarded{By: "policy mail", Reason: "no mail", Effect: worldmodel.EffectSend, Times: 1})
	g.Recall(run.Intent{Action: actuator.KeyDown{Key: "ctrl"}}, run.Guarded{Allowed: true, By: "table"})
	judged := &run.TaskJudged{Irreversible: true, Effects: []worldmodel.Effect{worldmodel.EffectDelete}, Reason: "it deletes"}
	g.Inherit(t.Context(), "tidy up", judged)

	ruling, err := g.Allow(t.Context(), in)
	require.Error(t, err)
	require.Equal(t, 2, ruling.Times, "it was refused once before")
	require.Equal(t, "no mail", ruling.Reason)
	require.Equal(t, []actuator.Key{"ctrl"}, g.state.held[in.Display])
	require.Equal(t, judged, g.Judged(t.Context()))
	v, _ := g.verdictOf(t.Context())
	require.True(t, v.Demands(worldmodel.EffectDelete))
	require.False(t, v.Demands(worldmodel.EffectSend))
	require.Equal(t, "tidy up", g.task())

	other := calling(`{"to": "bob"}`)
	g.Recall(other, run.Guarded{Allowed: true, By: "approval", Reason: allowedKind, Effect: worldmodel.EffectSend})
	_, err = g.Allow(t.Context(), other)
	require.NoError(t, err, "a person allowed this kind for the run")
}
