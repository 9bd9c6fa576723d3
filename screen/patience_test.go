//go:build linux

package screen_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"desktop-agent/sandbox"
	"desktop-agent/screen"

	"github.com/jezek/xgb/res"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// patient opens a screen on a staged window, and clicks on it when asked to.
func patient(t *testing.T, kind string, o screen.SettleOptions) (s *screen.Screen, click func()) {
	t.Helper()
	s, click, _ = patientWith(t, kind, o)
	return s, click
}

// patientWith is patient for who wants the window's process too.
func patientWith(t *testing.T, kind string, o screen.SettleOptions) (s *screen.Screen, click func(), p *sandbox.Process) {
	t.Helper()
	d := newDesk(t, nil)
	box, p := d.openProcess(os.Args[0], kind)
	s = d.screen(screen.Options{Settle: o})
	settle(t, s)
	return s, func() { d.click(box.Min.Add(box.Size().Div(2))) }, p
}

func settle(t *testing.T, s *screen.Screen) screen.Settled {
	t.Helper()
	settled, err := s.Settle(limit(t))
	require.NoError(t, err)
	return settled
}

func TestSettleWhenNothingHappens(t *testing.T) {
	t.Parallel()
	s, _ := patient(t, stagedCompute, screen.SettleOptions{Quiet: 30 * time.Millisecond})
	time.Sleep(10 * time.Millisecond) // directly after a wait there is nothing to wait for
	settled := settle(t, s)
	assert.Equal(t, screen.SettledQuiet, settled.Reason)
	assert.GreaterOrEqual(t, settled.Waited, 30*time.Millisecond)
}

// What blinks long enough to be known does not keep the screen from being still,
// even with a quiet interval that is longer than the blinking's.
func TestSettleDespiteBlinking(t *testing.T) {
	t.Parallel()
	s, _ := patient(t, stagedBlink, screen.SettleOptions{Quiet: 700 * time.Millisecond, Ceiling: unhurried.Ceiling})
	time.Sleep(2 * time.Second)
	settled := settle(t, s)
	assert.Equal(t, screen.SettledQuiet, settled.Reason, "%+v", settled)
}

func TestSettleGivesUpAtTheCeiling(t *testing.T) {
	t.Parallel()
	s, click := patient(t, stagedSpin, screen.SettleOptions{Ceiling: 700 * time.Millisecond})
	click()
	settled := settle(t, s)
	assert.Equal(t, screen.SettledCeiling, settled.Reason)
	assert.GreaterOrEqual(t, settled.Waited, 700*time.Millisecond)
	assert.Contains(t, settled.Busy, "drawing")
}

func TestSettleWaitsForAHungProgramOnce(t *testing.T) {
	t.Parallel()
	s, click, p := patientWith(t, stagedHang, screen.SettleOptions{Ceiling: 5 * time.Second})
	click()
	assert.Equal(t, screen.SettledCeiling, settle(t, s).Reason)
	settled := settle(t, s)
	assert.Equal(t, screen.SettledQuiet, settled.Reason, "it was waited for already")
	assert.Contains(t, settled.Busy, "no answer")

	require.NoError(t, syscall.Kill(p.PID(), syscall.SIGUSR1))
	require.Eventually(t, func() bool { // it comes back to life
		settled = settle(t, s)
		return !slices.Contains(settled.Busy, "no answer")
	}, time.Minute, time.Millisecond)
	assert.Equal(t, screen.SettledQuiet, settled.Reason)
}

// A program that computes all the time is waited for until it is known to.
func TestSettleGetsUsedToABusyProgram(t *testing.T) {
	t.Parallel()
	s, click := patient(t, stagedBurn, screen.SettleOptions{Ceiling: 600 * time.Millisecond})
	click()
	settled := settle(t, s)
	assert.Equal(t, screen.SettledCeiling, settled.Reason)
	assert.Contains(t, settled.Busy, "processor")
	getsUsed(t, func() screen.Settled { return settle(t, s) })
}

// getsUsed rests and waits until what works all the time is not waited for any more.
func getsUsed(t *testing.T, wait func() screen.Settled) {
	t.Helper()
	settled := screen.Settled{}
	for range 10 { // more than three only where the program is kept from working as well
		time.Sleep(700 * time.Millisecond)
		if settled = wait(); settled.Reason == screen.SettledQuiet {
			break
		}
	}
	assert.Equal(t, screen.SettledQuiet, settled.Reason)
}

