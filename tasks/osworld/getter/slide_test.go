package getter

import (
	"archive/zip"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/tasks/office"
)

// A fakeSlide is a slide to write.
type fakeSlide struct {
	background string // within p:bgPr
	rels       [][3]string
}

// presentation writes a pptx file.
func presentation(t *testing.T, more map[string]string, slides ...fakeSlide) string {
	t.Helper()
	const kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	const spaces = ` xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"` +
		` xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="` + kinds + `"`
	relations := func(rels ...[3]string) string {
		var text strings.Builder
		for _, r := range rels {
			text.WriteString(fmt.Sprintf(`<Relationship Id="%s" Type="%s/%s" Target="%s"/>`, r[0], kinds, r[1], r[2]))
		}
		return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` + text.String() + `</Relationships>`
	}
	files := map[string]string{"_rels/.rels": relations([3]string{"1", "officeDocument", "ppt/presentation.xml"})}
	ids, own := "", [][3]string{}
	for i, s := range slides {
		ids += fmt.Sprintf(`<p:sldId r:id="s%d"/>`, i)
		own = append(own, [3]string{fmt.Sprintf("s%d", i), "slide", fmt.Sprintf("slides/slide%d.xml", i)})
		files[fmt.Sprintf("ppt/slides/slide%d.xml", i)] = `<p:sld` + spaces + `><p:cSld><p:bg><p:bgPr>` + s.background + `</p:bgPr></p:bg></p:cSld></p:sld>`
		files[fmt.Sprintf("ppt/slides/_rels/slide%d.xml.rels", i)] = relations(s.rels...)
	}
	files["ppt/presentation.xml"] = `<p:presentation` + spaces + `><p:sldIdLst>` + ids + `</p:sldIdLst></p:presentation>`
	files["ppt/_rels/presentation.xml.rels"] = relations(own...)
	maps.Copy(files, more)
	name := filepath.Join(t.TempDir(), "a.pptx")
	f, err := os.Create(name)
	require.NoError(t, err)
	defer f.Close()
	z := zip.NewWriter(f)
	for part, text := range files {
		w, err := z.Create(part)
		require.NoError(t, err)
		_, err = io.WriteString(w, text)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return name
}

func TestSlideAudio(t *testing.T) {
	name := presentation(t, map[string]string{"ppt/media/media1.mp3": "sound"},
		fakeSlide{rels: [][3]string{{"i", "image", "../media/icon.png"}, {"a", "audio", "../media/media1.mp3"}}},
		fakeSlide{rels: [][3]string{{"a", "audio", "file:///home/user/a%20song.mp3"}}},
		fakeSlide{},
		fakeSlide{rels: [][3]string{{"a", "audio", "../../../etc/passwd"}}},
		fakeSlide{rels: [][3]string{{"a", "audio", "file://host"}}},
	)
	data, external, err := media(name, 0, audio)
	require.NoError(t, err)
	assert.Equal(t, "sound", string(data))
	assert.Empty(t, external)
	data, external, err = media(name, 1, audio)
	require.NoError(t, err)
	assert.Equal(t, "/home/user/a song.mp3", external)
	assert.Nil(t, data)
	for _, n := range []int{-1, 2, 5} {
		_, _, err = media(name, n, audio)
		require.ErrorIs(t, err, errNoMedia, n)
	}
	_, _, err = media(name, 3, audio)
	require.ErrorContains(t, err, `"etc/passwd": no such part`)
	_, _, err = media(name, 4, audio)
	require.ErrorContains(t, err, "file://")
}

func TestSlideBackground(t *testing.T) {
	picture := `<a:blipFill><a:blip r:embed="i"/></a:blipFill>`
	name := presentation(t, map[string]string{"ppt/media/image1.png": "picture"},
		fakeSlide{background: picture, rels: [][3]string{{"other", "image", "../media/image2.png"}, {"i", "image", "../media/image1.png"}}},
		fakeSlide{background: picture, rels: [][3]string{{"i", "image", "file:///home/user/a.png"}}},
		fakeSlide{rels: [][3]string{{"i", "image", "../media/image1.png"}}},
		fakeSlide{background: strings.ReplaceAll(picture, "embed", "link"), rels: [][3]string{{"i", "image", "file:///home/user/b.png"}}},
	)
	data, _, err := media(name, 0, background)
	require.NoError(t, err)
	assert.Equal(t, "picture", string(data))
	_, external, err := media(name, 1, background)
	require.NoError(t, err)
	assert.Equal(t, "/home/user/a.png", external)
	_, _, err = media(name, 2, background)
	require.ErrorIs(t, err, errNoMedia, "a picture on the slide is not behind it")
	_, external, err = media(name, 3, background)
	require.NoError(t, err)
	assert.Equal(t, "/home/user/b.png", external)
}

func TestSlideDamaged(t *testing.T) {
	cut := presentation(t, map[string]string{"ppt/slides/slide0.xml": "<p:sld"}, fakeSlide{})
	_, _, err := media(cut, 0, audio)
	require.ErrorContains(t, err, "damaged XML")
	bomb := presentation(t, map[string]string{"ppt/slides/slide0.xml": "<a>" + strings.Repeat(" ", 33<<20) + "</a>"}, fakeSlide{})
	_, _, err = media(bomb, 0, audio)
	require.ErrorIs(t, err, office.ErrTooLarge)
}
