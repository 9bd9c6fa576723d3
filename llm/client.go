package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Client is a [Model] that gives each role its settings, and each call a
// deadline, further attempts, a place in the budget and a record. It is safe
// for concurrent use if Model and Record are.
//
//	client := &llm.Client{
//		Model:   &openai.Endpoint{BaseURL: "http://127.0.0.1:8080/v1"},
//		Default: llm.Settings{Model: "qwen3-vl"},
//		Roles:   map[llm.Role]llm.Settings{llm.Monitor: {MaxTokens: 500}},
//		Budget:  &llm.Budget{MaxTokens: 500_000},
//	}
type Client struct {
	Model   Model
	Default Settings          // of all roles
	Roles   map[Role]Settings // what differs from Default, field by field
	Retry   Retry
	Random  func() float64 // in [0, 1), by which waits are shortened; [rand.Float64] if nil
	Budget  *Budget        // nil for no limits

	// Boundary, if not "", makes the delimiters of untrusted text in every message such
	// that nobody can foresee them: it belongs to the run alone, and a replay has the same.
	Boundary string

	// Hide, if not nil, takes secrets out of each text that is sent and of each reply.
	Hide func(string) string

	// Record, if not nil, is called once for every call that was sent, also for
	// those that failed or were cancelled, and then with a context that is still
	// alive. Its error ends the call with [ErrJournal].
	Record func(context.Context, Call) error

	Log *slog.Logger // of attempts that failed; nil for none

	of   *Client // which models were left is that one's; nil: its own
	mu   sync.Mutex
	left map[Role]int // so many models of a role were left for the next
}

// Recording returns a client that is the same, budget and all, but has its calls recorded
// elsewhere.
func (c *Client) Recording(record func(context.Context, Call) error) *Client {
	return &Client{
		Model: c.Model, Default: c.Default, Roles: c.Roles, Retry: c.Retry, Random: c.Random, Budget: c.Budget, Boundary: c.Boundary, Hide: c.Hide,
		Record: record, Log: c.Log, of: c.latch(),
	}
}

// latch returns the client that knows which models were left.
func (c *Client) latch() *Client {
	if c.of != nil {
		return c.of
	}
	return c
}

// Settings are the settings of a role. What is zero falls back to the default.
type Settings struct {
	Model       string
	Fallback    []string      // models that take over, one after the other, where the one before does not answer
	Temperature *float64      // nil for the model's own
	MaxTokens   int           // of a reply; 0 for the model's own limit
	Deadline    time.Duration // of a call with all its attempts; 5 min if 0
	Attempt     time.Duration // of one attempt; if 0 two fifths of the deadline, and at least 2 min
}

// or fills what is not set.
func (s Settings) or(d Settings) Settings {
	s.Model = cmp.Or(s.Model, d.Model)
	if len(s.Fallback) == 0 {
		s.Fallback = d.Fallback
	}
	s.Temperature = cmp.Or(s.Temperature, d.Temperature)
	s.MaxTokens = cmp.Or(s.MaxTokens, d.MaxTokens)
	s.Deadline = cmp.Or(s.Deadline, d.Deadline)
	s.Attempt = cmp.Or(s.Attempt, d.Attempt)
	return s
}

// Settings returns the settings that hold for a role.
func (c *Client) Settings(r Role) Settings {
	common := c.Default
	if r == Grounder {
		common.Model, common.Fallback = "", nil
	}
	s := c.Roles[r].or(common).or(Settings{Deadline: 5 * time.Minute})
	// Whoever gives a slow model an hour does not want to hang up on it every two minutes.
	s.Attempt = cmp.Or(s.Attempt, max(2*time.Minute, s.Deadline*2/5))
	return s
}

// Check reports settings with which no call can succeed or be watched: a role
// without a model, a negative limit, a limit on dollars and a model without a
// price. Call it before a run.
func (c *Client) Check() error {
	var models []string
	for _, role := range []Role{Planner, Actor, WorldModel, Monitor, Grounder} {
		s := c.Settings(role)
		if role == Grounder && s.Model == "" {
			continue // nobody is asked
		}
		if s.Model == "" {
			return fmt.Errorf("%w for the %s", ErrNoModel, role)
		}
		if s.MaxTokens < 0 || s.Deadline < 0 || s.Attempt < 0 {
			return fmt.Errorf("the settings of the %s have a negative limit; use 0 for the default", role)
		}
		models = append(append(models, s.Model), s.Fallback...)
	}
	if c.Budget == nil {
		return nil
	}
	return c.Budget.Check(models...)
}

