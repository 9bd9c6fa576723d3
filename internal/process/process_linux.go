package process

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// noise is how long a process that does nothing may wait for a processor: it is woken now
// and then.
const noise = time.Millisecond

// wants reports whether any thread of the processes is runnable, or blocked on a disk, or has
// waited for a processor since the look before. Of the process that asks it tells nothing:
// that runs because it asks.
func (w *Watch) wants() bool {
	delay, runnable := time.Duration(0), false
	for _, pid := range w.PIDs {
		if pid > 0 && pid != os.Getpid() {
			delay += RunDelay(pid)
			runnable = runnable || AnyRunnable(pid)
		}
	}
	wanted := w.looked && delay-w.delay > noise
	w.delay, w.looked = delay, true
	return wanted || runnable
}

// MainRunnable tells whether the first thread of a process, which is the one that draws, is
// runnable, or blocked on a disk.
func MainRunnable(pid int) bool { return runnable("/proc/" + strconv.Itoa(pid)) }

// AnyRunnable tells whether any thread of a process is runnable, or blocked on a disk.
func AnyRunnable(pid int) bool {
	folder := threadsOf(pid)
	threads, err := os.ReadDir(folder)
	if err != nil {
		return false
	}
	for _, thread := range threads {
		if runnable(folder + thread.Name()) {
			return true
		}
	}
	return false
}

// runnable tells whether the thread of a folder is. That of a process stands for its first
// thread. See proc_pid_stat(5).
func runnable(folder string) bool {
	stat, err := os.ReadFile(folder + "/stat")
	if err != nil {
		return false
	}
	_, after, ok := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return ok && len(after) > 0 && (after[0] == 'R' || after[0] == 'D')
}

// RunDelay returns how long the threads of a process that live have waited for a
// processor; 0 where the kernel does not tell.
func RunDelay(pid int) (sum time.Duration) {
	folder := threadsOf(pid)
	threads, err := os.ReadDir(folder)
	if err != nil {
		return 0
	}
	for _, thread := range threads {
		sum += time.Duration(schedule(folder+thread.Name(), 1))
	}
	return sum
}

// MainRuns returns how often the first thread of a process, which is the one that draws, was
// given a processor; 0 where the kernel does not tell. One that waits, and was given none
// since, waits as it did.
func MainRuns(pid int) int64 { return schedule("/proc/"+strconv.Itoa(pid), 2) }

// schedule returns a number of the statistics of a thread: 0 is the nanoseconds on a
// processor, 1 those of waiting for one, 2 how often it was given one. See
// Documentation/scheduler/sched-stats.rst.
func schedule(folder string, field int) int64 {
	text, err := os.ReadFile(folder + "/schedstat")
	fields := bytes.Fields(text)
	if err != nil || len(fields) <= field {
		return 0
	}
	n, err := strconv.ParseInt(string(fields[field]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Time returns the processor time that a process has used, all its threads together, to the
// nanosecond. The clock's number is made of the process's as clock_getcpuclockid(3) does.
func Time(pid int) (time.Duration, bool) {
	const schedulerClock = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|schedulerClock), &t); err != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}

func threadsOf(pid int) string { return "/proc/" + strconv.Itoa(pid) + "/task/" }
