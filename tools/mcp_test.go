package tools_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/internal/npmtest"
	"desktop-agent/run"
	"desktop-agent/tools"
	"desktop-agent/worldmodel"
)

// open starts servers and registers their tools, until the test ends.
func open(t *testing.T, servers map[string]tools.Server) (*tools.Servers, *tools.Registry) {
	t.Helper()
	set := tools.Open(t.Context(), servers, nil)
	t.Cleanup(set.Close)
	r := &tools.Registry{Limits: run.ToolLimits{Time: time.Minute}}
	require.NoError(t, r.Add(set.Tools()...))
	return set, r
}

func call(t *testing.T, r *tools.Registry, name, text string) (tools.Result, error) {
	t.Helper()
	return r.Call(t.Context(), name, []byte(`{"text":`+strconv.Quote(text)+`}`))
}

// TestServer calls tools of a program: what it answers, what it calls a failure, and
// what is refused before it is asked.
func TestServer(t *testing.T) {
	set, r := open(t, map[string]tools.Server{"notes": itself("well")})
	status := set.Status()
	require.Len(t, status, 1)
	require.NoError(t, status[0].Err)
	assert.Equal(t, "test 7", status[0].About)

	got, err := call(t, r, "mcp__notes__echo", "hello")
	require.NoError(t, err)
	assert.Equal(t, "hello", got.Text)

	got, err = call(t, r, "mcp__notes__fail", "")
	require.NoError(t, err)
	assert.True(t, got.Failed)
	assert.Equal(t, "the shelf is empty", got.Text)

	_, err = call(t, r, "mcp__notes__ecko", "hello")
	require.ErrorIs(t, err, tools.ErrUnknown)
	assert.Contains(t, err.Error(), `"mcp__notes__echo"`, "the nearest name is told")

	for _, arguments := range []string{`{}`, `{"text": 5}`, `{"text": "a", "more": 1}`, `{"text"`, `[]`, `null`, ``} {
		_, err = r.Call(t.Context(), "mcp__notes__echo", []byte(arguments))
		assert.ErrorIs(t, err, tools.ErrArguments, arguments)
	}
}

// TestServerCostsItsCallOnly holds that a server that dies, hangs, sends too much or
// lies about its schema costs that call, and that the next call goes well.
func TestServerCostsItsCallOnly(t *testing.T) {
	for _, tt := range []struct {
		tool, want string
		same       bool // the server goes on
	}{
		{"die", "the server notes", false},
		{"hang", "did not answer in time", true},
		{"huge", "the server notes", false},
		{"broken", "broken inside", true},
	} {
		t.Run(tt.tool, func(t *testing.T) {
			_, r := open(t, map[string]tools.Server{"notes": itself("well")})
			before, err := call(t, r, "mcp__notes__pid", "")
			require.NoError(t, err)

			if tt.tool == "hang" {
				r.Limits.Time = 300 * time.Millisecond
			}
			_, err = call(t, r, "mcp__notes__"+tt.tool, "")
			require.ErrorContains(t, err, tt.want)
			assert.NotErrorIs(t, err, tools.ErrNotDone, "it was sent: it is not known what came of it")

			r.Limits.Time = time.Minute
			after, err := call(t, r, "mcp__notes__pid", "")
			require.NoError(t, err)
			assert.Equal(t, tt.same, before.Text == after.Text, "whether it was started again")
		})
	}
}

// TestServerLies holds that data that is not what its schema says is not passed on as
// data, and that too long a text is cut in its middle.
func TestServerLies(t *testing.T) {
	_, r := open(t, map[string]tools.Server{"notes": itself("well")})
	got, err := call(t, r, "mcp__notes__liar", "")
	require.NoError(t, err)
	assert.Nil(t, got.Data)
	assert.Contains(t, got.Text, "not what its own schema says")

	got, err = call(t, r, "mcp__notes__long", "")
	require.NoError(t, err)
	assert.LessOrEqual(t, len(got.Text), run.DefaultToolText+100)
	assert.Greater(t, got.Cut, 150_000)
	assert.True(t, strings.HasPrefix(got.Text, "begin ä") && strings.HasSuffix(got.Text, "ä end"))
}

