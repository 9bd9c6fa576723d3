package office

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPrepend holds that a text becomes the first paragraph of a Word document, whatever
// characters it has, that other parts stay as they are, and that what is no such document is
// refused.
func TestPrepend(t *testing.T) {
	var from bytes.Buffer
	w := zip.NewWriter(&from)
	for name, text := range map[string]string{"word/document.xml": "<w:document><w:body><w:p/></w:body></w:document>", "other.xml": "<x/>"} {
		part, err := w.Create(name)
		require.NoError(t, err)
		_, err = part.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	out, err := Prepend(from.Bytes(), "do <this> & that")
	require.NoError(t, err)
	r, err := zip.NewReader(bytes.NewReader(out), int64(len(out)))
	require.NoError(t, err)
	require.Len(t, r.File, 2)
	f, err := r.Open("word/document.xml")
	require.NoError(t, err)
	var text bytes.Buffer
	_, err = text.ReadFrom(f)
	require.NoError(t, err)
	assert.Equal(t, "<w:document><w:body><w:p><w:r><w:t>do &lt;this&gt; &amp; that</w:t></w:r></w:p><w:p/></w:body></w:document>", text.String())
	other, err := fs.ReadFile(r, "other.xml")
	require.NoError(t, err)
	assert.Equal(t, "<x/>", string(other))
	_, err = Prepend([]byte("no archive"), "x")
	require.Error(t, err)
	_, err = rewrite(from.Bytes(), "xl/workbook.xml", func(text []byte) ([]byte, error) { return text, nil })
	require.ErrorIs(t, err, ErrNoPart)
	none, err := rewrite(from.Bytes(), "word/document.xml", func([]byte) ([]byte, error) { return []byte("<w:document/>"), nil })
	require.NoError(t, err)
	_, err = Prepend(none, "x")
	require.ErrorContains(t, err, "it has no body")
}
