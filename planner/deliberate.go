package planner

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"desktop-agent/llm"
	"desktop-agent/screen"
)

//go:embed deliberate/prompts/*.tmpl
var deliberateFiles embed.FS

// deliberatePrompts are apart from those of suggestive plans: a change of one is none of
// the others.
var deliberatePrompts = llm.ParsePrompts(inside(deliberateFiles, "deliberate"))

// inside returns a folder of files that are part of the program.
func inside(files embed.FS, folder string) fs.FS {
	sub, err := fs.Sub(files, folder)
	if err != nil {
		panic(err) // the name is wrong
	}
	return sub
}

// A Request asks for a deliberate plan.
type Request struct {
	Task    string              // what the user wants now
	ID      string              // of the plan, unique in the run
	Earlier []string            // what was said before, oldest first; the last phase does not see it
	Facts   []string            // what is remembered
	Now     *screen.Observation // nil without a display
	Sub     bool                // on behalf of a sub-agent: no review, and no record
	Depth   int                 // of the plan in others; 1 if 0
	Catalog *Catalog            // what the steps may use; nil for that of the [Planner]
}

// A Notice tells what the making of a plan is at.
type Notice struct {
	Phase int       // 1 to 3
	Label string    // at the begin of a phase, for a person; "" after it
	Sub   bool      // on behalf of a sub-agent
	Usage llm.Usage // of the phase, after it
	Plan  *Plan     // that is ready, at the end; nil in all other notices
}

// A Made is what came of the attempt to make a plan.
type Made string

// What may come of it.
const (
	MadePlan      Made = "plan"
	MadeDirect    Made = "direct"      // none is needed: just do it, or the answer is [Plan.Direct]
	MadeAnalysis  Made = "phase1_only" // the phase that writes steps is off
	MadeNoSteps   Made = "empty_plan"
	MadeStopped   Made = "stopped" // by the caller, between phases or in one
	Made1Timeout  Made = "phase1_timeout"
	Made1Error    Made = "phase1_error"
	Made3Timeout  Made = "phase3_timeout"
	Made3Error    Made = "phase3_error"
	phaseAnalysis      = 1
	phaseReview        = 2
	phaseSteps         = 3
)

// A Record tells how a plan was made.
type Record struct {
	At     time.Time // UTC
	Result Made
	Phases []PhaseRecord
	Notes  []string // what was odd, and was let be
}

// A PhaseRecord is what a phase gave.
type PhaseRecord struct {
	Phase  int // 1 to 3
	Output string
	Usage  llm.Usage
	Error  string // why it gave nothing
}

// The data of the templates in prompts.
type (
	analysisPrompt struct {
		Instructions, Task, Screen string
		Earlier, Facts, Tools      []string
		Agents                     []Profile
		HasScreen, Force           bool
	}
	stepsPrompt struct {
		analysisPrompt
		Analysis, Adjustments string
		MaxSteps              int
		OwnHome               bool
		Decompose, Fallbacks  bool
	}
)

// Deliberate makes a deliberate plan: it has the task analysed, the analysis reviewed if
// that asks for it, and the steps written. The plan is valid as [Plan.ValidateFor] says,
// and nobody has executed it. It is nil if none is needed or none came of it, and the
// record says which (nil for a sub-agent); a plan that has no steps has an answer in
// [Plan.Direct]. An error says why a phase failed: the run may go on without a plan. That
// ctx has ended is no error.
func (p *Planner) Deliberate(ctx context.Context, r Request) (*Plan, *Record, error) {
	if strings.TrimSpace(r.Task) == "" {
		return nil, nil, errors.New("plan: the task is empty")
	}
	if most := p.Config.WithDefaults().MaxDepth; r.Depth > most {
		return nil, nil, fmt.Errorf("plan: plans are nested %d deep at most, and this would be at depth %d", most, r.Depth)
	}
	p = p.using(r.Catalog)
	m := &making{Planner: p, request: r, record: &Record{At: p.now().UTC()}}
	plan, err := m.phases(ctx)
	if ctx.Err() != nil {
		plan, err, m.record.Result = nil, nil, MadeStopped
	}
	if p.Log != nil {
		steps := 0
		if plan != nil {
			steps = len(plan.Steps)
		}
		p.Log.InfoContext(ctx, "deliberate plan", "result", m.record.Result, "phases", len(m.record.Phases), "steps", steps, "err", err)
	}
	if plan != nil {
		m.notify(ctx, Notice{Phase: phaseSteps, Plan: plan})
	}
	if r.Sub {
		return plan, nil, err
	}
	return plan, m.record, err
}

// using returns a planner for steps that may use this; nil for what they may use anyway.
func (p *Planner) using(c *Catalog) *Planner {
	if c == nil {
		return p
	}
	other := *p
	other.Catalog = *c
	return &other
}

