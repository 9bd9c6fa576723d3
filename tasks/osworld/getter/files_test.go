package getter

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"desktop-agent/tasks"
	"desktop-agent/tasks/asset"
	"desktop-agent/tasks/env"
)

func TestVMFile(t *testing.T) {
	f := &fake{
		files: map[string]string{"/home/user/a.txt": "one", "/home/user/b.txt": "two", "/usr/share/c": "three", "/home/user/large": "0123456789"},
		now:   time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
	}
	o := in(t)
	assert.Equal(t, "one", content(t, get(t, f, "vm_file", params("path", "~/a.txt", "dest", "sub/a"), o)))
	assert.Equal(t, "three", content(t, get(t, f, "vm_file", params("path", "/usr/share/c", "dest", "c"), o)))
	assert.Nil(t, get(t, f, "vm_file", params("path", "/home/user/none", "dest", "none"), o))
	assert.Nil(t, get(t, f, "vm_file", params("path", "/usr/share/none", "dest", "none"), o))

	several := params("path", []any{"a.txt", "none", "b.txt"}, "dest", []any{"x", "y", "z"}, "multi", "true")
	all := map[string]string{"x": filepath.Join(o.Dir, "x"), "z": filepath.Join(o.Dir, "z")}
	assert.Equal(t, tasks.File{Path: filepath.Join(o.Dir, "x"), All: all}, get(t, f, "vm_file", several, o), "the first is given by default")
	assert.FileExists(t, filepath.Join(o.Dir, "z"), "all are copied")
	several["gives"] = []any{2.0, 1.0}
	assert.Equal(t, tasks.Files{{All: all}, {Path: filepath.Join(o.Dir, "z"), All: all}}, get(t, f, "vm_file", several, o), "in order, and the missing one empty")
	several["gives"] = []any{1.0}
	assert.Equal(t, tasks.File{All: all}, get(t, f, "vm_file", several, o), "no file, but others beside it")
	several["path"] = []any{"none", "none", "none"}
	assert.Nil(t, get(t, f, "vm_file", several, o))

	stamped := params("path", "a.txt", "dest", "a.txt", "time_suffix", true)
	assert.Equal(t, filepath.Join(o.Dir, "a_20260304_050607.txt"), get(t, f, "vm_file", stamped, o).(tasks.File).Path)
	stamped["time_format"] = "%d.%b%%"
	assert.Equal(t, filepath.Join(o.Dir, "a_04.Mar%.txt"), get(t, f, "vm_file", stamped, o).(tasks.File).Path)
	for _, format := range []string{"%Q", "%", "/../../../%Y"} {
		stamped["time_format"] = format
		_, err := Get(t.Context(), f, &tasks.Getter{Type: "vm_file", Params: stamped}, o)
		assert.Error(t, err, format)
	}

	assert.Nil(t, get(t, f, "vm_file", params("path", "large", "dest", "l"), &Options{Dir: o.Dir, MaxFile: 9}))
	assert.NotNil(t, get(t, f, "vm_file", params("path", "large", "dest", "l"), &Options{Dir: o.Dir, MaxFile: 10}))
}

// A copy of an earlier look does not stand for a file that has gone.
func TestFileGone(t *testing.T) {
	f := &fake{files: map[string]string{"/home/user/a": "one"}}
	o := in(t)
	p := params("path", "a", "dest", "a")
	require.NotNil(t, get(t, f, "vm_file", p, o))
	delete(f.files, "/home/user/a")
	assert.Nil(t, get(t, f, "vm_file", p, o))
	assert.NoFileExists(t, filepath.Join(o.Dir, "a"))
}

// A computer that is gone has no files, but that is not the agent's doing.
func TestComputerGone(t *testing.T) {
	f := &fake{files: map[string]string{"/home/user/a": "one"}, err: errors.New("the display is gone")}
	_, err := Get(t.Context(), f, &tasks.Getter{Type: "vm_file", Params: params("path", "a", "dest", "a")}, in(t))
	require.ErrorIs(t, err, f.err)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Get(ctx, &fake{}, &tasks.Getter{Type: "bookmarks"}, in(t))
	require.ErrorIs(t, err, context.Canceled)
}

