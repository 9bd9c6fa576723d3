package monitor

import (
	"slices"
	"unicode/utf8"

	"desktop-agent/actuator"
)

// How much a turn counts that led nowhere: of what was tried without an effect, and of what
// only let time pass, did what need not show, or was one of a circle.
const (
	whole = 3
	part  = 2
)

// Stuck returns the turns at the end of a run that led nowhere, if they are so many that the
// run is stuck, and else nil. screen is the name of the screen now. A turn that only let
// time pass, or did what need not show, counts two thirds, and so does one that went in a
// circle. Any other after which the screen was another had an effect, whatever did that,
// unless it was refused.
func Stuck(turns []Turn, screen string, lim *Limits) []Turn {
	l := lim.orDefaults()
	steps := turns
	if slices.ContainsFunc(turns, withheld) {
		steps = slices.DeleteFunc(slices.Clone(turns), withheld)
	}
	weight, after := 0, screen
	for i, t := range slices.Backward(steps) {
		w := weigh(t, t.Screen != "" && t.Screen == after, steps[:i])
		if w == 0 && (returns(steps, i, after, l.Reach) || circles(steps, i, l.Reach)) {
			w = part
		}
		if w == 0 {
			return nil
		}
		if weight += w; weight >= whole*l.Stuck {
			return steps[i:]
		}
		after = t.Screen
	}
	return nil
}

func withheld(t Turn) bool { return t.Withheld }

// returns reports whether a turn led back to a screen that was there before, named after,
// and brought nothing: it did what was done on its screen before, or what leaves nothing but
// a screen.
func returns(steps []Turn, i int, after string, reach int) bool {
	t := steps[i]
	back := after != "" && after != t.Screen && slices.ContainsFunc(steps[:i], func(s Turn) bool { return s.Screen == after })
	return back && (traceless(steps, i, i+1) || slices.ContainsFunc(steps[:i], func(s Turn) bool {
		return t.Screen != "" && s.Screen == t.Screen && Same(s.Actions, t.Actions, reach)
	}))
}

// circles reports whether a turn began a circle: two or three turns later its screen was
// there once more, and the same was done, or nothing that leaves more than a screen.
func circles(steps []Turn, i, reach int) bool {
	t := steps[i]
	there := func(s Turn) bool { return s.Screen == t.Screen }
	for end := i + 2; t.Screen != "" && end <= i+3 && end < len(steps); end++ {
		if there(steps[end]) && !slices.ContainsFunc(steps[i+1:end], there) && (Same(t.Actions, steps[end].Actions, reach) || traceless(steps, i, end)) {
			return true
		}
	}
	return false
}

// traceless reports whether all that came of some turns is a screen: nothing was entered,
// noted or asked, and the plan stood still. Who types another text each time may fill in a
// form that is empty again once it is sent.
func traceless(steps []Turn, from, to int) bool {
	if to < len(steps) && steps[to].ProgressStep != steps[from].ProgressStep {
		return false
	}
	return !slices.ContainsFunc(steps[from:to], func(t Turn) bool { return slices.ContainsFunc(t.Actions, leaves) })
}

// leaves reports whether an action may leave more than is to be seen.
func leaves(a actuator.Action) bool {
	_, enters := actuator.Entered(a)
	press, ok := a.(actuator.Press)
	writes := ok && len(press.Keys) == 1 && utf8.RuneCountInString(string(press.Keys[0])) == 1
	kind := actuator.KindOf(a)
	return enters || writes || kind != actuator.Input && kind != actuator.Pause
}

// weigh tells how much a turn counts as one without an effect; 0 if it had one. still says
// whether the screen was the same after it.
func weigh(t Turn, still bool, before []Turn) int {
	tried, effect := outcome(t)
	switch {
	case effect:
		return 0
	case tried:
		return whole
	case !still || t.Answered && !asked(t, before):
		return 0
	case len(t.Statuses) > 0:
		return part
	}
	return whole
}

// asked reports whether a question was asked before.
func asked(t Turn, before []Turn) bool {
	return slices.ContainsFunc(before, func(b Turn) bool { return slices.EqualFunc(b.Actions, t.Actions, actuator.Same) })
}

// A Watch says when the monitor is asked about what the detectors notice, which go on
// saying it: at once when trouble begins; after an objection, once it had time to help;
// and after a look that found nothing wrong, when the trouble has doubled. The zero
// value is ready to use.
type Watch struct {
	asked    int // the step in which the monitor was asked about this trouble; 0 if it was not
	objected bool
	counts   map[Kind]int // what was noticed then
	failed   int          // objections to this trouble that did not help
}

// Fresh returns the signals that the monitor is to be asked about in a step.
func (w *Watch) Fresh(step int, signals []Signal, lim *Limits) []Signal {
	signals = slices.DeleteFunc(slices.Clone(signals), func(s Signal) bool { return s.Kind == LowBudget })
	switch {
	case len(signals) == 0: // the trouble is over
		*w = Watch{}
		return nil
	case w.asked == 0 || w.objected && step-w.asked >= lim.orDefaults().Again:
		return signals
	case w.objected:
		return nil
	}
	return slices.DeleteFunc(signals, func(s Signal) bool { return s.Count < 2*w.counts[s.Kind] })
}

// Asked notes that the monitor was asked in a step, and whether it objected.
func (w *Watch) Asked(step int, signals []Signal, objected bool) {
	w.asked, w.objected, w.counts = step, objected, map[Kind]int{}
	for _, s := range signals {
		w.counts[s.Kind] = s.Count
	}
	switch {
	case !objected:
		w.failed = 0
	case slices.ContainsFunc(signals, func(s Signal) bool { return s.Kind != LowBudget && s.Kind != NoProgress }):
		w.failed++
	}
}

// Exhausted reports whether so many objections did not help that to ask once more is
// of no use. A plan that does not go on is no such trouble: its steps are coarse.
func (w *Watch) Exhausted(lim *Limits) bool { return w.failed >= lim.orDefaults().Objections }
