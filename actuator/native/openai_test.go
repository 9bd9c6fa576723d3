package native

import (
	"encoding/json"
	"image"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
)

// TestFormsOpenAI holds what the documented forms of OpenAI's actions mean.
func TestFormsOpenAI(t *testing.T) {
	for arguments, want := range map[string][]actuator.Action{
		`{"actions":[{"type":"click","button":"left","x":70,"y":412,"keys":null},{"type":"wait"}]}`: {click(70, 412), actuator.Wait{Milliseconds: 2000}},
		`{"action":{"type":"click","button":"right","x":0,"y":0}}`:                                  {actuator.Click{At: at(0, 0), Button: actuator.Right, Count: 1}},
		`{"actions":[{"type":"click","button":"wheel","x":1,"y":2,"keys":["CTRL","SHIFT"]}]}`: {
			actuator.Click{At: at(1, 2), Button: actuator.Middle, Count: 1, Modifiers: []actuator.Key{"ctrl", "shift"}}},
		`{"actions":[{"type":"click","button":"back","x":1,"y":2}]}`:                                {actuator.Move{At: *at(1, 2)}, press("browserback")},
		`{"actions":[{"type":"double_click","x":1,"y":2,"keys":null}]}`:                             {actuator.Click{At: at(1, 2), Button: actuator.Left, Count: 2}},
		`{"actions":[{"type":"drag","path":[{"x":1,"y":2},{"x":3,"y":4},{"x":5,"y":6}]}]}`:          {actuator.Drag{Path: []actuator.Point{*at(1, 2), *at(3, 4), *at(5, 6)}, Button: actuator.Left}},
		`{"actions":[{"type":"drag","path":[[1,2],[3,4]],"keys":["ALT"]}]}`:                         {actuator.Drag{Path: []actuator.Point{*at(1, 2), *at(3, 4)}, Button: actuator.Left, Modifiers: []actuator.Key{"alt"}}},
		`{"actions":[{"type":"keypress","keys":["CTRL","ARROWLEFT"]}]}`:                             {press("ctrl", "left")},
		`{"actions":[{"type":"keypress","keys":["CMD","OPTION","RETURN"]}]}`:                        {press("win", "alt", "enter")},
		`{"actions":[{"type":"move","x":3,"y":4}]}`:                                                 {actuator.Move{At: *at(3, 4)}},
		`{"actions":[{"type":"move","x":3,"y":4,"keys":["SHIFT"]}]}`:                                {actuator.KeyDown{Key: "shift"}, actuator.Move{At: *at(3, 4)}, actuator.KeyUp{Key: "shift"}},
		`{"actions":[{"type":"scroll","x":3,"y":4,"scroll_x":0,"scroll_y":-325}]}`:                  {actuator.Scroll{At: at(3, 4), DY: -3}},
		`{"actions":[{"type":"scroll","x":3,"y":4,"scroll_x":20,"scroll_y":0,"keys":["CTRL"]}]}`:    {actuator.Scroll{At: at(3, 4), DX: 1, Modifiers: []actuator.Key{"ctrl"}}},
		`{"actions":[{"type":"scroll","x":3,"y":4,"scroll_x":0,"scroll_y":1000000}]}`:               {actuator.Scroll{At: at(3, 4), DY: 100}},
		`{"actions":[{"type":"type","text":"a\r\nb"}]}`:                                             {actuator.Type{Text: "a\nb"}},
		`{"actions":[{"type":"screenshot"}]}`:                                                       {actuator.Wait{Milliseconds: 100}},
		`{"actions":[{"type":"click","button":"left","x":69.6,"y":412.4},{"type":"screenshot"}]}`:   {click(70, 412)},
		`{"actions":[{"type":"type","text":"a"},{"type":"screenshot"},{"type":"type","text":"b"}]}`: {actuator.Type{Text: "a"}, actuator.Type{Text: "b"}},
	} {
		got, err := Parser{Of: OpenAI}.Parse(actuator.Reply{Text: "Thought: t", Calls: []actuator.Call{{ID: "c", Name: "computer", Arguments: arguments, Computer: true}}}, bounds)
		require.NoError(t, err, arguments)
		require.Equal(t, want, got.Actions, arguments)
		require.Equal(t, make([]int, len(want)), got.Calls, "all are of the first call")
		require.Equal(t, "t", got.Thought)
	}
}

