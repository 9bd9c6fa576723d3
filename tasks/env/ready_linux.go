package env

import (
	"context"
	"time"

	"desktop-agent/screen"
)

// patience is how long a program that takes no input is waited for before its task goes on
// without it: as long as OSWorld sleeps before it scores.
const patience = 20 * time.Second

// Quiet waits until the programs have taken all input, do no work, and the screen
// is still; who takes none is waited for as long as the patience. The context bounds the wait,
// and its end is an error: a screen that never rests is told by the cause.
func (e *Env) Quiet(ctx context.Context) error {
	begin := time.Now()
	for {
		settled, err := e.screen.Settle(ctx)
		if err != nil {
			return err
		}
		if settled.Reason != screen.SettledCeiling && (!settled.Unanswered() || time.Since(begin) > patience) {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
	}
}
