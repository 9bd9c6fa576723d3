//go:build unix

package replay

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/run"
)

const (
	crashEnv = "REPLAY_CRASH_RUNS"        // the folder for the run of a child
	killsEnv = "DESKTOP_AGENT_TEST_KILLS" // how many children are killed, else 30
)

// TestSurvivesKill kills a writing process at random moments: each event that it
// said was acknowledged must be there, whole, with the frames before an act.
func TestSurvivesKill(t *testing.T) {
	if dir := os.Getenv(crashEnv); dir != "" {
		writeUntilKilled(t, dir)
		return
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	crashes, err := strconv.Atoi(cmp.Or(os.Getenv(killsEnv), "30"))
	require.NoError(t, err)
	acknowledged, cut := make([]int, crashes), make([]bool, crashes)
	var all errgroup.Group
	all.SetLimit(4)
	for i := range crashes {
		dir := filepath.Join(t.TempDir(), strconv.Itoa(i))
		all.Go(func() (err error) {
			acknowledged[i], cut[i], err = crash(t.Context(), exe, dir, time.Duration(rand.IntN(60_000))*time.Microsecond)
			if err != nil {
				err = fmt.Errorf("run in %s: %w", dir, err)
			}
			return err
		})
	}
	require.NoError(t, all.Wait())
	total, cuts := 0, 0
	for i := range crashes {
		total += acknowledged[i]
		if cut[i] {
			cuts++
		}
	}
	t.Logf("%d kills, %d acknowledged events, all there; %d lines were cut", crashes, total, cuts)
	assert.Greater(t, total, crashes, "the children must have come to write something")
}

// crash starts a child, kills it a while after its first event, and looks at
// what it left.
func crash(ctx context.Context, exe, dir string, after time.Duration) (acknowledged int, cut bool, err error) {
	child := exec.CommandContext(ctx, exe, "-test.run=^TestSurvivesKill$")
	child.Env = append(os.Environ(), crashEnv+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		return 0, false, err
	}
	if err := child.Start(); err != nil {
		return 0, false, err
	}
	var timer *time.Timer
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if timer == nil {
			timer = time.AfterFunc(after, func() { child.Process.Kill() })
			defer timer.Stop()
		}
		// The last line may be cut, but never holds more than was acknowledged.
		if acknowledged, err = strconv.Atoi(lines.Text()); err != nil {
			return 0, false, fmt.Errorf("the child says %q", lines.Text())
		}
	}
	if err := child.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		return 0, false, fmt.Errorf("the child was to be killed, and ended with %w", err)
	}
	list, err := List(dir)
	if err != nil || len(list) != 1 || !list[0].Killed {
		return 0, false, fmt.Errorf("runs: %+v, %w", list, err)
	}
	r, err := Open(list[0].Dir)
	if err != nil {
		return 0, false, err
	}
	n := 0
	for e, err := range r.Events() {
		if err != nil {
			return 0, false, err
		}
		n++
		if acting, ok := e.Data.(run.Acting); ok {
			if _, err := r.Frame(string(acting.Action.Action.(actuator.Type).Text)); err != nil {
				return 0, false, err
			}
		}
	}
	if n < acknowledged {
		return 0, false, fmt.Errorf("%d events are there; %d were acknowledged", n, acknowledged)
	}
	v, err := r.Verify(ctx)
	if err != nil || !v.Whole() {
		return 0, false, fmt.Errorf("verify: %v, %w", v, err)
	}
	return acknowledged, r.Cut > 0, nil
}

// writeUntilKilled writes turns for ever, and tells of each event that was
// acknowledged by its number.
func writeUntilKilled(t *testing.T, dir string) {
	j, err := Create(dir)
	require.NoError(t, err)
	seq := 0
	say := func(step int, data run.EventData) {
		require.NoError(t, j.Append(t.Context(), step, data))
		seq++
		fmt.Fprintln(os.Stdout, seq) // not buffered
	}
	say(0, started("x").Data)
	for step := 1; ; step++ {
		frame := fmt.Sprintf("f%04d", step)
		require.NoError(t, j.Frame(t.Context(), observation(frame, image.Pt(64, 48), image.Pt(32, 24), color.White)))
		say(step, run.Observed{FrameID: frame, Frame: image.Pt(64, 48)})
		say(step, called(step, llm.Actor, "propose", strings.Repeat("what next? ", 2000), "this").Data)
		action := actuator.Type{Text: actuator.Secret(frame)}
		say(step, proposes(step, frame, action).Data)
		say(step, run.Acting{Action: run.Recorded{Action: action}})
		say(step, run.Acted{Status: actuator.Delivered})
	}
}

// A journal that is closed has no writer, though another process has its file open still: one
// that was started at that moment, and does not run its own program yet.
func TestClosedWhileAProcessStarts(t *testing.T) {
	j := newJournal(t)
	put(t, j, started("x"))
	busy := func() bool {
		r, err := Open(j.Dir())
		require.NoError(t, err)
		return r.Busy
	}
	assert.True(t, busy())
	inherited, err := unix.Dup(int(j.events.Fd())) // what fork(2) does with it
	require.NoError(t, err)
	defer unix.Close(inherited)
	require.NoError(t, j.Close())
	assert.False(t, busy())
}

func TestTwoWriters(t *testing.T) {
	j := newJournal(t)
	put(t, j, started("x"))
	f, err := os.OpenFile(filepath.Join(j.Dir(), eventsFile), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	defer f.Close()
	assert.ErrorIs(t, lock(f), ErrWriter)
	assert.ErrorContains(t, lock(f), "wait until it ends")
	put(t, j, acting(1, actuator.Copy{})) // the first one is not disturbed
	r, err := Open(j.Dir())
	require.NoError(t, err)
	assert.True(t, r.Busy)
	require.NoError(t, j.Close())
	assert.NoError(t, lock(f), "free again")
}

// Readers that look whether a run is busy must not keep a writer from it, nor
// think of each other as writers.
func TestReadersAreNoWriters(t *testing.T) {
	dir := smallRun(t, t.TempDir(), "x", threeActs...)
	var all errgroup.Group
	for range 8 {
		all.Go(func() error {
			for range 50 {
				if r, err := Open(dir); err != nil || r.Busy {
					return fmt.Errorf("busy: %w", err)
				}
			}
			return nil
		})
	}
	assert.NoError(t, all.Wait())
}
