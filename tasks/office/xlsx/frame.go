package xlsx

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// A Frame is a sheet as pandas.read_excel makes it: a header and columns of one
// type each.
type Frame struct {
	sheet   string
	headers []any
	columns []column
	rows    int // below the header
}

// A column's kind is "int64", "float64", "bool" or "object". A value is nil (not
// a number, or blank), int64, float64, bool, string or [Moment]. Columns of dates
// are objects here: what else they hold tells them from others.
type column struct {
	kind   string
	values []any
}

// blanks are the texts that stand for nothing.
var blanks = map[string]bool{
	"-1.#IND": true, "1.#QNAN": true, "1.#IND": true, "-1.#QNAN": true, "#N/A N/A": true, "#N/A": true,
	"N/A": true, "n/a": true, "NA": true, "<NA>": true, "#NA": true, "NULL": true, "null": true,
	"NaN": true, "-NaN": true, "nan": true, "-nan": true, "None": true, "": true,
}

// Frame reads a sheet as a table.
func (s *Sheet) Frame() (*Frame, error) {
	grid, err := s.grid()
	if err != nil {
		return nil, s.Book.Errorf("sheet %.60q of the %s: %w", s.Name, s.Book.Called, err)
	}
	f := &Frame{sheet: s.Name}
	if len(grid) == 0 {
		return f, nil
	}
	f.headers = header(grid[0])
	f.rows = len(grid) - 1
	for c := range f.headers {
		values := make([]any, f.rows)
		for r, row := range grid[1:] {
			values[r] = row[c]
		}
		f.columns = append(f.columns, infer(values))
	}
	return f, nil
}

// grid returns the cells from A1 to the last filled row and column. Blank cells
// are "".
func (s *Sheet) grid() ([][]any, error) {
	filled, last := map[Pos]any{}, Pos{}
	for p, c := range s.Cells {
		v, err := s.Value(c)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", p, err)
		}
		if v == nil || v == "" {
			continue
		}
		if _, bad := v.(Failed); bad {
			v = nil
		}
		filled[p] = v
		last = Pos{max(last.Row, p.Row), max(last.Col, p.Col)}
	}
	if last.Row*last.Col > maxGrid {
		return nil, fmt.Errorf("a table up to %v is too large to compare", last)
	}
	grid := make([][]any, last.Row)
	for r := range grid {
		grid[r] = make([]any, last.Col)
		for c := range grid[r] {
			v, ok := filled[Pos{r + 1, c + 1}]
			if !ok {
				v = ""
			}
			grid[r][c] = v
		}
	}
	return grid, nil
}

// header names blank columns "Unnamed: 3" and numbers equal names. Names that
// the sheet gives come before made ones.
func header(row []any) []any {
	names := make([]any, len(row))
	var order, unnamed []int
	there := map[any]bool{}
	for i, v := range row {
		names[i] = v
		if v == "" {
			names[i] = "Unnamed: " + strconv.Itoa(i)
			unnamed = append(unnamed, i)
		} else {
			order = append(order, i)
		}
		there[key(names[i])] = true
	}
	counts := map[any]int{}
	for _, i := range append(order, unnamed...) {
		old, name := names[i], names[i]
		n := counts[key(name)]
		for n > 0 {
			counts[key(old)] = n + 1
			name = fmt.Sprintf("%s.%d", PyStr(old), n)
			if there[name] {
				n++
			} else {
				n = counts[name]
			}
		}
		delete(there, key(names[i]))
		names[i] = name
		there[key(name)] = true
		counts[key(name)] = n + 1
	}
	return names
}

// key makes values that Python calls equal the same: 1, 1.0 and true.
func key(v any) any {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case bool:
		if v {
			return 1.0
		}
		return 0.0
	}
	return v
}

var numberText = regexp.MustCompile(`^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$`)

