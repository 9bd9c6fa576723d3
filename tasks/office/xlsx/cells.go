package xlsx

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"desktop-agent/tasks/office"
)

// A Pos is the place of a cell, counted from 1.
type Pos struct{ Row, Col int }

func (p Pos) String() string { return ColumnName(p.Col) + strconv.Itoa(p.Row) }

// Compare orders cells row by row.
func (p Pos) Compare(q Pos) int { return cmp.Or(p.Row-q.Row, p.Col-q.Col) }

// ColumnName returns the letters of a column.
func ColumnName(col int) string {
	name := ""
	for ; col > 0; col = (col - 1) / 26 {
		name = string(rune('A'+(col-1)%26)) + name
	}
	return name
}

var cellPattern = regexp.MustCompile(`^\$?([A-Za-z]{1,3})\$?([0-9]{1,7})$`)

// ParsePos reads "B3", also "$B$3".
func ParsePos(s string) (Pos, bool) {
	m := cellPattern.FindStringSubmatch(s)
	if m == nil {
		return Pos{}, false
	}
	p := Pos{Col: columnNumber(m[1])}
	p.Row, _ = strconv.Atoi(m[2])
	return p, p.Row >= 1 && p.Row <= MaxRow && p.Col <= MaxColumn
}

func columnNumber(letters string) (n int) {
	for _, c := range strings.ToUpper(letters) {
		n = n*26 + int(c-'A') + 1
	}
	return n
}

// An Area is a rectangle of cells, its corners included.
type Area struct{ From, To Pos }

// ParseAreas reads "A1:B6 C2".
func ParseAreas(s string) ([]Area, error) {
	var list []Area
	for _, f := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' }) {
		first, last, ok := strings.Cut(f, ":")
		if !ok {
			last = first
		}
		from, ok1 := ParsePos(first)
		to, ok2 := ParsePos(last)
		if !ok1 || !ok2 || to.Row < from.Row || to.Col < from.Col {
			return nil, fmt.Errorf("%.40q is not a range such as A1:B6", f)
		}
		list = append(list, Area{from, to})
	}
	return list, nil
}

// Size returns how many cells an area has.
func (a Area) Size() int { return (a.To.Row - a.From.Row + 1) * (a.To.Col - a.From.Col + 1) }

// has reports whether a cell is in an area.
func (a Area) has(p Pos) bool {
	return p.Row >= a.From.Row && p.Row <= a.To.Row && p.Col >= a.From.Col && p.Col <= a.To.Col
}

// Cells calls do with each cell, row by row, as long as it returns true.
func (a Area) Cells(do func(Pos) bool) bool {
	for row := a.From.Row; row <= a.To.Row; row++ {
		for col := a.From.Col; col <= a.To.Col; col++ {
			if !do(Pos{row, col}) {
				return false
			}
		}
	}
	return true
}

// A Cell is a cell as the file has it.
type Cell struct {
	Kind    string // the type: "n", "s", "str", "b", "e", "d" or "inlineStr"
	Raw     string // the stored value
	Filled  bool   // there is a stored value
	Style   int    // index in the list of formats
	Formula bool   // the value is that of a formula
	Inline  SharedText
}

// A Sheet is a table of a workbook.
type Sheet struct {
	Book        *Book
	Name        string
	Part        string // of the archive
	Cells       map[Pos]Cell
	Last        Pos                     // the last row and the last column that have a cell
	Rows        map[int]*office.Node    // attributes of rows, by number
	Other       map[string]*office.Node // what stands beside the data, by name, such as cols
	Conditional []*office.Node          // conditionalFormatting, in order
	linked      map[Pos]*office.Node    // hyperlinks, nil before they are asked for
	merged      *mergedCells            // nil before it is asked for
}

// Sheet reads a sheet.
func (b *Book) Sheet(name string) (*Sheet, error) {
	i := b.Index(name)
	if i < 0 {
		return nil, b.Errorf("the %s has no sheet %.60q, but %.200q", b.Called, name, b.SheetNames())
	}
	return b.SheetPart(name, b.Sheets[i].part)
}

// SheetPart reads a sheet from a part, and gives it a name.
func (b *Book) SheetPart(name, part string) (*Sheet, error) {
	if s := b.loaded[part]; s != nil {
		named := *s
		named.Name = name
		return &named, nil
	}
	s := &Sheet{Book: b, Name: name, Part: part, Cells: map[Pos]Cell{}, Rows: map[int]*office.Node{}, Other: map[string]*office.Node{}}
	err := s.read(part)
	if err != nil {
		return nil, b.Errorf("sheet %.60q of the %s cannot be read: %w", name, b.Called, err)
	}
	b.loaded[part] = s
	return s, nil
}

