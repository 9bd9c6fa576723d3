package tools

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"desktop-agent/worldmodel"
)

// FuzzServerTool holds that whatever tool a server offers, it is one that can be added and
// called, with the worst of effects where nobody says otherwise; or it is left out with a
// reason. What the server is not trusted to say makes nothing harmless.
func FuzzServerTool(f *testing.F) {
	for _, tool := range []string{
		`{"name":"echo","description":"Says it again.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false},"annotations":{"readOnlyHint":true}}`,
		`{"name":"a b\n","inputSchema":{"type":"object","allOf":[{"$ref":"#"}]}}`, `{"name":"null","inputSchema":{"type":"object","properties":{"a":null}},"outputSchema":{"$ref":"#"}}`,
		`{"name":"","inputSchema":null}`, `{"name":"` + strings.Repeat("é", 100) + `","description":"` + strings.Repeat("é", 2000) + `","inputSchema":{"type":"object"}}`,
		`{"name":"*","inputSchema":{"type":"object","pattern":"("}}`, `{"name":"x","inputSchema":{"type":["object"]}}`, `{"name":"y","inputSchema":{"type":"object","$ref":"https://example.com/s"}}`, `{"name":7}`, `null`,
	} {
		f.Add(tool, `{"text":"x"}`)
	}
	f.Fuzz(func(t *testing.T, text, arguments string) {
		var offered mcp.Tool
		if json.Unmarshal([]byte(text), &offered) != nil {
			return
		}
		s := &server{name: "notes"}
		tool, err := s.tool(&offered)
		if err != nil {
			require.Nil(t, tool.Call)
			return
		}
		require.Equal(t, worldmodel.EffectModifyExternal, tool.Effect)
		require.True(t, strings.HasPrefix(tool.Name, "mcp__notes__"))
		require.LessOrEqual(t, len(tool.Description), maxAbout+len("…"))
		require.True(t, utf8.ValidString(tool.Description))
		called := false
		tool.Call = func(context.Context, json.RawMessage) (Result, error) {
			called = true
			return Result{}, nil
		}
		r := &Registry{}
		require.NoError(t, r.Add(tool))
		require.Error(t, r.Add(tool), "the name is taken")
		_, err = r.Call(t.Context(), tool.Name, []byte(arguments))
		require.Equal(t, err == nil, called)
		if err != nil {
			require.ErrorIs(t, err, ErrArguments)
		}
	})
}

// FuzzServerResult holds that whatever a server answers is text that can be read and has its
// limit; that its data is JSON of the schema that it promised; and that a failure stays one.
func FuzzServerResult(f *testing.F) {
	for _, result := range []string{
		`{"content":[{"type":"text","text":"hello"}],"structuredContent":{"n":7}}`, `{"content":[],"structuredContent":{"n":"x"}}`, `{"content":[{"type":"text","text":"no"}],"isError":true,"structuredContent":{"n":"x"}}`,
		`{"content":[{"type":"image","data":"AAAA","mimeType":"image/png\n"},{"type":"audio","data":"","mimeType":"` + strings.Repeat("a", 300) + `"},{"type":"resource_link","uri":"file:///etc/passwd"},{"type":"resource","resource":{"uri":"x","text":"y"}}]}`,
		`{"content":[{"type":"resource"},{"type":"new"}]}`, `{"content":null,"structuredContent":null}`, `{"content":[{"type":"text","text":"` + strings.Repeat("é", 300) + `"}]}`, `{"content":[],"structuredContent":{"n":1e400}}`, `{"structuredContent":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, `[]`, "",
	} {
		f.Add(result, `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
		f.Add(result, `{"allOf":[{"$ref":"#"}]}`)
		f.Add(result, ``)
	}
	f.Fuzz(func(t *testing.T, text, schema string) {
		var got mcp.CallToolResult
		if json.Unmarshal([]byte(text), &got) != nil {
			return
		}
		output, err := schemaOf("out", json.RawMessage(schema))
		if err != nil {
			output = nil
		}
		r, err := resultOf(&got, output)
		require.NoError(t, err)
		require.Equal(t, got.IsError, r.Failed)
		if r.Data != nil {
			require.True(t, json.Valid(r.Data))
			if output != nil && !r.Failed {
				require.NoError(t, output.Validate(r.Data))
			}
		}
		r.shorten(200)
		require.True(t, utf8.ValidString(r.Text))
		require.LessOrEqual(t, len(r.Text), 200+len("\n[16777216 bytes left out]\n"))
		require.True(t, r.Cut == 0 || r.Data == nil)
	})
}

// FuzzArguments holds that whatever a model gives the tools that are built in, what does not fit
// is not done, and what is done stays in the workspace and runs no other program.
func FuzzArguments(f *testing.F) {
	for _, arguments := range []string{
		`{"path":"notes/a.txt"}`, `{"path":"../secret.txt"}`, `{"path":"/etc/passwd"}`, `{"path":"link/secret.txt"}`, `{"path":""}`, `{"path":"."}`, `{"path":"a\u0000b"}`, `{"path":"../new.txt","text":"x","replace":true}`,
		`{"path":"link/new.txt","text":"x","replace":false}`, `{"path":"notes/b/c.txt","text":"x","replace":false}`, `{"path":"out.txt","text":"x","replace":true}`, `{"path":"a.txt","text":"x"}`, `{"path":7}`, `{"path":"a","more":1}`,
		`{"command":"true","arguments":[]}`, `{"command":"sh","arguments":["-c","touch ../new.txt"]}`, `{"command":"/bin/true","arguments":[]}`, `{"command":"true","arguments":null}`, `{"fact":"a\nb"}`, `{"fact":""}`, `{"question":"Which?"}`, `null`, `[]`, `{`, "", "\xff",
	} {
		for i := range uint8(6) {
			f.Add(i, arguments)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, arguments string) {
		outside := t.TempDir()
		folder := filepath.Join(outside, "work")
		require.NoError(t, os.Mkdir(folder, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(outside, "secret.txt"), []byte("the secret"), 0o600))
		require.NoError(t, os.Symlink(outside, filepath.Join(folder, "link")))
		require.NoError(t, os.Symlink(filepath.Join(outside, "secret.txt"), filepath.Join(folder, "out.txt")))
		var facts Facts
		files, err := Files(folder)
		require.NoError(t, err)
		command, err := Command(folder, "true")
		require.NoError(t, err)
		remember, err := Remember(&facts)
		require.NoError(t, err)
		ask, err := AskUser(func(context.Context, string) (string, error) { return "the red one", nil })
		require.NoError(t, err)
		r := &Registry{}
		require.NoError(t, r.Add(files...))
		require.NoError(t, r.Add(append(command, remember, ask)...))
		tool := r.Tools()[int(which)%len(r.Tools())]
		got, err := r.Call(t.Context(), tool.Name, []byte(arguments))
		if r.Check(tool.Name, []byte(arguments)) != nil {
			require.ErrorIs(t, err, ErrArguments)
		} else if err != nil {
			require.True(t, errors.Is(err, ErrNotDone), "%v: it is known what came of it", err)
		}
		require.NotContains(t, got.Text, "the secret")
		list, err := os.ReadDir(outside)
		require.NoError(t, err)
		require.Len(t, list, 2, "nothing outside is made")
		secret, err := os.ReadFile(filepath.Join(outside, "secret.txt"))
		require.NoError(t, err)
		require.Equal(t, "the secret", string(secret))
		require.LessOrEqual(t, len(facts.List()), 1)
	})
}