// ParseNumber reads a text that is a number, as int64 or float64.
func ParseNumber(text string) (any, bool) {
	text = strings.Trim(text, " \t\n\v\f\r")
	switch strings.ToLower(text) {
	case "inf", "+inf", "infinity", "+infinity":
		return math.Inf(1), true
	case "-inf", "-infinity":
		return math.Inf(-1), true
	}
	if !numberText.MatchString(text) {
		return nil, false
	}
	if !strings.ContainsAny(text, ".eE") {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return i, true
		}
	}
	f, _ := strconv.ParseFloat(text, 64)
	return f, true
}

// infer gives a column its type: numbers if all are, also as text; else truth
// values if all are; else what they are.
func infer(values []any) column {
	if len(values) == 0 {
		return column{"object", values}
	}
	if c, ok := numbers(values); ok {
		return c
	}
	clean := make([]any, len(values))
	for i, v := range values {
		clean[i] = v
		if text, ok := v.(string); ok && blanks[text] {
			clean[i] = nil
		}
	}
	if truths, gap, ok := truthValues(clean); ok {
		if gap {
			return column{"object", truths}
		}
		return column{"bool", truths}
	}
	return column{"object", clean}
}

func numbers(values []any) (column, bool) {
	out := make([]any, len(values))
	var null, whole, fraction bool
	for i, v := range values {
		if text, ok := v.(string); ok {
			if blanks[text] {
				v = nil
			} else if v, ok = ParseNumber(text); !ok {
				return column{}, false
			}
		}
		switch v := v.(type) {
		case nil:
			null = true
		case int64:
			whole = true
		case float64:
			fraction = true
			if math.IsNaN(v) {
				null = true
			}
		case bool:
		default:
			return column{}, false
		}
		out[i] = v
	}
	switch {
	case null || fraction:
		for i, v := range out {
			if out[i] = ToFloat(v); v == nil || math.IsNaN(out[i].(float64)) {
				out[i] = nil
			}
		}
		return column{"float64", out}, true
	case whole:
		for i, v := range out {
			if b, ok := v.(bool); ok {
				out[i] = int64(key(b).(float64))
			}
		}
		return column{"int64", out}, true
	}
	return column{"bool", out}, true
}

func ToFloat(v any) float64 {
	if f, ok := key(v).(float64); ok {
		return f
	}
	return math.NaN()
}

// truthValues reads truth values, also as text, and says whether some are absent.
func truthValues(values []any) (out []any, gap, ok bool) {
	out = make([]any, len(values))
	for i, v := range values {
		switch v {
		case true, "True", "TRUE", "true":
			out[i] = true
		case false, "False", "FALSE", "false":
			out[i] = false
		case nil:
			gap = true
		default:
			return nil, false, false
		}
	}
	return out, gap, true
}

// Round rounds numbers to a number of decimals, in columns of objects too if
// mixed is set.
func (f *Frame) Round(decimals int, mixed bool) {
	for _, c := range f.columns {
		if c.kind == "bool" || c.kind == "object" && !mixed {
			continue
		}
		for i, v := range c.values {
			switch v := v.(type) {
			case float64:
				c.values[i] = roundTo(v, decimals)
			case int64:
				if decimals < 0 {
					c.values[i] = int64(roundTo(float64(v), decimals))
				}
			}
		}
	}
}

// roundTo rounds half to even, as NumPy does.
func roundTo(f float64, decimals int) float64 {
	scale := math.Pow10(max(decimals, -decimals))
	r := math.RoundToEven(f*scale) / scale
	if decimals < 0 {
		r = math.RoundToEven(f/scale) * scale
	}
	if math.IsInf(r, 0) || math.IsNaN(r) {
		return f
	}
	return r
}

// Lower makes all texts lower case.
func (f *Frame) Lower() {
	for i, h := range f.headers {
		if text, ok := h.(string); ok {
			f.headers[i] = strings.ToLower(text)
		}
	}
	for _, c := range f.columns {
		for i, v := range c.values {
			if text, ok := v.(string); ok {
				c.values[i] = strings.ToLower(text)
			}
		}
	}
}

