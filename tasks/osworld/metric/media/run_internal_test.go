package media

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/metric/media/picture"
)

func shell(t *testing.T, script string) command {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("sh is not installed")
	}
	return command{name: "sh", debian: "dash", args: []string{"-c", script}, cpuTime: time.Minute, output: 1000}
}

func TestRun(t *testing.T) {
	t.Setenv("SECRET", "s3cret")
	for _, tt := range []struct{ script, want, wantErr string }{
		{`printf 'hello'`, "hello", ""},
		{`printf "$SECRET"`, "", ""},
		{`echo 'no such stream' >&2; exit 3`, "", "sh: exit status 3: no such stream"},
		{`while :; do echo yes; done`, "", "over 1000 bytes of output"},
		{`while [ $((n+=1)) -lt 5000 ]; do echo wrong >&2; done; exit 1`, "", "exit status 1: wrong wrong"},
	} {
		out, err := shell(t, tt.script).bytes(t.Context())
		if tt.wantErr != "" {
			assert.ErrorContains(t, err, tt.wantErr, tt.script)
			assert.Less(t, len(err.Error()), 400)
			continue
		}
		require.NoError(t, err, tt.script)
		assert.Equal(t, tt.want, string(out))
	}
}

func TestRunLimits(t *testing.T) {
	for _, tt := range []struct {
		script  string
		cpuTime time.Duration
		slack   int // that a busy machine needs to give so much
		want    string
		file    bool
	}{
		{`while :; do :; done`, time.Second, 100, "took over 1s of processor time", true},
		{`trap '' XCPU; while :; do :; done`, time.Second, 100, "took over 1s of processor time", true},
		{`trap 'exit 255' XCPU; echo much; while :; do :; done`, time.Second, 100, "took over 1s of processor time", true}, // as ffmpeg does
		{`sleep 100`, 50 * time.Millisecond, 0, "no end after 500ms, with less than 50ms of processor time", false},
		{`sleep 2`, time.Second, 0, "", false},
	} {
		t.Run(tt.script, func(t *testing.T) {
			if _, err := exec.LookPath("prlimit"); err != nil {
				t.Skip("prlimit is not installed")
			}
			c := shell(t, tt.script)
			c.cpuTime, c.slack = tt.cpuTime, tt.slack
			_, err := c.bytes(t.Context())
			if tt.want == "" {
				require.NoError(t, err, "it waited")
				return
			}
			require.ErrorContains(t, err, tt.want)
			_, isEnv := errors.AsType[*envError](err)
			assert.Equal(t, tt.file, !isEnv, "whose fault it is")
		})
	}
}

func TestRunEnds(t *testing.T) {

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("stopped by hand"))
	_, err := shell(t, `sleep 100`).bytes(ctx)
	assert.ErrorContains(t, err, "stopped by hand")
	_, isEnv := errors.AsType[*envError](err)
	assert.True(t, isEnv)

	err = shell(t, `echo much; echo wrong >&2; sleep 100`).run(t.Context(), func(r io.Reader) error {
		_, err := io.ReadFull(r, make([]byte, 5))
		return errors.Join(err, errors.New("enough"))
	})
	assert.ErrorContains(t, err, "enough")

	_, err = command{name: "no-such-program", debian: "the-package"}.bytes(t.Context())
	assert.ErrorContains(t, err, "no-such-program is not installed: install the Debian package the-package")
}

// A stand-in for tesseract, which says how it was called.
func TestImageTextCommand(t *testing.T) {
	shell(t, "")
	dir := t.TempDir()
	script := "#!/bin/sh\n[ -f \"$1\" ] && echo \"$2 $3\n  $4\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tesseract"), []byte(script), 0o700)) //nolint:gosec // a program
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	image := tasks.File{Path: "picture/testdata/grey.png"}
	for _, tt := range []struct {
		rules map[string]any
		want  float64
		err   string
	}{
		{map[string]any{"type": "text", "text": "stdout -l eng"}, 1, ""},
		{map[string]any{"type": "text", "text": "ls"}, 0, ""},
		{map[string]any{"type": "regex", "text": "ls"}, 0, "unknown type"},
		{map[string]any{"type": "text"}, 0, "no text"},
	} {
		score, err := Metrics(0)["compare_image_text"](t.Context(), image, tt.rules, nil)
		if tt.err != "" {
			assert.ErrorContains(t, err, tt.err)
			continue
		}
		require.NoError(t, err)
		assert.InDelta(t, tt.want, score.Value, 0)
	}
}

func TestPDFImageNumbers(t *testing.T) {
	const head = "page   num  type   width height color comp bpc  enc interp  object ID x-ppi y-ppi size ratio\n" +
		"--------------------------------------------------------------------------------------------\n"
	row := func(page, num, kind, size, object string) string {
		return strings.Join([]string{page, num, kind, size, size, "rgb 3 8 image no", object, "0 72 72 20K 1%\n"}, " ")
	}
	got, err := pdfImageNumbers(head + row("1", "0", "image", "10", "7") + row("1", "1", "smask", "10", "8") +
		row("1", "2", "image", "10", "7") + row("2", "3", "image", "10", "7") + row("2", "4", "stencil", "9", "9") + row("2", "5", "image", "9", "[inline]"))
	require.NoError(t, err)
	assert.Equal(t, []int{0, 3, 4}, got)
	for _, bad := range []string{
		row("1", "0", "image", "20000", "7"),
		row("1", "0", "image", "99999999999", "7"),
		strings.Repeat(row("1", "0", "smask", "9000", "7"), 2),
	} {
		_, err = pdfImageNumbers(head + bad)
		assert.ErrorIs(t, err, picture.ErrHuge, bad)
	}
	var many strings.Builder
	for i := range maxPDFImages + 1 {
		many.WriteString(row("1", "1", "image", "1", strconv.Itoa(i)))
	}
	_, err = pdfImageNumbers(many.String())
	assert.ErrorContains(t, err, "over 500 images")
}

func TestWAVHeader(t *testing.T) {
	const form = "RIFF\xff\xff\xff\xffWAVE"
	const format = "fmt \x10\x00\x00\x00\x03\x00\x02\x00\x22\x56\x00\x00\x00\x00\x00\x00\x08\x00\x20\x00"
	for _, tt := range []struct{ name, data, want string }{
		{"plain", form + format + "data\xff\xff\xff\xff", ""},
		{"another chunk", form + "LIST\x03\x00\x00\x00abc\x00" + format + "data\xff\xff\xff\xff", ""},
		{"empty", "", "no sound"},
		{"data first", form + "data\x04\x00\x00\x00abcd", "no data"},
		{"no channels", form + strings.Replace(format, "\x02\x00\x22", "\x00\x00\x22", 1) + "data....", "0 channels"},
		{"long chunk", form + "junk\xff\xff\xff\x7f", "chunk \"junk\""},
		{"cut", form + format[:12], "wav:"},
	} {
		n, err := readWAVHeader(strings.NewReader(tt.data))
		if tt.want == "" {
			require.NoError(t, err, tt.name)
			assert.Equal(t, 2, n)
			continue
		}
		assert.ErrorContains(t, err, tt.want, tt.name)
	}
}
