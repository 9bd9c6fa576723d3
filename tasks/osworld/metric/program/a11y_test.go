package program_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/metric/program"
)

// tree is the tree of a desktop, with namespaces under other prefixes than those of rules.
const tree = `<desktop-frame xmlns:s="https://accessibility.ubuntu.example.org/ns/state"
	xmlns:attr="https://accessibility.ubuntu.example.org/ns/attributes" xmlns:cp="https://accessibility.ubuntu.example.org/ns/component">
<application name="Thunderbird"><frame name="Add-ons Manager - Mozilla Thunderbird" s:active="true" cp:screencoord="(0, 27)">
<page-tab-list attr:id="the-tabs"><page-tab name="Home"/><page-tab name="Add-ons Manager" s:selected="true"/></page-tab-list>
<entry name="Your email">ada@example.com<label>more</label> and more</entry><entry name="Your password"></entry>
<label><![CDATA[a < b]]> &amp; c</label></frame></application>
<application name="Impress"><document-frame name="Slides View"/></application></desktop-frame>`

func TestAccessibilityTree(t *testing.T) {
	run(t, "check_accessibility_tree", []row{
		{"selector", tree, js(`[{"selectors": ["application[name=Thunderbird] page-tab-list[attr|id=\"the-tabs\"]>page-tab[name=\"Add-ons Manager\"]"]}]`), nil, 1, 1, ""},
		{"one of two selectors", tree, js(`[{"selectors": ["nothing", "page-tab[st|selected=true]"]}]`), nil, 1, 1, ""},
		{"selector without element", tree, js(`[{"selectors": ["page-tab[name=\"Home\"][st|selected=true]"]}]`), nil, 0, 0, ""},
		{"xpath", tree, js(`[{"xpath": "//application[@name='Thunderbird']//*[contains(text(), 'ada@example.com') or contains(@name, 'ada@example.com')]"},
			{"xpath": "//application[@name='Thunderbird']//*[contains(@name, 'password') or contains(@name, 'Password')]"}]`), nil, 1, 1, ""},
		{"namespaces", tree, js(`{"xpath": "//frame[@st:active='true' and @cp:screencoord='(0, 27)']"}`), nil, 1, 1, ""},
		{"xpath first", tree, js(`{"xpath": "//frame", "selectors": ["nothing"]}`), nil, 1, 1, ""},
		{"one of two rules", tree, js(`[{"xpath": "//frame"}, {"xpath": "//window"}]`), nil, 0, 0, ""},
		{"text", tree, js(`{"xpath": "//entry", "text": "ada@example.com"}`), nil, 1, 1, ""},
		{"other text", tree, js(`{"xpath": "//entry", "text": "ada@example"}`), nil, 0, 0, ""},
		{"empty text", tree, js(`{"selectors": ["entry"], "text": ""}`), nil, 1, 1, ""},
		{"text in parts", tree, js(`{"xpath": "//frame/label", "text": "a < b & c"}`), nil, 1, 1, ""},
		{"text nearly", tree, js(`{"xpath": "//entry", "text": "ada@example", "exact": false}`), nil, 22. / 26, 22. / 26, ""},
		{"product", tree, js(`[{"xpath": "//entry", "text": "ada@example", "exact": false}, {"xpath": "//frame"},
			{"xpath": "//frame/label", "text": "a < b", "exact": "false"}]`), nil, 22. / 26 * 10 / 14, 22. / 26 * 10 / 14, ""},
		{"attribute", tree, js(`{"xpath": "//page-tab/@name", "text": "Home"}`), nil, 1, 1, ""},
		{"text node", tree, js(`{"xpath": "//entry/text()", "text": " and more"}`), nil, 1, 1, ""},
		{"truth value", tree, js(`{"xpath": "count(//page-tab) = 2"}`), nil, 1, 1, ""},
		{"untrue", tree, js(`{"xpath": "boolean(//window)"}`), nil, 0, 0, ""},
		{"number", tree, js(`{"xpath": "count(//page-tab)"}`), nil, 0, 0, "must give elements"},
		{"other system", strings.ReplaceAll(tree, "ubuntu", "windows"), js(`{"xpath": "//frame[@st:active='true']"}`), tasks.Params{"osname": "windows"}, 1, 1, ""},
		{"wrong system", tree, js(`{"xpath": "//frame[@st:active='true']"}`), tasks.Params{"osname": "macos"}, 0, 0, ""},
		{"unknown system", tree, js(`{"xpath": "//a"}`), tasks.Params{"osname": "BeOS"}, 0, 0, `osname "BeOS" is not known`},
		{"no rules", tree, js(`[]`), nil, 0, 0, "there is no rule"},
		{"no selector", tree, js(`{"text": "a"}`), nil, 0, 0, "there must be an xpath or selectors"},
		{"bad xpath", nil, js(`{"xpath": "//a["}`), nil, 0, 0, `xpath "//a["`},
		{"unknown namespace", nil, js(`{"xpath": "//a[@zz:b]"}`), nil, 0, 0, "prefix zz not defined"},
		{"bad selector", nil, js(`{"selectors": ["a:hover"]}`), nil, 0, 0, "the pseudo-class :hover is not supported"},
		{"long text", nil, js(`{"xpath": "//a", "exact": false, "text": "` + strings.Repeat("a", 3000) + `"}`), nil, 0, 0, "too many to compare"},
		{"two roots", "<a/><b/>", js(`{"xpath": "//c"}`), nil, 0, 0, ""},
		{"cut off", tree[:300], js(`{"xpath": "//frame"}`), nil, 0, 0, ""},
		{"deep", strings.Repeat("<a>", 1000) + strings.Repeat("</a>", 1000), js(`{"xpath": "//a"}`), nil, 0, 0, ""},
		{"wide", "<a>" + strings.Repeat("<a/>", 200_000) + "</a>", js(`{"xpath": "//a"}`), nil, 0, 0, ""},
		{"entities", `<!DOCTYPE a [<!ENTITY b "cccc"><!ENTITY d "&b;&b;">]><a>&d;</a>`, js(`{"xpath": "//a"}`), nil, 0, 0, ""},
	})
}

