package run

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// A run that is resumed is done again first, as far as it was recorded: the loop meets
// what it met then, and so comes to know all that it knew. Nothing is sent meanwhile, no
// model is asked and nothing is written. Where the record ends, it goes on live, with a
// new look at the desktop.

var (
	// ErrCut is met where the record ends, or once ended, while the run thought: nothing
	// was done since the newest observation, which is an old one now. The loop has to look
	// anew.
	ErrCut = errors.New("the program that did this run ended here")
	// ErrOver is met where the record ends and the run goes on live with what it does.
	ErrOver = errors.New("nothing more was recorded")
)

// InDoubt is the detail of an action of which nobody knows what came of it, as the program
// ended before that was written.
const InDoubt = "the program that runs you ended while it was being done, so nobody knows whether it came through: look at the screen before you decide, and do not just do it again"

// A Past is what was recorded of a run that goes on. Each of its parts returns [ErrOver] or
// [ErrCut] where nothing is recorded any more.
type Past struct {
	Desktop Desktop
	Device  Device
	Guard   Guard // a [Starter] and [Accepter], and a [Previewer] where there are candidates
	Model   llm.Model
	Home    planner.Home
	// Told takes an event of the loop. recorded is false for one of something new, which
	// belongs into the journal.
	Told func(Event) (recorded bool, err error)
	So   Sofar
}

// Sofar is how far a run has come.
type Sofar struct {
	Resumed    Resumed // the event that it goes on with
	At         time.Time
	llm.Spent  // its time is that while a program did it
	Overridden int
	Judged     *TaskJudged // nil if nobody has judged the task
	Frames     int         // the highest number of a frame
	Displays   int         // how many there were beside that of the run
	Turns      int         // how many steps all who act have begun together
	Elements   int         // the highest number of an element
	Last       *Observed   // the newest observation; nil if there was none

	// Left are how many models of each role were left for the next (see [llm.Client.Leave]).
	Left map[llm.Role]int
}

// A Heir is a guard that can take up a run which another program began.
type Heir interface {
	// Recall tells what was ruled on an action, in the order in which that was.
	Recall(Intent, Guarded)
	// Doubt tells of an action of which nobody knows what came of it: it must not be done
	// again because somebody forgot that it was.
	Doubt(Intent)
	// Inherit tells what was made of the task, after all of that; nil if nothing was.
	Inherit(ctx context.Context, task string, judged *TaskJudged)
}

// A Retracing is a session that does a run again, until it goes on live.
type Retracing struct {
	past    *Past
	session *Session
	guard   Guard // the live one
	live    atomic.Bool
	then    []func()
	pending []Event // of what was done, and that no journal has
	task    string
	last    atomic.Pointer[Intent] // that the guard was asked about, with what is done; a call that nobody waits for any more may still store one
}

// Retrace has a live session begin with what was recorded. It comes before the agent is
// put together.
func (s *Session) Retrace(p *Past) *Retracing {
	r := &Retracing{past: p, session: s, guard: s.Hand.guard}
	s.Desktop = retracedDesktop{s.Desktop, r}
	s.Hand.device = retracedDevice{s.Hand.device, r}
	s.Hand.guard = retracedGuard{r}
	if s.Hand.tools != nil {
		s.Hand.tools = retracedTools{s.Hand.tools, r}
	}
	if s.Home != nil {
		s.Home = retracedHome{s.Home, r}
	}
	if s.Client != nil {
		budget := s.Client.Budget
		s.Client.Model, s.Client.Budget = retracedModel{s.Client.Model, r}, nil
		r.then = append(r.then, func() {
			s.Client.Leave(p.So.Left) // also by calls that are not made again
			if s.Client.Budget = budget; budget != nil {
				budget.Resume(p.So.Spent)
			}
		})
	}
	if s.Screen != nil {
		s.Screen.Continue(p.So.Frames, p.So.Elements, p.So.targets())
	}
	s.Scope.rec.resume(p.So, r.told)
	return r
}

// Continue has a live session go on at once with a run that was begun: its journal tells
// what there is to know. It comes before anything is done.
func (s *Session) Continue(ctx context.Context, so Sofar) error {
	if s.Client != nil && s.Client.Budget != nil {
		s.Client.Budget.Resume(so.Spent)
	}
	if s.Screen != nil {
		s.Screen.Continue(so.Frames, so.Elements, so.targets())
	}
	s.Scope.rec.resume(so, nil)
	s.Scope.rec.displays.Store(int64(so.Displays))
	s.Scope.turns.Store(int64(so.Turns))
	s.Scope.Follow()
	return s.Scope.Emit(ctx, so.Resumed)
}

