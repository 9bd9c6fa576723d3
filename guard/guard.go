// Package guard has the last word on every action: it is the [run.Guard] of a hand.
//
// An action goes through these, in order ([Guard.Preview] tells what all but the last rule):
//
//   - [Classify]: a table and what is on the screen tell whether it is harmless for
//     certain. Most are, and cost nothing.
//   - In a rehearsal ([Guard.Rehearse]), what the verdict on the task blocks is held back.
//   - What an earlier program was about to do when it ended, a person alone allows again.
//   - A [Workspace] of our own makes what happens to its files free.
//   - An objection binds: what was refused once is refused again, until a person or
//     another foresight with a new reason lifts it.
//   - [desktop-agent/worldmodel.Model.Foresee] says what it will cause.
//   - The rule (decide.go) holds that against the policies, the task and the
//     [Verdict] on the task, which was made before anything was on the screen.
//   - A person is asked, if that is wanted and somebody is there.
//
// Whatever fails refuses. A refusal tells the actor what was blocked, by what and why.
package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// A Foreseer says what an action will cause; see [worldmodel.Model].
type Foreseer interface {
	Foresee(context.Context, worldmodel.ForesightRequest) (*worldmodel.Foresight, error)
}

// A Guard decides on every action of a run. Its zero value allows what is harmless,
// and nothing else. It is safe for concurrent use.
type Guard struct {
	World     Foreseer // nil: nothing is foreseen, so that nothing risky is allowed
	Policies  []worldmodel.Policy
	Workspace *Workspace // nil: the desktop is not ours to discard

	Model      llm.Model     // judges the task; nil: all side effects are blocked
	Analysers  []llm.Role    // one of these is asked, by chance
	Tools      []string      // that the task may use; nil for the computer alone
	JudgeLimit time.Duration // of the analysis; 0 for [run.DefaultJudgeLimit]

	RiskLimit    float64 // severity times probability from which what can be undone is refused; 0 for [run.DefaultRiskLimit]
	CarefulEdits int     // that are foreseen after [Guard.Missed]; 0 for [run.DefaultCarefulEdits]

	Approve       Mode          // "" is Never
	Ask           Approver      // nil: nobody can be asked
	ApprovalLimit time.Duration // for an answer; 0 for [run.DefaultApprovalLimit]
	Desktop       run.Desktop   // tells whether the screen changed meanwhile, where the intent has none; nil: not known
	Pause         func() func() // stops the run's clock, and returns what lets it go on; nil for none

	Pick func(n int) int // chooses by chance, from 0 to n-1; nil for [rand.IntN]
	Log  *slog.Logger    // nil: silent

	mu     sync.Mutex // guards the fields below
	now    string     // the task
	judged chan struct{}
	ruling Verdict // once judged is closed
	event  *run.TaskJudged
	state  state

	rehearsed *rehearsal // nil: it is in earnest
}

// state is what is kept of one run.
type state struct {
	held       map[string][]actuator.Key // on each display
	lines      map[string]string         // what was typed into terminals and not entered, by [scene.lineKey]
	objections map[string]*objection
	always     map[string]bool
	newest     map[worldmodel.Effect]string // the newest objection to an effect
	previewed  map[string]*worldmodel.Foresight
	care       int // edits that are foreseen though the table takes them for harmless

	doubts       []*doubt          // what an earlier program may have done
	newestEffect worldmodel.Effect // of what was ruled on last
}

// An objection is what was said against an action, which binds.
type objection struct {
	situation string
	by        string
	reason    string
	times     int
}

