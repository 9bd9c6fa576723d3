//go:build linux

package main

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
)

// A terminal is a real one of the kernel, with what a person would see on it.
type terminal struct {
	*os.File // the side of the program
	master   *os.File
	mu       sync.Mutex
	raw      []byte
}

func newTerminal(t *testing.T, columns uint16) *terminal {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	v := &terminal{master: master}
	var number, unlock int32
	ioctl(t, master, syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	ioctl(t, master, syscall.TIOCGPTN, unsafe.Pointer(&number))
	v.resize(t, columns)
	v.File, err = os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			v.take(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		v.File.Close()
		<-done // the master's end comes with that of the other side
		master.Close()
	})
	return v
}

func (v *terminal) resize(t *testing.T, columns uint16) {
	size := [4]uint16{24, columns}
	ioctl(t, v.master, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
}

func ioctl(t *testing.T, f *os.File, request uintptr, arg unsafe.Pointer) {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(arg))
	require.Zero(t, errno)
}

func (v *terminal) take(b []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.raw = append(v.raw, b...)
}

var escapes = regexp.MustCompile("\x1b\\[(\\d*)([AJ])|\r|\n|[^\x1b\r\n]+")

// screen returns the lines that a person sees, once everything has arrived.
// The terminal of the test does not wrap lines: none may be that long.
func (v *terminal) screen(t *testing.T) []string {
	const mark = "<all is here>"
	_, err := v.WriteString(mark)
	require.NoError(t, err)
	var raw string
	require.Eventually(t, func() bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		at := bytes.Index(v.raw, []byte(mark))
		if at >= 0 {
			v.raw = append(v.raw[:at:at], v.raw[at+len(mark):]...)
			raw = string(v.raw)
		}
		return at >= 0
	}, time.Minute, time.Millisecond)
	lines, row, col := []string{""}, 0, 0
	for _, m := range escapes.FindAllStringSubmatch(raw, -1) {
		switch {
		case m[0] == "\r":
			col = 0
		case m[0] == "\n":
			if row++; row == len(lines) {
				lines = append(lines, "")
			}
		case m[2] == "A":
			up, err := strconv.Atoi(m[1])
			require.NoError(t, err)
			row -= up
		case m[2] == "J":
			lines = lines[:row+1]
			lines[row] = string([]rune(lines[row])[:col])
		default:
			lines[row] = string([]rune(lines[row])[:col]) + m[0]
			col = len([]rune(lines[row]))
		}
	}
	return lines
}

// tell shows a short run that has everything in it.
func tell(p *progress) *planner.Plan {
	plan := &planner.Plan{Steps: []planner.Step{{ID: "s1", Goal: "Explore the menu", Status: planner.Pending}, {ID: "s2", Goal: "Find the end", Status: planner.Pending}}}
	for _, data := range []run.EventData{
		run.RunStarted{Task: "Log in", Guard: "none"},
		run.Observed{},
		run.Planned{Plan: plan},
		run.ModelCalled{Dollars: 0.0123},
		run.Proposed{Thought: "evil \x1b]0;title\x07 \u202etext \u009b31m", Actions: []run.Recorded{{Action: actuator.Type{Text: "hunter2"}}}},
		run.Reviewed{Verdict: run.Go},
		run.Acting{Action: run.Recorded{Action: actuator.Type{Text: "hunter2"}}},
	} {
		p.Watch(run.Event{Step: 1, Data: data})
	}
	return plan
}

// --json writes events in their form on disk.
func TestJSONLines(t *testing.T) {
	var out bytes.Buffer
	watch := jsonLines(console{Out: &out, Err: io.Discard})
	watch(run.Event{Seq: 3, Step: 1, Kind: "proposed", Data: run.Proposed{FrameID: "f0001", Thought: "a<b", Actions: []run.Recorded{{Action: actuator.Copy{}}}}})
	watch(run.Event{Seq: 4, Step: 1, Kind: "batch_stopped", Data: run.BatchStopped{Reason: "gone"}})
	assert.Equal(t, `{"seq":3,"time":"0001-01-01T00:00:00Z","step":1,"kind":"proposed","data":{"frame_id":"f0001","thought":"a<b","expect":"","actions":[{"action":"copy"}],"error":""}}
{"seq":4,"time":"0001-01-01T00:00:00Z","step":1,"kind":"batch_stopped","data":{"reason":"gone"}}
`, out.String())
}