// Inherit tells the guard what was made of the task, after it was told what was ruled.
func (s *Session) Inherit(ctx context.Context, task string, judged *TaskJudged) {
	s.Hand.shared().done.Store(judged != nil)
	if h, ok := s.Hand.guard.(Heir); ok {
		s.Hand.Inform(ctx, func() { h.Inherit(ctx, task, judged) })
	} else if g, ok := s.Hand.guard.(Starter); ok {
		s.Hand.Inform(ctx, func() { g.Start(ctx, task) })
	}
}

// targets are the elements that still have the IDs that they had.
func (so Sofar) targets() []atspi.Node {
	if so.Last == nil || so.Resumed.Desktop != SameDesktop {
		return nil
	}
	return so.Last.Targets
}

// Live reports whether the run goes on live.
func (r *Retracing) Live() bool { return r.live.Load() }

// Then has a function called when the run goes on live.
func (r *Retracing) Then(f func()) { r.then = append(r.then, f) }

// goLive ends the retracing: the run goes on.
func (r *Retracing) goLive(ctx context.Context) error {
	if r.live.Swap(true) {
		return nil
	}
	rec, so := r.session.Scope.rec, r.past.So
	rec.goOn()
	for _, f := range r.then {
		f()
	}
	if err := r.session.Scope.Emit(ctx, so.Resumed); err != nil {
		return err
	}
	r.session.Hand.guard = r.guard
	r.session.Inherit(ctx, r.task, so.Judged)
	for _, e := range r.pending {
		if err := rec.write(ctx, e, nil, nil); err != nil {
			return err
		}
	}
	r.pending = nil
	return nil
}

// told takes an event while nothing is written. It reports whether that was all.
func (r *Retracing) told(ctx context.Context, e Event) (bool, error) {
	if r.Live() {
		return false, nil
	}
	recorded, err := r.past.Told(e)
	if err != nil || recorded {
		return true, err
	}
	if _, noted := e.Data.(Noted); noted { // nothing is done by it
		r.pending = append(r.pending, e)
		return true, nil
	}
	return false, r.goLive(ctx)
}

// over goes on live if that is what an error says.
func (r *Retracing) over(ctx context.Context, err error) (bool, error) {
	if !errors.Is(err, ErrOver) {
		return false, err
	}
	return true, r.goLive(ctx)
}

// intent is what the guard was asked about last, with the action that is done.
func (r *Retracing) intent() Intent {
	if in := r.last.Load(); in != nil {
		return *in
	}
	return Intent{}
}

// Answer gives what the user answered, or has them asked.
func (r *Retracing) Answer(recorded, live func(context.Context, string) (string, error)) func(context.Context, string) (string, error) {
	return func(ctx context.Context, question string) (string, error) {
		if !r.Live() {
			answer, err := recorded(ctx, question)
			if over, err := r.over(ctx, err); !over || err != nil {
				return answer, err
			}
		}
		if live == nil {
			return "", planner.ErrNobody
		}
		return live(ctx, question)
	}
}

// A retracedDesktop shows what was recorded, and then what there is.
type retracedDesktop struct {
	Desktop // the live one
	r       *Retracing
}

// on is the desktop that is looked at now.
func (d retracedDesktop) on() Desktop {
	if d.r.Live() {
		return d.Desktop
	}
	return d.r.past.Desktop
}

func (d retracedDesktop) Observe(ctx context.Context) (*screen.Observation, error) {
	if !d.r.Live() {
		o, err := d.r.past.Desktop.Observe(ctx)
		over, err := d.r.over(ctx, err)
		if err != nil {
			return nil, err
		}
		if !over {
			d.Desktop.Recall(o.Bare, d.r.past.Desktop.ScreenName(o))
			return o, nil
		}
	}
	return d.Desktop.Observe(ctx)
}

func (d retracedDesktop) Capture(ctx context.Context) (Capture, error) { return d.on().Capture(ctx) }
func (d retracedDesktop) ScreenName(o *screen.Observation) string      { return d.on().ScreenName(o) }
func (d retracedDesktop) Locate(ctx context.Context, a Aim) (actuator.Action, string, error) {
	return d.on().Locate(ctx, a)
}
func (d retracedDesktop) Surprise(ctx context.Context, a Aim) string { return d.on().Surprise(ctx, a) }
func (d retracedDesktop) WindowChange(before, after Capture) string {
	return d.on().WindowChange(before, after)
}
func (d retracedDesktop) Unchanged(index int, look func() bool) bool {
	return d.on().Unchanged(index, look)
}

// A retracedDevice sends nothing of what was sent.
type retracedDevice struct {
	Device // the live one; nil without
	r      *Retracing
}

