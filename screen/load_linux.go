package screen

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"desktop-agent/internal/process"
)

// A load measures how much the processes behind the windows work. The processes
// that descend from them count as well: a browser draws in one of its children.
type load struct {
	roots []int // the processes behind the windows
	pids  map[int]usage
	at    time.Time // of the last measurement; zero once input was announced
	awoke bool      // somebody waited for a processor at the last measurement
	alone bool      // nobody worked in the last rest

	alarms    map[int]alarm // short timers as they were seen last
	files     map[int]int   // for how many files, at most, they were seen to wait for events
	fruitless map[int]int   // how often in a row nothing came of their timers after a menu had closed
}

// A usage is what one process has used.
type usage struct {
	cpu   time.Duration
	wait  time.Duration // for a processor, of its threads that live
	rests [2]float64    // processors used or waited for on average in the last two rests, newest first
}

// idle returns the processors that a process would use while nobody waits for it:
// on a busy machine it gets fewer. What it did in one rest only may have been due
// to input that was still on its way.
func (u usage) idle() float64 { return min(u.rests[0], u.rests[1]) }

const (
	// longRest is how long a process must have been left alone for its work in
	// that time to tell something.
	longRest = 500 * time.Millisecond

	// restless is the share of a processor from which on a process is known to
	// work also without cause.
	restless = 0.2

	// noise is the processor time that answering a ping or blinking costs.
	noise = time.Millisecond

	// lateNoise is the processor time that a late answer costs at most. On a crowded
	// machine, where answers are late, they cost up to 4 ms: a program takes several turns
	// for one, each with the caches of others.
	lateNoise = 10 * noise
)

// begin measures the processes that were watched last time, to learn how much
// they work without cause. undisturbed tells that a rest began and there was no input in
// it: what they did because of that, be it somebody else's, says nothing.
func (l *load) begin(undisturbed bool) {
	now := time.Now()
	rest := now.Sub(l.at)
	used := time.Duration(0)
	for pid, u := range l.pids {
		cpu, ok := process.Time(pid)
		if !ok {
			delete(l.pids, pid)
			continue
		}
		used += cpu - u.cpu
		if undisturbed && rest >= longRest {
			wanted := cpu - u.cpu + max(0, process.RunDelay(pid)-u.wait)
			u.rests = [2]float64{wanted.Seconds() / rest.Seconds(), u.rests[0]}
		}
		u.cpu = cpu
		l.pids[pid] = u
	}
	l.alone = used <= noise
	l.at = now
}

// idled tells whether the processes that were watched last time did nothing from the end
// of the last wait to the beginning of this one.
func (l *load) idled() bool { return l.alone }

// stir ends a rest right before there is input.
func (l *load) stir(undisturbed bool) {
	l.begin(undisturbed)
	l.at = time.Time{}
}

// since is when the rest began; zero if none did.
func (l *load) since() time.Time { return l.at }

// end begins a rest: what the processes do from now on is done without cause.
func (l *load) end() {
	for pid, u := range l.pids {
		u.cpu, _ = process.Time(pid)
		u.wait = process.RunDelay(pid)
		l.pids[pid] = u
	}
	l.at = time.Now()
}

// follow watches these processes and their descendants, and no others.
func (l *load) follow(pids []int) {
	l.roots = pids
	old := l.pids
	l.pids = map[int]usage{}
	for len(pids) > 0 {
		pid := pids[0]
		pids = pids[1:]
		if _, ok := l.pids[pid]; ok || pid == os.Getpid() {
			continue
		}
		u, ok := old[pid]
		if !ok {
			if u.cpu, ok = process.Time(pid); !ok {
				continue
			}
		}
		l.pids[pid] = u
		pids = append(pids, children(pid)...)
	}
}

// working tells whether a process has worked since the last call, more than it does
// anyway, or waits for a processor. One with a timer that repeats, which is only found
// awake, once, has not worked. A restless process tells nothing.
func (l *load) working() (awake, worked bool) {
	now := time.Now()
	passed, used, usual := now.Sub(l.at), time.Duration(0), time.Duration(0)
	for pid, u := range l.pids {
		cpu, ok := process.Time(pid)
		if !ok {
			delete(l.pids, pid)
			continue
		}
		told := true
		if u.idle() < restless {
			usually := l.usual(pid, passed)
			used, usual = used+cpu-u.cpu, usual+usually
			if cpu-u.cpu > noise+usually {
				l.worked(pid)
			}
			if process.MainRunnable(pid) {
				told = !l.alarms[pid].repeats() || l.awoke
				awake, worked = true, worked || told
			}
		}
		if told { // else what it does now is told as one, once it is done
			u.cpu = cpu
			l.pids[pid] = u
		}
	}
	l.at, l.awoke = now, awake
	worked = worked || used > noise+usual
	return awake || worked, worked
}

// answered says that somebody has answered late, which tells of work already: what the
// processes used meanwhile, up to what such an answer costs, is no work of its own.
func (l *load) answered() {
	for pid, u := range l.pids {
		if cpu, ok := process.Time(pid); ok && cpu-u.cpu <= lateNoise {
			u.cpu = cpu
			l.pids[pid] = u
		}
	}
}

// usual is the most processor time that a process may use in such a time without having
// worked: twice what it uses anyway. What it does at each beat it does at once, and may have
// done twice.
func (l *load) usual(pid int, passed time.Duration) time.Duration {
	idle, beat := l.pids[pid].idle(), l.alarms[pid].every()
	if beat == 0 {
		return time.Duration(2 * idle * float64(passed))
	}
	passed = max(passed, beat)
	return time.Duration(2 * max(idle, noise.Seconds()/beat.Seconds()) * float64(passed))
}

// ready tells whether any thread runs, or waits for a processor or a disk, in
// processes that do not so anyway, or a process was started only now. It finds work that a
// busy machine has not let happen yet. Who comes or goes counts as that: a script may wait
// when it is looked at, and what it waited for have ended when that is.
func (l *load) ready() bool {
	known := l.pids
	l.follow(l.roots)
	for pid, u := range l.pids {
		if _, ok := known[pid]; !ok || u.idle() < restless && process.AnyRunnable(pid) {
			return true
		}
		if _, lives := process.Time(pid); !lives {
			return true
		}
	}
	return false
}

// pages tells whether one of the processes renders pages, for a browser or another program
// that is made of Chromium.
func (l *load) pages() bool {
	for pid := range l.pids {
		words, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		if err == nil && bytes.Contains(words, []byte("--type=renderer")) {
			return true
		}
	}
	return false
}

// children returns the processes that a process started.
func children(pid int) []int {
	folder := "/proc/" + strconv.Itoa(pid) + "/task/"
	threads, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var list []int
	for _, thread := range threads {
		text, err := os.ReadFile(folder + thread.Name() + "/children")
		if err != nil {
			continue
		}
		for field := range bytes.FieldsSeq(text) {
			if child, err := strconv.Atoi(string(field)); err == nil {
				list = append(list, child)
			}
		}
	}
	return list
}
