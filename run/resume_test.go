package run_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/screen"
)

// An earlier desktop was looked at once, and what it showed had a name.
type earlier struct {
	runtest.Desktop
	over bool
}

func (d *earlier) Observe(ctx context.Context) (*screen.Observation, error) {
	if d.over {
		return nil, run.ErrOver
	}
	d.over = true
	return d.Desktop.Observe(ctx)
}

func (*earlier) ScreenName(*screen.Observation) string { return "7" }

// TestNamesOfScreensGoOn holds that screens have the names in a run that is resumed which
// they had before, on any desktop that can keep them in mind.
func TestNamesOfScreensGoOn(t *testing.T) {
	d := &runtest.Desktop{}
	s := runtest.Open(t, run.Settings{}, &run.Options{Desktop: d, Device: d})
	r := s.Retrace(&run.Past{Desktop: &earlier{}, Told: func(run.Event) (bool, error) { return true, nil }})
	for _, live := range []bool{false, true} {
		o, err := s.Desktop.Observe(t.Context())
		require.NoError(t, err)
		assert.Equal(t, live, r.Live())
		assert.Equal(t, "7", s.Desktop.ScreenName(o))
	}
}
