package env

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Control groups are made where the machine's kernel has them and this user may: of
// version 2 beside this process's own, of version 1 in each hierarchy that counts.
// The folders are a stand-in for what a kernel shows.
func TestGroups(t *testing.T) {
	const options = " - cgroup cgroup rw,"
	for _, tt := range []struct {
		name, own, mounts, control string
		files                      map[string]string // of the groups, below the mounts
	}{
		{"version 2", "0::/user.slice/app/run.scope\n", "25 1 0:1 / ROOT/two rw - cgroup2 cgroup2 rw\n", "cpu memory pids", map[string]string{
			"two/user.slice/app/task/pids.max": "7", "two/user.slice/app/task/memory.max": "8"}},
		{"version 2 without the controllers", "0::/user.slice/app/run.scope\n", "25 1 0:1 / ROOT/two rw - cgroup2 cgroup2 rw\n", "cpu", nil},
		{"version 1", "8:pids:/a\n4:cpu,memory:/b\n0::/\n", "25 1 0:1 / ROOT/p rw" + options + "pids\n26 1 0:1 / ROOT/m rw" + options + "cpu,memory\n27 1 0:1 / ROOT/two rw - cgroup2 none rw\n", "", map[string]string{
			"p/a/task/pids.max": "7", "m/b/task/memory.limit_in_bytes": "8"}},
		{"none", "0::/\n", "25 1 0:1 / /proc rw - proc proc rw\n", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			for _, dir := range []string{"two/user.slice/app/run.scope", "p/a", "m/b", "proc"} {
				require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
			}
			write := func(name, text string) {
				require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
			}
			write("proc/cgroup", tt.own)
			write("proc/mountinfo", strings.ReplaceAll(tt.mounts, "ROOT", root))
			write("two/user.slice/app/cgroup.subtree_control", tt.control)
			var list strings.Builder
			g := makeGroups(filepath.Join(root, "proc"), "task", Limits{Processes: 7, Memory: 8}, &list)
			require.Subset(t, strings.Fields(list.String()), g.dirs(), "told before they are made")
			require.Equal(t, len(tt.files) > 0, g.version != 0)
			for name, want := range tt.files {
				got, err := os.ReadFile(filepath.Join(root, name))
				require.NoError(t, err)
				require.Equal(t, want, string(got), name)
			}
			require.Len(t, g.doors, len(g.dirs()))
			for i, dir := range g.dirs() {
				require.Equal(t, dir, filepath.Dir(g.doors[i]))
				joined, err := os.ReadFile(g.doors[i])
				require.NoError(t, err)
				require.Equal(t, "0\n", string(joined), "it was tried whether processes can be put there")
			}
			pid := os.Getpid()
			require.Equal(t, g.memory != "", g.take(pid), "what holds memory for programs is put there")
			if g.version == 2 {
				require.Equal(t, []string{strconv.Itoa(pid)}, g.members())
				const events = "two/user.slice/app/task/memory.events"
				write(events, "low 0\nhigh 0\nmax 0\noom 0\noom_kill 1\n")
				require.False(t, g.killed(), "the machine had no memory")
				write(events, "low 0\nhigh 0\nmax 3\noom 1\noom_kill 1\n")
				require.True(t, g.killed())
			}
			if tt.name == "version 1" {
				threads, err := os.ReadFile(filepath.Join(root, "m/b/task/tasks"))
				require.NoError(t, err)
				require.DirExists(t, filepath.Join("/proc/self/task", string(threads)))
				require.Len(t, g.dirs(), 2)
				require.False(t, g.refused() || g.killed())
				write("p/a/task/pids.events", "max 3\n")
				write("m/b/task/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n")
				require.True(t, g.refused() && g.killed())
			}
		})
	}
}
