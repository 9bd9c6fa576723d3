package actuator

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"desktop-agent/internal/spell"
)

// A Variant is one type of action as data.
type Variant struct {
	Name        string          // such as "click"
	Description string          // what it does, in a sentence
	Schema      json.RawMessage // JSON schema of its fields, all required: fit for a strict tool definition
}

// variant is a Variant with what reads it.
type variant struct {
	Variant
	traits
	kind   reflect.Type
	holds  map[reflect.Type]bool // the types of its fields; of a list or a pointer, what it is of
	offer  *jsonschema.Schema    // Schema
	shape  *jsonschema.Schema    // of the same type; it also takes null for a list, and a key by any name
	check  *jsonschema.Resolved  // shape
	decode func(data []byte) (Action, error)
}

// variants is the one table of all types of action; a test holds it complete.
var variants = sync.OnceValue(func() []variant {
	return []variant{
		variantOf[Move](traits{Input, unseen, anywhere, same},
			"move", "Move the pointer to a point."),
		variantOf[Click](traits{Input, seen, anywhere, same},
			"click", "Click, double-click or triple-click a mouse button."),
		variantOf[ButtonDown](traits{Input, unseen, anywhere, down},
			"button_down", "Press a mouse button and leave it down; button_up lets it go."),
		variantOf[ButtonUp](traits{Input, unseen, anywhere, up},
			"button_up", "Let a mouse button go."),
		variantOf[Drag](traits{Input, seen, anywhere, same},
			"drag", "Hold a mouse button along a path, and let it go at its end."),
		variantOf[Scroll](traits{Input, seen, anywhere, same},
			"scroll", "Turn the mouse wheel."),
		variantOf[Type](traits{Input, seen, written, same},
			"type", "Type text into what has the focus, in any script. A line break is Enter, a tab is Tab."),
		variantOf[Press](traits{Input, seen, written, same},
			"press", "Press a key or a shortcut."),
		variantOf[KeyDown](traits{Input, unseen, focused, down},
			"key_down", "Press a key and leave it down; key_up lets it go."),
		variantOf[KeyUp](traits{Input, unseen, anywhere, up},
			"key_up", "Let a key go."),
		variantOf[Hold](traits{Input, seen, focused, same},
			"hold", "Hold keys down for a time."),
		variantOf[Copy](traits{Input, unseen, focused, same},
			"copy", "Copy what is selected to the clipboard and read it: the next turn shows the text."),
		variantOf[Paste](traits{Input, seen, written, same},
			"paste", "Paste text, or what is on the clipboard."),
		variantOf[SetClipboard](traits{Input, unseen, anywhere, same},
			"set_clipboard", "Put text on the clipboard without pasting it."),
		variantOf[Set](traits{Input, seen, anywhere, same},
			"set", "Give a text field, spin button or slider another text or value, in place of what it holds. It is refused where the program does not offer that, as in the text fields of web pages."),
		variantOf[Wait](traits{Pause, unseen, anywhere, same},
			"wait", "Wait for something that takes long. The next turn comes when the screen is still in any case."),
		variantOf[WaitUntil](traits{Pause, unseen, anywhere, same},
			"wait_until", "Wait until a window, a text or an element is there, or is gone. It ends as soon as that is so."),
		variantOf[Zoom](traits{View, unseen, anywhere, same},
			"zoom", "See a region of the screenshot enlarged in the next turn."),
		variantOf[Note](traits{Memory, unseen, anywhere, same},
			"note", "Keep a fact that you will need later; every turn shows your notes."),
		variantOf[CallTool](traits{Service, unseen, anywhere, same},
			"call_tool", "Call one of the tools that are listed, which are no mouse and no keyboard; the next turn shows what it answers."),
		variantOf[Done](traits{End, unseen, anywhere, same},
			"done", "Say that the task is done, once the screenshot shows its effect."),
		variantOf[Infeasible](traits{End, unseen, anywhere, same},
			"infeasible", "Say that the task cannot be done at all."),
		variantOf[Ask](traits{Question, unseen, anywhere, same},
			"ask", "Ask the user something that only a person can answer."),
	}
})

// rows are the variants by their type.
var rows = sync.OnceValue(func() map[reflect.Type]*variant {
	m := map[reflect.Type]*variant{}
	for i, v := range variants() {
		m[v.kind] = &variants()[i]
	}
	return m
})

