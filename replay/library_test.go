package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/internal/filelock"
	"desktop-agent/run"
)

// dated gives a run a name and a time of its own.
func dated(t testing.TB, dir, id string, created time.Time) string {
	t.Helper()
	infoOf(t, dir, func(i *Info) { i.ID, i.Created = id, created })
	path := filepath.Join(filepath.Dir(dir), id)
	require.NoError(t, os.Rename(dir, path))
	return path
}

var day = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

// shelf is a folder with whole runs, a killed, an interrupted, a damaged and a
// newer one, and with things that are no runs.
func shelf(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for i := range 4 {
		created := day.AddDate(0, 0, i)
		dated(t, smallRun(t, dir, fmt.Sprintf("task %d", i), threeActs...), created.Format("20060102T150405Z")+"-00000"+fmt.Sprint(i), created)
	}
	killed := dated(t, smallRun(t, dir, "killed", threeActs...), "20260110T000000Z-0000aa", day.AddDate(0, 0, 8))
	infoOf(t, killed, func(i *Info) { i.State, i.Ended = Running, nil })
	linesOf(t, killed, func(l [][]byte) [][]byte { return append(l[:12], []byte("{")) })
	damaged := dated(t, smallRun(t, dir, "damaged", threeActs...), "20260111T000000Z-0000bb", day)
	require.NoError(t, os.WriteFile(filepath.Join(damaged, infoFile), []byte("{"), fileMode))
	newer := dated(t, smallRun(t, dir, "newer", threeActs...), "20260112T000000Z-0000cc", day)
	require.NoError(t, os.WriteFile(filepath.Join(newer, infoFile), []byte(`{"schema":99}`), fileMode))

	require.NoError(t, os.Mkdir(filepath.Join(dir, "photos"), dirMode))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("x"), fileMode))
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".hidden"), dirMode))
	require.NoError(t, os.Symlink(smallRun(t, t.TempDir(), "elsewhere", threeActs...), filepath.Join(dir, "20260113T000000Z-0000dd")))
	return dir
}

func ids(list []Summary) (names []string) {
	for _, s := range list {
		names = append(names, s.ID[len(s.ID)-6:])
	}
	return names
}

func TestList(t *testing.T) {
	list, err := List(shelf(t))
	require.NoError(t, err)
	require.Equal(t, []string{"0000cc", "0000bb", "0000aa", "000003", "000002", "000001", "000000"}, ids(list))
	assert.Contains(t, list[0].Error, "update desktop-agent")
	assert.Contains(t, list[1].Error, "run.json: ")
	assert.Equal(t, "damaged", list[1].Status())
	killed := list[2]
	assert.Equal(t, "killed", killed.Status())
	assert.Equal(t, "killed", killed.Task)
	assert.Equal(t, 2, killed.Steps, "counted from the events that are there")
	assert.Equal(t, 2, killed.Calls)
	whole := list[3]
	assert.Equal(t, "done", whole.Status())
	assert.Equal(t, "task 3", whole.Task)
	assert.Equal(t, 3, whole.Steps)
	assert.Equal(t, 1500*time.Millisecond, whole.Elapsed)
	assert.InDelta(t, .25, whole.Dollars, 1e-9)
	assert.Greater(t, whole.Bytes, int64(3000))

	_, err = List(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestListTellsWhatGoesOn(t *testing.T) {
	dir := t.TempDir()
	j, err := Create(dir)
	require.NoError(t, err)
	put(t, j, started("x"), acting(4, actuator.Copy{}))
	list, err := List(dir)
	require.NoError(t, err)
	assert.Equal(t, "running", list[0].Status())
	assert.Equal(t, 4, list[0].Steps)
	require.NoError(t, j.Close())
	list, err = List(dir)
	require.NoError(t, err)
	assert.Equal(t, "interrupted", list[0].Status())
}

// taken tells of a run in which a program worked for five minutes, was killed, and was
// followed two hours later by one that worked for another minute.
func taken(start time.Time) []run.Event {
	at := func(after time.Duration, step int, kind string, data run.EventData) run.Event {
		return run.Event{Time: start.Add(after), Step: step, Kind: kind, Data: data}
	}
	head := started("x")
	head.Time = start
	return []run.Event{
		head, at(4*time.Minute, 3, "noted", run.Noted{Text: "one"}), at(5*time.Minute, 3, "noted", run.Noted{Text: "two"}),
		at(125*time.Minute, 3, "resumed", run.Resumed{From: 3}), at(126*time.Minute, 4, "noted", run.Noted{Text: "three"}),
	}
}

// The time in which no program worked on a run is none of the run's, nor of a step's; and its
// steps are those of all who act.
func TestTimeOfResumed(t *testing.T) {
	j := newJournal(t)
	put(t, j, taken(day)...)
	last := run.Event{Time: day.Add(126 * time.Minute), Step: 2, Kind: "noted", Data: run.Noted{Text: "of one who acts beside"}, Agent: "agent/s1", PlanStep: 1}
	put(t, j, last)
	require.NoError(t, j.Close())
	s := Summarize(j.Dir())
	assert.Equal(t, 6*time.Minute, s.Elapsed)
	assert.Equal(t, 4, s.Steps)

	r, err := Open(j.Dir())
	require.NoError(t, err)
	spent := map[int]time.Duration{}
	for s, err := range r.Steps() {
		require.NoError(t, err)
		spent[s.N] += s.Spent().Total
	}
	assert.Equal(t, map[int]time.Duration{0: 0, 2: 0, 3: 5 * time.Minute, 4: time.Minute}, spent)
}

// A program that is killed before its first run.json is on the disk leaves a run that did
// nothing: it is killed, not damaged, and goes with the others.
func TestKilledBeforeItsFirstFile(t *testing.T) {
	j := newJournal(t)
	dir := filepath.Dir(j.Dir())
	begun, err := Open(j.Dir())
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(j.Dir(), infoFile)))
	again, err := Open(j.Dir())
	require.NoError(t, err)
	assert.Equal(t, begun.Info.Created.UTC().Truncate(time.Second), again.Info.Created)
	again.Info.Created = begun.Info.Created
	assert.Equal(t, begun, again, "it tells what its first run.json told")
	removed, err := Prune(t.Context(), dir, &PruneOptions{MaxBytes: 1})
	require.NoError(t, err)
	if filelock.Held {
		assert.Equal(t, "running", Summarize(j.Dir()).Status())
		assert.Empty(t, removed, "it is being begun")
	}

	require.NoError(t, filelock.Close(j.events)) // as its process ended
	assert.Equal(t, "killed", Summarize(j.Dir()).Status())
	again, err = Open(j.Dir())
	require.NoError(t, err)
	verified, err := again.Verify(t.Context())
	require.NoError(t, err)
	assert.True(t, verified.Whole(), "%v", verified.Problems)
	_, err = again.Resumable()
	assert.ErrorIs(t, err, ErrNotResumable)
	assert.False(t, Summarize(j.Dir()).Resumable)
	elsewhere := filepath.Join(t.TempDir(), "photos")
	require.NoError(t, os.CopyFS(elsewhere, os.DirFS(j.Dir())))
	_, err = Open(elsewhere)
	assert.ErrorContains(t, err, "it is not the folder of a run", "its name is not one of a run")

	removed, err = Prune(t.Context(), dir, &PruneOptions{OlderThan: time.Nanosecond})
	require.NoError(t, err)
	assert.Len(t, removed, 1)

	// Where something was recorded, what is missing was lost.
	lost := smallRun(t, t.TempDir(), "x", threeActs...)
	require.NoError(t, os.Remove(filepath.Join(lost, infoFile)))
	assert.Equal(t, "damaged", Summarize(lost).Status())
}