// TestRefusalsOpenAI holds that what cannot be meant is an error which says what to do,
// and that nothing of the reply is done then.
func TestRefusalsOpenAI(t *testing.T) {
	for arguments, want := range map[string]string{
		``:                    "no list of actions",
		`[1]`:                 "no list of actions",
		`{}`:                  "has no actions",
		`{"actions":[]}`:      "has no actions",
		`{"actions":[{}]}`:    `there is no action ""`,
		`{"actions":[7]}`:     "no list of actions",
		`{"actions":"click"}`: "no list of actions",
		`{"actions":[{"type":"wobble","foo":1}]}`:                                      `there is no action "wobble" here, so nothing was done with wobble(foo=1); the nearest are`,
		`{"actions":[{"type":"click","button":"left","x":-1,"y":4}]}`:                  "outside of the screenshot",
		`{"actions":[{"type":"click","button":"left","x":1000,"y":4}]}`:                "",
		`{"actions":[{"type":"click","button":"left","x":1001,"y":4}]}`:                "outside of the screenshot",
		`{"actions":[{"type":"click","button":"left","x":"NaN","y":4}]}`:               "no number that a point can have",
		`{"actions":[{"type":"click","button":"left","x":NaN,"y":4}]}`:                 "no list of actions",
		`{"actions":[{"type":"click","button":"left","x":1e400,"y":4}]}`:               "no list of actions",
		`{"actions":[{"type":"click","button":"left","x":5}]}`:                         "a number is needed",
		`{"actions":[{"type":"click","button":"left"}]}`:                               "says no point",
		`{"actions":[{"type":"click","button":"side","x":1,"y":2}]}`:                   "unknown mouse button",
		`{"actions":[{"type":"click","button":"left","x":1,"y":2,"keys":["A"]}]}`:      "is no modifier",
		`{"actions":[{"type":"click","button":"left","x":1,"y":2,"keys":["WOBBLE"]}]}`: `unknown key "WOBBLE"`,
		`{"actions":[{"type":"drag","path":[{"x":1,"y":2}]}]}`:                         "no path of two points",
		`{"actions":[{"type":"drag","path":[{"x":1,"y":2},{"x":5000,"y":2}]}]}`:        "outside of the screenshot",
		`{"actions":[{"type":"keypress","keys":[]}]}`:                                  "",
		`{"actions":[{"type":"keypress"}]}`:                                            "names no keys",
		`{"actions":[{"type":"scroll","x":1,"y":2,"scroll_x":0,"scroll_y":0}]}`:        "scrolls by nothing",
		`{"actions":[{"type":"type","text":""}]}`:                                      "says no text",
		`{"actions":[{"type":"type","text":"a\u0007"}]}`:                               "control character",
	} {
		got, err := Parser{Of: OpenAI}.Parse(actuator.Reply{Calls: []actuator.Call{{Name: "computer", Arguments: arguments, Computer: true}}}, bounds)
		if want == "" && err == nil { // x may be the width itself: the last pixel is meant
			continue
		}
		var e *actuator.ParseError
		require.ErrorAs(t, err, &e, arguments)
		require.ErrorContains(t, err, want, arguments)
		require.Empty(t, got.Actions)
	}
}

// TestRoundTripOpenAI holds that what the tool can say of an action is read as that
// action again.
func TestRoundTripOpenAI(t *testing.T) {
	roundTrip(t, OpenAI, "click drag move press scroll type wait")
	batch := []actuator.Action{click(3, 4), actuator.Type{Text: "milk"}, press("ctrl", "s")}
	calls, ok := OpenAI.Write(batch, size)
	require.True(t, ok)
	require.Len(t, calls, 1, "a batch is one call")
	require.True(t, json.Valid([]byte(calls[0].Arguments)))
	text, ok := OpenAI.Describe(click(3, 4), image.Pt(1000, 700))
	require.True(t, ok)
	require.Equal(t, "click(button='left', x=3, y=4)", text)
}
