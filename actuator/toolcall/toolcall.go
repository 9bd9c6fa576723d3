// Package toolcall reads replies in which a model calls tools, one for each type
// of action. The schemas of the tools are derived from the types of package
// actuator, and arguments are checked against them before they are decoded.
//
// Lines that begin with "Thought:" and "Expect:" may stand in the text of the
// reply, or prose without labels, which is the thought. The calls are done in
// their order. If one of them is no possible action, none is done, and the error
// says what to call instead.
//
// What models are known to write is taken as it is meant: 12.0 for 12, keys by
// other names, arguments that are empty where there is nothing to say, a name
// with "functions." before it, JSON in a JSON string; and of what a plain click
// has, left out, button "left", count 1 and no modifiers; no answer where the task asks for none. A point may be the ID of an
// element in the list instead, such as "n39".
package toolcall

import (
	"cmp"
	"encoding/json"
	"fmt"
	"image"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"desktop-agent/actuator"
)

// A Tool is a function that a model may call.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON schema of the arguments, fit for strict mode
}

// Tools returns a tool for each type of action. What several of them have in common is
// said in the first of them alone: a model reads them all, and pays for each byte in every
// turn. What a model then writes is checked against the whole schema. Types of action that
// are named in without have no tool, and nothing is said in it.
func Tools(without ...string) []Tool {
	var list []Tool
	said := map[string]string{}
	for _, v := range actuator.Variants() {
		if v.Name == service() || slices.Contains(without, v.Name) {
			continue // of the first, each tool is one by itself
		}
		var s jsonschema.Schema
		if err := json.Unmarshal(v.Schema, &s); err != nil {
			panic(err) // package actuator wrote it
		}
		sayOnce(&s, v.Name, said)
		parameters, err := json.Marshal(&s)
		if err != nil {
			panic(err)
		}
		list = append(list, Tool{v.Name, v.Description, parameters})
	}
	return list
}

// service is the action that calls a tool which is no mouse and no keyboard. It is asked for
// where it is needed: the table of actions is not for the start of every program.
func service() string { return actuator.Name(actuator.CallTool{}) }

// few is how many values stand wherever they are meant.
const few = 3

// sayOnce leaves out of a tool's schema the descriptions that have been given, and puts the
// name of the tool that has them in the place of values that have been listed. said has
// what was, with the tool.
func sayOnce(s *jsonschema.Schema, tool string, said map[string]string) {
	if s == nil {
		return
	}
	if s.Description != "" {
		if _, known := said[s.Description]; known {
			s.Description = ""
		} else {
			said[s.Description] = tool
		}
	}
	if len(s.Enum) > few {
		values := fmt.Sprint(s.Enum)
		if of, known := said[values]; known {
			s.Enum, s.Description = nil, "named as in "+of
		} else {
			said[values] = tool
		}
	}
	sayOnce(s.Items, tool, said)
	s.PropertyOrder = s.Required // all are
	for _, key := range s.Required {
		sayOnce(s.Properties[key], tool, said)
	}
}

// A Parser makes actions of tool calls.
type Parser struct {
	Also []string // names of tools beside mouse and keyboard, which a run has
}

var _ actuator.Parser = Parser{}

// Parse returns the actions of a reply's calls. Every error is an
// [*actuator.ParseError].
func (p Parser) Parse(reply actuator.Reply, bounds image.Rectangle) (actuator.Proposal, error) {
	if err := actuator.TooLong(len(reply.Text)); err != nil {
		return actuator.Proposal{}, err
	}
	var out actuator.Proposal
	out.Thought, out.Expect = actuator.SplitLabels(reply.Text)
	switch n := len(reply.Calls); {
	case n == 0:
		return actuator.Proposal{}, &actuator.ParseError{Message: "no tool was called, so nothing was done; call one of the tools: " + p.names()}
	case n > actuator.MaxActions:
		return actuator.Proposal{}, &actuator.ParseError{Message: fmt.Sprintf("these are %d calls, more than %d, so none of them was done; make a few, then look at what they did", n, actuator.MaxActions)}
	}
	for i, c := range reply.Calls {
		a, err := p.parse(c, bounds)
		if n := len(out.Actions); err == nil && n > 0 && actuator.Final(out.Actions[n-1]) {
			err = fmt.Errorf("nothing is done after %s; call that last, or leave it out", actuator.Name(out.Actions[n-1]))
		}
		if err != nil {
			return actuator.Proposal{}, refusal(c, i, len(reply.Calls), err)
		}
		out.Actions = append(out.Actions, a)
	}
	return out, nil
}

