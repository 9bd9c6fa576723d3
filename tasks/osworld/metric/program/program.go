package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/defect"
)

// maxFile is the most that is read of one file, in bytes. Mail folders and
// databases are the largest files that tasks look at.
const maxFile = 64 << 20

// A judge has the metrics as methods.
type judge struct{ defect.Set }

// Metrics returns the metrics of this package by OSWorld's names. They
// repeat the given ones of [Defects].
func Metrics(of defect.Set) map[string]tasks.Metric {
	j := judge{of}
	return map[string]tasks.Metric{
		"is_expected_tabs":                   ruled(j.expectedTabs),
		"is_expected_active_tab":             ruled(j.expectedActiveTab),
		"is_expected_active_tab_approximate": ruled(activeTabApproximate),
		"is_expected_url_pattern_match":      ruled(urlPatternMatch),
		"is_expected_search_query":           ruled(searchQuery),
		"is_expected_bookmarks":              ruled(expectedBookmarks),
		"is_expected_installed_extensions":   ruled(installedExtensions),
		"check_history_deleted":              ruled(historyDeleted),
		"is_cookie_deleted":                  ruled(j.cookieDeleted),
		"check_font_size":                    ruled(fontSize),
		"check_enabled_experiments":          ruled(j.enabledExperiments),
		"is_shortcut_on_desktop":             ruled(j.shortcutOnDesktop),
		"is_added_to_steam_cart":             ruled(steamCart),

		"check_thunderbird_prefs":  filed(thunderbirdPrefs),
		"check_thunderbird_filter": filed(j.thunderbirdFilter),
		"check_thunderbird_folder": j.thunderbirdFolder,

		"is_vlc_playing":           filed(j.vlcPlaying),
		"is_vlc_recordings_folder": filed(j.vlcRecordingsFolder),
		"is_vlc_fullscreen":        vlcFullscreen,
		"check_qt_bgcone":          filed(j.vlcSetting("qt-bgcone", "expected_qt_bgcone", "1")),
		"check_qt_max_volume":      filed(j.vlcSetting("qt-max-volume", "expected_qt_max_volume", "125")),
		"check_qt_minimal_view":    filed(j.vlcSetting("qt-minimal-view", "expected_qt_minimal_view", "0")),
		"check_play_and_exit":      filed(j.vlcSetting("play-and-exit", "expected_play_and_exit", "0")),
		"check_one_instance_when_started_from_file": filed(j.vlcSetting("one-instance-when-started-from-file",
			"expected_one_instance_when_started_from_file", "1")),
		"check_qt_slider_colours":     filed(j.vlcSliderColours),
		"check_global_key_play_pause": filed(j.vlcGlobalKeyPlayPause),

		"check_config_status": filed(j.gimpConfigStatus),

		"find_default_font":               filed(defaultFont),
		"check_auto_saving_time":          filed(j.autoSavingTime),
		"check_presenter_console_disable": presenterConsoleDisabled,

		"check_accessibility_tree": accessibilityTree,
		"check_left_panel":         leftPanel,
	}
}

// ruled makes a metric of a check that needs a result and a rule.
func ruled(check func(result tasks.Value, rule tasks.Params) (tasks.Score, error)) tasks.Metric {
	return func(ctx context.Context, result, expected tasks.Value, _ tasks.Params) (tasks.Score, error) {
		if err := context.Cause(ctx); err != nil {
			return tasks.Score{}, err
		}
		rule, err := ruleOf(expected)
		if err != nil {
			return tasks.Score{}, err
		}
		score, err := check(result, rule) // also without a result, to find a bad rule
		if err == nil && result == nil {
			score = tasks.No("there is no result")
		}
		return score, err
	}
}

// filed makes a metric of a check that needs the content of a file and a rule.
func filed(check func(content string, rule tasks.Params) (tasks.Score, error)) tasks.Metric {
	return ruled(func(result tasks.Value, rule tasks.Params) (tasks.Score, error) {
		content, why := readResult(result)
		score, err := check(content, rule) // also without a file, to find a bad rule
		if err == nil && why != "" {
			score = tasks.No(why)
		}
		return score, err
	})
}

// ruleOf returns what a task expects.
func ruleOf(expected tasks.Value) (tasks.Params, error) {
	switch v := expected.(type) {
	case map[string]any:
		return v, nil
	case tasks.Params:
		return v, nil
	case nil:
		return nil, errors.New("expected: nothing is given: the task must have a rule")
	}
	return nil, fmt.Errorf("expected: a rule must be an object, not %s", kind(expected))
}

// readResult reads the file that a result is. A link is none: it may lead anywhere.
func readResult(v tasks.Value) (content, why string) {
	if path, err := tasks.OneFile(v); err == nil {
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return "", "it is a link and no file"
		}
	}
	return readFile(v)
}

// readFile returns the content of the file that a value is, or says why not.
func readFile(v tasks.Value) (content, why string) {
	path, err := tasks.OneFile(v)
	if err != nil {
		return "", err.Error()
	}
	large := fmt.Sprintf("the file has more than %d MB", maxFile>>20)
	switch info, err := os.Stat(path); {
	case err != nil:
		return "", fileTrouble(err)
	case !info.Mode().IsRegular():
		return "", "it is not a regular file" // reading a pipe might never end
	case info.Size() > maxFile:
		return "", large
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fileTrouble(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return "", fileTrouble(err)
	}
	if len(data) > maxFile {
		return "", large
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), ""
}

// fileTrouble says what is wrong with a file, without its path, which means
// nothing to the reader of a report.
func fileTrouble(err error) string {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return fmt.Sprintf("the file cannot be read: %v", err)
}

// kind names the type of a value for messages.
func kind(v tasks.Value) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case string:
		return "a text"
	case bool:
		return "a truth value"
	case float64, int:
		return "a number"
	case []any:
		return "a list"
	case map[string]any, tasks.Params:
		return "an object"
	case tasks.File:
		return "a file"
	case tasks.Files:
		return "several files"
	}
	return fmt.Sprintf("a %T", v)
}

// maxReason is the longest reason, in bytes. Results may be lists of any length.
const maxReason = 1000

// yesIf scores 1 if ok, and else 0 with the reason.
func yesIf(ok bool, why string, args ...any) tasks.Score {
	if ok {
		return tasks.Yes()
	}
	why = fmt.Sprintf(why, args...)
	if len(why) > maxReason {
		why = strings.ToValidUTF8(why[:maxReason], "") + " …"
	}
	return tasks.No(why)
}

// need returns a text that a rule must have.
func need(rule tasks.Params, key string) (string, error) {
	if !rule.Has(key) {
		return "", fmt.Errorf("rule: %q is missing", key)
	}
	text, err := rule.Text(key)
	if err != nil {
		return "", fmt.Errorf("rule: %w", err)
	}
	return text, nil
}

// needAll returns a list of texts that a rule must have.
func needAll(rule tasks.Params, key string) ([]string, error) {
	if !rule.Has(key) {
		return nil, fmt.Errorf("rule: %q is missing", key)
	}
	texts, err := rule.Texts(key)
	if err != nil {
		return nil, fmt.Errorf("rule: %w", err)
	}
	return texts, nil
}

// unknownType is the error for a rule of a type that a metric does not have.
func unknownType(rule tasks.Params, want string) error {
	return fmt.Errorf("rule: type %.60q is not known: use %s", fmt.Sprint(rule["type"]), want)
}

// splitLines returns the lines of a text, whatever ends them.
func splitLines(text string) []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
}
