//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"strings"

	"github.com/jezek/xgb/xproto"

	"desktop-agent/actuator"
	"desktop-agent/actuator/eventwin"
	"desktop-agent/internal/x11"
)

// scaleOf tells how large things are drawn on a display.
func scaleOf(display string) (string, error) {
	conn, err := x11.Dial(display)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	resources, err := conn.Property(conn.Root, "RESOURCE_MANAGER")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(resources)) {
		if dpi, ok := strings.CutPrefix(line, "Xft.dpi:"); ok {
			return strings.TrimSpace(dpi) + " dpi", nil
		}
	}
	if mm := conn.Screen.WidthInMillimeters; mm > 0 {
		return fmt.Sprintf("%.0f dpi by the size of the monitor", float64(conn.Screen.WidthInPixels)*25.4/float64(mm)), nil
	}
	return "dpi not known", nil
}

// managerOf returns the name of the window manager; "" if none is running.
// See "_NET_SUPPORTING_WM_CHECK" in the EWMH: its window has the property too,
// unless the window manager is gone.
func managerOf(display string) (string, error) {
	conn, err := x11.Dial(display)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	const check = "_NET_SUPPORTING_WM_CHECK"
	ids, err := conn.Cardinals(conn.Root, check)
	if err != nil || len(ids) == 0 {
		return "", err
	}
	w := xproto.Window(ids[0])
	if own, err := conn.Cardinals(w, check); err != nil || len(own) == 0 || own[0] != ids[0] {
		return "", nil
	}
	if name := conn.Title(w); name != "" {
		return name, nil
	}
	return "one without a name", nil
}

// clickAndType opens a window, clicks into it at several points of the image
// that a model would see, and types.
func (p *checkup) clickAndType(ctx context.Context) (string, error) {
	if !p.input || p.now == nil {
		return "", errEarlier
	}
	visible := p.now.Image.Mapping.Source
	box := image.Rect(0, 0, min(400, visible.Dx()), min(300, visible.Dy())).Add(visible.Min)
	win, err := eventwin.Open(ctx, p.session.Display, box.Add(visible.Size().Sub(box.Size()).Div(2)))
	if err != nil {
		return "", err
	}
	defer win.Close()
	if p.now, err = p.session.Screen.Observe(ctx); err != nil {
		return "", err
	}
	points := []image.Point{{1, 1}, {5, 3}, {9, 9}}
	for _, share := range points {
		if err := p.click(ctx, win, share); err != nil {
			return "", err
		}
	}
	win.Clear()
	if err := p.do(ctx, actuator.Type{Text: sampleText}, p.now.Image.Mapping); err != nil {
		return "", err
	}
	events, err := win.WaitFor(ctx, func(list []eventwin.Event) bool { return eventwin.Text(list) == sampleText })
	if err != nil {
		return "", hintError{fmt.Errorf("typed %q, but %q arrived", sampleText, eventwin.Text(events)), "is a program such as an input method or a hot key daemon taking keys? stop it"}
	}
	return fmt.Sprintf("%d clicks arrived on the pixel, and letters of several scripts as typed", len(points)), nil
}

// click clicks into a window at tenths of its size.
func (p *checkup) click(ctx context.Context, win *eventwin.Window, tenths image.Point) error {
	box, mapping := win.Box(), p.now.Image.Mapping
	at := mapping.ToImage(box.Min.Add(image.Pt(box.Dx()*tenths.X/10, box.Dy()*tenths.Y/10)))
	target := mapping.ToDevice(at)
	win.Clear()
	action := actuator.Click{At: &actuator.Point{X: at.X, Y: at.Y}, Button: actuator.Left, Count: 1}
	if err := p.do(ctx, action, mapping); err != nil {
		return err
	}
	events, err := win.WaitFor(ctx, func(list []eventwin.Event) bool { return len(buttons(list)) >= 2 })
	if err != nil {
		return hintError{fmt.Errorf("the click at %v did not arrive: %w", target, err), "does another program hold the mouse, such as an open menu or a screen lock? close it"}
	}
	if got := buttons(events)[0].At; got != target {
		return hintError{errors.New("the click at " + target.String() + " arrived at " + got.String()), "was the mouse being moved? leave it alone, and run doctor again"}
	}
	return nil
}

func buttons(list []eventwin.Event) (rest []eventwin.Event) {
	for _, e := range list {
		if e.Kind == eventwin.ButtonPress || e.Kind == eventwin.ButtonRelease {
			rest = append(rest, e)
		}
	}
	return rest
}
