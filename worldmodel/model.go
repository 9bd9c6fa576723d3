package worldmodel

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/screen"
)

//go:embed prompts/*.tmpl
var promptFiles embed.FS

var prompts = llm.ParsePrompts(promptFiles)

// The data of the templates in prompts.
type (
	assessPrompt struct {
		Task              string
		Step, Next, Steps int    // numbers from 1; Steps is 0 without a plan
		Goal, DoneWhen    string // of the current step; "" if there is none
		Actions, Expect   string
		Delta, Screen     string
		BothImages        bool
	}

	goalPrompt struct{ Task, Claim, DoneWhen, History, Screen string }
)

// A Model asks a language model about the screen. It is safe for concurrent use
// if LLM is.
type Model struct {
	LLM          llm.Model
	ScreenTokens int          // budget of the screen's text in a prompt; 0 for the default of [screen.Observation.Text]
	Log          *slog.Logger // nil: silent
}

// An AssessRequest asks what a batch of actions did.
type AssessRequest struct {
	Task        string
	Plan        *planner.Plan     // nil without planning
	Actions     []actuator.Action // exactly those that were performed
	Results     []string          // what became of each, in words; more lines than actions are about the batch
	Expect      string            // the effect that the actor foresaw
	Before, Now *screen.Observation
}

// Assess asks what a batch of actions did and whether the current step of the
// plan is reached. An error means that there is no answer: a run goes on
// without it.
func (m *Model) Assess(ctx context.Context, r AssessRequest) (*Assessment, error) {
	actions, err := listActions(r.Actions, r.Results)
	if err != nil {
		return nil, fmt.Errorf("assess: %w", err)
	}
	data := assessPrompt{
		Task: r.Task, Actions: actions, Expect: llm.OneLine(r.Expect),
		Delta: screen.DescribeChanges(r.Before, r.Now), Screen: r.Now.Text(m.ScreenTokens),
	}
	if r.Plan != nil {
		data.Step, data.Next, data.Steps = r.Plan.ProgressStep(), r.Plan.ProgressStep()+1, len(r.Plan.Steps)
		if s := r.Plan.Current(); s != nil {
			data.Goal, data.DoneWhen = s.Goal, s.DoneWhen
		}
	}
	images := imagesOf(r.Now)
	if r.Before != nil && blind(r.Now) {
		// Text tells nothing of the change, so the pictures have to.
		images = append(imagesOf(r.Before), images...)
		data.BothImages = len(images) == 2
	}
	req, err := prompts.Request(llm.WorldModel, "assess", data, images...)
	if err != nil {
		return nil, fmt.Errorf("assess: %w", err)
	}
	a, err := llm.Decode[Assessment](ctx, m.LLM, req)
	if err != nil {
		return nil, fmt.Errorf("assess: %w", err)
	}
	if a.Guidance = oneLine(a.Guidance); m.Log != nil {
		m.Log.DebugContext(ctx, "assessed", "frame", r.Now.FrameID, "as_expected", a.AsExpected, "progress_step", a.ProgressStep)
	}
	return &a, nil
}

// A GoalRequest asks whether the task is done.
type GoalRequest struct {
	Task    string
	Claim   string        // what the actor said; "" if nobody claims it
	Plan    *planner.Plan // nil without planning
	History []string      // what was done so far, in words, oldest first
	Now     *screen.Observation
}

// A GoalCheck is the world model's answer to that. It is a claim; [Confirmed]
// decides.
type GoalCheck struct {
	Shown    bool   `json:"shown" jsonschema:"whether the screen now shows the effect of the whole task"`
	Evidence string `json:"evidence" jsonschema:"if shown: a short text on the screen that shows it, copied letter by letter; otherwise empty"`
	Missing  string `json:"missing" jsonschema:"if not shown: what is not visible yet and how to make it visible; otherwise empty"`
}

// CheckGoal asks whether the newest observation shows what the task asks for.
// An error confirms nothing.
func (m *Model) CheckGoal(ctx context.Context, r GoalRequest) (*GoalCheck, error) {
	data := goalPrompt{
		Task: r.Task, Claim: llm.OneLine(r.Claim),
		History: strings.Join(r.History, "\n"), Screen: r.Now.Text(m.ScreenTokens),
	}
	if r.Plan != nil && len(r.Plan.Steps) > 0 && !r.Plan.Fallback {
		data.DoneWhen = r.Plan.Steps[len(r.Plan.Steps)-1].DoneWhen
	}
	req, err := prompts.Request(llm.WorldModel, "goal", data, imagesOf(r.Now)...)
	if err != nil {
		return nil, fmt.Errorf("check goal: %w", err)
	}
	check, err := llm.Decode[GoalCheck](ctx, m.LLM, req)
	if err != nil {
		return nil, fmt.Errorf("check goal: %w", err)
	}
	check.Missing = llm.OneLine(check.Missing)
	return &check, nil
}

// listActions renders actions as they were performed, each with its result.
func listActions(actions []actuator.Action, results []string) (string, error) {
	var b strings.Builder
	for i, a := range actions {
		data, err := actuator.Marshal(a)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%d. %s", i+1, data)
		if i < len(results) {
			fmt.Fprintf(&b, "\n   %s", results[i])
		}
		b.WriteByte('\n')
	}
	for _, line := range results[min(len(actions), len(results)):] {
		b.WriteString(line + "\n")
	}
	return b.String(), nil
}

// oneLine makes advice one plain line, and nil if there is none.
func oneLine(advice *string) *string {
	if advice == nil {
		return nil
	}
	line := llm.OneLine(*advice)
	if line == "" {
		return nil
	}
	return &line
}

// imagesOf returns the picture of an observation, if it has one.
func imagesOf(o *screen.Observation) []llm.Image {
	if o == nil || len(o.Image.Data) == 0 {
		return nil
	}
	return []llm.Image{{Data: o.Image.Data, Type: o.Image.Type, FrameID: o.FrameID}}
}
