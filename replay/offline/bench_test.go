package offline_test

import (
	"image"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"desktop-agent/replay/offline"
	"desktop-agent/run"
)

var full = image.Pt(1920, 1080)

// bench replays a run again and again.
func bench(b *testing.B, steps int, pixels bool, change ...func(*run.Settings)) {
	collectLess(b)
	run := record(b, newScript(steps, full), pixels, append(change, tireless)...)
	n := 0
	for b.Loop() {
		result := again(b, run, &offline.Options{Pixels: pixels})
		require.True(b, result.Same(), pretty(result.Differences))
		require.GreaterOrEqual(b, result.Steps, steps)
		n += result.Steps
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "steps/s")
}

// tireless has a script turn pages to its end, though that leads nowhere.
func tireless(s *run.Settings) { s.Agent.Detectors.Stuck = 1 << 20 }

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
	run := record(b, newScript(10_000, full), false, tireless)
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
