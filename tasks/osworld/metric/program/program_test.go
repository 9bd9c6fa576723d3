package program_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/defect"
	"desktop-agent/tasks/osworld/defect/defecttest"
	"desktop-agent/tasks/osworld/metric/program"
)

// A row is one judgement: what a metric gives for a result, a rule and options, which
// are values or JSON in a [js].
type row struct {
	name     string
	result   tasks.Value
	expected tasks.Value
	options  tasks.Params
	want     float64
	compat   float64 // the reference's score
	err      string  // part of it
}

// js is JSON, which stands for its value.
type js string

// content is what stands in a file.
type content string

// run judges the rows of a metric, as it is and as the reference does.
func run(t *testing.T, metric string, rows []row) {
	t.Helper()
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			proof.Case(metric, func(of defect.Set) string {
				return defecttest.Score(program.Metrics(of)[metric](t.Context(), value(t, tt.result), value(t, tt.expected), tt.options))
			})
			for _, compat := range []bool{false, true} {
				judge := program.Metrics(defect.When(compat))[metric]
				require.NotNil(t, judge, metric)
				got, err := judge(t.Context(), value(t, tt.result), value(t, tt.expected), tt.options)
				if tt.err != "" {
					require.ErrorContains(t, err, tt.err)
					continue
				}
				require.NoError(t, err)
				want := tt.want
				if compat {
					want = tt.compat
				}
				assert.InDelta(t, want, got.Value, 1e-9, "compat %v: %s", compat, got.Why)
				assert.Equal(t, got.Value < 1, got.Why != "", "a reason, and only for a fault: %q", got.Why)
			}
		})
	}
}

// value returns the value that a row means.
func value(t *testing.T, v any) tasks.Value {
	t.Helper()
	switch v := v.(type) {
	case js:
		var out any
		require.NoError(t, json.Unmarshal([]byte(v), &out))
		return out
	case content:
		return file(t, string(v))
	case []content:
		var files tasks.Files
		for _, c := range v {
			files = append(files, file(t, string(c)))
		}
		return files
	}
	return v
}

// file returns a file with a content.
func file(t *testing.T, content string) tasks.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a file")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return tasks.File{Path: path}
}

// Every metric bears with every result, and does not take anything for an error
// of the task but what the task says.
func TestResultsOfAllKinds(t *testing.T) {
	rules := map[string]js{
		"is_expected_tabs":                          `{"type": "url", "urls": ["a.com"]}`,
		"is_expected_active_tab":                    `{"type": "url", "url": "a.com"}`,
		"is_expected_active_tab_approximate":        `{"type": "url", "url": "a.com"}`,
		"is_expected_url_pattern_match":             `{"expected": ["a"]}`,
		"is_expected_search_query":                  `{"expect": {"pattern": "a"}}`,
		"is_expected_bookmarks":                     `{"type": "bookmark_bar_folders_names", "names": []}`,
		"is_expected_installed_extensions":          `{"expected": ["a"]}`,
		"check_history_deleted":                     `{"type": "keywords", "keywords": ["a"]}`,
		"is_cookie_deleted":                         `{"type": "domains", "domains": ["a.com"]}`,
		"check_font_size":                           `{"type": "value", "value": 16}`,
		"check_enabled_experiments":                 `{"type": "names", "names": ["a"]}`,
		"is_shortcut_on_desktop":                    `{"type": "name", "name": "a"}`,
		"is_added_to_steam_cart":                    `{"items": ["a"]}`,
		"check_thunderbird_prefs":                   `{"expect": {"a": {"method": "eq", "ref": 1}}}`,
		"check_thunderbird_filter":                  `{"expect": [{"name": "a"}]}`,
		"is_vlc_playing":                            `{"type": "file_name", "file_name": "a"}`,
		"is_vlc_recordings_folder":                  `{"recording_file_path": "/a"}`,
		"is_vlc_fullscreen":                         `{"width": 1, "height": 1}`,
		"check_qt_bgcone":                           `{"expected_qt_bgcone": 7}`,
		"check_qt_max_volume":                       `{"expected_qt_max_volume": 7}`,
		"check_qt_minimal_view":                     `{"expected_qt_minimal_view": 7}`,
		"check_play_and_exit":                       `{"expected_play_and_exit": 7}`,
		"check_one_instance_when_started_from_file": `{"expected_one_instance_when_started_from_file": 7}`,
		"check_qt_slider_colours":                   `{"type": "blackish"}`,
		"check_global_key_play_pause":               `{"expected_global_key_play_pause": 1}`,
		"check_config_status":                       `{"key": "theme", "value": "a"}`,
		"find_default_font":                         `{"font_name": "a"}`,
		"check_auto_saving_time":                    `{"minutes": 3}`,
		"check_presenter_console_disable":           `null`,
		"check_left_panel":                          `null`,
		"check_accessibility_tree":                  `{"xpath": "//a"}`,
	}
	results := []any{
		nil, "", "\x00<", js(`true`), js(`7`), js(`{}`), js(`[7]`), js(`[[7]]`), js(`{"a": [7]}`),
		js(`{"bookmark_bar": 7, "url": 7, "content": 7, "default_font_size": "7", "width": "7"}`),
		js(`[{"url": 7}]`), tasks.File{}, tasks.File{Path: t.TempDir()}, tasks.File{Path: "/no/such/file"}, tasks.Files{},
		content(""), content("\xff\x00(=;<a><b></a>"), []content{"a", "b"}, 7,
	}
	for _, compat := range []bool{false, true} {
		for name, metric := range program.Metrics(defect.When(compat)) {
			if name == "check_thunderbird_folder" {
				continue // it expects files; it has its own tests
			}
			rule, ok := rules[name]
			require.True(t, ok, "%s has no rule here", name)
			for i, result := range results {
				got, err := metric(t.Context(), value(t, result), value(t, rule), nil)
				require.NoError(t, err, "%s: result %d", name, i)
				require.Zero(t, got.Value, "%s: result %d", name, i)
				require.NotEmpty(t, got.Why, "%s: result %d", name, i)
			}
			if rule == "null" || name == "is_vlc_fullscreen" {
				continue
			}
			for _, bad := range []any{nil, js(`7`), js(`"a"`), js(`{}`), js(`{"type": "a"}`)} {
				if name == "check_thunderbird_filter" || name == "check_thunderbird_prefs" {
					bad = nil // an empty rule is one without conditions
				}
				_, err := metric(t.Context(), value(t, js(`"a"`)), value(t, bad), nil)
				require.Error(t, err, "%s: rule %v", name, bad)
			}
		}
	}
}
