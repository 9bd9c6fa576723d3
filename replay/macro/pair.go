package macro

import (
	"slices"

	"desktop-agent/run"
	"desktop-agent/screen/atspi"
)

// A pair compares a recorded scene with a live one.
type pair struct {
	was, now *scene
	sub      func(string) string // puts the values of parameters into recorded text

	foreign map[[2]int]bool // by the windows of both: in another language

	pictures run.PictureSettings
}

func newPair(was, now *scene, sub func(string) string) *pair {
	if sub == nil {
		sub = func(s string) string { return s }
	}
	return &pair{was: was, now: now, sub: sub, foreign: map[[2]int]bool{}}
}

// name returns recorded text as it should be now, to be compared with [plain] of
// live text.
func (p *pair) name(recorded string) string { return plain(p.sub(recorded)) }

// windows returns the live windows that a recorded one can be: of the same class
// and type, with the same title, or if there is none of this title, in another
// language.
func (p *pair) windows(recorded int) (list []int) {
	if recorded < 0 {
		return nil
	}
	w := p.was.Windows[recorded]
	title := p.name(w.Title)
	var others []int
	for i, v := range p.now.Windows {
		if v.Hidden || v.Class != w.Class || v.Popup != w.Popup || v.Type != w.Type {
			continue
		}
		switch {
		case w.Popup || plain(v.Title) == title:
			list = append(list, i)
		case p.translated(recorded, i):
			others = append(others, i)
		}
	}
	if len(list) == 0 {
		list = others
	}
	if len(list) > 1 && w.Focused {
		if i := slices.IndexFunc(list, func(i int) bool { return p.now.Windows[i].Focused }); i >= 0 {
			return list[i : i+1]
		}
	}
	return list
}

// Of a window in another language so many named controls are asked for, and of
// these at most one in so many may have kept its name.
const (
	foreignControls = 5
	foreignSame     = 5
)

// translated reports whether a live window is a recorded one in another language.
func (p *pair) translated(was, now int) bool {
	key := [2]int{was, now}
	known, ok := p.foreign[key]
	if !ok {
		known = p.compare(was, now)
		p.foreign[key] = known
	}
	return known
}

func (p *pair) compare(was, now int) bool {
	a, b := p.was.arrangement(was), p.now.arrangement(now)
	if len(a) != len(b) || len(a) == 0 {
		return false
	}
	named, same := 0, 0
	placeA, placeB := places(a), places(b)
	for k := range a {
		m, n := p.was.Tree.Nodes[a[k]], p.now.Tree.Nodes[b[k]]
		if m.Role != n.Role || placeA[m.Parent] != placeB[n.Parent] {
			return false
		}
		if p.was.rank[a[k]] != p.now.rank[b[k]] {
			return false
		}
		if m.Role == "text" || !atspi.Clickable(m.Role) {
			continue
		}
		if (m.Name == "") != (n.Name == "") {
			return false
		}
		if m.Name != "" {
			named++
			if p.name(m.Name) == p.now.called[b[k]] {
				same++
			}
		}
	}
	return named >= foreignControls && same*foreignSame <= named
}

// places tells where in a list a node is, from 1.
func places(list []int) map[int]int {
	m := make(map[int]int, len(list))
	for k, node := range list {
		m[node] = k + 1
	}
	return m
}

// arrangement returns the nodes of a window in order, without its content, and without
// arrows, which a button has as long as it is enabled.
func (s *scene) arrangement(window int) (list []int) {
	inside := make([]bool, len(s.Tree.Nodes))
	for i, n := range s.Tree.Nodes {
		if s.window[i] != window {
			continue
		}
		if n.Parent >= 0 {
			inside[i] = inside[n.Parent] || varying(s.Tree.Nodes[n.Parent].Role)
		}
		if !inside[i] && n.Role != atspi.RoleArrow {
			list = append(list, i)
		}
	}
	return list
}

// find returns the live node that a recorded one is now; -1 if there is none or
// more than one could be meant, and why in words. The score is 1 for the same
// path, less where only role and name tell, or where the language differs.
func (p *pair) find(node, window int) (found int, score float64, why string) {
	windows := p.windows(window)
	if len(windows) == 0 {
		return -1, 0, "no such window"
	}
	var hits []int
	for _, w := range windows {
		i, s, reason := p.findIn(node, w)
		if i < 0 && p.translated(window, w) {
			i, s, reason = p.findForeign(node, window, w)
		}
		if i >= 0 {
			hits, score = append(hits, i), s
		}
		why = reason
	}
	switch len(hits) {
	case 1:
		return hits[0], score, ""
	case 0:
		return -1, 0, why
	}
	return -1, 0, "the same in two windows"
}

