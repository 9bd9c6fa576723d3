package screen

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

const (
	// shortTimer is the longest timer that counts as work still to come. A
	// toolkit lets a button look pressed for 250 ms before it does what the
	// button is for, and does nothing at all in between. A caret blinks more
	// slowly.
	shortTimer = 300 * time.Millisecond

	// timerPatience is how long such timers are waited for in all, in one wait:
	// some programs start one after the other.
	timerPatience = 600 * time.Millisecond
)

// timeoutArgument tells, for a system call in which a program waits for events,
// which of its arguments is the time limit in milliseconds: poll(2) and
// epoll_wait(2). Where the limit is behind a pointer, as of ppoll(2), it cannot
// be read.
var timeoutArgument = map[string]map[string]int{
	"amd64": {"7": 2, "232": 3, "281": 3},
	"arm64": {"22": 3},
}

// timer returns how long a program may still wait for a short timer before it
// goes on by itself; 0 if none does. What cannot be read tells nothing: the
// kernel shows it of one's own descendants and, where it is not hardened, of
// the user's other processes. See proc_pid_syscall(5).
func (l *load) timer() time.Duration {
	longest := time.Duration(0)
	for pid, u := range l.pids {
		if u.idle() >= restless {
			continue
		}
		limit := waitLimit(pid)
		if limit <= 0 || limit > shortTimer {
			delete(l.ticking, pid)
			continue
		}
		if !l.ticking[pid] {
			longest = max(longest, limit)
		}
	}
	return longest
}

// tick notes the programs that always have a short timer: they are not waited
// for again until they once had none.
func (l *load) tick() {
	if l.ticking == nil {
		l.ticking = map[int]bool{}
	}
	for pid := range l.pids {
		if limit := waitLimit(pid); limit > 0 && limit <= shortTimer {
			l.ticking[pid] = true
		}
	}
}

// waitLimit returns the time limit with which the first thread of a process,
// which is the one that draws, waits for events; 0 if it does something else, or
// waits without a limit.
func waitLimit(pid int) time.Duration {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/syscall")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	argument, ok := timeoutArgument[runtime.GOARCH][fields[0]]
	if !ok || len(fields) < argument+2 {
		return 0
	}
	limit, err := strconv.ParseUint(fields[argument+1], 0, 64)
	if err != nil || int32(limit) < 0 {
		return 0
	}
	return time.Duration(int32(limit)) * time.Millisecond
}
