package run

import (
	"image"
	"strings"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/monitor"
	"desktop-agent/planner"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
	"desktop-agent/worldmodel"
)

// An Event is one line of the journal, whose form on disk package eventjson
// defines. Data is one of the types below, by value; its Kind is the type's name in
// snake case.
type Event struct {
	Seq      int // 1 for the first event of a run, without gaps
	Time     time.Time
	Step     int    // the step of the loop, from 1; 0 before the first
	Agent    string // who acts; "" in older journals
	Display  string // the display on which it acts; "" where there is none
	PlanStep int    // of a plan with an episode for each step, from 1; 0 where there is none
	Kind     string
	Data     EventData
}

// EventData is what an event tells.
type EventData interface{ kind() string }

// Kind names the type of an event.
func Kind(data EventData) string { return data.kind() }

// The events of a run, in the order in which a step emits them.
type (
	// RunStarted is the first event.
	RunStarted struct {
		Schema   int // of the journal: [Schema]
		Task     string
		Planning string            // "suggestive", "deliberate" or "off"
		Guard    string            // which guard is active; "none" where none is
		Parser   string            // how the actor writes actions: "code" or "tools"; "" where no model does
		Models   map[string]string // by role
		Settings Settings          // all that changes behaviour, without secrets
		Replay   *Replay           // nil if the run is no replay
		Given    bool              // the plan was there before, and is not made in the run
	}

	// Observed is a look at the desktop. The frame itself is stored beside the
	// journal under its ID.
	Observed struct {
		FrameID  string
		At       time.Time
		Mapping  screen.Mapping
		Frame    image.Point // size of the screen in device pixels
		Cursor   image.Point
		Monitors []screen.Monitor
		Windows  []screen.Window
		Targets  []atspi.Node // the accessibility tree
		Hung     []atspi.Program
		TreeErr  string
		Unread   bool   // not all text of the picture was read
		Screen   string // equal for frames that look the same, but for the pointer and a caret; see [monitor.Screens]
		Covered  *Covered
		Settled  screen.Settled
		Timing   screen.Timing
	}

	// ModelCalled is one call of a model.
	ModelCalled struct {
		Role     llm.Role
		Purpose  string
		Prompt   string // hash of the template
		Model    string
		Shared   int       // so many messages are those that the call before of the same agent, role and purpose began with
		Messages []Message // the others
		Tools    []string
		Schema   string
		Response *llm.Response
		Error    string
		Millis   int64
		Attempts int
		Usage    llm.Usage // of all attempts; an estimate where the endpoint does not count
		Dollars  float64
	}

	// Planned is a new or revised plan, or a failure to make one.
	Planned struct {
		Plan  *planner.Plan // nil if it failed
		Error string
		Step  string // whose plan it is, as in [StepStarted]; "" for that of the run
	}

	// Planning is what the making of a deliberate plan is at.
	Planning struct {
		Phase int       // 1 analysis, 2 review, 3 steps
		Label string    // at the begin of a phase, for a person; "" after it
		Sub   bool      // for a step that gets a plan of its own
		Usage llm.Usage // of the phase, after it
	}

	// PlanMade is how the making of a deliberate plan went. Of plans within a plan there
	// is none.
	PlanMade struct {
		At     time.Time // UTC; when it began
		Result planner.Made
		Phases []planner.PhaseRecord // those that were gone through
		Notes  []string              // what was odd, and was let be
	}

	// PlanApproved is the answer to the question whether a plan may be executed.
	PlanApproved struct {
		Approved bool
		Edited   bool   // it is another one than was shown; the next event has it
		Reason   string // of a no
		By       string // who gave it: a person's name, or [planner.ByPolicy]; "" if that is not known
	}

	// StepStarted is the beginning of an attempt at a step of a deliberate plan.
	StepStarted struct {
		Step     string // its ID, after those of the steps whose plans it is in: "s2", "s2.s1"
		Goal     string
		Executor planner.Executor
		Action   string // the tool, or the profile of the agent
		Attempt  int    // from 1
		Fallback string // what is tried in place of what the step says; "" for nothing
	}

	// StepEnded is the end of a step with all its attempts.
	StepEnded struct {
		Step     string
		Status   planner.Status // completed or failed; pending if the run ended before
		Error    string
		Output   string // data, whoever wrote it
		Data     string // the same as JSON; "" if it is none
		Evidence *planner.Evidence
		Attempts int               // in this run, the fallback included
		Effect   worldmodel.Effect // the worst that was attempted; "" if nothing was
		Final    bool              // and that cannot be taken back
		By       string            // the agent that did it
		On       string            // its display; "" if it had none
		Millis   int64
		Exit     bool // a tool said that the task as a whole is done
	}

	// Reflected is what a model says after a step of the rest of the plan.
	Reflected struct {
		Step     string
		Verdict  Reflection
		Reason   string
		Guidance string // what should change
		Answer   string // to the user, where the task is said to be reached
		Error    string // why nothing was said, which means that the plan goes on
	}

	// Assessed is what the world model saw, and what the code made of it.
	Assessed struct {
		FrameID    string
		Assessment *worldmodel.Assessment // nil if it failed
		Advanced   bool                   // a plan step was completed
		Why        string                 // why progress was or was not granted
		Plan       *planner.Plan          // as it stands after
		Error      string
	}

	// Progressed is that steps of the plan were completed because their predicates hold
	// on an observation. No model was asked.
	Progressed struct {
		FrameID string
		Why     []string      // for each step, in words
		Plan    *planner.Plan // as it stands after
	}

	// Filed is what was found in the home of a run when it was looked for: files that
	// somebody named, and those that changed since a time.
	Filed struct {
		Since time.Time
		List  []planner.File // the newest first
		Error string         // why it could not be looked
	}

	// Transcribed is what was read in a region of a frame, by who was not told what is
	// expected there.
	Transcribed struct {
		FrameID string
		Region  image.Rectangle // pixels of the image that the model saw
		Text    string
		By      string // "ocr" or "model"
		Same    bool   // the region looked the same when what is judged began
		Error   string
	}

	// Proposed is what the actor wants to do.
	Proposed struct {
		FrameID string // the frame that it saw
		Thought string
		Expect  string
		Actions []Recorded
		Error   string // why the reply was no action, as the actor reads it
		Params  []Param
		// Candidates is how many proposals it was chosen from, if they were several, and
		// Agreed how many of them were the same; Why is why it was this one.
		Candidates, Agreed int
		Why                string
	}

	// Grounded is where words were looked for by which the proposal before it names
	// something, and what was found.
	Grounded struct {
		FrameID string
		Words   string
		By      string      // "tree", or "model"; "" if nothing was found
		Model   string      // that was asked; "" for none
		Asked   int         // how often
		At      image.Point // pixel of the image that the actor saw
		Target  string      // what is there, in words; "" if no element is known
		Error   string      // why nothing is done there, as the actor reads it
	}

	// Reviewed is the verdict on a proposal.
	Reviewed struct {
		Verdict  Verdict
		Signals  []monitor.Signal
		Guidance string
		Reason   string
		Error    string // why there was no review, which stops nothing
		// Overridden says that the proposal is, once more, the one that Guidance objects
		// to: it is performed all the same.
		Overridden bool
	}

	// TaskJudged is what the guard makes of the task as a whole, before anything is
	// done: which effects the user asks for that cannot be taken back, and which stay
	// blocked until the one action that the task asks for.
	TaskJudged struct {
		Irreversible bool
		Effects      []worldmodel.Effect // blocked; with Irreversible and none of both, all are
		Tools        []string            // blocked
		Unknown      []string            // names that there are none of: they block nothing
		Role         llm.Role            // who was asked; "" if nobody was
		Reason       string
		Error        string // why it is not known, so that all is blocked
	}

	// Guarded is what the guard rules on an action, before its Acting or Refused. Where a person
	// chose another one, see [ChoseAnother], it tells of that one; older runs have the effect,
	// the target and the foresight of what was asked about.
	Guarded struct {
		Index     int // within the batch, from 0
		Allowed   bool
		Effect    worldmodel.Effect // "" if it is not known
		By        string            // what decided, such as "table", "foresight" or "policy deleting"
		Reason    string
		Target    string                // what it is about, in words
		Times     int                   // how often the same was refused, this time included; 0 if it is allowed
		Foresight *worldmodel.Foresight // nil if nobody was asked
	}

	// Acting is written before an action is performed. When it cannot be
	// written, nothing is performed.
	Acting struct {
		Index  int // within the batch, from 0
		Action Recorded
		Device []image.Point // its points in device pixels
		Exempt Exemption     // why no guard was asked; "" if one was, or there is none
	}

	// Refused is an action that the guard did not allow, in place of its Acting:
	// nothing was sent.
	Refused struct {
		Index  int // within the batch, from 0
		Action Recorded
		Device []image.Point // its points in device pixels
		Guard  string        // its name
		Reason string        // as whoever proposed the action reads it
	}

	// Acted is the result of the action with the same step and index.
	Acted struct {
		Index  int
		Status actuator.Status
		Detail string // what the actor reads of it
		Output string // the clipboard, after Copy
		Millis int64
	}

	// Checked is what came of the safety checks that a provider raised on a call of its
	// model, before anything of that call is done.
	Checked struct {
		Call     string // the ID of the call
		Checks   []llm.Check
		Accepted bool   // exactly these, by a person or a policy
		By       string // who accepted them; "" for nobody
		Reason   string // why they were not accepted
	}

	// BatchStopped says why the rest of a batch was not performed.
	BatchStopped struct {
		Reason  string
		Refused bool // the next action aims at what cannot be acted on; else the desktop is not as it was seen
	}

	// Answered is what the user answered to an [actuator.Ask].
	Answered struct {
		Question string
		Answer   string
	}

	// Noted is a fact that the actor keeps in mind from then on.
	Noted struct {
		Text    string
		Dropped []string // the notes that went to make room, oldest first
	}

	// Located tells how a replay found again what an action is for.
	Located struct {
		Index  int         // of the action within the batch, from 0
		How    string      // "tree", "patch", "scaled_patch", "place" or "model"
		Target string      // in words
		Was    image.Point // device pixels of the recorded frame
		Now    image.Point // device pixels of the live one
		Score  float64     // how alike they are, from 0 to 1
	}

	// Diverged says that the desktop is not what a recorded step needs, or
	// not what it led to.
	Diverged struct {
		Of       int    // step of the recorded run
		Frame    string // of the recorded run: what was expected
		Expected string // in words
		Found    string
		Healing  bool // a model is asked for this step
	}

	// GoalChecked is the answer to a claim that the task is done, or that it cannot be.
	GoalChecked struct {
		FrameID  string
		Accepted bool
		Evidence string
		Missing  string        // what the actor reads when it is not accepted
		Grade    planner.Grade // how well it is known, if it is accepted
		Source   string        // where the evidence stands
		Why      string        // what is known of it, in words
		Cannot   bool          // the claim was that the task cannot be done
	}

	// Resumed says that the run goes on here: the program that did it had ended before.
	Resumed struct {
		From    int       // the number of the last event before
		Cut     int64     // bytes of an unfinished event that were left out
		Doubt   []Doubted // what was begun, and of which nobody knows what came of it
		Desktop Return
		Limits  Limits // that hold from here on
		// Back are the steps of a deliberate plan that wait again, as in [StepStarted]: they
		// were being done, or were done on a desktop that is gone.
		Back []string
	}

	// RunEnded is the last event.
	RunEnded struct {
		Outcome Outcome
		Grade   planner.Grade // how well it is known that the task is done; "" if it is not, or nobody looked
		Answer  string
		Error   string
		Steps   int
		Usage   llm.Usage
		Calls   int
		Dollars float64
		Millis  int64
		// Overridden is how many objections to what was done were overridden.
		Overridden int
	}
)

