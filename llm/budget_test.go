package llm_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
)

// spends is a model whose every reply costs the same.
func spends(input, output int) llmtest.Func {
	return llmtest.Reply(llm.Response{Text: "ok", Usage: llm.Usage{Input: input, Output: output}})
}

func TestBudgetNamesTheLimit(t *testing.T) {
	prices := llm.Prices{"m": {Input: 1000, Output: 1000}}
	for _, tt := range []struct {
		name     string
		budget   *llm.Budget
		calls    int // that fit
		resource llm.Resource
	}{
		// A call uses 50 tokens, and may need 10 + 100.
		{"tokens", &llm.Budget{MaxTokens: 300}, 4, llm.Tokens},
		{"dollars", &llm.Budget{MaxDollars: 0.3, Prices: prices}, 4, llm.Dollars},
		{"calls", &llm.Budget{MaxCalls: 3}, 3, llm.Calls},
		{"too small for any call", &llm.Budget{MaxTokens: 50}, 0, llm.Tokens},
		{"the nearest one", &llm.Budget{MaxTokens: 300, MaxCalls: 2}, 2, llm.Calls},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sent := &llmtest.Recorder{Model: spends(40, 10)}
			c := &llm.Client{Model: sent, Budget: tt.budget, Default: llm.Settings{Model: "m", MaxTokens: 100}}
			var err error
			for err == nil {
				_, err = c.Complete(t.Context(), request())
			}
			assert.Equal(t, tt.calls, sent.Count(), "the refused call was never sent")
			require.ErrorIs(t, err, llm.ErrBudget)
			var b *llm.BudgetError
			require.ErrorAs(t, err, &b)
			assert.Equal(t, tt.resource, b.Resource)
			require.ErrorContains(t, err, "out of "+string(tt.resource))
		})
	}
}

// TestCountsThatCannotBe holds that an endpoint which counts less than nothing, or more than
// there can be, gives no budget back: it is estimated what it used, and a failure adds nothing.
func TestCountsThatCannotBe(t *testing.T) {
	for _, counted := range []llm.Usage{{Input: -1000}, {Input: 5, Output: -1}, {Input: 5, Cached: -1}, {Output: 1 << 62}} {
		for _, model := range []llmtest.Func{
			llmtest.Reply(llm.Response{Text: "ok", Usage: counted}), llmtest.Fail(&llm.Error{Kind: llm.ErrBadReply, Usage: counted}),
		} {
			b := &llm.Budget{MaxTokens: 1 << 30}
			c := &llm.Client{Model: model, Budget: b, Default: llm.Settings{Model: "m", MaxTokens: 100}, Retry: llm.Retry{Attempts: 1}}
			resp, err := c.Complete(t.Context(), request())
			spent := b.Spent().Usage
			if err != nil {
				assert.Zero(t, spent)
				continue
			}
			assert.NotNil(t, resp)
			assert.Equal(t, llm.Estimate(request()).Input, spent.Input, "%+v", counted)
			assert.Equal(t, 1, spent.Output)
		}
	}
}

func TestBudgetWallTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &llm.Budget{MaxTime: time.Minute}
		c := &llm.Client{Model: sequence(t, llmtest.Text("ok"), llmtest.Hang()), Budget: b}
		b.Start()
		time.Sleep(45 * time.Second)
		b.Start() // has no effect any more
		_, err := c.Complete(t.Context(), request())
		require.NoError(t, err)
		assert.InDelta(t, 0.25, b.Remaining().Time, 1e-9)

		start := time.Now()
		_, err = c.Complete(t.Context(), request())
		require.ErrorIs(t, err, llm.ErrBudget, "a call is cut off when the time ends, and not tried again")
		require.NotErrorIs(t, err, llm.ErrTimeout)
		assert.Equal(t, 15*time.Second, time.Since(start))

		_, err = c.Complete(t.Context(), request())
		require.ErrorContains(t, err, "out of time: 1m0s of 1m0s used")
		assert.Zero(t, b.Remaining().Time)
	})
}

