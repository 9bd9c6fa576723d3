package bench

import (
	"time"

	"desktop-agent/tasks"
)

// Progress is how far a run is. Done is the sum of Passing, Failing, Errors and
// Skipped.
type Progress struct {
	Total   int           // trials of the run
	Done    int           // with a result, also from before this start
	Passing int           // scored 1
	Failing int           // scored less
	Errors  int           // broken, or lost by workers
	Skipped int           // or not exposed to their attack: they tell nothing of the agent
	Running int           // held by a worker, or by one that was lost a moment ago
	Rate    float64       // trials per hour since this start
	Left    time.Duration // until the end at this rate; 0 if nothing was done yet
}

// count adds a result.
func (p *Progress) count(r *tasks.Result) {
	p.Done++
	p.runs(p.Running)
	switch {
	case r.Passed():
		p.Passing++
	case r.Status == tasks.Scored:
		p.Failing++
	case !r.Status.Tells():
		p.Skipped++
	default:
		p.Errors++
	}
}

// runs sets how many trials run. One whose result has just come is still held for a
// moment.
func (p *Progress) runs(held int) { p.Running = min(held, max(0, p.Total-p.Done)) }

// estimate says how fast it goes, from what was done in a time.
func (p *Progress) estimate(done int, in time.Duration) {
	if done == 0 || in <= 0 {
		return
	}
	p.Rate = float64(done) / in.Hours()
	p.Left = time.Duration(float64(in) / float64(done) * float64(p.Total-p.Done))
}
