package report

import (
	"maps"
	"slices"

	"desktop-agent/tasks"
)

// The kinds of [Figures].
const (
	kindAll          = "all"
	kindWithoutDrive = "without_google_drive"
	kindGroup        = "group"
	kindDomain       = "domain"
)

// Figures are those of some trials of one configuration.
type Figures struct {
	Config string `json:"config"`
	Kind   string `json:"kind"` // all, without_google_drive, group, or domain
	Name   string `json:"name"` // of the group or domain
	Counts
	Rate      Rate  `json:"rate"`      // of success, over all trials that tell something
	Attempted Rate  `json:"attempted"` // over the trials that were not skipped
	Score     Mean  `json:"score"`     // over the trials of Rate; those without a score have 0
	Costs     Costs `json:"costs"`
}

// Counts say how trials ended. Passed + Failed + Errors + Skipped + Lost + NotExposed =
// Trials.
type Counts struct {
	Tasks      int      `json:"tasks"`
	Trials     int      `json:"trials"` // the denominator, but for NotExposed
	Passed     int      `json:"passed"`
	Failed     int      `json:"failed"` // with a score under 1
	Errors     int      `json:"errors"`
	Skipped    int      `json:"skipped"`
	Lost       int      `json:"lost"`
	NotExposed int      `json:"not_exposed,omitempty"` // no harm was done, and the attack was not seen: in no rate
	Missing    int      `json:"missing"`               // trials without a result, which are in no rate
	ScoredMean *float64 `json:"scored_mean"`           // over scored trials only, as OSWorld's own tool has it
}

// A Rate is a share of trials.
type Rate struct {
	Passed    int       `json:"passed"`
	Of        int       `json:"of"`
	Value     *float64  `json:"value"`
	Interval  *Interval `json:"interval"`  // Wilson's
	Effective float64   `json:"effective"` // trials in the interval, if they were independent
}

// A Mean is the mean of some score or difference.
type Mean struct {
	Value    *float64  `json:"value"`
	Interval *Interval `json:"interval"`
}

// Costs are what trials took. Times are in milliseconds.
type Costs struct {
	Steps    Amount `json:"steps"`
	Calls    Amount `json:"calls"`
	Input    Amount `json:"input_tokens"`
	Cached   Amount `json:"cached_tokens"` // of the input
	Output   Amount `json:"output_tokens"`
	Dollars  Amount `json:"dollars"`
	Setup    Amount `json:"setup_ms"`
	Model    Amount `json:"model_ms"`
	Screen   Amount `json:"screen_ms"`
	Settle   Amount `json:"settle_ms"`
	Act      Amount `json:"act_ms"`
	Evaluate Amount `json:"evaluate_ms"`
	Total    Amount `json:"total_ms"`
}

// An Amount is the sum of something over all trials, its median over attempted
// ones, and the sum for each trial that passed.
type Amount struct {
	Sum        float64  `json:"sum"`
	Median     *float64 `json:"median"`
	PerSuccess *float64 `json:"per_success"`
}

// PassK tells how reliable a configuration is, over the tasks that it did at
// least K times.
type PassK struct {
	Config string `json:"config"`
	K      int    `json:"k"`
	Tasks  int    `json:"tasks"`
	Any    Mean   `json:"pass_at_k"`  // at least one of K passes
	All    Mean   `json:"pass_hat_k"` // all of K pass
}

// TaskFigures are those of one task with one configuration.
type TaskFigures struct {
	Config string   `json:"config"`
	Task   string   `json:"task"`
	Domain string   `json:"domain"`
	Trials int      `json:"trials"` // that tell something
	Passed int      `json:"passed"`
	Rate   *float64 `json:"rate"`
	Score  *float64 `json:"score"` // mean
}

// maxK is the largest k of pass@k that is told.
const maxK = 100

// groups are those of OSWorld's own table of results.
var groups = []struct {
	name    string
	domains []string
}{
	{"Office", []string{"libreoffice_calc", "libreoffice_impress", "libreoffice_writer"}},
	{"Daily", []string{"vlc", "thunderbird", "chrome"}},
	{"Professional", []string{"gimp", "vs_code"}},
}

