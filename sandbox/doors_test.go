//go:build linux

package sandbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"desktop-agent/internal/x11/x11test"
	"desktop-agent/sandbox"

	"github.com/jezek/xgb/shm"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// inside is the role that tells what a program of a desktop was given beside its
// own: open files, and a terminal.
func inside() error {
	d, err := sandbox.Start(context.Background(), nil)
	if err != nil {
		return err
	}
	defer d.Close()
	const look = `ls -l /proc/self/fd | sed -n 's/.* -> //p'; echo written >/dev/tty && echo HAS A TERMINAL
echo "devices: $(ls /dev | sort | tr '\n' ' ')"; for name in /dev/pts/*; do echo "terminal: $name"; done
echo "segments: $(($(wc -l </proc/sysvipc/shm) - 1))"; echo "memory: $(ls /dev/shm)"; touch /dev/x && echo WRITES DEVICES
echo "folder: $PWD"; perl -e "$KEYS" 2>&1; cat /proc/$PPID/environ /proc/$AGENT/environ | tr '\0' '\n' | grep probe-secret; exit 0`
	p, err := d.Launch(sandbox.Command{Args: []string{"sh", "-c", look}, Env: []string{"AGENT=" + strconv.Itoa(os.Getpid()), "KEYS=" + findsKey}})
	if err != nil {
		return err
	}
	<-p.Done()
	fmt.Println("confined:", d.Confined(), "home:", d.Home())
	var parts strings.Builder
	for _, line := range carriers(markOf(d)) { // and of every part of it
		pid, command, _ := strings.Cut(line, " ")
		open, _ := filepath.Glob("/proc/" + pid + "/fd/*")
		for _, fd := range open {
			if target, err := os.Readlink(fd); err == nil && strings.Contains(target, "held") {
				parts.WriteString(command + " has " + target + "\n")
			}
		}
	}
	fmt.Printf("program:\n%s\nparts:\n%s.\n", p.Output(), parts.String())
	return p.Err()
}

// Scripts of perl: one puts a key into a keyring of its session, and becomes another
// program; one looks for that key.
var (
	putsKey = fmt.Sprintf(`my @key = ("user", "probe", "x"); syscall(%d, %d, 0); print "a key\n" if syscall(%d, @key, 1, %d) > 0; exec @ARGV`,
		unix.SYS_KEYCTL, unix.KEYCTL_JOIN_SESSION_KEYRING, unix.SYS_ADD_KEY, unix.KEY_SPEC_SESSION_KEYRING)
	findsKey = fmt.Sprintf(`my @key = ("user", "probe"); print syscall(%d, %d, %d, @key, 0) > 0 ? "HAS A KEY\n" : "keys: none\n"`,
		unix.SYS_KEYCTL, unix.KEYCTL_SEARCH, unix.KEY_SPEC_SESSION_KEYRING)
)

// A program on a desktop has no file open that the agent was started with, nor a key of
// its session, and cannot reach the terminal that the agent was started from. It has no device of the
// machine and no memory that others share, where bubblewrap may make that so. That holds
// for root's desktops and for those of a normal user, whose programs cannot read what
// other programs of that user were started with either.
func TestNothingIsInherited(t *testing.T) {
	if _, err := exec.LookPath("script"); err != nil {
		t.Skip("needs script, which gives a terminal: apt-get install bsdutils")
	}
	held := filepath.Join(t.TempDir(), "held")
	require.NoError(t, os.WriteFile(held, []byte("secret"), 0o600))
	segment, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, 0o666|unix.IPC_CREAT)
	require.NoError(t, err)
	defer func() { _, _ = unix.SysvShmCtl(segment, unix.IPC_RMID, nil) }()
	self, err := os.Executable()
	require.NoError(t, err)
	own := exec.Command(self)
	own.Env = append(os.Environ(), role+"=inside")
	ways := map[string]*exec.Cmd{"this user": own}
	if os.Getuid() == 0 {
		ways["a normal user"] = asUser(t, "inside")
	}
	for name, cmd := range ways {
		t.Run(name, func(t *testing.T) {
			probe := exec.Command("script", "-qec", "exec 7<>"+held+"; exec perl -e \"$PUTS\" '"+strings.Join(cmd.Args, "' '")+"'", "/dev/null")
			probe.Env = append(cmd.Env, "PROBE_KEY=probe-secret-1", "PUTS="+putsKey)
			probe.Dir, probe.Stdin = cmd.Dir, strings.NewReader("")
			out, err := probe.CombinedOutput()
			text := strings.ReplaceAll(string(out), "\r", "")
			require.NoError(t, err, text)
			t.Log(text)
			require.Contains(t, text, "program:")
			assert.NotContains(t, text, "held")
			assert.NotContains(t, text, "HAS A TERMINAL")
			assert.NotContains(t, text, "written")
			assert.Contains(t, text, "pipe:", "the probe sees what is open")
			if strings.Contains(text, "a key\n") { // a kernel may have none
				assert.Contains(t, text, "keys: none")
			}
			assert.NotContains(t, text, "/dev/pts/0")
			if !strings.Contains(text, "confined: <nil>") {
				t.Skip("the rest is not held here: ", text)
			}
			home := regexp.MustCompile(`home: (\S+)`).FindStringSubmatch(text)
			assert.Contains(t, text, "folder: "+home[1]+"\n")
			assert.Contains(t, text, "devices: core fd full null ptmx pts random shm stderr stdin stdout tty urandom zero \n")
			assert.Contains(t, text, "terminal: /dev/pts/ptmx\n")
			assert.Contains(t, text, "segments: 0\nmemory: \n")
			assert.NotContains(t, text, "WRITES DEVICES")
			if name == "a normal user" { // root reads everybody's
				assert.NotContains(t, text, "probe-secret")
			}
		})
	}
}

