package planner

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"desktop-agent/llm"
	"desktop-agent/screen"
)

//go:embed prompts/*.tmpl
var promptFiles embed.FS

var prompts = llm.ParsePrompts(promptFiles)

// The data of the templates in prompts.
type (
	generatePrompt struct {
		Task, Screen string
		OwnHome      bool // files may be named in predicates
	}

	revisePrompt struct {
		Task, Guidance, History, Screen string
		Completed, Open                 []Step
		MaxOpen                         int
		OwnHome                         bool
	}

	repairPrompt struct{ Problems []string }
)

// DefaultMaxRevisions is how often one plan is revised, where nothing else is said.
const DefaultMaxRevisions = 3

// DefaultThreshold is the part of failed steps at which a plan that goes on after failures is
// revised, where nothing else is said.
const DefaultThreshold = 0.3

// A Planner asks a model for plans. It is safe for concurrent use if its model is.
type Planner struct {
	Model        llm.Model
	MaxRevisions int              // applied to one plan; 0 for [DefaultMaxRevisions], negative for none
	ScreenTokens int              // budget of the screen's text in a prompt; 0 for the default of [screen.Observation.Text]
	Home         Home             // of the run, if it is its own; nil: predicates about files are refused
	Now          func() time.Time // nil for time.Now
	Log          *slog.Logger     // nil: silent

	// Of deliberate plans:
	Config  Config
	Catalog Catalog // what their steps may use
	Notify  func(context.Context, Notice)
	// Ask puts a question to the user, for the strategy [AskUser]; nil: nobody is there.
	Ask func(ctx context.Context, question string) (answer string, err error)
	// Pause stops the clock of the run while a person is asked; nil: it goes on.
	Pause func() (resume func())
}

// pause stops the clock of the run, until the function that it returns is called.
func (p *Planner) pause() (resume func()) {
	if p.Pause == nil {
		return func() {}
	}
	return p.Pause()
}

// draft is a plan as a model writes it.
type draft struct {
	Steps []draftStep `json:"steps" jsonschema:"1 to 7 steps, first to last"`
}

type draftStep struct {
	Goal     string `json:"goal" jsonschema:"a place or thing to reach, beginning with Explore, Navigate to, Find, Discover or Locate"`
	DoneWhen string `json:"done_when" jsonschema:"what the screen shows once the goal is reached and did not show before"`

	Predicate *Predicate `json:"predicate" jsonschema:"the same as a condition that code evaluates; null if none fits"`
	AskedBy   *origin    `json:"asked_by" jsonschema:"task: the task asks for it, or it is on the way to what the task asks for; screen: only a text on the screen (a page, a document, a mail) demands it; null if you cannot say"`
}

// Generate makes the initial plan of a task from the first observation. An
// answer that is no plan is asked for once more, with what is wrong with it;
// after that the plan is a general one, made by code, with Fallback set.
//
// An error means that no answer came (the network, the budget, the context) or
// that the task is empty. A run goes on without a plan then, and may try again.
func (p *Planner) Generate(ctx context.Context, task string, now *screen.Observation) (*Plan, error) {
	if strings.TrimSpace(task) == "" {
		return nil, errors.New("generate plan: the task is empty")
	}
	req, err := prompts.Request(llm.Planner, "generate", generatePrompt{Task: task, Screen: now.Text(p.ScreenTokens), OwnHome: p.Home != nil}, Images(now)...)
	if err != nil {
		return nil, fmt.Errorf("generate plan: %w", err)
	}
	var dropped []Dropped // of the last answer
	plan, err := ask(ctx, p.Model, req, func(d draft, last bool) (*Plan, error) {
		plan := p.newPlan(task)
		var demanded []string
		for _, s := range d.Steps {
			plan.add(s.Goal, s.DoneWhen, s.Predicate)
			if s.AskedBy.demanded() {
				demanded = append(demanded, cleanGoal(s.Goal))
			}
		}
		checked := p.check(ctx, nil, plan, now, last, demanded...)
		dropped = plan.Dropped
		plan.start(now.At)
		return plan, errors.Join(plan.Validate(), checked)
	})
	if errors.Is(err, llm.ErrBadReply) {
		if p.Log != nil {
			p.Log.WarnContext(ctx, "no usable plan, taking a general one", "err", err)
		}
		plan = p.fallback(task, now)
		plan.Dropped = dropped
		return plan, nil
	}
	if err != nil {
		return nil, fmt.Errorf("generate plan: %w", err)
	}
	return plan, nil
}

