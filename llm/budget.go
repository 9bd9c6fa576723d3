package llm

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// A Budget limits what a run may spend, and counts what it spent. The zero
// value has no limits and only counts. It is safe for concurrent use.
//
// It is checked before each call: the call must fit with the most that it, and
// all calls in flight, may need (see [Estimate]). So a limit is not passed by
// two calls at once, nor by a long last reply; what an endpoint charges for an
// attempt that failed without telling its usage is the one thing not covered.
type Budget struct {
	MaxTokens  int           // read and written together; no limit if 0
	MaxDollars float64       // by Prices; no limit if 0
	MaxCalls   int           // attempts of one call count once; no limit if 0
	MaxTime    time.Duration // since Start, or else since the first call; no limit if 0
	Prices     Prices        // of the models, by the names in the requests

	mu       sync.Mutex
	start    time.Time // moved by the time of pauses that are over
	paused   time.Time // since when the clock stands still; zero if it runs
	pauses   int       // that are not over
	spent    Spent
	reserved Spent // by calls in flight
}

// Spent is what calls have used.
type Spent struct {
	Usage
	Calls   int           `json:"calls"`
	Dollars float64       `json:"dollars"`
	Time    time.Duration `json:"time"` // nanoseconds since the start
}

// A Resource is something that a budget limits.
type Resource string

// The resources.
const (
	Tokens  Resource = "tokens"
	Dollars Resource = "dollars"
	Calls   Resource = "model calls"
	Time    Resource = "time"
)

// A BudgetError says which limit is reached. It is an [ErrBudget].
type BudgetError struct {
	Resource        Resource
	Used, Need, Max float64 // Need is the most that the refused call could use; for Time, all are seconds
}

// Error names the limit and what to do.
func (e *BudgetError) Error() string {
	amount := func(v float64) string {
		switch e.Resource {
		case Dollars:
			return fmt.Sprintf("$%.4f", v)
		case Time:
			return time.Duration(v * float64(time.Second)).Round(time.Millisecond).String()
		default:
			return fmt.Sprintf("%.0f", v)
		}
	}
	text := fmt.Sprintf("out of %s: %s of %s used", e.Resource, amount(e.Used), amount(e.Max))
	if e.Need > 0 && e.Used < e.Max {
		text += fmt.Sprintf(" or reserved, and the next call may need %s", amount(e.Need))
	}
	return text + "; raise this limit to go on"
}

// Is reports whether target is ErrBudget.
func (e *BudgetError) Is(target error) bool { return target == ErrBudget }

// Start starts the wall clock, if it does not run yet.
func (b *Budget) Start() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.startLocked()
}

func (b *Budget) startLocked() {
	if b.start.IsZero() {
		b.start = time.Now()
	}
}

// Resume begins with what an earlier program has used of the budget. The wall clock runs
// from then on.
func (b *Budget) Resume(s Spent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.start, b.spent = time.Now().Add(-s.Time), s
	b.spent.Time = 0
}

// Pause stops the wall clock, until the function that it returns is called: while a
// person thinks, no time is used. Several pauses may overlap. Calls that are in flight
// keep the deadline that they had.
func (b *Budget) Pause() (resume func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pauses++; b.pauses == 1 {
		b.paused = time.Now()
	}
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.pauses--; b.pauses > 0 {
			return
		}
		if !b.start.IsZero() {
			begun := b.paused
			if b.start.After(begun) {
				begun = b.start
			}
			b.start = b.start.Add(time.Since(begun))
		}
		b.paused = time.Time{}
	})
}

// Check reports limits that make no sense, and models without a price where
// dollars are limited, since their cost could not be watched.
func (b *Budget) Check(models ...string) error {
	if b.MaxTokens < 0 || b.MaxDollars < 0 || b.MaxCalls < 0 || b.MaxTime < 0 {
		return errors.New("budget: a limit is negative; use 0 for no limit")
	}
	for model, p := range b.Prices {
		if !p.valid() {
			return fmt.Errorf("budget: the price of model %q is negative", model)
		}
	}
	for _, model := range models {
		if _, ok := b.Prices[model]; !ok && b.MaxDollars > 0 {
			return fmt.Errorf("budget: dollars are limited to $%.2f, but model %q has no price; add it to the prices (known: %q) or limit tokens instead",
				b.MaxDollars, model, slices.Sorted(maps.Keys(b.Prices)))
		}
	}
	return nil
}

// Spent returns what was used so far, calls in flight not included.
func (b *Budget) Spent() Spent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spentLocked()
}