func TestFind(t *testing.T) {
	dir := shelf(t)
	for _, tt := range []struct{ name, want, wantErr string }{
		{"20260103T150405Z-000001", "20260103T150405Z-000001", ""},
		{"20260103", "20260103T150405Z-000001", ""},
		{"000002", "20260104T150405Z-000002", ""},
		{"last", "20260112T000000Z-0000cc", ""},
		{filepath.Join(dir, "20260103T150405Z-000001"), "20260103T150405Z-000001", ""},
		{"2026", "", `"2026" is the beginning of 7 runs (20260102T150405Z-000000, `},
		{"photos", "", "there is no run \"photos\""},
		{"notes.txt", "", "there is no run"},
		{".hidden", "", "there is no run"},
		{"", "", "the name of a run is missing"},
		{"./none", "", "no such file"},
		{filepath.Join(dir, "notes.txt"), "", "is no folder"},
		{"20260113", "", "there is no run"},
	} {
		got, err := Find(dir, tt.name)
		if tt.wantErr != "" {
			assert.ErrorContains(t, err, tt.wantErr, tt.name)
			continue
		}
		require.NoError(t, err, tt.name)
		assert.Equal(t, filepath.Join(dir, tt.want), got, tt.name)
	}
	_, err := Find(t.TempDir(), "last")
	assert.ErrorContains(t, err, "there is no run in")
	_, err = Find(filepath.Join(t.TempDir(), "none"), "x")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestPruneChooses(t *testing.T) {
	dir := shelf(t)
	list, err := List(dir)
	require.NoError(t, err)
	var total int64
	for _, s := range list {
		total += s.Bytes
	}
	now := func() time.Time { return day.AddDate(0, 0, 9) }
	for _, tt := range []struct {
		name string
		opts PruneOptions
		want []string // the oldest first
	}{
		{"nothing said", PruneOptions{}, nil},
		{"the newest", PruneOptions{Keep: 4}, []string{"000000", "000001", "000002"}},
		{"more than there are", PruneOptions{Keep: 40}, nil},
		{"old ones", PruneOptions{OlderThan: 7*24*time.Hour + time.Hour}, []string{"000000", "000001"}},
		{"old ones, but not the newest", PruneOptions{Keep: 6, OlderThan: time.Hour}, []string{"000000"}},
		{"all old ones", PruneOptions{OlderThan: time.Hour}, []string{"000000", "000001", "000002", "000003", "0000aa"}},
		{"a bit too much", PruneOptions{MaxBytes: total - 1}, []string{"000000"}},
		{"far too much", PruneOptions{MaxBytes: 1}, []string{"000000", "000001", "000002", "000003", "0000aa"}},
		{"enough room", PruneOptions{MaxBytes: total}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.DryRun, tt.opts.Now = true, now
			got, err := Prune(t.Context(), dir, &tt.opts)
			require.NoError(t, err)
			assert.Equal(t, tt.want, ids(got))
			after, err := List(dir)
			require.NoError(t, err)
			assert.Len(t, after, len(list), "nothing was removed")
		})
	}
}

