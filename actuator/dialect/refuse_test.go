package dialect

import (
	"errors"
	"image"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
)

// use is a call of computer_use.
func use(arguments string) string {
	return `<tool_call>{"name":"computer_use","arguments":{` + arguments + `}}</tool_call>`
}

// TestRefused holds that what cannot be meant is answered with what to write instead, for
// the model to read, and nothing of it is done.
func TestRefused(t *testing.T) {
	for _, tt := range []struct{ dialect, reply, want string }{
		// Points.
		{"ui-tars-1.5", "Action: click(point='<point>981 44</point>')", "outside of the screenshot; x goes from 0 to 979"},
		{"ui-tars-1.5", "Action: click(point='<point>-1 44</point>')", "outside"},
		{"ui-tars-1.5", "Action: click(point='<point>NaN 44</point>')", "no number that a point can have"},
		{"ui-tars-1.5", "Action: click(point='<point>1e999 44</point>')", "no number"},
		{"ui-tars-1.5", "Action: click(point='<point>12</point>')", "is no point"},
		{"ui-tars-1.5", "Action: click(point='the menu')", "no number"},
		{"ui-tars-1.5", "Action: click()", "says no point"},
		{"ui-tars-1.0", "Action: click(point='<point>1001 44</point>')", "x goes from 0 to 999"},
		{"qwen3-vl", use(`"action":"left_click","coordinate":[1001,5]`), "outside"},
		{"qwen3-vl", use(`"action":"left_click","coordinate":[NaN,5]`), "no call that can be read"},
		{"qwen3-vl", use(`"action":"left_click","coordinate":["NaN",5]`), "no number that a point can have"},
		{"qwen3-vl", use(`"action":"left_click","coordinate":[1,2,3]`), "is no point"},
		{"qwen3-vl", use(`"action":"left_click","coordinate":[[1,2],[3,4]]`), "more than one point"},
		{"qwen3-vl", use(`"action":"mouse_move"`), "says no point"},
		{"evocua", use(`"action":"left_click","coordinate":[1000.5,5]`), "outside"},
		{"glm-4.5v", "<|begin_of_box|>left_click(start_box='[1001,5]')<|end_of_box|>", "outside"},
		{"opencua", "```python\npyautogui.click(x=981, y=5)\n```", "outside"},
		{"opencua", "```python\npyautogui.click(x=5)\n```", "both"},
		{"holo2", `{"action":"click_element","x":"NaN","y":5}`, "no number"},
		{"holo2", `{"action":{"action":"click_element","element":"File"}}`, "says no point"},

		// Actions that there are not: with the form that was met, and without its text.
		{"ui-tars-1.5", "Action: swipe(start_box='(1,2)', content='hunter2')", `no action "swipe" here, so nothing was done with swipe(start_box=1,2, content=…)`},
		{"ui-tars-2", "<seed:tool_call><function=zoom_in><parameter=point><point>1 2</point></parameter></function></seed:tool_call>", "zoom_in(point=1,2)"},
		{"qwen3-vl", use(`"action":"long_press","coordinate":[1,2],"time":3`), "long_press(coordinate=1,2, time=3)"},
		{"glm-4.5v", "<|begin_of_box|>triple_click(start_box='[1,2]')<|end_of_box|>", "triple_click(start_box=1,2)"},
		{"holo2", `{"action":{"action":"restart"}}`, `no action "restart"`},
		{"fara", use(`"action":"read_page_answer_question"`), "the nearest are"},
		{"opencua", "```code\ncomputer.call_user()\n```", "computer.call_user is not there"},
		{"opencua", "```code\ncomputer.terminate(status='perhaps')\n```", "no such status"},
		{"qwen3-vl", use(`"action":"terminate","status":"perhaps"`), "no status"},
		{"qwen3-vl", use(`"action":"key","keys":["hyperdrive"]`), "unknown key"},
		{"qwen3-vl", use(`"action":"key","keys":[]`), "0 keys at once"},
		{"ui-tars-1.5", "Action: scroll(direction='inwards')", "up, down, left or right"},
		{"qwen3-vl", use(`"action":"scroll"`), "scrolls by nothing"},
		{"qwen3-vl", use(`"action":"wait","time":-1`), "less than nothing"},
		{"qwen3-vl", use(`"action":"wait","time":1e300`), "too large"},
		{"qwen3-vl", use(`"action":"type"`), "says no text"},
		{"fara", use(`"action":"visit_url","url":"a\nb"`), "line break"},
		{"ui-tars-2", "<seed:tool_call><function=press><parameter=key>ctrl s</parameter></function><function=release><parameter=key>ctrl s</parameter></function></seed:tool_call>", "one key"},

		// Nothing, or not in the form.
		{"ui-tars-1.5", "", "the reply is empty"},
		{"qwen3-vl", " \n\t", "the reply is empty"},
		{"ui-tars-1.5", "I would click on File.", "no action in the reply"},
		{"qwen3-vl", "I would click on File.", "no call that can be read"},
		{"glm-4.5v", "I would open File.\nMemory:\n[]", "no action in the reply"},
		{"opencua", "## Thought:\nI would click.", "no code block"},
		{"holo2", "I would click.", "no step that can be read"},
		{"holo2", "[1, 2]", "no step that can be read"},
		{"qwen3-vl", "<tool_call>\nleft_click(1, 2)\n</tool_call>", "no call that can be read"},
		{"qwen3-vl", use(`"action":"wait"`)[:60], "no call that can be read"},

		// More than one where one is done.
		{"qwen3-vl", use(`"action":"wait"`) + "\n" + use(`"action":"wait"`), "these are 2 actions, and one can be done"},
		{"qwen3-vl", `{"action":"wait"} {"action":"wait"}`, "these are 2 actions"},
		{"glm-4.5v", "<|begin_of_box|>WAIT()<|end_of_box|> then <|begin_of_box|>DONE()<|end_of_box|>", "these are 2 actions"},
		{"glm-4.5v", "WAIT() and then key(keys='a')", "these are 2 actions"},
		{"holo2", `{"action":{"action":"wait"}}{"action":{"action":"wait"}}`, "these are 2 actions"},
		{"ui-tars-1.5", "Action: finished()\n\nwait()", "nothing is done after done"},
		{"ui-tars-1.5", "Action: " + strings.Repeat("wait()\n\n", 200), "101 actions, more than 100"},
		{"ui-tars-1.5", "Action: wait() and so on", "what follows wait() is not understood"},

		// Cut off: a thought that is open, an argument, a tag. An action in a thought is not meant.
		{"ui-tars-2", "<think>first click(point='<point>1 2</point>')", "the thought is not closed"},
		{"qwen3-vl", "<think>a</think><think>" + use(`"action":"wait"`), "the thought is not closed"},
		{"glm-4.5v", "<think>I use <|begin_of_box|>DONE()<|end_of_box|>", "the thought is not closed"},
		{"holo2", `<thinking>{"action":{"action":"answer","content":""}}`, "the thought is not closed"},
		{"ui-tars-1.5", "Action: type(content='rm -rf", "not closed"},
		{"ui-tars-1.5", "Action: click(point='<point>1 2</point>'", "not closed"},
		{"ui-tars-1.5", "Action: click(", "not closed"},
		{"ui-tars-2", "<seed:tool_call><function=type><parameter=content>rm", "a tag of the action is not closed"},
		{"ui-tars-2", "<seed:tool_call><function=type><parameter=content>a</parameter>", "a tag of the action is not closed"},
		{"glm-4.5v", "<|begin_of_box|>", "not closed"},
		{"opencua", "## Code:\n```python\npyautogui.write('rm", "not closed"},
	} {
		d := Named(tt.dialect)
		require.NotNil(t, d, tt.dialect)
		got, err := d.Parser().Parse(actuator.Reply{Text: tt.reply}, image.Rectangle{Max: full})
		require.Error(t, err, "%s: %s: %v", tt.dialect, tt.reply, got.Actions)
		require.Contains(t, err.Error(), tt.want, "%s: %s", tt.dialect, tt.reply)
		require.NotContains(t, err.Error(), "hunter2")
		_, ok := errors.AsType[*actuator.ParseError](err)
		require.True(t, ok, "%T", err)
		require.Empty(t, got)
	}
}
