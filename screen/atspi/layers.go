package atspi

import (
	"context"
	"image"
	"time"
)

// What lies over what in a page is not in its tree: neither a bar that stays while the page
// scrolls nor a box that floats has to come after what it covers. So where boxes overlap of
// which none holds the other, the browser is asked what is at a point of both.
// Chromium answers from memory at first, and looks after that: it is asked again.
const (
	mostHits  = 6 // points that are asked for in one reading
	hitAsks   = 3 // how often it is asked for one, the first answer aside
	hitPause  = 10 * time.Millisecond
	minShared = 9 // pixels that two boxes share each way, if they are to overlap
	mostUp    = 6 // how far it is at most from an object to one above that has a node
	maxLayer  = 8
)

// A pair is two parts of a page of which one may lie over the other, where it was last asked.
type pair struct {
	upper, lower string          // their keys
	at           image.Rectangle // where the upper one is
}

// A meeting is a pair in a list of nodes.
type meeting struct {
	page         int
	upper, lower int             // neither is in the other
	shared       image.Rectangle // by the upper one and a control in the lower one
}

// A layering finds the layers of the pages in a list of nodes.
type layering struct {
	*walk
	nodes []Node
	index map[string]int // of nodes, by their keys
}

// An answer is what a browser said of a pair.
type answer struct {
	above  bool            // the upper one is on top
	sure   bool            // it was not what Chromium had said at first
	times  int             // how often it said so, one time after the other
	shared image.Rectangle // where it was asked
	other  string          // the key of what is there instead of both; "" for none
}

// final reports whether a pair need not be asked for any more. What is answered at first, by
// the places of boxes, is repeated until Chromium has looked, which it does not do while a page
// is loading: so it may be meant or not. What is neither of the two tells nothing of them, as
// long as it is there.
func (l *layering) final(a answer, m meeting) bool {
	const often = 4
	if a.sure && a.other == "" {
		return true
	}
	_, there := l.index[a.other]
	return a.times >= often && a.shared == m.shared && (there || a.other == "")
}

// holds reports whether it counts. That something is covered hides it, and has to be known.
func (a answer) holds() bool { return a.other == "" && (a.sure || !a.above || a.times > 1) }

// layers puts into the nodes of a browser in which layer of their page they lie. What it does
// not tell stays in the page's own. What was told is not asked again while the upper one of a
// pair stays where it is.
func (a *app) layers(ctx context.Context, w *walk, nodes []Node) error {
	l := layering{w, nodes, map[string]int{}}
	for i, n := range nodes {
		l.index[n.Key] = i
	}
	const enough = 2 // where it covers so many things, and none of them it, it covers all
	told, hits, covered := map[pair]answer{}, 0, map[int]int{}
	var over, under []meeting
	for _, m := range meetings(nodes) {
		p := m.pair(nodes)
		is, known := a.over[p]
		if turned, ok := told[m.turned().pair(nodes)]; ok {
			is, known = turned, true
			is.above, is.shared = !turned.above, m.shared
		} else if !known && covered[m.upper] >= enough {
			is, known = answer{above: true, sure: true}, true
		} else if (!known || !l.final(is, m)) && hits < mostHits {
			hits++
			now, found, err := l.ask(ctx, m)
			if err != nil {
				return err
			}
			if found {
				if known && is.above == now.above && is.shared == now.shared && is.other == now.other {
					now.times += is.times
				}
				is, known = now, true
			}
		}
		if !known {
			continue
		}
		if told[p] = is; !is.holds() {
			continue
		}
		if is.above {
			covered[m.upper]++
			over = append(over, m)
		} else {
			covered[m.upper] = -len(nodes)
			under = append(under, m)
		}
	}
	a.over = told
	raise(nodes, over, under)
	return nil
}

// pair is the pair of a meeting.
func (m meeting) pair(nodes []Node) pair {
	return pair{nodes[m.upper].Key, nodes[m.lower].Key, nodes[m.upper].Box}
}

// turned is the meeting that asks whether the lower one is over the upper one.
func (m meeting) turned() meeting {
	m.upper, m.lower = m.lower, m.upper
	return m
}

