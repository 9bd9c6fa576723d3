package getter

import (
	"encoding/xml"
	"fmt"
	"image"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// An object is one accessible object, as its program tells.
type object struct {
	role       string // such as "push button"
	name       string
	text       string
	states     []string // such as "focused" or "multi_line"
	attributes map[string]string
	box        image.Rectangle // pixels of the screen
	placed     bool            // the box is known
	image      bool            // it is a picture
	selection  bool            // some of its children may be selected
	value      *value
	actions    []action
	children   []*object
}

// A value is the number that a slider and the like stand for.
type value struct{ now, least, most, step float64 }

// An action is something that an object can be made to do.
type action struct{ name, description, key string }

func (o *object) has(state string) bool { return slices.Contains(o.states, state) }

// shown reports whether the object says that it can be seen.
func (o *object) shown() bool { return o.has("showing") && o.has("visible") }

// all calls visit for the object and all below it, until that says no.
func (o *object) all(visit func(*object) (deeper bool)) {
	if !visit(o) {
		return
	}
	for _, child := range o.children {
		child.all(visit)
	}
}

// find returns the objects below that match, in the order of the tree.
func (o *object) find(match func(*object) bool) []*object {
	var found []*object
	o.all(func(o *object) bool {
		if match(o) {
			found = append(found, o)
		}
		return true
	})
	return found
}

// spaces are the namespaces of a tree, by prefix.
var spaces = map[string]string{
	"st": "state", "attr": "attributes", "cp": "component", "doc": "document", "docattr": "document/attributes",
	"txt": "text", "val": "value", "act": "action",
}

// writeTree writes a tree as OSWorld has it: an element for each object, called
// after its role, with the attribute name, those of the namespaces, and the text.
func writeTree(w io.Writer, root *object) error {
	x := &treeWriter{w: w}
	x.element(root, true)
	return x.err
}

// A treeWriter writes until there is an error.
type treeWriter struct {
	w   io.Writer
	err error
}

func (x *treeWriter) raw(text string) {
	if x.err == nil {
		_, x.err = io.WriteString(x.w, text)
	}
}

func (x *treeWriter) escaped(text string) {
	if x.err == nil {
		x.err = xml.EscapeText(x.w, []byte(text))
	}
}

func (x *treeWriter) attribute(name, text string) {
	x.raw(" " + name + `="`)
	x.escaped(text)
	x.raw(`"`)
}

func (x *treeWriter) element(o *object, root bool) {
	tag := xmlName(o.role)
	if tag == "" {
		tag = "unknown"
	}
	x.raw("<" + tag)
	if root {
		for _, prefix := range slices.Sorted(maps.Keys(spaces)) {
			x.attribute("xmlns:"+prefix, "https://accessibility.ubuntu.example.org/ns/"+spaces[prefix])
		}
	}
	x.attributes(o)
	if o.text == "" && len(o.children) == 0 {
		x.raw("/>")
		return
	}
	x.raw(">")
	// Placeholders for objects in the text are no text.
	x.escaped(strings.NewReplacer("\uFFFC", "", "\uFFFD", "").Replace(o.text))
	for _, child := range o.children {
		x.element(child, false)
	}
	x.raw("</" + tag + ">")
}

func (x *treeWriter) attributes(o *object) {
	x.attribute("name", o.name)
	seen := map[string]bool{} // an element that has an attribute twice is no XML
	add := func(space, name, text string) {
		name = space + ":" + xmlName(name)
		if !seen[name] && !strings.HasSuffix(name, ":") {
			seen[name] = true
			x.attribute(name, text)
		}
	}
	for _, state := range o.states {
		add("st", state, "true")
	}
	for _, key := range slices.Sorted(maps.Keys(o.attributes)) {
		add("attr", key, o.attributes[key])
	}
	if o.placed && o.shown() {
		add("cp", "screencoord", fmt.Sprintf("(%d, %d)", o.box.Min.X, o.box.Min.Y))
		add("cp", "size", fmt.Sprintf("(%d, %d)", o.box.Dx(), o.box.Dy()))
	}
	if o.image {
		x.attribute("image", "true")
	}
	if o.selection {
		x.attribute("selection", "true")
	}
	if v := o.value; v != nil {
		add("val", "value", pythonFloat(v.now))
		add("val", "min", pythonFloat(v.least))
		add("val", "max", pythonFloat(v.most))
		add("val", "step", pythonFloat(v.step))
	}
	for _, a := range o.actions {
		if name := xmlName(a.name); name != "" {
			add("act", name+"_desc", a.description)
			add("act", name+"_kb", a.key)
		}
	}
}

// xmlName makes a name that XML allows of one that a program gave; "" if nothing
// of it can be used.
func xmlName(name string) string {
	var out strings.Builder
	for _, c := range strings.TrimSpace(name) {
		switch {
		case c == '_' || unicode.IsLetter(c) && c < 0x2000:
		case out.Len() > 0 && (c == '-' || c == '.' || '0' <= c && c <= '9'):
		case out.Len() == 0:
			continue
		default:
			c = '-'
		}
		out.WriteRune(c)
		if out.Len() > 100 {
			break
		}
	}
	return out.String()
}

// pythonFloat writes a number as Python does.
func pythonFloat(f float64) string {
	text := strconv.FormatFloat(f, 'g', 17, 64)
	if short := strconv.FormatFloat(f, 'f', -1, 64); len(short) < 22 {
		text = short
	}
	if !strings.ContainsAny(text, ".eEnN") {
		text += ".0"
	}
	return text
}
