package getter

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
)

// noProgram are looks that ask no program of the table; those at files and commands
// are ruled by what they look at.
var noProgram = []string{
	"vm_file", "cloud_file", "cache_file", "content_from_vm_file", "rule", "rule_relativeTime", "time_diff_range", "vm_command_line",
	"vm_command_error", "accessibility_tree", "list_directory", "vm_screen_size", "vm_window_size", "vm_wallpaper",
	"default_video_player", "shortcuts_on_desktop", "audio_in_slide", "background_image_in_slide",
}

// TestPrograms holds that of each kind of look it is said which programs it needs.
func TestPrograms(t *testing.T) {
	for kind := range kinds {
		_, needs := programs[kind]
		assert.NotEqual(t, needs, slices.Contains(noProgram, kind), "%s must be either in programs or in noProgram", kind)
	}
	assert.Len(t, kinds, len(programs)+len(noProgram))
	for kind, enough := range programs {
		assert.True(t, env.Known(enough[0]), "%s: the table of programs does not say what has %s", kind, enough[0])
	}
}

// TestLacks holds which programs a look at a file or of a command needs, on a
// machine without Visual Studio Code.
func TestLacks(t *testing.T) {
	missing := env.Lacks("code")
	if missing == "" {
		t.Skip("Visual Studio Code is installed here")
	}
	for _, tt := range []struct {
		name   string
		getter *tasks.Getter
		want   []string
	}{
		{"none", nil, nil},
		{"its settings", &tasks.Getter{Type: "vm_file", Params: tasks.Params{"path": "/home/user/.config/Code/User/settings.json"}}, []string{missing}},
		{"among others", &tasks.Getter{Type: "vm_file", Params: tasks.Params{"path": []any{"/home/user/a", "~/.config/Code/b"}}}, []string{missing}},
		{"itself, and them", &tasks.Getter{Type: "vm_command_line", Params: tasks.Params{"command": "code --x | cat /home/user/.config/Code/y", "shell": true}}, []string{missing}},
		{"a pipe", &tasks.Getter{Type: "vm_command_line", Params: tasks.Params{"command": []any{"code", "--list-extensions", "|", "grep", "x"}}}, []string{missing}},
		{"errors of it", &tasks.Getter{Type: "vm_command_error", Params: tasks.Params{"command": []any{"code"}}}, []string{missing}},
		{"another file", &tasks.Getter{Type: "vm_file", Params: tasks.Params{"path": "/home/user/code"}}, nil},
		{"what the agent may make", &tasks.Getter{Type: "vm_command_line", Params: tasks.Params{"command": []any{"conda", "--version"}}}, nil},
		{"an expected file", &tasks.Getter{Type: "cloud_file", Params: tasks.Params{"path": "https://x.org/.config/Code/a"}}, nil},
		{"a rule", &tasks.Getter{Type: "rule", Params: tasks.Params{"rules": map[string]any{"path": "~/.config/Code"}}}, nil},
		{"a bad command", &tasks.Getter{Type: "vm_command_line", Params: tasks.Params{"command": "'"}}, nil},
	} {
		assert.Equal(t, tt.want, Lacks(tt.getter), tt.name)
	}
}
