package actuator

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"slices"
	"time"
)

// perform checks an action, maps its points, and only then sends anything. What
// it put down goes up again when it returns, unless it shall stay.
func (d *Device) perform(ctx context.Context, a Action, f Frame) (output string, err error) {
	path, err := d.check(a, f)
	if err != nil {
		return "", err
	}
	mark := len(d.down)
	defer func() {
		if rowOf(a).held == down && err == nil {
			return
		}
		if e := d.liftTo(mark); e != nil && err == nil {
			err = fmt.Errorf("let go: %w", e)
		}
	}()
	return a.perform(ctx, d, path)
}

func (a Move) perform(ctx context.Context, d *Device, path []image.Point) (string, error) {
	return "", d.moveTo(ctx, path[0])
}

func (a Click) perform(ctx context.Context, d *Device, path []image.Point) (string, error) {
	return "", d.click(ctx, a, path)
}

func (a ButtonDown) perform(ctx context.Context, d *Device, path []image.Point) (string, error) {
	return "", d.buttonAt(ctx, a.Button, true, path)
}

func (a ButtonUp) perform(ctx context.Context, d *Device, path []image.Point) (string, error) {
	return "", d.buttonAt(ctx, a.Button, false, path)
}

func (a Drag) perform(ctx context.Context, d *Device, path []image.Point) (string, error) {
	return "", d.drag(ctx, a, path)
}

func (a Scroll) perform(ctx context.Context, d *Device, path []image.Point) (string, error) {
	return "", d.scroll(ctx, a, path)
}

func (a Type) perform(ctx context.Context, d *Device, _ []image.Point) (string, error) {
	return "", d.typeText(ctx, string(a.Text))
}

func (a Press) perform(ctx context.Context, d *Device, _ []image.Point) (string, error) {
	return "", d.pressKeys(ctx, a)
}

func (a KeyDown) perform(ctx context.Context, d *Device, _ []image.Point) (string, error) {
	return "", d.keyDown(ctx, a.Key)
}

func (a KeyUp) perform(_ context.Context, d *Device, _ []image.Point) (string, error) {
	return "", d.keyUp(a.Key)
}

func (a Hold) perform(ctx context.Context, d *Device, _ []image.Point) (string, error) {
	return "", d.hold(ctx, a)
}

func (Copy) perform(ctx context.Context, d *Device, _ []image.Point) (string, error) {
	return d.copy(ctx)
}

func (a Paste) perform(ctx context.Context, d *Device, _ []image.Point) (string, error) {
	return "", d.paste(ctx, a)
}

func (a SetClipboard) perform(ctx context.Context, d *Device, _ []image.Point) (string, error) {
	return "", d.setClipboard(ctx, string(a.Text))
}

func (a Wait) perform(ctx context.Context, _ *Device, _ []image.Point) (string, error) {
	return "", sleep(ctx, time.Duration(a.Milliseconds)*time.Millisecond)
}

// perform refuses: only package run, which sees the screen, can set and wait for
// something on it.
func (a Set) perform(context.Context, *Device, []image.Point) (string, error) { return seeing(a) }
func (a WaitUntil) perform(context.Context, *Device, []image.Point) (string, error) {
	return seeing(a)
}

func seeing(a Action) (string, error) {
	return "", fmt.Errorf("%w: %s needs a desktop that is looked at: mouse and keyboard alone cannot do it", ErrRefused, Name(a))
}

func (a Zoom) perform(context.Context, *Device, []image.Point) (string, error) { return forAgent(a) }
func (a CallTool) perform(context.Context, *Device, []image.Point) (string, error) {
	return "", fmt.Errorf("%w: a tool is nothing that mouse and keyboard do", ErrRefused)
}
func (a Note) perform(context.Context, *Device, []image.Point) (string, error) { return forAgent(a) }
func (a Done) perform(context.Context, *Device, []image.Point) (string, error) { return forAgent(a) }
func (a Infeasible) perform(context.Context, *Device, []image.Point) (string, error) {
	return forAgent(a)
}
func (a Ask) perform(context.Context, *Device, []image.Point) (string, error) { return forAgent(a) }

func forAgent(a Action) (string, error) {
	return "", fmt.Errorf("%w: %s is for the agent, the desktop cannot perform it", ErrRefused, Name(a))
}

// check refuses what cannot be meant, and returns the action's points as
// pixels of the desktop.
func (d *Device) check(a Action, f Frame) ([]image.Point, error) {
	points := Points(a)
	var bounds image.Rectangle
	if f != nil {
		bounds = f.Bounds()
	} else if len(points) > 0 {
		return nil, fmt.Errorf("%w: a point means nothing without the frame it was read from", ErrRefused)
	}
	if err := Validate(a, bounds); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	var path []image.Point
	for _, p := range points {
		if !p.Placed() {
			return nil, fmt.Errorf("%w: it is not known where %s is", ErrRefused, p.Element)
		}
		device, err := d.at(p, f)
		if err != nil {
			return nil, err
		}
		path = append(path, device)
	}
	return path, nil
}

