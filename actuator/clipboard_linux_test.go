package actuator_test

import (
	"image"
	"os/exec"
	"strings"
	"testing"

	"github.com/jezek/xgb/xproto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/eventwin"
	"desktop-agent/sandbox"
)

// xclip runs the program of that name, another party at the clipboard.
func xclip(t testing.TB, d *sandbox.Desktop, input string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(limit(t), "xclip", append([]string{"-selection", "clipboard"}, args...)...)
	cmd.Env = d.Env()
	cmd.Stdin = strings.NewReader(input)
	if args[0] == "-i" { // it stays behind, and would hold on to its output
		require.NoError(t, cmd.Run())
		return ""
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

func TestSetClipboard(t *testing.T) {
	d, dev := desktop(t, nil)
	for name, text := range map[string]string{
		"ASCII":        "plain",
		"every script": mixed(500, 1),
		"empty":        "",
		"long":         strings.Repeat("0123456789 абв 漢字 😀\n", 300), // of the 10,000 characters an action can have
	} {
		require.NoError(t, do(t, dev, actuator.SetClipboard{Text: actuator.Secret(text)}, nil), name)
		for _, target := range []string{"UTF8_STRING", "text/plain;charset=utf-8", "TEXT"} {
			assert.Equal(t, text, xclip(t, d, "", "-o", "-t", target), "%s as %s", name, target)
		}
	}
	require.NoError(t, do(t, dev, actuator.SetClipboard{Text: "漢字"}, nil))
	targets := xclip(t, d, "", "-o", "-t", "TARGETS")
	for _, target := range []string{"TARGETS", "UTF8_STRING", "text/plain;charset=utf-8"} {
		assert.Contains(t, targets, target)
	}
	assert.NotRegexp(t, `(?m)^STRING$`, targets, "the text is not Latin-1")
	require.NoError(t, do(t, dev, actuator.SetClipboard{Text: "naïve"}, nil))
	assert.Equal(t, "na\xefve", xclip(t, d, "", "-o", "-t", "STRING"))
}

// TestPasteAndCopy goes through an editor, in both directions.
func TestPasteAndCopy(t *testing.T) {
	e := edit(t)
	long := actuator.Secret(strings.Repeat("строка 漢字 😀 <>&\\\"'\n", 400))
	e.do(t, click(e.text), actuator.Paste{Text: &long})
	assert.Equal(t, string(long), e.saved(t))

	e.do(t, press("ctrl", "a"))
	output, err := e.device.Do(limit(t), actuator.Copy{}, nil)
	require.NoError(t, err)
	assert.Equal(t, string(long), output)

	e.do(t, press("end"), actuator.Paste{}) // what the editor copied itself
	assert.Equal(t, string(long+long), e.saved(t))

	for _, text := range []actuator.Secret{"one", "two"} { // the same owner again
		e.do(t, press("ctrl", "a"), actuator.Type{Text: text}, press("ctrl", "a"))
		output, err := e.device.Do(limit(t), actuator.Copy{}, nil)
		require.NoError(t, err)
		assert.Equal(t, string(text), output)
	}
}

// TestCopyInPieces reads text that its owner hands out piece by piece.
func TestCopyInPieces(t *testing.T) {
	d, dev := desktop(t, nil)
	w := window(t, d, image.Rect(100, 100, 400, 400))
	text := strings.Repeat("0123456789абвгд漢字😀\n", 20_000) // 700 KB
	copied := make(chan struct{})
	go func() { // a program that copies on ctrl+c
		defer close(copied)
		w.WaitFor(t.Context(), func(e []eventwin.Event) bool { return strings.Contains(eventwin.Text(e), "c") })
		xclip(t, d, text, "-i")
	}()
	output, err := dev.Do(limit(t), actuator.Copy{}, nil)
	<-copied
	require.NoError(t, err)
	assert.True(t, text == output, "%d bytes instead of %d", len(output), len(text))
}

func TestCopyOfTooMuch(t *testing.T) {
	d, dev := desktop(t, nil)
	w := window(t, d, image.Rect(100, 100, 400, 400))
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		w.WaitFor(t.Context(), func(e []eventwin.Event) bool { return strings.Contains(eventwin.Text(e), "c") })
		xclip(t, d, strings.Repeat("0123456789abcde\n", 5<<20/16), "-i")
	}()
	_, err := dev.Do(limit(t), actuator.Copy{}, nil)
	<-copied
	require.ErrorContains(t, err, "select less")
}

// TestNobodyCopies has a program that does nothing on ctrl+c, nor on ctrl+v.
func TestNobodyCopies(t *testing.T) {
	d, dev := desktop(t, nil)
	w := window(t, d, image.Rect(100, 100, 400, 400))
	_, err := dev.Do(limit(t), actuator.Copy{}, nil)
	require.ErrorContains(t, err, "select something first")
	require.NotErrorIs(t, err, actuator.ErrRefused)
	text := actuator.Secret("x")
	_, err = dev.Do(limit(t), actuator.Paste{Text: &text}, nil)
	require.ErrorContains(t, err, "no program took the text")
	assert.Equal(t, "cv", eventwin.Text(w.Events()))
	assert.Zero(t, state(t, someone(t, d))&xproto.ModMaskControl)
}
