package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/tools"
	"desktop-agent/worldmodel"
)

// one registers tools that were made without an error.
func one(t *testing.T) func(list []tools.Tool, err error) *tools.Registry {
	return func(list []tools.Tool, err error) *tools.Registry {
		t.Helper()
		require.NoError(t, err)
		r := &tools.Registry{}
		require.NoError(t, r.Add(list...))
		return r
	}
}

// do calls a tool with arguments as a map.
func do(t *testing.T, r *tools.Registry, name string, arguments map[string]any) (tools.Result, error) {
	t.Helper()
	data, err := json.Marshal(arguments)
	require.NoError(t, err)
	return r.Call(t.Context(), name, data)
}

// TestFiles holds that files of the workspace are written, read and listed, and that
// nothing is replaced without the word for it.
func TestFiles(t *testing.T) {
	folder := t.TempDir()
	r := one(t)(tools.Files(folder))
	got, err := do(t, r, "write_file", map[string]any{"path": "notes/a.txt", "text": "one", "replace": false})
	require.NoError(t, err)
	assert.False(t, got.Failed, got.Text)
	got, err = do(t, r, "write_file", map[string]any{"path": "notes/a.txt", "text": "two", "replace": false})
	require.NoError(t, err)
	assert.True(t, got.Failed)
	assert.Contains(t, got.Text, "is there already")
	got, err = do(t, r, "read_file", map[string]any{"path": "notes/a.txt"})
	require.NoError(t, err)
	assert.Equal(t, "one", got.Text, "it was not replaced")
	_, err = do(t, r, "write_file", map[string]any{"path": "notes/a.txt", "text": "2", "replace": true})
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(folder, "notes", "a.txt"))
	require.NoError(t, err)
	assert.Equal(t, "2", string(data), "no rest of the longer text")
	got, err = do(t, r, "list_files", map[string]any{"path": "."})
	require.NoError(t, err)
	assert.Equal(t, "notes/\n", got.Text)
	got, err = do(t, r, "list_files", map[string]any{"path": "notes"})
	require.NoError(t, err)
	assert.Equal(t, "a.txt (1 bytes)\n", got.Text)
}

// TestFilesStayInside holds that nothing outside of the workspace is read or written,
// by a path, a link, a pipe or a device.
func TestFilesStayInside(t *testing.T) {
	outside, folder := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret.txt")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
	require.NoError(t, os.Symlink(secret, filepath.Join(folder, "link")))
	require.NoError(t, os.Symlink(outside, filepath.Join(folder, "folder")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "binary"), []byte{0, 1, 2}, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "large"), make([]byte, 1<<20+1), 0o600))
	r := one(t)(tools.Files(folder))
	for _, path := range []string{secret, "../" + filepath.Base(outside) + "/secret.txt", "link", "folder/secret.txt", "pipe", "binary", "large", "", ".", "none"} {
		got, err := do(t, r, "read_file", map[string]any{"path": path})
		require.NoError(t, err, path)
		assert.True(t, got.Failed, "reading %q: %s", path, got.Text)
		assert.NotContains(t, got.Text, "secret\n")
	}
	for _, path := range []string{secret, "link", "folder/new.txt", "pipe", "", "."} {
		got, err := do(t, r, "write_file", map[string]any{"path": path, "text": "mine", "replace": true})
		require.NoError(t, err, path)
		assert.True(t, got.Failed, "writing %q: %s", path, got.Text)
	}
	data, err := os.ReadFile(secret)
	require.NoError(t, err)
	assert.Equal(t, "secret", string(data))
	assert.NoFileExists(t, filepath.Join(outside, "new.txt"))
	for _, path := range []string{"..", "folder", outside} {
		got, err := do(t, r, "list_files", map[string]any{"path": path})
		assert.True(t, err != nil || got.Failed, "listing %q: %s", path, got.Text)
	}
	_, err = do(t, one(t)(tools.Files(filepath.Join(folder, "none"))), "read_file", map[string]any{"path": "a"})
	assert.ErrorIs(t, err, tools.ErrNotDone, "there is no workspace")
}

