package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"image"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"desktop-agent/actuator"
	"desktop-agent/actuator/dialect"
	"desktop-agent/actuator/ground"
	"desktop-agent/engine"
	"desktop-agent/guard"
	"desktop-agent/internal/regular"
	"desktop-agent/internal/shlex"
	"desktop-agent/llm"
	"desktop-agent/llm/prices"
	"desktop-agent/llm/provider"
	"desktop-agent/rehearsal"
	"desktop-agent/run"
)

// modelFlags say which models to ask, and how much they may cost.
type modelFlags struct {
	Model       string        `help:"Model of all roles that name no other." placeholder:"NAME" group:"Models"`
	Fallback    []string      `help:"Models that take over, one after the other, where the one before does not answer: rate limit, key, credit or server." placeholder:"NAME,…" group:"Models"`
	API         string        `name:"api" help:"How models are asked: auto, by the endpoint and the model's name; or ${apis}." enum:"auto,${apis}" default:"auto" group:"Models"`
	BaseURL     string        `name:"base-url" help:"Endpoint of the models; if none is given, that of the model's provider by its name, or OpenAI's." placeholder:"URL" group:"Models"`
	APIKey      string        `name:"api-key" help:"Key of the endpoint; on a command line others can read it, so give it in the environment." placeholder:"KEY" group:"Models"`
	Stored      bool          `help:"Have the provider keep the conversation, so that only what is new is sent, where its API can: responses. Else nothing is kept there." group:"Models"`
	Temperature *float64      `help:"Temperature of all roles; the model's own if not given." placeholder:"T" group:"Models"`
	Timeout     time.Duration `help:"Limit of one model call, all attempts together." default:"5m" group:"Models"`
	Attempts    int           `help:"Try one call at most so often, where the endpoint is busy, fails, or gives no whole reply; 1 for once, 0 for ${attempts}." default:"${attempts}" group:"Models"`
	RetryWait   time.Duration `help:"Wait before the second attempt; each further wait is twice as long, and up to half shorter by chance; 0 for ${retry_wait}." default:"${retry_wait}" group:"Models"`
	RetryLimit  time.Duration `help:"Longest such wait, but where the endpoint asks for a longer one; 0 for ${retry_limit}." default:"${retry_limit}" group:"Models"`

	Planner    roleFlags `embed:"" prefix:"planner-" group:"Models, role by role"`
	Actor      roleFlags `embed:"" prefix:"actor-" group:"Models, role by role"`
	WorldModel roleFlags `embed:"" prefix:"worldmodel-" group:"Models, role by role"`
	Monitor    roleFlags `embed:"" prefix:"monitor-" group:"Models, role by role"`

	Grounder grounderFlags `embed:"" prefix:"grounder-" group:"Models, role by role"`

	MaxTokens  int              `help:"Stop before more tokens than this are used; 0 for no limit." placeholder:"N" group:"Limits"`
	MaxDollars float64          `help:"Stop before more than this is spent; needs the price of each model." placeholder:"DOLLARS" group:"Limits"`
	MaxTime    time.Duration    `help:"Stop after this time; 0 for no limit." default:"${max_time}" group:"Limits"`
	Prices     priceList        `help:"File with what models cost: LiteLLM's or models.dev's list, or a table of docs/configuration.md." placeholder:"FILE" group:"Limits"`
	Price      map[string]price `help:"Dollars per million tokens of a model: NAME=input/cached/output, or with /written at the end, for input written to a cache." placeholder:"NAME=I/C/O" group:"Limits"`
}

// roleFlags are what one role has of its own.
type roleFlags struct {
	Model       string        `help:"Model of this role." placeholder:"NAME"`
	Fallback    []string      `help:"Models that take over from it." placeholder:"NAME,…"`
	API         string        `name:"api" help:"How it is asked." enum:",auto,${apis}" default:"" placeholder:"API"`
	BaseURL     string        `name:"base-url" help:"Its endpoint." placeholder:"URL"`
	APIKey      string        `name:"api-key" help:"Key of its endpoint; better in the environment." placeholder:"KEY"`
	Temperature *float64      `help:"Temperature." placeholder:"T"`
	MaxTokens   int           `help:"Longest reply, in tokens." placeholder:"N"`
	Timeout     time.Duration `help:"Limit of one call, such as 90s." placeholder:"TIME"`

	// Others are how the models of Fallback are asked, of a run that is resumed; none: as
	// the table says. Nobody else can say it: where a prompt goes, and with which key, is
	// not for who sends a benchmark's flags.
	Others []run.Way `kong:"-" json:"-"`
}

// grounderFlags are those of the role that finds on the screenshot what the actor names in
// words. Without a model of its own nobody is asked.
type grounderFlags struct {
	roleFlags
	Tries int    `help:"How often it is asked for one place: an answer that can be none is asked for again." default:"${ground_tries}" placeholder:"N"`
	Form  string `help:"How it is asked where something is: auto, by the model's name, or a form of docs/models.md: ${grounders}." enum:"auto,${grounders}" default:"auto" placeholder:"FORM"`
}

// grounders lists the forms in which a model is asked where something is.
func grounders() (names []string) {
	for _, g := range ground.All() {
		names = append(names, g.Name)
	}
	return names
}

