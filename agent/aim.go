package agent

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"slices"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/screen"
)

// An Aimed tells how a model points at what it sees.
type Aimed struct {
	Size    image.Point   // of the picture that it was sent
	Off     float64       // pixels of the picture from the middle of the mark to where it points
	Hit     bool          // that is on the mark
	Latency time.Duration // of the call

	// Picture is how many tokens a picture of that size costs, and Cached which part of a
	// request that was sent once before came from the provider's cache; negative if the
	// endpoint does not count.
	Picture int
	Cached  float64
}

// ErrNoPoint says that a model was shown a mark, and did not say where it is.
var ErrNoPoint = errors.New("it does not point at what it sees")

// Aim asks the actor to click on a mark on a screen of that size, in the form and with the
// picture of a run; size is that of the picture. The same is asked once more, and once without
// the picture, to see what is cached and what the picture costs.
func (a *Actor) Aim(ctx context.Context, area, size image.Point) (r Aimed, err error) {
	o, mark, err := markOn(area, size)
	if err != nil {
		return r, err
	}
	m := &meter{Model: a.Model}
	probe := *a
	probe.Model = llm.InFront(m, a.Model)
	start := time.Now()
	p, err := probe.propose(ctx, question{task: "Click once on the middle of " + markWords + ", and do nothing else.", history: &history{}, now: o})
	if err != nil {
		return r, err
	}
	r.Size, r.Latency, r.Picture, r.Cached = size, time.Since(start), -1, -1
	at, err := pointed(p)
	if err != nil {
		return r, err
	}
	r.measure(at, mark)
	r.cost(ctx, m)
	return r, nil
}

// Aim asks where a mark is on a screen of that size.
func (g *Grounder) Aim(ctx context.Context, area image.Point) (r Aimed, err error) {
	size := g.Form.Image.Fit(area, 0)
	o, mark, err := markOn(area, size)
	if err != nil {
		return r, err
	}
	m := &meter{Model: g.Model}
	start := time.Now()
	s, err := (&Grounder{Model: llm.InFront(m, g.Model), Form: g.Form}).find(ctx, markWords, o)
	if err != nil {
		return r, err
	}
	r.Size, r.Latency, r.Picture, r.Cached = size, time.Since(start), -1, -1
	if s.Why != "" {
		return r, fmt.Errorf("%w: %s", ErrNoPoint, s.Why)
	}
	r.measure(s.At, mark)
	r.cost(ctx, m)
	return r, nil
}

// pointed returns the place of the first action of a proposal that has one.
func pointed(p proposal) (image.Point, error) {
	if p.bad != nil {
		return image.Point{}, fmt.Errorf("%w: %w", ErrNoPoint, p.bad)
	}
	for _, a := range p.Actions {
		for _, at := range actuator.Points(a) {
			if at.Placed() && at.Element.ID == "" {
				return image.Pt(at.X, at.Y), nil
			}
		}
	}
	return image.Point{}, fmt.Errorf("%w: asked to click on it, it answers: %s", ErrNoPoint, describeAll(p.Actions))
}

// measure compares where a model points with where the mark is.
func (r *Aimed) measure(at image.Point, mark image.Rectangle) {
	middle := mark.Min.Add(mark.Max).Div(2)
	r.Off = math.Hypot(float64(at.X-middle.X), float64(at.Y-middle.Y))
	r.Hit = r.Off <= float64(mark.Dx())/2
}

// cost asks the same again, and without its picture. What the endpoint does not count, or
// refuses to be asked so, is not known.
func (r *Aimed) cost(ctx context.Context, m *meter) {
	first, with := m.asked, m.first
	if with.Input == 0 {
		return
	}
	if _, err := m.Complete(ctx, first); err == nil && m.usage.Input > 0 {
		r.Cached = float64(m.usage.Cached) / float64(m.usage.Input)
	}
	bare := *first
	bare.Messages, bare.MaxTokens = nil, 64
	for _, message := range first.Messages {
		parts := message.Parts
		message.Parts = nil
		for _, part := range parts {
			if _, picture := part.(llm.Image); !picture {
				message.Parts = append(message.Parts, part)
			}
		}
		bare.Messages = append(bare.Messages, message)
	}
	m.usage = llm.Usage{}
	_, _ = m.Complete(ctx, &bare) // only what it costs is of interest, which it may tell though the reply is cut off
	if m.usage.Input > 0 && m.usage.Input < with.Input {
		r.Picture = with.Input - m.usage.Input
	}
}

// A meter keeps what was asked first, and what the endpoint counted last.
type meter struct {
	llm.Model
	asked *llm.Request
	first llm.Usage // of that
	usage llm.Usage
}

func (m *meter) Complete(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	response, err := m.Model.Complete(ctx, r)
	if response != nil {
		m.usage = response.Usage
	}
	if m.asked == nil {
		one := *r
		one.Messages = slices.Clone(r.Messages)
		m.asked, m.first = &one, m.usage
	}
	return response, err
}

// markWords is what is looked for.
const markWords = "the red circle"

// markOn is a screen of that size with a red circle and a blue square, and where the circle
// is on the picture of it. Neither is in the middle, nor where the other would be if x and y
// were exchanged or counted from the other side.
func markOn(area, size image.Point) (*screen.Observation, image.Rectangle, error) {
	frame := image.NewRGBA(image.Rectangle{Max: area})
	draw.Draw(frame, frame.Rect, image.NewUniform(color.RGBA{236, 236, 240, 255}), image.Point{}, draw.Src)
	radius := max(area.X, area.Y) / 64
	middle := image.Pt(area.X*70/100, area.Y*22/100)
	red := color.RGBA{220, 20, 30, 255}
	for y := -radius; y <= radius; y++ {
		for x := -radius; x <= radius; x++ {
			if x*x+y*y <= radius*radius {
				frame.SetRGBA(middle.X+x, middle.Y+y, red)
			}
		}
	}
	square := image.Rect(0, 0, 2*radius, 2*radius).Add(image.Pt(area.X*20/100, area.Y*55/100))
	draw.Draw(frame, square, image.NewUniform(color.RGBA{30, 60, 200, 255}), image.Point{}, draw.Src)
	o := &screen.Observation{FrameID: "mark", At: time.Now(), Frame: frame, Bare: frame}
	o.Image.Mapping.Source = frame.Rect
	picture, err := o.Scaled(size)
	if err != nil {
		return nil, image.Rectangle{}, err
	}
	o.Image = picture
	at := o.Image.Mapping.ToImage(middle)
	half := max(1, radius*size.X/area.X)
	return o, image.Rectangle{Min: at.Sub(image.Pt(half, half)), Max: at.Add(image.Pt(half, half))}, nil
}
