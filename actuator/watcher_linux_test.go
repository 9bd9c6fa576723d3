package actuator_test

import (
	"bufio"
	"bytes"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/internal/permit"
	"desktop-agent/internal/x11"
	"desktop-agent/internal/x11/x11test"
	"desktop-agent/sandbox"
)

// holdsOn is the variable that makes this test binary a program that holds a key and a
// button down on a display, until it is killed.
const holdsOn = "DESKTOP_AGENT_TEST_HOLDS_ON"

// TestHoldOn is that program, and no test.
func TestHoldOn(t *testing.T) {
	display := os.Getenv(holdsOn)
	if display == "" {
		t.Skip("it is run by others")
	}
	dev := watched(t, display)
	require.NoError(t, do(t, dev, actuator.KeyDown{Key: "ctrl"}, nil))
	require.NoError(t, do(t, dev, actuator.ButtonDown{Button: actuator.Left}, nil))
	fmt.Println("holding")
	for i := 0; ; i++ { // it presses on, so that death may come in the middle of it
		require.NoError(t, do(t, dev, actuator.Hold{Keys: []actuator.Key{"a"}, Milliseconds: 5 + i%7}, nil))
	}
}

// watched opens a device with a watcher. It is the caller's to close.
func watched(t testing.TB, display string) *actuator.Device {
	t.Helper()
	dev, err := actuator.Open(limit(t), permit.Grant(), &actuator.Options{Display: display, Watched: true})
	require.NoError(t, err)
	return dev
}

// holder starts a program that holds a key and a button down.
func holder(t testing.TB, d *sandbox.Desktop) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHoldOn$")
	cmd.Env = append(d.Env(), holdsOn+"="+d.Display(), "DESKTOP_AGENT_API_KEY=sk-not-for-the-watcher")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "holding\n", line)
	return cmd
}

// down reports whether a key or a button is down.
func down(t testing.TB, conn *x11.Conn) bool {
	return state(t, conn) != 0 || !bytes.Equal(nothing, keysDown(t, conn))
}

// watchersOf returns the processes that watch a process, and its environment.
func watchersOf(t testing.TB, parent int) (pids []int, env string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, path := range all {
		stat, err := os.ReadFile(path)
		fields := strings.Fields(string(stat[max(0, bytes.LastIndexByte(stat, ')')):]))
		if err != nil || len(fields) < 3 || fields[2] != strconv.Itoa(parent) || fields[1] == "Z" {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if !strings.HasPrefix(string(line), "desktop-agent-watcher\x00") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		require.NoError(t, err)
		text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		require.NoError(t, err)
		pids, env = append(pids, pid), string(text)
	}
	return pids, env
}

// kills is how often each signal is tried.
func kills(t testing.TB) int {
	n, err := strconv.Atoi(os.Getenv("DESKTOP_AGENT_TEST_KILLS"))
	if err != nil {
		return 2
	}
	require.Positive(t, n)
	return n
}

// TestDeathLetsGo kills a process that holds Ctrl and a mouse button, and goes on
// pressing keys, on a display that lives on. Nothing stays down, or goes down again; how
// long that takes is told, as it is for the machine to say who has a processor.
func TestDeathLetsGo(t *testing.T) {
	d, err := sandbox.Start(t.Context(), &sandbox.Options{Size: image.Pt(640, 480)})
	require.NoError(t, err)
	defer d.Close()
	conn := someone(t, d)
	var took []time.Duration
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGTERM} {
		for range kills(t) {
			cmd := holder(t, d)
			require.True(t, down(t, conn), "it holds")
			require.NoError(t, cmd.Process.Signal(signal))
			ended := make(chan time.Time, 1)
			go func() {
				_, _ = cmd.Process.Wait() // it is killed
				ended <- time.Now()
				_ = cmd.Wait()
			}()
			var death, last time.Time // last is when something was down
			var pace x11test.Pace
			const calm = 400 * time.Millisecond // without anything down since its death
			for began := time.Now(); death.IsZero() || time.Since(death) < calm+pace.Steps(10) || time.Since(last) < calm+pace.Steps(10); {
				require.Less(t, time.Since(began), time.Minute, "%v is its end", signal)
				select {
				case death = <-ended: // later than the signal: with some, what it did is written first
				default:
				}
				if down(t, conn) {
					last = time.Now()
				}
				pace.Beat(t, conn)
			}
			after := max(0, last.Sub(death))
			took = append(took, after)
		}
	}
	slices.Sort(took)
	t.Logf("%d kills: keys or buttons were down for median %v, max %v", len(took), took[len(took)/2], took[len(took)-1])
}

// TestWatcherIsReplaced kills the watcher: another one takes its place, which lets
// go as well. None of them has what is secret, and none stays behind.
func TestWatcherIsReplaced(t *testing.T) {
	d, err := sandbox.Start(t.Context(), &sandbox.Options{Size: image.Pt(640, 480)})
	require.NoError(t, err)
	defer d.Close()
	conn := someone(t, d)
	cmd := holder(t, d)
	first, env := watchersOf(t, cmd.Process.Pid)
	require.Len(t, first, 1)
	assert.NotContains(t, env, "sk-not-for-the-watcher")
	require.NoError(t, syscall.Kill(first[0], syscall.SIGKILL))
	var second []int
	require.Eventually(t, func() bool {
		second, _ = watchersOf(t, cmd.Process.Pid)
		return len(second) == 1 && second[0] != first[0]
	}, time.Minute, 5*time.Millisecond)
	// It need not watch yet: one that comes too late to be heard lets go as well.
	require.True(t, down(t, conn))
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	require.Eventually(t, func() bool { return !down(t, conn) }, time.Minute, 5*time.Millisecond)
	require.Eventually(t, func() bool { return syscall.Kill(second[0], 0) != nil }, time.Minute, 5*time.Millisecond, "it ends")
}

// TestNobodyToWatch: what nobody would let go is not pressed.
func TestNobodyToWatch(t *testing.T) {
	d, err := sandbox.Start(t.Context(), &sandbox.Options{Size: image.Pt(640, 480)})
	require.NoError(t, err)
	defer d.Close()
	dev := watched(t, d.Display())
	defer dev.Close()
	require.NoError(t, do(t, dev, actuator.Press{Keys: []actuator.Key{"a"}, Count: 1}, nil))
	for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(5 * time.Millisecond) {
		pids, _ := watchersOf(t, os.Getpid())
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
		if err = do(t, dev, actuator.Press{Keys: []actuator.Key{"a"}, Count: 1}, nil); err != nil {
			break
		}
	}
	require.ErrorIs(t, err, actuator.ErrRefused)
	require.ErrorContains(t, err, "cannot be started again")
}

// TestSlowWatcher: a watcher that is given no processor for some seconds, as on a machine that
// does much else, is waited for at the end, and is not killed.
func TestSlowWatcher(t *testing.T) {
	d, err := sandbox.Start(t.Context(), &sandbox.Options{Size: image.Pt(640, 480)})
	require.NoError(t, err)
	defer d.Close()
	dev := watched(t, d.Display())
	require.NoError(t, do(t, dev, actuator.Press{Keys: []actuator.Key{"a"}, Count: 1}, nil))
	pids, _ := watchersOf(t, os.Getpid())
	require.Len(t, pids, 1)
	require.NoError(t, syscall.Kill(pids[0], syscall.SIGSTOP))
	time.AfterFunc(4*time.Second, func() { _ = syscall.Kill(pids[0], syscall.SIGCONT) })
	require.NoError(t, dev.Close())
}
