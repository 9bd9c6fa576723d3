package eyestest

import (
	"fmt"
	"image"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"desktop-agent/screen"
	"desktop-agent/screen/atspi"

	"github.com/stretchr/testify/assert"
)

// An item is one element that a list gives a place for, or an ID by which a click on it is aimed.
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
	tokenPattern = regexp.MustCompile(`\bn\d+\b|@-?\d+(?:,-?\d+)?`)
	wordsPattern = regexp.MustCompile(`^(?:[a-z]+ )*""$`)
)

// items reads a list for a model as its reader does: whatever has a place is an
// element, and so is whatever has an ID and can be clicked. Elements of a line stand between
// semicolons. Where a click by an ID goes that has no place, the observation knows, and of a
// text in a row or column of texts it is where that text alone stands.
func items(o *screen.Observation, text string) []item {
	r := lineReader{nodes: map[string]int{}, all: o.Tree.Nodes, of: o}
	for i := range o.Tree.Nodes {
		r.nodes[o.Tree.Nodes[i].ID] = i
	}
	for line := range strings.Lines(text) {
		r.line(strings.TrimSpace(line))
	}
	return r.list
}

// A lineReader reads lines.
type lineReader struct {
	nodes map[string]int // by ID
	all   []atspi.Node
	of    *screen.Observation
	list  []item
}

func (r *lineReader) line(line string) {
	if m := headersPattern.FindStringSubmatch(line); m != nil {
		r.headers(line, m)
		return
	}
	bare, quoted := unquote(line)
	height := -1
	operates := slices.ContainsFunc(tokenPattern.FindAllString(bare, -1), func(t string) bool { return t[0] == 'n' })
	for piece := range strings.SplitSeq(strings.TrimPrefix(bare, "; "), "; ") {
		n := strings.Count(piece, `""`)
		own := quoted[:n]
		quoted = quoted[n:]
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
			height, told = at.Y, true
			r.add(line, id, own, at)
		}
		switch {
		case told:
		case id != "":
			r.aimed(line, id, own)
		case !operates && wordsPattern.MatchString(piece):
			r.alone(line, own)
		}
	}
}

// headersPattern matches the line that tells of the headers of a sheet by the first and last.
var headersPattern = regexp.MustCompile(`^\d+ (column|row) headers, from (n\d+) \w+ @(-?\d+),(-?\d+) to (n\d+) \w+ @(-?\d+),(-?\d+)$`)

// headers adds those headers, each above or beside the cells of the list that have its name;
// where there are none, between the first and the last as if all were as wide.
func (r *lineReader) headers(line string, m []string) {
	number := func(i int) int { n, _ := strconv.Atoi(m[i]); return n }
	from, to := image.Pt(number(3), number(4)), image.Pt(number(6), number(7))
	start, end := r.nodes[m[2]], r.nodes[m[5]]
	for i := start; i <= end; i++ {
		at := from
		if end > start {
			at = from.Add(to.Sub(from).Mul(i - start).Div(end - start))
		}
		name := r.all[i].Name
		for _, it := range r.list {
			if it.node == nil || it.role != "table cell" || !cellPattern.MatchString(it.node.Name) {
				continue
			}
			switch letters := strings.TrimRight(it.node.Name, "0123456789"); {
			case m[1] == "column" && letters == name:
				at.X = it.at.X
			case m[1] == "row" && strings.TrimPrefix(it.node.Name, letters) == name:
				at.Y = it.at.Y
			}
		}
		r.add(line, r.all[i].ID, []string{name}, at)
	}
}

// aimed adds an element by its ID, if a click there can be aimed at it.
func (r *lineReader) aimed(line, id string, quoted []string) {
	i, known := r.nodes[id]
	if !known || r.all[i].Has("disabled") {
		return
	}
	if _, at, ok := r.of.PointOf(i); ok {
		r.add(line, id, quoted, at)
	}
}

// alone adds a text by its words, if they stand in one place.
func (r *lineReader) alone(line string, quoted []string) {
	found := -1
	for i := range r.all {
		n := &r.all[i]
		if n.Parent < 0 || n.Has("disabled") || spaced(n.Name) != quoted[0] && strings.TrimSpace(spaced(n.Text)) != quoted[0] {
			continue
		}
		if found >= 0 && n.Parent != found {
			return
		}
		found = i
	}
	if found < 0 {
		return
	}
	if _, at, ok := r.of.PointOf(found); ok {
		r.add(line, "", quoted, at)
	}
}

