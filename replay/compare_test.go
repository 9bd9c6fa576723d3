package replay

import (
	"context"
	"fmt"
	"image"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// compareActs records two runs of the same task and compares them.
func compareActs(t *testing.T, a, b []actuator.Action) *Comparison {
	t.Helper()
	dir := t.TempDir()
	return compareDirs(t, smallRun(t, dir, "x", a...), smallRun(t, dir, "x", b...))
}

func compareDirs(t *testing.T, a, b string) *Comparison {
	t.Helper()
	runA, err := Open(a)
	require.NoError(t, err)
	runB, err := Open(b)
	require.NoError(t, err)
	c, err := Compare(t.Context(), runA, runB)
	require.NoError(t, err)
	return c
}

// steps are the pairs as "1-1 2-3 -4": the steps of A and of B.
func steps(c *Comparison) (text string) {
	for _, p := range c.Pairs {
		a, b := "", ""
		if p.A != nil {
			a = fmt.Sprint(p.A.Step)
		}
		if p.B != nil {
			b = fmt.Sprint(p.B.Step)
		}
		text += a + "-" + b + " "
	}
	return text
}

func TestCompare(t *testing.T) {
	type acts = []actuator.Action
	save, done := click(20, 15), actuator.Done{Answer: "saved"}
	key := func(keys ...actuator.Key) actuator.Action { return actuator.Press{Keys: keys, Count: 1} }
	milk, eggs := actuator.Type{Text: "milk"}, actuator.Type{Text: "eggs"}
	for _, tt := range []struct {
		name  string
		a, b  acts
		steps string
		words string
	}{
		{"the same", acts{save, milk, done}, acts{save, milk, done}, "0-0 1-1 2-2 3-3 ", "they did the same, with the same results"},
		{"the same element elsewhere in it", acts{save, done}, acts{click(28, 18), done}, "0-0 1-1 2-2 ", "they did the same, with the same results"},
		{"another answer", acts{done}, acts{actuator.Done{Answer: "x"}}, "0-0 1-1 ", "they did the same, with the same results"},
		{"a key in place of a click", acts{milk, save, done}, acts{milk, key("ctrl", "s"), done}, "0-0 1-1 2-2 3-3 ",
			`parted at step 2: A: click left on push button "Save"; B: press Ctrl+S`},
		{"other text, as long", acts{milk, done}, acts{eggs, done}, "0-0 1-1 2-2 ", "parted at step 1: A: type 4 characters; B: type 4 characters"},
		{"near in a picture", acts{click(115, 60), done}, acts{click(117, 62), done}, "0-0 1-1 2-2 ", "they did the same, with the same results"},
		{"far in a picture", acts{click(115, 60), done}, acts{click(122, 60), done}, "0-0 1-1 2-2 ",
			"parted at step 1: A: click left at (115, 60); B: click left at (122, 60)"},
		{"a double click", acts{save, done}, acts{actuator.Click{At: &actuator.Point{X: 20, Y: 15}, Button: actuator.Left, Count: 2}, done}, "0-0 1-1 2-2 ",
			`parted at step 1: A: click left on push button "Save"; B: double-click left on push button "Save"`},
		{"a step more", acts{save, milk, key("f5"), done}, acts{save, key("escape"), milk, key("f5"), done}, "0-0 1-1 -2 2-3 3-4 4-5 ",
			"parted at step 2 of B, which A has not: press Esc"},
		{"a step less", acts{save, key("escape"), milk, done}, acts{save, milk, done}, "0-0 1-1 2- 3-2 4-3 ",
			"parted at step 2 of A, which B has not: press Esc"},
		{"inserted and replaced", acts{key("a"), save, key("b"), milk, key("c"), done}, acts{key("d"), save, key("e"), key("f"), milk, key("g"), done},
			"0-0 1-1 2-2 3-3 -4 4-5 5-6 6-7 ", "parted at step 1: A: press A; B: press D"},
		{"nothing in common", acts{key("a")}, acts{key("b"), key("c")}, "0-0 1-1 -2 ", "parted at step 1: A: press A; B: press B"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := compareActs(t, tt.a, tt.b)
			assert.Equal(t, tt.steps, steps(c))
			assert.Equal(t, tt.words, c.Words)
			assert.Equal(t, c.Parted < 0, c.Same())
			assert.True(t, c.SameTask)
			back := compareActs(t, tt.b, tt.a)
			assert.Equal(t, len(c.Pairs), len(back.Pairs), "both ways")
			assert.Equal(t, c.Parted, back.Parted)
		})
	}
}

