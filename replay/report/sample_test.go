package report

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/monitor"
	"desktop-agent/planner"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/worldmodel"
)

// A story writes a run with everything that a report can show.
type story struct {
	t     testing.TB
	j     *replay.Journal
	now   time.Time
	step  int
	shots []*image.RGBA // what the screen shows, one look after the other
	looks int
	frame string
	said  []run.Message
	plan  *planner.Plan

	beside bool // an assessment was written whose proposal is still to come
}

// sample writes a run to a journal and returns it, read back.
func sample(t testing.TB, shots []*image.RGBA) *replay.Run {
	t.Helper()
	j := newJournal(t)
	s := &story{t: t, j: j, now: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), shots: shots}
	s.tell()
	require.NoError(t, j.Close())
	r, err := replay.Open(j.Dir())
	require.NoError(t, err)
	return r
}

func (s *story) put(kind string, data run.EventData, took time.Duration) {
	s.t.Helper()
	s.now = s.now.Add(took)
	put(s.t, s.j, run.Event{Time: s.now, Step: s.step, Kind: kind, Data: data})
}

func (s *story) look(title string, why screen.SettleReason) {
	s.t.Helper()
	frame := s.shots[s.looks%len(s.shots)]
	s.looks++
	s.frame = fmt.Sprintf("f%04d", s.looks)
	data, err := encodePNG(frame)
	require.NoError(s.t, err)
	o := &screen.Observation{FrameID: s.frame, At: s.now, Frame: frame, Bare: frame}
	o.Image = screen.Image{Data: data, Type: "image/png", Mapping: screen.Mapping{Source: frame.Rect, Size: frame.Rect.Size()}}
	require.NoError(s.t, s.j.Frame(s.t.Context(), o))
	s.put("observed", run.Observed{
		FrameID: s.frame, At: s.now, Mapping: o.Image.Mapping, Frame: frame.Rect.Size(), Cursor: image.Pt(640, 400),
		Windows: []screen.Window{{Title: title, Class: "Mousepad", Box: image.Rect(180, 100, 1080, 660), Focused: true}},
		Settled: screen.Settled{Reason: why, Waited: 62 * time.Millisecond},
		Timing:  screen.Timing{Settle: 62 * time.Millisecond, Capture: 3e6, Tree: 18e6, Encode: 16e6, Total: 105 * time.Millisecond},
	}, 108*time.Millisecond)
}

func (s *story) call(role llm.Role, purpose, prompt, answer string, took time.Duration) run.ModelCalled {
	system := run.Message{From: llm.System, Text: "You look at a desktop and say what to do next.\n" + strings.Repeat("Answer with one block of code.\n", 8)}
	c := run.ModelCalled{
		Role: role, Purpose: purpose, Prompt: "9c1f20ab", Model: "openai/gpt-5-mini", Millis: took.Milliseconds(), Attempts: 1, Dollars: .0061,
		Messages: append([]run.Message{system}, append(s.said, run.Message{From: llm.User, Text: prompt, Images: []string{s.frame}})...),
		Response: &llm.Response{Text: answer, Model: "gpt-5-mini-2026-01", Finish: "stop", Usage: llm.Usage{Input: 6120 + 800*s.step, Cached: 4096, Output: 184}},
	}
	if role == llm.Actor {
		s.said = append(s.said, run.Message{From: llm.User, Text: prompt, Images: []string{s.frame}}, run.Message{From: llm.Assistant, Text: answer})
	} else {
		c.Messages, c.Schema = c.Messages[:1:1], purpose
		c.Messages = append(c.Messages, run.Message{From: llm.User, Text: prompt, Images: []string{s.frame}})
	}
	return c
}

// think asks for the next actions, beside an assessment if there is one.
func (s *story) think(thought, expect string, a *worldmodel.Assessment, advanced bool, actions ...actuator.Action) {
	s.t.Helper()
	s.step++
	if a != nil {
		s.beside = true
		s.put("model_called", s.call(llm.WorldModel, "assess", "Has this come true? …", `{"changed": "`+a.Changed+`", …}`, 1400*time.Millisecond), 1400*time.Millisecond)
	}
	s.propose(thought, expect, actions...)
	if a == nil {
		return
	}
	e := run.Assessed{FrameID: s.frame, Assessment: a, Advanced: advanced, Why: "the current step's condition is not claimed"}
	if advanced {
		now := s.plan.ProgressStep() - 1
		s.plan = s.plan.Clone()
		s.plan.Steps[now].Status = planner.Completed
		s.plan.Steps[now].Evidence = &planner.Evidence{FrameID: s.frame, Quote: a.Evidence, Source: "window"}
		if now+1 < len(s.plan.Steps) {
			s.plan.Steps[now+1].Status = planner.Running
		}
		e.Why = ""
	}
	e.Plan = s.plan.Clone()
	s.put("assessed", e, time.Millisecond)
}

