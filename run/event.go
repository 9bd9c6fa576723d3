package run

import (
	"encoding/json"
	"image"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/monitor"
	"desktop-agent/planner"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
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

// Kind names the type of an event.
func Kind(data EventData) string { return data.kind() }

// The events of a run, in the order in which a step emits them.
type (
	// RunStarted is the first event.
	RunStarted struct {
		Schema   int               `json:"schema"` // of the journal: [Schema]
		Task     string            `json:"task"`
		Planning string            `json:"planning"`         // "suggestive" or "off"
		Guard    string            `json:"guard"`            // which guard is active; "none" where none is
		Parser   string            `json:"parser"`           // how the actor writes actions: "code" or "tools"; "" where no model does
		Models   map[string]string `json:"models"`           // by role
		Settings map[string]any    `json:"settings"`         // the other settings, without secrets
		Replay   *Replay           `json:"replay,omitempty"` // nil if the run is no replay
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
		Targets  []atspi.Node     `json:"targets"` // the accessibility tree
		Hung     []string         `json:"hung"`
		TreeErr  string           `json:"tree_error"`
		Screen   string           `json:"screen"` // equal for frames that look the same, but for the pointer and a caret; see [monitor.Screens]
		Covered  *Covered         `json:"covered,omitempty"`
		Settled  screen.Settled   `json:"settled"`
		Timing   screen.Timing    `json:"timing"`
	}

	// ModelCalled is one call of a model.
	ModelCalled struct {
		Role     llm.Role      `json:"role"`
		Purpose  string        `json:"purpose"`
		Prompt   string        `json:"prompt"` // hash of the template
		Model    string        `json:"model"`
		Shared   int           `json:"shared"`   // so many messages are those that the call before of the same role and purpose began with
		Messages []Message     `json:"messages"` // the others
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
		Params  []Param    `json:"params,omitempty"`
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

	// Answered is what the user answered to an [actuator.Ask].
	Answered struct {
		Question string `json:"question"`
		Answer   string `json:"answer"`
	}

	// Located tells how a replay found again what an action is for.
	Located struct {
		Index  int         `json:"index"`  // of the action within the batch, from 0
		How    string      `json:"how"`    // "tree", "patch", "scaled_patch", "place" or "model"
		Target string      `json:"target"` // in words
		Was    image.Point `json:"was"`    // device pixels of the recorded frame
		Now    image.Point `json:"now"`    // device pixels of the live one
		Score  float64     `json:"score"`  // how alike they are, from 0 to 1
	}

	// Diverged says that the desktop is not what a recorded step needs, or
	// not what it led to.
	Diverged struct {
		Of       int    `json:"of"`       // step of the recorded run
		Frame    string `json:"frame"`    // of the recorded run: what was expected
		Expected string `json:"expected"` // in words
		Found    string `json:"found"`
		Healing  bool   `json:"healing"` // a model is asked for this step
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
func (Answered) kind() string     { return "answered" }
func (Located) kind() string      { return "located" }
func (Diverged) kind() string     { return "diverged" }
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

// A Replay says which run is done again, and how.
type Replay struct {
	Run string `json:"run"` // its ID
	How string `json:"how"` // "model": its replies on a live desktop; "macro": its actions, without a model
}

// Covered is what the pointer hides on a frame.
type Covered struct {
	At  image.Point `json:"at"`  // top left corner, in device pixels
	PNG []byte      `json:"png"` // the pixels, encoded
}

// A Param marks the text of an action as one that a replay may be given anew.
type Param struct {
	Index  int    `json:"index"` // of the action in the proposal
	Name   string `json:"name"`
	Secret bool   `json:"secret"` // it was typed into a password field: the action holds another text in its place, and it must be given
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
