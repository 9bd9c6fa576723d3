package report

import (
	"slices"
	"strings"

	"desktop-agent/tasks"
)

// A Comparison is of two configurations, on the tasks that both did: a task that
// one of them skipped is left out, errors and lost trials count as not passed.
// Differences are those of B less those of A.
type Comparison struct {
	A        string   `json:"a"`
	B        string   `json:"b"`
	Standing bool     `json:"standing"` // A does not plan, B does, and they are alike otherwise
	Tasks    int      `json:"tasks"`    // that both did
	LeftOut  int      `json:"left_out"` // tasks that only one did, or that one skipped
	RateA    *float64 `json:"rate_a"`   // mean over tasks of the share of trials that passed
	RateB    *float64 `json:"rate_b"`
	Wins     []string `json:"wins"`   // tasks that B did more often
	Losses   []string `json:"losses"` // tasks that A did more often
	Both     int      `json:"both"`   // tasks that both always did
	Neither  int      `json:"neither"`
	Same     int      `json:"same"`   // other tasks that both did equally often
	Effect   Mean     `json:"effect"` // difference of the rates, with the interval of Bonett and Price
	Score    Mean     `json:"score"`  // difference of the mean scores, with a t interval
	P        *float64 `json:"p"`      // McNemar's exact test
	PHolm    *float64 `json:"p_holm"` // adjusted for the number of comparisons
	Sign     bool     `json:"sign"`   // there are repeats: it is the sign test over tasks
	Warnings []string `json:"warnings"`
}

// Dot is the effect as a place on a line.
func (m Mean) Dot() *Interval {
	if m.Value == nil {
		return nil
	}
	return &Interval{*m.Value, *m.Value}
}

// compareAll compares each pair of configurations that have results.
func (r *Report) compareAll() {
	var configs []*Config
	for i := range r.Meta.Configs {
		if c := &r.Meta.Configs[i]; len(r.trials[c.Name]) > 0 {
			configs = append(configs, c)
		}
	}
	standing := standingPairs(configs)
	for i, a := range configs {
		for _, b := range configs[i+1:] {
			if slices.Contains(standing, [2]*Config{b, a}) {
				r.Comparisons = append(r.Comparisons, r.compare(b, a, true))
				continue
			}
			r.Comparisons = append(r.Comparisons, r.compare(a, b, slices.Contains(standing, [2]*Config{a, b})))
		}
	}
	slices.SortStableFunc(r.Comparisons, func(a, b Comparison) int {
		switch {
		case a.Standing == b.Standing:
			return 0
		case a.Standing:
			return -1
		}
		return 1
	})
	var ps []float64
	for i := range r.Comparisons {
		if p := r.Comparisons[i].P; p != nil {
			ps = append(ps, *p)
		}
	}
	adjusted := holm(ps)
	for i := range r.Comparisons {
		if r.Comparisons[i].P != nil {
			r.Comparisons[i].PHolm, adjusted = new(adjusted[0]), adjusted[1:]
		}
	}
}

// standingPairs finds the configurations that differ in planning only, the one
// that does not plan first: by their names or by what they consist of. If there is
// none, the only one that plans is held against the only one that does not.
func standingPairs(configs []*Config) (pairs [][2]*Config) {
	var plain, planned []*Config
	for _, c := range configs {
		if on, known := c.plans(); known && on {
			planned = append(planned, c)
		} else if known {
			plain = append(plain, c)
		}
	}
	for _, off := range plain {
		for _, on := range planned {
			offRest, offNamed := off.besidesPlan()
			onRest, onNamed := on.besidesPlan()
			named := offNamed && onNamed && offRest == onRest
			described := len(off.Models) > 0 && len(differences(on, off, true)) == 0
			if named || described {
				pairs = append(pairs, [2]*Config{off, on})
			}
		}
	}
	if len(pairs) == 0 && len(plain) == 1 && len(planned) == 1 {
		pairs = append(pairs, [2]*Config{plain[0], planned[0]})
	}
	return pairs
}

// A pair is one task done with two configurations.
type pair struct {
	task         string
	a, b         []*tasks.Result // that were attempted
	rateA, rateB float64
}