// findIn looks in one live window.
func (p *pair) findIn(node, window int) (found int, score float64, why string) {
	n := p.was.Tree.Nodes[node]
	name := p.name(n.Name)
	var all, near, exact []int
	for i, m := range p.now.Tree.Nodes {
		if p.now.window[i] != window || m.Role != n.Role || p.now.called[i] != name {
			continue
		}
		all = append(all, i)
		if p.context(node, i) {
			near = append(near, i)
			if p.path(node, i) {
				exact = append(exact, i)
			}
		}
	}
	switch {
	case len(all) == 0:
		return -1, 0, "none there"
	case name != "" && len(all) == 1 && p.alone(node):
		if p.path(node, all[0]) {
			return all[0], 1, ""
		}
		return all[0], .9, ""
	case len(near) == 1 && (len(exact) == 1 || name != ""):
		return near[0], .95, ""
	case len(near) == 1 && p.twins(node) == 1 && (p.soleOfRole(node, near[0]) || len(p.was.beside(node, plain)) > 0):
		return near[0], .9, ""
	case len(exact) == 1 && len(near) == p.twins(node):
		return exact[0], .95, ""
	case len(near) == 0:
		return -1, 0, "only beside something else"
	}
	return -1, 0, "more than one there"
}

// alone reports whether no other node of the recorded window has the role and
// the name of this one.
func (p *pair) alone(node int) bool {
	n := p.was.Tree.Nodes[node]
	for i, m := range p.was.Tree.Nodes {
		if i != node && p.was.window[i] == p.was.window[node] && m.Role == n.Role && m.Name == n.Name {
			return false
		}
	}
	return true
}

// twins counts the recorded nodes with the role, the name and the surroundings
// of this one.
func (p *pair) twins(node int) (count int) {
	n := p.was.Tree.Nodes[node]
	self := newPair(p.was, p.was, nil)
	for i, m := range p.was.Tree.Nodes {
		if p.was.window[i] == p.was.window[node] && m.Role == n.Role && p.was.called[i] == p.was.called[node] && self.context(node, i) {
			count++
		}
	}
	return count
}

// soleOfRole reports whether a node is the only one of its role in its window,
// then and now.
func (p *pair) soleOfRole(was, now int) bool {
	count := func(s *scene, node int) (n int) {
		for i, m := range s.Tree.Nodes {
			if s.window[i] == s.window[node] && m.Role == s.Tree.Nodes[node].Role {
				n++
			}
		}
		return n
	}
	return count(p.was, was) == 1 && count(p.now, now) == 1
}

// path reports whether two nodes have the same way down from their windows.
func (p *pair) path(was, now int) bool {
	for {
		a, b := p.was.Tree.Nodes[was], p.now.Tree.Nodes[now]
		if a.Role != b.Role {
			return false
		}
		if a.Parent < 0 || b.Parent < 0 {
			return a.Parent < 0 && b.Parent < 0
		}
		if p.was.rank[was] != p.now.rank[now] || p.name(a.Name) != p.now.called[now] {
			return false
		}
		was, now = a.Parent, b.Parent
	}
}

// A label is what a node is called.
type label struct{ role, name string }

// context reports whether what stands beside two nodes is the same: the names
// below the nearest node above that has any. Of a few all must be the same, of
// many most.
func (p *pair) context(was, now int) bool {
	a := p.was.beside(was, p.name)
	b := p.now.beside(now, plain)
	if len(a) == 0 {
		return len(b) == 0
	}
	same := 0
	for l := range a {
		if b[l] {
			same++
		}
	}
	if len(a) <= 3 {
		return same == len(a)
	}
	return 10*same >= 6*len(a)
}

func (s *scene) beside(node int, name func(string) string) map[label]bool {
	labels := map[label]bool{}
	for below, up := node, s.Tree.Nodes[node].Parent; up >= 0; below, up = up, s.Tree.Nodes[up].Parent {
		n := s.Tree.Nodes[up]
		if n.Parent >= 0 && n.Name != "" {
			labels[label{n.Role, name(n.Name)}] = true
		}
		for _, kid := range s.kids[up] {
			if kid != below {
				s.names(kid, name, labels)
			}
		}
		if len(labels) > 0 {
			break
		}
	}
	return labels
}

// names adds what a node and those below it are called, without what is inside
// of an open menu.
func (s *scene) names(node int, name func(string) string, into map[label]bool) {
	n := s.Tree.Nodes[node]
	if n.Name != "" {
		into[label{n.Role, name(n.Name)}] = true
	}
	if n.Role == "menu" {
		return
	}
	for _, kid := range s.kids[node] {
		s.names(kid, name, into)
	}
}

// findForeign finds the node at the same place of a window in another language.
func (p *pair) findForeign(node, was, now int) (found int, score float64, why string) {
	a, b := p.was.arrangement(was), p.now.arrangement(now)
	k := slices.Index(a, node)
	if k < 0 || k >= len(b) {
		return -1, 0, "none there by this name"
	}
	return b[k], .8, ""
}
