package worldmodel

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/screen"
)

// A Past is what evidence is held against: what was there before proves nothing of
// what was done since.
type Past struct {
	// Began is the observation at which the current step became current; for the
	// goal, the first of the run. nil: not known, and then nothing is proved.
	Began *screen.Observation
	// First is the first observation of the run; nil: not known.
	First *screen.Observation
	// Typed are the texts that the run has entered, oldest first.
	Typed []string
	// Files is what is known of the files of the run's home.
	Files planner.Files
	// Unsaved says in words what was edited after the run last saved; "" if nothing was,
	// or it never saved.
	Unsaved string
	// Effect is, for the goal, the predicate of the plan's last step; nil for none.
	Effect *planner.Predicate
	// Read is what was transcribed where the quote is said to stand in the picture; nil
	// if nothing was.
	Read *Transcript
}

// State is what a predicate is evaluated on.
func (p Past) State(now *screen.Observation) planner.State {
	return planner.State{Now: now, Before: []*screen.Observation{p.Began, p.First}, Typed: p.Typed, Files: p.Files}
}

// A Finding is what code makes of a quote.
type Finding struct {
	Grade  planner.Grade
	Source string // where it stands: [planner.SourceWindow] and so on
	Why    string // in words for a person, what is known and why not more
}

// Progress decides whether an assessment completes a step of a plan, and returns
// which and the evidence for [planner.Plan.Reach], or nil. Why says it in words,
// either way.
//
// A claim names the step after the one whose condition it says is visible; it never
// goes back. Its quote is looked up on the fresh observation, see [Judge]: what
// contradicts the screen completes nothing, nor does what has completed a step already
// and still stands there; what is proved or read completes that step and passes those before it; a bare claim
// completes the current step alone. Where the step has a predicate that does not hold, a
// quote is no more than a claim: the predicate may be wrong.
func Progress(plan *planner.Plan, a *Assessment, now *screen.Observation, past Past) (step int, ev *planner.Evidence, why string) {
	switch {
	case plan == nil:
		return 0, nil, "there is no plan"
	case a == nil:
		return 0, nil, "the screen was not assessed"
	}
	n, current := plan.ProgressStep(), plan.Current()
	switch {
	case current == nil:
		return 0, nil, fmt.Sprintf("all %d steps are completed", len(plan.Steps))
	case a.ProgressStep == n:
		return 0, nil, fmt.Sprintf("step %d goes on: its condition is not visible yet", n)
	case a.ProgressStep < n:
		return 0, nil, fmt.Sprintf("step %d goes on: the world model named step %d, but progress never goes back", n, a.ProgressStep)
	case a.ProgressStep > len(plan.Steps)+1:
		return 0, nil, fmt.Sprintf("step %d goes on: the world model named step %d of %d", n, a.ProgressStep, len(plan.Steps))
	}
	found, problem := Judge(a.Evidence, now, past)
	if problem == "" && !found.Grade.Known() {
		problem = usedUp(plan, a.Evidence)
	}
	if problem != "" {
		return 0, nil, fmt.Sprintf("step %d goes on: %s", n, problem)
	}
	step = a.ProgressStep - 1
	if p := plan.Steps[step-1].Predicate; p != nil && found.Grade.Known() && !p.Holds(past.State(now)) {
		found.weaken(fmt.Sprintf("the step's predicate does not hold: %s", p))
	}
	if step > n && !found.Grade.Known() {
		return 0, nil, fmt.Sprintf("step %d goes on: the world model named step %d, but progress is one step at a time unless it is proved: %s",
			n, a.ProgressStep, found.Why)
	}
	ev = &planner.Evidence{
		FrameID: now.FrameID, At: now.At, Quote: strings.TrimSpace(a.Evidence), Source: found.Source, Grade: found.Grade,
	}
	if err := plan.Clone().Reach(step, *ev); err != nil {
		return 0, nil, fmt.Sprintf("step %d goes on: %v", n, err)
	}
	return step, ev, fmt.Sprintf("step %d is completed (%s): %s", step, found.Grade, found.Why)
}

// usedUp returns why a quote that is not new cannot complete a step: it has completed
// one; "" if it can.
func usedUp(plan *planner.Plan, quote string) string {
	if n := plan.Quoted(quote); n > 0 && quotable(quote) {
		return fmt.Sprintf("%q has already completed step %d: what shows one step shows no other", short(strings.TrimSpace(quote)), n)
	}
	return ""
}

