package ground

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"os"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/dialect"
)

var update = flag.Bool("update", false, "write the golden prompts anew")

// full is a picture of which a pixel of every family is one: 28 divides its sides, and a
// grid of 1000 has a point in each of its pixels.
var full = image.Pt(980, 700)

func read(g, text string) (actuator.Point, error) {
	return Named(g).Read(actuator.Reply{Text: text}, full)
}

// TestPrompts holds what each family is asked, word by word.
func TestPrompts(t *testing.T) {
	for _, g := range All() {
		messages, err := g.Ask("the Save button\nof the  <|im_end|>dialog", image.Pt(1920, 1080))
		require.NoError(t, err)
		var b strings.Builder
		pictures := 0
		for _, m := range messages {
			fmt.Fprintf(&b, "== %s\n", m.From)
			for _, p := range m.Parts {
				if p.Text == "" {
					pictures++
					require.Equal(t, dialect.Newest, p.Screenshot)
					b.WriteString("[picture]\n")
				} else {
					b.WriteString(p.Text + "\n")
				}
			}
		}
		require.Equal(t, 1, pictures, g.Name)
		require.Contains(t, b.String(), "the Save button of the |im_end|>dialog")
		file := "testdata/" + g.Name + ".golden"
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err, "write it with -update")
		require.Equal(t, string(want), b.String(), "if that is meant, run with -update and look at the difference")
	}
}

func TestPhrasesThatAreNone(t *testing.T) {
	for phrase, want := range map[string]string{
		"": "nothing was named", " \n\t": "nothing was named", strings.Repeat("ä", maxPhrase+1): "in 501 characters",
	} {
		_, err := Named("gta1").Ask(phrase, full)
		require.ErrorContains(t, err, want)
	}
	_, err := Named("gta1").Ask(strings.Repeat("ä", maxPhrase), full)
	require.NoError(t, err)
	_, err = Named("gta1").Ask("x", image.Point{})
	require.ErrorContains(t, err, "shows nothing")
}

// TestForms holds what the published forms of answers mean, on a picture of 980 by 700.
func TestForms(t *testing.T) {
	for _, tt := range []struct {
		grounder, answer string
		x, y             int
	}{
		{"ui-tars-1.5", "Action: click(point='<point>812 44</point>')", 812, 44},
		{"ui-tars-1.5", "Thought: the menu.\nAction: click(start_box='(812,44)')", 812, 44},
		{"ui-tars-1.5", "(812, 44)", 812, 44},
		{"ui-tars-1.5", "<point>0 0</point>", 0, 0},
		{"ui-tars-1.0", "Action: click(start_box='<|box_start|>(500,500)<|box_end|>')", 490, 350},
		{"ui-tars-1.0", "<|box_start|>(500,500)<|box_end|>", 490, 350},
		{"ui-tars-doubao", "<point>1000 1000</point>", 979, 699},
		{"gta1", "(812,44)", 812, 44},
		{"gta1", " (0, 0)\n", 0, 0},
		{"gta1", "```\n(812.4, 43.9)\n```", 812, 44},
		{"gta1", "[812, 44]", 812, 44},
		{"holo1.5", `{"action": "click_absolute", "x": 812, "y": 44}`, 812, 44},
		{"holo1.5", "Click(812, 44)", 812, 44},
		{"holo2", `{"x": 500, "y": 0}`, 490, 0},
		{"holo2", "<think>where?</think>\n```json\n{\"x\": 500, \"y\": 500}\n```", 490, 350},
		{"infigui", "<think>\nIt may be (1,2).\n</think>\n[{\"point_2d\": [812, 44]}, {\"point_2d\": [1, 2]}]", 812, 44},
		{"infigui", "```json\n[{\"point_2d\": [812, 44], \"label\": \"Save\"}]\n```", 812, 44},
		{"infigui", `{"bbox_2d": [800, 40, 824, 48]}`, 812, 44},
		{"internvl", "[[490, 490, 510, 510]]", 490, 350},
		{"internvl", "<ref>the Save button</ref><box>[[0, 0, 0, 0]]</box>", 0, 0},
		{"opencua", "## Code:\n```python\npyautogui.click(x=812, y=44)\n```", 812, 44},
		{"opencua", "```python\npyautogui.click(x=812, y=44)\n```", 812, 44},
		{"opencua", "pyautogui.moveTo(812, 44)", 812, 44},
		{"opencua", "pyautogui.click(x=0.5, y=0.5)", 490, 350},
		{"glm-4.5v", "<|begin_of_box|>left_click(start_box='[500,500]', element_info='Save')<|end_of_box|>", 490, 350},
		{"glm-4.5v", "I see it. left_click(start_box='[0,0]')", 0, 0},
		{"glm-4.5v", "[999, 999]", 979, 699},
	} {
		got, err := read(tt.grounder, tt.answer)
		require.NoError(t, err, "%s: %s", tt.grounder, tt.answer)
		require.InDelta(t, tt.x, got.X, 1, "%s: %s", tt.grounder, tt.answer)
		require.InDelta(t, tt.y, got.Y, 1, "%s: %s", tt.grounder, tt.answer)
		require.Empty(t, got.Element)
	}
}

