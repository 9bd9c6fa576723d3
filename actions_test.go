package desktopagent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/actuatortest"
	"desktop-agent/actuator/pyautogui"
	"desktop-agent/actuator/toolcall"
	"desktop-agent/agent"
	"desktop-agent/guard"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/monitor"
	"desktop-agent/replay"
	"desktop-agent/replay/export"
	"desktop-agent/replay/macro"
	"desktop-agent/replay/offline"
	"desktop-agent/replay/report"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
	"desktop-agent/tasks"
	"desktop-agent/tasks/judge"
	"desktop-agent/worldmodel"
)

// TestEveryAction does with an example of each type of action all that this
// program does with actions: a model calls it, the agent, the detectors and the
// journal take it, it is done again in each of the ways that there are, reported,
// exported, masked and judged. What the device does with it is a test of package
// actuator. A place that does not know an action is named in the failure.
func TestEveryAction(t *testing.T) {
	for _, v := range actuator.Variants() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			fields, err := actuatortest.Fill(v.Schema)
			require.NoError(t, err)
			a, err := actuator.Decode(v.Name, fields)
			require.NoError(t, err)
			c := &conformance{T: t, name: v.Name, a: a, fields: string(fields)}
			for _, p := range places {
				c.at(p.name, p.does)
			}
		})
		if strings.Contains(string(v.Schema), `"x":`) && v.Name != "zoom" {
			t.Run(v.Name+" by handle", func(t *testing.T) {
				t.Parallel()
				byElement(t, v, actuator.Element{ID: "n2"})
			})
			t.Run(v.Name+" by words", func(t *testing.T) {
				t.Parallel()
				byElement(t, v, actuator.Element{Words: "the button"})
			})
		}
	}
}

// byElement does the same with an action that aims at the button of the desk by its handle, or
// by words for it.
func byElement(t *testing.T, v actuator.Variant, e actuator.Element) {
	fields, err := actuatortest.Fill(v.Schema)
	require.NoError(t, err)
	a, err := actuator.Decode(v.Name, fields)
	require.NoError(t, err)
	a = actuator.Moved(a, func(actuator.Point) actuator.Point { return actuator.Point{Element: e} })
	require.True(t, actuator.ByHandle(a) || actuator.ByWords(a))
	fields, err = json.Marshal(a)
	require.NoError(t, err)
	c := &conformance{T: t, name: v.Name, a: a, fields: string(fields)}
	for _, p := range places {
		c.at(p.name, p.does)
	}
}

// places are all that do something with actions, in an order in which the first
// gives the run that the others read.
var places = []struct {
	name string
	does func(*conformance) error
}{
	{"a tool call", (*conformance).called},
	{"the code form", (*conformance).coded},
	{"JSON", (*conformance).marshalled},
	{"words", (*conformance).described},
	{"the detectors", (*conformance).detected},
	{"the guard", (*conformance).guarded},
	{"the agent", (*conformance).run},
	{"the journal", (*conformance).verified},
	{"a comparison", (*conformance).compared},
	{"a demonstration", (*conformance).demonstrated},
	{"an offline replay", (*conformance).offline},
	{"a replay by recorded replies", (*conformance).again},
	{"a macro", (*conformance).macro},
	{"a healed step", (*conformance).healed},
	{"the report", (*conformance).report},
	{"the OSWorld layout", (*conformance).osworld},
	{"Markdown", (*conformance).markdown},
	{"a GIF", (*conformance).gif},
	{"a film", (*conformance).film},
	{"a Go test", (*conformance).goTest},
	{"a masked copy", (*conformance).masked},
	{"the judge", (*conformance).judged},
}

// A conformance takes one action everywhere.
type conformance struct {
	*testing.T
	name, fields string
	a            actuator.Action
	stored       *replay.Run // in which the agent was told to do it; nil if there is none
}

// at fails the test if a place returns an error or panics, and goes on.
func (c *conformance) at(place string, does func(*conformance) error) {
	defer func() {
		if v := recover(); v != nil {
			c.Errorf("%s does not know %s: panic: %v\n%s", place, c.name, v, debug.Stack())
		}
	}()
	if err := does(c); err != nil {
		c.Errorf("%s does not know %s: %v", place, c.name, err)
	}
}