// form returns the form in which the grounder is asked; "" if nobody is.
func (f grounderFlags) form() (string, error) {
	if f.Model == "" {
		if f.API != "" || f.BaseURL != "" || f.APIKey != "" || len(f.Fallback) > 0 || f.Temperature != nil || f.MaxTokens != 0 || f.Timeout != 0 || cmp.Or(f.Form, dialect.Auto) != dialect.Auto {
			return "", hintError{errors.New("settings of the grounder are given, and no model for it"), "name it with --grounder-model, or leave them out"}
		}
		return "", nil
	}
	of := func(model string) (string, error) {
		form, _, err := ground.Choose(cmp.Or(f.Form, dialect.Auto), model)
		if err != nil {
			return "", hintError{fmt.Errorf("the grounder: %w", err), "add --grounder-form, or name a model that docs/models.md has in the table of grounding models"}
		}
		return form.Name, nil
	}
	form, err := of(f.Model)
	for _, other := range f.Fallback {
		if its, otherErr := of(other); err == nil && (otherErr != nil || its != form) {
			err = hintError{fmt.Errorf("the fallback %q of the grounder is not asked in the form of the model before it, %s", other, form), "name a model of the same family"}
		}
	}
	return form, err
}

func (f roleFlags) settings() llm.Settings {
	return llm.Settings{Model: f.Model, Fallback: f.Fallback, Temperature: f.Temperature, MaxTokens: f.MaxTokens, Deadline: f.Timeout}
}

// allRoles lists the roles that models play in a run.
var allRoles = []llm.Role{llm.Planner, llm.Actor, llm.WorldModel, llm.Monitor}

// roles lists those that are asked: a grounder, if it has a model.
func (f modelFlags) roles() []llm.Role {
	if f.Grounder.Model == "" {
		return allRoles
	}
	return append(slices.Clone(allRoles), llm.Grounder)
}

// client returns the client of all roles. Untrusted text in its prompts has delimiters that
// nobody can guess; a session gives it those of its run.
func (f modelFlags) client() *llm.Client {
	client := &llm.Client{
		Model:   f.models(),
		Default: llm.Settings{Model: f.Model, Fallback: f.Fallback, Temperature: f.Temperature, Deadline: f.Timeout},
		Retry:   llm.Retry{Attempts: f.Attempts, First: f.RetryWait, Most: f.RetryLimit},
		Roles: map[llm.Role]llm.Settings{
			llm.Planner: f.Planner.settings(), llm.Actor: f.Actor.settings(),
			llm.WorldModel: f.WorldModel.settings(), llm.Monitor: f.Monitor.settings(),
		},
		Budget:   &llm.Budget{MaxTokens: f.MaxTokens, MaxDollars: f.MaxDollars, MaxTime: f.MaxTime, Prices: llm.Prices{}},
		Boundary: rand.Text(),
	}
	if f.Grounder.Model != "" {
		s := f.Grounder.settings()
		if s.Temperature == nil { // there is one place to say
			s.Temperature = new(float64)
		}
		client.Roles[llm.Grounder] = s
	}
	for _, role := range f.roles() {
		s := client.Settings(role)
		for _, model := range append([]string{s.Model}, s.Fallback...) {
			f.priceOf(model, client.Budget.Prices)
		}
	}
	return client
}

// settings are what a run's first event tells of the models.
func (f modelFlags) settings() run.ModelSettings {
	client := f.client()
	ways, others := f.ways()
	actor := f.choose(f.Actor)
	form, _ := f.Grounder.form() // which check has told of
	return run.ModelSettings{
		BaseURL: withoutSecrets(f.base()), Ways: ways, Others: others, Computer: actor.Computer, Grounder: form, GroundTries: f.Grounder.Tries, Retry: client.Retry, Grows: actor.Grows, Roles: rolesOf(client, f.roles()),
		MaxTokens: f.MaxTokens, MaxDollars: f.MaxDollars, MaxTime: f.MaxTime, Prices: client.Budget.Prices,
	}
}

// rolesOf returns what holds for each role.
func rolesOf(c *llm.Client, list []llm.Role) map[llm.Role]llm.Settings {
	roles := map[llm.Role]llm.Settings{}
	for _, role := range list {
		roles[role] = c.Settings(role)
	}
	return roles
}

