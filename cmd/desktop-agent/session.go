package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"os"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/agent"
	"desktop-agent/run"
	"desktop-agent/sandbox"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// A session is a desktop to look at and to act on.
type session struct {
	Private *sandbox.Desktop // nil on the user's own display
	Screen  *screen.Screen
	Device  *actuator.Device

	display string // its name
	tree    *atspi.Reader
}

// openSession starts the private desktop, if one is wanted, with its program,
// and connects to the display.
func openSession(ctx context.Context, f desktopFlags, log *slog.Logger) (*session, error) {
	s := &session{}
	err := s.openScreen(ctx, f, log)
	if err == nil {
		err = s.openDevice(ctx, f, log)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openScreen opens all that is needed to see.
func (s *session) openScreen(ctx context.Context, f desktopFlags, log *slog.Logger) (err error) {
	s.display = f.Display
	bus := os.Getenv("DBUS_SESSION_BUS_ADDRESS")
	if f.Virtual {
		options := &sandbox.Options{Size: image.Point(f.Size), DPI: f.DPI, HomeFrom: f.Home, Log: log}
		if f.KeepHome != "" {
			if err := newHome(f.KeepHome, f.Home); err != nil {
				return err
			}
			options.Home, options.HomeFrom = f.KeepHome, ""
		}
		if s.Private, err = sandbox.Start(ctx, options); err != nil {
			return err
		}
		s.display, bus = s.Private.Display(), s.Private.BusAddress()
	}
	if words := strings.Fields(f.Open); len(words) > 0 {
		if _, err := s.Private.Open(ctx, words[0], words[1:]...); err != nil {
			return err
		}
	}
	options := &screen.Options{Display: s.display, Monitor: f.OnMonitor, Log: log}
	// Without an accessibility bus there is a picture still, and each
	// observation tells why there is nothing more.
	if s.tree, err = atspi.Open(ctx, &atspi.Options{BusAddress: bus, Log: log}); err == nil {
		options.Tree = s.tree
	} else {
		options.Tree = noTree{err}
	}
	s.Screen, err = screen.Open(ctx, options)
	return err
}

// newHome makes a home folder that is kept, with the content of another one if
// that is given.
func newHome(home, from string) error {
	if err := os.Mkdir(home, 0o700); err != nil {
		return &usageError{hintError{fmt.Errorf("--keep-home: %w", err), "name a folder that is not there yet"}}
	}
	if from == "" {
		return nil
	}
	if err := os.CopyFS(home, os.DirFS(from)); err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	return nil
}

// noTree stands for a tree that cannot be read.
type noTree struct{ err error }

// Read returns the reason; it is [screen.TreeReader].
func (n noTree) Read(context.Context) ([]atspi.Node, []string, error) { return nil, nil, n.err }

// openDevice opens all that is needed to act.
func (s *session) openDevice(ctx context.Context, f desktopFlags, log *slog.Logger) (err error) {
	s.Device, err = actuator.Open(ctx, &actuator.Options{Display: s.display, Getenv: sessionEnv(f.Virtual), Log: log})
	return err
}

// sessionEnv is the environment that tells the type of the session: a private
// desktop is X11, whatever the user's own session is.
func sessionEnv(private bool) func(string) string {
	if private {
		return func(string) string { return "" }
	}
	return os.Getenv
}

// Close lets every key go, and ends the private desktop.
func (s *session) Close() error {
	var errs []error
	if s.Device != nil {
		errs = append(errs, s.Device.Close())
	}
	if s.Screen != nil {
		errs = append(errs, s.Screen.Close())
	}
	if s.tree != nil {
		errs = append(errs, s.tree.Close())
	}
	if s.Private != nil {
		errs = append(errs, s.Private.Close())
	}
	return errors.Join(errs...)
}

// parts say how the agent is put together.
func (f agentFlags) parts(log *slog.Logger) agent.Parts {
	return agent.Parts{Planning: f.Plan == "suggestive", Format: f.Format, MaxSteps: f.MaxSteps, ReviewEvery: f.ReviewEvery, Log: log}
}

// live is the session's desktop, as an agent sees and uses it.
func (s *session) live() *run.Live { return &run.Live{Screen: s.Screen, Device: s.Device} }

// agentFlags say how the agent works.
type agentFlags struct {
	Plan     string `help:"Planning: suggestive, which the actor may follow or not, or off." enum:"suggestive,off" default:"suggestive" group:"Agent"`
	Format   string `help:"How the model writes its actions: code, which is read and never run, or tools." enum:"code,tools" default:"code" group:"Agent"`
	MaxSteps int    `help:"Stop after this many steps." default:"50" group:"Limits"`

	ReviewEvery int `help:"Have a model review the run every so many steps, and whenever it seems to go in circles; 0 for the latter only." default:"10" group:"Agent"`
}

// check refuses flags with which no run can be made.
func (f agentFlags) check() error {
	if f.MaxSteps < 1 {
		return hintError{fmt.Errorf("the limit of steps is %d", f.MaxSteps), "write for example --max-steps 30"}
	}
	return nil
}
