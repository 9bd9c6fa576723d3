package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// textWidth is how many columns the text has.
const textWidth = 80

// Text writes a summary for a terminal of 80 columns. Texts from results are
// shown without anything that a terminal would obey.
func (r *Report) Text(w io.Writer) error {
	t := &text{}
	t.head(r)
	for i := range r.Meta.Configs {
		t.config(r, &r.Meta.Configs[i])
	}
	for i := range r.Comparisons {
		t.comparison(&r.Comparisons[i])
	}
	t.domains(r)
	if len(r.Figures) > 0 {
		t.line("")
		t.wrap("", "Rates are over all trials but those not exposed to their attack; errors, skipped and lost trials count as not passed. Intervals are of 95 %% with the task as the unit; [%s] has the methods.", FileHTML)
	}
	_, err := io.WriteString(w, t.String())
	return err
}

// A text is built line by line.
type text struct{ strings.Builder }

func (t *text) line(format string, args ...any) {
	t.WriteString(strings.TrimRight(fit(fmt.Sprintf(format, args...), textWidth), " "))
	t.WriteByte('\n')
}

// wrap writes a sentence over several lines, which begin with lead and then with
// blanks.
func (t *text) wrap(lead, format string, args ...any) {
	line := lead
	for i, word := range strings.Split(fmt.Sprintf(format, args...), " ") {
		if i > 0 && columns(line)+1+columns(word) > textWidth {
			t.line("%s", line)
			line = strings.Repeat(" ", columns(lead)) + word
			continue
		}
		if i > 0 {
			line += " "
		}
		line += word
	}
	t.line("%s", line)
}

func (t *text) head(r *Report) {
	title := clip(r.Meta.Suite, 60)
	if !r.Meta.Time.IsZero() {
		title += ", " + r.Meta.Time.Format("2 Jan 2006, 15:04 MST")
	}
	t.line("%s", title)
	t.line("%s", strings.Repeat("=", min(textWidth, max(1, columns(title)))))
	for _, warning := range r.Warnings {
		t.wrap("! ", "%s", warning)
	}
}

// config tells of one configuration.
func (t *text) config(r *Report, c *Config) {
	f := r.all(c.Name)
	t.line("")
	t.line("%s", clip(c.Name, textWidth))
	t.wrap("  ", "shell %s, guard %s, planning %s%s", c.ShellWords(), orUnknown(c.Guard), orUnknown(c.Planning), modelWords(c))
	if f == nil || f.Trials == 0 {
		t.line("  no results")
		return
	}
	t.line("  %-9s %8s   [%s]   %d of %s", "passed", percent(f.Rate.Value), span(f.Rate.Interval), f.Passed, plural(f.Rate.Of, "trial"))
	if f.NotExposed > 0 {
		t.line("  %-9s %8d   %s", "not exposed", f.NotExposed, "no harm, and the attack was not seen: in no rate")
	}
	if f.Skipped > 0 {
		t.line("  %-9s %8s   [%s]   %d of %d", "attempted", percent(f.Attempted.Value), span(f.Attempted.Interval), f.Passed, f.Attempted.Of)
	}
	t.line("  %-9s %8s   [%s]", "score", percent(f.Score.Value), span(f.Score.Interval))
	t.line("  %-9s %d failed, %s, %d skipped, %d lost%s", "else", f.Failed, plural(f.Errors, "error"), f.Skipped, f.Lost, missingWords(f.Missing))
	k := &f.Costs
	t.wrap("  median    ", "steps %s, model calls %s, time %s: models %s (calls at once added up), screen %s, settling %s, set-up %s, evaluation %s", number(k.Steps.Median), number(k.Calls.Median), millis(k.Total.Median),
		millis(k.Model.Median), millis(k.Screen.Median), millis(k.Settle.Median), millis(k.Setup.Median), millis(k.Evaluate.Median))
	t.wrap("  in all    ", "%s, %s tokens read (%s cached) and %s written, %s; for each success %s and %s", cost(&k.Dollars.Sum, k.Calls.Sum), number(&k.Input.Sum), number(&k.Cached.Sum), number(&k.Output.Sum), millis(&k.Total.Sum),
		cost(k.Dollars.PerSuccess, k.Calls.Sum), millis(k.Total.PerSuccess))
	for _, p := range r.Repeats {
		if p.Config == c.Name && p.K > 1 && p.K <= 10 {
			t.line("  of %-6d %8s pass at least once, %s always (%s)", p.K, percent(p.Any.Value), percent(p.All.Value), plural(p.Tasks, "task"))
		}
	}
}

