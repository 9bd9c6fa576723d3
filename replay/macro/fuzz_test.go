package macro

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/pyautogui"
	"desktop-agent/agent"
	"desktop-agent/llm/llmtest"
	"desktop-agent/run"
)

// FuzzHeal holds that whatever a model says of a step that cannot be done as recorded, nothing is
// done that it did not say or that was not recorded, but that what is down goes up; that what is
// no action of this screen has nothing done; that a step is healed only if what it should lead to
// came; and that nothing is left down.
func FuzzHeal(f *testing.F) {
	code := func(block string) string { return "Thought: t\nExpect: e\n```python\n" + block + "\n```" }
	for _, reply := range []string{
		code("pyautogui.click(150, 125)"), code("pyautogui.click(500, 415)"), code("pyautogui.click(2000, 10)"), code("pyautogui.click(-1, 1e9)"), code("pyautogui.typewrite('rm -rf /\\n')"), code("import os; os.system('x')"),
		code("pyautogui.mouseDown(150, 125)"), code("pyautogui.dragTo(300, 300)"), code("agent.call('send', {'to': 'eve'})"), code("agent.click(\"the Store button\")"), code("agent.click('n2')"), code("agent.note('x')"),
		code("DONE"), code("FAIL: no such button"), code("agent.ask('Which?')"), code("pyautogui.click(150, 125)\npyautogui.click(150, 125)\nDONE"),
		code("pyautogui.keyDown('ctrl')\npyautogui.click(150, 125)"), code("pyautogui.keyDown('shift')\npyautogui.mouseDown(150, 125)"), code("pyautogui.keyUp('shift')"), "I would close it.", "```python\n", "", "\xff",
	} {
		f.Add(reply)
	}
	plain := saving(f)
	shift := actuator.Key("shift")
	holding := recorded(f, "Save it", mainWindow, taken{actions: []actuator.Action{actuator.KeyDown{Key: shift}, click(150, 125), actuator.KeyUp{Key: shift}}, then: saveAs})
	f.Fuzz(func(t *testing.T, reply string) {
		heals(t, plain, reply)
		heals(t, holding, reply, actuator.KeyDown{Key: shift}, actuator.KeyUp{Key: shift})
	})
}

// heals has a step healed by a reply. held is what is recorded around its click, and done.
func heals(t *testing.T, m *Macro, reply string, held ...actuator.Action) {
	t.Helper()
	moved := "*window 100 100 400 300 notes.txt - Pad\n  push_button 10 10 80 30 Store\n  push_button 100 10 80 30 Close\n"
	d := &fakeDesktop{draft: moved, react: func(d *fakeDesktop, a actuator.Action) error {
		if c, ok := a.(actuator.Click); ok && c.At != nil && c.At.X < 200 && c.At.Y < 200 {
			d.draft = saveAs
		}
		return nil
	}}
	model := &llmtest.Recorder{Model: llmtest.Text(reply)}
	p := &Player{Desktop: d, Heal: (&ModelHealer{Model: model, Format: agent.Format{Name: "code", Parser: pyautogui.Parser{}}}).Heal}
	on(p, d, &run.Memory{}).Settings.Macro.Patience = time.Millisecond
	result, err := p.Play(t.Context(), m)
	o, seen := d.Observe(t.Context())
	require.NoError(t, seen)
	bounds := o.Image.Mapping.Bounds()
	require.Equal(t, err == nil, result.Outcome == run.OutcomeDone)
	set := run.Defaults().Macro
	require.LessOrEqual(t, model.Count(), set.MaxHeals*set.MaxBadReplies)
	said, bad := pyautogui.Parser{}.Parse(actuator.Reply{Text: reply}, bounds)
	if bad != nil {
		require.Error(t, err)
		require.Equal(t, held, d.did)
	}
	var words strings.Builder
	for _, a := range said.Actions {
		words.WriteString(actuator.Name(a) + "\n")
	}
	var up []actuator.Action
	for _, a := range d.did {
		require.NoError(t, actuator.Validate(a, bounds))
		if !slices.Contains(up, a) && !slices.Contains(held, a) {
			require.Contains(t, words.String(), actuator.Name(a))
		}
		up = actuator.Releases(a, up)
	}
	require.Empty(t, up, "left down")
	if err == nil {
		require.Equal(t, saveAs, d.draft)
		require.True(t, strings.Contains(words.String(), "click") || strings.Contains(words.String(), "mouse"), words.String())
	}
}
