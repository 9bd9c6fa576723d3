package setup_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"desktop-agent/tasks"
	"desktop-agent/tasks/asset"
	"desktop-agent/tasks/osworld/setup"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// step makes a step of JSON, as a task file has it.
func step(t testing.TB, kind, params string) tasks.Step {
	t.Helper()
	var p tasks.Params
	require.NoError(t, json.Unmarshal([]byte(params), &p))
	return tasks.Step{Type: kind, Params: p}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct{ kind, params, want string }{
		{"download", `{"files":[{"url":"http://x/y","path":"/home/user/a"}]}`, ""},
		{"download", `{"files":{"url":"http://x/y","path":"~/a b/c"}}`, ""},
		{"download", `{}`, "files is missing"},
		{"download", `{"files":[]}`, "files is missing"},
		{"download", `{"files":[{"path":"/home/user/a"}]}`, "url is missing"},
		{"download", `{"files":[{"url":"http://x/y"}]}`, "path is missing"},
		{"download", `{"files":[{"url":"http://x/y","path":"/etc/passwd"}]}`, "outside of what the task may write"},
		{"download", `{"files":[{"url":"http://x/y","path":"/home/user/../../etc/passwd"}]}`, "outside"},
		{"download", `{"files":[{"url":"http://x/y","path":"/home/user"}]}`, "outside"},
		{"download", `{"files":"x"}`, "not a list of objects"},
		{"upload_file", `{"files":[{"local_path":"assets/a","path":"a"}]}`, ""},
		{"upload_file", `{"files":[{"local_path":"../a","path":"a"}]}`, "leaves the folder of the suite"},
		{"upload_file", `{"files":[{"local_path":"a/../../b","path":"a"}]}`, "leaves the folder of the suite"},
		{"execute", `{"command":"ls -l"}`, ""},
		{"execute", `{"command":["ls"],"shell":"true","until":{"returncode":0},"stdout":"a.out"}`, ""},
		{"command", `{"command":"it's"}`, "quote"},
		{"command", `{"command":"it's","shell":true}`, ""},
		{"command", `{}`, "command is missing"},
		{"command", `{"command":[]}`, "command is missing"},
		{"command", `{"command":" "}`, "command is missing"},
		{"command", `{"command":["a\u0000"]}`, "NUL"},
		{"command", `{"command":"ls","shell":"perhaps"}`, "shell"},
		{"command", `{"command":"ls","until":3}`, "until"},
		{"command", `{"command":"ls","stdout":"../x"}`, "not the name of a file"},
		{"launch", `{"command":["a",{"b":1}]}`, "command"},
		{"open", `{"path":"/home/user/a.xlsx"}`, ""},
		{"open", `{"path":"xterm"}`, ""},
		{"open", `{}`, "path is missing"},
		{"open", `{"path":"/etc/passwd"}`, "outside"},
		{"activate_window", `{"window_name":"x","strict":"True"}`, ""},
		{"close_window", `{}`, "window_name is missing"},
		{"sleep", `{"seconds":"0.5"}`, ""},
		{"sleep", `{"seconds":-1}`, "between 0 and 600"},
		{"sleep", `{"seconds":1e9}`, "between 0 and 600"},
		{"sleep", `{"seconds":"NaN"}`, "between 0 and 600"},
		{"sleep", `{}`, "seconds is missing"},
		{"chrome_open_tabs", `{"urls_to_open":["https://example.com"]}`, ""},
		{"chrome_open_tabs", `{}`, "urls_to_open is missing"},
		{"chrome_close_tabs", `{}`, "urls_to_close is missing"},
		{"update_browse_history", `{"history":[{"url":"https://a.b","title":"t","visit_time_from_now_in_seconds":60}]}`, ""},
		{"update_browse_history", `{"history":[{"title":"t"}]}`, "url is missing"},
		{"update_browse_history", `{"history":[{"url":"u","visit_time_from_now_in_seconds":-1}]}`, "no time in the past"},
		{"googledrive", `{}`, "needs a Google account"},
		{"login", `{}`, "needs an account"},
		{"dance", `{}`, `unknown type of step "dance"`},
	} {
		err := setup.Check(step(t, tt.kind, tt.params))
		if tt.want == "" {
			assert.NoError(t, err, tt)
			continue
		}
		assert.ErrorContains(t, err, tt.want, tt)
		var unsupported *setup.Unsupported
		assert.Equal(t, tt.kind == "googledrive" || tt.kind == "login", errors.As(err, &unsupported), tt)
	}
}

