package text

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits on YAML files, which settings stay far below.
const (
	maxYAML      = 64 << 10 // bytes; the parser's time can grow with the square
	maxYAMLNodes = 200000   // with aliases put in
	maxYAMLDepth = 200
)

// readYAML reads a YAML file of one document as PyYAML does, which follows YAML 1.1:
// yes and on are true, 010 is 8, and 1e3 is a text.
func (j judge) readYAML(f file) (any, error) {
	data, err := f.bytes(maxYAML)
	if err != nil {
		return nil, err
	}
	v, err := parseYAML(decode(data))
	if err != nil {
		return nil, f.fault(fmt.Errorf("is not YAML: %w", err))
	}
	return v, nil
}

func parseYAML(text string) (v any, err error) {
	if err := shallow(text); err != nil {
		return nil, err
	}
	tree, err := parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		message, _, _ := strings.Cut(err.Error(), "\n")
		return nil, fmt.Errorf("%s", message)
	}
	var body ast.Node
	for _, document := range tree.Docs {
		if document.Body == nil || document.Body.Type() == ast.CommentType {
			continue
		}
		if body != nil {
			return nil, fmt.Errorf("there is more than one document")
		}
		body = document.Body
	}
	r := &yamlReader{anchors: map[string]ast.Node{}}
	return r.value(body, 0)
}

// shallow returns an error for text whose brackets or indicators nest so deep that
// the parser, which recurses, could run out of stack.
func shallow(text string) error {
	depth := 0
	for line := range strings.Lines(text) {
		indicators := 0
		for i, r := range line {
			switch r {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(0, depth-1)
			case '-', '?', ':', '&', '!':
				if i+1 < len(line) && (line[i+1] == ' ' || r == '!' || r == '&') {
					indicators++
				}
			}
		}
		// The indentation of a line bounds how deep blocks nest.
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if depth > maxYAMLDepth || indicators > maxYAMLDepth || indent > 10*maxYAMLDepth {
			return fmt.Errorf("it is nested too deep")
		}
	}
	return nil
}

type yamlReader struct {
	anchors map[string]ast.Node
	nodes   int
}

func (r *yamlReader) value(node ast.Node, depth int) (any, error) {
	if r.nodes++; r.nodes > maxYAMLNodes || depth > maxYAMLDepth {
		return nil, fmt.Errorf("it is too large or nested too deep")
	}
	switch n := node.(type) {
	case nil:
		return nil, nil
	case *ast.AnchorNode:
		r.anchors[n.Name.GetToken().Value] = n.Value
		return r.value(n.Value, depth+1)
	case *ast.AliasNode:
		target, ok := r.anchors[n.Value.GetToken().Value]
		if !ok {
			return nil, fmt.Errorf("alias %.40q has no anchor", n.Value.GetToken().Value)
		}
		return r.value(target, depth+1)
	case *ast.TagNode:
		if n.Start.Value == "!!str" {
			if n.Value == nil {
				return "", nil
			}
			return n.Value.GetToken().Value, nil
		}
		return r.value(n.Value, depth+1)
	case *ast.MappingNode:
		return r.object(n.Values, depth)
	case *ast.MappingValueNode:
		return r.object([]*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		items := []any{}
		for _, one := range n.Values {
			v, err := r.value(one, depth+1)
			if err != nil {
				return nil, err
			}
			items = append(items, v)
		}
		return items, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.StringNode:
		if t := n.Token.Type; t == token.SingleQuoteType || t == token.DoubleQuoteType {
			return n.Value, nil
		}
		return plainYAML(n.Value), nil
	case *ast.NullNode:
		return nil, nil
	}
	return plainYAML(strings.TrimSpace(node.GetToken().Value)), nil
}

// object reads a map. Keys of "<<" bring in the entries of other maps that it does
// not have itself.
func (r *yamlReader) object(values []*ast.MappingValueNode, depth int) (any, error) {
	object, merged := map[string]any{}, map[string]any{}
	for _, entry := range values {
		v, err := r.value(entry.Value, depth+1)
		if err != nil {
			return nil, err
		}
		if _, isMerge := entry.Key.(*ast.MergeKeyNode); isMerge {
			sources, isList := v.([]any)
			if !isList {
				sources = []any{v}
			}
			for _, source := range sources {
				m, _ := source.(map[string]any)
				for key, v := range m {
					if _, has := merged[key]; !has {
						merged[key] = v
					}
				}
				r.nodes += len(m)
			}
			continue
		}
		var key ast.Node = entry.Key
		if explicit, ok := key.(*ast.MappingKeyNode); ok {
			key = explicit.Value
		}
		k, err := r.value(key, depth+1)
		if err != nil {
			return nil, err
		}
		object[repr(k)] = v
	}
	for key, v := range merged {
		if _, has := object[key]; !has {
			object[key] = v
		}
	}
	return object, nil
}

// Plain scalars by the rules of PyYAML's resolver.
var (
	yamlBool  = regexp.MustCompile(`^(yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$`)
	yamlNull  = regexp.MustCompile(`^(~|null|Null|NULL|)$`)
	yamlInt   = regexp.MustCompile(`^[-+]?(0b[01_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)$`)
	yamlSixty = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`)
	yamlFloat = regexp.MustCompile(`^[-+]?([0-9][0-9_]*\.[0-9_]*([eE][-+][0-9]+)?|\.[0-9][0-9_]*([eE][-+][0-9]+)?)$`)
	yamlInf   = regexp.MustCompile(`^[-+]?\.(inf|Inf|INF)$`)
	yamlNaN   = regexp.MustCompile(`^\.(nan|NaN|NAN)$`)
)

// plainYAML is the value of a scalar without quotes. A date stays a text.
func plainYAML(text string) any {
	digits := strings.ReplaceAll(text, "_", "")
	sign := 1.0
	if strings.HasPrefix(digits, "-") {
		sign = -1
	}
	bare := strings.TrimLeft(digits, "+-")
	switch {
	case yamlBool.MatchString(text):
		lower := strings.ToLower(text)
		return lower == "yes" || lower == "true" || lower == "on"
	case yamlNull.MatchString(text):
		return nil
	case yamlInt.MatchString(text):
		if n, err := strconv.ParseInt(bare, 0, 64); err == nil { // base 0 reads 010 as octal, too
			return sign * float64(n)
		}
		if f, err := strconv.ParseFloat(bare, 64); err == nil {
			return sign * f
		}
	case yamlSixty.MatchString(text):
		f := 0.0
		for part := range strings.SplitSeq(bare, ":") {
			n, err := strconv.ParseFloat(part, 64)
			if err != nil {
				return text
			}
			f = f*60 + n
		}
		return sign * f
	case yamlFloat.MatchString(text):
		if f, err := strconv.ParseFloat(bare, 64); err == nil {
			return sign * f
		}
	case yamlInf.MatchString(text):
		return math.Inf(int(sign))
	case yamlNaN.MatchString(text):
		return math.NaN()
	}
	return text
}
