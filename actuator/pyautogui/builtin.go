package pyautogui

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// builtins are the names that are known without an import.
func builtins() map[string]value {
	names := map[string]value{
		"True": true, "False": false, "None": nil, "__name__": "__main__",
	}
	for m := range modules {
		names[m] = module(m)
	}
	for name := range pure {
		names[name] = function{"", name}
	}
	return names
}

// pure are functions of Python itself. All cost what they build.
var pure = map[string]func(t *translator, in []value) (value, error){
	"range": rangeOf,
	"len": func(t *translator, in []value) (value, error) {
		items, err := t.items(in[0])
		return len(items), err
	},
	"str":   func(t *translator, in []value) (value, error) { return t.str(in[0], false) },
	"repr":  func(t *translator, in []value) (value, error) { return t.str(in[0], true) },
	"int":   toInt,
	"float": toFloat,
	"bool":  func(_ *translator, in []value) (value, error) { return truth(in[0]), nil },
	"abs": func(_ *translator, in []value) (value, error) {
		f, ok := number(in[0])
		if _, isFloat := in[0].(float64); !isFloat {
			return int(math.Abs(f)), needNumber(ok, in[0])
		}
		return math.Abs(f), nil
	},
	"round": round,
	"min":   func(t *translator, in []value) (value, error) { return extreme(t, in, -1) },
	"max":   func(t *translator, in []value) (value, error) { return extreme(t, in, 1) },
	"sum": func(t *translator, in []value) (value, error) {
		items, err := t.items(in[0])
		var sum value = 0
		for _, item := range items {
			if _, ok := number(item); !ok {
				return nil, needNumber(false, item)
			}
			if sum, err = t.operate(plus, sum, item); err != nil {
				return nil, err
			}
		}
		return sum, err
	},
	"list": func(t *translator, in []value) (value, error) {
		items, err := t.items(in[0])
		return &list{items: items}, err
	},
	"tuple": func(t *translator, in []value) (value, error) {
		items, err := t.items(in[0])
		return &list{items, true}, err
	},
	"reversed": func(t *translator, in []value) (value, error) {
		items, err := t.items(in[0])
		slices.Reverse(items)
		return &list{items: items}, err
	},
	"enumerate": enumerate,
	"zip":       zip,
	"chr": func(_ *translator, in []value) (value, error) {
		i, ok := in[0].(int)
		if !ok || i < 0 || i > 0x10ffff {
			return nil, errors.New("chr needs the number of a character; write the character itself")
		}
		return string(rune(i)), nil
	},
	"ord": func(_ *translator, in []value) (value, error) {
		s, ok := in[0].(string)
		r := []rune(s[:min(len(s), 8)])
		if !ok || len(r) != 1 {
			return nil, errors.New("ord needs one character")
		}
		return int(r[0]), nil
	},
}

// arity is how few and how many arguments a pure function takes, where that is
// not exactly one.
var arity = map[string][2]int{
	"range": {1, 3}, "round": {1, 2}, "min": {1, 100}, "max": {1, 100}, "enumerate": {1, 2}, "zip": {1, 10}, "int": {1, 2},
}

// builtin calls a pure function.
func (t *translator) builtin(name string, a *args) (value, error) {
	in := a.positional
	if start, ok := a.values["start"]; ok && name == "enumerate" && len(a.keyword) == 1 {
		in = append(in, start)
	} else if len(a.keyword) > 0 {
		return nil, fmt.Errorf("%s has no argument %q here; leave it out", name, shorten(a.keyword[0]))
	}
	limits, ok := arity[name]
	if !ok {
		limits = [2]int{1, 1}
	}
	if len(in) < limits[0] || len(in) > limits[1] {
		return nil, fmt.Errorf("%s takes %d to %d arguments, not %d", name, limits[0], limits[1], len(in))
	}
	return pure[name](t, in)
}

func needNumber(ok bool, v value) error {
	if ok {
		return nil
	}
	return fmt.Errorf("this needs a number, not a %s", kind(v))
}

