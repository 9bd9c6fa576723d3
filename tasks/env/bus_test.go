//go:build linux

package env_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"desktop-agent/tasks/env"

	"github.com/godbus/dbus/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The accessibility bus of a task, which is outside of its processes, takes no environment
// for what it starts from the task's programs, and has the task's network.
func TestAccessibilityBusIsGuarded(t *testing.T) {
	need(t, "dbus-send")
	need(t, "gdbus")
	e := isolated(t, nil)
	const call = `address=$(gdbus call --session --dest org.a11y.Bus --object-path /org/a11y/bus --method org.a11y.Bus.GetAddress | cut -d "'" -f 2)
for member in ListNames "UpdateActivationEnvironment dict:string:string:LD_PRELOAD,/home/user/x.so"; do
	dbus-send --bus="$address" --print-reply --dest=org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus.$member 2>&1
done`
	said := run(t, e, call)
	assert.Contains(t, said, `string "org.a11y.atspi.Registry"`, "the probe reaches the bus")
	assert.Contains(t, said, "org.freedesktop.DBus.Error.AccessDenied")
	bus := accessibilityBus(t, e)
	for _, method := range []string{"org.freedesktop.DBus.UpdateActivationEnvironment", "UpdateActivationEnvironment"} {
		err := bus.BusObject().Call(method, 0, map[string]string{"LD_PRELOAD": "/home/user/x.so"}).Err
		require.ErrorContains(t, err, "Rejected send message", method)
	}

	home, err := e.Host("/home/user")
	require.NoError(t, err)
	ours, err := os.Readlink("/proc/self/ns/net")
	require.NoError(t, err)
	parts := 0
	for _, line := range carriers(filepath.Base(filepath.Dir(home))) {
		pid, command, _ := strings.Cut(line, " ")
		if !strings.Contains(command, "at-spi") || strings.Contains(command, "/bin/sh") {
			continue
		}
		parts++
		theirs, err := os.Readlink("/proc/" + pid + "/ns/net")
		require.NoError(t, err)
		assert.NotEqual(t, ours, theirs, command)
	}
	assert.GreaterOrEqual(t, parts, 3, "the launcher, its bus and the registry")
}

// accessibilityBus connects to that of a task, until the test ends.
func accessibilityBus(t *testing.T, e *env.Env) *dbus.Conn {
	t.Helper()
	session, err := dbus.Connect(e.BusAddress())
	require.NoError(t, err)
	defer session.Close()
	var address string
	require.NoError(t, session.Object("org.a11y.Bus", "/org/a11y/bus").Call("org.a11y.Bus.GetAddress", 0).Store(&address))
	bus, err := dbus.Connect(address)
	require.NoError(t, err)
	t.Cleanup(func() { bus.Close() })
	return bus
}
