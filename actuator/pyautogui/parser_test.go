package pyautogui

import (
	"fmt"
	"image"
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

func element(id actuator.Handle) *point { return &point{Element: actuator.Element{ID: id}} }

func words(s string) *point { return &point{Element: actuator.Element{Words: s}} }

func typed(s string) actuator.Type { return actuator.Type{Text: actuator.Secret(s)} }

func left(x, y int) actuator.Click {
	return actuator.Click{At: at(x, y), Button: actuator.Left, Count: 1}
}

func tap(k ...actuator.Key) actuator.Press { return actuator.Press{Keys: k, Count: 1} }

func ms(n int) actuator.Wait { return actuator.Wait{Milliseconds: n} }

func reply(code string) actuator.Reply {
	return actuator.Reply{Text: "Thought: t\nExpect: e\n```python\n" + code + "\n```\n"}
}

// TestCalls holds what each call of the grammar means, and that a semicolon in a text splits nothing.
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
		{"agent.click('n39')", acts{actuator.Click{At: element("n39"), Button: "left", Count: 1}}},
		{`agent.click("the Save button of the dialog")`, acts{actuator.Click{At: words("the Save button of the dialog"), Button: "left", Count: 1}}},
		{`agent.doubleClick("the red\n circle")`, acts{actuator.Click{At: words("the red circle"), Button: "left", Count: 2}}},
		{`agent.rightClick("the red circle")`, acts{actuator.Click{At: words("the red circle"), Button: "right", Count: 1}}},
		{`agent.moveTo("the red circle")`, acts{actuator.Move{At: *words("the red circle")}}},
		{`agent.drag("the red circle", "n40")`, acts{actuator.Drag{Path: []actuator.Point{*words("the red circle"), *element("n40")}, Button: "left"}}},
		{`agent.scroll("the list of names", -3)`, acts{actuator.Scroll{At: words("the list of names"), DY: 3}}},
		{`agent.type("the Name field", "a")`, acts{actuator.Click{At: words("the Name field"), Button: "left", Count: 1}, actuator.Type{Text: "a"}}},
		{`agent.set("the Name field", "a")`, acts{actuator.Set{At: *words("the Name field"), Text: "a"}}},
		{"agent.click('n39', 2, button='right')", acts{actuator.Click{At: element("n39"), Button: "right", Count: 2}}},
		{"agent.click(element='n39', clicks=1, button=\"left\")", acts{actuator.Click{At: element("n39"), Button: "left", Count: 1}}},
		{"agent.doubleClick('n39'); agent.rightClick('n39')", acts{
			actuator.Click{At: element("n39"), Button: "left", Count: 2}, actuator.Click{At: element("n39"), Button: "right", Count: 1}}},
		{"pyautogui.click('n39')", acts{actuator.Click{At: element("n39"), Button: "left", Count: 1}}},
		{"pyautogui.click(x='n39', clicks=2)", acts{actuator.Click{At: element("n39"), Button: "left", Count: 2}}},
		{"agent.moveTo('n39')\npyautogui.dragTo('n40', button='left')", acts{
			actuator.Move{At: *element("n39")}, actuator.Drag{Path: []point{*element("n40")}, Button: "left"}}},
		{"agent.drag('n1', 'n2')", acts{actuator.Drag{Path: []point{*element("n1"), *element("n2")}, Button: "left"}}},
		{"agent.drag('n1', (3, 4))", acts{actuator.Drag{Path: []point{*element("n1"), {X: 3, Y: 4}}, Button: "left"}}},
		{"agent.scroll('n39', -5)\npyautogui.scroll(2, 'n39')", acts{
			actuator.Scroll{At: element("n39"), DY: 5}, actuator.Scroll{At: element("n39"), DY: -2}}},
		{"agent.type('n39', 'text')", acts{actuator.Click{At: element("n39"), Button: "left", Count: 1}, typed("text")}},
		{"agent.set('n39', 'text')\nagent.set('n40', 12.5)\nagent.set('n41', '')", acts{
			actuator.Set{At: *element("n39"), Text: "text"}, actuator.Set{At: *element("n40"), Text: "12.5"}, actuator.Set{At: *element("n41")}}},
		{"for e in ['n1', 'n2']: agent.click(e)", acts{
			actuator.Click{At: element("n1"), Button: "left", Count: 1}, actuator.Click{At: element("n2"), Button: "left", Count: 1}}},
		{"agent.wait_until(window='Save As')", acts{actuator.WaitUntil{For: "window", What: "Save As", Milliseconds: 10000}}},
		{"agent.wait_until(text='Done', seconds=2.5)", acts{actuator.WaitUntil{For: "text", What: "Done", Milliseconds: 2500}}},
		{`agent.wait_until(element='button "Save"')`, acts{actuator.WaitUntil{For: "element", What: `button "Save"`, Milliseconds: 10000}}},
		{"agent.wait_until(element='n39', gone=True)", acts{actuator.WaitUntil{For: "element", What: "n39", Gone: true, Milliseconds: 10000}}},
		{"agent.note('the total is 42')\npyautogui.press('a')", acts{actuator.Note{Text: "the total is 42"}, actuator.Press{Keys: []actuator.Key{"a"}, Count: 1}}},
		{"agent.call('read_file', {'path': 'a.txt', 'lines': [1, 2.5, None, {'x': True}]})", acts{actuator.CallTool{Tool: "read_file", Arguments: `{"lines":[1,2.5,null,{"x":true}],"path":"a.txt"}`}}},
		{"agent.call('read_file', path='a.txt')", acts{actuator.CallTool{Tool: "read_file", Arguments: `{"path":"a.txt"}`}}},
		{"agent.call('now')", acts{actuator.CallTool{Tool: "now", Arguments: `{}`}}},
		{"agent.ask('which one?')", acts{actuator.Ask{Question: "which one?"}}},
		{"agent.done(42)", acts{actuator.Done{Answer: "42"}}},
		{"agent.done()", acts{actuator.Done{}}},
		{"agent.fail(reason='no')", acts{actuator.Infeasible{Reason: "no"}}},
		{"w, h = pyautogui.size()\npyautogui.click(w // 2, h / 2)", acts{left(960, 540)}},
		{"im = pyautogui.screenshot(region=(0, 0, 10, 10))\npyautogui.screenshot()\npyautogui.press('a')", acts{tap("a")}},
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

// TestASecondBlockIsAnswered holds that the model hears of a code block that was not
// read, and of nothing where all was.
func TestASecondBlockIsAnswered(t *testing.T) {
	const first = "```python\npyautogui.click(1, 2)\n```\n"
	for text, want := range map[string]bool{
		first:                           false,
		first + "```json\n{}\n```":      false,
		"```json\n{}\n```\n" + first:    false,
		first + first:                   true,
		first + "```DONE```":            true,
		first + "```\nDONE\n```":        true,
		first + "```python\npyautogui.": true,
	} {
		p, err := Parser{}.Parse(actuator.Reply{Text: text}, screen)
		require.NoError(t, err, text)
		assert.Equal(t, acts{left(1, 2)}, p.Actions, text)
		assert.Equal(t, want, strings.Contains(p.Ignored, "only the first code block was read"), text)
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