// A making is one plan on its way.
type making struct {
	*Planner
	request Request
	record  *Record
	old     *Plan // that is rewritten; nil for a new one
}

// phases goes from phase to phase. It ends early, with the result in the record.
func (m *making) phases(ctx context.Context) (*Plan, error) {
	data := m.data()
	analysis := ""
	if !m.Config.Analysis.Off {
		var err error
		if analysis, err = m.analyse(ctx, data); err != nil {
			m.record.Result = cmp.Or(m.record.Result, failed(err, Made1Timeout, Made1Error))
			return nil, fmt.Errorf("plan: analysis: %w", err)
		}
		if answer, direct := directAnswer(analysis); direct && (!m.Config.Force || strings.TrimSpace(analysis) == "") {
			m.record.Result = MadeDirect
			if answer == "" {
				return nil, nil
			}
			plan := m.newDeliberate()
			plan.Direct = answer
			return plan, nil
		}
		if ctx.Err() != nil {
			return nil, nil
		}
	}
	adjustments := ""
	if !m.Config.Review.Off && !m.request.Sub && says(analysis, "REFLECT", "yes") {
		if adjustments = m.review(ctx, data, analysis); ctx.Err() != nil {
			return nil, nil
		}
	}
	if m.Config.Execution.Off {
		m.record.Result = MadeAnalysis
		return nil, nil
	}
	plan, err := m.steps(ctx, data, analysis, adjustments)
	switch {
	case errors.Is(err, errNoSteps), errors.Is(err, llm.ErrEmpty):
		m.record.Result = MadeNoSteps
	case err != nil:
		m.record.Result = failed(err, Made3Timeout, Made3Error)
	default:
		m.record.Result = MadePlan
		return plan, nil
	}
	return nil, fmt.Errorf("plan: steps: %w", err)
}

// failed names a failure.
func failed(err error, timeout, other Made) Made {
	if errors.Is(err, llm.ErrTimeout) || errors.Is(err, context.DeadlineExceeded) {
		return timeout
	}
	return other
}

func (m *making) newDeliberate() *Plan {
	plan := m.newPlan(m.request.Task)
	plan.Mode, plan.ID, plan.State = Deliberate, m.request.ID, PlanCreated
	return plan
}

// data is what all phases are told.
func (m *making) data() analysisPrompt {
	d := analysisPrompt{
		Instructions: m.Config.Instructions, Task: m.request.Task, Earlier: m.request.Earlier, Facts: m.request.Facts,
		Tools: m.Catalog.lines(), Agents: m.Catalog.Agents, HasScreen: m.Catalog.Screen, Force: m.Config.Force,
	}
	if m.request.Now != nil {
		d.Screen = m.request.Now.Text(m.ScreenTokens)
	}
	return d
}

// maxToolLine bounds what a list of tools says of each, in characters.
const maxToolLine = 80

// lines are the tools, each by its name and the first line of its description.
func (c Catalog) lines() (list []string) {
	for _, t := range c.Tools {
		first, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
		list = append(list, t.Name+": "+llm.Excerpt(llm.OneLine(first), maxToolLine))
	}
	return list
}

// arguments are what the tools take, a line for each: who writes the steps has to know.
func (c Catalog) arguments() (list []string) {
	for i, line := range c.lines() {
		var schema struct {
			Properties map[string]struct{ Type any }
			Required   []string
		}
		if json.Unmarshal(c.Tools[i].Parameters, &schema) == nil && len(schema.Properties) > 0 {
			var names []string
			for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
				what := fmt.Sprint(cmp.Or(schema.Properties[name].Type, "any"))
				if !slices.Contains(schema.Required, name) {
					what += ", may be left out"
				}
				names = append(names, fmt.Sprintf("%s (%s)", llm.OneLine(name), llm.OneLine(what)))
			}
			line += "\n  arguments: " + llm.Excerpt(strings.Join(names, ", "), maxText)
		}
		list = append(list, line)
	}
	return list
}

// prompt makes the request of a phase, with a picture of the screen if there is one.
func (m *making) prompt(name string, data any) (*llm.Request, error) {
	if m.request.Now == nil {
		return deliberatePrompts.Request(llm.Planner, name, data)
	}
	return deliberatePrompts.Request(llm.Planner, name, data, Images(m.request.Now)...)
}

// analyse is the first phase. An empty answer is one.
func (m *making) analyse(ctx context.Context, data analysisPrompt) (string, error) {
	req, err := m.prompt("plan_analysis", data)
	if err != nil {
		return "", err
	}
	text, err := m.call(ctx, phaseAnalysis, "Working on it...", req, m.Config.Analysis)
	if errors.Is(err, llm.ErrEmpty) {
		return "", nil
	}
	return text, err
}

