package planner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"desktop-agent/llm"
)

// Values lists the complexities, for the schema of replies.
func (Complexity) Values() []string { return []string{string(Simple), string(Medium), string(Complex)} }

// Values lists the executors, for the schema of replies.
func (Executor) Values() []string {
	return []string{string(GUI), string(Tool), string(Agent), string(Self)}
}

// script is a deliberate plan as a model writes it.
type script struct {
	Goal        string       `json:"goal" jsonschema:"what is reached at the end, in a sentence"`
	Success     string       `json:"success" jsonschema:"how anybody can see that it is reached"`
	Complexity  Complexity   `json:"complexity" jsonschema:"simple (1 to 3 steps), medium (5 to 9) or complex (8 to 15)"`
	Milestones  []string     `json:"milestones" jsonschema:"the stages on the way, three or so; empty for a simple task"`
	Constraints []string     `json:"constraints" jsonschema:"what holds for all steps, by the task; empty for nothing"`
	Risks       []string     `json:"risks" jsonschema:"what is not known and could stop it; empty for nothing"`
	Steps       []scriptStep `json:"steps" jsonschema:"first to last, each after what it needs"`
}

type scriptStep struct {
	ID         string     `json:"id" jsonschema:"s1, s2, …"`
	Executor   Executor   `json:"executor" jsonschema:"who does it: gui, tool, agent or self"`
	Action     *string    `json:"action" jsonschema:"of tool: the exact name of the tool; of agent: that of the profile; of gui and self: null"`
	Parameters *string    `json:"parameters" jsonschema:"of tool: its arguments as a JSON object in a string, if they are known now; null if a step before has to find them out, and of others"`
	Goal       string     `json:"goal" jsonschema:"what this step reaches, in a line"`
	DoneWhen   string     `json:"done_when" jsonschema:"of gui: what the screen shows then and did not show before; of others: what the result has then"`
	Predicate  *Predicate `json:"predicate" jsonschema:"of gui: the same as a condition that code evaluates; null if none fits, and of others"`
	Needs      []string   `json:"needs" jsonschema:"the ids of the steps before it whose results it uses or that must be done; empty for none"`
	Parallel   bool       `json:"parallel" jsonschema:"whether it may be done beside other steps"`
	Fallback   *string    `json:"fallback" jsonschema:"what to try when it fails: another way in words, or the name of another tool; null for nothing"`
	Tokens     int        `json:"tokens" jsonschema:"about how many tokens it will use; 0 if you cannot say"`
}

// plan makes a plan of what a model wrote. The error is what cannot be told from the plan
// any more.
func (s script) plan(into *Plan) error {
	into.Goal, into.Success, into.Complexity = s.Goal, s.Success, s.Complexity
	into.Milestones, into.Constraints, into.Risks = s.Milestones, s.Constraints, s.Risks
	for _, step := range s.Steps {
		into.Steps = append(into.Steps, step.step())
	}
	into.count()
	return into.Normalize()
}

func (s scriptStep) step() Step {
	return Step{
		ID: s.ID, Goal: s.Goal, DoneWhen: s.DoneWhen, Predicate: s.Predicate, Executor: s.Executor, Action: text(s.Action),
		Parameters: text(s.Parameters), Needs: slices.Clone(s.Needs), Parallel: s.Parallel, Fallback: text(s.Fallback), Tokens: s.Tokens,
	}
}

// text is what a model wrote where it could write null, too.
func text(s *string) string {
	if s == nil || strings.EqualFold(strings.TrimSpace(*s), "null") || strings.EqualFold(strings.TrimSpace(*s), "none") {
		return ""
	}
	return *s
}

// count adds up what the steps are estimated at.
func (p *Plan) count() {
	p.Tokens = 0
	for _, s := range p.Steps {
		p.Tokens += min(max(s.Tokens, 0), maxEstimate)
	}
}

// steps is the last phase: the plan as JSON, and as text where no JSON comes.
func (m *making) steps(ctx context.Context, data analysisPrompt, analysis, adjustments string) (*Plan, error) {
	data.Earlier, data.Tools = nil, m.Catalog.arguments()
	prompt := stepsPrompt{
		analysisPrompt: data, Analysis: analysis, Adjustments: adjustments, MaxSteps: min(m.Config.WithDefaults().MaxSteps, 15),
		OwnHome: m.Home != nil, Fallbacks: m.Config.NeedFallbacks,
	}
	name := "plan_steps"
	if m.Config.TextFormat {
		name = "plan_text"
	}
	req, err := m.prompt(name, prompt)
	if err != nil {
		return nil, err
	}
	model, done := m.begin(ctx, phaseSteps, "Building execution plan...", req, m.Config.Execution)
	ctx, cancel := m.Config.Execution.within(ctx)
	defer cancel()
	var plan *Plan
	if m.Config.TextFormat {
		plan, err = m.textPlan(ctx, model, req)
	} else if plan, err = m.jsonPlan(ctx, model, req); errors.Is(err, errNoJSON) {
		m.note(ctx, "the plan did not come as JSON; it was asked for as text")
		again, failed := m.prompt("plan_text", prompt)
		if failed != nil {
			return nil, failed
		}
		again.Model, again.Temperature = req.Model, req.Temperature
		plan, err = m.textPlan(ctx, model, again)
	}
	done(err)
	return plan, err
}