// read reads the part of a sheet row by row.
func (s *Sheet) read(part string) error {
	row := 0
	return s.Book.Archive.Each(part, "sheetData", func(n *office.Node, inTable bool) (err error) {
		if inTable && n.Is("row") {
			row, err = s.parseRow(n, row)
			return err
		}
		s.keep(n)
		return nil
	})
}

func (s *Sheet) keep(n *office.Node) {
	switch name := n.Local(); {
	case name == "conditionalFormatting":
		s.Conditional = append(s.Conditional, n)
	case s.Other[name] == nil:
		s.Other[name] = n
	}
}

// parseRow reads a row, which follows the row before if it has no number.
func (s *Sheet) parseRow(n *office.Node, before int) (int, error) {
	row := before + 1
	if r, ok := n.Lookup("r"); ok {
		f, err := strconv.ParseFloat(r, 64)
		if err != nil || f != math.Trunc(f) {
			return 0, fmt.Errorf("%.20q is not the number of a row", r)
		}
		row = int(f)
	}
	if row < 1 || row > MaxRow {
		return 0, fmt.Errorf("there is no row %d", row)
	}
	col := 0
	for c := range n.All("c") {
		at := Pos{row, col + 1}
		if r, ok := c.Lookup("r"); ok {
			if at, ok = ParsePos(r); !ok {
				return 0, fmt.Errorf("%.20q is not a cell", r)
			}
		}
		col = at.Col
		if at.Col > MaxColumn || len(s.Cells) >= maxCells {
			return 0, errors.New("too many cells")
		}
		s.Cells[at] = parseCell(c)
		s.Last = Pos{max(s.Last.Row, at.Row), max(s.Last.Col, at.Col)}
	}
	n.Kids = nil
	s.Rows[row] = n
	return row, nil
}

func parseCell(n *office.Node) Cell {
	c := Cell{Kind: "n", Formula: n.Child("f") != nil}
	if t, ok := n.Lookup("t"); ok {
		c.Kind = t
	}
	c.Style, _ = strconv.Atoi(n.Attr("s"))
	if c.Kind == "inlineStr" {
		if is := n.Child("is"); is != nil {
			c.Inline, c.Filled = runs(is), true
		}
	} else if raw := n.Child("v").Content(); raw != "" {
		c.Raw, c.Filled = raw, true
	}
	return c
}

// Clamp cuts an area to a little more than the cells that are there.
func (s *Sheet) Clamp(a Area) Area {
	a.To = Pos{min(a.To.Row, max(s.Last.Row, a.From.Row)), min(a.To.Col, max(s.Last.Col, a.From.Col))}
	return a
}

// maxLinked is how many cells of a sheet may have hyperlinks.
const maxLinked = 200_000

// Hyperlinks returns the hyperlinks of a sheet by cell.
func (s *Sheet) Hyperlinks() map[Pos]*office.Node {
	if s.linked != nil {
		return s.linked
	}
	s.linked = map[Pos]*office.Node{}
	for h := range s.Other["hyperlinks"].All("hyperlink") {
		areas, err := ParseAreas(h.Attr("ref"))
		if err != nil {
			continue
		}
		for _, a := range areas {
			s.Clamp(a).Cells(func(p Pos) bool {
				if s.linked[p] == nil {
					s.linked[p] = h
				}
				return len(s.linked) < maxLinked
			})
		}
	}
	return s.linked
}

// maxCovered is how many cells of merged areas are remembered one by one.
const maxCovered = 200_000

// mergedCells are the areas of a sheet whose cells are one.
type mergedCells struct {
	areas   []Area
	covered map[Pos]bool // their cells without each first one, as many as are remembered
	whole   bool         // these are all
	last    Pos          // the last row and column of the sheet's cells and these areas
}

// Extent returns the last row and column that have a cell or a part of a merged one.
func (s *Sheet) Extent() Pos { return s.merges().last }

// Covered reports whether a cell is in a merged area and not its first one: it is
// not there to be seen.
func (s *Sheet) Covered(p Pos) bool {
	m := s.merges()
	if m.whole || m.covered[p] {
		return m.covered[p]
	}
	return slices.ContainsFunc(m.areas, func(a Area) bool { return p != a.From && a.has(p) })
}

