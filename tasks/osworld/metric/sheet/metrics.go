package sheet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"desktop-agent/tasks"
	"desktop-agent/tasks/office/xlsx"
	"desktop-agent/tasks/osworld/defect"
)

// Metrics returns the metrics of this package by the names that task files use.
// They repeat the given ones of [Defects].
func Metrics(of defect.Set) map[string]tasks.Metric {
	return map[string]tasks.Metric{
		"compare_table": func(ctx context.Context, result, expected tasks.Value, options tasks.Params) (tasks.Score, error) {
			return compareTable(ctx, result, expected, options, of)
		},
		"compare_conference_city_in_order": func(_ context.Context, result, expected tasks.Value, _ tasks.Params) (tasks.Score, error) {
			return compareCities(result, expected, of)
		},
	}
}

// A comparison is one call of compare_table.
type comparison struct {
	result   *xlsx.Book
	expected *xlsx.Book // nil if the task gives none
	defect.Set
}

// A ruleFunc applies a rule, and says what is wrong, "" if nothing is.
type ruleFunc func(ctx context.Context, rule tasks.Params) (why string, err error)

// checks returns the rules by their types.
func (c *comparison) checks() map[string]ruleFunc {
	return map[string]ruleFunc{
		"sheet_name":      c.sheetName,
		"sheet_data":      c.sheetData,
		"sheet_print":     c.sheetPrint,
		"sheet_fuzzy":     c.sheetFuzzy,
		"sparkline":       c.sparkline,
		"chart":           c.chart,
		"style":           c.style,
		"freeze":          c.freeze,
		"zoom":            c.zoom,
		"data_validation": c.dataValidation,
		"row_props":       c.rowProps,
		"col_props":       c.colProps,
		"filter":          c.filter,
		"pivot_table":     c.pivotTable,
		"check_cell":      c.checkCell,
	}
}

// compareTable checks the rules in order, up to the first that does not hold.
func compareTable(ctx context.Context, result, expected tasks.Value, options tasks.Params, of defect.Set) (tasks.Score, error) {
	rules, err := options.Maps("rules")
	if err != nil {
		return tasks.Score{}, fmt.Errorf("compare_table: %w", err)
	}
	c := &comparison{Set: of}
	known := c.checks()
	for i, r := range rules {
		if kind, err := r.Text("type"); err != nil || known[kind] == nil {
			return tasks.Score{}, fmt.Errorf("compare_table: rule %d: type %.40q is unknown", i+1, fmt.Sprint(r["type"]))
		}
	}
	if len(rules) == 0 {
		return tasks.Score{}, errors.New("compare_table: the task gives no rules")
	}
	if expected != nil {
		path, err := tasks.OneFile(expected)
		if err != nil {
			return tasks.Score{}, fmt.Errorf("compare_table: expected: %w", err)
		}
		if c.expected, err = xlsx.Open(path, "expected workbook"); err != nil {
			return tasks.Score{}, fmt.Errorf("compare_table: expected: %w", err)
		}
		defer c.expected.Close()
	}
	path, err := tasks.OneFile(result)
	if err != nil {
		return tasks.No("result: " + err.Error()), nil
	}
	if c.result, err = xlsx.Open(path, "result"); err != nil {
		return tasks.No("result: " + err.Error()), nil
	}
	defer c.result.Close()
	for i, r := range rules {
		kind, _ := r.Text("type")
		why, err := known[kind](ctx, r)
		if bad, ok := errors.AsType[*xlsx.Error](err); ok && bad.Book == c.result {
			why, err = bad.Error(), nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return tasks.Score{}, fmt.Errorf("compare_table: rule %d, %s: %w", i+1, kind, err)
		}
		if why != "" {
			return tasks.No(fmt.Sprintf("rule %d, %s: %s", i+1, kind, why)), nil
		}
	}
	return tasks.Yes(), nil
}

// A sheetRef is a sheet that a rule names.
type sheetRef struct {
	book *xlsx.Book
	name string
}

// sheet reads the reference to a sheet: a number or RI0 for the result's first,
// RNname for its sheet of that name, EI0 and ENname for the expected workbook.
// Numbers below 0 count from the end.
func (c *comparison) sheet(rule tasks.Params, name string) (sheetRef, error) {
	text, err := rule.Text(name)
	if err != nil || text == "" {
		return sheetRef{}, fmt.Errorf("%s: no sheet is named", name)
	}
	if _, number := rule[name].(string); !number {
		text = "RI" + text
	}
	if len(text) < 2 || !slices.Contains([]string{"RI", "RN", "EI", "EN"}, text[:2]) {
		return sheetRef{}, fmt.Errorf("%s: %.40q is not 0, RI0, RNname, EI0 or ENname", name, text)
	}
	b := c.result
	if text[0] == 'E' {
		b = c.expected
	}
	if b == nil {
		return sheetRef{}, fmt.Errorf("%s: %.40q is of the expected workbook, but the task gives none", name, text)
	}
	if text[1] == 'N' {
		return sheetRef{b, text[2:]}, nil
	}
	i, err := strconv.Atoi(text[2:])
	if err != nil {
		return sheetRef{}, fmt.Errorf("%s: %.40q is not a number", name, text[2:])
	}
	if i < 0 {
		i += len(b.Sheets)
	}
	if i < 0 || i >= len(b.Sheets) {
		return sheetRef{}, b.Errorf("the %s has %d sheets: there is no number %s", b.Called, len(b.Sheets), text[2:])
	}
	return sheetRef{b, b.Sheets[i].Name}, nil
}

// one returns the sheet that a rule checks.
func (c *comparison) one(rule tasks.Params) (*xlsx.Sheet, error) {
	p, err := c.sheet(rule, "sheet_idx")
	if err != nil {
		return nil, err
	}
	return p.book.Sheet(p.name)
}