func (m *making) note(ctx context.Context, text string) {
	m.record.Notes = append(m.record.Notes, text)
	if m.Log != nil {
		m.Log.WarnContext(ctx, text)
	}
}

// errNoJSON says that no answer had the form that was asked for.
var errNoJSON = errors.New("no answer was JSON of the schema")

// jsonPlan asks for a plan as JSON.
func (m *making) jsonPlan(ctx context.Context, model llm.Model, req *llm.Request) (*Plan, error) {
	read := false
	plan, err := ask(ctx, model, req, func(s script, last bool) (*Plan, error) {
		read = true
		plan := m.newDeliberate()
		return plan, errors.Join(s.plan(plan), m.checkMade(ctx, plan, last))
	})
	if !read && errors.Is(err, llm.ErrBadReply) && !errors.Is(err, llm.ErrEmpty) {
		return nil, fmt.Errorf("%w: %w", errNoJSON, err)
	}
	return plan, err
}

// textPlan asks for a plan as text.
func (m *making) textPlan(ctx context.Context, model llm.Model, req *llm.Request) (*Plan, error) {
	var plan *Plan
	_, err := llm.DecodeChecked(ctx, model, req, llm.Terms[string]{
		Read: readText,
		Problem: func(answer string, last bool) error {
			plan = m.newDeliberate()
			var notes []string
			notes, err := plan.read(answer, m.Catalog)
			for _, note := range notes {
				m.note(ctx, note)
			}
			return errors.Join(err, m.checkMade(ctx, plan, last))
		},
		Question: func(_ string, problem error) (string, error) {
			return deliberatePrompts.Render("repair_text", repairPrompt{strings.Split(problem.Error(), "\n")})
		},
		Suffix: "_repair",
	})
	if err != nil {
		return nil, err
	}
	return plan, nil
}

// checkMade checks a plan that was just written: beside the screen, by itself, and by a
// model if the configuration says so.
func (m *making) checkMade(ctx context.Context, plan *Plan, last bool) error {
	wrong := m.checkScreen(ctx, plan, last)
	if wrong = errors.Join(wrong, plan.ValidateFor(m.Catalog, m.Config)); wrong != nil || last || !m.Config.Feasibility {
		return wrong
	}
	return m.feasible(ctx, plan)
}

// checkScreen is [Planner.check] of a deliberate plan: what needed a step that is left
// out does not need it any more.
func (m *making) checkScreen(ctx context.Context, plan *Plan, last bool) error {
	if m.request.Now == nil {
		return nil
	}
	wrong := m.check(ctx, m.old, plan, m.request.Now, last)
	if last {
		plan.dropNeeds(plan.Dropped)
	}
	return wrong
}

// dropNeeds takes steps that were left out from what others need.
func (p *Plan) dropNeeds(dropped []Dropped) {
	if len(dropped) == 0 {
		return
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Needs = slices.DeleteFunc(s.Needs, func(id string) bool { return p.Step(id) == nil }); len(s.Needs) == 0 {
			s.Parallel = s.Parallel || i > 0
		}
	}
}

// verdict is what a model says of a plan before it is executed.
type verdict struct {
	Feasible bool `json:"feasible" jsonschema:"whether the plan can reach its goal with what there is"`
	Problems []struct {
		Step    string `json:"step" jsonschema:"the id of the step; empty for the plan as a whole"`
		Problem string `json:"problem" jsonschema:"why it cannot work, in a sentence"`
		Instead string `json:"instead" jsonschema:"what to write instead, in a sentence"`
	} `json:"problems" jsonschema:"empty if it is feasible"`
}

// feasible has a model look at a plan. A model that does not answer has no objection.
func (m *making) feasible(ctx context.Context, plan *Plan) error {
	data := stepsPrompt{analysisPrompt: m.data(), Analysis: plan.Text()}
	data.Earlier = nil
	req, err := m.prompt("plan_feasible", data)
	if err != nil {
		return err
	}
	m.Config.apply(req, m.Config.Review, 0.35, m.Model)
	v, err := llm.Decode[verdict](ctx, m.Model, req)
	if err != nil {
		m.note(ctx, "nobody looked whether the plan can work: "+err.Error())
		return nil
	}
	var errs []error
	for i, p := range v.Problems {
		step := plan.Step(canonical(p.Step))
		where := "the plan"
		if step != nil {
			where = fmt.Sprintf("step %d", slices.IndexFunc(plan.Steps, func(s Step) bool { return s.ID == step.ID })+1)
		}
		if i < 10 && !v.Feasible {
			errs = append(errs, fmt.Errorf("%s: %s; %s", where, llm.Excerpt(cleanLine(p.Problem), maxGuidance), llm.Excerpt(cleanLine(p.Instead), maxGuidance)))
		}
	}
	return errors.Join(errs...)
}
