package atspi

import (
	"context"
	"errors"
	"time"

	"github.com/godbus/dbus/v5"
)

// inFlight is how many calls to one program are under way at once. It is enough
// to keep the program busy, and small enough for all of them to fit into the
// buffers of a socket, so that writing to a program that hangs does not block.
const inFlight = 256

// Interfaces of D-Bus and AT-SPI.
const (
	accessible  = "org.a11y.atspi.Accessible"
	application = "org.a11y.atspi.Application"
	component   = "org.a11y.atspi.Component"
	tables      = "org.a11y.atspi.Table"
	texts       = "org.a11y.atspi.Text"
	values      = "org.a11y.atspi.Value"
	properties  = "org.freedesktop.DBus.Properties"
)

// errSilent reports a program that stopped answering.
var errSilent = errors.New("no answer in time")

// A reference names an accessible object: the program, by its name on the bus,
// and the object in it.
type reference struct {
	name string
	path dbus.ObjectPath
}

// null reports whether the reference stands for "no object".
func (r reference) null() bool {
	return r.name == "" || r.path == "" || r.path == "/org/a11y/atspi/null"
}

// newReference reads a reference as it comes over the bus.
func newReference(v any) (reference, bool) {
	fields, _ := v.([]any)
	if len(fields) != 2 {
		return reference{}, false
	}
	name, _ := fields[0].(string)
	path, _ := fields[1].(dbus.ObjectPath)
	r := reference{name, path}
	return r, !r.null()
}

// A pipe makes calls to one program without waiting for the answer of one
// before sending the next. It belongs to one goroutine.
type pipe struct {
	name   string     // the program's name on the bus
	direct *dbus.Conn // to the program, past the bus; nil if it has none
	bus    *dbus.Conn

	done    chan *dbus.Call // never blocks a sender: it has room for all calls under way
	waiting map[*dbus.Call]func(body []any)
	queue   []request
	calls   int // made so far
}

type request struct {
	to            reference
	iface, member string
	args          []any
	then          func(body []any)
}

func newPipe(name string, direct, bus *dbus.Conn) *pipe {
	return &pipe{
		name: name, direct: direct, bus: bus,
		done:    make(chan *dbus.Call, inFlight),
		waiting: make(map[*dbus.Call]func([]any), inFlight),
	}
}

// call calls a method of an object. While [pipe.run] runs, then is called with
// the answer, or with nothing if the call failed: objects come and go.
func (p *pipe) call(to reference, iface, member string, then func(body []any), args ...any) {
	r := request{to, iface, member, args, then}
	if len(p.waiting) >= inFlight {
		p.queue = append(p.queue, r)
		return
	}
	p.send(r)
}

// property asks for a property of an object.
func (p *pipe) property(of reference, iface, name string, then func(value any)) {
	p.call(of, properties, "Get", func(body []any) {
		v, _ := first[dbus.Variant](body)
		then(v.Value())
	}, iface, name)
}

func (p *pipe) send(r request) {
	m := &dbus.Message{
		Type: dbus.TypeMethodCall,
		Headers: map[dbus.HeaderField]dbus.Variant{
			dbus.FieldPath:      dbus.MakeVariant(r.to.path),
			dbus.FieldInterface: dbus.MakeVariant(r.iface),
			dbus.FieldMember:    dbus.MakeVariant(r.member),
		},
		Body: r.args,
	}
	if len(r.args) > 0 {
		m.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(r.args...))
	}
	conn := p.direct
	if conn == nil || r.to.name != p.name {
		conn = p.bus
		m.Headers[dbus.FieldDestination] = dbus.MakeVariant(r.to.name)
	}
	p.waiting[conn.Send(m, p.done)] = r.then
	p.calls++
}

// run handles answers until none is due. It gives up with [errSilent] when
// none came for the time given, and when ctx ends.
func (p *pipe) run(ctx context.Context, silence time.Duration) error {
	timer := time.NewTimer(silence)
	defer timer.Stop()
	for len(p.waiting) > 0 {
		select {
		case c := <-p.done:
			then := p.waiting[c]
			delete(p.waiting, c)
			if c.Err != nil {
				then(nil)
			} else {
				then(c.Body)
			}
			timer.Reset(silence)
		case <-timer.C:
			return errSilent
		case <-ctx.Done():
			return ctx.Err()
		}
		for len(p.queue) > 0 && len(p.waiting) < inFlight {
			r := p.queue[0]
			p.queue = p.queue[1:]
			p.send(r)
		}
	}
	return nil
}

// first returns the first value of an answer if it has the type wanted.
func first[T any](body []any) (v T, ok bool) {
	if len(body) > 0 {
		v, ok = body[0].(T)
	}
	return v, ok
}
