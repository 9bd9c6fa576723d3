// Package screen sees a desktop: it waits until the screen is still, takes a
// picture, and reads the windows and the accessibility tree.
package screen

import (
	"image"
	"slices"
	"time"

	"desktop-agent/screen/atspi"
)

// An Observation is what the desktop looked like at one moment.
type Observation struct {
	FrameID  string      // names this frame within a run, such as "f0007"
	At       time.Time   // when the frame was taken
	Frame    *image.RGBA // the whole screen with the pointer drawn, in device pixels
	Bare     *image.RGBA // the same without the pointer, to compare with
	Screen   string      // of a record, which may be read without its pixels: names what its picture shows, as others of the run that show the same
	Image    Image       // what a model is sent
	Monitors []Monitor
	Cursor   image.Point // the pointer's hot spot, in device pixels
	Windows  []Window    // managed ones bottom to top, then menus, tooltips and the like
	Tree     Tree
	Unread   bool // not all text was read from the picture that no program tells: what is missing may be there
	Settled  Settled
	Timing   Timing

	texts *texts // that were made of it; nil as long as it may change
}

// An Image is a picture encoded for a model, with its place on the desktop.
type Image struct {
	Data    []byte // encoded
	Type    string // MIME type, such as "image/png"
	Mapping Mapping
}

// A Monitor is one output of the desktop.
type Monitor struct {
	Name    string
	Box     image.Rectangle // device pixels
	Primary bool
}

// A Window is a top-level window: one that the window manager manages, or a
// menu, tooltip or notification, which it does not.
type Window struct {
	ID      uint32
	Title   string
	Class   string          // WM_CLASS, the class part
	Type    string          // what it says it is: "normal", "dialog", "popup_menu", "tooltip" …; "" if nothing
	PID     int             // 0 if unknown
	Box     image.Rectangle // device pixels, without the window manager's frame
	Focused bool
	Popup   bool // not managed: a menu, tooltip or notification
	Hidden  bool // minimised, or on another workspace
}

// A Tree holds what the programs tell about themselves over the accessibility
// bus: the nodes that can be seen, application by application, parents before
// children.
type Tree struct {
	Nodes []atspi.Node
	Hung  []atspi.Program // that did not answer in time
	Err   error           // why there is no tree at all; nil if there is one
}

// Hangs reports whether the program that a process is of did not answer in time: nodes of it
// may be missing. Where the process of either is not known, it may be that one.
func (t Tree) Hangs(pid int) bool {
	_, hangs := t.Hanging(pid)
	return hangs
}

// Hanging is [Tree.Hangs] with the name of the program.
func (t Tree) Hanging(pid int) (name string, hangs bool) {
	for _, p := range t.Hung {
		if p.PID == pid || p.PID == 0 || pid == 0 {
			return p.Name, true
		}
	}
	return "", false
}

// A Timing tells how long each part of an observation took.
type Timing struct {
	Settle  time.Duration // nanoseconds, as all of these
	Capture time.Duration
	Windows time.Duration
	Tree    time.Duration
	Encode  time.Duration
	OCR     time.Duration // of reading text from the picture
	Total   time.Duration
}

// Focused returns the window that has the focus.
func (o *Observation) Focused() (Window, bool) {
	if i := FocusedWindow(o.Windows); i >= 0 {
		return o.Windows[i], true
	}
	return Window{}, false
}

// FocusedWindow returns the index of the window that has the focus; -1 if none has.
func FocusedWindow(list []Window) int {
	return slices.IndexFunc(list, func(w Window) bool { return w.Focused })
}