// Complete sends the request with the settings of its role; what the request
// sets itself is kept. Its errors are an [*Error], a [*BudgetError], an error
// with [ErrJournal], or the reason why ctx was cancelled.
//
// Where the model of the role does not answer after all attempts, because of the rate of
// requests, the key, the credit or the server, its fallback is asked the same, and from
// then on: there is no way back. A request that the endpoint refuses as it is would be
// refused by the next one too, or hide a mistake, so that it ends there.
func (c *Client) Complete(ctx context.Context, req *Request) (*Response, error) {
	for {
		model, leave := c.choose(req)
		resp, err := c.complete(ctx, req, model)
		if err == nil || ctx.Err() != nil || !takesOver(err) || !leave() {
			return resp, err
		}
		if c.Log != nil {
			next, _ := c.choose(req)
			c.Log.WarnContext(ctx, "the model does not answer; from now on another is asked", "role", req.Role, "model", model, "now", next, "err", err)
		}
	}
}

// takesOver reports whether another model may answer what failed. Without a record of that
// nothing more is asked.
func takesOver(err error) bool {
	if errors.Is(err, ErrJournal) {
		return false
	}
	for _, kind := range []error{ErrRateLimited, ErrAuth, ErrQuota, ErrUnavailable} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// Left returns how many models of a role such a call leaves behind for the next: all before
// the one that was asked, and that one too if err has another take over.
func (s Settings) Left(model string, err error) int {
	n := max(0, slices.Index(append([]string{s.Model}, s.Fallback...), model))
	if err != nil && takesOver(err) {
		n++
	}
	return min(n, len(s.Fallback))
}

// Leave tells that a run left so many models of each role for the next before this client
// had it: they are not asked again.
func (c *Client) Leave(left map[Role]int) {
	l := c.latch()
	l.mu.Lock()
	defer l.mu.Unlock()
	for role, n := range left {
		l.leave(role, min(n, len(c.Settings(role).Fallback)))
	}
}

// leave notes that so many models of a role were left. c.mu is held.
func (c *Client) leave(role Role, n int) {
	if c.left == nil {
		c.left = map[Role]int{}
	}
	c.left[role] = max(c.left[role], n) // another call may have left it already
}

// choose returns the model that a request goes to, and what leaves that one for the next
// of its role: it reports whether there is one.
func (c *Client) choose(req *Request) (model string, leave func() bool) {
	s := c.Settings(req.Role)
	if req.Model != "" && req.Model != s.Model {
		return req.Model, func() bool { return false } // this one and no other is meant
	}
	l := c.latch()
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.left[req.Role]
	return append([]string{s.Model}, s.Fallback...)[n], func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		if n == len(s.Fallback) {
			return false
		}
		l.leave(req.Role, n+1)
		return true
	}
}

// complete has one model answer a request.
func (c *Client) complete(ctx context.Context, req *Request, model string) (*Response, error) {
	s := c.Settings(req.Role)
	r := *req
	r.Messages = c.hidden(seal(c.Boundary, r.Messages))
	r.Model = model
	r.Temperature = cmp.Or(r.Temperature, s.Temperature)
	r.MaxTokens = cmp.Or(r.MaxTokens, s.MaxTokens)
	budget := c.Budget
	if budget == nil {
		budget = new(Budget)
	}
	settle, end, err := budget.reserve(r.Model, Estimate(&r))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Role, err)
	}
	limited, cancel := context.WithTimeoutCause(ctx, s.Deadline, &Error{
		Kind: ErrTimeout, Detail: fmt.Sprintf("no reply within %v", s.Deadline), Err: context.DeadlineExceeded})
	defer cancel()
	if !end.IsZero() {
		limited, cancel = context.WithDeadlineCause(limited, end, budget.outOfTime())
		defer cancel()
	}
	call, start := Call{Request: &r}, time.Now()
	c.try(limited, s, &call)
	call.Latency = time.Since(start)
	call.Dollars = settle(call.Usage)
	return c.finish(ctx, call)
}

// hidden returns messages without secrets.
func (c *Client) hidden(messages []Message) []Message {
	if c.Hide == nil {
		return messages
	}
	list := make([]Message, len(messages))
	for i, m := range messages {
		list[i] = m
		list[i].Parts, list[i].Calls = slices.Clone(m.Parts), slices.Clone(m.Calls)
		for j, part := range m.Parts {
			if text, ok := part.(Text); ok {
				list[i].Parts[j] = Text(c.Hide(string(text)))
			}
		}
		for j := range list[i].Calls {
			list[i].Calls[j].Arguments = c.Hide(m.Calls[j].Arguments)
		}
	}
	return list
}

