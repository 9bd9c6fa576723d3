package program

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/antchfx/xmlquery"
	"github.com/antchfx/xpath"
)

// What the library evaluates wrongly, where lxml and the standard agree: it remembers the
// ancestors that it has found for one element when it looks at the next, and counts places
// in and after predicates through all the elements that the predicate is tried on.
var (
	farAxes       = regexp.MustCompile(`\b(?:ancestor|ancestor-or-self|following|preceding)\s*::`)
	position      = regexp.MustCompile(`^\s*\d+\s*$|\b(?:position|last)\s*\(`)
	lastOfAll     = regexp.MustCompile(`\)\s*\[[^\]]*\blast\s*\(`)
	quotedLiteral = regexp.MustCompile(`"[^"]*"|'[^']*'`)
)

// compileXPath compiles an XPath expression. What would be evaluated wrongly is an error. The
// library panics on some expressions.
func compileXPath(path string, namespaces map[string]string) (expr *xpath.Expr, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("xpath %q: %v", path, r)
		}
	}()
	if what := unreliable(path); what != "" {
		return nil, fmt.Errorf("xpath %q: %s is not supported: write it in another way", path, what)
	}
	if expr, err = xpath.CompileWithNS(path, namespaces); err != nil {
		return nil, fmt.Errorf("xpath %q: %w", path, err)
	}
	return expr, nil
}

// unreliable names what the library would evaluate wrongly, "" if nothing.
func unreliable(path string) string {
	path = quotedLiteral.ReplaceAllString(path, "''")
	if lastOfAll.MatchString(path) {
		return "last() after brackets"
	}
	var open []int // where the predicates begin that have not ended yet
	for i := range len(path) {
		switch path[i] {
		case '[':
			open = append(open, i)
		case ']':
			if len(open) == 0 {
				return "" // the library names the fault
			}
			start := open[len(open)-1]
			predicate := path[start+1 : i]
			open = open[:len(open)-1]
			if farAxes.MatchString(predicate) {
				return "an axis other than child, descendant, parent, self, attribute and the siblings in a predicate"
			}
			if len(open) > 0 && position.MatchString(predicate) {
				return "the place of an element in a predicate of a predicate"
			}
			if strings.HasSuffix(strings.TrimSpace(path[:start]), "]") && position.MatchString(predicate) {
				return "the place of an element after another predicate"
			}
		}
	}
	return ""
}

// maxSearch is how long one expression may take. Some take a time that is the square of
// the number of elements.
const maxSearch = 20 * time.Second

// findings are what an expression finds: elements, attributes and texts, or a truth value.
type findings struct {
	nodes []*xmlquery.Node
	truth *bool
}

// evaluate finds what an expression finds in a tree. The library panics on some expressions.
func evaluate(ctx context.Context, expr *xpath.Expr, tree *xmlquery.Node) (out findings, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, maxSearch, errors.New("it takes too long in this tree"))
	defer cancel()
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if err = context.Cause(ctx); err == nil {
			err = fmt.Errorf("it cannot be evaluated: %v", p)
		}
	}()
	root := &navigator{NodeNavigator: xmlquery.CreateXPathNavigator(tree), ctx: ctx, steps: new(int)}
	switch v := expr.Evaluate(root).(type) {
	case bool:
		out.truth = &v
	case *xpath.NodeIterator:
		for v.MoveNext() {
			out.nodes = append(out.nodes, v.Current().(*navigator).node())
		}
	default:
		err = fmt.Errorf("it gives %v and must give elements", v)
	}
	return out, err
}

// A navigator walks through a tree for the library, until its context ends, when it panics:
// the library has no other way to stop.
type navigator struct {
	*xmlquery.NodeNavigator

	ctx   context.Context // of one evaluation, which the library does not hand on
	steps *int            // all that the navigator and its copies have taken
}

// tick counts a step.
func (n *navigator) tick() {
	if *n.steps++; *n.steps%4096 == 0 && n.ctx.Err() != nil {
		panic(n.ctx.Err())
	}
}

// Copy returns a navigator at the same place.
func (n *navigator) Copy() xpath.NodeNavigator {
	return &navigator{NodeNavigator: n.NodeNavigator.Copy().(*xmlquery.NodeNavigator), ctx: n.ctx, steps: n.steps}
}

// MoveTo goes to the place of another navigator.
func (n *navigator) MoveTo(other xpath.NodeNavigator) bool {
	to, ok := other.(*navigator)
	return ok && n.NodeNavigator.MoveTo(to.NodeNavigator)
}

// MoveToNext goes to the next sibling.
func (n *navigator) MoveToNext() bool {
	n.tick()
	return n.NodeNavigator.MoveToNext()
}

// MoveToPrevious goes to the sibling before.
func (n *navigator) MoveToPrevious() bool {
	n.tick()
	return n.NodeNavigator.MoveToPrevious()
}

// MoveToChild goes to the first child.
func (n *navigator) MoveToChild() bool {
	n.tick()
	return n.NodeNavigator.MoveToChild()
}

// MoveToParent goes to the parent.
func (n *navigator) MoveToParent() bool {
	n.tick()
	return n.NodeNavigator.MoveToParent()
}

// node returns what the navigator is at; an attribute becomes a node with its value.
func (n *navigator) node() *xmlquery.Node {
	if n.NodeType() != xpath.AttributeNode {
		return n.Current()
	}
	return &xmlquery.Node{Type: xmlquery.TextNode, Data: n.Value()}
}
