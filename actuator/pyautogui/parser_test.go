package pyautogui

import (
	"errors"
	"fmt"
	"image"
	"runtime"
	"strings"
	"testing"

	"desktop-agent/actuator"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type (
	point  = actuator.Point
	keys   = []actuator.Key
	acts   = []actuator.Action
	press1 = actuator.Press
)

var screen = image.Rect(0, 0, 1920, 1080)

func at(x, y int) *point { return &point{X: x, Y: y} }

func typed(s string) actuator.Type { return actuator.Type{Text: actuator.Secret(s)} }

func left(x, y int) actuator.Click {
	return actuator.Click{At: at(x, y), Button: actuator.Left, Count: 1}
}

func tap(k ...actuator.Key) actuator.Press { return actuator.Press{Keys: k, Count: 1} }

func ms(n int) actuator.Wait { return actuator.Wait{Milliseconds: n} }

func reply(code string) actuator.Reply {
	return actuator.Reply{Text: "Thought: t\nExpect: e\n```python\n" + code + "\n```\n"}
}

func TestCalls(t *testing.T) {
	secret := func(s string) *actuator.Secret { v := actuator.Secret(s); return &v }
	for _, tt := range []struct {
		code string
		want acts
	}{
		{`pyautogui.click(12, 30)`, acts{left(12, 30)}},
		{`pyautogui.click()`, acts{actuator.Click{Button: "left", Count: 1}}},
		{`pyautogui.click(x=12, y=30, clicks=2, interval=0.1, button='right', duration=1, _pause=False)`, acts{actuator.Click{At: at(12, 30), Button: "right", Count: 2}}},
		{`pyautogui.click((12, 30))`, acts{left(12, 30)}},
		{`pyautogui.click(x=[12, 30])`, acts{left(12, 30)}},
		{`pyautogui.click(*(12, 30))`, acts{left(12, 30)}},
		{`pyautogui.click(12.4, 29.5)`, acts{left(12, 30)}},
		{`pyautogui.click(0, 0)`, acts{left(0, 0)}},
		{`pyautogui.click(1, 1.0)`, acts{left(1, 1)}},
		{`pyautogui.click(None, None)`, acts{actuator.Click{Button: "left", Count: 1}}},
		{`pyautogui.click(5, 6, clicks=5)`, acts{left(5, 6), left(5, 6), left(5, 6), left(5, 6), left(5, 6)}},
		{`pyautogui.click(5, 6, 2, 0.5)`, acts{left(5, 6), ms(500), left(5, 6)}},
		{`pyautogui.click(5, 6, button=pyautogui.RIGHT)`, acts{actuator.Click{At: at(5, 6), Button: "right", Count: 1}}},
		{`pyautogui.click(5, 6, button=pyautogui.PRIMARY, tween=pyautogui.easeInQuad)`, acts{left(5, 6)}},
		{`pyautogui.leftClick(5, 6)`, acts{left(5, 6)}},
		{`pyautogui.rightClick(5, 6)`, acts{actuator.Click{At: at(5, 6), Button: "right", Count: 1}}},
		{`pyautogui.middleClick(5, 6)`, acts{actuator.Click{At: at(5, 6), Button: "middle", Count: 1}}},
		{`pyautogui.doubleClick(5, 6)`, acts{actuator.Click{At: at(5, 6), Button: "left", Count: 2}}},
		{`pyautogui.doubleClick(5, 6, 0, "right")`, acts{actuator.Click{At: at(5, 6), Button: "right", Count: 2}}},
		{`pyautogui.tripleClick(5, 6)`, acts{actuator.Click{At: at(5, 6), Button: "left", Count: 3}}},
		{`pyautogui.moveTo(5, 6, duration=0.5)`, acts{actuator.Move{At: point{X: 5, Y: 6}}}},
		{"pyautogui.moveTo(5, 6)\npyautogui.moveRel(10, -2)\npyautogui.move(yOffset=4)\npyautogui.click(y=9)", acts{
			actuator.Move{At: point{X: 5, Y: 6}}, actuator.Move{At: point{X: 15, Y: 4}}, actuator.Move{At: point{X: 15, Y: 8}}, left(15, 9)}},
		{"pyautogui.moveTo(5, 6)\npyautogui.dragTo(50, 60, 1, button='left')", acts{
			actuator.Move{At: point{X: 5, Y: 6}}, actuator.Drag{Path: []point{{X: 50, Y: 60}}, Button: "left"}}},
		{"pyautogui.click(5, 6)\npyautogui.dragRel(10, 20, button='middle')\npyautogui.drag((1, 1))", acts{left(5, 6),
			actuator.Drag{Path: []point{{X: 5, Y: 6}, {X: 15, Y: 26}}, Button: "middle"}, actuator.Drag{Path: []point{{X: 15, Y: 26}, {X: 16, Y: 27}}, Button: "left"}}},
		{"pyautogui.moveTo(5, 6); x, y = pyautogui.position(); pyautogui.click(x + 1, y)", acts{actuator.Move{At: point{X: 5, Y: 6}}, left(6, 6)}},
		{"pyautogui.mouseDown(5, 6)\npyautogui.mouseUp(button='left')", acts{actuator.ButtonDown{At: at(5, 6), Button: "left"}, actuator.ButtonUp{Button: "left"}}},
		{`pyautogui.scroll(-5)`, acts{actuator.Scroll{DY: 5}}},
		{`pyautogui.scroll(3, x=100, y=200)`, acts{actuator.Scroll{At: at(100, 200), DY: -3}}},
		{`pyautogui.vscroll(clicks=-1)`, acts{actuator.Scroll{DY: 1}}},
		{`pyautogui.hscroll(4)`, acts{actuator.Scroll{DX: 4}}},
		{`pyautogui.write("a; b < c", interval=0.05)`, acts{typed("a; b < c")}},
		{`pyautogui.typewrite('привет 世界 😀\n')`, acts{typed("привет 世界 😀\n")}},
		{`pyautogui.typewrite(['a', 'left', 'B', '\n'])`, acts{tap("a"), tap("left"), tap("shift", "b"), tap("enter")}},
		{`pyautogui.press('enter')`, acts{tap("enter")}},
		{`pyautogui.press("down", presses=8, interval=0.01)`, acts{press1{Keys: keys{"down"}, Count: 8}}},
		{`pyautogui.press(["up", "enter"], presses=2)`, acts{tap("up"), tap("enter"), tap("up"), tap("enter")}},
		{`pyautogui.press('<')`, acts{tap("<")}},
		{`pyautogui.press('S')`, acts{tap("shift", "s")}},
		{`pyautogui.hotkey('ctrl', 'S', interval=0.1)`, acts{tap("ctrl", "s")}},
		{`pyautogui.hotkey(["shift", "ctrl", "e"])`, acts{tap("shift", "ctrl", "e")}},
		{`pyautogui.hotkey('cmd', 'Return')`, acts{tap("win", "enter")}},
		{"pyautogui.keyDown('shift')\npyautogui.keyUp(key='shift')", acts{actuator.KeyDown{Key: "shift"}, actuator.KeyUp{Key: "shift"}}},
		{"with pyautogui.hold(['ctrl', 'shift']):\n    pyautogui.click(1, 2)\n    pyautogui.press('a')", acts{
			actuator.KeyDown{Key: "ctrl"}, actuator.KeyDown{Key: "shift"}, left(1, 2), tap("a"), actuator.KeyUp{Key: "shift"}, actuator.KeyUp{Key: "ctrl"}}},
		{"time.sleep(0.5); pyautogui.sleep(seconds=2); time.sleep(0); agent.wait(1)", acts{ms(500), ms(2000), ms(1000)}},
		{"pyperclip.copy('secret')\npyautogui.hotkey('ctrl', 'v')", acts{actuator.SetClipboard{Text: "secret"}, tap("ctrl", "v")}},
		{"agent.copy()", acts{actuator.Copy{}}},
		{"agent.paste('x')\nagent.paste()", acts{actuator.Paste{Text: secret("x")}, actuator.Paste{}}},
		{"agent.hold(['shift'], 1.5)", acts{actuator.Hold{Keys: keys{"shift"}, Milliseconds: 1500}}},
		{"agent.hold('a', seconds=1)", acts{actuator.Hold{Keys: keys{"a"}, Milliseconds: 1000}}},
		{"agent.zoom(10, 20, 300, 200)", acts{actuator.Zoom{Region: actuator.Region{X: 10, Y: 20, Width: 300, Height: 200}}}},
		{"agent.ask('which one?')", acts{actuator.Ask{Question: "which one?"}}},
		{"agent.done(42)", acts{actuator.Done{Answer: "42"}}},
		{"agent.done()", acts{actuator.Done{}}},
		{"agent.fail(reason='no')", acts{actuator.Infeasible{Reason: "no"}}},
		{"w, h = pyautogui.size()\npyautogui.click(w // 2, h / 2)", acts{left(960, 540)}},
		{"pyautogui.FAILSAFE = False\npyautogui.PAUSE = 0.5\nprint('x', pyautogui.position())\npyautogui.press('a')", acts{tap("a")}},
	} {
		t.Run(tt.code, func(t *testing.T) {
			p, err := Parser{}.Parse(reply(tt.code), screen)
			require.NoError(t, err)
			assert.Equal(t, tt.want, p.Actions)
		})
	}
}

func TestLanguage(t *testing.T) {
	for _, tt := range []struct{ code, want string }{ // want is what is typed
		{`write('a' "b" r'\n' 'c')`, `ab\nc`},
		{"write('a'\n  # comment\n  'b')", "ab"},
		{`write("""x` + "\n" + `y""")`, "x\ny"},
		{"write('''it's \"so\"''')", `it's "so"`},
		{`write('\d \\ \x41 \u00e9 \U0001F600 \101 \' \q')`, `\d \ A é 😀 A ' \q`},
		{`write("\ud83d\ude00")`, "😀"},
		{"write('a\\\nb')", "ab"},
		{`write(R"C:\temp\n")`, `C:\temp\n`},
		{`write(u'x')`, "x"},
		{`n = 3; name = "Bo"; write(f"{name} has {n} of {n + 1:03d} {{x}} {n / 2:.2f} {name!r} {'q'}")`, "Bo has 3 of 004 {x} 1.50 'Bo' q"},
		{`w = 8; write(f"{'x':>{w}}|")`, "       x|"},
		{`write(f'{1234567:,} {0.5:.1%} {"a":^5} {-5:+d} {255:x}')`, "1,234,567 50.0%   a   -5 ff"},
		{`write(rf"\{1}")`, `\1`},
		{`d = {"k": 1}; write(f"{d['k'] if d['k'] != 2 else 0}")`, "1"},
		{`write("%s is %d of %.2f%% %5s|%-4d|%r" % ("a", 3.7, 2.5, "x", 7, "q"))`, "a is 3 of 2.50%     x|7   |'q'"},
		{`write("%d" % 5)`, "5"},
		{`write("{} {1} {name:>3} {{}}".format("a", "b", name="c"))`, "a b   c {}"},
		{`write("ab" * 3 + "-" + str(1.0) + str([1, "x", (2,), None, True]))`, "ababab-1.0[1, 'x', (2,), None, True]"},
		{`write(", ".join(["a", "b"]).upper().replace("A", "x"))`, "x, B"},
		{`write("a b c".split()[1] + "abc"[-1] + "abcdef"[1:3])`, "bcbc"},
		{"for i in range(3):\n\twrite(f'{i}')\n\tif i == 1:\n\t\tbreak", "01"},
		{"for i in range(6, 0, -2):\n    if i == 4: continue\n    write(str(i))", "62"},
		{"for i, (a, b) in enumerate([(1, 2), (3, 4)], start=1): write(f'{i}{a}{b} ')", "112 234 "},
		{"for a, b in zip('xy', [1, 2]):\n  for c in (3, 4):\n    write(f'{a}{b}{c} ')", "x13 x14 y23 y24 "},
		{"[write(str(i)) for i in [1, 2, 3] if i % 2]", "13"},
		{"[write(str(i) + str(j)) for i in range(2) for j in range(i)]", "10"},
		{"i = 0\nwhile i < 3:\n    i += 1\n    write(str(i))", "123"},
		{"while True:\n    write('x')\n    break", "x"},
		{"x = 5\nif x > 3 and not x == 4 or False:\n    write('a')\nelif x: write('b')\nelse:\n    write('c')", "a"},
		{"if 1 < 2 <= 2: pass\nelse: write('no')\nwrite('a' if 'x' in ['x'] else 'b')", ""},
		{"x = None\nif x is None: write('a')\nif x is not None: write('b')", "a"},
		{"a, b = 1, 2\na, b = b, a\nc = d = 1", ""},
		{"(a, [b, c]) = (1, [2, 3])\na += 4; b -= 1; c *= 2\nwrite(f'{a} {b} {c}')", "5 1 6"},
		{"write(f'{7 // 2} {-7 // 2} {-7 % 3} {7 / 2} {2 * 3.5} {-(2 + 1)} {+4}')", "3 -4 2 3.5 7.0 -3 4"},
		{"write(f'{7 % 0.5} {3 % 0.1:.3f} {-7 % 0.1:.3f} {-7.5 // 2} {-0.0} {True:3}|{1234567.5} {1e16} {1.5e-7} {1234567.25:,}')", "0.0 0.100 0.000 -4.0 -0.0   1|1234567.5 1e+16 1.5e-07 1,234,567.25"},
		{"write(str(len('äb')) + str(int('7') + int(2.9)) + str(abs(-3)) + str(round(2.5)) + str(round(2.567, 1)))", "29322.6"},
		{"write(str(min(3, 1)) + str(max([1, 5])) + str(sum([1, 2])) + str(list(reversed([1, 2]))) + chr(65) + str(ord('B')))", "153[2, 1]A66"},
		{"d = {'a': 1}\nd['b'] = 2\nfor k, v in d.items(): write(f'{k}{v}')\nl = [1]; l.append(2); l[0] = 9; write(str(l))", "a1b2[9, 2]"},
		{"x = 1_000; write(str(x) + str(0x10) + str(1e2) + str(.5))", "100016100.00.5"},
		{"load = 3; write(str(load))", "3"},
		{"'''a docstring'''\n# comment\nwrite('x')  # and; more", "x"},
		{"if __name__ == '__main__':\n    write('x')", "x"},
		{"s = \"multi\" \\\n    \"line\"\nwrite(s)", "multiline"},
		{"write ( 'nbsp' )\u00a0", "nbsp"},
	} {
		t.Run(tt.code, func(t *testing.T) {
			p, err := Parser{}.Parse(reply("from pyautogui import write\n"+tt.code), screen)
			if tt.want == "" {
				assert.Error(t, err) // chained comparison and assignment are not supported
				return
			}
			require.NoError(t, err)
			var got strings.Builder
			for _, a := range p.Actions {
				got.WriteString(string(a.(actuator.Type).Text))
			}
			assert.Equal(t, tt.want, got.String())
		})
	}
}

func TestImports(t *testing.T) {
	for _, code := range []string{
		"import pyautogui; import time; pyautogui.press('a'); time.sleep(1);",
		"import pyautogui as pg, time as t\npg.press('a')\nt.sleep(1)",
		"from pyautogui import press as p\nfrom time import sleep\np('a'); sleep(1)",
		"from pyautogui import (\n    press,\n    click)\nimport time\npress('a')\ntime.sleep(1)",
		"from pyautogui import *\npress('a')\nsleep(1)",
		"import pyautogui  # the library\nif True: import time\npyautogui.press('a')\ntime.sleep(1)",
		"import pyautogui, time, pyperclip\r\npyautogui.press('a')\r\ntime.sleep(1)\r\n",
		"\ufeffimport pyautogui\npyautogui.press('a')\npyautogui.sleep(1)",
	} {
		p, err := Parser{}.Parse(reply(code), screen)
		require.NoError(t, err, code)
		assert.Equal(t, acts{tap("a"), ms(1000)}, p.Actions, code)
	}
}

func TestReplies(t *testing.T) {
	click := acts{left(1, 2)}
	for _, tt := range []struct {
		name, text      string
		want            acts
		thought, expect string
	}{
		{"labels", "Thought: I see\nit.\nExpect: it opens.\n```python\npyautogui.click(1, 2)\n```", click, "I see\nit.", "it opens."},
		{"bare fence", "I click.\n```\npyautogui.click(1, 2)\n```\n", click, "I click.", ""},
		{"py", "```py\npyautogui.click(1, 2)\n```", click, "", ""},
		{"indented fence", "- x\n  ```python\n  for i in [1]:\n    pyautogui.click(1, 2)\n  ```", click, "- x", ""},
		{"one line", "x ```\n```python pyautogui.click(1, 2)```", click, "x ```", ""},
		{"first block only", "```python\npyautogui.click(1, 2)\n```\nThen:\n```python\npyautogui.press('a')\n```\n```\nDONE\n```", click, "Then:", ""},
		{"another language before", "```json\n{}\n```\n```python\npyautogui.click(1, 2)\n```", click, "", ""},
		{"longer fence", "````python\npyautogui.write('''\n```\n''')\n````", acts{typed("\n```\n")}, "", ""},
		{"CRLF", "Thought: a\r\n```python\r\npyautogui.click(1, 2)\r\n```\r\n", click, "a", ""},
		{"DONE", "```\nDONE\n```", acts{actuator.Done{}}, "", ""},
		{"DONE after calls", "```python\npyautogui.click(1, 2)\nDONE\n```", acts{left(1, 2), actuator.Done{}}, "", ""},
		{"DONE with an answer", "```python\nDONE: it's 42;\nreally # yes\n```", acts{actuator.Done{Answer: "it's 42;\nreally # yes"}}, "", ""},
		{"DONE behind the block", "```python\npyautogui.click(1, 2)\n```\nDONE", acts{left(1, 2), actuator.Done{}}, "", ""},
		{"DONE in both", "```python\nDONE: x\n```\nDONE", acts{actuator.Done{Answer: "x"}}, "", ""},
		{"DONE in prose", "Thought: all is there\nDONE: 5 files", acts{actuator.Done{Answer: "5 files"}}, "all is there", ""},
		{"DONE called", "```python\nDONE('x')\n```", acts{actuator.Done{Answer: "x"}}, "", ""},
		{"DONE with a comment", "```python\nDONE # all set\n```", acts{actuator.Done{}}, "", ""},
		{"FAIL", "```\nFAIL: no such file\n```", acts{actuator.Infeasible{Reason: "no such file"}}, "", ""},
		{"ASK", "```\nASK: which?\n```", acts{actuator.Ask{Question: "which?"}}, "", ""},
		{"WAIT", "```\nWAIT\n```", acts{ms(1000)}, "", ""},
		{"WAIT after a semicolon", "```\npyautogui.click(1, 2); WAIT\n```", acts{left(1, 2), ms(1000)}, "", ""},
		{"a name that is such a word", "```\nDONE = 1\npyautogui.click(DONE, 2)\n```", click, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Parser{}.Parse(actuator.Reply{Text: tt.text}, screen)
			require.NoError(t, err)
			assert.Equal(t, tt.want, p.Actions)
			assert.Equal(t, tt.thought, p.Thought)
			assert.Equal(t, tt.expect, p.Expect)
		})
	}
}

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
		{"from pyautogui import screenshot", "1:1: pyautogui.screenshot is not there"},
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
		{"agent.click(1, 2)", "agent.click is not there"},
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

