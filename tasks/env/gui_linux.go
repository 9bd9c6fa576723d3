package env

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// runGUI performs code that calls pyautogui. What the parser does not know is an error: a
// Python that has the module would send input past the hand.
func (e *Env) runGUI(ctx context.Context, c Command, source string) (Output, error) {
	limit := c.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w: more than %v", ErrLimit, limit))
	defer cancel()
	return Output{}, e.Perform(ctx, source)
}

// Perform does on the desktop what Python code says that calls pyautogui, which is
// translated and never run. Before each action, and at the end, the desktop is
// given time to take what was done before, and a note says where input came though that was
// not enough. time.sleep is done as written; [Command.Limit] bounds it in [Env.Run].
func (e *Env) Perform(ctx context.Context, source string) error {
	actions, err := translate(source, e.Size())
	if err != nil {
		return err
	}
	return e.perform(ctx, actions)
}

// Fail notes what set-up or evaluation broke of, for the last event of the author's journal,
// which tells the first that is noted: a [*run.Stop] is no failure, and nil is none. What broke
// and was forgiven is not noted.
func (e *Env) Fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failed = cmp.Or(e.failed, err)
}

func (e *Env) perform(ctx context.Context, actions []actuator.Action) error {
	hand, err := e.input(ctx)
	if err != nil {
		return fmt.Errorf("pyautogui: %w", err)
	}
	hand.Scope.Turn()
	for i, action := range actions {
		// What was done before may have opened something that this one is for.
		if err := e.settle(ctx, actuator.KindOf(action) == actuator.Input); err != nil {
			return fmt.Errorf("pyautogui: %w", err)
		}
		intent := run.Intent{Action: action, Frame: frame(e.Size()), Index: i, Done: actions[:i], Source: run.FromProgram}
		err = hand.Perform(ctx, intent)
		if errors.Is(err, actuator.ErrUnanswered) { // some dialogs never answer, and take what is typed
			e.Note("the program with the focus did not say that it takes what a step of the task types: " + actuator.Describe(action))
			err = hand.Perform(actuator.Blindly(ctx), intent)
		}
		if errors.Is(err, actuator.ErrNoFocus) {
			// Whoever types blindly would have typed into nothing, and gone on.
			e.Note("no window had the focus for what a step of the task types: " + actuator.Describe(action))
			continue
		}
		if err != nil {
			return errors.Join(fmt.Errorf("pyautogui: %s: %w", actuator.Describe(action), err), hand.Release())
		}
	}
	// What it pressed without letting go stays down for the next command.
	if err := e.settle(ctx, false); err != nil {
		return fmt.Errorf("pyautogui: %w", err)
	}
	return nil
}

// settle gives the desktop time to take what was done. That this was not enough is noted
// if input comes next.
func (e *Env) settle(ctx context.Context, input bool) error {
	settled, err := e.screen.Settle(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err == nil && input && settled.Reason == screen.SettledCeiling {
		e.Note("a step of the task acted while the screen was not at rest")
	}
	return err
}

// input returns the hand that acts on the desktop for the task's author. Its
// session is opened once, with a journal of its own if one is wanted.
func (e *Env) input(ctx context.Context) (*run.Hand, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.author == nil {
		settings := run.Settings{Display: run.DisplaySettings{
			Private: true, Size: e.Size(), Quiet: screen.DefaultQuiet, Ceiling: screen.DefaultCeiling,
		}}
		s, err := run.Open(ctx, settings, &run.Options{
			Agent: "author", Exempt: run.ExemptSetup, Journal: e.options.Journal, Log: e.options.Log,
			Computer: &run.Computer{Display: e.Display(), Screen: e.screen},
		})
		if err != nil {
			return nil, err
		}
		err = s.Scope.Emit(ctx, run.RunStarted{
			Schema: run.Schema, Task: "set the task up, or look at its result", Planning: "off", Guard: s.Hand.GuardName(), Settings: s.Settings,
		})
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		e.author, e.began = s, time.Now()
	}
	return e.author.Hand, nil
}

// A frame is an image that shows the desktop pixel by pixel.
type frame image.Point

func (f frame) Bounds() image.Rectangle            { return image.Rectangle{Max: image.Point(f)} }
func (f frame) ToDevice(p image.Point) image.Point { return p }
