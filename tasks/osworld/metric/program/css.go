package program

import (
	"fmt"
	"strings"
)

// cssToXPath translates a list of CSS selectors to XPath, as far as selectors of
// accessibility trees go: names and attributes with or without namespace (attr|id), *,
// #id, .class, the combinators, and the pseudo-classes :first-child, :last-child,
// :only-child, :nth-child and :nth-last-child with a number, odd or even, :empty, :root,
// :contains, :not, :is, :where and :has.
func cssToXPath(css string, namespaces map[string]string) (string, error) {
	p := &cssParser{text: css, namespaces: namespaces}
	path, err := p.list("//", " | ")
	if err == nil && p.at < len(css) {
		err = p.unsupported("here")
	}
	if err != nil {
		return "", fmt.Errorf("selector %q: %w", css, err)
	}
	return path, nil
}

// maxNesting is how deep selectors may stand in pseudo-classes.
const maxNesting = 5

// A cssParser reads selectors and writes XPath.
type cssParser struct {
	text       string
	at         int
	nesting    int
	namespaces map[string]string
}

// list reads selectors with commas between them. The first element of each is looked for
// along an axis.
func (p *cssParser) list(axis, separator string) (string, error) {
	var paths []string
	for {
		path, err := p.complex(axis)
		if err != nil {
			return "", err
		}
		paths = append(paths, path)
		if p.space(); !p.accept(",") {
			return strings.Join(paths, separator), nil
		}
	}
}

// complex reads elements with combinators between them. In a pseudo-class, which the axis
// shows, the first may have one too.
func (p *cssParser) complex(axis string) (string, error) {
	p.space()
	var path strings.Builder
	if leading, ok := p.combinator(); ok && axis == "descendant::" {
		if strings.HasSuffix(leading, "[1]") {
			return "", p.unsupported("+ in :has")
		}
		axis = strings.TrimPrefix(leading, "/")
		if axis == "" {
			axis = "child::"
		}
	} else if ok {
		return "", p.unsupported("a combinator at the start")
	}
	p.space()
	for {
		test, err := p.compound()
		if err != nil {
			return "", err
		}
		if strings.HasSuffix(axis, "[1]") { // the next sibling must itself be the element
			path.WriteString(axis + "[self::" + test + "]")
		} else {
			path.WriteString(axis + test)
		}
		before := p.at
		p.space()
		next, ok := p.combinator()
		switch {
		case !ok && (p.at == before || p.at == len(p.text) || strings.IndexByte(",)", p.text[p.at]) >= 0):
			return path.String(), nil
		case strings.HasPrefix(path.String(), "self::"):
			return "", p.unsupported("a combinator in :not, :is or :where")
		case p.nesting > 0 && strings.HasSuffix(next, "[1]"):
			return "", p.unsupported("+ in :has")
		case ok:
			p.space()
			axis = next
		default: // only space between the two
			axis = "//"
		}
	}
}

// combinator reads a combinator other than space.
func (p *cssParser) combinator() (axis string, ok bool) {
	switch {
	case p.accept(">"):
		return "/", true
	case p.accept("+"):
		return "/following-sibling::*[1]", true
	case p.accept("~"):
		return "/following-sibling::", true
	}
	return "", false
}

// compound reads one element with its conditions.
func (p *cssParser) compound() (string, error) {
	start := p.at
	test, err := p.element()
	if err != nil {
		return "", err
	}
	for {
		var condition string
		switch {
		case p.accept("["):
			condition, err = p.attribute()
		case p.accept("#"):
			condition, err = p.named("id", "=")
		case p.accept("."):
			condition, err = p.named("class", "~=")
		case p.accept("::"):
			err = p.unsupported("a pseudo-element")
		case p.accept(":"):
			condition, err = p.pseudo()
		case p.at == start:
			return "", p.unsupported("here")
		default:
			return test, nil
		}
		if err != nil {
			return "", err
		}
		test += "[" + condition + "]"
	}
}

// element reads the name of an element, which may be absent.
func (p *cssParser) element() (test string, err error) {
	prefix, local, hasPrefix, err := p.qualified()
	switch {
	case err != nil:
		return "", err
	case local == "" && !hasPrefix:
		return "*", nil
	case local == "":
		return "", p.unsupported("a namespace without a name")
	case !hasPrefix || prefix == "*" && local == "*":
		return local, nil
	case prefix == "*":
		return "*[local-name()=" + quote(local) + "]", nil
	case prefix != "" && local != "*":
		return prefix + ":" + local, nil
	}
	test = "*[namespace-uri()=" + quote(p.namespaces[prefix]) + "]"
	if local != "*" {
		test += "[local-name()=" + quote(local) + "]"
	}
	return test, nil
}

// qualified reads a name or * with or without a namespace, or nothing.
func (p *cssParser) qualified() (prefix, local string, hasPrefix bool, err error) {
	if local, err = p.starOrName(); err != nil || p.peek("|=") || !p.accept("|") {
		return "", local, false, err
	}
	prefix = local
	if _, known := p.namespaces[prefix]; !known && prefix != "" && prefix != "*" {
		return "", "", false, fmt.Errorf("namespace %q is not known", prefix)
	}
	local, err = p.starOrName()
	return prefix, local, true, err
}

// starOrName reads a name or *, or nothing.
func (p *cssParser) starOrName() (string, error) {
	if p.accept("*") {
		return "*", nil
	}
	if p.at < len(p.text) && strings.IndexByte("-0123456789", p.text[p.at]) >= 0 {
		return "", p.unsupported("a name that begins so")
	}
	return p.word(), nil
}

// attribute reads the rest of [name], [name="value"] and so on.
func (p *cssParser) attribute() (condition string, err error) {
	p.space()
	prefix, local, hasPrefix, err := p.qualified()
	if err != nil {
		return "", err
	}
	if local == "" || local == "*" {
		return "", p.unsupported("an attribute without a name")
	}
	name := "@" + local
	if prefix == "*" {
		name = "@*[local-name()=" + quote(local) + "]"
	} else if hasPrefix && prefix != "" {
		name = "@" + prefix + ":" + local
	}
	p.space()
	if p.accept("]") {
		return name, nil
	}
	operator := ""
	for _, op := range []string{"=", "!=", "~=", "|=", "^=", "$=", "*="} {
		if operator == "" && p.accept(op) {
			operator = op
		}
	}
	if operator == "" {
		return "", p.unsupported("an operator other than = != ~= |= ^= $= *=")
	}
	p.space()
	value, err := p.value()
	if err != nil {
		return "", err
	}
	if p.space(); !p.accept("]") {
		return "", p.unsupported("a flag, or something else before the ]")
	}
	return attributeTest(name, operator, value), nil
}

// attributeTest is the condition that an attribute has a value, or a part of one. No part
// is empty.
func attributeTest(name, operator, value string) string {
	v := quote(value)
	switch {
	case operator == "=":
		return name + "=" + v
	case operator == "!=":
		return "not(" + name + "=" + v + ")"
	case operator == "|=":
		return name + "=" + v + " or starts-with(" + name + ", " + quote(value+"-") + ")"
	case value == "", operator == "~=" && strings.ContainsAny(value, " \t\r\n"):
		return "false()"
	case operator == "~=":
		return name + " and contains(concat(' ', normalize-space(" + name + "), ' '), " + quote(" "+value+" ") + ")"
	case operator == "^=":
		return name + " and starts-with(" + name + ", " + v + ")"
	case operator == "$=":
		return name + " and ends-with(" + name + ", " + v + ")"
	}
	return name + " and contains(" + name + ", " + v + ")"
}
