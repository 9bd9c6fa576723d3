package guard

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/internal/canon"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// byDoubt is what blocks an action that was begun when the program ended, and of which
// nobody knows whether it came through: a person alone can allow it once more.
const byDoubt = "in doubt"

// A doubt is such an action.
type doubt struct {
	sign  string // what is the same action
	words string
	times int // how often it was refused since
}

// signOf names what is the same action to a doubt: what it does and to what, whatever the
// window is called now.
func signOf(in run.Intent, c Class) string {
	if call, ok := in.Action.(actuator.CallTool); ok {
		return call.Tool + "\n" + strings.ToLower(canon.JSON(string(call.Arguments)))
	}
	_, words, _ := strings.Cut(keyOf(in, Class{}), "\n")
	target, _, _ := strings.Cut(c.Target, "in window ")
	return words + "\n" + strings.TrimSpace(target)
}

// Recall is of [run.Heir].
func (g *Guard) Recall(in run.Intent, was run.Guarded) {
	g.mu.Lock()
	c := g.scene(in).class()
	if was.Allowed {
		g.hold(in)
	}
	g.state.newestEffect = was.Effect
	g.mu.Unlock()
	key := keyOf(in, c)
	switch {
	case was.By == "", was.By == "approval" && was.Reason == run.ChoseAnother:
	case was.By == byDoubt:
		g.mu.Lock()
		for _, d := range g.state.doubts {
			if d.sign == signOf(in, c) {
				d.times = was.Times
			}
		}
		g.mu.Unlock()
	case !was.Allowed:
		g.object(key, in, c, decision{effect: was.Effect, by: was.By, reason: was.Reason}, was.Foresight)
	default:
		g.lift(key)
		if was.By == "approval" {
			g.certain(in, c)
		}
		if was.By == "approval" && was.Reason == allowedKind {
			g.grant(kindOf(in, c))
		}
	}
}

// Doubt is of [run.Heir].
func (g *Guard) Doubt(in run.Intent) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.scene(in).class()
	effect := c.Effect
	if g.state.newestEffect != "" {
		effect = effect.Worse(g.state.newestEffect)
	}
	_, tool := in.Action.(actuator.CallTool)
	if c.Harmless && !tool || effect != "" && !effect.Side() {
		return
	}
	g.state.doubts = append(g.state.doubts, &doubt{sign: signOf(in, c), words: actuator.Describe(in.Action)})
}

// Inherit is of [run.Heir].
func (g *Guard) Inherit(ctx context.Context, task string, judged *run.TaskJudged) {
	g.mu.Lock()
	kept := g.state
	g.mu.Unlock()
	if judged == nil {
		g.Start(ctx, task)
		g.mu.Lock()
		defer g.mu.Unlock()
		g.state = kept
		return
	}
	done := make(chan struct{})
	close(done)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now, g.judged, g.event = task, done, judged
	g.ruling = Verdict{Enabled: judged.Irreversible, Effects: judged.Effects, Tools: judged.Tools, Unknown: judged.Unknown, Why: judged.Reason}
}

// doubted returns the doubt about an action; nil if there is none.
func (g *Guard) doubted(in run.Intent, c Class) *doubt {
	g.mu.Lock()
	defer g.mu.Unlock()
	sign := signOf(in, c)
	for _, d := range g.state.doubts {
		if d.sign == sign {
			return d
		}
	}
	return nil
}

// certain ends the doubt about an action.
func (g *Guard) certain(in run.Intent, c Class) {
	g.mu.Lock()
	defer g.mu.Unlock()
	sign := signOf(in, c)
	g.state.doubts = slices.DeleteFunc(g.state.doubts, func(d *doubt) bool { return d.sign == sign })
}

// decision is on an action that may have been done already: it is a person's.
func (b *doubt) decision(c Class) decision {
	effect := c.Effect
	if effect == "" {
		effect = worldmodel.EffectExecute
	}
	return decision{effect: effect, by: byDoubt, final: true, reason: fmt.Sprintf(
		"the program ended while it did the same before (%s), and nobody knows whether that came through; look whether it did, and go on from there", b.words)}
}

// stands blocks such an action, of which no person has decided that it is done.
func (g *Guard) stands(b *doubt, in run.Intent, d decision) *Block {
	g.mu.Lock()
	defer g.mu.Unlock()
	b.times++
	return &Block{By: d.by, Name: actuator.Name(in.Action), Effect: d.effect, Reason: d.reason, Times: b.times}
}
