//go:build linux

package screen

import (
	"context"
	"image"
	"io"
	"os/exec"
	"testing"
	"time"

	"desktop-agent/internal/process"
	"desktop-agent/sandbox"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBlinks(t *testing.T) {
	caret, line := image.Rect(5, 5, 8, 23), image.Rect(0, 5, 1000, 39)
	ms := func(list ...int) (d []time.Duration) {
		for _, n := range list {
			d = append(d, time.Duration(n)*time.Millisecond)
		}
		return d
	}
	for _, tt := range []struct {
		name  string
		box   image.Rectangle
		times []time.Duration
		want  []bool // taken for blinking
	}{
		{"caret", caret, ms(0, 600, 1200, 1800, 2400), []bool{false, false, false, true, true}},
		{"caret seen longer than not", caret, ms(0, 800, 1200, 2000, 2400), []bool{false, false, false, true, true}},
		{"a line drawn for its caret", line, ms(0, 400, 1200, 1600), []bool{false, false, false, true}},
		{"clock", caret, ms(0, 1000, 2000, 3010), []bool{false, false, false, true}},
		{"drawn in two steps", caret, ms(0, 2, 600, 603, 1200, 1202, 1800, 1802), []bool{false, false, false, false, false, false, true, true}},
		{"spinner", caret, ms(0, 16, 32, 48, 64, 80, 96, 112), make([]bool, 8)},
		{"slower spinner", caret, ms(0, 120, 240, 360), make([]bool, 4)},
		{"uneven", caret, ms(0, 400, 1200, 1500, 2500), make([]bool, 5)},
		{"too slow", caret, ms(0, 4000, 8000, 12000), make([]bool, 4)},
		{"all of a marked text", image.Rect(276, 263, 1425, 452), ms(0, 502, 1001, 1502), []bool{false, false, false, true}},
		{"too tall", image.Rect(0, 0, 50, 600), ms(0, 600, 1200, 1800), make([]bool, 4)},
		{"out of step", caret, ms(0, 600, 1200, 1800, 1950, 2400), []bool{false, false, false, true, false, false}},
		{"late on a busy machine", caret, ms(0, 300, 600, 900, 1350, 1500, 1950), []bool{false, false, false, true, true, false, false}},
		{"late once more", caret, ms(0, 600, 1200, 1800, 2700, 3000, 3600), []bool{false, false, false, true, true, true, true}},
		{"never even again", caret, ms(0, 600, 1200, 1800, 2700, 3000, 3900, 4200), []bool{false, false, false, true, true, true, true, true}},
		{"turns into a spinner", caret, ms(0, 600, 1200, 1800, 1850, 1920, 2000), []bool{false, false, false, true, true, false, false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b blinks
			start := time.Now()
			for i, at := range tt.times {
				assert.Equal(t, tt.want[i], b.seen(tt.box, start.Add(at)), "at %v", at)
			}
		})
	}
	t.Run("the oldest place is forgotten", func(t *testing.T) {
		var b blinks
		now := time.Now()
		for i := range 3 * blinkPlaces {
			b.seen(image.Rect(i, 0, i+1, 1), now.Add(time.Duration(i)))
		}
		assert.Len(t, b.places, blinkPlaces)
		assert.Contains(t, b.places, image.Rect(3*blinkPlaces-1, 0, 3*blinkPlaces, 1))
		assert.NotContains(t, b.places, image.Rect(0, 0, 1, 1))
	})
}

func TestPainted(t *testing.T) {
	w := &watch{}
	now := time.Now()
	box := image.Rect(100, 100, 200, 200)
	w.draw(image.Rect(0, 0, 1000, 1000), now)
	assert.False(t, w.painted(box, now.Add(1)), "drawn too early")
	w.draw(image.Rect(100, 100, 200, 140), now.Add(2))
	assert.False(t, w.painted(box, now.Add(1)), "less than half")
	w.draw(image.Rect(0, 140, 300, 160), now.Add(3))
	assert.True(t, w.painted(box, now.Add(1)))
	for range 2 * maxStrokes {
		w.draw(image.Rect(0, 0, 1, 1), now.Add(4))
	}
	assert.LessOrEqual(t, len(w.strokes), maxStrokes)
}

func TestLoadFindsWorkOfDescendants(t *testing.T) {
	// A shell that waits for a line, starts a shell that works until the next one, and sleeps.
	cmd := exec.Command("sh", "-c", "read line; sh -c 'while :; do :; done' & read line; kill $!; wait; exec sleep 600")
	lines, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	var l load
	l.begin(true)
	l.follow([]int{cmd.Process.Pid})
	busy := func() bool {
		time.Sleep(8 * time.Millisecond)
		awake, _ := l.working()
		return awake || l.ready()
	}
	next := func() {
		_, err := io.WriteString(lines, "\n")
		require.NoError(t, err)
	}
	next()
	require.Eventually(t, busy, time.Minute, time.Millisecond, "the inner shell works")
	next()
	calm := 0
	require.Eventually(t, func() bool {
		if calm++; busy() {
			calm = 0
		}
		return calm >= 3
	}, time.Minute, time.Millisecond, "it has ended")
	assert.Contains(t, l.pids, cmd.Process.Pid)
	l.follow(nil)
	assert.Empty(t, l.pids)
}

// A process that was started since the look before is work, though it and who started it
// sleep when they are looked at.
func TestLoadFindsWhoCame(t *testing.T) {
	cmd := exec.Command("sh", "-c", "read line; sleep 600 & read line; kill $!")
	lines, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() { lines.Close(); cmd.Wait() }()
	var l load
	l.follow([]int{cmd.Process.Pid})
	calm := func() bool { return !l.ready() }
	require.Eventually(t, calm, time.Minute, time.Millisecond, "it waits for a line")
	_, err = io.WriteString(lines, "\n")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		list := children(cmd.Process.Pid)
		return len(list) == 1 && !process.AnyRunnable(list[0]) && !process.AnyRunnable(cmd.Process.Pid)
	}, time.Minute, time.Millisecond, "both sleep")
	assert.True(t, l.ready(), "one came")
	require.Eventually(t, calm, time.Minute, time.Millisecond, "and is known")
}

