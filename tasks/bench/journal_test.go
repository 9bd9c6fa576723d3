package bench

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"desktop-agent/tasks"

	"github.com/stretchr/testify/require"
)

func resultOf(t tasks.Trial) tasks.Result {
	return tasks.Result{Task: t.Task, Config: t.Config, Repeat: t.Repeat, Status: tasks.Scored, Score: 1, Delivery: 1}
}

func TestJournal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results")
	list := many("pass", 3)
	j, err := openJournal(dir)
	require.NoError(t, err)
	for _, trial := range list[:2] {
		added, err := j.add(resultOf(trial))
		require.NoError(t, err)
		require.True(t, added)
	}
	second := resultOf(list[0])
	second.Score = 0
	added, err := j.add(second)
	require.NoError(t, err)
	require.False(t, added, "the first result counts")
	if runtime.GOOS != "windows" {
		_, err = openJournal(dir)
		require.ErrorIs(t, err, errBusy)
	}
	require.NoError(t, j.Close())

	j, err = openJournal(dir)
	require.NoError(t, err)
	defer j.Close()
	require.True(t, j.has(list[0]))
	require.False(t, j.has(list[2]))
	_, err = j.add(resultOf(list[2]))
	require.NoError(t, err)
	for _, r := range finished(t, dir, list) {
		require.True(t, r.Passed())
	}
}

// Whatever part of the last line a crash has left, the lines before count, and
// the next line is whole.
func TestJournalTorn(t *testing.T) {
	list := many("pass", 3)
	dir := t.TempDir()
	j, err := openJournal(dir)
	require.NoError(t, err)
	for _, trial := range list[:2] {
		r := resultOf(trial)
		r.Answer = strings.Repeat("a", 3000) // more than the lines that come after it
		_, err = j.add(r)
		require.NoError(t, err)
	}
	require.NoError(t, j.Close())
	whole, err := os.ReadFile(filepath.Join(dir, journalName))
	require.NoError(t, err)
	first := strings.IndexByte(string(whole), '\n') + 1
	for end := first; end < len(whole); end += 97 {
		torn := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(torn, journalName), whole[:end], 0o600))
		results, err := ReadResults(torn)
		require.NoError(t, err)
		require.Len(t, results, 1)
		j, err := openJournal(torn)
		require.NoError(t, err)
		require.False(t, j.has(list[1]))
		for _, trial := range list[1:] {
			_, err = j.add(resultOf(trial))
			require.NoError(t, err)
		}
		require.NoError(t, j.Close())
		finished(t, torn, list)
		data, err := os.ReadFile(filepath.Join(torn, journalName))
		require.NoError(t, err)
		require.True(t, strings.HasSuffix(string(data), "}\n"), "nothing is left of the torn line")
	}
}

func TestJournalDamaged(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"no JSON":     {"{\"task\":\n", "line 1: unexpected end"},
		"no trial":    {"{}\n", "line 1"},
		"evil folder": {`{"task":"../x","config":"c","repeat":1}` + "\n", "line 1"},
		"endless":     {strings.Repeat("x", maxLine+1) + "\n", "line 1: the line is longer"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, journalName)
			require.NoError(t, os.WriteFile(path, []byte(tt.text), 0o600))
			_, err := openJournal(dir)
			require.ErrorContains(t, err, tt.want)
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, tt.text, string(after), "nothing is repaired by guessing")
		})
	}
	none, err := ReadResults(t.TempDir())
	require.NoError(t, err)
	require.Empty(t, none)
}
