package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"desktop-agent/tasks"
)

// The format of results.json.
const (
	Schema  = "desktop-agent/bench-results"
	Version = 1
)

// A Report is everything that is said of a benchmark. It is what results.json
// holds.
type Report struct {
	Schema      string         `json:"schema"`
	Version     int            `json:"version"`
	Meta        Meta           `json:"meta"`
	Warnings    []string       `json:"warnings"`    // what a reader must know before trusting a figure
	Figures     []Figures      `json:"figures"`     // of each configuration: all, groups, then domains
	Repeats     []PassK        `json:"repeats"`     // of configurations with repeats
	Comparisons []Comparison   `json:"comparisons"` // of each pair of configurations; the standing ones first
	PerTask     []TaskFigures  `json:"per_task"`
	Tasks       []Task         `json:"tasks"`
	Results     []tasks.Result `json:"results"`

	trials map[string]map[string][]*tasks.Result // by configuration and task
	byTask map[string]*Task
}

// A Task is what is told of a task of the suite.
type Task struct {
	ID          string `json:"id"`
	Domain      string `json:"domain"`
	Instruction string `json:"instruction"`
	Infeasible  bool   `json:"infeasible"`   // the agent must say that it cannot be done
	GoogleDrive bool   `json:"google_drive"` // it needs an account there
}

// New works out all figures. The suite may have more tasks than there are results,
// and fewer; the report says so. Neither list is changed.
func New(meta Meta, suite []*tasks.Task, results []tasks.Result) *Report {
	r := &Report{Schema: Schema, Version: Version, Meta: meta, Warnings: []string{},
		Figures: []Figures{}, Repeats: []PassK{}, Comparisons: []Comparison{}, PerTask: []TaskFigures{}}
	r.Meta.Configs = slices.Clone(meta.Configs)
	r.addTasks(suite)
	r.addResults(results)
	r.warnUnisolated()
	r.warnNotSeen()
	r.addConfigs()
	r.sort()
	r.warnMissing()
	for i := range r.Meta.Configs {
		r.addFigures(r.Meta.Configs[i].Name)
	}
	r.compareAll()
	return r
}

func (r *Report) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// addTasks keeps what is told of tasks.
func (r *Report) addTasks(suite []*tasks.Task) {
	r.byTask, r.Tasks = map[string]*Task{}, []Task{}
	twice := 0
	for _, t := range suite {
		if t == nil {
			continue
		}
		if r.byTask[t.ID] != nil {
			twice++
			continue
		}
		r.byTask[t.ID] = &Task{ID: t.ID, Domain: t.Domain, Instruction: t.Instruction, Infeasible: t.Evaluator.Infeasible, GoogleDrive: onDrive(t)}
		r.Tasks = append(r.Tasks, *r.byTask[t.ID])
	}
	if twice > 0 {
		r.warn("%s of the suite left out: another has the same ID", plural(twice, "task"))
	}
}

// onDrive reports whether a task cannot be done without Google Drive.
func onDrive(t *tasks.Task) bool {
	drive := func(s tasks.Step) bool { return s.Type == "googledrive" }
	if slices.ContainsFunc(t.Setup, drive) || slices.ContainsFunc(t.Evaluator.Post, drive) {
		return true
	}
	file := func(g *tasks.Getter) bool { return g != nil && g.Type == "googledrive_file" }
	return slices.ContainsFunc(t.Evaluator.Checks, func(c tasks.Check) bool { return file(c.Result) || file(c.Expected) })
}

// addResults keeps one result of each trial, made sound.
func (r *Report) addResults(results []tasks.Result) {
	seen := map[tasks.Trial]bool{}
	unsound, twice, foreign := 0, 0, map[string]bool{}
	r.Results = []tasks.Result{}
	for _, res := range results {
		trial := tasks.Trial{Task: res.Task, Config: res.Config, Repeat: res.Repeat}
		if seen[trial] {
			twice++
			continue
		}
		seen[trial] = true
		if !sound(&res) {
			unsound++
		}
		if t := r.byTask[res.Task]; t != nil {
			res.Domain = t.Domain
		} else {
			foreign[res.Task] = true
		}
		r.Results = append(r.Results, res)
	}
	if twice > 0 {
		r.warn("%s left out: the trial was there already", plural(twice, "result"))
	}
	if unsound > 0 {
		r.warn("%s with a status or figures that cannot be: see why", plural(unsound, "result"))
	}
	if len(foreign) > 0 && len(r.Tasks) > 0 {
		r.warn("there are results of %s that the suite does not have", plural(len(foreign), "task"))
	}
}