// sends reports whether a device performs the action.
func (c *conformance) sends() bool { return !actuator.ForAgent(c.a) }

func (c *conformance) called() error {
	p, err := toolcall.Parser{}.Parse(actuator.Reply{Calls: []actuator.Call{{Name: c.name, Arguments: c.fields}}},
		image.Rect(0, 0, actuatortest.Side, actuatortest.Side))
	if err == nil && !reflect.DeepEqual(p.Actions, []actuator.Action{c.a}) {
		err = fmt.Errorf("it is read as %v", p.Actions)
	}
	return err
}

// codes are the actions as a model writes them that answers in code.
var codes = map[string]string{
	"move": "pyautogui.moveTo(5, 5)", "click": `agent.click("n2")`, "button_down": "pyautogui.mouseDown(5, 5)", "button_up": "pyautogui.mouseUp(5, 5)",
	"drag": `agent.drag("n2", "n3")`, "scroll": `agent.scroll("n2", 3)`, "type": `pyautogui.write("text")`, "press": `pyautogui.press("enter")`,
	"key_down": `pyautogui.keyDown("shift")`, "key_up": `pyautogui.keyUp("shift")`, "hold": `agent.hold(["shift"], 1)`, "copy": "agent.copy()",
	"paste": `agent.paste("text")`, "set_clipboard": `pyperclip.copy("text")`, "set": `agent.set("n2", "text")`, "wait": "time.sleep(1)",
	"wait_until": `agent.wait_until(window="title")`, "zoom": "agent.zoom(0, 0, 10, 10)", "note": `agent.note("fact")`, "call_tool": `agent.call("name", {})`,
	"done": "DONE", "infeasible": "FAIL: reason", "ask": `agent.ask("question")`,
}

// coded has the action written in code, as the prompt tells the model to.
func (c *conformance) coded() error {
	code, ok := codes[c.name]
	if !ok {
		return errors.New("it is not told how it is written")
	}
	p, err := pyautogui.Parser{}.Parse(actuator.Reply{Text: "```python\n" + code + "\n```"}, image.Rect(0, 0, actuatortest.Side, actuatortest.Side))
	if err != nil {
		return err
	}
	if len(p.Actions) != 1 || actuator.Name(p.Actions[0]) != c.name {
		return fmt.Errorf("%s is read as %v", code, p.Actions)
	}
	prompt, err := os.ReadFile("agent/prompts/propose.tmpl")
	if err != nil {
		return err
	}
	word, _, call := strings.Cut(code, "(")
	if word = word[strings.LastIndex(word, ".")+1:]; call {
		word += "("
	} else {
		word, _, _ = strings.Cut(word, ":")
	}
	if !bytes.Contains(prompt, []byte(word)) {
		return fmt.Errorf("the prompt does not tell of %s", word)
	}
	return nil
}

func (c *conformance) marshalled() error {
	data, err := actuator.Marshal(c.a)
	if err != nil {
		return err
	}
	got, err := actuator.Unmarshal(data)
	if err == nil && !reflect.DeepEqual(got, c.a) {
		err = fmt.Errorf("%s is read as %v", data, got)
	}
	return err
}

func (c *conformance) described() error {
	on := actuator.DescribeOn(c.a, func(actuator.Point) string { return "the thing" })
	for _, words := range []string{actuator.Describe(c.a), actuator.DescribeFull(c.a), on} {
		if words == "" || words == c.name || strings.Contains(words, "%!") {
			return fmt.Errorf("it is described as %q", words)
		}
	}
	if _, typed := actuator.Entered(c.a); typed && strings.Contains(actuator.Describe(c.a), "pass") {
		return errors.New("its text shows")
	}
	if len(actuator.Points(c.a)) > 0 && !strings.Contains(on, "the thing") {
		return fmt.Errorf("the words %q do not tell where", on)
	}
	return nil
}

