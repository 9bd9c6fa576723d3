//go:build linux

package getter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"desktop-agent/internal/bus"
	"desktop-agent/internal/process"
	"desktop-agent/screen"
	"desktop-agent/tasks"

	"github.com/godbus/dbus/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A slowProgram tells of a hundred objects, one answer after the other, up to a number of
// answers. The tenth takes a while.
type slowProgram struct {
	name string
	each time.Duration
	most int
	late time.Duration

	mu   sync.Mutex
	said int
	over chan struct{} // closed when the test ends
}

const slowRoot = "/org/a11y/atspi/accessible/root"

// turn waits until it is an answer's turn, or until the test ends if there are no more.
func (p *slowProgram) turn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	wait := p.each
	if p.said++; p.said == 10 {
		wait += p.late
	}
	var passed <-chan time.Time // never, if there are no more
	if p.said <= p.most {
		passed = time.After(wait)
	}
	select {
	case <-passed:
	case <-p.over:
	}
}

func (p *slowProgram) GetState() ([]uint32, *dbus.Error) {
	p.turn()
	return []uint32{1 << 25, 0}, nil
}

func (p *slowProgram) GetInterfaces() ([]string, *dbus.Error) {
	p.turn()
	return nil, nil
}

func (p *slowProgram) GetRoleName() (string, *dbus.Error) {
	p.turn()
	return "label", nil
}

func (p *slowProgram) GetAttributes() (map[string]string, *dbus.Error) {
	p.turn()
	return nil, nil
}

func (p *slowProgram) Get(m dbus.Message, _, property string) (dbus.Variant, *dbus.Error) {
	p.turn()
	path, _ := m.Headers[dbus.FieldPath].Value().(dbus.ObjectPath)
	switch {
	case property == "Name":
		return dbus.MakeVariant(string(path)), nil
	case path == slowRoot:
		return dbus.MakeVariant(int32(100)), nil
	}
	return dbus.MakeVariant(int32(0)), nil
}

func (p *slowProgram) GetChildren() (list []ref, _ *dbus.Error) {
	p.turn()
	for i := range 100 {
		list = append(list, ref{p.name, dbus.ObjectPath("/org/a11y/atspi/accessible/" + strconv.Itoa(i))})
	}
	return list, nil
}

// A program counts as hung once it answers nothing any more, however long each answer
// takes: of a spreadsheet on a crowded machine half of the tree was missing, and what was in
// it counted as not there.
func TestSilence(t *testing.T) {
	e := real(t, nil)
	read := func(p *slowProgram, silence time.Duration, pid int) (*treeReader, []*object) {
		of, err := bus.Connect(t.Context(), e.BusAddress())
		require.NoError(t, err)
		t.Cleanup(func() { of.Close() })
		p.name, p.over = of.Names()[0], make(chan struct{})
		t.Cleanup(func() { close(p.over) })
		for _, iface := range []string{accessible, strings.TrimSuffix(getting, ".Get")} {
			require.NoError(t, of.ExportSubtree(p, "/org/a11y/atspi/accessible", iface))
		}
		require.NoError(t, of.BusObject().Call("org.freedesktop.DBus.GetId", 0).Err) // by its answer all is exported
		by, err := bus.Connect(t.Context(), e.BusAddress())
		require.NoError(t, err)
		t.Cleanup(func() { by.Close() })
		r := newTreeReader(by, view{})
		r.silence = silence
		r.hearing[p.name] = hearing{pid: pid}
		return r, r.read(t.Context(), []ref{{p.name, slowRoot}}, 1, false)
	}
	// Each object is asked six questions, 32 objects at once: an answer takes some 2.3 s.
	slow := &slowProgram{each: 12 * time.Millisecond, most: 10_000}
	begin := time.Now()
	r, tree := read(slow, 2*time.Second, 0)
	assert.Empty(t, r.hung)
	require.Len(t, tree, 1)
	assert.Len(t, tree[0].children, 100)
	assert.Greater(t, time.Since(begin), 3*r.silence, "it took longer than the silence, several times")

	hangs := &slowProgram{most: 300}
	r, _ = read(hangs, 400*time.Millisecond, 0)
	assert.True(t, r.hung[hangs.name], fmt.Sprint(r.hung))

	// One that wants a processor may be silent for longer, and not for ever.
	start := func(command string) int {
		c := exec.CommandContext(t.Context(), "sh", "-c", command)
		require.NoError(t, c.Start())
		t.Cleanup(func() { _ = c.Wait() })
		return c.Process.Pid
	}
	computes := start("while :; do :; done")
	for _, tt := range []struct {
		what  string
		pid   int
		late  time.Duration
		hangs bool
	}{
		{"computes", computes, time.Second, false},
		{"computes for too long", computes, 4 * time.Second, true},
		{"sleeps", start("exec sleep 600"), 3 * time.Second, true},
	} {
		p := &slowProgram{most: 10_000, late: tt.late}
		r, _ = read(p, 400*time.Millisecond, tt.pid)
		assert.Equal(t, tt.hangs, r.hung[p.name], tt.what)
	}
}

