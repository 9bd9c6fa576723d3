//go:build linux

package env_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"desktop-agent/actuator"
	events "desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/tasks/env"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// windowOf waits for a window of a class.
func windowOf(t *testing.T, e *env.Env, class string) screen.Window {
	t.Helper()
	w, err := e.WaitWindow(within(t), func(w screen.Window) bool { return strings.EqualFold(w.Class, class) })
	require.NoError(t, err, class)
	require.NoError(t, e.Quiet(within(t)))
	return w
}

// A terminal opens by the keys that tasks know, in the container of the task and as its
// user, and so do the programs of the menu.
func TestTerminalKey(t *testing.T) {
	journal := &events.Memory{}
	e := isolated(t, &env.Options{Journal: func() (events.Journal, error) { return journal, nil }})
	need(t, "xterm")
	require.NoError(t, e.Perform(t.Context(), "import pyautogui; pyautogui.hotkey('ctrl', 'alt', 't')"))
	w, err := e.WaitWindow(within(t), nil)
	require.NoError(t, err)
	assert.Contains(t, w.Title, "Terminal", "by which name tasks activate it")
	require.NoError(t, e.Quiet(within(t)))
	require.NoError(t, e.Perform(t.Context(),
		`import pyautogui; pyautogui.write("(id -un; pwd; ls /root; cat /proc/1/comm; command -v sudo) >said 2>&1\n")`))
	require.Eventually(t, func() bool { return strings.Contains(run(t, e, "cat said || true"), "sudo\n") }, time.Minute, 50*time.Millisecond)
	assert.Equal(t, "user\n/home/user\nls: cannot access '/root': No such file or directory\nbwrap\n/run/task/bin/sudo\n", run(t, e, "cat said"))
	assert.NotContains(t, e.Notes(), "the focus")
	assert.NotContains(t, run(t, e, "ls -d $(dirname $XDG_RUNTIME_DIR)/*"), "orders", "the pipe of the window manager is not the task's")

	require.NoError(t, e.CloseWindow(t.Context(), w.Title, true, false))
	need(t, "mousepad")
	require.NoError(t, e.Perform(t.Context(), "import pyautogui; pyautogui.press('winleft')"))
	require.NoError(t, e.Perform(t.Context(), "import pyautogui; pyautogui.press('m'); pyautogui.press('enter')"))
	windowOf(t, e, "Mousepad")

	acted := 0
	for _, x := range journal.Events() {
		if a, ok := x.Data.(events.Acting); ok {
			acted++
			assert.Equal(t, events.ExemptSetup, a.Exempt, "no guard is asked, and the journal says why")
		}
	}
	assert.Positive(t, acted)
}

// The journal of what a task's author does begins with how the desktop is looked at, has what was
// waited for, and ends as set-up and evaluation do: with the first error, if there was one.
func TestAuthorsJournal(t *testing.T) {
	broke := errors.New("a file is not there")
	for name, tt := range map[string]struct {
		fail func(*env.Env)
		want events.RunEnded
	}{
		"done": {func(*env.Env) {}, events.RunEnded{Outcome: events.OutcomeDone}},
		"input takes too long, and that is forgiven": {func(e *env.Env) {
			_, err := e.Run(t.Context(), env.Command{Args: []string{"python", "-c", "import pyautogui, time; time.sleep(50)"}, Limit: 50 * time.Millisecond})
			require.ErrorIs(t, err, env.ErrLimit)
			e.Fail(nil)
		}, events.RunEnded{Outcome: events.OutcomeDone}},
		"a step breaks": {func(e *env.Env) {
			e.Fail(nil)
			e.Fail(broke)
			e.Fail(errors.New("what came of it"))
		}, events.RunEnded{Outcome: events.OutcomeFailed, Error: broke.Error()}},
		"the user stops it": {func(e *env.Env) {
			e.Fail(&events.Stop{Outcome: events.OutcomeStopped, Answer: "interrupted"})
		}, events.RunEnded{Outcome: events.OutcomeStopped, Answer: "interrupted"}},
	} {
		t.Run(name, func(t *testing.T) {
			journal := &events.Memory{}
			e := isolated(t, &env.Options{Journal: func() (events.Journal, error) { return journal, nil }})
			require.NoError(t, e.Perform(t.Context(), "import pyautogui, time; pyautogui.press('esc'); time.sleep(0.1)"))
			tt.fail(e)
			require.NoError(t, e.Close(), "an error is told to who made it, once")

			list := journal.Events()
			started, ok := list[0].Data.(events.RunStarted)
			require.True(t, ok, "%+v", list[0])
			assert.Equal(t, events.DisplaySettings{Private: true, Size: e.Size(), Quiet: screen.DefaultQuiet, Ceiling: screen.DefaultCeiling}, started.Settings.Display)
			var acted []string
			for _, x := range list {
				if a, ok := x.Data.(events.Acting); ok {
					acted = append(acted, actuator.Describe(a.Action.Action))
				}
			}
			require.GreaterOrEqual(t, len(acted), 2)
			assert.Equal(t, []string{"press Esc", "wait 100ms"}, acted[:2])
			ended, ok := list[len(list)-1].Data.(events.RunEnded)
			require.True(t, ok, "%+v", list[len(list)-1])
			if tt.want.Error != "" { // it is the answer too
				tt.want.Answer = tt.want.Error
			}
			assert.Equal(t, tt.want, events.RunEnded{Outcome: ended.Outcome, Error: ended.Error, Answer: ended.Answer})
		})
	}
}

