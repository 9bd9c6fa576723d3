//go:build linux

package sandbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"desktop-agent/internal/x11/x11test"
	"desktop-agent/sandbox"

	"github.com/stretchr/testify/require"
)

// When the program that started a desktop is killed, nothing of the desktop
// stays: no process, however loose, no folder, no socket.
func TestParentKilled(t *testing.T) {
	parent, desktop := startParent(t, "parent")
	server := x11test.ServerOf(t, desktop.Display)

	running := strings.Join(carriers(desktop.Mark), "\n")
	for _, name := range []string{"Xvfb", "openbox", "mousepad", "sleep 3600", "at-spi2-registryd"} {
		require.Contains(t, running, name)
	}
	require.NotEmpty(t, naming(desktop.Hidden))
	require.NoError(t, parent.Process.Kill())
	require.Error(t, parent.Wait())
	soon(t, func() bool { return len(carriers(desktop.Mark)) == 0 }, "processes of the desktop are left")
	soon(t, func() bool { return len(naming(desktop.Hidden)) == 0 }, "a process without the mark is left")
	soon(t, func() bool { _, err := os.Stat(desktop.Folder); return os.IsNotExist(err) }, "the folder is left")
	requireNothingLeft(t, desktop.Mark, desktop.Folder, server)
	soon(t, func() bool { return len(naming(desktop.Folder)) == 0 }, "the watchdog is left")
}

// startParent starts a program in a role that starts a desktop, to be killed.
func startParent(t *testing.T, of string) (*exec.Cmd, told) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	parent := exec.Command(self)
	parent.Env = append(os.Environ(), role+"="+of)
	parent.Stderr = os.Stderr
	out, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	t.Cleanup(func() { _ = parent.Process.Kill(); _ = parent.Wait() })
	line, err := bufio.NewReader(out).ReadBytes('\n')
	require.NoError(t, err)
	var desktop told
	require.NoError(t, json.Unmarshal(line, &desktop))
	return parent, desktop
}

