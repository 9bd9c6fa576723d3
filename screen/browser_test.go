//go:build linux

package screen_test

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"desktop-agent/sandbox"
	"desktop-agent/screen"

	"github.com/godbus/dbus/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Pages that are never still: a style that turns something, and a canvas that each frame
// paints anew.
const (
	spinner = `<!doctype html><title>Spinner</title><h1>Please wait</h1><button>Stop waiting</button>
<style>
@keyframes turn { to { transform: rotate(360deg) } }
div { width: 60px; height: 60px; margin: 40px; border: 8px solid silver; border-top-color: black; border-radius: 50%; animation: turn 1s linear infinite }
</style><div></div>`
	film = `<!doctype html><title>Film</title><h1>A film</h1><button>Pause</button><p><canvas width=300 height=200></canvas>
<script>
const c = document.querySelector('canvas').getContext('2d')
let n = 0
function draw() { c.fillStyle = 'hsl(' + n++ % 360 + ' 80% 50%)'; c.fillRect(0, 0, 300, 200); requestAnimationFrame(draw) }
draw()
</script>`

	// A page that changes in steps which follow each other closely.
	steps = `<!doctype html><title>Steps</title><button onclick="go()">Go</button><p id=first></p><p id=second></p>
<style>#gap { height: 0; transition: height 250ms } #gap.open { height: 120px }</style>
<div id=gap></div><button>Below</button>
<script>
let n = 0
function go() {
	n++
	first.textContent = 'first ' + n
	gap.classList.toggle('open')
	setTimeout(() => { second.textContent = 'second ' + n }, 80)
}
</script>`
)

// TestTreeAfterItsPicture holds that the tree of a page is not older than its picture. The
// browser sends what changed 150 ms after it did so last, so of two changes one after the
// other it tells the second late.
func TestTreeAfterItsPicture(t *testing.T) {
	d := newDesk(t, &sandbox.Options{Size: image.Pt(1000, 700)})
	path := filepath.Join(d.Home(), "steps.html")
	require.NoError(t, os.WriteFile(path, []byte(steps), 0o600))
	d.browse("file://" + path)
	s := d.screen(screen.Options{Settle: unhurried, Tree: d.tree()})
	button, below := deed{role: "push button", name: "Go"}, deed{role: "push button", name: "Below"}
	d.until(s, there(button))
	now, err := s.Observe(limit(t))
	require.NoError(t, err)
	var waited []time.Duration
	for n := range 8 {
		d.do(button, now)
		then, err := s.Observe(limit(t))
		require.NoError(t, err)
		waited = append(waited, then.Settled.Waited)
		time.Sleep(time.Second)
		now, err = s.Observe(limit(t))
		require.NoError(t, err)
		for _, text := range []string{fmt.Sprintf("first %d", n+1), fmt.Sprintf("second %d", n+1)} {
			assert.Contains(t, then.Text(0), text, "%+v", then.Settled)
			assert.Contains(t, now.Text(0), text)
		}
		assert.Equal(t, now.Tree.Nodes[below.in(now)].Box, then.Tree.Nodes[below.in(then)].Box, "%d: %+v", n, then.Settled)
		assert.True(t, screen.SamePicture(then.Bare, now.Bare), "%d: %+v", n, then.Settled)
	}
	slices.Sort(waited)
	t.Logf("waited %v, %v, %v", waited[0], waited[len(waited)/2], waited[len(waited)-1])
}

// TestBrowserThatNeverRests holds that a page which is drawn without end is observed all
// the same: at the ceiling, as is told, and complete. And how much memory a page has, which
// the browser adds to the name of a tab below the pointer, is no news.
func TestBrowserThatNeverRests(t *testing.T) {
	const (
		ceiling = 2 * time.Second
		rest    = time.Minute // to look, on a machine that others use too
	)
	d := newDesk(t, &sandbox.Options{Size: image.Pt(1000, 700)})
	page := func(name, content string) string {
		path := filepath.Join(d.Home(), name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return "file://" + path
	}
	d.browse(page("spinner.html", spinner), page("film.html", film))
	s := d.screen(screen.Options{Settle: screen.SettleOptions{Ceiling: ceiling}, Tree: d.tree()})
	restless := func(heading, button string) *screen.Observation {
		t.Helper()
		d.until(s, there(deed{role: "push button", name: button}))
		start := time.Now()
		o, err := s.Observe(limit(t))
		require.NoError(t, err)
		assert.Less(t, time.Since(start), ceiling+rest)
		assert.Equal(t, screen.SettledCeiling, o.Settled.Reason, "%+v", o.Settled)
		assert.GreaterOrEqual(t, o.Settled.Waited, ceiling)
		assert.Contains(t, o.Settled.Busy, "drawing")
		assert.NoError(t, o.Tree.Err)
		assert.Empty(t, o.Tree.Hung)
		inOrder(t, o.Text(0), `"New Tab"`, "Address and search bar", heading, button)
		return o
	}

	before := restless("Please wait", "Stop waiting")
	tab := deed{role: "page tab", name: "Spinner"}
	i := tab.in(before)
	require.GreaterOrEqual(t, i, 0, "%s", before.Text(0))
	n := before.Tree.Nodes[i]
	bus, path, _ := strings.Cut(n.Key, "#")
	object := d.accessibility().Object(bus, dbus.ObjectPath("/org/a11y/atspi/accessible/"+path))
	step := 0
	require.Eventually(t, func() bool { // the pointer shows the tab's card
		d.move(n.Box.Min.Add(n.Box.Max).Div(2).Add(image.Pt(step%3, 0)))
		step++
		name, err := object.GetProperty("org.a11y.atspi.Accessible.Name")
		require.NoError(t, err)
		return strings.HasPrefix(name.Value().(string), "Spinner - Memory usage - ")
	}, 2*time.Minute, 100*time.Millisecond, "the browser does not tell of memory any more")
	hovered, err := s.Observe(limit(t))
	require.NoError(t, err)
	assert.Contains(t, hovered.Text(0), `tab "Spinner" [selected]`)
	assert.NotContains(t, hovered.Text(0), "emory usage")
	for _, line := range changesTold(t, before, hovered) {
		assert.NotRegexp(t, `emory usage|tab "`, line)
	}

	d.do(deed{role: "page tab", name: "Film"}, hovered)
	restless("A film", "Pause")
}

// browse opens pages in a browser that tells of them.
func (d *desk) browse(pages ...string) {
	d.tb.Helper()
	need(d.tb, "chromium")
	d.open("chromium", append([]string{"--no-sandbox", "--test-type", "--disable-gpu", "--no-first-run", "--no-default-browser-check",
		"--allow-browser-signin=false", // else an invitation comes, and goes by itself some seconds later
		"--force-renderer-accessibility", "--user-data-dir=" + filepath.Join(d.Home(), "browser"), "--window-size=900,600"}, pages...)...)
}

// accessibility connects to the bus on which programs tell what they show.
func (d *desk) accessibility() *dbus.Conn {
	d.tb.Helper()
	session, err := dbus.Connect(d.BusAddress())
	require.NoError(d.tb, err)
	defer session.Close()
	var address string
	require.NoError(d.tb, session.Object("org.a11y.Bus", "/org/a11y/bus").Call("org.a11y.Bus.GetAddress", 0).Store(&address))
	conn, err := dbus.Connect(address)
	require.NoError(d.tb, err)
	d.tb.Cleanup(func() { conn.Close() })
	return conn
}
