package actuator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jezek/xgb/xproto"

	"desktop-agent/internal/x11"
)

const (
	// typeRun is how many characters are typed before the program is asked
	// whether it has taken them: it bounds what lands in a wrong window.
	typeRun = 64
	// typeLimit is how long a program may take over that many.
	typeLimit = 10 * time.Second
)

// typeText types each character by the key that has it, or else by a spare
// keycode that it is put on; see [lent].
func (x *x11Backend) typeText(ctx context.Context, text string, sending func()) (err error) {
	m, err := x.keymap()
	if err != nil {
		return err
	}
	if err := x.freeOfModifiers(m); err != nil {
		return err
	}
	batches, err := x.batches(m, text)
	if err != nil {
		return err
	}
	window, err := x.focus()
	if err != nil {
		return err
	}
	if window == 0 {
		return ErrNoFocus
	}
	sending()
	restore, err := x.capsOff(m)
	if err != nil {
		return err
	}
	defer func() {
		if e := restore(); err == nil {
			err = e
		}
	}()
	typed, total := 0, totalChars(batches)
	for _, b := range batches {
		if err := x.lend(b.table); err != nil {
			return typedError(typed, err)
		}
		for run := range runs(b.chars) {
			if err := x.typeRun(ctx, m, run); err != nil {
				return typedError(typed, err)
			}
			typed += len(run)
			if err := x.taken(ctx, window, len(b.table) > 0, typed < total); err != nil {
				return typedError(typed, err)
			}
		}
	}
	return nil
}

func typedError(n int, err error) error {
	return fmt.Errorf("after %s: %w", characters(n), err)
}

func totalChars(batches []batch) int {
	n := 0
	for _, b := range batches {
		n += len(b.chars)
	}
	return n
}

// runs cuts characters into pieces that end with an Enter, which may close the
// window, or after typeRun.
func runs(chars []char) func(yield func([]char) bool) {
	return func(yield func([]char) bool) {
		for len(chars) > 0 {
			n := 1
			for n < len(chars) && n < typeRun && !chars[n-1].enter {
				n++
			}
			if !yield(chars[:n]) {
				return
			}
			chars = chars[n:]
		}
	}
}

// typeRun sends the keys of a run at once, as [x11Backend.tap] does.
func (x *x11Backend) typeRun(ctx context.Context, m *keymap, run []char) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return x.atOnce(func() {
		for _, c := range run {
			if key := (stroke{code: byte(c.code)}); c.shift {
				x.strike(stroke{code: byte(m.shift)}, key)
			} else {
				x.strike(key)
			}
		}
	})
}

// taken waits until the program has taken the keys typed so far. If there is
// more to type, the window must still have the focus.
func (x *x11Backend) taken(ctx context.Context, window xproto.Window, borrowed, more bool) error {
	if !more && !borrowed {
		return nil
	}
	err := x.ask(ctx, window, typeLimit)
	switch {
	case err == nil:
	case errors.Is(err, x11.ErrNoPing):
		if borrowed {
			if err := x.mute(ctx, window); err != nil {
				return err
			}
		}
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the program has not answered for %v: wait, and look what arrived", typeLimit)
	case !errors.Is(err, x11.ErrGone):
		return err
	}
	if !more {
		return nil
	}
	now, err := x.focus()
	if err != nil {
		return err
	}
	if now != window {
		return errors.New("another window has taken the focus, and the rest was not typed: look, and click where it belongs")
	}
	return nil
}

// freeOfModifiers refuses to type while a modifier is in effect that would
// change the text. Caps Lock, Num Lock and Scroll Lock are not meant.
func (x *x11Backend) freeOfModifiers(m *keymap) error {
	const modifiers = xproto.ModMaskShift | xproto.ModMaskControl | xproto.ModMask1 |
		xproto.ModMask2 | xproto.ModMask3 | xproto.ModMask4 | xproto.ModMask5
	if held := m.state & modifiers &^ (m.numLock | m.scroll); held != 0 {
		return fmt.Errorf("%w: a modifier key (%s) is held on the keyboard and would change the text: let it go first", ErrRefused, modifierNames(held))
	}
	return nil
}

// modifierNames names modifiers as the usual keyboard maps use them.
func modifierNames(mask uint16) string {
	names := ""
	for i, name := range []string{"shift", "caps lock", "ctrl", "alt", "mod2", "mod3", "win", "altgr"} {
		if mask&(1<<i) != 0 {
			if names != "" {
				names += ", "
			}
			names += name
		}
	}
	return names
}

// capsOff switches Caps Lock off, and returns what switches it on again.
func (x *x11Backend) capsOff(m *keymap) (restore func() error, err error) {
	if m.state&xproto.ModMaskLock == 0 {
		return func() error { return nil }, nil
	}
	code, _, ok := m.find(symCapsLock)
	if !ok {
		return nil, fmt.Errorf("%w: caps lock is on and the keyboard map has no key to switch it off", ErrRefused)
	}
	toggle := func() error { return x.tap([]stroke{{code: byte(code)}}) }
	if err := toggle(); err != nil {
		return nil, err
	}
	now, err := x.keymap()
	if err != nil {
		return nil, err
	}
	if now.state&xproto.ModMaskLock != 0 {
		return nil, errors.New("caps lock is on and cannot be switched off: switch it off by hand")
	}
	return toggle, nil
}