func TestCompareResultsAndScreens(t *testing.T) {
	record := func(name string, status actuator.Status, end run.Outcome, change ...func(*screen.Observation)) string {
		j := newJournal(t)
		put(t, j, started(name))
		look(t, j, 0, editor("f0001", change...))
		put(t, j, proposes(1, "f0001", click(20, 15)), acting(1, click(20, 15)),
			run.Event{Step: 1, Kind: "acted", Data: run.Acted{Status: status}},
			run.Event{Step: 1, Kind: "run_ended", Data: run.RunEnded{Outcome: end}})
		require.NoError(t, j.Close())
		return j.Dir()
	}
	fine := record("x", actuator.Delivered, run.OutcomeDone)
	c := compareDirs(t, fine, record("y", actuator.NoEffect, run.OutcomeDone))
	assert.False(t, c.SameTask)
	assert.Equal(t, SameDigest, c.Pairs[1].Screen)
	assert.Equal(t, `parted at step 1: both click left on push button "Save"; A: delivered; B: no effect`, c.Words)

	c = compareDirs(t, fine, record("x", actuator.Delivered, run.OutcomeOutOfSteps))
	assert.False(t, c.Same())
	assert.Equal(t, "they did the same, but A ended: done, and B: out of steps", c.Words)

	other := func(o *screen.Observation) { write(o.Frame, 5, 200, "12:30") }
	c = compareDirs(t, fine, record("x", actuator.Delivered, run.OutcomeDone, other))
	assert.True(t, c.Same())
	assert.Equal(t, SameContent, c.Pairs[1].Screen, "another picture of the same windows")

	moved := func(o *screen.Observation) {
		other(o)
		o.Windows[0].Title = "other - Editor"
		for i := range o.Tree.Nodes {
			o.Tree.Nodes[i].Box = o.Tree.Nodes[i].Box.Add(image.Pt(-4, -4))
		}
	}
	c = compareDirs(t, fine, record("x", actuator.Delivered, run.OutcomeDone, moved))
	assert.True(t, c.Same(), "the same element, wherever it lies")
	assert.Equal(t, OtherScreen, c.Pairs[1].Screen)
}

// Each click is on the button of its own row, though all have the same name.
func TestCompareTellsElementsOfOneNameApart(t *testing.T) {
	rows := func(o *screen.Observation) {
		again := o.Tree.Nodes[1]
		again.ID, again.Box = "n9", image.Rect(100, 20, 140, 40)
		o.Tree.Nodes = append(o.Tree.Nodes, again)
	}
	record := func(a actuator.Action) string {
		j := newJournal(t)
		put(t, j, started("x"))
		look(t, j, 0, editor("f0001", rows))
		put(t, j, proposes(1, "f0001", a))
		require.NoError(t, j.Close())
		return j.Dir()
	}
	c := compareDirs(t, record(click(20, 15)), record(click(60, 15)))
	assert.Equal(t, 1, c.Parted)
}

