package eventjson

import (
	"fmt"
	"image"
	"slices"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/screen/atspi"
)

// A Form is what an event tells, as it is on disk: a pointer to a struct whose
// fields have their JSON keys as tags, as have those of all that it holds.
type Form interface {
	// Data returns what the form tells.
	Data() run.EventData
}

// forms makes an empty form of each kind of event.
var forms = map[string]func() Form{
	"run_started":   func() Form { return &runStarted{} },
	"observed":      func() Form { return &observed{} },
	"model_called":  func() Form { return &modelCalled{} },
	"planned":       func() Form { return &planned{} },
	"planning":      func() Form { return &planningPhase{} },
	"plan_made":     func() Form { return &planMade{} },
	"plan_approved": func() Form { return &planApproved{} },
	"step_started":  func() Form { return &stepStarted{} },
	"step_ended":    func() Form { return &stepEnded{} },
	"reflected":     func() Form { return &reflected{} },
	"assessed":      func() Form { return &assessed{} },
	"progressed":    func() Form { return &progressed{} },
	"filed":         func() Form { return &filed{} },
	"transcribed":   func() Form { return &transcribed{} },
	"proposed":      func() Form { return &proposed{} },
	"grounded":      func() Form { return &grounded{} },
	"reviewed":      func() Form { return &reviewed{} },
	"acting":        func() Form { return &acting{} },
	"task_judged":   func() Form { return &taskJudged{} },
	"rehearsed":     func() Form { return &rehearsed{} },
	"guarded":       func() Form { return &guarded{} },
	"refused":       func() Form { return &refused{} },
	"checked":       func() Form { return &checked{} },
	"acted":         func() Form { return &acted{} },
	"batch_stopped": func() Form { return &batchStopped{} },
	"answered":      func() Form { return &answered{} },
	"noted":         func() Form { return &noted{} },
	"located":       func() Form { return &located{} },
	"diverged":      func() Form { return &diverged{} },
	"goal_checked":  func() Form { return &goalChecked{} },
	"resumed":       func() Form { return &resumed{} },
	"run_ended":     func() Form { return &runEnded{} },
}

