package screen

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"slices"
	"sync"
	"time"

	"desktop-agent/screen/atspi"
)

// A TreeReader reads the accessibility trees of all programs: the nodes that
// can be seen, parents before children, and the programs that did not answer
// in time.
type TreeReader interface {
	Read(ctx context.Context) (nodes []atspi.Node, hung []atspi.Program, err error)
}

// An ElementReader is a [TreeReader] that can ask a program what a node of the last
// tree is now, in less time than reading a tree takes. An error means that this cannot
// be known.
type ElementReader interface {
	Now(context.Context, atspi.Node) (atspi.Node, error)
}

// Options say what to look at and how. The zero value works.
type Options struct {
	// Display is the X display, such as ":0"; "" means $DISPLAY.
	Display string

	// MaxImage is the size that the image for the model must fit in, in pixels;
	// zero means [DefaultMaxSide] each way. An image is never enlarged.
	MaxImage image.Point

	// Size says which size the image of an area of so many pixels has, instead of
	// MaxImage; nil for the largest that fits in that.
	Size func(area image.Point) image.Point

	// Monitor is the number of the monitor that the model sees, from 1; 0 means
	// the whole desktop. A monitor that goes away makes observations fail.
	Monitor int

	// Tree reads the accessibility tree; nil means that observations have none.
	Tree TreeReader

	// OCR reads text from the picture where no node tells it; nil means that nothing
	// is read. What it read are nodes of the tree, which say so.
	OCR OCR

	// Settle says how long to wait for the screen to be still.
	Settle SettleOptions

	// Log gets what went wrong without stopping an observation; nil means nothing.
	Log *slog.Logger
}

// DefaultMaxSide is how wide and how tall an image is at most by default, in pixels.
const DefaultMaxSide = 1456

// A Screen is a desktop being watched. Its methods may be called by several
// goroutines; they take turns.
type Screen struct {
	opt     Options
	display *display
	turn    chan struct{} // holds one token: who has it may use display
	closed  chan struct{}
	close   func() error

	mu     sync.Mutex
	frames int   // observations so far
	names  namer // of what was observed
}

var (
	// ErrClosed reports a Screen that was closed.
	ErrClosed = errors.New("screen is closed")

	// ErrNoTree is a [Tree]'s error when no [TreeReader] was given.
	ErrNoTree = errors.New("no accessibility tree was asked for")
)

// Open begins to watch a desktop. It fails if there is none, and its error says
// what to do then. A nil opt means all defaults.
func Open(ctx context.Context, opt *Options) (*Screen, error) {
	s := &Screen{turn: make(chan struct{}, 1), closed: make(chan struct{})}
	s.close = sync.OnceValue(s.shut)
	if opt != nil {
		s.opt = *opt
	}
	if s.opt.MaxImage == (image.Point{}) {
		s.opt.MaxImage = image.Pt(DefaultMaxSide, DefaultMaxSide)
	}
	if s.opt.MaxImage.X < 1 || s.opt.MaxImage.Y < 1 {
		return nil, fmt.Errorf("open screen: the largest image cannot be %v; both sides must be 1 pixel or more", s.opt.MaxImage)
	}
	if s.opt.Monitor < 0 {
		return nil, fmt.Errorf("open screen: there is no monitor %d; monitors count from 1, and 0 means all", s.opt.Monitor)
	}
	if s.opt.Log == nil {
		s.opt.Log = slog.New(slog.DiscardHandler)
	}
	var err error
	if s.display, err = await(ctx, func() (*display, error) { return openDisplay(s.opt) },
		func(late *display) { late.close() }); err != nil {
		return nil, fmt.Errorf("open screen: %w", err)
	}
	s.turn <- struct{}{}
	return s, nil
}

// Close lets the desktop go. Calls in progress fail with [ErrClosed] or with
// the error of a connection that ended.
func (s *Screen) Close() error { return s.close() }

func (s *Screen) shut() error {
	close(s.closed)
	s.display.hangUp() // whoever has the turn fails soon, and gives it back
	select {
	case <-s.turn:
	case <-time.After(closeLimit):
		return fmt.Errorf("close screen: the display %s does not answer", s.opt.Display)
	}
	if err := s.display.close(); err != nil {
		return fmt.Errorf("close screen: %w", err)
	}
	return nil
}

// closeLimit is how long Close waits for a call in progress to notice.
const closeLimit = 2 * time.Second

