package sheet

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"desktop-agent/tasks/office"
)

// A pos is the place of a cell, counted from 1.
type pos struct{ row, col int }

func (p pos) String() string { return columnName(p.col) + strconv.Itoa(p.row) }

func (p pos) compare(q pos) int { return cmp.Or(p.row-q.row, p.col-q.col) }

// columnName returns the letters of a column.
func columnName(col int) string {
	name := ""
	for ; col > 0; col = (col - 1) / 26 {
		name = string(rune('A'+(col-1)%26)) + name
	}
	return name
}

var cellPattern = regexp.MustCompile(`^\$?([A-Za-z]{1,3})\$?([0-9]{1,7})$`)

// parsePos reads "B3", also "$B$3".
func parsePos(s string) (pos, bool) {
	m := cellPattern.FindStringSubmatch(s)
	if m == nil {
		return pos{}, false
	}
	p := pos{col: columnNumber(m[1])}
	p.row, _ = strconv.Atoi(m[2])
	return p, p.row >= 1 && p.row <= maxRow && p.col <= maxColumn
}

func columnNumber(letters string) (n int) {
	for _, c := range strings.ToUpper(letters) {
		n = n*26 + int(c-'A') + 1
	}
	return n
}

// An area is a rectangle of cells, its corners included.
type area struct{ from, to pos }

// parseAreas reads "A1:B6 C2".
func parseAreas(s string) ([]area, error) {
	var list []area
	for _, f := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' }) {
		first, last, ok := strings.Cut(f, ":")
		if !ok {
			last = first
		}
		from, ok1 := parsePos(first)
		to, ok2 := parsePos(last)
		if !ok1 || !ok2 || to.row < from.row || to.col < from.col {
			return nil, fmt.Errorf("%.40q is not a range such as A1:B6", f)
		}
		list = append(list, area{from, to})
	}
	return list, nil
}

func (a area) size() int { return (a.to.row - a.from.row + 1) * (a.to.col - a.from.col + 1) }

// cells calls do with each cell, row by row, as long as it returns true.
func (a area) cells(do func(pos) bool) bool {
	for row := a.from.row; row <= a.to.row; row++ {
		for col := a.from.col; col <= a.to.col; col++ {
			if !do(pos{row, col}) {
				return false
			}
		}
	}
	return true
}

// A cell is a cell as the file has it.
type cell struct {
	kind    string // the type: "n", "s", "str", "b", "e", "d" or "inlineStr"
	raw     string // the stored value
	filled  bool   // there is a stored value
	style   int    // index in the list of formats
	formula bool
	inline  sharedText
}

// A sheet is a table of a workbook.
type sheet struct {
	book   *book
	name   string
	part   string
	cells  map[pos]cell
	last   pos                     // the last row and the last column that have a cell
	rows   map[int]*office.Node    // attributes of rows
	other  map[string]*office.Node // what stands beside the data, such as cols
	lists  []*office.Node          // conditionalFormatting, in order
	linked map[pos]*office.Node    // hyperlinks, nil before they are asked for
}

// sheet reads a sheet.
func (b *book) sheet(name string) (*sheet, error) {
	i := b.index(name)
	if i < 0 {
		return nil, b.errorf("the %s has no sheet %.60q, but %.200q", b.side(), name, b.sheetNames())
	}
	return b.sheetPart(name, b.sheets[i].part)
}

// side says whose workbook it is.
func (b *book) side() string {
	if b.result {
		return "result"
	}
	return "expected workbook"
}

func (b *book) sheetPart(name, part string) (*sheet, error) {
	if s := b.loaded[part]; s != nil {
		named := *s
		named.name = name
		return &named, nil
	}
	s := &sheet{book: b, name: name, part: part, cells: map[pos]cell{}, rows: map[int]*office.Node{}, other: map[string]*office.Node{}}
	err := s.read(part)
	if err != nil {
		return nil, b.errorf("sheet %.60q of the %s cannot be read: %w", name, b.side(), err)
	}
	b.loaded[part] = s
	return s, nil
}

// read reads the part of a sheet row by row.
func (s *sheet) read(part string) error {
	row := 0
	return s.book.archive.Each(part, "sheetData", func(n *office.Node, inTable bool) (err error) {
		if inTable && n.Is("row") {
			row, err = s.parseRow(n, row)
			return err
		}
		s.keep(n)
		return nil
	})
}

func (s *sheet) keep(n *office.Node) {
	switch name := n.Local(); {
	case name == "conditionalFormatting":
		s.lists = append(s.lists, n)
	case s.other[name] == nil:
		s.other[name] = n
	}
}

