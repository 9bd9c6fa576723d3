package atspi

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"desktop-agent/internal/process"
)

// A wire is a D-Bus connection made for asking one program thousands of small
// questions: calls are collected and sent together, answers are taken as they
// come, and no goroutine is involved. It needs a sixth of the time that a
// general client needs for each call, which was more than half of the time
// that reading a tree took. Who speaks to a bus about anything else in this
// package uses godbus.
//
// The format is that of the D-Bus specification, chapter "Message Protocol":
// https://dbus.freedesktop.org/doc/dbus-specification.html.
type wire struct {
	conn    net.Conn
	silence silence       // that ends waiting
	ended   func() error  // tells why what is under way is not waited for any more
	in      *bufio.Reader // of what [wire.Read] reads
	out     []byte        // calls not sent yet
	serial  uint32        // of the last call
	frame   []byte        // room for the answer being read
}

// Numbers of the specification.
const (
	typeCall   = 1
	typeReturn = 2

	fieldPath        = 1
	fieldInterface   = 2
	fieldMember      = 3
	fieldReplySerial = 5
	fieldDestination = 6
	fieldSignature   = 8

	headSize = 16 // of a message: the fixed part, with the length of the header fields
)

const (
	maxMessage = 4 << 20   // bytes of the longest answer that is read
	maxSize    = 128 << 20 // and that there can be
)

// errGarbled reports an answer that is no D-Bus message.
var errGarbled = errors.New("garbled D-Bus message")

