package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm/llmtest"
	"desktop-agent/planner"
	"desktop-agent/planner/planfile"
)

const pricePlan = `{"goal":"A price","success":"One price is named","complexity":"simple","milestones":[],"constraints":[],"risks":[],"steps":[
{"id":"s1","executor":"tool","action":"read_file","parameters":"{\"path\":\"prices.txt\"}","goal":"Read the prices","done_when":"The text of the prices","predicate":null,"needs":[],"parallel":false,"fallback":null,"tokens":10},
{"id":"s2","executor":"gui","action":null,"parameters":null,"goal":"Find the price list of the shop","done_when":"The window \"Prices\" is open","predicate":null,"needs":[],"parallel":true,"fallback":null,"tokens":10},
{"id":"s3","executor":"self","action":null,"parameters":null,"goal":"Choose the lowest price","done_when":"One price","predicate":null,"needs":["s1","s2"],"parallel":false,"fallback":null,"tokens":10}]}`

// command runs a command line in this process, with a home of its own.
func command(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	var o, e output
	code = execute(t.Context(), args, console{&o, &e})
	return code, o.String(), e.String()
}

// TestPlanCommands holds that a plan is written, saved, checked and shown, that nothing of
// it is executed, and what a task without a plan gets.
func TestPlanCommands(t *testing.T) {
	work := t.TempDir()
	file := filepath.Join(work, "plan.toml")
	ask := func(answers ...http.HandlerFunc) []string {
		server := llmtest.NewServer(t, answers...)
		t.Cleanup(func() { assert.Zero(t, server.Left()) })
		return []string{"plan", "new", "Find the lowest price", "--files", work, "--model=m", "--base-url", server.URL}
	}
	analysis := llmtest.Completion("TASK: find it\nREFLECT: no")
	code, out, errs := command(t, append(ask(analysis, llmtest.Completion(pricePlan)), "--out", file)...)
	require.Equal(t, exitDone, code, errs)
	assert.Empty(t, out)
	assert.Contains(t, errs, "Working on it...\nBuilding execution plan...\n")
	assert.Contains(t, errs, "2. Find the price list of the shop → GUI")
	assert.Contains(t, errs, "run --plan-file "+file)

	code, printed, _ := command(t, ask(analysis, llmtest.Completion(pricePlan))...)
	require.Equal(t, exitDone, code)
	saved, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(saved), printed)

	code, out, errs = command(t, "plan", "check", file, "--files", work)
	require.Equal(t, exitDone, code, errs)
	assert.Contains(t, out, "can be executed: 3 steps")
	code, out, _ = command(t, "plan", "show", file)
	require.Equal(t, exitDone, code)
	assert.Contains(t, out, "1. Read the prices → TOOL: read_file\n   Done when: The text of the prices\n   Needs: NONE\n   With: {\"path\":\"prices.txt\"}")
	assert.Contains(t, out, "**Parallel:** 2\n")

	code, _, errs = command(t, "plan", "check", file)
	require.Equal(t, exitUsage, code)
	assert.Contains(t, errs, `step 1: there is no tool "read_file"`)
	assert.Contains(t, errs, "tools are those of --mcp, --files and --programs")
	code, _, errs = command(t, "plan", "check", file, "--files", work, "--no-screen")
	require.Equal(t, exitUsage, code)
	assert.Contains(t, errs, "step 2: there is no screen")
	code, _, errs = command(t, "plan", "new", "x", "--model=m", "--plan-threshold=0")
	require.Equal(t, exitUsage, code)
	assert.Contains(t, errs, "--plan-threshold is 0")

	code, out, errs = command(t, ask(llmtest.Completion("DIRECT: 3"))...)
	require.Equal(t, exitDone, code)
	assert.Equal(t, "3\n", out)
	assert.Contains(t, errs, "no plan is needed")
	code, out, errs = command(t, append(ask(analysis), "--plan-steps-skip")...)
	require.Equal(t, exitNotDone, code)
	assert.Empty(t, out)
	assert.Contains(t, errs, "there is no plan: phase1_only")
	code, _, errs = command(t, append(ask(analysis, llmtest.Completion(pricePlan)), "--out", file)...)
	require.Equal(t, exitUsage, code)
	assert.Contains(t, errs, "name a file that is not there yet")
}