// refusal says which call is meant, and that the others were not done either.
func refusal(c actuator.Call, i, of int, err error) error {
	e := &actuator.ParseError{Tool: c.Name, Message: err.Error()}
	if r := []rune(e.Tool); len(r) > 40 {
		e.Tool = string(r[:40]) + "…"
	}
	if e.Tool == "" {
		e.Tool = "?"
	}
	if of > 1 {
		e.Message += fmt.Sprintf(" (call %d of %d; none of them was done)", i+1, of)
	}
	return e
}

func (p Parser) names() string {
	var list []string
	for _, v := range actuator.Variants() {
		if v.Name != service() {
			list = append(list, v.Name)
		}
	}
	list = append(list, p.Also...)
	return strings.Join(list, ", ")
}

// parse returns the action of one call.
func (p Parser) parse(c actuator.Call, bounds image.Rectangle) (actuator.Action, error) {
	if err := actuator.TooLong(len(c.Arguments)); err != nil {
		return nil, err
	}
	if slices.Contains(p.Also, c.Name) {
		a := actuator.CallTool{Tool: c.Name, Arguments: actuator.Object(cmp.Or(strings.TrimSpace(c.Arguments), "{}"))}
		return a, actuator.Validate(a, bounds)
	}
	name := c.Name[strings.LastIndexByte(c.Name, '.')+1:]
	name = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "-", "_")
	a, err := actuator.Decode(name, complete(name, c.Arguments))
	if err != nil {
		return nil, err
	}
	if t, ok := a.(actuator.Type); ok { // Enter is pressed once for a line break
		a = actuator.Type{Text: actuator.Secret(newlines.Replace(string(t.Text)))}
	}
	a = actuator.Bare(a) // what an element is, code finds out
	return a, actuator.Validate(a, bounds)
}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// usual is what an argument is when a model leaves it out as a matter of
// course. Points are not among them: a click must say where, or null.
var usual = map[string]json.RawMessage{
	"button": json.RawMessage(`"left"`), "count": json.RawMessage(`1`), "modifiers": json.RawMessage(`[]`),
	"gone": json.RawMessage(`false`), "answer": json.RawMessage(`""`),
}

// complete adds what is usual to the arguments of a tool. What it cannot read
// it leaves as it is, for the decoder to refuse.
func complete(name, arguments string) []byte {
	arguments = strings.TrimSpace(arguments)
	var inner string
	if strings.HasPrefix(arguments, `"`) && json.Unmarshal([]byte(arguments), &inner) == nil {
		arguments = strings.TrimSpace(inner)
	}
	if arguments == "" || arguments == "null" {
		arguments = "{}"
	}
	var given map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &given) != nil || given == nil {
		return []byte(arguments)
	}
	missing := false
	for key, value := range usual {
		if _, ok := given[key]; !ok && has(name, key) {
			given[key], missing = value, true
		}
	}
	if !missing {
		return []byte(arguments)
	}
	completed, err := json.Marshal(given)
	if err != nil {
		return []byte(arguments)
	}
	return completed
}

// has reports whether a tool has an argument.
func has(name, key string) bool {
	for _, v := range actuator.Variants() {
		if v.Name == name {
			var schema struct {
				Properties map[string]json.RawMessage `json:"properties"`
			}
			return json.Unmarshal(v.Schema, &schema) == nil && schema.Properties[key] != nil
		}
	}
	return false
}
