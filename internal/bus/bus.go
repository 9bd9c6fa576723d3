// Package bus asks the session bus of a desktop, and the bus on which programs tell their
// accessibility trees, for what whoever reads, starts or judges a desktop wants to know:
//
//	conn, at, err := bus.ConnectAccessibility(ctx, session, true)
package bus

import (
	"context"
	"fmt"

	"github.com/godbus/dbus/v5"
)

// The launcher of the accessibility bus, on the session bus, and the registry of programs on
// that bus, whose root has them as its children; see
// https://gitlab.gnome.org/GNOME/at-spi2-core/-/tree/main/xml.
const (
	Launcher     = "org.a11y.Bus"
	Registry     = "org.a11y.atspi.Registry"
	RegistryRoot = "/org/a11y/atspi/accessible/root"
)

// Connect connects to a bus, of an address such as "unix:path=/run/bus". The context bounds
// the connecting, not the connection.
func Connect(ctx context.Context, address string) (*dbus.Conn, error) {
	alive, kill := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, kill) // ends a wait for an answer
	conn, err := dbus.Connect(address, dbus.WithContext(alive))
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		kill()
		return nil, err
	}
	return conn, nil
}

// ConnectAccessibility connects to the accessibility bus of the session whose bus has an
// address, and returns its own address too. See [Connect], and for enable [Accessibility].
func ConnectAccessibility(ctx context.Context, session string, enable bool) (conn *dbus.Conn, address string, err error) {
	s, err := Connect(ctx, session)
	if err != nil {
		return nil, "", fmt.Errorf("session bus: %w", err)
	}
	defer s.Close()
	if address, err = Accessibility(ctx, s, enable); err != nil {
		return nil, "", err
	}
	conn, err = Connect(ctx, address)
	return conn, address, err
}

// Accessibility returns the address of the accessibility bus of a session. To enable it tells
// programs that somebody listens: those that start from then on tell their trees.
func Accessibility(ctx context.Context, session *dbus.Conn, enable bool) (address string, err error) {
	launcher := session.Object(Launcher, "/org/a11y/bus")
	if enable {
		err := launcher.CallWithContext(ctx, "org.freedesktop.DBus.Properties.Set", 0,
			"org.a11y.Status", "IsEnabled", dbus.MakeVariant(true)).Err
		if err != nil {
			return "", fmt.Errorf("turn accessibility on: %w", err)
		}
	}
	if err := launcher.CallWithContext(ctx, "org.a11y.Bus.GetAddress", 0).Store(&address); err != nil {
		return "", fmt.Errorf("is at-spi2-core installed? %w", err)
	}
	return address, nil
}

// PID returns the process behind a name on a bus. The error is the bus's, which knows no such
// name, or the context's.
func PID(ctx context.Context, conn *dbus.Conn, name string) (int, error) {
	var pid uint32
	err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.GetConnectionUnixProcessID", 0, name).Store(&pid)
	return int(pid), err
}
