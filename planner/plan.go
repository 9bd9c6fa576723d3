// Package planner makes, checks, prints and revises the suggestive plan: a few
// coarse exploration goals that advise the actor and never bind it.
//
// A [Planner] asks a model; all that a model answers is cleaned, checked by
// [Plan.Validate] and put together by code. What is completed stays as it is
// through every revision, and [Plan.Complete] is the only way to complete it.
package planner

import (
	"slices"
	"time"
)

// Version is the version of a [Plan], which is written with it. Plans of version 1 were
// suggestive, and have steps of the executor [GUI] alone; all else in them is as here.
const Version = 2

// A Plan is what is to be reached, in steps. In a suggestive plan these are exploration
// goals in one order: the steps that are final come first; the one after them is the
// current one. In a deliberate plan each step names who does it and what it needs, and
// steps that need nothing of each other may be done at the same time. One goroutine owns a
// plan; others get a [Plan.Clone].
type Plan struct {
	Version   int    // of what a plan says: [Version], or 1
	Mode      Mode   // [Suggestive] if ""
	ID        string // unique among the plans of a run; "" of a plan of version 1
	Task      string // the instruction, as given
	Steps     []Step
	Fallback  bool       // made without a model, because its answers were not valid
	Dropped   []Dropped  // steps that were left out before the plan stood in a prompt, oldest first
	Revisions []Revision // applied changes, oldest first
	CreatedAt time.Time

	// Of deliberate plans:
	Goal        string     // what is reached at the end, in the words of who made the plan
	Success     string     // how that is known
	Direct      string     // the answer, if the task needs no plan and no deed
	Complexity  Complexity // as it was judged
	Constraints []string   // what holds for all steps
	Milestones  []string
	Risks       []string
	Tokens      int // estimated for all steps; 0 if not
	State       PlanState
	Reason      string    // why it failed, such as "rejected" or "aborted"; "" if it did not
	StartedAt   time.Time // zero before
	EndedAt     time.Time // zero before
}

// A Mode is how a plan is meant.
type Mode string

// The modes.
const (
	Suggestive Mode = "suggestive" // it advises the actor, in the prompt, and binds nobody
	Deliberate Mode = "deliberate" // its steps are executed, in the order that their needs leave
)

// A Complexity is how much a task is.
type Complexity string

// The complexities, with the number of steps that plans of them have.
const (
	Simple  Complexity = "simple"  // 1 to 3
	Medium  Complexity = "medium"  // 5 to 9
	Complex Complexity = "complex" // 8 to 15
)

// A PlanState is where the execution of a deliberate plan stands.
type PlanState string

// The states of a plan.
const (
	PlanCreated   PlanState = "created"
	PlanRunning   PlanState = "running"
	PlanCompleted PlanState = "completed"
	PlanFailed    PlanState = "failed"
)

// A Step is one goal. It names what to reach, never how.
type Step struct {
	ID        string     // "s1", "s2", …; stays the same through revisions, never used again
	Goal      string     // of a gui step: begins with Explore, Navigate to, Find, Discover or Locate
	DoneWhen  string     // what can be seen once it is reached: of a gui step on the screen, of others in their result
	Predicate *Predicate // the same for code to evaluate; nil where it cannot
	Status    Status
	StartedAt time.Time // of the frame at which it became the current step; only later ones complete it
	Evidence  *Evidence // of a completed step

	// Of deliberate plans:
	Executor   Executor // [GUI] if ""
	Action     string   // the tool, or the profile of the agent; "" of the other executors
	Parameters string   // of the tool, a JSON object; "" if they are found out when the step begins, by what it needs gave
	Needs      []string // IDs of the steps that must be final before
	Parallel   bool     // it may be done beside others that are ready
	Fallback   string   // what to try when it fails: another way in words, or the name of another tool that takes the same parameters; "" for nothing
	Tokens     int      // estimated; 0 if not
	Attempts   int      // so far
	Error      string   // of the last attempt, if that failed
	Result     *Result  // of a step that was executed
	Sub        *Plan    // that it was decomposed into; nil if it was not
}

// An Executor is who does a step.
type Executor string

// The executors.
const (
	GUI   Executor = "gui"   // an episode of the loop, on the screen
	Tool  Executor = "tool"  // one call of a tool
	Agent Executor = "agent" // an agent of its own, on a display of its own or none
	Self  Executor = "self"  // the model alone
)