// Name says what holds: how it is foreseen, on whose desktop, and when a person is
// asked.
func (g *Guard) Name() string {
	how := "foresight"
	if g.World == nil {
		how = "table alone"
	}
	where := "the user's desktop"
	if g.Workspace != nil {
		where = "a workspace of its own"
	}
	mode := g.Approve
	if mode == "" {
		mode = Never
	}
	if mode != Never && g.Ask == nil {
		mode += ", but nobody can be asked"
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.rehearsed != nil {
		mode += ", a rehearsal"
	}
	return fmt.Sprintf("%s, %s, %d policies, approve %s", how, where, len(g.Policies), mode)
}

// Start begins to judge a task, and forgets all of the one before.
func (g *Guard) Start(ctx context.Context, task string) {
	g.mu.Lock()
	if r := g.rehearsed; r != nil { // it was judged
		g.state = state{}
		g.mu.Unlock()
		g.Inherit(ctx, r.task, &r.judged)
		return
	}
	defer g.mu.Unlock()
	done := make(chan struct{})
	g.now, g.judged, g.state = task, done, state{}
	g.ruling, g.event = everything("the task is not judged yet"), nil
	go func() {
		defer close(done)
		v, e := everything("the analysis broke"), &run.TaskJudged{Irreversible: true, Error: "the analysis broke"}
		defer func() {
			if p := recover(); p != nil {
				e.Error = fmt.Sprintf("the analysis broke: %v", p)
			}
			g.mu.Lock()
			defer g.mu.Unlock()
			if g.judged == done { // and no other task has begun
				g.ruling, g.event = v, e
			}
		}()
		v, e = g.judge(ctx, task)
	}()
}

// Judged waits for what came of that.
func (g *Guard) Judged(ctx context.Context) *run.TaskJudged {
	_, e := g.verdictOf(ctx)
	return e
}

// verdictOf waits for the verdict on the task. Without a task everything is blocked.
func (g *Guard) verdictOf(ctx context.Context) (Verdict, *run.TaskJudged) {
	g.mu.Lock()
	done := g.judged
	g.mu.Unlock()
	if done == nil {
		return everything("nobody told the guard the task"), nil
	}
	select {
	case <-done:
	case <-ctx.Done():
		return everything("the run ended"), nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ruling, g.event
}

func (g *Guard) task() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.now
}

// A Block is why an action is refused, as the actor reads it.
type Block struct {
	By     string // such as "policy deleting", "irreversibility", "objection"
	Name   string // of the action
	Effect worldmodel.Effect
	Reason string
	Better string // what could be done instead; "" if nothing is known
	Times  int    // how often the same was refused
}

// Error tells the actor what was blocked, by what and why, and what to do next.
func (b *Block) Error() string {
	effect := string(b.Effect)
	if effect == "" {
		effect = "not known"
	}
	text := fmt.Sprintf("not done: blocked_by=%q, action=%s, effect=%s: %s", b.By, b.Name, effect, strings.TrimSuffix(b.Reason, "."))
	if b.Better != "" {
		text += ". Instead: " + strings.TrimSuffix(b.Better, ".")
	}
	if b.By == ByRehearsal {
		return text + ". This is a rehearsal: that is done once, later, and not here. Bring all else to where only that is left, and say that the rehearsal is done."
	}
	if b.Times > 1 {
		text += fmt.Sprintf(". It was refused %d times, and proposing it again changes nothing", b.Times)
	}
	return text + ". Go on with the task in another way, or say that it cannot be done."
}

// Allow decides on an action.
func (g *Guard) Allow(ctx context.Context, in run.Intent) (run.Guarded, error) {
	ruling, err := g.rule(ctx, in, g.classify(in))
	other, edited := errors.AsType[*run.Instead](err)
	if edited {
		in.Action = other.Action
	}
	if err == nil || edited {
		g.mu.Lock()
		g.hold(in)
		g.mu.Unlock()
	}
	return ruling, err
}

// classify is [Classify] with what earlier actions have left.
func (g *Guard) classify(in run.Intent) Class {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.scene(in).class()
}

// scene is an action on what earlier ones have left. The guard is locked.
func (g *Guard) scene(in run.Intent) *scene {
	s := sceneOf(in, g.state.held[in.Display])
	s.lines = g.state.lines
	return s
}

// hold notes what an action leaves down, and on the line of a terminal. The guard is
// locked.
func (g *Guard) hold(in run.Intent) {
	if g.state.held == nil {
		g.state.held, g.state.lines = map[string][]actuator.Key{}, map[string]string{}
	}
	if s := g.scene(in); s.lineKey() != "" {
		g.state.lines[s.lineKey()] = s.lineAfter()
	}
	g.state.held[in.Display] = actuator.KeysHeld(in.Action, g.state.held[in.Display])
}

// rule decides on an action of a class. What the gates leave to a person they are asked
// about, if that is wanted; an error of [run.Instead] is what they chose in its place.
func (g *Guard) rule(ctx context.Context, in run.Intent, c Class) (run.Guarded, error) {
	p := g.gates(ctx, in, c, true)
	if p.ruled {
		return p.ruling, p.refusal
	}
	d, f, ruling := p.decision, p.ruling.Foresight, p.ruling
	if g.mustAsk(d) {
		always, err := g.approve(ctx, in, c, d, f)
		if ctx.Err() != nil { // nobody waits for the answer any more
			return run.Guarded{}, context.Cause(ctx)
		}
		if other, ok := errors.AsType[*run.Instead](err); ok {
			return g.chosen(in, other.Action), other
		}
		if err != nil {
			d.allowed, d.by, d.reason = false, blame(d, err), joined(d, err)
		} else {
			g.certain(in, c)
			g.lift(keyOf(in, c))
			return g.approved(in, c, d, f, always), nil
		}
	}
	if d.allowed {
		g.lift(keyOf(in, c))
		return ruling, nil
	}
	var b *Block
	if p.doubt != nil {
		b = g.stands(p.doubt, in, d)
	} else {
		b = g.object(keyOf(in, c), in, c, d, f)
	}
	ruling.By, ruling.Reason, ruling.Times = b.By, b.Reason, b.Times
	return ruling, b
}

// What a person decided who was asked about an action, if not [run.ChoseAnother].
const (
	allowedOnce = "a person allowed it"
	allowedKind = "a person allowed it, and this kind for the run"
)

// approved is the ruling on what a person has allowed.
func (g *Guard) approved(in run.Intent, c Class, d decision, f *worldmodel.Foresight, always bool) run.Guarded {
	ruling := run.Guarded{Effect: d.effect, By: "approval", Reason: allowedOnce, Target: c.Target, Foresight: f}
	if always {
		ruling.Reason = allowedKind
		g.grant(kindOf(in, c))
	}
	return ruling
}

// chosen is the ruling on what a person has chosen to have done in place of an action. Nobody
// foresees it: what the table does not know of it stays unknown.
func (g *Guard) chosen(in run.Intent, a actuator.Action) run.Guarded {
	in.Action, in.Effect = a, ""
	c := g.classify(in)
	return run.Guarded{Effect: c.Effect, By: "approval", Reason: run.ChoseAnother, Target: c.Target}
}

// named reports whether an action calls a tool that the verdict on the task names.
func (g *Guard) named(ctx context.Context, a actuator.Action) bool {
	call, ok := a.(actuator.CallTool)
	if !ok {
		return false
	}
	v, _ := g.verdictOf(ctx)
	return v.Enabled && slices.Contains(v.Tools, call.Tool)
}

// foresee asks what an action will cause, and decides by that.
func (g *Guard) foresee(ctx context.Context, in run.Intent, c Class, key string, v Verdict) (*worldmodel.Foresight, decision) {
	failed := decision{effect: c.Effect, by: "no foresight", final: true}
	if g.World == nil {
		failed.reason = "it is not harmless for certain (" + c.Rule + "), and no model is there to foresee what it causes"
		return nil, failed
	}
	earlier := g.objectionTo(key, c.Effect)
	r := worldmodel.ForesightRequest{
		Task: g.task(), Action: in.Action, Words: actuator.DescribeFull(in.Action), Element: c.Target, Dialog: c.Dialog,
		Suspected: suspected(c), History: in.History, Policies: g.Policies, Objection: earlier, On: in.On,
	}
	for _, a := range in.Done {
		r.Batch = append(r.Batch, actuator.DescribeFull(a))
	}
	f, err := g.see(ctx, r, in, c)
	if err != nil {
		failed.reason = "what it causes could not be foreseen: " + err.Error()
		return nil, failed
	}
	d := decide(c, f, v, g.Policies, cmp.Or(g.RiskLimit, run.DefaultRiskLimit))
	if d.allowed && g.objected(key) && (f.Lifts == nil || *f.Lifts == "" || worldmodel.Quotes(earlier, *f.Lifts)) {
		d.allowed, d.by = false, "objection"
		d.reason = "an earlier objection stands, as nothing new was said: " + earlier
	}
	return f, d
}

func suspected(c Class) string {
	if c.Effect == "" {
		return c.Rule
	}
	return string(c.Effect) + ": " + c.Rule
}

// mustAsk reports whether a person has to be asked.
func (g *Guard) mustAsk(d decision) bool {
	switch g.Approve {
	case Always:
		return true
	case Risky:
		return !d.allowed || d.final
	}
	return false
}

// errNobody says that there is nobody who could approve.
var errNobody = errors.New("it needs a person's approval, and nobody can be asked")

func (g *Guard) approve(ctx context.Context, in run.Intent, c Class, d decision, f *worldmodel.Foresight) (always bool, err error) {
	if g.Ask == nil {
		return false, errNobody
	}
	return g.ask(ctx, in, g.approval(in, c, d, f))
}

// byNoAnswer is what blocks an action about which a person was asked, who gave no answer in
// time.
const byNoAnswer = "no answer"

// blame names what refused: what would have refused anyway comes first, where there was nobody
// to be asked, and so does a doubt, which stands.
func blame(d decision, err error) string {
	switch {
	case d.by == byDoubt || !d.allowed && errors.Is(err, errNobody):
		return d.by
	case errors.Is(err, errUnanswered), errors.Is(err, errChanged):
		return byNoAnswer
	}
	return "approval"
}

func joined(d decision, err error) string {
	if d.allowed {
		return err.Error()
	}
	return d.reason + " (" + err.Error() + ")"
}

// ruling is the event of a block.
func (b *Block) ruling(c Class) run.Guarded {
	return run.Guarded{Effect: b.Effect, By: b.By, Reason: b.Reason, Target: c.Target, Times: b.Times}
}

func (g *Guard) pick(n int) int {
	if g.Pick != nil {
		return g.Pick(n)
	}
	return rand.IntN(n)
}

func (g *Guard) log() *slog.Logger {
	if g.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return g.Log
}