// nothing is the row of no action, which a journal that was tampered with may hold.
var nothing = variant{Variant: Variant{Name: "nothing"}}

// rowOf returns the row of an action's type. There is one: a type without is a
// mistake in this package, or a value that is no action but holds one.
func rowOf(a Action) *variant {
	if a == nil {
		return &nothing
	}
	if v, ok := rows()[reflect.TypeOf(a)]; ok {
		return v
	}
	panic(fmt.Sprintf("actuator: %T is not in the table of actions", a))
}

// Variants returns all types of action, in the order of their declaration.
func Variants() []Variant {
	list := make([]Variant, 0, len(variants()))
	for _, v := range variants() {
		v.Schema = slices.Clone(v.Schema)
		list = append(list, v.Variant)
	}
	return list
}

// Name returns the name of an action's type, such as "button_down".
func Name(a Action) string { return rowOf(a).Name }

// variantOf derives the schemas and the decoder from the type alone.
func variantOf[A Action](t traits, name, description string) variant {
	v := variant{
		Variant: Variant{Name: name, Description: description},
		traits:  t,
		kind:    reflect.TypeFor[A](),
		holds:   fieldTypes(reflect.TypeFor[A]()),
		decode: func(data []byte) (Action, error) {
			var a A
			err := json.Unmarshal(data, &a)
			return a, err
		},
	}
	buttons := &jsonschema.Schema{Type: "string", Enum: []any{string(Left), string(Middle), string(Right)}}
	keys := &jsonschema.Schema{Type: "string"}
	for _, k := range Keys() {
		keys.Enum = append(keys.Enum, string(k))
	}
	v.offer = schemaOf[A](buttons, keys)
	forbidNullLists(v.offer)
	leaveOptional(v.offer)
	if m := v.offer.Properties["modifiers"]; m != nil { // a short list instead of every key there is
		m.Items.Enum = slices.DeleteFunc(m.Items.Enum, func(k any) bool { return !Key(k.(string)).Modifier() })
	}
	v.shape = schemaOf[A](buttons, &jsonschema.Schema{Type: "string"})
	var err error
	if v.check, err = v.shape.Resolve(nil); err != nil {
		panic(err) // the type has no schema: a bug in this package
	}
	if v.Schema, err = json.Marshal(v.offer); err != nil {
		panic(err)
	}
	return v
}

func schemaOf[A Action](button, key *jsonschema.Schema) *jsonschema.Schema {
	point, err := jsonschema.For[pixel](nil)
	if err != nil {
		panic(err) // the type has no schema: a bug in this package
	}
	point.Type, point.Types = "", []string{"object", "string"} // or a handle
	s, err := jsonschema.For[A](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[Button](): button,
		reflect.TypeFor[Key]():    key,
		reflect.TypeFor[Sign]():   {Type: "string", Enum: []any{string(WindowSign), string(TextSign), string(ElementSign)}},
		reflect.TypeFor[Point]():  point,
	}})
	if err != nil {
		panic(err) // the type has no schema: a bug in this package
	}
	if s.Properties == nil { // strict mode wants the key even if there is nothing in it
		s.Properties = map[string]*jsonschema.Schema{}
	}
	return s
}

// forbidNullLists makes lists that are null invalid: an empty one says it.
func forbidNullLists(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if slices.Contains(s.Types, "array") {
		s.Type, s.Types = "array", nil
	}
	forbidNullLists(s.Items)
	for _, p := range s.Properties {
		forbidNullLists(p)
	}
}

// leaveOptional leaves out what need not be there: code adds it, and no model.
func leaveOptional(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	optional := func(key string) bool { return !slices.Contains(s.Required, key) }
	maps.DeleteFunc(s.Properties, func(key string, _ *jsonschema.Schema) bool { return optional(key) })
	s.PropertyOrder = slices.DeleteFunc(s.PropertyOrder, optional)
	leaveOptional(s.Items)
	for _, p := range s.Properties {
		leaveOptional(p)
	}
}