// withoutSecrets is the address of an endpoint without the parts in which a
// key may be.
func withoutSecrets(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "no address" // its parts cannot be told apart
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// agentFlags say how the agent works.
type agentFlags struct {
	Plan string `help:"Planning: suggestive, which the actor may follow or not; deliberate, a plan that is executed step by step; or off." enum:"suggestive,deliberate,off" default:"${planning}" group:"Agent"`

	Rehearsals int `help:"Where the task asks for what cannot be undone, first try it so many times, each on a private desktop that is made from the same --home and --open and thrown away, with that effect blocked; then do it once, as the best one did." default:"${rehearsals}" group:"Safety"`

	tuningFlags
}

// check refuses flags with which no run can be made.
func (f agentFlags) check() error {
	switch {
	case f.Rehearsals < 0 || f.Rehearsals > rehearsal.Max:
		return hintError{fmt.Errorf("the number of rehearsals is %d", f.Rehearsals), fmt.Sprintf("write --rehearsals with 0 to %d", rehearsal.Max)}
	case f.Rehearsals > 0 && f.Guard == "off":
		return hintError{errors.New("--rehearsals needs the guard, which says what the task asks for and holds it back"), "leave out --guard off, or --rehearsals"}
	case f.Rehearsals > 0 && f.Plan == engine.Deliberate:
		return hintError{errors.New("a deliberate plan is not rehearsed"), "write --plan suggestive or off with --rehearsals"}
	}
	return f.tuningFlags.check()
}

// tuningFlags are what configurations of a benchmark have in common.
type tuningFlags struct {
	Assess       string        `help:"When the world model is asked what came of the last actions: auto, which is where there is a plan, or always." enum:"auto,always" default:"${assess}" group:"Agent"`
	Format       string        `help:"How the model writes its actions: auto for the form that it was trained in, by its name, code for Python, which is read and never run, tools, or a form of docs/models.md: ${formats}." enum:"${formats}" default:"${format}" group:"Agent"`
	ReviewEvery  int           `help:"Have a model review the run every so many steps, and whenever it seems to go in circles; 0 for the latter only." default:"${review_every}" group:"Agent"`
	MaxRevisions int           `help:"Change one plan at most so often; -1 for never." default:"${max_revisions}" group:"Agent"`
	ScreenTokens int           `help:"How much of the screen's text a prompt shows, in tokens." default:"${screen_tokens}" group:"Agent"`
	PlanTries    int           `help:"Try so often in a run to make the suggestive plan, where it could not be made." default:"${plan_tries}" group:"Agent"`
	ReadAlike    float64       `help:"How much of a quote must be found, from 0 to 1, where the picture is read again without knowing it." default:"${read_alike}" group:"Agent"`
	Candidates   int           `help:"Ask the actor for so many proposals at a time, foresee what each would cause, and do one." default:"${candidates}" group:"Agent"`
	KeepImages   int           `help:"How many screenshots stay in the actor's conversation." default:"${keep_images}" group:"Agent"`
	PruneImages  int           `help:"Drop so many older screenshots from it at a time; 0 for what suits the form of the model." default:"${prune_images}" group:"Agent"`
	GuardLimit   time.Duration `help:"Refuse an action of which the guard says nothing for so long." default:"${guard_limit}" group:"Agent"`

	MaxSteps      int `help:"Stop after this many steps." default:"${max_steps}" group:"Limits"`
	MaxBadReplies int `help:"Stop after so many replies in a row that are no action." default:"${max_bad_replies}" group:"Limits"`
	MaxRefusals   int `help:"Stop when the screen did not confirm so many claims that the task is done." default:"${max_refusals}" group:"Limits"`
	MaxDoubts     int `help:"Look at so many claims that the task cannot be done before one stands; 0 for none." default:"${max_doubts}" group:"Limits"`

	Detect detectorFlags `embed:"" prefix:"detect-"`

	executionFlags
	guardFlags
}

// detectorFlags are the thresholds of the detectors.
type detectorFlags struct {
	Repeats    int     `help:"The same actions on the same screen, so many times in a row." default:"${detect_repeats}" group:"Detectors"`
	Window     int     `help:"Turns in which repetitions are looked for." default:"${detect_window}" group:"Detectors"`
	SameScreen int     `help:"So many turns in a row on the same screen." default:"${detect_same_screen}" group:"Detectors"`
	Alternate  int     `help:"So many turns in a row back and forth between two screens." default:"${detect_alternate}" group:"Detectors"`
	NoEffect   int     `help:"So many turns in a row without an effect." default:"${detect_no_effect}" group:"Detectors"`
	NoProgress int     `help:"So many turns in a row on the same step of the plan." default:"${detect_no_progress}" group:"Detectors"`
	LowBudget  float64 `help:"The part of a budget that is low." default:"${detect_low_budget}" group:"Detectors"`
	Reach      int     `help:"So many pixels apart, across and down, two points are the same place." default:"${detect_reach}" group:"Detectors"`
	Again      int     `help:"Ask the monitor again about a trouble so many steps after it has objected." default:"${detect_again}" group:"Detectors"`
	Stuck      int     `help:"End a run after so many turns in a row that led nowhere; those that only wait, or go in a circle of two or three screens, count two thirds." default:"${detect_stuck}" group:"Detectors"`
	Objections int     `help:"End a run that is in trouble after so many objections of the monitor that did not help." default:"${detect_objections}" group:"Detectors"`
}

// newParser is [kong.New] with the default values written into the flags that name them, and
// one dollar for two. kong itself looks for variables six times in each flag of every command,
// which took a third of the program's start: those flags are out of its sight while it does.
func newParser(commands *cli, options ...kong.Option) (*kong.Kong, error) {
	pairs := []string{"$$", "$"}
	for name, value := range defaults() {
		pairs = append(pairs, "${"+name+"}", value)
	}
	fill := strings.NewReplacer(pairs...)
	flags := map[*kong.Node][]*kong.Flag{}
	filled := kong.PostBuild(func(k *kong.Kong) error {
		return kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
			err := next(nil)
			switch node := node.(type) {
			case *kong.Value:
				for _, text := range []*string{&node.Default, &node.Enum, &node.Help} {
					*text = fill.Replace(*text)
					if strings.Contains(*text, "${") && err == nil {
						err = fmt.Errorf("%s: there is no such variable: %s", node.Summary(), *text)
					}
				}
			case *kong.Node:
				flags[node], node.Flags = node.Flags, nil
			}
			return err
		})
	})
	// The last option, after what reads the flags of commands.
	parser, err := kong.New(commands, append(slices.Clip(options), filled)...)
	for node, list := range flags {
		node.Flags = list
	}
	return parser, err
}

