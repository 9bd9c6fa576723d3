package run

import (
	"cmp"
	"image"
	"time"

	"desktop-agent/actuator/dialect"
	"desktop-agent/llm"
	"desktop-agent/monitor"
	"desktop-agent/planner"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
	"desktop-agent/screen/ocr"
	"desktop-agent/worldmodel"
)

// Settings are all that changes what a run does, without secrets. The first event
// carries them, and a replay reads them there. What is zero means the default of
// the package that uses it, unless it is said otherwise.
type Settings struct {
	Display DisplaySettings
	Agent   AgentSettings
	Models  ModelSettings
	// Plan says how deliberate plans are made, approved and revised; how often one is
	// revised is in Agent.
	Plan planner.Config
	// Macro says how a macro is played; of other runs it is zero.
	Macro MacroSettings
	// Like shows the actor how a task like this one was done; nil for nothing.
	Like *Demonstration
	// Tools are what actions may call beside mouse and keyboard, as the actor was told of
	// them. Those of a live session are [Options.Tools].
	Tools []Tool
	// ToolLimits bound each call of one.
	ToolLimits ToolLimits
	// TextUnseen is of a recording of a person: text was recorded also in programs
	// that do not tell which field has the focus.
	TextUnseen bool
}

// DisplaySettings say which desktop a run works on, and how it is looked at.
type DisplaySettings struct {
	Private bool   // on a desktop of its own that nobody sees
	Name    string // of the X display, such as ":0"; "" of a private one, which gets a name when it starts

	// Of a private desktop:
	Open string // the program that is opened, with its arguments; one with a space in it is quoted
	Home string // a folder whose content the desktop's home begins with
	// KeepHome is the folder that is the desktop's home and stays; "" for one that goes.
	KeepHome string
	// KeepFor is how long the desktop outlives a program that was killed; 0: not at all.
	KeepFor time.Duration
	// MachineDevices has programs have the machine's devices, see [sandbox.Options].
	MachineDevices bool
	Size           image.Point // in device pixels
	DPI            int         // pixels per inch

	// Of a display that a person may sit at:
	StopKeys   string        // the hotkey that stops the agent, such as "ctrl+alt+esc"; "" for none
	StopCorner bool          // the pointer, thrown into a corner by a person, stops it
	Takeover   time.Duration // how long a person must have rested before the agent acts again; 0: they share the display

	Monitor     int           // the one that the model sees, from 1; 0 for all
	MaxImage    int           // longest side of the image for the model, in its pixels; 0 for that of its dialect, or [screen.DefaultMaxSide]
	Quiet       time.Duration // how long nothing may be drawn before the screen counts as still
	Ceiling     time.Duration // how long to wait for that at most
	TreeSilence time.Duration // a program that tells nothing of its accessibility tree for so long hangs
	TreeLimit   time.Duration // the most that the tree of one program may take
	TreeNodes   int           // the most that is read of one program
	OCR         string        // languages in which text is read from the picture where no program tells it, as tesseract names them, joined by "+"; "" for none
}

// Disposable returns the settings of a private desktop like this one that goes with who
// opened it, and nothing of it stays.
func (d DisplaySettings) Disposable() DisplaySettings {
	if !d.Private { // what is said of the user's display says nothing of one of our own
		defaults := Defaults().Display
		d.Size, d.DPI, d.Monitor = defaults.Size, defaults.DPI, 0
	}
	d.Private, d.Name, d.KeepHome, d.KeepFor = true, "", "", 0
	return d
}

