package slides

import (
	"fmt"
	"strconv"
	"strings"

	"desktop-agent/tasks/office"
)

// A paragraph is a line of text with what is set at it itself; what it inherits
// is not looked up.
type paragraph struct {
	text  string // line breaks are \v; fields such as the page number count
	align string // as in a:pPr; "" if not set
	level int    // from 0
	runs  []run  // without breaks and fields
}

// A run is text of one format. What is not set is nil or "".
type run struct {
	text         string
	font         string
	size         string // in hundredths of a point
	bold, italic *bool
	underline    string // "sng", "dbl", … or "none"
	strike       string
	color        string // RRGGBB, only if it is given as such
}

func paragraphs(body *office.Node) []paragraph {
	var list []paragraph
	for p := range body.All("a:p") {
		list = append(list, newParagraph(p))
	}
	return list
}

func newParagraph(n *office.Node) paragraph {
	ppr := n.Child("a:pPr")
	p := paragraph{align: ppr.Attr("algn")}
	p.level, _ = strconv.Atoi(ppr.Attr("lvl"))
	var text strings.Builder
	for _, k := range n.Kids {
		switch k.Name {
		case "a:br":
			text.WriteString("\v")
		case "a:fld":
			text.WriteString(textOf(k))
		case "a:r":
			text.WriteString(textOf(k))
			p.runs = append(p.runs, newRun(k))
		}
	}
	p.text = text.String()
	return p
}

func textOf(n *office.Node) string {
	return n.Child("a:t").Content()
}

func newRun(n *office.Node) run {
	rpr := n.Child("a:rPr")
	return run{
		text:      textOf(n),
		font:      rpr.Child("a:latin").Attr("typeface"),
		size:      rpr.Attr("sz"),
		bold:      truth(rpr.Attr("b")),
		italic:    truth(rpr.Attr("i")),
		underline: rpr.Attr("u"),
		strike:    rpr.Attr("strike"),
		color:     strings.ToUpper(rpr.Child("a:solidFill", "a:srgbClr").Attr("val")),
	}
}

func truth(s string) *bool {
	if s == "" {
		return nil
	}
	return new(s == "1" || s == "true" || s == "on")
}

// points writes a font size for a report.
func points(size string) string {
	n, err := strconv.Atoi(size)
	if err != nil {
		return "not set"
	}
	return fmt.Sprintf("%g pt", float64(n)/100)
}

// A bullet is what stands before a paragraph with text.
type bullet struct {
	mark  string // "no bullet", "bullet •", "number arabicPeriod" or "picture bullet"
	level int
	text  string
}

func (b bullet) String() string {
	return fmt.Sprintf("%s at level %d before %.40q", b.mark, b.level, b.text)
}

// bullets lists those of all paragraphs with text, also in tables and groups.
// None at all and a:buNone are the same.
func bullets(root *office.Node) []bullet {
	var list []bullet
	for p := range root.Below("a:p") {
		b := bullet{mark: "no bullet"}
		var text strings.Builder
		for t := range p.Below("a:t") {
			text.WriteString(t.Content())
		}
		if b.text = text.String(); strings.TrimSpace(b.text) == "" {
			continue
		}
		ppr := p.Child("a:pPr")
		b.level, _ = strconv.Atoi(ppr.Attr("lvl"))
		switch {
		case ppr.Child("a:buChar") != nil:
			b.mark = "bullet " + ppr.Child("a:buChar").Attr("char")
		case ppr.Child("a:buAutoNum") != nil:
			b.mark = "number " + ppr.Child("a:buAutoNum").Attr("type")
		case ppr.Child("a:buBlip") != nil:
			b.mark = "picture bullet"
		}
		list = append(list, b)
	}
	return list
}

// A plainBullet is what the original compares: it knows characters only, and a
// paragraph without properties has another level than one at level 0.
type plainBullet struct{ level, char, text string }

// plainBullets lists them; not ok where the original gives up, at an empty text.
func plainBullets(root *office.Node) (list []plainBullet, ok bool) {
	for p := range root.Below("a:p") {
		var text strings.Builder
		for t := range p.Below("a:t") {
			if t.Content() == "" {
				return nil, false
			}
			text.WriteString(t.Content())
		}
		b := plainBullet{level: "none", text: text.String()}
		if ppr := p.Child("a:pPr"); ppr != nil {
			b.char = ppr.Child("a:buChar").Attr("char")
			if b.level = ppr.Attr("lvl"); b.level == "" {
				b.level = "0"
			}
		}
		if strings.TrimSpace(b.text) != "" {
			list = append(list, b)
		}
	}
	return list, true
}
