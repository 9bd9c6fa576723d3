package guard

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

//go:embed prompts/*.tmpl
var promptFiles embed.FS

var prompts = llm.ParsePrompts(promptFiles)

// Computer is the tool that mouse and keyboard are together.
const Computer = "computer"

// A Verdict is what holds of a task as a whole: whether it asks for something that
// cannot be taken back, and what is blocked until the one action that does it.
type Verdict struct {
	Enabled bool // something is blocked
	Effects []worldmodel.Effect
	Tools   []string
	Unknown []string // names that there are none of; they block nothing
	Why     string
}

// everything is the verdict where nothing is known.
func everything(why string) Verdict { return Verdict{Enabled: true, Why: why} }

// Blocks is the three-way rule: a verdict that is not enabled blocks nothing; one that
// names nothing blocks every tool and every side effect; and any other blocks what it
// names.
func (v Verdict) Blocks(tool string, effect worldmodel.Effect) bool {
	switch {
	case !v.Enabled:
		return false
	case len(v.Effects) == 0 && len(v.Tools) == 0:
		return true
	}
	return slices.Contains(v.Tools, tool) || slices.Contains(v.Effects, effect)
}

// Demands reports whether the user's own words ask for an effect that cannot be taken
// back. What a screen says has no part in it.
func (v Verdict) Demands(effect worldmodel.Effect) bool {
	return v.Enabled && slices.Contains(v.Effects, effect)
}

// An analysis is the reply of who judges a task.
type analysis struct {
	Reason       string   `json:"reason" jsonschema:"one sentence: what in the request cannot be taken back, or why everything can"`
	Irreversible bool     `json:"irreversible" jsonschema:"true if doing the request includes any effect that cannot be taken back"`
	Effects      []string `json:"blocked_effects" jsonschema:"names from the list of effects: those that the request asks for and that cannot be taken back; empty if there are none"`
	Tools        []string `json:"blocked_tools" jsonschema:"names from the list of tools that must not be used until the very end; usually empty, as the effects say it better"`
}

type judgePrompt struct {
	Task    string
	Effects []worldmodel.Effect
	Tools   []string
}

// judge asks one of the analysers what a task is. Whatever goes wrong blocks
// everything.
func (g *Guard) judge(ctx context.Context, task string) (Verdict, *run.TaskJudged) {
	e := &run.TaskJudged{}
	v, err := g.analyse(ctx, task, e)
	if err != nil {
		v, e.Error = everything("the task could not be judged: "+err.Error()), err.Error()
	}
	e.Irreversible, e.Effects, e.Tools, e.Unknown, e.Reason = v.Enabled, v.Effects, v.Tools, v.Unknown, v.Why
	g.log().InfoContext(ctx, "Irreversibility analysis complete", "analyzer_agent", e.Role, "has_irreversible", v.Enabled, "effects", v.Effects, "tools", v.Tools)
	return v, e
}

func (g *Guard) analyse(ctx context.Context, task string, e *run.TaskJudged) (Verdict, error) {
	if g.Model == nil || len(g.Analysers) == 0 {
		return Verdict{}, fmt.Errorf("no model is there to ask")
	}
	e.Role = g.Analysers[g.pick(len(g.Analysers))]
	preview := []rune(task)
	g.log().InfoContext(ctx, "Analyzing question irreversibility", "analyzer_agent", e.Role, "question_characters", min(len(preview), 100))
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(g.JudgeLimit, run.DefaultJudgeLimit))
	defer cancel()
	req, err := prompts.Request(e.Role, run.PurposeJudge, judgePrompt{Task: task, Effects: worldmodel.SideEffects(), Tools: g.tools()})
	if err != nil {
		return Verdict{}, err
	}
	a, err := llm.Decode[analysis](ctx, g.Model, req)
	if err != nil {
		return Verdict{}, err
	}
	return g.verdict(a), nil
}

// verdict is what holds by an analysis. Names that there are none of block nothing;
// where there are no others, everything is blocked. One that names what is blocked and
// says that all can be taken back contradicts itself, and blocks what it names.
func (g *Guard) verdict(a analysis) Verdict {
	v := Verdict{Enabled: a.Irreversible, Why: llm.OneLine(a.Reason)}
	v.Effects = among(a.Effects, worldmodel.SideEffects(), &v.Unknown)
	v.Tools = among(a.Tools, g.tools(), &v.Unknown)
	v.Enabled = v.Enabled || len(v.Effects)+len(v.Tools)+len(v.Unknown) > 0
	return v
}

// among returns the names that are in a list, each once, and adds the others to unknown.
func among[T ~string](names []string, list []T, unknown *[]string) (found []T) {
	for _, name := range names {
		name = strings.TrimSpace(name)
		switch {
		case name == "" || slices.Contains(found, T(name)):
		case slices.Contains(list, T(name)):
			found = append(found, T(name))
		default:
			*unknown = append(*unknown, clip(llm.OneLine(name)))
		}
	}
	return found
}

func (g *Guard) tools() []string {
	if len(g.Tools) == 0 {
		return []string{Computer}
	}
	return g.Tools
}
