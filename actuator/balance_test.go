package actuator

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A fakeBackend keeps account of what is down, and can break at any call.
type fakeBackend struct {
	down   []string
	sent   int
	calls  int
	at     int    // the call to break at, from 1
	how    func() // breaks it: panics, cancels, or hangs
	fail   error  // or the error to return
	lost   bool   // whether a release that breaks does not arrive
	where  image.Point
	closed bool
}

// call counts a call that sends something.
func (b *fakeBackend) call() error {
	b.calls++
	if b.calls != b.at {
		return nil
	}
	if b.how != nil {
		b.how()
	}
	return b.fail
}

func (b *fakeBackend) toggle(name string, down bool) error {
	b.sent++
	if down { // an input whose sending fails may have arrived all the same
		b.down = append(b.down, name)
	} else if i := slices.Index(b.down, name); i >= 0 && !(b.lost && b.calls+1 == b.at) {
		b.down = slices.Delete(b.down, i, i+1)
	}
	return b.call()
}

func (b *fakeBackend) bounds() (image.Rectangle, error)     { return image.Rect(0, 0, 200, 100), nil }
func (b *fakeBackend) location() (image.Point, bool, error) { return b.where, true, nil }
func (b *fakeBackend) move(p image.Point) error             { b.where, b.sent = p, b.sent+1; return b.call() }
func (b *fakeBackend) button(n Button, down bool) error     { return b.toggle(string(n), down) }
func (b *fakeBackend) click(n Button, count int) error {
	for range count {
		for _, down := range []bool{true, false} {
			if err := b.toggle(string(n), down); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *fakeBackend) wheel(dx, dy int) error        { b.sent++; return b.call() }
func (b *fakeBackend) key(s stroke, down bool) error { return b.toggle(s.name, down) }

func (b *fakeBackend) tap(strokes []stroke) error {
	for _, s := range strokes {
		if err := b.toggle(s.name, true); err != nil {
			return err
		}
	}
	for _, s := range slices.Backward(strokes) {
		if err := b.toggle(s.name, false); err != nil {
			return err
		}
	}
	return nil
}

func (b *fakeBackend) ready(ctx context.Context, _ bool) error    { return ctx.Err() }
func (b *fakeBackend) setClipboard(context.Context, string) error { b.sent++; return b.call() }
func (b *fakeBackend) close() error                               { b.closed = true; return nil }

func (b *fakeBackend) chord(keys []Key) ([]stroke, error) {
	var list []stroke
	for _, k := range keys {
		if k == "kanji" {
			return nil, fmt.Errorf("%w: no such key", ErrRefused)
		}
		list = append(list, stroke{name: string(k)})
	}
	return list, nil
}

func (b *fakeBackend) typeText(_ context.Context, _ string, sending func()) error {
	sending()
	b.sent++
	return b.call()
}

func (b *fakeBackend) copy(_ context.Context, trigger func() error) (string, error) {
	return "copied", trigger()
}

func (b *fakeBackend) paste(_ context.Context, trigger func() error) error { return trigger() }

type fakeFrame struct{}

func (fakeFrame) Bounds() image.Rectangle            { return image.Rect(0, 0, 100, 100) }
func (fakeFrame) ToDevice(p image.Point) image.Point { return image.Pt(p.X*2, p.Y) }

func fakeDevice() (*Device, *fakeBackend) {
	b := &fakeBackend{}
	return newDevice(b, slog.New(slog.DiscardHandler)), b
}

// holding are actions that hold something down while they run, but not afterwards.
func holding() []Action {
	at := Point{X: 50, Y: 50}
	text := Secret("x")
	return []Action{
		Click{At: &at, Button: Left, Count: 3, Modifiers: []Key{"ctrl", "shift"}},
		Drag{Path: []Point{{X: 1, Y: 1}, at, {X: 90, Y: 9}}, Button: Left, Modifiers: []Key{"alt"}},
		Scroll{At: &at, DY: 3, Modifiers: []Key{"ctrl"}},
		Press{Keys: []Key{"ctrl", "shift", "s"}, Count: 2},
		Hold{Keys: []Key{"ctrl", "a"}, Milliseconds: 10},
		Type{Text: "text"}, Copy{}, Paste{Text: &text}, Paste{}, SetClipboard{Text: "x"},
		Move{At: at},
		ButtonDown{At: &at, Button: Right}, KeyDown{Key: "ctrl"}, // if they fail
	}
}

// breakEach performs each action again and again, broken at its first call, at
// its second, and so on.
func breakEach(t *testing.T, try func(t *testing.T, d *Device, b *fakeBackend, a Action)) {
	for _, a := range holding() {
		t.Run(Name(a), func(t *testing.T) {
			_, whole := fakeDevice()
			synctest.Test(t, func(t *testing.T) {
				d := newDevice(whole, slog.New(slog.DiscardHandler))
				_, err := d.Do(t.Context(), a, fakeFrame{})
				require.NoError(t, err)
				if _, stays := a.(ButtonDown); !stays && Name(a) != "key_down" {
					require.Empty(t, whole.down)
				}
			})
			require.Positive(t, whole.calls)
			for n := 1; n <= whole.calls; n++ {
				synctest.Test(t, func(t *testing.T) {
					d, b := fakeDevice()
					b.at = n
					try(t, d, b, a)
					b.at = 0
					require.NoError(t, d.Release())
					assert.Empty(t, b.down, "broken at call %d", n)
					assert.Empty(t, d.down)
				})
			}
		})
	}
}

func TestErrorAnywhereLetsGo(t *testing.T) {
	broken := errors.New("broken")
	breakEach(t, func(t *testing.T, d *Device, b *fakeBackend, a Action) {
		b.fail, b.lost = broken, true
		_, err := d.Do(t.Context(), a, fakeFrame{})
		require.ErrorIs(t, err, broken)
		require.NotErrorIs(t, err, ErrRefused, "something was sent")
	})
}

func TestCancelAnywhereLetsGo(t *testing.T) {
	breakEach(t, func(t *testing.T, d *Device, b *fakeBackend, a Action) {
		ctx, cancel := context.WithCancel(t.Context())
		b.how = cancel
		_, err := d.Do(ctx, a, fakeFrame{})
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
			assert.Empty(t, b.down, "without a call of Release")
		}
	})
}

func TestPanicAnywhereLetsGo(t *testing.T) {
	breakEach(t, func(t *testing.T, d *Device, b *fakeBackend, a Action) {
		b.how, b.lost = func() { panic("broken") }, true
		require.Panics(t, func() { d.Do(t.Context(), a, fakeFrame{}) })
		// The device can be used again.
		_, err := d.Do(t.Context(), Move{}, fakeFrame{})
		require.NoError(t, err)
	})
}

// TestHang has a display that stops to answer in the middle of a drag.
func TestHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, b := fakeDevice()
		hang := make(chan struct{})
		b.at, b.how = 4, func() { <-hang }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := d.Do(ctx, Drag{Path: []Point{{}, {X: 90, Y: 90}}, Button: Left}, fakeFrame{})
		require.ErrorIs(t, err, errStuck)
		_, err = d.Do(ctx, Move{}, fakeFrame{})
		require.ErrorIs(t, err, ErrRefused, "nothing else may be sent meanwhile")
		require.Error(t, d.Release())
		close(hang)
		synctest.Wait()
		assert.Empty(t, b.down, "what hung lets go when it comes back")
	})
}

