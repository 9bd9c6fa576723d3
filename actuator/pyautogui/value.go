package pyautogui

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.starlark.net/syntax"
)

// A value is what an expression of the code stands for: nil, a bool, int,
// float64 or string, a *list, a *dict, a module, a function or a method.
type value any

type (
	// list is a list or a tuple.
	list struct {
		items []value
		tuple bool
	}

	// dict maps bools, ints, floats and strings to values.
	dict struct {
		keys  []value
		items map[value]value
	}

	// module is one that the code can call.
	module string

	// function is one of a module or, if that is empty, of Python itself.
	function struct {
		module module
		name   string
	}

	// method is one of a string or a list.
	method struct {
		of   value
		name string
	}

	// ignored is a value that has no effect, such as an easing.
	ignored struct{}
)

// kind names the type of a value as Python does.
func kind(v value) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return "bool"
	case int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case *list:
		if v.tuple {
			return "tuple"
		}
		return "list"
	case *dict:
		return "dict"
	case module:
		return "module"
	}
	return "function"
}

// truth is the value as a condition.
func truth(v value) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case int:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case *list:
		return len(v.items) > 0
	case *dict:
		return len(v.keys) > 0
	}
	return true
}

// number returns a number as a float; a bool is 0 or 1, as in Python.
func number(v value) (f float64, ok bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// exact is the largest whole number that all arithmetic here keeps exact.
const exact = 1 << 53

// arithmetic returns a op b for two numbers. The error has no place yet.
func arithmetic(op syntax.Token, a, b value) (value, error) {
	x, _ := number(a)
	y, _ := number(b)
	_, floatA := a.(float64)
	_, floatB := b.(float64)
	var f float64
	switch op {
	case syntax.PLUS:
		f = x + y
	case syntax.MINUS:
		f = x - y
	case syntax.STAR:
		f = x * y
	case syntax.SLASH, syntax.SLASHSLASH, syntax.PERCENT:
		if y == 0 {
			return nil, fmt.Errorf("this divides by zero; write the number that is meant")
		}
		f = math.Mod(x, y) // of the sign of x; Python's is of that of y
		if f != 0 && f < 0 != (y < 0) {
			f += y
		}
		switch op {
		case syntax.SLASH:
			f, floatA = x/y, true
		case syntax.SLASHSLASH:
			f = math.Round((x - f) / y)
		}
	default:
		return nil, fmt.Errorf("the operator %s is not supported; write the number that is meant", op)
	}
	if math.IsNaN(f) || math.Abs(f) > exact {
		return nil, fmt.Errorf("this number is too large; write coordinates in pixels and times in seconds")
	}
	if floatA || floatB {
		return f, nil
	}
	return int(f), nil
}

// compare orders two numbers or two strings.
func compare(a, b value) (order int, ok bool) {
	if s, isString := a.(string); isString {
		t, ok := b.(string)
		return strings.Compare(s, t), ok
	}
	x, okX := number(a)
	y, okY := number(b)
	switch {
	case x < y:
		order = -1
	case x > y:
		order = 1
	}
	return order, okX && okY
}

// display writes a value as Python's str does, or as repr does, and reports
// whether that took no more than most bytes, and lists in lists no more than
// depth: a list may be in itself.
func display(b *strings.Builder, v value, repr bool, most, depth int) bool {
	switch v := v.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		b.WriteString(map[bool]string{true: "True", false: "False"}[v])
	case int:
		b.WriteString(strconv.Itoa(v))
	case float64:
		b.WriteString(displayFloat(v))
	case string:
		if len(v) > most {
			return false
		}
		if repr {
			v = quotePython(v)
		}
		b.WriteString(v)
	case *list:
		return depth > 0 && displayList(b, v, most, depth-1)
	default:
		b.WriteString("<" + kind(v) + ">")
	}
	return b.Len() <= most
}

// displayFloat writes the fewest digits that mean the number, as Python does.
func displayFloat(f float64) string {
	switch size := math.Abs(f); {
	case f == math.Trunc(f) && size < 1e16:
		return strconv.FormatFloat(f, 'f', 1, 64)
	case size >= 1e-4 && size < 1e16:
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'e', -1, 64)
}

func displayList(b *strings.Builder, l *list, most, depth int) bool {
	marks := "[]"
	if l.tuple {
		marks = "()"
	}
	b.WriteString(marks[:1])
	for i, item := range l.items {
		if i > 0 {
			b.WriteString(", ")
		}
		if !display(b, item, true, most, depth) {
			return false
		}
	}
	if l.tuple && len(l.items) == 1 {
		b.WriteByte(',')
	}
	b.WriteString(marks[1:])
	return b.Len() <= most
}

func quotePython(s string) string {
	quote := "'"
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = `"`
	}
	return quote + strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`, quote, `\`+quote).Replace(s) + quote
}