// FormOf returns the form of what an event tells.
func FormOf(data run.EventData) (Form, error) {
	switch d := data.(type) {
	case run.RunStarted:
		return &runStarted{
			Schema: d.Schema, Task: d.Task, Planning: d.Planning, Guard: d.Guard, Parser: d.Parser,
			Models: d.Models, Settings: settingsForm(d.Settings), Replay: (*replay)(d.Replay), Given: d.Given,
		}, nil
	case run.Observed:
		return &observed{
			FrameID: d.FrameID, At: d.At, Mapping: mapping(d.Mapping), Frame: d.Frame, Cursor: d.Cursor,
			Monitors: each(d.Monitors, monitorForm), Windows: each(d.Windows, windowForm), Targets: each(d.Targets, nodeForm),
			Hung: each(d.Hung, programName), HungPIDs: processes(d.Hung), TreeErr: d.TreeErr, Unread: d.Unread, Screen: d.Screen, Covered: (*covered)(d.Covered),
			Settled: settled(d.Settled), Timing: timing(d.Timing),
		}, nil
	case run.ModelCalled:
		return &modelCalled{
			Role: d.Role, Purpose: d.Purpose, Prompt: d.Prompt, Model: d.Model, Shared: d.Shared,
			Messages: each(d.Messages, messageForm), Tools: d.Tools, Schema: d.Schema, Response: maybe(d.Response, responseForm),
			Error: d.Error, Millis: d.Millis, Attempts: d.Attempts, Usage: usage(d.Usage), Dollars: d.Dollars,
		}, nil
	case run.Planned:
		return &planned{Plan: maybe(d.Plan, planForm), Error: d.Error, Step: d.Step}, nil
	case run.Planning:
		return &planningPhase{Phase: d.Phase, Label: d.Label, Sub: d.Sub, Usage: usage(d.Usage)}, nil
	case run.PlanMade:
		return &planMade{At: d.At, Result: d.Result, Phases: each(d.Phases, madePhaseForm), Notes: d.Notes}, nil
	case run.PlanApproved:
		return (*planApproved)(&d), nil
	case run.StepStarted:
		return (*stepStarted)(&d), nil
	case run.StepEnded:
		return &stepEnded{
			Step: d.Step, Status: d.Status, Error: d.Error, Output: d.Output, Value: d.Data, Evidence: (*evidence)(d.Evidence),
			Attempts: d.Attempts, Effect: d.Effect, Final: d.Final, By: d.By, On: d.On, Millis: d.Millis, Exit: d.Exit,
		}, nil
	case run.Reflected:
		return (*reflected)(&d), nil
	case run.Assessed:
		return &assessed{
			FrameID: d.FrameID, Assessment: maybe(d.Assessment, assessmentForm), Advanced: d.Advanced, Why: d.Why,
			Plan: maybe(d.Plan, planForm), Error: d.Error,
		}, nil
	case run.Progressed:
		return &progressed{FrameID: d.FrameID, Why: d.Why, Plan: maybe(d.Plan, planForm)}, nil
	case run.Filed:
		return &filed{Since: d.Since, List: each(d.List, fileForm), Error: d.Error}, nil
	case run.Transcribed:
		return (*transcribed)(&d), nil
	case run.Proposed:
		return &proposed{
			FrameID: d.FrameID, Thought: d.Thought, Expect: d.Expect, Actions: each(d.Actions, actionForm),
			Error: d.Error, Params: each(d.Params, paramForm), Candidates: d.Candidates, Agreed: d.Agreed, Why: d.Why,
		}, nil
	case run.Grounded:
		return (*grounded)(&d), nil
	case run.Reviewed:
		return &reviewed{
			Verdict: d.Verdict, Signals: each(d.Signals, signalForm), Guidance: d.Guidance, Reason: d.Reason, Error: d.Error,
			Overridden: d.Overridden,
		}, nil
	case run.Acting:
		return &acting{Index: d.Index, Action: actionForm(d.Action), Device: d.Device, Exempt: d.Exempt}, nil
	case run.Rehearsed:
		return rehearsedForm(d), nil
	case run.TaskJudged:
		return (*taskJudged)(&d), nil
	case run.Guarded:
		return &guarded{
			Index: d.Index, Allowed: d.Allowed, Effect: d.Effect, By: d.By, Reason: d.Reason, Target: d.Target, Times: d.Times,
			Foresight: maybe(d.Foresight, foresightForm),
		}, nil
	case run.Refused:
		return &refused{Index: d.Index, Action: actionForm(d.Action), Device: d.Device, Guard: d.Guard, Reason: d.Reason}, nil
	case run.Checked:
		return &checked{Call: d.Call, Checks: each(d.Checks, checkForm), Accepted: d.Accepted, By: d.By, Reason: d.Reason}, nil
	case run.Acted:
		return (*acted)(&d), nil
	case run.BatchStopped:
		return (*batchStopped)(&d), nil
	case run.Answered:
		return (*answered)(&d), nil
	case run.Noted:
		return (*noted)(&d), nil
	case run.Located:
		return (*located)(&d), nil
	case run.Diverged:
		return (*diverged)(&d), nil
	case run.GoalChecked:
		return (*goalChecked)(&d), nil
	case run.Resumed:
		return &resumed{
			From: d.From, Cut: d.Cut, Doubt: each(d.Doubt, doubtedForm), Desktop: d.Desktop, Limits: limitsForm(d.Limits), Back: d.Back,
		}, nil
	case run.RunEnded:
		return &runEnded{
			Outcome: d.Outcome, Grade: d.Grade, Answer: d.Answer, Error: d.Error, Steps: d.Steps, Usage: usage(d.Usage),
			Calls: d.Calls, Dollars: d.Dollars, Millis: d.Millis, Overridden: d.Overridden,
		}, nil
	}
	return nil, fmt.Errorf("an event of type %T has no form on disk", data)
}

// each converts the elements of a list. One that is nil stays so: it is written
// as null.
func each[From, To any](list []From, convert func(From) To) []To {
	if list == nil {
		return nil
	}
	out := make([]To, len(list))
	for i, v := range list {
		out[i] = convert(v)
	}
	return out
}

