//go:build linux

package screen_test

import (
	"image"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/screen"
)

// TestSilentTimerIsWaitedFor clicks on Save in a file dialog of GTK. The dialog
// closes 250 ms later, by a timer: in between the program neither draws nor
// works, and answers every ping at once.
func TestSilentTimerIsWaitedFor(t *testing.T) {
	const keyCtrl, keyShift, keyS = 37, 50, 39
	d := newDesk(t, nil)
	d.open("mousepad")
	s := d.screen(screen.Options{Settle: unhurried})
	d.key(keyA)
	_, err := s.Observe(limit(t))
	require.NoError(t, err)
	d.key(keyCtrl, keyShift, keyS)
	o, err := s.Observe(limit(t))
	require.NoError(t, err)
	dialog, ok := o.Focused()
	require.True(t, ok)
	require.Equal(t, "Save As", dialog.Title)
	d.key(keyA)             // the name of the file
	time.Sleep(time.Second) // the dialog lets one save half a second after the last letter
	_, err = s.Observe(limit(t))
	require.NoError(t, err)

	d.click(dialog.Box.Max.Sub(image.Pt(50, 27)))
	o, err = s.Observe(limit(t))
	require.NoError(t, err)
	require.Len(t, o.Windows, 1, "a frame of the dialog before it closed; settled: %+v", o.Settled)
	assert.Contains(t, o.Windows[0].Title, "/a - Mousepad")
	// Of reasons that last as long the first is told: on a busy machine that is another one.
	if !slices.Contains(o.Settled.Busy, "slow answer") {
		assert.Contains(t, o.Settled.Busy, "timer")
	}
}

// The timers of a program are waited for after input, and not once more while nothing is
// done: they were waited for, and nothing came of them.
func TestTimersAreWaitedForOnce(t *testing.T) {
	d := newDesk(t, nil)
	box := d.openStaged(stagedTick)
	s := d.screen(screen.Options{Settle: unhurried})
	waited := func() bool {
		settled, err := s.Settle(limit(t))
		require.NoError(t, err)
		return slices.Contains(settled.Busy, "timer")
	}
	for range 2 {
		d.click(box.Min.Add(image.Pt(200, 200)))
		require.True(t, waited(), "there was input")
		// What else goes on in the machine may look like work of the program, but not always.
		require.Eventually(t, func() bool { return !waited() }, time.Minute, time.Millisecond, "nothing was done since")
	}
}
