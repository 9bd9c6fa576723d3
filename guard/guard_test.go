package guard_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/guard"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// A seer foresees by function, and counts.
type seer struct {
	see   func(worldmodel.ForesightRequest) (*worldmodel.Foresight, error)
	asked []worldmodel.ForesightRequest
}

func (s *seer) Foresee(_ context.Context, r worldmodel.ForesightRequest) (*worldmodel.Foresight, error) {
	s.asked = append(s.asked, r)
	return s.see(r)
}

// sees always foresees the same.
func sees(f worldmodel.Foresight) *seer {
	return &seer{see: func(worldmodel.ForesightRequest) (*worldmodel.Foresight, error) { c := f; return &c, nil }}
}

const cleanUp = "Delete the folder Archive for good"

// loses is an honest foresight of what deletes for good; asked says that the task
// asks for it.
func loses(asked bool) worldmodel.Foresight {
	f := worldmodel.Foresight{
		Expected: "The folder is gone.", Effect: worldmodel.EffectDelete, Asked: asked,
		ShortTerm: worldmodel.Risk{Severity: worldmodel.High, Probability: 90, Reason: "what is in it is lost."},
		LongTerm:  worldmodel.Risk{Severity: worldmodel.NoHarm},
	}
	if asked {
		f.TaskWords = "Delete the folder"
	}
	return f
}

// judging returns a model that judges a task so.
func judging(irreversible bool, effects, tools []string) llm.Model {
	return llmtest.JSON(map[string]any{"reason": "it says so", "irreversible": irreversible, "blocked_effects": effects, "blocked_tools": tools})
}

var deletes = judging(true, []string{"delete"}, []string{})

// shiftDelete is the action of most of these tests.
func shiftDelete() run.Intent {
	return run.Intent{Action: press("shift", "delete"), Source: run.FromModel, On: look("Thunar", "normal", "Documents - Thunar",
		item{"icon", "Archive", "", []string{"focused", "selected"}}, item{"icon", "Letters", "", nil})}
}

func started(t *testing.T, g *guard.Guard, task string) *guard.Guard {
	g.Policies = guard.DefaultPolicies()
	if g.Model == nil {
		g.Model = deletes
	}
	g.Analysers = []llm.Role{llm.Monitor}
	g.Start(t.Context(), task)
	return g
}

// TestRule is the rule: what is allowed, what is refused, and by what.
func TestRule(t *testing.T) {
	undone := loses(false)
	undone.Undoable, undone.Effect = true, worldmodel.EffectEdit
	harmlessly := worldmodel.Foresight{Effect: worldmodel.EffectNone, Undoable: true}
	mild := undone
	mild.ShortTerm = worldmodel.Risk{Severity: worldmodel.Low, Probability: 50}
	violates := loses(true)
	violates.Violated = []string{"credentials"}
	advised := loses(true)
	advised.Violated = []string{"goal"}
	trashed := loses(true)
	trashed.Undoable = true
	unknown := button("foo", "normal", "x", "Frobnicate")
	for _, tt := range []struct {
		name string
		in   run.Intent
		see  worldmodel.Foresight
		task llm.Model
		by   string // that refuses; "" if it is allowed
	}{
		{"not asked for", shiftDelete(), loses(false), deletes, "irreversibility"},
		{"not asked for, of a task that is judged harmless", shiftDelete(), loses(false), judging(false, []string{}, []string{}), "foresight"},
		{"asked for, and demanded by the user", shiftDelete(), loses(true), deletes, ""},
		{"asked for by the world model alone", shiftDelete(), loses(true), judging(false, []string{}, []string{}), "irreversibility"},
		{"asked for, another effect is demanded", shiftDelete(), loses(true), judging(true, []string{"send"}, []string{}), "irreversibility"},
		{"asked for, and it can be undone", shiftDelete(), trashed, judging(false, []string{}, []string{}), ""},
		{"a policy of high severity", shiftDelete(), violates, deletes, "policy credentials"},
		{"goal alignment alone", shiftDelete(), advised, deletes, ""},
		{"a foresight that always says none", shiftDelete(), harmlessly, deletes, "irreversibility"},
		{"an edit that can be undone", unknown, mild, deletes, ""},
		{"an edit that is risky", unknown, undone, deletes, "foresight"},
		{"nobody could judge the task", shiftDelete(), loses(true), llmtest.Fail(errors.New("no network")), "irreversibility"},
		{"only unknown names", shiftDelete(), loses(true), judging(true, []string{"none"}, []string{"mcp__notion__write"}), "irreversibility"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := started(t, &guard.Guard{World: sees(tt.see), Model: tt.task}, cleanUp)
			ruling, err := g.Allow(t.Context(), tt.in)
			if tt.by == "" {
				require.NoError(t, err)
				return
			}
			var b *guard.Block
			require.ErrorAs(t, err, &b)
			assert.Equal(t, tt.by, b.By, b.Reason)
			assert.Equal(t, tt.by, ruling.By)
			assert.Equal(t, 1, ruling.Times)
			for _, part := range []string{"blocked_by=", actuator.Name(tt.in.Action), "effect="} {
				assert.Contains(t, err.Error(), part, "the actor reads what and why")
			}
		})
	}
}

