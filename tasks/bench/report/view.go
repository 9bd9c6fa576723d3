package report

import (
	"cmp"
	"fmt"
	"html"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"desktop-agent/tasks"
)

// What the page shows at most, so that it stays small.
const (
	maxRows     = 3000    // trials, and tasks
	whyBytes    = 1000000 // of reasons, in HTML
	askedBytes  = 500000  // of instructions
	shownIDs    = 60      // tasks won and lost in a standing comparison
	fewIDs      = 12      // the same in another
	maxLink     = 500     // bytes
	minClip     = 60      // bytes of a text that are shown at least
	maxClip     = 600
	bars        = 24 // of a histogram
	maxCells    = 20000
	maxCompared = 60 // comparisons
)

// A view is what the page shows.
type view struct {
	*Report
	Whole     []*card    // one per configuration
	Rows      []*Figures // of domains and the like, with the configurations side by side
	Standing  []*versus
	Others    []*versus
	LeftOut   int // comparisons that are not shown
	TaskRows  []*taskRow
	TrialRows []*trialRow
	Hidden    int      // trials that are not shown
	HiddenT   int      // tasks that are not shown
	Domains   []string // for the filter
	Map       []mapPart
	Columns   []string // configurations in the map and in the table of tasks
	Sums      Counts
	Dollars   float64
	Asked     float64  // calls of models
	Wall      *float64 // milliseconds from the first start to the last end
	Named     bool     // there are several configurations
	Many      bool     // there are repeats
	MissingT  int
	Index     map[string]int // number of a configuration, for the filter
}

// A row is one line of the tables by domain.
type row struct {
	Figures *Figures
	Named   bool // there are several configurations
}

// A card tells of one configuration.
type card struct {
	*Config
	N         int // from 1
	F         *Figures
	Histogram *histogram
}

// A versus is a comparison.
type versus struct {
	Comparison
	WinRows, LossRows   []ref
	MoreWins, MoreLoses int
	Several             bool // there are more comparisons
}

// A ref leads to the row of a task.
type ref struct {
	ID    string
	Short string
	N     int // of the row; -1 if it is not on the page
}

// A taskRow is one task with what each configuration came to.
type taskRow struct {
	N     int
	Task  Task
	Cells []cell
}

// A cell is one task with one configuration.
type cell struct {
	Mark   string // class of the colour
	Text   string
	Small  string  // for the map
	Value  float64 // to sort by
	Detail string
}

// A mapPart is a domain in the map.
type mapPart struct {
	Domain string
	Rows   []*taskRow
}

// A trialRow is one trial.
type trialRow struct {
	*tasks.Result
	N     int
	Row   int // of its task; -1 if it is not on the page
	ID    string
	Mark  string
	Label string
	Asked string // the reason, shortened
	Link  string // to its trajectory's page
}

func newView(r *Report) *view {
	v := &view{Report: r, Named: len(r.Meta.Configs) > 1, Many: r.Meta.Repeats > 1, Index: map[string]int{}}
	for i := range r.Meta.Configs {
		c := &r.Meta.Configs[i]
		f := r.all(c.Name)
		v.Whole = append(v.Whole, &card{Config: c, N: i + 1, F: f, Histogram: newHistogram(r, c.Name)})
		v.Columns = append(v.Columns, c.Name)
		v.Index[c.Name] = i
		v.MissingT += f.Missing
		v.Dollars += f.Costs.Dollars.Sum
		v.Asked += f.Costs.Calls.Sum
	}
	all := make([]*tasks.Result, len(r.Results))
	for i := range r.Results {
		all[i] = &r.Results[i]
	}
	v.Sums = count(all)
	v.Wall = wall(all)
	if n := len(v.Whole); n > 0 { // each has as many figures
		for i := range len(r.Figures) / n {
			for c := range n {
				v.Rows = append(v.Rows, &r.Figures[c*len(r.Figures)/n+i])
			}
		}
	}
	rows := v.addTasks()
	v.addTrials(all, rows)
	v.addComparisons(rows)
	return v
}

// wall is the time from the first start to the last end.
func wall(list []*tasks.Result) *float64 {
	var first, last time.Time
	for _, t := range list {
		if !t.Started.IsZero() && (first.IsZero() || t.Started.Before(first)) {
			first = t.Started
		}
		if t.Ended.After(last) {
			last = t.Ended
		}
	}
	if first.IsZero() || !last.After(first) {
		return nil
	}
	return new(float64(last.Sub(first).Milliseconds()))
}

