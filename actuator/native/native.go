// Package native makes actions of the calls of a provider's own tool for mouse and
// keyboard, which its models were trained with: a [Vocabulary] for each provider, in its
// words and with its points. [Parser] reads a whole reply, in which functions may be
// called beside that tool, and [Vocabulary.Write] is the way back.
//
// An adapter gives such a call on as the provider wrote it, so nothing is lost on the way
// from the wire to the journal. What a vocabulary does not know, an action of a newer
// version or a point outside of the picture, is an [*actuator.ParseError], which the
// model reads; then nothing of the reply is done.
//
//   - To add a vocabulary: a file with its verbs, how a call is split into actions, how an
//     action is said, and how actions become calls; and a row of the table below.
package native

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/actuator/dialect"
	"desktop-agent/actuator/toolcall"
)

// A Vocabulary is the words that a provider's own tool has for actions.
type Vocabulary struct {
	Name  string        // the provider
	Image dialect.Image // the size in which screenshots are sent
	Scale int           // points are on a grid up to it; 0 if they are pixels of the screenshot
	Prune int           // so many old screenshots go from a conversation at a time; 0 for the usual number

	why string // the argument in which a call says why it is made; "" if there is none

	also  []actuator.Action       // types that the tool has words for, beside those that every tool has
	verbs map[string]dialect.Verb // by name, in lower case; one may do nothing, such as to ask for a screenshot
	split func(actuator.Call) ([]dialect.Call, error)
	say   func(a actuator.Action, s dialect.Space) ([]dialect.Call, bool)
	join  func([]dialect.Call) []actuator.Call
}

// vocabularies are all that there are.
var vocabularies = []*Vocabulary{OpenAI, Anthropic, Gemini}

