package replay_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/replay"
	"desktop-agent/replay/report"
	"desktop-agent/run"
	"desktop-agent/run/eventjson"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

const demo = "../cmd/desktop-agent/demo/run"

// tiny records two turns with small frames.
func tiny(t testing.TB) string {
	t.Helper()
	j, err := replay.Create(t.TempDir())
	require.NoError(t, err)
	defer j.Close()
	say := func(step int, data run.EventData) { require.NoError(t, j.Append(t.Context(), step, data)) }
	look := func(step int, id string) {
		frame := image.NewRGBA(image.Rect(0, 0, 8, 6))
		o := &screen.Observation{FrameID: id, Frame: frame, Bare: frame}
		o.Image.Mapping = screen.Mapping{Source: frame.Rect, Size: frame.Rect.Size()}
		require.NoError(t, j.Frame(t.Context(), o))
		say(step, run.Observed{FrameID: id, Frame: image.Pt(8, 6), Mapping: o.Image.Mapping, Targets: []atspi.Node{{ID: "n1", Parent: -1, Role: "frame", Name: "x"}}})
	}
	say(0, run.RunStarted{Schema: run.Schema, Task: "naïve 漢字", Planning: "off"})
	look(0, "f1")
	for step := 1; step <= 2; step++ {
		click := run.Recorded{Action: actuator.Click{At: &actuator.Point{X: 3, Y: 4}, Button: actuator.Left, Count: 1}}
		frame := fmt.Sprint("f", step)
		say(step, run.ModelCalled{Role: llm.Actor, Purpose: "propose", Messages: []run.Message{{From: llm.User, Text: "what next?"}}, Response: &llm.Response{Text: "this"}})
		say(step, run.Proposed{FrameID: frame, Actions: []run.Recorded{click}})
		say(step, run.Acting{Action: click})
		say(step, run.Acted{Status: actuator.Delivered})
		look(step, fmt.Sprint("f", step+1))
	}
	say(2, run.RunEnded{Outcome: run.OutcomeDone, Steps: 2})
	require.NoError(t, j.Close())
	return j.Dir()
}

// read returns the events up to the first error.
func read(r *replay.Run) (list []run.Event, err error) {
	for e, err := range r.Events() {
		if err != nil {
			return list, err
		}
		list = append(list, e)
	}
	return list, nil
}

// survive does all that is done with a run, which must not panic.
func survive(t require.TestingT, r *replay.Run, page bool) *replay.Verification {
	for range r.Steps() { // errors are fine
	}
	replay.Summarize(r.Dir)
	_, _ = replay.Compare(context.Background(), r, r)
	if page {
		_ = report.Write(io.Discard, r)
	}
	v, err := r.Verify(context.Background())
	require.NoError(t, err, "what is damaged is a finding")
	return v
}

// A journal that is cut anywhere opens, tells how much is unfinished, and has
// every event that was whole. What is done with it survives a cut at and near
// every end of a line, and at some places within.
func TestCutAtEveryByte(t *testing.T) {
	for _, killed := range []bool{false, true} {
		dir := tiny(t)
		name := filepath.Join(dir, "events.jsonl")
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		copied := t.TempDir()
		require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
		whole, err := replay.Open(copied)
		require.NoError(t, err)
		all, err := read(whole)
		require.NoError(t, err)
		if killed {
			info := fmt.Sprintf(`{"schema":%d,"id":"x","state":"running","created":"2026-01-02T15:04:05Z","events":0,"frames":0}`, run.Schema)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "run.json"), []byte(info), 0o600))
		}
		for at := len(data); at >= 0; at-- {
			require.NoError(t, os.Truncate(name, int64(at)))
			n, end := bytes.Count(data[:at], []byte("\n")), bytes.LastIndexByte(data[:at], '\n')+1
			r, err := replay.Open(dir)
			require.NoError(t, err)
			require.EqualValues(t, at-end, r.Cut)
			within := at-end > 2 && at%13 > 0
			if killed && within {
				continue // the events are those of the other run
			}
			got, err := read(r)
			if killed || n == len(all) {
				require.NoError(t, err)
			} else { // run.json tells how many there were
				require.ErrorContains(t, err, fmt.Sprintf("it ends after event %d of %d", n, len(all)))
			}
			require.Len(t, got, n, "cut at byte %d", at)
			require.True(t, n == 0 || reflect.DeepEqual(all[:n], got), "cut at byte %d", at)
			if within {
				continue // nothing else reads what has no end
			}
			v := survive(t, r, at%101 == 0)
			require.Equal(t, killed || at == len(data), v.Whole(), "cut at byte %d: %v", at, v.Problems)
			if at%1009 == 0 {
				_, err = replay.Compare(t.Context(), whole, r)
				require.Equal(t, killed || n == len(all), err == nil, "%v", err)
			}
		}
	}
}

