package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/term"

	"desktop-agent/run"
	"desktop-agent/seat"
)

// stopCmd stops whatever acts on a display.
type stopCmd struct {
	On   string `arg:"" optional:"" name:"display" help:"The X display; $$DISPLAY if not given." placeholder:":0"`
	Lift bool   `help:"Take a stop back, so that agents may act there again; on a terminal only, as it is a person's to do." env:"-"`
	Show bool   `help:"Only say who acts there, and whether it was stopped." env:"-"`
}

// stopLimit is how long a stop may take until nobody has the display any more.
const stopLimit = 3 * time.Second

// Run stops, lifts or shows.
func (s *stopCmd) Run(ctx context.Context, c console) error {
	display := s.On
	if display == "" {
		display = os.Getenv("DISPLAY")
	}
	switch {
	case s.Lift && s.Show:
		return &usageError{hintError{errors.New("--lift and --show do not go together"), "write one of them"}}
	case display == "":
		return &usageError{hintError{errNoDisplay, "write which: desktop-agent stop :0; to stop a run on a private desktop, press Ctrl-C where it runs"}}
	case s.Lift:
		return s.lift(c, display)
	case s.Show:
		return show(c, display)
	}
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	had, still, err := seat.Stop(ctx, display, "desktop-agent stop")
	switch {
	case err != nil:
		return noDisplayHint(err)
	case still != nil:
		fmt.Fprintf(c.Err, "display %s is stopped, but has not been given back: %s\n", printable(display), printable(still.String()))
		return hintError{errors.New("whoever has it does not answer"), fmt.Sprintf("end it: kill -9 %d; its keys are let go then", still.PID)}
	case had != nil:
		fmt.Fprintf(c.Err, "stopped: %s\n", printable(had.String()))
	default:
		fmt.Fprintln(c.Err, "nobody acted there")
	}
	fmt.Fprintf(c.Err, "display %s stays stopped until you lift that: %s\n", printable(display), liftLine(display))
	return nil
}

// liftLine is how a stop is taken back.
func liftLine(display string) string { return "desktop-agent stop --lift " + display }

func (s *stopCmd) lift(c console, display string) error {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return &usageError{hintError{errors.New("only a person lifts a stop"), "run it on a terminal: " + liftLine(display)}}
	}
	was, err := seat.Lift(display)
	switch {
	case err != nil:
		return noDisplayHint(err)
	case was == nil:
		fmt.Fprintf(c.Err, "display %s was not stopped\n", printable(display))
	default:
		fmt.Fprintf(c.Err, "lifted: display %s was stopped by %s\n", printable(display), printable(was.How))
	}
	return nil
}

// show says what is known of a display.
func show(c console, display string) error {
	state, err := seat.StateOf(display)
	if err != nil {
		return noDisplayHint(err)
	}
	owner, stopped := "nobody", "no"
	if state.Owner != nil {
		owner = state.Owner.String()
	}
	if state.Stopped != nil {
		stopped = "by " + state.Stopped.How
	}
	fmt.Fprintf(c.Out, "owner    %s\nstopped  %s\n", printable(owner), printable(stopped))
	return nil
}

func noDisplayHint(err error) error {
	return hintError{err, "name an X display that this user can reach; a private desktop is stopped by Ctrl-C where it runs"}
}

// seatError says what to do about a display that may not be acted on.
func seatError(err error) error {
	if taken, ok := errors.AsType[*seat.TakenError](err); ok {
		return &usageError{hintError{taken, "wait until it has ended, stop it with desktop-agent stop " + taken.Display +
			", or add --virtual for a private desktop"}}
	}
	if stopped, ok := errors.AsType[*seat.StoppedError](err); ok {
		return &usageError{hintError{stopped, "lift that, if it is over: " + liftLine(stopped.Display)}}
	}
	return err
}

// stoppable has a signal stop a session, and another have it go on where a person has
// taken over. It ends with ctx.
func stoppable(ctx context.Context, s *run.Session) {
	signals, end := controlSignals()
	go func() {
		defer end()
		for {
			select {
			case <-ctx.Done():
				return
			case goOn := <-signals:
				if goOn {
					s.GoOn()
					continue
				}
				s.Stop("a signal")
			}
		}
	}()
}

// tellStopped says that a session was stopped, and what that means.
func tellStopped(c console, s *run.Session) {
	stopped, ok := errors.AsType[*seat.StoppedError](s.Stopped())
	if !ok {
		return
	}
	fmt.Fprintln(c.Err, printable(stopped.Error()))
	if stopped.Display != "" {
		fmt.Fprintf(c.Err, "hint: nothing acts there until you lift that: %s\n", liftLine(stopped.Display))
	}
}
