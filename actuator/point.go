package actuator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Point is what an action aims at: a pixel of the image sent to the model, an
// element of the list that came with it, or what the model calls by words of its own.
//
// A model that means an element writes its handle only, or words such as "the Save button
// of the dialog", which code makes a handle or a pixel of. Then code adds what element
// that is and where (package run: Name), and right before the action where it is by
// then ([desktop-agent/run.Desktop]), so that whoever reads an action that was
// performed finds a pixel. A point that a model gave in pixels may have an element
// without a handle: what was there on the image that it saw.
type Point struct {
	X int `json:"x" jsonschema:"pixels from the left edge of the image"`
	Y int `json:"y" jsonschema:"pixels from the top edge of the image"`

	Element Element `json:"element,omitzero"`
}

// An Element is an element of the screen as the list of it calls it.
type Element struct {
	ID   Handle `json:"id,omitzero"`   // "" if it was not aimed at by its handle
	Role string `json:"role,omitzero"` // such as "push button"; "" if not known yet
	Name string `json:"name,omitzero"` // what the program calls it, or its label

	// Words are what a model called what it means, until it is known what that is; ""
	// from then on.
	Words string `json:"-"`
}

// A Handle is the ID of an element in the list that a model reads, such as "n39".
type Handle string

var handle = regexp.MustCompile(`^n[1-9][0-9]{0,8}$`)

// ParseHandle returns a handle as it is written. The error says what a handle is.
func ParseHandle(s string) (Handle, error) {
	if !handle.MatchString(s) {
		return "", fmt.Errorf("%s is no element: write the ID at the beginning of its line in the list, such as \"n39\"", clip(s))
	}
	return Handle(s), nil
}

// maxWords is how many characters there may be of words for an element.
const maxWords = 200

// ParseElement returns what a text that a model wrote in the place of a point means: a
// handle, or else words for an element. What looks like a handle and is none is an error.
func ParseElement(s string) (Element, error) {
	id, err := ParseHandle(s)
	if err == nil {
		return Element{ID: id}, nil
	}
	first, _, _ := strings.Cut(strings.TrimSpace(s), " ")
	if handle.MatchString(first) { // a line of the list
		return Element{}, err
	}
	letters := 0
	for _, r := range s {
		if unicode.IsLetter(r) && r != 'n' && r != 'N' {
			letters++
		}
	}
	words := strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	switch n := utf8.RuneCountInString(words); {
	case letters < 2:
		return Element{}, err
	case !utf8.ValidString(s):
		return Element{}, errors.New("the words for an element are not valid Unicode; write them again")
	case n > maxWords:
		return Element{}, fmt.Errorf("an element is named in %d characters, more than %d; name it in a few words, or write its ID", n, maxWords)
	}
	return Element{Words: words}, nil
}

// ParseListed returns the element that a text names as the list does: by its handle, or by
// its kind, which may be left out, and its whole name in quotes, such as `button "Save"`,
// which may be one that is not there yet.
func ParseListed(s string) (Element, error) {
	if id, err := ParseHandle(s); err == nil {
		return Element{ID: id}, nil
	}
	kind, rest, _ := strings.Cut(s, `"`)
	name, err := strconv.Unquote(`"` + strings.TrimSpace(rest))
	odd := strings.ContainsFunc(kind, func(r rune) bool { return r != ' ' && !unicode.IsLetter(r) })
	switch {
	case err != nil || odd || strings.TrimSpace(name) == "":
		return Element{}, fmt.Errorf("%s is no element: write the ID at the beginning of its line in the list, such as \"n39\"; "+
			"or its kind and its whole name in double quotes, as the list will have it, such as button \"Save\"", clip(s))
	case utf8.RuneCountInString(s) > maxWords:
		return Element{}, fmt.Errorf("the element to wait for is named in more than %d characters; wait for one with a shorter name, or for a text", maxWords)
	}
	return Element{Role: strings.TrimSpace(kind), Name: name}, text(name, 1)
}

// String says which element it is: by its handle, its role, and its name in quotes; or by
// the words for it, in quotes too.
func (e Element) String() string {
	if e.Words != "" {
		return quotedName(e.Words)
	}
	words := string(e.ID)
	for _, part := range []string{e.Role, quotedName(e.Name)} {
		if words != "" && part != "" {
			words += " "
		}
		words += part
	}
	return words
}

// maxName is how many characters of an element's name are told.
const maxName = 100

func quotedName(name string) string {
	if name == "" {
		return ""
	}
	if short := cutAt(name, maxName); short != name {
		return strconv.Quote(short) + "…"
	}
	return strconv.Quote(name)
}

// Placed reports whether it is known which pixel is meant: one was given, or code has
// found the element.
func (p Point) Placed() bool {
	return p.Element.Words == "" && (p.Element.ID == "" || p.Element.Role != "")
}

// MarshalJSON writes a handle, or words, alone, as a model does, for a point that is not
// placed.
func (p Point) MarshalJSON() ([]byte, error) {
	if p.Element.Words != "" {
		return json.Marshal(p.Element.Words)
	}
	if !p.Placed() {
		return json.Marshal(p.Element.ID)
	}
	return json.Marshal(pixel(p))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Point) UnmarshalJSON(data []byte) error {
	*p = Point{}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte(`"`)) {
		var text string
		err := json.Unmarshal(data, &text)
		if err == nil {
			p.Element, err = ParseElement(text)
		}
		return err
	}
	return json.Unmarshal(data, (*pixel)(p))
}

// pixel is a Point in its form with x and y.
type pixel Point

// Placed reports whether all points of an action are: then it can be performed.
func Placed(a Action) bool {
	for _, p := range Points(a) {
		if !p.Placed() {
			return false
		}
	}
	return true
}

// ByHandle reports whether an action aims at an element by its handle.
func ByHandle(a Action) bool {
	return slices.ContainsFunc(Points(a), func(p Point) bool { return p.Element.ID != "" })
}

// ByWords reports whether an action aims at what is only named in words, so far.
func ByWords(a Action) bool {
	return slices.ContainsFunc(Points(a), func(p Point) bool { return p.Element.Words != "" })
}

// Bare returns an action as a model would write it: without what code found out of
// the elements that it aims at, such as where they are.
func Bare(a Action) Action {
	a = Moved(a, func(p Point) Point {
		if p.Element.ID != "" || p.Element.Words != "" {
			return Point{Element: Element{ID: p.Element.ID, Words: p.Element.Words}}
		}
		return Point{X: p.X, Y: p.Y}
	})
	return replace(a, func(Element) Element { return Element{} })
}

// Pixels returns an action that aims at the same pixels, and names no elements: their
// handles mean nothing in another run.
func Pixels(a Action) Action {
	a = Moved(a, func(p Point) Point { return Point{X: p.X, Y: p.Y} })
	return replace(a, func(e Element) Element { return Element{Role: e.Role, Name: e.Name} })
}

// Same reports whether two actions are the same to a model: at the same element, if
// they aim at one by its handle, wherever it was each time.
func Same(a, b Action) bool { return reflect.DeepEqual(Bare(a), Bare(b)) }