func (c *conformance) detected() error {
	turns := func(status actuator.Status) (list []monitor.Turn) {
		for n := range 3 {
			turn := monitor.Turn{Step: n + 1, Actions: []actuator.Action{c.a}, Screen: "s1"}
			if c.sends() {
				turn.Statuses = []actuator.Status{status}
			}
			list = append(list, turn)
		}
		return list
	}
	fires := func(kind monitor.Kind, status actuator.Status) bool {
		return slices.ContainsFunc(monitor.Detect(turns(status), nil, nil), func(s monitor.Signal) bool { return s.Kind == kind })
	}
	if fires(monitor.RepeatedAction, actuator.Delivered) == (actuator.KindOf(c.a) == actuator.Pause) {
		return errors.New("it may be repeated if it only waits, and else not")
	}
	if fires(monitor.NoEffect, actuator.NoEffect) != actuator.Shows(c.a) {
		return errors.New("it has no effect if it should have shown one")
	}
	return nil
}

// run lets an agent do the action, and then end.
func (c *conformance) run() error {
	d := newDesk("Page")
	var result agent.Result
	var err error
	if c.stored, result, err = c.record(d, func(*replay.Journal) llm.Model { return &actor{call: c.name, fields: c.fields} }); err != nil {
		return err
	}
	want := run.OutcomeDone
	if c.name == "infeasible" {
		want = run.OutcomeInfeasible
	}
	if result.Outcome != want {
		return fmt.Errorf("the run ends as %s: %s", result.Outcome, result.Answer)
	}
	if d.has(c.a) != c.sends() {
		return fmt.Errorf("the desktop got %v", d.did)
	}
	for _, free := range actuator.Releases(c.a, nil) {
		if !d.has(free) {
			return fmt.Errorf("what it holds down stays down: the desktop got %v", d.did)
		}
	}
	return nil
}

// harmlessUnknown is what a guard does wrong that takes what it does not know for harmless.
const harmlessUnknown = "it is harmless, or what is typed after it, although the table does not know it"

// guarded has the guard's table look at the action, and at what comes after it.
func (c *conformance) guarded() error {
	if !c.sends() { // no guard is asked
		return nil
	}
	o, err := newDesk("Page").Observe(c.Context())
	if err != nil {
		return err
	}
	o.Tree.Nodes = append(o.Tree.Nodes, atspi.Node{
		ID: "n3", App: "pages", PID: 7, Depth: 1, Role: "text", States: []string{"editable", "focused"}, Box: image.Rect(5, 85, 100, 115),
	})
	then := func(a actuator.Action, done ...actuator.Action) guard.Class {
		return guard.Classify(run.Intent{Action: a, On: o, Done: done})
	}
	if enter := (actuator.Press{Keys: []actuator.Key{"enter"}, Count: 1}); len(actuator.Releases(c.a, nil)) > 0 && len(actuator.Pressed(c.a)) > 0 {
		if got := then(enter, actuator.WithKey(c.a, "ctrl")); got.Effect != worldmodel.EffectSend {
			return fmt.Errorf("with it, Enter is no Ctrl+Enter: %+v", got)
		}
	}
	text := actuator.Type{Text: "x"}
	if !then(text).Harmless {
		return errors.New("to type into a field is not harmless")
	}
	switch is := then(c.a); {
	case is.Rule != guard.NotInTable:
		return nil
	case is.Harmless || then(text, c.a).Harmless:
		return errors.New(harmlessUnknown)
	default:
		return errors.New("the table does not know it")
	}
}

// record is a run of the agent on a desktop. It is written also where it fails.
func (c *conformance) record(d *desk, model func(*replay.Journal) llm.Model) (*replay.Run, agent.Result, error) {
	j, err := replay.Create(c.TempDir())
	if err != nil {
		return nil, agent.Result{}, err
	}
	settings := run.Settings{Agent: run.AgentSettings{Planning: "suggestive", Format: "tools", MaxSteps: 4, ReviewEvery: 1}}
	settings.Models.Roles = map[llm.Role]llm.Settings{}
	for _, role := range []llm.Role{llm.Planner, llm.Actor, llm.WorldModel, llm.Monitor} {
		settings.Models.Roles[role] = llm.Settings{Model: "script"}
	}
	session, err := run.Open(c.Context(), settings, &run.Options{
		Client:  &llm.Client{Model: model(j), Default: llm.Settings{Model: "script"}, Retry: llm.Retry{Attempts: 1}},
		Desktop: d, Device: d, Journal: func() (run.Journal, error) { return j, nil },
	})
	if err != nil {
		return nil, agent.Result{}, err
	}
	a, err := agent.New(session)
	if err != nil {
		return nil, agent.Result{}, err
	}
	a.Ask = func(context.Context, string) (string, error) { return "the red one", nil }
	result, ran := a.Run(c.Context(), "Do it")
	if err := session.Close(); err != nil {
		return nil, result, err
	}
	stored, err := replay.Open(j.Dir())
	return stored, result, errors.Join(ran, err)
}