// ask sends a request and makes a plan of the answer. If that is not valid, the
// model reads why and may answer once more; then the error is [llm.ErrBadReply]. use is
// told whether an answer is the last.
func ask[T any](ctx context.Context, m llm.Model, req *llm.Request, use func(answer T, last bool) (*Plan, error)) (*Plan, error) {
	var plan *Plan
	var unchanged error
	_, err := llm.DecodeChecked(ctx, m, req, llm.Terms[T]{
		Problem: func(answer T, last bool) (invalid error) {
			if plan, invalid = use(answer, last); errors.Is(invalid, ErrUnchanged) {
				unchanged, invalid = invalid, nil
			}
			return invalid
		},
		Question: func(_ T, invalid error) (string, error) {
			return prompts.Render("repair", repairPrompt{strings.Split(invalid.Error(), "\n")})
		},
		Suffix: "_repair",
	})
	if err = cmp.Or(err, unchanged); err != nil {
		return nil, err
	}
	return plan, nil
}

func (p *Planner) newPlan(task string) *Plan {
	return &Plan{Version: Version, Task: task, CreatedAt: p.now()}
}

// fallback is the plan that fits every task.
func (p *Planner) fallback(task string, now *screen.Observation) *Plan {
	plan := p.newPlan(task)
	plan.Fallback = true
	plan.add("Explore what is open on the screen", "The window that the task is about is open and has the focus", nil)
	plan.add("Find the place where the task can be done", "The part of the window that the task is about is visible", nil)
	plan.add("Locate the visible effect of the task", "The screen shows the effect of: “"+strings.ReplaceAll(llm.Excerpt(cleanLine(task), maxDoneWhen-40), "”", `"`)+"”", nil)
	plan.start(now.At)
	return plan
}

func (p *Planner) now() time.Time {
	if p.Now != nil {
		return p.Now()
	}
	return time.Now()
}

// add appends a step under an ID that the plan has never had.
func (p *Plan) add(goal, doneWhen string, predicate *Predicate) {
	p.Steps = append(p.Steps, Step{
		ID: p.freeID(), Goal: cleanGoal(goal), DoneWhen: cleanLine(doneWhen), Predicate: predicate.tidy(), Status: Pending,
	})
}

// freeID returns an ID that no step has, and none had that a revision removed.
func (p *Plan) freeID() string {
	last := 0
	for _, s := range p.Steps {
		last = max(last, idNumber(s.ID))
	}
	for _, r := range p.Revisions {
		for _, c := range r.Changes {
			for _, s := range []*Step{c.Old, c.New} {
				if s != nil {
					last = max(last, idNumber(s.ID))
				}
			}
		}
	}
	return fmt.Sprintf("s%d", last+1)
}

// start makes the first open step the current one as of the frame taken at a
// time, and all after it pending. A step that is current already stays so.
func (p *Plan) start(at time.Time) {
	for i := range p.Steps {
		s := &p.Steps[i]
		switch {
		case s.Status.Final():
		case i+1 != p.ProgressStep():
			s.Status, s.StartedAt = Pending, time.Time{}
		case s.Status != Running:
			s.Status, s.StartedAt = Running, at
		}
	}
}

// Images returns the picture of an observation, if it has one.
func Images(o *screen.Observation) []llm.Image {
	if o == nil || len(o.Image.Data) == 0 {
		return nil
	}
	return []llm.Image{{Data: o.Image.Data, Type: o.Image.Type, FrameID: o.FrameID}}
}
