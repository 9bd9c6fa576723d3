//go:build linux

package env_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"desktop-agent/internal/x11/x11test"
	"desktop-agent/tasks/env"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestWhatATaskSees(t *testing.T) {
	e := isolated(t, nil)
	assert.True(t, e.Isolation().Files && e.Isolation().Network)
	assert.Empty(t, e.Isolation().Why)
	for _, tt := range []struct{ script, want string }{
		{"id -un", "user\n"},
		{"whoami", "user\n"},
		{"echo $HOME ~ $USER $TMPDIR", "/home/user /home/user user /tmp\n"},
		{"pwd", "/home/user\n"},
		{"ls", "Desktop\nDocuments\nDownloads\nMusic\nPictures\nPublic\nTemplates\nVideos\n"},
		{"ls /home", "user\n"},
		{"ls -a /root 2>&1; ls /work 2>&1", "ls: cannot access '/root': No such file or directory\nls: cannot access '/work': No such file or directory\n"},
		{"touch /etc/x /usr/x 2>&1", "touch: cannot touch '/etc/x': Read-only file system\ntouch: cannot touch '/usr/x': Read-only file system\n"},
		{"cat /etc/shadow 2>&1", "cat: /etc/shadow: Permission denied\n"},
		{"head -c 4 /etc/os-release", "PRET"},
		{"grep -c : /proc/net/dev", "1\n"}, // the loopback
		{"cat /sys/class/net/lo/flags", "0x9\n"},
		{"script -qc tty /dev/null | cut -c 1-9", "/dev/pts/\n"},
		{"grep CapEff /proc/self/status", "CapEff:\t0000000000000000\n"},
		{"echo word | sudo -S id -un; sudo echo a b; echo w | sudo -S sh -c 'cat; echo c'", "user\na b\nc\n"},
		{"ls /tmp/.X11-unix | grep -vx X0", strings.ReplaceAll("X"+strings.TrimPrefix(e.Display(), ":")+"\n", "X0\n", "")},
		{"umask", "0022\n"},
	} {
		assert.Equal(t, tt.want, run(t, e, tt.script), tt.script)
	}
	// Other processes of the machine are not there.
	assert.NotContains(t, run(t, e, "ps -e -o args"), "go test")
}

// Tasks at the same time and one after the other see nothing of each other.
func TestNothingLeaks(t *testing.T) {
	one, two := isolated(t, nil), isolated(t, nil)
	run(t, one, "echo one > /home/user/Desktop/f; echo one > /tmp/f; echo one > /var/tmp/f; echo one >/dev/shm/f; sleep 36217361 & ")
	look := "ls /home/user/Desktop /tmp /var/tmp /dev/shm; pgrep -a -f 'sleep 3621736[1]' || true; ls -d /tmp/.X11-unix/X*"
	seen := run(t, two, look)
	assert.NotContains(t, seen, "f\n")
	assert.NotContains(t, seen, "36217361")
	if one.Display() != ":0" { // by which name every task knows its own
		assert.NotContains(t, seen, "X"+strings.TrimPrefix(one.Display(), ":")+"\n")
	}
	assert.Contains(t, run(t, one, look), "f\n", "the test can see what it looks for")
	assert.Contains(t, run(t, one, look), "sleep 36217361\n")
	// Nor do keys of the kernel, where it has any and makes name spaces of users.
	users := "readlink /proc/self/ns/user"
	apart := run(t, one, users) != run(t, two, users)
	put := fmt.Sprintf(`perl -e 'my @key = ("user", "probe", "x"); print syscall(%d, @key, 1, %d) > 0 ? "a key" : "none"'`, unix.SYS_ADD_KEY, unix.KEY_SPEC_USER_KEYRING)
	find := fmt.Sprintf(`perl -e 'my @key = ("user", "probe"); print syscall(%d, %d, %d, @key, 0) > 0 ? "a key" : "none"'`,
		unix.SYS_KEYCTL, unix.KEYCTL_SEARCH, unix.KEY_SPEC_USER_KEYRING)
	require.Equal(t, run(t, one, put), run(t, one, find), "the test can see what it looks for")
	if apart {
		assert.Equal(t, "none", run(t, two, find))
	}
	for _, folder := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		assert.NoFileExists(t, folder+"/f")
	}
	require.NoError(t, one.Close())
	three := isolated(t, nil)
	assert.NotContains(t, run(t, three, look), "f\n")
	assert.NotContains(t, run(t, three, look), "36217361")
	if apart {
		assert.Equal(t, "none", run(t, three, find))
	}
}

func TestNetworkIsOff(t *testing.T) {
	e := isolated(t, nil)
	out, err := e.Run(t.Context(), env.Command{Args: []string{"bash", "-c", "exec 3<>/dev/tcp/192.0.2.1/80"}, Limit: time.Minute})
	require.NoError(t, err)
	assert.Contains(t, string(out.Stderr), "Network is unreachable")
}