func (d retracedDevice) Do(ctx context.Context, a actuator.Action, f actuator.Frame) (string, error) {
	if !d.r.Live() {
		output, err := d.r.past.Device.Do(ctx, a, f)
		if err != nil && err.Error() == InDoubt {
			if h, ok := d.r.guard.(Heir); ok {
				d.r.session.Hand.Inform(ctx, func() { h.Doubt(d.r.intent()) })
			}
		}
		if over, err := d.r.over(ctx, err); !over || err != nil {
			d.r.session.typedSecret(a, d.r)
			return output, err
		}
	}
	if d.Device == nil {
		return "", errors.New("there is no device")
	}
	return d.Device.Do(ctx, a, f)
}

// Release lets every key and button go that this program has left down.
func (d retracedDevice) Release() error {
	if r, ok := d.Device.(interface{ Release() error }); ok {
		return r.Release()
	}
	return nil
}

// retracedTools answer what they answered.
type retracedTools struct {
	Toolbox
	r *Retracing
}

func (t retracedTools) Do(ctx context.Context, name string, arguments []byte) (string, error) {
	call := actuator.CallTool{Tool: name, Arguments: actuator.Object(arguments)}
	d := retracedDevice{toolDevice{t.Toolbox}, t.r}
	return d.Do(ctx, call, nil)
}

// A toolDevice performs calls of tools.
type toolDevice struct{ Toolbox }

func (d toolDevice) Do(ctx context.Context, a actuator.Action, _ actuator.Frame) (string, error) {
	call := a.(actuator.CallTool)
	return d.Toolbox.Do(ctx, call.Tool, []byte(call.Arguments))
}

// typedSecret keeps in mind that a secret was typed into a window which is still there.
func (s *Session) typedSecret(a actuator.Action, r *Retracing) {
	on := r.intent().On
	if s.live == nil || s.live.secrets == nil || on == nil || r.past.So.Resumed.Desktop != SameDesktop {
		return
	}
	t, typing := a.(actuator.Type)
	if !typing || !strings.Contains(string(t.Text), placeholderBegins) {
		return
	}
	if w, ok := on.Focused(); ok {
		secrets := s.live.secrets
		secrets.mu.Lock()
		defer secrets.mu.Unlock()
		secrets.typed[w.ID] = true
	}
}

// A retracedGuard rules as it was ruled.
type retracedGuard struct{ r *Retracing }

func (g retracedGuard) Name() string {
	if g.r.guard == nil {
		return NoGuard
	}
	return g.r.guard.Name()
}

func (g retracedGuard) Start(ctx context.Context, task string) {
	g.r.task = task
	g.r.past.Guard.(Starter).Start(ctx, task)
}

func (g retracedGuard) Judged(ctx context.Context) *TaskJudged {
	return g.r.past.Guard.(Starter).Judged(ctx)
}

func (g retracedGuard) Allow(ctx context.Context, in Intent) (Guarded, error) {
	ruling, err := g.r.past.Guard.Allow(ctx, in)
	if other, ok := errors.AsType[*Instead](err); ok {
		in.Action = other.Action
	}
	g.r.last.Store(&in)
	if over, err := g.r.over(ctx, err); err != nil && !over {
		g.recall(in, ruling)
		return ruling, err
	} else if over {
		if err != nil || g.r.guard == nil {
			return Guarded{}, err
		}
		return g.r.guard.Allow(ctx, in)
	}
	g.recall(in, ruling)
	return ruling, nil
}

// Accept is of [Accepter].
func (g retracedGuard) Accept(ctx context.Context, c Concern) (by string, err error) {
	if !g.r.Live() {
		by, err := g.r.past.Guard.(Accepter).Accept(ctx, c)
		if over, err := g.r.over(ctx, err); !over || err != nil {
			return by, err
		}
	}
	a, ok := g.r.guard.(Accepter)
	if !ok {
		return "", errNoAccepter
	}
	return a.Accept(ctx, c)
}

// Preview is of [Previewer].
func (g retracedGuard) Preview(ctx context.Context, in Intent) (Guarded, error) {
	on := g.r.guard
	if !g.r.Live() {
		on = g.r.past.Guard
	}
	p, ok := on.(Previewer)
	if !ok {
		return Guarded{}, nil
	}
	return p.Preview(ctx, in)
}

func (g retracedGuard) recall(in Intent, ruling Guarded) {
	if h, ok := g.r.guard.(Heir); ok {
		h.Recall(in, ruling)
	}
}

// A retracedModel gives the recorded replies.
type retracedModel struct {
	llm.Model // the live one
	r         *Retracing
}

func (m retracedModel) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if m.r.Live() {
		return m.Model.Complete(ctx, req)
	}
	return m.r.past.Model.Complete(ctx, req)
}

// A retracedHome has the files that it had.
type retracedHome struct {
	planner.Home
	r *Retracing
}

func (h retracedHome) Files(ctx context.Context, names []string, since time.Time) ([]planner.File, error) {
	if h.r.Live() {
		return h.Home.Files(ctx, names, since)
	}
	return h.r.past.Home.Files(ctx, names, since)
}
