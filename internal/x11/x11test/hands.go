//go:build unix

// Package x11test gives input, for tests: as a program does, or as a person with a mouse
// and a keyboard of their own ([Hands]). And it tells one X server from another.
package x11test

import (
	"encoding/binary"
	"image"
	"testing"

	"github.com/jezek/xgb/xproto"

	"desktop-agent/internal/x11"
)

// Hands are a mouse and a keyboard of their own on a display that has none. The server
// is given a second pointer and keyboard; what is sent there comes from other devices
// than what programs send to the first ones.
type Hands struct {
	t    testing.TB
	conn *x11.Conn
}

const (
	xinput          = "XInputExtension"
	changeHierarchy = 43
	setClient       = 44
)

// On gives a display the hands of a person, for as long as the test lasts.
func On(t testing.TB, display string) *Hands {
	t.Helper()
	conn, err := x11.Dial(display)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	h := &Hands{t, conn}
	for _, name := range []string{"XTEST", xinput} {
		if err := conn.Extension(name); err != nil {
			t.Fatal(err)
		}
	}
	// The server must be told that this client knows XInput 2.
	version := conn.NewCookie(true, true)
	conn.NewRequest(h.request(47, []byte{2, 0, 2, 0}), version)
	if _, err := version.Reply(); err != nil {
		t.Fatal(err)
	}
	const name = "person" // its length is 6, and 2 to fill
	b := []byte{1, 0, 0, 0}
	b = binary.LittleEndian.AppendUint16(b, 1) // add a master
	b = binary.LittleEndian.AppendUint16(b, 4) // words
	b = binary.LittleEndian.AppendUint16(b, uint16(len(name)))
	b = append(b, 1, 1) // it sends core events, and is enabled
	b = append(b, name+"\x00\x00"...)
	h.send(changeHierarchy, b)

	devices, err := conn.Devices()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range devices {
		if d.Name == name+" pointer" {
			b := binary.LittleEndian.AppendUint16([]byte{0, 0, 0, 0}, d.ID)
			h.send(setClient, append(b, 0, 0))
			return h
		}
	}
	t.Fatalf("no second pointer among %v", devices)
	return nil
}

func (h *Hands) request(minor byte, body []byte) []byte {
	b := []byte{h.conn.Extensions[xinput], minor}
	b = binary.LittleEndian.AppendUint16(b, uint16((4+len(body))/4))
	return append(b, body...)
}

func (h *Hands) send(minor byte, body []byte) {
	h.t.Helper()
	cookie := h.conn.NewCookie(true, false)
	h.conn.NewRequest(h.request(minor, body), cookie)
	if err := cookie.Check(); err != nil {
		h.t.Fatalf("XInput request %d: %v", minor, err)
	}
}

// Move moves the person's pointer to a place.
func (h *Hands) Move(x, y int) { h.t.Helper(); Move(h.t, h.conn, image.Pt(x, y)) }

// Press presses the keys of these keycodes, and lets them go the other way round.
func (h *Hands) Press(codes ...byte) { h.t.Helper(); Press(h.t, h.conn, codes...) }

// Click presses the left button where the pointer is, and lets it go.
func (h *Hands) Click() {
	h.t.Helper()
	together(h.t, h.conn, func() {
		fake(h.conn, xproto.ButtonPress, 1)
		fake(h.conn, xproto.ButtonRelease, 1)
	})
}
