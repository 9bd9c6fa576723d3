//go:build unix

package x11

import (
	"fmt"
	"io"
	"log"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// The library keeps one table of event and error decoders for the whole
// process, which its extensions write when a connection starts to use them,
// while other connections read it. Two displays may also number their events
// differently. So the tables are filled once, before any connection exists,
// with decoders that keep the bytes, and each Conn decodes its own events.
// The library's log, which goes to stderr, is silenced at the same time: all
// it has to say is returned as an error as well.
var _ = prepare()

func prepare() bool {
	xgb.Logger = log.New(io.Discard, "", 0)
	for code := 64; code < 128; code++ {
		xgb.NewEventFuncs[code] = newRawEvent
	}
	for code := 128; code < 256; code++ {
		xgb.NewErrorFuncs[code] = newRawError
	}
	return true
}

// A rawEvent is an event of an extension, not decoded yet.
type rawEvent []byte

func newRawEvent(b []byte) xgb.Event { return rawEvent(b) }

func (e rawEvent) Bytes() []byte  { return e }
func (e rawEvent) String() string { return fmt.Sprintf("event %d", e[0]&0x7f) }

// A rawError is an error of an extension.
type rawError struct {
	code, minor, major byte
	sequence           uint16
	id                 uint32
}

func newRawError(b []byte) xgb.Error {
	return rawError{code: b[1], sequence: xgb.Get16(b[2:]), id: xgb.Get32(b[4:]), minor: b[8], major: b[10]}
}

func (e rawError) SequenceId() uint16 { return e.sequence }
func (e rawError) BadId() uint32      { return e.id }
func (e rawError) Error() string {
	return fmt.Sprintf("X error %d in request %d.%d", e.code, e.major, e.minor)
}

// Extension prepares an extension of the protocol for use over the
// connection: name is its X name, such as "DAMAGE". It must be called instead of
// the Init function of the extension's package, whose requests and events work
// afterwards. The version must still be asked for where the protocol wants it.
func (c *Conn) Extension(name string) error {
	reply, err := xproto.QueryExtension(c.Conn, uint16(len(name)), name).Reply()
	if err != nil {
		return fmt.Errorf("extension %s: %w", name, err)
	}
	if !reply.Present {
		return fmt.Errorf("extension %s: the X server does not have it", name)
	}
	c.ExtLock.Lock()
	c.Extensions[name] = reply.MajorOpcode
	c.ExtLock.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	for n, decode := range xgb.NewExtEventFuncs[name] {
		if n >= 0 { // some packages register pseudo events below 0
			c.decoders[reply.FirstEvent+byte(n)] = decode
		}
	}
	return nil
}

// decode turns the bytes of an extension's event into its type; nil for an
// event that nobody asked for.
func (c *Conn) decode(e xgb.Event) xgb.Event {
	raw, ok := e.(rawEvent)
	if !ok {
		return e
	}
	if decode, ok := c.decoders[raw[0]&0x7f]; ok {
		return decode(raw)
	}
	return nil
}
