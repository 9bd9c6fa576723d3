package pyautogui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"desktop-agent/actuator"
)

// FuzzParse holds that whatever a model writes gives either actions that are
// possible, or an error for the model, soon and without a panic.
func FuzzParse(f *testing.F) {
	for _, code := range []string{
		"pyautogui.click(12, 30)", "import pyautogui as pg; pg.hotkey('ctrl', 's')",
		"for i in range(3):\n    pyautogui.press('down')\n    time.sleep(.5)", "with pyautogui.hold('shift'):\n  pyautogui.click()",
		"x, y = 1, 2\npyautogui.write(f\"{x!r:>{y}} {{}} {'a' if x else 'b'}\")", "pyautogui.write('%s %05.2f' % ('a', 1.5) + '{:>4}'.format(2))",
		"d = {'a': (1, 2)}\npyautogui.click(*d['a'])", "[pyautogui.press(k) for k in 'abc' if k != 'b']", "DONE: yes", "FAIL", "WAIT",
		"x = []\nwhile len(x) < 5: x.append(x)\nprint(x)", `pyautogui.write("\ud83d\ude00\N{DASH}\x41" r'\n' '''a''')`,
		"from pyautogui import (click,\n  press)\nclick(1, 2); press(['a', 'B'], presses=2)", "x = 'a' * 10**7", "if x is not None: pass\nelif 1 < 2: pass\nelse: pass",
		"agent.zoom(1, 2, 3, 4)\nagent.done('x')",
		"agent.click('n39', clicks=2, button='right')\nagent.drag('n1', (3, 4))", "agent.set('n39', 12.5)\nagent.type(element='n2', text='a')",
		"agent.wait_until(window='Save As', gone=True, seconds=3)", "agent.scroll('n39', -5); pyautogui.click('n7')", "agent.click('n0')", "x = 1_000.5e3 // -7 % 3 ** 2", "((((((((((", "'''", "f'{", "\\", "x = y = z: int = 5",
	} {
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code string) {
		for _, text := range []string{code, reply(code).Text} {
			began := time.Now()
			p, err := Parser{}.Parse(actuator.Reply{Text: text}, screen)
			if took := time.Since(began); took > time.Minute {
				t.Errorf("took %v", took)
			}
			if err != nil {
				e, ok := errors.AsType[*actuator.ParseError](err)
				if !ok || e.Message == "" || strings.Contains(e.Message, "internal error") || len(e.Message) > 2000 || len(p.Actions) > 0 {
					t.Errorf("error %T %v with %d actions", err, err, len(p.Actions))
				}
				if e != nil && (e.Line < 0 || e.Line > strings.Count(text, "\n")+strings.Count(text, "\r")+2 || e.Line > 0 && e.Column < 1) {
					t.Errorf("place %d:%d", e.Line, e.Column)
				}
				continue
			}
			if len(p.Actions) == 0 || len(p.Actions) > actuator.MaxActions {
				t.Errorf("%d actions", len(p.Actions))
			}
			for _, a := range p.Actions {
				if err := actuator.Validate(a, screen); err != nil {
					t.Errorf("%s: %v", actuator.Describe(a), err)
				}
			}
		}
	})
}
