//go:build linux

package eyestest

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"desktop-agent/screen"
	"desktop-agent/screen/atspi"

	"github.com/disintegration/imaging"
	"github.com/stretchr/testify/require"
)

// A word is what OCR read, and where, in pixels of the picture that it was given.
type word struct {
	text string
	box  image.Rectangle
}

// hasOCR reports whether texts can be compared with the picture.
func hasOCR(t *testing.T) bool {
	if _, err := exec.LookPath("tesseract"); err != nil {
		t.Log("texts are not compared with the picture: tesseract is not installed (apt-get install tesseract-ocr tesseract-ocr-eng)")
		return false
	}
	return true
}

// read reads a picture, enlarged, by a mode of tesseract (its --psm): 11 is text
// anywhere, 6 is one block.
func read(ctx context.Context, t *testing.T, picture image.Image, scale int, mode string) []word {
	t.Helper()
	size := picture.Bounds().Size()
	large := imaging.Grayscale(imaging.Resize(picture, size.X*scale, size.Y*scale, imaging.CatmullRom))
	var file bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&file, large))
	cmd := exec.CommandContext(ctx, "tesseract", "-", "-", "--psm", mode, "--dpi", "288", "tsv")
	cmd.Env = append(cmd.Environ(), "OMP_THREAD_LIMIT=1")
	cmd.Stdin = &file
	out, err := cmd.Output()
	require.NoError(t, err)
	var words []word
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(f) < 12 || f[0] != "5" {
			continue
		}
		var n [4]int
		for i := range n {
			n[i], _ = strconv.Atoi(f[6+i])
			n[i] /= scale
		}
		if strings.TrimSpace(f[11]) != "" {
			words = append(words, word{f[11], image.Rect(n[0], n[1], n[0]+n[2], n[1]+n[3]).Add(picture.Bounds().Min)})
		}
	}
	return words
}

// inside returns what was read in a box.
func inside(words []word, box image.Rectangle) (list []string) {
	for _, w := range words {
		if middle(w.box).In(box.Inset(-2)) {
			list = append(list, w.text)
		}
	}
	return list
}

// tokens are the words of a text that OCR can be asked for: of three letters or
// digits and more, of the Latin alphabet, which is what the data of OCR knows.
func tokens(text string) (list []string) {
	for _, f := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(f) >= 3 && strings.IndexFunc(f, func(r rune) bool { return r > 0x24f }) < 0 {
			list = append(list, f)
		}
	}
	return list
}

// found is the share of wanted words that are among those read, where one letter in
// four may be misread; 1 if none is wanted.
func found(wanted, read []string) float64 {
	if len(wanted) == 0 {
		return 1
	}
	have := tokens(strings.Join(read, " "))
	whole := strings.Join(have, "")
	n := 0
	for _, w := range wanted {
		if strings.Contains(whole, w) {
			n++
			continue
		}
		for _, h := range have {
			if distance(w, h) <= max(1, len(w)/4) {
				n++
				break
			}
		}
	}
	return float64(n) / float64(len(wanted))
}

// distance is how many letters have to be put in, left out or changed (Levenshtein).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		last := row[0]
		row[0] = i + 1
		for j := range y {
			cost := last
			if x[i] != y[j] {
				cost++
			}
			last = row[j+1]
			row[j+1] = min(cost, row[j]+1, last+1)
		}
	}
	return row[len(y)]
}

// drawn reports whether elements of a role draw their text; others may have a name
// that only the bus tells, such as a button with a picture.
func drawn(role string) bool {
	switch role {
	case "label", "menu", "menu item", "check menu item", "radio menu item", "table cell", "list item", "link",
		"text", "heading", "paragraph", "page tab", "table column header", "static", "entry", "terminal", "tree item", "option":
		return true
	}
	return false
}

// shows returns the words of an element that must be in the picture: what it holds,
// and its name where that is drawn too.
func shows(it item) []string {
	if it.node == nil {
		return nil
	}
	said := it.node.Name
	switch it.role {
	case "entry", "text", "password text", "spin button", "combo box", "date editor", "slider", "paragraph", "document web", "document text":
		said = it.node.Text
	case "table cell":
		if it.node.Text != "" {
			said = it.node.Text // a cell of a sheet has its address for a name
		}
	}
	want := tokens(said)
	return want[:min(len(want), 40)]
}

// A reading is a picture with what OCR read in it.
type reading struct {
	o     *screen.Observation
	words []word
}

// missing says what is read in the place of an element instead of its text; "" if
// that is there, or if there is nothing that OCR could read. An element that draws
// its text and shows none is missing too.
func (r reading) missing(t *testing.T, it item) (instead string, is bool) {
	box := it.node.Box.Intersect(r.o.Bare.Bounds())
	want := shows(it)
	if len(want) == 0 || box.Dx() < 12 || box.Dy() < 8 || r.covered(box) {
		return "", false
	}
	have := inside(r.words, box)
	cut := box != it.node.Box // by an edge of the screen
	there := func() bool {
		return found(want, have) >= 0.5 || found(want[:1], have) == 1 || cut && begun(want, have)
	}
	if there() {
		return "", false
	}
	// Others than those that draw their text are wrong where another text is, which a
	// picture may look like too, but not of so many letters.
	const misread = 5
	if !drawn(it.role) && (len(strings.Join(tokens(strings.Join(have, " ")), "")) < misread || r.holds(it)) {
		return "", false
	}
	// Again, and closer: grey on grey, or bold, is misread in a picture of everything.
	for _, light := range []bool{false, true} {
		for _, mode := range []string{"6", "7"} {
			have = append(have, r.closer(t, box, mode, light)...)
			if there() {
				return "", false
			}
		}
	}
	return strings.Join(have, " "), true
}

// begun reports whether the beginning or the end of a wanted word is among those read,
// where one letter, that is cut, may be misread.
func begun(wanted, read []string) bool {
	return slices.ContainsFunc(tokens(strings.Join(read, " ")), func(part string) bool {
		return slices.ContainsFunc(wanted, func(word string) bool {
			n := min(len(part), len(word))
			return distance(word[:n], part) <= 1 || distance(word[len(word)-n:], part) <= 1
		})
	})
}

// closer reads what is in a box alone, with a margin, in strong contrast; light letters
// on dark, as of what is selected, if that is asked for.
func (r reading) closer(t *testing.T, box image.Rectangle, mode string, light bool) (list []string) {
	margin := box.Inset(-6).Intersect(r.o.Bare.Rect)
	crop := imaging.AdjustContrast(r.o.Bare.SubImage(margin), 40) // begins at 0, 0
	if light {
		crop = imaging.Invert(crop)
	}
	return inside(read(t.Context(), t, crop, 4, mode), box.Sub(margin.Min))
}

// holds reports whether an element has others in it, the texts of which are not its own.
func (r reading) holds(it item) bool {
	return slices.ContainsFunc(r.o.Tree.Nodes, func(n atspi.Node) bool {
		return n.Parent >= 0 && &r.o.Tree.Nodes[n.Parent] == it.node
	})
}

// covered reports whether a menu or the like lies on a part of a box.
func (r reading) covered(box image.Rectangle) bool {
	return slices.ContainsFunc(r.o.Windows, func(w screen.Window) bool {
		return w.Popup && !w.Hidden && box.Overlaps(w.Box) && !box.In(w.Box)
	})
}
