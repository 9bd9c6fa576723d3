//go:build linux

package env_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"desktop-agent/internal/x11"
	"desktop-agent/tasks/env"

	"github.com/jezek/xgb/shm"
	"github.com/jezek/xgb/xproto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// look is what a hostile command tries, and says what it got: devices, the terminal,
// open files, memory of others, and who it is.
const look = `echo "devices: $(ls /dev | sort | tr '\n' ' ')"
(echo written >/dev/tty) 2>/dev/null && echo HAS A TERMINAL
for name in /dev/pts/*; do [ "$name" = /dev/pts/ptmx ] || echo "terminal: $name"; done
echo "open: $(ls -l /proc/self/fd | sed -n 's/.* -> //p' | tr '\n' ' ')"
echo "segments: $(($(wc -l </proc/sysvipc/shm) - 1))"
echo "memory: $(ls /dev/shm)"
touch /x /dev/x /run/x 2>/dev/null && echo WRITES OUTSIDE
echo "user: $(id -u)"
cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | grep -o probe-secret.*
exit 0`

// hostile is the role that has a command look around.
func hostile() error {
	e, err := env.Start(context.Background(), nil)
	if err != nil {
		return err
	}
	out, err := e.Run(context.Background(), env.Command{Args: []string{look}, Shell: true})
	fmt.Printf("%s%s.\n", out.Stdout, out.Stderr)
	return errors.Join(err, e.Close())
}

// asUser returns a command that runs this test binary in a role as a normal user, who
// gets a /proc that can be read, which not every machine has, and whose home is not to
// be written.
func asUser(t *testing.T, roleName string) *exec.Cmd {
	t.Helper()
	return inProc(t, roleName, "555", "setpriv", "--reuid", "61234", "--regid", "61234", "--clear-groups")
}

// inProc returns a command that runs this test binary in a role, behind a prefix, with
// a /proc of its own that has a mode.
func inProc(t *testing.T, roleName, mode string, prefix ...string) *exec.Cmd {
	t.Helper()
	need(t, "unshare")
	folder, err := os.MkdirTemp("/tmp", "env-test-")
	require.NoError(t, err)
	t.Cleanup(func() {
		left, err := os.ReadDir(folder)
		require.NoError(t, err)
		assert.Len(t, left, 1, "only the test itself is left")
		os.RemoveAll(folder)
	})
	require.NoError(t, os.Chmod(folder, 0o777))
	self, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(folder+"/test", self, 0o755))
	args := []string{"--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", `chmod "$0" /proc; exec "$@"`, mode}
	cmd := exec.Command("unshare", append(append(args, prefix...), folder+"/test")...)
	cmd.Dir = folder
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/usr", "TMPDIR=" + folder, role + "=" + roleName}
	return cmd
}

// A task's command has no device of the machine, no terminal, no file that the
// program was started with, and no memory that others share. It never is root.
// Both holds for root's tasks and those of a normal user.
func TestDoors(t *testing.T) {
	require.NoError(t, isolated(t, nil).Close())
	need(t, "script")
	held := filepath.Join(t.TempDir(), "held")
	require.NoError(t, os.WriteFile(held, nil, 0o600))
	segment, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, 0o666|unix.IPC_CREAT)
	require.NoError(t, err)
	defer func() { _, _ = unix.SysvShmCtl(segment, unix.IPC_RMID, nil) }()
	ways := map[string]*exec.Cmd{"this user": inRole(t, "hostile")}
	if os.Getuid() == 0 {
		ways["a normal user"] = asUser(t, "hostile")
	}
	for name, cmd := range ways {
		t.Run(name, func(t *testing.T) {
			line := "exec 7<>" + held + "; exec '" + strings.Join(cmd.Args, "' '") + "'"
			probe := exec.Command("script", "-qec", line, "/dev/null")
			probe.Env = append(cmd.Env, "PROBE_KEY=probe-secret-1")
			probe.Dir, probe.Stdin = cmd.Dir, strings.NewReader("")
			out, err := probe.CombinedOutput()
			text := strings.ReplaceAll(string(out), "\r", "")
			if strings.Contains(text, "bubblewrap does not work here") {
				t.Skip("not held here for a normal user: ", text)
			}
			require.NoError(t, err, text)
			t.Log(text)
			assert.Contains(t, text, "devices: core fd full null ptmx pts random shm stderr stdin stdout tty urandom zero \n")
			assert.NotContains(t, text, "HAS A TERMINAL")
			assert.NotContains(t, text, "written")
			assert.NotContains(t, text, "terminal: /dev/pts/0")
			assert.NotContains(t, text, "held")
			assert.Regexp(t, `open: /dev/null pipe:\[\d+\] pipe:\[\d+\] /proc/\d+/fd \n`, text)
			assert.Contains(t, text, "segments: 0\nmemory: \n")
			assert.NotContains(t, text, "WRITES OUTSIDE")
			assert.NotContains(t, text, "user: 0\n")
			assert.NotContains(t, text, "probe-secret")
		})
	}
}

