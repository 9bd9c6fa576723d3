package actuator

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestClicked holds which actions click, and where, after what was done before them.
func TestClicked(t *testing.T) {
	at := func(x int, e Element) *Point { return &Point{X: x, Y: 5, Element: e} }
	save, other, nameless := Element{Role: "push button", Name: "Save"}, Element{Role: "push button", Name: "Send"}, Element{Role: "panel"}
	here, there := at(1, save), at(90, other)
	down := func(p *Point) Action { return ButtonDown{At: p, Button: Left} }
	up := func(p *Point) Action { return ButtonUp{At: p, Button: Left} }
	for _, tt := range []struct {
		name    string
		a       Action
		done    []Action
		pointer *Point
		want    *Point
		clicks  bool
	}{
		{"a click", Click{At: here, Button: Left, Count: 2}, nil, there, here, true},
		{"where the pointer is", Click{Button: Left, Count: 1}, nil, there, there, true},
		{"where the pointer went", Click{Button: Left, Count: 1}, []Action{Move{At: *here}, Type{Text: "a"}}, there, here, true},
		{"setting an element moves no pointer", Click{Button: Left, Count: 1}, []Action{Move{At: *here}, Set{At: *there}}, nil, here, true},
		{"by hand", up(here), []Action{down(here)}, there, here, true},
		{"by hand where it went down", up(nil), []Action{down(here)}, there, here, true},
		{"by hand where the pointer was", up(nil), []Action{down(nil)}, here, here, true},
		{"by hand in one element", up(at(9, save)), []Action{down(here)}, nil, at(9, save), true},
		{"by hand on one handle", up(&Point{Element: Element{ID: "n3"}}), []Action{down(&Point{Element: Element{ID: "n3"}})}, nil, &Point{Element: Element{ID: "n3"}}, true},
		{"on two handles", up(&Point{Element: Element{ID: "n3"}}), []Action{down(&Point{Element: Element{ID: "n4"}})}, nil, nil, false},
		{"to elsewhere", up(there), []Action{down(here)}, nil, nil, false},
		{"to elsewhere by a move", up(nil), []Action{down(here), Move{At: *there}}, nil, nil, false},
		{"from where the pointer was", up(there), []Action{down(nil)}, here, nil, false},
		{"from where the pointer was, by a move", up(nil), []Action{down(nil), Move{At: *there}}, here, nil, false},
		{"within what has no name", up(at(9, nameless)), []Action{down(at(1, nameless))}, nil, nil, false},
		{"another button went down", up(there), []Action{ButtonDown{At: here, Button: Right}}, nil, there, true},
		{"went down before", up(here), nil, nil, here, true},
		{"nothing is known", up(nil), nil, nil, nil, true},
		{"going down", down(here), nil, nil, nil, false},
		{"a drag", Drag{Path: []Point{*here, *there}, Button: Left}, nil, nil, nil, false},
	} {
		got, ok := Clicked(tt.a, tt.done, tt.pointer)
		assert.Equal(t, tt.clicks, ok, tt.name)
		if ok {
			assert.Equal(t, tt.want, got.At, tt.name)
			assert.Equal(t, Left, got.Button, tt.name)
		}
	}
	for _, a := range []Action{Click{Button: Right, Count: 1}, ButtonDown{At: here, Button: Right}} {
		b, ok := Pushed(a)
		assert.True(t, ok && b == Right, Name(a))
	}
	for _, a := range []Action{up(here), Drag{Path: []Point{*here, *there}, Button: Left}, Move{At: *here}, nil} {
		_, ok := Pushed(a)
		assert.False(t, ok, Name(a))
	}
}
