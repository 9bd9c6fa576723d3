//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/internal/x11/x11test"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/replay"
	"desktop-agent/run"
)

const letter = "Dear clerk, this was written once"

// A clerk is an endpoint that decides by what it is shown alone, so that it does not matter
// how often it is asked, and by which program: it writes the letter into an editor, saves
// it and has a program send it, once.
type clerk struct{ *httptest.Server }

func newClerk(t *testing.T) clerk {
	c := clerk{httptest.NewServer(http.HandlerFunc(answerClerk))}
	t.Cleanup(func() {
		c.CloseClientConnections()
		c.Close()
	})
	return c
}

func answerClerk(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var request struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Format json.RawMessage `json:"response_format"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		llmtest.Status(http.StatusBadRequest, "", err.Error())(w, r)
		return
	}
	risk := map[string]any{"severity": "none", "probability": 0, "reason": ""}
	for property, answer := range map[string]any{
		`"done_when"`: map[string]any{"steps": []any{
			map[string]string{"goal": "Explore the editor's text area", "done_when": "The letter is in the editor"},
			map[string]string{"goal": "Locate the saved letter", "done_when": "The letter is saved and sent"}}},
		`"as_expected"`:            map[string]any{"changed": "a text", "as_expected": "yes", "progress_step": 1, "evidence": "", "guidance": nil, "stop": false},
		`"blocked_effects"`:        map[string]any{"reason": "a letter is sent", "irreversible": true, "blocked_effects": []string{"send", "execute"}, "blocked_tools": []string{}},
		`effect of the whole task`: map[string]any{"shown": true, "evidence": letter, "missing": ""},
		`"is_consistent"`:          map[string]any{"is_consistent": true, "needs_new_plan": false, "optimization_guidance": nil},
		`"task_words"`: map[string]any{"expected": "it is sent", "effect": "execute", "reversible": false, "undo": nil, "short_term": risk, "long_term": risk,
			"violated_policy_ids": []string{}, "asked_for_by_task": true, "task_words": "send it", "lifts": nil, "better": nil},
		`"met"`:     map[string]any{"met": true, "missing": nil, "answer": letter},
		`"reached"`: map[string]any{"output": "It is written and sent.", "reached": true, "missing": nil},
		`"verdict"`: map[string]any{"verdict": "continue", "reason": "it fits", "guidance": nil, "answer": nil},
	} {
		if bytes.Contains(request.Format, []byte(property)) {
			if property == `"met"` { // so that what comes before can be met
				time.Sleep(100 * time.Millisecond)
			}
			text, _ := json.Marshal(answer) // of plain values
			llmtest.Completion(string(text))(w, r)
			return
		}
	}
	if len(request.Format) > 0 && string(request.Format) != "null" {
		llmtest.Status(http.StatusBadRequest, "", "nobody knows what this asks for: "+string(request.Format))(w, r)
		return
	}
	var all, last string
	for _, m := range request.Messages {
		last = string(m.Content)
		if m.Role != "assistant" {
			all += last + "\n"
		}
	}
	if strings.Contains(all, "You do one part of a larger task by calling tools") {
		if strings.Contains(last, "bytes") {
			llmtest.Completion("It is noted.")(w, r)
			return
		}
		llmtest.CompletionOf(llm.Response{Finish: "tool_calls", Calls: []llm.ToolCall{{ID: "1", Name: "write_file", Arguments: `{"path": "log.txt", "text": "sent", "replace": true}`}}})(w, r)
		return
	}
	says(next(last, all))(w, r)
}

// sentBefore finds that the letter was sent, or may have been.
var sentBefore = regexp.MustCompile(`send-letter[^\n]{0,300}?: (delivered|unknown|no effect|refused)`)

// next is what the clerk does on a screen. all is the conversation up to there.
func next(screen, all string) string {
	written := strings.Contains(screen, letter)
	switch {
	case strings.Contains(screen, `Save`) && strings.Contains(screen, "dialog"):
		return `pyautogui.press("escape")`
	case !strings.Contains(screen, "Mousepad"):
		return `time.sleep(1)`
	case !written || strings.Count(screen, "Dear clerk") > strings.Count(screen, letter):
		return `pyautogui.hotkey("ctrl", "a")` + "\n" + fmt.Sprintf("pyautogui.write(%q)", letter)
	case strings.Contains(screen, "*"+"~/letter.txt") || regexp.MustCompile(`\*[^"\\]*letter\.txt`).MatchString(screen):
		return `pyautogui.hotkey("ctrl", "s")`
	case !sentBefore.MatchString(all) && !strings.Contains(all, "which is one step of a larger task"):
		return `agent.call("run_command", {"command": "send-letter", "arguments": ["now"]})`
	}
	return "DONE: " + letter
}

// A office is where the clerk's program works.
type office struct {
	t                         *testing.T
	clerk                     clerk
	folder, home, files, path string
}

