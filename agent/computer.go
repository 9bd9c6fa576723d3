package agent

import (
	"context"

	"desktop-agent/actuator"
	"desktop-agent/run"
)

// asked is how many messages of a request are the question, and not what was before: what
// was seen, the plan and the list.
func asked(q question) int {
	if q.plan != nil {
		return 3
	}
	return 2
}

// prompt is the name of the prompt by which a format is asked for.
func (f Format) prompt() string {
	if f.Computer != nil {
		return "computer"
	}
	return "propose"
}

// accept asks about the safety checks of the calls up to that of an action of the batch,
// and of all that are left if i is behind the last. It reports whether the batch may go on.
func (r *episode) accept(ctx context.Context, t turn, b *batch, i int) (bool, error) {
	upTo := len(t.reply.Calls) - 1
	if i < len(t.Actions) {
		upTo = min(upTo, t.callOf(i)) // code calls nothing
	}
	for ; b.asked <= upTo; b.asked++ {
		call := t.reply.Calls[b.asked]
		if len(call.Checks) == 0 {
			continue
		}
		c := run.Concern{Call: call.ID, Checks: call.Checks, Index: i, On: r.now}
		for j, a := range t.Actions {
			if t.callOf(j) == b.asked {
				c.Actions = append(c.Actions, a)
			}
		}
		refusal, err := r.Hand.Accept(ctx, c)
		if err != nil {
			return false, err
		}
		if refusal != "" {
			b.stopped, b.refused = refusal, true
			return false, nil
		}
		if b.accepted == nil {
			b.accepted = map[int][]string{}
		}
		for _, check := range call.Checks {
			b.accepted[b.asked] = append(b.accepted[b.asked], check.ID)
		}
	}
	return true, nil
}

// callOf returns which call of the reply asks for an action; -1 for none.
func (p proposal) callOf(i int) int { return callOf(p.Proposal, i) }

func callOf(p actuator.Proposal, i int) int {
	if i < len(p.Calls) {
		return p.Calls[i]
	}
	return i
}
