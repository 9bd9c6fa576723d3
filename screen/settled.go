package screen

import "time"

// Settled reports how long an observation waited, and why it went on.
type Settled struct {
	Reason SettleReason  `json:"reason"`
	Waited time.Duration `json:"waited"` // nanoseconds
	Busy   []string      `json:"busy"`   // signs of work that were seen while waiting
}

// A SettleReason is the sign that let an observation go on.
type SettleReason string

// Why an observation went on.
const (
	SettledQuiet   SettleReason = "quiet"   // the programs answered, then nothing but small periodic changes was drawn
	SettledCeiling SettleReason = "ceiling" // the screen kept changing until the time limit
	SettledOff     SettleReason = "off"     // nothing was waited for
)