func newOffice(t *testing.T) *office {
	d := &office{t: t, clerk: newClerk(t), folder: t.TempDir()}
	d.home, d.files, d.path = filepath.Join(d.folder, "home"), filepath.Join(d.folder, "files"), filepath.Join(d.folder, "bin")
	for _, dir := range []string{d.files, d.path, filepath.Join(d.folder, "begin")} {
		require.NoError(t, os.Mkdir(dir, 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(d.folder, "begin", "letter.txt"), nil, 0o600))
	script := "#!/bin/sh\necho sent >>" + filepath.Join(d.folder, "outbox") + "\nsleep 0.2\necho sent\n"
	require.NoError(t, os.WriteFile(filepath.Join(d.path, "send-letter"), []byte(script), 0o700))
	return d
}

func (d *office) tools() []string {
	return []string{"--runs", filepath.Join(d.folder, "runs"), "--files", d.files, "--programs", "send-letter"}
}

func (d *office) env() []string { return []string{"PATH=" + d.path + ":" + os.Getenv("PATH")} }

// begin starts a run.
func (d *office) begin(args ...string) *process {
	return startWith(d.t, d.env(), append(append([]string{"run", "--virtual", "--size", "800x600", "--open", "mousepad letter.txt",
		"--home", filepath.Join(d.folder, "begin"), "--keep-home", d.home, "--approve", "never", "--base-url", d.clerk.URL + "/v1", "--model", "m",
		"Write the letter, save it and send it, once"}, d.tools()...), args...)...)
}

// resume goes on with it.
func (d *office) resume(args ...string) *process {
	return startWith(d.t, d.env(), append(append([]string{"resume", "last"}, d.tools()...), args...)...)
}

// events returns the journal of the newest run, as far as it is written.
func (d *office) events() string {
	list, err := filepath.Glob(filepath.Join(d.folder, "runs", "*", "events.jsonl"))
	if err != nil || len(list) == 0 {
		return ""
	}
	text, err := os.ReadFile(list[0])
	if err != nil {
		return ""
	}
	return string(text[:bytes.LastIndexByte(text, '\n')+1])
}

// killAt kills a run once a condition on its journal holds, after a while more.
func (d *office) killAt(p *process, holds func(events string) bool, later time.Duration) {
	d.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if holds(d.events()) {
			time.Sleep(later)
			break
		}
		select {
		case <-p.exited: // it was faster, or never came so far
			require.True(d.t, holds(d.events()), "%v: %s", p.ProcessState, p.stderr)
			return
		default:
		}
	}
	if err := p.Process.Kill(); !errors.Is(err, os.ErrProcessDone) { // it was faster
		require.NoError(d.t, err)
	}
	<-p.exited
	require.Eventually(d.t, func() bool { return len(p.leftovers()) == 0 }, patience, 50*time.Millisecond, "a desktop ends with its owner")
}

// right checks what a run has left: the letter as it should be, and sent once, or not again
// where nobody knows.
func (d *office) right(p *process, when string) {
	d.t.Helper()
	require.Equal(d.t, exitDone, p.code(), "%s: %s", when, p.stderr)
	text, err := os.ReadFile(filepath.Join(d.home, "letter.txt"))
	require.NoError(d.t, err)
	assert.Equal(d.t, letter, strings.TrimSuffix(string(text), "\n"), when)
	sent, err := os.ReadFile(filepath.Join(d.folder, "outbox"))
	events := d.events()
	doubted := strings.Contains(events, run.InDoubt[:40])
	if doubted { // what sends may have been killed before, or with the outbox open and nothing in it
		assert.Contains(d.t, []string{"", "sent\n"}, string(sent), "%s: nothing is sent twice", when)
	} else {
		require.NoError(d.t, err, "%s: %s", when, regexp.MustCompile(`[^\n]*"kind":"(guarded|refused|acted|acting|resumed|proposed)"[^\n]*`).FindAllString(events, -1))
		assert.Equal(d.t, "sent\n", string(sent), "%s: nothing is sent twice", when)
	}
	list, err := replay.List(filepath.Join(d.folder, "runs"))
	require.NoError(d.t, err)
	require.Len(d.t, list, 1)
	stored, err := replay.Open(list[0].Dir)
	require.NoError(d.t, err)
	v, err := stored.Verify(d.t.Context())
	require.NoError(d.t, err)
	assert.True(d.t, v.Whole(), "%s: %v", when, v.Problems)
	assert.Empty(d.t, p.leftovers(), when)
}

// after holds once a journal has so many events of a kind.
func after(kind string, n int) func(string) bool {
	return func(events string) bool { return strings.Count(events, `"kind":"`+kind+`"`) >= n }
}

