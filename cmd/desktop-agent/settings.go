package main

import (
	"errors"
	"fmt"
	"image"
	"strings"
	"time"

	"desktop-agent/llm"
	"desktop-agent/llm/openai"
)

// modelFlags say which models to ask, and how much they may cost.
type modelFlags struct {
	Model       string        `help:"Model of all roles that name no other." placeholder:"NAME" group:"Models"`
	BaseURL     string        `name:"base-url" help:"Endpoint that speaks OpenAI's Chat Completions." default:"https://api.openai.com/v1" group:"Models"`
	APIKey      string        `name:"api-key" env:"DESKTOP_AGENT_API_KEY,OPENAI_API_KEY" hidden:"" help:"Key of the endpoint; give it in the environment."`
	Temperature *float64      `help:"Temperature of all roles; the model's own if not given." group:"Models"`
	Timeout     time.Duration `help:"Limit of one model call, all attempts together." default:"5m" group:"Models"`

	Planner    roleFlags `embed:"" prefix:"planner-" group:"Models, role by role"`
	Actor      roleFlags `embed:"" prefix:"actor-" group:"Models, role by role"`
	WorldModel roleFlags `embed:"" prefix:"worldmodel-" group:"Models, role by role"`
	Monitor    roleFlags `embed:"" prefix:"monitor-" group:"Models, role by role"`

	MaxTokens  int              `help:"Stop before more tokens than this are used; 0 for no limit." group:"Limits"`
	MaxDollars float64          `help:"Stop before more than this is spent; needs the price of each model." group:"Limits"`
	MaxTime    time.Duration    `help:"Stop after this time; 0 for no limit." default:"1h" group:"Limits"`
	Price      map[string]price `help:"Dollars per million tokens of a model: NAME=input/cached/output." placeholder:"NAME=I/C/O" group:"Limits"`
}

// roleFlags are what one role has of its own.
type roleFlags struct {
	Model       string        `help:"Model of this role." placeholder:"NAME"`
	Temperature *float64      `help:"Temperature."`
	MaxTokens   int           `help:"Longest reply, in tokens."`
	Timeout     time.Duration `help:"Limit of one call."`
}

func (f roleFlags) settings() llm.Settings {
	return llm.Settings{Model: f.Model, Temperature: f.Temperature, MaxTokens: f.MaxTokens, Deadline: f.Timeout}
}

// client returns the client of all roles.
func (f modelFlags) client() *llm.Client {
	prices := llm.Prices{}
	for name, p := range f.Price {
		prices[name] = llm.Price{Input: p.input, Cached: p.cached, Output: p.output}
	}
	return &llm.Client{
		Model:   &openai.Endpoint{BaseURL: f.BaseURL, Key: openai.Secret(f.APIKey)},
		Default: llm.Settings{Model: f.Model, Temperature: f.Temperature, Deadline: f.Timeout},
		Roles: map[llm.Role]llm.Settings{
			llm.Planner: f.Planner.settings(), llm.Actor: f.Actor.settings(),
			llm.WorldModel: f.WorldModel.settings(), llm.Monitor: f.Monitor.settings(),
		},
		Budget: &llm.Budget{MaxTokens: f.MaxTokens, MaxDollars: f.MaxDollars, MaxTime: f.MaxTime, Prices: prices},
	}
}

// desktopFlags say which desktop to work on.
type desktopFlags struct {
	Display   string `help:"X display to work on." env:"DISPLAY" placeholder:":0" group:"Desktop"`
	Virtual   bool   `help:"Work on a private desktop that nobody sees, instead of this display." group:"Desktop"`
	Open      string `help:"With --virtual: the program to open, with its arguments." placeholder:"PROGRAM" group:"Desktop"`
	Size      size   `help:"With --virtual: the desktop's size in pixels." default:"1280x800" group:"Desktop"`
	DPI       int    `name:"dpi" help:"With --virtual: pixels per inch." default:"96" group:"Desktop"`
	OnMonitor int    `name:"monitor" help:"Show the model only this monitor, counted from 1; 0 for all." group:"Desktop"`
}

// check refuses flags that do not go together.
func (f desktopFlags) check() error {
	if f.Open != "" && !f.Virtual {
		return hintError{errors.New("--open needs a private desktop"), "add --virtual, or open the program yourself"}
	}
	if !f.Virtual && f.Display == "" {
		return hintError{errors.New("no display: DISPLAY is not set"), "start from a desktop session, set DISPLAY, or add --virtual for a private desktop"}
	}
	if fields := strings.Fields(f.Open); f.Open != "" && len(fields) == 0 {
		return errors.New("--open names no program")
	}
	return nil
}

// A size is a width and a height in pixels, written 1280x800.
type size image.Point

// UnmarshalText reads "1280x800".
func (s *size) UnmarshalText(text []byte) error {
	var rest string
	n, err := fmt.Sscanf(string(text)+" ", "%dx%d%s", &s.X, &s.Y, &rest)
	if n < 2 || rest != "" || s.X < 320 || s.Y < 240 || s.X > 8192 || s.Y > 8192 {
		return fmt.Errorf("size %q: write width and height in pixels, such as 1280x800 (320x240 to 8192x8192): %v", text, err)
	}
	return nil
}
