// Package confirm reads what a person answers where a yes has something done.
package confirm

import (
	"strings"
	"unicode"
)

// What [Read] makes of the short forms, too.
const (
	Yes = "yes"
	No  = "no"
)

// marks may end a word, and say nothing.
const marks = ".,;:!"

// Read returns the first word of an answer, in lower case and without the marks behind it, and
// what else it says. "y" is [Yes], and "n" is [No].
func Read(answer string) (word, rest string) {
	answer = strings.TrimSpace(answer)
	word = answer
	if i := strings.IndexFunc(answer, unicode.IsSpace); i >= 0 {
		word, rest = answer[:i], strings.TrimSpace(answer[i:])
	}
	if strings.Trim(rest, marks) == "" {
		rest = ""
	}
	switch word = strings.ToLower(strings.Trim(word, marks)); word {
	case "y":
		word = Yes
	case "n":
		word = No
	}
	return word, rest
}

// IsYes reports whether an answer is a plain yes. One with a condition is none, and neither is
// what is unclear.
func IsYes(answer string) bool {
	word, rest := Read(answer)
	return word == Yes && rest == ""
}
