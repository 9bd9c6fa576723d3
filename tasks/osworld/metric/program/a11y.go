package program

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/antchfx/xmlquery"
	"github.com/antchfx/xpath"

	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/metric/fuzzy"
)

// The limits of an accessibility tree. OSWorld's trees are 50 levels deep, and of
// some ten thousand elements.
const (
	maxTreeDepth    = 500
	maxTreeElements = 200_000
)

// treeNamespaces returns the prefixes of the namespaces in the trees of an
// operating system.
func treeNamespaces(system string) (map[string]string, error) {
	parts := map[string]map[string]string{
		"ubuntu":  {"doc": "document", "docattr": "document/attributes"},
		"windows": {"doc": "document", "docattr": "document/attributes", "class": "class"},
		"macos":   {"doc": "document", "role": "role"},
	}
	own, ok := parts[system]
	if !ok {
		return nil, fmt.Errorf("options: osname %q is not known: use ubuntu, windows or macos", system)
	}
	names := map[string]string{
		"st": "state", "attr": "attributes", "cp": "component", "txt": "text", "val": "value", "act": "action",
	}
	maps.Copy(names, own)
	for prefix, name := range names {
		names[prefix] = "https://accessibility." + system + ".example.org/ns/" + name
	}
	return names, nil
}

// A treeRule is one rule of check_accessibility_tree.
type treeRule struct {
	source  string // as the task has it
	expr    *xpath.Expr
	text    string
	hasText bool
	exact   bool
}

// accessibilityTree is check_accessibility_tree: each rule finds an element of the
// tree. It takes the tree as XML text, and a rule or a list of rules
// {xpath | selectors, text, exact}, selectors being a list of CSS selectors. If there is a
// text, an element must have it as text before its first child: exactly, or, if exact is
// false, in part: the ratio of the most similar element counts. The score is the
// product of what the rules give. The option osname, ubuntu if not given, says which
// namespaces the prefixes st, cp, attr, txt, val, act, doc and docattr are.
func accessibilityTree(ctx context.Context, result, expected tasks.Value, options tasks.Params) (tasks.Score, error) {
	if err := context.Cause(ctx); err != nil {
		return tasks.Score{}, err
	}
	rules, err := readTreeRules(expected, options)
	if err != nil {
		return tasks.Score{}, err
	}
	tree, why := parseTree(result)
	if why != "" {
		return tasks.No(why), nil
	}
	score := tasks.Yes()
	for _, rule := range rules {
		value, err := rule.judge(ctx, tree)
		if err != nil {
			return tasks.Score{}, fmt.Errorf("%s: %w", rule.source, err)
		}
		if score.Value *= value; value < 1 {
			score.Why = fmt.Sprintf("%s: %.2f", rule.source, value)
		}
		if value == 0 {
			return tasks.No("no element is as in " + rule.source), nil
		}
	}
	return score, nil
}

// leftPanel is check_left_panel: the accessibility tree has the document frame "Slides
// View", which is there if the panel on the left of a presentation is.
func leftPanel(ctx context.Context, result, _ tasks.Value, _ tasks.Params) (tasks.Score, error) {
	if err := context.Cause(ctx); err != nil {
		return tasks.Score{}, err
	}
	rule, err := readTreeRule(tasks.Params{"xpath": "//*[local-name()='document-frame' and @name='Slides View']"}, nil)
	if err != nil {
		return tasks.Score{}, err
	}
	tree, why := parseTree(result)
	if why != "" {
		return tasks.No(why), nil
	}
	value, err := rule.judge(ctx, tree)
	if err != nil || value > 0 {
		return tasks.Score{Value: value}, err
	}
	return tasks.No(`the tree has no document frame "Slides View"`), nil
}

// readTreeRules compiles the rules of a task.
func readTreeRules(expected tasks.Value, options tasks.Params) ([]treeRule, error) {
	system := "ubuntu"
	if options.Has("osname") {
		var err error
		if system, err = options.Text("osname"); err != nil {
			return nil, fmt.Errorf("options: %w", err)
		}
	}
	namespaces, err := treeNamespaces(system)
	if err != nil {
		return nil, err
	}
	list, err := tasks.Params{"expected": expected}.Maps("expected")
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("expected: there is no rule")
	}
	rules := make([]treeRule, len(list))
	for i, params := range list {
		if rules[i], err = readTreeRule(params, namespaces); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	return rules, nil
}