// The X server takes memory that programs of the desktop made, as on any other one.
func TestMemoryIsShared(t *testing.T) {
	d := start(t, nil)
	p, err := d.Launch(sandbox.Command{Args: []string{"ipcmk", "-p", "0666", "-M", "4096"}})
	require.NoError(t, err)
	<-p.Done()
	segment, err := strconv.Atoi(regexp.MustCompile(`\d+\s*$`).FindString(strings.TrimSpace(p.Output())))
	require.NoError(t, err, p.Output())
	conn := dial(t, d)
	require.NoError(t, conn.Extension("MIT-SHM"))
	id, err := shm.NewSegId(conn.Conn)
	require.NoError(t, err)
	require.NoError(t, shm.AttachChecked(conn.Conn, id, uint32(segment), false).Check())
	if d.Confined() != nil {
		_, err = unix.SysvShmCtl(segment, unix.IPC_RMID, nil)
		require.NoError(t, err)
		t.Skip("it is the machine's memory: ", d.Confined())
	}
	var described unix.SysvShmDesc
	_, err = unix.SysvShmCtl(segment, unix.IPC_STAT, &described)
	require.Error(t, err, "the machine does not have it")
}

// devices tells which /dev programs of a desktop have, and which this program has.
func devices(t *testing.T, d *sandbox.Desktop) (theirs, ours string) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "said"))
	require.NoError(t, err)
	defer file.Close()
	p, err := d.Launch(sandbox.Command{Args: []string{"stat", "-c", "%d", "/dev"}, Stdout: file})
	require.NoError(t, err)
	<-p.Done()
	said, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	var stat syscall.Stat_t
	require.NoError(t, syscall.Stat("/dev", &stat))
	return strings.TrimSpace(string(said)), strconv.FormatUint(stat.Dev, 10)
}

// A desktop starts also where programs cannot have devices of their own, with the
// machine's, and says why: where bubblewrap is missing, where it may not, and where the
// machine's are asked for.
func TestNotConfined(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{"Xvfb", "openbox", "dbus-daemon", "nsenter", "stat"} {
		path, err := exec.LookPath(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(bin, name)))
	}
	check := func(o *sandbox.Options, why string) {
		t.Helper()
		d := start(t, o)
		require.ErrorContains(t, d.Confined(), why)
		theirs, ours := devices(t, d)
		require.Equal(t, ours, theirs)
	}
	check(&sandbox.Options{MachineDevices: true}, "asked for")
	t.Setenv("PATH", bin)
	check(nil, "bubblewrap is not installed: apt-get install bubblewrap")
	require.ErrorContains(t, sandbox.Probe(t.Context()), "not installed")
	script := "#!/bin/sh\necho no permission to make a namespace >&2\nexit 1\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "bwrap"), []byte(script), 0o755))
	check(nil, "bubblewrap does not work here: no permission to make a namespace: see whether")
	require.ErrorContains(t, sandbox.Probe(t.Context()), "no permission")
}

// Who takes a desktop over starts programs in the same container as who began it.
func TestKeptContainer(t *testing.T) {
	if err := sandbox.Probe(t.Context()); err != nil {
		t.Skip("not held here: ", err)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	keeper := exec.Command(self)
	keeper.Env = append(os.Environ(), role+"=keeper")
	out, err := keeper.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, keeper.Start())
	defer func() { _ = keeper.Process.Kill(); _ = keeper.Wait() }()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	require.NoError(t, err)
	var desktop told
	require.NoError(t, json.Unmarshal(line, &desktop))
	server := x11test.ServerOf(t, desktop.Display)
	require.NoError(t, keeper.Process.Kill())
	require.Error(t, keeper.Wait())
	d, err := sandbox.Attach(t.Context(), desktop.Folder, nil)
	require.NoError(t, err)
	require.NoError(t, d.Confined())
	theirs, ours := devices(t, d)
	require.NotEmpty(t, theirs)
	require.NotEqual(t, ours, theirs)
	first := slices.DeleteFunc(carriers(desktop.Mark), func(line string) bool { return !strings.Contains(line, "mousepad") })
	require.Len(t, first, 1)
	_, err = d.Open(t.Context(), "mousepad")
	require.ErrorContains(t, err, "an instance that runs already may have taken over")
	second, err := d.Open(t.Context(), "mousepad", "--disable-server") // not in the one that is there
	require.NoError(t, err)
	require.NoError(t, second.Close())
	require.Contains(t, carriers(desktop.Mark), first[0], "what was opened by who held the desktop before stays")
	require.NoError(t, d.Close())
	requireNothingLeft(t, desktop.Mark, desktop.Folder, server)
}

