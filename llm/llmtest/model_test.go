package llmtest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
)

// always returns a maker of one model.
func always(m llm.Model) func(testing.TB) llm.Model {
	return func(testing.TB) llm.Model { return m }
}

// TestModels holds that the fakes are models.
func TestModels(t *testing.T) {
	boom := &llm.Error{Kind: llm.ErrQuota}
	fails := map[string]llmtest.Failure{"fails": {New: always(llmtest.Fail(boom)), Want: llm.ErrQuota}}
	never := llmtest.Wait(nil, nil, llmtest.Text("never"))
	script := func(reply llmtest.Func) func(t testing.TB) llm.Model {
		return func(t testing.TB) llm.Model {
			return &llmtest.Script{T: t, Replies: map[llm.Role][]llmtest.Func{llm.Actor: slices.Repeat([]llmtest.Func{reply}, 8)}}
		}
	}
	for name, s := range map[string]*llmtest.Subject{
		"a text":    {New: always(llmtest.Text("DONE")), Hang: always(llmtest.Hang()), Fail: fails},
		"a call":    {New: always(llmtest.Call("click", 1)), Hang: always(never)},
		"as JSON":   {New: always(llmtest.JSON(1)), Hang: always(never)},
		"a script":  {New: script(llmtest.Call("click", 1)), Calls: 8, Hang: script(llmtest.Hang()), Fail: map[string]llmtest.Failure{"fails": {New: script(llmtest.Fail(boom)), Want: llm.ErrQuota}}},
		"a witness": {New: func(testing.TB) llm.Model { return &llmtest.Recorder{Model: llmtest.Text("DONE")} }, Hang: always(&llmtest.Recorder{Model: llmtest.Hang()})},
	} {
		t.Run(name, func(t *testing.T) { llmtest.TestModel(t, s) })
	}
}

