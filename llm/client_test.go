package llm_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
)

// sequence gives one reply after the other, whatever the role.
func sequence(t *testing.T, replies ...llmtest.Func) *llmtest.Script {
	return &llmtest.Script{T: t, Replies: map[llm.Role][]llmtest.Func{llm.Actor: replies}}
}

func request() *llm.Request {
	return &llm.Request{Role: llm.Actor, Messages: []llm.Message{llm.UserText("hello")}}
}

// unshortened takes the chance out of the waits.
func unshortened() float64 { return 0 }

// TestSettingsFallBackFieldByField holds that a role without a model, or another setting, of its own
// has that of the default.
func TestSettingsFallBackFieldByField(t *testing.T) {
	zero, half := 0.0, 0.5
	seen := &llmtest.Recorder{Model: llmtest.Text("ok")}
	c := &llm.Client{
		Model:   seen,
		Default: llm.Settings{Model: "big", Temperature: &half, MaxTokens: 900},
		Roles: map[llm.Role]llm.Settings{
			llm.Monitor: {Model: "small", Temperature: &zero, Deadline: time.Minute},
			llm.Planner: {MaxTokens: 50},
		},
	}
	for _, tt := range []struct {
		role        llm.Role
		model       string
		temperature float64
		maxTokens   int
		deadline    time.Duration
	}{
		{llm.Actor, "big", 0.5, 900, 5 * time.Minute},
		{llm.Monitor, "small", 0, 900, time.Minute},
		{llm.Planner, "big", 0.5, 50, 5 * time.Minute},
	} {
		r := request()
		r.Role = tt.role
		_, err := c.Complete(t.Context(), r)
		require.NoError(t, err)
		sent := seen.Requests(tt.role)[0]
		assert.Equal(t, tt.model, sent.Model)
		assert.Equal(t, tt.temperature, *sent.Temperature)
		assert.Equal(t, tt.maxTokens, sent.MaxTokens)
		assert.Equal(t, tt.deadline, c.Settings(tt.role).Deadline)
		assert.Empty(t, r.Model, "the caller's request must stay as it is")
	}
}

// TestAttemptGrowsWithTheDeadline: who gives a slow model more time is not hung up on every
// two minutes, which is what an attempt has at least.
func TestAttemptGrowsWithTheDeadline(t *testing.T) {
	for deadline, want := range map[time.Duration]time.Duration{
		0: 2 * time.Minute, time.Minute: 2 * time.Minute, 5 * time.Minute: 2 * time.Minute, time.Hour: 24 * time.Minute,
	} {
		c := &llm.Client{Default: llm.Settings{Deadline: deadline}}
		require.Equal(t, want, c.Settings(llm.Actor).Attempt, deadline)
	}
	c := &llm.Client{Default: llm.Settings{Deadline: time.Hour, Attempt: time.Minute}}
	require.Equal(t, time.Minute, c.Settings(llm.Actor).Attempt, "what is said counts")
}

// TestFallback holds that another model of the role takes over where one does not answer, for
// good and for this role alone; never for a request that is refused as it is; and that both
// calls are told, and paid.
func TestFallback(t *testing.T) {
	for name, tt := range map[string]struct {
		err   *llm.Error
		asked []string // the models, over two requests of the actor and one of the monitor
	}{
		"rate limit":          {&llm.Error{Kind: llm.ErrRateLimited, Status: 429}, []string{"a", "b", "b", "m"}},
		"key":                 {&llm.Error{Kind: llm.ErrAuth, Status: 401}, []string{"a", "b", "b", "m"}},
		"credit":              {&llm.Error{Kind: llm.ErrQuota, Status: 402}, []string{"a", "b", "b", "m"}},
		"server":              {&llm.Error{Kind: llm.ErrUnavailable, Status: 503}, []string{"a", "b", "b", "m"}},
		"the request as such": {&llm.Error{Kind: llm.ErrRequest, Status: 400}, []string{"a", "a", "m"}},
		"no usable reply":     {&llm.Error{Kind: llm.ErrBadReply}, []string{"a", "a", "m"}},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			c := &llm.Client{
				Model: llmtest.Func(func(_ context.Context, r *llm.Request) (*llm.Response, error) {
					asked = append(asked, r.Model)
					if r.Model == "a" {
						return nil, tt.err
					}
					return &llm.Response{Text: "ok"}, nil
				}),
				Default: llm.Settings{Model: "m"},
				Roles:   map[llm.Role]llm.Settings{llm.Actor: {Model: "a", Fallback: []string{"b"}}},
				Record:  func(_ context.Context, call llm.Call) error { assert.NotNil(t, call.Request); return nil },
			}
			for range 2 {
				_, err := c.Complete(t.Context(), &llm.Request{Role: llm.Actor, Messages: []llm.Message{llm.UserText("x")}})
				if len(tt.asked) == 3 {
					require.ErrorIs(t, err, tt.err.Kind)
				} else {
					require.NoError(t, err)
				}
			}
			_, err := c.Complete(t.Context(), &llm.Request{Role: llm.Monitor, Messages: []llm.Message{llm.UserText("x")}})
			require.NoError(t, err)
			assert.Equal(t, tt.asked, asked)
		})
	}
}

