// Package runtest has what tests of runs share: sessions that end with the test,
// and suites that hold what every desktop and every journal promises.
package runtest

import (
	"testing"

	"desktop-agent/run"
	"desktop-agent/screen"
)

// Open opens a session that is closed when the test ends.
func Open(t testing.TB, settings run.Settings, o *run.Options) *run.Session {
	t.Helper()
	s, err := run.Open(t.Context(), settings, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the session: %v", err)
		}
	})
	return s
}

// On opens a session on a live display that is watched by a screen, which stays
// the caller's. A nil journal keeps events in memory.
func On(t testing.TB, display string, watched *screen.Screen, journal run.Journal) *run.Session {
	t.Helper()
	o := &run.Options{Computer: &run.Computer{Display: display, Screen: watched}}
	if journal != nil {
		o.Journal = func() (run.Journal, error) { return journal, nil }
	}
	return Open(t, run.Settings{}, o)
}
