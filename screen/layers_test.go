package screen_test

import (
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/sandbox"
	"desktop-agent/screen"
)

// layered is a page with a bar that stays above while it scrolls, a box that floats over its
// left half and a strip at its foot that says nothing: all before or beside what they cover in
// the page's text. Whatever is clicked, its title says so.
const layered = `<!doctype html><title>Layers</title><style>
body { margin: 0; font: 16px sans-serif } header { position: sticky; top: 0; height: 60px; background: #def }
div.box { position: fixed; left: 0; top: 150px; width: 250px; height: 160px; background: #fff; border: 1px solid }
div.strip { position: fixed; left: 0; bottom: 0; width: 100%; height: 60px; background: #fed }
p { height: 40px; margin: 0 } p button { width: 500px; height: 30px }</style>
<div class="box" role="dialog" aria-label="Cookies">We use cookies. <button>Accept</button></div>
<header><a href="#top">Home</a> <button onclick="session()">Recompute</button></header>
<div id="list"></div><div class="strip"></div><div id="more"></div>
<script>
for (let i = 0; i < 40; i++) list.innerHTML += '<p><button>Edit ' + i + '</button></p>'
document.addEventListener('click', e => { document.title = 'clicked ' + (e.target.textContent || 'nothing').slice(0, 12) })
function session() {
  for (const b of document.querySelectorAll('p button')) b.textContent = b.textContent.replace(/( now .*)?$/, ' now as it was computed again with a long reason')
  more.innerHTML = '<div role="dialog" style="position:fixed;left:300px;top:150px;background:#fff">The session expires in a minute. <button>Stay</button></div>'
}
scrollTo(0, 45)
</script>`

// TestPageLayers: what a page shows over its own parts covers them wherever it comes in the
// page. What lies below is out of reach, or hit beside it; and a dialog is told first, whatever
// else is new.
func TestPageLayers(t *testing.T) {
	d := newDesk(t, &sandbox.Options{Size: image.Pt(1000, 700)})
	path := filepath.Join(d.Home(), "layers.html")
	require.NoError(t, os.WriteFile(path, []byte(layered), 0o600))
	d.browse("file://" + path)
	s := d.screen(screen.Options{Tree: d.tree()})
	edit := func(o *screen.Observation, number string) int {
		t.Helper()
		i := deed{role: "push button", name: "Edit " + number}.in(o)
		require.GreaterOrEqual(t, i, 0, "%s", o.Text(0))
		return i
	}
	var o *screen.Observation
	d.until(s, func(now *screen.Observation) bool {
		o = now
		i := deed{role: "push button", name: "Edit 0"}.in(now)
		if i < 0 {
			return false
		}
		_, _, ok := now.PointOf(i)
		return !ok
	})
	text := o.Text(0)
	t.Log(text)
	inOrder(t, text, `dialog "Cookies"`, "We use cookies", "Accept", "Home", "Edit 1")
	for number := range strings.FieldsSeq("2 3 4 5") { // some of which are under the box in their left half
		i := edit(o, number)
		at, _, ok := o.PointOf(i)
		require.True(t, ok, "Edit %s", number)
		d.click(at)
		d.until(s, func(now *screen.Observation) bool {
			o = now
			return strings.Contains(now.Windows[0].Title, "clicked Edit "+number)
		})
	}
	before := o
	d.do(deed{role: "push button", name: "Recompute"}, before)
	d.until(s, there(deed{role: "push button", name: "Stay"}))
	now, err := s.Observe(limit(t))
	require.NoError(t, err)
	lines := changesTold(t, before, now)
	require.NotEmpty(t, lines)
	assert.Contains(t, strings.Join(lines[:3], "\n"), `The session expires in a minute.`)
	inOrder(t, now.Text(0), "The session expires", "Stay", "Home")
}
