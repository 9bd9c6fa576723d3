package slides_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/defect"
	"desktop-agent/tasks/osworld/defect/defecttest"
	"desktop-agent/tasks/osworld/metric/slides"
)

func judge(t *testing.T, compat bool, metric string, result, expected tasks.Value) tasks.Score {
	t.Helper()
	judge := func(of defect.Set) (tasks.Score, error) {
		return slides.Metrics(of)[metric](t.Context(), result, expected, nil)
	}
	if compat {
		proof.Case(metric, func(of defect.Set) string { return defecttest.Score(judge(of)) })
	}
	score, err := judge(defect.When(compat))
	require.NoError(t, err)
	return score
}

func TestPortrait(t *testing.T) {
	files := parts(fakeSlide{})
	assert.Contains(t, judge(t, false, "check_slide_orientation_Portrait", write(t, files), nil).Why, "25.40 cm wide and 19.05 cm high")
	files["ppt/presentation.xml"] = strings.Replace(files["ppt/presentation.xml"], `cy="6858000"`, `cy="9144001"`, 1)
	assert.Equal(t, tasks.Yes(), judge(t, false, "check_slide_orientation_Portrait", write(t, files), nil))
	files["ppt/presentation.xml"] = strings.Replace(files["ppt/presentation.xml"], `cy="9144001"`, `cy="9144000"`, 1)
	assert.Zero(t, judge(t, false, "check_slide_orientation_Portrait", write(t, files), nil).Value)
}

func TestTransition(t *testing.T) {
	choice := func(inner, fallback string) string {
		return `<mc:AlternateContent><mc:Choice Requires="p14"><p:transition>` + inner + `</p:transition></mc:Choice><mc:Fallback><p:transition>` + fallback + `</p:transition></mc:Fallback></mc:AlternateContent>`
	}
	files := parts(
		fakeSlide{after: `<p:transition><p:dissolve/></p:transition>`},
		fakeSlide{after: choice(`<p:dissolve/>`, `<p:dissolve/>`)},
		fakeSlide{after: choice(`<p14:vortex/>`, `<p:fade/>`)},
		fakeSlide{},
	)
	for _, tt := range []struct {
		slide         any
		name          string
		value, compat float64
		why           string
	}{
		{0.0, "dissolve", 1, 1, ""},
		{"1", "dissolve", 1, 1, ""},
		{2.0, "vortex", 1, 0, ""},
		{2.0, "fade", 0, 0, `slide 3 has the transition ["vortex"] instead of "fade"`},
		{3.0, "dissolve", 0, 0, "slide 4 has no transition"},
		{4.0, "dissolve", 0, 0, "there is no slide 5, there are 4"},
	} {
		expected := map[string]any{"slide_idx": tt.slide, "transition_type": tt.name}
		score := judge(t, false, "check_transition", write(t, files), expected)
		assert.Equal(t, tt.value, score.Value, "%v %s", tt.slide, tt.name)
		assert.Contains(t, score.Why, tt.why)
		assert.Equal(t, tt.compat, judge(t, true, "check_transition", write(t, files), expected).Value, "%v %s", tt.slide, tt.name)
	}

	// The order is that of the presentation, not that of the names.
	files["ppt/presentation.xml"] = strings.NewReplacer(`r:id="s1"`, `r:id="s4"`, `r:id="s4"`, `r:id="s1"`).Replace(files["ppt/presentation.xml"])
	expected := map[string]any{"slide_idx": 3.0, "transition_type": "dissolve"}
	assert.Equal(t, tasks.Yes(), judge(t, false, "check_transition", write(t, files), expected))
	assert.Zero(t, judge(t, true, "check_transition", write(t, files), expected).Value)
}

