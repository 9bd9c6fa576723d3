//go:build unix && !darwin

package record

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"desktop-agent/internal/x11"
)

// The data of a RECORD context comes as many replies to one request, which the
// library cannot take: after the first one its connection is stuck. So a bare
// connection takes them. Its set-up is in the X protocol specification, section
// 8: https://www.x.org/releases/current/doc/xproto/x11protocol.html

// A wire is a bare connection to an X server, with little-endian numbers.
type wire struct {
	net.Conn
	in *bufio.Reader
}

// dialWire connects to a display as the library does.
func dialWire(ctx context.Context, display string) (*wire, error) {
	at, err := x11.ParseDisplay(display)
	if err != nil {
		return nil, err
	}
	conn, err := at.Dial(ctx)
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	err = w.greet(at)
	if !stop() {
		err = errors.Join(err, context.Cause(ctx))
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return w, nil
}

// greet does the set-up of the connection.
func (w *wire) greet(at x11.Display) error {
	var name string
	data := at.Cookie()
	if data != nil {
		name = x11.CookieName
	}
	head := make([]byte, 12)
	head[0] = 'l' // little-endian
	binary.LittleEndian.PutUint16(head[2:], 11)
	binary.LittleEndian.PutUint16(head[6:], uint16(len(name)))
	binary.LittleEndian.PutUint16(head[8:], uint16(len(data)))
	head = append(append(head, padded([]byte(name))...), padded(data)...)
	if _, err := w.Write(head); err != nil {
		return err
	}
	answer := make([]byte, 8)
	if _, err := io.ReadFull(w.in, answer); err != nil {
		return err
	}
	body := make([]byte, 4*int(binary.LittleEndian.Uint16(answer[6:])))
	if _, err := io.ReadFull(w.in, body); err != nil {
		return err
	}
	if answer[0] != 1 {
		return fmt.Errorf("the X server refuses the connection: %s", body[:min(int(answer[1]), len(body))])
	}
	return nil
}

func padded(b []byte) []byte { return append(b[:len(b):len(b)], make([]byte, (4-len(b)%4)%4)...) }

// request sends a request of whole words.
func (w *wire) request(major, minor byte, body []byte) error {
	head := []byte{major, minor, 0, 0}
	binary.LittleEndian.PutUint16(head[2:], uint16(1+len(body)/4))
	_, err := w.Write(append(head, body...))
	return err
}

// maxReply is the longest reply that is read, in bytes.
const maxReply = 1 << 20

// reply reads the next reply: its first 32 bytes, and what follows. Events,
// which every client may get, are left out.
func (w *wire) reply() (head, data []byte, err error) {
	head = make([]byte, 32)
	for {
		if _, err := io.ReadFull(w.in, head); err != nil {
			return nil, nil, err
		}
		switch {
		case head[0] == 0:
			return nil, nil, fmt.Errorf("request %d.%d: X error %d", head[10], binary.LittleEndian.Uint16(head[8:]), head[1])
		case head[0] == 1:
			n := 4 * int64(binary.LittleEndian.Uint32(head[4:]))
			if n > maxReply {
				return nil, nil, fmt.Errorf("a reply of %d bytes", n)
			}
			data = make([]byte, n)
			_, err = io.ReadFull(w.in, data)
			return head, data, err
		case head[0]&0x7f == 35: // a generic event has a length
			if _, err := io.CopyN(io.Discard, w.in, 4*int64(binary.LittleEndian.Uint32(head[4:]))); err != nil {
				return nil, nil, err
			}
		}
	}
}