func (c *conformance) verified() error {
	v, err := c.stored.Verify(c.Context())
	if err == nil && len(v.Problems) > 0 {
		err = fmt.Errorf("%v", v.Problems)
	}
	if err != nil {
		return err
	}
	kept := actuator.Moved(c.a, func(p actuator.Point) actuator.Point {
		if p.Element.Words != "" { // the journal has what they mean
			p.Element = actuator.Element{ID: "n2"}
		}
		return p
	})
	for s, err := range c.stored.Steps() {
		if err != nil {
			return err
		}
		if p := s.Proposal(); p != nil && len(p.Actions) == 1 && actuator.Same(p.Actions[0].Action, kept) {
			if done := len(s.Acts) > 0 && actuator.Same(s.Acts[0].Action.Action, kept); done != c.sends() {
				return fmt.Errorf("done are %v", s.Acts)
			}
			return nil
		}
	}
	return errors.New("no step proposes it")
}

func (c *conformance) compared() error {
	same, err := replay.Compare(c.Context(), c.stored, c.stored)
	if err == nil && !same.Same() {
		err = fmt.Errorf("a run is not like itself: %s", same.Words)
	}
	return errors.Join(err, report.WriteComparison(io.Discard, c.stored, c.stored))
}

func (c *conformance) demonstrated() error {
	d, err := replay.Demonstrate(c.stored)
	if input := actuator.KindOf(c.a) == actuator.Input; input != (err == nil) {
		return fmt.Errorf("it shows %v, %v", d, err)
	}
	return nil
}

func (c *conformance) offline() error {
	r, err := offline.New(c.stored, nil)
	if err != nil {
		return err
	}
	result, err := r.Run(c.Context())
	if err == nil && !result.Same() {
		err = fmt.Errorf("it goes another way: %v", result.Differences)
	}
	return err
}

func (c *conformance) again() error {
	d := newDesk("Page")
	var m *replay.Recorded
	var opening error
	again, _, err := c.record(d, func(j *replay.Journal) llm.Model {
		m, opening = replay.NewRecorded(c.stored, j)
		return m
	})
	if err = errors.Join(opening, err); err != nil {
		return err
	}
	defer m.Close()
	same, err := replay.Compare(c.Context(), c.stored, again)
	if err == nil && (!same.Same() || m.Count().Unused > 0 || d.has(c.a) != c.sends()) {
		err = fmt.Errorf("it goes another way: %s", same.Words)
	}
	return err
}

func (c *conformance) macro() error {
	m, err := macro.Load(c.stored, nil)
	if !c.sends() { // there is nothing to do again
		if err == nil || !strings.Contains(err.Error(), "nothing was done") {
			return fmt.Errorf("it is done again: %v", err)
		}
		return nil
	}
	if err != nil {
		return err
	}
	d := newDesk("Page")
	if _, err := c.play(m, d, nil); err != nil {
		return err
	}
	if !d.has(c.a) {
		return fmt.Errorf("the desktop got %v", d.did)
	}
	return nil
}

func (c *conformance) play(m *macro.Macro, d *desk, heal func(context.Context, macro.HealRequest) ([]actuator.Action, error)) (macro.Result, error) {
	j, err := replay.Create(c.TempDir())
	if err != nil {
		return macro.Result{}, err
	}
	defer j.Close()
	session, err := run.Open(c.Context(), run.Settings{}, &run.Options{
		Desktop: d, Device: d, Journal: func() (run.Journal, error) { return j, nil },
	})
	if err != nil {
		return macro.Result{}, err
	}
	p := macro.New(session)
	p.Heal, p.Settings.Macro.Patience = heal, time.Nanosecond
	return p.Play(c.Context(), m)
}

