package getter

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/screen"
	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/osworld/metric/program"
)

func TestSizes(t *testing.T) {
	f := &fake{windows: []screen.Window{
		{Class: "vlc", Popup: true, Box: image.Rect(0, 0, 10, 10)}, {Class: "vlc-other", Box: image.Rect(0, 0, 20, 20)},
		{Class: "Vlc", Box: image.Rect(0, 0, 1920, 1080)},
	}}
	full := map[string]any{"width": 1920.0, "height": 1080.0}
	assert.Equal(t, full, get(t, f, "vm_screen_size", nil, nil))
	window := get(t, f, "vm_window_size", params("app_class_name", "vlc"), nil)
	assert.Equal(t, full, window)
	assert.Nil(t, get(t, f, "vm_window_size", params("app_class_name", "gimp"), nil))
	f.windows = append(f.windows, screen.Window{Class: "Chromium", Box: image.Rect(5, 5, 10, 20)})
	assert.Equal(t, map[string]any{"width": 5.0, "height": 15.0}, get(t, f, "vm_window_size", params("app_class_name", "google-chrome"), nil))

	score, err := program.Metrics(0)["is_vlc_fullscreen"](t.Context(), window, full, nil)
	require.NoError(t, err)
	assert.Equal(t, tasks.Yes(), score)
}

func TestListing(t *testing.T) {
	out := "dd\x00ffb.txt\x00dda\x00ffa/z\nx\x00ldlink\x00lfa/file\x00fl..odd\x00"
	f := &fake{run: func(c env.Command) (env.Output, error) {
		assert.Equal(t, "/home/user/Desktop/", c.Args[1])
		return env.Output{Stdout: []byte(out), Code: 1}, nil // a folder below cannot be read
	}}
	p := params("path", "~/Desktop/")
	file := func(name string) any { return map[string]any{"type": "file", "name": name} }
	folder := func(name string, children ...any) map[string]any {
		return map[string]any{"type": "directory", "name": name, "children": append([]any{}, children...)}
	}
	assert.Equal(t, folder("Desktop", file("..odd"), folder("a", file("file"), file("z\nx")), file("b.txt"), folder("link")),
		get(t, f, "list_directory", p, nil))
	out = "dd\x00"
	assert.Equal(t, folder("Desktop"), get(t, f, "list_directory", p, nil))
	for _, out = range []string{"", "ff\x00"} { // missing, and no folder
		assert.Nil(t, get(t, f, "list_directory", p, nil))
	}
	out = "dd\x00" + strings.Repeat("ffx\x00", maxEntries+1)
	_, err := Get(t.Context(), f, &tasks.Getter{Type: "list_directory", Params: p}, nil)
	require.ErrorContains(t, err, "more than")
}

func TestWallpaper(t *testing.T) {
	const ask = "gsettings get org.gnome.desktop.background picture-uri"
	f := &fake{files: map[string]string{"/home/user/a b.png": "picture", "/usr/share/c.png": "other"}}
	for out, want := range map[string]string{
		"'file:///home/user/a%20b.png'\n": "picture", "'/usr/share/c.png'": "other", "'file:///home/user/none.png'": "",
		"''": "", "": "", "'http://example.com/a.png'": "", "'%zz'": "",
	} {
		f.run = answers(t, map[string]string{ask: out})
		value := get(t, f, "vm_wallpaper", params("dest", "w.png"), in(t))
		if want == "" {
			assert.Nil(t, value, out)
		} else {
			assert.Equal(t, want, content(t, value), out)
		}
	}
}

func TestVLCStatus(t *testing.T) {
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		assert.Equal(t, []string{"/requests/status.xml", "", "password"}, []string{r.URL.Path, user, password})
		w.WriteHeader(status)
		w.Write([]byte("<root><state>playing</state></root>"))
	}))
	defer server.Close()
	f := &fake{server: server.Listener.Addr().String(), dials: "127.0.0.1:8080"}
	p := params("dest", "status.xml")
	assert.Equal(t, "<root><state>playing</state></root>", content(t, get(t, f, "vlc_playing_info", p, in(t))))
	status = http.StatusUnauthorized
	assert.Nil(t, get(t, f, "vlc_playing_info", p, in(t)))
	assert.Nil(t, get(t, &fake{}, "vlc_playing_info", p, in(t)), "VLC does not run")
	status = http.StatusOK
	_, err := Get(t.Context(), f, &tasks.Getter{Type: "vlc_playing_info", Params: p}, &Options{Dir: t.TempDir(), MaxFile: 10})
	require.ErrorIs(t, err, env.ErrTooLarge)
}

// Each kind of video is a command of its own, with the whole limit of one.
func TestVideoPlayer(t *testing.T) {
	opens := map[string]string{"mp4": "vlc.desktop\n", "webm": "vlc.desktop\n", "ogg": "totem.desktop\n", "3gp": "a.desktop\n", "mpeg": "\n"}
	var asked []string
	f := &fake{run: func(c env.Command) (env.Output, error) {
		require.Equal(t, []string{"xdg-mime", "query", "default"}, c.Args[:len(c.Args)-1])
		assert.Equal(t, env.DefaultLimit, c.Limit)
		kind := strings.TrimPrefix(c.Args[len(c.Args)-1], "video/")
		asked = append(asked, kind)
		return env.Output{Stdout: []byte(opens[kind])}, nil
	}}
	assert.Equal(t, "vlc.desktop\n", get(t, f, "default_video_player", nil, nil))
	assert.Equal(t, videoTypes, asked)
	clear(opens)
	assert.Equal(t, "unknown", get(t, f, "default_video_player", nil, nil))
}

