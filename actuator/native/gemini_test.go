package native

import (
	"encoding/json"
	"fmt"
	"image"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
)

func callGemini(name, arguments string) actuator.Reply {
	return actuator.Reply{Calls: []actuator.Call{{ID: "c", Name: name, Arguments: arguments, Computer: true}}}
}

// TestFormsGemini holds what the forms of Gemini's functions mean that are documented, and
// those that were met besides: on a screenshot of 1000 by 700, 500 is the 500th pixel and
// the 350th.
func TestFormsGemini(t *testing.T) {
	left := func(n int) actuator.Action { return actuator.Click{At: at(500, 350), Button: actuator.Left, Count: n} }
	drag := actuator.Drag{Path: []actuator.Point{*at(100, 140), *at(500, 350)}, Button: actuator.Left}
	look := actuator.Wait{Milliseconds: 100}
	for _, tt := range []struct {
		name, arguments string
		want            []actuator.Action
	}{
		{"click", `{"x":500,"y":500,"intent":"open","safety_decision":{"decision":"require_confirmation","explanation":"x"}}`, []actuator.Action{left(1)}},
		{"click_at", `{"y":500,"x":500}`, []actuator.Action{left(1)}},
		{"left_click", `{"coordinate":[500,500]}`, []actuator.Action{left(1)}},
		{"default_api.click", `{"x":"500","y":500.0}`, []actuator.Action{left(1)}},
		{"click", `{"x":0,"y":0}`, []actuator.Action{click(0, 0)}},
		{"click", `{"x":999,"y":999}`, []actuator.Action{click(999, 699)}},
		{"click", `{"x":1000,"y":1000}`, []actuator.Action{click(999, 699)}},
		{"click", `{"x":500.9,"y":500.9}`, []actuator.Action{click(500, 350)}},
		{"double_click", `{"x":500,"y":500}`, []actuator.Action{left(2)}},
		{"triple_click", `{"x":500,"y":500}`, []actuator.Action{left(3)}},
		{"right_click", `{"x":500,"y":500}`, []actuator.Action{actuator.Click{At: at(500, 350), Button: actuator.Right, Count: 1}}},
		{"middle_click", `{"x":500,"y":500}`, []actuator.Action{actuator.Click{At: at(500, 350), Button: actuator.Middle, Count: 1}}},
		{"mouse_down", `{"x":500,"y":500}`, []actuator.Action{actuator.ButtonDown{At: at(500, 350), Button: actuator.Left}}},
		{"mouse_up", `{"button":"Right"}`, []actuator.Action{actuator.ButtonUp{Button: actuator.Right}}},
		{"long_press", `{"x":500,"y":500}`, []actuator.Action{actuator.ButtonDown{At: at(500, 350), Button: actuator.Left}, actuator.Wait{Milliseconds: 2000}, actuator.ButtonUp{At: at(500, 350), Button: actuator.Left}}},
		{"move", `{"x":500,"y":500}`, []actuator.Action{actuator.Move{At: *at(500, 350)}}},
		{"hover_at", `{"x":500,"y":500}`, []actuator.Action{actuator.Move{At: *at(500, 350)}}},
		{"drag_and_drop", `{"start_x":100,"start_y":200,"end_x":500,"end_y":500}`, []actuator.Action{drag}},
		{"drag_and_drop", `{"x":100,"y":200,"destination_x":500,"destination_y":500}`, []actuator.Action{drag}},
		{"drag_and_drop", `{"coordinate":[100,200],"end_coordinate":[500,500]}`, []actuator.Action{drag}},
		{"type", `{"text":"milk"}`, []actuator.Action{actuator.Type{Text: "milk"}}},
		{"type", `{"text":"milk","press_enter":true}`, []actuator.Action{actuator.Type{Text: "milk"}, press("enter")}},
		{"type", `{"text":"","press_enter":"true"}`, []actuator.Action{press("enter")}},
		{"type", `{"text":"milk","x":500,"y":500,"clear_before_typing":true}`, []actuator.Action{left(1), press("ctrl", "a"), press("backspace"), actuator.Type{Text: "milk"}}},
		{"type_text_at", `{"x":500,"y":500,"text":"milk"}`, []actuator.Action{left(1), press("ctrl", "a"), press("backspace"), actuator.Type{Text: "milk"}, press("enter")}},
		{"type_text_at", `{"x":500,"y":500,"text":"milk","press_enter":false,"clear_before_typing":false}`, []actuator.Action{left(1), actuator.Type{Text: "milk"}}},
		{"press_key", `{"key":"Enter"}`, []actuator.Action{press("enter")}},
		{"press_key", `{"key":"ctrl+s"}`, []actuator.Action{press("ctrl", "s")}},
		{"hotkey", `{"keys":["ctrl","shift","T"]}`, []actuator.Action{press("ctrl", "shift", "t")}},
		{"hotkey", `{"keys":["ctrl","+"]}`, []actuator.Action{press("ctrl", "+")}},
		{"key_combination", `{"keys":"Control+A"}`, []actuator.Action{press("ctrl", "a")}},
		{"key_down", `{"key":"shift"}`, []actuator.Action{actuator.KeyDown{Key: "shift"}}},
		{"key_up", `{"key":"shift"}`, []actuator.Action{actuator.KeyUp{Key: "shift"}}},
		{"scroll", `{"x":500,"y":500,"direction":"down","magnitude_in_wheel_clicks":4}`, []actuator.Action{actuator.Scroll{At: at(500, 350), DY: 4}}},
		{"scroll", `{"x":500,"y":500,"direction":"up"}`, []actuator.Action{actuator.Scroll{At: at(500, 350), DY: -2}}}, // 300 of 1000, of 700 pixels
		{"scroll", `{"x":500,"y":500,"direction":"Right","magnitude_in_pixels":300}`, []actuator.Action{actuator.Scroll{At: at(500, 350), DX: 3}}},
		{"scroll", `{"direction":"left","magnitude":1}`, []actuator.Action{actuator.Scroll{DX: -1}}},
		{"scroll", `{"direction":"down","magnitude_in_wheel_clicks":1000}`, []actuator.Action{actuator.Scroll{DY: 100}}},
		{"scroll_at", `{"x":500,"y":500,"direction":"down"}`, []actuator.Action{actuator.Scroll{At: at(500, 350), DY: 6}}},
		{"scroll_document", `{"direction":"down"}`, []actuator.Action{press("pagedown")}},
		{"scroll_document", `{"direction":"up"}`, []actuator.Action{press("pageup")}},
		{"scroll_document", `{"direction":"right"}`, []actuator.Action{actuator.Scroll{DX: 5}}},
		{"wait", `{}`, []actuator.Action{actuator.Wait{Milliseconds: 1000}}},
		{"wait", `{"seconds":2.5}`, []actuator.Action{actuator.Wait{Milliseconds: 2500}}},
		{"wait_5_seconds", ``, []actuator.Action{actuator.Wait{Milliseconds: 5000}}},
		{"take_screenshot", `{"intent":"look"}`, []actuator.Action{look}},
		{"navigate", `{"url":"https://example.org"}`, []actuator.Action{press("ctrl", "l"), actuator.Type{Text: "https://example.org\n"}}},
		{"go_back", `{}`, []actuator.Action{press("alt", "left")}},
		{"go_forward", `{}`, []actuator.Action{press("alt", "right")}},
	} {
		got, err := Parser{Of: Gemini}.Parse(callGemini(tt.name, tt.arguments), bounds)
		require.NoError(t, err, "%s(%s)", tt.name, tt.arguments)
		require.Equal(t, tt.want, got.Actions, "%s(%s)", tt.name, tt.arguments)
	}
}

