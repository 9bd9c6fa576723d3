package screen

import (
	"slices"
	"time"
)

// SettleOptions say how long to wait for the screen to be still. The zero value
// means the defaults.
type SettleOptions struct {
	// Off waits for nothing.
	Off bool

	// Quiet is how long nothing may happen before the screen counts as still,
	// after the programs have answered; zero means [DefaultQuiet].
	Quiet time.Duration

	// Ceiling is how long to wait at most; zero means [DefaultCeiling].
	Ceiling time.Duration
}

// The limits of a wait.
const (
	DefaultQuiet   = 60 * time.Millisecond
	DefaultCeiling = 3 * time.Second
)

// Settled reports how long an observation waited, and why it went on.
type Settled struct {
	Reason SettleReason
	Waited time.Duration // nanoseconds
	Busy   []string      // signs of work that were seen while waiting
}

// noAnswer is the sign of a program that had not taken its input when the wait ended.
const noAnswer = "no answer"

// Unanswered tells whether a program gave no answer: it has not taken its input yet, so
// what it shows may be from before. A wait counts such a program once only.
func (s Settled) Unanswered() bool { return slices.Contains(s.Busy, noAnswer) }

// Rested reports whether the screen had come to rest when the wait ended, as far as is known:
// not because the time limit did, nor without an answer of everybody.
func (s Settled) Rested() bool { return s.Reason != SettledCeiling && !s.Unanswered() }

// A SettleReason is the sign that let an observation go on.
type SettleReason string

// Why an observation went on.
const (
	SettledQuiet   SettleReason = "quiet"   // the programs answered, then nothing but small periodic changes was drawn
	SettledCeiling SettleReason = "ceiling" // the screen kept changing until the time limit
	SettledOff     SettleReason = "off"     // nothing was waited for
)

// after joins two waits, one directly after the other.
func (s Settled) after(first Settled) Settled {
	s.Waited += first.Waited
	for _, sign := range first.Busy {
		if !slices.Contains(s.Busy, sign) {
			s.Busy = append(s.Busy, sign)
		}
	}
	slices.Sort(s.Busy)
	return s
}

// withDefaults returns the options with the defaults filled in.
func (o SettleOptions) withDefaults() SettleOptions {
	if o.Quiet <= 0 {
		o.Quiet = DefaultQuiet
	}
	if o.Ceiling <= 0 {
		o.Ceiling = DefaultCeiling
	}
	return o
}
