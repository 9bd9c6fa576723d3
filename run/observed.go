package run

import (
	"bytes"
	"image"
	"image/png"

	"desktop-agent/screen"
)

// observed is the event of an observation. name is the screen's, which
// [monitor.Screens] gives.
func observed(o *screen.Observation, name string) Observed {
	e := Observed{
		FrameID: o.FrameID, At: o.At, Mapping: o.Image.Mapping, Frame: o.Frame.Rect.Size(),
		Cursor: o.Cursor, Monitors: o.Monitors, Windows: o.Windows, Targets: o.Tree.Nodes, Hung: o.Tree.Hung,
		Unread: o.Unread, Screen: name, Covered: covered(o), Settled: o.Settled, Timing: o.Timing,
	}
	if o.Tree.Err != nil {
		e.TreeErr = o.Tree.Err.Error()
	}
	return e
}

// pointerReach is how far the picture of a pointer goes from its hot spot, in
// device pixels.
const pointerReach = 96

// covered keeps what the pointer hides on a frame; nil if it hides nothing.
func covered(o *screen.Observation) *Covered {
	if o.Bare == nil || o.Bare.Rect != o.Frame.Rect || len(o.Bare.Pix) == 0 || len(o.Frame.Pix) == 0 {
		return nil
	}
	near := image.Rectangle{Min: o.Cursor, Max: o.Cursor}.Inset(-pointerReach).Intersect(o.Frame.Rect)
	box := screen.DiffBox(o.Frame.SubImage(near).(*image.RGBA), o.Bare.SubImage(near).(*image.RGBA))
	if box.Empty() {
		return nil
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, o.Bare.SubImage(box)); err != nil {
		return nil // it cannot be: the buffer takes all
	}
	return &Covered{At: box.Min, PNG: buf.Bytes()}
}
