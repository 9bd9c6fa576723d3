package slides

import (
	"context"
	"errors"
	"fmt"

	"desktop-agent/tasks"
	"desktop-agent/tasks/office"
	"desktop-agent/tasks/osworld/defect"
)

// checkPortrait: slides are higher than wide.
func checkPortrait(_ context.Context, result, _ tasks.Value, _ tasks.Params) (tasks.Score, error) {
	return one(result, func(d *deck) (tasks.Score, error) {
		if d.width > 0 && d.width < d.height {
			return tasks.Yes(), nil
		}
		return tasks.No(fmt.Sprintf("slides are %v wide and %v high", length{d.width, true}, length{d.height, true})), nil
	})
}

// checkTransition: slide slide_idx (from 0) begins with a transition_type, such
// as "dissolve".
func checkTransition(of defect.Set) tasks.Metric {
	return func(_ context.Context, result, expected tasks.Value, _ tasks.Params) (tasks.Score, error) {
		p, err := rules(expected)
		if err != nil {
			return tasks.Score{}, err
		}
		n, errIndex := index(p, "slide_idx")
		name, errName := p.Text("transition_type")
		if errName == nil && name == "" {
			errName = errors.New(`transition_type: missing: give one such as "dissolve"`)
		}
		if err := errors.Join(errIndex, errName); err != nil {
			return tasks.Score{}, err
		}
		return one(result, func(d *deck) (tasks.Score, error) {
			root, err := d.slideRoot(n, of)
			if err != nil {
				return tasks.No(err.Error()), nil
			}
			// What a newer program shows comes first, and its fallback after it.
			transition := first(root, "p:transition")
			if transition == nil {
				return tasks.No(fmt.Sprintf("slide %d has no transition", n+1)), nil
			}
			if of.Has(transitionBelow) && first(transition, "p:"+name) != nil {
				return tasks.Yes(), nil
			}
			var has []string
			for _, k := range transition.Kids {
				if !of.Has(transitionBelow) && k.Local() == name {
					return tasks.Yes(), nil
				}
				has = append(has, k.Local())
			}
			return tasks.No(fmt.Sprintf("slide %d has the transition %.80q instead of %q", n+1, has, name)), nil
		})
	}
}

// first returns the first element of a name below n, or nil.
func first(n *office.Node, name string) *office.Node {
	for found := range n.Below(name) {
		return found
	}
	return nil
}

// slideRoot is slide n, from 0.
func (d *deck) slideRoot(n int, of defect.Set) (*office.Node, error) {
	if of.Has(slideByFile) {
		return d.XML(fmt.Sprintf("ppt/slides/slide%d.xml", n+1))
	}
	if n >= len(d.slides) {
		return nil, fmt.Errorf("there is no slide %d, there are %d", n+1, len(d.slides))
	}
	return d.slides[n].root, nil
}

// fillDistance: 1 less the mean distance of the slides' backgrounds from rgb, 1
// between black and white. It is 1 too for what has no colour, or still has
// original_rgb.
func fillDistance(of defect.Set) tasks.Metric {
	return func(_ context.Context, result, expected tasks.Value, _ tasks.Params) (tasks.Score, error) {
		p, err := rules(expected)
		if err != nil {
			return tasks.Score{}, err
		}
		want, err := triple(p, "rgb")
		if err != nil {
			return tasks.Score{}, err
		}
		before, without := [3]float64{}, !p.Has("original_rgb")
		if !without {
			if before, err = triple(p, "original_rgb"); err != nil {
				return tasks.Score{}, err
			}
		}
		return one(result, func(d *deck) (tasks.Score, error) {
			if len(d.slides) == 0 {
				return tasks.No("there are no slides"), nil
			}
			sum, why := 0.0, ""
			for i, s := range d.slides {
				fill := s.background()
				if of.Has(plainFills) {
					fill = s.plainBackground()
				}
				far := 1.0
				if c, ok := rgb(fill.colour); ok && (without || c != before) {
					far = distance(c, want)
				}
				if far > 0 && why == "" {
					why = fmt.Sprintf("slide %d has the background %q instead of %v", i+1, fill.colour, want)
				}
				sum += far
			}
			return tasks.Score{Value: 1 - sum/float64(len(d.slides)), Why: why}, nil
		})
	}
}

// triple reads red, green and blue, from 0 to 255 each.
func triple(p tasks.Params, key string) (c [3]float64, err error) {
	list := p.List(key)
	if len(list) != 3 {
		return c, fmt.Errorf("%s: %v is not a list of red, green and blue", key, p[key])
	}
	for i := range list {
		c[i], err = tasks.Params{key: list[i]}.Number(key)
		if err != nil || !(c[i] >= 0 && c[i] <= 255) {
			return c, fmt.Errorf("%s: %v is not a number from 0 to 255", key, list[i])
		}
	}
	return c, nil
}

// checkStrikethrough: the first run of the paragraphs paragraph_index_s of the
// shapes shape_index_s of the slides slide_index_s (all from 0) is struck through.
func checkStrikethrough(of defect.Set) tasks.Metric {
	return func(_ context.Context, result, expected tasks.Value, _ tasks.Params) (tasks.Score, error) {
		p, err := rules(expected)
		if err != nil {
			return tasks.Score{}, err
		}
		inSlides, err1 := indices(p, "slide_index_s")
		inShapes, err2 := indices(p, "shape_index_s")
		inParagraphs, err3 := indices(p, "paragraph_index_s")
		if err := errors.Join(err1, err2, err3); err != nil {
			return tasks.Score{}, err
		}
		return one(result, func(d *deck) (tasks.Score, error) {
			for _, i := range inSlides {
				for _, j := range inShapes {
					for _, k := range inParagraphs {
						if why := d.struck(i, j, k, of); why != "" {
							return tasks.No(fmt.Sprintf("slide %d, shape %d, paragraph %d: %s", i+1, j+1, k+1, why)), nil
						}
					}
				}
			}
			return tasks.Yes(), nil
		})
	}
}

// struck says why a paragraph is not struck through, or "".
func (d *deck) struck(slide, shape, paragraph int, of defect.Set) string {
	if slide >= len(d.slides) || shape >= len(d.slides[slide].shapes) {
		return "there is none"
	}
	paras := d.slides[slide].shapes[shape].paras
	if paragraph >= len(paras) || len(paras[paragraph].runs) == 0 {
		return "there is no text"
	}
	strike := paras[paragraph].runs[0].strike
	if of.Has(noStrike) && strike != "" || cross(strike) != "noStrike" {
		return ""
	}
	return "the text is not struck through"
}
