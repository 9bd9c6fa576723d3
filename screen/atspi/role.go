package atspi

import (
	"slices"
	"strconv"
)

// A role is an AtspiRole: a number whose meaning never changes.
type role uint32

// The roles that the walk treats in a way of their own.
const (
	roleArrow        role = 4 // of a button in a tool bar: see [object.arrow]
	roleCheckBox     role = 7
	roleColorChooser role = 9
	roleComboBox     role = 11
	roleDateEditor   role = 12
	roleDial         role = 15
	roleIcon         role = 26
	roleImage        role = 27
	roleLabel        role = 29
	roleList         role = 31
	roleMenu         role = 33
	roleMenuItem     role = 35
	rolePageTab      role = 37
	rolePanel        role = 39
	rolePassword     role = 40
	rolePopupMenu    role = 41
	roleProgressBar  role = 42
	rolePushButton   role = 43
	roleRadioButton  role = 44
	roleRootPane     role = 46
	roleScrollBar    role = 48
	roleScrollPane   role = 49
	roleSlider       role = 51
	roleSpinButton   role = 52
	roleStatusBar    role = 54
	roleTable        role = 55
	roleTableCell    role = 56

	roleTableColumnHeader role = 57
	roleTableRowHeader    role = 58

	roleTerminal     role = 60
	roleText         role = 61
	roleToggleButton role = 62
	roleToolBar      role = 63
	roleTree         role = 65
	roleTreeTable    role = 66
	roleViewport     role = 68
	roleParagraph    role = 73
	roleAutocomplete role = 76
	roleEditBar      role = 77
	roleEntry        role = 79
	roleCaption      role = 81
	roleHeading      role = 83
	roleSection      role = 85
	roleDocumentText role = 94
	roleDocumentWeb  role = 95
	roleComment      role = 97
	roleListBox      role = 98
	roleLevelBar     role = 103
	roleStatic       role = 116

	rolePushButtonMenu role = 129
	roleSwitch         role = 130
)

// String returns the name that AT-SPI has for the role.
func (r role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return "role " + strconv.Itoa(int(r))
}

// IsRole reports whether AT-SPI has a role of a name.
func IsRole(name string) bool { return slices.Contains(roleNames[:], name) }

// Operable reports whether objects of a role are controls: what a person clicks,
// switches, chooses, sets or types into. They are told to a model also where they
// have no name, and "disabled" where they cannot be operated now.
func Operable(role string) bool {
	switch role {
	case "push button", "push button menu", "arrow", "link", "icon", // a click does or opens something
		"menu", "menu item", "tearoff menu item",
		"check box", "check menu item", "radio button", "radio menu item", "switch", "toggle button", // a click switches it
		"combo box", "list item", "tree item", "page tab", // a click chooses it, or what to choose from
		"calendar", "color chooser", "date editor", "dial", "slider", "spin button", // has a value that is set
		"editbar", "entry", "password text", "terminal", "text": // takes what is typed
		return true
	}
	return false
}

// Field reports whether objects of a role take a text, a value or a choice, which does
// not tell what it is for: what they hold says nothing of which they are.
func Field(role string) bool {
	switch role {
	case "autocomplete", "editbar", "entry", "password text", "text",
		"calendar", "combo box", "date editor", "dial", "slider", "spin button":
		return true
	}
	return false
}

// ShowsContent reports whether objects of a role are called by what they show, which
// may change while they stay what they are.
func ShowsContent(role string) bool {
	switch role {
	case "label", "static", "status bar", "paragraph", "heading", "caption", "text", "progress bar", "combo box":
		return true
	}
	return false
}

// Titled reports whether objects of a role are called by the title of what is open in
// them, which may change while they stay what they are.
func Titled(role string) bool {
	switch role {
	case "frame", "dialog", "window", "root pane", "terminal",
		"document frame", "document web", "document text", "document spreadsheet", "document presentation":
		return true
	}
	return false
}

// CutsOff reports whether children of objects of a role are taken to be cut off where it
// ends, when one of them is aimed at. These are more than the walk cuts off ([role.clips]),
// which tells nothing of what lies beyond: not all lists are as large as they say.
func CutsOff(role string) bool {
	switch role {
	case "scroll pane", "viewport", "list", "list box", "tree",
		"document web", "document text", "document spreadsheet", "document presentation":
		return true
	}
	return false
}

// Scrolls reports whether a part of what is in objects of a role may be out of view, and is
// scrolled to.
func Scrolls(role string) bool { return lists(role) || CutsOff(role) }

