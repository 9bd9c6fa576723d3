//go:build unix

package x11

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"net"
	"sync/atomic"

	"github.com/jezek/xgb"
)

// The library knows no XInput2, and cannot read its events: they are generic ones,
// which may be longer than 32 bytes. So a connection that wants them has a reader
// in between, which takes generic events out of the stream, and the few requests that
// are needed are written here. Their form is that of XI2proto.h and of
// https://www.x.org/releases/X11R7.7/doc/inputproto/XI2proto.txt.

// A RawInput is what an input device sent, whoever has grabbed it. [Conn.Listen]
// passes it on.
type RawInput struct {
	Kind   RawKind
	Master uint16 // the pointer or keyboard that programs see
	Source uint16 // the device itself
	Detail uint32 // the keycode, or the number of the button
}

// Bytes is nil: there is no other form; it is [xgb.Event].
func (RawInput) Bytes() []byte { return nil }

// String names the event.
func (r RawInput) String() string { return fmt.Sprintf("raw input %d", r.Kind) }

// A RawKind says what a device did.
type RawKind uint16

// The kinds of raw input, by the numbers of XInput2.
const (
	RawKeyPress      RawKind = 13
	RawKeyRelease    RawKind = 14
	RawButtonPress   RawKind = 15
	RawButtonRelease RawKind = 16
	RawMotion        RawKind = 17
	RawTouchBegin    RawKind = 22
)

const (
	xinput        = "XInputExtension"
	genericEvent  = 35
	xiAllMasters  = 1
	xiQueryPtr    = 40
	xiSelect      = 46
	xiVersion     = 47
	xiQueryDevice = 48
)

// ErrNoRawInput reports that a server does not tell of raw input.
var ErrNoRawInput = errors.New("the X server has no XInput 2.1")

// DialInput is [Dial] for a connection that is told of all input, as [RawInput].
func DialInput(display string) (*Conn, error) {
	at, err := ParseDisplay(display)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDisplay, err)
	}
	conn, err := at.Dial(context.Background())
	if err != nil {
		return nil, fmt.Errorf("%w %q: %v", ErrNoDisplay, display, err)
	}
	s := &splitter{Conn: conn, from: bufio.NewReader(conn)}
	x, err := greet(s, at)
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("%w %q: %v", ErrNoDisplay, display, err)
	}
	c := newConn(x)
	s.to.Store(c)
	if err := c.selectRaw(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// selectRaw asks for the raw input of all devices.
func (c *Conn) selectRaw() error {
	if err := c.Extension(xinput); err != nil {
		return fmt.Errorf("%w: %w", ErrNoRawInput, err)
	}
	version := []byte{2, 0, 2, 0} // 2.2, of which grabs do not withhold raw events
	reply, err := c.xi(xiVersion, version)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoRawInput, err)
	}
	if major, minor := xgb.Get16(reply[8:]), xgb.Get16(reply[10:]); major < 2 || major == 2 && minor < 1 {
		return fmt.Errorf("%w, but %d.%d", ErrNoRawInput, major, minor)
	}
	var mask uint32
	for _, k := range []RawKind{RawKeyPress, RawKeyRelease, RawButtonPress, RawButtonRelease, RawMotion, RawTouchBegin} {
		mask |= 1 << k
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(c.Root))
	b = append(b, 1, 0, 0, 0) // one mask
	b = binary.LittleEndian.AppendUint16(b, xiAllMasters)
	b = append(b, 1, 0) // of one word
	b = binary.LittleEndian.AppendUint32(b, mask)
	return c.xiVoid(xiSelect, b)
}

// A Device is an input device of a server.
type Device struct {
	ID   uint16
	Name string
}

// Devices lists the input devices.
func (c *Conn) Devices() ([]Device, error) {
	reply, err := c.xi(xiQueryDevice, []byte{0, 0, 0, 0}) // all
	if err != nil {
		return nil, fmt.Errorf("input devices: %w", err)
	}
	return parseDevices(reply)
}

