package eyestest

import (
	"fmt"
	"image"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"desktop-agent/screen"
	"desktop-agent/screen/atspi"

	"github.com/stretchr/testify/assert"
)

// An item is one element that a list gives a place for.
type item struct {
	line   string
	id     string
	role   string
	quoted []string    // what is quoted in its line: name, text
	at     image.Point // pixels of the image
	node   *atspi.Node // nil if the list tells of several at once
	nodes  []atspi.Node
}

// said is all that is quoted.
func (i item) said() string { return strings.Join(i.quoted, " ") }

// In a line without what is quoted: an ID, a place of which the height may be that of
// the one before, and the address of a cell.
var (
	tokenPattern   = regexp.MustCompile(`\bn\d+\b|@-?\d+(?:,-?\d+)?`)
	addressPattern = regexp.MustCompile(`^n\d+ ([A-Z]{1,3})[1-9][0-9]*\b`)
)

// items reads a list for a model as its reader does: whatever has a place is an
// element. Elements of a line stand between bars. Where only the first of a row of
// cells has its place, the others have it from their columns in the rows above.
func items(o *screen.Observation, text string) []item {
	r := lineReader{nodes: map[string]*atspi.Node{}, all: o.Tree.Nodes}
	for i := range o.Tree.Nodes {
		r.nodes[o.Tree.Nodes[i].ID] = &o.Tree.Nodes[i]
	}
	for line := range strings.Lines(text) {
		r.line(strings.TrimSpace(line))
	}
	return r.list
}

// A lineReader reads lines.
type lineReader struct {
	nodes   map[string]*atspi.Node
	all     []atspi.Node
	columns map[string]int // where the columns of cells are
	list    []item
}

func (r *lineReader) line(line string) {
	bare, quoted := unquote(line)
	height, columns := -1, map[string]int{}
	pieces := strings.Split(bare, " | ")
	for k, piece := range pieces {
		n := strings.Count(piece, `""`)
		own := quoted[:n]
		quoted = quoted[n:]
		column := strconv.Itoa(k)
		if m := addressPattern.FindStringSubmatch(piece); m != nil {
			column = m[1]
		}
		id, told := "", false
		for _, span := range tokenPattern.FindAllStringIndex(piece, -1) {
			token := piece[span[0]:span[1]]
			if token[0] == 'n' {
				id, own = token, own[min(len(own), strings.Count(piece[:span[0]], `""`)-n+len(own)):]
				continue
			}
			x, y, both := strings.Cut(token[1:], ",")
			at := image.Point{Y: height}
			at.X, _ = strconv.Atoi(x)
			if both {
				at.Y, _ = strconv.Atoi(y)
			}
			height, columns[column], told = at.Y, at.X, true
			r.add(line, id, own, at)
		}
		if x, known := r.columns[column]; !told && known && k > 0 && height >= 0 && id != "" {
			columns[column] = x
			r.add(line, id, own, image.Pt(x, height))
		}
	}
	if len(pieces) > 1 {
		r.columns = columns
	}
}

// add adds an element. Words that have no ID are those of the smallest node with
// such words at the place.
func (r *lineReader) add(line, id string, quoted []string, at image.Point) {
	it := item{line: line, id: id, quoted: quoted, at: at, node: r.nodes[id], nodes: r.all}
	several := strings.Contains(line, " empty cells, from ")
	if several {
		it.node = nil
	}
	for i := range r.all {
		n := &r.all[i]
		if it.node == nil && !several && len(quoted) > 0 && at.In(n.Box) && (spaced(n.Name) == quoted[0] || strings.TrimSpace(spaced(n.Text)) == quoted[0]) {
			it.node = n
		}
	}
	if it.node != nil {
		it.role = it.node.Role
		if it.node.Role != "table cell" && len(line) > 200 || strings.Contains(line, " | ") {
			it.line = fmt.Sprintf("%s %s %q @%d,%d", it.node.ID, it.role, it.said(), at.X, at.Y)
		}
	}
	r.list = append(r.list, it)
}

// spaced makes the spaces that forbid a line break plain ones.
func spaced(s string) string { return strings.ReplaceAll(s, "\u00a0", " ") }

// unquote takes what is quoted out of a line.
func unquote(line string) (bare string, quoted []string) {
	for {
		i := strings.IndexByte(line, '"')
		if i < 0 {
			return bare + line, quoted
		}
		q, err := strconv.QuotedPrefix(line[i:])
		if err != nil {
			return bare + line, quoted
		}
		s, _ := strconv.Unquote(q)
		quoted = append(quoted, s)
		bare += line[:i] + `""`
		line = line[i+len(q):]
	}
}

func TestItems(t *testing.T) {
	o := &screen.Observation{}
	for i, role := range []string{"text", "push button", "label", "table cell", "table cell", "table cell", "table cell"} {
		n := atspi.Node{ID: fmt.Sprint("n", i+1), Role: role, Box: image.Rect(0, 0, 10, 10)}
		if role == "label" {
			n.Name = "Pick one"
		}
		o.Tree.Nodes = append(o.Tree.Nodes, n)
	}
	for _, tt := range []struct{ text, want string }{
		{"window \"a @1,2\" (x)\n n1 text \"N\" = \"say \\\"@3,4\\\" | n2\" [focused, editable] @960,571\n",
			`n1 text ["N" "say \"@3,4\" | n2"] (960,571)`},
		{"n2 push button @5,6", `n2 push button [] (5,6)`},
		{`menus: n1 "File" @30,62 | n2 "Edit" @70 | disabled: "Back", "Next"`, `n1 text ["File"] (30,62); n2 push button ["Edit"] (70,62)`},
		{`"Pick one" @4,5`, ` label ["Pick one"] (4,5)`},
		{"n4 \"A\" @67,132 | n5 \"B\" @135\n n6 \"C\" @67,155 | n7 \"D\"",
			`n4 table cell ["A"] (67,132); n5 table cell ["B"] (135,132); n6 table cell ["C"] (67,155); n7 table cell ["D"] (135,155)`},
		{"n4 A1 = \"x\" @1,2 | n5 C1 = \"y\" @9\nn6 A2 = \"z\" @1,4 | n7 C2 = \"w\"",
			`n4 table cell ["x"] (1,2); n5 table cell ["y"] (9,2); n6 table cell ["z"] (1,4); n7 table cell ["w"] (9,4)`},
		{"3 empty cells, from n7 A1 @1,1 to n4 A3 @1,9\n", `n7  [] (1,1); n4  [] (1,9)`},
	} {
		var got []string
		for _, it := range items(o, tt.text) {
			got = append(got, fmt.Sprintf("%s %s %q %v", it.id, it.role, it.quoted, it.at))
		}
		assert.Equal(t, tt.want, strings.Join(got, "; "), tt.text)
	}
}