func BenchmarkParse(b *testing.B) {
	r := reply("import pyautogui, time\n# open the menu\npyautogui.click(112, 64)\ntime.sleep(0.5)\nfor i in range(3):\n    pyautogui.write(f'line {i}\\n', interval=0.02)\npyautogui.hotkey('ctrl', 's')")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (Parser{}).Parse(r, screen); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleParser_Parse() {
	p, err := Parser{}.Parse(actuator.Reply{Text: "Thought: the list needs two lines.\nExpect: two lines appear.\n" +
		"```python\nfor word in ['milk', 'bread']:\n    pyautogui.write(f'- {word}\\n')\npyautogui.hotkey('ctrl', 's')\n```"}, image.Rect(0, 0, 1280, 720))
	fmt.Println(p.Thought, err)
	for _, a := range p.Actions {
		fmt.Println(actuator.DescribeFull(a))
	}
	_, err = Parser{}.Parse(actuator.Reply{Text: "```python\nimport os\n```"}, image.Rect(0, 0, 1280, 720))
	fmt.Println(err)
	// Output:
	// the list needs two lines. <nil>
	// type "- milk\n"
	// type "- bread\n"
	// press Ctrl+S
	// line 1, column 1: "os" cannot be imported: the code is read, not run, and knows only pyautogui, time, pyperclip and agent; do it with mouse and keyboard, and write numbers and text as they are
}
