package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/replay"
	"desktop-agent/replay/report"
	"desktop-agent/run"
)

// runsShowCmd tells what was done in a run.
type runsShowCmd struct {
	Name  string `arg:"" name:"run" help:"The run: its ID, the beginning of it, a path, or last."`
	Step  int    `help:"Tell of this step alone; 0 is what came before the first." default:"-1" placeholder:"N"`
	Typed bool   `help:"Show what was typed, passwords too, and what was copied; thoughts may quote it in any case."`
	JSON  bool   `name:"json" help:"Write each step as a line of JSON."`
}

// A shownStep is a step as runs show tells it.
type shownStep struct {
	Step     int           `json:"step"`
	Agent    string        `json:"agent,omitempty"`     // whose turn it is, where it is for a step of a plan
	PlanStep int           `json:"plan_step,omitempty"` // of a deliberate plan
	Frame    string        `json:"frame,omitempty"`     // what it saw
	Plan     []string      `json:"plan,omitempty"`      // if there was a new one
	Progress string        `json:"progress,omitempty"`  // why it was granted or not
	Thought  string        `json:"thought,omitempty"`
	Expect   string        `json:"expect,omitempty"`
	Unusable []string      `json:"unusable,omitempty"` // replies that were no action
	Reviews  []string      `json:"reviews,omitempty"`  // those that stopped something
	Actions  []shownAction `json:"actions,omitempty"`
	Notes    []string      `json:"notes,omitempty"`
	Calls    int           `json:"calls"` // of models
	Dollars  float64       `json:"dollars"`
	Unpriced bool          `json:"unpriced,omitempty"` // Dollars is 0 because no price is known
	Millis   int64         `json:"millis"`             // from the end of the step before to its own
}

// A shownAction is an action with what became of it.
type shownAction struct {
	Words  string `json:"words"`
	Status string `json:"status"`           // "not performed" for one that was only proposed
	Detail string `json:"detail,omitempty"` // unless the input was delivered
	Output string `json:"output,omitempty"` // the clipboard, with --typed
}

// Run tells of the steps.
func (s *runsShowCmd) Run(ctx context.Context, c console, r *runsCmd) error {
	if s.Step < -1 {
		return &usageError{hintError{fmt.Errorf("there is no step %d", s.Step), "steps count from 1; 0 is what came before the first"}}
	}
	stored, err := r.open(s.Name)
	if err != nil {
		return err
	}
	sum := replay.Summarize(stored.Dir)
	if !s.JSON {
		printHead(c.Out, stored, sum)
	}
	found := false
	for step, err := range stored.Steps() {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return hintError{err, "what is above can be read; desktop-agent runs verify tells what is damaged"}
		}
		if s.Step >= 0 && step.N != s.Step {
			continue
		}
		found = true
		shown := showStep(step, s.Typed)
		shown.Unpriced = stored.Info.Unpriced(shown.Calls, shown.Dollars)
		if s.JSON {
			err = writeLines(c, []shownStep{shown})
		} else {
			err = shown.print(c.Out)
		}
		if err != nil {
			return err
		}
	}
	if !found && s.Step >= 0 {
		return &usageError{hintError{fmt.Errorf("run %s has no step %d", stored.Info.ID, s.Step), fmt.Sprintf("it has %d steps", sum.Steps)}}
	}
	if stored.Cut > 0 && !stored.Busy {
		fmt.Fprintf(c.Err, "note: the run was cut off in the middle of an event, which is left out (%d bytes)\n", stored.Cut)
	}
	return nil
}

