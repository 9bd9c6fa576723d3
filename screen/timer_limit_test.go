//go:build linux

package screen

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The limit of a wait is known also where the system call has it behind a pointer, as
// that of ppoll(2), which newer versions of GLib and Qt use.
func TestWaitLimitBehindAPointer(t *testing.T) {
	const program = `
import ctypes, sys
class timespec(ctypes.Structure):
    _fields_ = [("sec", ctypes.c_long), ("nsec", ctypes.c_long)]
libc = ctypes.CDLL(None)
limit = timespec(int(sys.argv[1]), int(sys.argv[2]))
while True:
    libc.ppoll(None, ctypes.c_ulong(0), ctypes.byref(limit) if sys.argv[1] != "-1" else None, None)
`
	for _, tt := range []struct {
		seconds, nanoseconds string
		want                 time.Duration
	}{
		{"0", "250000000", 250 * time.Millisecond},
		{"0", "700000000", 700 * time.Millisecond},
		{"-1", "0", 0},   // no limit
		{"3600", "0", 0}, // far away
	} {
		cmd := exec.Command("python3", "-c", program, tt.seconds, tt.nanoseconds)
		require.NoError(t, cmd.Start())
		defer func() { cmd.Process.Kill(); cmd.Wait() }()
		if tt.want == 0 { // until it waits, it is in other system calls, which have none either
			time.Sleep(time.Second)
		}
		limit := func() time.Duration { limit, _ := waitOf(cmd.Process.Pid); return limit }
		require.Eventually(t, func() bool { return limit() == tt.want }, time.Minute, time.Millisecond, "%+v: %v", tt, limit())
	}
}

// Who waits for events, and then for something else without a limit, is in the middle of
// something: a toolkit waits like that for an answer of the X server, which is one of its
// files, or for a lock. Where no more patience is had with it, it may do so all day.
func TestWaitForAnAnswer(t *testing.T) {
	const program = `
import os, select, sys, threading
r, _ = os.pipe()
s, _ = os.pipe()
p = select.poll()
if sys.argv[1] != "nothing":
    p.register(r, select.POLLIN)
    if sys.argv[1] == "two":
        p.register(s, select.POLLIN)
    p.poll(700)
if sys.argv[2] == "lock":
    threading.Event().wait()
p = select.poll()
p.register(r, select.POLLIN)
p.poll(None)
`
	for _, tt := range []struct {
		before, then string
		limit        time.Duration
	}{
		{"two", "one", shortTimer},
		{"two", "lock", shortTimer},
		{"one", "lock", shortTimer},
		{"one", "one", 0}, // a toolkit of another kind
		{"nothing", "one", 0},
		{"nothing", "lock", 0}, // it may be any program whose first thread waits for the others
	} {
		t.Run(tt.before+" then "+tt.then, func(t *testing.T) {
			cmd := exec.Command("python3", "-c", program, tt.before, tt.then)
			require.NoError(t, cmd.Start())
			defer func() { cmd.Process.Kill(); cmd.Wait() }()
			pid := cmd.Process.Pid
			var l load
			l.follow([]int{pid})
			files := map[string]int{"one": 1, "two": 2}
			if n := files[tt.before]; n > 0 {
				require.Eventually(t, func() bool {
					limit, waits := waitOf(pid)
					return limit > 0 && waits == n && l.limit(pid) > 0
				}, time.Minute, time.Millisecond)
			}
			want := files[tt.then]
			require.Eventually(t, func() bool {
				limit, files := waitOf(pid)
				call, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/syscall")
				waits := want > 0 || strings.HasPrefix(string(call), fmt.Sprintf("%d ", unix.SYS_FUTEX))
				return limit == 0 && files == want && waits
			}, time.Minute, time.Millisecond)
			assert.Equal(t, tt.limit, l.timer())
			assert.Equal(t, tt.limit > 0, l.armed(), "it may set itself a timer")
			l.giveUp()
			assert.Zero(t, l.timer())
		})
	}
}

