package atspi

// A stateSet is a set of AtspiStateType, one bit each
// (https://docs.gtk.org/atspi2/enum.StateType.html).
type stateSet uint64

// The states that the walk looks at.
const (
	stateArmed              = 2
	stateCollapsed          = 5
	stateDefunct            = 6
	stateEditable           = 7
	stateEnabled            = 8
	stateExpandable         = 9
	stateExpanded           = 10
	stateFocusable          = 11
	stateFocused            = 12
	stateIconified          = 15
	stateMultiLine          = 17
	stateSelected           = 23
	stateSensitive          = 24
	stateShowing            = 25
	stateVisible            = 30
	stateManagesDescendants = 31
	stateRequired           = 33
	stateInvalid            = 36
	stateReadOnly           = 43
)

// toldStates are the states that a node tells, in the order in which it does.
var toldStates = []struct {
	bit  uint
	name string
}{
	{1, "active"},
	{12, "focused"},
	{23, "selected"},
	{4, "checked"},
	{32, "indeterminate"},
	{20, "pressed"},
	{10, "expanded"},
	{stateCollapsed, "collapsed"},
	{7, "editable"},
	{17, "multi-line"},
	{43, "read-only"},
	{3, "busy"},
	{16, "modal"},
	{stateRequired, "required"},
	{stateInvalid, "invalid"},
	{39, "default"},
}

// newStateSet makes a set of the two words that come over the bus.
func newStateSet(words []uint32) stateSet {
	var s stateSet
	for i, w := range words[:min(len(words), 2)] {
		s |= stateSet(w) << (32 * i)
	}
	return s
}

func (s stateSet) has(bit uint) bool { return s>>bit&1 == 1 }

// shown reports whether an object with these states can be on the screen; loose
// is for programs that do not tell what is showing.
func (s stateSet) shown(loose bool) bool {
	return (s.has(stateShowing) || loose) && s.has(stateVisible) && !s.has(stateIconified)
}

// open reports whether a menu with these states may have been opened.
func (s stateSet) open() bool {
	return s.has(stateSelected) || s.has(stateExpanded) || s.has(stateArmed)
}

// unjudged reports whether an object that is said to be invalid need not be. Chromium says
// it of a date by what the date was when the page came, whatever is entered then, and of a
// required choice until it is made, which the page does not show: "required" tells as much.
func (s stateSet) unjudged(r role) bool {
	return r == roleDateEditor || s.has(stateRequired) && (r == roleComboBox || r.toggles())
}

// told returns the names of the states worth telling. An object that is
// neither enabled nor sensitive is "disabled" if a person could use it
// otherwise.
func (s stateSet) told(r role) []string {
	var names []string
	if r == roleToggleButton && s.has(stateExpandable) && !s.has(stateExpanded) {
		s |= 1 << stateCollapsed // GTK's button that unfolds what is below it says no more
	}
	for _, t := range toldStates {
		switch {
		case r == roleArrow: // its button has them
		case !s.has(t.bit), t.name == "read-only" && !Operable(r.String()):
		case t.bit == stateInvalid && s.unjudged(r):
		case t.name == "multi-line" && r != roleText: // that of paragraphs and documents goes without saying
		default:
			names = append(names, t.name)
		}
	}
	if s.disabled() && (s.has(stateFocusable) || Operable(r.String())) {
		names = append(names, "disabled")
	}
	return names
}

func (s stateSet) disabled() bool { return !s.has(stateEnabled) && !s.has(stateSensitive) }
