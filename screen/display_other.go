//go:build !unix || darwin

package screen

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/kbinani/screenshot"
)

// A display is the desktop of a system without X: pictures only. It is still
// when two pictures in a row are alike; there are no windows to be told.
type display struct {
	settling SettleOptions
	log      *slog.Logger
	rest     *image.RGBA // the picture when the last wait ended
	gone     atomic.Bool
}

// A captured is a picture of the desktop and what was asked for together with it.
type captured struct {
	bare, frame *image.RGBA // without and with the pointer; the system draws none
	cursor      image.Point
	monitors    []Monitor
}

// ServerOf returns the process of the server of a display: here there is none, which is 0.
func ServerOf(string) (pid int) { return 0 }

func openDisplay(opt Options) (*display, error) {
	if screenshot.NumActiveDisplays() < 1 {
		return nil, fmt.Errorf("no desktop can be captured here; run in the session of a logged-in user")
	}
	return &display{settling: opt.Settle.withDefaults(), log: opt.Log}, nil
}

func (d *display) hangUp() { d.gone.Store(true) }

func (d *display) close() error { return nil }

// capture takes a picture of all monitors.
func (d *display) capture(everything bool) (captured, error) {
	if d.gone.Load() {
		return captured{}, ErrClosed
	}
	var s captured
	var all image.Rectangle
	for i := range screenshot.NumActiveDisplays() {
		box := screenshot.GetDisplayBounds(i)
		s.monitors = append(s.monitors, Monitor{Name: fmt.Sprintf("monitor %d", i+1), Box: box, Primary: i == 0})
		all = all.Union(box)
	}
	picture, err := screenshot.CaptureRect(all)
	if err != nil {
		return captured{}, err
	}
	picture.Rect = all // in the coordinates that input uses
	s.bare = picture
	if everything {
		s.frame = &image.RGBA{Pix: bytes.Clone(picture.Pix), Stride: picture.Stride, Rect: all}
	}
	return s, nil
}

func (d *display) windows() ([]Window, error) { return nil, nil }

func (d *display) looks() {}

func (d *display) stir() {}

func (d *display) looked() {}

func (d *display) revived() bool { return false }

// stirred tells whether anything happened since the last wait ended.
func (d *display) stirred() bool {
	now, err := d.capture(false)
	return err == nil && !DiffBox(d.rest, now.bare).Empty()
}

// settle waits until the picture stays the same for the quiet interval.
func (d *display) settle(ctx context.Context) (Settled, error) {
	start := time.Now()
	if d.settling.Off {
		return Settled{Reason: SettledOff}, nil
	}
	last, err := d.capture(false)
	if err != nil {
		return Settled{}, err
	}
	since, reason := start, SettledQuiet
	var busy []string
	for time.Since(since) < d.settling.Quiet {
		if time.Since(start) > d.settling.Ceiling {
			reason = SettledCeiling
			break
		}
		select {
		case <-ctx.Done():
			return Settled{}, ended(ctx)
		case <-time.After(d.settling.Quiet / 3):
		}
		now, err := d.capture(false)
		if err != nil {
			return Settled{}, err
		}
		if !DiffBox(last.bare, now.bare).Empty() {
			since, last, busy = time.Now(), now, []string{"drawing"}
		}
	}
	d.rest = last.bare
	return Settled{Reason: reason, Waited: time.Since(start), Busy: busy}, nil
}