// printHead tells of the run as a whole.
func printHead(w io.Writer, stored *replay.Run, s replay.Summary) {
	fmt.Fprintf(w, "run %s: %s after %s, %s, %s, %s\n", printable(s.ID), printable(s.Status()), counted(s.Steps, "step"), counted(s.Calls, "model call"),
		dollarWords(s.Dollars, s.Unpriced), s.Elapsed.Round(100*time.Millisecond))
	fmt.Fprintf(w, "began: %s\ntask: %s\n", s.Created.Local().Format("2 Jan 2006, 15:04:05"), printable(s.Task))
	if asked := stored.Info.Asked; asked != nil {
		names := slices.Compact(slices.Sorted(maps.Values(asked.Models)))
		fmt.Fprintf(w, "planning: %s; guard: %s; models: %s\n", printable(asked.Planning), printable(asked.Guard), printable(strings.Join(names, ", ")))
	}
	if s.Replay != nil {
		fmt.Fprintf(w, "replay of: %s (%s)\n", printable(s.Replay.Run), printable(s.Replay.How))
	}
	if end := stored.Info.Ended; end != nil && end.Answer != "" {
		fmt.Fprintf(w, "answer: %s\n", printable(end.Answer))
	}
	if end := stored.Info.Ended; end != nil && end.Error != "" {
		fmt.Fprintf(w, "error: %s\n", printable(end.Error))
	}
}

// showStep puts a step in words.
func showStep(s *replay.Step, typed bool) shownStep {
	shown := shownStep{Step: s.N, Calls: len(s.Calls)}
	if len(s.Events) > 0 && s.Events[0].PlanStep > 0 {
		shown.Agent, shown.PlanStep = s.Events[0].Agent, s.Events[0].PlanStep
	}
	if seen := s.Seen(); seen != nil {
		shown.Frame = seen.FrameID
	}
	for _, call := range s.Calls {
		shown.Dollars += call.Dollars
		if call.Error != "" {
			shown.Notes = append(shown.Notes, fmt.Sprintf("the %s's model failed: %s", call.Role, call.Error))
		}
	}
	shown.Millis = s.Spent().Total.Milliseconds()
	for _, p := range s.Planned {
		if p.Plan == nil {
			shown.Notes = append(shown.Notes, "no plan: "+p.Error)
			continue
		}
		shown.Plan = nil
		for _, step := range p.Plan.Steps {
			shown.Plan = append(shown.Plan, replay.StepWords(p.Plan, &step))
		}
	}
	if s.Assessed != nil {
		shown.Progress = s.Assessed.Why
		if s.Assessed.Error != "" {
			shown.Notes = append(shown.Notes, "not assessed: "+s.Assessed.Error)
		}
	}
	for _, proved := range s.Progressed {
		shown.Progress = strings.Join(slices.Concat(proved.Why, []string{shown.Progress}), "; ")
	}
	shown.Progress = strings.TrimSuffix(shown.Progress, "; ")
	shown.judge(s)
	shown.act(s, typed)
	for _, e := range s.Events {
		if note := noteOf(e.Data, typed); note != "" {
			shown.Notes = append(shown.Notes, note)
		}
	}
	return shown
}

// judge tells what was proposed and what was said of it.
func (shown *shownStep) judge(s *replay.Step) {
	for _, p := range s.Proposals {
		shown.Thought, shown.Expect = p.Thought, p.Expect
		if p.Error != "" {
			shown.Unusable = append(shown.Unusable, p.Error)
		}
	}
	for _, r := range s.Reviews {
		switch {
		case r.Verdict != run.Go:
			shown.Reviews = append(shown.Reviews, fmt.Sprintf("%s: %s %s", r.Verdict, r.Reason, r.Guidance))
		case r.Overridden:
			shown.Reviews = append(shown.Reviews, "overridden, the same was proposed again: "+r.Guidance)
		case r.Error != "":
			shown.Reviews = append(shown.Reviews, "no review: "+r.Error)
		}
	}
}

