package ocr

import (
	"fmt"
	"image"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"desktop-agent/screen"
)

// A word is what tesseract tells of one.
type word struct {
	line       [4]int // its page, block, paragraph and line
	box        image.Rectangle
	confidence float64 // 0 to 100
	text       string
}

// parseTSV reads tesseract's output: a header, then a row for each page, block,
// paragraph, line and word, of which the words have the level 5. See
// https://tesseract-ocr.github.io/tessdoc/Command-Line-Usage.html#tsv-output.
func parseTSV(out []byte) (words []word, err error) {
	header, rest, _ := strings.Cut(string(out), "\n")
	if !strings.HasPrefix(header, "level\tpage_num\t") {
		return nil, fmt.Errorf("its output is no table of words: %.80q", header)
	}
	for row := range strings.Lines(rest) {
		fields := strings.Split(strings.TrimRight(row, "\r\n"), "\t")
		if len(fields) != 12 {
			return nil, fmt.Errorf("a row of its table has %d fields, not 12: %.80q", len(fields), row)
		}
		var n [10]int
		for i := range n {
			if n[i], err = strconv.Atoi(fields[i]); err != nil {
				return nil, fmt.Errorf("a row of its table: %w", err)
			}
		}
		w := word{line: [4]int(n[1:5]), box: image.Rect(n[6], n[7], n[6]+n[8], n[7]+n[9]), text: printable(fields[11])}
		if w.confidence, err = strconv.ParseFloat(fields[10], 64); err != nil {
			return nil, fmt.Errorf("a row of its table: %w", err)
		}
		if n[0] == 5 && w.text != "" {
			words = append(words, w)
		}
	}
	return words, nil
}

// printable returns a text without what cannot be seen.
func printable(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s))
}

// What makes a line.
const (
	sure      = 20 // a line of less confidence is no text, of 100
	sureShort = 80 // the same, with no three letters or digits in a row: cursors and the buttons of a window look so
	gap       = 2  // a space that is wider than so many times the line's height parts it
)

// lines makes lines of words, and tells of which band each is.
func (m montage) lines(words []word) [][]screen.OCRLine {
	list := make([][]screen.OCRLine, len(m.top))
	tall := map[[4]int]int{} // how tall each line is: of a word of dashes, only the line tells
	for _, w := range words {
		tall[w.line] = max(tall[w.line], w.box.Dy())
	}
	for len(words) > 0 {
		n := 1
		box := words[0].box
		for n < len(words) && words[n].line == words[0].line && words[n].box.Min.X-box.Max.X <= gap*tall[words[0].line] {
			box = box.Union(words[n].box)
			n++
		}
		if l, ok := joined(words[:n], box); ok {
			i := m.band(box)
			l.Box = m.shrink(box, i)
			for _, w := range words[:n] {
				l.Words = append(l.Words, screen.OCRWord{Text: w.text, Box: m.shrink(w.box, i)})
			}
			list[i] = append(list[i], l)
		}
		words = words[n:]
	}
	return list
}

// shrink returns a box of the montage in pixels of a band.
func (m montage) shrink(box image.Rectangle, band int) image.Rectangle {
	at := image.Pt(apart, m.top[band])
	return image.Rectangle{Min: box.Min.Sub(at).Div(m.scale), Max: box.Max.Sub(at).Add(image.Pt(m.scale-1, m.scale-1)).Div(m.scale)}
}

// joined makes one line of words, if it is text.
func joined(words []word, box image.Rectangle) (l screen.OCRLine, ok bool) {
	texts := make([]string, len(words))
	letters, sum := 0, 0.0
	for i, w := range words {
		texts[i] = w.text
		n := utf8.RuneCountInString(w.text)
		letters, sum = letters+n, sum+w.confidence*float64(n)
	}
	l = screen.OCRLine{Text: strings.Join(texts, " "), Confidence: sum / float64(letters) / 100}
	least := sure / 100.
	row := inRow(l.Text)
	if row < 3 {
		least = sureShort / 100.
	}
	return l, row > 0 && l.Confidence >= least
}

// inRow returns how many letters and digits there are in a row at most.
func inRow(text string) (most int) {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		most = max(most, utf8.RuneCountInString(part))
	}
	return most
}

// band returns which band a box of the montage lies in.
func (m montage) band(box image.Rectangle) int {
	middle := (box.Min.Y + box.Max.Y) / 2
	i := len(m.top) - 1
	for i > 0 && middle < m.top[i]-apart/2 {
		i--
	}
	return i
}
