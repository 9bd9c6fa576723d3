package agent

import (
	"fmt"
	"strings"

	"desktop-agent/actuator/dialect"
	"desktop-agent/actuator/ground"
	"desktop-agent/actuator/native"
	"desktop-agent/actuator/pyautogui"
	"desktop-agent/actuator/toolcall"
	"desktop-agent/llm"
	"desktop-agent/monitor"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// New puts an agent together that works on the desktop of a session, asks its
// models and writes to its journal, as its settings say.
func New(s *run.Session) (*Agent, error) {
	set := s.Settings.Agent
	format, err := FormatOf(set.Format, s.Settings.Tools...)
	if err != nil {
		return nil, err
	}
	world := &worldmodel.Model{LLM: s.Client, ScreenTokens: set.ScreenTokens, OCR: s.OCR(), Log: s.Log}
	a := &Agent{
		Desktop: s.Desktop,
		Hand:    s.Hand,
		Scope:   s.Scope,
		Actor: &Actor{
			Model: s.Client, Format: format, Like: s.Settings.Like, Grows: s.Settings.Models.Grows && format.Computer != nil,
			ScreenTokens: set.ScreenTokens, KeepImages: set.KeepImages, PruneInterval: set.PruneInterval,
		},
		World:         world,
		Reader:        world,
		Monitor:       &monitor.Monitor{Model: s.Client, Every: set.ReviewEvery, ScreenTokens: set.ScreenTokens, Log: s.Log},
		Log:           s.Log,
		AssessAlways:  set.Assess == "always",
		MaxSteps:      set.MaxSteps,
		MaxBadReplies: set.MaxBadReplies,
		MaxRefusals:   set.MaxRefusals,
		MaxDoubts:     set.MaxDoubts,
		Detectors:     &set.Detectors,
		Settings:      s.Settings,
	}
	if name := s.Settings.Models.Grounder; name != "" {
		form := ground.Named(name)
		if form == nil {
			return nil, fmt.Errorf("there is no form %q to ask where something is", name)
		}
		a.Grounder = &Grounder{Model: s.Client, Form: form, Tries: s.Settings.Models.GroundTries}
		a.Actor.Words = format.Dialect == nil
	}
	switch set.Assess {
	case "": // a journal tells which it was
		a.Settings.Agent.Assess = "auto"
	case "auto", "always":
	default:
		return nil, fmt.Errorf("assess %q: use auto or always", set.Assess)
	}
	if s.Home != nil {
		a.Home = &run.NotedHome{Home: s.Home, Scope: s.Scope}
	}
	if set.Candidates < 0 || set.Candidates > maxCandidates {
		return nil, fmt.Errorf("candidates %d: use 1 to %d", set.Candidates, maxCandidates)
	}
	switch set.Planning {
	case "suggestive":
		a.Planner = &planner.Planner{Model: s.Client, MaxRevisions: set.MaxRevisions, ScreenTokens: set.ScreenTokens, Home: a.Home, Log: s.Log}
	case "off", "deliberate": // a plan that is executed stands above
	default:
		return nil, fmt.Errorf("planning %q: use suggestive, deliberate or off", set.Planning)
	}
	if s.Client != nil && s.Client.Budget != nil {
		a.Budget = s.Client.Budget
	}
	return a, nil
}

// FormatOf returns the format of that name: "code", "tools" or a provider's own tool
// ([native.Vocabulary.Format]), by which tools can be called beside mouse and keyboard,
// too, or a dialect, which knows none.
func FormatOf(name string, offer ...run.Tool) (Format, error) {
	switch name {
	case "code":
		return Format{Name: name, Parser: pyautogui.Parser{}, Offer: offer}, nil
	case "tools":
		var also []string
		f := Format{Name: name}
		for _, t := range toolcall.Tools() {
			f.Tools = append(f.Tools, llm.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
		}
		for _, t := range offer {
			f.Tools, also = append(f.Tools, t.Tool), append(also, t.Name)
		}
		f.Parser = toolcall.Parser{Also: also}
		return f, nil
	}
	if v := native.OfFormat(name); v != nil {
		f := Format{Name: name, Computer: v}
		var also []string
		for _, t := range v.Tools() {
			f.Tools = append(f.Tools, llm.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
		}
		for _, t := range offer {
			f.Tools, also = append(f.Tools, t.Tool), append(also, t.Name)
		}
		f.Parser = native.Parser{Of: v, Also: also}
		return f, nil
	}
	if d := dialect.Named(name); d != nil {
		return Format{Name: name, Parser: d.Parser(), Dialect: d}, nil
	}
	return Format{}, fmt.Errorf("format %q: use %s", name, strings.Join(dialect.Formats()[1:], ", "))
}