// TestModelFinds holds that each rule of the suite finds a model that breaks it,
// and that no other rule says so.
func TestModelFinds(t *testing.T) {
	good := llmtest.Text("DONE")
	shared := []llm.ToolCall{{Name: "click"}}
	one := &llm.Response{Text: "DONE"}
	for _, tt := range []struct {
		name string
		s    llmtest.Subject
		want []string // how the failures begin
	}{
		{"good", llmtest.Subject{New: always(good), Hang: always(llmtest.Hang())}, nil},
		{"neither a reply nor an error", llmtest.Subject{Calls: 1, New: always(llmtest.Func(func(ctx context.Context, _ *llm.Request) (*llm.Response, error) {
			return nil, context.Cause(ctx)
		}))}, []string{"a reply or an error: there is neither", "calls at the same time: ", "usage: "}},
		{"empty", llmtest.Subject{Calls: 1, New: always(llmtest.Text(" "))},
			[]string{"a reply or an error: the reply is empty", "calls at the same time: ", "usage: "}},
		{"changes the request", llmtest.Subject{New: always(llmtest.Func(func(ctx context.Context, r *llm.Request) (*llm.Response, error) {
			r.MaxTokens = 7
			return good(ctx, r)
		}))}, []string{"the request is not changed: it is "}},
		{"appends to the messages in place", llmtest.Subject{New: always(llmtest.Func(func(ctx context.Context, r *llm.Request) (*llm.Response, error) {
			_ = append(r.Messages, llm.UserText("mine"))
			return good(ctx, r)
		}))}, []string{"the request is not changed: what lies behind"}},
		{"changes the schema", llmtest.Subject{
			Request: func() *llm.Request { return &llm.Request{Schema: &llm.Schema{Name: "plan"}} },
			New: always(llmtest.Func(func(ctx context.Context, r *llm.Request) (*llm.Response, error) {
				r.Schema.Name = "other"
				return good(ctx, r)
			}))}, []string{"the request is not changed: the schema"}},
		{"gives one reply twice", llmtest.Subject{New: always(llmtest.Func(func(ctx context.Context, _ *llm.Request) (*llm.Response, error) {
			return one, context.Cause(ctx)
		}))}, []string{"the reply is the caller's: two calls", "a context that has ended: want the cause of its end, got: there is a reply beside"}},
		{"shares its calls", llmtest.Subject{New: always(llmtest.Func(func(ctx context.Context, _ *llm.Request) (*llm.Response, error) {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return &llm.Response{Calls: shared}, nil
		}))}, []string{"the reply is the caller's: two replies share"}},
		{"has fewer replies than it says", llmtest.Subject{Calls: 3, New: func(t testing.TB) llm.Model {
			return &llmtest.Script{T: t, Replies: map[llm.Role][]llmtest.Func{llm.Actor: {good, good}}}
		}}, []string{"llmtest.Script: call 3", "calls at the same time: the call failed"}},
		{"minds no context", llmtest.Subject{New: always(llmtest.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
			return &llm.Response{Text: "DONE"}, nil
		}))}, []string{"a context that has ended: want the cause of its end, got: the call did not fail"}},
		{"hides the cause", llmtest.Subject{New: always(llmtest.Func(func(ctx context.Context, r *llm.Request) (*llm.Response, error) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return good(ctx, r)
		}))}, []string{"a context that has ended: want the cause of its end, got: context canceled"}},
		{"hangs on", llmtest.Subject{New: always(good), Hang: always(llmtest.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
			time.Sleep(time.Hour)
			return nil, errors.New("at last")
		}))}, []string{"a context that ends: want the cause of its end, got: the call goes on", "a time that is over: "}},
		{"hides what the end was", llmtest.Subject{New: always(good), Hang: always(llmtest.Func(func(ctx context.Context, _ *llm.Request) (*llm.Response, error) {
			<-ctx.Done()
			return nil, errors.New("broken")
		}))}, []string{"a context that ends: want the cause of its end, got: broken", "a time that is over: want that the time was over, got: broken"}},
		{"fails in other ways", llmtest.Subject{New: always(good), Fail: map[string]llmtest.Failure{
			"plain": {New: always(llmtest.Fail(errStrange)), Want: errStrange}}}, []string{"errors are of a kind: plain: it is of no kind"}},
		{"fails as an unknown kind", llmtest.Subject{New: always(good), Fail: map[string]llmtest.Failure{
			"own": {New: always(llmtest.Fail(&llm.Error{Kind: errStrange})), Want: errStrange}}}, []string{"errors are of a kind: own: it is of no kind"}},
		{"fails as another kind", llmtest.Subject{New: always(good), Fail: map[string]llmtest.Failure{
			"auth": {New: always(llmtest.Fail(&llm.Error{Kind: llm.ErrQuota})), Want: llm.ErrAuth}}}, []string{"errors are of a kind: auth: want "}},
		{"does not fail", llmtest.Subject{New: always(good), Fail: map[string]llmtest.Failure{
			"auth": {New: always(good), Want: llm.ErrAuth}}}, []string{"errors are of a kind: auth: the call did not fail"}},
		{"fails with a reply", llmtest.Subject{New: always(good), Fail: map[string]llmtest.Failure{
			"auth": {New: always(llmtest.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
				return one, &llm.Error{Kind: llm.ErrAuth}
			})), Want: llm.ErrAuth}}}, []string{"errors are of a kind: auth: there is a reply beside"}},
		{"takes an empty reply", llmtest.Subject{New: always(good), Empty: always(llmtest.Text(""))}, []string{"an empty reply: want "}},
		{"counts nothing", llmtest.Subject{New: always(good), Counted: true}, []string{"usage: of the reply: "}},
		{"keeps no count", llmtest.Subject{New: always(good), Spent: func(llm.Model) llm.Usage { return llm.Usage{} }}, []string{"usage: of the calls: "}},
		{"counts more in the cache than was read", llmtest.Subject{New: always(llmtest.Reply(llm.Response{Text: "DONE", Usage: llm.Usage{Input: 1, Cached: 2}}))},
			[]string{"usage: of the reply: "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				said := llmtest.Failures(t, func(t testing.TB) { llmtest.TestModel(t, &tt.s) })
				time.Sleep(2 * time.Hour) // until what hangs has ended
				require.Len(t, said, len(tt.want), "%q", said)
				for i, want := range tt.want {
					assert.Contains(t, said[i], want)
				}
			})
		})
	}
}

var errStrange = errors.New("strange")

// TestFailures holds what a stand-in for a test does.
func TestFailures(t *testing.T) {
	assert.Empty(t, llmtest.Failures(t, func(t testing.TB) { require.NoError(t, nil) }))
	assert.Equal(t, []string{"one 1", "two 2", "three"}, llmtest.Failures(t, func(t testing.TB) {
		t.Error("one", 1)
		t.Errorf("two %d", 2)
		assert.True(t, t.Failed())
		t.Fatal("three")
		t.Error("is never said")
	}))
	assert.Equal(t, []string{"failed"}, llmtest.Failures(t, func(t testing.TB) { t.FailNow() }))
	assert.Equal(t, []string{fmt.Sprint("four ", 4)}, llmtest.Failures(t, func(t testing.TB) { t.Fatalf("four %d", 4) }))
}
