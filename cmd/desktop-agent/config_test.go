package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/guard"
	"desktop-agent/llm"
	"desktop-agent/replay"
	"desktop-agent/replay/macro"
	"desktop-agent/run"
	"desktop-agent/run/eventjson"
)

// parsed parses a command line of run as the program does, and returns what it
// would work with.
func parsed(t *testing.T, config string, environ map[string]string, args ...string) *runCmd {
	t.Helper()
	return &parsedAs(t, aRun, config, environ, args...).Run
}

// aRun is the command of a run.
var aRun = []string{"run", "task"}

// parsedAs reads another command so.
func parsedAs(t *testing.T, command []string, config string, environ map[string]string, args ...string) *cli {
	t.Helper()
	read, _ := parsedLine(t, command, config, environ, args...)
	return read
}

// parsedLine does it, and returns the command line too.
func parsedLine(t *testing.T, command []string, config string, environ map[string]string, args ...string) (*cli, *kong.Context) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	path := filepath.Join(t.TempDir(), "config.toml")
	require.NoError(t, os.WriteFile(path, []byte(config), 0o600))
	for name, value := range environ {
		t.Setenv(name, value)
	}
	parser, err := aParser()
	require.NoError(t, err)
	// Each reading begins as the first: kong itself resets what was set, but not that it was.
	require.NoError(t, kong.Visit(parser.Model, func(node kong.Visitable, next kong.Next) error {
		if value, ok := node.(*kong.Value); ok {
			value.Set, value.Active = false, false
			if value.Flag != nil {
				value.Flag.Negated = false
			}
		}
		return next(nil)
	}))
	line, err := parser.Parse(slices.Concat(command, []string{"--config", path}, args))
	require.NoError(t, err)
	read := parser.Model.Target.Interface().(cli) // a copy, which the next reading leaves alone
	return &read, line
}

// aParser is the parser of the program. It is made once, which takes ten times as long as to
// read a command line.
var aParser = sync.OnceValues(func() (*kong.Kong, error) {
	return newParser(new(cli), kong.DefaultEnvars("DESKTOP_AGENT"), kong.Vars{"version": "x"},
		kong.BindTo(context.Background(), (*context.Context)(nil)))
})

// TestOrder goes through every type of flag: the command line stands above the
// environment, that above the file, and that above the default.
func TestOrder(t *testing.T) {
	warm := func(f *float64) any {
		if f == nil {
			return nil
		}
		return *f
	}
	for _, test := range []struct {
		name           string
		flag, env, doc string // as they are written
		get            func(*runCmd) any
		want           [4]any // by flag, by environment, by file, by default
	}{
		{"text", "--model=f", "DESKTOP_AGENT_MODEL=e", `model = "c"`,
			func(r *runCmd) any { return r.Model }, [4]any{"f", "e", "c", ""}},
		{"text of a role", "--planner-model=f", "DESKTOP_AGENT_PLANNER_MODEL=e", "[planner]\nmodel = \"c\"",
			func(r *runCmd) any { return r.Planner.Model }, [4]any{"f", "e", "c", ""}},
		{"whole number", "--max-steps=3", "DESKTOP_AGENT_MAX_STEPS=4", "max-steps = 5",
			func(r *runCmd) any { return r.MaxSteps }, [4]any{3, 4, 5, 50}},
		{"time", "--timeout=3s", "DESKTOP_AGENT_TIMEOUT=4s", `timeout = "5s"`,
			func(r *runCmd) any { return r.Timeout }, [4]any{3 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Minute}},
		{"number that may be missing", "--temperature=0", "DESKTOP_AGENT_TEMPERATURE=0.5", "temperature = 1",
			func(r *runCmd) any { return warm(r.Temperature) }, [4]any{0.0, 0.5, 1.0, nil}},
		{"map", "--price=m=1/1/1", "DESKTOP_AGENT_PRICE=m=2/2/2", "[price]\nm = \"3/3/3\"",
			func(r *runCmd) any { return r.Price["m"].Output }, [4]any{1.0, 2.0, 3.0, 0.0}},
		{"bool", "--virtual", "DESKTOP_AGENT_VIRTUAL=true", "virtual = true",
			func(r *runCmd) any { return r.Virtual }, [4]any{true, true, true, false}},
		{"bool, off", "--no-json", "DESKTOP_AGENT_JSON=false", "json = true",
			func(r *runCmd) any { return r.JSON }, [4]any{nil, false, true, false}},
		{"choice", "--plan=off", "DESKTOP_AGENT_PLAN=suggestive", `plan = "off"`,
			func(r *runCmd) any { return r.Plan }, [4]any{"off", "suggestive", "off", "suggestive"}},
		{"size", "--size=400x300", "DESKTOP_AGENT_SIZE=500x300", `size = "600x300"`,
			func(r *runCmd) any { return r.Size.X }, [4]any{400, 500, 600, 1280}},
	} {
		t.Run(test.name, func(t *testing.T) {
			name, value, _ := strings.Cut(test.env, "=")
			environ := map[string]string{name: value}
			if test.want[0] != nil {
				assert.Equal(t, test.want[0], test.get(parsed(t, test.doc, environ, test.flag)), "flag")
			}
			assert.Equal(t, test.want[1], test.get(parsed(t, test.doc, environ)), "environment")
			require.NoError(t, os.Unsetenv(name))
			assert.Equal(t, test.want[2], test.get(parsed(t, test.doc, nil)), "file")
			assert.Equal(t, test.want[3], test.get(parsed(t, "", nil)), "default")
		})
	}
}

