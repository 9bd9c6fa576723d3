//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/xproto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/internal/x11"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/replay"
)

// An endpoint answers like a model. Requests come at the same time, so it tells
// them apart by the schema that they ask for; the actor asks for none.
type endpoint struct {
	*httptest.Server
	t     *testing.T
	mu    sync.Mutex
	actor []http.HandlerFunc
	asked chan struct{} // gets one for each question to the actor
}

// newEndpoint starts an endpoint whose actor gives these answers in order, and
// then waits for ever.
func newEndpoint(t *testing.T, actor ...http.HandlerFunc) *endpoint {
	e := &endpoint{t: t, actor: actor, asked: make(chan struct{}, 100)}
	e.Server = httptest.NewServer(http.HandlerFunc(e.serve))
	t.Cleanup(func() {
		e.CloseClientConnections()
		e.Close()
	})
	return e
}

func (e *endpoint) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	risk := map[string]any{"severity": "none", "probability": 0, "reason": ""}
	// The first whose property the schema has: that of a plan names the kinds of
	// predicates too, and "shown" is one.
	answers := []struct {
		property string
		answer   any
	}{
		{`"done_when"`, map[string]any{"steps": []any{
			map[string]string{"goal": "Explore the editor's text area", "done_when": "A text is in the editor"},
			map[string]string{"goal": "Locate the finished text", "done_when": "The text shows agent was here"}}}},
		{`"as_expected"`, map[string]any{"changed": "a text appeared", "as_expected": "yes", "progress_step": 2,
			"evidence": "agent was here", "guidance": nil, "stop": false}},
		{`"blocked_effects"`, map[string]any{"reason": "text is typed", "irreversible": false, "blocked_effects": []string{}, "blocked_tools": []string{}}},
		{`"shown"`, map[string]any{"shown": true, "evidence": "agent was here", "missing": ""}},
		{`"is_consistent"`, map[string]any{"is_consistent": true, "needs_new_plan": false, "optimization_guidance": nil}},
		{`"task_words"`, map[string]any{"expected": "a text appears", "effect": "edit", "reversible": true, "undo": "delete it",
			"short_term": risk, "long_term": risk, "violated_policy_ids": []string{}, "asked_for_by_task": false, "task_words": "",
			"lifts": nil, "better": nil}}, // an editor that does not answer in time does not say where the text would go
		{`"left"`, map[string]any{"left": "red", "right": "blue"}},
	}
	var request struct {
		Format json.RawMessage `json:"response_format"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		llmtest.Status(http.StatusBadRequest, "", err.Error())(w, r)
		return
	}
	for _, a := range answers {
		if bytes.Contains(request.Format, []byte(a.property)) {
			text, _ := json.Marshal(a.answer) // of plain values
			llmtest.Completion(string(text))(w, r)
			return
		}
	}
	if len(request.Format) > 0 { // the actor is asked for none
		e.t.Errorf("the endpoint has no answer of the form %s", request.Format)
		llmtest.Status(http.StatusBadRequest, "", "no answer has this form")(w, r)
		return
	}
	e.mu.Lock()
	answer := llmtest.HangRequest()
	if len(e.actor) > 0 {
		answer, e.actor = e.actor[0], e.actor[1:]
	}
	e.mu.Unlock()
	e.asked <- struct{}{}
	answer(w, r)
}

// says is a reply of the actor that does this.
func says(code string) http.HandlerFunc {
	return llmtest.Completion("Thought: I see the editor.\nExpect: It shows the text.\n```python\n" + code + "\n```")
}

// A process is the program at work in a folder of its own.
type process struct {
	*exec.Cmd
	t              *testing.T
	stdout, stderr *output
	exited         chan struct{}
}

// output collects what is written, and can be read meanwhile.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// start starts the program, with no display and no configuration but its arguments.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	return startWith(t, nil, args...)
}

// startWith is start with more in the environment.
func startWith(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	exe, err := exec.LookPath("desktop-agent") // this binary, under the name by which it is the program
	require.NoError(t, err)
	return startLine(t, env, append([]string{exe}, args...)...)
}

// startLine starts a command line that is the program, or becomes it.
func startLine(t *testing.T, env []string, line ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(line[0], line[1:]...), t: t, stdout: &output{}, stderr: &output{}, exited: make(chan struct{})}
	p.Dir = t.TempDir()
	p.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.Dir, "TMPDIR=" + os.Getenv("TMPDIR"), "GORACE=" + os.Getenv("GORACE")}, env...)
	p.Stdout, p.Stderr = p.stdout, p.stderr
	require.NoError(t, p.Start())
	go func() {
		_ = p.Wait() // the exit code tells
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill() // it may have ended
		<-p.exited
	})
	return p
}

// patience is far longer than anything takes, also on a machine that does much
// else: what passes it hangs.
const patience = 10 * time.Minute

// code waits for the end and returns the exit code.
func (p *process) code() int {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		_ = p.Process.Signal(syscall.SIGQUIT) // its goroutines, to standard error
		select {
		case <-p.exited:
		case <-time.After(time.Minute):
		}
		require.Fail(p.t, "it does not end", "%s\n%s", p.stderr, p.journal())
	}
	return p.ProcessState.ExitCode()
}

// journal is what the runs of a process that has ended did: of each event when, and its kind.
func (p *process) journal() string {
	runs, err := filepath.Glob(filepath.Join(p.Dir, "runs", "*"))
	require.NoError(p.t, err)
	var list strings.Builder
	for _, dir := range runs {
		stored, err := replay.Open(dir)
		require.NoError(p.t, err)
		for e, err := range stored.Events() {
			fmt.Fprintln(&list, e.Time, e.Step, e.Kind, err)
		}
	}
	return list.String()
}

// leftovers returns the processes of the private desktops of this process.
func (p *process) leftovers() (pids []int) {
	mark := fmt.Appendf(nil, "DESKTOP_AGENT_SANDBOX=%d-", p.Process.Pid)
	list, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(p.t, err)
	for _, path := range list {
		if environ, err := os.ReadFile(path); err == nil && bytes.Contains(environ, mark) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			require.NoError(p.t, err)
			pids = append(pids, pid)
		}
	}
	return pids
}

// named returns the first process of the private desktop with this name.
func (p *process) named(name string) int {
	for _, pid := range p.leftovers() {
		if comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil && strings.TrimSpace(string(comm)) == name {
			return pid
		}
	}
	require.Fail(p.t, "no "+name+" runs")
	return 0
}

var runLine = regexp.MustCompile(`(?m)^run: (.*)$`)

// run returns the folder of the run, which standard error names.
func (p *process) run() string {
	p.t.Helper()
	found := runLine.FindStringSubmatch(p.stderr.String())
	require.NotNil(p.t, found, "%s", p.stderr)
	return found[1]
}

// wait waits until the actor is asked.
func (e *endpoint) wait(t *testing.T, p *process) {
	t.Helper()
	select {
	case <-e.asked:
	case <-p.exited:
		require.Fail(t, "the program ended", "%s", p.stderr)
	case <-time.After(patience):
		require.Fail(t, "the actor was not asked", "%s", p.stderr)
	}
}

// task is a run on a private desktop that types a text into an editor.
func (e *endpoint) task(args ...string) []string {
	return append([]string{"run", "--virtual", "--open", "mousepad", "--size", "800x600", "--base-url", e.URL + "/v1", "--model", "m",
		"Write agent was here"}, args...)
}

// typing are the actor's replies that do the task. That it is done is said again while the
// editor does not answer in time, so that it cannot be looked up.
func typing() []http.HandlerFunc {
	return append([]http.HandlerFunc{says(`pyautogui.write("agent was here")`)}, slices.Repeat([]http.HandlerFunc{says("DONE: written")}, 20)...)
}

// checkRun checks that a run is complete on disk.
func checkRun(t *testing.T, dir string) {
	events := checkEnded(t, dir, "done")
	frames, err := filepath.Glob(filepath.Join(dir, "frames", "f0*.png"))
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(frames), 3)
	for _, frame := range frames {
		assert.Contains(t, events, strings.TrimSuffix(filepath.Base(frame), ".png"), "every frame is named by an event")
	}
	report, err := os.ReadFile(filepath.Join(dir, "report.html"))
	require.NoError(t, err)
	assert.Contains(t, string(report), "Write agent was here")
}

// checkEnded checks that a journal is complete, and returns its events.
func checkEnded(t *testing.T, dir, outcome string) string {
	var info struct {
		State          string
		Events, Frames int
		Ended          struct{ Outcome string }
	}
	text, err := os.ReadFile(filepath.Join(dir, "run.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &info))
	assert.Equal(t, "ended", info.State)
	assert.Equal(t, outcome, info.Ended.Outcome)
	events, err := os.ReadFile(filepath.Join(dir, "events.jsonl"))
	require.NoError(t, err)
	assert.Equal(t, info.Events, bytes.Count(events, []byte("\n")))
	frames, err := filepath.Glob(filepath.Join(dir, "frames", "f0*.png"))
	require.NoError(t, err)
	assert.Len(t, frames, info.Frames)
	lines := strings.Split(strings.TrimSpace(string(events)), "\n")
	assert.Contains(t, lines[len(lines)-1], `"kind":"run_ended"`)
	assert.FileExists(t, filepath.Join(dir, "report.html"))
	return string(events)
}

// TestRun does a task in a real editor, in each way in which it can be watched,
// planned and written.
func TestRun(t *testing.T) {
	t.Parallel()
	call := func(name, arguments string) http.HandlerFunc {
		return llmtest.CompletionOf(llm.Response{Text: "Thought: I see the editor.\nExpect: It shows the text.", Finish: "tool_calls",
			Calls: []llm.ToolCall{{ID: "1", Name: name, Arguments: arguments}}, Usage: llm.Usage{Input: 100, Output: 10}})
	}
	t.Run("plan", func(t *testing.T) {
		e := newEndpoint(t, typing()...)
		p := start(t, e.task("--price", "m=1/1/1")...)
		require.Equal(t, exitDone, p.code(), "%s", p.stderr)
		assert.Equal(t, "written\n", p.stdout.String(), "the answer, and nothing else")
		shown := p.stderr.String()
		for _, want := range []string{
			"task: Write agent was here\n", "guard: foresight, a workspace of its own, 11 policies, approve risky, but nobody can be asked\n",
			"guard: nothing in the task has to be irreversible\n", "▸ Step 1: Explore the editor's text area",
			"   1  type 14 characters\n", "      because: I see the editor.\n",
			"plan, a step further:\n  ✓ Step 1:", "   2  done: written\n",
			"done (proved) after 2 steps", "model calls", ", $0.00", "\nreport: " + p.run() + "/report.html\n",
		} {
			assert.Contains(t, shown, want)
		}
		assert.NotContains(t, strings.ReplaceAll(shown, "task: Write agent was here", ""), "agent was here", "nothing typed is shown")
		assert.NotContains(t, shown, "\x1b", "no status line where there is no terminal")
		checkRun(t, p.run())
		assert.Empty(t, p.leftovers())
	})
	t.Run("tools", func(t *testing.T) {
		e := newEndpoint(t, call("type", `{"text": "agent was here"}`), call("done", `{"answer": "written"}`))
		p := start(t, e.task("--format", "tools")...)
		require.Equal(t, exitDone, p.code(), "%s", p.stderr)
		checkRun(t, p.run())
	})
	t.Run("JSON, no plan", func(t *testing.T) {
		e := newEndpoint(t, typing()...)
		p := start(t, e.task("--plan=off", "--json", "--guard=off", "--runs", "elsewhere")...)
		require.Equal(t, exitDone, p.code(), "%s", p.stderr)
		stored, err := os.ReadFile(filepath.Join(p.run(), "events.jsonl"))
		require.NoError(t, err)
		events := regexp.MustCompile(`(,"files":{[^}]*})?,"prev":"[0-9a-f]*"}\n`).ReplaceAllString(string(stored), "}\n")
		assert.True(t, events == p.stdout.String(), "the events as the journal has them, without its hashes, and nothing else")
		for line := range strings.Lines(p.stdout.String()) {
			assert.True(t, json.Valid([]byte(line)), line)
		}
		assert.Contains(t, p.stdout.String(), `"planning":"off"`)
		assert.NotContains(t, p.stdout.String(), `"kind":"planned"`)
		assert.Contains(t, p.run(), "elsewhere/")
		assert.Contains(t, p.stderr.String(), noGuard+"\n")
	})
	t.Run("not done", func(t *testing.T) {
		e := newEndpoint(t, says("FAIL: there is no such thing"))
		p := start(t, e.task()...)
		assert.Equal(t, exitNotDone, p.code())
		assert.Contains(t, p.stderr.String(), "infeasible after 1 step and")
		assert.Contains(t, p.stderr.String(), "why: there is no such thing")
		p.run()
	})
}

// TestEndpointTrouble: whatever the endpoint does, the run ends as an error
// that says what to do, and names where it lies.
func TestEndpointTrouble(t *testing.T) {
	d := userDesktop(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", d.BusAddress())
	const noAction = "4 replies of the actor in a row are no action"
	for name, test := range map[string]struct {
		answer http.HandlerFunc // nil: nobody listens
		want   string           // in what the user reads
		stored string           // in the journal
	}{
		"refuses the key": {llmtest.Refusal(http.StatusUnauthorized, "", "Incorrect API key provided: sk-secret-1.", ""), "set DESKTOP_AGENT_API_KEY or --api-key", ""},
		"unreachable":     {nil, "check --base-url and the network", ""},
		"too many calls":  {llmtest.Refusal(http.StatusTooManyRequests, "Retry-After: 0", "slow down", ""), "slow down", ""},
		"broken":          {llmtest.Status(http.StatusInternalServerError, "", "oh no"), "oh no", ""},
		"garbage":         {llmtest.Status(http.StatusOK, "", `{"choices": [{"mess`), noAction, "no Chat Completions reply"},
		"half a reply":    {llmtest.HalfReply(), noAction, "the connection broke off after"},
		"an empty reply":  {llmtest.Completion(" "), noAction, "the reply is empty"},
		"prose":           {llmtest.Completion("What a nice desktop!"), noAction, ""},
		"hangs":           {llmtest.HangRequest(), "no reply within 1s", ""},
		"hangs halfway":   {llmtest.HangInReply(), "no reply within 1s", ""},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				// Only who has read the question notices that the client goes away.
				_, _ = io.Copy(io.Discard, r.Body)
				test.answer(w, r)
			}))
			t.Cleanup(func() {
				server.CloseClientConnections()
				server.Close()
			})
			if test.answer == nil {
				server.Close()
			}
			// A limit that ends in the middle of an attempt would be what the user reads of.
			limit := "2m"
			if strings.HasPrefix(name, "hangs") {
				limit = "1s"
			}
			code, out, errs := command(t, "run", "--display", d.Display(), "--plan=off", "--runs", t.TempDir(), "--model", "m",
				"--base-url", server.URL+"/v1", "--api-key", "sk-secret-1", "--timeout", limit, "x")
			assert.Equal(t, exitError, code)
			assert.Contains(t, errs, test.want)
			assert.NotContains(t, errs, "sk-secret")
			run := runLine.FindStringSubmatch(errs)
			require.NotNil(t, run, errs)
			assert.Contains(t, checkEnded(t, run[1], "error"), test.stored)
			assert.Empty(t, out)
		})
	}
	t.Run("on a desktop of its own", func(t *testing.T) {
		gone := httptest.NewServer(nil)
		gone.Close()
		p := start(t, "run", "--virtual", "--size", "640x480", "--plan=off", "--model", "m", "--base-url", gone.URL+"/v1", "x")
		assert.Equal(t, exitError, p.code())
		assert.Contains(t, p.stderr.String(), "check --base-url and the network")
		checkEnded(t, p.run(), "error")
		assert.Empty(t, p.leftovers(), "no process is left")
	})
}

