package worldmodel

import (
	"fmt"
	"strings"

	"desktop-agent/screen"
)

// maxDelta bounds the lines of a delta in each direction.
const maxDelta = 30

// delta tells in lines what the text of the screen lost ("-") and gained ("+")
// between two observations, windows before nodes. IDs and places of nodes are
// left out: they change without meaning.
func delta(before, now *screen.Observation) string {
	if before == nil {
		return "nothing is known of before"
	}
	was, is := textLines(before), textLines(now)
	gone, come := subtract(was, is), subtract(is, was)
	if len(gone)+len(come) == 0 {
		return "nothing"
	}
	return strings.Join(append(signed("- ", gone), signed("+ ", come)...), "\n")
}

// textLines returns a line for each window and each node.
func textLines(o *screen.Observation) []string {
	var lines []string
	for _, w := range o.Windows {
		line := "window " + quoted(w.Title)
		if w.Focused {
			line += " (focused)"
		}
		lines = append(lines, line)
	}
	for _, n := range o.Tree.Nodes {
		line := n.Role + " " + quoted(n.Name)
		if n.Text != "" {
			line += " with " + quoted(n.Text)
		}
		if len(n.States) > 0 {
			line += " (" + strings.Join(n.States, ", ") + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// quoted puts a text in quotes, on one line.
func quoted(s string) string { return `"` + short(strings.Join(strings.Fields(s), " ")) + `"` }

// subtract returns the lines of a without those of b, each as often as it
// occurs, in their order.
func subtract(a, b []string) (rest []string) {
	count := make(map[string]int, len(b))
	for _, line := range b {
		count[line]++
	}
	for _, line := range a {
		if count[line]--; count[line] < 0 {
			rest = append(rest, line)
		}
	}
	return rest
}

// signed puts a sign before each line and says how many are left out.
func signed(sign string, lines []string) []string {
	var out []string
	for i, line := range lines {
		if i == maxDelta {
			return append(out, fmt.Sprintf("%sand %d more", sign, len(lines)-i))
		}
		out = append(out, sign+line)
	}
	return out
}