// Decode returns the action of a variant's name and its fields as JSON. The
// fields are checked against the schema before they are decoded, so that a
// missing "x" does not become a click at 0, and then against the limits of
// [Validate], except that no image bounds its points. Whole numbers may be
// written as 12.0 and keys by any name that [ParseKey] knows. The error says
// what to write instead.
func Decode(name string, fields []byte) (Action, error) {
	v, err := variantNamed(name)
	if err != nil {
		return nil, err
	}
	m, err := object(fields)
	if err != nil {
		return nil, err
	}
	return v.read(m)
}

// variantNamed returns the variant of a name. The error says which names there are.
func variantNamed(name string) (variant, error) {
	for _, v := range variants() {
		if v.Name == name {
			return v, nil
		}
	}
	names := variantNames()
	return variant{}, fmt.Errorf("there is no action %s; the nearest are %s, of all: %s",
		clip(name), quoted(spell.Nearest(name, names, 2)), strings.Join(names, ", "))
}

func variantNames() []string {
	names := make([]string, 0, len(variants()))
	for _, v := range variants() {
		names = append(names, v.Name)
	}
	return names
}

// read checks the fields of an action, and makes it of them.
func (v variant) read(object map[string]any) (Action, error) {
	if err := v.check.Validate(object); err != nil {
		return nil, fmt.Errorf("%s; write %s", strings.Join(problems(v.shape, object, ""), "; "), signature(v.offer))
	}
	// What was checked is decoded, not the bytes: of a key given twice these may hold more.
	checked, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	a, err := v.decode(checked)
	if typeErr, ok := err.(*json.UnmarshalTypeError); ok {
		return nil, fmt.Errorf("%s is out of range; write %s", typeErr.Field, signature(v.offer))
	} else if err != nil {
		return nil, err
	}
	if err := check(a); err != nil {
		return nil, err
	}
	return a, nil
}

// problems says in words where a value breaks a schema. Text is not in it.
func problems(s *jsonschema.Schema, value any, path string) (list []string) {
	types := s.Types
	if s.Type != "" {
		types = []string{s.Type}
	}
	name := path
	if name == "" {
		name = "the arguments"
	}
	if kind := kindOf(value); !slices.Contains(types, kind) && !(kind == "integer" && slices.Contains(types, "number")) {
		return []string{fmt.Sprintf("%s must be %s, not %s", name, signature(s), kind)}
	}
	switch value := value.(type) {
	case map[string]any:
		for _, key := range s.Required {
			if _, ok := value[key]; !ok {
				list = append(list, fmt.Sprintf("%s is missing", join(path, key)))
			}
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if p, ok := s.Properties[key]; !ok {
				list = append(list, fmt.Sprintf("%s is unknown", join(path, clip(key))))
			} else {
				list = append(list, problems(p, value[key], join(path, key))...)
			}
		}
	case []any:
		for i, item := range value {
			list = append(list, problems(s.Items, item, fmt.Sprintf("%s[%d]", path, i))...)
		}
	case string:
		if len(s.Enum) > 0 && !slices.Contains(s.Enum, any(value)) {
			list = append(list, fmt.Sprintf("%s must be %s, not %s", name, signature(s), clip(value)))
		}
	}
	return list[:min(len(list), 6)]
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// kindOf names the JSON type of a value.
func kindOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		if value == float64(int64(value)) {
			return "integer"
		}
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// signature writes a schema in the short form that an error shows.
func signature(s *jsonschema.Schema) (text string) {
	switch {
	case len(s.Enum) > 3:
		text = "a key"
	case len(s.Enum) > 0:
		var words []string
		for _, e := range s.Enum {
			words = append(words, fmt.Sprintf("%q", e))
		}
		text = strings.Join(words, " or ")
	case s.Items != nil:
		text = "[" + signature(s.Items) + ", …]"
	case s.Properties != nil:
		var fields []string
		for _, key := range s.Required {
			fields = append(fields, fmt.Sprintf("%q: %s", key, signature(s.Properties[key])))
		}
		text = "{" + strings.Join(fields, ", ") + "}"
		if slices.Contains(s.Types, "string") {
			text += ` or "n39"`
		}
	default:
		text = s.Type
		for _, t := range s.Types {
			if t != "null" {
				text = t
			}
		}
	}
	if slices.Contains(s.Types, "null") && s.Items == nil { // an empty list says it better
		text += " or null"
	}
	return text
}

// clip quotes a name that somebody else chose, shortened.
func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