// run.json is replaced in one step, so half of it is damage, and refused.
func TestInfoCutAtEveryByte(t *testing.T) {
	dir := tiny(t)
	name := filepath.Join(dir, "run.json")
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	for at := len(data) - 2; at >= 0; at-- { // the last byte is a line break
		require.NoError(t, os.Truncate(name, int64(at)))
		_, err := replay.Open(dir)
		require.ErrorContains(t, err, "run.json: ", "cut at byte %d", at)
		require.Contains(t, replay.Summarize(dir).Error, "run.json: ")
	}
}

// Any byte that is another one is found, and what came before can be read.
func TestFlippedBytes(t *testing.T) {
	dir := tiny(t)
	name := filepath.Join(dir, "events.jsonl")
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	whole, err := replay.Open(dir)
	require.NoError(t, err)
	all, err := read(whole)
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, len(data)-1).Draw(t, "at")
		flip := rapid.ByteRange(1, 255).Draw(t, "flip")
		bad := bytes.Clone(data)
		bad[at] ^= flip
		require.NoError(t, os.WriteFile(name, bad, 0o600))
		before := bytes.Count(data[:at], []byte("\n"))
		r, err := replay.Open(dir)
		require.NoError(t, err)
		got, _ := read(r)
		require.GreaterOrEqual(t, len(got), before)
		require.True(t, before == 0 || reflect.DeepEqual(all[:before], got[:before]))
		v := survive(t, r, at%10 == 0)
		require.False(t, v.Whole(), "byte %d, flipped by %#x", at, flip)
		lowest := len(all) + 1
		for _, p := range v.Problems {
			if p.Line > 0 {
				lowest = min(lowest, p.Line)
			}
		}
		require.GreaterOrEqual(t, lowest, before, "a line before is blamed: %v", v.Problems)
	})
}

// The same with the run of the demo, cut and flipped at once.
func TestDamagedDemo(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(demo)))
	name := filepath.Join(dir, "events.jsonl")
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	lines := bytes.SplitAfter(data, []byte("\n"))
	rapid.Check(t, func(t *rapid.T) {
		// Cut near an end of a line as often as anywhere.
		cut := rapid.OneOf(rapid.IntRange(0, len(data)), rapid.Map(rapid.IntRange(0, len(lines)-1), func(n int) int {
			return len(bytes.Join(lines[:n], nil))
		})).Draw(t, "cut")
		bad, first := bytes.Clone(data[:cut]), cut
		if cut > 0 {
			for _, at := range rapid.SliceOfN(rapid.IntRange(0, cut-1), 0, 4).Draw(t, "at") {
				bad[at], first = rapid.Byte().Draw(t, "byte"), min(first, at)
			}
		}
		require.NoError(t, os.WriteFile(name, bad, 0o600))
		r, err := replay.Open(dir)
		require.NoError(t, err)
		got, _ := read(r)
		require.GreaterOrEqual(t, len(got), bytes.Count(data[:first], []byte("\n")))
		v := survive(t, r, first%20 == 0)
		require.Equal(t, bytes.Equal(bad, data), v.Whole())
	})
}

// allocated returns how many bytes f takes from the heap, all in all.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestAnEventOf100MBIsNotWritten(t *testing.T) {
	j, err := replay.Create(t.TempDir())
	require.NoError(t, err)
	defer j.Close()
	require.NoError(t, j.Append(t.Context(), 0, run.RunStarted{Schema: run.Schema}))
	text := strings.Repeat("x", 100<<20)
	for _, data := range []run.EventData{
		run.Planned{Error: text},
		run.RunStarted{Schema: run.Schema, Settings: run.Settings{Like: &run.Demonstration{Steps: []string{text}}}},
		run.Acting{Action: run.Recorded{Action: actuator.Type{Text: actuator.Secret(text)}}},
	} {
		j, err := replay.Create(t.TempDir())
		require.NoError(t, err)
		used := allocated(func() { err = j.Append(t.Context(), 1, data) })
		assert.ErrorContains(t, err, "it is more than a journal keeps in one event (64 MB)")
		assert.Less(t, used, uint64(1<<20))
		require.NoError(t, j.Close())
	}
}