// defaults are the default values of flags, which [run.Defaults] has.
func defaults() map[string]string {
	d := run.Defaults()
	a, l, p, r := d.Agent, d.Agent.Detectors, d.Macro.Pictures, d.Models.Retry
	vars := map[string]string{"planning": a.Planning, "assess": a.Assess, "format": a.Format, "formats": strings.Join(dialect.Formats(), ","), "apis": strings.Join(provider.APIs(), ","), "grounders": strings.Join(grounders(), ","), "guard_limit": a.GuardLimit.String(),
		"guard": a.Guard, "approve": a.Approve, "on_block": a.OnBlock, "workspace": a.Workspace, "detect_low_budget": fmt.Sprint(l.LowBudget),
		"judge_limit": a.JudgeLimit.String(), "approval_limit": a.ApprovalLimit.String(), "risk_limit": fmt.Sprint(a.RiskLimit), "read_alike": fmt.Sprint(a.ReadAlike),
		"tool_limit": d.ToolLimits.Time.String(), "patience": d.Macro.Patience.String(), "picture_limit": p.Limit.String(), "picture_score": fmt.Sprint(p.Score), "picture_margin": fmt.Sprint(p.Margin),
		"picture_scaled_score": fmt.Sprint(p.ScaledScore), "picture_scaled_margin": fmt.Sprint(p.ScaledMargin), "picture_part_score": fmt.Sprint(p.PartScore),
		"ocr": d.Display.OCR, "max_time": d.Models.MaxTime.String(), "retry_wait": r.First.String(), "retry_limit": r.Most.String(), "quiet": d.Display.Quiet.String(), "ceiling": d.Display.Ceiling.String(),
		"size": fmt.Sprintf("%dx%d", d.Display.Size.X, d.Display.Size.Y), "stop_keys": d.Display.StopKeys, "takeover": d.Display.Takeover.String(), "tree_silence": d.Display.TreeSilence.String(), "tree_limit": d.Display.TreeLimit.String()}
	for name, n := range map[string]int{
		"review_every": a.ReviewEvery, "max_revisions": a.MaxRevisions, "rehearsals": a.Rehearsals, "screen_tokens": a.ScreenTokens, "keep_images": a.KeepImages, "candidates": a.Candidates,
		"prune_images": a.PruneInterval, "max_steps": a.MaxSteps, "max_bad_replies": a.MaxBadReplies, "max_refusals": a.MaxRefusals, "max_doubts": a.MaxDoubts,
		"detect_repeats": l.Repeats, "detect_window": l.Window, "detect_same_screen": l.SameScreen, "detect_alternate": l.Alternate,
		"detect_no_effect": l.NoEffect, "detect_no_progress": l.NoProgress,
		"detect_reach": l.Reach, "detect_again": l.Again, "detect_stuck": l.Stuck, "detect_objections": l.Objections,
		"plan_tries": a.PlanTries, "careful_edits": a.CarefulEdits, "max_blocked": a.MaxBlocked, "ground_tries": d.Models.GroundTries, "attempts": r.Attempts,
		"max_checks": d.Macro.MaxChecks, "max_heals": d.Macro.MaxHeals, "heal_bad_replies": d.Macro.MaxBadReplies, "tool_text": d.ToolLimits.Text,
		"dpi": d.Display.DPI, "max_image": d.Display.MaxImage, "tree_nodes": d.Display.TreeNodes,
	} {
		vars[name] = strconv.Itoa(n)
	}
	maps.Copy(vars, executionDefaults())
	maps.Copy(vars, planDefaults())
	return vars
}

