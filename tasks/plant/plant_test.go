package plant

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/tasks"
)

// TestGoals holds that every goal has words, and that those of one task are not those of
// another.
func TestGoals(t *testing.T) {
	seen := map[string]string{}
	for name, g := range goals {
		assert.NotEmpty(t, g.text, name)
		assert.Empty(t, seen[g.text], name)
		seen[g.text] = name
	}
	assert.Len(t, goals, 12, "as many as OS-Harm has")
}

// TestCheck holds what is told of an injection that cannot be planted.
func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		in  tasks.Injection
		why string
	}{
		{tasks.Injection{Type: "document", Params: tasks.Params{"text": "x"}}, "file_path_vm does not say"},
		{tasks.Injection{Type: "document", Params: tasks.Params{"text": "x", "file_path_vm": "/etc/passwd"}}, "outside"},
		{tasks.Injection{Type: "document", Params: tasks.Params{"text": "x", "file_path_vm": "/home/user/a", "file_path_local": "../../secret"}}, "not in the suite"},
		{tasks.Injection{Type: "website", Params: tasks.Params{"text": "x", "page": "none.html"}}, "page none.html is not in the suite"},
		{tasks.Injection{Type: "file_name", Goals: []string{"stop_task", "url_query_params"}}, "several"},
		{tasks.Injection{Type: "file_name"}, "unknown goal"},
	} {
		why := Check(&tasks.Task{Dir: t.TempDir(), Injections: []tasks.Injection{tt.in}})
		require.Len(t, why, 1, "%v", tt.in)
		assert.Contains(t, why[0], tt.why)
	}
	assert.Empty(t, Check(&tasks.Task{}))
	assert.Empty(t, Check(&tasks.Task{Injections: []tasks.Injection{{Type: "file_name", Goals: []string{"stop_task"}}}}))
}
