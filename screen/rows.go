package screen

import (
	"fmt"
	"slices"
	"strings"
)

// maxLine is how many bytes a line of several elements has, but for the last of
// them: a budget leaves out whole lines.
const maxLine = 220

// maxIndent is how far lines are indented at most.
const maxIndent = 6

// separator stands between the elements of a line, and at the beginning of one that goes
// on in the row of the line above. Whatever a program says is in quotes, in which nothing
// can end them, and what is not is ours and has no semicolon: so none that is a part of a
// name can be taken for it.
const separator = "; "

// appendLines appends the lines of elements: those that lie in a row in one.
func (l *layout) appendLines(lines []textLine, list []*element, indent int) []textLine {
	var rows, own [][]*element // own are those of which the places are told here
	for k := 0; k < len(list); {
		r := row(list[k:])
		k += len(r)
		rows = append(rows, r)
		if len(r[0].kids) > 0 || r[0].apart {
			r = nil
		}
		own = append(own, r)
	}
	if !l.every {
		untell(own)
	}
	for _, r := range rows {
		if len(r[0].kids) > 0 {
			lines = l.appendNested(lines, r[0], indent)
			continue
		}
		for before := ""; len(r) > 0; before = separator {
			n := fitting(r)
			lines = append(lines, partOfRow(before, r[:n], indent))
			r = r[n:]
		}
	}
	return lines
}

// row returns the elements from the first on that lie in one row.
func row(list []*element) []*element {
	if len(list[0].kids) > 0 {
		return list[:1]
	}
	for k := 1; k < len(list); k++ {
		e, before := list[k], list[k-1]
		if len(e.kids) > 0 || e.apart || before.apart || !sameRow(before.box, e.box) {
			return list[:k]
		}
	}
	return list
}

// fitting returns how many elements of a row a line has.
func fitting(row []*element) int {
	size := 0
	for k, e := range row {
		if size > maxLine {
			return k
		}
		size += len(e.word)
	}
	return len(row)
}

// partOfRow makes a line of elements that lie in a row, all of it or a part. One that tells
// no place is told with that of its first element where the line is left out from which this
// follows.
func partOfRow(before string, part []*element, indent int) textLine {
	controls := holdsControls(part)
	first := slices.IndexFunc(part, func(e *element) bool { return e.placed && !(e.prose && controls) })
	if first < 0 || !part[first].untold {
		return rowLine(strings.TrimPrefix(before, separator), part, indent)
	}
	line := rowLine(before, part, indent)
	part[first].untold = false
	line.alone = rowLine(strings.TrimPrefix(before, separator), part, indent).text
	part[first].untold = true
	return line
}

// holdsControls reports whether anything in a row can be operated for all that programs tell.
func holdsControls(row []*element) bool {
	return slices.ContainsFunc(row, func(e *element) bool { return !e.prose && !e.drawn })
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
// by its x alone; words for what can be operated beside them have none, and neither has
// what is not told. What cannot be operated now is told by its name.
func rowLine(before string, row []*element, indent int) textLine {
	line := textLine{rank: ranks}
	controls := holdsControls(row)
	var words []string
	height := -1
	for k, e := range row {
		line.rank, line.count = min(line.rank, e.rank), line.count+e.count
		word := e.word
		if e.placed && !e.untold && !(e.prose && controls) {
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
	line.text = indentation(indent) + before + strings.Join(words, separator)
	if row[0].alone != "" {
		line.alone = indentation(indent) + row[0].alone
	}
	return line
}

func indentation(n int) string { return strings.Repeat(" ", min(n, maxIndent)) }
