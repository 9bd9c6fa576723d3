package program

import (
	"fmt"
	"strconv"
	"strings"
)

// named reads the name after # or a dot.
func (p *cssParser) named(attribute, operator string) (string, error) {
	name := p.word()
	if name == "" {
		return "", p.unsupported("here")
	}
	return attributeTest("@"+attribute, operator, name), nil
}

// pseudo reads a pseudo-class after its colon.
func (p *cssParser) pseudo() (condition string, err error) {
	start := p.at
	name := p.word()
	if !p.accept("(") {
		simple := map[string]string{
			"first-child": "not(preceding-sibling::*)",
			"last-child":  "not(following-sibling::*)",
			"only-child":  "not(preceding-sibling::*) and not(following-sibling::*)",
			"empty":       "not(*) and not(text())",
			"root":        "not(parent::*)",
		}
		if condition = simple[name]; condition == "" {
			p.at = start
			return "", p.unsupported("the pseudo-class :" + name)
		}
		return condition, nil
	}
	if p.nesting++; p.nesting > maxNesting {
		return "", p.unsupported("such deep nesting")
	}
	defer func() { p.nesting-- }()
	p.space()
	switch name {
	case "not":
		condition, err = p.list("self::", " or ")
		condition = "not(" + condition + ")"
	case "is", "where":
		condition, err = p.list("self::", " or ")
	case "has":
		condition, err = p.list("descendant::", " or ")
	case "contains":
		var text string
		text, err = p.value()
		condition = "contains(., " + quote(text) + ")"
	case "nth-child", "nth-last-child":
		condition, err = p.nth(map[string]string{"nth-child": "preceding", "nth-last-child": "following"}[name])
	default:
		p.at = start
		return "", p.unsupported("the pseudo-class :" + name)
	}
	if err != nil {
		return "", err
	}
	if p.space(); !p.accept(")") {
		return "", p.unsupported("here")
	}
	return condition, nil
}

// nth reads a number, odd or even, the place among the siblings.
func (p *cssParser) nth(side string) (string, error) {
	start := p.at
	siblings := "count(" + side + "-sibling::*)"
	switch word := p.word(); word {
	case "odd":
		return siblings + " mod 2 = 0", nil
	case "even":
		return siblings + " mod 2 = 1", nil
	default:
		n, err := strconv.Atoi(word)
		if err != nil {
			p.at = start
			return "", p.unsupported("a place other than a number, odd or even")
		}
		return fmt.Sprintf("%s = %d", siblings, n-1), nil
	}
}

// value reads a text in quotes, or a word.
func (p *cssParser) value() (string, error) {
	if !p.peek(`"`) && !p.peek("'") {
		if word := p.word(); word != "" {
			return word, nil
		}
		return "", p.unsupported("a value without quotes")
	}
	end := p.text[p.at]
	var text strings.Builder
	for i := p.at + 1; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == end:
			p.at = i + 1
			return text.String(), nil
		case c == '\\' && i+1 < len(p.text) && !isHex(p.text[i+1]):
			i++
			text.WriteByte(p.text[i])
		case c == '\\':
			p.at = i
			return "", p.unsupported("an escape by number")
		default:
			text.WriteByte(c)
		}
	}
	return "", p.unsupported("a text without an end")
}

// word reads letters, digits, hyphens and low lines.
func (p *cssParser) word() string {
	start := p.at
	for p.at < len(p.text) && isName(p.text[p.at]) {
		p.at++
	}
	return p.text[start:p.at]
}

// isName reports whether a byte may be part of a name. Those of letters beyond ASCII may.
func isName(c byte) bool {
	return c == '-' || c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// isHex reports whether a byte is a hexadecimal digit.
func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// space skips white space.
func (p *cssParser) space() {
	p.at = len(p.text) - len(strings.TrimLeft(p.text[p.at:], " \t\r\n\f"))
}

// peek reports whether the text goes on with a token.
func (p *cssParser) peek(token string) bool {
	return strings.HasPrefix(p.text[p.at:], token)
}

// accept reads a token if it is there.
func (p *cssParser) accept(token string) bool {
	if !p.peek(token) {
		return false
	}
	p.at += len(token)
	return true
}

// unsupported is the error for what cannot be translated.
func (p *cssParser) unsupported(what string) error {
	return fmt.Errorf("%s is not supported, at %.40q: write an xpath instead", what, p.text[p.at:])
}

// quote writes a text as an expression of XPath, which has no escapes.
func quote(text string) string {
	switch {
	case !strings.Contains(text, "'"):
		return "'" + text + "'"
	case !strings.Contains(text, `"`):
		return `"` + text + `"`
	}
	return "concat('" + strings.ReplaceAll(text, "'", `', "'", '`) + "')"
}
