package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"slices"

	"desktop-agent/actuator"
	"desktop-agent/actuator/dialect"
	"desktop-agent/actuator/ground"
	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// A Grounder asks a model where on a picture something is that words name.
type Grounder struct {
	Model llm.Model
	Form  *ground.Grounder // in which its family is asked
	Tries int              // for one place; 0 for [run.DefaultGroundTries]
}

// A grounding is what a model said of a place.
type grounding struct {
	At    image.Point // pixel of the image that the actor saw
	Model string      // that said it, if that is told
	Asked int         // how often
	Why   string      // it is no place to act on; "" if it is one
}

// find asks where on o.Image the model sees what words name. An answer that is no point of
// the picture, or is one on an element that is called otherwise, is asked for again, with
// the reason. The error says that the model could not be asked.
func (g *Grounder) find(ctx context.Context, words string, o *screen.Observation) (s grounding, err error) {
	request, picture, err := g.request(words, o)
	if err != nil {
		return s, err
	}
	for s.Asked = 1; ; s.Asked++ {
		response, err := g.Model.Complete(ctx, request)
		if err != nil && !errors.Is(err, llm.ErrBadReply) {
			return s, fmt.Errorf("ground: %w", err)
		}
		if response == nil { // what came cannot be read
			response = &llm.Response{}
		}
		s.Model = cmp.Or(response.Model, s.Model)
		s.At, s.Why = g.read(response, words, picture, o)
		if s.Why == "" || s.Asked >= cmp.Or(g.Tries, run.DefaultGroundTries) {
			return s, nil
		}
		again := "That cannot be it, for this reason:\n" + llm.Untrusted("reason", s.Why) + "\nAnswer once more, in the same form."
		if response.Text != "" {
			request.Messages = append(request.Messages, response.Message())
		}
		request.Messages = append(request.Messages, llm.UserText(again))
	}
}

// read returns the pixel of o.Image that a reply gives, or why it is none to act on.
func (g *Grounder) read(response *llm.Response, words string, picture screen.Mapping, o *screen.Observation) (at image.Point, why string) {
	p, err := g.Form.Read(actuator.Reply{Text: response.Text, Ended: response.Finish == llm.FinishStop}, picture.Size)
	if err != nil {
		return at, err.Error()
	}
	at = o.Image.Mapping.ToImage(picture.ToDevice(image.Pt(p.X, p.Y)))
	if n := o.PlaceAt(at).Node; n >= 0 && !o.MayBe(words, n) {
		is := run.ElementOf(actuator.Handle(o.Tree.Nodes[n].ID), o.Tree.Nodes[n])
		return at, fmt.Sprintf("at (%d, %d) there is %s, which is called otherwise", at.X, at.Y, is)
	}
	return at, ""
}

// request is the question where something is, with the picture in the size that the family
// wants.
func (g *Grounder) request(words string, o *screen.Observation) (*llm.Request, screen.Mapping, error) {
	size := g.Form.Image.Fit(o.Image.Mapping.Source.Size(), 0)
	picture, err := o.Scaled(size)
	if err != nil {
		return nil, picture.Mapping, err
	}
	screenshot := llm.Image{Data: picture.Data, Type: picture.Type, FrameID: o.FrameID}
	if size != o.Image.Mapping.Size {
		screenshot.FrameID += "-ground"
	}
	list, err := g.Form.Ask(words, size)
	if err != nil {
		return nil, picture.Mapping, err
	}
	request := &llm.Request{Role: llm.Grounder, Purpose: "ground", Prompt: g.Form.Hash()}
	if schema := g.Form.Schema(size); schema != nil {
		request.Schema = &llm.Schema{Name: "point", JSON: schema}
	}
	for _, m := range list {
		message := llm.Message{From: llm.Speaker(m.From)}
		for _, p := range m.Parts {
			if p.Screenshot == dialect.Newest && p.Text == "" {
				message.Parts = append(message.Parts, screenshot)
			} else {
				message.Parts = append(message.Parts, llm.Text(p.Text))
			}
		}
		request.Messages = append(request.Messages, message)
	}
	return request, picture.Mapping, nil
}

// A finding is what words mean on the newest observation.
type finding struct {
	at    actuator.Point // a handle, or a pixel
	bad   error          // a [*actuator.ParseError]: why nothing is done there
	event run.Grounded
}