// moveTo moves the pointer and makes sure that it has arrived. With a button
// down it glides, as in a drag.
func (d *Device) moveTo(ctx context.Context, p image.Point) error {
	if slices.ContainsFunc(d.down, func(in input) bool { return in.button != "" }) {
		if err := d.glide(ctx, p); err != nil {
			return err
		}
	}
	d.sent = true
	var at image.Point
	for try := range 2 {
		if try > 0 { // somebody holds it: the window manager, if it is still busy with a click
			if err := d.backend.ready(ctx, false); err != nil {
				return err
			}
		}
		if err := d.backend.move(p); err != nil {
			return fmt.Errorf("move: %w", err)
		}
		var known bool
		var err error
		if at, known, err = d.backend.location(); err != nil {
			return fmt.Errorf("move: %w", err)
		}
		if at == p || !known {
			return nil
		}
	}
	return fmt.Errorf("move: the pointer is at (%d, %d) of the desktop, not at (%d, %d): a program or a person holds it", at.X, at.Y, p.X, p.Y)
}

// glide moves the pointer to p in small steps, at the pace of a hand.
func (d *Device) glide(ctx context.Context, p image.Point) error {
	from, _, err := d.backend.location()
	if err != nil {
		return err
	}
	way := p.Sub(from)
	n := int(math.Hypot(float64(way.X), float64(way.Y)))/dragPixels + 4
	for i := 1; i <= n; i++ {
		if err := sleep(ctx, dragPace); err != nil {
			return err
		}
		d.sent = true
		if err := d.backend.move(from.Add(way.Mul(i).Div(n))); err != nil {
			return err
		}
	}
	return nil
}

// aim moves the pointer to the point of an action that has one.
func (d *Device) aim(ctx context.Context, path []image.Point) error {
	if len(path) == 0 {
		return nil
	}
	return d.moveTo(ctx, path[0])
}

func (d *Device) pressAll(strokes []stroke) error {
	for _, s := range strokes {
		if err := d.press(input{stroke: s}); err != nil {
			return err
		}
	}
	return nil
}

func (d *Device) free(b Button) error {
	if slices.Contains(d.down, input{button: b}) {
		return fmt.Errorf("%w: the %s button is down already: let it go first", ErrRefused, b)
	}
	return nil
}

// A presses is the last time that a button was pressed.
type presses struct {
	button Button
	count  int
	at     image.Point
	when   time.Time
}

// apart waits if programs would count the presses to come as further ones of
// those before: two actions that click at one place are not a double click.
// Programs allow 0.4 to 0.5 s between two clicks, and twice that for three.
// And GTK 3 takes a double click for two clicks if there was one elsewhere within
// that time.
func (d *Device) apart(ctx context.Context, b Button, count int) error {
	at, _, err := d.backend.location()
	if err != nil {
		return err
	}
	last := d.last
	near := image.Rectangle{Min: at, Max: at}.Inset(-clickReach)
	if last.button == b && (count > 1 || last.at.In(near)) {
		if err := sleep(ctx, time.Until(last.when.Add(clickTime*time.Duration(min(last.count, 2))))); err != nil {
			return err
		}
	}
	d.last = presses{b, count, at, time.Now()}
	return nil
}

func (d *Device) click(ctx context.Context, a Click, path []image.Point) error {
	if err := d.free(a.Button); err != nil {
		return err
	}
	strokes, err := d.backend.chord(a.Modifiers)
	if err != nil {
		return err
	}
	if err := d.aim(ctx, path); err != nil {
		return err
	}
	if err := d.pressAll(strokes); err != nil {
		return err
	}
	if err := d.apart(ctx, a.Button, a.Count); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	d.sent = true
	d.down = append(d.down, input{button: a.Button}) // until it is known to be up
	if err := d.backend.click(a.Button, a.Count); err != nil {
		return err
	}
	d.down = slices.DeleteFunc(d.down, func(e input) bool { return e.button == a.Button })
	return nil
}

func (d *Device) buttonAt(ctx context.Context, b Button, down bool, path []image.Point) error {
	if err := d.aim(ctx, path); err != nil {
		return err
	}
	if !down {
		return d.lift(input{button: b})
	}
	if err := d.apart(ctx, b, 1); err != nil {
		return err
	}
	return d.press(input{button: b})
}

func (d *Device) drag(ctx context.Context, a Drag, path []image.Point) error {
	if err := d.free(a.Button); err != nil {
		return err
	}
	strokes, err := d.backend.chord(a.Modifiers)
	if err != nil {
		return err
	}
	if len(path) > 1 {
		if err := d.moveTo(ctx, path[0]); err != nil {
			return err
		}
		path = path[1:]
	}
	if err := d.pressAll(strokes); err != nil {
		return err
	}
	if err := d.apart(ctx, a.Button, 1); err != nil {
		return err
	}
	if err := d.press(input{button: a.Button}); err != nil {
		return err
	}
	for _, p := range path {
		if err := d.moveTo(ctx, p); err != nil {
			return err
		}
	}
	if err := sleep(ctx, dragRest); err != nil {
		return err
	}
	return d.lift(input{button: a.Button})
}