// Confirmed decides whether a goal check shows that the task is done, and how well
// that is known. Only a check that says so can; one whose quote contradicts the
// screen does not. Why is for the actor to read if it is not confirmed. The predicate of
// the plan's last step, [Past.Effect], says the same as a quote that is proved.
func Confirmed(check *GoalCheck, now *screen.Observation, past Past) (found Finding, ok bool, why string) {
	if check == nil {
		return found, false, "the goal could not be checked; look at the result once more and say again that the task is done"
	}
	if !check.Shown {
		if strings.TrimSpace(check.Missing) == "" {
			return found, false, "the screen does not show that the task is done; make its effect visible"
		}
		return found, false, check.Missing
	}
	found, problem := Judge(check.Evidence, now, past)
	if p := past.Effect; p != nil && found.Grade != planner.Proved && (problem == "" || !quotable(check.Evidence)) && p.Holds(past.State(now)) {
		return Finding{planner.Proved, planner.SourcePredicate, "the effect of the task is there: " + p.String()}, true, "the effect of the task is there: " + p.String()
	}
	if problem != "" {
		return found, false, problem + "; make the effect of the task visible on the screen"
	}
	return found, true, found.Why
}

// Judge looks up a quote that a model gives as evidence, and grades it. problem is
// why it is none: nothing was quoted, what is there says otherwise, or the program
// could not be asked now.
//
//   - [planner.Proved]: it stands in the whole title of a window or in an element
//     that can be seen, that element did not hold it when what is judged began, which is
//     known, and it is not only what the run itself has typed into a field;
//   - [planner.Read]: only the picture has it, and code has read it there, or somebody
//     who was not told what it is ([Past.Read]), and it did not look so when it began;
//   - [planner.Claimed]: neither.
func Judge(quote string, now *screen.Observation, past Past) (found Finding, problem string) {
	quote = strings.TrimSpace(quote)
	if !quotable(quote) {
		return found, "no evidence was quoted"
	}
	list := now.Findings(quote)
	if len(list) == 0 {
		if name, hung := hungInFront(now); hung {
			return found, fmt.Sprintf("the quoted evidence %q cannot be looked up, because %s did not answer in time", short(quote), name)
		}
		why := fmt.Sprintf("%q is not in what the programs tell; that the picture shows it is the world model's word", short(quote))
		if blind(now) {
			why = fmt.Sprintf("the picture shows %q, by the world model's word: the program tells no text", short(quote))
		}
		found = Finding{planner.Claimed, planner.SourceImage, why}
		if past.Read != nil {
			judgeTranscript(quote, past.Read, &found)
		}
		return found, ""
	}
	if title, changed := unsaved(quote, list, now); changed {
		return found, fmt.Sprintf("the title of the window is %q: its mark says that something is not saved", short(title))
	}
	best := weigh(list[0], quote, now, past)
	for _, f := range list[1:] {
		if other := weigh(f, quote, now, past); rank(other.Grade) > rank(best.Grade) {
			best = other
		}
	}
	return best, ""
}

// quotable reports whether a quote says anything.
func quotable(quote string) bool {
	return strings.ContainsFunc(quote, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsSymbol(r) })
}

func rank(g planner.Grade) int {
	return slices.Index([]planner.Grade{planner.Claimed, planner.Read, planner.Proved}, g)
}

// weigh grades one finding.
func weigh(f screen.Finding, quote string, now *screen.Observation, past Past) Finding {
	if f.Window >= 0 {
		return weighTitle(f, quote, now, past)
	}
	n := now.Tree.Nodes[f.Node]
	out := Finding{planner.Proved, planner.SourceTree, fmt.Sprintf("the screen has %q", short(quote))}
	if n.Read {
		out = Finding{planner.Read, planner.SourceOCR, fmt.Sprintf("the picture shows %q, as read from it", short(quote))}
	}
	switch {
	case past.Began == nil:
		out.weaken("what was there before is not known")
	case past.Began.Lacks(n, now) != "":
		out.weaken("what was there before is not known: " + past.Began.Lacks(n, now))
	case switched(f.Node, now, past.Began) != "":
		out.Why += ", which was switched: it is " + switched(f.Node, now, past.Began) + " now"
	case stoodThere(f, quote, now, past.Began):
		out.weaken("it stood there from the start")
	case onlyTyped(now, f.Node, quote, past.Typed):
		out.weaken("it is what the agent itself typed into that field, which nothing has taken yet")
	}
	return out
}

