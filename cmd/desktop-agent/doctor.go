package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"desktop-agent/actuator"
	"desktop-agent/actuator/dialect"
	"desktop-agent/actuator/native"
	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/screen/ocr"
)

// doctorCmd checks what a run needs, piece by piece. Each line is ok or says
// what to do.
type doctorCmd struct {
	Format string `help:"How the model writes its actions, as of a run: ${formats}." enum:"${formats}" default:"${format}" group:"Agent"`

	desktopFlags
	modelFlags
	toolFlags
}

// checkLimit bounds each check but those of models, which have their own limits.
const checkLimit = 20 * time.Second

// A checkup is one run of the checks; later checks need what earlier ones found.
type checkup struct {
	*doctorCmd
	session *run.Session // nil until the display was found
	input   bool         // mouse and keyboard were found
	unfit   error        // why there is no display to look for
	log     *slog.Logger
	now     *screen.Observation
	limited string // what bounds tasks; "" until that is known
	answers bool   // the models answer, and see pictures
}

// A check is one line of the doctor's report.
type check struct {
	name string
	run  func(context.Context) (found string, err error)
}

// errNotChecked says that there is nothing to check, and errEarlier that
// something is missing which an earlier check has told of.
var (
	errNotChecked = errors.New("not checked")
	errEarlier    = errors.New("an earlier check failed")
)

// Run makes all checks and fails if one did.
func (d *doctorCmd) Run(ctx context.Context, c console, g *cli, line *kong.Context) error {
	// That there is no display is what the first check tells.
	unfit := d.desktopFlags.check(line)
	if unfit != nil && !errors.Is(unfit, errNoDisplay) {
		return &usageError{unfit}
	}
	p := &checkup{doctorCmd: d, unfit: unfit, log: logger(c, g.Verbose)}
	defer p.close()
	checks := []check{
		{"session", p.kind}, {"display", p.see}, {"screenshot", p.screenshot}, {"monitors", p.monitors},
		{"windows", p.windows}, {"window manager", p.manager}, {"accessibility", p.accessibility}, {"OCR", p.ocr},
		{"input", p.act}, {"click and keys", p.clickAndType}, {"clipboard", p.clipboard}, {"api", p.api}, {"format", p.format},
		{"isolation", p.isolation}, {"task limits", p.limits}, {"desktop apart", p.apart}, {"keys", p.keys}, {"tools", p.tools}, {"model", p.model},
		{"pointing", p.pointing}, {"grounder", p.grounder},
	}
	failed := 0
	for _, check := range checks {
		limited, cancel := context.WithTimeoutCause(ctx, checkLimit, fmt.Errorf("no answer within %v", checkLimit))
		switch check.name {
		case "model", "pointing", "grounder":
			limited = ctx
		}
		found, err := check.run(limited)
		cancel()
		if ctx.Err() != nil {
			return context.Canceled
		}
		state := "ok  "
		switch {
		case errors.Is(err, errEarlier):
			state, found = "skip", err.Error()
		case errors.Is(err, errNotChecked):
			state = "skip"
		case err != nil:
			failed++
			state, found = "FAIL", oneLine(err)
		}
		fmt.Fprintf(c.Out, "%s  %-14s  %s\n", state, check.name, printable(found))
		if hint := hintOf(err); hint != "" {
			fmt.Fprintf(c.Out, "      %-14s  → %s\n", "", hint)
		}
	}
	if failed > 0 {
		fmt.Fprintf(c.Out, "\n%d of %d checks failed. Do what the lines marked FAIL say, then run doctor again.\n", failed, len(checks))
		return errReported
	}
	fmt.Fprintln(c.Out, "\nEverything that was checked works.")
	return nil
}

// open opens a session, without mouse and keyboard. on is the display that it
// shares; nil for the one of the flags. What is done there is done because the
// user asked for it by name, so no guard is asked.
func (p *checkup) open(ctx context.Context, on *run.Computer) (*run.Session, error) {
	settings := run.Settings{Display: p.desktopFlags.settings(), Agent: run.AgentSettings{Format: p.Format}, Models: p.modelFlags.settings()}
	return run.Open(ctx, settings, &run.Options{
		Agent: "doctor", Exempt: run.ExemptDoctor, NoInput: true, Computer: on, Getenv: os.Getenv, Log: p.log,
		Watch: func(e run.Event) {
			if d, ok := e.Data.(run.Acting); ok {
				p.log.InfoContext(ctx, "acting", "action", actuator.Name(d.Action.Action), "exempt", d.Exempt)
			}
		},
	})
}