// Whatever an action is for is called by its name: also where the pointer is moved to, and
// from where to where something is dragged. What has no name is told by its place.
func TestWordsName(t *testing.T) {
	j := newJournal(t)
	put(t, j, started("x"))
	look(t, j, 0, editor("f0001"))
	put(t, j, proposes(1, "f0001", actuator.Move{At: actuator.Point{X: 20, Y: 15}}))
	require.NoError(t, j.Close())
	r, err := Open(j.Dir())
	require.NoError(t, err)
	var seen *run.Observed
	for s, err := range r.Steps() {
		require.NoError(t, err)
		seen = s.Seen()
	}
	require.NotNil(t, seen)
	at := func(x, y int) actuator.Point { return actuator.Point{X: x, Y: y} }
	far := at(seen.Mapping.Size.X-1, seen.Mapping.Size.Y-1)
	save := strings.TrimPrefix(Words(click(20, 15), seen, false), "click left on ")
	require.Regexp(t, `^push button "`, save)
	nowhere := fmt.Sprintf("(%d, %d)", far.X, far.Y)
	for want, a := range map[string]actuator.Action{
		"move the pointer to " + save:                  actuator.Move{At: at(20, 15)},
		"move the pointer to " + nowhere:               actuator.Move{At: far},
		"drag left from " + save + " to " + nowhere:    actuator.Drag{Path: []actuator.Point{at(20, 15), far}, Button: actuator.Left},
		"set the text on " + save + " to 4 characters": actuator.Set{At: at(20, 15), Text: "milk"},
		`click left at (3, 4) on link "Home"`:          actuator.Click{At: &actuator.Point{X: 3, Y: 4, Element: actuator.Element{Role: "link", Name: "Home"}}, Button: actuator.Left, Count: 1},
	} {
		of := seen
		if strings.Contains(want, "Home") {
			of = nil // nobody knows the screen
		}
		assert.Equal(t, want, Words(a, of, false))
	}
	assert.Equal(t, "set the text on "+save+` to "milk"`, Words(actuator.Set{At: at(20, 15), Text: "milk"}, seen, true))
}

// A click on the arrow of a button is one on the button, as a recording that knows of no
// arrows has it, and is called so.
func TestCompareArrows(t *testing.T) {
	record := func(nodes ...atspi.Node) string {
		j := newJournal(t)
		put(t, j, started("x"))
		look(t, j, 0, editor("f0001", func(o *screen.Observation) { o.Tree.Nodes = append(o.Tree.Nodes, nodes...) }))
		put(t, j, proposes(1, "f0001", click(27, 15)))
		require.NoError(t, j.Close())
		return j.Dir()
	}
	arrow := atspi.Node{ID: "n2 arrow", Parent: 1, Role: atspi.RoleArrow, Box: image.Rect(50, 20, 60, 40)}
	for _, dirs := range [][2]string{{record(), record(arrow)}, {record(arrow), record(arrow)}} {
		c := compareDirs(t, dirs[0], dirs[1])
		assert.Equal(t, -1, c.Parted, c.Words)
		for _, turn := range []*Turn{c.Pairs[1].A, c.Pairs[1].B} {
			assert.Equal(t, []string{`click left on push button "Save"`}, turn.Actions)
		}
	}
}

func TestCompareLongRuns(t *testing.T) {
	turns := func(n, from int) (list []*Turn) {
		for i := range n {
			list = append(list, &Turn{Step: i, acts: []act{{what: fmt.Sprint(i + from)}}})
		}
		return list
	}
	pairs := align(turns(10_000, 0), turns(10_000, 5000)) // more than are aligned
	assert.Len(t, pairs, 10_000)
	pairs = align(turns(2000, 0), turns(2000, 500))
	assert.Len(t, pairs, 2500)
	assert.Nil(t, pairs[0].B)
	assert.Equal(t, 500, pairs[500].A.Step)
	assert.Equal(t, 0, pairs[500].B.Step)
}

func TestCompareEndsWithItsContextAndNamesTheRun(t *testing.T) {
	dir := smallRun(t, t.TempDir(), "x", threeActs...)
	r, err := Open(dir)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Compare(ctx, r, r)
	assert.ErrorIs(t, err, context.Canceled)
	replaceIn(t, dir, 5, `"seq"`, `"saq"`)
	_, err = Compare(t.Context(), r, r)
	assert.ErrorContains(t, err, "run "+r.Info.ID+": events.jsonl line 5")
}
