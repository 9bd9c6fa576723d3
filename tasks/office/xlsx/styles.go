package xlsx

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"desktop-agent/tasks/office"
)

// Styles are the looks that cells refer to by number.
type Styles struct {
	Palette []string // own colours by index, aRGB
	Theme   []string // colours in the order in which styles count them, RGB

	formats map[int]string // of numbers, own ones
	fonts   []*office.Node
	fills   []*office.Node
	xfs     []*office.Node
	diffs   []*office.Node // of conditional formats
	dates   map[int]bool
}

// builtin are the formats of numbers that files need not describe, ECMA-376 part
// 1, 18.8.30, as openpyxl writes them.
var builtin = map[int]string{
	0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00",
	5: `"$"#,##0_);("$"#,##0)`, 6: `"$"#,##0_);[Red]("$"#,##0)`,
	7: `"$"#,##0.00_);("$"#,##0.00)`, 8: `"$"#,##0.00_);[Red]("$"#,##0.00)`,
	9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 14: "mm-dd-yy", 15: "d-mmm-yy",
	16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "m/d/yy h:mm",
	37: "#,##0_);(#,##0)", 38: "#,##0_);[Red](#,##0)", 39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);[Red](#,##0.00)",
	41: `_(* #,##0_);_(* \(#,##0\);_(* "-"_);_(@_)`, 42: `_("$"* #,##0_);_("$"* \(#,##0\);_("$"* "-"_);_(@_)`,
	43: `_(* #,##0.00_);_(* \(#,##0.00\);_(* "-"??_);_(@_)`, 44: `_("$"* #,##0.00_)_("$"* \(#,##0.00\)_("$"* "-"??_)_(@_)`,
	45: "mm:ss", 46: "[h]:mm:ss", 47: "mmss.0", 48: "##0.0E+0", 49: "@",
}

// readStyles reads the parts of styles and of the theme; "" for none.
func (b *Book) readStyles(part, theme string) (*Styles, error) {
	s := &Styles{formats: map[int]string{}, dates: map[int]bool{}}
	if theme != "" && b.Archive.Has(theme) {
		n, err := b.Archive.XML(theme)
		if err != nil {
			return nil, err
		}
		s.Theme = themeColours(n)
	}
	if part == "" {
		return s, nil
	}
	n, err := b.Archive.XML(part)
	if err != nil {
		return nil, err
	}
	for f := range n.Child("numFmts").All("numFmt") {
		if id, err := strconv.Atoi(f.Attr("numFmtId")); err == nil {
			s.formats[id] = f.Attr("formatCode")
		}
	}
	s.fonts = slices.Collect(n.Child("fonts").All("font"))
	s.fills = slices.Collect(n.Child("fills").All("fill"))
	s.xfs = slices.Collect(n.Child("cellXfs").All("xf"))
	s.diffs = slices.Collect(n.Child("dxfs").All("dxf"))
	for c := range n.Child("colors", "indexedColors").All("rgbColor") {
		s.Palette = append(s.Palette, ARGB(c.Attr("rgb")))
	}
	for i := range s.xfs {
		s.dates[i] = isDateFormat(s.NumberFormat(i))
	}
	return s, nil
}

// themeColours returns the twelve colours in the order in which styles count them:
// light before dark.
func themeColours(n *office.Node) []string {
	scheme := n.Child("themeElements", "clrScheme")
	if scheme == nil {
		return nil
	}
	var list []string
	for _, name := range []string{"lt1", "dk1", "lt2", "dk2", "accent1", "accent2", "accent3", "accent4", "accent5", "accent6", "hlink", "folHlink"} {
		c := scheme.Child(name)
		rgb := c.Child("srgbClr").Attr("val")
		if rgb == "" {
			rgb = c.Child("sysClr").Attr("lastClr")
		}
		list = append(list, strings.ToUpper(rgb))
	}
	return list
}

// nth returns the element of a list, or nil.
func nth(list []*office.Node, i int) *office.Node {
	if i < 0 || i >= len(list) {
		return nil
	}
	return list[i]
}

// Font returns the font of a style, or nil.
func (s *Styles) Font(style int) *office.Node { return s.ref(style, "fontId", s.fonts) }

// Fill returns the fill of a style, or nil.
func (s *Styles) Fill(style int) *office.Node { return s.ref(style, "fillId", s.fills) }

// Diff returns what a conditional format changes, by its number, or nil.
func (s *Styles) Diff(id int) *office.Node { return nth(s.diffs, id) }

// ref returns an element that a format refers to by an attribute.
func (s *Styles) ref(style int, name string, list []*office.Node) *office.Node {
	i, err := strconv.Atoi(nth(s.xfs, style).Attr(name))
	if err != nil {
		i = 0
	}
	return nth(list, i)
}

// NumberFormat returns the format of numbers of a style.
func (s *Styles) NumberFormat(style int) string {
	id, _ := strconv.Atoi(nth(s.xfs, style).Attr("numFmtId"))
	if f, ok := s.formats[id]; ok {
		return f
	}
	if f, ok := builtin[id]; ok {
		return f
	}
	return "General"
}

var (
	quotedPart  = regexp.MustCompile(`".*?"`)
	bracketPart = regexp.MustCompile(`\[[^\]]*\]`)
	elapsedPart = regexp.MustCompile(`(?i)^\[(?:hh?|mm?|ss?)\]$`)
	elapsed     = regexp.MustCompile(`(?i)\[(?:hh?|mm?|ss?)\]`)
)

// isDateFormat says whether the first section of a format has a letter of dates
// that is neither quoted, nor escaped, nor a colour or a locale.
func isDateFormat(format string) bool {
	format, _, _ = strings.Cut(format, ";")
	format = quotedPart.ReplaceAllString(format, "")
	format = bracketPart.ReplaceAllStringFunc(format, func(part string) string {
		if elapsedPart.MatchString(part) {
			return part
		}
		return ""
	})
	for i, r := range format {
		if strings.ContainsRune("dmhysDMHYS", r) && (i == 0 || format[i-1] != '_' && format[i-1] != '\\') {
			return true
		}
	}
	return false
}

func (s *Styles) IsDate(style int) bool { return s.dates[style] }

// isSpan says whether a style shows a span of time, such as 30 hours.
func (s *Styles) isSpan(style int) bool {
	format, _, _ := strings.Cut(s.NumberFormat(style), ";")
	return elapsed.MatchString(format)
}

// ARGB writes a colour with its transparency; without one it is "00", as openpyxl
// has it.
func ARGB(rgb string) string {
	if len(rgb) == 6 {
		rgb = "00" + rgb
	}
	return strings.ToUpper(rgb)
}
