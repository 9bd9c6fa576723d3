//go:build linux

package screen_test

import (
	"context"
	"image"
	"testing"
	"time"

	"desktop-agent/sandbox"
	"desktop-agent/screen"

	"github.com/jezek/xgb/xproto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dialog shows a dialog with its upper left corner at a point.
func (d *desk) dialog(at image.Point) *sandbox.Process {
	d.tb.Helper()
	p, err := d.Open(context.Background(), "zenity", "--question", "--title", "Far", "--text", "Out here?", "--ok-label", "Indeed")
	require.NoError(d.tb, err)
	xproto.ConfigureWindow(d.conn.Conn, xproto.Window(p.Window()), xproto.ConfigWindowX|xproto.ConfigWindowY, []uint32{uint32(at.X), uint32(at.Y)})
	require.NoError(d.tb, d.conn.RoundTrip())
	require.Eventually(d.tb, func() bool {
		box, err := d.conn.Box(xproto.Window(p.Window()))
		return err == nil && at.In(box.Inset(-40)) // the window manager adds its frame
	}, time.Minute, 10*time.Millisecond)
	return p
}

// indeed is whether the dialog is listed.
var indeed = there(deed{role: "push button", name: "Indeed"})

// pressed clicks the button of the dialog where an observation says that it is, by pixels
// of the image, and waits until the dialog is over.
func (d *desk) pressed(o *screen.Observation, p *sandbox.Process) {
	d.tb.Helper()
	list := o.Elements("push button", "Indeed")
	require.Len(d.tb, list, 1, "%s", o.Text(0))
	device, at, ok := o.PointOf(list[0])
	require.True(d.tb, ok, "%s", o.Text(0))
	assert.True(d.tb, at.In(o.Image.Mapping.Bounds()))
	assert.Equal(d.tb, device, o.Image.Mapping.ToDevice(at))
	assert.Equal(d.tb, list[0], o.PlaceAt(at).Node)
	d.click(device)
	select {
	case <-p.Done():
	case <-time.After(time.Minute):
		require.Fail(d.tb, "the dialog is there still", "%s", o.Text(0))
	}
}

// A display of 8K is observed as a whole, and what lies in its far corner is hit by a pixel
// of an image that is a fifth as wide.
func TestObserve8K(t *testing.T) {
	d := newDesk(t, &sandbox.Options{Size: image.Pt(7680, 4320)})
	p := d.dialog(image.Pt(7300, 4100))
	o := d.until(d.screen(screen.Options{Settle: unhurried, Tree: d.tree()}), indeed)
	assert.Equal(t, image.Pt(7680, 4320), o.Frame.Rect.Size())
	assert.Equal(t, screen.Mapping{Source: image.Rect(0, 0, 7680, 4320), Size: image.Pt(1456, 819)}, o.Image.Mapping)
	d.pressed(o, p)
}

// A window on the second monitor is listed where the image of that monitor has it, and has
// no place on the image of the first.
func TestWindowOnTheSecondMonitor(t *testing.T) {
	d := newDesk(t, &sandbox.Options{Size: image.Pt(1000, 700), Monitors: 2})
	tree := d.tree()
	first := d.screen(screen.Options{Settle: unhurried, Tree: tree, Monitor: 1})
	second := d.screen(screen.Options{Settle: unhurried, Tree: tree, Monitor: 2})
	both := d.screen(screen.Options{Settle: unhurried, Tree: tree})
	for _, s := range []*screen.Screen{second, both} {
		p := d.dialog(image.Pt(1600, 400))
		o := d.until(first, indeed)
		assert.Empty(t, o.Elements("push button", "Indeed"), "%s", o.Text(0))
		assert.NotContains(t, o.Text(0), "@")
		d.pressed(d.until(s, indeed), p)
	}
}
