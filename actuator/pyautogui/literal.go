package pyautogui

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"desktop-agent/actuator"

	"go.starlark.net/syntax"
)

// literal rewrites a string literal by Python's rules: a name stands for it.
// Literals side by side are one.
func (r *rewriter) literal(prefix string) error {
	at := r.at
	at.column -= int32(len(prefix))
	prefix = strings.ToLower(prefix)
	raw := strings.Contains(prefix, "r")
	if strings.Contains(prefix, "b") {
		return r.errorf(at, "bytes cannot be typed; leave out the b before the quotes")
	}
	body, err := r.body(at)
	if err != nil {
		return err
	}
	var parts literal
	if strings.Contains(prefix, "f") {
		parts, err = r.format(body, raw, at)
	} else {
		var text string
		text, err = unescape(body, raw)
		parts = literal{{text: text}}
	}
	if err != nil {
		if _, placed := errors.AsType[*actuator.ParseError](err); placed {
			return err
		}
		return r.errorf(at, "%v", err)
	}
	if r.last == "" {
		r.last = fmt.Sprintf("%stext%d", reserved, len(r.literals))
		r.put(r.last, at)
	}
	r.literals[r.last] = append(r.literals[r.last], parts...)
	r.fresh = false
	return nil
}

// body reads a literal from its quotes on, and returns what is between them.
func (r *rewriter) body(at location) (string, error) {
	quote := r.rest[:1]
	if strings.HasPrefix(r.rest, strings.Repeat(quote, 3)) {
		quote = r.rest[:3]
	}
	r.take(len(quote))
	for i := 0; i < len(r.rest); i++ {
		switch {
		case strings.HasPrefix(r.rest[i:], quote):
			body := r.take(i)
			r.take(len(quote))
			return body, nil
		case r.rest[i] == '\\':
			i++
		case r.rest[i] == '\n' && len(quote) == 1:
			return "", r.errorf(at, `the string does not end on its line; write \n for a line break, or put the text in three quotes: """…"""`)
		}
	}
	return "", r.errorf(at, "the string does not end; close it with %s", quote)
}

// unescape replaces Python's escapes. One that Python does not know stays as it
// is, backslash and all, as in Python.
func unescape(s string, raw bool) (string, error) {
	if raw || !strings.Contains(s, `\`) {
		return s, nil
	}
	var out strings.Builder
	for s != "" {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i == len(s)-1 {
			break
		}
		out.WriteString(s[:i])
		c, n, err := escape(s[i:])
		if err != nil {
			return "", err
		}
		out.WriteString(c)
		s = s[i+n:]
	}
	out.WriteString(s)
	return out.String(), nil
}

var simpleEscapes = map[byte]string{
	'\n': "", '\\': `\`, '\'': "'", '"': `"`, 'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v",
}

// escape returns what the escape at the beginning of s means, and its length.
func escape(s string) (text string, n int, err error) {
	if text, ok := simpleEscapes[s[1]]; ok {
		return text, 2, nil
	}
	switch digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[1]]; {
	case s[1] >= '0' && s[1] <= '7':
		n = 2
		for n < min(4, len(s)) && s[n] >= '0' && s[n] <= '7' {
			n++
		}
		code, _ := strconv.ParseUint(s[1:n], 8, 32)
		return string(rune(code)), n, nil
	case s[1] == 'N' && strings.HasPrefix(s[2:], "{"):
		return "", 0, errors.New(`names of characters (\N{…}) are not supported; write the character itself`)
	case digits > 0:
		code, ok := hex(s, digits)
		n = 2 + digits
		if r := rune(code); ok && utf16.IsSurrogate(r) { // a pair, as JSON writes it
			low, paired := hex(s[n:], 4)
			if paired = paired && s[n+1] == 'u'; paired {
				r, n = utf16.DecodeRune(r, rune(low)), n+6
			}
			ok, code = paired && r != utf8.RuneError, uint64(r)
		}
		if !ok || code > utf8.MaxRune {
			return "", 0, fmt.Errorf(`\%c must be followed by %d hexadecimal digits of a character; write the character itself, or \\ for a backslash`, s[1], digits)
		}
		return string(rune(code)), n, nil
	}
	_, size := utf8.DecodeRuneInString(s[1:])
	return s[:1+size], 1 + size, nil
}

