package media

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/metric/fuzzy"
	"desktop-agent/tasks/osworld/metric/media/picture"
	"desktop-agent/tasks/osworld/metric/rule"
)

const (
	maxPDF       = 256 << 20 // bytes of a document
	maxPDFPages  = 2000      // that text is taken from
	maxPDFText   = 16 << 20  // bytes
	maxPDFRunes  = 300_000   // that are compared; the time grows with the square
	maxPDFImages = 500
	hashDistance = 5 // up to which images look the same
)

// poppler is a command of the programs for PDF.
func poppler(name string, args ...string) command {
	return command{name: name, debian: "poppler-utils", args: args, cpuTime: time.Minute, output: maxPDFText}
}

// smallPDF refuses a document that is larger than any of a task: a damaged one is
// searched for its end.
func smallPDF(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxPDF {
		err = fmt.Errorf("%d bytes: over %d", info.Size(), int64(maxPDF))
	}
	return err
}

// readPDFText returns a document's text in the order of its content, without
// space around it.
func readPDFText(ctx context.Context, path string) (string, error) {
	if err := smallPDF(path); err != nil {
		return "", err
	}
	out, err := poppler("pdftotext", "-q", "-raw", "-nopgbrk", "-enc", "UTF-8", "-l", strconv.Itoa(maxPDFPages), path, "-").bytes(ctx)
	return strings.TrimSpace(strings.ToValidUTF8(string(out), "�")), err
}

// comparePDFs is the mean over the expected documents of how alike the texts are.
// A result that is missing or damaged counts 0.
func (m metrics) comparePDFs(ctx context.Context, result, expected tasks.Value, _ tasks.Params) (tasks.Score, error) {
	want, err := tasks.AllFiles(expected)
	if err != nil {
		return tasks.Score{}, fmt.Errorf("expected: %w", err)
	}
	got, missing := tasks.AllFiles(result)
	if _, several := expected.(tasks.Files); !several && len(got) > 1 {
		return tasks.No(fmt.Sprintf("%d documents, not one", len(got))), nil
	}
	var score tasks.Score
	for i, value := range want {
		gold, err := load(ctx, value, readPDFText)
		if err != nil {
			return tasks.Score{}, fmt.Errorf("expected document %d: %w", i+1, err)
		}
		if i >= len(got) {
			if score.Why = fmt.Sprintf("%d documents, not %d", len(got), len(want)); missing != nil {
				score.Why = fmt.Sprintf("result: %v", missing)
			}
			continue
		}
		text, err := load(ctx, got[i], readPDFText)
		if err != nil {
			no, err := fault(err)
			if err != nil {
				return tasks.Score{}, err
			}
			score.Why = no.Why
			continue
		}
		ratio := fuzzy.Ratio(beginning(text), beginning(gold)) / 100
		if ratio < 1 && score.Why == "" {
			score.Why = fmt.Sprintf("text of document %d is alike to %.4f", i+1, ratio)
		}
		score.Value += ratio / float64(len(want))
	}
	if score.Why == "" {
		score.Value = 1 // not a rounding error less
	}
	return score, nil
}

// beginning cuts off a text that is too long to compare.
func beginning(text string) string {
	if len(text) <= maxPDFRunes {
		return text
	}
	runes := []rune(text)
	return string(runes[:min(len(runes), maxPDFRunes)])
}

func readText(_ context.Context, path string) ([]byte, error) { return readLimited(path, maxPDFText) }

// textInPDF asks that all values of a JSON object are in a document's text.
func (m metrics) textInPDF(ctx context.Context, result, expected tasks.Value, _ tasks.Params) (tasks.Score, error) {
	data, err := load(ctx, expected, readText)
	if err != nil {
		return tasks.Score{}, fmt.Errorf("expected: %w", err)
	}
	var want map[string]string
	if err := json.Unmarshal(data, &want); err != nil {
		return tasks.Score{}, fmt.Errorf("expected: not a JSON object of texts: %w", err)
	}
	text, err := load(ctx, result, readPDFText)
	if err != nil {
		return fault(err)
	}
	for key, value := range want {
		if !strings.Contains(text, value) {
			return tasks.No(fmt.Sprintf("%s: %.80q is not in the document", key, value)), nil
		}
	}
	return tasks.Yes(), nil
}