// A fallback that does not answer either is the end of it, and the last error is told.
func TestNoFallbackIsLeft(t *testing.T) {
	asked := 0
	c := &llm.Client{
		Model: llmtest.Func(func(_ context.Context, r *llm.Request) (*llm.Response, error) {
			asked++
			return nil, &llm.Error{Kind: llm.ErrUnavailable, Detail: "of " + r.Model}
		}),
		Default: llm.Settings{Model: "a", Fallback: []string{"b", "c"}},
	}
	for range 2 {
		_, err := c.Complete(t.Context(), request())
		require.ErrorContains(t, err, "of c")
	}
	assert.Equal(t, 4, asked, "a, b, c, and then c alone")
	_, err := c.Recording(nil).Complete(t.Context(), request())
	require.ErrorContains(t, err, "of c")
	assert.Equal(t, 5, asked, "a part of the run knows what was left")
	c.Budget = &llm.Budget{MaxDollars: 1, Prices: llm.Prices{"a": {Input: 1}, "b": {Input: 1}}}
	require.ErrorContains(t, c.Check(), `"c" has no price`)
}

func TestRetries(t *testing.T) {
	limited := func(after time.Duration) llmtest.Func {
		return llmtest.Fail(&llm.Error{Kind: llm.ErrRateLimited, Status: 429, Retry: true, RetryAfter: after})
	}
	down := llmtest.Fail(&llm.Error{Kind: llm.ErrUnavailable, Status: 500, Retry: true})
	for _, tt := range []struct {
		name     string
		replies  []llmtest.Func
		attempts int
		waited   time.Duration
		want     error
	}{
		{"at once", []llmtest.Func{llmtest.Text("ok")}, 1, 0, nil},
		{"backs off and doubles", []llmtest.Func{down, down, down, llmtest.Text("ok")}, 4, (1 + 2 + 4) * 500 * time.Millisecond, nil},
		{"gives up", []llmtest.Func{down, down, down, down}, 4, 3500 * time.Millisecond, llm.ErrUnavailable},
		{"waits as long as it is asked to", []llmtest.Func{limited(45 * time.Second), llmtest.Text("ok")}, 2, 45 * time.Second, nil},
		{"a short Retry-After does not shorten the back-off", []llmtest.Func{limited(time.Millisecond), llmtest.Text("ok")}, 2, 500 * time.Millisecond, nil},
		{"does not wait beyond the deadline", []llmtest.Func{limited(time.Hour)}, 1, 0, llm.ErrRateLimited},
		{"a refused key is final", []llmtest.Func{llmtest.Fail(&llm.Error{Kind: llm.ErrAuth, Status: 401})}, 1, 0, llm.ErrAuth},
		{"a refused request is final", []llmtest.Func{llmtest.Fail(&llm.Error{Kind: llm.ErrRequest, Status: 400})}, 1, 0, llm.ErrRequest},
		{"an unknown error is final", []llmtest.Func{llmtest.Fail(errTest)}, 1, 0, errTest},
		{"an empty reply, once", []llmtest.Func{llmtest.Text(" \n"), llmtest.Text("ok")}, 2, 500 * time.Millisecond, nil},
		{"an attempt that hangs", []llmtest.Func{llmtest.Hang(), llmtest.Text("ok")}, 2, 2*time.Minute + 500*time.Millisecond, nil},
		{"all attempts hang", []llmtest.Func{llmtest.Hang(), llmtest.Hang(), llmtest.Hang()}, 3, 5 * time.Minute, llm.ErrTimeout},
		{"cut off before a word", []llmtest.Func{llmtest.Reply(llm.Response{Finish: "length"})}, 1, 0, llm.ErrBadReply},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls []llm.Call
				script := sequence(t, tt.replies...)
				c := &llm.Client{Model: script, Default: llm.Settings{Model: "m"}, Random: unshortened,
					Record: func(_ context.Context, call llm.Call) error { calls = append(calls, call); return nil }}
				start := time.Now()
				resp, err := c.Complete(t.Context(), request())
				assert.Equal(t, tt.waited, time.Since(start))
				require.ErrorIs(t, err, tt.want)
				if tt.want == nil {
					assert.Equal(t, "ok", resp.Text)
				} else {
					assert.Nil(t, resp)
				}
				assert.Zero(t, script.Left())
				require.Len(t, calls, 1, "one record, however many attempts")
				assert.Equal(t, tt.attempts, calls[0].Attempts)
				assert.Equal(t, tt.waited, calls[0].Latency)
				require.ErrorIs(t, calls[0].Err, tt.want)
			})
		})
	}
}