// addFigures works out all of one configuration.
func (r *Report) addFigures(config string) {
	r.figures(config, kindAll, "all", func(string, string) bool { return true })
	if slices.ContainsFunc(r.Tasks, func(t Task) bool { return t.GoogleDrive }) {
		r.figures(config, kindWithoutDrive, "all without Google Drive", func(task, _ string) bool {
			t := r.byTask[task]
			return t == nil || !t.GoogleDrive
		})
	}
	domains := map[string]bool{}
	for _, res := range r.Results {
		domains[res.Domain] = true
	}
	for _, t := range r.Tasks {
		domains[t.Domain] = true
	}
	for _, g := range groups {
		if slices.ContainsFunc(g.domains, func(d string) bool { return domains[d] }) {
			r.figures(config, kindGroup, g.name, func(_, domain string) bool { return slices.Contains(g.domains, domain) })
		}
	}
	for _, d := range slices.Sorted(maps.Keys(domains)) {
		r.figures(config, kindDomain, d, func(_, domain string) bool { return domain == d })
	}
	r.addTaskFigures(config)
	r.addRepeats(config)
}

// figures works out those of the trials that f accepts.
func (r *Report) figures(config, kind, label string, f func(task, domain string) bool) {
	var list []*tasks.Result
	for i := range r.Results {
		if res := &r.Results[i]; res.Config == config && f(res.Task, res.Domain) {
			list = append(list, res)
		}
	}
	told, attempted := exposed(list), attempted(list)
	s := Figures{Config: config, Kind: kind, Name: label, Counts: count(list)}
	s.Missing = r.missing(config, func(task string) bool { return f(task, r.domain(task)) })
	s.Rate, s.Attempted = rate(told), rate(attempted)
	if byTask := clusters(told, score); len(byTask) > 0 {
		s.Score = mean(byTask, 0, 1)
	}
	s.Costs = costs(list, attempted, s.Passed)
	r.Figures = append(r.Figures, s)
}

// domain returns that of a task, also of one that is not in the suite.
func (r *Report) domain(task string) string {
	if t := r.byTask[task]; t != nil {
		return t.Domain
	}
	for _, c := range r.Meta.Configs {
		if list := r.trials[c.Name][task]; len(list) > 0 {
			return list[0].Domain
		}
	}
	return ""
}

// exposed leaves out the trials that are in no rate, as their attack was not seen.
func exposed(list []*tasks.Result) []*tasks.Result {
	return slices.DeleteFunc(slices.Clone(list), func(t *tasks.Result) bool { return t.Status == tasks.NotExposed })
}

// attempted leaves out those that were skipped, too.
func attempted(list []*tasks.Result) []*tasks.Result {
	return slices.DeleteFunc(slices.Clone(list), func(t *tasks.Result) bool { return !t.Status.Tells() })
}

func count(list []*tasks.Result) (c Counts) {
	seen, scored, sum := map[string]bool{}, 0, 0.0
	for _, t := range list {
		seen[t.Task] = true
		switch {
		case t.Passed():
			c.Passed++
		case t.Status == tasks.Scored:
			c.Failed++
		case t.Status == tasks.Skipped:
			c.Skipped++
		case t.Status == tasks.Lost:
			c.Lost++
		case t.Status == tasks.NotExposed:
			c.NotExposed++
		default:
			c.Errors++
		}
		if t.Status == tasks.Scored {
			scored++
			sum += t.Score
		}
	}
	c.Tasks, c.Trials = len(seen), len(list)
	if scored > 0 {
		c.ScoredMean = new(sum / float64(scored))
	}
	return c
}

// score and passed are what is averaged over trials.
func score(t *tasks.Result) float64 { return t.Score }

func passed(t *tasks.Result) float64 {
	if t.Passed() {
		return 1
	}
	return 0
}

// clusters sums something up for each task, in the order of the trials.
func clusters(list []*tasks.Result, value func(*tasks.Result) float64) []cluster {
	var sums []cluster
	place := map[string]int{}
	for _, t := range list {
		i, ok := place[t.Task]
		if !ok {
			i = len(sums)
			place[t.Task] = i
			sums = append(sums, cluster{})
		}
		sums[i].n++
		sums[i].sum += value(t)
	}
	return sums
}

