package replay

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"image"
	"slices"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// A Comparison puts two runs side by side, turn by turn.
type Comparison struct {
	A        Summary `json:"a"`
	B        Summary `json:"b"`
	SameTask bool    `json:"same_task"`
	Pairs    []Pair  `json:"pairs"`
	// Parted is the index in Pairs of the first turn at which they did not do
	// the same with the same result; -1 if there is none.
	Parted int `json:"parted"`
	// Words tell where they parted, in a sentence without typed text.
	Words string `json:"words"`
}

// Same reports whether both runs did the same, with the same results and the
// same end. What they saw and planned may differ.
func (c *Comparison) Same() bool { return c.Parted < 0 && c.A.Status() == c.B.Status() }

// A Pair is a turn of each run. One is nil where the other run has a turn more.
// What a nil turn is compared with is not the same.
type Pair struct {
	A       *Turn    `json:"a"`
	B       *Turn    `json:"b"`
	Screen  Likeness `json:"screen"`  // of what they saw when the turn began
	Actions bool     `json:"actions"` // they proposed the same
	Results bool     `json:"results"` // and the same became of it
	Plan    bool     `json:"plan"`    // their plans were the same at the end of the turn
}

// A Likeness tells how much two looks at the screen have in common.
type Likeness string

// The degrees of likeness.
const (
	SameDigest  Likeness = "same"  // the same picture byte for byte, by its digest: a caret that blinks makes another one
	SameContent Likeness = "alike" // another picture, but the same windows with the same elements in them
	OtherScreen Likeness = "other"
)

// A Turn is what one run did in a turn of the loop.
type Turn struct {
	Step    int      `json:"step"`
	Frame   string   `json:"frame"`   // ID of what it saw; "" before the first
	Actions []string `json:"actions"` // in words, without what they type
	Results []string `json:"results"` // of the actions that were performed, in order
	Plan    string   `json:"plan"`    // the current step of the plan; "" if none
	Error   string   `json:"error"`   // why there was no action

	acts    []act
	picture string // hash of the frame
	content string // hash of windows and elements
	plan    string // hash of the whole plan
}

// An act is an action taken apart: what is done, and where.
type act struct {
	what    string
	targets []target
}

// A target is what lies where an action points.
type target struct {
	window string      // class of the topmost window
	node   string      // role, name and number among those of the same name; "" if it has no name
	at     image.Point // device pixels from the corner of the element, or else of the window
	wide   bool        // the element is so large that it matters where in it
}

// near is how far apart points may be to count as the same where no element
// tells, and wide the side of an element in which it matters where a point is;
// both in device pixels.
const (
	near = 8
	wide = 100
)

func (t target) same(u target) bool {
	if t.window != u.window || t.node != u.node {
		return false
	}
	d := t.at.Sub(u.at)
	return t.node != "" && !t.wide || max(d.X, -d.X, d.Y, -d.Y) <= near
}

func (a act) same(b act) bool {
	return a.what == b.what && slices.EqualFunc(a.targets, b.targets, target.same)
}

func (t *Turn) sameActions(u *Turn) bool {
	return (t.Error == "") == (u.Error == "") && slices.EqualFunc(t.acts, u.acts, act.same)
}

// Compare puts two runs side by side. Turns belong together if their actions are
// the same: of the same kind with the same text or keys, and for the same
// element, wherever that lies; where there is no element with a name, at about
// the same place of a window. Turns that only one of them has shift no others.
//
// Answers and waiting times may differ. It keeps a few hundred bytes of each
// turn in memory. An error names the run that cannot be read.
func Compare(ctx context.Context, a, b *Run) (*Comparison, error) {
	c := &Comparison{A: Summarize(a.Dir), B: Summarize(b.Dir), Parted: -1}
	c.SameTask = c.A.Task == c.B.Task
	turnsA, err := turnsOf(ctx, a)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", a.Info.ID, err)
	}
	turnsB, err := turnsOf(ctx, b)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", b.Info.ID, err)
	}
	for _, p := range align(turnsA, turnsB) {
		if p.A != nil && p.B != nil {
			p.compare()
		}
		if c.Parted < 0 && !(p.Actions && p.Results) {
			c.Parted = len(c.Pairs)
		}
		c.Pairs = append(c.Pairs, p)
	}
	c.Words = c.words()
	return c, nil
}

