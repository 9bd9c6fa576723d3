package sheet

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"desktop-agent/tasks/office/xlsx"
)

// An evaluator calculates formulas over a copy of the stored values of a sheet, so
// that the formulas of other cells are not calculated.
type evaluator struct {
	sheet   *xlsx.Sheet
	file    *excelize.File
	scratch string // the cell that formulas are put into, beside the others
	work    int
	known   map[string]bool // what a formula gave
}

func (e *evaluator) close() {
	if e.file != nil {
		_ = e.file.Close()
	}
}

// copyName is the name of the sheet with the values.
const copyName = "Sheet1"

// start copies the values.
func (e *evaluator) start() error {
	last := e.sheet.Last
	if last.Row*last.Col > maxCopy || last.Col >= xlsx.MaxColumn {
		return fmt.Errorf("a table up to %v is too large to calculate with", last)
	}
	e.file, e.known, e.scratch = excelize.NewFile(), map[string]bool{}, xlsx.Pos{Row: 1, Col: last.Col + 1}.String()
	for p, at := range e.sheet.Cells {
		v, err := e.sheet.Value(at)
		if err != nil {
			return err
		}
		switch v := v.(type) {
		case nil:
			continue
		case xlsx.Moment: // as its serial number
			f, _ := strconv.ParseFloat(strings.TrimSpace(at.Raw), 64)
			err = e.file.SetCellValue(copyName, p.String(), f)
		case xlsx.Failed:
			err = e.file.SetCellFormula(copyName, p.String(), "NA()")
		default:
			err = e.file.SetCellValue(copyName, p.String(), v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// holds says whether a formula that is written for one cell is true for another.
func (e *evaluator) holds(formula string, from, at xlsx.Pos) (bool, error) {
	if e.file == nil {
		if err := e.start(); err != nil {
			return false, err
		}
	}
	text, size, err := shift(formula, from, at)
	if err != nil {
		return false, err
	}
	if active, ok := e.known[text]; ok {
		return active, nil
	}
	if e.work += size; e.work > maxWork {
		return false, errors.New("too much to calculate")
	}
	v, err := e.fold(formulaPart.FindAllString(text, -1))
	if err != nil {
		return false, err
	}
	f, number := xlsx.ParseNumber(v)
	active := v == "TRUE" || number && xlsx.ToFloat(f) != 0 // an error marks nothing
	e.known[text] = active
	return active, nil
}

// notAvailable is the error value: a formula that fails gives it.
const notAvailable = "NA()"

// fold calculates a formula from the inside: one function or pair of parentheses
// after the other becomes its value. The library is not sure of functions that
// stand in operands of functions.
func (e *evaluator) fold(parts []string) (string, error) {
	for {
		first, last := innermost(parts)
		if last < 0 {
			return e.literal(strings.Join(parts, ""), false)
		}
		inside := parts[first+1 : last]
		if err := scalar(inside); err != nil {
			return "", err
		}
		text, isText := strings.Join(inside, ""), false
		if first > 0 && isWord(parts[first-1]) {
			first--
			text = parts[first] + "(" + text + ")"
			isText = strings.Contains(textFunctions, " "+strings.ToUpper(parts[first])+" ")
		}
		v, err := e.literal(text, isText)
		if err != nil {
			return "", err
		}
		parts = slices.Concat(parts[:first], []string{v}, parts[last+1:])
	}
}

// innermost finds the first parentheses that have none inside; -1 if there are
// none.
func innermost(parts []string) (first, last int) {
	for i, part := range parts {
		switch part {
		case "(":
			first = i
		case ")":
			return first, i
		}
	}
	return 0, -1
}

// scalar refuses operations on ranges, such as A1:A9="x".
func scalar(parts []string) error {
	start := 0
	for i := 0; i <= len(parts); i++ {
		if i < len(parts) && parts[i] != "," {
			continue
		}
		arg := slices.DeleteFunc(slices.Clone(parts[start:i]), func(s string) bool { return strings.TrimSpace(s) == "" })
		if slices.Contains(arg, ":") && len(arg) != 3 {
			return errors.New("calculations with whole ranges are not done")
		}
		start = i + 1
	}
	return nil
}

// textFunctions give a text even if it looks like a number.
const textFunctions = " CONCAT CONCATENATE LEFT LOWER MID PROPER RIGHT TEXT TRIM UPPER "

// literal calculates a part of a formula and writes its value as a formula has it.
func (e *evaluator) literal(text string, isText bool) (string, error) {
	v, err := e.calculate(text)
	if errors.Is(err, errPanic) {
		return "", err
	}
	if err != nil || strings.HasPrefix(v, "#") {
		return notAvailable, nil
	}
	if _, ok := xlsx.ParseNumber(v); !isText && (ok || v == "TRUE" || v == "FALSE") {
		return v, nil
	}
	return `"` + strings.ReplaceAll(v, `"`, `""`) + `"`, nil
}

// errPanic says that the library could not cope with a formula.
var errPanic = errors.New("the formula cannot be calculated")

// calculate runs a library on what may be hostile: its panics end here.
func (e *evaluator) calculate(formula string) (v string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errPanic, r)
		}
	}()
	if err := e.file.SetCellFormula(copyName, e.scratch, formula); err != nil {
		return "", err
	}
	return e.file.CalcCellValue(copyName, e.scratch, excelize.Options{RawCellValue: true, MaxCalcIterations: 1})
}

// formulaPart finds texts, quoted names, words, and signs.
var formulaPart = regexp.MustCompile(`"(?:[^"]|"")*"|'(?:[^']|'')*'|[A-Za-z_$\\][A-Za-z0-9_.$\\]*|\$?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|(?s:.)`)

var columnPattern = regexp.MustCompile(`^\$?[A-Za-z]{1,3}$`)

// shift moves the relative references of a formula from one cell to another. It
// returns the number of cells that the formula reads, and refuses what is
// unusual.
func shift(formula string, from, to xlsx.Pos) (string, int, error) {
	if len(formula) > maxFormula {
		return "", 0, fmt.Errorf("longer than %d bytes", maxFormula)
	}
	parts := formulaPart.FindAllString(formula, -1)
	var out strings.Builder
	size := 0
	var before *xlsx.Pos // the first cell of a range
	parts = here(parts, to)
	for i, part := range parts {
		next := ""
		if i+1 < len(parts) {
			next = parts[i+1]
		}
		switch p, isCell := xlsx.ParsePos(part); {
		case next == "(" && part[0] != '"' && isWord(part):
			if !strings.Contains(functions, " "+strings.ToUpper(part)+" ") {
				return "", 0, fmt.Errorf("the function %.40s is not calculated", part)
			}
		case next == "!" || part[0] == '\'' || part == "!":
			return "", 0, errors.New("references to other sheets are not calculated")
		case next == ":" && columnPattern.MatchString(part) || i > 0 && parts[i-1] == ":" && columnPattern.MatchString(part):
			return "", 0, errors.New("references to whole columns are not calculated")
		case isCell:
			p = shiftCell(part, p, from, to)
			if p.Row < 1 || p.Col < 1 || p.Row > xlsx.MaxRow || p.Col > xlsx.MaxColumn {
				return "", 0, errors.New("a reference leads off the sheet")
			}
			part = p.String()
			size++
			if i > 0 && parts[i-1] == ":" && before != nil {
				a := xlsx.Area{From: xlsx.Pos{Row: min(p.Row, before.Row), Col: min(p.Col, before.Col)}, To: xlsx.Pos{Row: max(p.Row, before.Row), Col: max(p.Col, before.Col)}}
				if size += a.Size(); a.Size() > maxRange {
					return "", 0, errors.New("a range is too large to calculate")
				}
			}
			before = &p
		}
		out.WriteString(part)
	}
	return out.String(), size, nil
}

// here replaces ROW() and COLUMN() by those of a cell.
func here(parts []string, p xlsx.Pos) []string {
	var out []string
	for i := 0; i < len(parts); i++ {
		word, number := strings.ToUpper(parts[i]), p.Row
		if word == "COLUMN" {
			number = p.Col
		}
		if (word == "ROW" || word == "COLUMN") && i+2 < len(parts) && parts[i+1] == "(" && parts[i+2] == ")" {
			out = append(out, strconv.Itoa(number))
			i += 2
			continue
		}
		out = append(out, parts[i])
	}
	return out
}

func isWord(s string) bool {
	return s[0] == '_' || s[0] >= 'A' && s[0] <= 'Z' || s[0] >= 'a' && s[0] <= 'z'
}

func shiftCell(text string, p, from, to xlsx.Pos) xlsx.Pos {
	if !strings.HasPrefix(text, "$") {
		p.Col += to.Col - from.Col
	}
	if !strings.Contains(text[1:], "$") {
		p.Row += to.Row - from.Row
	}
	return p
}
