package document

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"desktop-agent/tasks/office"
)

// A docx is a document as python-docx shows it.
type docx struct {
	archive    *office.Archive
	part       string // the name of the main part
	relations  office.Relations
	body       *office.Node
	paragraphs []paragraph // directly in the body
	tables     []table     // directly in the body
}

// openDocx opens a document; the caller closes it.
func openDocx(name string) (*docx, error) {
	a, err := office.Open(name)
	if err != nil {
		return nil, fmt.Errorf("not a document: %w", err)
	}
	d := &docx{archive: a}
	if err := d.read(); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return d, nil
}

// close closes the file of a document, which may be nil.
func (d *docx) close() {
	if d != nil {
		d.archive.Close()
	}
}

func (d *docx) read() error {
	main, err := d.archive.Relations("")
	if err != nil {
		return err
	}
	if d.part = main.First("officeDocument"); d.part == "" {
		return errors.New("not a docx document: it names no main part")
	}
	root, err := d.archive.XML(d.part)
	if err != nil {
		return err
	}
	if d.body = root.Child("w:body"); !root.Is("w:document") || d.body == nil {
		return errors.New("not a docx document: it has no body")
	}
	if d.relations, err = d.archive.Relations(d.part); err != nil {
		return err
	}
	d.paragraphs = paragraphsOf(d.body)
	slots := maxSlots
	for n := range d.body.All("w:tbl") {
		t, err := newTable(n, &slots)
		if err != nil {
			return err
		}
		d.tables = append(d.tables, t)
	}
	return nil
}

// texts returns the texts of the paragraphs.
func (d *docx) texts() []string { return textsOf(d.paragraphs) }

func textsOf(list []paragraph) []string {
	texts := make([]string, len(list))
	for i, p := range list {
		texts[i] = p.text()
	}
	return texts
}

// A paragraph is a w:p.
type paragraph struct{ *office.Node }

func paragraphsOf(n *office.Node) []paragraph {
	var list []paragraph
	for p := range n.All("w:p") {
		list = append(list, paragraph{p})
	}
	return list
}

// runs returns the pieces of a paragraph that have one format each, without
// those of hyperlinks.
func (p paragraph) runs() []run {
	var list []run
	for n := range p.All("w:r") {
		list = append(list, run{n})
	}
	return list
}

// linkedRuns returns all runs, with those of hyperlinks.
func (p paragraph) linkedRuns() []run {
	var list []run
	for _, n := range p.Kids {
		switch {
		case n.Is("w:r"):
			list = append(list, run{n})
		case n.Is("w:hyperlink"):
			list = append(list, paragraph{n}.runs()...)
		}
	}
	return list
}

func (p paragraph) text() string {
	var b strings.Builder
	for _, r := range p.linkedRuns() {
		r.write(&b)
	}
	return b.String()
}

// alignment returns the value of w:jc, "" if it is not set.
func (p paragraph) alignment() string { return p.Child("w:pPr", "w:jc").Attr("w:val") }

// A lineSpacing is either a multiple of a line's height or a length.
type lineSpacing struct {
	Set    bool
	Lines  float64 // not 0 if it is a multiple
	Length int64   // in EMU
}

func (s lineSpacing) String() string {
	switch {
	case !s.Set:
		return "not set"
	case s.Length != 0:
		return strconv.FormatFloat(float64(s.Length)/emuPerPoint, 'g', 4, 64) + " pt"
	}
	return strconv.FormatFloat(s.Lines, 'g', 4, 64) + " lines"
}

func (p paragraph) lineSpacing() lineSpacing {
	n := p.Child("w:pPr", "w:spacing")
	line, ok := measure(n.Attr("w:line"), emuPerTwip)
	if !ok {
		return lineSpacing{}
	}
	if rule := n.Attr("w:lineRule"); rule == "" || rule == "auto" {
		return lineSpacing{Set: true, Lines: float64(line) / (12 * emuPerPoint)}
	}
	return lineSpacing{Set: true, Length: line}
}

// A tabStop is one of those set on a paragraph.
type tabStop struct {
	Alignment string // such as "left", or "clear"
	Position  int64  // in EMU from the paragraph's edge
}

func (p paragraph) tabStops() []tabStop {
	var list []tabStop
	for n := range p.Child("w:pPr", "w:tabs").All("w:tab") {
		position, _ := measure(n.Attr("w:pos"), emuPerTwip)
		list = append(list, tabStop{Alignment: n.Attr("w:val"), Position: position})
	}
	return list
}

// A run is a w:r.
type run struct{ *office.Node }

func (r run) text() string {
	var b strings.Builder
	r.write(&b)
	return b.String()
}

