package xlsx

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"desktop-agent/tasks/office"
)

// The last row and column that a sheet can have, counted from 1.
const (
	MaxRow    = 1 << 20
	MaxColumn = 1 << 14
)

// Limits on what is read. A workbook of a task is a few hundred kB.
const (
	maxCells = 1_000_000 // cells of a sheet that are there, blank ones too
	maxGrid  = 4_000_000 // cells of a sheet from A1 to the last one
)

// A Error says that a workbook is not as it should be.
type Error struct {
	Book *Book
	err  error
}

func (e *Error) Error() string { return e.err.Error() }
func (e *Error) Unwrap() error { return e.err }

// Truth returns an attribute that is a truth value, or absent if it is not there.
func Truth(n *office.Node, name string, absent bool) bool {
	s, ok := n.Lookup(name)
	if !ok {
		return absent
	}
	return s == "1" || s == "true" || s == "t"
}

// A SheetRef is an entry of the workbook's list of sheets.
type SheetRef struct {
	Name string
	ID   string // sheetId, which is not where it lies
	part string // that the relationship names
}

// A Book is an open workbook.
type Book struct {
	Path    string
	Called  string // in messages, such as "result"
	Archive *office.Archive

	Sheets []SheetRef   // tables only, no chart sheets
	Active int          // index in Sheets
	Texts  []SharedText // that cells of the kind "s" refer to by number
	Styles *Styles

	date1904 bool
	loaded   map[string]*Sheet // by part
}

// A SharedText is an entry of the table of texts.
type SharedText struct {
	All   string // runs joined
	Plain string // only the text outside of runs
	Every string // runs joined, and what says how they are pronounced
}

// Open opens a workbook, which messages call by a name, and reads its list of
// sheets; the caller closes it.
func Open(file, called string) (*Book, error) {
	b := &Book{Path: file, Called: called, loaded: map[string]*Sheet{}}
	if err := b.open(); err != nil {
		b.Close()
		return nil, b.Errorf("%s: %w", filepath.Base(file), err)
	}
	return b, nil
}

// Errorf makes an [Error] of the workbook.
func (b *Book) Errorf(format string, args ...any) error {
	return &Error{b, fmt.Errorf(format, args...)}
}

// Close closes the file.
func (b *Book) Close() {
	if b.Archive != nil {
		b.Archive.Close()
	}
}

func (b *Book) open() (err error) {
	switch ext := strings.ToLower(filepath.Ext(b.Path)); ext {
	case ".xlsx", ".xlsm", ".xltx", ".xltm":
	case ".ods", ".fods", ".csv", ".tsv", ".xls", ".xlsb":
		return fmt.Errorf("tables are read from .xlsx, not from %s: save it as .xlsx", ext)
	default:
		return fmt.Errorf("tables are read from .xlsx: %.20q is no such name", ext)
	}
	if b.Archive, err = office.Open(b.Path); err != nil {
		return fmt.Errorf("not a workbook: %w", err)
	}
	return b.readWorkbook()
}

func (b *Book) readWorkbook() error {
	rels, err := b.Archive.Relations("")
	if err != nil {
		return err
	}
	main := cmp.Or(rels.First("officeDocument"), "xl/workbook.xml")
	n, err := b.Archive.XML(main)
	if err != nil {
		return fmt.Errorf("not a workbook: %w", err)
	}
	if rels, err = b.Archive.Relations(main); err != nil {
		return err
	}
	b.date1904 = Truth(n.Child("workbookPr"), "date1904", false)
	active := n.Child("bookViews", "workbookView").Attr("activeTab")
	for i, s := range slices.Collect(n.Child("sheets").All("sheet")) {
		r, _ := rels.ByID(s.Attr("r:id"))
		if r.Kind != "worksheet" {
			continue
		}
		if fmt.Sprint(i) == active {
			b.Active = len(b.Sheets)
		}
		b.Sheets = append(b.Sheets, SheetRef{s.Attr("name"), s.Attr("sheetId"), r.Target})
	}
	if len(b.Sheets) == 0 {
		return errors.New("the workbook has no sheet")
	}
	if part := rels.First("sharedStrings"); part != "" {
		if err := b.readTexts(part); err != nil {
			return err
		}
	}
	b.Styles, err = b.readStyles(rels.First("styles"), rels.First("theme"))
	return err
}

func (b *Book) readTexts(part string) error {
	n, err := b.Archive.XML(part)
	if err != nil {
		return err
	}
	for si := range n.All("si") {
		b.Texts = append(b.Texts, runs(si))
	}
	return nil
}

// runs returns the text of an element that holds runs, without its phonetics.
func runs(n *office.Node) (t SharedText) {
	for _, k := range n.Kids {
		switch k.Local() {
		case "t":
			t.All += k.Content()
			t.Plain += k.Content()
			t.Every += k.Content()
		case "r", "rPh":
			for s := range k.All("t") {
				if k.Local() == "r" {
					t.All += s.Content()
				}
				t.Every += s.Content()
			}
		}
	}
	return t
}

// Index returns the place of a sheet by its name, or -1.
func (b *Book) Index(name string) int {
	return slices.IndexFunc(b.Sheets, func(s SheetRef) bool { return s.Name == name })
}

// SheetNames returns the names of the sheets in order.
func (b *Book) SheetNames() []string {
	names := make([]string, len(b.Sheets))
	for i := range b.Sheets {
		names[i] = b.Sheets[i].Name
	}
	return names
}