// meetings returns which parts of pages overlap, where one of them has a control that may be
// below the other. That is the larger one: what is as small as a control may be its own label
// or picture.
func meetings(nodes []Node) (list []meeting) {
	seen := map[[2]int]bool{}
	for page, end := 0, 0; page < len(nodes); page = end {
		if end = page + 1; nodes[page].Role != roleDocumentWeb.String() {
			continue
		}
		for end < len(nodes) && nodes[end].Depth > nodes[page].Depth {
			end++
		}
		var controls, large []int
		least := area(everywhere)
		for i := page + 1; i < end; i++ {
			if Clickable(nodes[i].Role) {
				controls, least = append(controls, i), min(least, area(nodes[i].Box))
			}
		}
		for i := page + 1; i < end; i++ {
			if area(nodes[i].Box) >= 2*least && nodes[i].Role != roleLabel.String() {
				large = append(large, i)
			}
		}
		for _, e := range controls {
			box := nodes[e].Box
			for _, h := range large {
				shared := nodes[h].Box.Intersect(box)
				if shared.Dx() < min(minShared, box.Dx()) || shared.Dy() < min(minShared, box.Dy()) || area(nodes[h].Box) < 2*area(box) ||
					Within(nodes, e, h) || Within(nodes, h, e) {
					continue
				}
				m := meeting{page: page, upper: h, lower: e, shared: shared}
				m.widen(nodes)
				if key := [2]int{m.upper, m.lower}; !seen[key] {
					seen[key] = true
					list = append(list, m)
				}
			}
		}
	}
	return list
}

// widen goes up from both towards what both are in: of the upper one as far as that reaches
// over what they share.
func (m *meeting) widen(nodes []Node) {
	for p := nodes[m.lower].Parent; !Within(nodes, m.upper, p); p = nodes[p].Parent {
		m.lower = p
	}
	for p := nodes[m.upper].Parent; !Within(nodes, m.lower, p) && m.shared.In(nodes[p].Box); p = nodes[p].Parent {
		m.upper = p
	}
}

// ask asks the browser whether the upper one of a pair is on top. found is false if it names
// no node.
func (l *layering) ask(ctx context.Context, m meeting) (is answer, found bool, err error) {
	at := middle(m.shared)
	timer := time.NewTimer(hitPause)
	defer timer.Stop()
	is, begun := answer{times: 1, shared: m.shared}, -1
	for n := range 1 + hitAsks {
		hit, err := l.hit(ctx, m.page, at)
		if err != nil {
			return is, false, err
		}
		if n == 0 {
			begun = hit
		}
		if hit >= 0 && at.In(l.nodes[hit].Box) {
			is.above, is.sure, is.other = Within(l.nodes, hit, m.upper), begun >= 0 && hit != begun, ""
			if found = true; !is.above && !Within(l.nodes, hit, m.lower) {
				is.other = l.nodes[hit].Key
			}
		}
		if found && is.sure && is.other == "" || n == hitAsks {
			break
		}
		timer.Reset(hitPause)
		select {
		case <-ctx.Done():
			return is, false, ctx.Err()
		case <-timer.C:
		}
	}
	return is, found, nil
}

// hit returns the node that the browser says is at a point of a page; -1 if it is none.
func (l *layering) hit(ctx context.Context, page int, at image.Point) (int, error) {
	of, ok := referenceOf(l.nodes[page].Key)
	if !ok {
		return -1, nil
	}
	var is reference
	l.walk.ask(of, component, "GetAccessibleAtPoint", func(body []any) { is, _ = only(body) }, int32(at.X), int32(at.Y), uint32(0))
	err := l.run(ctx)
	for range mostUp {
		if err != nil || is.null() {
			break
		}
		if i, ok := l.index[is.key()]; ok {
			return i, nil
		}
		child := is
		is = reference{}
		l.property(child, accessible, "Parent", func(v any) { is, _ = newReference(v) })
		err = l.run(ctx)
	}
	return -1, err
}

// raise puts into nodes in which layer they lie, with all that is in them. over are pairs of
// which the upper one is over the lower one, under those of which it is below: that lifts the
// lower one where the upper one is lifted.
func raise(nodes []Node, over, under []meeting) {
	own := make([]int, len(nodes))
	lift := func(i, above int) {
		if nodes[i].Layer <= nodes[above].Layer {
			own[i] = min(nodes[above].Layer+1, maxLayer)
		}
	}
	for range maxLayer {
		for i, n := range nodes {
			if nodes[i].Layer = own[i]; n.Parent >= 0 {
				nodes[i].Layer = max(own[i], nodes[n.Parent].Layer)
			}
		}
		for _, m := range over {
			lift(m.upper, m.lower)
		}
		for _, m := range under {
			if nodes[m.upper].Layer > 0 {
				lift(m.lower, m.upper)
			}
		}
	}
}

func middle(r image.Rectangle) image.Point { return r.Min.Add(r.Max).Div(2) }
