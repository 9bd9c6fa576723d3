package env

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// groups are the control groups that hold the programs of a task. Which kind there
// is, and whether this user may make any, differs by machine.
type groups struct {
	version   int      // 1 or 2; 0 if there are none
	processes string   // folder of the group that counts processes; "" if none does
	memory    string   // the same, for memory
	doors     []string // files by which processes put themselves there
}

// door is the file of a group by which a process with one thread, such as a shell, puts
// itself there by writing a 0. In version 1 it moves that thread alone: to move all of a
// process the kernel waits for every processor, often for 10 ms.
func (h hierarchy) door(dir string) string {
	if h.version == 1 {
		return filepath.Join(dir, "tasks")
	}
	return filepath.Join(dir, "cgroup.procs")
}

// A hierarchy is a mounted file system of control groups.
type hierarchy struct {
	mount   string
	options []string // "pids", "memory"; none for version 2
	version int
}

// hierarchies lists those that /proc/self/mountinfo tells of.
func hierarchies(mountinfo string) (list []hierarchy) {
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line)
		dash := slices.Index(fields, "-")
		if dash < 6 || len(fields) < dash+4 {
			continue
		}
		switch fields[dash+1] {
		case "cgroup2":
			list = append(list, hierarchy{mount: fields[4], version: 2})
		case "cgroup":
			list = append(list, hierarchy{mount: fields[4], options: strings.Split(fields[dash+3], ","), version: 1})
		}
	}
	return list
}

// makeGroups makes control groups of a name with the limits, as far as this machine
// lets this user. proc is /proc/self. The folder of each is a line of list before it is
// made; some may not be made.
func makeGroups(proc, name string, limits Limits, list io.Writer) *groups {
	g := &groups{}
	mounts, err := os.ReadFile(filepath.Join(proc, "mountinfo"))
	if err != nil {
		return g
	}
	own, err := os.ReadFile(filepath.Join(proc, "cgroup"))
	if err != nil {
		return g
	}
	for _, h := range hierarchies(string(mounts)) {
		for _, above := range h.places(string(own)) {
			if g.version != 0 && g.version != h.version {
				break
			}
			g.make(h, filepath.Join(above, name), limits, list)
		}
	}
	return g
}

// places returns the folders in which a group may be made, by what /proc/self/cgroup
// says. In version 2 one that has processes cannot have groups in it that count
// memory, so that ours stands beside this process's.
func (h hierarchy) places(own string) (list []string) {
	for line := range strings.Lines(own) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if h.version == 2 && parts[1] == "" {
			list = append(list, filepath.Join(h.mount, path.Dir(parts[2])), filepath.Join(h.mount, parts[2]))
		}
		if h.version == 1 && slices.ContainsFunc(strings.Split(parts[1], ","), func(c string) bool { return slices.Contains(h.options, c) }) {
			list = append(list, filepath.Join(h.mount, parts[2]))
		}
	}
	return append(slices.Compact(list), h.mount)
}

// make makes a group, unless there is one already, or keeps nothing of it.
func (g *groups) make(h hierarchy, dir string, limits Limits, list io.Writer) {
	counts := func(what string) bool { return slices.Contains(h.options, what) }
	if h.version == 2 {
		above := filepath.Dir(dir)
		on := func() bool {
			text, err := os.ReadFile(filepath.Join(above, "cgroup.subtree_control"))
			return err == nil && slices.Contains(strings.Fields(string(text)), "pids") && slices.Contains(strings.Fields(string(text)), "memory")
		}
		if !on() { // refused where there are processes, or where it is not ours
			_ = os.WriteFile(filepath.Join(above, "cgroup.subtree_control"), []byte("+pids +memory"), 0)
		}
		if !on() {
			return
		}
		counts = func(string) bool { return true }
	}
	processes := g.processes == "" && counts("pids")
	memory := g.memory == "" && counts("memory")
	if !processes && !memory {
		return
	}
	if _, err := fmt.Fprintln(list, dir); err != nil || os.Mkdir(dir, 0o755) != nil {
		return
	}
	var err error
	if processes {
		err = setGroup(dir, "pids.max", int64(limits.Processes))
	}
	if memory {
		name, swap := "memory.max", "memory.swap.max"
		if h.version == 1 {
			name, swap = "memory.limit_in_bytes", ""
		}
		err = errors.Join(err, setGroup(dir, name, limits.Memory))
		if swap != "" {
			_ = setGroup(dir, swap, 0) // not every kernel counts it
		}
	}
	if err == nil { // whether this user may put processes there
		err = exec.Command("/bin/sh", "-c", `echo 0 >"$1"`, "sh", h.door(dir)).Run()
	}
	if err != nil {
		_ = os.Remove(dir)
		return
	}
	g.version = h.version
	g.doors = append(g.doors, h.door(dir))
	if processes {
		g.processes = dir
	}
	if memory {
		g.memory = dir
	}
}

func setGroup(dir, name string, n int64) error {
	return os.WriteFile(filepath.Join(dir, name), strconv.AppendInt(nil, n, 10), 0)
}

// take puts a process into the group that counts memory, and reports whether it is there:
// what it takes from then on counts.
func (g *groups) take(pid int) bool {
	if g.memory == "" {
		return false
	}
	h := hierarchy{version: g.version}
	all := []string{strconv.Itoa(pid)}
	if threads, err := os.ReadDir(filepath.Join("/proc", all[0], "task")); g.version == 1 && err == nil {
		all = nil
		for _, thread := range threads {
			all = append(all, thread.Name())
		}
	}
	taken := false
	for _, number := range all {
		err := os.WriteFile(h.door(g.memory), []byte(number), 0)
		if err != nil && !errors.Is(err, syscall.ESRCH) {
			return false
		}
		taken = taken || err == nil
	}
	return taken
}

// members returns the numbers of the processes in the groups.
func (g *groups) members() []string {
	for _, dir := range g.dirs() {
		if text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs")); err == nil {
			return strings.Fields(string(text))
		}
	}
	return nil
}

// dirs returns the folders of the groups.
func (g *groups) dirs() []string {
	list := slices.DeleteFunc([]string{g.processes, g.memory}, func(dir string) bool { return dir == "" })
	return slices.Compact(list)
}

// refused reports whether a process could not be started, and killed whether one was
// killed because there was no memory for it within the limit. In version 2 those count too
// that were killed because the machine had none.
func (g *groups) refused() bool { return g.processes != "" && event(g.processes, "pids.events", "max") }

func (g *groups) killed() bool {
	if g.version == 1 {
		return g.memory != "" && event(g.memory, "memory.oom_control", "oom_kill")
	}
	return g.memory != "" && event(g.memory, "memory.events", "oom_kill") && event(g.memory, "memory.events", "oom")
}

// event reports whether something has happened in a group.
func event(dir, file, what string) bool {
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return false
	}
	for line := range bytes.Lines(text) {
		if count, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte(what+" ")); ok {
			return string(count) != "0"
		}
	}
	return false
}

// close removes the groups. Processes that were killed leave them a moment later, on a busy
// machine some seconds.
func (g *groups) close() error {
	var errs []error
	for _, dir := range g.dirs() {
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			err := os.Remove(dir)
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				break
			}
			if time.Now().After(end) {
				errs = append(errs, fmt.Errorf("control group: %w", err))
				break
			}
		}
	}
	return errors.Join(errs...)
}
