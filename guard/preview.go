package guard

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// see is what was foreseen when the same action was a candidate on the same screen, or
// else asks.
func (g *Guard) see(ctx context.Context, r worldmodel.ForesightRequest, in run.Intent, c Class) (*worldmodel.Foresight, error) {
	g.mu.Lock()
	name := previewKey(in, c)
	f := g.state.previewed[name]
	delete(g.state.previewed, name)
	g.mu.Unlock()
	if f != nil {
		return f, nil
	}
	return g.World.Foresee(ctx, r)
}

// previewKey names an action on a frame, after those of its batch before it.
func previewKey(in run.Intent, c Class) string {
	frame := ""
	if in.On != nil {
		frame = in.On.FrameID
	}
	return strings.Join([]string{in.Display, frame, actuator.DescribeFull(in.Action), keyOf(in, c), situationOf(in, c)}, "\x00")
}

// Preview says what would be ruled on an action: it goes through the same gates. Nobody is
// asked, and an objection comes of it only when the action is proposed; what was foreseen is
// kept until then.
func (g *Guard) Preview(ctx context.Context, in run.Intent) (run.Guarded, error) {
	c := g.classify(in)
	p := g.gates(ctx, in, c, false)
	if f := p.ruling.Foresight; f != nil {
		g.mu.Lock()
		if g.state.previewed == nil {
			g.state.previewed = map[string]*worldmodel.Foresight{}
		}
		g.state.previewed[previewKey(in, c)] = f
		g.mu.Unlock()
	}
	if !p.ruled && !p.decision.allowed {
		p.refusal = errors.New(p.decision.reason)
	}
	p.ruling.Allowed = p.refusal == nil
	return p.ruling, p.refusal
}

// Missed has the next edits foreseen, which else are free: what was foreseen of an action
// did not come.
func (g *Guard) Missed() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state.care = cmp.Or(g.CarefulEdits, run.DefaultCarefulEdits)
}

// cares reports whether an action is foreseen though it is harmless by the table, and, if it
// is to count, that there is one less of them.
func (g *Guard) cares(c Class, count bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.Effect != worldmodel.EffectEdit || g.state.care == 0 || g.World == nil {
		return false
	}
	if count {
		g.state.care--
	}
	return true
}
