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

// Preview says what would be ruled on an action. Nobody is asked, and an objection
// comes of it only when the action is proposed; what was foreseen is kept until then.
func (g *Guard) Preview(ctx context.Context, in run.Intent) (run.Guarded, error) {
	c := g.classify(in)
	text, _ := actuator.Entered(in.Action)
	if c.Harmless && !g.named(ctx, in.Action) || g.Workspace.Free(c, text) || g.granted(kindOf(in, c)) {
		return run.Guarded{Effect: c.Effect, Allowed: true}, nil
	}
	key := keyOf(in, c)
	if g.objectsTo(key, in, c) {
		return run.Guarded{Effect: c.Effect}, errors.New("it was refused before")
	}
	verdict, _ := g.verdictOf(ctx)
	f, d := g.foresee(ctx, in, c, key, verdict)
	if ctx.Err() != nil {
		return run.Guarded{}, context.Cause(ctx)
	}
	ruling := run.Guarded{Effect: d.effect, By: d.by, Reason: d.reason, Target: c.Target, Allowed: d.allowed, Foresight: f}
	if f != nil {
		g.mu.Lock()
		if g.state.previewed == nil {
			g.state.previewed = map[string]*worldmodel.Foresight{}
		}
		g.state.previewed[previewKey(in, c)] = f
		g.mu.Unlock()
	}
	if !d.allowed {
		return ruling, errors.New(d.reason)
	}
	return ruling, nil
}

// Missed has the next edits foreseen, which else are free: what was foreseen of an action
// did not come.
func (g *Guard) Missed() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state.care = cmp.Or(g.CarefulEdits, run.DefaultCarefulEdits)
}

// cares reports whether an action is foreseen though it is harmless by the table.
func (g *Guard) cares(c Class) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.Effect != worldmodel.EffectEdit || g.state.care == 0 || g.World == nil {
		return false
	}
	g.state.care--
	return true
}