// healed has a macro that cannot go on, and a model that says to do the action.
func (c *conformance) healed() error {
	stored, _, err := c.record(newDesk("Page"), func(*replay.Journal) llm.Model {
		return &actor{call: "click", fields: `{"at":{"x":60,"y":60},"button":"right","count":1,"modifiers":[]}`}
	})
	if err != nil {
		return err
	}
	m, err := macro.Load(stored, nil)
	if err != nil {
		return err
	}
	d := newDesk("Another page")
	_, err = c.play(m, d, func(context.Context, macro.HealRequest) ([]actuator.Action, error) {
		return []actuator.Action{c.a}, nil
	})
	if err != nil && strings.Contains(err.Error(), "not known") {
		return err
	}
	if d.has(c.a) != c.sends() {
		return fmt.Errorf("the desktop got %v: %v", d.did, err)
	}
	return nil
}

func (c *conformance) report() error {
	var page bytes.Buffer
	err := report.Write(&page, c.stored)
	if err == nil && bytes.Contains(page.Bytes(), []byte("not drawn")) {
		err = errors.New("it is not drawn")
	}
	return err
}

func (c *conformance) osworld() error {
	dir := filepath.Join(c.TempDir(), "osworld")
	if err := export.OSWorld(c.Context(), dir, c.stored, nil); err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(dir, "traj.jsonl"))
	if err != nil {
		return err
	}
	var first struct{ Action string }
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&first); err != nil {
		return err
	}
	if code := strings.Contains(first.Action, "("); code != c.sends() {
		return fmt.Errorf("it is written as %q", first.Action)
	}
	return nil
}

func (c *conformance) markdown() error {
	return export.Markdown(c.Context(), filepath.Join(c.TempDir(), "page"), c.stored, nil)
}

func (c *conformance) gif() error { return export.GIF(c.Context(), io.Discard, c.stored, nil) }

// film is a GIF where there is a program that makes films.
func (c *conformance) film() error {
	err := export.Video(c.Context(), filepath.Join(c.TempDir(), "film.webm"), c.stored, nil)
	if errors.Is(err, export.ErrNoFFmpeg) {
		return nil
	}
	return err
}

func (c *conformance) goTest() error {
	return export.GoTest(c.Context(), c.TempDir(), c.stored, &export.Options{Name: "action"})
}

func (c *conformance) masked() error {
	dir := c.TempDir()
	id, err := export.Redacted(c.Context(), dir, c.stored, export.Redaction{Typed: true})
	if err != nil {
		return err
	}
	copied, err := replay.Open(filepath.Join(dir, id))
	if err != nil {
		return err
	}
	for s, err := range copied.Steps() {
		if err != nil {
			return err
		}
		for _, a := range s.Acts {
			if text, typed := actuator.Entered(a.Action.Action); typed && strings.Contains(text, "pass") {
				return errors.New("its text shows")
			}
			if a.Index == 0 && actuator.Name(a.Action.Action) != c.name { // behind it, what it holds down goes up
				return fmt.Errorf("it became %s", actuator.Name(a.Action.Action))
			}
		}
	}
	return nil
}

// judged puts the run before a judge, up to its question.
func (c *conformance) judged() error {
	asked := errors.New("the judge was asked")
	model := llmtest.Func(func(context.Context, *llm.Request) (*llm.Response, error) { return nil, asked })
	_, _, err := (&judge.Judge{Model: model}).Safety(c.Context(), c.stored, &tasks.Task{ID: "t", Instruction: "Do it"}, nil)
	if errors.Is(err, asked) {
		return nil
	}
	return err
}

// An actor is a model that calls one tool, and is done after that. In its other
// roles it finds all well.
type actor struct {
	call, fields string
	asked        int
}

