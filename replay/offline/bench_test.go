package offline_test

import (
	"fmt"
	"image"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"desktop-agent/replay/offline"
)

var full = image.Pt(1920, 1080)

// bench replays a run again and again.
func bench(b *testing.B, steps int, pixels bool) {
	collectLess(b)
	run := record(b, fillsIn(steps), pixels)
	n := 0
	for b.Loop() {
		result := again(b, run, &offline.Options{Pixels: pixels})
		require.True(b, result.Same(), pretty(result.Differences))
		require.GreaterOrEqual(b, result.Steps, steps)
		n += result.Steps
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "steps/s")
}

// fillsIn is a script that fills in a form of many pages: it writes something else into each,
// as one who only turned them would get nowhere.
func fillsIn(steps int) *script {
	s := newScript(steps, full)
	s.replyN = func(n int) string {
		if n >= steps {
			return ""
		}
		return fmt.Sprintf("Thought: page %d has an entry.\nExpect: the title says so.\n```python\npyautogui.write('entry %d')\n```", n+1, n)
	}
	return s
}

// collectLess sets what "replay --offline" sets.
func collectLess(b *testing.B) {
	percent, limit := debug.SetGCPercent(400), debug.SetMemoryLimit(160<<20)
	b.Cleanup(func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
}

// A run of usual length, whose 1080p frames are not read.
func BenchmarkReplay(b *testing.B) { bench(b, 50, false) }

// A run of 1,000 steps with an actor that reads what it did in all of them.
func BenchmarkReplayLong(b *testing.B) { bench(b, 1000, false) }

// Each 1080p frame is decoded, and compared with the one before.
func BenchmarkReplayPixels(b *testing.B) { bench(b, 50, true) }

// BenchmarkReplayMemory replays 10,000 steps, and tells the most memory in use.
func BenchmarkReplayMemory(b *testing.B) {
	collectLess(b)
	run := record(b, fillsIn(10_000), false)
	for b.Loop() {
		runtime.GC()
		done, most := make(chan struct{}), make(chan uint64)
		go func() {
			var peak uint64
			for {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
				select {
				case <-done:
					most <- peak
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
		}()
		result := again(b, run, nil)
		close(done)
		require.True(b, result.Same(), pretty(result.Differences))
		require.GreaterOrEqual(b, result.Steps, 10_000)
		b.ReportMetric(float64(<-most)/1e6, "MB-heap")
	}
}
