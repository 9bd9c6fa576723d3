package process

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Who computes is not idle, nor who is watched together with one that does; who is stopped is.
func TestIdle(t *testing.T) {
	c := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = c.Wait() })
	require.Eventually(t, func() bool { return AnyRunnable(c.Process.Pid) }, time.Minute, time.Millisecond)
	for _, pids := range [][]int{{c.Process.Pid}, {0, c.Process.Pid}} {
		w := Watch{PIDs: pids}
		for range 3 {
			assert.Zero(t, w.Idle())
		}
	}

	both := Watch{PIDs: []int{c.Process.Pid, 0}}
	assert.Zero(t, both.Idle())
	require.NoError(t, c.Process.Signal(syscall.SIGSTOP))
	require.Eventually(t, func() bool { return !AnyRunnable(c.Process.Pid) }, time.Minute, time.Millisecond)
	both.Idle() // it may have waited for a processor until it was stopped
	first := both.Idle()
	assert.Positive(t, first)
	assert.Equal(t, first+1, both.Idle())
	require.NoError(t, c.Process.Signal(syscall.SIGCONT))
	require.Eventually(t, func() bool { return AnyRunnable(c.Process.Pid) }, time.Minute, time.Millisecond)
	assert.Zero(t, both.Idle())

	unknown := Watch{PIDs: []int{0, os.Getpid()}} // of itself who asks tells nothing
	assert.Equal(t, []int{1, 2}, []int{unknown.Idle(), unknown.Idle()})
}

// Who computes uses the time of a processor, who is stopped does not, and of one that is not
// there nothing is told.
func TestTime(t *testing.T) {
	c := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = c.Wait() })
	used := func() time.Duration {
		d, ok := Time(c.Process.Pid)
		require.True(t, ok)
		return d
	}
	first := used()
	require.Eventually(t, func() bool { return used() > first+5*time.Millisecond }, time.Minute, time.Millisecond)
	require.NoError(t, c.Process.Signal(syscall.SIGSTOP))
	require.Eventually(t, func() bool { return !AnyRunnable(c.Process.Pid) }, time.Minute, time.Millisecond)
	stopped := used()
	time.Sleep(10 * time.Millisecond)
	assert.Equal(t, stopped, used())
	_, ok := Time(1 << 22)
	assert.False(t, ok)
}

// Who waits is given no processor, and who is woken is given one.
func TestMainRuns(t *testing.T) {
	c := exec.CommandContext(t.Context(), "sh", "-c", "read a; read b")
	in, err := c.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = in.Close(); _ = c.Wait() })
	waits := func() bool {
		call, err := os.ReadFile("/proc/" + strconv.Itoa(c.Process.Pid) + "/syscall")
		return err == nil && strings.HasPrefix(string(call), strconv.Itoa(unix.SYS_READ)+" 0x0 ")
	}
	require.Eventually(t, waits, time.Minute, time.Millisecond)
	runs := MainRuns(c.Process.Pid)
	require.Positive(t, runs)
	time.Sleep(50 * time.Millisecond)
	assert.Equal(t, runs, MainRuns(c.Process.Pid))
	_, err = in.Write([]byte("a\n"))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return MainRuns(c.Process.Pid) > runs }, time.Minute, time.Millisecond)
	assert.Zero(t, MainRuns(1<<22))
}
