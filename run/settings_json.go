package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"desktop-agent/llm"
	"desktop-agent/monitor"
)

// settingsForm is the form of settings in a journal. Its keys are never renamed.
type settingsForm struct {
	BaseURL       string              `json:"base_url"`
	Ceiling       duration            `json:"ceiling,omitzero"`
	Detectors     detectorsForm       `json:"detectors,omitzero"`
	Display       string              `json:"display,omitempty"`
	DPI           int                 `json:"dpi"`
	GuardLimit    duration            `json:"guard_limit,omitzero"`
	Home          string              `json:"home"`
	KeepImages    int                 `json:"keep_images,omitempty"`
	Like          *Demonstration      `json:"like,omitempty"`
	MaxBadReplies int                 `json:"max_bad_replies,omitempty"`
	MaxDollars    float64             `json:"max_dollars"`
	MaxImage      int                 `json:"max_image,omitempty"`
	MaxRefusals   int                 `json:"max_refusals,omitempty"`
	MaxRevisions  int                 `json:"max_revisions,omitempty"`
	MaxSteps      int                 `json:"max_steps"`
	MaxTime       duration            `json:"max_time"`
	MaxTokens     int                 `json:"max_tokens"`
	Monitor       int                 `json:"monitor"`
	Open          string              `json:"open"`
	Prices        llm.Prices          `json:"prices"`
	PruneInterval int                 `json:"prune_interval,omitempty"`
	Quiet         duration            `json:"quiet,omitzero"`
	ReviewEvery   int                 `json:"review_every"`
	Roles         map[string]roleForm `json:"roles"`
	ScreenTokens  int                 `json:"screen_tokens,omitempty"`
	Size          string              `json:"size"`
	TextUnseen    bool                `json:"text_unseen,omitempty"`
	TreeLimit     duration            `json:"tree_limit,omitzero"`
	TreeNodes     int                 `json:"tree_nodes,omitempty"`
	TreeSilence   duration            `json:"tree_silence,omitzero"`
	Virtual       bool                `json:"virtual"`

	// Written once, and read by nobody.
	Demo     bool   `json:"demo,omitempty"`
	Live     bool   `json:"live,omitempty"`
	Recorded string `json:"recorded,omitempty"`
}

// roleForm is the form of what holds for a role. Its model stands elsewhere in the
// event.
type roleForm struct {
	Attempt     duration `json:"attempt"`
	MaxTokens   int      `json:"max_tokens"`
	Temperature *float64 `json:"temperature"`
	Timeout     duration `json:"timeout"`
}

type detectorsForm struct {
	Repeats    int     `json:"repeats,omitempty"`
	Window     int     `json:"window,omitempty"`
	SameScreen int     `json:"same_screen,omitempty"`
	Alternate  int     `json:"alternate,omitempty"`
	NoEffect   int     `json:"no_effect,omitempty"`
	NoProgress int     `json:"no_progress,omitempty"`
	LowBudget  float64 `json:"low_budget,omitempty"`
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

// MarshalJSON writes the settings as a journal keeps them: what the event tells
// beside them (planning, format, the models' names) is not among them.
func (s Settings) MarshalJSON() ([]byte, error) {
	d, a, m := s.Display, s.Agent, s.Models
	f := settingsForm{
		BaseURL: m.BaseURL, Ceiling: duration(d.Ceiling), Detectors: detectorsForm(a.Detectors), Display: d.Name, DPI: d.DPI,
		GuardLimit: duration(a.GuardLimit), Home: d.Home, KeepImages: a.KeepImages, Like: s.Like, MaxBadReplies: a.MaxBadReplies,
		MaxDollars: m.MaxDollars, MaxImage: d.MaxImage, MaxRefusals: a.MaxRefusals, MaxRevisions: a.MaxRevisions, MaxSteps: a.MaxSteps,
		MaxTime: duration(m.MaxTime), MaxTokens: m.MaxTokens, Monitor: d.Monitor, Open: d.Open, Prices: m.Prices,
		PruneInterval: a.PruneInterval, Quiet: duration(d.Quiet), ReviewEvery: a.ReviewEvery, ScreenTokens: a.ScreenTokens,
		Size: fmt.Sprintf("%dx%d", d.Size.X, d.Size.Y), TextUnseen: s.TextUnseen, TreeLimit: duration(d.TreeLimit),
		TreeNodes: d.TreeNodes, TreeSilence: duration(d.TreeSilence), Virtual: d.Private,
	}
	if m.Roles != nil {
		f.Roles = map[string]roleForm{}
	}
	for role, r := range m.Roles {
		f.Roles[string(role)] = roleForm{duration(r.Attempt), r.MaxTokens, r.Temperature, duration(r.Deadline)}
	}
	return json.Marshal(f)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Settings) UnmarshalJSON(data []byte) error {
	var f settingsForm
	if err := strictly(data, &f); err != nil {
		return err
	}
	*s = Settings{
		Display: DisplaySettings{
			Private: f.Virtual, Name: f.Display, Open: f.Open, Home: f.Home, DPI: f.DPI, Monitor: f.Monitor, MaxImage: f.MaxImage,
			Quiet: time.Duration(f.Quiet), Ceiling: time.Duration(f.Ceiling),
			TreeSilence: time.Duration(f.TreeSilence), TreeLimit: time.Duration(f.TreeLimit), TreeNodes: f.TreeNodes,
		},
		Agent: AgentSettings{
			MaxSteps: f.MaxSteps, MaxBadReplies: f.MaxBadReplies, MaxRefusals: f.MaxRefusals, MaxRevisions: f.MaxRevisions,
			ReviewEvery: f.ReviewEvery, ScreenTokens: f.ScreenTokens, KeepImages: f.KeepImages, PruneInterval: f.PruneInterval,
			Detectors: monitor.Limits(f.Detectors), GuardLimit: time.Duration(f.GuardLimit),
		},
		Models:     ModelSettings{BaseURL: f.BaseURL, MaxTokens: f.MaxTokens, MaxDollars: f.MaxDollars, MaxTime: time.Duration(f.MaxTime), Prices: f.Prices},
		Like:       f.Like,
		TextUnseen: f.TextUnseen,
	}
	if f.Size != "" {
		if _, err := fmt.Sscanf(f.Size, "%dx%d", &s.Display.Size.X, &s.Display.Size.Y); err != nil {
			return fmt.Errorf("size %q: %w", f.Size, err)
		}
	}
	if f.Roles != nil {
		s.Models.Roles = map[llm.Role]llm.Settings{}
	}
	for role, r := range f.Roles {
		s.Models.Roles[llm.Role(role)] = llm.Settings{
			Temperature: r.Temperature, MaxTokens: r.MaxTokens, Deadline: time.Duration(r.Timeout), Attempt: time.Duration(r.Attempt),
		}
	}
	return nil
}

// UnmarshalJSON reads the first event. Its settings are whole then: planning,
// format and the names of models, which it tells beside them, are among them.
func (r *RunStarted) UnmarshalJSON(data []byte) error {
	type form RunStarted
	if err := strictly(data, (*form)(r)); err != nil {
		return err
	}
	r.Settings.Agent.Planning, r.Settings.Agent.Format = r.Planning, r.Parser
	for role, model := range r.Models {
		if r.Settings.Models.Roles == nil {
			r.Settings.Models.Roles = map[llm.Role]llm.Settings{}
		}
		s := r.Settings.Models.Roles[llm.Role(role)]
		s.Model = model
		r.Settings.Models.Roles[llm.Role(role)] = s
	}
	return nil
}

// strictly decodes JSON that has no keys which are not known.
func strictly(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