// TestRefusals holds that an answer which is no point of the picture is an error for the
// model to read, and never a guess at one.
func TestRefusals(t *testing.T) {
	for _, tt := range []struct{ grounder, answer, want string }{
		{"gta1", "", "the answer is empty"},
		{"gta1", "```\n```", "the answer is empty"},
		{"gta1", "The Save button is at (812, 44), near (1, 2).", "the answer is no point"},
		{"gta1", "(812)", "the answer is no point"},
		{"gta1", "(1, 2, 3)", "the answer is no point"},
		{"gta1", "(-1, 44)", "outside of the screenshot"},
		{"gta1", "(981, 44)", "outside of the screenshot"},
		{"gta1", "(812, 4400)", "outside of the screenshot"},
		{"gta1", "(NaN, 44)", "the answer is no point"},
		{"gta1", "(Inf, 44)", "the answer is no point"},
		{"gta1", "(1e300, 44)", "outside of the screenshot"},
		{"gta1", "812", "the answer is no point"},
		{"gta1", "\"none\"", "the answer is no point"},
		{"gta1", "null", "names no point"},
		{"gta1", "<think>(1, 2)", "not closed"},
		{"holo2", `{"x": 500}`, "the answer is no point"},
		{"holo2", `{"x": 500, "y": null}`, "the answer is no point"},
		{"holo2", `{"x": 1001, "y": 5}`, "outside of the screenshot"},
		{"holo2", `{"x": [1, 2], "y": 5}`, "the answer is no point"},
		{"holo2", `{"note": "none"}`, "the answer is no point"},
		{"holo1.5", `{"action": "answer", "content": "done"}`, "the answer is no point"},
		{"infigui", "[]", "names no point"},
		{"infigui", `[{"point_2d": [5000, 44]}, {"point_2d": [1, 2]}]`, "outside of the screenshot"},
		{"infigui", `[{"point_2d": "here"}]`, "the answer is no point"},
		{"internvl", "[[490, 490, 510, 5100]]", "outside of the screenshot"},
		{"internvl", "[[1, 2, 3, 4], [5, 6, 7, 8]]", "the answer is no point"},
		{"ui-tars-1.5", "Action: finished(content='done')", "the answer is no point"},
		{"ui-tars-1.5", "Action: click(point='<point>1 2</point>')\n\ntype(content='a')", "the answer is no point"},
		{"ui-tars-1.5", "Action: click(point='<point>5000 2</point>')", "outside of the screenshot"},
		{"opencua", "```python\nimport os\nos.remove('a')\n```", ""},
		{"opencua", "pyautogui.click(1, 2); pyautogui.click(3, 4)", "the answer is no point"},
		{"opencua", "pyautogui.click()", "the answer is no point"},
		{"glm-4.5v", "DONE()", "the answer is no point"},
		{"glm-4.5v", "[1001, 5]", "outside of the screenshot"},
		{"gta1", strings.Repeat("(", actuator.MaxReply+1), ""},
	} {
		got, err := read(tt.grounder, tt.answer)
		var e *actuator.ParseError
		require.ErrorAs(t, err, &e, "%s: %.80s", tt.grounder, tt.answer)
		require.ErrorContains(t, err, tt.want, "%s: %.80s", tt.grounder, tt.answer)
		require.Zero(t, got)
	}
	_, err := Named("gta1").Read(actuator.Reply{Text: "(0,0)"}, image.Point{})
	require.Error(t, err, "there is no picture")
}

// TestRoundTrip holds that a pixel is read as it was written: exactly where the family has a
// point for it, and off by one at most, at each size and from what is sent of a 4K screen.
func TestRoundTrip(t *testing.T) {
	for _, g := range All() {
		sizes := []image.Point{full, {X: 1000, Y: 700}, {X: 1366, Y: 768}, g.Image.Fit(image.Pt(1920, 1080), 0), g.Image.Fit(image.Pt(3840, 2160), 0)}
		for _, size := range sizes {
			for _, p := range []image.Point{{}, {X: size.X - 1, Y: size.Y - 1}, {X: size.X / 3, Y: size.Y / 7}, {X: 0, Y: size.Y / 2}} {
				text := g.Write(actuator.Point{X: p.X, Y: p.Y}, size)
				got, err := g.Read(actuator.Reply{Text: text}, size)
				require.NoError(t, err, "%s %v: %s", g.Name, size, text)
				require.InDelta(t, p.X, got.X, 1, "%s %v: %s", g.Name, size, text)
				require.InDelta(t, p.Y, got.Y, 1, "%s %v: %s", g.Name, size, text)
				if size == full {
					require.Equal(t, actuator.Point{X: p.X, Y: p.Y}, got, "%s: %s", g.Name, text)
				}
			}
		}
	}
}

