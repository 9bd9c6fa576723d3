// Package slides judges presentations of the pptx kind.
//
// A presentation is read as python-pptx reads it, which the tasks were made
// with: slides in the order of presentation.xml; shapes in document order, where
// placeholders that do not say where they lie inherit it from layout and master;
// only p:sp has text, of which runs are a:r alone, line breaks are \v and fields
// count as text; and of a run's format what is set at the run itself.
//
// # compare_pptx_files
//
// The metric scores 1 if all that its options ask for is equal, else 0 with the
// first difference. These are on unless a task says otherwise:
//
//   - examine_number_of_slides; without it, the slides that both have are compared
//   - examine_background_color: the colour of a slide's background
//   - examine_note: the notes, without blanks around
//   - examine_shape: left, top, width and height, which may differ by
//     approximately_tolerance (0.005) of the greater; 0 is near 0 only
//   - examine_text: of shapes, paragraphs and, in tables, cells
//   - examine_alignment: none is left
//   - examine_indent: the level of paragraphs
//   - examine_run_count: how many runs a paragraph has; blank paragraphs have none
//   - examine_font_name, examine_font_size: not set differs from any
//   - examine_font_bold, examine_font_italic, examine_font_underline,
//     examine_strike_through: not set is no
//   - examine_color_rgb: where both runs have a colour in RGB
//   - examine_bullets: character or number format, level and text of all
//     paragraphs with text
//
// The numbers of shapes, paragraphs and text shapes, also in groups, and the
// size of tables must be equal in any case. Of text in groups only text and
// alignment are compared, of text in tables only text, colour, bold, italic and
// underline.
//
// The others are off. They were made for one task each and name what it has;
// with the first four, what was expected is the presentation before the task,
// and examine_shape must be off:
//
//   - examine_title_bottom_position: shapes titled "Product Comparison" lie
//     lower than before, at 10 cm or below; shapes whose text has changed, or
//     that have none, lie where they were
//   - examine_table_bottom_position: tables of slide 3 lie lower than before, at
//     10 cm or below; all else lies where it was
//   - examine_right_position: shapes of slide 2 that cannot have text lie further
//     right than before, at 12 cm or beyond
//   - examine_top_position: pictures of slide 2 lie higher than before, at 5.5 cm
//     or above
//   - examine_shape_for_shift_size: as examine_shape, but for shapes with the
//     text "Elaborate on what you want to discuss."
//   - examine_image_size: of pictures, width and height; of all else, the place
//     too
//   - examine_modify_height: of shapes that cannot have text and of freeforms,
//     the height; of all else, width and place too
package slides

import (
	"fmt"

	"desktop-agent/tasks"
	"desktop-agent/tasks/office"
	"desktop-agent/tasks/osworld/defect"
)

// Metrics returns the metrics of presentations by the names that task files call
// them. They repeat the given ones of [Defects].
func Metrics(of defect.Set) map[string]tasks.Metric {
	return map[string]tasks.Metric{
		"compare_pptx_files":                         comparePptxFiles(of),
		"check_transition":                           checkTransition(of),
		"check_slide_orientation_Portrait":           checkPortrait,
		"evaluate_presentation_fill_to_rgb_distance": fillDistance(of),
		"check_page_number_colors":                   checkPageNumberColours(of),
		"check_slide_numbers_color":                  checkSlideNumbersColour(of),
		"check_strikethrough":                        checkStrikethrough(of),
		"check_image_stretch_and_center":             checkImageStretch(of),
	}
}

// one opens the presentation that a result is, and judges it.
func one(result tasks.Value, judge func(*deck) (tasks.Score, error)) (tasks.Score, error) {
	path, err := tasks.OneFile(result)
	if err != nil {
		return tasks.No(fmt.Sprintf("the result: %v", err)), nil
	}
	d, err := load(path)
	if err != nil {
		return tasks.No(fmt.Sprintf("the presentation cannot be read: %v", err)), nil
	}
	defer d.Close()
	return judge(d)
}

// both opens the result and the presentation that it is compared with.
func both(result, expected tasks.Value, judge func(got, want *deck) (tasks.Score, error)) (tasks.Score, error) {
	path, err := tasks.OneFile(expected)
	if err != nil {
		return tasks.Score{}, fmt.Errorf("expected: %w", err)
	}
	want, err := load(path)
	if err != nil {
		return tasks.Score{}, fmt.Errorf("expected: %w", err)
	}
	defer want.Close()
	return one(result, func(got *deck) (tasks.Score, error) { return judge(got, want) })
}

// rules returns what is expected as settings.
func rules(expected tasks.Value) (tasks.Params, error) {
	p, err := tasks.Params{"expected": expected}.Map("expected")
	if err == nil && p == nil {
		err = fmt.Errorf("expected: no rules: give them with the getter rule")
	}
	return p, err
}

// index reads a number from 0.
func index(p tasks.Params, key string) (int, error) {
	if !p.Has(key) {
		return 0, fmt.Errorf("%s: missing: give a number from 0", key)
	}
	f, err := p.Number(key)
	if err != nil {
		return 0, err
	}
	if f < 0 || f > office.MaxSlides || f != float64(int(f)) {
		return 0, fmt.Errorf("%s: %v is not a number from 0 to %d", key, f, office.MaxSlides)
	}
	return int(f), nil
}

// indices reads a list of numbers from 0.
func indices(p tasks.Params, key string) ([]int, error) {
	var list []int
	for _, v := range p.List(key) {
		n, err := index(tasks.Params{key: v}, key)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: missing: give a list of numbers from 0", key)
	}
	return list, nil
}
