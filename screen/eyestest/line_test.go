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
	quoted []string // what is quoted in its line: name, text
	states string
	at     image.Point // pixels of the image
	node   *atspi.Node // nil if the list tells of several at once
	nodes  []atspi.Node
}

// said is all that is quoted.
func (i item) said() string { return strings.Join(i.quoted, " ") }

var placePattern = regexp.MustCompile(`@(-?\d+),(-?\d+)`)

// items reads a list for a model: every line with a place is an element. A line
// that tells of several elements has several places.
func items(o *screen.Observation, text string) []item {
	nodes := map[string]*atspi.Node{}
	for i := range o.Tree.Nodes {
		nodes[o.Tree.Nodes[i].ID] = &o.Tree.Nodes[i]
	}
	var list []item
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		bare, quoted := unquote(line)
		for _, m := range placePattern.FindAllStringSubmatch(bare, -1) {
			x, _ := strconv.Atoi(m[1])
			y, _ := strconv.Atoi(m[2])
			i := item{line: line, quoted: quoted, nodes: o.Tree.Nodes, at: image.Pt(x, y)}
			i.id, i.role, _ = strings.Cut(bare, " ")
			i.node = nodes[i.id]
			if _, states, ok := strings.Cut(i.role, "["); ok {
				i.states, _, _ = strings.Cut(states, "]")
			}
			if end := strings.IndexAny(i.role, "\"=[@("); end >= 0 {
				i.role = i.role[:end]
			}
			i.role = strings.TrimSpace(i.role)
			list = append(list, i)
		}
	}
	return list
}

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
	o := &screen.Observation{Tree: screen.Tree{Nodes: []atspi.Node{{ID: "n1"}, {ID: "n2"}}}}
	got := items(o, "window \"a @1,2\" (x)\n n1 text \"N\" = \"say \\\"@3,4\\\"\" [focused, editable] @960,571\nn2 push button @5,6\n"+
		"3 empty cells, from n7 A1 @1,1 to n9 A3 @1,9\n")
	assert.Len(t, got, 4)
	assert.Equal(t, []string{"N", `say "@3,4"`}, got[0].quoted)
	assert.Equal(t, "text|focused, editable|(960,571)", fmt.Sprint(got[0].role, "|", got[0].states, "|", got[0].at))
	assert.Equal(t, "n1", got[0].node.ID)
	assert.Equal(t, "push button", got[1].role)
	assert.Nil(t, got[2].node)
	assert.Equal(t, image.Pt(1, 9), got[3].at)
}
