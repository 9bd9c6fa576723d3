package run

import (
	"context"
	"errors"
	"fmt"
	"image"
	"strconv"
	"sync/atomic"

	"desktop-agent/actuator"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// A Desktop can be observed. [Live] is a real one; one that was recorded shows
// and tells what its journal has. To act on a desktop takes a [Hand]. The rules that
// hold of each are those of [desktop-agent/run/runtest.TestDesktop].
type Desktop interface {
	// Observe waits until the screen is still and takes everything in.
	Observe(context.Context) (*screen.Observation, error)
	// Capture takes in what shows whether a batch may go on, once the screen is
	// still if something was done before.
	Capture(context.Context) (Capture, error)

	// ScreenName names the screen of the newest observation: those that look the
	// same, but for the pointer and a caret, have the same name.
	ScreenName(*screen.Observation) string
	// Recall keeps in mind that a picture had a name already, in an earlier program.
	Recall(picture *image.RGBA, name string)
	// Locate returns an action of a batch with the elements that it aims at by their
	// handles where they are now. why is not "" if one of them cannot be acted on: then
	// the action must not be performed. See the function of this name.
	Locate(context.Context, Aim) (a actuator.Action, why string, err error)
	// Surprise returns why an action of a batch must not be performed although it
	// was proposed; "" if nothing speaks against it.
	Surprise(context.Context, Aim) string
	// WindowChange returns in words which window came, went or got the focus; ""
	// if none did.
	WindowChange(before, after Capture) string
	// Unchanged reports whether the action of this index changed nothing. look
	// compares what was seen before and after.
	Unchanged(index int, look func() bool) bool
}

// ErrDesktopGone, as the cause of a cancelled context, says that the desktop
// broke: the run ends with an error, not as one that the user stopped.
var ErrDesktopGone = errors.New("the desktop is gone")

// A Capture is what is looked at between the actions of a batch.
type Capture struct {
	Bare    *image.RGBA // the whole screen without the pointer, in device pixels
	Windows []screen.Window
	Settled screen.Settled // how the wait before it ended; zero if there was none
}

// Unchanged reports whether the picture after an action shows for certain that nothing has
// changed: where it had not come to rest, something may still be to come.
func (c Capture) Unchanged(a actuator.Action, after Capture) bool {
	return after.Settled.Rested() && samePicture(a, c.Bare, after.Bare)
}

// An Aim is an action of a batch, right before it is performed.
type Aim struct {
	Action actuator.Action
	Done   []actuator.Action   // of the batch, before it
	Chosen *screen.Observation // what it was chosen on
	Now    Capture
	Again  bool // it was held up once, and proposed again
}

// Live is a real desktop.
type Live struct {
	Comparison
	Screen *screen.Screen

	frames  string // what the IDs of frames begin with, where several displays are in one journal
	device  Device
	secrets *secretive  // nil where there are none
	setter  setter      // nil where no program can be asked to set what an element holds
	stirred atomic.Bool // input was sent since the last look
}

// Observe takes in everything once the screen is still.
func (l *Live) Observe(ctx context.Context) (*screen.Observation, error) {
	l.stirred.Store(false)
	o, err := l.Screen.Observe(ctx)
	if err == nil && l.secrets != nil {
		err = l.secrets.clean(o) // what cannot be cleaned is not shown
	}
	if err != nil {
		return nil, err
	}
	o.FrameID = l.frames + o.FrameID
	return o, nil
}

// Capture takes in the picture and the windows, once the screen is still if
// input was sent since the last look.
func (l *Live) Capture(ctx context.Context) (c Capture, err error) {
	if l.stirred.Swap(false) {
		if c.Settled, err = l.Screen.Settle(ctx); err != nil {
			return c, err
		}
	}
	if c.Bare, err = l.Screen.Capture(ctx); err != nil {
		return c, err
	}
	l.secrets.paint(c)
	c.Windows, err = l.Screen.Windows(ctx)
	return c, err
}

// Surprise returns why an action must not be performed: beside what the pictures
// tell, other windows or elements lie now at its points than the model saw there. Programs draw
// many that look alike, and move them.
func (l *Live) Surprise(ctx context.Context, aim Aim) string {
	if why, over := l.anyway(aim); over {
		return why
	}
	for _, p := range actuator.Points(aim.Action) {
		at := aim.Chosen.Image.Mapping.ToDevice(image.Pt(p.X, p.Y))
		if _, release := aim.Action.(actuator.ButtonUp); release && pointedAt(aim.Done, p) {
			continue // what it has opened while it was down
		}
		if p.Element.ID == "" && windowAt(aim.Chosen.Windows, at).ID != windowAt(aim.Now.Windows, at).ID {
			return fmt.Sprintf("at (%d, %d) another window lies now than the screenshot %s shows", p.X, p.Y, aim.Chosen.FrameID)
		}
	}
	known := func(at image.Point) bool { return len(aim.Done) > 0 && l.same(ctx, aim.Chosen, at) }
	if why := l.changed(aim, known); why != "" {
		return why
	}
	for _, p := range actuator.Points(aim.Action) {
		if p.Element.ID != "" { // [Live.Locate] has found the element itself
			continue
		}
		if pointedAt(aim.Done, p) && !atspi.Operable(p.Element.Role) {
			continue // what a batch did there may have changed it, as it was to
		}
		at := aim.Chosen.Image.Mapping.ToDevice(image.Pt(p.X, p.Y))
		change, err := l.Screen.ChangeAt(ctx, aim.Chosen, at)
		if l.secrets != nil && change.Now != nil {
			l.secrets.hideNode(change.Now)
		}
		if err != nil || !change.Any() {
			continue // the pictures are the same, and nothing else is known
		}
		now := "no element"
		if change.Now != nil {
			now = change.Now.Describe(quoteName)
		}
		return fmt.Sprintf("at (%d, %d) there is %s now, and no longer %s, which the screenshot %s shows",
			p.X, p.Y, now, change.Was.Describe(quoteName), aim.Chosen.FrameID)
	}
	return ""
}

// same reports whether a look at the screen finds at a device pixel the element that was
// there when an action was chosen, in the same window. Then what a batch has highlighted
// or filled is no surprise.
func (l *Live) same(ctx context.Context, chosen *screen.Observation, at image.Point) bool {
	was := chosen.PlaceAtDevice(at)
	if was.Node < 0 || was.Window < 0 {
		return false
	}
	now, err := l.looked(l.Screen.Snapshot(ctx))
	if err != nil || now.Tree.Err != nil {
		return false
	}
	is := now.PlaceAtDevice(at)
	if is.Node < 0 || is.Window < 0 || now.Windows[is.Window].ID != chosen.Windows[was.Window].ID {
		return false
	}
	a, b := chosen.Tree.Nodes[was.Node], now.Tree.Nodes[is.Node]
	return a.ID == b.ID && a.Role == b.Role && atspi.Operable(a.Role) && (a.Called() == b.Called() || renamed(a.Role))
}

// looked takes secrets out of what a look has found, as they are out of the list that actions
// are chosen from.
func (l *Live) looked(o *screen.Observation, err error) (*screen.Observation, error) {
	if err == nil && l.secrets != nil {
		l.secrets.hideAll(o)
	}
	return o, err
}

// maxQuoted is how much of an element's name is told, in characters.
const maxQuoted = 80

// quoteName quotes what a program calls an element, so that it cannot pass for words
// of ours.
func quoteName(s string) string {
	if r := []rune(s); len(r) > maxQuoted {
		return strconv.Quote(string(r[:maxQuoted])) + "…"
	}
	return strconv.Quote(s)
}

// liveDevice acts on a live desktop, which waits then before it is looked at.
type liveDevice struct{ *Live }

// Do performs an action with mouse and keyboard; what needs to be looked at for it, it
// does itself.
func (d liveDevice) Do(ctx context.Context, a actuator.Action, f actuator.Frame) (string, error) {
	d.stirred.Store(true)
	d.Screen.BeforeInput(ctx)
	switch a := a.(type) {
	case actuator.Set:
		return "", d.set(ctx, a, f)
	case actuator.WaitUntil:
		return d.waitUntil(ctx, a)
	default: // mouse and keyboard; the device refuses what it does not know
		return d.device.Do(ctx, a, f)
	}
}

// Release lets every key and button go.
func (d liveDevice) Release() error {
	if r, ok := d.device.(interface{ Release() error }); ok {
		return r.Release()
	}
	return nil
}
