package env

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"desktop-agent/sandbox"

	"golang.org/x/sys/unix"
)

// A lookout adds up what a task has written, each file once.
type lookout struct {
	folder unix.Stat_t // on the disk that the task writes to
	shm    unix.Stat_t // of the task's shared memory

	files, memory int64 // bytes
	unseen        bool  // there is a folder that cannot be looked into
	deep          int   // how many folders are held open, since the path down to them is too long
	hidden        bool  // there is a process that does not let a normal user see what it has open, or has too much
	left          int   // how much may still be looked at; see mostLooks
	segments      bool  // segments of shared memory are counted elsewhere
	seen          map[inode]bool
	named         map[inode]int64 // bytes of files with a name that are open to be written, and that no walk has met
}

// In one look at what processes have open and mapped, some 100,000 files are asked for. A
// line of a list of mappings counts 1, a file fileLooks.
const (
	mostLooks = 1_000_000
	fileLooks = 10
)

// may reports whether there may be looked at something more, which has a cost.
func (l *lookout) may(cost int) bool {
	if l.left -= cost; l.left < 0 {
		l.hidden = true
	}
	return l.left >= 0
}

// An inode is a file, by whatever name.
type inode struct{ device, number uint64 }

// first reports whether a file is met for the first time.
func (l *lookout) first(device, number uint64) bool {
	file := inode{device, number}
	if l.seen[file] {
		return false
	}
	if l.seen == nil {
		l.seen = map[inode]bool{}
	}
	l.seen[file] = true
	return true
}

// gone reports whether a file, or a folder above it, was removed while it was looked at.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// A path of unix.PathMax bytes and more is too long for the kernel; see path_resolution(7). So
// where a folder's path is nearLong a walk goes on by its open file, and has mostDeep of them open
// at most. An [os.Root] knows no such limit, but opens all folders above for each one below.
const (
	nearLong = unix.PathMax - 1 - unix.NAME_MAX
	mostDeep = 32
)

// walk adds what has a name below a folder, until that is more than a limit.
func (l *lookout) walk(folder string, limit int64) {
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && len(path) >= nearLong {
			if l.deeper(path, limit); l.files > limit {
				return fs.SkipAll
			}
			return fs.SkipDir
		}
		var info fs.FileInfo
		if err == nil {
			info, err = entry.Info()
		}
		if err != nil { // closed to this user
			l.unseen = l.unseen || !gone(err)
			return nil
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok {
			l.files += info.Size()
		} else {
			delete(l.named, inode{stat.Dev, stat.Ino})
			if stat.Nlink < 2 || entry.IsDir() || l.first(stat.Dev, stat.Ino) {
				l.files += stat.Blocks * 512
			}
		}
		if l.files += entrySize; l.files > limit {
			return fs.SkipAll
		}
		return nil
	})
}

// deeper is walk for a folder whose path leaves no room for the longest name in it.
func (l *lookout) deeper(folder string, limit int64) {
	if l.deep == mostDeep {
		l.unseen = true
		return
	}
	fd, err := unix.Open(folder, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		l.unseen = l.unseen || !gone(err)
		return
	}
	defer unix.Close(fd)
	l.deep++
	l.walk("/proc/self/fd/"+strconv.Itoa(fd)+"/.", limit)
	l.deep--
}

// unmet adds what has a name where a walk could not look, and is open to be written.
func (l *lookout) unmet() {
	for _, bytes := range l.named {
		l.files += bytes
	}
}

// tmpfs adds what is in a file system that is memory.
func (l *lookout) tmpfs(folder string) {
	var s unix.Statfs_t
	if unix.Statfs(folder, &s) == nil && unix.Stat(folder, &l.shm) == nil && s.Type == unix.TMPFS_MAGIC {
		l.memory += int64(s.Blocks-s.Bfree) * int64(s.Bsize)
	}
}

