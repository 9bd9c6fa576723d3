package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/godbus/dbus/v5"

	"desktop-agent/internal/bus"
)

// startBus starts the session bus and returns when it listens.
func (d *Desktop) startBus(ctx context.Context) error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	config := filepath.Join(d.folder, "etc", "bus.conf")
	bus, err := d.part(d.guest(command{
		name: "session bus (dbus-daemon)", path: d.tools.bus, files: []*os.File{write},
		args: []string{"--config-file=" + config, "--nofork", "--nopidfile", "--nosyslog", "--print-address=3"},
	}))
	write.Close()
	if err != nil {
		return err
	}
	address, err := readLine(ctx, read)
	if err != nil {
		return fmt.Errorf("session bus: %w", err)
	}
	if !strings.HasPrefix(address, "unix:") {
		if err := await(ctx, bus.exited); err != nil {
			return err
		}
		return &DiedError{Part: bus.name, Status: bus.status, Output: bus.lastOutput()}
	}
	return nil
}

// startAccessibility starts the accessibility bus, turns accessibility on, and
// returns when the registry of programs answers. It needs the display.
func (d *Desktop) startAccessibility(ctx context.Context) error {
	conn, err := bus.Connect(ctx, d.bus)
	if err != nil {
		return fmt.Errorf("session bus: %w", err)
	}
	defer conn.Close()
	// What the bus starts on demand needs the display too.
	env := map[string]string{}
	for _, pair := range d.GuestEnv() {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	if call := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.UpdateActivationEnvironment", 0, env); call.Err != nil {
		return fmt.Errorf("session bus: %w", call.Err)
	}
	if err := d.launchAccessibility(ctx, conn); err != nil {
		return fmt.Errorf("accessibility bus: %w", err)
	}
	address, err := bus.Accessibility(ctx, conn, true)
	if err != nil {
		return fmt.Errorf("accessibility bus: %w", err)
	}
	if err := d.watchRegistry(ctx, address); err != nil {
		return fmt.Errorf("accessibility registry: %w", err)
	}
	return nil
}

// launchAccessibility starts the launcher of the accessibility bus and waits
// until it has its name on the session bus. To call it earlier would make the
// session bus start a second one.
func (d *Desktop) launchAccessibility(ctx context.Context, conn *dbus.Conn) error {
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	if err := watchOwner(ctx, conn, bus.Launcher); err != nil {
		return err
	}
	_, err := d.part(d.through(d.entered.Files, command{
		name: "accessibility bus (at-spi-bus-launcher)", path: d.tools.accessibility,
		args: []string{"--launch-immediately"},
	}))
	if err != nil {
		return err
	}
	for {
		select {
		case s, ok := <-signals:
			if !ok {
				return dbus.ErrClosed
			}
			if owner, ok := newOwner(s, bus.Launcher); ok && owner != "" {
				return nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// watchRegistry asks the registry which programs it knows, which makes the bus
// start it, and from then on watches that it stays: one that starts anew has
// forgotten every program.
func (d *Desktop) watchRegistry(ctx context.Context, address string) error {
	conn, err := bus.Connect(ctx, address)
	if err != nil {
		return err
	}
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	err = watchOwner(ctx, conn, bus.Registry)
	if err == nil {
		err = conn.Object(bus.Registry, bus.RegistryRoot).CallWithContext(ctx, "org.a11y.atspi.Accessible.GetChildren", 0).Err
	}
	if err != nil {
		conn.Close()
		return err
	}
	d.mu.Lock()
	d.registry = conn
	d.mu.Unlock()
	d.watch.Go(func() {
		for s := range signals { // until Close, or until the bus ends
			if owner, ok := newOwner(s, bus.Registry); ok && owner == "" {
				d.fail(&DiedError{Part: "accessibility registry (at-spi2-registryd)", Status: "it left the bus"})
			}
		}
	})
	return nil
}

// watchOwner asks a bus to tell when a name gets or loses its owner.
func watchOwner(ctx context.Context, conn *dbus.Conn, name string) error {
	return conn.AddMatchSignalContext(ctx, dbus.WithMatchInterface("org.freedesktop.DBus"),
		dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, name))
}

// newOwner returns who owns a name from now on, "" for nobody; false if the
// signal says nothing about it.
func newOwner(s *dbus.Signal, name string) (owner string, ok bool) {
	if s.Name != "org.freedesktop.DBus.NameOwnerChanged" || len(s.Body) != 3 || s.Body[0] != name {
		return "", false
	}
	owner, ok = s.Body[2].(string)
	return owner, ok
}

// readLine reads one line of a pipe that may stay open.
func readLine(ctx context.Context, pipe *os.File) (string, error) {
	stop := context.AfterFunc(ctx, func() { pipe.Close() })
	defer stop()
	var line []byte
	buf := make([]byte, 256)
	for {
		n, err := pipe.Read(buf)
		line = append(line, buf[:n]...)
		switch {
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case strings.HasSuffix(string(line), "\n") || err != nil:
			return strings.TrimSpace(string(line)), nil
		}
	}
}
