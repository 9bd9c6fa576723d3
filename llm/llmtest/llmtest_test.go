package llmtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
)

func ask(role llm.Role, text string) *llm.Request {
	return &llm.Request{Role: role, Purpose: "test", Model: "m", Messages: []llm.Message{llm.UserText(text)}}
}

func TestScript(t *testing.T) {
	boom := errors.New("boom")
	s := &llmtest.Script{T: t, Replies: map[llm.Role][]llmtest.Func{
		llm.Planner: {llmtest.JSON(map[string]int{"a": 1}), llmtest.Fail(boom)},
		llm.Actor: {llmtest.Call("click", map[string]int{"x": 2}), func(_ context.Context, r *llm.Request) (*llm.Response, error) {
			return &llm.Response{Text: strings.ToUpper(llmtest.LastText(r))}, nil
		}},
	}}
	assert.Equal(t, 4, s.Left())

	got, err := s.Complete(t.Context(), ask(llm.Actor, "x"))
	require.NoError(t, err)
	assert.Equal(t, []llm.ToolCall{{ID: "call_click", Name: "click", Arguments: `{"x":2}`}}, got.Calls)
	got, err = s.Complete(t.Context(), ask(llm.Planner, "x"))
	require.NoError(t, err)
	assert.Equal(t, llm.Response{Text: `{"a":1}`, Model: "m", Finish: "stop"}, *got)
	_, err = s.Complete(t.Context(), ask(llm.Planner, "x"))
	require.ErrorIs(t, err, boom)
	got, err = s.Complete(t.Context(), ask(llm.Actor, "shout"))
	require.NoError(t, err)
	assert.Equal(t, "SHOUT", got.Text)
	assert.Zero(t, s.Left())

	said := llmtest.Failures(t, func(t testing.TB) {
		s.T = t
		_, err := s.Complete(t.Context(), ask(llm.Actor, "once more"))
		assert.Error(t, err)
		_, err = s.Complete(t.Context(), ask(llm.Monitor, "unexpected"))
		assert.Error(t, err)
	})
	require.Len(t, said, 2, "the test fails, and knows why")
	assert.Contains(t, said[0], `call 3 of role "actor" (purpose "test"), but the script has 2 replies for it; last message: "once more"`)
	assert.Contains(t, said[1], `call 1 of role "monitor" (purpose "test"), but the script has 0 replies for it`)
}

func TestRecorder(t *testing.T) {
	r := &llmtest.Recorder{Model: llmtest.Text("ok")}
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			_, err := r.Complete(t.Context(), ask([]llm.Role{llm.Actor, llm.Monitor}[i%2], "x"))
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	assert.Equal(t, 10, r.Count())
	assert.Equal(t, 5, r.Count(llm.Actor))
	assert.Equal(t, 10, r.Count(llm.Actor, llm.Monitor))
	assert.Zero(t, r.Count(llm.Planner))
	assert.Equal(t, llm.Monitor, r.Requests(llm.Monitor)[4].Role)

	q := ask(llm.Planner, "before")
	_, err := r.Complete(t.Context(), q)
	require.NoError(t, err)
	q.Messages[0] = llm.UserText("after")
	assert.Equal(t, "before", llmtest.LastText(r.Requests(llm.Planner)[0]), "later changes do not reach what was recorded")
}

func TestHangAndWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		release, started := make(chan struct{}), make(chan struct{})
		var hung, text string
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := llmtest.Hang().Complete(ctx, ask(llm.Actor, "x"))
			hung = fmt.Sprint(err)
		})
		wg.Go(func() {
			resp, err := llmtest.Wait(started, release, llmtest.Text("late")).Complete(t.Context(), ask(llm.Actor, "x"))
			assert.NoError(t, err)
			text = resp.Text
		})
		<-started
		synctest.Wait()
		assert.Empty(t, hung+text)
		close(release)
		cancel()
		wg.Wait()
		assert.Equal(t, "context canceled", hung)
		assert.Equal(t, "late", text)
		_, err := llmtest.Wait(nil, nil, llmtest.Text("never")).Complete(ctx, ask(llm.Actor, "x"))
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestTexts(t *testing.T) {
	r := &llm.Request{Messages: []llm.Message{llm.SystemText("a"), {From: llm.User, Parts: []llm.Part{llm.Text("b"), llm.Image{}, llm.Text("c")}}}}
	assert.Equal(t, "b\nc", llmtest.LastText(r))
	assert.Equal(t, "a\nb\nc", llmtest.AllText(r))
	assert.Empty(t, llmtest.LastText(&llm.Request{}))
}
