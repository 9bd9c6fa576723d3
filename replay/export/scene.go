package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"io/fs"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/disintegration/imaging"
	"golang.org/x/image/font"
	"golang.org/x/image/font/inconsolata"
	"golang.org/x/image/math/fixed"

	"desktop-agent/actuator"
	"desktop-agent/replay"
	"desktop-agent/run"
)

// How long a scene of a film stays: as long as it really took, within these.
const (
	briefest = 400 * time.Millisecond
	longest  = 2500 * time.Millisecond
)

// Sizes below a picture, in pixels.
const (
	lineHeight = 18
	letter     = 8 // width of the font
	captions   = 2 // lines
)

var (
	paper  = color.RGBA{0x1c, 0x1f, 0x26, 0xff}
	ink    = color.RGBA{0xf2, 0xf4, 0xf8, 0xff}
	faint  = color.RGBA{0xa8, 0xb0, 0xbf, 0xff}
	accent = color.RGBA{0xe6, 0x1e, 0x4d, 0xff}
)

// A scene is one picture of a film.
type scene struct {
	seen  *run.Observed
	title string            // "Step 3 of 12"
	text  string            // what is done, in words
	acts  []actuator.Action // that are marked
	stay  time.Duration
}

// scenes yields what a film shows: the screen of each step with what is done
// then, and the last screen with how the run ended.
func scenes(ctx context.Context, stored *replay.Run) iter.Seq2[scene, error] {
	return func(yield func(scene, error) bool) {
		var held *scene // until it is known how long it stayed
		var began time.Time
		var last *run.Observed
		end := "the run was cut off here"
		for step, err := range steps(ctx, stored) {
			if err != nil {
				yield(scene{}, err)
				return
			}
			last = cmp.Or(step.After, step.Before)
			if step.Ended != nil {
				end = ending(step.Ended)
			}
			if step.N == 0 || step.Seen() == nil {
				continue
			}
			if held != nil {
				held.stay = clamp(step.Events[0].Time.Sub(began))
				if !yield(*held, nil) {
					return
				}
			}
			began = step.Events[0].Time
			held = &scene{seen: step.Seen(), title: fmt.Sprintf("Step %d", step.N), text: deeds(step), acts: done(step), stay: longest}
		}
		if held != nil && !yield(*held, nil) || last == nil {
			return
		}
		yield(scene{seen: last, title: "End", text: end, stay: longest}, nil)
	}
}

func clamp(d time.Duration) time.Duration { return min(max(d, briefest), longest) }

// ending says how a run ended.
func ending(e *run.RunEnded) string {
	text := strings.ReplaceAll(string(e.Outcome), "_", " ")
	if more := cmp.Or(e.Answer, e.Error); more != "" {
		text += ": " + more
	}
	return text
}

// done returns what was done in a step, or what was proposed if nothing was.
func done(s *replay.Step) (list []actuator.Action) {
	for _, a := range s.Acts {
		list = append(list, a.Action.Action)
	}
	if p := s.Proposal(); p != nil && len(list) == 0 {
		for _, a := range p.Actions {
			list = append(list, a.Action)
		}
	}
	return list
}

// deeds says in words what was done in a step.
func deeds(s *replay.Step) string {
	var list []string
	for _, a := range done(s) {
		list = append(list, actuator.DescribeFull(a))
	}
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", then ")
}

// A studio draws scenes, all in the same size.
type studio struct {
	run   *replay.Run
	opts  Options
	size  image.Point // of the pictures with their captions
	frame image.Point // of the screen in them
}

// draw returns the picture of a scene.
func (s *studio) draw(c scene) (*image.RGBA, error) {
	shot, err := s.run.Frame(c.seen.FrameID)
	missing := errors.Is(err, fs.ErrNotExist) && s.run.Info.State != replay.Ended
	if err != nil && !missing {
		return nil, err
	}
	if s.frame == (image.Point{}) {
		size := c.seen.Frame
		if !missing {
			size = shot.Bounds().Size()
		}
		if size.X < 1 || size.Y < 1 {
			return nil, fmt.Errorf("frame %s has no size", c.seen.FrameID)
		}
		width := min(cmp.Or(max(s.opts.Width, 0), film), size.X)
		// Even numbers, as films must have.
		s.frame = image.Pt(max(2, width&^1), max(2, size.Y*width/size.X&^1))
		s.size = s.frame.Add(image.Pt(0, captions*lineHeight+8))
	}
	out := image.NewRGBA(image.Rectangle{Max: s.size})
	draw.Draw(out, out.Rect, image.NewUniform(paper), image.Point{}, draw.Src)
	if missing {
		write(out, 8, s.frame.Y/2, faint, "this frame was not stored")
	} else {
		s.screen(out, shot, c)
	}
	columns := (s.size.X - 16) / letter
	write(out, 8, s.frame.Y+lineHeight-2, accent, c.title)
	lines := wrap(c.text, columns-len(c.title)-2, columns)
	for i, line := range lines[:min(len(lines), captions)] {
		x := 8
		if i == 0 {
			x += letter * (len(c.title) + 2)
		}
		if i == captions-1 && len(lines) > captions {
			line = string([]rune(line)[:max(0, min(len([]rune(line)), columns-3))]) + "..."
		}
		write(out, x, s.frame.Y+(i+1)*lineHeight-2, ink, line)
	}
	return out, nil
}

