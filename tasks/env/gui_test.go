//go:build linux

package env

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"desktop-agent/actuator"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseGUI(t *testing.T) {
	for _, tt := range []struct {
		source string
		want   []string
	}{
		{`import pyautogui; pyautogui.hotkey("ctrl", "s");`, []string{"press Ctrl+S"}},
		{"import pyautogui; import time; pyautogui.hotkey('ctrl', 's'); time.sleep(0.5); ", []string{"press Ctrl+S", "wait 500ms"}},
		{"import pyautogui; import time; pyautogui.click(960, 540); time.sleep(0.5);", []string{"click left at (960, 540)", "wait 500ms"}},
		{`import time; import pyautogui; time.sleep(1);pyautogui.hotkey(["shift", "ctrl", "e"]);`, []string{"wait 1s", "press Shift+Ctrl+E"}},
		{`import pyautogui; pyautogui.press(["enter"]);`, []string{"press Enter"}},
		{`import pyautogui; pyautogui.write("a_name");pyautogui.press(["enter"]);`, []string{`type "a_name"`, "press Enter"}},
		{`import pyautogui; pyautogui.press("down", presses=8, interval=0.01); pyautogui.scroll(-2)`, []string{"press Down 8 times", "scroll down 2 where the pointer is"}},
		{"import pyautogui; import time; time.sleep(0.5);", []string{"wait 500ms"}},
		{"import pyautogui; pyautogui.doubleClick(10, 20); pyautogui.mouseDown(); pyautogui.mouseUp()", []string{"double-click left at (10, 20)", "press the left button down where the pointer is", "let the left button go where the pointer is"}},
	} {
		actions, err := translate(tt.source, DefaultSize)
		require.NoError(t, err, tt.source)
		var got []string
		for _, a := range actions {
			got = append(got, actuator.DescribeFull(a))
		}
		assert.Equal(t, tt.want, got, tt.source)
	}
	for source, want := range map[string]string{
		"import pyautogui; import os; os.remove('x')": "os",
		"import pyautogui; pyautogui.click(5000, 1)":  "5000",
		"import pyautogui; open('x')":                 "open",
		"import pyautogui\n```\n":                     "```",
	} {
		_, err := translate(source, DefaultSize)
		require.ErrorContains(t, err, want, source)
	}
}

// Every source that calls pyautogui in the public tasks can be translated.
func TestPublicSources(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(os.Getenv("OSWORLD_DATA"), "osworld", "examples", "*", "*.json"))
	require.NoError(t, err)
	if os.Getenv("OSWORLD_DATA") == "" || len(files) == 0 {
		t.Skip("needs OSWorld's tasks: set OSWORLD_DATA to a folder with osworld/examples")
	}
	sources := map[string]bool{}
	var look func(any)
	look = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, item := range v {
				look(item)
			}
		case []any:
			if len(v) == 3 && v[1] == "-c" {
				if text, ok := v[2].(string); ok && strings.Contains(text, "pyautogui") {
					sources[text] = true
				}
			}
			for _, item := range v {
				look(item)
			}
		}
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var task any
		require.NoError(t, json.Unmarshal(text, &task), file)
		look(task)
	}
	require.NotEmpty(t, sources)
	places := strings.NewReplacer("{SCREEN_WIDTH_HALF}", "960", "{SCREEN_HEIGHT_HALF}", "540", "{SCREEN_WIDTH}", "1920", "{SCREEN_HEIGHT}", "1080")
	for source := range sources {
		_, err := translate(places.Replace(source), DefaultSize)
		assert.NoError(t, err, source)
	}
	t.Logf("%d sources", len(sources))
}
