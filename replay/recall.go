package replay

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"

	"desktop-agent/run"
	"desktop-agent/screen"
)

// Recall makes an observation of its event: everything but the pixels. Its
// frames have their size and no content; [Run.Pixels] reads that.
func Recall(e *run.Observed) *screen.Observation {
	o := &screen.Observation{
		FrameID: e.FrameID, At: e.At, Cursor: e.Cursor, Monitors: e.Monitors, Windows: e.Windows,
		Frame: &image.RGBA{Rect: image.Rectangle{Max: e.Frame}}, Settled: e.Settled, Timing: e.Timing,
		Screen: e.Screen, Unread: e.Unread,
		Tree:  screen.Tree{Nodes: e.Targets, Hung: e.Hung},
		Image: screen.Image{Type: "image/png", Mapping: e.Mapping},
	}
	o.Bare = o.Frame
	if e.TreeErr != "" {
		o.Tree.Err = errors.New(e.TreeErr)
	}
	return o
}

// Pixels reads the frame of an observation: with the pointer, and without it
// where the journal keeps what the pointer covers.
func (r *Run) Pixels(e *run.Observed) (frame, bare *image.RGBA, err error) {
	img, err := r.Frame(e.FrameID)
	if err != nil {
		return nil, nil, err
	}
	if img.Bounds().Size() != e.Frame {
		return nil, nil, fmt.Errorf("frame %s has %v pixels; the journal says %v", e.FrameID, img.Bounds().Size(), e.Frame)
	}
	frame = rgba(img)
	if e.Covered == nil {
		return frame, frame, nil
	}
	c, err := png.DecodeConfig(bytes.NewReader(e.Covered.PNG))
	if err == nil && (c.Width > e.Frame.X || c.Height > e.Frame.Y) {
		err = fmt.Errorf("it has %d×%d pixels, more than the frame", c.Width, c.Height)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("frame %s: what the pointer covers cannot be read: %w", e.FrameID, err)
	}
	covered, err := png.Decode(bytes.NewReader(e.Covered.PNG))
	if err != nil {
		return nil, nil, fmt.Errorf("frame %s: what the pointer covers cannot be read: %w", e.FrameID, err)
	}
	bare = &image.RGBA{Pix: bytes.Clone(frame.Pix), Stride: frame.Stride, Rect: frame.Rect}
	draw.Draw(bare, covered.Bounds().Sub(covered.Bounds().Min).Add(e.Covered.At), covered, covered.Bounds().Min, draw.Src)
	return frame, bare, nil
}

// rgba returns a picture as 8 bits a channel, from (0, 0).
func rgba(img image.Image) *image.RGBA {
	if m, ok := img.(*image.RGBA); ok && m.Rect.Min == (image.Point{}) {
		return m
	}
	m := image.NewRGBA(image.Rectangle{Max: img.Bounds().Size()})
	draw.Draw(m, m.Rect, img, img.Bounds().Min, draw.Src)
	return m
}
