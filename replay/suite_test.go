package replay

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/run"
	"desktop-agent/run/runtest"
)

// TestJournalIsJournal holds that what is written to disk is a journal.
func TestJournalIsJournal(t *testing.T) {
	runtest.TestJournal(t, &runtest.JournalSubject{
		New: func(t testing.TB) run.Journal { return newJournal(t) },
		Kept: func(t testing.TB, j run.Journal) (events []run.Event, frames []string) {
			r, err := Open(j.(*Journal).Dir())
			require.NoError(t, err)
			for s, err := range r.Steps() {
				require.NoError(t, err)
				events = append(events, s.Events...)
			}
			files, err := filepath.Glob(filepath.Join(j.(*Journal).Dir(), framesDir, "*.png"))
			require.NoError(t, err)
			for _, f := range files {
				frames = append(frames, strings.TrimSuffix(filepath.Base(f), ".png"))
			}
			slices.Sort(frames)
			return events, frames
		},
		Break: func(j run.Journal) { j.(*Journal).events.Close() },
	})
}