// agentSettings say what each flag sets.
var agentSettings = map[string]func(*run.AgentSettings, agentFlags){
	"plan":               func(s *run.AgentSettings, f agentFlags) { s.Planning = f.Plan },
	"assess":             func(s *run.AgentSettings, f agentFlags) { s.Assess = f.Assess },
	"format":             func(s *run.AgentSettings, f agentFlags) { s.Format = f.Format },
	"review-every":       func(s *run.AgentSettings, f agentFlags) { s.ReviewEvery = f.ReviewEvery },
	"max-revisions":      func(s *run.AgentSettings, f agentFlags) { s.MaxRevisions = f.MaxRevisions },
	"screen-tokens":      func(s *run.AgentSettings, f agentFlags) { s.ScreenTokens = f.ScreenTokens },
	"rehearsals":         func(s *run.AgentSettings, f agentFlags) { s.Rehearsals = f.Rehearsals },
	"plan-tries":         func(s *run.AgentSettings, f agentFlags) { s.PlanTries = f.PlanTries },
	"read-alike":         func(s *run.AgentSettings, f agentFlags) { s.ReadAlike = f.ReadAlike },
	"candidates":         func(s *run.AgentSettings, f agentFlags) { s.Candidates = f.Candidates },
	"keep-images":        func(s *run.AgentSettings, f agentFlags) { s.KeepImages = f.KeepImages },
	"prune-images":       func(s *run.AgentSettings, f agentFlags) { s.PruneInterval = f.PruneImages },
	"guard":              func(s *run.AgentSettings, f agentFlags) { s.Guard = f.Guard },
	"approve":            func(s *run.AgentSettings, f agentFlags) { s.Approve = f.Approve },
	"on-block":           func(s *run.AgentSettings, f agentFlags) { s.OnBlock = f.OnBlock },
	"workspace":          func(s *run.AgentSettings, f agentFlags) { s.Workspace = f.Workspace },
	"policies":           func(s *run.AgentSettings, f agentFlags) { s.Policies = f.Policies },
	"judge-limit":        func(s *run.AgentSettings, f agentFlags) { s.JudgeLimit = f.JudgeLimit },
	"approval-limit":     func(s *run.AgentSettings, f agentFlags) { s.ApprovalLimit = f.ApprovalLimit },
	"risk-limit":         func(s *run.AgentSettings, f agentFlags) { s.RiskLimit = f.RiskLimit },
	"careful-edits":      func(s *run.AgentSettings, f agentFlags) { s.CarefulEdits = f.CarefulEdits },
	"max-blocked":        func(s *run.AgentSettings, f agentFlags) { s.MaxBlocked = f.MaxBlocked },
	"guard-limit":        func(s *run.AgentSettings, f agentFlags) { s.GuardLimit = f.GuardLimit },
	"max-steps":          func(s *run.AgentSettings, f agentFlags) { s.MaxSteps = f.MaxSteps },
	"max-bad-replies":    func(s *run.AgentSettings, f agentFlags) { s.MaxBadReplies = f.MaxBadReplies },
	"max-refusals":       func(s *run.AgentSettings, f agentFlags) { s.MaxRefusals = f.MaxRefusals },
	"max-doubts":         func(s *run.AgentSettings, f agentFlags) { s.MaxDoubts = f.MaxDoubts },
	"detect-repeats":     func(s *run.AgentSettings, f agentFlags) { s.Detectors.Repeats = f.Detect.Repeats },
	"detect-window":      func(s *run.AgentSettings, f agentFlags) { s.Detectors.Window = f.Detect.Window },
	"detect-same-screen": func(s *run.AgentSettings, f agentFlags) { s.Detectors.SameScreen = f.Detect.SameScreen },
	"detect-alternate":   func(s *run.AgentSettings, f agentFlags) { s.Detectors.Alternate = f.Detect.Alternate },
	"detect-no-effect":   func(s *run.AgentSettings, f agentFlags) { s.Detectors.NoEffect = f.Detect.NoEffect },
	"detect-no-progress": func(s *run.AgentSettings, f agentFlags) { s.Detectors.NoProgress = f.Detect.NoProgress },
	"detect-reach":       func(s *run.AgentSettings, f agentFlags) { s.Detectors.Reach = f.Detect.Reach },
	"detect-again":       func(s *run.AgentSettings, f agentFlags) { s.Detectors.Again = f.Detect.Again },
	"detect-stuck":       func(s *run.AgentSettings, f agentFlags) { s.Detectors.Stuck = f.Detect.Stuck },
	"detect-objections":  func(s *run.AgentSettings, f agentFlags) { s.Detectors.Objections = f.Detect.Objections },
	"detect-low-budget":  func(s *run.AgentSettings, f agentFlags) { s.Detectors.LowBudget = f.Detect.LowBudget },

	"execution":           func(s *run.AgentSettings, f agentFlags) { s.Execution.Mode = f.Execution },
	"max-parallel":        func(s *run.AgentSettings, f agentFlags) { s.Execution.MaxParallel = f.MaxParallel },
	"step-timeout":        func(s *run.AgentSettings, f agentFlags) { s.Execution.StepTimeout = f.StepTimeout },
	"agent-timeout":       func(s *run.AgentSettings, f agentFlags) { s.Execution.AgentTimeout = f.AgentTimeout },
	"step-actions":        func(s *run.AgentSettings, f agentFlags) { s.Execution.StepActions = f.StepActions },
	"step-retries":        func(s *run.AgentSettings, f agentFlags) { s.Execution.Retries = f.StepRetries },
	"continue-on-failure": func(s *run.AgentSettings, f agentFlags) { s.Execution.ContinueOnFailure = f.ContinueOnFailure },
	"reflect":             func(s *run.AgentSettings, f agentFlags) { s.Execution.Reflect = f.Reflect },
	"agent-depth":         func(s *run.AgentSettings, f agentFlags) { s.Execution.AgentDepth = f.AgentDepth },
	"agent-turns":         func(s *run.AgentSettings, f agentFlags) { s.Execution.AgentTurns = f.AgentTurns },
	"plan-low-budget":     func(s *run.AgentSettings, f agentFlags) { s.Execution.LowBudget = f.LowBudget },
}

// settings are what the flags say.
func (f agentFlags) settings() (s run.AgentSettings) {
	for _, set := range agentSettings {
		set(&s, f)
	}
	return s
}

// change sets what stands on the command line, and leaves the rest.
func (f agentFlags) change(s *run.AgentSettings, line *kong.Context) {
	for _, flag := range given(line) {
		if set := agentSettings[flag.Name]; set != nil {
			set(s, f)
		}
	}
}

