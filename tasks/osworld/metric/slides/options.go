package slides

import (
	"fmt"

	"desktop-agent/tasks"
)

// tolerance is the relative difference of two lengths that counts as none.
const tolerance = 0.005

// options say what compare_pptx_files looks at.
type options struct {
	slideCount, shape, text, indent, fontName, fontSize, bold, italic, colour,
	underline, strike, alignment, titleBottom, tableBottom, runCount, right, top,
	shiftSize, imageSize, modifyHeight, bullets, background, note bool
	tolerance float64
}

// readOptions fills in what is not given. Other options, such as enable_debug,
// change nothing.
func readOptions(p tasks.Params) (options, error) {
	o := options{tolerance: tolerance}
	for _, flag := range []struct {
		name    string
		field   *bool
		initial bool
	}{
		{"examine_number_of_slides", &o.slideCount, true},
		{"examine_shape", &o.shape, true},
		{"examine_text", &o.text, true},
		{"examine_indent", &o.indent, true},
		{"examine_font_name", &o.fontName, true},
		{"examine_font_size", &o.fontSize, true},
		{"examine_font_bold", &o.bold, true},
		{"examine_font_italic", &o.italic, true},
		{"examine_color_rgb", &o.colour, true},
		{"examine_font_underline", &o.underline, true},
		{"examine_strike_through", &o.strike, true},
		{"examine_alignment", &o.alignment, true},
		{"examine_run_count", &o.runCount, true},
		{"examine_bullets", &o.bullets, true},
		{"examine_background_color", &o.background, true},
		{"examine_note", &o.note, true},
		{"examine_title_bottom_position", &o.titleBottom, false},
		{"examine_table_bottom_position", &o.tableBottom, false},
		{"examine_right_position", &o.right, false},
		{"examine_top_position", &o.top, false},
		{"examine_shape_for_shift_size", &o.shiftSize, false},
		{"examine_image_size", &o.imageSize, false},
		{"examine_modify_height", &o.modifyHeight, false},
	} {
		*flag.field = flag.initial
		if !p.Has(flag.name) {
			continue
		}
		v, err := p.Bool(flag.name)
		if err != nil {
			return o, err
		}
		*flag.field = v
	}
	if p.Has("approximately_tolerance") {
		v, err := p.Number("approximately_tolerance")
		if err != nil {
			return o, err
		}
		if !(v >= 0 && v <= 1) {
			return o, fmt.Errorf("approximately_tolerance: %g is not a share between 0 and 1", v)
		}
		o.tolerance = v
	}
	return o, nil
}
