//go:build linux

package sandbox_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"desktop-agent/sandbox"

	"github.com/stretchr/testify/require"
)

// printed runs a command to its end and returns what it printed.
func printed(t *testing.T, d *sandbox.Desktop, c sandbox.Command) string {
	t.Helper()
	p, err := d.Launch(c)
	require.NoError(t, err)
	<-p.Done()
	require.NoError(t, p.Err())
	return p.Output()
}

// Programs and the session bus are started through the way into the guest's
// container, and nothing else is.
func TestGuest(t *testing.T) {
	entered := 0
	d := start(t, &sandbox.Options{Guest: &sandbox.Guest{Enter: func(_ context.Context, d *sandbox.Desktop) (sandbox.Entrance, error) {
		entered++
		require.NotEmpty(t, d.Display())
		require.DirExists(t, d.Folder())
		require.Equal(t, "early\n", printed(t, d, sandbox.Command{Args: []string{"echo", "early"}, Outside: true}))
		return sandbox.Entrance{Prefix: []string{"/usr/bin/env", "THROUGH=yes"}, Env: []string{"HOME=/guest"}}, nil
	}}})
	require.Equal(t, 1, entered)
	require.Equal(t, "yes /guest extra\n", printed(t, d, sandbox.Command{Args: []string{"sh", "-c", "echo $THROUGH $HOME $MORE"}, Env: []string{"MORE=extra"}}))
	require.Equal(t, d.Home()+"\n", printed(t, d, sandbox.Command{Args: []string{"sh", "-c", "echo $THROUGH$HOME"}, Outside: true}))
	require.NotContains(t, printed(t, d, sandbox.Command{Args: []string{"env"}, Outside: true}), "THROUGH")
	require.Contains(t, d.GuestEnv(), "HOME=/guest")
	require.NotContains(t, d.Env(), "HOME=/guest")

	p, err := d.Open(t.Context(), "xterm", "-e", "echo $THROUGH > "+filepath.Join(d.Folder(), "said")+"; sleep 60")
	require.NoError(t, err)
	soon(t, func() bool {
		text, _ := os.ReadFile(filepath.Join(d.Folder(), "said"))
		return string(text) == "yes\n"
	}, "a program that was opened is in the container")
	require.NoError(t, p.Close())

	bus, err := os.ReadFile("/proc/" + strconv.Itoa(pidOf(t, d, "bus.conf")) + "/environ")
	require.NoError(t, err)
	require.Contains(t, string(bus), "THROUGH=yes")
	bus, err = os.ReadFile("/proc/" + strconv.Itoa(pidOf(t, d, "at-spi-bus-launcher")) + "/environ")
	require.NoError(t, err)
	require.NotContains(t, string(bus), "THROUGH=yes")
}

// The display has its socket by a second name in the folder, for a container that is made
// before it is there; where the folder cannot have it, the container is made after it.
func TestSocketFile(t *testing.T) {
	start(t, nil) // the first display of a machine makes the folder of the sockets
	for _, tt := range []struct {
		name, tmp string
		early     bool
	}{{"beside the display's", "/tmp", true}, {"elsewhere", "/dev/shm", false}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("TMPDIR", tt.tmp)
			var file, of string
			d := start(t, &sandbox.Options{Guest: &sandbox.Guest{Enter: func(_ context.Context, d *sandbox.Desktop) (sandbox.Entrance, error) {
				file, of = d.SocketFile(), "/tmp/.X11-unix/X"+strings.TrimPrefix(d.Display(), ":")
				require.Equal(t, tt.early, file != "")
				if !tt.early {
					require.FileExists(t, of)
				}
				return sandbox.Entrance{}, nil
			}}})
			shown, err := os.Stat(of)
			require.NoError(t, err)
			require.Equal(t, os.ModeSocket, shown.Mode().Type())
			if tt.early {
				second, err := os.Stat(file)
				require.NoError(t, err)
				require.True(t, os.SameFile(shown, second))
			}
			_, err = d.Open(t.Context(), "mousepad")
			require.NoError(t, err)
		})
	}
}