func (RunStarted) kind() string   { return "run_started" }
func (Observed) kind() string     { return "observed" }
func (ModelCalled) kind() string  { return "model_called" }
func (Planned) kind() string      { return "planned" }
func (Planning) kind() string     { return "planning" }
func (PlanMade) kind() string     { return "plan_made" }
func (PlanApproved) kind() string { return "plan_approved" }
func (StepStarted) kind() string  { return "step_started" }
func (StepEnded) kind() string    { return "step_ended" }
func (Reflected) kind() string    { return "reflected" }
func (Assessed) kind() string     { return "assessed" }
func (Progressed) kind() string   { return "progressed" }
func (Filed) kind() string        { return "filed" }
func (Transcribed) kind() string  { return "transcribed" }
func (Proposed) kind() string     { return "proposed" }
func (Grounded) kind() string     { return "grounded" }
func (Reviewed) kind() string     { return "reviewed" }
func (Acting) kind() string       { return "acting" }
func (Refused) kind() string      { return "refused" }
func (Checked) kind() string      { return "checked" }
func (TaskJudged) kind() string   { return "task_judged" }
func (Guarded) kind() string      { return "guarded" }
func (Acted) kind() string        { return "acted" }
func (BatchStopped) kind() string { return "batch_stopped" }
func (Answered) kind() string     { return "answered" }
func (Noted) kind() string        { return "noted" }
func (Located) kind() string      { return "located" }
func (Diverged) kind() string     { return "diverged" }
func (GoalChecked) kind() string  { return "goal_checked" }
func (Resumed) kind() string      { return "resumed" }
func (RunEnded) kind() string     { return "run_ended" }

