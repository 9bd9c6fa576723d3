package runtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/png" // what a model is sent
	"regexp"
	"slices"
	"testing"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/actuator/actuatortest"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// A DesktopSubject is a desktop that [TestDesktop] tries, and what is known of it.
// Nothing else acts on it meanwhile, and nothing on it moves by itself.
type DesktopSubject struct {
	Desktop run.Desktop
	// Hand acts on the desktop; nil for one of Device.
	Hand *run.Hand
	// Device is what acts on it, where that can be had without a hand.
	Device run.Device

	// Action is one that can be done, and changes nothing that is seen; nil to move
	// the pointer to the middle.
	Action actuator.Action
	// Change changes what the desktop shows.
	Change func(testing.TB)
	// Next, if not nil, is called before each observation.
	Next func()

	// Recorded, if not "", is why the desktop tells what its journal has, and not what
	// it sees: of an image only its place is known, what an action changed is not
	// looked up, and an action that was not recorded is the end.
	Recorded string
	// NoPixels, if not "", is why there are no pictures to compare.
	NoPixels string
	// Soon is how long anything may go on after it was cancelled; if 0, 50 s, which is
	// less than what is waited for in vain.
	Soon time.Duration

	newest *screen.Observation
	ids    map[string]bool // of the frames so far
}

// TestDesktop holds what every [run.Desktop], with the hand that acts on it,
// promises:
//
//   - Each observation has an ID that no other has, fit to name a file.
//   - Frame and Bare are of one size, and begin at (0, 0). The image has the size that
//     its mapping tells, shows a part of the frame, and every pixel of it maps into
//     that part.
//   - No two windows or nodes have one ID, at most one window has the focus, and nodes
//     come after their parents.
//   - A capture shows what the observation before it shows, if nothing was done.
//   - Of a desktop that does not change, each screen has the same name, and there is
//     no surprise, no change of windows, and an action that changed nothing. Once it
//     has changed, the name is another, and so says the comparison.
//   - An action that aims at no element by its handle is located as it is. One whose
//     handle no observation has is not: it is told why.
//   - Whatever is asked with a context that has ended, or ends, soon returns an error
//     that wraps the context's cause.
//   - An action that is for the agent is refused: the error wraps
//     [actuator.ErrRefused]. One for the desktop is delivered.
func TestDesktop(t testing.TB, s *DesktopSubject) {
	t.Helper()
	s.ids = map[string]bool{}
	if s.Hand == nil {
		s.Hand = run.NewHand(s.Device, run.NewRecorder(&run.Memory{}, nil).Scope(run.Where{}), nil)
	}
	for _, rule := range []struct {
		name string
		hold func(testing.TB, *DesktopSubject) error
	}{
		{"IDs of frames", holdIDs},
		{"pictures", holdPictures},
		{"windows and nodes", holdTree},
		{"a capture", holdCapture},
		{"nothing changed", holdStill},
		{"where an action goes", holdLocate},
		{"an action", holdAction},
		{"an action for the agent", holdForAgent},
		{"a context that has ended", holdEnded},
		{"a context that ends", holdEnds},
		{"a change", holdChange},
	} {
		if err := rule.hold(t, s); err != nil {
			t.Errorf("%s: %v", rule.name, err)
		}
		if s.newest == nil {
			return // nothing can be seen on it
		}
	}
}

// fileName is what the ID of a frame may be.
var fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// observe takes everything in, once more.
func (s *DesktopSubject) observe(ctx context.Context) (*screen.Observation, error) {
	if s.Next != nil {
		s.Next()
	}
	o, err := s.Desktop.Observe(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("observe: %w", err)
	case o == nil:
		return nil, errors.New("observe: there is neither an observation nor an error")
	}
	s.newest = o
	return o, nil
}

func holdIDs(t testing.TB, s *DesktopSubject) error {
	for range 3 {
		o, err := s.observe(t.Context())
		switch {
		case err != nil:
			return err
		case !fileName.MatchString(o.FrameID):
			return fmt.Errorf("%q can name no file", o.FrameID)
		case s.ids[o.FrameID]:
			return fmt.Errorf("there are two observations %q", o.FrameID)
		}
		s.ids[o.FrameID] = true
	}
	return nil
}

