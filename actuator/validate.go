package actuator

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of an action, in the units of its fields. They are far above what
// a person does in one go, and below what a slip of the model could cost.
const (
	maxClicks    = 3
	maxPresses   = 100
	maxNotches   = 100
	maxKeys      = 8
	maxPath      = 200
	maxText      = 10_000 // characters
	maxMillis    = 60_000
	maxUntil     = 120_000 // of a wait for something
	maxNote      = 300     // characters of a note
	maxArguments = 100_000 // bytes of a tool's arguments
	maxSign      = 500     // characters of what is waited for
)

// Validate returns why an action cannot be meant as it stands, or nil. All its
// points must be inside bounds, the image that the model saw; what is aimed at by its handle
// must be one, see [ParseHandle]. Further limits:
// 1 to 3 clicks, 1 to 100 presses, 1 to 8 keys at once, 100 notches of the
// wheel, a path of 1 to 200 points, a wait or hold of 1 ms to 60 s, a wait for
// something of 1 ms to 120 s, a text of
// 1 to 10,000 characters of valid UTF-8 without control characters other than
// line breaks and tabs, buttons and keys that exist. The error says what to do
// instead.
func Validate(a Action, bounds image.Rectangle) error {
	if a == nil {
		return errNone
	}
	for _, p := range Points(a) {
		if p.Placed() && !image.Pt(p.X, p.Y).In(bounds) {
			return outside(p, bounds)
		}
	}
	if err := check(a); err != nil {
		return err
	}
	for _, r := range values[Region](a) {
		if !r.Rect().In(bounds) {
			return fmt.Errorf("the region %d×%d at (%d, %d) reaches outside the screenshot; x goes from %d to %d and y from %d to %d: make it smaller",
				r.Width, r.Height, r.X, r.Y, bounds.Min.X, bounds.Max.X-1, bounds.Min.Y, bounds.Max.Y-1)
		}
	}
	return nil
}

func outside(p Point, bounds image.Rectangle) error {
	return fmt.Errorf("the point (%d, %d) is outside the screenshot; x goes from %d to %d and y from %d to %d: read the point off the newest screenshot",
		p.X, p.Y, bounds.Min.X, bounds.Max.X-1, bounds.Min.Y, bounds.Max.Y-1)
}

// check is Validate without bounds.
func check(a Action) error {
	if a == nil {
		return errNone
	}
	for _, p := range Points(a) {
		if p.Element.ID != "" {
			if _, err := ParseHandle(string(p.Element.ID)); err != nil {
				return err
			}
		}
	}
	return a.check()
}

var errNone = errors.New("there is no action")

func (Move) check() error { return nil }

func (a Click) check() error {
	return cmp.Or(button(a.Button), modifiers(a.Modifiers),
		within(a.Count, 1, maxClicks, "clicks", "write count 1 for a click, 2 for a double click, 3 for a triple click"))
}

func (a ButtonDown) check() error { return button(a.Button) }
func (a ButtonUp) check() error   { return button(a.Button) }

func (a Drag) check() error {
	return cmp.Or(button(a.Button), modifiers(a.Modifiers),
		within(len(a.Path), 1, maxPath, "points in a path", "give only the points where the direction changes"))
}

func (a Scroll) check() error {
	if a.DX == 0 && a.DY == 0 {
		return errors.New("a scroll by 0 does nothing; scroll by 1 to 100 notches, of which 5 move most windows by about half a page")
	}
	const advice = "5 notches move most windows by about half a page; press pageup, pagedown, home or end for long ways"
	return cmp.Or(modifiers(a.Modifiers),
		within(a.DX, -maxNotches, maxNotches, "notches", advice), within(a.DY, -maxNotches, maxNotches, "notches", advice))
}

func (a Type) check() error { return text(string(a.Text), 1) }

func (a Press) check() error {
	return cmp.Or(keys(a.Keys), within(a.Count, 1, maxPresses, "presses", "press fewer times, look, and go on"))
}

func (a KeyDown) check() error { return keys([]Key{a.Key}) }
func (a KeyUp) check() error   { return keys([]Key{a.Key}) }
func (a Hold) check() error    { return cmp.Or(keys(a.Keys), duration(a.Milliseconds)) }
func (Copy) check() error      { return nil }

func (a Paste) check() error {
	if a.Text == nil {
		return nil
	}
	return text(string(*a.Text), 1)
}

func (a SetClipboard) check() error { return text(string(a.Text), 0) }
func (a Wait) check() error         { return duration(a.Milliseconds) }

// check lets the text be empty: that empties a field.
func (a Set) check() error { return text(string(a.Text), 0) }

