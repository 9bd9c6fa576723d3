package actuator

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jezek/xgb/xproto"

	"desktop-agent/internal/x11"
)

// The library has no XKB, and the core protocol can change keys that lie next
// to each other only: for the spare ones a request each, after which window
// managers and programs read the whole map again. XKB changes them at once.
// The requests are in the X Keyboard Extension's protocol specification, 16.3.8
// (GetMap and SetMap): https://www.x.org/releases/current/doc/kbproto/xkbproto.html
const (
	xkbName         = "XKEYBOARD"
	xkbUseExtension = 0
	xkbGetMap       = 8
	xkbSetMap       = 9
	xkbCoreKeyboard = 0x100 // device: the one that programs get keys from
	xkbKeySyms      = 2     // component
	xkbTwoLevel     = 1     // key type: shift selects the second keysym
)

// xkbKey is what a key means: the types of its groups, and their keysyms.
type xkbKey struct {
	types         [4]byte
	groups, width byte
	syms          []byte // four bytes each
}

// An xkbMap is the meaning of the keys from first on.
type xkbMap struct {
	first    byte
	min, max byte // the server's least and greatest keycode
	keys     []xkbKey
}

// xkbOpen says that the client speaks XKB.
func xkbOpen(conn *x11.Conn) error {
	if err := conn.Extension(xkbName); err != nil {
		return err
	}
	reply, err := xkbRequest(conn, xkbUseExtension, []byte{1, 0, 0, 0}, true) // version 1.0
	if err != nil {
		return fmt.Errorf("XKB: %w", err)
	}
	if len(reply) < 2 || reply[1] == 0 {
		return errors.New("XKB: the X server does not speak version 1")
	}
	return nil
}

// xkbRequest sends a request of whole words and waits until it has been done.
func xkbRequest(conn *x11.Conn, minor byte, body []byte, reply bool) ([]byte, error) {
	conn.ExtLock.RLock()
	major := conn.Extensions[xkbName]
	conn.ExtLock.RUnlock()
	buf := append([]byte{major, minor, 0, 0}, body...)
	binary.LittleEndian.PutUint16(buf[2:], uint16(len(buf)/4))
	cookie := conn.NewCookie(true, reply)
	conn.NewRequest(buf, cookie)
	if reply {
		return cookie.Reply()
	}
	return nil, cookie.Check()
}

// readXKB reads the meaning of every key.
func readXKB(conn *x11.Conn) (*xkbMap, error) {
	body := make([]byte, 24)
	binary.LittleEndian.PutUint16(body[0:], xkbCoreKeyboard)
	binary.LittleEndian.PutUint16(body[2:], xkbKeySyms)
	r, err := xkbRequest(conn, xkbGetMap, body, true)
	if err != nil {
		return nil, fmt.Errorf("keyboard map: %w", err)
	}
	if len(r) < 40 {
		return nil, errXKBReply
	}
	m := &xkbMap{min: r[10], max: r[11], first: r[17], keys: make([]xkbKey, r[20])}
	r = r[40:]
	for i := range m.keys {
		if len(r) < 8 {
			return nil, errXKBReply
		}
		k := xkbKey{types: [4]byte(r), groups: r[4], width: r[5]}
		n := 8 + 4*int(binary.LittleEndian.Uint16(r[6:]))
		if len(r) < n {
			return nil, errXKBReply
		}
		k.syms = r[8:n]
		m.keys[i], r = k, r[n:]
	}
	return m, nil
}

var errXKBReply = errors.New("keyboard map: the X server's reply is too short")

// set gives a key two keysyms, without and with shift; two zeros make it spare.
func (m *xkbMap) set(code xproto.Keycode, levels [2]xproto.Keysym) {
	i := int(code) - int(m.first)
	if i < 0 || i >= len(m.keys) {
		return
	}
	m.keys[i] = xkbKey{}
	if levels == [2]xproto.Keysym{} {
		return
	}
	k := xkbKey{types: [4]byte{xkbTwoLevel}, groups: 1, width: 2}
	for _, sym := range levels {
		k.syms = binary.LittleEndian.AppendUint32(k.syms, uint32(sym))
	}
	m.keys[i] = k
}

// write tells the server the meaning of the keys from low to high.
func (m *xkbMap) write(conn *x11.Conn, low, high xproto.Keycode) error {
	var data []byte
	syms := 0
	for _, k := range m.keys[int(low)-int(m.first) : int(high)-int(m.first)+1] {
		n := len(k.syms) / 4
		syms += n
		data = append(data, k.types[0], k.types[1], k.types[2], k.types[3], k.groups, k.width)
		data = binary.LittleEndian.AppendUint16(data, uint16(n))
		data = append(data, k.syms...)
	}
	head := make([]byte, 32)
	binary.LittleEndian.PutUint16(head[0:], xkbCoreKeyboard)
	binary.LittleEndian.PutUint16(head[2:], xkbKeySyms)
	head[6], head[7] = m.min, m.max
	head[10], head[11] = byte(low), byte(high-low)+1
	binary.LittleEndian.PutUint16(head[12:], uint16(syms))
	if _, err := xkbRequest(conn, xkbSetMap, append(head, data...), false); err != nil {
		return fmt.Errorf("change keyboard map: %w", err)
	}
	return nil
}
