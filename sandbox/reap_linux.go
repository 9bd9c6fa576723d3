package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A procStat is what tells a process's family, from /proc/<pid>/stat.
type procStat struct {
	pid, parent, group, session int
}

// marked returns the processes that carry mark ("NAME=value") in the
// environment that they were started with, and those that descend from such a
// process or belong to its group or session: a program may overwrite its
// environment, as browsers do to change their title, or give its children
// another. This process is never among them.
func marked(mark string) []int {
	stats := map[int]procStat{}
	found := map[int]bool{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	self := os.Getpid()
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == self {
			continue
		}
		if p, ok := statOf(pid); ok {
			stats[pid] = p
			found[pid] = carries(pid, mark)
		}
	}
	for grown := true; grown; {
		grown = false
		for pid, p := range stats {
			if !found[pid] && (found[p.parent] || found[p.group] || found[p.session]) {
				found[pid], grown = true, true
			}
		}
	}
	var pids []int
	for pid, in := range found {
		if in {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// carries reports whether a process was started with mark in its environment.
func carries(pid int, mark string) bool {
	env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil || len(env) == 0 {
		return false
	}
	return slices.ContainsFunc(bytes.Split(env, []byte{0}), func(pair []byte) bool { return string(pair) == mark })
}

// statOf reads where a process stands; false if it is gone or a zombie.
func statOf(pid int) (procStat, bool) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return procStat{}, false
	}
	// The name, in brackets, may hold spaces and brackets.
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return procStat{}, false
	}
	fields := strings.Fields(string(stat[end+1:])) // every process is read, again and again: no Sscan
	if len(fields) < 4 {
		return procStat{}, false
	}
	p := procStat{pid: pid}
	for i, to := range []*int{&p.parent, &p.group, &p.session} {
		if *to, err = strconv.Atoi(fields[i+1]); err != nil {
			return procStat{}, false
		}
	}
	return p, fields[0] != "Z" && fields[0] != "X"
}

// worksOf returns how long the processes that carry a mark have used a processor, in ticks
// of the kernel's clock.
func worksOf(mark string) (ticks uint64) {
	for _, pid := range marked(mark) {
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		if err != nil {
			continue
		}
		const user, system = 14 - 3, 15 - 3 // from the third field on
		fields := bytes.Fields(stat[max(0, bytes.LastIndexByte(stat, ')')+1):])
		for _, i := range []int{user, system} {
			if i < len(fields) {
				n, _ := strconv.ParseUint(string(fields[i]), 10, 64)
				ticks += n
			}
		}
	}
	return ticks
}

// nameOf returns a process's name, for an error text.
func nameOf(pid int) string {
	name, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
	if err != nil {
		return strconv.Itoa(pid)
	}
	return fmt.Sprintf("%s (%d)", strings.TrimSpace(string(name)), pid)
}

const (
	// gracePeriod is the time between asking processes to end and killing them.
	gracePeriod = 250 * time.Millisecond
	// killPeriod is how long what was killed may take to be gone: it must be given a
	// processor to die, which others may have.
	killPeriod = 20 * time.Second
)

// end asks the children's process groups and every process that carries mark to
// end, then kills what is left. It returns when none is there, or an error that
// names those that cannot be killed. The groups are known without /proc, which
// not every machine lets its users read.
func end(mark string, children []*child) error {
	start, asked, empty := time.Now(), map[int]bool{}, 0
	var killed time.Time // not from start on: a look at all processes may itself take long
	for {
		pids := marked(mark)
		for _, c := range children {
			if c.running() {
				pids = append(pids, -c.pid) // a group, in the way of kill(2)
			}
		}
		if len(pids) == 0 {
			// A process has no environment for an instant while it executes
			// another program: look twice.
			if empty++; empty > 1 {
				return nil
			}
		} else {
			empty = 0
		}
		grace := time.Since(start) < gracePeriod
		for _, pid := range pids {
			switch {
			case !grace:
				if killed.IsZero() {
					killed = time.Now()
				}
				_ = syscall.Kill(pid, syscall.SIGKILL)
			case !asked[pid]:
				_ = syscall.Kill(pid, syscall.SIGTERM)
				_ = syscall.Kill(pid, syscall.SIGCONT) // a stopped one could not hear
				asked[pid] = true
			}
		}
		if len(pids) > 0 && !killed.IsZero() && time.Since(killed) > killPeriod {
			var names []string
			for _, pid := range pids {
				names = append(names, nameOf(max(pid, -pid)))
			}
			return fmt.Errorf("cannot end %s", strings.Join(names, ", "))
		}
		time.Sleep(5 * time.Millisecond)
	}
}