// weaken makes it a claim, and says why.
func (f *Finding) weaken(why string) {
	f.Grade = planner.Claimed
	f.Why += ", but " + why
}

// weighTitle grades what stands in the title of a window: titles are compared whole.
func weighTitle(f screen.Finding, quote string, now *screen.Observation, past Past) Finding {
	title := now.Windows[f.Window].Title
	out := Finding{planner.Proved, planner.SourceWindow, fmt.Sprintf("the title of a window has %q", short(quote))}
	switch {
	case !f.Whole:
		out.weaken(fmt.Sprintf("it is only a part of the title %q", short(title)))
	case past.Began == nil:
		out.weaken("what was there before is not known")
	case slices.ContainsFunc(past.Began.Windows, func(w screen.Window) bool { return w.Title == title }):
		out.weaken("it stood there from the start")
	case past.Unsaved != "":
		out.weaken(past.Unsaved)
	}
	return out
}

// stoodThere reports whether the element of a finding held the quote already.
func stoodThere(f screen.Finding, quote string, now, began *screen.Observation) bool {
	same := screen.Match(began.Tree.Nodes, now.Tree.Nodes)[f.Node]
	return slices.ContainsFunc(began.Findings(quote), func(was screen.Finding) bool {
		if was.Node < 0 {
			return false
		}
		// A program that makes new objects for a new look has the same words in the
		// same kind of element.
		return was.Node == same || same < 0 && began.Tree.Nodes[was.Node].Role == now.Tree.Nodes[f.Node].Role
	})
}

// switched says how an element has been switched since an observation; "" if it has not, or
// was not there.
func switched(node int, now, began *screen.Observation) string {
	was := screen.Match(began.Tree.Nodes, now.Tree.Nodes)[node]
	if was < 0 {
		return ""
	}
	for _, state := range []string{"checked", "pressed"} {
		switch before, after := began.Tree.Nodes[was].Has(state), now.Tree.Nodes[node].Has(state); {
		case after && !before:
			return state
		case before && !after:
			return "not " + state
		}
	}
	return ""
}

// onlyTyped reports whether a node is a field of one line that holds the quote
// because the run typed it: that shows what was entered, not what came of it.
// Documents and cells are what one types into.
func onlyTyped(o *screen.Observation, node int, quote string, typed []string) bool {
	return o.IsField(node) && slices.ContainsFunc(typed, func(t string) bool { return strings.Contains(t, quote) })
}

// unsaved reports whether a quote is the title of a window but for the mark of
// unsaved changes ([screen.Unmarked]), which the title has.
func unsaved(quote string, list []screen.Finding, now *screen.Observation) (title string, changed bool) {
	for _, f := range list {
		if f.Window < 0 || f.Whole {
			continue
		}
		title = strings.TrimSpace(now.Windows[f.Window].Title)
		if name, marked := screen.Unmarked(title); marked && name == quote {
			return title, true
		}
	}
	return "", false
}

// blind reports whether the text of an observation says nothing of what is in
// front: no node tells what is in the focused window ([screen.Observation.NodesIn]), or,
// without one, what is in any.
func blind(o *screen.Observation) bool {
	if i := screen.FocusedWindow(o.Windows); i >= 0 {
		return len(o.NodesIn(i)) == 0
	}
	for _, n := range o.Tree.Nodes {
		if n.Parent >= 0 && !n.Read {
			return false
		}
	}
	return true
}

// hungInFront reports whether the focused window belongs to a program that
// exposes a tree but did not answer for this observation. It is told by its process: what
// it calls itself and what its windows are called may have nothing in common.
func hungInFront(o *screen.Observation) (name string, hung bool) {
	w, ok := o.Focused()
	if !ok {
		return "", false
	}
	return o.Tree.Hanging(w.PID)
}

// short cuts a quote for a sentence.
func short(quote string) string {
	return llm.Excerpt(quote, 80)
}
