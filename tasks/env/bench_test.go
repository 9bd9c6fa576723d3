//go:build linux

package env_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"desktop-agent/tasks/env"

	"github.com/stretchr/testify/require"
)

// BenchmarkStart measures how long an environment takes to be ready, and to be gone.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		e, err := env.Start(b.Context(), nil)
		require.NoError(b, err)
		require.NoError(b, e.Close())
	}
}

// BenchmarkApart measures what isolation costs: the time until an environment is ready, and
// its memory, beside those of one that is not isolated, in turns. "alone" has a copy of /etc of its own, and
// "apart" shares one, as the trials of a benchmark do after the first.
func BenchmarkApart(b *testing.B) {
	shared := &env.Etc{}
	e, err := env.Start(b.Context(), &env.Options{Etc: shared})
	require.NoError(b, err)
	require.NoError(b, e.Close())
	defer func() { require.NoError(b, shared.Close()) }()
	var took, held [3][]float64
	for b.Loop() {
		for i, o := range []env.Options{{Etc: shared}, {}, {Unisolated: true}} {
			begun := time.Now()
			e, err := env.Start(b.Context(), &o)
			require.NoError(b, err)
			took[i] = append(took[i], float64(time.Since(begun).Microseconds())/1000)
			held[i] = append(held[i], memoryOf(b, e))
			require.NoError(b, e.Close())
		}
	}
	for i, name := range []string{"apart", "alone", "unisolated"} {
		slices.Sort(took[i])
		slices.Sort(held[i])
		b.ReportMetric(took[i][len(took[i])/2], name+"-ms/median")
		b.ReportMetric(held[i][len(held[i])/2], name+"-MB/median")
	}
}

// BenchmarkRun measures what a command costs that does nothing.
func BenchmarkRun(b *testing.B) {
	e, err := env.Start(b.Context(), nil)
	require.NoError(b, err)
	defer func() { require.NoError(b, e.Close()) }()
	for b.Loop() {
		_, err := e.Run(b.Context(), env.Command{Args: []string{"true"}})
		require.NoError(b, err)
	}
}

// BenchmarkIdleMemory measures the memory of an environment without programs: the
// sum over its processes of what each has, shared pages divided among those that
// share them. Sixteen gigabytes divided by it, and by what a worker process and the
// task's programs take, is how many fit into them.
func BenchmarkIdleMemory(b *testing.B) {
	e, err := env.Start(b.Context(), nil)
	require.NoError(b, err)
	defer func() { require.NoError(b, e.Close()) }()
	var megabytes float64
	for b.Loop() {
		megabytes = memoryOf(b, e)
	}
	b.ReportMetric(megabytes, "MB")
}

// memoryOf returns the megabytes of an environment's processes.
func memoryOf(b *testing.B, e *env.Env) (megabytes float64) {
	home, err := e.Host(env.Home)
	require.NoError(b, err)
	folder := regexp.MustCompile(`desktop-agent-\d+`).FindString(home)
	require.NotEmpty(b, folder)
	processes, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(b, err)
	for _, p := range processes {
		environ, _ := os.ReadFile(filepath.Join(p, "environ")) // it may have ended
		command, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		if bytes.Contains(environ, []byte(folder)) || bytes.Contains(command, []byte(folder)) {
			megabytes += proportional(filepath.Join(p, "smaps_rollup"))
		}
	}
	require.Positive(b, megabytes)
	return megabytes
}

var pss = regexp.MustCompile(`(?m)^Pss:\s+(\d+) kB`)

func proportional(rollup string) float64 {
	data, _ := os.ReadFile(rollup)
	match := pss.FindSubmatch(data)
	if match == nil {
		return 0 // it has ended
	}
	kilobytes, _ := strconv.Atoi(string(match[1]))
	return float64(kilobytes) / 1024
}
