//go:build linux

package setup_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"desktop-agent/sandbox"
	"desktop-agent/screen"
	"desktop-agent/tasks"
	"desktop-agent/tasks/asset"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/env/envtest"
	"desktop-agent/tasks/osworld/defect"
	"desktop-agent/tasks/osworld/setup"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func start(t testing.TB) *env.Env {
	t.Helper()
	return envtest.Start(t, nil)
}

func run(t testing.TB, e *env.Env, script string) string {
	t.Helper()
	out, err := e.Run(t.Context(), env.Command{Args: []string{script}, Shell: true})
	require.NoError(t, err)
	return string(out.Stdout)
}

func need(t testing.TB, e *env.Env, program string) {
	t.Helper()
	if !e.Has(program) {
		t.Skipf("needs %s, which is not installed", program)
	}
}

// do does one step.
func do(t testing.TB, e *env.Env, o *setup.Options, kind, params string) error {
	t.Helper()
	return setup.Do(t.Context(), e, []tasks.Step{step(t, kind, params)}, o)
}

func TestFiles(t *testing.T) {
	e := start(t)
	var asked atomic.Int32
	good := "content"
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := asked.Add(1)
		switch r.URL.Path {
		case "/good":
			_, _ = w.Write([]byte(good))
		case "/third":
			if n < 3 {
				http.Error(w, "busy", http.StatusServiceUnavailable)
			}
			_, _ = w.Write([]byte("third"))
		case "/busy":
			if n < 2 {
				w.Header().Set("Retry-After", "0")
				http.Error(w, "busy", http.StatusTooManyRequests)
			}
			_, _ = w.Write([]byte("idle"))
		default:
			http.NotFound(w, r)
		}
	}))
	defer web.Close()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "assets"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "assets", "a.txt"), []byte("asset"), 0o644))
	client := web.Client()
	defer client.CloseIdleConnections()
	o := &setup.Options{TaskID: "t1", Dir: dir, Cache: t.TempDir(), Client: client, MaxDownload: 7}
	get := func(path, to string) error {
		return do(t, e, o, "download", `{"files":[{"url":"`+web.URL+path+`","path":"`+to+`"}]}`)
	}

	require.NoError(t, get("/good", "$HOME/new/a b.txt"))
	assert.Equal(t, "content", run(t, e, "cat 'new/a b.txt'"))
	require.NoError(t, get("/good", "~/new/a b.txt"))
	assert.EqualValues(t, 1, asked.Load(), "the second time it comes from the cache")
	lock, err := os.ReadFile(filepath.Join(o.Cache, "t1", "assets.lock"))
	require.NoError(t, err)
	// echo -n content | sha256sum
	assert.True(t, strings.HasPrefix(string(lock), "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73\t"), string(lock))
	assert.Equal(t, 1, strings.Count(string(lock), "\n"))

	asked.Store(0)
	require.NoError(t, get("/third", "/tmp/third"))
	assert.EqualValues(t, 3, asked.Load())
	asked.Store(0)
	require.NoError(t, get("/busy", "/tmp/busy"))
	assert.EqualValues(t, 2, asked.Load())
	asked.Store(0)
	require.ErrorContains(t, get("/none", "/tmp/none"), "404")
	assert.EqualValues(t, 1, asked.Load(), "what is not there is not asked for again")
	o.MaxDownload = 6
	require.ErrorIs(t, get("/good", "/tmp/large"), env.ErrTooLarge)
	o.Offline = true
	require.ErrorIs(t, get("/good", "/tmp/offline"), asset.ErrAbsent)

	files, err := filepath.Glob(filepath.Join(o.Cache, "t1", "*_a b.txt"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.NoError(t, os.WriteFile(files[0], []byte("changed"), 0o644))
	require.ErrorContains(t, get("/good", "/home/user/new/a b.txt"), "has changed since")
	assert.Equal(t, "content", run(t, e, "cat 'new/a b.txt'"), "it is not used")
	require.NoError(t, os.Remove(files[0]))
	o.Offline, o.MaxDownload, good = false, 7, "another"
	require.ErrorIs(t, get("/good", "/home/user/new/a b.txt"), asset.ErrChanged, "its source has changed")
	assert.NoFileExists(t, files[0])

	require.NoError(t, do(t, e, o, "upload_file", `{"files":[{"local_path":"assets/a.txt","path":"~/Desktop/a.txt"}]}`))
	assert.Equal(t, "asset", run(t, e, "cat Desktop/a.txt"))
	require.ErrorIs(t, do(t, e, o, "upload_file", `{"files":[{"local_path":"none","path":"a"}]}`), os.ErrNotExist)
}

func TestCommands(t *testing.T) {
	e := start(t)
	o := &setup.Options{TaskID: "t1", Cache: t.TempDir(), Password: "secret word"}
	for _, tt := range []struct{ params, look, want string }{
		{`{"command":["sh","-c","echo {SCREEN_WIDTH}x{SCREEN_HEIGHT} {SCREEN_WIDTH_HALF}x{SCREEN_HEIGHT_HALF} > f"]}`, "cat f", "1920x1080 960x540\n"},
		{`{"command":"mkdir -p '/home/user/a b' c"}`, "ls -d a* c", "a b\nc\n"},
		{`{"command":"touch \"x\\$y\""}`, "ls x*", "x\\$y\n"}, // as the getters have it
		{`{"command":"echo {CLIENT_PASSWORD} | sudo -S touch /home/user/made && echo $HOME > g","shell":true}`, "ls made; cat g", "made\n/home/user\n"},
		{`{"command":["echo $0 $1 > h","one","two"],"shell":"true"}`, "cat h", "one two\n"},
		{`{"command":"false"}`, "echo", "\n"}, // no error
		{`{"command":["cp","~/f","~/k"]}`, "cat k", "1920x1080 960x540\n"},
		{`{"command":"echo x >> n; test $(wc -l < n) -ge 3","shell":true,"until":{"returncode":0}}`, "cat n", "x\nx\nx\n"},
		{`{"command":"echo x >> m; cat m; exit 4","shell":true,"until":{"stdout":"x\nx\n"}}`, "cat m", "x\nx\n"},
	} {
		require.NoError(t, do(t, e, o, "execute", tt.params), tt.params)
		assert.Equal(t, tt.want, run(t, e, tt.look), tt.params)
	}
	require.NoError(t, do(t, e, o, "command", `{"command":"echo out; echo err >&2","shell":true,"stdout":"a.out","stderr":"a.err"}`))
	for name, want := range map[string]string{"a.out": "out\n", "a.err": "err\n"} {
		text, err := os.ReadFile(filepath.Join(o.Cache, "t1", name))
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
	}

	o.Strict = true
	err := setup.Do(t.Context(), e, []tasks.Step{
		step(t, "sleep", `{"seconds":0}`),
		step(t, "execute", `{"command":"echo because; exit 3","shell":true}`),
	}, o)
	var failed *setup.StepError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, 2, failed.Number)
	assert.Equal(t, "execute", failed.Type)
	assert.Equal(t, "because", failed.Output)
	require.EqualError(t, err, "set-up step 2 (execute): echo because; exit 3: exit status 3; its output: because")
	o.Strict = false

	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	err = setup.Do(ctx, e, []tasks.Step{step(t, "execute", `{"command":["sleep","36217362"]}`)}, o)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Eventually(t, func() bool { return run(t, e, "pgrep -f 'sleep 3621736[2]'") == "" }, time.Minute, 50*time.Millisecond)

	require.ErrorIs(t, do(t, e, o, "launch", `{"command":"no-such-program --x"}`), sandbox.ErrNotInstalled)
	require.NoError(t, do(t, e, &setup.Options{Defects: defect.When(true)}, "launch", `{"command":"no-such-program --x"}`))
	proof.Case("launch", func(of defect.Set) string {
		return fmt.Sprint(do(t, e, &setup.Options{Defects: of}, "launch", `{"command":"no-such-program --x"}`))
	})
	proof.Case("sleep", func(of defect.Set) string {
		begun := time.Now()
		require.NoError(t, do(t, e, &setup.Options{Defects: of}, "sleep", `{"seconds":5}`))
		return fmt.Sprint(time.Since(begun) >= 5*time.Second)
	})
	proof.Case("execute", func(of defect.Set) string {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, env.ErrLimit)
		defer cancel()
		return fmt.Sprint(setup.Do(ctx, e, []tasks.Step{step(t, "execute", `{"command":["sleep","1000"]}`)}, &setup.Options{Defects: of}) == nil)
	})
	require.NoError(t, do(t, e, o, "launch", `{"command":["touch","{SCREEN_WIDTH}"]}`))
	require.Eventually(t, func() bool { return strings.Contains(run(t, e, "ls"), "{SCREEN_WIDTH}\n") }, time.Minute, 20*time.Millisecond,
		"launch puts no values in")
	var unsupported *setup.Unsupported
	require.ErrorAs(t, do(t, e, o, "login", `{}`), &unsupported)
}

