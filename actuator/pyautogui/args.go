package pyautogui

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"desktop-agent/actuator"

	"go.starlark.net/syntax"
)

// args are the arguments of a call.
type args struct {
	name       string // of the function, for errors
	positional []value
	keyword    []string // in order
	values     map[string]value
}

// arguments evaluates the arguments of a call.
func (t *translator) arguments(call *syntax.CallExpr) (*args, error) {
	a := &args{name: callee(call.Fn), values: map[string]value{}}
	for _, x := range call.Args {
		switch x := x.(type) {
		case *syntax.BinaryExpr:
			name, ok := x.X.(*syntax.Ident)
			if x.Op != syntax.EQ || !ok {
				break
			}
			v, err := t.expr(x.Y)
			if err != nil {
				return nil, err
			}
			if _, twice := a.values[name.Name]; twice {
				return nil, t.errorf(x, "%s is given twice; leave one out", shorten(name.Name))
			}
			a.keyword = append(a.keyword, name.Name)
			a.values[name.Name] = v
			continue
		case *syntax.UnaryExpr:
			if x.Op == syntax.STARSTAR {
				return nil, t.errorf(x, "** is not supported; write the arguments")
			}
			if x.Op != syntax.STAR {
				break
			}
			v, err := t.expr(x.X)
			if err != nil {
				return nil, err
			}
			items, err := t.items(v)
			if err != nil {
				return nil, t.at(x, err)
			}
			a.positional = append(a.positional, items...)
			continue
		}
		v, err := t.expr(x)
		if err != nil {
			return nil, err
		}
		a.positional = append(a.positional, v)
	}
	return a, nil
}

// callee names what is called, for errors.
func callee(x syntax.Expr) string {
	switch x := x.(type) {
	case *syntax.Ident:
		return shorten(x.Name)
	case *syntax.DotExpr:
		if id, ok := x.X.(*syntax.Ident); ok && !strings.HasPrefix(id.Name, reserved) {
			return shorten(id.Name) + "." + shorten(x.Name.Name)
		}
		return shorten(x.Name.Name)
	}
	return "the call"
}

// bind gives the positional arguments the names of the parameters.
func (a *args) bind(params ...string) error {
	for _, k := range a.keyword {
		if !slices.Contains(params, k) {
			return fmt.Errorf("%s has no argument %q; it has %s", a.name, shorten(k), strings.Join(visible(params), ", "))
		}
	}
	if len(a.positional) > len(params) {
		return fmt.Errorf("%s has too many arguments (%d); it has %s", a.name, len(a.positional), strings.Join(visible(params), ", "))
	}
	for i, v := range a.positional {
		if _, twice := a.values[params[i]]; twice {
			return fmt.Errorf("%s is given twice; leave one out", params[i])
		}
		a.values[params[i]] = v
	}
	return nil
}

