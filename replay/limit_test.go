//go:build unix

package replay

import (
	"image"
	"image/color"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/run"
)

// TestFileLimit runs a journal against a real limit of the kernel, in a process
// of its own: files may have 128 kB.
func TestFileLimit(t *testing.T) {
	if os.Getenv("REPLAY_FILE_LIMIT") == "" {
		exe, err := os.Executable()
		require.NoError(t, err)
		child := exec.CommandContext(t.Context(), exe, "-test.run=^TestFileLimit$", "-test.v")
		child.Env = append(os.Environ(), "REPLAY_FILE_LIMIT=1")
		out, err := child.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	limit := &syscall.Rlimit{Cur: 128 << 10, Max: 128 << 10}
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, limit))

	t.Run("event", func(t *testing.T) {
		j := newJournal(t)
		put(t, j, started("x"))
		long := run.Event{Kind: "planned", Data: run.Planned{Error: strings.Repeat("x", 80<<10)}}
		put(t, j, long)
		err := j.Event(t.Context(), numbered(j, long)) // the half that fits must go again
		require.ErrorIs(t, err, syscall.EFBIG)
		assert.ErrorContains(t, err, "ulimit -f")
		assert.ErrorIs(t, j.Event(t.Context(), acting(1, actuator.Copy{})), syscall.EFBIG)
		require.NoError(t, j.Close())
		r, err := Open(j.Dir())
		require.NoError(t, err)
		assert.Zero(t, r.Cut, "the unfinished line was taken back")
		assert.Len(t, events(t, r), 2)
		assert.Contains(t, r.Info.Error, "write event 3 (planned)")
	})
	t.Run("frame", func(t *testing.T) {
		j := newJournal(t)
		put(t, j, started("x"))
		noise := observation("f1", image.Pt(300, 300), image.Pt(20, 20), color.White)
		for i := range noise.Frame.Pix {
			noise.Frame.Pix[i] = byte(rand.Uint32())
		}
		require.NoError(t, j.Frame(t.Context(), noise))
		err := j.Event(t.Context(), numbered(j, acting(1, actuator.Copy{})))
		require.ErrorIs(t, err, syscall.EFBIG, "nothing is done without its frame")
		assert.ErrorContains(t, err, "store frame f1")
		require.NoError(t, j.Close())
		r, err := Open(j.Dir())
		require.NoError(t, err)
		assert.Len(t, events(t, r), 1, "acting was not written")
		_, err = r.Frame("f1")
		assert.ErrorIs(t, err, os.ErrNotExist, "no half frame is left")
	})
}
