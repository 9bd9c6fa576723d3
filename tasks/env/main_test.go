//go:build linux

package env_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"desktop-agent/internal/x11/x11test"
	"desktop-agent/tasks/env"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// role is the environment variable that makes this test binary act as another
// program, see [roles].
const role = "ENV_TEST_ROLE"

// roles are programs that tests need as processes of their own.
var roles = map[string]func() error{
	"hostile": hostile, "changed": changed, "fills": fills, "greedy": greedy,
	"sharing": sharing, "during": owns(true), "between": owns(false),
	// owner starts an environment with programs, tells about it, and waits to be killed.
	"owner": func() error {
		ctx := context.Background()
		e, err := env.Start(ctx, nil)
		if err != nil {
			return err
		}
		script := fmt.Sprintf("setsid sleep 3611.%[1]d & (setsid sh -c 'exec env -i sleep 3612.%[1]d' &) ; sleep 3613.%[1]d", os.Getppid())
		if err := e.Start(ctx, env.Command{Args: []string{script}, Shell: true}); err != nil {
			return err
		}
		if err := e.Start(ctx, env.Command{Args: []string{"xterm", "-e", fmt.Sprint("sleep 3614.", os.Getppid())}}); err != nil {
			return err
		}
		if _, err := e.WaitWindow(ctx, nil); err != nil {
			return err
		}
		home, err := e.Host(env.Home)
		fmt.Println(filepath.Dir(home), e.Display())
		if err != nil {
			return err
		}
		select {}
	},
	// strict is a process whose files nobody else may read.
	"strict": func() error {
		syscall.Umask(0o077)
		e, err := env.Start(context.Background(), nil)
		if err != nil {
			return err
		}
		out, err := e.Run(context.Background(), env.Command{Args: []string{"head -c 4 /etc/os-release; id -un; umask; touch a; stat -c %a a"}, Shell: true})
		fmt.Printf("%s%s", out.Stdout, out.Stderr)
		return errors.Join(err, e.Close())
	},
	// user does what a normal user would, in a container where /proc can be read.
	"user": func() error {
		e, err := env.Start(context.Background(), nil)
		if err != nil {
			return err
		}
		out, err := e.Run(context.Background(), env.Command{Args: []string{"sh", "-c", "id -un; echo ~; tty >/dev/null; touch a; ls; ls /root 2>/dev/null"}})
		isolation := e.Isolation()
		isolation.Limits = ""
		fmt.Printf("%+v\n%s%s", isolation, out.Stdout, out.Stderr)
		if err == nil {
			err = e.Start(context.Background(), env.Command{Args: []string{"xterm"}})
		}
		if err == nil {
			_, err = e.WaitWindow(context.Background(), nil)
		}
		if err == nil {
			_, err = e.Dial(context.Background(), "127.0.0.1:9")
			fmt.Println(err)
			err = nil
		}
		if e := e.Close(); err == nil {
			err = e
		}
		return err
	},
}

func TestMain(m *testing.M) {
	if run, ok := roles[os.Getenv(role)]; ok {
		if err := run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(closing{m})
}

// shared is the /etc of the tests' environments that name none: to copy it for each takes
// longer than all else of a start.
var shared env.Etc

// closing are the tests, and the end of what they share.
type closing struct{ *testing.M }

func (c closing) Run() int {
	code := c.M.Run()
	if err := shared.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// inRole returns a command that runs this test binary in a role, with more in its
// environment.
func inRole(t *testing.T, roleName string, more ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), role+"="+roleName), more...)
	return cmd
}

// startOwner starts this test binary in the role of one who waits to be killed, and
// returns the line that it tells first. It is killed when the test ends, or before.
func startOwner(t *testing.T, roleName string, more ...string) (owner *exec.Cmd, line string) {
	t.Helper()
	owner = inRole(t, roleName, more...)
	owner.Stderr = os.Stderr
	out, err := owner.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, owner.Start())
	t.Cleanup(func() { _ = owner.Process.Kill(); _ = owner.Wait() })
	line, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return owner, line
}

// start starts an environment that ends with the test, which then checks that
// nothing is left of it.
func start(t testing.TB, o *env.Options) *env.Env {
	t.Helper()
	var options env.Options
	if o != nil {
		options = *o
	}
	if options.Etc == nil {
		options.Etc = &shared
	}
	e, err := env.Start(t.Context(), &options)
	require.NoError(t, err)
	home, err := e.Host(env.Home)
	require.NoError(t, err)
	folder, server := filepath.Dir(home), x11test.ServerOf(t, e.Display())
	t.Cleanup(func() {
		require.NoError(t, e.Close())
		requireNothingLeft(t, folder, server)
	})
	return e
}

// isolated skips a test where bubblewrap does not work.
func isolated(t testing.TB, o *env.Options) *env.Env {
	t.Helper()
	if _, err := env.Probe(t.Context(), nil); err != nil {
		t.Skip("not held here: ", err)
	}
	return start(t, o)
}

func requireNothingLeft(t testing.TB, folder string, server x11test.Server) {
	t.Helper()
	require.Empty(t, carriers(filepath.Base(folder)), "processes are left")
	require.NoDirExists(t, folder)
	server.RequireGone(t)
}

// carriers returns the command lines of the processes whose environment or
// arguments hold text.
func carriers(text string) []string {
	var found []string
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		env, _ := os.ReadFile(path)
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if bytes.Contains(env, []byte(text)) || bytes.Contains(line, []byte(text)) {
			found = append(found, strings.Split(path, "/")[2]+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
		}
	}
	return found
}

// run runs a script and returns what it printed.
func run(t testing.TB, e *env.Env, script string) string {
	t.Helper()
	out, err := e.Run(t.Context(), env.Command{Args: []string{script}, Shell: true})
	require.NoError(t, err)
	require.Empty(t, string(out.Stderr))
	return string(out.Stdout)
}

// need skips a test where a program is missing.
func need(t testing.TB, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("needs %s, which is not installed", program)
	}
}

// patience is how long a program may take for anything on a busy machine: the first start of
// GIMP in a new home takes 9 s of an idle machine of two cores, and 94 s where seven start at once.
const patience = 5 * time.Minute

// within bounds a wait that should end much earlier.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}