// visible leaves out the parameters that nobody needs.
func visible(params []string) []string {
	var list []string
	for _, p := range params {
		if p != "_pause" && p != "logScreenshot" && p != "tween" && p != "mouseDownUp" {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return []string{"none"}
	}
	return list
}

// splitPoint lets a pair given as x be x and y, as pyautogui does.
func (a *args) splitPoint(x, y string) error {
	switch v := a.values[x].(type) {
	case *list:
		if len(v.items) != 2 {
			return fmt.Errorf("a point needs 2 numbers, not %d; write x, y", len(v.items))
		}
		if other := a.values[y]; other != nil {
			return fmt.Errorf("%s is a point already; leave out %s", x, y)
		}
		for _, item := range v.items {
			if _, ok := item.(string); ok {
				return errors.New("a point is two numbers; of elements, name one at a time")
			}
		}
		a.values[x], a.values[y] = v.items[0], v.items[1]
	case string:
		if _, err := actuator.ParseHandle(v); err != nil {
			return errors.New("a picture cannot be searched for; read the point off the screenshot and write x, y in pixels, or write the ID of an element in the list, such as \"n39\"")
		}
		if other := a.values[y]; other != nil {
			return fmt.Errorf("%s is an element already; leave out %s", v, y)
		}
	}
	return nil
}

// whole returns a number, rounded; ok is false if it is not given.
func (a *args) whole(name string) (n int, ok bool, err error) {
	v := a.values[name]
	if v == nil {
		return 0, false, nil
	}
	f, isNumber := number(v)
	if _, isBool := v.(bool); !isNumber || isBool {
		return 0, false, fmt.Errorf("%s must be a number, not a %s", name, kind(v))
	}
	if math.Abs(f) > 1e9 {
		return 0, false, fmt.Errorf("%s is too large; write what is meant", name)
	}
	return int(math.Round(f)), true, nil
}

// wholeOr is whole with a default.
func (a *args) wholeOr(name string, otherwise int) (int, error) {
	n, ok, err := a.whole(name)
	if !ok {
		n = otherwise
	}
	return n, err
}

// millis returns a number of seconds in milliseconds.
func (a *args) millis(name string) (int, error) {
	v := a.values[name]
	if v == nil {
		return 0, nil
	}
	f, ok := number(v)
	if !ok {
		return 0, fmt.Errorf("%s must be a number of seconds, not a %s", name, kind(v))
	}
	if f < 0 || f > 1e6 {
		return 0, fmt.Errorf("%s cannot be %v seconds; write 0 to 60", name, f)
	}
	return int(math.Ceil(f * 1000)), nil
}

// text returns an argument that must be there and be a text.
func (a *args) text(name string) (string, error) {
	switch v := a.values[name].(type) {
	case string:
		return v, nil
	case nil:
		return "", fmt.Errorf("%s needs %s, a text in quotes", a.name, name)
	default:
		return "", fmt.Errorf("%s must be a text in quotes, not a %s; write str(…) for a number", name, kind(v))
	}
}

// button returns the mouse button, or otherwise if none is given.
func (a *args) button(otherwise actuator.Button) (actuator.Button, error) {
	v := a.values["button"]
	if v == nil {
		return otherwise, nil
	}
	s, ok := v.(string)
	if ok {
		switch s = strings.ToLower(s); s {
		case "primary", "left", "1":
			return actuator.Left, nil
		case "secondary", "right":
			return actuator.Right, nil
		case "middle":
			return actuator.Middle, nil
		}
	}
	return "", errors.New(`unknown mouse button; write button="left", "middle" or "right"`)
}

// names returns the texts of an argument that is a text or a list of them.
func (a *args) names(name string) ([]string, error) {
	switch v := a.values[name].(type) {
	case string:
		return []string{v}, nil
	case *list:
		var names []string
		for _, item := range v.items {
			s, ok := item.(string)
			if !ok {
				return nil, fmt.Errorf("a key must be a name in quotes, not a %s; write \"5\" for the key 5", kind(item))
			}
			names = append(names, s)
		}
		return names, nil
	case nil:
		return nil, fmt.Errorf("%s needs %s, a name in quotes such as \"enter\"", a.name, name)
	default:
		return nil, fmt.Errorf("a key must be a name in quotes, not a %s; write \"5\" for the key 5", kind(v))
	}
}

// keys returns the keys of an argument.
func (a *args) keys(name string) ([]actuator.Key, error) {
	names, err := a.names(name)
	if err != nil {
		return nil, err
	}
	var keys []actuator.Key
	for _, n := range names {
		k, err := actuator.ParseKey(n)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s needs a key; write a name in quotes such as \"enter\"", a.name)
	}
	return keys, nil
}

// single returns the keys that type a name by itself: a capital letter is
// shift and the letter, as pyautogui presses it.
func single(name string) ([]actuator.Key, error) {
	k, err := actuator.ParseKey(name)
	if r := []rune(name); err == nil && len(r) == 1 && unicode.IsUpper(r[0]) {
		return []actuator.Key{"shift", k}, nil
	}
	return []actuator.Key{k}, err
}
