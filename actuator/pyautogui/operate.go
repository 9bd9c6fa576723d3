package pyautogui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/syntax"
)

// operate returns a op b. Its errors may have no place yet.
func (t *translator) operate(op syntax.Token, a, b value) (value, error) {
	if err := t.read(a, b); err != nil {
		return nil, err
	}
	switch op {
	case syntax.EQL, syntax.NEQ:
		same, err := t.equal(a, b, maxLists)
		return same == (op == syntax.EQL), err
	case syntax.IN, syntax.NOT_IN:
		in, err := t.contains(b, a)
		return in == (op == syntax.IN), err
	case syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		order, ok := compare(a, b)
		if !ok {
			return nil, fmt.Errorf("a %s and a %s cannot be compared; compare numbers with numbers", kind(a), kind(b))
		}
		return map[syntax.Token]bool{syntax.LT: order < 0, syntax.LE: order <= 0, syntax.GT: order > 0, syntax.GE: order >= 0}[op], nil
	}
	_, okA := number(a)
	_, okB := number(b)
	if okA && okB {
		return arithmetic(op, a, b)
	}
	switch op {
	case syntax.PLUS:
		return t.join(a, b)
	case syntax.STAR:
		if okA {
			a, b = b, a
		}
		return t.repeat(a, b)
	case syntax.PERCENT:
		if s, ok := a.(string); ok {
			return t.percent(s, b)
		}
	}
	return nil, fmt.Errorf("%s cannot stand between a %s and a %s; write what is meant, with str(…) or an f-string for numbers in text", op, kind(a), kind(b))
}

func (t *translator) percent(format string, arg value) (value, error) {
	args := []value{arg}
	if l, ok := arg.(*list); ok && l.tuple {
		args = l.items
	}
	var failed error
	s, err := percent(format, args, func(v value, repr bool) string {
		s, err := t.str(v, repr)
		failed = errors.Join(failed, err)
		return s
	})
	if failed != nil {
		return nil, errWork
	}
	if err != nil {
		return nil, err
	}
	return s, t.spend(len(s) / 8)
}

// join puts two texts or two lists together.
func (t *translator) join(a, b value) (value, error) {
	if s, ok := a.(string); ok {
		if u, ok := b.(string); ok {
			return s + u, nil
		}
	}
	l, okL := a.(*list)
	m, okM := b.(*list)
	if okL && okM && l.tuple == m.tuple {
		if err := t.spend(len(l.items) + len(m.items)); err != nil {
			return nil, err
		}
		return &list{slices.Concat(l.items, m.items), l.tuple}, nil
	}
	return nil, fmt.Errorf("a %s and a %s cannot be added; use str(…) or an f-string for numbers in text", kind(a), kind(b))
}

// repeat returns a text or a list n times.
func (t *translator) repeat(a, times value) (value, error) {
	n, ok := times.(int)
	if !ok {
		return nil, fmt.Errorf("a %s cannot be repeated %s times; write a whole number", kind(a), kind(times))
	}
	n = max(0, n)
	size := 0
	switch a := a.(type) {
	case string:
		size = len(a)
	case *list:
		size = len(a.items)
	default:
		return nil, fmt.Errorf("a %s cannot be repeated; write what is meant", kind(a))
	}
	if size > 0 && n > maxWork/size {
		return nil, errWork
	}
	if err := t.spend(size * n); err != nil {
		return nil, err
	}
	if s, ok := a.(string); ok {
		return strings.Repeat(s, n), nil
	}
	l := a.(*list)
	return &list{slices.Repeat(l.items, n), l.tuple}, nil
}

func (t *translator) equal(a, b value, depth int) (bool, error) {
	if t.spend(1) != nil || t.read(a) != nil || depth == 0 {
		return false, errWork
	}
	if order, ok := compare(a, b); ok {
		return order == 0, nil
	}
	l, okL := a.(*list)
	m, okM := b.(*list)
	if !okL || !okM {
		return a == b, nil
	}
	if l.tuple != m.tuple || len(l.items) != len(m.items) {
		return false, nil
	}
	for i := range l.items {
		if same, err := t.equal(l.items[i], m.items[i], depth-1); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (t *translator) contains(in, v value) (bool, error) {
	if s, ok := in.(string); ok {
		if sub, ok := v.(string); ok {
			return strings.Contains(s, sub), nil
		}
		return false, fmt.Errorf("a %s cannot be in a text", kind(v))
	}
	items, err := t.items(in)
	if err != nil {
		return false, err
	}
	for _, item := range items {
		if same, err := t.equal(item, v, maxLists); same || err != nil {
			return same, err
		}
	}
	return false, nil
}
