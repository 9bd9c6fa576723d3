package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"desktop-agent/actuator"
	"desktop-agent/planner"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/run/eventjson"
)

// A progress shows a run while it goes on: each action with its reason, the
// plan whenever it changes, and on a terminal one status line that is written
// anew. Nothing typed is shown.
type progress struct {
	out      io.Writer
	width    func() int // columns of the terminal; nil if there is none
	maxSteps int
	start    time.Time
	stop     func()

	mu      sync.Mutex
	status  int    // columns of the status line as it stands on the terminal
	now     string // what is being done
	since   time.Time
	paused  bool
	step    int
	plan    *planner.Plan
	dollars float64
}

// redraw is how often the status line is written anew while nothing happens.
const redraw = 500 * time.Millisecond

// newProgress returns a progress that writes to out, with a status line if that
// is wanted and out is a terminal.
func newProgress(out io.Writer, maxSteps int, status bool) *progress {
	p := &progress{out: out, maxSteps: maxSteps, start: time.Now(), stop: func() {}}
	p.doing("looking")
	f, ok := out.(interface{ Fd() uintptr })
	if !status || !ok || !term.IsTerminal(int(f.Fd())) {
		return p
	}
	p.width = func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil || width < 1 {
			return 80
		}
		return width
	}
	quit, done := make(chan struct{}), make(chan struct{})
	p.stop = sync.OnceFunc(func() { close(quit); <-done })
	go p.tick(quit, done)
	return p
}

// tick draws now and then, so that the time goes on while a model thinks.
func (p *progress) tick(quit <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	ticker := time.NewTicker(redraw)
	defer ticker.Stop()
	for {
		select {
		case <-quit:
			return
		case <-ticker.C:
			p.mu.Lock()
			p.draw()
			p.mu.Unlock()
		}
	}
}

// Close takes the status line away.
func (p *progress) Close() {
	p.stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	io.WriteString(p.out, p.cleared())
}

// planning shows what the making of a plan is at.
func (p *progress) planning(d run.Planning) {
	if d.Label == "" {
		return
	}
	head := ""
	if d.Sub {
		head = "  "
	}
	p.line(head, d.Label)
	p.doing("planning")
}

// stepStarted shows that a step of a plan begins, and who does it where that is another.
func (p *progress) stepStarted(d run.StepStarted) {
	text := fmt.Sprintf("%s (%s) %s", d.Step, strings.TrimSpace(string(d.Executor)+" "+d.Action), d.Goal)
	if d.Attempt > 1 {
		text += fmt.Sprintf(", attempt %d", d.Attempt)
	}
	if d.Fallback != "" {
		text += ", by its fallback: " + d.Fallback
	}
	p.line("▸ ", text)
	p.doing("doing " + d.Step)
}

// stepEnded shows what became of a step of a plan.
func (p *progress) stepEnded(d run.StepEnded) {
	text := fmt.Sprintf("%s %s in %.1f s", d.Step, d.Status, float64(d.Millis)/1000)
	if d.Error != "" {
		text += ": " + d.Error
	}
	p.line("  ", text)
}

// Pause takes the status line away until resume is called.
func (p *progress) Pause() (resume func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	io.WriteString(p.out, p.cleared())
	p.paused = true
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.paused = false
	}
}

// noGuard is said at the begin of a run that nothing guards.
const noGuard = "note: no guard is active; actions are performed without a review of their effects"