func (p *Pair) compare() {
	p.Actions = p.A.sameActions(p.B)
	p.Results = p.Actions && slices.Equal(p.A.Results, p.B.Results)
	p.Plan = p.A.plan == p.B.plan
	switch {
	case p.A.picture != "" && p.A.picture == p.B.picture || p.A.Frame == "" && p.B.Frame == "":
		p.Screen = SameDigest
	case p.A.content != "" && p.A.content == p.B.content:
		p.Screen = SameContent
	default:
		p.Screen = OtherScreen
	}
}

// turnsOf reads the turns of a run.
func turnsOf(ctx context.Context, r *Run) (list []*Turn, err error) {
	var plan *planner.Plan
	for s, err := range r.Steps() {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		t := &Turn{Step: s.N}
		t.see(ctx, r, s.Seen())
		t.act(s)
		plan = cmp.Or(s.Plan, plan)
		t.Plan, t.plan = describePlan(plan)
		list = append(list, t)
	}
	return list, nil
}

// describePlan returns the step that a plan is at, and a hash of its steps.
func describePlan(p *planner.Plan) (now, hash string) {
	if p == nil {
		return "", ""
	}
	sum := sha256.New()
	for i, s := range p.Steps {
		fmt.Fprintf(sum, "%q %q %q\n", s.Goal, s.DoneWhen, s.Status)
		if now == "" && !s.Status.Final() {
			now = fmt.Sprintf("%d of %d: %s", i+1, len(p.Steps), s.Goal)
		}
	}
	if now == "" {
		now = fmt.Sprintf("all %d steps done", len(p.Steps))
	}
	return now, fmt.Sprintf("%x", sum.Sum(nil))
}

// see keeps what the turn began with.
func (t *Turn) see(ctx context.Context, r *Run, o *run.Observed) {
	if o == nil {
		return
	}
	t.Frame = o.FrameID
	if checkFrameID(o.FrameID) == nil {
		// A frame that cannot be read is no reason to compare nothing.
		t.picture, _ = r.hashFile(ctx, framePath(o.FrameID))
	}
	sum := sha256.New()
	for _, w := range o.Windows {
		if !w.Hidden {
			fmt.Fprintf(sum, "%q %q %t\n", w.Class, w.Title, w.Focused)
		}
	}
	for _, n := range o.Targets {
		if n.Read {
			continue // the picture is compared as such
		}
		fmt.Fprintf(sum, "%d %q %q %q %q\n", n.Depth, n.Role, n.Name, n.Text, n.States)
	}
	t.content = fmt.Sprintf("%x", sum.Sum(nil))
}

// act keeps what was proposed, or where nothing was, what was done.
func (t *Turn) act(s *Step) {
	var list []actuator.Action
	seen := s.Seen()
	if p := s.Proposal(); p != nil {
		t.Error = p.Error
		for _, a := range p.Actions {
			list = append(list, a.Action)
		}
	} else {
		for _, a := range s.Acts {
			list = append(list, a.Action.Action)
		}
	}
	for _, a := range list {
		one := act{what: essence(a)}
		if seen != nil {
			o := Recall(seen)
			for _, p := range actuator.Points(a) {
				t, _ := targetAt(o, image.Pt(p.X, p.Y))
				one.targets = append(one.targets, t)
			}
		}
		t.acts, t.Actions = append(t.acts, one), append(t.Actions, Words(a, seen, false))
	}
	for _, a := range s.Acts {
		result := "unknown: the run was cut off"
		if a.Acted != nil {
			result = strings.ReplaceAll(string(a.Acted.Status), "_", " ")
		}
		t.Results = append(t.Results, result)
	}
	for range s.Refused {
		t.Results = append(t.Results, "refused by the guard")
	}
}

// Words describe an action for a person: with the elements that it is for, which
// seen tells, in place of points. seen may be nil. What is typed is told by its
// length only, unless typed is true.
func Words(a actuator.Action, seen *run.Observed, typed bool) string {
	name := func(actuator.Point) string { return "" }
	if seen != nil {
		o := Recall(seen)
		name = func(p actuator.Point) string {
			if !p.Placed() {
				return ""
			}
			_, name := targetAt(o, image.Pt(p.X, p.Y))
			return name
		}
	}
	if typed {
		return actuator.DescribeOn(a, name)
	}
	return actuator.DescribeNamed(a, name)
}

// essence is an action as JSON, without where it points and what may differ: for
// how long it waits, and with which words it ends.
func essence(a actuator.Action) string {
	a = actuator.Bare(actuator.Moved(a, func(actuator.Point) actuator.Point { return actuator.Point{} }))
	if kind := actuator.KindOf(a); kind == actuator.Pause || kind == actuator.End {
		return actuator.Name(a)
	}
	text, err := actuator.Marshal(a)
	if err != nil {
		return fmt.Sprintf("%T", a) // it has no JSON: only its kind can be compared
	}
	return string(text)
}

