package run

import (
	"fmt"
	"strconv"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/screen"
)

// maxCandidates is how many elements are told that words may mean.
const maxCandidates = 6

// ByWords returns the element that words mean on an observation; "" if they mean none. If
// they mean several, err lists them for the model to read. covered is an element that they
// mean and that cannot be seen.
func ByWords(words string, o *screen.Observation) (id, covered actuator.Handle, err error) {
	list, hidden := o.Meant(words)
	if len(list) > 1 {
		return "", "", &actuator.ParseError{Message: fmt.Sprintf(
			"%s can mean %d elements, so nothing was done: %s. Write the ID of the one that is meant", strconv.Quote(words), len(list), listed(o, list))}
	}
	if len(list) == 0 {
		return "", "", nil
	}
	if id = actuator.Handle(o.Tree.Nodes[list[0]].ID); hidden {
		return "", id, nil
	}
	return id, "", nil
}

// NotNamed is why nothing is done at what words mean: no element of the list is called so.
// why is what was done to find it otherwise; "" for nothing.
func NotNamed(words, why string, o *screen.Observation) error {
	if why != "" {
		why = ", and " + why
	}
	near := ""
	if list := o.Near(words, maxCandidates); len(list) > 0 {
		near = "; the nearest are " + listed(o, list)
	}
	return &actuator.ParseError{Message: fmt.Sprintf(
		"no element of the list is %s%s, so nothing was done%s. Write the ID of an element, other words for it, or a point of the screenshot", strconv.Quote(words), why, near)}
}

// listed lists elements as the list of the screen calls them, with the windows they are in.
func listed(o *screen.Observation, list []int) string {
	windows := o.NodeWindows()
	var words []string
	for _, i := range list[:min(len(list), maxCandidates)] {
		n := o.Tree.Nodes[i]
		text := ElementOf(actuator.Handle(n.ID), n).String()
		if w := windows[i]; w >= 0 {
			text += " in " + o.Windows[w].Describe(quoteName)
		}
		words = append(words, text)
	}
	if more := len(list) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, "; ")
}

// inWords returns a point that is named in words as one at the element that they mean.
func inWords(p actuator.Point, o *screen.Observation) (actuator.Point, error) {
	id, covered, err := ByWords(p.Element.Words, o)
	switch {
	case err != nil:
		return p, err
	case id == "" && covered == "":
		return p, NotNamed(p.Element.Words, "", o)
	case id == "":
		id = covered // why it cannot be reached is told when it is looked for
	}
	return actuator.Point{Element: actuator.Element{ID: id}}, nil
}
