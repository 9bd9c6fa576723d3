package offline

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"iter"
	"runtime"

	"desktop-agent/actuator"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// ahead is how many steps are read before they are needed.
const ahead = 8

// A reader reads the steps of a run beside the replay, and decodes frames.
type reader struct {
	steps <-chan read
	stop  context.CancelFunc
}

type read struct {
	sheet *recordedStep
	err   error
}

// A recordedStep is a step of the run, with what the replay has taken of it.
type recordedStep struct {
	*replay.Step
	observations []*observation
	observed     int            // how many looks were taken
	met          map[string]int // events of the agent, by kind
	used         map[int]bool   // events that one of the replay stands for, by their number
}

// An observation is one of those of a step.
type observation struct {
	*run.Observed
	seen    *screen.Observation
	decoded chan error // gets one value; nil if no pixels are wanted
}

// unread stands for the image of a frame that is not read: no model looks at it.
var unread = []byte("recorded")

// What is wanted of the frames of a run.
const (
	nothing     = iota // but what is zoomed into
	pixels             // the decoded frame
	everything         // and the image that was sent to a model
	whatIsThere        // the same, and a grey one where it was lost
)

// blank is a grey picture.
func blank(size image.Point) []byte {
	var buf bytes.Buffer
	if png.Encode(&buf, image.NewGray(image.Rectangle{Max: size})) != nil { // the buffer takes all
		return unread
	}
	return buf.Bytes()
}

// newReader begins to read.
func newReader(stored *replay.Run, want int) *reader {
	ctx, stop := context.WithCancel(context.Background())
	steps := make(chan read, ahead)
	busy := make(chan struct{}, runtime.GOMAXPROCS(0)) // as many frames are decoded at once
	go func() {
		defer close(steps)
		next, end := iter.Pull2(stored.Steps())
		defer end()
		for {
			step, err, ok := next()
			if !ok {
				return
			}
			r := read{err: err}
			if err == nil {
				r.sheet = newRecordedStep(step)
				for _, l := range r.sheet.observations {
					if want > nothing || zooms(step) {
						l.decode(ctx, stored, busy, want)
					}
				}
			}
			select {
			case steps <- r:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return &reader{steps: steps, stop: stop}
}

// next returns the next step; nil after the last.
func (r *reader) next() (*recordedStep, error) {
	s, ok := <-r.steps
	if !ok {
		return nil, nil
	}
	return s.sheet, s.err
}

// close ends the reading.
func (r *reader) close() {
	r.stop()
	for range r.steps { // until the reader has noticed
	}
}

func newRecordedStep(step *replay.Step) *recordedStep {
	s := &recordedStep{Step: step, met: map[string]int{}, used: map[int]bool{}}
	for _, o := range step.Observed {
		l := &observation{Observed: o, seen: replay.Recall(o).Final()}
		l.seen.Image.Data = unread
		s.observations = append(s.observations, l)
	}
	return s
}

// zooms reports whether a step asks to see a region enlarged, which takes the
// pixels of its last frame.
func zooms(s *replay.Step) bool {
	p := s.Proposal()
	if p == nil {
		return false
	}
	for _, a := range p.Actions {
		if _, ok := a.Action.(actuator.Zoom); ok {
			return true
		}
	}
	return false
}

// decode reads the pixels of a frame beside the caller.
func (l *observation) decode(ctx context.Context, stored *replay.Run, busy chan struct{}, want int) {
	select {
	case busy <- struct{}{}:
	case <-ctx.Done():
		return
	}
	l.decoded = make(chan error, 1)
	go func() {
		defer func() { <-busy }()
		var err error
		l.seen.Frame, l.seen.Bare, err = stored.Pixels(l.Observed)
		if want >= everything && err == nil {
			l.seen.Image.Data, l.seen.Image.Type, err = stored.Sent(l.FrameID)
		}
		if want == whatIsThere && err != nil {
			l.seen.Frame, err = &image.RGBA{Rect: image.Rectangle{Max: l.Frame}}, nil
			l.seen.Bare = l.seen.Frame
			l.seen.Image.Data, l.seen.Image.Type = blank(l.Mapping.Size), "image/png"
		}
		l.decoded <- err
	}()
}

// wait returns the observation once its pixels are there, if they are wanted.
func (l *observation) wait(ctx context.Context) (*screen.Observation, error) {
	if l.decoded == nil {
		return l.seen, nil
	}
	select {
	case err := <-l.decoded:
		return l.seen, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
