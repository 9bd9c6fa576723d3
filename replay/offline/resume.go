package offline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/agent"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/worldmodel"
)

// Resumable returns the settings of a run that can be gone on with, or a
// [replay.ErrNotResumable]: also one that [replay.Run.Resumable] lets pass, where this program
// cannot read how the actor wrote actions in it.
func Resumable(stored *replay.Run) (*run.RunStarted, error) {
	asked, err := stored.Resumable()
	if err != nil {
		return nil, err
	}
	if _, err := agent.FormatOf(asked.Parser); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", replay.ErrNotResumable, stored.Info.ID, err)
	}
	return asked, nil
}

// A Resumption goes on with a run whose program was ended.
type Resumption struct {
	// Session is a live one, with its guard, that writes the journal of the run.
	Session *run.Session
	// Stored is the run as it was when its journal was taken up again.
	Stored *replay.Run
	// Cut is how many bytes of its last event were left out.
	Cut int64
	// Desktop says where it goes on.
	Desktop run.Return
	// Ask asks the user; nil: nobody can be asked.
	Ask func(ctx context.Context, question string) (string, error)
}

// Agent returns the agent that goes on with the run: its Run does again what was recorded,
// without a model, a desktop or a word in the journal, and then goes on live. Close ends
// the reading of the recording.
func (r *Resumption) Agent(ctx context.Context) (a *agent.Agent, closes func(), err error) {
	so, story, err := survey(r.Stored)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", replay.ErrNotResumable, err)
	}
	asked, s := story.started, r.Session
	if asked.Settings.Agent.Rehearsals > 0 && !story.rehearsed {
		return nil, nil, fmt.Errorf("%w: the program ended while the task was rehearsed, so that nothing was done: do the task anew", replay.ErrNotResumable)
	}
	so.Resumed.Cut, so.Resumed.Desktop = r.Cut, r.Desktop
	so.Resumed.Limits = s.Settings.Limits()
	rec := newRecording(r.Stored, &Options{})
	rec.resume, rec.want = true, whatIsThere
	rec.guard, rec.stale = asked.Guard, story.stale
	p := &past{recording: rec, story: story, step: s.Scope.Step, now: asked.Settings.Limits()}
	p.changed = func(run.Limits) {}
	rec.open()
	retracing := s.Retrace(&run.Past{Desktop: p, Device: p, Guard: p, Model: p, Home: pastHome{p}, Told: p.Told, So: *so})
	if a, err = agent.New(s); err != nil {
		rec.close()
		return nil, nil, err
	}
	if pl, ok := a.Planner.(*planner.Planner); ok {
		pl.Now = func() time.Time {
			if retracing.Live() {
				return time.Now()
			}
			return rec.now()
		}
	}
	live, steps := a.Reader, a.MaxSteps
	a.Reader = pastReader{p, live, retracing}
	a.Ask = retracing.Answer(p.Answer, r.Ask)
	if asked.Settings.Agent.Rehearsals > 0 {
		a.Rehearse = rec.rehearsed
	}
	budget := a.Budget
	a.Budget = p
	a.MaxSteps = asked.Settings.Agent.MaxSteps
	p.changed = func(now run.Limits) { a.MaxSteps = now.MaxSteps }
	a.News = p.takeNews
	retracing.Then(func() {
		a.Budget, a.MaxSteps = budget, steps
		p.news = resumedWords(so.Resumed)
	})
	return a, rec.close, nil
}

// Begun has the session go on with a run that has a deliberate plan, and returns how that
// stood: an engine executes what is left of it. Nothing is rehearsed: the session, its guard
// and its budget are told what there is to know, and the journal goes on.
func (r *Resumption) Begun(ctx context.Context) (*run.Begun, error) {
	so, story, err := survey(r.Stored)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", replay.ErrNotResumable, err)
	}
	s := r.Session
	begun, err := r.Stored.Begun()
	if err != nil {
		return nil, err
	}
	so.Resumed.Cut, so.Resumed.Desktop, so.Resumed.Limits = r.Cut, r.Desktop, s.Settings.Limits()
	so.Resumed.Doubt, so.Resumed.Back = begun.Doubts(), begun.PutBack(r.Desktop)
	if err := s.Continue(ctx, *so); err != nil {
		return nil, err
	}
	if err := r.recall(ctx, begun); err != nil {
		return nil, err
	}
	s.Inherit(ctx, story.started.Task, so.Judged)
	begun.News = resumedWords(so.Resumed)
	return begun, nil
}

