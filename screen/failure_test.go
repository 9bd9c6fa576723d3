//go:build linux

package screen_test

import (
	"context"
	"errors"
	"image"
	"image/color"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"desktop-agent/internal/x11"
	"desktop-agent/internal/x11/x11test"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestNoDisplay(t *testing.T) {
	t.Setenv("DISPLAY", "")
	for _, display := range []string{"", ":54321", "nonsense", "/nowhere:0"} {
		_, err := screen.Open(context.Background(), &screen.Options{Display: display})
		require.ErrorIs(t, err, x11.ErrNoDisplay, display)
		assert.ErrorContains(t, err, "set DISPLAY")
		assert.ErrorContains(t, err, "--virtual")
	}
}

// An xvfb is a bare X server without a window manager, which the test may kill.
type xvfb struct {
	cmd     *exec.Cmd
	display string
}

func newXvfb(t *testing.T) xvfb {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	cmd := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "800x600x24", "-nolisten", "tcp")
	cmd.ExtraFiles = []*os.File{w}
	require.NoError(t, cmd.Start())
	require.NoError(t, w.Close())
	var server x11test.Server
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		r.Close()
		server.Sweep(t)
	})
	number := make([]byte, 16)
	n, err := r.Read(number)
	require.NoError(t, err)
	display := ":" + strings.TrimSpace(string(number[:n]))
	server = x11test.ServerOf(t, display)
	return xvfb{cmd, display}
}

func TestWithoutWindowManager(t *testing.T) {
	t.Parallel()
	x := newXvfb(t)
	s, err := screen.Open(context.Background(), &screen.Options{Display: x.display})
	require.NoError(t, err)
	defer s.Close()
	o, err := s.Observe(limit(t))
	require.NoError(t, err)
	assert.Equal(t, screen.SettledQuiet, o.Settled.Reason)
	assert.Empty(t, o.Windows)
}

func TestServerDies(t *testing.T) {
	t.Parallel()
	for name, during := range map[string]func(context.Context, *screen.Screen) error{
		"capture": func(ctx context.Context, s *screen.Screen) error { _, err := s.Capture(ctx); return err },
		"observe": func(ctx context.Context, s *screen.Screen) error { _, err := s.Observe(ctx); return err },
		"windows": func(ctx context.Context, s *screen.Screen) error { _, err := s.Windows(ctx); return err },
		"settle":  func(ctx context.Context, s *screen.Screen) error { _, err := s.Settle(ctx); return err },
	} {
		t.Run(name, func(t *testing.T) {
			x := newXvfb(t)
			s, err := screen.Open(context.Background(), &screen.Options{Display: x.display})
			require.NoError(t, err)
			time.AfterFunc(50*time.Millisecond, func() { x.cmd.Process.Kill() })
			for err == nil { // until it is hit in the middle
				err = during(limit(t), s)
			}
			assert.NotErrorIs(t, err, context.DeadlineExceeded)
			err = during(limit(t), s) // and from the start
			assert.ErrorIs(t, err, x11.ErrNoDisplay)
			assert.NoError(t, s.Close())
		})
	}
}

func TestServerHangs(t *testing.T) {
	t.Parallel()
	x := newXvfb(t)
	s, err := screen.Open(context.Background(), &screen.Options{Display: x.display})
	require.NoError(t, err)
	require.NoError(t, exec.Command("kill", "-STOP", strconv.Itoa(x.cmd.Process.Pid)).Run())
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_, err = s.Observe(ctx)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Error(t, s.Close(), "closing gives up")
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	box := d.openStaged(stagedSpin)
	s := d.screen(screen.Options{Settle: screen.SettleOptions{Ceiling: time.Hour}})
	d.click(box.Min.Add(box.Size().Div(2)))
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(200*time.Millisecond, cancel)
	_, err := s.Observe(ctx)
	assert.ErrorIs(t, err, context.Canceled)
	_, err = s.Capture(ctx)
	assert.ErrorIs(t, err, context.Canceled)
	_, err = s.Capture(limit(t))
	assert.NoError(t, err, "usable afterwards")
	_, err = screen.Open(ctx, &screen.Options{Display: d.Display()})
	assert.ErrorIs(t, err, context.Canceled)
}

func TestNothingLeftBehind(t *testing.T) {
	d := newDesk(t, nil)
	d.open("mousepad")
	before := goleak.IgnoreCurrent()
	s, err := screen.Open(context.Background(), &screen.Options{Display: d.Display()})
	require.NoError(t, err)
	_, err = s.Observe(limit(t))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	goleak.VerifyNone(t, before)
}

// A fixedTree is a TreeReader with a fixed answer.
type fixedTree struct {
	nodes []atspi.Node
	hung  []atspi.Program
	err   error
}

func (f fixedTree) Read(context.Context) ([]atspi.Node, []atspi.Program, error) {
	return f.nodes, f.hung, f.err
}

func TestTree(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	read := fixedTree{nodes: []atspi.Node{{ID: "n1", Parent: -1, Role: "frame", Name: "x"}}, hung: []atspi.Program{{Name: "sleepy", PID: 7}}}
	o, err := d.screen(screen.Options{Tree: read, MaxImage: small}).Observe(limit(t))
	require.NoError(t, err)
	assert.Equal(t, "f0001", o.FrameID)
	assert.Equal(t, "x", o.Tree.Nodes[0].Name)
	assert.Equal(t, read.hung, o.Tree.Hung)
	assert.NoError(t, o.Tree.Err)

	broken := errors.New("no bus")
	s := d.screen(screen.Options{Tree: fixedTree{err: broken}, MaxImage: small})
	for _, id := range []string{"f0001", "f0002"} {
		o, err = s.Observe(limit(t))
		require.NoError(t, err, "a tree that cannot be read does not stop a look")
		assert.ErrorIs(t, o.Tree.Err, broken)
		assert.Equal(t, id, o.FrameID)
	}
}

// A drawingTree draws while it is read, so often.
type drawingTree struct {
	d     *desk
	draws int
	reads int
}

func (r *drawingTree) Read(context.Context) ([]atspi.Node, []atspi.Program, error) {
	if r.reads++; r.reads <= r.draws {
		at := image.Pt(10+40*r.reads, 300)
		r.d.fill(image.Rectangle{Min: at, Max: at.Add(image.Pt(30, 200))}, uint32(r.reads)*0x102030)
	}
	return nil, nil, nil
}

// What is drawn while a frame is taken is not in it: another is taken, until nothing is, or
// else the observation says that there was no end of it.
func TestObserveUntilNothingIsDrawn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		draws int
		want  screen.SettleReason
		so    screen.SettleOptions
	}{
		{"four times", 4, screen.SettledQuiet, unhurried},
		{"without end", 1 << 20, screen.SettledCeiling, screen.SettleOptions{Ceiling: time.Second}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, nil)
			tree := &drawingTree{d: d, draws: tt.draws}
			o, err := d.screen(screen.Options{Tree: tree, MaxImage: small, Settle: tt.so}).Observe(limit(t))
			require.NoError(t, err)
			assert.Equal(t, tt.want, o.Settled.Reason)
			if tt.want == screen.SettledQuiet {
				assert.Equal(t, tt.draws+1, tree.reads)
				assert.Equal(t, color.RGBA{0x40, 0x80, 0xc0, 0xff}, color.RGBAModel.Convert(o.Bare.At(175, 400)), "the last that was drawn")
			} else {
				assert.Greater(t, tree.reads, 1)
				assert.Contains(t, o.Settled.Busy, "drawing")
			}
		})
	}
}