// Many callers at once never spend more than the limit, though each alone would
// have found room.
func TestBudgetHoldsWithCallsInFlight(t *testing.T) {
	const limit, need = 1000, 110
	var inFlight, most atomic.Int64
	model := llmtest.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
		most.Store(max(most.Load(), inFlight.Add(1)))
		time.Sleep(time.Millisecond)
		inFlight.Add(-1)
		return &llm.Response{Text: "ok", Usage: llm.Usage{Input: 10, Output: 100}}, nil // all it could
	})
	synctest.Test(t, func(t *testing.T) {
		b := &llm.Budget{MaxTokens: limit}
		c := &llm.Client{Model: model, Budget: b, Default: llm.Settings{MaxTokens: 100}}
		var wg sync.WaitGroup
		var sent atomic.Int64
		for range 50 {
			wg.Go(func() {
				if _, err := c.Complete(t.Context(), request()); err == nil {
					sent.Add(1)
				} else {
					assert.ErrorIs(t, err, llm.ErrBudget)
				}
			})
		}
		wg.Wait()
		spent := b.Spent()
		assert.EqualValues(t, limit/need, sent.Load())
		assert.LessOrEqual(t, spent.Input+spent.Output, limit)
		assert.Equal(t, spent.Calls, int(sent.Load()))
		assert.EqualValues(t, limit/need, most.Load(), "they did run side by side")
	})
}

func TestFailedCallsGiveTheirReservationBack(t *testing.T) {
	b := &llm.Budget{MaxTokens: 120}
	c := &llm.Client{Model: sequence(t, llmtest.Fail(errTest), llmtest.Fail(errTest), llmtest.Text("ok")), Budget: b, Default: llm.Settings{MaxTokens: 100}}
	for range 2 {
		_, err := c.Complete(t.Context(), request())
		require.ErrorIs(t, err, errTest)
	}
	_, err := c.Complete(t.Context(), request())
	require.NoError(t, err)
	assert.Equal(t, 3, b.Spent().Calls)
}

func TestACallWithoutAPriceIsNotSentWhenDollarsAreLimited(t *testing.T) {
	c := &llm.Client{Model: sequence(t), Budget: &llm.Budget{MaxDollars: 1}, Default: llm.Settings{Model: "m"}}
	_, err := c.Complete(t.Context(), request())
	require.ErrorContains(t, err, `model "m" has no price`)
}

func TestRemaining(t *testing.T) {
	b := &llm.Budget{MaxTokens: 20_000, MaxDollars: 1, MaxCalls: 4, Prices: llm.Prices{"m": {Input: 100}}}
	least, part := b.Remaining().Least()
	assert.Equal(t, llm.Tokens, least)
	assert.InDelta(t, 1, part, 0)
	c := &llm.Client{Model: spends(4000, 1000), Budget: b, Default: llm.Settings{Model: "m"}}
	_, err := c.Complete(t.Context(), request())
	require.NoError(t, err)
	left := b.Remaining()
	assert.InDelta(t, 0.75, left.Tokens, 1e-9)
	assert.InDelta(t, 0.6, left.Dollars, 1e-9)
	assert.InDelta(t, 0.75, left.Calls, 1e-9)
	assert.InDelta(t, 1, left.Time, 0, "no limit")
	least, part = left.Least()
	assert.Equal(t, llm.Dollars, least)
	assert.InDelta(t, 0.6, part, 1e-9)
}

func TestCost(t *testing.T) {
	p := llm.Prices{"a": {Input: 2, Cached: 1, Output: 8}, "b": {Input: 2}}
	u := llm.Usage{Input: 1_000_000, Cached: 500_000, Output: 1_000_000}
	assert.InDelta(t, 1+0.5+8, p.Cost("a", u), 1e-9)
	assert.InDelta(t, 2, p.Cost("b", u), 1e-9, "without a price of its own, cached input costs as much as other input")
	assert.Zero(t, p.Cost("c", u))
}

func TestEstimate(t *testing.T) {
	var screenshot bytes.Buffer
	require.NoError(t, png.Encode(&screenshot, image.NewGray(image.Rect(0, 0, 1456, 819))))
	r := &llm.Request{MaxTokens: 7, Messages: []llm.Message{
		{From: llm.User, Parts: []llm.Part{llm.Text(strings.Repeat("a", 300)), llm.Image{Data: screenshot.Bytes()}}}}}
	assert.Equal(t, llm.Usage{Input: 8 + 100 + 2585, Output: 7}, llm.Estimate(r))
	r.MaxTokens = 0
	r.Messages[0].Parts[1] = llm.Image{Data: []byte("broken")}
	assert.Equal(t, llm.Usage{Input: 8 + 100 + 4096, Output: llm.AssumedOutput}, llm.Estimate(r))
}