func TestStatusLine(t *testing.T) {
	v := newTerminal(t, 200)
	p := newProgress(v, 30, true)
	tell(p)
	want := []string{
		"task: Log in",
		"note: no guard is active; actions are performed without a review of their effects",
		"plan:",
		"  ▸ Step 1: Explore the menu",
		"    Step 2: Find the end",
		"   1  type 7 characters",
		"      because: evil �]0;title� �text �31m",
	}
	const status = `^0:\d\d · step 1 of 30 · \$0\.0123 · type 7 characters( for \d+ s)? · ▸ 1/2 Explore the menu$`
	lines := v.screen(t)
	require.Len(t, lines, len(want)+1)
	assert.Equal(t, want, lines[:len(want)])
	assert.Regexp(t, status, lines[len(want)])

	// It ticks, on its line.
	ticks := regexp.MustCompile(`characters for [1-9]\d* s`)
	require.Eventually(t, func() bool { return ticks.MatchString(v.screen(t)[len(want)]) }, time.Minute, 100*time.Millisecond)
	assert.Len(t, v.screen(t), len(want)+1)

	// While the user is asked it stands still.
	resume := p.Pause()
	assert.Equal(t, append(want, ""), v.screen(t))
	p.Watch(run.Event{Step: 1, Data: run.Acted{Status: actuator.Delivered}})
	assert.Equal(t, append(want, ""), v.screen(t))
	resume()

	p.Watch(run.Event{Step: 1, Data: run.Acted{Status: actuator.NoEffect, Detail: "nothing moved"}})
	want = append(want, "      no effect: nothing moved")
	p.Watch(run.Event{Step: 2, Data: run.Observed{}})
	assert.Regexp(t, `step 2 of 30 .* thinking`, v.screen(t)[len(want)])

	p.Close()
	p.Close() // does no harm
	assert.Equal(t, append(want, ""), v.screen(t), "the status line is gone")
	v.mu.Lock()
	raw := string(v.raw)
	v.mu.Unlock()
	assert.NotContains(t, raw, "hunter2")
	for _, control := range []string{"\x07", "\x1b]", "\u202e", "\u009b"} {
		assert.NotContains(t, raw, control, "text of the screen cannot control the terminal")
	}
}

// TestNarrow: nothing is wider than the terminal, also after it was resized.
func TestNarrow(t *testing.T) {
	v := newTerminal(t, 40)
	p := newProgress(v, 30, true)
	tell(p)
	p.Watch(run.Event{Step: 1, Data: run.Proposed{Thought: strings.Repeat("漢字 word ", 20)}})
	for _, line := range v.screen(t) {
		assert.Less(t, columnsOf(line), 40, line)
	}
	assert.Contains(t, v.screen(t), "note: no guard is active; actions are")
	before := len(v.screen(t))

	p.Pause()()
	v.resize(t, 13)
	p.Watch(run.Event{Step: 1, Data: run.Observed{}})
	lines := v.screen(t)
	assert.Less(t, columnsOf(lines[len(lines)-1]), 13)
	assert.Len(t, lines, before)
	p.Close()

	// A status of 39 columns stands on three lines of 13.
	p = &progress{width: func() int { return 13 }, status: 39}
	assert.Equal(t, "\r\x1b[2A\x1b[J", p.cleared())
}

// TestPlainLines: where there is no terminal, lines are as long as they are.
func TestPlainLines(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, 30, true)
	tell(p)
	p.Watch(run.Event{Data: run.Planning{Phase: 1, Label: "Working on it..."}})
	p.Watch(run.Event{Data: run.Planning{Phase: 1, Usage: llm.Usage{Input: 4711}}})
	p.Watch(run.Event{Data: run.Planning{Phase: 3, Label: "Building execution plan...", Sub: true}})
	p.Watch(run.Event{Data: run.PlanMade{Result: planner.MadePlan, Notes: []string{"it was asked for as text"}}})
	p.Watch(run.Event{Step: 2, Data: run.Planned{Error: "no answer"}})
	p.Watch(run.Event{Step: 2, Data: run.Assessed{Error: "no answer"}})
	p.Watch(run.Event{Step: 2, Data: run.Proposed{Error: "line 1: import is not understood"}})
	p.Watch(run.Event{Step: 2, Data: run.Reviewed{Verdict: run.Regenerate, Guidance: "try the menu"}})
	p.Watch(run.Event{Step: 2, Data: run.GoalChecked{Missing: "no file\nis there"}})
	p.Close()
	for _, want := range []string{"\nWorking on it...\n  Building execution plan...\n  note: it was asked for as text\n", "\nplan: none for now: no answer\n", "\nprogress is not known: no answer\n",
		"\n   2  the reply is no action: line 1: import", "\n      regenerate: try the menu\n", "\n      not done yet: no file is there\n"} {
		assert.Contains(t, out.String(), want)
	}
	assert.NotContains(t, out.String(), "\x1b")
	assert.NotContains(t, out.String(), "\r")
	assert.NotContains(t, out.String(), "hunter2")
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"a": "a", "a\nb": "a; b", "x: a\na": "x: a", "evil \x1b[2J": "evil �[2J",
	} {
		assert.Equal(t, want, oneLine(assertError(text)))
	}
}

type assertError string

func (e assertError) Error() string { return string(e) }
