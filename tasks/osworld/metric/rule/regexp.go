package rule

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/dlclark/regexp2"
)

// matchTime bounds one search with a pattern that needs backtracking.
const matchTime = 2 * time.Second

// A Regexp is a regular expression of Python's re module for texts. It runs on
// Go's engine, whose time is linear, where that means the same; else on a
// backtracking one with a time limit.
type Regexp struct {
	pattern string
	fast    *regexp.Regexp  // nil if Go's engine cannot do it
	exact   *regexp2.Regexp // nil if that engine cannot do it
	ascii   bool            // fast means the same for texts in ASCII only
}

// Compile reads a pattern. The flags are names of Python's re module, such as "I" or
// "MULTILINE".
func Compile(pattern string, flags ...string) (*Regexp, error) {
	var options regexp2.RegexOptions
	var letters []byte
	for _, flag := range flags {
		switch flag {
		case "I", "IGNORECASE":
			options |= regexp2.IgnoreCase
			letters = append(letters, 'i')
		case "M", "MULTILINE":
			options |= regexp2.Multiline
			letters = append(letters, 'm')
		case "S", "DOTALL":
			options |= regexp2.Singleline
			letters = append(letters, 's')
		case "X", "VERBOSE":
			options |= regexp2.IgnorePatternWhitespace
		case "A", "ASCII", "U", "UNICODE":
			// Classes such as \w are read as Unicode's: ASCII is their subset.
		default:
			return nil, fmt.Errorf("regular expression %.200q: unknown flag %q: use I, M, S or X", pattern, flag)
		}
	}
	re := &Regexp{pattern: pattern}
	plain, ascii := sameInGo(pattern, options&regexp2.Multiline != 0)
	if plain && options&regexp2.IgnorePatternWhitespace == 0 {
		text := pattern
		if len(letters) > 0 {
			text = "(?" + string(letters) + ")" + pattern
		}
		if fast, err := regexp.Compile(text); err == nil {
			re.fast, re.ascii = fast, ascii
		}
	}
	exact, err := regexp2.Compile(translate(pattern), options)
	switch {
	case err == nil:
		exact.MatchTimeout = matchTime
		re.exact = exact
	case re.fast == nil:
		return nil, fmt.Errorf("regular expression %.200q: %w", pattern, err)
	}
	return re, nil
}

// Search reports whether the pattern is found anywhere in text.
func (r *Regexp) Search(text string) (bool, error) {
	if r.fast != nil && (!r.ascii || r.exact == nil || isASCII(text)) {
		return r.fast.MatchString(text), nil
	}
	found, err := r.exact.MatchString(text)
	if err != nil {
		return false, fmt.Errorf("regular expression %.200q: took more than %s: simplify it", r.pattern, matchTime)
	}
	return found, nil
}

// sameInGo reports whether Go's engine takes a pattern as Python's does. It does not
// where $ also matches before a last newline, where a repetition has no lower bound,
// or where inline flags or \Z come in. Where classes such as \w are used, it does for
// texts in ASCII, as Python's are Unicode's.
func sameInGo(pattern string, multiline bool) (same, ascii bool) {
	inClass := false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
			if i < len(pattern) {
				switch pattern[i] {
				case 'd', 'D', 'w', 'W', 's', 'S', 'b', 'B':
					ascii = true
				case 'Z', 'z', 'p', 'P', 'Q', 'C':
					return false, false
				}
			}
		case inClass:
			inClass = c != ']'
			if strings.HasPrefix(pattern[i:], "[:") {
				return false, false
			}
		case c == '[':
			inClass = true
			i += classStart(pattern[i:])
			if strings.HasPrefix(pattern[i:], "[[:") {
				return false, false
			}
		case c == '$' && !multiline, strings.HasPrefix(pattern[i:], "{,"), inlineFlags(pattern[i:]):
			return false, false
		}
	}
	return true, ascii
}

// classStart is how many bytes after a class's [ cannot end it: those of "^" and of
// a "]" that comes first.
func classStart(s string) int {
	n := 0
	if strings.HasPrefix(s[n+1:], "^") {
		n++
	}
	if strings.HasPrefix(s[n+1:], "]") {
		n++
	}
	return n
}

func inlineFlags(s string) bool {
	return len(s) > 2 && s[:2] == "(?" && (s[2] == '-' || s[2] >= 'a' && s[2] <= 'z')
}

// translate writes a Python pattern in the language of regexp2, which is .NET's.
func translate(pattern string) string {
	var b strings.Builder
	inClass := false
	for i := 0; i < len(pattern); i++ {
		rest := pattern[i:]
		switch {
		case strings.HasPrefix(rest, `\Z`) && !inClass:
			b.WriteString(`\z`)
			i++
		case rest[0] == '\\' && len(rest) > 1:
			b.WriteString(rest[:2])
			i++
		case inClass:
			inClass = rest[0] != ']'
			if rest[0] == '[' {
				b.WriteByte('\\') // .NET would subtract a class
			}
			b.WriteByte(rest[0])
		case rest[0] == '[':
			inClass = true
			n := classStart(rest)
			b.WriteString(rest[:n+1])
			i += n
		case strings.HasPrefix(rest, "(?P<"):
			b.WriteString("(?<")
			i += 3
		case strings.HasPrefix(rest, "(?P=") && strings.Contains(rest, ")"):
			end := strings.Index(rest, ")")
			b.WriteString(`\k<` + rest[4:end] + ">")
			i += end
		case strings.HasPrefix(rest, "{,"):
			b.WriteString("{0,")
			i++
		default:
			b.WriteByte(rest[0])
		}
	}
	return b.String()
}

// isASCII reports whether Go's classes mean the same for a text as Python's. The
// vertical tab is white space for Python only.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 || s[i] == '\v' {
			return false
		}
	}
	return true
}

// String returns the pattern, in quotes.
func (r *Regexp) String() string { return fmt.Sprintf("%.200q", r.pattern) }
