package worldmodel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"unicode"

	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/screen"
)

// A Transcript is what was read in a region of the picture, blind: by who was not told
// what is expected there.
type Transcript struct {
	Region Region
	Text   string
	By     string  // "ocr" or "model"
	Same   bool    // the region looked the same when what is judged began, or that is not known
	Alike  float64 // how much of a quote Text must show, from 0 to 1; 0 for [DefaultAlike]
}

// PurposeTranscribe is the purpose of the call by which a model reads a region. What came of
// it is in the journal as an event, too.
const PurposeTranscribe = "transcribe"

// DefaultAlike is how alike a quote and what was transcribed must be for the quote to be
// read, where nothing else is said: one letter in ten may differ. Words with a digit in them
// must be there as they are.
const DefaultAlike = 0.9

// maxRegion is the part of the picture that a region may take: one that holds half of
// the screen says nothing of where a text stands.
const maxRegion = 0.25

// transcription is what a model reads in a picture.
type transcription struct {
	Text string `json:"text" jsonschema:"all text in the picture, line by line, letter by letter; empty if there is none"`
}

// problem returns what is wrong with a region, in words for the model that named it;
// "" if nothing is.
func (r *Region) problem(o *screen.Observation) string {
	size := o.Image.Mapping.Size
	rect := r.Rect()
	switch {
	case r.Width <= 0 || r.Height <= 0 || !rect.In(image.Rectangle{Max: size}):
		return fmt.Sprintf("the region at (%d, %d) of %d×%d pixels is not on the screenshot, which has %d×%d", r.X, r.Y, r.Width, r.Height, size.X, size.Y)
	case float64(rect.Dx())*float64(rect.Dy()) > maxRegion*float64(size.X)*float64(size.Y):
		return "the region is more than a quarter of the screenshot: name only where the quoted text stands"
	}
	return ""
}

// Unread reports whether the grade of a quote hangs on what its region shows: no program
// tells the quote, and the region is one.
func Unread(quote string, region *Region, now *screen.Observation) bool {
	quote = strings.TrimSpace(quote)
	return region != nil && quotable(quote) && region.problem(now) == "" && len(now.Findings(quote)) == 0
}

// Transcribe reads a region of the picture: by OCR if there is one, or else by a model
// that is shown the region, and nothing else. began is the observation that the picture
// is held against.
func (m *Model) Transcribe(ctx context.Context, now, began *screen.Observation, region Region) (Transcript, error) {
	t := Transcript{Region: region, Same: sameRegion(now, began, region)}
	if problem := region.problem(now); problem != "" {
		return t, errors.New("transcribe: " + problem)
	}
	if m.OCR != nil && now.Bare != nil && len(now.Bare.Pix) > 0 {
		t.By = "ocr"
		lines, err := m.OCR.Lines(ctx, now.Bare, []image.Rectangle{device(now, region)})
		if err != nil { // also if only a part is read: what is missing may be what is asked for
			return t, fmt.Errorf("transcribe: %w", err)
		}
		var text []string
		for _, l := range lines {
			text = append(text, l.Text)
		}
		t.Text = strings.Join(text, "\n")
		return t, nil
	}
	t.By = "model"
	crop, err := now.Zoom(region.Rect(), image.Point{})
	if err != nil {
		return t, fmt.Errorf("transcribe: %w", err)
	}
	req, err := prompts.Request(llm.WorldModel, PurposeTranscribe, struct{}{}, llm.Image{Data: crop.Data, Type: crop.Type, FrameID: now.FrameID + "-region"})
	if err != nil {
		return t, fmt.Errorf("transcribe: %w", err)
	}
	answer, err := llm.Decode[transcription](ctx, m.LLM, req)
	if err != nil {
		return t, fmt.Errorf("transcribe: %w", err)
	}
	t.Text = llm.Excerpt(answer.Text, maxTranscript)
	return t, nil
}

// device is a region in device pixels.
func device(o *screen.Observation, r Region) image.Rectangle {
	m, rect := o.Image.Mapping, r.Rect()
	return image.Rectangle{Min: m.ToDevice(rect.Min), Max: m.ToDevice(rect.Max.Sub(image.Pt(1, 1))).Add(image.Pt(1, 1))}
}

// sameRegion reports whether a region looks the same on two observations, or one of them
// has no picture.
func sameRegion(now, began *screen.Observation, r Region) bool {
	if began == nil || began.Bare == nil || now.Bare == nil || len(began.Bare.Pix) == 0 || len(now.Bare.Pix) == 0 {
		return true
	}
	if began.Bare.Rect != now.Bare.Rect {
		return false // the screen has another size now
	}
	rect := device(now, r)
	return screen.SamePicture(now.Bare.SubImage(rect).(*image.RGBA), began.Bare.SubImage(rect).(*image.RGBA))
}

// judgeTranscript grades a quote that only the picture has, by what was transcribed.
func judgeTranscript(quote string, t *Transcript, f *Finding) {
	switch {
	case !readIn(quote, t.Text, cmp.Or(t.Alike, DefaultAlike)):
		f.Why += fmt.Sprintf("; read again without knowing it (%s), that place says %q", t.By, short(llm.OneLine(t.Text)))
	case t.Same:
		f.Why += ", and it looked the same from the start"
	default:
		*f = Finding{planner.Read, planner.SourceImage, fmt.Sprintf("the picture shows %q, as read from it (%s) by who did not know the quote", short(quote), t.By)}
	}
}

// readIn reports whether a quote is in a transcript, but for letters that are easily
// mistaken: least is how alike they are.
func readIn(quote, text string, least float64) bool {
	quote, text = plain(quote), plain(text)
	if quote == "" || text == "" {
		return false
	}
	words := strings.Fields(text)
	for w := range strings.FieldsSeq(quote) {
		if strings.ContainsFunc(w, unicode.IsDigit) && !slices.Contains(words, w) {
			return false
		}
	}
	// With the spaces around it: a part of a word is another word.
	return alike([]rune(" "+quote+" "), []rune(" "+text+" ")) >= least
}

// plain makes texts comparable: small letters, one space between words, and no marks
// around them.
func plain(s string) string {
	words := strings.Fields(strings.ToLower(s))
	for i, w := range words {
		words[i] = strings.TrimFunc(w, func(r rune) bool { return strings.ContainsRune(`.,;:!?'"“”‘’()[]|`, r) })
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// maxTranscript bounds what is kept and compared, in characters.
const maxTranscript = 4000

// alike returns how much of a quote stands in a text, in one piece, from 0 to 1: one
// less the letters that would have to be changed (the edit distance to the nearest part
// of the text) as a share of the quote's.
func alike(quote, text []rune) float64 {
	quote, text = quote[:min(len(quote), maxTranscript)], text[:min(len(text), maxTranscript)]
	before, now := make([]int, len(text)+1), make([]int, len(text)+1)
	for i, q := range quote {
		now[0] = i + 1
		for j, t := range text {
			change := before[j]
			if q != t {
				change++
			}
			now[j+1] = min(change, before[j+1]+1, now[j]+1)
		}
		before, now = now, before
	}
	return 1 - float64(slices.Min(before))/float64(len(quote))
}
