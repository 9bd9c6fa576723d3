package replay

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/agent"
	"desktop-agent/llm"
)

// benchEvent writes the same event over and over.
func benchEvent(b *testing.B, e agent.Event) {
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
	benchEvent(b, acting(1, actuator.Click{At: point(500, 400), Button: actuator.Left, Count: 1}))
}

// A frame of 1920×1080 that was sent smaller, until it is on the disk.
func BenchmarkFrame(b *testing.B) {
	j := newJournal(b)
	o := observation("", image.Pt(1920, 1080), image.Pt(1456, 819), grey)
	o.Frame = drawn(3, image.Pt(1920, 1080))[2]
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

// A run of 35 steps, each with its frame.
func BenchmarkReport(b *testing.B) {
	j := newJournal(b)
	s := &story{t: b, j: j, now: time.Now(), shots: drawn(7, image.Pt(1280, 800))}
	s.begin()
	for range 9 {
		s.writeAndSave()
		s.plan.Steps[0].Status, s.plan.Steps[1].Status = "running", "pending"
		s.step++
	}
	require.NoError(b, j.Close())
	r, err := Open(j.Dir())
	require.NoError(b, err)
	var page bytes.Buffer
	for b.Loop() {
		page.Reset()
		require.NoError(b, WriteReport(&page, r))
	}
	b.ReportMetric(float64(page.Len()), "bytes/report")
}