// maybe converts what is there; nil stays nil.
func maybe[From, To any](v *From, convert func(From) To) *To {
	if v == nil {
		return nil
	}
	out := convert(*v)
	return &out
}

// An unread key was written by earlier builds of this schema, and is read by nobody: what
// they recorded stays readable, and nothing writes it again.
type unread struct{}

// UnmarshalJSON takes whatever stands there.
func (*unread) UnmarshalJSON([]byte) error { return nil }

type runStarted struct {
	Schema   int               `json:"schema"`
	Task     string            `json:"task"`
	Planning string            `json:"planning"`
	Guard    string            `json:"guard"`
	Parser   string            `json:"parser"`
	Models   map[string]string `json:"models"`
	Settings settings          `json:"settings"`
	Replay   *replay           `json:"replay,omitempty"`
	Given    bool              `json:"given,omitempty"`
}

func (f *runStarted) Data() run.EventData {
	data := run.RunStarted{
		Schema: f.Schema, Task: f.Task, Planning: f.Planning, Guard: f.Guard, Parser: f.Parser,
		Models: f.Models, Settings: f.Settings.data(), Replay: (*run.Replay)(f.Replay), Given: f.Given,
	}
	// The settings are whole: what the event tells beside them is among them.
	set := &data.Settings
	set.Agent.Planning, set.Agent.Format = f.Planning, f.Parser
	for role, model := range f.Models {
		if set.Models.Roles == nil {
			set.Models.Roles = map[llm.Role]llm.Settings{}
		}
		s := set.Models.Roles[llm.Role(role)]
		s.Model = model
		set.Models.Roles[llm.Role(role)] = s
	}
	return data
}

type replay struct {
	Run string `json:"run"`
	How string `json:"how"`
}

type observed struct {
	FrameID  string      `json:"frame_id"`
	At       time.Time   `json:"at"`
	Mapping  mapping     `json:"mapping"`
	Frame    image.Point `json:"frame"`
	Cursor   image.Point `json:"cursor"`
	Monitors []monitor   `json:"monitors"`
	Windows  []window    `json:"windows"`
	Targets  []node      `json:"targets"`
	Hung     []string    `json:"hung"`
	HungPIDs []int       `json:"hung_pids,omitempty"` // of the same programs, one for each; 0 if unknown
	TreeErr  string      `json:"tree_error"`
	Unread   bool        `json:"unread,omitzero"`
	Screen   string      `json:"screen"`
	Covered  *covered    `json:"covered,omitempty"`
	Settled  settled     `json:"settled"`
	Timing   timing      `json:"timing"`
}

func (f *observed) Data() run.EventData {
	return run.Observed{
		FrameID: f.FrameID, At: f.At, Mapping: f.Mapping.data(), Frame: f.Frame, Cursor: f.Cursor,
		Monitors: each(f.Monitors, monitor.data), Windows: each(f.Windows, window.data), Targets: each(f.Targets, node.data),
		Hung: f.programs(), TreeErr: f.TreeErr, Unread: f.Unread, Screen: f.Screen, Covered: (*run.Covered)(f.Covered),
		Settled: f.Settled.data(), Timing: f.Timing.data(),
	}
}

func programName(p atspi.Program) string { return p.Name }

// processes returns the processes of programs; nil if none is known.
func processes(list []atspi.Program) (pids []int) {
	if slices.ContainsFunc(list, func(p atspi.Program) bool { return p.PID != 0 }) {
		pids = each(list, func(p atspi.Program) int { return p.PID })
	}
	return pids
}

// programs returns the programs that hung.
func (f *observed) programs() []atspi.Program {
	list := each(f.Hung, func(name string) atspi.Program { return atspi.Program{Name: name} })
	for i, pid := range f.HungPIDs[:min(len(f.HungPIDs), len(list))] {
		list[i].PID = pid
	}
	return list
}

type modelCalled struct {
	Role     llm.Role  `json:"role"`
	Purpose  string    `json:"purpose"`
	Prompt   string    `json:"prompt"`
	Model    string    `json:"model"`
	Shared   int       `json:"shared"`
	Messages []message `json:"messages"`
	Tools    []string  `json:"tools"`
	Schema   string    `json:"schema"`
	Response *response `json:"response"`
	Error    string    `json:"error"`
	Millis   int64     `json:"millis"`
	Attempts int       `json:"attempts"`
	Usage    usage     `json:"usage"`
	Dollars  float64   `json:"dollars"`
}

