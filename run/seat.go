package run

import (
	"context"
	"fmt"

	"desktop-agent/actuator"
	"desktop-agent/seat"
)

// Sit takes the seat at the display, so that nobody else of ours acts there; at a
// private one there is nobody. It is done for who acts, and may be done for who does
// not want others to: watching looks for a person who stops it or takes over. Doing it
// twice changes nothing.
func (s *Session) Sit(ctx context.Context, watching bool) (err error) {
	switch {
	case s.seat != nil:
		return nil
	case s.Private != nil || s.borrowed():
		s.seat = seat.New(&seat.Options{Log: s.Log})
		return nil
	}
	d := s.Settings.Display
	o := &seat.Options{Who: seat.Owner{What: s.who()}, Log: s.Log}
	if watching {
		o.Corner, o.Takeover = d.StopCorner, d.Takeover
		if o.Hotkey, err = hotkeyOf(d.StopKeys); err != nil {
			return err
		}
	}
	s.seat, err = seat.Take(ctx, s.Display, o)
	return err
}

// hotkeyOf returns the hotkey that is written so; nil for none.
func hotkeyOf(text string) (*seat.Hotkey, error) {
	if text == "" {
		return nil, nil
	}
	keys, err := actuator.ParseHotkey(text)
	if err != nil {
		return nil, err
	}
	last := len(keys) - 1
	hot := &seat.Hotkey{Name: text}
	syms := actuator.Keysyms(keys[last])
	if len(syms) == 0 {
		return nil, fmt.Errorf("hotkey %q: the key %q is on no keyboard", text, keys[last])
	}
	hot.Key = syms[0]
	for _, k := range keys[:last] {
		hot.With = append(hot.With, actuator.Keysyms(k))
	}
	return hot, nil
}

// Stop ends all input of the session at once, by how in words, and with it the run. A
// display that others can reach stays stopped until a person lifts that.
func (s *Session) Stop(how string) {
	if s.seat != nil {
		s.seat.Stop(how)
	}
}

// GoOn has the session go on at once where a person has taken over.
func (s *Session) GoOn() {
	if s.seat != nil {
		s.seat.Go()
	}
}

// Stopped says what stopped the session, a [*seat.StoppedError]; nil if nothing did.
func (s *Session) Stopped() error {
	if s.seat == nil {
		return nil
	}
	return s.seat.Err()
}

// A seated device acts only while its seat lets it.
type seated struct {
	liveDevice
	seat *seat.Seat
}

// Do performs an action, unless the display was stopped or a person is at it.
func (d seated) Do(ctx context.Context, a actuator.Action, f actuator.Frame) (string, error) {
	used, done, err := d.seat.Use(ctx)
	if err != nil {
		return "", fmt.Errorf("%w: %w", actuator.ErrRefused, err)
	}
	defer done()
	output, err := d.liveDevice.Do(used, a, f)
	if why := context.Cause(used); err != nil && why != nil && ctx.Err() == nil {
		err = why // not that a context ended, but why
	}
	return output, err
}
