package replay

import (
	"fmt"
	"image"
	"regexp"
	"slices"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// quotedHandle is a handle as code and the arguments of calls have it.
var quotedHandle = regexp.MustCompile(`(["'])(n[1-9][0-9]{0,8})(["'])`)

// rename has a recorded reply name the elements that it is for by the handles that they have
// on the live screen. Handles are counted, so that one element more, somewhere and sometime
// before, gives others to all that come after it. What the reply would do with a handle that
// is no longer its element's is nothing that [Recorded.check] has looked at.
func (m *Recorded) rename(answer *llm.Response, c *Call, o *screen.Observation) error {
	if c.Proposal == nil {
		return nil
	}
	now := map[string]string{}
	for _, a := range c.Proposal.Actions {
		for _, p := range actuator.Points(a.Action) {
			id, err := liveHandle(p, c.Proposal.Seen, o)
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
		return quotedHandle.ReplaceAllStringFunc(text, func(quoted string) string {
			if id := now[quoted[1:len(quoted)-1]]; id != "" {
				return quoted[:1] + id + quoted[len(quoted)-1:]
			}
			return quoted
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
func liveHandle(p actuator.Point, was *run.Observed, o *screen.Observation) (string, error) {
	id := string(p.Element.ID)
	if id == "" || was == nil {
		return id, nil
	}
	then := Recall(was)
	i := slices.IndexFunc(then.Tree.Nodes, func(n atspi.Node) bool { return n.ID == id })
	if i < 0 {
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