func TestFillDistance(t *testing.T) {
	const metric = "evaluate_presentation_fill_to_rgb_distance"
	blue := map[string]any{"rgb": []any{0.0, 0.0, 255.0}}
	fromWhite := map[string]any{"rgb": []any{0.0, 0.0, 255.0}, "original_rgb": []any{255.0, 255.0, 255.0}}
	near := 1 - 15/math.Sqrt(3*255*255) // 0000F0
	for _, tt := range []struct {
		name          string
		slides        []fakeSlide
		rules         map[string]any
		value, compat float64
	}{
		{"blue", []fakeSlide{{bg: bg(solid("0000ff"))}}, blue, 1, 1},
		{"nearly", []fakeSlide{{bg: bg(solid("0000F0"))}}, blue, near, near},
		{"half of them", []fakeSlide{{bg: bg(solid("0000FF"))}, {bg: bg(solid("FFFFFF"))}}, fromWhite, 0.5, 0.5},
		{"white", []fakeSlide{{bg: bg(solid("FFFFFF"))}}, blue, 1 - math.Sqrt(2.0/3), 1 - math.Sqrt(2.0/3)},
		{"as before", []fakeSlide{{bg: bg(solid("FFFFFF"))}}, fromWhite, 0, 0},
		{"none", []fakeSlide{{}}, fromWhite, 0, 0},
		{"gradient", []fakeSlide{{bg: bg(`<a:gradFill/>`)}}, blue, 0, 0},
		{"theme", []fakeSlide{{bg: bg(`<a:solidFill><a:schemeClr val="accent1"/></a:solidFill>`)}}, map[string]any{"rgb": []any{0.0, 255.0, 0.0}}, 1, 0},
		{"no slides", nil, blue, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := write(t, parts(tt.slides...))
			assert.InDelta(t, tt.value, judge(t, false, metric, file, tt.rules).Value, 1e-12)
			assert.InDelta(t, tt.compat, judge(t, true, metric, file, tt.rules).Value, 1e-12)
		})
	}
	t.Run("layout and master", func(t *testing.T) {
		files := parts(fakeSlide{})
		addBackground := func(part, rgb string) {
			files[part] = strings.Replace(files[part], `<p:cSld>`, `<p:cSld><p:bg>`+bg(solid(rgb))+`</p:bg>`, 1)
		}
		addBackground("ppt/slideMasters/slideMaster1.xml", "0000FF")
		assert.Equal(t, 1.0, judge(t, false, metric, write(t, files), blue).Value)
		assert.Equal(t, 1.0, judge(t, true, metric, write(t, files), blue).Value)
		addBackground("ppt/slideLayouts/slideLayout1.xml", "FFFF00")
		assert.Contains(t, judge(t, false, metric, write(t, files), blue).Why, `slide 1 has the background "FFFF00"`)
		assert.Equal(t, 1.0, judge(t, true, metric, write(t, files), blue).Value)
	})
}

func number(colour, text string) string {
	props := ""
	if colour != "" {
		props = `<a:rPr>` + solid(colour) + `</a:rPr>`
	}
	return sp(`<p:ph type="sldNum" idx="9"/>`, "", para("", `<a:fld type="slidenum">`+props+`<a:t>`+text+`</a:t></a:fld>`))
}

