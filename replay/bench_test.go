package replay

import (
	"context"
	"fmt"
	"image"
	"image/draw"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// benchEvent writes the same event over and over.
func benchEvent(b *testing.B, e run.Event) {
	j := newJournal(b)
	put(b, j, started("x"))
	e.Time = time.Now()
	b.ResetTimer()
	for seq := 2; b.Loop(); seq++ {
		e.Seq = seq
		require.NoError(b, j.Event(context.Background(), e))
	}
	b.StopTimer()
	b.ReportMetric(float64(j.size)/float64(j.written), "bytes/event")
}

// A call with a prompt of 20 kB, as a step has one or two.
func BenchmarkEventModelCalled(b *testing.B) {
	benchEvent(b, called(1, llm.Actor, "propose", strings.Repeat("a prompt with some words ", 800), "a reply"))
}

// An action, which is on the disk when the benchmark goes on.
func BenchmarkEventActing(b *testing.B) {
	benchEvent(b, acting(1, click(500, 400)))
}

// A frame of 1920×1080 that was sent smaller, until it is on the disk.
func BenchmarkFrame(b *testing.B) {
	j := newJournal(b)
	o := observation("", image.Pt(1920, 1080), image.Pt(1456, 819), grey)
	o.Frame = noisy(image.Pt(1920, 1080))
	for n := 0; b.Loop(); n++ {
		o.FrameID = fmt.Sprintf("f%d", n)
		require.NoError(b, j.Frame(context.Background(), o))
		_, err := j.frames.wait()
		require.NoError(b, err)
		b.StopTimer()
		require.NoError(b, os.Remove(filepath.Join(j.Dir(), framePath(o.FrameID))))
		require.NoError(b, os.Remove(filepath.Join(j.Dir(), sentPath(o.FrameID, ".png"))))
		b.StartTimer()
	}
}

// A turn of the loop: a frame with 80 elements, two calls of models, a proposal,
// its review, an act and its result. An act waits until all before it is on the
// disk, the frame too.
func BenchmarkStep(b *testing.B) {
	for _, tt := range []struct {
		name       string
		size, sent image.Point
	}{
		{"1280x800", image.Pt(1280, 800), image.Pt(1280, 800)},
		{"1920x1080", image.Pt(1920, 1080), image.Pt(1456, 819)},
	} {
		b.Run(tt.name, func(b *testing.B) { benchStep(b, tt.size, tt.sent) })
	}
}

func benchStep(b *testing.B, size, sent image.Point) {
	j := newJournal(b)
	put(b, j, started("x"))
	frame := noisy(size)
	picture := noisy(sent)
	data, err := encodePNG(picture)
	require.NoError(b, err)
	look := run.Observed{Frame: size, Mapping: screen.Mapping{Source: frame.Rect, Size: sent}, Screen: "1",
		Windows: []screen.Window{{ID: 1, Title: "notes - Editor", Class: "Editor", Type: "normal", Box: frame.Rect, Focused: true}}}
	for i := range 80 {
		look.Targets = append(look.Targets, atspi.Node{ID: fmt.Sprintf("n%d", i), App: "editor", PID: 4711, Parent: i/8 - 1, Depth: 2, Role: "push button",
			Name: fmt.Sprintf("Button %d", i), States: []string{"enabled", "visible"}, Box: image.Rect(10*i, 20, 10*i+80, 44)})
	}
	prompt := strings.Repeat("n12 push button \"Save\" @339,179\n", 200) // the tree, as the actor and the world model read it
	var stored int64
	b.ResetTimer()
	for n := 1; b.Loop(); n++ {
		look.FrameID = fmt.Sprintf("f%d", n)
		o := &screen.Observation{FrameID: look.FrameID, Frame: frame, Image: screen.Image{Data: data, Type: "image/png", Mapping: look.Mapping}}
		require.NoError(b, j.Frame(b.Context(), o))
		put(b, j, run.Event{Step: n, Kind: "observed", Data: look},
			called(n, llm.WorldModel, "assess", prompt, "it goes on"), called(n, llm.Actor, "propose", prompt, "click the button"),
			proposes(n, look.FrameID, click(20, 20)), run.Event{Step: n, Kind: "reviewed", Data: run.Reviewed{Verdict: run.Go}},
			acting(n, click(20, 20)), run.Event{Step: n, Kind: "acted", Data: run.Acted{Status: actuator.Delivered, Millis: 40}})
		b.StopTimer()
		stored += dropFrame(b, j, look.FrameID)
		b.StartTimer()
	}
	b.StopTimer()
	steps := float64(j.written-1) / 7
	b.ReportMetric(float64(j.size)/steps, "journal-bytes/step")
	b.ReportMetric(float64(stored)/steps, "frame-bytes/step")
}

// dropFrame removes the files of a frame, so that a long benchmark does not fill
// the disk, and returns their bytes.
func dropFrame(b *testing.B, j *Journal, id string) (size int64) {
	for _, name := range []string{framePath(id), sentPath(id, ".png")} {
		path := filepath.Join(j.Dir(), name)
		if info, err := os.Stat(path); err == nil {
			size += info.Size()
			require.NoError(b, os.Remove(path))
		}
	}
	return size
}

// noisy returns a picture with some text on it.
func noisy(size image.Point) *image.RGBA {
	img := image.NewRGBA(image.Rectangle{Max: size})
	draw.Draw(img, img.Rect, image.NewUniform(grey), image.Point{}, draw.Src)
	for line := range size.Y / 18 {
		write(img, 14, 18*line, strings.Repeat("Milk, bread and apples. ", 1+line%5))
	}
	return img
}