// A control group that somebody is in for longer, as on a busy machine, goes once it can.
// A folder that is not empty stands for it.
func TestParentKilledGroupBusy(t *testing.T) {
	parent, desktop := startParent(t, "parent")
	group := filepath.Join(t.TempDir(), "group")
	require.NoError(t, os.MkdirAll(filepath.Join(group, "busy"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(desktop.Folder, "groups"), []byte(group+"\n"), 0o600))
	require.NoError(t, parent.Process.Kill())
	require.Error(t, parent.Wait())
	soon(t, func() bool { return len(carriers(desktop.Mark)) == 0 }, "processes of the desktop are left")
	time.Sleep(1500 * time.Millisecond)
	require.DirExists(t, group)
	require.NoError(t, os.Remove(filepath.Join(group, "busy")))
	soon(t, func() bool { _, err := os.Stat(group); return os.IsNotExist(err) }, "the group is left")
	soon(t, func() bool { _, err := os.Stat(desktop.Folder); return os.IsNotExist(err) }, "the folder is left")
}

// A program that is killed while it closes a desktop leaves no control group: the watchdog
// knows of them until they are gone.
func TestKilledWhileClosing(t *testing.T) {
	parent, desktop := startParent(t, "leaver")
	require.Empty(t, carriers(desktop.Mark), "who is left when the guest leaves")
	group := filepath.Join(t.TempDir(), "group")
	require.NoError(t, os.Mkdir(group, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(desktop.Folder, "groups"), []byte(group+"\n"), 0o600))
	require.NoError(t, parent.Process.Kill())
	require.Error(t, parent.Wait())
	soon(t, func() bool { _, err := os.Stat(group); return os.IsNotExist(err) }, "the group is left")
	soon(t, func() bool { _, err := os.Stat(desktop.Folder); return os.IsNotExist(err) }, "the folder is left")
}

// closed is what a program leaves that closes its folders to their owner.
const closed = `mkdir -p a/b/c d; touch a/b/c/file; ln -s / d/root
(cd d; for i in $(seq 500); do mkdir 0123456789; cd -P 0123456789; done; mkdir e; chmod 0 e) # a path of more than 4096 bytes
chmod 0 a/b/c a/b a d ../tmp .`

// closes is the role of a user whose programs close their folders. One desktop is closed,
// and who started another one is killed.
func closes() error {
	kept, err := os.MkdirTemp("", "kept-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Chmod(kept, 0o700); _ = os.RemoveAll(kept) }()
	file := filepath.Join(kept, "file")
	if err := os.WriteFile(file, nil, 0o400); err != nil {
		return err
	}
	d, err := sandbox.Start(context.Background(), nil)
	if err != nil {
		return err
	}
	p, err := d.Launch(sandbox.Command{Args: []string{"sh", "-c", "ln -s \"$0\" link; ln \"$0/file\" hard; chmod 0500 \"$0\"; " + closed, kept}})
	if err != nil {
		return err
	}
	<-p.Done()
	if err := errors.Join(p.Err(), d.Close()); err != nil {
		return fmt.Errorf("%w: %s", err, p.Output())
	}
	for path, mode := range map[string]os.FileMode{file: 0o400, kept: 0o500} {
		if info, err := os.Stat(path); err != nil {
			return err
		} else if info.Mode().Perm() != mode {
			return fmt.Errorf("what a link led to has changed: %v", info.Mode())
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	parent := exec.Command(self)
	parent.Env = append(os.Environ(), role+"=closer")
	out, err := parent.StdoutPipe()
	if err != nil {
		return err
	}
	if err := parent.Start(); err != nil {
		return err
	}
	var desktop told
	err = json.NewDecoder(out).Decode(&desktop)
	_ = parent.Process.Kill()
	_ = parent.Wait()
	if err != nil {
		return err
	}
	for range 3000 { // a minute
		if _, err := os.Lstat(desktop.Folder); os.IsNotExist(err) {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return errors.New("the folder is left")
}

// closer is the role that is killed.
func closer() error {
	d, err := sandbox.Start(context.Background(), nil)
	if err != nil {
		return err
	}
	p, err := d.Launch(sandbox.Command{Args: []string{"sh", "-c", closed}})
	if err != nil {
		return err
	}
	<-p.Done()
	if err := p.Err(); err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(told{Folder: d.Folder()}); err != nil {
		return err
	}
	select {}
}

// A program of a normal user leaves no folder by closing it to its owner, and what links
// in there lead to stays as it is.
func TestClosedFolders(t *testing.T) {
	out, err := as(t, "closes")
	require.NoError(t, err, string(out))
}

// naming returns the processes whose command line holds text.
func naming(text string) []string {
	out, _ := exec.Command("pgrep", "-f", text).Output()
	return strings.Fields(string(out))
}

// A program that hides from a plain search is ended too: one in a session of
// its own, one that lost its parent, one with an empty environment, one that is
// stopped, one that ignores being asked.
func TestCloseEndsTheLoose(t *testing.T) {
	d := start(t, nil)
	for _, script := range []string{
		"setsid sleep 3601.$0 & exit 0",
		"setsid sh -c 'sleep 3602.$0 & exit 0' $0",
		"env -i sleep 3603.$0 & sleep 3603.$0", // found as a child of one that carries the mark
		"sleep 3604.$0 & sleep 0.2; kill -STOP $!; exit 0",
		"trap '' TERM; while :; do sleep 3605.$0; done",
	} {
		cmd := exec.Command("sh", "-c", script, strconv.Itoa(os.Getpid())) // others may test at the same time
		cmd.Env = d.Env()
		require.NoError(t, cmd.Start())
		go func() { _ = cmd.Wait() }()
	}
	soon(t, func() bool { return len(sleepers()) >= 6 }, "sleepers run")
	require.NoError(t, d.Close())
	require.Empty(t, sleepers())
}

// sleepers returns the processes of TestCloseEndsTheLoose.
func sleepers() []string {
	out, _ := exec.Command("pgrep", "-x", "-f", fmt.Sprintf(`sleep 360[1-5]\.%d`, os.Getpid())).Output()
	return strings.Fields(string(out))
}

func TestNormalUser(t *testing.T) {
	out, err := as(t, "user")
	require.NoError(t, err, string(out))
	if os.Getuid() == 0 {
		require.Contains(t, string(out), "uid 65534")
	}
}

// Another user of the machine cannot look at the desktop.
func TestOtherUserIsRefused(t *testing.T) {
	d := start(t, nil)
	out, err := as(t, "connect", "DISPLAY="+d.Display())
	if os.Getuid() != 0 {
		require.NoError(t, err, "the same user may: %s", out)
		return
	}
	require.Error(t, err)
	require.Contains(t, strings.ToLower(string(out)), "authorization")
	dial(t, d) // this one may
}

// What LibreOffice leaves in /tmp when it is killed goes, but not what is in use.
func TestCloseSweepsPipes(t *testing.T) {
	name := func(end string) string {
		return fmt.Sprintf("/tmp/OSL_PIPE_%d_SingleOfficeIPC_test%d%s", os.Getuid(), os.Getpid(), end)
	}
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: name("dead"), Net: "unix"})
	require.NoError(t, err)
	dead.SetUnlinkOnClose(false)
	require.NoError(t, dead.Close())
	require.FileExists(t, name("dead"))
	used, err := net.Listen("unix", name("used"))
	require.NoError(t, err)
	defer used.Close()
	require.NoError(t, start(t, nil).Close())
	require.NoFileExists(t, name("dead"))
	require.FileExists(t, name("used"))
}
