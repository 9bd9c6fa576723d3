package sheet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"desktop-agent/tasks"
	"desktop-agent/tasks/office/xlsx"
	"desktop-agent/tasks/osworld/metric/fuzzy"
)

// maxPrint is how many bytes the text of a sheet may have.
const maxPrint = 24 << 20

// sheetPrint compares the texts that sheets were exported as.
func (c *comparison) sheetPrint(_ context.Context, rule tasks.Params) (string, error) {
	ignoreCase, err := rule.Bool("ignore_case")
	if err != nil {
		return "", err
	}
	p, q, err := c.sheets(rule)
	if err != nil {
		return "", err
	}
	want, err := c.lines(q)
	if err != nil {
		return "", err
	}
	got, err := c.lines(p)
	if err != nil {
		return "", err
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) {
			return fmt.Sprintf("sheet %.60q has %d lines, expected %d", p.name, len(got), len(want)), nil
		}
		a, b := got[i], want[i]
		if ignoreCase {
			a, b = strings.ToLower(a), strings.ToLower(b)
		}
		if a != b {
			return fmt.Sprintf("sheet %.60q, line %d is %.120q, expected %.120q", p.name, i+1, got[i], want[i]), nil
		}
	}
	return "", nil
}

// lines reads STEM-SHEET.csv beside a workbook. Blanks around lines do not count,
// nor do blank lines at the end.
func (c *comparison) lines(p sheetRef) ([]string, error) {
	if p.name != filepath.Base(p.name) || strings.ContainsAny(p.name, `/\`+"\x00") {
		return nil, p.book.Errorf("%.60q cannot be part of the name of a file", p.name)
	}
	path := strings.TrimSuffix(p.book.Path, filepath.Ext(p.book.Path)) + "-" + p.name + ".csv"
	text, err := readText(path)
	if err != nil {
		return nil, p.book.Errorf("%s of the %s: %w", filepath.Base(path), p.book.Called, err)
	}
	if !c.Has(orderMark) {
		text = strings.TrimPrefix(text, "\ufeff")
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	list := strings.Split(strings.Map(lineEnd, text), "\n")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	for len(list) > 0 && list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list, nil
}

// lineEnd maps what Python takes as the end of a line to one rune.
func lineEnd(r rune) rune {
	if strings.ContainsRune("\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029", r) {
		return '\n'
	}
	return r
}

// readText reads a file as UTF-8 or else as Latin-1.
func readText(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", errors.New("the file is missing or cannot be opened; was the sheet exported?")
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.New("not a file")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxPrint+1))
	if err != nil {
		return "", err
	}
	if len(data) > maxPrint {
		return "", fmt.Errorf("larger than %d MB", maxPrint>>20)
	}
	if utf8.Valid(data) {
		return string(data), nil
	}
	runes := make([]rune, len(data))
	for i, b := range data {
		runes[i] = rune(b)
	}
	return string(runes), nil
}

// maxFuzzy is how many cells the ranges of sheet_fuzzy may have.
const maxFuzzy = 200_000

// A likeness is a rule of sheet_fuzzy.
type likeness struct {
	areas             []xlsx.Area
	kind              string
	threshold         float64
	ignoreCase        bool
	leading, trailing string
	ignored           string
	replace           [][2]string
}

// sheetFuzzy compares the texts of cells.
func (c *comparison) sheetFuzzy(ctx context.Context, rule tasks.Params) (string, error) {
	a, b, err := c.two(rule)
	if err != nil {
		return "", err
	}
	rules, err := rule.Maps("rules")
	if err != nil {
		return "", err
	}
	for _, r := range rules {
		f, err := parseLikeness(r)
		if err != nil {
			return "", err
		}
		for _, at := range f.areas {
			why := ""
			at.Cells(func(p xlsx.Pos) bool {
				why, err = c.fuzzyCell(ctx, f, a, b, p)
				return why == "" && err == nil
			})
			if err != nil || why != "" {
				return why, err
			}
		}
	}
	return "", nil
}

func (c *comparison) fuzzyCell(ctx context.Context, f *likeness, a, b *xlsx.Sheet, p xlsx.Pos) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	want, err := c.fuzzyText(b, p)
	if err != nil {
		return "", err
	}
	got, err := c.fuzzyText(a, p)
	if err != nil {
		return "", err
	}
	if f.matches(f.clean(got), f.clean(want)) {
		return "", nil
	}
	return fmt.Sprintf("%s: cell %v is %.80q, which does not match (%s) %.80q", pair(a, b), p, got, f.kind, want), nil
}

// fuzzyText writes a value as the reference does: a blank is "None", and all
// numbers have a fraction.
func (c *comparison) fuzzyText(s *xlsx.Sheet, p xlsx.Pos) (string, error) {
	v, err := c.raw(s, p)
	if v == nil {
		return "None", err
	}
	return xlsx.PyStr(v), err
}

func parseLikeness(r tasks.Params) (*likeness, error) {
	f := &likeness{threshold: 85}
	ranges, err := r.Texts("range")
	if err != nil {
		return nil, err
	}
	if f.areas, err = xlsx.ParseAreas(strings.Join(ranges, " ")); err != nil {
		return nil, fmt.Errorf("range: %w", err)
	}
	size := 0
	for _, a := range f.areas {
		size += a.Size()
	}
	if size > maxFuzzy || size == 0 {
		return nil, fmt.Errorf("range: wants 1 to %d cells", maxFuzzy)
	}
	f.kind, _ = r.Text("type")
	if !slices.Contains([]string{"includes", "included_by", "fuzzy_match", "exact_match"}, f.kind) {
		return nil, fmt.Errorf("type: %.40q is not includes, included_by, fuzzy_match or exact_match", f.kind)
	}
	if r.Has("threshold") {
		if f.threshold, err = r.Number("threshold"); err != nil {
			return nil, err
		}
	}
	if f.ignoreCase, err = r.Bool("ignore_case"); err != nil {
		return nil, err
	}
	for name, to := range map[string]*string{"trim_leadings": &f.leading, "trim_trailings": &f.trailing, "ignore_chars": &f.ignored} {
		list, err := r.Texts(name)
		if err != nil {
			return nil, err
		}
		*to = strings.Join(list, "")
	}
	for _, n := range r.List("normalization") {
		two, err := tasks.Params{"normalization": n}.Texts("normalization")
		if err != nil || len(two) != 2 {
			return nil, errors.New("normalization: wants pairs of what to replace and by what")
		}
		f.replace = append(f.replace, [2]string{two[0], two[1]})
	}
	return f, nil
}

// clean replaces, trims, filters and folds a text, in this order.
func (f *likeness) clean(text string) string {
	for _, r := range f.replace {
		text = strings.ReplaceAll(text, r[0], r[1])
		text = text[:min(len(text), 1<<20)]
	}
	text = strings.TrimRight(strings.TrimLeft(text, f.leading), f.trailing)
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune(f.ignored, r) {
			return -1
		}
		return r
	}, text)
	if f.ignoreCase {
		text = strings.ToLower(text)
	}
	return text
}

func (f *likeness) matches(got, want string) bool {
	switch f.kind {
	case "includes":
		return strings.Contains(got, want)
	case "included_by":
		return strings.Contains(want, got)
	case "exact_match":
		return got == want
	}
	return fuzzy.Ratio(cut(got), cut(want)) >= f.threshold
}

// maxRatio is how many bytes at the start of a text are compared.
const maxRatio = 1 << 12

func cut(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxRatio)], "")
}

// raw returns the stored value of a cell: nil, float64, string or bool. Dates are
// their serial numbers.
func (c *comparison) raw(s *xlsx.Sheet, p xlsx.Pos) (any, error) {
	if c.Has(partBySheetID) {
		ref := s.Book.Sheets[s.Book.Index(s.Name)]
		part := "xl/worksheets/sheet" + ref.ID + ".xml"
		if !s.Book.Archive.Has(part) {
			return nil, nil
		}
		var err error
		if s, err = s.Book.SheetPart(s.Name, part); err != nil {
			return nil, err
		}
	}
	v := s.Cells[p]
	if !v.Filled {
		return nil, nil
	}
	switch v.Kind {
	case "n":
		f, err := strconv.ParseFloat(strings.TrimSpace(v.Raw), 64)
		if err != nil {
			return nil, nil
		}
		return f, nil
	case "s":
		i, err := strconv.Atoi(v.Raw)
		if err != nil || i < 0 || i >= len(s.Book.Texts) {
			return nil, s.Book.Errorf("cell %v: there is no text %.20q", p, v.Raw)
		}
		if c.Has(emptyText) && slices.ContainsFunc(s.Book.Texts, func(t xlsx.SharedText) bool { return t.Every == "" }) {
			return nil, s.Book.Errorf("cell %v: one of the texts is empty, so that none is read", p)
		}
		if c.Has(pronounced) {
			return s.Book.Texts[i].Every, nil
		}
		return s.Book.Texts[i].All, nil
	case "str":
		return v.Raw, nil
	}
	switch v.Kind {
	case "inlineStr":
		if c.Has(inlineRuns) && v.Inline.Plain == "" {
			return nil, nil
		} else if c.Has(inlineRuns) {
			return v.Inline.Plain, nil
		}
		return v.Inline.All, nil
	case "b":
		if c.Has(truthAbsent) {
			return nil, nil
		}
		return v.Raw == "1" || v.Raw == "true", nil
	}
	return v.Raw, nil
}
