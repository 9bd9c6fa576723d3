package export

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"desktop-agent/actuator"
	"desktop-agent/planner"
	"desktop-agent/replay"
	"desktop-agent/run"
)

// Markdown writes a run as a page to read: run.md, and the screens in the
// folder images. It tells the task, the outcome, figures, and of each step what was seen,
// thought, planned and done, and what came of it.
//
// Recorded text is shown as it is: nothing in it can become markup, HTML, a
// link or an image.
func Markdown(ctx context.Context, dir string, stored *replay.Run, o *Options) error {
	opts := o.withDefaults()
	return folder(dir, func(temp string) error {
		return redacted(ctx, stored, opts.Redact, func(stored *replay.Run) error {
			p := page{dir: temp, run: stored, opts: opts, shown: map[string]string{}}
			if err := p.write(ctx); err != nil {
				return fmt.Errorf("Markdown of %s: %w", stored.Info.ID, err)
			}
			return nil
		})
	})
}

// A page is the text that is being written.
type page struct {
	dir   string
	run   *replay.Run
	opts  Options
	text  bytes.Buffer
	plan  string            // the newest one, as it was printed
	shown map[string]string // files by frame and marks
}

func (p *page) add(format string, args ...any) { fmt.Fprintf(&p.text, format+"\n", args...) }

func (p *page) write(ctx context.Context) error {
	if err := os.Mkdir(filepath.Join(p.dir, "images"), dirMode); err != nil {
		return err
	}
	p.head()
	var last *run.Observed
	n := 0
	for s, err := range steps(ctx, p.run) {
		if err != nil {
			return err
		}
		if err := p.step(s); err != nil {
			return fmt.Errorf("step %d: %w", s.N, err)
		}
		last = cmp.Or(s.After, s.Before)
		n++
	}
	if n == 0 {
		return errors.New("there is nothing in it")
	}
	if last != nil {
		p.add("\n## The screen at the end\n")
		if err := p.picture(last, nil); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(p.dir, "run.md"), p.text.Bytes(), fileMode)
}

// head tells the task, the outcome and the figures.
func (p *page) head() {
	i := p.run.Info
	p.add("# Run %s\n", code(i.ID))
	if i.Asked != nil {
		p.quote("Task", i.Asked.Task)
	}
	switch e := i.Ended; {
	case e == nil:
		p.add("**Outcome:** it was cut off (%s)\n", literal(string(i.State)))
	default:
		p.add("**Outcome:** %s\n", literal(strings.ReplaceAll(string(e.Outcome), "_", " ")))
		p.quote("Answer", e.Answer)
		p.quote("Error", e.Error)
	}
	p.add("| | |\n|---|---|")
	for e := range p.run.Events() {
		p.add("| begun | %s |", e.Time.UTC().Format("2 Jan 2006, 15:04:05 MST"))
		break
	}
	if e := i.Ended; e != nil {
		p.add("| took | %v |", (time.Duration(e.Millis) * time.Millisecond).Round(100*time.Millisecond))
		p.add("| steps | %d |", e.Steps)
		if e.Overridden > 0 {
			p.add("| objections overridden | %d |", e.Overridden)
		}
		p.add("| calls of models | %d |", e.Calls)
		p.add("| tokens | %d read (%d from a cache), %d written |", e.Usage.Input, e.Usage.Cached, e.Usage.Output)
		if i.Unpriced(e.Calls, e.Dollars) {
			p.add("| cost | unknown |")
		} else {
			p.add("| cost | $%.4f |", e.Dollars)
		}
	}
	if a := i.Asked; a != nil {
		p.add("| planning | %s |", literal(a.Planning))
		for _, role := range slices.Sorted(maps.Keys(a.Models)) {
			p.add("| %s | %s |", literal(role), literal(a.Models[role]))
		}
	}
}

func (p *page) step(s *replay.Step) error {
	if s.N == 0 {
		p.planned(s)
		p.executed(s)
		return nil
	}
	p.add("\n## Step %d%s\n", s.N, whose(s))
	if o := s.Seen(); o != nil {
		p.add("Seen: %s\n", seen(o))
		if err := p.picture(o, done(s)); err != nil {
			return err
		}
	}
	for _, proved := range s.Progressed {
		p.quote("Progress", strings.Join(proved.Why, "\n"))
	}
	if a := s.Assessed; a != nil {
		if a.Assessment != nil {
			p.quote("Changed", a.Assessment.Changed)
			p.quote("As expected", string(a.Assessment.AsExpected))
		}
		p.quote("Progress", a.Why)
		p.quote("No assessment", a.Error)
	}
	for _, proposal := range s.Proposals {
		p.quote("Thought", proposal.Thought)
		p.quote("Expects", proposal.Expect)
		p.quote("The reply was no action", proposal.Error)
	}
	for _, r := range s.Reviews {
		if r.Verdict != run.Go {
			p.quote("Review: "+literal(string(r.Verdict)), cmp.Or(r.Guidance, r.Reason, "without a reason"))
		}
	}
	p.acts(s)
	p.planned(s)
	p.executed(s)
	return nil
}

// whose says whose turn it is, in a run with a plan whose steps may have agents of their
// own.
func whose(s *replay.Step) string {
	e := s.Events[0]
	if e.PlanStep == 0 {
		return ""
	}
	return fmt.Sprintf(", %s for step s%d of the plan", literal(cmp.Or(e.Agent, "agent")), e.PlanStep)
}

