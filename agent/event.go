package agent

import (
	"encoding/json"
	"image"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/monitor"
	"desktop-agent/planner"
	"desktop-agent/screen"
	"desktop-agent/worldmodel"
)

// An Event is one line of the journal. Data is one of the types below, by value;
// its Kind is the type's name in snake case.
type Event struct {
	Seq  int       `json:"seq"` // 1 for the first event of a run, without gaps
	Time time.Time `json:"time"`
	Step int       `json:"step"` // the step of the loop, from 1; 0 before the first
	Kind string    `json:"kind"`
	Data EventData `json:"data"`
}

// EventData is what an event tells.
type EventData interface{ kind() string }

// The events of a run, in the order in which a step emits them.
type (
	// RunStarted is the first event.
	RunStarted struct {
		Schema   int               `json:"schema"` // of the journal: 1
		Task     string            `json:"task"`
		Planning string            `json:"planning"` // "suggestive" or "off"
		Guard    string            `json:"guard"`    // which guard is active; "none" where none is
		Parser   string            `json:"parser"`   // how the actor writes actions: "code" or "tools"
		Models   map[string]string `json:"models"`   // by role
		Settings map[string]any    `json:"settings"` // the other settings, without secrets
	}

	// Observed is a look at the desktop. The frame itself is stored beside the
	// journal under its ID.
	Observed struct {
		FrameID  string           `json:"frame_id"`
		At       time.Time        `json:"at"`
		Mapping  screen.Mapping   `json:"mapping"`
		Frame    image.Point      `json:"frame"` // size of the screen in device pixels
		Cursor   image.Point      `json:"cursor"`
		Monitors []screen.Monitor `json:"monitors"`
		Windows  []screen.Window  `json:"windows"`
		Text     string           `json:"text"` // the linearised tree, as the model sees it
		Targets  []Target         `json:"targets"`
		Hung     []string         `json:"hung"`
		TreeErr  string           `json:"tree_error"`
		Settled  screen.Settled   `json:"settled"`
		Timing   screen.Timing    `json:"timing"`
	}

	// ModelCalled is one call of a model.
	ModelCalled struct {
		Role     llm.Role      `json:"role"`
		Purpose  string        `json:"purpose"`
		Prompt   string        `json:"prompt"` // hash of the template
		Model    string        `json:"model"`
		Messages []Message     `json:"messages"`
		Tools    []string      `json:"tools"`
		Schema   string        `json:"schema"`
		Response *llm.Response `json:"response"`
		Error    string        `json:"error"`
		Millis   int64         `json:"millis"`
		Attempts int           `json:"attempts"`
		Usage    llm.Usage     `json:"usage"` // of all attempts; an estimate where the endpoint does not count
		Dollars  float64       `json:"dollars"`
	}

	// Planned is a new or revised plan, or a failure to make one.
	Planned struct {
		Plan  *planner.Plan `json:"plan"` // nil if it failed
		Error string        `json:"error"`
	}

	// Assessed is what the world model saw, and what the code made of it.
	Assessed struct {
		FrameID    string                 `json:"frame_id"`
		Assessment *worldmodel.Assessment `json:"assessment"` // nil if it failed
		Advanced   bool                   `json:"advanced"`   // a plan step was completed
		Why        string                 `json:"why"`        // why progress was or was not granted
		Plan       *planner.Plan          `json:"plan"`       // as it stands after
		Error      string                 `json:"error"`
	}

	// Proposed is what the actor wants to do.
	Proposed struct {
		FrameID string     `json:"frame_id"` // the frame that it saw
		Thought string     `json:"thought"`
		Expect  string     `json:"expect"`
		Actions []Recorded `json:"actions"`
		Error   string     `json:"error"` // why the reply was no action, as the actor reads it
	}

	// Reviewed is the verdict on a proposal.
	Reviewed struct {
		Verdict  Verdict          `json:"verdict"`
		Signals  []monitor.Signal `json:"signals"`
		Guidance string           `json:"guidance"`
		Reason   string           `json:"reason"`
		Error    string           `json:"error"` // why there was no review, which stops nothing
	}

	// Acting is written before an action is performed. When it cannot be
	// written, nothing is performed.
	Acting struct {
		Index  int           `json:"index"` // within the batch, from 0
		Action Recorded      `json:"action"`
		Device []image.Point `json:"device"` // its points in device pixels
	}

	// Acted is the result of the action with the same step and index.
	Acted struct {
		Index  int             `json:"index"`
		Status actuator.Status `json:"status"`
		Detail string          `json:"detail"` // what the actor reads of it
		Output string          `json:"output"` // the clipboard, after Copy
		Millis int64           `json:"millis"`
	}

	// BatchStopped says why the rest of a batch was not performed.
	BatchStopped struct {
		Reason string `json:"reason"`
	}

	// GoalChecked is the answer to a claim that the task is done.
	GoalChecked struct {
		FrameID  string `json:"frame_id"`
		Accepted bool   `json:"accepted"`
		Evidence string `json:"evidence"`
		Missing  string `json:"missing"` // what the actor reads when it is not accepted
	}

	// RunEnded is the last event.
	RunEnded struct {
		Outcome Outcome   `json:"outcome"`
		Answer  string    `json:"answer"`
		Error   string    `json:"error"`
		Steps   int       `json:"steps"`
		Usage   llm.Usage `json:"usage"`
		Calls   int       `json:"calls"`
		Dollars float64   `json:"dollars"`
		Millis  int64     `json:"millis"`
	}
)