// TestSettings holds that a guard goes by the settings of its session.
func TestSettings(t *testing.T) {
	risky := loses(false) // 0.75 times 0.9
	risky.Undoable, risky.Effect = true, worldmodel.EffectEdit
	for limit, allowed := range map[float64]bool{0: false, 0.6: false, 0.7: true} {
		set := run.AgentSettings{Guard: "on", RiskLimit: limit, JudgeLimit: time.Hour, ApprovalLimit: 2 * time.Hour, CarefulEdits: 7}
		g, err := guard.For(&run.Session{Settings: run.Settings{Agent: set}}, &guard.Options{})
		require.NoError(t, err)
		assert.Equal(t, []any{time.Hour, 2 * time.Hour, 7}, []any{g.JudgeLimit, g.ApprovalLimit, g.CarefulEdits})
		g.World = sees(risky)
		_, err = started(t, g, cleanUp).Allow(t.Context(), button("foo", "normal", "x", "Frobnicate"))
		assert.Equal(t, allowed, err == nil, limit)
	}
}

// TestNameOf holds that who tells of the guard of a session before it is open says what that says
// of itself then.
func TestNameOf(t *testing.T) {
	own := filepath.Join(t.TempDir(), "policies.toml")
	_, first, _ := strings.Cut(guard.DefaultPolicyFile(), "[[policy]]")
	first, _, _ = strings.Cut(first, "[[policy]]")
	require.NoError(t, os.WriteFile(own, []byte("[[policy]]"+first), 0o600))
	names := map[string]bool{}
	for _, set := range []run.AgentSettings{
		{Guard: "on"}, {Guard: "on", Approve: "always"}, {Guard: "on", Workspace: "none"}, {Guard: "on", Policies: own}, {Guard: "off"},
	} {
		for _, home := range []string{"", "/home/user"} {
			g, err := guard.For(&run.Session{Settings: run.Settings{Agent: set}, Client: &llm.Client{}}, &guard.Options{Home: home, Unattended: true})
			require.NoError(t, err)
			want := run.NoGuard
			if g != nil {
				want = g.Name()
			}
			assert.Equal(t, want, guard.NameOf(set, home != ""), "%+v in %q", set, home)
			names[want] = true
		}
	}
	assert.Len(t, names, 5, "on and off, in a workspace and not, and of other policies: %v", names)
}

// TestHarmlessCostsNothing holds that nobody is asked about what the table knows, not
// even what the task is.
func TestHarmlessCostsNothing(t *testing.T) {
	s := sees(loses(false))
	g := started(t, &guard.Guard{World: s, Model: llmtest.Hang()}, "anything")
	for _, in := range []run.Intent{
		{Action: actuator.Scroll{DY: 1}}, {Action: click(0), On: shiftDelete().On}, {Action: actuator.Type{Text: "a"}, On: look("Mousepad", "normal", "a", focused("text", "", ""))},
	} {
		ruling, err := g.Allow(t.Context(), in)
		require.NoError(t, err)
		assert.Equal(t, "table", ruling.By)
	}
	assert.Empty(t, s.asked)
}

