// Package rule judges single values, as the rules of task files do: "the value at
// this key is 0.5 or more", "this cell's text matches". It is shared by the metrics
// of texts, programs, media and spreadsheets, and holds Python's notions that those rules
// were written with: its equality ([Equal]) and its regular expressions ([Regexp]).
package rule

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"desktop-agent/tasks"
)

// A Rule is one test of a value. The methods are
//
//	re            the pattern Ref is found in the text; with flags: re.I.M
//	eq ne         the value equals Ref, or does not, see [Equal]
//	le lt ge gt   the value is less than or equal to Ref, and so on; numbers with
//	              numbers and texts with texts
//	approx:T      the number, or the number in the text, is within T of Ref
//	range.xy      x and y are t or e: Ref[0] < or ≤ value, and value < or ≤ Ref[1]
//	str_list_eq   the text, without quotes around it and split at commas, equals Ref
//	str_set_eq    the same, in any order and with repetitions
//	spreadsheet_range  the cell ranges hold those of Ref[0], and lie in those of Ref[1]
type Rule struct {
	Method string
	Ref    any
}

// New reads a rule: an object with the keys "method" and "ref".
func New(p tasks.Params) (Rule, error) {
	method, err := p.Text("method")
	if err != nil {
		return Rule{}, err
	}
	if method == "" {
		return Rule{}, fmt.Errorf("rule: no method: use one such as eq or re")
	}
	return Rule{Method: method, Ref: p["ref"]}, nil
}

// Holds reports whether the rule holds for a value: nil, a truth value, a number, a
// text, or lists and maps of these. It does not hold for a value of a type that the
// method cannot judge. An error says that the rule itself is wrong.
func (r Rule) Holds(value any) (bool, error) {
	value, ref := plain(value), plain(r.Ref)
	name, argument, _ := strings.Cut(r.Method, ":")
	switch {
	case r.Method == "re" || strings.HasPrefix(r.Method, "re."):
		return r.search(value, ref)
	case name == "approx":
		return r.approx(value, ref, argument)
	case strings.HasPrefix(r.Method, "range."):
		return r.within(value, ref)
	}
	switch r.Method {
	case "eq":
		return Equal(value, ref), nil
	case "ne":
		return !Equal(value, ref), nil
	case "le", "lt", "ge", "gt":
		if !ordered(ref) {
			return false, r.wrong("a number or a text")
		}
		return compare(r.Method, value, ref), nil
	case "str_list_eq", "str_set_eq":
		return r.list(value, ref)
	case "spreadsheet_range":
		return r.cells(value, ref)
	}
	return false, fmt.Errorf("rule: unknown method %q: use re, eq, ne, le, lt, ge, gt, approx:T, range.xy, str_list_eq, str_set_eq or spreadsheet_range", r.Method)
}

// Comparable reports whether Python can apply the rule to a value: patterns and lists
// are of texts, and an order is between two numbers or two texts. To all others the
// rule does not hold.
func (r Rule) Comparable(value any) bool {
	value = plain(value)
	_, isText := value.(string)
	_, isNumber := number(value)
	like := func(ref any) bool {
		_, refText := ref.(string)
		_, refNumber := number(ref)
		return isText && refText || isNumber && refNumber
	}
	ref := plain(r.Ref)
	name, _, _ := strings.Cut(r.Method, ".")
	switch name {
	case "re", "str_list_eq", "str_set_eq", "spreadsheet_range":
		return isText
	case "le", "lt", "ge", "gt":
		return like(ref)
	case "range":
		bounds, _ := ref.([]any)
		return !slices.ContainsFunc(bounds, func(bound any) bool { return !like(plain(bound)) })
	}
	return true
}

func (r Rule) wrong(want string) error {
	return fmt.Errorf("rule %s: ref %.100q is not %s", r.Method, fmt.Sprint(r.Ref), want)
}

func (r Rule) search(value, ref any) (bool, error) {
	pattern, ok := ref.(string)
	if !ok {
		return false, r.wrong("a text")
	}
	re, err := Compile(pattern, strings.Split(r.Method, ".")[1:]...)
	if err != nil {
		return false, err
	}
	text, ok := value.(string)
	if !ok {
		return false, nil
	}
	return re.Search(text)
}