// parseRow reads a row, which follows the row before if it has no number.
func (s *sheet) parseRow(n *office.Node, before int) (int, error) {
	row := before + 1
	if r, ok := n.Lookup("r"); ok {
		f, err := strconv.ParseFloat(r, 64)
		if err != nil || f != math.Trunc(f) {
			return 0, fmt.Errorf("%.20q is not the number of a row", r)
		}
		row = int(f)
	}
	if row < 1 || row > maxRow {
		return 0, fmt.Errorf("there is no row %d", row)
	}
	col := 0
	for c := range n.All("c") {
		at := pos{row, col + 1}
		if r, ok := c.Lookup("r"); ok {
			if at, ok = parsePos(r); !ok {
				return 0, fmt.Errorf("%.20q is not a cell", r)
			}
		}
		col = at.col
		if at.col > maxColumn || len(s.cells) >= maxCells {
			return 0, errors.New("too many cells")
		}
		s.cells[at] = parseCell(c)
		s.last = pos{max(s.last.row, at.row), max(s.last.col, at.col)}
	}
	n.Kids = nil
	s.rows[row] = n
	return row, nil
}

func parseCell(n *office.Node) cell {
	c := cell{kind: "n", formula: n.Child("f") != nil}
	if t, ok := n.Lookup("t"); ok {
		c.kind = t
	}
	c.style, _ = strconv.Atoi(n.Attr("s"))
	if c.kind == "inlineStr" {
		if is := n.Child("is"); is != nil {
			c.inline, c.filled = runs(is), true
		}
	} else if raw := n.Child("v").Content(); raw != "" {
		c.raw, c.filled = raw, true
	}
	return c
}

// A moment is a date, a time of the day or a span of time.
type moment struct {
	kind string // "datetime", "time" or "timedelta"
	ms   int64  // since 1 Jan 1970, midnight or the beginning
}

func (m moment) String() string {
	t := time.UnixMilli(m.ms).UTC()
	switch m.kind {
	case "datetime":
		return pyTime(t, "2006-01-02 15:04:05")
	case "time":
		return pyTime(t, "15:04:05")
	}
	days, rest := m.ms/86400_000, m.ms%86400_000
	if rest < 0 {
		days, rest = days-1, rest+86400_000
	}
	return fmt.Sprintf("%d days %s", days, pyTime(time.UnixMilli(rest).UTC(), "15:04:05"))
}

func pyTime(t time.Time, layout string) string {
	if t.Nanosecond() != 0 {
		layout += ".000000"
	}
	return t.Format(layout)
}

// A failed is an error value such as #N/A, which reads as "not a number".
type failed string

// value returns what a cell holds: nil, int64, float64, bool, string, moment or
// failed. A number without a fraction is whole, however it is written.
func (s *sheet) value(c cell) (any, error) {
	if !c.filled {
		return nil, nil
	}
	switch c.kind {
	case "n":
		return s.number(c)
	case "s":
		i, err := strconv.Atoi(c.raw)
		if err != nil || i < 0 || i >= len(s.book.texts) {
			return nil, fmt.Errorf("there is no text %.20q", c.raw)
		}
		return s.book.texts[i].all, nil
	case "b":
		return c.raw == "1" || c.raw == "true", nil
	case "e":
		return failed(c.raw), nil
	case "d":
		for _, layout := range []string{"2006-01-02T15:04:05.999Z07:00", "2006-01-02T15:04:05.999", "2006-01-02"} {
			if t, err := time.Parse(layout, c.raw); err == nil {
				return moment{"datetime", t.UnixMilli()}, nil
			}
		}
		return nil, fmt.Errorf("%.40q is not a date", c.raw)
	case "inlineStr":
		return c.inline.all, nil
	}
	return c.raw, nil
}

func (s *sheet) number(c cell) (any, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(c.raw), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return nil, fmt.Errorf("%.40q is not a number", c.raw)
	}
	if s.book.styles.isDate(c.style) {
		return s.date(f, s.book.styles.isSpan(c.style)), nil
	}
	if i, err := strconv.ParseInt(strings.TrimSpace(c.raw), 10, 64); err == nil {
		return i, nil
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<63 {
		return int64(f), nil
	}
	return f, nil
}

// date reads a serial number of days. Before 1 March 1900 they are off by one,
// since the format has a 29 February 1900.
func (s *sheet) date(days float64, span bool) any {
	const dayMs = 86400_000
	if math.IsNaN(days) || math.Abs(days) > 4e6 {
		return failed("#VALUE!")
	}
	if span {
		return moment{"timedelta", int64(math.RoundToEven(days * dayMs))}
	}
	whole := math.Floor(days)
	ms := int64(math.RoundToEven((days - whole) * dayMs))
	if days >= 0 && days < 1 && ms < dayMs {
		return moment{"time", ms}
	}
	epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	if s.book.date1904 {
		epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	} else if days > 0 && days < 60 {
		whole++
	}
	t := epoch.UnixMilli() + int64(whole)*dayMs + ms
	if y := time.UnixMilli(t).UTC().Year(); y < 1 || y > 9999 {
		return failed("#VALUE!")
	}
	return moment{"datetime", t}
}

// positions returns the places of the cells, row by row.
func (s *sheet) positions() []pos {
	list := make([]pos, 0, len(s.cells))
	for p := range s.cells {
		list = append(list, p)
	}
	slices.SortFunc(list, pos.compare)
	return list
}
