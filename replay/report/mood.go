package report

import "desktop-agent/actuator"

// A mood says how a step went; "" where nothing was done.
type mood string

// The moods, the worse the later.
const (
	good     mood = "good"     // delivered
	healed   mood = "healed"   // not as recorded, and a model found a way on
	odd      mood = "odd"      // it had no effect, or not all of it was done
	doubted  mood = "doubted"  // it was objected to, and done
	bad      mood = "bad"      // refused, or no action at all
	diverged mood = "diverged" // not as recorded
)

// Two says that the page has one picture a step.
func (*view) Two() bool { return false }

// Words says what a mood means.
func (m mood) Words() string {
	switch m {
	case good:
		return "delivered"
	case healed:
		return "healed"
	case odd:
		return "no effect"
	case doubted:
		return "objected to"
	case bad:
		return "refused"
	case diverged:
		return "diverged"
	case same:
		return "the same"
	case differs:
		return "different"
	case parted:
		return "here the runs part"
	}
	return "nothing done"
}

// Trouble reports whether a step is worth a look.
func (m mood) Trouble() bool { return m.rank() > 1 }

func (m mood) rank() int {
	switch m {
	case good, same:
		return 1
	case healed:
		return 2
	case odd:
		return 3
	case doubted:
		return 4
	case bad, differs:
		return 5
	case diverged, parted:
		return 6
	}
	return 0
}

// Mood is how the step went.
func (s *stepView) Mood() mood {
	m := s.performed()
	for _, d := range s.Diverged {
		if d.Healing && m == good {
			return healed
		}
	}
	if len(s.Diverged) > 0 {
		return diverged
	}
	return m
}

// performed is how the step went, but for what a replay found out: the worst of all that
// is known of it.
func (s *stepView) performed() (m mood) {
	worse := func(c mood) {
		if c.rank() > m.rank() {
			m = c
		}
	}
	p := s.Last()
	if p == nil {
		return ""
	}
	if p.Error != "" {
		worse(bad)
	}
	for _, a := range p.Actions {
		switch {
		case a.Result == nil:
		case a.Result.Status == actuator.Refused:
			worse(bad)
		case a.Result.Status != actuator.Delivered:
			worse(odd)
		default:
			worse(good)
		}
	}
	switch {
	case p.Refused:
		worse(bad)
	case p.Stopped != "":
		worse(odd)
	}
	for _, r := range p.Reviews {
		if r.Overridden {
			worse(doubted)
		}
	}
	if s.Goal != nil {
		worse(good)
		if !s.Goal.Accepted {
			worse(odd)
		}
	}
	return m
}

// A tick is a stretch of the timeline: one step, or some where they are many.
type tick struct {
	From, To int // sections, from 0; To is behind the last
	Mood     mood
}

// maxTicks is how many ticks can still be told from each other.
const maxTicks = 400

// Ticks divides the timeline. A stretch has the worst mood of its steps.
func (v *view) Ticks() []tick { return ticks(v.Steps) }

func ticks(steps []*entry) []tick {
	n := min(len(steps), maxTicks)
	list := make([]tick, n)
	for i := range list {
		t := tick{From: i * len(steps) / n, To: (i + 1) * len(steps) / n}
		for _, e := range steps[t.From:t.To] {
			if e.Mood.rank() > t.Mood.rank() {
				t.Mood = e.Mood
			}
		}
		list[i] = t
	}
	return list
}
