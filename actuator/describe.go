package actuator

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// maxShown is how many characters of a text [DescribeFull] shows.
const maxShown = 200

// Describe returns an action in words, for a person who watches: "click left at
// (12, 30) on push button "Save"", "press Ctrl+S", "type 14 characters". Text that is
// typed, set or goes through the clipboard is not shown.
func Describe(a Action) string { return describer{text: Secret.String}.of(a) }

// DescribeFull is [Describe] with the text in quotes, at most its first 200
// characters: for the model's own history.
func DescribeFull(a Action) string { return describer{text: visible}.of(a) }

// DescribeOn is [DescribeFull] with names for points, which name gives: "click
// left on button "Save"". It is for readers who see another screen. A point for which
// it gives "" is told as [Describe] does.
func DescribeOn(a Action, name func(Point) string) string {
	return describer{text: visible, name: name}.of(a)
}

// DescribeNamed is [Describe] with such names.
func DescribeNamed(a Action, name func(Point) string) string {
	return describer{text: Secret.String, name: name}.of(a)
}

func visible(s Secret) string { return shown(string(s)) }

// coordinates is where a point is and which element is there, as far as is known.
func coordinates(p Point) string {
	switch {
	case !p.Placed():
		return p.Element.String()
	case p.Element == (Element{}):
		return fmt.Sprintf("(%d, %d)", p.X, p.Y)
	}
	return fmt.Sprintf("(%d, %d) on %s", p.X, p.Y, p.Element)
}

// A describer puts actions into words.
type describer struct {
	text func(Secret) string
	name func(Point) string // of what is at a point; "" where it has none. nil: none has
}

func (d describer) of(a Action) string {
	if a == nil {
		return "nothing"
	}
	return a.describe(d)
}

func (a Move) describe(d describer) string { return "move the pointer to " + d.place(a.At) }

func (a Click) describe(d describer) string {
	return held(a.Modifiers) + clicks(a.Count) + " " + string(a.Button) + d.at(a.At)
}

func (a ButtonDown) describe(d describer) string {
	return fmt.Sprintf("press the %s button down%s", a.Button, d.at(a.At))
}

func (a ButtonUp) describe(d describer) string {
	return fmt.Sprintf("let the %s button go%s", a.Button, d.at(a.At))
}

func (a Drag) describe(d describer) string {
	if len(a.Path) == 0 {
		return held(a.Modifiers) + "drag nowhere"
	}
	last := a.Path[len(a.Path)-1]
	from := " from where the pointer is"
	if len(a.Path) > 1 {
		from = " from " + d.place(a.Path[0])
	}
	text := fmt.Sprintf("%sdrag %s%s to %s", held(a.Modifiers), a.Button, from, d.place(last))
	if between := len(a.Path) - 2; between > 0 {
		text += fmt.Sprintf(" by way of %d more", between)
	}
	return text
}

func (a Scroll) describe(d describer) string {
	return held(a.Modifiers) + "scroll" + notches(a.DY, "down", "up") + notches(a.DX, "right", "left") + d.at(a.At)
}

func (a Type) describe(d describer) string  { return "type " + d.text(a.Text) }
func (a Press) describe(describer) string   { return "press " + shortcut(a.Keys) + times(a.Count) }
func (a KeyDown) describe(describer) string { return "hold down " + shortcut([]Key{a.Key}) }
func (a KeyUp) describe(describer) string   { return "let go of " + shortcut([]Key{a.Key}) }

func (a Hold) describe(describer) string {
	return "hold " + shortcut(a.Keys) + " for " + seconds(a.Milliseconds)
}

func (Copy) describe(describer) string { return "copy the selection" }

func (a Paste) describe(d describer) string {
	if a.Text == nil {
		return "paste what is on the clipboard"
	}
	return "paste " + d.text(*a.Text)
}

func (a SetClipboard) describe(d describer) string {
	return "put " + d.text(a.Text) + " on the clipboard"
}
func (a Wait) describe(describer) string { return "wait " + seconds(a.Milliseconds) }

func (a Set) describe(d describer) string {
	where := d.at(&a.At)
	return "set the text" + where + " to " + d.text(a.Text)
}

func (a WaitUntil) describe(describer) string {
	what := string(a.For) + " " + quotedName(a.What)
	if a.For == ElementSign {
		e := a.Element
		if e.Role == "" {
			e, _ = ParseListed(a.What)
		}
		what = e.String()
	}
	end := "is there"
	if a.Gone {
		end = "is gone"
	}
	return fmt.Sprintf("wait until %s %s, for %s at most", what, end, seconds(a.Milliseconds))
}

func (a Zoom) describe(d describer) string {
	return fmt.Sprintf("zoom into %d×%d%s", a.Region.Width, a.Region.Height, d.at(&Point{X: a.Region.X, Y: a.Region.Y}))
}

func (a CallTool) describe(d describer) string {
	text := "call the tool " + quotedName(a.Tool)
	if a.Arguments != "" && a.Arguments != "{}" {
		text += " with " + d.text(Secret(a.Arguments))
	}
	return text
}

func (a Note) describe(describer) string       { return "note" + said(a.Text) }
func (a Done) describe(describer) string       { return "done" + said(a.Answer) }
func (a Infeasible) describe(describer) string { return "give up" + said(a.Reason) }
func (a Ask) describe(describer) string        { return "ask" + said(a.Question) }

func (d describer) at(p *Point) string {
	if p == nil {
		return " where the pointer is"
	}
	if name := d.named(*p); name != "" {
		return " on " + name
	}
	return " at " + coordinates(*p)
}

// place is what is at a point, or where it is.
func (d describer) place(p Point) string { return cmp.Or(d.named(p), coordinates(p)) }

func (d describer) named(p Point) string {
	if d.name == nil {
		return ""
	}
	return d.name(p)
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
