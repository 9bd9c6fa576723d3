package agent

import (
	"fmt"
	"log/slog"

	"desktop-agent/actuator/pyautogui"
	"desktop-agent/actuator/toolcall"
	"desktop-agent/llm"
	"desktop-agent/monitor"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// Parts say how an agent is put together.
type Parts struct {
	Planning    bool
	Format      string         // "code" or "tools"
	MaxSteps    int            // 0 for 50
	ReviewEvery int            // steps between two reviews by the monitor; 0 for only when a detector fires
	Like        *Demonstration // an example for the actor; nil for none
	Log         *slog.Logger
}

// New puts an agent together whose models are all asked through m. It still
// needs a journal.
func New(m llm.Model, d run.Desktop, p Parts) (*Agent, error) {
	format, err := FormatOf(p.Format)
	if err != nil {
		return nil, err
	}
	a := &Agent{
		Desktop:  d,
		Actor:    &Actor{Model: m, Format: format, Like: p.Like},
		World:    &worldmodel.Model{LLM: m, Log: p.Log},
		Monitor:  &monitor.Monitor{Model: m, Every: p.ReviewEvery, Log: p.Log},
		Log:      p.Log,
		MaxSteps: p.MaxSteps,
	}
	if p.Planning {
		a.Planner = &planner.Planner{Model: m, Log: p.Log}
	}
	return a, nil
}

// FormatOf returns the format of that name: "code" or "tools".
func FormatOf(name string) (Format, error) {
	switch name {
	case "code":
		return Format{Name: name, Parser: pyautogui.Parser{}}, nil
	case "tools":
		f := Format{Name: name, Parser: toolcall.Parser{}}
		for _, t := range toolcall.Tools() {
			f.Tools = append(f.Tools, llm.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
		}
		return f, nil
	}
	return Format{}, fmt.Errorf("format %q: use code or tools", name)
}