func TestHeldAcrossActions(t *testing.T) {
	d, b := fakeDevice()
	do := func(a Action) error { _, err := d.Do(t.Context(), a, fakeFrame{}); return err }
	require.NoError(t, do(KeyDown{Key: "ctrl"}))
	require.NoError(t, do(ButtonDown{Button: Left}))
	require.NoError(t, do(Press{Keys: []Key{"ctrl", "c"}, Count: 1}))
	require.NoError(t, do(Scroll{DY: 1, Modifiers: []Key{"ctrl", "shift"}}))
	assert.Equal(t, []string{"ctrl", "left"}, b.down, "what was down before stays down")

	require.ErrorIs(t, do(Click{Button: Left, Count: 1}), ErrRefused)
	require.ErrorIs(t, do(Drag{Path: []Point{{}}, Button: Left}), ErrRefused)
	require.ErrorIs(t, do(Press{Keys: []Key{"ctrl"}, Count: 1}), ErrRefused)
	require.ErrorIs(t, do(Type{Text: "x"}), ErrRefused)
	require.NoError(t, do(KeyDown{Key: "ctrl"}), "is down already")
	assert.Equal(t, []string{"ctrl", "left"}, b.down)

	b.at, b.fail = b.calls+1, errors.New("broken")
	require.Error(t, do(Press{Keys: []Key{"ctrl", "v"}, Count: 1}))
	assert.Equal(t, []string{"ctrl", "left"}, b.down, "a failure lets go only what the action pressed")

	require.NoError(t, do(ButtonUp{Button: Left}))
	require.NoError(t, do(KeyUp{Key: "ctrl"}))
	require.NoError(t, do(KeyUp{Key: "ctrl"}), "is up already")
	assert.Empty(t, b.down)

	require.NoError(t, do(KeyDown{Key: "alt"}))
	require.NoError(t, d.Close())
	assert.Empty(t, b.down)
	assert.True(t, b.closed)
	require.ErrorIs(t, do(Move{}), ErrRefused)
	require.NoError(t, d.Release())
	require.NoError(t, d.Close())
}