func (r run) write(b *strings.Builder) {
	for _, n := range r.Kids {
		switch n.Name {
		case "w:t":
			b.WriteString(n.Content())
		case "w:tab", "w:ptab":
			b.WriteByte('\t')
		case "w:cr":
			b.WriteByte('\n')
		case "w:noBreakHyphen":
			b.WriteByte('-')
		case "w:br":
			if t := n.Attr("w:type"); t == "" || t == "textWrapping" {
				b.WriteByte('\n')
			}
		}
	}
}

// property returns what is set on a run itself, nil if it is not.
func (r run) property(local string) *office.Node { return r.Child("w:rPr", "w:"+local) }

// on reports whether a property that is on or off is set, and on.
func (r run) on(local string) bool {
	n := r.property(local)
	if n == nil {
		return false
	}
	v, ok := n.Lookup("w:val")
	return !ok || v == "1" || v == "true" || v == "on"
}

// font returns the font's name for Latin letters, "" if none is set.
func (r run) font() string { return r.property("rFonts").Attr("w:ascii") }

// points returns the font's size, 0 if none is set.
func (r run) points() float64 {
	size, ok := measure(r.property("sz").Attr("w:val"), emuPerPoint/2)
	if !ok {
		return 0
	}
	return float64(size) / emuPerPoint
}

func (r run) subscript() bool { return r.property("vertAlign").Attr("w:val") == "subscript" }

// color returns the colour of the letters, false if none is set or it is the
// automatic one.
func (r run) color() (rgb [3]uint8, ok bool) {
	return hexColor(r.property("color").Attr("w:val"))
}

// hexColor reads six hexadecimal digits.
func hexColor(s string) (rgb [3]uint8, ok bool) {
	v, err := strconv.ParseUint(s, 16, 32)
	if err != nil || len(s) != 6 {
		return rgb, false
	}
	return [3]uint8{uint8(v >> 16), uint8(v >> 8), uint8(v)}, true
}

// A section is a part of a document with its own page.
type section struct {
	PageWidth, LeftMargin, RightMargin int64        // in EMU
	Footer                             *office.Node // nil if it has none; linked ones are followed
}

// sections returns the sections, with the footers of ordinary pages.
func (d *docx) sections() ([]section, error) {
	var properties []*office.Node
	for _, p := range d.paragraphs {
		if n := p.Child("w:pPr", "w:sectPr"); n != nil {
			properties = append(properties, n)
		}
	}
	if n := d.body.Child("w:sectPr"); n != nil {
		properties = append(properties, n)
	}
	var list []section
	var footer *office.Node
	for _, n := range properties {
		var s section
		s.PageWidth, _ = measure(n.Child("w:pgSz").Attr("w:w"), emuPerTwip)
		s.LeftMargin, _ = measure(n.Child("w:pgMar").Attr("w:left"), emuPerTwip)
		s.RightMargin, _ = measure(n.Child("w:pgMar").Attr("w:right"), emuPerTwip)
		own, err := d.footer(n)
		if err != nil {
			return nil, err
		}
		if own != nil {
			footer = own
		}
		s.Footer = footer
		list = append(list, s)
	}
	return list, nil
}

// footer returns a section's own footer, nil if it has none.
func (d *docx) footer(properties *office.Node) (*office.Node, error) {
	for ref := range properties.All("w:footerReference") {
		if ref.Attr("w:type") != "default" {
			continue
		}
		if r, ok := d.relations.ByID(ref.Attr("r:id")); ok && !r.External {
			return d.archive.XML(r.Target)
		}
		return nil, fmt.Errorf("footer %.40q has no relationship", ref.Attr("r:id"))
	}
	return nil, nil
}

// Lengths in English metric units.
const (
	emuPerPoint = 12700
	emuPerTwip  = emuPerPoint / 20
)

// measure reads a length in EMU: a whole number of units, or a number with the
// name of a unit.
func measure(s string, unit int64) (emu int64, ok bool) {
	if v, err := strconv.ParseInt(strings.TrimSpace(s), 10, 32); err == nil {
		return v * unit, true
	}
	if len(s) < 3 {
		return 0, false
	}
	units := map[string]float64{"mm": 36000, "cm": 360000, "in": 914400, "pt": 12700, "pc": 152400, "pi": 152400}
	v, err := strconv.ParseFloat(s[:len(s)-2], 64)
	scale := units[s[len(s)-2:]]
	if err != nil || scale == 0 || !(v > -1e6 && v < 1e6) {
		return 0, false
	}
	return int64(v*scale + 0.5), true
}