func (RunStarted) kind() string   { return "run_started" }
func (Observed) kind() string     { return "observed" }
func (ModelCalled) kind() string  { return "model_called" }
func (Planned) kind() string      { return "planned" }
func (Assessed) kind() string     { return "assessed" }
func (Proposed) kind() string     { return "proposed" }
func (Reviewed) kind() string     { return "reviewed" }
func (Acting) kind() string       { return "acting" }
func (Acted) kind() string        { return "acted" }
func (BatchStopped) kind() string { return "batch_stopped" }
func (GoalChecked) kind() string  { return "goal_checked" }
func (RunEnded) kind() string     { return "run_ended" }

// A Message is a message of a model call as the journal keeps it: pictures by
// the ID of their frame.
type Message struct {
	From   llm.Speaker    `json:"from"`
	Text   string         `json:"text"`
	Images []string       `json:"images"` // frame IDs
	Calls  []llm.ToolCall `json:"calls"`
	CallID string         `json:"call_id"`
}

// Recorded is an action as JSON: {"action": "click", "at": …}.
type Recorded struct{ actuator.Action }

// A Target is a node of the accessibility tree that an action may mean.
type Target struct {
	ID     string          `json:"id"`
	PID    int             `json:"pid"`
	Parent int             `json:"parent"` // index in the list; -1 for a window
	Role   string          `json:"role"`
	Name   string          `json:"name"`
	Box    image.Rectangle `json:"box"` // device pixels
}

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

// The outcomes. All but Failed are results, not errors.
const (
	OutcomeDone        Outcome = "done"
	OutcomeInfeasible  Outcome = "infeasible"
	OutcomeOutOfSteps  Outcome = "out_of_steps"
	OutcomeOutOfBudget Outcome = "out_of_budget"
	OutcomeBlocked     Outcome = "blocked"
	OutcomeStopped     Outcome = "stopped" // by the user
	OutcomeFailed      Outcome = "error"
)

var _ json.Marshaler = Recorded{}

// MarshalJSON writes the action with its name.
func (r Recorded) MarshalJSON() ([]byte, error) { return actuator.Marshal(r.Action) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Recorded) UnmarshalJSON(data []byte) (err error) {
	r.Action, err = actuator.Unmarshal(data)
	return err
}
