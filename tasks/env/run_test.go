//go:build linux

package env_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"desktop-agent/sandbox"
	"desktop-agent/screen"
	"desktop-agent/tasks/env"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// both runs a test in an environment of each kind.
func both(t *testing.T, test func(*testing.T, *env.Env)) {
	t.Run("bubblewrap", func(t *testing.T) { test(t, isolated(t, nil)) })
	t.Run("unisolated", func(t *testing.T) {
		e := start(t, &env.Options{Unisolated: true})
		require.False(t, e.Isolation().Files || e.Isolation().Network)
		require.Contains(t, e.Isolation().Why, "not isolated, as was asked for")
		test(t, e)
	})
}

func TestRun(t *testing.T) {
	both(t, func(t *testing.T, e *env.Env) {
		out, err := e.Run(t.Context(), env.Command{Args: []string{"sh", "-c", "echo out; echo err >&2; exit 3"}})
		require.NoError(t, err)
		assert.Equal(t, env.Output{Stdout: []byte("out\n"), Stderr: []byte("err\n"), Code: 3}, out)

		out, err = e.Run(t.Context(), env.Command{Args: []string{"no-such-program-here"}})
		require.NoError(t, err)
		assert.Equal(t, 127, out.Code)
		assert.Contains(t, string(out.Stderr), "no-such-program-here")

		run(t, e, "mkdir -p /home/user/a && echo x > /home/user/a/f && echo y>/tmp/g")
		assert.Equal(t, "x\ny\n", run(t, e, "cat /home/user/a/f /tmp/g"))
		out, err = e.Run(t.Context(), env.Command{Args: []string{"cat", "f"}, Dir: "/home/user/a", Env: []string{"A=/home/user"}})
		require.NoError(t, err)
		assert.Equal(t, "x\n", string(out.Stdout))
		assert.Equal(t, "x\n", run(t, e, "cd && cat a/f"))

		// What it leaves behind goes on, and does not hold it up.
		run(t, e, "(while ! [ -e /home/user/go ]; do sleep 0.05; done; echo late > /home/user/late) &")
		run(t, e, "touch /home/user/go")
		require.Eventually(t, func() bool {
			path, err := e.Host("/home/user/late")
			require.NoError(t, err)
			_, err = os.Stat(path)
			return err == nil
		}, time.Minute, 20*time.Millisecond)

		if out, err = e.Run(t.Context(), env.Command{Args: []string{"code", "."}}); !e.Has("code") {
			require.NoError(t, err)
			assert.Equal(t, 127, out.Code)
			assert.Equal(t, "code: Visual Studio Code is not installed on this machine\n", string(out.Stderr))
			require.ErrorIs(t, e.Start(t.Context(), env.Command{Args: []string{"code", "."}}), sandbox.ErrNotInstalled)
		}

		_, err = e.Run(t.Context(), env.Command{})
		require.ErrorContains(t, err, "no command")
		_, err = e.Run(t.Context(), env.Command{Args: []string{"a\x00b"}})
		require.ErrorContains(t, err, "NUL")
		err = e.Start(t.Context(), env.Command{Args: []string{"no-such-program-here"}})
		require.ErrorIs(t, err, sandbox.ErrNotInstalled)
	})
}

func TestRunLimits(t *testing.T) {
	both(t, func(t *testing.T, e *env.Env) {
		var out env.Output
		var err error
		for limit := 300 * time.Millisecond; limit < time.Minute && len(out.Stdout) == 0; limit *= 3 { // which is too short to begin on a busy machine
			out, err = e.Run(t.Context(), env.Command{Shell: true, Limit: limit,
				Args: []string{"echo begun; sleep 3631 & trap '' TERM; while :; do sleep 3631; done"}})
			require.ErrorIs(t, err, env.ErrLimit)
		}
		assert.Equal(t, "begun\n", string(out.Stdout))
		// The kernel takes a moment.
		require.Eventually(t, func() bool {
			return !strings.Contains(strings.Join(carriers("3631"), "\n"), "sleep 3631")
		}, time.Minute, 20*time.Millisecond)

		out, err = e.Run(t.Context(), env.Command{Args: []string{"head", "-c", "20000000", "/dev/zero"}})
		require.NoError(t, err)
		assert.Len(t, out.Stdout, env.MaxOutput)
	})
}

