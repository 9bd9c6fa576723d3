//go:build linux

package macro_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/eventwin"
	"desktop-agent/replay/macro"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// The results of a variation.
const (
	passed  = "passed"
	healed  = "healed"
	stopped = "stopped"
)

// A variation is a way in which the desktop is other than when the demo was
// recorded.
type variation struct {
	name string
	setting
	box    image.Rectangle // where the editor's window is moved to; nowhere if empty
	dialog int             // after so many actions a dialog opens
	heal   bool            // a healer stands for a model
	german bool
	short  bool // part of every test run
	want   string
}

var variations = []variation{
	{name: "the same", want: passed},
	{name: "window moved and resized", box: image.Rect(40, 90, 40+760, 90+420), short: true, want: passed},
	{name: "dark theme", setting: setting{env: []string{"GTK_THEME=Adwaita:dark"}}, want: passed},
	{name: "high contrast theme", setting: setting{env: []string{"GTK_THEME=HighContrast"}}, want: passed},
	{name: "font 125 %", setting: setting{dpi: 120}, want: passed},
	{name: "1.5 × scale (text)", setting: setting{dpi: 144}, want: passed},
	{name: "2 × scale (all), 2560×1600", setting: setting{dpi: 192, size: image.Pt(2560, 1600)}, want: stopped},
	{name: "1024×768", setting: setting{size: image.Pt(1024, 768)}, want: passed},
	{name: "1920×1080", setting: setting{size: image.Pt(1920, 1080)}, want: passed},
	{name: "no accessibility tree, moved", setting: setting{noTree: true}, box: image.Rect(60, 300, 60+640, 300+480), want: passed},
	{name: "no tree, font 125 %", setting: setting{noTree: true, dpi: 120}, want: stopped},
	{name: "no tree, dark theme", setting: setting{noTree: true, env: []string{"GTK_THEME=Adwaita:dark"}}, want: stopped},
	{name: "a dialog in between", dialog: 4, want: stopped},
	{name: "a dialog in between, healing on", dialog: 4, heal: true, short: true, want: healed},
	{name: "labels in German", german: true, want: passed},
}

// intended are what the demo clicks, in English and German.
var intended = []string{
	`text ""`, `menu "File"`, `menu "Datei"`, `menu item "Save As..."`, `menu item "Speichern unter..."`,
	`push button "Save"`, `push button "Speichern"`, `menu "Search"`, `menu "Suchen"`,
	`menu item "Find and Replace..."`, `menu item "Suchen und Ersetzen..."`, `push button "Replace"`, `push button "Ersetzen"`,
	`push button "Close"`, `push button "Schließen"`, `push button "OK"`,
}

// TestVariations replays the demo on desktops that are other than the recorded
// one. With MACRO_VARIATIONS=all it does so on all of them and prints the table.
func TestVariations(t *testing.T) {
	all := os.Getenv("MACRO_VARIATIONS") == "all"
	table := []string{"| variation | result | found by | clicks | wrong | seconds |", "|---|---|---|---|---|---|"}
	for _, v := range variations {
		if !all && !v.short {
			continue
		}
		t.Run(v.name, func(t *testing.T) { table = append(table, v.run(t)) })
	}
	t.Log("\n" + strings.Join(table, "\n"))
}

func (v variation) run(t *testing.T) string {
	ctx := limited(t)
	if v.german {
		v.env = append(v.env, german(t)...)
	}
	d := openDesk(ctx, t, v.setting)
	if !v.box.Empty() {
		d.move(t, v.box)
	}
	g := d.guarded(ctx, t, v)
	how := map[string]int{}
	session := runtest.Open(t, run.Settings{}, &run.Options{
		Computer: &run.Computer{Display: d.Display(), Screen: d.screen}, Guard: g,
		Journal: func() (run.Journal, error) { return newJournal(t), nil },
		Watch: func(e run.Event) {
			if l, ok := e.Data.(run.Located); ok {
				how[l.How]++
			}
		},
	})
	g.Desktop = session.Desktop
	p := macro.New(session)
	if p.Desktop = g; v.want == stopped { // else it has the usual patience
		p.Settings.Macro.Patience = 3 * time.Second
	}
	if v.heal {
		p.Heal = closeDialog
	}
	m := load(t, demoDir)
	begin := time.Now()
	result, err := p.Play(ctx, m)
	took := time.Since(begin)
	got := passed
	diverged, isDiverged := errors.AsType[*macro.DivergedError](err)
	switch {
	case isDiverged:
		got = stopped
		savePicture(t, diverged.Picture())
		t.Log(err)
	case err != nil:
		require.NoError(t, err)
	case result.Healed > 0:
		got = healed
	}
	assert.Equal(t, v.want, got)
	if got != stopped {
		assertText(t, d, "milk\ncheese\napples", "shopping.txt")
	}
	assert.Empty(t, g.wrong, "nothing is clicked that was not recorded")
	for _, e := range d.trap.Events() {
		if e.Kind == eventwin.ButtonPress || e.Kind == eventwin.KeyPress {
			g.wrong = append(g.wrong, "the window below: "+string(e.Kind))
			assert.Fail(t, "input went into the window below", "%s at %v", e.Kind, e.At)
		}
	}
	var found []string
	for _, h := range []string{"tree", "place", "patch", "scaled_patch", "model"} {
		if how[h] > 0 {
			found = append(found, fmt.Sprintf("%s %d", h, how[h]))
		}
	}
	if got == stopped {
		got += fmt.Sprintf(" after %d of %d steps", result.Steps, len(m.Steps))
	}
	return fmt.Sprintf("| %s | %s | %s | %d | %d | %.1f |", v.name, got, strings.Join(found, ", "), g.clicks, len(g.wrong), took.Seconds())
}

