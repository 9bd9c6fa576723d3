package slides

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/defect"
)

// checkPageNumberColours: the page numbers are red, green, blue or black.
func checkPageNumberColours(of defect.Set) tasks.Metric {
	return func(_ context.Context, result, expected tasks.Value, _ tasks.Params) (tasks.Score, error) {
		p, err := rules(expected)
		if err != nil {
			return tasks.Score{}, err
		}
		name, err := p.Text("color")
		known := slices.Contains([]string{"red", "green", "blue", "black"}, name)
		if err != nil || !known && !of.Has(unknownColour) {
			return tasks.Score{}, fmt.Errorf("color: %v is none of red, green, blue and black", p["color"])
		}
		return one(result, func(d *deck) (tasks.Score, error) {
			if of.Has(lastMasterColour) {
				return d.lastColour(func(c [3]float64) bool { return !known || resembles(c, name) })
			}
			return d.numbersAre(name, func(c [3]float64) bool { return !known || resembles(c, name) })
		})
	}
}

// checkSlideNumbersColour: the page numbers are exactly FF0000.
func checkSlideNumbersColour(of defect.Set) tasks.Metric {
	red := [3]float64{255, 0, 0}
	return func(_ context.Context, result, _ tasks.Value, _ tasks.Params) (tasks.Score, error) {
		return one(result, func(d *deck) (tasks.Score, error) {
			if of.Has(markedNumber) {
				return d.markedColour(red)
			}
			return d.numbersAre("red", func(c [3]float64) bool { return c == red })
		})
	}
}

// numbersAre judges the page numbers that slides show; if none does, those that
// the masters hold ready.
func (d *deck) numbersAre(name string, right func([3]float64) bool) (tasks.Score, error) {
	shown := 0
	judge := func(where, colour string) string {
		shown++
		if c, ok := rgb(colour); !ok || !right(c) {
			return fmt.Sprintf("the page number of %s has the colour %q, which is not %s", where, colour, name)
		}
		return ""
	}
	for i, s := range d.slides {
		if colour, ok := s.numberColour(); ok {
			if why := judge(fmt.Sprintf("slide %d", i+1), colour); why != "" {
				return tasks.No(why), nil
			}
		}
	}
	if shown > 0 {
		return tasks.Yes(), nil
	}
	for i, m := range d.masters {
		theme, err := d.below(m.part, "theme")
		if err != nil {
			return tasks.No(err.Error()), nil
		}
		if number := m.byKind["sldNum"]; number != nil {
			s := &slide{layout: &baseSlide{}, master: m, theme: theme.root}
			if why := judge(fmt.Sprintf("master %d", i+1), s.textColour(number)); why != "" {
				return tasks.No(why), nil
			}
		}
	}
	if shown == 0 {
		return tasks.No("there are no page numbers"), nil
	}
	return tasks.Yes(), nil
}

// lastColour judges the last colour of text in slideMaster1.xml that is not
// black; if there is none, the last of anything that is not, or the last.
func (d *deck) lastColour(right func([3]float64) bool) (tasks.Score, error) {
	root, err := d.XML("ppt/slideMasters/slideMaster1.xml")
	if err != nil {
		return tasks.No(err.Error()), nil
	}
	colour, last := "", ""
	for run := range root.Below("a:rPr") {
		for solid := range run.Below("a:solidFill") {
			for c := range solid.Below("a:srgbClr") {
				if v := c.Attr("val"); v != "" && v != "000000" {
					colour = v
				}
			}
		}
	}
	if colour == "" {
		for solid := range root.Below("a:solidFill") {
			for c := range solid.Below("a:srgbClr") {
				if last = c.Attr("val"); last != "" && last != "000000" {
					colour = last
				}
			}
		}
	}
	if colour == "" {
		colour = last
	}
	if c, ok := rgb(colour); !ok || !right(c) {
		return tasks.No(fmt.Sprintf("the page number has the colour %q", colour)), nil
	}
	return tasks.Yes(), nil
}

// markedColour judges the paragraph that reads "<number>" at a master, if some
// slide has a shape with a number only. It has the colour of its a:pPr/a:defRPr.
func (d *deck) markedColour(want [3]float64) (tasks.Score, error) {
	digits := func(s string) bool {
		return s != "" && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsDigit(r) }) < 0
	}
	if !slices.ContainsFunc(d.slides, func(s *slide) bool {
		return slices.ContainsFunc(s.shapes, func(sh *shape) bool { return digits(sh.text()) })
	}) {
		return tasks.No("there are no page numbers"), nil
	}
	for _, m := range d.masters {
		for _, sh := range m.shapes {
			if sh.ph != nil && sh.text() == "<number>" {
				set := sh.node.Child("p:txBody", "a:p", "a:pPr", "a:defRPr", "a:solidFill", "a:srgbClr").Attr("val")
				if c, ok := rgb(set); ok && c == want {
					return tasks.Yes(), nil
				}
				return tasks.No(fmt.Sprintf("the page number has the colour %q", set)), nil
			}
		}
	}
	return tasks.No("no master has a page number"), nil
}
