package screen

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"desktop-agent/internal/process"

	"golang.org/x/sys/unix"
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

	// alarmSlack is how well it is known when a program's timer fires.
	alarmSlack = 30 * time.Millisecond

	// fruitPatience is the same for a program that worked or drew when such a timer
	// fired: what follows is known to matter.
	fruitPatience = 1200 * time.Millisecond
)

// waitCalls has the system calls in which a program waits for events: poll(2),
// epoll_wait(2), epoll_pwait(2), ppoll(2) and epoll_pwait2(2).
var waitCalls = map[string]map[string]waitCall{
	"amd64": {"7": {2, false, true}, "232": {3, false, false}, "281": {3, false, false}, "271": {2, true, true}, "441": {3, true, false}},
	"arm64": {"22": {3, false, false}, "73": {2, true, true}, "441": {3, true, false}},
}

// A waitCall says which arguments of a system call tell what is waited for.
type waitCall struct {
	limit   int  // the time limit: in milliseconds, or
	pointer bool // a pointer to a timespec
	counts  bool // the argument 1 is the number of files that are waited for
}

// timer returns how long a program may still wait for a short timer before it goes on by
// itself: 0 if none does, and [shortTimer] if that is not known yet.
func (l *load) timer() (longest time.Duration) {
	for pid, u := range l.pids {
		if u.idle() >= restless {
			continue
		}
		switch limit := l.limit(pid); {
		case limit == atWork:
			return shortTimer
		case limit <= shortTimer:
			longest = max(longest, limit)
		}
	}
	return longest
}

// An alarm is a timer of a program: the limit with which it waits, and when that ends.
type alarm struct {
	limit   time.Duration
	at      time.Time     // that is later than it ends, if it was seen only some time after it was set
	runs    int64         // how often the program had run when it was seen; see [process.MainRuns]
	since   time.Time     // from when on the program has had short timers without a break and done nothing
	period  time.Duration // from the end of the one before to its own
	alike   int           // how many such timers before this one came after the same period, in which it did nothing
	endless bool          // they went on for so long that they lead to nothing in this wait
	flurry  flurry        // of which it is one, if it is
	beat    beat          // of a timer that repeats, if one is known
}

// A flurry is a number of timers, each of which is brief: from when on there was no other in
// between, how many were seen after the first, and how long the longest is. Which of them one
// is cannot be told by when it ends; but no chain has so many.
type flurry struct {
	since   time.Time
	seen    int
	longest time.Duration
}

// brief is how long a timer is at least of which it can be told whether it is the one before.
const brief = 2 * alarmSlack

// repeats reports whether it is no chain which leads to something.
func (a alarm) repeats() bool { return a.endless || a.beat.period > 0 }

// every is the time from one to the next of timers that repeat, or of a flurry that may; 0 if
// there are none.
func (a alarm) every() time.Duration {
	if a.beat.period == 0 && a.flurry.seen > 0 {
		return a.flurry.longest
	}
	return a.beat.period
}

// A beat is a timer that repeats: its period, and when it last ended or will; zero while
// that is not known.
type beat struct {
	period time.Duration
	at     time.Time
}

// has reports whether a timer of so long that ends then is this one. One that is as long
// may have been set some time before it was looked at.
func (b beat) has(limit time.Duration, at time.Time) bool {
	if b.period == 0 || limit > b.period+alarmSlack/3 { // who waits for longer has it no more
		return false
	}
	if (limit - b.period).Abs() <= alarmSlack/10 {
		return true
	}
	off := at.Sub(b.at).Abs() % b.period
	return !b.at.IsZero() && min(off, b.period-off) <= alarmSlack/3
}

// regular is how many periods of timers are alike in one that repeats. A chain has as many
// as it has links, and LibreOffice's have two.
const regular = 3