// A guarded desktop looks up by itself what each click will hit: it is the guard
// that is asked before each. It shows a dialog after one of them.
type guarded struct {
	run.Desktop
	t      *testing.T
	v      variation
	desk   *desk
	eye    *screen.Screen
	did    int
	clicks int
	wrong  []string

	disturbed bool
}

func (d *desk) guarded(ctx context.Context, t *testing.T, v variation) *guarded {
	tree, err := atspi.Open(ctx, runtest.Tree(d))
	require.NoError(t, err)
	t.Cleanup(func() { tree.Close() })
	eye, err := screen.Open(ctx, &screen.Options{Display: d.Display(), Tree: tree, Settle: runtest.Settle})
	require.NoError(t, err)
	t.Cleanup(func() { eye.Close() })
	return &guarded{t: t, v: v, desk: d, eye: eye}
}

// Name is of [run.Guard].
func (g *guarded) Name() string { return "the test" }

// Allow notes what a click will hit, and allows it.
func (g *guarded) Allow(ctx context.Context, in run.Intent) (run.Guarded, error) {
	for _, p := range actuator.Points(in.Action) {
		o, err := g.eye.Observe(ctx)
		if err != nil {
			return run.Guarded{}, err
		}
		device := in.On.Image.Mapping.ToDevice(image.Pt(p.X, p.Y))
		hit := "nothing"
		if i := o.PlaceAtDevice(device).Node; i >= 0 {
			hit = o.Tree.Nodes[i].Role + ` "` + o.Tree.Nodes[i].Name + `"`
		}
		g.clicks++
		if !slices.Contains(intended, strings.ReplaceAll(hit, "\u202f…", "...")) {
			g.wrong = append(g.wrong, fmt.Sprintf("%v: %s", device, hit))
		}
	}
	g.did++
	return run.Guarded{}, nil
}

// Observe is the first thing after an action, or else Capture.
func (g *guarded) Observe(ctx context.Context) (*screen.Observation, error) {
	g.disturb(ctx)
	return g.Desktop.Observe(ctx)
}

// Capture is between two actions.
func (g *guarded) Capture(ctx context.Context) (run.Capture, error) {
	g.disturb(ctx)
	return g.Desktop.Capture(ctx)
}

// disturb opens the dialog, once, above what the action before has opened: on a busy
// machine that would else come later, and cover it.
func (g *guarded) disturb(ctx context.Context) {
	if g.v.dialog == 0 || g.did != g.v.dialog || g.disturbed {
		return
	}
	g.disturbed = true
	_, err := g.eye.Settle(ctx)
	require.NoError(g.t, err)
	_, err = g.desk.Open(ctx, "zenity", "--info", "--title=Update", "--text=An update is there.")
	require.NoError(g.t, err)
}

// closeDialog stands for a model that dismisses what is in the way.
func closeDialog(_ context.Context, q macro.HealRequest) ([]actuator.Action, error) {
	for _, n := range q.Live.Tree.Nodes {
		if n.Role == "push button" && n.Name == "OK" {
			at := q.Live.Image.Mapping.ToImage(n.Box.Min.Add(n.Box.Max).Div(2))
			return []actuator.Action{actuator.Click{At: &actuator.Point{X: at.X, Y: at.Y}, Button: actuator.Left, Count: 1}}, nil
		}
	}
	return nil, errors.New("there is no such button")
}

// move gives the editor's window another place and size.
func (d *desk) move(t *testing.T, box image.Rectangle) {
	c, err := xgb.NewConnDisplay(d.Display())
	require.NoError(t, err)
	defer c.Close()
	list, err := d.screen.Windows(t.Context())
	require.NoError(t, err)
	for _, w := range list {
		if w.Class == "Mousepad" {
			require.NoError(t, xproto.ConfigureWindowChecked(c, xproto.Window(w.ID),
				xproto.ConfigWindowX|xproto.ConfigWindowY|xproto.ConfigWindowWidth|xproto.ConfigWindowHeight,
				[]uint32{uint32(box.Min.X), uint32(box.Min.Y), uint32(box.Dx()), uint32(box.Dy())}).Check())
		}
	}
}

// german makes a locale in which the programs speak German.
func german(t *testing.T) []string {
	if _, err := os.Stat("/usr/share/locale/de/LC_MESSAGES/mousepad.mo"); err != nil {
		t.Skip("the German texts of the editor are not installed")
	}
	def, err := exec.LookPath("localedef")
	if err != nil {
		t.Skip("localedef is not installed (Debian: apt-get install locales)")
	}
	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), def, "-i", "de_DE", "-f", "UTF-8", filepath.Join(dir, "de_DE.UTF-8")).CombinedOutput()
	if _, missing := os.Stat(filepath.Join(dir, "de_DE.UTF-8", "LC_CTYPE")); missing != nil {
		t.Skipf("localedef cannot make de_DE.UTF-8 (Debian: apt-get install locales): %v %s", err, out)
	}
	return []string{"LOCPATH=" + dir, "LC_ALL=de_DE.UTF-8", "LANG=de_DE.UTF-8", "LANGUAGE=de"}
}