var errTest = errors.New("something else")

func TestRetryJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := llmtest.Fail(&llm.Error{Kind: llm.ErrUnavailable, Retry: true})
		c := &llm.Client{Model: down, Retry: llm.Retry{Attempts: 6, First: time.Second, Most: 4 * time.Second},
			Random: func() float64 { return 0.5 }}
		start := time.Now()
		_, err := c.Complete(t.Context(), request())
		require.ErrorIs(t, err, llm.ErrUnavailable)
		assert.Equal(t, (1+2+4+4+4)*750*time.Millisecond, time.Since(start), "waits of 1, 2, 4, 4, 4 s, a quarter shorter")
	})
}

func TestCancelStopsAtOnceAndIsRecorded(t *testing.T) {
	down := llmtest.Fail(&llm.Error{Kind: llm.ErrUnavailable, Retry: true})
	for name, reply := range map[string]llmtest.Func{"in a call": llmtest.Hang(), "in a wait": down} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				var recorded error
				c := &llm.Client{Model: reply, Record: func(ctx context.Context, call llm.Call) error {
					recorded = call.Err
					return ctx.Err() // a journal must still be able to write
				}}
				time.AfterFunc(100*time.Millisecond, func() { cancel(errTest) })
				start := time.Now()
				_, err := c.Complete(ctx, request())
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorIs(t, err, errTest, "the reason is kept")
				require.NotErrorIs(t, err, llm.ErrJournal)
				require.NotErrorIs(t, err, llm.ErrTimeout)
				require.ErrorIs(t, recorded, errTest)
				assert.Equal(t, 100*time.Millisecond, time.Since(start))
			})
		})
	}
}

// TestDeadlineOfTheCaller holds that a call ends when its caller's time is over, though the endpoint hangs.
func TestDeadlineOfTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := (&llm.Client{Model: llmtest.Hang()}).Complete(ctx, request())
		require.ErrorIs(t, err, llm.ErrTimeout)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// TestRecord holds that a call has one record: its role and model, tokens of failed tries too,