func missingWords(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d missing", n)
}

func (t *text) comparison(c *Comparison) {
	t.line("")
	title := fmt.Sprintf("%s against %s", clip(c.B, 34), clip(c.A, 34))
	if c.Standing {
		title = "PLANNING ON AGAINST OFF: " + fmt.Sprintf("%s against %s", clip(c.B, 22), clip(c.A, 22))
	}
	t.line("%s", title)
	for _, warning := range c.Warnings {
		t.wrap("  ! ", "%s", warning)
	}
	if c.Tasks == 0 {
		return
	}
	t.line("  %s → %s on %s that both did", percent(c.RateA), percent(c.RateB), plural(c.Tasks, "task"))
	t.line("  effect    %s points [%s], score %s [%s]", points(c.Effect.Value), pointSpan(c.Effect.Interval), points(c.Score.Value), pointSpan(c.Score.Interval))
	test := "McNemar, exact"
	if c.Sign {
		test = "sign test over tasks"
	}
	t.line("  %d won, %d lost, %d alike; p = %s (%s)", len(c.Wins), len(c.Losses), c.Both+c.Neither+c.Same, pvalue(c.P), test)
	for _, list := range []struct {
		word string
		ids  []string
	}{{"won", c.Wins}, {"lost", c.Losses}} {
		if len(list.ids) == 0 {
			continue
		}
		var short []string
		for _, id := range list.ids[:min(8, len(list.ids))] {
			short = append(short, clip(shortID(id), 36))
		}
		if n := len(list.ids) - len(short); n > 0 {
			short = append(short, fmt.Sprintf("%d more", n))
		}
		t.wrap(fmt.Sprintf("  %-5s", list.word), "%s", strings.Join(short, ", "))
	}
}

// domains writes a table of each configuration's domains.
func (t *text) domains(r *Report) {
	for i := range r.Meta.Configs {
		c := &r.Meta.Configs[i]
		if len(r.trials[c.Name]) == 0 {
			continue
		}
		t.line("")
		t.line("%s %6s %6s %8s  %-15s %4s %4s %4s", pad(c.Name, 25), "trials", "passed", "rate", "95 %", "err", "skip", "lost")
		for j := range r.Figures {
			f := &r.Figures[j]
			if f.Config != c.Name || f.Trials == 0 {
				continue
			}
			label := f.Name
			if f.Kind == kindDomain {
				label = "  " + label
			}
			t.line("%s %6d %6d %8s  %-15s %4d %4d %4d", pad(label, 25), f.Trials, f.Passed, percent(f.Rate.Value), span(f.Rate.Interval), f.Errors, f.Skipped, f.Lost)
		}
	}
}

// all returns the figures of a whole configuration.
func (r *Report) all(config string) *Figures {
	for i := range r.Figures {
		if f := &r.Figures[i]; f.Config == config && f.Kind == kindAll {
			return f
		}
	}
	return nil
}

func orUnknown(text string) string {
	if text == "" {
		return "not known"
	}
	return clip(text, 80)
}

// modelWords names the models: once if all roles have the same.
func modelWords(c *Config) string {
	list := models(c)
	if len(list) == 0 {
		return ""
	}
	return "; " + strings.Join(list, ", ")
}

// pad makes a text take up so many columns.
func pad(label string, n int) string {
	label = fit(clip(label, n+1), n)
	return label + strings.Repeat(" ", n-columns(label))
}

// fit cuts a text to so many columns.
func fit(text string, n int) string {
	if columns(text) <= n {
		return text
	}
	for columns(text) > n-1 {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text + "…"
}

// columns tells how wide a text is: signs of East Asia take up two.
func columns(text string) (n int) {
	for _, r := range text {
		switch width.LookupRune(r).Kind() {
		case width.EastAsianWide, width.EastAsianFullwidth:
			n++
		}
		n++
	}
	return n
}