// act tells what was done, and what of the proposal was not.
func (shown *shownStep) act(s *replay.Step, typed bool) {
	for _, a := range s.Acts {
		one := shownAction{Words: replay.Words(a.Action.Action, s.Seen(), typed), Status: "unknown: the run was cut off"}
		if done := a.Acted; done != nil {
			one.Status = strings.ReplaceAll(string(done.Status), "_", " ")
			if one.Status != "delivered" {
				one.Detail = strings.TrimPrefix(done.Detail, actuator.ErrRefused.Error()+": ") // of older runs
			}
			if typed {
				one.Output = done.Output
			}
		}
		shown.Actions = append(shown.Actions, one)
	}
	if p := s.Proposal(); p != nil {
		for _, a := range p.Undone() {
			shown.Actions = append(shown.Actions, shownAction{Words: replay.Words(a, s.Seen(), typed), Status: "not performed"})
		}
	}
}

// noteOf tells of the events that have no place of their own.
func noteOf(data run.EventData, typed bool) string {
	switch d := data.(type) {
	case run.TaskJudged:
		return "the guard, on the task: " + judgedWords(d)
	case run.Rehearsed:
		return strings.Join(replay.RehearsedWords(d), "\n")
	case run.Guarded:
		if d.By == "table" || !d.Allowed { // that it is refused is told by its own event
			return ""
		}
		if !typed { // the reason may quote what is typed
			return fmt.Sprintf("the guard allowed it (effect %s, by %s)", cmp.Or(string(d.Effect), "not known"), d.By)
		}
		return fmt.Sprintf("the guard allowed it (effect %s, by %s): %s", cmp.Or(string(d.Effect), "not known"), d.By, d.Reason)
	case run.Refused:
		if !typed { // both may quote what is typed
			return fmt.Sprintf("the guard %s refused to %s", d.Guard, actuator.Describe(d.Action.Action))
		}
		return fmt.Sprintf("the guard %s refused to %s: %s", d.Guard, actuator.DescribeFull(d.Action.Action), d.Reason)
	case run.Checked:
		return replay.CheckWords(d)
	case run.BatchStopped:
		return "the rest was not performed: " + d.Reason
	case run.Located:
		return fmt.Sprintf("found again by %s: %s", d.How, d.Target)
	case run.Diverged:
		if !typed { // both may quote what fields hold
			return fmt.Sprintf("not as recorded in step %d; --typed tells what differs", d.Of)
		}
		return fmt.Sprintf("not as recorded in step %d: expected %s, found %s", d.Of, d.Expected, d.Found)
	case run.GoalChecked:
		if d.Cannot {
			return "that it cannot be done: " + cmp.Or(d.Missing, d.Why)
		}
		if d.Accepted {
			if d.Grade == "" { // recorded before there were grades
				return "the goal is reached: " + d.Evidence
			}
			return fmt.Sprintf("the goal is reached (%s): %s", d.Grade, d.Why)
		}
		return "the goal is not reached: " + d.Missing
	case run.RunEnded:
		if d.Overridden > 0 {
			return "ended: " + d.Outcome.Words(d.Grade) + ", " + counted(d.Overridden, "objection") + " overridden"
		}
		return "ended: " + d.Outcome.Words(d.Grade)
	}
	return replay.PlanWords(data)
}

// print writes a step for a person.
func (shown *shownStep) print(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "\nstep %d", shown.Step)
	if shown.PlanStep > 0 {
		fmt.Fprintf(&text, " of %s, for s%d of the plan", printable(shown.Agent), shown.PlanStep)
	}
	if shown.Frame != "" {
		text.WriteString("  saw " + printable(shown.Frame))
	}
	fmt.Fprintf(&text, "  %s, %s, %s\n", counted(shown.Calls, "call"), dollarWords(shown.Dollars, shown.Unpriced), time.Duration(shown.Millis)*time.Millisecond)
	add := func(label string, values ...string) {
		for _, v := range values {
			if v = strings.TrimSpace(printable(v)); v != "" {
				text.WriteString("  " + label + ": " + v + "\n")
			}
		}
	}
	add("plan", shown.Plan...)
	add("progress", shown.Progress)
	add("thought", shown.Thought)
	add("unusable", shown.Unusable...)
	add("review", shown.Reviews...)
	for _, a := range shown.Actions {
		result := a.Status
		if a.Detail != "" {
			result += " (" + a.Detail + ")"
		}
		add("did", a.Words+" → "+result)
		add("clipboard", a.Output)
	}
	add("expected", shown.Expect)
	add("note", shown.Notes...)
	_, err := io.WriteString(w, text.String())
	return err
}