func holdPictures(t testing.TB, s *DesktopSubject) error {
	o, err := s.observe(t.Context())
	if err != nil {
		return err
	}
	m := o.Image.Mapping
	if m.Source.Empty() || m.Size.X < 1 || m.Size.Y < 1 {
		return fmt.Errorf("the mapping %+v shows nothing", m)
	}
	for _, p := range []image.Point{{}, m.Size.Sub(image.Pt(1, 1)), m.Size.Div(2)} {
		at := m.ToDevice(p)
		if !at.In(m.Source) || !m.ToImage(at).In(m.Bounds()) {
			return fmt.Errorf("the mapping %+v maps %v to %v and back to %v", m, p, at, m.ToImage(at))
		}
	}
	if s.NoPixels == "" {
		switch {
		case o.Frame == nil || o.Bare == nil:
			return errors.New("there is no picture")
		case o.Frame.Rect.Empty() || o.Frame.Rect.Min != (image.Point{}) || o.Frame.Rect != o.Bare.Rect:
			return fmt.Errorf("the frame is %v, and without the pointer %v", o.Frame.Rect, o.Bare.Rect)
		case !m.Source.In(o.Frame.Rect):
			return fmt.Errorf("the image shows %v of a frame of %v", m.Source, o.Frame.Rect)
		}
	}
	if s.Recorded != "" {
		return nil
	}
	shown, _, err := image.DecodeConfig(bytes.NewReader(o.Image.Data))
	if err != nil || o.Image.Type != "image/png" {
		return fmt.Errorf("the image (%q) cannot be decoded: %v", o.Image.Type, err)
	}
	if size := image.Pt(shown.Width, shown.Height); size != m.Size {
		return fmt.Errorf("the image has the size %v, and its mapping %v", size, m.Size)
	}
	return nil
}

func holdTree(t testing.TB, s *DesktopSubject) error {
	o, err := s.observe(t.Context())
	if err != nil {
		return err
	}
	windows, nodes, focused := map[uint32]bool{}, map[string]bool{}, 0
	for _, w := range o.Windows {
		if windows[w.ID] {
			return fmt.Errorf("there are two windows %d", w.ID)
		}
		if windows[w.ID] = true; w.Focused {
			focused++
		}
	}
	if focused > 1 {
		return fmt.Errorf("%d windows have the focus", focused)
	}
	for i, n := range o.Tree.Nodes {
		if n.ID == "" || nodes[n.ID] {
			return fmt.Errorf("node %d has the ID %q, which is none of its own", i, n.ID)
		}
		if nodes[n.ID] = true; n.Parent < -1 || n.Parent >= i {
			return fmt.Errorf("node %q at %d has its parent at %d", n.ID, i, n.Parent)
		}
	}
	return nil
}

func holdCapture(t testing.TB, s *DesktopSubject) error {
	o, err := s.observe(t.Context())
	if err != nil {
		return err
	}
	c, err := s.Desktop.Capture(t.Context())
	if err != nil {
		return err
	}
	if s.NoPixels == "" && !screen.SamePicture(o.Bare, c.Bare) {
		return errors.New("it shows another picture than the observation before it")
	}
	id := func(w screen.Window) uint32 { return w.ID }
	if was, is := names(o.Windows, id), names(c.Windows, id); !slices.Equal(was, is) {
		return fmt.Errorf("it has the windows %v, and the observation before it %v", is, was)
	}
	return nil
}

func names[T, N any](list []T, name func(T) N) (out []N) {
	for _, v := range list {
		out = append(out, name(v))
	}
	return out
}

func holdStill(t testing.TB, s *DesktopSubject) error {
	var seen [2]string
	var captured [2]run.Capture
	for i := range seen {
		o, err := s.observe(t.Context())
		if err != nil {
			return err
		}
		seen[i] = s.Desktop.ScreenName(o)
		if captured[i], err = s.Desktop.Capture(t.Context()); err != nil {
			return err
		}
	}
	if seen[0] == "" || seen[0] != seen[1] {
		return fmt.Errorf("the same screen is named %q, and then %q", seen[0], seen[1])
	}
	if why := s.Desktop.WindowChange(captured[0], captured[1]); why != "" {
		return fmt.Errorf("there is a change of windows: %s", why)
	}
	middle := actuator.Point{X: s.newest.Image.Mapping.Size.X / 2, Y: s.newest.Image.Mapping.Size.Y / 2}
	if s.NoPixels == "" {
		for _, a := range []actuator.Action{
			actuator.Click{At: &middle, Button: actuator.Left, Count: 1}, actuator.Type{Text: "x"}, actuator.Move{At: middle},
		} {
			if why := s.Desktop.Surprise(t.Context(), run.Aim{Action: a, Chosen: s.newest, Now: captured[1]}); why != "" {
				return fmt.Errorf("there is a surprise before a %s: %s", actuator.Name(a), why)
			}
		}
	}
	if s.Recorded == "" && (!s.Desktop.Unchanged(0, func() bool { return true }) || s.Desktop.Unchanged(0, func() bool { return false })) {
		return errors.New("whether an action changed nothing is not what a look tells")
	}
	return nil
}

func holdLocate(t testing.TB, s *DesktopSubject) error {
	o, err := s.observe(t.Context())
	if err != nil {
		return err
	}
	now, err := s.Desktop.Capture(t.Context())
	if err != nil {
		return err
	}
	type of struct {
		action actuator.Action
		gone   bool
	}
	list := []of{{action: actuator.Press{Keys: []actuator.Key{"enter"}, Count: 1}}, {action: actuator.Move{At: actuator.Point{X: o.Image.Mapping.Size.X / 2, Y: o.Image.Mapping.Size.Y / 2}}}}
	if s.Recorded == "" {
		list = append(list, of{actuator.Move{At: actuator.Point{Element: actuator.Element{ID: "n999999", Role: "push button", Name: "none"}}}, true})
	}
	for _, x := range list {
		a, why, err := s.Desktop.Locate(t.Context(), run.Aim{Action: x.action, Chosen: o, Now: now})
		switch {
		case err != nil:
			return err
		case x.gone && why == "":
			return fmt.Errorf("an element that is not there is located: %s", actuator.Describe(a))
		case !x.gone && (why != "" || !actuator.Same(a, x.action)):
			return fmt.Errorf("%s is located as %s: %s", actuator.Describe(x.action), actuator.Describe(a), why)
		}
	}
	return nil
}