// TestFailsClosed holds that whatever breaks refuses, with the reason.
func TestFailsClosed(t *testing.T) {
	for name, world := range map[string]guard.Foreseer{
		"nobody foresees": nil,
		"it fails":        &seer{see: func(worldmodel.ForesightRequest) (*worldmodel.Foresight, error) { return nil, llm.ErrTimeout }},
	} {
		g := started(t, &guard.Guard{World: world}, cleanUp)
		ruling, err := g.Allow(t.Context(), shiftDelete())
		require.ErrorContains(t, err, "not done", name)
		assert.Equal(t, "no foresight", ruling.By, name)
	}
	_, err := new(guard.Guard).Allow(t.Context(), shiftDelete())
	require.Error(t, err, "a guard of nothing but its zero value")
	_, err = (&guard.Guard{World: sees(loses(true))}).Allow(t.Context(), shiftDelete())
	require.ErrorContains(t, err, "nobody told the guard the task")
}

// TestObjectionBinds holds that proposing the same again changes nothing, and costs
// nothing; that another situation is foreseen anew, with the objection; and that only
// a new reason lifts it.
func TestObjectionBinds(t *testing.T) {
	answer := loses(false)
	s := &seer{see: func(worldmodel.ForesightRequest) (*worldmodel.Foresight, error) { c := answer; return &c, nil }}
	g := started(t, &guard.Guard{World: s}, cleanUp)
	for n := 1; n <= 4; n++ {
		ruling, err := g.Allow(t.Context(), shiftDelete())
		require.Error(t, err)
		assert.Equal(t, n, ruling.Times)
		assert.Len(t, s.asked, 1, "nobody is asked about the same again")
	}
	answer = loses(true) // the world model gives in
	_, err := g.Allow(t.Context(), shiftDelete())
	require.Error(t, err)
	assert.Len(t, s.asked, 1)

	other := shiftDelete() // another folder is selected: not the same any more
	other.On.Tree.Nodes[1].States, other.On.Tree.Nodes[2].States = []string{"focused"}, []string{"selected"}
	_, err = g.Allow(t.Context(), other)
	require.ErrorContains(t, err, "an earlier objection stands")
	require.Len(t, s.asked, 2)
	assert.Contains(t, s.asked[1].Objection, "the task does not ask for it")

	third := shiftDelete()
	third.On.Tree.Nodes[1].States = []string{"focused"}
	same := s.asked[1].Objection
	answer.Lifts = &same
	_, err = g.Allow(t.Context(), third)
	require.ErrorContains(t, err, "an earlier objection stands", "the same reason is no new one")
	reason := "now it is the folder that the task names"
	answer.Lifts = &reason
	fourth := shiftDelete()
	fourth.On.Tree.Nodes[2].States = []string{"selected"}
	_, err = g.Allow(t.Context(), fourth)
	require.NoError(t, err, "a new reason lifts it")
}

// TestForesightMayBeTriedAgain holds that an action which could not be foreseen is
// asked about again.
func TestForesightMayBeTriedAgain(t *testing.T) {
	n := 0
	s := &seer{see: func(worldmodel.ForesightRequest) (*worldmodel.Foresight, error) {
		if n++; n == 1 {
			return nil, llm.ErrUnavailable
		}
		f := loses(true)
		return &f, nil
	}}
	g := started(t, &guard.Guard{World: s}, cleanUp)
	_, err := g.Allow(t.Context(), shiftDelete())
	require.Error(t, err)
	_, err = g.Allow(t.Context(), shiftDelete())
	require.NoError(t, err)
}

// TestOneEffectOfSeveralActions holds that the foresight is told what came before and
// what the dialog says, and never the plan.
func TestOneEffectOfSeveralActions(t *testing.T) {
	s := sees(loses(false))
	g := started(t, &guard.Guard{World: s}, "Summarise the report")
	in := run.Intent{
		Action: press("enter"), Done: []actuator.Action{actuator.Wait{Milliseconds: 10}}, Index: 1, History: []string{"4. press Shift+Delete: delivered"},
		On: look("Thunar", "dialog", "Attention", item{role: "label", name: "Permanently delete \"Archive\"?"}, item{role: "push button", name: "Delete"}),
	}
	_, err := g.Allow(t.Context(), in)
	require.Error(t, err)
	asked := s.asked[0]
	assert.Contains(t, asked.Dialog, `Permanently delete "Archive"?`)
	assert.Equal(t, []string{"4. press Shift+Delete: delivered"}, asked.History)
	assert.Equal(t, []string{"wait 10ms"}, asked.Batch)
	assert.Equal(t, "Summarise the report", asked.Task)
	assert.Contains(t, asked.Suspected, "delete")
}