// screen draws the frame, which keeps its shape, and the marks.
func (s *studio) screen(out *image.RGBA, shot image.Image, c scene) {
	scale := min(float64(s.frame.X)/float64(shot.Bounds().Dx()), float64(s.frame.Y)/float64(shot.Bounds().Dy()))
	if size := shot.Bounds().Size(); size != s.frame {
		shot = imaging.Resize(shot, max(1, int(math.Round(float64(size.X)*scale))), max(1, int(math.Round(float64(size.Y)*scale))), imaging.Lanczos)
	}
	draw.Draw(out, image.Rectangle{Max: s.frame}, shot, shot.Bounds().Min, draw.Src)
	if s.opts.Plain {
		return
	}
	picture := out.SubImage(image.Rectangle{Max: s.frame}).(*image.RGBA)
	mark(picture, c.acts, func(p image.Point) image.Point {
		d := c.seen.Mapping.ToDevice(p)
		return image.Pt(int(float64(d.X)*scale), int(float64(d.Y)*scale))
	})
}

// mark draws where actions aim at.
func mark(out *image.RGBA, acts []actuator.Action, place func(image.Point) image.Point) {
	for _, a := range acts {
		var path []image.Point
		for _, p := range actuator.Points(a) {
			path = append(path, place(image.Pt(p.X, p.Y)))
		}
		if s, ok := a.(actuator.Scroll); ok && len(path) == 1 {
			path = append(path, path[0].Add(image.Pt(cmp.Compare(s.DX, 0), cmp.Compare(s.DY, 0)).Mul(40)))
		}
		for i := 1; i < len(path); i++ {
			line(out, path[i-1], path[i])
		}
		if len(path) == 0 {
			continue
		}
		at := path[0]
		if c, ok := a.(actuator.Click); ok {
			for i := range c.Count {
				ring(out, at, float64(12+6*i))
			}
		} else {
			ring(out, at, 7)
			ring(out, path[len(path)-1], 4)
		}
	}
}

// ring draws a circle with a light rim, which shows on every ground.
func ring(out *image.RGBA, at image.Point, radius float64) {
	reach := int(radius) + 5
	for y := -reach; y <= reach; y++ {
		for x := -reach; x <= reach; x++ {
			d := math.Abs(math.Hypot(float64(x), float64(y)) - radius)
			p := at.Add(image.Pt(x, y))
			if !p.In(out.Rect) {
				continue
			}
			blend(out, p, color.RGBA{255, 255, 255, 255}, 3.5-d)
			blend(out, p, accent, 2-d)
		}
	}
}

// blend puts a colour on a pixel; share is from 0 to 1.
func blend(out *image.RGBA, p image.Point, c color.RGBA, share float64) {
	share = min(max(share, 0), 1)
	old := out.RGBAAt(p.X, p.Y)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-share) + float64(b)*share)) }
	out.SetRGBA(p.X, p.Y, color.RGBA{mix(old.R, c.R), mix(old.G, c.G), mix(old.B, c.B), 255})
}

func line(out *image.RGBA, from, to image.Point) {
	d := to.Sub(from)
	steps := min(max(1, int(math.Hypot(float64(d.X), float64(d.Y)))), 1<<14)
	for i := range steps + 1 {
		x, y := from.X+d.X*i/steps, from.Y+d.Y*i/steps
		for _, o := range []image.Point{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
			if p := image.Pt(x, y).Add(o); p.In(out.Rect) {
				blend(out, p, accent, 1)
			}
		}
	}
}

// write writes a line of text; y is that of its base line.
func write(out *image.RGBA, x, y int, c color.Color, text string) {
	d := font.Drawer{Dst: out, Src: image.NewUniform(c), Face: inconsolata.Regular8x16, Dot: fixed.P(x, y)}
	d.DrawString(printable(text))
}

// plainer are letters that the font has not, in letters that it has.
var plainer = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "‘", "'", "’", "'", "…", "...", "–", "-", "—", "-", "•", "*", "→", "->")

// printable is text in the letters of the font; others are "?".
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		if _, ok := inconsolata.Regular8x16.GlyphAdvance(r); !ok || r == 0x7f || r > 0x17f {
			return '?'
		}
		return r
	}, plainer.Replace(text))
}

// wrap breaks a text into lines: the first of so many characters, the others
// of so many.
func wrap(text string, first, others int) (lines []string) {
	width := max(first, 1)
	now := ""
	for word := range strings.FieldsSeq(plainer.Replace(text)) {
		if now != "" && len([]rune(now))+1+len([]rune(word)) > width {
			lines, now, width = append(lines, now), "", max(others, 1)
		}
		for r := []rune(word); now == "" && len(r) > width; r = []rune(word) {
			lines, word, width = append(lines, string(r[:width])), string(r[width:]), max(others, 1)
		}
		if now != "" {
			now += " "
		}
		now += word
	}
	return append(lines, now)
}