func TestPageNumberColours(t *testing.T) {
	const metric = "check_page_number_colors"
	withMaster := func(colour string, slides ...fakeSlide) map[string]string {
		files := parts(slides...)
		const part = "ppt/slideMasters/slideMaster1.xml"
		files[part] = strings.Replace(files[part], `</p:spTree>`, number(colour, "&lt;number&gt;")+`</p:spTree>`, 1)
		return files
	}
	for _, tt := range []struct {
		name          string
		files         map[string]string
		colour        string
		value, compat float64
	}{
		{"red", withMaster("C00000", fakeSlide{shapes: number("", "1")}), "red", 1, 0},
		{"not blue", withMaster("C00000", fakeSlide{shapes: number("", "1")}), "blue", 0, 0},
		{"green", withMaster("00C000", fakeSlide{shapes: number("", "1")}), "green", 1, 0},
		{"blue", withMaster("0000C0", fakeSlide{shapes: number("", "1")}), "blue", 1, 0},
		{"black", withMaster("000000", fakeSlide{shapes: number("", "1")}), "black", 1, 0},
		{"grey", withMaster("808080", fakeSlide{shapes: number("", "1")}), "black", 0, 0},
		{"only just not red", withMaster("FFCD00", fakeSlide{shapes: number("", "1")}), "red", 0, 0},
		{"at the slide", withMaster("000000", fakeSlide{shapes: number("FF0000", "1")}), "red", 1, 0},
		{"not at one slide", withMaster("FF0000", fakeSlide{shapes: number("", "1")}, fakeSlide{shapes: number("0000FF", "2")}), "red", 0, 0},
		{"not shown", withMaster("FF0000", fakeSlide{}), "red", 1, 0},
		{"not there", parts(fakeSlide{}), "red", 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			expected := map[string]any{"color": tt.colour}
			score := judge(t, false, metric, write(t, tt.files), expected)
			assert.Equal(t, tt.value, score.Value, score.Why)
			assert.Equal(t, tt.value == 1, score.Why == "")
			// The original takes any last colour that is not black for it.
			const part = "ppt/slideMasters/slideMaster1.xml"
			tt.files[part] = strings.Replace(tt.files[part], `</p:spTree>`, box(para("", run(`>`+solid("FFFF00"), "x")))+`</p:spTree>`, 1)
			assert.Equal(t, tt.compat, judge(t, true, metric, write(t, tt.files), expected).Value)
		})
	}
	files := withMaster("FF0000", fakeSlide{})
	assert.Equal(t, 1.0, judge(t, true, metric, write(t, files), map[string]any{"color": "red"}).Value)
	assert.Equal(t, 1.0, judge(t, true, metric, write(t, files), map[string]any{"color": "mauve"}).Value)
}

func TestSlideNumbersColour(t *testing.T) {
	const metric = "check_slide_numbers_color"
	assert.Equal(t, 1.0, judge(t, false, metric, write(t, parts(fakeSlide{shapes: number("FF0000", "1")})), nil).Value)
	assert.Contains(t, judge(t, false, metric, write(t, parts(fakeSlide{shapes: number("FE0000", "1")})), nil).Why, `"FE0000"`)
	files := parts(fakeSlide{shapes: number("", "12")})
	assert.Contains(t, judge(t, true, metric, write(t, files), nil).Why, "no master")
	mark := sp(`<p:ph type="sldNum" idx="4"/>`, "", para(`><a:defRPr>`+solid("FF0000")+`</a:defRPr>`, `<a:fld><a:t>&lt;number&gt;</a:t></a:fld>`))
	files["ppt/slideMasters/slideMaster1.xml"] = strings.Replace(files["ppt/slideMasters/slideMaster1.xml"], `</p:spTree>`, mark+`</p:spTree>`, 1)
	assert.Equal(t, 1.0, judge(t, true, metric, write(t, files), nil).Value)
}

func TestStrikethrough(t *testing.T) {
	file := write(t, parts(fakeSlide{shapes: box(para("", run(`strike="sngStrike">`, "a")) + para("", run(`strike="noStrike">`, "b")) + para("", ""))}))
	for _, tt := range []struct {
		slide, shape, paragraph float64
		value, compat           float64
		why                     string
	}{
		{0, 0, 0, 1, 1, ""},
		{0, 0, 1, 0, 1, "slide 1, shape 1, paragraph 2: the text is not struck through"},
		{0, 0, 2, 0, 0, "there is no text"},
		{0, 1, 0, 0, 0, "slide 1, shape 2, paragraph 1: there is none"},
		{1, 0, 0, 0, 0, "there is none"},
	} {
		rules := map[string]any{"slide_index_s": []any{tt.slide}, "shape_index_s": []any{tt.shape}, "paragraph_index_s": []any{0.0, tt.paragraph}}
		score := judge(t, false, "check_strikethrough", file, rules)
		assert.Equal(t, tt.value, score.Value)
		assert.Contains(t, score.Why, tt.why)
		assert.Equal(t, tt.compat, judge(t, true, "check_strikethrough", file, rules).Value)
	}
}

