package macro

import (
	"cmp"
	"context"
	"image"
	"math"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/image/draw"

	"desktop-agent/run"
)

// nearScore is how alike a picture must be, as [run.PictureSettings] have it, for sizes in
// between to be tried.
const nearScore = .7

// scales are the sizes in which a picture is looked for after its own.
var scales = []float64{1, .75, .83, .91, 1.1, 1.2, 1.25, 1.33, 1.42, 1.5, 1.6, 1.75, 2}

// reduction is by how much pictures are reduced before the first look.
const reduction = 4

// kept is how many places of the first look are looked at closely.
const kept = 48

// maxScaled is the largest picture that is looked for in other sizes, in pixels.
const maxScaled = 200 * 128

// A match is a place at which a picture was found.
type match struct {
	at     image.Point // where its top left corner is
	score  float64
	second float64 // of the best other place
	least  float64 // of the least alike part, where its size is another one
	scale  float64
	of     image.Point // the pixel of the recorded frame that was found there
}

func (m match) clear(score, margin float64) bool {
	return m.score >= score && m.second <= m.score-margin
}

// searchPatch finds the one place in an area of a frame that looks like a
// picture, in its own size or else in another. ok is false where there is none
// or another place looks almost the same, or it takes too long to tell.
func searchPatch(ctx context.Context, frame *image.RGBA, area image.Rectangle, picture *image.RGBA, like run.PictureSettings) (m match, ok bool) {
	like = like.WithDefaults()
	ctx, cancel := context.WithTimeout(ctx, like.Limit)
	defer cancel()
	h := newHaystack(frame, area)
	if h == nil || picture == nil {
		return match{}, false
	}
	m = h.search(ctx, grey(picture, picture.Rect))
	if m.scale, m.of = 1, picture.Rect.Min; m.score >= like.Score {
		return m, ctx.Err() == nil && m.clear(like.Score, like.Margin)
	}
	if picture.Rect.Dx()*picture.Rect.Dy() > maxScaled {
		return m, false
	}
	best, core := match{}, core(picture)
	h.soften()
	try := func(scale float64) {
		size := image.Pt(int(math.Round(float64(core.Dx())*scale)), int(math.Round(float64(core.Dy())*scale)))
		scaled := image.NewRGBA(image.Rectangle{Max: size})
		draw.CatmullRom.Scale(scaled, scaled.Rect, picture, core, draw.Src, nil)
		needle := grey(scaled, scaled.Rect).soft()
		found := h.search(ctx, needle)
		found.scale, found.of = scale, core.Min
		if found.score > best.score {
			best = found
			best.least = h.strips(needle, found.at.Sub(h.at))
		}
	}
	for _, scale := range scales {
		try(scale)
	}
	if best.score >= nearScore && best.score < like.ScaledScore {
		for _, by := range []float64{.94, .97, 1.03, 1.06} {
			try(best.scale * by)
		}
	}
	return best, ctx.Err() == nil && best.clear(like.ScaledScore, like.ScaledMargin) && best.least >= like.PartScore
}

// border is how much of the edge of a picture is taken for that of a control,
// which does not grow with its text, in pixels.
const border = 6

// core returns the part of a picture that is not background or edge.
func core(picture *image.RGBA) image.Rectangle {
	inner := picture.Rect.Inset(border)
	if inner.Dx() < 8 || inner.Dy() < 8 {
		return picture.Rect
	}
	p := grey(picture, inner)
	common := p.common()
	var box image.Rectangle
	for i, v := range p.pix {
		if d := v - common; d < -48 || d > 48 {
			at := inner.Min.Add(image.Pt(i%p.w, i/p.w))
			box = box.Union(image.Rectangle{Min: at, Max: at.Add(image.Pt(1, 1))})
		}
	}
	if box.Dx() < 6 || box.Dy() < 6 {
		return picture.Rect
	}
	return box.Inset(-3).Intersect(picture.Rect)
}

// A plane is a grey picture.
type plane struct {
	w, h int
	pix  []int32
}

// grey returns a part of a picture without its colours.
func grey(img *image.RGBA, r image.Rectangle) plane {
	r = r.Intersect(img.Rect)
	p := plane{r.Dx(), r.Dy(), make([]int32, r.Dx()*r.Dy())}
	for y := range p.h {
		row := img.Pix[img.PixOffset(r.Min.X, r.Min.Y+y):]
		for x := range p.w {
			p.pix[y*p.w+x] = (299*int32(row[4*x]) + 587*int32(row[4*x+1]) + 114*int32(row[4*x+2])) / 1000
		}
	}
	return p
}

// reduced returns a plane of which each pixel is the mean of a square, from an
// offset.
func (p plane) reduced(by int, from image.Point) plane {
	q := plane{w: (p.w - from.X) / by, h: (p.h - from.Y) / by}
	if q.w <= 0 || q.h <= 0 {
		return plane{}
	}
	q.pix = make([]int32, q.w*q.h)
	for y := range q.h {
		for x := range q.w {
			var sum int32
			for dy := range by {
				i := (from.Y+y*by+dy)*p.w + from.X + x*by
				for _, v := range p.pix[i : i+by] {
					sum += v
				}
			}
			q.pix[y*q.w+x] = sum / int32(by*by)
		}
	}
	return q
}

