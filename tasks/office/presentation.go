package office

import (
	"cmp"
	"fmt"
)

// MaxSlides is how many slides of a presentation are read.
const MaxSlides = 5000

// A Presentation is the main part of a pptx file.
type Presentation struct {
	Root    *Node
	Masters []string // the parts of the slides' masters, in order
	Slides  []string // the parts of the slides, in order
}

// Presentation reads the main part of a pptx file.
func (a *Archive) Presentation() (*Presentation, error) {
	main, err := a.Relations("")
	if err != nil {
		return nil, err
	}
	part := cmp.Or(main.First("officeDocument"), "ppt/presentation.xml")
	root, err := a.XML(part)
	if err != nil {
		return nil, err
	}
	if !root.Is("p:presentation") {
		return nil, fmt.Errorf("%.80q holds %.40q, not a presentation", part, root.Name)
	}
	rels, err := a.Relations(part)
	if err != nil {
		return nil, err
	}
	p := &Presentation{Root: root}
	for id := range root.Child("p:sldMasterIdLst").All("p:sldMasterId") {
		r, _ := rels.ByID(id.Attr("r:id"))
		p.Masters = append(p.Masters, r.Target)
	}
	seen := map[string]bool{}
	for id := range root.Child("p:sldIdLst").All("p:sldId") {
		r, _ := rels.ByID(id.Attr("r:id"))
		if len(p.Slides) == MaxSlides {
			return nil, fmt.Errorf("%w: more than %d slides", ErrTooLarge, MaxSlides)
		}
		if seen[r.Target] {
			return nil, fmt.Errorf("slide %d: %.80q is listed twice", len(p.Slides)+1, r.Target)
		}
		seen[r.Target] = true
		p.Slides = append(p.Slides, r.Target)
	}
	return p, nil
}
