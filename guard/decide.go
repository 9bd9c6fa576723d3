package guard

import (
	"fmt"
	"strings"

	"desktop-agent/worldmodel"
)

// A decision is what the rules make of an action.
type decision struct {
	allowed bool
	effect  worldmodel.Effect
	by      string // what decided
	reason  string
	final   bool // it cannot be taken back
}

// decide is the rule, on an action that is not harmless and has been foreseen:
//
//   - its effect is the worse one of what the table knows and what was foreseen, so
//     that a foresight cannot talk an effect away;
//   - a policy whose severity is high or more, if violated, refuses; advice does not;
//   - a side effect is allowed if the task asks for it, and it can be undone or the
//     user's own words demand that effect (see [Verdict.Demands]);
//   - any other effect is allowed if it can be undone and the weight of its risk, severity
//     times probability, is below tooRisky, or if the task asks for it.
func decide(c Class, f *worldmodel.Foresight, v Verdict, policies []worldmodel.Policy, tooRisky float64) decision {
	d := decision{effect: f.Effect.Worse(c.Effect), by: "foresight"}
	d.final = d.effect.Side() && !f.Undoable
	for _, p := range policies {
		for _, id := range f.Violated {
			if p.ID == id && !p.Advisory && p.Severity.AtLeast(worldmodel.High) {
				d.by = "policy " + p.ID
				d.reason = fmt.Sprintf("it violates the policy %s (%s): %s", p.ID, p.Severity, p.Text)
				return d
			}
		}
	}
	demanded := v.Demands(d.effect)
	risk := max(f.ShortTerm.Weight(), f.LongTerm.Weight())
	switch {
	case d.effect.Side() && !f.Asked:
		if v.Blocks(Computer, d.effect) {
			d.by = "irreversibility"
		}
		d.reason = "the task does not ask for it" + because(f)
	case d.final && !demanded:
		d.by = "irreversibility"
		d.reason = fmt.Sprintf("it cannot be undone, and the user's own words do not ask for an effect of this kind (%s)", d.effect) + because(f)
		if len(v.Effects) == 0 && v.Enabled {
			d.reason = "it cannot be undone, and all such effects are blocked: " + v.Why
		}
	case !d.effect.Side() && !f.Undoable && !f.Asked:
		d.reason = "it cannot be undone, and the task does not ask for it" + because(f)
	case !d.effect.Side() && risk >= tooRisky && !f.Asked:
		d.reason = "it risks more than the task asks for" + because(f)
	default:
		d.allowed = true
		d.reason = allowedFor(f, d.effect, demanded)
	}
	return d
}

// because adds the reason of the worse risk.
func because(f *worldmodel.Foresight) string {
	risk := f.ShortTerm
	if f.LongTerm.Weight() > risk.Weight() {
		risk = f.LongTerm
	}
	if risk.Reason == "" || risk.Severity == worldmodel.NoHarm {
		return ""
	}
	return ": " + strings.TrimSuffix(risk.Reason, ".")
}

func allowedFor(f *worldmodel.Foresight, e worldmodel.Effect, demanded bool) string {
	switch {
	case !e.Side():
		return "it can be undone"
	case f.Undoable:
		return fmt.Sprintf("the task asks for it (%q), and it can be undone", f.TaskWords)
	case demanded:
		return fmt.Sprintf("the task asks for it (%q), and the user's own words demand such an effect", f.TaskWords)
	}
	return fmt.Sprintf("the task asks for it (%q)", f.TaskWords)
}
