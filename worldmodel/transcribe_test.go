package worldmodel_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/draw"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/planner"
	"desktop-agent/screen"
	"desktop-agent/worldmodel"
)

// painted is a screen of which only the picture has a text.
func painted(frame string, seconds int, shade uint8) *screen.Observation {
	o := editor(frame, seconds, "Drawing - Editor", "Open…")
	o.Bare = image.NewRGBA(image.Rect(0, 0, 800, 600))
	draw.Draw(o.Bare, image.Rect(100, 100, 300, 140), image.NewUniform(color.Gray{shade}), image.Point{}, draw.Src)
	o.Frame = o.Bare
	return o
}

var place = worldmodel.Region{X: 90, Y: 90, Width: 220, Height: 60}

// TestReadBlind grades a quote by what was read in its region by who did not know it.
func TestReadBlind(t *testing.T) {
	now, began := painted("f2", 5, 200), painted("f1", 0, 0)
	for name, tt := range map[string]struct {
		quote, text string
		same        bool
		grade       planner.Grade
		why         string
	}{
		"the same words":              {"Flight to Lyon", "Your booking\nFlight to Lyon\n", false, planner.Read, "by who did not know the quote"},
		"broken over lines":           {"Flight to Lyon", "Flight to\nLyon", false, planner.Read, ""},
		"one letter mistaken":         {"Flight to Lyon", "F1ight to Lyon", false, planner.Read, ""},
		"other capitals and marks":    {"Flight to Lyon.", "FLIGHT TO “LYON”", false, planner.Read, ""},
		"another town":                {"Flight to Lyon", "Flight to Rome", false, planner.Claimed, `that place says "Flight to Rome"`},
		"another digit":               {"The total is 4711 euro", "The total is 4717 euro", false, planner.Claimed, "4717"},
		"a part of a word":            {"Lyon", "Lyonnaise", false, planner.Claimed, "Lyonnaise"},
		"nothing is there":            {"Flight to Lyon", "", false, planner.Claimed, `that place says ""`},
		"it looked so from the start": {"Flight to Lyon", "Flight to Lyon", true, planner.Claimed, "looked the same from the start"},
		"1 MB":                        {"Flight to Lyon", strings.Repeat("x", 1<<20), false, planner.Claimed, ""},
	} {
		past := worldmodel.Past{Began: began, Read: &worldmodel.Transcript{Region: place, Text: tt.text, By: "ocr", Same: tt.same}}
		found, problem := worldmodel.Judge(tt.quote, now, past)
		assert.Empty(t, problem, name)
		assert.Equal(t, tt.grade, found.Grade, "%s: %s", name, found.Why)
		assert.Equal(t, planner.SourceImage, found.Source, name)
		assert.Contains(t, found.Why, tt.why, name)
	}
	past := worldmodel.Past{Began: began, Read: &worldmodel.Transcript{Region: place, Text: "F1ight to Lyon", By: "ocr", Alike: 1}}
	found, _ := worldmodel.Judge("Flight to Lyon", now, past)
	assert.Equal(t, planner.Claimed, found.Grade, "no letter may differ")
}

// TestUnread holds that a region is read only where the grade of the quote hangs on it.
func TestUnread(t *testing.T) {
	now := painted("f2", 5, 200)
	assert.True(t, worldmodel.Unread("Flight to Lyon", &place, now))
	assert.False(t, worldmodel.Unread("Flight to Lyon", nil, now), "no region")
	assert.False(t, worldmodel.Unread("Open…", &place, now), "a program tells it")
	assert.False(t, worldmodel.Unread(" … ", &place, now), "nothing is quoted")
	assert.False(t, worldmodel.Unread("Flight to Lyon", &worldmodel.Region{X: 700, Y: 90, Width: 220, Height: 60}, now), "off the image")
}

// A fakeOCR reads what it is told, and keeps where.
type fakeOCR struct {
	text string
	err  error
	at   []image.Rectangle
}

func (o *fakeOCR) Lines(_ context.Context, _ *image.RGBA, regions []image.Rectangle) ([]screen.OCRLine, error) {
	o.at = regions
	return []screen.OCRLine{{Text: o.text}}, o.err
}