// A program hangs if it wants no processor at any of the looks in a silence, nor does the
// server of its display; one that does has the silence anew.
func TestPatience(t *testing.T) {
	for what, of := range map[string]func(pid int) (hearing, int){
		"the program": func(pid int) (hearing, int) { return hearing{pid: pid}, 0 },
		"the server":  func(pid int) (hearing, int) { return hearing{}, pid },
	} {
		t.Run(what, func(t *testing.T) { testPatience(t, of) })
	}
}

func testPatience(t *testing.T, of func(pid int) (hearing, int)) {
	c := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = c.Wait() })
	r := newTreeReader(nil, view{})
	r.silence = time.Hour
	r.hearing["p"], r.server = of(c.Process.Pid)
	begin := time.Now()
	after := func(passed time.Duration) time.Duration {
		begin = begin.Add(-passed)
		h := r.hearing["p"]
		h.wanted, h.looked = h.wanted.Add(-passed), h.looked.Add(-passed)
		r.hearing["p"] = h
		return r.patience("p", begin)
	}
	require.Eventually(t, func() bool { return process.AnyRunnable(c.Process.Pid) }, time.Minute, time.Millisecond)
	assert.InDelta(t, r.silence/process.Looks, after(0), float64(time.Minute))
	assert.Equal(t, r.silence/process.Looks, after(r.silence/process.Looks), "it computes")
	require.NoError(t, syscall.Kill(c.Process.Pid, syscall.SIGSTOP))
	require.Eventually(t, func() bool { return !process.AnyRunnable(c.Process.Pid) }, time.Minute, time.Millisecond)
	h := r.hearing["p"]
	h.watch = process.Watch{PIDs: h.watch.PIDs} // on a busy machine it waited for a processor until it was stopped
	r.hearing["p"] = h
	assert.Equal(t, r.silence/process.Looks, after(r.silence/process.Looks), "the silence is as long from then on")
	assert.Zero(t, after(r.silence/process.Looks))
	assert.True(t, r.hung["p"])
}

// Whose process the bus does not tell is asked for again.
func TestMeet(t *testing.T) {
	e := real(t, nil)
	conn, _, err := bus.ConnectAccessibility(t.Context(), e.BusAddress(), false)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	r := newTreeReader(conn, view{})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		ctx  context.Context
		want int
	}{{over, 0}, {t.Context(), os.Getpid()}, {over, os.Getpid()}} {
		r.meet(tt.ctx, conn.Names()[0])
		assert.Equal(t, tt.want, r.hearing[conn.Names()[0]].pid)
	}
}

// What a program that hangs has not told is not taken for what is not there.
func TestHungProgram(t *testing.T) {
	e := real(t, map[string]string{"a.txt": "one"}, "mousepad")
	launch(t, e, func(w screen.Window) bool { return strings.Contains(w.Title, "a.txt") }, "mousepad", "/home/user/a.txt")
	look := func() error {
		_, err := Get(t.Context(), e, &tasks.Getter{Type: "accessibility_tree"}, nil)
		return err
	}
	require.NoError(t, look())
	windows, err := e.Windows(t.Context())
	require.NoError(t, err)
	stopped := 0
	for _, w := range windows {
		if w.PID > 0 && strings.Contains(w.Title, "a.txt") {
			require.NoError(t, syscall.Kill(w.PID, syscall.SIGSTOP))
			stopped = w.PID
		}
	}
	require.NotZero(t, stopped)
	t.Cleanup(func() { _ = syscall.Kill(stopped, syscall.SIGCONT) })
	err = look()
	no, ok := errors.AsType[*silentError](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, []string{"mousepad"}, no.programs)
	_, err = Get(t.Context(), e, &tasks.Getter{Type: "active_url_from_accessTree", Params: params("goto_prefix", "https://www.")}, nil)
	require.NoError(t, err, "another program is asked for")
}