func (f *modelCalled) Data() run.EventData {
	return run.ModelCalled{
		Role: f.Role, Purpose: f.Purpose, Prompt: f.Prompt, Model: f.Model, Shared: f.Shared,
		Messages: each(f.Messages, message.data), Tools: f.Tools, Schema: f.Schema, Response: maybe(f.Response, response.data),
		Error: f.Error, Millis: f.Millis, Attempts: f.Attempts, Usage: llm.Usage(f.Usage), Dollars: f.Dollars,
	}
}

type planned struct {
	Plan  *plan  `json:"plan"`
	Error string `json:"error"`
	Step  string `json:"step,omitempty"`
}

func (f *planned) Data() run.EventData {
	return run.Planned{Plan: maybe(f.Plan, plan.data), Error: f.Error, Step: f.Step}
}

type assessed struct {
	FrameID    string      `json:"frame_id"`
	Assessment *assessment `json:"assessment"`
	Advanced   bool        `json:"advanced"`
	Why        string      `json:"why"`
	Plan       *plan       `json:"plan"`
	Error      string      `json:"error"`
}

func (f *assessed) Data() run.EventData {
	return run.Assessed{
		FrameID: f.FrameID, Assessment: maybe(f.Assessment, assessment.data), Advanced: f.Advanced, Why: f.Why,
		Plan: maybe(f.Plan, plan.data), Error: f.Error,
	}
}

type progressed struct {
	FrameID string   `json:"frame_id"`
	Why     []string `json:"why"`
	Plan    *plan    `json:"plan"`
}

func (f *progressed) Data() run.EventData {
	return run.Progressed{FrameID: f.FrameID, Why: f.Why, Plan: maybe(f.Plan, plan.data)}
}

type filed struct {
	Since   time.Time `json:"since"`
	List    []file    `json:"list"`
	Error   string    `json:"error"`
	FrameID unread    `json:"frame_id,omitzero"`
}

func (f *filed) Data() run.EventData {
	return run.Filed{Since: f.Since, List: each(f.List, file.data), Error: f.Error}
}

type transcribed struct {
	FrameID string          `json:"frame_id"`
	Region  image.Rectangle `json:"region"`
	Text    string          `json:"text"`
	By      string          `json:"by"`
	Same    bool            `json:"same"`
	Error   string          `json:"error"`
}

func (f *transcribed) Data() run.EventData { return run.Transcribed(*f) }

type grounded struct {
	FrameID string      `json:"frame_id"`
	Words   string      `json:"words"`
	By      string      `json:"by"`
	Model   string      `json:"model,omitempty"`
	Asked   int         `json:"asked,omitempty"`
	At      image.Point `json:"at"`
	Target  string      `json:"target"`
	Error   string      `json:"error"`
}

func (f *grounded) Data() run.EventData { return run.Grounded(*f) }

type proposed struct {
	FrameID string   `json:"frame_id"`
	Thought string   `json:"thought"`
	Expect  string   `json:"expect"`
	Actions []action `json:"actions"`
	Error   string   `json:"error"`
	Params  []param  `json:"params,omitempty"`

	Candidates int    `json:"candidates,omitempty"`
	Agreed     int    `json:"agreed,omitempty"`
	Why        string `json:"why,omitempty"`
}

func (f *proposed) Data() run.EventData {
	return run.Proposed{
		FrameID: f.FrameID, Thought: f.Thought, Expect: f.Expect, Actions: each(f.Actions, action.data),
		Error: f.Error, Params: each(f.Params, param.data), Candidates: f.Candidates, Agreed: f.Agreed, Why: f.Why,
	}
}

type reviewed struct {
	Verdict  run.Verdict `json:"verdict"`
	Signals  []signal    `json:"signals"`
	Guidance string      `json:"guidance"`
	Reason   string      `json:"reason"`
	Error    string      `json:"error"`

	Overridden bool `json:"overridden,omitempty"`
}