// A program that has not yet taken its input is not done with it, though its window is
// still: one that saves would be scored by what was there before.
func TestQuietWaitsForAnAnswer(t *testing.T) {
	need(t, "mousepad")
	e := isolated(t, nil)
	require.NoError(t, e.Start(t.Context(), env.Command{Args: []string{"mousepad"}}))
	windowOf(t, e, "Mousepad")
	run(t, e, "pkill -STOP mousepad")
	require.NoError(t, e.Perform(t.Context(), "import pyautogui; pyautogui.press('end')"))
	var goesOn atomic.Bool
	ended := make(chan error, 1)
	time.AfterFunc(time.Second, func() {
		goesOn.Store(true)
		_, err := e.Run(context.WithoutCancel(t.Context()), env.Command{Args: []string{"pkill", "-CONT", "mousepad"}})
		ended <- err
	})
	require.NoError(t, e.Quiet(within(t)))
	assert.True(t, goesOn.Load(), "it is quiet, and the program has not answered")
	require.NoError(t, <-ended)
}

// The files of the desktop are shown, and open with the programs that tasks expect;
// the window that shows them is none that a task waits for or types into blindly.
func TestIcons(t *testing.T) {
	need(t, "pcmanfm")
	need(t, "mousepad")
	e := isolated(t, &env.Options{Icons: true})
	require.NoError(t, e.Quiet(within(t)))
	empty, err := e.Screen().Capture(t.Context())
	require.NoError(t, err)
	run(t, e, "echo text >Desktop/notes.txt")
	require.Eventually(t, func() bool {
		now, err := e.Screen().Capture(t.Context())
		return err == nil && !bytes.Equal(now.Pix, empty.Pix)
	}, time.Minute, 50*time.Millisecond, "an icon comes with its file")
	limited, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = e.WaitWindow(limited, nil)
	require.Error(t, err, "the desktop is no window that a task waits for")
	require.NoError(t, e.Quiet(within(t)))
	require.NoError(t, e.Perform(t.Context(), "import pyautogui; pyautogui.doubleClick(58, 34)"))
	w := windowOf(t, e, "Mousepad")
	assert.Contains(t, w.Title, "notes.txt")
	assert.NotContains(t, e.Notes(), "the focus")
}

// What a program finds for each type of file is what tasks expect.
func TestHandlers(t *testing.T) {
	need(t, "xdg-mime")
	e := isolated(t, nil)
	for kind, want := range map[string]string{
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":         "libreoffice-calc.desktop",
		"application/vnd.openxmlformats-officedocument.wordprocessingml.document":   "libreoffice-writer.desktop",
		"application/vnd.openxmlformats-officedocument.presentationml.presentation": "libreoffice-impress.desktop",
		"text/csv": "libreoffice-calc.desktop", "video/mp4": "vlc.desktop", "audio/mpeg": "vlc.desktop",
		"text/html": "google-chrome.desktop", "image/x-xcf": "gimp.desktop", "message/rfc822": "thunderbird.desktop",
	} {
		assert.Equal(t, want+"\n", run(t, e, "xdg-mime query default "+kind), kind)
	}
	need(t, "mousepad")
	for file, text := range map[string]string{"a.py": "import os", "b.json": "{}", "c.md": "# Title"} {
		run(t, e, "echo '"+text+"' >"+file+"; setsid xdg-open "+file+" >/dev/null 2>&1 &")
		_, err := e.WaitWindow(within(t), func(w screen.Window) bool { return strings.Contains(w.Title, file) })
		require.NoError(t, err, file)
	}
}

// Where no window has the focus, what is typed for a task's author goes nowhere, as
// with OSWorld, and a note says so, without the text.
func TestTypeIntoNothing(t *testing.T) {
	var log bytes.Buffer
	e := isolated(t, &env.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, e.Perform(t.Context(), "import pyautogui; pyautogui.press('enter'); pyautogui.write('hidden word'); pyautogui.hotkey('ctrl', 's')"))
	assert.Contains(t, e.Notes(), "no window had the focus for what a step of the task types")
	assert.NotContains(t, e.Notes()+log.String(), "hidden word")
	require.NoError(t, e.Err())
}

// A program that does not answer gets what is typed for a task's author all the same, as
// with OSWorld, and a note says so: some dialogs never answer, and take text.
func TestTypeUnanswered(t *testing.T) {
	need(t, "mousepad")
	e := isolated(t, nil)
	require.NoError(t, e.Start(t.Context(), env.Command{Args: []string{"mousepad"}}))
	windowOf(t, e, "Mousepad")
	run(t, e, "pkill -STOP mousepad")
	require.NoError(t, e.Perform(t.Context(), "import pyautogui; pyautogui.write('hidden words')"))
	assert.Contains(t, e.Notes(), "did not say that it takes what a step of the task types: type 12 characters")
	assert.NotContains(t, e.Notes(), "hidden")
	run(t, e, "pkill -CONT mousepad")
	_, err := e.WaitWindow(within(t), func(w screen.Window) bool { return strings.HasPrefix(w.Title, "*") })
	require.NoError(t, err, "the text is there")
}

// What is done for a task's author while the screen never rests is done all the same, and a
// note says so.
func TestActWithoutRest(t *testing.T) {
	need(t, "xterm")
	e := isolated(t, nil)
	require.NoError(t, e.Start(t.Context(), env.Command{Args: []string{"xterm", "-T", "Log", "-e", "while :; do date; done"}}))
	_, err := e.WaitWindow(within(t), func(w screen.Window) bool { return w.Title == "Log" && w.Focused })
	require.NoError(t, err)
	require.NoError(t, e.Perform(t.Context(), "import time; time.sleep(0.1)"))
	assert.Empty(t, e.Notes(), "it gave no input")
	require.NoError(t, e.Perform(t.Context(), "import pyautogui; pyautogui.moveTo(5, 5)"))
	assert.Contains(t, e.Notes(), "a step of the task acted while the screen was not at rest")
}
