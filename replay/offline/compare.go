package offline

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/run/eventjson"
	"desktop-agent/screen"
)

// Frame is of [run.Journal], as Event. It stores the frame if the run is
// written anew; otherwise the recorded run has it.
func (t *recording) Frame(ctx context.Context, o *screen.Observation) error {
	if t.opt.Journal == nil {
		return nil
	}
	return t.opt.Journal.Frame(ctx, o)
}

// Event compares an event of the agent with the recorded one of the same step
// and kind, and writes it if the run is written anew.
func (t *recording) Event(ctx context.Context, e run.Event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.compare(e); err != nil || t.opt.Journal == nil {
		return err
	}
	return t.opt.Journal.Event(ctx, t.measured(e))
}

// compare notes whether an event is the recorded one. t.mu is held.
func (t *recording) compare(e run.Event) error {
	if e.Step != t.step {
		t.compareStep()
		t.step = e.Step
		t.result.Unused += t.replies.Drop(t.seenIn)
		delete(t.steps, e.Step-2)
	}
	switch data := e.Data.(type) {
	case run.Acting:
		t.acting = data.Index
	case run.ModelCalled:
		t.comparePrompt(data)
	}
	if !compared(e.Kind) || t.over {
		return nil
	}
	s, err := t.stepped(t.step)
	if err != nil {
		return err
	}
	if s == nil && t.turns != nil && t.ending() { // it was cut off before a tool was called
		return nil
	}
	if s == nil {
		t.differ(Difference{Step: e.Step, Kind: e.Kind, Got: words(e.Data)})
		return nil
	}
	var recorded run.EventData
	if was := nth(s.Events, e.Kind, s.met[e.Kind]); was != nil {
		recorded, t.came = was.Data, was.Time
	}
	s.met[e.Kind]++
	if recorded != nil && reflect.DeepEqual(recorded, e.Data) {
		return nil // the usual case, without making words
	}
	now := e.Data
	if recorded != nil && !graded(recorded) {
		now = gradeless(now)
	}
	if end, ok := now.(run.RunEnded); ok {
		end.Calls += t.ruled
		now = end
	}
	switch got := words(now); {
	case recorded == nil && t.ending(): // it was cut off in this step
	case recorded == nil:
		t.differ(Difference{Step: e.Step, Kind: e.Kind, Got: got})
	case got != words(recorded):
		want, got := different(words(recorded), got)
		t.differ(Difference{Step: e.Step, Kind: e.Kind, Want: want, Got: got})
	}
	return nil
}

// compareStep notes the recorded events that the agent's step did not have.
// t.mu is held.
func (t *recording) compareStep() {
	s := t.steps[t.step]
	if s == nil || t.over {
		return
	}
	for _, e := range s.Events {
		if !compared(e.Kind) {
			continue
		}
		if s.met[e.Kind]--; s.met[e.Kind] < 0 {
			t.differ(Difference{Step: s.N, Kind: e.Kind, Want: words(e.Data)})
		}
	}
}

// compared reports whether events of a kind are what the agent makes of what it
// meets.
func compared(kind string) bool {
	switch kind {
	case "run_started", "observed", "model_called", "filed", "transcribed", "located", "diverged", "planning", "plan_made":
		return false
	}
	return true
}

// nth returns the nth event of a kind, from 0; nil if there are not so many.
func nth(list []run.Event, kind string, n int) *run.Event {
	for i := range list {
		if list[i].Kind != kind {
			continue
		}
		if n == 0 {
			return &list[i]
		}
		n--
	}
	return nil
}

// graded reports whether an event says how well a thing is known, where it says
// that it is: runs that were recorded before there were grades do not.
func graded(data run.EventData) bool {
	switch d := data.(type) {
	case run.Assessed:
		return d.Plan == nil || !slices.ContainsFunc(d.Plan.Steps, func(s planner.Step) bool {
			return s.Evidence != nil && s.Evidence.Grade == ""
		})
	case run.Planned:
		return graded(run.Assessed{Plan: d.Plan})
	case run.GoalChecked:
		return !d.Accepted || d.Grade != ""
	}
	return true
}

// gradeless is an event as it was recorded before there were grades.
func gradeless(data run.EventData) run.EventData {
	strip := func(p *planner.Plan) *planner.Plan {
		if p = p.Clone(); p == nil {
			return nil
		}
		for i := range p.Steps {
			if e := p.Steps[i].Evidence; e != nil {
				e.Grade = ""
			}
		}
		return p
	}
	switch d := data.(type) {
	case run.Assessed:
		d.Plan = strip(d.Plan)
		return d
	case run.Planned:
		d.Plan = strip(d.Plan)
		return d
	case run.GoalChecked:
		d.Grade, d.Source, d.Why = "", "", ""
		return d
	}
	return data
}