// check refuses flags with which no run can be made.
func (f tuningFlags) check() error {
	for _, limit := range []struct {
		flag, what string
		n, least   int
	}{
		{"max-steps", "the limit of steps", f.MaxSteps, 1},
		{"max-bad-replies", "the limit of bad replies", f.MaxBadReplies, 1},
		{"max-refusals", "the limit of refused claims", f.MaxRefusals, 1},
		{"max-doubts", "the number of claims that are looked at", f.MaxDoubts, 0},
		{"screen-tokens", "the budget of the screen's text", f.ScreenTokens, 1},
		{"keep-images", "the number of screenshots that stay", f.KeepImages, 1},
		{"prune-images", "the number of screenshots that go at a time", f.PruneImages, 0},
		{"review-every", "the number of steps between reviews", f.ReviewEvery, 0},
		{"plan-tries", "the number of tries to make a plan", f.PlanTries, 1},
		{"careful-edits", "the number of edits that are foreseen", f.CarefulEdits, 1},
		{"max-blocked", "the number of refusals of the same", f.MaxBlocked, 1},
		{"detect-repeats", "a detector's threshold", f.Detect.Repeats, 1},
		{"detect-window", "a detector's threshold", f.Detect.Window, 1},
		{"detect-same-screen", "a detector's threshold", f.Detect.SameScreen, 1},
		{"detect-alternate", "a detector's threshold", f.Detect.Alternate, 1},
		{"detect-no-effect", "a detector's threshold", f.Detect.NoEffect, 1},
		{"detect-no-progress", "a detector's threshold", f.Detect.NoProgress, 1},
		{"detect-reach", "the reach of a place", f.Detect.Reach, 1},
		{"detect-again", "the number of steps until the monitor is asked again", f.Detect.Again, 1},
		{"detect-stuck", "the number of turns without effect that end a run", f.Detect.Stuck, 1},
		{"detect-objections", "the number of objections that end a run", f.Detect.Objections, 1},
	} {
		if limit.n < limit.least {
			return hintError{fmt.Errorf("%s is %d", limit.what, limit.n), fmt.Sprintf("write --%s with %d or more", limit.flag, limit.least)}
		}
	}
	if !(f.Detect.LowBudget > 0 && f.Detect.LowBudget < 1) {
		return hintError{fmt.Errorf("the part of a budget that is low is %v", f.Detect.LowBudget), "write for example --detect-low-budget 0.15"}
	}
	if err := cmp.Or(part("read-alike", f.ReadAlike), part("risk-limit", f.RiskLimit)); err != nil {
		return err
	}
	if f.Policies != "" {
		if _, err := guard.ReadPolicies(f.Policies); err != nil {
			return hintError{err, "desktop-agent policy check FILE tells all that is wrong; policy show writes the policies of the program"}
		}
	}
	if err := f.executionFlags.check(); err != nil {
		return err
	}
	for _, limit := range []struct {
		flag, what string
		is         time.Duration
	}{{"guard-limit", "the guard's limit", f.GuardLimit}, {"judge-limit", "the limit of judging a task", f.JudgeLimit}, {"approval-limit", "the limit of an answer", f.ApprovalLimit}} {
		if limit.is <= 0 {
			return hintError{fmt.Errorf("%s is %v", limit.what, limit.is), fmt.Sprintf("write for example --%s 10m", limit.flag)}
		}
	}
	return nil
}

// part refuses what is no part of a whole: more than nothing, and at most all.
func part(flag string, value float64) error {
	if value > 0 && value <= 1 {
		return nil
	}
	return hintError{fmt.Errorf("--%s is %v", flag, value), "write a part of 1, such as 0.5"}
}

// desktopFlags say which desktop to work on.
type desktopFlags struct {
	Display    string        `help:"X display to work on; $$DISPLAY if not given." env:"DESKTOP_AGENT_DISPLAY,DISPLAY" placeholder:":0" group:"Desktop"`
	Virtual    bool          `help:"Work on a private desktop that nobody sees, instead of this display." group:"Desktop"`
	Open       string        `help:"With --virtual: the program to open, with its arguments." placeholder:"PROGRAM" group:"Desktop"`
	Home       string        `help:"With --virtual: a folder whose content is copied into the desktop's home." placeholder:"FOLDER" group:"Desktop"`
	KeepHome   string        `help:"With --virtual: make the desktop's home this folder, which must not be there yet, and keep it." type:"path" placeholder:"FOLDER" group:"Desktop"`
	KeepFor    time.Duration `name:"keep-desktop" help:"With --virtual: if this program is killed, keep the desktop for so long, such as 10m, for desktop-agent resume to go on with it." placeholder:"TIME" group:"Desktop"`
	Size       size          `help:"With --virtual: the desktop's size in pixels." default:"${size}" group:"Desktop"`
	DPI        int           `name:"dpi" help:"With --virtual: pixels per inch." default:"${dpi}" group:"Desktop"`
	Devices    bool          `name:"machine-devices" help:"With --virtual: programs have the devices, the shared memory and the sudo of this machine, instead of devices and memory of their own." group:"Desktop"`
	StopKeys   string        `help:"The hotkey that stops the agent at once, whatever has the focus; off for none." default:"${stop_keys}" placeholder:"KEYS" group:"Desktop"`
	StopCorner bool          `help:"Stop the agent when a person throws the pointer into a corner of the screen." default:"true" negatable:"" group:"Desktop"`
	Takeover   time.Duration `help:"Pause while a person uses mouse or keyboard, until they have rested for so long; 0 to share the display." default:"${takeover}" group:"Desktop"`
	OnMonitor  int           `name:"monitor" help:"Show the model only this monitor, counted from 1; 0 for all." placeholder:"N" group:"Desktop"`

	rehearses bool // --open and --home are for rehearsals, too

	observationFlags
}