// targetAt tells what lies at a point of the image, and how to call it; "" where
// the tree tells no name.
func targetAt(o *screen.Observation, p image.Point) (t target, name string) {
	place, device := o.PlaceAt(p), o.Image.Mapping.ToDevice(p)
	t.at = device
	if place.Window >= 0 {
		w := o.Windows[place.Window]
		t.window, t.at = w.Class, device.Sub(w.Box.Min)
	}
	i := o.ButtonOf(place.Node)
	if i < 0 {
		return t, ""
	}
	n := o.Tree.Nodes[i]
	if n.Name == "" || n.Parent < 0 {
		return t, ""
	}
	t.at, t.wide = device.Sub(n.Box.Min), min(n.Box.Dx(), n.Box.Dy()) > wide
	number := 0
	for _, other := range o.Tree.Nodes[:i] {
		if other.Role == n.Role && other.Name == n.Name {
			number++
		}
	}
	t.node = fmt.Sprintf("%v %d", n, number)
	return t, n.String()
}

// aligned is how many pairs of turns are looked at to align two runs; longer
// ones are put side by side from where they part.
const aligned = 4 << 20

// align puts turns side by side: those with the same actions in the same order,
// as many as there are, and the others between them.
func align(a, b []*Turn) (pairs []Pair) {
	for len(a) > 0 && len(b) > 0 && a[0].sameActions(b[0]) {
		pairs = append(pairs, Pair{A: a[0], B: b[0]})
		a, b = a[1:], b[1:]
	}
	var end []Pair
	for len(a) > 0 && len(b) > 0 && a[len(a)-1].sameActions(b[len(b)-1]) {
		end = append(end, Pair{A: a[len(a)-1], B: b[len(b)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	slices.Reverse(end)
	i, j := 0, 0
	for _, m := range common(a, b) {
		pairs = append(pairs, abreast(a[i:m[0]], b[j:m[1]])...)
		pairs = append(pairs, Pair{A: a[m[0]], B: b[m[1]]})
		i, j = m[0]+1, m[1]+1
	}
	return append(append(pairs, abreast(a[i:], b[j:])...), end...)
}

// abreast puts turns that differ side by side.
func abreast(a, b []*Turn) (pairs []Pair) {
	for i := range max(len(a), len(b)) {
		var p Pair
		if i < len(a) {
			p.A = a[i]
		}
		if i < len(b) {
			p.B = b[i]
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// common returns the indexes of a longest common subsequence of turns.
func common(a, b []*Turn) (list [][2]int) {
	if len(a)*len(b) > aligned {
		return nil
	}
	// length[i][j] is that of a[i:] and b[j:].
	length := make([][]int32, len(a)+1)
	for i := range length {
		length[i] = make([]int32, len(b)+1)
	}
	for i, t := range slices.Backward(a) {
		for j, u := range slices.Backward(b) {
			if t.sameActions(u) {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i].sameActions(b[j]):
			list = append(list, [2]int{i, j})
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return list
}

// words tell where the runs parted.
func (c *Comparison) words() string {
	if c.Parted < 0 {
		if c.Same() {
			return "they did the same, with the same results"
		}
		return fmt.Sprintf("they did the same, but A ended: %s, and B: %s", c.A.Status(), c.B.Status())
	}
	p := c.Pairs[c.Parted]
	switch {
	case p.A == nil:
		return fmt.Sprintf("parted at step %d of B, which A has not: %s", p.B.Step, p.B.did())
	case p.B == nil:
		return fmt.Sprintf("parted at step %d of A, which B has not: %s", p.A.Step, p.A.did())
	}
	where := fmt.Sprintf("parted at step %d", p.A.Step)
	if p.A.Step != p.B.Step {
		where += fmt.Sprintf(" of A and %d of B", p.B.Step)
	}
	if !p.Actions {
		return fmt.Sprintf("%s: A: %s; B: %s", where, p.A.did(), p.B.did())
	}
	return fmt.Sprintf("%s: both %s; A: %s; B: %s", where, p.A.did(), outcome(p.A.Results), outcome(p.B.Results))
}

// did says what a turn did.
func (t *Turn) did() string {
	switch {
	case t.Error != "":
		return "a reply that was no action"
	case len(t.Actions) == 0:
		return "nothing"
	}
	return strings.Join(t.Actions, ", then ")
}

func outcome(results []string) string {
	if len(results) == 0 {
		return "not performed"
	}
	return strings.Join(results, ", ")
}