// A sums holds for each corner the sum of all that is left of it and above, and
// of its squares.
type sums struct {
	w          int
	one, twice []int64
}

func (p plane) sums() sums {
	s := sums{p.w + 1, make([]int64, (p.w+1)*(p.h+1)), make([]int64, (p.w+1)*(p.h+1))}
	for y := range p.h {
		var a, b int64
		for x := range p.w {
			v := int64(p.pix[y*p.w+x])
			a, b = a+v, b+v*v
			i := (y+1)*s.w + x + 1
			s.one[i], s.twice[i] = s.one[i-s.w]+a, s.twice[i-s.w]+b
		}
	}
	return s
}

// spread returns sum and variance (times the number of pixels) of a box.
func (s sums) spread(x, y, w, h int) (sum int64, spread float64) {
	a, b, c, d := y*s.w+x, y*s.w+x+w, (y+h)*s.w+x, (y+h)*s.w+x+w
	sum = s.one[d] - s.one[b] - s.one[c] + s.one[a]
	twice := s.twice[d] - s.twice[b] - s.twice[c] + s.twice[a]
	return sum, float64(twice) - float64(sum)*float64(sum)/float64(w*h)
}

// A needle is a picture that is looked for.
type needle struct {
	plane
	sum    int64
	spread float64
}

func newNeedle(p plane) needle {
	n := needle{plane: p}
	if p.w > 0 && p.h > 0 {
		n.sum, n.spread = p.sums().spread(0, 0, p.w, p.h)
	}
	return n
}

// A haystack is an area that is searched.
type haystack struct {
	full, small   plane
	sums, smaller sums
	at            image.Point
}

func newHaystack(frame *image.RGBA, area image.Rectangle) *haystack {
	area = area.Intersect(frame.Rect)
	if area.Empty() {
		return nil
	}
	h := &haystack{full: grey(frame, area), at: area.Min}
	h.small = h.full.reduced(reduction, image.Point{})
	h.sums, h.smaller = h.full.sums(), h.small.sums()
	return h
}

// soften makes the area soft: text of another size has its edges elsewhere.
func (h *haystack) soften() {
	h.full = h.full.soft()
	h.small = h.full.reduced(reduction, image.Point{})
	h.sums, h.smaller = h.full.sums(), h.small.sums()
}

// soft returns a plane of which each pixel is the mean of those around it.
func (p plane) soft() plane {
	q := plane{p.w, p.h, make([]int32, len(p.pix))}
	for y := range p.h {
		for x := range p.w {
			var sum, n int32
			for dy := max(0, y-1); dy <= min(p.h-1, y+1); dy++ {
				for _, v := range p.pix[dy*p.w+max(0, x-1) : dy*p.w+min(p.w, x+2)] {
					sum, n = sum+v, n+1
				}
			}
			q.pix[y*p.w+x] = sum / n
		}
	}
	return q
}

// strips returns how alike the least alike part of a picture is at a place,
// give or take a pixel or two.
func (h *haystack) strips(p plane, at image.Point) float64 {
	width := min(p.w, max(8, p.h*2/3))
	least := 1.0
	for x := 0; x+width <= p.w; x += max(1, min(width/2, p.w-width-x)) {
		strip := plane{width, p.h, make([]int32, 0, width*p.h)}
		for y := range p.h {
			strip.pix = append(strip.pix, p.pix[y*p.w+x:][:width]...)
		}
		n := newNeedle(strip)
		if n.spread < float64(64*width*p.h) {
			if x+width == p.w {
				break
			}
			continue // nothing is there
		}
		best := 0.0
		for dy := -1; dy <= 1; dy++ {
			for dx := -2; dx <= 2; dx++ {
				if q := at.Add(image.Pt(x+dx, dy)); q.X >= 0 && q.Y >= 0 && q.X+width <= h.full.w && q.Y+p.h <= h.full.h {
					best = max(best, alike(h.full, h.sums, n, q.X, q.Y))
				}
			}
		}
		if least = min(least, best); x+width == p.w {
			break
		}
	}
	return least
}

// alike is the normalised cross-correlation of a needle with a place.
func alike(p plane, s sums, n needle, x, y int) float64 {
	sum, spread := s.spread(x, y, n.w, n.h)
	if spread < 1 || n.spread < 1 {
		return 0
	}
	covariance := float64(cross(p, n, x, y)) - float64(sum)*float64(n.sum)/float64(n.w*n.h)
	return covariance / math.Sqrt(spread*n.spread)
}

