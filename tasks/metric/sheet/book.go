package sheet

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"desktop-agent/tasks/office"
)

// Limits on what is read. A workbook of a task is a few hundred kB.
const (
	maxCells  = 1_000_000 // cells of a sheet that are there, blank ones too
	maxGrid   = 4_000_000 // cells of a sheet from A1 to the last one
	maxRow    = 1 << 20
	maxColumn = 1 << 14
)

// A bookError says that a workbook cannot be read. If the workbook is the result,
// it is the result's fault, and scores 0.
type bookError struct {
	result bool
	err    error
}

func (e *bookError) Error() string { return e.err.Error() }
func (e *bookError) Unwrap() error { return e.err }

// truth returns a truth value, or absent if it is not there.
func truth(n *office.Node, name string, absent bool) bool {
	s, ok := n.Lookup(name)
	if !ok {
		return absent
	}
	return s == "1" || s == "true" || s == "t"
}

// A sheetRef is an entry of the workbook's list of sheets.
type sheetRef struct {
	name string
	id   string // sheetId
	part string // that the relationship names
}

// A book is an open workbook.
type book struct {
	path    string
	result  bool
	archive *office.Archive // nil before it is open

	sheets   []sheetRef // tables only, no chart sheets
	active   int        // index in sheets
	date1904 bool
	names    []*office.Node // defined names
	texts    []sharedText
	styles   *styles
	loaded   map[string]*sheet // by part
}

// A sharedText is an entry of the table of texts.
type sharedText struct {
	all   string // runs joined
	plain string // only the text outside of runs
}

// openBook opens a workbook and reads its list of sheets.
func openBook(file string, result bool) (*book, error) {
	b := &book{path: file, result: result, loaded: map[string]*sheet{}}
	if err := b.open(); err != nil {
		b.close()
		return nil, b.errorf("%s: %w", filepath.Base(file), err)
	}
	return b, nil
}

func (b *book) errorf(format string, args ...any) error {
	return &bookError{b.result, fmt.Errorf(format, args...)}
}

func (b *book) close() {
	if b.archive != nil {
		b.archive.Close()
	}
}

func (b *book) open() (err error) {
	switch ext := strings.ToLower(filepath.Ext(b.path)); ext {
	case ".xlsx", ".xlsm", ".xltx", ".xltm":
	case ".ods", ".fods", ".csv", ".tsv", ".xls", ".xlsb":
		return fmt.Errorf("tables are read from .xlsx, not from %s: save it as .xlsx", ext)
	default:
		return fmt.Errorf("tables are read from .xlsx: %.20q is no such name", ext)
	}
	if b.archive, err = office.Open(b.path); err != nil {
		return fmt.Errorf("not a workbook: %w", err)
	}
	return b.readWorkbook()
}

func (b *book) readWorkbook() error {
	rels, err := b.archive.Relations("")
	if err != nil {
		return err
	}
	main := cmp.Or(rels.First("officeDocument"), "xl/workbook.xml")
	n, err := b.archive.XML(main)
	if err != nil {
		return fmt.Errorf("not a workbook: %w", err)
	}
	if rels, err = b.archive.Relations(main); err != nil {
		return err
	}
	b.date1904 = truth(n.Child("workbookPr"), "date1904", false)
	b.names = slices.Collect(n.Child("definedNames").All("definedName"))
	active := n.Child("bookViews", "workbookView").Attr("activeTab")
	for i, s := range slices.Collect(n.Child("sheets").All("sheet")) {
		r, _ := rels.ByID(s.Attr("r:id"))
		if r.Kind != "worksheet" {
			continue
		}
		if fmt.Sprint(i) == active {
			b.active = len(b.sheets)
		}
		b.sheets = append(b.sheets, sheetRef{s.Attr("name"), s.Attr("sheetId"), r.Target})
	}
	if len(b.sheets) == 0 {
		return errors.New("the workbook has no sheet")
	}
	if part := rels.First("sharedStrings"); part != "" {
		if err := b.readTexts(part); err != nil {
			return err
		}
	}
	b.styles, err = b.readStyles(rels.First("styles"), rels.First("theme"))
	return err
}

func (b *book) readTexts(part string) error {
	n, err := b.archive.XML(part)
	if err != nil {
		return err
	}
	for si := range n.All("si") {
		b.texts = append(b.texts, runs(si))
	}
	return nil
}

// runs returns the text of an element that holds runs, without its phonetics.
func runs(n *office.Node) (t sharedText) {
	for _, k := range n.Kids {
		switch k.Local() {
		case "t":
			t.all += k.Content()
			t.plain += k.Content()
		case "r":
			for s := range k.All("t") {
				t.all += s.Content()
			}
		}
	}
	return t
}

// index returns the place of a sheet by its name, or -1.
func (b *book) index(name string) int {
	return slices.IndexFunc(b.sheets, func(s sheetRef) bool { return s.name == name })
}

// sheetNames returns the names of the sheets in order.
func (b *book) sheetNames() []string {
	names := make([]string, len(b.sheets))
	for i := range b.sheets {
		names[i] = b.sheets[i].name
	}
	return names
}
