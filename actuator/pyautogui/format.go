package pyautogui

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxWidth bounds the width and the precision that a format asks for.
const maxWidth = 200

// A layout is a format specification, such as ">08.2f".
type layout struct {
	fill      string
	align     byte // '<', '>', '^', '=' or 0
	sign      byte // '+', ' ' or 0
	comma     bool
	width     int
	precision int  // -1 if there is none
	verb      byte // 0 if there is none
}

var errLayout = errors.New("this format is not supported; write the text as it shall be")

// parseLayout reads Python's format specification mini-language.
func parseLayout(s string) (l layout, err error) {
	l = layout{fill: " ", precision: -1}
	if _, n := utf8.DecodeRuneInString(s); len(s) > n && strings.IndexByte("<>^=", s[n]) >= 0 {
		l.fill, l.align, s = s[:n], s[n], s[n+1:]
	} else if s != "" && strings.IndexByte("<>^=", s[0]) >= 0 {
		l.align, s = s[0], s[1:]
	}
	if s != "" && strings.IndexByte("+- ", s[0]) >= 0 {
		l.sign, s = s[0], s[1:]
	}
	if strings.HasPrefix(s, "0") && l.align == 0 {
		l.fill, l.align = "0", '='
	}
	l.width, s = digits(s, 0)
	if strings.HasPrefix(s, ",") {
		l.comma, s = true, s[1:]
	}
	if strings.HasPrefix(s, ".") {
		l.precision, s = digits(s[1:], -1)
	}
	if s != "" {
		l.verb, s = s[0], s[1:]
	}
	if s != "" || l.width > maxWidth || l.precision > maxWidth {
		return l, errLayout
	}
	return l, nil
}

// digits reads a number, or none, from the beginning of s.
func digits(s string, none int) (n int, rest string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if i == 0 {
		return none, s
	}
	n, err := strconv.Atoi(s[:i])
	if err != nil {
		n = math.MaxInt
	}
	return n, s[i:]
}

// apply formats a value; text is its str.
func (l layout) apply(v value, text string) (string, error) {
	f, numeric := number(v)
	if _, isBool := v.(bool); isBool { // a number, once it is formatted
		v, text = int(f), strconv.Itoa(int(f))
	}
	if !numeric {
		if l.verb != 0 && l.verb != 's' || l.sign != 0 || l.comma || l.align == '=' && l.fill != "0" {
			return "", errLayout
		}
		if n := utf8.RuneCountInString(text); l.precision >= 0 && n > l.precision {
			text = string([]rune(text)[:l.precision])
		}
		if l.align == '=' {
			l.align = '<'
		}
		return l.pad("", text, '<'), nil
	}
	body, err := l.digits(v, math.Abs(f), text)
	if err != nil {
		return "", err
	}
	sign := ""
	switch {
	case f < 0 || f == 0 && math.Signbit(f):
		sign = "-"
	case l.sign == '+' || l.sign == ' ':
		sign = string(l.sign)
	}
	return l.pad(sign, body, '>'), nil
}

// digits formats a number without its sign.
func (l layout) digits(v value, f float64, text string) (body string, err error) {
	_, isFloat := v.(float64)
	switch l.verb {
	case 0:
		body = strings.TrimPrefix(text, "-")
		if l.precision >= 0 {
			body = strconv.FormatFloat(f, 'g', max(1, l.precision), 64)
		}
	case 'd', 'i', 'u', 'x', 'X', 'o', 'b':
		if isFloat || l.precision >= 0 {
			return "", errLayout
		}
		base := map[byte]int{'x': 16, 'X': 16, 'o': 8, 'b': 2}[l.verb]
		body = strconv.FormatInt(int64(f), max(base, 10*b2i(base == 0)))
		if l.verb == 'X' {
			body = strings.ToUpper(body)
		}
	case 'f', 'F', 'e', 'g', '%':
		precision, verb := l.precision, l.verb|0x20
		if precision < 0 {
			precision = 6
		}
		if l.verb == '%' {
			f, verb = f*100, 'f'
		}
		body = strconv.FormatFloat(f, verb, precision, 64)
		if l.verb == '%' {
			body += "%"
		}
	default:
		return "", errLayout
	}
	if l.comma {
		n := strings.IndexFunc(body+".", func(r rune) bool { return r < '0' || r > '9' })
		for i := n - 3; i > 0; i -= 3 {
			body = body[:i] + "," + body[i:]
		}
	}
	return body, nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// pad fills up to the width; side is where text stands by itself.
func (l layout) pad(sign, text string, side byte) string {
	if l.align != 0 {
		side = l.align
	}
	missing := l.width - utf8.RuneCountInString(sign+text)
	if missing <= 0 {
		return sign + text
	}
	fill := func(n int) string { return strings.Repeat(l.fill, n) }
	switch side {
	case '<':
		return sign + text + fill(missing)
	case '^':
		return fill(missing/2) + sign + text + fill(missing-missing/2)
	case '=':
		return sign + fill(missing) + text
	}
	return fill(missing) + sign + text
}

// percent formats as the operator % of strings does. show is str, or repr.
func percent(format string, args []value, show func(v value, repr bool) string) (string, error) {
	var out strings.Builder
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			break
		}
		out.WriteString(format[:i])
		format = format[i+1:]
		n := strings.IndexFunc(format, func(r rune) bool { return !strings.ContainsRune("0123456789.-+ ", r) })
		if n < 0 {
			return "", errors.New("a % in the text has no letter behind it; write %% for the character")
		}
		flags, verb := format[:n], format[n]
		format = format[n+1:]
		if verb == '%' {
			out.WriteByte('%')
			continue
		}
		if len(args) == 0 {
			return "", errors.New("there are fewer values than % in the text; write %% for the character")
		}
		text, err := percentOne(flags, verb, args[0], show)
		if err != nil {
			return "", err
		}
		out.WriteString(text)
		args = args[1:]
	}
	if len(args) > 0 {
		return "", errors.New("there are more values than % in the text; leave out what is not used")
	}
	out.WriteString(format)
	return out.String(), nil
}

func percentOne(flags string, verb byte, v value, show func(v value, repr bool) string) (string, error) {
	spec := flags
	if rest, ok := strings.CutPrefix(flags, "-"); ok {
		spec = "<" + strings.TrimPrefix(rest, "0")
	}
	l, err := parseLayout(spec)
	if err != nil {
		return "", err
	}
	switch verb {
	case 's', 'r':
		text := show(v, verb == 'r')
		if l.align == 0 {
			l.align = '>'
		}
		return l.apply(text, text)
	case 'd', 'i', 'u':
		if f, ok := v.(float64); ok {
			v = int(math.Trunc(f))
		}
	}
	if _, ok := number(v); !ok {
		return "", fmt.Errorf("%%%c needs a number, not %s; write %%s", verb, kind(v))
	}
	l.verb = verb
	return l.apply(v, "")
}