// A program that has not come to wait again, as one that has answered and has no processor
// yet, may still set itself a timer.
func TestTimerOfAProgramAtWork(t *testing.T) {
	cmd := exec.Command("python3", "-c", "while True: pass")
	require.NoError(t, cmd.Start())
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	var l load
	l.follow([]int{cmd.Process.Pid})
	require.Eventually(t, func() bool { return l.timer() == shortTimer }, time.Minute, time.Millisecond)
	require.Eventually(t, l.armed, time.Minute, time.Millisecond)
	require.Eventually(t, l.armed, time.Minute, time.Millisecond, "it still may")
}

// Of a program of whose timers nothing came after several menus had closed, nothing is
// expected, until something does; of one that works, for all that is known.
func TestVain(t *testing.T) {
	cmd := exec.Command("python3", "-c", "import select\nwhile True: select.poll().poll(200)")
	require.NoError(t, cmd.Start())
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	var l load
	l.follow([]int{cmd.Process.Pid})
	require.Eventually(t, func() bool { limit, _ := waitOf(cmd.Process.Pid); return limit > 0 }, time.Minute, time.Millisecond)
	require.False(t, l.vain())
	for range vainly {
		l.learn(false, true)
	}
	assert.True(t, l.vain(), "nothing came of it")
	l.learn(true, false)
	require.Eventually(t, func() bool { return !l.vain() }, time.Minute, time.Millisecond, "something did")
}

// A program that has short timers without a break, and does nothing, is soon known for one
// with a timer that repeats, and stays so while it works in between. Work before that
// has it take longer, and so have timers that are not regular. Those it is known by until
// the next wait, as programs have many while they start; a beat for longer.
func TestTimerThatRepeats(t *testing.T) {
	for _, tt := range []struct {
		name, limit string
		known       time.Duration // after which it is
		beats       bool
	}{
		{"regular", "100", shortTimer, true},
		{"irregular", "next(limits)", fruitPatience, false},
	} {
		t.Run(tt.name, func(t *testing.T) { timerThatRepeats(t, tt.limit, tt.known, tt.beats) })
	}
}

func timerThatRepeats(t *testing.T, limit string, known time.Duration, beats bool) {
	cmd := exec.Command("python3", "-c", "import itertools, select\nlimits = itertools.cycle([60, 200, 130, 270])\nwhile True: select.poll().poll("+limit+")")
	require.NoError(t, cmd.Start())
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	pid := cmd.Process.Pid
	var l load
	l.follow([]int{pid})
	another := func() bool {
		armed := l.armed()
		_, waits := l.alarms[pid]
		return armed && waits
	}
	require.Eventually(t, another, time.Minute, time.Millisecond, "the first is new")
	began := l.alarms[pid].since
	require.Eventually(t, another, time.Minute, time.Millisecond, "so is the second")
	l.worked(pid)
	require.True(t, l.alarms[pid].since.After(began), "something came of the ones before")
	began = l.alarms[pid].since
	require.Eventually(t, func() bool {
		l.armed()
		a := l.alarms[pid]
		return a.repeats() && (a.beat.period > 0) == beats
	}, time.Minute, time.Millisecond)
	require.GreaterOrEqual(t, time.Since(began), known, "no chain is taken for it that is waited for")
	l.worked(pid)
	if !beats { // of a beat that depends on how soon it is looked at
		for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); time.Sleep(pace) {
			require.False(t, l.armed(), "it repeats") // asked here: [assert.Never] ends while its last question is asked
		}
	}
	l.anew()
	assert.Equal(t, beats, l.alarms[pid].repeats())
}

// Between the beats of a timer that repeats another one is seen, and what is looked at
// late, or only then and again, is taken for the beat that it is.
func TestBeat(t *testing.T) {
	const ms = time.Millisecond
	at := time.Now()
	b := beat{100 * ms, at}
	for after, want := range map[time.Duration]bool{
		0: true, 92 * ms: true, 108 * ms: true, 295 * ms: true, -100 * ms: true,
		20 * ms: false, 80 * ms: false, 150 * ms: false, 320 * ms: false,
	} {
		assert.Equal(t, want, b.has(30*ms, at.Add(after)), after)
	}
	assert.True(t, b.has(100*ms, at.Add(150*ms)), "looked at late")
	assert.False(t, beat{}.has(0, at), "none is known")
}

