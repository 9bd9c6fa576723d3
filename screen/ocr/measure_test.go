//go:build linux

package ocr_test

import (
	"image"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"desktop-agent/screen"
)

// BenchmarkLines measures what it costs to read a window for the first time: of a
// terminal of 80×24, and of a page of text of 1280×800 pixels.
func BenchmarkLines(b *testing.B) {
	for name, tt := range map[string]struct {
		size image.Point
		args []string
		file string
	}{
		"terminal": {image.Pt(800, 600), []string{"xterm", "-e", "cat terminal.txt; sleep 1000"}, "terminal.txt"},
		"page":     {image.Pt(1280, 800), []string{"xterm", "-geometry", "156x46+0+0", "-e", "cat letter.txt letter.txt; sleep 1000"}, "letter.txt"},
	} {
		b.Run(name, func(b *testing.B) {
			d := newDesk(b, tt.size)
			text, err := os.ReadFile("testdata/" + tt.file)
			require.NoError(b, err)
			d.write(tt.file, string(text))
			d.open(tt.args[0], tt.args[1:]...)
			o := d.until("the window shows it", func(o *screen.Observation) bool { return len(read(o)) > 10 })
			w, _ := o.Focused()
			b.ResetTimer()
			before := children(b)
			var lines []screen.OCRLine
			for range b.N {
				r := open(b, unhurried)
				if lines, err = r.Lines(limit(b), o.Bare, []image.Rectangle{w.Box}); err != nil {
					b.Fatal(err)
				}
				require.NoError(b, r.Close())
			}
			b.StopTimer()
			count := 0
			for _, l := range lines {
				count += len(squeeze(l.Text))
			}
			b.ReportMetric(float64((children(b)-before).Milliseconds())/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(count), "characters")
		})
	}
}

// children is the processor time of all processes that have been waited for.
func children(b *testing.B) time.Duration {
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