func (f *reviewed) Data() run.EventData {
	return run.Reviewed{
		Verdict: f.Verdict, Signals: each(f.Signals, signal.data), Guidance: f.Guidance, Reason: f.Reason, Error: f.Error,
		Overridden: f.Overridden,
	}
}

type acting struct {
	Index  int           `json:"index"`
	Action action        `json:"action"`
	Device []image.Point `json:"device"`
	Exempt run.Exemption `json:"exempt,omitempty"`
}

func (f *acting) Data() run.EventData {
	return run.Acting{Index: f.Index, Action: f.Action.data(), Device: f.Device, Exempt: f.Exempt}
}

type refused struct {
	Index  int           `json:"index"`
	Action action        `json:"action"`
	Device []image.Point `json:"device"`
	Guard  string        `json:"guard"`
	Reason string        `json:"reason"`
}

func (f *refused) Data() run.EventData {
	return run.Refused{Index: f.Index, Action: f.Action.data(), Device: f.Device, Guard: f.Guard, Reason: f.Reason}
}

type checked struct {
	Call     string  `json:"call"`
	Checks   []check `json:"checks"`
	Accepted bool    `json:"accepted"`
	By       string  `json:"by,omitempty"`
	Reason   string  `json:"reason,omitempty"`
}

func (f *checked) Data() run.EventData {
	return run.Checked{Call: f.Call, Checks: each(f.Checks, check.data), Accepted: f.Accepted, By: f.By, Reason: f.Reason}
}

type acted struct {
	Index  int             `json:"index"`
	Status actuator.Status `json:"status"`
	Detail string          `json:"detail"`
	Output string          `json:"output"`
	Millis int64           `json:"millis"`
}

func (f *acted) Data() run.EventData { return run.Acted(*f) }

type batchStopped struct {
	Reason  string `json:"reason"`
	Refused bool   `json:"refused,omitempty"`
}

func (f *batchStopped) Data() run.EventData { return run.BatchStopped(*f) }

type answered struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

func (f *answered) Data() run.EventData { return run.Answered(*f) }

type noted struct {
	Text    string   `json:"text"`
	Dropped []string `json:"dropped"`
}

func (f *noted) Data() run.EventData { return run.Noted(*f) }

type located struct {
	Index  int         `json:"index"`
	How    string      `json:"how"`
	Target string      `json:"target"`
	Was    image.Point `json:"was"`
	Now    image.Point `json:"now"`
	Score  float64     `json:"score"`
}

func (f *located) Data() run.EventData { return run.Located(*f) }

type diverged struct {
	Of       int    `json:"of"`
	Frame    string `json:"frame"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
	Healing  bool   `json:"healing"`
}

func (f *diverged) Data() run.EventData { return run.Diverged(*f) }

type goalChecked struct {
	FrameID  string        `json:"frame_id"`
	Accepted bool          `json:"accepted"`
	Evidence string        `json:"evidence"`
	Missing  string        `json:"missing"`
	Grade    planner.Grade `json:"grade,omitzero"`
	Source   string        `json:"source,omitzero"`
	Why      string        `json:"why,omitzero"`
	Cannot   bool          `json:"cannot,omitzero"`
}

func (f *goalChecked) Data() run.EventData { return run.GoalChecked(*f) }

type runEnded struct {
	Outcome run.Outcome   `json:"outcome"`
	Grade   planner.Grade `json:"grade,omitzero"`
	Answer  string        `json:"answer"`
	Error   string        `json:"error"`
	Steps   int           `json:"steps"`
	Usage   usage         `json:"usage"`
	Calls   int           `json:"calls"`
	Dollars float64       `json:"dollars"`
	Millis  int64         `json:"millis"`

	Overridden int `json:"overridden,omitempty"`
}

func (f *runEnded) Data() run.EventData {
	return run.RunEnded{
		Outcome: f.Outcome, Grade: f.Grade, Answer: f.Answer, Error: f.Error, Steps: f.Steps, Usage: llm.Usage(f.Usage),
		Calls: f.Calls, Dollars: f.Dollars, Millis: f.Millis, Overridden: f.Overridden,
	}
}
