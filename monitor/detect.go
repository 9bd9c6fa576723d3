package monitor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"desktop-agent/actuator"
)

// A Turn is what the detectors know of one turn of the actor.
type Turn struct {
	Step         int
	Actions      []actuator.Action // what was proposed; none if the reply was no action
	Screen       string            // the name of the screen on which it was proposed, from [Screens.Name]; "" if unknown
	Statuses     []actuator.Status // what became of each action that was tried; none of a proposal
	ProgressStep int               // of the plan then; 0 without a plan
	Withheld     bool              // it was objected to, so that nothing of it was done
	Answered     bool              // the user answered a question
	Missed       bool              // what the guard foresaw of the actions before did not come
}

// BudgetLeft is the part of each budget that is left, from 1 to 0, by the name
// of the budget, such as "steps".
type BudgetLeft map[string]float64

// Limits are the thresholds of the detectors; what is zero takes the default.
//
// A detector that counts fires when its count reaches the threshold, and goes on
// firing as long as the trouble lasts. A [Watch] says when the monitor is asked about
// it again.
type Limits struct {
	Repeats    int     // times the same actions are proposed on the same screen, in a row; 2. Not in a row it takes one more
	Window     int     // turns in which repetitions are looked for; 8
	SameScreen int     // turns in a row that begin on the same screen; 4
	Alternate  int     // turns in a row that go back and forth between two screens; 4
	NoEffect   int     // turns in a row whose actions had no effect; 3
	NoProgress int     // turns in a row on the same step of the plan; 10
	LowBudget  float64 // part of a budget that is low; 0.15
	Reach      int     // pixels of the image, across or down, by which two points may differ and be the same place; 30
	Again      int     // steps until the monitor is asked again about a trouble to which it has objected; 4
	Stuck      int     // turns in a row that led nowhere and end a run; those that only wait, or go in a circle, count two thirds; 8
	Objections int     // objections of the monitor that did not help, and end a run when it is to be asked once more; 4
}

// DefaultLimits are the thresholds that hold where no others are set.
var DefaultLimits = Limits{Repeats: 2, Window: 8, SameScreen: 4, Alternate: 4, NoEffect: 3, NoProgress: 10, LowBudget: 0.15,
	Reach: 30, Again: 4, Stuck: 8, Objections: 4}

func (l *Limits) orDefaults() Limits {
	if l == nil {
		return DefaultLimits
	}
	return Limits{
		Repeats:    cmp.Or(l.Repeats, DefaultLimits.Repeats),
		Window:     cmp.Or(l.Window, DefaultLimits.Window),
		SameScreen: cmp.Or(l.SameScreen, DefaultLimits.SameScreen),
		Alternate:  cmp.Or(l.Alternate, DefaultLimits.Alternate),
		NoEffect:   cmp.Or(l.NoEffect, DefaultLimits.NoEffect),
		NoProgress: cmp.Or(l.NoProgress, DefaultLimits.NoProgress),
		LowBudget:  cmp.Or(l.LowBudget, DefaultLimits.LowBudget),
		Reach:      cmp.Or(l.Reach, DefaultLimits.Reach),
		Again:      cmp.Or(l.Again, DefaultLimits.Again),
		Stuck:      cmp.Or(l.Stuck, DefaultLimits.Stuck),
		Objections: cmp.Or(l.Objections, DefaultLimits.Objections),
	}
}

// Detect returns what the newest turn shows together with those before it. That is
// usually a proposal that was not performed yet; one without actions stands for a look
// before anything is proposed. Turns are in order, oldest first; lim may be nil. The
// same arguments give the same signals.
func Detect(turns []Turn, left BudgetLeft, lim *Limits) (signals []Signal) {
	l := lim.orDefaults()
	add := func(kind Kind, count, threshold int, format string, args ...any) {
		if count >= threshold {
			signals = append(signals, Signal{Kind: kind, Detail: fmt.Sprintf(format, args...), Count: count})
		}
	}
	if len(turns) > 0 {
		n := repeats(turns, l)
		add(RepeatedAction, n, 1, "the same action has been proposed %d times on the same screen", n)
		steps := chosen(turns)
		n = sameScreens(steps)
		add(SameScreen, n, l.SameScreen, "the screen has looked the same in the last %d turns", n)
		n = alternations(steps)
		add(BackAndForth, n, l.Alternate, "the last %d turns went back and forth between two screens", n)
		n = effectless(steps)
		add(NoEffect, n, l.NoEffect, "the actions of the last %d turns had no effect", n)
		n = stalled(steps)
		add(NoProgress, n, l.NoProgress, "the last %d turns made no progress beyond step %d of the plan", n, turns[len(turns)-1].ProgressStep)
	}
	if len(turns) > 0 && turns[len(turns)-1].Missed {
		add(Missed, 1, 1, "what was foreseen of the last action did not come")
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		if left[name] <= l.LowBudget {
			signals = append(signals, Signal{Kind: LowBudget, Detail: fmt.Sprintf("%.0f %% of the budget of %s is left", 100*max(0, left[name]), name)})
		}
	}
	return signals
}

