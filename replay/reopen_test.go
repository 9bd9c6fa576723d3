package replay_test

import (
	"bytes"
	"image"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// killed writes a run as a program leaves it that was killed: without an end.
func killed(t *testing.T) string {
	t.Helper()
	j, err := replay.Create(t.TempDir())
	require.NoError(t, err)
	add := func(step int, data run.EventData) { require.NoError(t, j.Append(t.Context(), step, data)) }
	add(0, run.RunStarted{Schema: run.Schema, Task: "write", Parser: "code", Planning: "off"})
	frame := image.NewRGBA(image.Rect(0, 0, 8, 8))
	o := &screen.Observation{FrameID: "f0001", Frame: frame, Image: screen.Image{Mapping: screen.Mapping{Source: frame.Rect, Size: frame.Rect.Size()}}}
	require.NoError(t, j.Frame(t.Context(), o))
	add(0, run.Observed{FrameID: "f0001", Frame: image.Pt(8, 8)})
	add(1, run.Acting{Action: run.Recorded{Action: actuator.Copy{}}})
	require.NoError(t, j.Close())
	path := filepath.Join(j.Dir(), "run.json")
	info, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, bytes.Replace(info, []byte(`"interrupted"`), []byte(`"running"`), 1), 0o600))
	return j.Dir()
}

func whole(t *testing.T, dir string) {
	t.Helper()
	r, err := replay.Open(dir)
	require.NoError(t, err)
	v, err := r.Verify(t.Context())
	require.NoError(t, err)
	require.Empty(t, v.Problems)
}

// A torn line is cut, the chain goes on, half a frame goes and a whole one of which no
// event tells is taken in: the journal is whole afterwards.
func TestReopen(t *testing.T) {
	dir := killed(t)
	events := filepath.Join(dir, "events.jsonl")
	f, err := os.OpenFile(events, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"seq":4,"time":"20`)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	png, err := os.ReadFile(filepath.Join(dir, "frames", "f0001.png"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "frames", "f0002.png"), png, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "frames", "f0003.png"), png[:len(png)/2], 0o600))

	before, err := replay.Open(dir)
	require.NoError(t, err)
	require.EqualValues(t, 19, before.Cut)
	_, err = before.Resumable()
	require.NoError(t, err)
	require.True(t, replay.Summarize(dir).Resumable)
	j, err := replay.Reopen(dir)
	require.NoError(t, err)
	require.NoError(t, j.Append(t.Context(), 1, run.Resumed{From: 3}))
	require.NoError(t, j.Append(t.Context(), 1, run.RunEnded{Outcome: run.OutcomeDone}))
	require.NoError(t, j.Close())
	whole(t, dir)
	after, err := replay.Open(dir)
	require.NoError(t, err)
	require.Equal(t, replay.Ended, after.Info.State)
	require.Equal(t, 5, after.Info.Events)
	require.Equal(t, 2, after.Info.Frames)
	require.False(t, replay.Summarize(dir).Resumable)
	require.NoFileExists(t, filepath.Join(dir, "frames", "f0003.png"))
}

// Whether a run can be gone on with, the list says as who goes on with it does: also where the
// program was killed between its first or its last event and the note of that in run.json.
func TestResumableAsListed(t *testing.T) {
	dir := killed(t)
	path := filepath.Join(dir, "run.json")
	info, err := os.ReadFile(path)
	require.NoError(t, err)
	head, rest, found := bytes.Cut(info, []byte(`  "asked": {`))
	require.True(t, found)
	_, rest, found = bytes.Cut(rest, []byte("\n  },\n"))
	require.True(t, found)
	require.NoError(t, os.WriteFile(path, append(head, rest...), 0o600))
	stored, err := replay.Open(dir)
	require.NoError(t, err)
	require.Nil(t, stored.Info.Asked)
	asked, err := stored.Resumable()
	require.NoError(t, err)
	require.Equal(t, "write", asked.Task)
	listed := replay.Summarize(dir)
	require.True(t, listed.Resumable)
	require.Equal(t, "write", listed.Task)

	dir = killed(t)
	path = filepath.Join(dir, "run.json")
	info, err = os.ReadFile(path)
	require.NoError(t, err)
	j, err := replay.Reopen(dir)
	require.NoError(t, err)
	require.False(t, replay.Summarize(dir).Resumable, "it is being written")
	require.NoError(t, j.Append(t.Context(), 1, run.RunEnded{Outcome: run.OutcomeDone, Steps: 1}))
	require.NoError(t, j.Close())
	require.NoError(t, os.WriteFile(path, info, 0o600))
	_, err = replay.Reopen(dir)
	require.ErrorIs(t, err, replay.ErrEnded)
	listed = replay.Summarize(dir)
	require.False(t, listed.Resumable)
	require.Equal(t, run.OutcomeDone, listed.Outcome)
}

// A frame that was lost in the kill is told, and is no damage.
func TestReopenLostFrame(t *testing.T) {
	dir := killed(t)
	j, err := replay.Reopen(dir)
	require.NoError(t, err)
	require.NoError(t, j.Append(t.Context(), 1, run.Observed{FrameID: "f0002", Frame: image.Pt(8, 8)}))
	require.NoError(t, j.Append(t.Context(), 1, run.Resumed{From: 4}))
	require.NoError(t, j.Append(t.Context(), 1, run.RunEnded{Outcome: run.OutcomeDone}))
	require.NoError(t, j.Close())
	whole(t, dir)
	require.NoError(t, os.Remove(filepath.Join(dir, "frames", "f0001.png")))
	r, err := replay.Open(dir)
	require.NoError(t, err)
	v, err := r.Verify(t.Context())
	require.NoError(t, err)
	require.Len(t, v.Problems, 1, "one on which something was done must be there")
}

// Two programs do not write one run, and the second is told who does; what ended, and what
// another version wrote, is not taken up again, and not touched.
func TestReopenRefused(t *testing.T) {
	dir := killed(t)
	j, err := replay.Reopen(dir)
	require.NoError(t, err)
	_, err = replay.Reopen(dir)
	require.ErrorIs(t, err, replay.ErrWriter)
	require.ErrorContains(t, err, "it is process "+strconv.Itoa(os.Getpid()))
	require.NoError(t, j.Append(t.Context(), 1, run.RunEnded{Outcome: run.OutcomeDone, Grade: "proved"}))
	require.NoError(t, j.Close())
	_, err = replay.Reopen(dir)
	require.ErrorIs(t, err, replay.ErrEnded)
	require.ErrorContains(t, err, "done (proved)")
	whole(t, dir)

	dir = killed(t)
	for _, name := range []string{"run.json", "events.jsonl"} {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		newer := strings.NewReplacer(`"schema": 2`, `"schema": 3`, `"schema":2`, `"schema":3`).Replace(string(text))
		require.NotEqual(t, string(text), newer)
		require.NoError(t, os.WriteFile(path, []byte(newer), 0o600))
	}
	_, err = replay.Reopen(dir)
	require.ErrorIs(t, err, replay.ErrSchema)

	dir = killed(t)
	text, err := os.ReadFile(filepath.Join(dir, "events.jsonl"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "events.jsonl"), bytes.Replace(text, []byte(`"seq":2`), []byte(`"seq":9`), 1), 0o600))
	_, err = replay.Reopen(dir)
	require.ErrorContains(t, err, "line 2")
}