// armed reports whether a program has set itself another short timer since the last
// call, or is about to, but for one that repeats: LibreOffice Impress looks ten times a
// second whether there are words to be spelled. What ends between two beats of that is
// another one.
func (l *load) armed() (another bool) {
	if l.alarms == nil {
		l.alarms = map[int]alarm{}
	}
	now := time.Now()
	for pid, u := range l.pids {
		runs := process.MainRuns(pid) // first: what is set meanwhile is seen the next time
		limit, last := l.limit(pid), l.alarms[pid]
		switch {
		case limit == atWork:
			another = another || !last.repeats() // for all that is known
		case u.idle() >= restless || limit <= 0 || limit > shortTimer:
			delete(l.alarms, pid)
		default:
			next, isNew := last.next(limit, runs, now)
			another = another || isNew
			l.alarms[pid] = next
		}
	}
	return another
}

// next returns the alarm of a program that has run so often and now waits with a limit, after
// the one before, and whether it has set itself another one. One that takes an event in
// between waits for what is left of the same; who has run, and has all of it left, has set
// another one as long.
func (a alarm) next(limit time.Duration, runs int64, now time.Time) (next alarm, isNew bool) {
	late := now.Sub(a.at)
	same := limit == a.limit && late < alarmSlack
	flurried := max(limit, a.limit) < brief && late <= shortTimer
	switch {
	case same && runs == a.runs:
		return a, false // it waits as it did
	case same && late < 0 && !flurried: // the one before was set earlier than it was seen, which tells of no period
		a.at, a.runs = now.Add(limit), runs
		return a, !a.endless && !a.beat.has(limit, a.at)
	}
	next = a
	next.limit, next.at, next.runs = limit, now.Add(limit), runs
	if limit == a.limit && late >= 0 && late < shortTimer { // it was set again when it ended, and that was not seen
		next.at = a.at.Add((late/limit + 1) * limit)
	}
	if next.flurry.seen++; !flurried {
		next.flurry = flurry{since: now}
	}
	next.flurry.longest = max(next.flurry.longest, limit)
	period := next.at.Sub(a.at)
	isNew = period.Abs() > alarmSlack && !flurried
	switch {
	case late > shortTimer: // what was in between is not known
		next.since, next.period, next.alike = now, 0, 0
		next.beat.at = time.Time{}
	case isNew && (period-a.period).Abs() <= alarmSlack/2:
		next.alike++
	case isNew:
		next.period, next.alike = period, 1
	}
	silent := now.Sub(next.since)
	next.endless = a.endless || silent >= fruitPatience
	switch f := next.flurry; {
	case flurried && f.seen >= regular && now.Sub(f.since) >= shortTimer:
		next.beat = beat{f.longest, next.at}
	case silent >= shortTimer && next.alike >= regular && next.period >= brief:
		next.beat = beat{next.period, next.at}
	}
	if next.beat.period > 0 && next.beat.at.IsZero() && late <= shortTimer && (period-next.beat.period).Abs() <= alarmSlack/3 {
		next.beat.at = next.at // it is heard again
	}
	if next.beat.has(limit, next.at) {
		next.beat.at, isNew = next.at, false
	}
	return next, isNew && !next.endless
}

// worked notes that a program has worked: what came before is no timer that repeats, if
// it was not known for one.
func (l *load) worked(pid int) {
	if a, ok := l.alarms[pid]; ok {
		l.alarms[pid] = a.from(time.Now())
	}
}

// from is the alarm of a program whose timers from now on count alone.
func (a alarm) from(now time.Time) alarm {
	a.since, a.alike, a.flurry = now, 0, flurry{since: now}
	return a
}

// anew notes that a wait begins, and what was done before may have set timers: those that led
// to nothing, as many do while a program starts, were of before. A beat stays one.
func (l *load) anew() {
	for pid, a := range l.alarms {
		a.endless = false
		l.alarms[pid] = a.from(time.Now())
	}
}

// giveUp forgets which programs wait for something else than events: no more patience is had
// with them until they have waited for events again.
func (l *load) giveUp() { l.files = nil }

// forget forgets the timers that repeat: with other windows, programs have other timers.
func (l *load) forget() { l.alarms = nil }

// vainly is how many times in a row timers may have come to nothing before they are
// taken for those of a caret, where that costs little: see [load.vain].
const vainly = 3

