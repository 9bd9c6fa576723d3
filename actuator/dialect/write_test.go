package dialect

import (
	"image"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
)

// samples are actions of each type, in all the ways that some dialect can say.
func samples() []actuator.Action {
	var list []actuator.Action
	for _, p := range []*actuator.Point{at(0, 0), at(979, 699), at(333, 431), nil} {
		for _, b := range []actuator.Button{actuator.Left, actuator.Middle, actuator.Right} {
			for count := 1; count <= 3; count++ {
				list = append(list, actuator.Click{At: p, Button: b, Count: count})
			}
			list = append(list, actuator.ButtonDown{At: p, Button: b}, actuator.ButtonUp{At: p, Button: b})
		}
		for _, n := range []int{-60, -5, -1, 1, 3, 5, 20, 100} {
			list = append(list, actuator.Scroll{At: p, DY: n}, actuator.Scroll{At: p, DX: n})
		}
		list = append(list, actuator.Click{At: p, Button: actuator.Left, Count: 1, Modifiers: []actuator.Key{"ctrl", "shift"}}, actuator.Scroll{At: p, DY: 2, Modifiers: []actuator.Key{"ctrl"}}, actuator.Scroll{At: p, DX: 1, DY: 1})
	}
	for _, text := range []string{
		"milk", "milk\nbread\n", "\nmilk\n", "it's \"so\"", `'`, `C:\new\t`, `a\n`, "tab\there", " 漢😀 ", "f('a')', x='b')", "click(point='<point>1 2</point>')", "Action: wait()", "<think>", "</think>",
		"</tool_call>", "</parameter>", "<|end_of_box|>", "Memory: x", "```", "{\"action\": 1}", "12", "true",
	} {
		s := actuator.Secret(text)
		list = append(list, actuator.Type{Text: s}, actuator.SetClipboard{Text: s}, actuator.Paste{Text: &s}, actuator.Done{Answer: text}, actuator.Ask{Question: text})
	}
	for _, reason := range []string{"there is none", "it's \"locked\": 漢"} { // which most forms have no argument for: a sentence
		list = append(list, actuator.Infeasible{Reason: reason})
	}
	for _, k := range actuator.Keys() {
		list = append(list, press(k), press("ctrl", k), actuator.KeyDown{Key: k}, actuator.KeyUp{Key: k})
	}
	for _, ms := range []int{100, 1000, 1500, 5000, 60000} {
		list = append(list, actuator.Wait{Milliseconds: ms}, actuator.Hold{Keys: []actuator.Key{"a"}, Milliseconds: ms})
	}
	return append(list,
		actuator.Move{At: *at(333, 431)}, actuator.Done{}, actuator.Infeasible{}, actuator.Copy{}, actuator.Paste{},
		actuator.Note{Text: "x"}, actuator.CallTool{Tool: "read_file", Arguments: "{}"},
		actuator.Press{Keys: []actuator.Key{"down"}, Count: 3}, press("ctrl", "shift", "alt", "t"),
		actuator.Drag{Path: []actuator.Point{*at(1, 2), *at(333, 431)}, Button: actuator.Left}, actuator.Drag{Path: []actuator.Point{*at(333, 431)}, Button: actuator.Left},
		actuator.Drag{Path: []actuator.Point{*at(1, 2), *at(3, 4), *at(5, 6)}, Button: actuator.Left}, actuator.Drag{Path: []actuator.Point{*at(333, 431)}, Button: actuator.Right},
		actuator.Set{At: *at(1, 2), Text: "x"}, actuator.Zoom{Region: actuator.Region{Width: 5, Height: 5}}, actuator.WaitUntil{For: actuator.TextSign, What: "ab", Milliseconds: 5},
		actuator.Click{At: &actuator.Point{Element: actuator.Element{ID: "n3"}}, Button: actuator.Left, Count: 1},
	)
}

// TestSamples holds that there is a sample of each type of action, so that [TestRoundTrip] says
// of each dialect whether it has words for it.
func TestSamples(t *testing.T) {
	for _, v := range actuator.Variants() {
		t.Run(v.Name, func(t *testing.T) {
			if !slices.ContainsFunc(samples(), func(a actuator.Action) bool { return actuator.Name(a) == v.Name }) {
				t.Errorf("each dialect does not know %s: add a sample, and say in TestRoundTrip who has words for it", v.Name)
			}
		})
	}
}

// TestRoundTrip holds that what a dialect can say of an action is read as that action
// again, letter by letter and pixel by pixel, in pictures of odd sizes too; and which
// types of action each can say.
func TestRoundTrip(t *testing.T) {
	says := map[string]string{
		"ui-tars-1.0": "ask click done drag key_down key_up move press scroll type wait",
		"ui-tars-2":   "ask button_down button_up click done drag key_down key_up move press scroll type wait",
		"qwen3-vl":    "click done drag infeasible move press scroll type wait",
		"glm-4.5v":    "click done drag infeasible move press scroll type wait",
		"opencua":     "button_down button_up click done drag infeasible key_down key_up move press scroll type wait",
		"holo2":       "click done drag infeasible move press scroll type wait",
	}
	for like, names := range map[string][]string{"ui-tars-1.0": {"ui-tars-doubao", "ui-tars-1.5"}, "qwen3-vl": {"qwen2.5-vl", "evocua", "fara", "fara-1.5"}, "holo2": {"holo1.5"}} {
		for _, name := range names {
			says[name] = says[like]
		}
	}
	for _, d := range All() {
		said := map[string]bool{}
		for _, screen := range []image.Point{full, image.Pt(1456, 819), image.Pt(1920, 1080)} {
			size := d.Image.Fit(screen, 0)
			for _, a := range samples() {
				text, ok := d.Write("", []actuator.Action{a}, size)
				if !ok || actuator.Validate(a, image.Rectangle{Max: size}) != nil {
					continue
				}
				said[actuator.Name(a)] = true
				got, err := d.Parser().Parse(actuator.Reply{Text: text}, image.Rectangle{Max: size})
				require.NoError(t, err, "%s, %v: %s", d.Name, size, text)
				require.Equal(t, []actuator.Action{a}, got.Actions, "%s, %v: %s", d.Name, size, text)
			}
		}
		var names []string
		for _, v := range actuator.Variants() {
			if said[v.Name] {
				names = append(names, v.Name)
			}
		}
		require.ElementsMatch(t, strings.Fields(says[d.Name]), names, d.Name)
	}
}

// TestBatches holds that several actions go into one reply where the family does that,
// and only there.
func TestBatches(t *testing.T) {
	batch := []actuator.Action{click(333, 431), actuator.Type{Text: "milk"}, press("ctrl", "s")}
	var can []string
	for _, d := range All() {
		text, ok := d.Write("why", batch, full)
		if !ok {
			continue
		}
		can = append(can, d.Name)
		got, err := d.Parser().Parse(actuator.Reply{Text: text}, image.Rectangle{Max: full})
		require.NoError(t, err, text)
		require.Equal(t, actuator.Proposal{Thought: "why", Actions: batch}, got, text)
	}
	require.Equal(t, []string{"ui-tars-1.0", "ui-tars-doubao", "ui-tars-1.5", "ui-tars-2", "opencua"}, can)
}