func countPDFPages(ctx context.Context, path string) (int, error) {
	if err := smallPDF(path); err != nil {
		return 0, err
	}
	out, err := poppler("pdfinfo", path).bytes(ctx)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(out)) {
		if number, ok := strings.CutPrefix(line, "Pages:"); ok {
			return strconv.Atoi(strings.TrimSpace(number))
		}
	}
	return 0, errors.New("pdfinfo: no number of pages")
}

// pdfPages compares the number of pages: relation is one of Python's operators,
// such as le, ref_value what stands to the right of it.
func (metrics) pdfPages(result int, rules tasks.Params) (tasks.Score, error) {
	relation, err := rules.Text("relation")
	if err != nil {
		return tasks.Score{}, err
	}
	ref, err := rules.Number("ref_value")
	if err != nil {
		return tasks.Score{}, err
	}
	switch relation {
	case "lt", "le", "eq", "ne", "ge", "gt":
	default:
		return tasks.Score{}, fmt.Errorf("relation: unknown operator %.20q: use lt, le, eq, ne, ge or gt", relation)
	}
	if !rules.Has("ref_value") {
		return tasks.Score{}, errors.New("no ref_value to compare with")
	}
	ok, err := rule.Rule{Method: relation, Ref: ref}.Holds(float64(result))
	if err != nil {
		return tasks.Score{}, err
	}
	return when(ok, "%d pages, which is not %s %v", result, relation, ref)
}

// readPDFImages returns the hashes of a document's images, page by page. An image
// counts once on a page; masks and images within the content do not count.
func readPDFImages(ctx context.Context, path string) ([]uint64, error) {
	if err := smallPDF(path); err != nil {
		return nil, err
	}
	list, err := poppler("pdfimages", "-list", path).bytes(ctx)
	if err != nil {
		return nil, err
	}
	numbers, err := pdfImageNumbers(string(list))
	if err != nil || len(numbers) == 0 {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pdfimages")
	if err != nil {
		return nil, &envError{err}
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if _, err := poppler("pdfimages", "-png", path, filepath.Join(dir, "i")).bytes(ctx); err != nil {
		return nil, err
	}
	var hashes []uint64
	for _, n := range numbers {
		m, err := picture.Open(filepath.Join(dir, fmt.Sprintf("i-%03d.png", n)))
		if err != nil {
			return nil, fmt.Errorf("image %d: %w", n, err)
		}
		hashes = append(hashes, picture.PHash(m))
	}
	return hashes, nil
}

// pdfImageNumbers reads the table of pdfimages -list, whose columns are page,
// number, type, width, height, colours, components, bits, encoding, interpolation,
// object and generation, and others. All images together may have the pixels of
// one, as all are written to the disk.
func pdfImageNumbers(list string) ([]int, error) {
	var numbers []int
	pixels := 0
	seen := map[string]bool{}
	for line := range strings.Lines(list) {
		f := strings.Fields(line)
		if len(f) < 12 {
			continue
		}
		n, err := strconv.Atoi(f[1])
		if err != nil {
			continue // the heading
		}
		w, errW := strconv.Atoi(f[3])
		h, errH := strconv.Atoi(f[4])
		if errW != nil || errH != nil || w < 0 || h < 0 || w > picture.MaxPixels || h > picture.MaxPixels {
			return nil, picture.ErrHuge
		}
		if pixels += w * h; pixels > picture.MaxPixels {
			return nil, picture.ErrHuge
		}
		key := f[0] + " " + f[10]
		if f[2] != "image" && f[2] != "stencil" || f[10] == "[inline]" || seen[key] {
			continue
		}
		seen[key] = true
		if numbers = append(numbers, n); len(numbers) > maxPDFImages {
			return nil, fmt.Errorf("over %d images", maxPDFImages)
		}
	}
	return numbers, nil
}

// pdfImages is the part of the images that look the same.
func (metrics) pdfImages(result, expected []uint64, _ tasks.Params) (tasks.Score, error) {
	if len(result) != len(expected) {
		return tasks.No(fmt.Sprintf("%d images, not %d", len(result), len(expected))), nil
	}
	same := 0
	for i := range result {
		if picture.HashDistance(result[i], expected[i]) <= hashDistance {
			same++
		}
	}
	if same == len(expected) {
		return tasks.Yes(), nil
	}
	return tasks.Score{
		Value: float64(same) / float64(len(expected)),
		Why:   fmt.Sprintf("%d of %d images look the same", same, len(expected)),
	}, nil
}