func TestWindowSteps(t *testing.T) {
	e := start(t)
	need(t, e, "mousepad")
	o := &setup.Options{Strict: true}
	run(t, e, "echo text > note.txt; echo text > other.txt")
	require.NoError(t, do(t, e, o, "open", `{"path":"/home/user/note.txt"}`))
	require.NoError(t, do(t, e, o, "launch", `{"command":"xterm -T terminal"}`))
	require.NoError(t, do(t, e, o, "activate_window", `{"window_name":"NOTE.TXT"}`))
	assert.Contains(t, focused(t, e), "note.txt")
	require.NoError(t, do(t, e, o, "activate_window", `{"window_name":"terminal","strict":true}`))
	assert.Equal(t, "terminal", focused(t, e))
	// One that is about to come is waited for.
	require.NoError(t, setup.Do(t.Context(), e, []tasks.Step{
		step(t, "launch", `{"command":"sleep 1; xterm -T late","shell":true}`),
		step(t, "activate_window", `{"window_name":"late"}`),
	}, o))
	require.NoError(t, do(t, e, o, "close_window", `{"window_name":"xterm.XTerm","strict":true,"by_class":true}`))
	require.NoError(t, do(t, e, o, "sleep", `{"seconds":20}`))
	assert.Equal(t, "1\n", run(t, e, "pgrep -c xterm"))
	require.ErrorIs(t, do(t, e, o, "close_window", `{"window_name":"none"}`), env.ErrNoWindow)
	require.ErrorIs(t, do(t, e, o, "activate_window", `{"window_name":"none"}`), env.ErrNoWindow)
	// What is in the way of a window is told.
	require.NoError(t, do(t, e, o, "activate_window", `{"window_name":"note.txt"}`))
	require.NoError(t, e.Perform(t.Context(), "import pyautogui; pyautogui.write('more')"))
	require.ErrorIs(t, do(t, e, o, "close_window", `{"window_name":"note.txt"}`), env.ErrNotYet)
	require.ErrorIs(t, do(t, e, o, "open", `{"path":"/home/user/note.txt"}`), env.ErrNotYet)
	assert.NotContains(t, e.Notes(), "Save Changes")
	o.Strict = false
	require.NoError(t, do(t, e, o, "open", `{"path":"/home/user/note.txt"}`))
	assert.Contains(t, e.Notes(), `"Save Changes" has the focus`)
	require.NoError(t, e.Perform(t.Context(), "import pyautogui; pyautogui.press('esc')"))
	require.NoError(t, do(t, e, o, "close_window", `{"window_name":"note.txt"}`))
	assert.Contains(t, e.Notes(), `the program shows "Save Changes" first`)
	require.NoError(t, do(t, e, o, "close_window", `{"window_name":"none"}`))
	require.NoError(t, do(t, e, o, "activate_window", `{"window_name":"none"}`))
	require.ErrorContains(t, do(t, e, o, "open", `{"path":"/home/user/none.txt"}`), "no such file or program")
	require.NoError(t, do(t, e, o, "open", `{"path":"xterm"}`))
}

