package getter

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/osworld/defect"
)

func TestReadCommand(t *testing.T) {
	for _, tt := range []struct {
		name          string
		p             tasks.Params
		want, compat  []string
		shell, cShell bool
	}{
		{name: "list", p: params("command", []any{"ls", "~/a b", "~"}), want: []string{"ls", "/home/user/a b", "~"}},
		{name: "text", p: params("command", `grep -c "a b" 'c\d' e\ f "g\"h\$"`), want: []string{"grep", "-c", "a b", `c\d`, "e f", `g"h\$`}},
		{name: "as the set-up has it", p: params("command", `touch "x\$y"`), want: []string{"touch", `x\$y`}},
		{name: "shell", p: params("command", "ls ~ | wc", "shell", "true"), want: []string{"ls ~ | wc"}, shell: true, cShell: true},
		{name: "list for a shell", p: params("command", []any{"ls $1", "x", "|"}, "shell", true), want: []string{"ls $1", "x", "|"}, shell: true, cShell: true},
		{name: "pipe", p: params("command", []any{"ls", "~/it's", "|", "grep", "a|b; c"}),
			want: []string{`'ls' '/home/user/it'\''s' | 'grep' 'a|b; c'`}, shell: true, compat: []string{"ls", "/home/user/it's", "|", "grep", "a|b; c"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			proof.Case("vm_command_line", func(of defect.Set) string {
				c, err := readCommand(tt.p, of)
				return fmt.Sprint(c, err)
			})
			c, err := readCommand(tt.p, 0)
			require.NoError(t, err)
			assert.Equal(t, env.Command{Args: tt.want, Shell: tt.shell}, c)
			if tt.compat == nil {
				tt.compat = tt.want
			}
			c, err = readCommand(tt.p, defect.When(true))
			require.NoError(t, err)
			assert.Equal(t, env.Command{Args: tt.compat, Shell: tt.cShell}, c)
		})
	}
}

func TestOutput(t *testing.T) {
	p := params("command", "do it")
	for _, tt := range []struct {
		name           string
		out            env.Output
		err            error
		stdout, stderr tasks.Value
		wantErr        bool
	}{
		{name: "prints", out: env.Output{Stdout: []byte("a\n"), Stderr: []byte("b\n")}, stdout: "a\n", stderr: "b\n"},
		{name: "fails", out: env.Output{Stdout: []byte("a"), Code: 3}, stdout: "a", stderr: ""},
		{name: "no text", out: env.Output{Stdout: []byte("a\xffb")}, stdout: "a\uFFFDb", stderr: ""},
		{name: "no program", out: env.Output{Stderr: []byte("not found"), Code: 127}},
		{name: "too long", out: env.Output{Stdout: []byte("a")}, err: env.ErrLimit},
		{name: "gone", err: errors.New("gone"), wantErr: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{run: func(c env.Command) (env.Output, error) {
				assert.Equal(t, []string{"do", "it"}, c.Args)
				return tt.out, tt.err
			}}
			for kind, want := range map[string]tasks.Value{"vm_command_line": tt.stdout, "vm_command_error": tt.stderr} {
				value, err := Get(t.Context(), f, &tasks.Getter{Type: kind, Params: p}, in(t))
				assert.Equal(t, want, value, kind)
				assert.Equal(t, tt.wantErr, err != nil, kind)
			}
		})
	}
}

// What a script of this package has printed when it took too long is no result: what is
// missing of it would count as not there.
func TestScriptTooLong(t *testing.T) {
	f := &fake{run: func(env.Command) (env.Output, error) {
		return env.Output{Stdout: []byte("dd\x00")}, fmt.Errorf("%w: more than 2m0s", env.ErrLimit)
	}}
	for kind, p := range map[string]tasks.Params{
		"list_directory": params("path", "/home/user"), "vm_wallpaper": params("dest", "x.png"), "default_video_player": nil,
		"shortcuts_on_desktop": nil, "extensions_installed_from_shop": nil,
	} {
		value, err := Get(t.Context(), f, &tasks.Getter{Type: kind, Params: p}, in(t))
		require.ErrorIs(t, err, env.ErrLimit, kind)
		assert.ErrorContains(t, err, ": command took too long: more than 2m0s", kind)
		assert.Nil(t, value, kind)
	}
}
