package rehearsal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/agent"
	"desktop-agent/guard"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/rehearsal"
	"desktop-agent/replay"
	"desktop-agent/replay/offline"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/worldmodel"
)

// A company plays all models: rehearsals that go different ways, a judge, and an actor that
// in earnest does what it is shown.
type company struct {
	judge func(records map[string]string) map[string]any

	mu     sync.Mutex
	begun  int
	shown  string // what the actor was shown in earnest
	judged int

	calendar calendar // the third of ways asks it
}

// ways are what rehearsals write into the field; the third asks a tool, and gives
// up.
var ways = []string{"ann@example.org", "everyone@example.org", ""}

// Complete is of [llm.Model].
func (c *company) Complete(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reply := func(v any) (*llm.Response, error) { return llmtest.JSON(v)(ctx, r) }
	switch r.Purpose {
	case run.PurposeJudge:
		c.judged++
		return reply(map[string]any{"reason": "a mail is sent", "irreversible": true, "blocked_effects": []string{"send"}, "blocked_tools": []string{}})
	case run.PurposeForesee:
		none := map[string]any{"severity": "none", "probability": 0, "reason": ""}
		return reply(map[string]any{"expected": "It is sent.", "effect": "send", "reversible": false, "undo": nil, "short_term": none, "long_term": none,
			"violated_policy_ids": []string{}, "asked_for_by_task": true, "task_words": "Send the mail", "lifts": nil, "better": nil})
	case "assess":
		return reply(map[string]any{"changed": "a window", "as_expected": "yes", "progress_step": 0, "evidence": "", "guidance": nil, "stop": false, "region": nil})
	case "goal":
		return reply(map[string]any{"shown": true, "evidence": "Mail", "missing": "", "region": nil})
	case run.PurposeChoose:
		records := map[string]string{}
		for _, part := range strings.Split(llmtest.LastText(r), "Rehearsal ")[1:] {
			number, text, _ := strings.Cut(part, ":")
			records[number] = text
		}
		return reply(c.judge(records))
	case "propose":
		return llmtest.Text("Thought: on it goes.\nExpect: it is so.\n```python\n"+c.act(r)+"\n```")(ctx, r)
	}
	return nil, fmt.Errorf("nobody plays %q", r.Purpose)
}

// act is the next block of an actor, by what it said before.
func (c *company) act(r *llm.Request) string {
	all, said := "", ""
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if text, ok := p.(llm.Text); ok {
				all += string(text) + "\n"
				if m.From == llm.Assistant {
					said += string(text) + "\n"
				}
			}
		}
	}
	send := `agent.click("n0")`
	if m := regexp.MustCompile(`\b(n\d+)\b[^\n"]*"Send"`).FindStringSubmatch(llmtest.LastText(r)); m != nil {
		send = fmt.Sprintf("agent.click(%q)", m[1])
	}
	switch {
	case strings.Contains(said, "agent.click("):
		return "DONE"
	case strings.Contains(said, "write("):
		return send
	case strings.Contains(said, "agent.call("):
		return "FAIL: I do not know to whom"
	case strings.Contains(all, "This is a rehearsal"):
		way := ways[c.begun%len(ways)]
		if c.begun++; way == "" {
			return `agent.call("calendar")`
		}
		return fmt.Sprintf("pyautogui.write(%q)", way)
	}
	c.shown = all
	return fmt.Sprintf("pyautogui.write(%q)", regexp.MustCompile(`\w+@example\.org`).FindString(all))
}

// mail is a program that sends: a line in a file that is in no home.
const mail = `#!/bin/sh
to=$(zenity --entry --title Mail --text To: --ok-label Send) && echo "$HOME $to" >>%s && exec zenity --info --title Mail --text Sent
`

// sent has a task done that sends a mail, with three rehearsals, and returns what was really
// sent, the run, and how it ended.
func sent(t *testing.T, c *company) (lines []string, home, dir string, result agent.Result) {
	t.Helper()
	if _, err := exec.LookPath("zenity"); err != nil {
		t.Skip("needs zenity: apt-get install zenity")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	from, runs, sink := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "outbox")
	require.NoError(t, os.WriteFile(filepath.Join(from, "mail.sh"), fmt.Appendf(nil, mail, sink), 0o700))
	settings := run.Defaults()
	settings.Display = runtest.Private()
	settings.Display.Open, settings.Display.Home = "sh mail.sh", from
	settings.Agent.Planning, settings.Agent.Rehearsals, settings.Agent.Approve = "off", 3, string(guard.Never)
	var journal *replay.Journal
	s, err := run.Open(ctx, settings, &run.Options{
		Client:   &llm.Client{Model: c, Default: llm.Settings{Model: "company"}, Retry: llm.Retry{Attempts: 1}, Budget: &llm.Budget{}},
		GuardFor: (&guard.Options{}).Guard, Tools: &c.calendar,
		Journal: func() (_ run.Journal, err error) {
			journal, err = replay.Create(runs)
			return journal, err
		},
	})
	require.NoError(t, err)
	a, err := agent.New(s)
	require.NoError(t, err)
	a.Rehearse = (&rehearsal.Rehearsal{Session: s, Runs: runs}).Do
	result, err = a.Run(ctx, "Send the mail to Ann")
	require.NoError(t, err)
	home = s.Private.Home()
	require.NoError(t, s.Close())
	text, _ := os.ReadFile(sink) // none if nothing was sent
	lines = strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
	return lines, home, journal.Dir(), result
}

// calendar is a toolbox that counts its calls.
type calendar struct{ calls atomic.Int32 }