// A container that cannot be made ends the start, and leaves nothing.
func TestGuestRefused(t *testing.T) {
	cause := errors.New("no container")
	folder := ""
	_, err := sandbox.Start(t.Context(), &sandbox.Options{Guest: &sandbox.Guest{Enter: func(_ context.Context, d *sandbox.Desktop) (sandbox.Entrance, error) {
		folder = d.Folder()
		_, err := d.Launch(sandbox.Command{Args: []string{"sleep", "1000"}, Outside: true})
		return sandbox.Entrance{}, errors.Join(cause, err)
	}}})
	require.ErrorIs(t, err, cause)
	require.NoDirExists(t, folder)
	require.Empty(t, carriers(filepath.Base(folder)))
}

func TestGuestUser(t *testing.T) {
	if os.Getuid() != 0 {
		_, err := sandbox.Start(t.Context(), &sandbox.Options{Guest: &sandbox.Guest{User: 65534}})
		require.ErrorContains(t, err, "only root")
		return
	}
	const nobody = 65534 // the bus wants a user whom the machine knows
	d := start(t, &sandbox.Options{Guest: &sandbox.Guest{User: nobody}})
	require.Equal(t, "65534", strings.TrimSpace(printed(t, d, sandbox.Command{Args: []string{"id", "-u"}})))
	require.Equal(t, "0", strings.TrimSpace(printed(t, d, sandbox.Command{Args: []string{"id", "-u"}, Outside: true})))
	_, err := d.Open(t.Context(), "mousepad")
	require.NoError(t, err)
}

// What root's part of a desktop goes by, the user of the guest cannot write: what the
// window manager starts, and what the watchdog removes.
func TestGuestUserWrites(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can have programs run as another user")
	}
	d := start(t, &sandbox.Options{Guest: &sandbox.Guest{User: 65534}, Launchers: []sandbox.Launcher{{Name: "True", Args: []string{"true"}}}})
	const try = `for name in etc/openbox.xml etc/menu.xml etc/bus.conf etc/services/x etc/xauthority xserver orders groups new; do
	(: >>"$0/$name") 2>/dev/null && echo "writes $name"
	mv "$0/$name" "$0/tmp/" 2>/dev/null && echo "moves $name"
done
mv "$0/etc" "$0/tmp/" 2>/dev/null && echo moves etc
for name in home run tmp home/.config; do touch "$0/$name/file" && echo "may write $name"; done
cat "$0/etc/bus.conf" "$XAUTHORITY" >/dev/null && echo may read
exit 0`
	require.Equal(t, "may write home\nmay write run\nmay write tmp\nmay write home/.config\nmay read\n",
		printed(t, d, sandbox.Command{Args: []string{"sh", "-c", try, d.Folder()}}))
}

func TestLaunch(t *testing.T) {
	d := start(t, nil)
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	p, err := d.Launch(sandbox.Command{Args: []string{"sh", "-c", "cat; echo error >&2; exit 3"}, Stdin: read, Dir: "/"})
	require.NoError(t, err)
	require.Equal(t, -1, p.Code())
	_, err = write.WriteString("input\n")
	require.NoError(t, err)
	require.NoError(t, write.Close())
	<-p.Done()
	require.Equal(t, 3, p.Code())
	require.Equal(t, "input\nerror\n", p.Output())
	_, err = d.Launch(sandbox.Command{Args: []string{"no-such-program"}})
	require.ErrorIs(t, err, sandbox.ErrNotInstalled)
	_, err = d.Launch(sandbox.Command{})
	require.ErrorContains(t, err, "no command")
	require.NoError(t, d.Close())
	_, err = d.Launch(sandbox.Command{Args: []string{"true"}})
	require.ErrorIs(t, err, sandbox.ErrClosed)
}
