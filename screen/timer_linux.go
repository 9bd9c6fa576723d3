package screen

import (
	"errors"
	"io/fs"
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
// epoll_wait(2). Where it is -1 the limit is behind a pointer, as of ppoll(2),
// and cannot be read.
var timeoutArgument = map[string]map[string]int{
	"amd64": {"7": 2, "232": 3, "281": 3, "271": -1, "441": -1},
	"arm64": {"22": 3, "73": -1, "441": -1},
}

// timer returns how long a program may still wait for a short timer before it
// goes on by itself; 0 if none does.
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
// waits without a limit. Where that cannot be known it is [shortTimer], to be on
// the safe side: the kernel tells it of one's own descendants and, unless it is
// hardened, of the user's other processes. See proc_pid_syscall(5).
func waitLimit(pid int) time.Duration {
	for range 20 {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/syscall")
		fields := strings.Fields(string(text))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return 0 // ended
		case err != nil || len(fields) == 0:
			return shortTimer
		case fields[0] != "running":
			return timeout(fields)
		}
		time.Sleep(time.Millisecond / 2) // it has just answered
	}
	return 0 // it works, and that is seen elsewhere
}

// timeout returns the time limit of the system call that a thread is in.
func timeout(fields []string) time.Duration {
	argument, ok := timeoutArgument[runtime.GOARCH][fields[0]]
	switch {
	case !ok || len(fields) < argument+2:
		return 0
	case argument < 0:
		return shortTimer
	}
	limit, err := strconv.ParseUint(fields[argument+1], 0, 64)
	if err != nil || int32(limit) < 0 {
		return 0
	}
	return time.Duration(int32(limit)) * time.Millisecond
}
