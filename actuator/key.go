package actuator

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"desktop-agent/internal/spell"
)

// namedKeys are the keys that no single character names, in the order in which
// [Keys] lists them.
var namedKeys = []Key{
	"enter", "tab", "space", "backspace", "delete", "insert", "esc",
	"home", "end", "pageup", "pagedown", "up", "down", "left", "right",
	"ctrl", "ctrlleft", "ctrlright", "shift", "shiftleft", "shiftright",
	"alt", "altleft", "altright", "win", "winleft", "winright", "menu",
	"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12",
	"f13", "f14", "f15", "f16", "f17", "f18", "f19", "f20", "f21", "f22", "f23", "f24",
	"capslock", "numlock", "scrolllock", "printscreen", "pause", "clear", "help",
	"num0", "num1", "num2", "num3", "num4", "num5", "num6", "num7", "num8", "num9",
	"add", "subtract", "multiply", "divide", "decimal",
	"volumeup", "volumedown", "volumemute", "playpause", "stop", "nexttrack", "prevtrack",
	"browserback", "browserforward", "browserrefresh", "browserstop",
	"browsersearch", "browserfavorites", "browserhome", "launchmail",
	"hangul", "hanja", "kana", "kanji", "convert", "nonconvert",
}

// characterKeys are the keys named by the one character they type. A letter is
// in lower case; its capital is shift and the letter.
const characterKeys = "abcdefghijklmnopqrstuvwxyz0123456789" + "`-=[]\\;',./" + "~!@#$%^&*()_+{}|:\"<>?"

// aliases are other names in use: those of pyautogui, of X11 keysyms, of
// JavaScript's KeyboardEvent and what models write. Each is in lower case with
// spaces, hyphens and underscores removed; see [plain].
var aliases = map[string]Key{
	"return": "enter", "ret": "enter", "cr": "enter", "newline": "enter", "linefeed": "enter",
	"escape": "esc", "del": "delete", "ins": "insert", "bksp": "backspace", "bs": "backspace",
	"spacebar": "space", "blank": "space", "isolefttab": "tab",
	"pgup": "pageup", "prior": "pageup", "pgdn": "pagedown", "pgdown": "pagedown", "next": "pagedown", "pagedn": "pagedown",
	"arrowup": "up", "arrowdown": "down", "arrowleft": "left", "arrowright": "right",
	"uparrow": "up", "downarrow": "down", "leftarrow": "left", "rightarrow": "right",

	"control": "ctrl", "ctl": "ctrl", "controll": "ctrlleft", "controlr": "ctrlright", "controlleft": "ctrlleft", "controlright": "ctrlright",
	"ctrll": "ctrlleft", "ctrlr": "ctrlright", "leftctrl": "ctrlleft", "rightctrl": "ctrlright", "lctrl": "ctrlleft", "rctrl": "ctrlright",
	"shiftl": "shiftleft", "shiftr": "shiftright", "leftshift": "shiftleft", "rightshift": "shiftright", "lshift": "shiftleft", "rshift": "shiftright",
	"altl": "altleft", "altr": "altright", "leftalt": "altleft", "rightalt": "altright", "lalt": "altleft", "ralt": "altright",
	"altgr": "altright", "altgraph": "altright", "isolevel3shift": "altright", "option": "alt", "opt": "alt", "optionleft": "altleft", "optionright": "altright",
	"super": "win", "superl": "winleft", "superr": "winright", "meta": "win", "metal": "winleft", "metar": "winright",
	"metaleft": "winleft", "metaright": "winright", "windows": "win", "window": "win", "os": "win", "osleft": "winleft", "osright": "winright",
	"cmd": "win", "command": "win", "commandleft": "winleft", "commandright": "winright", "hyper": "win", "lwin": "winleft", "rwin": "winright",
	"apps": "menu", "app": "menu", "contextmenu": "menu",

	"caps": "capslock", "prtsc": "printscreen", "prtscr": "printscreen", "prntscrn": "printscreen",
	"print": "printscreen", "printscrn": "printscreen", "snapshot": "printscreen", "sysreq": "printscreen", "break": "pause",
	"kpenter": "enter", "numpadenter": "enter", "numenter": "enter", "kpadd": "add", "numpadadd": "add", "kpsubtract": "subtract", "numpadsubtract": "subtract",
	"kpmultiply": "multiply", "numpadmultiply": "multiply", "kpdivide": "divide", "numpaddivide": "divide",
	"kpdecimal": "decimal", "numpaddecimal": "decimal", "separator": "decimal", "kpseparator": "decimal",

	"xf86audioraisevolume": "volumeup", "audiovolumeup": "volumeup", "xf86audiolowervolume": "volumedown", "audiovolumedown": "volumedown",
	"xf86audiomute": "volumemute", "audiovolumemute": "volumemute", "mute": "volumemute", "xf86audioplay": "playpause", "mediaplaypause": "playpause",
	"xf86audiostop": "stop", "mediastop": "stop", "xf86audionext": "nexttrack", "mediatracknext": "nexttrack",
	"xf86audioprev": "prevtrack", "mediatrackprevious": "prevtrack", "xf86back": "browserback", "xf86forward": "browserforward",
	"xf86refresh": "browserrefresh", "xf86reload": "browserrefresh", "xf86stop": "browserstop", "xf86search": "browsersearch",
	"xf86favorites": "browserfavorites", "xf86homepage": "browserhome", "xf86mail": "launchmail",
	"hanguel": "hangul", "hangulmode": "hangul", "hangulhanja": "hanja", "kanalock": "kana", "kanamode": "kana", "kanjimode": "kanji",
	"henkan": "convert", "henkanmode": "convert", "muhenkan": "nonconvert",

	"exclam": "!", "at": "@", "numbersign": "#", "hash": "#", "dollar": "$", "percent": "%", "asciicircum": "^", "caret": "^", "ampersand": "&",
	"asterisk": "*", "star": "*", "parenleft": "(", "parenright": ")", "minus": "-", "hyphen": "-", "dash": "-", "underscore": "_",
	"equal": "=", "equals": "=", "plus": "+", "bracketleft": "[", "bracketright": "]", "braceleft": "{", "braceright": "}",
	"backslash": "\\", "bar": "|", "pipe": "|", "semicolon": ";", "colon": ":", "apostrophe": "'", "quoteright": "'", "quote": "'", "quotedbl": "\"",
	"comma": ",", "period": ".", "dot": ".", "slash": "/", "less": "<", "greater": ">", "question": "?",
	"grave": "`", "quoteleft": "`", "backquote": "`", "backtick": "`", "asciitilde": "~", "tilde": "~",
}

