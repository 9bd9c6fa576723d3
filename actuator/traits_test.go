package actuator

import (
	"image"
	"strings"
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

// TestEveryActionAsMeant is the table as it is meant: a change of a row is a change here.
func TestEveryActionAsMeant(t *testing.T) {
	meant := map[string]string{
		"move": "", "click": "shows", "button_down": "holds", "button_up": "releases", "drag": "shows", "scroll": "shows",
		"type": "shows focus writes", "press": "shows focus writes keys", "key_down": "focus keys", "key_up": "keys", "hold": "shows focus keys",
		"copy": "focus", "paste": "shows focus writes", "set_clipboard": "", "set": "shows", "call_tool": "", "wait": "pause", "wait_until": "pause",
		"zoom": "agent", "note": "agent", "done": "agent final end", "infeasible": "agent final end", "ask": "agent final",
	}
	for _, a := range samples(t) {
		t.Run(Name(a), func(t *testing.T) {
			var is []string
			for _, trait := range []struct {
				name string
				has  bool
			}{
				{"agent", ForAgent(a)}, {"final", Final(a)}, {"end", KindOf(a) == End}, {"pause", KindOf(a) == Pause},
				{"shows", Shows(a)}, {"focus", UsesFocus(a)}, {"writes", Writes(a)},
				{"holds", ButtonHeld(a, false)}, {"releases", !ButtonHeld(a, true)}, {"keys", len(Pressed(a)) > 0},
			} {
				if trait.has {
					is = append(is, trait.name)
				}
			}
			want, ok := meant[Name(a)]
			if !ok {
				t.Errorf("the table as it is meant does not know %s: it is %q", Name(a), is)
				return
			}
			assert.Equal(t, want, strings.Join(is, " "))
		})
	}
}

// TestTraitsOfNone holds that no action has no traits, and that a shortcut writes nothing.
func TestTraitsOfNone(t *testing.T) {
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