// TestRefusalsGemini holds that what cannot be meant is an error which says what to do, and
// that nothing of the reply is done then.
func TestRefusalsGemini(t *testing.T) {
	for _, tt := range []struct{ name, arguments, want string }{
		{"wobble", `{"x":1}`, `there is no action "wobble" here`},
		{"open_web_browser", `{}`, `there is no action "open_web_browser" here`},
		{"search", `{}`, `there is no action "search" here`},
		{"click", `[1,2]`, "are no JSON object"},
		{"click", `{`, "are no JSON object"},
		{"click", `{}`, "says no point"},
		{"click", `{"x":5}`, "a number is needed"},
		{"click", `{"y":5}`, "a number is needed"},
		{"click", `{"x":-1,"y":5}`, "outside of the screenshot; x goes from 0 to 999"},
		{"click", `{"x":1001,"y":5}`, "outside of the screenshot"},
		{"click", `{"x":"NaN","y":5}`, "no number that a point can have"},
		{"click", `{"x":"Inf","y":5}`, "no number that a point can have"},
		{"click", `{"x":1e400,"y":5}`, "are no JSON object"},
		{"click", `{"x":{"x":1,"y":2},"y":5}`, "no point"},
		{"mouse_down", `{"x":1,"y":2,"button":"side"}`, "unknown mouse button"},
		{"drag_and_drop", `{"start_x":1,"start_y":2}`, "says no point; write end"},
		{"drag_and_drop", `{"start_x":1,"start_y":2,"end_x":1,"end_y":2000}`, "outside of the screenshot"},
		{"type", `{}`, "says no text"},
		{"type", `{"text":7.5,"x":5000,"y":1}`, "outside of the screenshot"},
		{"type_text_at", `{"text":"a"}`, "says no point"},
		{"press_key", `{}`, "names no keys"},
		{"press_key", `{"key":"WOBBLE"}`, `unknown key "WOBBLE"`},
		{"hotkey", `{"keys":{"a":1}}`, "must be names of keys"},
		{"key_down", `{"key":"ctrl+s"}`, "needs one key"},
		{"scroll", `{"x":1,"y":2}`, "says no direction"},
		{"scroll", `{"x":1,"y":2,"direction":"in"}`, "goes nowhere"},
		{"scroll", `{"x":1,"y":2,"direction":"down","magnitude":0}`, "scrolls by nothing"},
		{"scroll", `{"x":1,"y":2,"direction":"down","magnitude_in_wheel_clicks":-3}`, "scrolls by nothing"},
		{"scroll", `{"x":1,"y":2,"direction":"down","magnitude":"far"}`, "no number"},
		{"wait", `{"seconds":-1}`, "waits for less than nothing"},
		{"wait", `{"seconds":1e9}`, "too large"},
		{"navigate", `{"url":"a\nb"}`, "has a line break"},
	} {
		got, err := Parser{Of: Gemini}.Parse(callGemini(tt.name, tt.arguments), bounds)
		var e *actuator.ParseError
		require.ErrorAs(t, err, &e, "%s(%s)", tt.name, tt.arguments)
		require.ErrorContains(t, err, tt.want, "%s(%s)", tt.name, tt.arguments)
		require.Empty(t, got.Actions)
	}
}