func rangeOf(t *translator, in []value) (value, error) {
	n := []int{0, 0, 1}
	for i, v := range in {
		whole, ok := v.(int)
		if !ok {
			return nil, fmt.Errorf("range needs whole numbers, not a %s; write int(…)", kind(v))
		}
		n[i] = whole
	}
	if len(in) == 1 {
		n[0], n[1] = 0, n[0]
	}
	start, stop, step := n[0], n[1], n[2]
	if step == 0 {
		return nil, errors.New("the step of a range cannot be 0")
	}
	count := 0
	if step > 0 && stop > start {
		count = (stop-start-1)/step + 1
	} else if step < 0 && stop < start {
		count = (start-stop-1)/-step + 1
	}
	if err := t.spend(count); err != nil {
		return nil, err
	}
	items := make([]value, count)
	for i := range items {
		items[i] = start + i*step
	}
	return &list{items: items}, nil
}

func toInt(_ *translator, in []value) (value, error) {
	if s, ok := in[0].(string); ok {
		i, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || len(in) > 1 || i > exact || i < -exact {
			return nil, errors.New("this text is no whole number; write the number itself")
		}
		return i, nil
	}
	f, ok := number(in[0])
	if !ok || len(in) > 1 {
		return nil, needNumber(false, in[0])
	}
	return int(math.Trunc(f)), nil
}

func toFloat(_ *translator, in []value) (value, error) {
	if s, ok := in[0].(string); ok {
		f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil || math.IsNaN(f) || math.Abs(f) > exact {
			return nil, errors.New("this text is no number; write the number itself")
		}
		return f, nil
	}
	f, ok := number(in[0])
	return f, needNumber(ok, in[0])
}

// round rounds half to even, as Python does.
func round(_ *translator, in []value) (value, error) {
	f, ok := number(in[0])
	if !ok {
		return nil, needNumber(false, in[0])
	}
	if len(in) == 1 || in[1] == nil {
		return int(math.RoundToEven(f)), nil
	}
	digits, ok := in[1].(int)
	if !ok || digits < 0 || digits > 10 {
		return nil, errors.New("round needs 0 to 10 digits")
	}
	if _, whole := in[0].(int); whole {
		return in[0], nil
	}
	scale := math.Pow10(digits)
	return math.RoundToEven(f*scale) / scale, nil
}

// extreme returns the least or the greatest of the values, or of their items.
func extreme(t *translator, in []value, want int) (value, error) {
	if len(in) == 1 {
		var err error
		if in, err = t.items(in[0]); err != nil {
			return nil, err
		}
	}
	if len(in) == 0 {
		return nil, errors.New("there are no values to compare")
	}
	best := in[0]
	for _, v := range in[1:] {
		order, ok := compare(v, best)
		if !ok {
			return nil, fmt.Errorf("a %s and a %s cannot be compared", kind(v), kind(best))
		}
		if order*want > 0 {
			best = v
		}
	}
	return best, nil
}

func enumerate(t *translator, in []value) (value, error) {
	items, err := t.items(in[0])
	if err != nil {
		return nil, err
	}
	start := 0
	if len(in) == 2 {
		var ok bool
		if start, ok = in[1].(int); !ok {
			return nil, needNumber(false, in[1])
		}
	}
	for i, item := range items {
		items[i] = &list{[]value{start + i, item}, true}
	}
	return &list{items: items}, t.spend(len(items))
}

func zip(t *translator, in []value) (value, error) {
	var columns [][]value
	rows := math.MaxInt
	for _, v := range in {
		items, err := t.items(v)
		if err != nil {
			return nil, err
		}
		columns, rows = append(columns, items), min(rows, len(items))
	}
	if err := t.spend(rows * len(columns)); err != nil {
		return nil, err
	}
	out := &list{}
	for i := range rows {
		row := &list{tuple: true}
		for _, c := range columns {
			row.items = append(row.items, c[i])
		}
		out.items = append(out.items, row)
	}
	return out, nil
}