// close ends the session, if there is one.
func (p *checkup) close() {
	if p.session != nil {
		p.session.Close()
	}
}

// do performs an action.
func (p *checkup) do(ctx context.Context, a actuator.Action, f actuator.Frame) error {
	p.session.Scope.Turn()
	return p.session.Hand.Perform(ctx, run.Intent{Action: a, Frame: f, On: p.now, Source: run.FromProgram})
}

// kind tells the type of the session.
func (p *checkup) kind(context.Context) (string, error) {
	if p.unfit != nil {
		return "", p.unfit
	}
	if note := p.wayland(os.Getenv); note != "" {
		what, do, _ := strings.Cut(note, ": ")
		return "", hintError{errors.New(what), do}
	}
	if p.Virtual {
		return "a private desktop (X11)", nil
	}
	return "X11", nil
}

// see connects to the display and looks at its size.
func (p *checkup) see(ctx context.Context) (string, error) {
	if !p.Virtual && p.Display == "" {
		return "", errEarlier
	}
	s, err := p.open(ctx, nil)
	if err != nil {
		return "", err
	}
	p.session = s
	scale, err := scaleOf(s.Display)
	return s.Display + ", " + scale, err
}

func (p *checkup) screenshot(ctx context.Context) (string, error) {
	if p.session == nil {
		return "", errEarlier
	}
	now, err := p.session.Screen.Observe(ctx)
	if err != nil {
		return "", err
	}
	p.now = now
	size, sent := now.Frame.Rect.Size(), now.Image.Mapping.Size
	return fmt.Sprintf("%dx%d pixels, a model is sent %dx%d (%.0f %%, %d KB); still after %d ms, taken in %d ms", size.X, size.Y, sent.X, sent.Y,
		100*float64(sent.X)/float64(now.Image.Mapping.Source.Dx()), len(now.Image.Data)/1000,
		now.Timing.Settle.Milliseconds(), (now.Timing.Total - now.Timing.Settle).Milliseconds()), nil
}

func (p *checkup) monitors(context.Context) (string, error) {
	if p.now == nil {
		return "", errEarlier
	}
	var list []string
	for i, m := range p.now.Monitors {
		list = append(list, fmt.Sprintf("%d: %s, %dx%d at (%d, %d)", i+1, m.Name, m.Box.Dx(), m.Box.Dy(), m.Box.Min.X, m.Box.Min.Y))
	}
	if len(list) == 0 {
		return "", hintError{errors.New("the display tells of no monitor"), "is one switched on? see xrandr"}
	}
	return strings.Join(list, "; "), nil
}

func (p *checkup) windows(context.Context) (string, error) {
	if p.now == nil {
		return "", errEarlier
	}
	if w, ok := p.now.Focused(); ok {
		return fmt.Sprintf("%d; %q has the focus", len(p.now.Windows), w.Title), nil
	}
	return fmt.Sprintf("%d; none has the focus", len(p.now.Windows)), nil
}

func (p *checkup) manager(context.Context) (string, error) {
	if p.session == nil {
		return "", errEarlier
	}
	name, err := managerOf(p.session.Display)
	if err == nil && name == "" {
		err = hintError{errors.New("none is running, so that windows get no focus"), "start one, such as openbox (apt-get install openbox)"}
	}
	return name, err
}

func (p *checkup) accessibility(context.Context) (string, error) {
	if p.now == nil {
		return "", errEarlier
	}
	tree := p.now.Tree
	if tree.Err != nil {
		return "", hintError{fmt.Errorf("no tree: %w", tree.Err),
			"install at-spi2-core, switch accessibility on by `gsettings set org.gnome.desktop.interface toolkit-accessibility true`, and start the programs anew; " +
				"without it the model has the picture alone"}
	}
	if len(tree.Hung) > 0 {
		var names []string
		for _, program := range tree.Hung {
			names = append(names, program.Name)
		}
		return "", hintError{fmt.Errorf("no answer from %s", strings.Join(names, ", ")), "restart these programs, or do without their texts"}
	}
	return fmt.Sprintf("%d elements in %d ms", len(tree.Nodes), p.now.Timing.Tree.Milliseconds()), nil
}

// ocr looks for what reads text from the picture. It can be done without.
func (p *checkup) ocr(ctx context.Context) (string, error) {
	languages := p.desktopFlags.settings().OCR
	if languages == "" {
		return "not read: --ocr is off", errNotChecked
	}
	reader, err := ocr.Open(ctx, &ocr.Options{Languages: languages, Log: p.log})
	if errors.Is(err, ocr.ErrMissing) {
		return "tesseract is not installed: programs that tell no text are seen in the picture alone; apt-get install tesseract-ocr", errNotChecked
	}
	if err != nil {
		return "", err
	}
	defer reader.Close()
	found, err := reader.Describe(ctx)
	return "read in " + languages + " by " + found, err
}

