package pyautogui

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"desktop-agent/actuator"

	"go.starlark.net/syntax"
)

// How deep expressions, and lists in lists, may be nested when the code is
// translated: a stack that overflows cannot be recovered from.
const (
	maxDepth = 2000
	maxLists = 50
)

// expr returns the value of an expression.
func (t *translator) expr(x syntax.Expr) (value, error) {
	if err := t.spend(1); err != nil {
		return nil, t.at(x, err)
	}
	if t.depth++; t.depth > maxDepth {
		return nil, &actuator.ParseError{Message: "an expression is nested too deeply; write numbers and text as they are"}
	}
	defer func() { t.depth-- }()
	switch x := x.(type) {
	case *syntax.Literal:
		return t.literal(x)
	case *syntax.Ident:
		return t.ident(x)
	case *syntax.ParenExpr:
		return t.expr(x.X)
	case *syntax.TupleExpr:
		items, err := t.exprs(x.List)
		return &list{items, true}, err
	case *syntax.ListExpr:
		items, err := t.exprs(x.List)
		return &list{items, false}, err
	case *syntax.DictExpr:
		return t.dict(x)
	case *syntax.UnaryExpr:
		return t.unary(x)
	case *syntax.BinaryExpr:
		return t.binary(x)
	case *syntax.CondExpr:
		cond, err := t.expr(x.Cond)
		if err != nil {
			return nil, err
		}
		if truth(cond) {
			return t.expr(x.True)
		}
		return t.expr(x.False)
	case *syntax.DotExpr:
		return t.attribute(x)
	case *syntax.IndexExpr:
		return t.index(x)
	case *syntax.SliceExpr:
		return t.slice(x)
	case *syntax.CallExpr:
		return t.call(x)
	case *syntax.Comprehension:
		return t.comprehension(x)
	}
	return nil, t.errorf(x, "this expression is not supported; write numbers and text as they are")
}