// A program that worked for what somebody else did between two waits, as an agent does
// between those of who scores it, does not work without cause: its work is waited for.
func TestSettleAfterTheInputOfOthers(t *testing.T) {
	t.Parallel()
	s, click := patient(t, stagedThread, unhurried)
	for range 2 {
		for end := time.Now().Add(700 * time.Millisecond); time.Now().Before(end); {
			click()
			time.Sleep(150 * time.Millisecond)
		}
		settle(t, s)
	}
	click()
	settled := settle(t, s)
	assert.Contains(t, settled.Busy, "processor", "%+v", settled)
}

// What a program does without cause is learnt up to the input that is announced.
func TestBusyProgramIsKnownBeforeInput(t *testing.T) {
	t.Parallel()
	s, click := patient(t, stagedBurn, screen.SettleOptions{Ceiling: 600 * time.Millisecond})
	getsUsed(t, func() screen.Settled {
		s.BeforeInput(t.Context())
		click()
		return settle(t, s)
	})
}

// A menu closes before the program does what was chosen in it, here 200 ms later:
// that it closed must not be taken for all that the click led to.
func TestSettleAfterAMenuHasClosed(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	box := d.openStaged(stagedMenu)
	s := d.screen(screen.Options{Settle: unhurried})
	settle(t, s)
	middle := box.Min.Add(box.Size().Div(2))
	d.click(middle)
	settle(t, s)
	windows, err := s.Windows(limit(t))
	require.NoError(t, err)
	require.Len(t, windows, 2, "the menu is open")

	d.click(middle)
	settled := settle(t, s)
	m, err := s.Capture(limit(t))
	require.NoError(t, err)
	assert.Equal(t, color.RGBA{A: 0xff}, m.RGBAAt(box.Min.X+10, box.Min.Y+10), "the stripe is not drawn yet; settled: %+v", settled)
}

// A program that draws by a timer may have more to do by the timers after it, though
// nothing comes of the next: office programs lay out, look again what has changed, and
// then bring their tool bars up to date, each 300 ms after the other. Or all that comes of the
// input comes by the last of several timers, each of which sets the next. That is so also where
// the wait begins late, as on a busy machine, so that what the first timer led to might be
// due to the input itself.
func TestSettleAfterAChainOfTimers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind string
		late time.Duration // in milliseconds
	}{{stagedChain, 0}, {stagedChain, 92}, {stagedChain, 100}, {stagedChain, 250}, {stagedLag, 0}, {stagedLinks, 0}} {
		t.Run(fmt.Sprint(tt.kind, " ", int(tt.late)), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, nil)
			box := d.openStaged(tt.kind)
			s := d.screen(screen.Options{Settle: unhurried})
			settle(t, s)
			d.click(box.Min.Add(box.Size().Div(2)))
			time.Sleep(tt.late * time.Millisecond)
			settled := settle(t, s)
			m, err := s.Capture(limit(t))
			require.NoError(t, err)
			assert.Equal(t, color.RGBA{A: 0xff}, m.RGBAAt(box.Min.X+10, box.Min.Y+130), "the last stripe is not drawn yet; settled: %+v", settled)
		})
	}
}

// A program with a timer of a few milliseconds that repeats, as an animation has that rests, and
// does nothing by it, is waited for no longer than one with any other timer: not up to the
// ceiling, but now and then. While processors are waited for, so that somebody answers late,
// nobody can tell such a program from one that works: what comes to the ceiling then is no fault.
func TestSettleDespiteABriefTimer(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	box := d.openStaged(stagedBrief)
	s := d.screen(screen.Options{})
	settle(t, s)
	d.click(box.Min.Add(image.Pt(200, 200)))
	var ceilings []screen.Settled
	for i := range 12 {
		settled := settle(t, s)
		crowded := settled.Unanswered() || slices.Contains(settled.Busy, "slow answer")
		if settled.Reason == screen.SettledCeiling && !crowded {
			ceilings = append(ceilings, settled)
		}
		d.move(box.Min.Add(image.Pt(100+5*i, 100))) // or else there would be nothing to wait for
	}
	assert.LessOrEqual(t, len(ceilings), 3, "of 12 waits: %+v", ceilings)
}