// hiddenReply returns a reply without secrets.
func (c *Client) hiddenReply(r *Response) *Response {
	if c.Hide == nil || r == nil {
		return r
	}
	clean := *r
	clean.Text, clean.Calls = c.Hide(r.Text), slices.Clone(r.Calls)
	for i := range clean.Calls {
		clean.Calls[i].Arguments = c.Hide(r.Calls[i].Arguments)
	}
	if r.State != nil && c.Hide(r.State.Data) != r.State.Data { // it has to go back as it came, or not at all
		clean.State = nil
	}
	return &clean
}

// try makes attempts until one succeeds or there is no sense in another, and
// notes all of it in the call.
func (c *Client) try(ctx context.Context, s Settings, call *Call) {
	for {
		call.Attempts++
		call.Response, call.Err = c.attempt(ctx, s, call)
		if call.Err == nil {
			return
		}
		wait, again := c.Retry.wait(call.Attempts, call.Err, c.Random)
		if end, ok := ctx.Deadline(); !again || ok && time.Until(end) <= wait {
			return
		}
		if c.Log != nil {
			c.Log.WarnContext(ctx, "model call failed, trying again", "role", call.Request.Role, "model", call.Request.Model,
				"attempt", call.Attempts, "wait", wait, "err", call.Err)
		}
		if err := sleep(ctx, wait); err != nil {
			call.Err = stopped(ctx)
			return
		}
	}
}

// attempt sends the request once and adds what it cost to the call.
func (c *Client) attempt(ctx context.Context, s Settings, call *Call) (*Response, error) {
	limited, cancel := context.WithTimeout(ctx, s.Attempt)
	defer cancel()
	resp, err := c.Model.Complete(limited, call.Request)
	if err == nil {
		resp = c.hiddenReply(resp)
		call.Usage = call.Usage.Plus(usageOf(call.Request, resp))
		return resp, checkReply(call.Request, resp)
	}
	if e, ok := errors.AsType[*Error](err); ok && e.Usage.possible() {
		call.Usage = call.Usage.Plus(e.Usage)
	}
	switch {
	case ctx.Err() != nil:
		return nil, stopped(ctx)
	case limited.Err() != nil:
		return nil, &Error{Kind: ErrTimeout, Detail: fmt.Sprintf("no reply within %v", s.Attempt), Retry: true, Err: context.DeadlineExceeded}
	}
	return nil, err
}

// finish records the call and gives its result.
func (c *Client) finish(ctx context.Context, call Call) (*Response, error) {
	if c.Record != nil {
		if failed := c.Record(context.WithoutCancel(ctx), call); failed != nil {
			return nil, errors.Join(fmt.Errorf("%w: %w", ErrJournal, failed), call.Err)
		}
	}
	if call.Err != nil {
		return nil, fmt.Errorf("%s: model %s: %w", call.Request.Role, call.Request.Model, call.Err)
	}
	return call.Response, nil
}

// stopped turns the end of ctx into an error: of a deadline or the budget as
// they are, of a cancellation with its reason.
func stopped(ctx context.Context) error {
	cause := context.Cause(ctx)
	if _, ok := errors.AsType[*Error](cause); ok || errors.Is(cause, ErrBudget) {
		return cause
	}
	if ctx.Err() == context.DeadlineExceeded {
		return &Error{Kind: ErrTimeout, Detail: "the deadline of the caller passed", Err: context.DeadlineExceeded}
	}
	if cause == ctx.Err() {
		return fmt.Errorf("cancelled: %w", cause)
	}
	return fmt.Errorf("%w: %w", ctx.Err(), cause)
}

// checkReply refuses a reply with nothing in it.
func checkReply(r *Request, resp *Response) error {
	if resp != nil && (len(resp.Calls) > 0 || strings.TrimSpace(resp.Text) != "") {
		return nil
	}
	e := &Error{Kind: ErrBadReply, Detail: "the reply is empty", Retry: true, Err: ErrEmpty}
	if resp != nil && resp.Ending() == CutOff {
		e.Retry = false
		e.Detail = "the reply is empty: all tokens were used before any text was written"
		if r.MaxTokens > 0 {
			e.Detail = fmt.Sprintf("%s; raise the limit of %d tokens", e.Detail, r.MaxTokens)
		}
	}
	return e
}

// usageOf returns what the endpoint counted. Where it does not count, or counts what
// cannot be, so that a budget would never run out, it is the estimate.
func usageOf(r *Request, resp *Response) Usage {
	if resp == nil {
		return Usage{}
	}
	if resp.Usage != (Usage{}) && resp.Usage.possible() {
		return resp.Usage
	}
	written := len(resp.Text)
	for _, c := range resp.Calls {
		written += len(c.Name) + len(c.Arguments)
	}
	return Usage{Input: Estimate(r).Input, Output: (written + 2) / 3}
}