// TestServerNames holds that names are made fit, that those that fall together and
// schemas that cannot be used are dropped with the reason, and that effects are ours.
func TestServerNames(t *testing.T) {
	odd := itself("odd")
	odd.Effects = map[string]worldmodel.Effect{"pid": worldmodel.EffectNone}
	trusted := itself("well")
	trusted.TrustHints = true
	set, r := open(t, map[string]tools.Server{"odd": odd, "trusted": trusted})
	status := set.Status()[0]
	require.NoError(t, status.Err)
	assert.Len(t, status.Dropped, 2, "%v", status.Dropped)
	assert.Contains(t, strings.Join(status.Dropped, "\n"), "another tool has this name")
	assert.Contains(t, strings.Join(status.Dropped, "\n"), "unresolved: ")

	long := slices.IndexFunc(r.Tools(), func(t tools.Tool) bool { return strings.HasPrefix(t.Name, "mcp__odd__long_long") })
	require.GreaterOrEqual(t, long, 0)
	assert.Len(t, r.Tools()[long].Name, 64)
	got, err := call(t, r, r.Tools()[long].Name, "")
	require.NoError(t, err)
	assert.Equal(t, "long", got.Text)

	for name, want := range map[string]worldmodel.Effect{
		"mcp__odd__pid":      worldmodel.EffectNone,           // the user says so
		"mcp__odd__echo":     worldmodel.EffectModifyExternal, // it says that it only reads, and nobody trusts it
		"mcp__trusted__echo": worldmodel.EffectNone,           // the user trusts it
		"mcp__trusted__pid":  worldmodel.EffectModifyExternal, // it says nothing
	} {
		tool, ok := r.Lookup(name)
		require.True(t, ok, name)
		assert.Equal(t, want, tool.Effect, name)
	}
}

// TestServerThatDoesNotRun holds that it costs its own tools only, and that its words
// are told.
func TestServerThatDoesNotRun(t *testing.T) {
	off := itself("well")
	off.Disabled = true
	set, r := open(t, map[string]tools.Server{
		"dead": itself("dead"), "none": {Command: "no-such-program"}, "off": off, "well": itself("well"),
	})
	status := set.Status()
	require.Len(t, status, 4)
	assert.ErrorContains(t, status[0].Err, "no database here")
	assert.ErrorContains(t, status[1].Err, `there is no program "no-such-program"`)
	assert.True(t, status[2].Off)
	assert.NoError(t, status[2].Err)
	assert.NoError(t, status[3].Err)
	got, err := call(t, r, "mcp__well__echo", "still here")
	require.NoError(t, err)
	assert.Equal(t, "still here", got.Text)
}

// TestServerMute holds that a server that never answers ends with the context.
func TestServerMute(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	set := tools.Open(ctx, map[string]tools.Server{"mute": itself("mute")}, nil)
	defer set.Close()
	assert.Error(t, set.Status()[0].Err)
}

// TestServerGetsNoKeys holds that a program gets what every program needs and what was
// set for it, and nothing else of ours.
func TestServerGetsNoKeys(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-not-for-you")
	server := itself("well")
	server.Env["NOTES_TOKEN"] = "its own"
	_, r := open(t, map[string]tools.Server{"notes": server})
	got, err := call(t, r, "mcp__notes__environment", "")
	require.NoError(t, err)
	assert.NotContains(t, got.Text, "sk-not-for-you")
	assert.Contains(t, got.Text, "NOTES_TOKEN=its own")
	assert.Contains(t, got.Text, "PATH=")
}