// parseDevices reads the reply to XIQueryDevice.
func parseDevices(reply []byte) (list []Device, err error) {
	short := errors.New("input devices: the reply is too short")
	if len(reply) < 32 {
		return nil, short
	}
	n, b := int(xgb.Get16(reply[8:])), reply[32:]
	for range n {
		if len(b) < 12 {
			return nil, short
		}
		d := Device{ID: xgb.Get16(b)}
		classes, name := int(xgb.Get16(b[6:])), int(xgb.Get16(b[8:]))
		if b = b[12:]; len(b) < xgb.Pad(name) {
			return nil, short
		}
		d.Name, b = string(b[:name]), b[xgb.Pad(name):]
		for range classes {
			if len(b) < 4 {
				return nil, short
			}
			size := int(xgb.Get16(b[2:])) * 4
			if size < 4 || len(b) < size {
				return nil, short
			}
			b = b[size:]
		}
		list = append(list, d)
	}
	return list, nil
}

// PointerOf returns where the pointer of a master device is, in device pixels.
func (c *Conn) PointerOf(master uint16) (image.Point, error) {
	b := binary.LittleEndian.AppendUint32(nil, uint32(c.Root))
	b = binary.LittleEndian.AppendUint16(b, master)
	reply, err := c.xi(xiQueryPtr, append(b, 0, 0))
	if err != nil {
		return image.Point{}, fmt.Errorf("pointer: %w", err)
	}
	return image.Pt(int(int32(xgb.Get32(reply[16:])))>>16, int(int32(xgb.Get32(reply[20:])))>>16), nil
}

// xi sends a request of XInput2 and returns its reply, of 32 bytes at least.
func (c *Conn) xi(minor byte, body []byte) ([]byte, error) {
	cookie := c.NewCookie(true, true)
	c.NewRequest(c.xiRequest(minor, body), cookie)
	return cookie.Reply()
}

// xiVoid sends a request that has no reply.
func (c *Conn) xiVoid(minor byte, body []byte) error {
	cookie := c.NewCookie(true, false)
	c.NewRequest(c.xiRequest(minor, body), cookie)
	return cookie.Check()
}

func (c *Conn) xiRequest(minor byte, body []byte) []byte {
	c.ExtLock.RLock()
	major := c.Extensions[xinput]
	c.ExtLock.RUnlock()
	b := []byte{major, minor}
	b = binary.LittleEndian.AppendUint16(b, uint16((4+len(body))/4))
	return append(b, body...)
}

// generic takes a generic event in.
func (c *Conn) generic(b []byte) {
	c.ExtLock.RLock()
	major := c.Extensions[xinput]
	c.ExtLock.RUnlock()
	if len(b) < 24 || b[1] != major {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deliver(RawInput{
		Kind: RawKind(xgb.Get16(b[8:])), Master: xgb.Get16(b[10:]), Detail: xgb.Get32(b[16:]), Source: xgb.Get16(b[20:]),
	})
}

// A splitter is a connection to a server whose generic events go another way.
type splitter struct {
	net.Conn
	from  *bufio.Reader
	begun bool   // what begins a connection has been read
	rest  []byte // read, and not yet passed on
	to    atomic.Pointer[Conn]
}

// Read passes on all but generic events.
func (s *splitter) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// maxMessage is the longest that a server says at once, in bytes.
const maxMessage = 64 << 20

// next reads the next thing that the server says.
func (s *splitter) next() error {
	head := make([]byte, 32)
	if !s.begun {
		head = head[:8]
	}
	if _, err := io.ReadFull(s.from, head); err != nil {
		return err
	}
	more := 0
	switch {
	case !s.begun:
		s.begun, more = true, int(xgb.Get16(head[6:]))*4
	case head[0] == 1 || head[0]&0x7f == genericEvent:
		more = int(xgb.Get32(head[4:])) * 4
	}
	if more > maxMessage {
		return fmt.Errorf("the X server says %d bytes at once", more)
	}
	whole := append(head, make([]byte, more)...)
	if _, err := io.ReadFull(s.from, whole[len(head):]); err != nil {
		return err
	}
	if len(head) == 32 && head[0]&0x7f == genericEvent {
		if c := s.to.Load(); c != nil {
			c.generic(whole)
		}
		return nil
	}
	s.rest = whole
	return nil
}