// TestTurns holds that each task has a verdict of its own, and nothing of the one
// before is left: a task that reads, one that sends, one that reads.
func TestTurns(t *testing.T) {
	model := llmtest.Func(func(ctx context.Context, r *llm.Request) (*llm.Response, error) {
		if strings.Contains(llmtest.LastText(r), "Send") {
			return llmtest.JSON(map[string]any{"reason": "it sends", "irreversible": true, "blocked_effects": []string{"send"}, "blocked_tools": []string{}})(ctx, r)
		}
		return llmtest.JSON(map[string]any{"reason": "it reads", "irreversible": false, "blocked_effects": []string{}, "blocked_tools": []string{}})(ctx, r)
	})
	g := &guard.Guard{Model: model, Analysers: []llm.Role{llm.Actor}}
	for _, tt := range []struct {
		task string
		want bool
	}{{"Read the mails", false}, {"Read them and Send a summary", true}, {"Read the news", false}} {
		g.Start(t.Context(), tt.task)
		e := g.Judged(t.Context())
		assert.Equal(t, tt.want, e.Irreversible, tt.task)
		assert.Equal(t, tt.want, len(e.Effects) == 1, tt.task)
		assert.Equal(t, llm.Actor, e.Role)
	}
}

// TestVerdict holds what becomes of replies, right and wrong: failure and doubt block.
func TestVerdict(t *testing.T) {
	reply := func(v any) llm.Model { return llmtest.JSON(v) }
	analysis := func(irreversible bool, effects, tools []string) llm.Model {
		return judging(irreversible, effects, tools)
	}
	none := []string{}
	for _, tt := range []struct {
		name    string
		model   llm.Model
		enabled bool
		effects []worldmodel.Effect
		tools   []string
		unknown []string
		failed  bool
	}{
		{"reads", analysis(false, none, none), false, nil, nil, nil, false},
		{"sends", analysis(true, []string{"send"}, none), true, []worldmodel.Effect{"send"}, nil, nil, false},
		{"names are trimmed, empty ones dropped, none twice", analysis(true, []string{" send ", "", "send"}, []string{" computer "}), true, []worldmodel.Effect{"send"}, []string{"computer"}, nil, false},
		{"enabled, nothing named", analysis(true, none, none), true, nil, nil, nil, false},
		{"an effect that is harmless blocks nothing", analysis(true, []string{"navigate"}, none), true, nil, nil, []string{"navigate"}, false},
		{"invented names are reported", analysis(true, []string{"send"}, []string{"mcp__notion__x"}), true, []worldmodel.Effect{"send"}, nil, []string{"mcp__notion__x"}, false},
		{"NO with names", analysis(false, []string{"delete"}, none), true, []worldmodel.Effect{"delete"}, nil, nil, false},
		{"NO with invented names", analysis(false, none, []string{"none"}), true, nil, nil, []string{"none"}, false},
		{"prose", llmtest.Text("**IRREVERSIBLE:** YES\nBLOCKED_TOOLS: mcp__notion__x"), true, nil, nil, nil, true},
		{"yes, I cannot undo", llmtest.Text("yes, I cannot undo"), true, nil, nil, nil, true},
		{"LIKELY", llmtest.Text("LIKELY"), true, nil, nil, nil, true},
		{"a word for a truth", reply(map[string]any{"reason": "", "irreversible": "NO", "blocked_effects": none, "blocked_tools": none}), true, nil, nil, nil, true},
		{"a field is missing", reply(map[string]any{"reason": "", "irreversible": false}), true, nil, nil, nil, true},
		{"it fails", llmtest.Fail(llm.ErrUnavailable), true, nil, nil, nil, true},
		{"nobody is there", nil, true, nil, nil, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &guard.Guard{Model: tt.model, Analysers: []llm.Role{llm.Planner}}
			g.Start(t.Context(), "Do it")
			e := g.Judged(t.Context())
			assert.Equal(t, tt.enabled, e.Irreversible)
			assert.Equal(t, tt.effects, e.Effects)
			assert.Equal(t, tt.tools, e.Tools)
			assert.Equal(t, tt.unknown, e.Unknown)
			assert.Equal(t, tt.failed, e.Error != "", e.Error)
		})
	}
}