func holdAction(t testing.TB, s *DesktopSubject) error {
	o, err := s.observe(t.Context())
	if err != nil {
		return err
	}
	a := s.Action
	if a == nil {
		a = actuator.Move{At: actuator.Point{X: o.Image.Mapping.Size.X / 2, Y: o.Image.Mapping.Size.Y / 2}}
	}
	act, err := s.Hand.Do(t.Context(), run.Intent{Action: a, On: o})
	if err != nil {
		return err
	}
	if act.Status != actuator.Delivered {
		return fmt.Errorf("a %s is %s: %s", actuator.Name(a), act.Status, act.Detail)
	}
	if _, err = s.observe(t.Context()); err != nil {
		return fmt.Errorf("after it: %w", err)
	}
	return act.Close(t.Context(), nil)
}

// forAgent has an example of each type of action that is for the agent.
func forAgent() (list []actuator.Action, err error) {
	for _, v := range actuator.Variants() {
		fields, err := actuatortest.Fill(v.Schema)
		if err != nil {
			return nil, err
		}
		a, err := actuator.Decode(v.Name, fields)
		if err != nil {
			return nil, err
		}
		if actuator.ForAgent(a) {
			list = append(list, a)
		}
	}
	return list, nil
}

func holdForAgent(t testing.TB, s *DesktopSubject) error {
	if s.Recorded != "" {
		return nil
	}
	list, err := forAgent()
	if err != nil {
		return err
	}
	for _, a := range list {
		act, err := s.Hand.Do(t.Context(), run.Intent{Action: a, On: s.newest})
		if err != nil {
			return fmt.Errorf("%s: %w", actuator.Name(a), err)
		}
		if act.Status != actuator.Refused {
			return fmt.Errorf("%s is %s", actuator.Name(a), act.Status)
		}
	}
	return nil
}

// errStop is why the suite cancels a context.
var errStop = errors.New("stopped by the suite")

// calls is all that takes a context.
func (s *DesktopSubject) calls() map[string]func(context.Context) error {
	list := map[string]func(context.Context) error{
		"observe": func(ctx context.Context) error { _, err := s.Desktop.Observe(ctx); return err },
		"capture": func(ctx context.Context) error { _, err := s.Desktop.Capture(ctx); return err },
		"hand": func(ctx context.Context) error {
			_, err := s.Hand.Do(ctx, run.Intent{Action: actuator.Wait{Milliseconds: 60_000}, On: s.newest})
			return err
		},
	}
	if s.Device != nil && s.Recorded == "" {
		list["device"] = func(ctx context.Context) error {
			_, err := s.Device.Do(ctx, actuator.Wait{Milliseconds: 60_000}, s.newest.Image.Mapping)
			return err
		}
	}
	return list
}

// soon returns what f does, or an error if it takes too long.
func (s *DesktopSubject) soon(ctx context.Context, f func(context.Context) error) error {
	limit := s.Soon
	if limit <= 0 {
		limit = 50 * time.Second
	}
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	<-ctx.Done()
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
		return errHangs
	}
}

// errHangs says that a call goes on although its context has ended.
var errHangs = errors.New("it goes on")

func holdEnded(t testing.TB, s *DesktopSubject) error {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errStop)
	var errs []error
	for name, f := range s.calls() {
		if err := s.soon(ctx, f); !errors.Is(err, errStop) {
			errs = append(errs, fmt.Errorf("%s: want the cause of its end, got: %v", name, err))
		}
	}
	return errors.Join(errs...)
}

func holdEnds(t testing.TB, s *DesktopSubject) error {
	var errs []error
	for name, f := range s.calls() {
		if s.Recorded != "" && name == "hand" {
			continue
		}
		if s.Next != nil {
			s.Next()
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(20*time.Millisecond, func() { cancel(errStop) })
		if err := s.soon(ctx, f); err != nil && !errors.Is(err, errStop) { // it may have been done before
			errs = append(errs, fmt.Errorf("%s: want the cause of its end, got: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func holdChange(t testing.TB, s *DesktopSubject) error {
	before, err := s.observe(t.Context())
	if err != nil {
		return err
	}
	was := s.Desktop.ScreenName(before)
	s.Change(t)
	after, err := s.observe(t.Context())
	if err != nil {
		return err
	}
	if is := s.Desktop.ScreenName(after); is == "" || is == was {
		return fmt.Errorf("the screen before is named %q, and now %q", was, is)
	}
	if s.NoPixels == "" && screen.SamePicture(before.Bare, after.Bare) && screen.SameTree(before, after) {
		return errors.New("the observations are the same")
	}
	return nil
}
