package actuator

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// maxShown is how many characters of a text [DescribeFull] shows.
const maxShown = 200

// Describe returns an action in words, for a person who watches: "click left at
// (12, 30)", "press Ctrl+S", "type 14 characters". Text that is typed or goes
// through the clipboard is not shown.
func Describe(a Action) string { return describe(a, Secret.String) }

// DescribeFull is [Describe] with the text in quotes, at most its first 200
// characters: for the model's own history.
func DescribeFull(a Action) string {
	return describe(a, func(s Secret) string { return shown(string(s)) })
}

func describe(a Action, text func(Secret) string) string {
	switch a := a.(type) {
	case Move:
		return fmt.Sprintf("move the pointer to (%d, %d)", a.At.X, a.At.Y)
	case Click:
		return held(a.Modifiers) + clicks(a.Count) + " " + string(a.Button) + at(a.At)
	case ButtonDown:
		return fmt.Sprintf("press the %s button down%s", a.Button, at(a.At))
	case ButtonUp:
		return fmt.Sprintf("let the %s button go%s", a.Button, at(a.At))
	case Drag:
		return describeDrag(a)
	case Scroll:
		return held(a.Modifiers) + "scroll" + notches(a.DY, "down", "up") + notches(a.DX, "right", "left") + at(a.At)
	case Type:
		return "type " + text(a.Text)
	case Press:
		return "press " + shortcut(a.Keys) + times(a.Count)
	case KeyDown:
		return "hold down " + shortcut([]Key{a.Key})
	case KeyUp:
		return "let go of " + shortcut([]Key{a.Key})
	case Hold:
		return "hold " + shortcut(a.Keys) + " for " + seconds(a.Milliseconds)
	case Copy:
		return "copy the selection"
	case Paste:
		if a.Text == nil {
			return "paste what is on the clipboard"
		}
		return "paste " + text(*a.Text)
	case SetClipboard:
		return "put " + text(a.Text) + " on the clipboard"
	case Wait:
		return "wait " + seconds(a.Milliseconds)
	}
	return describeWord(a)
}

// describeWord describes what asks something of the agent.
func describeWord(a Action) string {
	switch a := a.(type) {
	case nil:
		return "nothing"
	case Zoom:
		return fmt.Sprintf("zoom into %d×%d%s", a.Region.Width, a.Region.Height, at(&Point{a.Region.X, a.Region.Y}))
	case Done:
		return "done" + said(a.Answer)
	case Infeasible:
		return "give up" + said(a.Reason)
	case Ask:
		return "ask" + said(a.Question)
	}
	return Name(a)
}

func describeDrag(a Drag) string {
	if len(a.Path) == 0 {
		return held(a.Modifiers) + "drag nowhere"
	}
	last := a.Path[len(a.Path)-1]
	from := " from where the pointer is"
	if len(a.Path) > 1 {
		from = fmt.Sprintf(" from (%d, %d)", a.Path[0].X, a.Path[0].Y)
	}
	text := fmt.Sprintf("%sdrag %s%s to (%d, %d)", held(a.Modifiers), a.Button, from, last.X, last.Y)
	if between := len(a.Path) - 2; between > 0 {
		text += fmt.Sprintf(" by way of %d more", between)
	}
	return text
}

func at(p *Point) string {
	if p == nil {
		return " where the pointer is"
	}
	return fmt.Sprintf(" at (%d, %d)", p.X, p.Y)
}

func clicks(count int) string {
	switch count {
	case 1:
		return "click"
	case 2:
		return "double-click"
	case 3:
		return "triple-click"
	}
	return fmt.Sprintf("click %d times", count)
}

func held(modifiers []Key) string {
	if len(modifiers) == 0 {
		return ""
	}
	return "hold " + shortcut(modifiers) + " and "
}

func notches(n int, forth, back string) string {
	switch {
	case n > 0:
		return fmt.Sprintf(" %s %d", forth, n)
	case n < 0:
		return fmt.Sprintf(" %s %d", back, -n)
	}
	return ""
}

func times(count int) string {
	if count == 1 {
		return ""
	}
	return fmt.Sprintf(" %d times", count)
}

// shortcut writes keys as people do: Ctrl+Shift+S, Page Up would be PageUp.
func shortcut(keys []Key) string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = title(string(k))
	}
	return strings.Join(names, "+")
}

// title writes a key's name as it stands on the keyboard.
func title(name string) string {
	switch name {
	case "":
		return "?"
	case "pageup":
		return "PageUp"
	case "pagedown":
		return "PageDown"
	case "capslock":
		return "CapsLock"
	case "numlock":
		return "NumLock"
	case "printscreen":
		return "PrintScreen"
	}
	for _, side := range []string{"left", "right"} {
		if modifier, ok := strings.CutSuffix(name, side); ok && modifier != "" {
			return title(modifier) + " (" + side + ")"
		}
	}
	_, n := utf8.DecodeRuneInString(name)
	return strings.ToUpper(name[:n]) + name[n:]
}

func seconds(ms int) string { return (time.Duration(ms) * time.Millisecond).String() }

func said(text string) string {
	if text == "" {
		return ""
	}
	return ": " + cut(text)
}

// shown is text in quotes, cut to what can be read.
func shown(text string) string {
	if n := utf8.RuneCountInString(text); n > maxShown {
		return fmt.Sprintf("%q… (%s)", cutAt(text, maxShown), characters(n))
	}
	return fmt.Sprintf("%q", text)
}

// cut is text on one line, cut to what can be read.
func cut(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if short := cutAt(text, maxShown); short != text {
		return short + "…"
	}
	return text
}

func cutAt(text string, characters int) string {
	for i := range text {
		if characters == 0 {
			return text[:i]
		}
		characters--
	}
	return text
}