func (d *Device) scroll(ctx context.Context, a Scroll, path []image.Point) error {
	strokes, err := d.backend.chord(a.Modifiers)
	if err != nil {
		return err
	}
	if err := d.aim(ctx, path); err != nil {
		return err
	}
	if err := d.pressAll(strokes); err != nil {
		return err
	}
	d.sent = true
	return d.backend.wheel(a.DX, a.DY)
}

func (d *Device) keyDown(ctx context.Context, k Key) error {
	strokes, err := d.backend.chord([]Key{k})
	if err != nil {
		return err
	}
	if err := d.backend.ready(ctx, false); err != nil {
		return err
	}
	return d.pressAll(strokes)
}

func (d *Device) keyUp(k Key) error {
	strokes, err := d.backend.chord([]Key{k})
	if err != nil {
		return err
	}
	for _, s := range slices.Backward(strokes) {
		if err := d.lift(input{stroke: s}); err != nil {
			return err
		}
	}
	return nil
}

// tap presses keys in order and lets them go in reverse. What was down before
// stays down.
func (d *Device) tap(strokes []stroke) error {
	mark := len(d.down)
	var list []stroke
	for _, s := range strokes {
		if in := (input{stroke: s}); !slices.Contains(d.down, in) {
			list, d.down = append(list, s), append(d.down, in) // before they are sent: what failed may have arrived
		}
	}
	d.sent = true
	if err := d.backend.tap(list); err != nil {
		return err // perform lets go
	}
	d.down = d.down[:mark]
	return nil
}

// strokes resolves keys of which one at least must go down.
func (d *Device) strokes(keys []Key) ([]stroke, error) {
	list, err := d.backend.chord(keys)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		if !slices.Contains(d.down, input{stroke: s}) {
			return list, nil
		}
	}
	return nil, fmt.Errorf("%w: %q is down already: let it go first", ErrRefused, keys)
}

func (d *Device) pressKeys(ctx context.Context, a Press) error {
	strokes, err := d.strokes(a.Keys)
	if err != nil {
		return err
	}
	if err := d.backend.ready(ctx, false); err != nil {
		return err
	}
	for range a.Count {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := d.tap(strokes); err != nil {
			return err
		}
	}
	return nil
}

func (d *Device) hold(ctx context.Context, a Hold) error {
	strokes, err := d.strokes(a.Keys)
	if err != nil {
		return err
	}
	if err := d.backend.ready(ctx, false); err != nil {
		return err
	}
	if err := d.pressAll(strokes); err != nil {
		return err
	}
	return sleep(ctx, time.Duration(a.Milliseconds)*time.Millisecond)
}

func (d *Device) typeText(ctx context.Context, text string) error {
	if i := slices.IndexFunc(d.down, func(in input) bool { return in.button == "" }); i >= 0 {
		return fmt.Errorf("%w: a key is held down by an earlier action, and would change the text: let it go first, or press keys instead of typing text", ErrRefused)
	}
	if err := d.backend.ready(ctx, careful(ctx)); err != nil {
		return err
	}
	return d.backend.typeText(ctx, text, func() { d.sent = true })
}

func (d *Device) setClipboard(ctx context.Context, text string) error {
	err := d.backend.setClipboard(ctx, text)
	d.sent = d.sent || !errors.Is(err, ErrRefused)
	return err
}

// copy presses ctrl+c and reads what the program puts on the clipboard.
func (d *Device) copy(ctx context.Context) (string, error) {
	strokes, err := d.strokes([]Key{"ctrl", "c"})
	if err != nil {
		return "", err
	}
	if err := d.backend.ready(ctx, false); err != nil {
		return "", err
	}
	return d.backend.copy(ctx, func() error { return d.tap(strokes) })
}

// paste presses ctrl+v. The text stays on the clipboard: a program may fetch
// it later than it seems, so that putting the earlier text back could paste
// that instead.
func (d *Device) paste(ctx context.Context, a Paste) error {
	strokes, err := d.strokes([]Key{"ctrl", "v"})
	if err != nil {
		return err
	}
	if err := d.backend.ready(ctx, careful(ctx)); err != nil {
		return err
	}
	if a.Text != nil {
		if err := d.setClipboard(ctx, string(*a.Text)); err != nil {
			return err
		}
	}
	return d.backend.paste(ctx, func() error { return d.tap(strokes) })
}

// sleep waits, or returns why ctx ended.
func sleep(ctx context.Context, t time.Duration) error {
	timer := time.NewTimer(t)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