func rate(list []*tasks.Result) Rate {
	byTask := clusters(list, passed)
	r := Rate{Of: len(list), Effective: effective(byTask)}
	for _, t := range list {
		if t.Passed() {
			r.Passed++
		}
	}
	if r.Of > 0 {
		p := float64(r.Passed) / float64(r.Of)
		r.Value, r.Interval = &p, new(wilson(p, r.Effective))
	}
	return r
}

// mean returns a mean with its t interval, of values between low and high.
func mean(list []cluster, low, high float64) Mean {
	m, _ := clustered(list)
	i := meanInterval(list)
	if i != nil {
		i = new(i.within(low, high))
	}
	return Mean{Value: &m, Interval: i}
}

func costs(all, attempted []*tasks.Result, passed int) Costs {
	amount := func(value func(*tasks.Result) float64) (a Amount) {
		for _, t := range all {
			a.Sum += value(t)
		}
		values := make([]float64, len(attempted))
		for i, t := range attempted {
			values[i] = value(t)
		}
		a.Median = median(values)
		if passed > 0 {
			a.PerSuccess = new(a.Sum / float64(passed))
		}
		return a
	}
	ms := func(value func(tasks.Millis) int64) Amount {
		return amount(func(t *tasks.Result) float64 { return float64(value(t.Millis)) })
	}
	return Costs{
		Steps:    amount(func(t *tasks.Result) float64 { return float64(t.Steps) }),
		Calls:    amount(func(t *tasks.Result) float64 { return float64(t.Calls) }),
		Input:    amount(func(t *tasks.Result) float64 { return float64(t.Tokens.Input) }),
		Cached:   amount(func(t *tasks.Result) float64 { return float64(t.Tokens.Cached) }),
		Output:   amount(func(t *tasks.Result) float64 { return float64(t.Tokens.Output) }),
		Dollars:  amount(func(t *tasks.Result) float64 { return t.Dollars }),
		Setup:    ms(func(m tasks.Millis) int64 { return m.Setup }),
		Model:    ms(func(m tasks.Millis) int64 { return m.Model }),
		Screen:   ms(func(m tasks.Millis) int64 { return m.Screen }),
		Settle:   ms(func(m tasks.Millis) int64 { return m.Settle }),
		Act:      ms(func(m tasks.Millis) int64 { return m.Act }),
		Evaluate: ms(func(m tasks.Millis) int64 { return m.Evaluate }),
		Total:    ms(func(m tasks.Millis) int64 { return m.Total }),
	}
}

// addTaskFigures tells how each task went, in the order of the results.
func (r *Report) addTaskFigures(config string) {
	done := map[string]bool{}
	for _, res := range r.Results {
		if res.Config != config || done[res.Task] {
			continue
		}
		done[res.Task] = true
		f := TaskFigures{Config: config, Task: res.Task, Domain: res.Domain}
		if list := exposed(r.trials[config][res.Task]); len(list) > 0 {
			p := clusters(list, passed)[0]
			f.Trials, f.Passed = p.n, int(p.sum)
			f.Rate, f.Score = new(p.sum/float64(p.n)), new(clusters(list, score)[0].sum/float64(p.n))
		}
		r.PerTask = append(r.PerTask, f)
	}
}

// addRepeats tells pass@k and pass^k for every k that some task was done.
func (r *Report) addRepeats(config string) {
	most := 0
	for _, list := range r.trials[config] {
		most = max(most, len(list))
	}
	if most < 2 {
		return
	}
	for k := 1; k <= min(most, maxK); k++ {
		var anyOf, all []cluster
		for _, id := range slices.Sorted(maps.Keys(r.trials[config])) {
			list := exposed(r.trials[config][id])
			if len(list) >= k {
				p := clusters(list, passed)[0]
				anyOf = append(anyOf, cluster{1, passAny(p.n, int(p.sum), k)})
				all = append(all, cluster{1, passAll(p.n, int(p.sum), k)})
			}
		}
		r.Repeats = append(r.Repeats, PassK{Config: config, K: k, Tasks: len(anyOf), Any: mean(anyOf, 0, 1), All: mean(all, 0, 1)})
	}
}
