// Package planner makes, checks, prints and revises the suggestive plan: a few
// coarse exploration goals that advise the actor and never bind it.
package planner

import "time"

// A Plan is an ordered list of exploration goals. One goroutine owns it; others
// get a [Plan.Clone].
type Plan struct {
	Version   int        `json:"version"` // of this format: 1
	Task      string     `json:"task"`    // the instruction, as given
	Steps     []Step     `json:"steps"`
	Fallback  bool       `json:"fallback"`  // made without a model, because its answers were not valid
	Revisions []Revision `json:"revisions"` // applied changes, oldest first
	CreatedAt time.Time  `json:"created_at"`
}

// A Step is one exploration goal. It names what to reach, never how.
type Step struct {
	ID       string    `json:"id"`        // "s1", "s2", …; stays the same through revisions, never used again
	Goal     string    `json:"goal"`      // begins with Explore, Navigate to, Find, Discover or Locate
	DoneWhen string    `json:"done_when"` // what can be seen on the screen once it is reached
	Status   Status    `json:"status"`
	Evidence *Evidence `json:"evidence"` // of a completed step
}

// A Status is the state of a step.
type Status string

// The states of a step. Completed and Skipped are final.
const (
	Pending   Status = "pending"
	Running   Status = "running"
	Completed Status = "completed"
	Skipped   Status = "skipped"
)

// Evidence is what was seen on the screen that completed a step.
type Evidence struct {
	FrameID string `json:"frame_id"`
	Quote   string `json:"quote"`  // text that the screen showed, or a description where the program tells no text
	Source  string `json:"source"` // where the quote was found: "window", "tree" or "image"
}

// A Revision records one change of the plan.
type Revision struct {
	Number   int       `json:"number"`
	Source   string    `json:"source"` // who asked: "monitor", "regeneration", "goal_check"
	Guidance string    `json:"guidance"`
	Changes  []Change  `json:"changes"`
	At       time.Time `json:"at"`
}

// A Change is one step that a revision added, changed or removed.
type Change struct {
	Type string `json:"type"` // "added", "updated" or "removed"
	Old  *Step  `json:"old"`
	New  *Step  `json:"new"`
}