// TestInterrupt stops a run by signals while the model thinks.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	replies := typing()
	first, letGo := held(replies[0])
	other := newEndpoint(t, append([]http.HandlerFunc{first}, replies[1:]...)...)
	second := start(t, other.task()...)
	other.wait(t, second)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			e := newEndpoint(t) // thinks for ever
			p := start(t, e.task()...)
			e.wait(t, p)
			require.NotEmpty(t, p.leftovers(), "the desktop is there")
			require.NoError(t, p.Process.Signal(sig))
			assert.Equal(t, exitInterrupted, p.code())
			assert.Contains(t, p.stderr.String(), "stopped after 1 step and")
			assert.FileExists(t, filepath.Join(p.run(), "report.html"))
			assert.Empty(t, p.leftovers(), "no process is left")
		})
	}
	letGo()
	assert.Equal(t, exitDone, second.code(), "the other run goes on: %s", second.stderr)
	t.Run("ignored", func(t *testing.T) {
		first, letGo := held(replies[0])
		e := newEndpoint(t, append([]http.HandlerFunc{first}, replies[1:]...)...)
		exe, err := exec.LookPath("desktop-agent")
		require.NoError(t, err)
		p := startLine(t, nil, append([]string{"sh", "-c", `trap "" HUP INT; exec "$@"`, "sh", exe}, e.task()...)...)
		e.wait(t, p)
		require.NoError(t, p.Process.Signal(syscall.SIGHUP))
		require.NoError(t, p.Process.Signal(syscall.SIGINT))
		letGo()
		assert.Equal(t, exitDone, p.code(), "as nohup has it: %s", p.stderr)
	})
	t.Run("while the desktop starts", func(t *testing.T) {
		p := start(t, newEndpoint(t).task()...)
		require.Eventually(t, func() bool { return len(p.leftovers()) > 0 }, patience, time.Millisecond)
		require.NoError(t, p.Process.Signal(syscall.SIGINT))
		assert.Equal(t, exitInterrupted, p.code(), "%s", p.stderr)
		assert.Empty(t, p.leftovers())
	})
	t.Run("reader gone", func(t *testing.T) {
		e := newEndpoint(t)
		r, w, err := os.Pipe()
		require.NoError(t, err)
		p := &process{t: t, stderr: &output{}, exited: make(chan struct{})}
		exe, err := os.Executable()
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		p.Cmd = exec.CommandContext(ctx, exe)
		p.Args = append([]string{"desktop-agent"}, e.task("--json", "--runs", t.TempDir())...)
		p.Env = []string{"PATH=" + os.Getenv("PATH")}
		p.Stdout, p.Stderr = w, p.stderr
		require.NoError(t, p.Start())
		require.NoError(t, w.Close())
		require.NoError(t, r.Close())
		_ = p.Wait() // the exit code tells
		assert.Equal(t, exitInterrupted, p.ProcessState.ExitCode(), "%s", p.stderr)
		assert.Empty(t, p.leftovers())
	})
}