// AllCovered returns the cells for which [Sheet.Covered] is true, in no order, up to
// a few hundred thousand.
func (s *Sheet) AllCovered() iter.Seq[Pos] { return maps.Keys(s.merges().covered) }

func (s *Sheet) merges() *mergedCells {
	if s.merged != nil {
		return s.merged
	}
	m := &mergedCells{covered: map[Pos]bool{}, whole: true, last: s.Last}
	s.merged = m
	for n := range s.Other["mergeCells"].All("mergeCell") {
		areas, err := ParseAreas(n.Attr("ref"))
		if err != nil {
			continue
		}
		m.areas = append(m.areas, areas...)
		for _, a := range areas {
			m.last = Pos{max(m.last.Row, a.To.Row), max(m.last.Col, a.To.Col)}
			m.whole = m.whole && a.Cells(func(p Pos) bool {
				if p != a.From {
					m.covered[p] = true
				}
				return len(m.covered) < maxCovered
			})
		}
	}
	return m
}

// A Moment is a date, a time of the day or a span of time.
type Moment struct {
	kind string // "datetime", "time" or "timedelta"
	ms   int64  // since 1 Jan 1970, midnight or the beginning
}

func (m Moment) String() string {
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

// A Failed is an error value such as #N/A, which reads as "not a number".
type Failed string

// Value returns what a cell holds: nil, int64, float64, bool, string,
// [Moment] or [Failed]. A number without a fraction is whole, however it is written.
func (s *Sheet) Value(c Cell) (any, error) {
	if !c.Filled {
		return nil, nil
	}
	switch c.Kind {
	case "n":
		return s.number(c)
	case "s":
		i, err := strconv.Atoi(c.Raw)
		if err != nil || i < 0 || i >= len(s.Book.Texts) {
			return nil, fmt.Errorf("there is no text %.20q", c.Raw)
		}
		return s.Book.Texts[i].All, nil
	case "b":
		return c.Raw == "1" || c.Raw == "true", nil
	case "e":
		return Failed(c.Raw), nil
	case "d":
		for _, layout := range []string{"2006-01-02T15:04:05.999Z07:00", "2006-01-02T15:04:05.999", "2006-01-02"} {
			if t, err := time.Parse(layout, c.Raw); err == nil {
				return Moment{"datetime", t.UnixMilli()}, nil
			}
		}
		return nil, fmt.Errorf("%.40q is not a date", c.Raw)
	case "inlineStr":
		return c.Inline.All, nil
	}
	return c.Raw, nil
}

func (s *Sheet) number(c Cell) (any, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(c.Raw), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return nil, fmt.Errorf("%.40q is not a number", c.Raw)
	}
	if s.Book.Styles.IsDate(c.Style) {
		return s.date(f, s.Book.Styles.isSpan(c.Style)), nil
	}
	if i, err := strconv.ParseInt(strings.TrimSpace(c.Raw), 10, 64); err == nil {
		return i, nil
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<63 {
		return int64(f), nil
	}
	return f, nil
}

// date reads a serial number of days. Before 1 March 1900 they are off by one,
// since the format has a 29 February 1900.
func (s *Sheet) date(days float64, span bool) any {
	const dayMs = 86400_000
	if math.IsNaN(days) || math.Abs(days) > 4e6 {
		return Failed("#VALUE!")
	}
	if span {
		return Moment{"timedelta", int64(math.RoundToEven(days * dayMs))}
	}
	whole := math.Floor(days)
	ms := int64(math.RoundToEven((days - whole) * dayMs))
	if days >= 0 && days < 1 && ms < dayMs {
		return Moment{"time", ms}
	}
	epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	if s.Book.date1904 {
		epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	} else if days > 0 && days < 60 {
		whole++
	}
	t := epoch.UnixMilli() + int64(whole)*dayMs + ms
	if y := time.UnixMilli(t).UTC().Year(); y < 1 || y > 9999 {
		return Failed("#VALUE!")
	}
	return Moment{"datetime", t}
}

// Positions returns the places of the cells, row by row.
func (s *Sheet) Positions() []Pos {
	list := make([]Pos, 0, len(s.Cells))
	for p := range s.Cells {
		list = append(list, p)
	}
	slices.SortFunc(list, Pos.Compare)
	return list
}