// found are the findings on one observation: the same words are not looked for twice on it.
type found struct {
	frame string
	words map[string]finding
}

// name says of the actions of proposals which elements they aim at. What the actor named in
// words is looked for in the tree first, and then by the model that finds things on a
// picture, one after the other in the order of the alphabet: a replay asks in the same order.
func (r *episode) name(ctx context.Context, o *screen.Observation, list []proposal) error {
	var words []string
	for _, p := range list {
		words = append(words, named(p.Actions)...)
	}
	slices.Sort(words)
	for _, w := range slices.Compact(words) {
		if err := r.find(ctx, w, o); err != nil {
			return err
		}
	}
	for i := range list {
		if list[i].bad != nil {
			continue
		}
		r.place(&list[i])
		if list[i].bad == nil {
			list[i].Actions, list[i].bad = run.Name(list[i].Actions, o)
		}
		if list[i].bad != nil {
			list[i].Proposal = actuator.Proposal{}
		}
	}
	return nil
}

// named returns the words by which actions name something.
func named(actions []actuator.Action) (words []string) {
	for _, a := range actions {
		for _, p := range actuator.Points(a) {
			if p.Element.Words != "" {
				words = append(words, p.Element.Words)
			}
		}
	}
	return words
}

// place puts what was found in the place of words.
func (r *episode) place(p *proposal) {
	for _, w := range slices.Compact(slices.Sorted(slices.Values(named(p.Actions)))) {
		f := r.found.words[w]
		p.grounded = append(p.grounded, f.event)
		if p.bad == nil {
			p.bad = f.bad
		}
	}
	for i, a := range p.Actions {
		p.Actions[i] = actuator.Moved(a, func(at actuator.Point) actuator.Point {
			if f, ok := r.found.words[at.Element.Words]; ok && at.Element.Words != "" {
				return f.at
			}
			return at
		})
	}
}

// find looks for what words mean, unless it was looked for on this observation.
func (r *episode) find(ctx context.Context, words string, o *screen.Observation) error {
	if r.found.frame != o.FrameID || r.found.words == nil {
		r.found = found{o.FrameID, map[string]finding{}}
	}
	if _, known := r.found.words[words]; known {
		return nil
	}
	f := finding{event: run.Grounded{FrameID: o.FrameID, Words: words}}
	id, covered, bad := run.ByWords(words, o)
	switch {
	case bad != nil:
		f.bad = bad
	case id != "":
		f.at, f.event.By = actuator.Point{Element: actuator.Element{ID: id}}, "tree"
	case r.Grounder != nil:
		if err := r.byModel(ctx, &f, o); err != nil {
			return err
		}
	case covered != "": // why it cannot be reached is told when it is looked for
		f.at, f.event.By = actuator.Point{Element: actuator.Element{ID: covered}}, "tree"
	default:
		f.bad = run.NotNamed(words, "", o)
	}
	if f.bad == nil {
		placed, err := run.Name([]actuator.Action{actuator.Move{At: f.at}}, o)
		if err != nil {
			return err // it was found on the same observation
		}
		at := actuator.Points(placed[0])[0]
		f.event.At, f.event.Target = image.Pt(at.X, at.Y), at.Element.String()
	} else {
		f.event.Error = f.bad.Error()
	}
	r.found.words[words] = f
	return nil
}

// byModel asks the model where on the picture words are meant. That it cannot be asked, or
// does not find it, is told to the actor, and nothing is done.
func (r *episode) byModel(ctx context.Context, f *finding, o *screen.Observation) error {
	s, err := r.Grounder.find(ctx, f.event.Words, o)
	f.event.Model, f.event.Asked = cmp.Or(s.Model, r.Settings.Models.Roles[llm.Grounder].Model), s.Asked
	switch {
	case fatal(ctx, err):
		return err
	case err != nil:
		r.log().WarnContext(ctx, "the place was not found", "err", err)
		f.bad = run.NotNamed(f.event.Words, "the model that looks for it on the screenshot could not be asked", o)
	case s.Why != "":
		f.bad = run.NotNamed(f.event.Words, "the model that looks for it on the screenshot did not find it: "+s.Why, o)
	default:
		f.at, f.event.By = actuator.Point{X: s.At.X, Y: s.At.Y}, "model"
	}
	return nil
}