// open adds the files without a name that a process has open, or has mapped, where this
// program may see that. dir is its folder in /proc.
func (l *lookout) open(dir string) {
	files, err := os.Open(filepath.Join(dir, "fd"))
	if s, ok := readStatus(filepath.Join(dir, "status")); err != nil && ok && !s.ended {
		l.hidden = true
	}
	if err == nil {
		defer files.Close()
	}
	for err == nil {
		var names []string
		names, err = files.Readdirnames(1000)
		for _, name := range names {
			if !l.may(fileLooks) {
				return
			}
			if s, ok := regular(filepath.Join(dir, "fd", name)); ok && s.Nlink == 0 {
				l.nameless(filepath.Join(dir, "fd", name), s)
			} else if ok && s.Dev == l.folder.Dev {
				l.written(filepath.Join(dir, "fdinfo", name), s)
			}
		}
	}
	maps, err := os.Open(filepath.Join(dir, "maps"))
	if err != nil {
		return
	}
	defer maps.Close()
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		if !l.may(1) {
			return
		}
		line := lines.Bytes()
		if !bytes.HasSuffix(line, []byte(" (deleted)")) || l.segments && segment(line) {
			continue
		}
		if !l.may(fileLooks) {
			return
		}
		// In the folder of mappings the same addresses stand without zeros before them.
		from, rest, _ := bytes.Cut(line, []byte("-"))
		to, _, _ := bytes.Cut(rest, []byte(" "))
		begin, _ := strconv.ParseUint(string(from), 16, 64)
		end, _ := strconv.ParseUint(string(to), 16, 64)
		path := filepath.Join(dir, "map_files", strconv.FormatUint(begin, 16)+"-"+strconv.FormatUint(end, 16))
		if s, ok := regular(path); ok && s.Nlink == 0 {
			l.nameless(path, s)
		}
	}
}

// segment reports whether a line of a list of mappings is of a segment of shared memory: the
// kernel names these by their key, in the root of a file system that has no place.
func segment(line []byte) bool {
	fields := bytes.Fields(line)
	return len(fields) == 7 && bytes.HasPrefix(fields[5], []byte("/SYSV")) && len(fields[5]) == len("/SYSV00000000")
}

// regular tells of a regular file; ok is false for what is none, or cannot be asked.
func regular(path string) (s unix.Stat_t, ok bool) {
	err := unix.Stat(path, &s)
	return s, err == nil && s.Mode&unix.S_IFMT == unix.S_IFREG
}

// nameless adds a file that has no name.
func (l *lookout) nameless(path string, s unix.Stat_t) {
	if !l.first(s.Dev, s.Ino) {
		return
	}
	var system unix.Statfs_t
	switch err := unix.Statfs(path, &system); {
	case s.Dev == l.folder.Dev:
		l.files += s.Blocks * 512
	case s.Dev == l.shm.Dev: // all of it was added
	case err == nil && (system.Type == unix.TMPFS_MAGIC || system.Type == unix.HUGETLBFS_MAGIC):
		l.memory += s.Blocks * 512
	default:
		l.files += s.Blocks * 512
	}
}

// written notes a file with a name on the disk that the task writes to, if a process has it open
// to be written, as that one's folder in /proc says; see proc_pid_fdinfo(5).
func (l *lookout) written(fdinfo string, s unix.Stat_t) {
	info, _ := os.ReadFile(fdinfo)
	for line := range bytes.Lines(info) {
		octal, ok := bytes.CutPrefix(line, []byte("flags:"))
		if flags, err := strconv.ParseUint(string(bytes.TrimSpace(octal)), 8, 64); !ok || err != nil || flags&unix.O_ACCMODE == unix.O_RDONLY {
			continue
		}
		if l.named == nil {
			l.named = map[inode]int64{}
		}
		l.named[inode{s.Dev, s.Ino}] = s.Blocks * 512
	}
}

// segments returns how many bytes of memory are in segments of shared memory, whose list is
// seen by who is among those that share it. way is put before a command line for that.
func segments(d *sandbox.Desktop, way []string) (sum int64) {
	read, write, err := os.Pipe()
	if err != nil {
		return 0
	}
	defer read.Close()
	list, err := d.Launch(sandbox.Command{Args: append(slices.Clone(way), "/bin/cat", "/proc/sysvipc/shm"), Outside: true, Dir: "/", Stdout: write})
	write.Close()
	if err != nil {
		return 0
	}
	late := time.AfterFunc(segmentsLimit, func() { _ = list.Close() })
	defer late.Stop()
	lines := bufio.NewScanner(read)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		for _, field := range fields[max(0, len(fields)-2):] { // in memory, and swapped out
			n, _ := strconv.ParseInt(field, 10, 64)
			sum += n
		}
	}
	return sum
}

// segmentsLimit is how long the list of segments may take.
const segmentsLimit = 5 * time.Second
