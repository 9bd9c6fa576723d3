package report

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"slices"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/replay"
)

// WriteComparison writes one self-contained HTML page that shows two runs side
// by side: their steps aligned, where they parted, what they did differently, at
// which cost, and the pictures beside each other, laid over each other, blinking,
// or as their difference. It loads nothing from elsewhere, and everything
// recorded is shown as text. As [Write], it takes little memory.
//
// Journals that cannot be read to their end are compared up to there.
func WriteComparison(w io.Writer, a, b *replay.Run) error {
	t, err := pages()
	if err != nil {
		return err
	}
	left, right := newView(a), newView(b)
	c := newComparison(left, right, pairing(a, b, left, right))
	out := bufio.NewWriterSize(w, 64<<10)
	if err := t.ExecuteTemplate(out, "comparison", c); err != nil {
		return err
	}
	halfA, halfB := openHalf(a, c.A, "A"), openHalf(b, c.B, "B")
	defer halfA.close()
	defer halfB.close()
	for _, p := range c.Steps {
		s := &pairView{pair: p, A: halfA.get(p.a), B: halfB.get(p.b)}
		if err := t.ExecuteTemplate(out, "pair", s); err != nil {
			return err
		}
	}
	if err := t.ExecuteTemplate(out, "comparison-end", c); err != nil {
		return err
	}
	return out.Flush()
}

// A comparison is what the page shows of two runs as a whole.
type comparison struct {
	A, B    *view
	Steps   []*pair
	Parted  *pair // the first that differs; nil if none does
	Totals  []total
	Counted int
}

// A pair is a step of each run, or of one.
type pair struct {
	ID, Label string
	Words     string // what differs
	Mood      mood
	Spent     replay.Spent // the longer one
	InA, InB  *entry       // nil where the run has no such step

	a, b int // sections of the runs, from 0; -1 for none
}

// A total is a figure of both runs.
type total struct{ Name, A, B, More string }

// Moods of a pair.
const (
	same    mood = "same"
	differs mood = "differs"
	parted  mood = "parted" // the first that differs
)

// Ticks divides the timeline.
func (c *comparison) Ticks() []tick {
	list := make([]*entry, len(c.Steps))
	for i, p := range c.Steps {
		list[i] = &entry{Mood: p.Mood}
	}
	return ticks(list)
}

// Two says that the page has two pictures a step.
func (*comparison) Two() bool { return true }

// Different returns the pairs that differ, the first 500.
func (c *comparison) Different() []*pair {
	var list []*pair
	for _, p := range c.Steps {
		if p.Mood != same && len(list) < 500 {
			list = append(list, p)
		}
	}
	return list
}

func newComparison(a, b *view, at []aligning) *comparison {
	c := &comparison{A: a, B: b, Counted: max(a.Counted, b.Counted), Totals: totals(a, b)}
	for _, at := range at {
		p := &pair{a: at.a, b: at.b, Mood: same}
		if p.b >= 0 {
			p.InB = b.Steps[p.b]
			p.ID, p.Label, p.Spent = "b-"+p.InB.ID, p.InB.Label, p.InB.Spent
		}
		if p.a >= 0 {
			p.InA = a.Steps[p.a]
			p.ID, p.Label = p.InA.ID, p.InA.Label
			if p.InA.Spent.Total > p.Spent.Total {
				p.Spent = p.InA.Spent
			}
		}
		if p.a >= 0 && p.b >= 0 && p.InA.Label != p.InB.Label {
			p.Label = p.InA.Label + "|" + p.InB.Label
		}
		p.compare(at.same)
		if p.Mood == differs && c.Parted == nil {
			p.Mood, c.Parted = parted, p
		}
		c.Steps = append(c.Steps, p)
	}
	return c
}

// compare says in words what differs between the steps of a pair.
func (p *pair) compare(alike bool) {
	a, b := p.InA, p.InB
	switch {
	case b == nil:
		p.Mood, p.Words = differs, "only in A: "+a.Words
	case a == nil:
		p.Mood, p.Words = differs, "only in B: "+b.Words
	case alike:
		p.Words = a.Words
	case a.did != b.did:
		p.Mood, p.Words = differs, "other actions: "+a.Words+" ≠ "+b.Words
	case a.Mood != b.Mood:
		p.Mood, p.Words = differs, fmt.Sprintf("%s: %s ≠ %s", a.Words, a.Mood.Words(), b.Mood.Words())
	default:
		p.Mood, p.Words = differs, "other results or targets: "+a.Words
	}
}

// An aligning says which sections of two runs belong together, -1 for none, and
// whether the runs did the same there with the same result.
type aligning struct {
	a, b int
	same bool
}

// pairing pairs the sections of two runs. Those of a deliberate plan belong together where
// their labels are the same, which name the step of the plan and the turn.
func pairing(a, b *replay.Run, left, right *view) (list []aligning) {
	if left.Graph == nil && right.Graph == nil {
		return aligned(a, b, left.Steps, right.Steps)
	}
	next := 0 // of the sections of B
	only := func(until int) {
		for ; next < until; next++ {
			list = append(list, aligning{-1, next, false})
		}
	}
	for i, e := range left.Steps {
		j := slices.IndexFunc(right.Steps[next:], func(o *entry) bool { return o.Label == e.Label })
		if j < 0 {
			list = append(list, aligning{i, -1, false})
			continue
		}
		only(next + j)
		o := right.Steps[next]
		list = append(list, aligning{i, next, o.did == e.did && o.Mood == e.Mood})
		next++
	}
	only(len(right.Steps))
	return list
}