// Spent is what the call used, without its time.
func (c ModelCalled) Spent() llm.Spent {
	return llm.Spent{Usage: c.Usage, Calls: 1, Dollars: c.Dollars}
}

// A Message is a message of a model call as the journal keeps it: pictures by
// the ID of their frame.
type Message struct {
	From   llm.Speaker
	Text   string
	Images []string // frame IDs
	Calls  []llm.ToolCall
	CallID string

	Accepted []string // see [llm.Message]; its State is that of the response that it repeats
	Failed   bool
}

// Recorded is an action that the journal tells of.
type Recorded struct{ actuator.Action }

// A Replay says which run is done again, and how.
type Replay struct {
	Run string // its ID
	How string // "model": its replies on a live desktop; "macro": its actions, without a model
}

// Covered is what the pointer hides on a frame.
type Covered struct {
	At  image.Point // top left corner, in device pixels
	PNG []byte      // the pixels, encoded
}

// A Param marks the text of an action as one that a replay may be given anew.
type Param struct {
	Index  int // of the action in the proposal
	Name   string
	Secret bool // it was typed into a password field: the action holds another text in its place, and it must be given
}

// A Reflection is what is said of the rest of a plan once a step has ended.
type Reflection string

// The reflections.
const (
	ReflectContinue    Reflection = "continue"     // it fits
	ReflectRefine      Reflection = "refine"       // what is open is to change
	ReflectExpand      Reflection = "expand"       // something is missing
	ReflectComplete    Reflection = "complete"     // the task is reached already
	ReflectRefinedDone Reflection = "refined_done" // what is open is wrong, and the task reached without it
)