// observationFlags say how a desktop is looked at.
type observationFlags struct {
	MaxImage    int           `help:"Longest side of the image that the model gets, in pixels; 0 for what suits its form." default:"${max_image}" group:"Desktop"`
	Quiet       time.Duration `help:"How long nothing may be drawn before the screen counts as still." default:"${quiet}" group:"Desktop"`
	Ceiling     time.Duration `help:"How long to wait for that at most." default:"${ceiling}" group:"Desktop"`
	TreeSilence time.Duration `help:"A program that tells nothing of its accessibility tree for so long is left out, unless it or its X server wants a processor." default:"${tree_silence}" group:"Desktop"`
	TreeLimit   time.Duration `help:"The most that the tree of one program may take." default:"${tree_limit}" group:"Desktop"`
	TreeNodes   int           `help:"The most elements that are read of one program." default:"${tree_nodes}" group:"Desktop"`
	OCR         string        `name:"ocr" help:"Languages in which text is read from the picture where no program tells it, as tesseract names them, such as eng+deu; off for none. Needs tesseract." default:"${ocr}" placeholder:"LANGUAGES" group:"Desktop"`
}

// languages returns in which languages text is read; "" for none.
func (f observationFlags) languages() string {
	if f.OCR == "off" {
		return ""
	}
	return f.OCR
}

// set has the settings of a desktop say what the flags do.
func (f observationFlags) set(s *run.DisplaySettings) {
	s.MaxImage, s.Quiet, s.Ceiling, s.OCR = f.MaxImage, f.Quiet, f.Ceiling, f.languages()
	s.TreeSilence, s.TreeLimit, s.TreeNodes = f.TreeSilence, f.TreeLimit, f.TreeNodes
}

// observationSettings have each flag say what the settings of a desktop do.
var observationSettings = map[string]func(*observationFlags, run.DisplaySettings){
	"max-image":    func(f *observationFlags, s run.DisplaySettings) { f.MaxImage = s.MaxImage },
	"quiet":        func(f *observationFlags, s run.DisplaySettings) { f.Quiet = s.Quiet },
	"ceiling":      func(f *observationFlags, s run.DisplaySettings) { f.Ceiling = s.Ceiling },
	"tree-silence": func(f *observationFlags, s run.DisplaySettings) { f.TreeSilence = s.TreeSilence },
	"tree-limit":   func(f *observationFlags, s run.DisplaySettings) { f.TreeLimit = s.TreeLimit },
	"tree-nodes":   func(f *observationFlags, s run.DisplaySettings) { f.TreeNodes = s.TreeNodes },
	"ocr":          func(f *observationFlags, s run.DisplaySettings) { f.OCR = cmp.Or(s.OCR, "off") },
}

// check refuses flags with which nothing can be looked at.
func (f observationFlags) check() error {
	if f.MaxImage != 0 && f.MaxImage < 64 || f.Quiet <= 0 || f.Ceiling < f.Quiet || f.TreeSilence <= 0 || f.TreeLimit <= 0 || f.TreeNodes < 1 {
		return hintError{fmt.Errorf("the desktop cannot be looked at so: image %d pixels, quiet %v, ceiling %v, tree silence %v, tree limit %v, tree nodes %d",
			f.MaxImage, f.Quiet, f.Ceiling, f.TreeSilence, f.TreeLimit, f.TreeNodes),
			"--max-image is 64 or more, or 0, --ceiling not below --quiet, and the others are above 0"}
	}
	return nil
}

// settings are what a run's first event tells of the desktop.
func (f desktopFlags) settings() run.DisplaySettings {
	s := run.DisplaySettings{
		Private: f.Virtual, Open: f.Open, Home: f.Home, KeepHome: f.KeepHome, KeepFor: f.KeepFor, MachineDevices: f.Devices, Monitor: f.OnMonitor,
		StopCorner: f.StopCorner, Takeover: f.Takeover,
	}
	f.observationFlags.set(&s)
	if f.StopKeys != "off" {
		s.StopKeys = f.StopKeys
	}
	if f.Virtual {
		s.Size, s.DPI = image.Point(f.Size), f.DPI
	} else {
		s.Name = f.Display
	}
	return s
}

// errNoDisplay says that there is no display to look for.
var errNoDisplay = errors.New("no display: DISPLAY is not set")