// chosen leaves out proposals in whose place another was made: what counts steps
// counts each once. The newest stays.
func chosen(turns []Turn) (list []Turn) {
	if !slices.ContainsFunc(turns[:max(0, len(turns)-1)], withheld) {
		return turns
	}
	for i, t := range turns {
		if !t.Withheld || i == len(turns)-1 {
			list = append(list, t)
		}
	}
	return list
}

// repeats returns how often the newest actions were proposed on the newest
// screen, this time included, if that is too often, and else 0. What was
// proposed but not performed, because the desktop had changed, does not count:
// to propose it again is right. What was refused or withheld does. Of a look, the
// actions of the turn before it count.
func repeats(turns []Turn, l Limits) int {
	last := len(turns) - 1
	if len(turns[last].Actions) == 0 && last > 0 && turns[last-1].Screen == turns[last].Screen && performed(turns[last-1]) {
		last--
	}
	newest := turns[last]
	if newest.Screen == "" || idle(newest.Actions) {
		return 0
	}
	row, all, unbroken := 1, 1, true
	for _, t := range slices.Backward(turns[max(0, last+1-l.Window):last]) {
		if t.Screen != newest.Screen || !Same(t.Actions, newest.Actions, l.Reach) || !performed(t) {
			unbroken = false
			continue
		}
		all++
		if unbroken {
			row++
		}
	}
	if row >= l.Repeats || all > l.Repeats {
		return all
	}
	return 0
}

// performed reports whether something became of a turn: input was tried, the agent was
// asked for something, or it was withheld.
func performed(t Turn) bool {
	if t.Withheld || len(t.Statuses) > 0 || len(t.Actions) == 0 {
		return t.Withheld || len(t.Statuses) > 0
	}
	return actuator.ForAgent(t.Actions[0])
}

// idle reports whether actions only let time pass: doing that again is fine.
func idle(actions []actuator.Action) bool {
	for _, a := range actions {
		if actuator.KindOf(a) != actuator.Pause {
			return false
		}
	}
	return true
}

// sameScreens returns how many turns in a row began on the newest screen.
func sameScreens(turns []Turn) int {
	newest := turns[len(turns)-1]
	if newest.Screen == "" {
		return 0
	}
	return trailing(turns, func(t Turn) bool { return t.Screen == newest.Screen })
}

// alternations returns how many turns in a row went back and forth between the
// same two screens.
func alternations(turns []Turn) int {
	n := len(turns)
	if n < 2 || turns[n-1].Screen == "" || turns[n-2].Screen == "" || turns[n-1].Screen == turns[n-2].Screen {
		return 0
	}
	count := 2
	for i := n - 3; i >= 0 && turns[i].Screen == turns[i+2].Screen; i-- {
		count++
	}
	return count
}

// effectless returns how many turns in a row, up to the last one that was
// performed, tried something that should show and had no effect by anything.
// Turns that only tried what need not show, such as waiting, do not count and
// do not break the row, but a row that ends with one was counted before.
func effectless(turns []Turn) (count int) {
	for _, t := range slices.Backward(turns) {
		if len(t.Statuses) == 0 {
			continue
		}
		tried, effect := outcome(t)
		if effect || !tried && count == 0 {
			break
		}
		if tried {
			count++
		}
	}
	return count
}

// outcome tells whether a turn tried something that should show, and whether
// anything of it may have had an effect.
func outcome(t Turn) (tried, effect bool) {
	for i, status := range t.Statuses {
		if i < len(t.Actions) && !actuator.Shows(t.Actions[i]) {
			continue
		}
		tried = true
		if status != actuator.NoEffect && status != actuator.Refused {
			effect = true
		}
	}
	return tried, effect
}

// stalled returns how many turns in a row were on the newest step of the plan.
func stalled(turns []Turn) int {
	newest := turns[len(turns)-1]
	if newest.ProgressStep == 0 {
		return 0
	}
	return trailing(turns, func(t Turn) bool { return t.ProgressStep == newest.ProgressStep })
}

// trailing returns how many turns at the end fulfil a condition.
func trailing(turns []Turn, holds func(Turn) bool) (count int) {
	for _, t := range slices.Backward(turns) {
		if !holds(t) {
			break
		}
		count++
	}
	return count
}