// TestManagerDies kills a part of the private desktop in the middle of a run.
func TestManagerDies(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	p := start(t, e.task()...)
	e.wait(t, p)
	require.NoError(t, syscall.Kill(p.named("openbox"), syscall.SIGKILL))
	assert.Equal(t, exitError, p.code())
	assert.Contains(t, p.stderr.String(), "window manager (openbox) died: signal: killed")
	assert.Contains(t, p.stderr.String(), "start another")
	assert.FileExists(t, filepath.Join(p.run(), "report.html"))
	assert.Empty(t, p.leftovers())
}

// TestResize makes the screen smaller in the middle of a run, which goes on.
func TestResize(t *testing.T) {
	t.Parallel()
	first, letGo := held(says("WAIT"))
	e := newEndpoint(t, append([]http.HandlerFunc{first}, typing()...)...)
	p := start(t, e.task("--json")...)
	e.wait(t, p)
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.named("mousepad")))
	require.NoError(t, err)
	display := regexp.MustCompile(`DISPLAY=(:\d+)`).FindSubmatch(environ)
	require.NotNil(t, display)
	resize(t, string(display[1]), 640, 480)
	letGo()
	assert.Equal(t, exitDone, p.code(), "%s", p.stderr)
	assert.Contains(t, p.stdout.String(), `"frame":{"X":800,"Y":600}`)
	assert.Contains(t, p.stdout.String(), `"frame":{"X":640,"Y":480}`)
	checkRun(t, p.run())
}

