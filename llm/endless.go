package llm

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// What a schema may ask for at one place of a value, and how deep a value may be. A server
// gives schemas of its own: one that refers to itself would be followed until the program
// has no stack left, and one that doubles at each reference for years.
const (
	maxWork   = 10_000 // subschemas
	maxChain  = 64     // subschemas within each other, by references too
	maxNested = 256    // objects and arrays in each other
)

// bounded returns why it could take too long to hold a value against a schema; nil if it
// cannot.
func bounded(s *jsonschema.Schema) error {
	data, err := json.Marshal(s) // as it was understood: each key once, in its own letters
	if err != nil {
		return err
	}
	var root any
	if err := json.Unmarshal(data, &root); err != nil {
		return err
	}
	w := weighing{root: root, anchors: map[string][]string{}, weights: map[string]weight{}}
	if err := w.collect(root, nil); err != nil {
		return err
	}
	for _, at := range w.all {
		if _, err := w.weigh(at); err != nil {
			return err
		}
	}
	return nil
}

// A weighing counts how many subschemas are applied to the same value.
type weighing struct {
	root    any
	all     [][]string          // the places of all subschemas, the outermost first
	anchors map[string][]string // the places that have a name
	weights map[string]weight   // by [place]; the zero one while it is found out
}

// place is a JSON pointer, where parts cannot run into each other.
func place(at []string) string { return strings.Join(at, "\x00") }

// The keys below which there are schemas, by what is there.
var (
	singleSchemas = []string{"additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"}
	severalLists  = []string{"allOf", "anyOf", "items", "oneOf", "prefixItems"}
	severalNamed  = []string{"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)

// below returns the places of the schemas right below one, by these keys.
func below(schema map[string]any, at []string, keys []string) (list [][]string) {
	for _, key := range keys {
		here := append(slices.Clone(at), key)
		switch v := schema[key].(type) {
		case []any:
			if !slices.Contains(severalLists, key) {
				continue
			}
			for i := range v {
				list = append(list, append(slices.Clone(here), strconv.Itoa(i)))
			}
		case map[string]any:
			if !slices.Contains(severalNamed, key) {
				list = append(list, here)
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(v)) {
				list = append(list, append(slices.Clone(here), name))
			}
		}
	}
	return list
}

// collect notes all subschemas, and the names of those that have one.
func (w *weighing) collect(v any, at []string) error {
	schema, ok := v.(map[string]any)
	if !ok {
		return nil // true, or the names of properties
	}
	w.all = append(w.all, at)
	if id, ok := schema["$id"].(string); ok && len(at) > 0 {
		return fmt.Errorf("a part of it has an $id (%.100q), so that it is not clear what its references mean", id)
	}
	for _, key := range []string{"$anchor", "$dynamicAnchor"} {
		if name, ok := schema[key].(string); ok {
			w.anchors[name] = at
		}
	}
	for _, next := range below(schema, at, slices.Concat(singleSchemas, severalLists, severalNamed)) {
		v, _ := w.at(next)
		if err := w.collect(v, next); err != nil {
			return err
		}
	}
	return nil
}

// at returns what is at a place.
func (w *weighing) at(at []string) (any, bool) {
	v := w.root
	for _, key := range at {
		switch of := v.(type) {
		case map[string]any:
			next, ok := of[key]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(of) {
				return nil, false
			}
			v = of[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// A weight is how many subschemas are applied where one is, itself included, and how many of
// them are within each other.
type weight struct{ sum, chain int }

// weigh returns the weight of a subschema.
func (w *weighing) weigh(at []string) (weight, error) {
	key, open := place(at), weight{}
	if n, ok := w.weights[key]; ok && n == open {
		return n, fmt.Errorf("it refers to itself at #/%.100s", strings.Join(at, "/"))
	} else if ok {
		return n, nil
	}
	whole := weight{1, 1}
	v, _ := w.at(at)
	schema, ok := v.(map[string]any)
	if !ok {
		return whole, nil
	}
	w.weights[key] = open
	same := below(schema, at, []string{"allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then"})
	for _, key := range []string{"$ref", "$dynamicRef"} {
		if ref, ok := schema[key].(string); ok {
			to, err := w.follow(ref)
			if err != nil {
				return whole, err
			}
			same = append(same, to)
		}
	}
	for _, next := range same {
		n, err := w.weigh(next)
		if err != nil {
			return whole, err
		}
		whole.sum, whole.chain = whole.sum+n.sum, max(whole.chain, n.chain+1)
		if whole.sum > maxWork || whole.chain > maxChain {
			return whole, fmt.Errorf("more than %d parts of it are about the same value, or more than %d within each other", maxWork, maxChain)
		}
	}
	w.weights[key] = whole
	return whole, nil
}

// follow returns the place that a reference names.
func (w *weighing) follow(ref string) ([]string, error) {
	pointer, here := strings.CutPrefix(ref, "#")
	if text, err := url.PathUnescape(pointer); err == nil {
		pointer = text
	}
	var to []string
	switch {
	case !here:
		return nil, fmt.Errorf("it refers to %.100q, which is not within it", ref)
	case pointer == "":
	case strings.HasPrefix(pointer, "/"):
		for part := range strings.SplitSeq(pointer[1:], "/") {
			to = append(to, strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~"))
		}
	default:
		to, here = w.anchors[pointer]
	}
	if _, found := w.at(to); !here || !found {
		return nil, fmt.Errorf("it refers to %.100q, which it does not have", ref)
	}
	return to, nil
}

// tooDeep reports whether a value has more objects and arrays in each other than may be.
func tooDeep(v any, left int) bool {
	if left < 0 {
		return true
	}
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return tooDeep(e, left-1) })
	case map[string]any:
		for _, e := range v {
			if tooDeep(e, left-1) {
				return true
			}
		}
	}
	return false
}
