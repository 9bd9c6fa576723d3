//go:build linux

package bench

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"desktop-agent/tasks"

	"github.com/stretchr/testify/require"
)

func TestLocal(t *testing.T) {
	list := slices.Concat(many("pass", 20), many("fail", 3), many("skip", 2), many("error", 2), many("panic", 1), many("bare", 1))
	l, counts := local(t, 2)
	dir := t.TempDir()
	var last Progress
	c := &Coordinator{
		Dir: dir, Trials: list, Log: testLog(t), Progress: func(p Progress) { last = p },
		Domain: func(string) string { return "calc" },
	}
	require.NoError(t, l.Run(t.Context(), c))

	results := finished(t, dir, list)
	for _, trial := range list {
		require.Equal(t, 1, executions(t, counts, trial), trial.Key())
		r := results[trial.Key()]
		require.Equal(t, 1, r.Delivery)
		require.Equal(t, "calc", r.Domain)
		require.NotEmpty(t, r.Worker)
		require.False(t, r.Ended.Before(r.Started))
	}
	pass := results["plan=on/pass-003/1"]
	require.True(t, pass.Passed())
	require.Equal(t, "plan=on/calc/pass-003/1", pass.Run)
	steps, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(pass.Run), "steps.txt"))
	require.NoError(t, err)
	require.Equal(t, "plan=on/pass-003/1\n", string(steps))

	failed := results["plan=on/error-000/1"]
	require.Equal(t, []any{tasks.Errored, "set-up", "no such program"}, []any{failed.Status, failed.Stage, failed.Why})
	broken := results["plan=on/panic-000/1"]
	require.Equal(t, []any{tasks.Errored, "run", "panic: out of range"}, []any{broken.Status, broken.Stage, broken.Why})
	require.Empty(t, results["plan=on/bare-000/1"].Run, "an empty folder is not kept")
	require.NoDirExists(t, filepath.Join(dir, partialName))
	require.NoDirExists(t, filepath.Join(dir, localName))

	require.Equal(t, []int{29, 29, 21, 3, 3, 2}, []int{last.Total, last.Done, last.Passing, last.Failing, last.Errors, last.Skipped})
	require.Positive(t, last.Rate)
	require.Zero(t, last.Left)
	requireNoChildren(t)
}

// A trial whose worker is killed, or hangs without a heartbeat, comes back and
// counts once.
func TestLocalComesBack(t *testing.T) {
	for _, kind := range []string{"kill", "freeze"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			list := append(many(kind, 1), many("pass", 10)...)
			l, counts := local(t, 2)
			l.Grace = time.Second // enough for one that is frozen
			dir := t.TempDir()
			c := &Coordinator{Dir: dir, Trials: list, Lease: 2 * time.Second, Log: testLog(t)}
			require.NoError(t, l.Run(t.Context(), c))
			results := finished(t, dir, list)
			require.True(t, new(results[list[0].Key()]).Passed())
			require.Greater(t, results[list[0].Key()].Delivery, 1)
			require.GreaterOrEqual(t, executions(t, counts, list[0]), 2)
		})
	}
}

// A trial on which workers always die is lost after three of them, and counts.
// The others are done.
func TestLocalLost(t *testing.T) {
	list := append(many("die", 1), many("pass", 5)...)
	l, counts := local(t, 1)
	dir := t.TempDir()
	var last Progress
	c := &Coordinator{Dir: dir, Trials: list, Lease: time.Second, Log: testLog(t), Progress: func(p Progress) { last = p }}
	require.NoError(t, l.Run(t.Context(), c))
	r := finished(t, dir, list)[list[0].Key()]
	require.Equal(t, []any{tasks.Lost, "worker", 3, 0.0}, []any{r.Status, r.Stage, r.Delivery, r.Score})
	require.Contains(t, r.Why, "3 workers were lost")
	require.Equal(t, 3, executions(t, counts, list[0]))
	require.Equal(t, []int{5, 1}, []int{last.Passing, last.Errors})
	requireNoChildren(t)
}

// After a stop in the middle, no process is left, and the next start does only
// what has no result.
func TestLocalResumes(t *testing.T) {
	list := many("pass", 40)
	l, counts := local(t, 2)
	dir := t.TempDir()
	ctx, stop := context.WithCancelCause(t.Context())
	enough := errors.New("Ctrl-C")
	c := &Coordinator{Dir: dir, Trials: list, Log: testLog(t), Progress: func(p Progress) {
		if p.Done >= 7 {
			stop(enough)
		}
	}}
	require.ErrorIs(t, l.Run(ctx, c), enough)
	requireNoChildren(t)
	before, err := ReadResults(dir)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(before), 7)
	require.Less(t, len(before), len(list))

	c.Progress = nil
	require.NoError(t, l.Run(t.Context(), c))
	finished(t, dir, list)
	for _, r := range before {
		require.Equal(t, 1, executions(t, counts, trialOf(&r)), "a finished trial was repeated")
	}
	journal, err := os.ReadFile(filepath.Join(dir, journalName))
	require.NoError(t, err)
	require.NoError(t, l.Run(t.Context(), c), "nothing is left to do")
	again, err := os.ReadFile(filepath.Join(dir, journalName))
	require.NoError(t, err)
	require.Equal(t, string(journal), string(again))
}

