package offline_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/replay"
	"desktop-agent/replay/offline"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// pagesToTurn is how often the button of the pages has to be clicked, and no more often.
const pagesToTurn = 4

// A reader is an actor that decides by the screen which it is shown: whatever came before.
type reader struct{ *script }

var shownPage = regexp.MustCompile(`"Page (\d+)"`)

func (r reader) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if req.Role != llm.Actor {
		return r.script.Complete(ctx, req)
	}
	all := fmt.Sprint(req.Messages[len(req.Messages)-1].Parts)
	found := shownPage.FindAllStringSubmatch(all, -1)
	if found == nil {
		return nil, errors.New("no page is shown: " + all)
	}
	page, _ := strconv.Atoi(found[len(found)-1][1])
	r.mu.Lock()
	defer r.mu.Unlock()
	text := "Thought: all seen.\nExpect: nothing.\n```python\nDONE: all seen\n```"
	if page < pagesToTurn {
		text = fmt.Sprintf("Thought: page %d is next.\nExpect: the title says so.\n```python\nagent.note('was on %d')\npyautogui.click(%d, 30)\n```", page+1, page, 30+page*60)
		if page == 1 {
			text = "Thought: two at once.\nExpect: page 3.\n```python\npyautogui.click(90, 30)\npyautogui.click(90, 30)\n```"
		}
	}
	return &llm.Response{Text: text, Model: "script", Finish: "stop", Usage: llm.Usage{Input: 1000, Output: 50}}, nil
}

// cutAfter returns a copy of a run as it was when its program was killed after so many
// events, with a beginning of the next, and how far its pages were turned by then: at least
// and at most.
func cutAfter(t *testing.T, stored *replay.Run, events int) (dir string, least, most int) {
	t.Helper()
	dir = copied(t, stored)
	data, err := os.ReadFile(filepath.Join(stored.Dir, "events.jsonl"))
	require.NoError(t, err)
	lines := strings.SplitAfter(string(data), "\n")
	cut := strings.Join(lines[:events], "")
	if next := lines[events]; next != "" {
		cut += next[:len(next)/2]
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "events.jsonl"), []byte(cut), 0o600))
	path := filepath.Join(dir, "run.json")
	info, err := os.ReadFile(path)
	require.NoError(t, err)
	text := regexp.MustCompile(`(?s)  "ended": \{.*?\n  \},\n`).ReplaceAllString(string(info), "")
	text = regexp.MustCompile(`"state": "\w+"`).ReplaceAllString(text, `"state": "running"`)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	n := 0
	for e, err := range stored.Events() {
		require.NoError(t, err)
		if n++; n > events {
			break
		}
		switch data := e.Data.(type) {
		case run.Observed:
			_, err := fmt.Sscanf(data.Windows[0].Title, "Page %d", &least)
			require.NoError(t, err)
			most = least
		case run.Acting:
			least = most
			most++ // a key turns them too
		case run.Acted:
			least = most
		}
	}
	return dir, least, most
}

// resume goes on with a run on a world that stands at a page.
func resume(t *testing.T, dir string, page int) (*replay.Run, *script, run.Result) {
	t.Helper()
	return resumeBy(t, dir, page, reading)
}

func reading(r reader) llm.Model { return r }

// resumeBy is resume with another model.
func resumeBy(t *testing.T, dir string, page int, model func(reader) llm.Model) (*replay.Run, *script, run.Result) {
	t.Helper()
	cut := open(t, dir)
	j, err := replay.Reopen(dir)
	require.NoError(t, err)
	stored := open(t, dir)
	asked, err := offline.Resumable(stored)
	require.NoError(t, err)
	s := newScript(pagesToTurn, image.Pt(400, 300))
	s.now, s.looks = page, 10*int(cut.Cut)+1000*(1+countEvents(t, stored))
	client := &llm.Client{Model: model(reader{s}), Roles: asked.Settings.Models.Roles, Retry: llm.Retry{Attempts: 1}, Budget: &llm.Budget{}}
	session, err := run.Open(t.Context(), asked.Settings, &run.Options{
		Client: client, Desktop: s, Device: s, Guard: s.guard, Journal: func() (run.Journal, error) { return j, nil },
	})
	require.NoError(t, err)
	a, done, err := (&offline.Resumption{Session: session, Stored: stored, Cut: cut.Cut, Desktop: run.SameDesktop}).Agent(t.Context())
	require.NoError(t, err)
	defer done()
	result, err := a.Run(t.Context(), asked.Task)
	require.NoError(t, err, dir)
	require.NoError(t, session.Close())
	after := open(t, dir)
	v, err := after.Verify(t.Context())
	require.NoError(t, err)
	require.True(t, v.Whole(), pretty(v.Problems))
	return after, s, result.Result
}