// learn notes whether anything came of the timers of programs, in a wait that
// followed a menu that closed or another one.
func (l *load) learn(fruit, menuClosed bool) {
	if l.fruitless == nil {
		l.fruitless = map[int]int{}
	}
	for pid := range l.pids {
		switch {
		case fruit:
			delete(l.fruitless, pid)
		case menuClosed:
			l.fruitless[pid]++
		}
	}
}

// vain reports whether nothing came lately of the short timers that programs have
// after a menu has closed: a caret blinks, and most that is chosen in a menu is done
// at once.
func (l *load) vain() bool {
	for pid, u := range l.pids {
		if limit := l.limit(pid); limit != 0 && limit <= shortTimer && u.idle() < restless && l.fruitless[pid] < vainly {
			return false
		}
	}
	return true
}

// atWork is the limit of a program that is not waiting: with which it will is not known
// yet. Who has answered may wait long for a processor on a busy machine before it goes on.
const atWork time.Duration = -1

// limit returns the time limit with which a program waits for events: 0 without one, and
// [atWork] if it does not wait, or has been seen to wait for events and now waits for
// something else, as a lock, or for one file alone, and long, which otherwise waits for
// several. It is in the middle of something then: it wants an answer of the X server or of
// a service, and that may take long on a busy machine.
func (l *load) limit(pid int) time.Duration {
	limit, files := waitOf(pid)
	waited := l.files[pid]
	switch {
	case limit == atWork:
	case files == 0 && waited > 0, files == 1 && waited > 1 && (limit == 0 || limit > shortTimer):
		return atWork
	case files > waited:
		if l.files == nil {
			l.files = map[int]int{}
		}
		l.files[pid] = files
	}
	return limit
}

// waitOf returns the time limit with which the first thread of a process, which is the one
// that draws, waits for events; 0 if it waits without a limit or for something else, and
// [atWork] if it does not wait. Where that cannot be known it is [shortTimer], to be on the
// safe side: the kernel tells it of one's own descendants and, unless it is hardened, of
// the user's other processes. See proc_pid_syscall(5). files is for how many files it
// waits, 1 at least; 0 if it does not wait for events, or that is not known.
func waitOf(pid int) (limit time.Duration, files int) {
	for range 20 {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/syscall")
		fields := strings.Fields(string(text))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return 0, 0 // ended
		case err != nil || len(fields) == 0:
			return shortTimer, 0
		case fields[0] != "running":
			return parseWait(pid, fields)
		}
		time.Sleep(time.Millisecond / 2) // it has just answered
	}
	return atWork, 0
}

// parseWait is waitOf for the number of a system call and its arguments.
func parseWait(pid int, fields []string) (limit time.Duration, files int) {
	call, ok := waitCalls[runtime.GOARCH][fields[0]]
	if !ok || len(fields) < call.limit+2 {
		return 0, 0
	}
	files = 1
	if n, err := strconv.ParseUint(fields[2], 0, 31); call.counts && err == nil {
		files = max(1, int(n))
	}
	argument, err := strconv.ParseUint(fields[call.limit+1], 0, 64)
	switch {
	case err != nil:
		return 0, files
	case call.pointer:
		return timespec(pid, uintptr(argument)), files
	case int32(argument) < 0:
		return 0, files
	}
	return time.Duration(int32(argument)) * time.Millisecond, files
}

// timespec reads a struct timespec of 64 bits each from the memory of a process; 0
// where there is none. Who may read its system call may read this too. See
// process_vm_readv(2).
func timespec(pid int, at uintptr) time.Duration {
	if at == 0 {
		return 0
	}
	var b [16]byte
	local := []unix.Iovec{{Base: &b[0]}}
	local[0].SetLen(len(b))
	n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: at, Len: len(b)}}, 0)
	if err != nil || n != len(b) {
		return shortTimer
	}
	seconds, nanoseconds := int64(binary.NativeEndian.Uint64(b[:8])), int64(binary.NativeEndian.Uint64(b[8:]))
	if seconds < 0 || seconds > int64(shortTimer/time.Second)+1 {
		return 0 // far away
	}
	return time.Duration(seconds)*time.Second + time.Duration(nanoseconds)
}
