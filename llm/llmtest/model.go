package llmtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"desktop-agent/llm"
)

// A Subject is a model that [TestModel] tries, and what is known of it.
type Subject struct {
	// New returns a model that has a good reply to Request.
	New func(testing.TB) llm.Model
	// Request makes a request, an equal one each time; nil for a short question of
	// the actor.
	Request func() *llm.Request
	// Calls is how many good replies a new model has; 0: there is no end.
	Calls int

	// Alone, if not "", is why its calls come one at a time.
	Alone string

	// Hang returns a model that gets no reply. nil: it has its replies at hand, and
	// never waits.
	Hang func(testing.TB) llm.Model
	// Empty returns a model whose next reply has nothing in it, which it must
	// refuse. nil: it replies as it is told to.
	Empty func(testing.TB) llm.Model
	// Fail has calls that fail, by name.
	Fail map[string]Failure

	// Counted: a reply tells how many tokens it took.
	Counted bool
	// Spent returns what the calls of a model took, where it keeps count; nil where
	// it does not. What an endpoint does not count has to be estimated.
	Spent func(llm.Model) llm.Usage

	// Soon is how long a call may go on after it was cancelled; a minute if 0.
	Soon time.Duration
}

// A Failure is a call that has to fail.
type Failure struct {
	New  func(testing.TB) llm.Model
	Want error // what the error wraps
	// Other, if not "", is why the error is no [*llm.Error], nor of another kind
	// that package llm has.
	Other string
}

// TestModel holds what every [llm.Model] promises:
//
//   - A call gives either a reply or an error. A reply has a text, or calls tools.
//   - The request is the caller's: it is as before afterwards, and so is what lies
//     behind its messages in the same array.
//   - The reply is the caller's: to change it changes no other reply.
//   - Calls may be made from several goroutines, unless it says why not.
//   - A call whose context ends, or has ended, soon returns an error that wraps the
//     context's cause; one whose time was over wraps [context.DeadlineExceeded].
//   - An error is an [*llm.Error] of a kind that package llm has, or wraps
//     [llm.ErrBudget] or [llm.ErrJournal], or is that of the context.
//   - A reply with nothing in it is [llm.ErrBadReply], where the model reads it.
//   - Usage is never negative, and what the cache had is part of the input. Where
//     calls are counted, those that the endpoint does not count are estimated.
func TestModel(t testing.TB, s *Subject) {
	t.Helper()
	if s.Request == nil {
		s.Request = func() *llm.Request {
			return &llm.Request{Role: llm.Actor, Purpose: "propose", Model: "m",
				Messages: []llm.Message{llm.SystemText("You act."), llm.UserText("What now?")}}
		}
	}
	for _, rule := range []struct {
		name string
		hold func(testing.TB, *Subject) error
	}{
		{"a reply or an error", holdReply},
		{"the request is not changed", holdRequest},
		{"the reply is the caller's", holdOwnReply},
		{"calls at the same time", holdConcurrent},
		{"a context that has ended", holdCancelled},
		{"a context that ends", holdCancel},
		{"a time that is over", holdDeadline},
		{"errors are of a kind", holdErrors},
		{"an empty reply", holdEmpty},
		{"usage", holdUsage},
	} {
		if err := rule.hold(t, s); err != nil {
			t.Errorf("%s: %v", rule.name, err)
		}
	}
}

// call makes a call, whose reply must be a good one.
func (s *Subject) call(ctx context.Context, m llm.Model) (*llm.Response, error) {
	resp, err := m.Complete(ctx, s.Request())
	switch {
	case err != nil:
		return nil, fmt.Errorf("the call failed: %w", err)
	case resp == nil:
		return nil, errors.New("there is neither a reply nor an error")
	case strings.TrimSpace(resp.Text) == "" && len(resp.Calls) == 0:
		return nil, errors.New("the reply is empty")
	}
	return resp, nil
}

// within makes a call that has to fail soon after its context has ended, and
// returns with what.
func (s *Subject) within(ctx context.Context, m llm.Model) error {
	limit := s.Soon
	if limit <= 0 {
		limit = time.Minute
	}
	type result struct {
		resp *llm.Response
		err  error
	}
	done := make(chan result, 1)
	go func() {
		resp, err := m.Complete(ctx, s.Request())
		done <- result{resp, err}
	}()
	<-ctx.Done()
	select {
	case r := <-done:
		if r.err == nil {
			return errors.New("the call did not fail")
		}
		if r.resp != nil {
			return errors.New("there is a reply beside the error")
		}
		return r.err
	case <-time.After(limit):
		return errHangs
	}
}

// errHangs says that a call goes on although its context has ended.
var errHangs = errors.New("the call goes on")

func holdReply(t testing.TB, s *Subject) error {
	_, err := s.call(t.Context(), s.New(t))
	return err
}