// openWire connects to a program, or to a bus, which has to be greeted: that is asked for
// as long as ctx allows. The silence is that of the program.
func openWire(ctx context.Context, address string, bus bool, s silence) (*wire, error) {
	path, err := socketPath(address)
	if err != nil {
		return nil, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	w := &wire{conn: conn}
	if !bus {
		w.silence = s
	}
	w.in = bufio.NewReaderSize(w, 64<<10)
	stop := w.bound(ctx)
	if err = w.authenticate(); err == nil && bus {
		err = w.greet("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello")
	} else if err == nil {
		// A program hangs up on other users only now.
		err = w.greet("", "/", "org.freedesktop.DBus.Peer", "Ping")
	}
	if !stop() {
		err = errors.Join(ctx.Err(), err)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	w.silence = s
	return w, nil
}

// socketPath returns the socket of a D-Bus address such as
// "unix:path=/run/bus,guid=0a1b".
func socketPath(address string) (string, error) {
	for server := range strings.SplitSeq(address, ";") {
		transport, keys, _ := strings.Cut(server, ":")
		if transport != "unix" {
			continue
		}
		for pair := range strings.SplitSeq(keys, ",") {
			key, value, _ := strings.Cut(pair, "=")
			value, err := url.PathUnescape(value)
			switch {
			case err != nil:
			case key == "path":
				return value, nil
			case key == "abstract":
				return "@" + value, nil
			}
		}
	}
	return "", fmt.Errorf("D-Bus address %q: no unix socket in it", address)
}

// bound makes reading and writing fail when ctx ends, until stop is called,
// which reports whether that has not happened.
func (w *wire) bound(ctx context.Context) (stop func() bool) {
	w.ended = ctx.Err
	return context.AfterFunc(ctx, func() { w.conn.SetDeadline(time.Unix(1, 0)) })
}

// A silence tells when a program hangs: it answers nothing for so long while neither it nor
// the server of its display, for which it may wait, wants a processor; see [process.Watch].
// When one does, there is a new limit from then on.
type silence struct {
	limit       time.Duration // 0: it never does
	pid, server int           // of the two; 0 for one that is not known: then that wants none
}

// Read reads what was sent to us, or fails with [os.ErrDeadlineExceeded] after a silence.
func (w *wire) Read(b []byte) (n int, err error) {
	err = w.wait(func() error { n, err = w.conn.Read(b); return err })
	return n, err
}

// Write sends to the program or the bus, which may be silent for as long before it takes it.
func (w *wire) Write(b []byte) (n int, err error) {
	err = w.wait(func() error {
		sent, err := w.conn.Write(b[n:])
		n += sent
		return err
	})
	return n, err
}

// wait reads or writes again and again until that is done, or after a silence.
func (w *wire) wait(do func() error) error {
	watch := process.Watch{PIDs: []int{w.silence.pid, w.silence.server}}
	for {
		var deadline time.Time
		if w.silence.limit > 0 {
			deadline = time.Now().Add(w.silence.limit / process.Looks)
		}
		w.conn.SetDeadline(deadline)
		if err := w.ended(); err != nil {
			return err // else the deadline that is over would be forgotten
		}
		err := do()
		if !errors.Is(err, os.ErrDeadlineExceeded) || w.ended() != nil {
			return err
		}
		if watch.Idle() == process.Looks {
			return err
		}
	}
}

// authenticate says who we are, which the kernel vouches for.
func (w *wire) authenticate() error {
	user := hex.EncodeToString([]byte(strconv.Itoa(os.Geteuid())))
	if _, err := io.WriteString(w, "\x00AUTH EXTERNAL "+user+"\r\n"); err != nil {
		return err
	}
	line, err := w.in.ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(line, "OK ") {
		return fmt.Errorf("D-Bus authentication: %q", line)
	}
	_, err = io.WriteString(w, "BEGIN\r\n")
	return err
}

// greet makes the first call and waits for its answer. Of a bus it asks for a
// name, which it wants before all else.
func (w *wire) greet(destination, path, iface, member string) error {
	hello := w.call(destination, path, iface, member)
	if err := w.flush(); err != nil {
		return err
	}
	for {
		if serial, _, err := w.message(); err != nil || serial == hello {
			return err
		}
	}
}

// call adds a call to those to be sent, and returns its number. The destination
// is the name of a program on a bus, or "". An argument is a string, an int32
// or a uint32.
func (w *wire) call(destination, path, iface, member string, args ...any) uint32 {
	w.serial++
	e := encoder{b: w.out, start: len(w.out)}
	e.b = append(e.b, 'l', typeCall, 0, 1, 0, 0, 0, 0)
	e.uint32(w.serial)
	e.uint32(0) // the length of the fields, below
	e.field(fieldPath, 'o', path)
	e.field(fieldInterface, 's', iface)
	e.field(fieldMember, 's', member)
	if destination != "" {
		e.field(fieldDestination, 's', destination)
	}
	if len(args) > 0 {
		e.signature(args)
	}
	binary.LittleEndian.PutUint32(e.b[e.start+12:], uint32(len(e.b)-e.start-headSize))
	e.align(8)
	body := len(e.b)
	for _, a := range args {
		switch a := a.(type) {
		case string:
			e.string(a)
		case int32:
			e.uint32(uint32(a))
		case uint32:
			e.uint32(a)
		}
	}
	binary.LittleEndian.PutUint32(e.b[e.start+4:], uint32(len(e.b)-body))
	w.out = e.b
	return w.serial
}

// flush sends the calls that were collected.
func (w *wire) flush() error {
	if len(w.out) == 0 {
		return nil
	}
	_, err := w.Write(w.out)
	w.out = w.out[:0]
	return err
}

// message reads one message. For an answer it returns the number of the call,
// and what the answer holds: nothing if it is an error. For others, such as
// signals, the number is 0.
func (w *wire) message() (reply uint32, body []any, err error) {
	var head [headSize]byte
	if _, err := io.ReadFull(w.in, head[:]); err != nil {
		return 0, nil, err
	}
	d := decoder{order: binary.LittleEndian}
	if head[0] == 'B' {
		d.order = binary.BigEndian
	} else if head[0] != 'l' {
		return 0, nil, errGarbled
	}
	size, fields := d.order.Uint32(head[4:]), d.order.Uint32(head[12:])
	if size > maxSize || fields > maxMessage {
		return 0, nil, errGarbled
	}
	padded := int(fields+7) &^ 7
	skip := 0
	if size > maxMessage { // as if the call had failed
		skip, size = int(size), 0
		head[1] = 0
	}
	if need := padded + int(size); cap(w.frame) < need {
		w.frame = make([]byte, need)
	}
	d.b = w.frame[:padded+int(size)]
	if _, err := io.ReadFull(w.in, d.b); err != nil {
		return 0, nil, err
	}
	if _, err := w.in.Discard(skip); err != nil {
		return 0, nil, err
	}
	signature := ""
	for d.at < int(fields) && d.err == nil {
		d.align(8)
		code, value := d.byte(), d.variant(0)
		switch v := value.(type) {
		case uint32:
			if code == fieldReplySerial {
				reply = v
			}
		case string:
			if code == fieldSignature {
				signature = v
			}
		}
	}
	d.b, d.at = d.b[padded:], 0 // the body is aligned on its own
	for head[1] == typeReturn && signature != "" && d.err == nil {
		var one string
		one, signature = cutType(signature)
		body = append(body, d.value(one, 0))
	}
	return reply, body, d.err
}
