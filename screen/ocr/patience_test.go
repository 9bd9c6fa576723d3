//go:build linux

package ocr_test

import (
	"image"
	"testing"
	"time"

	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
	"desktop-agent/screen/ocr"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A terminal that scrolls for ever is observed nevertheless, with its tree and what can be
// read of it by then: at the ceiling, which is told, and each time.
func TestTerminalThatNeverRests(t *testing.T) {
	const (
		ceiling = 2 * time.Second
		reading = time.Second
		rest    = time.Minute // to look, on a machine that others use too
	)
	d := newDesk(t, image.Pt(1000, 700))
	tree, err := atspi.Open(limit(t), &atspi.Options{BusAddress: d.BusAddress(), Server: screen.ServerOf(d.Display())})
	require.NoError(t, err)
	t.Cleanup(func() { tree.Close() })
	s, err := screen.Open(limit(t), &screen.Options{
		Display: d.Display(), Tree: tree, OCR: open(t, ocr.Options{Wait: reading}), Settle: screen.SettleOptions{Ceiling: ceiling},
	})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	d.open("xterm", "-T", "Log", "-e", "sh", "-c", "while :; do date; done")
	for range 3 {
		start := time.Now()
		o, err := s.Observe(limit(t))
		require.NoError(t, err)
		assert.Less(t, time.Since(start), ceiling+reading+rest)
		assert.Equal(t, screen.SettledCeiling, o.Settled.Reason, "%+v", o.Settled)
		assert.Contains(t, o.Settled.Busy, "drawing")
		assert.NoError(t, o.Tree.Err)
		assert.Contains(t, o.Text(0), `window "Log"`)
	}
}
