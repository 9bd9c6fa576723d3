package dialect

import (
	"errors"
	"fmt"
	"image"
	"strings"

	"desktop-agent/actuator"
)

// A Dialect is the form in which a family of models writes its actions.
type Dialect struct {
	Name        string // such as "ui-tars-1.5"
	Family      string // for a person to read
	Scale       int    // points are on a grid up to it; 0 if they are pixels of the picture
	Image       Image
	Screenshots int // so many screenshots are in a conversation at most

	form   form
	prompt string // the file of its prompts
	talk   func(*Dialect, Question) ([]Message, error)
	past   func(said string) string // a reply as it stands in the conversation; nil for as it is
}

// A form is how actions are written.
type form interface {
	// read returns what a reply says: its thought, and actions, of which each is
	// possible in itself.
	read(reply actuator.Reply, s Space) (thought string, actions []actuator.Action, err error)
	// write returns actions as a reply; false if the form cannot say one of them.
	write(thought string, actions []actuator.Action, s Space) (string, bool)
	// describe returns an action without what a reply has around it.
	describe(a actuator.Action, s Space) (string, bool)
}

// All returns the dialects that there are.
func All() []*Dialect { return dialects }

// Named returns the dialect of a name; nil if there is none.
func Named(name string) *Dialect {
	for _, d := range dialects {
		if d.Name == name {
			return d
		}
	}
	return nil
}

// Parser returns what makes actions of a reply in the dialect.
func (d *Dialect) Parser() actuator.Parser { return parser{d} }

// Write returns actions as a model of the family writes them, of a picture of that size;
// false if the dialect has no words for one of them, or not for all of them in one reply.
func (d *Dialect) Write(thought string, actions []actuator.Action, size image.Point) (string, bool) {
	for _, a := range actions {
		if actuator.ByHandle(a) {
			return "", false // these models are shown no list of elements
		}
		if thoughtTag.MatchString(words(a)) {
			return "", false // it would be read as a thought
		}
	}
	if len(actions) == 0 {
		return "", false
	}
	return d.form.write(thought, actions, d.space(size))
}

// Describe returns an action in the words of the dialect, for its models to read of it; false
// if it has none.
func (d *Dialect) Describe(a actuator.Action, size image.Point) (string, bool) {
	return d.form.describe(a, d.space(size))
}

// words returns the text that an action has in its argument.
func words(a actuator.Action) string {
	switch a := a.(type) {
	case actuator.Done:
		return a.Answer
	case actuator.Infeasible:
		return a.Reason
	case actuator.Ask:
		return a.Question
	default: // what it enters
	}
	text, _ := actuator.Entered(a)
	return text
}

type parser struct{ dialect *Dialect }

// Parse returns what a reply says. Every error is an [*actuator.ParseError].
func (p parser) Parse(reply actuator.Reply, bounds image.Rectangle) (actuator.Proposal, error) {
	actions, thought, err := p.dialect.parse(reply, bounds)
	if err == nil {
		return actuator.Proposal{Thought: thought, Actions: actions}, nil
	}
	if _, ok := errors.AsType[*actuator.ParseError](err); !ok {
		err = &actuator.ParseError{Message: err.Error()}
	}
	return actuator.Proposal{}, err
}

func (d *Dialect) parse(reply actuator.Reply, bounds image.Rectangle) (actions []actuator.Action, thought string, err error) {
	if err := actuator.TooLong(len(reply.Text)); err != nil {
		return nil, "", err
	}
	for _, c := range reply.Calls {
		if err := actuator.TooLong(len(c.Arguments)); err != nil {
			return nil, "", err
		}
	}
	if strings.TrimSpace(reply.Text) == "" && len(reply.Calls) == 0 {
		return nil, "", errors.New("the reply is empty, so nothing was done; write one action in the form that was asked for")
	}
	thought, rest, err := CutThought(reply.Text)
	if err != nil {
		return nil, "", err
	}
	reply.Text = rest
	said, actions, err := d.form.read(reply, d.space(bounds.Size()))
	if err != nil {
		return nil, "", err
	}
	thought = strings.TrimSpace(thought + "\n" + said)
	switch n := len(actions); {
	case n == 0:
		return nil, "", errors.New("the reply has no action, so nothing was done; write one in the form that was asked for")
	case n > actuator.MaxActions:
		return nil, "", fmt.Errorf("these are %d actions, more than %d, so none of them was done; write a few, then look at what they did", n, actuator.MaxActions)
	}
	for i, a := range actions {
		a = concluded(Plain(a), thought)
		actions[i] = a
		if err := actuator.Validate(a, bounds); err != nil {
			return nil, "", err
		}
		if i < len(actions)-1 && actuator.Final(a) {
			return nil, "", fmt.Errorf("nothing is done after %s, so nothing was done at all; write that last, or leave it out", actuator.Name(a))
		}
	}
	return actions, thought, nil
}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Plain has Enter pressed once for a line break.
func Plain(a actuator.Action) actuator.Action {
	if t, ok := a.(actuator.Type); ok {
		return actuator.Type{Text: actuator.Secret(newlines.Replace(string(t.Text)))}
	}
	return a
}

// maxReason is how many characters of a thought stand for a reason that was not given.
const maxReason = 2000

// concluded gives an end that says nothing what was said before it: many forms have no
// words of their own for why.
func concluded(a actuator.Action, thought string) actuator.Action {
	if r := []rune(thought); len(r) > maxReason {
		thought = string(r[len(r)-maxReason:])
	}
	switch a := a.(type) {
	case actuator.Infeasible:
		if a.Reason == "" {
			return actuator.Infeasible{Reason: thought}
		}
	case actuator.Ask:
		if a.Question == "" {
			return actuator.Ask{Question: thought}
		}
	default: // nothing of it is left out
	}
	return a
}
