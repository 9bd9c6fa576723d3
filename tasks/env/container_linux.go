package env

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"desktop-agent/internal/x11"
	"desktop-agent/sandbox"
)

// A container is where the programs of a task run, made by bubblewrap: a process that
// does nothing holds its namespaces, and nsenter starts every program in them.
// All of them end when that process does, by the kernel's doing.
type container struct{ bubble *sandbox.Bubble }

// findContainer finds the programs that make a container.
func findContainer() (*container, error) {
	bubble, err := sandbox.FindBubble()
	if err != nil {
		return nil, notApart(err)
	}
	return &container{bubble}, nil
}

// notApart turns the error of a machine that makes no namespaces into one about tasks.
func notApart(err error) error {
	if no, ok := errors.AsType[*sandbox.NoContainerError](err); ok {
		return &NoIsolationError{Why: no.Why, Do: no.Do}
	}
	return err
}

// make makes the container and returns the way in. The error is a [*NoIsolationError]
// where the machine does not let it.
func (c *container) make(ctx context.Context, e *Env, d *sandbox.Desktop) (sandbox.Entrance, error) {
	guarded, err := e.guardBus()
	if err != nil {
		return sandbox.Entrance{}, err
	}
	held, err := c.bubble.Hold(ctx, d, slices.Concat(e.view(d), guarded))
	if err != nil {
		return sandbox.Entrance{}, notApart(err)
	}
	var network []string
	if !e.options.Network {
		network = []string{"--net"}
	}
	e.bounds.proc = filepath.Join("/proc", strconv.Itoa(held.PID), "root/proc")
	way := sandbox.Entrance{
		Prefix: slices.Concat(e.bounds.prefix(e.user), held.Prefix(e.user, append(network, "--pid")...), []string{"/usr/bin/env", "-C", Home}),
		Files:  held.Prefix(e.user, network...),
	}
	return way, c.probe(ctx, d, way.Prefix)
}

// probe runs a program in the container.
func (c *container) probe(ctx context.Context, d *sandbox.Desktop, prefix []string) error {
	args := append(slices.Clone(prefix), "/bin/sh", "-c", "test -w . && test -r /proc/self/status")
	try, err := d.Launch(sandbox.Command{Args: args, Outside: true})
	if err != nil {
		return err
	}
	select {
	case <-try.Done():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := try.Err(); err != nil {
		return notApart(sandbox.NoContainer(err.Error() + ": " + try.Output()))
	}
	return nil
}

// view returns the arguments of bubblewrap: what programs see.
func (e *Env) view(d *sandbox.Desktop) []string {
	a := []string{"--die-with-parent", "--unshare-pid"}
	if !e.options.Network {
		a = append(a, "--unshare-net")
	}
	// The system, read-only.
	a = append(a, "--ro-bind", "/usr", "/usr")
	a = append(a, e.showEtc()...)
	for _, name := range []string{"/opt", "/sys", "/var/lib", "/var/cache"} {
		a = append(a, folders(name)...)
		a = append(a, "--ro-bind-try", name, name)
	}
	for _, name := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		if target, err := os.Readlink(name); err == nil {
			a = append(a, "--symlink", target, name)
		} else {
			a = append(a, "--ro-bind-try", name, name)
		}
	}
	// Devices that do nothing to the machine, terminals of one's own, and memory.
	a = append(a, "--proc", "/proc", "--dev", "/dev",
		"--perms", "1777", "--size", strconv.FormatInt(min(e.bounds.limits.Memory, e.bounds.limits.Files), 10), "--tmpfs", "/dev/shm")
	// What the task may write.
	for _, name := range []string{Home, "/tmp", "/var/tmp"} {
		a = append(a, folders(filepath.Dir(name))...)
		a = append(a, "--bind", e.outside(name), name)
	}
	// The desktop, by the paths that its parts go by.
	folder, socket := d.Folder(), x11.SocketOf(d.Display())
	a = append(a, folders(folder, binFolder, missingFolder, x11.Sockets)...)
	a = append(a, "--ro-bind", filepath.Join(folder, "etc"), filepath.Join(folder, "etc"),
		"--bind", filepath.Join(folder, "run"), filepath.Join(folder, "run"),
		"--ro-bind", e.within("bin"), binFolder,
		"--ro-bind", e.within("missing"), missingFolder)
	from, show := socket, "--bind"
	if second := d.SocketFile(); second != "" { // in the desktop's etc, and not there yet
		from, show = second, "--symlink"
	}
	a = append(a, show, from, socket)
	if first := x11.SocketOf(":0"); socket != first { // programs may have :0 written into them
		a = append(a, show, from, first)
	}
	// What bubblewrap made is nobody's to fill.
	return append(a, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/")
}

// busSettings are the files of which the accessibility bus reads the first that is there.
var busSettings = []string{"/etc/at-spi2/accessibility.conf", "/usr/share/defaults/at-spi2/accessibility.conf"}

// busGuard has a bus take no environment for the programs that it starts, nor where a
// message names no interface, which is optional.
const busGuard = `<policy context="mandatory">
  <deny send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus" send_member="UpdateActivationEnvironment"/>
</policy>
</busconfig>`

// guardBus returns the arguments of bubblewrap that show the accessibility bus other
// settings. It is not among the processes of the task, so that it knows their numbers on
// this machine, and starts the registry there: the task's programs are not to say how.
func (e *Env) guardBus() ([]string, error) {
	for _, name := range busSettings {
		seen := name
		if inEtc, ok := strings.CutPrefix(name, "/etc/"); ok {
			seen = filepath.Join(e.etc, inEtc)
		}
		text, err := os.ReadFile(seen)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("accessibility bus: %w", err)
		}
		guarded := strings.Replace(string(text), "</busconfig>", busGuard, 1)
		if guarded == string(text) {
			return nil, fmt.Errorf("accessibility bus: %s has no </busconfig>", name)
		}
		file := e.within("accessibility.conf")
		if err := os.WriteFile(file, []byte(guarded), 0o644); err != nil {
			return nil, fmt.Errorf("accessibility bus: %w", err)
		}
		return []string{"--ro-bind", file, name}, nil
	}
	return nil, fmt.Errorf("accessibility bus: there is no %s: apt-get install at-spi2-core", busSettings[1])
}

// tryOut has bubblewrap make such namespaces, without a desktop.
func (c *container) tryOut(ctx context.Context, network bool) error {
	args := []string{"--unshare-pid", "--proc", "/proc"}
	if !network {
		args = append(args, "--unshare-net")
	}
	return notApart(c.bubble.TryOut(ctx, args...))
}

// folders returns the arguments that make folders, and those above them, such
// that everybody may enter them; bubblewrap's own can be entered by root alone.
func folders(paths ...string) []string {
	var a []string
	for _, path := range paths {
		for i := 1; i <= len(path); i++ {
			if part := path[:min(i, len(path))]; i == len(path) || path[i] == '/' {
				a = append(a, "--perms", "0755", "--dir", part)
			}
		}
	}
	return a
}