// what it cost, how long it took, how often it was tried; and that the budget has the same sums.
func TestRecord(t *testing.T) {
	var calls []llm.Call
	paid := &llm.Error{Kind: llm.ErrBadReply, Retry: true, Usage: llm.Usage{Input: 10, Output: 1}}
	good := llmtest.Reply(llm.Response{Text: "ok", Usage: llm.Usage{Input: 1000, Cached: 400, Output: 100}})
	c := &llm.Client{
		Model: sequence(t, llmtest.Fail(paid), good), Default: llm.Settings{Model: "m"},
		Retry:  llm.Retry{First: time.Microsecond},
		Budget: &llm.Budget{Prices: llm.Prices{"m": {Input: 2, Cached: 0.5, Output: 10}}},
		Record: func(_ context.Context, call llm.Call) error { calls = append(calls, call); return nil },
	}
	_, err := c.Complete(t.Context(), request())
	require.NoError(t, err)
	require.Len(t, calls, 1)
	assert.Equal(t, llm.Usage{Input: 1010, Cached: 400, Output: 101}, calls[0].Usage, "failed attempts are paid for too")
	assert.InDelta(t, (610*2+400*0.5+101*10)/1e6, calls[0].Dollars, 1e-12)
	assert.Equal(t, "m", calls[0].Request.Model)
	assert.Equal(t, request().Role, calls[0].Request.Role)
	assert.Equal(t, 2, calls[0].Attempts)
	assert.Positive(t, calls[0].Latency)
	spent := c.Budget.Spent()
	assert.Equal(t, calls[0].Usage, spent.Usage, "the journal's sum is the budget's")
	assert.InDelta(t, calls[0].Dollars, spent.Dollars, 1e-12)
	assert.Equal(t, 1, spent.Calls)
}

func TestRecordFails(t *testing.T) {
	full := errors.New("no space left on device")
	for _, reply := range []llmtest.Func{llmtest.Text("ok"), llmtest.Fail(errTest)} {
		c := &llm.Client{Model: reply, Record: func(context.Context, llm.Call) error { return full }}
		resp, err := c.Complete(t.Context(), request())
		require.ErrorIs(t, err, llm.ErrJournal)
		require.ErrorIs(t, err, full)
		assert.Nil(t, resp, "a reply that is not recorded is not used")
	}
}

func TestUsageIsEstimatedWhereTheEndpointDoesNotCount(t *testing.T) {
	c := &llm.Client{Model: llmtest.Text(strings.Repeat("word ", 60)), Budget: &llm.Budget{}}
	_, err := c.Complete(t.Context(), request())
	require.NoError(t, err)
	assert.Equal(t, llm.Usage{Input: 8 + 2, Output: 100}, c.Budget.Spent().Usage)
}

func TestCheck(t *testing.T) {
	ok := llm.Settings{Model: "m"}
	for _, tt := range []struct {
		name   string
		client *llm.Client
		want   string
	}{
		{"good", &llm.Client{Default: ok}, ""},
		{"no model at all", &llm.Client{}, "no model is set for the planner"},
		{"no model for one role", &llm.Client{Roles: map[llm.Role]llm.Settings{llm.Planner: ok, llm.Actor: ok, llm.Monitor: ok}}, "for the worldmodel"},
		{"negative deadline", &llm.Client{Default: llm.Settings{Model: "m", Deadline: -1}}, "negative limit"},
		{"negative budget", &llm.Client{Default: ok, Budget: &llm.Budget{MaxTokens: -1}}, "negative"},
		{"price missing", &llm.Client{Default: ok, Roles: map[llm.Role]llm.Settings{llm.Monitor: {Model: "tiny"}},
			Budget: &llm.Budget{MaxDollars: 1, Prices: llm.Prices{"m": {Input: 1}}}}, `model "tiny" has no price`},
		{"price not needed", &llm.Client{Default: ok, Budget: &llm.Budget{MaxTokens: 1}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.client.Check()
			if tt.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tt.want)
			}
		})
	}
}

func TestLogsOfAttemptsHoldNoPromptsAndNoPictures(t *testing.T) {
	var log strings.Builder
	c := &llm.Client{
		Model:   sequence(t, llmtest.Fail(&llm.Error{Kind: llm.ErrUnavailable, Status: 503, Retry: true}), llmtest.Text("the reply")),
		Default: llm.Settings{Model: "m"}, Retry: llm.Retry{First: time.Microsecond},
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	}
	r := request()
	r.Messages[0].Parts = append(r.Messages[0].Parts, llm.Image{Data: []byte("pixels"), FrameID: "f1"})
	_, err := c.Complete(t.Context(), r)
	require.NoError(t, err)
	assert.Contains(t, log.String(), "status 503")
	assert.NotContains(t, log.String(), "hello")
	assert.NotContains(t, log.String(), "pixels")
	assert.NotContains(t, log.String(), "the reply")
}

