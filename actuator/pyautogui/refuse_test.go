package pyautogui

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"desktop-agent/actuator"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRefusedReplies holds that a reply that is no action, such as prose, is refused with the
// reason.
func TestRefusedReplies(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"empty":       {"", "no code block"},
		"prose":       {"I would click on File.", "no code block"},
		"cut off":     {"```python\npyautogui.click(1, 2)\n", "not closed"},
		"bash":        {"```bash\nrm -rf /\n```", "is in bash"},
		"no action":   {"```python\nx = 1\n```", "does nothing"},
		"empty block": {"```python\n```", "does nothing"},
		"huge":        {strings.Repeat("a", 10<<20), "was not read"},
		"huge code":   {"```\n" + strings.Repeat("#", 100<<10) + "\n```", "was not read"},
		"empty ask":   {"```\nASK:\n```", "empty"},
		"ask outside": {"ASK:", "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Parser{}.Parse(actuator.Reply{Text: tt.text}, screen)
			assert.ErrorContains(t, err, tt.want)
			assert.IsType(t, &actuator.ParseError{}, err)
			assert.Empty(t, p)
		})
	}
}

// TestRefusedCode holds that what is not understood is answered with its line
// and column in the code as it was written, and with what to write instead.
func TestRefusedCode(t *testing.T) {
	for _, tt := range []struct{ code, want string }{
		{"import pyautogui\nimport os\nos.system('rm')", `2:1: "os" cannot be imported`},
		{"x = 1; from subprocess import run", `1:8: "subprocess" cannot be imported`},
		{"import pyautogui, sys", `1:1: "sys" cannot be imported`},
		{"from pyautogui import pixel", "1:1: pyautogui.pixel is not there"},
		{"pyautogui.screenshot('/tmp/x.png')", "1:1: pyautogui.screenshot writes no file"},
		{"pyautogui.screenshot()", "does nothing"},
		{"im = pyautogui.screenshot()\nim.save('x.png')", "2:1: a "},
		{"from pyautogui import clik", "1:1: pyautogui.clik is not there; the nearest are click"},
		{"import", "1:1: this import is incomplete"},
		{"from x", "1:1: this import is incomplete"},
		{"pyautogui.click(1,\n  2,\n  bottom='left')", `1:1: pyautogui.click has no argument "bottom"`},
		{"s = 'ä'; pyautogui.clik(1, 2)", "1:10: pyautogui.clik is not there; the nearest are click and"},
		{"'''a\nb'''; pyautogui.clik(1, 2)", "2:7: pyautogui.clik"},
		{"if 1:\n    pyautogui.press('entr')", `2:5: unknown key "entr": the nearest are "enter"`},
		{"pyautogui.hotkey('ctrl+s')", `1:1: unknown key "ctrl+s": write a shortcut as separate keys`},
		{"pyautogui.hotkey('ctrl', 'k', 'ctrl', 's')", "1:1: the key \"ctrl\" is there twice"},
		{"pyautogui.press('hello world, this is text')", "type it as text"},
		{"pyautogui.press(5)", "must be a name in quotes, not a int"},
		{"pyautogui.press('a', presses=1000)", "1 to 100"},
		{"pyautogui.press('a', presses=0)", "1 to 100"},
		{"pyautogui.press([])", "does nothing"},
		{"pyautogui.click(1920, 5)", "1:1: the point (1920, 5) is outside the screenshot; x goes from 0 to 1919 and y from 0 to 1079"},
		{"pyautogui.click(-1, 5)", "outside"},
		{"pyautogui.click(1e12, 5)", "too large"},
		{"pyautogui.click(0.5, 0.25)", "write pixels of the screenshot, which is 1920×1080"},
		{"pyautogui.click('save.png')", "a picture cannot be searched for"},
		{"pyautogui.click('5', '6')", "read the point off"},
		{"pyautogui.click(5, '6')", "y must be a number, not a str"},
		{"pyautogui.click(5)", "x and y are needed both"},
		{"pyautogui.click((5, 6, 7))", "a point needs 2 numbers"},
		{"pyautogui.click((5, 6), 7)", "leave out y"},
		{"pyautogui.click(5, 6, button='fourth')", "unknown mouse button"},
		{"pyautogui.click(1, 2, x=3)", "x is given twice"},
		{"pyautogui.click(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)", "too many arguments"},
		{"pyautogui.moveRel(1, 2)", "1:1: pyautogui.moveRel goes from where the pointer is, which is not known here"},
		{"pyautogui.dragRel(1, 2)", "not known here"},
		{"pyautogui.moveTo()", "needs a point"},
		{"x = pyautogui.position()", "1:5: where the pointer is, is not known here"},
		{"pyautogui.locateCenterOnScreen('x.png')", "the code cannot look at the screen"},
		{"pyautogui.alert('x')", "agent.ask"},
		{"pyautogui.getWindowsWithTitle('x')", "click on the window"},
		{"pyautogui.scroll(1000)", "-100 to 100"},
		{"pyautogui.scroll(0)", "does nothing"},
		{"pyautogui.scroll()", "a number of notches"},
		{"pyautogui.write('')", "the text is empty"},
		{"pyautogui.write(5)", "must be a text in quotes"},
		{"pyautogui.write('a' * 10001)", "at most 10000"},
		{"pyautogui.write('a\\x00b')", "control character"},
		{"pyautogui.write(b'x')", "1:17: bytes cannot be typed"},
		{"pyautogui.write('\\N{DASH}')", "write the character itself"},
		{"pyautogui.write('\\ud83d')", "hexadecimal digits"},
		{"pyautogui.write('\\u12')", "hexadecimal digits"},
		{"pyautogui.write('abc\npyautogui.press(1)", "1:17: the string does not end on its line"},
		{"pyautogui.write('''abc", "1:17: the string does not end; close it with '''"},
		{"pyautogui.write(pyperclip.paste())", "1:17: what is on the clipboard is not known here"},
		{"pyautogui.write(f'{x}')", `1:17: the name "x" is not known here`},
		{"pyautogui.write(f'{')", "is not closed"},
		{"pyautogui.write(f'}')", "single }"},
		{"pyautogui.write(f'{}')", "must hold a name"},
		{"pyautogui.write(f'{1:zz}')", "this format is not supported"},
		{"pyautogui.write(f'{1:999999999}')", "this format is not supported"},
		{"pyautogui.write('%99999999d' % 1)", "this format is not supported"},
		{"pyautogui.write('%d %d' % 1)", "fewer values"},
		{"pyautogui.write('%d' % (1, 2))", "more values"},
		{"pyautogui.write('%d' % 'x')", "needs a number"},
		{"pyautogui.write('{}{}'.format(1))", "fewer values"},
		{"pyautogui.write('a' + 1)", "1:17: a str and a int cannot be added"},
		{"pyautogui.write(“hi”)", "straight quotes"},
		{"pyautogui.write", "named but not called"},
		{"with pyautogui.hold('shift'):\n    pass\n    pyautogui.clik()", "3:5: "},
		{"with open('x') as f:\n    pass", "1:16: this is not understood (got as, want ':'); leave out as"},
		{"with open('x'):\n    pass", `1:6: the name "open" is not known`},
		{"with pyautogui.click(1, 2):\n    pass", "1:6: with is supported for pyautogui.hold"},
		{"pyautogui.hold('shift')", "hold is a block"},
		{"time.sleep(61)", "1 to 60000"},
		{"time.sleep(-1)", "write 0 to 60"},
		{"time.sleep('x')", "a number of seconds"},
		{"agent.hold(['shift'], 100)", "1 to 60000"},
		{"agent.zoom(1, 2, 3)", "agent.zoom needs"},
		{"agent.zoom(1900, 0, 100, 100)", "reaches outside"},
		{"agent.clik('n1')", "agent.clik is not there; the nearest are click"},
		{"agent.click(1, 2)", "agent.click needs an element: its ID in the list, in quotes, such as \"n39\", not a int; to click at a point, write pyautogui.click(x, y)"},
		{"agent.click()", "agent.click needs an element: its ID in the list, in quotes"},
		{"agent.click('39')", `1:1: "39" is no element: write the ID at the beginning of its line in the list, such as "n39"`},
		{"agent.click('n')", `"n" is no element`},
		{"agent.click('n0')", `"n0" is no element`},
		{"agent.click('nn3')", `"nn3" is no element`},
		{"agent.click('n3 ')", `"n3 " is no element`},
		{"agent.click('n3 push button \"Save\"')", `is no element`},
		{"agent.click(['n1', 'n2'])", "of elements, name one at a time"},
		{"pyautogui.click('save.png')", "write the ID of an element in the list"},
		{"pyautogui.click('n3', 5)", "n3 is an element already; leave out y"},
		{"pyautogui.move('n3', 5)", "n3 is an element already"},
		{"pyautogui.moveRel('n3')", "goes by so many pixels"},
		{"agent.moveTo('n3')\npyautogui.move(5, 0)", "2:1: pyautogui.move goes from where the pointer is, which is not known here"},
		{"agent.set('n3')", "agent.set needs text"},
		{"agent.set('n3', None)", "agent.set needs text"},
		{"agent.scroll('n3')", "agent.scroll needs a number of notches"},
		{"agent.scroll(-5, 'n3')", "not a int"},
		{"agent.wait_until('Done')", `needs to be told what to wait for: window="…", text="…" or element="n39"`},
		{"agent.wait_until(seconds=5)", "needs to be told what to wait for"},
		{"agent.wait_until(window='a', text='b')", "waits for one thing"},
		{"agent.wait_until(text='x')", "cannot be told from others"},
		{"agent.wait_until(element='39')", `"39" is no element`},
		{"agent.wait_until(element='the Save button')", `such as button "Save"`},
		{"agent.wait_until(window='a', seconds=121)", "1 to 120000"},
		{"agent.wait_until(window='a', gone='yes')", "gone must be True or False"},
		{"os.system('rm -rf /')", `1:1: the name "os" is not known here; the code is read, not run`},
		{"open('/etc/passwd')", `1:1: "open" is not known here: the code is read, not run`},
		{"eval('1')", `"eval" is not known here`},
		{"__import__('os')", `"__import__" is not known here`},
		{"click(1, 2)", "1:1: click is not known by itself; write pyautogui.click"},
		{"().__class__", "a tuple has no"},
		{"'x'.__class__", "a str has no"},
		{"def f():\n    pass", "1:1: def is not supported"},
		{"x = 1\ntry:\n    pass", "2:1: try is not supported"},
		{"class A: pass", "class is not supported"},
		{"f = lambda: 1", "1:5: lambda is not supported"},
		{"return", "return is not supported"},
		{"assert x", "assert is not supported"},
		{"break", "outside of a loop"},
		{"while True: pass", "1:1: this loop does not end"},
		{"while True:\n    pyautogui.press('a')", "more than 100 actions"},
		{"for i in range(101): pyautogui.press('a')", "more than 100 actions"},
		{"for i in range(10**9): pass", "write the number itself"},
		{"for i in range(1000000000): pass", "too much"},
		{"for i in range(1000):\n  for j in range(1000): pass", "too much"},
		{"for i in 5: pass", "a int has no items"},
		{"for i in [1] pass", "1:14: this is not understood"},
		{"x = 'a' * 10000000", "1:5: this builds or repeats too much"},
		{"x = ['a'] * 10000000", "too much"},
		{"x = [0]\nfor i in range(40): x = x + x", "too much"},
		{"x = 'a'\nfor i in range(40): x = x + x", "too much"},
		{"x = 'a'\nfor i in range(40): x = f'{x}{x}'", "too much"},
		{"x = 'a'\nfor i in range(40): x = x.replace('a', 'aa')", "too much"},
		{"x = []\nfor i in range(60): x = [x, x]\ny = str(x)", "too much"},
		{"x = []\nfor i in range(60): x = [x, x]\ny = x == [x[0], x[0]]", "too much"},
		{"x = []\nx.append(x)\ny = str(x)", "too much"},
		{"x = 1\nfor i in range(99): x = x * 1000", "too large"},
		{"x = 99999999999999999999", "too large"},
		{"x = 1 / 0", "divides by zero"},
		{"x = 1 // 0", "divides by zero"},
		{"x = 2 ** 3", "1:7: this is not understood (got '**', want newline); write the number itself"},
		{"x = 1 | 2", "not supported"},
		{"x = [1][5]", "there is no item 5"},
		{"x = {'a': 1}['b']", "no such key"},
		{"a, b = 1, 2, 3", "there are 2 names for 3 values"},
		{"5 = 6", "nothing can be assigned"},
		{"'x' = 5", "nothing can be assigned"},
		{"pyautogui = 5", "pyautogui is a module"},
		{"x = y", `1:5: the name "y" is not known here`},
		{"  x = 1\n y = 2", "indent"},
		{"if True:\npass", "2:1"},
		{"pyautogui.click(1, 2", "close every bracket"},
		{"sum(i for i in [1])", "loop inside an expression in brackets"},
		{"x = 1 < 2 < 3", "a < b and b < c"},
		{"a = b = 1", "one name at a time"},
		{"x = 5 $ 3", "1:7:"},
		{"pyautogui.click(１, 2)", "is not part of Python"},
		{"x = \x00", "is not part of Python"},
		{"x = 1 \\ 2", "backslash"},
		{"__agent_text0 = 1", "names must not begin"},
		{"DONE\npyautogui.press('a')", "2:1: nothing is done after DONE"},
		{"FAIL\nDONE", "2:1: nothing is done after DONE"},
		{"f(**{})", `"f" is not known`},
		{"pyautogui.click(**{'x': 1})", "** is not supported"},
		{strings.Repeat("(", 5000), "write numbers and text as they are"},
		{"x = " + strings.Repeat("-", 5000) + "1", "write numbers and text as they are"},
		{"x = " + strings.Repeat("1+", 20000) + "1", "nested too deeply"},
		{"x = f'{1:{1:{1:{1}}}}'", "nested too deeply"},
	} {
		name := tt.code[:min(len(tt.code), 60)]
		t.Run(name, func(t *testing.T) {
			p, err := Parser{}.Parse(reply(tt.code), screen)
			require.Error(t, err)
			e, ok := errors.AsType[*actuator.ParseError](err)
			require.True(t, ok, "%T", err)
			assert.Contains(t, fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message), tt.want)
			assert.Empty(t, p, "nothing of the block is returned")
		})
	}
}

