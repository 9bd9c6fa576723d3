package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"desktop-agent/actuator"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// Device pixels around what is black.
const (
	margin   = 3  // of a node
	frameTop = 40 // the title bar above a window
	ownTop   = 48 // a title bar that a program draws inside of its window
	frameRim = 8
)

// A painter finds the parts of frames that are to be black.
type painter struct {
	*masker
	last   *screen.Observation
	typed  bool               // since last, a masked text was entered
	aimed  []uint32           // windows that were clicked since last
	moved  bool               // since last, keys may have moved the focus, or a line or tab was entered
	marked map[uint32]*window // those that a masked text was entered into
	all    bool               // it was entered, and nobody knows where
}

func newPainter(m *masker) painter { return painter{masker: m, marked: map[uint32]*window{}} }

// A window is one that a masked text was entered into.
type window struct {
	box   image.Rectangle   // where it was when the spots were noted
	spots []image.Rectangle // what had the focus
	whole bool              // the tree does not tell where the text is
}

// acts notes what an action may put on the screen.
func (p *painter) acts(a run.Acting) {
	if p.last != nil {
		for _, at := range a.Device {
			if i := p.last.PlaceAtDevice(at).Window; i >= 0 {
				p.aimed = append(p.aimed, p.last.Windows[i].ID)
			}
		}
	}
	text, ok := actuator.Entered(a.Action.Action)
	p.moved = p.moved || ok && (p.typed || strings.ContainsAny(text, "\n\r\t")) || movesFocus(a.Action.Action)
	if _, key := pressed(a.Action.Action); key && p.red.Typed || ok && (p.red.Typed || p.shows(text)) {
		p.typed = true
	}
}

// movesFocus reports whether keys can give something else the focus.
func movesFocus(a actuator.Action) bool {
	keys := actuator.Pressed(a)
	_, press := a.(actuator.Press)
	return len(keys) > 0 && !(press && slices.Equal(keys, []actuator.Key{"ctrl", "a"}))
}

// redacted returns what is black on a frame.
func (p *painter) redacted(e *run.Observed) (black []image.Rectangle) {
	o := replay.Recall(e)
	if p.typed {
		p.mark(o)
	}
	p.last, p.typed, p.aimed, p.moved = o, false, nil, false
	screenBox := o.Frame.Rect
	if p.all {
		return []image.Rectangle{screenBox}
	}
	for _, r := range p.red.Regions {
		black = append(black, r.on(o)...)
	}
	black = append(black, p.nodes(o)...)
	for i, w := range o.Windows {
		if p.shows(w.Title) && !w.Hidden {
			black = append(black, ownBar(o, i))
		}
		if m := p.marked[w.ID]; m != nil && !w.Hidden {
			black = append(black, p.window(o, i, m)...)
		}
	}
	return slices.DeleteFunc(black, func(r image.Rectangle) bool { return !r.Overlaps(screenBox) })
}

// on returns the parts of a frame that a region covers.
func (r Region) on(o *screen.Observation) (list []image.Rectangle) {
	if r.Title == "" && r.Class == "" {
		return []image.Rectangle{r.Box}
	}
	for _, w := range o.Windows {
		if w.Hidden || r.Class != "" && !strings.EqualFold(w.Class, r.Class) ||
			!strings.Contains(string(fold(w.Title)), string(fold(r.Title))) {
			continue
		}
		if !r.Box.Empty() {
			return []image.Rectangle{r.Box}
		}
		list = append(list, outside(w.Box))
	}
	return list
}

func outside(box image.Rectangle) image.Rectangle {
	return image.Rect(box.Min.X-frameRim, box.Min.Y-frameTop, box.Max.X+frameRim, box.Max.Y+frameRim)
}

func titleBar(box image.Rectangle) image.Rectangle {
	bar := outside(box)
	bar.Max.Y = box.Min.Y + ownTop
	return bar
}

// ownBar returns the title bar of a window: what its node has above the window
// where the window manager draws it, and else the upper part of the window too.
func ownBar(o *screen.Observation, at int) image.Rectangle {
	w := o.Windows[at]
	bar := titleBar(w.Box)
	for i, in := range o.NodeWindows() {
		n := o.Tree.Nodes[i]
		if above := w.Box.Min.Y - n.Box.Min.Y; n.Parent < 0 && in == at && n.Name == w.Title && above >= 10 && above <= frameTop {
			bar.Max.Y = w.Box.Min.Y
		}
	}
	return bar
}

