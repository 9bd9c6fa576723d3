package ocr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/disintegration/imaging"

	"desktop-agent/internal/child"
	"desktop-agent/screen"
)

// How bands are given to tesseract. What the figures are from is in docs/eyes.md.
const (
	enlarge = 2       // text of a screen is small for it: at 2 it errs least, and 3 costs more
	apart   = 24      // enlarged pixels between bands, and around them
	maxArea = 3 << 20 // enlarged pixels for one process; a band that is larger goes alone
	atLeast = 6       // bands for one process, as the start of one costs about as many
	psm     = "6"     // its page segmentation mode: a block of text
)

// maxOutput is how many bytes of tesseract's output are read.
const maxOutput = 4 << 20

// split shares bands out among so many processes, or more where they are large.
func split(list []band, ways int) (parts [][]band) {
	most := max(atLeast, (len(list)+ways-1)/ways)
	var part []band
	area := 0
	for _, b := range list {
		size := enlarge * enlarge * len(b.pixels.Pix)
		if len(part) == most || len(part) > 0 && area+size > maxArea {
			parts, part, area = append(parts, part), nil, 0
		}
		part, area = append(part, b), area+size
	}
	if len(part) > 0 {
		parts = append(parts, part)
	}
	return parts
}

// A montage is bands one below the other, as tesseract gets them.
type montage struct {
	pixels *image.Gray
	scale  int
	top    []int // of each band, in pixels of the montage
}

func newMontage(list []band) montage {
	m := montage{scale: enlarge, top: make([]int, len(list))}
	if len(list) == 1 && enlarge*enlarge*len(list[0].pixels.Pix) > maxArea {
		m.scale = 1
	}
	size := image.Pt(0, apart)
	for i, b := range list {
		m.top[i] = size.Y
		size = image.Pt(max(size.X, m.scale*b.pixels.Rect.Dx()+2*apart), size.Y+m.scale*b.pixels.Rect.Dy()+apart)
	}
	m.pixels = image.NewGray(image.Rectangle{Max: size})
	draw.Draw(m.pixels, m.pixels.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
	for i, b := range list {
		var p image.Image = b.pixels
		if m.scale > 1 {
			p = imaging.Resize(p, m.scale*b.pixels.Rect.Dx(), m.scale*b.pixels.Rect.Dy(), imaging.Linear)
		}
		draw.Draw(m.pixels, p.Bounds().Add(image.Pt(apart, m.top[i])), p, image.Point{}, draw.Src)
	}
	return m
}

// recognise reads bands, and returns the lines of each, from its corner.
func (r *Reader) recognise(ctx context.Context, list []band) ([][]screen.OCRLine, error) {
	m := newMontage(list)
	var in bytes.Buffer
	fmt.Fprintf(&in, "P5 %d %d 255\n", m.pixels.Rect.Dx(), m.pixels.Rect.Dy()) // PGM, https://netpbm.sourceforge.net/doc/pgm.html
	in.Write(m.pixels.Pix)
	out, err := r.run(ctx, &in, "-", "-", "-l", r.o.Languages, "--psm", psm, "--dpi", fmt.Sprint(96*m.scale),
		"-c", "tessedit_create_tsv=1", "-c", "tessedit_do_invert=0")
	if err != nil {
		return nil, err
	}
	words, err := parseTSV(out)
	if err != nil {
		return nil, fmt.Errorf("tesseract: %w", err)
	}
	return m.lines(words), nil
}

// languages asks tesseract which languages it knows.
func (r *Reader) languages(ctx context.Context) ([]string, error) {
	out, err := r.run(ctx, nil, "--list-langs")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if !strings.HasPrefix(lines[0], "List of available languages") {
		return nil, fmt.Errorf("%s: it is no tesseract: it says %.80q", r.path, lines[0])
	}
	return lines[1:], nil
}

// Describe says in words which tesseract it is, and which languages it knows.
func (r *Reader) Describe(ctx context.Context) (string, error) {
	out, err := r.run(ctx, nil, "--version")
	if err != nil {
		return "", err
	}
	languages, err := r.languages(ctx)
	first, _, _ := strings.Cut(string(out), "\n")
	return fmt.Sprintf("%.80s, which knows %s", strings.TrimSpace(first), strings.Join(languages, ", ")), err
}

// run runs tesseract and returns what it prints. It is killed, with all that it has
// started, when ctx ends, when it takes too long or says too much, and when this
// program ends.
func (r *Reader) run(ctx context.Context, in *bytes.Buffer, args ...string) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, r.o.Limit)
	defer cancel()
	cmd := exec.CommandContext(limited, r.path, args...)
	cmd.Env = append(os.Environ(), "OMP_THREAD_LIMIT=1", "LC_ALL=C.UTF-8") // its threads cost more than they bring
	if in != nil {
		cmd.Stdin = in
	}
	out, said := &bounded{most: maxOutput, full: cancel}, &bounded{most: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, said
	cmd.WaitDelay = time.Second
	child.Bind(cmd)
	// Its parent is a thread, which must live as long as it does: see [syscall.SysProcAttr].
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		ended <- cmd.Run()
	}()
	err := <-ended
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("tesseract: %w", context.Cause(ctx))
	case out.over:
		return nil, fmt.Errorf("tesseract: it printed more than %d bytes", maxOutput)
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("tesseract: no answer within %v", r.o.Limit)
	case err != nil:
		return nil, fmt.Errorf("tesseract: %w: %.300s", err, strings.Join(strings.Fields(said.buf.String()), " "))
	}
	return out.buf.Bytes(), nil
}

// A bounded writer keeps the beginning of what is written to it.
type bounded struct {
	buf  bytes.Buffer
	most int
	full func() // called when more comes; nil for nothing
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.most - b.buf.Len(); len(p) > room {
		b.buf.Write(p[:room])
		if b.over = true; b.full != nil {
			b.full()
		}
		return len(p), nil
	}
	return b.buf.Write(p)
}
