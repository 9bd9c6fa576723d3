package actuator

import (
	"fmt"
	"strings"
)

// What a [Parser] takes at most: more is a slip of the model, or an attack.
const (
	MaxReply   = 256 << 10 // bytes of a reply's text, or of the arguments of one call
	MaxActions = 100       // in one reply
)

// SplitLabels returns what a reply's text says behind "Thought:" and "Expect:",
// each of which may go on over several lines. Text before the first label, or
// without any, is thought. Text behind "Action:" or the like is neither. Case
// and Markdown around a label do not matter.
func SplitLabels(text string) (thought, expect string) {
	parts := map[string]*strings.Builder{"thought": {}, "expect": {}, "": {}}
	current := parts["thought"]
	for line := range strings.Lines(text) {
		if label, rest, ok := cutLabel(line); ok {
			current, line = parts[label], rest
			if current.Len() > 0 {
				current.WriteByte('\n')
			}
		}
		current.WriteString(line)
	}
	return strings.TrimSpace(parts["thought"].String()), strings.TrimSpace(parts["expect"].String())
}

// cutLabel returns the part that a line begins, and the rest of the line.
func cutLabel(line string) (label, rest string, ok bool) {
	head, rest, found := strings.Cut(line, ":")
	if !found || len(head) > 40 {
		return "", "", false
	}
	// "**Thought:** I see" and "### Expect" are labels with Markdown around them.
	switch strings.ToLower(strings.Trim(head, " \t*_#>-")) {
	case "thought", "thoughts", "reasoning":
		label = "thought"
	case "expect", "expected", "expected effect", "expected result", "expectation":
		label = "expect"
	case "action", "actions", "code":
		label = ""
	default:
		return "", "", false
	}
	if stars := strings.TrimLeft(head, " \t#>-"); strings.HasPrefix(stars, "*") || strings.HasPrefix(stars, "_") {
		rest = strings.TrimLeft(rest, "*_")
	}
	return label, strings.TrimLeft(rest, " \t"), true
}

// TooLong returns the error for a reply, or a part of it, of n bytes, or nil if
// that is not more than [MaxReply].
func TooLong(n int) error {
	if n <= MaxReply {
		return nil
	}
	return &ParseError{Message: fmt.Sprintf("the reply has %d bytes and was not read; at most %d are, so write a few short actions", n, MaxReply)}
}
