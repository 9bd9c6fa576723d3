package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"desktop-agent/actuator/dialect"
	"desktop-agent/agent"
	"desktop-agent/internal/confirm"
	"desktop-agent/internal/regular"
	"desktop-agent/replay"
	"desktop-agent/replay/macro"
	"desktop-agent/run"
)

// divergedFile shows, in the folder of a run, what was expected and what was seen.
const divergedFile = "diverged.png"

// macro does the recorded actions on a live desktop.
func (r *replayCmd) macro(ctx context.Context, c console, g *cli, stored *replay.Run, line *kong.Context) error {
	m, err := macro.Load(stored, &macro.LoadOptions{Declare: r.Param})
	switch {
	case err != nil && len(r.Param) > 0:
		return &usageError{err}
	case err != nil:
		return hintError{err, "desktop-agent runs verify tells what is damaged"}
	}
	if r.Params {
		showParams(c, m)
		return nil
	}
	if err := r.setParams(ctx, c, m); err != nil {
		return err
	}
	client := r.modelFlags.client()
	if r.Heal == "model" {
		if err := client.Check(); err != nil {
			return &usageError{err}
		}
	}
	settings, err := r.settings(stored, line)
	if err != nil {
		return err
	}
	settings.Macro = r.playFlags.settings()
	r.guardAnew(&settings.Agent)
	j := job{settings: settings, secrets: keysOf(r.keys(getenv)...), who: "macro", json: r.JSON, runs: r.Runs, keepHome: r.KeepHome, steps: len(m.Steps), log: logger(c, g.Verbose)}
	if r.Heal == "model" {
		j.client = client
	}
	w, err := j.onDesktop(ctx, c)
	if err != nil {
		return err
	}
	defer w.Close()
	p := macro.New(w.Session)
	if r.Heal == "model" {
		format, err := healFormat(r.Format)
		if err != nil {
			return err
		}
		p.Heal = (&macro.ModelHealer{Model: client, Format: format, MaxBadReplies: settings.Macro.MaxBadReplies}).Heal
	}
	return r.play(ctx, c, w, p, m)
}

// playFlags say how a macro is played.
type playFlags struct {
	Patience       time.Duration `help:"With --macro: how long to look for what a step needs, and then for what it leads to." default:"${patience}" group:"Macro"`
	MaxChecks      int           `help:"With --macro: how often to check before input that nothing moves, while windows come and go." default:"${max_checks}" group:"Macro"`
	MaxHeals       int           `help:"With --heal model: how often a model is asked for one step." default:"${max_heals}" group:"Macro"`
	HealBadReplies int           `help:"With --heal model: replies in a row that are no action, until that is an error." default:"${heal_bad_replies}" group:"Macro"`

	Picture pictureFlags `embed:"" prefix:"picture-"`
}

// pictureFlags say when a place on the screen is what was recorded, by its picture.
type pictureFlags struct {
	Score        float64       `help:"With --macro: how alike a place and the recorded picture must be, from 0 to 1." default:"${picture_score}" group:"Macro"`
	Margin       float64       `help:"With --macro: how much less alike all other places must be." default:"${picture_margin}" group:"Macro"`
	ScaledScore  float64       `help:"With --macro: how alike they must be where the picture has another size." default:"${picture_scaled_score}" group:"Macro"`
	ScaledMargin float64       `help:"With --macro: how much less alike all other places must be then." default:"${picture_scaled_margin}" group:"Macro"`
	PartScore    float64       `help:"With --macro: how alike each part of it must be then." default:"${picture_part_score}" group:"Macro"`
	Limit        time.Duration `help:"With --macro: how long to look for a picture in one frame." default:"${picture_limit}" group:"Macro"`
}

