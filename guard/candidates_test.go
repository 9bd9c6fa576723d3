package guard_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/pyautogui"
	"desktop-agent/agent"
	"desktop-agent/guard"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/monitor"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/worldmodel"
)

// play runs an agent whose actor is asked for several proposals at a time: those of a
// turn are handed out in the order of the requests. came is what the assessment of each
// screen says of what was foreseen.
func play(t *testing.T, turns [][]string, foresee func(text string) map[string]any, came worldmodel.Outcome) (*run.Memory, map[string]int) {
	t.Helper()
	var mu sync.Mutex
	calls, asked := map[string]int{}, 0
	n := len(turns[0])
	model := llmtest.Func(func(ctx context.Context, r *llm.Request) (*llm.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		calls[r.Purpose]++
		switch r.Purpose {
		case run.PurposeJudge:
			return reading(ctx, r)
		case run.PurposeForesee:
			return llmtest.JSON(foresee(llmtest.LastText(r)))(ctx, r)
		case "assess":
			return llmtest.JSON(map[string]any{"changed": "x", "as_expected": string(came), "progress_step": 1, "evidence": "", "guidance": nil, "stop": false, "region": nil})(ctx, r)
		case "goal":
			return llmtest.JSON(map[string]any{"shown": true, "evidence": "Fake window", "missing": "", "region": nil})(ctx, r)
		case "propose":
			turn, i := asked/n, asked%n
			asked++
			if turn >= len(turns) || turns[turn][i] == "" {
				return nil, &llm.Error{Kind: llm.ErrUnavailable}
			}
			return llmtest.Text("Thought: t\nExpect: e\n```python\n"+turns[turn][i]+"\n```")(ctx, r)
		}
		return nil, errors.New("nobody plays " + r.Purpose)
	})
	d, journal := &runtest.Desktop{}, &run.Memory{}
	scope := run.NewRecorder(journal, nil).Scope(run.Where{})
	client := &llm.Client{Model: model, Default: llm.Settings{Model: "m"}, Record: scope.Call, Retry: llm.Retry{Attempts: 1}}
	world := &worldmodel.Model{LLM: client}
	hand := run.NewHand(d, scope, &guard.Guard{World: world, Policies: guard.DefaultPolicies(), Model: client, Analysers: []llm.Role{llm.Monitor}})
	a := &agent.Agent{
		Desktop: d, Hand: hand, Scope: scope, World: world, MaxSteps: 8,
		Actor:    &agent.Actor{Model: client, Format: agent.Format{Name: "code", Parser: pyautogui.Parser{}}},
		Settings: run.Settings{Agent: run.AgentSettings{OnBlock: run.OnBlockWait, Candidates: n}},
	}
	_, err := a.Run(t.Context(), "Delete the old report")
	require.NoError(t, err)
	return journal, calls
}

// did is what was really done, in words.
func did(journal *run.Memory) (list []string) {
	for _, e := range runtest.All[run.Acting](journal.Events()) {
		list = append(list, actuator.DescribeFull(e.Action.Action))
	}
	return list
}

// TestCandidates asks for three proposals at a time: each different one is foreseen, and
// exactly one is done, by what the guard would allow, what most agree on, and what risks
// least, whichever reply comes first.
func TestCandidates(t *testing.T) {
	const keeps, del, odd = "pyautogui.scroll(-3)", "pyautogui.press('delete')", "pyautogui.hotkey('ctrl', 'f9')"
	done := []string{"DONE", "DONE", "DONE"}
	risky := func(text string) map[string]any {
		if strings.Contains(text, "delete") {
			return foresight("delete", false, false, "")
		}
		return foresight("edit", true, false, "")
	}
	for _, tt := range []struct {
		name     string
		first    []string
		want     string
		foreseen int
		agreed   int
	}{
		{"what is refused is not chosen, whoever wants it", []string{del, del, keeps}, "scroll", 1, 1},
		{"what most agree on", []string{odd, keeps, keeps}, "scroll", 1, 2},
		{"all the same: nothing is compared", []string{keeps, keeps, keeps}, "scroll", 0, 3},
		{"one that is no action does not count", []string{"import os", "print(1)", keeps}, "scroll", 0, 1},
		{"one that does not come does not count", []string{"", keeps, ""}, "scroll", 0, 1},
	} {
		for turned := range 3 {
			first := append(tt.first[turned:len(tt.first):len(tt.first)], tt.first[:turned]...)
			journal, calls := play(t, [][]string{first, done}, risky, worldmodel.Unclear)
			acts := did(journal)
			require.Len(t, acts, 1, "%s: exactly one", tt.name)
			assert.Contains(t, acts[0], tt.want, tt.name)
			assert.Equal(t, tt.foreseen, calls[run.PurposeForesee], tt.name)
			p := runtest.All[run.Proposed](journal.Events())[0]
			assert.Equal(t, 3, p.Candidates, tt.name)
			assert.Equal(t, tt.agreed, p.Agreed, tt.name)
			assert.NotEmpty(t, p.Why, tt.name)
		}
	}
	t.Run("all are refused: none is done, and what was foreseen is not asked twice", func(t *testing.T) {
		journal, calls := play(t, [][]string{{del, "pyautogui.hotkey('shift', 'delete')", del}, done}, risky, worldmodel.Unclear)
		assert.Empty(t, did(journal))
		assert.Len(t, runtest.All[run.Refused](journal.Events()), 1)
		assert.Equal(t, 2, calls[run.PurposeForesee], "one for each, and none for the refusal")
	})
}