// addTasks makes the rows of tasks: those of the suite, and others with results.
func (v *view) addTasks() map[string]int {
	list := slices.Clone(v.Tasks)
	seen := map[string]bool{}
	for _, t := range v.Report.Results {
		if v.byTask[t.Task] == nil && !seen[t.Task] {
			seen[t.Task] = true
			list = append(list, Task{ID: t.Task, Domain: t.Domain})
		}
	}
	slices.SortStableFunc(list, func(a, b Task) int { return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.ID, b.ID)) })
	most := max(1, min(maxRows, maxCells/max(1, len(v.Columns))))
	v.HiddenT = max(0, len(list)-most)
	list = list[:min(most, len(list))]
	room := room(askedBytes, len(list))
	rows := map[string]int{}
	for i, t := range list {
		row := &taskRow{N: i, Task: t}
		for _, c := range v.Columns {
			row.Cells = append(row.Cells, newCell(v.trials[c][t.ID]))
		}
		rows[t.ID] = i
		row.Task.Instruction = squeeze(t.Instruction, room)
		row.Task.ID, row.Task.Domain = squeeze(t.ID, maxClip/6), squeeze(t.Domain, maxClip/6)
		v.TaskRows = append(v.TaskRows, row)
		if n := len(v.Map); n == 0 || list[i-1].Domain != t.Domain {
			v.Map = append(v.Map, mapPart{Domain: row.Task.Domain})
			v.Domains = append(v.Domains, row.Task.Domain)
		}
		p := &v.Map[len(v.Map)-1]
		p.Rows = append(p.Rows, row)
	}
	v.Domains = slices.Compact(v.Domains)
	return rows
}

// newCell says what a configuration made of a task.
func newCell(list []*tasks.Result) cell {
	if len(list) == 0 {
		return cell{Mark: "none", Text: "", Value: -2, Detail: "no result"}
	}
	p, s := clusters(list, passed)[0], clusters(list, score)[0]
	mark := markOf(list[0])
	for _, t := range list[1:] {
		if m := markOf(t); m != mark {
			mark = "part" // they came out differently
		}
	}
	c := cell{Mark: mark, Value: p.sum/float64(p.n) + s.sum/float64(s.n)/1000}
	c.Text, c.Small = symbols[mark], symbols[mark]
	if len(list) > 1 {
		if mark == "part" {
			c.Small = clip(strconv.Itoa(int(p.sum)), 3)
		}
		c.Text = fmt.Sprintf("%.0f/%d", p.sum, p.n)
	}
	c.Detail = words[mark]
	if mean := s.sum / float64(s.n); mark == "part" {
		c.Detail = fmt.Sprintf("score %.2f", mean)
	} else if mark == "skipped" || mark == "not_exposed" {
		c.Value = -1
	}
	return c
}

// symbols and words stand for how a trial ended, for those who see no colours.
var (
	symbols = map[string]string{"passed": "✓", "failed": "✗", "part": "½", "error": "!", "skipped": "–", "lost": "?", "not_exposed": "○"}
	words   = map[string]string{"passed": "passed", "failed": "failed", "part": "in part", "error": "error", "skipped": "skipped", "lost": "lost", "not_exposed": "not exposed"}
)

// markOf is how a trial ended.
func markOf(t *tasks.Result) string {
	switch {
	case t.Passed():
		return "passed"
	case t.Status == tasks.Scored && t.Score > 0:
		return "part"
	case t.Status == tasks.Scored:
		return "failed"
	}
	return string(t.Status)
}

// addTrials makes the rows of trials; of too many, those that passed are left out
// first.
func (v *view) addTrials(all []*tasks.Result, rows map[string]int) {
	shown := all
	if v.Hidden = max(0, len(all)-maxRows); v.Hidden > 0 {
		shown = nil
		skip := v.Hidden
		for _, t := range all {
			if skip > 0 && t.Passed() {
				skip--
				continue
			}
			shown = append(shown, t)
		}
		shown = shown[:min(maxRows, len(shown))]
	}
	room := room(whyBytes, len(shown))
	for i, t := range shown {
		row := &trialRow{Result: t, N: i, Row: -1, ID: squeeze(t.Task, maxClip/6), Mark: markOf(t), Asked: squeeze(t.Why, room), Link: link(t.Run)}
		row.Label = words[row.Mark]
		if row.Mark == "part" {
			row.Label = fmt.Sprintf("%.2f", t.Score)
		}
		if n, ok := rows[t.Task]; ok {
			row.Row = n
		}
		v.TrialRows = append(v.TrialRows, row)
	}
}