// TestServerLeavesNothing holds that a server's own children end with it.
func TestServerLeavesNothing(t *testing.T) {
	set, r := open(t, map[string]tools.Server{"notes": itself("child")})
	got, err := call(t, r, "mcp__notes__pid", "")
	require.NoError(t, err)
	pid, err := strconv.Atoi(got.Text)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(-pid, 0), "its group is there")
	set.Close()
	assert.Eventually(t, func() bool { return syscall.Kill(-pid, 0) != nil }, time.Minute, 10*time.Millisecond, "its group is gone")
}

// TestServerThatDied holds that the children of a server that dies end with it, while its
// number is still its own: later its group may be another's, and is let be.
func TestServerThatDied(t *testing.T) {
	set, r := open(t, map[string]tools.Server{"notes": itself("child")})
	got, err := call(t, r, "mcp__notes__pid", "")
	require.NoError(t, err)
	pid, err := strconv.Atoi(got.Text)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	assert.Eventually(t, func() bool { return syscall.Kill(-pid, 0) != nil }, time.Minute, 10*time.Millisecond, "its group is gone")
	set.Close()
}

// TestServerByURL calls a tool by streamable HTTP, with its header.
func TestServerByURL(t *testing.T) {
	s := mcp.NewServer(&mcp.Implementation{Name: "web", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "add"}, func(_ context.Context, _ *mcp.CallToolRequest, in struct{ A, B int }) (*mcp.CallToolResult, struct{ Sum int }, error) {
		return nil, struct{ Sum int }{in.A + in.B}, nil
	})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	var without int
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer its-own" {
			without++
		}
		handler.ServeHTTP(w, r)
	}))
	defer web.Close()
	set, r := open(t, map[string]tools.Server{"web": {URL: web.URL, Headers: map[string]string{"Authorization": "Bearer its-own"}}})
	require.NoError(t, set.Status()[0].Err)
	got, err := r.Call(t.Context(), "mcp__web__add", []byte(`{"A": 2, "B": 40}`))
	require.NoError(t, err)
	assert.JSONEq(t, `{"Sum": 42}`, string(got.Data))
	assert.Zero(t, without, "requests without the header")
	set.Close()
}

// TestReadServers reads the form of other MCP clients, and says what is wrong with a
// file by server and key.
func TestReadServers(t *testing.T) {
	t.Setenv("NOTES_KEY", "k1")
	servers, err := tools.ReadServers(strings.NewReader(`{"mcpServers": {
		"files": {"command": "npx", "args": ["-y", "server-filesystem", "${NOTES_DIR:-/tmp}"], "env": {"KEY": "${NOTES_KEY}"}, "type": "stdio"},
		"web":   {"url": "https://notes.example/mcp", "headers": {"Authorization": "Bearer ${NOTES_KEY}"}, "effects": {"*": "none"}}}}`))
	require.NoError(t, err)
	assert.Equal(t, []string{"-y", "server-filesystem", "/tmp"}, servers["files"].Args)
	assert.Equal(t, "k1", servers["files"].Env["KEY"])
	assert.Equal(t, "Bearer k1", servers["web"].Headers["Authorization"])

	for _, tt := range []struct{ file, want string }{
		{`[]`, "no JSON object"},
		{`{}`, `"mcpServers" is missing`},
		{`{"servers": {}}`, `the nearest is "mcpServers"`},
		{`{"mcpServers": {"a": {"comand": "x"}}}`, `MCP server "a": the key "comand" is not known; the nearest is "command"`},
		{`{"mcpServers": {"a": {"command": "x", "command": "y"}}}`, `"command" is there twice`},
		{`{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}`, `"a" is there twice`},
		{`{"mcpServers": {"a": {}}}`, `it needs "command" or "url"`},
		{`{"mcpServers": {"a": {"command": "x", "url": "https://b"}}}`, "take one of them away"},
		{`{"mcpServers": {"a": {"url": "https://b", "args": ["c"]}}}`, `go with "command"`},
		{`{"mcpServers": {"a": {"command": "x", "headers": {"c": "d"}}}}`, `go with "url"`},
		{`{"mcpServers": {"a": {"command": "x", "type": "sse"}}}`, `"sse" is not known`},
		{`{"mcpServers": {"a": {"command": "x", "args": "y"}}}`, "cannot unmarshal"},
		{`{"mcpServers": {"a": {"command": "${NOTES_NOT_SET}"}}}`, "NOTES_NOT_SET is not set"},
		{`{"mcpServers": {"a": {"url": "http://notes.example"}}}`, "use https"},
		{`{"mcpServers": {"a": {"url": "file:///etc/passwd"}}}`, "none of http or https"},
		{`{"mcpServers": {"a": {"command": "x", "effects": {"b": "harmless"}}}}`, `"harmless" of "b" is not known`},
		{`{"mcpServers": {"a b": {"command": "x"}}}`, "1 to 32 letters"},
		{`{"mcpServers": {"a": {"command": "x"}}`, "unexpected"},
		{`{"mcpServers": {"a":` + strings.Repeat(" ", 1<<20) + `{}}}`, "more than"},
	} {
		_, err := tools.ReadServers(strings.NewReader(tt.file))
		assert.ErrorContains(t, err, tt.want, tt.file[:min(len(tt.file), 80)])
	}
	_, err = tools.ReadServers(strings.NewReader(`{"mcpServers": {"a": {"url": "http://127.0.0.1:8080/mcp"}}}`))
	assert.NoError(t, err, "loopback leaves nothing")
}

