// Package worldmodel asks a model what the last action changed on the screen
// and how far the plan has come, and decides by code what of its answer counts.
package worldmodel

// An Assessment is the world model's reading of a fresh observation. It is a
// claim; [Verify] decides what of it counts.
type Assessment struct {
	Changed      string  `json:"changed" jsonschema:"what changed on the screen since the previous observation, in one sentence"`
	AsExpected   Outcome `json:"as_expected" jsonschema:"whether the expected effect is visible: yes, no, or unclear"`
	ProgressStep int     `json:"progress_step" jsonschema:"the number of the plan step to work on now: the current number, or the next one if the current step's condition is visible on this screen"`
	Evidence     string  `json:"evidence" jsonschema:"if the current step's condition is visible: the text on the screen that shows it, quoted letter by letter; otherwise empty"`
	Guidance     *string `json:"guidance" jsonschema:"advice to the actor if something fundamental is wrong, otherwise null"`
}

// An Outcome compares a prediction with what came.
type Outcome string

// The outcomes of a prediction.
const (
	Yes     Outcome = "yes"
	No      Outcome = "no"
	Unclear Outcome = "unclear"
)