// Watch shows an event: it is the Watch of [run.Options].
func (p *progress) Watch(e run.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step = e.Step
	switch d := e.Data.(type) {
	case run.RunStarted:
		p.line("", "task: "+d.Task)
		if d.Guard == run.NoGuard {
			p.line("", noGuard)
		} else {
			p.line("", "guard: "+d.Guard)
		}
	case run.TaskJudged:
		p.line("", "guard: "+judgedWords(d))
	case run.Rehearsed:
		for _, line := range replay.RehearsedWords(d) {
			p.line("", line)
		}
	case run.Observed:
		p.doing("thinking")
	case run.ModelCalled:
		p.dollars += d.Dollars
	case run.Planned:
		p.planned(d)
	case run.Planning:
		p.planning(d)
	case run.PlanMade:
		for _, note := range d.Notes {
			p.line("  ", "note: "+note)
		}
	case run.StepStarted:
		p.stepStarted(d)
	case run.StepEnded:
		p.stepEnded(d)
	case run.Reflected:
		if d.Verdict != run.ReflectContinue {
			p.line("  ", fmt.Sprintf("%s: the rest of the plan: %s: %s", d.Step, strings.ReplaceAll(string(d.Verdict), "_", " "), d.Reason))
		}
	case run.Located:
		if d.How != "tree" {
			p.line("  ", fmt.Sprintf("found by its %s: %s", strings.ReplaceAll(d.How, "_", " "), d.Target))
		}
	case run.Diverged:
		p.line("! ", "expected "+d.Expected+"; found "+d.Found)
	case run.Assessed:
		p.assessed(d)
	case run.Progressed:
		if d.Plan != nil {
			p.showPlan("plan, further:", d.Plan)
		}
	case run.Proposed:
		p.proposed(d)
	case run.Reviewed:
		switch {
		case d.Overridden:
			p.line(indent, "the objection is overridden")
		case d.Guidance != "":
			p.line(indent, fmt.Sprintf("%s: %s", d.Verdict, d.Guidance))
		}
	case run.Acting:
		p.doing(actuator.Describe(d.Action.Action))
	case run.Refused:
		p.line(indent, "the guard refused to "+actuator.Describe(d.Action.Action)+": "+d.Reason)
	case run.Grounded:
		p.line(indent, replay.GroundWords(d))
	case run.Checked:
		p.line(indent, replay.CheckWords(d))
	case run.Acted:
		p.acted(d)
	case run.GoalChecked:
		if !d.Accepted {
			p.line(indent, notYet(d)+d.Missing)
		}
	}
	p.draw()
}

// notYet says which claim a check did not believe.
func notYet(d run.GoalChecked) string {
	if d.Cannot {
		return "to be looked at before it counts as impossible: "
	}
	return "not done yet: "
}

func (p *progress) doing(what string) { p.now, p.since = what, time.Now() }

func (p *progress) planned(d run.Planned) {
	switch {
	case d.Plan == nil:
		p.line("", "plan: none for now: "+d.Error)
	case d.Error != "":
		p.line("", "plan: stays as it is: "+d.Error)
	default:
		p.showPlan("plan:", d.Plan)
	}
}

func (p *progress) assessed(d run.Assessed) {
	if d.Error != "" {
		p.line("", "progress is not known: "+d.Error)
	}
	if d.Advanced {
		p.showPlan("plan, a step further:", d.Plan)
	}
}

func (p *progress) showPlan(head string, plan *planner.Plan) {
	p.plan = plan
	p.line("", head)
	for line := range strings.Lines(plan.Display()) {
		tick, rest, _ := strings.Cut(line, " Step")
		p.line("  "+tick+" ", "Step"+strings.TrimRight(rest, "\n"))
	}
}

// indent stands before what belongs to a step.
const indent = "      "

func (p *progress) proposed(d run.Proposed) {
	head := fmt.Sprintf("%4d  ", p.step)
	if d.Error != "" {
		p.line(head, "the reply is no action: "+d.Error)
		p.doing("thinking")
		return
	}
	for _, a := range d.Actions {
		p.line(head, actuator.Describe(a.Action))
		head = indent
	}
	if d.Thought != "" {
		p.line(indent, "because: "+d.Thought)
	}
}

func (p *progress) acted(d run.Acted) {
	p.doing("looking")
	if d.Status == actuator.Delivered {
		return
	}
	text := strings.ReplaceAll(string(d.Status), "_", " ")
	if d.Detail != "" {
		text += ": " + d.Detail
	}
	p.line(indent, text)
}

// line writes text above the status line, behind a head. On a terminal it is
// broken between words, and what follows stands under its beginning.
func (p *progress) line(head, text string) {
	text = printable(text)
	if p.width != nil {
		text = strings.Join(wrap(text, p.width()-columnsOf(head)-1), "\n"+strings.Repeat(" ", columnsOf(head)))
	}
	io.WriteString(p.out, p.cleared()+head+text+"\n")
}

