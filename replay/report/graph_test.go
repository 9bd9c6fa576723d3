package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/cascadia"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"desktop-agent/engine"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/planner"
	"desktop-agent/replay"
	"desktop-agent/replay/report"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/worldmodel"
)

// A page is a report as a browser reads it.
type page struct{ *html.Node }

func read(t *testing.T, r *replay.Run) (page, string) {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, report.Write(&out, r))
	text := out.String()
	doc, err := html.Parse(&out)
	require.NoError(t, err)
	return page{doc}, text
}

func (p page) all(query string) []*html.Node {
	return cascadia.QueryAll(p.Node, cascadia.MustCompile(query))
}

// values are those of an attribute of elements.
func (p page) values(query, name string) (list []string) {
	for _, n := range p.all(query) {
		list = append(list, attr(n, name))
	}
	return list
}

// words is the text of the first element.
func (p page) words(t *testing.T, query string) string {
	t.Helper()
	list := p.all(query)
	require.NotEmpty(t, list, query)
	return text(list[0])
}

func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// unique checks that no two elements have the same address, and that each link in the
// page leads to one.
func (p page) unique(t *testing.T) {
	t.Helper()
	seen := map[string]bool{}
	for _, id := range p.values("[id]", "id") {
		assert.False(t, seen[id], "two elements are #%s", id)
		seen[id] = true
	}
	for _, to := range p.values(`a[href]`, "href") {
		require.True(t, strings.HasPrefix(to, "#"), "%q leaves the page", to)
		assert.True(t, seen[to[1:]], "%s leads nowhere", to)
	}
}

// A toolbox has tools of a test.
type toolbox map[string]func(context.Context) (string, error)

func (b toolbox) Offer() (list []run.Tool) {
	for name := range b {
		list = append(list, run.Tool{Tool: llm.Tool{Name: name, Description: "Does " + name, Parameters: []byte(`{"type":"object"}`)}, Effect: worldmodel.EffectNone})
	}
	return list
}

func (b toolbox) Do(ctx context.Context, name string, _ []byte) (string, error) { return b[name](ctx) }

