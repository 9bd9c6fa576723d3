package agent_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/agent"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
)

// beside finds where the list has the button to the left of the disabled OK, which is as
// wide: the list tells no place of what takes no click.
var beside = regexp.MustCompile(`"Cancel"[^;\n]* @(\d+),(\d+); "OK" \[disabled\]`)

// TestStuckOnARealDesktop has an actor click beside the middle of a disabled button of a
// real window, another pixel each time: nothing is sent, it is told why, and the run ends
// within 12 steps and 3 calls a step.
func TestStuckOnARealDesktop(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	calls, told := 0, 0
	client := &llm.Client{Default: llm.Settings{Model: "script"}, Retry: llm.Retry{Attempts: 1}}
	client.Model = llmtest.Answer(func(r *llm.Request) (string, error) {
		calls++
		switch r.Role {
		case llm.Monitor:
			return objects, nil
		case llm.WorldModel:
			return `{"changed":"nothing","as_expected":"no","progress_step":0,"evidence":"","guidance":null,"stop":false}`, nil
		}
		now := text(&llm.Request{Messages: r.Messages[len(r.Messages)-2:]}) // the report, and the list
		if strings.Contains(now, `push button "OK" is disabled: something else must be done first`) {
			told++
		}
		at := beside.FindStringSubmatch(now)
		if at == nil {
			return "", errors.New("the button is not in the list:\n" + now)
		}
		return code(fmt.Sprintf("pyautogui.click(%s + 90 + %d, %s + %d)", at[1], 7*(calls%3-1), at[2], 4*(calls%2))), nil
	})
	settings := run.Defaults()
	settings.Display.Private, settings.Display.Size, settings.Agent.Planning = true, image.Pt(800, 600), "off"
	settings.Display.TreeSilence, settings.Display.TreeLimit = 20*time.Second, time.Minute
	journal := &runtest.Journal{}
	s := runtest.Open(t, settings, &run.Options{Client: client, Journal: func() (run.Journal, error) { return journal, nil }})
	_, err := s.Private.Open(ctx, "sh", "-c", "tail -f /dev/null | zenity --progress --title Work")
	require.NoError(t, err)
	a, err := agent.New(s)
	require.NoError(t, err)
	result, err := a.Run(ctx, "Press OK")
	require.NoError(t, err)
	assert.Equal(t, run.OutcomeStuck, result.Outcome, result.Answer)
	assert.Contains(t, result.Answer, `push button "OK" (8 times)`)
	assert.LessOrEqual(t, result.Steps, 12)
	assert.LessOrEqual(t, calls, 3*result.Steps)
	assert.GreaterOrEqual(t, told, 7)
	assert.Empty(t, all[run.Acting](journal), "nothing is sent")
	t.Logf("%d steps, %d calls", result.Steps, calls)
}