func TestModelSettings(t *testing.T) {
	r := parsed(t, "model = \"all\"\ntemperature = 0.2\n[planner]\nmodel = \"big\"\nmax-tokens = 700\nfallback = [\"b\", \"c\"]\n[price]\n\"big\" = \"2/0.5/8\"", nil,
		"--max-tokens=1000", "--monitor-timeout=7s", "--price=all=1/0.1/4")
	c := r.client()
	assert.Equal(t, "all", c.Settings(llm.Actor).Model)
	assert.Equal(t, "big", c.Settings(llm.Planner).Model)
	assert.Equal(t, 700, c.Settings(llm.Planner).MaxTokens)
	assert.Equal(t, []string{"b", "c"}, c.Settings(llm.Planner).Fallback)
	assert.Empty(t, c.Settings(llm.Actor).Fallback)
	assert.Equal(t, 0.2, *c.Settings(llm.Planner).Temperature)
	assert.Equal(t, 7*time.Second, c.Settings(llm.Monitor).Deadline)
	assert.Equal(t, 1000, c.Budget.MaxTokens)
	assert.Equal(t, time.Hour, c.Budget.MaxTime)
	assert.Equal(t, llm.Prices{"all": {Input: 1, Cached: 0.1, Output: 4}}, c.Budget.Prices, "a flag replaces the table")
}

