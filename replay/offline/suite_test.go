package offline_test

import (
	"image"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
)

// TestScriptIsAll holds that the script is a desktop and a model.
func TestScriptIsAll(t *testing.T) {
	s := newScript(3, image.Pt(640, 480))
	s.stuck = true
	runtest.TestDesktop(t, &runtest.DesktopSubject{Desktop: s, Device: s, Change: func(testing.TB) { s.now++ }})
	llmtest.TestModel(t, &llmtest.Subject{
		New: func(testing.TB) llm.Model { return newScript(3, image.Pt(64, 48)) }, Counted: true,
	})
}

// TestThinIsJournal holds that a journal without frames is one.
func TestThinIsJournal(t *testing.T) {
	runtest.TestJournal(t, &runtest.JournalSubject{
		New: func(t testing.TB) run.Journal {
			j, err := replay.Create(t.TempDir())
			require.NoError(t, err)
			return thin{j}
		},
		NoFrames: "a long run need not have them",
		Kept: func(t testing.TB, j run.Journal) (events []run.Event, _ []string) {
			r, err := replay.Open(j.(thin).Dir())
			require.NoError(t, err)
			for s, err := range r.Steps() {
				require.NoError(t, err)
				events = append(events, s.Events...)
			}
			return events, nil
		},
	})
}
