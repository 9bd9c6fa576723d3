package atspi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"desktop-agent/internal/permit"
	"desktop-agent/internal/process"
)

// Errors of [Reader.Set].
var (
	// ErrNotSettable reports that nothing was asked of the program: the element takes
	// no such text or value.
	ErrNotSettable = errors.New("it cannot be set")
	// ErrNotSet reports that the program was asked, and that the element holds what it
	// held before.
	ErrNotSet = errors.New("the program did not set it")
)

const editable = "org.a11y.atspi.EditableText"

// Set asks a program to give an element another text, or another value if the element
// has one, such as a slider: then text is a number. Only the hand of package run has a
// permit. What the element holds is read again, but for a password; that it is
// something else than was asked for is an error, whose text does not have it.
//
// The interfaces are EditableText and Value of AT-SPI:
// https://docs.gtk.org/atspi2/iface.EditableText.html.
func (r *Reader) Set(ctx context.Context, p permit.Permit, n Node, text string) error {
	if !p.Granted() {
		return fmt.Errorf("%w: only the hand of a run may do that", ErrNotSettable)
	}
	if n.Role == RoleArrow {
		return fmt.Errorf("%w: it takes no text", ErrNotSettable)
	}
	ref, ok := referenceOf(n.Key)
	if !ok {
		return fmt.Errorf("%w: its program does not say how to reach it", ErrNotSettable)
	}
	r.mu.Lock()
	bus := r.bus
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, r.o.AppTimeout)
	defer cancel()
	e := element{ctx, bus.Object(ref.name, dbus.ObjectPath(ref.path)), n.PID, r.o.Server, n.Role == rolePassword.String()}
	var has []string
	var words []uint32
	if err := errors.Join(e.ask(accessible+".GetInterfaces", &has), e.ask(accessible+".GetState", &words)); err != nil {
		return fmt.Errorf("%w: its program does not answer: %w", ErrNotSettable, err)
	}
	states := newStateSet(words)
	if !states.has(stateEnabled) && !states.has(stateSensitive) {
		return fmt.Errorf("%w: it is disabled", ErrNotSettable)
	}
	if slices.Contains(has, values) && (n.ranged() || !slices.Contains(has, editable)) {
		return e.setValue(text)
	}
	if slices.Contains(has, editable) && states.has(stateEditable) {
		return e.setText(text)
	}
	return fmt.Errorf("%w: it takes no text", ErrNotSettable)
}

// ranged reports whether a node is for a number: what it shows follows from that.
func (n Node) ranged() bool {
	switch n.Role {
	case roleSpinButton.String(), roleSlider.String(), roleDial.String(), roleScrollBar.String():
		return true
	}
	return false
}

// An element is an object on the bus that is being set.
type element struct {
	ctx    context.Context
	object dbus.BusObject
	pid    int  // of its program
	server int  // process of the server of its display; 0 if it is not known
	secret bool // what it holds is not asked for
}

func (e element) ask(method string, result any, args ...any) error {
	return e.object.CallWithContext(e.ctx, method, 0, args...).Store(result)
}

// setText sets the text, and looks whether it is there.
func (e element) setText(text string) error {
	before, err := e.text()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotSettable, err)
	}
	var taken bool
	if err := e.ask(editable+".SetTextContents", &taken, text); err != nil {
		return fmt.Errorf("set the text: %w", err)
	}
	if e.secret {
		if !taken {
			return ErrNotSet
		}
		return nil
	}
	after, err := until(e, e.text, func(now string) bool { return now == text })
	switch {
	case err != nil:
		return fmt.Errorf("set the text: look whether it is there: %w", err)
	case after == text:
		return nil
	case after == before:
		return ErrNotSet
	}
	return errors.New("set the text: the element holds another text now than was asked for: look at it")
}

// How long it may take until an element holds what it was set to, as the process that
// draws a page in a browser is another one than the one that answers; and how often it
// is looked. A program that is runnable at the end of that time, or the server of its
// display, has it once more, as long as it may take in all. That is the one that answers: the
// process of a page is not known.
// Each look wakes it, so that what it waited for a processor meanwhile tells nothing.
const (
	takes = time.Second
	pace  = 20 * time.Millisecond
)

// until reads what an element holds until it is as wanted, for so long as that takes.
func until[T any](e element, read func() (T, error), wanted func(T) bool) (now T, err error) {
	end := time.NewTimer(takes)
	defer end.Stop()
	look := time.NewTicker(pace)
	defer look.Stop()
	limit, _ := e.ctx.Deadline()
	for {
		if now, err = read(); err != nil || wanted(now) {
			return now, err
		}
		select {
		case <-look.C:
		case <-end.C:
			left := min(takes, time.Until(limit)-pace) // so that what it holds is told, and not that time is up
			if left <= 0 || !process.AnyRunnable(e.pid) && !process.AnyRunnable(e.server) {
				return now, nil
			}
			end.Reset(left)
		case <-e.ctx.Done():
			return now, e.ctx.Err()
		}
	}
}

func (e element) text() (text string, err error) {
	if e.secret {
		return "", nil
	}
	return text, e.ask(texts+".GetText", &text, int32(0), int32(-1))
}

// setValue sets the number that an element stands at.
func (e element) setValue(text string) error {
	number, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(number) || math.IsInf(number, 0) {
		return fmt.Errorf("%w to that: it takes a number, such as 12.5", ErrNotSettable)
	}
	before, err := e.value("CurrentValue")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotSettable, err)
	}
	least, errLeast := e.value("MinimumValue")
	most, errMost := e.value("MaximumValue")
	if errLeast == nil && errMost == nil && least < most && (number < least || number > most) {
		return fmt.Errorf("%w to that: it goes from %g to %g", ErrNotSettable, least, most)
	}
	call := e.object.CallWithContext(e.ctx, properties+".Set", 0, values, "CurrentValue", dbus.MakeVariant(number))
	if call.Err != nil {
		return fmt.Errorf("set the value: %w", call.Err)
	}
	same := func(now float64) bool { return math.Abs(now-number) <= 1e-6*max(1, math.Abs(number)) }
	after, err := until(e, func() (float64, error) { return e.value("CurrentValue") }, same)
	switch {
	case err != nil:
		return fmt.Errorf("set the value: look whether it is so: %w", err)
	case same(after):
		return nil
	case after == before:
		return ErrNotSet
	}
	return fmt.Errorf("set the value: it is %g now: the element takes only some numbers", after)
}

func (e element) value(name string) (number float64, err error) {
	var v dbus.Variant
	if err := e.ask(properties+".Get", &v, values, name); err != nil {
		return 0, err
	}
	number, ok := v.Value().(float64)
	if !ok {
		return 0, errors.New("its value is no number")
	}
	return number, nil
}
