package sheet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"desktop-agent/tasks"
	"desktop-agent/tasks/office"
	"desktop-agent/tasks/office/xlsx"
	"desktop-agent/tasks/osworld/metric/rule"
)

// A cellStyle is what a cell looks like: its font, fill and format of numbers, with
// what a conditional format lays over them.
type cellStyle struct {
	font, fill *office.Node
	format     string
	over       []*office.Node // conditional formats, the strongest first
}

// properties are the names of what can be asked of a cell.
var properties = []string{
	"number_format", "font_name", "font_family", "font_color", "font_bold", "font_italic", "font_underline",
	"font_size", "fill_type", "bgcolor", "fgcolor", "hyperlink", "merge",
}

func checkProperties(names []string) error {
	for _, name := range names {
		if !slices.Contains(properties, name) {
			return fmt.Errorf("%.40q is not a property of a cell: these are %s", name, strings.Join(properties, ", "))
		}
	}
	return nil
}

// styleAt returns what a cell looks like without conditional formats.
func (c *comparison) styleAt(s *xlsx.Sheet, p xlsx.Pos) cellStyle {
	st, i := s.Book.Styles, s.Cells[p].Style
	if c.Has(coveredBlank) && s.Covered(p) {
		i = 0
	}
	return cellStyle{font: st.Font(i), fill: st.Fill(i), format: st.NumberFormat(i)}
}

// property returns a property of a cell: nil, string, float64 or bool. Those of the
// font, and hyperlinks, are nil in blank cells.
func (c *comparison) property(name string, s *xlsx.Sheet, p xlsx.Pos, l cellStyle) any {
	at := s.Cells[p]
	if name == "merge" {
		return s.Covered(p)
	}
	if c.Has(coveredBlank) && s.Covered(p) {
		at = xlsx.Cell{}
	}
	filled := at.Filled || at.Formula
	switch {
	case name == "number_format":
		numeric := at.Filled && at.Kind == "n" || at.Formula && !at.Filled
		if numeric && c.Has(numberFormatAbsent) {
			numeric = !at.Formula && !s.Book.Styles.IsDate(at.Style)
		}
		if !numeric {
			return nil
		}
		for _, o := range l.over {
			if code, ok := o.Child("numFmt").Lookup("formatCode"); ok {
				return code
			}
		}
		return l.format
	case name == "hyperlink":
		if !filled {
			return nil
		}
		return c.hyperlink(s, p)
	case strings.HasPrefix(name, "font_"):
		if !filled {
			return nil
		}
		return c.fontProperty(strings.TrimPrefix(name, "font_"), s.Book.Styles, l)
	}
	return c.fillProperty(name, s.Book.Styles, l)
}

// fontElement returns an element of the font, of the strongest style that has it.
func (l cellStyle) fontElement(name string) *office.Node {
	for _, o := range l.over {
		if n := o.Child("font", name); n != nil {
			return n
		}
	}
	return l.font.Child(name)
}

func (c *comparison) fontProperty(name string, st *xlsx.Styles, l cellStyle) any {
	number := func(element string) any {
		f, err := strconv.ParseFloat(l.fontElement(element).Attr("val"), 64)
		if err != nil {
			return nil
		}
		return f
	}
	switch name {
	case "name":
		if v, ok := l.fontElement("name").Lookup("val"); ok {
			return v
		}
		return nil
	case "family":
		return number("family")
	case "size":
		return number("sz")
	case "bold", "italic":
		n := l.fontElement(name[:1])
		return n != nil && xlsx.Truth(n, "val", true)
	case "underline":
		n := l.fontElement("u")
		v, ok := n.Lookup("val")
		switch {
		case n == nil || v == "none":
			return nil
		case !ok:
			return "single"
		}
		return v
	}
	colour := colour(st, l.fontElement("color"), c.Set)
	if colour == nil && !c.Has(automaticColour) {
		return "FF000000" // automatic
	}
	return colour
}

// fillProperty returns a property of the fill. Both colours are the one that is
// seen: that of the foreground in a cell, that of the background in a conditional
// format, as the pattern of a cell lies on it and a conditional format has none.
func (c *comparison) fillProperty(name string, st *xlsx.Styles, l cellStyle) any {
	fill, element := l.fill, "fgColor"
	for _, o := range l.over {
		if n := o.Child("fill"); n != nil {
			fill, element = n, "bgColor"
			break
		}
	}
	if fill == nil && len(l.over) > 0 && c.Has(wholeFormat) {
		return nil // a conditional format stands for the whole style
	}
	pattern, kind := fill.Child("patternFill"), "patternFill"
	if fill.Child("gradientFill") != nil {
		kind = "gradientFill"
	}
	if name == "fill_type" {
		return kind
	}
	if kind == "gradientFill" {
		return nil
	}
	if kind := pattern.Attr("patternType"); element == "fgColor" && (kind == "" || kind == "none") && !c.Has(unseenFill) {
		return "00000000" // whatever its colours are, none is seen
	}
	n := pattern.Child(element)
	if n == nil {
		return "00000000"
	}
	return colour(st, n, c.Set)
}

// hyperlink returns where a cell leads to, "" for nowhere.
func (c *comparison) hyperlink(s *xlsx.Sheet, p xlsx.Pos) any {
	h := s.Hyperlinks()[p]
	if h == nil {
		return ""
	}
	if c.Has(hyperlinkObject) { // an object of its own, equal to no text
		return fmt.Sprintf("hyperlink %q %q %q %q %q", h.Attr("ref"), h.Attr("location"), h.Attr("tooltip"), h.Attr("display"), h.Attr("r:id"))
	}
	target := ""
	if rels, err := s.Book.Archive.Relations(s.Part); err == nil {
		r, _ := rels.ByID(h.Attr("r:id"))
		target = r.Target
	}
	if at := h.Attr("location"); at != "" {
		target += "#" + at
	}
	return target
}