// Without shared memory, pictures come over the connection and are the same.
func TestCaptureWithoutSharedMemory(t *testing.T) {
	desk, err := sandbox.Start(context.Background(), &sandbox.Options{Size: image.Pt(801, 601)})
	require.NoError(t, err)
	defer desk.Close()
	s, err := Open(context.Background(), &Options{Display: desk.Display()})
	require.NoError(t, err)
	defer s.Close()
	shared, err := s.Capture(context.Background())
	require.NoError(t, err)
	require.NotEmpty(t, s.display.shared.data)
	require.NoError(t, s.display.shared.free())
	s.display.shared.failed = true
	plain, err := s.Capture(context.Background())
	require.NoError(t, err)
	require.Empty(t, s.display.shared.data)
	assert.Equal(t, shared.Pix, plain.Pix)
	assert.Equal(t, image.Pt(801, 601), plain.Rect.Size())
}

func TestSwapRedBlue(t *testing.T) {
	for _, pixels := range []int{1, 2, 3, 7, 8, 9, 15, 16, 17, 1000, 65537, 1920 * 1080, 1919*1079 + 1} {
		from, to := make([]byte, 4*pixels), make([]byte, 4*pixels+4)
		for i := range from {
			from[i] = byte(i*7 + i>>8)
		}
		swapRedBlue(to[:4*pixels], from)
		for i := 0; i < len(from); i += 4 {
			if [4]byte(to[i:]) != [4]byte{from[i+2], from[i+1], from[i], 255} {
				t.Fatalf("%d pixels: pixel %d is %v of %v", pixels, i/4, to[i:i+4], from[i:i+4])
			}
		}
		assert.Zero(t, [4]byte(to[4*pixels:]), "nothing beyond")
	}
}
