package report

import (
	"fmt"
	"math"
)

// A histogram tells how many trials took how many steps. Those that were skipped
// are not in it, nor those whose attack was not seen.
type histogram struct {
	Bars []bar
	Most int // trials in the highest bar
	Top  int // steps at the right end
}

// A bar counts the trials with From to To steps.
type bar struct {
	From, To     int
	Passed, Else int
	X, Width     float64 // of a picture that is 100 wide
	Y, Passing   float64 // of one that is 100 high: the top of all, and of those that passed
}

// Words says what the bar stands for.
func (b bar) Words() string {
	steps := plural(b.From, "step")
	if b.To > b.From {
		steps = fmt.Sprintf("%d to %d steps", b.From, b.To)
	}
	return fmt.Sprintf("%s: %d passed, %d not", steps, b.Passed, b.Else)
}

// All is how high the bar is.
func (b bar) All() int { return b.Passed + b.Else }

// High returns the heights in the picture.
func (b bar) High() float64 { return b.Passing - b.Y }

// Low returns the height of those that passed.
func (b bar) Low() float64 { return 100 - b.Passing }

// newHistogram counts the steps of a configuration; nil if there is nothing to
// count.
func newHistogram(r *Report, config string) *histogram {
	most, any := 0, false
	for i := range r.Results {
		if t := &r.Results[i]; t.Config == config && t.Status.Tells() {
			most, any = max(most, t.Steps), true
		}
	}
	if !any {
		return nil
	}
	wide := most/bars + 1 // steps in a bar
	h := &histogram{Bars: make([]bar, most/wide+1)}
	for i := range r.Results {
		t := &r.Results[i]
		switch b := &h.Bars[min(t.Steps, most)/wide]; {
		case t.Config != config || !t.Status.Tells():
		case t.Passed():
			b.Passed++
		default:
			b.Else++
		}
	}
	for i := range h.Bars {
		h.Most = max(h.Most, h.Bars[i].All())
	}
	w := 100 / float64(max(len(h.Bars), 8))
	for i := range h.Bars {
		b := &h.Bars[i]
		b.From, b.To = i*wide, (i+1)*wide-1
		b.X, b.Width = round(float64(i)*w), round(w*0.9)
		b.Y = round(100 - 100*float64(b.All())/float64(h.Most))
		b.Passing = round(100 - 100*float64(b.Passed)/float64(h.Most))
	}
	h.Top = h.Bars[len(h.Bars)-1].To
	return h
}

func round(f float64) float64 { return math.Round(f*100) / 100 }
