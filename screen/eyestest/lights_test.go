//go:build linux

package eyestest

import (
	"image"
	"time"

	"github.com/stretchr/testify/require"
)

// lights tells by the picture what the pointer reaches: a control that is drawn in
// another look while the pointer is on it. What has no such look is not known. If
// pixels beside the element change, it is something else that lights up.
func (d *desk) lights(it item, p image.Point, around chain) (chain, bool) {
	if it.node == nil || it.node.Has("disabled") {
		return nil, false
	}
	const ring = 30 // pixels around an element that are compared too
	box := it.node.Box
	away := image.Pt(deskSize.X-3, deskSize.Y-3)
	d.move(away)
	before := d.goneOut(box.Inset(-ring))
	d.move(p)
	var in, out int
	for end := time.Now().Add(250 * time.Millisecond); time.Now().Before(end); {
		after, err := d.eyes.Capture(d.t.Context())
		require.NoError(d.t, err)
		in, out = changed(before, after, box.Inset(-2), box.Inset(-ring))
		if in > 0 && out == 0 {
			break
		}
	}
	const few, many = 12, 120
	switch {
	case in >= few && out < few:
		return append(chain{{role: it.node.Role, name: it.node.Name}}, around...), true
	case in == 0 && out >= many:
		return append(chain{{role: "control", name: "beside it, which lights up"}}, around...), true
	}
	return nil, false
}

// goneOut waits until what lit up in a box while the pointer was there has gone out, which a
// program that has no processor may begin late and does in steps, and returns the picture.
func (d *desk) goneOut(box image.Rectangle) *image.RGBA {
	const step = 60 * time.Millisecond
	var was *image.RGBA
	for end := time.Now().Add(patience); ; {
		_, err := d.eyes.Settle(d.t.Context())
		require.NoError(d.t, err)
		now, err := d.eyes.Capture(d.t.Context())
		require.NoError(d.t, err)
		if was != nil {
			if in, _ := changed(was, now, box, box); in == 0 || time.Now().After(end) {
				return now
			}
		}
		was = now
		time.Sleep(step)
	}
}

// changed counts the pixels that differ in a box, and those around it in a larger one.
func changed(a, b *image.RGBA, box, around image.Rectangle) (in, out int) {
	around = around.Intersect(a.Rect)
	for y := around.Min.Y; y < around.Max.Y; y++ {
		for x := around.Min.X; x < around.Max.X; x++ {
			if a.RGBAAt(x, y) == b.RGBAAt(x, y) {
				continue
			}
			if image.Pt(x, y).In(box) {
				in++
			} else {
				out++
			}
		}
	}
	return in, out
}