// cross is the sum of the products of a needle's pixels and those of a place. The race
// detector need not watch it, at many times its cost: it reads what it is given, in
// planes that nobody writes once they are made.
//
//go:norace
func cross(p plane, n needle, x, y int) (sum int64) {
	for dy := range n.h {
		a := p.pix[(y+dy)*p.w+x:][:n.w]
		b := n.pix[dy*n.w:][:n.w]
		var row int32 // 255² for each pixel: enough for 33,000
		for i, v := range b {
			row += v * a[i]
		}
		sum += int64(row)
	}
	return sum
}

// search finds the best place of a picture and the best other one. A first look
// at a reduced area, in parts of a pixel, chooses where to look closely.
func (h *haystack) search(ctx context.Context, picture plane) match {
	n := newNeedle(picture)
	if n.w > h.full.w || n.h > h.full.h || n.spread < 1 {
		return match{}
	}
	var places []match
	if n.w < 3*reduction || n.h < 3*reduction {
		places = h.scan(ctx, h.full, h.sums, n, 1, image.Point{})
	} else {
		for _, from := range []image.Point{{0, 0}, {2, 0}, {0, 2}, {2, 2}} {
			small := newNeedle(picture.reduced(reduction, from))
			places = append(places, h.scan(ctx, h.small, h.smaller, small, reduction, from)...)
		}
	}
	slices.SortStableFunc(places, func(a, b match) int { return cmp.Compare(b.score, a.score) })
	reach := image.Pt(max(4, n.w/2), max(4, n.h/2))
	var fine []match
	for _, c := range places {
		if len(fine) == kept {
			break
		}
		if !slices.ContainsFunc(fine, func(f match) bool { return near(f.at, c.at, image.Pt(reduction, reduction)) }) {
			fine = append(fine, c)
		}
	}
	for i := range fine {
		fine[i] = h.refine(n, fine[i].at)
	}
	best := match{}
	for _, f := range fine {
		if f.score > best.score {
			best = f
		}
	}
	for _, f := range fine {
		if !near(f.at, best.at, reach) {
			best.second = max(best.second, f.score)
		}
	}
	best.at = best.at.Add(h.at)
	return best
}

func near(a, b, reach image.Point) bool {
	d := a.Sub(b)
	return -reach.X < d.X && d.X < reach.X && -reach.Y < d.Y && d.Y < reach.Y
}

// scan returns the places of a plane that are most like a needle, in pixels of
// the full area, side by side on all processors.
func (h *haystack) scan(ctx context.Context, p plane, s sums, n needle, by int, from image.Point) []match {
	rows := p.h - n.h + 1
	if rows <= 0 || p.w < n.w || n.w == 0 || n.spread < 1 {
		return nil
	}
	parts := min(rows, runtime.GOMAXPROCS(0))
	found := make([][]match, parts)
	var all sync.WaitGroup
	for part := range parts {
		all.Go(func() {
			var list []match
			for y := rows * part / parts; y < rows*(part+1)/parts && ctx.Err() == nil; y++ {
				for x := range p.w - n.w + 1 {
					if score := alike(p, s, n, x, y); score >= .5 {
						list = keepBest(list, match{at: image.Pt(x*by-from.X, y*by-from.Y), score: score}, by)
					}
				}
			}
			found[part] = list
		})
	}
	all.Wait()
	return slices.Concat(found...)
}

// keepBest adds a match to the best of so many places. Of those beside each
// other only the best counts, so that one place does not push out all others.
func keepBest(list []match, m match, by int) []match {
	for i := range list {
		if near(list[i].at, m.at, image.Pt(by+1, by+1)) {
			if m.score > list[i].score {
				list[i] = m
			}
			return list
		}
	}
	if len(list) < 2*kept {
		return append(list, m)
	}
	worst := 0
	for i := range list {
		if list[i].score < list[worst].score {
			worst = i
		}
	}
	if m.score > list[worst].score {
		list[worst] = m
	}
	return list
}

// refine finds the best place near one of the first look.
func (h *haystack) refine(n needle, at image.Point) match {
	best := match{at: at}
	for y := max(0, at.Y-reduction); y <= min(at.Y+reduction, h.full.h-n.h); y++ {
		for x := max(0, at.X-reduction); x <= min(at.X+reduction, h.full.w-n.w); x++ {
			if score := alike(h.full, h.sums, n, x, y); score > best.score {
				best.at, best.score = image.Pt(x, y), score
			}
		}
	}
	return best
}

// featureless reports whether a part of a picture shows nothing but one colour,
// a caret aside.
func featureless(img *image.RGBA, r image.Rectangle) bool {
	r = r.Intersect(img.Rect)
	if r.Empty() {
		return true
	}
	p := grey(img, r)
	common, other := p.common(), 0
	for _, v := range p.pix {
		if d := v - common; d < -16 || d > 16 {
			other++
		}
	}
	return 33*other <= len(p.pix)
}

// common returns the level that most pixels have.
func (p plane) common() (level int32) {
	var count [256]int
	for _, v := range p.pix {
		count[v]++
	}
	for v := range count {
		if count[v] > count[level] {
			level = int32(v)
		}
	}
	return level
}
