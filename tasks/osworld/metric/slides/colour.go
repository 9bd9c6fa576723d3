package slides

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"desktop-agent/tasks/office"
)

// white is what a slide without any background shows.
const white = "FFFFFF"

// A fill is the background of a slide.
type fill struct {
	colour string // RRGGBB, or the name of a colour that is not known; "" if not one colour
	err    string // why the original cannot tell
}

// background is what a slide shows: its own background, else that of its
// layout, else that of its master, else white. Gradients and pictures have no
// colour.
func (s *slide) background() fill {
	for _, from := range []*baseSlide{&s.baseSlide, s.layout, s.master} {
		bg := from.root.Child("p:cSld", "p:bg")
		if ref := bg.Child("p:bgRef"); ref != nil && ref.Attr("idx") != "0" {
			return fill{colour: s.styled(ref)}
		}
		switch props := bg.Child("p:bgPr"); {
		case props.Child("a:solidFill") != nil:
			return fill{colour: s.colour(props.Child("a:solidFill"))}
		case props != nil && props.Child("a:noFill") == nil:
			return fill{}
		}
	}
	return fill{colour: white}
}

// plainBackground is what the original sees: colours that are written as such,
// at the slide, else at the master. python-pptx takes a reference to the theme
// for no fill.
func (s *slide) plainBackground() fill {
	props := s.root.Child("p:cSld", "p:bg", "p:bgPr")
	if props == nil || props.Child("a:noFill") != nil {
		props = s.master.root.Child("p:cSld", "p:bg", "p:bgPr")
	}
	solid := props.Child("a:solidFill")
	if solid == nil {
		return fill{}
	}
	if c := solid.Child("a:srgbClr"); c != nil {
		return fill{colour: strings.ToUpper(c.Attr("val"))}
	}
	return fill{err: "the background has a colour of the theme"}
}

// styled is the colour of a background style of the theme, if it is plain. The
// styles count from 1001 on.
func (s *slide) styled(ref *office.Node) string {
	n, err := strconv.Atoi(ref.Attr("idx"))
	styles := s.theme.Child("a:themeElements", "a:fmtScheme", "a:bgFillStyleLst")
	if err != nil || styles == nil || n < 1001 || n-1001 >= len(styles.Kids) {
		return ""
	}
	style := styles.Kids[n-1001]
	ph := style.Child("a:schemeClr")
	if style.Name != "a:solidFill" || ph.Attr("val") != "phClr" || len(ph.Kids) > 0 {
		return ""
	}
	return s.colour(ref)
}

// colour is the colour within an element such as a:solidFill. One that is
// derived from another gets a name that tells it from others.
func (s *slide) colour(within *office.Node) string {
	if within == nil || len(within.Kids) == 0 {
		return ""
	}
	c, base := within.Kids[0], ""
	switch c.Name {
	case "a:srgbClr":
		base = strings.ToUpper(c.Attr("val"))
	case "a:sysClr":
		base = strings.ToUpper(c.Attr("lastClr"))
	case "a:schemeClr":
		base = s.schemed(c.Attr("val"))
	default:
		base = c.Name + " " + c.Attr("val")
	}
	for _, change := range c.Kids {
		base += " " + change.Local() + "=" + change.Attr("val")
	}
	return base
}

// schemed looks a colour up in the theme, by way of the map of the master.
func (s *slide) schemed(name string) string {
	mapped := cmp.Or(s.master.root.Child("p:clrMap").Attr(name), name)
	c := s.theme.Child("a:themeElements", "a:clrScheme", "a:"+mapped)
	if rgb := c.Child("a:srgbClr").Attr("val"); rgb != "" {
		return strings.ToUpper(rgb)
	}
	return strings.ToUpper(cmp.Or(c.Child("a:sysClr").Attr("lastClr"), name))
}

// rgb reads RRGGBB.
func rgb(s string) (c [3]float64, ok bool) {
	n, err := strconv.ParseUint(s, 16, 32)
	if err != nil || len(s) != 6 {
		return c, false
	}
	return [3]float64{float64(n >> 16), float64(n >> 8 & 255), float64(n & 255)}, true
}

// distance is that of two colours in RGB, 1 between black and white.
func distance(a, b [3]float64) float64 {
	return math.Sqrt(((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2])) / (3 * 255 * 255))
}

// resembles reports whether a colour goes by a name: one part stands out from
// the others by more than 50, or for black, all are below 50.
func resembles(c [3]float64, name string) bool {
	at := slices.Index([]string{"red", "green", "blue"}, name)
	if at < 0 {
		return name == "black" && max(c[0], c[1], c[2]) < 50
	}
	return c[at] > c[(at+1)%3]+50 && c[at] > c[(at+2)%3]+50
}

// numberColour is the colour of the page number that a slide shows: as set at
// the slide, else at its layout, else at its master. It is not ok if the slide
// shows none.
func (s *slide) numberColour() (colour string, ok bool) {
	if s.byKind["sldNum"] == nil {
		return "", false
	}
	for _, from := range []*baseSlide{&s.baseSlide, s.layout, s.master} {
		if c := s.textColour(from.byKind["sldNum"]); c != "" {
			return c, true
		}
	}
	return "", true
}

// textColour is the colour that a shape gives its text: at the page number, else
// at a run, else in its own list style; "" if at none.
func (s *slide) textColour(sh *shape) string {
	if sh == nil {
		return ""
	}
	body := sh.node.Child("p:txBody")
	for p := range body.All("a:p") {
		for _, tag := range []string{"a:fld", "a:r"} {
			if solid := p.Child(tag, "a:rPr", "a:solidFill"); solid != nil {
				return s.colour(solid)
			}
		}
	}
	if solid := body.Child("a:lstStyle", "a:lvl1pPr", "a:defRPr", "a:solidFill"); solid != nil {
		return s.colour(solid)
	}
	return ""
}
