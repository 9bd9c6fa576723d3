package actuator

import (
	"context"
	"image"
)

// Three new actions, as far as this package asks for: they are built into it by
// TestNewAction at the root of the module.
type (
	// Nudge is input.
	Nudge struct {
		At   Point  `json:"at"`
		Text Secret `json:"text"`
	}

	// Clutch is input that leaves a key down.
	Clutch struct {
		Key Key `json:"key"`
	}

	// Confer is for the agent.
	Confer struct {
		Topic string `json:"topic"`
	}
)

func (a Nudge) check() error  { return text(string(a.Text), 1) }
func (a Clutch) check() error { return keys([]Key{a.Key}) }
func (a Confer) check() error { return text(a.Topic, 1) }

func (a Nudge) describe(t describer) string {
	return "nudge " + t.place(a.At) + " with " + t.text(a.Text)
}
func (a Clutch) describe(describer) string { return "clutch " + string(a.Key) }
func (a Confer) describe(describer) string { return "confer" + said(a.Topic) }

func (a Nudge) perform(ctx context.Context, d *Device, path []image.Point) (string, error) {
	return "", d.moveTo(ctx, path[0])
}

func (a Clutch) perform(ctx context.Context, d *Device, _ []image.Point) (string, error) {
	return "", d.keyDown(ctx, a.Key)
}

func (a Confer) perform(context.Context, *Device, []image.Point) (string, error) {
	return forAgent(a)
}
