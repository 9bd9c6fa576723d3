package office

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// write makes an archive of parts.
func write(t testing.TB, parts map[string]string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.zip")
	f, err := os.Create(name)
	require.NoError(t, err)
	defer f.Close()
	z := zip.NewWriter(f)
	for part, text := range parts {
		w, err := z.CreateHeader(&zip.FileHeader{Name: part, Method: zip.Store})
		require.NoError(t, err)
		_, err = io.WriteString(w, text)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return name
}

func open(t testing.TB, parts map[string]string) *Archive {
	t.Helper()
	a, err := Open(write(t, parts))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return a
}

const wordMain = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"

// document makes a part of WordprocessingML, with another prefix than the usual.
func document(body string) string {
	return `<x:document xmlns:x="` + wordMain + `">` + body + `</x:document>`
}

func TestXML(t *testing.T) {
	a := open(t, map[string]string{"a.xml": `<?xml version="1.0" encoding="latin1"?>` + document(
		`<x:body><x:p id="1" x:id="2">one<x:r/><!-- no --><![CDATA[<two>]]>&amp;<y xmlns="urn:y" x:id="3">in</y> three</x:p>`+
			`<p/><x:p/></x:body>`) + "<!-- end -->\n"})
	root, err := a.XML("a.xml")
	require.NoError(t, err)
	again, err := a.XML("a.xml")
	require.NoError(t, err)
	assert.Same(t, root, again)
	assert.True(t, root.Is("w:document") && root.Is("document") && !root.Is("x:document") && !root.Is("w:body"))
	p := root.Child("w:body", "w:p")
	assert.Equal(t, "w:p", p.Name)
	assert.Equal(t, []Attr{{"id", "1"}, {"w:id", "2"}}, p.Attrs, "the namespaces are no attributes")
	assert.Equal(t, "1", p.Attr("id"))
	assert.Equal(t, "2", p.Attr("w:id"))
	_, ok := p.Lookup("x:id")
	assert.False(t, ok)
	assert.Equal(t, "one<two>& three", p.Content())
	assert.Equal(t, "one", p.Text)
	assert.Equal(t, "<two>&", p.Kids[0].Tail)
	assert.Equal(t, "?:y", p.Kids[1].Name, "an unknown namespace")
	assert.Equal(t, "y", p.Kids[1].Local())
	assert.Equal(t, "in", p.Kids[1].Content())
	body := root.Child("w:body")
	assert.Len(t, slices.Collect(body.All("w:p")), 2)
	assert.Len(t, slices.Collect(body.All("p")), 3, "in any namespace")
	assert.Len(t, slices.Collect(root.Below("p")), 3)
	assert.Nil(t, root.Child("w:body", "w:tbl", "w:tr"))

	var none *Node
	assert.Nil(t, none.Child("a"))
	assert.Empty(t, none.Content()+none.Attr("a")+none.Local())
	assert.False(t, none.Is("") || none.Is("a"))
	assert.Empty(t, slices.Collect(none.All("a")))
	assert.Empty(t, slices.Collect(none.Below("a")))
}

// The strict form of ISO 29500 has the same names.
func TestStrict(t *testing.T) {
	for strict, usual := range map[string]string{
		"http://purl.oclc.org/ooxml/wordprocessingml/main": "w:t", "http://purl.oclc.org/ooxml/drawingml/main": "a:t",
		"http://purl.oclc.org/ooxml/presentationml/main": "p:t", "http://purl.oclc.org/ooxml/officeDocument/relationships": "r:t",
	} {
		root, err := open(t, map[string]string{"a": `<t xmlns="` + strict + `"/>`}).XML("a")
		require.NoError(t, err)
		assert.Equal(t, usual, root.Name)
	}
}

func TestEach(t *testing.T) {
	a := open(t, map[string]string{
		"a.xml": `<s><pre a="1"><row/></pre><table><row r="1"><c/></row><other/></table><row r="2"/><table/></s>`,
		"cut":   `<s><table><row/>`, "empty": "",
	})
	var seen []string
	collect := func(n *Node, inTable bool) error {
		seen = append(seen, fmt.Sprint(n.Name, len(n.Kids), inTable))
		return nil
	}
	require.NoError(t, a.Each("a.xml", "table", collect))
	assert.Equal(t, []string{"pre1 false", "row1 true", "other0 true", "row0 false"}, seen)
	seen = nil
	require.ErrorContains(t, a.Each("cut", "table", collect), "damaged XML")
	assert.Equal(t, []string{"row0 true"}, seen)
	require.NoError(t, a.Each("empty", "table", collect))
	require.ErrorIs(t, a.Each("none", "table", collect), ErrNoPart)
	why := errors.New("enough")
	require.ErrorIs(t, a.Each("a.xml", "table", func(*Node, bool) error { return why }), why)
}

func TestRelations(t *testing.T) {
	a := open(t, map[string]string{
		"_rels/.rels": `<Relationships><Relationship Id="1" Type="http://x/officeDocument" Target="ppt/main.xml"/></Relationships>`,
		"ppt/_rels/main.xml.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
			`<Relationship Id="b" Type="http://x/slide" Target="slides\b.xml"/>` +
			`<Relationship Id="a" Type="http://x/slide" Target="/ppt/./slides/../a.xml"/>` +
			`<Relationship Id="out" Type="slide" Target="../../../etc/passwd"/>` +
			`<Relationship Id="web" Type="http://x/slide" Target="http://x/../y" TargetMode="External"/>` +
			`<Relationship Id="file" Type="http://x/audio" Target="file:///a%20b"/></Relationships>`,
		"bad/_rels/x.rels": "<Relationships",
	})
	main, err := a.Relations("")
	require.NoError(t, err)
	assert.Equal(t, "ppt/main.xml", main.First("officeDocument"))
	assert.Empty(t, main.First("image"))
	r, err := a.Relations("ppt/main.xml")
	require.NoError(t, err)
	assert.Equal(t, []string{"ppt/slides/b.xml", "ppt/a.xml", "etc/passwd"}, r.Parts("slide"), "in order, and never out of the archive")
	assert.Empty(t, r.First("audio"))
	one, ok := r.ByID("web")
	assert.True(t, ok)
	assert.Equal(t, Relation{"web", "slide", "http://x/../y", true}, one)
	one, _ = r.ByID("file")
	assert.True(t, one.External)
	_, ok = r.ByID("none")
	assert.False(t, ok)
	assert.Len(t, r.List, 5)
	none, err := a.Relations("ppt/other.xml")
	require.NoError(t, err)
	assert.Empty(t, none.List)
	_, err = a.Relations("bad/x")
	require.ErrorContains(t, err, "damaged XML")
}

func TestParts(t *testing.T) {
	a := open(t, map[string]string{`b\c.xml`: "x", "/a": "abc", "d": ""})
	assert.Equal(t, []string{"a", "b/c.xml", "d"}, a.Parts())
	assert.True(t, a.Has("b/c.xml"))
	assert.False(t, a.Has("c.xml"))
	data, err := a.Read("a", 3)
	require.NoError(t, err)
	assert.Equal(t, "abc", string(data))
	_, err = a.Read("a", 2)
	require.ErrorIs(t, err, ErrTooLarge)
	_, err = a.Read("none", 1)
	require.ErrorIs(t, err, ErrNoPart)
}

// zeros has no end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// bomb makes a file that unpacks to many bytes.
func bomb(t *testing.T, part string, method uint16, bytes int64) string {
	name := filepath.Join(t.TempDir(), "bomb.zip")
	f, err := os.Create(name)
	require.NoError(t, err)
	defer f.Close()
	z := zip.NewWriter(f)
	w, err := z.CreateHeader(&zip.FileHeader{Name: part, Method: method})
	require.NoError(t, err)
	_, err = io.CopyN(w, zeros{}, bytes)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return name
}

// lying makes a file with a part that has more bytes than it says.
func lying(t *testing.T, part string, says uint64) string {
	data, err := os.ReadFile(bomb(t, part, zip.Deflate, 1<<20))
	require.NoError(t, err)
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	raw, err := r.File[0].OpenRaw()
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "lying.zip")
	f, err := os.Create(name)
	require.NoError(t, err)
	defer f.Close()
	z := zip.NewWriter(f)
	header := r.File[0].FileHeader
	header.UncompressedSize64 = says
	w, err := z.CreateRaw(&header)
	require.NoError(t, err)
	_, err = io.Copy(w, raw)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return name
}

