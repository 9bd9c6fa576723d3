//go:build linux

package run_test

import (
	"image"
	"slices"
	"strings"
	"testing"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A writer is LibreOffice Writer on a private desktop.
type writer struct {
	*run.Session
	t *testing.T
}

// see observes until a node of this role, whose name begins so, is there.
func (w writer) see(role, name string) (*screen.Observation, actuator.Point) {
	w.t.Helper()
	for {
		o, err := w.Desktop.Observe(w.t.Context())
		require.NoError(w.t, err)
		i := slices.IndexFunc(o.Tree.Nodes, func(n atspi.Node) bool {
			return n.Role == role && strings.HasPrefix(n.Name, name)
		})
		if i >= 0 {
			box := o.Tree.Nodes[i].Box
			return o, pointAt(o.Image.Mapping.ToImage(box.Min.Add(box.Max).Div(2)))
		}
	}
}

// keepsIDs opens a menu and a dialog and closes them: over these looks a button of a tool bar
// and the document, which no program need know again, keep the IDs of an observation.
func (w writer) keepsIDs(before *screen.Observation) {
	w.t.Helper()
	id := func(o *screen.Observation, role, name string) string {
		i := slices.IndexFunc(o.Tree.Nodes, func(n atspi.Node) bool { return n.Role == role && strings.HasPrefix(n.Name, name) })
		require.GreaterOrEqual(w.t, i, 0, "%s %s", role, name)
		return o.Tree.Nodes[i].ID
	}
	same := func(o *screen.Observation) {
		for _, kept := range [][2]string{{"push button", "Print"}, {"document text", ""}, {"paragraph", ""}} {
			assert.Equal(w.t, id(before, kept[0], kept[1]), id(o, kept[0], kept[1]), kept)
		}
	}
	for _, step := range [][2]string{{"menu", "Table"}, {"menu item", "Insert Table"}, {"push button", "Cancel"}} {
		o, p := w.see(step[0], step[1])
		same(o)
		require.NoError(w.t, w.Hand.Perform(w.t.Context(), run.Intent{Action: clickAt(p), On: o}))
	}
	for {
		o, _ := w.see("push button", "Print")
		same(o)
		if !slices.ContainsFunc(o.Tree.Nodes, func(n atspi.Node) bool { return n.Role == "dialog" }) {
			return
		}
	}
}

func clickAt(p actuator.Point) actuator.Click {
	return actuator.Click{At: &p, Button: actuator.Left, Count: 1}
}

// A tool bar that goes makes others move up: another button lies now where the model
// saw one. Such buttons can look alike, so the pictures are made the same here.
func TestClickIsPutOffWhereAnotherElementLies(t *testing.T) {
	w := writer{runtest.Open(t, run.Settings{Display: run.DisplaySettings{
		Private: true, Size: image.Pt(1280, 800), MaxImage: 1280, Ceiling: time.Minute, TreeSilence: time.Minute, TreeLimit: time.Minute,
		Open: "soffice --writer --norestore --nologo --nofirststartwizard",
	}}, nil), t}
	chosen, at := w.see("push button", "Print")
	aim := run.Aim{Action: clickAt(at), Chosen: chosen}
	var err error
	aim.Now, err = w.Desktop.Capture(t.Context())
	require.NoError(t, err)
	assert.Empty(t, w.Desktop.Surprise(t.Context(), aim), "all is as it was")
	w.keepsIDs(chosen)

	for _, step := range [][2]string{{"menu", "View"}, {"menu", "Toolbars"}, {"check menu item", "Standard"}} {
		o, p := w.see(step[0], step[1])
		require.NoError(t, w.Hand.Perform(t.Context(), run.Intent{Action: clickAt(p), On: o}))
	}
	aim.Now, err = w.Desktop.Capture(t.Context())
	require.NoError(t, err)
	assert.NotEmpty(t, w.Desktop.Surprise(t.Context(), aim), "the picture tells")

	alike := *chosen
	alike.Bare = aim.Now.Bare
	aim.Chosen = &alike
	why := w.Desktop.Surprise(t.Context(), aim)
	assert.Contains(t, why, `no longer push button "Print`)
	assert.Contains(t, why, "there is ")
	assert.NotContains(t, why, "no element")
	t.Log(why)
	aim.Again = true
	assert.Empty(t, w.Desktop.Surprise(t.Context(), aim), "what is proposed once more is done")
}

func pointAt(p image.Point) actuator.Point { return actuator.Point{X: p.X, Y: p.Y} }
