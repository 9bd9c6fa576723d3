package offline_test

import (
	"image"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/replay"
	"desktop-agent/replay/offline"
	"desktop-agent/run"
)

// TestTimeOfPrograms holds that a run that was killed after five minutes and taken up again
// two hours later, that worked for a minute and was killed once more, goes on with six
// minutes spent, and that all who tell of its end count on from there.
func TestTimeOfPrograms(t *testing.T) {
	j, err := replay.Create(t.TempDir())
	require.NoError(t, err)
	start := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	put := func(seq int, after time.Duration, step int, data run.EventData) {
		require.NoError(t, j.Event(t.Context(), run.Event{Seq: seq, Time: start.Add(after), Step: step, Kind: run.Kind(data), Data: data}))
	}
	put(1, 0, 0, run.RunStarted{Schema: run.Schema, Task: "x", Parser: "code", Planning: "deliberate"})
	put(2, 5*time.Minute, 3, run.Noted{Text: "one"})
	put(3, 125*time.Minute, 3, run.Resumed{From: 2})
	put(4, 126*time.Minute, 2, run.Noted{Text: "two"})
	require.NoError(t, j.Close())

	j, err = replay.Reopen(j.Dir())
	require.NoError(t, err)
	budget := &llm.Budget{}
	session, err := run.Open(t.Context(), run.Settings{}, &run.Options{
		NoDesktop: true, Client: &llm.Client{Model: newScript(0, image.Pt(400, 300)), Budget: budget}, Journal: func() (run.Journal, error) { return j, nil },
	})
	require.NoError(t, err)
	_, err = (&offline.Resumption{Session: session, Stored: open(t, j.Dir()), Desktop: run.SameDesktop}).Begun(t.Context())
	require.NoError(t, err)
	assert.InDelta(t, 6*time.Minute, budget.Spent().Time, float64(30*time.Second))
	result, err := session.Hand.End(t.Context(), nil, time.Minute)
	require.NoError(t, err)
	require.NoError(t, session.Close())
	assert.Equal(t, 7*time.Minute, result.Elapsed)
	listed := replay.Summarize(j.Dir())
	assert.Equal(t, result.Elapsed, listed.Elapsed)
	assert.Equal(t, 3, listed.Steps)
}
