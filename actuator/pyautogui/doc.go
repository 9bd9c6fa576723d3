// Package pyautogui reads replies in which a model writes its actions as Python
// that calls pyautogui:
//
//	Thought: the File menu is at the top left.
//	Expect: the menu opens.
//	```python
//	pyautogui.click(24, 12)
//	```
//
// The code is parsed and translated into actions. It is never run: no name in it
// can mean a file, a process or the network, and what it may build is bounded.
//
// # The reply
//
// Lines that begin with "Thought:" and "Expect:" may come before the code, or
// prose without labels, which is the thought. Of several code blocks only the
// first counts, since the others were written without seeing what it does; the model
// is told so. A
// block is fenced, bare or as python; one that is not closed is refused. The
// code, or the last line of the text, may be one of these words:
//
//	DONE            the task is done; DONE: answer
//	FAIL            it cannot be done; FAIL: reason
//	ASK: question   for the user
//	WAIT            look again a second later
//
// Behind a colon the text goes on to the end of the block.
//
// # The calls
//
// Points are pixels of the image. They are given as x, y, as keywords or as one
// pair, and are rounded; without one the pointer stays where it is.
//
//	pyautogui.click(x, y, clicks=1, interval=0, button="left")
//	pyautogui.leftClick, rightClick, middleClick, doubleClick, tripleClick
//	pyautogui.moveTo(x, y), move(dx, dy) = moveRel
//	pyautogui.dragTo(x, y, button="left"), drag(dx, dy) = dragRel
//	pyautogui.mouseDown(x, y, button="left"), mouseUp
//	pyautogui.scroll(n, x, y) = vscroll, up if n > 0; hscroll, right if n > 0
//	pyautogui.write("text") = typewrite; write(["a", "enter"]) presses keys
//	pyautogui.press("enter", presses=1), press(["up", "enter"])
//	pyautogui.hotkey("ctrl", "s"), hotkey(["ctrl", "s"])
//	pyautogui.keyDown("shift"), keyUp("shift")
//	with pyautogui.hold("shift"): …
//	pyautogui.size()       the size of the image
//	pyautogui.position()   once the code itself has put the pointer somewhere
//	pyautogui.screenshot() does nothing: each turn shows one
//	time.sleep(seconds), pyautogui.sleep(seconds)
//	pyperclip.copy("text") puts text on the clipboard
//	agent.click("n39", clicks=1, button="left")
//	agent.doubleClick("n39"), tripleClick, rightClick, middleClick, moveTo
//	agent.drag("n39", "n40"), agent.scroll("n39", n), up if n > 0
//	agent.type("n39", "text") clicks there, and types
//	agent.set("n39", "text")  gives it the text without the keyboard
//	agent.wait_until(window="title"), (text="words"), (element="n39"),
//	                       (element='button "Save"') as the list will have it;
//	                       each also with gone=True and seconds=10
//	agent.copy()           copies the selection, for the model to read
//	agent.paste("text")    pastes; without text, what is on the clipboard
//	agent.hold(["shift"], seconds)
//	agent.zoom(x, y, width, height)
//	agent.note("fact")     keeps it in mind, and goes on
//	agent.call("tool", {"argument": "value"})  calls a tool that is offered
//	agent.wait(seconds)
//	agent.done("answer"), agent.fail("reason"), agent.ask("question")
//	computer.wait(), computer.triple_click(x, y)
//	computer.terminate(status="success", answer="answer"), or status="failure"
//
// What is written as "n39" here is the ID of an element in the list that the model was
// sent; it may stand for x, y also in the calls of pyautogui. Where the element is, is
// found out right before the action.
//
// Relative movements need a point earlier in the same code. The arguments
// duration, tween, _pause, logScreenshot and mouseDownUp are taken and ignored,
// as are assignments to pyautogui.PAUSE and FAILSAFE, and print.
//
// # The language
//
// Comments; import of these modules, also "as" and "from"; strings of every
// kind but bytes, f-strings, % and format; numbers and their arithmetic; names,
// tuples, lists, dicts and their items; assignment also to several names and
// with an operator; for, while, break, continue, if and else, also inside of
// expressions; list comprehensions; range, len, str, int, float, round, abs,
// min, max, sum, enumerate, zip, reversed, list, tuple, chr, ord; the usual
// methods of strings. Everything else is answered with its line and column and
// what to write instead. At most [actuator.MaxActions] actions come of a reply.
package pyautogui
