package llm

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// An Enum is a string type with a closed set of values. [SchemaFor] lists the
// values of each field that is one, and so no other is ever decoded.
//
//	type Outcome string
//
//	func (Outcome) Values() []string { return []string{"yes", "no", "unclear"} }
type Enum interface{ Values() []string }

// SchemaFor derives from a struct the schema of the JSON that decodes into it,
// in the subset that endpoints enforce strictly: all properties are required, in
// the order of the fields, and no others are allowed; pointers may be null;
// slices may be empty but not null; fields that are an [Enum] have its values; the
// jsonschema tag describes a field. Types that strict endpoints refuse are an
// error: maps, interfaces, and fields that may be left out.
func SchemaFor[T any]() (*Schema, error) {
	t := reflect.TypeFor[T]()
	if s, ok := schemas.Load(t); ok {
		return s.(*Schema), nil
	}
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("schema of %v: it is no struct", t)
	}
	enums := map[reflect.Type]*jsonschema.Schema{}
	findEnums(t, enums, map[reflect.Type]bool{})
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: enums})
	if err == nil {
		err = strict(s, "")
	}
	if err != nil {
		return nil, fmt.Errorf("schema of %v: %w", t, err)
	}
	data, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("schema of %v: %w", t, err)
	}
	made, _ := schemas.LoadOrStore(t, &Schema{Name: schemaName(t), JSON: data})
	return made.(*Schema), nil
}

// schemas holds the *Schema of each reflect.Type that was asked for.
var schemas sync.Map

// findEnums adds the schemas of all enums within t.
func findEnums(t reflect.Type, enums map[reflect.Type]*jsonschema.Schema, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		findEnums(t.Elem(), enums, seen)
	case reflect.Struct:
		for f := range t.Fields() {
			findEnums(f.Type, enums, seen)
		}
	case reflect.String:
		if e, ok := reflect.Zero(t).Interface().(Enum); ok {
			s := &jsonschema.Schema{Type: "string"}
			for _, v := range e.Values() {
				s.Enum = append(s.Enum, v)
			}
			enums[t] = s
		}
	}
}

// strict adapts s, found at path, to what strict endpoints accept.
func strict(s *jsonschema.Schema, path string) error {
	if slices.Contains(s.Types, "array") {
		s.Type, s.Types = "array", nil
	}
	if slices.Contains(s.Types, "null") && s.Enum != nil {
		s.Enum = append(slices.Clone(s.Enum), nil)
	}
	switch {
	case s.Items != nil:
		return strict(s.Items, path+"[]")
	case s.Type == "object" || slices.Contains(s.Types, "object"):
		if s.Properties == nil && len(s.Required) == 0 && !noMore(s) {
			return fmt.Errorf("%q is a map; use a slice of structs", path)
		}
		for _, name := range s.PropertyOrder {
			if !slices.Contains(s.Required, name) {
				return fmt.Errorf("%q may be left out; use a pointer instead of omitempty", path+"."+name)
			}
			if err := strict(s.Properties[name], path+"."+name); err != nil {
				return err
			}
		}
	case s.Type == "" && s.Types == nil:
		return fmt.Errorf("%q can be anything; give it a type", path)
	}
	return nil
}

// noMore reports whether the schema forbids further properties: {"not": {}}.
func noMore(s *jsonschema.Schema) bool {
	return s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil
}

// schemaName makes a name of what endpoints allow in it.
func schemaName(t reflect.Type) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z') {
			return r
		}
		return '_'
	}, t.Name())
	if name == "" {
		return "reply"
	}
	return name[:min(len(name), 64)]
}

// Validate checks JSON against the schema. What may be null may be left out too: the
// schema requires it only because strict endpoints want that, and weak models forget it.
// A schema that could not be followed to an end is an error that names it, as is one that
// is broken.
func (s *Schema) Validate(data []byte) error {
	s.once.Do(func() {
		var parsed jsonschema.Schema
		if s.broken = json.Unmarshal(s.JSON, &parsed); s.broken == nil {
			forgive(&parsed)
			if s.broken = bounded(&parsed); s.broken == nil {
				s.resolved, s.broken = parsed.Resolve(nil)
			}
		}
	})
	if s.broken != nil {
		return fmt.Errorf("schema %s: %w", s.Name, s.broken)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	if tooDeep(v, maxNested) {
		return fmt.Errorf("it has more than %d objects and arrays in each other", maxNested)
	}
	return s.resolved.Validate(v)
}

// forgive has a schema accept objects without what may be null in them.
func forgive(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	forgive(s.Items)
	for name, p := range s.Properties {
		forgive(p)
		if p != nil && slices.Contains(p.Types, "null") {
			s.Required = slices.DeleteFunc(s.Required, func(r string) bool { return r == name })
		}
	}
}