// attach has the X server of a task read and write a segment of shared memory.
func attach(t *testing.T, e *env.Env, segment int) error {
	t.Helper()
	conn, err := x11.Dial(e.Display())
	require.NoError(t, err)
	defer func() { conn.Close(); <-conn.Closed() }()
	require.NoError(t, conn.Extension("MIT-SHM"))
	id, err := shm.NewSegId(conn.Conn)
	require.NoError(t, err)
	return shm.AttachChecked(conn.Conn, id, uint32(segment), false).Check()
}

// The shared memory of a task is its own, and so is that which its X server reads and
// writes: it has what the task's programs made, and neither the machine's nor another
// task's.
func TestNoSharedMemory(t *testing.T) {
	machine, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, 0o666|unix.IPC_CREAT)
	require.NoError(t, err)
	defer func() { _, _ = unix.SysvShmCtl(machine, unix.IPC_RMID, nil) }()
	one := isolated(t, nil)
	require.Error(t, attach(t, one, machine))
	made := run(t, one, "ipcmk -p 0666 -M 4096 | grep -o '[0-9]*$'; ipcmk -Q >/dev/null")
	segment, err := strconv.Atoi(strings.TrimSpace(made))
	require.NoError(t, err)
	require.NoError(t, attach(t, one, segment), "the probe sees what it looks for")
	count := "echo $(($(wc -l </proc/sysvipc/shm) + $(wc -l </proc/sysvipc/msg)))"
	assert.Equal(t, "4\n", run(t, one, count), "the probe sees what it looks for")
	two := isolated(t, nil)
	assert.Equal(t, "2\n", run(t, two, count))
	require.Error(t, attach(t, two, segment))
}

// TestSystemLinks: of /etc a task sees what is on the machine, also in a folder of links,
// and cannot write there.
func TestSystemLinks(t *testing.T) {
	e := isolated(t, nil)
	const look = "find /etc -type d ! -perm -005 -prune -o -type l ! -path /etc/resolv.conf ! -path /etc/hosts -printf '%p %l\\n' | sort"
	want, err := exec.Command("sh", "-c", look).Output()
	require.NoError(t, err)
	require.Equal(t, string(want), run(t, e, look))
	const many = "/etc/alternatives"
	if links, _ := filepath.Glob(many + "/*"); len(links) < 20 {
		t.Skip("no folder of links is on this machine")
	}
	require.Contains(t, run(t, e, "ls -ld "+many), "drwxr-xr-x")
	require.Contains(t, run(t, e, "touch "+many+"/x 2>&1; rm -f "+many+"/awk 2>&1"), "Read-only file system")
	host, err := exec.Command("sh", "-c", "ls "+many+"; cat "+many+"/README").Output()
	if err == nil {
		require.Equal(t, string(host), run(t, e, "ls "+many+"; cat "+many+"/README"))
	}
}

