package getter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"desktop-agent/tasks"
	"desktop-agent/tasks/asset"
	"desktop-agent/tasks/office"
)

func checkSlide(p tasks.Params) error {
	if err := all(needs("ppt_file_path", "slide_index"), checkName("dest"))(p); err != nil {
		return err
	}
	n, err := p.Number("slide_index")
	if err == nil && (n < 0 || n != float64(int(n))) {
		err = errors.New("slide_index is not the number of a slide, from 0")
	}
	return err
}

// slideAudio is audio_in_slide: the first sound of a slide.
func (g *getter) slideAudio(ctx context.Context) (tasks.Value, error) {
	return g.slide(ctx, audio)
}

// slideBackground is background_image_in_slide: the picture behind a slide.
func (g *getter) slideBackground(ctx context.Context) (tasks.Value, error) {
	return g.slide(ctx, background)
}

// slide copies what a slide uses. What lies elsewhere is a file of the task.
func (g *getter) slide(ctx context.Context, find finder) (tasks.Value, error) {
	guest, err1 := need(g.p, "ppt_file_path")
	n, err2 := g.p.Number("slide_index")
	dest, err3 := need(g.p, "dest")
	name, remove, err4 := g.temporary()
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	defer remove()
	if found, err := g.fetch(ctx, guest, name, g.o.MaxFile); err != nil || !found {
		return nil, err
	}
	data, external, err := media(name, int(n), find)
	if err != nil {
		g.o.Log.InfoContext(ctx, "nothing in the slide", "path", guest, "err", err)
		return nil, nil
	}
	if external != "" {
		return g.config(ctx, external)
	}
	file, err := g.place(dest)
	if err != nil {
		return nil, err
	}
	if err := asset.Save(bytes.NewReader(data), file, g.o.MaxFile); err != nil {
		return nil, err
	}
	return tasks.File{Path: file}, nil
}

// errNoMedia says that a slide has no sound, or no picture as its background.
var errNoMedia = errors.New("none in the slide")

// A finder finds the reference to what a slide uses.
type finder func(slide *office.Node, rels office.Relations) (office.Relation, bool)

// audio finds the first sound of a slide.
func audio(_ *office.Node, rels office.Relations) (office.Relation, bool) {
	for _, r := range rels.List {
		if r.Kind == "audio" {
			return r, true
		}
	}
	return office.Relation{}, false
}

// background finds the picture that is the background of a slide itself.
func background(slide *office.Node, rels office.Relations) (office.Relation, bool) {
	blip := slide.Child("p:cSld", "p:bg", "p:bgPr", "a:blipFill", "a:blip")
	r, ok := rels.ByID(blip.Attr("r:embed"))
	if !ok {
		r, ok = rels.ByID(blip.Attr("r:link"))
	}
	return r, ok
}

// media returns what slide n of a pptx file, from 0, uses: its bytes if it is
// embedded, or else the path of the file, as the presentation has it.
func media(file string, n int, find finder) (data []byte, external string, err error) {
	a, err := office.Open(file)
	if err != nil {
		return nil, "", err
	}
	defer a.Close()
	p, err := a.Presentation()
	if err != nil {
		return nil, "", err
	}
	if n < 0 || n >= len(p.Slides) {
		return nil, "", fmt.Errorf("slide %d of %d: %w", n+1, len(p.Slides), errNoMedia)
	}
	slide, err := a.XML(p.Slides[n])
	if err != nil {
		return nil, "", err
	}
	rels, err := a.Relations(p.Slides[n])
	if err != nil {
		return nil, "", err
	}
	r, ok := find(slide, rels)
	if !ok {
		return nil, "", fmt.Errorf("slide %d: %w", n+1, errNoMedia)
	}
	if !r.External {
		data, err = a.Read(r.Target, 0)
		return data, "", err
	}
	u, err := url.Parse(r.Target)
	if err != nil {
		return nil, "", fmt.Errorf("external file: %w", err)
	}
	if u.Scheme != "file" && u.Scheme != "" || u.Path == "" || strings.ContainsRune(u.Path, 0) {
		return nil, "", fmt.Errorf("external file: %.80q is not a file:// reference", r.Target)
	}
	return nil, u.Path, nil
}
