package actuator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jezek/xgb/xproto"

	"desktop-agent/internal/process"
	"desktop-agent/internal/x11"
)

const (
	// focusLimit is how long keys wait for the focus to settle before they are
	// sent all the same: a person would press them too.
	focusLimit = 2 * time.Second
	// answerLimit is how long the program with the focus has for its answer.
	answerLimit = time.Second
	// textLimit is how long text waits for both, before it is refused.
	textLimit = 5 * time.Second
	// managerLimit is how long the window manager has for its answer.
	managerLimit = 3 * time.Second
	// muteWait stands in for the answer of a program that takes no pings, such as xterm:
	// it has this long at least to take its input, see [x11Backend.mute].
	muteWait = 150 * time.Millisecond
	// muteWork is what it works of the time of a processor, at most, until it has: one that
	// never rests takes its input between its other work.
	muteWork = 500 * time.Millisecond
	// muteLimit is how long it has at most: on a busy machine it may come to work late, and
	// where nobody knows which process it is, its server alone can be seen to rest.
	muteLimit = time.Minute
)

// ready waits until the window manager has taken all input sent so far, the
// program with the focus has as well, and the focus is still where it was: then
// a click, or a key that opened a window, has moved the focus if it ever will.
// While one of them is busy, what it was sent before may still move the focus, and
// text that goes to the window of now would be lost without a word.
func (x *x11Backend) ready(ctx context.Context, text bool) error {
	whole, answer := focusLimit, answerLimit
	if text {
		whole, answer = textLimit, textLimit
	}
	limit, cancel := context.WithTimeout(ctx, whole)
	defer cancel()
	busy := "the focus moves from window to window"
	for limit.Err() == nil {
		before, silent, err := x.askAll(limit, answer)
		if err != nil && limit.Err() == nil && !errors.Is(err, x11.ErrGone) {
			return err
		}
		after, err := x.focus()
		if err != nil {
			return err
		}
		if silent != "" {
			busy = silent + " does not answer"
		}
		if before == after && (silent == "" || !text) {
			return context.Cause(ctx)
		}
	}
	if text && ctx.Err() == nil {
		return fmt.Errorf("%w: %s, so that the text could land elsewhere: wait, look again, and type it then", ErrUnanswered, busy)
	}
	return context.Cause(ctx) // nil if only the limit has passed
}

// askAll waits for the window manager, for the program with the focus, and for
// the window manager again, which the program may have told of new windows. It
// returns the window that had the focus in between, and who did not answer in time.
func (x *x11Backend) askAll(ctx context.Context, answer time.Duration) (window xproto.Window, silent string, err error) {
	const manager, program = "the window manager", "the program with the focus"
	if answered, err := x.managerAnswers(ctx); err != nil {
		return 0, manager, err
	} else if !answered {
		silent = manager
	}
	if window, err = x.focus(); err != nil {
		return 0, silent, err
	}
	switch err := x.ask(ctx, window, answer); {
	case err == nil, errors.Is(err, x11.ErrNoPing):
	case errors.Is(err, context.DeadlineExceeded):
		silent = cmp.Or(silent, program)
	default:
		return 0, silent, fmt.Errorf("focused window: %w", err)
	}
	if answered, err := x.managerAnswers(ctx); err != nil || !answered {
		return window, cmp.Or(silent, manager), err
	}
	return window, silent, nil
}

// focus returns the top-level window that keys go to: the one the window
// manager calls active, and otherwise the one that the server names. It is 0
// where keys go to no window.
func (x *x11Backend) focus() (xproto.Window, error) {
	active, err := x.conn.Active()
	if err != nil {
		return 0, fmt.Errorf("active window: %w", err)
	}
	f, err := xproto.GetInputFocus(x.conn.Conn).Reply()
	if err != nil {
		return 0, fmt.Errorf("focus: %w", err)
	}
	check, err := x.conn.Cardinals(x.conn.Root, "_NET_SUPPORTING_WM_CHECK")
	if err != nil {
		return 0, fmt.Errorf("window manager: %w", err)
	}
	switch {
	case f.Focus == xproto.InputFocusPointerRoot, f.Focus == xproto.InputFocusNone, f.Focus == x.conn.Root:
		return 0, nil
	case slices.Contains(check, uint32(f.Focus)): // where openbox puts the focus when there is no window
		return 0, nil
	}
	if active != 0 && x.within(f.Focus, active) {
		return active, nil
	}
	return f.Focus, nil
}

// within reports whether window w is top or inside of it.
func (x *x11Backend) within(w, top xproto.Window) bool {
	for range 32 { // deeper than windows are nested
		if w == top {
			return true
		}
		tree, err := xproto.QueryTree(x.conn.Conn, w).Reply()
		if err != nil || tree.Parent == 0 {
			return false
		}
		w = tree.Parent
	}
	return false
}

// ask waits until the program of window w has taken the input sent before. The
// context's error means that it did not answer in time.
func (x *x11Backend) ask(ctx context.Context, w xproto.Window, t time.Duration) error {
	if w == 0 {
		return x11.ErrNoPing
	}
	if err := x.conn.RoundTrip(); err != nil {
		return err
	}
	limit, cancel := context.WithTimeout(ctx, t)
	defer cancel()
	err := x.conn.Ping(limit, w)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// mute waits in place of the answer of a program that takes no pings: for [muteWait], and until
// neither it nor the server, for which it may wait, wants a processor, as on a busy machine it
// comes late to what it was sent; or until it has worked for [muteWork].
func (x *x11Backend) mute(ctx context.Context, w xproto.Window) error {
	watch, pid := process.Watch{PIDs: []int{x11.ServerOf(x.display)}}, 0
	if x.tellsPIDs {
		pid = x.conn.PID(w)
		watch.PIDs = append(watch.PIDs, pid)
	}
	worked := func() (t time.Duration) { // nothing, where it is not known who works
		if pid > 0 {
			t, _ = process.Time(pid)
		}
		return t
	}
	for began, before := time.Now(), worked(); ; {
		if err := sleep(ctx, muteWait/process.Looks); err != nil {
			return err
		}
		if watch.Idle() == process.Looks || worked()-before >= muteWork || time.Since(began) >= muteLimit {
			return nil
		}
	}
}

// askManager is managerAnswers for who goes on all the same: the answer would have
// been of use, but is not needed.
func (x *x11Backend) askManager(ctx context.Context) error {
	_, err := x.managerAnswers(ctx)
	return err
}

// managerAnswers waits until the window manager has taken all that it was sent
// before: it handles a click before the program gets it, and moves the focus
// then. It returns false for one that is busy, or hung. One that cannot be asked
// gets a pause.
func (x *x11Backend) managerAnswers(ctx context.Context) (bool, error) {
	limit, cancel := context.WithTimeout(ctx, managerLimit)
	defer cancel()
	err := x.conn.PingManager(limit)
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return false, nil
	case !errors.Is(err, x11.ErrNoManager):
		return err == nil, err
	}
	root, err := xproto.GetWindowAttributes(x.conn.Conn, x.conn.Root).Reply()
	if err != nil {
		return false, fmt.Errorf("window manager: %w", err)
	}
	if root.AllEventMasks&xproto.EventMaskSubstructureRedirect != 0 {
		return true, sleep(ctx, muteWait)
	}
	return true, nil // there is none
}