// TestPrices: what a model costs comes of the flag, else of the file, else of the table of
// the program, and only of models that are asked; what is not known stays so.
func TestPrices(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prices.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"a": {"input_cost_per_token": 4e-06}, "b": {"input_cost_per_token": 2e-06}, "c": {"input_cost_per_token": 1e-06}}`), 0o600))
	r := parsed(t, "prices = \""+file+"\"", nil, "--model=a", "--planner-model=b", "--actor-model=claude-opus-5", "--monitor-model=nobody-knows",
		"--price=a=1/0.5/8/1.25")
	table := r.client().Budget.Prices
	assert.Equal(t, llm.Price{Input: 1, Cached: 0.5, Output: 8, Written: 1.25}, table["a"])
	assert.InDelta(t, 2, table["b"].Input, 1e-9)
	assert.InDelta(t, 5, table["claude-opus-5"].Input, 1e-9)
	assert.Len(t, table, 3)
	for list, want := range map[string]string{`{"a": {}}`: "no model in it has a price", "[x": "toml"} {
		require.NoError(t, os.WriteFile(file, []byte(list), 0o600))
		code, _, errs := command(t, "run", "--prices", file, "--model", "a", "task")
		assert.Equal(t, exitUsage, code)
		assert.Contains(t, errs, want)
	}
}

// TestJournalSettings: a run tells all that it was made with, and no secret.
func TestJournalSettings(t *testing.T) {
	r := parsed(t, "model = \"all\"\ntemperature = 0.2\n[planner]\nmax-tokens = 700", map[string]string{"DESKTOP_AGENT_API_KEY": "secret-1"},
		"--base-url=https://secret-2:secret-3@example.org/v1?key=secret-4#secret-5", "--monitor-timeout=7s", "--price=all=1/0.1/4", "--virtual", "--size=640x480")
	text, err := eventjson.Marshal(run.RunStarted{Settings: run.Settings{
		Display: r.desktopFlags.settings(), Agent: r.agentFlags.settings(), Models: r.modelFlags.settings(), ToolLimits: r.limits()}})
	require.NoError(t, err)
	assert.JSONEq(t, `{"schema": 0, "task": "", "planning": "", "guard": "", "parser": "", "models": null, "settings": {
		"assess": "auto", "max_steps": 50, "review_every": 10, "max_bad_replies": 4, "max_refusals": 3, "max_doubts": 1, "max_revisions": 3,
		"screen_tokens": 3000, "keep_images": 3, "guard_limit": "10m0s", "judge_limit": "1m0s", "approval_limit": "5m0s", "risk_limit": 0.5,
		"careful_edits": 5, "max_blocked": 3, "plan_tries": 3, "read_alike": 0.9, "ground_tries": 2, "tool_limit": "1m0s", "tool_text": 20000, "retry": {"attempts": 4, "first": "500ms", "most": "20s"},
		"guard": "on", "approve": "risky", "on_block": "ask", "workspace": "auto",
		"detectors": {"repeats": 2, "window": 8, "same_screen": 4, "alternate": 4, "no_effect": 3, "no_progress": 10, "low_budget": 0.15,
			"reach": 30, "again": 4, "stuck": 8, "objections": 4},
		"quiet": "60ms", "ceiling": "3s", "tree_silence": "300ms", "tree_limit": "2s", "tree_nodes": 4000,
		"base_url": "https://example.org/v1",
		"ways": {
			"planner":    {"api": "chat", "base_url": "https://example.org/v1"},
			"actor":      {"api": "chat", "base_url": "https://example.org/v1"},
			"worldmodel": {"api": "chat", "base_url": "https://example.org/v1"},
			"monitor":    {"api": "chat", "base_url": "https://example.org/v1"}},
		"max_tokens": 0, "max_dollars": 0, "max_time": "1h0m0s", "prices": {"all": {"input": 1, "cached": 0.1, "output": 4}},
		"virtual": true, "ocr": "eng", "open": "", "home": "", "monitor": 0, "size": "640x480", "dpi": 96,
		"stop_keys": "ctrl+alt+esc", "stop_corner": true, "takeover": "3s",
		"roles": {
			"planner":    {"temperature": 0.2, "max_tokens": 700, "timeout": "5m0s", "attempt": "2m0s"},
			"actor":      {"temperature": 0.2, "max_tokens": 0, "timeout": "5m0s", "attempt": "2m0s"},
			"worldmodel": {"temperature": 0.2, "max_tokens": 0, "timeout": "5m0s", "attempt": "2m0s"},
			"monitor":    {"temperature": 0.2, "max_tokens": 0, "timeout": "7s", "attempt": "2m0s"}}}}`, string(text))
	assert.Equal(t, "no address", withoutSecrets("secret@/x"))
	assert.Equal(t, "no address", withoutSecrets("http://[secret"))
}

// TestKey: a key made for OpenAI is not sent to others.
func TestKey(t *testing.T) {
	getenv := func(name string) string { return map[string]string{"OPENAI_API_KEY": "openai"}[name] }
	for _, test := range []struct{ url, own, want string }{
		{"https://api.openai.com/v1", "", "openai"},
		{"https://api.openai.com/v1", "own", "own"},
		{"http://api.openai.com/v1", "", ""},
		{"https://api.openai.com.example.org/v1", "", ""},
		{"http://localhost:8000/v1", "", ""},
		{"http://localhost:8000/v1", "own", "own"},
	} {
		assert.Equal(t, test.want, modelFlags{BaseURL: test.url, APIKey: test.own}.key(getenv), "%+v", test)
	}
}

// TestEverySettingHasAFlag holds that each setting of an agent, of its desktop, of the
// models and of plans can be set by a flag, by the environment and by the file: a flag with
// another value than its default changes it in each way, and every field is changed by one.
func TestEverySettingHasAFlag(t *testing.T) {
	changed := map[string]string{
		"plan": "off", "assess": "always", "format": "tools", "review-every": "11", "max-revisions": "5", "screen-tokens": "77", "keep-images": "9", "candidates": "3", "rehearsals": "2",
		"prune-images": "8", "guard-limit": "7m", "judge-limit": "6m", "approval-limit": "8m", "risk-limit": "0.7", "careful-edits": "6", "max-blocked": "4",
		"plan-tries": "4", "read-alike": "0.8", "agent-depth": "3", "agent-turns": "21", "plan-low-budget": "0.3", "max-steps": "51", "max-bad-replies": "6", "max-refusals": "5", "max-doubts": "2",
		"detect-repeats": "12", "detect-window": "13", "detect-same-screen": "14", "detect-alternate": "15", "detect-no-effect": "16",
		"detect-no-progress": "17", "detect-low-budget": "0.5",
		"detect-reach": "31", "detect-again": "5", "detect-stuck": "9", "detect-objections": "6",
		"guard": "off", "approve": "always", "on-block": "stop", "workspace": "none", "policies": policyFile(t),
		"execution": "parallel", "max-parallel": "4", "step-timeout": "61s", "agent-timeout": "11m", "step-actions": "14", "step-retries": "2",
		"continue-on-failure": "true", "reflect": "false",
	}
	for name := range agentSettings {
		require.Contains(t, changed, name)
	}
	before := parsed(t, "", nil).agentFlags.settings()
	assert.Equal(t, run.Defaults().Agent, before)
	fields := fieldsOf(reflect.ValueOf(before))
	for name, value := range changed {
		for way, commands := range ways(t, aRun, nil, "--"+name+"="+value) {
			after := fieldsOf(reflect.ValueOf(commands.Run.agentFlags.settings()))
			var differ []string
			for field, v := range after {
				if v != fieldsOf(reflect.ValueOf(before))[field] {
					differ = append(differ, field)
				}
			}
			require.Len(t, differ, 1, "--%s changes one setting, by the %s", name, way)
			delete(fields, differ[0])
		}
	}
	assert.Empty(t, fields, "settings that no flag changes")

	var parts []string
	for part := range reflect.TypeFor[run.Settings]().Fields() {
		parts = append(parts, part.Name)
	}
	assert.Equal(t, []string{"Display", "Agent", "Models", "Plan", "Macro", "Like", "Tools", "ToolLimits", "TextUnseen"}, parts,
		"each part is looked at here, but for what --like and --text-unseen set, and the tools of a run")

	t.Setenv("DISPLAY", "")
	require.NoError(t, os.Unsetenv("DISPLAY")) // it stands above the file
	for _, of := range []struct {
		name     string
		settings func(*cli) any
		command  []string
		rows     []settingRow
		unset    map[string]string // fields that no flag sets, and why
	}{
		{"display", func(c *cli) any { return c.Run.desktopFlags.settings() }, aRun, displayRows(t.TempDir()), nil},
		{"models", func(c *cli) any { return c.Run.modelFlags.settings() }, aRun, modelRows, map[string]string{"Boundary": "a session makes it, and nobody knows it before"}},
		{"plan", func(c *cli) any { return c.Run.planning() }, aRun, planRows, map[string]string{
			"Model": "--planner-model sets it, as the model of that role", "MaxRevisions": "--max-revisions sets it, with the other limits of the agent",
		}},
		{"tools", func(c *cli) any { return c.Run.limits() }, aRun, []settingRow{{"", "--tool-limit=61s", "Time"}, {"", "--tool-text=99", "Text"}}, nil},
		{"macro", func(c *cli) any { return c.Replay.playFlags.settings() }, []string{"replay", "last", "--macro"}, macroRows, nil},
	} {
		t.Run(of.name, func(t *testing.T) {
			fields := func(commands *cli) map[string]any { return fieldsOf(reflect.ValueOf(of.settings(commands))) }
			left, bases := fields(parsedAs(t, of.command, "", nil)), map[string]map[string]any{}
			for _, row := range of.rows {
				base := strings.Fields(row.base)
				if bases[row.base] == nil {
					bases[row.base] = fields(parsedAs(t, of.command, "", nil, base...))
				}
				for way, commands := range ways(t, of.command, base, row.flag) {
					before, after := bases[row.base], fields(commands)
					var differ []string
					for _, field := range slices.Sorted(maps.Keys(after)) {
						if !reflect.DeepEqual(before[field], after[field]) {
							differ = append(differ, field)
							delete(left, field)
						}
					}
					assert.Equal(t, strings.Fields(row.fields), differ, "%s %s, by the %s", row.base, row.flag, way)
				}
			}
			assert.ElementsMatch(t, slices.Collect(maps.Keys(of.unset)), slices.Collect(maps.Keys(left)), "settings that no flag changes")
		})
	}
}

// TestRecordedDesktop holds that a replay looks at the desktop as the run did, whatever the
// environment says, unless its own command line says otherwise. How the run was watched by a
// person, and which devices its programs had, are not taken.
func TestRecordedDesktop(t *testing.T) {
	looked := run.DisplaySettings{
		Name: ":9", Monitor: 2, MaxImage: 98, Quiet: 99 * time.Millisecond, Ceiling: 100 * time.Second, TreeSilence: 101 * time.Millisecond,
		TreeLimit: 102 * time.Second, TreeNodes: 103, OCR: "deu", StopKeys: "ctrl+q", Takeover: time.Hour, MachineDevices: true,
	}
	private := looked
	private.Private, private.Name, private.Size, private.DPI = true, "", image.Pt(700, 500), 97
	environ := map[string]string{"DISPLAY": ":5", "DESKTOP_AGENT_MAX_IMAGE": "900", "DESKTOP_AGENT_OCR": "fra"}
	here := parsedAs(t, aRun, "", environ).Run.desktopFlags.settings()
	for name, tt := range map[string]struct {
		was  run.DisplaySettings
		args []string
		want func(*run.DisplaySettings)
	}{
		"as the run": {looked, nil, func(*run.DisplaySettings) {}},
		"the command line": {looked, []string{"--monitor=1", "--ocr=off", "--quiet=98ms"}, func(s *run.DisplaySettings) {
			s.Monitor, s.OCR, s.Quiet = 1, "", 98*time.Millisecond
		}},
		"text was not read": {func(s run.DisplaySettings) run.DisplaySettings { s.OCR = ""; return s }(looked), nil, func(s *run.DisplaySettings) { s.OCR = "" }},
		"private": {private, nil, func(s *run.DisplaySettings) {
			s.Private, s.Name, s.Size, s.DPI = true, "", private.Size, private.DPI
		}},
		"private, and now this display": {private, []string{"--display=:6"}, func(s *run.DisplaySettings) { s.Name, s.Monitor = ":6", 0 }},
		"this display, and now private": {looked, []string{"--virtual"}, func(s *run.DisplaySettings) {
			s.Private, s.Name, s.Monitor, s.Size, s.DPI = true, "", 0, run.Defaults().Display.Size, run.Defaults().Display.DPI
		}},
		"an older run": {run.DisplaySettings{Name: ":9", MaxImage: 98}, nil, func(s *run.DisplaySettings) {
			*s = here
			s.MaxImage = 98
		}},
	} {
		t.Run(name, func(t *testing.T) {
			read, line := parsedLine(t, []string{"replay", "last", "--live-desktop"}, "", environ, tt.args...)
			stored := &replay.Run{Dir: t.TempDir(), Info: replay.Info{ID: "r1", Asked: &run.RunStarted{Settings: run.Settings{Display: tt.was}}}}
			got, err := read.Replay.settings(stored, line)
			require.NoError(t, err)
			want := looked
			want.Name, want.StopKeys, want.StopCorner, want.Takeover, want.MachineDevices = here.Name, here.StopKeys, here.StopCorner, here.Takeover, false
			tt.want(&want)
			assert.Equal(t, want, got.Display)
		})
	}
	for field := range reflect.TypeFor[observationFlags]().Fields() {
		name := cmp.Or(field.Tag.Get("name"), strings.ToLower(regexp.MustCompile("([a-z])([A-Z])").ReplaceAllString(field.Name, "$1-$2")))
		assert.Contains(t, observationSettings, name, "--%s says how a desktop is looked at, and is taken from a run", name)
	}
}

// ways reads a command with a flag beside others, and with the same in the environment and in
// the file.
func ways(t *testing.T, command, others []string, flag string) map[string]*cli {
	t.Helper()
	name, value, valued := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
	if off, not := strings.CutPrefix(name, "no-"); not {
		name, value = off, "false"
	} else if !valued {
		value = "true"
	}
	variable := "DESKTOP_AGENT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	written := strconv.Quote(value)
	if _, err := strconv.ParseFloat(value, 64); err == nil || value == "true" || value == "false" {
		written = value
	} else if key, of, ok := strings.Cut(value, "="); ok {
		written = fmt.Sprintf("{%s = %q}", key, of)
	}
	list := map[string]*cli{
		"flag":        parsedAs(t, command, "", nil, append(slices.Clip(others), flag)...),
		"environment": parsedAs(t, command, "", map[string]string{variable: value}, others...),
	}
	require.NoError(t, os.Unsetenv(variable))
	list["file"] = parsedAs(t, command, name+" = "+written, nil, others...)
	return list
}

// A settingRow says which fields a flag changes, beside others that it goes with.
type settingRow struct{ base, flag, fields string }

func displayRows(home string) []settingRow {
	return []settingRow{
		{"", "--display=:5", "Name"}, {"", "--virtual", "DPI Private Size.X Size.Y"},
		{"--virtual", "--open=xterm", "Open"}, {"--virtual", "--home=" + home, "Home"}, {"--virtual", "--keep-home=" + home + "/new", "KeepHome"},
		{"--virtual", "--keep-desktop=10m", "KeepFor"}, {"--virtual", "--machine-devices", "MachineDevices"},
		{"--virtual", "--size=700x500", "Size.X Size.Y"}, {"--virtual", "--dpi=97", "DPI"},
		{"", "--stop-keys=ctrl+alt+q", "StopKeys"}, {"", "--no-stop-corner", "StopCorner"}, {"", "--takeover=105s", "Takeover"},
		{"", "--monitor=2", "Monitor"}, {"", "--max-image=98", "MaxImage"}, {"", "--quiet=99ms", "Quiet"}, {"", "--ceiling=100s", "Ceiling"},
		{"", "--tree-silence=101ms", "TreeSilence"}, {"", "--tree-limit=102s", "TreeLimit"}, {"", "--tree-nodes=103", "TreeNodes"}, {"", "--ocr=deu", "OCR"},
	}
}

var modelRows = []settingRow{
	{"--model=m", "--base-url=http://localhost:8000/v1", "BaseURL Ways"}, {"--model=m", "--api=responses", "Ways"}, {"--model=m --api=responses", "--stored", "Ways"},
	{"", "--model=m", "Roles"}, {"--model=m", "--temperature=0.5", "Roles"}, {"--model=m", "--timeout=61s", "Roles"},
	{"--model=m", "--fallback=n", "Others Roles"}, {"--model=m", "--actor-max-tokens=99", "Roles"},
	{"", "--max-tokens=99", "MaxTokens"}, {"", "--max-dollars=1.5", "MaxDollars"}, {"", "--max-time=61s", "MaxTime"}, {"--model=m", "--price=m=1/2/3", "Prices"},
	{"--model=m", "--grounder-model=GTA1-7B", "Grounder Roles Ways"}, {"", "--grounder-tries=3", "GroundTries"},
	{"", "--attempts=3", "Retry.Attempts"}, {"", "--retry-wait=1s", "Retry.First"}, {"", "--retry-limit=21s", "Retry.Most"},
	{"--model=m --base-url=https://api.openai.com/v1 --api=responses", "--actor-model=gpt-5.4", "Computer Roles"},
	{"--model=m", "--actor-model=claude-opus-5-5", "Computer Grows Roles Ways"},
}

var macroRows = []settingRow{
	{"", "--patience=11s", "Patience"}, {"", "--max-checks=11", "MaxChecks"}, {"", "--max-heals=4", "MaxHeals"}, {"", "--heal-bad-replies=4", "MaxBadReplies"},
	{"", "--picture-score=0.96", "Pictures.Score"}, {"", "--picture-margin=0.06", "Pictures.Margin"}, {"", "--picture-scaled-score=0.91", "Pictures.ScaledScore"},
	{"", "--picture-scaled-margin=0.07", "Pictures.ScaledMargin"}, {"", "--picture-part-score=0.87", "Pictures.PartScore"}, {"", "--picture-limit=6s", "Pictures.Limit"},
}

var planRows = []settingRow{
	{"", "--plan-analysis-skip", "Analysis.Off"}, {"", "--plan-analysis-model=m", "Analysis.Model"}, {"", "--plan-analysis-timeout=61s", "Analysis.Limit"}, {"", "--plan-analysis-temperature=0.5", "Analysis.Temperature"},
	{"", "--plan-review-skip", "Review.Off"}, {"", "--plan-review-model=m", "Review.Model"}, {"", "--plan-review-timeout=61s", "Review.Limit"}, {"", "--plan-review-temperature=0.5", "Review.Temperature"},
	{"", "--plan-steps-skip", "Execution.Off"}, {"", "--plan-steps-model=m", "Execution.Model"}, {"", "--plan-steps-timeout=61s", "Execution.Limit"}, {"", "--plan-steps-temperature=0.5", "Execution.Temperature"},
	{"", "--plan-instructions=x", "Instructions"}, {"", "--plan-force", "Force"}, {"", "--plan-text", "TextFormat"}, {"", "--plan-feasibility", "Feasibility"},
	{"", "--plan-max-steps=7", "MaxSteps"}, {"", "--plan-max-tokens=99", "MaxTokens"}, {"", "--plan-max-depth=3", "MaxDepth"}, {"", "--plan-free-order", "FreeOrder"},
	{"", "--plan-fallbacks", "NeedFallbacks"}, {"", "--plan-no-revision", "NoRevision"}, {"", "--plan-strategy=abort", "Strategy"}, {"", "--plan-threshold=0.5", "Threshold"},
	{"", "--plan-approval-limit=61s", "ApprovalLimit"}, {"", "--plan-unanswered=execute", "Unanswered"}, {"", "--plan-approve", "Approval"}, {"", "--decompose", "Hierarchical"},
}

// fieldsOf returns each plain field of a struct, by its path.
func fieldsOf(v reflect.Value) map[string]any {
	list := map[string]any{}
	for field, value := range v.Fields() {
		if value.Kind() != reflect.Struct {
			list[field.Name] = value.Interface()
			continue
		}
		for name, inner := range fieldsOf(value) {
			list[field.Name+"."+name] = inner
		}
	}
	return list
}

func TestWayland(t *testing.T) {
	session := func(pairs map[string]string) func(string) string {
		return func(name string) string { return pairs[name] }
	}
	assert.Empty(t, desktopFlags{}.wayland(session(map[string]string{"XDG_SESSION_TYPE": "x11"})))
	assert.Contains(t, desktopFlags{}.wayland(session(map[string]string{"XDG_SESSION_TYPE": "wayland"})), "log in to an X11 session")
	assert.Contains(t, desktopFlags{}.wayland(session(map[string]string{"WAYLAND_DISPLAY": "wayland-0"})), "--virtual")
	assert.Empty(t, desktopFlags{Virtual: true}.wayland(session(map[string]string{"WAYLAND_DISPLAY": "wayland-0"})))
}

// policyFile is a file of policies.
func policyFile(t *testing.T) string {
	name := filepath.Join(t.TempDir(), "policies.toml")
	require.NoError(t, os.WriteFile(name, []byte(guard.DefaultPolicyFile()), 0o600))
	return name
}

// TestHostileFiles: a configuration that would not end, would not begin or is too large
// is a mistake of the user's, told at once.
func TestHostileFiles(t *testing.T) {
	folder := t.TempDir()
	pipe, large := filepath.Join(folder, "pipe"), filepath.Join(folder, "large")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.WriteFile(large, bytes.Repeat([]byte("#"), 1<<20+1), 0o600))
	for path, want := range map[string]string{"/dev/zero": "not a regular file", pipe: "not a regular file", folder: "not a regular file", large: "more than 1048576 bytes"} {
		var out, errs bytes.Buffer
		assert.Equal(t, exitUsage, execute(t.Context(), []string{"--config", path, "doctor"}, console{&out, &errs}), path)
		assert.Contains(t, errs.String(), want)
		assert.Contains(t, errs.String(), "hint: ")
	}
	// So is any other file that a flag names.
	worker := []string{"bench", "worker", "--nats", "nats://127.0.0.1:1"}
	serve := []string{"bench", "serve", ownSuite(t), "--model", scripted, "--only", "rename-folder", "--results", filepath.Join(folder, "results")}
	for _, path := range []string{"/dev/zero", pipe} {
		for _, args := range [][]string{
			append(worker, "--nats-creds", path), append(worker, "--nats-ca", path), append(serve, "--server-config", path), append(serve, "--nats-ca", path),
		} {
			code, _, errs := command(t, args...)
			assert.Equal(t, exitUsage, code, "%v: %s", args, errs)
			assert.Contains(t, errs, "not a regular file")
			assert.Contains(t, errs, "hint: ")
		}
		_, err := (&replayCmd{Set: map[string]string{"x": "@" + path}}).values(t.Context(), console{}, &macro.Macro{})
		_, usage := errors.AsType[*usageError](err)
		assert.True(t, usage, "%v", err)
		assert.ErrorContains(t, err, "--set x: "+path+" is not a regular file")
	}
}

// TestNoNumbers: what is no number is refused when it is read.
func TestNoNumbers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	require.NoError(t, os.WriteFile(file, []byte("temperature = nan\n"), 0o600))
	for _, args := range [][]string{
		{"run", "--temperature=NaN", "x"}, {"run", "--actor-temperature=+Inf", "x"}, {"run", "--max-dollars=NaN", "x"},
		{"run", "--max-dollars=Inf", "x"}, {"run", "--detect-low-budget=NaN", "x"}, {"--config", file, "run", "x"},
	} {
		var out, errs bytes.Buffer
		assert.Equal(t, exitUsage, execute(t.Context(), args, console{&out, &errs}), args)
		assert.Regexp(t, `is (NaN|\+Inf)`, errs.String(), args)
	}
}

// TestEscapedJSON: what a terminal would obey, or show turned round, is in JSON by its
// number.
func TestEscapedJSON(t *testing.T) {
	var out bytes.Buffer
	const text = "a\u009b31m\u202egpj\u2066\u200b\x7f\u0085 ä漢😀"
	require.NoError(t, writeLines(console{Out: &out}, []string{text}))
	assert.Equal(t, `"a\u009b31m\u202egpj\u2066\u200b\u007f\u0085 ä漢😀"`+"\n", out.String())
	var back string
	require.NoError(t, json.Unmarshal(out.Bytes(), &back))
	assert.Equal(t, text, back)
}

// TestRetryFlags holds that waits which cannot be are refused with what to write.
func TestRetryFlags(t *testing.T) {
	for _, flags := range []string{"--attempts=-1", "--retry-wait=-1s", "--retry-wait 30s", "--retry-wait 2s --retry-limit 1s"} {
		code, _, errs := command(t, slices.Concat([]string{"run", "--model", "m", "--base-url", "http://localhost:8000/v1"}, strings.Fields(flags), []string{"task"})...)
		assert.Equal(t, exitUsage, code, flags)
		assert.Regexp(t, "write (for example )?--(attempts|retry-wait)", errs, flags)
	}
}