// A beat that was known is heard again by two timers that are one period apart, whatever was
// before; others are not it.
func TestBeatIsHeardAgain(t *testing.T) {
	const ms = time.Millisecond
	at := time.Now()
	for apart, want := range map[time.Duration]bool{91 * ms: false, 100 * ms: false, 109 * ms: false, 60 * ms: true, 150 * ms: true} {
		a := alarm{limit: 100 * ms, at: at, beat: beat{100 * ms, at}}
		a, _ = a.next(70*ms, 1, at.Add(1000*ms)) // it was not looked at for long
		assert.True(t, a.beat.at.IsZero())
		a, isNew := a.next(apart-5*ms, 2, a.at.Add(5*ms))
		assert.Equal(t, want, isNew, apart)
		assert.Equal(t, !want, a.beat.at.Equal(a.at), apart)
	}
}

// A timer that is as long as the one before it is another if the program has run in between,
// however late the first was seen; and where it is not told how often it has run, once the
// first must have ended. What is left of one after an event is the same.
func TestNextAsLong(t *testing.T) {
	const ms = time.Millisecond
	set := time.Now()
	for _, tt := range []struct {
		name  string
		limit time.Duration // in milliseconds, after the first of 280 that was seen after 70
		runs  int64         // since the first was seen
		after time.Duration // it was set
		want  bool
	}{
		{"the same still", 280, 0, 279, false},
		{"another", 280, 1, 281, true},
		{"another, as it ends by what was seen", 280, 1, 352, true},
		{"not told how often it has run", 280, 0, 341, false},
		{"not told, and over", 280, 0, 380, true},
		{"what is left after an event", 200, 1, 150, false},
		{"too short to tell", 20, 1, 335, false},
	} {
		first, isNew := alarm{}.next(280*ms, 5, set.Add(70*ms))
		assert.True(t, isNew)
		_, isNew = first.next(tt.limit*ms, 5+tt.runs, set.Add(tt.after*ms))
		assert.Equal(t, tt.want, isNew, tt.name)
	}
}

// Of timers that are too short to tell one from the next none is new but the first, however
// long nobody looked, and after a while they are known for one that repeats. Neither hides
// a longer one that comes after them, and work in between has it take longer.
func TestFlurry(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name   string
		limits []time.Duration // in milliseconds, the ones that are seen, again and again
		works  time.Duration   // in milliseconds, how often
		known  time.Duration   // in milliseconds, when at the latest; 0 is never
	}{
		{"as long as each other", []time.Duration{15}, 0, 400},
		{"some what is left of one", []time.Duration{15, 15, 9, 15, 3}, 0, 400},
		{"almost long enough", []time.Duration{59}, 0, 400},
		{"it works", []time.Duration{15}, 290, 0},
		{"a longer one now and then", []time.Duration{15, 15, 15, 15, 15, 280}, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			start, known, worked, n := time.Now(), time.Duration(0), time.Duration(0), 0
			a, isNew := alarm{}.next(tt.limits[0]*ms, 0, start)
			require.True(t, isNew, "it may lead to something")
			// It is looked at for 25 ms, and not for the 75 of a quiet interval.
			for now := pace; now < 1000*ms; now += pace {
				if tt.works > 0 && now-worked >= tt.works*ms {
					a, worked = a.from(start.Add(now)), now
				}
				if now%(100*ms) > 25*ms {
					continue
				}
				n++
				a, isNew = a.next(tt.limits[n%len(tt.limits)]*ms, int64(now/(5*ms)), start.Add(now))
				require.False(t, isNew && slices.Max(tt.limits)*ms < brief, "after %v", now)
				if a.beat.period > 0 && known == 0 {
					known = now
				}
			}
			if tt.known == 0 {
				assert.Zero(t, a.beat)
				return
			}
			assert.GreaterOrEqual(t, known, shortTimer)
			assert.LessOrEqual(t, known, tt.known*ms)
			assert.Equal(t, slices.Max(tt.limits)*ms, a.beat.period)
			_, isNew = a.next(200*ms, 1000, start.Add(1001*ms))
			assert.True(t, isNew, "what is longer is not it")
		})
	}
}