// aligned pairs the sections of two runs as [replay.Compare] pairs their turns;
// where that cannot read them, by the number of the step.
func aligned(a, b *replay.Run, left, right []*entry) (list []aligning) {
	c, err := replay.Compare(context.Background(), a, b)
	if err != nil {
		for _, p := range align(left, right) {
			same := p[0] >= 0 && p[1] >= 0 && left[p[0]].did == right[p[1]].did && left[p[0]].Mood == right[p[1]].Mood
			list = append(list, aligning{p[0], p[1], same})
		}
		return list
	}
	at := func(t *replay.Turn, steps []*entry) int {
		if t == nil {
			return -1
		}
		return slices.IndexFunc(steps, func(e *entry) bool { return e.N == t.Step && e.ID != "end" })
	}
	for _, p := range c.Pairs {
		if i, j := at(p.A, left), at(p.B, right); i >= 0 || j >= 0 {
			list = append(list, aligning{i, j, p.Actions && p.Results})
		}
	}
	ended := func(steps []*entry) int {
		return slices.IndexFunc(steps, func(e *entry) bool { return e.ID == "end" })
	}
	if i, j := ended(left), ended(right); i >= 0 || j >= 0 {
		list = append(list, aligning{i, j, i >= 0 && j >= 0})
	}
	return list
}

// align pairs the sections of two runs by the number of their step; -1 stands
// where a run has none.
func align(a, b []*entry) (pairs [][2]int) {
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch order := compareAt(a, i, b, j); {
		case order < 0:
			pairs = append(pairs, [2]int{i, -1})
			i++
		case order > 0:
			pairs = append(pairs, [2]int{-1, j})
			j++
		default:
			pairs = append(pairs, [2]int{i, j})
			i++
			j++
		}
	}
	return pairs
}

// compareAt tells which of two sections is earlier; the end is the last.
func compareAt(a []*entry, i int, b []*entry, j int) int {
	switch {
	case i == len(a):
		return 1
	case j == len(b):
		return -1
	}
	if ea, eb := a[i].ID == "end", b[j].ID == "end"; ea != eb {
		if ea {
			return 1
		}
		return -1
	} else if ea {
		return 0
	}
	return cmp.Compare(a[i].N, b[j].N)
}

// did is a number that is equal for the same actions.
func did(s *stepView) uint64 {
	h := fnv.New64a()
	p := s.Last()
	if p == nil {
		return 0
	}
	for _, a := range p.Actions {
		text, _ := actuator.Entered(a.action)
		io.WriteString(h, a.Words+"\x00"+text+"\x00")
	}
	return h.Sum64()
}

func totals(a, b *view) []total {
	number := func(name string, x, y int) total {
		more := "0"
		if x != y {
			more = fmt.Sprintf("%+d", y-x)
		}
		return total{name, count(x), count(y), more}
	}
	duration := b.Took() - a.Took()
	sign, money := "+", "+"
	if duration < 0 {
		sign, duration = "−", -duration
	}
	cost := b.Used.Dollars - a.Used.Dollars
	if cost < 0 {
		money, cost = "−", -cost
	}
	more := money + usd(cost)
	if a.Cost() == "unknown" || b.Cost() == "unknown" {
		more = ""
	}
	return []total{
		{"outcome", a.Outcome, b.Outcome, ""},
		number("steps", a.Counted, b.Counted),
		{"time", shortDuration(a.Took()), shortDuration(b.Took()), sign + shortDuration(duration.Round(time.Millisecond))},
		number("model calls", a.Used.Calls, b.Used.Calls),
		number("tokens read", a.Used.Input, b.Used.Input),
		number("tokens written", a.Used.Output, b.Used.Output),
		{"cost", a.Cost(), b.Cost(), more},
	}
}

// A half reads one of the two runs, step by step.
type half struct {
	name     string
	entries  []*entry
	next     func() (*stepView, bool)
	stop     func()
	pictures *album
	at       int // of the section that next returns
}

// A halfView is a step of one run.
type halfView struct {
	*stepView
	Name string
}

// There reports whether the run has the step.
func (h halfView) There() bool { return h.stepView != nil }

// A pairView is one section of the page; A or B has no step where the run has
// none.
type pairView struct {
	*pair
	A, B halfView
}

func openHalf(r *replay.Run, v *view, name string) *half {
	h := &half{name: name, entries: v.Steps, pictures: openAlbum(r, v.Steps, reportImages/2)}
	h.next, h.stop = iter.Pull(sections(r, &view{Run: r.Info}))
	return h
}

func (h *half) close() {
	h.stop()
	h.pictures.close()
}

// get returns a section with its picture; they must be asked for in order.
func (h *half) get(i int) halfView {
	for i >= 0 && h.at < len(h.entries) {
		s, ok := h.next()
		if !ok {
			break
		}
		h.pictures.put(s, h.entries[h.at])
		h.at++
		if h.at > i {
			return halfView{s, h.name}
		}
	}
	return halfView{nil, h.name}
}
