package planner

import (
	"cmp"
	"time"

	"desktop-agent/llm"
)

// A Config says how deliberate plans are made, checked, approved and revised. Its zero
// value works: see [Config.WithDefaults].
type Config struct {
	// The phases in which a plan is made: what the task is, what is wrong with that, and
	// the steps.
	Analysis, Review, Execution Phase
	Model                       string // of all phases; "" for that of the role [llm.Planner]
	Instructions                string // what the prompts of all phases begin with; "" for nothing more
	Force                       bool   // the analysis may not answer that no plan is needed
	TextFormat                  bool   // the plan is asked for as text at once, and not only where no JSON comes
	Feasibility                 bool   // a model looks whether a valid plan can work

	MaxSteps      int  // of a plan; 20 if 0
	FreeOrder     bool // a step need not say what it needs
	NeedFallbacks bool // each step but those of the model alone has a fallback
	MaxTokens     int  // that all steps together may be estimated at; no limit if 0
	Hierarchical  bool // steps may be decomposed into plans
	MaxDepth      int  // of plans in plans, the first being 1; 2 if 0

	Approval      bool          // a plan is shown to a person before it is executed
	ApprovalLimit time.Duration // how long an answer is waited for; 10 min if 0
	// Unanswered says what becomes of a plan that nobody answers for in time: it is
	// rejected, unless this is set.
	Unanswered Unanswered

	NoRevision   bool     // plans stay as they are
	MaxRevisions int      // that changed something, of one plan; 3 if 0
	Strategy     Strategy // of a revision that asks for none; [ReplanRemaining] if ""
	Threshold    float64  // the part of failed steps at which a run that goes on after failures revises; 0.3 if 0
}

// A Phase is one call of a model on the way to a plan.
type Phase struct {
	Off         bool
	Model       string        // "" for that of the [Config]
	Limit       time.Duration // 0 for that of the role
	Temperature *float64      // nil for that of the role, if it has one, and else 0.3 (of the review 0.35)
}

// Unanswered is what becomes of a plan that nobody answers for.
type Unanswered string

// What becomes of it.
const (
	RejectUnanswered  Unanswered = "reject"
	ExecuteUnanswered Unanswered = "execute"
)

// WithDefaults returns the configuration with what is zero filled in.
func (c Config) WithDefaults() Config {
	c.Analysis, c.Review, c.Execution = c.Analysis.or(c.Model, 0.3), c.Review.or(c.Model, 0.35), c.Execution.or(c.Model, 0.3)
	c.MaxSteps, c.MaxDepth = cmp.Or(c.MaxSteps, 20), cmp.Or(c.MaxDepth, 2)
	c.ApprovalLimit, c.Unanswered = cmp.Or(c.ApprovalLimit, 10*time.Minute), cmp.Or(c.Unanswered, RejectUnanswered)
	c.MaxRevisions, c.Strategy = cmp.Or(c.MaxRevisions, DefaultMaxRevisions), cmp.Or(c.Strategy, ReplanRemaining)
	c.Threshold = cmp.Or(c.Threshold, DefaultThreshold)
	return c
}

func (p Phase) or(model string, temperature float64) Phase {
	p.Model = cmp.Or(p.Model, model)
	if p.Temperature == nil {
		p.Temperature = &temperature
	}
	return p
}

// A Catalog is what the steps of a deliberate plan may use.
type Catalog struct {
	Tools  []llm.Tool // by their names, with the schemas of their arguments
	Agents []Profile  // that steps may be given to
	Screen bool       // there is a display for steps on the screen
}

// A Profile is a kind of agent.
type Profile struct {
	Name, Description string
	Screen            bool // it has a display of its own
}

// inside is what the steps of a plan within a step may use: an agent brings its own
// display, or has none.
func (c Catalog) inside(s *Step) Catalog {
	for _, a := range c.Agents {
		if s.Executor == Agent && a.Name == s.Action {
			c.Screen = a.Screen
		}
	}
	return c
}

// tool returns a tool by its name, or nil.
func (c Catalog) tool(name string) *llm.Tool {
	for i := range c.Tools {
		if c.Tools[i].Name == name {
			return &c.Tools[i]
		}
	}
	return nil
}

// names are those of the tools, or of the agents.
func (c Catalog) names(e Executor) (list []string) {
	for _, t := range c.Tools {
		if e == Tool {
			list = append(list, t.Name)
		}
	}
	for _, a := range c.Agents {
		if e == Agent {
			list = append(list, a.Name)
		}
	}
	return list
}