// AgentSettings say how the agent works.
type AgentSettings struct {
	Planning string // "suggestive", "deliberate" or "off"
	Assess   string // what the world model is asked of each batch: "auto", if there is a plan of which it could complete a step; or "always"
	Format   string // how the actor writes actions: "code", "tools", the name of a dialect, or "computer/" and that of a provider's tool; "auto" until a session is open; "" where no model decides

	MaxSteps      int // turns of the actor
	MaxBadReplies int // replies in a row that are no action
	MaxRefusals   int // claims to be done that the screen does not confirm
	MaxDoubts     int // claims that the task cannot be done, and that are looked at before one stands; 0 for none
	MaxRevisions  int // of one plan; negative for none
	ReviewEvery   int // steps between two reviews by the monitor; 0 for only when a detector fires
	PlanTries     int // to make the suggestive plan of a run: an attempt that failed is tried again so often in all

	// ReadAlike is how much of a quote a second look at the picture must show for it to be
	// read there, from 0 to 1; 0 for [worldmodel.DefaultAlike].
	ReadAlike float64

	ScreenTokens  int // budget of the screen as text, in each prompt
	KeepImages    int // screenshots that stay in the actor's conversation, with their turns
	PruneInterval int // so many are dropped from it at a time: lines of a record stand for their turns; 0 for what suits the form

	Detectors  monitor.Limits
	GuardLimit time.Duration // how long the guard may take to answer
	Guard      string        // "on" or "off"; "" for off, as in runs from before there was one
	Approve    string        // when a person is asked: "never", "risky" or "always"; "" for never
	OnBlock    string        // when the guard refuses the same MaxBlocked times: "wait", "ask" or "stop"; "" for ask
	Workspace  string        // "auto": what happens to files of a private desktop is free; "none": nothing is
	Policies   string        // a file of policies; "" for those of the program
	Rehearsals int           // on desktops that are discarded, of a task that asks for what cannot be taken back, before it is done; 0 for none

	JudgeLimit    time.Duration // how long the analysis of the task may take, before which nothing is done
	ApprovalLimit time.Duration // how long a person has to say whether an action may be done
	RiskLimit     float64       // severity times probability, from 0 to 1, from which what can be undone is refused unless the task asks for it
	CarefulEdits  int           // harmless edits that are foreseen after a foresight that did not come true
	MaxBlocked    int           // refusals of the same by the guard, from which OnBlock holds

	Candidates int // proposals that are asked of the actor at a time, of which one is done; 0 for 1

	Execution ExecutionSettings // of deliberate plans
}

// ExecutionSettings say how the steps of a deliberate plan are done.
type ExecutionSettings struct {
	Mode              string        // "sequential", "parallel" or "adaptive"; sequential if ""
	MaxParallel       int           // steps at the same time
	StepTimeout       time.Duration // of one attempt at a step; it does not run while a person is asked
	AgentTimeout      time.Duration // the same of an agent of its own, or of a plan within the plan
	StepActions       int           // turns of the actor in one attempt at a step on the screen
	Retries           int           // further attempts at a step that failed, unless what was attempted cannot be taken back
	ContinueOnFailure bool          // a step that failed does not stop the plan, until too many have (see [planner.Config])
	Reflect           bool          // a model is asked after each step whether the rest of the plan fits

	AgentDepth int     // how deep agents may be in each other
	AgentTurns int     // questions to an agent without a display
	LowBudget  float64 // the part of a budget, from 0 to 1, at which the rest of a plan is asked to be written with less
}

// What becomes of a run whose actor wants again and again what the guard refuses.
const (
	OnBlockWait = "wait" // it goes on without
	OnBlockAsk  = "ask"  // the user is asked; where nobody is there it stops
	OnBlockStop = "stop"
)

// ModelSettings say which models are asked, and how much they may cost.
type ModelSettings struct {
	Boundary    string                    // what the delimiters of untrusted text come of, a secret of the run; "" in older runs, where they were always the same
	BaseURL     string                    // of the endpoint, without user, query and fragment
	Roles       map[llm.Role]llm.Settings // what holds for each role
	Ways        map[llm.Role]Way          // how the model of each role is asked; in older runs none: by Chat Completions at BaseURL
	Others      map[llm.Role][]Way        // the same of the models that take over, in their order
	Computer    string                    // whose words the tool for mouse and keyboard has that the actor's model is offered, such as "openai"; "" for none
	Grounder    string                    // the form in which a model is asked where something is that the actor names in words, such as "gta1"; "" for none
	GroundTries int                       // how often that model is asked for one place
	Retry       llm.Retry                 // how often a call is tried, and the waits in between
	Grows       bool                      // the actor's conversation only grows: its provider lets go what is old
	MaxTokens   int                       // of all calls together; 0 for no limit
	MaxDollars  float64                   // 0 for no limit
	MaxTime     time.Duration             // 0 for no limit
	Prices      llm.Prices                // dollars per million tokens
}

