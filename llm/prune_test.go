package llm_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"desktop-agent/llm"
)

func leftOut(i llm.Image) string { return "[screenshot " + i.FrameID + " left out]" }

// turn is one step of a conversation: what the screen shows and what was done.
func turn(n int) []llm.Message {
	return []llm.Message{
		{From: llm.User, Parts: []llm.Part{llm.Text(fmt.Sprint("turn ", n)), llm.Image{FrameID: fmt.Sprintf("f%04d", n)}}},
		{From: llm.Assistant, Parts: []llm.Part{llm.Text("click")}},
	}
}

// frames lists the pictures of a conversation.
func frames(messages []llm.Message) (ids []string) {
	for _, m := range messages {
		for _, p := range m.Parts {
			if i, ok := p.(llm.Image); ok {
				ids = append(ids, i.FrameID)
			}
		}
	}
	return ids
}

func TestPrune(t *testing.T) {
	var all []llm.Message
	for n := range 6 {
		all = append(all, turn(n)...)
	}
	for _, tt := range []struct {
		keep, interval int
		want           []string
	}{
		{1, 1, []string{"f0005"}},
		{3, 1, []string{"f0003", "f0004", "f0005"}},
		{3, 2, []string{"f0002", "f0003", "f0004", "f0005"}}, // one more would make 5
		{3, 3, []string{"f0003", "f0004", "f0005"}},
		{3, 0, []string{"f0003", "f0004", "f0005"}},
		{0, 1, nil},
		{-1, 1, nil},
		{6, 1, frames(all)},
		{9, 4, frames(all)},
	} {
		got := llm.Prune(all, tt.keep, tt.interval, leftOut)
		assert.Equal(t, tt.want, frames(got), "keep %d, interval %d", tt.keep, tt.interval)
		assert.Len(t, got, len(all))
	}
	got := llm.Prune(all, 3, 3, leftOut)
	assert.Equal(t, []llm.Part{llm.Text("turn 0"), llm.Text("[screenshot f0000 left out]")}, got[0].Parts)
	assert.Len(t, frames(all), 6, "the conversation itself is not changed")
	assert.Empty(t, llm.Prune(nil, 3, 3, leftOut))
}

func TestPruneProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keep, interval := rapid.IntRange(1, 6).Draw(t, "keep"), rapid.IntRange(1, 6).Draw(t, "interval")
		turns := rapid.IntRange(1, 30).Draw(t, "turns")
		var all, before []llm.Message
		var changed, want []int // turns at which the begin of the prompt changed
		for n := range turns {
			all = append(all, turn(n)...)
			now := llm.Prune(all, keep, interval, leftOut)
			shown := frames(now)
			if len(shown) < min(keep, n+1) || len(shown) > keep+interval-1 {
				t.Fatalf("turn %d: %d pictures with keep %d and interval %d", n, len(shown), keep, interval)
			}
			if newest := frames(all)[n+1-len(shown):]; !reflect.DeepEqual(shown, newest) {
				t.Fatalf("turn %d: %v are not the newest, %v", n, shown, newest)
			}
			if n > 0 && !reflect.DeepEqual(now[:len(before)], before) {
				changed = append(changed, n)
			}
			before = now
		}
		for n := keep + interval - 1; n < turns; n += interval {
			want = append(want, n)
		}
		if !reflect.DeepEqual(changed, want) {
			t.Fatalf("keep %d, interval %d: the begin changed at turns %v, want %v", keep, interval, changed, want)
		}
	})
}