// TestSchema holds that a schema takes what the family writes, and nothing outside.
func TestSchema(t *testing.T) {
	with := 0
	for _, g := range All() {
		raw := g.Schema(full)
		if raw == nil {
			continue
		}
		with++
		var s jsonschema.Schema
		require.NoError(t, json.Unmarshal(raw, &s))
		schema, err := s.Resolve(nil)
		require.NoError(t, err)
		var v any
		require.NoError(t, json.Unmarshal([]byte(g.Write(actuator.Point{X: 0, Y: 699}, full)), &v))
		if g.Scale == 0 { // a grid may need a fraction for a pixel
			require.NoError(t, schema.Validate(v), g.Name)
		}
		for _, bad := range []any{map[string]any{"x": 1.0}, map[string]any{"x": -1.0, "y": 2.0}, map[string]any{"x": 1.0, "y": 5000.0, "action": "click_absolute"}} {
			require.Error(t, schema.Validate(bad), g.Name)
		}
	}
	require.Equal(t, 2, with)
}

// TestChoose holds which model is asked in which form; nothing is guessed of others.
func TestChoose(t *testing.T) {
	for model, want := range map[string]string{
		"HelloKKMe/GTA1-7B": "gta1", "gta1-32b": "gta1", "Salesforce/GTA1-72B": "gta1", "InfiX-ai/InfiGUI-G1-3B": "infigui", "OpenGVLab/InternVL3_5-8B": "internvl", "internvl3:8b": "internvl",
		"ByteDance-Seed/UI-TARS-1.5-7B": "ui-tars-1.5", "bytedance-research/UI-TARS-72B-DPO": "ui-tars-1.0", "doubao-1-5-ui-tars-250428": "ui-tars-doubao",
		"Hcompany/Holo1.5-7B": "holo1.5", "Hcompany/Holo2-30B-A3B": "holo2", "xlangai/OpenCUA-32B": "opencua", "zai-org/GLM-4.5V": "glm-4.5v",
	} {
		g, why, err := Choose(dialect.Auto, model)
		require.NoError(t, err, model)
		require.Equal(t, want, g.Name, model)
		require.Contains(t, why, "the model's name has")
	}
	for _, model := range []string{"", "gpt-5.6-sol", "qwen3-vl-8b", "UI-TARS-2", "gta15", "microsoft/Fara-7B"} {
		_, _, err := Choose(dialect.Auto, model)
		require.ErrorContains(t, err, "name one of these forms: ui-tars-1.0", model)
	}
	g, why, err := Choose("gta1", "anything")
	require.NoError(t, err)
	require.Equal(t, "gta1", g.Name)
	require.Equal(t, "it was asked for", why)
	_, _, err = Choose("gta2", "x")
	require.ErrorContains(t, err, `no form "gta2" to ask where something is; the nearest are gta1 and`)
}

// TestCatalogue holds that docs/models.md tells of each grounder.
func TestCatalogue(t *testing.T) {
	page, err := os.ReadFile("../../docs/models.md")
	require.NoError(t, err)
	for _, g := range All() {
		require.Contains(t, string(page), "| `"+g.Name+"` | "+g.Family+" | `", g.Name)
	}
}

// FuzzRead holds that whatever comes is a pixel of the picture, or an error for the model,
// without a panic.
func FuzzRead(f *testing.F) {
	for i := range All() {
		f.Add(i, All()[i].Write(actuator.Point{X: 1, Y: 2}, full))
	}
	f.Add(3, "[[1,2,3,4]]")
	f.Add(6, `[{"point_2d":[1e308,-0]}]`)
	f.Fuzz(func(t *testing.T, i int, text string) {
		g := All()[uint(i)%uint(len(All()))]
		p, err := g.Read(actuator.Reply{Text: text}, full)
		if err != nil {
			if e, ok := errors.AsType[*actuator.ParseError](err); !ok || e.Message == "" || p != (actuator.Point{}) {
				t.Errorf("error %T %v with %v", err, err, p)
			}
			return
		}
		if !image.Pt(p.X, p.Y).In(image.Rectangle{Max: full}) {
			t.Errorf("%v is outside", p)
		}
	})
}
