package guard

import (
	"context"

	"desktop-agent/actuator"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// A passage is what came of an action at the gates.
type passage struct {
	ruling   run.Guarded
	ruled    bool     // by a gate; else a person may have to be asked
	refusal  error    // of the gate; nil if it allows
	decision decision // where no gate rules
	doubt    *doubt   // which it is about; nil for none
}

// gates are what an action goes through before a person is asked, in this order. count says
// that it is proposed, and not only looked at: then it counts as one more time.
func (g *Guard) gates(ctx context.Context, in run.Intent, c Class, count bool) passage {
	allow := func(by, reason string) passage {
		return passage{ruled: true, ruling: run.Guarded{Effect: c.Effect, By: by, Reason: reason, Target: c.Target}}
	}
	block := func(b *Block) passage { return passage{ruled: true, ruling: b.ruling(c), refusal: b} }
	decided := func(d decision, f *worldmodel.Foresight) passage {
		return passage{ruling: run.Guarded{Effect: d.effect, By: d.by, Reason: d.reason, Target: c.Target, Foresight: f}, decision: d}
	}
	text, _ := actuator.Entered(in.Action)
	if _, tool := in.Action.(actuator.CallTool); tool {
		if b := g.holdBack(ctx, in, c, c.Effect, count); b != nil {
			return block(b)
		}
	}
	if c.Harmless && !g.named(ctx, in.Action) && !g.cares(c, count) {
		return allow("table", c.Rule)
	}
	if b := g.doubted(in, c); b != nil {
		p := decided(b.decision(c), nil)
		p.doubt = b
		return p
	}
	switch {
	case g.Workspace.Free(c, text):
		return allow("workspace", c.Rule+"; what happens to files of this workspace is free")
	case in.Source == run.FromRecording && g.Approve != Always:
		return allow("recording", "exempt: the user replays what was recorded")
	}
	if b := g.holdBack(ctx, in, c, c.Effect, count); b != nil {
		return block(b)
	}
	key := keyOf(in, c)
	if g.granted(kindOf(in, c)) {
		return allow("approval", "a person allowed this kind for the run")
	}
	if b := g.bound(key, in, c, count); b != nil {
		return block(b)
	}
	verdict, _ := g.verdictOf(ctx)
	f, d := g.foresee(ctx, in, c, key, verdict)
	if ctx.Err() != nil {
		return passage{ruled: true, refusal: context.Cause(ctx)}
	}
	p := decided(d, f)
	if b := g.holdBack(ctx, in, c, d.effect, count); b != nil && d.allowed {
		p.ruling.By, p.ruling.Reason, p.ruling.Times = b.By, b.Reason, b.Times
		p.ruled, p.refusal = true, b
	}
	return p
}