func TestCloudFile(t *testing.T) {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch requests++; r.URL.Path {
		case "/gold.txt":
			w.Write([]byte("gold"))
		case "/late.txt":
			if requests < 3 {
				w.WriteHeader(http.StatusBadGateway)
			}
			w.Write([]byte("late"))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	o := &Options{Dir: t.TempDir(), Cache: t.TempDir(), Suite: t.TempDir(), TaskID: "task-1", Client: server.Client()}
	g := &tasks.Getter{Type: "cloud_file", Params: params("path", server.URL+"/gold.txt", "dest", "gold.txt")}
	cached := filepath.Join(o.Cache, "task-1", "gold.txt")

	offline := *o
	offline.Offline = true
	_, err := Get(t.Context(), &fake{}, g, &offline)
	require.ErrorIs(t, err, asset.ErrAbsent)
	assets, err := Assets(g, o)
	require.NoError(t, err)
	assert.Equal(t, []asset.Asset{{Source: server.URL + "/gold.txt", File: cached, Lacks: true}}, assets)

	value := get(t, &fake{}, g.Type, g.Params, o)
	assert.Equal(t, tasks.File{Path: cached}, value)
	assert.Equal(t, "gold", content(t, value))
	lock, err := os.ReadFile(filepath.Join(o.Cache, "task-1", "assets.lock"))
	require.NoError(t, err)
	assert.Contains(t, string(lock), "24d7f03d8dc3c3666969e6fa5bb1fac4736d3f1353c28307ed51b320f9dc42d3\tgold.txt\t"+server.URL+"/gold.txt\n")
	before := requests
	assert.Equal(t, value, get(t, &fake{}, g.Type, g.Params, &offline), "it is in the cache now")
	assert.Equal(t, before, requests)

	requests = 0
	assert.Equal(t, "late", content(t, get(t, &fake{}, "cloud_file", params("path", server.URL+"/late.txt", "dest", "late.txt"), o)))
	for path, want := range map[string]string{
		server.URL + "/none": "404", "ftp://127.0.0.1/a": "only http", "../secret": "escapes", "file://assets/none": "no such file",
	} {
		_, err := Get(t.Context(), &fake{}, &tasks.Getter{Type: "cloud_file", Params: params("path", path, "dest", "x")}, o)
		assert.ErrorContains(t, err, want, path)
	}
	small := *o
	small.MaxFile, small.TaskID = 3, "task-2"
	_, err = Get(t.Context(), &fake{}, g, &small)
	require.ErrorIs(t, err, env.ErrTooLarge)
	assert.NoFileExists(t, filepath.Join(o.Cache, "task-2", "gold.txt"))

	require.NoError(t, os.Mkdir(filepath.Join(o.Suite, "assets"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(o.Suite, "assets", "a"), []byte("own"), 0o644))
	for _, path := range []string{"file://assets/a", "assets/a"} {
		assert.Equal(t, "own", content(t, get(t, &fake{}, "cloud_file", params("path", path, "dest", "own"), &offline)), path)
	}
	bad := *o
	bad.TaskID = "../x"
	_, err = Get(t.Context(), &fake{}, g, &bad)
	require.ErrorContains(t, err, "task id")
}

// A gold file that changes is an error, as in set-up, and a server that is busy is
// asked again.
func TestCloudFileChanged(t *testing.T) {
	gold, busy := "gold", 1
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if busy > 0 {
			busy--
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		_, _ = w.Write([]byte(gold))
	}))
	defer server.Close()
	o := &Options{Dir: t.TempDir(), Cache: t.TempDir(), TaskID: "t", Client: server.Client()}
	g := &tasks.Getter{Type: "cloud_file", Params: params("path", server.URL+"/gold.txt", "dest", "gold.txt")}
	assert.Equal(t, "gold", content(t, get(t, &fake{}, g.Type, g.Params, o)), "after 429")
	assert.Zero(t, busy)

	gold = "changed"
	file := filepath.Join(o.Cache, "t", "gold.txt")
	require.NoError(t, os.Remove(file))
	value, err := Get(t.Context(), &fake{}, g, o)
	require.ErrorIs(t, err, asset.ErrChanged)
	assert.Nil(t, value)
	require.NoError(t, os.WriteFile(file, []byte(gold), 0o644))
	o.Offline = true
	value, err = Get(t.Context(), &fake{}, g, o)
	require.ErrorIs(t, err, asset.ErrChanged)
	assert.Nil(t, value)
}

