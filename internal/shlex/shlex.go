// Package shlex splits a command into its words as Python's module of that name
// does, and quotes words for a shell.
//
// Commands in task files that are one text, and not for a shell, are split by
// Python's shlex in OSWorld, so its rules are the format's, also where a shell has
// others: see [Split].
package shlex

import (
	"errors"
	"fmt"
	"strings"
)

// Split splits a text into words at spaces, tabs and line ends, quotes and
// backslashes heeded, without expanding anything. Between double quotes a
// backslash goes before a double quote and before another backslash only: "a\$b" is
// a\$b, where a shell makes a$b of it. A backslash before the end of a line stands
// for that line end.
func Split(text string) ([]string, error) {
	var words []string
	var word []byte
	quote, begun := byte(0), false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && quote != '\'':
			if i++; i == len(text) {
				return nil, errors.New("nothing follows the backslash at the end")
			}
			if quote == '"' && text[i] != '"' && text[i] != '\\' {
				word = append(word, '\\')
			}
			word, begun = append(word, text[i]), true
		case quote != 0:
			word = append(word, c)
		case c == '\'' || c == '"':
			quote, begun = c, true
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			word, begun = append(word, c), true
		case begun:
			words = append(words, string(word))
			word, begun = word[:0], false
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	if begun {
		words = append(words, string(word))
	}
	return words, nil
}

// Quote writes a text so that it is one word for a shell, and for [Split].
func Quote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
