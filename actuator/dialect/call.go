package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"desktop-agent/actuator"
)

// A Call is one action as a model names it: in the syntax of a function call, as JSON
// or in tags.
type Call struct {
	Name string // in lower case, without what is before a dot
	Args []Arg
}

// An Arg is one argument of a call: a text, a number, or what JSON has.
type Arg struct {
	Name  string // "" for one that has its place only
	Value any
}

// NewCall returns a call whose arguments are an object of JSON.
func NewCall(name string, object map[string]any) Call {
	c := Call{Name: plainName(name)}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		c.Args = append(c.Args, Arg{key, object[key]})
	}
	return c
}

func plainName(name string) string {
	return strings.ToLower(strings.TrimSpace(name[strings.LastIndexByte(name, '.')+1:]))
}

// Value returns the first argument of these names that is there and not null.
func (c Call) Value(names ...string) any {
	for _, name := range names {
		for _, a := range c.Args {
			if a.Name == name && a.Value != nil {
				return a.Value
			}
		}
	}
	return nil
}

// Form is the call as it was met, for its writer to recognise: numbers and points are in
// it, and text is not, since it may be what was to be typed.
func (c Call) Form() string {
	var list []string
	for _, a := range c.Args {
		text := "…"
		if numbers, err := Numbers(a.Value); err == nil {
			var words []string
			for _, n := range numbers[:min(len(numbers), 8)] {
				words = append(words, decimal(n))
			}
			text = strings.Join(words, ",")
		}
		if a.Name != "" {
			text = Clip(a.Name, 24) + "=" + text
		}
		list = append(list, text)
	}
	return Clip(Clip(c.Name, 40)+"("+strings.Join(list[:min(len(list), 8)], ", ")+")", 160)
}

// Clip cuts a text to so many characters.
func Clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// Text returns a text; "" if it is not there.
func (c Call) Text(names ...string) (string, error) {
	switch v := c.Value(names...).(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case float64:
		return decimal(v), nil
	case bool:
		return strconv.FormatBool(v), nil
	}
	return "", fmt.Errorf("%s of %s must be a text", names[0], c.Form())
}

// NeedText returns a text that must be there.
func (c Call) NeedText(names ...string) (string, error) {
	s, err := c.Text(names...)
	if err == nil && s == "" {
		err = fmt.Errorf("%s says no %s; write what it is", c.Form(), names[0])
	}
	return s, err
}

// Flag returns what is true or false; otherwise if it is not there.
func (c Call) Flag(otherwise bool, name string) bool {
	switch v := c.Value(name).(type) {
	case bool:
		return v
	case string:
		if b, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(v))); err == nil {
			return b
		}
	}
	return otherwise
}

// Number returns a number; otherwise if it is not there.
func (c Call) Number(otherwise float64, names ...string) (float64, error) {
	v := c.Value(names...)
	if v == nil {
		return otherwise, nil
	}
	list, err := Numbers(v)
	if err == nil && len(list) != 1 {
		err = errors.New("one number is needed")
	}
	if err != nil {
		return 0, fmt.Errorf("%s of %s: %w", names[0], c.Form(), err)
	}
	if math.Abs(list[0]) > 1e6 {
		return 0, fmt.Errorf("%s of %s is too large; write what is meant", names[0], c.Form())
	}
	return list[0], nil
}

// Wait returns a wait of so many seconds.
func (c Call) Wait(otherwise float64, names ...string) (actuator.Action, error) {
	f, err := c.Number(otherwise, names...)
	if err == nil && f < 0 {
		err = fmt.Errorf("%s waits for less than nothing; write a number of seconds", c.Form())
	}
	return actuator.Wait{Milliseconds: max(1, int(math.Round(f*1000)))}, err
}

// Point returns a point, or the middle of a box; nil if it is not there.
func (c Call) Point(s Space, names ...string) (*actuator.Point, error) {
	v := c.Value(names...)
	if v == nil || v == "" {
		return nil, nil
	}
	list, err := Numbers(v)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", names[0], c.Form(), err)
	}
	switch len(list) {
	case 2:
	case 4:
		list = []float64{(list[0] + list[2]) / 2, (list[1] + list[3]) / 2}
	default:
		return nil, fmt.Errorf("%s of %s is no point; write x and y of it", names[0], c.Form())
	}
	p, err := s.Point(list[0], list[1])
	return &p, err
}

// NeedPoint returns a point that must be there.
func (c Call) NeedPoint(s Space, names ...string) (*actuator.Point, error) {
	p, err := c.Point(s, names...)
	if err == nil && p == nil {
		err = fmt.Errorf("%s says no point; write %s of it", c.Form(), names[0])
	}
	return p, err
}

