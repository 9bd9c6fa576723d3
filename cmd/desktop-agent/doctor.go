package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"strings"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/actuator/eventwin"
	"desktop-agent/llm"
	"desktop-agent/screen"
)

// doctorCmd checks what a run needs, piece by piece. Each line is ok or says
// what to do.
type doctorCmd struct {
	desktopFlags
	modelFlags
}

// checkLimit bounds each check.
const checkLimit = 20 * time.Second

// A patient is what the checks look at; later checks need what earlier ones found.
type patient struct {
	*doctorCmd
	*session
	log *slog.Logger
	now *screen.Observation
	win *eventwin.Window
}

// Run makes all checks and fails if one did.
func (d *doctorCmd) Run(ctx context.Context, c console, g *cli) error {
	if err := d.desktopFlags.check(); err != nil {
		return &usageError{err}
	}
	p := &patient{doctorCmd: d, log: logger(c, g.Verbose)}
	defer p.close()
	failed := 0
	for _, check := range []struct {
		name  string
		needs func() bool
		run   func(context.Context) (string, error)
	}{
		{"display", nil, p.display},
		{"screenshot", p.connected, p.screenshot},
		{"monitors", p.looked, p.monitors},
		{"windows", p.looked, p.windows},
		{"accessibility", p.looked, p.accessibility},
		{"click", p.connected, p.click},
		{"keyboard", func() bool { return p.win != nil }, p.keyboard},
		{"clipboard", p.connected, p.clipboard},
		{"model", nil, p.model},
	} {
		if check.needs != nil && !check.needs() {
			fmt.Fprintf(c.Out, "skip  %-13s  an earlier check failed\n", check.name)
			continue
		}
		limited, cancel := context.WithTimeout(ctx, checkLimit)
		found, err := check.run(limited)
		cancel()
		switch {
		case ctx.Err() != nil:
			return context.Canceled
		case errors.Is(err, errNotChecked):
			fmt.Fprintf(c.Out, "skip  %-13s  %s\n", check.name, found)
		case err != nil:
			failed++
			fmt.Fprintf(c.Out, "FAIL  %-13s  %v\n", check.name, err)
			if hint := hintOf(err); hint != "" {
				fmt.Fprintf(c.Out, "      %-13s  %s\n", "", hint)
			}
		default:
			fmt.Fprintf(c.Out, "ok    %-13s  %s\n", check.name, found)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d checks failed", failed)
	}
	return nil
}

// errNotChecked says that there is nothing to check.
var errNotChecked = errors.New("not checked")

func (p *patient) connected() bool { return p.session != nil }
func (p *patient) looked() bool    { return p.now != nil }

func (p *patient) close() {
	if p.win != nil {
		p.win.Close()
	}
	if p.session != nil {
		p.session.Close()
	}
}

func (p *patient) display(ctx context.Context) (string, error) {
	s, err := openSession(ctx, p.desktopFlags, "", p.log)
	if err != nil {
		return "", err
	}
	p.session = s
	if s.Private != nil {
		return "a private desktop on " + s.Private.Display(), nil
	}
	return p.Display, nil
}

func (p *patient) screenshot(ctx context.Context) (string, error) {
	now, err := p.Screen.Observe(ctx)
	if err != nil {
		return "", err
	}
	p.now = now
	size, sent := now.Frame.Rect.Size(), now.Image.Mapping.Size
	return fmt.Sprintf("%dx%d pixels, a model is sent %dx%d (%.0f %%, %d KB); still after %d ms, taken in %d ms", size.X, size.Y, sent.X, sent.Y,
		100*float64(sent.X)/float64(now.Image.Mapping.Source.Dx()), len(now.Image.Data)/1000,
		now.Timing.Settle.Milliseconds(), (now.Timing.Total - now.Timing.Settle).Milliseconds()), nil
}

func (p *patient) monitors(context.Context) (string, error) {
	var list []string
	for _, m := range p.now.Monitors {
		list = append(list, fmt.Sprintf("%s %dx%d at %v", m.Name, m.Box.Dx(), m.Box.Dy(), m.Box.Min))
	}
	if len(list) == 0 {
		return "", errors.New("the display tells of no monitor")
	}
	return strings.Join(list, ", "), nil
}

func (p *patient) windows(context.Context) (string, error) {
	w, ok := p.now.Focused()
	if !ok {
		return fmt.Sprintf("%d, none has the focus", len(p.now.Windows)), nil
	}
	return fmt.Sprintf("%d, %q has the focus", len(p.now.Windows), printable(w.Title)), nil
}

func (p *patient) accessibility(context.Context) (string, error) {
	tree := p.now.Tree
	if tree.Err != nil {
		return "", hintError{fmt.Errorf("no tree: %w", tree.Err),
			"install at-spi2-core and switch accessibility on: gsettings set org.gnome.desktop.interface toolkit-accessibility true, then start the programs anew"}
	}
	if len(tree.Hung) > 0 {
		return "", fmt.Errorf("no answer from %s", strings.Join(tree.Hung, ", "))
	}
	return fmt.Sprintf("%d elements in %d ms", len(tree.Nodes), p.now.Timing.Tree.Milliseconds()), nil
}

// click opens a window and clicks into it at several points of the image that a
// model would see.
func (p *patient) click(ctx context.Context) (string, error) {
	display := p.Display
	if p.Private != nil {
		display = p.Private.Display()
	}
	win, err := eventwin.Open(ctx, display, image.Rect(60, 60, 460, 360))
	if err != nil {
		return "", err
	}
	p.win = win
	now, err := p.Screen.Observe(ctx)
	if err != nil {
		return "", err
	}
	count := 0
	for _, share := range []image.Point{{1, 1}, {5, 3}, {9, 9}} {
		box := win.Box()
		want := box.Min.Add(image.Pt(box.Dx()*share.X/10, box.Dy()*share.Y/10))
		at := now.Image.Mapping.ToImage(want)
		target := now.Image.Mapping.ToDevice(at)
		win.Clear()
		action := actuator.Click{At: &actuator.Point{X: at.X, Y: at.Y}, Button: actuator.Left, Count: 1}
		if _, err := p.Device.Do(ctx, action, now.Image.Mapping); err != nil {
			return "", err
		}
		events, err := win.WaitFor(ctx, func(list []eventwin.Event) bool { return len(buttons(list)) >= 2 })
		if err != nil {
			return "", hintError{fmt.Errorf("the click at %v did not arrive: %w", target, err), "is another program holding the mouse, such as an open menu or a screen lock?"}
		}
		if got := buttons(events)[0].At; got != target {
			return "", fmt.Errorf("the click at %v arrived at %v", target, got)
		}
		count++
	}
	return fmt.Sprintf("%d clicks arrived on the pixel", count), nil
}

func buttons(list []eventwin.Event) (rest []eventwin.Event) {
	for _, e := range list {
		if e.Kind == eventwin.ButtonPress || e.Kind == eventwin.ButtonRelease {
			rest = append(rest, e)
		}
	}
	return rest
}

// keyboard types into the window of the click.
func (p *patient) keyboard(ctx context.Context) (string, error) {
	const sample = "aZ?ñЖ漢😀"
	p.win.Clear()
	if _, err := p.Device.Do(ctx, actuator.Type{Text: sample}, p.now.Image.Mapping); err != nil {
		return "", err
	}
	events, err := p.win.WaitFor(ctx, func(list []eventwin.Event) bool { return eventwin.Text(list) == sample })
	if err != nil {
		return "", fmt.Errorf("typed %q, but %q arrived", sample, eventwin.Text(events))
	}
	return "letters of several scripts arrived as typed", nil
}

func (p *patient) clipboard(ctx context.Context) (string, error) {
	return "", errNotChecked
}

func (p *patient) model(ctx context.Context) (string, error) {
	if p.Model == "" && p.Actor.Model == "" {
		return "no model is named; to check one: --model NAME --base-url URL", errNotChecked
	}
	client := p.modelFlags.client()
	if err := client.Check(); err != nil {
		return "", err
	}
	var list []string
	for _, role := range []llm.Role{llm.Planner, llm.Actor, llm.WorldModel, llm.Monitor} {
		name := client.Settings(role).Model
		if len(list) > 0 && strings.HasPrefix(list[len(list)-1], name+" ") {
			continue // the same model again
		}
		health, err := llm.Probe(ctx, client, role)
		if err != nil {
			return "", fmt.Errorf("%s (%s): %w", name, role, err)
		}
		list = append(list, fmt.Sprintf("%s sees a picture and answers in %d ms", name, health.Latency.Milliseconds()))
	}
	return strings.Join(list, ", "), nil
}