// Values lists them, for the schema of replies.
func (Reflection) Values() []string {
	return []string{string(ReflectContinue), string(ReflectRefine), string(ReflectExpand), string(ReflectComplete), string(ReflectRefinedDone)}
}

// Doubted is an action that was begun when the program ended.
type Doubted struct {
	Step   int
	Index  int // within the batch, from 0
	Action Recorded
}

// Limits are the settings with which a run may be gone on with that are not those it began
// with.
type Limits struct {
	BaseURL    string // of the endpoint, as in [ModelSettings]
	MaxSteps   int    // turns of the actor
	MaxTokens  int    // of all calls together; 0 for no limit
	MaxDollars float64
	MaxTime    time.Duration
}

// A Return is to which desktop a run that is resumed comes back.
type Return string

// The desktops to come back to.
const (
	SameDesktop  Return = "same"      // that of the user, or a private one that was kept
	FreshDesktop Return = "fresh"     // a new private one: nothing is open that was
	FreshKept    Return = "kept_home" // a new private one with the home of the one before
)

// A Verdict is what becomes of a proposal.
type Verdict string

// The verdicts.
const (
	Go         Verdict = "go"
	Regenerate Verdict = "regenerate"
	Replan     Verdict = "replan"
)

// An Outcome is how a run ended.
type Outcome string

// Words says it for a person, with how well a run that is done is known to be.
func (o Outcome) Words(g planner.Grade) string {
	text := strings.ReplaceAll(string(o), "_", " ")
	if g != "" {
		text += " (" + string(g) + ")"
	}
	return text
}

// The outcomes. All but Failed are results, not errors.
const (
	OutcomeDone        Outcome = "done"
	OutcomeInfeasible  Outcome = "infeasible"
	OutcomeOutOfSteps  Outcome = "out_of_steps"
	OutcomeOutOfBudget Outcome = "out_of_budget"
	OutcomeBlocked     Outcome = "blocked"
	OutcomeStuck       Outcome = "stuck"   // nothing that was tried had an effect, or objections did not help
	OutcomeStopped     Outcome = "stopped" // by the user
	OutcomeFailed      Outcome = "error"
)