// TestCommand holds that a program gets its arguments as they are, without a shell
// and without a key of ours, and that its end is told.
func TestCommand(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-not-for-you")
	folder := t.TempDir()
	r := one(t)(tools.Command(folder, "printf", "false", "env", "pwd", "sleep"))
	run := func(command string, arguments ...string) (tools.Result, error) {
		return do(t, r, "run_command", map[string]any{"command": command, "arguments": append([]string{}, arguments...)})
	}
	got, err := run("printf", "%s|", "$HOME", "; rm -rf x", "`id`")
	require.NoError(t, err)
	assert.Equal(t, "$HOME|; rm -rf x|`id`|", got.Text)
	got, err = run("pwd")
	require.NoError(t, err)
	assert.Equal(t, folder, strings.TrimSpace(got.Text))
	got, err = run("env")
	require.NoError(t, err)
	assert.NotContains(t, got.Text, "sk-not-for-you")
	got, err = run("false")
	require.NoError(t, err)
	assert.True(t, got.Failed)
	assert.Contains(t, got.Text, "exit status 1")

	r.Limits.Time = 200 * time.Millisecond
	_, err = run("sleep", "60")
	assert.ErrorIs(t, err, tools.ErrTime)

	for _, command := range []string{"ls", "/bin/printf", "../printf", "", "."} {
		_, err = run(command)
		assert.ErrorIs(t, err, tools.ErrNotDone, command)
	}
}

// TestCommandOffByDefault holds that without a name there is no such tool, and that
// all names are not those of shells.
func TestCommandOffByDefault(t *testing.T) {
	list, err := tools.Command(t.TempDir())
	require.NoError(t, err)
	assert.Empty(t, list)
	_, err = tools.Command(t.TempDir(), "/bin/ls")
	assert.ErrorContains(t, err, "give the name alone")

	r := one(t)(tools.Command(t.TempDir(), "*"))
	for _, shell := range []string{"sh", "bash", "env", "sudo", "xargs"} {
		_, err := do(t, r, "run_command", map[string]any{"command": shell, "arguments": []string{"-c", "id"}})
		assert.ErrorIs(t, err, tools.ErrNotDone, shell)
	}
	got, err := do(t, r, "run_command", map[string]any{"command": "printf", "arguments": []string{"x"}})
	require.NoError(t, err)
	assert.Equal(t, "x", got.Text)
}

// TestCommandLeavesNothing holds that what a program leaves behind is ended with it.
func TestCommandLeavesNothing(t *testing.T) {
	folder := t.TempDir()
	r := one(t)(tools.Command(folder, "sh"))
	got, err := do(t, r, "run_command", map[string]any{"command": "sh", "arguments": []string{"-c", "sleep 3600 >/dev/null 2>&1 & echo $!"}})
	require.NoError(t, err)
	pid := strings.TrimSpace(got.Text)
	require.NotEmpty(t, pid)
	assert.Eventually(t, func() bool {
		state, err := os.ReadFile("/proc/" + pid + "/stat")
		return err != nil || strings.Contains(string(state), ") Z ")
	}, time.Minute, 10*time.Millisecond)
}

// facts is a memory that is full after some.
type facts struct {
	list []string
	most int
}

func (f *facts) Remember(_ context.Context, fact string) error {
	if len(f.list) == f.most {
		return errors.New("there is no room for another fact")
	}
	f.list = append(f.list, fact)
	return nil
}

// TestRememberAndAsk holds that a fact is kept in one line or refused with the reason,
// and that the user's answer comes back.
func TestRememberAndAsk(t *testing.T) {
	kept := &facts{most: 1}
	remember, err := tools.Remember(kept)
	require.NoError(t, err)
	ask, err := tools.AskUser(func(_ context.Context, question string) (string, error) {
		if question == "Which one?" {
			return "the red one", nil
		}
		return "", errors.New("nobody can be asked")
	})
	require.NoError(t, err)
	r := &tools.Registry{}
	require.NoError(t, r.Add(remember, ask))

	got, err := do(t, r, "remember", map[string]any{"fact": "the rent\nis 940"})
	require.NoError(t, err)
	assert.False(t, got.Failed)
	assert.Equal(t, []string{"the rent is 940"}, kept.list)
	for _, fact := range []string{" \n", "a second one"} {
		got, err = do(t, r, "remember", map[string]any{"fact": fact})
		require.NoError(t, err)
		assert.True(t, got.Failed, fact)
	}
	got, err = do(t, r, "ask_user", map[string]any{"question": "Which one?"})
	require.NoError(t, err)
	assert.Equal(t, "the red one", got.Text)
	got, err = do(t, r, "ask_user", map[string]any{"question": "Why?"})
	require.NoError(t, err)
	assert.True(t, got.Failed)
}

