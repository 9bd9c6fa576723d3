package env

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// bounds hold the programs of a task within its limits: by control groups where they
// are to be had; else the kernel bounds their processes, and their memory is looked
// at. What they write is always looked at.
type bounds struct {
	limits Limits
	groups *groups
	folder string // of all that the task writes
	proc   string // the /proc of the task's own processes; "" if it has none

	mu     sync.Mutex
	used   uint64    // of the disk, when the folder was last looked at
	looked time.Time // when that was
}

// machineMemory returns how many bytes of memory this machine has.
func machineMemory() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit))
}

// newBounds makes the control groups of a desktop's folder, and has the watchdog
// know of them.
func newBounds(limits Limits, folder string) (*bounds, error) {
	b := &bounds{limits: limits, folder: folder}
	list, err := os.OpenFile(filepath.Join(folder, "groups"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		b.groups = &groups{}
		return b, err
	}
	b.groups = makeGroups("/proc/self", filepath.Base(folder), limits, list)
	return b, list.Close()
}

// String says what is held within which bounds, and by what.
func (b *bounds) String() string {
	by := func(dir, otherwise string) string {
		if dir == "" {
			return otherwise
		}
		return "cgroup v" + strconv.Itoa(b.groups.version)
	}
	return fmt.Sprintf("%s (%s), %s (%s), %s (looked at)", b.limits.processes(), by(b.groups.processes, "rlimit, with all others of their user"),
		b.limits.memory(), by(b.groups.memory, "looked at"), b.limits.files())
}

// confine is a script that starts a program within the bounds: with the size of
// files in blocks of 512 bytes, and the groups to join.
const confine = `ulimit -c 0; ulimit -f "$1" 2>/dev/null; shift
while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done
shift; exec "$@"`

// prefix is put before the command line of every program.
func (b *bounds) prefix(user int) []string {
	list := []string{"/bin/sh", "-c", confine, "sh", strconv.FormatInt(b.limits.Files/512, 10)}
	list = append(append(list, b.groups.doors...), "--")
	if b.groups.processes == "" {
		most := uint64(b.limits.Processes)
		if user == 0 && b.proc == "" {
			most += threadsOf(os.Getuid()) // which count too, where programs have no namespace of their own
		}
		var now unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NPROC, &now); err == nil && now.Max < most {
			most = now.Max
		}
		list = append(list, "/usr/bin/prlimit", fmt.Sprintf("--nproc=%d:%d", most, most), "--")
	}
	return list
}

// threadsOf counts the threads of a user.
func threadsOf(user int) (n uint64) {
	all, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, path := range all {
		if s, ok := readStatus(path); ok && s.user == user {
			n += uint64(s.threads)
		}
	}
	return n
}

// A status is what /proc/PID/status says.
type status struct {
	user, threads int
	memory        int64 // bytes that are the process's own
}

func readStatus(path string) (s status, ok bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return s, false
	}
	for line := range bytes.Lines(text) {
		name, rest, _ := bytes.Cut(line, []byte{':'})
		fields := strings.Fields(string(rest))
		if len(fields) == 0 {
			continue
		}
		n, _ := strconv.ParseInt(fields[0], 10, 64)
		switch string(name) {
		case "Uid":
			s.user = int(n)
		case "Threads":
			s.threads = int(n)
		case "RssAnon", "RssShmem":
			s.memory += n << 10
		}
	}
	return s, true
}

// exceeded says which limit the programs went to; nil for none.
func (b *bounds) exceeded() *LimitError {
	if b.groups.refused() {
		return &LimitError{b.limits.processes()}
	}
	if b.groups.killed() {
		return &LimitError{b.limits.memory()}
	}
	if b.proc != "" && (b.groups.processes == "" || b.groups.memory == "") {
		threads, memory := 0, int64(0)
		all, _ := filepath.Glob(filepath.Join(b.proc, "[0-9]*/status"))
		for _, path := range all {
			s, _ := readStatus(path)
			threads, memory = threads+s.threads, memory+s.memory
		}
		if b.groups.processes == "" && threads >= b.limits.Processes*19/20 {
			return &LimitError{b.limits.processes()}
		}
		if b.groups.memory == "" && memory > b.limits.Memory {
			return &LimitError{b.limits.memory()}
		}
	}
	if b.tooMuch() {
		return &LimitError{b.limits.files()}
	}
	return nil
}

const (
	lookEvery = 500 * time.Millisecond // at what programs use
	walkEvery = 10 * time.Second       // through their files, though the disk fills slowly
	walkAfter = 64 << 20               // bytes that the disk has gained
	entrySize = 1 << 10                // what a name costs, in bytes
)

// tooMuch reports whether the task has written too much. The files are added up only
// when the disk has got fuller, or after a while.
func (b *bounds) tooMuch() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	var disk unix.Statfs_t
	if err := unix.Statfs(b.folder, &disk); err != nil {
		return false
	}
	used := (disk.Blocks-disk.Bfree)*uint64(disk.Bsize) + (disk.Files-disk.Ffree)*entrySize
	if used < b.used {
		b.used = used
	}
	if used < b.used+walkAfter && time.Since(b.looked) < walkEvery {
		return false
	}
	b.used, b.looked = used, time.Now()
	sum := int64(0)
	full := errors.New("full")
	err := filepath.WalkDir(b.folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // gone meanwhile, or not ours to read
		}
		if info, err := entry.Info(); err == nil {
			if stat, ok := info.Sys().(*syscall.Stat_t); ok {
				sum += stat.Blocks * 512
			} else {
				sum += info.Size()
			}
		}
		if sum += entrySize; sum > b.limits.Files {
			return full
		}
		return nil
	})
	return errors.Is(err, full)
}
