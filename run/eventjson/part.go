package eventjson

import (
	"errors"
	"fmt"
	"image"
	"time"

	json "github.com/go-json-experiment/json/v1"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	monitors "desktop-agent/monitor"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
	"desktop-agent/worldmodel"
)

// The parts of events, as they are on disk. Where a part holds no other part, its
// conversion does not compile unless it has every field of the type that it is the
// form of; the others are held by a test.

type action struct{ actuator.Action }

func actionForm(a run.Recorded) action { return action(a) }
func (f action) data() run.Recorded    { return run.Recorded(f) }

// MarshalJSON writes the action with its name.
func (f action) MarshalJSON() ([]byte, error) { return actuator.Marshal(f.Action) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (f *action) UnmarshalJSON(data []byte) (err error) {
	f.Action, err = actuator.Unmarshal(data)
	return err
}

type param struct {
	Index  int    `json:"index"`
	Name   string `json:"name"`
	Secret bool   `json:"secret"`
}

func paramForm(p run.Param) param { return param(p) }
func (f param) data() run.Param   { return run.Param(f) }

type covered struct {
	At  image.Point `json:"at"`
	PNG []byte      `json:"png"`
}

type mapping struct {
	Source image.Rectangle `json:"source"`
	Size   image.Point     `json:"size"`
}

func (f mapping) data() screen.Mapping { return screen.Mapping(f) }

type monitor struct {
	Name    string          `json:"name"`
	Box     image.Rectangle `json:"box"`
	Primary bool            `json:"primary"`
}

func monitorForm(m screen.Monitor) monitor { return monitor(m) }
func (f monitor) data() screen.Monitor     { return screen.Monitor(f) }

type window struct {
	ID      uint32          `json:"id"`
	Title   string          `json:"title"`
	Class   string          `json:"class"`
	Type    string          `json:"type"`
	PID     int             `json:"pid"`
	Box     image.Rectangle `json:"box"`
	Focused bool            `json:"focused"`
	Popup   bool            `json:"popup"`
	Hidden  bool            `json:"hidden"`
}

func windowForm(w screen.Window) window { return window(w) }
func (f window) data() screen.Window    { return screen.Window(f) }

type node struct {
	ID     string          `json:"id"`
	App    string          `json:"app"`
	PID    int             `json:"pid"`
	Parent int             `json:"parent"`
	Depth  int             `json:"depth"`
	Role   string          `json:"role"`
	Name   string          `json:"name"`
	Text   string          `json:"text"`
	States []string        `json:"states"`
	Box    image.Rectangle `json:"box"`

	Key       string            `json:"key,omitzero"`
	Label     string            `json:"label,omitzero"`
	LabelFrom atspi.LabelSource `json:"label_from,omitzero"`
	Help      string            `json:"help,omitzero"`
	Caret     int               `json:"caret,omitzero"`
	Start     int               `json:"start,omitzero"`
	Length    int               `json:"length,omitzero"`
	Line      int               `json:"line,omitzero"`
	Formula   string            `json:"formula,omitzero"`
	Beyond    beyond            `json:"beyond,omitzero"`
	Layer     int               `json:"layer,omitzero"`
	Settable  bool              `json:"settable,omitzero"`
	Read      bool              `json:"read,omitzero"`
}

func nodeForm(n atspi.Node) node {
	return node{
		ID: n.ID, App: n.App, PID: n.PID, Parent: n.Parent, Depth: n.Depth, Role: n.Role, Name: n.Name, Text: n.Text,
		States: n.States, Box: n.Box, Key: n.Key, Label: n.Label, LabelFrom: n.LabelFrom, Help: n.Help, Caret: n.Caret,
		Start: n.Start, Length: n.Length, Line: n.Line, Formula: n.Formula, Beyond: beyond(n.Beyond),
		Layer: n.Layer, Settable: n.Settable, Read: n.Read,
	}
}

func (f node) data() atspi.Node {
	return atspi.Node{
		ID: f.ID, App: f.App, PID: f.PID, Parent: f.Parent, Depth: f.Depth, Role: f.Role, Name: f.Name, Text: f.Text,
		States: f.States, Box: f.Box, Key: f.Key, Label: f.Label, LabelFrom: f.LabelFrom, Help: f.Help, Caret: f.Caret,
		Start: f.Start, Length: f.Length, Line: f.Line, Formula: f.Formula, Beyond: atspi.Beyond(f.Beyond),
		Layer: f.Layer, Settable: f.Settable, Read: f.Read,
	}
}

type beyond struct {
	Above int `json:"above,omitzero"`
	Below int `json:"below,omitzero"`
	Left  int `json:"left,omitzero"`
	Right int `json:"right,omitzero"`
}

type settled struct {
	Reason screen.SettleReason `json:"reason"`
	Waited time.Duration       `json:"waited"` // nanoseconds
	Busy   []string            `json:"busy"`
}

func (f settled) data() screen.Settled { return screen.Settled(f) }

// timing is in nanoseconds.
type timing struct {
	Settle  time.Duration `json:"settle"`
	Capture time.Duration `json:"capture"`
	Windows time.Duration `json:"windows"`
	Tree    time.Duration `json:"tree"`
	Encode  time.Duration `json:"encode"`
	OCR     time.Duration `json:"ocr,omitzero"`
	Total   time.Duration `json:"total"`
}

func (f timing) data() screen.Timing { return screen.Timing(f) }

type message struct {
	From   llm.Speaker `json:"from"`
	Text   string      `json:"text"`
	Images []string    `json:"images"`
	Calls  []toolCall  `json:"calls"`
	CallID string      `json:"call_id"`

	Accepted []string `json:"accepted,omitempty"`
	Failed   bool     `json:"failed,omitzero"`
}

func messageForm(m run.Message) message {
	return message{From: m.From, Text: m.Text, Images: m.Images, Calls: each(m.Calls, toolCallForm), CallID: m.CallID, Accepted: m.Accepted, Failed: m.Failed}
}

func (f message) data() run.Message {
	return run.Message{From: f.From, Text: f.Text, Images: f.Images, Calls: each(f.Calls, toolCall.data), CallID: f.CallID, Accepted: f.Accepted, Failed: f.Failed}
}

type toolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`

	Computer bool    `json:"computer,omitzero"`
	Checks   []check `json:"checks,omitempty"`
}

type check struct {
	ID      string `json:"id"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func checkForm(c llm.Check) check { return check(c) }
func (f check) data() llm.Check   { return llm.Check(f) }

func toolCallForm(c llm.ToolCall) toolCall {
	return toolCall{
		ID: c.ID, Name: c.Name, Arguments: c.Arguments, Computer: c.Computer,
		Checks: each(c.Checks, checkForm),
	}
}

func (f toolCall) data() llm.ToolCall {
	return llm.ToolCall{ID: f.ID, Name: f.Name, Arguments: f.Arguments, Computer: f.Computer, Checks: each(f.Checks, check.data)}
}

type response struct {
	Text   string     `json:"text"`
	Calls  []toolCall `json:"calls"`
	Model  string     `json:"model"`
	Finish string     `json:"finish"`
	Usage  usage      `json:"usage"`
	State  *state     `json:"state,omitempty"`
}

type state struct {
	API   string `json:"api"`
	Model string `json:"model"`
	Data  string `json:"data"`
}

func stateForm(s llm.State) state { return state(s) }
func (f state) data() llm.State   { return llm.State(f) }

func responseForm(r llm.Response) response {
	return response{Text: r.Text, Calls: each(r.Calls, toolCallForm), Model: r.Model, Finish: r.Finish, Usage: usage(r.Usage), State: maybe(r.State, stateForm)}
}

func (f response) data() llm.Response {
	return llm.Response{Text: f.Text, Calls: each(f.Calls, toolCall.data), Model: f.Model, Finish: f.Finish, Usage: llm.Usage(f.Usage), State: maybe(f.State, state.data)}
}

type usage struct {
	Input  int `json:"input"`
	Cached int `json:"cached"`
	Output int `json:"output"`

	Written int `json:"written,omitzero"`
}

type assessment struct {
	Changed      string             `json:"changed"`
	AsExpected   worldmodel.Outcome `json:"as_expected"`
	ProgressStep int                `json:"progress_step"`
	Evidence     string             `json:"evidence"`
	Guidance     *string            `json:"guidance"`
	Region       *region            `json:"region,omitempty"`
	Stop         *bool              `json:"stop,omitempty"`
}

func assessmentForm(a worldmodel.Assessment) assessment {
	return assessment{a.Changed, a.AsExpected, a.ProgressStep, a.Evidence, a.Guidance, (*region)(a.Region), a.Stop}
}

func (f assessment) data() worldmodel.Assessment {
	return worldmodel.Assessment{
		Changed: f.Changed, AsExpected: f.AsExpected, ProgressStep: f.ProgressStep, Evidence: f.Evidence,
		Guidance: f.Guidance, Region: (*worldmodel.Region)(f.Region), Stop: f.Stop,
	}
}

type region struct {
	X      int `json:"x"`
	Y      int `json:"y"`
	Width  int `json:"width"`
	Height int `json:"height"`
}

type file struct {
	Path     string    `json:"path"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
}

func fileForm(f planner.File) file { return file(f) }
func (f file) data() planner.File  { return planner.File(f) }

type signal struct {
	Kind   monitors.Kind `json:"kind"`
	Detail string        `json:"detail"`
	Count  int           `json:"count,omitempty"`
}

func signalForm(s monitors.Signal) signal { return signal(s) }
func (f signal) data() monitors.Signal    { return monitors.Signal(f) }

type plan struct {
	Version   int        `json:"version"`
	Task      string     `json:"task"`
	Steps     []step     `json:"steps"`
	Fallback  bool       `json:"fallback"`
	Revisions []revision `json:"revisions"`
	CreatedAt time.Time  `json:"created_at"`
	Dropped   []dropped  `json:"dropped,omitempty"`

	Mode        planner.Mode       `json:"mode,omitzero"`
	ID          string             `json:"id,omitzero"`
	Goal        string             `json:"goal,omitzero"`
	Success     string             `json:"success,omitzero"`
	Direct      string             `json:"direct,omitzero"`
	Complexity  planner.Complexity `json:"complexity,omitzero"`
	Constraints []string           `json:"constraints,omitempty"`
	Milestones  []string           `json:"milestones,omitempty"`
	Risks       []string           `json:"risks,omitempty"`
	Tokens      int                `json:"tokens,omitzero"`
	State       planner.PlanState  `json:"state,omitzero"`
	Reason      string             `json:"reason,omitzero"`
	StartedAt   time.Time          `json:"started_at,omitzero"`
	EndedAt     time.Time          `json:"ended_at,omitzero"`
}

func planForm(p planner.Plan) plan {
	return plan{
		Version: p.Version, Task: p.Task, Steps: each(p.Steps, stepForm), Fallback: p.Fallback,
		Revisions: each(p.Revisions, revisionForm), CreatedAt: p.CreatedAt, Dropped: each(p.Dropped, droppedForm),
		Mode: p.Mode, ID: p.ID, Goal: p.Goal, Success: p.Success, Direct: p.Direct, Complexity: p.Complexity,
		Constraints: p.Constraints, Milestones: p.Milestones, Risks: p.Risks, Tokens: p.Tokens,
		State: p.State, Reason: p.Reason, StartedAt: p.StartedAt, EndedAt: p.EndedAt,
	}
}

func (f plan) data() planner.Plan {
	return planner.Plan{
		Version: planner.Version, // one of version 1 says all that it has in the same words
		Task:    f.Task, Steps: each(f.Steps, step.data), Fallback: f.Fallback,
		Revisions: each(f.Revisions, revision.data), CreatedAt: f.CreatedAt, Dropped: each(f.Dropped, dropped.data),
		Mode: f.Mode, ID: f.ID, Goal: f.Goal, Success: f.Success, Direct: f.Direct, Complexity: f.Complexity,
		Constraints: f.Constraints, Milestones: f.Milestones, Risks: f.Risks, Tokens: f.Tokens,
		State: f.State, Reason: f.Reason, StartedAt: f.StartedAt, EndedAt: f.EndedAt,
	}
}

// UnmarshalJSON refuses a plan of another version, before it looks at its keys.
func (f *plan) UnmarshalJSON(data []byte) error {
	var head struct {
		Version *int `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	if head.Version == nil {
		return errors.New(`plan: the field "version" is missing`)
	}
	if *head.Version < 1 || *head.Version > planner.Version {
		return fmt.Errorf("plan: version %d is not known; this program reads versions 1 to %d", *head.Version, planner.Version)
	}
	type plain plan // without this method
	if err := Strict(data, (*plain)(f)); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	return nil
}

type dropped struct {
	Goal     string `json:"goal"`
	DoneWhen string `json:"done_when"`
	Why      string `json:"why"`
}

func droppedForm(d planner.Dropped) dropped { return dropped(d) }
func (f dropped) data() planner.Dropped     { return planner.Dropped(f) }

type step struct {
	ID        string         `json:"id"`
	Goal      string         `json:"goal"`
	DoneWhen  string         `json:"done_when"`
	Status    planner.Status `json:"status"`
	StartedAt time.Time      `json:"started_at,omitzero"`
	Evidence  *evidence      `json:"evidence"`
	Predicate *predicate     `json:"predicate,omitempty"`

	Executor   planner.Executor `json:"executor,omitzero"`
	Action     string           `json:"action,omitzero"`
	Parameters string           `json:"parameters,omitzero"`
	Needs      []string         `json:"needs,omitempty"`
	Parallel   bool             `json:"parallel,omitzero"`
	Fallback   string           `json:"fallback,omitzero"`
	Tokens     int              `json:"tokens,omitzero"`
	Attempts   int              `json:"attempts,omitzero"`
	Error      string           `json:"error,omitzero"`
	Result     *result          `json:"result,omitempty"`
	Sub        *plan            `json:"sub,omitempty"`
}

type result struct {
	Output string    `json:"output"`
	Data   string    `json:"data,omitzero"`
	At     time.Time `json:"at"`
}

func stepForm(s planner.Step) step {
	return step{
		ID: s.ID, Goal: s.Goal, DoneWhen: s.DoneWhen, Status: s.Status, StartedAt: s.StartedAt,
		Evidence: (*evidence)(s.Evidence), Predicate: (*predicate)(s.Predicate),
		Executor: s.Executor, Action: s.Action, Parameters: s.Parameters, Needs: s.Needs, Parallel: s.Parallel,
		Fallback: s.Fallback, Tokens: s.Tokens, Attempts: s.Attempts, Error: s.Error, Result: (*result)(s.Result),
		Sub: maybe(s.Sub, planForm),
	}
}

func (f step) data() planner.Step {
	return planner.Step{
		ID: f.ID, Goal: f.Goal, DoneWhen: f.DoneWhen, Status: f.Status, StartedAt: f.StartedAt,
		Evidence: (*planner.Evidence)(f.Evidence), Predicate: (*planner.Predicate)(f.Predicate),
		Executor: f.Executor, Action: f.Action, Parameters: f.Parameters, Needs: f.Needs, Parallel: f.Parallel,
		Fallback: f.Fallback, Tokens: f.Tokens, Attempts: f.Attempts, Error: f.Error, Result: (*planner.Result)(f.Result),
		Sub: maybe(f.Sub, plan.data),
	}
}

type predicate struct {
	Kind  planner.PredicateKind `json:"kind"`
	Role  string                `json:"role"`
	Name  string                `json:"name"`
	Value string                `json:"value"`
}

type evidence struct {
	FrameID string        `json:"frame_id"`
	At      time.Time     `json:"at,omitzero"`
	Quote   string        `json:"quote"`
	Source  string        `json:"source"`
	Grade   planner.Grade `json:"grade,omitzero"`
}

type revision struct {
	Number   int       `json:"number"`
	Source   string    `json:"source"`
	Guidance string    `json:"guidance"`
	Changes  []change  `json:"changes"`
	At       time.Time `json:"at"`

	Trigger  planner.Trigger  `json:"trigger,omitzero"`
	Strategy planner.Strategy `json:"strategy,omitzero"`
}

func revisionForm(r planner.Revision) revision {
	return revision{
		Number: r.Number, Source: r.Source, Guidance: r.Guidance, Changes: each(r.Changes, changeForm), At: r.At,
		Trigger: r.Trigger, Strategy: r.Strategy,
	}
}

func (f revision) data() planner.Revision {
	return planner.Revision{
		Number: f.Number, Source: f.Source, Guidance: f.Guidance, Changes: each(f.Changes, change.data), At: f.At,
		Trigger: f.Trigger, Strategy: f.Strategy,
	}
}

type change struct {
	Type string `json:"type"`
	Old  *step  `json:"old"`
	New  *step  `json:"new"`
}

func changeForm(c planner.Change) change {
	return change{Type: c.Type, Old: maybe(c.Old, stepForm), New: maybe(c.New, stepForm)}
}

func (f change) data() planner.Change {
	return planner.Change{Type: f.Type, Old: maybe(f.Old, step.data), New: maybe(f.New, step.data)}
}
