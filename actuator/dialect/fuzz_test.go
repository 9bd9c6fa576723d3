package dialect

import (
	"errors"
	"image"
	"strings"
	"testing"
	"time"

	"desktop-agent/actuator"
)

// fuzz holds that whatever a model writes gives either actions that are possible, or an
// error for the model, soon and without a panic; and that such actions, written in the
// dialect again, are those actions.
func fuzz(f *testing.F, names string, seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	bounds := image.Rectangle{Max: full}
	f.Fuzz(func(t *testing.T, text string) {
		for name := range strings.FieldsSeq(names) {
			d := Named(name)
			began := time.Now()
			p, err := d.Parser().Parse(actuator.Reply{Text: text}, bounds)
			if took := time.Since(began); took > time.Minute {
				t.Errorf("took %v", took)
			}
			if err != nil {
				if e, ok := errors.AsType[*actuator.ParseError](err); !ok || e.Message == "" || len(e.Message) > 3000 || len(p.Actions) > 0 {
					t.Errorf("error %T %v with %d actions", err, err, len(p.Actions))
				}
				continue
			}
			if len(p.Actions) == 0 || len(p.Actions) > actuator.MaxActions {
				t.Errorf("%d actions", len(p.Actions))
			}
			for i, a := range p.Actions {
				if err := actuator.Validate(a, bounds); err != nil {
					t.Errorf("%s: %v", actuator.Describe(a), err)
				}
				if _, ok := a.(actuator.Infeasible); ok {
					continue // its reason is in the prose of most forms, which may look like anything
				}
				said, ok := d.Write("", p.Actions[i:i+1], full)
				if !ok {
					continue
				}
				again, err := d.Parser().Parse(actuator.Reply{Text: said}, bounds)
				if err != nil || len(again.Actions) != 1 || !actuator.Same(again.Actions[0], a) {
					t.Errorf("%s %s: %q is read as %v, %v", name, actuator.Describe(a), said, again.Actions, err)
				}
			}
		}
	})
}

func FuzzUITars(f *testing.F) {
	fuzz(f, "ui-tars-1.0 ui-tars-1.5 ui-tars-doubao",
		"Thought: a\nAction: click(point='<point>812 44</point>')", "Action: click(start_box='<|box_start|>(1,2)<|box_end|>')\n\ntype(content='it\\'s')", "Action：hotkey(key='ctrl +')",
		"Action: drag(start_box='[1,2,3,4]', end_box=\"(5,6)\")", "Action: type(content='f('a')')", "finished(content='')", "Action: press(key='ctrl')\n\nrelease(key='ctrl')", "Action: scroll(point='1 2', direction='up')", "Action: wait(", "<think>", "a</think>Action: wait()", "Action: call_user()",
		"Reflection: r\nAction_Summary: s\nAction: left_double(point=(3.5, 4))")
}

func FuzzSeed(f *testing.F) {
	fuzz(f, "ui-tars-2", "<gui_think> a </gui_think><seed:tool_call><function=click><parameter=point><point>1 2</point></parameter></function></seed:tool_call>",
		"<seed:tool_call><function=type><parameter=content>\na\n</parameter></function><function=wait><parameter=time>3</parameter></function></seed:tool_call>",
		"<function name=\"hotkey\"><parameter name='key' string=\"true\">ctrl s</parameter></function>", "<computer_env>Action: wait()</computer_env>", "<function=mouse_down></function>", "<function=type><parameter=content>a\\n</parameter></function>", "<function")
}

func FuzzQwen(f *testing.F) {
	fuzz(f, "qwen2.5-vl qwen3-vl evocua", "Action: go\n"+use(`"action":"left_click","coordinate":[512,40]`), use(`"action":"key","keys":["ctrl","s"]`), use(`"action":"scroll","pixels":-720.5`),
		"<tool_call><function=computer_use><parameter=action>type</parameter><parameter=text>a</parameter></function></tool_call>", `{"action":"wait","time":1e9}`, "```python\npyautogui.click(1, 2)\n```",
		use(`"action":"left_click_drag","coordinate":"(1, 2)","start_coordinate":{"x":1,"y":2}`), use(`"action":"answer","text":"a"`), use(`"action":"terminate","status":"failure"`), `<tool_call>{"arguments":"{}"}`, use(`"action":"hscroll","pixels":0.2,"text":"shift"`))
}

func FuzzGLM(f *testing.F) {
	fuzz(f, "glm-4.5v", "a <|begin_of_box|>left_click(start_box='[500,250]', element_info='it's')<|end_of_box|>\nMemory:\n[]", "<think>a</think>key(keys='ctrl+c')", "<|begin_of_box|>type(content='a\\n')", "DONE()", "b FAIL()\nMemory:[]",
		"<|begin_of_box|>scroll(start_box='[1,2]', direction='down', step=3)<|end_of_box|>", "<|begin_of_box|>left_drag(start_box='[1,2]', end_box='[3,4]')<|end_of_box|>", "WAIT() DONE()")
}

func FuzzOpenCUA(f *testing.F) {
	fuzz(f, "opencua", "# Step 1:\n## Thought:\na\n## Action:\nb\n## Code:\n```python\npyautogui.click(x=512, y=40)\n```", "```code\ncomputer.triple_click(x=0.5, y=.25)\n```", "```code\ncomputer.terminate(status='success', answer='42')\n```",
		"```python\npyautogui.dragTo(x=1, y=2, button='left')\npyautogui.hotkey('ctrl', 's')\n```", "```\ncomputer.wait(3)\n```", "```python\npyautogui.scroll(-5, x=1, y=2)\npyautogui.write(message=\"\\u6f22\")\n```")
}

func FuzzHolo(f *testing.F) {
	fuzz(f, "holo1.5 holo2", `{"note":"n","thought":"t","action":{"action":"click_element","element":"e","x":5,"y":6}}`, "Click(5, 6)", `{"x":5,"y":6}`, `{"action":{"action":"write_element_abs","content":"a","x":5,"y":6}}`,
		`{"action":{"action":"drag","start":[1,2],"end":[3,4]}}`, `{"action":{"action":"hotkey","keys":["ctrl","s"]}}`, `{"action":{"action":"scroll","direction":"up","notches":3}}`, `{"action":{"action":"goto","url":"a"}}`, "{\"a\":{", `{"action":"answer","content":3}`)
}

func FuzzFara(f *testing.F) {
	fuzz(f, "fara fara-1.5", "a\n"+use(`"action":"type","coordinate":[5,6],"text":"a","press_enter":true,"delete_existing_text":"true"`), use(`"action":"visit_url","url":"a"`), use(`"action":"web_search","query":"b c"`),
		use(`"action":"history_back"`), use(`"action":"pause_and_memorize_fact","fact":"x"`), use(`"action":"terminate","answer":"y"`), use(`"action":"ask_user_question","question":""`))
}
