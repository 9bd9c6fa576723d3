//go:build linux

package screen_test

import (
	"context"
	"image"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"desktop-agent/sandbox"
	"desktop-agent/screen"

	"github.com/stretchr/testify/require"
)

// BenchmarkCapture takes pictures of 1920×1080 pixels.
func BenchmarkCapture(b *testing.B) {
	for name, without := range map[string]bool{"shared": false, "sent": true} {
		b.Run(name, func(b *testing.B) {
			d := newDesk(b, &sandbox.Options{NoSharedMemory: without})
			d.open("mousepad")
			s := d.screen(screen.Options{})
			for b.Loop() {
				_, err := s.Capture(context.Background())
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkObserve looks at 1920×1080 pixels without waiting and without a
// tree: capture, pointer, windows, scaling and encoding.
func BenchmarkObserve(b *testing.B) {
	for name, limit := range map[string]image.Point{"fit1456": {}, "unscaled": image.Pt(1920, 1080)} {
		b.Run(name, func(b *testing.B) {
			d := newDesk(b, nil)
			d.open("mousepad")
			s := d.screen(screen.Options{MaxImage: limit, Settle: screen.SettleOptions{Off: true}})
			var sum screen.Timing
			size := 0
			for b.Loop() {
				o, err := s.Observe(context.Background())
				require.NoError(b, err)
				sum.Capture += o.Timing.Capture
				sum.Windows += o.Timing.Windows
				sum.Encode += o.Timing.Encode
				size = len(o.Image.Data)
			}
			per := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(b.N) }
			b.ReportMetric(per(sum.Capture), "capture-ms")
			b.ReportMetric(per(sum.Windows), "windows-ms")
			b.ReportMetric(per(sum.Encode), "encode-ms")
			b.ReportMetric(float64(size)/1024, "KB")
		})
	}
}

// BenchmarkWindows lists the windows of a desktop with four of them.
func BenchmarkWindows(b *testing.B) {
	d := newDesk(b, nil)
	for range 4 {
		d.openStaged(stagedCompute)
	}
	s := d.screen(screen.Options{})
	for b.Loop() {
		_, err := s.Windows(context.Background())
		require.NoError(b, err)
	}
}

// BenchmarkDiffBox compares two pictures that differ in a few places.
func BenchmarkDiffBox(b *testing.B) {
	x, y := image.NewRGBA(image.Rect(0, 0, 1920, 1080)), image.NewRGBA(image.Rect(0, 0, 1920, 1080))
	for i := range 10 {
		y.Pix[y.PixOffset(190*i, 100*i)] = 1
	}
	for b.Loop() {
		screen.DiffBox(x, y)
	}
}

// BenchmarkNoStaleFrame clicks on menus, dialogs and windows that draw in
// stages, b.N times in all, and compares each frame with frames taken 2 s later.
// Run it with -benchtime=200x; it takes a quarter of an hour.
func BenchmarkNoStaleFrame(b *testing.B) {
	var all []trial
	for i, sc := range scenes {
		times := (b.N + i) / len(scenes) // adds up to b.N
		if times > 0 {
			all = append(all, play(b, sc, times, 2*time.Second, screen.SettleOptions{})...)
		}
	}
	stale, reasons, signs, byScene := 0, map[screen.SettleReason]int{}, map[string]int{}, map[string][]time.Duration{}
	for _, t := range all {
		if t.stale > 0 {
			stale++
		}
		reasons[t.settled.Reason]++
		for _, sign := range t.settled.Busy {
			signs[sign]++
		}
		byScene[t.scene] = append(byScene[t.scene], t.latency)
		kind := "menus and dialogs"
		if strings.HasPrefix(t.scene, "staged") { // whose stages take 60 to 480 ms
			kind = "staged windows"
		}
		byScene[kind] = append(byScene[kind], t.latency)
	}
	for _, name := range slices.Sorted(maps.Keys(byScene)) {
		b.Logf("%-17s %3d clicks, the frame after %v (median), %v (longest)", name, len(byScene[name]),
			median(byScene[name]).Round(time.Millisecond), slices.Max(byScene[name]).Round(time.Millisecond))
	}
	b.Logf("reasons %v, signs of work %v", reasons, signs)
	b.ReportMetric(float64(stale), "stale")
	for kind, unit := range map[string]string{"menus and dialogs": "ms-menus-dialogs", "staged windows": "ms-staged"} {
		if len(byScene[kind]) > 0 {
			b.ReportMetric(median(byScene[kind]).Seconds()*1000, unit)
		}
	}
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

// BenchmarkStep compares one step outside the model with the usual loop: click
// with xdotool, sleep for 2 s, take a picture with scrot.
func BenchmarkStep(b *testing.B) {
	for _, program := range []string{"xdotool", "scrot"} {
		need(b, program)
	}
	d := newDesk(b, nil)
	box := d.open("mousepad")
	s := d.screen(screen.Options{})
	at := box.Min.Add(image.Pt(300, 300))
	picture := filepath.Join(b.TempDir(), "frame.png")
	var ours, theirs []time.Duration
	for i := range b.N {
		p := at.Add(image.Pt(0, i%2))
		start := time.Now()
		d.click(p)
		_, err := s.Observe(context.Background())
		require.NoError(b, err)
		ours = append(ours, time.Since(start))

		start = time.Now()
		d.run("xdotool", "mousemove", strconv.Itoa(p.X), strconv.Itoa(p.Y), "click", "1")
		time.Sleep(2 * time.Second)
		d.run("scrot", "--overwrite", picture)
		theirs = append(theirs, time.Since(start))
	}
	b.ReportMetric(median(ours).Seconds()*1000, "ms-ours")
	b.ReportMetric(median(theirs).Seconds()*1000, "ms-theirs")
	b.ReportMetric(median(theirs).Seconds()/median(ours).Seconds(), "times-less")
}

// run runs a program on the desk and waits for its end.
func (d *desk) run(name string, args ...string) {
	d.tb.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = d.Env()
	text, err := cmd.CombinedOutput()
	require.NoError(d.tb, err, string(text))
}

// BenchmarkSamePicture compares two pictures that are the same, to the byte or but for
// noise in ten rows.
func BenchmarkSamePicture(b *testing.B) {
	x, y := image.NewRGBA(image.Rect(0, 0, 1920, 1080)), image.NewRGBA(image.Rect(0, 0, 1920, 1080))
	for i := range 10 {
		y.Pix[y.PixOffset(190*i, 100*i)] = 1
	}
	for name, other := range map[string]*image.RGBA{"equal": image.NewRGBA(x.Rect), "noise": y} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				screen.SamePicture(x, other)
			}
		})
	}
}