// recall tells the guard what was ruled, in its order, and of what nobody knows what came.
func (r *Resumption) recall(ctx context.Context, begun *run.Begun) error {
	heir, ok := r.Session.Hand.Guard().(run.Heir)
	if !ok {
		return nil
	}
	doubts := begun.LeftToGuard()
	var turns run.Turns
	for e, err := range r.Stored.Events() {
		if err != nil {
			return err
		}
		d := turns.Add(e).Deed
		switch e.Data.(type) {
		case run.Acting, run.Refused:
			in := run.Intent{Action: d.Action.Action, Index: d.Index, Source: run.FromModel, Display: e.Display}
			if d.Seen != nil && e.Display != "" {
				in.On = replay.Recall(d.Seen)
			}
			if d.Ruling != (run.Guarded{}) {
				r.Session.Hand.Inform(ctx, func() { heir.Recall(in, d.Ruling) })
			}
			if slices.ContainsFunc(doubts, func(a *run.OpenAct) bool { return a.Seq == e.Seq }) {
				r.Session.Hand.Inform(ctx, func() { heir.Doubt(in) })
			}
		}
	}
	return nil
}

// resumedWords tells the actor that a run was taken up again.
func resumedWords(r run.Resumed) string {
	text := "The program that runs you had ended, and goes on now. "
	switch r.Desktop {
	case run.FreshDesktop:
		return text + "The desktop is a new one: nothing that was open is open, and files that were made on it are gone. Look at what is there, and do again what is missing."
	case run.FreshKept:
		return text + "The desktop is a new one with the files of the old: nothing that was open is open, and what was not saved is gone. Look at what is there, and do again what is missing."
	}
	return text + "The desktop is the same, but time has passed: look at what is there before you go on."
}

// A past is a recording that a live run begins with.
type past struct {
	*recording
	story   *story
	step    func() int // of the agent
	changed func(run.Limits)
	now     run.Limits
	news    string
}

// sync has the recording know the step of the agent, which may have had no event yet.
// t.mu is held.
func (p *past) sync(step int) {
	if step <= p.recording.step {
		return
	}
	p.compareStep()
	p.recording.step = step
	p.replies.Drop(p.seenIn)
	for n := range p.steps {
		if n < step-1 {
			delete(p.steps, n)
		}
	}
	if now, ok := p.story.limits[step]; ok {
		p.now = now
		p.changed(now)
	}
}

// lock has the recording know the step, and returns what unlocks it.
func (p *past) lock() func() {
	step := p.step()
	p.mu.Lock()
	p.sync(step)
	return p.mu.Unlock
}

// ends reports whether the program ended in the agent's step: it is the last one, or the
// next begins with the event that the run was taken up again. t.mu is held.
func (t *recording) ends() bool {
	for {
		var next *recordedStep
		for n, s := range t.steps {
			if n > t.step && (next == nil || n < next.N) {
				next = s
			}
		}
		if next != nil {
			_, resumed := next.Events[0].Data.(run.Resumed)
			return resumed
		}
		if t.readAll {
			return true
		}
		if t.load(max(t.read, t.step)+1) != nil {
			return false
		}
	}
}

// last reports whether it is the newest end, and not one of an earlier program. t.mu is
// held.
func (p *past) last() bool { return p.ends() && p.readAll && p.recording.step >= p.read }

// mapped makes of the end of the recording what it means for who meets it.
func (p *past) mapped(err, end error) error {
	if !errors.Is(err, errOver) {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if end == run.ErrOver && !p.last() {
		return fmt.Errorf("%w in step %d: more is recorded", errDiverged, p.recording.step)
	}
	return end
}

// Observe is of [run.Desktop].
func (p *past) Observe(ctx context.Context) (*screen.Observation, error) {
	p.lock()()
	o, err := p.recording.Observe(ctx)
	if err == nil {
		if text, ok := p.story.news[o.FrameID]; ok {
			p.news = text
		}
	}
	return o, p.mapped(err, run.ErrOver)
}

// Surprise is of [run.Desktop]: what was not begun when the program ended is not begun now.
func (p *past) Surprise(ctx context.Context, aim run.Aim) string {
	if why := p.recording.Surprise(ctx, aim); why != "" {
		return why
	}
	defer p.lock()()
	if p.act(len(aim.Done)) != nil || p.refused(len(aim.Done)) || !p.last() {
		return ""
	}
	return "the program that runs you ended before it was done"
}

func (p *past) refused(index int) bool {
	s, err := p.present()
	if err == nil && s != nil {
		for _, r := range s.Refused {
			if r.Index == index {
				return true
			}
		}
	}
	return false
}

// Do is of [run.Device].
func (p *past) Do(ctx context.Context, a actuator.Action, f actuator.Frame) (string, error) {
	unlock := p.lock()
	act := p.act(p.acting)
	open := act != nil && act.Acted == nil && actuator.Same(act.Action.Action, a)
	unlock()
	if open {
		return "", errors.New(run.InDoubt)
	}
	output, err := p.recording.Do(ctx, a, f)
	return output, p.mapped(err, run.ErrOver)
}

// Allow is of [run.Guard].
func (p *past) Allow(ctx context.Context, in run.Intent) (run.Guarded, error) {
	unlock := p.lock()
	over := p.act(in.Index) == nil && !p.refused(in.Index) && p.last()
	unlock()
	if over {
		return run.Guarded{}, run.ErrOver
	}
	return p.recording.Allow(ctx, in)
}

// Accept is of [run.Accepter].
func (p *past) Accept(ctx context.Context, c run.Concern) (by string, err error) {
	unlock := p.lock()
	s, err := p.present()
	there := s != nil && slices.ContainsFunc(s.Checked, func(e run.Checked) bool { return e.Call == c.Call })
	over := err == nil && !there && p.last()
	unlock()
	if over {
		return "", run.ErrOver
	}
	return p.recording.Accept(ctx, c)
}

// Preview is of [run.Previewer].
func (p *past) Preview(ctx context.Context, in run.Intent) (run.Guarded, error) {
	unlock := p.lock()
	_, ok := p.proposal()
	cut := !ok && p.ends()
	unlock()
	if cut {
		return run.Guarded{}, run.ErrCut
	}
	return p.recording.Preview(ctx, in)
}

// Complete is of [llm.Model].
func (p *past) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	p.lock()()
	r, err := p.recording.Complete(ctx, req)
	return r, p.mapped(err, run.ErrCut)
}

