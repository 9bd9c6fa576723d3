// Package llmtest has models for tests: functions, scripts, a recorder, and an
// HTTP server that speaks Chat Completions and can misbehave. [TestModel] holds
// what every model promises.
//
//	model := &llmtest.Script{T: t, Replies: map[llm.Role][]llmtest.Func{
//		llm.Planner: {llmtest.JSON(plan)},
//		llm.Actor:   {llmtest.Call("click", click), llmtest.Fail(llm.ErrTimeout), llmtest.Text("DONE")},
//	}}
package llmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"desktop-agent/llm"
)

// A Func is a model that is one function. It is also one reply of a [Script],
// which may look at the request.
type Func func(context.Context, *llm.Request) (*llm.Response, error)

// Complete calls f.
func (f Func) Complete(ctx context.Context, r *llm.Request) (*llm.Response, error) { return f(ctx, r) }

// Reply returns r as it is, unless the context has ended.
func Reply(r llm.Response) Func {
	return func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		r := r
		r.Calls = slices.Clone(r.Calls)
		if r.Model == "" {
			r.Model = req.Model
		}
		return &r, nil
	}
}

// Text replies with text.
func Text(text string) Func { return Reply(llm.Response{Text: text, Finish: "stop"}) }

// Answer replies with the text that answer gives, or fails with its error.
func Answer(answer func(*llm.Request) (string, error)) Func {
	return func(ctx context.Context, r *llm.Request) (*llm.Response, error) {
		text, err := answer(r)
		if err != nil {
			return nil, err
		}
		return Text(text)(ctx, r)
	}
}

// JSON replies with v as JSON. A value that cannot be JSON is an error of the call.
func JSON(v any) Func {
	data, err := json.Marshal(v)
	if err != nil {
		return Fail(fmt.Errorf("llmtest.JSON: %w", err))
	}
	return Text(string(data))
}

// Call replies with a call of one tool, its arguments as JSON.
func Call(name string, arguments any) Func {
	data, err := json.Marshal(arguments)
	if err != nil {
		return Fail(fmt.Errorf("llmtest.Call: %w", err))
	}
	return Reply(llm.Response{Finish: "tool_calls", Calls: []llm.ToolCall{
		{ID: "call_" + name, Name: name, Arguments: string(data)}}})
}

// Fail fails with err.
func Fail(err error) Func {
	return func(context.Context, *llm.Request) (*llm.Response, error) { return nil, err }
}

// Hang gives no reply until the context ends, and then its error.
func Hang() Func {
	return func(ctx context.Context, _ *llm.Request) (*llm.Response, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
}

// Wait closes started (if not nil) when the call begins, and gives reply once
// release is closed, or the context's error if that ends first.
func Wait(started chan<- struct{}, release <-chan struct{}, reply Func) Func {
	return func(ctx context.Context, r *llm.Request) (*llm.Response, error) {
		if started != nil {
			close(started)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-release:
			return reply(ctx, r)
		}
	}
}

// A Script is a model that gives each role its replies in order. A call for
// which there is no reply fails the test, and gets an error. It is safe for
// concurrent use.
type Script struct {
	T       testing.TB
	Replies map[llm.Role][]Func

	mu   sync.Mutex
	used map[llm.Role]int
}

// Complete gives the next reply of the request's role.
func (s *Script) Complete(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	reply, err := s.next(r)
	if err != nil {
		s.T.Helper()
		s.T.Error(err)
		return nil, err
	}
	return reply(ctx, r)
}

func (s *Script) next(r *llm.Request) (Func, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, replies := s.used[r.Role], s.Replies[r.Role]
	if n >= len(replies) {
		return nil, fmt.Errorf("llmtest.Script: call %d of role %q (purpose %q), but the script has %d replies for it; last message: %.300q",
			n+1, r.Role, r.Purpose, len(replies), LastText(r))
	}
	if s.used == nil {
		s.used = map[llm.Role]int{}
	}
	s.used[r.Role]++
	return replies[n], nil
}

// Left returns how many replies were not used yet. A test of a whole flow ends
// by requiring that it is 0.
func (s *Script) Left() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for role, replies := range s.Replies {
		n += len(replies) - s.used[role]
	}
	return n
}

// A Recorder keeps the requests that pass through to another model. It is safe
// for concurrent use.
type Recorder struct {
	Model llm.Model

	mu       sync.Mutex
	requests []*llm.Request
}

// Complete keeps the request and passes it on.
func (r *Recorder) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	kept := *req
	kept.Messages = slices.Clone(req.Messages)
	r.mu.Lock()
	r.requests = append(r.requests, &kept)
	r.mu.Unlock()
	return r.Model.Complete(ctx, req)
}

// Requests returns the requests of the roles given, or all if none is given, in
// the order in which they came.
func (r *Recorder) Requests(roles ...llm.Role) []*llm.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []*llm.Request
	for _, req := range r.requests {
		if len(roles) == 0 || slices.Contains(roles, req.Role) {
			out = append(out, req)
		}
	}
	return out
}

// Count returns how many requests of the roles given came, or of all if none is given.
func (r *Recorder) Count(roles ...llm.Role) int { return len(r.Requests(roles...)) }

// LastText returns the text of the last message of a request, its parts joined by newlines.
func LastText(r *llm.Request) string {
	if len(r.Messages) == 0 {
		return ""
	}
	var texts []string
	for _, p := range r.Messages[len(r.Messages)-1].Parts {
		if t, ok := p.(llm.Text); ok {
			texts = append(texts, string(t))
		}
	}
	return strings.Join(texts, "\n")
}

// AllText returns the text of all messages of a request, joined by newlines, to
// search for what must or must not be in a prompt.
func AllText(r *llm.Request) string {
	var texts []string
	for i := range r.Messages {
		texts = append(texts, LastText(&llm.Request{Messages: r.Messages[:i+1]}))
	}
	return strings.Join(texts, "\n")
}