// nodes returns the boxes of the nodes that show a masked text or a password.
func (p *painter) nodes(o *screen.Observation) (black []image.Rectangle) {
	windows := o.NodeWindows()
	for i, n := range o.Tree.Nodes {
		top := n.Parent < 0
		if !isPassword(n.Role) && !p.shows(n.Name) && !p.shows(n.Text) {
			continue
		}
		long := 0
		if p.shows(n.Name) {
			long = utf8.RuneCountInString(n.Name)
		}
		for n.Parent >= 0 && n.Parent < i && (n.Box.Empty() || letters(n.Box) < long) {
			// The name stands beside it, as that of a check box does: it is in what is around.
			i = n.Parent
			n.Box, n.Parent = o.Tree.Nodes[i].Box, o.Tree.Nodes[i].Parent
		}
		w := windows[i]
		switch {
		case !top && n.Parent < 0: // it can be anywhere in the window
			black = append(black, outside(n.Box))
		case !top:
			black = append(black, n.Box.Inset(-margin))
		case !p.shows(n.Name) || w < 0 || o.Windows[w].Title != n.Name: // else it is the window's title
			black = append(black, titleBar(n.Box))
		}
	}
	return black
}

// letters is about how many letters of a small font have room in a box.
func letters(box image.Rectangle) int { return box.Dx() / 5 * max(1, box.Dy()/12) }

// mark notes the windows that a masked text was entered into.
func (p *painter) mark(o *screen.Observation) {
	before := map[uint32]bool{}
	into := map[uint32]bool{}
	for _, id := range p.aimed {
		into[id] = true
	}
	if p.last != nil {
		for _, w := range p.last.Windows {
			before[w.ID] = true
			into[w.ID] = into[w.ID] || w.Focused
		}
	}
	known := false
	for _, is := range into {
		known = known || is
	}
	for i, w := range o.Windows {
		if w.Focused && !before[w.ID] {
			into[w.ID], known = true, true // it came with what was done
		}
		if into[w.ID] {
			p.note(o, i)
		}
	}
	p.all = p.all || !known
}

// note remembers where in a window the text went.
func (p *painter) note(o *screen.Observation, at int) {
	w := o.Windows[at]
	m := p.marked[w.ID]
	if m == nil {
		m = &window{box: w.Box}
		p.marked[w.ID] = m
	}
	boxes, beside := focus(o, w.ID)
	if len(p.aimed) == 0 || p.moved || len(boxes) == 0 { // else a click has moved the focus to where it is now
		was, by := focus(p.last, w.ID)
		boxes, beside = append(boxes, was...), append(beside, by...)
	}
	m.whole = m.whole || len(boxes) == 0 && !p.tells(o, at)
	for _, box := range append(boxes, beside...) {
		m.spots = append(m.spots, box.Sub(w.Box.Min).Add(m.box.Min))
	}
}

