package office

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

const (
	maxDepth = 256       // of elements in elements
	maxTags  = 3_000_000 // beginnings and ends of elements in a part
	maxNodes = 2_000_000 // elements and attributes of all trees of an archive, or of a child in [Archive.Each]
)

// prefixes are the names by which this package calls namespaces; those at
// purl.oclc.org are of the strict form of ISO 29500.
var prefixes = map[string]string{
	"http://schemas.openxmlformats.org/wordprocessingml/2006/main":        "w",
	"http://purl.oclc.org/ooxml/wordprocessingml/main":                    "w",
	"http://schemas.openxmlformats.org/presentationml/2006/main":          "p",
	"http://purl.oclc.org/ooxml/presentationml/main":                      "p",
	"http://schemas.openxmlformats.org/drawingml/2006/main":               "a",
	"http://purl.oclc.org/ooxml/drawingml/main":                           "a",
	"http://schemas.openxmlformats.org/officeDocument/2006/relationships": "r",
	"http://purl.oclc.org/ooxml/officeDocument/relationships":             "r",
	"http://schemas.openxmlformats.org/officeDocument/2006/math":          "m",
	"http://purl.oclc.org/ooxml/officeDocument/math":                      "m",
	"http://schemas.openxmlformats.org/markup-compatibility/2006":         "mc",
	"http://schemas.microsoft.com/office/powerpoint/2010/main":            "p14",
	"urn:oasis:names:tc:opendocument:xmlns:office:1.0":                    "office",
	"urn:oasis:names:tc:opendocument:xmlns:style:1.0":                     "style",
	"urn:oasis:names:tc:opendocument:xmlns:text:1.0":                      "text",
	"urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0":         "fo",
}

// unknown stands for all other namespaces.
const unknown = "?"

// A Node is an element of XML. All its methods work on nil, which has nothing.
//
// Names of elements have the usual prefix of their namespace, whatever the file
// calls it, such as "w:p" or "text:span". A name without a prefix that a method is
// given means elements in any namespace, and attributes in none.
type Node struct {
	Name  string
	Attrs []Attr
	Text  string // before the first kid
	Kids  []*Node
	Tail  string // after the element, up to the next
}

// An Attr is an attribute.
type Attr struct{ Name, Value string }

// Is reports whether an element has a name.
func (n *Node) Is(name string) bool {
	return n != nil && (n.Name == name || n.Local() == name)
}

// Local returns the name without its prefix.
func (n *Node) Local() string {
	if n == nil {
		return ""
	}
	return n.Name[strings.IndexByte(n.Name, ':')+1:]
}

// Attr returns an attribute, "" if it is not there.
func (n *Node) Attr(name string) string {
	v, _ := n.Lookup(name)
	return v
}

// Lookup returns an attribute, and whether it is there.
func (n *Node) Lookup(name string) (value string, ok bool) {
	if n == nil {
		return "", false
	}
	for _, a := range n.Attrs {
		if a.Name == name {
			return a.Value, true
		}
	}
	return "", false
}

// Child follows names down, each to the first child of that name; nil if there is
// none.
func (n *Node) Child(names ...string) *Node {
	for _, name := range names {
		var next *Node
		for k := range n.All(name) {
			next = k
			break
		}
		n = next
	}
	return n
}

// All yields the children of a name.
func (n *Node) All(name string) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		if n == nil {
			return
		}
		for _, k := range n.Kids {
			if k.Is(name) && !yield(k) {
				return
			}
		}
	}
}

// Below yields the elements of a name below n, at any depth and in the order of the
// document.
func (n *Node) Below(name string) iter.Seq[*Node] {
	return func(yield func(*Node) bool) { n.walk(name, yield) }
}

func (n *Node) walk(name string, yield func(*Node) bool) bool {
	if n == nil {
		return true
	}
	for _, k := range n.Kids {
		if k.Is(name) && !yield(k) || !k.walk(name, yield) {
			return false
		}
	}
	return true
}

// Content returns the text that lies directly in an element.
func (n *Node) Content() string {
	if n == nil {
		return ""
	}
	if len(n.Kids) == 0 {
		return n.Text
	}
	var b strings.Builder
	b.WriteString(n.Text)
	for _, k := range n.Kids {
		b.WriteString(k.Tail)
	}
	return b.String()
}

// XML returns a part as a tree, which all who ask for it share.
func (a *Archive) XML(part string) (*Node, error) {
	if root, ok := a.parsed[part]; ok {
		return root, nil
	}
	p, err := a.parser(part)
	if err != nil {
		return nil, err
	}
	root, err := p.document(&a.nodes)
	if err != nil {
		return nil, fmt.Errorf("%.80q: %w", part, err)
	}
	a.parsed[part] = root
	return root, nil
}

