package env

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
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
	parts  []part // of the desktop, outside of the container of programs
	// segments returns how many bytes of shared memory the programs have made that go on
	// without them; nil where that is counted.
	segments func() int64

	mu     sync.Mutex
	least  [2]uint64 // since the start: bytes of the disk in use, and of memory that is no process's own
	used   [2]uint64 // the same, when they were last looked at
	kept   int64     // bytes that programs had then in such memory
	looked time.Time // when that was
}

// A part is a process outside of the container of programs that holds memory for them, such as
// the X server.
type part struct {
	dir, began string // its folder in /proc, and when it began: another process may get its number
	had        status // when programs began
	grouped    bool   // a group counts what it takes
}

// now returns what the part has now; ok is false if it is gone.
func (p part) now() (s status, ok bool) {
	if s, ok = readStatus(filepath.Join(p.dir, "status")); !ok || beginning(p.dir) != p.began {
		return s, false
	}
	return s, true
}

// beginning returns when a process began, by its folder in /proc, in words of the kernel.
func beginning(dir string) string {
	text, _ := os.ReadFile(filepath.Join(dir, "stat"))
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // the name before may have spaces
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
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
	b.least, _ = b.inUse()
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
	user, threads  int
	ended          bool  // and waits to be told of
	memory, shared int64 // bytes that are the process's own, and of files in memory that it has mapped
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
		case "State":
			s.ended = fields[0] == "Z" || fields[0] == "X"
		case "Uid":
			s.user = int(n)
		case "Threads":
			s.threads = int(n)
		case "RssAnon":
			s.memory = n << 10
		case "RssShmem":
			s.shared = n << 10
		}
	}
	return s, true
}

// take begins to count what parts of the desktop hold for programs.
func (b *bounds) take(pids []int) {
	own := "" // programs on the machine itself have no namespace to know them by
	if b.proc != "" {
		own, _ = os.Readlink(filepath.Join(b.proc, "1/ns/pid"))
	}
	for _, pid := range pids {
		p := part{dir: filepath.Join("/proc", strconv.Itoa(pid))}
		p.began = beginning(p.dir)
		if theirs, err := os.Readlink(filepath.Join(p.dir, "ns/pid")); err != nil || theirs == own {
			continue // it is among the programs, or gone
		}
		if p.grouped = b.groups.take(pid); !p.grouped {
			p.had, _ = p.now()
		}
		b.parts = append(b.parts, p)
	}
}

// refused says which limit the kernel has held the programs to; nil for none.
func (b *bounds) refused() *LimitError {
	switch {
	case b.groups.refused():
		return &LimitError{b.limits.processes()}
	case b.groups.killed():
		return &LimitError{b.limits.memory()}
	}
	return nil
}

// exceeded says which limit the programs went to; nil for none.
func (b *bounds) exceeded() *LimitError {
	if over := b.refused(); over != nil {
		return over
	}
	files, kept := b.look()
	threads, memory := b.usage(kept)
	switch {
	case b.groups.processes == "" && threads >= b.limits.Processes*19/20:
		return &LimitError{b.limits.processes()}
	case memory > b.limits.Memory:
		return &LimitError{b.limits.memory()}
	case files != "":
		return &LimitError{files}
	}
	return nil
}

// usage adds up threads and bytes of memory, each where no group counts it. kept is what
// programs have in memory that is no process's own: what they have mapped of it is the same
// memory, or some that could not be seen there.
func (b *bounds) usage(kept int64) (threads int, memory int64) {
	shared := int64(0)
	if b.proc != "" && (b.groups.processes == "" || b.groups.memory == "") {
		all, _ := filepath.Glob(filepath.Join(b.proc, "[0-9]*/status"))
		for _, path := range all {
			s, _ := readStatus(path)
			threads, memory, shared = threads+s.threads, memory+s.memory, shared+s.shared
		}
	}
	if b.groups.memory != "" {
		memory, shared, kept = 0, 0, 0
	}
	for _, p := range b.parts {
		if s, ok := p.now(); ok && !p.grouped {
			memory += max(0, s.memory-p.had.memory)
			shared += max(0, s.shared-p.had.shared)
		}
	}
	return threads, memory + max(shared, kept)
}

const (
	lookEvery = 500 * time.Millisecond // at what programs use
	walkEvery = 10 * time.Second       // through their files, though the disk fills slowly
	walkAfter = 64 << 20               // bytes that the disk, or memory, has gained
	entrySize = 1 << 10                // what a name costs, in bytes
)

// inUse returns how much of the disk is in use, by whomever, and of memory that is no
// process's own, which is 0 where a group counts that.
func (b *bounds) inUse() (used [2]uint64, err error) {
	var disk unix.Statfs_t
	if err := unix.Statfs(b.folder, &disk); err != nil {
		return used, err
	}
	used[0] = (disk.Blocks-disk.Bfree)*uint64(disk.Bsize) + (disk.Files-disk.Ffree)*entrySize
	if b.groups == nil || b.groups.memory == "" {
		used[1] = machineShared()
	}
	return used, nil
}

// look adds up what the task has written, and memory that is no process's own, when the
// disk or that memory have grown, or after a while. It returns the limit of files, in words,
// if that is reached, and how many bytes programs have in that memory.
func (b *bounds) look() (over string, kept int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, err := b.inUse()
	if err != nil {
		return "", b.kept
	}
	grown := time.Since(b.looked) > walkEvery
	for i := range now {
		b.least[i], b.used[i] = min(b.least[i], now[i]), min(b.used[i], now[i])
		grown = grown || now[i] >= b.used[i]+walkAfter
	}
	if !grown {
		return "", b.kept
	}
	b.used, b.looked = now, time.Now()
	l := lookout{left: mostLooks, segments: b.segments != nil}
	_ = unix.Stat(b.folder, &l.folder)
	if b.groups.memory == "" && b.proc != "" {
		l.tmpfs(filepath.Join(b.proc, "../dev/shm"))
	}
	for _, dir := range b.processes() {
		l.open(dir)
	}
	if b.groups.memory == "" && b.segments != nil {
		l.memory += b.segments()
	}
	// What cannot be seen may have all that was gained.
	if b.kept = l.memory; l.hidden {
		b.kept = max(b.kept, int64(now[1]-b.least[1]))
	}
	if l.walk(b.folder, b.limits.Files); l.files > b.limits.Files {
		return b.limits.files(), b.kept
	}
	if l.unseen {
		l.unmet()
	}
	if (l.unseen || l.hidden) && max(l.files, int64(now[0]-b.least[0])) > b.limits.Files {
		return b.limits.files() + ", some where this program cannot look", b.kept
	}
	return "", b.kept
}

// processes returns the folders in /proc of the processes that may hold files open for
// the task.
func (b *bounds) processes() (list []string) {
	if b.proc != "" {
		list, _ = filepath.Glob(filepath.Join(b.proc, "[0-9]*"))
	} else {
		for _, pid := range b.groups.members() {
			list = append(list, filepath.Join("/proc", pid))
		}
	}
	for _, p := range b.parts {
		if _, ok := p.now(); ok {
			list = append(list, p.dir)
		}
	}
	return list
}

// machineShared returns how many bytes of this machine's memory belong to files and
// segments, mapped or not.
func machineShared() uint64 {
	text, _ := os.ReadFile("/proc/meminfo")
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte("Shmem:")); ok {
			n, _ := strconv.ParseUint(string(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte(" kB"))), 10, 64)
			return n << 10
		}
	}
	return 0
}