// A program that always had a short timer while its dialog was open, and is not waited for
// long, is any other again when that closes, though it was open when the wait began:
// LibreOffice's dialogs have such timers, and its tool bars follow when one has closed.
func TestSettleAfterADialogHasClosed(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	box := d.openStaged(stagedDialog)
	s := d.screen(screen.Options{Settle: unhurried})
	for range 3 {
		settle(t, s)
		d.move(image.Pt(5, 5)) // or else there would be nothing to wait for
	}
	d.click(box.Min.Add(image.Pt(200, 250)))
	settled := settle(t, s)
	m, err := s.Capture(limit(t))
	require.NoError(t, err)
	assert.Equal(t, color.RGBA{A: 0xff}, m.RGBAAt(box.Min.X+200, box.Min.Y+130), "the last stripe is not drawn yet; settled: %+v", settled)
}

// A program that is starting has no window yet.
func TestSettleWaitsForAProgramThatStarts(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	s := d.screen(screen.Options{Settle: unhurried, MaxImage: small})
	settle(t, s)
	before := d.clients()
	started := make(chan error, 1)
	go func() {
		_, err := d.Open(context.Background(), "mousepad")
		started <- err
	}()
	// From the moment on which it has connected to the server.
	require.Eventually(t, func() bool { return d.clients() > before }, time.Minute, time.Millisecond)
	o, err := s.Observe(limit(t))
	require.NoError(t, err)
	require.NoError(t, <-started)
	require.Len(t, o.Windows, 1)
	frames := futures(limit(t), t, s, time.Second)
	assert.Zero(t, stale(o.Bare, frames), "%+v", o.Settled)
}

// A program may have connected, and wait for a service that it has started before it
// shows its window: it does nothing meanwhile, and nobody can ask it. On a busy machine its
// window may come before the first quiet interval is over, and it is no reason to wait then.
func TestSettleWaitsForTheFirstWindow(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	s := d.screen(screen.Options{Settle: unhurried})
	settle(t, s)
	d.startStaged(stagedLate)
	settled := settle(t, s)
	windows, err := s.Windows(limit(t))
	require.NoError(t, err)
	assert.Len(t, windows, 1, "%+v", settled)
}

// What connects and shows nothing, as a service does, is waited for once.
func TestSettleWaitsOnceForAProgramWithoutWindows(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	s := d.screen(screen.Options{Settle: unhurried})
	settle(t, s)
	d.startStaged(stagedNever)
	settled := settle(t, s)
	assert.Equal(t, screen.SettledQuiet, settled.Reason)
	assert.Contains(t, settled.Busy, "new program")
	d.move(image.Pt(5, 5)) // or else there would be nothing to wait for
	settled = settle(t, s)
	assert.NotContains(t, settled.Busy, "new program")
}

// That others answer late, as they do on a crowded machine, and what such answers cost, does
// not prolong it without end.
func TestSettleWaitsOnceWhereAnswersAreLate(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.openProcess(os.Args[0], stagedTardy)
	s := d.screen(screen.Options{Settle: unhurried})
	settle(t, s)
	d.startStaged(stagedNever)
	settled := settle(t, s)
	assert.Equal(t, screen.SettledQuiet, settled.Reason)
	assert.Subset(t, settled.Busy, []string{"new program", "slow answer"})
}

// startStaged starts a staged window's program, and waits until it has connected.
func (d *desk) startStaged(kind string) {
	d.tb.Helper()
	before := d.clients()
	_, err := d.Launch(sandbox.Command{Args: []string{os.Args[0], kind}})
	require.NoError(d.tb, err)
	require.Eventually(d.tb, func() bool { return d.clients() > before }, time.Minute, time.Millisecond)
}

// clients returns how many programs are connected to the server.
func (d *desk) clients() int {
	require.NoError(d.tb, d.conn.Extension("X-Resource"))
	reply, err := res.QueryClients(d.conn.Conn).Reply()
	require.NoError(d.tb, err)
	return int(reply.NumClients)
}