// TestTranscribe holds that OCR is given the region in device pixels, and a model the
// picture of it and nothing of what is expected; and that the region is compared with
// how it looked before.
func TestTranscribe(t *testing.T) {
	now, began := painted("f2", 5, 200), painted("f1", 0, 0)
	reader := &fakeOCR{text: "Flight to Lyon"}
	m, _ := model(t)
	m.OCR = reader
	got, err := m.Transcribe(t.Context(), now, began, place)
	require.NoError(t, err)
	assert.Equal(t, worldmodel.Transcript{Region: place, Text: "Flight to Lyon", By: "ocr"}, got)
	assert.Equal(t, []image.Rectangle{place.Rect()}, reader.at)

	got, err = m.Transcribe(t.Context(), now, painted("f1", 0, 200), place)
	require.NoError(t, err)
	assert.True(t, got.Same, "the same pixels")
	noisy := painted("f1", 0, 200)
	for i := range 5 { // far from each other
		noisy.Bare.SetRGBA(110+40*i, 105+7*i, color.RGBA{201, 201, 201, 255})
	}
	got, err = m.Transcribe(t.Context(), now, noisy, place)
	require.NoError(t, err)
	assert.True(t, got.Same, "a level apart, which nobody sees")
	draw.Draw(noisy.Bare, image.Rect(110, 110, 118, 118), image.Black, image.Point{}, draw.Src)
	got, err = m.Transcribe(t.Context(), now, noisy, place)
	require.NoError(t, err)
	assert.False(t, got.Same, "a dot has come")
	got, err = m.Transcribe(t.Context(), now, nil, place)
	require.NoError(t, err)
	assert.True(t, got.Same, "what was there is not known")

	reader.err = screen.ErrUnread
	_, err = m.Transcribe(t.Context(), now, began, place)
	require.ErrorIs(t, err, screen.ErrUnread, "what is not read yet is not empty")
	assert.ErrorContains(t, err, "transcribe: the text of the picture is not all read yet")

	m, asked := model(t, llmtest.JSON(map[string]string{"text": "Flight to Lyon"}))
	got, err = m.Transcribe(t.Context(), now, began, place)
	require.NoError(t, err)
	assert.Equal(t, "model", got.By)
	assert.Equal(t, "Flight to Lyon", got.Text)
	req := asked.Requests()[0]
	require.Len(t, req.Messages[1].Parts, 2)
	crop, _, err := image.DecodeConfig(bytes.NewReader(req.Messages[1].Parts[1].(llm.Image).Data))
	require.NoError(t, err)
	assert.InEpsilon(t, float64(place.Width)/float64(place.Height), float64(crop.Width)/float64(crop.Height), .01, "the region alone")
	assert.Greater(t, crop.Width, place.Width, "enlarged")
	for _, message := range req.Messages {
		assert.NotContains(t, string(message.Parts[0].(llm.Text)), "Lyon")
	}

	for _, off := range []worldmodel.Region{{X: -5, Y: 0, Width: 20, Height: 20}, {X: 0, Y: 0, Width: 0, Height: 5}, {X: 0, Y: 0, Width: 800, Height: 600}, {X: 1 << 40, Width: 1 << 40, Height: 9}} {
		_, err = m.Transcribe(t.Context(), now, began, off)
		assert.ErrorContains(t, err, "region", "%+v", off)
	}
}

// TestRegionsOffTheImage holds that a region which is none is answered in the same
// exchange.
func TestRegionsOffTheImage(t *testing.T) {
	const reply = `{"shown":true,"evidence":"Flight to Lyon","missing":"","region":{"x":%X,"y":90,"width":220,"height":60}}`
	at := func(x string) llmtest.Func { return llmtest.Text(strings.Replace(reply, "%X", x, 1)) }
	m, asked := model(t, at("790"), at("90"))
	check, err := m.CheckGoal(t.Context(), worldmodel.GoalRequest{Task: "Book", Now: painted("f2", 5, 200)})
	require.NoError(t, err)
	assert.Equal(t, &place, check.Region)
	require.Len(t, asked.Requests(), 2)
	said := string(asked.Requests()[1].Messages[3].Parts[0].(llm.Text))
	assert.Contains(t, said, "the region at (790, 90) of 220×60 pixels is not on the screenshot, which has 800×600")

	m, asked = model(t, at("90"))
	_, err = m.CheckGoal(t.Context(), worldmodel.GoalRequest{Task: "Book", Now: painted("f2", 5, 200)})
	require.NoError(t, err)
	assert.Len(t, asked.Requests(), 1, "with a region that is one, nothing is asked again")
}