// two returns the sheets that a rule compares.
func (c *comparison) two(rule tasks.Params) (a, b *xlsx.Sheet, err error) {
	p, q, err := c.sheets(rule)
	if err != nil {
		return nil, nil, err
	}
	if b, err = q.book.Sheet(q.name); err != nil {
		return nil, nil, err
	}
	a, err = p.book.Sheet(p.name)
	return a, b, err
}

func (c *comparison) sheets(rule tasks.Params) (p, q sheetRef, err error) {
	if q, err = c.sheet(rule, "sheet_idx1"); err != nil {
		return p, q, err
	}
	p, err = c.sheet(rule, "sheet_idx0")
	return p, q, err
}

// lenient is two, but a sheet that is absent may be nil.
func (c *comparison) lenient(rule tasks.Params) (a, b *xlsx.Sheet, err error) {
	if !c.Has(absentSheets) {
		return c.two(rule)
	}
	p, q, err := c.sheets(rule)
	if err != nil {
		return nil, nil, err
	}
	if q.book.Index(q.name) >= 0 {
		if b, err = q.book.Sheet(q.name); err != nil {
			return nil, nil, err
		}
	}
	if p.book.Index(p.name) >= 0 {
		a, err = p.book.Sheet(p.name)
	}
	return a, b, err
}

func (c *comparison) sheetName(_ context.Context, _ tasks.Params) (string, error) {
	if c.expected == nil {
		return "", errors.New("the task gives no expected workbook")
	}
	got, want := c.result.SheetNames(), c.expected.SheetNames()
	if !slices.Equal(got, want) {
		return fmt.Sprintf("the sheets are %.300q, expected %.300q", got, want), nil
	}
	return "", nil
}

// pair names the two sheets of a comparison.
func pair(a, b *xlsx.Sheet) string {
	if a.Name == b.Name {
		return fmt.Sprintf("sheet %.60q", a.Name)
	}
	return fmt.Sprintf("sheets %.60q and %.60q", a.Name, b.Name)
}

// sheetData compares the data of two sheets.
func (c *comparison) sheetData(_ context.Context, rule tasks.Params) (string, error) {
	precision := 4.0
	if rule.Has("precision") {
		var err error
		if precision, err = rule.Number("precision"); err != nil {
			return "", err
		}
	}
	if precision != float64(int(precision)) || precision < -300 || precision > 300 {
		return "", fmt.Errorf("precision: %v is not a number of decimals", precision)
	}
	ignoreCase, err := rule.Bool("ignore_case")
	if err != nil {
		return "", err
	}
	a, b, err := c.two(rule)
	if err != nil {
		return "", err
	}
	want, err := b.Frame()
	if err != nil {
		return "", err
	}
	got, err := a.Frame()
	if err != nil {
		return "", err
	}
	for _, f := range []*xlsx.Frame{got, want} {
		f.Round(int(precision), !c.Has(mixedUnrounded))
		if ignoreCase && !c.Has(caseCounts) {
			f.Lower()
		}
	}
	if why := got.Differs(want); why != "" {
		return pair(a, b) + ": " + why, nil
	}
	return "", nil
}

// plainName makes a name comparable as the reference does: without accents, in lower
// case, and with a blank for anything that is neither an ASCII letter nor a digit.
func plainName(v any) string {
	if v == nil {
		return ""
	}
	var out strings.Builder
	for _, r := range strings.ToLower(norm.NFKD.String(xlsx.PyStr(v))) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			out.WriteRune(r)
		default:
			out.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// compareCities checks that cell i of column C, from row 2, contains the name i,
// or one of a list. Case, accents and punctuation do not count.
func compareCities(result, expected tasks.Value, of defect.Set) (tasks.Score, error) {
	const name = "compare_conference_city_in_order"
	m, ok := expected.(map[string]any)
	want, isList := m["expected"].([]any)
	if !ok || !isList {
		return tasks.Score{}, errors.New(name + `: expected wants {"expected": [a name or a list of names, …]}`)
	}
	rows := len(want)
	if of.Has(rows2To22) {
		rows = 21
	}
	got, err := cities(result, rows)
	if err != nil {
		return tasks.No("result: " + err.Error()), nil
	}
	for i := range rows {
		if i >= len(want) {
			return tasks.No(fmt.Sprintf("only %d cities are expected, and %d are read", len(want), rows)), nil
		}
		names, err := tasks.Params(map[string]any{"expected": want[i]}).Texts("expected")
		if err != nil {
			return tasks.Score{}, fmt.Errorf("%s: %w", name, err)
		}
		text := plainName(got[i])
		if !slices.ContainsFunc(names, func(n string) bool { n = plainName(n); return n != "" && strings.Contains(text, n) }) {
			return tasks.No(fmt.Sprintf("cell C%d is %s, expected one of %.200q", i+2, xlsx.Show(got[i], true), names)), nil
		}
	}
	return tasks.Yes(), nil
}

// cities reads column C of the active sheet from row 2.
func cities(result tasks.Value, rows int) ([]any, error) {
	path, err := tasks.OneFile(result)
	if err != nil {
		return nil, err
	}
	b, err := xlsx.Open(path, "result")
	if err != nil {
		return nil, err
	}
	defer b.Close()
	s, err := b.Sheet(b.Sheets[b.Active].Name)
	if err != nil {
		return nil, err
	}
	list := make([]any, rows)
	for i := range list {
		if list[i], err = s.Value(s.Cells[xlsx.Pos{Row: i + 2, Col: 3}]); err != nil {
			return nil, err
		}
	}
	return list, nil
}