// Differs says where a frame first differs from another, or "".
func (f *Frame) Differs(g *Frame) string {
	for i := range max(len(f.headers), len(g.headers)) {
		a, b := at(f.headers, i), at(g.headers, i)
		if i >= len(f.headers) || i >= len(g.headers) || key(a) != key(b) {
			return fmt.Sprintf("the header of column %s is %s, expected %s", ColumnName(i+1), Show(a, i < len(f.headers)), Show(b, i < len(g.headers)))
		}
	}
	for i, c := range f.columns {
		d := g.columns[i]
		for r := range max(len(c.values), len(d.values)) {
			a, b := at(c.values, r), at(d.values, r)
			if r < len(c.values) && r < len(d.values) && key(a) == key(b) {
				continue
			}
			return fmt.Sprintf("cell %v is %s, expected %s", Pos{r + 2, i + 1}, Show(a, r < len(c.values)), Show(b, r < len(d.values)))
		}
		if c.kind != d.kind {
			return fmt.Sprintf("column %s (%s) is of type %s, expected %s", ColumnName(i+1), PyStr(f.headers[i]), c.kind, d.kind)
		}
	}
	return ""
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// Show writes a value for the report.
func Show(v any, there bool) string {
	switch v := v.(type) {
	case nil:
		if !there {
			return "not there"
		}
		return "blank"
	case string:
		return fmt.Sprintf("%.80q", v)
	}
	return PyStr(v)
}

// PyStr writes a value as Python's str does.
func PyStr(v any) string {
	switch v := v.(type) {
	case nil:
		return "nan"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case float64:
		return pyFloat(v)
	case Failed:
		return string(v)
	}
	return fmt.Sprint(v)
}

// pyFloat writes a number as Python's repr does.
func pyFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+"))
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// LastRow returns the last row of the first sheet of a workbook as texts, the way
// pandas writes them: a blank is "nan", and whole numbers have ".0" if the row
// holds nothing but numbers and one of them is a fraction or blank. A file
// that is missing, damaged or not a workbook, or a table without rows, is an
// error.
func LastRow(path string) ([]string, error) {
	b, err := Open(path, "workbook")
	if err != nil {
		return nil, err
	}
	defer b.Close()
	s, err := b.Sheet(b.Sheets[0].Name)
	if err != nil {
		return nil, err
	}
	f, err := s.Frame()
	if err != nil {
		return nil, err
	}
	if f.rows == 0 {
		return nil, fmt.Errorf("sheet %.60q has no row below its header", s.Name)
	}
	return f.lastRow(), nil
}

func (f *Frame) lastRow() []string {
	onlyNumbers, fractions, dates, midnight := true, false, true, true
	for _, c := range f.columns {
		onlyNumbers = onlyNumbers && (c.kind == "int64" || c.kind == "float64")
		fractions = fractions || c.kind == "float64"
		m, _ := c.values[f.rows-1].(Moment)
		dates = dates && isDates(c)
		midnight = midnight && m.ms%86400_000 == 0
	}
	texts := make([]string, len(f.columns))
	for i, c := range f.columns {
		v := c.values[f.rows-1]
		texts[i] = PyStr(v)
		if whole, ok := v.(int64); ok && onlyNumbers && fractions {
			texts[i] = pyFloat(float64(whole))
		}
		if v == nil && isDates(c) {
			texts[i] = "NaT"
		}
		if dates && midnight {
			texts[i] = strings.TrimSuffix(texts[i], " 00:00:00")
		}
	}
	return texts
}

func isDates(c column) bool {
	some := false
	for _, v := range c.values {
		m, ok := v.(Moment)
		if v != nil && (!ok || m.kind != "datetime") {
			return false
		}
		some = some || ok
	}
	return some
}
