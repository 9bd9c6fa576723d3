//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/internal/x11"
	"desktop-agent/internal/x11/x11test"
	"desktop-agent/replay"
	"desktop-agent/sandbox"
)

// A victim is the program, killed in the middle of a run, and what it could leave.
type victim struct {
	t       *testing.T
	desktop *sandbox.Desktop // that lives on; nil where the run has one of its own
	conn    *x11.Conn        // to that one
	folder  string           // for all that it makes
	number  int
}

// begin starts a run that holds a key and a button while it types.
func (v *victim) begin(answers ...string) *process {
	v.t.Helper()
	if len(answers) == 0 {
		hold := `pyautogui.keyDown("shift"); pyautogui.mouseDown(300, 300)` + "\n" + `pyautogui.write("agent was here, and here, and there")` + "\n" +
			`time.sleep(0.5)` + "\n" + `pyautogui.mouseUp(); pyautogui.keyUp("shift")`
		answers = []string{strings.ReplaceAll(hold, "; ", "\n"), `pyautogui.hotkey("ctrl", "a")`, strings.ReplaceAll(hold, "; ", "\n"), "DONE: written"}
	}
	var actor []http.HandlerFunc
	for _, answer := range answers {
		actor = append(actor, says(answer))
	}
	e := newEndpoint(v.t, actor...)
	v.number++
	args, env := e.task("--plan=off", "--runs", v.runs()), []string{"TMPDIR=" + v.folder}
	if v.desktop != nil {
		args = []string{"run", "--display", v.desktop.Display(), "--plan=off", "--runs", v.runs(), "--base-url", e.URL + "/v1", "--model", "m", "Write agent was here"}
		env = append(env, "DBUS_SESSION_BUS_ADDRESS="+v.desktop.BusAddress())
	}
	return startWith(v.t, env, args...)
}

func (v *victim) runs() string { return filepath.Join(v.folder, "runs"+strconv.Itoa(v.number)) }

// down reports whether a key or a button is down on the desktop that lives on.
func (v *victim) down() bool {
	if v.conn == nil {
		return false
	}
	keys, err := xproto.QueryKeymap(v.conn.Conn).Reply()
	require.NoError(v.t, err)
	pointer, err := xproto.QueryPointer(v.conn.Conn, v.conn.Root).Reply()
	require.NoError(v.t, err)
	return pointer.Mask != 0 || slices.Max(keys.Keys) != 0
}

// helpers returns the processes that a process has beside it: children, and what carries
// its folder on the command line.
func (v *victim) helpers(of int) (pids []string) {
	all, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(v.t, err)
	for _, path := range all {
		line, _ := os.ReadFile(path + "/cmdline") // it may have ended
		stat, _ := os.ReadFile(path + "/stat")
		fields := strings.Fields(string(stat[max(0, bytes.LastIndexByte(stat, ')')):]))
		if len(fields) > 2 && fields[1] != "Z" && (fields[2] == strconv.Itoa(of) || strings.Contains(string(line), v.folder) && filepath.Base(path) != strconv.Itoa(of)) {
			pids = append(pids, filepath.Base(path))
		}
	}
	return pids
}

// left says what is there of a process that was killed: processes, folders, sockets and
// shared memory.
func (v *victim) left(p *process, helpers, sockets []string) (list []string) {
	for _, pid := range p.leftovers() {
		list = append(list, fmt.Sprint("process ", pid))
	}
	for _, pid := range append(helpers, v.helpers(p.Process.Pid)...) {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err == nil && !bytes.Contains(stat, []byte(") Z ")) {
			line, _ := os.ReadFile("/proc/" + pid + "/cmdline")
			list = append(list, fmt.Sprintf("helper %.60s: %q", stat, line))
		}
	}
	folders, err := filepath.Glob(filepath.Join(v.folder, "desktop-agent-*"))
	require.NoError(v.t, err)
	list = append(list, folders...)
	for _, line := range sockets { // as the watchdog is told
		path, id, known := strings.Cut(line, " ")
		left := false
		if known { // inode and time: else it is another server's
			var stat syscall.Stat_t
			left = syscall.Lstat(path, &stat) == nil && fmt.Sprint(stat.Ino, " ", stat.Ctim.Sec) == id
		} else if conn, err := net.Dial("unix", path); err == nil {
			conn.Close()
		} else { // it was killed while its server started
			left = errors.Is(err, syscall.ECONNREFUSED)
		}
		if left {
			list = append(list, "socket "+path)
		}
	}
	memory, err := os.ReadFile("/proc/sysvipc/shm")
	require.NoError(v.t, err)
	for line := range strings.Lines(string(memory)) {
		if fields := strings.Fields(line); len(fields) > 4 && fields[4] == strconv.Itoa(p.Process.Pid) {
			list = append(list, "shared memory "+fields[1])
		}
	}
	return list
}

// goneWithin is how long what a run had beside it may stay: a second, and one more that
// every program with the race detector sleeps before it ends. What cleans up starts some
// thirty programs one after the other: how long one takes to look meanwhile says how slow
// the machine is just then.
func goneWithin(look time.Duration) time.Duration {
	info, _ := debug.ReadBuildInfo()
	if slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		return 2*time.Second + 20*look
	}
	return time.Second + 20*look
}