// killedAfterEach kills a run after each of its events, and has a model go on with it, wherever
// its pages stand by then: each time it comes to the end, and every page is turned once. then
// looks at what came of it.
func killedAfterEach(t *testing.T, stored *replay.Run, model func(reader) llm.Model, then func(events int, after *replay.Run)) {
	t.Helper()
	for events := 1; events < countEvents(t, stored); events++ {
		dir, least, most := cutAfter(t, stored, events)
		for came := least; came <= most; came++ {
			from := dir
			if came < most {
				from, _, _ = cutAfter(t, stored, events)
			}
			after, s, result := resumeBy(t, from, came, model)
			require.Equal(t, run.OutcomeDone, result.Outcome, "after %d events: %s", events, result.Answer)
			require.Equal(t, pagesToTurn, s.now, "after %d events", events)
			then(events, after)
		}
	}
}

func countEvents(t *testing.T, r *replay.Run) (n int) {
	for _, err := range r.Events() {
		require.NoError(t, err)
		n++
	}
	return n
}

// recordPages records a run that turns the pages.
func recordPages(t *testing.T, change ...func(*run.Settings)) *replay.Run {
	s := newScript(pagesToTurn, image.Pt(400, 300))
	return recordBy(t, s, reader{s}, true, change...)
}

// TestResumedAtEveryEvent kills a run after each of its events, and again after events of
// what was resumed: each time it goes on to the end, every page is turned once, and the
// journal is whole.
func TestResumedAtEveryEvent(t *testing.T) {
	stored := recordPages(t)
	require.Equal(t, run.OutcomeDone, stored.Info.Ended.Outcome)
	killedAfterEach(t, stored, reading, func(events int, after *replay.Run) {
		require.True(t, resumedOnce(t, after, events), "after %d events", events)
		if events%8 != 0 {
			return
		}
		for again := events + 1; again < countEvents(t, after); again += 5 {
			twice, least, _ := cutAfter(t, after, again)
			_, s, result := resume(t, twice, least)
			require.Equal(t, run.OutcomeDone, result.Outcome, "after %d and %d events: %s", events, again, result.Answer)
			require.Equal(t, pagesToTurn, s.now, "after %d and %d events", events, again)
		}
	})
	t.Logf("%d events", countEvents(t, stored))
}

// TestResumedAfterAnotherWasChosen kills a run in which a person chose another action, after
// each of its events: what was chosen is not chosen again, and not done again.
func TestResumedAfterAnotherWasChosen(t *testing.T) {
	s := newScript(pagesToTurn, image.Pt(400, 300))
	s.guard = choosing{actuator.Press{Keys: []actuator.Key{"esc"}, Count: 1}}
	stored := recordBy(t, s, reader{s}, true)
	chosen := 0
	for e, err := range stored.Events() {
		require.NoError(t, err)
		if data, ok := e.Data.(run.Acting); ok && actuator.Same(data.Action.Action, s.guard.(choosing).Action) {
			chosen++
		}
	}
	require.Equal(t, 1, chosen)
	killedAfterEach(t, stored, reading, func(int, *replay.Run) {})
}

// A checked model is one against whose calls its provider has something.
type checked struct{ reader }

func (c checked) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	reply, err := c.reader.Complete(ctx, req)
	if err == nil && req.Role == llm.Actor {
		reply.Calls = []llm.ToolCall{{ID: "call", Name: "act", Arguments: "{}", Checks: []llm.Check{{ID: "sc", Code: "misuse"}}}}
	}
	return reply, err
}

// An accepting guard allows everything, also against a provider.
type accepting struct{ refusing }

func (accepting) Accept(context.Context, run.Concern) (string, error) { return "a person", nil }

// TestResumedWithChecks kills a run, after each of its events, in which a person accepted what
// the provider had against each call: none of that is refused when it is resumed.
func TestResumedWithChecks(t *testing.T) {
	s := newScript(pagesToTurn, image.Pt(400, 300))
	s.guard = accepting{}
	stored := recordBy(t, s, checked{reader{s}}, true)
	require.Equal(t, run.OutcomeDone, stored.Info.Ended.Outcome)
	model := func(r reader) llm.Model {
		r.guard = accepting{}
		return checked{r}
	}
	killedAfterEach(t, stored, model, func(events int, after *replay.Run) {
		asked := 0
		for e, err := range after.Events() {
			require.NoError(t, err)
			if data, ok := e.Data.(run.Checked); ok {
				asked++
				require.True(t, data.Accepted, "after %d events: %s", events, data.Reason)
			}
		}
		require.Positive(t, asked)
	})
}

// A dissenting model proposes what a guard refuses, most of the time, beside what another one
// proposes.
type dissenting struct {
	reader
	asked *atomic.Int32
}