// A trial that is running when the run is stopped is given back, and not lost.
func TestLocalStopsRunning(t *testing.T) {
	list := many("slow", 2)
	l, counts := local(t, 2)
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	c := &Coordinator{Dir: dir, Trials: list, Log: testLog(t), Progress: func(p Progress) {
		if p.Running == 2 {
			stop()
		}
	}}
	require.ErrorIs(t, l.Run(ctx, c), context.Canceled)
	requireNoChildren(t)
	results, err := ReadResults(dir)
	require.NoError(t, err)
	require.Empty(t, results)
	require.LessOrEqual(t, executions(t, counts, list[0]), 1)
}

// A worker process that does not end when it should is killed.
func TestLocalKillsDeaf(t *testing.T) {
	list := many("stuck", 1)
	l, counts := local(t, 1)
	l.Grace = 300 * time.Millisecond
	ctx, stop := context.WithCancel(t.Context())
	c := &Coordinator{Dir: t.TempDir(), Trials: list, Log: testLog(t), Progress: func(Progress) {
		if executions(t, counts, list[0]) == 1 {
			stop()
		}
	}}
	require.ErrorIs(t, l.Run(ctx, c), context.Canceled)
	requireNoChildren(t)
}

func TestLocalBrokenWorkers(t *testing.T) {
	l, _ := local(t, 2)
	l.Env = []string{roleEnv + "=broken"}
	err := l.Run(t.Context(), &Coordinator{Dir: t.TempDir(), Trials: many("pass", 2)})
	require.ErrorContains(t, err, "cannot open display")
	l.Argv = []string{filepath.Join(t.TempDir(), "missing")}
	require.ErrorContains(t, l.Run(t.Context(), &Coordinator{Dir: t.TempDir(), Trials: many("pass", 2)}), "missing")
	l.Argv = nil
	require.ErrorContains(t, l.Run(t.Context(), &Coordinator{Dir: t.TempDir()}), "needs the command")
}

// When the benchmark is killed, its workers end, also those that do not when they are
// told to, and without the time that they would have for it else.
func TestLocalOrphans(t *testing.T) {
	counts := t.TempDir()
	cmd := exec.Command(os.Args[0], t.TempDir())
	cmd.Env = append(os.Environ(), roleEnv+"=parent", countsEnv+"="+counts)
	cmd.Stderr = testWriter(t)
	cmd.WaitDelay = time.Second
	require.NoError(t, cmd.Start())
	var workers []string
	require.Eventually(t, func() bool {
		workers, _ = filepath.Glob(filepath.Join(counts, "pid-*"))
		return len(workers) == 2
	}, time.Minute, 10*time.Millisecond)
	killed := time.Now()
	require.NoError(t, cmd.Process.Kill())
	_, err := cmd.Process.Wait()
	require.NoError(t, err)
	for _, path := range workers {
		_, pid, _ := strings.Cut(filepath.Base(path), "-")
		require.Eventually(t, func() bool {
			data, err := os.ReadFile("/proc/" + pid + "/stat")
			return err != nil || strings.Contains(string(data), ") Z ")
		}, time.Minute, 10*time.Millisecond)
	}
	require.Less(t, time.Since(killed), 3*defaultGrace)
	_ = cmd.Wait() // for its output
}

// requireNoChildren looks for processes of this one, dead or alive.
func requireNoChildren(t *testing.T) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it ended just now
		}
		_, rest, _ := strings.Cut(string(data), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 {
			require.NotEqual(t, strconv.Itoa(os.Getpid()), fields[1], string(data))
		}
	}
}

// A worker process is told a secret that is neither in its environment nor on its
// command line.
func TestLocalSecret(t *testing.T) {
	l, counts := local(t, 1)
	l.Secret = "secret-of-the-workers"
	list := many("slow", 1)
	ctx, stop := context.WithCancel(t.Context())
	seen := make(chan string, 1)
	go func() {
		defer stop()
		for ctx.Err() == nil {
			if workers, _ := filepath.Glob(filepath.Join(counts, "pid-*")); len(workers) == 1 {
				_, pid, _ := strings.Cut(filepath.Base(workers[0]), "-")
				environ, _ := os.ReadFile("/proc/" + pid + "/environ")
				line, _ := os.ReadFile("/proc/" + pid + "/cmdline")
				seen <- string(environ) + string(line)
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	require.ErrorIs(t, l.Run(ctx, &Coordinator{Dir: t.TempDir(), Trials: list, Log: testLog(t)}), context.Canceled)
	text := <-seen
	require.Contains(t, text, countsEnv, "the probe sees the environment")
	require.NotContains(t, text, l.Secret)
	told, err := os.ReadFile(filepath.Join(counts, "secret"))
	require.NoError(t, err)
	require.Equal(t, l.Secret, string(told))
}

// What a run leaves is its owner's alone, whatever the mask of new files is.
func TestLocalFilesArePrivate(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	l, _ := local(t, 1)
	dir := filepath.Join(t.TempDir(), "results")
	require.NoError(t, l.Run(t.Context(), &Coordinator{Dir: dir, Trials: many("pass", 2), Log: testLog(t)}))
	n := 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := entry.Info()
		require.NoError(t, err)
		n++
		require.Zero(t, info.Mode().Perm()&0o077, "%s: %v", path, info.Mode())
		return nil
	}))
	require.Greater(t, n, 6)
}
