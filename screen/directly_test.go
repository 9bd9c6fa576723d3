//go:build linux

package screen_test

import (
	"testing"
	"time"

	"desktop-agent/screen"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Who waits again directly after a wait, with no input in between, is told what that one
// found; after input, or a moment later, the screen is watched for as long as ever.
func TestSettleDirectlyAfter(t *testing.T) {
	d := newDesk(t, nil)
	box := mousepad(d)
	s := d.screen(screen.Options{MaxImage: small})
	ctx := limitOf(t, time.Minute)
	settle := func() screen.Settled {
		t.Helper()
		settled, err := s.Settle(ctx)
		require.NoError(t, err)
		return settled
	}
	require.Eventually(t, func() bool {
		settle()
		again := settle()
		return again.Reason == screen.SettledQuiet && again.Waited < screen.DefaultQuiet/2
	}, time.Minute, time.Millisecond)
	for range 10 {
		settle()
		d.click(box.Min.Add(box.Size().Div(2)))
		assert.GreaterOrEqual(t, settle().Waited, screen.DefaultQuiet, "input")
		time.Sleep(5 * time.Millisecond)
		assert.GreaterOrEqual(t, settle().Waited, screen.DefaultQuiet, "a moment later")
	}
}