func TestShortcuts(t *testing.T) {
	f := &fake{
		files: map[string]string{"/home/user/Desktop/a.desktop": "Name=A\n", "/home/user/Desktop/b.desktop": strings.Repeat("x", maxShortcut+1)},
		run: func(env.Command) (env.Output, error) {
			return env.Output{Stdout: []byte("a.desktop\x00b.desktop\x00gone.desktop\x00../../x\x00")}, nil
		},
	}
	assert.Equal(t, map[string]any{"a.desktop": "Name=A\n"}, get(t, f, "shortcuts_on_desktop", nil, in(t)))
}

// deck returns a presentation of one slide with a sound and a picture behind it.
func deck(t *testing.T, audio, background string) string {
	t.Helper()
	var file bytes.Buffer
	z := zip.NewWriter(&file)
	mode := func(target string) string {
		if strings.HasPrefix(target, "file:") {
			return ` TargetMode="External"`
		}
		return ""
	}
	const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	relations := func(inner string) string {
		return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` + inner + `</Relationships>`
	}
	for name, text := range map[string]string{
		"[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
		"_rels/.rels":         relations(`<Relationship Id="r1" Type="` + office + `/officeDocument" Target="ppt/presentation.xml"/>`),
		"ppt/presentation.xml": `<p:presentation xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="` + office + `">
			<p:sldIdLst><p:sldId id="256" r:id="r1"/></p:sldIdLst><p:sldSz cx="100" cy="100"/></p:presentation>`,
		"ppt/_rels/presentation.xml.rels": relations(`<Relationship Id="r1" Type="` + office + `/slide" Target="slides/slide1.xml"/>`),
		"ppt/slides/slide1.xml": `<p:sld xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="` + office + `"
			xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><p:cSld><p:bg><p:bgPr><a:blipFill><a:blip r:embed="r2"/></a:blipFill></p:bgPr></p:bg>
			<p:spTree/></p:cSld></p:sld>`,
		"ppt/slides/_rels/slide1.xml.rels": relations(`<Relationship Id="r1" Type="` + office + `/audio" Target="` + audio + `"` + mode(audio) + `/>
			<Relationship Id="r2" Type="` + office + `/image" Target="` + background + `"` + mode(background) + `/>`),
		"ppt/media/a.wav": "sound", "ppt/media/b.png": "picture",
	} {
		w, err := z.Create(name)
		require.NoError(t, err)
		_, err = w.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return file.String()
}

func TestSlides(t *testing.T) {
	f := &fake{files: map[string]string{
		"/home/user/in.pptx":  deck(t, "../media/a.wav", "../media/b.png"),
		"/home/user/out.pptx": deck(t, "file:///home/user/a%20b.wav", "file:///usr/share/none.png"),
		"/home/user/bad.pptx": "nonsense", "/home/user/a b.wav": "other",
	}}
	look := func(kind, file string, n any) tasks.Value {
		return get(t, f, kind, params("ppt_file_path", "/home/user/"+file, "slide_index", n, "dest", "x"), in(t))
	}
	assert.Equal(t, "sound", content(t, look("audio_in_slide", "in.pptx", 0.0)))
	assert.Equal(t, "picture", content(t, look("background_image_in_slide", "in.pptx", "0")))
	assert.Equal(t, "other", content(t, look("audio_in_slide", "out.pptx", 0.0)))
	assert.Nil(t, look("background_image_in_slide", "out.pptx", 0.0))
	assert.Nil(t, look("audio_in_slide", "in.pptx", 1.0))
	assert.Nil(t, look("audio_in_slide", "bad.pptx", 0.0))
	assert.Nil(t, look("audio_in_slide", "none.pptx", 0.0))
}

// Every look of the public tasks is one that this package knows, and written as it
// should be.
func TestPublicTasks(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(os.Getenv("OSWORLD_DATA"), "osworld_census.json"))
	if err != nil {
		t.Skip("there are no public tasks: set OSWORLD_DATA to a folder with osworld, osharm and osworld_census.json")
	}
	var census struct {
		Results  map[string]int `json:"result_getters_by_tasks"`
		Expected map[string]int `json:"expected_getters_by_tasks"`
	}
	require.NoError(t, json.Unmarshal(raw, &census))
	require.NotEmpty(t, census.Results)
	for _, list := range []map[string]int{census.Results, census.Expected} {
		for kind := range list {
			_, known := kinds[name(&tasks.Getter{Type: kind})]
			assert.True(t, known || impossible[kind] != "", kind)
		}
	}
	files, err := filepath.Glob(filepath.Join(os.Getenv("OSWORLD_DATA"), "os*", "examples", "*", "*.json"))
	require.NoError(t, err)
	checked := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var task struct {
			Evaluator struct{ Result, Expected any }
		}
		require.NoError(t, json.Unmarshal(raw, &task))
		for _, list := range []any{task.Evaluator.Result, task.Evaluator.Expected} {
			for _, p := range (tasks.Params{"list": list}).List("list") {
				g, _ := p.(map[string]any)
				if len(g) == 0 {
					continue
				}
				kind, _ := g["type"].(string)
				err := Check(&tasks.Getter{Type: kind, Params: g})
				if _, no := errors.AsType[*Unsupported](err); !no {
					assert.NoError(t, err, file)
				}
				checked++
			}
		}
	}
	t.Log(checked, "looks checked")
}
