package export

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/disintegration/imaging"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// The demonstration's run, of a real editor.
const demo = "../../cmd/desktop-agent/demo/run"

var (
	ground = color.RGBA{60, 120, 180, 255}
	shown  = color.RGBA{255, 0, 0, 255} // pixels of a text, in the frames of these tests
)

// A tale writes a run of a few steps.
type tale struct {
	t    testing.TB
	j    *replay.Journal
	step int
	n    int
	now  time.Time
	name string // of the agent and of its display
}

func newTale(t testing.TB) *tale {
	j, err := replay.Create(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { j.Close() })
	return &tale{t: t, j: j, now: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)}
}

func (w *tale) put(data run.EventData) {
	w.t.Helper()
	w.n++
	w.now = w.now.Add(100 * time.Millisecond)
	require.NoError(w.t, w.j.Event(w.t.Context(), run.Event{
		Seq: w.n, Time: w.now, Step: w.step, Agent: w.name, Display: w.name, Kind: run.Kind(data), Data: data,
	}))
}

func (w *tale) start(task string) {
	w.put(run.RunStarted{Schema: run.Schema, Task: task, Planning: "off", Guard: "none", Parser: "code"})
}

// end closes the run and returns it, read back.
func (w *tale) end(answer string) *replay.Run {
	w.t.Helper()
	w.put(run.RunEnded{Outcome: run.OutcomeDone, Answer: answer, Steps: w.step})
	return w.cut()
}

func (w *tale) cut() *replay.Run {
	w.t.Helper()
	require.NoError(w.t, w.j.Close())
	stored, err := replay.Open(w.j.Dir())
	require.NoError(w.t, err)
	return stored
}

var (
	editor = screen.Window{ID: 7, Title: "Notes", Class: "Editor", PID: 42, Box: image.Rect(40, 60, 280, 220), Focused: true}
	field  = image.Rect(50, 90, 270, 130)
)

// look stores a frame on which the boxes are full of text.
func (w *tale) look(id string, o run.Observed, text ...image.Rectangle) {
	w.t.Helper()
	frame := image.NewRGBA(image.Rect(0, 0, 320, 240))
	draw.Draw(frame, frame.Rect, image.NewUniform(ground), image.Point{}, draw.Src)
	for _, box := range text {
		draw.Draw(frame, box, image.NewUniform(shown), image.Point{}, draw.Src)
	}
	o.FrameID, o.At, o.Frame = id, w.now, frame.Rect.Size()
	if o.Mapping.Size == (image.Point{}) {
		o.Mapping = screen.Mapping{Source: frame.Rect, Size: frame.Rect.Size()}
	}
	s := &screen.Observation{FrameID: id, Frame: frame, Bare: frame}
	s.Image.Mapping = o.Mapping
	if o.Mapping.Size != frame.Rect.Size() {
		s.Image.Type = "image/png"
		var buf bytes.Buffer
		sent := imaging.Resize(frame.SubImage(o.Mapping.Source), o.Mapping.Size.X, o.Mapping.Size.Y, imaging.Linear)
		if w.step%2 == 1 {
			s.Image.Type = "image/jpeg"
			require.NoError(w.t, jpeg.Encode(&buf, sent, nil))
		} else {
			require.NoError(w.t, png.Encode(&buf, sent))
		}
		s.Image.Data = buf.Bytes()
	}
	require.NoError(w.t, w.j.Frame(w.t.Context(), s))
	w.put(o)
}

// act proposes actions on the newest frame with a reply, and performs them.
func (w *tale) act(frame, reply string, actions ...actuator.Action) {
	w.t.Helper()
	w.put(run.ModelCalled{Role: llm.Actor, Purpose: "propose", Model: "m", Response: &llm.Response{Text: reply, Finish: "stop"},
		Messages: []run.Message{{From: llm.User, Text: "what next?", Images: []string{frame}}}})
	p := run.Proposed{FrameID: frame}
	for _, a := range actions {
		p.Actions = append(p.Actions, run.Recorded{Action: a})
	}
	w.put(p)
	for i, a := range actions {
		e := run.Acting{Index: i, Action: run.Recorded{Action: a}}
		for _, at := range actuator.Points(a) {
			e.Device = append(e.Device, image.Pt(at.X, at.Y))
		}
		w.put(e)
		w.put(run.Acted{Index: i, Status: actuator.Delivered})
	}
}

// tree returns nodes of the editor: the window, a filler and a text field.
func tree(role, name, text string) []atspi.Node {
	return []atspi.Node{
		{ID: "n1", PID: 42, Parent: -1, Role: "frame", Name: editor.Title, Box: editor.Box},
		{ID: "n2", PID: 42, Parent: 0, Role: "filler", Box: editor.Box.Inset(4)},
		{ID: "n3", PID: 42, Parent: 1, Role: role, Name: name, Text: text, Box: field, States: []string{"focused", "editable"}},
	}
}

// around is a tree in which the document around the field has the focus too.
func around() []atspi.Node {
	list := tree("entry", "", "")
	list[1].States = []string{"focused"}
	return list
}

// checkBox is a tree with a box whose name stands beside it.
func checkBox() []atspi.Node {
	list := tree("check box", "Send swordfish", "")
	list[2].Box = image.Rect(50, 90, 62, 102)
	return list
}

// masked redacts a run and returns the copy.
func masked(t testing.TB, stored *replay.Run, red Redaction) *replay.Run {
	t.Helper()
	dir := t.TempDir()
	id, err := Redacted(t.Context(), dir, stored, red)
	require.NoError(t, err)
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, list, 1, "nothing but the copy is left")
	out, err := replay.Open(filepath.Join(dir, id))
	require.NoError(t, err)
	return out
}

// redPixels counts the pixels of text on a picture.
func redPixels(img image.Image) (n int) {
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			if r, g, b, _ := img.At(x, y).RGBA(); r > 0x6000 && g < 0x5000 && b < 0x5000 {
				n++
			}
		}
	}
	return n
}

func textOn(t testing.TB, stored *replay.Run, id string) (whole, sent int) {
	t.Helper()
	img, err := stored.Frame(id)
	require.NoError(t, err)
	data, _, err := stored.Sent(id)
	require.NoError(t, err)
	small, err := replay.DecodeImage(data)
	require.NoError(t, err)
	return redPixels(img), redPixels(small)
}
