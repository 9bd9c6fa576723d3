package actuator

import (
	"encoding/json"
	"fmt"
	"image"
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
		`{"x":793,"y":466,"element":{"id":"n39","role":"push button","name":"Delete"}}`: {793, 466, Element{"n39", "push button", "Delete"}},
		`{"x":0,"y":0,"element":{"role":"text"}}`:                                       {0, 0, Element{"", "text", ""}},
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
	button, other := Element{"n3", "push button", "Save"}, Element{"n4", "push button", "Save"}
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

// TestUnplaced holds that where an element is must be known before it is acted on.
func TestUnplaced(t *testing.T) {
	a := Click{At: &Point{Element: Element{ID: "n3"}}, Button: Left, Count: 1}
	assert.NoError(t, Validate(a, image.Rect(5, 5, 9, 9)), "0, 0 is not meant")
	assert.False(t, Placed(a))
	a.At = &Point{1, 2, Element{"n3", "push button", "Save"}}
	assert.True(t, Placed(a))
	assert.ErrorContains(t, Validate(a, image.Rect(5, 5, 9, 9)), "outside the screenshot")
	assert.Contains(t, fmt.Sprint(Set{Text: "hunter2"}), "7 characters")
}