func TestCacheFile(t *testing.T) {
	o := &Options{Cache: t.TempDir(), TaskID: "t", Saved: t.TempDir()}
	assert.Nil(t, get(t, &fake{}, "cache_file", params("path", "out.txt"), o))
	require.NoError(t, os.Mkdir(filepath.Join(o.Cache, "t"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(o.Cache, "t", "out.txt"), []byte("cached"), 0o644))
	assert.Equal(t, "cached", content(t, get(t, &fake{}, "cache_file", params("path", "out.txt"), o)))
	require.NoError(t, os.WriteFile(filepath.Join(o.Saved, "out.txt"), []byte("saved"), 0o644))
	assert.Equal(t, "saved", content(t, get(t, &fake{}, "cache_file", params("path", "out.txt"), o)))
}

func TestConfigFiles(t *testing.T) {
	f := &fake{files: map[string]string{
		"/home/user/.config/vlc/vlcrc": "vlc", "/home/user/.config/GIMP/3.0/gimprc": "new", "/home/user/.config/GIMP/2.10/gimprc": "old",
		"/home/user/.config/GIMP/3.0/other": "other",
	}}
	o := in(t)
	assert.Equal(t, "vlc", content(t, get(t, f, "vlc_config", params("dest", "vlcrc"), o)))
	assert.Equal(t, "old", content(t, get(t, f, "gimp_config_file", params("file_name", "gimprc", "dest", "g"), o)))
	assert.Equal(t, "other", content(t, get(t, f, "gimp_config_file", params("file_name", "other", "dest", "g"), o)))
	assert.Nil(t, get(t, f, "gimp_config_file", params("file_name", "none", "dest", "g"), o))
}

func TestContent(t *testing.T) {
	book := excelize.NewFile()
	require.NoError(t, book.SetSheetRow("Sheet1", "A1", &[]any{"name", "number"}))
	require.NoError(t, book.SetSheetRow("Sheet1", "A2", &[]any{"x", 1}))
	require.NoError(t, book.SetSheetRow("Sheet1", "A3", &[]any{"y", 2}))
	text, err := book.WriteToBuffer()
	require.NoError(t, err)
	f := &fake{files: map[string]string{"/home/user/a.xlsx": text.String(), "/home/user/b.xlsx": "nonsense"}}
	row := func(path string) tasks.Value {
		return get(t, f, "content_from_vm_file", params("path", path, "file_type", "xlsx", "file_content", "last_row"), in(t))
	}
	assert.Equal(t, []any{"y", "2"}, row("/home/user/a.xlsx"))
	assert.Nil(t, row("/home/user/b.xlsx"))
	assert.Nil(t, row("/home/user/none.xlsx"))
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		kind string
		p    tasks.Params
		want string // part of the error; "" for none
	}{
		{"vm_file", params("path", "a", "dest", "a"), ""},
		{"vm_fiel", nil, "the nearest are vm_file"},
		{"", nil, "unknown getter"},
		{strings.Repeat("x", 1<<20), nil, "unknown getter"},
		{"vm_file", params("path", "a"), "path or dest is missing"},
		{"vm_file", params("path", "a", "dest", "../a"), "leaves its folder"},
		{"vm_file", params("path", "a", "dest", "/etc/a"), "leaves its folder"},
		{"vm_file", params("path", "a", "dest", `..\a`), "leaves its folder"},
		{"vm_file", params("path", "a", "dest", "."), "leaves its folder"},
		{"vm_file", params("path", "a\x00", "dest", "a"), "names no file"},
		{"vm_file", params("path", []any{"a", "b"}, "dest", []any{"a"}, "multi", true), "path has 2 names and dest 1"},
		{"vm_file", params("path", []any{"a", "b"}, "dest", []any{"a", "b"}), "set multi"},
		{"vm_file", params("path", "a", "dest", "a", "gives", []any{1.0}), "gives"},
		{"vm_file", params("path", map[string]any{}, "dest", "a"), "path"},
		{"cache_file", params("path", "../../etc/passwd"), "leaves its folder"},
		{"gimp_config_file", params("file_name", "../../../x", "dest", "x"), "leaves its folder"},
		{"vlc_config", nil, "dest is missing"},
		{"rule", nil, "rules is missing"},
		{"vm_command_line", nil, "command is missing"},
		{"vm_command_line", params("command", "echo 'a"), "not closed"},
		{"vm_command_line", params("command", "ls", "shell", "maybe"), "shell"},
		{"rule_relativeTime", params("rules", map[string]any{"expected": map[string]any{"time": "x"}}), "from is missing"},
		{"rule_relativeTime", params("rules", map[string]any{"relativeTime": map[string]any{"from": "soon"}, "expected": map[string]any{"time": "x"}}), `the date "soon" is not known`},
		{"rule_relativeTime", params("rules", map[string]any{"relativeTime": map[string]any{"from": "tomorrow"}, "expected": map[string]any{"date": "x"}}), "no time"},
		{"rule_relativeTime", params("rules", map[string]any{"timezone": "Mars/Base", "relativeTime": map[string]any{"from": "tomorrow"}, "expected": map[string]any{"time": "x"}}), "timezone"},
		{"content_from_vm_file", params("path", "a", "file_type", "docx", "file_content", "last_row"), "not known"},
		{"audio_in_slide", params("ppt_file_path", "a", "slide_index", "0", "dest", "a"), ""},
		{"audio_in_slide", params("ppt_file_path", "a", "slide_index", -1.0, "dest", "a"), "slide_index"},
		{"active_tab_url_parse", nil, "parse_keys is missing"},
		{"active_tab_url_parse", params("parse_keys", "a", "replace", map[string]any{"b": "c"}), "not among parse_keys"},
		{"url_dashPart", params("partIndex", "1.5"), "whole number"},
		{"url_dashPart", params("partIndex", -1.0, "returnType", "json"), "key is missing"},
		{"url_dashPart", params("partIndex", -1.0, "returnType", "list"), "returnType"},
		{"active_tab_html_parse", params("category", "colour"), "category"},
		{"active_tab_html_parse", params("category", "class", "class_multiObject", map[string]any{"a": map[string]any{"x": "y"}}), "number of an element"},
		{"info_from_website", params("url", "http://localhost"), "infos has 0"},
		{"info_from_website", params("url", "http://localhost", "infos", []any{map[string]any{"action": "guess", "selector": "a"}}), "guess"},
	} {
		err := Check(&tasks.Getter{Type: tt.kind, Params: tt.p})
		if tt.want == "" {
			assert.NoError(t, err, tt.kind)
		} else if assert.ErrorContains(t, err, tt.want, tt.p) {
			assert.Less(t, len(err.Error()), 2000)
		}
	}
	require.NoError(t, Check(nil))
}

