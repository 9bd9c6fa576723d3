package runtest_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/actuatortest"
	"desktop-agent/llm/llmtest"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/screen"
)

// TestFakeIsDesktop holds that the fake is a desktop.
func TestFakeIsDesktop(t *testing.T) {
	d := &runtest.Desktop{}
	runtest.TestDesktop(t, &runtest.DesktopSubject{
		Desktop: d, Device: d, Change: func(testing.TB) { d.Change(func() { d.Tick = 7 }) },
	})
	require.NotEmpty(t, d.Did())
}

// TestForAgent holds that the suite tries all that is for the agent.
func TestForAgent(t *testing.T) {
	var want []string
	for _, v := range actuator.Variants() {
		fields, err := actuatortest.Fill(v.Schema)
		require.NoError(t, err)
		a, err := actuator.Decode(v.Name, fields)
		require.NoError(t, err)
		if actuator.ForAgent(a) {
			want = append(want, v.Name)
		}
	}
	require.NotEmpty(t, want)
	d := &wrong{}
	runtest.TestDesktop(t, d.subject(""))
	assert.Equal(t, want, d.tried)
}

// A wrong desktop is the fake but for one thing.
type wrong struct {
	runtest.Desktop
	how   string
	seen  int
	tried []string // actions that are for the agent
}

func (w *wrong) subject(how string) *runtest.DesktopSubject {
	w.how = how
	return &runtest.DesktopSubject{Desktop: w, Device: w, Soon: 100 * time.Millisecond, Change: func(testing.TB) {
		if how != "does not change" {
			w.Change(func() { w.Tick = 7 })
		}
	}}
}

func (w *wrong) Observe(ctx context.Context) (*screen.Observation, error) {
	if w.how == "observes without a context" {
		ctx = context.Background()
	}
	if w.how == "hides why it was stopped" && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if w.how == "hangs" && ctx.Err() != nil {
		time.Sleep(time.Second)
	}
	o, err := w.Desktop.Observe(ctx)
	if err != nil {
		return nil, err
	}
	w.seen++
	switch w.how {
	case "no observation":
		return nil, nil
	case "one ID for all":
		o.FrameID = "f0001"
	case "an ID that is a path":
		o.FrameID = fmt.Sprintf("../f%d", w.seen)
	case "no picture":
		o.Bare = nil
	case "another size without the pointer":
		o.Bare = image.NewRGBA(image.Rect(0, 0, 9, 9))
	case "an image of nothing":
		o.Image.Mapping = screen.Mapping{}
	case "an image of more than there is":
		o.Image.Mapping.Source.Max.X += 50
	case "an image of another size":
		o.Image.Mapping.Size.X = 20
	case "an image that is none":
		o.Image.Data = []byte("png")
	case "two windows of one ID":
		o.Windows = append(o.Windows, o.Windows[0])
	case "two windows with the focus":
		o.Windows = append(o.Windows, screen.Window{ID: 99, Focused: true})
	case "two nodes of one ID":
		o.Tree.Nodes[1].ID = o.Tree.Nodes[0].ID
	case "a node before its parent":
		o.Tree.Nodes[0].Parent = 1
	}
	return o, nil
}

func (w *wrong) Capture(ctx context.Context) (run.Capture, error) {
	if w.how == "captures without a context" {
		ctx = context.Background()
	}
	c, err := w.Desktop.Capture(ctx)
	if err != nil {
		return c, err
	}
	switch w.how {
	case "captures another picture":
		c.Bare.Pix[0] ^= 0xff
		c.Bare.Pix[len(c.Bare.Pix)-4] ^= 0xff
	case "captures other windows":
		c.Windows = append(c.Windows, screen.Window{ID: 98})
	}
	return c, nil
}

func (w *wrong) ScreenName(o *screen.Observation) string {
	switch w.how {
	case "a name for each screen":
		return o.FrameID
	case "one name for all screens":
		return "1"
	}
	return w.Desktop.ScreenName(o)
}