func (m *actor) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	r := &llm.Response{Model: "script", Finish: "stop"}
	if req.Role != llm.Actor {
		r.Text = map[string]string{
			"GoalCheck":  `{"shown":true,"evidence":"Page","missing":""}`,
			"Assessment": `{"changed":"the page","as_expected":"yes","progress_step":1,"evidence":"","guidance":null,"stop":false}`,
			"verdict":    `{"is_consistent":true,"needs_new_plan":false,"optimization_guidance":null}`,
		}[req.Schema.Name]
		if r.Text == "" {
			r.Text = `{"steps":[{"goal":"Find the last page","done_when":"the title says Page 999999"},{"goal":"Locate its number","done_when":"the number is shown"}]}`
		}
		return r, nil
	}
	r.Text, r.Finish = "Thought: t.\nExpect: e.", "tool_calls"
	r.Calls = []llm.ToolCall{{ID: "1", Name: "done", Arguments: `{"answer":"ok"}`}}
	if m.asked++; m.asked == 1 {
		r.Calls[0].Name, r.Calls[0].Arguments = m.call, m.fields
	}
	return r, nil
}

// A desk is a desktop on which each input changes something.
type desk struct {
	run.Comparison
	title string
	did   []actuator.Action
	looks int
}

// button is where the desk has its button.
var button = image.Rect(5, 5, 100, 80)

func newDesk(title string) *desk { return &desk{title: title} }

func (d *desk) has(a actuator.Action) bool {
	return slices.ContainsFunc(d.did, func(b actuator.Action) bool {
		if (actuator.ByHandle(a) || actuator.ByWords(a)) && actuator.Placed(b) { // whoever did it found the button
			onButton := !slices.ContainsFunc(actuator.Points(b), func(p actuator.Point) bool { return !image.Pt(p.X, p.Y).In(button) })
			return actuator.Name(a) == actuator.Name(b) && onButton
		}
		return actuator.Same(a, b)
	})
}

func (d *desk) picture() *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, 160, 120))
	draw.Draw(img, img.Rect, image.NewUniform(color.RGBA{200, 210, 220, 255}), image.Point{}, draw.Src)
	draw.Draw(img, image.Rect(110, 90, 110+20*(1+len(d.did)%2), 110), image.Black, image.Point{}, draw.Src)
	return img
}

func (d *desk) windows() []screen.Window {
	return []screen.Window{{ID: 1, Title: d.title, Class: d.title, PID: 7, Focused: true, Box: image.Rect(0, 0, 160, 120)}}
}

func (d *desk) Observe(ctx context.Context) (*screen.Observation, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	d.looks++
	img := d.picture()
	var sent bytes.Buffer
	if err := png.Encode(&sent, img); err != nil {
		return nil, err
	}
	o := &screen.Observation{FrameID: fmt.Sprintf("f%04d", d.looks), Frame: img, Bare: img, Windows: d.windows()}
	o.Image = screen.Image{Data: sent.Bytes(), Type: "image/png", Mapping: screen.Mapping{Source: img.Rect, Size: img.Rect.Size()}}
	o.Tree.Nodes = []atspi.Node{
		{ID: "n1", App: "pages", PID: 7, Parent: -1, Role: "frame", Name: d.title, States: []string{"active"}, Box: img.Rect},
		{ID: "n2", App: "pages", PID: 7, Depth: 1, Role: "push button", Name: d.title + " button", Box: button},
	}
	return o, nil
}

func (d *desk) Capture(ctx context.Context) (run.Capture, error) {
	return run.Capture{Bare: d.picture(), Windows: d.windows()}, context.Cause(ctx)
}

func (d *desk) Do(ctx context.Context, a actuator.Action, _ actuator.Frame) (string, error) {
	if err := context.Cause(ctx); err != nil {
		return "", fmt.Errorf("%w: %w", actuator.ErrRefused, err)
	}
	if actuator.ForAgent(a) {
		return "", fmt.Errorf("%w: %s is for the agent", actuator.ErrRefused, actuator.Name(a))
	}
	d.did = append(d.did, a)
	return "", nil
}

// TestFakesHere holds that the desk is a desktop, and the actor a model.
func TestFakesHere(t *testing.T) {
	d := newDesk("Page")
	runtest.TestDesktop(t, &runtest.DesktopSubject{
		Desktop: d, Device: d, Change: func(testing.TB) { d.did = append(d.did, actuator.Move{}) },
	})
	llmtest.TestModel(t, &llmtest.Subject{
		New: func(testing.TB) llm.Model { return &actor{call: "click", fields: "{}"} }, Alone: "an agent waits for its actor",
	})
}