func TestAnEventOf100MBIsNotRead(t *testing.T) {
	dir := tiny(t)
	name := filepath.Join(dir, "events.jsonl")
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	n := bytes.Count(data, []byte("\n"))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	defer f.Close()
	for _, part := range slices.Concat([]string{`{"seq":`}, slices.Repeat([]string{strings.Repeat("1", 1<<20)}, 100), []string{"}\n"}) {
		_, err = f.WriteString(part)
		require.NoError(t, err)
	}
	refusesLongLine(t, dir, n)
}

// The file has no more than some kB on the disk; its end is zeros.
func TestAJournalOf10GBIsNotRead(t *testing.T) {
	dir := tiny(t)
	name := filepath.Join(dir, "events.jsonl")
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	if err := os.Truncate(name, 10<<30); err != nil {
		t.Skip("no sparse files here:", err)
	}
	refusesLongLine(t, dir, bytes.Count(data, []byte("\n")))
}

func refusesLongLine(t *testing.T, dir string, events int) {
	t.Helper()
	var r *replay.Run
	var err error
	used := allocated(func() { r, err = replay.Open(dir) })
	require.NoError(t, err)
	assert.Less(t, used, uint64(1<<20))
	var got []run.Event
	used = allocated(func() { got, err = read(r) })
	assert.Len(t, got, events, "all that came before")
	assert.ErrorContains(t, err, fmt.Sprintf("events.jsonl line %d: it is longer than an event can be (64 MB): the file is damaged", events+1))
	assert.Less(t, used, uint64(200<<20))
	used = allocated(func() {
		v, err := r.Verify(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, v.Problems)
		assert.Contains(t, v.Problems[0].String(), fmt.Sprintf("line %d: it is longer than an event can be", events+1))
	})
	assert.Less(t, used, uint64(200<<20))
	assert.Empty(t, replay.Summarize(dir).Error, "run.json tells enough")
}

func TestFramesThatDoNotFit(t *testing.T) {
	dir := tiny(t)
	path := func(id string) string { return filepath.Join(dir, "frames", id+".png") }
	require.NoError(t, os.Remove(path("f1")))
	data, err := os.ReadFile(demo + "/frames/f0001.png") // of another size
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path("f2"), data, 0o600))
	require.NoError(t, os.Remove(path("f3")))
	require.NoError(t, os.Symlink("/etc/passwd", path("f3")))
	r, err := replay.Open(dir)
	require.NoError(t, err)
	v := survive(t, r, true)
	text := fmt.Sprint(v.Problems)
	assert.Contains(t, text, "frames/f1.png: it is missing")
	assert.Contains(t, text, "frames/f2.png: it has 1280×960 pixels; line 7 of events.jsonl says 8×6")
	assert.Contains(t, text, "frames/f2.png: it was changed")
	assert.Contains(t, text, "frames/f3.png: it is no regular file")
	_, err = r.Frame("f3")
	assert.ErrorContains(t, err, "escapes")
}

// Events that tell nothing, as another program might write them.
func TestEmptyEvents(t *testing.T) {
	hollow := map[string][]string{
		"proposed": {`{"actions":[{"action":"click"}]}`, `{"frame_id":"f3","actions":[{"action":"click"},{"action":"drag"}]}`, `{"actions":[{}]}`, `{"frame_id":"f3","actions":[null]}`},
		"acting":   {`{"action":{"action":"type"}}`, `{"action":null}`, `{"index":-5}`, `{"device":[{"X":-9223372036854775808}]}`},
		"observed": {`{"frame_id":"f4"}`, `{"frame_id":"f3","targets":[{"parent":0}]}`, `{"targets":[{"parent":-7}]}`},
		"assessed": {`{"plan":{"version":1}}`, `{"assessment":{}}`},
	}
	for _, kind := range eventjson.Kinds() {
		for i, data := range append(hollow[kind], "{}", "null", "[]", `""`) {
			t.Run(fmt.Sprint(kind, i), func(t *testing.T) {
				dir := tiny(t)
				name := filepath.Join(dir, "events.jsonl")
				lines, err := os.ReadFile(name)
				require.NoError(t, err)
				n := bytes.Count(lines, []byte("\n"))
				lines = fmt.Appendf(lines, `{"seq":%d,"step":3,"kind":%q,"data":%s}`+"\n", n+1, kind, data)
				lines = fmt.Appendf(lines, `{"seq":%d,"step":3,"kind":"acted","data":{}}`+"\n", n+2)
				require.NoError(t, os.WriteFile(name, lines, 0o600))
				r, err := replay.Open(dir)
				require.NoError(t, err)
				assert.False(t, survive(t, r, true).Whole())
			})
		}
	}
}
