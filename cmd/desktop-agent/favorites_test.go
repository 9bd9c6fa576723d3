//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/llm/llmtest"
	"desktop-agent/planner"
	"desktop-agent/replay"
	"desktop-agent/run"
)

var (
	folderShown = regexp.MustCompile(`n\d+ \\"Favorites\\"`)
	addFolder   = regexp.MustCompile(`(n\d+) [a-z ]*\\"Add folder…\\"`)
	currentStep = regexp.MustCompile(`Current step (\d) of`)
)

// answerFavorites decides by what it is shown alone: it puts a folder on the bookmarks bar of
// a browser, by the menu of the bar.
func answerFavorites(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var request struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Format json.RawMessage `json:"response_format"`
	}
	if err := json.Unmarshal(body, &request); err != nil || len(request.Messages) == 0 {
		llmtest.Status(http.StatusBadRequest, "", "no request")(w, r)
		return
	}
	last := string(request.Messages[len(request.Messages)-1].Content)
	before := "" // what it did last
	for _, m := range request.Messages {
		if m.Role == "assistant" {
			before = string(m.Content)
		}
	}
	shown, bar := folderShown.MatchString(last), strings.Contains(last, `toolbar \"Bookmarks\"`)
	risk := map[string]any{"severity": "none", "probability": 0, "reason": ""}
	for property, answer := range map[string]any{
		`"done_when"`: map[string]any{"steps": []any{
			map[string]string{"goal": "Explore the toolbars of the browser", "done_when": "The bookmarks bar is visible"},
			map[string]string{"goal": "Discover what the bookmarks bar offers", "done_when": "A menu has the entry to add a folder"},
			map[string]string{"goal": "Find where the folder gets its name", "done_when": "A dialog asks for a name"},
			map[string]string{"goal": "Locate the folder Favorites", "done_when": "The bookmarks bar has the folder Favorites"}}},
		`"as_expected"`:            seenFavorites(last, shown, bar),
		`"blocked_effects"`:        map[string]any{"reason": "a folder is made", "irreversible": false, "blocked_effects": []string{}, "blocked_tools": []string{}},
		`effect of the whole task`: map[string]any{"shown": shown, "evidence": "Favorites", "missing": "there is no folder Favorites"},
		`"is_consistent"`:          map[string]any{"is_consistent": true, "needs_new_plan": false, "optimization_guidance": nil},
		`"task_words"`: map[string]any{"expected": "a folder", "effect": "edit", "reversible": true, "undo": "delete it", "short_term": risk, "long_term": risk,
			"violated_policy_ids": []string{}, "asked_for_by_task": true, "task_words": "create a folder", "lifts": nil, "better": nil},
	} {
		if bytes.Contains(request.Format, []byte(property)) {
			text, _ := json.Marshal(answer) // of plain values
			llmtest.Completion(string(text))(w, r)
			return
		}
	}
	at := addFolder.FindStringSubmatch(last)
	switch {
	case shown:
		says("DONE: Favorites")(w, r)
	case at != nil:
		says(fmt.Sprintf("agent.click(%q)", at[1]))(w, r)
	case !bar:
		says(`pyautogui.hotkey("ctrl", "shift", "b")`)(w, r)
	case strings.Contains(before, "agent.click"), strings.Contains(last, "Bookmark name"):
		says(`pyautogui.write("Favorites\n")`)(w, r)
	default:
		says("pyautogui.rightClick(400, 98)")(w, r)
	}
}

// seenFavorites is what the world model reports: the last open condition that the list
// shows.
func seenFavorites(asked string, shown, bar bool) map[string]any {
	step, quote := 0, ""
	if at := currentStep.FindStringSubmatch(asked); at != nil {
		step, _ = strconv.Atoi(at[1]) // a digit
		switch {
		case shown:
			step, quote = 5, "Favorites"
		case step <= 2 && addFolder.MatchString(asked):
			step, quote = 3, "Add folder…"
		case step == 1 && bar:
			step, quote = 2, "Bookmarks"
		}
	}
	return map[string]any{"changed": "the browser", "as_expected": "yes", "progress_step": step, "evidence": quote, "guidance": nil, "stop": false, "region": nil}
}

// TestFavoritesOnDisplay has the example of the plan's design done in a real browser on a
// private desktop, with a plan and without: progress goes from 1 to 2 once the bookmarks bar
// is there, the folder is there at the end, and what each run cost is told.
func TestFavoritesOnDisplay(t *testing.T) {
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("there is no chromium")
	}
	endpoint := httptest.NewServer(http.HandlerFunc(answerFavorites))
	t.Cleanup(endpoint.Close)
	browser := "chromium --no-sandbox --test-type --no-first-run --no-default-browser-check --disable-gpu --disable-sync --disable-background-networking " +
		"--disable-component-update --disable-quic --force-renderer-accessibility --password-store=basic --user-data-dir=profile --window-position=0,0 --window-size=880,600 about:blank"
	for _, planning := range []string{"suggestive", "off"} {
		t.Run(planning, func(t *testing.T) {
			runs := filepath.Join(t.ArtifactDir(), "runs")
			p := start(t, "run", "--virtual", "--size", "900x640", "--open", browser, "--plan", planning, "--runs", runs, "--max-steps", "15",
				"--base-url", endpoint.URL+"/v1", "--model", "m", "Create a folder named 'Favorites' on bookmarks bar")
			require.Equal(t, exitDone, p.code(), "%s", p.stderr)
			list, err := replay.List(runs)
			require.NoError(t, err)
			require.Len(t, list, 1)
			stored, err := replay.Open(list[0].Dir)
			require.NoError(t, err)
			var plans []*planner.Plan
			var ended run.RunEnded
			var seen run.Observed
			for e, err := range stored.Events() {
				require.NoError(t, err)
				switch data := e.Data.(type) {
				case run.Assessed:
					if data.Plan != nil {
						plans = append(plans, data.Plan)
					}
				case run.Observed:
					seen = data
				case run.RunEnded:
					ended = data
				}
			}
			var folder bool
			for _, n := range seen.Targets {
				folder = folder || n.Name == "Favorites"
			}
			assert.True(t, folder, "the browser shows the folder")
			assert.Equal(t, planner.Proved, ended.Grade)
			t.Logf("plan %s: %d steps, %d calls, %d tokens, %d ms", planning, ended.Steps, ended.Calls, ended.Usage.Input+ended.Usage.Output, ended.Millis)
			if planning == "off" {
				assert.Empty(t, plans)
				return
			}
			past := slices.IndexFunc(plans, func(p *planner.Plan) bool { return p.ProgressStep() != 1 })
			require.GreaterOrEqual(t, past, 0)
			assert.Equal(t, 2, plans[past].ProgressStep(), "the bookmarks bar is visible")
			require.NotNil(t, plans[past].Steps[0].Evidence)
			assert.Equal(t, "Bookmarks", plans[past].Steps[0].Evidence.Quote)
			assert.True(t, plans[len(plans)-1].Finished())
		})
	}
}