// Observe waits until the screen is still and then takes in everything: the
// picture, the windows and the accessibility tree, all at the same moment. A
// tree that cannot be read is told in the observation and is no error.
func (s *Screen) Observe(ctx context.Context) (*Observation, error) {
	o, err := turn(ctx, s, func(d *display) (*Observation, error) {
		start := time.Now()
		settled, o, err := s.observeSettled(ctx, d)
		if err != nil {
			return nil, err
		}
		// What was drawn while looking belongs to the same change: look again. And a
		// program that gave no answer until the ceiling may have come to life since.
		for again := 0; (settled.Reason == SettledQuiet || d.revived()) && d.stirred(); again++ {
			if again > 0 && time.Since(start) >= d.settling.Ceiling {
				settled = settled.after(Settled{Busy: []string{"drawing"}})
				settled.Reason = SettledCeiling
				break
			}
			first := settled
			if settled, o, err = s.observeSettled(ctx, d); err != nil {
				return nil, err
			}
			settled = settled.after(first)
		}
		o.Settled, o.Timing.Settle, o.Timing.Total = settled, settled.Waited, time.Since(start)
		return o, nil
	})
	if err != nil {
		return nil, fmt.Errorf("observe: %w", err)
	}
	s.read(ctx, o)
	s.mu.Lock()
	s.frames++
	s.names.name(o.Tree.Nodes, o.untold)
	o.FrameID = fmt.Sprintf("f%04d", s.frames)
	s.mu.Unlock()
	return o.Final(), nil
}

// untold reports whether a node that was observed before, and is not now, may be there all the
// same: its program did not answer, no tree was read, or not all of the picture.
func (o *Observation) untold(n atspi.Node) bool {
	if n.Read {
		return o.Unread
	}
	return o.Tree.Err != nil || slices.ContainsFunc(o.Tree.Hung, func(p atspi.Program) bool { return p.PID == n.PID })
}

// observeSettled waits until the screen is still, and takes in everything.
func (s *Screen) observeSettled(ctx context.Context, d *display) (settled Settled, o *Observation, err error) {
	if settled, err = d.settle(ctx); err != nil {
		return settled, nil, err
	}
	o, err = s.observe(ctx, d)
	d.looked()
	return settled, o, err
}

// Continue has observations numbered on from those of an earlier program: frames and
// elements are the highest numbers that were given, and last what the newest of them had,
// where that is still to be seen.
func (s *Screen) Continue(frames, elements int, last []atspi.Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frames, s.names = max(s.frames, frames), namer{nodes: last, count: max(s.names.count, elements)}
}

// Snapshot takes in the windows and the accessibility tree as they are now, without a
// picture; it waits for nothing. Elements that the newest observation has have the
// same ID, others have none: they get one when they are observed.
func (s *Screen) Snapshot(ctx context.Context) (*Observation, error) {
	o, err := s.told(ctx)
	if err != nil {
		return nil, err
	}
	s.recognise(o)
	return o, nil
}

// recognise gives elements the IDs that they have in the newest observation.
func (s *Screen) recognise(o *Observation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names.recognise(o.Tree.Nodes)
}

// told takes in the windows, and what the programs tell.
func (s *Screen) told(ctx context.Context) (*Observation, error) {
	o, err := turn(ctx, s, func(d *display) (*Observation, error) {
		o := &Observation{At: time.Now()}
		var tree sync.WaitGroup
		tree.Go(func() { o.Tree, o.Timing.Tree = s.readTree(ctx) })
		var err error
		o.Windows, err = d.windows()
		tree.Wait()
		o.Tree.place(o.Windows)
		return o, errors.Join(err, ended(ctx))
	})
	if err != nil {
		return nil, fmt.Errorf("look: %w", err)
	}
	return o, nil
}

// observe takes in everything at once.
func (s *Screen) observe(ctx context.Context, d *display) (*Observation, error) {
	o := &Observation{At: time.Now()}
	var tasks sync.WaitGroup
	var windowsErr error
	tasks.Go(func() { o.Tree, o.Timing.Tree = s.readTree(ctx) })
	tasks.Go(func() {
		start := time.Now()
		o.Windows, windowsErr = d.windows()
		o.Timing.Windows = time.Since(start)
	})
	err := s.picture(o, d)
	tasks.Wait()
	o.Tree.place(o.Windows)
	return o, errors.Join(err, windowsErr, ended(ctx))
}

