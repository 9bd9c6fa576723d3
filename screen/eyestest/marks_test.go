//go:build linux

package eyestest

import (
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A mark is a control that a person saw in the picture of a state.
type mark struct {
	kind string          // in the person's words
	text string          // what can be read on it; "" if nothing
	box  image.Rectangle // device pixels, about
}

func (m mark) String() string { return fmt.Sprintf("%s %q %v", m.kind, m.text, m.box) }

// marksOf reads testdata/marks/STATE.txt, where / in the name of the state is -. The
// first line is the Debian package and the version in which a person marked the
// controls, each other line a mark:
//
//	mousepad 0.5.10-2
//	menu "File" 12 52 48 74
//	disabled button "Back" 20 80 40 100
//
// What is disabled, a heading and a label, which may be told with its field, need no place:
// nobody can act there.
func marksOf(t *testing.T, name string) (pkg, version string, list []mark) {
	t.Helper()
	data, err := os.ReadFile(marksFile(name))
	if os.IsNotExist(err) {
		return "", "", nil
	}
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if pkg == "" {
			pkg, version, _ = strings.Cut(line, " ")
			continue
		}
		if line == "" {
			continue
		}
		quote := strings.IndexByte(line, '"')
		require.Positive(t, quote, "%s", line)
		m := mark{kind: strings.TrimSpace(line[:quote])}
		_, err := fmt.Sscanf(line[quote:], "%q %d %d %d %d", &m.text, &m.box.Min.X, &m.box.Min.Y, &m.box.Max.X, &m.box.Max.Y)
		require.NoError(t, err, "%s", line)
		list = append(list, m)
	}
	return pkg, version, list
}

func marksFile(state string) string {
	return filepath.Join("testdata", "marks", strings.NewReplacer("/", "-", " ", "-").Replace(state)+".txt")
}

// marks counts which of the controls that a person marked are listed. With another
// version of the program they may be elsewhere: then the share is told and no more.
func (d *desk) marks(s state, list []item, text string, r *result) {
	pkg, version, all := marksOf(d.t, s.name)
	out, _ := exec.CommandContext(d.t.Context(), "dpkg-query", "-W", "-f=${Version}", pkg).Output()
	moved := string(out) != version
	for _, m := range all {
		r.Marked++
		if (strings.HasPrefix(m.kind, "disabled ") || m.kind == "heading" || m.kind == "label") && strings.Contains(plain(text), plain(m.text)) || lists(list, m, moved) {
			r.Listed++
		} else if !moved {
			r.problems = append(r.problems, fmt.Sprintf("unlisted: %v", m))
		}
	}
	if moved && len(all) > 0 {
		d.t.Logf("%s: %d of %d controls are listed, which were marked in %s %s: this is %q", s.name, r.Listed, r.Marked, pkg, version, out)
		r.Marked, r.Listed, r.moved = 0, 0, true
	}
}

// lists reports whether an element with the text of a mark, if it has one, has its
// place in the mark's box; anywhere if things may have moved.
func lists(list []item, m mark, moved bool) bool {
	for _, it := range list {
		if !moved && !it.at.In(m.box.Inset(-4)) {
			continue
		}
		if m.text == "" && !moved || m.text != "" && strings.Contains(plain(it.said()), plain(m.text)) {
			return true
		}
	}
	return false
}

// plain leaves out what programs put into names and do not show so.
func plain(s string) string {
	return strings.ToLower(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \n\t\u00a0_.…:", r) }), ""))
}
