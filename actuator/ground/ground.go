// Package ground asks models that were trained to find things on a screen where
// something is: a phrase and a picture become a pixel of the picture.
//
// A [Grounder] is the form in which a family is asked and answers: its prompt, the size of
// its pictures, its way of giving points. [Named] finds it by its name, and [Choose] by
// the name of a model, from a table that is data. [Grounder.Ask] is what the model is asked,
// at temperature 0, and [Grounder.Read] makes a pixel of what it says; [Grounder.Write] is
// the way back.
//
// A picture is sent in a size that servers leave as it is ([dialect.Image.Fit]); of one in
// another size the resizing is computed and undone.
//
// An answer must be a point and no prose: numbers in the marks of a point or a box (its
// middle), JSON, or the one click of the family's own form. Of several candidates in a list
// the first counts, which these models think best. Points outside of the picture, boxes that
// reach out of it, and answers with anything else to do are refused with an
// [*actuator.ParseError], which the model can read when it is asked again. 0 is a point as
// any other.
package ground

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"regexp"
	"strings"
	"text/template"
	"unicode"

	"desktop-agent/actuator"
	"desktop-agent/actuator/dialect"
)

// A Grounder is the form in which a family of models says where something is.
type Grounder struct {
	Name   string // such as "gta1"
	Family string // for a person to read
	Scale  int    // points are on a grid up to it; 0 if they are pixels of the picture
	Image  dialect.Image

	prompt string // of its templates
	below  bool   // the picture stands below the words of the question
	form   form
}

// A form is how a point is written.
type form struct {
	write   func(g *Grounder, p actuator.Point, size image.Point) string
	dialect string                        // whose click an answer may be; "" for none
	code    bool                          // its clicks are code
	schema  func(most image.Point) string // that answers may be held to; nil for none
}

//go:embed prompts/*.tmpl
var promptFiles embed.FS

var prompts = template.Must(template.New("").Option("missingkey=error").ParseFS(promptFiles, "prompts/*.tmpl"))

// promptData is the data of all templates.
type promptData struct {
	Name   string
	Phrase string
	Width  int // of the picture, as the model sees it
	Height int
	Schema string // that the answer follows; "" for none
}

// tag begins what a prompt or a chat template could take for a mark of its own: a phrase may
// repeat what a screen shows.
var tag = regexp.MustCompile(`<+([|/A-Za-z])`)

// maxPhrase bounds a phrase, in characters.
const maxPhrase = 500

// Ask returns the question where something is on a picture of that size. The phrase names
// one thing, such as "the Save button of the dialog".
func (g *Grounder) Ask(phrase string, size image.Point) ([]dialect.Message, error) {
	phrase = strings.Join(strings.FieldsFunc(tag.ReplaceAllString(phrase, "$1"), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	switch n := len([]rune(phrase)); {
	case n == 0:
		return nil, errors.New("nothing was named; write in some words what to look for")
	case n > maxPhrase:
		return nil, fmt.Errorf("what to look for is named in %d characters, more than %d; name one thing in a few words", n, maxPhrase)
	case size.X < 1 || size.Y < 1:
		return nil, fmt.Errorf("a picture of %dx%d shows nothing", size.X, size.Y)
	}
	seen := g.Image.Resize(size)
	data := promptData{Name: g.Name, Phrase: phrase, Width: seen.X, Height: seen.Y, Schema: string(g.Schema(size))}
	var list []dialect.Message
	system, err := render(g.prompt+".system", data)
	if err != nil {
		return nil, err
	}
	if system != "" {
		list = append(list, dialect.Message{From: dialect.System, Parts: []dialect.Part{{Text: system}}})
	}
	asked, err := render(g.prompt+".user", data)
	if err != nil {
		return nil, err
	}
	parts := []dialect.Part{{Screenshot: dialect.Newest}, {Text: asked}}
	if g.below {
		parts[0], parts[1] = parts[1], parts[0]
	}
	return append(list, dialect.Message{From: dialect.User, Parts: parts}), nil
}

func render(name string, data promptData) (string, error) {
	var b strings.Builder
	if err := prompts.ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("prompt %s: %w", name, err)
	}
	return strings.TrimSpace(b.String()), nil
}

// Schema returns the JSON schema that answers about a picture of that size follow, for
// servers that hold a model to one; nil if the family answers in no JSON.
func (g *Grounder) Schema(size image.Point) json.RawMessage {
	if g.form.schema == nil {
		return nil
	}
	most := g.Image.Resize(size).Sub(image.Pt(1, 1))
	if g.Scale > 0 {
		most = image.Pt(g.Scale, g.Scale)
	}
	return json.RawMessage(g.form.schema(most))
}

// Write returns a pixel of a picture of that size as a model of the family answers.
func (g *Grounder) Write(p actuator.Point, size image.Point) string { return g.form.write(g, p, size) }

// space returns where the points of an answer are.
func (g *Grounder) space(size image.Point) dialect.Space {
	if g.Scale > 0 {
		return dialect.SpaceOf(size, g.Scale)
	}
	return g.Image.Space(size)
}

// Hash names the wording of the family's question, for the journal.
func (g *Grounder) Hash() string {
	text, err := promptFiles.ReadFile("prompts/" + g.prompt + ".tmpl")
	if err != nil {
		return "" // a test holds that it is there
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}