func (d dissenting) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	reply, err := d.reader.Complete(ctx, req)
	if err == nil && req.Role == llm.Actor && d.asked.Add(1)%3 != 0 {
		reply.Text = code("pyautogui.click(200, 200)")
	}
	return reply, err
}

// A previewing guard tells of candidates what it would rule.
type previewing struct{ refusing }

func (p previewing) Preview(ctx context.Context, in run.Intent) (run.Guarded, error) {
	_, err := p.Allow(ctx, in)
	return run.Guarded{Foresight: &worldmodel.Foresight{ShortTerm: worldmodel.Risk{Severity: worldmodel.High, Probability: 3}}}, err
}

// TestCandidatesAreChosenAgain holds that a replay, and a run that is resumed after any of its
// events, choose the candidate that was chosen, which is not the one that most agree on.
func TestCandidatesAreChosenAgain(t *testing.T) {
	s := newScript(pagesToTurn, image.Pt(400, 300))
	s.guard = previewing{200}
	stored := recordBy(t, s, dissenting{reader{s}, new(atomic.Int32)}, true, func(set *run.Settings) { set.Agent.Candidates = 3 })
	require.Equal(t, run.OutcomeDone, stored.Info.Ended.Outcome)
	same(t, again(t, stored, nil))
	model := func(r reader) llm.Model {
		r.guard = previewing{200}
		return dissenting{r, new(atomic.Int32)}
	}
	killedAfterEach(t, stored, model, func(int, *replay.Run) {})
}

func resumedOnce(t *testing.T, r *replay.Run, from int) bool {
	n := 0
	for e, err := range r.Events() {
		require.NoError(t, err)
		if data, ok := e.Data.(run.Resumed); ok {
			n++
			assert.Equal(t, from, data.From)
			assert.Equal(t, from+1, e.Seq)
		}
	}
	return n == 1
}

// TestResumableNot: what cannot be gone on with says why.
func TestResumableNot(t *testing.T) {
	for name, tt := range map[string]struct {
		started *run.RunStarted
		want    string
	}{
		"nothing was asked": {nil, "does not tell what was asked"},
		"a recording":       {&run.RunStarted{Schema: run.Schema, Task: "x", Models: map[string]string{"actor": "person"}}, "a recording of a person"},
		"a macro":           {&run.RunStarted{Schema: run.Schema, Task: "x", Replay: &run.Replay{Run: "R", How: "macro"}}, "it does the run R again"},
		"a replay":          {&run.RunStarted{Schema: run.Schema, Task: "x", Parser: "code", Replay: &run.Replay{Run: "R", How: "model"}}, "it does the run R again"},
		"no model":          {&run.RunStarted{Schema: run.Schema, Task: "x"}, "no model decided"},
		"another planning":  {&run.RunStarted{Schema: run.Schema, Task: "x", Parser: "code", Planning: "clairvoyant"}, `does not know planning "clairvoyant"`},
		"another format":    {&run.RunStarted{Schema: run.Schema, Task: "x", Parser: "none of these", Planning: "off"}, "none of these"},
	} {
		t.Run(name, func(t *testing.T) {
			j, err := replay.Create(t.TempDir())
			require.NoError(t, err)
			if tt.started != nil {
				require.NoError(t, j.Append(t.Context(), 0, *tt.started))
			}
			require.NoError(t, j.Close())
			_, err = offline.Resumable(open(t, j.Dir()))
			require.ErrorIs(t, err, replay.ErrNotResumable)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// TestResumeAstray: a journal that does not lead where this program goes is not gone on
// with, and stays as it is.
func TestResumeAstray(t *testing.T) {
	dir, _, _ := cutAfter(t, rewritten(t, recordPages(t), "pyautogui.click(30, 30)", "pyautogui.click(31, 30)"), 30)
	path := filepath.Join(dir, "events.jsonl")
	j, err := replay.Reopen(dir)
	require.NoError(t, err)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	stored := open(t, dir)
	asked, err := offline.Resumable(stored)
	require.NoError(t, err)
	s := newScript(pagesToTurn, image.Pt(400, 300))
	session, err := run.Open(t.Context(), asked.Settings, &run.Options{
		Client: &llm.Client{Model: reader{s}, Default: llm.Settings{Model: "script"}}, Desktop: s, Device: s, Journal: func() (run.Journal, error) { return j, nil },
	})
	require.NoError(t, err)
	a, done, err := (&offline.Resumption{Session: session, Stored: stored, Desktop: run.SameDesktop}).Agent(t.Context())
	require.NoError(t, err)
	defer done()
	_, err = a.Run(t.Context(), asked.Task)
	require.ErrorContains(t, err, "the run goes another way than the recorded one")
	require.NoError(t, session.Close())
	require.Zero(t, s.now, "nothing is done")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}