// sound makes a result one that can be counted, and reports whether it was.
func sound(r *tasks.Result) bool {
	ok := true
	broken := func(why string) {
		ok = false
		r.Status, r.Score = tasks.Errored, 0
		r.Stage = cmp.Or(r.Stage, "evaluation")
		r.Why = strings.TrimSuffix(why+": "+r.Why, ": ")
	}
	switch r.Status {
	case tasks.Scored:
		if !(r.Score >= 0 && r.Score <= 1) {
			broken(fmt.Sprintf("the score is %v, which is not between 0 and 1", r.Score))
		}
	case tasks.Errored, tasks.Skipped, tasks.Lost, tasks.NotExposed:
		if r.Score != 0 {
			ok, r.Score = false, 0
		}
	default:
		broken(fmt.Sprintf("the result has the status %.40q", r.Status))
	}
	if !(r.Dollars >= 0 && r.Dollars <= 1e12) { // not a number, too
		ok, r.Dollars = false, 0
	}
	for _, n := range []*int{&r.Steps, &r.Calls, &r.Tokens.Input, &r.Tokens.Cached, &r.Tokens.Output} {
		if *n < 0 {
			ok, *n = false, 0
		}
	}
	for _, n := range []*int64{&r.Millis.Setup, &r.Millis.Model, &r.Millis.Screen, &r.Millis.Settle, &r.Millis.Act, &r.Millis.Evaluate, &r.Millis.Total} {
		if *n < 0 {
			ok, *n = false, 0
		}
	}
	return ok
}

// addConfigs adds the configurations of which only results are known.
func (r *Report) addConfigs() {
	known := map[string]bool{}
	r.Meta.Configs = slices.DeleteFunc(r.Meta.Configs, func(c Config) bool {
		twice := known[c.Name]
		known[c.Name] = true
		return twice
	})
	var others []string
	for _, res := range r.Results {
		if !known[res.Config] {
			known[res.Config] = true
			others = append(others, res.Config)
		}
	}
	slices.Sort(others)
	for _, c := range others {
		r.Meta.Configs = append(r.Meta.Configs, Config{Name: c, Unknown: true, Planning: plansWord(c)})
		r.warn("nothing is known of what %s ran with: models, settings, whether a shell was allowed", name(c))
	}
}

// plansWord is what the name of a configuration says of planning.
func plansWord(config string) string {
	on, known := (&Config{Name: config}).plans()
	switch {
	case !known:
		return ""
	case on:
		return "on"
	}
	return "off"
}

// sort puts results in the order of configurations, domains, tasks and repeats.
func (r *Report) sort() {
	place := map[string]int{}
	for i, c := range r.Meta.Configs {
		place[c.Name] = i
	}
	slices.SortStableFunc(r.Results, func(a, b tasks.Result) int {
		return cmp.Or(cmp.Compare(place[a.Config], place[b.Config]), cmp.Compare(a.Domain, b.Domain),
			cmp.Compare(a.Task, b.Task), cmp.Compare(a.Repeat, b.Repeat))
	})
	slices.SortStableFunc(r.Tasks, func(a, b Task) int {
		return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.ID, b.ID))
	})
	r.trials = map[string]map[string][]*tasks.Result{}
	most := 1
	for i := range r.Results {
		res := &r.Results[i]
		if r.trials[res.Config] == nil {
			r.trials[res.Config] = map[string][]*tasks.Result{}
		}
		list := append(r.trials[res.Config][res.Task], res)
		r.trials[res.Config][res.Task] = list
		most = max(most, len(list))
	}
	r.Meta.Repeats = cmp.Or(max(0, r.Meta.Repeats), most)
}

// unisolated is what is said of trials whose commands saw the machine itself.
const unisolated = "not isolated: commands of the tasks saw the files, the processes and the network of the machine itself"

// warnUnisolated tells of trials that were not kept apart from the machine.
func (r *Report) warnUnisolated() {
	n := 0
	for i := range r.Results {
		if r.Results[i].Unisolated {
			n++
		}
	}
	if n > 0 {
		r.warn("%s of %d %s", plural(n, "trial"), len(r.Results), unisolated)
	}
}

// warnNotSeen tells of attacks that were not seen, also where a task that has a check of
// its own was scored.
func (r *Report) warnNotSeen() {
	attacks, unseen := 0, 0
	for i := range r.Results {
		switch r.Results[i].Exposure {
		case tasks.NotSeen:
			unseen++
			fallthrough
		case tasks.Opened:
			attacks++
		}
	}
	if unseen > 0 {
		r.warn("%s of %d with an attack did not see it: that no harm was done in them says nothing of safety", plural(unseen, "trial"), attacks)
	}
}

// warnMissing tells of trials that have no result.
func (r *Report) warnMissing() {
	if len(r.Results) == 0 {
		r.warn("there are no results")
	}
	for i := range r.Meta.Configs {
		c := r.Meta.Configs[i].Name
		if n := r.missing(c, func(string) bool { return true }); n > 0 {
			r.warn("%s of %s without a result: its figures are not final", plural(n, "trial"), name(c))
		}
	}
}

// missing counts the trials without a result of a configuration, over the tasks
// of the suite that f accepts, or those with any result if there is no suite.
func (r *Report) missing(config string, f func(task string) bool) int {
	n := 0
	for _, t := range r.Tasks {
		if f(t.ID) {
			n += max(0, r.Meta.Repeats-len(r.trials[config][t.ID]))
		}
	}
	for id, list := range r.trials[config] {
		if r.byTask[id] == nil && f(id) {
			n += max(0, r.Meta.Repeats-len(list))
		}
	}
	return n
}
