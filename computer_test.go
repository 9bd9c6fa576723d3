//go:build linux

package desktopagent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/dialect"
	"desktop-agent/actuator/eventwin"
	"desktop-agent/actuator/native"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/llm/responses"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/sandbox"
	"desktop-agent/screen"
)

// f12 says that all has come.
var f12 = actuator.Press{Keys: []actuator.Key{"f12"}, Count: 1}

// typedUntilF12 waits for that, and returns what was clicked and typed.
func typedUntilF12(ctx context.Context, t *testing.T, window *eventwin.Window) string {
	t.Helper()
	events, err := window.WaitFor(ctx, func(list []eventwin.Event) bool {
		return len(list) > 0 && list[len(list)-1].Kind == eventwin.KeyRelease && list[len(list)-1].Keysym == 0xffc9
	})
	require.NoError(t, err)
	return string(inputOf(t, events))
}

// eventDesktop is a private desktop with a window on it that records input.
func eventDesktop(ctx context.Context, t *testing.T) (*sandbox.Desktop, *eventwin.Window) {
	t.Helper()
	desktop, err := sandbox.Start(ctx, &sandbox.Options{Size: eventSize})
	require.NoError(t, err)
	t.Cleanup(func() { desktop.Close() })
	window, err := eventwin.Open(ctx, desktop.Display(), image.Rectangle{Max: eventSize})
	require.NoError(t, err)
	t.Cleanup(func() { window.Close() })
	return desktop, window
}

// performed does actions as they are, and returns what came of them.
func performed(ctx context.Context, t *testing.T, display, format string, side int, window *eventwin.Window, actions []actuator.Action, write func(actuator.Action, screen.Mapping) []actuator.Action) string {
	t.Helper()
	s := runtest.Open(t, run.Settings{Display: run.DisplaySettings{Name: display, MaxImage: side}, Agent: run.AgentSettings{Format: format}}, &run.Options{Exempt: run.ExemptDoctor})
	now, err := s.Screen.Observe(ctx)
	require.NoError(t, err)
	if v := native.OfFormat(format); v != nil {
		require.Equal(t, v.Image.Fit(eventSize, side), now.Image.Mapping.Size, format)
	}
	window.Clear()
	for _, a := range append(slices.Clone(actions), f12) {
		for _, b := range write(onImage(a, now.Image.Mapping), now.Image.Mapping) {
			s.Scope.Turn()
			require.NoError(t, s.Hand.Perform(ctx, run.Intent{Action: b, On: now, Source: run.FromProgram}))
		}
	}
	got := typedUntilF12(ctx, t, window)
	require.NoError(t, s.Close())
	return got
}

// TestToolsOfProvidersOnDesktop holds that the demo's actions, as a model calls for them in
// the words of each provider's own tool, from a picture of two sizes, end in the same
// input events on a real desktop, byte for byte, as the actions themselves.
func TestToolsOfProvidersOnDesktop(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	desktop, window := eventDesktop(ctx, t)
	actions := demoActions(t)
	want := performed(ctx, t, desktop.Display(), dialect.Code, 0, window, actions, func(a actuator.Action, _ screen.Mapping) []actuator.Action { return []actuator.Action{a} })
	require.Greater(t, bytes.Count([]byte(want), []byte("\n")), 80)
	for _, name := range []string{"openai", "anthropic", "gemini"} {
		v := native.Named(name)
		require.NotNil(t, v, name)
		for _, side := range demoSides {
			got := performed(ctx, t, desktop.Display(), v.Format(), side, window, actions, func(a actuator.Action, m screen.Mapping) []actuator.Action {
				calls, ok := v.Write([]actuator.Action{a}, m.Size)
				require.True(t, ok, "%s: %s", name, actuator.Describe(a))
				p, err := native.Parser{Of: v}.Parse(actuator.Reply{Calls: calls}, m.Bounds())
				require.NoError(t, err, "%s: %+v", name, calls)
				return p.Actions
			})
			require.Equal(t, want, got, "%s, at most %d pixels", name, side)
		}
	}
}

// accepting is a guard that allows all, and has one person who accepts what a provider
// raises.
type accepting struct{ asked int }

func (*accepting) Name() string                                           { return "of the test" }
func (*accepting) Allow(context.Context, run.Intent) (run.Guarded, error) { return run.Guarded{}, nil }
func (g *accepting) Accept(context.Context, run.Concern) (string, error) {
	g.asked++
	return "a person", nil
}

// TestRunByResponses has an agent do the demo's actions on a real desktop, called for by a
// model that speaks Responses, in batches, with a safety check and commentary between
// them: the input is the same, every request is one that the provider takes, and the
// recorded run replays offline, down to the prompts, with neither desktop nor model.
func TestRunByResponses(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	desktop, window := eventDesktop(ctx, t)
	actions := demoActions(t)
	want := performed(ctx, t, desktop.Display(), dialect.Code, 0, window, actions, func(a actuator.Action, _ screen.Mapping) []actuator.Action { return []actuator.Action{a} })
	window.Clear()

	var script []llmtest.ResponsesReply
	for batch := range slices.Chunk(append(slices.Clone(actions), f12), 3) {
		calls, ok := native.OpenAI.Write(batch, eventSize)
		require.True(t, ok)
		var arguments struct {
			Actions []any `json:"actions"`
		}
		require.NoError(t, json.Unmarshal([]byte(calls[0].Arguments), &arguments))
		call := llmtest.ComputerCall(fmt.Sprintf("call_%d", len(script)+1), arguments.Actions...)
		switch len(script) {
		case 1:
			call = llmtest.Raising(call, "sc_1", "sensitive_domain", "A bank.")
		case 2:
			script = append(script, llmtest.ResponsesReply{Items: []any{llmtest.Says("I look at it first.", "commentary")}})
		}
		script = append(script, llmtest.ResponsesReply{Items: []any{call}})
	}
	script = append(script, llmtest.ResponsesReply{Items: []any{llmtest.Says("All is typed.", "final_answer")}})
	server := llmtest.NewResponses(t, script...)
	server.Size = eventSize
	guard := &accepting{}
	r := recording{
		models: map[llm.Role]llm.Settings{llm.Actor: {Model: "gpt-5.6-sol"}}, computer: "openai",
		actor: &responses.Endpoint{BaseURL: server.URL}, guard: guard,
	}
	stored := r.record(ctx, t, desktop.Display(), "All is typed.")
	require.Equal(t, 1, guard.asked)
	require.Zero(t, server.Left())
	require.Equal(t, want, typedUntilF12(ctx, t, window))
	requests := server.Requests()
	require.Contains(t, requests[2].Body, `"acknowledged_safety_checks":[{"id":"sc_1"`)
	replayed(ctx, t, stored)
}