// When the program that started an environment is killed, nothing of it stays.
func TestOwnerKilled(t *testing.T) {
	require.NoError(t, isolated(t, nil).Close()) // a namespace is what ends some of them
	owner, line := startOwner(t, "owner")
	var folder, display string
	_, err := fmt.Sscan(line, &folder, &display)
	require.NoError(t, err)
	server := x11test.ServerOf(t, display)
	require.Eventually(t, func() bool { return len(sleepers()) == 4 }, time.Minute, 20*time.Millisecond)
	require.NoError(t, owner.Process.Kill())
	require.Error(t, owner.Wait())
	require.Eventually(t, func() bool {
		_, err := os.Stat(folder)
		return len(sleepers()) == 0 && len(carriers(folder)) == 0 && os.IsNotExist(err)
	}, time.Minute, 20*time.Millisecond)
	requireNothingLeft(t, folder, server)
}

// sleepers returns the processes of TestOwnerKilled and TestCloseEndsTheLoose: they have
// the number of this process in their command lines, as others may test at the same time.
func sleepers() []string {
	out, _ := exec.Command("pgrep", "-x", "-f", fmt.Sprintf(`sleep 361[1-4]\.%d`, os.Getpid())).Output()
	return strings.Fields(string(out))
}

func TestCloseEndsTheLoose(t *testing.T) {
	e := isolated(t, nil)
	run(t, e, fmt.Sprintf("setsid sleep 3611.%[1]d & (setsid sh -c 'exec env -i sleep 3612.%[1]d' &) ; (trap '' TERM; sleep 3613.%[1]d)& ", os.Getpid()))
	require.Eventually(t, func() bool { return len(sleepers()) == 3 }, time.Minute, 20*time.Millisecond)
	require.NoError(t, e.Close())
	assert.Empty(t, sleepers())
	_, err := e.Run(t.Context(), env.Command{Args: []string{"true"}})
	require.Error(t, err, "nothing runs any more")
}

// A normal user's environment is as root's.
func TestNormalUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("the other tests run as a normal user")
	}
	require.NoError(t, isolated(t, nil).Close()) // else that user could not either
	cmd := asUser(t, "user")
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "bubblewrap does not work here") {
		t.Skip("not held here for a normal user: ", string(out))
	}
	require.NoError(t, err, string(out))
	assert.Contains(t, string(out), "{Files:true Network:true Why: Limits:}\nuser\n/home/user\nDesktop\n")
	assert.Contains(t, string(out), "connection refused")
}

// A task's computer is the same whoever may read what the process makes that starts it.
func TestStrictUmask(t *testing.T) {
	require.NoError(t, isolated(t, nil).Close())
	out, err := inRole(t, "strict").CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Equal(t, "PRETuser\n0022\n644\n", string(out))
}

// Where bubblewrap is missing, or is not let, there is no task, and the error says
// what to do. One that is not isolated by name rewrites paths, and says so.
func TestNoIsolation(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", folder)
	for _, name := range []string{"Xvfb", "openbox", "dbus-daemon", "nsenter"} {
		require.NoError(t, os.Symlink("/usr/bin/"+name, filepath.Join(folder, name)))
	}
	refused := func(why, do string) {
		t.Helper()
		_, err := env.Start(t.Context(), nil)
		no, ok := errors.AsType[*env.NoIsolationError](err)
		require.True(t, ok, err)
		assert.Contains(t, no.Why, why)
		assert.Contains(t, no.Do, do)
		_, err = env.Probe(t.Context(), nil)
		require.ErrorContains(t, err, why)
	}
	refused("bubblewrap is not installed", "apt-get install bubblewrap")
	script := "#!/bin/sh\necho no permission to make a namespace >&2\nexit 1\n"
	require.NoError(t, os.WriteFile(filepath.Join(folder, "bwrap"), []byte(script), 0o755))
	refused("bubblewrap does not work here: no permission to make a namespace", "max_user_namespaces")

	// A container that nobody enters.
	require.NoError(t, os.Remove(filepath.Join(folder, "bwrap")))
	require.NoError(t, os.Symlink("/usr/bin/bwrap", filepath.Join(folder, "bwrap")))
	require.NoError(t, os.Remove(filepath.Join(folder, "nsenter")))
	script = "#!/bin/sh\ncase \"$*\" in *--mount*) echo no way in >&2; exit 1;; esac\nexec /usr/bin/nsenter \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(folder, "nsenter"), []byte(script), 0o755))
	_, err := env.Start(t.Context(), nil)
	no, ok := errors.AsType[*env.NoIsolationError](err)
	require.True(t, ok, err)
	assert.Contains(t, no.Why, "no way in")

	e := start(t, &env.Options{Unisolated: true})
	assert.Contains(t, e.Isolation().Why, "not isolated, as was asked for")
	assert.True(t, e.Network())
	home, err := e.Host(env.Home)
	require.NoError(t, err)
	assert.Equal(t, home+"\n", run(t, e, "echo $HOME"))
	assert.Equal(t, home+" '"+home+"/a' /home/user2 /home/user-x x/home/user:"+home+" "+home+".\n",
		run(t, e, "echo \"/home/user '/home/user/a' /home/user2 /home/user-x x/home/user:/home/user /home/user.\""))
	assert.NotEqual(t, "0\n", run(t, e, "id -u"), "never root")
}