func TestNeedsNetwork(t *testing.T) {
	for url, want := range map[string]bool{
		"https://example.com": true, "HTTP://a.b": true, "example.com/x": true, "http://10.0.0.1/": true, "http://localhost.example.com": true,
		"file:///home/user/a.html": false, "http://localhost:8000/": false, "http://127.0.0.1/": false, "http://[::1]:3/": false,
		"chrome://settings": false, "about:blank": false, "/a": false,
		" http://127.0.0.1/": false, "127.0.0.1:8000/x": false, "example.com:8080/": true, "http://[::1": true, // as getters have it
	} {
		s := tasks.Step{Type: "chrome_open_tabs", Params: tasks.Params{"urls_to_open": []any{url}}}
		assert.Equal(t, want, setup.NeedsNetwork(s), url)
		assert.False(t, setup.NeedsNetwork(tasks.Step{Type: "launch", Params: s.Params}))
	}
}

func TestAssets(t *testing.T) {
	cache, dir := t.TempDir(), t.TempDir()
	o := &setup.Options{TaskID: "id", Cache: cache, Dir: dir}
	// The name of the URL http://www.example.com/a.xlsx in the name space of URLs:
	// python3 -c 'import uuid; print(uuid.uuid5(uuid.NAMESPACE_URL, "http://www.example.com/a.xlsx"))'
	const id = "5a615026-70e1-5c0e-83d5-f872503c0c27"
	s := step(t, "download", `{"files":[{"url":"http://www.example.com/a.xlsx","path":"/home/user/b c.xlsx"}]}`)
	file := filepath.Join(cache, "id", id+"_b c.xlsx")
	assets, err := setup.Assets(s, o)
	require.NoError(t, err)
	assert.Equal(t, []asset.Asset{{Source: "http://www.example.com/a.xlsx", File: file, Lacks: true}}, assets)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	assets, err = setup.Assets(s, o)
	require.NoError(t, err)
	assert.False(t, assets[0].Lacks)

	s = step(t, "upload_file", `{"files":[{"local_path":"assets/a","path":"a"}]}`)
	assets, err = setup.Assets(s, o)
	require.NoError(t, err)
	assert.True(t, assets[0].Lacks)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "assets"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "assets", "a"), nil, 0o644))
	assets, err = setup.Assets(s, o)
	require.NoError(t, err)
	assert.False(t, assets[0].Lacks)
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "leaves")))
	for _, path := range []string{"leaves", "/etc/passwd"} {
		_, err = setup.Assets(step(t, "upload_file", `{"files":[{"local_path":"`+path+`","path":"a"}]}`), o)
		require.ErrorContains(t, err, "leaves the folder of the suite")
	}
	for _, bad := range []string{"", "..", "a/b", "."} {
		_, err = setup.Assets(step(t, "download", `{"files":[{"url":"u","path":"a"}]}`), &setup.Options{TaskID: bad, Cache: cache})
		require.ErrorContains(t, err, "cannot be the name of a folder", bad)
	}
	assets, err = setup.Assets(step(t, "sleep", `{"seconds":1}`), o)
	require.NoError(t, err)
	assert.Empty(t, assets)
}

// The steps of the public tasks are all known.
func TestPublicTasks(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(os.Getenv("OSWORLD_DATA"), "osworld", "examples", "*", "*.json"))
	require.NoError(t, err)
	if os.Getenv("OSWORLD_DATA") == "" || len(files) == 0 {
		t.Skip("needs OSWorld's tasks: set OSWORLD_DATA to a folder with osworld/examples")
	}
	steps := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		type item struct {
			Type       string       `json:"type"`
			Parameters tasks.Params `json:"parameters"`
		}
		var task struct {
			Config    []item `json:"config"`
			Evaluator struct {
				Postconfig []item `json:"postconfig"`
			} `json:"evaluator"`
		}
		require.NoError(t, json.Unmarshal(text, &task), file)
		for _, i := range append(task.Config, task.Evaluator.Postconfig...) {
			err := setup.Check(tasks.Step{Type: i.Type, Params: i.Parameters})
			if unsupported := (*setup.Unsupported)(nil); !errors.As(err, &unsupported) {
				assert.NoError(t, err, "%s: %s", file, i.Type)
			}
			steps++
		}
	}
	t.Logf("%d steps", steps)
}