// picture captures the screen and makes the image for the model of it.
func (s *Screen) picture(o *Observation, d *display) error {
	start := time.Now()
	shot, err := d.capture(true)
	if err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	o.Bare, o.Frame, o.Cursor, o.Monitors = shot.bare, shot.frame, shot.cursor, shot.monitors
	o.Timing.Capture = time.Since(start)

	start = time.Now()
	source := o.Frame.Rect
	if n := s.opt.Monitor; n > 0 {
		if n > len(o.Monitors) {
			return fmt.Errorf("monitor %d is not there; the desktop has %d", n, len(o.Monitors))
		}
		source = source.Intersect(o.Monitors[n-1].Box)
	}
	size := fit(source.Size(), s.opt.MaxImage)
	if s.opt.Size != nil {
		size = s.opt.Size(source.Size())
	}
	o.Image, err = render(o.Frame, source, size)
	o.Timing.Encode = time.Since(start)
	return err
}

// readTree reads the accessibility tree and the time that it took.
func (s *Screen) readTree(ctx context.Context) (Tree, time.Duration) {
	if s.opt.Tree == nil {
		return Tree{Err: ErrNoTree}, 0
	}
	start := time.Now()
	nodes, hung, err := s.opt.Tree.Read(ctx)
	if err != nil {
		s.opt.Log.WarnContext(ctx, "no accessibility tree", "err", err)
	}
	return Tree{Nodes: nodes, Hung: hung, Err: err}, time.Since(start)
}

// Settle waits until the programs have taken all input and the screen is still,
// and tells why it went on. Input must have reached the X server before.
func (s *Screen) Settle(ctx context.Context) (Settled, error) {
	settled, err := turn(ctx, s, func(d *display) (Settled, error) { return d.settle(ctx) })
	if err != nil {
		return settled, fmt.Errorf("settle: %w", err)
	}
	return settled, nil
}

// BeforeInput says that input is sent next: what programs do from now on they may do because
// of it. What they did until now shows which of them work without cause, and are not waited
// for. Without it that is only learnt while there is no input between two waits. On a display
// that is gone it does nothing.
func (s *Screen) BeforeInput(ctx context.Context) {
	_, _ = turn(ctx, s, func(d *display) (none struct{}, _ error) {
		d.stir()
		return none, nil
	})
}

// Capture returns the whole screen as it is now, without the pointer, in
// device pixels. It waits for nothing.
func (s *Screen) Capture(ctx context.Context) (*image.RGBA, error) {
	picture, err := turn(ctx, s, func(d *display) (*image.RGBA, error) {
		shot, err := d.capture(false)
		return shot.bare, err
	})
	if err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	return picture, nil
}

// Windows returns the windows as they are now: the managed ones bottom to top,
// then menus, tooltips and the like.
func (s *Screen) Windows(ctx context.Context) ([]Window, error) {
	list, err := turn(ctx, s, func(d *display) ([]Window, error) { return d.windows() })
	if err != nil {
		return nil, fmt.Errorf("windows: %w", err)
	}
	return list, nil
}

// turn calls f when it is the caller's turn to use the display.
func turn[T any](ctx context.Context, s *Screen, f func(*display) (T, error)) (T, error) {
	var zero T
	select {
	case <-ctx.Done():
		return zero, ended(ctx)
	case <-s.closed:
		return zero, ErrClosed
	case <-s.turn:
	}
	select {
	case <-s.closed: // this call and Close came at once
		s.turn <- struct{}{}
		return zero, ErrClosed
	default:
	}
	return await(ctx, func() (T, error) {
		defer func() { s.turn <- struct{}{} }()
		return f(s.display)
	}, nil)
}

// await returns what f returns, or the context's error as soon as it ends: a
// display that hangs must not hang its user. A result that comes too late goes
// to drop.
func await[T any](ctx context.Context, f func() (T, error), drop func(T)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		go func() {
			if r := <-done; r.err == nil && drop != nil {
				drop(r.value)
			}
		}()
		var zero T
		return zero, ended(ctx)
	}
}

// ended returns why a context has ended, with the cause where it has one of its
// own; nil if it has not ended.
func ended(ctx context.Context) error {
	err := ctx.Err()
	if cause := context.Cause(ctx); cause != err {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}
