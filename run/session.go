package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"image"
	"io"
	"log/slog"
	"os"

	"desktop-agent/actuator"
	"desktop-agent/actuator/dialect"
	"desktop-agent/actuator/native"
	"desktop-agent/internal/permit"
	"desktop-agent/internal/shlex"
	"desktop-agent/llm"
	"desktop-agent/monitor"
	"desktop-agent/planner"
	"desktop-agent/sandbox"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
	"desktop-agent/screen/ocr"
	"desktop-agent/seat"
)

// A Session is all that a run needs, from the desktop to the journal: opened in
// one call by [Open], and closed in the one right order by [Session.Close].
type Session struct {
	Settings Settings
	Private  *sandbox.Desktop // nil on a display that was there before
	Display  string           // its name; "" of a desktop that is not live
	Screen   *screen.Screen   // nil of a desktop that is not live
	Desktop  Desktop
	Home     planner.Home // of the desktop, if it is the run's own; nil else
	Hand     *Hand
	Journal  Journal
	Scope    *Scope
	Client   *llm.Client // nil where no model is asked
	Log      *slog.Logger

	options  Options
	live     *Live // that the session has opened; nil for none
	tree     *atspi.Reader
	treeErr  error
	reader   *ocr.Reader // of text from the picture; nil for none
	device   *actuator.Device
	seat     *seat.Seat // nil while nobody acts
	of       *Session   // whose run it is a part of; nil if the run is its own
	started  bool       // the program to open was
	finished bool
	closed   bool
}

// Options are what a session gets from who opens it, beside the settings. The
// zero value works: on the display of the settings, with a journal in memory,
// without models.
type Options struct {
	// Agent names who acts, in the events; "agent" if "".
	Agent string
	// Journal makes the journal, once the desktop is there. If it has a Close
	// method, the session calls it. nil for a [Memory].
	Journal func() (Journal, error)
	// Client asks the models; the session has it record its calls. nil where no
	// model is asked.
	Client *llm.Client
	// Watch is told each event; see [NewRecorder].
	Watch func(Event)
	// Guard is asked about each action, unless Exempt is set. GuardFor makes it of a
	// session of which all else is open, and may return nil for none; one of the two is
	// given. Nobody gets the session before.
	Guard    Guard
	GuardFor func(*Session) (Guard, error)
	Exempt   Exemption
	// Tools are what actions may call beside the device; nil: those of the hand ToolsOf, and
	// where that is nil too, none.
	Tools   Toolbox
	ToolsOf *Hand
	// Secrets are kept from models and journals; those with a window can be typed.
	Secrets []Secret
	// NoInput leaves the hand without a device, until [Session.OpenInput].
	NoInput bool

	// NoDesktop leaves the session without a desktop: only tools can be called.
	NoDesktop bool
	// Computer is a live desktop that is somebody else's and stays open; nil for
	// that of the settings.
	Computer *Computer
	// Desktop is one that is not live, such as a recorded one, and Device what acts
	// on it; nil for a live one.
	Desktop Desktop
	Device  Device
	Home    planner.Home // of that desktop; nil if it is not the run's own

	// KeepHome is a folder that a private desktop has as its home, and keeps. NewHome says
	// that it was made for this session: it goes again where the session cannot be opened
	// and no program was started that may have written there.
	KeepHome string
	NewHome  bool
	// Attach is the folder of a private desktop that outlived another program, and is taken
	// over; "" for a new one. See [sandbox.Attach].
	Attach string
	// Getenv reads the environment of the user's session; nil for none.
	Getenv func(string) string
	Log    *slog.Logger // nil: silent
}

// A Computer is a display that somebody else has opened.
type Computer struct {
	Display string
	Bus     string         // address of the D-Bus session bus of its programs
	Screen  *screen.Screen // what looks at it already; nil: the session looks at it as its settings say
	Home    string         // the folder that is the home of its programs, if it is the run's own; "" else
}

// Open opens a session. What was opened before something failed is closed again.
func Open(ctx context.Context, settings Settings, o *Options) (*Session, error) {
	s := &Session{Settings: settings}
	if o != nil {
		s.options = *o
	}
	opened, err := s.open(ctx)
	if err != nil && s.options.NewHome && !s.started {
		err = errors.Join(err, os.RemoveAll(s.options.KeepHome))
	}
	return opened, err
}

