package run

import (
	"context"
	"image"
	"sync/atomic"

	"desktop-agent/actuator"
	"desktop-agent/screen"
)

// A Glance is what is looked at between the actions of a batch.
type Glance struct {
	Bare    *image.RGBA // the whole screen without the pointer, in device pixels
	Windows []screen.Window
}

// Live is a real desktop: a screen to look at and a device to act with.
type Live struct {
	Screen *screen.Screen
	Device *actuator.Device

	stirred atomic.Bool // input was sent since the last look
}

// Observe takes in everything once the screen is still.
func (l *Live) Observe(ctx context.Context) (*screen.Observation, error) {
	l.stirred.Store(false)
	return l.Screen.Observe(ctx)
}

// Glance takes in the picture and the windows, once the screen is still if
// input was sent since the last look.
func (l *Live) Glance(ctx context.Context) (g Glance, err error) {
	if l.stirred.Swap(false) {
		if _, err = l.Screen.Settle(ctx); err != nil {
			return g, err
		}
	}
	if g.Bare, err = l.Screen.Capture(ctx); err != nil {
		return g, err
	}
	g.Windows, err = l.Screen.Windows(ctx)
	return g, err
}

// Do performs an action with mouse and keyboard.
func (l *Live) Do(ctx context.Context, a actuator.Action, f actuator.Frame) (string, error) {
	l.stirred.Store(true)
	return l.Device.Do(ctx, a, f)
}
