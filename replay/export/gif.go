package export

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"io"
	"time"

	"desktop-agent/replay"
	"desktop-agent/screen"
)

// GIF writes a run as an animated picture: one picture for each step, with
// what is done then marked and written below, at most [Options.Width] pixels wide. It stays as
// long as the step took, but at least 0.4 and at most 2.5 s, and longer at the end.
//
// Only what has changed is in each picture, in colours of its own: with up to
// 255 colours there it is exact. Nothing is written if the run cannot be read
// to its end.
func GIF(ctx context.Context, w io.Writer, run *replay.Run, o *Options) error {
	opts := o.withDefaults()
	return redacted(ctx, run, opts.Redact, func(run *replay.Run) error {
		var buf bytes.Buffer
		if err := animate(ctx, &buf, run, opts); err != nil {
			return fmt.Errorf("GIF of %s: %w", run.Info.ID, err)
		}
		_, err := w.Write(buf.Bytes())
		return err
	})
}

// maxPictures is how many pictures a GIF has at most: all are in memory.
const maxPictures = 1000

func animate(ctx context.Context, w io.Writer, run *replay.Run, opts Options) error {
	s := studio{run: run, opts: opts}
	g := &gif.GIF{}
	var before *image.RGBA
	for c, err := range scenes(ctx, run) {
		if err != nil {
			return err
		}
		if len(g.Image) == maxPictures {
			return fmt.Errorf("it has more than %d pictures: make a film of it", maxPictures)
		}
		now, err := s.draw(c)
		if err != nil {
			return err
		}
		changed := now.Rect
		if before != nil {
			changed = screen.DiffBox(before, now)
		}
		if changed.Empty() { // nothing is new: a pixel must be there all the same
			changed = image.Rect(0, 0, 1, 1)
		}
		g.Image = append(g.Image, paletted(now, before, changed))
		g.Delay = append(g.Delay, int(c.stay/(10*time.Millisecond)))
		g.Disposal = append(g.Disposal, gif.DisposalNone)
		before = now
	}
	if len(g.Image) == 0 {
		return fmt.Errorf("there is no step with a screen in it")
	}
	g.Config = image.Config{Width: s.size.X, Height: s.size.Y}
	return gif.EncodeAll(w, g)
}

// paletted returns a part of a picture in at most 256 colours chosen for it.
// Pixels that are as before are transparent, which packs well.
func paletted(now, before *image.RGBA, box image.Rectangle) *image.Paletted {
	clear := func(x, y int) bool { return before != nil && before.RGBAAt(x, y) == now.RGBAAt(x, y) }
	counts := map[color.RGBA]int{}
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			if !clear(x, y) {
				counts[now.RGBAAt(x, y)]++
			}
		}
	}
	out := image.NewPaletted(box, append(color.Palette{color.RGBA{}}, quantize(counts, 255)...))
	nearest := make(map[color.RGBA]uint8, len(counts))
	for c := range counts {
		nearest[c] = uint8(1 + out.Palette[1:].Index(c))
	}
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			if !clear(x, y) {
				out.SetColorIndex(x, y, nearest[now.RGBAAt(x, y)])
			}
		}
	}
	return out
}