// Each reads a part bit by bit, for one that is too large to lie in memory as a
// tree: it visits the children of the root, in order, and instead of the children
// with the name table the children of these. Only a child that visit keeps stays in
// memory. An error of visit ends it.
func (a *Archive) Each(part, table string, visit func(n *Node, inTable bool) error) error {
	p, err := a.parser(part)
	if err != nil {
		return err
	}
	if err := p.each(table, a.child, visit); err != nil {
		return fmt.Errorf("%.80q: %w", part, err)
	}
	return nil
}

// A parser reads one document.
type parser struct {
	d     *xml.Decoder
	names map[xml.Name]string
}

// parser unpacks a part. It takes no other encoding than UTF-8, which it assumes
// whatever the declaration says.
func (a *Archive) parser(part string) (*parser, error) {
	data, err := a.read(part, maxXML, &a.xml)
	if err != nil {
		return nil, err
	}
	if bytes.Count(data, []byte("<")) > maxTags {
		return nil, fmt.Errorf("%.80q: %w: more than %d tags", part, ErrTooLarge, maxTags)
	}
	p := &parser{d: xml.NewDecoder(bytes.NewReader(data)), names: map[xml.Name]string{}}
	p.d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	return p, nil
}

// token returns the next token; its error is [io.EOF] at the end of the document.
func (p *parser) token() (xml.Token, error) {
	t, err := p.d.Token()
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("damaged XML: %w", err)
	}
	return t, err
}

// start skips to the beginning of the next element.
func (p *parser) start() (xml.StartElement, error) {
	for {
		t, err := p.token()
		if err != nil {
			return xml.StartElement{}, err
		}
		if start, ok := t.(xml.StartElement); ok {
			return start, nil
		}
	}
}

// document reads a whole document, and takes its elements and attributes from those
// that are left.
func (p *parser) document(left *int) (*Node, error) {
	start, err := p.start()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("damaged XML: it is empty")
	} else if err != nil {
		return nil, err
	}
	root, err := p.element(start, 1, left)
	for err == nil {
		_, err = p.token() // what follows must be XML too
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return root, nil
}

// each does [Archive.Each]. A child has at most so many elements and attributes.
func (p *parser) each(table string, most int, visit func(n *Node, inTable bool) error) error {
	depth := 0 // of what is open: the root, and a table in it
	for {
		t, err := p.token()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.EndElement:
			depth--
		case xml.StartElement:
			if depth == 0 || depth == 1 && t.Name.Local == table {
				depth++
				continue
			}
			left := most
			n, err := p.element(t, depth+1, &left)
			if err == nil {
				err = visit(n, depth == 2)
			}
			if err != nil {
				return err
			}
		}
	}
}

// element reads an element that has begun and lies so deep, 1 for the root.
func (p *parser) element(start xml.StartElement, depth int, left *int) (*Node, error) {
	root, err := p.node(start, left)
	if err != nil {
		return nil, err
	}
	open, text := []*Node{root}, []byte(nil)
	for len(open) > 0 {
		t, err := p.token()
		if err != nil {
			return nil, err
		}
		top := open[len(open)-1]
		if data, ok := t.(xml.CharData); ok {
			text = append(text, data...)
			continue
		}
		start, begins := t.(xml.StartElement)
		if _, ends := t.(xml.EndElement); !begins && !ends {
			continue
		}
		if k := len(top.Kids); k > 0 {
			top.Kids[k-1].Tail = string(text)
		} else {
			top.Text = string(text)
		}
		text = text[:0]
		if !begins {
			open = open[:len(open)-1]
			continue
		}
		if depth+len(open) > maxDepth {
			return nil, fmt.Errorf("%w: elements lie more than %d deep", ErrTooLarge, maxDepth)
		}
		n, err := p.node(start, left)
		if err != nil {
			return nil, err
		}
		top.Kids, open = append(top.Kids, n), append(open, n)
	}
	return root, nil
}

// node makes an element without what is in it.
func (p *parser) node(start xml.StartElement, left *int) (*Node, error) {
	if *left -= 1 + len(start.Attr); *left < 0 {
		return nil, fmt.Errorf("%w: more than %d elements and attributes", ErrTooLarge, maxNodes)
	}
	n := &Node{Name: p.name(start.Name)}
	for _, a := range start.Attr {
		if a.Name.Space != "xmlns" && a.Name != (xml.Name{Local: "xmlns"}) {
			n.Attrs = append(n.Attrs, Attr{p.name(a.Name), a.Value})
		}
	}
	return n, nil
}

// name returns the name that this package has for one of XML.
func (p *parser) name(name xml.Name) string {
	if name.Space == "" {
		return name.Local
	}
	known, ok := p.names[name]
	if !ok {
		prefix, usual := prefixes[name.Space]
		if !usual {
			prefix = unknown
		}
		known = prefix + ":" + name.Local
		p.names[name] = known
	}
	return known
}