// A watchdog that is killed is replaced: killing the agent after it still leaves
// nothing.
func TestWatchdogKilled(t *testing.T) {
	parent, desktop := startParent(t, "parent")
	server := x11test.ServerOf(t, desktop.Display)
	old := watchdogs(t, desktop.Folder)
	require.Len(t, old, 1)
	pid, err := strconv.Atoi(old[0])
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	soon(t, func() bool {
		now := watchdogs(t, desktop.Folder)
		return len(now) == 1 && now[0] != old[0]
	}, "another watchdog")

	require.NoError(t, parent.Process.Kill())
	require.Error(t, parent.Wait())
	soon(t, func() bool { return len(naming(desktop.Hidden)) == 0 }, "a process without the mark is left, of whose group only the first watchdog was told")
	soon(t, func() bool { _, err := os.Stat(desktop.Folder); return os.IsNotExist(err) }, "the folder is left")
	requireNothingLeft(t, desktop.Mark, desktop.Folder, server)
}

// A watchdog that has waited for another owner kills what carries the mark, with the group
// that it leads, and no group that it was told of before: that may have ended meanwhile,
// and its number be another's.
func TestWatchdogKillsItsOwn(t *testing.T) {
	script, err := os.ReadFile("files/watchdog.sh")
	require.NoError(t, err)
	leader := func(script string, env ...string) *exec.Cmd {
		cmd := exec.Command("sh", "-c", script+" & echo; wait")
		cmd.Env = append(os.Environ(), env...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // its own number until it is waited for
			_ = cmd.Wait()
		})
		_, err = bufio.NewReader(out).ReadByte()
		require.NoError(t, err)
		return cmd
	}
	for _, tt := range []struct {
		name, keep string
		other      bool // a group without the mark is killed: it was the desktop's a moment ago
	}{{"at once", "0.000", true}, {"after a wait", "0.100", false}} {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			mark := "DESKTOP_AGENT_TEST_MARK=" + folder
			other, ours := leader("sleep 3661"), leader("env -i sleep 3661", mark)
			cmd := exec.Command("sh", "-c", string(script), "desktop-agent-watchdog", folder, mark, tt.keep)
			cmd.Stdin = strings.NewReader(fmt.Sprintln("group", other.Process.Pid))
			text, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", text)
			assert.NoDirExists(t, folder)
			soon(t, func() bool { return ended(ours.Process.Pid) }, "a group that a process with the mark leads is left")
			if tt.other { // who was killed needs a processor to die
				soon(t, func() bool { return ended(other.Process.Pid) }, "a group that it was told of is left")
			} else {
				assert.False(t, ended(other.Process.Pid), "a group that may be another's is killed")
			}
		})
	}
}

// ended reports whether nobody runs in a process group.
func ended(group int) bool {
	out, _ := exec.Command("ps", "-e", "-o", "pgid=,state=").Output()
	for line := range strings.Lines(string(out)) {
		var pgid int
		var state string
		if _, err := fmt.Sscan(line, &pgid, &state); err == nil && pgid == group && state != "Z" {
			return false
		}
	}
	return true
}

// watchdogs returns the watchdogs of a desktop.
func watchdogs(t *testing.T, folder string) []string {
	t.Helper()
	out, err := exec.Command("pgrep", "-f", "desktop-agent-watchdog "+folder).Output()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 1 { // 1 is none
		require.NoError(t, err)
	}
	return strings.Fields(string(out))
}

// When watchdogs are killed again and again the desktop ends, and says why: nobody
// would clean up after a killed agent.
func TestWatchdogsKilled(t *testing.T) {
	d := start(t, nil)
	for d.Err() == nil {
		for _, pid := range watchdogs(t, d.Folder()) {
			n, err := strconv.Atoi(pid)
			require.NoError(t, err)
			_ = syscall.Kill(n, syscall.SIGKILL)
		}
	}
	require.ErrorContains(t, d.Err(), "watchdog died: signal: killed")
	require.NoError(t, d.Close())
}

// A desktop without shared memory shows programs no MIT-SHM.
func TestNoSharedMemory(t *testing.T) {
	for _, without := range []bool{false, true} {
		d := start(t, &sandbox.Options{NoSharedMemory: without})
		err := dial(t, d).Extension("MIT-SHM")
		require.Equal(t, without, err != nil, err)
	}
}
