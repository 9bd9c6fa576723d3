package actuator

import (
	"encoding/json"
	"fmt"
	"image"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseHandle(t *testing.T) {
	for _, good := range []string{"n1", "n39", "n999999999"} {
		id, err := ParseHandle(good)
		assert.NoError(t, err)
		assert.Equal(t, Handle(good), id)
	}
	for _, bad := range []string{"", "n", "n0", "n01", "39", "nn3", "N3", " n3", "n3\n", "n1234567890", "n-1", "n3 push button"} {
		id, err := ParseHandle(bad)
		assert.ErrorContains(t, err, `such as "n39"`, bad)
		assert.Empty(t, id)
	}
}

// TestPointForms holds the forms of a point in JSON: pixels as they always were, a
// handle as a model writes it, and what code makes of either.
func TestPointForms(t *testing.T) {
	for text, p := range map[string]Point{
		`{"x":12,"y":30}`: {X: 12, Y: 30},
		`"n39"`:           {Element: Element{ID: "n39"}},
		`{"x":793,"y":466,"element":{"id":"n39","role":"push button","name":"Delete"}}`: {793, 466, Element{"n39", "push button", "Delete", ""}},
		`{"x":0,"y":0,"element":{"role":"text"}}`:                                       {0, 0, Element{"", "text", "", ""}},
	} {
		data, err := json.Marshal(p)
		require.NoError(t, err)
		assert.Equal(t, text, string(data))
		var got Point
		require.NoError(t, json.Unmarshal(data, &got))
		assert.Equal(t, p, got)

		action, err := Marshal(Drag{Path: []Point{p, {X: 1, Y: 1}}, Button: Left, Modifiers: []Key{}})
		require.NoError(t, err)
		assert.Equal(t, `{"action":"drag","path":[`+text+`,{"x":1,"y":1}],"button":"left","modifiers":[]}`, string(action))
		back, err := Unmarshal(action)
		require.NoError(t, err)
		assert.Equal(t, p, Points(back)[0])
	}
	for _, bad := range []string{`""`, `"39"`, `"n0"`, `"nn3"`} {
		assert.Error(t, new(Point).UnmarshalJSON([]byte(bad)), bad)
		_, err := Unmarshal([]byte(`{"action":"move","at":` + bad + `}`))
		assert.ErrorContains(t, err, "is no element", bad)
	}
	_, err := Unmarshal([]byte(`{"action":"move","at":{"element":{"id":"n3","role":"x","name":""}}}`))
	assert.ErrorContains(t, err, "at.x is missing", "what code wrote has its place")
}

// TestParseElement holds what is a handle, what are words for an element, and what is
// neither: a slip in a handle is told as one, and not looked for.
func TestParseElement(t *testing.T) {
	for text, want := range map[string]Element{
		"n39":                               {ID: "n39"},
		"the Save button of the dialog":     {Words: "the Save button of the dialog"},
		"  the\nSave\tbutton ":              {Words: "the Save button"},
		"OK":                                {Words: "OK"},
		"保存":                                {Words: "保存"},
		`the "+" key`:                       {Words: `the "+" key`},
		strings.Repeat("ä", maxWords):       {Words: strings.Repeat("ä", maxWords)},
		"the list item n3 of the tool list": {Words: "the list item n3 of the tool list"},
	} {
		got, err := ParseElement(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got)
		if got.Words == "" {
			continue
		}
		p := Point{Element: got}
		assert.False(t, p.Placed())
		data, err := json.Marshal(p)
		require.NoError(t, err)
		var back Point
		require.NoError(t, json.Unmarshal(data, &back))
		assert.Equal(t, p, back, "as a model writes it")
		a := Click{At: &p, Button: Left, Count: 1}
		assert.True(t, ByWords(a))
		assert.False(t, ByHandle(a))
		assert.True(t, Same(a, Bare(a)))
		assert.NoError(t, Validate(a, image.Rect(5, 5, 9, 9)), "0, 0 is not meant")
		assert.Contains(t, Describe(a), "click left at "+strconv.Quote(got.Words)[:3])
	}
	for _, slip := range []string{"", "n", "N3", "nn3", "#39", "39", "n 39", "n3 push button", "n3 ", "x", "+"} {
		_, err := ParseElement(slip)
		assert.ErrorContains(t, err, `such as "n39"`, slip)
	}
	for text, want := range map[string]string{strings.Repeat("ä", maxWords+1): "named in 201 characters", "Sa\xffve": "not valid Unicode"} {
		_, err := ParseElement(text)
		assert.ErrorContains(t, err, want)
	}
}

// TestOffered holds that a model is offered handles, and not what code adds.
func TestOffered(t *testing.T) {
	for _, v := range Variants() {
		assert.NotContains(t, string(v.Schema), "role", v.Name)
		assert.NotContains(t, string(v.Schema), `"element":`, v.Name)
		if v.Name == "click" {
			assert.Contains(t, string(v.Schema), `["null","object","string"]`)
		}
	}
}

func TestSame(t *testing.T) {
	at := func(x int, e Element) Action { return Click{At: &Point{x, 5, e}, Button: Left, Count: 1} }
	button, other := Element{"n3", "push button", "Save", ""}, Element{"n4", "push button", "Save", ""}
	for _, tt := range []struct {
		a, b Action
		want bool
	}{
		{at(1, button), at(90, button), true},
		{at(1, button), at(0, Element{ID: "n3"}), true},
		{at(1, button), at(1, other), false},
		{at(1, Element{}), at(1, Element{Role: "text"}), true},
		{at(1, Element{}), at(2, Element{}), false},
		{at(1, button), at(1, Element{}), false},
		{WaitUntil{"element", "n3", true, 5, button}, WaitUntil{"element", "n3", true, 5, Element{}}, true},
		{WaitUntil{"element", "n3", true, 5, button}, WaitUntil{"element", "n4", true, 5, other}, false},
	} {
		assert.Equal(t, tt.want, Same(tt.a, tt.b), "%s and %s", Describe(tt.a), Describe(tt.b))
	}
	assert.Equal(t, at(7, Element{}), Pixels(at(7, button)))
	assert.True(t, ByHandle(at(1, button)))
	assert.False(t, ByHandle(at(1, Element{Role: "text"})))
}

func TestParseListed(t *testing.T) {
	for text, want := range map[string]Element{
		"n39":                    {ID: "n39"},
		`button "Save"`:          {Role: "button", Name: "Save"},
		` check item "A \"B\"" `: {Role: "check item", Name: `A "B"`},
		`"保存"`:                   {Name: "保存"},
	} {
		got, err := ParseListed(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got)
		assert.NoError(t, check(WaitUntil{For: ElementSign, What: text, Milliseconds: 5}))
	}
	for text, want := range map[string]string{
		"": `such as button "Save"`, "39": `such as "n39"`, "button": `"button" is no element`, `button ""`: "is no element", `button "Save" "As"`: "is no element",
		`n39 button "Save"`: "is no element", `button 'Save'`: "is no element", "button \"Sa\nve\"": "is no element", `button "Save"…`: "is no element",
		`button "Sa\xffve"`: "valid Unicode", `"` + strings.Repeat("ä", maxWords) + `"`: "more than 200 characters", `"a\u0007"`: "control",
	} {
		assert.ErrorContains(t, check(WaitUntil{For: ElementSign, What: text, Milliseconds: 5}), want, text)
	}
}

// TestUnplaced holds that where an element is must be known before it is acted on.
func TestUnplaced(t *testing.T) {
	a := Click{At: &Point{Element: Element{ID: "n3"}}, Button: Left, Count: 1}
	assert.NoError(t, Validate(a, image.Rect(5, 5, 9, 9)), "0, 0 is not meant")
	assert.False(t, Placed(a))
	a.At = &Point{1, 2, Element{"n3", "push button", "Save", ""}}
	assert.True(t, Placed(a))
	assert.ErrorContains(t, Validate(a, image.Rect(5, 5, 9, 9)), "outside the screenshot")
	assert.Contains(t, fmt.Sprint(Set{Text: "hunter2"}), "7 characters")
}