// focus returns the boxes of the nodes of a window that have the focus, not of one around
// another; and of others of its program that have it and may lie over it. These may be more than
// [screen.Observation.FocusedNode]: what is masked is any that typing may have shown in.
func focus(o *screen.Observation, id uint32) (list, beside []image.Rectangle) {
	if o == nil {
		return nil, nil
	}
	at := slices.IndexFunc(o.Windows, func(w screen.Window) bool { return w.ID == id })
	if at < 0 {
		return nil, nil
	}
	w, in, located := o.Windows[at], o.NodesIn(at), o.Locates(at)
	for i, n := range o.Tree.Nodes {
		if n.Parent < 0 || n.Read || !n.Has("focused") || !n.Box.Overlaps(w.Box) {
			continue
		}
		if _, here := slices.BinarySearch(in, i); here && located {
			list = append(list, n.Box)
		} else if n.PID == w.PID || n.PID == 0 || w.PID == 0 {
			beside = append(beside, n.Box)
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(around image.Rectangle) bool {
		return slices.ContainsFunc(list, func(r image.Rectangle) bool { return r != around && !r.Empty() && r.In(around) })
	}), beside
}

// tells reports whether the tree has a masked text in a window, below its title.
func (p *painter) tells(o *screen.Observation, at int) bool {
	return o.Locates(at) && slices.ContainsFunc(o.NodesIn(at), func(i int) bool {
		n := o.Tree.Nodes[i]
		return n.Box.Overlaps(o.Windows[at].Box) && (p.shows(n.Name) || p.shows(n.Text))
	})
}

// window returns what is black of a window that a text was entered into.
func (p *painter) window(o *screen.Observation, at int, m *window) (list []image.Rectangle) {
	w := o.Windows[at]
	if m.whole || !o.Locates(at) || w.Box.Size() != m.box.Size() && !p.tells(o, at) {
		return []image.Rectangle{outside(w.Box)}
	}
	for _, spot := range m.spots {
		list = append(list, spot.Add(w.Box.Min.Sub(m.box.Min)).Inset(-margin))
	}
	return list
}

// misread reports whether a node was read from a part of the picture that is black:
// it may be a masked text with a wrong letter.
func misread(n atspi.Node, black []image.Rectangle) bool {
	return n.Read && n.Text != "" && slices.ContainsFunc(black, n.Box.Overlaps)
}

// unread hides what was read from parts of the picture that are black.
func unread(nodes []atspi.Node, black []image.Rectangle) []atspi.Node {
	nodes = slices.Clone(nodes)
	for i := range nodes {
		if misread(nodes[i], black) {
			nodes[i].Text = hidden
		}
	}
	return nodes
}

// uncovered returns what the pointer hides, unless something there is black. It is
// encoded anew, as a file can hold more than its pixels.
func uncovered(c *run.Covered, black []image.Rectangle) *run.Covered {
	if c == nil {
		return nil
	}
	img, err := replay.DecodeImage(c.PNG)
	if err != nil || slices.ContainsFunc(black, img.Bounds().Sub(img.Bounds().Min).Add(c.At).Overlaps) {
		return nil
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		return nil
	}
	return &run.Covered{At: c.At, PNG: buf.Bytes()}
}

// frame stores the masked frame of an observation, and the image sent of it.
func (c *copier) frame(ctx context.Context, o *run.Observed, black []image.Rectangle) error {
	whole, err := c.run.Frame(o.FrameID)
	if errors.Is(err, fs.ErrNotExist) && c.run.Info.State != replay.Ended {
		return nil // cut off before it was stored
	}
	if err != nil {
		return err
	}
	if whole.Bounds().Size() != o.Frame {
		return fmt.Errorf("it is %v, the event says %v", whole.Bounds().Size(), o.Frame)
	}
	stored := &screen.Observation{FrameID: c.masker.frame(o.FrameID), At: o.At, Frame: painted(whole, black)}
	stored.Image.Mapping = o.Mapping
	if stored.Image.Data, stored.Image.Type, err = c.sent(o, black); err != nil {
		return err
	}
	return c.journal.Frame(ctx, stored)
}

// painted returns a copy of a picture with parts of it black.
func painted(img image.Image, black []image.Rectangle) *image.RGBA {
	out := image.NewRGBA(image.Rectangle{Max: img.Bounds().Size()})
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Src)
	for _, r := range black {
		draw.Draw(out, r, image.NewUniform(color.Black), image.Point{}, draw.Src)
	}
	return out
}

// sent returns the masked image that a model was sent, encoded as it was; none
// if that was the frame itself.
func (c *copier) sent(o *run.Observed, black []image.Rectangle) ([]byte, string, error) {
	stored := func(ext string) bool {
		_, err := os.Lstat(filepath.Join(c.run.Dir, "frames", o.FrameID+".sent"+ext))
		return !errors.Is(err, fs.ErrNotExist)
	}
	if !stored(".png") && !stored(".jpg") {
		return nil, "", nil
	}
	data, mime, err := c.run.Sent(o.FrameID)
	if err != nil {
		return nil, "", err
	}
	img, err := replay.DecodeImage(data)
	if err != nil {
		return nil, "", fmt.Errorf("the image sent: %w", err)
	}
	if img.Bounds().Size() != o.Mapping.Size || o.Mapping.Source.Empty() {
		return nil, "", fmt.Errorf("the image sent is %v, the event says %v", img.Bounds().Size(), o.Mapping.Size)
	}
	var scaled []image.Rectangle
	for _, r := range black {
		if r = r.Intersect(o.Mapping.Source); !r.Empty() {
			scaled = append(scaled, image.Rectangle{
				Min: o.Mapping.ToImage(r.Min).Sub(image.Pt(2, 2)), Max: o.Mapping.ToImage(r.Max).Add(image.Pt(3, 3)),
			})
		}
	}
	var buf bytes.Buffer
	if mime == "image/jpeg" {
		err = jpeg.Encode(&buf, painted(img, scaled), &jpeg.Options{Quality: 90})
	} else {
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&buf, painted(img, scaled))
	}
	return buf.Bytes(), mime, err
}