func (t *translator) exprs(xs []syntax.Expr) ([]value, error) {
	items := make([]value, 0, len(xs))
	for _, x := range xs {
		v, err := t.expr(x)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	return items, nil
}

func (t *translator) literal(x *syntax.Literal) (value, error) {
	switch v := x.Value.(type) {
	case int64:
		if v <= exact && v >= -exact {
			return int(v), nil
		}
		return nil, t.errorf(x, "this number is too large; write coordinates in pixels and times in seconds")
	case *big.Int:
		return nil, t.errorf(x, "this number is too large; write coordinates in pixels and times in seconds")
	case float64:
		return v, nil
	}
	return nil, t.errorf(x, "this literal is not supported; write numbers and text as they are")
}

func (t *translator) ident(x *syntax.Ident) (value, error) {
	if l, ok := t.src.literals[x.Name]; ok {
		text, err := t.text(l)
		return text, t.at(x, err)
	}
	if v, ok := t.names[x.Name]; ok {
		return v, nil
	}
	if _, ok := modules["pyautogui"][x.Name]; ok {
		return nil, t.errorf(x, "%s is not known by itself; write pyautogui.%s", x.Name, x.Name)
	}
	return nil, t.errorf(x, "the name %q is not known here, since nothing of an earlier turn is kept; give it a value first, or write what is meant", shorten(x.Name))
}

// text puts a string literal together.
func (t *translator) text(l literal) (string, error) {
	var b strings.Builder
	for _, p := range l {
		s := p.text
		if p.expr != nil {
			var err error
			if s, err = t.field(p); err != nil {
				return "", err
			}
		}
		if err := t.spend(len(s) / 8); err != nil {
			return "", err
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// field returns the text of an expression in an f-string.
func (t *translator) field(p part) (string, error) {
	outer := t.src
	t.src = p.src
	v, err := t.expr(p.expr)
	t.src = outer
	if err != nil {
		return "", err
	}
	spec, err := t.text(p.spec)
	if err != nil {
		return "", err
	}
	return t.format(v, p.repr, spec)
}

// format returns a value as text by a format specification.
func (t *translator) format(v value, repr bool, spec string) (string, error) {
	s, err := t.str(v, repr)
	if err != nil || spec == "" {
		return s, err
	}
	if repr {
		v = s
	}
	l, err := parseLayout(spec)
	if err != nil {
		return "", err
	}
	return l.apply(v, s)
}

// str is Python's str or repr.
func (t *translator) str(v value, repr bool) (string, error) {
	var b strings.Builder
	if !display(&b, v, repr, t.work, maxLists) {
		return "", errWork
	}
	return b.String(), t.spend(b.Len())
}

func (t *translator) dict(x *syntax.DictExpr) (value, error) {
	d := &dict{items: map[value]value{}}
	for _, e := range x.List {
		entry, ok := e.(*syntax.DictEntry)
		if !ok {
			return nil, t.errorf(e, "this is no entry of a dict; write key: value")
		}
		k, err := t.expr(entry.Key)
		if err != nil {
			return nil, err
		}
		v, err := t.expr(entry.Value)
		if err != nil {
			return nil, err
		}
		if err := d.set(k, v); err != nil {
			return nil, t.at(entry, err)
		}
	}
	return d, nil
}

func (d *dict) set(k, v value) error {
	switch k.(type) {
	case nil, bool, int, float64, string:
	default:
		return fmt.Errorf("a %s cannot be a key; use text or a number", kind(k))
	}
	if _, ok := d.items[k]; !ok {
		d.keys = append(d.keys, k)
	}
	d.items[k] = v
	return nil
}

func (t *translator) unary(x *syntax.UnaryExpr) (value, error) {
	if x.X == nil {
		return nil, t.errorf(x, "a star stands alone; leave it out")
	}
	v, err := t.expr(x.X)
	if err != nil {
		return nil, err
	}
	if x.Op == syntax.NOT {
		return !truth(v), nil
	}
	if _, ok := number(v); !ok || x.Op != syntax.MINUS && x.Op != syntax.PLUS {
		return nil, t.errorf(x, "%s cannot stand before a %s; write the number that is meant", x.Op, kind(v))
	}
	sign := -1
	if x.Op == syntax.PLUS {
		sign = 1
	}
	v, err = arithmetic(syntax.STAR, sign, v)
	return v, t.at(x, err)
}

func (t *translator) binary(x *syntax.BinaryExpr) (value, error) {
	a, err := t.expr(x.X)
	if err != nil {
		return nil, err
	}
	if x.Op == syntax.AND && !truth(a) || x.Op == syntax.OR && truth(a) {
		return a, nil
	}
	b, err := t.expr(x.Y)
	if err != nil || x.Op == syntax.AND || x.Op == syntax.OR {
		return b, err
	}
	v, err := t.operate(x.Op, a, b)
	return v, t.at(x, err)
}

// items returns what a loop goes over.
func (t *translator) items(v value) ([]value, error) {
	switch v := v.(type) {
	case *list:
		return slices.Clone(v.items), t.spend(len(v.items))
	case *dict:
		return slices.Clone(v.keys), t.spend(len(v.keys))
	case string:
		if err := t.spend(len(v)); err != nil {
			return nil, err
		}
		var items []value
		for _, r := range v {
			items = append(items, string(r))
		}
		return items, nil
	}
	return nil, fmt.Errorf("a %s has no items; write a list, a tuple or range(…)", kind(v))
}

func (t *translator) index(x *syntax.IndexExpr) (value, error) {
	of, err := t.expr(x.X)
	if err != nil {
		return nil, err
	}
	key, err := t.expr(x.Y)
	if err != nil {
		return nil, err
	}
	if d, ok := of.(*dict); ok {
		if err := t.read(key); err != nil {
			return nil, t.at(x, err)
		}
		if _, isList := key.(*list); !isList {
			if v, ok := d.items[key]; ok {
				return v, nil
			}
		}
		return nil, t.errorf(x, "there is no such key; write the value itself")
	}
	if _, ok := of.(string); !ok {
		if _, ok := of.(*list); !ok {
			return nil, t.errorf(x, "a %s has no items; write the value itself", kind(of))
		}
	}
	items, err := t.items(of)
	if err != nil {
		return nil, t.at(x, err)
	}
	i, err := index(key, len(items))
	if err != nil {
		return nil, t.at(x, err)
	}
	return items[i], nil
}

// index returns the position that a key means in n items.
func index(key value, n int) (int, error) {
	i, ok := key.(int)
	if !ok {
		return 0, fmt.Errorf("an item has a whole number, not a %s", kind(key))
	}
	if i < 0 {
		i += n
	}
	if i < 0 || i >= n {
		return 0, fmt.Errorf("there is no item %v: there are %d, counted from 0", key, n)
	}
	return i, nil
}

func (t *translator) slice(x *syntax.SliceExpr) (value, error) {
	of, err := t.expr(x.X)
	if err != nil {
		return nil, err
	}
	items, err := t.items(of)
	if err != nil {
		return nil, t.at(x, err)
	}
	bound := func(x syntax.Expr, none int) (int, error) {
		if x == nil {
			return none, nil
		}
		v, err := t.expr(x)
		if err != nil {
			return 0, err
		}
		i, ok := v.(int)
		if !ok {
			return 0, t.errorf(x, "a slice needs whole numbers, not a %s", kind(v))
		}
		if i < 0 {
			i += len(items)
		}
		return min(max(i, 0), len(items)), nil
	}
	if x.Step != nil {
		return nil, t.errorf(x, "a slice with a step is not supported; write the items")
	}
	low, err := bound(x.Lo, 0)
	if err != nil {
		return nil, err
	}
	high, err := bound(x.Hi, len(items))
	if err != nil {
		return nil, err
	}
	part := items[low:max(low, high)]
	if _, ok := of.(string); ok {
		var b strings.Builder
		for _, r := range part {
			b.WriteString(r.(string))
		}
		return b.String(), nil
	}
	l, ok := of.(*list)
	return &list{part, ok && l.tuple}, nil
}

// comprehension builds a list; of a dict it makes none.
func (t *translator) comprehension(x *syntax.Comprehension) (value, error) {
	if x.Curly {
		return nil, t.errorf(x, "a dict cannot be built by a loop here; write its entries")
	}
	out := &list{}
	var clause func(rest []syntax.Node) error
	clause = func(rest []syntax.Node) error {
		if len(rest) == 0 {
			v, err := t.expr(x.Body)
			out.items = append(out.items, v)
			return err
		}
		switch c := rest[0].(type) {
		case *syntax.IfClause:
			cond, err := t.expr(c.Cond)
			if err != nil || !truth(cond) {
				return err
			}
			return clause(rest[1:])
		case *syntax.ForClause:
			over, err := t.expr(c.X)
			if err != nil {
				return err
			}
			items, err := t.items(over)
			if err != nil {
				return t.at(c.X, err)
			}
			for _, item := range items {
				if err := t.assign(c.Vars, item); err != nil {
					return err
				}
				if err := clause(rest[1:]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return out, clause(x.Clauses)
}
