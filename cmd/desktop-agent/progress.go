package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"desktop-agent/actuator"
	"desktop-agent/agent"
	"desktop-agent/planner"
)

// A progress shows a run while it goes on: each action with its reason, the
// plan whenever it changes, and on a terminal one status line that is written
// anew. Nothing typed is shown.
type progress struct {
	out      io.Writer
	terminal bool
	width    int
	maxSteps int
	start    time.Time

	mu      sync.Mutex
	status  string // the status line as it stands on the terminal
	now     string // what is being done
	step    int
	plan    *planner.Plan
	dollars float64
}

// newProgress returns a progress that writes to out.
func newProgress(out io.Writer, maxSteps int) *progress {
	p := &progress{out: out, maxSteps: maxSteps, start: time.Now(), now: "looking"}
	if f, ok := out.(interface{ Fd() uintptr }); ok && term.IsTerminal(int(f.Fd())) {
		p.terminal = true
		if w, _, err := term.GetSize(int(f.Fd())); err == nil {
			p.width = w
		}
	}
	return p
}

// Watch shows an event; it is [agent.Agent.Watch].
func (p *progress) Watch(e agent.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step = e.Step
	switch d := e.Data.(type) {
	case agent.RunStarted:
		p.line("task: %s", d.Task)
		if d.Guard == "none" {
			p.line("guard: none is active; actions are performed without a review of their effects")
		}
	case agent.Observed:
		p.now = "thinking"
	case agent.ModelCalled:
		p.dollars += d.Dollars
	case agent.Planned:
		p.planned(d)
	case agent.Assessed:
		if d.Advanced {
			p.showPlan(d.Plan)
		}
	case agent.Proposed:
		p.proposed(d)
	case agent.Reviewed:
		if d.Guidance != "" {
			p.line("      %s: %s", d.Verdict, d.Guidance)
		}
	case agent.Acting:
		p.now = actuator.Describe(d.Action.Action)
	case agent.Acted:
		if d.Status != actuator.Delivered {
			p.line("      %s %s", strings.ReplaceAll(string(d.Status), "_", " "), d.Detail)
		}
		p.now = "looking"
	case agent.GoalChecked:
		if !d.Accepted {
			p.line("      not done yet: %s", d.Missing)
		}
	}
	p.draw()
}

func (p *progress) planned(d agent.Planned) {
	if d.Plan == nil {
		p.line("plan: none for now (%s)", d.Error)
		return
	}
	if d.Error != "" {
		p.line("plan: kept (%s)", d.Error)
		return
	}
	p.showPlan(d.Plan)
}

func (p *progress) showPlan(plan *planner.Plan) {
	p.plan = plan
	for line := range strings.Lines(plan.Display()) {
		p.line("  %s", strings.TrimRight(line, "\n"))
	}
}

func (p *progress) proposed(d agent.Proposed) {
	if d.Error != "" {
		p.line("%3d.  not understood: %s", p.step, d.Error)
		return
	}
	for i, a := range d.Actions {
		head := fmt.Sprintf("%3d.  ", p.step)
		if i > 0 {
			head = "      "
		}
		p.line("%s%s", head, actuator.Describe(a.Action))
	}
	if d.Thought != "" {
		p.line("      %s", d.Thought)
	}
}

// line writes a line above the status line.
func (p *progress) line(format string, args ...any) {
	p.clear()
	fmt.Fprintln(p.out, printable(fmt.Sprintf(format, args...)))
}

// printable keeps control characters, which screen text could hold, off a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}

// draw writes the status line anew, on a terminal.
func (p *progress) draw() {
	if !p.terminal {
		return
	}
	parts := []string{fmt.Sprintf("step %d/%d", p.step, p.maxSteps)}
	if p.plan != nil {
		done := p.plan.ProgressStep() - 1
		parts = append(parts, fmt.Sprintf("plan %d/%d", done, len(p.plan.Steps)))
	}
	parts = append(parts, time.Since(p.start).Round(100*time.Millisecond).String())
	if p.dollars > 0 {
		parts = append(parts, fmt.Sprintf("$%.4f", p.dollars))
	}
	parts = append(parts, p.now)
	status := printable(strings.Join(parts, " · "))
	if runes := []rune(status); p.width > 0 && len(runes) >= p.width {
		status = string(runes[:p.width-1])
	}
	p.clear()
	fmt.Fprint(p.out, status)
	p.status = status
}

func (p *progress) clear() {
	if p.status != "" {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.status = ""
	}
}

// Close takes the status line away.
func (p *progress) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

// jsonLines returns a watcher that writes each event as a line of JSON.
func jsonLines(out io.Writer) func(agent.Event) {
	var mu sync.Mutex
	return func(e agent.Event) {
		mu.Lock()
		defer mu.Unlock()
		json.NewEncoder(out).Encode(e)
	}
}