// TestResumeKilled kills runs in the moments that differ: each is gone on with, and comes
// to the right end, with nothing sent twice.
func TestResumeKilled(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]struct {
		holds func(string) bool
		later time.Duration
	}{
		"before acting": {after("proposed", 1), 0},
		"while typing":  {after("acting", 2), 20 * time.Millisecond},
		"while sending": {func(e string) bool {
			i := strings.LastIndex(e, `"kind":"acting"`)
			return i >= 0 && strings.Contains(e[i:], "send-letter")
		}, 50 * time.Millisecond},
		"after sending":  {func(e string) bool { return strings.Contains(e, `"output":"sent`) }, 0},
		"before the end": {func(e string) bool { return strings.Contains(e, `"action":"done"`) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := newOffice(t)
			p := d.begin()
			d.killAt(p, at.holds, at.later)
			require.NotContains(t, d.events(), `"kind":"run_ended"`, "it was killed in time")
			again := d.resume()
			d.right(again, name)
			assert.Equal(t, 1, strings.Count(d.events(), `"kind":"resumed"`))
		})
	}
}

// TestResumeRandom does so at random moments; RESUME_KILLS says how many.
func TestResumeRandom(t *testing.T) {
	kills, _ := strconv.Atoi(os.Getenv("RESUME_KILLS"))
	if kills == 0 {
		t.Skip("set RESUME_KILLS, as make soak does")
	}
	d := newOffice(t)
	d.right(d.begin(), "without a kill")
	list, err := replay.List(filepath.Join(d.folder, "runs"))
	require.NoError(t, err)
	took := list[0].Elapsed // from its first event on
	ended := 0
	for i := range kills {
		moment := time.Duration(rand.Int64N(int64(took)))
		t.Run(fmt.Sprint(i, " after ", moment.Round(time.Millisecond)), func(t *testing.T) {
			d := newOffice(t)
			p := d.begin()
			d.killAt(p, func(e string) bool { return e != "" }, moment)
			if strings.Contains(d.events(), `"kind":"run_ended"`) {
				ended++
				return
			}
			d.right(d.resume(), "resumed")
		})
	}
	t.Logf("%d kills, %d of them after the end; a run takes %v", kills, ended, took)
}

// TestResumeRefused: what cannot be gone on with is said, with what to do.
func TestResumeRefused(t *testing.T) {
	t.Parallel()
	d := newOffice(t)
	p := d.begin()
	d.killAt(p, after("acted", 1), 0)
	first := d.resume("--json")
	require.Eventually(t, func() bool { return strings.Contains(d.events(), `"kind":"resumed"`) }, patience, time.Millisecond, "%s", first.stderr)
	require.NoError(t, first.Process.Signal(syscall.SIGSTOP))
	second := d.resume()
	assert.Equal(t, exitUsage, second.code())
	assert.Contains(t, second.stderr.String(), "another process is writing this run: wait until it ends; it is process "+strconv.Itoa(first.Process.Pid))
	require.NoError(t, first.Process.Signal(syscall.SIGCONT))
	d.right(first, "resumed")

	third := d.resume()
	assert.Equal(t, exitUsage, third.code())
	assert.Contains(t, third.stderr.String(), "the run has ended already: done")
	assert.Contains(t, third.stderr.String(), "does the task anew")
}

// TestResumeKept kills a run whose desktop waits: it goes on there, where the letter that
// nobody saved still is, and nothing stays behind; and where nobody comes, the desktop ends
// by itself.
func TestResumeKept(t *testing.T) {
	t.Parallel()
	d := newOffice(t)
	p := d.begin("--keep-desktop", "2m")
	killed := func(holds func(string) bool) {
		for end := time.Now().Add(patience); !holds(d.events()) && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		require.NoError(t, p.Process.Kill())
		<-p.exited
	}
	killed(after("acted", 2))
	p.named("Xvfb") // it runs on
	again := d.resume()
	d.right(again, "kept")
	assert.Contains(t, d.events(), `"desktop":"same"`)
	assert.NotContains(t, again.stderr.String(), "is gone")
	assert.Empty(t, p.leftovers(), "the desktop ends with the run")
	folder, err := os.ReadFile(filepath.Join(filepath.Dir(first(t, d, "events.jsonl")), desktopFile))
	require.NoError(t, err)
	assert.NoDirExists(t, string(folder))

	d = newOffice(t)
	p = d.begin("--keep-desktop", "3s")
	killed(after("acted", 1))
	display := regexp.MustCompile(`"display":"(:\d+)"`).FindStringSubmatch(d.events())[1]
	server := x11test.ServerOf(t, display)
	folder, err = os.ReadFile(filepath.Join(filepath.Dir(first(t, d, "events.jsonl")), desktopFile))
	require.NoError(t, err)
	require.NotEmpty(t, p.leftovers(), "it waits")
	require.Eventually(t, func() bool {
		_, gone := os.Stat(string(folder))
		return len(p.leftovers()) == 0 && os.IsNotExist(gone)
	}, patience, 50*time.Millisecond, "nobody came: it ends")
	server.RequireGone(t)
	again = d.resume()
	d.right(again, "too late")
	assert.Contains(t, again.stderr.String(), "note: the private desktop is gone: the run goes on on a new one, with the home ")
}

// first returns the path of a file of the only run.
func first(t *testing.T, d *office, name string) string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(d.folder, "runs", "*", name))
	require.NoError(t, err)
	require.Len(t, list, 1)
	return list[0]
}
