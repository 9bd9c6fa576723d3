//go:build linux

package ocr_test

import (
	"context"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"desktop-agent/internal/x11"
	"desktop-agent/internal/x11/x11test"
	"desktop-agent/sandbox"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
	"desktop-agent/screen/ocr"
)

// unhurried is a reader that a busy machine does not keep from reading.
var unhurried = ocr.Options{Wait: time.Minute, Limit: time.Minute}

func open(tb testing.TB, o ocr.Options) *ocr.Reader {
	tb.Helper()
	r, err := ocr.Open(limit(tb), &o)
	require.NoError(tb, err, "scripts/setup test installs it")
	tb.Cleanup(func() { require.NoError(tb, r.Close()) })
	return r
}

func limit(tb testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	tb.Cleanup(cancel)
	return ctx
}

// A desk is a private desktop that is watched, with pictures read by reader.
type desk struct {
	*sandbox.Desktop
	tb     testing.TB
	screen *screen.Screen
	reader *ocr.Reader
	tree   *atspi.Reader
}

func newDesk(tb testing.TB, size image.Point) *desk {
	tb.Helper()
	desktop, err := sandbox.Start(context.Background(), &sandbox.Options{Size: size})
	require.NoError(tb, err)
	tb.Cleanup(func() { desktop.Close() })
	tree, err := atspi.Open(limit(tb), &atspi.Options{BusAddress: desktop.BusAddress(), Server: screen.ServerOf(desktop.Display()), Silence: 10 * time.Second, AppTimeout: time.Minute})
	require.NoError(tb, err)
	tb.Cleanup(func() { tree.Close() })
	d := &desk{Desktop: desktop, tb: tb, reader: open(tb, unhurried), tree: tree}
	d.screen, err = screen.Open(limit(tb), &screen.Options{
		Display: desktop.Display(), Tree: tree, OCR: d.reader, Settle: screen.SettleOptions{Ceiling: time.Minute, Quiet: 300 * time.Millisecond},
	})
	require.NoError(tb, err)
	tb.Cleanup(func() { d.screen.Close() })
	return d
}

// write puts a file into the desktop's home.
func (d *desk) write(name, text string) {
	require.NoError(d.tb, os.WriteFile(filepath.Join(d.Home(), name), []byte(text), 0o600))
}

func (d *desk) open(program string, args ...string) {
	d.tb.Helper()
	_, err := d.Open(limit(d.tb), program, args...)
	require.NoError(d.tb, err)
}

// until observes until something is so, and returns the observation of then.
func (d *desk) until(what string, is func(*screen.Observation) bool) *screen.Observation {
	d.tb.Helper()
	ctx := limit(d.tb)
	for {
		o, err := d.screen.Observe(ctx)
		require.NoError(d.tb, err, what)
		if is(o) {
			return o
		}
	}
}

// has reports whether there is an enabled node of a role and with a name.
func has(o *screen.Observation, role, name string) bool { return find(o, role, name) >= 0 }

func find(o *screen.Observation, role, name string) int {
	return slices.IndexFunc(o.Tree.Nodes, func(n atspi.Node) bool { return n.Role == role && n.Name == name && !n.Has("disabled") })
}

// click waits for a node and clicks its middle.
func (d *desk) click(role, name string) {
	d.tb.Helper()
	o := d.until(role+" "+name, func(o *screen.Observation) bool { return has(o, role, name) })
	at := o.Tree.Nodes[find(o, role, name)].Box
	x, err := x11.Dial(d.Display())
	require.NoError(d.tb, err)
	defer x.Close()
	x11test.Click(d.tb, x, 1, at.Min.Add(at.Max).Div(2), 1)
}

// read returns what was read of the focused window, line by line.
func read(o *screen.Observation) (lines []string) {
	w, _ := o.Focused()
	for _, n := range o.Tree.Nodes {
		if n.Role == screen.RoleTextLine && n.Box.In(w.Box) {
			lines = append(lines, n.Text)
		}
	}
	return lines
}

// right returns which part of the characters of a text was read right, from 0 to 1:
// white space aside, one less for each that is wrong, missing or too many.
func right(want string, got []string) float64 {
	a, b := []rune(squeeze(want)), []rune(squeeze(strings.Join(got, "\n")))
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range a {
		last := row[0]
		row[0] = i + 1
		for j, s := range b {
			cost := last
			if r != s {
				cost++
			}
			last = row[j+1]
			row[j+1] = min(cost, row[j]+1, last+1)
		}
	}
	return 1 - float64(row[len(b)])/float64(len(a))
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }
