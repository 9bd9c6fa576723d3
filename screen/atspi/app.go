package atspi

import (
	"context"
	"errors"

	"github.com/godbus/dbus/v5"

	"desktop-agent/internal/bus"
)

// An app is a running program that has an accessibility tree.
type app struct {
	root    reference
	bus     *dbus.Conn // the accessibility bus
	address string     // of the accessibility bus

	known   bool   // the program was asked for what follows
	name    string // what it calls itself
	pid     int
	toolkit string
	direct  string // its own address, past the bus, which saves a third of the time; "" if it has none

	wire   *wire                 // to the program, or to the bus; nil if it has to be opened
	places map[string]knownPlace // of what the last tree had, by the keys of the objects
	over   map[pair]answer       // of parts of pages in the last tree

	pending chan *dbus.Call // gets the answer of a program that hung; nil while it does not
	hung    error           // why it was given up
}

// A reading is what one program gave in one observation.
type reading struct {
	program Program
	nodes   []Node
	hung    error // why the program was given up; nil if it was not
	calls   int
}

// read reads the tree of the program. It never fails: a program that is gone
// has no nodes, one that hangs has those that it told until then.
func (a *app) read(parent context.Context, o Options) reading {
	if a.pending != nil {
		select {
		case <-a.pending:
			a.pending = nil
		default:
			return reading{program: a.program(), hung: a.hung}
		}
	}
	ctx, cancel := context.WithTimeout(parent, o.AppTimeout)
	defer cancel()
	var nodes []Node
	calls := 0
	err := a.introduce(ctx, o)
	if err == nil {
		nodes, calls, err = a.walk(ctx, o)
	}
	if err != nil {
		a.close() // answers may be under way that nobody waits for
	}
	if errors.Is(err, errGone) || parent.Err() != nil {
		err = nil
	}
	if a.hung = err; err != nil {
		a.knock()
	}
	return reading{program: a.program(), nodes: nodes, hung: err, calls: calls}
}

// program returns which program it is, with a name also if it never told one.
func (a *app) program() Program {
	if a.name != "" {
		return Program{a.name, a.pid}
	}
	return Program{processName(a.pid, a.root.name), a.pid}
}

// introduce asks a program that is new for its name and its address, and
// connects to it.
func (a *app) introduce(ctx context.Context, o Options) error {
	if a.pid == 0 {
		var err error
		if a.pid, err = bus.PID(ctx, a.bus, a.root.name); err != nil {
			return cause(ctx, errGone)
		}
	}
	if !a.known {
		if err := a.meet(ctx, o); err != nil {
			return err
		}
	}
	if a.wire != nil {
		return nil
	}
	if a.direct != "" {
		var err error
		if a.wire, err = openWire(ctx, a.direct, false, a.silence(o)); err == nil {
			return nil
		}
		if err = cause(ctx, err); !errors.Is(err, errGone) {
			return err
		}
		a.direct = "" // of another user, or in another container: the bus will do
	}
	var err error
	a.wire, err = openWire(ctx, a.address, true, a.silence(o))
	return err
}

// silence is the one of the program.
func (a *app) silence(o Options) silence { return silence{o.Silence, a.pid, o.Server} }

// meet asks a program over the bus who it is.
func (a *app) meet(ctx context.Context, o Options) error {
	w, err := openWire(ctx, a.address, true, a.silence(o))
	if err != nil {
		return err
	}
	defer w.conn.Close()
	p := newPipe(w, a.root.name)
	p.property(a.root, accessible, "Name", func(v any) { a.name, _ = v.(string) })
	p.property(a.root, application, "ToolkitName", func(v any) { a.toolkit, _ = v.(string) })
	p.ask(a.root, application, "GetApplicationBusAddress", func(body []any) { a.direct, _ = first[string](body) })
	err = p.run(ctx)
	a.known = err == nil
	return err
}

// newWalk makes a walk that has seen nothing.
func (a *app) newWalk(o Options) *walk {
	p := newPipe(a.wire, a.root.name)
	if a.direct != "" {
		p.name = ""
	}
	return &walk{
		pipe: p, root: a.root,
		// GTK 4 says of windows only whether they are showing. (GTK 3 is "gtk".)
		loose:    a.toolkit == "GTK",
		qt:       a.toolkit == "Qt",
		chromium: a.toolkit == "Chromium",
		maxNodes: o.MaxNodes, seen: map[reference]*object{},
	}
}

// walk reads the tree, and returns what it has when the program hangs.
func (a *app) walk(ctx context.Context, o Options) ([]Node, int, error) {
	w := a.newWalk(o)
	w.start()
	err := w.run(ctx)
	if err == nil {
		labels, edges, flows := w.askLabels(), w.askEdges(), w.askFlows()
		if labels || edges || flows {
			err = w.run(ctx)
		}
	}
	if err == nil && len(w.strangers) > 0 {
		err = a.visit(ctx, o, w)
	}
	out := assembler{app: a.name, pid: a.pid, windows: w.windows, loose: w.loose}
	out.assemble()
	a.places = out.places()
	if err == nil && w.chromium {
		err = a.layers(ctx, w, out.nodes)
	}
	return out.nodes, w.calls, err
}

// visit reads those parts of a tree that other programs give, such as the
// process of a browser that draws a page.
func (a *app) visit(ctx context.Context, o Options, w *walk) error {
	wire, err := openWire(ctx, a.address, true, silence{limit: o.Silence, server: o.Server})
	if err != nil {
		return err
	}
	defer wire.conn.Close()
	for _, host := range w.strangers {
		wire.silence.pid, _ = bus.PID(ctx, a.bus, host.ref.name) // one that is gone answers nothing either
		sub := &walk{
			pipe: newPipe(wire, host.ref.name), root: reference{name: host.ref.name},
			maxNodes: o.MaxNodes, seen: w.seen, shown: w.shown,
		}
		sub.examine(host)
		if err := sub.run(ctx); err != nil {
			return err
		}
		w.shown, w.calls = sub.shown, w.calls+sub.calls
	}
	return nil
}

// knock asks a program that does not answer for a sign of life. It is left
// alone until that comes.
func (a *app) knock() {
	a.pending = make(chan *dbus.Call, 1)
	a.bus.Object(a.root.name, dbus.ObjectPath(a.root.path)).Go("org.freedesktop.DBus.Peer.Ping", 0, a.pending)
}

// close ends the connection to the program.
func (a *app) close() {
	if a.wire != nil {
		a.wire.conn.Close()
		a.wire = nil
	}
}