func TestImageStretch(t *testing.T) {
	const metric = "check_image_stretch_and_center"
	withPicture := func(shapes, data string) tasks.File {
		files := parts(fakeSlide{shapes: shapes, rels: rel("i", "image", "../media/image1.png")})
		files["ppt/media/image1.png"] = data
		return write(t, files)
	}
	before := withPicture(pic(1000, 1000, 5000, 5000), "photo")
	inPlaceholder := func(s string) string {
		return strings.Replace(s, `<p:nvPr/>`, `<p:nvPr><p:ph type="pic"/></p:nvPr>`, 1)
	}
	for _, tt := range []struct {
		name          string
		result        tasks.File
		value, compat float64
		why           string
	}{
		{"fills", withPicture(pic(0, 0, 9144000, 6858000), "photo"), 1, 1, ""},
		{"nearly", withPicture(pic(-228600, 0, 9144000+457200, 6858000), "photo"), 1, 1, ""},
		{"too wide", withPicture(pic(-228600, 0, 9144000+457201, 6858000), "photo"), 0, 0, "width of the picture: 26.67 cm instead of 25.40 cm"},
		{"not centred", withPicture(pic(457201, 0, 9144000, 6858000), "photo"), 0, 0, "left of the picture"},
		{"as before", before, 0, 0, "width"},
		{"another", withPicture(pic(0, 0, 9144000, 6858000), "image"), 0, 0, "not on the first slide any more"},
		{"deleted", withPicture("", "photo"), 0, 0, "not on the first slide any more"},
		{"in a placeholder", withPicture(inPlaceholder(pic(0, 0, 9144000, 6858000)), "photo"), 1, 0, ""},
		{"and a copy", withPicture(pic(0, 0, 9144000, 6858000)+pic(1, 1, 1, 1), "photo"), 1, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			score := judge(t, false, metric, tt.result, before)
			assert.Equal(t, tt.value, score.Value, score.Why)
			assert.Contains(t, score.Why, tt.why)
			assert.Equal(t, tt.compat, judge(t, true, metric, tt.result, before).Value)
		})
	}
	_, err := slides.Metrics(0)[metric](t.Context(), before, write(t, parts(fakeSlide{})), nil)
	assert.ErrorContains(t, err, "no picture on the first slide")
}

func TestRules(t *testing.T) {
	file := write(t, parts(fakeSlide{}))
	for _, tt := range []struct {
		metric   string
		expected tasks.Value
		why      string
	}{
		{"check_transition", nil, "no rules"},
		{"check_transition", "dissolve", "not an object"},
		{"check_transition", map[string]any{"transition_type": "fade"}, "slide_idx: missing"},
		{"check_transition", map[string]any{"slide_idx": -1.0, "transition_type": "fade"}, "slide_idx: -1"},
		{"check_transition", map[string]any{"slide_idx": 0.0}, "transition_type: missing"},
		{"evaluate_presentation_fill_to_rgb_distance", map[string]any{"rgb": []any{1.0, 2.0}}, "rgb: [1 2]"},
		{"evaluate_presentation_fill_to_rgb_distance", map[string]any{"rgb": []any{1.0, 2.0, 256.0}}, "rgb: 256"},
		{"evaluate_presentation_fill_to_rgb_distance", map[string]any{"rgb": []any{1.0, 2.0, 3.0}, "original_rgb": "white"}, "original_rgb"},
		{"check_page_number_colors", map[string]any{"color": "mauve"}, "color: mauve is none of"},
		{"check_strikethrough", map[string]any{"slide_index_s": []any{0.5}}, "slide_index_s: 0.5"},
		{"check_image_stretch_and_center", nil, "there is no file"},
		{"compare_pptx_files", tasks.File{}, "there is no file"},
		{"compare_pptx_files", tasks.File{Path: "testdata/none.pptx"}, "expected: "},
	} {
		_, err := slides.Metrics(0)[tt.metric](t.Context(), file, tt.expected, nil)
		assert.ErrorContains(t, err, tt.why, "%s %v", tt.metric, tt.expected)
	}
}
