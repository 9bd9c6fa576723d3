package sheet

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"desktop-agent/tasks/office"
)

// Styles are the looks that cells refer to by number.
type styles struct {
	formats map[int]string // of numbers, own ones
	fonts   []*office.Node
	fills   []*office.Node
	xfs     []*office.Node
	diffs   []*office.Node // of conditional formats
	palette []string       // own colours by index, aRGB
	theme   []string       // RGB
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

// palette is the standard palette, ECMA-376 part 1, 18.8.27. The first eight are
// the same as the next eight; 64 is the colour of text, 65 that of the background.
const palette = "000000FFFFFFFF000000FF000000FFFFFF00FF00FF00FFFF" +
	"000000FFFFFFFF000000FF000000FFFFFF00FF00FF00FFFF" +
	"800000008000000080808000800080008080C0C0C0808080" +
	"9999FF993366FFFFCCCCFFFF660066FF80800066CCCCCCFF" +
	"000080FF00FFFFFF0000FFFF8000808000000080800000FF" +
	"00CCFFCCFFFFCCFFCCFFFF9999CCFFFF99CCCC99FFFFCC99" +
	"3366FF33CCCC99CC00FFCC00FF9900FF6600666699969696" +
	"003366339966003300333300993300993366333399333333" +
	"000000FFFFFF"

// readStyles reads the parts of styles and of the theme; "" for none.
func (b *book) readStyles(part, theme string) (*styles, error) {
	s := &styles{formats: map[int]string{}, dates: map[int]bool{}}
	if theme != "" && b.archive.Has(theme) {
		n, err := b.archive.XML(theme)
		if err != nil {
			return nil, err
		}
		s.theme = themeColours(n)
	}
	if part == "" {
		return s, nil
	}
	n, err := b.archive.XML(part)
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
		s.palette = append(s.palette, argb(c.Attr("rgb")))
	}
	for i := range s.xfs {
		s.dates[i] = isDateFormat(s.numberFormat(i))
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

// ref returns an element that a format refers to by an attribute.
func (s *styles) ref(style int, name string, list []*office.Node) *office.Node {
	i, err := strconv.Atoi(nth(s.xfs, style).Attr(name))
	if err != nil {
		i = 0
	}
	return nth(list, i)
}

// numberFormat returns the format of numbers of a style.
func (s *styles) numberFormat(style int) string {
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

func (s *styles) isDate(style int) bool { return s.dates[style] }

// isSpan says whether a style shows a span of time, such as 30 hours.
func (s *styles) isSpan(style int) bool {
	format, _, _ := strings.Cut(s.numberFormat(style), ";")
	return elapsed.MatchString(format)
}

// argb writes a colour with its transparency; without one it is "00", as openpyxl
// has it.
func argb(rgb string) string {
	if len(rgb) == 6 {
		rgb = "00" + rgb
	}
	return strings.ToUpper(rgb)
}

var rgbPattern = regexp.MustCompile(`^[0-9A-F]{6}$`)

// fromTheme is what the reference takes all colours of themes and palettes for.
const fromTheme = "a colour of the theme or palette"

// colour returns a colour as aRGB, nil if there is none.
func (s *styles) colour(n *office.Node, compat bool) any {
	if n == nil {
		return nil
	}
	if _, ok := n.Lookup("indexed"); ok && compat {
		return fromTheme
	}
	if i, ok := n.Lookup("indexed"); ok {
		return s.indexed(i)
	}
	if i, ok := n.Lookup("theme"); ok {
		k, err := strconv.Atoi(i)
		if compat || err != nil || k < 0 || k >= len(s.theme) || !rgbPattern.MatchString(s.theme[k]) {
			return fromTheme
		}
		t, _ := number(n, "tint", 0.0).(float64)
		if math.IsNaN(t) {
			t = 0
		}
		return excelize.ThemeColor(s.theme[k], min(max(t, -1), 1))
	}
	if truth(n, "auto", false) {
		if compat {
			return fromTheme
		}
		return nil
	}
	if rgb := n.Attr("rgb"); rgb != "" {
		return argb(rgb)
	}
	return "00000000"
}

func (s *styles) indexed(text string) any {
	i, err := strconv.Atoi(text)
	switch {
	case err != nil || i < 0:
		return nil
	case i < len(s.palette):
		return "FF" + s.palette[i][min(2, len(s.palette[i])):]
	case i*6+6 <= len(palette):
		return "FF" + palette[i*6:i*6+6]
	}
	return nil
}