// held is an answer that waits until it is let go.
func held(answer http.HandlerFunc) (http.HandlerFunc, func()) {
	free := make(chan struct{})
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-free:
			answer(w, r)
		case <-r.Context().Done():
		}
	}, func() { close(free) }
}

// resize gives a display another size, no larger than its first, as xrandr does.
func resize(t *testing.T, display string, width, height uint16) {
	conn, err := x11.Dial(display)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.Extension("RANDR"))
	_, err = randr.QueryVersion(conn.Conn, 1, 5).Reply()
	require.NoError(t, err)
	r, err := randr.GetScreenResources(conn.Conn, conn.Root).Reply()
	require.NoError(t, err)
	_, err = randr.SetCrtcConfig(conn.Conn, r.Crtcs[0], xproto.TimeCurrentTime, r.ConfigTimestamp, 0, 0, 0, randr.RotationRotate0, nil).Reply()
	require.NoError(t, err)
	require.NoError(t, randr.SetScreenSizeChecked(conn.Conn, conn.Root, width, height, 300, 200).Check())
}

// TestOpenFails: the program of --open does not exist.
func TestOpenFails(t *testing.T) {
	p := start(t, "run", "--virtual", "--open", "no-such-editor --new", "--model", "m", "x")
	assert.Equal(t, exitUsage, p.code())
	assert.Contains(t, p.stderr.String(), "open no-such-editor: program not found")
	assert.Contains(t, p.stderr.String(), "check the name, or install it")
	assert.Empty(t, p.leftovers())
}