// runsDiffCmd compares two runs.
type runsDiffCmd struct {
	A    string `arg:"" help:"One run: its ID, the beginning of it, a path, or last."`
	B    string `arg:"" help:"The other run."`
	JSON bool   `name:"json" help:"Write the comparison as JSON." xor:"form"`
	HTML string `name:"html" help:"Make one page that shows both runs side by side; the file must not be there yet." type:"path" placeholder:"FILE" env:"-" xor:"form"`
}

// Run compares the runs.
func (d *runsDiffCmd) Run(ctx context.Context, c console, r *runsCmd) error {
	a, errA := r.open(d.A)
	b, errB := r.open(d.B)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	found, err := replay.Compare(ctx, a, b)
	if err != nil {
		return hintError{err, "desktop-agent runs verify tells what is damaged"}
	}
	switch {
	case d.HTML != "" && taken(d.HTML):
		return &usageError{hintError{fmt.Errorf("%s is there already", d.HTML), "name a file with --html that is not there yet"}}
	case d.HTML != "":
		if err = writeNew(d.HTML, func(w io.Writer) error { return report.WriteComparison(w, a, b) }); err == nil {
			fmt.Fprintln(c.Out, d.HTML)
		}
	case d.JSON:
		err = writeLines(c, []*replay.Comparison{found})
	default:
		err = printComparison(c.Out, found)
	}
	if err == nil && !found.Same() {
		err = errNotDone
	}
	return err
}

// printComparison writes the turns of both runs below each other.
func printComparison(w io.Writer, c *replay.Comparison) error {
	var text strings.Builder
	for _, side := range []struct {
		name string
		run  replay.Summary
	}{{"A", c.A}, {"B", c.B}} {
		fmt.Fprintf(&text, "%s  %s  %s after %s, %s, %s, %s\n   %s\n", side.name, printable(side.run.ID), printable(side.run.Status()),
			counted(side.run.Steps, "step"), counted(side.run.Calls, "call"), dollarWords(side.run.Dollars, side.run.Unpriced), side.run.Elapsed.Round(100*time.Millisecond), inShort(side.run.Task, 100))
	}
	if !c.SameTask {
		text.WriteString("note: the tasks differ\n")
	}
	text.WriteString(printable(c.Words) + "\n\n")
	for _, p := range c.Pairs {
		printPair(&text, p)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func printPair(w io.Writer, p replay.Pair) {
	line := func(mark string, t *replay.Turn, notes ...string) {
		words := strings.Join(t.Actions, ", then ")
		switch {
		case t.Error != "":
			words = "a reply that was no action"
		case words == "":
			words = "nothing"
		}
		if len(t.Results) > 0 {
			words += " → " + strings.Join(t.Results, ", ")
		}
		if len(notes) > 0 {
			words += "  [" + strings.Join(notes, "; ") + "]"
		}
		fmt.Fprintf(w, "%s %3d  %s\n", mark, t.Step, printable(words))
	}
	switch {
	case p.B == nil:
		line("A ", p.A)
	case p.A == nil:
		line("B ", p.B)
	case p.Actions && p.Results:
		line("= ", p.A, differing(p)...)
	default:
		line("A≠", p.A, differing(p)...)
		line("B≠", p.B)
	}
}

// differing lists what else is not the same in a turn of both runs.
func differing(p replay.Pair) (notes []string) {
	switch p.Screen {
	case replay.SameContent:
		notes = append(notes, "other picture of the same windows")
	case replay.OtherScreen:
		notes = append(notes, "other screen")
	}
	if !p.Plan {
		notes = append(notes, "other plan")
	}
	if p.A.Step != p.B.Step {
		notes = append(notes, fmt.Sprintf("step %d of B", p.B.Step))
	}
	return notes
}