func (b *Budget) spentLocked() Spent {
	s := b.spent
	switch {
	case b.start.IsZero():
	case b.paused.IsZero():
		s.Time = time.Since(b.start)
	default:
		s.Time = max(0, b.paused.Sub(b.start))
	}
	return s
}

// Remaining is the part of each limit that is left, from 1 (nothing used) to 0
// (nothing left). What has no limit stays at 1.
type Remaining struct{ Tokens, Dollars, Calls, Time float64 }

// Least returns the resource of which the smallest part is left.
func (r Remaining) Least() (Resource, float64) {
	least, part := Tokens, r.Tokens
	for _, c := range []struct {
		Resource
		float64
	}{{Dollars, r.Dollars}, {Calls, r.Calls}, {Time, r.Time}} {
		if c.float64 < part {
			least, part = c.Resource, c.float64
		}
	}
	return least, part
}

// Remaining returns what is left of each limit.
func (b *Budget) Remaining() Remaining {
	s := b.Spent()
	part := func(used, limit float64) float64 {
		if limit <= 0 {
			return 1
		}
		return max(0, 1-used/limit)
	}
	return Remaining{
		Tokens:  part(float64(s.Input+s.Output), float64(b.MaxTokens)),
		Dollars: part(s.Dollars, b.MaxDollars),
		Calls:   part(float64(s.Calls), float64(b.MaxCalls)),
		Time:    part(s.Time.Seconds(), b.MaxTime.Seconds()),
	}
}

// reserve books the most that a call may need, until the returned function is
// called with what it used. The time returned is when the wall time ends, or zero.
func (b *Budget) reserve(model string, need Usage) (settle func(Usage) (dollars float64), end time.Time, err error) {
	if err := b.Check(model); err != nil {
		return nil, end, err
	}
	cost := Spent{Usage: need, Calls: 1, Dollars: b.Prices.Cost(model, need)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.startLocked()
	used := b.spentLocked().Plus(b.reserved)
	for _, l := range []BudgetError{
		{Tokens, float64(used.Input + used.Output), float64(need.Input + need.Output), float64(b.MaxTokens)},
		{Dollars, used.Dollars, cost.Dollars, b.MaxDollars},
		{Calls, float64(used.Calls), 1, float64(b.MaxCalls)},
		{Time, used.Time.Seconds(), 0, b.MaxTime.Seconds()},
	} {
		if l.Max > 0 && (l.Used+l.Need > l.Max || l.Used >= l.Max) {
			return nil, end, &l
		}
	}
	if b.MaxTime > 0 {
		end = b.start.Add(b.MaxTime)
	}
	b.reserved = b.reserved.Plus(cost)
	return func(u Usage) float64 {
		b.mu.Lock()
		defer b.mu.Unlock()
		actual := Spent{Usage: u, Calls: 1, Dollars: b.Prices.Cost(model, u)}
		b.reserved = b.reserved.minus(cost)
		b.spent = b.spent.Plus(actual)
		return actual.Dollars
	}, end, nil
}

// outOfTime is the error of a call that the end of the wall time cut off.
func (b *Budget) outOfTime() error {
	return &BudgetError{Resource: Time, Used: b.MaxTime.Seconds(), Max: b.MaxTime.Seconds()}
}

// Plus adds everything but the time.
func (s Spent) Plus(t Spent) Spent {
	s.Usage = s.Usage.Plus(t.Usage)
	s.Calls += t.Calls
	s.Dollars += t.Dollars
	return s
}

func (s Spent) minus(t Spent) Spent {
	s.Input -= t.Input
	s.Cached -= t.Cached
	s.Output -= t.Output
	s.Written -= t.Written
	s.Calls -= t.Calls
	s.Dollars -= t.Dollars
	return s
}

// Plus returns the sum of two usages.
func (u Usage) Plus(v Usage) Usage {
	return Usage{Input: u.Input + v.Input, Cached: u.Cached + v.Cached, Output: u.Output + v.Output, Written: u.Written + v.Written}
}

// maxUsage bounds the tokens of one reply: no model reads or writes as many.
const maxUsage = 1 << 40

// possible reports whether an endpoint can have counted so: a count below nothing would give
// back what was spent, and so would a sum that is too large.
func (u Usage) possible() bool {
	for _, n := range []int{u.Input, u.Cached, u.Output, u.Written} {
		if n < 0 || n > maxUsage {
			return false
		}
	}
	return true
}