// Keys returns every key that there is, in the form that [ParseKey] returns.
func Keys() []Key {
	keys := slices.Clone(namedKeys)
	for _, r := range characterKeys {
		keys = append(keys, Key(r))
	}
	return keys
}

// Modifier reports whether the key is one that is held while others are
// pressed: ctrl, shift, alt or win, of either side.
func (k Key) Modifier() bool {
	for _, m := range []string{"ctrl", "shift", "alt", "win"} {
		if side, ok := strings.CutPrefix(string(k), m); ok {
			return side == "" || side == "left" || side == "right"
		}
	}
	return false
}

// chordOrder has the keys of [Key.Modifier] without a side, in the order in which shortcuts are
// written.
var chordOrder = []Key{"ctrl", "alt", "shift", "win"}

// Chord writes keys that are down together in one form, such as "ctrl+shift+s": modifiers
// without a side, in order and each once, and then the other keys as they come.
func Chord(keys []Key) string {
	var parts []string
	for _, m := range chordOrder {
		if slices.ContainsFunc(keys, func(k Key) bool { return k.Modifier() && strings.HasPrefix(string(k), string(m)) }) {
			parts = append(parts, string(m))
		}
	}
	for _, k := range keys {
		if !k.Modifier() {
			parts = append(parts, string(k))
		}
	}
	return strings.Join(parts, "+")
}

// UnmarshalText reads a key by any of its names; see [ParseKey].
func (k *Key) UnmarshalText(text []byte) (err error) {
	*k, err = ParseKey(string(text))
	return err
}

// ParseKey returns the key of a name, in any case: a name of [Keys], or one
// that pyautogui, X11 ("Control_L", "Page_Up", "KP_Add") or a browser
// ("ArrowLeft", "KeyA") uses for it. "\n", "\t" and " " are keys as well. The
// error for an unknown name holds the nearest known ones.
func ParseKey(name string) (Key, error) {
	switch name {
	case "\n", "\r", "\r\n":
		return "enter", nil
	case "\t":
		return "tab", nil
	case " ":
		return "space", nil
	case "\b":
		return "backspace", nil
	case "\x1b":
		return "esc", nil
	case "\x7f":
		return "delete", nil
	}
	lower := strings.ToLower(name)
	if len(lower) == 1 && strings.Contains(characterKeys, lower) || slices.Contains(namedKeys, Key(lower)) {
		return Key(lower), nil
	}
	short := plain(lower)
	if slices.Contains(namedKeys, Key(short)) {
		return Key(short), nil
	}
	if k, ok := aliases[short]; ok {
		return k, nil
	}
	for _, prefix := range []string{"key", "digit"} { // KeyA, Digit1
		if c, ok := strings.CutPrefix(short, prefix); ok && len(c) == 1 && strings.Contains(characterKeys[:36], c) {
			return Key(c), nil
		}
	}
	for _, prefix := range []string{"kp", "numpad"} { // KP_Home, Numpad7
		if rest, ok := strings.CutPrefix(short, prefix); ok && rest != "" && len(rest) < 10 {
			if len(rest) == 1 && rest[0] >= '0' && rest[0] <= '9' {
				return Key("num" + rest), nil
			}
			if k, err := ParseKey(rest); err == nil && len(k) > 1 {
				return k, nil
			}
		}
	}
	return "", unknownKey(name)
}

// plain takes out what writers of a key's name differ in.
func plain(lower string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(lower)
}

// unknownKey says what to write instead of a name that no key has.
func unknownKey(name string) error {
	switch n := utf8.RuneCountInString(name); {
	case n == 0:
		return fmt.Errorf("a key has an empty name; write a name such as \"enter\" or \"a\"")
	case n == 1:
		return fmt.Errorf("%q is not on the keyboard; type it as text", name)
	case n > 24:
		return fmt.Errorf("a key has a name of %d characters; to type text, type it as text, not as a key", n)
	}
	if parts := strings.Split(name, "+"); len(parts) > 1 && !slices.Contains(parts, "") {
		return fmt.Errorf("unknown key %q: write a shortcut as separate keys: %q", name, parts)
	}
	var known []string
	for _, k := range namedKeys {
		known = append(known, string(k))
	}
	known = append(known, slices.Sorted(maps.Keys(aliases))...)
	var nearest []string
	for _, word := range spell.Nearest(plain(strings.ToLower(name)), known, 4) {
		if k, ok := aliases[word]; ok {
			word = string(k)
		}
		if !slices.Contains(nearest, word) {
			nearest = append(nearest, word)
		}
	}
	return fmt.Errorf("unknown key %q: the nearest are %s", name, quoted(nearest))
}

// quoted lists words in quotes: "a", "b".
func quoted(words []string) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = strconv.Quote(w)
	}
	return strings.Join(list, ", ")
}