// Programs that take more than a task may have are ended, and it is said what they
// took: whether control groups hold them, or this program has to look.
func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		name, script, want string
		limits             env.Limits
	}{
		{"processes", "for i in $(seq 300); do sleep 3671 & done; wait", "its limit of 200 processes and threads", env.Limits{Processes: 200}},
		{"memory", "perl -e 'my $x = \"x\" x 600000000; sleep 3671'", "its limit of 300 MiB of memory", env.Limits{Memory: 300 << 20}},
		{"memory, and the desktop dies", "perl -e 'my $x = \"x\" x 600000000; sleep 5'; pkill -9 dbus-daemon; sleep 3671", "its limit of 300 MiB of memory", env.Limits{Memory: 300 << 20}},
		{"memory in a folder", "cat /dev/zero >/dev/shm/x; sleep 3671", "its limit of 300 MiB of memory", env.Limits{Memory: 300 << 20}},
		{"files", "for i in $(seq 40); do head -c 10000000 /dev/zero > f$i; done; sleep 3671", "its limit of 100 MiB of files", env.Limits{Files: 100 << 20}},
		{"files without a name", "exec bash -c 'for i in {1..40}; do exec {f}>x; rm x; head -c 10000000 /dev/zero >&$f; done; sleep 3671'", "its limit of 100 MiB of files", env.Limits{Files: 100 << 20}},
		{"files that are only mapped", `exec python3 -c 'import mmap, os, time
for i in range(40):
	f = open("x", "w+b"); os.remove("x"); f.truncate(10000000)
	globals()["m%d" % i] = m = mmap.mmap(f.fileno(), 0); f.close(); m.write(b"x" * 10000000)
	for fd in range(3, 50):
		try: os.close(fd)
		except OSError: pass
time.sleep(3671)'`, "its limit of 100 MiB of files", env.Limits{Files: 100 << 20}},
		{"files that no path leads to", "exec perl -e 'for (1..30) { $d = \"d\" x 200; mkdir $d; chdir $d } for (1..40) { open F, \">f$_\"; print F \"x\" x 10000000; close F } sleep 3671'", "its limit of 100 MiB of files", env.Limits{Files: 100 << 20}},
		{"one file", "head -c 400000000 /dev/zero > big; sleep 3671", "its limit of 100 MiB of files", env.Limits{Files: 100 << 20}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := isolated(t, &env.Options{Limits: tt.limits})
			t.Log(e.Isolation().Limits)
			require.NoError(t, e.Exceeded())
			began := time.Now()
			require.NoError(t, e.Start(t.Context(), env.Command{Args: []string{tt.script}, Shell: true}))
			requireOver(t, e, strings.TrimPrefix(tt.want, "its "))
			t.Log(time.Since(began))
		})
	}
}

// What the X server keeps for programs is memory of theirs.
func TestLimitOfPictures(t *testing.T) {
	e := isolated(t, &env.Options{Limits: env.Limits{Memory: 300 << 20}})
	t.Log(e.Isolation().Limits)
	require.NoError(t, paint(e))
	requireOver(t, e, "limit of 300 MiB of memory")
}

// paint has the X server of a task keep pictures of 1 GB, or as many as it can.
func paint(e *env.Env) error {
	conn, err := x11.Dial(e.Display())
	if err != nil {
		return err
	}
	defer func() { conn.Close(); <-conn.Closed() }()
	const side = 4000
	context, err := xproto.NewGcontextId(conn.Conn)
	if err != nil {
		return err
	}
	xproto.CreateGC(conn.Conn, context, xproto.Drawable(conn.Root), xproto.GcForeground, []uint32{1})
	for range 16 {
		picture, err := xproto.NewPixmapId(conn.Conn)
		if err != nil {
			return nil // there is no server any more
		}
		xproto.CreatePixmap(conn.Conn, conn.Screen.RootDepth, picture, xproto.Drawable(conn.Root), side, side)
		fill := []xproto.Rectangle{{Width: side, Height: side}}
		if xproto.PolyFillRectangleChecked(conn.Conn, xproto.Drawable(picture), context, fill).Check() != nil {
			return nil
		}
	}
	select {
	case <-e.Done():
	case <-time.After(time.Minute):
	}
	return nil
}

// requireOver waits until the programs have gone to a limit.
func requireOver(t testing.TB, e *env.Env, want string) {
	t.Helper()
	select {
	case <-e.Done():
	case <-time.After(time.Minute):
		require.Fail(t, "nothing happens")
	}
	limit, ok := errors.AsType[*env.LimitError](e.Err())
	require.True(t, ok, e.Err())
	require.Contains(t, limit.Error(), want)
	require.Equal(t, e.Err(), e.Exceeded())
}

// A task has memory of its own, though that of the machine is full.
func TestFullSharedMemory(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can have a /dev/shm to fill")
	}
	require.NoError(t, isolated(t, nil).Close())
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command("unshare", "--mount", "sh", "-c", `mount -t tmpfs -o size=4k none /dev/shm; head -c 10000 /dev/zero >/dev/shm/full 2>/dev/null; exec "$1"`, "sh", self)
	cmd.Env = append(os.Environ(), role+"=fills")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "100000\n", string(out))
}

// fills is the role that writes to the shared memory of a task.
func fills() error {
	e, err := env.Start(context.Background(), nil)
	if err != nil {
		return err
	}
	out, err := e.Run(context.Background(), env.Command{Args: []string{"head -c 100000 /dev/zero >/dev/shm/x; wc -c </dev/shm/x"}, Shell: true})
	fmt.Printf("%s%s", out.Stdout, out.Stderr)
	return errors.Join(err, e.Close())
}