func (w *wrong) Locate(ctx context.Context, aim run.Aim) (actuator.Action, string, error) {
	switch {
	case w.how == "finds what is not there" && actuator.ByHandle(aim.Action):
		return aim.Action, "", nil
	case w.how == "moves what is a point":
		return actuator.Moved(aim.Action, func(p actuator.Point) actuator.Point { p.X++; return p }), "", nil
	}
	return w.Desktop.Locate(ctx, aim)
}

func (w *wrong) Surprise(ctx context.Context, aim run.Aim) string {
	if w.how == "always surprised" {
		return "boo"
	}
	return w.Desktop.Surprise(ctx, aim)
}

func (w *wrong) WindowChange(before, after run.Capture) string {
	if w.how == "windows always change" {
		return "a window opened"
	}
	return w.Desktop.WindowChange(before, after)
}

func (w *wrong) Unchanged(i int, look func() bool) bool {
	return w.how == "nothing ever changes" || w.Desktop.Unchanged(i, look)
}

func (w *wrong) Do(ctx context.Context, a actuator.Action, f actuator.Frame) (string, error) {
	if actuator.ForAgent(a) {
		w.tried = append(w.tried, actuator.Name(a))
	}
	switch {
	case w.how == "acts without a context":
		return w.Desktop.Do(context.Background(), a, f)
	case w.how == "takes all actions" && actuator.ForAgent(a):
		return "", nil
	case w.how == "does not know" && actuator.Name(a) == "move":
		return "", errors.New("perhaps")
	}
	return w.Desktop.Do(ctx, a, f)
}

// TestDesktopFinds holds that each rule of the suite finds a desktop that breaks it.
func TestDesktopFinds(t *testing.T) {
	for how, want := range map[string]string{
		"":                                 "",
		"no observation":                   "IDs of frames: observe: there is neither",
		"one ID for all":                   "IDs of frames: there are two",
		"an ID that is a path":             "IDs of frames: \"../f1\" can name no file",
		"no picture":                       "pictures: there is no picture",
		"another size without the pointer": "pictures: the frame is ",
		"an image of nothing":              "pictures: the mapping ",
		"an image of more than there is":   "pictures: the image shows",
		"an image of another size":         "pictures: the image has the size",
		"an image that is none":            "pictures: the image (\"image/png\") cannot",
		"two windows of one ID":            "windows and nodes: there are two windows",
		"two windows with the focus":       "windows and nodes: 2 windows have",
		"two nodes of one ID":              "windows and nodes: node 1",
		"a node before its parent":         "windows and nodes: node \"n1\" at 0",
		"captures another picture":         "a capture: it shows another",
		"captures other windows":           "a capture: it has the windows",
		"a name for each screen":           "nothing changed: the same screen",
		"one name for all screens":         "a change: the screen before is named \"1\"",
		"always surprised":                 "nothing changed: there is a surprise before a click",
		"windows always change":            "nothing changed: there is a change of windows",
		"nothing ever changes":             "nothing changed: whether an action",
		"finds what is not there":          "where an action goes: an element that is not there is located",
		"moves what is a point":            "where an action goes: move",
		"does not know":                    "an action: a move is unknown: perhaps",
		"takes all actions":                "an action for the agent: zoom is delivered",
		"observes without a context":       "a context that has ended: observe: want the cause of its end, got: <nil>",
		"captures without a context":       "a context that has ended: capture: want the cause of its end, got: <nil>",
		"acts without a context":           "a context that has ended: device: want the cause of its end, got: <nil>",
		"hides why it was stopped":         "a context that has ended: observe: want the cause of its end, got: context canceled",
		"hangs":                            "a context that has ended: observe: want the cause of its end, got: it goes on",
		"does not change":                  "a change: the screen before",
	} {
		t.Run(how, func(t *testing.T) {
			said := llmtest.Failures(t, func(t testing.TB) { runtest.TestDesktop(t, new(wrong).subject(how)) })
			if want == "" {
				require.Empty(t, said)
				return
			}
			require.NotEmpty(t, said)
			assert.Contains(t, strings.Join(said, "\n"), want)
		})
	}
}