func (r Rule) approx(value, ref any, argument string) (bool, error) {
	tolerance, err := strconv.ParseFloat(argument, 64)
	if err != nil {
		return false, fmt.Errorf("rule %s: no number after the colon: write such as approx:0.1", r.Method)
	}
	want, ok := number(ref)
	if !ok {
		return false, r.wrong("a number")
	}
	got, ok := number(value)
	if text, isText := value.(string); isText {
		got, ok = Float(text)
	}
	return ok && math.Abs(got-want) <= tolerance, nil
}

func (r Rule) within(value, ref any) (bool, error) {
	ends := strings.TrimPrefix(r.Method, "range.")
	if len(ends) != 2 || strings.Trim(ends, "te") != "" {
		return false, fmt.Errorf("rule %s: write range.tt, range.te, range.et or range.ee", r.Method)
	}
	bounds, ok := ref.([]any)
	if !ok || len(bounds) != 2 || !ordered(plain(bounds[0])) || !ordered(plain(bounds[1])) {
		return false, r.wrong("two numbers")
	}
	// ends[0] names the comparison of the lower bound with the value, which is the
	// other way round.
	return compare("g"+ends[:1], value, plain(bounds[0])) && compare("l"+ends[1:], value, plain(bounds[1])), nil
}

func (r Rule) list(value, ref any) (bool, error) {
	want, ok := ref.([]any)
	if !ok {
		return false, r.wrong("a list of texts")
	}
	text, ok := value.(string)
	if !ok {
		return false, nil
	}
	var got []any
	for item := range strings.SplitSeq(strings.Trim(text, `"'`), ",") {
		got = append(got, item)
	}
	if r.Method == "str_list_eq" {
		return Equal(got, want), nil
	}
	return subset(got, want) && subset(want, got), nil
}

func subset(a, b []any) bool {
	in := map[any]bool{}
	for _, v := range b {
		if text, ok := v.(string); ok {
			in[text] = true
		}
	}
	return !slices.ContainsFunc(a, func(v any) bool {
		text, ok := v.(string)
		return !ok || !in[text]
	})
}

// Equal reports whether two values are equal in Python: numbers by value, where true
// is 1 and false is 0, texts, lists and maps by their members. Go's numbers and
// slices of any type may be mixed with what JSON gives.
func Equal(a, b any) bool {
	a, b = plain(a), plain(b)
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && x == y
	}
	switch x := a.(type) {
	case nil:
		return b == nil
	case string:
		y, ok := b.(string)
		return ok && x == y
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, Equal)
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			w, ok := y[k]
			if !ok || !Equal(v, w) {
				return false
			}
		}
		return true
	}
	return false
}

// Float reads a number as Python's float() does: with white space around it and
// underscores between digits, and also "inf" and "nan".
func Float(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	if strings.ContainsAny(text, "xXpP") || strings.HasPrefix(text, "_") || strings.HasSuffix(text, "_") || strings.Contains(text, "__") {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	return f, err == nil || math.IsInf(f, 0) // 1e999 is infinite in Python
}

// plain gives a value one of the types that encoding/json gives.
func plain(v any) any {
	switch v := v.(type) {
	case nil, bool, float64, string, []any, map[string]any:
		return v
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f
		}
		return v.String()
	case tasks.Params:
		return map[string]any(v)
	}
	switch rv := reflect.ValueOf(v); rv.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return float64(rv.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return float64(rv.Uint())
	case reflect.Float32:
		return rv.Float()
	case reflect.String:
		return rv.String()
	case reflect.Bool:
		return rv.Bool()
	case reflect.Slice:
		list := make([]any, rv.Len())
		for i := range list {
			list[i] = rv.Index(i).Interface()
		}
		return list
	}
	return v
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

func ordered(v any) bool {
	_, isText := v.(string)
	_, isNumber := number(v)
	return isText || isNumber
}

func compare(method string, a, b any) bool {
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && holds(method, x, y)
	}
	x, ok1 := a.(string)
	y, ok2 := b.(string)
	return ok1 && ok2 && holds(method, x, y)
}

// holds compares with the operators, as cmp.Compare would order NaN.
func holds[T cmp.Ordered](method string, a, b T) bool {
	switch method {
	case "le":
		return a <= b
	case "lt":
		return a < b
	case "ge":
		return a >= b
	}
	return a > b
}