func focused(t *testing.T, e *env.Env) string {
	windows, err := e.Windows(t.Context())
	require.NoError(t, err)
	for _, w := range windows {
		if w.Focused {
			return w.Title
		}
	}
	return ""
}

// A table is opened, changed and saved as tasks do it.
func TestCalc(t *testing.T) {
	e := start(t)
	need(t, e, "soffice")
	run(t, e, "printf 'a,b\\n1,2\\n' > t.csv && soffice --headless --convert-to xlsx t.csv && rm t.csv")
	steps := []tasks.Step{
		step(t, "open", `{"path":"/home/user/t.xlsx"}`),
		step(t, "activate_window", `{"window_name":"t.xlsx - LibreOffice Calc","strict":true}`),
		step(t, "execute", `{"command":["python","-c","import pyautogui; pyautogui.write('7\\n');"]}`),
		step(t, "execute", `{"command":["python","-c","import pyautogui; import time; pyautogui.hotkey('ctrl', 's'); time.sleep(0.5);"]}`),
		step(t, "sleep", `{"seconds":5}`),
		step(t, "execute", `{"command":["soffice","--convert-to","csv","t.xlsx"]}`),
	}
	require.NoError(t, setup.Do(t.Context(), e, steps, &setup.Options{Strict: true}))
	assert.Equal(t, "7,b\n1,2\n", run(t, e, "cat t.csv"))
}