// review is the second phase. The plan is made without it if it fails.
func (m *making) review(ctx context.Context, data analysisPrompt, analysis string) string {
	req, err := m.prompt("plan_review", stepsPrompt{analysisPrompt: data, Analysis: analysis})
	var text string
	if err == nil {
		text, err = m.call(ctx, phaseReview, "Reviewing plan...", req, m.Config.Review)
	}
	if err != nil && m.Log != nil {
		m.Log.WarnContext(ctx, "the review of a plan failed", "err", err)
	}
	return text
}

// call has a model write text.
func (m *making) call(ctx context.Context, phase int, label string, req *llm.Request, settings Phase) (text string, err error) {
	model, done := m.begin(ctx, phase, label, req, settings)
	ctx, cancel := settings.within(ctx)
	defer cancel()
	text, err = readText(ctx, model, req)
	done(err)
	return text, err
}

// readText has a model write text. What it says where it declines is none.
func readText(ctx context.Context, m llm.Model, req *llm.Request) (string, error) {
	resp, _, err := llm.CompleteTurn(ctx, m, req)
	if err != nil {
		return "", err
	}
	if resp.Ending() == llm.Declined {
		return "", &llm.Error{Kind: llm.ErrBadReply, Detail: fmt.Sprintf("%s: %s", req.Role, resp.Refusal())}
	}
	return strings.TrimSpace(resp.Text), nil
}

// within bounds a phase.
func (p Phase) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.Limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, p.Limit, &llm.Error{
		Kind: llm.ErrTimeout, Detail: fmt.Sprintf("the phase took longer than %v", p.Limit), Err: context.DeadlineExceeded})
}

// begin notes that a phase begins, and fills in its settings. The function that it
// returns notes what came of it.
func (m *making) begin(ctx context.Context, phase int, label string, req *llm.Request, settings Phase) (llm.Model, func(error)) {
	m.notify(ctx, Notice{Phase: phase, Label: label})
	standard := 0.3
	if phase == phaseReview {
		standard = 0.35
	}
	m.Config.apply(req, settings, standard, m.Model)
	meter := &meter{Model: m.Model}
	return llm.InFront(meter, m.Model), func(err error) {
		one := PhaseRecord{Phase: phase, Output: meter.text, Usage: meter.usage}
		if err != nil {
			one.Output, one.Error = "", err.Error()
		}
		m.record.Phases = append(m.record.Phases, one)
		if meter.usage.Input > 0 || meter.usage.Output > 0 {
			m.notify(ctx, Notice{Phase: phase, Usage: meter.usage})
		}
	}
}

func (m *making) notify(ctx context.Context, n Notice) {
	if n.Sub = m.request.Sub; m.Notify != nil {
		m.Notify(ctx, n)
	}
}

// apply sets the model and the temperature of a request.
func (c Config) apply(req *llm.Request, settings Phase, standard float64, m llm.Model) {
	req.Model, req.Temperature = cmp.Or(settings.Model, c.Model), settings.Temperature
	if req.Temperature != nil {
		return
	}
	if of, ok := llm.SettingsOf(m, req.Role); ok && of.Temperature != nil {
		return // what the user says of the role holds
	}
	req.Temperature = &standard
}

// A meter counts what a model uses, and keeps what it said last.
type meter struct {
	llm.Model
	usage llm.Usage
	text  string
}

// Complete passes on a request.
func (m *meter) Complete(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	resp, err := m.Model.Complete(ctx, r)
	if resp != nil {
		m.usage, m.text = m.usage.Plus(resp.Usage), strings.TrimSpace(resp.Text)
	}
	return resp, err
}

// directAnswer reports whether an analysis says that no plan is needed, and returns what
// it answers instead of one.
func directAnswer(analysis string) (answer string, direct bool) {
	const word = "DIRECT"
	text := strings.TrimLeft(strings.TrimSpace(analysis), "*#` ")
	if text == "" {
		return "", true
	}
	if len(text) < len(word) || !strings.EqualFold(text[:len(word)], word) {
		return "", false
	}
	rest := text[len(word):]
	if first, _ := utf8.DecodeRuneInString(rest); rest != "" && isWordRune(first) {
		return "", false // DIRECTORY
	}
	return strings.TrimSpace(strings.TrimLeft(rest, "*`:.–— \n")), true
}

// Clear reports whether the analysis in a record says that there is nothing to reflect on.
func Clear(phases []PhaseRecord) bool {
	return len(phases) > 0 && phases[0].Phase == phaseAnalysis && says(phases[0].Output, "REFLECT", "no")
}

// says reports whether a section of an analysis begins with a word.
func says(analysis, section, word string) bool {
	for line := range strings.Lines(analysis) {
		name, value, ok := strings.Cut(line, ":")
		if ok && strings.EqualFold(strings.Trim(name, "*#- \t"), section) {
			first := slices.Concat(strings.FieldsFunc(value, func(r rune) bool { return !isWordRune(r) }), []string{""})[0]
			return strings.EqualFold(first, word)
		}
	}
	return false
}
