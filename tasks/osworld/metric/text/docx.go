package text

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"desktop-agent/tasks"
	"desktop-agent/tasks/office"
	"desktop-agent/tasks/osworld/metric/fuzzy"
)

const (
	maxDocx     = 16 << 20 // bytes, packed
	maxDocxText = 4 << 20  // bytes of the text: it has three words
	maxWord     = 200      // characters of a word that is compared
)

// fuzzyPlaces: the document has three words, and the score is the mean likeness of
// each with the answer of "expected" that is most like it.
func (j judge) fuzzyPlaces(_ context.Context, result, expected tasks.Value, _ tasks.Params) (tasks.Score, error) {
	answers, err := expectedTexts(expected)
	if err != nil {
		return tasks.Score{}, err
	}
	f, err := resultFile(result)
	if err != nil {
		return tasks.Score{}, err
	}
	text, err := f.docxText()
	if err != nil {
		return tasks.Score{}, f.fault(fmt.Errorf("is not a document: %w", err))
	}
	words := strings.FieldsFunc(text, space)
	if len(words) != 3 {
		return tasks.No(fmt.Sprintf("there are %d words, want 3", len(words))), nil
	}
	sum := 0.0
	for _, word := range words {
		best := 0.0
		for _, answer := range answers {
			if len(word) <= maxWord || word == answer {
				best = max(best, fuzzy.Ratio(word, answer)/100)
			}
		}
		sum += best
	}
	return similar(sum / 3), nil
}

// docxText returns the paragraphs in the body of a document, which leaves out tables,
// with a line feed after each.
func (f file) docxText() (string, error) {
	if err := f.check(maxDocx); err != nil {
		return "", err
	}
	archive, err := office.Open(f.path)
	if err != nil {
		return "", err
	}
	defer archive.Close()
	root, err := archive.XML("word/document.xml")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for p := range root.Child("w:body").All("w:p") {
		for _, n := range p.Kids {
			runs := slices.Values([]*office.Node{n})
			if n.Is("w:hyperlink") {
				runs = n.All("w:r")
			}
			for r := range runs {
				if r.Is("w:r") {
					writeRun(&b, r)
				}
			}
		}
		if b.WriteByte('\n'); b.Len() > maxDocxText {
			return "", fmt.Errorf("its text has more than %d bytes", int64(maxDocxText))
		}
	}
	return b.String(), nil
}

// writeRun writes the text of a run, which is a part of a paragraph.
func writeRun(b *strings.Builder, run *office.Node) {
	for _, n := range run.Kids {
		switch n.Name {
		case "w:t":
			b.WriteString(n.Content())
		case "w:tab", "w:br", "w:cr":
			b.WriteByte(' ')
		}
	}
}
