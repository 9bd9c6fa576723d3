package actuator

import (
	"fmt"
	"strings"
)

// ParseHotkey reads a hotkey such as "ctrl+alt+escape": a key, with at least one
// of ctrl, alt and win, which must not be what a person uses otherwise. The modifiers
// come first, in the order in which shortcuts are written.
func ParseHotkey(text string) ([]Key, error) {
	down := map[Key]bool{}
	names := strings.Split(text, "+")
	for _, name := range names[:len(names)-1] {
		k, err := ParseKey(name)
		if err != nil {
			return nil, fmt.Errorf("hotkey %q: %w", text, err)
		}
		switch k {
		case "ctrl", "shift", "alt", "win":
			down[k] = true
		default:
			return nil, fmt.Errorf("hotkey %q: %q is no modifier: write for example ctrl+alt+escape", text, name)
		}
	}
	k, err := ParseKey(names[len(names)-1])
	if err != nil {
		return nil, fmt.Errorf("hotkey %q: %w", text, err)
	}
	if k.Modifier() || !down["ctrl"] && !down["alt"] && !down["win"] {
		return nil, fmt.Errorf("hotkey %q: write ctrl, alt or win and then a key, for example ctrl+alt+escape", text)
	}
	var keys []Key
	for _, m := range chordOrder {
		if down[m] {
			keys = append(keys, m)
		}
	}
	return append(keys, k), nil
}
