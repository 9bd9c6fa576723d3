package actuator

import (
	"image"
	"testing"

	"github.com/stretchr/testify/assert"

	"desktop-agent/actuator/actuatortest"
)

// TestTraits holds what the columns of the table say of each other.
func TestTraits(t *testing.T) {
	for _, a := range samples(t) {
		name := Name(a)
		row := rowOf(a)
		assert.True(t, row.traits.kind >= Input && row.traits.kind <= Question && row.seen >= unseen && row.seen <= seen &&
			row.goes >= anywhere && row.goes <= written && row.held >= same && row.held <= up, "%s: a trait is undecided", name)
		text, enters := Entered(a)
		if enters {
			assert.Equal(t, actuatortest.Text, text, name)
		}
		if KindOf(a) != Input { // it sends nothing
			assert.False(t, Shows(a) || UsesFocus(a) || Writes(a) || enters || len(Points(a))+len(Pressed(a)) > 0, name)
		}
		assert.False(t, Writes(a) && !UsesFocus(a), name)
		assert.False(t, ForAgent(a) && KindOf(a) == Pause || Final(a) && !ForAgent(a), name)
		if row.held != same {
			assert.NotEqual(t, len(values[Button](a)) > 0, len(Pressed(a)) > 0, "%s: either a button or a key", name)
		}
		for _, p := range Points(a) {
			assert.Error(t, Validate(a, image.Rectangle{Max: image.Pt(p.X, p.Y)}), "%s outside of the image", name)
		}
		for _, r := range values[Region](a) {
			assert.Error(t, Validate(a, image.Rectangle{Max: image.Pt(r.X, r.Y).Add(image.Pt(r.Width, r.Height-1))}), "%s outside of the image", name)
		}
		assert.NoError(t, Validate(a, image.Rect(0, 0, actuatortest.Side, actuatortest.Side)), name)
	}
}

// TestTraitsOfEach is the table as it is meant: a change of a row is a change here.
func TestTraitsOfEach(t *testing.T) {
	of := func(has func(Action) bool) (names []string) {
		for _, a := range samples(t) {
			if has(a) {
				names = append(names, Name(a))
			}
		}
		return names
	}
	assert.Equal(t, []string{"zoom", "note", "done", "infeasible", "ask"}, of(ForAgent))
	assert.Equal(t, []string{"done", "infeasible", "ask"}, of(Final))
	assert.Equal(t, []string{"wait", "wait_until"}, of(func(a Action) bool { return KindOf(a) == Pause }))
	assert.Equal(t, []string{"done", "infeasible"}, of(func(a Action) bool { return KindOf(a) == End }))
	assert.Equal(t, []string{"click", "drag", "scroll", "type", "press", "hold", "paste", "set"}, of(Shows))
	assert.Equal(t, []string{"type", "press", "key_down", "hold", "copy", "paste"}, of(UsesFocus))
	assert.Equal(t, []string{"type", "press", "paste"}, of(Writes))
	assert.Equal(t, []string{"button_down"}, of(func(a Action) bool { return ButtonHeld(a, false) }))
	assert.Equal(t, []string{"button_up"}, of(func(a Action) bool { return !ButtonHeld(a, true) }))
	assert.Equal(t, []string{"press", "key_down", "key_up", "hold"}, of(func(a Action) bool { return len(Pressed(a)) > 0 }))
	assert.False(t, ForAgent(nil) || Final(nil) || Shows(nil) || UsesFocus(nil) || Writes(nil) || ButtonHeld(nil, false), "no action is none of these")
	assert.False(t, Writes(Press{Keys: []Key{"ctrl", "v"}, Count: 1}), "a shortcut is for the window")
	assert.True(t, Writes(Press{Keys: []Key{"shift", "v"}, Count: 1}))
}

// TestReleases holds that what an action leaves down is let go by the actions that are
// returned, and that others leave it as it is.
func TestReleases(t *testing.T) {
	before := []Action{KeyUp{Key: "f24"}}
	for _, a := range samples(t) {
		after, keys := Releases(a, before), KeysHeld(a, []Key{"f24"})
		switch rowOf(a).held {
		case down:
			assert.Len(t, after, 2, Name(a))
			assert.Equal(t, after, Releases(a, after), "%s twice", Name(a))
			assert.Equal(t, append([]Key{"f24"}, Pressed(a)...), keys, Name(a))
			for _, free := range after[1:] {
				after, keys = Releases(free, after), KeysHeld(free, keys)
			}
			fallthrough
		default:
			assert.Equal(t, before, after, Name(a))
			assert.Equal(t, []Key{"f24"}, keys, Name(a))
		}
	}
	assert.Empty(t, Releases(ButtonUp{At: &Point{X: 1}, Button: Left}, Releases(ButtonDown{Button: Left}, nil)), "wherever it is")
	assert.Equal(t, before, Releases(nil, before))
	assert.Equal(t, []Key{"ctrl"}, KeysHeld(KeyUp{Key: "shift"}, KeysHeld(KeyDown{Key: "ctrl"}, []Key{"shift"})))
}

// TestSilent holds which shortcuts may work without showing anything, and that other keys
// are due to show.
func TestSilent(t *testing.T) {
	for _, tt := range []struct {
		keys []Key
		want bool
	}{
		{[]Key{"ctrl", "c"}, true}, {[]Key{"ctrl", "x"}, true}, {[]Key{"ctrl", "s"}, true}, {[]Key{"ctrl", "shift", "c"}, true},
		{[]Key{"ctrl", "insert"}, true}, {[]Key{"ctrlleft", "c"}, true},
		{[]Key{"ctrl", "v"}, false}, {[]Key{"c"}, false}, {[]Key{"shift", "s"}, false}, {[]Key{"alt", "c"}, false}, {[]Key{"esc"}, false}, {nil, false},
	} {
		a := Press{Keys: tt.keys, Count: 1}
		assert.Equal(t, tt.want, Silent(a), "%v", tt.keys)
		assert.Equal(t, !tt.want, Shows(a), "%v", tt.keys)
	}
	assert.False(t, Silent(Copy{}))
}
