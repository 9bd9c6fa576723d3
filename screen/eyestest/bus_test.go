//go:build linux

package eyestest

import (
	"image"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/stretchr/testify/require"
)

// Interfaces of AT-SPI.
const (
	accessible = "org.a11y.atspi.Accessible"
	component  = "org.a11y.atspi.Component"
)

// A busOracle asks programs over the accessibility bus what is at a point. It
// shares nothing with package atspi.
type busOracle struct {
	t    *testing.T
	conn *dbus.Conn
}

// An object is an accessible object on the bus.
type object struct {
	Name string // of the program on the bus
	Path dbus.ObjectPath
}

const nullPath = "/org/a11y/atspi/null"

func newBusOracle(t *testing.T, session string) *busOracle {
	t.Helper()
	s, err := dbus.Connect(session)
	require.NoError(t, err)
	defer s.Close()
	var address string
	require.NoError(t, s.Object("org.a11y.Bus", "/org/a11y/bus").CallWithContext(brief(t), "org.a11y.Bus.GetAddress", 0).Store(&address))
	conn, err := dbus.Connect(address)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return &busOracle{t, conn}
}

func (b *busOracle) call(o object, method string, to any, args ...any) bool {
	return b.conn.Object(o.Name, o.Path).CallWithContext(brief(b.t), method, 0, args...).Store(to) == nil
}

func (b *busOracle) children(o object) (list []object) {
	b.call(o, accessible+".GetChildren", &list)
	return list
}

func (b *busOracle) hit(o object) hit {
	var role string
	var name dbus.Variant
	b.call(o, accessible+".GetRoleName", &role)
	b.call(o, "org.freedesktop.DBus.Properties.Get", &name, accessible, "Name")
	text, _ := name.Value().(string)
	return hit{role: role, name: strings.TrimSpace(text), path: string(o.Path)}
}

// showing reports whether an object says to be on the screen.
func (b *busOracle) showing(o object) bool {
	var words []uint32
	return b.call(o, accessible+".GetState", &words) && len(words) > 0 && words[0]>>25&1 == 1
}

// at asks the windows of a program for the innermost object at a point.
func (b *busOracle) at(pid int, p image.Point) chain {
	var best chain
	for _, app := range b.children(object{"org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root"}) {
		var owner uint32
		if b.conn.BusObject().CallWithContext(brief(b.t), "org.freedesktop.DBus.GetConnectionUnixProcessID", 0, app.Name).Store(&owner) != nil || int(owner) != pid {
			continue
		}
		for _, window := range b.children(app) {
			if !b.showing(window) {
				continue
			}
			if c := b.descend(window, p); len(c) > len(best) {
				best = c
			}
		}
	}
	return best
}

// descend asks an object what is at a point, then that one, and so on; and the
// innermost for what holds it, as some programs tell the innermost at once.
func (b *busOracle) descend(o object, p image.Point) (c chain) {
	seen := map[object]bool{}
	for last := o; !seen[o] && o.Path != nullPath; last = o {
		seen[o] = true
		if !b.call(o, component+".GetAccessibleAtPoint", &o, int32(p.X), int32(p.Y), uint32(0)) || o.Path == nullPath {
			o = last
			break
		}
	}
	for range 40 {
		h := b.hit(o)
		if h.role == "" || h.role == "application" || h.role == "desktop frame" {
			break
		}
		c = append(c, h)
		var parent dbus.Variant
		if !b.call(o, "org.freedesktop.DBus.Properties.Get", &parent, accessible, "Parent") {
			break
		}
		if err := dbus.Store([]any{parent.Value()}, &o); err != nil || o.Path == nullPath {
			break
		}
	}
	return c
}
