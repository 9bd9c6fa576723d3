package slides

import (
	"errors"
	"fmt"

	"desktop-agent/tasks/office"
)

// A deck is a presentation as python-pptx sees it.
type deck struct {
	*office.Archive
	width, height int64 // of a slide, in EMU
	slides        []*slide
	masters       []*baseSlide
	parts         map[string]*baseSlide
}

// A baseSlide is a slide, layout, master, or page of notes.
type baseSlide struct {
	part    string
	root    *office.Node
	shapes  []*shape
	byIndex map[string]*shape // the first placeholder of each index
	byKind  map[string]*shape // and of each kind
	rels    office.Relations
}

// A slide has its layout and master, or empty ones.
type slide struct {
	baseSlide
	layout, master *baseSlide
	theme          *office.Node
	notes          string
}

// load reads a presentation; the caller closes it.
func load(name string) (*deck, error) {
	a, err := office.Open(name)
	if err != nil {
		return nil, err
	}
	d := &deck{Archive: a, parts: map[string]*baseSlide{}}
	if err := d.fill(); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return d, nil
}

func (d *deck) fill() error {
	p, err := d.Presentation()
	if err != nil {
		return err
	}
	size := p.Root.Child("p:sldSz")
	d.width, _ = emu(size.Attr("cx"))
	d.height, _ = emu(size.Attr("cy"))
	for _, part := range p.Masters {
		m, err := d.baseSlide(part)
		if err != nil {
			return err
		}
		d.masters = append(d.masters, m)
	}
	for i, part := range p.Slides {
		s, err := d.slide(part)
		if err != nil {
			return fmt.Errorf("slide %d: %w", i+1, err)
		}
		d.slides = append(d.slides, s)
	}
	return nil
}

func (d *deck) slide(part string) (*slide, error) {
	own, err := d.baseSlide(part)
	if err != nil {
		return nil, err
	}
	s := &slide{baseSlide: *own}
	if s.layout, err = d.below(part, "slideLayout"); err != nil {
		return nil, err
	}
	if s.master, err = d.below(s.layout.part, "slideMaster"); err != nil {
		return nil, err
	}
	theme, err := d.below(s.master.part, "theme")
	if err != nil {
		return nil, err
	}
	s.theme = theme.root
	notes, err := d.below(part, "notesSlide")
	if err != nil {
		return nil, err
	}
	if body := notes.byKind["body"]; body != nil && body.hasText() {
		s.notes = body.text()
	}
	s.inherit()
	return s, nil
}

// below reads the part of a kind that a part refers to; an empty sheet if it
// refers to none.
func (d *deck) below(part, kind string) (*baseSlide, error) {
	if part == "" {
		return &baseSlide{}, nil
	}
	rels, err := d.Relations(part)
	next := rels.First(kind)
	if err != nil || next == "" {
		return &baseSlide{}, err
	}
	return d.baseSlide(next)
}

func (d *deck) baseSlide(part string) (*baseSlide, error) {
	if s := d.parts[part]; s != nil {
		return s, nil
	}
	root, err := d.XML(part)
	if err != nil {
		return nil, err
	}
	rels, err := d.Relations(part)
	if err != nil {
		return nil, err
	}
	s := &baseSlide{part: part, root: root, rels: rels, byIndex: map[string]*shape{}, byKind: map[string]*shape{}}
	s.shapes = shapesIn(root.Child("p:cSld", "p:spTree"))
	for _, sh := range s.shapes {
		if sh.ph == nil {
			continue
		}
		if s.byIndex[sh.ph.idx] == nil {
			s.byIndex[sh.ph.idx] = sh
		}
		if s.byKind[sh.ph.kind] == nil {
			s.byKind[sh.ph.kind] = sh
		}
	}
	d.parts[part] = s
	return s, nil
}
