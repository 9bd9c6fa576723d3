//go:build !unix

package seat

import "context"

// A link is a seat's connection to its display.
type link struct{}

func (*link) latch(Latch) error { return ErrUnsupported }

// A State is what is known of a display.
type State struct {
	Owner   *Owner // nil if nobody has it
	Stopped *Latch // nil if it was not stopped
}

// Take returns [ErrUnsupported].
func Take(context.Context, string, *Options) (*Seat, error) { return nil, ErrUnsupported }

// StateOf returns [ErrUnsupported].
func StateOf(string) (State, error) { return State{}, ErrUnsupported }

// Stop returns [ErrUnsupported].
func Stop(context.Context, string, string) (had, still *Owner, err error) {
	return nil, nil, ErrUnsupported
}

// Lift returns [ErrUnsupported].
func Lift(string) (*Latch, error) { return nil, ErrUnsupported }

// Close does nothing.
func (*Seat) Close() error { return nil }