// TestKeepHomeOfFailedOpen holds that a run that cannot begin leaves no folder of --keep-home, so
// that the corrected command can make it; but one that was there stays, and one in which a
// program may have written.
func TestKeepHomeOfFailedOpen(t *testing.T) {
	t.Parallel()
	begin, bad, home, file := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "h"), filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(filepath.Join(begin, "letter"), []byte("mine"), 0o600))
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(bad, "a"), nil, 0o600))
	require.NoError(t, syscall.Mkfifo(filepath.Join(bad, "b"), 0o600), "what cannot be copied")
	fails := func(code int, args ...string) string {
		t.Helper()
		p := start(t, append([]string{"run", "--virtual", "--keep-home", home, "--model", "m", "x"}, args...)...)
		require.Equal(t, code, p.code(), "%s", p.stderr)
		assert.Empty(t, p.leftovers())
		return p.stderr.String()
	}
	for _, tt := range []struct {
		code int
		args []string
		says string
	}{
		{exitUsage, []string{"--home", begin, "--open", "no-such-editor"}, "program not found"},
		{exitUsage, []string{"--home", begin, "--open", "mousepad 'a"}, "--open: the quote ' is not closed"},
		{exitError, []string{"--home", bad}, "copy " + bad},
		{exitError, []string{"--runs", filepath.Join(file, "runs")}, "folder for runs"},
	} {
		said := fails(tt.code, tt.args...)
		assert.Contains(t, said, tt.says)
		assert.NotContains(t, said, "stays")
		require.NoDirExists(t, home, tt.args)
	}
	said := fails(exitError, "--home", begin, "--open", `sh -c "echo new > $HOME/note"`)
	assert.Contains(t, said, "note: "+home+" stays, as what was opened may have written there")
	assert.FileExists(t, filepath.Join(home, "note"))
	assert.Contains(t, fails(exitUsage, "--open", "no-such-editor"), "hint: name a folder that is not there yet")
	assert.FileExists(t, filepath.Join(home, "letter"))
	assert.FileExists(t, filepath.Join(home, "note"))
}

