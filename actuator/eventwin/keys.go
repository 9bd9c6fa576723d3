//go:build unix

package eventwin

import (
	"unicode"

	"github.com/jezek/xgb/xproto"

	"desktop-agent/internal/x11"
)

// keys is the keyboard map, read as a program does that knows the rules of the
// core protocol: X Window System Protocol, section 5, "Keyboards".
type keys struct {
	first   xproto.Keycode
	width   int
	syms    []xproto.Keysym
	numLock uint16
}

func readKeys(conn *x11.Conn) *keys {
	const symNumLock = 0xff7f
	setup := xproto.Setup(conn.Conn)
	mapping := xproto.GetKeyboardMapping(conn.Conn, setup.MinKeycode, byte(setup.MaxKeycode-setup.MinKeycode)+1)
	modifiers := xproto.GetModifierMapping(conn.Conn)
	m, err := mapping.Reply()
	if err != nil {
		return &keys{}
	}
	k := &keys{first: setup.MinKeycode, width: int(m.KeysymsPerKeycode), syms: m.Keysyms}
	mods, err := modifiers.Reply()
	if err != nil {
		return k
	}
	for i, code := range mods.Keycodes {
		if code != 0 && k.at(code, 0) == symNumLock {
			k.numLock = 1 << (i / int(mods.KeycodesPerModifier))
		}
	}
	return k
}

func (k *keys) at(code xproto.Keycode, col int) xproto.Keysym {
	i := int(code-k.first)*k.width + col
	if code < k.first || col >= k.width || i >= len(k.syms) {
		return 0
	}
	return k.syms[i]
}

// sym returns what a key means with these modifiers.
func (k *keys) sym(code xproto.Keycode, state uint16) xproto.Keysym {
	col := 0
	if group := state >> 13 & 3; group == 1 && k.at(code, 2) != 0 {
		col = 2
	}
	plain, shifted := k.at(code, col), k.at(code, col+1)
	if shifted == 0 {
		shifted = plain
		if r := runeOf(plain); unicode.IsLower(r) {
			shifted = symOf(unicode.ToUpper(r))
		}
	}
	shift, lock := state&xproto.ModMaskShift != 0, state&xproto.ModMaskLock != 0
	if keypad := shifted >= 0xff80 && shifted <= 0xffbd; keypad && state&k.numLock != 0 {
		shift = !shift
	}
	sym := plain
	if shift {
		sym = shifted
	}
	if r := runeOf(sym); lock && unicode.IsLower(r) {
		sym = symOf(unicode.ToUpper(r))
	}
	return sym
}

func symOf(r rune) xproto.Keysym {
	if r <= 0xff {
		return xproto.Keysym(r)
	}
	return 0x01000000 + xproto.Keysym(r)
}

// runeOf returns the character of a keysym: Latin-1, Unicode, the keypad's, and
// those of Enter and Tab. It is 0 for the others.
func runeOf(sym xproto.Keysym) rune {
	const enter, tab, keypadEnter = 0xff0d, 0xff09, 0xff8d
	switch {
	case sym >= 0x20 && sym <= 0x7e, sym >= 0xa0 && sym <= 0xff:
		return rune(sym)
	case sym >= 0x01000100 && sym <= 0x0110ffff:
		return rune(sym - 0x01000000)
	case sym == enter, sym == keypadEnter:
		return '\n'
	case sym == tab:
		return '\t'
	case sym >= 0xffaa && sym <= 0xffb9:
		return rune(sym - 0xff80)
	case sym == 0xffbd:
		return '='
	}
	return 0
}
