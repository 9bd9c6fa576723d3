package document

import (
	"archive/zip"
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/tasks"
)

// Namespaces of what tests write.
const (
	nsW      = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
	nsR      = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	nsM      = "http://schemas.openxmlformats.org/officeDocument/2006/math"
	nsA      = "http://schemas.openxmlformats.org/drawingml/2006/main"
	nsMC     = "http://schemas.openxmlformats.org/markup-compatibility/2006"
	nsText   = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
	nsOffice = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
	nsStyle  = "urn:oasis:names:tc:opendocument:xmlns:style:1.0"
	nsFO     = "urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"
)

// parts are the entries of a zip file.
type parts map[string]string

func (p parts) write(t testing.TB, name string) tasks.File {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range p {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		require.NoError(t, err)
		_, err = w.Write([]byte(data))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	return tasks.File{Path: path}
}

// docxParts makes the parts of a docx file with the body given as XML, and with
// other parts that the body names as their file names.
func docxParts(body string, others parts) parts {
	p := parts{
		"_rels/.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
			`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
		"word/document.xml": `<w:document xmlns:w="` + nsW + `" xmlns:r="` + nsR + `" xmlns:m="` + nsM + `" xmlns:a="` + nsA + `" xmlns:mc="` + nsMC + `"><w:body>` + body + `</w:body></w:document>`,
	}
	var rels strings.Builder
	for i := range len(others) {
		name := fmt.Sprintf("image%d.png", i+1)
		if data, ok := others[name]; ok {
			p["word/media/"+name] = data
			fmt.Fprintf(&rels, `<Relationship Id="%s" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" Target="media/%[1]s"/>`, name)
		}
	}
	for name, data := range others {
		if strings.HasPrefix(name, "footer") {
			p["word/"+name] = `<w:ftr xmlns:w="` + nsW + `">` + data + `</w:ftr>`
			fmt.Fprintf(&rels, `<Relationship Id="%s" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/footer" Target="/word/%[1]s"/>`, name)
		}
	}
	p["word/_rels/document.xml.rels"] = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` + rels.String() + `</Relationships>`
	return p
}

func docxFile(t testing.TB, body string, others parts) tasks.File {
	t.Helper()
	return docxParts(body, others).write(t, "a.docx")
}

// odtFile makes an odt file with a text and automatic styles given as XML.
func odtFile(t testing.TB, text, automatic, styles string) tasks.File {
	t.Helper()
	const names = `xmlns:office="` + nsOffice + `" xmlns:text="` + nsText + `" xmlns:style="` + nsStyle + `" xmlns:fo="` + nsFO + `" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"`
	return parts{
		"content.xml": `<office:document-content ` + names + `><office:automatic-styles>` + automatic + `</office:automatic-styles><office:body><office:text>` + text + `</office:text></office:body></office:document-content>`,
		"styles.xml":  `<office:document-styles ` + names + `><office:styles>` + styles + `</office:styles></office:document-styles>`,
	}.write(t, "a.odt")
}

// para makes a paragraph of runs; a run that begins with "<w:r>" is XML.
func para(runs ...string) string {
	var b strings.Builder
	b.WriteString("<w:p>")
	for _, r := range runs {
		if !strings.HasPrefix(r, "<") {
			r = formatted("", r)
		}
		b.WriteString(r)
	}
	return b.String() + "</w:p>"
}

// formatted makes a run with properties given as XML.
func formatted(properties, text string) string {
	return `<w:r><w:rPr>` + properties + `</w:rPr><w:t xml:space="preserve">` + text + `</w:t></w:r>`
}

// paras makes a paragraph of each text.
func paras(texts ...string) string {
	var b strings.Builder
	for _, s := range texts {
		b.WriteString(para(s))
	}
	return b.String()
}

// cells makes a table of one row, of paragraphs given as XML.
func cells(content ...string) string {
	return "<w:tbl><w:tr><w:tc>" + strings.Join(content, "</w:tc><w:tc>") + "</w:tc></w:tr></w:tbl>"
}

// pixels makes a PNG of one colour.
func pixels(t testing.TB, width, height int, c color.Color) string {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			img.Set(x, y, c)
		}
	}
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, img))
	return b.String()
}
