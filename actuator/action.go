// Package actuator turns what a model says into typed actions, and performs
// them with mouse and keyboard.
//
// An [Action] speaks of the image that the model saw, and of the elements in the list
// that came with it. A [Parser] makes actions of a model's reply; a [Device] performs them on the desktop and takes back
// whatever it holds down, on every way out.
package actuator

import (
	"context"
	"image"
)

// An Action is one thing a person at the desktop could do. Points are in pixels
// of the image sent to the model, from its top left corner, or name an element by its
// handle: see [Point]. A nil point means where the pointer is.
//
// A new type of action is declared here and has the methods below. Its row in
// [Variants] says what holds of all its actions; what its fields are for follows
// from their types (see [Points], [Pressed] and [Entered]). A test at the root of
// the module names every other place that must know it.
type Action interface {
	// check returns why the action cannot be meant as it stands; see [Validate].
	check() error
	// describe puts the action into words; see [Describe].
	describe(describer) string
	// perform sends the action, whose points are in device pixels.
	perform(ctx context.Context, d *Device, points []image.Point) (output string, err error)
}

// The actions that a [Device] performs.
type (
	// Move moves the pointer.
	Move struct {
		At Point `json:"at"`
	}

	// Click clicks a mouse button Count times (1 to 3) while Modifiers are held.
	Click struct {
		At        *Point `json:"at" jsonschema:"a point, or an element of the list by its ID, such as \"n39\"; null for where the pointer is"`
		Button    Button `json:"button"`
		Count     int    `json:"count" jsonschema:"1 for a click, 2 for a double click, 3 for a triple click"`
		Modifiers []Key  `json:"modifiers" jsonschema:"keys held meanwhile"`
	}

	// ButtonDown presses a mouse button and leaves it down.
	ButtonDown struct {
		At     *Point `json:"at" jsonschema:"a point, or an element of the list by its ID, such as \"n39\"; null for where the pointer is"`
		Button Button `json:"button"`
	}

	// ButtonUp lets a mouse button go.
	ButtonUp struct {
		At     *Point `json:"at" jsonschema:"a point, or an element of the list by its ID, such as \"n39\"; null for where the pointer is"`
		Button Button `json:"button"`
	}

	// Drag holds a button along a path. A path of one point begins where the
	// pointer is.
	Drag struct {
		Path      []Point `json:"path" jsonschema:"the points to pass, or elements of the list by their IDs, first to last; a single one means from where the pointer is"`
		Button    Button  `json:"button"`
		Modifiers []Key   `json:"modifiers" jsonschema:"keys held meanwhile"`
	}

	// Scroll turns the wheel: DX notches to the right and DY notches down,
	// negative to the left and up.
	Scroll struct {
		At        *Point `json:"at" jsonschema:"a point, or an element of the list by its ID, such as \"n39\"; null for where the pointer is"`
		DX        int    `json:"dx" jsonschema:"notches to the right, negative to the left"`
		DY        int    `json:"dy" jsonschema:"notches down, negative up"`
		Modifiers []Key  `json:"modifiers" jsonschema:"keys held meanwhile"`
	}

	// Type types text as it is, in any script. A line break is Enter, a tab is Tab.
	Type struct {
		Text Secret `json:"text"`
	}

	// Press holds Keys down in order and lets them go in reverse, Count times:
	// a key or a shortcut.
	Press struct {
		Keys  []Key `json:"keys" jsonschema:"one key, or a shortcut such as [\"ctrl\", \"s\"]"`
		Count int   `json:"count" jsonschema:"how many times, usually 1"`
	}

	// KeyDown presses a key and leaves it down.
	KeyDown struct {
		Key Key `json:"key"`
	}

	// KeyUp lets a key go.
	KeyUp struct {
		Key Key `json:"key"`
	}

	// Hold holds Keys down for a time.
	Hold struct {
		Keys         []Key `json:"keys"`
		Milliseconds int   `json:"milliseconds"`
	}

	// Copy copies what is selected to the clipboard and reads it: the text is
	// in the result, for the model to read.
	Copy struct{}

	// Paste puts Text on the clipboard and pastes it; nil pastes what is there.
	Paste struct {
		Text *Secret `json:"text" jsonschema:"text to put on the clipboard first; null for what is there"`
	}

	// SetClipboard puts Text on the clipboard and pastes nothing.
	SetClipboard struct {
		Text Secret `json:"text"`
	}

	// Set has the program give an element another text or value, in place of what it
	// holds, without mouse and keyboard: where it offers that over the accessibility bus.
	Set struct {
		At   Point  `json:"at" jsonschema:"the element, by its ID in the list, such as \"n39\"; or a point of it"`
		Text Secret `json:"text" jsonschema:"the whole text that it shall hold; of a slider or a spin button, the number"`
	}

	// Wait waits.
	Wait struct {
		Milliseconds int `json:"milliseconds"`
	}

	// WaitUntil waits until something is on the screen, or is gone from it, for so long
	// at most. That it did not come is a result, [NoEffect], and no failure. What another
	// window covers is not gone; of what is read from the picture that is known where it was
	// seen while waiting.
	WaitUntil struct {
		For          Sign   `json:"for" jsonschema:"what to wait for: a window with such a title, a text, or an element of the list"`
		What         string `json:"what" jsonschema:"some words of the title; the text as it will be shown; or the element's ID, or what the list will call it: button \"Save\""`
		Gone         bool   `json:"gone" jsonschema:"true to wait until it is no longer there"`
		Milliseconds int    `json:"milliseconds" jsonschema:"how long at most, usually 10000"`

		Element Element `json:"element,omitzero"` // that What names, for who does not know the list
	}
)