func TestLeftPanel(t *testing.T) {
	run(t, "check_left_panel", []row{
		{"there", tree, nil, nil, 1, 1, ""},
		{"in a namespace", `<a:document-frame xmlns:a="urn:a" name="Slides View"/>`, nil, nil, 1, 1, ""},
		{"another frame, another element", `<desktop-frame><document-frame name="Drawing View"/><panel name="Slides View"/></desktop-frame>`, nil, nil, 0, 0, ""},
		{"cut off", `<desktop-frame><document-frame name="Slides View"/>`, nil, nil, 0, 0, ""},
		{"empty", "", nil, nil, 0, 0, ""},
		{"missing", nil, nil, nil, 0, 0, ""},
	})
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, metric := range program.Metrics(0) {
		_, err := metric(ctx, tree, map[string]any{"xpath": "//a"}, nil)
		require.ErrorIs(t, err, context.Canceled, name)
	}
}

// The rules of the public tasks are understood: with no result
// each scores 0, and none is an error.
func TestPublicTasks(t *testing.T) {
	if os.Getenv("OSWORLD_DATA") == "" {
		t.Skip("there are no public tasks: set OSWORLD_DATA to a folder with osworld/examples")
	}
	files, err := filepath.Glob(filepath.Join(os.Getenv("OSWORLD_DATA"), "osworld", "examples", "*", "*.json"))
	require.NoError(t, err)
	metrics, judged := program.Metrics(0), 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		var task struct{ Evaluator map[string]any }
		require.NoError(t, json.Unmarshal(data, &task))
		e := tasks.Params(task.Evaluator)
		expected, options := e.List("expected"), e.List("options")
		for i, function := range e.List("func") {
			metric := metrics[function.(string)]
			if metric == nil || i >= len(expected) || function == "check_thunderbird_folder" {
				continue
			}
			var opt tasks.Params
			if i < len(options) {
				opt, _ = options[i].(map[string]any)
			}
			score, err := metric(t.Context(), nil, expected[i].(map[string]any)["rules"], opt)
			require.NoError(t, err, "%s: %s", name, function)
			require.Zero(t, score.Value, "%s: %s", name, function)
			judged++
		}
	}
	require.Greater(t, judged, 10)
	t.Logf("%d rules", judged)
}