// TestErrorsKeepText holds that typed text is not in an error.
func TestErrorsKeepText(t *testing.T) {
	for _, code := range []string{
		"pyautogui.write('hunter2', 5, 6, 7, 8)",
		"pyautogui.write('hunter2' + 5)",
		"pyautogui.write('hunter2\\x00')",
		"pyautogui.write('hunter2' 5)",
		"pyautogui.write('hunter2).press()",
		"pyautogui.write(f'hunter2{')",
		"'hunter2'('x')",
		"'hunter2' = 5",
		"'hunter2'.x",
		"x = {'hunter2': 1}['b']",
		"pyautogui.write('hunter2'.foo())",
	} {
		_, err := Parser{}.Parse(reply(code), screen)
		require.Error(t, err, code)
		assert.NotContains(t, err.Error(), "hunter2")
	}
}

// TestBounded translates what is made to take long or much memory. The bounds
// of memory are several times what is needed.
func TestBounded(t *testing.T) {
	big := "s = '1' * 200000\nu = '1' * 200000\n"
	for name, code := range map[string]string{
		"repeated text":     "x = 'a' * 10000000",
		"long range":        "for i in range(1000000000): pass",
		"comparisons":       big + "while s == u: pass",
		"order":             big + "while s <= u: pass",
		"contains":          big + "while u in s: pass",
		"keys of a dict":    big + "d = {s: 1}\nwhile d[u]: pass",
		"numbers of text":   big + "while int(len(u)) or float(s): pass",
		"methods":           big + "while s.strip(): pass",
		"items":             big + "while s[0]: pass",
		"deep lists":        "x = []\nfor i in range(90000): x = [x]\ny = x == x\nz = str(x)",
		"lists of lists":    "x = [0] * 1000\nwhile True: x = x + x",
		"formats":           "while True: x = f'{1:200}'",
		"nested loops":      strings.Repeat("for i in range(99):\n", 1) + " for j in range(99):\n  for k in range(99): pass",
		"comprehensions":    "x = [i for i in range(9999) for j in range(9999)]",
		"statements":        strings.Repeat("x=1;", 16000) + "y",
		"words":             strings.Repeat("DONE;", 13000),
		"one long sum":      "x = 1" + strings.Repeat("+1", 30000),
		"elif":              "if 0: pass\n" + strings.Repeat("elif 0: pass\n", 4900) + "y",
		"brackets":          strings.Repeat("[", 60000),
		"braces of strings": "f'" + strings.Repeat("{1}", 20000) + "' y",
		"fields of fields":  "f'" + strings.Repeat("{1:", 20000),
		"quotes":            strings.Repeat("''", 30000) + " y",
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Parser{}.Parse(reply(code), screen)
			runtime.ReadMemStats(&after)
			assert.Error(t, err)
			assert.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(100), "megabytes allocated")
		})
	}
}