// The actions that ask something of the agent instead of the desktop.
type (
	// Zoom asks to see a region of the image enlarged, in the next turn.
	Zoom struct {
		Region Region `json:"region"`
	}

	// Note keeps a fact in mind: it is shown in each turn from then on. What stands
	// behind it in the same reply is done.
	Note struct {
		Text string `json:"text" jsonschema:"the fact, as short as it can be said"`
	}

	// CallTool calls a tool, which is no mouse and no keyboard. The run knows which there
	// are, and what each may do.
	CallTool struct {
		Tool      string `json:"tool" jsonschema:"the name of the tool"`
		Arguments Object `json:"arguments" jsonschema:"a JSON object with the arguments of the tool"`
	}

	// Done says that the task is done.
	Done struct {
		Answer string `json:"answer" jsonschema:"the answer, where the task asks for one, or one sentence on what was done"`
	}

	// Infeasible says that the task cannot be done.
	Infeasible struct {
		Reason string `json:"reason"`
	}

	// Ask asks the user something that only a person can answer.
	Ask struct {
		Question string `json:"question"`
	}
)

// A Region is a rectangle of the image sent to the model.
type Region struct {
	X      int `json:"x" jsonschema:"pixels from the left edge of the image"`
	Y      int `json:"y" jsonschema:"pixels from the top edge of the image"`
	Width  int `json:"width"`
	Height int `json:"height"`
}

// Rect returns the region as a rectangle.
func (r Region) Rect() image.Rectangle { return image.Rect(r.X, r.Y, r.X+r.Width, r.Y+r.Height) }

// A Button is a mouse button.
type Button string

// The mouse buttons.
const (
	Left   Button = "left"
	Middle Button = "middle"
	Right  Button = "right"
)

// A Sign is what shows that a wait is over.
type Sign string

// The signs that [WaitUntil] waits for.
const (
	WindowSign  Sign = "window"
	TextSign    Sign = "text"
	ElementSign Sign = "element"
)

// A Key is the name of a key in lower case, such as "ctrl", "enter", "a" or
// "f5"; [ParseKey] makes one of the names that are in use.
type Key string

// A Secret is text that is typed or pasted. It is in the journal, but a log
// shows only its length.
type Secret string

// A Frame maps points of the image that the model saw to the desktop.
type Frame interface {
	// Bounds is the image; points outside it are refused.
	Bounds() image.Rectangle
	// ToDevice returns the pixel of the desktop under a pixel of the image.
	ToDevice(image.Point) image.Point
}

// A Status tells what became of an action.
type Status string

// What can become of an action.
const (
	Delivered Status = "delivered" // the input reached the desktop, and something changed, or may have
	NoEffect  Status = "no_effect" // the input was sent, and neither the screen nor the tree changed
	Refused   Status = "refused"   // nothing was sent
	Unknown   Status = "unknown"   // the input may or may not have arrived
)

// A Call is a tool call in a model's reply.
type Call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // JSON as the model wrote it

	// Computer says that it is one of the provider's own tool for mouse and keyboard.
	Computer bool `json:"computer,omitzero"`
}

// A Reply is what a parser reads: a model's text and tool calls.
type Reply struct {
	Text  string
	Calls []Call
	Ended bool // the model was not cut off, nor stopped, and wants nothing more
}

// A Proposal is a batch of actions with what the model said of them.
type Proposal struct {
	Thought string   // why
	Expect  string   // the effect that the model foresees, for the next observation to confirm; may be empty
	Actions []Action // in order, at least one
	Calls   []int    // for each action, which of the reply's calls asks for it, -1 for none; nil: the nth for the nth
	Ignored string   // what of the reply was not read, in words to the model; "" if all was
}

// A Parser makes actions of a model's reply, without executing any of it.
// Points outside bounds, the image that the model saw, are refused. A reply
// that is no action gives a [*ParseError].
type Parser interface {
	Parse(reply Reply, bounds image.Rectangle) (Proposal, error)
}