// readTreeRule compiles a rule.
func readTreeRule(params tasks.Params, namespaces map[string]string) (rule treeRule, err error) {
	rule.hasText, rule.exact = params.Has("text"), true
	if rule.text, err = params.Text("text"); err != nil {
		return rule, err
	}
	if params.Has("exact") {
		if rule.exact, err = params.Bool("exact"); err != nil {
			return rule, err
		}
	}
	if len(rule.text) > maxFuzzy && !rule.exact {
		return rule, fmt.Errorf("text: it has more than %d bytes, too many to compare with exact false", maxFuzzy)
	}
	var path string
	switch {
	case params.Has("xpath"):
		if path, err = params.Text("xpath"); err != nil {
			return rule, err
		}
		rule.source = "xpath " + path
	case params.Has("selectors"):
		selectors, err := params.Texts("selectors")
		if err != nil {
			return rule, err
		}
		css := strings.Join(selectors, ", ")
		rule.source = "selector " + css
		if path, err = cssToXPath(css, namespaces); err != nil {
			return rule, err
		}
	default:
		return rule, errors.New("there must be an xpath or selectors")
	}
	rule.expr, err = compileXPath(path, namespaces)
	return rule, err
}

// parseTree reads the XML of an accessibility tree, or says why not.
func parseTree(result tasks.Value) (root *xmlquery.Node, why string) {
	text, ok := result.(string)
	if !ok {
		return nil, fmt.Sprintf("the result is %s and must be an accessibility tree", kind(result))
	}
	if len(text) > maxFile {
		return nil, fmt.Sprintf("the accessibility tree has more than %d MB", maxFile>>20)
	}
	if err := checkTree(text); err != nil {
		return nil, fmt.Sprintf("the accessibility tree cannot be read: %v", err)
	}
	root, err := xmlquery.Parse(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Sprintf("the accessibility tree cannot be read: %v", err)
	}
	return root, ""
}

// checkTree finds trees that are not XML, or too large to search.
func checkTree(text string) error {
	d := xml.NewDecoder(strings.NewReader(text))
	depth, elements := 0, 0
	for {
		token, err := d.RawToken()
		switch {
		case errors.Is(err, io.EOF) && elements == 0:
			return errors.New("it is empty")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		switch token.(type) {
		case xml.StartElement:
			depth, elements = depth+1, elements+1
		case xml.EndElement:
			depth--
		}
		if depth > maxTreeDepth || elements > maxTreeElements {
			return fmt.Errorf("it has more than %d levels or %d elements", maxTreeDepth, maxTreeElements)
		}
	}
}

// judge returns what a rule gives for a tree, between 0 and 1.
func (r treeRule) judge(ctx context.Context, tree *xmlquery.Node) (value float64, err error) {
	found, err := evaluate(ctx, r.expr, tree)
	switch {
	case err != nil:
		return 0, err
	case found.truth != nil:
		return map[bool]float64{true: 1}[*found.truth], nil
	case !r.hasText:
		return float64(min(len(found.nodes), 1)), nil
	case r.exact:
		has := slices.ContainsFunc(found.nodes, func(n *xmlquery.Node) bool { return textOf(n) == r.text })
		return map[bool]float64{true: 1}[has], nil
	}
	for _, node := range found.nodes {
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		value = max(value, similarity(r.text, textOf(node)))
	}
	return value, nil
}

// textOf returns the text of an element before its first child, or of an attribute.
func textOf(n *xmlquery.Node) string {
	if n.Type == xmlquery.TextNode || n.Type == xmlquery.CharDataNode {
		return n.Data
	}
	var text strings.Builder
	for c := n.FirstChild; c != nil && (c.Type == xmlquery.TextNode || c.Type == xmlquery.CharDataNode); c = c.NextSibling {
		text.WriteString(c.Data)
	}
	return text.String()
}

// maxFuzzy is the longest text, in bytes, that is compared in part.
const maxFuzzy = 2000

// similarity is the likeness of two texts, from 0 to 1. A text that is a hundred times longer
// than the other counts as having nothing in common with it, so that this ends soon.
func similarity(a, b string) float64 {
	if max(len(a), len(b)) > 100*min(len(a), len(b))+100 {
		return 0
	}
	return fuzzy.Ratio(a, b) / 100
}