// open opens a session by its settings and options.
func (s *Session) open(ctx context.Context) (*Session, error) {
	if of := s.options.ToolsOf; of != nil && s.options.Tools == nil {
		s.options.Tools = of.tools
	}
	if s.options.Tools != nil {
		s.Settings.Tools = s.options.Tools.Offer()
	}
	if s.Log = s.options.Log; s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if s.options.Getenv == nil {
		s.options.Getenv = func(string) string { return "" }
	}
	if err := s.chooseFormat(); err != nil {
		return nil, err
	}
	for _, open := range []func(context.Context) error{s.openDesktop, s.openInput, s.openJournal, s.openGuard} {
		if err := open(ctx); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// chooseFormat has the actor write in the form that its model was trained in, where the
// settings leave that open.
func (s *Session) chooseFormat() (err error) {
	format := &s.Settings.Agent.Format
	if *format != dialect.Auto && *format != dialect.Computer {
		return nil
	}
	model := s.Settings.Models.Roles[llm.Actor].Model
	chosen, why, err := native.Choose(*format, model, s.Settings.Models.Computer)
	s.Log.Debug("format of the actor", "format", chosen, "model", model, "why", why)
	*format = chosen
	return err
}

// openDesktop opens all that is needed to see.
func (s *Session) openDesktop(ctx context.Context) error {
	s.Hand = &Hand{guard: s.options.Guard, exempt: s.options.Exempt, GuardLimit: s.Settings.Agent.GuardLimit, tools: s.options.Tools, Log: s.Log}
	if s.options.NoDesktop {
		return nil
	}
	if s.options.Desktop != nil {
		s.Desktop, s.Hand.device, s.Home = s.options.Desktop, s.options.Device, s.options.Home
		s.Hand.Desktop = s.Desktop
		return nil
	}
	if c := s.options.Computer; c != nil {
		s.Display = c.Display
		if c.Home != "" {
			s.Home = NewHome(c.Home)
		}
		if c.Screen != nil {
			s.Screen = c.Screen
		} else if err := s.connect(ctx, c.Bus); err != nil {
			return err
		}
	} else if err := s.openScreen(ctx); err != nil {
		return err
	}
	live := &Live{Screen: s.Screen, Comparison: Comparison{monitor.Screens{Window: s.Settings.Agent.Detectors.Window}}}
	if s.of != nil {
		live.frames = s.of.Scope.rec.nextDisplay()
	}
	if hide := hider(s.options.Secrets); hide != nil {
		live.secrets = &secretive{list: s.options.Secrets, hide: hide, typed: map[uint32]bool{}}
	}
	s.live, s.Desktop, s.Hand.Desktop = live, live, live
	return nil
}

// borrowed reports whether the display is another's.
func (s *Session) borrowed() bool { return s.options.Computer != nil }

// openScreen starts the private desktop, if one is wanted, with its program, and
// connects to the display.
func (s *Session) openScreen(ctx context.Context) (err error) {
	d := s.Settings.Display
	bus := s.options.Getenv("DBUS_SESSION_BUS_ADDRESS")
	s.Display = d.Name
	if d.Private {
		program, err := shlex.Split(d.Open)
		if err != nil {
			return fmt.Errorf("the program to open, %s: %w", d.Open, err)
		}
		options := &sandbox.Options{Size: d.Size, DPI: d.DPI, HomeFrom: d.Home, MachineDevices: d.MachineDevices, Log: s.Log}
		if s.options.KeepHome != "" {
			options.Home, options.HomeFrom = s.options.KeepHome, ""
		}
		options.KeepFor = d.KeepFor
		if s.options.Attach != "" {
			s.Private, err = sandbox.Attach(ctx, s.options.Attach, s.Log)
		} else {
			s.Private, err = sandbox.Start(ctx, options)
		}
		if err != nil {
			return err
		}
		s.Display, bus = s.Private.Display(), s.Private.BusAddress()
		s.Home = NewHome(s.Private.Home())
		if len(program) > 0 && s.options.Attach == "" {
			_, err := s.Private.Open(ctx, program[0], program[1:]...)
			if s.started = !errors.Is(err, sandbox.ErrNotInstalled); err != nil {
				return err
			}
		}
	}
	return s.connect(ctx, bus)
}

// connect connects to the display, and to the accessibility tree of its programs.
func (s *Session) connect(ctx context.Context, bus string) (err error) {
	d := s.Settings.Display
	// Without an accessibility bus there is a picture still, and each
	// observation tells why there is nothing more.
	s.tree, s.treeErr = atspi.Open(ctx, &atspi.Options{
		BusAddress: bus, Server: screen.ServerOf(s.Display), Silence: d.TreeSilence, AppTimeout: d.TreeLimit, MaxNodes: d.TreeNodes, Log: s.Log,
	})
	s.openReader(ctx)
	o := s.watched(screen.SettleOptions{Quiet: d.Quiet, Ceiling: d.Ceiling})
	if s.reader != nil {
		o.OCR = s.reader
	}
	s.Screen, err = screen.Open(ctx, o)
	return err
}

// openReader has text read from the picture, if that is wanted. Without it there is
// the picture still.
func (s *Session) openReader(ctx context.Context) {
	languages := s.Settings.Display.OCR
	if languages == "" {
		return
	}
	reader, err := ocr.Open(ctx, &ocr.Options{Languages: languages, Log: s.Log})
	switch {
	case errors.Is(err, ocr.ErrMissing):
		s.Log.DebugContext(ctx, "no text is read from the picture", "err", err)
	case err != nil:
		s.Log.WarnContext(ctx, "no text is read from the picture", "err", err)
	default:
		s.reader = reader
	}
}

// OCR returns what reads text from the picture; nil where nothing does.
func (s *Session) OCR() screen.OCR {
	if s.reader == nil {
		return nil
	}
	return s.reader
}

// watched says how the display is watched.
func (s *Session) watched(settle screen.SettleOptions) *screen.Options {
	d := s.Settings.Display
	o := &screen.Options{
		Display: s.Display, Monitor: d.Monitor, MaxImage: image.Pt(d.MaxImage, d.MaxImage), Settle: settle, Log: s.Log,
		Tree: noTree{s.treeErr},
	}
	if s.tree != nil {
		o.Tree = s.tree
	}
	if tool := native.OfFormat(s.Settings.Agent.Format); tool != nil {
		o.Size = func(area image.Point) image.Point { return tool.Image.Fit(area, d.MaxImage) }
	}
	if form := dialect.Named(s.Settings.Agent.Format); form != nil {
		o.Size = func(area image.Point) image.Point { return form.Image.Fit(area, d.MaxImage) }
	}
	return o
}

// QuickScreen returns a further look at the same display that waits for nothing: no
// text is read from its picture.
// The caller closes it.
func (s *Session) QuickScreen(ctx context.Context) (*screen.Screen, error) {
	return screen.Open(ctx, s.watched(screen.SettleOptions{Off: true}))
}

// noTree stands for a tree that cannot be read.
type noTree struct{ err error }

// Read returns the reason; it is [screen.TreeReader].
func (n noTree) Read(context.Context) ([]atspi.Node, []atspi.Program, error) { return nil, nil, n.err }

// openInput gives the hand a device, unless it is to have none.
func (s *Session) openInput(ctx context.Context) error {
	if s.options.NoInput {
		return nil
	}
	return s.OpenInput(ctx)
}

// OpenInput gives the hand the device of a live desktop, for a session that was
// opened without.
func (s *Session) OpenInput(ctx context.Context) error {
	live := s.live
	if live == nil || s.device != nil {
		return nil
	}
	getenv := s.options.Getenv
	if s.Private != nil || s.borrowed() { // X11, whatever the user's own session is
		getenv = func(string) string { return "" }
	}
	err := s.Sit(ctx, true)
	if err != nil {
		return err
	}
	s.device, err = actuator.Open(ctx, permit.Grant(), &actuator.Options{
		Display: s.Display, Getenv: getenv, Log: s.Log,
		Watched: s.Private == nil && !s.borrowed() || s.Settings.Display.KeepFor > 0, // a display that outlives this process
	})
	if err != nil {
		return err
	}
	live.device, s.Hand.device = s.device, seated{liveDevice{live}, s.seat}
	if live.secrets != nil {
		s.Hand.device = secretDevice{s.Hand.device, live, live.secrets}
	}
	s.seat.OnStop(func() {
		if err := s.device.Release(); err != nil {
			s.Log.Error("stopped, but not all was let go", "err", err)
		}
	})
	if s.tree != nil {
		live.setter = s.tree
	}
	return nil
}

// Clipboard returns the text on the clipboard of a live desktop. owned says that a
// program has something on it, which may be no text.
func (s *Session) Clipboard(ctx context.Context) (text actuator.Secret, owned bool, err error) {
	if s.device == nil {
		return "", false, errors.New("clipboard: there is no input device: open the session with one")
	}
	return s.device.Clipboard(ctx)
}

// openJournal begins the journal, and has the models' calls recorded in it.
func (s *Session) openJournal(context.Context) (err error) {
	if s.of != nil {
		s.join(s.of, Where{Agent: s.who(), Display: s.Display})
		return nil
	}
	var journal Journal = &Memory{}
	if s.options.Journal != nil {
		if journal, err = s.options.Journal(); err != nil {
			return err
		}
	}
	s.Journal = journal
	recorder := NewRecorder(s.Journal, s.options.Watch)
	recorder.hide = hider(s.options.Secrets)
	s.Scope = recorder.Scope(Where{Agent: s.who(), Display: s.Display})
	s.Hand.Scope = s.Scope
	if s.Client = s.options.Client; s.Client != nil {
		s.Client.Record, s.Client.Log = s.Scope.Call, s.Log
		if m := &s.Settings.Models; m.Boundary == "" && s.options.Desktop == nil { // what was recorded keeps its own
			m.Boundary = rand.Text()
		}
		s.Client.Hide = recorder.hide
		s.Client.Boundary = s.Settings.Models.Boundary
	}
	return nil
}

// openGuard gives the hand the guard that is made for this session.
func (s *Session) openGuard(context.Context) (err error) {
	switch {
	case s.options.GuardFor == nil:
		return nil
	case s.options.Guard != nil:
		return errors.New("two guards for one session: give Guard or GuardFor")
	}
	s.Hand.guard, err = s.options.GuardFor(s)
	return err
}

// who names who acts.
func (s *Session) who() string { return cmp.Or(s.options.Agent, "agent") }

// While returns a context that also ends when the private desktop breaks, with
// [ErrDesktopGone] as its cause, and when the session is stopped, with a
// [*seat.StoppedError].
func (s *Session) While(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if s.Private != nil {
		go func() {
			select {
			case <-s.Private.Done():
				cancel(fmt.Errorf("%w: %w", ErrDesktopGone, s.Private.Err()))
			case <-ctx.Done():
			}
		}()
	}
	if s.seat != nil {
		go func() {
			select {
			case <-s.seat.Stopped():
				cancel(s.seat.Err())
			case <-ctx.Done():
			}
		}()
	}
	return ctx, func() { cancel(nil) }
}

// Finish ends the run: every key and button goes up, and the journal is closed.
// The desktop stays. It may be called twice.
func (s *Session) Finish() error {
	if s.finished {
		return nil
	}
	s.finished = true
	err := s.Hand.Release()
	if c, ok := s.Journal.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	return err
}

// Close finishes the run and then lets go what it had: the device before the
// screen, and a private desktop last. It may be called twice.
func (s *Session) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	errs := []error{s.Finish()}
	if s.device != nil {
		errs = append(errs, s.device.Close())
	}
	if s.seat != nil {
		errs = append(errs, s.seat.Close())
	}
	if c := s.options.Computer; s.Screen != nil && (c == nil || c.Screen == nil) {
		errs = append(errs, s.Screen.Close())
	}
	if s.reader != nil {
		errs = append(errs, s.reader.Close())
	}
	if s.tree != nil {
		errs = append(errs, s.tree.Close())
	}
	if s.Private != nil {
		errs = append(errs, s.Private.Close())
	}
	return errors.Join(errs...)
}