// TestBadPlanFiles holds that a file that is no plan is a mistake of who wrote it, and is
// told in full.
func TestBadPlanFiles(t *testing.T) {
	plan, err := planfile.Decode("p", []byte("version = 2\ntask = \"x\"\n[[step]]\ngoal = \"Choose a price\"\ndone_when = \"A price\"\nexecutor = \"self\"\n"))
	require.NoError(t, err)
	good, err := planfile.Encode(plan)
	require.NoError(t, err)
	second := "[[step]]\nid = \"s2\"\nexecutor = \"self\"\ngoal = \"Choose a shop\"\ndone_when = \"A shop\"\n"
	for name, tt := range map[string]struct{ text, want string }{
		"an unknown key":  {string(good) + "gaol = \"x\"\n", `unknown key "gaol"; did you mean goal?`},
		"a circle":        {strings.Replace(string(good), "[[step]]\n", "[[step]]\nneeds = [\"s2\"]\n", 1) + second + "needs = [\"s1\"]\n", "in a circle"},
		"10,000 steps":    {string(good) + strings.Repeat(second[:len("[[step]]\n")]+"goal = \"Choose\"\n", 10_000), "10001 steps to do are too many"},
		"deep nesting":    {string(good) + "[step.plan]\ntask = " + strings.Repeat("[", 100_000), "more than 64 deep"},
		"another version": {strings.Replace(string(good), "version = 2", "version = 9", 1), "the version 9 is not known"},
		"nothing":         {"", "write version = 2"},
	} {
		file := filepath.Join(t.TempDir(), "p.toml")
		require.NoError(t, os.WriteFile(file, []byte(tt.text), 0o600))
		code, out, errs := command(t, "plan", "check", file)
		assert.Equal(t, exitUsage, code, name)
		assert.Empty(t, out, name)
		assert.Contains(t, errs, tt.want, name)
		assert.Contains(t, errs, "hint: ", name)
		assert.Less(t, len(errs), 4000, name)
		_, err := readPlan(file, planner.Catalog{}, planner.Config{})
		var usage *usageError
		assert.ErrorAs(t, err, &usage, name)
	}
	code, _, errs := command(t, "plan", "show", t.TempDir())
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, errs, "is no file")
}

// desk is a terminal at which somebody gives the answers in order, and edits with each
// edit the file in turn.
func desk(t *testing.T, answers []string, edits ...func(string) (string, error)) (planDesk, *bytes.Buffer) {
	t.Helper()
	var shown bytes.Buffer
	t.Cleanup(func() { assert.Empty(t, edits, "edits that nobody asked for") })
	return planDesk{
		console: console{io.Discard, &shown}, by: "ada",
		line: func(context.Context) (string, error) {
			if len(answers) == 0 {
				return "", io.EOF
			}
			next := answers[0]
			answers = answers[1:]
			return next, nil
		},
		edit: func(_ context.Context, file string) error {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			next := edits[0]
			edits = edits[1:]
			text, err := next(string(data))
			return errors.Join(os.WriteFile(file, []byte(text), 0o600), err)
		},
	}, &shown
}

func replacing(pairs ...string) func(string) (string, error) {
	return func(text string) (string, error) {
		return strings.NewReplacer(pairs...).Replace(text), nil
	}
}