// TestRunsFolder: nothing can be kept.
func TestRunsFolder(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, typing()...)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	p := start(t, e.task("--runs", filepath.Join(file, "runs"))...)
	assert.Equal(t, exitError, p.code())
	assert.Contains(t, p.stderr.String(), "folder for runs")
	assert.Contains(t, p.stderr.String(), "hint: name a folder that can be written to with --runs")
	assert.Empty(t, e.asked, "without a journal nothing begins")
}

// TestReadOnlyHome has a run of a user in whose home nothing can be made, on a machine whose shared
// memory is full where this test may have such a one: neither is needed.
func TestReadOnlyHome(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, typing()...)
	shell := `exec -a desktop-agent "$0" "$@"`
	if os.Getuid() == 0 {
		shell = "mount -t tmpfs -o size=4k none /dev/shm && ! head -c 9000 /dev/zero >/dev/shm/full && " + shell
	}
	p := start(t, "run", "--help") // only for its folder and environment
	require.Equal(t, exitDone, p.code())
	exe, err := os.Executable()
	require.NoError(t, err)
	args := append([]string{"bash", "-c", shell, exe}, e.task("--plan=off")...)
	if os.Getuid() == 0 {
		args = append([]string{"unshare", "--mount"}, args...)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = p.Dir, append(p.Env, "HOME=/proc") // where not even root can make a file
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	runs, err := filepath.Glob(p.Dir + "/runs/*Z-*")
	require.NoError(t, err)
	require.Len(t, runs, 1, "%s", out)
	checkRun(t, runs[0])
}

// TestDiskFull has the disk fill up in the middle: nothing is done that cannot
// be recorded. A limit on the size of files stands for a full disk.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, typing()...)
	p := start(t, "run", "--help") // only for its folder and environment
	require.Equal(t, exitDone, p.code())
	exe, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	limited := exec.CommandContext(ctx, "bash", append([]string{"-c", `ulimit -f 24; exec -a desktop-agent "$0" "$@"`, exe}, e.task()...)...)
	limited.Dir, limited.Env = p.Dir, p.Env
	var out bytes.Buffer
	limited.Stdout, limited.Stderr = &out, &out
	_ = limited.Run() // the exit code tells
	assert.Equal(t, exitError, limited.ProcessState.ExitCode(), "%s", out.String())
	assert.Contains(t, out.String(), "ulimit -f")
	assert.Contains(t, out.String(), "\nrun: "+p.Dir+"/runs/")
	assert.Equal(t, 1, strings.Count(out.String(), "ulimit -f"), "it is said once")
	assert.NotContains(t, out.String(), "   2  ", "no further step")
}
