package main

import (
	"context"
	"errors"
	"fmt"
	"image"

	"desktop-agent/actuator/dialect"
	"desktop-agent/actuator/ground"
	"desktop-agent/actuator/native"
	"desktop-agent/agent"
	"desktop-agent/llm"
)

// pointing has the actor's model click on a mark that is drawn on a picture, in the form and
// at the size of a run.
func (p *checkup) pointing(ctx context.Context) (string, error) {
	client := p.modelFlags.client()
	name := client.Settings(llm.Actor).Model
	if name == "" {
		return "no model is named", errNotChecked
	}
	if !p.answers {
		return "", errEarlier
	}
	chosen, _, err := native.Choose(p.Format, name, p.choose(p.Actor).Computer)
	if err != nil {
		return "", err
	}
	format, err := agent.FormatOf(chosen)
	if err != nil {
		return "", err
	}
	area, size := p.sent(chosen)
	aimed, err := (&agent.Actor{Model: client, Format: format}).Aim(ctx, area, size)
	return p.aimed(name+", which writes "+chosen+",", aimed, err, "try another --format or --max-image: docs/models.md says which model takes which; or have the actor aim by the list alone")
}

// grounder has the model point that finds what the actor names in words.
func (p *checkup) grounder(ctx context.Context) (string, error) {
	name := p.Grounder.Model
	form, err := p.Grounder.form()
	if err != nil {
		return "", err
	}
	if name == "" {
		return "none is named: what the actor names in words is looked for in the tree alone", errNotChecked
	}
	if err := p.mixed(p.Format); err != nil {
		return "", err
	}
	client := p.modelFlags.client()
	area, _ := p.sent("")
	aimed, err := (&agent.Grounder{Model: client, Form: ground.Named(form)}).Aim(ctx, area)
	return p.aimed(name+", asked as "+form+",", aimed, err, "try another --grounder-form: docs/models.md says which model takes which; the server must not resize pictures otherwise than the family does")
}

// usualDesktop is what is taken for a desktop where there is none.
var usualDesktop = image.Pt(1280, 800)

// sent returns how large the desktop is that a model sees, and the picture that it is sent in
// a form.
func (p *checkup) sent(form string) (area, size image.Point) {
	if p.now != nil {
		m := p.now.Image.Mapping
		return m.Source.Size(), m.Size
	}
	if tool := native.OfFormat(form); tool != nil {
		return usualDesktop, tool.Image.Fit(usualDesktop, p.MaxImage)
	}
	if d := dialect.Named(form); d != nil {
		return usualDesktop, d.Image.Fit(usualDesktop, p.MaxImage)
	}
	return usualDesktop, dialect.Image{}.Fit(usualDesktop, p.MaxImage)
}

// aimed tells how a model points.
func (p *checkup) aimed(who string, a agent.Aimed, err error, hint string) (string, error) {
	if errors.Is(err, agent.ErrNoPoint) {
		return "", hintError{fmt.Errorf("%s was shown a mark on a picture of %dx%d: %w", who, a.Size.X, a.Size.Y, err), hint}
	}
	if err != nil {
		return "", err
	}
	where := fmt.Sprintf("%s points %.0f pixels from the middle of a mark on a picture of %dx%d", who, a.Off, a.Size.X, a.Size.Y)
	if !a.Hit {
		return "", hintError{errors.New(where + ", beside it"), hint}
	}
	text := fmt.Sprintf("%s, in %d ms", where, a.Latency.Milliseconds())
	switch {
	case a.Picture >= 0:
		text += fmt.Sprintf("; the picture costs %d tokens", a.Picture)
	default:
		text += "; what a picture costs is not told"
	}
	switch {
	case a.Cached > 0:
		text += fmt.Sprintf("; of what was sent before, %.0f %% comes from the cache", 100*a.Cached)
	case a.Cached == 0:
		text += "; nothing of what was sent before comes from a cache"
	}
	return text, nil
}