func (a WaitUntil) check() error {
	if err := within(a.Milliseconds, 1, maxUntil, "milliseconds", "wait for less, look, and wait again if needed"); err != nil {
		return err
	}
	switch a.For {
	case ElementSign:
		_, err := ParseListed(a.What)
		return err
	case WindowSign, TextSign:
		if strings.TrimSpace(a.What) == "" {
			return fmt.Errorf("which %s is waited for is not said; write a part of it that is sure to be shown", a.For)
		}
		if n := utf8.RuneCountInString(a.What); n > maxSign {
			return fmt.Errorf("the %s to wait for has %d characters, more than %d; give a short part of it", a.For, n, maxSign)
		}
		if a.For == TextSign && !findable(a.What) {
			return errors.New("that text cannot be told from others; wait for one of two characters or more, with a letter or a digit in it")
		}
		return text(a.What, 1)
	}
	return fmt.Errorf("nobody can wait for %s; write \"window\", \"text\" or \"element\"", clip(string(a.For)))
}

// findable reports whether a text on the screen can be found; see
// [desktop-agent/screen.Observation.Find].
func findable(s string) bool {
	return utf8.RuneCountInString(strings.TrimSpace(s)) > 1 &&
		strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

func (a Zoom) check() error { return region(a.Region) }

func (a CallTool) check() error {
	if !toolNames.MatchString(a.Tool) {
		return fmt.Errorf("%q is the name of no tool; give one of those that are listed", clip(a.Tool))
	}
	if n := len(a.Arguments); n > maxArguments {
		return fmt.Errorf("the arguments have %d bytes, more than %d; give less at a time", n, maxArguments)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(a.Arguments), &object); err != nil || object == nil {
		return errors.New("the arguments are no JSON object; write {} where there are none")
	}
	return nil
}

// toolNames are what every endpoint takes as the name of a function.
var toolNames = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func (a Note) check() error {
	if n := utf8.RuneCountInString(a.Text); n > maxNote {
		return fmt.Errorf("the note has %d characters, at most %d are kept; note only what you will need", n, maxNote)
	}
	if strings.TrimSpace(a.Text) == "" {
		return errors.New("the note is empty; write the fact that shall be kept, or leave it out")
	}
	return text(a.Text, 1)
}

func (a Done) check() error       { return text(a.Answer, 0) }
func (a Infeasible) check() error { return text(a.Reason, 0) }
func (a Ask) check() error        { return text(a.Question, 1) }

func within(n, low, high int, what, advice string) error {
	if n < low || n > high {
		return fmt.Errorf("%d %s are not possible, %d to %d are; %s", n, what, low, high, advice)
	}
	return nil
}

func button(b Button) error {
	switch b {
	case Left, Middle, Right:
		return nil
	}
	return fmt.Errorf("unknown mouse button %s; write \"left\", \"middle\" or \"right\"", clip(string(b)))
}

// keys checks the keys of a shortcut.
func keys(list []Key) error {
	if err := within(len(list), 1, maxKeys, "keys at once", "name the keys of one shortcut; press the next one in an action of its own"); err != nil {
		return err
	}
	seen := map[Key]bool{}
	for _, k := range list {
		if known, err := ParseKey(string(k)); err != nil {
			return err
		} else if known != k {
			return fmt.Errorf("unknown key %q; write %q", k, known)
		}
		if seen[k] {
			return fmt.Errorf("the key %q is there twice; a key can be held down once: to press it again, press it in an action of its own", k)
		}
		seen[k] = true
	}
	return nil
}

// modifiers checks keys that are held during something else.
func modifiers(list []Key) error {
	if len(list) == 0 {
		return nil
	}
	for _, k := range list {
		if !k.Modifier() {
			return fmt.Errorf("%s is no modifier; hold ctrl, shift, alt or win, and press other keys in an action of their own", clip(string(k)))
		}
	}
	return keys(list)
}

func duration(ms int) error {
	return within(ms, 1, maxMillis, "milliseconds", "wait for less, look, and wait again if needed")
}

func region(r Region) error {
	if r.Width < 1 || r.Height < 1 {
		return fmt.Errorf("a region of %d×%d has nothing in it; give a width and a height of 1 or more", r.Width, r.Height)
	}
	const far = 1 << 20 // no image is as large; sums stay far from overflow
	if max(r.X, r.Y, r.Width, r.Height) > far || min(r.X, r.Y) < -far {
		return errors.New("the region reaches outside the screenshot; make it smaller")
	}
	return nil
}

// text checks what is typed, pasted or said. It is not in the error.
func text(s string, least int) error {
	switch n := utf8.RuneCountInString(s); {
	case n < least:
		return errors.New("the text is empty; write what it shall be, or leave the action out")
	case n > maxText:
		return fmt.Errorf("the text has %d characters, at most %d can be given at once; give it in parts, or find a way that needs less text", n, maxText)
	case !utf8.ValidString(s) || strings.ContainsRune(s, utf8.RuneError):
		return errors.New("the text has characters that are not valid Unicode; write them again as they are")
	}
	for _, r := range s {
		if r < ' ' && !strings.ContainsRune("\n\r\t", r) || r == '\x7f' {
			return fmt.Errorf("the text has the control character %U, which nobody can type; leave it out, or press the key that is meant", r)
		}
	}
	return nil
}
