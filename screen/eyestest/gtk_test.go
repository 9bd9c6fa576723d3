//go:build linux

package eyestest

import (
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A hit is an object that a pointer event reaches, or one that holds it.
type hit struct {
	role, name string
	path       string // on the accessibility bus; "" if it has none
	inert      bool   // it takes no input now
}

func (h hit) String() string { return fmt.Sprintf("%s %q", h.role, h.name) }

// A chain is what is at a point: the innermost object, then what holds it.
type chain []hit

func (c chain) String() string {
	if len(c) == 0 {
		return "nothing"
	}
	var s []string
	for _, h := range c[:min(len(c), 4)] {
		s = append(s, h.String())
	}
	return strings.Join(s, " in ")
}

// A gtkOracle is asked by programs of GTK 3 what is below the pointer: see
// testdata/gtkeye.c.
type gtkOracle struct {
	module, log, ask string
	offset           int64
}

// newGTKOracle compiles the module.
func newGTKOracle(t *testing.T) *gtkOracle {
	t.Helper()
	need(t, "gcc", "gcc libc6-dev")
	dir := t.TempDir()
	g := &gtkOracle{module: filepath.Join(dir, "libgtkeye.so"), log: filepath.Join(dir, "log"), ask: filepath.Join(dir, "ask")}
	out, err := exec.CommandContext(t.Context(), "gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", g.module, "testdata/gtkeye.c").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.WriteFile(g.log, nil, 0o600))
	require.NoError(t, os.WriteFile(g.ask, nil, 0o600))
	return g
}

func (g *gtkOracle) env() []string {
	return []string{"GTK_MODULES=gail:atk-bridge:" + g.module, "GTK_EYE_LOG=" + g.log, "GTK_EYE_ASK=" + g.ask}
}

// at asks what is at the pointer, which was moved to a point, until a program has told;
// nothing if none has within a limit.
func (g *gtkOracle) at(p image.Point, limit time.Duration) chain {
	want := fmt.Sprintf(" %d %d", p.X, p.Y)
	for end := time.Now().Add(limit); ; time.Sleep(5 * time.Millisecond) {
		if os.WriteFile(g.ask, []byte{0}, 0o600) != nil {
			return nil
		}
		text, err := os.ReadFile(g.log)
		if err != nil {
			return nil
		}
		var found chain
		for line := range strings.Lines(string(text[g.offset:])) {
			fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if !strings.HasSuffix(line, "\n") || !strings.HasSuffix(fields[0], want) || len(fields) < 6 {
				continue
			}
			found = nil
			for i := 1; i+4 < len(fields); i += 5 {
				h := hit{role: fields[i], name: strings.TrimSpace(fields[i+1]), inert: fields[i+4] == "i"}
				if fields[i+2] != "0" {
					h.path = "/org/a11y/atspi/accessible/" + fields[i+2]
				}
				found = append(found, h)
			}
		}
		if found != nil || time.Now().After(end) {
			return found
		}
	}
}

// forget leaves out what was told until now.
func (g *gtkOracle) forget() {
	if info, err := os.Stat(g.log); err == nil {
		g.offset = info.Size()
	}
}

// speaks reports whether a process has the module.
func (g *gtkOracle) speaks(pid int) bool {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	return err == nil && strings.Contains(string(maps), g.module)
}

// TestMadeAnew holds that a row is told of while the sidebar of the file chooser makes its rows
// anew, as it does whenever its bookmarks change: before they are laid out they are where they
// are never drawn.
func TestMadeAnew(t *testing.T) {
	need(t, "mousepad", "mousepad")
	settings := t.TempDir()
	d := newDesk(t, "XDG_CONFIG_HOME="+settings)
	d.open(wide, "mousepad")
	d.wait("menu", "File")
	d.key(keyControl, 'o')
	d.wait("push button", "Cancel")
	o := d.answered()
	rows := slices.DeleteFunc(items(o, o.Text(0)), func(i item) bool { return i.role != "list item" })
	slices.SortFunc(rows, func(a, b item) int { return a.at.Y - b.at.Y })
	require.NotEmpty(t, rows, "%s", o.Text(0))
	rows = rows[:len(rows)-1] // what is below the bookmarks moves

	folder := filepath.Join(settings, "gtk-3.0")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	made := map[string]bool{}
	var changed time.Time
	for end := time.Now().Add(patience); len(made) < 10; {
		require.True(t, time.Now().Before(end), "its rows were made anew %d times", len(made))
		if time.Since(changed) > time.Second { // GLib tells of a file's changes once in 800 ms
			changed = time.Now()
			require.NoError(t, os.WriteFile(filepath.Join(folder, "bookmarks"), fmt.Appendf(nil, "file:///tmp %d\n", len(made)), 0o600))
		}
		for _, row := range rows {
			c, known := d.whatever(row, row.at)
			require.True(t, known)
			require.Empty(t, reaches(c, row), "%s: the pointer reaches %v", row.line, c)
			if at := slices.IndexFunc(c, func(h hit) bool { return h.role == row.role }); row.at == rows[0].at && !is(c[at], row) {
				made[c[at].path] = true
			}
		}
	}
}