// check refuses flags that do not go together. Of a file or the environment, a
// size may wait there for the runs that need it.
func (f desktopFlags) check(line *kong.Context) error {
	for _, flag := range given(line) {
		if (flag.Name == "size" || flag.Name == "dpi") && !f.Virtual {
			return hintError{fmt.Errorf("--%s needs a private desktop", flag.Name), "add --virtual, or leave it out"}
		}
	}
	if f.rehearses && !f.Virtual && f.Home == "" && f.Open == "" {
		return hintError{errors.New("--rehearsals does not know what your desktop is made of"), "say with --home and --open which folder and program the desktops get on which it is rehearsed, or add --virtual"}
	}
	if f.Open != "" && !f.Virtual && !f.rehearses {
		return hintError{errors.New("--open needs a private desktop"), "add --virtual, or open the program yourself"}
	}
	if f.Open != "" && strings.TrimSpace(f.Open) == "" {
		return hintError{errors.New("--open names no program"), "write for example --open mousepad"}
	}
	if _, err := shlex.Split(f.Open); err != nil {
		return hintError{fmt.Errorf("--open: %w", err), "quote a word that holds a space, as in a shell"}
	}
	if f.Home != "" && !f.Virtual && !f.rehearses {
		return hintError{errors.New("--home needs a private desktop"), "add --virtual, or leave it out"}
	}
	if f.KeepHome != "" && !f.Virtual {
		return hintError{errors.New("--keep-home needs a private desktop"), "add --virtual, or leave it out"}
	}
	if f.KeepFor != 0 && !f.Virtual {
		return hintError{errors.New("--keep-desktop needs a private desktop"), "add --virtual, or leave it out: your own desktop stays anyway"}
	}
	if f.Devices && !f.Virtual {
		return hintError{errors.New("--machine-devices needs a private desktop"), "add --virtual, or leave it out: programs of your own desktop have them anyway"}
	}
	if f.KeepFor < 0 {
		return hintError{fmt.Errorf("--keep-desktop is %v", f.KeepFor), "write for example --keep-desktop 10m"}
	}
	if f.Home != "" && !isFolder(f.Home) {
		return hintError{fmt.Errorf("--home: there is no folder %s", f.Home), "name a folder whose content the desktop's home begins with"}
	}
	if f.OnMonitor < 0 {
		return hintError{fmt.Errorf("there is no monitor %d", f.OnMonitor), "monitors count from 1; 0 is all of them"}
	}
	if err := f.observationFlags.check(); err != nil {
		return err
	}
	if _, err := actuator.ParseHotkey(f.StopKeys); err != nil && f.StopKeys != "off" {
		return hintError{fmt.Errorf("--stop-keys: %w", err), "write for example --stop-keys ctrl+alt+escape, or off"}
	}
	if f.Takeover < 0 {
		return hintError{fmt.Errorf("--takeover is %v", f.Takeover), "write for example --takeover 3s, or 0 to share the display"}
	}
	if !f.Virtual && f.Display == "" {
		return hintError{errNoDisplay, "start from a desktop session, set DISPLAY, or add --virtual for a private desktop"}
	}
	return nil
}

// wayland says what is missing in a Wayland session; "" in any other.
func (f desktopFlags) wayland(getenv func(string) string) string {
	if f.Virtual || getenv("XDG_SESSION_TYPE") != "wayland" && getenv("WAYLAND_DISPLAY") == "" {
		return ""
	}
	return "this is a Wayland session, in which only programs that use X11 can be seen and used: " +
		"log in to an X11 session (\"on Xorg\"), or add --virtual for a private desktop"
}

// A size is a width and a height in pixels, written 1280x800.
type size image.Point

// UnmarshalText reads "1280x800".
func (s *size) UnmarshalText(text []byte) error {
	w, h, ok := strings.Cut(string(text), "x")
	var errs [2]error
	s.X, errs[0] = strconv.Atoi(w)
	s.Y, errs[1] = strconv.Atoi(h)
	if !ok || errors.Join(errs[:]...) != nil || s.X < 320 || s.Y < 240 || s.X > 8192 || s.Y > 8192 {
		return fmt.Errorf("%q is no size: write width and height in pixels, such as 1280x800 (from 320x240 to 8192x8192)", text)
	}
	return nil
}

// A price is dollars per million tokens, written input/cached/output.
type price llm.Price

// UnmarshalText reads "1.25/0.125/10".
func (p *price) UnmarshalText(text []byte) error {
	parts := strings.Split(string(text), "/")
	values := make([]float64, len(parts))
	ok := len(parts) == 3 || len(parts) == 4
	for i, part := range parts {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		ok = ok && err == nil && v >= 0 && v < 1e6 // neither NaN nor infinite
		values[i] = v
	}
	if !ok {
		return fmt.Errorf("%q is no price: write dollars per million tokens as input/cached/output or input/cached/output/written, such as 1.25/0.125/10", text)
	}
	*p = price{Input: values[0], Cached: values[1], Output: values[2]}
	if len(values) == 4 {
		p.Written = values[3]
	}
	return nil
}

// priceOf adds what a model costs to a table, if it is known: by a flag, the file of
// --prices, or the table that comes with the program.
func (f modelFlags) priceOf(model string, table llm.Prices) {
	if p, ok := f.Price[model]; ok {
		table[model] = llm.Price(p)
		return
	}
	if p, ok := f.Prices[model]; ok {
		table[model] = p
		return
	}
	shipped, _ := prices.Shipped()
	if p, ok := shipped[model]; ok {
		table[model] = p
	}
}

// maxPriceList is how large a file of prices may be, in bytes; LiteLLM's has 2 MB.
const maxPriceList = 32 << 20

// A priceList is what a file of prices tells.
type priceList llm.Prices

// UnmarshalText reads the file of a name.
func (p *priceList) UnmarshalText(name []byte) error {
	data, err := regular.Read(string(name), maxPriceList)
	if err != nil {
		return err
	}
	list, err := prices.Parse(data)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	*p = priceList(list)
	return nil
}