// TestMiss has a foresight that does not come true: the detectors notice it.
func TestMiss(t *testing.T) {
	const odd, typed = "pyautogui.hotkey('ctrl', 'f9')", "pyautogui.press('backspace')"
	edits := func(string) map[string]any { return foresight("edit", true, false, "") }
	for came, want := range map[worldmodel.Outcome]bool{worldmodel.No: true, worldmodel.Yes: false, worldmodel.Unclear: false} {
		journal, _ := play(t, [][]string{{odd}, {typed}, {"DONE"}}, edits, came)
		missed := false
		for _, e := range runtest.All[run.Reviewed](journal.Events()) {
			missed = missed || slices.ContainsFunc(e.Signals, func(s monitor.Signal) bool { return s.Kind == monitor.Missed })
		}
		assert.Equal(t, want, missed, came)
	}
}

// TestDoubt holds what care is: edits that the table knows to be harmless are foreseen
// after a miss, five of them where nothing else is set, and what changes nothing is not.
func TestDoubt(t *testing.T) {
	edit := run.Intent{Action: actuator.Type{Text: "a"}, On: look("Mousepad", "normal", "notes.txt", focused("text", "", "Hello"))}
	for set, want := range map[int]int{0: 5, 2: 2} {
		w := &counting{}
		g := started(t, &guard.Guard{World: w, CarefulEdits: set}, cleanUp)
		allow := func(in run.Intent) {
			_, err := g.Allow(t.Context(), in)
			require.NoError(t, err)
		}
		allow(edit)
		assert.Zero(t, w.n)
		g.Missed()
		allow(run.Intent{Action: actuator.Scroll{DY: 3}, On: edit.On})
		assert.Zero(t, w.n)
		for range 7 {
			allow(edit)
		}
		assert.Equal(t, want, w.n)
	}
}

// TestPreview holds that an action is allowed before it is chosen if it is when it is
// proposed, and nobody is asked; that nothing is counted by that; and that what was foreseen
// is not asked again.
func TestPreview(t *testing.T) {
	edit := run.Intent{Action: actuator.Type{Text: "a"}, On: look("Mousepad", "normal", "notes.txt", focused("text", "", "Hello"))}
	lost := loses(false)
	lost.Effect = worldmodel.EffectEdit
	free := &guard.Workspace{Home: "/home/user"}
	undoable := loses(true)
	undoable.Undoable = true
	allowedBefore := func(g *guard.Guard) {
		g.Recall(shiftDelete(), run.Guarded{Allowed: true, By: "approval", Reason: "a person allowed it, and this kind for the run", Effect: worldmodel.EffectDelete})
	}
	replayed := shiftDelete()
	replayed.Source = run.FromRecording
	for _, tt := range []struct {
		name   string
		in     run.Intent
		see    worldmodel.Foresight
		free   *guard.Workspace
		before func(*guard.Guard)
		by     string // that refuses; "" if it is allowed
		calls  int    // of who foresees
	}{
		{"harmless", run.Intent{Action: actuator.Scroll{DY: 1}}, lost, nil, nil, "", 0},
		{"files of a workspace", shiftDelete(), lost, free, nil, "", 0},
		{"files of a workspace, in doubt", shiftDelete(), lost, free, func(g *guard.Guard) { g.Doubt(shiftDelete()) }, "in doubt", 0},
		{"a kind that a person allowed", shiftDelete(), lost, nil, allowedBefore, "", 0},
		{"a kind that a person allowed, in doubt", shiftDelete(), lost, nil, func(g *guard.Guard) { allowedBefore(g); g.Doubt(shiftDelete()) }, "in doubt", 0},
		{"from a recording", replayed, lost, nil, nil, "", 0},
		{"an edit", edit, lost, nil, nil, "", 0},
		{"an edit after a miss", edit, lost, nil, (*guard.Guard).Missed, "foresight", 1},
		{"what is foreseen, and asked for", shiftDelete(), undoable, nil, nil, "", 1},
		{"what is foreseen, and not asked for", shiftDelete(), loses(false), nil, nil, "irreversibility", 1},
		{"what was refused before", shiftDelete(), undoable, nil, func(g *guard.Guard) {
			g.Recall(shiftDelete(), run.Guarded{By: "policy deleting", Reason: "no", Effect: worldmodel.EffectDelete, Times: 1})
		}, "policy deleting", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, times := sees(tt.see), map[bool]int{}
			for _, previewed := range []bool{false, true} {
				s.asked = nil
				ask, questions := answers()
				g := started(t, &guard.Guard{World: s, Workspace: tt.free, Approve: guard.Never, CarefulEdits: 1}, cleanUp)
				if tt.before != nil {
					tt.before(g)
				}
				if previewed {
					g.Approve, g.Ask = guard.Risky, ask
					for range 2 {
						ruling, err := g.Preview(t.Context(), tt.in)
						assert.Equal(t, tt.by == "", err == nil, "%v", err)
						assert.Equal(t, tt.by == "", ruling.Allowed)
						assert.Equal(t, tt.by, refusedBy(ruling))
					}
					assert.Empty(t, *questions, "nobody is asked")
					g.Approve = guard.Never
				}
				ruling, err := g.Allow(t.Context(), tt.in)
				assert.Equal(t, tt.by == "", err == nil, "%v", err)
				times[previewed] = ruling.Times
				assert.Len(t, s.asked, tt.calls)
			}
			assert.Equal(t, times[false], times[true])
		})
	}
}

// refusedBy names what refuses by a preview; "" for nothing.
func refusedBy(r run.Guarded) string {
	if r.Allowed {
		return ""
	}
	return r.By
}

// counting foresees an edit that can be undone, and counts.
type counting struct{ n int }

func (c *counting) Foresee(context.Context, worldmodel.ForesightRequest) (*worldmodel.Foresight, error) {
	c.n++
	return &worldmodel.Foresight{Expected: "it shows", Effect: worldmodel.EffectEdit, Undoable: true}, nil
}
