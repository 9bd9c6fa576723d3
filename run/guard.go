package run

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/internal/within"
)

// A Guard has the last word on every action, right before it is performed.
type Guard interface {
	// Name names the guard in the run's first event.
	Name() string
	// Allow returns an error to refuse an action; its text is read by whoever
	// proposed the action. A guard that panics or takes too long refuses. The ruling
	// is written to the journal, unless it is empty.
	Allow(context.Context, Intent) (Guarded, error)
}

// An Instead is what a guard returns in place of a refusal if a person has chosen another
// action: that one is done, and not the one that was asked about. The ruling is on what is
// done, and says so by its reason, [ChoseAnother].
type Instead struct{ Action actuator.Action }

// ChoseAnother is the reason of a ruling by which another action is done than was asked about:
// the next that is begun.
const ChoseAnother = "a person chose another action"

func (i *Instead) Error() string {
	return "a person chose to " + actuator.Describe(i.Action) + " instead"
}

// A Starter is a guard that looks at the task as a whole, while other things go on.
type Starter interface {
	// Start begins to look at a task, and does not wait. What was known of an earlier
	// one is forgotten.
	Start(ctx context.Context, task string)
	// Judged waits for what came of it; nil for nothing that is to be told.
	Judged(context.Context) *TaskJudged
}

// A Previewer is a guard that can tell what it would rule, before an action is chosen:
// nobody is asked, and nothing is kept but what was foreseen.
type Previewer interface {
	Preview(context.Context, Intent) (ruling Guarded, refusal error)
}

// Wary is a guard that takes more care for some actions, after one did not do what
// was foreseen.
type Wary interface {
	Missed()
}

// The purposes for which a guard asks models.
const (
	PurposeForesee = "foresee"          // what an action will cause
	PurposeJudge   = "judge_task"       // whether the task asks for what cannot be undone
	PurposeChoose  = "choose_rehearsal" // which rehearsal shows how it is done
)

// GuardPurpose reports whether a model is asked on behalf of a guard.
func GuardPurpose(purpose string) bool {
	switch strings.TrimSuffix(purpose, "_again") {
	case PurposeForesee, PurposeJudge, PurposeChoose:
		return true
	}
	return false
}

// DefaultGuardLimit is how long a guard may take to answer: a person may be asked.
const DefaultGuardLimit = 10 * time.Minute

// told is what the guard was told, and whether what it makes of the task is written.
type told struct {
	sync.Mutex // held while it is written: nothing is done before
	done       atomic.Bool
	broken     atomic.Pointer[error]              // why nothing is allowed: the guard broke on what it was told; nil if it did not
	begun      atomic.Pointer[context.CancelFunc] // ends what the guard makes of the task; nil if it was told none
}

// Begin tells the guard what the user asks for, before anything is done for it. A guard
// that breaks on it allows nothing.
func (h *Hand) Begin(ctx context.Context, task string) {
	g, ok := h.starter()
	if !ok {
		return
	}
	told := h.shared()
	told.done.Store(false)
	told.broken.Store(nil)
	begun, end := context.WithCancel(ctx)
	if before := told.begun.Swap(&end); before != nil {
		(*before)()
	}
	h.Inform(ctx, func() { g.Start(begun, task) })
}

// finishLimit is how long it may take a guard to see that nobody waits for it any more.
const finishLimit = 5 * time.Second

// finish ends what the guard still makes of the task, and waits for that. See [Hand.Begin].
func (h *Hand) finish(ctx context.Context) {
	g, ok := h.starter()
	if !ok {
		return
	}
	told := h.shared()
	end := told.begun.Swap(nil)
	if end == nil {
		return
	}
	(*end)()
	if told.broken.Load() != nil {
		return
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishLimit)
	defer cancel()
	_, _ = h.verdict(limited, g) // what it is nobody asks any more
}

// starter returns the guard that is asked, if it looks at the task as a whole.
func (h *Hand) starter() (g Starter, ok bool) {
	if h == nil || h.exempt != "" {
		return nil, false
	}
	g, ok = h.guard.(Starter)
	return g, ok
}

// shared is what the hands of one run share.
func (h *Hand) shared() *told {
	h.once.Do(func() {
		if h.told == nil {
			h.told = &told{}
		}
	})
	return h.told
}

// Judged waits for what the guard makes of the task, and writes it; nil if there is no guard
// that makes anything of it. It comes before anything is done. That the guard breaks is an
// error.
func (h *Hand) Judged(ctx context.Context) (*TaskJudged, error) {
	g, ok := h.starter()
	if !ok {
		return nil, nil
	}
	if refusal, err := h.judge(ctx); err != nil || refusal != nil {
		return nil, cmp.Or(err, refusal)
	}
	return h.verdict(ctx, g)
}

// Verdict is [Hand.Judged] that writes nothing.
func (h *Hand) Verdict(ctx context.Context) (*TaskJudged, error) {
	g, ok := h.starter()
	if !ok {
		return nil, nil
	}
	if broken := h.shared().broken.Load(); broken != nil {
		return nil, *broken
	}
	return h.verdict(ctx, g)
}