// TestRoundTripGemini holds that what the tool can say of an action is read as that action
// again.
func TestRoundTripGemini(t *testing.T) {
	roundTrip(t, Gemini, "click button_down button_up drag key_down key_up move press scroll type wait")
	calls, ok := Gemini.Write([]actuator.Action{click(500, 350), actuator.Type{Text: "milk"}}, size)
	require.True(t, ok)
	require.Equal(t, []actuator.Call{
		{Name: "click", Arguments: `{"x":500,"y":501}`, Computer: true},
		{Name: "type", Arguments: `{"text":"milk"}`, Computer: true},
	}, calls, "an action is a call, with whole numbers where they reach the pixel")
	text, ok := Gemini.Describe(click(500, 350), size)
	require.True(t, ok)
	require.Equal(t, "click(x=500, y=501)", text)
}

// From a pixel of the screen to the model's words and back, it is off by one at most, at
// each size; on a 4K screen a grid of a thousand is that coarse.
func TestPointErrorGemini(t *testing.T) {
	for _, screen := range []image.Point{{X: 1440, Y: 900}, {X: 1920, Y: 1080}, {X: 3840, Y: 2160}} {
		for _, whole := range []bool{true, false} {
			worst := 0
			for x := 0; x < screen.X; x += 7 {
				y := x * screen.Y / screen.X
				calls, ok := Gemini.Write([]actuator.Action{click(x, y)}, screen)
				require.True(t, ok)
				if whole { // as a model writes it
					calls[0].Arguments = wholeNumbers(t, calls[0].Arguments)
				}
				got, err := Parser{Of: Gemini}.Parse(actuator.Reply{Calls: calls}, image.Rectangle{Max: screen})
				require.NoError(t, err)
				p := *got.Actions[0].(actuator.Click).At
				worst = max(worst, abs(p.X-x), abs(p.Y-y))
			}
			grid := (screen.X + 999) / 1000 // device pixels between two points of the grid
			if whole {
				require.LessOrEqual(t, worst, grid, "%v", screen)
			} else {
				require.LessOrEqual(t, worst, 1, "%v", screen)
			}
		}
	}
}

