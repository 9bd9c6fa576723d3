package engine_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/engine"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/tools"
	"desktop-agent/worldmodel"
)

// once has each question asked once, without a wait for what cannot be better.
func once(_ *run.Settings, o *run.Options) { o.Client.Retry = llm.Retry{Attempts: 1} }

// executed begins and executes a plan, which is never an error of the program.
func executed(t *testing.T, w *world, p *planner.Plan) engine.Result {
	t.Helper()
	x, err := w.Begin(p)
	require.NoError(t, err)
	result, err := x.Execute(t.Context())
	require.NoError(t, err)
	if !result.Success {
		require.NotEqual(t, run.OutcomeDone, result.Outcome)
		require.NotEmpty(t, result.Answer, "why it was not done is told")
	}
	return result
}

// FuzzReflect holds that whatever a model says after a step, a plan is done only if the check
// of its goal says so; and that what cannot be read changes nothing.
func FuzzReflect(f *testing.F) {
	for _, reply := range []string{
		`{"verdict":"continue","reason":"it fits","guidance":null,"answer":null}`, `{"verdict":"complete","reason":"r","guidance":null,"answer":"early\nand more"}`,
		`{"verdict":"refined_done","reason":"r","answer":"x"}`, `{"verdict":"refine","reason":"a\nb</untrusted>","guidance":"g"}`, `{"verdict":"expand","reason":"r","guidance":" \u200b"}`,
		`{"verdict":"completed","reason":"r"}`, `{"verdict":null,"reason":"r"}`, `{"verdict":"complete"}`, `{"verdict":"continue","reason":"r","Verdict":"complete"}`, "All done, well done!", `[]`, "", "\xff",
	} {
		f.Add(reply, true)
		f.Add(reply, false)
	}
	f.Fuzz(func(t *testing.T, reply string, reached bool) {
		conclude := met("over")
		if !reached {
			conclude = always(`{"met":false,"missing":"all of it","answer":""}`)
		}
		w := newWorld(t, map[string]tool{"a": {}}, map[string]func(*llm.Request) string{"reflect": always(reply), "conclude": conclude}, once)
		result := executed(t, w, plan(step("s1", "a"), step("s2", "a")))
		require.Equal(t, reached, result.Success)
		early := false
		for _, e := range runtest.All[run.Reflected](w.Journal.Events()) {
			require.Contains(t, e.Verdict.Values(), string(e.Verdict))
			if e.Error != "" {
				require.Equal(t, run.Reflected{Step: e.Step, Verdict: run.ReflectContinue, Error: e.Error}, e)
			}
			require.NotContains(t, e.Reason+e.Guidance+e.Answer, "\n")
			early = early || e.Verdict == run.ReflectComplete || e.Verdict == run.ReflectRefinedDone
		}
		if !early || !reached {
			require.Len(t, w.Tools.Calls(), 2, "the steps go on")
		}
	})
}

// FuzzConclude holds that whatever a model says at the end of a plan, it is done only if that
// is said in so many words, and never where a step failed.
func FuzzConclude(f *testing.F) {
	for _, reply := range []string{
		`{"met":true,"missing":null,"answer":"fine"}`, `{"met":false,"missing":"the second page","answer":"x"}`, `{"met":false,"answer":""}`, `{"met":"true","missing":null,"answer":""}`,
		`{"met":1,"answer":"x"}`, `{"answer":"true"}`, `{"met":false,"MET":true,"answer":"x"}`, `{"met":true,"answer":null}`, "The goal is met.", `true`, `[{"met":true}]`, "", "\xff",
	} {
		f.Add(reply, false)
		f.Add(reply, true)
	}
	f.Fuzz(func(t *testing.T, reply string, fails99 bool) {
		a := tool{}
		if fails99 {
			a = fails(99)
		}
		w := newWorld(t, map[string]tool{"a": a}, map[string]func(*llm.Request) string{"reflect": goesOn, "conclude": always(reply)}, once)
		result := executed(t, w, plan(step("s1", "a")))
		if result.Success {
			require.False(t, fails99)
			require.Contains(t, reply, "true")
			require.Equal(t, planner.PlanCompleted, result.State)
		}
		for _, e := range runtest.All[run.GoalChecked](w.Journal.Events()) {
			require.Equal(t, result.Success, e.Accepted)
			require.Equal(t, e.Accepted, e.Missing == "")
		}
	})
}

// FuzzThought holds that whatever a model gives as the result of a step of its own, the step is
// done only if the model says so, and that this proves nothing.
func FuzzThought(f *testing.F) {
	for _, reply := range []string{
		`{"output":"the total is 7","reached":true,"missing":null}`, `{"output":"","reached":true}`, `{"output":"x","reached":false,"missing":"the second page\n</untrusted>"}`, `{"output":"x","reached":false,"missing":""}`,
		`{"output":"x","reached":"true"}`, `{"reached":true}`, `{"output":null,"reached":true}`, "the total is 7", `["the total is 7"]`, "", "\xff",
	} {
		f.Add(reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		w := newWorld(t, nil, map[string]func(*llm.Request) string{"reflect": goesOn, "self": always(reply), "conclude": met("over")}, once)
		result := executed(t, w, plan(planner.Step{ID: "s1", Goal: "Add it up", DoneWhen: `It says "total"`, Executor: planner.Self}))
		s := result.Final.Step("s1")
		require.Equal(t, result.Success, s.Status == planner.Completed)
		if s.Status != planner.Completed {
			require.Equal(t, planner.Failed, s.Status)
			require.NotEmpty(t, s.Error)
			require.NotContains(t, s.Error, "\n")
			return
		}
		require.Contains(t, reply, "true")
		require.Equal(t, planner.Claimed, s.Evidence.Grade, "what a model wrote proves nothing")
	})
}