func TestClientIsSafeForConcurrentUse(t *testing.T) {
	var mu sync.Mutex
	n := 0
	c := &llm.Client{Model: llmtest.Reply(llm.Response{Text: "ok", Usage: llm.Usage{Input: 1}}), Budget: &llm.Budget{},
		Record: func(context.Context, llm.Call) error { mu.Lock(); defer mu.Unlock(); n++; return nil }}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			_, err := c.Complete(t.Context(), request())
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	assert.Equal(t, 20, n)
	assert.Equal(t, 20, c.Budget.Spent().Calls)
	assert.Equal(t, 20, c.Budget.Spent().Input)
}

func TestErrorTexts(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&llm.Error{Kind: llm.ErrAuth, Status: 401, Detail: "invalid key"},
			"the endpoint refused the key (status 401; invalid key)"},
		{&llm.Error{Kind: llm.ErrRateLimited, Status: 429, RetryAfter: 90 * time.Second},
			"the endpoint limits the rate of requests (status 429; it asks to wait 1m30s)"},
		{&llm.Error{Kind: llm.ErrTimeout}, "the model took too long"},
		{&llm.BudgetError{Resource: llm.Calls, Used: 50, Max: 50}, "out of model calls: 50 of 50 used; raise this limit to go on"},
		{&llm.BudgetError{Resource: llm.Dollars, Used: 1.5, Need: 0.75, Max: 2},
			"out of dollars: $1.5000 of $2.0000 used or reserved, and the next call may need $0.7500; raise this limit to go on"},
		{&llm.BudgetError{Resource: llm.Time, Used: 600.0001, Max: 600}, "out of time: 10m0s of 10m0s used; raise this limit to go on"},
	} {
		assert.Equal(t, tt.want, fmt.Sprint(tt.err))
	}
}

// What a provider wants back is sent as it came or not at all: one in which there is a
// secret is not kept.
func TestStateWithASecret(t *testing.T) {
	for data, kept := range map[string]bool{`{"typed":"%password%"}`: true, `{"typed":"swordfish"}`: false} {
		c := &llm.Client{Default: llm.Settings{Model: "m"}, Hide: func(s string) string { return strings.ReplaceAll(s, "swordfish", "%password%") },
			Model: llmtest.Reply(llm.Response{Text: "ok", State: &llm.State{API: "responses", Model: "m", Data: data}})}
		resp, err := c.Complete(t.Context(), &llm.Request{Role: llm.Actor, Messages: []llm.Message{llm.UserText("x")}})
		require.NoError(t, err)
		require.Equal(t, kept, resp.State != nil)
	}
}

// What cannot be recorded ends the run: no other model is asked then.
func TestNoFallbackWithoutARecord(t *testing.T) {
	asked := 0
	c := &llm.Client{
		Model: llmtest.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
			asked++
			return nil, &llm.Error{Kind: llm.ErrUnavailable}
		}),
		Default: llm.Settings{Model: "a", Fallback: []string{"b"}},
		Record:  func(context.Context, llm.Call) error { return errors.New("the disk is full") },
	}
	_, err := c.Complete(t.Context(), request())
	require.ErrorIs(t, err, llm.ErrJournal)
	assert.Equal(t, 1, asked)
}

// TestEveryCallHasALimit holds that a call to a model which never answers ends by itself, also
// where nobody set a limit: after as many tries as fit.
func TestEveryCallHasALimit(t *testing.T) {
	for deadline, want := range map[time.Duration]time.Duration{0: 5 * time.Minute, 10 * time.Second: 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			began, tries := time.Now(), 0
			hangs := llmtest.Func(func(ctx context.Context, _ *llm.Request) (*llm.Response, error) {
				tries++
				_, limited := ctx.Deadline()
				assert.True(t, limited, "the adapter is told when to give up")
				<-ctx.Done()
				return nil, context.Cause(ctx)
			})
			_, err := (&llm.Client{Model: hangs, Default: llm.Settings{Model: "m", Deadline: deadline}}).Complete(context.Background(), request())
			require.ErrorIs(t, err, llm.ErrTimeout)
			assert.LessOrEqual(t, time.Since(began), want)
			assert.Positive(t, tries)
		})
	}
}
