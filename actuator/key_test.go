package actuator

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestKeysAreCanonical(t *testing.T) {
	seen := map[Key]bool{}
	for _, k := range Keys() {
		assert.False(t, seen[k], "%q is there twice", k)
		seen[k] = true
		got, err := ParseKey(string(k))
		require.NoError(t, err)
		assert.Equal(t, k, got)
	}
	for c := '!'; c <= '~'; c++ {
		if c < 'A' || c > 'Z' {
			assert.True(t, seen[Key(c)], "%q", c)
		}
	}
	for name, k := range aliases {
		assert.True(t, seen[k], "%q means %q, which is no key", name, k)
		assert.False(t, seen[Key(name)], "%q is a key and another name for %q", name, k)
		assert.Equal(t, plain(name), name, "an alias is compared in plain form")
	}
}

func TestParseKey(t *testing.T) {
	for want, names := range map[Key][]string{
		"enter":      {"enter", "Return", "RETURN", "\n", "\r", "KP_Enter", "NumpadEnter", "Linefeed"},
		"tab":        {"Tab", "\t"},
		"space":      {" ", "Space", "spacebar"},
		"esc":        {"Escape", "ESC", "\x1b"},
		"ctrl":       {"Ctrl", "control", "CTRL"},
		"ctrlleft":   {"Control_L", "ControlLeft", "ctrl_l", "left ctrl"},
		"win":        {"cmd", "super", "meta", "Windows", "command"},
		"winleft":    {"Super_L", "MetaLeft"},
		"altright":   {"AltGr", "ISO_Level3_Shift", "Alt_R"},
		"pageup":     {"PgUp", "Page_Up", "Prior", "page up", "KP_Prior"},
		"pagedown":   {"PageDown", "Next", "pgdn"},
		"left":       {"ArrowLeft", "Left", "KP_Left"},
		"delete":     {"del", "Delete", "KP_Delete"},
		"menu":       {"apps", "ContextMenu"},
		"num7":       {"KP_7", "Numpad7", "num7"},
		"add":        {"KP_Add", "NumpadAdd", "add"},
		"f11":        {"F11"},
		"a":          {"A", "a", "KeyA"},
		"5":          {"5", "Digit5"},
		"+":          {"plus", "+"},
		"\\":         {"backslash", "\\"},
		"volumeup":   {"XF86AudioRaiseVolume", "AudioVolumeUp"},
		"capslock":   {"Caps_Lock"},
		"scrolllock": {"Scroll_Lock"},
	} {
		for _, name := range names {
			got, err := ParseKey(name)
			require.NoError(t, err, name)
			assert.Equal(t, want, got, name)
		}
	}
}

func TestParseKeyUnknown(t *testing.T) {
	for name, want := range map[string]string{
		"":                                      "empty name",
		"é":                                     "type it as text",
		"\x00":                                  "type it as text",
		"retrun":                                `"enter"`,
		"pagup":                                 `"pageup"`,
		"F25":                                   `"f2"`,
		"ctrl+s":                                `["ctrl" "s"]`,
		"kpkpkp":                                "unknown key",
		"this is no key but a sentence to type": "type it as text",
	} {
		k, err := ParseKey(name)
		assert.ErrorContains(t, err, want, name)
		assert.Empty(t, k)
	}
}

func TestModifier(t *testing.T) {
	var modifiers []Key
	for _, k := range Keys() {
		if k.Modifier() {
			modifiers = append(modifiers, k)
		}
	}
	slices.Sort(modifiers)
	assert.Equal(t, []Key{"alt", "altleft", "altright", "ctrl", "ctrlleft", "ctrlright", "shift", "shiftleft", "shiftright", "win", "winleft", "winright"}, modifiers)
}

// TestChord holds that keys have one form whichever sides and in which order they are pressed.
func TestChord(t *testing.T) {
	for want, keys := range map[string][]Key{
		"ctrl+shift+s": {"shiftright", "ctrlleft", "s"},
		"ctrl+c":       {"ctrl", "ctrlleft", "c"},
		"alt+win":      {"winleft", "alt"},
		"f5":           {"f5"},
		"":             nil,
	} {
		assert.Equal(t, want, Chord(keys))
	}
}