// TestRegistry holds what cannot be a tool, that a name is taken once, and that a tool
// that panics or does not heed its context costs its call.
func TestRegistry(t *testing.T) {
	object := &llm.Schema{Name: "a", JSON: []byte(`{"type":"object"}`)}
	well := tools.Tool{Name: "well", Parameters: object, Effect: worldmodel.EffectNone, Call: func(context.Context, json.RawMessage) (tools.Result, error) {
		return tools.Result{Text: "\xff"}, nil
	}}
	var r tools.Registry
	_, err := r.Call(t.Context(), "well", nil)
	assert.ErrorIs(t, err, tools.ErrUnknown, "the zero value is empty")
	require.NoError(t, r.Add(well))
	change := func(f func(*tools.Tool)) tools.Tool {
		other := well
		other.Name = "other"
		f(&other)
		return other
	}
	for _, tt := range []struct {
		tool tools.Tool
		want string
	}{
		{well, "is taken by a tool that is built in"},
		{change(func(t *tools.Tool) { t.Name = "a b" }), "1 to 64"},
		{change(func(t *tools.Tool) { t.Name = "" }), "1 to 64"},
		{change(func(t *tools.Tool) { t.Call = nil }), "does nothing"},
		{change(func(t *tools.Tool) { t.Effect = "" }), "effect"},
		{change(func(t *tools.Tool) { t.Parameters = nil }), "no schema"},
		{change(func(t *tools.Tool) { t.Parameters = &llm.Schema{Name: "a", JSON: []byte(`{"type":"array"}`)} }), "object"},
		{change(func(t *tools.Tool) {
			t.Parameters = &llm.Schema{Name: "a", JSON: []byte(`{"type":"object","properties":{"b":{"$ref":"#/none"}}}`)}
		}), "schema a"},
	} {
		assert.ErrorContains(t, r.Add(tt.tool), tt.want)
	}
	assert.Len(t, r.Tools(), 1)

	got, err := r.Call(t.Context(), "well", nil)
	require.NoError(t, err)
	assert.Equal(t, "\uFFFD", got.Text, "bytes that are no text")

	deaf := make(chan struct{})
	defer close(deaf)
	require.NoError(t, r.Add(
		tools.Tool{Name: "panics", Parameters: object, Effect: worldmodel.EffectNone, Call: func(context.Context, json.RawMessage) (tools.Result, error) { panic("oops") }},
		tools.Tool{Name: "deaf", Parameters: object, Effect: worldmodel.EffectNone, Call: func(context.Context, json.RawMessage) (tools.Result, error) {
			<-deaf
			return tools.Result{}, nil
		}},
	))
	_, err = r.Call(t.Context(), "panics", nil)
	assert.ErrorContains(t, err, "the tool broke: oops")
	r.Limits.Time = 50 * time.Millisecond
	_, err = r.Call(t.Context(), "deaf", nil)
	assert.ErrorIs(t, err, tools.ErrTime)
	_, err = r.Call(t.Context(), "well", []byte(`{"a": "`+strings.Repeat("x", 1<<20)+`"}`))
	assert.ErrorIs(t, err, tools.ErrArguments, "too long")
}

// FuzzReadServers holds that no file breaks the reader, and that what it accepts can
// be reached or started.
func FuzzReadServers(f *testing.F) {
	f.Add(`{"mcpServers": {"a": {"command": "x", "args": ["${HOME}", "${NO:-y}"]}}}`)
	f.Add(`{"mcpServers": {"a": {"url": "https://b", "headers": {"c": "${"}}}}`)
	f.Add(`{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}`)
	f.Fuzz(func(t *testing.T, file string) {
		servers, err := tools.ReadServers(strings.NewReader(file))
		if err != nil {
			return
		}
		for name, s := range servers {
			assert.NotEmpty(t, name)
			assert.NotEqual(t, s.Command == "", s.URL == "")
		}
	})
}

// TestAskedWithoutLimit holds that a person may take longer to answer than a tool may take,
// which else has its limit as ever.
func TestAskedWithoutLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ask, err := tools.AskUser(func(ctx context.Context, _ string) (string, error) {
			select {
			case <-time.After(time.Hour):
				return "the red one", nil
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		})
		require.NoError(t, err)
		r := &tools.Registry{}
		require.NoError(t, r.Add(ask))
		got, err := do(t, r, "ask_user", map[string]any{"question": "Which one?"})
		require.NoError(t, err)
		assert.Equal(t, "the red one", got.Text)
	})
}

// TestFacts holds that what is remembered is bounded, and the same is kept once.
func TestFacts(t *testing.T) {
	var f tools.Facts
	for i := range 50 {
		require.NoError(t, f.Remember(t.Context(), fmt.Sprint("fact ", i)))
	}
	require.NoError(t, f.Remember(t.Context(), "fact 3"))
	require.ErrorContains(t, f.Remember(t.Context(), "one more"), "room")
	require.ErrorContains(t, new(tools.Facts).Remember(t.Context(), strings.Repeat("x", 501)), "at most 500")
	assert.Len(t, f.List(), 50)
	assert.Equal(t, "fact 49", f.List()[49])
}
