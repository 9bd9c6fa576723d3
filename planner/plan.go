// Package planner makes, checks, prints and revises the suggestive plan: a few
// coarse exploration goals that advise the actor and never bind it.
//
// A [Planner] asks a model; all that a model answers is cleaned, checked by
// [Plan.Validate] and put together by code. What is completed stays as it is
// through every revision, and [Plan.Complete] is the only way to complete it.
package planner

import "time"

// Version is the version of the JSON form of a [Plan].
const Version = 1

// A Plan is an ordered list of exploration goals. The steps that are final come
// first; the one after them is the current one. One goroutine owns a plan;
// others get a [Plan.Clone].
type Plan struct {
	Version   int        `json:"version"` // of this format: [Version]
	Task      string     `json:"task"`    // the instruction, as given
	Steps     []Step     `json:"steps"`
	Fallback  bool       `json:"fallback"`  // made without a model, because its answers were not valid
	Revisions []Revision `json:"revisions"` // applied changes, oldest first
	CreatedAt time.Time  `json:"created_at"`
}

// A Step is one exploration goal. It names what to reach, never how.
type Step struct {
	ID        string    `json:"id"`        // "s1", "s2", …; stays the same through revisions, never used again
	Goal      string    `json:"goal"`      // begins with Explore, Navigate to, Find, Discover or Locate
	DoneWhen  string    `json:"done_when"` // what can be seen on the screen once it is reached
	Status    Status    `json:"status"`
	StartedAt time.Time `json:"started_at,omitzero"` // of the frame at which it became the current step; only later ones complete it
	Evidence  *Evidence `json:"evidence"`            // of a completed step
}

// A Status is the state of a step.
type Status string

// The states of a step. Completed and Skipped are final.
const (
	Pending   Status = "pending"
	Running   Status = "running" // the current step
	Completed Status = "completed"
	Skipped   Status = "skipped"
)

// Final reports whether a step of this status stays as it is.
func (s Status) Final() bool { return s == Completed || s == Skipped }

// Evidence is what was seen on the screen that completed a step.
type Evidence struct {
	FrameID string    `json:"frame_id"`
	At      time.Time `json:"at,omitzero"` // when the frame was taken
	Quote   string    `json:"quote"`       // text that the screen showed, or a description where the program tells no text
	Source  string    `json:"source"`      // where the quote was found: [SourceWindow], [SourceTree] or [SourceImage]
}

// The sources of evidence.
const (
	SourceWindow = "window" // the title of a window
	SourceTree   = "tree"   // the accessibility tree
	SourceImage  = "image"  // only the picture: the program exposes no text that could be checked
)

// A Revision records one change of the plan.
type Revision struct {
	Number   int       `json:"number"` // from 1
	Source   string    `json:"source"` // who asked: "monitor", "worldmodel", "regeneration", "goal_check"
	Guidance string    `json:"guidance"`
	Changes  []Change  `json:"changes"`
	At       time.Time `json:"at"`
}

// A Change is one step that a revision added, changed, moved or removed.
type Change struct {
	Type string `json:"type"` // "added", "updated", "moved" or "removed"
	Old  *Step  `json:"old"`  // nil if added
	New  *Step  `json:"new"`  // nil if removed
}
