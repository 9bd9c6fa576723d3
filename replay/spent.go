package replay

import (
	"cmp"
	"slices"
	"time"

	"desktop-agent/run"
)

// Spent tells what the time of a step, or of several, went to. The parts add up to
// Total.
type Spent struct {
	Model  time.Duration // at least one model was asked
	Settle time.Duration // waiting until the screen is still
	Look   time.Duration // taking the picture, the windows and the tree
	Act    time.Duration // sending input
	Other  time.Duration
	Total  time.Duration
}

// Add adds the time of another step.
func (s *Spent) Add(t Spent) {
	s.Model += t.Model
	s.Settle += t.Settle
	s.Look += t.Look
	s.Act += t.Act
	s.Other += t.Other
	s.Total += t.Total
}

// A span is a stretch of time.
type span struct{ from, to time.Time }

// Spend sums up the events of one step; since is when the step before ended.
// Models that were asked at the same time count once, and an action does not
// count while the screen is looked at. Where the run was taken up again, the time before
// that in which no program worked on it is left out.
func Spend(events []run.Event, since time.Time) (s Spent) {
	if len(events) == 0 {
		return s
	}
	end := events[len(events)-1].Time
	whole := span{since, end}
	var model, act, look []span
	var turns run.Turns
	worked := run.Worked{At: since}
	for _, e := range events {
		worked.Add(e)
		part := turns.Add(e)
		switch data := e.Data.(type) {
		case run.ModelCalled:
			model = append(model, before(e.Time, time.Duration(data.Millis)*time.Millisecond))
		case run.Observed:
			look = append(look, before(e.Time, data.Timing.Total))
			s.Settle += data.Timing.Settle
		case run.Acted:
			if d := part.Deed; d != nil {
				act = append(act, span{d.Began, d.Began.Add(time.Duration(data.Millis) * time.Millisecond)})
			}
		}
	}
	s.Total = worked.Time
	s.Model = covered(whole, model)
	looking := covered(whole, look)
	s.Settle = min(s.Settle, looking)
	s.Look = looking - s.Settle
	s.Act = covered(whole, append(act, look...)) - looking
	s.Other = max(0, s.Total-s.Model-looking-s.Act)
	return s
}

func before(end time.Time, d time.Duration) span { return span{end.Add(-d), end} }

// covered returns how much of a span others cover together.
func covered(whole span, parts []span) (sum time.Duration) {
	parts = slices.Clone(parts)
	slices.SortFunc(parts, func(a, b span) int { return cmp.Compare(a.from.UnixNano(), b.from.UnixNano()) })
	at := whole.from
	for _, p := range parts {
		from, to := p.from, p.to
		if from.Before(at) {
			from = at
		}
		if to.After(whole.to) {
			to = whole.to
		}
		if to.After(from) {
			sum += to.Sub(from)
			at = to
		}
	}
	return sum
}
