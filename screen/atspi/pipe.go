package atspi

import (
	"context"
	"errors"
	"net"
	"strings"
)

// inFlight is how many calls to one program are under way at once. It is enough
// to keep the program busy, and small enough for all of them to fit into the
// buffers of a socket, so that writing to a program that hangs does not block.
const inFlight = 256

// Interfaces of D-Bus and AT-SPI.
const (
	accessible   = "org.a11y.atspi.Accessible"
	application  = "org.a11y.atspi.Application"
	component    = "org.a11y.atspi.Component"
	editableText = "org.a11y.atspi.EditableText"
	selections   = "org.a11y.atspi.Selection"
	tables       = "org.a11y.atspi.Table"
	texts        = "org.a11y.atspi.Text"
	values       = "org.a11y.atspi.Value"
	properties   = "org.freedesktop.DBus.Properties"
)

// Why a program's tree was not read to its end.
var (
	errSilent = errors.New("no answer in time")
	errGone   = errors.New("program is gone")
)

// A reference names an accessible object: the program, by its name on the bus,
// and the object in it.
type reference struct {
	name string
	path string
}

// null reports whether the reference stands for "no object".
func (r reference) null() bool {
	return r.name == "" || r.path == "" || r.path == "/org/a11y/atspi/null"
}

// usualPath begins the paths of objects of all toolkits but GTK 4.
const usualPath = "/org/a11y/atspi/accessible/"

// key returns the reference as one short word; see [Node.Key].
func (r reference) key() string {
	if rest, ok := strings.CutPrefix(r.path, usualPath); ok {
		return r.name + "#" + rest
	}
	return r.name + r.path
}

// referenceOf reads what [reference.key] made.
func referenceOf(key string) (r reference, ok bool) {
	i := strings.IndexAny(key, "#/")
	if i <= 0 {
		return r, false
	}
	r = reference{key[:i], key[i:]}
	if rest, ok := strings.CutPrefix(r.path, "#"); ok {
		r.path = usualPath + rest
	}
	return r, !r.null()
}

// newReference reads a reference as it comes over the bus.
func newReference(v any) (reference, bool) {
	fields, _ := v.([]any)
	if len(fields) != 2 {
		return reference{}, false
	}
	name, _ := fields[0].(string)
	path, _ := fields[1].(string)
	r := reference{name, path}
	return r, !r.null()
}

// only reads an answer that is one reference.
func only(body []any) (reference, bool) {
	if len(body) == 0 {
		return reference{}, false
	}
	return newReference(body[0])
}

// A pipe makes calls to one program without waiting for the answer of one
// before sending the next. It belongs to one goroutine.
type pipe struct {
	*wire
	name    string // the program's name on the bus that the wire leads to; "" if it leads to the program
	waiting map[uint32]func(body []any)
	queue   []request
	calls   int // made so far
}

// A request is a call that has to wait for its turn.
type request struct {
	path, iface, member string
	args                []any
	then                func(body []any)
}

func newPipe(w *wire, name string) *pipe {
	return &pipe{wire: w, name: name, waiting: make(map[uint32]func([]any), inFlight)}
}

// ask calls a method of an object. While [pipe.run] runs, then is called with
// the answer, or with nothing if the call failed: objects come and go.
func (p *pipe) ask(of reference, iface, member string, then func(body []any), args ...any) {
	r := request{of.path, iface, member, args, then}
	if len(p.waiting) >= inFlight {
		p.queue = append(p.queue, r)
		return
	}
	p.send(r)
}

// property asks for a property of an object.
func (p *pipe) property(of reference, iface, name string, then func(value any)) {
	p.ask(of, properties, "Get", func(body []any) {
		if len(body) == 0 {
			body = []any{nil}
		}
		then(body[0])
	}, iface, name)
}

func (p *pipe) send(r request) {
	p.waiting[p.call(p.name, r.path, r.iface, r.member, r.args...)] = r.then
	p.calls++
}

// run sends what was asked and handles answers until none is due. It gives up
// with [errSilent] when the program hangs, and when ctx ends. The wire is of no use
// after an error.
func (p *pipe) run(ctx context.Context) error {
	stop := p.bound(ctx)
	defer stop()
	for len(p.waiting) > 0 {
		if p.in.Buffered() == 0 { // else there is more to take before we have to wait
			if err := p.flush(); err != nil {
				return cause(ctx, err)
			}
		}
		serial, body, err := p.message()
		if err != nil {
			return cause(ctx, err)
		}
		then, ok := p.waiting[serial]
		if !ok {
			continue // a signal, or what a bus says
		}
		delete(p.waiting, serial)
		then(body)
		for len(p.queue) > 0 && len(p.waiting) < inFlight {
			r := p.queue[0]
			p.queue = p.queue[1:]
			p.send(r)
		}
	}
	return nil
}

// cause tells why a wire failed: time is up, or the program is gone.
func cause(ctx context.Context, err error) error {
	var timeout net.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &timeout) && timeout.Timeout():
		return errSilent
	}
	return errGone
}

// first returns the first value of an answer if it has the type wanted.
func first[T any](body []any) (v T, ok bool) {
	if len(body) > 0 {
		v, ok = body[0].(T)
	}
	return v, ok
}
