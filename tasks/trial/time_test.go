package trial

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/screen"
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
	put(0, 200, run.Observed{FrameID: "f1", Timing: screen.Timing{Settle: 50e6, Total: 80e6}})
	put(1, 1200, run.ModelCalled{Role: llm.WorldModel, Millis: 1000})
	put(1, 1300, run.ModelCalled{Role: llm.Actor, Millis: 1100})
	put(1, 1310, run.Acting{Action: run.Recorded{Action: actuator.Copy{}}})
	put(1, 1350, run.Acted{Millis: 40})
	put(2, 2350, run.ModelCalled{Role: llm.Actor, Millis: 900})
	m, err := timeOf(j.Dir())
	require.NoError(t, err)
	assert.Equal(t, tasks.Millis{Model: 2000, Screen: 30, Settle: 50, Act: 40}, m)
}