var boxTags = regexp.MustCompile(`</?(?:point|bbox|box)>|<\|box_(?:start|end)\|>|[\[\](){}]`)

// maxNumbers is how many numbers a value has at most: a box has 4.
const maxNumbers = 16

// Numbers returns the numbers that a value is: a number, a text of numbers with the
// marks of a point around them, a list, or an object with x and y.
func Numbers(v any) (list []float64, err error) {
	switch v := v.(type) {
	case float64:
		list = []float64{v}
	case string:
		if len(v) > 400 {
			return nil, errors.New("that is no number")
		}
		for _, word := range strings.FieldsFunc(boxTags.ReplaceAllString(v, " "), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' }) {
			f, err := strconv.ParseFloat(word, 64)
			if err != nil {
				return nil, errors.New("that is no number")
			}
			list = append(list, f)
		}
		if len(list) == 0 {
			return nil, errors.New("a number is needed")
		}
	case []any:
		if len(v) == 0 || len(v) > maxNumbers {
			return nil, errors.New("that is no point")
		}
		for _, item := range v {
			if _, deeper := item.([]any); deeper && len(v) > 1 {
				return nil, errors.New("that is more than one point")
			}
			inner, err := Numbers(item)
			if err != nil {
				return nil, err
			}
			list = append(list, inner...)
		}
	case map[string]any:
		if len(v) != 2 {
			return nil, errors.New("that is no point")
		}
		return Numbers([]any{v["x"], v["y"]})
	default:
		return nil, errors.New("a number is needed")
	}
	for _, f := range list {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, errors.New("that is no number that a point can have")
		}
	}
	if len(list) > maxNumbers {
		return nil, errors.New("these are too many numbers")
	}
	return list, nil
}

// Keys returns the keys that are named: in a list, or in a text with spaces or + between
// them.
func (c Call) Keys(names ...string) ([]actuator.Key, error) {
	var words []string
	switch v := c.Value(names...).(type) {
	case nil:
		return nil, fmt.Errorf("%s names no keys; write %s", c.Form(), names[0])
	case []any:
		for _, item := range v {
			s, ok := item.(string)
			if f, isNumber := item.(float64); isNumber { // the key of a digit
				s, ok = decimal(f), true
			}
			if !ok {
				return nil, fmt.Errorf("%s of %s must be names of keys", names[0], c.Form())
			}
			words = append(words, keyWords(s)...)
		}
	case float64:
		words = []string{decimal(v)}
	case string:
		words = keyWords(v)
	default:
		return nil, fmt.Errorf("%s of %s must be names of keys", names[0], c.Form())
	}
	var list []actuator.Key
	for _, w := range words {
		k, err := actuator.ParseKey(w)
		if err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	if len(list) > 16 {
		return nil, errors.New("these are too many keys at once; to type text, type it as text")
	}
	return list, nil
}

// keyWords splits the name of a shortcut into names of keys.
func keyWords(s string) []string {
	if len(s) > 200 || strings.TrimSpace(s) == "" {
		return []string{s} // a space, or a line break
	}
	words := splitKeys(strings.Fields(s))
	if slices.ContainsFunc(words, func(w string) bool { return !isKey(w) }) && strings.ContainsAny(s, `[]'"`) {
		// A list that became a text: "['ctrl', 's']", "keys=['ctrl'", or a part of one.
		s = strings.NewReplacer("'", "", `"`, "", "[", "", "]", "", ",", " ").Replace(strings.TrimPrefix(strings.TrimSpace(s), "keys="))
		words = splitKeys(strings.Fields(s))
	}
	return words
}

// splitKeys splits words into names of keys: ctrl+s into two, and page down is one.
func splitKeys(fields []string) (words []string) {
	for i := 0; i < len(fields); i++ {
		f := fields[i]
		if isKey(f) {
			words = append(words, f)
			continue
		}
		if i+1 < len(fields) && isKey(f+fields[i+1]) {
			words = append(words, f+fields[i+1])
			i++
			continue
		}
		words = append(words, strings.FieldsFunc(f, func(r rune) bool { return r == '+' })...)
		if strings.HasSuffix(f, "++") { // ctrl and +
			words = append(words, "+")
		}
	}
	return words
}

func isKey(s string) bool {
	_, err := actuator.ParseKey(s)
	return err == nil
}

// decodeObject reads one object of JSON from the beginning of a text, and what follows.
func decodeObject(text string) (map[string]any, string, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	var object map[string]any
	if err := dec.Decode(&object); err != nil {
		return nil, "", err
	}
	return object, text[dec.InputOffset():], nil
}