// Tabs are opened, closed, and a history is made, in the browser of the machine.
func TestChrome(t *testing.T) {
	proof.Unless(t, "chrome_close_tabs")
	e := start(t)
	need(t, e, "google-chrome")
	need(t, e, "socat")
	run(t, e, "for n in one two three; do echo \"<title>page $n</title>\" > $n.html; done")
	now := e.Now()
	steps := []tasks.Step{
		step(t, "update_browse_history", `{"history":[{"url":"https://example.com/a","title":"An example","visit_time_from_now_in_seconds":3600}]}`),
		step(t, "launch", `{"command":["google-chrome","--remote-debugging-port=1337"]}`),
		step(t, "launch", `{"command":["socat","tcp-listen:9222,fork","tcp:localhost:1337"]}`),
		step(t, "chrome_open_tabs", `{"urls_to_open":["file:///home/user/one.html","file:///home/user/two.html","file:///home/user/three.html"]}`),
		step(t, "chrome_close_tabs", `{"urls_to_close":["file:///home/user/two.html/"]}`),
		step(t, "activate_window", `{"window_name":"Google Chrome"}`),
	}
	require.NoError(t, setup.Do(t.Context(), e, steps, &setup.Options{Strict: true}))
	windows, err := e.Windows(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, windows)
	assert.Contains(t, focused(t, e), "page three")
	tabs := run(t, e, "wget -qO- http://127.0.0.1:9222/json/list || curl -s http://127.0.0.1:9222/json/list")
	assert.Contains(t, tabs, "one.html")
	assert.Contains(t, tabs, "three.html")
	assert.NotContains(t, tabs, "two.html")
	assert.NotContains(t, tabs, "newtab", "the tab that Chrome begins with is closed")
	proof.Case("chrome_close_tabs", func(of defect.Set) string {
		return fmt.Sprint(do(t, e, &setup.Options{Defects: of}, "chrome_close_tabs", `{"urls_to_close":["file:///home/user/none.html"]}`))
	})

	if !e.Network() {
		var unsupported *setup.Unsupported
		err = do(t, e, nil, "chrome_open_tabs", `{"urls_to_open":["https://example.com"]}`)
		require.ErrorAs(t, err, &unsupported)
		assert.Contains(t, err.Error(), "the network is off")
	}

	require.NoError(t, e.CloseWindow(t.Context(), "Google Chrome", false, false))
	file := filepath.Join(t.TempDir(), "History")
	require.NoError(t, e.Fetch("~/.config/google-chrome/Default/History", file, 1<<24))
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	defer db.Close()
	var title string
	var at, transition int64
	require.NoError(t, db.QueryRow(`SELECT title, visit_time, visits.transition FROM urls JOIN visits ON visits.url = urls.id
		WHERE urls.url = 'https://example.com/a'`).Scan(&title, &at, &transition), "Chrome has kept it")
	assert.Equal(t, "An example", title)
	assert.EqualValues(t, 805306368, transition)
	when := time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro() + at
	assert.InDelta(t, now.Add(-time.Hour).UnixMicro(), when, 60e6)
}

// Pages that never come, a browser that is not there, are errors that say so.
func TestNoChrome(t *testing.T) {
	e := start(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err := setup.Do(ctx, e, []tasks.Step{step(t, "chrome_open_tabs", `{"urls_to_open":["file:///x"]}`)}, nil)
	require.ErrorContains(t, err, "launch google-chrome with --remote-debugging-port")
	_, err = e.WaitWindow(ctx, func(screen.Window) bool { return true })
	require.True(t, errors.Is(err, context.DeadlineExceeded))
}