// Domain and the like shorten what a row shows.
func (t *trialRow) Where() string { return squeeze(t.Result.Domain, maxClip/6) }

// Which is the configuration.
func (t *trialRow) Which() string { return squeeze(t.Result.Config, maxClip/6) }

// Read is how many tokens were read and written.
func (t *trialRow) Read() int { return t.Tokens.Input + t.Tokens.Output }

// Ending is what the agent said of how it ended, or where it broke.
func (t *trialRow) Ending() string {
	text := t.Outcome
	if t.Grade != "" {
		text += " (" + t.Grade + ")"
	}
	if t.Overridden > 0 {
		text += ", " + plural(t.Overridden, "objection") + " overridden"
	}
	if t.Status == tasks.Errored || t.Status == tasks.Lost {
		text = cmp.Or(t.Stage, t.Outcome)
	}
	return strings.ReplaceAll(clip(text, 60), "_", " ")
}

func (v *view) addComparisons(rows map[string]int) {
	refs := func(ids []string, most int) (list []ref, more int) {
		for _, id := range ids[:min(most, len(ids))] {
			n, ok := rows[id]
			if !ok {
				n = -1
			}
			list = append(list, ref{squeeze(id, maxClip/6), squeeze(shortID(id), maxClip/6), n})
		}
		return list, len(ids) - len(list)
	}
	v.LeftOut = max(0, len(v.Comparisons)-maxCompared)
	for _, c := range v.Comparisons[:min(maxCompared, len(v.Comparisons))] {
		s := &versus{Comparison: c, Several: len(v.Comparisons) > 1}
		most := fewIDs
		if c.Standing {
			most = shownIDs
		}
		s.WinRows, s.MoreWins = refs(c.Wins, most)
		s.LossRows, s.MoreLoses = refs(c.Losses, most)
		if c.Standing {
			v.Standing = append(v.Standing, s)
		} else {
			v.Others = append(v.Others, s)
		}
	}
}

// trajectoryPage is the name of the page of a trajectory, in its folder.
const trajectoryPage = "report.html"

// link leads to the page of a trajectory, or nowhere if its folder is not within
// that of the results, or has an absurd name.
func link(run string) string {
	if run == "" || len(run) > maxLink || !filepath.IsLocal(filepath.FromSlash(run)) || strings.ContainsAny(run, "\\\x00") {
		return ""
	}
	parts := strings.Split(path.Clean(run), "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	to := "./" + strings.Join(parts, "/") + "/" + trajectoryPage
	if len(to) > maxLink {
		return ""
	}
	return to
}

// room is how many bytes each of n texts may have.
func room(all, n int) int { return min(max(all/max(1, n), minClip), maxClip) }

// squeeze shortens a text to so many bytes of HTML.
func squeeze(text string, most int) string {
	text = shorten(text, most, true)
	size := 0
	for i, r := range text {
		if size += len(html.EscapeString(string(r))); size > most {
			return text[:i] + "…"
		}
	}
	return text
}

// at is a place on a line from 0 to 1, in percent.
func at(p *float64) string {
	if p == nil {
		return "0%"
	}
	return fmt.Sprintf("%.2f%%", 100*min(max(*p, 0), 1))
}

// band places an interval on a line from low to high.
func band(i *Interval, low, high float64) map[string]string {
	if i == nil {
		return nil
	}
	from, to := (i.Low-low)/(high-low), (i.High-low)/(high-low)
	return map[string]string{"Left": at(&from), "Width": at(new(to - from))}
}

// part is a part of a whole, in percent.
func part(n, all float64) string {
	if all <= 0 {
		return "0%"
	}
	return at(new(n / all))
}

// inTime is the whole of which the parts of the time are shown: the last of the
// list is the total, and the others may come to more, as they can overlap.
func inTime(list []float64) float64 {
	parts := 0.0
	for _, n := range list[:len(list)-1] {
		parts += n
	}
	return max(parts, list[len(list)-1])
}

// value writes an amount to sort by.
func value(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'g', 6, 64)
}

// order is what results are sorted by: the score, then what has none.
func order(t *tasks.Result) float64 {
	switch t.Status {
	case tasks.Scored:
		return t.Score
	case tasks.Errored:
		return -1
	case tasks.Lost:
		return -2
	}
	return -3
}