// lists reports whether objects of a role hold things of one kind, of which a part
// may be scrolled out of view.
func lists(role string) bool {
	switch role {
	case "layered pane", "list", "list box", "menu", "page tab list", "table", "tree", "tree table",
		"section", "document text", "document web":
		return true
	}
	return false
}

// Clickable reports whether a click on an object of a role does something that a
// click on what is around it does not. Beside the controls, these are parts that
// are too many, or too little by themselves, to be told without a name: a cell is
// chosen, a heading sorts or chooses a row, a scroll bar moves.
func Clickable(role string) bool {
	switch role {
	case "table cell", "table column header", "table row header", "column header", "row header", "scroll bar":
		return true
	}
	return Operable(role)
}

// holdsText reports whether objects of the role may hold text that their name
// does not tell. The role of passwords is left out on purpose.
func (r role) holdsText() bool {
	switch r {
	case roleLabel, roleSpinButton, roleStatusBar, roleTableCell, roleTerminal, roleText,
		roleParagraph, roleAutocomplete, roleEditBar, roleEntry, roleCaption, roleHeading,
		roleDocumentText, roleComment, roleStatic:
		return true
	}
	return false
}

// holdsValue reports whether objects of the role hold a number worth telling.
func (r role) holdsValue() bool {
	switch r {
	case roleDial, roleProgressBar, roleSlider, roleSpinButton, roleLevelBar:
		return true
	}
	return false
}

func (r role) field() bool { return Field(r.String()) }

// toggles reports whether a click switches the role on and off.
func (r role) toggles() bool {
	switch r {
	case roleCheckBox, roleRadioButton, roleToggleButton, roleSwitch:
		return true
	}
	return false
}

// described reports whether descriptions and tooltips of the role are asked for:
// those of menus, rows and links are rare, and there are many of these.
func (r role) described() bool {
	switch r {
	case rolePushButton, rolePushButtonMenu, roleIcon, roleColorChooser:
		return true
	}
	return r.field() || r.toggles()
}

// ranges reports whether the number of the role can be set, between two others.
func (r role) ranges() bool { return r == roleDial || r == roleSlider || r == roleSpinButton }

// tabular reports whether the children of the role are the cells of a table.
func (r role) tabular() bool { return r == roleTable || r == roleTreeTable }

// clips reports whether the role hides the parts of its children beyond its box.
func (r role) clips() bool {
	return r == roleScrollPane || r == roleViewport || r == roleDocumentWeb
}

func (r role) lists() bool { return lists(r.String()) }

// popsUp reports whether the children of the role are shown in a window of
// their own, outside the box of their parent.
func (r role) popsUp() bool {
	return r == roleMenu || r == rolePopupMenu || r == roleComboBox
}

// roleNames is indexed by AtspiRole; see
// https://docs.gtk.org/atspi2/enum.Role.html.
var roleNames = [...]string{
	"invalid", "accelerator label", "alert", "animation", "arrow", "calendar", "canvas", "check box",
	"check menu item", "color chooser", "column header", "combo box", "date editor", "desktop icon",
	"desktop frame", "dial", "dialog", "directory pane", "drawing area", "file chooser", "filler",
	"focus traversable", "font chooser", "frame", "glass pane", "html container", "icon", "image",
	"internal frame", "label", "layered pane", "list", "list item", "menu", "menu bar", "menu item",
	"option pane", "page tab", "page tab list", "panel", "password text", "popup menu", "progress bar",
	"push button", "radio button", "radio menu item", "root pane", "row header", "scroll bar",
	"scroll pane", "separator", "slider", "spin button", "split pane", "status bar", "table",
	"table cell", "table column header", "table row header", "tearoff menu item", "terminal", "text",
	"toggle button", "tool bar", "tool tip", "tree", "tree table", "unknown", "viewport", "window",
	"extended", "header", "footer", "paragraph", "ruler", "application", "autocomplete", "editbar",
	"embedded", "entry", "chart", "caption", "document frame", "heading", "page", "section",
	"redundant object", "form", "link", "input method window", "table row", "tree item",
	"document spreadsheet", "document presentation", "document text", "document web", "document email",
	"comment", "list box", "grouping", "image map", "notification", "info bar", "level bar", "title bar",
	"block quote", "audio", "video", "definition", "article", "landmark", "log", "marquee", "math",
	"rating", "timer", "static", "math fraction", "math root", "subscript", "superscript",
	"description list", "description term", "description value", "footnote", "content deletion",
	"content insertion", "mark", "suggestion", "push button menu", "switch",
}