func abs(n int) int { return max(n, -n) }

// TestIntentsAreTheThought holds that a reply without a text says why by its calls.
func TestIntentsAreTheThought(t *testing.T) {
	reply := actuator.Reply{Calls: []actuator.Call{
		{Name: "click", Arguments: `{"x":1,"y":2,"intent":" Open the menu. "}`, Computer: true},
		{Name: "note", Arguments: `{"text":"a"}`},
		{Name: "take_screenshot", Arguments: `{"intent":"See what it shows."}`, Computer: true},
	}}
	got, err := Parser{Of: Gemini}.Parse(reply, bounds)
	require.NoError(t, err)
	require.Equal(t, "Open the menu.\nSee what it shows.", got.Thought)
	require.Equal(t, []int{0, 1}, got.Calls)
	reply.Text = "Thought: mine"
	got, err = Parser{Of: Gemini}.Parse(reply, bounds)
	require.NoError(t, err)
	require.Equal(t, "mine", got.Thought)
}

func FuzzGemini(f *testing.F) {
	fuzz(f, Gemini, "scroll", `{"x":1,"y":2,"direction":"down","magnitude":1e308}`, `{"x":1,"y":2}`, `{"coordinate":[[1],2],"direction":"up"}`, `null`)
}

func FuzzGeminiType(f *testing.F) {
	fuzz(f, Gemini, "type_text_at", `{"x":1,"y":2,"text":"a\r\nb"}`, `{"x":1,"y":2,"text":true,"press_enter":"no"}`)
}

// wholeNumbers is a call with its point on the grid.
func wholeNumbers(t *testing.T, arguments string) string {
	var p struct{ X, Y float64 }
	require.NoError(t, json.Unmarshal([]byte(arguments), &p))
	return fmt.Sprintf(`{"x":%d,"y":%d}`, int(p.X), int(p.Y))
}

// A model whose tool has points on a grid gives them so to the functions beside it, and is
// told so.
func TestFunctionsOnTheGrid(t *testing.T) {
	parse := func(name, arguments string) (actuator.Proposal, error) {
		return Parser{Of: Gemini}.Parse(actuator.Reply{Calls: []actuator.Call{{Name: name, Arguments: arguments}}}, image.Rect(0, 0, 1440, 900))
	}
	for _, tt := range []struct {
		name, arguments string
		want            actuator.Action
	}{
		{"zoom", `{"region":{"x":500,"y":500,"width":100,"height":200}}`, actuator.Zoom{Region: actuator.Region{X: 720, Y: 450, Width: 143, Height: 180}}},
		{"zoom", `{"region":{"x":0,"y":0,"width":1000,"height":1000}}`, actuator.Zoom{Region: actuator.Region{Width: 1439, Height: 900}}},
		{"set", `{"at":{"x":500,"y":999},"text":"a"}`, actuator.Set{At: actuator.Point{X: 720, Y: 899}, Text: "a"}},
		{"set", `{"at":"n3","text":"a"}`, actuator.Set{At: actuator.Point{Element: actuator.Element{ID: "n3"}}, Text: "a"}},
		{"note", `{"text":"a"}`, actuator.Note{Text: "a"}},
	} {
		got, err := parse(tt.name, tt.arguments)
		require.NoError(t, err, tt.arguments)
		require.Equal(t, []actuator.Action{tt.want}, got.Actions, tt.arguments)
	}
	for _, arguments := range []string{`{"region":{"x":900,"y":0,"width":200,"height":10}}`, `{"region":{"x":-1,"y":0,"width":2,"height":1}}`} {
		_, err := parse("zoom", arguments)
		var e *actuator.ParseError
		require.ErrorAs(t, err, &e, arguments)
	}
	told := 0
	for _, f := range Gemini.Tools() {
		require.NotContains(t, string(f.Parameters), "pixels from", f.Name)
		told += strings.Count(string(f.Parameters), "from 0 to 999, from the")
		require.True(t, json.Valid(f.Parameters))
	}
	require.Positive(t, told)
}
