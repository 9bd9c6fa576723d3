package pyautogui

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"desktop-agent/actuator"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOSWorldSources translates the Python sources with which the tasks of
// OSWorld drive the desktop. The tasks are not part of this repository.
func TestOSWorldSources(t *testing.T) {
	root := filepath.Join("..", "..", "..", "shared", "data", "osworld", "examples")
	if _, err := os.Stat(root); err != nil {
		t.Skipf("the tasks of OSWorld are not there: put their examples in %s", root)
	}
	sources := map[string]int{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".json" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var task any
		if err := json.Unmarshal(data, &task); err != nil {
			return err
		}
		collect(task, sources)
		return nil
	}))
	require.NotEmpty(t, sources)

	fill := strings.NewReplacer("{SCREEN_WIDTH_HALF}", "960", "{SCREEN_HEIGHT_HALF}", "540", "{SCREEN_WIDTH}", "1920", "{SCREEN_HEIGHT}", "1080")
	var understood, gui int
	var others []string
	for source, uses := range sources {
		p, err := Parser{}.Parse(actuator.Reply{Text: "```python\n" + fill.Replace(source) + "\n```"}, screen)
		if strings.Contains(source, "pyautogui") {
			gui++
			assert.NoError(t, err, source)
		}
		if err != nil {
			others = append(others, strings.ReplaceAll(source[:min(len(source), 100)], "\n", "\\n")+" … "+err.Error())
			continue
		}
		understood++
		assert.NotEmpty(t, p.Actions, "%d uses of %s", uses, source)
	}
	slices.Sort(others)
	t.Logf("%d of %d sources are understood, among them all %d that call pyautogui; the others need Python itself:\n%s",
		understood, len(sources), gui, strings.Join(others, "\n"))
}

// collect counts the sources behind "python -c" anywhere in a task.
func collect(v any, sources map[string]int) {
	switch v := v.(type) {
	case map[string]any:
		for _, item := range v {
			collect(item, sources)
		}
	case []any:
		for i, item := range v {
			if s, ok := item.(string); ok && i > 1 && v[i-1] == "-c" {
				if program, ok := v[i-2].(string); ok && strings.HasPrefix(filepath.Base(program), "python") {
					sources[s]++
				}
			}
			collect(item, sources)
		}
	}
}
