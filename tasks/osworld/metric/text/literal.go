package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// literal reads a literal of Python: texts, numbers, True, False, None, lists, tuples,
// sets and maps with keys that are texts. Type annotations of GVariant, as in "@as []",
// are skipped. It executes nothing.
func literal(text string) (any, error) {
	p := &literalParser{rest: text}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if p.skip(); p.rest != "" {
		return nil, p.wrong()
	}
	return v, nil
}

type literalParser struct{ rest string }

func (p *literalParser) wrong() error {
	if p.rest == "" {
		return fmt.Errorf("it ends too soon")
	}
	return fmt.Errorf("%.20q is not a literal", p.rest)
}

func (p *literalParser) skip() { p.rest = strings.TrimLeftFunc(p.rest, space) }

// eat takes a token away if it comes next.
func (p *literalParser) eat(token string) bool {
	p.skip()
	rest, ok := strings.CutPrefix(p.rest, token)
	p.rest = rest
	return ok
}

func (p *literalParser) value(depth int) (any, error) {
	if depth > 100 {
		return nil, fmt.Errorf("it is nested too deep")
	}
	if p.eat("@") {
		_, after, ok := strings.Cut(p.rest, " ")
		if !ok {
			return nil, p.wrong()
		}
		p.rest = after
	}
	switch {
	case p.eat("["):
		return p.list("]", depth)
	case p.eat("("):
		return p.list(")", depth)
	case p.eat("{"):
		return p.braces(depth)
	case strings.HasPrefix(p.rest, "'"), strings.HasPrefix(p.rest, `"`):
		return p.text()
	}
	n := strings.IndexFunc(p.rest, func(r rune) bool { return space(r) || strings.ContainsRune(",:]})", r) })
	if n < 0 {
		n = len(p.rest)
	}
	word := p.rest[:n]
	switch word {
	case "True":
		p.rest = p.rest[n:]
		return true, nil
	case "False":
		p.rest = p.rest[n:]
		return false, nil
	case "None":
		p.rest = p.rest[n:]
		return nil, nil
	}
	if f, err := strconv.ParseFloat(strings.ReplaceAll(word, "_", ""), 64); err == nil && strings.Trim(word[:1], "+-.0123456789") == "" {
		p.rest = p.rest[n:]
		return f, nil
	}
	return nil, p.wrong()
}

func (p *literalParser) list(end string, depth int) (any, error) {
	items := []any{}
	for !p.eat(end) {
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
		if !p.eat(",") {
			if !p.eat(end) {
				return nil, p.wrong()
			}
			break
		}
	}
	return items, nil
}

// braces reads a map, or a set as a list.
func (p *literalParser) braces(depth int) (any, error) {
	object, items := map[string]any{}, []any{}
	for !p.eat("}") {
		key, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if p.eat(":") {
			v, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			object[repr(key)] = v
		} else {
			items = append(items, key)
		}
		if !p.eat(",") {
			if !p.eat("}") {
				return nil, p.wrong()
			}
			break
		}
	}
	switch {
	case len(items) == 0:
		return object, nil
	case len(object) == 0:
		return items, nil
	}
	return nil, fmt.Errorf("it mixes a map with a set")
}

func (p *literalParser) text() (any, error) {
	end := p.rest[0]
	rest := p.rest[1:]
	var b strings.Builder
	for rest != "" {
		switch c := rest[0]; {
		case c == end:
			p.rest = rest[1:]
			return b.String(), nil
		case c == '\\' && len(rest) > 1 && strings.IndexByte(`'"\abfnrtvxuU01234567`, rest[1]) >= 0:
			r, isByte, tail, err := strconv.UnquoteChar(rest, end)
			if err != nil && rest[1] != '\'' && rest[1] != '"' {
				return nil, fmt.Errorf("%.10q is not a known escape", rest)
			}
			if err != nil { // Python lets either quote be escaped in both
				r, isByte, tail = rune(rest[1]), false, rest[2:]
			}
			if isByte { // \xe9 is a code point in Python, not a byte
				r = rune(byte(r))
			}
			b.WriteRune(r)
			rest = tail
		default:
			_, n := utf8.DecodeRuneInString(rest)
			b.WriteString(rest[:n])
			rest = rest[n:]
		}
	}
	return nil, fmt.Errorf("a text has no end")
}