func TestPrune(t *testing.T) {
	dir := shelf(t)
	j, err := Create(dir)
	require.NoError(t, err)
	defer j.Close()
	put(t, j, started("goes on"))
	infoOf(t, j.Dir(), func(i *Info) { i.Created = day.AddDate(-1, 0, 0) }) // the oldest

	// What an earlier prune left half removed goes; what looks like it stays.
	require.NoError(t, os.Mkdir(filepath.Join(dir, pruned+"20250101T000000Z-0000ee"), dirMode))
	require.NoError(t, os.Mkdir(filepath.Join(dir, pruned+"photos"), dirMode))

	no := errors.New("no")
	removed, err := Prune(t.Context(), dir, &PruneOptions{MaxBytes: 1, Confirm: func([]Summary) error { return no }})
	assert.ErrorIs(t, err, no)
	assert.Empty(t, removed)

	var asked []Summary
	removed, err = Prune(t.Context(), dir, &PruneOptions{Keep: 3, Confirm: func(list []Summary) error { asked = list; return nil }})
	require.NoError(t, err)
	assert.Equal(t, []string{"000000", "000001", "000002", "000003"}, ids(removed))
	assert.Equal(t, removed, asked)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	assert.ElementsMatch(t, []string{".hidden", pruned + "photos", "20260110T000000Z-0000aa", "20260111T000000Z-0000bb",
		"20260112T000000Z-0000cc", "20260113T000000Z-0000dd", "notes.txt", "photos", j.ID()}, left)

	target, err := os.Readlink(filepath.Join(dir, "20260113T000000Z-0000dd"))
	require.NoError(t, err)
	assert.Empty(t, problems(verify(t, target)), "what a link leads to is untouched")
	put(t, j, acting(1, actuator.Copy{})) // and so is the run that goes on
	assert.Empty(t, problems(verify(t, j.Dir())))
}

func TestPruneEndsWithItsContext(t *testing.T) {
	dir := shelf(t)
	ctx, cancel := context.WithCancel(t.Context())
	removed, err := Prune(ctx, dir, &PruneOptions{MaxBytes: 1, Confirm: func([]Summary) error { cancel(); return nil }})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, removed)
}

// A run that a person continues between the question and the removal stays.
func TestPruneLeavesARunThatBegins(t *testing.T) {
	if !filelock.Held {
		t.Skip("files are not locked here")
	}
	dir := shelf(t)
	removed, err := Prune(t.Context(), dir, &PruneOptions{MaxBytes: 1, Confirm: func(list []Summary) error {
		f, err := os.OpenFile(filepath.Join(list[1].Dir, eventsFile), os.O_WRONLY, 0)
		require.NoError(t, err)
		t.Cleanup(func() { f.Close() })
		return lock(f)
	}})
	require.NoError(t, err)
	assert.Equal(t, []string{"000000", "000002", "000003", "0000aa"}, ids(removed))
}

// A thousand runs, as `runs list` reads them.
func BenchmarkList(b *testing.B) {
	dir := b.TempDir()
	first := smallRun(b, dir, "x", threeActs...)
	for i := range 999 {
		require.NoError(b, os.CopyFS(filepath.Join(dir, fmt.Sprintf("20260101T000000Z-%06x", i)), os.DirFS(first)))
	}
	for b.Loop() {
		list, err := List(dir)
		require.NoError(b, err)
		require.Len(b, list, 1000)
		require.Equal(b, run.OutcomeDone, list[0].Outcome)
	}
}

// What a summary prints as JSON is not changed by names in the program.
func TestSummaryOfAReplay(t *testing.T) {
	j := newJournal(t)
	put(t, j, run.Event{Kind: "run_started", Data: run.RunStarted{Schema: run.Schema, Task: "x", Replay: &run.Replay{Run: "20260102T150405Z-7f3a9c", How: "macro"}}})
	require.NoError(t, j.Close())
	text, err := json.Marshal(Summarize(j.Dir()))
	require.NoError(t, err)
	assert.Contains(t, string(text), `"task":"x"`)
	assert.Contains(t, string(text), `"replay":{"run":"20260102T150405Z-7f3a9c","how":"macro"}`)
}
