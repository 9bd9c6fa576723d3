package worldmodel

import "image"

// An Assessment is the world model's reading of a fresh observation. It is a
// claim; [Progress] decides what of it counts.
type Assessment struct {
	Changed      string  `json:"changed" jsonschema:"what is different on the screen from before the actions, in one sentence; 'nothing' if nothing is"`
	AsExpected   Outcome `json:"as_expected" jsonschema:"whether the expected effect is visible: yes, no, or unclear"`
	ProgressStep int     `json:"progress_step" jsonschema:"the number after the last open step whose condition is visible on this screen, or the current step's number if none is; without an open step as the text says"`
	Evidence     string  `json:"evidence" jsonschema:"if a condition is visible: a short text on the screen that shows it, copied letter by letter; otherwise empty"`
	Guidance     *string `json:"guidance" jsonschema:"advice to the actor if something is fundamentally wrong, otherwise null"`
	Stop         *bool   `json:"stop" jsonschema:"true if the agent must not go on before it has dealt with that; otherwise false"`
	Region       *Region `json:"region" jsonschema:"where on the screenshot the evidence stands, if only the screenshot shows it; otherwise null"`
}

// A Region is a part of the image that a model saw, in pixels of it.
type Region struct {
	X      int `json:"x" jsonschema:"its left edge, in pixels of the screenshot"`
	Y      int `json:"y" jsonschema:"its upper edge"`
	Width  int `json:"width"`
	Height int `json:"height"`
}

// Rect is the region as a rectangle.
func (r Region) Rect() image.Rectangle { return image.Rect(r.X, r.Y, r.X+r.Width, r.Y+r.Height) }

// An Outcome compares a prediction with what came.
type Outcome string

// The outcomes of a prediction.
const (
	Yes     Outcome = "yes"
	No      Outcome = "no"
	Unclear Outcome = "unclear"
)

// Values lists the outcomes, for the schema of replies.
func (Outcome) Values() []string { return []string{string(Yes), string(No), string(Unclear)} }

// A Calibration counts how often what the actor expected came true. The zero
// value is ready to use.
type Calibration struct {
	Yes     int `json:"yes"`
	No      int `json:"no"`
	Unclear int `json:"unclear"` // nothing was expected, or the screen cannot tell
}

// Add counts one outcome; one that is none counts as unclear.
func (c *Calibration) Add(o Outcome) {
	switch o {
	case Yes:
		c.Yes++
	case No:
		c.No++
	default:
		c.Unclear++
	}
}

// All returns how many outcomes there were.
func (c Calibration) All() int { return c.Yes + c.No + c.Unclear }

// Rate returns the share of the clear outcomes that were as expected, from 0 to
// 1; 0 if none was clear.
func (c Calibration) Rate() float64 {
	if c.Yes+c.No == 0 {
		return 0
	}
	return float64(c.Yes) / float64(c.Yes+c.No)
}
