package actuator

import (
	"image"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestValidate(t *testing.T) {
	bounds := image.Rect(0, 0, 100, 80)
	at := func(x, y int) *Point { return &Point{X: x, Y: y} }
	for _, a := range samples(t) {
		assert.NoError(t, Validate(a, bounds), Name(a))
	}
	for _, a := range []Action{
		Move{Point{X: 99, Y: 79}},
		Zoom{Region{0, 0, 100, 80}},
		SetClipboard{""},
		Paste{},
		Done{},
		Type{Secret(strings.Repeat("é", 10_000))},
		Press{[]Key{"a"}, 100},
		Scroll{DX: -100, DY: 100},
	} {
		assert.NoError(t, Validate(a, bounds), Name(a))
	}
	path := make([]Point, 201)
	empty := Secret("")
	for _, tt := range []struct {
		a    Action
		want string
	}{
		{nil, "no action"},
		{Move{Point{X: 100}}, "x goes from 0 to 99 and y from 0 to 79"},
		{Move{Point{Y: 80}}, "(0, 80) is outside"},
		{Move{Point{X: -1}}, "(-1, 0) is outside"},
		{Click{at(1000, 5), Left, 1, nil}, "outside"},
		{ButtonDown{at(0, -5), Left}, "outside"},
		{ButtonUp{at(0, 500), Left}, "outside"},
		{Scroll{At: at(500, 0), DY: 1}, "outside"},
		{Drag{[]Point{{X: 1, Y: 1}, {X: 100, Y: 80}}, Left, nil}, "outside"},
		{Click{nil, "", 1, nil}, `write "left"`},
		{Click{nil, "fourth", 1, nil}, `write "left"`},
		{ButtonUp{nil, "x"}, `write "left"`},
		{Click{nil, Left, 0, nil}, "1 to 3"},
		{Click{nil, Left, 4, nil}, "1 to 3"},
		{Click{nil, Left, 1, []Key{"a"}}, "no modifier"},
		{Click{nil, Left, 1, []Key{"ctrl", "ctrl"}}, "twice"},
		{Drag{nil, Left, nil}, "1 to 200"},
		{Drag{path, Left, nil}, "1 to 200"},
		{Drag{path[:1], "", nil}, "mouse button"},
		{Scroll{}, "does nothing"},
		{Scroll{DY: 101}, "-100 to 100"},
		{Scroll{DX: -101}, "-100 to 100"},
		{Scroll{DY: 1, Modifiers: []Key{"f1"}}, "no modifier"},
		{Type{""}, "empty"},
		{Type{Secret(strings.Repeat("é", 10_001))}, "at most 10000"},
		{Type{"a\x00b"}, "U+0000"},
		{Type{"a\x1bb"}, "U+001B"},
		{Type{"a\xffb"}, "valid Unicode"},
		{Type{"a\ufffdb"}, "valid Unicode"},
		{Paste{&empty}, "empty"},
		{SetClipboard{"\x00"}, "U+0000"},
		{Press{nil, 1}, "1 to 8"},
		{Press{[]Key{"a", "b", "c", "d", "e", "f", "g", "h", "i"}, 1}, "1 to 8"},
		{Press{[]Key{"a"}, 0}, "1 to 100"},
		{Press{[]Key{"a"}, 101}, "1 to 100"},
		{Press{[]Key{"Return"}, 1}, `write "enter"`},
		{Press{[]Key{"entr"}, 1}, `"enter"`},
		{KeyDown{"entr"}, `"enter"`},
		{KeyUp{""}, "empty name"},
		{Hold{nil, 1}, "1 to 8"},
		{Hold{[]Key{"a"}, 0}, "1 to 60000"},
		{Wait{-1}, "1 to 60000"},
		{Wait{60_001}, "1 to 60000"},
		{Zoom{Region{0, 0, 0, 5}}, "nothing in it"},
		{Zoom{Region{50, 0, 51, 5}}, "smaller"},
		{Zoom{Region{-1, 0, 5, 5}}, "smaller"},
		{Zoom{Region{1 << 62, 0, 1 << 62, 5}}, "smaller"},
		{Done{strings.Repeat("a", 10_001)}, "at most"},
		{Infeasible{"\x00"}, "U+0000"},
		{Ask{""}, "empty"},
	} {
		assert.ErrorContains(t, Validate(tt.a, bounds), tt.want, "%#v", tt.a)
	}
	assert.Error(t, Validate(Move{}, image.Rectangle{}), "no point is inside an empty image")
}