// hex reads the digits of an escape.
func hex(s string, digits int) (code uint64, ok bool) {
	if len(s) < 2+digits || s[0] != '\\' {
		return 0, false
	}
	code, err := strconv.ParseUint(s[2:2+digits], 16, 32)
	return code, err == nil
}

// format reads the body of an f-string.
func (r *rewriter) format(s string, raw bool, at location) (parts literal, err error) {
	text := func(s string) error {
		s, err := unescape(s, raw)
		parts = append(parts, part{text: s})
		return err
	}
	for s != "" {
		i := 0
		for i < len(s) && s[i] != '{' && s[i] != '}' {
			if s[i] == '\\' && !raw {
				i++
			}
			i++
		}
		i = min(i, len(s))
		if err := text(s[:i]); err != nil {
			return nil, err
		}
		switch s = s[i:]; {
		case s == "":
		case strings.HasPrefix(s, "{{") || strings.HasPrefix(s, "}}"):
			parts = append(parts, part{text: s[:1]})
			s = s[2:]
		case s[0] == '}':
			return nil, errors.New("there is a single } in an f-string; write }} for the character")
		default:
			p, n, err := r.field(s, raw, at)
			if err != nil {
				return nil, err
			}
			parts = append(parts, p)
			s = s[n:]
		}
	}
	return parts, nil
}

// field reads a field of an f-string, {expression!r:spec}, and returns its length.
func (r *rewriter) field(s string, raw bool, at location) (p part, n int, err error) {
	if r.level >= 2 {
		return p, 0, errors.New("f-strings are nested too deeply; write the text as it is")
	}
	end := fieldEnd(s[1:], "!:}") + 1
	if end >= len(s) {
		return p, 0, errors.New("a { in an f-string is not closed; write {{ for the character, and other quotes inside of { } than around the string")
	}
	code := strings.TrimSpace(s[1:end])
	if code == "" || strings.HasSuffix(code, "=") {
		return p, 0, errors.New("the braces of an f-string must hold a name or an expression; write {{ and }} for the characters")
	}
	if s[end] == '!' {
		if end+2 >= len(s) || !strings.ContainsRune("rsa", rune(s[end+1])) {
			return p, 0, errors.New("a ! in an f-string must be followed by r or s")
		}
		p.repr = s[end+1] != 's'
		end += 2
	}
	if s[end] == ':' {
		n := fieldEnd(s[end+1:], "}")
		r.level++
		p.spec, err = r.format(s[end+1:min(end+1+n, len(s))], raw, at)
		r.level--
		if err != nil {
			return p, 0, err
		}
		end += 1 + n
	}
	if end >= len(s) || s[end] != '}' {
		return p, 0, errors.New("a { in an f-string is not closed; write {{ for the character")
	}
	if p.src, err = rewrite("("+code+")", &at, r.level+1); err != nil {
		return p, 0, err
	}
	p.expr, err = (&syntax.FileOptions{}).ParseExpr("code", p.src.text, 0)
	if err != nil {
		return p, 0, p.src.syntaxError(err)
	}
	return p, end + 1, nil
}

// fieldEnd returns where, outside of brackets and quotes, the first of some
// bytes is.
func fieldEnd(s, stops string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case stops != "}" && (c == '"' || c == '\''): // a spec has no quotes
			quote = c
		case depth == 0 && strings.IndexByte(stops, c) >= 0:
			if c != '!' || !strings.HasPrefix(s[i:], "!=") {
				return i
			}
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		}
	}
	return len(s)
}
