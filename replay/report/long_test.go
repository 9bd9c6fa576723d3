package report

import (
	"bytes"
	"image"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// long writes a run of n steps that all show the same frame file, every 100th
// of them refused.
func long(t testing.TB, n, words int) *replay.Run {
	t.Helper()
	j := newJournal(t)
	frame := drawn(1, image.Pt(640, 400))[0]
	data, err := encodePNG(frame)
	require.NoError(t, err)
	mapping := screen.Mapping{Source: frame.Rect, Size: frame.Rect.Size()}
	step := 0
	add := func(data run.EventData) {
		t.Helper()
		require.NoError(t, j.Append(t.Context(), step, data))
	}
	add(run.RunStarted{Schema: run.Schema, Task: "long", Guard: "none"})
	text := strings.Repeat("a long prompt ", words)
	for step = 1; step <= n; step++ {
		if step <= 2 { // the others look the same
			require.NoError(t, j.Frame(t.Context(), &screen.Observation{FrameID: frameOf(step), Frame: frame, Bare: frame, Image: screen.Image{Data: data, Type: "image/png", Mapping: mapping}}))
		}
		id := frameOf(min(step, 2))
		add(run.Observed{FrameID: id, Mapping: mapping, Frame: frame.Rect.Size(), Windows: []screen.Window{{Title: "window", Focused: true}}})
		add(run.ModelCalled{Role: llm.Actor, Purpose: "propose", Messages: []run.Message{{From: llm.User, Text: text}}, Response: &llm.Response{Text: "click"}})
		action := run.Recorded{Action: click(step%640, 20)}
		add(run.Proposed{FrameID: id, Thought: "I click.", Actions: []run.Recorded{action}})
		status := actuator.Delivered
		if step%100 == 0 {
			status = actuator.Refused
		}
		add(run.Acted{Index: 0, Status: status})
	}
	require.NoError(t, j.Close())
	r, err := replay.Open(j.Dir())
	require.NoError(t, err)
	return r
}

func frameOf(step int) string { return "f" + string(rune('0'+step)) }

func TestReportOfALongRun(t *testing.T) {
	r := long(t, 450, 5000)
	page := render(t, r)
	v := newView(r)
	assert.Equal(t, v.Chosen, strings.Count(page, "data:image/"))
	assert.InDelta(t, reportPictures, v.Chosen, 6)
	for _, e := range v.Steps {
		if e.Mood.Trouble() {
			assert.True(t, e.Picture, "step %d has trouble, and so a picture", e.N)
		}
	}
	assert.True(t, strings.Contains(page, "this page holds"))
	assert.True(t, strings.Contains(page, "bytes are left out here"))
	assert.Equal(t, 400, strings.Count(page, `data-from="`))
	assert.Less(t, len(page), 60<<20)
	short := newView(sample(t, drawn(2, image.Pt(320, 240))))
	assert.Zero(t, short.Chosen)
}

// TestReportTakesLittleMemory compares what is alive while runs of different
// lengths are written: only the lists grow.
func TestReportTakesLittleMemory(t *testing.T) {
	alive := func(steps int) int64 {
		r := long(t, steps, 400)
		runtime.GC()
		var before, now runtime.MemStats
		runtime.ReadMemStats(&before)
		most := int64(0)
		w := writer(func(p []byte) (int, error) {
			runtime.GC()
			runtime.ReadMemStats(&now)
			most = max(most, int64(now.HeapAlloc)-int64(before.HeapAlloc))
			return len(p), nil
		})
		require.NoError(t, Write(&every{w: w, n: 20}, r))
		return most
	}
	one, four := alive(200), alive(700)
	assert.Less(t, four-one, int64(500*2500), "bytes for 500 more steps, of 6 kB of text each")
}

// A writer is a function to write to.
type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// every passes on each nth write.
type every struct {
	w    io.Writer
	n, i int
}

func (e *every) Write(p []byte) (int, error) {
	if e.i++; e.i%e.n == 0 {
		return e.w.Write(p)
	}
	return len(p), nil
}

func TestChoose(t *testing.T) {
	var steps []*entry
	for i := range 1000 {
		e := &entry{N: i, Frame: "f"}
		if i%10 == 3 {
			e.Mood = bad
		}
		steps = append(steps, e)
	}
	got := chooseOf(steps, 60)
	assert.InDelta(t, 60, got, 5)
	assert.True(t, steps[0].Picture && steps[999].Picture, "the first and the last")
	gap, widest := 0, 0
	for _, e := range steps {
		gap++
		if e.Picture {
			gap = 0
		}
		widest = max(widest, gap)
	}
	assert.Less(t, widest, 60, "no long stretch without a picture")
	assert.Zero(t, chooseOf(steps[:50], 60))
	assert.Zero(t, chooseOf(nil, 60))
}

func TestCut(t *testing.T) {
	s := &stepView{Calls: []*callView{{ModelCalled: run.ModelCalled{
		Messages: []run.Message{{Text: strings.Repeat("ä", 100)}}, Response: &llm.Response{Text: "reply"},
	}}}}
	whole := s.Calls[0].Messages
	s.cut(16)
	assert.Equal(t, "reply", s.Calls[0].Response.Text, "the reply comes first")
	assert.Equal(t, "äääää", s.Calls[0].Messages[0].Text, "no half letters")
	assert.Contains(t, s.Calls[0].Cut, "190 bytes")
	assert.Len(t, whole[0].Text, 200, "what was read is as it was")
}

func TestComparison(t *testing.T) {
	a, b := sample(t, drawn(7, image.Pt(640, 400))), redone(t, drawn(5, image.Pt(640, 400)))
	var page bytes.Buffer
	require.NoError(t, WriteComparison(&page, a, b))
	text := page.String()
	for _, want := range []string{"They parted at step 3", "Run B has no such step", "replay of 20260102T150405Z-7f3a9c", "Think before you share it", "<td>17</td><td>0</td><td>-17</td>"} {
		assert.True(t, strings.Contains(text, want), want)
	}
	assert.Equal(t, 8+4, strings.Count(text, "data:image/"), "the pictures of both")
	page.Reset()
	require.NoError(t, WriteComparison(&page, a, a))
	assert.True(t, strings.Contains(page.String(), "They did the same"))
	require.NoError(t, os.Truncate(filepath.Join(b.Dir, "events.jsonl"), 400))
	page.Reset()
	cut, err := replay.Open(b.Dir)
	require.NoError(t, err)
	require.NoError(t, WriteComparison(&page, a, cut), "a run that was cut off")
}

func TestAlign(t *testing.T) {
	entries := func(end bool, numbers ...int) (list []*entry) {
		for _, n := range numbers {
			list = append(list, &entry{N: n, ID: "step"})
		}
		if end {
			list = append(list, &entry{N: 9, ID: "end"})
		}
		return list
	}
	assert.Equal(t, [][2]int{{0, -1}, {1, 0}, {-1, 1}, {2, -1}, {3, 2}}, align(entries(true, 0, 1, 3), entries(true, 1, 2)))
	assert.Equal(t, [][2]int{{0, 0}, {1, -1}, {2, -1}}, align(entries(true, 1, 2), entries(false, 1)))
	assert.Empty(t, align(nil, nil))
}

// A run of 10,000 steps, as a whole.
func BenchmarkLongReport(b *testing.B) {
	r := long(b, 10_000, 400)
	n := 0
	start := time.Now()
	for b.Loop() {
		n = 0
		require.NoError(b, Write(writer(func(p []byte) (int, error) { n += len(p); return len(p), nil }), r))
	}
	b.ReportMetric(float64(10_000*b.N)/time.Since(start).Seconds(), "steps/s")
	b.ReportMetric(float64(n), "bytes/report")
}

// Runs of which one has a step more are aligned behind it, and each section has
// an address of its own.
func TestComparisonOfShiftedRuns(t *testing.T) {
	entries := func(x ...int) *replay.Run {
		j := newJournal(t)
		s := &story{t: t, j: j, now: time.Date(2026, 1, 3, 9, 0, 0, 0, time.UTC), shots: drawn(1, image.Pt(320, 240))}
		s.put("run_started", run.RunStarted{Schema: run.Schema, Task: "click", Guard: "none"}, 0)
		s.look("window", screen.SettledQuiet)
		for _, at := range x {
			s.repeat(actuator.Delivered, run.Located{}, nil, click(at, 100))
		}
		require.NoError(t, j.Close())
		r, err := replay.Open(j.Dir())
		require.NoError(t, err)
		return r
	}
	a, b := entries(100, 200, 300), entries(100, 30, 200, 300)
	left, right := newView(a), newView(b)
	c := newComparison(left, right, aligned(a, b, left.Steps, right.Steps))
	got, ids := []string{}, map[string]bool{}
	for _, p := range c.Steps {
		got = append(got, p.Label+" "+string(p.Mood))
		ids[p.ID] = true
	}
	assert.Equal(t, []string{"▶ same", "1 same", "2 parted", "2|3 same", "3|4 same", "■ same"}, got)
	assert.Len(t, ids, len(c.Steps))
}