// words is an event as JSON, without the times, without the words of a verdict, as what
// it decides is told by the plan, and without what was at a pixel that the actor named:
// journals did not always have that.
func words(data run.EventData) string {
	switch d := data.(type) {
	case run.Proposed:
		d.Actions = slices.Clone(d.Actions)
		for i := range d.Actions {
			d.Actions[i] = pointed(d.Actions[i])
		}
		d.Why = ""
		data = d
	case run.Acting:
		d.Action = pointed(d.Action)
		data = d
	case run.Refused:
		d.Action = pointed(d.Action)
		data = d
	case run.Planned:
		d.Plan = timeless(d.Plan)
		data = d
	case run.Assessed:
		d.Plan, d.Why = timeless(d.Plan), ""
		data = d
	case run.Progressed:
		d.Plan, d.Why = timeless(d.Plan), nil
		data = d
	case run.GoalChecked:
		d.Why = ""
		data = d
	case run.Acted:
		d.Millis = 0
		data = d
	case run.StepEnded:
		d.Millis = 0
		if d.Evidence != nil {
			e := *d.Evidence
			e.At, d.Evidence = time.Time{}, &e
		}
		data = d
	case run.RunEnded:
		data = run.RunEnded{Outcome: d.Outcome, Answer: d.Answer, Steps: d.Steps, Calls: d.Calls}
	}
	text, err := eventjson.Marshal(data)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// pointed returns an action that names elements only by their handles.
func pointed(r run.Recorded) run.Recorded {
	if r.Action == nil {
		return r
	}
	return run.Recorded{Action: actuator.Moved(r.Action, func(p actuator.Point) actuator.Point {
		if p.Element.ID == "" {
			p.Element = actuator.Element{}
		}
		return p
	})}
}

// timeless returns a plan without its times.
func timeless(p *planner.Plan) *planner.Plan {
	if p == nil {
		return nil
	}
	p = p.Clone()
	p.CreatedAt, p.StartedAt, p.EndedAt = time.Time{}, time.Time{}, time.Time{}
	for i := range p.Steps {
		timelessStep(&p.Steps[i])
	}
	for i := range p.Revisions {
		p.Revisions[i].At = time.Time{}
		for _, c := range p.Revisions[i].Changes {
			timelessStep(c.Old)
			timelessStep(c.New)
		}
	}
	return p
}

// timelessStep takes the times out of a step; nil has none.
func timelessStep(s *planner.Step) {
	if s == nil {
		return
	}
	s.StartedAt, s.Sub = time.Time{}, timeless(s.Sub)
	if s.Evidence != nil {
		s.Evidence.At = time.Time{}
	}
	if s.Result != nil {
		s.Result.At = time.Time{}
	}
}

// A conversation is what calls of one role for one purpose make.
type conversation struct {
	role    llm.Role
	purpose string
}

// An exchange is the state of a conversation.
type exchange struct {
	call *replay.Call  // whose reply was given
	now  []run.Message // as the agent has it
	same bool          // so far as recorded, up to the last call
}

// exchange returns the state of a conversation. t.mu is held.
func (t *recording) exchange(role llm.Role, purpose string) *exchange {
	key := conversation{role, purpose}
	if t.exchanges[key] == nil {
		t.exchanges[key] = &exchange{same: true}
	}
	return t.exchanges[key]
}

// comparePrompt notes what a call says in other words than the recorded one. Of
// a long conversation only what is new is looked at. t.mu is held.
func (t *recording) comparePrompt(now run.ModelCalled) {
	e := t.exchange(now.Role, now.Purpose)
	c := e.call
	e.call = nil
	e.now = append(e.now[:min(now.Shared, len(e.now))], now.Messages...)
	if c == nil {
		return // there was no reply for it, which was told
	}
	live, was := now.Messages, c.Messages
	if !e.same || now.Shared != c.Shared {
		live, was = e.now, c.Whole()
	}
	live, was = unequal(live, was)
	if e.same = len(live) == 0 && len(was) == 0; e.same {
		return
	}
	t.result.Changed++
	if len(t.result.Prompts) < kept {
		t.result.Prompts = append(t.result.Prompts, Prompt{
			Step: c.Step, Role: now.Role, Purpose: now.Purpose,
			Diff: string(diff.Diff("recorded", text(was), "now", text(live))),
		})
	}
}

// unequal leaves out the messages with which both begin and end.
func unequal(a, b []run.Message) ([]run.Message, []run.Message) {
	for len(a) > 0 && len(b) > 0 && said(a[0]) == said(b[0]) {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && said(a[len(a)-1]) == said(b[len(b)-1]) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}

// A line is what matters of a message: it can be compared with ==.
type line struct {
	from         llm.Speaker
	text, callID string
	images       string
	calls        string
}

func said(m run.Message) line {
	l := line{from: m.From, text: m.Text, callID: m.CallID, images: strings.Join(m.Images, " ")}
	if len(m.Calls) > 0 {
		l.calls = fmt.Sprint(m.Calls)
	}
	return l
}

// text is a conversation to be read.
func text(list []run.Message) []byte {
	var b strings.Builder
	for _, m := range list {
		fmt.Fprintf(&b, "%s:\n%s\n", m.From, m.Text)
		for _, id := range slices.Sorted(slices.Values(m.Images)) {
			fmt.Fprintf(&b, "[picture %s]\n", id)
		}
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "%s %s\n", c.Name, c.Arguments)
		}
	}
	return []byte(b.String())
}
