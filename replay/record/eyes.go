package record

import (
	"context"
	"fmt"
	"image"
	"log/slog"
	"slices"
	"sync"
	"time"

	"desktop-agent/screen"
)

// An Observer looks at the desktop, as [screen.Screen] does.
type Observer interface {
	Observe(context.Context) (*screen.Observation, error)
}

const (
	observePause = 250 * time.Millisecond // between two observations, unless something urgent happens
	secondLook   = 500 * time.Millisecond // after input: some programs tell of a menu some time after they have shown it
	retryPause   = 500 * time.Millisecond // after a look that failed
	maxFailed    = 3                      // looks that may fail in a row
)

// An observation is one while a person works.
type observation struct {
	*screen.Observation
	began, done time.Time // when it began to wait for the screen to be still, and when it was finished
}

// A watcher looks at the desktop whenever something happens there: what a person sees
// at an action has been seen here before. While nothing happens it waits.
type watcher struct {
	screen  Observer
	picture func(image.Rectangle) *image.RGBA
	log     *slog.Logger
	out     chan *observation // what was seen

	mu     sync.Mutex
	drawn  image.Rectangle // since the last look
	poked  bool            // there was input since
	urgent bool            // a look is wanted at once
	once   bool            // a second look is due
	wake   chan struct{}   // has room for one

	last *image.RGBA // what the last look saw; of the goroutine of run
}

// draw notes that something was drawn.
func (y *watcher) draw(box image.Rectangle) {
	y.mu.Lock()
	y.drawn = y.drawn.Union(box)
	y.mu.Unlock()
	y.stir()
}

// poke notes that there was input. After urgent input no time is lost.
func (y *watcher) poke(urgent bool) {
	y.mu.Lock()
	y.poked, y.urgent = true, y.urgent || urgent
	y.mu.Unlock()
	y.stir()
}

func (y *watcher) stir() {
	select {
	case y.wake <- struct{}{}:
	default:
	}
}

// run looks until ctx ends.
func (y *watcher) run(ctx context.Context) error {
	failed := 0
	second := time.NewTimer(0)
	defer second.Stop()
	second.Stop()
	for rested := time.Now(); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-y.wake:
		case <-second.C:
			y.again()
		}
		if err := y.rest(ctx, rested); err != nil {
			return nil
		}
		stirred, input := y.stirred()
		if !stirred {
			continue
		}
		if second.Stop(); input {
			second.Reset(secondLook)
		}
		began := time.Now()
		o, err := y.screen.Observe(ctx)
		rested = time.Now().Add(observePause)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			failed, y.last = 0, o.Bare
		default:
			if failed++; failed == maxFailed {
				return fmt.Errorf("look at the desktop: %w", err)
			}
			y.log.WarnContext(ctx, "look", "err", err)
			rested = time.Now().Add(retryPause)
			y.poke(false)
			continue
		}
		select {
		case y.out <- &observation{o, began, time.Now()}:
		case <-ctx.Done():
			return nil
		}
	}
}

// rest waits until a time, or until a look is urgent.
func (y *watcher) rest(ctx context.Context, until time.Time) error {
	for {
		y.mu.Lock()
		urgent := y.urgent
		y.mu.Unlock()
		wait := time.Until(until)
		if urgent || wait <= 0 {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-y.wake: // perhaps it has become urgent
		}
		timer.Stop()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// again asks for a second look after input. It is not asked for by input, so
// that there is no third one.
func (y *watcher) again() {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.once = true
}

// stirred tells whether there is anything to look at, and whether that is since
// there was input. It begins anew to note what happens.
func (y *watcher) stirred() (stirred, input bool) {
	y.mu.Lock()
	poked, once, drawn := y.poked, y.once, y.drawn
	y.poked, y.once, y.urgent, y.drawn = false, false, false, image.Rectangle{}
	y.mu.Unlock()
	if poked || once {
		return true, poked
	}
	if drawn.Empty() {
		return false, false
	}
	now := y.picture(drawn)
	if now == nil || y.last == nil || !now.Rect.In(y.last.Rect) {
		return true, false
	}
	return !screen.SamePicture(now, y.last.SubImage(now.Rect).(*image.RGBA)), false
}

// shows reports whether an observation shows what was under the pointer when a
// button was pressed: the same menu, or else nearly the same picture.
func shows(o *screen.Observation, e event) bool {
	if e.kind != buttonDown || o.Bare == nil {
		return true
	}
	if e.popup != 0 {
		// Its items change their colours under the pointer.
		return slices.ContainsFunc(o.Windows, func(w screen.Window) bool { return w.ID == e.popup })
	}
	if e.patch == nil {
		return true
	}
	_, alike := screen.Alike(e.patch, o.Bare, e.pos)
	return alike
}