func (s *story) propose(thought, expect string, actions ...actuator.Action) {
	s.t.Helper()
	var code strings.Builder
	p := run.Proposed{FrameID: s.frame, Thought: thought, Expect: expect}
	for _, a := range actions {
		fmt.Fprintf(&code, "# %s\n", actuator.DescribeFull(a))
		p.Actions = append(p.Actions, run.Recorded{Action: a})
	}
	s.put("model_called", s.call(llm.Actor, "propose", "What is next? The screen "+s.frame+" follows.",
		thought+"\n```python\n"+code.String()+"```", 2300*time.Millisecond), s.longer(2300*time.Millisecond))
	s.put("proposed", p, time.Millisecond)
}

// longer returns how much longer a call takes than the assessment beside it.
func (s *story) longer(d time.Duration) time.Duration {
	if s.beside {
		d -= 1400 * time.Millisecond
	}
	s.beside = false
	return d
}

// do performs the last proposal and looks at what came of it.
func (s *story) do(title string, status actuator.Status, detail string, actions ...actuator.Action) {
	s.t.Helper()
	s.put("reviewed", run.Reviewed{Verdict: run.Go}, time.Millisecond)
	for i, a := range actions {
		s.put("acting", run.Acting{Index: i, Action: run.Recorded{Action: a}}, 4*time.Millisecond)
		st := actuator.Delivered
		if i == len(actions)-1 {
			st = status
		}
		e := run.Acted{Index: i, Status: st, Millis: 38}
		if i == len(actions)-1 {
			e.Detail = detail
		}
		s.put("acted", e, 40*time.Millisecond)
	}
	s.look(title, screen.SettledQuiet)
}

func point(x, y int) *actuator.Point { return &actuator.Point{X: x, Y: y} }

func (s *story) tell() {
	s.t.Helper()
	s.begin()
	s.writeAndSave()
	s.stumble()
	s.finish()
}

func (s *story) begin() {
	s.put("run_started", run.RunStarted{
		Schema: run.Schema, Task: "Write a shopping list with milk, bread and apples, save it as shopping.txt, and then replace bread by rolls.",
		Planning: "suggestive", Guard: "none", Parser: "code",
		Models:   map[string]string{"actor": "openai/gpt-5-mini", "planner": "openai/gpt-5-mini", "worldmodel": "openai/gpt-5-nano"},
		Settings: run.Settings{Display: run.DisplaySettings{Name: ":7"}, Agent: run.AgentSettings{MaxSteps: 50}, Models: run.ModelSettings{MaxDollars: 1.5}},
	}, 0)
	s.look("Untitled 1 - Mousepad", screen.SettledQuiet)
	s.put("model_called", s.call(llm.Planner, "plan", "Make a plan.", `{"steps": […]}`, 2900*time.Millisecond), 2900*time.Millisecond)
	s.plan = &planner.Plan{Version: 1, Steps: []planner.Step{
		{ID: "s1", Goal: "Find the text area and see the three items of the list in it", DoneWhen: "the lines Milk, Bread and Apples are visible in the editor", Status: planner.Running},
		{ID: "s2", Goal: "Locate the dialog that saves the document under a name", DoneWhen: "a dialog titled Save As is visible", Status: planner.Pending},
		{ID: "s3", Goal: "Discover how the editor replaces words", DoneWhen: "a dialog titled Find and Replace is visible", Status: planner.Pending},
		{ID: "s4", Goal: "Find the list with rolls in the place of bread, saved as shopping.txt", DoneWhen: "the title shows shopping.txt without a star", Status: planner.Pending},
	}}
	s.put("planned", run.Planned{Plan: s.plan.Clone()}, time.Millisecond)
}

func (s *story) writeAndSave() {
	write := []actuator.Action{
		actuator.Click{At: point(500, 400), Button: actuator.Left, Count: 1},
		actuator.Type{Text: "Milk\nBread\nApples"},
	}
	s.think("The editor is open and empty. I click into the text area and write the three items.", "The editor shows Milk, Bread and Apples on three lines.", nil, false, write...)
	s.do("*Untitled 1 - Mousepad", actuator.Delivered, "", write...)

	save := []actuator.Action{actuator.Press{Keys: []actuator.Key{"ctrl", "s"}, Count: 1}}
	s.think("The list is written. Ctrl+S opens the dialog to save it.", "A dialog titled Save As opens.",
		&worldmodel.Assessment{Changed: "The editor now shows three lines: Milk, Bread, Apples.", AsExpected: worldmodel.Yes, ProgressStep: 2, Evidence: "Milk Bread Apples"}, true, save...)
	s.do("Save As", actuator.Delivered, "", save...)

	name := []actuator.Action{
		actuator.Click{At: point(660, 46), Button: actuator.Left, Count: 3},
		actuator.Type{Text: "shopping.txt"},
	}
	s.think("The dialog asks for a name. I replace what is in the field.", "The name field holds shopping.txt.",
		&worldmodel.Assessment{Changed: "The dialog Save As opened.", AsExpected: worldmodel.Yes, ProgressStep: 3, Evidence: "Save As"}, true, name...)
	s.do("Save As", actuator.Delivered, "", name...)
}