// TestAnalyserHangs holds that a task which nobody judges in time is blocked.
func TestAnalyserHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &guard.Guard{Model: llmtest.Hang(), Analysers: []llm.Role{llm.Planner}}
		began := time.Now()
		g.Start(t.Context(), "Do it")
		assert.Zero(t, time.Since(began), "nothing waits for it yet")
		e := g.Judged(t.Context())
		assert.True(t, e.Irreversible)
		assert.NotEmpty(t, e.Error)
		assert.Equal(t, time.Minute, time.Since(began))
	})
}

// TestThreeWayRule is the truth table: not enabled blocks nothing; enabled without a
// name blocks all; with names, those.
func TestThreeWayRule(t *testing.T) {
	send, del := worldmodel.EffectSend, worldmodel.EffectDelete
	for _, tt := range []struct {
		v            guard.Verdict
		tool         string
		effect       worldmodel.Effect
		want, demand bool
	}{
		{guard.Verdict{}, "mail", send, false, false},
		{guard.Verdict{Effects: []worldmodel.Effect{send}, Tools: []string{"mail"}}, "mail", send, false, false},
		{guard.Verdict{Enabled: true}, "mail", send, true, false},
		{guard.Verdict{Enabled: true, Effects: []worldmodel.Effect{send}}, "computer", send, true, true},
		{guard.Verdict{Enabled: true, Effects: []worldmodel.Effect{send}}, "computer", del, false, false},
		{guard.Verdict{Enabled: true, Tools: []string{"mail"}}, "mail", del, true, false},
		{guard.Verdict{Enabled: true, Tools: []string{"mail"}}, "computer", del, false, false},
	} {
		assert.Equal(t, tt.want, tt.v.Blocks(tt.tool, tt.effect), "%+v", tt)
		assert.Equal(t, tt.demand, tt.v.Demands(tt.effect), "%+v", tt)
	}
}

// TestAnalyserIsDrawn holds that one of the configured models judges, by chance, and
// is given the real lists and no tools to call.
func TestAnalyserIsDrawn(t *testing.T) {
	r := &llmtest.Recorder{Model: judging(false, []string{}, []string{})}
	n := 0
	g := &guard.Guard{Model: r, Analysers: []llm.Role{llm.Planner, llm.Monitor}, Pick: func(of int) int { n++; return n % of }}
	for range 2 {
		g.Start(t.Context(), "Read")
		g.Judged(t.Context())
	}
	require.Len(t, r.Requests(llm.Planner), 1)
	require.Len(t, r.Requests(llm.Monitor), 1)
	for _, q := range r.Requests() {
		assert.Empty(t, q.Tools)
		assert.Contains(t, llmtest.LastText(q), "send, delete, modify_external, record, execute")
	}
}

// TestWorkspaceIsFree holds that files of a workspace need nobody, and what leaves it
// does.
func TestWorkspaceIsFree(t *testing.T) {
	s := sees(loses(false))
	g := started(t, &guard.Guard{World: s, Workspace: &guard.Workspace{Home: "/tmp/w"}}, "Tidy up")
	ruling, err := g.Allow(t.Context(), shiftDelete())
	require.NoError(t, err)
	assert.Equal(t, "workspace", ruling.By)
	assert.Empty(t, s.asked)
	_, err = g.Allow(t.Context(), run.Intent{Action: press("ctrl", "enter"), On: look("thunderbird", "normal", "Write", focused("document text", "", "a"))})
	require.Error(t, err, "a mail is sent, wherever it is written")
	assert.Len(t, s.asked, 1)
	_, err = g.Allow(t.Context(), run.Intent{Action: actuator.Type{Text: "rm -r /home/ada\n"}, On: look("Mousepad", "normal", "a", focused("text", "", ""))})
	require.Error(t, err, "a path outside of it")
}

// TestRecordingIsExemptByName holds that what a user replays is allowed by that name,
// and what a model chose while healing it is not.
func TestRecordingIsExemptByName(t *testing.T) {
	g := started(t, &guard.Guard{}, "replay")
	in := shiftDelete()
	in.Source = run.FromRecording
	ruling, err := g.Allow(t.Context(), in)
	require.NoError(t, err)
	assert.Equal(t, "recording", ruling.By)
	in.Source = run.FromHealing
	_, err = g.Allow(t.Context(), in)
	require.Error(t, err)
}
