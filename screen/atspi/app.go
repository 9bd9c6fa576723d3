package atspi

import (
	"context"
	"time"

	"github.com/godbus/dbus/v5"
)

// An app is a running program that has an accessibility tree.
type app struct {
	root    reference
	name    string // what it calls itself; "" until it has told
	pid     int
	toolkit string
	bus     *dbus.Conn
	address string          // for connections past the bus, which take a third less time; "" if it offers none
	direct  *dbus.Conn      // such a connection, or nil
	pending chan *dbus.Call // gets the answer of a program that hung; nil while it does not
}

// A reading is what one program gave in one observation.
type reading struct {
	name  string
	nodes []Node
	hung  bool
	calls int
}

// read reads the tree of the program. It never fails: a program that is gone
// has no nodes, one that hangs has those that it told until then.
func (a *app) read(parent context.Context, o Options) reading {
	if a.pending != nil {
		select {
		case <-a.pending:
			a.pending = nil
		default:
			return reading{name: a.label(), hung: true}
		}
	}
	ctx, cancel := context.WithTimeout(parent, o.AppTimeout)
	defer cancel()
	var nodes []Node
	calls := 0
	err := a.introduce(ctx, o.Silence)
	if err == nil {
		err = a.approach(ctx, o.Silence)
	}
	if err == nil {
		nodes, calls, err = a.walk(ctx, o)
	}
	switch {
	case parent.Err() != nil:
		a.close() // answers nobody waits for
	case err != nil:
		a.hang()
	}
	return reading{name: a.label(), nodes: nodes, hung: err != nil, calls: calls}
}

// label returns a name for the program, also if it never told one.
func (a *app) label() string {
	if a.name != "" {
		return a.name
	}
	return processName(a.pid, a.root.name)
}

// introduce asks a program that is new for its name and its address.
func (a *app) introduce(ctx context.Context, silence time.Duration) error {
	if a.pid == 0 {
		call := a.bus.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.GetConnectionUnixProcessID", 0, a.root.name)
		var pid uint32
		if call.Store(&pid) != nil {
			return ctx.Err() // gone already
		}
		a.pid = int(pid)
	}
	if a.name != "" {
		return nil
	}
	p := newPipe(a.root.name, nil, a.bus)
	p.call(a.root, application, "GetApplicationBusAddress", func(body []any) {
		a.address, _ = first[string](body)
	})
	p.property(a.root, application, "ToolkitName", func(v any) { a.toolkit, _ = v.(string) })
	p.property(a.root, accessible, "Name", func(v any) { a.name, _ = v.(string) })
	if err := p.run(ctx, silence); err != nil {
		return err
	}
	return nil
}

// approach connects to a program past the bus, if it offers that.
func (a *app) approach(ctx context.Context, silence time.Duration) error {
	if a.direct != nil && a.direct.Connected() || a.address == "" {
		return nil
	}
	near, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	direct, err := connect(near, a.address, false)
	if err != nil && near.Err() != nil {
		return errSilent
	}
	if err != nil {
		a.address = "" // of another user, or in another container: the bus will do
	}
	a.direct = direct
	return nil
}

// walk reads the tree, and returns what it has when the program hangs.
func (a *app) walk(ctx context.Context, o Options) ([]Node, int, error) {
	w := &walk{
		pipe: newPipe(a.root.name, a.direct, a.bus), root: a.root,
		// GTK 4 says of windows only whether they are showing. (GTK 3 is "gtk".)
		loose: a.toolkit == "GTK", maxNodes: o.MaxNodes, seen: map[reference]bool{},
	}
	w.start()
	err := w.run(ctx, o.Silence)
	out := assembler{app: a.name, pid: a.pid}
	for _, win := range w.windows {
		out.add(win, place{node: -1, clip: everywhere})
	}
	return out.nodes, w.calls, err
}

// hang notes that the program does not answer. It is asked for a sign of life,
// and left alone until that comes.
func (a *app) hang() {
	a.close()
	a.pending = make(chan *dbus.Call, 1)
	m := &dbus.Message{
		Type: dbus.TypeMethodCall,
		Headers: map[dbus.HeaderField]dbus.Variant{
			dbus.FieldDestination: dbus.MakeVariant(a.root.name),
			dbus.FieldPath:        dbus.MakeVariant(a.root.path),
			dbus.FieldInterface:   dbus.MakeVariant("org.freedesktop.DBus.Peer"),
			dbus.FieldMember:      dbus.MakeVariant("Ping"),
		},
	}
	a.bus.Send(m, a.pending)
}

// close ends the connection to the program.
func (a *app) close() {
	if a.direct != nil {
		a.direct.Close()
		a.direct = nil
	}
}