// A styling is the wanted properties of the cells of a sheet.
type styling map[xlsx.Pos][]any

// style compares the looks of all cells.
func (c *comparison) style(ctx context.Context, rule tasks.Params) (string, error) {
	names, err := rule.Texts("props")
	if err != nil {
		return "", err
	}
	if err := checkProperties(names); err != nil {
		return "", fmt.Errorf("props: %w", err)
	}
	a, b, err := c.lenient(rule)
	if err != nil {
		return "", err
	}
	want, err := c.styling(ctx, b, names)
	if err != nil {
		return "", err
	}
	got, err := c.styling(ctx, a, names)
	if err != nil {
		return "", err
	}
	if a == nil || b == nil {
		if len(got) != len(want) {
			return "one of the two sheets is not there", nil
		}
		return "", nil
	}
	list := a.Positions()
	list = append(list, b.Positions()...)
	for p := range got {
		list = append(list, p)
	}
	for p := range want {
		list = append(list, p)
	}
	slices.SortFunc(list, xlsx.Pos.Compare)
	for _, p := range slices.Compact(list) {
		g, there := c.styled(got, a, p, names)
		w, wanted := c.styled(want, b, p, names)
		if there != wanted {
			return fmt.Sprintf("%s: cell %v is in only one of them", pair(a, b), p), nil
		}
		for i := range names {
			if g[i] != w[i] {
				return fmt.Sprintf("%s: %s of cell %v is %s, expected %s", pair(a, b), names[i], p, xlsx.Show(g[i], true), xlsx.Show(w[i], true)), nil
			}
		}
	}
	return "", nil
}

// styled returns the properties of a cell. A cell that the sheet does not have
// looks like a new one.
func (c *comparison) styled(all styling, s *xlsx.Sheet, p xlsx.Pos, names []string) ([]any, bool) {
	if list, ok := all[p]; ok {
		return list, true
	}
	if last := s.Extent(); c.Has(absentCells) && (p.Row > last.Row || p.Col > last.Col) {
		return nil, false
	}
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = c.property(name, s, p, c.styleAt(s, p))
	}
	return list, true
}

// styling returns the properties of the cells that are there, and of those that a
// conditional format marks.
func (c *comparison) styling(ctx context.Context, s *xlsx.Sheet, names []string) (styling, error) {
	if s == nil {
		return nil, nil
	}
	marks, err := c.conditional(ctx, s)
	if err != nil {
		return nil, err
	}
	all := styling{}
	cells := maps.Clone(s.Cells)
	for p := range s.AllCovered() {
		cells[p] = s.Cells[p]
	}
	for p := range cells {
		l := c.styleAt(s, p)
		list := make([]any, len(names))
		for i, name := range names {
			list[i] = c.property(name, s, p, l)
			if c.Has(automaticColour) && name == "font_color" && list[i] == nil && (s.Cells[p].Filled || s.Cells[p].Formula) && !s.Covered(p) {
				return nil, errors.New("font_color: the reference cannot read an automatic colour")
			}
		}
		all[p] = list
	}
	for p, over := range marks {
		l := c.styleAt(s, p)
		l.over = over
		if c.Has(wholeFormat) {
			l = cellStyle{font: over[0].Child("font"), fill: over[0].Child("fill"), over: over[:1]}
		}
		list := make([]any, len(names))
		for i, name := range names {
			list[i] = c.property(name, s, p, l)
		}
		all[p] = list
	}
	return all, nil
}

// checkCell checks the value and the style of a cell.
func (c *comparison) checkCell(_ context.Context, rule tasks.Params) (string, error) {
	props, err := rule.Map("props")
	if err != nil {
		return "", err
	}
	coordinate, err := rule.Text("coordinate")
	if err != nil {
		return "", err
	}
	p, ok := xlsx.ParsePos(coordinate)
	if !ok {
		return "", fmt.Errorf("coordinate: %.20q is not a cell such as E3", coordinate)
	}
	s, err := c.one(rule)
	if err != nil {
		return "", err
	}
	for _, name := range props.Keys() {
		r, err := props.Map(name)
		if err != nil {
			return "", fmt.Errorf("props: %w", err)
		}
		var v any
		if name == "value" {
			v, err = c.raw(s, p)
		} else if err = checkProperties([]string{name}); err == nil {
			v = c.property(name, s, p, c.styleAt(s, p))
		}
		if err != nil {
			return "", err
		}
		ok, err := match(v, r)
		if err != nil {
			return "", fmt.Errorf("props: %s: %w", name, err)
		}
		if !ok {
			return fmt.Sprintf("sheet %.60q: %s of cell %v is %s, expected %s", s.Name, name, p, xlsx.Show(v, true), describe(r)), nil
		}
	}
	return "", nil
}

// match checks a value against a rule {"method": …, "ref": …}.
func match(value any, p tasks.Params) (bool, error) {
	r, err := rule.New(p)
	if err != nil {
		return false, err
	}
	return r.Holds(value)
}

// describe writes a rule for the report.
func describe(r tasks.Params) string {
	ref, err := json.Marshal(r["ref"])
	if err != nil {
		ref = fmt.Append(nil, r["ref"])
	}
	return fmt.Sprintf("%v %.120s", r["method"], ref)
}
