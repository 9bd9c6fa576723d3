package run

import "time"

// Worked is for how long programs worked on a run, and how far they came, by its events. The
// time in which no program did counts for nothing: it ends where the run was taken up again.
// Events are added in their order; the zero value has none.
type Worked struct {
	Time  time.Duration // since the first event
	Steps int           // the highest number of a step
	At    time.Time     // of the newest event
}

// Add adds the next event.
func (w *Worked) Add(e Event) {
	_, again := e.Data.(Resumed)
	if !w.At.IsZero() && !again {
		w.Time += max(0, e.Time.Sub(w.At))
	}
	w.At, w.Steps = e.Time, max(w.Steps, e.Step)
}