// OnScreen reports whether a step is done on the display of who executes its plan, or one
// of a plan within it is.
func (s *Step) OnScreen() bool { return s.Executor != Agent && s.onScreen() }

func (s *Step) onScreen() bool {
	if s.Sub != nil {
		return slices.ContainsFunc(s.Sub.Steps, func(inner Step) bool { return inner.OnScreen() })
	}
	return s.Executor == GUI || s.Executor == ""
}

// A Result is what a step gave.
type Result struct {
	Output string // data, whoever wrote it
	Data   string // the same as JSON; "" if there is none
	At     time.Time
}

// A Dropped is a step that a model wrote and that was left out: something that the
// screen says demands it, and not the task.
type Dropped struct{ Goal, DoneWhen, Why string }

// A Status is the state of a step.
type Status string

// The states of a step. Completed, Passed, Skipped and Failed are final.
const (
	Pending   Status = "pending"
	Running   Status = "running" // the current step, or one that is being executed
	Completed Status = "completed"
	Passed    Status = "passed" // not seen itself: a later step was
	Skipped   Status = "skipped"
	Failed    Status = "failed"
	Blocked   Status = "blocked" // pending, and what it needs is not final
	Revised   Status = "revised" // of the old version of a step in a [Change] alone
)

// Final reports whether a step of this status stays as it is.
func (s Status) Final() bool { return s == Completed || s == Passed || s == Skipped || s == Failed }

// Evidence is what completed a step: what was seen on the screen, or what its result has.
type Evidence struct {
	FrameID string
	At      time.Time // when the frame was taken
	Quote   string    // text that the screen showed, or a description where the program tells no text
	Source  string    // where the quote was found: [SourceWindow], [SourceTree], [SourceOCR], [SourceImage], [SourceResult], or [SourcePredicate]
	Grade   Grade     // how well it is known; "" where that was not recorded
}

// A Grade says how well something is known.
type Grade string

// The grades, from the best.
const (
	// Proved: a predicate holds, or code has seen it in what a program tells, where it
	// should be, and it was not there before.
	Proved Grade = "proved"
	// Read: only the picture has it, and code has read it there too.
	Read Grade = "read"
	// Claimed: a model says so, and code can neither prove it nor tell that it is
	// wrong.
	Claimed Grade = "claimed"
)

// Known reports whether it is more than a model's word.
func (g Grade) Known() bool { return g == Proved || g == Read }

// The sources of evidence.
const (
	SourceWindow = "window" // the title of a window
	SourceTree   = "tree"   // the accessibility tree
	SourceOCR    = "ocr"    // the picture, as code has read it
	SourceResult = "result" // what a tool answered
	SourceImage  = "image"  // only the picture: by a model's word, or transcribed from it
	// The step's predicate, as code evaluated it; the quote says it in words.
	SourcePredicate = "predicate"
)

// A Revision records one change of the plan.
type Revision struct {
	Number   int    // from 1
	Source   string // who asked: "monitor", "worldmodel", "regeneration", "goal_check", "reflection", "user", "budget"
	Guidance string
	Changes  []Change
	At       time.Time

	// Of deliberate plans:
	Trigger  Trigger
	Strategy Strategy
}

// A Trigger is what calls for a revision.
type Trigger string

// The triggers.
const (
	StepFailure      Trigger = "step_failure" // of a step and of its fallback
	UnexpectedResult Trigger = "unexpected_result"
	NewInformation   Trigger = "new_information"
	UserRequest      Trigger = "user_request"
	TokenBudget      Trigger = "token_budget"
	Advice           Trigger = "guidance" // of the monitor or the world model
)

// A Strategy is what a revision does.
type Strategy string

// The strategies.
const (
	ReplanRemaining Strategy = "replan_remaining"
	InsertRecovery  Strategy = "insert_recovery"
	SkipAndContinue Strategy = "skip_and_continue"
	Abort           Strategy = "abort"
	AskUser         Strategy = "ask_user"
)

// A Change is one step that a revision added, changed, moved or removed.
type Change struct {
	Type string // "added", "updated", "moved" or "removed"
	Old  *Step  // nil if added
	New  *Step  // nil if removed
}