// wrap breaks a text between words, where they fit into that many columns.
func wrap(text string, columns int) []string {
	var lines []string
	used := 0
	for word := range strings.FieldsSeq(text) {
		if n := len(lines); n > 0 && used+1+columnsOf(word) <= columns {
			lines[n-1] += " " + word
			used += 1 + columnsOf(word)
			continue
		}
		lines = append(lines, word)
		used = columnsOf(word)
	}
	return lines
}

// columnsOf is how wide a text is on a terminal, or a little more: characters
// from Hangul on count as wide.
func columnsOf(text string) (n int) {
	for _, r := range text {
		if n++; r >= 0x1100 && !(r >= 0x2000 && r < 0x2e80) {
			n++
		}
	}
	return n
}

// printable keeps control characters, which screen text could hold, off a
// terminal, and those that turn the direction of writing around.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return ' '
		case r < ' ', r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return '�'
		}
		return r
	}, text)
}

// escapeJSON writes the characters of JSON that [printable] takes out in their other form:
// the content is the same, and a terminal shows it as it is.
func escapeJSON(line []byte) []byte {
	var b []byte
	for _, r := range string(line) {
		if r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Cf, r) && r <= 0xffff || r == 0x2028 || r == 0x2029 {
			b = fmt.Appendf(b, `\u%04x`, r)
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}

// jsonTo is where JSON is written for whoever reads it.
type jsonTo struct{ io.Writer }

func (w jsonTo) Write(b []byte) (int, error) {
	if _, err := w.Writer.Write(escapeJSON(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// draw writes the status line anew, on a terminal.
func (p *progress) draw() {
	if p.width == nil || p.paused {
		return
	}
	elapsed := int(time.Since(p.start).Seconds())
	parts := []string{fmt.Sprintf("%d:%02d", elapsed/60, elapsed%60)}
	if p.step > 0 {
		parts = append(parts, fmt.Sprintf("step %d of %d", p.step, p.maxSteps))
	}
	if p.dollars > 0 {
		parts = append(parts, fmt.Sprintf("$%.4f", p.dollars))
	}
	now := p.now
	if waited := time.Since(p.since); waited >= time.Second {
		now += fmt.Sprintf(" for %d s", int(waited.Seconds()))
	}
	parts = append(parts, now)
	if p.plan != nil {
		if s := p.plan.Current(); s != nil {
			parts = append(parts, fmt.Sprintf("▸ %d/%d %s", p.plan.ProgressStep(), len(p.plan.Steps), s.Goal))
		}
	}
	status := cut(printable(strings.Join(parts, " · ")), p.width()-1)
	text := p.cleared() + status
	p.status = columnsOf(status)
	io.WriteString(p.out, text)
}

// cut shortens text to that many columns.
func cut(text string, columns int) string {
	if columnsOf(text) <= columns {
		return text
	}
	for i := range text {
		if columnsOf(text[:i])+3 > columns {
			return text[:i] + "…"
		}
	}
	return text
}

// cleared returns what takes the status line away, also from the lines that it
// runs over when the terminal has become narrower.
func (p *progress) cleared() string {
	if p.status == 0 {
		return ""
	}
	text := "\r"
	if above := (p.status - 1) / p.width(); above > 0 {
		text = fmt.Sprintf("\r\x1b[%dA", above)
	}
	p.status = 0
	return text + "\x1b[J"
}

// jsonLines returns a watcher that writes each event as a line of JSON, as it is
// on disk.
func jsonLines(c console) func(run.Event) {
	return func(e run.Event) {
		if d, ok := e.Data.(run.RunStarted); ok && d.Guard == run.NoGuard {
			fmt.Fprintln(c.Err, noGuard)
		}
		if line, err := eventjson.Encode(e); err == nil { // it was written to the journal before
			// A reader who goes away stops the run by a signal.
			_, _ = c.Out.Write(escapeJSON(line))
		}
	}
}