func (*calendar) Offer() []run.Tool {
	return []run.Tool{{Tool: llm.Tool{Name: "calendar", Parameters: []byte(`{"type":"object"}`)}, Effect: worldmodel.EffectNone}}
}

func (c *calendar) Do(context.Context, string, []byte) (string, error) {
	c.calls.Add(1)
	return "There is nothing.", nil
}

// events returns the events of a type of a stored run.
func events[T run.EventData](t *testing.T, dir string) (list []T) {
	t.Helper()
	stored, err := replay.Open(dir)
	require.NoError(t, err)
	for e, err := range stored.Events() {
		require.NoError(t, err)
		if d, ok := e.Data.(T); ok {
			list = append(list, d)
		}
	}
	return list
}

// TestRehearsedThenSentOnce tries a task that sends a mail three times on real desktops of
// one home: nothing is sent, each is held back at the button, a judge takes the one that
// writes to whom the task says, and the run does as that one did and sends, once. The run
// can be replayed.
func TestRehearsedThenSentOnce(t *testing.T) {
	c := &company{judge: func(records map[string]string) map[string]any {
		for number, text := range records {
			if strings.Contains(text, "ann@") {
				n := int(number[0] - '0')
				return map[string]any{"reason": "The task says Ann.", "chosen": n}
			}
		}
		return map[string]any{"reason": "None writes to Ann.", "chosen": 0}
	}}
	lines, home, dir, result := sent(t, c)
	require.Equal(t, run.OutcomeDone, result.Outcome, result.Answer)
	assert.Equal(t, []string{home + " ann@example.org"}, lines, "sent once, by the run")
	assert.Equal(t, 1, c.judged, "the task is judged once")
	assert.EqualValues(t, 1, c.calendar.calls.Load(), "a rehearsal has the tools of the run")
	assert.Contains(t, c.shown, `type "ann@example.org"`, "the actor is shown how it was rehearsed")
	assert.NotContains(t, c.shown, "everyone@")

	all := events[run.Rehearsed](t, dir)
	require.Len(t, all, 1)
	e := all[0]
	require.Len(t, e.Tries, 3)
	assert.Equal(t, "judge", e.By)
	assert.Equal(t, "The task says Ann.", e.Reason)
	passed := 0
	for _, try := range e.Tries {
		assert.Empty(t, try.Error)
		of := filepath.Join(filepath.Dir(dir), try.Run)
		assert.FileExists(t, filepath.Join(of, "report.html"))
		if !try.Passed() {
			assert.Equal(t, run.OutcomeInfeasible, try.Outcome)
			continue
		}
		passed++
		require.Len(t, try.Held, 1)
		assert.Contains(t, try.Held[0], `"Send"`)
		refused := slices.DeleteFunc(events[run.Guarded](t, of), func(g run.Guarded) bool { return g.Allowed })
		require.Len(t, refused, 1)
		assert.Equal(t, guard.ByRehearsal, refused[0].By)
		assert.Len(t, events[run.TaskJudged](t, of), 1, "the verdict of the run")
	}
	assert.Equal(t, 2, passed)
	assert.True(t, e.Tries[e.Chosen-1].Passed())

	stored, err := replay.Open(dir)
	require.NoError(t, err)
	again, err := offline.New(stored, nil)
	require.NoError(t, err)
	same, err := again.Run(t.Context())
	require.NoError(t, err)
	assert.Empty(t, same.Differences)
	assert.Zero(t, same.Unused)
	assert.Empty(t, same.Prompts, "the actor is shown the same")

	cut := t.TempDir() // of a program that ended while it rehearsed
	require.NoError(t, os.CopyFS(cut, os.DirFS(dir)))
	text, err := os.ReadFile(filepath.Join(cut, "events.jsonl"))
	require.NoError(t, err)
	before, _, ok := strings.Cut(string(text), `"rehearsed"`)
	require.True(t, ok)
	require.NoError(t, os.WriteFile(filepath.Join(cut, "events.jsonl"), []byte(before[:strings.LastIndex(before, "\n")+1]), 0o600))
	info, err := os.ReadFile(filepath.Join(cut, "run.json"))
	require.NoError(t, err)
	var asked map[string]any
	require.NoError(t, json.Unmarshal(info, &asked))
	asked["state"], asked["events"], asked["frames"] = "running", 0, 0
	for _, key := range []string{"closed", "ended", "head", "files"} {
		delete(asked, key)
	}
	info, err = json.Marshal(asked)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(cut, "run.json"), info, 0o600))
	stored, err = replay.Open(cut)
	require.NoError(t, err)
	_, _, err = (&offline.Resumption{Stored: stored}).Agent(t.Context())
	require.ErrorIs(t, err, replay.ErrNotResumable)
	assert.ErrorContains(t, err, "ended while the task was rehearsed")
}

// TestNothingIsDoneWhereNoneIsChosen holds that where the judge finds that each rehearsal
// does what the task does not ask for, the desktop of the run is not even looked at.
func TestNothingIsDoneWhereNoneIsChosen(t *testing.T) {
	c := &company{judge: func(map[string]string) map[string]any {
		return map[string]any{"reason": "Each writes to somebody else.", "chosen": 0}
	}}
	lines, _, dir, result := sent(t, c)
	assert.Equal(t, run.OutcomeBlocked, result.Outcome)
	assert.Equal(t, "it was rehearsed, and nothing was done: Each writes to somebody else.", result.Answer)
	assert.Empty(t, lines)
	assert.Empty(t, events[run.Observed](t, dir))
	assert.Empty(t, c.shown)
}