// pairs returns the tasks that both did, in order, and how many there are besides.
func (r *Report) pairs(a, b string) (both []pair, leftOut int) {
	share := func(list []*tasks.Result) float64 {
		c := clusters(list, passed)[0]
		return c.sum / float64(c.n)
	}
	for _, id := range keys(r.trials[a], r.trials[b]) {
		p := pair{task: id, a: attempted(r.trials[a][id]), b: attempted(r.trials[b][id])}
		if len(p.a) == 0 || len(p.b) == 0 {
			leftOut++
			continue
		}
		p.rateA, p.rateB = share(p.a), share(p.b)
		both = append(both, p)
	}
	return both, leftOut
}

func (r *Report) compare(a, b *Config, standing bool) Comparison {
	both, leftOut := r.pairs(a.Name, b.Name)
	c := Comparison{A: a.Name, B: b.Name, Standing: standing, Tasks: len(both), LeftOut: leftOut, Wins: []string{}, Losses: []string{}, Warnings: []string{}}
	var rates, scores []float64
	var sumA, sumB float64
	for _, p := range both {
		c.add(&p)
		sumA, sumB = sumA+p.rateA, sumB+p.rateB
		rates = append(rates, p.rateB-p.rateA)
		x, y := clusters(p.a, score)[0], clusters(p.b, score)[0]
		scores = append(scores, y.sum/float64(y.n)-x.sum/float64(x.n))
	}
	if n := float64(len(both)); n > 0 {
		c.RateA, c.RateB = new(sumA/n), new(sumB/n)
		c.Effect = Mean{Value: new((sumB - sumA) / n), Interval: new(pairedInterval(rates))}
		c.Score = mean(single(scores), -1, 1)
		c.P = new(mcnemar(len(c.Wins), len(c.Losses)))
	}
	r.doubt(&c, a, b, both)
	return c
}

// add counts one task.
func (c *Comparison) add(p *pair) {
	c.Sign = c.Sign || len(p.a) > 1 || len(p.b) > 1
	switch {
	case p.rateB > p.rateA:
		c.Wins = append(c.Wins, p.task)
	case p.rateB < p.rateA:
		c.Losses = append(c.Losses, p.task)
	case p.rateA == 1:
		c.Both++
	case p.rateA == 0:
		c.Neither++
	default:
		c.Same++
	}
}

// single makes a cluster of each value.
func single(values []float64) []cluster {
	list := make([]cluster, len(values))
	for i, v := range values {
		list[i] = cluster{1, v}
	}
	return list
}

// doubt warns of what makes two configurations hard to compare.
func (r *Report) doubt(c *Comparison, a, b *Config, both []pair) {
	warn := func(text string) { c.Warnings = append(c.Warnings, text) }
	if len(both) == 0 {
		warn("there is no task that both did")
	}
	onlyA, onlyB, skipped := 0, 0, 0
	done := func(list []*tasks.Result) bool { return len(attempted(list)) > 0 }
	for _, id := range keys(r.trials[a.Name], r.trials[b.Name]) {
		switch {
		case r.trials[b.Name][id] == nil:
			onlyA++
		case r.trials[a.Name][id] == nil:
			onlyB++
		case done(r.trials[a.Name][id]) != done(r.trials[b.Name][id]):
			skipped++
		}
	}
	if onlyA > 0 || onlyB > 0 {
		warn("the sets of tasks differ: " + plural(onlyA, "task") + " only with " + name(a.Name) + ", " + thousands(float64(onlyB)) + " only with " + name(b.Name))
	}
	if skipped > 0 {
		warn(are(skipped, "task") + " left out, as one of the two skipped it, but not the other")
	}
	uneven := 0
	for _, p := range both {
		if len(p.a) != len(p.b) {
			uneven++
		}
	}
	if uneven > 0 {
		warn(plural(uneven, "task") + " not attempted equally often by both")
	}
	if a.Unknown || b.Unknown {
		warn("the models and settings of one are not known, so they may differ")
		return
	}
	plans, other := a, b
	if c.Standing {
		plans, other = b, a
	}
	list := strings.Join(differences(plans, other, c.Standing), "; ")
	switch {
	case list == "":
	case c.Standing:
		warn("they differ not only in planning, but also in the " + list)
	default:
		warn("they differ in the " + list)
	}
}