// act connects to mouse and keyboard.
func (p *checkup) act(ctx context.Context) (string, error) {
	if p.session == nil {
		return "", errEarlier
	}
	if err := p.session.OpenInput(ctx); err != nil {
		return "", seatError(err)
	}
	p.input = true
	return "mouse and keyboard over XTEST", nil
}

// sampleText is text that a keyboard of any layout cannot type by itself.
const sampleText = "aZ?ñЖ漢😀"

// clipboard reads the clipboard. It writes only where nobody else's text is on
// it: text that it put there would be gone with this program.
func (p *checkup) clipboard(ctx context.Context) (string, error) {
	if !p.input {
		return "", errEarlier
	}
	text, owned, err := p.session.Clipboard(ctx)
	if owned && err == nil {
		return fmt.Sprintf("%d characters were read, and left there", len([]rune(string(text)))), nil
	}
	if owned {
		return fmt.Sprintf("not written to, because a program has something on it (%v)", err), errNotChecked
	}
	if err != nil {
		return "", err
	}
	if err := p.do(ctx, actuator.SetClipboard{Text: sampleText}, nil); err != nil {
		return "", err
	}
	other, err := p.open(ctx, &run.Computer{Display: p.session.Display, Screen: p.session.Screen})
	if err == nil {
		defer other.Close()
		err = other.OpenInput(ctx)
	}
	if err != nil {
		return "", err
	}
	if text, _, err = other.Clipboard(ctx); err != nil {
		return "", err
	}
	if text != sampleText {
		return "", hintError{fmt.Errorf("of %d characters, %d came back changed", len([]rune(sampleText)), len([]rune(string(text)))),
			"is a clipboard manager running that changes texts? stop it"}
	}
	return "letters of several scripts were written and read; it is empty again", nil
}

// api tells how the model of each role is asked, and why.
func (p *checkup) api(context.Context) (string, error) {
	var list []string
	for _, role := range p.roles() {
		w := p.way(p.own(role), getenv)
		text := fmt.Sprintf("%s at %s (%s)", w.API, withoutSecrets(w.BaseURL), w.Why)
		if err := w.CheckKey(w.key); err != nil {
			return "", hintError{fmt.Errorf("%s: %w", role, err), "give each provider its own key: --api-key, or for a role such as --actor-api-key"}
		}
		if w.key == "" {
			text += ", without a key"
		}
		list = append(list, text)
	}
	if same := slices.Compact(slices.Clone(list)); len(same) == 1 {
		return same[0], nil
	}
	for i, role := range p.roles() {
		list[i] = string(role) + ": " + list[i]
	}
	return strings.Join(list, "; "), nil
}

// format tells how the actor's model will write its actions, and why.
func (p *checkup) format(context.Context) (string, error) {
	model := p.modelFlags.client().Settings(llm.Actor).Model
	c := p.choose(p.Actor)
	chosen, why, err := native.Choose(p.Format, model, c.Computer)
	if err != nil {
		return "", err
	}
	found := chosen + ": " + why
	if c.ComputerWhy != "" && c.Computer == "" {
		found += "; not by a tool of its provider: " + c.ComputerWhy
	}
	if d := dialect.Named(chosen); d != nil {
		found += fmt.Sprintf("; the form of %s, %s, at most %d screenshots in a request", d.Family, d.Points(), d.Screenshots)
	}
	return found, nil
}

// model has each model look at a picture.
func (p *checkup) model(ctx context.Context) (string, error) {
	client := p.modelFlags.client()
	named := false
	for _, role := range allRoles {
		named = named || client.Settings(role).Model != ""
	}
	if !named {
		return "none is named; to check one, add --model NAME, and --base-url URL unless it is OpenAI's", errNotChecked
	}
	if err := client.Check(); err != nil {
		return "", err
	}
	var list []string
	seen := map[string]bool{}
	for _, role := range allRoles {
		name := client.Settings(role).Model
		if seen[name] {
			continue
		}
		seen[name] = true
		health, err := llm.Probe(ctx, client, role)
		if err != nil {
			return "", err
		}
		list = append(list, fmt.Sprintf("%s sees a picture and answers by a schema in %d ms", name, health.Latency.Milliseconds()))
	}
	p.answers = true
	return strings.Join(list, "; "), nil
}
