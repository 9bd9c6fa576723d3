package env

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"desktop-agent/screen"

	"github.com/jezek/xgb/xproto"
)

const (
	// lookAgain is the time between two looks at the windows.
	lookAgain = 20 * time.Millisecond
	// focusLimit is how long a window may take to get the focus.
	focusLimit = 5 * time.Second
	// closeLimit is how long a window may take to close, and its program to end with its last
	// one: as long as OSWorld sleeps before it scores.
	closeLimit = 20 * time.Second
	// askLimit is how long a dialog that a program shows while it closes a window may stay, or
	// another window that has the focus, until it is taken for a question.
	askLimit = 2 * time.Second
)

// Windows returns the windows as they are now, bottom to top.
func (e *Env) Windows(ctx context.Context) ([]screen.Window, error) { return e.screen.Windows(ctx) }

// Activate brings a window to the front and gives it the focus. The window is
// found as the program wmctrl does: the first, in the order in which they came,
// whose title has the name as a part, in any case; with strict, whose title is the
// name; with byClass, whose WM_CLASS ("instance.Class") is compared instead.
// Chromium also goes by the name Google Chrome. The error is [ErrNoWindow] if
// there is none, and [ErrNotYet] if another one keeps the focus.
func (e *Env) Activate(ctx context.Context, name string, strict, byClass bool) error {
	w, err := e.find(name, strict, byClass)
	if err == nil {
		err = e.activate(ctx, w)
	}
	if err != nil {
		return fmt.Errorf("activate window %q: %w", name, err)
	}
	return nil
}

func (e *Env) activate(ctx context.Context, w xproto.Window) error {
	const fromPager = 2
	if err := e.tell(w, "_NET_ACTIVE_WINDOW", fromPager); err != nil {
		return err
	}
	var active xproto.Window
	err := e.until(ctx, focusLimit, func() (ok bool, err error) {
		active, err = e.conn.Active()
		return active == w, err
	})
	switch {
	case !errors.Is(err, ErrNotYet):
		return err
	case active == 0:
		return fmt.Errorf("%w: no window has the focus after %v", err, focusLimit)
	}
	return fmt.Errorf("%w: %q has the focus after %v: close it first if it is a dialog", err, e.conn.Title(active), focusLimit)
}

// CloseWindow closes a window, found as [Env.Activate] does, in the way of its
// close button, and returns when it is gone, and the program with its last
// window. The error is [ErrNotYet] if they are not: the program may ask something first.
func (e *Env) CloseWindow(ctx context.Context, name string, strict, byClass bool) error {
	w, err := e.find(name, strict, byClass)
	if err == nil {
		err = e.closeWindow(ctx, w)
	}
	if err != nil {
		return fmt.Errorf("close window %q: %w", name, err)
	}
	return nil
}

func (e *Env) closeWindow(ctx context.Context, w xproto.Window) error {
	before, err := e.Windows(ctx)
	if err != nil {
		return err
	}
	if err := e.tell(w, "_NET_CLOSE_WINDOW", 0, 2); err != nil {
		return err
	}
	is := func(k screen.Window) bool { return k.ID == uint32(w) }
	pid := 0
	if i := slices.IndexFunc(before, is); i >= 0 {
		pid = before[i].PID
	}
	asks := func(k screen.Window) bool { // a program that is slow may still open another window
		return pid != 0 && k.PID == pid && !k.Popup && (k.Focused || k.Type == "dialog") &&
			!holds(before, func(b screen.Window) bool { return b.ID == k.ID })
	}
	var why string
	var asked time.Time
	err = e.until(ctx, closeLimit, func() (bool, error) {
		now, err := e.Windows(ctx)
		if err != nil {
			return false, err
		}
		if !holds(now, is) {
			why = fmt.Sprintf("its program still runs after %v: end it, if it must have written its files", closeLimit)
			return pid == 0 || !alive(pid) || holds(now, func(k screen.Window) bool { return k.PID == pid }), nil
		}
		why = fmt.Sprintf("it is still open after %v: end its program", closeLimit)
		i := slices.IndexFunc(now, asks)
		switch {
		case i < 0:
			asked = time.Time{}
		case asked.IsZero():
			asked = time.Now()
		case time.Since(asked) > askLimit:
			why = fmt.Sprintf("the program shows %q first: answer that", now[i].Title)
			return false, ErrNotYet
		}
		return false, nil
	})
	if errors.Is(err, ErrNotYet) {
		return fmt.Errorf("%w: %s", err, why)
	}
	return err
}

func holds(windows []screen.Window, match func(screen.Window) bool) bool {
	return slices.ContainsFunc(windows, match)
}

// WaitWindow waits for a window that can be seen, and returns it; the desktop itself is
// none. A match that is nil takes every one that the window manager manages.
func (e *Env) WaitWindow(ctx context.Context, match func(screen.Window) bool) (screen.Window, error) {
	var found screen.Window
	err := e.until(ctx, 0, func() (bool, error) {
		windows, err := e.Windows(ctx)
		for _, w := range windows {
			if !w.Hidden && !w.Popup && w.Type != "splash" && !isDesktop(w) && (match == nil || match(w)) {
				found = w
				return true, err
			}
		}
		return false, err
	})
	if err != nil {
		return screen.Window{}, fmt.Errorf("wait for a window: %w", err)
	}
	return found, nil
}

// find returns the window of a name.
func (e *Env) find(name string, strict, byClass bool) (xproto.Window, error) {
	windows, err := e.conn.Cardinals(e.conn.Root, "_NET_CLIENT_LIST")
	if err != nil {
		return 0, err
	}
	for _, id := range windows {
		w := xproto.Window(id)
		class, err := e.conn.Property(w, "WM_CLASS")
		if err != nil {
			continue // gone by now
		}
		instance, class_, _ := strings.Cut(strings.TrimRight(string(class), "\x00"), "\x00")
		own := instance + "." + class_
		text := own
		if !byClass {
			text = e.conn.Title(w)
		}
		for _, text := range alsoKnown(text, own) {
			if text == name || !strict && strings.Contains(strings.ToLower(text), strings.ToLower(name)) {
				return w, nil
			}
		}
	}
	return 0, ErrNoWindow
}

// alsoKnown returns the names of a window: tasks know Chromium as Google Chrome.
func alsoKnown(text, class string) []string {
	if !strings.Contains(strings.ToLower(class), "chrom") {
		return []string{text}
	}
	return []string{text,
		strings.ReplaceAll(text, "Chromium", "Google Chrome"),
		strings.NewReplacer("chromium", "google-chrome", "Chromium", "Google-chrome").Replace(text)}
}

// tell sends a window manager a message about a window, as a pager does.
func (e *Env) tell(w xproto.Window, what string, data ...uint32) error {
	kind, err := e.conn.Atom(what)
	if err != nil {
		return err
	}
	message := xproto.ClientMessageEvent{Format: 32, Window: w, Type: kind,
		Data: xproto.ClientMessageDataUnionData32New(append(data, make([]uint32, 5-len(data))...))}
	return xproto.SendEventChecked(e.conn.Conn, false, e.conn.Root,
		xproto.EventMaskSubstructureNotify|xproto.EventMaskSubstructureRedirect, string(message.Bytes())).Check()
}

// until waits for a condition, for as long as limit if that is not 0: after that it is [ErrNotYet].
func (e *Env) until(ctx context.Context, limit time.Duration, condition func() (bool, error)) error {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, ErrNotYet)
		defer cancel()
	}
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for {
		if ok, err := condition(); ok {
			return nil
		} else if err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-tick.C:
		case <-e.Done():
			return e.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