func TestUnsupported(t *testing.T) {
	for _, kind := range []string{"googledrive_file", "vscode_config", "gotoRecreationPage_and_get_html_content"} {
		_, err := Get(t.Context(), &fake{}, &tasks.Getter{Type: kind}, in(t))
		no, ok := errors.AsType[*Unsupported](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, kind, no.Type)
		assert.NotEmpty(t, no.Reason)
	}
	g := &tasks.Getter{Type: "page_info", Params: params("url", "https://example.com/")}
	_, err := Get(t.Context(), &fake{}, g, in(t))
	_, ok := errors.AsType[*Unsupported](err)
	require.True(t, ok, "%v", err)
	assert.ErrorContains(t, err, "live web")
	assert.True(t, NeedsNetwork(g))
	for _, local := range []string{"http://localhost:8000/", "http://127.0.0.1/", "http://[::1]/", "file:///home/user/a", "chrome://settings", " http://127.0.0.1/", "127.0.0.1:8000/x"} {
		assert.False(t, NeedsNetwork(&tasks.Getter{Type: "page_info", Params: params("url", local)}), local)
	}
	for _, live := range []string{"example.com:8080/", "http://[::1"} { // as the set-up has it
		assert.True(t, NeedsNetwork(&tasks.Getter{Type: "page_info", Params: params("url", live)}), live)
	}
	assert.False(t, NeedsNetwork(&tasks.Getter{Type: "rule", Params: params("url", "https://example.com")}))
}
