package replay

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
)

func TestACutLineIsLeftOut(t *testing.T) {
	for _, cut := range []string{`{"seq":3,"time":"2026-`, `{`, strings.Repeat("x", 200<<10)} {
		j := newJournal(t)
		put(t, j, started("x"), acting(1, actuator.Copy{}))
		appendFile(t, filepath.Join(j.Dir(), eventsFile), cut)
		r, err := Open(j.Dir())
		require.NoError(t, err)
		assert.EqualValues(t, len(cut), r.Cut)
		assert.Len(t, events(t, r), 2)
	}
	j := newJournal(t)
	appendFile(t, filepath.Join(j.Dir(), eventsFile), `{"seq":1`)
	r, err := Open(j.Dir())
	require.NoError(t, err)
	assert.EqualValues(t, 8, r.Cut)
	assert.Empty(t, events(t, r))
}

func appendFile(t *testing.T, name, text string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func TestBadEvents(t *testing.T) {
	for _, tt := range []struct{ name, line, wantErr string }{
		{"unknown kind", `{"seq":2,"kind":"danced","data":{}}`, `line 2: unknown kind of event "danced": it is one of acted, acting,`},
		{"unknown key", `{"seq":2,"kind":"acted","data":{"mood":1}}`, `acted: json: unknown field "mood"`},
		{"unknown key of the event", `{"seq":2,"mood":1,"kind":"acted","data":{}}`, `unknown field "mood"`},
		{"a hole", `{"seq":3,"kind":"acted","data":{}}`, "its number is 3: an event is missing"},
		{"no JSON", `{"seq":2,`, "line 2"},
		{"two values", `{"seq":2,"kind":"acted","data":{}} {}`, "after top-level value"},
		{"unknown action", `{"seq":2,"kind":"acting","data":{"action":{"action":"fly"}}}`, "acting: "},
		{"newer", `{"seq":2,"kind":"run_started","data":{"schema":99}}`, "update desktop-agent"},
		{"older", `{"seq":2,"kind":"run_started","data":{"schema":1}}`, "journal schema 1, older"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := newJournal(t)
			put(t, j, started("x"))
			appendFile(t, filepath.Join(j.Dir(), eventsFile), tt.line+"\n")
			r, err := Open(j.Dir())
			require.NoError(t, err)
			var n int
			var last error
			for _, err := range r.Events() {
				n++
				last = err
			}
			assert.Equal(t, 2, n, "the good event, then the error")
			assert.ErrorContains(t, last, tt.wantErr)
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Open(t.TempDir())
	assert.ErrorContains(t, err, "it is not the folder of a run")

	for _, tt := range []struct{ name, info, wantErr string }{
		{"newer", `{"schema": 99, "something": "new"}`, "another version (journal schema 99, newer than schema 2, which this program reads): update desktop-agent"},
		{"older", `{"schema": 1, "something": "old"}`, "another version (journal schema 1, older than schema 2, which this program reads): record the run again"},
		{"no version", `{"id": "x"}`, "journal schema 0: it must be 2"},
		{"below zero", `{"schema": -1}`, "journal schema -1: it must be 2"},
		{"unknown key", `{"schema": 2, "mood": 1}`, `unknown field "mood"`},
		{"no JSON", `{`, "run.json: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := newJournal(t)
			require.NoError(t, os.WriteFile(filepath.Join(j.Dir(), infoFile), []byte(tt.info), 0o600))
			_, err := Open(j.Dir())
			assert.ErrorContains(t, err, tt.wantErr)
			assert.Equal(t, tt.name == "newer" || tt.name == "older", errors.Is(err, ErrSchema))
		})
	}
}

func TestLinksOutOfTheFolderAreNotFollowed(t *testing.T) {
	j := newJournal(t)
	require.NoError(t, j.Frame(t.Context(), observation("f1", image.Pt(4, 4), image.Pt(4, 4), color.White)))
	put(t, j, started("x"), acting(1, actuator.Copy{}))
	outside := filepath.Join(t.TempDir(), "secret.png")
	require.NoError(t, os.Rename(filepath.Join(j.Dir(), "frames", "f1.png"), outside))
	require.NoError(t, os.Symlink(outside, filepath.Join(j.Dir(), "frames", "f1.png")))
	r, err := Open(j.Dir())
	require.NoError(t, err)
	_, err = r.Frame("f1")
	assert.ErrorContains(t, err, "escapes")

	require.NoError(t, os.Mkdir(filepath.Join(j.Dir(), "frames", "f2.png"), 0o700))
	_, err = r.Frame("f2")
	assert.ErrorContains(t, err, "no regular file")
	_, err = r.Frame("f3")
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

// What a journal says must not make its reader panic, nor names of frames lead
// elsewhere.
func TestHostileEvents(t *testing.T) {
	for _, tt := range []struct{ name, from, to, want string }{
		{"shared below zero", `"shared":1,`, `"shared":-5,`, "the call shares -5 messages"},
		{"shared beyond the end", `"shared":1,`, `"shared":100,`, "the call shares 100 messages with the one before, which had"},
		{"a frame outside", `"frame_id":"f0003"`, `"frame_id":"../../etc/passwd"`, `frame ID "../../etc/passwd": it must be`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS("../cmd/desktop-agent/demo/run")))
			name := filepath.Join(dir, eventsFile)
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			require.Contains(t, string(data), tt.from)
			require.NoError(t, os.WriteFile(name, bytes.ReplaceAll(data, []byte(tt.from), []byte(tt.to)), 0o600))
			r, err := Open(dir)
			require.NoError(t, err)
			for _, e := range r.Steps() {
				err = errors.Join(err, e)
			}
			require.ErrorContains(t, err, tt.want)
		})
	}
}