// MacroSettings say how long a macro looks for what its steps need, and how often a model
// is asked for one.
type MacroSettings struct {
	Patience      time.Duration // how long to look for what a step needs, and then for what it leads to
	MaxChecks     int           // right before input, while windows come and go: then the step diverges
	MaxHeals      int           // of one step
	MaxBadReplies int           // of the model that heals, in a row

	Pictures PictureSettings
}

// PictureSettings say how alike a recorded picture and a place on the screen must be, as
// normalised cross-correlation from 0 to 1, for the place to be what was recorded.
type PictureSettings struct {
	Score        float64 // of the place
	Margin       float64 // by which every other place is less alike
	ScaledScore  float64 // the same of a picture in another size
	ScaledMargin float64
	PartScore    float64       // of each part of a picture in another size: one letter more or less changes little of the whole
	Limit        time.Duration // how long one is looked for in one frame
}

// WithDefaults returns the settings with what is zero filled in.
func (m MacroSettings) WithDefaults() MacroSettings {
	m.Patience, m.MaxChecks, m.MaxHeals, m.MaxBadReplies = cmp.Or(m.Patience, 10*time.Second), cmp.Or(m.MaxChecks, 10), cmp.Or(m.MaxHeals, 3), cmp.Or(m.MaxBadReplies, 3)
	m.Pictures = m.Pictures.WithDefaults()
	return m
}

// WithDefaults returns the settings with what is zero filled in. A button's picture on a
// window of 1080p takes tens of milliseconds to find; a large one in all sizes takes seconds.
func (p PictureSettings) WithDefaults() PictureSettings {
	return PictureSettings{
		Score: cmp.Or(p.Score, 0.95), Margin: cmp.Or(p.Margin, 0.05), ScaledScore: cmp.Or(p.ScaledScore, 0.9), ScaledMargin: cmp.Or(p.ScaledMargin, 0.08),
		PartScore: cmp.Or(p.PartScore, 0.88), Limit: cmp.Or(p.Limit, 5*time.Second),
	}
}

// ToolLimits bound a call of a tool.
type ToolLimits struct {
	Time time.Duration // while nobody is asked ([Asking]); 0 for [DefaultToolTime]
	Text int           // bytes of what it answers, of which else the middle is left out; 0 for [DefaultToolText]
}

// WithDefaults returns the limits with what is zero, or less, filled in.
func (l ToolLimits) WithDefaults() ToolLimits {
	if l.Time <= 0 {
		l.Time = DefaultToolTime
	}
	if l.Text <= 0 {
		l.Text = DefaultToolText
	}
	return l
}

// A Way is how a model is asked.
type Way struct {
	API     string // such as "chat" or "responses"
	BaseURL string // without user, query and fragment
	Stored  bool   // the provider keeps the conversation, and is sent what is new
}

// A Demonstration is how a person, or another run, did a task like this one. It is
// advice, and a record of what a screen showed.
type Demonstration struct {
	Task  string
	Steps []string // in words, first to last
}

// Models names the model of each role.
func (m ModelSettings) Models() map[string]string {
	names := map[string]string{}
	for role, s := range m.Roles {
		names[string(role)] = s.Model
	}
	return names
}

