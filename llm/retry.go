package llm

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Retry bounds how often a call is tried, and sets the waits in between: the
// first is First, each further one twice as long up to Most, and each is
// shortened by up to half at random, so that several agents do not knock
// together. An endpoint that asks to wait longer gets what it asks for. The
// deadline of the call bounds everything: when a wait would end after it, the
// call fails at once instead of waiting for nothing.
//
// Only errors whose [Error.Retry] is set are tried again.
type Retry struct {
	Attempts int           // at most, 1 for no second one
	First    time.Duration // wait
	Most     time.Duration // that a wait grows to
}

// DefaultRetry is what holds where a [Retry] is zero.
var DefaultRetry = Retry{Attempts: 4, First: 500 * time.Millisecond, Most: 20 * time.Second}

// wait returns how long to wait after failed attempt n (from 1), and false if
// there is nothing to wait for. Random gives numbers in [0, 1); nil is [rand.Float64].
func (r Retry) wait(n int, err error, random func() float64) (time.Duration, bool) {
	e, ok := errors.AsType[*Error](err)
	if !ok || !e.Retry || n >= cmp.Or(r.Attempts, DefaultRetry.Attempts) {
		return 0, false
	}
	most, backOff := cmp.Or(r.Most, DefaultRetry.Most), cmp.Or(r.First, DefaultRetry.First)
	for range n - 1 {
		backOff = min(2*backOff, most)
	}
	if random == nil {
		random = rand.Float64
	}
	backOff -= time.Duration(random() * float64(backOff) / 2)
	return max(backOff, e.RetryAfter), true
}

// sleep waits, or returns the reason why ctx ended.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