// TestApprovePlanOnTheTerminal holds what a person can do with a plan before it is
// executed, that nothing changes unless it is valid, and that the decision bears the name.
func TestApprovePlanOnTheTerminal(t *testing.T) {
	plan := &planner.Plan{Version: planner.Version, Mode: planner.Deliberate, State: planner.PlanCreated, ID: "p1", Task: "Find the lowest price"}
	for i, goal := range []string{"Choose a shop", "Choose a day", "Choose a price"} {
		s := planner.Step{ID: "s" + string(rune('1'+i)), Executor: planner.Self, Goal: goal, DoneWhen: "It is named " + goal, Status: planner.Pending, Parallel: i < 2}
		if i == 2 {
			s.Needs = []string{"s1", "s2"}
		}
		plan.Steps = append(plan.Steps, s)
	}
	check := func(p *planner.Plan) error { return p.ValidateFor(planner.Catalog{}, planner.Config{}) }
	first := "[[step]]\nid = 's1'"
	last := "[[step]]\nid = 's3'"
	cut := func(text string) (step, rest string) {
		i := strings.Index(text, first)
		j := i + strings.Index(text[i:], "[[step]]\nid = 's2'")
		return text[i:j], text[:i] + text[j:]
	}
	for _, tt := range []struct {
		name    string
		answers []string
		edits   []func(string) (string, error)
		want    []string // goals of the plan that is approved; nil if it is rejected
		reason  string
		shown   string
	}{
		{"approved", []string{"show", "yes"}, nil, []string{"Choose a shop", "Choose a day", "Choose a price"}, "", "1. Choose a shop → SELF"},
		{"rejected with a reason", []string{"no, the shop is known"}, nil, nil, "the shop is known", ""},
		{"a yes with a condition is none", []string{"yes if it is cheap", "n"}, nil, nil, "", "a yes with a condition is none"},
		{"what is no answer is asked again", []string{"", "perhaps", "y"}, nil, []string{"Choose a shop", "Choose a day", "Choose a price"}, "", ""},
		{"a step is edited", []string{"edit", "yes"}, []func(string) (string, error){replacing("Choose a day", "Choose a week")},
			[]string{"Choose a shop", "Choose a week", "Choose a price"}, "", "2. Choose a week → SELF"},
		{"reordered", []string{"e", "yes"}, []func(string) (string, error){func(text string) (string, error) {
			step, rest := cut(text)
			return strings.Replace(rest, last, step+last, 1), nil
		}}, []string{"Choose a day", "Choose a shop", "Choose a price"}, "", ""},
		{"reordered behind what needs it", []string{"edit", "no"}, []func(string) (string, error){func(text string) (string, error) {
			step, rest := cut(text)
			return rest + step, nil
		}}, nil, "", `nothing has changed: step 2: it needs "s1", which stands after it`},
		{"needs changed", []string{"edit", "yes"}, []func(string) (string, error){replacing("['s1', 's2']", "['s2']")}, []string{"Choose a shop", "Choose a day", "Choose a price"}, "", "   Needs: 2\n"},
		{"needs in a circle, and then mended", []string{"edit", "edit", "yes"}, []func(string) (string, error){
			replacing("id = 's1'", "id = 's1'\nneeds = ['s3']"),
			func(text string) (string, error) {
				if !strings.HasPrefix(text, "#! steps need each other in a circle: s1 needs s3 needs s1") {
					return text, errors.New("what was written is not there: " + text)
				}
				return strings.Replace(text, "needs = ['s3']", "", 1), nil
			}}, []string{"Choose a shop", "Choose a day", "Choose a price"}, "", "edit goes on with what you wrote"},
		{"a step added", []string{"edit", "yes"}, []func(string) (string, error){func(text string) (string, error) {
			return text + "\n[[step]]\nexecutor = \"self\"\ngoal = \"Choose a car\"\ndone_when = \"A car\"\nneeds = [\"s3\"]\n", nil
		}}, []string{"Choose a shop", "Choose a day", "Choose a price", "Choose a car"}, "", ""},
		{"a step removed that another needs", []string{"edit", "no"}, []func(string) (string, error){func(text string) (string, error) {
			_, rest := cut(text)
			return rest, nil
		}}, nil, "", `it needs "s1", and there is no such step`},
		{"a step removed", []string{"edit", "yes"}, []func(string) (string, error){func(text string) (string, error) {
			_, rest := cut(text)
			return strings.Replace(rest, "['s1', 's2']", "['s2']", 1), nil
		}}, []string{"Choose a day", "Choose a price"}, "", ""},
		{"an editor that fails", []string{"edit", "yes"}, []func(string) (string, error){func(text string) (string, error) {
			return strings.ReplaceAll(text, "Choose a day", "Choose a week"), errors.New("exit status 1")
		}}, []string{"Choose a shop", "Choose a day", "Choose a price"}, "", "nothing has changed: exit status 1"},
		{"another task", []string{"edit", "no"}, []func(string) (string, error){replacing("Find the lowest price", "Buy it")}, nil, "", "the task is what you asked for, and stays"},
		{"no TOML", []string{"edit", "no"}, []func(string) (string, error){replacing("[[step]]", "[[step")}, nil, "", "nothing has changed: plan: the edited plan: line"},
	} {
		d, shown := desk(t, tt.answers, tt.edits...)
		before := plan.Clone()
		got, err := d.ask(t.Context(), plan, check)
		require.NoError(t, err, tt.name)
		assert.Equal(t, before, plan, tt.name)
		assert.Equal(t, tt.reason, got.Reason, tt.name)
		assert.Equal(t, "ada", got.By, tt.name)
		assert.Contains(t, shown.String(), tt.shown, tt.name)
		if tt.want == nil {
			assert.Nil(t, got.Plan, tt.name)
			continue
		}
		require.NotNil(t, got.Plan, "%s: %s", tt.name, shown)
		var goals []string
		for _, s := range got.Plan.Steps {
			goals = append(goals, s.Goal)
		}
		assert.Equal(t, tt.want, goals, tt.name)
		assert.Equal(t, "p1", got.Plan.ID, tt.name)
		require.NoError(t, check(got.Plan), tt.name)
	}
	d, _ := desk(t, nil)
	_, err := d.ask(t.Context(), plan, check)
	require.ErrorIs(t, err, io.EOF, "nobody is there")
}

// TestEditor holds that the editor of the environment edits the file, with its arguments,
// and that one which fails or is not there says so.
func TestEditor(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a b.toml")
	require.NoError(t, os.WriteFile(file, []byte("one"), 0o600))
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "sed -i 's/one/two words/'")
	require.NoError(t, edit(t.Context(), file))
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "two words", string(data))
	t.Setenv("VISUAL", "false")
	require.ErrorContains(t, edit(t.Context(), file), "the editor false: exit status 1")
	t.Setenv("VISUAL", "no-such-editor")
	require.ErrorContains(t, edit(t.Context(), file), "no-such-editor")
	t.Setenv("VISUAL", "'")
	require.ErrorContains(t, edit(t.Context(), file), "set EDITOR to a program")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	t.Setenv("VISUAL", "sleep 60 #")
	require.Error(t, edit(ctx, file))
}