// Inform has the guard take in what it rules by, such as what was ruled in a run that goes on.
// If it breaks on that, nothing is allowed from then on.
func (h *Hand) Inform(ctx context.Context, take func()) {
	_, err := bounded(ctx, h, func(context.Context) (struct{}, error) { take(); return struct{}{}, nil })
	if err != nil {
		h.shared().broken.Store(&err)
	}
}

// judge writes what the guard makes of the task, once. It returns why the guard allows
// nothing, if it broke; an error means that the run cannot go on.
func (h *Hand) judge(ctx context.Context) (refusal, err error) {
	if h.exempt != "" {
		return nil, nil
	}
	told := h.shared()
	if broken := told.broken.Load(); broken != nil {
		return *broken, nil
	}
	g, ok := h.starter()
	if !ok || told.done.Load() {
		return nil, nil
	}
	e, refusal := h.verdict(ctx, g)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if refusal != nil {
		return refusal, nil
	}
	told.Lock()
	defer told.Unlock()
	if e != nil && !told.done.Load() {
		if err := h.Scope.Emit(ctx, *e); err != nil {
			return nil, err
		}
	}
	told.done.Store(true)
	return nil, nil
}

// verdict asks the guard what it makes of the task.
func (h *Hand) verdict(ctx context.Context, g Starter) (*TaskJudged, error) {
	return bounded(ctx, h, func(asked context.Context) (*TaskJudged, error) { return g.Judged(asked), nil })
}

// ask asks the guard. It returns why the action is refused: a guard that breaks
// allows nothing.
func (h *Hand) ask(ctx context.Context, in Intent) (Guarded, error) {
	if h.guard == nil || h.exempt != "" {
		return Guarded{}, nil
	}
	ruling, err := bounded(ctx, h, func(asked context.Context) (Guarded, error) { return h.guard.Allow(asked, in) })
	if err != nil && h.Log != nil {
		h.Log.InfoContext(ctx, "refused", "action", actuator.Name(in.Action), "guard", h.GuardName())
	}
	return ruling, err
}

// bounded calls the guard of a hand. That it panics, or gives no answer within its limit,
// is an error.
func bounded[T any](ctx context.Context, h *Hand, call func(asked context.Context) (T, error)) (T, error) {
	limit := h.GuardLimit
	if limit <= 0 {
		limit = DefaultGuardLimit
	}
	asked, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the guard gave no answer within %v", limit))
	defer cancel()
	answer, err := within.Do(asked, "the guard", func() (T, error) { return call(asked) })
	if err == nil && asked.Err() != nil { // it answered too late
		err = context.Cause(asked)
	}
	return answer, err
}

// Preview says what the guard would rule on an action, without doing anything; it allows
// all where there is no guard that can tell. That the guard breaks is an error, as a
// refusal is.
func (h *Hand) Preview(ctx context.Context, in Intent) (Guarded, error) {
	if h == nil || h.exempt != "" {
		return Guarded{}, nil
	}
	g, ok := h.guard.(Previewer)
	if !ok {
		return Guarded{}, nil
	}
	if broken := h.shared().broken.Load(); broken != nil {
		return Guarded{}, *broken
	}
	in.Effect, in.Display, in.Desktop = h.effect(in.Action), h.Scope.Where().Display, h.Desktop
	return bounded(ctx, h, func(asked context.Context) (Guarded, error) { return g.Preview(asked, in) })
}

// Missed tells the guard that an action did not do what was foreseen. A guard that breaks on
// it is asked about the next one all the same: the log tells.
func (h *Hand) Missed(ctx context.Context) {
	if h == nil {
		return
	}
	g, ok := h.guard.(Wary)
	if !ok {
		return
	}
	_, err := bounded(ctx, h, func(context.Context) (struct{}, error) { g.Missed(); return struct{}{}, nil })
	if err != nil && h.Log != nil {
		h.Log.WarnContext(ctx, "the guard was not told of a miss", "guard", h.GuardName(), "err", err)
	}
}

// Guard returns who is asked about each action; nil if nobody is.
func (h *Hand) Guard() Guard {
	if h == nil {
		return nil
	}
	return h.guard
}

// NoGuard is the name that stands in [RunStarted] where no guard is asked.
const NoGuard = "none"

// GuardName names the guard that is asked; [NoGuard] if none is.
func (h *Hand) GuardName() string {
	switch {
	case h == nil || h.guard == nil:
		return NoGuard
	case h.exempt != "":
		return NoGuard + ": " + string(h.exempt)
	}
	ctx, cancel := context.WithTimeout(context.Background(), nameLimit)
	defer cancel()
	name, err := within.Do(ctx, "the guard", func() (string, error) { return h.guard.Name(), nil })
	if err != nil {
		return fmt.Sprintf("%T, which is broken", h.guard)
	}
	return name
}

// nameLimit is how long a guard may take to say its name: it may hold a lock on which what it
// was asked before hangs.
const nameLimit = 5 * time.Second