func (s *story) stumble() {
	wrong := actuator.Click{At: point(1040, 771), Button: actuator.Left, Count: 1}
	right := actuator.Click{At: point(1130, 771), Button: actuator.Left, Count: 1}
	s.think("I confirm the dialog.", "The dialog closes.",
		&worldmodel.Assessment{Changed: "The name field holds shopping.txt.", AsExpected: worldmodel.Unclear, ProgressStep: 3}, false, wrong)
	advice := "The button at (1040, 771) is Cancel: the name would be lost. Save is to its right."
	s.put("model_called", s.call(llm.Monitor, "review", "Does this make sense?", `{"guidance": "…"}`, 900*time.Millisecond), 900*time.Millisecond)
	s.put("reviewed", run.Reviewed{Verdict: run.Regenerate, Guidance: advice, Reason: "monitor",
		Signals: []monitor.Signal{{Kind: monitor.NoProgress, Detail: "4 steps without progress in the plan"}}}, time.Millisecond)
	s.propose("The button that I meant is Save, at the right.", "The dialog closes and the title shows shopping.txt.", right)
	s.do("~/shopping.txt - Mousepad", actuator.Delivered, "", right)

	s.step++
	s.put("model_called", s.call(llm.Actor, "propose", "What is next?", "```python\nimport os\nos.system('sed -i s/Bread/Rolls/ shopping.txt')\n```", 1900*time.Millisecond), 1900*time.Millisecond)
	s.put("proposed", run.Proposed{FrameID: s.frame, Error: "line 1, column 1: import os is not allowed: use pyautogui calls only"}, time.Millisecond)

	drag := []actuator.Action{
		actuator.Drag{Path: []actuator.Point{{X: 420, Y: 110}, {X: 520, Y: 180}, {X: 640, Y: 150}}, Button: actuator.Left},
		actuator.Scroll{At: point(700, 420), DY: 5},
		actuator.Click{At: point(960, 240), Button: actuator.Right, Count: 1, Modifiers: []actuator.Key{"ctrl"}},
	}
	s.think("The window is in the way; I move it, scroll down and open the context menu.", "The window is further right.",
		&worldmodel.Assessment{Changed: "Nothing on the screen changed.", AsExpected: worldmodel.No, ProgressStep: 3}, false, drag...)
	s.do("~/shopping.txt - Mousepad", actuator.NoEffect, "the screen did not change", drag...)
}

func (s *story) finish() {
	done := actuator.Done{Answer: "The list is saved as shopping.txt, with rolls instead of bread."}
	s.think("The list is complete.", "", &worldmodel.Assessment{Changed: "The dialog Find and Replace opened.", AsExpected: worldmodel.Yes, ProgressStep: 4, Evidence: "Find and Replace"}, true, done)
	s.put("reviewed", run.Reviewed{Verdict: run.Go}, time.Millisecond)
	s.look("~/shopping.txt - Mousepad", screen.SettledCeiling)
	failed := s.call(llm.WorldModel, "check_goal", "Is the goal reached?", "", 4*time.Second)
	failed.Response, failed.Error, failed.Attempts = nil, "openai: 503 Service Unavailable: overloaded", 3
	s.put("model_called", failed, 4*time.Second)
	s.put("model_called", s.call(llm.WorldModel, "check_goal", "Is the goal reached?", `{"reached": true, …}`, 1200*time.Millisecond), 1200*time.Millisecond)
	s.put("goal_checked", run.GoalChecked{FrameID: s.frame, Accepted: true, Evidence: "Rolls"}, time.Millisecond)
	s.put("run_ended", run.RunEnded{
		Outcome: run.OutcomeDone, Answer: done.Answer, Steps: s.step, Calls: 15, Dollars: .0915,
		Usage: llm.Usage{Input: 112_400, Cached: 61_440, Output: 2760}, Millis: s.now.Sub(time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)).Milliseconds(),
	}, time.Millisecond)
}

// drawn returns pictures of a desktop with an editor, drawn here.
func drawn(n int, size image.Point) []*image.RGBA {
	list := make([]*image.RGBA, n)
	for i := range list {
		img := image.NewRGBA(image.Rectangle{Max: size})
		fillRect(img, img.Rect, color.RGBA{46, 90, 122, 255})
		win := image.Rect(180, 100, size.X-200, size.Y-140)
		fillRect(img, win, color.RGBA{250, 250, 250, 255})
		fillRect(img, image.Rect(win.Min.X, win.Min.Y-22, win.Max.X, win.Min.Y), color.RGBA{90, 130, 200, 255})
		write(img, win.Min.X+10, win.Min.Y-7, fmt.Sprintf("Untitled %d - Mousepad", i+1))
		for line := range i + 3 {
			write(img, win.Min.X+14, win.Min.Y+40+18*line, strings.Repeat("Milk, bread and apples. ", 1+(line+i)%5))
		}
		list[i] = img
	}
	return list
}

func fillRect(img draw.Image, r image.Rectangle, c color.Color) {
	draw.Draw(img, r, image.NewUniform(c), image.Point{}, draw.Src)
}
