package replaytest

import (
	"errors"
	"image"
	"testing"

	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// First writes the first steps of the run in a folder anew, as a run that is
// done after them, with the same frames. It is for tests that look at each
// picture, where the whole run would show no more and take longer.
func First(t testing.TB, dir string, steps int) *replay.Run {
	t.Helper()
	whole, err := replay.Open(dir)
	if err != nil {
		t.Fatalf("replay: %v", err)
	}
	journal, err := replay.Create(t.TempDir())
	if err != nil {
		t.Fatalf("replay: %v", err)
	}
	err = first(t, journal, whole, steps)
	if err := errors.Join(err, journal.Close()); err != nil {
		t.Fatalf("write the first %d steps of %s anew: %v", steps, dir, err)
	}
	begun, err := replay.Open(journal.Dir())
	if err != nil {
		t.Fatalf("replay: %v", err)
	}
	return begun
}

func first(t testing.TB, journal *replay.Journal, whole *replay.Run, steps int) error {
	for e, err := range whole.Events() {
		if err != nil {
			return err
		}
		if e.Step > steps {
			break
		}
		if seen, ok := e.Data.(run.Observed); ok {
			o := &screen.Observation{FrameID: seen.FrameID, Frame: &image.RGBA{Rect: image.Rectangle{Max: seen.Frame}}}
			o.Image.Mapping = seen.Mapping
			if o.Image.Data, o.Image.Type, err = whole.Sent(seen.FrameID); err != nil {
				return err
			}
			if err := journal.Frame(t.Context(), o); err != nil {
				return err
			}
		}
		if err := journal.Event(t.Context(), e); err != nil {
			return err
		}
	}
	return journal.Append(t.Context(), steps, run.RunEnded{Outcome: run.OutcomeDone, Answer: "so far", Steps: steps})
}