// What holds where the settings of a run are zero, as in runs from before there were these.
const (
	DefaultMaxSteps      = 50
	DefaultMaxBadReplies = 4
	DefaultMaxRefusals   = 3
	DefaultStepTimeout   = time.Minute
	DefaultAgentTimeout  = 10 * time.Minute
	DefaultStepActions   = 15
	DefaultMaxParallel   = 3
	DefaultPlanTries     = 3
	DefaultGroundTries   = 2
	DefaultJudgeLimit    = time.Minute
	DefaultApprovalLimit = 5 * time.Minute
	DefaultRiskLimit     = 0.5
	DefaultCarefulEdits  = 5
	DefaultMaxBlocked    = 3 // once, and after two more tries
	DefaultAgentDepth    = 2
	DefaultAgentTurns    = 20
	DefaultToolTime      = time.Minute
	DefaultToolText      = 20_000 // about what a model reads in a turn
	// DefaultPlanBudget is more than the part at which the loop's detector speaks: the
	// revision itself has to be paid.
	DefaultPlanBudget = 0.2
)

// Defaults returns the settings that hold where nothing else is said.
func Defaults() Settings {
	return Settings{
		Display: DisplaySettings{
			Size: image.Pt(1280, 800), DPI: 96, Quiet: screen.DefaultQuiet, Ceiling: screen.DefaultCeiling,
			TreeSilence: atspi.DefaultSilence, TreeLimit: atspi.DefaultAppTimeout, TreeNodes: atspi.DefaultMaxNodes, OCR: ocr.DefaultLanguages,
			StopKeys: "ctrl+alt+esc", StopCorner: true, Takeover: 3 * time.Second,
		},
		Agent: AgentSettings{
			Planning: "suggestive", Assess: "auto", Format: dialect.Auto, MaxSteps: DefaultMaxSteps, MaxBadReplies: DefaultMaxBadReplies, MaxRefusals: DefaultMaxRefusals, MaxDoubts: 1, MaxRevisions: planner.DefaultMaxRevisions,
			ReviewEvery: 10, PlanTries: DefaultPlanTries, ReadAlike: worldmodel.DefaultAlike, ScreenTokens: screen.DefaultTextBudget, KeepImages: 3,
			Detectors: monitor.DefaultLimits, GuardLimit: DefaultGuardLimit,
			Guard: "on", Approve: "risky", OnBlock: OnBlockAsk, Workspace: "auto", Candidates: 1,
			JudgeLimit: DefaultJudgeLimit, ApprovalLimit: DefaultApprovalLimit, RiskLimit: DefaultRiskLimit, CarefulEdits: DefaultCarefulEdits, MaxBlocked: DefaultMaxBlocked,
			Execution: ExecutionSettings{
				Mode: "sequential", MaxParallel: DefaultMaxParallel, StepTimeout: DefaultStepTimeout, AgentTimeout: DefaultAgentTimeout, StepActions: DefaultStepActions, Retries: 1,
				Reflect: true, AgentDepth: DefaultAgentDepth, AgentTurns: DefaultAgentTurns, LowBudget: DefaultPlanBudget,
			},
		},
		Models: ModelSettings{MaxTime: time.Hour, GroundTries: DefaultGroundTries, Retry: llm.DefaultRetry},
		Macro:  MacroSettings{}.WithDefaults(),

		ToolLimits: ToolLimits{}.WithDefaults(),
	}
}

// Limits returns those of the settings with which a run may be gone on with.
func (s Settings) Limits() Limits {
	m := s.Models
	return Limits{BaseURL: m.BaseURL, MaxSteps: s.Agent.MaxSteps, MaxTokens: m.MaxTokens, MaxDollars: m.MaxDollars, MaxTime: m.MaxTime}
}

// Within returns the settings with other limits.
func (s Settings) Within(l Limits) Settings {
	s.Agent.MaxSteps = l.MaxSteps
	s.Models.BaseURL, s.Models.MaxTokens, s.Models.MaxDollars, s.Models.MaxTime = l.BaseURL, l.MaxTokens, l.MaxDollars, l.MaxTime
	return s
}
