package ocr

import (
	"fmt"
	"image"
)

// How a picture is cut into bands, in its pixels.
const (
	faint     = 16  // what differs from the background by less is no ink, of 255
	rule      = 64  // ink that stays the same for so many rows is a line that was ruled, and no letter
	speck     = 6   // a band that is lower is a dot or an underline of its neighbour
	reach     = 5   // how far that may be away
	tallest   = 512 // a band that is higher is cut
	overlap   = 64  // how much earlier it may be cut, where there is the least ink
	bandInset = 3   // what is left around the ink of a band
)

// A band is a stripe of a picture with ink in it, such as a line of text.
type band struct {
	key    string          // what it shows: its size and its pixels
	at     image.Point     // of its corner, in pixels of the picture
	ink    image.Rectangle // in pixels of the picture
	pixels *image.Gray     // dark on light, from (0, 0)
}

// bands cuts a picture at its blank rows; it is a part of one, with its corner at origin.
func bands(g *image.Gray, origin image.Point) (list []band) {
	background, ink := inked(g)
	for _, rows := range stripes(ink) {
		list = append(list, cutBand(g, origin, rows, background[(rows[0]+rows[1])/2]))
	}
	return list
}

// grey returns a part of a picture as its luminance, from (0, 0).
func grey(m *image.RGBA, region image.Rectangle) *image.Gray {
	g := image.NewGray(image.Rectangle{Max: region.Size()})
	for y := range region.Dy() {
		row := m.Pix[m.PixOffset(region.Min.X, region.Min.Y+y):][:4*region.Dx()]
		out := g.Pix[y*g.Stride:][:region.Dx()]
		for x := range out {
			out[x] = uint8((19595*uint32(row[4*x]) + 38470*uint32(row[4*x+1]) + 7471*uint32(row[4*x+2]) + 1<<15) >> 16)
		}
	}
	return g
}

// inked returns of each row its background, which is its commonest grey, and how many
// pixels are ink: of another grey, and not part of a line from top to bottom.
func inked(g *image.Gray) (background []uint8, ink []int) {
	width, height := g.Rect.Dx(), g.Rect.Dy()
	background, ink = make([]uint8, height), make([]int, height)
	since := make([]int, width) // the row from which a column is the same
	ruled := func(x, end int) {
		if end-since[x] < rule {
			return
		}
		for y := since[x]; y < end; y++ {
			if differs(g.Pix[y*g.Stride+x], background[y]) {
				ink[y]--
			}
		}
	}
	for y := range height {
		row := g.Pix[y*g.Stride:][:width]
		background[y] = commonest(row)
		for x, v := range row {
			if differs(v, background[y]) {
				ink[y]++
			}
			if y > 0 && v != g.Pix[(y-1)*g.Stride+x] {
				ruled(x, y)
				since[x] = y
			}
		}
	}
	for x := range width {
		ruled(x, height)
	}
	return background, ink
}

func differs(a, b uint8) bool { return max(a, b)-min(a, b) > faint }

func commonest(row []uint8) (best uint8) {
	var count [256]int
	for _, v := range row {
		count[v]++
	}
	for v, n := range count {
		if n > count[best] {
			best = uint8(v)
		}
	}
	return best
}

// stripes returns the first row, and the one after the last, of each stretch of rows
// with ink. Specks belong to their neighbours, and what is too high is cut.
func stripes(ink []int) (list [][2]int) {
	for y := 0; y < len(ink); y++ {
		if ink[y] <= 0 {
			continue
		}
		begin := y
		for y < len(ink) && ink[y] > 0 {
			y++
		}
		if n := len(list) - 1; n >= 0 && begin-list[n][1] <= reach && (y-begin < speck || list[n][1]-list[n][0] < speck) {
			list[n][1] = y
			continue
		}
		list = append(list, [2]int{begin, y})
	}
	var low [][2]int
	for _, s := range list {
		for s[1]-s[0] > tallest {
			cut := s[0] + tallest
			for y := cut; y > s[0]+tallest-overlap; y-- {
				if ink[y] < ink[cut] {
					cut = y
				}
			}
			low = append(low, [2]int{s[0], cut})
			s[0] = cut
		}
		low = append(low, s)
	}
	return low
}

// cutBand takes some rows as a band, without the blank columns at their sides.
func cutBand(g *image.Gray, origin image.Point, rows [2]int, background uint8) band {
	box := image.Rectangle{Min: image.Pt(g.Rect.Max.X, rows[0]), Max: image.Pt(0, rows[1])}
	for y := rows[0]; y < rows[1]; y++ {
		row := g.Pix[y*g.Stride:][:g.Rect.Dx()]
		for x := 0; x < box.Min.X; x++ {
			if differs(row[x], background) {
				box.Min.X = x
			}
		}
		for x := len(row) - 1; x >= box.Max.X; x-- {
			if differs(row[x], background) {
				box.Max.X = x + 1
			}
		}
	}
	if box.Min.X >= box.Max.X { // the rows differ in background
		box.Min.X, box.Max.X = 0, g.Rect.Dx()
	}
	ink := box.Add(origin)
	box = box.Inset(-bandInset).Intersect(g.Rect)
	b := band{at: origin.Add(box.Min), ink: ink, pixels: image.NewGray(image.Rectangle{Max: box.Size()})}
	var flip uint8 // light on dark is made dark on light
	if background < 128 {
		flip = 0xff
	}
	for y := range box.Dy() {
		from := g.Pix[(box.Min.Y+y)*g.Stride+box.Min.X:][:box.Dx()]
		for x, v := range from {
			b.pixels.Pix[y*b.pixels.Stride+x] = v ^ flip
		}
	}
	b.key = fmt.Sprint(box.Dx(), " ", box.Dy(), " ") + string(b.pixels.Pix)
	return b
}