// A program may use twice what it uses anyway, and what it does at a beat in one look; of a
// beat that was never looked at while nobody waited, it is what blinking costs.
func TestUsual(t *testing.T) {
	const ms = time.Millisecond
	beats := alarm{beat: beat{100 * ms, time.Now()}, flurry: flurry{seen: 1, longest: 15 * ms}}
	for _, tt := range []struct {
		name   string
		alarm  alarm
		idle   float64       // processors
		passed time.Duration // in milliseconds
		want   time.Duration // in microseconds
	}{
		{"no beat", alarm{}, 0.02, 8, 320},
		{"no beat, and nothing is known", alarm{}, 0, 8, 0},
		{"a timer that may be the first of a chain", alarm{limit: 15 * ms, period: 15 * ms, flurry: flurry{longest: 15 * ms}}, 0, 8, 0},
		{"a beat", beats, 0.02, 8, 4000},
		{"more than one beat", beats, 0.02, 300, 12000},
		{"a beat, and nothing is known", beats, 0, 8, 2000},
		{"what may be one", alarm{flurry: flurry{seen: 1, longest: 15 * ms}}, 0, 8, 2000},
	} {
		l := load{pids: map[int]usage{1: {rests: [2]float64{tt.idle, 2 * tt.idle}}}, alarms: map[int]alarm{1: tt.alarm}}
		assert.InDelta(t, tt.want*time.Microsecond, l.usual(1, tt.passed*ms), float64(time.Microsecond), tt.name)
	}
}

// A chain of timers is seen also in a program that has a timer which repeats, however late
// it is looked at; without one nothing is, once the beat is known.
func TestChainBesideABeat(t *testing.T) {
	const ms = time.Millisecond
	start := time.Now()
	// looked looks so often at a program with a beat of a tenth of a second, to which input came
	// after a second, and returns when it was seen to set another timer after that. Each
	// timer of a chain sets the next one.
	looked := func(every time.Duration, chain ...time.Duration) (seen []time.Duration) {
		var a alarm
		beat, due, set, runs := time.Duration(0), time.Hour, time.Duration(0), int64(0) // set: since when it waits
		wake := func(now time.Duration) {
			for beat <= now || due <= now {
				runs++
				if set = min(beat, due); beat <= due {
					beat += 100 * ms
					continue
				}
				if chain = chain[1:]; len(chain) == 0 {
					due = time.Hour
				} else {
					due += chain[0]
				}
			}
		}
		for now := time.Duration(0); now < 2500*ms; now += every {
			if len(chain) > 0 && due == time.Hour && now > 1000*ms {
				wake(1000 * ms)
				set, due, runs = 1000*ms, 1000*ms+chain[0], runs+1
				a.since, a.alike, a.endless = start.Add(now), 0, false // as [load.anew] does
			}
			wake(now)
			next, isNew := a.next(min(beat, due)-set, runs, start.Add(now))
			if a = next; isNew && now > 1000*ms {
				seen = append(seen, now-1000*ms)
			}
		}
		require.Equal(t, 100*ms, a.beat.period.Round(10*ms), "its beat is known")
		return seen
	}
	for _, every := range []time.Duration{ms, pace, 25 * ms} {
		assert.Empty(t, looked(every), "every %v", every)
		seen := looked(every, 20*ms, 220*ms, 35*ms, 180*ms)
		last := slices.IndexFunc(seen, func(at time.Duration) bool { return at >= 275*ms && at <= 455*ms })
		assert.GreaterOrEqual(t, last, 0, "the last link, every %v: %v", every, seen)
	}
}

// Who is found awake has worked, as one whose timer fired; who has a timer that repeats
// has only if it goes on.
func TestAwakeIsNotWorkOfATimerThatRepeats(t *testing.T) {
	cmd := exec.Command("python3", "-c", "while True: pass")
	require.NoError(t, cmd.Start())
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	pid := cmd.Process.Pid
	var l load
	first := func(repeats, want bool) {
		t.Helper()
		require.Eventually(t, func() bool { // at once: it has used nothing since
			l = load{alarms: map[int]alarm{pid: {endless: repeats}}}
			l.follow([]int{pid})
			awake, worked := l.working()
			return awake && worked == want
		}, time.Minute, time.Millisecond)
	}
	first(false, true)
	first(true, false)
	require.Eventually(t, func() bool { _, worked := l.working(); return worked }, time.Minute, time.Millisecond)
}
