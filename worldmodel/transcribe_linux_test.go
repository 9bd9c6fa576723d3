package worldmodel_test

import (
	"context"
	"image"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/planner"
	"desktop-agent/sandbox"
	"desktop-agent/screen"
	"desktop-agent/screen/ocr"
	"desktop-agent/worldmodel"
)

// TestReadBlindOnARealScreen reads a line that a terminal, which tells no text, has
// printed: the quote is read, and another is not.
func TestReadBlindOnARealScreen(t *testing.T) {
	for _, program := range []string{"xterm", "tesseract"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s: apt-get install xterm tesseract-ocr", program)
		}
	}
	d, err := sandbox.Start(t.Context(), &sandbox.Options{Size: image.Pt(640, 400)})
	require.NoError(t, err)
	defer d.Close()
	s, err := screen.Open(t.Context(), &screen.Options{Display: d.Display()})
	require.NoError(t, err)
	defer s.Close()
	reader, err := ocr.Open(t.Context(), &ocr.Options{Wait: time.Minute})
	require.NoError(t, err)
	defer reader.Close()
	observe := func() *screen.Observation {
		o, err := s.Observe(t.Context())
		require.NoError(t, err)
		return o
	}
	began := observe()
	_, err = d.Open(t.Context(), "xterm", "-title", "Terminal", "-fa", "Mono", "-fs", "12", "-geometry", "50x12+0+0", "-e", "echo; echo '   The flight to Lyon is booked'; sleep 100")
	require.NoError(t, err)
	m := &worldmodel.Model{OCR: reader}
	region := worldmodel.Region{X: 0, Y: 0, Width: 500, Height: 90}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		now := observe()
		transcript, err := m.Transcribe(ctx, now, began, region)
		require.NoError(t, err)
		found, problem := worldmodel.Judge("The flight to Lyon", now, worldmodel.Past{Began: began, Read: &transcript})
		require.Empty(t, problem)
		if found.Grade != planner.Read { // it has not printed yet
			require.NoError(t, ctx.Err(), "%s", found.Why)
			continue
		}
		other, _ := worldmodel.Judge("The flight to Rome", now, worldmodel.Past{Began: began, Read: &transcript})
		assert.Equal(t, planner.Claimed, other.Grade)
		again, err := m.Transcribe(ctx, now, now, region)
		require.NoError(t, err)
		stood, _ := worldmodel.Judge("The flight to Lyon", now, worldmodel.Past{Began: now, Read: &again})
		assert.Equal(t, planner.Claimed, stood.Grade, "it stood there from the start")
		return
	}
}
