package worldmodel

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"desktop-agent/planner"
	"desktop-agent/screen"
)

// Progress decides whether an assessment completes the current step of a plan,
// and returns the evidence for [planner.Plan.Complete], or nil. Why says it in
// words, either way.
//
// Only the number after the current step's counts as a claim; any other changes
// nothing, so that progress never goes back and never skips. The claim holds if
// its evidence is on the fresh observation, which must be newer than the step
// and must not have completed another. Where the focused program tells no text
// at all, the evidence cannot be looked up: it is accepted with the source
// "image", on the model's word.
func Progress(plan *planner.Plan, a *Assessment, now *screen.Observation) (ev *planner.Evidence, why string) {
	switch {
	case plan == nil:
		return nil, "there is no plan"
	case a == nil:
		return nil, "the screen was not assessed"
	}
	n, step := plan.ProgressStep(), plan.Current()
	switch {
	case step == nil:
		return nil, fmt.Sprintf("all %d steps are completed", len(plan.Steps))
	case a.ProgressStep == n:
		return nil, fmt.Sprintf("step %d goes on: its condition is not visible yet", n)
	case a.ProgressStep < n:
		return nil, fmt.Sprintf("step %d goes on: the world model named step %d, but progress never goes back", n, a.ProgressStep)
	case a.ProgressStep > n+1:
		return nil, fmt.Sprintf("step %d goes on: the world model named step %d, but progress is one step at a time", n, a.ProgressStep)
	}
	source, problem := lookUp(a.Evidence, now)
	if problem != "" {
		return nil, fmt.Sprintf("step %d goes on: %s", n, problem)
	}
	ev = &planner.Evidence{FrameID: now.FrameID, At: now.At, Quote: strings.TrimSpace(a.Evidence), Source: source}
	if err := plan.Clone().Complete(*ev); err != nil {
		return nil, fmt.Sprintf("step %d goes on: %v", n, err)
	}
	return ev, fmt.Sprintf("step %d is completed: %s", n, where(ev.Quote, source))
}

// Confirmed decides whether a goal check shows that the task is done: only if
// its evidence is on the observation, looked up as [Progress] does. Why is for
// the actor to read if it is not.
func Confirmed(check *GoalCheck, now *screen.Observation) (ok bool, why string) {
	if check == nil {
		return false, "the goal could not be checked; look at the result once more and say again that the task is done"
	}
	if !check.Shown {
		if strings.TrimSpace(check.Missing) == "" {
			return false, "the screen does not show that the task is done; make its effect visible"
		}
		return false, check.Missing
	}
	source, problem := lookUp(check.Evidence, now)
	if problem != "" {
		return false, problem + "; make the effect of the task visible on the screen"
	}
	return true, where(check.Evidence, source)
}

// lookUp searches for a quote on an observation. It returns where it was found,
// or what is wrong with it.
func lookUp(quote string, now *screen.Observation) (source, problem string) {
	if !strings.ContainsFunc(quote, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsSymbol(r) }) {
		return "", "no evidence was quoted"
	}
	if source, ok := now.Find(strings.TrimSpace(quote)); ok {
		return source, ""
	}
	if name, hung := hungInFront(now); hung {
		return "", fmt.Sprintf("the quoted evidence %q cannot be looked up, because %s did not answer in time", short(quote), name)
	}
	if blind(now) {
		return planner.SourceImage, ""
	}
	return "", fmt.Sprintf("the quoted evidence %q is not on the screen", short(quote))
}

// blind reports whether the text of an observation says nothing of what is in
// front: the focused window's program exposes no node, or, without a focused
// window, no program does. A program is told by its process; where that is not
// known, by nodes that lie within the window.
func blind(o *screen.Observation) bool {
	o = o.Told() // what was read from the picture may not be all that it shows
	w, ok := o.Focused()
	if !ok {
		return len(o.Tree.Nodes) == 0
	}
	for _, n := range o.Tree.Nodes {
		if w.PID != 0 && n.PID == w.PID || w.PID == 0 && n.Box.In(w.Box) {
			return false
		}
	}
	return true
}

// hungInFront reports whether the focused window belongs to a program that
// exposes a tree but did not answer for this observation.
func hungInFront(o *screen.Observation) (name string, hung bool) {
	w, ok := o.Focused()
	if !ok {
		return "", false
	}
	i := slices.IndexFunc(o.Tree.Hung, func(app string) bool { return app != "" && strings.EqualFold(app, w.Class) })
	if i < 0 {
		return "", false
	}
	return o.Tree.Hung[i], true
}

// where tells a person where evidence was found.
func where(quote, source string) string {
	switch source {
	case planner.SourceWindow:
		return fmt.Sprintf("the title of a window has %q", short(quote))
	case planner.SourceOCR:
		return fmt.Sprintf("the picture shows %q, as read from its pixels", short(quote))
	case planner.SourceImage:
		return fmt.Sprintf("the picture shows %q, by the world model's word: the program tells no text", short(quote))
	}
	return fmt.Sprintf("the screen has %q", short(quote))
}

// short cuts a quote for a sentence.
func short(quote string) string {
	const most = 80
	if r := []rune(quote); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return quote
}
