package screen

import (
	"fmt"
	"slices"
	"strings"
)

// maxLine is how many bytes a line of several elements has, but for the last of
// them: a budget leaves out whole lines.
const maxLine = 160

// maxIndent is how far lines are indented at most.
const maxIndent = 6

// appendLines appends the lines of elements: those that lie in a row in one.
func (l *layout) appendLines(lines []textLine, list []*element, indent int) []textLine {
	for k := 0; k < len(list); {
		e := list[k]
		if len(e.kids) > 0 {
			lines = l.appendNested(lines, e, indent)
			k++
			continue
		}
		row := l.row(list[k:])
		lines = append(lines, rowLine("", row, indent))
		k += len(row)
	}
	return lines
}

// row returns the elements from the first on that lie in one row and fit into a line.
func (l *layout) row(list []*element) []*element {
	size := len(list[0].word)
	for k := 1; k < len(list); k++ {
		e, before := list[k], list[k-1]
		if len(e.kids) > 0 || e.apart || before.apart || !sameRow(before.box, e.box) || size > maxLine {
			return list[:k]
		}
		size += len(e.word)
	}
	return list
}

// appendNested appends an element that holds others: in one line, if these are a row.
func (l *layout) appendNested(lines []textLine, e *element, indent int) []textLine {
	inner := l.appendLines(nil, e.kids, indent+1)
	if len(inner) == 1 && !e.apart && !e.kids[0].apart && len(e.word)+len(inner[0].text) < maxLine+maxLine/4 {
		line, head := inner[0], rowLine("", []*element{e}, indent)
		line.text = head.text + ": " + strings.TrimLeft(line.text, " ")
		line.rank, line.count = min(line.rank, e.rank), line.count+e.count
		return append(lines, line)
	}
	head := rowLine("", []*element{e}, indent)
	head.text += ":"
	for _, line := range inner {
		head.rank = min(head.rank, line.rank) // what is inside does not stand alone
	}
	return append(append(lines, head), inner...)
}

// rowLine makes a line of elements. A place at the height of the one before it is told
// by its x alone; words for what can be operated beside them have none. What cannot be
// operated now is told by its name.
func rowLine(before string, row []*element, indent int) textLine {
	line := textLine{rank: ranks}
	controls := slices.ContainsFunc(row, func(e *element) bool { return !e.prose })
	var words []string
	height := -1
	for k, e := range row {
		line.rank, line.count = min(line.rank, e.rank), line.count+e.count
		word := e.word
		if e.placed && !(e.prose && controls) {
			if word += fmt.Sprintf(" @%d", e.at.X); e.at.Y != height {
				word += fmt.Sprintf(",%d", e.at.Y)
			}
			height = e.at.Y
		}
		switch {
		case e.gray == "":
			words = append(words, word)
		case k > 0 && row[k-1].gray == e.gray:
			words[len(words)-1] += ", " + word
		case k+1 < len(row) && row[k+1].gray == e.gray:
			words = append(words, e.gray+": "+word)
		default:
			words = append(words, word+" ["+e.gray+"]")
		}
	}
	line.text = indentation(indent) + before + strings.Join(words, " | ")
	return line
}

func indentation(n int) string { return strings.Repeat(" ", min(n, maxIndent)) }