// playSettings say what each flag sets.
var playSettings = map[string]func(*run.MacroSettings, playFlags){
	"patience":              func(s *run.MacroSettings, f playFlags) { s.Patience = f.Patience },
	"max-checks":            func(s *run.MacroSettings, f playFlags) { s.MaxChecks = f.MaxChecks },
	"max-heals":             func(s *run.MacroSettings, f playFlags) { s.MaxHeals = f.MaxHeals },
	"heal-bad-replies":      func(s *run.MacroSettings, f playFlags) { s.MaxBadReplies = f.HealBadReplies },
	"picture-score":         func(s *run.MacroSettings, f playFlags) { s.Pictures.Score = f.Picture.Score },
	"picture-margin":        func(s *run.MacroSettings, f playFlags) { s.Pictures.Margin = f.Picture.Margin },
	"picture-scaled-score":  func(s *run.MacroSettings, f playFlags) { s.Pictures.ScaledScore = f.Picture.ScaledScore },
	"picture-scaled-margin": func(s *run.MacroSettings, f playFlags) { s.Pictures.ScaledMargin = f.Picture.ScaledMargin },
	"picture-part-score":    func(s *run.MacroSettings, f playFlags) { s.Pictures.PartScore = f.Picture.PartScore },
	"picture-limit":         func(s *run.MacroSettings, f playFlags) { s.Pictures.Limit = f.Picture.Limit },
}

// settings are what the flags say.
func (f playFlags) settings() (s run.MacroSettings) {
	for _, set := range playSettings {
		set(&s, f)
	}
	return s
}

// check refuses flags with which nothing could be found.
func (f playFlags) check() error {
	if f.Patience <= 0 || f.MaxChecks < 1 || f.MaxHeals < 1 || f.HealBadReplies < 1 || f.Picture.Limit <= 0 {
		return hintError{fmt.Errorf("a macro cannot be played so: patience %v, %d checks, %d heals, %d bad replies, pictures %v", f.Patience, f.MaxChecks, f.MaxHeals, f.HealBadReplies, f.Picture.Limit),
			"--patience, --max-checks, --max-heals, --heal-bad-replies and --picture-limit are above 0"}
	}
	p := f.Picture
	return cmp.Or(part("picture-score", p.Score), part("picture-margin", p.Margin), part("picture-scaled-score", p.ScaledScore), part("picture-scaled-margin", p.ScaledMargin),
		part("picture-part-score", p.PartScore))
}

// play plays a macro, and says how it ended.
func (r *replayCmd) play(ctx context.Context, c console, w *work, p *macro.Player, m *macro.Macro) error {
	ctx, cancel := w.While(ctx)
	defer cancel()
	result, err := p.Play(ctx, m)
	err = w.finish(err)
	diverged, _ := errors.AsType[*macro.DivergedError](err)
	healed := ""
	if result.Healed > 0 {
		healed = fmt.Sprintf("; a model was asked for %d of them, %s", result.Healed, counted(result.Calls, "call"))
	}
	fmt.Fprintf(c.Err, "%d of %d steps done%s\n", result.Steps, len(m.Steps), healed)
	tellStopped(c, w.Session)
	rest := errors.Join(keepPicture(w.journal.Dir(), diverged), w.report(c))
	switch {
	case diverged != nil:
		fmt.Fprintf(c.Err, "desktop-agent: %s\nexpected and seen: %s\nhint: %s\n", oneLine(err), filepath.Join(w.journal.Dir(), divergedFile),
			r.divergedHint())
		return errors.Join(errNotDone, rest)
	case result.Outcome == run.OutcomeStopped:
		return errors.Join(context.Canceled, rest)
	}
	return errors.Join(err, rest)
}

// divergedHint says what to do where the desktop is another one.
func (r *replayCmd) divergedHint() string {
	if r.Heal == "model" {
		return "begin from the same state; the report tells what the model did"
	}
	return "begin from the same state, or add --heal model --model NAME"
}