// TestReferenceServers uses servers that nobody here wrote, from the npm registry,
// where that is there: files, memory, and the one that has everything.
func TestReferenceServers(t *testing.T) {
	bin := npmtest.Install(t, "@modelcontextprotocol/server-filesystem@2026.8.31",
		"@modelcontextprotocol/server-memory@2026.8.31", "@modelcontextprotocol/server-everything@2026.8.31")
	work := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(work, "lease.txt"), []byte("The rent is 940."), 0o600))
	memory := filepath.Join(t.TempDir(), "memory.json")
	set, r := open(t, map[string]tools.Server{
		"files":      {Command: bin("mcp-server-filesystem"), Args: []string{work}, TrustHints: true},
		"memory":     {Command: bin("mcp-server-memory"), Env: map[string]string{"MEMORY_FILE_PATH": memory}},
		"everything": {Command: bin("mcp-server-everything")},
	})
	for _, s := range set.Status() {
		require.NoError(t, s.Err, s.Name)
		assert.Empty(t, s.Dropped, "all its tools can be used: %s", s.Name)
		t.Logf("%s: %s, %d tools", s.Name, s.About, s.Tools)
	}
	got, err := r.Call(t.Context(), "mcp__files__read_text_file", []byte(`{"path":`+strconv.Quote(filepath.Join(work, "lease.txt"))+`}`))
	require.NoError(t, err)
	assert.Contains(t, got.Text, "The rent is 940.")
	got, err = r.Call(t.Context(), "mcp__files__read_text_file", []byte(`{"path":"/etc/passwd"}`))
	require.NoError(t, err)
	assert.True(t, got.Failed, "outside of its folder")
	tool, _ := r.Lookup("mcp__files__read_text_file")
	assert.Equal(t, worldmodel.EffectNone, tool.Effect, "its hint says that it only reads")
	tool, _ = r.Lookup("mcp__files__write_file")
	assert.NotEqual(t, worldmodel.EffectNone, tool.Effect)

	_, err = r.Call(t.Context(), "mcp__memory__create_entities", []byte(`{"entities":[{"name":"lease","entityType":"contract","observations":["the rent is 940"]}]}`))
	require.NoError(t, err)
	got, err = r.Call(t.Context(), "mcp__memory__search_nodes", []byte(`{"query":"rent"}`))
	require.NoError(t, err)
	assert.Contains(t, got.Text, "the rent is 940")

	got, err = r.Call(t.Context(), "mcp__everything__echo", []byte(`{"message":"hello"}`))
	require.NoError(t, err)
	assert.Contains(t, got.Text, "hello")
}
