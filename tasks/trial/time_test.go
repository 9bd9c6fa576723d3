package trial

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/run/eventjson"
	"desktop-agent/tasks"
)

// A step asks two models at the same time: they are waited for once, as the page
// of the run says too.
func TestTimeOf(t *testing.T) {
	j, err := replay.Create(t.TempDir())
	require.NoError(t, err)
	defer j.Close()
	start, n := time.Now(), 0
	put := func(step, ms int, data run.EventData) {
		n++
		e := run.Event{Seq: n, Step: step, Time: start.Add(time.Duration(ms) * time.Millisecond), Kind: run.Kind(data), Data: data}
		require.NoError(t, j.Event(context.Background(), e))
	}
	put(0, 0, run.RunStarted{Schema: run.Schema})
	look := run.Observed{FrameID: "f1"}
	look.Timing.Settle, look.Timing.Total = 50*time.Millisecond, 80*time.Millisecond
	put(0, 200, look)
	put(1, 1200, run.ModelCalled{Role: llm.WorldModel, Millis: 1000})
	put(1, 1300, run.ModelCalled{Role: llm.Actor, Millis: 1100})
	acting, err := eventjson.Unmarshal("acting", []byte(`{"action":{"action":"copy"}}`))
	require.NoError(t, err)
	put(1, 1310, acting)
	put(1, 1350, run.Acted{Millis: 40})
	put(2, 2350, run.ModelCalled{Role: llm.Actor, Millis: 900})
	m, err := timeOf(j.Dir())
	require.NoError(t, err)
	assert.Equal(t, tasks.Millis{Model: 2000, Screen: 30, Settle: 50, Act: 40}, m)
}
