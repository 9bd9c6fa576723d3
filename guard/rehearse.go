package guard

import (
	"context"
	"slices"

	"desktop-agent/actuator"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// ByRehearsal is what blocks an action while a task is only rehearsed.
const ByRehearsal = "rehearsal"

// maxHeld is how many actions are told that a rehearsal held back.
const maxHeld = 10

// A rehearsal is what a guard keeps of a task that is only tried.
type rehearsal struct {
	task   string // the user's own words, and nothing beside
	judged run.TaskJudged
	held   []string       // in words, the first ones
	times  map[string]int // how often each was held back
}

// Rehearse has the guard watch over a task that is only tried, on a desktop that is
// discarded: what the verdict on the task blocks is not done, whoever asks for it, nobody is
// asked, and tools do nothing but look. It comes before [Guard.Start], which then judges
// nothing anew.
func (g *Guard) Rehearse(task string, judged run.TaskJudged) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rehearsed = &rehearsal{task: task, judged: judged}
	g.Approve, g.Ask = Never, nil
}

// Held tells what was not done because it was a rehearsal, in words, each once, the first
// ones.
func (g *Guard) Held() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.rehearsed == nil {
		return nil
	}
	return slices.Clone(g.rehearsed.held)
}

// holdBack blocks an action with an effect that is left to the one run which does it; nil
// where this is none, or no rehearsal. What the table does not know has no effect yet. count
// says that it was tried, which [Guard.Held] tells.
func (g *Guard) holdBack(ctx context.Context, in run.Intent, c Class, effect worldmodel.Effect, count bool) *Block {
	g.mu.Lock()
	r := g.rehearsed
	g.mu.Unlock()
	if r == nil {
		return nil
	}
	v, _ := g.verdictOf(ctx)
	reason := "the user's own words ask for such an effect, which cannot be taken back"
	call, tool := in.Action.(actuator.CallTool)
	switch {
	case tool && !slices.Contains(v.Tools, call.Tool) && (in.Effect == worldmodel.EffectNone || in.Effect == worldmodel.EffectNavigate):
		return nil
	case tool:
		effect, reason = in.Effect, "what a tool does is not done to the desktop that is discarded"
	case !slices.Contains(v.Tools, Computer) && (effect == "" || !effect.Side() || !v.Blocks(Computer, effect)):
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	words := actuator.Describe(in.Action)
	if c.Target != "" {
		words += " on " + c.Target
	}
	if count {
		if !slices.Contains(r.held, words) && len(r.held) < maxHeld {
			r.held = append(r.held, words)
		}
		if r.times == nil {
			r.times = map[string]int{}
		}
		r.times[words]++
	}
	return &Block{By: ByRehearsal, Name: actuator.Name(in.Action), Effect: effect, Reason: reason, Times: r.times[words]}
}