func holdRequest(t testing.TB, s *Subject) error {
	req, want := s.Request(), s.Request()
	behind := llm.UserText("behind the messages")
	req.Messages = append(req.Messages, behind)[:len(req.Messages)]
	if _, err := s.New(t).Complete(t.Context(), req); err != nil {
		return fmt.Errorf("the call failed: %w", err)
	}
	if !reflect.DeepEqual(req.Messages[:len(req.Messages)+1][len(req.Messages)], behind) {
		return errors.New("what lies behind the messages was overwritten")
	}
	// A schema is resolved when it is first used, which no caller sees.
	if (req.Schema == nil) != (want.Schema == nil) ||
		req.Schema != nil && (req.Schema.Name != want.Schema.Name || string(req.Schema.JSON) != string(want.Schema.JSON)) {
		return errors.New("the schema was changed")
	}
	req.Schema, want.Schema = nil, nil
	if !reflect.DeepEqual(req, want) {
		return fmt.Errorf("it is %+v, and was %+v", req, want)
	}
	return nil
}

func holdOwnReply(t testing.TB, s *Subject) error {
	if s.Calls == 1 {
		return nil
	}
	m := s.New(t)
	first, err := s.call(t.Context(), m)
	if err != nil {
		return err
	}
	const mark = "changed by the caller"
	first.Text = mark
	for i := range first.Calls {
		first.Calls[i].Name = mark
	}
	second, err := s.call(t.Context(), m)
	if err != nil {
		return err
	}
	if second.Text == mark {
		return errors.New("two calls gave the same reply")
	}
	for _, c := range second.Calls {
		if c.Name == mark {
			return errors.New("two replies share their calls of tools")
		}
	}
	return nil
}

func holdConcurrent(t testing.TB, s *Subject) error {
	if s.Alone != "" {
		return nil
	}
	m, n := s.New(t), 8
	if s.Calls > 0 {
		n = min(n, s.Calls)
	}
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { _, errs[i] = s.call(t.Context(), m) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// errStop is why the suite cancels a context.
var errStop = errors.New("stopped by the suite")

func holdCancelled(t testing.TB, s *Subject) error {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errStop)
	if err := s.within(ctx, s.New(t)); !errors.Is(err, errStop) {
		return fmt.Errorf("want the cause of its end, got: %w", err)
	}
	return nil
}

func holdCancel(t testing.TB, s *Subject) error {
	if s.Hang == nil {
		return nil
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	time.AfterFunc(50*time.Millisecond, func() { cancel(errStop) }) // the call is under way by then, or is not: both must end
	if err := s.within(ctx, s.Hang(t)); !errors.Is(err, errStop) {
		return fmt.Errorf("want the cause of its end, got: %w", err)
	}
	return nil
}

func holdDeadline(t testing.TB, s *Subject) error {
	if s.Hang == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.within(ctx, s.Hang(t)); !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("want that the time was over, got: %w", err)
	}
	return nil
}

// kinds are those that an error may be of.
var kinds = []error{
	llm.ErrAuth, llm.ErrQuota, llm.ErrRateLimited, llm.ErrUnavailable, llm.ErrBadReply, llm.ErrRequest, llm.ErrTimeout,
}

func holdErrors(t testing.TB, s *Subject) error {
	var errs []error
	for name, f := range s.Fail {
		resp, err := f.New(t).Complete(t.Context(), s.Request())
		switch {
		case err == nil:
			err = errors.New("the call did not fail")
		case resp != nil:
			err = errors.New("there is a reply beside the error")
		case !errors.Is(err, f.Want):
			err = fmt.Errorf("want %q, got: %w", f.Want, err)
		case f.Other == "" && !ofKind(err):
			err = fmt.Errorf("it is of no kind that package llm has: %w", err)
		default:
			continue
		}
		errs = append(errs, fmt.Errorf("%s: %w", name, err))
	}
	return errors.Join(errs...)
}

// ofKind reports whether an error is one that a caller can tell apart.
func ofKind(err error) bool {
	if errors.Is(err, llm.ErrBudget) || errors.Is(err, llm.ErrJournal) {
		return true
	}
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return false
	}
	return slices.Contains(kinds, e.Kind)
}

func holdEmpty(t testing.TB, s *Subject) error {
	if s.Empty == nil {
		return nil
	}
	if resp, err := s.Empty(t).Complete(t.Context(), s.Request()); resp != nil || !errors.Is(err, llm.ErrBadReply) {
		return fmt.Errorf("want %q and no reply, got %+v and: %v", llm.ErrBadReply, resp, err)
	}
	return nil
}

func holdUsage(t testing.TB, s *Subject) error {
	m := s.New(t)
	resp, err := s.call(t.Context(), m)
	if err != nil {
		return err
	}
	if err := plausible(resp.Usage, s.Counted); err != nil {
		return fmt.Errorf("of the reply: %w", err)
	}
	if s.Spent == nil {
		return nil
	}
	if err := plausible(s.Spent(m), true); err != nil {
		return fmt.Errorf("of the calls: %w", err)
	}
	return nil
}

// plausible returns what is wrong with a usage; counted says that there has to be one.
func plausible(u llm.Usage, counted bool) error {
	switch {
	case u.Input < 0 || u.Cached < 0 || u.Output < 0 || u.Cached > u.Input:
		return fmt.Errorf("%+v cannot be", u)
	case counted && (u.Input == 0 || u.Output == 0):
		return fmt.Errorf("%+v counts nothing of what was read or written", u)
	}
	return nil
}