// greedy is the role that has programs take too much where nobody makes control
// groups for them.
func greedy() error {
	const memory, files = 300 << 20, 100 << 20
	take := fmt.Sprintf("my $n = \"x\"; open F, \">&=\" . syscall(%d, $n, 0); print F \"x\" x 10000000 for 1..40; ", unix.SYS_MEMFD_CREATE)
	// What is hidden is known by what the machine has gained, and others may give up as much
	// meanwhile. So who hides memory or files takes it again and again.
	hide := fmt.Sprintf("exec perl -e 'syscall(%d, %d, 0, 0, 0, 0); ", unix.SYS_PRCTL, unix.PR_SET_DUMPABLE)
	for _, c := range []struct {
		name, script string
		limits       env.Limits
	}{
		{"processes", "for i in $(seq 300); do sleep 3671 & done; wait", env.Limits{Processes: 200}},
		{"memory", "perl -e 'my $x = \"x\" x 600000000; sleep 3671'", env.Limits{Memory: memory}},
		{"memory of a file", "exec perl -e '" + take + "sleep 3671'", env.Limits{Memory: memory}},
		{"memory of one that hides", hide + "for (1..10) { " + take + "sleep 3; close F; sleep 1 } sleep 3671'", env.Limits{Memory: memory}},
		{"memory in a folder", "head -c 400000000 /dev/zero >/dev/shm/x; sleep 3671", env.Limits{Memory: memory}},
		{"memory of nobody", "exec perl -e 'my $s = shmget(0, 400000000, 01600); shmwrite($s, \"x\" x 10000000, $_ * 10000000, 10000000) for 0..39'", env.Limits{Memory: memory}},
		{"pictures", "", env.Limits{Memory: memory}},
		{"files without a name", "exec bash -c 'for i in {1..40}; do exec {f}>x; rm x; head -c 10000000 /dev/zero >&$f; done; sleep 3671'", env.Limits{Files: files}},
		{"files of one that hides", hide + "for (1..4) { for (1..40) { open my $f, \">x\"; unlink \"x\"; print $f \"x\" x 10000000; push @f, $f } sleep 3 } sleep 3671'", env.Limits{Files: files}},
		{"a closed folder", "mkdir d; exec 3>d/a 4>d/b; chmod 0 d; for f in 3 4; do head -c 90000000 /dev/zero >&$f; done; sleep 3671", env.Limits{Files: files}},
	} {
		e, err := env.Start(context.Background(), &env.Options{Limits: c.limits})
		if err != nil {
			return err
		}
		if c.script == "" {
			err = paint(e)
		} else {
			err = e.Start(context.Background(), env.Command{Args: []string{c.script}, Shell: true})
		}
		if err != nil {
			return err
		}
		select {
		case <-e.Done():
		case <-time.After(time.Minute):
		}
		fmt.Printf("%s: %v: %s\n", c.name, e.Err(), e.Isolation().Limits)
		if err := e.Close(); err != nil {
			return err
		}
	}
	return nil
}

// Without control groups the kernel bounds processes, and memory is looked at.
func TestLimitsWithoutGroups(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("TestLimits is that, unless this user may make control groups")
	}
	require.NoError(t, isolated(t, nil).Close())
	out, err := asUser(t, "greedy").CombinedOutput()
	if strings.Contains(string(out), "bubblewrap does not work here") {
		t.Skip("not held here for a normal user: ", string(out))
	}
	require.NoError(t, err, string(out))
	t.Log(string(out))
	require.Contains(t, string(out), "200 processes and threads (rlimit")
	require.Contains(t, string(out), "300 MiB of memory (looked at)")
	const over = ": the task's programs went to their limit of "
	for what, limit := range map[string]string{
		"processes": "200 processes and threads, and", "memory": "300 MiB of memory, and", "memory of a file": "300 MiB of memory, and",
		"memory of one that hides": "300 MiB of memory, and", "memory in a folder": "300 MiB of memory, and", "memory of nobody": "300 MiB of memory, and", "pictures": "300 MiB of memory, and",
		"files without a name": "100 MiB of files, and", "files of one that hides": "100 MiB of files, some where this program cannot look, and", "a closed folder": "100 MiB of files, some where this program cannot look, and",
	} {
		assert.Contains(t, string(out), what+over+limit)
	}
}

// Where /proc is closed to all but root, root's tasks run, and a normal user is told
// why there are none.
func TestClosedProc(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can have a /proc to close")
	}
	require.NoError(t, isolated(t, nil).Close())
	out, err := inProc(t, "hostile", "700").CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "segments: 0")
	out, err = inProc(t, "hostile", "700", "setpriv", "--reuid", "61234", "--regid", "61234", "--clear-groups").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "tasks cannot be kept apart from this machine: /proc is closed to this user: let users enter it")
}
