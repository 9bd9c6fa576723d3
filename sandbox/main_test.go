//go:build linux

package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"desktop-agent/internal/x11"
	"desktop-agent/internal/x11/x11test"
	"desktop-agent/sandbox"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// role is the environment variable that makes this test binary act as another
// program, see [roles].
const role = "SANDBOX_TEST_ROLE"

// displayFile is the variable with the path of the file to which the role server writes its display.
const displayFile = "SANDBOX_TEST_DISPLAY"

// roles are programs that tests need as processes of their own.
var roles = map[string]func() error{
	"inside": inside, "forces": forces, "closes": closes, "closer": closer, "containerless": containerless,
	// parent starts a desktop with programs, tells about it, and waits to be killed.
	"parent": func() error {
		d, err := sandbox.Start(context.Background(), nil)
		if err != nil {
			return err
		}
		// One process of its group hides its environment.
		hidden := fmt.Sprint("sleep ", 1_000_000+os.Getpid())
		if _, err := d.Open(context.Background(), "sh", "-c", "env -i "+hidden+" & exec mousepad"); err != nil {
			return err
		}
		loose := exec.Command("sh", "-c", "setsid sleep 3600 & setsid sh -c 'sleep 3600 & sleep 3600' & exit 0")
		loose.Env = d.Env()
		if err := loose.Run(); err != nil {
			return err
		}
		if err := json.NewEncoder(os.Stdout).Encode(told{Mark: markOf(d), Folder: filepath.Dir(d.Home()), Display: d.Display(), Hidden: hidden}); err != nil {
			return err
		}
		select {}
	},
	// leaver closes a desktop, and tells of it when its guest leaves, which takes for ever.
	"leaver": func() error {
		guest := &sandbox.Guest{}
		d, err := sandbox.Start(context.Background(), &sandbox.Options{Guest: guest})
		if err != nil {
			return err
		}
		guest.Leave = func() error {
			if err := json.NewEncoder(os.Stdout).Encode(told{Folder: d.Folder(), Display: d.Display(), Mark: markOf(d)}); err != nil {
				return err
			}
			select {}
		}
		return d.Close()
	},
	// starter starts a desktop, which takes for ever.
	"starter": func() error {
		_, err := sandbox.Start(context.Background(), nil)
		return err
	},
	// server is an X server that has its socket and comes no further, nor ends when it is asked to.
	"server": func() error {
		signal.Ignore(syscall.SIGTERM)
		_, err := net.Listen("unix", "/tmp/.X11-unix/X"+strings.TrimPrefix(os.Args[1], ":"))
		if err != nil {
			return err
		}
		if err := os.WriteFile(os.Getenv(displayFile), []byte(os.Args[1]), 0o600); err != nil {
			return err
		}
		select {}
	},
	// keeper starts a desktop that outlives it, tells where, and waits to be killed.
	"keeper": func() error {
		d, err := sandbox.Start(context.Background(), &sandbox.Options{KeepFor: time.Minute})
		if err != nil {
			return err
		}
		if _, err := d.Open(context.Background(), "mousepad"); err != nil {
			return err
		}
		if err := json.NewEncoder(os.Stdout).Encode(told{Folder: d.Folder(), Display: d.Display(), Mark: markOf(d)}); err != nil {
			return err
		}
		select {}
	},
	// user does what a normal user would.
	"user": func() error {
		d, err := sandbox.Start(context.Background(), nil)
		if err != nil {
			return err
		}
		_, err = d.Open(context.Background(), "mousepad")
		if e := d.Close(); err == nil {
			err = e
		}
		fmt.Println("uid", os.Getuid())
		return err
	},
	// connect tries to use a display.
	"connect": func() error {
		c, err := x11.Dial("")
		if err == nil {
			c.Close()
		}
		return err
	},
}

type told struct{ Mark, Folder, Display, Hidden string }

func TestMain(m *testing.M) {
	if run, ok := roles[os.Getenv(role)]; ok {
		if err := run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// start starts a desktop that ends with the test, which then checks that
// nothing is left of it.
func start(t testing.TB, o *sandbox.Options) *sandbox.Desktop {
	t.Helper()
	d, err := sandbox.Start(t.Context(), o)
	require.NoError(t, err)
	mark, home, server := markOf(d), d.Home(), x11test.ServerOf(t, d.Display())
	t.Cleanup(func() {
		require.NoError(t, d.Close())
		requireNothingLeft(t, mark, home, server)
	})
	return d
}

func requireNothingLeft(t testing.TB, mark, home string, server x11test.Server) {
	t.Helper()
	require.Empty(t, carriers(mark), "processes of the desktop are left")
	require.NoDirExists(t, home)
	server.RequireGone(t)
}

// markOf returns the variable that marks the processes of a desktop.
func markOf(d *sandbox.Desktop) string {
	env := d.Env()
	return env[slices.IndexFunc(env, func(s string) bool { return strings.HasPrefix(s, "DESKTOP_AGENT_SANDBOX=") })]
}

// carriers returns the command lines of the processes whose environment holds
// text, each after its number.
func carriers(text string) []string {
	var found []string
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		env, err := os.ReadFile(path)
		if err == nil && bytes.Contains(env, []byte(text)) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			found = append(found, strings.Split(path, "/")[2]+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
		}
	}
	return found
}

// pidOf returns the process of a desktop whose command line holds text.
func pidOf(t *testing.T, d *sandbox.Desktop, text string) int {
	t.Helper()
	for _, line := range carriers(markOf(d)) {
		if number, command, _ := strings.Cut(line, " "); strings.Contains(command, text) {
			pid, err := strconv.Atoi(number)
			require.NoError(t, err)
			return pid
		}
	}
	require.Fail(t, "no such process", text)
	return 0
}

// dial connects to a desktop's display until the test ends.
func dial(t testing.TB, d *sandbox.Desktop) *x11.Conn {
	t.Helper()
	c, err := x11.Dial(d.Display())
	require.NoError(t, err)
	t.Cleanup(func() { c.Close(); <-c.Closed() })
	return c
}

// asUser returns a command that runs this test binary in a role, as the user nobody if
// this one is root: it then has a /proc of its own that it may read.
func asUser(t *testing.T, roleName string, env ...string) *exec.Cmd {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "sandbox-test-")
	require.NoError(t, err)
	t.Cleanup(func() {
		left, err := filepath.Glob(filepath.Join(folder, "desktop-agent-*"))
		require.NoError(t, err)
		assert.Empty(t, left, "folders are left")
		os.RemoveAll(folder)
	})
	require.NoError(t, os.Chmod(folder, 0o777))
	self, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	binary := filepath.Join(folder, "test") // go test keeps the original where only its user can read
	require.NoError(t, os.WriteFile(binary, self, 0o755))
	args := []string{binary}
	if os.Getuid() == 0 {
		args = append([]string{"unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
			"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = folder
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/usr", "TMPDIR=" + folder, role + "=" + roleName}, env...)
	return cmd
}

// as runs such a command.
func as(t *testing.T, roleName string, env ...string) ([]byte, error) {
	t.Helper()
	return asUser(t, roleName, env...).CombinedOutput()
}

// soon waits for something that has no event to wait for.
func soon(t testing.TB, condition func() bool, what string) {
	t.Helper()
	require.Eventually(t, condition, time.Minute, 20*time.Millisecond, what)
}

func pidText(p *sandbox.Process) string { return strconv.Itoa(p.PID()) }
