package replay

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// Live tells a [Recorded] model what the live desktop looks like. The [Journal]
// of the live run does.
type Live interface {
	// Latest returns the newest observation that was recorded, and the step
	// of the loop in which it was taken; nil before the first.
	Latest() (*screen.Observation, int)
}

// Recorded is a model that answers with the replies of a recorded run, while
// the desktop, its tree and the input are live. Everything it is asked must
// have been asked in the recorded run at the same place:
//
//   - A call belongs to the step in which the newest observation before it was
//     taken, and to its role and purpose. The replies recorded for these three
//     are given in their order. A call for which none is left gets a
//     [*NotRecordedError]. So a live run that assesses once more than the
//     recorded one is told so for that call alone, and one that assesses once
//     less leaves a reply unused, which [Recorded.Count] tells; neither shifts
//     the replies of later steps.
//   - Before an actor's reply with input for the desktop is given, the live
//     screen is compared with the one that the recorded reply was about. If they
//     differ where it matters, the call gets a [*MismatchError]; what is
//     compared is described there. A reply that names elements by their handles gets
//     those that the same elements have on the live screen.
//   - A call that failed in the recorded run fails again.
//   - Prompts may differ, since they quote the live screen; [Recorded.Count]
//     tells how many did.
//
// Its methods may be called from several goroutines. It holds the replies of the
// present step only.
type Recorded struct {
	run  *Run
	live Live

	mu     sync.Mutex // guards the fields below
	next   func() (*Step, error, bool)
	stop   func()
	seen   int // the newest step read that has an observation; -1 before the first
	left   Replies
	counts Count
}

// Count sums up what a [Recorded] model was asked.
type Count struct {
	Answered     int // calls that got a recorded reply
	PromptsOther int // of these, calls whose text was not the recorded one
	Unused       int // recorded replies that were not asked for, so far
}

// NewRecorded reads the replies of a run. live is the desktop that they are
// used on. The whole run is read once, so that one which is damaged is refused
// before anything is done. Close it to let the run's file go.
func NewRecorded(stored *Run, live Live) (*Recorded, error) {
	m := &Recorded{run: stored, live: live, seen: -1}
	for step, err := range stored.Steps() {
		if err != nil {
			return nil, fmt.Errorf("recorded run %s: %w", stored.Info.ID, err)
		}
		m.counts.Unused += len(step.Calls)
	}
	if m.counts.Unused == 0 {
		return nil, fmt.Errorf("recorded run %s: no model was called in it", stored.Info.ID)
	}
	m.next, m.stop = iter.Pull2(stored.Steps())
	return m, nil
}

// Close lets the run's file go.
func (m *Recorded) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stop()
	return nil
}

// Count sums up what was asked so far.
func (m *Recorded) Count() Count {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts
}

// Complete gives the recorded reply to a request.
func (m *Recorded) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	o, step := m.live.Latest()
	if o == nil {
		return nil, fmt.Errorf("recorded %s: nothing was observed on the live desktop yet", req.Purpose)
	}
	if req.Role == llm.Actor && !shows(req, o.FrameID) {
		return nil, fmt.Errorf("recorded %s: the request does not show %s, the newest frame", req.Purpose, o.FrameID)
	}
	c, err := m.take(step, req)
	if err != nil {
		return nil, err
	}
	answer, err := c.Answer()
	if err != nil {
		return nil, err
	}
	if err := m.check(c, o); err != nil {
		return nil, err
	}
	if err := m.rename(answer, c, o); err != nil {
		return nil, err
	}
	return answer, nil
}

// take returns the next reply recorded after the observation of a step.
func (m *Recorded) take(step int, req *llm.Request) (*Call, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.wind(step); err != nil {
		return nil, fmt.Errorf("recorded run %s: %w", m.run.Info.ID, err)
	}
	c, err := m.left.Take(step, req.Role, req.Purpose)
	if err != nil {
		return nil, err
	}
	m.counts.Answered++
	m.counts.Unused--
	if !sameText(req.Messages, c.Whole()) {
		m.counts.PromptsOther++
	}
	return c, nil
}

// wind reads on until all replies after the observation of a step are there, and
// drops those of observations before it: the run is past them.
func (m *Recorded) wind(step int) error {
	m.left.Drop(step)
	for m.seen <= step {
		s, err, ok := m.next()
		if !ok || err != nil {
			return err
		}
		if s.After != nil { // a step whose reply was no action has none
			m.seen = s.N
		}
		m.left.Add(s)
	}
	return nil
}

// shows reports whether a request shows a frame.
func shows(req *llm.Request, frameID string) bool {
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if i, ok := p.(llm.Image); ok && i.FrameID == frameID {
				return true
			}
		}
	}
	return false
}

// sameText reports whether messages say what recorded ones said, pictures aside.
func sameText(live []llm.Message, recorded []run.Message) bool {
	return slices.EqualFunc(live, recorded, func(a llm.Message, b run.Message) bool {
		w := run.Written(a)
		return w.From == b.From && w.Text == b.Text && w.CallID == b.CallID && slices.EqualFunc(w.Calls, b.Calls, llm.ToolCall.Equal)
	})
}