// Answer gives what the user answered.
func (p *past) Answer(ctx context.Context, question string) (string, error) {
	p.lock()()
	answer, err := p.recording.answer(ctx, question)
	if errors.Is(err, planner.ErrNobody) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.last() {
			return "", run.ErrOver
		}
	}
	return answer, err
}

// Told takes an event of the agent: it was recorded, or belongs into the journal.
func (p *past) Told(e run.Event) (recorded bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sync(e.Step)
	s, err := p.present()
	if err != nil {
		return true, err
	}
	known := !compared(e.Kind) || s != nil && nth(s.Events, e.Kind, s.met[e.Kind]) != nil
	if known || !p.ends() {
		if _, ended := e.Data.(run.RunEnded); ended && !known {
			return true, fmt.Errorf("%w: it ends in step %d, and more is recorded", errDiverged, e.Step)
		}
		return true, p.compare(e)
	}
	switch e.Data.(type) {
	case run.Planned, run.Assessed, run.Progressed, run.Grounded, run.Proposed, run.Reviewed, run.GoalChecked:
		return true, run.ErrCut
	}
	return !p.last(), nil
}

// Remaining is of [agent.Budget]: what was left then.
func (p *past) Remaining() llm.Remaining {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.now
	used := p.story.spentBefore(p.newestAt())
	part := func(used, limit float64) float64 {
		if limit <= 0 {
			return 1
		}
		return max(0, 1-used/limit)
	}
	return llm.Remaining{
		Tokens: part(float64(used.Input+used.Output), float64(m.MaxTokens)), Dollars: part(used.Dollars, m.MaxDollars),
		Calls: 1, Time: part(used.Time.Seconds(), m.MaxTime.Seconds()),
	}
}

// Pause is of [agent.Budget]: the time of then is over.
func (p *past) Pause() (resume func()) { return func() {} }

// newestAt is when the newest observation was taken. t.mu is held.
func (p *past) newestAt() time.Time {
	if p.newest == nil {
		return time.Time{}
	}
	return p.newest.At
}

// takeNews returns what the actor is to be told, once.
func (p *past) takeNews() string {
	text := p.news
	p.news = ""
	return text
}

// pastHome tells what was found in the home.
type pastHome struct{ *past }

// Files is of [planner.Home].
func (h pastHome) Files(ctx context.Context, names []string, since time.Time) ([]planner.File, error) {
	unlock := h.lock()
	n := h.taken(run.Kind(run.Filed{}))
	unlock()
	if !n {
		return nil, run.ErrCut
	}
	return recordedHome{h.recording}.Files(ctx, names, since)
}

// taken reports whether an event of a kind is left, or nothing ends here. t.mu is held.
func (p *past) taken(kind string) bool {
	for _, n := range p.around() {
		if s := p.steps[n]; s != nil && nth(s.Events, kind, s.met["taken "+kind]) != nil {
			return true
		}
	}
	return !p.ends()
}

// A pastReader tells what was read in a region.
type pastReader struct {
	*past
	live agent.Reader
	r    *run.Retracing
}

// Transcribe is of [agent.Reader].
func (r pastReader) Transcribe(ctx context.Context, now, began *screen.Observation, region worldmodel.Region) (worldmodel.Transcript, error) {
	if r.r.Live() {
		return r.live.Transcribe(ctx, now, began, region)
	}
	unlock := r.lock()
	there := r.taken(run.Kind(run.Transcribed{}))
	unlock()
	if !there {
		return worldmodel.Transcript{}, run.ErrCut
	}
	return recordedReader{r.recording}.Transcribe(ctx, now, began, region)
}

// numberOf returns the number of an ID such as f0007; 0 if it has none.
func numberOf(id, prefix string) (n int) {
	rest, ok := strings.CutPrefix(id, prefix)
	if !ok {
		return 0
	}
	if _, err := fmt.Sscanf(rest, "%d", &n); err != nil {
		return 0
	}
	return n
}
