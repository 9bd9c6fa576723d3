//go:build linux

package run_test

import (
	"image"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"desktop-agent/run"
	"desktop-agent/run/runtest"
)

// TestLiveIsDesktop holds that a real display is a desktop.
func TestLiveIsDesktop(t *testing.T) {
	s := runtest.Open(t, run.Settings{Display: run.DisplaySettings{Private: true, Size: image.Pt(640, 480), MaxImage: 500}}, nil)
	runtest.TestDesktop(t, &runtest.DesktopSubject{
		Desktop: s.Desktop, Hand: s.Hand, Soon: time.Minute,
		Change: func(t testing.TB) {
			_, err := s.Private.Open(t.Context(), "xterm")
			require.NoError(t, err)
		},
	})
}
