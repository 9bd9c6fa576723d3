package eventjson

import (
	"fmt"
	"image"
	"time"

	"desktop-agent/llm"
	detect "desktop-agent/monitor"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// settings are the settings of a run: all that changes behaviour. What the event
// tells beside them (planning, format, the names of models) is not among them.
type settings struct {
	Assess        string                  `json:"assess,omitempty"`
	BaseURL       string                  `json:"base_url"`
	Boundary      string                  `json:"boundary,omitempty"`
	Candidates    int                     `json:"candidates,omitempty"`
	Rehearsals    int                     `json:"rehearsals,omitempty"`
	Ceiling       duration                `json:"ceiling,omitzero"`
	Computer      string                  `json:"computer,omitempty"`
	Detectors     detectors               `json:"detectors,omitzero"`
	Display       string                  `json:"display,omitempty"`
	DPI           int                     `json:"dpi"`
	Execution     *execution              `json:"execution,omitempty"` // only where a plan is executed
	Grounder      string                  `json:"grounder,omitempty"`
	GroundTries   int                     `json:"ground_tries,omitempty"`
	Grows         bool                    `json:"grows,omitempty"`
	Guard         string                  `json:"guard,omitempty"`
	ApprovalLimit duration                `json:"approval_limit,omitzero"`
	Approve       string                  `json:"approve,omitempty"`
	CarefulEdits  int                     `json:"careful_edits,omitempty"`
	OnBlock       string                  `json:"on_block,omitempty"`
	Workspace     string                  `json:"workspace,omitempty"`
	PlanTries     int                     `json:"plan_tries,omitempty"`
	Planning      *planning               `json:"planning,omitempty"` // only where a plan is executed
	Policies      string                  `json:"policies,omitempty"`
	GuardLimit    duration                `json:"guard_limit,omitzero"`
	Home          string                  `json:"home"`
	JudgeLimit    duration                `json:"judge_limit,omitzero"`
	KeepDesktop   duration                `json:"keep_desktop,omitzero"`
	KeepHome      string                  `json:"keep_home,omitempty"`
	KeepImages    int                     `json:"keep_images,omitempty"`
	MachineDevs   bool                    `json:"machine_devices,omitempty"`
	Like          *demonstration          `json:"like,omitempty"`
	Macro         macro                   `json:"macro,omitzero"`
	MaxBadReplies int                     `json:"max_bad_replies,omitempty"`
	MaxBlocked    int                     `json:"max_blocked,omitempty"`
	MaxDollars    float64                 `json:"max_dollars"`
	MaxDoubts     int                     `json:"max_doubts,omitempty"`
	MaxImage      int                     `json:"max_image,omitempty"`
	MaxRefusals   int                     `json:"max_refusals,omitempty"`
	MaxRevisions  int                     `json:"max_revisions,omitempty"`
	MaxSteps      int                     `json:"max_steps"`
	MaxTime       duration                `json:"max_time"`
	MaxTokens     int                     `json:"max_tokens"`
	Monitor       int                     `json:"monitor"`
	OCR           string                  `json:"ocr,omitempty"`
	Others        map[string][]way        `json:"others,omitempty"`
	Open          string                  `json:"open"`
	Prices        map[string]price        `json:"prices"`
	PruneInterval int                     `json:"prune_interval,omitempty"`
	Quiet         duration                `json:"quiet,omitzero"`
	ReadAlike     float64                 `json:"read_alike,omitempty"`
	Retry         retry                   `json:"retry,omitzero"`
	ReviewEvery   int                     `json:"review_every"`
	RiskLimit     float64                 `json:"risk_limit,omitempty"`
	Roles         map[string]roleSettings `json:"roles"`
	ScreenTokens  int                     `json:"screen_tokens,omitempty"`
	Size          size                    `json:"size"`
	StopCorner    bool                    `json:"stop_corner,omitempty"`
	StopKeys      string                  `json:"stop_keys,omitempty"`
	Takeover      duration                `json:"takeover,omitzero"`
	TextUnseen    bool                    `json:"text_unseen,omitempty"`
	ToolLimit     duration                `json:"tool_limit,omitzero"`
	ToolText      int                     `json:"tool_text,omitempty"`
	Tools         []tool                  `json:"tools,omitempty"`
	TreeLimit     duration                `json:"tree_limit,omitzero"`
	TreeNodes     int                     `json:"tree_nodes,omitempty"`
	TreeSilence   duration                `json:"tree_silence,omitzero"`
	Virtual       bool                    `json:"virtual"`
	Ways          map[string]way          `json:"ways,omitempty"`

	// Written once, and read by nobody.
	Demo     bool   `json:"demo,omitempty"`
	Live     bool   `json:"live,omitempty"`
	Recorded string `json:"recorded,omitempty"`
}

// roleSettings is the form of what holds for a role. Its model stands elsewhere in the
// event.
type roleSettings struct {
	Attempt     duration `json:"attempt"`
	MaxTokens   int      `json:"max_tokens"`
	Temperature *float64 `json:"temperature"`
	Timeout     duration `json:"timeout"`

	Fallback []string `json:"fallback,omitempty"`
}

// A way is how the model of a role is asked.
type way struct {
	API     string `json:"api"`
	BaseURL string `json:"base_url"`
	Stored  bool   `json:"stored,omitempty"`
}

// A price is dollars per million tokens.
type price struct {
	Input  float64 `json:"input"`
	Cached float64 `json:"cached"`
	Output float64 `json:"output"`

	Written float64 `json:"written,omitzero"`
	Long    *long   `json:"long,omitempty"`
}

type long struct {
	Over    int     `json:"over"`
	Input   float64 `json:"input"`
	Cached  float64 `json:"cached"`
	Written float64 `json:"written"`
	Output  float64 `json:"output"`
}

func priceForm(p llm.Price) price {
	return price{Input: p.Input, Cached: p.Cached, Output: p.Output, Written: p.Written, Long: (*long)(p.Long)}
}

func (f price) data() llm.Price {
	return llm.Price{Input: f.Input, Cached: f.Cached, Output: f.Output, Written: f.Written, Long: (*llm.Long)(f.Long)}
}

type detectors struct {
	Repeats    int     `json:"repeats,omitempty"`
	Window     int     `json:"window,omitempty"`
	SameScreen int     `json:"same_screen,omitempty"`
	Alternate  int     `json:"alternate,omitempty"`
	NoEffect   int     `json:"no_effect,omitempty"`
	NoProgress int     `json:"no_progress,omitempty"`
	LowBudget  float64 `json:"low_budget,omitempty"`
	Reach      int     `json:"reach,omitempty"`
	Again      int     `json:"again,omitempty"`
	Stuck      int     `json:"stuck,omitempty"`
	Objections int     `json:"objections,omitempty"`
}

// macro is the form of how a macro is played.
type macro struct {
	Patience      duration `json:"patience"`
	MaxChecks     int      `json:"max_looks"`
	MaxHeals      int      `json:"max_heals"`
	MaxBadReplies int      `json:"max_bad_replies"`
	Pictures      pictures `json:"pictures"`
}

type pictures struct {
	Score        float64  `json:"score"`
	Margin       float64  `json:"margin"`
	ScaledScore  float64  `json:"scaled_score"`
	ScaledMargin float64  `json:"scaled_margin"`
	PartScore    float64  `json:"part_score"`
	Limit        duration `json:"limit"`
}

func macroForm(m run.MacroSettings) macro {
	p := m.Pictures
	return macro{
		Patience: duration(m.Patience), MaxChecks: m.MaxChecks, MaxHeals: m.MaxHeals, MaxBadReplies: m.MaxBadReplies,
		Pictures: pictures{p.Score, p.Margin, p.ScaledScore, p.ScaledMargin, p.PartScore, duration(p.Limit)},
	}
}

func (f macro) data() run.MacroSettings {
	p := f.Pictures
	return run.MacroSettings{
		Patience: time.Duration(f.Patience), MaxChecks: f.MaxChecks, MaxHeals: f.MaxHeals, MaxBadReplies: f.MaxBadReplies,
		Pictures: run.PictureSettings{
			Score: p.Score, Margin: p.Margin, ScaledScore: p.ScaledScore, ScaledMargin: p.ScaledMargin, PartScore: p.PartScore, Limit: time.Duration(p.Limit),
		},
	}
}

// A duration is written as "1m30s".
type duration time.Duration

// MarshalText writes the duration.
func (d duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads it.
func (d *duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = duration(v)
	return err
}

// retry is how often a call of a model is tried, and the waits in between.
type retry struct {
	Attempts int      `json:"attempts,omitempty"`
	First    duration `json:"first,omitzero"`
	Most     duration `json:"most,omitzero"`
}

// settingsForm is the form of settings.
func settingsForm(s run.Settings) settings {
	d, a, m := s.Display, s.Agent, s.Models
	f := settings{
		Assess: a.Assess, BaseURL: m.BaseURL, Boundary: m.Boundary, Ceiling: duration(d.Ceiling), Computer: m.Computer, Grounder: m.Grounder, Grows: m.Grows, Detectors: detectors(a.Detectors), Display: d.Name, DPI: d.DPI,
		GuardLimit: duration(a.GuardLimit), Home: d.Home, KeepDesktop: duration(d.KeepFor), KeepHome: d.KeepHome, MachineDevs: d.MachineDevices, KeepImages: a.KeepImages, Like: (*demonstration)(s.Like), MaxBadReplies: a.MaxBadReplies,
		MaxDollars: m.MaxDollars, MaxImage: d.MaxImage, MaxDoubts: a.MaxDoubts, MaxRefusals: a.MaxRefusals, MaxRevisions: a.MaxRevisions, MaxSteps: a.MaxSteps,
		MaxTime: duration(m.MaxTime), MaxTokens: m.MaxTokens, Monitor: d.Monitor, OCR: d.OCR, Open: d.Open,
		PruneInterval: a.PruneInterval, Quiet: duration(d.Quiet), ReviewEvery: a.ReviewEvery, ScreenTokens: a.ScreenTokens,
		Guard: a.Guard, Approve: a.Approve, OnBlock: a.OnBlock, Workspace: a.Workspace, Policies: a.Policies, Rehearsals: a.Rehearsals,
		Size: size(d.Size), StopCorner: d.StopCorner, StopKeys: d.StopKeys, Takeover: duration(d.Takeover), TextUnseen: s.TextUnseen, TreeLimit: duration(d.TreeLimit),
		TreeNodes: d.TreeNodes, TreeSilence: duration(d.TreeSilence), Virtual: d.Private,
		PlanTries: a.PlanTries, ReadAlike: a.ReadAlike, JudgeLimit: duration(a.JudgeLimit), ApprovalLimit: duration(a.ApprovalLimit), RiskLimit: a.RiskLimit,
		CarefulEdits: a.CarefulEdits, MaxBlocked: a.MaxBlocked, GroundTries: m.GroundTries, Macro: macroForm(s.Macro),
		Retry: retry{m.Retry.Attempts, duration(m.Retry.First), duration(m.Retry.Most)}, ToolLimit: duration(s.ToolLimits.Time), ToolText: s.ToolLimits.Text,
	}
	if a.Candidates > 1 {
		f.Candidates = a.Candidates
	}
	if p := a.Planning; p != "suggestive" && p != "off" && p != "" {
		e, p := executionForm(a.Execution), planningForm(s.Plan)
		f.Execution, f.Planning = &e, &p
	}
	for _, t := range s.Tools {
		f.Tools = append(f.Tools, tool{t.Name, t.Description, string(t.Parameters), t.Effect})
	}
	if m.Roles != nil {
		f.Roles = map[string]roleSettings{}
	}
	if m.Prices != nil {
		f.Prices = map[string]price{}
	}
	if m.Ways != nil {
		f.Ways = map[string]way{}
	}
	for role, w := range m.Ways {
		f.Ways[string(role)] = way(w)
	}
	if m.Others != nil {
		f.Others = map[string][]way{}
	}
	for role, list := range m.Others {
		f.Others[string(role)] = each(list, func(w run.Way) way { return way(w) })
	}
	for model, p := range m.Prices {
		f.Prices[model] = priceForm(p)
	}
	for role, r := range m.Roles {
		f.Roles[string(role)] = roleSettings{duration(r.Attempt), r.MaxTokens, r.Temperature, duration(r.Deadline), r.Fallback}
	}
	return f
}

// data returns the settings that the form tells of.
func (f settings) data() run.Settings {
	s := run.Settings{
		Display: run.DisplaySettings{
			Private: f.Virtual, Name: f.Display, Open: f.Open, Home: f.Home, KeepHome: f.KeepHome, KeepFor: time.Duration(f.KeepDesktop), MachineDevices: f.MachineDevs, DPI: f.DPI, Monitor: f.Monitor, MaxImage: f.MaxImage,
			Quiet: time.Duration(f.Quiet), Ceiling: time.Duration(f.Ceiling),
			TreeSilence: time.Duration(f.TreeSilence), TreeLimit: time.Duration(f.TreeLimit), TreeNodes: f.TreeNodes, OCR: f.OCR,
			StopKeys: f.StopKeys, StopCorner: f.StopCorner, Takeover: time.Duration(f.Takeover),
		},
		Agent: run.AgentSettings{
			Assess: f.Assess, MaxSteps: f.MaxSteps, MaxBadReplies: f.MaxBadReplies, MaxRefusals: f.MaxRefusals, MaxDoubts: f.MaxDoubts, MaxRevisions: f.MaxRevisions,
			ReviewEvery: f.ReviewEvery, ScreenTokens: f.ScreenTokens, KeepImages: f.KeepImages, PruneInterval: f.PruneInterval,
			Detectors: detect.Limits(f.Detectors), GuardLimit: time.Duration(f.GuardLimit),
			Guard: f.Guard, Approve: f.Approve, OnBlock: f.OnBlock, Workspace: f.Workspace, Policies: f.Policies, Candidates: f.Candidates, Rehearsals: f.Rehearsals,
			PlanTries: f.PlanTries, ReadAlike: f.ReadAlike, JudgeLimit: time.Duration(f.JudgeLimit), ApprovalLimit: time.Duration(f.ApprovalLimit), RiskLimit: f.RiskLimit,
			CarefulEdits: f.CarefulEdits, MaxBlocked: f.MaxBlocked,
		},
		Models:     run.ModelSettings{BaseURL: f.BaseURL, Boundary: f.Boundary, Computer: f.Computer, Grounder: f.Grounder, GroundTries: f.GroundTries, Retry: llm.Retry{Attempts: f.Retry.Attempts, First: time.Duration(f.Retry.First), Most: time.Duration(f.Retry.Most)}, Grows: f.Grows, MaxTokens: f.MaxTokens, MaxDollars: f.MaxDollars, MaxTime: time.Duration(f.MaxTime)},
		Macro:      f.Macro.data(),
		Like:       (*run.Demonstration)(f.Like),
		ToolLimits: run.ToolLimits{Time: time.Duration(f.ToolLimit), Text: f.ToolText},
		TextUnseen: f.TextUnseen,
	}
	if f.Execution != nil {
		s.Agent.Execution = f.Execution.data()
	}
	if f.Planning != nil {
		s.Plan = f.Planning.data()
	}
	for _, t := range f.Tools {
		s.Tools = append(s.Tools, run.Tool{Tool: llm.Tool{Name: t.Name, Description: t.Description, Parameters: []byte(t.Parameters)}, Effect: t.Effect})
	}
	s.Display.Size = image.Point(f.Size)
	if f.Prices != nil {
		s.Models.Prices = llm.Prices{}
	}
	if f.Ways != nil {
		s.Models.Ways = map[llm.Role]run.Way{}
	}
	for role, w := range f.Ways {
		s.Models.Ways[llm.Role(role)] = run.Way(w)
	}
	if f.Others != nil {
		s.Models.Others = map[llm.Role][]run.Way{}
	}
	for role, list := range f.Others {
		s.Models.Others[llm.Role(role)] = each(list, func(w way) run.Way { return run.Way(w) })
	}
	for model, p := range f.Prices {
		s.Models.Prices[model] = p.data()
	}
	if f.Roles != nil {
		s.Models.Roles = map[llm.Role]llm.Settings{}
	}
	for role, r := range f.Roles {
		s.Models.Roles[llm.Role(role)] = llm.Settings{
			Temperature: r.Temperature, MaxTokens: r.MaxTokens, Deadline: time.Duration(r.Timeout), Attempt: time.Duration(r.Attempt),
			Fallback: r.Fallback,
		}
	}
	return s
}

// execution is the form of how steps of a plan are done.
type execution struct {
	Mode              string   `json:"mode"`
	MaxParallel       int      `json:"max_parallel"`
	StepTimeout       duration `json:"step_timeout"`
	AgentTimeout      duration `json:"agent_timeout"`
	StepActions       int      `json:"step_actions"`
	Retries           int      `json:"retries"`
	ContinueOnFailure bool     `json:"continue_on_failure"`
	Reflect           bool     `json:"reflect"`
	AgentDepth        int      `json:"agent_depth,omitempty"`
	AgentTurns        int      `json:"agent_turns,omitempty"`
	LowBudget         float64  `json:"low_budget,omitempty"`
	FailureRate       unread   `json:"failure_rate,omitzero"`
	Decompose         unread   `json:"decompose,omitzero"`
	DecomposeDepth    unread   `json:"decompose_depth,omitzero"`
}

func executionForm(e run.ExecutionSettings) execution {
	return execution{
		Mode: e.Mode, MaxParallel: e.MaxParallel, StepTimeout: duration(e.StepTimeout), AgentTimeout: duration(e.AgentTimeout), StepActions: e.StepActions,
		Retries: e.Retries, ContinueOnFailure: e.ContinueOnFailure, Reflect: e.Reflect,
		AgentDepth: e.AgentDepth, AgentTurns: e.AgentTurns, LowBudget: e.LowBudget,
	}
}

func (f execution) data() run.ExecutionSettings {
	return run.ExecutionSettings{
		Mode: f.Mode, MaxParallel: f.MaxParallel, StepTimeout: time.Duration(f.StepTimeout), AgentTimeout: time.Duration(f.AgentTimeout), StepActions: f.StepActions,
		Retries: f.Retries, ContinueOnFailure: f.ContinueOnFailure, Reflect: f.Reflect,
		AgentDepth: f.AgentDepth, AgentTurns: f.AgentTurns, LowBudget: f.LowBudget,
	}
}

// planning is the form of how deliberate plans are made.
type planning struct {
	Analysis      phase              `json:"analysis"`
	Review        phase              `json:"review"`
	Steps         phase              `json:"steps"`
	Model         string             `json:"model,omitempty"`
	Instructions  string             `json:"instructions,omitempty"`
	Force         bool               `json:"force,omitempty"`
	TextFormat    bool               `json:"text_format,omitempty"`
	Feasibility   bool               `json:"feasibility,omitempty"`
	MaxSteps      int                `json:"max_steps"`
	FreeOrder     bool               `json:"free_order,omitempty"`
	NeedFallbacks bool               `json:"need_fallbacks,omitempty"`
	MaxTokens     int                `json:"max_tokens,omitempty"`
	Hierarchical  bool               `json:"hierarchical,omitempty"`
	MaxDepth      int                `json:"max_depth"`
	Approval      bool               `json:"approval,omitempty"`
	ApprovalLimit duration           `json:"approval_limit"`
	Unanswered    planner.Unanswered `json:"unanswered"`
	NoRevision    bool               `json:"no_revision,omitempty"`
	MaxRevisions  int                `json:"max_revisions"`
	Strategy      planner.Strategy   `json:"strategy"`
	Threshold     float64            `json:"threshold"`
}

type phase struct {
	Off         bool     `json:"off,omitempty"`
	Model       string   `json:"model,omitempty"`
	Limit       duration `json:"limit,omitzero"`
	Temperature *float64 `json:"temperature,omitempty"`
}

func phaseForm(p planner.Phase) phase { return phase{p.Off, p.Model, duration(p.Limit), p.Temperature} }
func (f phase) data() planner.Phase {
	return planner.Phase{Off: f.Off, Model: f.Model, Limit: time.Duration(f.Limit), Temperature: f.Temperature}
}

func planningForm(c planner.Config) planning {
	return planning{
		Analysis: phaseForm(c.Analysis), Review: phaseForm(c.Review), Steps: phaseForm(c.Execution), Model: c.Model, Instructions: c.Instructions,
		Force: c.Force, TextFormat: c.TextFormat, Feasibility: c.Feasibility, MaxSteps: c.MaxSteps, FreeOrder: c.FreeOrder, NeedFallbacks: c.NeedFallbacks,
		MaxTokens: c.MaxTokens, Hierarchical: c.Hierarchical, MaxDepth: c.MaxDepth, Approval: c.Approval, ApprovalLimit: duration(c.ApprovalLimit),
		Unanswered: c.Unanswered, NoRevision: c.NoRevision, MaxRevisions: c.MaxRevisions, Strategy: c.Strategy, Threshold: c.Threshold,
	}
}

func (f planning) data() planner.Config {
	return planner.Config{
		Analysis: f.Analysis.data(), Review: f.Review.data(), Execution: f.Steps.data(), Model: f.Model, Instructions: f.Instructions,
		Force: f.Force, TextFormat: f.TextFormat, Feasibility: f.Feasibility, MaxSteps: f.MaxSteps, FreeOrder: f.FreeOrder, NeedFallbacks: f.NeedFallbacks,
		MaxTokens: f.MaxTokens, Hierarchical: f.Hierarchical, MaxDepth: f.MaxDepth, Approval: f.Approval, ApprovalLimit: time.Duration(f.ApprovalLimit),
		Unanswered: f.Unanswered, NoRevision: f.NoRevision, MaxRevisions: f.MaxRevisions, Strategy: f.Strategy, Threshold: f.Threshold,
	}
}

// A size is written as "1280x800".
type size image.Point

// MarshalText writes the size.
func (s size) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%dx%d", s.X, s.Y), nil }

// UnmarshalText reads it.
func (s *size) UnmarshalText(text []byte) error {
	if _, err := fmt.Sscanf(string(text), "%dx%d", &s.X, &s.Y); err != nil {
		return fmt.Errorf("size %q: %w", text, err)
	}
	return nil
}

type tool struct {
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Parameters  string            `json:"parameters"` // the schema, as text
	Effect      worldmodel.Effect `json:"effect"`
}

type demonstration struct {
	Task  string   `json:"task"`
	Steps []string `json:"steps"`
}
