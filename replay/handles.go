package replay

import (
	"fmt"
	"image"
	"regexp"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// quoted is a word as code and the arguments of calls have a handle.
var quoted = regexp.MustCompile(`["']\w+["']`)

// rename has a recorded reply name the elements that it is for by the handles that they have
// on the live screen. Handles are counted, so that one element more, somewhere and sometime
// before, gives others to all that come after it. What the reply would do with a handle that
// is no longer its element's is nothing that [Recorded.check] has looked at.
func (m *Recorded) rename(answer *llm.Response, c *Call, o *screen.Observation) error {
	if c.Proposal == nil || c.Proposal.Seen == nil {
		return nil
	}
	then := Recall(c.Proposal.Seen)
	now := map[string]string{}
	for _, a := range c.Proposal.Actions {
		for _, p := range actuator.Points(a.Action) {
			id, err := liveHandle(p, then, o)
			if err != nil {
				return &MismatchError{
					Step: c.Step, Action: actuator.Describe(a.Action), Expected: p.Element.String(), Found: err.Error(), Frame: o.FrameID,
				}
			}
			if id != string(p.Element.ID) {
				now[string(p.Element.ID)] = id
			}
		}
	}
	for _, a := range c.Proposal.Actions {
		if text, _ := actuator.Entered(a.Action); now[text] != "" {
			return &MismatchError{
				Step: c.Step, Action: actuator.Describe(a.Action), Expected: "an element under the handle " + text,
				Found: "it under " + now[text] + ", and the reply types the same as the handle", Frame: o.FrameID,
			}
		}
	}
	if len(now) == 0 {
		return nil
	}
	renamed := func(text string) string {
		return quoted.ReplaceAllStringFunc(text, func(word string) string {
			if id := now[word[1:len(word)-1]]; id != "" {
				return word[:1] + id + word[len(word)-1:]
			}
			return word
		})
	}
	answer.Text = renamed(answer.Text)
	for i := range answer.Calls {
		answer.Calls[i].Arguments = renamed(answer.Calls[i].Arguments)
	}
	return nil
}

// liveHandle returns the handle of what a recorded point is for, on the live screen; that of
// the recording where the point has none, or lies beside its element.
func liveHandle(p actuator.Point, then, o *screen.Observation) (string, error) {
	id := string(p.Element.ID)
	i, ok := then.Element(id)
	if !ok {
		return id, nil
	}
	at, wanted := image.Pt(p.X, p.Y), then.Tree.Nodes[i]
	if n := around(then, at, wanted); n == nil || n.ID != id {
		return id, nil
	}
	if n := around(o, at, wanted); n != nil {
		return n.ID, nil
	}
	return "", fmt.Errorf("no such element at (%d, %d)", at.X, at.Y)
}

// around returns the innermost element around a point of the image that is called as another
// one; nil if there is none.
func around(o *screen.Observation, at image.Point, like atspi.Node) *atspi.Node {
	for i := o.PlaceAt(at).Node; i >= 0; i = o.Tree.Nodes[i].Parent {
		if n := &o.Tree.Nodes[i]; n.Role == like.Role && n.Name == like.Name {
			return n
		}
	}
	return nil
}