func TestPaths(t *testing.T) {
	both(t, func(t *testing.T, e *env.Env) {
		home, err := e.Host("/home/user")
		require.NoError(t, err)
		folder := t.TempDir()
		source := filepath.Join(folder, "source")
		require.NoError(t, os.WriteFile(source, []byte("text"), 0o600))
		for _, guest := range []string{"/home/user/new folder/f", "~/b", "$HOME/c", "d", "/tmp/e/f", "/var/tmp/g"} {
			require.NoError(t, e.Put(source, guest), guest)
			require.NoError(t, e.Fetch(guest, filepath.Join(folder, "dest"), 4), guest)
			text, err := os.ReadFile(filepath.Join(folder, "dest"))
			require.NoError(t, err)
			assert.Equal(t, "text", string(text))
		}
		assert.Equal(t, "text", run(t, e, "echo -n '' >> 'new folder/f' && cat /home/user/b && test -w . && touch 'new folder/own'"))
		require.ErrorIs(t, e.Fetch("~/b", filepath.Join(folder, "x"), 3), env.ErrTooLarge)
		assert.NoFileExists(t, filepath.Join(folder, "x"))
		require.ErrorIs(t, e.Fetch("~/none", filepath.Join(folder, "x"), 3), os.ErrNotExist)

		run(t, e, `ln -s /etc/passwd leaves; ln -s / root; ln -s ../../.. up; ln -s /home/user/b good; ln -s b near
			ln -s loop loop; mkfifo pipe; ln -s /tmp/e over; ln -s /proc/self/root/etc/passwd proc`)
		for _, guest := range []string{"leaves", "root/etc/passwd", "up/etc/passwd", "proc", "/etc/passwd", "/home/user/../../etc/passwd",
			"/home/username/x", "/", "../x", "/home", "over/../../../etc/passwd"} {
			_, err := e.Host(guest)
			require.ErrorIs(t, err, env.ErrOutside, guest)
			require.ErrorIs(t, e.Fetch(guest, filepath.Join(folder, "x"), 1<<20), env.ErrOutside, guest)
			require.ErrorIs(t, e.Put(source, guest), env.ErrOutside, guest)
			require.ErrorIs(t, e.Chmod(guest, 0o777), env.ErrOutside, guest)
		}
		require.NoError(t, e.Chmod("near", 0o751))
		assert.Equal(t, "751\n", run(t, e, "stat -c %a b"), "links inside are followed")
		_, err = e.Host("loop")
		require.ErrorContains(t, err, "too many symbolic links")
		require.ErrorContains(t, e.Fetch("pipe", filepath.Join(folder, "x"), 9), "not a regular file")
		require.ErrorContains(t, e.Fetch("~", filepath.Join(folder, "x"), 9), "not a regular file")
		for guest, want := range map[string]string{"good": home + "/b", "near": home + "/b", "~": home, "/home/user/": home, "none/x": home + "/none/x"} {
			got, err := e.Host(guest)
			require.NoError(t, err)
			assert.Equal(t, want, got, guest)
		}
		got, err := e.Host("over/f")
		require.NoError(t, err)
		require.FileExists(t, got)
	})
}

// Python code that calls pyautogui is done on the desktop, by no Python.
func TestPyautogui(t *testing.T) {
	need(t, "mousepad")
	e := isolated(t, nil)
	require.NoError(t, e.Start(t.Context(), env.Command{Args: []string{"mousepad", "/home/user/note.txt"}}))
	_, err := e.WaitWindow(within(t), func(w screen.Window) bool { return strings.Contains(w.Title, "note.txt") && w.Focused })
	require.NoError(t, err)
	out, err := e.Run(t.Context(), env.Command{Args: []string{"python", "-c",
		"import pyautogui; import time; pyautogui.click(960, 540); pyautogui.write('typed ü'); time.sleep(0.1); pyautogui.hotkey('ctrl', 's');"}})
	require.NoError(t, err)
	assert.Zero(t, out.Code)
	require.NoError(t, e.Quiet(within(t)))
	assert.Equal(t, "typed ü", strings.TrimSpace(run(t, e, "cat note.txt")))

	// What cannot be translated is not run, also where Python has the module.
	run(t, e, `mkdir -p site && echo "open('/home/user/sent', 'w')" > site/pyautogui.py`)
	site := []string{"PYTHONPATH=/home/user/site"}
	_, err = e.Run(t.Context(), env.Command{Env: site, Args: []string{"python3", "-c", "import pyautogui; import subprocess; subprocess.run('ls')"}})
	require.ErrorContains(t, err, "subprocess")
	for _, c := range []env.Command{
		{Args: []string{"python3 -c 'import pyautogui'"}, Shell: true},
		{Args: []string{"bash", "-c", "cd; sh -c \"python3 -c 'import pyautogui'\""}},
		{Args: []string{"python3", "-u", "-c", "import pyautogui"}},
		{Args: []string{"xdotool", "key", "a"}},
		{Args: []string{"sleep 0; DISPLAY=:0 xdotool key a || true"}, Shell: true},
	} {
		c.Env = site
		_, err = e.Run(t.Context(), c)
		require.ErrorContains(t, err, "past the hand", "%q", c.Args)
		require.ErrorContains(t, e.Start(t.Context(), c), "past the hand", "%q", c.Args)
	}
	assert.Equal(t, "no", strings.TrimSpace(run(t, e, "test -e sent && echo yes || echo no")))
	assert.Equal(t, "pyautogui xdotool", strings.TrimSpace(run(t, e, "echo 'pyautogui xdotool' | tee note2.txt")), "to name them is no input")
	_, err = e.Run(t.Context(), env.Command{Args: []string{"python3", "-c", "import pyautogui; import time; time.sleep(50)"}, Limit: 50 * time.Millisecond})
	require.ErrorIs(t, err, env.ErrLimit)
	need(t, "python3")
	run(t, e, "echo 'import pyautogui' > a.py && PYTHONPATH=/home/user/site python3 a.py")
	assert.Equal(t, "yes", strings.TrimSpace(run(t, e, "test -e sent && echo yes || echo no")), "Python has the module")
	out, err = e.Run(t.Context(), env.Command{Args: []string{"python", "-c", "import os; print(os.path.expanduser('~'))"}})
	require.NoError(t, err)
	assert.Equal(t, "/home/user\n", string(out.Stdout), string(out.Stderr))
}