// kill kills a run some time after its first event, and checks what becomes of it. It
// returns how long a key or a button was down after it, and whether one was when it was
// killed, and whether the run had ended before.
func (v *victim) kill(signal syscall.Signal, later time.Duration) (down time.Duration, held, early bool) {
	v.t.Helper()
	p := v.begin()
	for end := time.Now().Add(patience); time.Now().Before(end) && !p.ended(); time.Sleep(time.Millisecond) {
		if events, _ := filepath.Glob(filepath.Join(v.runs(), "*", "events.jsonl")); len(events) > 0 {
			break
		}
	}
	time.Sleep(later)
	helpers := v.helpers(p.Process.Pid)
	var sockets []string
	files, err := filepath.Glob(filepath.Join(v.folder, "desktop-agent-*", "xserver"))
	require.NoError(v.t, err)
	for _, file := range files {
		text, _ := os.ReadFile(file) // the run may have ended
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
			sockets = append(sockets, last)
		}
	}
	held, early = v.down(), p.ended()
	dead := make(chan time.Time, 1)
	go func() { <-p.exited; dead <- time.Now() }()
	began := time.Now()
	_ = p.Process.Signal(signal) // it may have ended
	var last time.Time
	var pace x11test.Pace
	for v.conn != nil && time.Since(began) < 400*time.Millisecond+pace.Steps(10) {
		if v.down() {
			last = time.Now()
		}
		pace.Beat(v.t, v.conn)
	}
	down = max(0, last.Sub(began))
	assert.Less(v.t, down, 200*time.Millisecond+pace.Steps(5), "keys and buttons after %v", signal)
	// It ends by itself on some signals, and on some writes first where it was.
	ended := <-dead
	var left []string
	for look := time.Duration(0); ; time.Sleep(10 * time.Millisecond) {
		looked := time.Now() // what this look finds gone was gone when it began, or goes meanwhile
		if left = v.left(p, helpers, sockets); len(left) == 0 || looked.Sub(ended) > goneWithin(look) {
			break
		}
		looked = time.Now()
		_ = naming(v.t, v.folder)
		look = max(look, time.Since(looked))
	}
	assert.Empty(v.t, left, "a second after %v", signal)

	list, err := replay.List(v.runs())
	require.NoError(v.t, err)
	for _, summary := range list {
		stored, err := replay.Open(summary.Dir)
		require.NoError(v.t, err)
		whole, err := stored.Verify(v.t.Context())
		require.NoError(v.t, err)
		assert.True(v.t, whole.Whole(), "after %v: %v", signal, whole.Problems)
	}
	return down, held, early
}

// TestKilled kills runs at random moments by each signal, half of them on a display that
// lives on. Nothing is down there 200 ms later; of processes, folders, sockets and shared
// memory nothing is left after a second; what is on disk is whole; and the next run works.
func TestKilled(t *testing.T) {
	signals := []syscall.Signal{syscall.SIGKILL, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGTERM}
	kills, _ := strconv.Atoi(os.Getenv("DESKTOP_AGENT_TEST_KILLS"))
	if kills == 0 {
		kills = 1
	}
	folder := func() string {
		f, err := os.MkdirTemp("/tmp", "killed-") // short enough for sockets
		require.NoError(t, err)
		t.Cleanup(func() { os.RemoveAll(f) })
		return f
	}
	living := userDesktop(t)
	_, err := living.Open(t.Context(), "mousepad")
	require.NoError(t, err)
	conn, err := x11.Dial(living.Display())
	require.NoError(t, err)
	defer func() { conn.Close(); <-conn.Closed() }()
	victims := []*victim{{folder: folder()}, {folder: folder(), desktop: living, conn: conn}}
	var spans [2]time.Duration // of a whole run
	for i, v := range victims {
		v.t = t
		began := time.Now()
		p := v.begin()
		require.Equal(t, exitDone, p.code(), "%s", p.stderr)
		spans[i] = time.Since(began)
	}
	var took []time.Duration
	after, holding := 0, 0
	for i := range kills * len(signals) {
		signal, at := signals[i%len(signals)], i/len(signals)%2
		if kills == 1 {
			at = i % 2
		}
		v, later := victims[at], time.Duration(rand.Int64N(int64(spans[at])))
		t.Run(fmt.Sprint(i, " ", signal, " after ", later.Round(time.Millisecond)), func(t *testing.T) {
			v.t = t
			down, held, early := v.kill(signal, later)
			took = append(took, down)
			if held {
				holding++
			}
			if early {
				after++
			}
			p := v.begin(`pyautogui.press("right")`, "DONE: written")
			require.Equal(t, exitDone, p.code(), "the next run: %s", p.stderr)
		})
	}
	slices.Sort(took)
	t.Logf("%d kills, %d while keys or buttons were down on the display that lives on, %d after the end; they were down for %v at most", len(took), holding, after, took[len(took)-1])
	if kills >= 10 {
		assert.Positive(t, holding, "the probe sees what it looks for")
	}
}