// What is too large is an error that costs little.
func TestLimits(t *testing.T) {
	large := func(t *testing.T, err error, why string) {
		t.Helper()
		require.ErrorIs(t, err, ErrTooLarge)
		require.ErrorContains(t, err, why)
	}
	t.Run("file", func(t *testing.T) {
		huge := filepath.Join(t.TempDir(), "huge.docx")
		require.NoError(t, os.WriteFile(huge, nil, 0o600))
		require.NoError(t, os.Truncate(huge, maxFile+1))
		_, err := Open(huge)
		large(t, err, "a file of more than 512 MiB")
	})
	t.Run("entries", func(t *testing.T) {
		parts := map[string]string{}
		for i := range maxEntries + 1 {
			parts[fmt.Sprint(i)] = ""
		}
		_, err := Open(write(t, parts))
		large(t, err, "20001 parts, at most 20000 are read")
	})
	t.Run("list of entries", func(t *testing.T) {
		parts := map[string]string{}
		for i := range maxList>>16 + 1 {
			parts[fmt.Sprint(i)+strings.Repeat("x", 1<<16-10)] = ""
		}
		_, err := Open(write(t, parts))
		large(t, err, "the list of its entries")
	})
	t.Run("part", func(t *testing.T) {
		a, err := Open(bomb(t, "a", zip.Store, maxXML+1))
		require.NoError(t, err)
		defer a.Close()
		_, err = a.XML("a")
		large(t, err, "more than 33554432 bytes")
		large(t, a.Each("a", "", nil), "more than 33554432 bytes")
		_, err = a.Read("a", 0)
		require.NoError(t, err, "pictures may be larger")
		a, err = Open(lying(t, "a", 1000))
		require.NoError(t, err)
		defer a.Close()
		_, err = a.Read("a", 1000)
		require.ErrorIs(t, err, zip.ErrFormat, "it has more than its list says")
	})
	t.Run("all parts", func(t *testing.T) {
		a := open(t, map[string]string{"a": "<a>" + strings.Repeat("x", 600) + "</a>", "b": "<b>" + strings.Repeat("x", 600) + "</b>"})
		a.xml, a.other = 1000, 1000
		_, err := a.XML("a")
		require.NoError(t, err)
		_, err = a.XML("a")
		require.NoError(t, err, "it is not unpacked again")
		_, err = a.XML("b")
		large(t, err, "bytes")
		_, err = a.Read("a", 1<<20)
		require.NoError(t, err)
		_, err = a.Read("b", 1<<20)
		large(t, err, "bytes")
	})
	t.Run("depth", func(t *testing.T) {
		text := strings.Repeat("<a>", maxDepth) + strings.Repeat("</a>", maxDepth)
		a := open(t, map[string]string{"fits": text, "deep": "<a>" + text + "</a>", "deeper": strings.Repeat("<a>", 100_000)})
		_, err := a.XML("fits")
		require.NoError(t, err)
		_, err = a.XML("deep")
		large(t, err, "elements lie more than 256 deep")
		for _, part := range []string{"deep", "deeper"} {
			large(t, a.Each(part, "", func(*Node, bool) error { return nil }), "elements lie more than 256 deep")
		}
	})
	t.Run("elements", func(t *testing.T) {
		a := open(t, map[string]string{
			"a": "<a>" + strings.Repeat("<b/>", 100) + "</a>", "b": `<a x="1" y="2" z="3"/>`, "c": `<a><b x="1" y="2"><c/></b></a>`,
		})
		a.nodes = 103
		_, err := a.XML("a")
		require.NoError(t, err)
		assert.Equal(t, 2, a.nodes, "all parts have them in common")
		_, err = a.XML("b")
		large(t, err, "more than 2000000 elements and attributes")
		require.NoError(t, a.Each("a", "", func(*Node, bool) error { return nil }), "what is not kept does not count")
		a.child = 3
		large(t, a.Each("c", "", func(*Node, bool) error { return nil }), "elements and attributes")
		require.NoError(t, a.Each("a", "", func(*Node, bool) error { return nil }), "each child has them")
	})
	t.Run("tags", func(t *testing.T) {
		a := open(t, map[string]string{"a": "<a>" + strings.Repeat("<b/>", maxTags) + "</a>"})
		_, err := a.XML("a")
		large(t, err, "more than 3000000 tags")
		large(t, a.Each("a", "", nil), "more than 3000000 tags")
	})
	t.Run("pieces of text", func(t *testing.T) {
		root, err := open(t, map[string]string{"a": "<a>" + strings.Repeat("<![CDATA[x]]>", 100_000) + "</a>"}).XML("a")
		require.NoError(t, err)
		assert.Len(t, root.Text, 100_000)
	})
}

func TestDamaged(t *testing.T) {
	a := open(t, map[string]string{
		"empty": "", "text": "text", "cut": "<a>", "after": "<a/><", "entity": `<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>`,
		"latin1": "<a>\xe9</a>",
	})
	for _, part := range a.Parts() {
		_, err := a.XML(part)
		assert.ErrorContains(t, err, "damaged XML", part)
		assert.ErrorContains(t, err, part)
	}
	_, err := a.XML("none")
	require.ErrorIs(t, err, ErrNoPart)

	_, err = Open(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.Equal(t, "the file is missing or cannot be opened: no such file or directory", err.Error(), "without its path")
	_, err = Open(t.TempDir())
	require.ErrorContains(t, err, "not a regular file")
	text := filepath.Join(t.TempDir(), "a.docx")
	require.NoError(t, os.WriteFile(text, []byte("no archive"), 0o600))
	_, err = Open(text)
	require.ErrorIs(t, err, zip.ErrFormat)
}
