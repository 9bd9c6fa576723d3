package env

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A look at what processes have open ends, and says so, however much that is.
func TestLookEnds(t *testing.T) {
	l := lookout{left: mostLooks}
	l.open("/proc/self")
	require.False(t, l.hidden)
	l = lookout{left: 3 * fileLooks}
	l.open("/proc/self")
	require.True(t, l.hidden, "four files are open at least")
}

// What a process has open to be written counts also where its folder is closed, once, and
// whatever others remove from the disk meanwhile; what it reads does not, nor what was met.
func TestLookIntoAClosedFolder(t *testing.T) {
	closed, seen := t.TempDir(), t.TempDir()
	l := lookout{left: mostLooks}
	require.NoError(t, unix.Stat(closed, &l.folder))
	data := make([]byte, 1<<20)
	open := func(folder, name string, flag int) {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		f, err := os.OpenFile(path, flag, 0)
		require.NoError(t, err)
		t.Cleanup(func() { f.Close() })
	}
	l.open("/proc/self") // of the test itself
	l.walk(seen, 1<<40)
	before := l
	before.unmet()
	open(closed, "written", os.O_WRONLY)
	open(closed, "both", os.O_RDWR)
	open(closed, "read", os.O_RDONLY)
	open(seen, "met", os.O_WRONLY)
	again := lookout{left: mostLooks, folder: l.folder}
	again.open("/proc/self")
	again.open("/proc/self")
	again.walk(seen, 1<<40)
	met := again.files
	require.InDelta(t, l.files+1<<20, met, 64<<10, "what a walk met")
	again.unmet()
	require.InDelta(t, before.files-l.files+2<<20, again.files-met, 64<<10, "what no walk met")
}

// A file counts, once, however long the path to it is; and in a tree that is deeper than a walk
// holds folders open that ends, and says so.
func TestLookDownALongPath(t *testing.T) {
	folder := t.TempDir()
	below := func(folders, last int) (sum int64) {
		at, err := os.OpenRoot(folder)
		require.NoError(t, err)
		add := func(name string) {
			info, err := at.Stat(name)
			require.NoError(t, err)
			sum += info.Sys().(*syscall.Stat_t).Blocks*512 + entrySize
		}
		for i := range folders {
			name := strings.Repeat("d", unix.NAME_MAX)
			if i == folders-1 {
				name = name[:last]
			}
			require.NoError(t, at.Mkdir(name, 0o700))
			next, err := at.OpenRoot(name)
			require.NoError(t, err)
			add(".")
			require.NoError(t, at.Close())
			at = next
		}
		file := strings.Repeat("x", unix.NAME_MAX)
		require.NoError(t, at.WriteFile(file, make([]byte, 1<<20), 0o600))
		add(".")
		add(file)
		require.NoError(t, at.Close())
		return sum
	}
	walk := func(limit int64) lookout {
		var l lookout
		l.walk(folder, limit)
		require.Zero(t, l.deep)
		return l
	}
	whole, rest := (nearLong-len(folder)-2)/(1+unix.NAME_MAX), (nearLong-len(folder)-2)%(1+unix.NAME_MAX)
	for _, tree := range []struct{ folders, last int }{
		{whole, unix.NAME_MAX},
		{whole + 1, rest}, {whole + 1, rest + 1}, // one byte less than nearLong, and just that
		{whole + 1, unix.NAME_MAX}, {whole + 2, unix.NAME_MAX}, {40, unix.NAME_MAX},
	} {
		sum := below(tree.folders, tree.last)
		l := walk(1 << 40)
		require.False(t, l.unseen, tree)
		require.Equal(t, sum, l.files, tree)
		require.Greater(t, walk(1<<20).files, int64(1<<20), tree)
		require.NoError(t, os.RemoveAll(filepath.Join(folder, strings.Repeat("d", unix.NAME_MAX))))
	}
	below((mostDeep+2)*(unix.PathMax/(unix.NAME_MAX+1)), unix.NAME_MAX)
	require.True(t, walk(1<<40).unseen)
}

func TestSegment(t *testing.T) {
	require.True(t, segment([]byte("7f0000000000-7f0000001000 rw-s 00000000 00:01 5                          /SYSV00000000 (deleted)")))
	require.False(t, segment([]byte("7f0000000000-7f0000001000 rw-s 00000000 00:01 5                          /memfd:a (deleted)")))
	require.False(t, segment([]byte("7f0000000000-7f0000001000 rw-s 00000000 00:01 5                          /tmp/a /SYSV00000000 (deleted)")))
}

// Memory that programs share is not counted both as what they have mapped and as what they
// keep; and a process that got the number of another is none of the desktop's.
func TestUsage(t *testing.T) {
	proc := t.TempDir()
	for name, memory := range map[string][2]int{"1": {100, 10}, "2": {200, 20}} {
		require.NoError(t, os.Mkdir(filepath.Join(proc, name), 0o755))
		text := fmt.Sprintf("Threads:\t3\nRssAnon:\t%d kB\nRssFile:\t7 kB\nRssShmem:\t%d kB\n", memory[0], memory[1])
		require.NoError(t, os.WriteFile(filepath.Join(proc, name, "status"), []byte(text), 0o644))
	}
	b := &bounds{proc: proc, groups: &groups{}}
	for kept, want := range map[int64]int64{0: 330, 20: 330, 50: 350} {
		threads, memory := b.usage(kept << 10)
		require.Equal(t, 6, threads)
		require.Equal(t, want<<10, memory)
	}
	p := part{dir: "/proc/self", began: beginning("/proc/self")}
	require.NotEmpty(t, p.began)
	b = &bounds{groups: &groups{}, parts: []part{p}}
	_, memory := b.usage(0)
	require.Positive(t, memory)
	b.parts[0].began = "1"
	_, memory = b.usage(0)
	require.Zero(t, memory)
}