func TestRefusedSendsNothing(t *testing.T) {
	at := Point{X: 100, Y: 50} // the image ends at 99
	for name, tt := range map[string]struct {
		action Action
		frame  Frame
		want   string
	}{
		"off the image":          {Click{At: &at, Button: Left, Count: 1}, fakeFrame{}, "outside the screenshot"},
		"path leaves the image":  {Drag{Path: []Point{{X: 1, Y: 1}, {X: 5, Y: -1}}, Button: Left}, fakeFrame{}, "outside the screenshot"},
		"off the desktop":        {Move{At: Point{X: 50, Y: 50}}, shrunk{}, "outside the desktop, which is 200×100"},
		"no frame":               {Move{}, nil, "frame"},
		"unknown key":            {Press{Keys: []Key{"ctrl", "strg"}, Count: 1}, fakeFrame{}, `unknown key "strg"`},
		"key the keyboard lacks": {Press{Keys: []Key{"ctrl", "kanji"}, Count: 1}, fakeFrame{}, "no such key"},
		"key down it lacks":      {KeyDown{Key: "kanji"}, fakeFrame{}, "no such key"},
		"hold of a key it lacks": {Hold{Keys: []Key{"kanji"}, Milliseconds: 5}, fakeFrame{}, "no such key"},
		"unknown button":         {Click{Button: "side", Count: 1}, fakeFrame{}, "unknown mouse button"},
		"four clicks":            {Click{Button: Left, Count: 4}, fakeFrame{}, "4 clicks"},
		"nothing":                {nil, fakeFrame{}, "no action"},
		"zoom":                   {Zoom{Region: Region{Width: 5, Height: 5}}, fakeFrame{}, "for the agent"},
		"done":                   {Done{}, fakeFrame{}, "for the agent"},
		"infeasible":             {Infeasible{}, fakeFrame{}, "for the agent"},
		"ask":                    {Ask{Question: "?"}, fakeFrame{}, "for the agent"},
	} {
		t.Run(name, func(t *testing.T) {
			d, b := fakeDevice()
			_, err := d.Do(t.Context(), tt.action, tt.frame)
			require.ErrorIs(t, err, ErrRefused)
			assert.ErrorContains(t, err, tt.want)
			assert.Zero(t, b.sent)
		})
	}
	t.Run("cancelled before", func(t *testing.T) {
		d, b := fakeDevice()
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stopped by the user")
		cancel(stop)
		_, err := d.Do(ctx, Click{Button: Left, Count: 1}, nil)
		require.ErrorIs(t, err, ErrRefused)
		require.ErrorIs(t, err, stop)
		assert.Zero(t, b.sent)
	})
}

// shrunk is a frame from before the desktop became smaller.
type shrunk struct{ fakeFrame }

func (shrunk) ToDevice(p image.Point) image.Point { return p.Mul(10) }

func TestOutputIsCopiedText(t *testing.T) {
	d, _ := fakeDevice()
	output, err := d.Do(t.Context(), Copy{}, nil)
	require.NoError(t, err)
	assert.Equal(t, "copied", output)
}

func TestWaitIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := fakeDevice()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := d.Do(ctx, Wait{Milliseconds: 60_000}, nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(start))
	})
}

// TestClicksApart checks what programs would count as one more click.
func TestClicksApart(t *testing.T) {
	near, far := Point{X: 10, Y: 10}, Point{X: 90, Y: 90}
	click := func(p Point, count int) Action { return Click{At: &p, Button: Left, Count: count} }
	for name, tt := range map[string]struct {
		first, second Action
		apart         time.Duration
	}{
		"same place":          {click(near, 1), click(near, 1), clickTime},
		"after a double":      {click(near, 2), click(near, 1), 2 * clickTime},
		"drag after a double": {click(near, 2), Drag{Path: []Point{near, far}, Button: Left}, 2 * clickTime},
		"press after a click": {click(near, 1), ButtonDown{Button: Left}, clickTime},
		"elsewhere":           {click(near, 1), click(far, 1), 0},
		"double elsewhere":    {click(near, 1), click(far, 2), clickTime},
		"another button":      {click(near, 1), Click{Button: Right, Count: 2}, 0},
		"first":               {Move{At: near}, click(near, 3), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, _ := fakeDevice()
				start := time.Now()
				_, err := d.Do(t.Context(), tt.first, fakeFrame{})
				require.NoError(t, err)
				_, err = d.Do(t.Context(), tt.second, fakeFrame{})
				require.NoError(t, err)
				took := time.Since(start)
				assert.GreaterOrEqual(t, took, tt.apart)
				assert.Less(t, took, tt.apart+clickTime/2)
			})
		})
	}
}