// Named returns the vocabulary of a provider; nil if there is none.
func Named(name string) *Vocabulary {
	for _, v := range vocabularies {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// Write returns actions as a model calls for them on a screenshot of that size, the calls
// without IDs; false if the provider has no words for one of them.
func (v *Vocabulary) Write(actions []actuator.Action, size image.Point) ([]actuator.Call, bool) {
	var said []dialect.Call
	for _, a := range actions {
		calls, ok := v.sayPlain(a, size)
		if !ok {
			return nil, false
		}
		said = append(said, calls...)
	}
	if len(said) == 0 {
		return nil, false
	}
	list := v.join(said)
	for i := range list {
		list[i].Computer = true
	}
	return list, true
}

// Describe returns an action in the provider's words, for its models to read of it; false if
// it has none.
func (v *Vocabulary) Describe(a actuator.Action, size image.Point) (string, bool) {
	calls, ok := v.sayPlain(a, size)
	if !ok {
		return "", false
	}
	words := make([]string, len(calls))
	for i, c := range calls {
		words[i] = c.String()
	}
	return strings.Join(words, ", "), true
}

// aCallEach makes a call of each action, as the tools do that have a function for each.
func aCallEach(calls []dialect.Call) (list []actuator.Call) {
	for _, c := range calls {
		args := map[string]any{}
		for _, a := range c.Args {
			args[a.Name] = a.Value
		}
		list = append(list, actuator.Call{Name: c.Name, Arguments: dialect.ToJSON(args)})
	}
	return list
}

func (v *Vocabulary) sayPlain(a actuator.Action, size image.Point) ([]dialect.Call, bool) {
	if actuator.ByHandle(a) || actuator.ByWords(a) {
		return nil, false // the tool has points alone
	}
	return v.say(a, dialect.SpaceOf(size, v.Scale))
}

// read returns the actions of one call, each possible in itself.
func (v *Vocabulary) read(c actuator.Call, bounds image.Rectangle) (list []actuator.Action, err error) {
	if err := actuator.TooLong(len(c.Arguments)); err != nil {
		return nil, err
	}
	calls, err := v.split(c)
	if err != nil {
		return nil, err
	}
	if len(calls) > actuator.MaxActions {
		return nil, tooMany(len(calls))
	}
	for _, call := range calls {
		does, ok := v.verbs[call.Name]
		if !ok {
			return nil, dialect.Unknown(call, v.verbs)
		}
		actions, err := does(call, dialect.SpaceOf(bounds.Size(), v.Scale))
		if err != nil {
			return nil, err
		}
		for _, a := range actions {
			a = dialect.Plain(a)
			if err := actuator.Validate(a, bounds); err != nil {
				return nil, err
			}
			list = append(list, a)
		}
	}
	return list, nil
}

func tooMany(n int) error {
	return fmt.Errorf("these are %d actions, more than %d, so none of them was done; ask for a few, then look at what they did", n, actuator.MaxActions)
}

// A Parser makes actions of a reply that may call the provider's own tool, and functions
// beside it. A reply that calls nothing although it is whole is the end of the task, in
// the model's view: what it says is the answer, or a question where it ends as one.
type Parser struct {
	Of   *Vocabulary
	Also []string // names of tools beside mouse and keyboard, which a run has
}

var _ actuator.Parser = Parser{}

// Parse returns the actions of a reply's calls in their order, with the call of each.
// Every error is an [*actuator.ParseError].
func (p Parser) Parse(reply actuator.Reply, bounds image.Rectangle) (actuator.Proposal, error) {
	out, err := p.parse(reply, bounds)
	if err == nil {
		return out, nil
	}
	if _, ok := errors.AsType[*actuator.ParseError](err); !ok {
		err = &actuator.ParseError{Message: err.Error()}
	}
	return actuator.Proposal{}, err
}

func (p Parser) parse(reply actuator.Reply, bounds image.Rectangle) (out actuator.Proposal, err error) {
	if err := actuator.TooLong(len(reply.Text)); err != nil {
		return out, err
	}
	out.Thought, out.Expect = actuator.SplitLabels(reply.Text)
	switch n := len(reply.Calls); {
	case n == 0:
		return p.end(out, reply)
	case n > actuator.MaxActions:
		return out, tooMany(n)
	}
	for i, c := range reply.Calls {
		actions, err := p.call(c, bounds)
		if n := len(out.Actions); err == nil && n > 0 && len(actions) > 0 && actuator.Final(out.Actions[n-1]) {
			err = fmt.Errorf("nothing is done after %s; call that last, or leave it out", actuator.Name(out.Actions[n-1]))
		}
		if err != nil && len(reply.Calls) > 1 {
			err = fmt.Errorf("%w (call %d of %d; none of them was done)", err, i+1, len(reply.Calls))
		}
		if err != nil {
			return out, err
		}
		for range actions {
			out.Calls = append(out.Calls, i)
		}
		if out.Actions = append(out.Actions, actions...); len(out.Actions) > actuator.MaxActions {
			return out, tooMany(len(out.Actions))
		}
	}
	if out.Thought == "" {
		out.Thought = p.Of.reasons(reply.Calls)
	}
	if len(out.Actions) == 0 { // it has asked for a screenshot, which the next turn has
		out.Actions, out.Calls = []actuator.Action{actuator.Wait{Milliseconds: 100}}, []int{0}
	}
	return out, nil
}

// reasons is what calls of the tool say of why they are made.
func (v *Vocabulary) reasons(calls []actuator.Call) string {
	var list []string
	for _, c := range calls {
		var args map[string]any
		if v.why != "" && c.Computer && json.Unmarshal([]byte(c.Arguments), &args) == nil {
			if why, _ := args[v.why].(string); strings.TrimSpace(why) != "" {
				list = append(list, strings.TrimSpace(why))
			}
		}
	}
	return strings.Join(list, "\n")
}

// call returns the actions of one call, of the provider's tool or of a function.
func (p Parser) call(c actuator.Call, bounds image.Rectangle) ([]actuator.Action, error) {
	if c.Computer {
		return p.Of.read(c, bounds)
	}
	functions := toolcall.Parser{Also: p.Also}
	if p.Of.Scale == 0 {
		one, err := functions.Parse(actuator.Reply{Calls: []actuator.Call{c}}, bounds)
		return one.Actions, err
	}
	one, err := functions.Parse(actuator.Reply{Calls: []actuator.Call{c}}, image.Rect(0, 0, p.Of.Scale, p.Of.Scale))
	if err != nil {
		return nil, err
	}
	for i, a := range one.Actions {
		a = offGrid(a, dialect.SpaceOf(bounds.Size(), p.Of.Scale))
		if err := actuator.Validate(a, bounds); err != nil {
			return nil, err
		}
		one.Actions[i] = a
	}
	return one.Actions, nil
}

// offGrid returns an action whose points and regions, which are on a grid, are in pixels: a
// model has one way to say where something is, whatever it calls.
func offGrid(a actuator.Action, s dialect.Space) actuator.Action {
	at := func(x, y int) actuator.Point {
		p, _ := s.Point(float64(x), float64(y)) // on the grid, as was checked
		return p
	}
	if z, ok := a.(actuator.Zoom); ok {
		r := z.Region.Rect()
		from, to := at(r.Min.X, r.Min.Y), at(r.Max.X-1, r.Max.Y-1)
		return actuator.Zoom{Region: actuator.Region{X: from.X, Y: from.Y, Width: to.X - from.X + 1, Height: to.Y - from.Y + 1}}
	}
	return actuator.Moved(a, func(p actuator.Point) actuator.Point {
		if !p.Placed() {
			return p
		}
		return at(p.X, p.Y)
	})
}

// end is what a reply means that calls nothing.
func (p Parser) end(out actuator.Proposal, reply actuator.Reply) (actuator.Proposal, error) {
	text := strings.TrimSpace(reply.Text)
	switch {
	case !reply.Ended:
		return out, errors.New("nothing was called, so nothing was done; call the computer tool, or a function")
	case text == "":
		return out, errors.New("the reply is empty, so nothing was done; call the computer tool, or the function done if the task is done")
	}
	var a actuator.Action = actuator.Done{Answer: text}
	if strings.HasSuffix(strings.TrimRight(text, "*_ )\"'"), "?") {
		a = actuator.Ask{Question: text}
	}
	if err := actuator.Validate(a, image.Rectangle{}); err != nil {
		return out, err
	}
	out.Actions, out.Calls = []actuator.Action{a}, []int{-1}
	return out, nil
}

// inTool are the types of actions that need no function beside the tool: it has words
// for them, or for what does the same.
var inTool = []actuator.Action{
	actuator.Click{}, actuator.Move{}, actuator.Drag{}, actuator.Scroll{}, actuator.Type{}, actuator.Press{}, actuator.Wait{},
	actuator.ButtonDown{}, actuator.ButtonUp{}, actuator.KeyDown{}, actuator.KeyUp{}, actuator.Hold{},
}

// Tools returns the functions that stand beside the provider's own tool: those for what
// that has no words for. Where the tool has points on a grid, they have them too.
func (v *Vocabulary) Tools() []toolcall.Tool {
	var without []string
	for _, a := range slices.Concat(inTool, v.also) {
		without = append(without, actuator.Name(a))
	}
	list := toolcall.Tools(without...)
	if v.Scale == 0 {
		return list
	}
	for i := range list {
		list[i].Parameters = bytes.ReplaceAll(list[i].Parameters, []byte(`"pixels from the`), fmt.Appendf(nil, `"from 0 to %d, from the`, v.Scale-1))
	}
	return list
}

// held does actions of the mouse while keys are held that no field of them has.
func held(keys []actuator.Key, a ...actuator.Action) (list []actuator.Action) {
	for _, k := range keys {
		list = append(list, actuator.KeyDown{Key: k})
	}
	list = append(list, a...)
	for _, k := range slices.Backward(keys) {
		list = append(list, actuator.KeyUp{Key: k})
	}
	return list
}