// executed tells what became of the steps of a deliberate plan, with the beginning of what
// they gave.
func (p *page) executed(s *replay.Step) {
	for _, e := range s.Events {
		if words := replay.PlanWords(e.Data); words != "" {
			p.quote("Plan", oneLine(words))
		}
		if end, ok := e.Data.(run.StepEnded); ok {
			output := oneLine(cmp.Or(end.Output, end.Data))
			if cut := []rune(output); len(cut) > maxResult {
				output = string(cut[:maxResult]) + " …"
			}
			p.quote("Result (untrusted)", output)
		}
	}
}

// maxResult is how many characters of the result of a step are shown.
const maxResult = 1000

// acts tells what was done, and what else happened in a step.
func (p *page) acts(s *replay.Step) {
	if list := done(s); len(s.Acts) == 0 && len(list) > 0 {
		p.add("Proposed:\n")
		for i, a := range list {
			p.add("%d. %s", i+1, literal(oneLine(actuator.DescribeFull(a))))
		}
		p.add("")
	}
	if len(s.Acts) > 0 {
		p.add("Done:\n")
	}
	for i, a := range s.Acts {
		result := "it is not known what came of it"
		if a.Acted != nil {
			result = strings.ReplaceAll(string(a.Acted.Status), "_", " ")
			if a.Acted.Detail != "" {
				result += ": " + a.Acted.Detail
			}
		}
		p.add("%d. %s — %s", i+1, literal(oneLine(actuator.DescribeFull(a.Action.Action))), literal(oneLine(result)))
		if a.Acted != nil && a.Acted.Output != "" {
			p.add("   - copied: %s", literal(oneLine(a.Acted.Output)))
		}
	}
	p.add("")
	for _, e := range s.Events {
		switch e := e.Data.(type) {
		case run.Refused:
			p.quote("Refused by the guard: "+oneLine(actuator.DescribeFull(e.Action.Action)), e.Reason)
		case run.Checked:
			p.quote("Safety checks of the provider", replay.CheckWords(e))
		case run.BatchStopped:
			p.quote("The rest was put off", e.Reason)
		case run.Grounded:
			p.quote("Named in words: "+oneLine(e.Words), replay.GroundWords(e))
		case run.Noted:
			p.quote("Noted", e.Text)
		case run.Answered:
			p.quote("Asked", e.Question)
			p.quote("Answered", e.Answer)
		case run.Diverged:
			p.quote("The screen was another one; expected", e.Expected)
			p.quote("Found", e.Found)
		case run.GoalChecked:
			question := "The task is done"
			if e.Cannot {
				question = "The task cannot be done"
			}
			p.quote(question, cmp.Or(e.Evidence, fmt.Sprint(e.Accepted)))
			p.quote("Missing", e.Missing)
		}
	}
}

// planned shows the plan, if it is another one than before.
func (p *page) planned(s *replay.Step) {
	for _, e := range s.Planned {
		p.quote("No plan", e.Error)
	}
	if s.Plan == nil {
		return
	}
	var b strings.Builder
	for i, step := range s.Plan.Steps {
		if s.Plan.Mode == planner.Deliberate {
			fmt.Fprintf(&b, "%d. %s\n", i+1, literal(oneLine(replay.StepWords(s.Plan, &step))))
			continue
		}
		fmt.Fprintf(&b, "%d. %s: %s\n", i+1, literal(string(step.Status)), literal(oneLine(step.Goal)))
	}
	if b.String() == p.plan {
		return
	}
	p.plan = b.String()
	p.add("\nPlan:\n\n%s", p.plan)
}

// quote writes a recorded text under a name; nothing if it is empty.
func (p *page) quote(name, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	if len(lines) == 1 {
		p.add("**%s:** %s\n", name, literal(text))
		return
	}
	p.add("**%s:**\n", name)
	for _, line := range lines {
		p.add("> %s  ", literal(strings.TrimSpace(line)))
	}
	p.add("")
}

// seen names the window with the focus, and the frame.
func seen(o *run.Observed) string {
	title := "no window has the focus"
	if w, ok := replay.Recall(o).Focused(); ok {
		title = "window " + literal(oneLine(w.Title))
	}
	return title + ", frame " + code(o.FrameID)
}

// picture stores a frame with marks, and shows it.
func (p *page) picture(o *run.Observed, acts []actuator.Action) error {
	img, err := p.run.Frame(o.FrameID)
	if errors.Is(err, fs.ErrNotExist) && p.run.Info.State != replay.Ended {
		p.add("(This frame was not stored.)\n")
		return nil
	}
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%04d.png", len(p.shown)+1)
	p.shown[name] = o.FrameID
	if !p.opts.Plain && len(acts) > 0 {
		marked := painted(img, nil)
		mark(marked, acts, func(at image.Point) image.Point { return o.Mapping.ToDevice(at) })
		img = marked
	}
	p.add("![screen](images/%s)\n", name)
	return savePNG(filepath.Join(p.dir, "images", name), img, p.opts.Width)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// code writes an ID.
func code(id string) string {
	return "`" + strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '?'
	}, id) + "`"
}

// literal writes a text of one line so that Markdown shows it as it is. Every
// character that could mean something is escaped, addresses are broken, and
// control characters, also those that turn the direction of writing, are shown.
func literal(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == ':' || r == '.' || r == '$': // http://… and www.… are links by themselves, $…$ is a formula
			fmt.Fprintf(&b, "&#%d;", r)
		case r == '@':
			b.WriteString("&#64;<!-- -->") // a@b.c is found after entities were read
		case strings.ContainsRune(`,;'"?%/`, r):
			b.WriteRune(r)
		case r == '\n' || r == '\r' || r == '\t':
			b.WriteByte(' ')
		case unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r):
			fmt.Fprintf(&b, "\\<U+%04X\\>", r)
		case r < 0x80 && (unicode.IsPunct(r) || unicode.IsSymbol(r)):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