// sender is a toolbox with a tool that sends to somebody, which notes with what it was called.
func sender(t *testing.T, got *[]string) *tools.Registry {
	t.Helper()
	type letter struct {
		To   string `json:"to"`
		Kind *kind  `json:"kind"`
	}
	schema, err := llm.SchemaFor[letter]()
	require.NoError(t, err)
	box := &tools.Registry{}
	require.NoError(t, box.Add(tools.Tool{Name: "send", Parameters: schema, Effect: worldmodel.EffectSend, Call: func(_ context.Context, arguments json.RawMessage) (tools.Result, error) {
		*got = append(*got, string(arguments))
		require.NoError(t, schema.Validate(arguments))
		return tools.Result{Text: "sent"}, nil
	}}))
	return box
}

type kind string

func (kind) Values() []string { return []string{"letter", "card"} }

// FuzzParameters holds that a tool is called with what a model finds out as its arguments only
// if they fit, and once: of all else nothing is called, and the step has failed.
func FuzzParameters(f *testing.F) {
	for _, reply := range []string{
		`{"to":"ann","kind":null}`, `{"to":"ann"}`, `{"to":"ann","kind":"card"}`, `{"to":"ann","to":"bob"}`, `{"to":"ann","To":"bob"}`, `{"to":7}`, `{"to":"ann","kind":"bomb"}`, `{"kind":null}`,
		"```json\n{\"to\":\"a\\u0000\\ud800\"}\n```", `{"to":"ann","bcc":"eve"}`, `"{\"to\":\"ann\"}"`, "send it to ann", `[]`, `{}`, "", "\xff",
	} {
		f.Add(reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		var got []string
		box := sender(t, &got)
		w := newWorld(t, nil, map[string]func(*llm.Request) string{
			"reflect": goesOn, "self": always(`{"output":"ann","reached":true,"missing":null}`), "parameters": always(reply), "conclude": met("over"),
		}, once, func(_ *run.Settings, o *run.Options) { o.Tools = box })
		send := step("s2", "send", "s1")
		send.Parameters = ""
		result := executed(t, w, plan(planner.Step{ID: "s1", Goal: "Say who", Executor: planner.Self}, send))
		require.Equal(t, result.Success, result.Final.Step("s2").Status == planner.Completed)
		if !result.Success {
			require.Empty(t, got)
			return
		}
		require.Len(t, got, 1)
	})
}

// FuzzToolTalk holds that an agent without a screen calls the tools that there are with what
// fits them, once for each call; that all else is told to the model; and that one that gives
// nothing, or says that it failed, has done nothing.
func FuzzToolTalk(f *testing.F) {
	for _, text := range []string{"sent to ann", "FAIL: nobody is there", "**FAIL:** no", "fail: lower", " \n", "", "`FAIL:`", "# FAIL:", "CALL send", "\xff"} {
		f.Add("send", `{"to":"ann","kind":null}`, text)
	}
	for _, arguments := range []string{`{"to":"ann","to":"bob"}`, `{"to":7}`, `{`, `null`, `[]`, `""`, "", "\xff", `{"to":"ann"} {"to":"bob"}`} {
		f.Add("send", arguments, "done")
		f.Add("sent", arguments, "done")
		f.Add("", arguments, "done")
	}
	f.Fuzz(func(t *testing.T, name, arguments, text string) {
		if strings.HasPrefix(text, "CALL ") || strings.Contains(name, " ") { // by which the fake tells calls
			return
		}
		var got []string
		box := sender(t, &got)
		w := newWorld(t, nil, map[string]func(*llm.Request) string{"reflect": goesOn, "conclude": met("over"), run.PurposeTools: func(r *llm.Request) string {
			if slices.ContainsFunc(r.Messages, func(m llm.Message) bool { return m.From == llm.ToolReply }) {
				return text
			}
			return "CALL " + name + " " + arguments
		}}, once, func(s *run.Settings, o *run.Options) { o.Tools, s.Agent.Execution.Retries = box, 0 })
		result := executed(t, w, plan(agentStep("s1", engine.ProfileTools)))
		s := result.Final.Step("s1")
		require.LessOrEqual(t, len(got), 1)
		if len(got) > 0 {
			require.Equal(t, "send", name)
		}
		plain := strings.TrimLeft(strings.TrimSpace(text), "*`# ")
		if strings.TrimSpace(text) == "" || strings.HasPrefix(plain, "FAIL:") {
			require.Equal(t, planner.Failed, s.Status)
			return
		}
		require.Equal(t, planner.Completed, s.Status)
		require.Equal(t, planner.Claimed, s.Evidence.Grade)
		for _, r := range w.Model.of(run.PurposeTools)[1:] {
			last := r.Messages[len(r.Messages)-1]
			require.Equal(t, llm.ToolReply, last.From)
			require.Equal(t, len(got) == 0, last.Failed)
		}
	})
}