func says(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// hostile is text that breaks out of whatever forgets to escape it.
const hostile = `</script></style></svg><img src=x onerror="window.pwned=1">" onmouseover="window.pwned=3" ' {{.}} javascript:window.pwned=4`

// executed runs a plan by a real engine with a scripted model: two tools at the same time
// that both wait for each other, one that fails once and needs both, and an agent of its
// own. The user changed nothing and approved.
func executed(t *testing.T) *replay.Run {
	t.Helper()
	j, err := replay.Create(t.TempDir())
	require.NoError(t, err)
	a, b := make(chan bool), make(chan bool)
	together := func(mine, other chan bool, says string) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) {
			close(mine)
			select {
			case <-other:
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
			time.Sleep(30 * time.Millisecond)
			return says, nil
		}
	}
	tries := 0
	tools := toolbox{
		"read": together(a, b, hostile), "fetch": together(b, a, strings.Repeat("long ", 1000)),
		"join": func(context.Context) (string, error) {
			if tries++; tries == 1 {
				return run.ToolFailed + "out of order", nil
			}
			return "joined", nil
		},
	}
	set := run.Settings{Agent: run.Defaults().Agent}
	set.Agent.Planning, set.Agent.Format, set.Agent.Guard = engine.Deliberate, "code", "off"
	set.Agent.Execution.Mode, set.Agent.Execution.MaxParallel, set.Agent.Execution.Retries = "parallel", 3, 1
	s := runtest.Open(t, set, &run.Options{
		NoDesktop: true, Tools: tools, Journal: func() (run.Journal, error) { return j, nil },
		Client: &llm.Client{Default: llm.Settings{Model: "scripted"}, Model: llmtest.Answer(func(r *llm.Request) (string, error) {
			switch r.Purpose {
			case "tools":
				return "told them", nil
			case "conclude":
				return says(map[string]any{"met": true, "missing": nil, "answer": "all is joined"}), nil
			}
			return "", &llm.Error{Kind: llm.ErrUnavailable, Detail: "the test has no answer to " + r.Purpose}
		})},
	})
	e, err := engine.New(s)
	require.NoError(t, err)
	e.Planner, e.Validate = nil, nil
	e.Hooks.Approve = func(_ context.Context, p *planner.Plan) (planner.Decision, error) {
		return planner.Decision{Plan: p}, nil
	}
	step := func(id string, by planner.Executor, action string, needs ...string) planner.Step {
		s := planner.Step{ID: id, Goal: "Have " + id + " done: " + hostile, DoneWhen: hostile, Status: planner.Pending, Executor: by, Action: action, Needs: needs, Parallel: true}
		if by == planner.Tool {
			s.Parameters = "{}"
		}
		return s
	}
	plan := &planner.Plan{Version: planner.Version, Mode: planner.Deliberate, Task: "join both", Goal: hostile, Risks: []string{hostile}, Steps: []planner.Step{
		step("s1", planner.Tool, "read"), step("s2", planner.Tool, "fetch"), step("s3", planner.Tool, "join", "s1", "s2"),
		step("s4", planner.Agent, engine.ProfileTools, "s3", "s1"),
	}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	result, err := e.RunPlan(ctx, plan)
	require.NoError(t, err)
	require.True(t, result.Success, result.Answer)
	require.NoError(t, j.Close())
	r, err := replay.Open(j.Dir())
	require.NoError(t, err)
	return r
}

// TestGraphOfARealRun holds that the page of a run that an engine did has each step as a
// node below what it needs, each need as a line, each agent as a lane with steps that were
// done at the same time beside each other, and texts of models and tools as text alone.
func TestGraphOfARealRun(t *testing.T) {
	r := executed(t)
	p, source := read(t, r)
	if to := os.Getenv("REPORT_GRAPH"); to != "" { // to look at it
		require.NoError(t, os.WriteFile(to, []byte(source), 0o600))
	}
	p.unique(t)

	assert.Equal(t, []string{"s1", "s2", "s3", "s4"}, p.values(".graph .node", "data-step"))
	for _, n := range p.all(".graph .node") {
		assert.Contains(t, attr(n, "class"), "completed")
	}
	var edges []string
	for _, n := range p.all(".graph path.need") {
		edges = append(edges, attr(n, "data-from")+">"+attr(n, "data-to"))
	}
	assert.Equal(t, []string{"s1>s3", "s2>s3", "s3>s4", "s1>s4"}, edges)
	top := map[string]int{}
	for _, n := range p.all(".graph .node") {
		_, y, _ := strings.Cut(attr(n, "style"), "top:")
		at, err := strconv.Atoi(strings.TrimRight(y, "px;"))
		require.NoError(t, err, attr(n, "style"))
		top[attr(n, "data-step")] = at
	}
	assert.Equal(t, top["s1"], top["s2"], "they need nothing of each other")
	assert.Greater(t, top["s3"], top["s2"])
	assert.Greater(t, top["s4"], top["s3"])

	assert.Len(t, p.all(".lane"), 2, "the run's agent, and the one of the step")
	assert.Contains(t, p.values(".lane", "data-agent"), "agent/s4")
	span := map[string][2]float64{} // of the first attempt, in percent of the whole
	for _, n := range p.all(".lane .bar-of") {
		var at [2]float64
		for part := range strings.SplitSeq(attr(n, "style"), ";") {
			name, value, _ := strings.Cut(part, ":")
			number, err := strconv.ParseFloat(strings.TrimSuffix(value, "%"), 64)
			require.NoError(t, err, part)
			if name == "left" {
				at[0] = number
			} else {
				at[1] = number
			}
		}
		if _, twice := span[attr(n, "data-step")]; !twice {
			span[attr(n, "data-step")] = at
		}
	}
	assert.Less(t, span["s2"][0], span["s1"][0]+span["s1"][1], "s2 began before s1 was over")
	assert.Less(t, span["s1"][0], span["s2"][0]+span["s2"][1], "and the other way round")
	assert.GreaterOrEqual(t, span["s3"][0]+.02, span["s1"][0]+span["s1"][1], "s3 needs it")
	assert.Len(t, p.all(`.lane .bar-of[data-step="s3"]`), 2, "two attempts")
	assert.Len(t, p.all(`.lane[data-agent="agent"] .row`), 2, "what was done at the same time stands in rows of its own")

	assert.Contains(t, p.words(t, "#plan .approvals"), "approved as it was shown")
	assert.Contains(t, p.words(t, "#plan-3"), "2 attempts")
	assert.Contains(t, p.words(t, "#plan-4"), "by agent/s4")
	assert.Contains(t, p.words(t, "#plan-1 .result"), "untrusted")
	assert.Contains(t, p.words(t, "#plan-1 .result pre"), "<img src=x onerror=", "as text")
	assert.Contains(t, p.words(t, "#plan-2 .result"), "3 500 bytes more are in the journal")

	assert.Empty(t, p.all("img[src=x], [onerror], [onmouseover]"), "no text of a step is markup")
	assert.Len(t, p.all("script"), 1, "and the page's own script is the only one")
	assert.NotContains(t, source, "ZgotmplZ", "nothing was found unsafe for its place")
}

// handmade writes events of a run with two displays whose agents both have a turn 1, with
// a step that failed, a revision, and a run that was cut off in a step.
func handmade(t *testing.T, text string) *replay.Run {
	t.Helper()
	j, err := replay.Create(t.TempDir())
	require.NoError(t, err)
	now := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	seq := 0
	put := func(after time.Duration, agent, display string, planStep, turn int, data run.EventData) {
		t.Helper()
		seq++
		now = now.Add(after)
		require.NoError(t, j.Event(t.Context(), run.Event{
			Seq: seq, Time: now, Step: turn, Agent: agent, Display: display, PlanStep: planStep, Kind: run.Kind(data), Data: data,
		}))
	}
	call := func(purpose string, shared int) run.ModelCalled {
		return run.ModelCalled{Role: llm.Actor, Purpose: purpose, Shared: shared, Messages: []run.Message{{From: llm.User, Text: text}}, Response: &llm.Response{Text: text}}
	}
	p := &planner.Plan{Version: planner.Version, Mode: planner.Deliberate, Task: text, Steps: []planner.Step{
		{ID: "s1", Goal: "Find " + text, Status: planner.Pending},
		{ID: "s2", Goal: "Send an agent " + text, Status: planner.Pending, Executor: planner.Agent, Action: "desktop"},
		{ID: "s3", Goal: text, Status: planner.Blocked, Executor: planner.Self, Needs: []string{"s1", "s2"}},
	}}
	put(0, "main", "", 0, 0, run.RunStarted{Schema: run.Schema, Task: text, Planning: "deliberate", Guard: "none"})
	put(0, "main", "", 0, 0, run.Planned{Plan: p.Clone()})
	put(0, "main", "", 0, 0, run.PlanApproved{Approved: true, Edited: true, Reason: text, By: "ada"})
	put(1e6, "main", ":1", 1, 0, run.StepStarted{Step: "s1", Goal: text, Executor: planner.GUI, Attempt: 1})
	put(1e6, "main", "", 2, 0, run.StepStarted{Step: "s2", Goal: text, Executor: planner.Agent, Action: "desktop", Attempt: 1})
	for turn := 1; turn <= 2; turn++ { // both have a turn 1 and a turn 2, and their events stand between each other's
		put(10e6, "main", ":1", 1, turn, call("propose", turn-1))
		put(10e6, "main/s2", ":2", 2, turn, call("propose", turn-1))
	}
	put(10e6, "main", "", 0, 0, run.StepEnded{Step: "s1", Status: planner.Failed, Error: text, Output: text, Attempts: 1, By: "main", On: ":1", Millis: 51})
	revised := p.Clone()
	revised.Steps[0].Status, revised.Steps[0].Error = planner.Failed, text
	revised.Steps[1].Status = planner.Running
	old := revised.Steps[2]
	revised.Steps[2] = planner.Step{ID: "s4", Goal: "Instead " + text, Status: planner.Blocked, Executor: planner.Self, Needs: []string{"s2"}}
	revised.Revisions = []planner.Revision{{Number: 1, Source: "engine", Trigger: planner.StepFailure, Strategy: planner.ReplanRemaining, Guidance: text, Changes: []planner.Change{
		{Type: "removed", Old: &old}, {Type: "added", New: &revised.Steps[2]},
	}}}
	put(0, "main", "", 0, 0, run.Reflected{Step: "s1", Verdict: run.ReflectRefine, Reason: text, Guidance: text})
	put(0, "main", "", 0, 0, run.Planned{Plan: revised})
	put(10e6, "main/s2", ":2", 2, 2, run.Planned{Plan: &planner.Plan{Version: planner.Version, Mode: planner.Deliberate, Steps: []planner.Step{
		{ID: "s1", Goal: text, Status: planner.Completed, Executor: planner.Self}, {ID: "s2", Goal: text, Status: planner.Running, Executor: planner.Self, Needs: []string{"s1"}},
	}}})
	put(5e6, "main/s2", ":2", 2, 2, run.StepStarted{Step: "s2.s2", Goal: text, Executor: planner.Self, Attempt: 1})
	require.NoError(t, j.Close())
	r, err := replay.Open(j.Dir())
	require.NoError(t, err)
	return r
}

// TestGraphOfTwoDisplays holds that turns of agents that share numbers have addresses of
// their own and stand together, that each display has its lane, and what the page says of
// a failure, of a revision, of a plan in the plan and of a run that was cut off.
func TestGraphOfTwoDisplays(t *testing.T) {
	p, source := read(t, handmade(t, "a short text"))
	if to := os.Getenv("REPORT_GRAPH"); to != "" { // to look at it
		require.NoError(t, os.WriteFile(to+"2.html", []byte(source), 0o600))
	}
	p.unique(t)
	var turns []string
	for _, n := range p.all("section.step[data-agent]") {
		turns = append(turns, attr(n, "data-plan-step")+" "+attr(n, "data-agent"))
	}
	assert.Equal(t, []string{"0 main", "1 main", "1 main", "1 main", "2 main", "2 main/s2", "2 main/s2"}, turns, "all of a group stand together")
	assert.Equal(t, len(p.all("section.step")), len(p.all(".rail a")), "each has its entry in the list")
	assert.Len(t, p.all(".rail .group"), 4)

	assert.Equal(t, []string{":1", "", ":2"}, p.values(".lane", "data-display"))
	assert.Equal(t, []string{"s1", "s2", "s4", "s2.s1", "s2.s2"}, nodesInOrder(p))
	assert.Contains(t, attr(p.all(`.node[data-step="s1"]`)[0], "class"), "failed")
	assert.Contains(t, attr(p.all(`.node[data-step="s2"]`)[0], "class"), "running", "it was never ended")
	assert.Contains(t, attr(p.all(`.node[data-step="s2.s2"]`)[0], "class"), "running")
	assert.Equal(t, []string{"s2", "s2.s1"}, p.values("path.need", "data-from"))
	assert.Equal(t, "51", attr(p.all(`.bar-of[data-step="s1"]`)[0], "data-ms"))
	assert.Contains(t, p.words(t, "#plan .approvals"), "changed and approved by ada: a short text")
	revision := p.words(t, "#plan .revisions")
	assert.Contains(t, revision, "1 asked for by engine, step failure: replan remaining")
	assert.Contains(t, revision, "removed s3 “a short text” added s4 “Instead a short text”, needs s2")
	assert.Contains(t, p.words(t, "#plan-1"), "After s1: refine: a short text – a short text")
	assert.Contains(t, p.words(t, "#plan-1 .trouble"), "a short text")
	assert.NotEmpty(t, p.all(`#plan-2 .sub .node`), "the plan of the step is in its card")

	p, source = read(t, handmade(t, hostile))
	p.unique(t)
	assert.Empty(t, p.all("img[src=x], [onerror], [onmouseover]"))
	assert.Len(t, p.all("script"), 1)
	assert.NotContains(t, source, "ZgotmplZ")
	assert.Contains(t, p.words(t, `.node[data-step="s1"] .goal`), "<img src=x onerror=")

	var two bytes.Buffer
	require.NoError(t, report.WriteComparison(&two, handmade(t, "one"), handmade(t, "two")))
	doc, err := html.Parse(&two)
	require.NoError(t, err)
	assert.Len(t, page{doc}.all("section.step"), 7, "each turn beside that of the same step of the plan")
}

// nodesInOrder are the nodes of the plan, and then those of plans in it.
func nodesInOrder(p page) []string {
	return append(p.values("#plan .block > .scroll .node", "data-step"), p.values("#plan .sub .node", "data-step")...)
}

// TestOtherReportsHaveNoGraph holds that the page of a run without a deliberate plan has
// none of this, not even its style.
func TestOtherReportsHaveNoGraph(t *testing.T) {
	j, err := replay.Create(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, j.Append(t.Context(), 0, run.RunStarted{Schema: run.Schema, Task: "write", Planning: "suggestive", Guard: "none"}))
	require.NoError(t, j.Append(t.Context(), 0, run.Planned{Plan: &planner.Plan{Version: 1, Steps: []planner.Step{{ID: "s1", Goal: "Find it"}}}}))
	require.NoError(t, j.Close())
	r, err := replay.Open(j.Dir())
	require.NoError(t, err)
	p, source := read(t, r)
	assert.Empty(t, p.all("#plan, .graph, .lane, .group, [data-agent]"))
	assert.NotContains(t, source, "bar-of")
	assert.NotEmpty(t, p.all("#step-0"))
}