// add adds an element. Words that have no ID are those of the smallest node with
// such words at the place; an icon without both is the one that is drawn there.
func (r *lineReader) add(line, id string, quoted []string, at image.Point) {
	it := item{line: line, id: id, quoted: quoted, at: at, nodes: r.all}
	if i, known := r.nodes[id]; known && id != "" {
		it.node = &r.all[i]
	}
	several := strings.Contains(line, " empty cells, from ")
	if several {
		it.node = nil
	}
	for i := range r.all {
		n := &r.all[i]
		if it.node == nil && !several && len(quoted) > 0 && at.In(n.Box) && (spaced(n.Name) == quoted[0] || strings.TrimSpace(spaced(n.Text)) == quoted[0]) {
			it.node = n
		}
		if it.node == nil && len(quoted) == 0 && n.Read && n.Role == screen.RoleIcon && at.In(n.Box) {
			it.node = n
		}
	}
	if it.node != nil {
		it.role = it.node.Role
		if it.node.Role != "table cell" && len(line) > 200 || strings.Contains(line, "; ") {
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
	o := &screen.Observation{Windows: []screen.Window{{Title: "W", PID: 7, Box: image.Rect(0, 0, 200, 200)}}}
	o.Tree.Nodes = append(o.Tree.Nodes, atspi.Node{ID: "n0", PID: 7, Parent: -1, Role: "frame", Name: "W", Box: image.Rect(0, 0, 200, 200)})
	for i, role := range []string{"text", "push button", "label", "table cell", "table cell", "table cell", "table cell"} {
		n := atspi.Node{ID: fmt.Sprint("n", i+1), PID: 7, Role: role, Box: image.Rect(i*20, 0, i*20+20, 20)}
		if role == "label" {
			n.Name = "Pick one"
		}
		o.Tree.Nodes = append(o.Tree.Nodes, n)
	}
	o.Tree.Nodes[4].Name, o.Tree.Nodes[7].States = "A1", []string{"disabled"}
	for i, header := range []string{"column A", "column B", "column C", "row 1"} {
		kind, name, _ := strings.Cut(header, " ")
		o.Tree.Nodes = append(o.Tree.Nodes, atspi.Node{ID: fmt.Sprint("n", i+8), PID: 7, Role: "table " + kind + " header", Name: name})
	}
	for _, tt := range []struct{ text, want string }{
		{"window \"a @1,2\" (x)\n n1 text \"N\" = \"say \\\"@3,4\\\"; n2\" [focused, editable] @960,571\n",
			`n1 text ["N" "say \"@3,4\"; n2"] (960,571)`},
		{"n2 push button @5,6", `n2 push button [] (5,6)`},
		{`menus: n1 "File" @30,62; n2 button @70; disabled: "Back", "Next"`, `n1 text ["File"] (30,62); n2 push button [] (70,62)`},
		{`"Pick one" @45,5`, ` label ["Pick one"] (45,5)`},
		{`"Page 1" @4,5; "Pick one"; "W"`, `  ["Page 1"] (4,5);  label ["Pick one"] (50,10)`},
		{`"Pick one"; n4 "A" @67,132; "Pick one"`, `n4 table cell ["A"] (67,132)`},
		{"n4 \"A\" @67,132; n5 \"B\"\n; n6 \"C\"; n7 \"D\"",
			`n4 table cell ["A"] (67,132); n5 table cell ["B"] (90,10); n6 table cell ["C"] (110,10)`},
		{"n4 A1 = \"x\" @1,2; n5 C1 = \"y\" @9\nn6 A2 = \"z\"",
			`n4 table cell ["x"] (1,2); n5 table cell ["y"] (9,2); n6 table cell ["z"] (110,10)`},
		{"n4 A1 = \"x\" @64,12\n3 column headers, from n8 A @70,5 to n10 C @90,5\n1 row header, n11 1 @5,30",
			`n4 table cell ["x"] (64,12); n8 table column header ["A"] (64,5); n9 table column header ["B"] (80,5); ` +
				`n10 table column header ["C"] (90,5); n11 table row header [] (5,30)`},
		{"3 empty cells, from n7 A1 @1,1 to n4 A3 @1,9\n", `n7  [] (1,1); n4  [] (1,9)`},
	} {
		var got []string
		for _, it := range items(o, tt.text) {
			got = append(got, fmt.Sprintf("%s %s %q %v", it.id, it.role, it.quoted, it.at))
		}
		assert.Equal(t, tt.want, strings.Join(got, "; "), tt.text)
	}
}