// keepPicture writes what was expected and what was seen into the run's folder.
func keepPicture(dir string, d *macro.DivergedError) error {
	if d == nil {
		return nil
	}
	stored, err := replay.Open(dir)
	if err != nil {
		return err
	}
	var data bytes.Buffer
	if err := png.Encode(&data, d.Picture()); err != nil {
		return err
	}
	return stored.Keep(divergedFile, data.Bytes())
}

// showParams lists what can be given anew.
func showParams(c console, m *macro.Macro) {
	list := m.Params()
	if len(list) == 0 {
		fmt.Fprintln(c.Err, "no text of this run is known to be a parameter; name one with --param NAME=TEXT")
	}
	for _, p := range list {
		text := fmt.Sprintf("%q", p.Text)
		if p.Secret {
			text = "(not recorded: it must be given)"
		}
		fmt.Fprintf(c.Out, "%s\t%s\ttyped in step %s\n", p.Name, text, stepList(p.Steps))
	}
}

// stepList writes numbers of steps: "3, 7".
func stepList(steps []int) string {
	words := make([]string, len(steps))
	for i, n := range steps {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ", ")
}

// setParams puts other texts in the place of recorded ones. The person sees what
// will be typed, and is asked where it is not what was recorded.
func (r *replayCmd) setParams(ctx context.Context, c console, m *macro.Macro) error {
	given, err := r.values(ctx, c, m)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if err := m.Set(name, given[name]); err != nil {
			return &usageError{hintError{err, "desktop-agent replay --macro --params RUN lists them"}}
		}
	}
	for _, p := range m.Params() {
		text := fmt.Sprintf("%q", p.Text)
		value, set := given[p.Name]
		switch {
		case p.Secret:
			text = "the given text"
		case set:
			text = fmt.Sprintf("%q instead of %q", value, p.Text)
		}
		fmt.Fprintln(c.Err, printable(fmt.Sprintf("parameter %s: type %s in step %s", p.Name, text, stepList(p.Steps))))
	}
	if len(r.Set) == 0 || r.Yes {
		return nil
	}
	ask := asker(c)
	if ask == nil {
		return &usageError{hintError{errors.New("nobody can be asked whether this is right"), "add --yes"}}
	}
	if answer, err := ask(ctx, "is this right? [y/N]"); err != nil || !confirm.IsYes(answer) {
		return cmp.Or(err, context.Canceled)
	}
	return nil
}

// maxValue is the longest text that a parameter is given by a file, in bytes.
const maxValue = 1 << 20

// values returns the texts that are given for parameters: by --set, where @FILE
// keeps a text off the command line, or, for passwords, on the terminal.
func (r *replayCmd) values(ctx context.Context, c console, m *macro.Macro) (map[string]string, error) {
	values := maps.Clone(r.Set)
	for name, value := range values {
		file, isFile := strings.CutPrefix(value, "@")
		switch {
		case strings.HasPrefix(file, "@"): // @@ is a text that begins with @
			values[name] = file
		case isFile:
			data, err := regular.Read(file, maxValue)
			if err != nil {
				return nil, &usageError{hintError{fmt.Errorf("--set %s: %w", name, err), "name a readable file after @; a text that begins with @ is written @@"}}
			}
			values[name] = strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
		}
	}
	for _, p := range m.Params() {
		if _, set := values[p.Name]; set || !p.Secret {
			continue
		}
		if !term.IsTerminal(int(os.Stdin.Fd())) {
			return nil, &usageError{hintError{fmt.Errorf("the password %s is not in the recording", p.Name),
				"give it with --set " + p.Name + "=@FILE, or run this on a terminal to be asked"}}
		}
		text, err := askSecret(ctx, c, p.Name)
		if err != nil {
			return nil, err
		}
		if values == nil {
			values = map[string]string{}
		}
		values[p.Name] = text
	}
	return values, nil
}

// healFormat returns how a model that is asked to heal a step answers: that prompt is for
// code and tools, so models with a form of their own write code.
func healFormat(name string) (agent.Format, error) {
	if name != dialect.Tools {
		name = dialect.Code
	}
	return agent.FormatOf(name)
}
